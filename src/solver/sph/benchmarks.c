/* A column of 1 m^3, 117,649 particles by default, falls in a tank of 3.2 x 2 x 1.06 m; support of
 * 2 spacings. The errors that dfsph is allowed are those of other tools' measurements: density
 * 0.05 %, divergence 0.1 %. */
#include "solver/benchmark.h"
#include "solver/sph/sph.h"

#define WATER_YAML "{model: liquid, density: 1000, bulk_modulus: 3.0e5}"
#define SPH_YAML   ", support: 2, tolerance: 5.0e-4, divergence_tolerance: 1.0e-3"

/* A particle to 1/49 m, eight to a cell. */
static void write_column(text *t, const benchmark *b, const spate_bench_options *o) {
    (void)b;
    double edge = round(cbrt(o->particles > 0 ? (double)o->particles : 117649)), dx = 2 / edge;
    text_add(t, "domain: {size: [%.17g, %.17g, %.17g], dx: %.17g}\n", round(3.2 / dx) * dx,
             round(2 / dx) * dx, ceil(1.04 / dx) * dx, dx);
    text_add(t, "bodies: [{material: m, sampling: regular, shape: {box: {min: [0, 0, 0], max: [1, "
                "1, 1]}}}]\n");
}

/* Of the column's first ones, that take 10 to 30 iterations; from about the twentieth on it is 3. A
 * machine that is given more steps for being faster would seem faster still. */
enum { DFSPH_STEPS = 10 };

static const benchmark benchmarks[] = {
    {"wcsph", WATER_YAML, "wcsph", 3, write_column, SPH_YAML, BENCHMARK_STEPS, 0},
    {"dfsph", WATER_YAML, "dfsph", 3, write_column, SPH_YAML, BENCHMARK_STEPS, DFSPH_STEPS},
    {0},
};

const benchmark *sph_benchmarks(void) { return benchmarks; }
