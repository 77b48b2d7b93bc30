/* Marching cubes over a lattice: one vertex for each lattice edge that the surface crosses. */
#ifndef SPATE_SURFACE_MARCHING_H
#define SPATE_SURFACE_MARCHING_H

#include "surface/cases.h"
#include "surface/lattice.h"

/* A mesh in lattice coordinates, with normals from the gradient of the values and, where
 * `particles` is not NULL, velocities. `out` is empty before. */
spate_status marching_mesh(const lattice *l, const marching_cases *cases,
                           const surface_particle *particles, surface_mesh *out);

#endif
