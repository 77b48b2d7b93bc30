/*
 * Surface frames: the mesh around all liquids at one moment, as a file for other tools.
 *
 *    .ply   binary little endian: vertices x y z, nx ny nz, vx vy vz, faces of three (Blender,
 *           MeshLab, Houdini); reals have the build's precision
 *    .obj   text: v, vn and f
 *    .vtp   VTK XML PolyData with N and v, as particles are written (ParaView); with surface.pvd,
 *           the list of frames and their times
 *
 * Which, how fine and how smooth is the scene's output.surface, .surface_resolution and
 * .surface_smoothing.
 */
#ifndef SPATE_FRAMES_SURFACE_FRAME_H
#define SPATE_FRAMES_SURFACE_FRAME_H

#include "frames/frames.h"
#include "surface/surface.h"

/* Whether the scene wants surfaces. */
bool surface_is_wanted(const spate_scene *scene);

/* How the scene wants it; the particles' spacing is set by the second, which takes the mean of
 * 1 / size: merged particles deep in the liquid count less. */
surface_settings surface_settings_of(const spate_scene *scene);
spate_status surface_set_spacing(spate_context *ctx, surface_settings *s,
                                 const surface_particle *list, int64_t count);

/* The mesh of the present state. */
spate_status surface_of_simulation(spate_simulation *sim, surface_mesh *out);
/* Turns it to the axes of files. */
void surface_turn(const spate_scene *scene, surface_mesh *m);
/* Fails when it has what is no number. Then turns it to the axes of files. */
spate_status surface_prepare(spate_simulation *sim, surface_mesh *m);

/* The file types of a surface, by their bit in output_settings.surface. */
typedef struct surface_format {
    unsigned bit; /* OUTPUT_* */
    const char *extension;
    void (*write)(file_writer *w, const surface_mesh *m, const char *scene, double time);
} surface_format;

enum { SURFACE_FORMATS = 3 };
extern const surface_format surface_formats[SURFACE_FORMATS];

/* Writes it, with the name of the scene and the time where the format has room for them. The
 * context is that of the thread that writes. */
spate_status surface_write(spate_context *ctx, const surface_mesh *m, const surface_format *format,
                           const char *scene, double time, const char *path);

#endif
