/* A context for tests whose allocator can be told to refuse. */
#ifndef SPATE_TESTS_FAILING_ALLOCATOR_H
#define SPATE_TESTS_FAILING_ALLOCATOR_H

#include "core/context.h"

#include <stdlib.h>

static int refuse; /* the allocator's orders: 1 refuses everything */

static void *allocate(size_t bytes, void *user) {
    (void)user;
    return refuse ? NULL : malloc(bytes);
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

static int open_context(void **state) {
    refuse = 0;
    spate_config config = {.allocate = allocate, .release = release, .threads = 1};
    return spate_open(&config, (spate_context **)state);
}
static int close_context(void **state) {
    spate_close(*state);
    return 0;
}

#endif
