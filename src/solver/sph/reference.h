/*
 * The sums of SPH as sph.h writes them, over all pairs and in double: what to read first, and what
 * the tests hold the fast sums (sums.h) against. Walls are slippery here, and do not hold any
 * weight.
 */
#ifndef SPATE_SOLVER_SPH_REFERENCE_H
#define SPATE_SOLVER_SPH_REFERENCE_H

#include "solver/sph/kernel.h"

typedef struct sph_reference {
    int dim;
    sph_kernel kernel;
    double support, volume, rest_density; /* h, V, rho0 */
    double viscosity;                     /* nu, m^2/s */
    bool morris;                          /* his Laplacian of the velocity, else Mueller's */
    /* What the kernel's sums are over, so that they are exact on the particles' lattice (sph.h). */
    double lattice_density, lattice_gradient;
    int64_t count; /* fluid particles */
    const double (*x)[3], (*v)[3], *pressure;
    int64_t boundary_count;
    const double (*boundary_x)[3], *boundary_volume;
} sph_reference;

/* Density over that at rest, by particle. */
void sph_reference_density(const sph_reference *r, double *delta);
/* Accelerations by the pressure and by viscosity. */
void sph_reference_pressure(const sph_reference *r, const double *delta, double (*a)[3]);
void sph_reference_viscosity(const sph_reference *r, const double *delta, double (*a)[3]);

#endif
