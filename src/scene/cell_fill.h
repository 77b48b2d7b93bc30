/*
 * Points that fill the cells of a grid as others do.
 *
 * A grid sees of a point which share of each cell's surroundings it fills: the tent of two cells,
 * product of max(0, 1 - |x - c|) over the axes, about the middle c of a cell. Irregular points fill
 * cells unevenly. Inside a liquid that hardly matters, but at its surface it is a surface that is
 * not flat, and waves begin. So points x of a glass near the surface of a body are moved by as
 * little as makes the cells as full as they would be by the lattice points y that x come from:
 *
 *     F(x) = F(y),   F_c(x) = sum over points of tent(x_p - c)
 *
 * by Newton's method, each time with the shortest d that solves J d = F(y) - F(x), J = dF/dx (by
 * conjugate gradients of its normal equations). y itself is a solution, so there always is one, and
 * with a few numbers for each cell and dim for each of its points there are many.
 *
 * Windows of the lattice are solved one after the other, each for what its own points fill: so
 * memory is that of a window, and the result does not depend on what else there is.
 */
#ifndef SPATE_SCENE_CELL_FILL_H
#define SPATE_SCENE_CELL_FILL_H

#include "core/context.h"

/* Lattice points along an edge of a window. */
enum { FILL_WINDOW = 64 };

typedef struct fill_point {
    int64_t window[3]; /* lattice indices over FILL_WINDOW, rounded down */
    int64_t index;     /* in `points` */
    double from[3];    /* y */
} fill_point;

typedef struct fill_task {
    spate_context *ctx;
    int dim;
    const double *origin; /* of the grid, three numbers */
    double dx;
    double most; /* that a point may be away from y along an axis */
    bool (*allowed)(const double x[3], const void *user);
    const void *user;
} fill_task;

/* Moves points[list[k].index] for all k; the list comes back in another order. */
spate_status cell_fill_match(const fill_task *task, fill_point *list, int64_t count,
                             double (*points)[3]);

#endif
