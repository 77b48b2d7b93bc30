/*
 * Meshes in a 3D picture: bodies made of triangles (cloth, skins of finite elements), seen from both
 * sides. Rays by Embree, or by a tree of boxes (bvh.h). Normals are smooth; skins keep creases.
 */
#ifndef SPATE_PICTURES_TRACE_MESHES_H
#define SPATE_PICTURES_TRACE_MESHES_H

#include "core/context.h"
#include "pictures/trace/ray.h"

/* All meshes of a frame, in the stage's coordinates. */
typedef struct mesh_parts {
    v3 *vertices; /* and their radius, of strands */
    v3 *colours;
    int64_t vertex_count;
    int32_t (*triangles)[3];
    bool *cloth; /* of triangles: else a skin, whose front is its outside */
    int64_t triangle_count;
    int32_t *line_corners, *line_ends; /* line k ends before line_ends[k] */
    int64_t line_count;
    bool mapped; /* a colour map gives the colours: nothing but light changes them */
} mesh_parts;

void mesh_parts_free(spate_context *ctx, mesh_parts *p);

typedef struct meshes meshes;

/* Keeps the parts, which must outlive it; NULL without triangles. `plain`: without Embree. */
spate_status meshes_create(spate_context *ctx, const mesh_parts *parts, bool plain, meshes **out);
void meshes_free(meshes *m);

/* The first triangle between near and far; `which` is its number. */
hit meshes_hit(const meshes *m, const ray *r, float near, float far);
bool meshes_block(const meshes *m, const ray *r, float near, float far);

/* How far off triangles still shade one another. */
float meshes_reach(const meshes *m);

/* A point that a ray has met. Both normals look to where the ray comes from. */
typedef struct mesh_point {
    v3 flat, normal, colour;
    bool cloth, back; /* back: seen from behind */
    bool mapped;      /* its colour is that of a map, and the same on both sides */
} mesh_point;
mesh_point meshes_point(const meshes *m, const ray *r, const hit *h);

#endif
