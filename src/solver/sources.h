/* Sources: nozzles that fill themselves with particles and let them out at a given velocity. */
#ifndef SPATE_SOLVER_SOURCES_H
#define SPATE_SOLVER_SOURCES_H

#include "solver/solver.h"

/* Before a step of length dt: adds the particles of every source's lattice that have come into its
 * shape in the step before (all of them the first time). They take part after the next sort. */
spate_status sources_emit(spate_simulation *sim, double dt);

/* After the motion of a step: gives the particles that are still inside their source its velocity
 * and no strain; liquid has the pressure of the liquid around. */
spate_status sources_hold(spate_simulation *sim);

/* Adds a particle of source s, with the pressure that its others have. */
spate_status source_add(spate_simulation *sim, int s, const double x[3], const double v[3],
                        double volume);

/* Whether source s runs at the simulation's time. */
bool source_is_running(const spate_simulation *sim, int s);
/* Whether x lies in a source that is running; then its velocity is in v. */
bool sources_velocity(const spate_simulation *sim, const double x[3], double v[3]);
/* Whether any running source is nearer than `reach` to x. */
bool sources_near(const spate_simulation *sim, const double x[3], double reach);
/* The fastest running source, m/s. */
double sources_speed(const spate_simulation *sim);

#endif
