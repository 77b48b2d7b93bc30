/* Opening and closing under every failing allocation, messages, warnings, memory accounting. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/context.h"
#include "core/real.h"
#include "core/threads.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An allocator that fails once `left` allocations were made, and returns oddly aligned blocks. */
typedef struct heap {
    int left;
    int calls, live;
    int logged, informed;
    char last[4096];
} heap;

enum { ODD = 8 };

static void *heap_allocate(size_t bytes, void *user) {
    heap *h = user;
    h->calls++;
    if (h->left == 0) return NULL;
    if (h->left > 0) h->left--;
    char *block = malloc(bytes + ODD);
    if (!block) return NULL;
    h->live++;
    memset(block, 0xa5, bytes + ODD);
    return block + ODD;
}

static void heap_release(void *block, void *user) {
    heap *h = user;
    assert_non_null(block);
    h->live--;
    free((char *)block - ODD);
}

static void heap_log(spate_log_level level, const char *message, void *user) {
    heap *h = user;
    if (level == SPATE_LOG_WARNING)
        h->logged++;
    else
        h->informed++;
    snprintf(h->last, sizeof h->last, "%s", message);
}

static spate_config config_of(heap *h, int threads) {
    spate_config config = spate_default_config();
    config.allocate = heap_allocate;
    config.release = heap_release;
    config.log = heap_log;
    config.user = h;
    config.threads = threads;
    return config;
}

static spate_context *open_with(heap *h) {
    spate_context *ctx;
    spate_config config = config_of(h, 1);
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

static void test_open_survives_every_failing_allocation(void **state) {
    (void)state;
    heap whole = {.left = -1};
    spate_config config = config_of(&whole, 3);
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    assert_int_equal(spate_threads(ctx), 3);
    spate_close(ctx);
    assert_int_equal(whole.live, 0);
    assert_true(whole.calls > 2);

    for (int n = 0; n < whole.calls; n++) {
        heap h = {.left = n};
        config = config_of(&h, 3);
        ctx = (spate_context *)&h;
        assert_int_equal(spate_open(&config, &ctx), SPATE_OUT_OF_MEMORY);
        assert_null(ctx);
        assert_int_equal(h.live, 0);
    }
}

static void test_open_defaults_and_refusals(void **state) {
    (void)state;
    spate_context *ctx;
    assert_int_equal(spate_open(NULL, &ctx), SPATE_OK);
    assert_true(spate_threads(ctx) >= 1);
    assert_string_equal(spate_message(ctx), "");
    spate_close(ctx);

    spate_config config = {.threads = 1}; /* zeroed hooks mean the defaults */
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    spate_close(ctx);
    config = spate_default_config();
    config.release = NULL;
    assert_int_equal(spate_open(&config, &ctx), SPATE_BAD_INPUT);
    assert_null(ctx);
    config = spate_default_config();
    config.threads = -1;
    assert_int_equal(spate_open(&config, &ctx), SPATE_BAD_INPUT);
    assert_int_equal(spate_open(NULL, NULL), SPATE_BAD_INPUT);

    spate_close(NULL);
    assert_non_null(strstr(spate_message(NULL), "spate_open"));
    assert_int_equal(spate_threads(NULL), 0);
    assert_string_equal(spate_version(), SPATE_VERSION);
}

static void test_build_names_precision_and_instruction_set(void **state) {
    (void)state;
    heap h = {.left = -1};
    setenv("SPATE_ISA", isa_name(ISA_GENERIC), 1);
    spate_context *ctx = open_with(&h);
    assert_int_equal(ctx->isa, ISA_GENERIC);
    assert_int_equal(strncmp(spate_build(ctx), "spate " SPATE_VERSION ", " REAL_NAME ", ", 14), 0);
    assert_non_null(strstr(spate_build(ctx), isa_name(ISA_GENERIC)));
    assert_int_equal(h.logged, 0);
    spate_close(ctx);

    /* A name that is not known lowers nothing and is told to the user. */
    setenv("SPATE_ISA", "mmx", 1);
    ctx = open_with(&h);
    assert_int_equal(ctx->isa, isa_detect());
    assert_int_equal(h.logged, 1);
    assert_non_null(strstr(h.last, "SPATE_ISA=mmx"));
    spate_close(ctx);

    unsetenv("SPATE_ISA");
    ctx = open_with(&h);
    assert_int_equal(ctx->isa, isa_detect());
    assert_non_null(strstr(spate_build(ctx), isa_name(isa_detect())));
    spate_close(ctx);
    assert_non_null(strstr(spate_build(NULL), SPATE_VERSION));
}

static void test_isa_is_lowered_never_raised(void **state) {
    (void)state;
    const enum isa best = isa_detect();
    assert_int_equal(isa_lowered(NULL), best);
    assert_int_equal(isa_lowered(""), best);
    for (enum isa isa = ISA_GENERIC; isa <= ISA_AVX512; isa++)
        assert_int_equal(isa_lowered(isa_name(isa)), isa < best ? isa : best);
}

static void test_messages(void **state) {
    (void)state;
    heap h = {.left = -1};
    spate_context *ctx = open_with(&h);
    assert_int_equal(fail(ctx, SPATE_BAD_INPUT, "dx is %g", 0.5), SPATE_BAD_INPUT);
    assert_string_equal(spate_message(ctx), "dx is 0.5");
    fail_prefix(ctx, "dam.yaml:%d: ", 3);
    assert_string_equal(spate_message(ctx), "dam.yaml:3: dx is 0.5");
    /* The old message may be an argument of the new one. */
    fail(ctx, SPATE_IO_ERROR, "again: %s", ctx->message);
    assert_string_equal(spate_message(ctx), "again: dam.yaml:3: dx is 0.5");

    /* Too long: cut, closed, and the prefix wins over the tail. */
    char longer[2 * MESSAGE_SIZE];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = 0;
    fail(ctx, SPATE_IO_ERROR, "%s", longer);
    assert_int_equal(strlen(ctx->message), MESSAGE_SIZE - 1);
    fail_prefix(ctx, "front: ");
    assert_int_equal(strlen(ctx->message), MESSAGE_SIZE - 1);
    assert_int_equal(strncmp(ctx->message, "front: xxx", 10), 0);
    fail_prefix(ctx, "%s", longer);
    assert_int_equal(strlen(ctx->message), MESSAGE_SIZE - 1);

    /* A terminal takes no orders from names in a message; letters of any alphabet stay. */
    fail(ctx, SPATE_IO_ERROR, "block %s\n",
         "\x1b[2J\x7f\xc2\x9b"
         "m\xc3\xa9");
    assert_string_equal(spate_message(ctx), "block ?[2J???m\xc3\xa9?");
    fail_prefix(ctx, "%s: ", "\r");
    assert_string_equal(spate_message(ctx), "?: block ?[2J???m\xc3\xa9?");
    warn(ctx, "names", "%s", "\x1b]0;");
    assert_string_equal(h.last, "?]0;");

    inform(ctx, "frame %d", 7);
    assert_int_equal(h.informed, 1);
    assert_string_equal(h.last, "frame 7");
    warn(ctx, "long", "%s", longer);
    assert_int_equal(strlen(h.last), MESSAGE_SIZE - 1);
    spate_close(ctx);
}

static void test_warnings_are_counted_by_kind(void **state) {
    (void)state;
    heap h = {.left = -1};
    spate_context *ctx = open_with(&h);
    for (int i = 0; i < 10; i++) warn(ctx, "open mesh", "hole %d", i);
    assert_int_equal(h.logged, WARNINGS_SHOWN);
    assert_int_equal(strncmp(h.last, "hole 2 (more", 12), 0);
    warn(ctx, "escape", "particle 5");
    assert_int_equal(h.logged, WARNINGS_SHOWN + 1);
    assert_int_equal(ctx->warning_kinds, 2);
    assert_int_equal(ctx->warnings[0].count, 10);
    assert_int_equal(ctx->warnings[1].count, 1);
    assert_int_equal(warnings_total(ctx), 11);

    /* A cause that comes back is told once, and how often it came. */
    for (int i = 0; i < 7; i++) warn_once(ctx, "drift", "at frame %d", i);
    assert_int_equal(h.logged, WARNINGS_SHOWN + 2);
    assert_string_equal(h.last, "at frame 0");
    h.informed = 0;
    warnings_tell_hidden(ctx);
    assert_int_equal(h.informed, 2); /* not of what was shown whole */
    assert_string_equal(h.last, "warned of 'drift' 7 times in all");
    warnings_tell_hidden(ctx);
    assert_int_equal(h.informed, 2);
    warn_once(ctx, "drift", "of another run");
    assert_string_equal(h.last, "of another run");
    assert_int_equal(warnings_total(ctx), 11 + 8);

    /* More kinds than there is room for: the rest share the last counter, none is lost. */
    static char kinds[2 * WARNING_KINDS][16];
    for (int i = 0; i < 2 * WARNING_KINDS; i++) {
        snprintf(kinds[i], sizeof kinds[i], "k%d", i);
        warn(ctx, kinds[i], "one");
    }
    assert_int_equal(ctx->warning_kinds, WARNING_KINDS);
    assert_string_equal(ctx->warnings[WARNING_KINDS - 1].kind, "other");
    assert_int_equal(warnings_total(ctx), 11 + 8 + 2 * WARNING_KINDS);
    spate_close(ctx);
}

static bool all_zero(const void *block, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (((const char *)block)[i]) return false;
    return true;
}

static void test_take_aligns_zeroes_and_counts(void **state) {
    (void)state;
    heap h = {.left = -1};
    spate_context *ctx = open_with(&h);
    const size_t bytes = ctx->bytes_now;
    const int64_t blocks = ctx->blocks_now;
    const int live = h.live;
    void *held[40];
    size_t sum = 0;
    for (size_t i = 0; i < 40; i++) {
        held[i] = take(ctx, i, 3);
        assert_non_null(held[i]);
        assert_int_equal((uintptr_t)held[i] % 64, 0);
        assert_true(all_zero(held[i], 3 * i));
        memset(held[i], 0xff, 3 * i);
        sum += 3 * i;
    }
    assert_int_equal(ctx->bytes_now, bytes + sum);
    assert_int_equal(ctx->blocks_now, blocks + 40);
    assert_true(ctx->bytes_peak >= bytes + sum);
    for (int i = 0; i < 40; i++) give(ctx, held[i]);
    give(ctx, NULL);
    assert_int_equal(ctx->bytes_now, bytes);
    assert_int_equal(ctx->blocks_now, blocks);
    assert_int_equal(h.live, live);
    assert_true(ctx->bytes_peak >= bytes + sum);

    /* Everything the context itself holds is in its pool. */
    pool_free(ctx, ctx->pool);
    ctx->pool = NULL;
    assert_int_equal(ctx->bytes_now, 0);
    assert_int_equal(ctx->blocks_now, 0);
    spate_close(ctx);
    assert_int_equal(h.live, 0);
}

static void test_take_refuses_what_cannot_be(void **state) {
    (void)state;
    heap h = {.left = -1};
    spate_context *ctx = open_with(&h);
    const size_t bytes = ctx->bytes_now;
    const int calls = h.calls;
    assert_null(take(ctx, SIZE_MAX / 2, 3));
    assert_null(take(ctx, SIZE_MAX, 1));
    assert_null(take(ctx, SIZE_MAX - 64, 1));
    assert_null(take(ctx, PTRDIFF_MAX, 1));
    assert_int_equal(h.calls, calls); /* the hook is not even asked */
    h.left = 0;
    fail(ctx, SPATE_OK, "%s", "");
    assert_null(take(ctx, 1000000, 8));
    assert_non_null(strstr(spate_message(ctx), "out of memory: 8 MB more"));
    assert_int_equal(ctx->bytes_now, bytes);
    spate_close(ctx);
}

static void test_retake_and_grow(void **state) {
    (void)state;
    heap h = {.left = -1};
    spate_context *ctx = open_with(&h);
    const int64_t blocks = ctx->blocks_now;
    int *list = NULL;
    int64_t capacity = 0;
    int moves = 0;
    for (int i = 0; i < 1000; i++) {
        const int *before = list;
        assert_int_equal(GROW(ctx, list, capacity, i + 1), SPATE_OK);
        moves += before != list;
        list[i] = i;
    }
    for (int i = 0; i < 1000; i++) assert_int_equal(list[i], i);
    assert_true(capacity >= 1000 && moves <= 8);
    assert_true(all_zero(list + 1000, (size_t)(capacity - 1000) * sizeof *list));

    /* A failure leaves list and capacity as they are. */
    int *before = list;
    const int64_t capacity_before = capacity;
    h.left = 0;
    assert_int_equal(GROW(ctx, list, capacity, capacity + 1), SPATE_OUT_OF_MEMORY);
    assert_int_equal(GROW(ctx, list, capacity, INT64_MAX), SPATE_OUT_OF_MEMORY);
    assert_null(retake(ctx, list, 1000, 2000, sizeof *list));
    assert_ptr_equal(list, before);
    assert_int_equal(capacity, capacity_before);
    assert_int_equal(list[999], 999);

    h.left = -1;
    list = retake(ctx, list, 1000, 10, sizeof *list);
    assert_int_equal(list[9], 9);
    list = retake(ctx, list, 10, 100, sizeof *list);
    assert_int_equal(list[9], 9);
    assert_true(all_zero(list + 10, 90 * sizeof *list));
    give(ctx, list);
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
}

/* Arrays of one capacity grow together, and lose their capacity together. */
static void test_ensure(void **state) {
    (void)state;
    heap h = {.left = -1};
    spate_context *ctx = open_with(&h);
    const int64_t blocks = ctx->blocks_now;
    double *x = NULL;
    char *kind = NULL;
    int64_t capacity = 0;
    assert_int_equal(ENSURE(ctx, capacity, 0, EACH(x, 3), EACH(kind, 1)), SPATE_OK);
    assert_true(capacity > 0 && x && kind); /* room for nothing is a place, too */
    const size_t bytes_before = ctx->bytes_now;
    assert_int_equal(ENSURE(ctx, capacity, 1000, EACH(x, 3), EACH(kind, 1)), SPATE_OK);
    assert_in_range(capacity, 1000, 1200);
    assert_true(ctx->bytes_now - bytes_before > 900 * (3 * sizeof *x + 1));
    x[3 * capacity - 1] = kind[capacity - 1] = 1;
    const double *same = x;
    assert_int_equal(ENSURE(ctx, capacity, capacity, EACH(x, 3), EACH(kind, 1)), SPATE_OK);
    assert_ptr_equal(x, same);
    assert_true(x[3 * capacity - 1] == 1);

    h.left = 1; /* for the first array alone */
    assert_int_equal(ENSURE(ctx, capacity, 2000, EACH(x, 3), EACH(kind, 1)), SPATE_OUT_OF_MEMORY);
    assert_int_equal(capacity, 0);
    assert_null(kind);
    h.left = -1;
    assert_int_equal(ENSURE(ctx, capacity, INT64_MAX, EACH(x, 3), EACH(kind, 1)),
                     SPATE_OUT_OF_MEMORY);
    assert_int_equal(ENSURE(ctx, capacity, 10, EACH(x, 3), EACH(kind, 1)), SPATE_OK);
    give(ctx, x), give(ctx, kind);
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_survives_every_failing_allocation),
        cmocka_unit_test(test_open_defaults_and_refusals),
        cmocka_unit_test(test_build_names_precision_and_instruction_set),
        cmocka_unit_test(test_isa_is_lowered_never_raised),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_warnings_are_counted_by_kind),
        cmocka_unit_test(test_take_aligns_zeroes_and_counts),
        cmocka_unit_test(test_take_refuses_what_cannot_be),
        cmocka_unit_test(test_retake_and_grow),
        cmocka_unit_test(test_ensure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
