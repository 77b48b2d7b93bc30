#include "scene/strands.h"

#include "core/random.h"
#include "core/threads.h"
#include "core/vec.h"
#include "scene/roots.h"

static const double PI = 3.14159265358979323846;

enum { STREAM_LENGTH = 51, STREAM_PHASE = 52, STREAM_LEAN = 53, STRAND_GRAIN = 256 };

/* ---- What all have in common ----------------------------------------------------------------- */

/* Room for `count` strands of as many segments. */
static spate_status take_strands(arena *a, const strands_fields *g, double count, int64_t segments,
                                 mesh_body *out) {
    const double vertices = count * (double)(segments + 1);
    const bool many = !(vertices <= MESH_VERTICES_MOST);
    *out = (mesh_body){.kind = MESH_STRANDS,
                       .vertex_count = many ? (int64_t)MESH_VERTICES_MOST + 1 : (int64_t)vertices,
                       .strand_count = many ? 0 : (int64_t)count,
                       .radius = g->radius};
    if (many) return SPATE_OK;
    out->vertices = arena_take(a, (size_t)out->vertex_count + 1, sizeof *out->vertices);
    out->strand_first = arena_take(a, (size_t)out->strand_count + 1, sizeof *out->strand_first);
    if (!out->vertices || !out->strand_first) return SPATE_OUT_OF_MEMORY;
    for (int64_t s = 0; s <= out->strand_count; s++) out->strand_first[s] = s * (segments + 1);
    return SPATE_OK;
}

/* Two unit vectors across a direction. */
static void across(const double direction[3], double u[3], double v[3]) {
    double t[3], axis[3] = {0};
    int least = 0;
    vec_copy(t, direction);
    vec_normalise(t);
    for (int a = 1; a < 3; a++)
        if (fabs(t[a]) < fabs(t[least])) least = a;
    axis[least] = 1;
    vec_cross(u, t, axis);
    vec_normalise(u);
    vec_cross(v, t, u);
}

/* ---- Rows ------------------------------------------------------------------------------------ */

/* A point of a strand, s of its length from the root: on a line, or on a helix that begins on it;
 * in 2D a wave. */
static void strand_point(const strands_fields *g, int dim, double s, const double u[3],
                         const double v[3], double x[3]) {
    vec_add_scaled(x, x, s, g->direction);
    if (!(g->curl_radius > 0)) return;
    const double turn = 2 * PI * s * vec_length(g->direction) / g->curl_length;
    vec_add_scaled(x, x, g->curl_radius * sin(turn), dim == 2 ? v : u);
    if (dim == 3) vec_add_scaled(x, x, g->curl_radius * (1 - cos(turn)), v);
}

spate_status mesh_of_strands(arena *a, const strands_fields *g, int dim, mesh_body *out) {
    const int64_t segments = mesh_pieces(vec_length(g->direction), g->spacing);
    TRY(take_strands(a, g, (double)g->count[0] * (double)g->count[1], segments, out));
    out->spacing = vec_length(g->direction) / (double)segments;
    double u[3], v[3];
    across(g->direction, u, v);
    if (dim == 2) vec_set(v, -g->direction[1], g->direction[0], 0), vec_normalise(v);
    for (int64_t s = 0, at = 0; s < out->strand_count; s++) {
        const int64_t i = s % g->count[0], j = s / g->count[0];
        const double along = g->count[0] > 1 ? (double)i / (double)(g->count[0] - 1) : 0;
        const double up = g->count[1] > 1 ? (double)j / (double)(g->count[1] - 1) : 0;
        for (int64_t k = 0; k <= segments; k++, at++) {
            double *x = out->vertices[at];
            vec_add_scaled(x, g->root, along, g->row);
            vec_add_scaled(x, x, up, g->rows);
            strand_point(g, dim, (double)k / (double)segments, u, v, x);
        }
    }
    return SPATE_OK;
}

/* ---- Strands that differ --------------------------------------------------------------------- */

typedef struct strand_job {
    const strands_fields *g;
    const brush_fields *brush; /* one of the two */
    const hair_fields *hair;
    uint64_t seed;
    int64_t segments;
    double length, vary;
    const double (*roots)[3];
    mesh_body *out;
} strand_job;

static double share_of(const strand_job *j, int64_t strand, uint64_t stream) {
    return random_unit(j->seed, (uint64_t)strand, stream);
}

/* Winds a line into a helix around it that begins at its root, at an angle of its own. The frame is
 * carried along without twist. */
static void curl(const strand_job *j, int64_t strand, double (*x)[3]) {
    const strands_fields *g = j->g;
    if (!(g->curl_radius > 0)) return;
    const double phase = 2 * PI * share_of(j, strand, STREAM_PHASE);
    double u[3], v[3], t[3], way = 0, before[3];
    vec_sub(t, x[1], x[0]);
    across(t, u, v);
    vec_copy(before, x[0]);
    for (int64_t k = 1; k <= j->segments; k++) {
        vec_sub(t, x[k], before);
        way += vec_length(t);
        vec_normalise(t);
        vec_add_scaled(u, u, -vec_dot(u, t), t);
        if (!vec_normalise(u)) across(t, u, v);
        vec_cross(v, t, u);
        const double angle = phase + 2 * PI * way / g->curl_length;
        vec_copy(before, x[k]);
        vec_add_scaled(x[k], x[k], g->curl_radius * (sin(angle) - sin(phase)), u);
        vec_add_scaled(x[k], x[k], g->curl_radius * (cos(phase) - cos(angle)), v);
    }
}

static double segment_of(const strand_job *j, int64_t strand) {
    const double length = j->length * (1 - j->vary * share_of(j, strand, STREAM_LENGTH));
    return length / (double)j->segments;
}

/* Leans at random, evenly over a cone. */
static void lean(const strand_job *j, int64_t strand, double most, double t[3]) {
    double u[3], v[3];
    if (!(most > 0)) return;
    const double c = 1 - (1 - cos(most)) * share_of(j, strand, STREAM_LEAN);
    const double s = sqrt(fmax(0, 1 - c * c));
    const double angle = 2 * PI * share_of(j, strand, STREAM_LEAN + 1);
    across(t, u, v);
    for (int a = 0; a < 3; a++) t[a] = c * t[a] + s * (cos(angle) * u[a] + sin(angle) * v[a]);
}

static void brush_line(const strand_job *j, int64_t strand, double (*x)[3]) {
    const double h = segment_of(j, strand);
    double t[3];
    vec_copy(t, j->brush->direction);
    vec_normalise(t);
    lean(j, strand, j->brush->spread, t);
    for (int64_t k = 0; k <= j->segments; k++)
        vec_add_scaled(x[k], j->roots[strand], h * (double)k, t);
}

/* The next point of a hair, a segment from `x`, not nearer than the gap to the surface. */
static void hair_step(const strand_job *j, double h, const double t[3], double x[3]) {
    enum { TRIES = 3 };
    const shape *on = j->hair->on;
    double way[3], next[3], normal[3];
    vec_scale(way, h, t);
    for (int k = 0; k < TRIES; k++) {
        vec_add(next, x, way);
        if (!(shape_distance(on, 3, next) < j->hair->gap)) break;
        const double d = shape_normal(on, 3, next, normal);
        vec_add_scaled(way, way, j->hair->gap - d, normal);
        if (!vec_normalise(way)) vec_copy(way, normal);
        vec_scale(way, h, way);
    }
    vec_add(x, x, way);
}

/* From the surface along its normal, turned to where it is combed to. */
static void hair_line(const strand_job *j, int64_t strand, double (*x)[3]) {
    const hair_fields *f = j->hair;
    const double h = segment_of(j, strand);
    double normal[3], t[3], to[3];
    vec_copy(x[0], j->roots[strand]);
    vec_copy(to, f->direction);
    vec_normalise(to);
    for (int k = 0; k < 2; k++) /* what has no mesh was sampled by triangles within it */
        vec_add_scaled(x[0], x[0], -shape_normal(f->on, 3, x[0], normal), normal);
    vec_copy(t, normal);
    for (int64_t k = 1; k <= j->segments; k++) {
        const double s = j->segments > 1 ? (double)(k - 1) / (double)(j->segments - 1) : 0;
        const double share = f->lean + (f->comb - f->lean) * s * (2 - s);
        double mixed[3];
        for (int a = 0; a < 3; a++) mixed[a] = (1 - share) * normal[a] + share * to[a];
        if (vec_normalise(mixed)) vec_copy(t, mixed); /* opposite ones: on as before */
        vec_copy(x[k], x[k - 1]);
        hair_step(j, h, t, x[k]);
    }
}

static void make_lines(void *data, chunk items) {
    const strand_job *j = data;
    for (int64_t s = items.begin; s < items.end; s++) {
        double(*x)[3] = j->out->vertices + s * (j->segments + 1);
        if (j->hair)
            hair_line(j, s, x);
        else
            brush_line(j, s, x);
        curl(j, s, x);
    }
}

static spate_status make_strands(arena *a, strand_job *j, double count) {
    j->segments = mesh_pieces(j->length, j->g->spacing);
    TRY(take_strands(a, j->g, count, j->segments, j->out));
    j->out->spacing = j->length * (1 - j->vary) / (double)j->segments;
    if (j->out->vertex_count <= MESH_VERTICES_MOST)
        parallel_for(a->ctx->pool, j->out->strand_count, STRAND_GRAIN, make_lines, j);
    return SPATE_OK;
}

/* ---- Brushes --------------------------------------------------------------------------------- */

/* The roots of a tuft lie on a spiral of the golden angle, which covers a disc evenly (Vogel
 * 1979). */
static void fill_tufts(const brush_fields *b, const double (*centres)[3], double (*roots)[3]) {
    static const double golden = 2.39996322972865332;
    double normal[3], u[3], v[3];
    vec_cross(normal, b->along, b->across);
    vec_copy(u, b->along);
    vec_normalise(normal), vec_normalise(u);
    vec_cross(v, normal, u);
    for (int64_t tuft = 0; tuft < b->tufts; tuft++) {
        const int64_t first = tuft * b->count / b->tufts, end = (tuft + 1) * b->count / b->tufts;
        for (int64_t s = first; s < end; s++) {
            const double k = (double)(s - first);
            const double r = b->tuft_radius * sqrt((k + 0.5) / (double)(end - first));
            vec_add_scaled(roots[s], centres[tuft], r * cos(golden * k), u);
            vec_add_scaled(roots[s], roots[s], r * sin(golden * k), v);
        }
    }
}

static spate_status brush_roots(spate_context *ctx, const brush_fields *b, uint64_t seed,
                                double (*roots)[3]) {
    root_surface flat;
    double(*centres)[3] = NULL;
    const int64_t spread = b->tufts ? b->tufts : b->count;
    spate_status status = root_surface_flat(ctx, b->corner, b->along, b->across, &flat);
    if (!status && b->tufts && !(centres = take(ctx, (size_t)b->tufts, sizeof *centres)))
        status = SPATE_OUT_OF_MEMORY;
    if (!status)
        status =
            roots_spread(ctx, &flat, NULL, flat.areas[1], seed, spread, b->tufts ? centres : roots);
    if (!status && b->tufts) fill_tufts(b, centres, roots);
    give(ctx, centres);
    root_surface_free(ctx, &flat);
    return status;
}

spate_status mesh_of_brush(arena *a, const strands_fields *g, const brush_fields *b, uint64_t seed,
                           mesh_body *out) {
    double(*roots)[3] = take(a->ctx, (size_t)b->count, sizeof *roots);
    strand_job j = {.g = g,
                    .brush = b,
                    .seed = seed,
                    .length = vec_length(b->direction),
                    .vary = b->vary,
                    .roots = roots,
                    .out = out};
    spate_status status = roots ? brush_roots(a->ctx, b, seed, roots) : SPATE_OUT_OF_MEMORY;
    if (!status) status = make_strands(a, &j, (double)b->count);
    give(a->ctx, roots);
    return status;
}

/* ---- Hair ------------------------------------------------------------------------------------ */

/* Triangles of a shape without a mesh: fine enough for its form, not for its hair. */
static double skin_spacing(const shape *on) {
    const bounds box = shape_bounds(on, 3);
    double longest = 0;
    for (int a = 0; a < 3; a++) longest = fmax(longest, box.max[a] - box.min[a]);
    return longest / 30;
}

static spate_status grow_hair(arena *a, strand_job *j, const root_surface *skin) {
    const hair_fields *h = j->hair;
    const double area = root_surface_area(skin, h->within, j->seed);
    const double count = h->count > 0 ? (double)h->count : round(h->density * area);
    *j->out = (mesh_body){.kind = MESH_STRANDS};
    if (!(area > 0) || count < 1) return SPATE_OK;
    if (count > MESH_VERTICES_MOST)
        return j->out->vertex_count = (int64_t)MESH_VERTICES_MOST + 1, SPATE_OK;
    double(*roots)[3] = take(a->ctx, (size_t)count, sizeof *roots);
    if (!roots) return SPATE_OUT_OF_MEMORY;
    j->roots = roots;
    spate_status status =
        roots_spread(a->ctx, skin, h->within, area, j->seed, (int64_t)count, roots);
    if (!status) status = make_strands(a, j, count);
    give(a->ctx, roots);
    return status;
}

spate_status mesh_of_hair(arena *a, const strands_fields *g, const hair_fields *h, uint64_t seed,
                          mesh_body *out) {
    root_surface skin;
    strand_job j = {
        .g = g, .hair = h, .seed = seed, .length = h->length, .vary = h->vary, .out = out};
    spate_status status = root_surface_of(a->ctx, h->on, skin_spacing(h->on), &skin);
    if (!status) status = grow_hair(a, &j, &skin);
    root_surface_free(a->ctx, &skin);
    return status;
}
