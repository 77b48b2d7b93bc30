/*
 * Lattice points inside shapes. The lattice is halved down like an octree: a block of points that
 * is farther from a surface than its own size is taken or dropped whole, so time follows the
 * surface.
 *
 * A point that lies on a face is decided by where it would be after a tiny move, the same for all
 * shapes: faces that two boxes share belong to one of them, and a box of volume V has V / s^d
 * points.
 */
#include "scene/sample.h"
#include "core/random.h"
#include "core/vec.h"
#include "scene/cell_fill.h"
#include "scene/poisson.h"

enum { BRICK = 16 };

/* In units of the spacing; without a pattern, so that it is along no face or edge of any shape. */
static const double NUDGE[3] = {1e-7, 0.7548777e-7, 0.5698403e-7};

/* Of a glass, in cells: how deep below a face its points fill cells as the lattice does. */
static const double skin = 2;

/* Something whose inside holds no particles of this body. */
typedef struct obstacle {
    const shape *shape;
    pose at;
    bool is_body; /* an earlier one; else a collider */
} obstacle;

typedef struct sampler {
    spate_context *ctx;
    const spate_scene *scene;
    const domain *domain;
    const shape *shape;
    int dim;
    sampling kind;
    double spacing;
    double jitter; /* how far points are from their lattice at most, in halves of its spacing */
    double skin;   /* points this near to a face of the shape fill cells as the lattice does */
    int64_t lattice[3]; /* points across the domain */
    obstacle *obstacles;
    int obstacle_count;
    int *open;  /* obstacles in an order where those not yet decided for a block come first */
    bool count; /* points are only counted */
    fill_point *near;
    int64_t near_count, near_capacity;
    samples *out;
} sampler;

double sample_spacing(const domain *d, int dim, double particles_per_cell) {
    double side = dim == 2 ? sqrt(particles_per_cell) : cbrt(particles_per_cell);
    if (fabs(side - round(side)) < 1e-9) side = round(side);
    return d->dx / side;
}

static double cell_volume(double spacing, int dim) {
    return dim == 2 ? spacing * spacing : spacing * spacing * spacing;
}

void samples_free(spate_context *ctx, samples *s) {
    give(ctx, s->points);
    *s = (samples){.points = NULL};
}

/* ---- Inside or not
 * ------------------------------------------------------------------------------------- */

static double obstacle_distance(const obstacle *o, int dim, const double x[3]) {
    double rest[3];
    pose_to_rest(&o->at, x, rest);
    return shape_distance(o->shape, dim, rest);
}

static bool in_domain(const domain *d, int dim, const double x[3]) {
    for (int i = 0; i < dim; i++)
        if (!(x[i] >= d->origin[i] && x[i] < d->origin[i] + d->size[i])) return false;
    return true;
}

/* Whether a particle may be at x, against all obstacles. */
static bool allowed(const double x[3], const void *user) {
    const sampler *w = user;
    if (!in_domain(w->domain, w->dim, x) || !(shape_distance(w->shape, w->dim, x) < 0))
        return false;
    for (int i = 0; i < w->obstacle_count; i++)
        if (obstacle_distance(&w->obstacles[i], w->dim, x) < 0) return false;
    return true;
}

/* ---- The lattice
 * ------------------------------------------------------------------------------------------ */

static void lattice_point(const sampler *w, const int64_t k[3], double x[3]) {
    vec_set(x, 0, 0, 0);
    for (int i = 0; i < w->dim; i++)
        x[i] = w->domain->origin[i] + ((double)k[i] + 0.5) * w->spacing;
}

void sample_move(const spate_scene *scene, sampling kind, double jitter, const int64_t k[3],
                 double move[3]) {
    vec_set(move, 0, 0, 0);
    if (kind == SAMPLE_GLASS) vec_copy(move, glass_move(&scene->glass, k));
    if (kind != SAMPLE_JITTERED) return;
    uint64_t id = (uint64_t)k[0] + ((uint64_t)k[1] << 21) + ((uint64_t)k[2] << 42);
    for (int i = 0; i < scene->dim; i++)
        move[i] = (random_unit(scene->seed, id, (uint64_t)i) - 0.5) * jitter;
}

/* Moves a point within its cell of the lattice. Near a surface the move is halved until the point
 * stays on its side. */
static void move_point(const sampler *w, const int64_t k[3], bool near_surface, double x[3]) {
    double move[3], y[3];
    sample_move(w->scene, w->kind, w->jitter, k, move);
    vec_scale(move, w->spacing, move);
    for (int attempt = 0; attempt < 12; attempt++, vec_scale(move, 0.5, move)) {
        vec_add(y, x, move);
        if (near_surface ? allowed(y, w) : in_domain(w->domain, w->dim, y)) {
            vec_copy(x, y);
            return;
        }
    }
}

/* Whether the shape's surface beside the point lies along the grid. Elsewhere the lattice has steps,
 * and points that follow them make a surface rougher: a ball that splashes tears more often. */
static bool is_by_a_face(const sampler *w, const int64_t k[3]) {
    double x[3], normal[3], along = 0;
    lattice_point(w, k, x);
    shape_normal(w->shape, w->dim, x, normal);
    for (int i = 0; i < w->dim; i++) along = fmax(along, fabs(normal[i]));
    return along > 0.999;
}

static spate_status note_near(sampler *w, const int64_t k[3]) {
    TRY(GROW(w->ctx, w->near, w->near_capacity, w->near_count + 1));
    fill_point *p = &w->near[w->near_count++];
    *p = (fill_point){.index = w->out->count - 1};
    lattice_point(w, k, p->from);
    for (int i = 0; i < w->dim; i++) p->window[i] = k[i] / FILL_WINDOW;
    return SPATE_OK;
}

static spate_status add_point(sampler *w, const int64_t k[3], bool near_surface) {
    samples *s = w->out;
    if (w->count) {
        s->count++;
        return SPATE_OK;
    }
    TRY(GROW(w->ctx, s->points, s->capacity, s->count + 1));
    double *x = s->points[s->count++];
    lattice_point(w, k, x);
    if (w->jitter > 0) move_point(w, k, near_surface, x);
    return near_surface && w->skin > 0 && is_by_a_face(w, k) ? note_near(w, k) : SPATE_OK;
}

/* A block of the lattice, `size` points a side from `low` on. */
typedef struct block {
    int64_t low[3];
    int size;
} block;

/* The part of the block that is in the domain: points low..high-1. */
static void clip_block(const sampler *w, const block *b, int64_t low[3], int64_t high[3]) {
    for (int i = 0; i < 3; i++) {
        int size = i < w->dim ? b->size : 1;
        low[i] = b->low[i] > 0 ? b->low[i] : 0;
        high[i] = b->low[i] + size < w->lattice[i] ? b->low[i] + size : w->lattice[i];
    }
}

static void leave_out(sampler *w, const obstacle *holder, int64_t points) {
    w->out->left_out += points;
    if (holder->is_body) w->out->left_to_bodies += points;
}

/* Takes every point of a block that is wholly inside, unless an obstacle holds them. */
static spate_status take_block(sampler *w, const block *b, const obstacle *holder) {
    int64_t low[3], high[3], k[3], points = 1;
    clip_block(w, b, low, high);
    for (int i = 0; i < 3; i++) points *= high[i] > low[i] ? high[i] - low[i] : 0;
    if (holder) leave_out(w, holder, points);
    if (!holder && w->count) w->out->count += points;
    if (holder || w->count) return SPATE_OK;
    for (k[2] = low[2]; k[2] < high[2]; k[2]++)
        for (k[1] = low[1]; k[1] < high[1]; k[1]++)
            for (k[0] = low[0]; k[0] < high[0]; k[0]++) TRY(add_point(w, k, false));
    return SPATE_OK;
}

static spate_status take_surface_point(sampler *w, const int64_t k[3], const obstacle *holder) {
    for (int i = 0; i < w->dim; i++)
        if (k[i] < 0 || k[i] >= w->lattice[i]) return SPATE_OK;
    if (!holder) return add_point(w, k, true);
    leave_out(w, holder, 1);
    return SPATE_OK;
}

/* Sorts the first *open obstacles so that those which cut the block come first, and counts them.
 * Returns one that holds the whole block, or NULL. `reach`: from the centre to its farthest
 * point. */
static const obstacle *sort_obstacles(sampler *w, const double centre[3], double reach, int *open) {
    int cutting = 0;
    const obstacle *holder = NULL;
    for (int i = 0; i < *open; i++) {
        const obstacle *o = &w->obstacles[w->open[i]];
        double d = obstacle_distance(o, w->dim, centre);
        if (d > reach) continue;
        if (d < -reach && !holder) holder = o;
        int swap = w->open[cutting];
        w->open[cutting++] = w->open[i];
        w->open[i] = swap;
    }
    *open = cutting;
    return holder;
}

/* A single point beside a surface. */
static spate_status visit_point(sampler *w, const block *b, const double nudged[3], bool inside,
                                int open) {
    if (!inside && !(shape_distance(w->shape, w->dim, nudged) < 0)) return SPATE_OK;
    const obstacle *holder = NULL;
    for (int i = 0; i < open && !holder; i++) {
        const obstacle *o = &w->obstacles[w->open[i]];
        if (obstacle_distance(o, w->dim, nudged) < 0) holder = o;
    }
    return take_surface_point(w, b->low, holder);
}

static spate_status visit(sampler *w, const block *b, bool inside, int open) {
    double centre[3], half = (b->size - 1) / 2.0;
    lattice_point(w, b->low, centre);
    for (int i = 0; i < w->dim; i++) centre[i] += (half + NUDGE[i]) * w->spacing;
    double reach = (half + w->jitter / 2 + 1e-6) * w->spacing * sqrt(w->dim);

    if (!inside) {
        double d = shape_distance(w->shape, w->dim, centre);
        if (d > reach) return SPATE_OK;
        inside = d < -(reach + w->skin);
    }
    const obstacle *holder = sort_obstacles(w, centre, reach, &open);
    if (inside && (holder || open == 0)) return take_block(w, b, holder);
    if (b->size == 1) return visit_point(w, b, centre, inside, open);

    for (int corner = 0; corner < 1 << w->dim; corner++) {
        block part = {.size = b->size / 2};
        for (int i = 0; i < 3; i++) part.low[i] = b->low[i] + (corner >> i & 1) * part.size;
        TRY(visit(w, &part, inside, open));
    }
    return SPATE_OK;
}

static int64_t brick_floor(double k) { return (int64_t)floor(k / BRICK) * BRICK; }

/* The lattice range of the shape's bounds within the domain; false when there is none. */
static bool lattice_range(sampler *w, int64_t low[3], int64_t high[3]) {
    bounds b = shape_bounds(w->shape, w->dim);
    for (int i = 0; i < 3; i++) {
        w->lattice[i] = 1, low[i] = 0, high[i] = 1;
        if (i >= w->dim) continue;
        double size = w->domain->size[i], s = w->spacing;
        double from = b.min[i] - w->domain->origin[i], to = b.max[i] - w->domain->origin[i];
        if (from < -1e-6 * s || to > size + 1e-6 * s) w->out->clipped = true;
        if (!(from <= size && to >= 0 && from <= to)) return false;
        w->lattice[i] = (int64_t)ceil(size / s - 0.5 - 1e-9);
        low[i] = brick_floor(fmax(from / s - 1, 0));
        high[i] = (int64_t)fmin(ceil(to / s) + 1, (double)w->lattice[i]);
    }
    return true;
}

static spate_status sample_lattice(sampler *w) {
    int64_t low[3], high[3];
    if (!lattice_range(w, low, high)) return SPATE_OK;
    block b = {.size = BRICK};
    for (b.low[2] = low[2]; b.low[2] < high[2]; b.low[2] += BRICK)
        for (b.low[1] = low[1]; b.low[1] < high[1]; b.low[1] += BRICK)
            for (b.low[0] = low[0]; b.low[0] < high[0]; b.low[0] += BRICK)
                TRY(visit(w, &b, false, w->obstacle_count));
    return SPATE_OK;
}

/* ---- Poisson-disc
 * ------------------------------------------------------------------------------------------ */

/* The sets hold 0.61 / r^2 points in 2D and 0.59 / r^3 in 3D (measured). A radius for a few more
 * than are wanted leaves some to thin: sqrt(0.60) and cbrt(0.57), as numbers so that they are the
 * same bits whoever computes roots. */
static double poisson_radius(const sampler *w) {
    return w->spacing * (w->dim == 2 ? 0.7745966692414834 : 0.8291344341849697);
}

/* Replaces the lattice points by a Poisson-disc set of the same mean number. */
static spate_status sample_poisson(sampler *w, double volume) {
    samples *s = w->out;
    double cell = cell_volume(w->spacing, w->dim);
    poisson_region region = {.box = shape_bounds(w->shape, w->dim),
                             .allowed = allowed,
                             .user = w,
                             .starts = (const double(*)[3])s->points,
                             .start_count = s->count};
    for (int i = 0; i < w->dim; i++) {
        double from = w->domain->origin[i];
        region.box.min[i] = fmax(region.box.min[i], from);
        region.box.max[i] = fmin(region.box.max[i], from + w->domain->size[i]);
    }
    double(*points)[3] = NULL;
    int64_t count = 0;
    TRY(poisson_fill(w->ctx, &region, w->dim, w->scene->seed, poisson_radius(w), &points, &count));
    spate_status status =
        poisson_thin(w->ctx, w->scene->seed, llround(volume / cell), points, &count);
    if (status != SPATE_OK) {
        give(w->ctx, points);
        return status;
    }
    give(w->ctx, s->points);
    s->points = points;
    s->count = s->capacity = count;
    return SPATE_OK;
}

/* ---- Bodies and sources
 * ------------------------------------------------------------------------------------- */

static sampler sampler_of(const spate_scene *scene, const shape *solid, double per_cell,
                          samples *out) {
    *out = (samples){.spacing = sample_spacing(&scene->domain, scene->dim, per_cell)};
    out->volume = cell_volume(out->spacing, scene->dim);
    return (sampler){.ctx = scene->ctx,
                     .scene = scene,
                     .domain = &scene->domain,
                     .shape = solid,
                     .dim = scene->dim,
                     .spacing = out->spacing,
                     .out = out};
}

static bool overlap(const bounds *a, const bounds *b, int dim) {
    for (int i = 0; i < dim; i++)
        if (!(a->min[i] <= b->max[i] && b->min[i] <= a->max[i])) return false;
    return true;
}

/* Colliders where they are at the start, and earlier bodies that come near this one. */
static spate_status find_obstacles(sampler *w, const spate_scene *scene, int index) {
    size_t most = (size_t)(scene->collider_count + index) + 1;
    w->obstacles = take(w->ctx, most, sizeof *w->obstacles);
    w->open = take(w->ctx, most, sizeof *w->open);
    if (!w->obstacles || !w->open) return SPATE_OUT_OF_MEMORY;
    motion rest = {.key_count = 0};
    bounds own = shape_bounds(w->shape, w->dim);
    for (int i = 0; i < scene->collider_count; i++) {
        const collider *c = &scene->colliders[i];
        if (!collider_is_present(c, 0) || c->grip) continue;
        w->obstacles[w->obstacle_count++] = (obstacle){c->shape, motion_pose(&c->motion, 0), false};
    }
    /* On a grid a body may add to what an earlier one has brought. */
    for (int i = 0; i < index && !scene_on_grid(scene); i++) {
        const body *earlier = &scene->bodies[i];
        const shape *other = earlier->mesh.solid ? earlier->mesh.solid : earlier->shape;
        bounds box = shape_bounds(other, w->dim);
        if (other->kind != SHAPE_POINTS && overlap(&own, &box, w->dim))
            w->obstacles[w->obstacle_count++] = (obstacle){other, motion_pose(&rest, 0), true};
    }
    for (int i = 0; i < w->obstacle_count; i++) w->open[i] = i;
    return SPATE_OK;
}

/* Given positions: one particle each. */
static spate_status copy_points(sampler *w) {
    const shape *s = w->shape;
    for (int64_t i = 0; i < s->point_count; i++) {
        double x[3];
        mat_apply(x, s->turn, s->points[i]);
        for (int c = 0; c < 3; c++) x[c] = c < w->dim ? s->move[c] + s->scale * x[c] : 0;
        if (!in_domain(w->domain, w->dim, x)) {
            w->out->clipped = true;
            continue;
        }
        if (w->count) {
            w->out->count++;
            continue;
        }
        TRY(GROW(w->ctx, w->out->points, w->out->capacity, w->out->count + 1));
        vec_copy(w->out->points[w->out->count++], x);
    }
    return SPATE_OK;
}

/* The points of a glass near a face along the grid fill cells as the lattice does. */
static spate_status even_skin(sampler *w) {
    const fill_task task = {.ctx = w->ctx,
                            .dim = w->dim,
                            .origin = w->domain->origin,
                            .dx = w->domain->dx,
                            .most = GLASS_MOVE_MAX * w->spacing,
                            .allowed = allowed,
                            .user = w};
    return cell_fill_match(&task, w->near, w->near_count, w->out->points);
}

/* Lattice or Poisson-disc set, and the volume each particle stands for. */
static spate_status fill_body(sampler *w) {
    samples *s = w->out;
    TRY(sample_lattice(w));
    TRY(even_skin(w));
    double exact = shape_volume(w->shape, w->dim);
    bool whole = !s->clipped && s->left_out == 0 && isfinite(exact) && exact > 0;
    double volume = whole ? exact : (double)s->count * s->volume;
    if (s->count == 0) return SPATE_OK;
    if (w->kind == SAMPLE_POISSON && w->count)
        s->count = llround(volume / s->volume); /* what the set is thinned to */
    else if (w->kind == SAMPLE_POISSON)
        TRY(sample_poisson(w, volume));
    s->volume = volume / (double)s->count;
    return SPATE_OK;
}

static spate_status sample(const spate_scene *scene, int index, bool count, samples *out) {
    const body *b = &scene->bodies[index];
    const bool cells = scene_on_grid(scene);
    sampler w = sampler_of(scene, b->shape, cells ? 1 : b->particles_per_cell, out);
    w.kind = cells ? SAMPLE_REGULAR : b->sampling;
    w.jitter = w.kind == SAMPLE_GLASS      ? 2 * GLASS_MOVE_MAX
               : w.kind == SAMPLE_JITTERED ? b->jitter
                                           : 0;
    w.count = count;
    if (w.kind == SAMPLE_GLASS && !count) w.skin = skin * scene->domain.dx;
    spate_status status;
    if (b->shape->kind == SHAPE_POINTS) {
        TRY_OR_DONE(status, copy_points(&w));
    } else {
        TRY_OR_DONE(status, find_obstacles(&w, scene, index));
        TRY_OR_DONE(status, fill_body(&w));
    }
done:
    give(w.ctx, w.obstacles);
    give(w.ctx, w.open);
    give(w.ctx, w.near);
    if (status != SPATE_OK) samples_free(w.ctx, out);
    return status;
}

spate_status sample_body(const spate_scene *scene, int index, samples *out) {
    return sample(scene, index, false, out);
}

static const char *remedy_of_empty(bool cells, bool covered) {
    if (covered)
        return cells ? "move it out of the colliders that cover it"
                     : "move it out of the colliders and earlier bodies that cover it";
    return cells ? "it is outside the domain or smaller than a cell, so move it, enlarge it or use "
                   "a smaller dx"
                 : "it is outside the domain or thinner than the spacing of particles, so move it, "
                   "enlarge it or use a smaller dx";
}

static spate_status refuse_empty(const spate_scene *scene, int index, samples *out) {
    if (out->count > 0) return SPATE_OK;
    int64_t left_out = out->left_out;
    samples_free(scene->ctx, out);
    const bool cells = scene_on_grid(scene);
    return fail(scene->ctx, SPATE_BAD_INPUT, "%s: bodies.%d: body '%s' %s; %s", scene->path, index,
                scene->bodies[index].name, cells ? "fills no cell" : "has no particles",
                remedy_of_empty(cells, left_out > 0));
}

spate_status sample_filled_body(const spate_scene *scene, int index, samples *out) {
    TRY(sample(scene, index, false, out));
    return refuse_empty(scene, index, out);
}

spate_status sample_count_body(const spate_scene *scene, int index, samples *out) {
    TRY(sample(scene, index, true, out));
    return refuse_empty(scene, index, out);
}
