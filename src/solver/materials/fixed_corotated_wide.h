/*
 * Fixed corotated solid, eight particles at a time. The plain code in fixed_corotated.c goes
 * through the eigenvalues of b. Here W = V - I, V = sqrt(b), comes from its own invariants w1, w2,
 * w3 and g = J - 1 (after Hoger and Carlson 1984): W^2 + 2 W = B and the theorem of Cayley and
 * Hamilton give
 *
 *   2D  W = (B + (g - w1) I) / (2 + w1),   w1 = 2 (sqrt(1 + (tr B + 2 g) / 4) - 1)
 *   3D  W (B + (4 + 2 w1 + w2) I) = (2 + w1) B + w3 I
 *       w2 = (w1^2 + 2 w1 - tr B) / 2,   w3 = g - w1 - w2
 *
 * and b - V = B - W. Nothing is subtracted that is not as small as the strain.
 */
#ifndef SPATE_SOLVER_FIXED_COROTATED_WIDE_H
#define SPATE_SOLVER_FIXED_COROTATED_WIDE_H

#include "solver/materials/strain_wide.h"

/* w1 in 3D. With u = 2 w1 + w2 the second invariant of b, B2 + 2 tr B + 3, is that of V squared
 * less 2 tr V J, or (u + 6) u - 2 w1 (1 + g) = 6 g + 2 tr B + B2. tr V is the largest root, and
 * sqrt(3 tr b) lies above it; Halley's method. */
INLINE wide root_trace(const wide B[6], wide trace, wide g) {
    wide half = wide_splat((real)0.5), two = wide_splat(2), three = wide_splat(3);
    wide second = wide_fma(B[XX], B[YY], -(B[XY] * B[XY])) +
                  wide_fma(B[XX], B[ZZ], -(B[XZ] * B[XZ])) +
                  wide_fma(B[YY], B[ZZ], -(B[YZ] * B[YZ]));
    wide right = wide_fma(wide_splat(6), g, wide_fma(two, trace, second));
    wide J2 = two * (g + wide_splat(1)),
         w = three * root_less_one(trace * wide_splat((real)(1.0 / 3)));
    for (int step = 0; step < (sizeof(real) == 4 ? 4 : 7); step++) {
        wide u = wide_fma(w, wide_fma(w, half, three), trace * -half), rise = three + w;
        wide outer = wide_splat(6) + two * u;
        wide f = wide_fma(u, wide_splat(6) + u, -wide_fma(w, J2, right));
        wide slope = wide_fma(outer, rise, -J2);
        wide bend = wide_fma(two * rise, rise, outer);
        w -= two * f * slope / wide_fma(two * slope, slope, -(f * bend));
    }
    return w;
}

/* W = (c B + d I) A^-1 for A = B + k I, all of the same axes. */
INLINE void common_quotient(const wide B[6], wide c, wide d, wide k, wide W[6]) {
    wide A[6], N[6], adjugate[6];
    for (int i = 0; i < 6; i++) {
        A[i] = i <= ZZ ? B[i] + k : B[i];
        N[i] = i <= ZZ ? wide_fma(c, B[i], d) : c * B[i];
    }
    adjugate[XX] = wide_fma(A[YY], A[ZZ], -(A[YZ] * A[YZ]));
    adjugate[YY] = wide_fma(A[XX], A[ZZ], -(A[XZ] * A[XZ]));
    adjugate[ZZ] = wide_fma(A[XX], A[YY], -(A[XY] * A[XY]));
    adjugate[YZ] = wide_fma(A[XY], A[XZ], -(A[XX] * A[YZ]));
    adjugate[XZ] = wide_fma(A[XY], A[YZ], -(A[YY] * A[XZ]));
    adjugate[XY] = wide_fma(A[XZ], A[YZ], -(A[ZZ] * A[XY]));
    wide scale = wide_splat(1) /
                 wide_fma(A[XX], adjugate[XX], wide_fma(A[XY], adjugate[XY], A[XZ] * adjugate[XZ]));
    for (int r = 0; r < 3; r++)
        for (int q = r; q < 3; q++) {
            wide sum = N[symmetric_place[r][0]] * adjugate[symmetric_place[0][q]];
            for (int i = 1; i < 3; i++)
                sum = wide_fma(N[symmetric_place[r][i]], adjugate[symmetric_place[i][q]], sum);
            W[symmetric_place[r][q]] = sum * scale;
        }
}

/* W = sqrt(I + B) - I, with g = J - 1. */
INLINE void root_strain(const wide B[6], wide g, wide W[6], int dim) {
    wide two = wide_splat(2);
    if (dim == 2) {
        wide trace = B[XX] + B[YY];
        wide w1 = two * root_less_one(wide_fma(two, g, trace) * wide_splat((real)0.25));
        wide scale = wide_splat(1) / (two + w1);
        W[XX] = (B[XX] + (g - w1)) * scale;
        W[YY] = (B[YY] + (g - w1)) * scale;
        W[XY] = B[XY] * scale;
        W[ZZ] = W[YZ] = W[XZ] = wide_splat(0);
        return;
    }
    wide trace = B[XX] + B[YY] + B[ZZ], w1 = root_trace(B, trace, g);
    wide w2 = wide_fma(w1, two + w1, -trace) * wide_splat((real)0.5), w3 = g - w1 - w2;
    common_quotient(B, two + w1, w3, wide_fma(two, two + w1, w2), W);
}

/* Stress with the moduli times a factor. */
INLINE void corotated_stress(const elastic_constants *e, const particles *p, int64_t i, wide factor,
                             wide tau[6], int dim) {
    wide B[6], W[6], one = wide_splat(1);
    strain_load(p, i, B);
    wide g = root_less_one(determinant_less_one_wide(B, dim));
    root_strain(B, g, W, dim);
    wide volume = factor * wide_splat(e->lambda) * (g + one) * g;
    wide shear = factor * wide_splat(2 * e->shear);
    for (int c = 0; c < 6; c++) {
        wide part = shear * (B[c] - W[c]);
        tau[c] = c <= ZZ ? part + volume : part;
    }
    if (dim == 2) tau[ZZ] = tau[YZ] = tau[XZ] = wide_splat(0);
}

INLINE void fixed_corotated_stress(const material_constants *c, const particles *p, int64_t i,
                                   const wide C[9], wide tau[6], int dim) {
    (void)C;
    corotated_stress(&c->fixed_corotated, p, i, wide_splat(1), tau, dim);
}

INLINE void fixed_corotated_update(const material_constants *c, particles *p, int64_t i,
                                   const wide G[9], wide_int mask, strain_report *report, int dim) {
    elastic_update(c, p, i, G, mask, report, dim);
}

#endif
