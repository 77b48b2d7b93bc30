/* Stress and update of eight particles of one material, whatever its model. */
#ifndef SPATE_SOLVER_MATERIALS_WIDE_H
#define SPATE_SOLVER_MATERIALS_WIDE_H

#include "solver/materials/drucker_prager_wide.h"
#include "solver/materials/fixed_corotated_wide.h"
#include "solver/materials/linear_wide.h"
#include "solver/materials/liquid_wide.h"
#include "solver/materials/nacc_wide.h"
#include "solver/materials/neo_hookean_wide.h"
#include "solver/materials/snow_wide.h"
#include "solver/materials/von_mises_wide.h"

/* Kirchhoff stress of particles i .. i + 7. C is the velocity gradient, read only where a liquid
 * has viscosity. */
INLINE void material_stress(const material_constants *c, const particles *p, int64_t i,
                            const wide C[9], wide tau[6], int dim) {
    const wide one = wide_splat(1);
    const elastic_constants *simo = &c->neo_hookean;
    switch (c->kind) {
    case MATERIAL_LIQUID: liquid_stress(&c->liquid, p, i, C, tau, dim); return;
    case MATERIAL_FIXED_COROTATED:
        corotated_stress(&c->fixed_corotated, p, i, one, tau, dim);
        return;
    case MATERIAL_SNOW: snow_stress(&c->snow, p, i, tau, dim); return;
    case MATERIAL_LINEAR: linear_stress(&c->linear, p, i, tau, dim); return;
    case MATERIAL_DRUCKER_PRAGER: simo = &c->drucker_prager.elastic; break;
    case MATERIAL_NACC: simo = &c->nacc.elastic; break;
    case MATERIAL_VON_MISES: simo = &c->von_mises.elastic; break;
    default: break;
    }
    neo_hookean_stress(simo, p, i, tau, dim);
}

/* Strain of particles i .. i + 7 after a step with G = dt times the velocity gradient, plasticity
 * included. Only the lanes of the mask are written, and the report means nothing for others. */
INLINE void material_update(const material_constants *c, particles *p, int64_t i, const wide G[9],
                            wide_int mask, strain_report *report, int dim) {
    switch (c->kind) {
    case MATERIAL_LIQUID: liquid_update(c, p, i, G, mask, report, dim); break;
    case MATERIAL_DRUCKER_PRAGER: drucker_prager_update(c, p, i, G, mask, report, dim); break;
    case MATERIAL_NACC: nacc_update(c, p, i, G, mask, report, dim); break;
    case MATERIAL_VON_MISES: von_mises_update(c, p, i, G, mask, report, dim); break;
    case MATERIAL_SNOW: snow_update(c, p, i, G, mask, report, dim); break;
    case MATERIAL_LINEAR: linear_update(c, p, i, G, mask, report, dim); break;
    default: elastic_update(c, p, i, G, mask, report, dim); break;
    }
}

#endif
