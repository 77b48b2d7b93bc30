/* A block of material in a domain of `domain_scale` blocks' edges, thrown so that it is sorted
 * every dozen steps. */
#include "solver/benchmark.h"
#include "solver/mpm/mpm.h"

#define ELASTIC_YAML "{model: neo_hookean, density: 1000, young_modulus: 1.0e5, poisson: 0.3}"
#define SAND_YAML \
    "{model: sand, density: 1000, young_modulus: 1.0e5, poisson: 0.3, friction_angle: 30}"
#define CLAY_YAML                                                                           \
    "{model: clay, density: 1000, young_modulus: 1.0e5, poisson: 0.3, friction_angle: 45, " \
    "chi: 2, xi: 1, alpha_h: -0.05}"

static void write_block(text *t, const benchmark *b, const spate_bench_options *o) {
    double per_cell = b->dim == 2 ? 4 : 8;
    double wanted = o->particles > 0 ? (double)o->particles : b->dim == 2 ? 250e3 : 1e6;
    double cells = fmax(4, round(pow(wanted / per_cell, 1.0 / b->dim)));
    double size = fmax(1.5, o->domain_scale);
    /* Whole cells, and the body a quarter of its edge from the side. */
    size = ceil(size * cells) / cells;
    double low = floor(0.25 * cells) / cells, high = low + 1;
    if (b->dim == 2) {
        text_add(t, "domain: {size: [%.12g, %.12g], dx: %.17g}\n", size, size, 1 / cells);
        text_add(t,
                 "bodies: [{material: m, sampling: regular, velocity: [2, 1], shape: {box: {min: "
                 "[%.17g, 0], max: "
                 "[%.17g, 1]}}}]\n",
                 low, high);
    } else {
        text_add(t, "domain: {size: [%.12g, %.12g, %.12g], dx: %.17g}\n", size, size, size,
                 1 / cells);
        text_add(t,
                 "bodies: [{material: m, sampling: regular, velocity: [2, 1, 1], shape: {box: "
                 "{min: [%.17g, 0, "
                 "%.17g], max: [%.17g, 1, "
                 "%.17g]}}}]\n",
                 low, low, high, high);
    }
}

enum { STEPS_TO_SORT = 60 }; /* it is to be sorted too */

#define BLOCK(variant, material, scheme, dim) \
    { variant, material, scheme, dim, write_block, "", STEPS_TO_SORT, 0 }

static const benchmark benchmarks[] = {
    BLOCK("liquid", LIQUID_YAML, "apic", 3),
    BLOCK("elastic", ELASTIC_YAML, "apic", 3),
    BLOCK("sand", SAND_YAML, "asflip", 3),
    BLOCK("clay", CLAY_YAML, "asflip", 3),
    BLOCK("liquid", LIQUID_YAML, "apic", 2),
    BLOCK("elastic", ELASTIC_YAML, "apic", 2),
    BLOCK("sand", SAND_YAML, "asflip", 2),
    BLOCK("clay", CLAY_YAML, "asflip", 2),
    {0},
};

const benchmark *mpm_benchmarks(void) { return benchmarks; }
