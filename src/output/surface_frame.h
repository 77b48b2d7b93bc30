/*
 * Surface frames: the mesh around all liquids at one moment, as a file for other tools.
 *
 *    .ply   binary little endian: vertices x y z, nx ny nz, vx vy vz, faces of three (Blender,
 *           MeshLab, Houdini); reals have the build's precision
 *    .obj   text: v, vn and f
 *
 * Which, how fine and how smooth is the scene's output.surface, .surface_resolution and
 * .surface_smoothing.
 */
#ifndef SPATE_OUTPUT_SURFACE_FRAME_H
#define SPATE_OUTPUT_SURFACE_FRAME_H

#include "output/frames.h"
#include "surface/surface.h"

/* Whether the scene wants surfaces. */
bool surface_is_wanted(const spate_scene *scene);

/* The mesh of the present state; all its numbers are finite. */
spate_status surface_of_simulation(spate_simulation *sim, surface_mesh *out);
/* Writes it as "ply" or "obj". */
spate_status surface_write(spate_context *ctx, const surface_mesh *m, const char *format,
                           double time, const char *path);

/* "surface_0001.ply" */
void surface_name(char out[FRAME_NAME_SIZE], const spate_scene *scene, int64_t number);
/* The surface that was written beside a file of particles; false when there is none. */
bool surface_beside(const spate_scene *scene, const char *frame, char out[PATH_SIZE]);

#endif
