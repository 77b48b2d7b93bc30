/* The pool: every item once, chunks and sums that do not depend on threads, colours, stealing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/threads.h"
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static const int sizes[] = {1, 2, 3, 4, 7, 8};

static spate_context *context_of(int threads) {
    spate_config config = spate_default_config();
    config.threads = threads;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    assert_int_equal(spate_threads(ctx), threads);
    return ctx;
}

static void sleep_briefly(void) { nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL); }

/* ---- Every item once ---- */

enum { ITEMS = 10007 };

typedef struct visits {
    int64_t grain;
    int workers;
    unsigned char count[ITEMS]; /* plain: each item belongs to one chunk */
    _Atomic int bad;
} visits;

static void visit(void *data, chunk items) {
    visits *v = data;
    /* The borders of a chunk are multiples of the grain, whoever works on it. */
    if (items.begin % v->grain || (items.end != items.begin + v->grain && items.end != ITEMS) ||
        items.worker < 0 || items.worker >= v->workers)
        v->bad++;
    for (int64_t i = items.begin; i < items.end; i++) v->count[i]++;
}

static void test_every_item_exactly_once(void **state) {
    (void)state;
    static const int64_t grains[] = {1, 7, 64, 5000, ITEMS, 1000000};
    for (int s = 0; s < COUNT_OF(sizes); s++) {
        spate_context *ctx = context_of(sizes[s]);
        for (int g = 0; g < COUNT_OF(grains); g++) {
            visits *v = calloc(1, sizeof *v);
            v->grain = grains[g];
            v->workers = sizes[s];
            parallel_for(ctx->pool, ITEMS, grains[g], visit, v);
            for (int i = 0; i < ITEMS; i++) assert_int_equal(v->count[i], 1);
            assert_int_equal(v->bad, 0);
            parallel_for(ctx->pool, 0, grains[g], visit, v);
            for (int i = 0; i < ITEMS; i++) assert_int_equal(v->count[i], 1);
            free(v);
        }
        spate_close(ctx);
    }
}

/* Many short jobs with and without a rest between them: workers must neither miss nor mix up any.
 */
static void add_one(void *data, chunk items) {
    int *numbers = data;
    for (int64_t i = items.begin; i < items.end; i++) numbers[i]++;
}

static void test_many_short_jobs(void **state) {
    (void)state;
    spate_context *ctx = context_of(3);
    int numbers[16] = {0};
    enum { JOBS = 3000 };
    for (int j = 0; j < JOBS; j++) {
        parallel_for(ctx->pool, 16, 1, add_one, numbers);
        if (j % 100 == 0) sleep_briefly();
    }
    for (int i = 0; i < 16; i++) assert_int_equal(numbers[i], JOBS);
    spate_close(ctx);
}

/* ---- Sums ---- */

enum { TERMS = 100003 };

/* Terms of very different size and both signs, so that any other order gives another sum. */
static double term(int64_t i) {
    double size = ldexp(1.0, (int)(random_bits(1, (uint64_t)i, 0) % 90));
    return size * (random_unit(1, (uint64_t)i, 1) - 0.5);
}

static void sum_terms(void *data, chunk items, double *part) {
    const double *terms = data;
    for (int64_t i = items.begin; i < items.end; i++) {
        part[0] += terms[i];
        part[1] += 1;
        part[2] += (double)i;
    }
}

static void test_sum_is_the_same_for_every_number_of_threads(void **state) {
    (void)state;
    double *terms = malloc(TERMS * sizeof *terms), backwards = 0, forwards = 0;
    for (int64_t i = 0; i < TERMS; i++) forwards += terms[i] = term(i);
    for (int64_t i = TERMS; i-- > 0;) backwards += terms[i];
    /* Control: the order does matter for these terms. */
    assert_true(forwards != backwards);

    /* Grain 1 needs several batches of parts. */
    static const int64_t grains[] = {1, 100, 4096};
    for (int g = 0; g < COUNT_OF(grains); g++) {
        double expected = 0;
        for (int64_t first = 0; first < TERMS; first += grains[g]) {
            double part = 0;
            for (int64_t i = first; i < first + grains[g] && i < TERMS; i++) part += terms[i];
            expected += part;
        }
        for (int s = 0; s < COUNT_OF(sizes); s++) {
            spate_context *ctx = context_of(sizes[s]);
            const int64_t blocks = ctx->blocks_now;
            double sums[3] = {1, 2, 3};
            assert_int_equal(parallel_sum(ctx, TERMS, grains[g], sum_terms, terms, 3, sums),
                             SPATE_OK);
            assert_memory_equal(&sums[0], &expected, sizeof expected);
            assert_true(sums[1] == TERMS);
            assert_true(sums[2] == 0.5 * TERMS * (TERMS - 1.0));
            assert_int_equal(parallel_sum(ctx, 0, 8, sum_terms, terms, 3, sums), SPATE_OK);
            assert_true(sums[0] == 0 && sums[1] == 0);
            assert_int_equal(ctx->blocks_now, blocks);
            spate_close(ctx);
        }
    }
    free(terms);
}

/* ---- Colours ---- */

typedef struct colour_check {
    const int64_t *starts;
    int colours;
    _Atomic int64_t done[8];
    _Atomic int out_of_order;
} colour_check;

static void check_colour(void *data, chunk items) {
    colour_check *c = data;
    int colour = 0;
    while (items.begin >= c->starts[colour + 1]) colour++;
    if (items.end > c->starts[colour + 1]) c->out_of_order++;
    for (int k = 0; k < c->colours; k++) {
        int64_t all = c->starts[k + 1] - c->starts[k];
        if (k < colour && c->done[k] != all) c->out_of_order++;
        if (k > colour && c->done[k] != 0) c->out_of_order++;
    }
    c->done[colour] += items.end - items.begin;
}

static void test_colours_come_one_after_the_other(void **state) {
    (void)state;
    /* With an empty colour, one of a single item, and sizes that are no multiples of the grain. */
    static const int64_t starts[] = {0, 500, 500, 501, 1200, 1333};
    for (int s = 0; s < COUNT_OF(sizes); s++) {
        spate_context *ctx = context_of(sizes[s]);
        for (int round = 0; round < 20; round++) {
            colour_check c = {.starts = starts, .colours = 5};
            parallel_colours(ctx->pool, starts, 5, 8, check_colour, &c);
            assert_int_equal(c.out_of_order, 0);
            for (int k = 0; k < 5; k++) assert_int_equal(c.done[k], starts[k + 1] - starts[k]);
        }
        spate_close(ctx);
    }
}

/* ---- Stealing ---- */

typedef struct slow_job {
    int64_t slow, chunks;
    _Atomic int64_t done;
    _Atomic int64_t done_before_slow_ended;
} slow_job;

/* The slow chunk ends only when all others are done, or after five seconds. */
static void wait_in_slow_chunk(void *data, chunk items) {
    slow_job *j = data;
    if (items.begin == j->slow) {
        for (int i = 0; i < 50000 && j->done < j->chunks - 1; i++) sleep_briefly();
        j->done_before_slow_ended = j->done;
    }
    j->done++;
}

static void test_others_take_over_the_share_of_a_slow_worker(void **state) {
    (void)state;
    for (int size = 2; size <= 4; size++) {
        spate_context *ctx = context_of(size);
        for (int64_t slow = 0; slow < 40; slow += 13) {
            slow_job j = {.slow = slow, .chunks = 40};
            parallel_for(ctx->pool, j.chunks, 1, wait_in_slow_chunk, &j);
            assert_int_equal(j.done_before_slow_ended, 39);
            assert_int_equal(j.done, 40);
        }
        spate_close(ctx);
    }
}

/* ---- Nested calls ---- */

typedef struct nested_job {
    pool *pool;
    _Atomic int inner, strangers;
} nested_job;

typedef struct inner_job {
    nested_job *outer;
    int worker;
    int64_t next; /* plain: an inner job stays on its worker and in order */
} inner_job;

static void inner(void *data, chunk items) {
    inner_job *in = data;
    if (items.worker != in->worker || items.begin != in->next) in->outer->strangers++;
    in->next = items.end;
    in->outer->inner += (int)(items.end - items.begin);
}

static void outer(void *data, chunk items) {
    nested_job *j = data;
    for (int64_t i = items.begin; i < items.end; i++) {
        inner_job in = {.outer = j, .worker = items.worker};
        parallel_for(j->pool, 10, 3, inner, &in);
    }
}

static void test_nested_calls_run_inline(void **state) {
    (void)state;
    for (int s = 0; s < COUNT_OF(sizes); s++) {
        spate_context *ctx = context_of(sizes[s]);
        nested_job j = {.pool = ctx->pool};
        parallel_for(ctx->pool, 100, 3, outer, &j);
        assert_int_equal(j.inner, 1000);
        assert_int_equal(j.strangers, 0);
        spate_close(ctx);
    }
}

/* ---- Making and freeing ---- */

static void test_create_and_free_many_pools(void **state) {
    (void)state;
    spate_context *ctx = context_of(1);
    const int64_t blocks = ctx->blocks_now;
    for (int i = 0; i < 100; i++) {
        pool *p;
        assert_int_equal(pool_create(ctx, 1 + i % 5, &p), SPATE_OK);
        assert_int_equal(pool_size(p), 1 + i % 5);
        int numbers[16] = {0};
        /* Freed at once, or after one job. */
        if (i % 2) parallel_for(p, 16, 1, add_one, numbers);
        for (int k = 0; k < 16; k++) assert_int_equal(numbers[k], i % 2);
        pool_free(ctx, p);
    }
    pool_free(ctx, NULL);
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
}

static void test_number_of_threads_is_capped(void **state) {
    (void)state;
    spate_config config = spate_default_config();
    config.threads = 100000;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    assert_int_equal(spate_threads(ctx), MAX_THREADS);
    int numbers[16] = {0};
    parallel_for(ctx->pool, 16, 1, add_one, numbers);
    for (int k = 0; k < 16; k++) assert_int_equal(numbers[k], 1);
    spate_close(ctx);
}

#if defined(__has_feature)
#define HAS_FEATURE(x) __has_feature(x)
#else
#define HAS_FEATURE(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer)
#define SHADOW_MEMORY 1 /* address space cannot be limited */
#else
#define SHADOW_MEMORY 0
#endif

/* With room for a few stacks only, some threads start and then one does not. */
static void test_threads_that_do_not_start(void **state) {
    (void)state;
    if (SHADOW_MEMORY) skip();
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1) skip();
    fclose(f);
    spate_context *ctx = context_of(1);
    const int64_t blocks = ctx->blocks_now;
    struct rlimit before, tight;
    getrlimit(RLIMIT_AS, &before);
    tight = before;
    tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (100 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    pool *p = (pool *)ctx;
    spate_status status = pool_create(ctx, MAX_THREADS, &p);
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(status, SPATE_OUT_OF_MEMORY);
    assert_null(p);
    assert_non_null(strstr(spate_message(ctx), "of 256: "));
    assert_null(strstr(spate_message(ctx), "thread 1 of"));
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_item_exactly_once),
        cmocka_unit_test(test_many_short_jobs),
        cmocka_unit_test(test_sum_is_the_same_for_every_number_of_threads),
        cmocka_unit_test(test_colours_come_one_after_the_other),
        cmocka_unit_test(test_others_take_over_the_share_of_a_slow_worker),
        cmocka_unit_test(test_nested_calls_run_inline),
        cmocka_unit_test(test_create_and_free_many_pools),
        cmocka_unit_test(test_number_of_threads_is_capped),
        cmocka_unit_test(test_threads_that_do_not_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
