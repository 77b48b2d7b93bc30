/* A task on a thread of its own: what it tells, whose memory it uses, and what if there is no
 * thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/background.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SHADOW_MEMORY 1 /* address space cannot be limited */
#else
#define SHADOW_MEMORY 0
#endif

enum { ROOM = 4096 };

/* Hooks that only the caller's thread may enter. */
static void *allocate(size_t bytes, void *user) {
    if (!pthread_equal(*(pthread_t *)user, pthread_self())) abort();
    return malloc(bytes);
}
static void release(void *block, void *user) {
    if (!pthread_equal(*(pthread_t *)user, pthread_self())) abort();
    free(block);
}

static int setup(void **state) {
    static pthread_t self;
    self = pthread_self();
    spate_config config = {allocate, release, .user = &self, .threads = 1};
    return spate_open(&config, (spate_context **)state);
}
static int teardown(void **state) {
    spate_close(*state);
    return 0;
}

static background *open_background(spate_context *ctx) {
    background *b;
    assert_int_equal(background_create(ctx, ROOM, &b), SPATE_OK);
    return b;
}

/* What a task sees and does. */
typedef struct errand {
    _Atomic bool may_go;
    bool here; /* done by the caller's thread */
    pthread_t caller;
    size_t bytes;         /* to take, twice */
    spate_status outcome; /* what it returns */
    int done;
} errand;

static spate_status run_errand(spate_context *beside, void *data) {
    errand *e = data;
    while (!atomic_load(&e->may_go)) usleep(100);
    e->here = pthread_equal(e->caller, pthread_self());
    for (int i = 0; i < 2; i++) {
        void *block = take(beside, e->bytes, 1);
        if (!block) return SPATE_OUT_OF_MEMORY;
        memset(block, 1, e->bytes);
        give(beside, block);
    }
    e->done++;
    return e->outcome ? fail(beside, e->outcome, "no. %d: %g", e->done, 0.5) : SPATE_OK;
}

static errand errand_of(size_t bytes, spate_status outcome) {
    return (errand){.may_go = true, .caller = pthread_self(), .bytes = bytes, .outcome = outcome};
}

static void test_beside_the_caller(void **state) {
    background *b = open_background(*state);
    errand e = errand_of(100, SPATE_OK);
    assert_true(background_is_done(b));
    assert_int_equal(background_wait(b), SPATE_OK); /* nothing to wait for */
    atomic_store(&e.may_go, false);
    background_start(b, run_errand, &e);
    assert_false(background_is_done(b)); /* the caller is here, the task there */
    atomic_store(&e.may_go, true);
    assert_int_equal(background_wait(b), SPATE_OK);
    assert_true(background_is_done(b) && e.done == 1 && !e.here);
    background_free(b);
}

static void test_failures_come_back_once(void **state) {
    spate_context *ctx = *state;
    background *b = open_background(ctx);
    errand e = errand_of(100, SPATE_IO_ERROR);
    fail(ctx, SPATE_BAD_INPUT, "before");
    background_start(b, run_errand, &e);
    while (!background_is_done(b)) usleep(100);
    assert_string_equal(spate_message(ctx), "before"); /* until it is asked for */
    assert_int_equal(background_wait(b), SPATE_IO_ERROR);
    assert_string_equal(spate_message(ctx), "no. 1: 0.5");
    assert_int_equal(background_wait(b), SPATE_OK);
    e.outcome = SPATE_OK;
    background_start(b, run_errand, &e);
    assert_int_equal(background_wait(b), SPATE_OK);
    assert_int_equal(e.done, 2);
    background_free(b);
}

/* Room that a task has given back is there for the next one, again and again; more there is not. */
static void test_room(void **state) {
    background *b = open_background(*state);
    errand e = errand_of(ROOM / 3, SPATE_OK);
    for (int i = 1; i <= 20; i++) {
        background_start(b, run_errand, &e);
        assert_int_equal(background_wait(b), SPATE_OK);
        assert_int_equal(e.done, i);
    }
    e.bytes = 2 * ROOM;
    background_start(b, run_errand, &e);
    assert_int_equal(background_wait(b), SPATE_OUT_OF_MEMORY);
    assert_non_null(strstr(spate_message(*state), "out of memory"));
    background_free(b);
}

static void test_freed_while_under_way(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    background *b = open_background(ctx);
    errand e = errand_of(100, SPATE_OK);
    background_start(b, run_errand, &e);
    background_free(b);
    assert_int_equal(e.done, 1);
    assert_int_equal(ctx->blocks_now, blocks);
    background_free(NULL);
}

/* Without room for a stack, tasks are done in place. The first test: later ones leave stacks
 * behind. */
static void test_no_thread(void **state) {
    if (SHADOW_MEMORY) skip();
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f || fscanf(f, "%ld", &pages) != 1) skip();
    fclose(f);
    struct rlimit before, tight;
    getrlimit(RLIMIT_AS, &before);
    tight = before;
    tight.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (1 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    background *b;
    spate_status status = background_create(*state, ROOM, &b);
    setrlimit(RLIMIT_AS, &before);
    assert_int_equal(status, SPATE_OK);
    errand e = errand_of(100, SPATE_IO_ERROR);
    background_start(b, run_errand, &e);
    assert_true(e.here && e.done == 1 && background_is_done(b));
    assert_int_equal(background_wait(b), SPATE_IO_ERROR);
    assert_string_equal(spate_message(*state), "no. 1: 0.5");
    background_free(b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_no_thread), TEST(test_beside_the_caller),     TEST(test_failures_come_back_once),
        TEST(test_room),      TEST(test_freed_while_under_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
