/*
 * Reading frames back: the .vtp files that vtp.c, surface_frame.c and mesh_files.c write (VTK XML PolyData) and
 * the .vti files of volume.c (ImageData); one piece, appended raw arrays, little endian, UInt64
 * lengths. A damaged file is told by name and never read past its end.
 */
#ifndef SPATE_FRAMES_VTP_READ_H
#define SPATE_FRAMES_VTP_READ_H

#include "core/context.h"

typedef enum snapshot_type {
    SNAPSHOT_FLOAT32,
    SNAPSHOT_FLOAT64,
    SNAPSHOT_INT32,
    SNAPSHOT_UINT32,
    SNAPSHOT_INT64,
    SNAPSHOT_UINT64,
    SNAPSHOT_UINT8,
} snapshot_type;

enum { SNAPSHOT_ARRAYS = 32, SNAPSHOT_NAME = 64 };

typedef struct snapshot_array {
    char name[SNAPSHOT_NAME];
    snapshot_type type;
    int components;
    const unsigned char *data; /* not aligned */
} snapshot_array;

/* One frame: particles, the vertices of a surface or of meshes, or the cells of a grid. */
typedef struct snapshot {
    spate_context *ctx;
    char *bytes;   /* the whole file */
    int64_t count; /* of particles, vertices or cells */
    double time;   /* NAN when the file does not say */
    double *poses; /* of driven colliders, seven numbers each (poses.h) */
    int pose_count;
    int collider_count; /* that there are; -1 when the file does not say */
    snapshot_array arrays[SNAPSHOT_ARRAYS];
    int array_count;                /* of particles the first holds the positions */
    const unsigned char *triangles; /* of a surface: three int32 each, not aligned; NULL: none */
    int64_t triangle_count;
    const unsigned char *line_corners, *line_ends; /* of a mesh: int32 each, not aligned */
    int64_t line_count;
    bool on_grid;
    int cells[3]; /* of a grid, x fastest in the arrays; in 2D one along z */
    double origin[3], spacing[3];
} snapshot;

spate_status snapshot_load(spate_context *ctx, const char *path, snapshot *out);
/* The same from bytes in memory; `name` is for messages. Takes the bytes over, also when it fails.
 */
spate_status snapshot_read(spate_context *ctx, const char *name, char *bytes, size_t length,
                           snapshot *out);
void snapshot_free(snapshot *s);

/* NULL when there is none of that name. */
const snapshot_array *snapshot_find(const snapshot *s, const char *name);
/* Bytes of a number. */
size_t snapshot_type_size(snapshot_type type);
double snapshot_value(const snapshot_array *a, int64_t particle, int component);
/* Of triangle `t` corner k; of all lines the corner `at`, and where line k ends among them. */
int32_t snapshot_triangle(const snapshot *s, int64_t t, int k);
int32_t snapshot_line_corner(const snapshot *s, int64_t at);
int32_t snapshot_line_end(const snapshot *s, int64_t k);

#endif
