/*
 * Boundaries: colliders as signed distance with contact modes and motion, and the domain's walls.
 */
#ifndef SPATE_STATE_BOUNDARY_H
#define SPATE_STATE_BOUNDARY_H

#include "scene/scene.h"

typedef struct boundary {
    const spate_scene *scene;
    pose *poses; /* of every collider at the time of boundary_move */
} boundary;

spate_status boundary_create(const spate_scene *scene, boundary *b);
void boundary_free(boundary *b);
/* Puts the colliders where they are at time t. */
void boundary_move(boundary *b, double t);

/* Distance to collider c at world position x; with normal and the collider's velocity there when
 * the pointers are not NULL. */
double boundary_distance(const boundary *b, int c, const double x[3], double normal[3],
                         double velocity[3]);

/* Whether any collider is nearer than `reach` to x: skips empty blocks. */
bool boundary_near(const boundary *b, const double x[3], double reach);

/* What a contact does to a velocity v, given the outward normal and the velocity of the wall:
 * sticky takes on the wall's, slip loses the normal part of the relative velocity, separate loses
 * it only when approaching; friction (Coulomb) shortens the tangential part by friction * the
 * approach that was stopped (pulling away grips nothing). */
void contact_apply(contact mode, double friction, const double normal[3],
                   const double wall_velocity[3], double v[3]);

/* Applies every collider to the velocity of a grid node at x. */
void boundary_apply(const boundary *b, const double x[3], double v[3]);

/* How deep x is in the nearest-surface collider: > 0 inside, 0 outside all. */
double boundary_depth(const boundary *b, const double x[3]);

#endif
