/*
 * Triangles: a closed mesh of triangles and the rays that cross it, with normals interpolated
 * between its vertices. Only where there is Embree.
 */
#ifndef SPATE_PICTURES_TRACE_TRIANGLES_H
#define SPATE_PICTURES_TRACE_TRIANGLES_H

#include "core/context.h"
#include "pictures/trace/ray.h"

/* Triangles are anticlockwise seen from outside. */
typedef struct triangle_mesh {
    v3 *vertices;
    int64_t vertex_count;
    int32_t (*triangles)[3];
    int64_t triangle_count;
} triangle_mesh;

typedef struct triangles triangles;

/* Keeps a copy. Triangles that lie in a side of the box (0, size) are flat: a liquid's cover there
 * must not look round where it meets the free surface. Without Embree, or triangles, *out is NULL.
 * */
spate_status triangles_create(spate_context *ctx, const triangle_mesh *mesh, v3 size,
                              triangles **out);
void triangles_free(triangles *f);

/* The first crossing between near and far of a ray that is outside (or inside) at `near`. May be
 * called from many threads. */
hit triangles_cross(const triangles *f, const ray *r, float near, float far, bool inside);
/* Whether a point is inside. */
bool triangles_hold(const triangles *f, v3 x);

#endif
