/* The materials of eight particles. */
#ifndef SPATE_SOLVER_MPM_LANES_H
#define SPATE_SOLVER_MPM_LANES_H

#include "solver/lanes.h"
#include "solver/mpm/mpm.h"

/* The materials of eight particles, -1 for one that is removed. */
INLINE wide_int lane_materials(const mpm_view *m, const particles *p, int64_t i) {
    wide_int index;
    for (int k = 0; k < WIDE; k++) {
        uint16_t group = p->group[i + k];
        index[k] = group == GROUP_REMOVED ? -1 : m->group_material[group];
    }
    return index;
}

/* The next material among lanes that have not been seen: its lanes, which are then seen. False when
 * there is none. */
INLINE bool next_material(wide_int index, wide_int *unseen, int *c, wide_int *mask) {
    for (int k = 0; k < WIDE; k++) {
        if (!(*unseen)[k]) continue;
        *c = (int)index[k];
        *mask = index == wide_splat_int(index[k]);
        *unseen &= ~*mask;
        return true;
    }
    return false;
}

#endif
