/*
 * core/decompose.h, validation case 33: a million matrices of every rank, with repeated values,
 * reflections, graded and extreme scales. Gates relative to the norm: 2e-6 in float, 1e-14 in
 * double. Orthogonal factors, reconstruction and order together pin the values down (Weyl's
 * inequality). Negative controls: the checker must catch factors out of order, improper, or
 * slightly turned.
 */
#include "core/decompose.h"
#include "core/random.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef SPATE_DOUBLE
static const double GATE = 1e-14, FAR = 0x1p1000, NEAR = 0x1p-1040;
#else
static const double GATE = 2e-6, FAR = 0x1p125, NEAR = 0x1p-135;
#endif

/* Matrices of each size: a million in all, fewer in builds that look for other things. */
#if defined(__has_feature)
#define WATCHED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define WATCHED 1
#else
#define WATCHED 0
#endif
#if WATCHED || !defined(__OPTIMIZE__)
enum { MATRICES = 25000 };
#else
enum { MATRICES = 500000 };
#endif

static uint64_t counter;
static double even(void) { return 2 * random_unit(33, counter++, 0) - 1; }
static int pick(int choices) { return (int)(random_unit(33, counter++, 1) * choices); }

/* --- matrices ------------------------------------------------------------------------------ */

static void fill_even(double *m, int count) {
    for (int i = 0; i < count; i++) m[i] = even();
}

/* out = a b */
static void multiply(int n, const double *a, const double *b, double *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[n * i + k] * b[n * k + j];
            out[n * i + j] = sum;
        }
}

static void transpose(int n, const double *a, double *out) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) out[n * i + j] = a[n * j + i];
}

/* A rotation from a random unit quaternion, or angle. */
static void fill_rotation(int n, double *m) {
    double w = even(), x = even(), y = n == 3 ? even() : 0, z = n == 3 ? even() : 0;
    double length = sqrt(w * w + x * x + y * y + z * z) + 1e-300;
    w /= length, x /= length, y /= length, z /= length;
    if (n == 2) {
        m[0] = m[3] = w, m[1] = -x, m[2] = x;
        return;
    }
    const double full[9] = {
        1 - 2 * (y * y + z * z), 2 * (x * y - z * w),     2 * (x * z + y * w),
        2 * (x * y + z * w),     1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
        2 * (x * z - y * w),     2 * (y * z + x * w),     1 - 2 * (x * x + y * y)};
    memcpy(m, full, sizeof full);
}

/* U diag(values) V^T with random rotations. */
static void fill_with_values(int n, const double *values, double *m) {
    double u[9], v[9];
    fill_rotation(n, u);
    fill_rotation(n, v);
    for (int i = 0; i < n * n; i++) u[i] *= values[i % n];
    multiply(n, u, v, m);
}

/* A sum of `rank` outer products. */
static void fill_of_rank(int n, int rank, double *m) {
    double a[3], b[3];
    memset(m, 0, 9 * sizeof *m);
    for (int r = 0; r < rank; r++) {
        fill_even(a, n);
        fill_even(b, n);
        for (int i = 0; i < n * n; i++) m[i] += (real)a[i / n] * (real)b[i % n];
    }
}

enum { KINDS = 13 };

static void fill_kind(int kind, int n, double *m) {
    double values[3] = {1, 1, 1}, step;
    switch (kind) {
    case 0: fill_even(m, n * n); return;
    case 1: /* a deformation gradient near rest */
        fill_even(m, n * n);
        for (int i = 0; i < n * n; i++) m[i] = m[i] * 1e-3 + (i % (n + 1) == 0);
        return;
    case 2: /* the same, much nearer */
        fill_even(m, n * n);
        for (int i = 0; i < n * n; i++) m[i] = m[i] * 8 * REAL_EPSILON + (i % (n + 1) == 0);
        return;
    case 3: fill_of_rank(n, pick(n), m); return;
    case 4: fill_rotation(n, m); return;
    case 5: /* two equal values */
        values[pick(n)] = 2 * even();
        fill_with_values(n, values, m);
        return;
    case 6: /* reflected */
        values[pick(n)] = -1;
        fill_with_values(n, values, m);
        return;
    case 7: /* graded */
        step = pow(10, -4 * fabs(even()));
        for (int i = 0; i < n; i++) values[i] = pow(step, i);
        fill_with_values(n, values, m);
        return;
    case 8: /* close pairs */
        values[pick(n)] *= 1 + 1e-6 * even();
        fill_with_values(n, values, m);
        return;
    case 9: /* -1, 0, 1: exact degeneracies of all sorts */
        for (int i = 0; i < n * n; i++) m[i] = pick(3) - 1;
        return;
    case 10: /* diagonal */
        memset(m, 0, 9 * sizeof *m);
        for (int i = 0; i < n; i++) m[(n + 1) * i] = even();
        return;
    case 11: /* columns nearly parallel */
        fill_even(m, n * n);
        for (int i = 0; i < n * n; i++) m[i] = m[n * (i / n)] * (1 + 1e-4 * m[i]);
        return;
    default: /* entries of every size */
        for (int i = 0; i < n * n; i++) m[i] = even() * exp2(60 * even());
        return;
    }
}

static void fill_any(int number, int n, double *m) {
    fill_kind(number % KINDS, n, m);
    double scale = number % 7 == 0 ? FAR : number % 7 == 1 ? NEAR : 1;
    if (number % KINDS == KINDS - 1) scale = 1;
    for (int i = 0; i < n * n; i++) m[i] = (real)(m[i] * (scale == FAR ? scale / 8 : scale));
}

/* --- the checker --------------------------------------------------------------------------- */

static double largest(const double *m, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) most = fmax(most, fabs(m[i]));
    return most;
}

/* How far a matrix is from a proper rotation. */
static double rotation_error(int n, const double *q) {
    double qt[9], product[9];
    transpose(n, q, qt);
    multiply(n, qt, q, product);
    for (int i = 0; i < n; i++) product[(n + 1) * i] -= 1;
    double det = n == 2 ? q[0] * q[3] - q[1] * q[2]
                        : q[0] * (q[4] * q[8] - q[5] * q[7]) - q[1] * (q[3] * q[8] - q[5] * q[6]) +
                              q[2] * (q[3] * q[7] - q[4] * q[6]);
    double error = fmax(largest(product, n * n), fabs(det - 1));
    return isnan(det) ? HUGE_VAL : error;
}

/* The largest entry of left * right - m over the norm of m. `spacing` is what a number below the
 * smallest normal one may be off, which no method can undercut. */
static double product_error(int n, const double *left, const double *right, const double *m,
                            double spacing) {
    double product[9], most = 0, sum = 0;
    multiply(n, left, right, product);
    for (int i = 0; i < n * n; i++) {
        if (isnan(product[i])) return HUGE_VAL;
        most = fmax(most, fabs(product[i] - m[i]));
        sum += m[i] * m[i];
    }
    return fmax(0, most - spacing) / (sum > 0 ? sqrt(sum) : 1);
}

/* The worst of all that F = U diag(s) V^T promises; eigen values may be negative. */
static double factors_error(int n, const double *f, const double *u, const double *s,
                            const double *v, bool singular, double spacing) {
    double us[9], vt[9];
    for (int i = 0; i < n * n; i++) us[i] = u[i] * s[i % n];
    transpose(n, v, vt);
    double error = fmax(rotation_error(n, u), rotation_error(n, v));
    error = fmax(error, product_error(n, us, vt, f, spacing));
    for (int i = 0; i + 1 < n; i++) {
        double next = singular ? fabs(s[i + 1]) : s[i + 1];
        if (!(s[i] >= next)) error = HUGE_VAL;
    }
    return error;
}

static void unpack(int n, const double *packed, double *full) {
    int next = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) full[n * i + j] = full[n * j + i] = packed[next++];
}

/* --- wide and plain ------------------------------------------------------------------------- */

/* All results of one matrix: svd, polar, and eigen of the upper triangle. */
typedef struct results {
    real u[9], s[3], v[9];
    real r[9], symmetric[6];
    real q[9], l[3];
} results;

static void take_lane(const wide *from, int count, int lane, real *to) {
    for (int i = 0; i < count; i++) to[i] = from[i][lane];
}

static void upper_triangle(int n, const wide *f, wide *a) {
    int next = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) a[next++] = f[n * i + j];
}

static void __attribute__((noinline)) decompose_wide(int n, const wide *f, results out[WIDE]) {
    wide a[6], u[9], s[3], v[9], r[9], symmetric[6], q[9], l[3];
    upper_triangle(n, f, a);
    if (n == 3) {
        wide_svd3(f, u, s, v);
        wide_polar3(f, r, symmetric);
        wide_eigen3(a, q, l);
    } else {
        wide_svd2(f, u, s, v);
        wide_polar2(f, r, symmetric);
        wide_eigen2(a, q, l);
    }
    int triangle = n * (n + 1) / 2;
    memset(out, 0, WIDE * sizeof *out);
    for (int lane = 0; lane < WIDE; lane++) {
        take_lane(u, n * n, lane, out[lane].u);
        take_lane(s, n, lane, out[lane].s);
        take_lane(v, n * n, lane, out[lane].v);
        take_lane(r, n * n, lane, out[lane].r);
        take_lane(symmetric, triangle, lane, out[lane].symmetric);
        take_lane(q, n * n, lane, out[lane].q);
        take_lane(l, n, lane, out[lane].l);
    }
}

static void __attribute__((noinline)) decompose_plain(int n, const real *f, results *out) {
    real a[6];
    int next = 0;
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) a[next++] = f[n * i + j];
    memset(out, 0, sizeof *out);
    if (n == 3) {
        real_svd3(f, out->u, out->s, out->v);
        real_polar3(f, out->r, out->symmetric);
        real_eigen3(a, out->q, out->l);
    } else {
        real_svd2(f, out->u, out->s, out->v);
        real_polar2(f, out->r, out->symmetric);
        real_eigen2(a, out->q, out->l);
    }
}

typedef struct errors {
    double svd, polar, eigen;
} errors;

/* To double, over a power of two: exact. */
static void widen(const real *from, int count, double scale, double *to) {
    for (int i = 0; i < count; i++) to[i] = from[i] / scale;
}

static errors errors_of(int n, const double *f, const results *got) {
    double m[9], u[9], s[3], v[9], packed[6], full[9];
    int exponent, next = 0, triangle = n * (n + 1) / 2;
    frexp(largest(f, n * n), &exponent);
    const double scale = ldexp(1, exponent - 1);
    const double spacing = (sizeof(real) == 4 ? 0x1p-149 : 0x1p-1074) / scale;
    for (int i = 0; i < n * n; i++) m[i] = f[i] / scale;
    errors e;
    widen(got->u, n * n, 1, u);
    widen(got->s, n, scale, s);
    widen(got->v, n * n, 1, v);
    e.svd = factors_error(n, m, u, s, v, true, spacing);
    widen(got->r, n * n, 1, u);
    widen(got->symmetric, triangle, scale, packed);
    unpack(n, packed, full);
    e.polar = fmax(rotation_error(n, u), product_error(n, u, full, m, spacing));
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++) packed[next++] = m[n * i + j];
    unpack(n, packed, full);
    widen(got->q, n * n, 1, u);
    widen(got->l, n, scale, s);
    e.eigen = factors_error(n, full, u, s, u, false, spacing);
    return e;
}

/* --- tests ----------------------------------------------------------------------------------- */

static void check_million(int n) {
    errors worst[KINDS] = {0};
    for (int number = 0; number < MATRICES; number += WIDE) {
        double f[WIDE][9];
        wide lanes[9];
        for (int lane = 0; lane < WIDE; lane++) {
            fill_any(number + lane, n, f[lane]);
            for (int i = 0; i < n * n; i++) lanes[i][lane] = (real)f[lane][i];
        }
        results got[WIDE], plain;
        decompose_wide(n, lanes, got);
        for (int lane = 0; lane < WIDE; lane++) {
            errors e = errors_of(n, f[lane], &got[lane]), *w = &worst[(number + lane) % KINDS];
            w->svd = fmax(w->svd, e.svd);
            w->polar = fmax(w->polar, e.polar);
            w->eigen = fmax(w->eigen, e.eigen);
        }
        /* the plain form gives the bits of the lane */
        int lane = number / WIDE % WIDE;
        real one[9];
        take_lane(lanes, n * n, lane, one);
        decompose_plain(n, one, &plain);
        assert_memory_equal(&plain, &got[lane], sizeof plain);
    }
    for (int kind = 0; kind < KINDS; kind++) {
        errors w = worst[kind];
        if (getenv("SPATE_TEST_VERBOSE"))
            print_message("%dD kind %2d: svd %.2e polar %.2e eigen %.2e\n", n, kind, w.svd, w.polar,
                          w.eigen);
        if (!(fmax(w.svd, fmax(w.polar, w.eigen)) <= GATE))
            fail_msg("%dD, kind %d: svd %.2e, polar %.2e, eigen %.2e exceed %.0e", n, kind, w.svd,
                     w.polar, w.eigen, GATE);
    }
}

static void test_2d(void **state) {
    (void)state;
    check_million(2);
}

static void test_3d(void **state) {
    (void)state;
    check_million(3);
}

/* S is positive definite where det F > 0, so R is the nearest rotation and not just any. */
static void test_polar_is_the_nearest_rotation(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const double values[3] = {2 + even(), 2 + even(), 2 + even()};
        double m[9];
        real f[9], r[9], s[6], q[9], l[3];
        fill_with_values(3, values, m);
        for (int j = 0; j < 9; j++) f[j] = (real)m[j];
        real_polar3(f, r, s);
        real_eigen3(s, q, l);
        assert_true(l[2] > (real)0.99);
        fill_with_values(2, values, m);
        for (int j = 0; j < 4; j++) f[j] = (real)m[j];
        real_polar2(f, r, s);
        real_eigen2(s, q, l);
        assert_true(l[1] > (real)0.99);
    }
}

/* Known answers with signs: diag(1, -3, 2) has values 3, 2, -1. */
static void test_known_values(void **state) {
    (void)state;
    const real f[9] = {1, 0, 0, 0, -3, 0, 0, 0, 2}, a[6] = {1, 0, 0, -3, 0, 2};
    real u[9], s[3], v[9];
    real_svd3(f, u, s, v);
    assert_true(s[0] == 3 && s[1] == 2 && s[2] == -1);
    real_eigen3(a, u, s);
    assert_true(s[0] == 2 && s[1] == 1 && s[2] == -3);
    const real g[4] = {0, 1, 1, 0}, b[3] = {0, 1, 0};
    real_svd2(g, u, s, v);
    assert_true(s[0] == 1 && s[1] == -1);
    real_eigen2(b, u, s);
    assert_true(fabs((double)s[0] - 1) <= GATE && fabs((double)s[1] + 1) <= GATE);
}

/* What is not finite shows in the results, and stays in its lane. */
static void test_nan_stays_in_its_lane(void **state) {
    (void)state;
    for (int n = 2; n <= 3; n++)
        for (int at = 0; at < n * n; at++) {
            wide f[9];
            for (int i = 0; i < n * n; i++)
                for (int lane = 0; lane < WIDE; lane++) f[i][lane] = (real)even();
            f[at][3] = (real)NAN, f[at][6] = (real)INFINITY;
            results got[WIDE];
            decompose_wide(n, f, got);
            for (int lane = 0; lane < WIDE; lane++) {
                double m[9];
                for (int i = 0; i < n * n; i++) m[i] = f[i][lane];
                bool finite = lane != 3 && lane != 6, in_triangle = at % n >= at / n;
                errors e = errors_of(n, m, &got[lane]);
                assert_true((e.svd <= GATE) == finite && (e.polar <= GATE) == finite);
                if (in_triangle) assert_true((e.eigen <= GATE) == finite);
                if (lane == 3 && in_triangle) assert_true(isnan(got[lane].l[0] + got[lane].l[1]));
                if (lane == 3) assert_true(isnan(got[lane].s[0] + got[lane].s[1]));
            }
        }
}

#if HAVE_FMA
/* Every compiler and machine gives these bits; a changed algorithm changes them knowingly. */
static void test_bits_are_the_same_everywhere(void **state) {
    (void)state;
    uint64_t hash = 0;
    counter = 0;
    for (int i = 0; i < 4000; i++) {
        int n = 2 + i % 2;
        double m[9];
        real f[9];
        results got;
        fill_even(m, n * n);
        for (int j = 0; j < n * n; j++) f[j] = (real)m[j];
        decompose_plain(n, f, &got);
        for (size_t j = 0; j < sizeof got / sizeof(real); j++) {
            real_ubits bits;
            memcpy(&bits, (const real *)&got + j, sizeof bits);
            hash = random_mix(hash ^ bits);
        }
    }
    assert_true(hash == (sizeof(real) == 4 ? 0x8bacf6d371a6c7f6u : 0xa2f04f070927418au));
}
#endif

/* The checker sees factors out of order, improper, or turned by 10 gates. */
static void test_checker_catches_bad_factors(void **state) {
    (void)state;
    const double s[3] = {3, 2, 1}, f[9] = {3, 0, 0, 0, 2, 0, 0, 0, 1};
    const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_true(factors_error(3, f, one, s, one, true, 0) <= GATE);
    /* columns 0 and 1 exchanged in everything: still reconstructs, still proper */
    const double turned[9] = {0, -1, 0, 1, 0, 0, 0, 0, 1}, unsorted[3] = {2, 3, 1};
    assert_true(factors_error(3, f, turned, unsorted, turned, true, 0) > GATE);
    /* a reflection in U undone by a negative value */
    const double mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1}, minus[3] = {3, 2, -1};
    assert_true(factors_error(3, f, mirror, minus, one, true, 0) > GATE);
    /* V turned a little */
    const double angle = 10 * GATE;
    const double tilted[9] = {cos(angle), -sin(angle), 0, sin(angle), cos(angle), 0, 0, 0, 1};
    assert_true(factors_error(3, f, one, s, tilted, true, 0) > GATE);
    /* U not quite orthogonal */
    const double sheared[9] = {1, angle, 0, 0, 1, 0, 0, 0, 1};
    assert_true(factors_error(3, f, sheared, s, one, true, 0) > GATE);
    const double wrong[3] = {3, 2, 1 + 10 * 4 * GATE};
    assert_true(factors_error(3, f, one, wrong, one, true, 0) > GATE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_2d),
        cmocka_unit_test(test_3d),
        cmocka_unit_test(test_polar_is_the_nearest_rotation),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_nan_stays_in_its_lane),
        cmocka_unit_test(test_checker_catches_bad_factors),
#if HAVE_FMA
        cmocka_unit_test(test_bits_are_the_same_everywhere),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
