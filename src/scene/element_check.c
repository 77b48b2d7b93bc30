/* From the elements of a file to a body: what cannot be simulated is refused, with its number. */
#include "scene/element_file.h"

#include "core/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct element_check {
    spate_context *ctx;
    const char *name;
    mesh_kind kind;
    int dim; /* of elements */
    element_file *f;
} element_check;

static const char *word(const element_check *c) { return c->dim == 3 ? "tetrahedron" : "triangle"; }

/* Its volume, or area; of a cloth always positive. */
static double element_size(const element_check *c, int64_t e, double *longest) {
    double D[3][3] = {{0}, {0}, {0, 0, 1}}, n[3];
    const int32_t *v = c->f->elements[e];
    *longest = 0;
    for (int k = 0; k < c->dim; k++) {
        vec_sub(D[k], c->f->vertices[v[k + 1]], c->f->vertices[v[0]]);
        *longest = fmax(*longest, vec_length(D[k]));
    }
    if (c->kind == MESH_CLOTH) {
        vec_cross(n, D[0], D[1]);
        return vec_length(n) / 2;
    }
    return mat_determinant((const double(*)[3])D) / (c->dim == 2 ? 2 : 6);
}

/* Corners that are different, and a volume; those inside out are turned. */
static spate_status check_sizes(const element_check *c) {
    int64_t turned = 0;
    for (int64_t e = 0; e < c->f->element_count; e++) {
        int32_t *v = c->f->elements[e];
        double longest;
        for (int i = 0; i <= c->dim; i++)
            for (int k = 0; k < i; k++)
                if (v[i] == v[k])
                    return fail(c->ctx, SPATE_BAD_INPUT,
                                "%s: %s %lld has vertex %d twice; remove it", c->name, word(c),
                                (long long)e + 1, v[i] + 1);
        const double size = element_size(c, e, &longest), *x = c->f->vertices[v[0]];
        if (!(fabs(size) > 1e-10 * pow(longest, c->dim)))
            return fail(c->ctx, SPATE_BAD_INPUT,
                        "%s: %s %lld at (%.4g, %.4g, %.4g) has no %s; remove it, or mesh anew",
                        c->name, word(c), (long long)e + 1, x[0], x[1], x[2],
                        c->dim == 3 ? "volume" : "area");
        if (size > 0) continue;
        const int32_t swapped = v[c->dim - 1];
        v[c->dim - 1] = v[c->dim], v[c->dim] = swapped;
        turned++;
    }
    if (turned && turned < c->f->element_count)
        warn(c->ctx, "turned elements",
             "%s: %lld of %lld elements were inside out and are turned; check the mesher", c->name,
             (long long)turned, (long long)c->f->element_count);
    return SPATE_OK;
}

/* ---- Elements and faces that are there too often ---------------------------------------------- */

typedef struct corner_key {
    int32_t key[4]; /* ascending */
    int64_t element;
    bool even; /* how many swaps it took: of an edge, which way it runs */
} corner_key;

static int compare_keys(const void *a, const void *b) {
    const corner_key *p = a, *q = b;
    for (int k = 0; k < 4; k++)
        if (p->key[k] != q->key[k]) return p->key[k] < q->key[k] ? -1 : 1;
    return p->element < q->element ? -1 : p->element > q->element;
}

static bool same_key(const corner_key *a, const corner_key *b) {
    return memcmp(a->key, b->key, sizeof a->key) == 0;
}

/* The corners of element e but for `skip` (-1: all). */
static corner_key key_of(const element_check *c, int64_t e, int skip) {
    corner_key k = {.key = {-1, -1, -1, -1}, .element = e, .even = true};
    int count = 0;
    /* from the one after `skip` on, so that edges run round the triangle */
    for (int n = 1; n <= c->dim + 1; n++) {
        const int corner = (skip + n + c->dim + 1) % (c->dim + 1);
        if (corner != skip) k.key[count++] = c->f->elements[e][corner];
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j + 1 < count - i; j++)
            if (k.key[j] > k.key[j + 1]) {
                const int32_t swapped = k.key[j];
                k.key[j] = k.key[j + 1], k.key[j + 1] = swapped;
                k.even = !k.even;
            }
    return k;
}

static spate_status fail_faces(const element_check *c, const corner_key *of, int64_t count) {
    const double *x = c->f->vertices[of->key[0]];
    const char *face = c->dim == 3 ? "face" : "edge";
    if (count > 2)
        return fail(c->ctx, SPATE_BAD_INPUT,
                    "%s: %lld elements, such as %lld, have one %s at (%.4g, %.4g, %.4g); at most "
                    "two can, so remove some or part them",
                    c->name, (long long)count, (long long)of->element + 1, face, x[0], x[1], x[2]);
    return fail(c->ctx, SPATE_BAD_INPUT,
                "%s: the triangles %lld and %lld beside each other face opposite ways, at (%.4g, "
                "%.4g, %.4g); make the normals consistent and export again",
                c->name, (long long)of[0].element + 1, (long long)of[1].element + 1, x[0], x[1],
                x[2]);
}

static spate_status check_list(const element_check *c, const corner_key *list, int64_t count,
                               bool faces) {
    for (int64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && same_key(&list[i], &list[next]);) next++;
        if (!faces && next > i + 1)
            return fail(c->ctx, SPATE_BAD_INPUT,
                        "%s: elements %lld and %lld have the same corners; remove one", c->name,
                        (long long)list[i].element + 1, (long long)list[i + 1].element + 1);
        const bool clash =
            c->kind == MESH_CLOTH && next == i + 2 && list[i].even == list[i + 1].even;
        if (faces && (next > i + 2 || clash)) return fail_faces(c, &list[i], next - i);
    }
    return SPATE_OK;
}

static spate_status check_doubles(const element_check *c) {
    const int64_t elements = c->f->element_count, faces = elements * (c->dim + 1);
    corner_key *list = take(c->ctx, (size_t)faces, sizeof *list);
    if (!list) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < elements; e++) list[e] = key_of(c, e, -1);
    qsort(list, (size_t)elements, sizeof *list, compare_keys);
    spate_status status = check_list(c, list, elements, false);
    for (int64_t k = 0; k < faces; k++)
        list[k] = key_of(c, k / (c->dim + 1), (int)(k % (c->dim + 1)));
    qsort(list, (size_t)faces, sizeof *list, compare_keys);
    if (!status) status = check_list(c, list, faces, true);
    give(c->ctx, list);
    return status;
}

/* ---- A body ---------------------------------------------------------------------------------- */

/* Drops vertices that no element has. */
static spate_status drop_unused(const element_check *c) {
    element_file *f = c->f;
    int32_t *number = take(c->ctx, (size_t)f->vertex_count + 1, sizeof *number), used = 0;
    if (!number) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < f->element_count; e++)
        for (int k = 0; k <= c->dim; k++) number[f->elements[e][k]] = 1;
    for (int64_t v = 0; v < f->vertex_count; v++) {
        if (!number[v]) continue;
        vec_copy(f->vertices[used], f->vertices[v]);
        number[v] = used++;
    }
    f->vertex_count = used;
    for (int64_t e = 0; e < f->element_count; e++)
        for (int k = 0; k <= c->dim; k++) f->elements[e][k] = number[f->elements[e][k]];
    give(c->ctx, number);
    return SPATE_OK;
}

static double mean_edge(const element_check *c) {
    double sum = 0;
    for (int64_t e = 0; e < c->f->element_count; e++)
        for (int k = 0; k <= c->dim; k++) {
            const int32_t *v = c->f->elements[e];
            double edge[3];
            vec_sub(edge, c->f->vertices[v[k]], c->f->vertices[v[(k + 1) % (c->dim + 1)]]);
            sum += vec_length(edge);
        }
    return sum / (double)(c->f->element_count * (c->dim + 1));
}

/* Triangles that each have vertices of their own. */
static bool is_soup(const element_file *f) {
    if (f->corners != 3 || f->element_count < 2) return false;
    for (int64_t e = 0; e < f->element_count; e++)
        for (int k = 0; k < 3; k++)
            if (f->elements[e][k] != 3 * e + k) return false;
    return true;
}

spate_status elements_check(arena *a, const char *name, mesh_kind kind, int dim, element_file *f,
                            mesh_body *out) {
    const element_check c = {a->ctx, name, kind, dim, f};
    if (is_soup(f))
        return fail(a->ctx, SPATE_BAD_INPUT,
                    "%s: its triangles share no vertices, as in STL; save it as OBJ or PLY, with "
                    "equal vertices merged",
                    name);
    for (int64_t v = 0; v < f->vertex_count && dim == 2 && kind == MESH_FE; v++)
        f->vertices[v][2] = 0;
    TRY(check_sizes(&c));
    TRY(check_doubles(&c));
    TRY(drop_unused(&c));
    *out = (mesh_body){.kind = kind,
                       .vertex_count = f->vertex_count,
                       .vertices = f->vertices,
                       .element_count = f->element_count,
                       .elements = f->elements,
                       .spacing = mean_edge(&c)};
    return SPATE_OK;
}
