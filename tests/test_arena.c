/* Arena and scratch memory: alignment, zeroes, reuse, failures, nothing left behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/arena.h"
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"

static void test_arena_blocks_are_zeroed_aligned_and_apart(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    const size_t bytes = ctx->bytes_now;
    arena a = arena_create(ctx);
    enum { PIECES = 600 };
    unsigned char *piece[PIECES];
    size_t size[PIECES];
    for (int i = 0; i < PIECES; i++) {
        /* Mostly small, now and then larger than a block. */
        size[i] = i % 100 == 99 ? 200000 : (size_t)(i * 37 % 1500);
        piece[i] = arena_take(&a, size[i], 1);
        assert_non_null(piece[i]);
        assert_int_equal((uintptr_t)piece[i] % 64, 0);
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(piece[i][k], 0);
        memset(piece[i], 1 + i % 255, size[i]);
    }
    for (int i = 0; i < PIECES; i++)
        for (size_t k = 0; k < size[i]; k++) assert_int_equal(piece[i][k], 1 + i % 255);
    /* Small pieces share blocks, also after a large one came between. */
    assert_true(ctx->blocks_now - blocks < 6 + 600 * 800 / 60000 + 2);
    arena_free(&a);
    assert_int_equal(ctx->blocks_now, blocks);
    assert_int_equal(ctx->bytes_now, bytes);
    arena_free(&a);
}

static void test_arena_text(void **state) {
    arena a = arena_create(*state);
    char *copy = arena_text(&a, "dam break", 3);
    assert_string_equal(copy, "dam");
    assert_string_equal(arena_text(&a, NULL, 0), "");
    assert_string_equal(copy, "dam");
    arena_free(&a);
}

static void test_arena_failures_leave_a_message(void **state) {
    spate_context *ctx = *state;
    arena a = arena_create(ctx);
    assert_null(arena_take(&a, SIZE_MAX / 2, 4));
    assert_null(arena_take(&a, SIZE_MAX, 1));
    assert_null(arena_take(&a, PTRDIFF_MAX, 1));
    assert_null(arena_text(&a, "", SIZE_MAX));
    assert_non_null(strstr(spate_message(ctx), "out of memory"));
    assert_non_null(arena_take(&a, 10, 1));
    refuse = 1;
    assert_null(arena_take(&a, 100000, 1));
    assert_non_null(arena_take(&a, 10, 1)); /* there is room in the block it has */
    arena_free(&a);
}

static void test_scratch_keeps_its_memory(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    scratch s = {.ctx = ctx};
    assert_true(scratch_is_empty(&s));
    double *keys = scratch_take(&s, "keys", 1000, sizeof *keys);
    double *order = scratch_take(&s, "order", 10, sizeof *order);
    assert_non_null(keys);
    assert_ptr_not_equal(keys, order);
    assert_int_equal((uintptr_t)keys % 64, 0);
    assert_false(scratch_is_empty(&s));
    scratch_give(&s, "keys");
    assert_false(scratch_is_empty(&s));
    scratch_give(&s, "order");
    assert_true(scratch_is_empty(&s));

    /* Steady: the same memory again, and nothing is allocated. */
    refuse = 1;
    assert_ptr_equal(scratch_take(&s, "keys", 900, sizeof *keys), keys);
    assert_ptr_equal(scratch_take(&s, "order", 0, 1), order);
    scratch_give(&s, "keys");
    scratch_give(&s, "order");

    /* Growing without memory fails cleanly, and works once there is some. */
    assert_null(scratch_take(&s, "keys", 100000, sizeof *keys));
    assert_true(scratch_is_empty(&s));
    assert_null(scratch_take(&s, "new", 1, 1));
    assert_true(scratch_is_empty(&s));
    refuse = 0;
    assert_null(scratch_take(&s, "keys", SIZE_MAX / 2, 4));
    keys = scratch_take(&s, "keys", 100000, sizeof *keys);
    assert_non_null(keys);
    keys[99999] = 1;
    scratch_give(&s, "keys");
    assert_non_null(scratch_take(&s, "nothing", 0, 8));
    scratch_give(&s, "nothing");
    scratch_free(&s);
    assert_int_equal(ctx->blocks_now, blocks);
}

static void test_scratch_has_all_its_slots(void **state) {
    scratch s = {.ctx = *state};
    static char name[SCRATCH_SLOTS][2];
    void *memory[SCRATCH_SLOTS];
    for (int i = 0; i < SCRATCH_SLOTS; i++) {
        name[i][0] = (char)('!' + i);
        memory[i] = scratch_take(&s, name[i], 1, 64);
        assert_non_null(memory[i]);
        for (int k = 0; k < i; k++) assert_ptr_not_equal(memory[k], memory[i]);
    }
    scratch_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_arena_blocks_are_zeroed_aligned_and_apart,
                                        open_context, close_context),
        cmocka_unit_test_setup_teardown(test_arena_text, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_arena_failures_leave_a_message, open_context,
                                        close_context),
        cmocka_unit_test_setup_teardown(test_scratch_keeps_its_memory, open_context, close_context),
        cmocka_unit_test_setup_teardown(test_scratch_has_all_its_slots, open_context,
                                        close_context),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
