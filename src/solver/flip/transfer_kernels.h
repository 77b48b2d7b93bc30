/*
 * The transfers of a step over blocks, for one kernel (SUPPORT, KERNEL) and one instruction set
 * (SPATE_ISA): included by linear_kernels.c and quadratic_kernels.c.
 */
#include "core/kernel_table.h"
#include "core/vec.h"
#include "solver/flip/gather.h"
#include "solver/flip/scatter.h"

FLIP_KERNELS(TASK_BY_DIM)

const flip_kernels ISA_NAME(KERNEL) = {FLIP_KERNELS(FIELD_BY_DIM)};
