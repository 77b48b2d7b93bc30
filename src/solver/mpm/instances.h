/*
 * Instances of the three passes of a step over blocks, for one kernel (SUPPORT, KERNEL) and one
 * instruction set (SPATE_ISA): included by linear_kernels.c, quadratic_kernels.c, cubic_kernels.c
 * and gimp_kernels.c. Each pass is written once, with a literal dimension and family of transfers.
 */
#include "solver/mpm/gather.h"
#include "solver/mpm/grid.h"
#include "solver/mpm/scatter.h"

#define JOIN_(a, b, c) a##_##b##_##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

#define PASSES(name, family, dim)                                                              \
    static void scatter_##name(void *data, chunk items) {                                      \
        scatter_chunk(data, items, family, dim);                                               \
    }                                                                                          \
    static void grid_##name(void *data, chunk items) { grid_chunk(data, items, family, dim); } \
    static void gather_##name(void *data, chunk items) { gather_chunk(data, items, family, dim); }

PASSES(fused_2d, TRANSFER_FUSED, 2)
PASSES(fused_3d, TRANSFER_FUSED, 3)
PASSES(split_2d, TRANSFER_SPLIT, 2)
PASSES(split_3d, TRANSFER_SPLIT, 3)
#if SUPPORT == 3 && !GIMP
PASSES(poly_2d, TRANSFER_POLY, 2)
PASSES(poly_3d, TRANSFER_POLY, 3)
#endif

#define PASSES_OF(name)                                        \
    {                                                          \
        .scatter = {scatter_##name##_2d, scatter_##name##_3d}, \
        .grid = {grid_##name##_2d, grid_##name##_3d},          \
        .gather = {gather_##name##_2d, gather_##name##_3d},    \
    }

const mpm_passes JOIN(mpm, KERNEL, SPATE_ISA)[TRANSFER_FAMILIES] = {
    [TRANSFER_FUSED] = PASSES_OF(fused),
    [TRANSFER_SPLIT] = PASSES_OF(split),
#if SUPPORT == 3 && !GIMP
    [TRANSFER_POLY] = PASSES_OF(poly),
#endif
};
