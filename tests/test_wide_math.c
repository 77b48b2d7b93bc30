/*
 * core/wide_math.h against libm in long double, over sweeps of the whole range and the special
 * values. Negative controls: the forms one would write without thinking must exceed the same gates.
 */
#include "core/random.h"
#include "core/wide_math.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { SAMPLES = 100000 };
static const double GATE_ULP = 2;

#ifdef SPATE_DOUBLE
static const int DIGITS = 53, LOWEST_EXPONENT = -1074;
#define NEXT nextafter
static const real EXP_FROM = -744, EXP_TO = 709.78;
#else
static const int DIGITS = 24, LOWEST_EXPONENT = -149;
#define NEXT nextafterf
static const real EXP_FROM = -103, EXP_TO = 88.72f;
#endif

/* Distance in units of the last place of the true value; 0 for equal infinities and two NaN. */
static double ulps(real value, long double truth) {
    if (isnan(truth) || isnan(value)) return isnan(truth) && isnan(value) ? 0 : HUGE_VAL;
    if (isinf(value) || isinf((real)truth)) return value == (real)truth ? 0 : HUGE_VAL;
    int exponent;
    frexpl(truth, &exponent);
    int place = exponent - DIGITS < LOWEST_EXPONENT ? LOWEST_EXPONENT : exponent - DIGITS;
    return (double)(fabsl(value - truth) / ldexpl(1, place));
}

static uint64_t counter;
static real between(real from, real to) {
    return (real)(from + (to - from) * random_unit(33, counter++, 0));
}
/* Positive numbers of every size, evenly in the logarithm. */
static real any_size(real low_exponent, real high_exponent) {
    return (real)exp2l(between(low_exponent, high_exponent));
}

typedef wide wide_function(wide x);
typedef long double true_function(long double x);

static wide exp_(wide x) { return wide_exp(x); }
static wide expm1_(wide x) { return wide_expm1(x); }
static wide log_(wide x) { return wide_log(x); }
static wide log1p_(wide x) { return wide_log1p(x); }
static wide cbrt_(wide x) { return wide_cbrt(x); }
static wide naive_expm1(wide x) { return wide_exp(x) - 1; }
static wide naive_log1p(wide x) { return wide_log(x + 1); }

/* The worst error over numbers between `from` and `to`; by_size spreads them by their logarithm. */
static double worst(wide_function *f, true_function *truth, real from, real to, bool by_size) {
    double most = 0;
    for (int i = 0; i < SAMPLES / WIDE; i++) {
        wide x;
        real sign = by_size && from < 0 ? -1 : 1;
        for (int lane = 0; lane < WIDE; lane++)
            x[lane] = by_size ? sign * any_size((real)log2l(sign * from), (real)log2l(sign * to))
                              : between(from, to);
        wide value = f(x);
        for (int lane = 0; lane < WIDE; lane++)
            most = fmax(most, ulps(value[lane], truth(x[lane])));
    }
    return most;
}

static const real TINIEST = sizeof(real) == 4 ? (real)0x1p-149L : (real)0x1p-1074L;
static const real HUGEST = REAL_MAX;

static void within(const char *name, double error) {
    if (!(error <= GATE_ULP)) fail_msg("%s: %.2f ulp, gate %.1f", name, error, GATE_ULP);
    if (getenv("SPATE_TEST_VERBOSE")) print_message("%-28s %.3f ulp\n", name, error);
}

static void test_exp(void **state) {
    (void)state;
    within("exp, whole range", worst(exp_, expl, EXP_FROM, EXP_TO, false));
    within("exp, near 0", worst(exp_, expl, -1, 1, false));
    within("exp, small", worst(exp_, expl, TINIEST, 1, true));
    within("expm1, whole range", worst(expm1_, expm1l, EXP_FROM, EXP_TO, false));
    within("expm1, middle", worst(expm1_, expm1l, -3, 3, false));
    within("expm1, small", worst(expm1_, expm1l, TINIEST, 1, true));
    within("expm1, small negative", worst(expm1_, expm1l, -TINIEST, -1, true));
}

static void test_log(void **state) {
    (void)state;
    within("log, whole range", worst(log_, logl, TINIEST, HUGEST, true));
    within("log, near 1", worst(log_, logl, (real)0.5, 2, false));
    within("log, at 1", worst(log_, logl, (real)0.999, (real)1.001, false));
    within("log1p, middle", worst(log1p_, log1pl, (real)-0.9999, 3, false));
    within("log1p, large", worst(log1p_, log1pl, 1, HUGEST, true));
    within("log1p, small", worst(log1p_, log1pl, TINIEST, 1, true));
    within("log1p, small negative", worst(log1p_, log1pl, -TINIEST, (real)-0.5, true));
}

static void test_cbrt(void **state) {
    (void)state;
    within("cbrt, whole range", worst(cbrt_, cbrtl, TINIEST, HUGEST, true));
    within("cbrt, negative", worst(cbrt_, cbrtl, -TINIEST, -HUGEST, true));
    within("cbrt, middle", worst(cbrt_, cbrtl, -8, 8, false));
    for (int i = -60; i <= 60; i++) assert_true(real_cbrt((real)i * i * i) == (real)i);
}

/* Powers whose result spans the whole range; `naive` is exp(y log x) in one real. */
static double worst_power(bool naive, real base_exponent, real reach) {
    double most = 0;
    for (int i = 0; i < SAMPLES / WIDE; i++) {
        wide x, y;
        for (int lane = 0; lane < WIDE; lane++) {
            x[lane] = any_size(-base_exponent, base_exponent);
            y[lane] = (real)(between(EXP_FROM, EXP_TO) * reach / logl(x[lane]));
            if (x[lane] == 1) y[lane] = 3;
        }
        wide value = naive ? wide_exp(y * wide_log(x)) : wide_pow(x, y);
        for (int lane = 0; lane < WIDE; lane++)
            most = fmax(most, ulps(value[lane], powl(x[lane], y[lane])));
    }
    return most;
}

static void test_pow(void **state) {
    (void)state;
    const real widest = sizeof(real) == 4 ? 126 : 1022;
    within("pow, bases of every size", worst_power(false, widest, 1));
    within("pow, bases from 1/2 to 2", worst_power(false, 1, 1));
    within("pow, bases near 1", worst_power(false, (real)1e-3, 1));
    within("pow, small results", worst_power(false, 4, (real)0.05));
    assert_true(worst_power(true, 1, 1) > 5 * GATE_ULP);
}

/* A liquid's J - 1 of 1e-6: without expm1 and log1p next to nothing of it is left. */
static void test_naive_forms_fail(void **state) {
    (void)state;
    const real small = sizeof(real) == 4 ? (real)1e-6 : (real)1e-13;
    within("expm1, J - 1", worst(expm1_, expm1l, -small, small, false));
    within("log1p, J - 1", worst(log1p_, log1pl, -small, small, false));
    assert_true(worst(naive_expm1, expm1l, -small, small, false) > 100 * GATE_ULP);
    assert_true(worst(naive_log1p, log1pl, -small, small, false) > 100 * GATE_ULP);
}

/* The cubic coefficient of exp off by 64 of its last places. */
static void test_gate_sees_a_spoiled_coefficient(void **state) {
    (void)state;
    real c[] = {MATH_EXP_POLYNOMIAL};
    double good = 0, bad = 0;
    for (int spoiled = 0; spoiled < 2; spoiled++) {
        if (spoiled) c[1] *= 1 + 64 * REAL_EPSILON;
        for (int i = 0; i < SAMPLES / 10; i++) {
            real r = between((real)-0.34, (real)0.34);
            wide q = wide_polynomial(wide_splat(r), c, sizeof c / sizeof *c);
            real value = wide_fma(wide_splat(r * r), q, wide_splat(r))[0];
            double error = ulps(value, expm1l(r));
            if (spoiled)
                bad = fmax(bad, error);
            else
                good = fmax(good, error);
        }
    }
    assert_true(good <= GATE_ULP);
    assert_true(bad > GATE_ULP);
}

static bool same_bits(real a, real b) { return memcmp(&a, &b, sizeof a) == 0; }

static void test_special_values(void **state) {
    (void)state;
    const real inf = (real)INFINITY, nan = (real)NAN, zero = 0;
    assert_true(real_exp(0) == 1 && real_exp(-zero) == 1);
    assert_true(real_exp(inf) == inf && real_exp(HUGEST) == inf);
    assert_true(same_bits(real_exp(-inf), 0) && same_bits(real_exp(-HUGEST), 0));
    assert_true(isnan(real_exp(nan)) && isnan(real_exp(-nan)));
    assert_true(same_bits(real_expm1(0), 0) && same_bits(real_expm1(-zero), -zero));
    assert_true(real_expm1(inf) == inf && real_expm1(-inf) == -1 && isnan(real_expm1(nan)));
    assert_true(same_bits(real_log(1), 0));
    assert_true(real_log(0) == -inf && real_log(-zero) == -inf && real_log(inf) == inf);
    assert_true(isnan(real_log(-1)) && isnan(real_log(-inf)) && isnan(real_log(nan)));
    assert_true(same_bits(real_log1p(0), 0) && same_bits(real_log1p(-zero), -zero));
    assert_true(real_log1p(-1) == -inf && real_log1p(inf) == inf);
    assert_true(isnan(real_log1p(-2)) && isnan(real_log1p(-inf)) && isnan(real_log1p(nan)));
    assert_true(same_bits(real_cbrt(0), 0) && same_bits(real_cbrt(-zero), -zero));
    assert_true(real_cbrt(inf) == inf && real_cbrt(-inf) == -inf && isnan(real_cbrt(nan)));
    assert_true(real_pow(0, 2) == 0 && real_pow(0, -2) == inf && real_pow(0, 0) == 1);
    assert_true(real_pow(inf, 2) == inf && real_pow(inf, -2) == 0 && real_pow(inf, 0) == 1);
    assert_true(real_pow(1, inf) == 1 && real_pow(2, inf) == inf && real_pow(2, -inf) == 0);
    assert_true(real_pow(HUGEST, HUGEST) == inf && real_pow(HUGEST, -HUGEST) == 0);
    assert_true(real_pow(2, 10) == 1024 && real_pow(9, (real)0.5) == 3);
    assert_true(isnan(real_pow(-2, 2)) && isnan(real_pow(nan, 2)) && isnan(real_pow(2, nan)));
}

/* Both sides of the steps where a result becomes 0 or infinite. */
static void test_edges_of_the_range(void **state) {
    (void)state;
    real edges[] = {(real)logl(HUGEST), (real)logl(MATH_NORMAL_MIN),
                    (real)(logl(TINIEST) - 0.6931L)};
    for (int i = 0; i < 3; i++) {
        real x = edges[i];
        for (int back = 0; back < 8; back++) x = NEXT(x, -HUGEST);
        for (int step = 0; step < 16; step++, x = NEXT(x, HUGEST)) {
            assert_true(ulps(real_exp(x), expl(x)) <= GATE_ULP);
            assert_true(ulps(real_expm1(x), expm1l(x)) <= GATE_ULP);
        }
    }
}

/* One number gives the bits of a lane, whatever stands in the other lanes. */
static void test_lanes_are_alone(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        wide x, y;
        for (int lane = 0; lane < WIDE; lane++)
            x[lane] = any_size(-40, 40), y[lane] = between(-3, 3);
        x[i % WIDE] = (real)(i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : 0);
        wide e = wide_exp(y), em = wide_expm1(y), l = wide_log(x), lp = wide_log1p(x);
        wide p = wide_pow(x, y), c = wide_cbrt(x);
        for (int lane = 0; lane < WIDE; lane++) {
            if (lane == i % WIDE) continue;
            assert_true(same_bits(real_exp(y[lane]), e[lane]));
            assert_true(same_bits(real_expm1(y[lane]), em[lane]));
            assert_true(same_bits(real_log(x[lane]), l[lane]));
            assert_true(same_bits(real_log1p(x[lane]), lp[lane]));
            assert_true(same_bits(real_pow(x[lane], y[lane]), p[lane]));
            assert_true(same_bits(real_cbrt(x[lane]), c[lane]));
        }
    }
}

#if HAVE_FMA
/* Every compiler and machine gives these bits; a changed polynomial changes them knowingly. */
static void test_bits_are_the_same_everywhere(void **state) {
    (void)state;
    uint64_t hash = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        real x = (real)(40 * random_unit(1, i, 0) - 20), y = (real)(6 * random_unit(1, i, 1) - 3);
        real size = x < 0 ? -x : x;
        real values[] = {real_exp(x),      real_expm1(y),     real_log(size),
                         real_log1p(size), real_pow(size, y), real_cbrt(x)};
        for (int j = 0; j < 6; j++) {
            real_ubits bits;
            memcpy(&bits, &values[j], sizeof bits);
            hash = random_mix(hash ^ bits);
        }
    }
    assert_true(hash == (sizeof(real) == 4 ? 0x05ea0e5b4d0e3d66u : 0x69143641b29df760u));
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exp),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_cbrt),
        cmocka_unit_test(test_pow),
        cmocka_unit_test(test_naive_forms_fail),
        cmocka_unit_test(test_gate_sees_a_spoiled_coefficient),
        cmocka_unit_test(test_special_values),
        cmocka_unit_test(test_edges_of_the_range),
        cmocka_unit_test(test_lanes_are_alone),
#if HAVE_FMA
        cmocka_unit_test(test_bits_are_the_same_everywhere),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
