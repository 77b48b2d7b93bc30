/* What the step of strands keeps of four of them: see strand_step.h. */
#ifndef SPATE_SOLVER_LAGRANGIAN_STRAND_LANES_H
#define SPATE_SOLVER_LAGRANGIAN_STRAND_LANES_H

#include "solver/lagrangian/lane_math.h"

/* The unknowns of a vertex, and how many a row of the matrix reaches back. */
enum { VERTEX_UNKNOWNS = 4, HALF_BAND = 10, VERTICES_BEYOND = 3 };

/* A vertex, the edge that begins there, and the bend there. */
typedef struct strand_node {
    lanes x[3], mass;
    lanes way[3];                 /* where it goes without forces but gravity's */
    lanes free[4];                /* 1: an unknown, 0: held */
    lanes normal[3], wall, block; /* of a wall that it is in (1, else 0); see BLOCKED */
    /* edge */
    lanes length, angle;
    lanes t[3], u[3]; /* tangent and director */
    /* bend */
    lanes bend_length, curvature[2], twist, reference;
} strand_node;

/* Columns of the matrix: [d] is the entry d rows below the diagonal. */
typedef struct strand_column {
    lanes entry[HALF_BAND + 1];
    lanes right; /* right side, then solution */
} strand_column;

#endif
