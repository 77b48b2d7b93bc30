/* Surfaces read back: the files that surface_frame.c writes, found beside other frames. */
#ifndef SPATE_FRAMES_SURFACE_READ_H
#define SPATE_FRAMES_SURFACE_READ_H

#include "core/file.h"
#include "frames/vtp_read.h"
#include "scene/scene.h"

/* The file of a frame's surface in a folder, of any type; false when there is none. */
bool surface_find(const spate_context *ctx, const char *folder, int64_t number,
                  char out[PATH_SIZE]);
/* The same beside a frame's file of particles; a file of a surface is its own. */
bool surface_beside(const spate_context *ctx, const char *frame, char out[PATH_SIZE]);

/* The file of a frame's meshes (mesh_frame.h) beside any of its files, and reading it, in the
 * scene's axes. */
bool mesh_beside(const spate_context *ctx, const char *frame, char out[PATH_SIZE]);
spate_status mesh_frame_read(const spate_scene *scene, const char *path, snapshot *out);

/* A surface that was read back, in the scene's axes. */
typedef struct read_surface {
    arena arena;
    double (*vertices)[3];
    int32_t (*triangles)[3];
    int64_t vertex_count, triangle_count;
} read_surface;

/* A file without triangles, of drops that are too small for its lattice, gives none. */
spate_status surface_read(const spate_scene *scene, const char *path, read_surface *out);
/* The surface around the liquids of a frame of particles, in the scene's axes, as the scene's
 * output wants it. */
spate_status surface_from_particles(const spate_scene *scene, const snapshot *frame,
                                    read_surface *out);
void surface_read_free(read_surface *s);

#endif
