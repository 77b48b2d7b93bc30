/*
 * What stands in the way of a flow on a MAC grid: sides of the domain, colliders, sources.
 *
 * Solids are fractions of faces (Batty et al. 2007): the share of a face that is open, from the
 * colliders' distance at its corners, and the velocity of the solid across the rest. A source is a
 * solid that moves at its velocity: faces inside are closed to the pressure and let its matter
 * through.
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

/* Makes face_fraction, solid_velocity, solid_phi (where the grid has it) and `valid` of every brick
 * anew, from the colliders where they were last moved to and the sources that run; velocity, mass,
 * target_divergence and phi become 0. */
void faces_prepare(const faces *f);

/* ---- Sides of the domain --------------------------------------------------------------------- */

static inline bool wall_is_closed(wall w) { return w != WALL_OPEN && w != WALL_PERIODIC; }

/* The closed side that cell g of an axis lies behind, or NULL. */
static inline const wall *closed_side(const domain *d, int axis, int g) {
    if (g >= 0 && g < d->cells[axis]) return NULL;
    const wall *side = &d->walls[axis][g >= 0];
    return wall_is_closed(*side) ? side : NULL;
}

/* ---- Places ---------------------------------------------------------------------------------- */

/* World position of a point in cells from the domain's corner. */
static inline void cells_to_world(const domain *d, int dim, const double cells[3], double x[3]) {
    x[2] = 0;
    for (int a = 0; a < dim; a++) x[a] = d->origin[a] + cells[a] * d->dx;
}

/* That of the middle of a cell's low face along an axis. */
static inline void face_position(const domain *d, int dim, const int cell[3], int axis,
                                 double x[3]) {
    double cells[3] = {cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5};
    cells[axis] = cell[axis];
    cells_to_world(d, dim, cells, x);
}

/* Cells from a brick's middle to its corner, and on to where colliders do not count any more. */
static inline double brick_reach(int dim) { return 0.5 * BRICK_EDGE * sqrt(dim) + SOLID_FAR; }
void brick_middle(const spate_simulation *sim, const mac *m, int64_t brick, double x[3]);
/* The colliders that a cell or a face of a brick may be near. */
boundary_part colliders_near_brick(const spate_simulation *sim, const mac *m, int64_t brick);

#endif
