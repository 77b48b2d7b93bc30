/*
 * Neighbour lists, for SPH, sheets and surfaces: of every particle, all others that are nearer than
 * a radius.
 *
 * Particles are in blocks already, sorted by cell within them, and blocks lie along a Z curve
 * (blocks.h): so there is nothing to sort, only to read. Around each block the candidates of the
 * cells within the radius are copied together, relative to its corner, row by row of cells (which
 * holds across blocks and the seams of periodic axes, and is as precise far from the origin as near
 * it); a particle's neighbours are then found in runs of that copy, eight at a time. All of it is
 * O(n).
 *
 * Row i is list[first[i]] .. list[first[i] + number[i] - 1]: indices in storage order of `among`,
 * in the order of their cells, the particle itself left out. Rows begin at multiples of WIDE, and
 * are filled up to one with entries that may be read but do not count: the last neighbour again.
 * Lists do not depend on the number of threads. A pair is listed when dx^2 + dy^2 + dz^2 < radius^2
 * in working precision, in coordinates that are the same seen from either side up to their last
 * bit. Across a periodic axis shorter than two radii a neighbour is listed once for each of its
 * images in reach.
 */
#ifndef SPATE_STATE_NEIGHBOURS_H
#define SPATE_STATE_NEIGHBOURS_H

#include "state/blocks.h"

typedef struct neighbours {
    spate_context *ctx;
    int64_t count;   /* of rows */
    int64_t entries; /* of the list that are in use, filling included */
    int64_t *first;  /* count + 1 long */
    int32_t *number;
    int32_t *list;
    int64_t row_capacity, list_capacity;
    /* scratch of neighbours_build, kept for the next (neighbours_search.h) */
    uint32_t (*cells)[BLOCK_NODES_MAX + 1];
    int32_t (*around)[NEIGHBOURS_MAX];
    int64_t *starts;
    struct candidate_set *candidate_sets;
    real *planes;
    int32_t *indices;
    int64_t cell_capacity, around_capacity, start_capacity, set_capacity, plane_capacity,
        index_capacity;
} neighbours;

neighbours neighbours_create(spate_context *ctx);
void neighbours_free(neighbours *n);
/* Rows of all particles of `of`, listing those of `among`, which may be the same; both have just
 * been sorted, and have the same cells (dim, dx, shift and periods). Radius in cells, at most
 * BLOCK_EDGE. Memory is kept for the next build. */
spate_status neighbours_build(neighbours *n, const blocks *of_blocks, const particles *of,
                              const blocks *among_blocks, const particles *among, double radius,
                              pool *threads);
size_t neighbours_bytes(const neighbours *n);

#endif
