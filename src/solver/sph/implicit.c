/* Pressures that keep the density (dfsph, iisph) and the velocity free of divergence (dfsph). */
#include "solver/sph/sph.h"

/* The most that a step makes good of a density that is already too high: a hard squeeze is let out
 * over several, as it would be shot out otherwise. */
static const real relief = (real)0.02;

/* Fewest neighbours, of liquid and walls, whose divergence means anything, by dimension. */
static const int fewest[] = {7, 20};

typedef struct solve {
    sph *s;
    real *kept;      /* the particles' field the pressure is kept in */
    bool divergence; /* of the velocity, else the density */
    double scale;    /* p = scale delta^2 K */
    double momentum; /* of the iteration, 0 to 1 */
    double trust;    /* share of the last pressure to begin with: less where the last step was
                        shorter, whose pressure may have been an impact */
} solve;

/* Where the iteration begins, and what is to be made good. */
static void begin_solve(void *data, chunk items) {
    const solve *job = data;
    sph *s = job->s;
    const int least = fewest[s->scene->dim - 2];
    for (int64_t i = items.begin; i < items.end; i++) {
        const real delta = s->view.density[i];
        const bool sparse =
            job->divergence &&
            s->view.fluid_neighbours.number[i] + s->view.boundary_neighbours.number[i] < least;
        s->previous[i] = job->kept[i] * (real)(job->trust / job->scale) / (delta * delta);
        if (sparse)
            s->view.source[i] = 1, s->previous[i] = 0;
        else
            s->view.source[i] = (job->divergence ? 0
                                                 : s->correction_share *
                                                       (delta > 1 + relief ? -relief : 1 - delta)) -
                                s->view.source[i];
        s->view.fluid.position[i][3] = s->previous[i];
    }
}

/* How far the density is off, and whether momentum leads away from where the iteration wants to go.
 * */
static void add_misses(void *data, chunk items, double *part) {
    const sph *s = ((const solve *)data)->s;
    for (int64_t i = items.begin; i < items.end; i++) {
        part[0] += (double)s->view.density_error[i];
        part[1] += (double)(s->view.fluid.position[i][3] - s->view.next[i]) *
                   (double)(s->view.next[i] - s->previous[i]);
    }
}

/* The next pressure, and with momentum (Nesterov 1983) some way on in the same direction. */
static void take_next(void *data, chunk items) {
    const solve *job = data;
    sph *s = job->s;
    for (int64_t i = items.begin; i < items.end; i++) {
        const real next = s->view.next[i],
                   on = real_fma((real)job->momentum, next - s->previous[i], next);
        s->view.fluid.position[i][3] = on > 0 ? on : 0;
        s->previous[i] = next;
    }
}

static void end_solve(void *data, chunk items) {
    const solve *job = data;
    sph *s = job->s;
    const real back = 1 / s->view.displacement_factor;
    for (int64_t i = items.begin; i < items.end; i++) {
        const real delta = s->view.density[i];
        job->kept[i] = s->view.fluid.position[i][3] * (real)job->scale * delta * delta;
        for (int a = 0; a < 3; a++)
            s->view.fluid.velocity[i][a] += back * s->view.displacement[i][a];
    }
}

static void over_all(const solve *job, chunk_task task) {
    parallel_for(job->s->threads, job->s->sim->particles.count, SPH_GRAIN, task, (void *)job);
}

/* Its momentum, which grows towards 1 from step to step and begins again where it leads astray
 * (O'Donoghue and Candes 2015). */
static double pace_next(double *pace, bool leads) {
    const double before = leads ? *pace : 1;
    *pace = 0.5 * (1 + sqrt(1 + 4 * before * before));
    return (before - 1) / *pace;
}

/* Jacobi until the mean excess of density is below the tolerance. The displacement that was judged
 * is the one that is used. */
static spate_status iterate(solve *job, double tolerance, int64_t least, int64_t *iterations,
                            double *error) {
    sph *s = job->s;
    const int64_t count = s->sim->particles.count;
    tolerance *= fmax((double)s->correction_share, 0.1); /* short steps add up */
    *iterations = 0, *error = 0;
    if (count == 0) return SPATE_OK;
    double pace = 1, before = HUGE_VAL, sums[2];
    over_all(job, begin_solve);
    for (*iterations = 1;; ++*iterations) {
        sph_sum(s, s->sums->displacement);
        sph_sum(s, s->sums->jacobi);
        TRY(parallel_sum(s->sim->ctx, count, SPH_GRAIN, add_misses, job, 2, sums));
        *error = sums[0] / (double)count;
        if ((*error <= tolerance && *iterations >= least) ||
            *iterations >= s->options->max_iterations || !(*error < HUGE_VAL))
            break;
        job->momentum = pace_next(&pace, sums[1] < 0 && *error < 2 * before);
        before = *error;
        over_all(job, take_next);
    }
    over_all(job, end_solve);
    return SPATE_OK;
}

static solve solve_of(sph *s, bool divergence) {
    const double speed = s->dx / s->sim->dt;
    particles *p = &s->sim->particles;
    return (solve){.s = s,
                   .kept = divergence ? p->velocity_pressure : p->pressure,
                   .divergence = divergence,
                   .scale = s->rest_density * speed * speed,
                   .trust = divergence ? 0 : fmin(1, s->memory.dt / s->sim->dt)};
}

spate_status sph_divergence(void *solver) {
    sph *s = solver;
    solve job = solve_of(s, true);
    sph_sum(s, s->sums->density_rate[s->kernel]);
    return iterate(&job, s->options->divergence_tolerance, 1, &s->memory.velocity_iterations,
                   &s->memory.divergence_error);
}

spate_status sph_incompressible(void *solver) {
    sph *s = solver;
    sph_memory *m = &s->memory;
    solve job = solve_of(s, false);
    sph_sum(s, s->sums->density_rate[s->kernel]);
    TRY(iterate(&job, s->options->tolerance, 2, &m->iterations, &m->density_error));
    const solve_result result = {.what = "density",
                                 .kind = "density not converged",
                                 .residual = m->density_error,
                                 .tolerance = s->options->tolerance,
                                 .iterations = m->iterations,
                                 .converged = m->density_error <= s->options->tolerance};
    return simulation_judge(s->sim, &result, &m->failures, &m->missed);
}
