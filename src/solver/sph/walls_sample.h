/*
 * Where the wall particles of a collider are (walls.h says what they are for), in the frame where it
 * is at rest, so that they belong to it wherever it moves.
 */
#ifndef SPATE_SOLVER_SPH_WALLS_SAMPLE_H
#define SPATE_SOLVER_SPH_WALLS_SAMPLE_H

#include "solver/solver.h"

typedef struct wall_point {
    double x[3];
    double depth;  /* m */
    double volume; /* m^dim */
    int owner;     /* what becomes its group */
} wall_point;

typedef struct wall_points {
    double spacing, support; /* m */
    int layers;
    wall_point *list;
    int64_t count, capacity;
} wall_points;

/* Adds the points of collider c, in a fixed order. `still` are the scene's colliders at rest. */
spate_status walls_sample(const boundary *still, int c, wall_points *points);

/* Whether a motion leaves the coordinate along `axis` of every point as it is at rest. */
bool walls_stay(const motion *m, int axis);

#endif
