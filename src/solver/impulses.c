#include "solver/impulses.h"

spate_status impulses_create(spate_simulation *sim, impulses *i) {
    i->values = take(sim->ctx, impulses_count(sim->scene), sizeof *i->values);
    if (!i->values) return SPATE_OUT_OF_MEMORY;
    i->values[IMPULSES_FRAME] = -1;
    sim->impulses = i;
    return SPATE_OK;
}

void impulses_begin_step(const spate_simulation *sim, impulses *i) {
    const double frame = floor(sim->time * sim->scene->fps + 1e-9);
    if (frame != i->values[IMPULSES_FRAME]) {
        memset(i->values, 0, impulses_count(sim->scene) * sizeof *i->values);
        i->values[IMPULSES_FRAME] = frame;
    }
    i->values[IMPULSES_SECONDS] += sim->dt;
    const size_t sums = 6 * (size_t)sim->scene->collider_count;
    memcpy(impulses_of(i, 0) + sums, impulses_of(i, 0), sums * sizeof *i->values);
}

void touches_note(const spate_simulation *sim, block_touches *touches, int c, const double x[3],
                  const double lost[3]) {
    int k = 0;
    while (k < touches->count && touches->collider[k] != c) k++;
    if (k == TOUCHES_MOST) k--;
    if (k == touches->count) {
        touches->collider[touches->count++] = c;
        memset(touches->sums[k], 0, sizeof touches->sums[k]);
    }
    simulation_add_force(sim, c, x, lost, touches->sums[k], touches->sums[k] + 3);
}

void impulses_add(impulses *i, const block_touches *touches, int64_t count) {
    for (int64_t b = 0; b < count; b++)
        for (int k = 0; k < touches[b].count; k++)
            for (int v = 0; v < 6; v++)
                impulses_of(i, touches[b].collider[k])[v] += touches[b].sums[k][v];
}

void impulses_mean(const impulses *i, int c, double force[3], double torque[3]) {
    const double seconds = i->values[IMPULSES_SECONDS], *sums = impulses_of(i, c);
    for (int a = 0; a < 3; a++) {
        force[a] = seconds > 0 ? sums[a] / seconds : 0;
        torque[a] = seconds > 0 ? sums[a + 3] / seconds : 0;
    }
}

void impulses_of_step(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    const double *now = impulses_of(sim->impulses, c);
    const double *before = now + 6 * (ptrdiff_t)sim->scene->collider_count;
    for (int a = 0; a < 3; a++) {
        force[a] = sim->step > 0 ? (now[a] - before[a]) / sim->dt : 0;
        torque[a] = sim->step > 0 ? (now[a + 3] - before[a + 3]) / sim->dt : 0;
    }
}

void impulses_state(const spate_simulation *sim, impulses *i, const char *name, state_blocks *out) {
    state_add(out, name, i->values, impulses_count(sim->scene) * sizeof *i->values);
}
