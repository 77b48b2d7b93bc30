/* The end of a step: new velocities and positions, kept out of walls and colliders. */
#include "core/vec.h"
#include "solver/collide.h"
#include "solver/sph/sph.h"

enum { BLOCKS_A_CHUNK = 4 };

/* What a particle may meet: sides of the domain in its block's coordinates, and colliders. */
typedef struct surroundings {
    double low[3], high[3];
    boundary_part solid;
    bool open;
} surroundings;

static surroundings surroundings_of(const sph *s, int32_t block) {
    const spate_simulation *sim = s->sim;
    const domain *d = &sim->scene->domain;
    const int32_t *coords = sim->blocks.coords[block];
    surroundings near = {.open = false};
    for (int a = 0; a < sim->scene->dim; a++) {
        const wall *sides = d->walls[a];
        const double corner = (double)coords[a] * BLOCK_EDGE - sim->type->shift;
        const bool low = sides[0] != WALL_OPEN && sides[0] != WALL_PERIODIC;
        const bool high = sides[1] != WALL_OPEN && sides[1] != WALL_PERIODIC;
        const double apart =
            0.5 * (double)s->view.half_spacing; /* spray has no pressure to keep it off */
        near.low[a] = low ? apart - corner : -HUGE_VAL;
        near.high[a] = high ? d->cells[a] - apart - corner : HUGE_VAL;
        near.open |= sides[0] == WALL_OPEN || sides[1] == WALL_OPEN;
    }
    if (sim->scene->collider_count) {
        double middle[3];
        simulation_middle(sim, coords, middle);
        near.solid = simulation_at_seam(sim, block)
                         ? boundary_all(&sim->boundary)
                         : boundary_around(&sim->boundary, middle,
                                           simulation_reach(sim) +
                                               d->dx * BLOCK_EDGE); /* no step is longer */
    }
    return near;
}

/* A particle that would end in a collider is put beside it. */
static bool keep_out(const sph *s, const surroundings *near, const int32_t coords[3],
                     const double from[3], double to[3], double v[3], int64_t *stuck) {
    const double dx = s->dx;
    double x[3], y[3], end[3];
    bool is_stuck;
    simulation_world(s->sim, coords, to, y);
    vec_copy(end, y);
    for (int a = 0; a < 3; a++) x[a] = y[a] + (from[a] - to[a]) * dx; /* across a seam too */
    if (!collide(&near->solid, dx, x, end, v, &is_stuck)) return false;
    *stuck += is_stuck;
    for (int a = 0; a < 3; a++) to[a] += (end[a] - y[a]) / dx;
    return true;
}

/* What a collider took of a particle that was put beside it. */
static void note_touch(const sph *s, const surroundings *near, const int32_t coords[3],
                       const double to[3], const double before[3], const double v[3],
                       block_touches *touches) {
    double x[3], lost[3];
    int c;
    simulation_world(s->sim, coords, to, x);
    boundary_part_nearest(&near->solid, x, &c);
    vec_sub(lost, before, v);
    vec_scale(lost, s->rest_density * s->volume, lost);
    touches_note(s->sim, touches, c, x, lost);
}

static void move_particle(sph *s, const surroundings *near, int32_t block, int64_t i,
                          block_touches *touches, sph_extremes *seen) {
    spate_simulation *sim = s->sim;
    particles *p = &sim->particles;
    const domain *d = &sim->scene->domain;
    const real *velocity = s->view.fluid.velocity[i], *acceleration = s->view.acceleration[i];
    double from[3] = {0}, to[3] = {0}, v[3] = {0}, moved[3] = {0};
    for (int a = 0; a < sim->scene->dim; a++) {
        v[a] = (double)velocity[a];
        from[a] = (double)PLANE(p, position, a)[i];
        to[a] = from[a] + v[a] * sim->dt / d->dx;
    }
    if (s->options->shifting > 0 && s->view.density[i] > (real)0.95) {
        const real *shift = s->view.shift[i];
        const double factor =
            s->options->shifting * (0.5 * s->support / d->dx) * sim->max_speed * sim->dt / d->dx;
        for (int a = 0; a < sim->scene->dim; a++) to[a] -= factor * (double)shift[a];
    }
    vec_sub(moved, to, from);
    if (!(vec_dot(moved, moved) <= BLOCK_EDGE * BLOCK_EDGE)) { /* or not a number */
        if (seen->bad < 0 || i < seen->bad) seen->bad = i;
        return;
    }
    const int32_t *coords = sim->blocks.coords[block];
    const double before[3] = {v[0], v[1], v[2]};
    if (near->solid.count && keep_out(s, near, coords, from, to, v, &seen->stuck))
        note_touch(s, near, coords, to, before, v, touches);
    for (int a = 0; a < sim->scene->dim; a++) {
        if (to[a] <= near->low[a]) to[a] = near->low[a], v[a] = fmax(v[a], 0);
        if (to[a] >= near->high[a]) to[a] = near->high[a], v[a] = fmin(v[a], 0);
        moved[a] = to[a] - from[a];
        PLANE(p, position, a)[i] = (real)to[a];
        p->velocity[i][a] = (real)v[a];
    }
    const double move2 = vec_dot(moved, moved);
    const double a[3] = {(double)acceleration[0], (double)acceleration[1], (double)acceleration[2]};
    seen->move2 = fmax(seen->move2, move2);
    seen->speed2 = fmax(seen->speed2, vec_dot(v, v));
    seen->acceleration2 = fmax(seen->acceleration2, vec_dot(a, a));
}

static void move_blocks(void *data, chunk items) {
    sph *s = data;
    const blocks *b = &s->sim->blocks;
    sph_extremes *seen = &s->seen[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        const surroundings near = surroundings_of(s, block);
        s->touches[o].count = 0;
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++)
            move_particle(s, &near, block, i, &s->touches[o], seen);
        if (near.open) seen->removed += simulation_remove_outside(s->sim, block);
    }
}

spate_status sph_move(sph *s) {
    spate_simulation *sim = s->sim;
    const int workers = pool_size(sim->ctx->pool);
    for (int w = 0; w < workers; w++) s->seen[w] = (sph_extremes){.bad = -1};
    TRY(boundary_move(&sim->boundary, sim->time + sim->dt));
    s->touches = scratch_take(&sim->scratch, "sph touches", (size_t)sim->blocks.occupied_count + 1,
                              sizeof *s->touches);
    if (!s->touches) return SPATE_OUT_OF_MEMORY;
    parallel_for(sim->ctx->pool, sim->blocks.occupied_count, BLOCKS_A_CHUNK, move_blocks, s);
    impulses_add(&s->impulses, s->touches, sim->blocks.occupied_count);
    scratch_give(&sim->scratch, "sph touches");
    sph_extremes all = {.bad = -1};
    for (int w = 0; w < workers; w++) {
        const sph_extremes *seen = &s->seen[w];
        all.speed2 = fmax(all.speed2, seen->speed2);
        all.move2 = fmax(all.move2, seen->move2);
        all.acceleration2 = fmax(all.acceleration2, seen->acceleration2);
        all.removed += seen->removed;
        all.stuck += seen->stuck;
        if (seen->bad >= 0 && (all.bad < 0 || seen->bad < all.bad)) all.bad = seen->bad;
    }
    if (all.bad >= 0)
        return sph_unstable(s, all.bad,
                            "a particle's velocity is not finite, or took it across more than 4 "
                            "cells in a step");
    sim->max_speed = sqrt(all.speed2);
    sim->drift += sqrt(all.move2);
    sim->removed += all.removed;
    if (all.removed) simulation_must_sort(sim); /* they must be gone before the next sums */
    s->memory.acceleration = sqrt(all.acceleration2);
    s->memory.stuck += all.stuck;
    return SPATE_OK;
}
