/*
 * Kernels of Ando, Thuerey and Tsuruno 2012, which weigh particles by distance alone, each with a
 * radius of its own; lengths are in cells:
 *
 *     d = (share of a full cell's mass)^(1/dim), 1/2 for one of N0 particles (8 in 3D, 4 in 2D)
 *     W_sharp(r, R) = R^2/r^2 - 1,     W_smooth(r, R) = 1 - r^2/R^2,     both 0 beyond R
 */
#ifndef SPATE_SOLVER_FLIP_PARTICLE_RADIUS_H
#define SPATE_SOLVER_FLIP_PARTICLE_RADIUS_H

#include "solver/flip/flip.h"
#include "solver/flip/neighbourhood.h"

/* d^2 of a particle. One heavier than a full cell is no larger: it would reach further than the
 * faces and blocks around it. Where particles are inserted into sheets, one that has given mass
 * away is as large as before. */
INLINE real size2_of(const flip *f, int64_t i, int dim) {
    real share = f->sim->particles.mass[i] * f->inverse_mass;
    if (share > 1) share = 1;
    if (share < f->least_share) share = f->least_share;
    if (dim == 2) return share;
    double size = cbrt((double)share);
    return (real)(size * size);
}

#endif
