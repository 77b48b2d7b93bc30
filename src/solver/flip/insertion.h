/* What the stage `insert` is made of (sheets.h). */
#ifndef SPATE_SOLVER_FLIP_INSERTION_H
#define SPATE_SOLVER_FLIP_INSERTION_H

#include "solver/flip/sheets.h"
#include "solver/flip/walk.h"

/* A search for the midpoints of eq. 12, a kernel: once to count them, once to list them. */
typedef struct pair_search {
    const sheet_view *view;
    const real *splits; /* by particle: 1 where it may be a parent */
    real near, far;     /* a_min d0 and a_max d0 */
    int64_t *counts;    /* of each occupied block, and then where its own begin */
    uint8_t *found;     /* by particle: whether it has any, with particles of higher ids */
    candidate *list;    /* NULL: they are counted */
} pair_search;

/* Removes inserted particles that are not needed any more (eq. 15), and gives their mass back. */
spate_status sheets_remove(sheets *s);
/* All midpoints of eq. 12 in their order, in the scratch buffer "sheet candidates". */
spate_status sheets_candidates(sheets *s, candidate **list, int64_t *count);
/* Those that the walk chooses become particles. */
spate_status sheets_insert(sheets *s);

#endif
