/*
 * Sorting by many workers: the keys are cut into ranges, and who has a range reads through all
 * items for those in it. Reading them several times costs little next to writing all over memory,
 * and the result is that of one worker.
 */
#ifndef SPATE_SURFACE_KEY_RANGE_H
#define SPATE_SURFACE_KEY_RANGE_H

#include "core/threads.h"

typedef struct key_range {
    int64_t begin, end;
} key_range;

/* How many ranges the workers of a pool should have: some more than workers, as they differ. */
static inline int key_ranges(const pool *p) {
    const int workers = pool_size(p);
    return workers == 1 ? 1 : 4 * workers;
}

/* Range r of `ranges` over `count` groups of `each` keys. */
static inline key_range key_range_at(int64_t r, int ranges, int64_t count, int each) {
    return (key_range){r * count / ranges * each, (r + 1) * count / ranges * each};
}

static inline bool key_range_has(key_range range, int64_t key) {
    return key >= range.begin && key < range.end;
}

#endif
