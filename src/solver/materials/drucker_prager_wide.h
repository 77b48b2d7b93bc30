/* Sand, eight particles at a time; the formulas are in drucker_prager.c. */
#ifndef SPATE_SOLVER_DRUCKER_PRAGER_WIDE_H
#define SPATE_SOLVER_DRUCKER_PRAGER_WIDE_H

#include "solver/materials/neo_hookean_wide.h"

/* b <- exp(2 v_c / d) b: gives the volume back that was cut off before. */
INLINE void restore_volume(wide gained, wide B[6], int dim) {
    wide f = wide_expm1(gained * wide_splat((real)2 / (real)dim));
    for (int c = 0; c < 6; c++) B[c] = wide_fma(f, B[c], c <= ZZ ? B[c] + f : B[c]);
}

/* cos(theta) - lode sin(theta) for the Lode angle of the deviator, sin(3 theta) = -3 sqrt(6) det(s) /
 * |s|^3. The angle is a cube root: with w = exp(3 i theta), each step z <- (2 z + w conj(z)^2) / 3
 * makes of an angle that is e off, at |z| = 1, one that is e^3 / 3 off and |z|^2 = 1 - 2 e^2. */
INLINE wide lode_factor(const strain_parts *s, real lode) {
    const wide one = wide_splat(1), two = wide_splat(2), third = wide_splat((real)(1.0 / 3));
    /* Without strain to speak of there is no angle: theta = 0 */
    wide size = wide_max(wide_sqrt(s->size2), wide_splat((real)1e-12)), unit = s->shrink / size;
    wide sine =
        deviator_determinant(s) * unit * unit * unit * wide_splat((real)-7.3484692283495345);
    sine = wide_max(-one, wide_min(one, sine));
    wide cosine = wide_sqrt(wide_fma(-sine, sine, one));
    /* a + w points along nearly a third of the angle of w */
    const real a = (real)1.8;
    wide scale = one / wide_sqrt(wide_fma(wide_splat(2 * a), cosine, wide_splat(a * a + 1)));
    wide x = (wide_splat(a) + cosine) * scale, y = sine * scale;
    for (int step = 0; step < (sizeof(real) == 4 ? 1 : 2); step++) {
        wide square_x = wide_fma(x, x, -(y * y)), square_y = two * x * y; /* z^2 */
        wide next_x = wide_fma(sine, square_y, wide_fma(cosine, square_x, two * x)) * third;
        wide next_y = wide_fma(-cosine, square_y, wide_fma(sine, square_x, two * y)) * third;
        wide norm = wide_sqrt(wide_fma(next_x, next_x, next_y * next_y));
        x = next_x / norm, y = next_y / norm;
    }
    return wide_fma(wide_splat(-lode), y, x);
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
    wide tip = wide_splat(2 * d->tip), x = s.x;
    wide limit = wide_splat(d->slope * (real)0.5) * (tip - x); /* of |dev bbar| */
    if (dim == 3 && d->lode > 0) limit = limit / lode_factor(&s, d->lode);
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
    wide cut = wide_splat(0);
    if (wide_any(apart)) cut = wide_log1p((s.x - x) / (wide_splat(1) + x)) * wide_splat((real)0.5);
    hardening_store(p, i, mask, wide_min(wide_splat(LOOSEST), cut));
}

#endif
