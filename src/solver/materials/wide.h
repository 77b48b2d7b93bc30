/* Stress and update of eight particles of one material, whatever its model. */
#ifndef SPATE_SOLVER_MATERIALS_WIDE_H
#define SPATE_SOLVER_MATERIALS_WIDE_H

#include "solver/materials/drucker_prager_wide.h"
#include "solver/materials/fixed_corotated_wide.h"
#include "solver/materials/hypoelastic_wide.h"
#include "solver/materials/linear_wide.h"
#include "solver/materials/liquid_wide.h"
#include "solver/materials/nacc_wide.h"
#include "solver/materials/neo_hookean_wide.h"
#include "solver/materials/snow_wide.h"
#include "solver/materials/vertex_wide.h"
#include "solver/materials/von_mises_wide.h"

/* Kirchhoff stress of particles i .. i + 7. C is the velocity gradient, read only where a liquid
 * has viscosity. */
INLINE void material_stress(const material_constants *c, const particles *p, int64_t i,
                            const wide C[9], wide tau[6], int dim) {
#define STRESS_OF(kind, name) \
    case MATERIAL_##kind: name##_stress(c, p, i, C, tau, dim); return;
    switch (c->kind) {
        PARTICLE_MATERIALS(STRESS_OF)
        STRESS_OF(VERTEX, vertex)
    default: __builtin_unreachable();
    }
#undef STRESS_OF
}

/* Strain of particles i .. i + 7 after a step with G = dt times the velocity gradient, plasticity
 * included. Only the lanes of the mask are written, and the report means nothing for others. */
INLINE void material_update(const material_constants *c, particles *p, int64_t i, const wide G[9],
                            wide_int mask, strain_report *report, int dim) {
#define UPDATE_OF(kind, name) \
    case MATERIAL_##kind: name##_update(c, p, i, G, mask, report, dim); return;
    switch (c->kind) {
        PARTICLE_MATERIALS(UPDATE_OF)
        UPDATE_OF(VERTEX, vertex)
    default: __builtin_unreachable();
    }
#undef UPDATE_OF
}

#endif
