/*
 * Spheres: many small spheres and the rays that meet them. Embree's sphere points where there is
 * Embree, a uniform grid walked cell by cell (Amanatides and Woo 1987) otherwise; both give the
 * same pictures.
 */
#ifndef SPATE_PICTURES_TRACE_SPHERES_H
#define SPATE_PICTURES_TRACE_SPHERES_H

#include "core/context.h"
#include "pictures/trace/ray.h"

typedef struct spheres spheres;

/* centers[i]: x, y, z, radius. The array is copied. No spheres give a valid, empty set. */
spate_status spheres_create(spate_context *ctx, const v3 *centers, int64_t count, spheres **out);
/* The same without Embree. */
spate_status spheres_create_plain(spate_context *ctx, const v3 *centers, int64_t count,
                                  spheres **out);
void spheres_free(spheres *b);

/* The first sphere a ray enters between near and far. May be called from many threads. */
hit spheres_hit(const spheres *b, const ray *r, float near, float far);
/* Whether it meets any. */
bool spheres_block(const spheres *b, const ray *r, float near, float far);

#endif
