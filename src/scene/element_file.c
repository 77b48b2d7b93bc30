#include "scene/element_file.h"

#include "core/text.h"
#include "core/vec.h"
#include "scene/mesh_build.h"

#include <stdlib.h>
#include <string.h>

/* ---- Words of a text ------------------------------------------------------------------------- */

typedef struct number_tag {
    int64_t tag;
    int32_t vertex;
} number_tag;

/* A file that is read, and what of it grows. */
typedef struct element_reader {
    mesh_builder b; /* context, name, vertices */
    mesh_text t;
    int corners;
    number_tag *tags; /* of vertices, as the file numbers them */
    int64_t tag_count, tag_capacity;
    int64_t (*elements)[4]; /* by tags */
    int64_t element_count, element_capacity;
    int64_t other; /* elements of second order, met so far */
} element_reader;

static spate_status fail_here(element_reader *r, const char *what) {
    if (r->t.at >= r->t.end)
        return mesh_fail(&r->b, r->t.line, "the file is cut short: %s should come", what);
    return mesh_fail(&r->b, r->t.line, "this is not %s; the file is damaged", what);
}

static void skip_comment(element_reader *r) {
    const char *from, *to;
    for (;;) {
        while (r->t.at < r->t.end && strchr(" \t\r\n", *r->t.at)) r->t.line += *r->t.at++ == '\n';
        if (r->t.at >= r->t.end || *r->t.at != '#') return;
        mesh_text_line(&r->t, &from, &to);
    }
}

/* The next number, as a whole one where that is asked for. */
static spate_status read_number(element_reader *r, double *number, int64_t *whole) {
    const char *from, *to;
    skip_comment(r);
    mesh_text at = r->t;
    const bool word = mesh_text_word(&at, &from, &to);
    const size_t length = word ? (size_t)(to - from) : 0;
    if (!word || !(whole ? text_to_int64(from, length, whole)
                         : text_to_double(r->b.ctx, from, length, number)))
        return fail_here(r, whole ? "a whole number" : "a number");
    r->t = at;
    return SPATE_OK;
}

static spate_status read_double(element_reader *r, double *out) {
    return read_number(r, out, NULL);
}

static spate_status read_integer(element_reader *r, int64_t *out) {
    return read_number(r, NULL, out);
}

/* A count: what it counts takes a byte each at least. */
static spate_status read_count(element_reader *r, int64_t *out) {
    TRY(read_integer(r, out));
    if (*out >= 0 && *out <= r->t.end - r->t.at) return SPATE_OK;
    return mesh_fail(&r->b, r->t.line, "a count of %lld; the file is damaged or cut short",
                     (long long)*out);
}

static spate_status skip_words(element_reader *r, int64_t count) {
    const char *from, *to;
    for (int64_t k = 0; k < count; k++)
        if (!mesh_text_word(&r->t, &from, &to)) return fail_here(r, "a number");
    return SPATE_OK;
}

static spate_status expect(element_reader *r, const char *word) {
    const char *from, *to;
    mesh_text at = r->t;
    if (!mesh_text_word(&at, &from, &to) || !mesh_word_is(from, to, word))
        return fail_here(r, word);
    r->t = at;
    return SPATE_OK;
}

/* Goes on behind the next line that is this word; false: there is none. */
static bool find_section(element_reader *r, const char *word) {
    const char *from, *to;
    while (mesh_text_word(&r->t, &from, &to))
        if (mesh_word_is(from, to, word)) return true;
    return false;
}

/* ---- Vertices and elements ------------------------------------------------------------------- */

static spate_status add_tag(element_reader *r, int64_t tag, int64_t vertex) {
    TRY(GROW(r->b.ctx, r->tags, r->tag_capacity, r->tag_count + 1));
    r->tags[r->tag_count++] = (number_tag){tag, (int32_t)vertex};
    return SPATE_OK;
}

static spate_status read_place(element_reader *r, int dim) {
    double x[3] = {0};
    for (int a = 0; a < dim; a++) TRY(read_double(r, &x[a]));
    return mesh_add_vertex(&r->b, r->t.line, x);
}

static spate_status read_element(element_reader *r) {
    TRY(GROW(r->b.ctx, r->elements, r->element_capacity, r->element_count + 1));
    int64_t *e = r->elements[r->element_count];
    for (int k = 0; k < r->corners; k++) TRY(read_integer(r, &e[k]));
    r->element_count++;
    return SPATE_OK;
}

static int compare_tags(const void *a, const void *b) {
    const number_tag *p = a, *q = b;
    return p->tag < q->tag ? -1 : p->tag > q->tag;
}

static spate_status vertex_of(element_reader *r, int64_t element, int64_t tag, int32_t *out) {
    const number_tag key = {tag, 0};
    const number_tag *found =
        r->tag_count ? bsearch(&key, r->tags, (size_t)r->tag_count, sizeof *r->tags, compare_tags)
                     : NULL;
    if (!found)
        return mesh_fail(&r->b, 0, "element %lld refers to vertex %lld, which is not there",
                         (long long)element + 1, (long long)tag);
    *out = found->vertex;
    return SPATE_OK;
}

static spate_status check_tags(element_reader *r) {
    if (r->tag_count) qsort(r->tags, (size_t)r->tag_count, sizeof *r->tags, compare_tags);
    for (int64_t k = 1; k < r->tag_count; k++)
        if (r->tags[k].tag == r->tags[k - 1].tag)
            return mesh_fail(&r->b, 0, "two vertices have the number %lld; the file is damaged",
                             (long long)r->tags[k].tag);
    return SPATE_OK;
}

static const char *noun(int corners) { return corners == 4 ? "tetrahedra" : "triangles"; }

static spate_status hand_elements(element_reader *r, arena *a, element_file *out) {
    TRY(check_tags(r));
    if (r->element_count == 0 && r->other)
        return mesh_fail(&r->b, 0,
                         "its elements have nodes on their edges; export it with elements of "
                         "first order");
    if (r->element_count == 0) return mesh_fail(&r->b, 0, "the file has no %s", noun(r->corners));
    out->elements = arena_take(a, (size_t)r->element_count, sizeof *out->elements);
    if (!out->elements) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < r->element_count; e++)
        for (int k = 0; k < r->corners; k++)
            TRY(vertex_of(r, e, r->elements[e][k], &out->elements[e][k]));
    out->element_count = r->element_count;
    return SPATE_OK;
}

static spate_status hand_vertices(element_reader *r, arena *a, element_file *out) {
    out->vertices = arena_take(a, (size_t)r->b.vertex_count + 1, sizeof *out->vertices);
    if (!out->vertices) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < r->b.vertex_count; v++) vec_copy(out->vertices[v], r->b.vertices[v]);
    out->vertex_count = r->b.vertex_count;
    return SPATE_OK;
}

/* ---- Gmsh ------------------------------------------------------------------------------------ */

/* Kinds of elements: 2 and 4 are triangle and tetrahedron, 9 and 11 those of second order. */
static int gmsh_kind(int corners) { return corners == 4 ? 4 : 2; }

static void note_other(element_reader *r, int64_t kind) {
    r->other += kind == (r->corners == 4 ? 11 : 9);
}

static spate_status read_gmsh_2(element_reader *r) {
    int64_t count, tag, kind, tags;
    if (!find_section(r, "$Nodes")) return mesh_fail(&r->b, 0, "the file has no $Nodes");
    TRY(read_count(r, &count));
    for (int64_t k = 0; k < count; k++) {
        TRY(read_integer(r, &tag));
        TRY(add_tag(r, tag, r->b.vertex_count));
        TRY(read_place(r, 3));
    }
    if (!find_section(r, "$Elements")) return mesh_fail(&r->b, 0, "the file has no $Elements");
    TRY(read_count(r, &count));
    for (int64_t k = 0; k < count; k++) {
        const char *from, *to;
        TRY(read_integer(r, &tag));
        TRY(read_integer(r, &kind));
        TRY(read_count(r, &tags));
        TRY(skip_words(r, tags));
        note_other(r, kind);
        if (kind == gmsh_kind(r->corners))
            TRY(read_element(r));
        else
            mesh_text_line(&r->t, &from, &to);
    }
    return SPATE_OK;
}

static spate_status read_gmsh_4_nodes(element_reader *r) {
    int64_t blocks, count, head[3];
    if (!find_section(r, "$Nodes")) return mesh_fail(&r->b, 0, "the file has no $Nodes");
    TRY(read_count(r, &blocks));
    TRY(skip_words(r, 3));
    for (int64_t b = 0; b < blocks; b++) {
        for (int k = 0; k < 3; k++) TRY(read_integer(r, &head[k]));
        TRY(read_count(r, &count));
        for (int64_t k = 0; k < count; k++) {
            int64_t tag;
            TRY(read_integer(r, &tag));
            TRY(add_tag(r, tag, r->b.vertex_count + k));
        }
        for (int64_t k = 0; k < count; k++) {
            TRY(read_place(r, 3));
            if (head[2]) TRY(skip_words(r, head[0] > 0 && head[0] < 4 ? head[0] : 0));
        }
    }
    return SPATE_OK;
}

static spate_status read_gmsh_4(element_reader *r) {
    int64_t blocks, count, kind, tag;
    TRY(read_gmsh_4_nodes(r));
    if (!find_section(r, "$Elements")) return mesh_fail(&r->b, 0, "the file has no $Elements");
    TRY(read_count(r, &blocks));
    TRY(skip_words(r, 3));
    for (int64_t b = 0; b < blocks; b++) {
        TRY(skip_words(r, 2));
        TRY(read_integer(r, &kind));
        TRY(read_count(r, &count));
        note_other(r, count ? kind : 0);
        const char *from, *to;
        mesh_text_line(&r->t, &from, &to); /* the rest of this line */
        for (int64_t k = 0; k < count; k++) {
            if (kind != gmsh_kind(r->corners)) {
                if (!mesh_text_line(&r->t, &from, &to)) return fail_here(r, "an element");
                continue;
            }
            TRY(read_integer(r, &tag));
            TRY(read_element(r));
        }
    }
    return SPATE_OK;
}

static spate_status read_gmsh(element_reader *r) {
    const char *from, *to;
    double version;
    int64_t binary;
    TRY(expect(r, "$MeshFormat"));
    TRY(read_double(r, &version));
    TRY(read_integer(r, &binary));
    mesh_text_line(&r->t, &from, &to);
    if (binary)
        return mesh_fail(&r->b, 0, "a binary file of Gmsh; save it as text (Mesh.Binary = 0)");
    if (version >= 2 && version < 3) return read_gmsh_2(r);
    if (version == 4.1) return read_gmsh_4(r);
    return mesh_fail(&r->b, 0, "version %g of Gmsh's format; save it as 2.2 or 4.1", version);
}

/* ---- TetGen and Triangle --------------------------------------------------------------------- */

static spate_status read_node_file(element_reader *r) {
    int64_t count, dim, attributes, markers, tag;
    TRY(read_count(r, &count));
    TRY(read_integer(r, &dim));
    TRY(read_count(r, &attributes));
    TRY(read_count(r, &markers));
    if (dim != r->corners - 1)
        return mesh_fail(&r->b, r->t.line, "vertices of %lldD; the body is of %dD", (long long)dim,
                         r->corners - 1);
    for (int64_t k = 0; k < count; k++) {
        TRY(read_integer(r, &tag));
        TRY(read_place(r, (int)dim));
        TRY(skip_words(r, attributes + markers));
        if (k == 0) TRY(add_tag(r, tag, 0));
        if (tag != r->tags[0].tag + k)
            return mesh_fail(&r->b, r->t.line, "vertex %lld follows on %lld; they are counted on",
                             (long long)tag, (long long)(r->tags[0].tag + k - 1));
    }
    if (count == 0) return mesh_fail(&r->b, 0, "the file has no vertices");
    return SPATE_OK;
}

static spate_status read_ele_file(element_reader *r) {
    int64_t count, nodes, attributes, tag;
    TRY(read_count(r, &count));
    TRY(read_integer(r, &nodes));
    TRY(read_count(r, &attributes));
    if (nodes < r->corners || nodes > 10)
        return mesh_fail(&r->b, r->t.line, "elements of %lld corners; %s have %d", (long long)nodes,
                         noun(r->corners), r->corners);
    r->other = nodes > r->corners;
    for (int64_t k = 0; k < count; k++) {
        TRY(read_integer(r, &tag));
        if (!r->other) TRY(read_element(r));
        TRY(skip_words(r, attributes + (r->other ? nodes : 0)));
    }
    return SPATE_OK;
}

/* ---- VTK ------------------------------------------------------------------------------------- */

enum { VTK_TRIANGLE = 5, VTK_TETRAHEDRON = 10, VTK_QUADRATIC_TRIANGLE = 22, VTK_QUADRATIC = 24 };

/* Where the corners of cells begin, and all corners: both forms of the format end up so. */
typedef struct vtk_cells {
    int64_t count, total;
    int64_t *first, *corners;
} vtk_cells;

static spate_status take_cells(element_reader *r, vtk_cells *c) {
    c->first = take(r->b.ctx, (size_t)c->count + 1, sizeof *c->first);
    c->corners = take(r->b.ctx, (size_t)c->total + 1, sizeof *c->corners);
    return c->first && c->corners ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* CELLS n+1 total / OFFSETS type ... / CONNECTIVITY type ... (version 5). */
static spate_status read_offsets(element_reader *r, vtk_cells *c) {
    c->count--;
    if (c->count < 0) return fail_here(r, "a count of cells");
    TRY(take_cells(r, c));
    TRY(expect(r, "OFFSETS"));
    TRY(skip_words(r, 1));
    for (int64_t k = 0; k <= c->count; k++) {
        TRY(read_integer(r, &c->first[k]));
        if (c->first[k] < (k ? c->first[k - 1] : 0) || c->first[k] > c->total)
            return fail_here(r, "an offset");
    }
    TRY(expect(r, "CONNECTIVITY"));
    TRY(skip_words(r, 1));
    for (int64_t k = 0; k < c->total; k++) TRY(read_integer(r, &c->corners[k]));
    return SPATE_OK;
}

/* CELLS n total / k i0 i1 ... (versions before 5). */
static spate_status read_counts(element_reader *r, vtk_cells *c) {
    int64_t used = 0, corners;
    TRY(take_cells(r, c));
    for (int64_t k = 0; k < c->count; k++) {
        TRY(read_count(r, &corners));
        if (corners > c->total - used) return fail_here(r, "a cell");
        for (int64_t n = 0; n < corners; n++) TRY(read_integer(r, &c->corners[used++]));
        c->first[k + 1] = used;
    }
    return SPATE_OK;
}

static spate_status read_cells(element_reader *r, vtk_cells *c) {
    const char *from, *to;
    TRY(read_count(r, &c->count));
    TRY(read_count(r, &c->total));
    mesh_text at = r->t;
    const bool offsets = mesh_text_word(&at, &from, &to) && mesh_word_is(from, to, "OFFSETS");
    TRY(offsets ? read_offsets(r, c) : read_counts(r, c));
    int64_t types, type;
    TRY(expect(r, "CELL_TYPES"));
    TRY(read_count(r, &types));
    if (types != c->count) return fail_here(r, "as many types as cells");
    const bool solid = r->corners == 4;
    for (int64_t k = 0; k < types; k++) {
        TRY(read_integer(r, &type));
        r->other += type == (solid ? VTK_QUADRATIC : VTK_QUADRATIC_TRIANGLE);
        if (type != (solid ? VTK_TETRAHEDRON : VTK_TRIANGLE)) continue;
        if (c->first[k + 1] - c->first[k] != r->corners) return fail_here(r, "a simplex");
        TRY(GROW(r->b.ctx, r->elements, r->element_capacity, r->element_count + 1));
        memcpy(r->elements[r->element_count++], c->corners + c->first[k],
               (size_t)r->corners * sizeof *c->corners);
    }
    return SPATE_OK;
}

static spate_status read_vtk(element_reader *r) {
    const char *from, *to;
    int64_t count;
    mesh_text_line(&r->t, &from, &to); /* version, title */
    mesh_text_line(&r->t, &from, &to);
    mesh_text at = r->t;
    if (mesh_text_word(&at, &from, &to) && mesh_word_is(from, to, "BINARY"))
        return mesh_fail(&r->b, r->t.line, "a binary file of VTK; save it as ASCII");
    TRY(expect(r, "ASCII"));
    TRY(expect(r, "DATASET"));
    TRY(expect(r, "UNSTRUCTURED_GRID"));
    if (!find_section(r, "POINTS")) return mesh_fail(&r->b, 0, "the file has no POINTS");
    TRY(read_count(r, &count));
    TRY(skip_words(r, 1));
    for (int64_t k = 0; k < count; k++) {
        TRY(add_tag(r, k, k));
        TRY(read_place(r, 3));
    }
    if (!find_section(r, "CELLS")) return mesh_fail(&r->b, 0, "the file has no CELLS");
    vtk_cells c = {0};
    spate_status status = read_cells(r, &c);
    give(r->b.ctx, c.first), give(r->b.ctx, c.corners);
    return status;
}

/* ---- All ------------------------------------------------------------------------------------- */

static element_reader reader_of(arena *a, const char *name, const char *bytes, size_t length,
                                int corners) {
    return (element_reader){
        .b = {.ctx = a->ctx, .name = name}, .t = {bytes, bytes + length, 1}, .corners = corners};
}

static void reader_free(element_reader *r) {
    give(r->b.ctx, r->b.vertices), give(r->b.ctx, r->tags), give(r->b.ctx, r->elements);
}

static bool begins(const char *bytes, size_t length, const char *with) {
    return length >= strlen(with) && !memcmp(bytes, with, strlen(with));
}

/* Triangles of a surface. */
static spate_status read_surface(arena *a, const char *name, const char *bytes, size_t length,
                                 element_file *out) {
    mesh m = {.vertex_count = 0};
    if (out->corners != 3)
        return fail(a->ctx, SPATE_BAD_INPUT,
                    "%s: has no tetrahedra; .msh, .ele and .vtk are read, or give the surface as "
                    "the body's shape, which is filled then",
                    name);
    TRY(mesh_read_raw(a, name, bytes, length, &m));
    out->vertices = m.vertices, out->vertex_count = m.vertex_count;
    out->elements = arena_take(a, (size_t)m.triangle_count, sizeof *out->elements);
    if (!out->elements) return SPATE_OUT_OF_MEMORY;
    out->element_count = m.triangle_count;
    for (int64_t t = 0; t < m.triangle_count; t++)
        memcpy(out->elements[t], m.triangles[t], sizeof *m.triangles);
    return SPATE_OK;
}

spate_status elements_read(arena *a, const char *name, const char *bytes, size_t length,
                           element_file *out) {
    const bool gmsh = begins(bytes, length, "$MeshFormat"), vtk = begins(bytes, length, "# vtk");
    if (!gmsh && !vtk) return read_surface(a, name, bytes, length, out);
    element_reader r = reader_of(a, name, bytes, length, out->corners);
    spate_status status = gmsh ? read_gmsh(&r) : read_vtk(&r);
    if (!status) status = hand_elements(&r, a, out);
    if (!status) status = hand_vertices(&r, a, out);
    reader_free(&r);
    return status;
}

spate_status elements_read_nodes(arena *a, const char *name, const char *bytes, size_t length,
                                 element_file *out) {
    element_reader r = reader_of(a, name, bytes, length, out->corners);
    spate_status status = read_node_file(&r);
    if (!status) status = hand_vertices(&r, a, out);
    if (!status) out->first = r.tags[0].tag;
    reader_free(&r);
    return status;
}

spate_status elements_read_ele(arena *a, const char *name, const char *bytes, size_t length,
                               element_file *out) {
    element_reader r = reader_of(a, name, bytes, length, out->corners);
    spate_status status = read_ele_file(&r);
    for (int64_t v = 0; v < out->vertex_count && !status; v++)
        status = add_tag(&r, out->first + v, v);
    if (!status) status = hand_elements(&r, a, out);
    reader_free(&r);
    return status;
}
