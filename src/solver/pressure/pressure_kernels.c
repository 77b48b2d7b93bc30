/* The passes of the pressure solver, compiled once for each instruction set (SPATE_ISA). */
#include "core/kernel_table.h"
#include "solver/pressure/coarsen.h"
#include "solver/pressure/fluxes.h"
#include "solver/pressure/gradients.h"
#include "solver/pressure/relax.h"

PRESSURE_PASSES(TASK_BY_DIM, SUM_BY_DIM)

const pressure_passes ISA_NAME(pressure_passes) = {PRESSURE_PASSES(FIELD_BY_DIM, FIELD_BY_DIM)};
