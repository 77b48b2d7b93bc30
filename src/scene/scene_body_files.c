/* Reading bodies from mesh files: finite elements, cloth and strands, and where they are put. */
#include "core/file.h"
#include "core/text.h"
#include "core/vec.h"
#include "scene/element_file.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"
#include "scene/strands.h"

#include <stdio.h>
#include <string.h>

static const field body_file_fields[] = {
    PART_FIELD(
        "file", "word", false,
        "the mesh, instead of a generated one, in the scene's folder or below it. fe: Gmsh .msh "
        "(2.2, 4.1), TetGen or Triangle .ele beside its .node, VTK .vtk (legacy), all as text; in "
        "2D also OBJ and PLY. cloth: OBJ, PLY, and triangles of the former. strands: OBJ with "
        "lines (`l 1 2 3`), PLY with edges, or Houdini's classic .bgeo with open polygons; each "
        "chain of edges is a strand, from the end that "
        "comes first in the file"),
    NUMBER_FIELD(body_file, scale, "", 1, SMALLEST, ANY_MAX, "of the file's lengths"),
    PART_FIELD("rotate", "list", false,
               "after that, about the origin: 2D degrees, 3D [x, y, z, degrees]"),
    VECTOR_FIELD(body_file, translate, "m", 0, ANY_MIN, ANY_MAX, "after that"),
};
const field_table scene_body_file_table = FIELD_TABLE(
    "bodies.MESH.file",
    "Fields that fe, cloth and strands have besides their own, for a mesh that was made "
    "elsewhere. Its vertices keep their order.",
    body_file_fields, body_file);

/* ---- Parsers --------------------------------------------------------------------------------- */

static spate_status parse_elements(arena *a, const char *name, const char *bytes, size_t length,
                                   mesh_kind kind, int dim, void **out) {
    element_file f = {.corners = dim + 1};
    mesh_body *m = arena_take(a, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    *out = m;
    TRY(elements_read(a, name, bytes, length, &f));
    return elements_check(a, name, kind, dim, &f, m);
}

static spate_status parse_fe_2d(arena *a, const char *name, const char *bytes, size_t length,
                                void **out) {
    return parse_elements(a, name, bytes, length, MESH_FE, 2, out);
}

static spate_status parse_fe_3d(arena *a, const char *name, const char *bytes, size_t length,
                                void **out) {
    return parse_elements(a, name, bytes, length, MESH_FE, 3, out);
}

static spate_status parse_cloth(arena *a, const char *name, const char *bytes, size_t length,
                                void **out) {
    return parse_elements(a, name, bytes, length, MESH_CLOTH, 2, out);
}

static spate_status parse_lines(arena *a, const char *name, const char *bytes, size_t length,
                                void **out) {
    mesh lines = {.vertex_count = 0};
    mesh_body *m = arena_take(a, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    *out = m;
    TRY(mesh_read_lines(a, name, bytes, length, &lines));
    return mesh_of_lines(a, name, &lines, m);
}

/* ---- Two files ------------------------------------------------------------------------------- */

typedef struct two_files {
    element_file f;
    mesh_body m;
} two_files;

static spate_status parse_nodes(arena *a, const char *name, const char *bytes, size_t length,
                                void **out) {
    two_files *t = *out;
    return elements_read_nodes(a, name, bytes, length, &t->f);
}

static spate_status parse_ele(arena *a, const char *name, const char *bytes, size_t length,
                              void **out) {
    two_files *t = *out;
    TRY(elements_read_ele(a, name, bytes, length, &t->f));
    return elements_check(a, name, MESH_FE, t->f.corners - 1, &t->f, &t->m);
}

/* x.node, then x.ele. */
static spate_status read_two(reader *r, const yaml_value *v, const char *file, void **out) {
    char nodes[PATH_SIZE];
    two_files *t = arena_take(r->arena, 1, sizeof *t);
    if (!t) return SPATE_OUT_OF_MEMORY;
    if (strlen(file) > PATH_SIZE - 8) return reader_fail(r, v, "the name is too long");
    snprintf(nodes, sizeof nodes, "%.*s.node", (int)strlen(file) - 4, file);
    t->f.corners = r->dim + 1;
    TRY(scene_read_numbered_file(r, v, nodes, parse_nodes, t));
    TRY(scene_read_numbered_file(r, v, file, parse_ele, t));
    *out = &t->m;
    return SPATE_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

static spate_status read_content(reader *r, const yaml_value *v, mesh_kind kind, void **out) {
    const yaml_value *given = yaml_find(v, "file");
    const file_parser of[] = {[MESH_FE] = r->dim == 2 ? parse_fe_2d : parse_fe_3d,
                              [MESH_CLOTH] = parse_cloth,
                              [MESH_STRANDS] = parse_lines};
    if (kind == MESH_FE && given->kind == YAML_WORD &&
        text_ends_with(given->text, strlen(given->text), ".ele")) {
        int back = reader_enter(r, "file");
        TRY(read_two(r, given, given->text, out));
        reader_leave(r, back);
        return SPATE_OK;
    }
    return scene_read_file(r, v, false, of[kind], out);
}

spate_status scene_read_body_file(reader *r, const yaml_value *v, mesh_kind kind,
                                  const body_file *at, mesh_body *out) {
    const yaml_value *rotate = yaml_find(v, "rotate");
    double turn[3][3], axis[3], angle;
    void *content;
    TRY(read_content(r, v, kind, &content));
    *out = *(const mesh_body *)content;
    mat_identity(turn);
    if (rotate) {
        int back = reader_enter(r, "rotate");
        TRY(scene_read_rotation(r, rotate, axis, &angle));
        reader_leave(r, back);
        mat_rotation(turn, axis, angle);
    }
    double(*x)[3] = arena_take(r->arena, (size_t)out->vertex_count + 1, sizeof *x);
    if (!x) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < out->vertex_count; i++) {
        double turned[3];
        mat_apply(turned, (const double(*)[3])turn, out->vertices[i]);
        vec_add_scaled(x[i], at->translate, at->scale, turned);
        if (r->dim == 2) x[i][2] = 0;
    }
    out->vertices = x; /* the file's own stay for others that name it */
    out->spacing *= at->scale;
    return SPATE_OK;
}
