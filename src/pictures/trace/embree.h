/*
 * Embree: rays against many spheres, triangles or curves. The library is loaded when the first picture asks
 * for it, so that a simulation neither needs it nor runs its start-up code, and a system without it
 * still has the command. HAVE_EMBREE is 3 or 4 where the build knows its headers.
 */
#ifndef SPATE_PICTURES_TRACE_EMBREE_H
#define SPATE_PICTURES_TRACE_EMBREE_H

#include "core/context.h"
#include "pictures/trace/ray.h"
#include <stdint.h>

typedef struct embree embree;

/* What a ray meets first: its distance, the sphere, triangle or piece of a curve, and the place in
 * it. */
typedef struct embree_hit {
    float t, u, v;
    int64_t which;
} embree_hit;

/* All keep the arrays, which must outlive them; with no Embree to be had, *out is NULL.
 * centers[i]: x, y, z, radius. */
spate_status embree_of_spheres(spate_context *ctx, const v3 *centers, int64_t count, embree **out);
spate_status embree_of_triangles(spate_context *ctx, const v3 *vertices, int64_t vertex_count,
                                 const int32_t (*triangles)[3], int64_t triangle_count,
                                 embree **out);
/* Catmull-Rom curves that are flat and face the ray. points[i]: x, y, z, half the width; a piece goes
 * through the second and third of four points, beginning with pieces[i]. */
spate_status embree_of_curves(spate_context *ctx, const v3 *points, int64_t point_count,
                              const uint32_t *pieces, int64_t piece_count, embree **out);
void embree_free(embree *e);

/* May be called from many threads. */
bool embree_first(const embree *e, const ray *r, float near, float far, embree_hit *out);
bool embree_any(const embree *e, const ray *r, float near, float far);

#endif
