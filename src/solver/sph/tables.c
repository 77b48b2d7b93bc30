/*
 * What the passes read, and what becomes of it: neighbour lists, places and velocities as records, and
 * at the end of a step the particles' own.
 */
#include "core/vec.h"
#include "solver/collide.h"
#include "solver/sph/sph.h"

enum { BLOCKS_A_CHUNK = 4, POINTS_A_CHUNK = 1024 };

/* Cells along an axis beyond which places are wrapped: they are kept to 2^-17 of a cell then. */
enum { LONGEST = 256 };

/* ---- Lists ----------------------------------------------------------------------------------- */

static double list_radius(const sph *s) {
    return (s->support + s->options->skin * s->spacing) / s->sim->scene->domain.dx;
}

static spate_status build(sph *s) {
    spate_simulation *sim = s->sim;
    const double radius = list_radius(s);
    TRY(neighbours_build(&s->liquid, &sim->blocks, &sim->particles, &sim->blocks, &sim->particles,
                         radius, sim->ctx->pool));
    TRY(neighbours_build(&s->wall, &sim->blocks, &sim->particles, &s->walls.blocks,
                         &s->walls.points, radius, sim->ctx->pool));
    s->listed = true;
    return SPATE_OK;
}

/* Whether the references of all particles are in the order of their cells, as a sort leaves them. */
static bool is_in_order(const sph *s) {
    const particles *p = &s->sim->particles;
    const blocks *b = &s->sim->blocks;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        int before = 0;
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            int cell = 0;
            for (int a = 0; a < s->sim->scene->dim; a++) {
                const real x = PLANE(p, reference, a)[i];
                if (!(x >= 0 && x < BLOCK_EDGE)) return false;
                cell = cell * BLOCK_EDGE + (int)x;
            }
            if (cell < before) return false;
            before = cell;
        }
    }
    return true;
}

/* Lists that a checkpoint has cut off are made again from where particles were when they were made. */
static spate_status build_again(sph *s) {
    particles *p = &s->sim->particles;
    real *now = p->position;
    if (!is_in_order(s))
        return fail(s->sim->ctx, SPATE_BAD_INPUT,
                    "the checkpoint is damaged: impossible values in block reference; take an "
                    "earlier one");
    p->position = p->reference;
    spate_status status = build(s);
    p->position = now;
    return status;
}

/* With a skin, lists hold whoever may come near until particles have moved by half of it. */
static bool lists_serve(const sph *s) {
    const spate_simulation *sim = s->sim;
    const double skin = s->options->skin * s->spacing / sim->scene->domain.dx;
    return skin > 0 && (s->listed || sim->step > 0) && sim->blocks.pending_count == 0 &&
           2 * sim->drift <= skin && !s->walls.moving;
}

/* ---- Walls ----------------------------------------------------------------------------------- */

static void wrap(const sph *s, const int32_t coords[3], real base[3]) {
    const domain *d = &s->sim->scene->domain;
    for (int a = 0; a < 3; a++) {
        double at = (double)coords[a] * BLOCK_EDGE - d->cells[a] / 2;
        if (s->period[a] > 0) at -= (double)s->period[a] * floor(at / (double)s->period[a] + 0.5);
        base[a] = a < s->sim->scene->dim ? (real)at : 0;
    }
}

/* The way out of the wall at a point. */
static void find_normal(const sph *s, int owner, const double x[3], double normal[3]) {
    const spate_scene *scene = s->sim->scene;
    if (owner < scene->collider_count) {
        boundary_distance(&s->sim->boundary, owner, x, normal, NULL);
        return;
    }
    const int side = owner - scene->collider_count;
    vec_set(normal, 0, 0, 0);
    normal[side / 2] = side % 2 ? -1 : 1;
}

static bool is_sticky(const spate_scene *scene, int owner) {
    if (owner < scene->collider_count) return scene->colliders[owner].contact == CONTACT_STICKY;
    owner -= scene->collider_count;
    return scene->domain.walls[owner / 2][owner % 2] == WALL_STICKY;
}

static void place_walls(void *data, chunk items) {
    sph *s = data;
    const spate_simulation *sim = s->sim;
    const particles *p = &s->walls.points;
    const blocks *b = &s->walls.blocks;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        real base[3];
        wrap(s, b->coords[block], base);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            real *place = s->on.place + 4 * i, *flow = s->on.flow + 4 * i,
                 *facing = s->facing + 4 * i;
            double x[3], local[3] = {0}, normal[3];
            for (int a = 0; a < 3; a++) {
                const bool used = a < sim->scene->dim;
                if (used) local[a] = (double)PLANE(p, position, a)[i];
                place[a] = used ? base[a] + PLANE(p, position, a)[i] : 0;
                flow[a] = used ? p->velocity[i][a] : 0;
            }
            place[3] = (real)((double)p->mass[i] / s->volume);
            flow[3] = 0;
            simulation_world(sim, b->coords[block], local, x);
            find_normal(s, p->group[i], x, normal);
            for (int a = 0; a < 3; a++) facing[a] = a < sim->scene->dim ? (real)normal[a] : 0;
            facing[3] = is_sticky(sim->scene, p->group[i])
                            ? s->walls.depth[p->id[i]] / (real)sim->scene->domain.dx
                            : -1;
        }
    }
}

/* Where the walls are at the start of the step. */
static spate_status stand_walls(sph *s) {
    spate_simulation *sim = s->sim;
    const bool first = !s->on.place;
    if (!first && !s->walls.moving) return SPATE_OK;
    boundary_move(&sim->boundary, sim->time);
    TRY(sph_walls_move(&s->walls, sim->time));
    const size_t room = (size_t)s->walls.points.count + 1;
    if (first) {
        s->on.place = take(sim->ctx, 4 * room, sizeof(real));
        s->on.flow = take(sim->ctx, 4 * room, sizeof(real));
        s->facing = take(sim->ctx, 4 * room, sizeof(real));
        if (!s->on.place || !s->on.flow || !s->facing) return SPATE_OUT_OF_MEMORY;
    }
    parallel_for(sim->ctx->pool, s->walls.blocks.occupied_count, BLOCKS_A_CHUNK, place_walls, s);
    return SPATE_OK;
}

/* Takes away the liquid that a collider would appear in: walls cannot be pressed into it at once, or it
 * would be thrown out. Half a spacing around it is where its walls allow no particle. */
static void clear_for(const sph *s, int c) {
    spate_simulation *sim = s->sim;
    for (int32_t o = 0; o < sim->blocks.occupied_count; o++) {
        const int32_t block = sim->blocks.occupied[o];
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            double x[3];
            if (sim->particles.group[i] == GROUP_REMOVED) continue;
            simulation_position(sim, block, i, x);
            if (boundary_distance(&sim->boundary, c, x, NULL, NULL) >= 0.5 * s->spacing) continue;
            sim->particles.group[i] = GROUP_REMOVED;
            sim->drained++;
            simulation_must_sort(sim);
        }
    }
}

static void clear_for_new_walls(const sph *s) {
    spate_simulation *sim = s->sim;
    const spate_scene *scene = sim->scene;
    for (int c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].from > 0 && simulation_is_now(sim, scene->colliders[c].from))
            clear_for(s, c);
}

spate_status sph_lists(sph *s) {
    spate_simulation *sim = s->sim;
    particles *p = &sim->particles;
    TRY(stand_walls(s));
    clear_for_new_walls(s);
    if (lists_serve(s)) return s->listed ? SPATE_OK : build_again(s);
    int64_t lost;
    TRY(blocks_sort(&sim->blocks, p, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return sph_unstable(s, lost, "a particle moved more than a block");
    sim->drift = 0;
    TRY(build(s));
    s->memory.builds++;
    for (int a = 0; a < sim->scene->dim && p->reference; a++)
        memcpy(PLANE(p, reference, a), PLANE(p, position, a), (size_t)p->count * sizeof(real));
    int64_t pairs = 0;
    for (int64_t i = 0; i < p->count; i++) pairs += s->liquid.number[i];
    s->memory.neighbours = p->count ? (double)pairs / (double)p->count : 0;
    return SPATE_OK;
}

/* ---- Records --------------------------------------------------------------------------------- */

/* Past the last particle there is room to load and store whole lanes. */
static spate_status reserve(sph *s) {
    spate_context *ctx = s->sim->ctx;
    const int64_t count = s->sim->particles.count + WIDE;
    TRY(ENSURE(ctx, s->capacity, count, EACH(s->of.place, 4), EACH(s->of.flow, 4),
               EACH(s->push, 4)));
    if (s->extras) TRY(ENSURE(ctx, s->extra_capacity, count, EACH(s->aside, 8)));
    if (s->options->pressure == SPH_WCSPH) return SPATE_OK;
    TRY(ENSURE(ctx, s->implicit_capacity, count, EACH(s->pull, 4), EACH(s->lift, 4),
               EACH(s->source, 1), EACH(s->next, 1), EACH(s->last, 1), EACH(s->miss, 1)));
    return ENSURE(ctx, s->slope_capacity, s->liquid.entries, EACH(s->slopes, 1));
}

static void fill_records(void *data, chunk items) {
    sph *s = data;
    const particles *p = &s->sim->particles;
    const blocks *b = &s->sim->blocks;
    const int dim = s->sim->scene->dim;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        real base[3];
        wrap(s, b->coords[block], base);
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            real *place = s->of.place + 4 * i, *flow = s->of.flow + 4 * i;
            place[2] = place[3] = flow[2] = flow[3] = 0;
            for (int a = 0; a < dim; a++) {
                place[a] = base[a] + PLANE(p, position, a)[i];
                flow[a] = p->velocity[i][a];
            }
        }
    }
}

spate_status sph_tables(sph *s) {
    TRY(reserve(s));
    s->density = s->sim->particles.density;
    parallel_for(s->sim->ctx->pool, s->sim->blocks.occupied_count, BLOCKS_A_CHUNK, fill_records, s);
    return SPATE_OK;
}

void sph_tables_free(sph *s) {
    spate_context *ctx = s->sim->ctx;
    real *const all[] = {s->of.place, s->of.flow, s->on.place, s->on.flow, s->push,
                         s->aside,    s->pull,    s->lift,     s->source,  s->next,
                         s->last,     s->miss,    s->slopes,   s->facing};
    for (int i = 0; i < COUNT_OF(all); i++) give(ctx, all[i]);
}

size_t sph_tables_bytes(const sph *s) {
    const int64_t reals = 12 * s->capacity + 8 * s->extra_capacity + 12 * s->implicit_capacity +
                          s->slope_capacity + 12 * s->walls.points.count;
    return (size_t)reals * sizeof(real) + neighbours_bytes(&s->liquid) +
           neighbours_bytes(&s->wall) + sph_tension_bytes(s->surface);
}

/* ---- Moving on ------------------------------------------------------------------------------- */

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
            0.5 * (double)s->half_spacing; /* spray has no pressure to keep it off */
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
    const double dx = s->sim->scene->domain.dx;
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
    const real *flow = s->of.flow + 4 * i, *push = s->push + 4 * i;
    double from[3] = {0}, to[3] = {0}, v[3] = {0}, moved[3] = {0};
    for (int a = 0; a < sim->scene->dim; a++) {
        v[a] = (double)flow[a];
        from[a] = (double)PLANE(p, position, a)[i];
        to[a] = from[a] + v[a] * sim->dt / d->dx;
    }
    if (s->options->shifting > 0 && s->density[i] > (real)0.95) {
        const real *shift = s->aside + 8 * i + 4;
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
    const double a[3] = {(double)push[0], (double)push[1], (double)push[2]};
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
    boundary_move(&sim->boundary, sim->time + sim->dt);
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
