/*
 * What others than its scene have done to a simulation: the state that events and the calls of
 * spate/drive.h leave behind, besides particles, poses of colliders and force fields, which the
 * simulation has itself. The commands: src/run/commands.c.
 */
#ifndef SPATE_SOLVER_DRIVE_H
#define SPATE_SOLVER_DRIVE_H

#include "core/text.h"
#include "solver/solver.h"

struct drive {
    struct {
        const spate_scene *scene; /* that it is of */
        int32_t *slots;           /* index of a collider, or -1, by the hash of its name */
        uint32_t mask;            /* one less than how many slots there are, a power of two */
    } colliders;                  /* by name */
    int64_t next_event;           /* of the scene's, that is to be applied */
    int64_t forces_given;         /* whether particles have forces for the next step, 0 or 1 */
    double until; /* that an event of a recording keeps steps from passing; 0: none */
    bool recording;
    text record;           /* YAML of the events so far, while recording */
    double recorded_until; /* the last `until` in it */
    spate_scene *own; /* the scene with what was added, when it is not the one that was given */
    const spate_scene *given; /* that */
};

/* The drive of a simulation, made where there is none. */
spate_status drive_of(spate_simulation *sim, drive **out);
void drive_free(spate_simulation *sim);

/* The scene that the simulation was made from, which outlives it; sim->scene may have more in it,
 * and goes when still more is added. Output and domain are the same in both. */
static inline const spate_scene *drive_given_scene(const spate_simulation *sim) {
    return sim->drive && sim->drive->given ? sim->drive->given : sim->scene;
}

static inline bool drive_gives_forces(const spate_simulation *sim) {
    return sim->drive && sim->drive->forces_given;
}

#endif
