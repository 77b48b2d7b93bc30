#include "scene/roots.h"

#include "core/random.h"
#include "core/vec.h"
#include <stdlib.h>

enum { STREAM_TRIANGLE = 41, STREAM_PLACE = 42, STREAM_AREA = 44 };

/* ---- Surfaces -------------------------------------------------------------------------------- */

static spate_status take_surface(spate_context *ctx, int64_t count, root_surface *out) {
    *out = (root_surface){.count = count};
    out->corners = take(ctx, (size_t)count + 1, sizeof *out->corners);
    out->areas = take(ctx, (size_t)count + 1, sizeof *out->areas);
    return out->corners && out->areas ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void add_up_areas(root_surface *s) {
    double sum = 0;
    for (int64_t t = 0; t < s->count; t++) {
        double a[3], b[3], n[3];
        vec_sub(a, s->corners[t][1], s->corners[t][0]);
        vec_sub(b, s->corners[t][2], s->corners[t][0]);
        vec_cross(n, a, b);
        s->areas[t] = sum += vec_length(n) / 2;
    }
}

static spate_status surface_of_mesh(spate_context *ctx, const shape *s, root_surface *out) {
    const mesh *m = s->mesh;
    TRY(take_surface(ctx, m->triangle_count, out));
    for (int64_t t = 0; t < m->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            double x[3];
            mat_apply(x, s->turn, m->vertices[m->triangles[t][k]]);
            vec_add_scaled(out->corners[t][k], s->move, s->scale, x);
        }
    return SPATE_OK;
}

static spate_status surface_of_solid(spate_context *ctx, const shape *s, double spacing,
                                     root_surface *out) {
    arena a = arena_create(ctx);
    mesh_body body;
    const fe_fields how = {.spacing = spacing};
    int32_t(*faces)[3] = NULL;
    int64_t count = 0;
    spate_status status = mesh_from_shape(&a, s, 3, &how, &body);
    const bool meshed = !status && body.vertices;
    if (meshed) status = mesh_body_skin(&a, &body, 3, &faces, &count);
    if (!status) status = take_surface(ctx, count, out);
    for (int64_t t = 0; t < count && !status; t++)
        for (int k = 0; k < 3; k++) vec_copy(out->corners[t][k], body.vertices[faces[t][k]]);
    arena_free(&a);
    return status;
}

spate_status root_surface_of(spate_context *ctx, const shape *s, double spacing,
                             root_surface *out) {
    *out = (root_surface){0};
    TRY(s->kind == SHAPE_MESH ? surface_of_mesh(ctx, s, out)
                              : surface_of_solid(ctx, s, spacing, out));
    add_up_areas(out);
    return SPATE_OK;
}

spate_status root_surface_flat(spate_context *ctx, const double corner[3], const double along[3],
                               const double across[3], root_surface *out) {
    TRY(take_surface(ctx, 2, out));
    for (int t = 0; t < 2; t++) {
        vec_add(out->corners[t][1], corner, t ? across : along);
        vec_add(out->corners[t][2], corner, t ? along : across);
        vec_copy(out->corners[t][0], corner);
    }
    for (int a = 0; a < 3; a++) out->corners[1][0][a] += along[a] + across[a];
    add_up_areas(out);
    return SPATE_OK;
}

void root_surface_free(spate_context *ctx, root_surface *s) {
    give(ctx, s->corners), give(ctx, s->areas);
    *s = (root_surface){0};
}

/* ---- Darts ----------------------------------------------------------------------------------- */

/* A point of the surface, each as likely as any other. */
static void dart(const root_surface *s, uint64_t seed, uint64_t number, double x[3]) {
    const double at = random_unit(seed, number, STREAM_TRIANGLE) * s->areas[s->count - 1];
    int64_t low = 0, high = s->count - 1; /* the first whose sum is above */
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (s->areas[middle] > at)
            high = middle;
        else
            low = middle + 1;
    }
    double u = random_unit(seed, number, STREAM_PLACE);
    double v = random_unit(seed, number, STREAM_PLACE + 1);
    if (u + v > 1) u = 1 - u, v = 1 - v;
    const double(*c)[3] = s->corners[low];
    for (int a = 0; a < 3; a++) x[a] = c[0][a] + u * (c[1][a] - c[0][a]) + v * (c[2][a] - c[0][a]);
}

static bool is_within(const shape *within, const double x[3]) {
    return !within || shape_distance(within, 3, x) <= 0;
}

double root_surface_area(const root_surface *s, const shape *within, uint64_t seed) {
    enum { TRIALS = 100000 };
    if (s->count == 0) return 0;
    const double all = s->areas[s->count - 1];
    if (!within) return all;
    int64_t hits = 0;
    for (int k = 0; k < TRIALS; k++) {
        double x[3];
        dart(s, random_bits(seed, 0, STREAM_AREA), (uint64_t)k, x);
        hits += is_within(within, x);
    }
    return all * (double)hits / TRIALS;
}

/* Points by cells of the first radius; cells that share a slot only cost time. */
typedef struct dart_board {
    double cell;
    uint64_t mask;
    int64_t *head, *next; /* a point's number + 1, 0: none */
} dart_board;

static uint64_t slot_of(const dart_board *b, const int64_t c[3]) {
    return random_mix((uint64_t)c[0] * 0x8da6b343u ^ (uint64_t)c[1] * 0xd8163841u ^
                      (uint64_t)c[2] * 0xcb1ab31fu) &
           b->mask;
}

static bool is_free(const dart_board *b, const double (*points)[3], const double x[3],
                    double radius) {
    int64_t low[3], high[3], c[3];
    for (int a = 0; a < 3; a++) {
        low[a] = (int64_t)floor((x[a] - radius) / b->cell);
        high[a] = (int64_t)floor((x[a] + radius) / b->cell);
    }
    for (c[2] = low[2]; c[2] <= high[2]; c[2]++)
        for (c[1] = low[1]; c[1] <= high[1]; c[1]++)
            for (c[0] = low[0]; c[0] <= high[0]; c[0]++)
                for (int64_t p = b->head[slot_of(b, c)]; p; p = b->next[p - 1]) {
                    double d[3];
                    vec_sub(d, points[p - 1], x);
                    if (vec_dot(d, d) < radius * radius) return false;
                }
    return true;
}

static void board_add(dart_board *b, const double x[3], int64_t number) {
    int64_t c[3];
    for (int a = 0; a < 3; a++) c[a] = (int64_t)floor(x[a] / b->cell);
    const uint64_t slot = slot_of(b, c);
    b->next[number] = b->head[slot];
    b->head[slot] = number + 1;
}

/* The closest packing has neighbours at sqrt(2 / sqrt 3) sqrt(area / count); random darts come to
 * two thirds of that. */
#define FIRST_RADIUS (0.8 * 1.0745699318235418)
#define SHRINK       0.97

/* ---- Their order ----------------------------------------------------------------------------- */

/* A root, and its place along a Z-order curve (Morton 1966): strands that are near each other are so
 * in memory too. */
typedef struct root_place {
    uint64_t key;
    int64_t number;
    double x[3];
} root_place;

enum { KEY_BITS = 20 }; /* of each axis */

static uint64_t key_of(const double x[3], const double low[3], double width) {
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        const uint64_t c = (uint64_t)((x[a] - low[a]) / width * ((1 << KEY_BITS) - 1));
        for (int bit = 0; bit < KEY_BITS; bit++) key |= (c >> bit & 1) << (3 * bit + a);
    }
    return key;
}

static int compare_places(const void *a, const void *b) {
    const root_place *p = a, *q = b;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->number < q->number ? -1 : 1;
}

static spate_status put_in_order(spate_context *ctx, int64_t count, double (*roots)[3]) {
    double low[3] = {HUGE_VAL, HUGE_VAL, HUGE_VAL}, width = 0;
    root_place *places = take(ctx, (size_t)count + 1, sizeof *places);
    if (!places) return SPATE_OUT_OF_MEMORY;
    for (int64_t k = 0; k < count; k++)
        for (int a = 0; a < 3; a++) low[a] = fmin(low[a], roots[k][a]);
    for (int64_t k = 0; k < count; k++)
        for (int a = 0; a < 3; a++) width = fmax(width, roots[k][a] - low[a]);
    for (int64_t k = 0; k < count; k++) {
        places[k] = (root_place){.key = width > 0 ? key_of(roots[k], low, width) : 0, .number = k};
        vec_copy(places[k].x, roots[k]);
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int64_t k = 0; k < count; k++) vec_copy(roots[k], places[k].x);
    give(ctx, places);
    return SPATE_OK;
}

spate_status roots_spread(spate_context *ctx, const root_surface *s, const shape *within,
                          double area, uint64_t seed, int64_t count, double (*roots)[3]) {
    double radius = FIRST_RADIUS * sqrt(area / (double)count);
    dart_board b = {.cell = radius, .mask = 1};
    while (b.mask < 2 * (uint64_t)count) b.mask = 2 * b.mask + 1;
    b.head = take(ctx, (size_t)b.mask + 1, sizeof *b.head);
    b.next = take(ctx, (size_t)count + 1, sizeof *b.next);
    const bool fine = b.head && b.next;
    const double round = ceil((double)count * s->areas[s->count - 1] / area);
    int64_t found = 0;
    for (uint64_t number = 0; fine && found < count; radius *= SHRINK)
        for (double k = 0; k < round && found < count; k++) {
            double x[3];
            dart(s, seed, number++, x);
            if (!is_within(within, x) || !is_free(&b, roots, x, radius)) continue;
            vec_copy(roots[found], x);
            board_add(&b, x, found++);
        }
    give(ctx, b.head), give(ctx, b.next);
    return fine ? put_in_order(ctx, count, roots) : SPATE_OUT_OF_MEMORY;
}
