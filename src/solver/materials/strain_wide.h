/*
 * What the solids share, eight particles at a time: strain B = b - I and its change in a step, and
 * what an update reports.
 */
#ifndef SPATE_SOLVER_STRAIN_WIDE_H
#define SPATE_SOLVER_STRAIN_WIDE_H

#include "core/wide_math.h"
#include "solver/materials/material.h"

typedef struct strain_report {
    wide J_less_one;  /* after the update */
    wide stretch;     /* trace of b over dim */
    wide stiffening;  /* factor on the moduli */
    wide_int parted;  /* trial J, before projection and limits, has reached J_c */
    wide_int yielded; /* changed by plasticity */
} strain_report;

/* det(I + B) - 1, without losing small strains. */
INLINE wide determinant_less_one_wide(const wide B[6], int dim) {
    wide plane = wide_fma(B[XX], B[YY], B[XX] + B[YY]) - B[XY] * B[XY];
    if (dim == 2) return plane;
    /* Expanded along the last row of I + B; the 2 x 2 minors of I + B less those of I are small. */
    wide one = wide_splat(1);
    wide cofactor_xz = B[XY] * B[YZ] - (one + B[YY]) * B[XZ];
    wide cofactor_yz = (one + B[XX]) * B[YZ] - B[XY] * B[XZ];
    return wide_fma(B[ZZ], one + plane, plane) + B[XZ] * cofactor_xz - B[YZ] * cofactor_yz;
}

/* Trace over the dimension. */
INLINE wide mean_wide(const wide B[6], int dim) {
    if (dim == 2) return (B[XX] + B[YY]) * wide_splat((real)0.5);
    return (B[XX] + B[YY] + B[ZZ]) * wide_splat((real)(1.0 / 3));
}

/* J - 1 from x = J^2 - 1. */
INLINE wide root_less_one(wide x) {
    wide one = wide_splat(1);
    return x / (one + wide_sqrt(one + x));
}

INLINE void strain_load(const particles *p, int64_t i, wide B[6]) {
    for (int c = 0; c < 6; c++) B[c] = wide_load(PLANE(p, strain, c) + i);
}

/* Writes the lanes of the mask. */
INLINE void strain_store(particles *p, int64_t i, wide_int mask, const wide B[6], int dim) {
    for (int c = 0; c < 6; c++) {
        if (dim == 2 && (c == ZZ || c == YZ || c == XZ)) continue;
        real *to = PLANE(p, strain, c) + i;
        wide_store(to, wide_select(mask, B[c], wide_load(to)));
    }
}

INLINE void hardening_store(particles *p, int64_t i, wide_int mask, wide value) {
    wide_store(p->hardening + i, wide_select(mask, value, wide_load(p->hardening + i)));
}

/* Counts a plastic return that has left `ratio` of the deviator. */
INLINE void flow_add(particles *p, int64_t i, wide_int mask, wide ratio) {
    wide before = wide_load(p->flow + i);
    wide_store(p->flow + i, wide_select(mask, before + (wide_splat(1) - ratio), before));
}

/* The trial strain of a step: b <- (I + G) b (I + G)^T for G = dt C, in terms of B = b - I: with
 * H = (I + G) b - b = G b, B <- B + H + H^T + H G^T. */
INLINE void strain_advance(const particles *p, int64_t i, const wide G[9], wide next[6], int dim) {
    wide B[6], H[3][3], one = wide_splat(1);
    strain_load(p, i, B);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            H[r][c] = wide_splat(0);
            for (int k = 0; k < dim; k++)
                H[r][c] = wide_fma(
                    G[3 * r + k],
                    k == c ? B[symmetric_place[k][c]] + one : B[symmetric_place[k][c]], H[r][c]);
        }
    for (int c = 0; c < 6; c++) next[c] = B[c];
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++) {
            wide sum = B[symmetric_place[r][c]] + H[r][c] + H[c][r];
            for (int k = 0; k < dim; k++) sum = wide_fma(H[r][k], G[3 * c + k], sum);
            next[symmetric_place[r][c]] = sum;
        }
}

/* Lanes with x = J^2 - 1 at or beyond a critical J - 1. */
INLINE wide_int reached(wide x, real critical) {
    return x >= wide_splat(critical * (critical + 2));
}

/* The report of an update that left strain B with J^2 - 1 = x, without plasticity. */
INLINE void report_strain(const wide B[6], wide x, strain_report *report, int dim) {
    report->J_less_one = root_less_one(x);
    report->stretch = wide_splat(1) + mean_wide(B, dim);
    report->stiffening = wide_splat(1);
    report->yielded = wide_splat_int(0);
}

/* A step of an elastic solid. */
INLINE void elastic_update(const material_constants *constants, particles *p, int64_t i,
                           const wide G[9], wide_int mask, strain_report *report, int dim) {
    wide B[6];
    strain_advance(p, i, G, B, dim);
    strain_store(p, i, mask, B, dim);
    wide x = determinant_less_one_wide(B, dim);
    report->parted = reached(x, constants->critical);
    report_strain(B, x, report, dim);
}

#endif
