/*
 * A point grid: the positions of some particles, in a hashed grid of cells, for probes that look at
 * neighbours. Only cells that hold particles exist. On a periodic axis a whole number of cells goes
 * round and distances are to the nearest image.
 */
#ifndef SPATE_MEASURE_POINT_GRID_H
#define SPATE_MEASURE_POINT_GRID_H

#include "solver/solver.h"

typedef struct point_grid_cell {
    int64_t at[3];
    int64_t first; /* its particles: first, next[first], ... until -1 */
} point_grid_cell;

typedef struct point_grid {
    const spate_simulation *sim;
    spate_context *ctx;
    int dim;
    double period[3]; /* length of a periodic axis, 0 for an axis that is not */
    int64_t count;
    double (*x)[3];         /* from the domain's origin */
    int64_t *stored;        /* place of each in the simulation's particles */
    double edge[3];         /* of a cell, once point_grid_sort has made them */
    int64_t around[3];      /* cells along a periodic axis, 0 for an axis that is not */
    point_grid_cell *cells; /* in the order of their first particles */
    int64_t cell_count;
    int64_t *next;
    int64_t *table; /* from a cell's hash to its index, -1 where free */
    uint64_t table_size;
} point_grid;

/* The particles of groups from..to-1, in storage order. */
spate_status point_grid_create(const spate_simulation *sim, int from, int to, point_grid *c);
void point_grid_free(point_grid *c);

/* Puts the particles into cells of that edge, a little shorter on a periodic axis. */
spate_status point_grid_sort(point_grid *c, double edge);

/* The cells that may hold particles nearer than a radius, relative to one of them: each once. */
enum { CLOUD_REACH_MAX = 343 };
typedef struct point_grid_reach {
    int count;
    int64_t offsets[CLOUD_REACH_MAX][3];
} point_grid_reach;
/* The radius is at most sqrt(dim) times the edge that was asked for. */
void point_grid_reach_of(const point_grid *c, double radius, point_grid_reach *reach);

/* The cell at an offset from another, or -1. */
int64_t point_grid_neighbour(const point_grid *c, const point_grid_cell *cell,
                             const int64_t offset[3]);

/* The cells within reach of one; returns how many. */
int point_grid_near(const point_grid *c, int64_t cell, const point_grid_reach *reach,
                    int64_t near[CLOUD_REACH_MAX]);

/* y - x, to the nearest image. */
static inline void point_grid_difference(const point_grid *c, const double x[3], const double y[3],
                                         double out[3]) {
    for (int a = 0; a < 3; a++) {
        out[a] = y[a] - x[a];
        if (c->period[a] > 0) out[a] -= c->period[a] * round(out[a] / c->period[a]);
    }
}

#endif
