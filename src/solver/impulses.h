/*
 * What matter does to colliders, over the time of a frame: impulse and its moment, summed step by
 * step.
 *
 * A row of stats.csv tells the mean force since the row before it, so that the sum of a column over
 * frames is the momentum that a collider was given, whatever the frame rate. Frames are those of
 * the scene's fps by the simulation's time; between two of them it is the mean so far. All of it is
 * in `values`, which a checkpoint must hold.
 */
#ifndef SPATE_SOLVER_IMPULSES_H
#define SPATE_SOLVER_IMPULSES_H

#include "solver/solver.h"

enum { IMPULSES_FRAME, IMPULSES_SECONDS, IMPULSES_HEAD };

typedef struct impulses {
    double *values; /* frame that they are of, seconds of it so far; six to a collider: N s, N m s;
                       and once more these, as they were before the last step */
} impulses;

static inline size_t impulses_count(const spate_scene *scene) {
    return IMPULSES_HEAD + 12 * (size_t)scene->collider_count;
}
static inline double *impulses_of(const impulses *i, int c) {
    return i->values + IMPULSES_HEAD + 6 * (ptrdiff_t)c;
}

/* What the matter of one block gives to colliders in a step, noted by the thread that has the
 * block. One that touches more colliders than there is room for gives the rest to the last of
 * them. */
enum { TOUCHES_MOST = 16 };
typedef struct block_touches {
    int count, collider[TOUCHES_MOST];
    double sums[TOUCHES_MOST][6];
} block_touches;

/* Notes that matter at x lost momentum to collider c. */
void touches_note(const spate_simulation *sim, block_touches *touches, int c, const double x[3],
                  const double lost[3]);
/* Adds them up in the order of blocks, so that threads do not matter. */
void impulses_add(impulses *i, const block_touches *touches, int64_t count);

spate_status impulses_create(spate_simulation *sim, impulses *i);
/* Adds their sums to the state of a checkpoint. */
void impulses_state(const spate_simulation *sim, impulses *i, const char *name, state_blocks *out);
/* Before what a step of length sim->dt adds: begins anew where it begins a frame. */
void impulses_begin_step(const spate_simulation *sim, impulses *i);
/* The mean over the frame so far; 0 where no time has passed. */
void impulses_mean(const impulses *i, int c, double force[3], double torque[3]);

/* The mean over the last step; 0 before the first. */
void impulses_of_step(const spate_simulation *sim, int c, double force[3], double torque[3]);

#endif
