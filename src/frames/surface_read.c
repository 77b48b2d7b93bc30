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

bool surface_beside(const spate_context *ctx, const char *frame, char out[PATH_SIZE]) {
    static const char head[] = "particles_", tail[] = ".vtp", itself[] = "surface_";
    char folder[PATH_SIZE] = ".";
    const char *slash = strrchr(frame, '/'), *name = slash ? slash + 1 : frame;
    const size_t length = strlen(name), around = sizeof head + sizeof tail - 2;
    int64_t number;
    if (!strncmp(name, itself, sizeof itself - 1))
        return snprintf(out, PATH_SIZE, "%s", frame) < PATH_SIZE;
    if (length <= around || memcmp(name, head, sizeof head - 1) ||
        strcmp(name + length - (sizeof tail - 1), tail) ||
        !text_to_int64(name + sizeof head - 1, length - around, &number))
        return false;
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - frame), frame);
    return surface_find(ctx, folder, number, out);
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
