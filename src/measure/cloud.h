/*
 * A cloud: the positions of some particles, in a hashed grid of cells, for probes that look at
 * neighbours. Only cells that hold particles exist. On a periodic axis a whole number of cells goes
 * round and distances are to the nearest image.
 */
#ifndef SPATE_MEASURE_CLOUD_H
#define SPATE_MEASURE_CLOUD_H

#include "solver/solver.h"

typedef struct cloud_cell {
    int64_t at[3];
    int64_t first; /* its particles: first, next[first], ... until -1 */
} cloud_cell;

typedef struct cloud {
    const spate_simulation *sim;
    spate_context *ctx;
    int dim;
    double period[3]; /* length of a periodic axis, 0 for an axis that is not */
    int64_t count;
    double (*x)[3];    /* from the domain's origin */
    int64_t *stored;   /* place of each in the simulation's particles */
    double edge[3];    /* of a cell, once cloud_sort has made them */
    int64_t around[3]; /* cells along a periodic axis, 0 for an axis that is not */
    cloud_cell *cells; /* in the order of their first particles */
    int64_t cell_count;
    int64_t *next;
    int64_t *table; /* from a cell's hash to its index, -1 where free */
    uint64_t table_size;
} cloud;

/* The particles of groups from..to-1, in storage order. */
spate_status cloud_create(const spate_simulation *sim, int from, int to, cloud *c);
void cloud_free(cloud *c);

/* Puts the particles into cells of that edge, a little shorter on a periodic axis. */
spate_status cloud_sort(cloud *c, double edge);

/* The cells that may hold particles nearer than a radius, relative to one of them: each once. */
enum { CLOUD_REACH_MAX = 343 };
typedef struct cloud_reach {
    int count;
    int64_t offsets[CLOUD_REACH_MAX][3];
} cloud_reach;
/* The radius is at most sqrt(dim) times the edge that was asked for. */
void cloud_reach_of(const cloud *c, double radius, cloud_reach *reach);

/* The cell at an offset from another, or -1. */
int64_t cloud_neighbour(const cloud *c, const cloud_cell *cell, const int64_t offset[3]);

/* y - x, to the nearest image. */
static inline void cloud_difference(const cloud *c, const double x[3], const double y[3],
                                    double out[3]) {
    for (int a = 0; a < 3; a++) {
        out[a] = y[a] - x[a];
        if (c->period[a] > 0) out[a] -= c->period[a] * round(out[a] / c->period[a]);
    }
}

#endif
