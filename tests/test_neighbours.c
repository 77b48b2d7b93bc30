/* Neighbour lists against all pairs, for clouds that are easy to get wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "state/neighbours.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int thread_counts[] = {1, 2, 3, 7};

typedef struct cloud {
    int dim;
    int64_t count;
    real *x[3];
} cloud;

static spate_context *context_of(int threads) {
    spate_config config = spate_default_config();
    config.threads = threads;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

static cloud cloud_of(int dim, int64_t count) {
    cloud c = {.dim = dim, .count = count};
    for (int a = 0; a < dim; a++) c.x[a] = calloc((size_t)count + 1, sizeof(real));
    return c;
}

static void cloud_free(cloud *c) {
    for (int a = 0; a < 3; a++) free(c->x[a]);
}

/* Evenly spread over a box from `low` on, with edges `size`. */
static cloud random_cloud(int dim, int64_t count, double low, double size) {
    cloud c = cloud_of(dim, count);
    for (int a = 0; a < dim; a++)
        for (int64_t i = 0; i < count; i++)
            c.x[a][i] = (real)(low + size * random_unit(3, (uint64_t)i, (uint64_t)a));
    return c;
}

static spate_status build(neighbours *n, const cloud *c, double radius) {
    return neighbours_build(n, (const real *const *)c->x, c->count, radius, n->ctx->pool);
}

static bool is_pair(const cloud *c, int64_t i, int64_t j, real radius2) {
    real sum = 0;
    for (int a = 0; a < c->dim; a++) {
        real d = c->x[a][j] - c->x[a][i];
        sum += d * d;
    }
    return i != j && sum < radius2;
}

static int compare_index(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Holds every list against all pairs and returns how many there are. */
static int64_t check_all_pairs(const neighbours *n, const cloud *c, double radius) {
    real radius2 = (real)(radius * radius);
    int32_t *list = malloc(((size_t)c->count + 1) * sizeof *list);
    assert_int_equal(n->count, c->count);
    assert_int_equal(n->first[0], 0);
    for (int64_t i = 0; i < c->count; i++) {
        int64_t length = n->first[i + 1] - n->first[i], at = 0;
        assert_true(length >= 0 && length < c->count);
        memcpy(list, n->list + n->first[i], (size_t)length * sizeof *list);
        qsort(list, (size_t)length, sizeof *list, compare_index);
        for (int64_t j = 0; j < c->count; j++) {
            if (!is_pair(c, i, j, radius2)) continue;
            assert_true(at < length);
            assert_int_equal(list[at++], j);
        }
        assert_int_equal(at, length);
    }
    free(list);
    return n->first[c->count];
}

static int64_t check_cloud(const cloud *c, double radius) {
    spate_context *ctx = context_of(2);
    int64_t blocks = ctx->blocks_now;
    neighbours n = neighbours_create(ctx, c->dim);
    assert_int_equal(build(&n, c, radius), SPATE_OK);
    int64_t pairs = check_all_pairs(&n, c, radius);
    neighbours_free(&n);
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
    return pairs;
}

static void test_random_points(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        static const double radii[] = {0.02, 0.11, 0.37, 5};
        cloud c = random_cloud(dim, 800, -0.4, 1);
        for (int r = 0; r < COUNT_OF(radii); r++) {
            int64_t pairs = check_cloud(&c, radii[r]);
            if (radii[r] == 5) assert_int_equal(pairs, c.count * (c.count - 1));
        }
        /* The mean number of an even spread, less what the sides cut off. */
        double inside = dim == 2 ? 3.14159 * 0.11 * 0.11 : 4.18879 * 0.11 * 0.11 * 0.11;
        double each = (double)check_cloud(&c, 0.11) / (double)c.count;
        assert_true(each < 1.02 * inside * 800 && each > 0.8 * inside * 800);
        cloud_free(&c);
    }
}

/* A lattice whose points lie on the borders of cells: at the radius itself there is no pair. */
static void test_points_on_cell_borders(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        int side = dim == 2 ? 20 : 9;
        cloud c = cloud_of(dim, dim == 2 ? side * side : side * side * side);
        for (int64_t i = 0; i < c.count; i++)
            for (int64_t a = 0, rest = i; a < dim; a++, rest /= side)
                c.x[a][i] = (real)(0.25 * (double)(rest % side) - 1);
        assert_int_equal(check_cloud(&c, 0.25), 0);
        int64_t nearest = 2 * dim * (side - 1) * c.count / side;
        assert_int_equal(check_cloud(&c, 0.2500001), nearest);
        assert_int_equal(check_cloud(&c, 0.26), nearest);
        check_cloud(&c, 0.5);
        check_cloud(&c, 0.125);
        cloud_free(&c);
    }
}

static void test_duplicates(void **state) {
    (void)state;
    cloud c = random_cloud(3, 400, 0, 1);
    for (int64_t i = 200; i < 400; i++)
        for (int a = 0; a < 3; a++) c.x[a][i] = c.x[a][i % 7];
    assert_true(check_cloud(&c, 1e-4) >= 200 * 27);
    for (int64_t i = 0; i < c.count; i++)
        for (int a = 0; a < 3; a++) c.x[a][i] = (real)0.1;
    assert_int_equal(check_cloud(&c, 0.5), 400 * 399);
    cloud_free(&c);
}

static void test_empty_and_single(void **state) {
    (void)state;
    for (int64_t count = 0; count <= 2; count++) {
        cloud c = random_cloud(2, count, 7, 0.001);
        assert_int_equal(check_cloud(&c, 0.1), count == 2 ? 2 : 0);
        assert_int_equal(check_cloud(&c, 1e-9), 0);
        cloud_free(&c);
    }
}

/* Memory follows the points, not the box; precision near the others stays. */
static void test_far_outliers(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        cloud c = random_cloud(dim, 600, 0, 1);
        assert_true(check_cloud(&c, 0.1) > 500);
        static const double far[] = {1e3, 9e4, 1e9, 1e30};
        for (int f = 0; f < COUNT_OF(far); f++) {
            c.x[0][17] = (real)-far[f];
            c.x[dim - 1][501] = (real)far[f];
            c.x[1][502] = (real)-far[f];
            spate_context *ctx = context_of(1);
            neighbours n = neighbours_create(ctx, dim);
            size_t before = ctx->bytes_now;
            assert_int_equal(build(&n, &c, 0.1), SPATE_OK);
            assert_true(ctx->bytes_now - before < (size_t)1 << 20);
            check_all_pairs(&n, &c, 0.1);
            assert_int_equal(n.first[18] - n.first[17], 0);
            neighbours_free(&n);
            spate_close(ctx);
        }
        cloud_free(&c);
    }
}

/* A diagonal: as many occupied slabs along each axis as points. */
static void test_thin_clouds(void **state) {
    (void)state;
    cloud c = cloud_of(3, 500);
    for (int64_t i = 0; i < c.count; i++)
        for (int a = 0; a < 3; a++) c.x[a][i] = (real)((double)(i * 7 % 500) * (a == 1 ? -1 : 1));
    assert_int_equal(check_cloud(&c, 1.8), 2 * 499);
    assert_int_equal(check_cloud(&c, 1.7), 0);
    for (int64_t i = 0; i < c.count; i++) c.x[0][i] = c.x[1][i] = 4;
    assert_int_equal(check_cloud(&c, 2.5), 4 * 500 - 6);
    cloud_free(&c);
}

static void test_threads_make_the_same_lists(void **state) {
    (void)state;
    cloud c = random_cloud(3, 36000, 0, 1);
    int64_t *first = NULL;
    int32_t *list = NULL;
    for (int t = 0; t < COUNT_OF(thread_counts); t++) {
        spate_context *ctx = context_of(thread_counts[t]);
        neighbours n = neighbours_create(ctx, 3);
        assert_int_equal(build(&n, &c, 0.05), SPATE_OK);
        size_t places = (size_t)(c.count + 1) * sizeof *first;
        size_t entries = (size_t)n.first[c.count] * sizeof *list;
        if (t == 0) {
            first = malloc(places), list = malloc(entries);
            memcpy(first, n.first, places);
            memcpy(list, n.list, entries);
        }
        assert_memory_equal(first, n.first, places);
        assert_memory_equal(list, n.list, entries);
        neighbours_free(&n);
        spate_close(ctx);
    }
    free(first), free(list);
    cloud_free(&c);
}

/* Lists go through the cells in one order: that of the sorted points. */
static void test_lists_are_in_cell_order(void **state) {
    (void)state;
    cloud c = random_cloud(3, 3000, 0, 1);
    spate_context *ctx = context_of(2);
    neighbours n = neighbours_create(ctx, 3);
    assert_int_equal(build(&n, &c, 0.15), SPATE_OK);
    int32_t *place = malloc((size_t)c.count * sizeof *place);
    for (int64_t k = 0; k < c.count; k++) place[n.order[k]] = (int32_t)k;
    for (int64_t i = 0; i < c.count; i++)
        for (int64_t k = n.first[i] + 1; k < n.first[i + 1]; k++)
            assert_true(place[n.list[k - 1]] < place[n.list[k]]);
    for (int64_t cell = 0; cell < n.cell_count; cell++)
        for (int32_t k = n.cell_first[cell] + 1; k < n.cell_first[cell + 1]; k++)
            assert_true(n.order[k - 1] < n.order[k]);
    free(place);
    neighbours_free(&n);
    spate_close(ctx);
    cloud_free(&c);
}

/* Building again, with as many points or fewer, takes no memory and gives fresh lists. */
static void test_steady_builds_take_no_memory(void **state) {
    (void)state;
    spate_context *ctx = context_of(2);
    neighbours n = neighbours_create(ctx, 2);
    cloud c = random_cloud(2, 900, 0, 1);
    assert_int_equal(build(&n, &c, 0.1), SPATE_OK);
    ctx->bytes_peak = ctx->bytes_now;
    for (int64_t count = 900; count >= 0; count -= 450) {
        c.count = count;
        for (int64_t i = 0; i < count; i++) c.x[0][i] = 1 - c.x[0][i];
        assert_int_equal(build(&n, &c, 0.1), SPATE_OK);
        check_all_pairs(&n, &c, 0.1);
        assert_int_equal(ctx->bytes_peak, ctx->bytes_now);
    }
    neighbours_free(&n);
    cloud_free(&c);
    spate_close(ctx);
}

static void test_bad_calls_are_refused(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    neighbours n = neighbours_create(ctx, 2);
    cloud c = random_cloud(2, 10, 0, 1);
    static const double radii[] = {0, -1, NAN, HUGE_VAL, 1e-200, 1e200};
    for (int r = 0; r < COUNT_OF(radii); r++) {
        assert_int_equal(build(&n, &c, radii[r]), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), "radius"));
    }
    int64_t many = c.count;
    c.count = (int64_t)INT32_MAX + 1;
    assert_int_equal(build(&n, &c, 0.1), SPATE_BAD_INPUT);
    c.count = many;
    static const double wrong[] = {NAN, HUGE_VAL, -HUGE_VAL};
    for (int w = 0; w < COUNT_OF(wrong); w++) {
        c.x[1][4] = (real)wrong[w];
        assert_int_equal(build(&n, &c, 0.1), SPATE_UNSTABLE);
        assert_int_equal(n.count, 0);
        assert_non_null(strstr(spate_message(ctx), "finite"));
    }
    c.x[1][4] = (real)0.5;
    assert_int_equal(build(&n, &c, 0.1), SPATE_OK);
    check_all_pairs(&n, &c, 0.1);
    neighbours_free(&n);
    cloud_free(&c);
    spate_close(ctx);
}

/* ---- Memory that runs out ---- */

typedef struct stingy {
    int left; /* blocks that may still be had; < 0: any number */
} stingy;

static void *stingy_allocate(size_t bytes, void *user) {
    stingy *s = user;
    if (s->left == 0) return NULL;
    if (s->left > 0) s->left--;
    return malloc(bytes);
}

static void stingy_release(void *block, void *user) {
    (void)user;
    free(block);
}

static void test_every_allocation_may_fail(void **state) {
    (void)state;
    stingy s = {-1};
    spate_config config = spate_default_config();
    config.allocate = stingy_allocate, config.release = stingy_release, config.user = &s;
    config.threads = 1;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    int64_t blocks = ctx->blocks_now;
    cloud c = random_cloud(3, 200, 0, 1);
    int failures = 0;
    for (int allowed = 0;; allowed++) {
        neighbours n = neighbours_create(ctx, 3);
        s.left = allowed;
        spate_status status = build(&n, &c, 0.2);
        s.left = -1;
        if (status) {
            failures++;
            assert_int_equal(status, SPATE_OUT_OF_MEMORY);
            assert_int_equal(n.count, 0);
            assert_int_equal(build(&n, &c, 0.2), SPATE_OK);
        }
        check_all_pairs(&n, &c, 0.2);
        neighbours_free(&n);
        assert_int_equal(ctx->blocks_now, blocks);
        if (!status) break;
    }
    assert_int_equal(failures, 11);
    cloud_free(&c);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_points),
        cmocka_unit_test(test_points_on_cell_borders),
        cmocka_unit_test(test_duplicates),
        cmocka_unit_test(test_empty_and_single),
        cmocka_unit_test(test_far_outliers),
        cmocka_unit_test(test_thin_clouds),
        cmocka_unit_test(test_threads_make_the_same_lists),
        cmocka_unit_test(test_lists_are_in_cell_order),
        cmocka_unit_test(test_steady_builds_take_no_memory),
        cmocka_unit_test(test_bad_calls_are_refused),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
