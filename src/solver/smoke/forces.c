/* Buoyancy and vorticity confinement, and what dyes and heat lose. */
#include "solver/force_fields.h"
#include "solver/smoke/force_fields.h"
#include "solver/smoke/jobs.h"

/* ---- Vorticity confinement (Fedkiw, Stam and Jensen 2001) ------------------------------------ */

/* Leaves its acceleration of cells in `next`. */
static void confine(smoke *s) {
    const int dim = s->layout.dim;
    const double dx = s->dx;
    curl_job job = {.layout = &s->layout,
                    .on_faces = s->options->grid == SMOKE_MAC,
                    .size = s->spare[0],
                    .scale = (real)(0.5 / dx)};
    for (int a = 0; a < dim; a++) job.velocity[a] = s->velocity[a], job.curl[a] = s->next[a];
    smoke_rows(s, PLACE_MIDDLE, s->kernels->curl[dim - 2], &job);
    smoke_extend(s, PLACE_MIDDLE, job.size);
    smoke_ghost_scalar(s, job.size);
    job.scale = (real)(s->options->vorticity * dx);
    smoke_rows(s, PLACE_MIDDLE, s->kernels->confine[dim - 2], &job);
    for (int a = 0; a < dim; a++) smoke_ghost_scalar(s, job.curl[a]);
}

/* ---- Buoyancy -------------------------------------------------------------------------------- */

static double buoyancy(const smoke *s, int64_t cell) {
    double sum = s->temperature ? -s->expansion * (double)s->temperature[cell] : 0;
    for (int d = 0; d < s->dye_count; d++) sum += s->kinds[d].weight * (double)s->dyes[d][cell];
    return sum;
}

typedef struct force_job {
    smoke *s;
    int axis;
} force_job;

/* A face takes the mean of the cells beside it. */
static void force_rows(void *data, chunk items) {
    const force_job *job = data;
    smoke *s = job->s;
    const layout *l = &s->layout;
    const int a = job->axis, place = smoke_place(s, a);
    const int64_t down = place == a ? l->stride[a] : 0;
    const double g_dt = s->dt * s->scene->gravity[a];
    const real *extra = s->options->vorticity > 0 ? s->next[a] : NULL;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(l, place, r, l->dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            double change = 0;
            if (g_dt != 0) change = g_dt * 0.5 * (buoyancy(s, at) + buoyancy(s, at - down));
            if (extra) change += s->dt * 0.5 * (double)(extra[at] + extra[at - down]);
            s->velocity[a][at] += (real)change;
        }
    }
}

/* ---- Loss ------------------------------------------------------------------------------------ */

typedef struct fade_job {
    real *values;
    const layout *layout;
    real factor;
} fade_job;

static void fade_rows(void *data, chunk items) {
    const fade_job *job = data;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(job->layout, PLACE_MIDDLE, r, job->layout->dim);
        for (int k = 0; k < row.length; k++) job->values[row.begin + k] *= job->factor;
    }
}

static void fade(smoke *s, real *values, double rate) {
    if (rate == 0 || !values) return;
    fade_job job = {values, &s->layout, (real)exp(-rate * s->dt)};
    smoke_rows(s, PLACE_MIDDLE, fade_rows, &job);
    smoke_ghost_scalar(s, values);
}

spate_status smoke_forces(void *solver) {
    smoke *s = solver;
    for (int d = 0; d < s->dye_count; d++) fade(s, s->dyes[d], s->options->dissipation);
    fade(s, s->temperature, s->options->cooling);
    const bool confined = s->options->vorticity > 0;
    if (confined) confine(s);
    const bool pushed = forces_act(s->sim);
    if (pushed) smoke_force_fields(s);
    if (s->max_buoyancy == 0 && !confined) {
        if (pushed) smoke_settle_velocity(s);
        return SPATE_OK;
    }
    for (int a = 0; a < s->layout.dim; a++) {
        force_job job = {s, a};
        if (confined || s->scene->gravity[a] != 0)
            smoke_rows(s, smoke_place(s, a), force_rows, &job);
    }
    smoke_settle_velocity(s);
    return SPATE_OK;
}
