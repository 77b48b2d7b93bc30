/*
 * The two passes of a step over blocks, for one kernel (SUPPORT, KERNEL) and one instruction set
 * (SPATE_ISA): included by linear_kernels.c and quadratic_kernels.c.
 */
#include "core/vec.h"
#include "solver/flip/gather.h"
#include "solver/flip/scatter.h"

#define JOIN_(a, b, c) a##_##b##_##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

#define PASSES(dim)                                                                            \
    static void scatter_##dim##d(void *data, chunk items) { scatter_chunk(data, items, dim); } \
    static void gather_##dim##d(void *data, chunk items) { gather_chunk(data, items, dim); }

PASSES(2)
PASSES(3)

const flip_passes JOIN(flip, KERNEL, SPATE_ISA) = {
    .scatter = {scatter_2d, scatter_3d},
    .gather = {gather_2d, gather_3d},
};
