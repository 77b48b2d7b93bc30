/* The passes over rows, compiled once for each instruction set (SPATE_ISA). */
#include "solver/smoke/stencils.h"
#include "solver/smoke/trace.h"

SMOKE_PASSES(TASK_BY_DIM, SUM_BY_DIM)

const smoke_passes ISA_NAME(smoke_passes) = {SMOKE_PASSES(FIELD_BY_DIM, FIELD_BY_DIM)};
