/* Metal, eight particles at a time; the formulas are in von_mises.c. */
#ifndef SPATE_SOLVER_VON_MISES_WIDE_H
#define SPATE_SOLVER_VON_MISES_WIDE_H

#include "solver/materials/neo_hookean_wide.h"

INLINE void von_mises_update(const material_constants *constants, particles *p, int64_t i,
                             const wide G[9], wide_int mask, strain_report *report, int dim) {
    const von_mises_constants *v = &constants->von_mises;
    const real root = (real)0.81649658092772603273; /* sqrt(2/3) */
    wide B[6], flowed = wide_load(p->hardening + i);
    strain_advance(p, i, G, B, dim);
    strain_parts s = strain_take_apart(B, dim);
    report->parted = reached(s.x, constants->critical);
    wide limit = wide_fma(wide_splat(root * v->hardening), flowed, wide_splat(v->yield));
    wide_int outside = s.size2 > limit * limit;
    if (wide_any(outside & mask)) {
        wide size = wide_sqrt(s.size2), rise = wide_splat(v->hardening * (real)(2.0 / 3)), next[6];
        wide stiffness = wide_splat(2) * s.shrink * (wide_splat(1) + s.mean);
        wide flow = (size - limit) / (stiffness + rise);
        wide ratio = wide_fma(rise, flow, limit) / size;
        strain_rebuild(&s, s.x, ratio, next, dim);
        flow_add(p, i, mask & outside, ratio);
        for (int c = 0; c < 6; c++) B[c] = wide_select(outside, next[c], B[c]);
        hardening_store(p, i, mask & outside, wide_fma(wide_splat(root), flow, flowed));
    }
    strain_store(p, i, mask, B, dim);
    report_strain(B, s.x, report, dim);
    report->yielded = outside;
}

INLINE void von_mises_stress(const material_constants *c, const particles *p, int64_t i,
                             const wide C[9], wide tau[6], int dim) {
    (void)C;
    simo_stress(&c->von_mises.elastic, p, i, tau, dim);
}

#endif
