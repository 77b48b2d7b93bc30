/* How number_density.c and its passes share out memory: what a worker needs for a block. */
#ifndef SPATE_SOLVER_MPM_NUMBER_DENSITY_H
#define SPATE_SOLVER_MPM_NUMBER_DENSITY_H

#include "solver/mpm/mpm.h"

/* Support of the kernel, in cells. */
#define DENSITY_SUPPORT 1.25

/* Bins of half a cell. A block's particles may be a cell out of it, and the support is added: what
 * lies further out, which nothing should, is in the last bin. */
enum {
    BINS_PER_CELL = 2,
    BINS_EDGE = 20,
    BINS_MAX = BINS_EDGE * BINS_EDGE * BINS_EDGE,
};

/* Particles around a block, images behind walls included, in cells from its corner. */
typedef struct density_points {
    real *x[3];      /* as they were found */
    real *sorted[3]; /* by bin */
    int32_t *bin;    /* of those in x */
    int32_t *first;  /* of every bin, in sorted; BINS_MAX + 1 long */
    int64_t count;
    real low[3], high[3]; /* the box that they are looked for in */
    int edge[3];          /* bins along each axis */
} density_points;

typedef struct number_density {
    mpm_view *view;
    double lattice;   /* sum of the kernel on the lattice at rest, R = 1 cell */
    double volume;    /* at rest of a particle, m^3 */
    int64_t most;     /* points that a block may have around it */
    real *places;     /* by worker: six a point, of the points as found and sorted */
    int32_t *bins;    /* by worker: one a point */
    int32_t *first;   /* by worker: BINS_MAX + 1 */
    int64_t capacity; /* points of all workers */
} number_density;

#define NUMBER_DENSITY_PASSES(TASK) TASK(density) /* occupied blocks */
typedef struct number_density_passes {
    NUMBER_DENSITY_PASSES(TASK_FIELD)
} number_density_passes;

/* Whether material cannot leave through a side. */
INLINE bool is_closed(const domain *d, int axis, int side) {
    return d->walls[axis][side] != WALL_OPEN && d->walls[axis][side] != WALL_PERIODIC;
}

/* The kernel (R^2 - r^2)^3, r in cells, summed over a lattice with this spacing in cells. */
double density_lattice_sum(int dim, double spacing);
/* The share of the kernel's integral beyond a plane at distance s R, -1 <= s <= 1. */
double density_share_beyond(int dim, double s);

#endif
