/* An allocator that refuses the one allocation whose turn it is. */
#ifndef SPATE_TESTS_COUNT_DOWN_H
#define SPATE_TESTS_COUNT_DOWN_H

#include <spate/spate.h>
#include <stdlib.h>

static void *count_down(size_t bytes, void *user) {
    int *left = user;
    return (*left)-- == 0 ? NULL : malloc(bytes);
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

/* A context of one thread whose allocations are refused when *left, counted down, is 0; -1: none. */
static inline spate_context *open_counting(int *left) {
    spate_config config = spate_default_config();
    spate_context *ctx = NULL;
    config.allocate = count_down, config.release = release, config.user = left;
    config.threads = 1;
    *left = -1;
    spate_open(&config, &ctx);
    return ctx;
}

#endif
