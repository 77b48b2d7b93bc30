/* Every shim of simd.h against a plain loop, lane by lane and bit by bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/simd.h"
#include <math.h>

enum { SPECIALS = 24, VALUES = 256 };

/* Specials first (zeros, halves, denormals, infinities, NaN), then numbers of many sizes. */
static real values[VALUES];

static int fill_values(void **state) {
    (void)state;
    const real specials[SPECIALS] = {0,
                                     (real)-0.0,
                                     1,
                                     -1,
                                     (real)0.5,
                                     (real)-0.5,
                                     1.5,
                                     -1.5,
                                     2.5,
                                     -2.5,
                                     REAL_EPSILON,
                                     -REAL_EPSILON,
                                     REAL_MAX,
                                     -REAL_MAX,
                                     (real)INFINITY,
                                     (real)-INFINITY,
                                     (real)NAN,
                                     (real)1e-40,
                                     (real)-1e-40,
                                     (real)8388607.5,
                                     (real)-8388607.5,
                                     (real)0.99999994,
                                     (real)-0.99999994,
                                     3};
    for (int i = 0; i < VALUES; i++) {
        int size = (int)(random_bits(1, (uint64_t)i, 0) % 40) - 20;
        values[i] =
            i < SPECIALS ? specials[i] : (real)ldexp(2 * random_unit(1, (uint64_t)i, 1) - 1, size);
    }
    return 0;
}

/* The same bits, or both not a number. */
static bool same(real a, real b) { return (a != a && b != b) || !memcmp(&a, &b, sizeof a); }

static wide at(int i) {
    real lanes[WIDE];
    for (int k = 0; k < WIDE; k++) lanes[k] = values[(i + k) % VALUES];
    return wide_load(lanes);
}

static real value_at(int i) { return values[i % VALUES]; }

static void test_load_store_splat(void **state) {
    (void)state;
    real from[WIDE + 2], to[WIDE + 2];
    for (int i = 0; i < WIDE + 2; i++) from[i] = (real)(i + 1), to[i] = -7;
    wide_store(to + 1, wide_load(from + 1)); /* no alignment is asked for */
    for (int i = 0; i < WIDE + 2; i++)
        assert_true(to[i] == (i == 0 || i == WIDE + 1 ? -7 : from[i]));
    for (int i = 0; i < WIDE + 2; i++) to[i] = -7;
    quad_store(to + 1, quad_load(from + 1));
    for (int i = 0; i < WIDE + 2; i++) assert_true(to[i] == (i == 0 || i > QUAD ? -7 : from[i]));

    real_bits integers[WIDE + 1], copies[WIDE + 1] = {0};
    for (int i = 0; i <= WIDE; i++) integers[i] = i * 1000 - 3;
    wide_store_int(copies + 1, wide_load_int(integers + 1));
    for (int i = 1; i <= WIDE; i++) assert_true(copies[i] == integers[i]);
    for (int i = 0; i < WIDE; i++) {
        assert_true(wide_splat((real)2.5)[i] == (real)2.5);
        assert_true(wide_splat_int(-9)[i] == -9);
    }
    for (int i = 0; i < QUAD; i++) assert_true(quad_splat((real)2.5)[i] == (real)2.5);
}

static void test_halves(void **state) {
    (void)state;
    quad a = {1, 2, 3, 4}, b = {5, 6, 7, 8};
    wide joined = wide_join(a, b), twice = wide_twice(b);
    for (int i = 0; i < QUAD; i++) {
        assert_true(joined[i] == a[i] && joined[i + 4] == b[i]);
        assert_true(wide_low(joined)[i] == a[i] && wide_high(joined)[i] == b[i]);
        assert_true(twice[i] == b[i] && twice[i + 4] == b[i]);
    }
}

static void test_fma(void **state) {
    (void)state;
    for (int i = 0; i < VALUES; i++)
        for (int j = 0; j < VALUES; j += 5) {
            wide r = wide_fma(at(i), at(j), at(i + j));
            quad q = quad_fma(wide_low(at(i)), wide_low(at(j)), wide_low(at(i + j)));
            for (int k = 0; k < WIDE; k++) {
                real expected = real_fma(value_at(i + k), value_at(j + k), value_at(i + j + k));
                assert_true(same(r[k], expected));
                if (k < QUAD) assert_true(same(q[k], expected));
            }
        }
    /* (1 + e)(1 - e) - 1 is -e^2 when rounded once, 0 when the product is rounded first. */
    const real e = REAL_EPSILON, expected = HAVE_FMA ? -e * e : 0;
    volatile real above = 1 + e, below = 1 - e;
    assert_true(wide_fma(wide_splat(above), wide_splat(below), wide_splat(-1))[3] == expected);
    assert_true(quad_fma(quad_splat(above), quad_splat(below), quad_splat(-1))[3] == expected);
    /* Written out, it is never fused. */
    assert_true((wide_splat(above) * wide_splat(below) + wide_splat(-1))[3] == 0);
}

/* min and max give the second operand when either is not a number, or when both are zeros. */
static void test_min_max_select(void **state) {
    (void)state;
    for (int i = 0; i < VALUES; i++)
        for (int j = 0; j < VALUES; j++) {
            wide a = at(i), b = at(j), least = wide_min(a, b), most = wide_max(a, b);
            wide chosen = wide_select(a < b, a, b);
            for (int k = 0; k < WIDE; k++) {
                real x = value_at(i + k), y = value_at(j + k);
                assert_true(same(least[k], x < y ? x : y));
                assert_true(same(most[k], x > y ? x : y));
                assert_true(same(chosen[k], x < y ? x : y));
            }
        }
    const real nan = (real)NAN;
    assert_true(wide_min(wide_splat(nan), wide_splat(1))[0] == 1);
    assert_true(wide_max(wide_splat(nan), wide_splat(1))[0] == 1);
    assert_true(isnan(wide_min(wide_splat(1), wide_splat(nan))[0]));
    assert_true(isnan(wide_max(wide_splat(1), wide_splat(nan))[0]));
    assert_true(signbit(wide_min(wide_splat(0), wide_splat((real)-0.0))[0]));
    assert_false(signbit(wide_max(wide_splat((real)-0.0), wide_splat(0))[0]));
    /* A lane that is not a number passes through a selection only where it was chosen. */
    wide_int odd = {0, -1, 0, -1, 0, -1, 0, -1};
    wide mixed = wide_select(odd, wide_splat(nan), wide_splat(2));
    for (int k = 0; k < WIDE; k++) assert_true(k % 2 ? isnan(mixed[k]) : mixed[k] == 2);
    wide kept = wide_select(odd, wide_splat(2), wide_splat(nan));
    for (int k = 0; k < WIDE; k++) assert_true(k % 2 ? kept[k] == 2 : isnan(kept[k]));
}

static void test_abs_sqrt_floor(void **state) {
    (void)state;
    for (int i = 0; i < VALUES; i++) {
        wide absolute = wide_abs(at(i)), root = wide_sqrt(at(i)), whole = wide_floor(at(i));
        for (int k = 0; k < WIDE; k++) {
            real x = value_at(i + k);
            assert_true(same(absolute[k], (real)fabs((double)x)));
            assert_true(same(root[k], (real)sqrt((double)x)));
            assert_true(same(whole[k], (real)floor((double)x)));
        }
    }
    assert_false(signbit(wide_abs(wide_splat((real)-0.0))[5]));
    assert_true(wide_floor(wide_splat((real)-0.25))[7] == -1);
    assert_true(isnan(wide_sqrt(wide_splat(-1))[2]));
}

static void test_integers(void **state) {
    (void)state;
    wide v = {(real)1.75, (real)-1.75, 0, (real)-0.5, 1000000, -1000000, (real)2.999, -3};
    wide_int n = wide_to_int(v);
    wide back = wide_from_int(n);
    const real_bits expected[WIDE] = {1, -1, 0, 0, 1000000, -1000000, 2, -3};
    for (int k = 0; k < WIDE; k++) {
        assert_true(n[k] == expected[k]);
        assert_true(same(back[k], (real)expected[k]));
    }
}

static void test_gather(void **state) {
    (void)state;
    for (int i = 0; i < VALUES; i++) {
        real_bits index[WIDE];
        for (int k = 0; k < WIDE; k++)
            index[k] = (real_bits)(random_bits(2, (uint64_t)i, (uint64_t)k) % VALUES);
        wide v = wide_gather(values, wide_load_int(index));
        for (int k = 0; k < WIDE; k++) assert_true(same(v[k], values[index[k]]));
    }
    /* Negative indices reach in front of the base. */
    wide v = wide_gather(values + 100, wide_splat_int(-3));
    assert_true(same(v[0], values[97]) && same(v[7], values[97]));
}

static void test_any_all(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 256; bits++) {
        wide_int mask;
        for (int k = 0; k < WIDE; k++) mask[k] = bits >> k & 1 ? -1 : 0;
        assert_int_equal(wide_any(mask), bits != 0);
        assert_int_equal(wide_all(mask), bits == 255);
    }
    /* Nothing compares with what is not a number, except that it differs. */
    wide nan = wide_splat((real)NAN);
    assert_false(wide_any(nan < nan) || wide_any(nan == nan) || wide_any(nan >= nan));
    assert_true(wide_all(nan != nan));
}

static void test_bits_and_permutation(void **state) {
    (void)state;
    for (unsigned bits = 0; bits < 1u << WIDE; bits++) {
        wide_int mask = {0};
        wide_index v = {0};
        uint8_t lanes[WIDE];
        for (int i = 0; i < WIDE; i++) {
            mask[i] = bits >> i & 1 ? -1 : 0;
            v[i] = (int32_t)random_bits(5, bits, (uint64_t)i);
            lanes[i] = (uint8_t)(random_bits(6, bits, (uint64_t)i) % WIDE);
        }
        assert_int_equal(wide_bits(mask), bits);
        wide_index moved = wide_permute_index(v, lanes);
        for (int i = 0; i < WIDE; i++) assert_int_equal(moved[i], v[lanes[i]]);
        int32_t stored[WIDE];
        wide_store_index(stored, wide_splat_index((int32_t)bits));
        assert_int_equal(wide_load_index(stored)[bits % WIDE], bits);
    }
}

static void test_sum_and_largest(void **state) {
    (void)state;
    int differs = 0;
    for (int i = 0; i < VALUES; i++) {
        wide v = at(i);
        real in_order = 0, largest = v[0];
        for (int k = 0; k < WIDE; k++) in_order += v[k];
        for (int k = 1; k < WIDE; k++)
            if (v[k] > largest) largest = v[k];
        real tree = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
        assert_true(same(wide_sum(v), tree));
        assert_true(same(wide_largest(v), largest));
        differs += !same(in_order, tree);
    }
    assert_true(differs > 10); /* control: these lanes can tell one order from another */
    assert_true(wide_sum((wide){1, 2, 4, 8, 16, 32, 64, 128}) == 255);
    for (int k = 0; k < WIDE; k++) {
        wide v = wide_splat(-5);
        v[k] = -4;
        assert_true(wide_largest(v) == -4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_load_store_splat),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_fma),
        cmocka_unit_test(test_min_max_select),
        cmocka_unit_test(test_abs_sqrt_floor),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_gather),
        cmocka_unit_test(test_any_all),
        cmocka_unit_test(test_bits_and_permutation),
        cmocka_unit_test(test_sum_and_largest),
    };
    return cmocka_run_group_tests(tests, fill_values, NULL);
}
