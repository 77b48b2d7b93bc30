/*
 * dam    a dam of 0.4 x 0.6 in a unit square or cube, 100 cells along an edge by default
 * tank   a full tank with a post in it, 128 cells along an edge, one particle a cell: a closed
 *        pocket, for the pressure
 */
#include "solver/benchmark.h"
#include "solver/flip/flip.h"

static void write_dam(text *t, const benchmark *b, const spate_bench_options *o) {
    const char *more = b->dim == 2 ? "" : ", 1";
    double wanted = o->particles > 0 ? (double)o->particles : b->dim == 2 ? 960e3 : 1.92e6;
    double cells = cells_along(wanted, 0.24 * (b->dim == 2 ? 4 : 8), b->dim);
    text_add(t, "domain: {size: [1, 1%s], dx: %.17g}\n", more, 1 / cells);
    text_add(t,
             "bodies: [{material: m, sampling: regular, shape: {box: {min: [0, 0%s], max: [0.4, "
             "0.6%s]}}}]\n",
             b->dim == 2 ? "" : ", 0", more);
}

static void write_tank(text *t, const benchmark *b, const spate_bench_options *o) {
    (void)b;
    double cells = cells_along(o->particles > 0 ? (double)o->particles : 128.0 * 128 * 128, 1, 3);
    text_add(t, "domain: {size: [1, 1, 1], dx: %.17g}\n", 1 / cells);
    text_add(t, "bodies: [{material: m, sampling: regular, particles_per_cell: 1, velocity: [1, 0, "
                "0], shape: "
                "{difference: [{box: {min: [0, 0, 0], max: [1, 1, 1]}}, {cylinder: {from: [0.4, "
                "-1, 0.5], to: [0.4, 2, 0.5], radius: 0.1}}]}}]\n"
                "colliders: [{name: post, shape: {cylinder: {from: [0.4, -1, 0.5], to: [0.4, 2, "
                "0.5], radius: 0.1}}}]\n");
}

static const benchmark benchmarks[] = {
    {"dam", LIQUID_YAML, "flip", 3, write_dam, "", BENCHMARK_STEPS, 0},
    {"tank", LIQUID_YAML, "flip", 3, write_tank, "", BENCHMARK_STEPS, 0},
    {"dam", LIQUID_YAML, "flip", 2, write_dam, "", BENCHMARK_STEPS, 0},
    {0},
};

const benchmark *flip_benchmarks(void) { return benchmarks; }
