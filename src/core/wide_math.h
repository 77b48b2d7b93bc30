/*
 * Exponential, logarithm, power and cube root of a `wide`, from polynomials of our own and nothing
 * of libm, so that every machine with fused multiply-add gives the same bits. real_exp() and its
 * relatives give one number, with the bits of a lane.
 *
 * Method: exp reduces x = n ln 2 + r with ln 2 in two parts (Cody and Waite 1980); log writes
 * x = 2^k (1 + f) and uses log(1 + f) = 2 atanh(s), s = f / (2 + f), summed in the order that keeps
 * the rounding errors small (as documented for Sun's fdlibm). The polynomials interpolate at
 * Chebyshev nodes. pow carries the logarithm in two reals (Dekker 1971). tests/test_wide_math.c
 * holds the errors to 2 ulp.
 */
#ifndef SPATE_CORE_WIDE_MATH_H
#define SPATE_CORE_WIDE_MATH_H

#include "core/simd.h"

/* What depends on the precision. MATH_EXP_POLYNOMIAL: (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2.
 * MATH_LOG_POLYNOMIAL Q: 2 atanh(s) = 2 s + s z (2/3 + z Q(z)), z = s^2, for 1 + f in [sqrt(1/2),
 * sqrt(2)]. MATH_CBRT_POLYNOMIAL: cube root on [1, 2] to 1e-4, where Halley's iteration starts.
 * MATH_ROUNDING_NUMBER: adding it rounds to an integer, which then stands in the lowest bits. */
#ifdef SPATE_DOUBLE
#define MATH_EXP_POLYNOMIAL                                                                 \
    0x1.0000000000001p-1, 0x1.5555555555556p-3, 0x1.5555555553d5ep-5, 0x1.11111111109b2p-7, \
        0x1.6c16c1788dc33p-10, 0x1.a01a01a7c54aep-13, 0x1.a019b905bafb1p-16,                \
        0x1.71de0da9d06acp-19, 0x1.28918e390a71ep-22, 0x1.af38b4925be09p-26
#define MATH_LOG_POLYNOMIAL                                                                 \
    0x1.999999999999ap-2, 0x1.2492492492522p-2, 0x1.c71c71c6ea5acp-3, 0x1.745d177ad436ap-3, \
        0x1.3b1395b82701ep-3, 0x1.1118cd67251c5p-3, 0x1.df7ba1f4809c3p-4, 0x1.e03a7acf07f85p-4
#define MATH_CBRT_POLYNOMIAL \
    0x1.1c90a1fb8969fp-1, 0x1.296213a52f037p-1, -0x1.44f0d2e8403a6p-3, 0x1.6ae260afe5091p-6
enum {
    MATH_MANTISSA_BITS = 52,
    MATH_EXPONENT_BIAS = 1023,
    MATH_CBRT_STEPS = 2,
    MATH_TINY_SHIFT = 54
};
#define MATH_EXP_LOWEST      (-746.0) /* exp is 0 there */
#define MATH_EXP_HIGHEST     710.0    /* exp is infinite there */
#define MATH_TINY_SCALE      0x1p54
#define MATH_NORMAL_MIN      0x1p-1022
#define MATH_ROUNDING_NUMBER 0x1.8p52
#define MATH_LOG2_E          0x1.71547652b82fep+0
#define MATH_LN2_HIGH        0x1.62e42fefa3p-1 /* 41 bits: times any exponent it is exact */
#define MATH_LN2_LOW         0x1.3de6af278ece6p-42
#define MATH_TWO_THIRDS      0x1.5555555555555p-1
#define MATH_TWO_THIRDS_LOW  0x1.5555555555555p-55
#define MATH_CBRT_2          0x1.428a2f98d728bp+0
#define MATH_CBRT_HALF       0x1.965fea53d6e3dp-1
#define MATH_ONE_THIRD       0x1.5555555555555p-2
#define MATH_SQRT_HALF_BITS  0x3fe6a09e667f3bcd
#define MATH_DEKKER_SPLIT    0x1.0000002p27
#define MATH_INFINITY        __builtin_inf()
#define MATH_NAN             __builtin_nan("")
#else
#define MATH_EXP_POLYNOMIAL  0x1p-1f, 0x1.5554dcp-3f, 0x1.55551ap-5f, 0x1.120b7cp-7f, 0x1.6d1116p-10f
#define MATH_LOG_POLYNOMIAL  0x1.9999a4p-2f, 0x1.247a24p-2f, 0x1.d80b28p-3f
#define MATH_CBRT_POLYNOMIAL 0x1.1c90a2p-1f, 0x1.296214p-1f, -0x1.44f0d2p-3f, 0x1.6ae26p-6f
enum {
    MATH_MANTISSA_BITS = 23,
    MATH_EXPONENT_BIAS = 127,
    MATH_CBRT_STEPS = 1,
    MATH_TINY_SHIFT = 24
};
#define MATH_EXP_LOWEST      (-105.0f)
#define MATH_EXP_HIGHEST     89.0f
#define MATH_TINY_SCALE      0x1p24f
#define MATH_NORMAL_MIN      0x1p-126f
#define MATH_ROUNDING_NUMBER 0x1.8p23f
#define MATH_LOG2_E          0x1.715476p+0f
#define MATH_LN2_HIGH        0x1.62e4p-1f /* 15 bits */
#define MATH_LN2_LOW         0x1.7f7d1cp-20f
#define MATH_TWO_THIRDS      0x1.555556p-1f
#define MATH_TWO_THIRDS_LOW  (-0x1.555556p-26f)
#define MATH_CBRT_2          0x1.428a3p+0f
#define MATH_CBRT_HALF       0x1.965feap-1f
#define MATH_ONE_THIRD       0x1.555556p-2f
#define MATH_SQRT_HALF_BITS  0x3f3504f3
#define MATH_DEKKER_SPLIT    0x1.002p12f
#define MATH_INFINITY        __builtin_inff()
#define MATH_NAN             __builtin_nanf("")
#endif

/* Bits whose arithmetic may wrap around, in lanes that hold no proper argument. */
typedef real_ubits wide_ubits __attribute__((vector_size(8 * sizeof(real))));

/* c[0] + c[1] x + ... by Horner's rule. */
INLINE wide wide_polynomial(wide x, const real *c, int count) {
    wide sum = wide_splat(c[count - 1]);
#pragma GCC unroll 16
    for (int i = count - 2; i >= 0; i--) sum = wide_fma(sum, x, wide_splat(c[i]));
    return sum;
}

/* 2^n for exponents of normal numbers. */
INLINE wide wide_power_of_two(wide_int n) {
    return (wide)((wide_ubits)(n + wide_splat_int(MATH_EXPONENT_BIAS)) << MATH_MANTISSA_BITS);
}

/* The integer in the lowest bits of x + MATH_ROUNDING_NUMBER, and back to a real. */
INLINE wide_int wide_rounded_int(wide x) {
    return (wide_int)x - (wide_int)wide_splat(MATH_ROUNDING_NUMBER);
}
INLINE wide wide_from_small_int(wide_int n) {
    return (wide)(n + (wide_int)wide_splat(MATH_ROUNDING_NUMBER)) -
           wide_splat(MATH_ROUNDING_NUMBER);
}

/* a * b - product without error, where product is a * b rounded. */
INLINE wide wide_product_error(wide a, wide b, wide product) {
#if HAVE_FMA
    return wide_fma(a, b, -product);
#else
    wide ta = a * MATH_DEKKER_SPLIT, tb = b * MATH_DEKKER_SPLIT;
    wide a_high = ta - (ta - a), b_high = tb - (tb - b);
    wide a_low = a - a_high, b_low = b - b_high;
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
#endif
}

/* exp(x + low), |low| at most an ulp or so of x. */
INLINE wide wide_exp_of_sum(wide x, wide low) {
    static const real polynomial[] = {MATH_EXP_POLYNOMIAL};
    /* min and max hand on their second operand when it is not a number */
    x = wide_min(wide_splat(MATH_EXP_HIGHEST), wide_max(wide_splat(MATH_EXP_LOWEST), x));
    wide rounded = wide_fma(x, wide_splat(MATH_LOG2_E), wide_splat(MATH_ROUNDING_NUMBER));
    wide n = rounded - wide_splat(MATH_ROUNDING_NUMBER);
    wide r = wide_fma(n, wide_splat(-MATH_LN2_HIGH), x);
    r = wide_fma(n, wide_splat(-MATH_LN2_LOW), r) + low;
    wide q = wide_polynomial(r, polynomial, sizeof polynomial / sizeof(real));
    wide power = wide_fma(r * r, q, r) + 1;
    /* two factors, so that results may overflow and underflow */
    wide_int k = wide_rounded_int(rounded), half = k >> 1;
    return power * wide_power_of_two(half) * wide_power_of_two(k - half);
}

INLINE wide wide_exp(wide x) { return wide_exp_of_sum(x, wide_splat(0)); }

/* exp(x) - 1 with full relative accuracy near 0. */
INLINE wide wide_expm1(wide x) {
    static const real polynomial[] = {MATH_EXP_POLYNOMIAL};
    wide y = wide_min(wide_splat(MATH_EXP_HIGHEST), wide_max(wide_splat(-60), x));
    wide rounded = wide_fma(y, wide_splat(MATH_LOG2_E), wide_splat(MATH_ROUNDING_NUMBER));
    wide n = rounded - wide_splat(MATH_ROUNDING_NUMBER);
    /* r and what its rounding lost */
    wide r_high = wide_fma(n, wide_splat(-MATH_LN2_HIGH), y), n_low = n * MATH_LN2_LOW;
    wide r = r_high - n_low, lost = (r_high - r) - n_low;
    wide q = wide_polynomial(r, polynomial, sizeof polynomial / sizeof(real));
    wide tail = wide_fma(r * r, q, wide_fma(lost, r, lost));
    /* 2^n (1 + r + tail) - 1, halved against overflow; the first sum keeps its error */
    wide scale = wide_power_of_two(wide_rounded_int(rounded) - 1);
    wide start = scale - (real)0.5, slope = scale * r;
    wide sum = start + slope, error = (start - sum) + slope;
    wide far = 2 * (sum + wide_fma(scale, tail, error));
    wide result = wide_select(n == 0, r + tail, far);
    return wide_select(wide_abs(x) < MATH_NORMAL_MIN, x, result); /* -0 stays -0 */
}

/* x = m 2^k, m in [sqrt(1/2), sqrt(2)), for 0 < x < infinity. */
INLINE wide wide_split_exponent(wide x, wide *k) {
    wide_int tiny = x < MATH_NORMAL_MIN;
    wide_ubits bits = (wide_ubits)wide_select(tiny, x * MATH_TINY_SCALE, x);
    wide_ubits above = bits - (wide_ubits)wide_splat_int(MATH_SQRT_HALF_BITS);
    wide_int exponent = (wide_int)above >> MATH_MANTISSA_BITS;
    *k = wide_from_small_int(exponent - (tiny & wide_splat_int(MATH_TINY_SHIFT)));
    return (wide)(bits - ((wide_ubits)exponent << MATH_MANTISSA_BITS));
}

/* k ln 2 + log(1 + f) + low. */
INLINE wide wide_log_of_parts(wide k, wide f, wide low) {
    static const real polynomial[] = {MATH_LOG_POLYNOMIAL};
    wide s = f / (f + 2), z = s * s;
    wide q = wide_polynomial(z, polynomial, sizeof polynomial / sizeof(real));
    wide half_square = f * f * (real)0.5;
    wide tail = half_square + z * wide_fma(z, q, wide_splat(MATH_TWO_THIRDS));
    low = wide_fma(s, tail, wide_fma(k, wide_splat(MATH_LN2_LOW), low));
    return wide_fma(k, wide_splat(MATH_LN2_HIGH), f - (half_square - low));
}

/* A logarithm's value where its argument is not in (0, infinity). */
INLINE wide wide_log_finish(wide argument, wide result) {
    wide special = wide_select(argument == 0, wide_splat(-MATH_INFINITY), wide_splat(MATH_NAN));
    special = wide_select(argument > 0, argument, special);
    return wide_select((argument > 0) & (argument < MATH_INFINITY), result, special);
}

INLINE wide wide_log(wide x) {
    wide k, m = wide_split_exponent(x, &k);
    return wide_log_finish(x, wide_log_of_parts(k, m - 1, wide_splat(0)));
}

/* log(1 + x) with full relative accuracy near 0. */
INLINE wide wide_log1p(wide x) {
    wide one = wide_splat(1), u = x + 1;
    wide k, m = wide_split_exponent(u, &k);
    /* away from 0 the sum was rounded: log(u + lost) = log(u) + lost / u */
    wide lost = wide_min(one, x) - (u - wide_max(one, x));
    wide low = wide_select(k == 0, wide_splat(0), lost / u);
    wide f = wide_select(k == 0, x, m - 1);
    wide result = wide_log_finish(u, wide_log_of_parts(k, f, low));
    return wide_select(wide_abs(x) < MATH_NORMAL_MIN, x, result);
}

/* log(x) for 0 < x < infinity as the sum of two reals, about 1.6 times the digits of one. */
INLINE wide wide_log_in_two(wide x, wide *low) {
    static const real polynomial[] = {MATH_LOG_POLYNOMIAL};
    wide k, m = wide_split_exponent(x, &k);
    /* s = (m - 1) / (m + 1) and its remainder */
    wide d = m + 1, d_low = m - (d - 1), f = m - 1;
    wide s = f / d, back = s * d;
    wide s_low = ((f - back) - wide_product_error(s, d, back) - s * d_low) / d;
    /* cubic = s z (2/3 + z Q), each product with its error */
    wide z = s * s, z_low = wide_product_error(s, s, z) + 2 * s * s_low;
    wide q = wide_polynomial(z, polynomial, sizeof polynomial / sizeof(real));
    wide third = wide_splat(MATH_TWO_THIRDS), t = z * third;
    wide t_low =
        wide_product_error(z, third, t) + z * MATH_TWO_THIRDS_LOW + z_low * third + z * z * q;
    wide cubic = s * t, cubic_low = wide_product_error(s, t, cubic) + s * t_low + s_low * t;
    /* k ln 2 + 2 s + cubic, largest first */
    wide start = k * MATH_LN2_HIGH, twice = 2 * s;
    wide sum = start + twice, sum_low = (start - sum) + twice;
    wide total = sum + cubic, total_low = (sum - total) + cubic;
    wide rest = wide_fma(k, wide_splat(MATH_LN2_LOW), 2 * s_low + cubic_low) + sum_low + total_low;
    wide high = total + rest;
    *low = (total - high) + rest;
    return high;
}

/* x^y for x >= 0; a negative x gives NaN unless y is 0. */
INLINE wide wide_pow(wide x, wide y) {
    wide one = wide_splat(1), log_low;
    wide log_high = wide_log_finish(x, wide_log_in_two(x, &log_low));
    wide product = log_high * y;
    wide low = wide_fma(y, log_low, wide_product_error(log_high, y, product));
    /* the low part means nothing where the product is beyond all bounds */
    low = wide_select(wide_abs(low) < 1, low, wide_splat(0));
    return wide_select((x == 1) | (y == 0), one, wide_exp_of_sum(product, low));
}

/* Cube root, of negative numbers too. */
INLINE wide wide_cbrt(wide x) {
    static const real polynomial[] = {MATH_CBRT_POLYNOMIAL};
    /* |x| = m 2^(3 q + r), m in [1, 2), r in {-1, 0, 1} */
    wide size = wide_abs(x);
    wide_int tiny = size < MATH_NORMAL_MIN;
    wide_int bits = (wide_int)wide_select(tiny, size * MATH_TINY_SCALE, size);
    wide_int exponent = (bits >> MATH_MANTISSA_BITS) - wide_splat_int(MATH_EXPONENT_BIAS);
    wide m = (wide)(bits - (exponent << MATH_MANTISSA_BITS));
    wide_int whole = exponent - (tiny & wide_splat_int(MATH_TINY_SHIFT));
    wide_int q = wide_rounded_int(wide_fma(wide_from_small_int(whole), wide_splat(MATH_ONE_THIRD),
                                           wide_splat(MATH_ROUNDING_NUMBER)));
    wide_int r = whole - 3 * q;
    wide factor = wide_select(r < 0, wide_splat(MATH_CBRT_HALF),
                              wide_select(r > 0, wide_splat(MATH_CBRT_2), wide_splat(1)));
    /* Halley's iteration on y^3 = w triples the digits */
    wide w = m * wide_power_of_two(r);
    wide y = factor * wide_polynomial(m, polynomial, sizeof polynomial / sizeof(real));
    for (int step = 0; step < MATH_CBRT_STEPS; step++) {
        wide cube = y * y * y;
        y = wide_fma(y, (w - cube) / (cube + cube + w), y);
    }
    wide_int sign = (wide_int)x ^ (wide_int)size;
    wide root = (wide)((wide_int)(y * wide_power_of_two(q)) | sign);
    return wide_select((size > 0) & (size < MATH_INFINITY), root, x);
}

/* One number, with the bits of a lane. */
INLINE real real_exp(real x) { return wide_exp(wide_splat(x))[0]; }
INLINE real real_expm1(real x) { return wide_expm1(wide_splat(x))[0]; }
INLINE real real_log(real x) { return wide_log(wide_splat(x))[0]; }
INLINE real real_log1p(real x) { return wide_log1p(wide_splat(x))[0]; }
INLINE real real_pow(real x, real y) { return wide_pow(wide_splat(x), wide_splat(y))[0]; }
INLINE real real_cbrt(real x) { return wide_cbrt(wide_splat(x))[0]; }

#endif
