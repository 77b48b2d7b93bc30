/*
 * Simo's neo-Hookean form, eight particles at a time, and b taken apart and put together again for
 * the plastic materials built on it; the formulas are in neo_hookean.c.
 */
#ifndef SPATE_SOLVER_NEO_HOOKEAN_WIDE_H
#define SPATE_SOLVER_NEO_HOOKEAN_WIDE_H

#include "solver/materials/strain_wide.h"

/* a^(-1/d) for a > 0. In 3D: a third of the exponent's bits is right to 4 %, and each step makes of
 * a share r of a y^3 that is missing (35 / 81) r^4. */
INLINE wide inverse_root(wide a, int dim) {
    wide one = wide_splat(1);
    if (dim == 2) return one / wide_sqrt(a);
    const real exponent = (real)(4.0 / 3 * MATH_EXPONENT_BIAS - 0.068);
    wide bits = wide_from_int((wide_int)a) * wide_splat((real)(-1.0 / 3));
    bits += wide_splat(exponent * (real)((real_ubits)1 << MATH_MANTISSA_BITS));
    wide y = (wide)wide_to_int(bits);
    for (int step = 0; step < 2; step++) {
        wide r = wide_fma(-(a * y), y * y, one);
        wide series = wide_fma(r, wide_splat((real)(14.0 / 81)), wide_splat((real)(2.0 / 9)));
        series = wide_fma(r, series, wide_splat((real)(1.0 / 3)));
        y = wide_fma(y * r, series, y);
    }
    return y;
}

INLINE void simo_stress(const elastic_constants *n, const particles *p, int64_t i, wide tau[6],
                        int dim) {
    wide B[6];
    strain_load(p, i, B);
    wide x = determinant_less_one_wide(B, dim);
    wide shear = wide_splat(n->shear) * inverse_root(wide_splat(1) + x, dim);
    wide volume = wide_splat(n->bulk * (real)0.5) * x, mean = mean_wide(B, dim);
    for (int c = 0; c < 3; c++) tau[c] = wide_fma(shear, B[c] - mean, volume);
    for (int c = 3; c < 6; c++) tau[c] = shear * B[c];
    if (dim == 2) tau[ZZ] = tau[YZ] = tau[XZ] = wide_splat(0);
}

INLINE void neo_hookean_stress(const material_constants *c, const particles *p, int64_t i,
                               const wide C[9], wide tau[6], int dim) {
    (void)C;
    simo_stress(&c->neo_hookean, p, i, tau, dim);
}

INLINE void neo_hookean_update(const material_constants *c, particles *p, int64_t i,
                               const wide G[9], wide_int mask, strain_report *report, int dim) {
    elastic_update(c, p, i, G, mask, report, dim);
}

/* ---- For plastic returns --------------------------------------------------------------------- */

/* B = b - I taken apart. */
typedef struct strain_parts {
    wide x;      /* J^2 - 1 */
    wide shrink; /* J^(-2/d) */
    wide mean;   /* of the eigenvalues of B */
    wide dev[6]; /* deviator of B: times shrink, of bbar */
    wide size2;  /* |dev bbar|^2 */
} strain_parts;

INLINE strain_parts strain_take_apart(const wide B[6], int dim) {
    strain_parts s = {.x = determinant_less_one_wide(B, dim), .mean = mean_wide(B, dim)};
    s.shrink = inverse_root(wide_splat(1) + s.x, dim);
    for (int c = 0; c < 6; c++) s.dev[c] = c <= ZZ ? B[c] - s.mean : B[c];
    wide diagonal = wide_fma(s.dev[YY], s.dev[YY], s.dev[XX] * s.dev[XX]);
    wide sides = s.dev[XY] * s.dev[XY];
    if (dim == 3) {
        diagonal = wide_fma(s.dev[ZZ], s.dev[ZZ], diagonal);
        sides = wide_fma(s.dev[XZ], s.dev[XZ], wide_fma(s.dev[YZ], s.dev[YZ], sides));
    }
    s.size2 = wide_fma(sides, wide_splat(2), diagonal) * (s.shrink * s.shrink);
    return s;
}

/* Determinant of the deviator of B. */
INLINE wide deviator_determinant(const strain_parts *s) {
    const wide *D = s->dev;
    return D[XX] * wide_fma(D[YY], D[ZZ], -(D[YZ] * D[YZ])) -
           D[XY] * wide_fma(D[XY], D[ZZ], -(D[YZ] * D[XZ])) +
           D[XZ] * wide_fma(D[XY], D[YZ], -(D[YY] * D[XZ]));
}

/* t - 1 for the largest t with det(ratio dev(bbar) + t I) = 1; of the trial strain it is known.
 * Halley's method on t^3 - k t + m = 1 from ratio times that of the trial strain, which is above
 * the root, since t is convex in the ratio. */
INLINE wide rebuilt_mean(const strain_parts *s, wide ratio, int dim) {
    wide one = wide_splat(1), two = wide_splat(2), three = wide_splat(3);
    wide k = ratio * ratio * s->size2 * wide_splat((real)0.5);
    if (dim == 2) return root_less_one(k);
    wide scale = ratio * s->shrink;
    wide rest = wide_fma(scale * scale * scale, deviator_determinant(s), -k);
    wide e = ratio * wide_max(wide_splat(0), wide_fma(s->shrink, s->mean, s->shrink - one));
    for (int step = 0; step < (sizeof(real) == 4 ? 3 : 4); step++) {
        wide t = one + e, slope = wide_fma(three * t, t, -k);
        wide f = wide_fma(e, wide_fma(e, three + e, three - k), rest);
        e -= two * f * slope / wide_fma(two * slope, slope, -(wide_splat(6) * t * f));
    }
    return e;
}

/* B with x = J^2 - 1 and ratio dev(bbar): ratio is 0 where x is not that of the parts. */
INLINE void strain_rebuild(const strain_parts *s, wide x, wide ratio, wide B[6], int dim) {
    wide one = wide_splat(1), e = rebuilt_mean(s, ratio, dim);
    /* grown = J^(2/d) and grown - 1; times the deviator of bbar it gives that of b */
    wide shrink = inverse_root(one + x, dim), grown, grown_less_one;
    if (dim == 2) {
        grown = (one + x) * shrink;
        grown_less_one = x / (one + grown);
    } else {
        grown = (one + x) * shrink * shrink;
        grown_less_one = x / wide_fma(grown, one + grown, one);
    }
    wide mean = wide_fma(grown, e, grown_less_one);
    for (int c = 0; c < 6; c++)
        B[c] = c <= ZZ ? wide_fma(ratio, s->dev[c], mean) : ratio * s->dev[c];
}

#endif
