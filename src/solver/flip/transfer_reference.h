/* The transfers between particles and a dense MAC grid in plain double: transfer_reference.c. */
#ifndef SPATE_SOLVER_FLIP_TRANSFER_REFERENCE_H
#define SPATE_SOLVER_FLIP_TRANSFER_REFERENCE_H

#include "solver/flip/flip.h"

/* Lengths in cells. */
typedef struct reference_particle {
    double x[3], v[3], mass;
    double B[3][3]; /* affine moment by axis and component, as PARTICLE field `affine` */
} reference_particle;

/* Face (i, j, k) of a component is at (i cells[1] + j) cells[2] + k; cells[2] is 1 in 2D. */
typedef struct reference_grid {
    int dim, cells[3];
    flip_kernel kernel;
    bool affine;
    double *mass[3], *momentum[3], *velocity[3], *velocity_old[3];
} reference_grid;

/* Adds a particle's mass and momentum to the faces; it is two cells and more from the grid's
 * sides. */
void reference_scatter(const reference_grid *g, const reference_particle *p);
/* Its new velocity and affine moment, with a share alpha of FLIP. */
void reference_gather(const reference_grid *g, double alpha, reference_particle *p);

#endif
