/*
 * Neighbour lists over cells, for SPH, sheets and surfaces: all pairs nearer than a radius.
 *
 * Points are counting-sorted into cells of the radius' size; a point's neighbours are in the 3^dim
 * cells around it, read as 3^(dim-1) runs of the sorted order (cells along the last axis lie one
 * after another). Lists are compact: neighbours of i are list[first[i]] .. list[first[i+1] - 1],
 * ascending in cell order, the point itself left out.
 */
#ifndef SPATE_STATE_NEIGHBOURS_H
#define SPATE_STATE_NEIGHBOURS_H

#include "core/threads.h"
#include "core/real.h"

typedef struct neighbours {
    spate_context *ctx;
    int dim;
    int64_t count;
    int64_t cells[3];
    double corner[3];   /* of the first cell */
    double radius;
    int64_t *cell_first; /* points of a cell in `order`; product of cells + 1 long */
    int64_t cell_capacity;
    int32_t *order;      /* points by cell */
    int32_t *cell;       /* cell of each point */
    real *sorted[3];     /* positions in that order, relative to `corner` */
    int64_t point_capacity;
    int64_t *first;      /* lists, in the points' own order */
    int32_t *list;
    int64_t list_capacity;
} neighbours;

neighbours neighbours_create(spate_context *ctx, int dim);
/* positions: `dim` planes of `count` coordinates each. */
spate_status neighbours_build(neighbours *n, const real *const positions[3], int64_t count,
                              double radius, pool *threads);
void neighbours_free(neighbours *n);

#endif
