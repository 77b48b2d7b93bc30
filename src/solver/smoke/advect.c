/* Advection of dyes, temperature and velocity; the tracing itself is in trace.h. */
#include "solver/smoke/jobs.h"

static void swap(real **a, real **b) {
    real *kept = *a;
    *a = *b;
    *b = kept;
}

static advect_job begin_job(const smoke *s, int place, double dt) {
    advect_job job = {.layout = &s->layout,
                      .step = (real)(dt / s->dx),
                      .order = s->options->trace + 1,
                      .place = place,
                      .twice = s->options->advection == SMOKE_MACCORMACK};
    for (int a = 0; a < s->layout.dim; a++) {
        job.velocity[a] = s->velocity[a];
        job.home[a] = smoke_place(s, a);
    }
    return job;
}

/* ---- Dyes and temperature -------------------------------------------------------------------- */

/* Some fields at once: a path is traced once for all. `room` is three arrays for each. */
static void advect_scalars(smoke *s, real **fields[], int count, real **room[]) {
    const int dim = s->layout.dim;
    advect_job job = begin_job(s, PLACE_MIDDLE, s->sim->dt);
    job.count = count;
    job.sharp = true;
    for (int f = 0; f < count; f++) {
        job.from[f] = *fields[f];
        job.ahead[f] = *room[3 * f];
        job.to[f] = *room[3 * f + 1];
        job.most[f] = *room[3 * f + 2];
    }
    smoke_rows(s, PLACE_MIDDLE, s->kernels->advect[dim - 2], &job);
    for (int f = 0; f < count && job.twice; f++) {
        smoke_extend(s, PLACE_MIDDLE, job.ahead[f]);
        smoke_ghost_scalar(s, job.ahead[f]);
    }
    if (job.twice) smoke_rows(s, PLACE_MIDDLE, s->kernels->correct[dim - 2], &job);
    for (int f = 0; f < count; f++) {
        swap(fields[f], room[3 * f + job.twice]);
        smoke_extend(s, PLACE_MIDDLE, *fields[f]);
        smoke_ghost_scalar(s, *fields[f]);
    }
}

/* All of a step's way at once: with reflection by the velocity in its middle. */
static void advect_all_scalars(smoke *s) {
    real **fields[SMOKE_DYES + 1];
    int count = 0;
    for (int d = 0; d < s->dye_count; d++) fields[count++] = &s->dyes[d];
    if (s->temperature) fields[count++] = &s->temperature;
    /* with reflection the next velocity is in use */
    real **room[SMOKE_ROOM] = {&s->spare[0], &s->spare[1],
                               &s->spare[2], &s->next[0],
                               &s->next[1],  s->layout.dim == 3 ? &s->next[2] : &s->spare[3]};
    const int most = s->reflected ? 1 : 2;
    for (int f = 0; f < count; f += most)
        advect_scalars(s, fields + f, count - f < most ? count - f : most, room);
}

/* ---- Velocity -------------------------------------------------------------------------------- */

/* A component: that of the velocity, or what the reflection has made of it, into `next`. */
static void advect_component(smoke *s, int a) {
    const int place = smoke_place(s, a), dim = s->layout.dim;
    advect_job job = begin_job(s, place, s->dt);
    job.count = 1;
    job.from[0] = s->reflected ? s->next[a] : s->velocity[a];
    job.ahead[0] = s->spare[0];
    job.to[0] = s->spare[1];
    job.most[0] = s->spare[2];
    smoke_rows(s, place, s->kernels->advect[dim - 2], &job);
    if (job.twice) {
        smoke_ghost_velocity(s, a, job.ahead[0]);
        smoke_rows(s, place, s->kernels->correct[dim - 2], &job);
    }
    swap(&s->next[a], &s->spare[job.twice]);
}

spate_status smoke_advect(void *solver) {
    smoke *s = solver;
    if (smoke_last_part(s)) advect_all_scalars(s);
    smoke_before_advection(s);
    for (int a = 0; a < s->layout.dim; a++) advect_component(s, a);
    for (int a = 0; a < s->layout.dim; a++) swap(&s->velocity[a], &s->next[a]);
    s->reflected = false;
    smoke_settle_velocity(s);
    smoke_after_advection(s);
    return SPATE_OK;
}
