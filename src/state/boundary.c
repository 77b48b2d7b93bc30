#include "state/boundary.h"

#include "core/vec.h"

spate_status boundary_create(const spate_scene *scene, boundary *b) {
    *b = (boundary){.scene = scene};
    b->poses = take(scene->ctx, (size_t)scene->collider_count + 1, sizeof *b->poses);
    if (!b->poses) return SPATE_OUT_OF_MEMORY;
    boundary_move(b, 0);
    return SPATE_OK;
}

void boundary_free(boundary *b) {
    if (b->scene) give(b->scene->ctx, b->poses);
    *b = (boundary){0};
}

void boundary_move(boundary *b, double t) {
    for (int c = 0; c < b->scene->collider_count; c++)
        b->poses[c] = motion_pose(&b->scene->colliders[c].motion, t);
}

double boundary_distance(const boundary *b, int c, const double x[3], double normal[3],
                         double velocity[3]) {
    const shape *s = b->scene->colliders[c].shape;
    const pose *p = &b->poses[c];
    double rest[3], n[3];
    pose_to_rest(p, x, rest);
    if (velocity) pose_velocity(p, x, velocity);
    if (!normal) return shape_distance(s, b->scene->dim, rest);
    double distance = shape_normal(s, b->scene->dim, rest, n);
    pose_turn(p, n, normal);
    return distance;
}

bool boundary_near(const boundary *b, const double x[3], double reach) {
    for (int c = 0; c < b->scene->collider_count; c++)
        if (boundary_distance(b, c, x, NULL, NULL) < reach) return true;
    return false;
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
    if (mode == CONTACT_SEPARATE && approach >= 0) return;
    vec_add_scaled(relative, relative, -approach, normal);
    double sliding = vec_length(relative), grip = friction * fmax(0, -approach);
    vec_scale(relative, sliding > grip ? 1 - grip / sliding : 0, relative);
    vec_add(v, wall_velocity, relative);
}

void boundary_apply(const boundary *b, const double x[3], double v[3]) {
    for (int c = 0; c < b->scene->collider_count; c++) {
        const collider *solid = &b->scene->colliders[c];
        if (boundary_distance(b, c, x, NULL, NULL) >= 0) continue;
        double normal[3], wall_velocity[3];
        boundary_distance(b, c, x, normal, wall_velocity);
        contact_apply(solid->contact, solid->friction, normal, wall_velocity, v);
    }
}

double boundary_depth(const boundary *b, const double x[3]) {
    double depth = 0;
    for (int c = 0; c < b->scene->collider_count; c++)
        depth = fmax(depth, -boundary_distance(b, c, x, NULL, NULL));
    return depth;
}
