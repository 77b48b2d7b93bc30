/*
 * One number of particles on the nodes of tiles, and back: a node is one real, so that a row of
 * nodes is a quad. For the kernel of the including file (transfer.h).
 */
#ifndef SPATE_SOLVER_MPM_NUMBERS_H
#define SPATE_SOLVER_MPM_NUMBERS_H

#include "solver/lanes.h"
#include "solver/mpm/transfer.h"

/* Weights of eight particles along a row, 0 beyond the kernel. */
typedef struct row_weights {
    real of[WIDE][QUAD];
} row_weights;

INLINE void row_weights_fill(row_weights *out, const stencil *st, int dim) {
    wide w[QUAD];
    for (int k = 0; k < QUAD; k++)
        w[k] = k < SUPPORT ? wide_load(st->axis[dim - 1].w[k < SUPPORT ? k : 0]) : wide_splat(0);
    transpose_quads(w);
    for (int k = 0; k < QUAD; k++) {
        quad_store(out->of[k], wide_low(w[k]));
        quad_store(out->of[k + QUAD], wide_high(w[k]));
    }
}

/* Row k of a particle's SUPPORT^(dim - 1): where it begins behind the first node, and its weight. */
INLINE int row_offset(int k, int dim) {
    return dim == 2 ? k * TILE_EDGE : (k / SUPPORT * TILE_EDGE + k % SUPPORT) * TILE_EDGE;
}
INLINE quad row_weight(const stencil *st, int k, int lane, int dim) {
    const real x = st->axis[0].w[dim == 2 ? k : k / SUPPORT][lane];
    return quad_splat(dim == 2 ? x : x * st->axis[1].w[k % SUPPORT][lane]);
}
INLINE int row_count(int dim) { return dim == 2 ? SUPPORT : SUPPORT * SUPPORT; }

/* Adds `value` times the weights to a tile. Reals behind the last row may be written, with what
 * they hold. */
INLINE void scatter_number(real *tile, const stencil *st, const row_weights *w, int lane,
                           real value, int dim) {
    real *first = tile + st->offset[lane];
    const quad along = quad_splat(value) * quad_load(w->of[lane]);
    for (int k = 0; k < row_count(dim); k++) {
        real *at = first + row_offset(k, dim);
        quad_store(at, quad_fma(row_weight(st, k, lane, dim), along, quad_load(at)));
    }
}

/* sum w n */
INLINE real gather_number(const real *tile, const stencil *st, const row_weights *w, int lane,
                          int dim) {
    const real *first = tile + st->offset[lane];
    quad sum = row_weight(st, 0, lane, dim) * quad_load(first);
    for (int k = 1; k < row_count(dim); k++)
        sum = quad_fma(row_weight(st, k, lane, dim), quad_load(first + row_offset(k, dim)), sum);
    sum *= quad_load(w->of[lane]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

#endif
