/*
 * The files of one frame: particles, meshes, volumes and the surface, as the scene's output asks. What they
 * hold is copied from the simulation first; they can then be written while it goes on.
 */
#ifndef SPATE_FRAMES_FRAME_FILES_H
#define SPATE_FRAMES_FRAME_FILES_H

#include "frames/mesh_frame.h"
#include "frames/surface_frame.h"
#include "frames/volume.h"

typedef struct frame_files {
    const spate_scene *scene;
    const char *folder;
    int64_t number;
    double time;
    frame_poses poses;
    bool has_particles, has_meshes, has_volumes, has_surface;
    particle_frame particles;
    mesh_frame meshes;
    volume_frame volumes;
    surface_mesh surface;
} frame_files;

/* All the memory that frame_files_write takes at a time: a buffer, and rows of particles. */
enum { FRAME_FILES_ROOM = 1 << 20 };

/* Copies what is to be written of the present state. After a failure it holds what came before.
 * `cells` is kept from frame to frame, and given back with mesh_cells_free. */
spate_status frame_files_take(spate_simulation *sim, const char *folder, int64_t number,
                              mesh_cells *cells, frame_files *f);
/* Writes the files; the context is that of the thread that does so. */
spate_status frame_files_write(spate_context *ctx, const frame_files *f);
void frame_files_free(frame_files *f);

/* Whether there is a particles_NNNN.vtp, a mesh_NNNN.vtp, a surface_NNNN.vtp among them. */
bool frame_files_has_vtp(const frame_files *f);
bool frame_files_has_mesh_vtp(const frame_files *f);
bool frame_files_has_surface_vtp(const frame_files *f);

#endif
