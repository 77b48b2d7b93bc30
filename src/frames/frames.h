/*
 * Frames: the particles of one moment, in id order, as files for other tools.
 *
 *    .vtp   VTK XML PolyData, appended raw data, little endian (ParaView, VTK, PyVista); with
 *           particles.pvd, the list of frames and their times
 *    .ply   binary little endian vertices (MeshLab, Blender, Open3D)
 *    .bgeo  Houdini's classic binary geometry, version 5, big endian, as Partio reads and writes it
 *
 * Every frame has P, v, id, pscale and material, and what the scene's output.fields adds. Reals
 * have the build's precision in .vtp and .ply, and are floats in .bgeo.
 */
#ifndef SPATE_FRAMES_FRAMES_H
#define SPATE_FRAMES_FRAMES_H

#include "core/file.h"
#include "core/text.h"
#include "frames/axes.h"
#include "frames/frame_names.h"
#include "frames/poses.h"
#include "measure/attributes.h"

typedef struct frame_array {
    const attribute *attribute;
    void *values; /* attribute_size() each, `components` to a particle */
} frame_array;

typedef struct particle_frame {
    spate_context *ctx;
    const char *scene_name;
    double time;
    frame_poses poses; /* not owned */
    file_axes axes;    /* of the values */
    int64_t count;     /* particles */
    int array_count;
    frame_array arrays[ATTRIBUTE_COUNT]; /* P first */
} particle_frame;

/* Copies what the scene wants of the present state. */
spate_status frame_create(spate_simulation *sim, particle_frame *f);
void frame_free(particle_frame *f);

/* The context is that of the thread that writes; it tells what fails. */
spate_status vtp_write(spate_context *ctx, const particle_frame *f, const char *path);
spate_status ply_write(spate_context *ctx, const particle_frame *f, const char *path);
spate_status bgeo_write(spate_context *ctx, const particle_frame *f, const char *path);

/* The moment and the scene of a frame, and its driven colliders, for the VTK formats. */
void vtk_write_field_data(file_writer *w, const char *scene_name, double time,
                          const frame_poses *poses);

/* An array of the appended part of a VTK file: its declaration, which moves the offset on to where
 * the next one begins, and its bytes, in the same order. */
void vtp_declare(file_writer *w, const char *type, const char *name, int components, uint64_t bytes,
                 uint64_t *offset);
void vtp_array(file_writer *w, const void *values, uint64_t bytes);
/* The same of an attribute of `count` particles or vertices. */
void vtp_declare_attribute(file_writer *w, const attribute *a, int64_t count, uint64_t *offset);
void vtp_attribute(file_writer *w, const frame_array *array, int64_t count);
/* The bytes that tell where each of `count` cells of so many corners ends among them all. */
void vtp_offsets(file_writer *w, int64_t count, int corners);
/* Properties of attributes in the head of a PLY file, and their rows. */
void ply_declare(file_writer *w, const attribute *a);
spate_status ply_rows(file_writer *w, const frame_array *arrays, int array_count, int64_t count);

/* The collection of frames: text grows by a line a frame, and is written as a whole. */
void pvd_add(text *lines, double time, const char *file);
spate_status pvd_write(spate_context *ctx, const text *lines, const char *path);

/* The file types of a frame, by their bit in output_settings.particles. */
typedef struct frame_format {
    unsigned bit; /* OUTPUT_* */
    const char *extension;
    spate_status (*write)(spate_context *ctx, const particle_frame *f, const char *path);
} frame_format;

enum { FRAME_FORMATS = 3 };
extern const frame_format frame_formats[FRAME_FORMATS];

#endif
