/* Force fields at work: on particles before a step; solvers without particles ask for
 * themselves. */
#ifndef SPATE_SOLVER_FORCE_FIELDS_H
#define SPATE_SOLVER_FORCE_FIELDS_H

#include "solver/solver.h"

/* Whether any acts on this step, or a program has put forces on particles. */
bool forces_act(const spate_simulation *sim);
/* The next time after now that one begins or ends, HUGE_VAL if none does: a step ends there. */
double forces_next_change(const spate_simulation *sim);
/* The longest step in which what they accelerate does not go too far; HUGE_VAL without any. */
double forces_limit(const spate_simulation *sim);
/* All of them on velocity v at x over `dt`, `keep` what drags leave of differences of velocity. */
void forces_change(const spate_simulation *sim, const double x[3], double dt, double v[3],
                   double *keep);
/* On all particles, for the step that begins: velocities, and their gradients where drags act. */
void forces_apply(spate_simulation *sim);

#endif
