/*
 * Diffusion by viscosity, of dyes and of heat, implicit:
 *     (1 + 2 d a) f - a (sum of the 2 d neighbours) = f_before,   a = nu dt / dx^2.
 * To a tolerance by Chebyshev's iteration: the eigenvalues of Jacobi's lie within +-rho,
 * rho = 2 d a / (1 + 2 d a) whatever the walls, so that m iterations leave at most 1 / T_m(1 / rho)
 * of the error (T_m: Chebyshev's polynomial), and their number is known beforehand. With `pressure:
 * gauss_seidel` a given number of sweeps, as in the course.
 */
#include "solver/smoke/jobs.h"

typedef struct diffusion {
    smoke *s;
    int component; /* of the velocity, or -1: a scalar */
    real **values;
    relax_job job;
} diffusion;

static void ghosts_of(const diffusion *d, real *values) {
    if (d->component < 0)
        smoke_ghost_scalar(d->s, values);
    else
        smoke_ghost_velocity(d->s, d->component, values);
}

/* What the ghost at a side has of the value next to it, times -1: see ghosts.c. */
static real reflection_at(const diffusion *d, int axis, int end) {
    const wall side = d->s->scene->domain.walls[axis][end];
    if (d->component < 0) return side == WALL_OPEN ? 0 : -1;
    const bool copied = side == WALL_OPEN || (side != WALL_STICKY && axis != d->component);
    return copied ? -1 : 1;
}

static void copy(const diffusion *d, real *to, const real *from) {
    memcpy(to, from, (size_t)d->s->layout.reals * sizeof(real));
}

static void sweep(diffusion *d, real *values) {
    const smoke *s = d->s;
    d->job.values = values;
    copy(d, values, *d->values);
    for (int64_t i = 0; i < 2 * s->options->iterations; i++) {
        d->job.colour = (int)(i & 1);
        smoke_rows(s, d->job.place, s->kernels->relax[s->layout.dim - 2], &d->job);
        ghosts_of(d, values);
    }
}

static int64_t iterations_for(double rho, const smoke_options *o) {
    const double count = ceil(acosh(1 / o->tolerance) / acosh(1 / rho));
    return count < (double)o->max_iterations ? (int64_t)count : o->max_iterations;
}

/* What may be left of the error after so many. */
static solve_result result_of(double rho, int64_t count, const smoke_options *o) {
    const double left = 1 / cosh((double)count * acosh(1 / rho));
    return (solve_result){.what = "diffusion",
                          .kind = "diffusion not converged",
                          .residual = left,
                          .tolerance = o->tolerance,
                          .iterations = count,
                          .converged = left <= o->tolerance * (1 + 1e-6)};
}

/* Leaves the result in *now. */
static spate_status iterate(diffusion *d, double rho, real **now, real **before) {
    smoke *s = d->s;
    const int64_t count = iterations_for(rho, s->options);
    double weight = 1;
    copy(d, *now, *d->values);
    copy(d, *before, *d->values);
    for (int64_t i = 0; i < count; i++) {
        if (i == 1) weight = 1 / (1 - rho * rho / 2);
        if (i > 1) weight = 1 / (1 - rho * rho * weight / 4);
        d->job.now = *now;
        d->job.values = *before;
        d->job.weight = (real)weight;
        smoke_rows(s, d->job.place, s->kernels->chebyshev[s->layout.dim - 2], &d->job);
        ghosts_of(d, d->job.values);
        *before = (real *)d->job.now;
        *now = d->job.values;
    }
    const solve_result result = result_of(rho, count, s->options);
    return simulation_judge(s->sim, &result, &s->memory.diffusion_failures, &s->memory.missed);
}

static spate_status diffuse(smoke *s, int component, real **values, double viscosity) {
    const int dim = s->layout.dim;
    const double dx = s->dx, a = viscosity * s->dt / (dx * dx);
    if (!(a > 0)) return SPATE_OK;
    const int place = component < 0 ? PLACE_MIDDLE : smoke_place(s, component);
    diffusion d = {.s = s, .component = component, .values = values};
    d.job = (relax_job){.layout = &s->layout,
                        .place = place,
                        .center = (real)(1 + 2 * dim * a),
                        .side = (real)a,
                        .depth = s->depth[place],
                        .distance = component < 0 ? NULL : s->distance[component],
                        .right = *values};
    if (component >= 0) d.job.turning = smoke_turning_of(s, component);
    for (int axis = 0; axis < dim; axis++)
        for (int end = 0; end < 2; end++) d.job.reflect[axis][end] = reflection_at(&d, axis, end);
    if (s->options->pressure == SMOKE_GAUSS_SEIDEL)
        sweep(&d, s->spare[0]);
    else
        TRY(iterate(&d, 2 * dim * a / (1 + 2 * dim * a), &s->spare[0], &s->spare[1]));
    real *result = s->spare[0];
    s->spare[0] = *values;
    *values = result;
    return SPATE_OK;
}

/* ---- Velocity -------------------------------------------------------------------------------- */

typedef struct shift_job {
    smoke *s;
    int axis;
    real scale; /* of the difference of pressures across a face */
} shift_job;

static void shift_rows(void *data, chunk items) {
    const shift_job *job = data;
    const smoke *s = job->s;
    const layout *l = &s->layout;
    const uint8_t *depth = s->depth[job->axis];
    const int64_t down = l->stride[job->axis];
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(l, job->axis, r, l->dim);
        real *u = s->velocity[job->axis] + row.begin;
        const real *p = s->pressure + row.begin;
        for (int k = 0; k < row.length; k++) {
            const real change = job->scale * (p[k] - p[k - down]);
            u[k] += !depth || depth[row.begin + k] == DEPTH_GAS ? change : 0;
        }
    }
}

/* Lets the last step's pressure act on the velocity (sign -1), or no longer. */
static void act_pressure(smoke *s, double sign) {
    const double unit = sign * s->dt / (s->density * s->dx);
    for (int a = 0; a < s->layout.dim; a++) {
        shift_job job = {s, a, (real)unit};
        smoke_rows(s, a, shift_rows, &job);
        if (sign < 0) smoke_ghost_velocity(s, a, s->velocity[a]); /* else the projection does it */
    }
}

static spate_status diffuse_velocity(smoke *s) {
    const bool balanced = s->options->grid == SMOKE_MAC && s->part == 0 && s->viscosity > 0;
    if (balanced) act_pressure(s, -1);
    smoke_before_diffusion(s);
    for (int a = 0; a < s->layout.dim; a++)
        TRY(diffuse(s, a, &s->velocity[a], s->viscosity / s->density));
    smoke_after_diffusion(s);
    if (balanced) act_pressure(s, 1);
    return SPATE_OK;
}

spate_status smoke_diffuse(void *solver) {
    smoke *s = solver;
    TRY(diffuse_velocity(s));
    for (int d = 0; d < s->dye_count; d++) TRY(diffuse(s, -1, &s->dyes[d], s->kinds[d].diffusion));
    if (s->temperature) TRY(diffuse(s, -1, &s->temperature, s->heat_diffusion));
    return SPATE_OK;
}
