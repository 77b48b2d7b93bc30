/* SPH's sums, compiled once for each instruction set. */
#include "core/kernel_table.h"
#include "solver/sph/passes.h"

/* A task that does something to row i, with and without wrapped places. */
#define PASS(name, statement)                                   \
    static void name(void *data, chunk items) {                 \
        sph *s = data;                                          \
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

#define KERNEL_PASSES(name, kernel)                               \
    PASS(density_##name, density_row(s, i, kernel, false, wraps)) \
    PASS(implicit_##name, density_row(s, i, kernel, true, wraps)) \
    PASS(forces_##name, force_row(s, i, kernel, wraps))           \
    PASS(rates_##name, rate_row(s, i, kernel, wraps))

KERNEL_PASSES(mueller, SPH_MUELLER)
KERNEL_PASSES(cubic, SPH_CUBIC)
KERNEL_PASSES(wendland, SPH_WENDLAND)
PASS(displace, displace_row(s, i, wraps))
PASS(correct, s->miss[i] = correct_row(s, i, &s->next[i], wraps))

#define OF_KERNELS(pass) \
    { pass##_mueller, pass##_cubic, pass##_wendland }

const sph_passes ISA_NAME(sph_passes) = {
    .density = OF_KERNELS(density),
    .implicit = OF_KERNELS(implicit),
    .forces = OF_KERNELS(forces),
    .rates = OF_KERNELS(rates),
    .displace = displace,
    .correct = correct,
};
