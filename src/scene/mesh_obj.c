/* Wavefront OBJ: vertices, faces and, where they are asked for, lines; all else is skipped. */
#include "core/text.h"
#include "core/vec.h"
#include "scene/mesh_build.h"

static const char *skip_blanks(const char *at, const char *to) {
    while (at < to && (*at == ' ' || *at == '\t')) at++;
    return at;
}

/* What follows a keyword of one letter, or NULL when the line is another one. */
static const char *after_keyword(const char *at, const char *to, char keyword) {
    at = skip_blanks(at, to);
    if (to - at < 2 || at[0] != keyword || (at[1] != ' ' && at[1] != '\t')) return NULL;
    return at + 1;
}

static spate_status read_vertex(mesh_builder *b, int64_t line, const char *at, const char *to) {
    double x[3];
    for (int i = 0; i < 3; i++)
        if (!text_scan_double(b->ctx, &at, to, &x[i]))
            return mesh_fail(b, line, "a vertex is three numbers, as in `v 0.5 1 -2`");
    return mesh_add_vertex(b, line, x);
}

/* A corner "7", "7/1", "7//3" or "7/1/3", of a face `f` or a line `l`; only the first index counts.
 * A negative one counts back from the last vertex so far. */
static spate_status read_index(mesh_builder *b, int64_t line, char of, const char **at,
                               const char *to, int64_t *out) {
    const char *what = of == 'f' ? "face" : "line";
    int64_t index;
    if (!text_scan_int64(at, to, &index))
        return mesh_fail(b, line, "a %s is a list of vertex numbers, as in `%c 1 2 3`", what, of);
    while (*at < to && **at != ' ' && **at != '\t') ++*at;
    if (index == 0)
        return mesh_fail(b, line, "%s refers to vertex 0; they count from 1, the file is damaged",
                         what);
    if (index < -b->vertex_count)
        return mesh_fail(b, line, "%s refers to vertex %lld, but only %lld come before it", what,
                         (long long)index, (long long)b->vertex_count);
    *out = index < 0 ? b->vertex_count + index : index - 1;
    return SPATE_OK;
}

static spate_status read_face(mesh_builder *b, int64_t line, int64_t total, const char *at,
                              const char *to) {
    int32_t fan[2];
    int64_t corners = 0, vertex;
    while ((at = skip_blanks(at, to)) < to && *at != '#') {
        TRY(read_index(b, line, 'f', &at, to, &vertex));
        TRY(mesh_add_corner(b, line, corners++, vertex, total, fan));
    }
    if (corners < 3)
        return mesh_fail(b, line, "face has %lld corners; three are needed", (long long)corners);
    return SPATE_OK;
}

static spate_status read_polyline(mesh_builder *b, int64_t line, int64_t total, const char *at,
                                  const char *to) {
    int64_t vertex, before = 0, count = 0;
    while ((at = skip_blanks(at, to)) < to && *at != '#') {
        TRY(read_index(b, line, 'l', &at, to, &vertex));
        if (count++) TRY(mesh_add_edge(b, line, before, vertex, total));
        before = vertex;
    }
    if (count < 2)
        return mesh_fail(b, line, "line has %lld vertices; two are needed", (long long)count);
    return SPATE_OK;
}

static spate_status read_lines(mesh_builder *b, const char *bytes, size_t length) {
    const char *from, *to, *at;
    int64_t total = 0; /* faces may refer to vertices further down */
    for (mesh_text t = {bytes, bytes + length, 0}; mesh_text_line(&t, &from, &to);)
        total += after_keyword(from, to, 'v') != NULL;
    for (mesh_text t = {bytes, bytes + length, 0}; mesh_text_line(&t, &from, &to);) {
        if ((at = after_keyword(from, to, 'v')))
            TRY(read_vertex(b, t.line, at, to));
        else if ((at = after_keyword(from, to, 'f')))
            TRY(read_face(b, t.line, total, at, to));
        else if (b->lines && (at = after_keyword(from, to, 'l')))
            TRY(read_polyline(b, t.line, total, at, to));
    }
    return SPATE_OK;
}

spate_status mesh_read_obj(arena *a, const char *name, const char *bytes, size_t length, mesh *m) {
    mesh_builder b = {.ctx = a->ctx, .name = name};
    return mesh_builder_finish(&b, read_lines(&b, bytes, length), a, m);
}

spate_status mesh_read_obj_lines(arena *a, const char *name, const char *bytes, size_t length,
                                 mesh *m) {
    mesh_builder b = {.ctx = a->ctx, .name = name, .lines = true};
    return mesh_builder_finish(&b, read_lines(&b, bytes, length), a, m);
}
