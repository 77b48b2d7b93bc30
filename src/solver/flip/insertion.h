/* What the stage `insert` is made of (sheets.h). */
#ifndef SPATE_SOLVER_FLIP_INSERTION_H
#define SPATE_SOLVER_FLIP_INSERTION_H

#include "solver/flip/sheets.h"
#include "solver/flip/walk.h"

/* Removes inserted particles that are not needed any more (eq. 15), and gives their mass back. */
spate_status sheets_remove(sheets *s);
/* All midpoints of eq. 12 in their order, in the scratch buffer "sheet candidates". */
spate_status sheets_candidates(sheets *s, candidate **list, int64_t *count);
/* Those that the walk chooses become particles. */
spate_status sheets_insert(sheets *s);

#endif
