/*
 * From a soup of triangles to a surface: equal vertices become one, triangles without three corners
 * go, neighbours are turned the same way round, pieces that face in are turned out, holes are
 * found.
 */
#include "core/random.h"
#include "core/vec.h"
#include "scene/mesh.h"
#include "scene/mesh_tree.h"
#include <string.h>

/* ---- Welding
 * --------------------------------------------------------------------------------------------- */

static uint64_t position_key(const double x[3]) {
    uint64_t key = 0;
    for (int i = 0; i < 3; i++) {
        double value = x[i] + 0.0; /* -0 and 0 are the same place */
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        key = random_mix(key ^ bits);
    }
    return key;
}

static bool same_place(const double a[3], const double b[3]) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

/* For each vertex the first one at the same place. */
static spate_status find_equal(spate_context *ctx, const mesh *m, int32_t *first) {
    size_t slots = 16;
    while (slots < 2 * (size_t)m->vertex_count) slots *= 2;
    int32_t *table = take(ctx, slots, sizeof *table); /* vertex + 1 */
    if (!table) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        size_t slot = position_key(m->vertices[v]) & (slots - 1);
        while (table[slot] && !same_place(m->vertices[table[slot] - 1], m->vertices[v]))
            slot = (slot + 1) & (slots - 1);
        if (!table[slot]) table[slot] = (int32_t)v + 1;
        first[v] = table[slot] - 1;
    }
    give(ctx, table);
    return SPATE_OK;
}

/* Keeps triangles of three different vertices, and the vertices that they use. */
static void keep_used(mesh *m, const int32_t *first, int32_t *number) {
    int64_t kept = 0;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        const int32_t *c = m->triangles[t];
        int32_t v[3] = {first[c[0]], first[c[1]], first[c[2]]};
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        memcpy(m->triangles[kept++], v, sizeof v);
    }
    m->triangle_count = kept;
    for (int64_t t = 0; t < kept; t++)
        for (int c = 0; c < 3; c++) number[m->triangles[t][c]] = 1;
    int32_t next = 0;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        if (!number[v]) continue;
        vec_copy(m->vertices[next], m->vertices[v]);
        number[v] = next++;
    }
    m->vertex_count = next;
    for (int64_t t = 0; t < kept; t++)
        for (int c = 0; c < 3; c++) m->triangles[t][c] = number[m->triangles[t][c]];
}

static spate_status weld(spate_context *ctx, const char *name, mesh *m) {
    int32_t *first = take(ctx, (size_t)m->vertex_count, sizeof *first);
    int32_t *number = take(ctx, (size_t)m->vertex_count, sizeof *number);
    spate_status status = first && number ? find_equal(ctx, m, first) : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) keep_used(m, first, number);
    give(ctx, first);
    give(ctx, number);
    if (status == SPATE_OK && m->triangle_count == 0)
        return fail(ctx, SPATE_BAD_INPUT, "%s: no triangle of the mesh has three different corners",
                    name);
    return status;
}

void mesh_measure_bounds(mesh *m) {
    for (int i = 0; i < 3; i++) m->min[i] = HUGE_VAL, m->max[i] = -HUGE_VAL;
    for (int64_t v = 0; v < m->vertex_count; v++)
        for (int i = 0; i < 3; i++) {
            m->min[i] = fmin(m->min[i], m->vertices[v][i]);
            m->max[i] = fmax(m->max[i], m->vertices[v][i]);
        }
}

/* ---- Pieces and their orientation
 * --------------------------------------------------------------------------- */

typedef struct piece {
    double volume;
    double min[3], max[3];
    int64_t triangles, turned;
    bool turn_back; /* most were turned in the flood: turn the others instead */
    bool inverted;
} piece;

typedef struct repair {
    spate_context *ctx;
    mesh *m;
    int32_t *twins;    /* of half-edges */
    int32_t *piece_of; /* of triangles */
    uint8_t *turned;   /* of triangles */
    int32_t *queue;
    piece *pieces;
    int64_t piece_capacity;
    int32_t *hole_of;      /* of vertices: union-find parents over open edges */
    double (*hole_sum)[4]; /* of vertices that stand for a hole: middle times length, length */
    int64_t holes;
} repair;

static const int32_t *corners(const repair *r, int64_t t) { return r->m->triangles[t]; }

static int32_t start_of(const repair *r, int32_t h) { return corners(r, h / 3)[h % 3]; }
static int32_t end_of(const repair *r, int32_t h) { return corners(r, h / 3)[(h % 3 + 1) % 3]; }

/* Whether two half-edges of one edge run opposite ways, as on a surface turned one way round. */
static bool agree(const repair *r, int32_t h, int32_t twin) {
    bool opposite = start_of(r, h) == end_of(r, twin);
    return opposite == (r->turned[h / 3] == r->turned[twin / 3]);
}

/* Walks over a piece from one triangle and turns every neighbour like the one it was reached from.
 */
static void flood(repair *r, int32_t seed, int32_t number) {
    int64_t head = 0, tail = 0;
    piece *p = &r->pieces[number];
    r->queue[tail++] = seed;
    r->piece_of[seed] = number;
    while (head < tail) {
        int32_t t = r->queue[head++];
        p->triangles++;
        p->turned += r->turned[t];
        for (int32_t h = 3 * t; h < 3 * t + 3; h++) {
            int32_t twin = r->twins[h];
            if (twin < 0) continue;
            if (r->piece_of[twin / 3] < 0) {
                r->piece_of[twin / 3] = number;
                if (!agree(r, h, twin)) r->turned[twin / 3] = 1;
                r->queue[tail++] = twin / 3;
            } else if (h < twin && !agree(r, h, twin)) {
                r->m->shared_edges++; /* one-sided, like a Moebius band */
            }
        }
    }
    p->turn_back = 2 * p->turned > p->triangles;
}

static void turn(mesh *m, int64_t t) {
    int32_t swap = m->triangles[t][1];
    m->triangles[t][1] = m->triangles[t][2];
    m->triangles[t][2] = swap;
}

static spate_status find_pieces(repair *r) {
    mesh *m = r->m;
    for (int64_t t = 0; t < m->triangle_count; t++) r->piece_of[t] = -1;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        if (r->piece_of[t] >= 0) continue;
        TRY(GROW(r->ctx, r->pieces, r->piece_capacity, m->pieces + 1));
        r->pieces[m->pieces] = (piece){.min = {HUGE_VAL, HUGE_VAL, HUGE_VAL},
                                       .max = {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
        flood(r, (int32_t)t, (int32_t)m->pieces++);
    }
    for (int64_t t = 0; t < m->triangle_count; t++) {
        r->turned[t] ^= r->pieces[r->piece_of[t]].turn_back;
        if (r->turned[t]) turn(m, t);
    }
    return SPATE_OK;
}

/* ---- Holes
 * ----------------------------------------------------------------------------------------------------
 */

static int32_t hole_root(repair *r, int32_t v) {
    while (r->hole_of[v] != v) v = r->hole_of[v] = r->hole_of[r->hole_of[v]];
    return v;
}

/* Open edges that hang together are a hole (loops that share a vertex count as one); its middle is
 * that of its edges, weighted by length. */
static void find_holes(repair *r) {
    mesh *m = r->m;
    int32_t half_edges = (int32_t)(3 * m->triangle_count);
    for (int64_t v = 0; v < m->vertex_count; v++) r->hole_of[v] = (int32_t)v;
    for (int32_t h = 0; h < half_edges; h++) {
        if (r->twins[h] == MESH_SHARED_EDGE) m->shared_edges++;
        if (r->twins[h] != MESH_OPEN_EDGE) continue;
        m->open_edges++;
        r->hole_of[hole_root(r, start_of(r, h))] = hole_root(r, end_of(r, h));
    }
    for (int32_t h = 0; h < half_edges; h++) {
        if (r->twins[h] != MESH_OPEN_EDGE) continue;
        const double *a = m->vertices[start_of(r, h)], *b = m->vertices[end_of(r, h)];
        double *sum = r->hole_sum[hole_root(r, end_of(r, h))], d[3];
        vec_sub(d, b, a);
        double length = vec_length(d);
        for (int i = 0; i < 3; i++) sum[i] += length * (a[i] + b[i]) / 2;
        sum[3] += length;
    }
    double longest = 0;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        double *sum = r->hole_sum[v];
        if (!(sum[3] > 0)) continue;
        for (int i = 0; i < 3; i++) sum[i] /= sum[3];
        if (sum[3] > longest) longest = sum[3], vec_copy(m->hole, sum);
        r->holes++;
    }
}

/* ---- Volumes
 * ----------------------------------------------------------------------------------------------------
 */

/* Of the tetrahedron that a, b, c form with o. */
static double wedge(const double o[3], const double a[3], const double b[3], const double c[3]) {
    double u[3], v[3], w[3], across[3];
    vec_sub(u, a, o);
    vec_sub(v, b, o);
    vec_sub(w, c, o);
    vec_cross(across, v, w);
    return vec_dot(u, across) / 6;
}

static void measure_pieces(repair *r) {
    mesh *m = r->m;
    double o[3];
    for (int i = 0; i < 3; i++) o[i] = (m->min[i] + m->max[i]) / 2;
    for (int64_t t = 0; t < m->triangle_count; t++) {
        piece *p = &r->pieces[r->piece_of[t]];
        const int32_t *c = m->triangles[t];
        p->volume += wedge(o, m->vertices[c[0]], m->vertices[c[1]], m->vertices[c[2]]);
        for (int k = 0; k < 3; k++)
            for (int i = 0; i < 3; i++) {
                p->min[i] = fmin(p->min[i], m->vertices[c[k]][i]);
                p->max[i] = fmax(p->max[i], m->vertices[c[k]][i]);
            }
        for (int32_t h = (int32_t)(3 * t); h < 3 * t + 3; h++) {
            if (r->twins[h] != MESH_OPEN_EDGE) continue;
            int32_t a = start_of(r, h), b = end_of(r, h);
            p->volume += wedge(o, m->vertices[b], m->vertices[a], r->hole_sum[hole_root(r, b)]);
        }
    }
    for (int64_t i = 0; i < m->pieces; i++) m->volume += r->pieces[i].volume;
}

static bool is_within(const piece *inner, const piece *outer) {
    for (int i = 0; i < 3; i++)
        if (inner->min[i] < outer->min[i] || inner->max[i] > outer->max[i]) return false;
    return true;
}

/* A piece that faces in is the wall of a cavity when a piece that faces out surrounds it; any other
 * one is inside out. A mesh whose volume is negative in all is inside out as a whole. */
static bool turn_inverted(repair *r) {
    mesh *m = r->m;
    bool whole = m->volume < 0, any = whole;
    for (int64_t i = 0; i < m->pieces; i++)
        if (whole) r->pieces[i].inverted = true, r->pieces[i].volume *= -1;
    for (int64_t i = 0; i < m->pieces; i++) {
        piece *p = &r->pieces[i];
        bool cavity = !(p->volume < 0);
        for (int64_t k = 0; k < m->pieces && !cavity; k++)
            cavity = k != i && r->pieces[k].volume > -p->volume && is_within(p, &r->pieces[k]);
        if (!cavity) p->inverted = !p->inverted, p->volume *= -1, any = true;
    }
    m->volume = 0;
    for (int64_t i = 0; i < m->pieces; i++) m->volume += r->pieces[i].volume;
    for (int64_t t = 0; t < m->triangle_count; t++)
        if (r->pieces[r->piece_of[t]].inverted) turn(m, t);
    return any;
}

static void report(const repair *r, const char *name, bool inverted) {
    const mesh *m = r->m;
    if (m->open_edges)
        warn(r->ctx, "open mesh",
             "%s: the mesh is open: %lld edges around %lld %s have one triangle only, the longest "
             "hole is around (%g, %g, %g); what is inside is a guess there until it is closed",
             name, (long long)m->open_edges, (long long)r->holes, r->holes == 1 ? "hole" : "holes",
             m->hole[0], m->hole[1], m->hole[2]);
    if (inverted)
        warn(r->ctx, "inverted mesh",
             "%s: the mesh faces in; it is turned inside out (reverse its faces to silence this)",
             name);
    if (m->shared_edges)
        warn(r->ctx, "non-manifold mesh",
             "%s: %lld edges of the mesh do not join two triangles in one way; its inside is taken "
             "from the winding number",
             name, (long long)m->shared_edges);
}

static spate_status repair_surface(repair *r, const char *name) {
    mesh *m = r->m;
    size_t vertices = (size_t)m->vertex_count, triangles = (size_t)m->triangle_count;
    r->piece_of = take(r->ctx, triangles, sizeof *r->piece_of);
    r->turned = take(r->ctx, triangles, sizeof *r->turned);
    r->queue = take(r->ctx, triangles, sizeof *r->queue);
    r->hole_of = take(r->ctx, vertices, sizeof *r->hole_of);
    r->hole_sum = take(r->ctx, vertices, sizeof *r->hole_sum);
    if (!r->piece_of || !r->turned || !r->queue || !r->hole_of || !r->hole_sum)
        return SPATE_OUT_OF_MEMORY;
    TRY(mesh_pair_edges(r->ctx, m, &r->twins));
    TRY(find_pieces(r));
    give(r->ctx, r->twins); /* turned triangles number their edges anew */
    TRY(mesh_pair_edges(r->ctx, m, &r->twins));
    find_holes(r);
    measure_pieces(r);
    bool inverted = turn_inverted(r);
    m->state = m->open_edges ? MESH_OPEN : inverted ? MESH_INVERTED : MESH_CLOSED;
    m->by_winding = m->open_edges || m->shared_edges || m->pieces > 1;
    report(r, name, inverted);
    return SPATE_OK;
}

/* What makes distances fast. */
static spate_status build(arena *a, mesh *m) {
    TRY(mesh_build_tree(a, m));
    TRY(mesh_build_normals(a, m));
    return m->by_winding ? mesh_build_far(a, m) : SPATE_OK;
}

spate_status mesh_prepare(arena *a, const char *name, mesh *m) {
    TRY(weld(a->ctx, name, m));
    mesh_measure_bounds(m);
    repair r = {.ctx = a->ctx, .m = m};
    spate_status status = repair_surface(&r, name);
    give(r.ctx, r.twins);
    give(r.ctx, r.piece_of);
    give(r.ctx, r.turned);
    give(r.ctx, r.queue);
    give(r.ctx, r.pieces);
    give(r.ctx, r.hole_of);
    give(r.ctx, r.hole_sum);
    TRY(status);
    return build(a, m);
}

spate_status mesh_map(arena *a, const mesh *m, const double by[3][3], mesh **out) {
    mesh *c = arena_take(a, 1, sizeof *c);
    if (!c) return SPATE_OUT_OF_MEMORY;
    *c = *m; /* its edges, pieces and orientation stay */
    c->vertices = arena_take(a, (size_t)m->vertex_count, sizeof *c->vertices);
    c->triangles = arena_take(a, (size_t)m->triangle_count, sizeof *c->triangles);
    if (!c->vertices || !c->triangles) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < m->vertex_count; v++) mat_apply(c->vertices[v], by, m->vertices[v]);
    memcpy(c->triangles, m->triangles, (size_t)m->triangle_count * sizeof *c->triangles);
    mat_apply(c->hole, by, m->hole);
    c->volume *= mat_determinant(by);
    mesh_measure_bounds(c);
    *out = c;
    return build(a, c);
}
