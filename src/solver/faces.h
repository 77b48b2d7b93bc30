/*
 * What stands in the way of a flow on a MAC grid: sides of the domain, colliders, sources.
 *
 * Solids are fractions of faces (Batty et al. 2007): the share of a face that is open, from the
 * colliders' distance at its corners, and the velocity of the solid across the rest. A source is a
 * solid that moves at its velocity: faces inside are closed to the pressure and let its matter through.
 */
#ifndef SPATE_SOLVER_FACES_H
#define SPATE_SOLVER_FACES_H

#include "solver/solver.h"
#include "state/mac.h"

typedef struct faces {
    const spate_simulation *sim;
    mac *grid;
    bool voxels; /* colliders cell by cell, as stairs */
    enum { FACES_ALL_SOURCES, FACES_MOVING_SOURCES, FACES_NO_SOURCES } sources; /* as solids */
} faces;

/* Makes open, wall, solid (where the grid has it) and `known` of every brick anew, from the colliders
 * where they were last moved to and the sources that run; velocity, mass, swell and phi become 0. */
void faces_prepare(const faces *f);

/* Whether cell g of an axis lies behind a closed side. */
static inline bool is_behind_side(const domain *d, int axis, int g) {
    const wall *sides = d->walls[axis];
    return (g < 0 && sides[0] != WALL_OPEN && sides[0] != WALL_PERIODIC) ||
           (g >= d->cells[axis] && sides[1] != WALL_OPEN && sides[1] != WALL_PERIODIC);
}

#endif
