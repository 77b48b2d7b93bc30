/* SPH's sums, compiled once for each instruction set. */
#include "core/kernel_table.h"
#include "solver/sph/sums.h"

/* A task that does something to row i, with and without wrapped places. */
#define SUM_OVER_ROWS(name, statement)                          \
    static void name(void *data, chunk items) {                 \
        sph_view *s = data;                                     \
        if (s->wraps)                                           \
            for (int64_t i = items.begin; i < items.end; i++) { \
                const bool wraps = true;                        \
                statement;                                      \
            }                                                   \
        else                                                    \
            for (int64_t i = items.begin; i < items.end; i++) { \
                const bool wraps = false;                       \
                statement;                                      \
            }                                                   \
    }

#define KERNEL_SUMS(name, kernel)                                          \
    SUM_OVER_ROWS(density_##name, density_row(s, i, kernel, false, wraps)) \
    SUM_OVER_ROWS(implicit_##name, density_row(s, i, kernel, true, wraps)) \
    SUM_OVER_ROWS(forces_##name, force_row(s, i, kernel, wraps))           \
    SUM_OVER_ROWS(density_rate_##name, rate_row(s, i, kernel, wraps))

KERNEL_SUMS(mueller, SPH_MUELLER)
KERNEL_SUMS(cubic, SPH_CUBIC)
KERNEL_SUMS(wendland, SPH_WENDLAND)
SUM_OVER_ROWS(displacement, displacement_row(s, i, wraps))
SUM_OVER_ROWS(jacobi, jacobi_row(s, i, wraps))

#define OF_KERNELS(sum) \
    { sum##_mueller, sum##_cubic, sum##_wendland }

const sph_sums ISA_NAME(sph_sums) = {
    .density = OF_KERNELS(density),
    .implicit = OF_KERNELS(implicit),
    .forces = OF_KERNELS(forces),
    .density_rate = OF_KERNELS(density_rate),
    .displacement = displacement,
    .jacobi = jacobi,
};
