/* The kernels over rows, compiled once for each instruction set (SPATE_ISA). */
#include "solver/smoke/stencils.h"
#include "solver/smoke/trace.h"

SMOKE_KERNELS(TASK_BY_DIM, SUM_BY_DIM)

const smoke_kernels ISA_NAME(smoke_kernels) = {SMOKE_KERNELS(FIELD_BY_DIM, FIELD_BY_DIM)};
