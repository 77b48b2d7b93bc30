/*
 * Neighbour lists over cells, for SPH, sheets and surfaces: all pairs nearer than a radius.
 *
 * Points are counting-sorted into cells of the radius' size (half of it along the last axis); a
 * point's neighbours are in the cells around it, read as 3^(dim-1) runs of the sorted order (cells
 * along the last axis lie one after another). Only cells that hold points are kept, so memory
 * follows the points and not the box around them. Lists are compact: neighbours of i are
 * list[first[i]] .. list[first[i+1] - 1], in cell order and within a cell ascending, the point
 * itself left out. They do not depend on the number of threads. A pair is listed when dx^2 + dy^2 +
 * dz^2 < radius^2 in working precision, which is the same seen from either side.
 */
#ifndef SPATE_STATE_NEIGHBOURS_H
#define SPATE_STATE_NEIGHBOURS_H

#include "core/real.h"
#include "core/threads.h"

typedef struct neighbours {
    spate_context *ctx;
    int dim;
    int64_t count;
    double radius;
    double corner[3];    /* of the first cell */
    double edge[3];      /* of a cell; longer where the box is a million cells long */
    int64_t stride[3];   /* of a cell's key; keys leave empty cells at both ends of an axis */
    uint64_t *cell_key;  /* cells that hold points, ascending */
    int32_t *cell_first; /* points of a cell in `order`; cell_count + 1 long */
    int64_t cell_count;
    int32_t *order;         /* points by cell */
    real *sorted[3];        /* positions in that order; wide code may read past the end */
    int64_t point_capacity; /* of all arrays above and below but for the list */
    uint64_t *keys;         /* scratch of the sort: a point's cell, and room for the next pass */
    int32_t *other_order;
    uint32_t *digits; /* how many points of a chunk have a digit, then where the next one goes */
    int64_t *first;   /* lists, in the points' own order; count + 1 long */
    int32_t *list;
    int64_t list_capacity;
} neighbours;

neighbours neighbours_create(spate_context *ctx, int dim);
/* positions: `dim` planes of `count` coordinates each. Memory is kept for the next build. */
spate_status neighbours_build(neighbours *n, const real *const positions[3], int64_t count,
                              double radius, pool *threads);
void neighbours_free(neighbours *n);

#endif
