/*
 * Trace: a 3D picture of one frame by ray tracing. What is clear has a smooth surface (level_set.h,
 * or a mesh, triangles.h) with reflection, refraction and absorption; bodies have a skin
 * (level_set.h), matt or shining; grains are spheres (spheres.h) whose shading follows the smooth
 * surface around them; bodies that are meshes are drawn as they are (meshes.h, strands.h); smoke veils what is behind it (smoke_volume.h). Light: a sun, whose rays are
 * followed through the liquid down to the floor (light.c), and a sky.
 */
#ifndef SPATE_PICTURES_TRACE_TRACE_H
#define SPATE_PICTURES_TRACE_TRACE_H

#include "pictures/draw/picture.h"
#include "pictures/trace/batches.h"
#include "pictures/trace/meshes.h"
#include "pictures/trace/smoke_volume.h"
#include "pictures/trace/stage.h"
#include "pictures/trace/triangles.h"

typedef struct trace_input {
    const stage *stage;
    const batches *batches;       /* NULL: no particles */
    const triangle_mesh *surface; /* of what is clear; NULL: made from the particles */
    const mesh_parts *meshes;     /* NULL: none */
    smoke_grid smoke;             /* in the stage's box; no values: none */
    bool smoke_mapped; /* the smoke's colours are those of a colour map: no light changes them */
    int samples;       /* rays a pixel where the picture has edges */
} trace_input;

spate_status trace_picture(spate_context *ctx, const trace_input *in, picture *out);

#endif
