/* Finding and reading the surface of a frame; see surface_read.h. */
#include "frames/surface_read.h"
#include "core/text.h"
#include "frames/axes.h"
#include "frames/frame_names.h"
#include "frames/vtp_read.h"
#include "scene/mesh.h"
#include <stdio.h>
#include <string.h>

bool surface_find(const spate_context *ctx, const char *folder, int64_t number,
                  char out[PATH_SIZE]) {
    static const char *const extensions[] = {"ply", "obj", "vtp"};
    for (int i = 0; i < COUNT_OF(extensions); i++) {
        char name[FRAME_NAME_SIZE];
        surface_name(name, number, extensions[i]);
        int used = snprintf(out, PATH_SIZE, "%s/%s", folder, name);
        if (used > 0 && used < PATH_SIZE && file_exists(ctx, out)) return true;
    }
    return false;
}

/* The folder of a frame's file, and its number; false where its name is none of `head`. */
static bool split_name(const char *frame, const char *head, char where[PATH_SIZE],
                       int64_t *number) {
    const char *slash = strrchr(frame, '/'), *name = slash ? slash + 1 : frame;
    const char *dot = strrchr(name, '.');
    const size_t before = strlen(head);
    snprintf(where, PATH_SIZE, "%.*s", slash ? (int)(slash - frame) : 1, slash ? frame : ".");
    return dot && !strncmp(name, head, before) && name + before < dot &&
           text_to_int64(name + before, (size_t)(dot - name) - before, number);
}

static bool is_called(const char *frame, const char *head) {
    const char *slash = strrchr(frame, '/');
    return !strncmp(slash ? slash + 1 : frame, head, strlen(head));
}

bool surface_beside(const spate_context *ctx, const char *frame, char out[PATH_SIZE]) {
    char where[PATH_SIZE];
    int64_t number;
    if (is_called(frame, "surface_")) return snprintf(out, PATH_SIZE, "%s", frame) < PATH_SIZE;
    return (split_name(frame, "particles_", where, &number) ||
            split_name(frame, "mesh_", where, &number)) &&
           surface_find(ctx, where, number, out);
}

bool mesh_beside(const spate_context *ctx, const char *frame, char out[PATH_SIZE]) {
    char where[PATH_SIZE], name[FRAME_NAME_SIZE];
    int64_t number;
    if (is_called(frame, "mesh_")) return snprintf(out, PATH_SIZE, "%s", frame) < PATH_SIZE;
    if (!split_name(frame, "particles_", where, &number) &&
        !split_name(frame, "surface_", where, &number))
        return false;
    mesh_name(name, number, "vtp");
    const int used = snprintf(out, PATH_SIZE, "%s/%s", where, name);
    return used > 0 && used < PATH_SIZE && file_exists(ctx, out);
}

spate_status mesh_frame_read(const spate_scene *scene, const char *path, snapshot *out) {
    const file_axes to = axes_of_files(scene), back = axes_back(&to);
    TRY(snapshot_load(scene->ctx, path, out));
    const spate_status status = axes_turn_snapshot(&back, out);
    if (status) snapshot_free(out);
    return status;
}

/* ---- Reading back ---------------------------------------------------------------------------- */

/* Whether a file of PLY or OBJ has triangles; our readers of meshes want some. */
static bool has_faces(const char *bytes) {
    return memcmp(bytes, "ply", 3) ? strstr(bytes, "\nf ") != NULL
                                   : strstr(bytes, "element face 0\n") == NULL;
}

static spate_status read_mesh_file(const char *path, read_surface *out) {
    spate_context *ctx = out->arena.ctx;
    char *bytes;
    size_t length;
    mesh m = {0};
    TRY(file_read(ctx, path, MESH_BYTES, &bytes, &length));
    spate_status status = SPATE_OK;
    if (length > 3 && has_faces(bytes))
        status = memcmp(bytes, "ply", 3) ? mesh_read_obj(&out->arena, path, bytes, length, &m)
                                         : mesh_read_ply(&out->arena, path, bytes, length, &m);
    give(ctx, bytes);
    out->vertices = m.vertices, out->vertex_count = m.vertex_count;
    out->triangles = m.triangles, out->triangle_count = m.triangle_count;
    return status;
}

static spate_status read_vtp(const char *path, read_surface *out) {
    snapshot s;
    TRY(snapshot_load(out->arena.ctx, path, &s));
    out->vertices = arena_take(&out->arena, (size_t)s.count + 1, sizeof *out->vertices);
    out->triangles = arena_take(&out->arena, (size_t)s.triangle_count + 1, sizeof *out->triangles);
    if (out->vertices && out->triangles) {
        out->vertex_count = s.count, out->triangle_count = s.triangle_count;
        for (int64_t v = 0; v < s.count; v++)
            for (int a = 0; a < 3; a++) out->vertices[v][a] = snapshot_value(&s.arrays[0], v, a);
        if (s.triangles)
            memcpy(out->triangles, s.triangles, (size_t)s.triangle_count * sizeof *out->triangles);
    }
    snapshot_free(&s);
    return out->vertices && out->triangles ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

spate_status surface_read(const spate_scene *scene, const char *path, read_surface *out) {
    const char *dot = strrchr(path, '.');
    const file_axes to = axes_of_files(scene), back = axes_back(&to);
    *out = (read_surface){.arena = arena_create(scene->ctx)};
    spate_status status =
        dot && !strcmp(dot, ".vtp") ? read_vtp(path, out) : read_mesh_file(path, out);
    for (int64_t v = 0; v < out->vertex_count; v++) axes_turn_point(&back, out->vertices[v]);
    if (status != SPATE_OK) surface_read_free(out);
    return status;
}

void surface_read_free(read_surface *s) {
    if (s->arena.ctx) arena_free(&s->arena);
    *s = (read_surface){0};
}
