/* Stress and update of eight particles, compiled once for each instruction set (SPATE_ISA): the
 * solvers' kernels call them through a table, so that a model is compiled here and nowhere else. */
#include "core/kernel_table.h"
#include "solver/materials/wide.h"

static void stress_2d(const material_constants *c, const particles *p, int64_t i, const wide C[9],
                      wide tau[6]) {
    material_stress(c, p, i, C, tau, 2);
}
static void stress_3d(const material_constants *c, const particles *p, int64_t i, const wide C[9],
                      wide tau[6]) {
    material_stress(c, p, i, C, tau, 3);
}
static void update_2d(const material_constants *c, particles *p, int64_t i, const wide G[9],
                      const wide_int *mask, strain_report *report) {
    material_update(c, p, i, G, *mask, report, 2);
}
static void update_3d(const material_constants *c, particles *p, int64_t i, const wide G[9],
                      const wide_int *mask, strain_report *report) {
    material_update(c, p, i, G, *mask, report, 3);
}

const material_passes ISA_NAME(material_passes) = {
    .stress = {stress_2d, stress_3d},
    .update = {update_2d, update_3d},
};
