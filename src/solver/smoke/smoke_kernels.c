/* The passes over rows, compiled once for each instruction set (SPATE_ISA). */
#include "solver/smoke/stencils.h"
#include "solver/smoke/trace.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)

/* Each pass is written once, with a literal dimension. */
#define TASK_OF(name, dim) \
    static void name##_##dim##d(void *data, chunk items) { name##_chunk(data, items, dim); }
#define SUM_OF(name, dim)                                                \
    static void name##_##dim##d(void *data, chunk items, double *part) { \
        name##_chunk(data, items, part, dim);                            \
    }
#define TASK(name) TASK_OF(name, 2) TASK_OF(name, 3)
#define SUM(name)  SUM_OF(name, 2) SUM_OF(name, 3)
SMOKE_PASSES(TASK, SUM)
#undef TASK
#undef SUM

const smoke_passes JOIN(smoke_passes, SPATE_ISA) = {
#define TASK(name) .name = {name##_2d, name##_3d},
#define SUM(name)  .name = {name##_2d, name##_3d},
    SMOKE_PASSES(TASK, SUM)};
