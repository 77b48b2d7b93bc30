/* Neo-Hookean solid, eight particles at a time; the formulas are in neo_hookean.c. */
#ifndef SPATE_SOLVER_NEO_HOOKEAN_WIDE_H
#define SPATE_SOLVER_NEO_HOOKEAN_WIDE_H

#include "core/wide_math.h"
#include "solver/materials/material.h"

/* J^2 - 1 = det(I + B) - 1 */
INLINE wide determinant_less_one_wide(const wide B[6], int dim) {
    wide plane = wide_fma(B[XX], B[YY], B[XX] + B[YY]) - B[XY] * B[XY];
    if (dim == 2) return plane;
    /* Expanded along the last row of I + B; the 2 x 2 minors of I + B less those of I are small. */
    wide one = wide_splat(1);
    wide cofactor_xz = B[XY] * B[YZ] - (one + B[YY]) * B[XZ];
    wide cofactor_yz = (one + B[XX]) * B[YZ] - B[XY] * B[XZ];
    return wide_fma(B[ZZ], one + plane, plane) + B[XZ] * cofactor_xz - B[YZ] * cofactor_yz;
}

INLINE void neo_hookean_stress(const neo_hookean_constants *n, const particles *p, int64_t i,
                               wide tau[6], int dim) {
    wide B[6];
    for (int c = 0; c < 6; c++) B[c] = wide_load(PLANE(p, strain, c) + i);
    wide x = determinant_less_one_wide(B, dim);
    wide shear = wide_splat(n->shear) * wide_exp(wide_splat((real)-1 / (real)dim) * wide_log1p(x));
    wide volume = wide_splat(n->bulk * (real)0.5) * x;
    wide zero = wide_splat(0);
    if (dim == 2) {
        wide mean = (B[XX] + B[YY]) * wide_splat((real)0.5);
        tau[XX] = wide_fma(shear, B[XX] - mean, volume);
        tau[YY] = wide_fma(shear, B[YY] - mean, volume);
        tau[XY] = shear * B[XY];
        tau[ZZ] = tau[YZ] = tau[XZ] = zero;
        return;
    }
    wide mean = (B[XX] + B[YY] + B[ZZ]) * wide_splat((real)(1.0 / 3));
    for (int c = 0; c < 3; c++) tau[c] = wide_fma(shear, B[c] - mean, volume);
    for (int c = 3; c < 6; c++) tau[c] = shear * B[c];
}

/* b <- (I + G) b (I + G)^T for G = dt C, in terms of B = b - I: with H = (I + G) b - b = G b,
 * B <- B + H + H^T + H G^T. */
INLINE void neo_hookean_update(particles *p, int64_t i, const wide G[9], wide_int mask,
                               wide *J_less_one, wide *stretch, int dim) {
    static const int place[3][3] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};
    wide B[6], H[3][3], one = wide_splat(1);
    for (int c = 0; c < 6; c++) B[c] = wide_load(PLANE(p, strain, c) + i);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            H[r][c] = wide_splat(0);
            for (int k = 0; k < dim; k++)
                H[r][c] =
                    wide_fma(G[3 * r + k], k == c ? B[place[k][c]] + one : B[place[k][c]], H[r][c]);
        }
    wide next[6];
    for (int c = 0; c < 6; c++) next[c] = B[c];
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++) {
            wide sum = B[place[r][c]] + H[r][c] + H[c][r];
            for (int k = 0; k < dim; k++) sum = wide_fma(H[r][k], G[3 * c + k], sum);
            next[place[r][c]] = sum;
        }
    for (int c = 0; c < 6; c++)
        if (dim == 3 || c == XX || c == YY || c == XY)
            wide_store(PLANE(p, strain, c) + i, wide_select(mask, next[c], B[c]));
    wide x = determinant_less_one_wide(next, dim);
    wide trace = dim == 2 ? next[XX] + next[YY] : next[XX] + next[YY] + next[ZZ];
    *J_less_one = wide_sqrt(one + x) - one;
    *stretch = wide_fma(trace, wide_splat((real)1 / (real)dim), one);
}

#endif
