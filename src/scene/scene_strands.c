/* Reading strands: in rows, as a brush, as hair or from a file. */
#include "scene/strands.h"

#include "core/random.h"
#include "core/vec.h"
#include "scene/scene_mesh_fields.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#define NUMBER_OF(type_, name_, member_, default_, help_)                                       \
    {                                                                                           \
        .name = (name_), .type = FIELD_INTEGER, .offset = offsetof(type_, member_), .unit = "", \
        .fallback = (default_), .min = (default_), .max = 1e8, .help = (help_)                  \
    }
#define VARY_FIELD(type_) \
    NUMBER_FIELD(type_, vary, "", 0, 0, 0.9, "share of its length by which a strand may be shorter")

static const field strands_table_fields[] = {
    VECTOR_FIELD(strands_fields, root, "m", 0, ANY_MIN, ANY_MAX,
                 "in rows: the root of the first strand"),
    VECTOR_FIELD(strands_fields, direction, "m", 0, ANY_MIN, ANY_MAX,
                 "in rows: from a root to its tip"),
    VECTOR_FIELD(strands_fields, row, "m", 0, ANY_MIN, ANY_MAX,
                 "from the first root to the last one of a row"),
    VECTOR_FIELD(strands_fields, rows, "m", 0, ANY_MIN, ANY_MAX,
                 "from the first root to that of the last row"),
    NUMBER_OF(strands_fields, "count", count[0], 1, "strands in a row"),
    NUMBER_OF(strands_fields, "row_count", count[1], 1, "rows"),
    PART_FIELD("brush", "mapping", false, "instead of rows; see bodies.strands.brush"),
    PART_FIELD("hair", "mapping", false, "instead of rows; see bodies.strands.hair"),
    SPACING_FIELD(strands_fields, "domain.dx; not with file"),
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

static const field brush_table_fields[] = {
    REQUIRED_VECTOR(brush_fields, corner, "m", ANY_MIN, ANY_MAX, "of the area that roots are on"),
    REQUIRED_VECTOR(brush_fields, along, "m", ANY_MIN, ANY_MAX, "a side of it"),
    REQUIRED_VECTOR(brush_fields, across, "m", ANY_MIN, ANY_MAX, "the other side"),
    REQUIRED_VECTOR(brush_fields, direction, "m", ANY_MIN, ANY_MAX, "from a root to its tip"),
    NUMBER_OF(brush_fields, "count", count, 1, "strands"),
    NUMBER_OF(brush_fields, "tufts", tufts, 0,
              "tufts that they are in; 0: they are spread over the area"),
    NUMBER_FIELD(brush_fields, tuft_radius, "m", NAN, SMALLEST, ANY_MAX, "of a tuft's roots"),
    NUMBER_FIELD(brush_fields, spread, "degree", 0, 0, 80, "the most that a strand leans"),
    VARY_FIELD(brush_fields),
};
const field_table scene_brush_table =
    FIELD_TABLE("bodies.strands.brush",
                "Roots all over a parallelogram, at random but evenly (blue noise), or in tufts "
                "that are spread so (3D). Where strands curl, each begins at an angle of its own.",
                brush_table_fields, brush_fields);

static const field hair_table_fields[] = {
    PART_FIELD("on", "mapping", true, "the solid on whose surface roots are; see shapes"),
    PART_FIELD("within", "mapping", false, "roots are only in this shape; default: anywhere"),
    NUMBER_OF(hair_fields, "count", count, 0, "strands; or give density"),
    NUMBER_FIELD(hair_fields, density, "1/m^2", NAN, SMALLEST, ANY_MAX, "strands an area"),
    REQUIRED_NUMBER(hair_fields, length, "m", SMALLEST, ANY_MAX, "of a strand, before it curls"),
    VARY_FIELD(hair_fields),
    VECTOR_FIELD(hair_fields, direction, "", 0, ANY_MIN, ANY_MAX,
                 "where it is combed to, of any length; needed with lean and comb"),
    NUMBER_FIELD(hair_fields, lean, "", 0, 0, 1,
                 "how much it follows direction at the root; 0: along the surface's normal"),
    NUMBER_FIELD(hair_fields, comb, "", NAN, 0, 1, "the same at the tip; default: lean"),
    NUMBER_FIELD(hair_fields, gap, "m", NAN, 0, ANY_MAX,
                 "distance from the surface that it is combed around at; default: half of "
                 "domain.dx"),
};
const field_table scene_hair_table =
    FIELD_TABLE("bodies.strands.hair",
                "Roots on the surface of a shape, at random but evenly (blue noise); strands grow "
                "from there, and around the shape, never through it (3D). Where they curl, each "
                "begins at an angle of its own.",
                hair_table_fields, hair_fields);

/* ---- Checks ---------------------------------------------------------------------------------- */

static spate_status check_length(reader *r, const yaml_value *v, const char *name, double length,
                                 double spacing) {
    if (!(length >= 1.5 * spacing))
        return reader_fail_field(r, reader_at(v, name), name,
                                 "is %.4g long, a single segment of %.4g, which cannot bend; use a "
                                 "smaller spacing",
                                 length, spacing);
    return SPATE_OK;
}

static spate_status read_rows(reader *r, const yaml_value *v, const strands_fields *g,
                              mesh_body *out) {
    const char *const needed[] = {"root", "direction"};
    for (int k = 0; k < COUNT_OF(needed); k++)
        if (!yaml_find(v, needed[k]))
            return reader_fail_field(r, v, needed[k],
                                     "is missing; add it, or a brush, hair or file");
    TRY(scene_check_side(r, v, "direction", g->direction));
    if (g->count[0] > 1) TRY(scene_check_side(r, v, "row", g->row));
    if (g->count[1] > 1) TRY(scene_check_side(r, v, "rows", g->rows));
    TRY(check_length(r, v, "direction", vec_length(g->direction), g->spacing));
    return mesh_of_strands(r->arena, g, r->dim, out);
}

uint64_t scene_body_seed(const reader *r) {
    return random_bits(r->scene->seed, (uint64_t)r->scene->body_count, 40);
}

static spate_status refuse_2d(reader *r, const yaml_value *v) {
    if (r->dim == 3) return SPATE_OK;
    return reader_fail(r, v, "needs a surface, which a 2D scene has not; use rows of strands");
}

static spate_status read_brush(reader *r, const yaml_value *v, const strands_fields *g,
                               mesh_body *out) {
    brush_fields b;
    TRY(refuse_2d(r, v));
    TRY(reader_table(r, v, &scene_brush_table, &b));
    TRY(scene_check_sides(r, v, b.along, b.across));
    TRY(scene_check_side(r, v, "direction", b.direction));
    TRY(check_length(r, v, "direction", vec_length(b.direction), g->spacing));
    if (b.tufts > 0 && isnan(b.tuft_radius))
        return reader_fail_field(r, reader_at(v, "tufts"), "tufts", "need tuft_radius; add it");
    if (b.tufts > b.count)
        return reader_fail_field(r, reader_at(v, "tufts"), "tufts",
                                 "%lld tufts of %lld strands; use fewer", (long long)b.tufts,
                                 (long long)b.count);
    b.spread *= 3.14159265358979323846 / 180;
    return mesh_of_brush(r->arena, g, &b, scene_body_seed(r), out);
}

static spate_status read_solid(reader *r, const yaml_value *v, const char *name, shape **out) {
    const yaml_value *given = yaml_find(v, name);
    if (!given) return SPATE_OK;
    int back = reader_enter(r, name);
    TRY(scene_read_shape(r, given, out));
    if ((*out)->kind == SHAPE_POINTS)
        return reader_fail(r, given, "points have no inside; use a solid such as a sphere");
    TRY(scene_refuse_sequence(r, given, *out, name));
    reader_leave(r, back);
    return SPATE_OK;
}

static spate_status check_hair(reader *r, const yaml_value *v, const strands_fields *g,
                               hair_fields *h) {
    if ((h->count > 0) == !isnan(h->density))
        return reader_fail_field(r, v, "count", "give it or density, one of them");
    if (isnan(h->comb)) h->comb = h->lean;
    if (isnan(h->gap)) h->gap = r->scene->domain.dx / 2;
    if (h->lean > 0 || h->comb > 0) TRY(scene_check_side(r, v, "direction", h->direction));
    return check_length(r, v, "length", h->length * (1 - h->vary), g->spacing);
}

/* Without a root. */
static spate_status refuse_bald(reader *r, const yaml_value *v, const hair_fields *h) {
    const char *name = h->within ? "within" : isnan(h->density) ? "on" : "density";
    return reader_fail_field(r, reader_at(v, name), name, "leaves no root on the surface; %s",
                             h->within           ? "move or enlarge it"
                             : isnan(h->density) ? "give a solid that has one"
                                                 : "use a larger one");
}

static spate_status read_hair(reader *r, const yaml_value *v, const strands_fields *g,
                              mesh_body *out) {
    hair_fields h;
    TRY(refuse_2d(r, v));
    TRY(reader_table(r, v, &scene_hair_table, &h));
    h.on = h.within = NULL;
    TRY(read_solid(r, v, "on", &h.on));
    TRY(read_solid(r, v, "within", &h.within));
    const bounds box = shape_bounds(h.on, 3);
    for (int a = 0; a < 3; a++)
        if (!isfinite(box.max[a] - box.min[a]))
            return reader_fail_field(r, reader_at(v, "on"), "on",
                                     "has no end; use a solid of finite size such as a sphere");
    TRY(check_hair(r, v, g, &h));
    TRY(mesh_of_hair(r->arena, g, &h, scene_body_seed(r), out));
    return out->vertex_count == 0 ? refuse_bald(r, v, &h) : SPATE_OK;
}

static spate_status read_file(reader *r, const yaml_value *v, const strands_fields *g,
                              const body_file *at, mesh_body *out) {
    if (g->curl_radius > 0)
        return reader_fail_field(r, reader_at(v, "curl_radius"), "curl_radius",
                                 "has no meaning beside file; remove one of them");
    return scene_read_body_file(r, v, MESH_STRANDS, at, out);
}

/* ---- All ------------------------------------------------------------------------------------- */

typedef spate_status (*strands_reader)(reader *r, const yaml_value *v, const strands_fields *g,
                                       mesh_body *out);

static const struct {
    const char *name;
    strands_reader read;
} kinds[] = {{"brush", read_brush}, {"hair", read_hair}, {"file", NULL}};

/* The one kind that is given; rows have fields beside the common ones and no name. */
static spate_status find_kind(reader *r, const yaml_value *v, int *out) {
    static const char *const of_rows[] = {"root", "direction", "row", "rows", "count", "row_count"};
    *out = -1;
    for (int k = 0; k < COUNT_OF(kinds); k++) {
        if (!yaml_find(v, kinds[k].name)) continue;
        if (*out >= 0)
            return reader_fail_field(r, reader_at(v, kinds[k].name), kinds[k].name,
                                     "stands beside %s; make two bodies of it", kinds[*out].name);
        *out = k;
    }
    for (int k = 0; k < COUNT_OF(of_rows) && *out >= 0; k++)
        if (yaml_find(v, of_rows[k]))
            return reader_fail_field(r, reader_at(v, of_rows[k]), of_rows[k],
                                     "is for strands in rows; remove it, or move it into %s",
                                     kinds[*out].name);
    return SPATE_OK;
}

spate_status scene_read_strands(reader *r, const yaml_value *v, body *b) {
    strands_fields g;
    body_file at;
    int kind;
    const reader_part parts[] = {{&scene_strands_table, &g}, {&scene_body_file_table, &at}};
    TRY(reader_fields(r, v, parts, COUNT_OF(parts)));
    if (isnan(g.spacing)) g.spacing = r->scene->domain.dx;
    if (g.curl_radius > 0 && isnan(g.curl_length))
        return reader_fail_field(r, reader_at(v, "curl_radius"), "curl_radius",
                                 "needs curl_length, the length of a turn");
    TRY(find_kind(r, v, &kind));
    if (kind < 0) {
        TRY(read_rows(r, v, &g, &b->mesh));
    } else if (!kinds[kind].read) {
        TRY(read_file(r, v, &g, &at, &b->mesh));
    } else {
        int back = reader_enter(r, kinds[kind].name);
        TRY(kinds[kind].read(r, yaml_find(v, kinds[kind].name), &g, &b->mesh));
        reader_leave(r, back);
    }
    b->mesh.radius = g.radius;
    b->mesh.stepping = g.stepping;
    return SPATE_OK;
}
