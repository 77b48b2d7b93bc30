/* Random numbers: spread, and no relation between neighbours, streams or seeds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include <math.h>
#include <stdlib.h>

enum { DRAWS = 200000 };

/* Bounds below are five standard errors: the numbers are fixed, so they either hold or never do. */
static double within(double error) { return 5 * error / sqrt(DRAWS); }

/* First values of SplitMix64 from the state 1234567, as published with its reference code. */
static void test_mixing_function(void **state) {
    (void)state;
    static const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u,
                                        9817491932198370423u, 4593380528125082431u,
                                        16408922859458223821u};
    for (uint64_t i = 0; i < 5; i++)
        assert_true(random_mix(1234567 + i * 0x9e3779b97f4a7c15u) == expected[i]);
}

static void test_mean_variance_and_spread(void **state) {
    (void)state;
    double sum = 0, squares = 0, low = 1, high = 0;
    int bins[64] = {0};
    for (uint64_t id = 0; id < DRAWS; id++) {
        double u = random_unit(7, id, 0);
        assert_true(u >= 0 && u < 1);
        sum += u;
        squares += (u - 0.5) * (u - 0.5);
        low = fmin(low, u);
        high = fmax(high, u);
        bins[(int)(u * 64)]++;
    }
    assert_true(fabs(sum / DRAWS - 0.5) < within(sqrt(1.0 / 12)));
    assert_true(fabs(squares / DRAWS - 1.0 / 12) < within(sqrt(1.0 / 180)));
    assert_true(low < 1e-4 && high > 1 - 1e-4);
    double chi2 = 0, each = DRAWS / 64.0;
    for (int b = 0; b < 64; b++) chi2 += (bins[b] - each) * (bins[b] - each) / each;
    assert_true(chi2 > 63 - 5 * sqrt(126) && chi2 < 63 + 5 * sqrt(126));
}

typedef double (*draw)(uint64_t i);

/* Correlation of two sequences of uniform numbers. */
static double correlation(draw a, draw b) {
    double sum = 0;
    for (uint64_t i = 0; i < DRAWS; i++) sum += (a(i) - 0.5) * (b(i) - 0.5);
    return 12 * sum / DRAWS;
}

static double base(uint64_t i) { return random_unit(7, i, 0); }
static double next_id(uint64_t i) { return random_unit(7, i + 1, 0); }
static double far_id(uint64_t i) { return random_unit(7, i + 4096, 0); }
static double other_stream(uint64_t i) { return random_unit(7, i, 1); }
static double other_seed(uint64_t i) { return random_unit(8, i, 0); }
static double swapped(uint64_t i) { return random_unit(i, 7, 0); }
static double along_streams(uint64_t i) { return random_unit(7, 0, i); }
static double along_streams_next(uint64_t i) { return random_unit(7, 1, i); }
static double half_same(uint64_t i) { return i % 50 ? next_id(i) : base(i); }

static void test_neighbours_are_not_related(void **state) {
    (void)state;
    assert_true(fabs(correlation(base, next_id)) < within(1));
    assert_true(fabs(correlation(base, far_id)) < within(1));
    assert_true(fabs(correlation(base, other_stream)) < within(1));
    assert_true(fabs(correlation(base, other_seed)) < within(1));
    assert_true(fabs(correlation(base, swapped)) < within(1));
    assert_true(fabs(correlation(along_streams, along_streams_next)) < within(1));
    /* Control: the same number at every fiftieth place is noticed. */
    assert_true(fabs(correlation(base, half_same)) > within(1));
    assert_true(fabs(correlation(base, base) - 1) < 0.02);
}

static int compare_bits(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* Small keys, as particles have them: (seed, id, stream) all give different values. */
static void test_keys_do_not_collide(void **state) {
    (void)state;
    enum { SIDE = 40 };
    uint64_t *bits = malloc(SIDE * SIDE * SIDE * sizeof *bits);
    int count = 0;
    for (uint64_t seed = 0; seed < SIDE; seed++)
        for (uint64_t id = 0; id < SIDE; id++)
            for (uint64_t stream = 0; stream < SIDE; stream++)
                bits[count++] = random_bits(seed, id, stream);
    qsort(bits, (size_t)count, sizeof *bits, compare_bits);
    for (int i = 1; i < count; i++) assert_true(bits[i] != bits[i - 1]);
    free(bits);
}

static void test_order_of_calls_does_not_matter(void **state) {
    (void)state;
    double forwards[100];
    for (uint64_t i = 0; i < 100; i++) forwards[i] = random_unit(3, i, i % 3);
    for (uint64_t i = 100; i-- > 0;) assert_true(random_unit(3, i, i % 3) == forwards[i]);
}

/* Each of the 64 bits of neighbouring ids flips half of the time. */
static void test_every_bit_flips_half_the_time(void **state) {
    (void)state;
    int flips[64] = {0};
    for (uint64_t id = 0; id < DRAWS; id++) {
        uint64_t changed = random_bits(7, id, 0) ^ random_bits(7, id + 1, 0);
        for (int b = 0; b < 64; b++) flips[b] += (changed >> b) & 1;
    }
    for (int b = 0; b < 64; b++) assert_true(fabs(flips[b] / (double)DRAWS - 0.5) < within(0.5));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixing_function),
        cmocka_unit_test(test_mean_variance_and_spread),
        cmocka_unit_test(test_neighbours_are_not_related),
        cmocka_unit_test(test_keys_do_not_collide),
        cmocka_unit_test(test_order_of_calls_does_not_matter),
        cmocka_unit_test(test_every_bit_flips_half_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
