/* What solvers tell of their benchmarks, each in src/solver/NAME/benchmarks.c. */
#ifndef SPATE_SOLVER_BENCHMARK_H
#define SPATE_SOLVER_BENCHMARK_H

#include "core/text.h"
#include <math.h>

typedef struct benchmark benchmark;
struct benchmark {
    const char *variant;
    const char *material; /* YAML of the material, which scenes call m */
    const char *scheme; /* the solver's, unless another is asked for (solver_declaration.scheme) */
    int dim;
    /* Writes domain, bodies and the like for about as many particles as the options say. */
    void (*write)(text *t, const benchmark *b, const spate_bench_options *o);
    const char *options; /* YAML of the solver's other options, each after a comma */
    int least_steps;     /* in a round */
    /* How many are timed where steps differ in cost, so that two builds are given the same work; 0:
     * as many as a second holds. */
    int steps;
};

#define LIQUID_YAML "{model: liquid, density: 1000, bulk_modulus: 1.0e5}"

enum { BENCHMARK_STEPS = 10 };

/* Edge of the domain in cells for about `wanted` particles, where cells hold this many on
 * average. */
static inline double cells_along(double wanted, double per_cell, int dim) {
    return fmax(8, round(pow(wanted / per_cell, 1.0 / dim)));
}

#endif
