/* An allocator that refuses the one allocation whose turn it is. */
#ifndef SPATE_TESTS_COUNT_DOWN_H
#define SPATE_TESTS_COUNT_DOWN_H

#include <stdlib.h>

static void *count_down(size_t bytes, void *user) {
    int *left = user;
    return (*left)-- == 0 ? NULL : malloc(bytes);
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

#endif
