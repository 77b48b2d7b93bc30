/* What plastic_volume.c and its passes share. */
#ifndef SPATE_SOLVER_MPM_PLASTIC_VOLUME_H
#define SPATE_SOLVER_MPM_PLASTIC_VOLUME_H

#include "solver/mpm/mpm.h"

/* The volumes of one material, smoothed over the grid. */
typedef struct plastic_volume {
    const mpm_view *m;
    const int32_t *tile; /* block -> place of its tile: one a block, whatever the velocity fields */
    int material;
} plastic_volume;

/* excess: occupied blocks; mean: all blocks; relax: occupied blocks */
#define PLASTIC_VOLUME_PASSES(TASK) TASK(excess) TASK(mean) TASK(relax)
typedef struct plastic_volume_passes {
    PLASTIC_VOLUME_PASSES(TASK_FIELD)
} plastic_volume_passes;

#endif
