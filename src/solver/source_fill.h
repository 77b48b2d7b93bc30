/*
 * Filling a source that deforms. Its matter moves with the velocity of the surface next to it and
 * the source's own, and leaves by the latter; its shape may grow. So what it needs is counted: as
 * many particles are added as the shape's volume has room for beyond those that are in it. They go
 * to places of the source's lattice that have none, those with the fewest around them first.
 */
#ifndef SPATE_SOLVER_SOURCE_FILL_H
#define SPATE_SOLVER_SOURCE_FILL_H

#include "solver/solver.h"

/* Adds the particles that source `index` needs now; its lattice has moved by its state's shift. */
spate_status source_fill(spate_simulation *sim, int index);

#endif
