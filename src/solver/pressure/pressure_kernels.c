/* The passes of the pressure solver, compiled once for each instruction set (SPATE_ISA). */
#include "core/isa.h"
#include "solver/pressure/coarsen.h"
#include "solver/pressure/fluxes.h"
#include "solver/pressure/gradients.h"
#include "solver/pressure/relax.h"

/* Each pass is written once, with a literal dimension. */
#define TASK_OF(name, dim) \
    static void name##_##dim##d(void *data, chunk items) { name##_chunk(data, items, dim); }
#define SUM_OF(name, dim)                                                \
    static void name##_##dim##d(void *data, chunk items, double *part) { \
        name##_chunk(data, items, part, dim);                            \
    }
#define TASK(name) TASK_OF(name, 2) TASK_OF(name, 3)
#define SUM(name)  SUM_OF(name, 2) SUM_OF(name, 3)
PRESSURE_PASSES(TASK, SUM)
#undef TASK
#undef SUM

const pressure_passes ISA_NAME(pressure_passes) = {
#define TASK(name) .name = {name##_2d, name##_3d},
#define SUM(name)  .name = {name##_2d, name##_3d},
    PRESSURE_PASSES(TASK, SUM)};
