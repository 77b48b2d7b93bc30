/*
 * Pieces: connected components of particles, two of which hang together when they are nearer than a
 * gap, or are vertices of one element or segment. Time and memory follow the number of particles,
 * whatever the gap.
 */
#ifndef SPATE_MEASURE_PIECES_H
#define SPATE_MEASURE_PIECES_H

#include "measure/point_grid.h"

/* *count: pieces of at least `at_least` particles; *largest: particles of the largest one of all.
 * Sorts the point grid. */
spate_status pieces_count(point_grid *c, double gap, int64_t at_least, int64_t *count,
                          int64_t *largest);

#endif
