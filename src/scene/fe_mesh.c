/*
 * Finite elements that fill a shape.
 *
 * A box without rotation: squares or cubes of about the spacing, whose sides are its sides, cut
 * into two triangles with alternating diagonals, or into five tetrahedra in two mirrored ways.
 *
 * Any other: isosurface stuffing (Labelle and Shewchuk 2007). A lattice of well-shaped simplices
 * (3D: body-centred cubic; 2D: squares with their centres) covers it, with the signed distance at
 * its vertices. A vertex that is much nearer to the surface than its neighbour beyond it is moved
 * there ("warped"); what then crosses the surface is cut there, and the inner part is split into
 * simplices. Faces between simplices are split by one rule, at the vertex of lower index, so the
 * parts fit.
 */
#include "scene/mesh_body.h"

#include "core/vec.h"

/* ---- Boxes ----------------------------------------------------------------------------------- */

static bool is_plain_box(const shape *s, int dim) {
    if (s->kind != SHAPE_BOX) return false;
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++)
            if (s->turn[r][c] != (r == c)) return false;
    return true;
}

static void cut_cell_2d(int32_t (*out)[4], const int32_t c[8], bool from_first) {
    const int32_t first[2][3] = {{c[0], c[1], c[3]}, {c[0], c[3], c[2]}};
    const int32_t second[2][3] = {{c[0], c[1], c[2]}, {c[1], c[3], c[2]}};
    for (int t = 0; t < 2; t++) memcpy(out[t], from_first ? first[t] : second[t], sizeof first[t]);
}

/* Four tetrahedra at every other corner of a cube, and one between them; corners are numbered by
 * x + 2 y + 4 z. */
static void cut_cell_3d(int32_t (*out)[4], const int32_t c[8], bool even) {
    static const int of[2][5][4] = {
        {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}},
        {{1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 6, 0}, {7, 6, 5, 3}, {0, 3, 5, 6}},
    };
    for (int t = 0; t < 5; t++)
        for (int k = 0; k < 4; k++) out[t][k] = c[of[even ? 0 : 1][t][k]];
}

/* Corners 2 and 3 change places where the volume is negative. */
static void orient(mesh_body *m, int dim) {
    for (int64_t e = 0; e < m->element_count; e++) {
        int32_t *c = m->elements[e];
        double D[3][3] = {{0}, {0}, {0, 0, 1}};
        for (int k = 0; k < dim; k++) vec_sub(D[k], m->vertices[c[k + 1]], m->vertices[c[0]]);
        if (mat_determinant(D) >= 0) continue;
        const int32_t swapped = c[dim - 1];
        c[dim - 1] = c[dim], c[dim] = swapped;
    }
}

static spate_status mesh_box(arena *a, const shape *s, int dim, const fe_fields *g,
                             mesh_body *out) {
    int64_t n[3] = {1, 1, 0}, vertices = 1, cells = 1;
    double low[3], side[3] = {0}, shortest = HUGE_VAL;
    for (int c = 0; c < dim; c++) {
        low[c] = s->move[c] + s->scale * s->a[c];
        side[c] = s->scale * (s->b[c] - s->a[c]);
        n[c] = (int64_t)fmax(1, fmin(round(side[c] / g->spacing), 1e6));
        shortest = fmin(shortest, side[c] / (double)n[c]);
        vertices *= n[c] + 1, cells *= n[c];
    }
    *out = (mesh_body){.kind = MESH_FE, .vertex_count = vertices, .spacing = shortest};
    if (vertices > MESH_VERTICES_MOST) return SPATE_OK;
    out->element_count = cells * (dim == 2 ? 2 : 5);
    out->vertices = arena_take(a, (size_t)vertices, sizeof *out->vertices);
    out->elements = arena_take(a, (size_t)out->element_count, sizeof *out->elements);
    if (!out->vertices || !out->elements) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < vertices; v++) {
        const int64_t at[3] = {v % (n[0] + 1), v / (n[0] + 1) % (n[1] + 1),
                               v / (n[0] + 1) / (n[1] + 1)};
        for (int c = 0; c < dim; c++)
            out->vertices[v][c] = low[c] + side[c] * (double)at[c] / (double)n[c];
    }
    for (int64_t cell = 0, e = 0; cell < cells; cell++) {
        const int64_t at[3] = {cell % n[0], cell / n[0] % n[1], cell / n[0] / n[1]};
        int32_t corner[8];
        for (int k = 0; k < 8; k++)
            corner[k] = (int32_t)(at[0] + k % 2 +
                                  (n[0] + 1) * (at[1] + k / 2 % 2 + (n[1] + 1) * (at[2] + k / 4)));
        const bool even =
            (at[0] + at[1] + at[2]) % 2 == 0 || (dim == 2 && g->diagonals == DIAGONALS_ONE);
        if (dim == 2)
            cut_cell_2d(out->elements + e, corner, even), e += 2;
        else
            cut_cell_3d(out->elements + e, corner, even), e += 5;
    }
    orient(out, dim);
    return SPATE_OK;
}

/* ---- Isosurface stuffing --------------------------------------------------------------------- */

/* Warps are decided by the distances of the lattice: the nearest crossing of a point's edges, if it
 * is near enough. */
typedef struct warp {
    double share; /* of the edge; 1: none */
    int64_t to;
} warp;

/* Points of the lattice: corners of cells, then their centres, x fastest. */
typedef struct stuffing {
    spate_context *ctx;
    const shape *shape;
    int dim;
    double low[3], cell;
    int64_t n[3]; /* cells */
    int64_t corners, count;
    double (*x)[3];
    double *distance; /* 0 on the surface */
    warp *warps;      /* while they are looked for */
    /* what comes of it: vertices beyond `count` are cuts */
    int64_t capacity, elements, element_capacity;
    int32_t (*corner)[4];
    int64_t *cut_head, *cut_next; /* cuts by the lower end of their edge */
    int32_t (*cut_ends)[2];
    int64_t cuts, next_capacity, ends_capacity;
} stuffing;

static int64_t corner_at(const stuffing *s, const int64_t at[3]) {
    return at[0] + (s->n[0] + 1) * (at[1] + (s->n[1] + 1) * at[2]);
}
static int64_t centre_at(const stuffing *s, const int64_t at[3]) {
    return s->corners + at[0] + s->n[0] * (at[1] + s->n[1] * at[2]);
}

typedef void (*simplex_visit)(stuffing *s, const int64_t simplex[4], spate_status *status);

/* 2D: the four triangles of a square around its centre. 3D: around every face between two cells,
 * the four tetrahedra of the two centres and an edge of the face. */
static void visit_simplices(stuffing *s, simplex_visit visit, spate_status *status) {
    const int64_t layers = s->dim == 3 ? s->n[2] : 1;
    int64_t at[3];
    for (at[2] = 0; at[2] < layers; at[2]++)
        for (at[1] = 0; at[1] < s->n[1]; at[1]++)
            for (at[0] = 0; at[0] < s->n[0]; at[0]++)
                for (int axis = 0; axis < (s->dim == 3 ? 3 : 1); axis++) {
                    static const int ring[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}};
                    if (s->dim == 3 && at[axis] + 1 >= s->n[axis]) continue;
                    for (int k = 0; k < 4; k++) {
                        int64_t simplex[4] = {centre_at(s, at)};
                        const int one = s->dim == 3 ? (axis + 1) % 3 : 0;
                        const int two = s->dim == 3 ? (axis + 2) % 3 : 1;
                        int64_t beside[3] = {at[0], at[1], at[2]};
                        if (s->dim == 3) beside[axis]++, simplex[3] = centre_at(s, beside);
                        for (int e = 0; e < 2; e++) {
                            int64_t end[3] = {beside[0], beside[1], beside[2]};
                            end[one] += ring[k + e][0], end[two] += ring[k + e][1];
                            simplex[e + 1] = corner_at(s, end);
                        }
                        visit(s, simplex, status);
                    }
                }
}

/* Where the distance is zero between two points, as a share of the way. */
static double crossing(const stuffing *s, int64_t a, int64_t b) {
    return s->distance[a] / (s->distance[a] - s->distance[b]);
}

/* The share of an edge within which its end is moved to the surface: edges from a corner to a
 * centre are the short ones. 3D: Labelle and Shewchuk, table 1, with which angles have bounds; 2D:
 * best of those tried. */
static double warp_share(const stuffing *s, int64_t a, int64_t b) {
    static const double of[2][2] = {{0.3, 0.41}, {0.24999, 0.41189}};
    return of[s->dim - 2][(a < s->corners) != (b < s->corners)];
}

static void note_warp(stuffing *s, const int64_t simplex[4], spate_status *status) {
    warp *all = s->warps;
    (void)status;
    for (int i = 0; i <= s->dim; i++)
        for (int k = 0; k <= s->dim; k++) {
            const int64_t a = simplex[i], b = simplex[k];
            if (!(s->distance[a] * s->distance[b] < 0)) continue;
            const double share = crossing(s, a, b);
            if (share < warp_share(s, a, b) &&
                (share < all[a].share || (share == all[a].share && b < all[a].to)))
                all[a] = (warp){share, b};
        }
}

static spate_status warp_points(stuffing *s, spate_status *status) {
    warp *all = take(s->ctx, (size_t)s->count, sizeof *all);
    double(*moved)[3] = take(s->ctx, (size_t)s->count, sizeof *moved);
    if (!all || !moved) *status = SPATE_OUT_OF_MEMORY;
    if (!*status) {
        for (int64_t v = 0; v < s->count; v++) all[v] = (warp){1, -1};
        s->warps = all;
        visit_simplices(s, note_warp, status);
        for (int64_t v = 0; v < s->count; v++) {
            vec_copy(moved[v], s->x[v]);
            if (all[v].to < 0) continue;
            vec_sub(moved[v], s->x[all[v].to], s->x[v]);
            vec_add_scaled(moved[v], s->x[v], all[v].share, moved[v]);
        }
        for (int64_t v = 0; v < s->count; v++) {
            vec_copy(s->x[v], moved[v]);
            if (all[v].to >= 0) s->distance[v] = 0;
        }
    }
    s->warps = NULL;
    give(s->ctx, all), give(s->ctx, moved);
    return *status;
}

/* The vertex where the surface cuts an edge. */
static spate_status cut_edge(stuffing *s, int64_t a, int64_t b, int64_t *out) {
    if (b < a) {
        const int64_t swapped = a;
        a = b, b = swapped;
    }
    for (int64_t k = s->cut_head[a]; k >= 0; k = s->cut_next[k])
        if (s->cut_ends[k][1] == b) {
            *out = s->count + k;
            return SPATE_OK;
        }
    TRY(GROW(s->ctx, s->x, s->capacity, s->count + s->cuts + 1));
    TRY(GROW(s->ctx, s->cut_next, s->next_capacity, s->cuts + 1));
    TRY(GROW(s->ctx, s->cut_ends, s->ends_capacity, s->cuts + 1));
    double way[3];
    vec_sub(way, s->x[b], s->x[a]);
    vec_add_scaled(s->x[s->count + s->cuts], s->x[a], crossing(s, a, b), way);
    s->cut_ends[s->cuts][0] = (int32_t)a, s->cut_ends[s->cuts][1] = (int32_t)b;
    s->cut_next[s->cuts] = s->cut_head[a];
    s->cut_head[a] = s->cuts;
    *out = s->count + s->cuts++;
    return SPATE_OK;
}

static spate_status add_element(stuffing *s, int64_t a, int64_t b, int64_t c, int64_t d) {
    TRY(GROW(s->ctx, s->corner, s->element_capacity, s->elements + 1));
    const int64_t of[4] = {a, b, c, d};
    for (int k = 0; k <= s->dim; k++) s->corner[s->elements][k] = (int32_t)of[k];
    s->elements++;
    return SPATE_OK;
}

/* A prism with the triangles a0 a1 a2 and b0 b1 b2, cut along a0 b1, a0 b2 and a1 b2. */
static spate_status add_prism(stuffing *s, const int64_t a[3], const int64_t b[3]) {
    TRY(add_element(s, a[0], b[0], b[1], b[2]));
    TRY(add_element(s, a[0], a[1], b[1], b[2]));
    return add_element(s, a[0], a[1], a[2], b[2]);
}

/* The corners of a simplex: inside, on the surface, outside; each in ascending order. */
typedef struct sorted_simplex {
    int64_t in[4], on[4], out[4];
    int in_count, on_count, out_count;
} sorted_simplex;

static sorted_simplex sort_simplex(const stuffing *s, const int64_t given[4]) {
    sorted_simplex r = {0};
    int64_t v[4] = {given[0], given[1], given[2], given[3]};
    for (int i = 0; i <= s->dim; i++)
        for (int k = i + 1; k <= s->dim; k++)
            if (v[k] < v[i]) {
                const int64_t swapped = v[i];
                v[i] = v[k], v[k] = swapped;
            }
    for (int i = 0; i <= s->dim; i++) {
        const double d = s->distance[v[i]];
        if (d < 0)
            r.in[r.in_count++] = v[i];
        else if (d > 0)
            r.out[r.out_count++] = v[i];
        else
            r.on[r.on_count++] = v[i];
    }
    return r;
}

/* cut[i][o]: between corner i inside and o outside. */
static spate_status cut_all(stuffing *s, const sorted_simplex *r, int64_t cut[4][4]) {
    for (int i = 0; i < r->in_count; i++)
        for (int o = 0; o < r->out_count; o++) TRY(cut_edge(s, r->in[i], r->out[o], &cut[i][o]));
    return SPATE_OK;
}

/* One corner inside: the simplex is smaller. */
static spate_status add_tip(stuffing *s, const sorted_simplex *r, int64_t cut[4][4]) {
    int64_t of[4] = {r->in[0]};
    int count = 1;
    for (int k = 0; k < r->on_count; k++) of[count++] = r->on[k];
    for (int o = 0; o < r->out_count; o++) of[count++] = cut[0][o];
    return add_element(s, of[0], of[1], of[2], of[3]);
}

static double squared_distance(const stuffing *s, int64_t a, int64_t b) {
    double d[3];
    vec_sub(d, s->x[a], s->x[b]);
    return vec_dot(d, d);
}

/* A quadrilateral in 2D, cut along the shorter diagonal. */
static spate_status add_quad(stuffing *s, int64_t a, int64_t b, int64_t c, int64_t d) {
    const bool from_a = squared_distance(s, a, c) < squared_distance(s, b, d);
    TRY(add_element(s, a, b, from_a ? c : d, 0));
    return from_a ? add_element(s, a, c, d, 0) : add_element(s, b, c, d, 0);
}

static spate_status add_cut_simplex(stuffing *s, const sorted_simplex *r) {
    int64_t cut[4][4] = {{0}};
    const int64_t *in = r->in;
    TRY(cut_all(s, r, cut));
    if (r->in_count == 1) return add_tip(s, r, cut);
    if (s->dim == 2) return add_quad(s, in[0], in[1], cut[1][0], cut[0][0]);
    if (r->in_count == 2 && r->on_count == 1) { /* a pyramid */
        TRY(add_element(s, r->on[0], in[0], in[1], cut[1][0]));
        return add_element(s, r->on[0], in[0], cut[1][0], cut[0][0]);
    }
    if (r->in_count == 2)
        return add_prism(s, (int64_t[]){in[0], cut[0][0], cut[0][1]},
                         (int64_t[]){in[1], cut[1][0], cut[1][1]});
    return add_prism(s, in, (int64_t[]){cut[0][0], cut[1][0], cut[2][0]});
}

static void stuff_simplex(stuffing *s, const int64_t simplex[4], spate_status *status) {
    if (*status) return;
    const sorted_simplex r = sort_simplex(s, simplex);
    if (r.in_count == 0) return;
    if (r.out_count == 0)
        *status = add_element(s, simplex[0], simplex[1], simplex[2], simplex[3]);
    else
        *status = add_cut_simplex(s, &r);
}

/* Places and distances of the lattice's points. */
static spate_status lay_lattice(stuffing *s) {
    s->corners = s->count = 1;
    for (int c = 0; c < s->dim; c++) s->corners *= s->n[c] + 1, s->count *= s->n[c];
    s->count += s->corners;
    TRY(GROW(s->ctx, s->x, s->capacity, s->count));
    s->distance = take(s->ctx, (size_t)s->count, sizeof *s->distance);
    if (!s->distance) return SPATE_OUT_OF_MEMORY;
    const double rounding = 1e-9 * s->cell;
    for (int64_t v = 0; v < s->count; v++) {
        const bool centre = v >= s->corners;
        const int64_t k = centre ? v - s->corners : v;
        const int64_t row = s->n[0] + !centre, rows = s->n[1] + !centre;
        const int64_t at[3] = {k % row, k / row % rows, k / row / rows};
        for (int c = 0; c < s->dim; c++)
            s->x[v][c] = s->low[c] + s->cell * ((double)at[c] + (centre ? 0.5 : 0));
        const double d = shape_distance(s->shape, s->dim, s->x[v]);
        s->distance[v] = fabs(d) < rounding ? 0 : d;
    }
    return SPATE_OK;
}

/* Vertices that elements use, in the lattice's order, and the elements. */
static spate_status keep_used(stuffing *s, arena *a, mesh_body *out) {
    const int64_t all = s->count + s->cuts;
    int32_t *place = take(s->ctx, (size_t)all + 1, sizeof *place);
    if (!place) return SPATE_OUT_OF_MEMORY;
    for (int64_t e = 0; e < s->elements; e++)
        for (int k = 0; k <= s->dim; k++) place[s->corner[e][k]] = 1;
    int64_t used = 0;
    for (int64_t v = 0; v < all; v++) place[v] = place[v] ? (int32_t)used++ : -1;
    out->vertex_count = used;
    out->element_count = s->elements;
    out->vertices = arena_take(a, (size_t)used + 1, sizeof *out->vertices);
    out->elements = arena_take(a, (size_t)s->elements + 1, sizeof *out->elements);
    const bool fine = out->vertices && out->elements;
    for (int64_t v = 0; v < all && fine; v++)
        if (place[v] >= 0) vec_copy(out->vertices[place[v]], s->x[v]);
    for (int64_t e = 0; e < s->elements && fine; e++)
        for (int k = 0; k <= s->dim; k++) out->elements[e][k] = place[s->corner[e][k]];
    give(s->ctx, place);
    return fine ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void stuffing_free(stuffing *s) {
    give(s->ctx, s->x), give(s->ctx, s->distance), give(s->ctx, s->corner);
    give(s->ctx, s->cut_head), give(s->ctx, s->cut_next), give(s->ctx, s->cut_ends);
}

static spate_status stuff(stuffing *s, arena *a, mesh_body *out) {
    spate_status status = SPATE_OK;
    TRY(lay_lattice(s));
    TRY(warp_points(s, &status));
    s->cut_head = take(s->ctx, (size_t)s->count, sizeof *s->cut_head);
    if (!s->cut_head) return SPATE_OUT_OF_MEMORY;
    for (int64_t v = 0; v < s->count; v++) s->cut_head[v] = -1;
    visit_simplices(s, stuff_simplex, &status);
    if (!status) status = keep_used(s, a, out);
    if (!status) orient(out, s->dim);
    return status;
}

/* Cells so that edges are about as long as the spacing: in the lattices here the shortest one is
 * from a corner to a centre. */
spate_status mesh_from_shape(arena *a, const shape *s, int dim, const fe_fields *g,
                             mesh_body *out) {
    if (is_plain_box(s, dim)) return mesh_box(a, s, dim, g, out);
    *out = (mesh_body){.kind = MESH_FE, .spacing = g->spacing};
    const bounds box = shape_bounds(s, dim);
    stuffing t = {.ctx = a->ctx, .shape = s, .dim = dim, .n = {1, 1, 1}};
    t.cell = g->spacing * (dim == 2 ? 1.4142135623730951 : 1.1547005383792515);
    double points = 1;
    for (int c = 0; c < dim; c++) {
        const double cells = (box.max[c] - box.min[c]) / t.cell + 2;
        points *= cells;
        t.low[c] = box.min[c] - t.cell;
        t.n[c] = cells < MESH_VERTICES_MOST ? (int64_t)ceil(cells) : MESH_VERTICES_MOST;
    }
    if (!(points < MESH_VERTICES_MOST / 2)) {
        out->vertex_count = (int64_t)MESH_VERTICES_MOST + 1;
        return SPATE_OK;
    }
    spate_status status = stuff(&t, a, out);
    stuffing_free(&t);
    return status;
}
