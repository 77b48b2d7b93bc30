/* What the liquid does to colliders, summed face by face over a frame; see reaction.c. */
#ifndef SPATE_SOLVER_FLIP_REACTION_H
#define SPATE_SOLVER_FLIP_REACTION_H

#include "solver/flip/viscosity.h"

typedef struct face_place {
    int64_t brick, here; /* its cell's brick and index */
    int cell, at[3];     /* the cell in the brick */
    int axis;
} face_place;

/* What a collider gets at a face, over rho dx^d. */
typedef double face_impulse(const flip *f, const void *data, const face_place *face);

/* The stage: what pressure and contact did in this step. */
spate_status flip_reaction(void *solver);
/* What viscosity did, by its solution on the finest level and the kinds of its faces. */
spate_status flip_viscous_reaction(flip *f, const viscous_level *level, const uint8_t *kinds);
/* solver_type.force: the mean of the frame. */
void flip_force(const spate_simulation *sim, int c, double force[3], double torque[3]);

#endif
