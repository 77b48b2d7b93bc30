/*
 * PLY (Turk 1994): a header in text that declares elements and their properties, then the data, in
 * text or binary of either byte order. The vertex element's x, y, z, the face element's list of
 * vertices and, where lines are asked for, the edge element's vertex1 and vertex2 are read; all
 * else is skipped by its declared size.
 */
#include "core/text.h"
#include "core/vec.h"
#include "scene/mesh_build.h"
#include <string.h>

typedef enum number { INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64 } number;
enum { NUMBER_KINDS = 8, MOST_PROPERTIES = 64, MOST_ELEMENTS = 16 };

static const int SIZES[NUMBER_KINDS] = {1, 1, 2, 2, 4, 4, 4, 8};
static const char *const NAMES[NUMBER_KINDS][2] = {
    {"char", "int8"}, {"uchar", "uint8"}, {"short", "int16"},   {"ushort", "uint16"},
    {"int", "int32"}, {"uint", "uint32"}, {"float", "float32"}, {"double", "float64"},
};

typedef enum role { SKIP, X, Y, Z, CORNERS, END_1, END_2 } role;

typedef struct property {
    bool is_list;
    number count_type, type;
    role role;
} property;

typedef enum element_kind { OTHER, VERTEX, FACE, EDGE } element_kind;

typedef struct element {
    element_kind kind;
    int64_t count;
    property properties[MOST_PROPERTIES];
    int property_count;
} element;

typedef struct ply {
    mesh_builder *b;
    mesh_text t; /* in binary data: t.line is 0 */
    enum { ASCII, LITTLE, BIG } format;
    bool has_format;
    element elements[MOST_ELEMENTS];
    int element_count;
    int64_t vertex_total;
} ply;

/* ---- Header
 * -------------------------------------------------------------------------------------------- */

/* Words of a header line. */
typedef struct words {
    const char *from[6], *to[6];
    int count;
} words;

static words split(const char *from, const char *to) {
    words w = {.count = 0};
    mesh_text t = {from, to, 0};
    while (w.count < 6 && mesh_text_word(&t, &w.from[w.count], &w.to[w.count])) w.count++;
    return w;
}

static bool is_word(const words *w, int i, const char *expected) {
    return i < w->count && mesh_word_is(w->from[i], w->to[i], expected);
}

static bool find_type(const words *w, int i, number *type) {
    for (int k = 0; k < NUMBER_KINDS; k++)
        if (is_word(w, i, NAMES[k][0]) || is_word(w, i, NAMES[k][1])) {
            *type = (number)k;
            return true;
        }
    return false;
}

static spate_status read_format(ply *p, const words *w) {
    if (is_word(w, 1, "ascii"))
        p->format = ASCII;
    else if (is_word(w, 1, "binary_little_endian"))
        p->format = LITTLE;
    else if (is_word(w, 1, "binary_big_endian"))
        p->format = BIG;
    else
        return mesh_fail(p->b, p->t.line,
                         "unknown PLY format; ascii, binary_little_endian and binary_big_endian "
                         "are read");
    p->has_format = true;
    return SPATE_OK;
}

static spate_status read_element(ply *p, const words *w) {
    if (p->element_count == MOST_ELEMENTS)
        return mesh_fail(p->b, p->t.line, "more than %d elements in a PLY header", MOST_ELEMENTS);
    element *e = &p->elements[p->element_count];
    *e = (element){.kind = is_word(w, 1, "vertex")                ? VERTEX
                           : is_word(w, 1, "face")                ? FACE
                           : p->b->lines && is_word(w, 1, "edge") ? EDGE
                                                                  : OTHER};
    if (w->count != 3 || !text_to_int64(w->from[2], (size_t)(w->to[2] - w->from[2]), &e->count) ||
        e->count < 0)
        return mesh_fail(p->b, p->t.line,
                         "an element needs a name and a count, as in "
                         "`element vertex 8`");
    for (int i = 0; i < p->element_count; i++)
        if (e->kind != OTHER && p->elements[i].kind == e->kind)
            return mesh_fail(p->b, p->t.line, "element declared twice");
    if (e->kind == VERTEX) p->vertex_total = e->count;
    p->element_count++;
    return SPATE_OK;
}

static role role_of(const element *e, const property *q, const words *w) {
    int last = w->count - 1;
    if (e->kind == VERTEX && !q->is_list)
        return is_word(w, last, "x")   ? X
               : is_word(w, last, "y") ? Y
               : is_word(w, last, "z") ? Z
                                       : SKIP;
    if (e->kind == EDGE && !q->is_list)
        return is_word(w, last, "vertex1") ? END_1 : is_word(w, last, "vertex2") ? END_2 : SKIP;
    if (e->kind == FACE && q->is_list &&
        (is_word(w, last, "vertex_indices") || is_word(w, last, "vertex_index")))
        return CORNERS;
    return SKIP;
}

static spate_status read_property(ply *p, const words *w) {
    if (p->element_count == 0)
        return mesh_fail(p->b, p->t.line, "a property before the first element");
    element *e = &p->elements[p->element_count - 1];
    if (e->property_count == MOST_PROPERTIES)
        return mesh_fail(p->b, p->t.line, "more than %d properties in an element", MOST_PROPERTIES);
    property q = {.is_list = is_word(w, 1, "list")};
    bool good = q.is_list ? w->count == 5 && find_type(w, 2, &q.count_type) &&
                                find_type(w, 3, &q.type) && q.count_type < FLOAT32
                          : w->count == 3 && find_type(w, 1, &q.type);
    if (!good)
        return mesh_fail(p->b, p->t.line,
                         "a property needs a type and a name, as in "
                         "`property float x`");
    q.role = role_of(e, &q, w);
    for (int i = 0; i < e->property_count; i++)
        if (q.role != SKIP && e->properties[i].role == q.role)
            return mesh_fail(p->b, p->t.line, "property declared twice");
    e->properties[e->property_count++] = q;
    return SPATE_OK;
}

static bool has_role(const ply *p, element_kind kind, role r) {
    for (int i = 0; i < p->element_count; i++)
        for (int k = 0; k < p->elements[i].property_count; k++)
            if (p->elements[i].kind == kind && p->elements[i].properties[k].role == r) return true;
    return false;
}

static spate_status read_header(ply *p) {
    const char *from, *to;
    bool ended = false;
    while (!ended && mesh_text_line(&p->t, &from, &to)) {
        words w = split(from, to);
        if (p->t.line == 1 || w.count == 0 || is_word(&w, 0, "comment") ||
            is_word(&w, 0, "obj_info"))
            continue;
        if (is_word(&w, 0, "format"))
            TRY(read_format(p, &w));
        else if (is_word(&w, 0, "element"))
            TRY(read_element(p, &w));
        else if (is_word(&w, 0, "property"))
            TRY(read_property(p, &w));
        else if (is_word(&w, 0, "end_header"))
            ended = true;
        else
            return mesh_fail(p->b, p->t.line, "unknown line in a PLY header");
    }
    if (!ended || !p->has_format)
        return mesh_fail(p->b, 0, "the PLY header has no %s; the file is cut short",
                         ended ? "format" : "end_header");
    if (!has_role(p, VERTEX, X) || !has_role(p, VERTEX, Y) || !has_role(p, VERTEX, Z))
        return mesh_fail(p->b, 0, "the PLY header declares no vertices with x, y and z");
    if (p->b->lines && (!has_role(p, EDGE, END_1) || !has_role(p, EDGE, END_2)))
        return mesh_fail(p->b, 0, "the PLY header declares no edges with vertex1 and vertex2");
    if (!p->b->lines && !has_role(p, FACE, CORNERS))
        return mesh_fail(p->b, 0,
                         "the PLY header declares no faces with vertex_indices; a surface "
                         "is needed, not points alone");
    return SPATE_OK;
}

/* ---- Data
 * -----------------------------------------------------------------------------------------------
 */

static double decode(const unsigned char *v, number type, bool big) {
    uint64_t bits = 0;
    int size = SIZES[type];
    for (int i = 0; i < size; i++) bits |= (uint64_t)v[big ? size - 1 - i : i] << (8 * i);
    float single;
    double wide;
    uint32_t low = (uint32_t)bits;
    switch (type) {
    case INT8: return (int8_t)bits;
    case INT16: return (int16_t)bits;
    case INT32: return (int32_t)bits;
    case UINT8:
    case UINT16:
    case UINT32: return (double)bits;
    case FLOAT32: memcpy(&single, &low, sizeof single); return single;
    case FLOAT64: memcpy(&wide, &bits, sizeof wide); return wide;
    }
    return 0;
}

/* One number of the data. */
static bool read_number(ply *p, number type, double *value) {
    if (p->format == ASCII) {
        const char *from, *to;
        return mesh_text_word(&p->t, &from, &to) &&
               text_to_double(p->b->ctx, from, (size_t)(to - from), value);
    }
    if (p->t.end - p->t.at < SIZES[type]) return false;
    *value = decode((const unsigned char *)p->t.at, type, p->format == BIG);
    p->t.at += SIZES[type];
    return true;
}

static spate_status cut_short(ply *p, const element *e, int64_t row) {
    const char *what = e->kind == VERTEX ? "vertices" : e->kind == FACE ? "faces" : "rows";
    return mesh_fail(p->b, p->t.line, "the file is cut short: %lld of %lld %s are there",
                     (long long)row, (long long)e->count, what);
}

/* The number that was to come did not: the text goes on with something else, or the file ends. */
static spate_status no_number(ply *p, const element *e, int64_t row) {
    if (p->format == ASCII && p->t.at < p->t.end)
        return mesh_fail(p->b, p->t.line, "this is not a number; the file is damaged");
    return cut_short(p, e, row);
}

static spate_status read_list(ply *p, const element *e, const property *q, int64_t row) {
    double count, value;
    int32_t fan[2];
    if (!read_number(p, q->count_type, &count)) return no_number(p, e, row);
    if (!(count >= 0 && count <= INT32_MAX && count == floor(count)))
        return mesh_fail(p->b, p->t.line, "a list of %g numbers; the file is damaged", count);
    if (q->role == CORNERS && count < 3)
        return mesh_fail(p->b, p->t.line, "face %lld has %g corners; three are needed",
                         (long long)row + 1, count);
    for (int64_t i = 0; i < (int64_t)count; i++) {
        if (!read_number(p, q->type, &value)) return no_number(p, e, row);
        if (q->role != CORNERS) continue;
        bool usable = fabs(value) < 1e15 && value == floor(value);
        TRY(mesh_add_corner(p->b, p->t.line, i, usable ? (int64_t)value : -1, p->vertex_total,
                            fan));
    }
    return SPATE_OK;
}

static spate_status read_row(ply *p, const element *e, int64_t row) {
    double x[3] = {0, 0, 0}, end[2] = {0, 0}, value;
    for (int i = 0; i < e->property_count; i++) {
        const property *q = &e->properties[i];
        if (q->is_list) {
            TRY(read_list(p, e, q, row));
            continue;
        }
        if (!read_number(p, q->type, &value)) return no_number(p, e, row);
        if (q->role >= END_1)
            end[q->role - END_1] = fabs(value) < 1e15 && value == floor(value) ? value : -1;
        else if (q->role != SKIP)
            x[q->role - X] = value;
    }
    if (e->kind == EDGE)
        return mesh_add_edge(p->b, p->t.line, (int64_t)end[0], (int64_t)end[1], p->vertex_total);
    return e->kind == VERTEX ? mesh_add_vertex(p->b, p->t.line, x) : SPATE_OK;
}

static spate_status read_data(ply *p) {
    if (p->format == ASCII)
        p->t.line++;
    else
        p->t.line = 0;
    for (int i = 0; i < p->element_count; i++) {
        const element *e = &p->elements[i];
        /* every row takes at least a byte; this also refuses absurd counts at once */
        if (e->property_count && e->count > p->t.end - p->t.at) return cut_short(p, e, 0);
        for (int64_t row = 0; e->property_count && row < e->count; row++) TRY(read_row(p, e, row));
    }
    return SPATE_OK;
}

static spate_status read_ply(arena *a, const char *name, const char *bytes, size_t length,
                             bool lines, mesh *m) {
    mesh_builder b = {.ctx = a->ctx, .name = name, .lines = lines};
    ply *p = take(a->ctx, 1, sizeof *p);
    if (!p) return SPATE_OUT_OF_MEMORY;
    p->b = &b;
    p->t = (mesh_text){bytes, bytes + length, 0};
    spate_status status = read_header(p);
    if (status == SPATE_OK) status = read_data(p);
    give(a->ctx, p);
    return mesh_builder_finish(&b, status, a, m);
}

spate_status mesh_read_ply(arena *a, const char *name, const char *bytes, size_t length, mesh *m) {
    return read_ply(a, name, bytes, length, false, m);
}

spate_status mesh_read_ply_lines(arena *a, const char *name, const char *bytes, size_t length,
                                 mesh *m) {
    return read_ply(a, name, bytes, length, true, m);
}
