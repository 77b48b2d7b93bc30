/*
 * x += lambda L x, some times over, with L x the mean of the neighbours less x, wears down what the
 * particles leave on the surface, waves of a few lattice spacings, and also shrinks what is round.
 * The way D that a vertex went has the first as a rough part and the second as a smooth one; it is
 * smoothed in the same way, and x + D - S D keeps the shape (twicing, Tukey 1977; as Vollmer, Mencl
 * and Mueller 1999 push back). A wave that the first part scales by s ends up scaled by 2 s - s^2.
 */
#include "core/threads.h"
#include "surface/key_range.h"
#include "surface/surface.h"
#include <string.h>

enum { VERTEX_GRAIN = 2048, LANES = 6 };

static const real lambda = (real)0.7;

/* Position and normal of a vertex, which are moved alike. */
typedef struct vertex_state {
    real lane[LANES];
} vertex_state;

typedef struct smooth_job {
    surface_mesh *mesh;
    int32_t *first, *list; /* neighbours of a vertex */
    vertex_state *from, *to, *way;
    real *share; /* of the steps that a vertex makes */
    bool begins; /* the first step sets the shares */
    int ranges;  /* of vertices, whose neighbours one worker lists */
} smooth_job;

/* Where the mean of the neighbours is this far below or above a vertex, in lattice spacings, the
 * surface is curved too strongly for the lattice: threads and drops, which would be worn away. They
 * are smoothed less, and not at all from the second on. */
static const real bend_free = (real)0.08, bend_fixed = (real)0.14;
/* No vertex goes farther than this, in lattice spacings: more is not what particles leave. */
static const real way_most = (real)0.3;

static real smoothing_share(const vertex_state *v, const real mean[3]) {
    real bend = 0;
    for (int a = 0; a < 3; a++) bend += (mean[a] - v->lane[a]) * v->lane[3 + a];
    bend = bend < 0 ? -bend : bend;
    const real share = (bend_fixed - bend) / (bend_fixed - bend_free);
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* In an outline each vertex is an end of two lines. */
static void list_line_neighbours(smooth_job *job) {
    const surface_mesh *m = job->mesh;
    for (int64_t v = 0; v <= m->vertex_count; v++) job->first[v] = (int32_t)(2 * v);
    for (int64_t v = 0; v < 2 * m->vertex_count; v++) job->list[v] = (int32_t)(v / 2);
    for (int64_t k = 0; k < m->line_count; k++) {
        job->list[2 * m->line[k][0]] = m->line[k][1];
        job->list[2 * m->line[k][1] + 1] = m->line[k][0];
    }
}

/* In a closed mesh each neighbour is the end of one side of one triangle. They are counted, then
 * put in their place: first[v + 1] is where the next neighbour of v goes, and in the end where they
 * end. */
static void list_ranges(const smooth_job *job, chunk items, bool place) {
    const surface_mesh *m = job->mesh;
    for (int64_t r = items.begin; r < items.end; r++) {
        const key_range range = key_range_at(r, job->ranges, m->vertex_count, 1);
        for (int64_t t = 0; t < m->triangle_count; t++)
            for (int c = 0; c < 3; c++) {
                const int32_t v = m->triangle[t][c];
                if (!key_range_has(range, v)) continue;
                const int32_t at = job->first[v + 1]++;
                if (place) job->list[at] = m->triangle[t][(c + 1) % 3];
            }
    }
}

static void count_neighbours(void *data, chunk items) { list_ranges(data, items, false); }
static void place_neighbours(void *data, chunk items) { list_ranges(data, items, true); }

static void list_neighbours(smooth_job *job) {
    const surface_mesh *m = job->mesh;
    pool *threads = m->ctx->pool;
    job->ranges = key_ranges(threads);
    parallel_for(threads, job->ranges, 1, count_neighbours, job);
    int32_t begin = 0;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        const int32_t count = job->first[v + 1];
        job->first[v + 1] = begin;
        begin += count;
    }
    parallel_for(threads, job->ranges, 1, place_neighbours, job);
}

/* A vertex follows the neighbours that are bound as it is: in its side, or along its line. */
static void move_vertices(void *data, chunk items) {
    const smooth_job *job = data;
    const uint8_t *bond = job->mesh->bond;
    for (int64_t v = items.begin; v < items.end; v++) {
        real sum[LANES] = {0};
        int followed = 0;
        for (int32_t k = job->first[v]; k < job->first[v + 1]; k++) {
            int32_t n = job->list[k];
            if ((bond[n] & bond[v]) != bond[v]) continue;
            for (int c = 0; c < LANES; c++) sum[c] += job->from[n].lane[c];
            followed++;
        }
        vertex_state out = job->from[v];
        for (int c = 0; c < LANES && followed > 1; c++) sum[c] /= (real)followed;
        if (job->begins) job->share[v] = followed > 1 ? smoothing_share(&out, sum) : 0;
        for (int c = 0; c < LANES && followed > 1; c++)
            out.lane[c] += lambda * job->share[v] * (sum[c] - out.lane[c]);
        job->to[v] = out;
    }
}

static void make_steps(smooth_job *job, int passes) {
    for (int k = 0; k < passes; k++) {
        vertex_state *from = job->from;
        parallel_for(job->mesh->ctx->pool, job->mesh->vertex_count, VERTEX_GRAIN, move_vertices,
                     job);
        job->from = job->to, job->to = from;
        job->begins = false;
    }
}

static vertex_state state_of(const surface_mesh *m, int64_t v) {
    vertex_state out;
    memcpy(out.lane, m->position[v], sizeof m->position[v]);
    memcpy(out.lane + 3, m->normal[v], sizeof m->normal[v]);
    return out;
}

static void load_vertices(void *data, chunk items) {
    const smooth_job *job = data;
    for (int64_t v = items.begin; v < items.end; v++) job->from[v] = state_of(job->mesh, v);
}

/* Where vertices went becomes the way they went. */
static void take_ways(void *data, chunk items) {
    const smooth_job *job = data;
    for (int64_t v = items.begin; v < items.end; v++) {
        const vertex_state first = state_of(job->mesh, v);
        real square = 0;
        for (int c = 0; c < LANES; c++) job->from[v].lane[c] -= first.lane[c];
        for (int a = 0; a < 3; a++) square += job->from[v].lane[a] * job->from[v].lane[a];
        const real length = (real)__builtin_sqrt((double)square);
        for (int a = 0; a < 3 && length > way_most; a++) job->from[v].lane[a] *= way_most / length;
        job->way[v] = job->from[v];
    }
}

static void store_vertices(void *data, chunk items) {
    const smooth_job *job = data;
    const surface_mesh *m = job->mesh;
    for (int64_t v = items.begin; v < items.end; v++) {
        vertex_state x = state_of(m, v);
        for (int c = 0; c < LANES; c++) x.lane[c] += job->way[v].lane[c] - job->from[v].lane[c];
        const real *n = x.lane + 3;
        double length = __builtin_sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] +
                                       (double)n[2] * (double)n[2]);
        memcpy(m->position[v], x.lane, sizeof m->position[v]);
        for (int a = 0; a < 3 && length > 0; a++) m->normal[v][a] = (real)((double)n[a] / length);
    }
}

static void smooth(smooth_job *job, int passes) {
    pool *threads = job->mesh->ctx->pool;
    const int64_t count = job->mesh->vertex_count;
    if (job->mesh->line)
        list_line_neighbours(job);
    else
        list_neighbours(job);
    parallel_for(threads, count, VERTEX_GRAIN, load_vertices, job);
    job->begins = true;
    make_steps(job, passes);
    parallel_for(threads, count, VERTEX_GRAIN, take_ways, job);
    make_steps(job, passes);
    parallel_for(threads, count, VERTEX_GRAIN, store_vertices, job);
}

spate_status surface_smooth(surface_mesh *m, int passes) {
    if (passes <= 0 || !m->vertex_count) return SPATE_OK;
    size_t vertices = (size_t)m->vertex_count;
    smooth_job job = {.mesh = m};
    job.first = take(m->ctx, vertices + 1, sizeof *job.first);
    job.list =
        take(m->ctx, m->line ? 2 * vertices : 3 * (size_t)m->triangle_count, sizeof *job.list);
    job.from = take(m->ctx, vertices, sizeof *job.from);
    job.to = take(m->ctx, vertices, sizeof *job.to);
    job.share = take(m->ctx, vertices, sizeof *job.share);
    job.way = take(m->ctx, vertices, sizeof *job.way);
    const bool taken = job.first && job.list && job.from && job.to && job.share && job.way;
    spate_status status = taken ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) smooth(&job, passes);
    give(m->ctx, job.first);
    give(m->ctx, job.list);
    give(m->ctx, job.from);
    give(m->ctx, job.to);
    give(m->ctx, job.share);
    give(m->ctx, job.way);
    return status;
}
