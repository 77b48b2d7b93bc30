/*
 * Mesh frames: bodies that are meshes (mesh_cells.h) at one moment, as a file for other tools.
 *
 *    .vtp   VTK XML PolyData: Lines, then Polys; with mesh.pvd, the list of frames and their times
 *    .ply   binary little endian: vertices, faces of three, edges (Blender, MeshLab, Houdini)
 *    .obj   text: v, f and l, with a group g for each body
 *
 * Vertices have the attributes of the particles that they are; pscale is the radius of strands, half
 * the thickness of cloth, 0 for finite elements. Cells have `group`, the body; `kind`, 1: fe,
 * 2: cloth, 3: strand; and `stretch`, area or length over that at rest. A vertex that has left the
 * domain takes its triangles with it, and cuts its strand.
 */
#ifndef SPATE_FRAMES_MESH_FRAME_H
#define SPATE_FRAMES_MESH_FRAME_H

#include "frames/frames.h"
#include "frames/mesh_cells.h"

enum { MESH_NAME_SIZE = 64 };

/* Cells of one body: lines from first_line on, triangles from first_triangle on. */
typedef struct mesh_frame_body {
    char name[MESH_NAME_SIZE];
    int64_t first_line, first_triangle;
} mesh_frame_body;

typedef struct mesh_frame {
    spate_context *ctx;
    const char *scene_name;
    double time;
    frame_poses poses; /* not owned */
    int64_t vertex_count;
    int array_count;
    frame_array arrays[ATTRIBUTE_COUNT]; /* P first */
    int32_t *line_corners, *line_ends;   /* line k ends before line_ends[k] */
    int64_t line_count;
    int32_t (*triangles)[3];
    int64_t triangle_count;
    uint32_t *groups, *kinds; /* of lines, then triangles */
    float *stretches;
    mesh_frame_body *bodies; /* one more than there are: where the last ends */
    int body_count;
} mesh_frame;

/* Whether the simulation's frames have one. */
bool mesh_is_wanted(const spate_simulation *sim);
/* Copies the present state; `from` holds its particles, or is NULL, and `cells` is kept from frame
 * to frame. */
spate_status mesh_frame_create(spate_simulation *sim, const particle_frame *from, mesh_cells *cells,
                               mesh_frame *out);
void mesh_frame_free(mesh_frame *f);

/* The file types, by their bit in output_settings.meshes. */
typedef struct mesh_format {
    unsigned bit; /* OUTPUT_* */
    const char *extension;
    spate_status (*write)(file_writer *w, const mesh_frame *f);
} mesh_format;

enum { MESH_FORMATS = 3 };
extern const mesh_format mesh_formats[MESH_FORMATS];

/* The context is that of the thread that writes. */
spate_status mesh_frame_write(spate_context *ctx, const mesh_frame *f, const mesh_format *format,
                              const char *path);

#endif
