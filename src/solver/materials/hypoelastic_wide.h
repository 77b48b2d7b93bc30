/* Elasticity in rate form, eight particles at a time; the formulas are in hypoelastic.c. */
#ifndef SPATE_SOLVER_HYPOELASTIC_WIDE_H
#define SPATE_SOLVER_HYPOELASTIC_WIDE_H

#include "solver/materials/linear_wide.h"

INLINE void hypoelastic_stress(const material_constants *constants, const particles *p, int64_t i,
                               const wide C[9], wide tau[6], int dim) {
    (void)C;
    hooke_stress(&constants->hypoelastic, p, i, tau, dim);
}

/* Q - I of Hughes and Winget. */
INLINE void turn_less_identity_wide(const wide G[9], wide q[3][3], int dim) {
    wide A[3][3], square = wide_splat(0), quarter = wide_splat((real)0.25);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            A[r][c] = (G[3 * r + c] - G[3 * c + r]) * quarter;
            if (r < c) square = wide_fma(A[r][c], A[r][c], square);
        }
    wide scale = wide_splat(2) / (wide_splat(1) + square);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            wide sum = A[r][c];
            for (int k = 0; k < dim; k++) sum = wide_fma(A[r][k], A[k][c], sum);
            q[r][c] = scale * sum;
        }
}

/* e <- Q e Q^T + (G + G^T) / 2: with H = (Q - I) e, e + H + H^T + H (Q - I)^T. */
INLINE void hypoelastic_advance_wide(wide e[6], const wide G[9], int dim) {
    wide q[3][3], H[3][3], half = wide_splat((real)0.5);
    turn_less_identity_wide(G, q, dim);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            H[r][c] = q[r][0] * e[symmetric_place[0][c]];
            for (int k = 1; k < dim; k++)
                H[r][c] = wide_fma(q[r][k], e[symmetric_place[k][c]], H[r][c]);
        }
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++) {
            wide change = wide_fma(half, G[3 * r + c] + G[3 * c + r], H[r][c] + H[c][r]);
            for (int k = 0; k < dim; k++) change = wide_fma(H[r][k], q[c][k], change);
            e[symmetric_place[r][c]] += change;
        }
}

INLINE wide strain_size(const wide e[6], int dim) {
    wide square = wide_fma(e[XX], e[XX], e[YY] * e[YY]), sides = e[XY] * e[XY];
    if (dim == 3) {
        square = wide_fma(e[ZZ], e[ZZ], square);
        sides = wide_fma(e[XZ], e[XZ], wide_fma(e[YZ], e[YZ], sides));
    }
    return wide_sqrt(wide_fma(sides, wide_splat(2), square));
}

INLINE void hypoelastic_update(const material_constants *constants, particles *p, int64_t i,
                               const wide G[9], wide_int mask, strain_report *report, int dim) {
    wide e[6];
    strain_load(p, i, e);
    hypoelastic_advance_wide(e, G, dim);
    strain_store(p, i, mask, e, dim);
    report->J_less_one = wide_expm1(linear_trace(e, dim));
    report->parted = report->J_less_one >= wide_splat(constants->critical);
    report->stretch = wide_splat(1) + strain_size(e, dim);
    report->stiffening = wide_splat(1);
    report->yielded = wide_splat_int(0);
}

#endif
