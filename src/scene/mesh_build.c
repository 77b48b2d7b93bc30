/* A mesh that grows while a file is read, and the text cursor of the readers. */
#include "scene/mesh_build.h"
#include "core/text.h"
#include "core/vec.h"
#include <string.h>

spate_status mesh_fail(const mesh_builder *b, int64_t line, const char *format, ...) {
    char message[1024];
    va_list args;
    va_start(args, format);
    text_format(b->ctx, message, sizeof message, format, args);
    va_end(args);
    if (line > 0)
        return fail(b->ctx, SPATE_BAD_INPUT, "%s:%lld: %s", b->name, (long long)line, message);
    return fail(b->ctx, SPATE_BAD_INPUT, "%s: %s", b->name, message);
}

spate_status mesh_add_vertex(mesh_builder *b, int64_t line, const double x[3]) {
    for (int i = 0; i < 3; i++)
        if (!isfinite(x[i]) || fabs(x[i]) > 1e30)
            return mesh_fail(
                b, line,
                "vertex %lld has a coordinate that is not a usable number; the file is "
                "damaged",
                (long long)b->vertex_count + 1);
    if (b->vertex_count >= INT32_MAX - 1)
        return mesh_fail(b, line, "the mesh has more than 2^31 vertices; use a coarser one");
    TRY(GROW(b->ctx, b->vertices, b->vertex_capacity, b->vertex_count + 1));
    vec_copy(b->vertices[b->vertex_count++], x);
    return SPATE_OK;
}

spate_status mesh_add_corner(mesh_builder *b, int64_t line, int64_t corner, int64_t vertex,
                             int64_t of, int32_t fan[2]) {
    if (vertex < 0 || vertex >= of || vertex > INT32_MAX - 1)
        return mesh_fail(b, line, "face refers to vertex %lld of %lld; the file is damaged",
                         (long long)vertex + 1, (long long)of);
    if (corner >= 2) {
        /* 2^29 triangles have 3 * 2^29 corners, the most that 32-bit indices can count */
        if (b->triangle_count >= INT32_MAX / 4)
            return mesh_fail(b, line, "the mesh has more than 2^29 triangles; use a coarser one");
        TRY(GROW(b->ctx, b->triangles, b->triangle_capacity, b->triangle_count + 1));
        int32_t *t = b->triangles[b->triangle_count++];
        t[0] = fan[0], t[1] = fan[1], t[2] = (int32_t)vertex;
    }
    fan[corner > 0] = (int32_t)vertex;
    return SPATE_OK;
}

spate_status mesh_add_edge(mesh_builder *b, int64_t line, int64_t from, int64_t to, int64_t of) {
    const int64_t worse = from < 0 || from >= of ? from : to;
    if (worse < 0 || worse >= of || worse > INT32_MAX - 1)
        return mesh_fail(b, line, "line refers to vertex %lld of %lld; the file is damaged",
                         (long long)worse + 1, (long long)of);
    TRY(GROW(b->ctx, b->edges, b->edge_capacity, b->edge_count + 1));
    b->edges[b->edge_count][0] = (int32_t)from, b->edges[b->edge_count][1] = (int32_t)to;
    b->edge_count++;
    return SPATE_OK;
}

static spate_status hand_over(mesh_builder *b, arena *a, mesh *m) {
    if (b->vertex_count == 0) return mesh_fail(b, 0, "the mesh has no vertices");
    if (b->lines && b->edge_count == 0)
        return mesh_fail(b, 0,
                         "the file has no lines; strands are read from `l 1 2 3` of OBJ, the "
                         "edges of PLY and the open polygons of .bgeo");
    if (!b->lines && b->triangle_count == 0)
        return mesh_fail(b, 0, "the mesh has no triangles; a surface is needed, not points alone");
    double(*vertices)[3] = arena_take(a, (size_t)b->vertex_count, sizeof *vertices);
    int32_t(*triangles)[3] = arena_take(a, (size_t)b->triangle_count + 1, sizeof *triangles);
    int32_t(*edges)[2] = arena_take(a, (size_t)b->edge_count + 1, sizeof *edges);
    if (!vertices || !triangles || !edges) return SPATE_OUT_OF_MEMORY;
    memcpy(vertices, b->vertices, (size_t)b->vertex_count * sizeof *vertices);
    for (int64_t t = 0; t < b->triangle_count; t++)
        memcpy(triangles[t], b->triangles[t], sizeof triangles[t]);
    for (int64_t e = 0; e < b->edge_count; e++) memcpy(edges[e], b->edges[e], sizeof edges[e]);
    *m = (mesh){.vertices = vertices,
                .vertex_count = b->vertex_count,
                .triangles = triangles,
                .triangle_count = b->triangle_count,
                .edges = edges,
                .edge_count = b->edge_count};
    return SPATE_OK;
}

spate_status mesh_builder_finish(mesh_builder *b, spate_status status, arena *a, mesh *m) {
    if (status == SPATE_OK) status = hand_over(b, a, m);
    give(b->ctx, b->vertices);
    give(b->ctx, b->triangles);
    give(b->ctx, b->edges);
    return status;
}

bool mesh_text_line(mesh_text *t, const char **from, const char **to) {
    if (t->at >= t->end) return false;
    const char *stop = memchr(t->at, '\n', (size_t)(t->end - t->at));
    *from = t->at;
    *to = stop ? stop : t->end;
    t->at = stop ? stop + 1 : t->end;
    t->line++;
    if (*to > *from && (*to)[-1] == '\r') (*to)--;
    return true;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool mesh_text_word(mesh_text *t, const char **from, const char **to) {
    for (; t->at < t->end && is_space(*t->at); t->at++) t->line += *t->at == '\n';
    *from = t->at;
    while (t->at < t->end && !is_space(*t->at)) t->at++;
    *to = t->at;
    return *to > *from;
}

bool mesh_word_is(const char *from, const char *to, const char *word) {
    size_t n = strlen(word);
    return (size_t)(to - from) == n && !memcmp(from, word, n);
}
