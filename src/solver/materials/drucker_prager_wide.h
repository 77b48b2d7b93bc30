/* Sand, eight particles at a time; the formulas are in drucker_prager.c. */
#ifndef SPATE_SOLVER_DRUCKER_PRAGER_WIDE_H
#define SPATE_SOLVER_DRUCKER_PRAGER_WIDE_H

#include "solver/materials/neo_hookean_wide.h"

/* b <- exp(2 v_c / d) b: gives the volume back that was cut off before. */
INLINE void restore_volume(wide gained, wide B[6], int dim) {
    wide f = wide_expm1(gained * wide_splat((real)2 / (real)dim));
    for (int c = 0; c < 6; c++) B[c] = wide_fma(f, B[c], c <= ZZ ? B[c] + f : B[c]);
}

INLINE void drucker_prager_update(const material_constants *constants, particles *p, int64_t i,
                                  const wide G[9], wide_int mask, strain_report *report, int dim) {
    const drucker_prager_constants *d = &constants->drucker_prager;
    wide B[6];
    strain_advance(p, i, G, B, dim);
    if (d->correct) restore_volume(wide_load(p->hardening + i), B, dim);
    strain_parts s = strain_take_apart(B, dim);
    report->parted = reached(s.x, constants->critical);
    wide tip = wide_splat(2 * d->tip), x = s.x;
    wide limit = wide_splat(d->slope * (real)0.5) * (tip - x); /* of |dev bbar| */
    wide_int apart = x > tip;
    wide_int outside = apart | (s.size2 > limit * limit);
    if (wide_any(outside & mask)) {
        wide zero = wide_splat(0), ratio = limit / wide_sqrt(s.size2), next[6];
        strain_rebuild(&s, x, wide_select(apart, zero, ratio), next, dim);
        for (int c = 0; c < 6; c++) {
            next[c] = wide_select(apart, c <= ZZ ? wide_splat(d->tip_strain) : zero, next[c]);
            B[c] = wide_select(outside, next[c], B[c]);
        }
        x = wide_select(apart, tip, x);
    }
    strain_store(p, i, mask, B, dim);
    report_strain(B, x, report, dim);
    report->yielded = outside;
    if (!d->correct) return;
    wide cut = wide_log1p((s.x - x) / (wide_splat(1) + x)) * wide_splat((real)0.5);
    hardening_store(p, i, mask, wide_min(wide_splat(LOOSEST), cut));
}

#endif
