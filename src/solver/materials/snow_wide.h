/* Snow, eight particles at a time; the formulas are in snow.c. Its limits need the eigenvalues. */
#ifndef SPATE_SOLVER_SNOW_WIDE_H
#define SPATE_SOLVER_SNOW_WIDE_H

#include "core/decompose.h"
#include "solver/materials/fixed_corotated_wide.h"

/* The principal stretches of b less 1, and b's axes as the columns of Q (dim x dim). */
INLINE void wide_stretches(const wide B[6], wide w[3], wide Q[9], int dim) {
    if (dim == 2) {
        const wide upper[3] = {B[XX], B[XY], B[YY]};
        wide_eigen2(upper, Q, w);
    } else {
        const wide upper[6] = {B[XX], B[XY], B[XZ], B[YY], B[YZ], B[ZZ]};
        wide_eigen3(upper, Q, w);
    }
    /* Rounding may leave an axis that is pressed flat below nothing. */
    const wide flat = wide_splat(REAL_EPSILON - 1);
    for (int a = 0; a < dim; a++) w[a] = root_less_one(wide_max(flat, w[a]));
}

/* T = Q diag(v) Q^T */
INLINE void wide_tensor(const wide Q[9], const wide v[3], wide T[6], int dim) {
    for (int c = 0; c < 6; c++) T[c] = wide_splat(0);
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++)
            for (int k = 0; k < dim; k++)
                T[symmetric_place[r][c]] =
                    wide_fma(Q[dim * r + k] * v[k], Q[dim * c + k], T[symmetric_place[r][c]]);
}

INLINE wide snow_stiffening(const snow_constants *s, wide packed) {
    return wide_exp(wide_splat(-s->hardening) * packed);
}

INLINE void snow_stress(const material_constants *c, const particles *p, int64_t i, const wide C[9],
                        wide tau[6], int dim) {
    (void)C;
    const snow_constants *s = &c->snow;
    wide factor = snow_stiffening(s, wide_load(p->hardening + i));
    corotated_stress(&s->elastic, p, i, factor, tau, dim);
}

INLINE void snow_update(const material_constants *constants, particles *p, int64_t i,
                        const wide G[9], wide_int mask, strain_report *report, int dim) {
    const snow_constants *s = &constants->snow;
    wide B[6], Q[9], w[3], one = wide_splat(1), packed = wide_load(p->hardening + i);
    strain_advance(p, i, G, B, dim);
    wide x = determinant_less_one_wide(B, dim), trial = root_less_one(x);
    report->parted = reached(x, constants->critical);
    wide_stretches(B, w, Q, dim);
    wide_int outside = wide_splat_int(0);
    wide grown = wide_splat(0); /* J - 1 of the limited stretches */
    for (int a = 0; a < dim; a++) {
        /* this order keeps a NaN */
        wide within = wide_min(wide_splat(s->stretch), wide_max(wide_splat(-s->compression), w[a]));
        outside |= within != w[a];
        grown = wide_fma(grown, within, grown + within);
        w[a] = wide_fma(within, within, within + within);
    }
    if (wide_any(outside & mask)) {
        wide next[6];
        wide_tensor(Q, w, next, dim);
        for (int c = 0; c < 6; c++) B[c] = wide_select(outside, next[c], B[c]);
        wide cut = (trial - grown) / (one + grown); /* J_trial / J - 1 */
        packed = wide_select(outside, wide_fma(packed, cut, packed + cut), packed);
        hardening_store(p, i, mask, packed);
        x = wide_select(outside, determinant_less_one_wide(B, dim), x);
    }
    strain_store(p, i, mask, B, dim);
    report_strain(B, x, report, dim);
    report->stiffening = snow_stiffening(s, packed);
    report->yielded = outside;
}

#endif
