/* Reading bodies as meshes: their tables, and the checks that a table cannot express. */
#include "core/vec.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

static const char *const diagonal_words[] = {"alternating", "one", NULL};
static const char *const bending_words[] = {"shape_operator", "hinge", NULL};

static const char *const step_words[] = {"explicit", "implicit", NULL};

/* `type_` has the fields as its member `stepping`. */
#define STEP_FIELDS(type_, default_)                                                              \
    {.name = "step",                                                                              \
     .type = FIELD_CHOICE,                                                                        \
     .offset = offsetof(type_, stepping.step),                                                    \
     .unit = "",                                                                                  \
     .fallback = default_,                                                                        \
     .choices = step_words,                                                                       \
     .help = "`implicit`: a system is solved for the elements' forces at the end of the step, "   \
             "and stiffness does not limit it; `explicit`: forces at its beginning"},             \
    {                                                                                             \
        .name = "damping", .type = FIELD_NUMBER, .offset = offsetof(type_, stepping.damping),     \
        .unit = "", .fallback = 1, .min = 0, .max = 1,                                            \
        .help = "of implicit steps: 1 is backward Euler, which damps what oscillates fast; 0 "    \
                "is of second order and does not, but has no reserve where steps are far beyond " \
                "the explicit limit"                                                              \
    }

#define SPACING_FIELD(type_, default_)                        \
    NUMBER_FIELD(type_, spacing, "m", NAN, SMALLEST, ANY_MAX, \
                 "length of the elements' edges, about; default: " default_)

static const field fe_table_fields[] = {
    SPACING_FIELD(fe_fields, "half of domain.dx"),
    CHOICE_FIELD(fe_fields, diagonals, DIAGONALS_ALTERNATING, diagonal_words,
                 "how the squares of a 2D box are cut into triangles; with `one` diagonal they are "
                 "stiffer against bending"),
    STEP_FIELDS(fe_fields, STEP_EXPLICIT),
};
const field_table scene_fe_table =
    FIELD_TABLE("bodies.fe",
                "The body is a mesh of finite elements that fills its shape, triangles or "
                "tetrahedra (solver mpm; models neo_hookean and fixed_corotated). Its vertices are "
                "the particles. It meets others, and itself, on the grid only.",
                fe_table_fields, fe_fields);

static const field cloth_table_fields[] = {
    REQUIRED_VECTOR(cloth_fields, corner, "m", ANY_MIN, ANY_MAX, "a corner of the cloth"),
    REQUIRED_VECTOR(cloth_fields, along, "m", ANY_MIN, ANY_MAX, "the side from there"),
    REQUIRED_VECTOR(cloth_fields, across, "m", ANY_MIN, ANY_MAX, "the other side"),
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
                "The body is a rectangle of cloth, instead of a shape (3D; solver mpm; models "
                "neo_hookean and fixed_corotated, of which it takes density, Young's modulus and "
                "Poisson's ratio).",
                cloth_table_fields, cloth_fields);

static const field strands_table_fields[] = {
    REQUIRED_VECTOR(strands_fields, root, "m", ANY_MIN, ANY_MAX, "the root of the first strand"),
    REQUIRED_VECTOR(strands_fields, direction, "m", ANY_MIN, ANY_MAX, "from a root to its tip"),
    VECTOR_FIELD(strands_fields, row, "m", 0, ANY_MIN, ANY_MAX,
                 "from the first root to the last one of a row"),
    VECTOR_FIELD(strands_fields, rows, "m", 0, ANY_MIN, ANY_MAX,
                 "from the first root to that of the last row"),
    {.name = "count",
     .type = FIELD_INTEGER,
     .offset = offsetof(strands_fields, count),
     .unit = "",
     .fallback = 1,
     .min = 1,
     .max = 1e8,
     .help = "strands in a row"},
    {.name = "row_count",
     .type = FIELD_INTEGER,
     .offset = offsetof(strands_fields, count) + sizeof(int64_t),
     .unit = "",
     .fallback = 1,
     .min = 1,
     .max = 1e8,
     .help = "rows"},
    SPACING_FIELD(strands_fields, "domain.dx"),
    REQUIRED_NUMBER(strands_fields, radius, "m", SMALLEST, ANY_MAX, "of the round cross-section"),
    NUMBER_FIELD(strands_fields, curl_radius, "m", 0, 0, ANY_MAX,
                 "strands are helices of this radius, in 2D waves; 0: straight"),
    NUMBER_FIELD(strands_fields, curl_length, "m", NAN, SMALLEST, ANY_MAX,
                 "length along the strand of a turn; with curl_radius"),
    STEP_FIELDS(strands_fields, STEP_IMPLICIT),
};
const field_table scene_strands_table = FIELD_TABLE(
    "bodies.strands",
    "The body is a number of strands, instead of a shape (solver mpm; models neo_hookean and "
    "fixed_corotated, of which they take density, Young's modulus and Poisson's ratio). They "
    "resist stretch, bending and twist.",
    strands_table_fields, strands_fields);

static const field hold_fields[] = {
    PART_FIELD("shape", "mapping", true, "the vertices that begin in it are held; see shapes"),
    PART_FIELD("motion", "mapping", false, "how they move; see motion. Default: not at all"),
    NUMBER_FIELD(mesh_hold, until, "s", HUGE_VAL, 0, ANY_MAX, "when they are let go"),
};
const field_table scene_hold_table =
    FIELD_TABLE("bodies.hold",
                "Each entry holds vertices of a body with fe, cloth or strands. Of a strand whose "
                "first or last two vertices are held, the end does not turn either: it is clamped.",
                hold_fields, mesh_hold);

/* ---- Checks ---------------------------------------------------------------------------------- */

static spate_status check_side(reader *r, const yaml_value *v, const char *name,
                               const double side[3]) {
    if (vec_length(side) > 0 && isfinite(vec_length(side))) return SPATE_OK;
    return reader_fail_field(r, yaml_find(v, name), name, "has no length; give a vector");
}

static spate_status check_cloth(reader *r, const yaml_value *v, const cloth_fields *g) {
    double normal[3];
    TRY(check_side(r, v, "along", g->along));
    TRY(check_side(r, v, "across", g->across));
    vec_cross(normal, g->along, g->across);
    if (vec_length(normal) > 1e-6 * vec_length(g->along) * vec_length(g->across)) return SPATE_OK;
    return reader_fail_field(r, yaml_find(v, "across"), "across",
                             "runs along the other side; a cloth needs two directions");
}

static spate_status check_strands(reader *r, const yaml_value *v, strands_fields *g) {
    TRY(check_side(r, v, "direction", g->direction));
    if (g->count[0] > 1) TRY(check_side(r, v, "row", g->row));
    if (g->count[1] > 1) TRY(check_side(r, v, "rows", g->rows));
    if (g->curl_radius > 0 && isnan(g->curl_length))
        return reader_fail_field(r, yaml_find(v, "curl_radius"), "curl_radius",
                                 "needs curl_length, the length of a turn");
    if (vec_length(g->direction) < 1.5 * g->spacing)
        return reader_fail_field(r, yaml_find(v, "direction"), "direction",
                                 "is %.4g long, a single segment of %.4g, which cannot bend; use a "
                                 "smaller spacing",
                                 vec_length(g->direction), g->spacing);
    return SPATE_OK;
}

static spate_status read_fe(reader *r, const yaml_value *v, body *b) {
    fe_fields g;
    TRY(reader_table(r, v, &scene_fe_table, &g));
    if (isnan(g.spacing)) g.spacing = r->scene->domain.dx / 2;
    const bounds box = shape_bounds(b->shape, r->dim);
    for (int a = 0; a < r->dim; a++)
        if (b->shape->kind == SHAPE_POINTS || !isfinite(box.max[a] - box.min[a]))
            return reader_fail(r, v,
                               "the body's shape must be a solid of finite size, such as a "
                               "box or sphere; change it");
    TRY(mesh_from_shape(r->arena, b->shape, r->dim, &g, &b->mesh));
    b->mesh.solid = b->shape;
    b->mesh.stepping = g.stepping;
    return SPATE_OK;
}

static spate_status read_cloth(reader *r, const yaml_value *v, body *b) {
    cloth_fields g;
    if (r->dim == 2)
        return reader_fail(r, v, "a 2D scene has no cloth; use strands, or say dimension: 3");
    TRY(reader_table(r, v, &scene_cloth_table, &g));
    if (isnan(g.spacing)) g.spacing = r->scene->domain.dx;
    TRY(check_cloth(r, v, &g));
    TRY(mesh_of_cloth(r->arena, &g, &b->mesh));
    b->mesh.stepping = g.stepping;
    return SPATE_OK;
}

static spate_status read_strands(reader *r, const yaml_value *v, body *b) {
    strands_fields g;
    TRY(reader_table(r, v, &scene_strands_table, &g));
    if (isnan(g.spacing)) g.spacing = r->scene->domain.dx;
    TRY(check_strands(r, v, &g));
    TRY(mesh_of_strands(r->arena, &g, r->dim, &b->mesh));
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

static spate_status read_hold(reader *r, const yaml_value *v, const mesh_body *m, mesh_hold *h) {
    TRY(reader_table(r, v, &scene_hold_table, h));
    int back = reader_enter(r, "shape");
    const yaml_value *given = yaml_find(v, "shape"), *moves = yaml_find(v, "motion");
    TRY(scene_read_shape(r, given, &h->shape));
    int64_t held = 0;
    for (int64_t i = 0; i < m->vertex_count && h->shape->kind != SHAPE_POINTS; i++)
        held += shape_distance(h->shape, r->dim, m->vertices[i]) <= 0;
    if (held == 0)
        return reader_fail(r, given, "holds none of the body's vertices; move or enlarge it");
    reader_leave(r, back);
    if (!moves) return SPATE_OK;
    back = reader_enter(r, "motion");
    TRY(scene_read_motion(r, moves, &h->motion));
    reader_leave(r, back);
    return SPATE_OK;
}

static spate_status read_holds(reader *r, const yaml_value *v, mesh_body *m) {
    int back = reader_enter(r, "hold");
    TRY(reader_list(r, v));
    if (m->kind == MESH_NONE)
        return reader_fail(r, v,
                           "only bodies with fe, cloth or strands can be held; add one of "
                           "these, or use a collider");
    m->holds = arena_take(r->arena, (size_t)v->count + 1, sizeof *m->holds);
    if (!m->holds) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int entry = reader_enter_index(r, m->hold_count);
        TRY(read_hold(r, e->value, m, &m->holds[m->hold_count]));
        m->hold_count++;
        reader_leave(r, entry);
    }
    reader_leave(r, back);
    return SPATE_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

typedef struct mesh_reader {
    const char *name;
    spate_status (*read)(reader *r, const yaml_value *v, body *b);
    bool of_shape;
} mesh_reader;

static const mesh_reader mesh_readers[] = {
    {"fe", read_fe, true}, {"cloth", read_cloth, false}, {"strands", read_strands, false}};

static const mesh_reader *kind_of(const yaml_value *mapping, int skip) {
    for (int k = 0; k < COUNT_OF(mesh_readers); k++)
        if (yaml_find(mapping, mesh_readers[k].name) && skip-- == 0) return &mesh_readers[k];
    return NULL;
}

bool scene_body_has_shape(const yaml_value *mapping) {
    const mesh_reader *kind = kind_of(mapping, 0);
    return !kind || kind->of_shape;
}

spate_status scene_read_mesh(reader *r, const yaml_value *mapping, body *b) {
    const mesh_reader *kind = kind_of(mapping, 0), *second = kind_of(mapping, 1);
    const yaml_value *hold = yaml_find(mapping, "hold");
    if (!kind) return hold ? read_holds(r, hold, &b->mesh) : SPATE_OK;
    const yaml_value *v = yaml_find(mapping, kind->name);
    if (second)
        return reader_fail_field(r, yaml_find(mapping, second->name), second->name,
                                 "stands beside %s; make two bodies of it", kind->name);
    if (!kind->of_shape && yaml_find(mapping, "shape"))
        return reader_fail_field(r, yaml_find(mapping, "shape"), "shape",
                                 "has no meaning beside %s; remove one of them", kind->name);
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
    return hold ? read_holds(r, hold, &b->mesh) : SPATE_OK;
}
