/* A plume in a closed box, 128 cells along an edge by default; --particles says cells. */
#include "solver/benchmark.h"
#include "solver/smoke/smoke.h"

#define GAS_YAML "{model: gas, temperature: 100}"

static void write_plume(text *t, const benchmark *b, const spate_bench_options *o) {
    const char *more = b->dim == 2 ? "" : ", 1", *middle = b->dim == 2 ? "" : ", 0.5";
    double wanted = o->particles > 0 ? (double)o->particles : b->dim == 2 ? 512.0 * 512 : 2097152;
    text_add(t, "domain: {size: [1, 1%s], dx: %.17g}\n", more, 1 / cells_along(wanted, 1, b->dim));
    text_add(t,
             "sources: [{material: m, velocity: [0, 1%s], shape: {sphere: {center: [0.5, 0.15%s], "
             "radius: 0.08}}}]\n",
             b->dim == 2 ? "" : ", 0", middle);
    text_add(t, "colliders: [{shape: {sphere: {center: [0.55, 0.5%s], radius: 0.1}}}]\n", middle);
}

static const benchmark benchmarks[] = {
    {"plume", GAS_YAML, "linear", 3, write_plume, "", BENCHMARK_STEPS, 0},
    {"plume", GAS_YAML, "linear", 2, write_plume, "", BENCHMARK_STEPS, 0},
    {0},
};

const benchmark *smoke_benchmarks(void) { return benchmarks; }
