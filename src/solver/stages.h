/* A step of a solver is a list of named stages, each of which is timed. */
#ifndef SPATE_SOLVER_STAGES_H
#define SPATE_SOLVER_STAGES_H

#include "solver/solver.h"

typedef struct stage {
    const char *name; /* a literal; in run.json and spate bench */
    spate_status (*run)(void *solver);
} stage;

/* One after the other, up to the first that fails; `solver` is sim->solver. */
spate_status run_stages(spate_simulation *sim, const stage *stages, int count);

#endif
