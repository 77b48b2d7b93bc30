/* Neighbour lists against all pairs, for clouds that are easy to get wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "count_down.h"
#include "state/neighbours.h"
#include "watched.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int open_sides[3] = {0};

/* A set of particles in blocks. */
typedef struct cloud {
    spate_context *ctx;
    particles p;
    blocks b;
    scratch s;
} cloud;

static int left; /* allocations before the one that is refused; < 0: none is */

static spate_context *context_of(int threads) {
    spate_config config = spate_default_config();
    config.threads = threads;
    config.allocate = count_down, config.release = release, config.user = &left;
    left = -1;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

static cloud cloud_of(spate_context *ctx, int dim, const int period[3]) {
    cloud c = {.ctx = ctx, .p = {.ctx = ctx, .fields = PARTICLE_BASICS}, .s = {.ctx = ctx}};
    assert_int_equal(particles_reserve(&c.p, 0), SPATE_OK);
    assert_int_equal(blocks_create(ctx, dim, period, &c.b), SPATE_OK);
    return c;
}

static void cloud_free(cloud *c) {
    particles_free(&c->p);
    blocks_free(&c->b);
    scratch_free(&c->s);
}

static void cloud_add(cloud *c, double x, double y, double z) {
    int64_t at;
    assert_int_equal(blocks_add(&c->b, &c->p, (double[3]){x, y, z}, &at), SPATE_OK);
}

static void cloud_sort(cloud *c) {
    int64_t lost;
    assert_int_equal(blocks_sort(&c->b, &c->p, &c->s, c->ctx->pool, &lost), SPATE_OK);
    assert_int_equal(lost, -1);
}

/* Evenly spread over a box from `low` on, with edges of `size` cells. */
static cloud random_cloud(spate_context *ctx, int dim, const int period[3], int count, double low,
                          double size, uint64_t seed) {
    cloud c = cloud_of(ctx, dim, period);
    for (int i = 0; i < count; i++) {
        double g[3];
        for (int a = 0; a < 3; a++) g[a] = low + size * random_unit(seed, (uint64_t)i, (uint64_t)a);
        cloud_add(&c, g[0], g[1], g[2]);
    }
    cloud_sort(&c);
    return c;
}

static spate_status build(neighbours *n, const cloud *of, const cloud *among, double radius) {
    return neighbours_build(n, &of->b, &of->p, &among->b, &among->p, radius, n->ctx->pool);
}

/* ---- All pairs ---- */

static double (*positions_of(const cloud *c))[3] {
    double(*g)[3] = calloc((size_t)c->p.count + 1, sizeof *g);
    for (int32_t block = 0; block < c->b.count; block++)
        for (int64_t i = c->b.first[block]; i < c->b.first[block + 1]; i++)
            blocks_position(&c->b, &c->p, block, i, g[i]);
    return g;
}

/* How many images of y are nearer to x than the radius, x itself left out. */
static int images_within(const cloud *c, const double x[3], const double y[3], double radius,
                         bool is_self) {
    int steps[3], count = 0;
    for (int a = 0; a < 3; a++) steps[a] = a < c->b.dim && c->b.period[a] ? 1 : 0;
    for (int i = -steps[0]; i <= steps[0]; i++)
        for (int j = -steps[1]; j <= steps[1]; j++)
            for (int k = -steps[2]; k <= steps[2]; k++) {
                const int image[3] = {i, j, k};
                double sum = 0;
                for (int a = 0; a < c->b.dim; a++) {
                    double d = y[a] - x[a] + image[a] * c->b.period[a] * BLOCK_EDGE;
                    sum += d * d;
                }
                count += sum < radius * radius && !(is_self && !i && !j && !k);
            }
    return count;
}

/* How many particles are listed too often or not often enough. Either is right where the distance
 * is the radius up to rounding of coordinates, which are up to 8 cells. */
static int64_t count_faults(const neighbours *n, const cloud *of, const cloud *among,
                            double radius) {
    const double rounding = 32 * (double)REAL_EPSILON;
    double(*x)[3] = positions_of(of), (*y)[3] = positions_of(among);
    int *listed = malloc(((size_t)among->p.count + 1) * sizeof *listed);
    int64_t faults = 0;
    for (int64_t i = 0; i < of->p.count; i++) {
        memset(listed, 0, (size_t)among->p.count * sizeof *listed);
        for (int32_t k = 0; k < n->number[i]; k++) listed[n->list[n->first[i] + k]]++;
        for (int64_t j = 0; j < among->p.count; j++) {
            const bool is_self = of == among && i == j;
            const int least = images_within(of, x[i], y[j], radius - rounding, is_self);
            const int most = images_within(of, x[i], y[j], radius + rounding, is_self);
            faults += listed[j] < least || listed[j] > most;
        }
    }
    free(x), free(y), free(listed);
    return faults;
}

/* Rows begin at multiples of WIDE, one after another, and are filled up with what may be read. */
static int64_t check_rows(const neighbours *n, const cloud *of, const cloud *among) {
    int64_t at = 0, pairs = 0;
    assert_int_equal(n->count, of->p.count);
    for (int64_t i = 0; i < n->count; i++) {
        assert_int_equal(n->first[i], at);
        assert_true(n->number[i] >= 0);
        at += (n->number[i] + WIDE - 1) / WIDE * WIDE;
        pairs += n->number[i];
        for (int64_t k = n->first[i]; k < at; k++)
            assert_true(n->list[k] >= 0 && n->list[k] < among->p.count);
    }
    assert_int_equal(n->first[n->count], at);
    assert_int_equal(n->entries, at);
    assert_true(at <= n->list_capacity);
    return pairs;
}

/* Builds with every instruction set of the machine, and returns how many pairs there are. */
static int64_t check_pairs(const cloud *of, const cloud *among, double radius) {
    spate_context *ctx = of->ctx;
    const enum isa best = ctx->isa;
    int64_t blocks_before = ctx->blocks_now, pairs = 0;
    for (ctx->isa = ISA_GENERIC; ctx->isa <= best; ctx->isa++) {
        neighbours n = neighbours_create(ctx);
        assert_int_equal(build(&n, of, among, radius), SPATE_OK);
        pairs = check_rows(&n, of, among);
        if (ctx->isa == best || !WATCHED) assert_int_equal(count_faults(&n, of, among, radius), 0);
        neighbours_free(&n);
        assert_int_equal(ctx->blocks_now, blocks_before);
    }
    ctx->isa = best;
    return pairs;
}

/* ---- Clouds ---- */

static void test_random_particles(void **state) {
    (void)state;
    spate_context *ctx = context_of(2);
    static const double radii[] = {0.02, 0.7, 1, 1.5, 2, 2.6, 4};
    static const double sizes[] = {1.9, 7, 30}; /* dense, about one to a cell, sparse */
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(sizes); k++) {
            cloud c = random_cloud(ctx, dim, open_sides, WATCHED ? 150 : 300, -3.3, sizes[k], 5);
            for (int r = 0; r < COUNT_OF(radii); r++) {
                int64_t pairs = check_pairs(&c, &c, radii[r]);
                assert_int_equal(pairs % 2, 0);
                if (sizes[k] < 2 && radii[r] == 4) /* each with all others */
                    assert_int_equal(pairs, c.p.count * (c.p.count - 1));
            }
            cloud_free(&c);
        }
    spate_close(ctx);
}

/* Two radii and less than two radii long, and of one block, which is its own neighbour. */
static void test_periodic_axes(void **state) {
    (void)state;
    static const int periods[][3] = {{3, 0, 2}, {2, 5, 0}, {1, 2, 3}, {0, 1, 1}};
    spate_context *ctx = context_of(2);
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(periods); k++) {
            cloud c = random_cloud(ctx, dim, periods[k], 160, 0, 11.9, 7);
            static const double radii[] = {0.9, 2, 3.9};
            for (int r = 0; r < COUNT_OF(radii); r++) check_pairs(&c, &c, radii[r]);
            cloud_free(&c);
        }
    /* Two on either side of the seam. */
    cloud c = cloud_of(ctx, 2, (int[3]){2, 0, 0});
    cloud_add(&c, 0.1, 3, 0);
    cloud_add(&c, 7.9, 3, 0);
    cloud_sort(&c);
    assert_int_equal(check_pairs(&c, &c, 0.25), 2);
    assert_int_equal(check_pairs(&c, &c, 0.15), 0);
    cloud_free(&c);
    spate_close(ctx);
}

/* Walls and liquid: each has blocks that the other has not. */
static void test_two_sets(void **state) {
    (void)state;
    static const int periods[][3] = {{0, 0, 0}, {3, 0, 4}};
    spate_context *ctx = context_of(2);
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(periods); k++) {
            cloud liquid = random_cloud(ctx, dim, periods[k], 250, 0, 8, 11);
            cloud walls = random_cloud(ctx, dim, periods[k], 200, 4.5, 7, 12);
            cloud none = cloud_of(ctx, dim, periods[k]);
            int64_t there = check_pairs(&liquid, &walls, 1.4);
            assert_true(there > 20);
            assert_int_equal(check_pairs(&walls, &liquid, 1.4), there);
            assert_int_equal(check_pairs(&liquid, &none, 1.4), 0);
            assert_int_equal(check_pairs(&none, &liquid, 1.4), 0);
            cloud_sort(&none);
            assert_int_equal(check_pairs(&none, &liquid, 1.4), 0);
            assert_int_equal(check_pairs(&none, &none, 1.4), 0);
            cloud_free(&liquid), cloud_free(&walls), cloud_free(&none);
        }
    /* A copy is another set: each finds its twin, which it would not in its own. */
    cloud one = random_cloud(ctx, 3, open_sides, 60, 0, 40, 13);
    cloud two = random_cloud(ctx, 3, open_sides, 60, 0, 40, 13);
    assert_int_equal(check_pairs(&one, &two, 0.1) - check_pairs(&one, &one, 0.1), 60);
    cloud_free(&one), cloud_free(&two);
    spate_close(ctx);
}

/* A lattice with particles on the borders of cells: at the radius itself there is no pair. */
static void test_lattice(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    for (int dim = 2; dim <= 3; dim++) {
        const int side = dim == 2 ? 20 : 7;
        cloud c = cloud_of(ctx, dim, open_sides);
        for (int x = 0; x < side; x++)
            for (int y = 0; y < side; y++)
                for (int z = 0; z < (dim == 2 ? 1 : side); z++)
                    cloud_add(&c, 0.5 * x - 1, 0.5 * y - 2, 0.5 * z);
        cloud_sort(&c);
        const int64_t nearest = 2 * dim * (side - 1) * c.p.count / side;
        assert_int_equal(check_pairs(&c, &c, 0.5), 0);
        assert_int_equal(check_pairs(&c, &c, 0.51), nearest);
        check_pairs(&c, &c, 1);
        check_pairs(&c, &c, 1.01);
        cloud_free(&c);
    }
    spate_close(ctx);
}

static void test_many_in_one_place(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    for (int dim = 2; dim <= 3; dim++) {
        cloud c = cloud_of(ctx, dim, open_sides);
        for (int i = 0; i < 200; i++) cloud_add(&c, 4, 3.999, -1);
        cloud_sort(&c);
        assert_int_equal(check_pairs(&c, &c, 0.001), 200 * 199);
        assert_int_equal(check_pairs(&c, &c, 3), 200 * 199);
        cloud_free(&c);
    }
    spate_close(ctx);
}

/* As precise as near the origin, and no memory for what lies between. */
static void test_far_from_the_origin(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    for (int dim = 2; dim <= 3; dim++) {
        const double far[] = {4e5, -4e5};
        for (int k = 0; k < COUNT_OF(far); k++) {
            cloud c = random_cloud(ctx, dim, open_sides, 300, far[k], 6.5, 17);
            check_pairs(&c, &c, 1.3);
            cloud_add(&c, 0.5, 0.5, 0.5);
            cloud_add(&c, -far[k], far[k], 0.5);
            cloud_sort(&c);
            check_pairs(&c, &c, 1.3);
            cloud_free(&c);
        }
    }
    spate_close(ctx);
}

static void test_nobody_and_one(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    cloud c = cloud_of(ctx, 3, open_sides);
    assert_int_equal(check_pairs(&c, &c, 1), 0);
    cloud_add(&c, 1, 2, 3);
    cloud_sort(&c);
    assert_int_equal(check_pairs(&c, &c, 4), 0);
    cloud_free(&c);
    spate_close(ctx);
}

/* ---- What else is promised ---- */

static void test_threads_make_the_same_lists(void **state) {
    (void)state;
    static const int thread_counts[] = {1, 2, 3, 7};
    neighbours reference = {0};
    spate_context *reference_context = NULL;
    for (int t = 0; t < COUNT_OF(thread_counts); t++) {
        spate_context *ctx = context_of(thread_counts[t]);
        cloud c = random_cloud(ctx, 3, open_sides, WATCHED ? 3000 : 20000, 0, 17, 19);
        neighbours n = neighbours_create(ctx);
        assert_int_equal(build(&n, &c, &c, 1.2), SPATE_OK);
        if (t == 0) {
            reference = n, reference_context = ctx;
            cloud_free(&c);
            continue;
        }
        size_t rows = (size_t)n.count, entries = (size_t)n.entries;
        assert_int_equal(n.entries, reference.entries);
        assert_memory_equal(n.first, reference.first, (rows + 1) * sizeof *n.first);
        assert_memory_equal(n.number, reference.number, rows * sizeof *n.number);
        assert_memory_equal(n.list, reference.list, entries * sizeof *n.list);
        neighbours_free(&n);
        cloud_free(&c);
        spate_close(ctx);
    }
    neighbours_free(&reference);
    spate_close(reference_context);
}

/* Each image once and in one order: rows of blocks' cells, and storage order within a cell. */
static void test_lists_are_in_the_order_of_cells(void **state) {
    (void)state;
    spate_context *ctx = context_of(2);
    cloud c = random_cloud(ctx, 3, open_sides, 900, 0, 9, 23);
    double(*g)[3] = positions_of(&c);
    neighbours n = neighbours_create(ctx);
    assert_int_equal(build(&n, &c, &c, 1.7), SPATE_OK);
    for (int64_t i = 0; i < n.count; i++)
        for (int64_t k = n.first[i] + 1; k < n.first[i] + n.number[i]; k++) {
            const int32_t j = n.list[k - 1], next = n.list[k];
            double before = 0, after = 0;
            for (int a = 0; a < 3; a++) {
                before = before * 100 + floor(g[j][a]);
                after = after * 100 + floor(g[next][a]);
            }
            assert_true(before < after || (before == after && j < next));
        }
    neighbours_free(&n);
    free(g);
    cloud_free(&c);
    spate_close(ctx);
}

/* Building again, with as many particles or fewer, takes no memory and gives fresh lists. */
static void test_steady_builds_take_no_memory(void **state) {
    (void)state;
    spate_context *ctx = context_of(2);
    neighbours n = neighbours_create(ctx);
    cloud c = random_cloud(ctx, 2, open_sides, 400, 0, 20, 29);
    assert_int_equal(neighbours_bytes(&n), 0);
    size_t bytes = ctx->bytes_now;
    assert_int_equal(build(&n, &c, &c, 2), SPATE_OK);
    bytes = ctx->bytes_now - bytes;
    assert_true(neighbours_bytes(&n) <= bytes && neighbours_bytes(&n) + 4096 > bytes);
    for (int round = 0; round < 4; round++) {
        for (int64_t i = round; i < c.p.count; i += 3) c.p.group[i] = GROUP_REMOVED;
        cloud_sort(&c);
        int64_t taken = ctx->blocks_now;
        ctx->bytes_peak = ctx->bytes_now;
        assert_int_equal(build(&n, &c, &c, 2), SPATE_OK);
        assert_int_equal(ctx->bytes_peak, ctx->bytes_now);
        assert_int_equal(ctx->blocks_now, taken);
        check_rows(&n, &c, &c);
        assert_int_equal(count_faults(&n, &c, &c, 2), 0);
    }
    neighbours_free(&n);
    cloud_free(&c);
    spate_close(ctx);
}

static void test_bad_calls_are_refused(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    neighbours n = neighbours_create(ctx);
    cloud c = random_cloud(ctx, 2, open_sides, 10, 0, 1, 31);
    static const double radii[] = {0, -1, NAN, HUGE_VAL, 4.0001};
    for (int r = 0; r < COUNT_OF(radii); r++) {
        assert_int_equal(build(&n, &c, &c, radii[r]), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), "radius"));
        assert_int_equal(n.count, 0);
    }
    const int64_t count = c.p.count;
    c.p.count = INT32_MAX;
    assert_int_equal(build(&n, &c, &c, 1), SPATE_BAD_INPUT);
    c.p.count = count;
    assert_int_equal(build(&n, &c, &c, 1), SPATE_OK);
    assert_int_equal(count_faults(&n, &c, &c, 1), 0);
    neighbours_free(&n);
    cloud_free(&c);
    spate_close(ctx);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    cloud c = random_cloud(ctx, 3, open_sides, 100, 0, 4, 37);
    cloud other = random_cloud(ctx, 3, open_sides, 100, 0, 4, 38);
    const int64_t taken = ctx->blocks_now;
    int failures = 0;
    for (spate_status status = SPATE_OUT_OF_MEMORY; status; failures += status != SPATE_OK) {
        neighbours n = neighbours_create(ctx);
        left = failures;
        status = build(&n, &c, &other, 1);
        left = -1;
        if (status) {
            assert_int_equal(status, SPATE_OUT_OF_MEMORY);
            assert_int_equal(n.count, 0);
            assert_int_equal(build(&n, &c, &other, 1), SPATE_OK);
        }
        assert_int_equal(count_faults(&n, &c, &other, 1), 0);
        neighbours_free(&n);
        assert_int_equal(ctx->blocks_now, taken);
    }
    assert_int_equal(failures, 9);
    cloud_free(&c), cloud_free(&other);
    spate_close(ctx);
}

/* Negative control: lists that are nearly right are not taken for right. */
static void test_faults_are_seen(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    neighbours n = neighbours_create(ctx);
    cloud c = random_cloud(ctx, 3, open_sides, 300, 0, 5, 41);
    assert_int_equal(build(&n, &c, &c, 1), SPATE_OK);
    assert_int_equal(count_faults(&n, &c, &c, 1), 0);
    assert_true(count_faults(&n, &c, &c, 1.01) > 0); /* the right lists of another radius */
    assert_true(count_faults(&n, &c, &c, 0.99) > 0);
    int64_t i = 0;
    while (n.number[i] < 2) i++;
    int32_t *row = n.list + n.first[i], kept = row[0];
    row[0] = row[1]; /* one twice, another not at all */
    assert_int_equal(count_faults(&n, &c, &c, 1), 2);
    row[0] = (int32_t)i; /* itself */
    assert_int_equal(count_faults(&n, &c, &c, 1), 2);
    row[0] = kept;
    n.number[i]--;
    assert_int_equal(count_faults(&n, &c, &c, 1), 1);
    neighbours_free(&n);
    cloud_free(&c);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_particles),
        cmocka_unit_test(test_periodic_axes),
        cmocka_unit_test(test_two_sets),
        cmocka_unit_test(test_lattice),
        cmocka_unit_test(test_many_in_one_place),
        cmocka_unit_test(test_far_from_the_origin),
        cmocka_unit_test(test_nobody_and_one),
        cmocka_unit_test(test_threads_make_the_same_lists),
        cmocka_unit_test(test_lists_are_in_the_order_of_cells),
        cmocka_unit_test(test_steady_builds_take_no_memory),
        cmocka_unit_test(test_bad_calls_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_faults_are_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
