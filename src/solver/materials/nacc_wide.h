/* Clay, eight particles at a time; the formulas are in nacc.c. */
#ifndef SPATE_SOLVER_NACC_WIDE_H
#define SPATE_SOLVER_NACC_WIDE_H

#include "solver/materials/neo_hookean_wide.h"

/* P0 / kappa for the hardening so far. */
INLINE wide nacc_yield_pressure(const nacc_constants *n, wide hardening) {
    wide z = wide_splat(-n->xi) * (wide_splat(n->alpha_h) + hardening);
    /* this order keeps a NaN */
    z = wide_min(wide_splat(NACC_LARGEST), wide_max(wide_splat(0), z));
    /* sinh(z) */
    wide u = wide_expm1(z), raised = (u + u / (wide_splat(1) + u)) * wide_splat((real)0.5);
    return wide_splat((real)NACC_LEAST) + raised;
}

INLINE void nacc_update(const material_constants *constants, particles *p, int64_t i,
                        const wide G[9], wide_int mask, strain_report *report, int dim) {
    const nacc_constants *n = &constants->nacc;
    wide B[6], hardening = wide_load(p->hardening + i), half = wide_splat((real)0.5);
    strain_advance(p, i, G, B, dim);
    strain_parts s = strain_take_apart(B, dim);
    /* pressures over kappa; q2 = (1 + 2 chi) q^2 */
    wide P = s.x * -half, P0 = nacc_yield_pressure(n, hardening), least = wide_splat(-n->chi) * P0;
    wide q2 = s.size2 * wide_splat(n->size * n->size * (1 + 2 * n->chi));
    wide slope2 = wide_splat(n->slope * n->slope), x = s.x;
    report->parted =
        n->own_critical ? x >= least * wide_splat(-2) : reached(x, constants->critical);
    wide room = slope2 * (P - least) * (P0 - P);
    wide_int above = P > P0, tip = above | (P < least), outside = tip | (q2 > room);
    if (wide_any(outside & mask)) {
        /* where the segment from the centre meets the ellipse, and the tips */
        wide centre = (P0 + least) * half, off = P - centre;
        wide reach = wide_sqrt(slope2 / wide_fma(slope2 * off, off, q2)) * (P0 - least) * half;
        wide met = wide_fma(off, reach, centre);
        met = wide_select(tip, wide_select(above, P0, least), met);
        wide x_met = met * wide_splat(-2), zero = wide_splat(0);
        wide ratio = wide_select(tip, zero, wide_sqrt(room / q2)), next[6];
        x = wide_select(tip, x_met, x);
        strain_rebuild(&s, x, ratio, next, dim);
        flow_add(p, i, mask & outside & ~tip, ratio);
        for (int c = 0; c < 6; c++) B[c] = wide_select(outside, next[c], B[c]);
        /* the share that J_trial^2 is above J_x^2 */
        wide J2 = wide_max(wide_splat((real)NACC_FLATTEST), wide_splat(1) + x_met);
        wide change = (wide_splat(1) + s.x - J2) / J2;
        change = wide_select(J2 > wide_splat((real)NACC_FLATTEST), (s.x - x_met) / J2, change);
        wide hardened = wide_fma(wide_log1p(change), half, hardening);
        hardening_store(p, i, mask & outside, hardened);
    }
    strain_store(p, i, mask, B, dim);
    report_strain(B, x, report, dim);
    report->yielded = outside;
}

INLINE void nacc_stress(const material_constants *c, const particles *p, int64_t i, const wide C[9],
                        wide tau[6], int dim) {
    (void)C;
    simo_stress(&c->nacc.elastic, p, i, tau, dim);
}

#endif
