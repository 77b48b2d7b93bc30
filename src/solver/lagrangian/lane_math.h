/*
 * Four strands at a time: a lane is a strand, in double. Nothing of libm and no fused products, so
 * that every instruction set gives the same bits. Sine, cosine and arctangent use the polynomials
 * that are documented for Sun's fdlibm.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_LANE_MATH_H
#define SPATE_SOLVER_LAGRANGIAN_LANE_MATH_H

#include "core/simd.h"

enum { STRAND_LANES = 4 };

typedef double lanes __attribute__((vector_size(STRAND_LANES * sizeof(double))));
typedef int64_t lane_mask __attribute__((vector_size(STRAND_LANES * sizeof(int64_t))));

INLINE lanes lane_splat(double s) { return (lanes){s, s, s, s}; }
INLINE lanes lane_select(lane_mask mask, lanes a, lanes b) {
    return (lanes)((mask & (lane_mask)a) | (~mask & (lane_mask)b));
}
INLINE lanes lane_min(lanes a, lanes b) { return lane_select(a < b, a, b); }
INLINE lanes lane_max(lanes a, lanes b) { return lane_select(a > b, a, b); }
INLINE bool lane_any(lane_mask m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
INLINE lanes lane_sqrt(lanes a) {
    lanes r;
    for (int i = 0; i < STRAND_LANES; i++) r[i] = __builtin_sqrt(a[i]);
    return r;
}

/* ---- Vectors --------------------------------------------------------------------------------- */

INLINE lanes lane_dot(const lanes a[3], const lanes b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
INLINE void lane_cross(lanes out[3], const lanes a[3], const lanes b[3]) {
    const lanes x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
    out[0] = x, out[1] = y;
}
INLINE void lane_sub(lanes out[3], const lanes a[3], const lanes b[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}
INLINE void lane_scale(lanes out[3], lanes s, const lanes a[3]) {
    for (int k = 0; k < 3; k++) out[k] = s * a[k];
}
INLINE void lane_add_scaled(lanes out[3], const lanes a[3], lanes s, const lanes b[3]) {
    for (int k = 0; k < 3; k++) out[k] = a[k] + s * b[k];
}
INLINE void lane_copy(lanes out[3], const lanes a[3]) { memcpy(out, a, 3 * sizeof *a); }

/* ---- Angles ---------------------------------------------------------------------------------- */

#define LANE_ROUNDING  0x1.8p52 /* adding it rounds to an integer, which stands in the lowest bits */
#define LANE_HALF_PI   1.57079632673412561417e+00 /* 33 bits */
#define LANE_HALF_TAIL 6.07710050650619224932e-11
#define LANE_TWO_PI    6.28318530717958647693

INLINE lanes lane_polynomial(lanes x, const double *c, int count) {
    lanes sum = lane_splat(c[count - 1]);
#pragma GCC unroll 16
    for (int i = count - 2; i >= 0; i--) sum = sum * x + c[i];
    return sum;
}

INLINE void lane_sincos(lanes x, lanes *sine, lanes *cosine) {
    static const double s[] = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                               -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                               -2.50507602534068634195e-08, 1.58969099521155010221e-10};
    static const double c[] = {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                               2.48015872894767294178e-05, -2.75573143513906633035e-07,
                               2.08757232129817482790e-09, -1.13596475577881948265e-11};
    const lanes rounded = x * 6.36619772367581382433e-01 + LANE_ROUNDING;
    const lanes n = rounded - LANE_ROUNDING, r = (x - n * LANE_HALF_PI) - n * LANE_HALF_TAIL;
    const lanes z = r * r;
    const lanes sin_r = r + r * z * lane_polynomial(z, s, 6);
    const lanes cos_r = 1 - (0.5 * z - z * z * lane_polynomial(z, c, 6));
    const lane_mask quarter = (lane_mask)rounded, odd = -(quarter & 1);
    const lane_mask sign = (quarter & 2) << 62, sign_cos = ((quarter + 1) & 2) << 62;
    *sine = (lanes)((lane_mask)lane_select(odd, cos_r, sin_r) ^ sign);
    *cosine = (lanes)((lane_mask)lane_select(odd, sin_r, cos_r) ^ sign_cos);
}

/* The angle whose sine and cosine these are, times any length: by its eighth, whose tangent is
 * within what the polynomial is for. */
INLINE lanes lane_angle(lanes sine, lanes cosine) {
    static const double a[] = {
        3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
        -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
        6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
        -3.65315727442169155270e-02, 1.62858201153657823623e-02};
    const lanes length = lane_sqrt(sine * sine + cosine * cosine);
    const lanes half = sine / lane_max(length + cosine, 1e-16 * length + 1e-300);
    const lanes fourth = half / (1 + lane_sqrt(1 + half * half));
    const lanes eighth = fourth / (1 + lane_sqrt(1 + fourth * fourth)), z = eighth * eighth;
    return 8 * (eighth - eighth * z * lane_polynomial(z, a, 11));
}

/* The angle nearest to `near` that differs from it by whole turns. */
INLINE lanes lane_unwind(lanes angle, lanes near) {
    const lanes turns = (near - angle) * (1 / LANE_TWO_PI) + LANE_ROUNDING - LANE_ROUNDING;
    return angle + turns * LANE_TWO_PI;
}

#endif
