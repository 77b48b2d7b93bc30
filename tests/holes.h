/*
 * Counters of holes in sheets of particles. A hole of a flat sheet is seen in its plane; one of a
 * sheet that is bent, or rolled up, is a tunnel through the balls around its particles.
 */
#ifndef SPATE_TESTS_HOLES_H
#define SPATE_TESTS_HOLES_H

#include "physics.h"

/* ---- In a plane ------------------------------------------------------------------------------ */

/* Holes in what particles cover of a region, as seen along an axis: pieces of at least four cells
 * of a raster of d0/2 that nobody is within 0.9 d0 of and that do not reach the region's outline.
 * Places are in d0. */
enum { RASTER_COVERED = 1, RASTER_SEEN, RASTER_OUTSIDE };
typedef struct raster {
    int edge[2];
    double low[2];
    uint8_t *cells;
} raster;

static inline raster raster_open(double low0, double low1, double high0, double high1) {
    raster r = {.low = {low0 - 1, low1 - 1}};
    const double high[2] = {high0, high1};
    for (int a = 0; a < 2; a++) r.edge[a] = (int)ceil(2 * (high[a] - r.low[a])) + 2;
    r.cells = test_calloc((size_t)r.edge[0] * (size_t)r.edge[1], 1);
    return r;
}

static inline void raster_cover(raster *r, double x, double y) {
    const double reach = 2 * 0.9, at[2] = {2 * (x - r->low[0]), 2 * (y - r->low[1])};
    for (int i = (int)(at[0] - reach); i <= at[0] + reach; i++)
        for (int j = (int)(at[1] - reach); j <= at[1] + reach; j++)
            if (i >= 0 && j >= 0 && i < r->edge[0] && j < r->edge[1] &&
                hypot(i + 0.5 - at[0], j + 0.5 - at[1]) < reach)
                r->cells[i * r->edge[1] + j] = RASTER_COVERED;
}

/* What is not in the region is its outside. Returns the share of it that is covered. */
typedef bool (*raster_region)(double x, double y, const double *numbers);

static inline double raster_cut(raster *r, raster_region region, const double *numbers) {
    int64_t inside = 0, full = 0;
    for (int i = 0; i < r->edge[0]; i++)
        for (int j = 0; j < r->edge[1]; j++) {
            uint8_t *own = &r->cells[i * r->edge[1] + j];
            const bool in =
                region(r->low[0] + 0.5 * (i + 0.5), r->low[1] + 0.5 * (j + 0.5), numbers);
            inside += in, full += in && *own == RASTER_COVERED;
            if (!in) *own = RASTER_OUTSIDE;
        }
    return (double)full / (double)inside;
}

static inline int raster_flood(raster *r, int64_t *stack, int64_t from, bool *outside) {
    const int64_t cells = (int64_t)r->edge[0] * r->edge[1];
    int64_t depth = 0;
    int size = 0;
    stack[depth++] = from;
    r->cells[from] = RASTER_SEEN;
    while (depth) {
        const int64_t at = stack[--depth];
        const int64_t ways[4] = {1, -1, r->edge[1], -r->edge[1]};
        size++;
        for (int k = 0; k < 4; k++) {
            const int64_t next = at + ways[k];
            if (next < 0 || next >= cells) continue;
            if (r->cells[next] == RASTER_OUTSIDE) *outside = true;
            if (r->cells[next]) continue;
            r->cells[next] = RASTER_SEEN;
            stack[depth++] = next;
        }
    }
    return size;
}

/* Gives the raster back. */
static inline int raster_holes(raster *r) {
    const int64_t cells = (int64_t)r->edge[0] * r->edge[1];
    int64_t *stack = test_calloc((size_t)cells, sizeof *stack);
    int holes = 0;
    for (int64_t c = 0; c < cells; c++) {
        bool outside = false;
        if (!r->cells[c] && raster_flood(r, stack, c, &outside) >= 4 && !outside) holes++;
    }
    test_free(stack), test_free(r->cells);
    return holes;
}

/* ---- In space -------------------------------------------------------------------------------- */

/* Voxels of d0/3 whose middles are within 1.4 d0 of a particle. A point of a hole in the plane's
 * sense is as far from all. The number of tunnels through them is their first Betti number, b1 = b0
 * + b2 - chi: pieces, cavities and Euler's number, vertices - edges + faces - voxels. */
enum { VOXELS_PER_SIZE = 3 };
typedef struct voxels {
    int edge[3];
    uint8_t *full;
} voxels;

static inline int64_t voxel_at(const voxels *v, const int at[3]) {
    return ((int64_t)at[0] * v->edge[1] + at[1]) * v->edge[2] + at[2];
}

static inline bool voxel_is_full(const voxels *v, int i, int j, int k) {
    const int at[3] = {i, j, k};
    for (int a = 0; a < 3; a++)
        if (at[a] < 0 || at[a] >= v->edge[a]) return false;
    return v->full[voxel_at(v, at)];
}

static inline void voxels_cover(voxels *v, const double x[3], double reach) {
    int low[3], high[3], at[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (int)fmax(x[a] - reach, 0);
        high[a] = (int)fmin(x[a] + reach, v->edge[a] - 1);
    }
    for (at[0] = low[0]; at[0] <= high[0]; at[0]++)
        for (at[1] = low[1]; at[1] <= high[1]; at[1]++)
            for (at[2] = low[2]; at[2] <= high[2]; at[2]++) {
                double way2 = 0;
                for (int a = 0; a < 3; a++) way2 += pow(at[a] + 0.5 - x[a], 2);
                if (way2 < reach * reach) v->full[voxel_at(v, at)] = 1;
            }
}

/* Each vertex with the three edges, three faces and the voxel that begin at it. */
static inline int64_t euler_number(const voxels *v) {
    int64_t sum = 0;
    for (int i = 0; i <= v->edge[0]; i++)
        for (int j = 0; j <= v->edge[1]; j++)
            for (int k = 0; k <= v->edge[2]; k++) {
                int q[8];
                for (int m = 0; m < 8; m++)
                    q[m] = voxel_is_full(v, i - (m & 1), j - (m >> 1 & 1), k - (m >> 2 & 1));
                sum += q[0] | q[1] | q[2] | q[3] | q[4] | q[5] | q[6] | q[7];
                sum -= (q[0] | q[2] | q[4] | q[6]) + (q[0] | q[1] | q[4] | q[5]) +
                       (q[0] | q[1] | q[2] | q[3]);
                sum += (q[0] | q[4]) + (q[0] | q[2]) + (q[0] | q[1]);
                sum -= q[0];
            }
    return sum;
}

/* Pieces of voxels with a value, which they lose; full ones touch at corners, empty ones at
 * faces. */
static inline int64_t count_pieces(voxels *v, uint8_t value, int64_t *stack) {
    const int64_t cells = (int64_t)v->edge[0] * v->edge[1] * v->edge[2];
    const uint8_t seen = 2;
    int64_t pieces = 0;
    for (int64_t c = 0; c < cells; c++) {
        if (v->full[c] != value) continue;
        int64_t depth = 0;
        pieces++;
        stack[depth++] = c, v->full[c] = seen;
        while (depth) {
            const int64_t own = stack[--depth];
            const int home[3] = {(int)(own / v->edge[2] / v->edge[1]),
                                 (int)(own / v->edge[2] % v->edge[1]), (int)(own % v->edge[2])};
            for (int code = 0; code < 27; code++) {
                const int way[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
                int at[3];
                bool in = value || abs(way[0]) + abs(way[1]) + abs(way[2]) == 1;
                for (int a = 0; a < 3; a++) {
                    at[a] = home[a] + way[a];
                    in &= at[a] >= 0 && at[a] < v->edge[a];
                }
                if (!in || v->full[voxel_at(v, at)] != value) continue;
                v->full[voxel_at(v, at)] = seen;
                stack[depth++] = voxel_at(v, at);
            }
        }
    }
    return pieces;
}

/* Tunnels through the particles of a simulation; `pieces` is told too. */
static inline int64_t count_tunnels(const play *p, double d0, int64_t *pieces) {
    const double voxel = d0 / VOXELS_PER_SIZE, reach = 1.4 * VOXELS_PER_SIZE;
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, high[3] = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    voxels v;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < 3; a++) low[a] = fmin(low[a], x[a]), high[a] = fmax(high[a], x[a]);
    }
    for (int a = 0; a < 3; a++)
        v.edge[a] = (int)((high[a] - low[a]) / voxel + 2 * reach) + 5,
        low[a] -= (reach + 2) * voxel;
    const size_t cells = (size_t)v.edge[0] * (size_t)v.edge[1] * (size_t)v.edge[2];
    v.full = test_calloc(cells, 1);
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < 3; a++) x[a] = (x[a] - low[a]) / voxel;
        voxels_cover(&v, x, reach);
    }
    int64_t *stack = test_calloc(cells, sizeof *stack);
    const int64_t euler = euler_number(&v), found = count_pieces(&v, 1, stack);
    const int64_t cavities = count_pieces(&v, 0, stack) - 1;
    if (pieces) *pieces = found;
    test_free(stack), test_free(v.full);
    return found + cavities - euler;
}

#endif
