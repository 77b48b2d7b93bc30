/* Reading a mesh file: what kind it is, told by its content. */
#include "scene/mesh.h"
#include "core/file.h"
#include "core/text.h"
#include "scene/mesh_build.h"
#include <string.h>

/* 16 GiB; half of the memory where addresses have 32 bits. */
static const size_t LARGEST_FILE = SIZE_MAX >> (sizeof(size_t) > 4 ? 30 : 1);

typedef enum mesh_format {
    FORMAT_OBJ,
    FORMAT_PLY,
    FORMAT_STL,
    FORMAT_TEXT,
    FORMAT_OTHER
} mesh_format;

/* Whether a line is an OBJ vertex. */
static bool is_obj_vertex(const spate_context *ctx, const char *from, const char *to) {
    while (from < to && (*from == ' ' || *from == '\t')) from++;
    if (to - from < 2 || *from != 'v' || (from[1] != ' ' && from[1] != '\t')) return false;
    double x;
    from++;
    return text_scan_double(ctx, &from, to, &x);
}

static mesh_format format_of(const spate_context *ctx, const char *bytes, size_t length) {
    if (length >= 4 && !memcmp(bytes, "ply", 3) && (bytes[3] == '\n' || bytes[3] == '\r'))
        return FORMAT_PLY;
    if (memchr(bytes, 0, length)) return length >= 84 ? FORMAT_STL : FORMAT_OTHER;
    const char *from, *to;
    mesh_text t = {bytes, bytes + length, 1};
    if (mesh_text_word(&t, &from, &to) && mesh_word_is(from, to, "solid")) {
        mesh_text_line(&t, &from, &to);
        if (mesh_text_word(&t, &from, &to) &&
            (mesh_word_is(from, to, "facet") || mesh_word_is(from, to, "endsolid")))
            return FORMAT_STL;
    }
    t = (mesh_text){bytes, bytes + length, 0};
    while (mesh_text_line(&t, &from, &to))
        if (is_obj_vertex(ctx, from, to)) return FORMAT_OBJ;
    return FORMAT_TEXT;
}

/* Files that people have instead, by how they begin. */
static const char *other_kind(const char *bytes, size_t length) {
    static const struct {
        const char *begins, *kind;
    } others[] = {
        {"Kaydara FBX", "an FBX file"}, {"glTF", "a glTF file"},
        {"Ogawa", "an Alembic file"},   {"PXR-USDC", "a USD file"},
        {"#usda", "a USD file"},        {"BLENDER", "a file of Blender"},
        {"\x7fNSJb", "a .bgeo file"},   {"\x89PNG", "a picture"},
        {"\xff\xd8\xff", "a picture"},  {"PK\x03\x04", "a zip file"},
        {"\x1f\x8b", "a gzip file"},
    };
    for (int i = 0; i < COUNT_OF(others); i++) {
        const size_t n = strlen(others[i].begins);
        if (length >= n && !memcmp(bytes, others[i].begins, n)) return others[i].kind;
    }
    return NULL;
}

spate_status mesh_read_raw(arena *a, const char *name, const char *bytes, size_t length, mesh *m) {
    if (length == 0) return fail(a->ctx, SPATE_BAD_INPUT, "%s: the mesh file is empty", name);
    const char *other = other_kind(bytes, length);
    if (other)
        return fail(a->ctx, SPATE_BAD_INPUT,
                    "%s: is %s; OBJ, PLY and STL are read, so write the mesh as one of them", name,
                    other);
    switch (format_of(a->ctx, bytes, length)) {
    case FORMAT_OBJ: return mesh_read_obj(a, name, bytes, length, m);
    case FORMAT_PLY: return mesh_read_ply(a, name, bytes, length, m);
    case FORMAT_STL: return mesh_read_stl(a, name, bytes, length, m);
    case FORMAT_TEXT:
        return fail(a->ctx, SPATE_BAD_INPUT,
                    "%s: is a text file, not a mesh; OBJ, PLY and STL are read", name);
    case FORMAT_OTHER: break;
    }
    return fail(a->ctx, SPATE_BAD_INPUT, "%s: is not a mesh; OBJ, PLY and STL are read", name);
}

spate_status mesh_read_lines(arena *a, const char *name, const char *bytes, size_t length,
                             mesh *m) {
    if (mesh_is_bgeo(bytes, length)) return mesh_read_bgeo_lines(a, name, bytes, length, m);
    if (length >= 5 && !memcmp(bytes, "\x7fNSJb", 5))
        return fail(
            a->ctx, SPATE_BAD_INPUT,
            "%s: is a .bgeo file of Houdini 12 or later; write it as .bhclassic, OBJ or PLY", name);
    const mesh_format format = length ? format_of(a->ctx, bytes, length) : FORMAT_OTHER;
    if (format == FORMAT_OBJ) return mesh_read_obj_lines(a, name, bytes, length, m);
    if (format == FORMAT_PLY) return mesh_read_ply_lines(a, name, bytes, length, m);
    return fail(a->ctx, SPATE_BAD_INPUT,
                "%s: is not a file of lines; OBJ, PLY and classic .bgeo are read", name);
}

spate_status mesh_read(arena *a, const char *name, const char *bytes, size_t length, mesh **out) {
    mesh *m = arena_take(a, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    TRY(mesh_read_raw(a, name, bytes, length, m));
    TRY(mesh_prepare(a, name, m));
    *out = m;
    return SPATE_OK;
}

spate_status mesh_load(arena *a, const char *path, mesh **out) {
    char *bytes;
    size_t length;
    TRY(file_read(a->ctx, path, LARGEST_FILE, &bytes, &length));
    spate_status status = mesh_read(a, path, bytes, length, out);
    give(a->ctx, bytes);
    return status;
}
