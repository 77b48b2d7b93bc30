/*
 * Poisson-disc sets (Bridson 2007, "Fast Poisson disk sampling in arbitrary dimensions"): points
 * that keep a distance from one another and leave no gap. All randomness comes from the seed.
 */
#ifndef SPATE_SCENE_POISSON_H
#define SPATE_SCENE_POISSON_H

#include "scene/shape.h"

typedef struct poisson_region {
    bounds box;                                           /* finite; no point is outside it */
    bool (*allowed)(const double x[3], const void *user); /* where points may be */
    const void *user;
    const double (*starts)[3]; /* points all over the region, so that each of its parts is filled */
    int64_t start_count;
} poisson_region;

/* Fills the region with points at least `radius` apart; memory from take(). */
spate_status poisson_fill(spate_context *ctx, const poisson_region *region, int dim, uint64_t seed,
                          double radius, double (**points)[3], int64_t *count);
/* Keeps `target` of the points, chosen evenly by the seed, in their order. */
spate_status poisson_thin(spate_context *ctx, uint64_t seed, int64_t target, double (*points)[3],
                          int64_t *count);

#endif
