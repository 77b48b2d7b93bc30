/* Sums over particles at the nodes of blocks where fields meet. */
#ifndef SPATE_SOLVER_MPM_INTERFACE_SUMS_H
#define SPATE_SOLVER_MPM_INTERFACE_SUMS_H

#include "solver/mpm/phases.h"
#include "solver/mpm/tiles.h"

/* Whether a block's particles reach nodes that another field may reach. */
INLINE bool meets_fields(const mpm_phases *s, int32_t block) {
    for (int f = 0; f < s->view->field_count; f++)
        if (s->tile[f][block] >= 0) return true;
    return false;
}

/* Whether particles that meet another field may reach a block's nodes. */
INLINE bool reaches_interface(const mpm_phases *s, int32_t block, int dim) {
    for (int n = 0; n < neighbour_count(dim); n++) {
        const int32_t other = s->view->neighbours[block][n];
        if (other >= 0 && meets_fields(s, other)) return true;
    }
    return false;
}

/* Sums of g, V and P of all fields at a block's nodes. */
typedef struct interface_sums {
    real of[FIELDS_MAX][BLOCK_NODES_MAX * INTERFACE_REALS] __attribute__((aligned(64)));
} interface_sums;

/* False where at most one field reaches the block. */
INLINE bool sum_interface(const mpm_phases *s, int32_t block, interface_sums *sums, int dim) {
    const mpm_view *m = s->view;
    const int32_t *neighbours = m->neighbours[block];
    bool near[FIELDS_MAX] = {false};
    int fields = 0;
    for (int f = 0; f < m->field_count; f++) {
        for (int k = 0; k < neighbour_count(dim); k++)
            near[f] |= neighbours[k] >= 0 && s->tile[f][neighbours[k]] >= 0;
        fields += near[f];
    }
    for (int f = 0; f < m->field_count && fields > 1; f++)
        sum_tiles(neighbours, s->tile[f], s->tiles, sums->of[f], INTERFACE_REALS, dim);
    return fields > 1;
}

#endif
