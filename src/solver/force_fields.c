/*
 * Force fields on particles: velocities change before the transfer or the sums of a step, so that
 * momentum is given exactly as the fields say, whatever the solver does with it. Accelerations are
 * integrated as gravity is (symplectic Euler: the places follow the new velocity); drags exactly,
 * v <- u + (v - u) exp(-k dt), where the gradient of the velocity fades by the same factor.
 */
#include "solver/force_fields.h"

#include "core/vec.h"
#include "solver/drive.h"

static bool is_on(const spate_simulation *sim, const force_field *f) {
    return force_is_on(f, sim->time * (1 + TIME_ROUNDING));
}

double forces_next_change(const spate_simulation *sim) {
    const double now = sim->time * (1 + TIME_ROUNDING);
    double next = HUGE_VAL;
    for (int64_t i = 0; i < sim->forces.count; i++) {
        const force_field *f = &sim->forces.list[i];
        if (f->from > now) next = fmin(next, f->from);
        if (f->until > now) next = fmin(next, f->until);
    }
    return next;
}

bool forces_act(const spate_simulation *sim) {
    bool any = drive_gives_forces(sim);
    for (int64_t i = 0; i < sim->forces.count; i++) any |= is_on(sim, &sim->forces.list[i]);
    return any;
}

/* (v + a dt) dt = cfl dx, as gravity has it; and a part of the time in which an attractor's middle
 * is circled. */
double forces_limit(const spate_simulation *sim) {
    double a = 0, dt = HUGE_VAL;
    const double way = sim->scene->cfl * sim->scene->domain.dx, speed = sim->max_speed;
    for (int64_t i = 0; i < sim->forces.count; i++) {
        const force_field *f = &sim->forces.list[i];
        if (!is_on(sim, f)) continue;
        a += force_most(f);
        if (f->kind == FORCE_ATTRACTOR)
            dt = fmin(dt, 0.2 * sqrt(pow(f->softening, 3) / fmax(fabs(f->strength), 1e-300)));
    }
    for (int64_t i = 0; drive_gives_forces(sim) && i < sim->particles.count; i++) {
        const real *f = sim->particles.force[i];
        const double force[3] = {(double)f[0], (double)f[1], (double)f[2]};
        a = fmax(a, vec_length(force) / (double)sim->particles.mass[i]);
    }
    if (a > 0) dt = fmin(dt, 2 * way / (speed + sqrt(speed * speed + 4 * a * way)));
    return dt;
}

static bool holds(const spate_simulation *sim, const force_field *f, const double x[3]) {
    for (int a = 0; a < sim->scene->dim; a++)
        if (!(x[a] >= f->min[a] && x[a] <= f->max[a])) return false;
    const shape *region = f->region >= 0 ? sim->scene->force_regions[f->region] : NULL;
    return !region || shape_distance(region, sim->scene->dim, x) <= 0;
}

void forces_change(const spate_simulation *sim, const double x[3], double dt, double v[3],
                   double *keep) {
    *keep = 1;
    for (int64_t i = 0; i < sim->forces.count; i++) {
        const force_field *f = &sim->forces.list[i];
        if (!is_on(sim, f) || !holds(sim, f, x)) continue;
        if (force_is_drag(f)) {
            const double left = exp(-force_rate(f, x) * dt);
            for (int a = 0; a < 3; a++) v[a] = f->velocity[a] + (v[a] - f->velocity[a]) * left;
            *keep *= left;
        } else {
            double acceleration[3];
            force_acceleration(f, sim->scene->dim, x, sim->time, acceleration);
            vec_add_scaled(v, v, dt, acceleration);
        }
    }
}

typedef struct forces_job {
    spate_simulation *sim;
    double fastest2[MAX_THREADS];
} forces_job;

static void fade_gradients(particles *p, int64_t i, real keep) {
    for (int a = 0; a < 3 && p->affine; a++)
        for (int c = 0; c < 4; c++) p->affine[i][a][c] *= keep;
    for (int m = 0; m < POLY_MODES_MAX && p->modes; m++)
        for (int c = 0; c < 4; c++) p->modes[i][m][c] *= keep;
}

/* Returns the square of its speed. */
static double change_particle(spate_simulation *sim, const int32_t coords[3], int64_t i) {
    particles *p = &sim->particles;
    double x[3], v[3] = {0}, keep;
    if (p->group[i] == GROUP_REMOVED) return 0;
    simulation_place(sim, coords, i, x);
    for (int a = 0; a < sim->scene->dim; a++) v[a] = (double)p->velocity[i][a];
    forces_change(sim, x, sim->dt, v, &keep);
    if (drive_gives_forces(sim))
        for (int a = 0; a < sim->scene->dim; a++)
            v[a] += sim->dt * (double)p->force[i][a] / (double)p->mass[i];
    for (int a = 0; a < sim->scene->dim; a++) p->velocity[i][a] = (real)v[a];
    if (keep < 1) fade_gradients(p, i, (real)keep);
    return vec_dot(v, v);
}

static void change_blocks(void *data, chunk items) {
    forces_job *job = data;
    const blocks *b = &job->sim->blocks;
    double *fastest2 = &job->fastest2[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++)
            *fastest2 = fmax(*fastest2, change_particle(job->sim, b->coords[block], i));
    }
}

void forces_apply(spate_simulation *sim) {
    forces_job job = {.sim = sim};
    const blocks *b = &sim->blocks;
    parallel_for(sim->ctx->pool, b->occupied_count, 8, change_blocks, &job);
    for (int64_t k = 0; k < b->pending_count; k++)
        job.fastest2[0] = fmax(job.fastest2[0], change_particle(sim, b->pending[k], b->sorted + k));
    for (int w = 0; w < MAX_THREADS; w++)
        sim->max_speed = fmax(sim->max_speed, sqrt(job.fastest2[w]));
    if (!drive_gives_forces(sim)) return;
    const particles *p = &sim->particles;
    memset(p->force, 0, (size_t)p->count * sizeof *p->force);
    sim->drive->forces_given = 0;
}
