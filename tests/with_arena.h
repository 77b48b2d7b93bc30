/* A context and an arena for the tests of shapes and meshes. */
#ifndef SPATE_TESTS_WITH_ARENA_H
#define SPATE_TESTS_WITH_ARENA_H

#include "core/arena.h"

#include <math.h>

#define assert_near(a, b, tolerance) assert_true(fabs((a) - (b)) <= (tolerance))

static const double PI = 3.14159265358979323846;

typedef struct fixture {
    spate_context *ctx;
    arena arena;
} fixture;

static int open_fixture(void **state) {
    static fixture f;
    if (spate_open(NULL, &f.ctx)) return -1;
    f.arena = arena_create(f.ctx);
    *state = &f;
    return 0;
}

static int close_fixture(void **state) {
    fixture *f = *state;
    arena_free(&f->arena);
    spate_close(f->ctx);
    return 0;
}

#endif
