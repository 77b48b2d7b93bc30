/*
 * `flow`: particles move through a prescribed velocity (solver/prescribed.h) instead of the grid's.
 * Positions of a Runge-Kutta scheme of order 1 to 3 are found in double, so that the only error is
 * the scheme's, and the rounding of what is stored.
 */
#include "solver/flip/flip.h"

#include "core/vec.h"
#include "solver/sources.h"

/* The field during a step, and what it is done to. */
typedef struct flow_step {
    flip *f;
    prescribed field;
    double time, dt;
} flow_step;

static flow_step step_from(flip *f, double dt) {
    const double t = f->sim->time;
    return (flow_step){f, prescribed_from(f->options->flow, f->sim->scene, t), t, dt};
}

static void keep_velocity(const particles *p, int64_t i, const double v[3]) {
    for (int a = 0; a < 3; a++) p->velocity[i][a] = (real)v[a];
}

/* ---- Speed ----------------------------------------------------------------------------------- */

static void find_fastest(void *data, chunk items) {
    const flow_step *s = data;
    const spate_simulation *sim = s->f->sim;
    flip_extremes *seen = &s->f->seen[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = sim->blocks.occupied[o];
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            double x[3], v[3];
            simulation_position(sim, block, i, x);
            prescribed_amplitude(&s->field, x, s->time, v);
            seen->flow_speed2 = fmax(seen->flow_speed2, vec_dot(v, v));
        }
    }
}

double flip_flow_limit(flip *f, const char **limit) {
    spate_simulation *sim = f->sim;
    flow_step s = step_from(f, 0);
    double speed2 = 0;
    for (int w = 0; w < pool_size(f->threads); w++) f->seen[w].flow_speed2 = 0;
    parallel_for(f->threads, sim->blocks.occupied_count, 4, find_fastest, &s);
    for (int w = 0; w < pool_size(f->threads); w++) speed2 = fmax(speed2, f->seen[w].flow_speed2);
    const double speed = fmax(sqrt(speed2), sources_speed(sim));
    double dt = sim->scene->cfl * sim->scene->domain.dx / speed;
    *limit = dt < HUGE_VAL ? "speed" : "none";
    if (s.field.next - s.time < dt) dt = s.field.next - s.time, *limit = "flow";
    return dt;
}

/* ---- Motion ---------------------------------------------------------------------------------- */

/* Where a particle at x is after the step, and its velocity there. The stages are those of the
 * gather (advect_lanes). */
static void follow(const flow_step *s, const double x[3], double y[3], double v[3]) {
    const int order = s->f->options->advection + 1;
    const double dt = s->dt;
    double k1[3], k2[3], k3[3];
    prescribed_velocity(&s->field, x, s->time, k1);
    if (order > 1) {
        vec_add_scaled(y, x, 0.5 * dt, k1);
        prescribed_velocity(&s->field, y, s->time + 0.5 * dt, k2);
    }
    if (order > 2) {
        vec_add_scaled(y, x, 0.75 * dt, k2);
        prescribed_velocity(&s->field, y, s->time + 0.75 * dt, k3);
    }
    for (int a = 0; a < 3; a++) {
        const double k = order == 1   ? k1[a]
                         : order == 2 ? k2[a]
                                      : (2 * k1[a] + 3 * k2[a] + 4 * k3[a]) / 9;
        y[a] = x[a] + dt * k;
    }
    prescribed_velocity(&s->field, y, s->time + dt, v);
}

/* Particles stay inside closed sides, as in the gather. */
static double held_inside(const domain *d, int axis, double g) {
    const double margin = 1e-4;
    if (wall_is_closed(d->walls[axis][0])) g = fmax(g, margin);
    if (wall_is_closed(d->walls[axis][1])) g = fmin(g, d->cells[axis] - margin);
    return g;
}

static void move_particle(const flow_step *s, int32_t block, int64_t i, flip_extremes *seen) {
    const spate_simulation *sim = s->f->sim;
    const particles *p = &sim->particles;
    const domain *d = s->f->domain;
    double x[3], y[3], v[3], move2 = 0;
    simulation_position(sim, block, i, x);
    follow(s, x, y, v);
    for (int a = 0; a < sim->scene->dim; a++) {
        const double corner = (double)sim->blocks.coords[block][a] * BLOCK_EDGE;
        real *at = &PLANE(p, position, a)[i];
        const double from = (double)*at, to = from + (y[a] - x[a]) / d->dx;
        *at = (real)(held_inside(d, a, to + corner) - corner);
        move2 += (to - from) * (to - from);
    }
    keep_velocity(p, i, v);
    if (!(move2 < (double)FLIP_MOST * FLIP_MOST)) {
        if (seen->bad < 0 || i < seen->bad) seen->bad = i;
        return;
    }
    seen->speed2 = wide_max(seen->speed2, wide_splat((real)vec_dot(v, v)));
    seen->move2 = wide_max(seen->move2, wide_splat((real)move2));
}

static void move_blocks(void *data, chunk items) {
    const flow_step *s = data;
    spate_simulation *sim = s->f->sim;
    flip_extremes *seen = &s->f->seen[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = sim->blocks.occupied[o];
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++)
            move_particle(s, block, i, seen);
        seen->removed += simulation_remove_outside(sim, block);
    }
}

void flip_move_in_flow(flip *f) {
    flow_step s = step_from(f, f->sim->dt);
    parallel_for(f->threads, f->sim->blocks.occupied_count, 4, move_blocks, &s);
}

void flip_start_flow(flip *f) {
    spate_simulation *sim = f->sim;
    const flow_step s = step_from(f, 0);
    for (int32_t block = 0; block < sim->blocks.count; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            double x[3], v[3];
            simulation_position(sim, block, i, x);
            prescribed_velocity(&s.field, x, s.time, v);
            keep_velocity(&sim->particles, i, v);
        }
}
