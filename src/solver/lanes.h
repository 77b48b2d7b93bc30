/* Quads of eight particles to lanes. */
#ifndef SPATE_SOLVER_LANES_H
#define SPATE_SOLVER_LANES_H

#include "state/particles.h"

/* Lanes 0-3 of r[0..3] and 4-7 transposed apart: quads (a0 b0 c0 d0 | a4 ...) of four wides. */
INLINE void transpose_quads(wide r[4]) {
    wide a = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13);
    wide b = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    wide c = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13);
    wide d = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Eight quads, `stride` quads apart, as three lanes-wide components. */
INLINE void load_quads(const real4 *quads, int stride, wide out[3]) {
    wide r[4];
    for (int k = 0; k < 4; k++)
        r[k] = wide_join(quad_load(quads[stride * k]), quad_load(quads[stride * (k + 4)]));
    transpose_quads(r);
    for (int c = 0; c < 3; c++) out[c] = r[c];
}

/* Velocity gradients of eight particles times `scale` / dx, row by row. */
INLINE void load_gradient(const real4x3 *affine, real scale, wide C[9], int dim) {
    for (int c = 0; c < 9; c++) C[c] = wide_splat(0);
    for (int a = 0; a < dim; a++) {
        wide column[3];
        load_quads(affine[0] + a, COUNT_OF(affine[0]), column);
        for (int r = 0; r < dim; r++) C[3 * r + a] = column[r] * wide_splat(scale);
    }
}

#endif
