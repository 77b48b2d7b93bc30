/*
 * Balls: many small spheres and the rays that meet them. Embree's sphere points where there is
 * Embree, a uniform grid walked cell by cell (Amanatides and Woo 1987) otherwise; both give the same
 * pictures.
 */
#ifndef SPATE_PICTURES_TRACE_BALLS_H
#define SPATE_PICTURES_TRACE_BALLS_H

#include "core/context.h"
#include "pictures/trace/ray.h"

typedef struct balls balls;

/* centers[i]: x, y, z, radius. The array is copied. No balls give a valid, empty set. */
spate_status balls_create(spate_context *ctx, const v3 *centers, int64_t count, balls **out);
/* The same without Embree. */
spate_status balls_create_plain(spate_context *ctx, const v3 *centers, int64_t count, balls **out);
void balls_free(balls *b);

/* The first ball a ray enters between near and far. May be called from many threads. */
hit balls_hit(const balls *b, const ray *r, float near, float far);
/* Whether it meets any. */
bool balls_block(const balls *b, const ray *r, float near, float far);

#endif
