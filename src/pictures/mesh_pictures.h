/* Mesh pictures: the meshes of a frame (frames/mesh_frame.h), coloured, for the ray tracer. */
#ifndef SPATE_PICTURES_MESH_PICTURES_H
#define SPATE_PICTURES_MESH_PICTURES_H

#include "pictures/colouring.h"
#include "pictures/trace/meshes.h"
#include "pictures/trace/stage.h"

/* The meshes that a run has written with a frame, whose file is `file`; without any, *out is empty:
 * no bytes. Free it with snapshot_free. */
spate_status mesh_pictures_load(const spate_scene *scene, const char *file, snapshot *out);
/* Their parts, in the stage's coordinates. Lines that are outlines are left out. */
spate_status mesh_pictures_create(const colouring *s, const stage *st, const snapshot *frame,
                                  const char *file, mesh_parts *out);

/* What is drawn of a frame of meshes, and how its vertices are coloured. */
typedef struct mesh_drawing {
    const colouring *colouring;
    const snapshot *frame;
    const snapshot_array *radii, *materials, *groups;
    colour_source by;
} mesh_drawing;

spate_status mesh_drawing_of(const colouring *s, const snapshot *frame, const char *file,
                             mesh_drawing *out);
static inline rgb mesh_drawing_colour(const mesh_drawing *d, int64_t vertex) {
    return colouring_colour(d->colouring, d->materials, &d->by, vertex);
}

/* The kind of mesh that a body of the scene is, MESH_NONE where there is no such body. */
mesh_kind mesh_pictures_kind(const spate_scene *scene, const snapshot_array *groups,
                             int64_t vertex);
/* Whether a particle is one of a mesh, which is drawn instead. `roles` may be NULL. */
static inline bool mesh_pictures_has(const snapshot_array *roles, int64_t particle) {
    return roles && snapshot_value(roles, particle, 0) != 0;
}

#endif
