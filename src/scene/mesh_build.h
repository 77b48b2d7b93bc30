/* What the three mesh readers share: a mesh that grows, and a cursor over text that counts lines.
 */
#ifndef SPATE_SCENE_MESH_BUILD_H
#define SPATE_SCENE_MESH_BUILD_H

#include "scene/mesh.h"

typedef struct mesh_builder {
    spate_context *ctx;
    const char *name; /* of the file, for messages */
    double (*vertices)[3];
    int64_t vertex_count, vertex_capacity;
    int32_t (*triangles)[3];
    int64_t triangle_count, triangle_capacity;
    bool lines; /* edges are wanted, and there need not be triangles */
    int32_t (*edges)[2];
    int64_t edge_count, edge_capacity;
} mesh_builder;

/* `line` 0: a binary file, which has none. */
spate_status mesh_add_vertex(mesh_builder *b, int64_t line, const double x[3]);
/* A corner of a polygon that is cut into a fan of triangles: the corners come one by one,
 * `corner` counts them from 0, fan[2] keeps the first and the one before. `of` vertices exist. */
spate_status mesh_add_corner(mesh_builder *b, int64_t line, int64_t corner, int64_t vertex,
                             int64_t of, int32_t fan[2]);
/* An edge of a polyline. */
spate_status mesh_add_edge(mesh_builder *b, int64_t line, int64_t from, int64_t to, int64_t of);
/* Hands the mesh to the arena; an empty one is an error. Frees the builder either way. */
spate_status mesh_builder_finish(mesh_builder *b, spate_status status, arena *a, mesh *m);

spate_status mesh_read_obj_lines(arena *a, const char *name, const char *bytes, size_t length,
                                 mesh *m);
spate_status mesh_read_ply_lines(arena *a, const char *name, const char *bytes, size_t length,
                                 mesh *m);

/* Of .bgeo files (mesh_bgeo.c), of which only lines are read. */
bool mesh_is_bgeo(const char *bytes, size_t length);
spate_status mesh_read_bgeo_lines(arena *a, const char *name, const char *bytes, size_t length,
                                  mesh *m);

/* A failure at a line: "name:line: ...". */
spate_status mesh_fail(const mesh_builder *b, int64_t line, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Text, line by line or word by word. */
typedef struct mesh_text {
    const char *at, *end;
    int64_t line; /* of `at`, from 1 */
} mesh_text;

/* The next line without its end: from..to. False at the end of the text. */
bool mesh_text_line(mesh_text *t, const char **from, const char **to);
/* The next word, over line ends. */
bool mesh_text_word(mesh_text *t, const char **from, const char **to);
bool mesh_word_is(const char *from, const char *to, const char *word);

#endif
