/*
 * Taubin 1995, equations 6 and 8: x += lambda L x, then x += mu L x, with L x the mean of the
 * neighbours less x, and 1 / lambda + 1 / mu the frequency that is let through.
 */
#include "core/threads.h"
#include "surface/surface.h"
#include <string.h>

enum { VERTEX_GRAIN = 4096, LANES = 6 };

static const real lambda = (real)0.5, mu = (real)-0.53;

/* Position and normal of a vertex, which are moved alike. */
typedef struct vertex_state {
    real lane[LANES];
} vertex_state;

typedef struct smooth_job {
    surface_mesh *mesh;
    int32_t *first, *list; /* neighbours of a vertex */
    vertex_state *from, *to;
    real step;
} smooth_job;

/* In a closed mesh each neighbour is the end of one side of one triangle. */
static void list_neighbours(smooth_job *job) {
    const surface_mesh *m = job->mesh;
    for (int64_t t = 0; t < m->triangle_count; t++)
        for (int c = 0; c < 3; c++) job->first[m->triangle[t][c] + 1]++;
    for (int64_t v = 0; v < m->vertex_count; v++) job->first[v + 1] += job->first[v];
    for (int64_t t = m->triangle_count - 1; t >= 0; t--)
        for (int c = 0; c < 3; c++)
            job->list[--job->first[m->triangle[t][c] + 1]] = m->triangle[t][(c + 1) % 3];
    /* Each entry went down to the beginning of its own vertex: one place too far up. */
    memmove(job->first, job->first + 1, (size_t)m->vertex_count * sizeof *job->first);
    job->first[m->vertex_count] = (int32_t)(3 * m->triangle_count);
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
        for (int c = 0; c < LANES && followed > 1; c++)
            out.lane[c] += job->step * (sum[c] / (real)followed - out.lane[c]);
        job->to[v] = out;
    }
}

static void make_step(smooth_job *job, real step) {
    vertex_state *from = job->from;
    job->step = step;
    parallel_for(job->mesh->ctx->pool, job->mesh->vertex_count, VERTEX_GRAIN, move_vertices, job);
    job->from = job->to, job->to = from;
}

static void load(smooth_job *job) {
    const surface_mesh *m = job->mesh;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        memcpy(job->from[v].lane, m->position[v], sizeof m->position[v]);
        memcpy(job->from[v].lane + 3, m->normal[v], sizeof m->normal[v]);
    }
}

static void store(const smooth_job *job) {
    const surface_mesh *m = job->mesh;
    for (int64_t v = 0; v < m->vertex_count; v++) {
        const real *x = job->from[v].lane, *n = x + 3;
        double length = __builtin_sqrt((double)n[0] * (double)n[0] + (double)n[1] * (double)n[1] +
                                       (double)n[2] * (double)n[2]);
        memcpy(m->position[v], x, sizeof m->position[v]);
        for (int a = 0; a < 3 && length > 0; a++) m->normal[v][a] = (real)((double)n[a] / length);
    }
}

spate_status surface_smooth(surface_mesh *m, int passes) {
    if (passes <= 0 || !m->vertex_count) return SPATE_OK;
    size_t vertices = (size_t)m->vertex_count;
    smooth_job job = {.mesh = m};
    job.first = take(m->ctx, vertices + 1, sizeof *job.first);
    job.list = take(m->ctx, 3 * (size_t)m->triangle_count, sizeof *job.list);
    job.from = take(m->ctx, vertices, sizeof *job.from);
    job.to = take(m->ctx, vertices, sizeof *job.to);
    spate_status status =
        job.first && job.list && job.from && job.to ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) {
        list_neighbours(&job);
        load(&job);
        for (int k = 0; k < passes; k++) {
            make_step(&job, lambda);
            make_step(&job, mu);
        }
        store(&job);
    }
    give(m->ctx, job.first);
    give(m->ctx, job.list);
    give(m->ctx, job.from);
    give(m->ctx, job.to);
    return status;
}
