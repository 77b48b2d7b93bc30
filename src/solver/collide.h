/* Particles that meet colliders: where their way ends. */
#ifndef SPATE_SOLVER_COLLIDE_H
#define SPATE_SOLVER_COLLIDE_H

#include "state/boundary.h"

/* A particle that moves from x to y (world), its velocity v: where it ends, outside of colliders.
 * Returns whether it touched one; *stuck when it could not be got out. */
bool collide(const boundary_part *solid, double dx, const double x[3], double y[3], double v[3],
             bool *stuck);

#endif
