/*
 * Which of many candidates become particles (Ando et al. 2012, eq. 13 and 14). The walk: begin at
 * the sparsest candidate; drop those nearer to it than `near`; go on to the nearest one left within
 * `far`, and where there is none begin again. Ties go to the lower index; candidates are in the
 * order of their parents' ids, so that nothing depends on how particles are stored.
 *
 * Candidates with one another within `far`, directly or by others between, are a component. The
 * walk never leaves a component, and what it does in one depends on no other; so components are
 * walked at the same time, and the choice is that of one walk over all. It is listed component by
 * component, in the order of their first candidates.
 */
#ifndef SPATE_SOLVER_FLIP_WALK_H
#define SPATE_SOLVER_FLIP_WALK_H

#include "solver/solver.h"

typedef struct candidate {
    uint64_t id[2];      /* of the pair, the lower one first */
    int64_t particle[2]; /* where they are stored */
    int32_t block;       /* that the midpoint is in */
    real x[3];           /* cells from its corner */
    real density;
} candidate;

/* Puts candidates into their order. */
void candidates_sort(candidate *list, int64_t count);

typedef struct walk {
    const blocks *blocks;
    const candidate *list; /* sorted */
    int64_t count;
    double near, far; /* cells */
    bool whole;       /* all as one component, walked by one thread: the reference */
} walk;

/* Writes indices of the chosen ones to `chosen`, which has room for all; *picked is how many. */
spate_status walk_choose(const walk *w, scratch *memory, pool *threads, int64_t *chosen,
                         int64_t *picked);

#endif
