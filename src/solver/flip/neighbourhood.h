/*
 * What surrounds a particle, found in the sort by block and cell: no lists of neighbours are kept.
 * Cells are those of occupied blocks, in the order of their particles; what is around a cell is
 * listed once, as a few spans of the particle arrays, and then read for each of its particles, four
 * at a time. Particles that were added or moved to other cells since the last sort are not found.
 *
 *     neighbourhood n;
 *     TRY(neighbourhood_begin(sim, &n));
 *     in a task, for each cell of an occupied block:  list_spans(&n, R^2, block, cell, &list, dim);
 *     for each of its particles:  span_point(...) for each span, and then what is in the span
 *     neighbourhood_end(sim, &n);
 *
 * Lengths are in cells.
 */
#ifndef SPATE_SOLVER_FLIP_NEIGHBOURHOOD_H
#define SPATE_SOLVER_FLIP_NEIGHBOURHOOD_H

#include <stdlib.h>

#include "core/simd.h"
#include "solver/solver.h"

/* The longest reach, and the most spans: rows of cells along the last axis, of three blocks
 * each. */
enum { REACH_MOST = BLOCK_EDGE, SPANS_MOST = 3 * (2 * REACH_MOST + 1) * (2 * REACH_MOST + 1) };

typedef struct neighbourhood {
    const blocks *blocks;
    const particles *particles;
    int64_t *starts; /* first particle of each cell, and of what would be the next after the last */
} neighbourhood;

/* Finds the cells' particles, which are sorted by cell (blocks.unordered is false). */
spate_status neighbourhood_begin(spate_simulation *sim, neighbourhood *n);
/* Also of one that has failed to begin. */
void neighbourhood_end(spate_simulation *sim, neighbourhood *n);

/* Particles first..last - 1, of a block whose corner is `corner` cells from that of the cell's
 * own. */
typedef struct span {
    int64_t first, last;
    int8_t corner[3];
} span;

typedef struct span_list {
    int count;
    span spans[SPANS_MOST];
} span_list;

/* The cell at `at` from a block's corner, -4 to 7 along each axis, or -1 where its block is
 * empty. */
INLINE int64_t find_cell(const neighbourhood *n, int32_t block, const int at[3], int dim) {
    const blocks *b = n->blocks;
    const int32_t other = b->neighbours[block][neighbour_code(BLOCK_EDGE, at, dim)];
    if (other < 0 || b->tile[other] < 0) return -1;
    return (int64_t)b->tile[other] * block_nodes(dim) + neighbour_index(BLOCK_EDGE, at, dim);
}

/* Adds a row of cells along the last axis, from `low` to `high`: spans of up to three blocks. */
INLINE void list_row(const neighbourhood *n, int32_t block, int at[3], int low, int high,
                     span_list *list, int dim) {
    const int z = dim - 1;
    for (int corner = -BLOCK_EDGE; corner <= BLOCK_EDGE; corner += BLOCK_EDGE) {
        const int from = low > corner ? low : corner;
        const int to = high < corner + BLOCK_EDGE - 1 ? high : corner + BLOCK_EDGE - 1;
        if (from > to) continue;
        at[z] = from;
        const int64_t cell = find_cell(n, block, at, dim);
        if (cell < 0) continue;
        span next = {n->starts[cell], n->starts[cell + to - from + 1], {0}};
        if (next.first == next.last) continue;
        for (int a = 0; a < dim; a++) next.corner[a] = (int8_t)(at[a] & ~(BLOCK_EDGE - 1));
        /* whole rows of a block follow each other */
        span *before = list->count ? &list->spans[list->count - 1] : NULL;
        if (before && before->last == next.first && !memcmp(before->corner, next.corner, 3))
            before->last = next.last;
        else
            list->spans[list->count++] = next;
    }
}

/* Cells to either side that may be within sqrt(reach2) of a cell, in a row that lies i and j cells
 * beside its own; below 0: none of the row. */
INLINE int reach_along(double reach2, int i, int j) {
    /* least ways between points of two cells */
    const int in_x = abs(i) > 1 ? abs(i) - 1 : 0, in_y = abs(j) > 1 ? abs(j) - 1 : 0;
    const double rest2 = reach2 - in_x * in_x - in_y * in_y, rounding = 1e-5;
    return rest2 > 0 ? (int)ceil(sqrt(rest2) - rounding) : -1;
}

/* All particles that may be within sqrt(reach2) <= REACH_MOST of one in a cell of a block. */
INLINE void list_spans(const neighbourhood *n, double reach2, int32_t block, int cell,
                       span_list *list, int dim) {
    const int reach = reach_along(reach2, 0, 0), depth = dim == 3 ? reach : 0;
    int home[3];
    list->count = 0;
    box_place(BLOCK_EDGE, cell, dim, home);
    for (int i = -reach; i <= reach; i++)
        for (int j = -depth; j <= depth; j++) {
            const int width = reach_along(reach2, i, j), middle = home[dim - 1];
            if (width < 0) continue;
            int at[3] = {home[0] + i, home[1] + j, 0};
            list_row(n, block, at, middle - width, middle + width, list, dim);
        }
}

/* All particles that may be within `reach` of a point of a block along each axis: fewer than around
 * its cell. */
INLINE void list_near(const neighbourhood *n, double reach, int32_t block, const real x[3],
                      span_list *list, int dim) {
    int low[3] = {0}, high[3] = {0};
    for (int a = 0; a < dim; a++) {
        low[a] = (int)((double)x[a] - reach + BLOCK_EDGE) - BLOCK_EDGE;
        high[a] = (int)((double)x[a] + reach + BLOCK_EDGE) - BLOCK_EDGE;
    }
    list->count = 0;
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = dim == 3 ? low[1] : 0; j <= (dim == 3 ? high[1] : 0); j++) {
            int at[3] = {i, j, 0};
            list_row(n, block, at, low[dim - 1], high[dim - 1], list, dim);
        }
}

/* A point of the cell's block as the particles of a span see it. */
INLINE void span_point(const span *own, const real x[3], quad point[3], int dim) {
    for (int a = 0; a < dim; a++) point[a] = quad_splat(x[a] - (real)own->corner[a]);
}

/* Which of the four particles from i on a span still has. */
INLINE quad_int span_lanes(const span *own, int64_t i) {
    const quad lanes = {0, 1, 2, 3};
    return lanes < quad_splat((real)(own->last - i));
}

/* ---- Eq. 2 of Ando et al. 2012: the density of the particles around a point ------------------ */

INLINE quad quad_larger(quad a, quad b) {
    const quad_int first = a > b;
    return (quad)((first & (quad_int)a) | (~first & (quad_int)b));
}

/* W_smooth times mass of the four particles from i on, whose radii are given as 1/R^2. */
INLINE quad smooth_weights(const neighbourhood *n, const real *inverse, int64_t i, const quad x[3],
                           int dim) {
    const particles *p = n->particles;
    quad r2 = quad_splat(0);
    for (int a = 0; a < dim; a++) {
        const quad way = quad_load(PLANE(p, position, a) + i) - x[a];
        r2 += way * way;
    }
    const quad w = quad_splat(1) - r2 * quad_load(inverse + i);
    return quad_larger(w, quad_splat(0)) * quad_load(p->mass + i);
}

/* rho at a point x of the cell's block. `inverse` has room to be read by whole quads. */
INLINE real density_at(const neighbourhood *n, const real *inverse, const real x[3],
                       const span_list *list, int dim) {
    quad sum = quad_splat(0);
    for (int k = 0; k < list->count; k++) {
        const span *own = &list->spans[k];
        quad at[3];
        int64_t i = own->first;
        span_point(own, x, at, dim);
        for (; i + QUAD <= own->last; i += QUAD) sum += smooth_weights(n, inverse, i, at, dim);
        if (i == own->last) continue;
        sum += (quad)(span_lanes(own, i) & (quad_int)smooth_weights(n, inverse, i, at, dim));
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

INLINE real density_of(const neighbourhood *n, const real *inverse, int64_t particle,
                       const span_list *list, int dim) {
    real x[3] = {0};
    for (int a = 0; a < dim; a++) x[a] = PLANE(n->particles, position, a)[particle];
    return density_at(n, inverse, x, list, dim);
}

#endif
