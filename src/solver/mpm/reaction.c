/*
 * What material does to colliders: the other side of what contacts do to nodes and what presses
 * particles out (press.h), so that it is the momentum that the material lost.
 */
#include "solver/mpm/mpm.h"

void mpm_touch(const mpm *m, mpm_touches *touches, int c, const double x[3], const double lost[3]) {
    int k = 0;
    while (k < touches->count && touches->collider[k] != c) k++;
    if (k == TOUCHES_MOST) return;
    if (k == touches->count) {
        touches->collider[touches->count++] = c;
        memset(touches->sums[k], 0, sizeof touches->sums[k]);
    }
    simulation_add_force(m->sim, c, x, lost, touches->sums[k], touches->sums[k] + 3);
}

void mpm_add_touches(mpm *m) {
    for (int32_t block = 0; block < m->sim->blocks.count; block++) {
        const mpm_touches *touches = &m->touches[block];
        for (int k = 0; k < touches->count; k++) {
            double *sums = impulses_of(&m->impulses, touches->collider[k]);
            for (int v = 0; v < 6; v++) sums[v] += touches->sums[k][v];
        }
    }
}

void mpm_force(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    const mpm *m = sim->solver;
    impulses_mean(&m->impulses, c, force, torque);
}
