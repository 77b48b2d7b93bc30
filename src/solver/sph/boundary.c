/*
 * Points of the sides of the domain, which continue the liquid's lattice, and of colliders
 * (boundary_sampling.h); and how they follow what moves.
 *
 * After every move the particles are in the order, and have the bits, that a store made anew at
 * that time would have: blocks along their curve, cells, and within a cell by id, each written from
 * where it is at rest. A run that goes on from a checkpoint, which holds no walls, is so the same
 * as one that was never stopped.
 */
#include "solver/sph/boundary.h"

#include "core/vec.h"
#include "solver/sph/boundary_sampling.h"
#include <assert.h>
#include <stdlib.h>

enum { GRAIN = 8 };

/* ---- Sides of the domain --------------------------------------------------------------------- */

/* The liquid's lattice along an axis, `inside` points, and what goes on beyond closed ends. */
typedef struct row {
    double origin, size, spacing;
    int64_t inside, beyond[2];
} row;

static bool is_closed(wall side) { return side != WALL_OPEN && side != WALL_PERIODIC; }

static row row_along(const domain *d, int axis, const boundary_samples *points) {
    row r = {.origin = d->origin[axis], .size = d->size[axis], .spacing = points->spacing};
    r.inside = (int64_t)ceil(r.size / r.spacing - 0.5 - 1e-9);
    for (int end = 0; end < 2; end++)
        r.beyond[end] = is_closed(d->walls[axis][end]) * points->layers;
    return r;
}

/* How many layers behind a side point i of a row is, 0 inside; and which side. */
static int64_t layers_behind(const row *r, int64_t i, int *end) {
    *end = i >= r->inside;
    return i < 0 ? -i : i < r->inside ? 0 : i - r->inside + 1;
}

/* Should the domain not be whole spacings long, the points beyond its far end still begin half a
 * spacing behind it. */
static double row_place(const row *r, int64_t i) {
    return i < r->inside ? r->origin + ((double)i + 0.5) * r->spacing
                         : r->origin + r->size + ((double)(i - r->inside) + 0.5) * r->spacing;
}

/* A point behind several sides is of the one behind which it is deepest. */
static spate_status add_side_point(const spate_scene *scene, const row rows[3], const int64_t k[3],
                                   boundary_samples *points) {
    int64_t deepest = 0;
    int side = 0;
    boundary_sample_point new = {.volume = 1};
    for (int a = 0; a < scene->dim; a++) {
        int end;
        const int64_t layers = layers_behind(&rows[a], k[a], &end);
        if (layers > deepest) deepest = layers, side = 2 * a + end;
        new.x[a] = row_place(&rows[a], k[a]);
        new.volume *= points->spacing;
    }
    new.depth = ((double)deepest - 0.5) * points->spacing;
    new.owner = scene->collider_count + side;
    TRY(GROW(scene->ctx, points->list, points->capacity, points->count + 1));
    points->list[points->count++] = new;
    return SPATE_OK;
}

static spate_status add_sides(const spate_scene *scene, boundary_samples *points) {
    row rows[3] = {{.inside = 1}, {.inside = 1}, {.inside = 1}};
    int end;
    for (int a = 0; a < scene->dim; a++) rows[a] = row_along(&scene->domain, a, points);
    int64_t k[3], low[3], high[3];
    for (int a = 0; a < 3; a++)
        low[a] = -rows[a].beyond[0], high[a] = rows[a].inside + rows[a].beyond[1];
    for (k[2] = low[2]; k[2] < high[2]; k[2]++)
        for (k[1] = low[1]; k[1] < high[1]; k[1]++) {
            const bool within = layers_behind(&rows[2], k[2], &end) == 0 &&
                                layers_behind(&rows[1], k[1], &end) == 0;
            for (k[0] = low[0]; k[0] < high[0]; k[0]++) {
                if (within && k[0] == 0) k[0] = rows[0].inside; /* over the inside */
                if (k[0] < high[0]) TRY(add_side_point(scene, rows, k, points));
            }
        }
    return SPATE_OK;
}

/* ---- Where a point is now -------------------------------------------------------------------- */

/* Or comes or goes, which is told by the volume of its points. */
static bool moves(const sph_boundary *w, int owner) {
    const spate_scene *scene = w->sim->scene;
    return owner < scene->collider_count && (scene->colliders[owner].motion.key_count > 0 ||
                                             collider_is_temporary(&scene->colliders[owner]));
}

static void place_of(const sph_boundary *w, uint64_t id, double x[3]) {
    if (moves(w, w->owner[id]))
        pose_to_world(&w->sim->boundary.poses[w->owner[id]], w->rest[id], x);
    else
        vec_copy(x, w->rest[id]);
}

static void velocity_of(const sph_boundary *w, uint64_t id, const double x[3], double v[3]) {
    const spate_scene *scene = w->sim->scene;
    const int side = w->owner[id] - scene->collider_count;
    if (side >= 0)
        vec_copy(v, scene->domain.wall_velocity[side / 2][side % 2]);
    else
        pose_velocity(&w->sim->boundary.poses[w->owner[id]], x, v);
}

/* Behind a closed side are that side's own points. */
static bool is_behind_side(const sph_boundary *w, const double x[3]) {
    const domain *d = &w->sim->scene->domain;
    for (int a = 0; a < w->sim->scene->dim; a++)
        if ((x[a] < d->origin[a] && is_closed(d->walls[a][0])) ||
            (x[a] > d->origin[a] + d->size[a] && is_closed(d->walls[a][1])))
            return true;
    return false;
}

static void grid_place(const sph_boundary *w, const double x[3], double g[3]) {
    const domain *d = &w->sim->scene->domain;
    vec_set(g, 0, 0, 0);
    for (int a = 0; a < w->sim->scene->dim; a++)
        g[a] = (x[a] - d->origin[a]) / d->dx + w->sim->type->shift;
}

/* The block of grid place g and the place in it, as blocks_add has them; blocks of a periodic axis
 * are not yet within their period. */
static void locate(const sph_boundary *w, const double g[3], int32_t block[3], real local[3]) {
    for (int a = 0; a < 3; a++) {
        double corner = a < w->blocks.dim ? floor(g[a] / BLOCK_EDGE) : 0;
        local[a] = a < w->blocks.dim ? (real)(g[a] - corner * BLOCK_EDGE) : 0;
        if (local[a] >= BLOCK_EDGE) local[a] = 0, corner += 1;
        block[a] = (int32_t)corner;
    }
}

/* ---- Moving ---------------------------------------------------------------------------------- */

typedef struct mover {
    sph_boundary *w;
    bool all;                  /* every block, whether or not something in it moves */
    bool stepped[MAX_THREADS]; /* by worker: a point is in another block now */
    bool far[MAX_THREADS];     /* one that is no neighbour of the last */
} mover;

/* From block b to the one where its point i is now, at g; false when that is no neighbour. */
static bool find_step(const sph_boundary *w, int32_t b, int64_t i, double g[3], int step[3]) {
    double x[3];
    int32_t block[3];
    real local[3];
    place_of(w, w->particles.id[i], x);
    grid_place(w, x, g);
    locate(w, g, block, local);
    bool near = true;
    for (int a = 0; a < 3; a++) {
        const int period = w->blocks.period[a];
        step[a] = block[a] - w->blocks.coords[b][a];
        if (period) step[a] -= period * (int)lround((double)step[a] / period);
        near = near && abs(step[a]) <= 1;
    }
    return near;
}

/* Points that are in a neighbouring block are put into its middle for the sort to take them there;
 * where in it they are is written afterwards. */
static void leave_blocks(void *data, chunk items) {
    mover *m = data;
    sph_boundary *w = m->w;
    particles *p = &w->particles;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t b = w->blocks.occupied[o];
        for (int64_t i = w->blocks.first[b]; i < w->blocks.first[b + 1]; i++) {
            double g[3];
            int step[3];
            if (!moves(w, p->group[i])) continue;
            if (!find_step(w, b, i, g, step)) {
                m->far[items.worker] = true;
                continue;
            }
            if (!step[0] && !step[1] && !step[2]) continue;
            m->stepped[items.worker] = true;
            for (int a = 0; a < w->blocks.dim; a++)
                PLANE(p, position, a)[i] = (real)(BLOCK_EDGE / 2 + BLOCK_EDGE * step[a]);
        }
    }
}

/* Points that have jumped over a block are added anew, and dropped where they were. */
static spate_status carry_far(sph_boundary *w) {
    particles *p = &w->particles;
    for (int32_t o = 0; o < w->blocks.occupied_count; o++) {
        const int32_t b = w->blocks.occupied[o];
        for (int64_t i = w->blocks.first[b]; i < w->blocks.first[b + 1]; i++) {
            double g[3];
            int step[3];
            int64_t to;
            if (!moves(w, p->group[i]) || find_step(w, b, i, g, step)) continue;
            TRY(blocks_add_like(&w->blocks, p, i, g, &to));
            p->group[i] = GROUP_REMOVED;
        }
    }
    return SPATE_OK;
}

static void write_position(sph_boundary *w, int64_t i) {
    double x[3], g[3];
    int32_t block[3];
    real local[3];
    place_of(w, w->particles.id[i], x);
    grid_place(w, x, g);
    locate(w, g, block, local);
    for (int a = 0; a < w->blocks.dim; a++) PLANE(&w->particles, position, a)[i] = local[a];
}

/* All other fields of particle i, from its id. */
static void write_fields(sph_boundary *w, int64_t i) {
    particles *p = &w->particles;
    const uint64_t id = p->id[i];
    double x[3], v[3];
    place_of(w, id, x);
    velocity_of(w, id, x, v);
    for (int a = 0; a < w->blocks.dim; a++) p->velocity[i][a] = (real)v[a];
    p->group[i] = w->owner[id];
    const bool hidden =
        moves(w, w->owner[id]) && (is_behind_side(w, x) || !w->sim->boundary.present[w->owner[id]]);
    p->mass[i] = hidden ? 0 : w->volume[id];
}

/* Cell in the block and id: what a block's points are ordered by. */
static uint64_t key_of(const sph_boundary *w, int64_t i) {
    uint64_t cell = 0;
    for (int a = 0; a < w->blocks.dim; a++)
        cell = cell * BLOCK_EDGE + (uint64_t)PLANE(&w->particles, position, a)[i];
    return cell << 32 | w->particles.id[i];
}

/* By insertion: they are in order but for the few that came in or changed their cell. */
static void order_block(sph_boundary *w, int64_t first, int64_t end) {
    particles *p = &w->particles;
    for (int64_t i = first + 1; i < end; i++) {
        const uint64_t key = key_of(w, i);
        const uint64_t id = p->id[i];
        real x[3];
        for (int a = 0; a < 3; a++) x[a] = PLANE(p, position, a)[i];
        int64_t to = i;
        for (; to > first && key_of(w, to - 1) > key; to--) {
            p->id[to] = p->id[to - 1];
            for (int a = 0; a < 3; a++) PLANE(p, position, a)[to] = PLANE(p, position, a)[to - 1];
        }
        p->id[to] = id;
        for (int a = 0; a < 3; a++) PLANE(p, position, a)[to] = x[a];
    }
}

static void settle_blocks(void *data, chunk items) {
    mover *m = data;
    sph_boundary *w = m->w;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t b = w->blocks.occupied[o];
        const int64_t first = w->blocks.first[b], last = w->blocks.first[b + 1];
        bool any = m->all;
        for (int64_t i = first; i < last && !any; i++) any = moves(w, w->particles.group[i]);
        if (!any) continue;
        for (int64_t i = first; i < last; i++) write_position(w, i);
        order_block(w, first, last);
        for (int64_t i = first; i < last; i++) write_fields(w, i);
    }
}

static spate_status sort(sph_boundary *w) {
    int64_t lost;
    spate_simulation *sim = w->sim;
    TRY(blocks_sort(&w->blocks, &w->particles, &sim->scratch, sim->ctx->pool, &lost));
    assert(lost < 0); /* what is far has been carried */
    return SPATE_OK;
}

spate_status sph_boundary_move(sph_boundary *w, double time) {
    if (!w->moving || (time == w->time && !w->sim->boundary.driven_count)) return SPATE_OK;
    mover m = {.w = w};
    pool *threads = w->sim->ctx->pool;
    parallel_for(threads, w->blocks.occupied_count, GRAIN, leave_blocks, &m);
    bool stepped = false, far = false;
    for (int k = 0; k < MAX_THREADS; k++) {
        stepped = stepped || m.stepped[k];
        far = far || m.far[k];
    }
    if (far) TRY(carry_far(w));
    if (far || stepped) TRY(sort(w));
    parallel_for(threads, w->blocks.occupied_count, GRAIN, settle_blocks, &m);
    w->time = time;
    return SPATE_OK;
}

/* ---- Making ---------------------------------------------------------------------------------- */

/* Colliders as they are at rest: the simulation's own, but for where they are. */
static spate_status add_colliders(spate_simulation *sim, boundary_samples *points) {
    const spate_scene *scene = sim->scene;
    boundary still = sim->boundary;
    const size_t room = (size_t)scene->collider_count + 1;
    still.poses = take(sim->ctx, room, sizeof *still.poses);
    still.present = still.poses ? take(sim->ctx, room, sizeof *still.present) : NULL;
    spate_status status = still.present ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    const motion none = {.key_count = 0};
    for (int c = 0; c < scene->collider_count && !status; c++)
        still.poses[c] = motion_pose(&none, 0), still.present[c] = true;
    for (int c = 0; c < scene->collider_count && !status; c++)
        status = boundary_sample(&still, c, points);
    give(sim->ctx, still.poses), give(sim->ctx, still.present);
    return status;
}

static spate_status keep_points(sph_boundary *w, const boundary_samples *points) {
    spate_context *ctx = w->sim->ctx;
    const size_t count = (size_t)points->count + 1;
    w->rest = take(ctx, count, sizeof *w->rest);
    w->depth = w->rest ? take(ctx, count, sizeof *w->depth) : NULL;
    w->volume = w->depth ? take(ctx, count, sizeof *w->volume) : NULL;
    w->owner = w->volume ? take(ctx, count, sizeof *w->owner) : NULL;
    if (!w->owner) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < points->count; i++) {
        const boundary_sample_point *p = &points->list[i];
        vec_copy(w->rest[i], p->x);
        w->depth[i] = (real)p->depth, w->volume[i] = (real)p->volume;
        w->owner[i] = (uint16_t)p->owner;
        w->moving = w->moving || moves(w, p->owner);
    }
    return SPATE_OK;
}

static spate_status fill_blocks(sph_boundary *w, int64_t count) {
    TRY(particles_reserve(&w->particles, count));
    for (int64_t id = 0; id < count; id++) {
        double x[3], g[3];
        int64_t i;
        place_of(w, (uint32_t)id, x);
        grid_place(w, x, g);
        TRY(blocks_add(&w->blocks, &w->particles, g, &i));
        w->particles.id[i] = (uint64_t)id;
    }
    TRY(sort(w));
    mover m = {.w = w, .all = true};
    parallel_for(w->sim->ctx->pool, w->blocks.occupied_count, GRAIN, settle_blocks, &m);
    return SPATE_OK;
}

spate_status sph_boundary_create(spate_simulation *sim, double spacing, double support, int layers,
                                 sph_boundary *out) {
    assert(spacing > 0 && support > spacing && layers > 1);
    *out = (sph_boundary){.sim = sim, .time = sim->time, .particles.ctx = sim->ctx};
    out->particles.fields = PARTICLE_BASICS;
    if (sim->scene->collider_count + 6 >= GROUP_REMOVED)
        return fail(sim->ctx, SPATE_BAD_INPUT, "%s: more than %d colliders", sim->scene->path,
                    GROUP_REMOVED - 7);
    TRY(boundary_move(&sim->boundary, sim->time));
    boundary_samples points = {.spacing = spacing, .support = support, .layers = layers};
    spate_status status;
    TRY_OR_DONE(status, blocks_create(sim->ctx, sim->scene->dim, sim->blocks.period, &out->blocks));
    TRY_OR_DONE(status, add_sides(sim->scene, &points));
    TRY_OR_DONE(status, add_colliders(sim, &points));
    TRY_OR_DONE(status, keep_points(out, &points));
    status = fill_blocks(out, points.count);
done:
    give(sim->ctx, points.list);
    if (status) sph_boundary_free(out);
    return status;
}

void sph_boundary_free(sph_boundary *w) {
    if (!w->sim) return;
    spate_context *ctx = w->sim->ctx;
    particles_free(&w->particles);
    blocks_free(&w->blocks);
    give(ctx, w->rest), give(ctx, w->depth), give(ctx, w->volume), give(ctx, w->owner);
    *w = (sph_boundary){.sim = NULL};
}
