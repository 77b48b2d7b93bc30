#include "scene/fracture.h"

#include "core/random.h"
#include "core/threads.h"
#include "core/vec.h"

#include <string.h>

enum { STREAM_SEED = 61, ELEMENT_GRAIN = 512 };

typedef struct breaking {
    spate_context *ctx;
    mesh_body *m;
    int dim;
    double (*middle)[3]; /* of elements */
    int32_t *cell;       /* of elements */
    double (*seeds)[3];
    int64_t seed_count;
    int64_t *first, *around; /* elements of vertex v: around[first[v]] .. */
    bool *on_skin;           /* of vertices */
} breaking;

static double element_volume(const breaking *b, int64_t e) {
    double D[3][3] = {{0}, {0}, {0, 0, 1}};
    const int32_t *c = b->m->elements[e];
    for (int k = 0; k < b->dim; k++) vec_sub(D[k], b->m->vertices[c[k + 1]], b->m->vertices[c[0]]);
    return mat_determinant((const double(*)[3])D) / (b->dim == 2 ? 2 : 6);
}

static double squared(const double a[3], const double b[3]) {
    double d[3];
    vec_sub(d, a, b);
    return vec_dot(d, d);
}

/* ---- Seeds and cells ------------------------------------------------------------------------- */

static bool is_apart(const breaking *b, const double x[3], double radius) {
    for (int64_t s = 0; s < b->seed_count; s++)
        if (squared(b->seeds[s], x) < radius * radius) return false;
    return true;
}

/* Middles of elements, at random but apart: the radius shrinks until there are enough. Large
 * elements are not more likely than small ones; they are about alike. */
static void choose_seeds(breaking *b, int64_t wanted, uint64_t seed) {
    const mesh_body *m = b->m;
    double volume = 0;
    for (int64_t e = 0; e < m->element_count; e++) volume += element_volume(b, e);
    double radius = 0.9 * pow(volume / (double)wanted, 1.0 / b->dim);
    for (uint64_t number = 0; b->seed_count < wanted; radius *= 0.9)
        for (int64_t k = 0; k < 4 * wanted && b->seed_count < wanted; k++) {
            const double u = random_unit(seed, number++, STREAM_SEED);
            const double *x = b->middle[(int64_t)(u * (double)m->element_count)];
            if (is_apart(b, x, radius) || radius < 1e-6 * m->spacing)
                vec_copy(b->seeds[b->seed_count++], x);
        }
}

static void find_cells(void *data, chunk items) {
    breaking *b = data;
    for (int64_t e = items.begin; e < items.end; e++) {
        double nearest = HUGE_VAL;
        for (int64_t s = 0; s < b->seed_count; s++) {
            const double d = squared(b->seeds[s], b->middle[e]);
            if (d < nearest) nearest = d, b->cell[e] = (int32_t)s;
        }
    }
}

/* ---- Flat cuts ------------------------------------------------------------------------------- */

/* Volume over that of a regular element with the same mean square of edges. */
static double element_quality(const breaking *b, int64_t e) {
    const int32_t *c = b->m->elements[e];
    double sum = 0;
    for (int i = 0; i <= b->dim; i++)
        for (int k = 0; k < i; k++) sum += squared(b->m->vertices[c[i]], b->m->vertices[c[k]]);
    const double edge = sqrt(sum / (b->dim == 2 ? 3 : 6));
    return element_volume(b, e) /
           (b->dim == 2 ? sqrt(3) / 4 * edge * edge : edge * edge * edge / (6 * sqrt(2)));
}

static double least_quality(const breaking *b, int64_t v) {
    double least = HUGE_VAL;
    for (int64_t k = b->first[v]; k < b->first[v + 1]; k++)
        least = fmin(least, element_quality(b, b->around[k]));
    return least;
}

/* The two nearest seeds of those whose cells meet in the vertex; false: there is one. */
static bool cells_at(const breaking *b, int64_t v, int32_t two[2]) {
    double d[2] = {HUGE_VAL, HUGE_VAL};
    two[0] = two[1] = -1;
    for (int64_t k = b->first[v]; k < b->first[v + 1]; k++) {
        const int32_t s = b->cell[b->around[k]];
        const double at = squared(b->seeds[s], b->m->vertices[v]);
        if (s == two[0] || s == two[1]) continue;
        if (at < d[0])
            d[1] = d[0], two[1] = two[0], d[0] = at, two[0] = s;
        else if (at < d[1])
            d[1] = at, two[1] = s;
    }
    return two[1] >= 0;
}

/* Onto the plane between two seeds, or half or a quarter of the way, so that elements stay good. */
static void flatten(breaking *b, int64_t v) {
    static const double GOOD = 0.45;
    double *x = b->m->vertices[v], n[3], from[3], middle[3];
    int32_t two[2];
    if (b->on_skin[v] || !cells_at(b, v, two)) return;
    vec_sub(n, b->seeds[two[1]], b->seeds[two[0]]);
    vec_add(middle, b->seeds[two[1]], b->seeds[two[0]]);
    vec_scale(middle, 0.5, middle);
    if (!vec_normalise(n)) return;
    vec_sub(from, x, middle);
    const double way = -vec_dot(from, n), before = least_quality(b, v);
    vec_copy(from, x);
    for (double share = 1; share > 0.2; share /= 2) {
        vec_add_scaled(x, from, share * way, n);
        if (least_quality(b, v) > fmin(before, GOOD)) return;
    }
    vec_copy(x, from);
}

static spate_status find_around(breaking *b) {
    const mesh_body *m = b->m;
    const int corners = b->dim + 1;
    b->first = take(b->ctx, (size_t)m->vertex_count + 2, sizeof *b->first);
    b->around = take(b->ctx, (size_t)(m->element_count * corners) + 1, sizeof *b->around);
    if (!b->first || !b->around) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < m->element_count; e++)
        for (int k = 0; k < corners; k++) b->first[m->elements[e][k] + 2]++;
    for (int64_t v = 1; v <= m->vertex_count; v++) b->first[v + 1] += b->first[v];
    for (int64_t e = 0; e < m->element_count; e++)
        for (int k = 0; k < corners; k++) b->around[b->first[m->elements[e][k] + 1]++] = e;
    return SPATE_OK;
}

static spate_status find_skin(breaking *b, arena *a) {
    int32_t(*faces)[3];
    int64_t count;
    b->on_skin = take(b->ctx, (size_t)b->m->vertex_count + 1, sizeof *b->on_skin);
    if (!b->on_skin) return SPATE_OUT_OF_MEMORY;
    TRY(mesh_body_skin(a, b->m, b->dim, &faces, &count));
    for (int64_t f = 0; f < count; f++)
        for (int k = 0; k < b->dim; k++) b->on_skin[faces[f][k]] = true;
    return SPATE_OK;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* Which corner of element e is vertex v. */
static int corner_of(const breaking *b, int64_t e, int64_t v) {
    int k = 0;
    while (b->m->elements[e][k] != v) k++;
    return k;
}

/* The vertex that the cell of the k-th element around v has got from an element before it, or
 * -1. */
static int32_t own_vertex(const breaking *b, const int32_t (*parted)[4], int64_t v, int64_t k) {
    for (int64_t n = b->first[v]; n < k; n++) {
        const int64_t e = b->around[n];
        if (b->cell[e] == b->cell[b->around[k]]) return parted[e][corner_of(b, e, v)];
    }
    return -1;
}

/* Gives every cell a vertex of its own wherever several meet; vertices stay in their order. */
static spate_status part_cells(breaking *b, arena *a) {
    mesh_body *m = b->m;
    int32_t count = 0;
    double(*x)[3] = arena_take(a, (size_t)(m->element_count * (b->dim + 1)), sizeof *x);
    int32_t(*parted)[4] = arena_take(a, (size_t)m->element_count, sizeof *parted);
    if (!x || !parted) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < m->vertex_count; v++)
        for (int64_t k = b->first[v]; k < b->first[v + 1]; k++) {
            const int64_t e = b->around[k];
            int32_t own = own_vertex(b, (const int32_t(*)[4])parted, v, k);
            if (own < 0) vec_copy(x[count], m->vertices[v]), own = count++;
            parted[e][corner_of(b, e, v)] = own;
        }
    m->vertices = x, m->elements = parted, m->vertex_count = count;
    return SPATE_OK;
}

static spate_status break_up(breaking *b, arena *a, int64_t pieces, uint64_t seed) {
    mesh_body *m = b->m;
    const size_t elements = (size_t)m->element_count;
    b->middle = take(b->ctx, elements, sizeof *b->middle);
    b->cell = take(b->ctx, elements, sizeof *b->cell);
    b->seeds = take(b->ctx, (size_t)pieces, sizeof *b->seeds);
    if (!b->middle || !b->cell || !b->seeds) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < m->element_count; e++)
        for (int k = 0; k <= b->dim; k++)
            vec_add_scaled(b->middle[e], b->middle[e], 1.0 / (b->dim + 1),
                           m->vertices[m->elements[e][k]]);
    choose_seeds(b, pieces, seed);
    parallel_for(b->ctx->pool, m->element_count, ELEMENT_GRAIN, find_cells, b);
    TRY(find_around(b));
    TRY(find_skin(b, a));
    for (int64_t v = 0; v < m->vertex_count; v++) flatten(b, v);
    return part_cells(b, a);
}

spate_status mesh_break(arena *a, int dim, int64_t pieces, uint64_t seed, mesh_body *m) {
    breaking b = {.ctx = a->ctx, .m = m, .dim = dim};
    if (pieces > m->element_count) pieces = m->element_count;
    if (pieces < 2) return SPATE_OK;
    spate_status status = break_up(&b, a, pieces, seed);
    give(b.ctx, b.middle), give(b.ctx, b.cell), give(b.ctx, b.seeds);
    give(b.ctx, b.first), give(b.ctx, b.around), give(b.ctx, b.on_skin);
    return status;
}

/* ---- Counting -------------------------------------------------------------------------------- */

static int32_t root_of(int32_t *up, int32_t v) {
    while (up[v] != v) v = up[v] = up[up[v]];
    return v;
}

spate_status mesh_count_pieces(spate_context *ctx, const mesh_body *m, int dim, int64_t *count,
                               int32_t *piece_of) {
    const int corners = m->kind == MESH_CLOTH ? 3 : dim + 1;
    int32_t *up = take(ctx, (size_t)m->vertex_count + 1, sizeof *up);
    int32_t *number = take(ctx, (size_t)m->vertex_count + 1, sizeof *number);
    *count = 0;
    const bool fine = up && number;
    for (int64_t v = 0; v < m->vertex_count && fine; v++) up[v] = (int32_t)v, number[v] = -1;
    for (int64_t e = 0; e < m->element_count && fine; e++)
        for (int k = 1; k < corners; k++) {
            const int32_t i = root_of(up, m->elements[e][0]), j = root_of(up, m->elements[e][k]);
            up[i > j ? i : j] = i > j ? j : i;
        }
    for (int64_t v = 0; v < m->vertex_count && fine; v++) {
        const int32_t root = root_of(up, (int32_t)v); /* the lowest of its piece */
        if (number[root] < 0) number[root] = (int32_t)(*count)++;
        if (piece_of) piece_of[v] = number[root];
    }
    give(ctx, up), give(ctx, number);
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
