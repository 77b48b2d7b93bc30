/*
 * STL, binary (80 bytes of anything, a count, 50 bytes a triangle) and ascii. Binary files may
 * begin with "solid" too, so the kind is told by the length the count asks for, then by the
 * content. Normals in the file are not used.
 */
#include "core/text.h"
#include "core/vec.h"
#include "scene/mesh_build.h"
#include <string.h>

enum { HEADER = 84, RECORD = 50 };

static uint32_t little_uint32(const char *bytes) {
    const unsigned char *v = (const unsigned char *)bytes;
    return (uint32_t)v[0] | (uint32_t)v[1] << 8 | (uint32_t)v[2] << 16 | (uint32_t)v[3] << 24;
}

static float little_float(const char *bytes) {
    uint32_t bits = little_uint32(bytes);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool is_ascii(const char *bytes, size_t length) {
    if (length >= HEADER &&
        (uint64_t)length == HEADER + (uint64_t)RECORD * little_uint32(bytes + 80))
        return false;
    mesh_text t = {bytes, bytes + length, 1};
    const char *from, *to;
    if (!mesh_text_word(&t, &from, &to) || !mesh_word_is(from, to, "solid")) return false;
    return !memchr(bytes, 0, length < 4096 ? length : 4096);
}

/* Three new vertices and the triangle of them; equal ones are welded later. */
static spate_status add_triangle(mesh_builder *b, int64_t line, double x[3][3]) {
    int32_t fan[2];
    for (int i = 0; i < 3; i++) {
        TRY(mesh_add_vertex(b, line, x[i]));
        TRY(mesh_add_corner(b, line, i, b->vertex_count - 1, b->vertex_count, fan));
    }
    return SPATE_OK;
}

static spate_status read_binary(mesh_builder *b, const char *bytes, size_t length) {
    if (length < HEADER)
        return mesh_fail(b, 0, "is not a mesh, or an STL file that is cut short to %zu bytes",
                         length);
    uint64_t count = little_uint32(bytes + 80), there = (length - HEADER) / RECORD;
    if (there < count)
        return mesh_fail(b, 0,
                         "is not a mesh, or an STL file that is cut short: %llu of %llu "
                         "triangles are there; write it anew",
                         (unsigned long long)there, (unsigned long long)count);
    const char *at = bytes + HEADER;
    for (uint64_t i = 0; i < count; i++, at += RECORD) {
        double x[3][3];
        for (int k = 0; k < 9; k++) x[k / 3][k % 3] = little_float(at + 12 + 4 * k);
        TRY(add_triangle(b, 0, x));
    }
    return SPATE_OK;
}

static spate_status read_corner(mesh_builder *b, mesh_text *t, double x[3]) {
    const char *from, *to;
    for (int i = 0; i < 3; i++)
        if (!mesh_text_word(t, &from, &to) ||
            !text_to_double(b->ctx, from, (size_t)(to - from), &x[i]))
            return mesh_fail(b, t->line, "a vertex is three numbers, as in `vertex 0.5 1 -2`");
    return SPATE_OK;
}

/* Solids one after another; the name behind "solid" and "endsolid" ends with the line. */
static spate_status read_ascii(mesh_builder *b, const char *bytes, size_t length) {
    mesh_text t = {bytes, bytes + length, 1};
    const char *from, *to;
    double x[3][3];
    int corners = 0;
    bool in_solid = false;
    while (mesh_text_word(&t, &from, &to)) {
        bool ends = mesh_word_is(from, to, "endsolid");
        if (ends || mesh_word_is(from, to, "solid")) {
            mesh_text_line(&t, &from, &to);
            in_solid = !ends;
        } else if (mesh_word_is(from, to, "vertex")) {
            if (corners == 3) return mesh_fail(b, t.line, "a facet with more than three corners");
            TRY(read_corner(b, &t, x[corners++]));
        } else if (mesh_word_is(from, to, "endfacet")) {
            if (corners != 3) return mesh_fail(b, t.line, "a facet with %d corners", corners);
            TRY(add_triangle(b, t.line, x));
            corners = 0;
        }
    }
    if (in_solid || corners)
        return mesh_fail(b, t.line, "the file is cut short: there is no `endsolid`");
    return SPATE_OK;
}

spate_status mesh_read_stl(arena *a, const char *name, const char *bytes, size_t length, mesh *m) {
    mesh_builder b = {.ctx = a->ctx, .name = name};
    spate_status status =
        is_ascii(bytes, length) ? read_ascii(&b, bytes, length) : read_binary(&b, bytes, length);
    return mesh_builder_finish(&b, status, a, m);
}
