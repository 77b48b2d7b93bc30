/*
 * Boundaries: colliders as signed distance with contact modes and motion, and the domain's walls.
 *
 * Everything but create, free and move only reads, and may be called from many threads at once.
 */
#ifndef SPATE_STATE_BOUNDARY_H
#define SPATE_STATE_BOUNDARY_H

#include "scene/scene.h"
#include "state/baked.h"

/* Where a collider is at `time`; after it, it moves on with its velocity and spin. */
typedef struct driven_pose {
    double time;
    pose pose;
} driven_pose;
pose driven_pose_at(const driven_pose *d, double t);

typedef struct boundary {
    const spate_scene *scene;
    pose *poses; /* of every collider at the time of boundary_move */
    bool *
        present; /* whether it is there, since the last boundary_appear; far from all if it is not */
    int64_t changes;              /* how often boundary_appear has found another set of them */
    bounds *boxes;                /* around every collider at rest */
    baked **baked;                /* distances at rest of those with a mesh, NULL for the others */
    struct deforming **deforming; /* distances of those that deform (deforming.h), or NULL */
    /* of those that are driven from outside, where they are from a time on; NULL: as at the start */
    driven_pose *driven;
    int driven_count; /* how many are */
} boundary;

/* Bakes the distances of meshes (baked.h), with all threads. */
spate_status boundary_create(const spate_scene *scene, boundary *b);
void boundary_free(boundary *b);
/* Puts the colliders where they are at time t. Only one that deforms takes memory. */
spate_status boundary_move(boundary *b, double t);

/* Lets those colliders be there that are from time t on. A step is made with the ones of its
 * beginning, and none comes or goes before its end (boundary_next_change). */
void boundary_appear(boundary *b, double t);
/* The next time after t that a collider comes or goes, HUGE_VAL if none does. */
double boundary_next_change(const boundary *b, double t);

/* The fastest that any point of a collider ever moves, or as it is driven now, m/s. */
double boundary_speed(const boundary *b);
/* The speed v such that in a step from t of way/v none of them goes further than `way`: one that
 * deforms counts while it does. */
double boundary_speed_within(const boundary *b, double t, double way);

/* Distance to collider c at world position x; with normal and the collider's velocity there when
 * the pointers are not NULL. Exact for shapes without a mesh; otherwise see baked_distance. */
double boundary_distance(const boundary *b, int c, const double x[3], double normal[3],
                         double velocity[3]);

/* What a contact does to a velocity v, given the outward normal and the velocity of the wall:
 * sticky takes on the wall's, slip loses the normal part of the relative velocity, separate loses
 * it only when approaching; friction (Coulomb) shortens the tangential part by friction * the
 * approach that was stopped. Slip with friction also loses it only when approaching: if it pulled
 * as well, a body that vibrates would be pressed by more than its weight in between, and grip by
 * more. */
void contact_apply(contact mode, double friction, const double normal[3],
                   const double wall_velocity[3], double v[3]);

/* Some of the colliders: a block of the grid asks once for those near it, and its nodes and
 * particles then ask only these. The answers are bit by bit those of all colliders. */
enum { BOUNDARY_LIST = 15 };
typedef struct boundary_part {
    const boundary *whole;
    int count;
    bool all;                /* every collider; the list is not used */
    int list[BOUNDARY_LIST]; /* ascending */
} boundary_part;

/* All colliders. */
boundary_part boundary_all(const boundary *b);
/* Those nearer than `reach` to x (now and then one that is not); `count` 0 when there are none. */
boundary_part boundary_around(const boundary *b, const double x[3], double reach);

/* Applies the colliders that hold x, a grid node, to its velocity; or the k-th of them alone, if it
 * holds x, with its number. */
void boundary_part_apply(const boundary_part *p, const double x[3], double v[3]);
bool boundary_part_apply_one(const boundary_part *p, int k, const double x[3], double v[3], int *c);
/* Whether material at y with velocity v runs into a collider: it is inside of one, phi(y) < 0, and
 * does not leave it, grad phi(y) . (v - v_collider(y)) <= 0. */
bool boundary_part_meets(const boundary_part *p, const double y[3], const double v[3]);
/* At most the distance to the nearest of them; what is within it around x is outside of all. */
double boundary_part_clearance(const boundary_part *p, const double x[3]);
/* Signed distance to the nearest of them, HUGE_VAL without one, and which it is. */
double boundary_part_nearest(const boundary_part *p, const double x[3], int *which);
/* How deep x is in the nearest-surface collider: > 0 inside, 0 outside all. */
double boundary_part_depth(const boundary_part *p, const double x[3]);

/* The same over all colliders. */
bool boundary_near(const boundary *b, const double x[3], double reach);
void boundary_apply(const boundary *b, const double x[3], double v[3]);
bool boundary_meets(const boundary *b, const double y[3], const double v[3]);
double boundary_depth(const boundary *b, const double x[3]);

#endif
