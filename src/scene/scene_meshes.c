/* Reading bodies as meshes: their tables, and the checks that a table cannot express. */
#include "core/vec.h"
#include "scene/fracture.h"
#include "scene/scene_mesh_fields.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

static const char *const diagonal_words[] = {"alternating", "one", NULL};
static const char *const bending_words[] = {"shape_operator", "hinge", NULL};
const char *const scene_step_words[] = {"explicit", "implicit", NULL};

/* fe_fields and what is made of them. */
typedef struct fe_given {
    double spacing;
    int diagonals;
    stepping_fields stepping;
    int64_t pieces;
} fe_given;

static const field fe_table_fields[] = {
    SPACING_FIELD(fe_given, "half of domain.dx"),
    CHOICE_FIELD(fe_given, diagonals, DIAGONALS_ALTERNATING, diagonal_words,
                 "how the squares of a 2D box are cut into triangles; with `one` diagonal they are "
                 "stiffer against bending"),
    INTEGER_FIELD(fe_given, pieces, 1, 1, PIECES_MOST,
                  "it begins broken: cells around this many points of it at random, which share "
                  "no vertex; another `seed` of the scene breaks it otherwise"),
    STEP_FIELDS(fe_given, STEP_EXPLICIT),
};
const field_table scene_fe_table =
    FIELD_TABLE("bodies.fe",
                "The body is a mesh of finite elements that fills its shape, triangles or "
                "tetrahedra (solver mpm; models neo_hookean and fixed_corotated). Its vertices are "
                "the particles. It meets others, and itself, on the grid only.",
                fe_table_fields, fe_given);

static const field cloth_table_fields[] = {
    VECTOR_FIELD(cloth_fields, corner, "m", 0, ANY_MIN, ANY_MAX,
                 "a corner of the cloth; needed, but with file"),
    VECTOR_FIELD(cloth_fields, along, "m", 0, ANY_MIN, ANY_MAX, "the side from there; likewise"),
    VECTOR_FIELD(cloth_fields, across, "m", 0, ANY_MIN, ANY_MAX, "the other side; likewise"),
    SPACING_FIELD(cloth_fields, "domain.dx"),
    REQUIRED_NUMBER(cloth_fields, thickness, "m", SMALLEST, ANY_MAX,
                    "decides weight, stretch and bending, with the material's moduli"),
    CHOICE_FIELD(cloth_fields, diagonals, DIAGONALS_ONE, diagonal_words,
                 "how squares are cut into triangles; bending is right in every direction with "
                 "`one`"),
    CHOICE_FIELD(cloth_fields, bending, BENDING_SHAPE_OPERATOR, bending_words,
                 "a plate's bending, or that of single hinges, for comparison"),
    STEP_FIELDS(cloth_fields, STEP_EXPLICIT),
};
const field_table scene_cloth_table =
    FIELD_TABLE("bodies.cloth",
                "The body is a rectangle of cloth, or the surface of a file, instead of a shape "
                "(3D; solver mpm; models "
                "neo_hookean and fixed_corotated, of which it takes density, Young's modulus and "
                "Poisson's ratio).",
                cloth_table_fields, cloth_fields);

/* ---- Checks ---------------------------------------------------------------------------------- */

spate_status scene_check_side(reader *r, const yaml_value *v, const char *name,
                              const double side[3]) {
    if (vec_length(side) > 0 && isfinite(vec_length(side))) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, name), name, "has no length; give a vector");
}

spate_status scene_check_sides(reader *r, const yaml_value *v, const double along[3],
                               const double across[3]) {
    double normal[3];
    TRY(scene_check_side(r, v, "along", along));
    TRY(scene_check_side(r, v, "across", across));
    vec_cross(normal, along, across);
    if (vec_length(normal) > 1e-6 * vec_length(along) * vec_length(across)) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, "across"), "across",
                             "runs along the other side; two directions are needed");
}

static spate_status fill_shape(reader *r, const yaml_value *v, const fe_given *given, body *b) {
    const fe_fields g = {given->spacing, given->diagonals, given->stepping};
    const bounds box = shape_bounds(b->shape, r->dim);
    for (int a = 0; a < r->dim; a++)
        if (b->shape->kind == SHAPE_POINTS || !isfinite(box.max[a] - box.min[a]))
            return reader_fail(r, v,
                               "the body's shape must be a solid of finite size, such as a "
                               "box or sphere; change it");
    TRY(mesh_from_shape(r->arena, b->shape, r->dim, &g, &b->mesh));
    b->mesh.solid = b->shape;
    return SPATE_OK;
}

static spate_status read_fe(reader *r, const yaml_value *v, body *b) {
    fe_given given;
    body_file at;
    const reader_part parts[] = {{&scene_fe_table, &given}, {&scene_body_file_table, &at}};
    TRY(reader_fields(r, v, parts, COUNT_OF(parts)));
    if (isnan(given.spacing)) given.spacing = r->scene->domain.dx / 2;
    if (yaml_find(v, "file"))
        TRY(scene_read_body_file(r, v, MESH_FE, &at, &b->mesh));
    else
        TRY(fill_shape(r, v, &given, b));
    if (b->mesh.vertices)
        TRY(mesh_break(r->arena, r->dim, given.pieces, scene_body_seed(r), &b->mesh));
    b->mesh.stepping = given.stepping;
    return SPATE_OK;
}

static spate_status make_cloth(reader *r, const yaml_value *v, const cloth_fields *g,
                               mesh_body *out) {
    const char *const needed[] = {"corner", "along", "across"};
    for (int k = 0; k < COUNT_OF(needed); k++)
        if (!yaml_find(v, needed[k]))
            return reader_fail_field(r, v, needed[k], "is missing; add it, or a file");
    TRY(scene_check_sides(r, v, g->along, g->across));
    return mesh_of_cloth(r->arena, g, out);
}

static spate_status read_cloth(reader *r, const yaml_value *v, body *b) {
    cloth_fields g;
    body_file at;
    const reader_part parts[] = {{&scene_cloth_table, &g}, {&scene_body_file_table, &at}};
    if (r->dim == 2)
        return reader_fail(r, v, "a 2D scene has no cloth; use strands, or say dimension: 3");
    TRY(reader_fields(r, v, parts, COUNT_OF(parts)));
    if (isnan(g.spacing)) g.spacing = r->scene->domain.dx;
    if (yaml_find(v, "file"))
        TRY(scene_read_body_file(r, v, MESH_CLOTH, &at, &b->mesh));
    else
        TRY(make_cloth(r, v, &g, &b->mesh));
    b->mesh.thickness = g.thickness;
    b->mesh.bending = (mesh_bending)g.bending;
    b->mesh.stepping = g.stepping;
    return SPATE_OK;
}

static spate_status check_mesh(reader *r, const yaml_value *v, const mesh_body *m) {
    const domain *d = &r->scene->domain;
    if (m->vertex_count > MESH_VERTICES_MOST)
        return reader_fail(r, v, "more than %d vertices; use a larger spacing", MESH_VERTICES_MOST);
    if (m->vertex_count == 0)
        return reader_fail(r, v, "no element fits into the shape; use a smaller spacing");
    for (int64_t i = 0; i < m->vertex_count; i++)
        for (int a = 0; a < r->dim; a++) {
            const double low = d->origin[a], high = low + d->size[a], x = m->vertices[i][a];
            if (x == high) m->vertices[i][a] = nextafter(high, low); /* the side is outside */
            if (!(x >= low && x <= high))
                return reader_fail(r, v,
                                   "vertex %lld lies outside the domain: %s is %.6g, the domain's "
                                   "from %.6g to %.6g; move the body or enlarge the domain",
                                   (long long)i, scene_axis_words[a], x, low, high);
        }
    if (m->kind != MESH_FE && m->spacing < 0.99 * d->dx)
        warn(r->ctx, "fine mesh",
             "%s: %s: edges of %.3g are shorter than a cell (%.3g): the grid does not see how "
             "neighbouring vertices move against each other; use a larger spacing or a smaller dx",
             r->scene->path, r->path, m->spacing, d->dx);
    return SPATE_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

typedef struct mesh_reader {
    const char *name;
    spate_status (*read)(reader *r, const yaml_value *v, body *b);
    bool of_shape;
} mesh_reader;

static const mesh_reader mesh_readers[] = {
    {"fe", read_fe, true}, {"cloth", read_cloth, false}, {"strands", scene_read_strands, false}};

static const mesh_reader *kind_of(const yaml_value *mapping, int skip) {
    for (int k = 0; k < COUNT_OF(mesh_readers); k++)
        if (yaml_find(mapping, mesh_readers[k].name) && skip-- == 0) return &mesh_readers[k];
    return NULL;
}

bool scene_body_has_shape(const yaml_value *mapping) {
    const mesh_reader *kind = kind_of(mapping, 0);
    return !kind || (kind->of_shape && !yaml_find(yaml_find(mapping, kind->name), "file"));
}

spate_status scene_read_mesh(reader *r, const yaml_value *mapping, body *b) {
    const mesh_reader *kind = kind_of(mapping, 0), *second = kind_of(mapping, 1);
    const yaml_value *hold = yaml_find(mapping, "hold");
    if (!kind) return hold ? scene_read_holds(r, hold, b) : SPATE_OK;
    const yaml_value *v = yaml_find(mapping, kind->name);
    if (second)
        return reader_fail_field(r, reader_at(mapping, second->name), second->name,
                                 "stands beside %s; make two bodies of it", kind->name);
    if (!scene_body_has_shape(mapping) && yaml_find(mapping, "shape"))
        return reader_fail_field(r, reader_at(mapping, "shape"), "shape",
                                 "has no meaning beside %s%s; remove one of them", kind->name,
                                 kind->of_shape ? ".file" : "");
    int back = reader_enter(r, kind->name);
    if (!r->scene->solver->meshes)
        return reader_fail(r, v, "solver %s does not know meshes; use solver.type mpm",
                           r->scene->solver->name);
    if (b->at_rest) return reader_fail(r, v, "a mesh cannot begin in balance; leave out at_rest");
    TRY(kind->read(r, v, b));
    TRY(check_mesh(r, v, &b->mesh));
    reader_leave(r, back);
    b->shape = shape_create(r->arena, SHAPE_POINTS);
    if (!b->shape) return SPATE_OUT_OF_MEMORY;
    b->shape->points = b->mesh.vertices;
    b->shape->point_count = b->mesh.vertex_count;
    return hold ? scene_read_holds(r, hold, b) : SPATE_OK;
}
