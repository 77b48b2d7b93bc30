/*
 * Particles and colliders. The way of a particle is walked in strides no longer than its distance
 * to the nearest collider (Hart 1996), so that it cannot pass through a thin one, however long the
 * step; where it ends inside, it is pushed out along the normal and so slides along the surface.
 */
#include "solver/collide.h"

#include "core/vec.h"

enum { PUSHES = 8, STRIDES = 100000 }; /* a way of more strides than that is none */

/* Shares of a cell: how far outside a particle is kept, and the shortest stride. */
static const double margin = 1e-3, stride = 0.1;

/* Where the way from x to y first is inside of a collider, if it is at all. */
static bool first_inside(const boundary_part *solid, double dx, const double x[3],
                         const double y[3], double at[3]) {
    double way[3];
    int unused;
    vec_sub(way, y, x);
    const double length = vec_length(way);
    double gone = 0;
    for (int n = 0; gone < length && n < STRIDES; n++) {
        vec_add_scaled(at, x, gone / length, way);
        double distance = boundary_part_nearest(solid, at, &unused);
        if (distance < 0) return true;
        gone += fmax(distance, stride * dx);
    }
    vec_copy(at, y);
    return boundary_part_nearest(solid, at, &unused) < 0;
}

/* Moves x out of all colliders, and takes from v what runs into them. */
static bool push_out(const boundary_part *solid, double dx, double x[3], double v[3]) {
    for (int k = 0; k < PUSHES; k++) {
        int c;
        double normal[3], speed[3];
        if (boundary_part_nearest(solid, x, &c) >= 0.5 * margin * dx) return true;
        double distance = boundary_distance(solid->whole, c, x, normal, speed);
        const collider *met = &solid->whole->scene->colliders[c];
        vec_add_scaled(x, x, margin * dx - distance, normal);
        contact_apply(met->contact == CONTACT_STICKY ? CONTACT_STICKY : CONTACT_SEPARATE,
                      met->friction, normal, speed, v);
    }
    int c;
    return boundary_part_nearest(solid, x, &c) >= 0;
}

static void normal_at(const boundary_part *solid, const double x[3], double normal[3]) {
    int c;
    boundary_part_nearest(solid, x, &c);
    boundary_distance(solid->whole, c, x, normal, NULL);
}

/* Whether `out` lies on the side of a solid that `in`, just inside of it, was entered from: not
 * behind it, and not where its surface faces the other way. */
static bool is_same_side(const boundary_part *solid, double dx, const double in[3],
                         const double out[3]) {
    double here[3], there[3], way[3];
    normal_at(solid, in, here);
    normal_at(solid, out, there);
    vec_sub(way, out, in);
    return vec_dot(here, there) > -0.2 && vec_dot(here, way) > -0.5 * dx;
}

bool collide(const boundary_part *solid, double dx, const double x[3], double y[3], double v[3],
             bool *stuck) {
    double start[3], in[3], out[3], kept[3];
    int c;
    *stuck = false;
    /* A collider may have come over the particle: then its way begins beside it. */
    vec_copy(start, x);
    vec_copy(kept, v);
    if (boundary_part_nearest(solid, start, &c) < 0 && !push_out(solid, dx, start, kept))
        vec_copy(start, x);
    if (!first_inside(solid, dx, start, y, in)) {
        if (boundary_part_nearest(solid, y, &c) >= 0.5 * margin * dx) return false;
        *stuck = !push_out(solid, dx, y, v);
        return true;
    }
    /* It slides on to the end of its way, or stays where it went in, or where it was. */
    vec_copy(out, y);
    bool free = push_out(solid, dx, out, v) && is_same_side(solid, dx, in, out);
    if (!free) {
        vec_copy(out, in);
        free = push_out(solid, dx, out, v);
    }
    if (!free) {
        vec_copy(out, start);
        *stuck = boundary_part_nearest(solid, start, &c) < 0;
    }
    vec_copy(y, out);
    return true;
}
