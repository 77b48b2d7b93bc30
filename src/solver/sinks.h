/* Sinks: shapes that take away the particles which come into them. */
#ifndef SPATE_SOLVER_SINKS_H
#define SPATE_SOLVER_SINKS_H

#include "solver/solver.h"

/* Marks the particles inside running sinks GROUP_REMOVED, adds them to sim->drained and returns how
 * many there were. They are still stored until the next sort, which must come before the next
 * transfer. Particles that wait for their first sort are left alone until then. */
int64_t sinks_drain(spate_simulation *sim);

#endif
