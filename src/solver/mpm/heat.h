/*
 * Temperatures of liquids: hot smoke in air, warm water in cold (after Yan et al. 2018, whose smoke
 * and air are two liquids). Particles keep T, K above the surroundings. It spreads by
 *
 *     T' = k lap T        over all liquids, whatever their phase, by the passes of mixing.h
 *
 * (the weak form, which keeps sum m T, with the filter of what the grid does not hold), and makes
 * them lighter: every particle has the buoyancy
 *
 *     f = -m b T g
 *
 * b the expansion of its material. Smoke and air feel it alike: else one of them would be a source of
 * momentum for the other. Their volume stays (Boussinesq). Solids have no temperature.
 */
#ifndef SPATE_SOLVER_MPM_HEAT_H
#define SPATE_SOLVER_MPM_HEAT_H

#include "solver/mpm/mixing.h"

typedef struct mpm_heat {
    mpm_mixing spreading; /* one mixture, of all liquids */
    real4 *carried;       /* by particle: (T, 0, 0, 0) */
    real4 *buoyancy;      /* by group: -b g */
    int64_t capacity;
    double diffusion; /* m^2/s */
} mpm_heat;

/* Whether a liquid of the scene has a temperature. */
bool mpm_is_heated(const spate_scene *scene);
/* Nothing where none has. */
spate_status mpm_heat_create(mpm *m);
void mpm_heat_free(mpm *m);
/* Before a scatter: T spreads, and `force` gets the buoyancy. */
spate_status mpm_heat_step(mpm *m);

#endif
