/*
 * The transfers of a step over blocks, for one kernel (SUPPORT, KERNEL) and one instruction set
 * (SPATE_ISA): included by linear_kernels.c and quadratic_kernels.c.
 */
#include "core/isa.h"
#include "core/vec.h"
#include "solver/flip/gather.h"
#include "solver/flip/scatter.h"

TASKS_BY_DIMENSION(scatter_chunk)
TASKS_BY_DIMENSION(gather_chunk)

const flip_kernels ISA_NAME(KERNEL) = {
    .scatter = {scatter_chunk_2d, scatter_chunk_3d},
    .gather = {gather_chunk_2d, gather_chunk_3d},
};
