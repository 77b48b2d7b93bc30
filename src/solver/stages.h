/* A step is a list of named stages, each with its time. */
#ifndef SPATE_SOLVER_STAGES_H
#define SPATE_SOLVER_STAGES_H

#include "solver/solver.h"

typedef struct solver_stage {
    const char *name; /* of its phase: a literal */
    spate_status (*run)(void *solver);
} solver_stage;

/* Runs `stages`, a list closed by an entry without a name, on sim->solver. The first one that fails
 * ends the step. */
spate_status run_stages(spate_simulation *sim, const solver_stage *stages);

#endif
