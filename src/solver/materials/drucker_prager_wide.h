/* Sand, eight particles at a time; the formulas are in drucker_prager.c. */
#ifndef SPATE_SOLVER_DRUCKER_PRAGER_WIDE_H
#define SPATE_SOLVER_DRUCKER_PRAGER_WIDE_H

#include "solver/materials/neo_hookean_wide.h"

/* b <- J_c^(2/d) b: gives the volume back that was cut off before, J_c = 1 + gained. */
INLINE void restore_volume(wide gained, wide B[6], int dim) {
    wide f = gained;
    if (dim == 3) { /* J_c^(2/3) - 1 */
        wide one = wide_splat(1), J = one + gained, grown = J * inverse_root(J, 3);
        f = gained * (one + J) / wide_fma(grown, one + grown, one);
    }
    for (int c = 0; c < 6; c++) B[c] = wide_fma(f, B[c], c <= ZZ ? B[c] + f : B[c]);
}

/* Multiplies by the two sides of 1 : cos(theta) - lode sin(theta), for the Lode angle of a deviator
 * of length `size`: sin(3 theta) = -3 sqrt(6) det(s) / |s|^3. c = cos(theta) follows from 4 c^3 - 3
 * c = cos(3 theta), by a polynomial within 9e-8 and in double by Newton's method from there, and
 * sin(theta) = sin(3 theta) / (4 c^2 - 1). */
INLINE void weigh_by_lode(const strain_parts *s, real lode, wide_int where, wide *limit,
                          wide *size) {
    const wide one = wide_splat(1), two = wide_splat(2), three = wide_splat(3),
               four = wide_splat(4);
    /* Without strain to speak of there is no angle: theta = 0 */
    wide unit = s->shrink / wide_max(*size, wide_splat((real)1e-12));
    wide sine =
        deviator_determinant(s) * (unit * unit * unit) * wide_splat((real)-7.348469228349534);
    sine = wide_max(-one, wide_min(one, sine));
    wide cosine = wide_sqrt(wide_fma(-sine, sine, one));
    static const real fit[] = {(real)0.866025493, (real)0.166657814,  (real)-0.047965167,
                               (real)0.023734577, (real)-0.012443533, (real)0.00499554,
                               (real)-0.001004775};
    wide c = wide_polynomial(cosine, fit, COUNT_OF(fit));
    for (int step = 0; step < (sizeof(real) == 4 ? 0 : 2); step++) {
        wide square = four * c * c;
        c -= wide_fma(c, square - three, -cosine) / (three * (square - one));
    }
    /* (4 c^2 - 1) (c - lode sin(theta)) */
    wide weight = wide_fma(two, c, cosine) - wide_splat(lode) * sine;
    *limit = wide_select(where, *limit * wide_fma(four * c, c, -one), *limit);
    *size = wide_select(where, *size * weight, *size);
}

INLINE void drucker_prager_update(const material_constants *constants, particles *p, int64_t i,
                                  const wide G[9], wide_int mask, strain_report *report, int dim) {
    const drucker_prager_constants *d = &constants->drucker_prager;
    wide B[6];
    strain_advance(p, i, G, B, dim);
    wide gained = wide_load(p->hardening + i);
    if (d->correct && wide_any(gained > wide_splat(0))) restore_volume(gained, B, dim);
    strain_parts s = strain_take_apart(B, dim);
    report->parted = reached(s.x, constants->critical);
    wide tip = wide_splat(2 * d->tip), x = s.x, size = wide_sqrt(s.size2);
    wide limit = wide_splat(d->slope * (real)0.5) * (tip - x); /* of |dev bbar| */
    wide_int apart = x > tip;
    if (dim == 3 && d->lode > 0) { /* the cone is weakest at tan(theta) = -lode */
        wide_int close = (size * wide_splat(d->weakest) > limit) & ~apart & mask;
        if (wide_any(close)) weigh_by_lode(&s, d->lode, close, &limit, &size);
    }
    wide_int sheared = (size > limit) & ~apart;
    if (wide_any(sheared & mask)) {
        wide next[6];
        strain_rebuild(&s, x, limit / size, next, dim);
        for (int c = 0; c < 6; c++) B[c] = wide_select(sheared, next[c], B[c]);
    }
    if (wide_any(apart & mask)) {
        for (int c = 0; c < 6; c++)
            B[c] = wide_select(apart, wide_splat(c <= ZZ ? d->tip_strain : 0), B[c]);
        x = wide_select(apart, tip, x);
    }
    strain_store(p, i, mask, B, dim);
    report_strain(B, x, report, dim);
    report->yielded = sheared | apart;
    if (!d->correct) return;
    wide cut = root_less_one((s.x - x) / (wide_splat(1) + x)); /* J / J_t - 1 */
    hardening_store(p, i, mask, wide_min(wide_splat(LOOSEST), cut));
}

INLINE void drucker_prager_stress(const material_constants *c, const particles *p, int64_t i,
                                  const wide C[9], wide tau[6], int dim) {
    (void)C;
    simo_stress(&c->drucker_prager.elastic, p, i, tau, dim);
}

#endif
