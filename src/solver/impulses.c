#include "solver/impulses.h"

spate_status impulses_create(const spate_simulation *sim, impulses *i) {
    i->values = take(sim->ctx, impulses_count(sim->scene), sizeof *i->values);
    if (!i->values) return SPATE_OUT_OF_MEMORY;
    i->values[IMPULSES_FRAME] = -1;
    return SPATE_OK;
}

void impulses_begin_step(const spate_simulation *sim, impulses *i) {
    const double frame = floor(sim->time * sim->scene->fps + 1e-9);
    if (frame != i->values[IMPULSES_FRAME]) {
        memset(i->values, 0, impulses_count(sim->scene) * sizeof *i->values);
        i->values[IMPULSES_FRAME] = frame;
    }
    i->values[IMPULSES_SECONDS] += sim->dt;
}

void impulses_mean(const impulses *i, int c, double force[3], double torque[3]) {
    const double seconds = i->values[IMPULSES_SECONDS], *sums = impulses_of(i, c);
    for (int a = 0; a < 3; a++) {
        force[a] = seconds > 0 ? sums[a] / seconds : 0;
        torque[a] = seconds > 0 ? sums[a + 3] / seconds : 0;
    }
}
