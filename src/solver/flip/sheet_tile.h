/*
 * A block's particles and those of the cells round it, copied side by side so that sums over the
 * neighbours of each of them read whole wides (sheet_kernels.c). Copies lie in rows of cells along
 * the last axis, seen from the block's corner. After each row come WIDE copies far away and without
 * weight: a range of cells may be read by whole wides, since what follows it is out of reach.
 *
 *     fill_tile(around, block, wanted, ring, what, tile, dim);        once for a block
 *     list_rows(tile, &reach, cell, rows, dim);                       once for a cell
 *     for each particle, each row that row_is_near: n = first; n < last; n += WIDE
 *
 * Lengths are in cells.
 */
#ifndef SPATE_SOLVER_FLIP_SHEET_TILE_H
#define SPATE_SOLVER_FLIP_SHEET_TILE_H

#include "solver/flip/sheets.h"

/* Which row a cell at `at` from the block's corner is in: where its starts begin. */
INLINE int row_of(const sheet_tile *t, int i, int j, int dim) {
    const int row = dim == 3 ? (i + t->ring) * t->edge + j + t->ring : i + t->ring;
    return row * (t->edge + 1) + t->ring;
}

/* What is copied besides places: an array by particle each, or NULL; and whose copy each is. */
typedef struct copied {
    const real *values[2];
    bool particle;
} copied;

/* Particles first..last - 1 of a block whose corner is at `corner`. */
INLINE void copy_particles(const particles *p, int64_t first, int64_t last, const real corner[3],
                           const copied *what, sheet_tile *to, int dim) {
    const int n = to->count;
    for (int64_t k = 0; k < last - first; k += WIDE) {
        for (int a = 0; a < dim; a++)
            wide_store(to->x[a] + n + k,
                       wide_load(PLANE(p, position, a) + first + k) + wide_splat(corner[a]));
        for (int v = 0; v < 2; v++)
            if (what->values[v])
                wide_store(to->values[v] + n + k, wide_load(what->values[v] + first + k));
    }
    for (int64_t k = 0; k < last - first && what->particle; k++) to->particle[n + k] = first + k;
    to->count += (int)(last - first);
}

INLINE void end_row(sheet_tile *to, int dim) {
    const real far = 64;
    for (int a = 0; a < dim; a++) wide_store(to->x[a] + to->count, wide_splat(far));
    for (int v = 0; v < 2; v++) wide_store(to->values[v] + to->count, wide_splat(0));
    to->count += WIDE;
}

/* The cells from `low` to `high` along the last axis of the row that `at` is in. Cells for which
 * there is no room are left empty: so many particles are no surface. */
INLINE void fill_row(const neighbourhood *around, int32_t block, int at[3], int low, int high,
                     const copied *what, sheet_tile *to, int dim) {
    const int z = dim - 1;
    int *starts = to->starts + row_of(to, at[0], at[1], dim);
    for (int corner = -BLOCK_EDGE; corner <= BLOCK_EDGE; corner += BLOCK_EDGE) {
        const int from = low > corner ? low : corner;
        const int past = high < corner + BLOCK_EDGE - 1 ? high + 1 : corner + BLOCK_EDGE;
        if (from >= past) continue;
        at[z] = from;
        const int64_t cell = find_cell(around, block, at, dim);
        const int64_t *first = around->starts + cell;
        const bool any = cell >= 0 && first[past - from] > first[0] &&
                         first[past - from] - first[0] <= SHEET_TILE_MOST - to->count;
        for (int c = from; c < past; c++)
            starts[c] = to->count + (any ? (int)(first[c - from] - first[0]) : 0);
        if (!any) continue;
        real place[3];
        for (int a = 0; a < dim; a++) place[a] = (real)(at[a] & ~(BLOCK_EDGE - 1));
        copy_particles(around->particles, first[0], first[past - from], place, what, to, dim);
    }
    starts[high + 1] = to->count;
    end_row(to, dim);
}

/* The box that the wanted cells of a block are in. */
INLINE void bound_cells(block_cells wanted, int low[3], int high[3], int dim) {
    for (int a = 0; a < 3; a++) low[a] = BLOCK_EDGE, high[a] = -1;
    for (; wanted; wanted &= wanted - 1) {
        int at[3];
        box_place(BLOCK_EDGE, __builtin_ctzll(wanted), dim, at);
        for (int a = 0; a < dim; a++) {
            if (at[a] < low[a]) low[a] = at[a];
            if (at[a] > high[a]) high[a] = at[a];
        }
    }
}

/* All that is within `ring` cells of the wanted cells of a block. */
INLINE void fill_tile(const neighbourhood *around, int32_t block, block_cells wanted, int ring,
                      const copied *what, sheet_tile *to, int dim) {
    int *low = to->low, *high = to->high;
    bound_cells(wanted, low, high, dim);
    for (int a = 0; a < dim; a++) low[a] -= ring, high[a] += ring;
    to->ring = ring, to->edge = BLOCK_EDGE + 2 * ring, to->count = 0;
    const int z = dim - 1, first = dim == 3 ? low[1] : 0, last = dim == 3 ? high[1] : 0;
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = first; j <= last; j++) {
            int at[3] = {i, j, 0};
            fill_row(around, block, at, low[z], high[z], what, to, dim);
        }
}

/* ---- Rows within reach ----------------------------------------------------------------------- */

/* How many cells to either side are within a reach, by rows: computed once for many cells. */
enum { ROW_SPAN = 2 * REACH_MOST + 1, ROWS_MOST = ROW_SPAN * ROW_SPAN };
typedef struct row_reach {
    real reach2;
    int ring;
    int8_t width[ROW_SPAN][ROW_SPAN]; /* of the row i and j cells beside one; below 0: none */
} row_reach;

INLINE row_reach row_reach_of(real reach2, int dim) {
    row_reach r = {.reach2 = reach2, .ring = reach_along((double)reach2, 0, 0)};
    const int depth = dim == 3 ? r.ring : 0;
    for (int i = -r.ring; i <= r.ring; i++)
        for (int j = -depth; j <= depth; j++)
            r.width[i + REACH_MOST][j + REACH_MOST] = (int8_t)reach_along((double)reach2, i, j);
    return r;
}

/* A range of copies, and where its cells are across the row. */
typedef struct tile_row {
    int first, last;
    real corner[2];
} tile_row;
typedef struct tile_rows {
    int count;
    tile_row rows[ROWS_MOST];
} tile_rows;

INLINE void add_row(const sheet_tile *t, int i, int j, int low, int high, tile_rows *rows,
                    int dim) {
    const int *starts = t->starts + row_of(t, i, j, dim);
    if (starts[low] == starts[high + 1]) return;
    rows->rows[rows->count++] = (tile_row){starts[low], starts[high + 1], {(real)i, (real)j}};
}

/* All rows that may be within reach of a particle of a cell. */
INLINE void list_rows(const sheet_tile *t, const row_reach *r, int cell, tile_rows *rows, int dim) {
    const int depth = dim == 3 ? r->ring : 0;
    int home[3];
    box_place(BLOCK_EDGE, cell, dim, home);
    rows->count = 0;
    for (int i = -r->ring; i <= r->ring; i++)
        for (int j = -depth; j <= depth; j++) {
            const int width = r->width[i + REACH_MOST][j + REACH_MOST], middle = home[dim - 1];
            if (width < 0) continue;
            add_row(t, home[0] + i, dim == 3 ? home[1] + j : 0, middle - width, middle + width,
                    rows, dim);
        }
}

/* Those that may be within `reach` of a point, of what is filled: a sum that is rounded up to the
 * next cell leads out of it. */
INLINE void list_rows_near(const sheet_tile *t, const real x[3], real reach, tile_rows *rows,
                           int dim) {
    const real above = 64; /* what makes all places positive: conversion rounds towards 0 */
    int low[3] = {0}, high[3] = {0};
    for (int a = 0; a < dim; a++) {
        low[a] = (int)(x[a] - reach + above) - (int)above;
        high[a] = (int)(x[a] + reach + above) - (int)above;
        if (low[a] < t->low[a]) low[a] = t->low[a];
        if (high[a] > t->high[a]) high[a] = t->high[a];
    }
    rows->count = 0;
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = dim == 3 ? low[1] : 0; j <= (dim == 3 ? high[1] : 0); j++)
            add_row(t, i, j, low[dim - 1], high[dim - 1], rows, dim);
}

/* Whether a row comes within sqrt(reach2) of a point. */
INLINE bool row_is_near(const tile_row *row, const real x[3], real reach2, int dim) {
    real way2 = 0;
    for (int a = 0; a < dim - 1; a++) {
        const real low = row->corner[a] - x[a], high = x[a] - row->corner[a] - 1;
        const real way = low > high ? low : high;
        way2 += way > 0 ? way * way : 0;
    }
    return way2 < reach2;
}

/* Ways from a point to eight copies, and their squared lengths. */
INLINE wide ways_from(const sheet_tile *t, int n, const wide x[3], wide way[3], int dim) {
    wide r2 = wide_splat(0);
    for (int a = 0; a < dim; a++) {
        way[a] = wide_load(t->x[a] + n) - x[a];
        r2 = wide_fma(way[a], way[a], r2);
    }
    return r2;
}

#endif
