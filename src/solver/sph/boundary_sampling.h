/*
 * Where the wall particles of a collider are (boundary.h says what they are for), in the frame
 * where it is at rest, so that they belong to it wherever it moves.
 */
#ifndef SPATE_SOLVER_SPH_BOUNDARY_SAMPLING_H
#define SPATE_SOLVER_SPH_BOUNDARY_SAMPLING_H

#include "solver/solver.h"

typedef struct boundary_sample_point {
    double x[3];
    double depth;  /* m */
    double volume; /* m^dim */
    int owner;     /* what becomes its group */
} boundary_sample_point;

typedef struct boundary_samples {
    double spacing, support; /* m */
    int layers;
    boundary_sample_point *list;
    int64_t count, capacity;
} boundary_samples;

/* Adds the points of collider c, in a fixed order. `still` are the scene's colliders at rest. */
spate_status boundary_sample(const boundary *still, int c, boundary_samples *points);

/* Whether a motion leaves the coordinate along `axis` of every point as it is at rest. */
bool boundary_stays(const motion *m, int axis);

#endif
