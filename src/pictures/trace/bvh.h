/*
 * Bounding volumes: a binary tree of boxes around triangles or pieces of strands, for systems without
 * Embree. Halves hold as many parts each, cut along the longest axis of their middles.
 */
#ifndef SPATE_PICTURES_TRACE_BVH_H
#define SPATE_PICTURES_TRACE_BVH_H

#include "core/context.h"
#include "pictures/trace/embree.h"

typedef struct bvh bvh;

/* The box around part i, in out[0] and out[1]. */
typedef void bvh_box(const void *of, int64_t i, v3 out[2]);
/* Whether a ray meets part i between near and far; where, in *out. */
typedef bool bvh_meet(const void *of, int64_t i, const ray *r, float near, float far,
                      embree_hit *out);

spate_status bvh_create(spate_context *ctx, const void *of, int64_t count, bvh_box *box, bvh **out);
void bvh_free(bvh *b);
/* What a ray meets first; `any`: whatever it meets. */
bool bvh_first(const bvh *b, const void *of, bvh_meet *meet, const ray *r, float near, float far,
               bool any, embree_hit *out);

#endif
