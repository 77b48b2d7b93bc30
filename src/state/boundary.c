/*
 * A position is taken to a collider's rest frame, where its box, its shape and its baked distances
 * stay as they are while it moves. The box comes first: most colliders are told off by it.
 */
#include "state/boundary.h"

#include "core/vec.h"
#include "state/deforming.h"

/* What of a collider's rest frame can ever be asked for: the domain and a margin, as seen from the
 * collider along its way. It need not be exact, because beyond it the shape itself is asked. */
static bounds reach_of(const spate_scene *scene, const collider *c) {
    enum { PARTS = 8 };
    const domain *d = &scene->domain;
    bounds reach = {{HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}};
    if (c->driven) { /* all of it, wherever it is taken */
        reach = mesh_sequence_bounds(c->shape, scene->dim);
        for (int a = 0; a < scene->dim; a++) reach.min[a] -= 4 * d->dx, reach.max[a] += 4 * d->dx;
        return reach;
    }
    int keys = c->motion.key_count, steps = keys > 1 ? (keys - 1) * PARTS : 0;
    for (int s = 0; s <= steps; s++) {
        const motion_key *k = c->motion.keys + (keys ? s / PARTS : 0);
        double t = keys ? k->t : 0;
        if (s < steps) t += (k[1].t - k[0].t) * (s % PARTS) / PARTS;
        pose p = motion_pose(&c->motion, t);
        for (int corner = 0; corner < 1 << scene->dim; corner++) {
            double x[3] = {0}, rest[3];
            for (int a = 0; a < scene->dim; a++)
                x[a] = d->origin[a] + (corner >> a & 1 ? d->size[a] + 4 * d->dx : -4 * d->dx);
            pose_to_rest(&p, x, rest);
            for (int a = 0; a < scene->dim; a++) {
                reach.min[a] = fmin(reach.min[a], rest[a]);
                reach.max[a] = fmax(reach.max[a], rest[a]);
            }
        }
    }
    return reach;
}

/* A little larger than the shape, so that rounding cannot put its surface outside. */
static bounds box_around(const shape *s, int dim) {
    bounds box = shape_bounds(s, dim);
    double slack = 0;
    for (int a = 0; a < dim; a++)
        if (isfinite(box.min[a]) && isfinite(box.max[a]))
            slack = fmax(slack, 1e-9 * (fabs(box.min[a]) + fabs(box.max[a])));
    for (int a = 0; a < dim; a++) box.min[a] -= slack, box.max[a] += slack;
    return box;
}

static void warn_of_size(const spate_scene *scene, const collider *solid) {
    warn(scene->ctx, "large collider",
         "%s: collider '%s' spans too many cells to have its distances stored; they are computed "
         "one by one, which is slow; make it smaller or dx larger",
         scene->path, solid->name);
}

static spate_status prepare_deforming(boundary *b, int c) {
    const spate_scene *scene = b->scene;
    const collider *solid = &scene->colliders[c];
    const bounds reach = reach_of(scene, solid);
    TRY(deforming_create(scene->ctx, solid->shape->sequence, scene->dim, scene->domain.dx, &reach,
                         DEFORMING_PUSHES, &b->deforming[c]));
    if (b->deforming[c]) return SPATE_OK;
    return fail(scene->ctx, SPATE_BAD_INPUT,
                "%s: collider '%s' deforms and spans too many cells; make it smaller or dx larger",
                scene->path, solid->name);
}

static spate_status prepare_collider(boundary *b, int c) {
    const spate_scene *scene = b->scene;
    const collider *solid = &scene->colliders[c];
    b->boxes[c] = box_around(solid->shape, scene->dim);
    if (solid->shape->sequence && scene->domain.dx > 0) return prepare_deforming(b, c);
    if (!(scene->domain.dx > 0) || !baked_is_needed(solid->shape)) return SPATE_OK;
    bounds reach = reach_of(scene, solid);
    TRY(baked_create(scene->ctx, solid->shape, scene->dim, scene->domain.dx, &reach, &b->baked[c]));
    if (!b->baked[c]) warn_of_size(scene, solid);
    /* Where it is thin as a whole, checking the scene has told so. */
    double place[3];
    if (b->baked[c] && shape_thickness(solid->shape, scene->dim) >= scene->domain.dx &&
        baked_is_thin(b->baked[c], place))
        warn(scene->ctx, "thin collider",
             "%s: collider '%s' has walls thinner than a cell (dx %.3g), as near (%.4g, %.4g, "
             "%.4g): material may leak through them; make them thicker or dx smaller",
             scene->path, solid->name, scene->domain.dx, place[0], place[1], place[2]);
    return SPATE_OK;
}

spate_status boundary_create(const spate_scene *scene, boundary *b) {
    *b = (boundary){.scene = scene};
    size_t count = (size_t)scene->collider_count + 1;
    b->poses = take(scene->ctx, count, sizeof *b->poses);
    b->boxes = b->poses ? take(scene->ctx, count, sizeof *b->boxes) : NULL;
    b->baked = b->boxes ? take(scene->ctx, count, sizeof *b->baked) : NULL;
    b->present = b->baked ? take(scene->ctx, count, sizeof *b->present) : NULL;
    b->deforming = b->present ? take(scene->ctx, count, sizeof *b->deforming) : NULL;
    b->driven = b->deforming ? take(scene->ctx, count, sizeof *b->driven) : NULL;
    spate_status status = b->driven ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < scene->collider_count && !status; c++) {
        b->driven[c].pose = motion_pose(&scene->colliders[c].motion, 0);
        b->driven_count += scene->colliders[c].driven;
    }
    for (int c = 0; c < scene->collider_count && !status; c++) status = prepare_collider(b, c);
    if (!status) status = boundary_move(b, 0);
    if (status)
        boundary_free(b);
    else
        boundary_appear(b, 0);
    return status;
}

void boundary_free(boundary *b) {
    if (!b->scene) return;
    for (int c = 0; c < b->scene->collider_count && b->baked; c++) baked_free(b->baked[c]);
    for (int c = 0; c < b->scene->collider_count && b->deforming; c++)
        deforming_free(b->deforming[c]);
    give(b->scene->ctx, b->driven);
    give(b->scene->ctx, b->deforming);
    give(b->scene->ctx, b->present);
    give(b->scene->ctx, b->baked);
    give(b->scene->ctx, b->boxes);
    give(b->scene->ctx, b->poses);
    *b = (boundary){0};
}

pose driven_pose_at(const driven_pose *d, double t) {
    pose p = d->pose;
    const double h = t - d->time;
    double axis[3], turn[3][3];
    vec_add_scaled(p.move, p.move, h, p.velocity);
    vec_copy(axis, p.spin);
    const double rate = vec_length(axis);
    if (h == 0 || !vec_normalise(axis)) return p;
    mat_rotation(turn, axis, h * rate);
    mat_multiply(p.turn, (const double(*)[3])turn, (const double(*)[3])p.turn);
    return p;
}

spate_status boundary_move(boundary *b, double t) {
    for (int c = 0; c < b->scene->collider_count; c++)
        b->poses[c] = b->scene->colliders[c].driven
                          ? driven_pose_at(&b->driven[c], t)
                          : motion_pose(&b->scene->colliders[c].motion, t);
    for (int c = 0; c < b->scene->collider_count; c++) {
        if (!b->deforming[c]) continue;
        TRY(deforming_move(b->deforming[c], t));
        b->boxes[c] = deforming_box(b->deforming[c]);
    }
    return SPATE_OK;
}

void boundary_appear(boundary *b, double t) {
    bool changed = false;
    for (int c = 0; c < b->scene->collider_count; c++) {
        const bool present = collider_is_present(&b->scene->colliders[c], t);
        changed |= present != b->present[c];
        b->present[c] = present;
    }
    b->changes += changed;
}

double boundary_next_change(const boundary *b, double t) {
    double next = HUGE_VAL;
    for (int c = 0; c < b->scene->collider_count; c++) {
        const collider *solid = &b->scene->colliders[c];
        if (solid->from > t) next = fmin(next, solid->from);
        if (collider_end(solid) > t) next = fmin(next, collider_end(solid));
    }
    return next;
}

static double driven_max_speed(const driven_pose *driven, double radius) {
    return vec_length(driven->pose.velocity) + vec_length(driven->pose.spin) * radius;
}

/* Of collider c as a whole. */
static double motion_speed(const boundary *b, int c) {
    const spate_scene *scene = b->scene;
    const collider *solid = &scene->colliders[c];
    if (!solid->motion.key_count) return 0;
    const bounds box = shape_bounds(solid->shape, scene->dim);
    double radius2 = 0;
    for (int a = 0; a < scene->dim; a++) {
        double far = fmax(fabs(box.min[a] - solid->motion.pivot[a]),
                          fabs(box.max[a] - solid->motion.pivot[a]));
        radius2 += far < 1e3 * scene->domain.size[a]
                       ? far * far
                       : scene->domain.size[a] * scene->domain.size[a];
    }
    if (!solid->driven) return motion_max_speed(&solid->motion, sqrt(radius2));
    return b->driven ? driven_max_speed(&b->driven[c], sqrt(radius2)) : 0;
}

double boundary_speed(const boundary *b) {
    double fastest = 0;
    for (int c = 0; c < b->scene->collider_count; c++) {
        const mesh_sequence *deforms = b->scene->colliders[c].shape->sequence;
        const double own = deforms ? mesh_sequence_speed(deforms) : 0;
        fastest = fmax(fastest, own + motion_speed(b, c));
    }
    return fastest;
}

double boundary_speed_within(const boundary *b, double t, double way) {
    double fastest = 0;
    for (int c = 0; c < b->scene->collider_count; c++) {
        const mesh_sequence *deforms = b->scene->colliders[c].shape->sequence;
        const double own = deforms ? mesh_sequence_speed_within(deforms, t, way) : 0;
        fastest = fmax(fastest, own + motion_speed(b, c));
    }
    return fastest;
}

/* ---- One collider ---------------------------------------------------------------------------- */

static bool moves(const boundary *b, int c) { return b->scene->colliders[c].motion.key_count > 0; }

static void to_rest(const boundary *b, int c, const double x[3], double rest[3]) {
    if (moves(b, c))
        pose_to_rest(&b->poses[c], x, rest);
    else
        vec_copy(rest, x);
}

static double rest_distance(const boundary *b, int c, const double rest[3], double normal[3]) {
    if (b->deforming[c]) return deforming_distance(b->deforming[c], rest, normal, NULL);
    if (b->baked[c]) return baked_distance(b->baked[c], rest, normal);
    const shape *s = b->scene->colliders[c].shape;
    return normal ? shape_normal(s, b->scene->dim, rest, normal)
                  : shape_distance(s, b->scene->dim, rest);
}

static void to_world(const boundary *b, int c, double normal[3]) {
    if (moves(b, c)) pose_turn(&b->poses[c], normal, normal);
}

/* Of the collider's point at world position x, and at `rest` in its own frame. */
static void velocity_at(const boundary *b, int c, const double x[3], const double rest[3],
                        double velocity[3]) {
    pose_velocity(&b->poses[c], x, velocity);
    if (!b->deforming[c]) return;
    double own[3];
    deforming_distance(b->deforming[c], rest, NULL, own);
    to_world(b, c, own);
    vec_add(velocity, velocity, own);
}

double boundary_distance(const boundary *b, int c, const double x[3], double normal[3],
                         double velocity[3]) {
    double rest[3];
    to_rest(b, c, x, rest);
    if (velocity) velocity_at(b, c, x, rest, velocity);
    double distance = rest_distance(b, c, rest, normal);
    if (normal) to_world(b, c, normal);
    return b->present[c] ? distance : HUGE_VAL;
}

/* Whether x is inside, and if so the normal and the collider's velocity there. */
static bool holds(const boundary *b, int c, const double x[3], double normal[3],
                  double velocity[3]) {
    double rest[3];
    if (!b->present[c]) return false;
    to_rest(b, c, x, rest);
    if (bounds_gap(&b->boxes[c], b->scene->dim, rest) > 0) return false;
    if (rest_distance(b, c, rest, NULL) >= 0) return false;
    rest_distance(b, c, rest, normal);
    to_world(b, c, normal);
    velocity_at(b, c, x, rest, velocity);
    return true;
}

/* At most the distance to it from a place at rest: what is interpolated may be off by a part of a
 * cell, both there and at what lies within reach. */
static double clearance(const boundary *b, int c, const double rest[3]) {
    if (b->deforming[c])
        return rest_distance(b, c, rest, NULL) - 2 * deforming_error(b->deforming[c]);
    return rest_distance(b, c, rest, NULL) - (b->baked[c] ? 2 * baked_error(b->baked[c]) : 0);
}

static bool is_near(const boundary *b, int c, const double x[3], double reach) {
    double rest[3];
    if (!b->present[c]) return false;
    to_rest(b, c, x, rest);
    return bounds_gap(&b->boxes[c], b->scene->dim, rest) < reach && clearance(b, c, rest) < reach;
}

void contact_apply(contact mode, double friction, const double normal[3],
                   const double wall_velocity[3], double v[3]) {
    if (mode == CONTACT_STICKY) {
        vec_copy(v, wall_velocity);
        return;
    }
    double relative[3];
    vec_sub(relative, v, wall_velocity);
    double approach = vec_dot(relative, normal);
    bool pulls = mode == CONTACT_SLIP && friction == 0;
    if (!pulls && approach >= 0) return;
    vec_add_scaled(relative, relative, -approach, normal);
    double sliding = vec_length(relative), grip = friction * fmax(0, -approach);
    vec_scale(relative, sliding > grip ? 1 - grip / sliding : 0, relative);
    vec_add(v, wall_velocity, relative);
}

/* ---- Many colliders -------------------------------------------------------------------------- */

boundary_part boundary_all(const boundary *b) {
    boundary_part p;
    p.whole = b, p.count = b->scene->collider_count, p.all = true;
    return p;
}

boundary_part boundary_around(const boundary *b, const double x[3], double reach) {
    boundary_part p;
    p.whole = b, p.count = 0, p.all = false;
    for (int c = 0; c < b->scene->collider_count; c++) {
        if (!is_near(b, c, x, reach)) continue;
        if (p.count == BOUNDARY_LIST) return boundary_all(b);
        p.list[p.count++] = c;
    }
    return p;
}

static int collider_of(const boundary_part *p, int k) { return p->all ? k : p->list[k]; }

bool boundary_part_apply_one(const boundary_part *p, int k, const double x[3], double v[3],
                             int *c) {
    double normal[3], wall_velocity[3];
    *c = collider_of(p, k);
    if (!holds(p->whole, *c, x, normal, wall_velocity)) return false;
    const collider *solid = &p->whole->scene->colliders[*c];
    contact_apply(solid->contact, solid->friction, normal, wall_velocity, v);
    return true;
}

void boundary_part_apply(const boundary_part *p, const double x[3], double v[3]) {
    int c;
    for (int k = 0; k < p->count; k++) boundary_part_apply_one(p, k, x, v, &c);
}

bool boundary_part_meets(const boundary_part *p, const double y[3], const double v[3]) {
    for (int k = 0; k < p->count; k++) {
        double normal[3], relative[3];
        if (!holds(p->whole, collider_of(p, k), y, normal, relative)) continue;
        vec_sub(relative, v, relative);
        if (vec_dot(normal, relative) <= 0) return true;
    }
    return false;
}

double boundary_part_clearance(const boundary_part *p, const double x[3]) {
    double least = HUGE_VAL;
    for (int k = 0; k < p->count; k++) {
        double rest[3];
        int c = collider_of(p, k);
        to_rest(p->whole, c, x, rest);
        double gap = bounds_gap(&p->whole->boxes[c], p->whole->scene->dim, rest);
        if (gap < least) least = fmin(least, fmax(gap, clearance(p->whole, c, rest)));
    }
    return least;
}

double boundary_part_nearest(const boundary_part *p, const double x[3], int *which) {
    double nearest = HUGE_VAL;
    *which = -1;
    for (int k = 0; k < p->count; k++) {
        int c = collider_of(p, k);
        if (p->whole->scene->colliders[c].grip) continue;
        double distance = boundary_distance(p->whole, c, x, NULL, NULL);
        if (distance < nearest) nearest = distance, *which = c;
    }
    return nearest;
}

double boundary_part_depth(const boundary_part *p, const double x[3]) {
    double depth = 0;
    for (int k = 0; k < p->count; k++) {
        double rest[3];
        int c = collider_of(p, k);
        if (!p->whole->present[c] || p->whole->scene->colliders[c].grip) continue;
        to_rest(p->whole, c, x, rest);
        if (bounds_gap(&p->whole->boxes[c], p->whole->scene->dim, rest) > 0) continue;
        depth = fmax(depth, -rest_distance(p->whole, c, rest, NULL));
    }
    return depth;
}

bool boundary_near(const boundary *b, const double x[3], double reach) {
    for (int c = 0; c < b->scene->collider_count; c++)
        if (is_near(b, c, x, reach)) return true;
    return false;
}

void boundary_apply(const boundary *b, const double x[3], double v[3]) {
    boundary_part all = boundary_all(b);
    boundary_part_apply(&all, x, v);
}

bool boundary_meets(const boundary *b, const double y[3], const double v[3]) {
    boundary_part all = boundary_all(b);
    return boundary_part_meets(&all, y, v);
}

double boundary_depth(const boundary *b, const double x[3]) {
    boundary_part all = boundary_all(b);
    return boundary_part_depth(&all, x);
}
