/* What the sums of SPH read and write: plain arrays and constants, of 2D (where z is 0) and 3D. */
#ifndef SPATE_SOLVER_SPH_VIEW_H
#define SPATE_SOLVER_SPH_VIEW_H

#include "core/threads.h"
#include "solver/sph/kernel.h"
#include "state/neighbours.h"

/* What is summed over, by particle. */
typedef struct sph_records {
    /* x, y, z in cells, wrapped, and a number of the sum: 1 / delta or K; of a boundary particle:
     * its volume over that of a fluid particle */
    real4 *position;
    real4 *velocity; /* m/s, and the pressure, Pa */
} sph_records;

typedef struct sph_view {
    sph_records fluid, boundary;
    neighbours fluid_neighbours, boundary_neighbours; /* lists of the fluid's particles */
    /* by boundary particle: its wall's normal, and how deep in the wall it lies, in cells, or -1
     * where the wall is not sticky */
    real4 *boundary_normal;
    /* by fluid particle */
    real *density;       /* delta: the particles' own field */
    real4 *acceleration; /* m/s^2 */
    real4 *displacement; /* u, in cells; shares the memory of the acceleration, used up by then */
    real4 *xsph;         /* what XSPH adds to the velocity, m/s */
    real4 *shift;        /* where shifting goes, 1 / cells */
    real4 *hydrostatic;  /* what walls hold of the weight, m/s^2 */
    real4 *gradient_sum; /* G in 1 / cells, and 1 / A_ii */
    real *source, *next; /* s, and the next K */
    real *density_error;
    real *pair_gradient; /* by entry of the fluid's list: V W'(r) / r dx^2 */
    /* constants of the scene */
    bool wraps;  /* positions are wrapped, differences to the nearest image */
    bool extras; /* XSPH or shifting is on */
    bool shifts;
    real period[4], inverse_period[4]; /* cells; 0 where nothing is wrapped */
    real support2, inverse_support;    /* (h / dx)^2, dx / h */
    /* V a / h^d: V W = factor w(q); over its sum on a lattice, which is then 1 */
    real kernel_factor;
    real gradient_factor;       /* V a' / h^d (dx / h)^2: V grad W = factor w'(q) / q d / dx */
    real mueller, morris;       /* factors of either Laplacian, 1/s */
    real artificial;            /* viscosity: alpha c l / dx^2 */
    real softening2;            /* of its distances: (0.1 l / dx)^2 */
    real pressure_factor;       /* 1 / (rho0 dx) */
    real xsph_factor;           /* its share times kernel_factor */
    real inverse_spacing_value; /* 1 / w(s / h) */
    real half_spacing;          /* cells */
    real gravity[3];
    real hydrostatic_gradient; /* rho0 dx */
    real hydrostatic_onset;    /* 1 / (rho0 g l) */
    real relaxation;           /* omega */
    /* of the step */
    real displacement_factor; /* dt / dx */
} sph_view;

/* How much a particle under this pressure leans on walls, which then hold its weight: not at all in
 * free fall, fully from a depth of half the support on. */
static inline real sph_hydrostatic_share(const sph_view *v, real under) {
    const real share = under * v->hydrostatic_onset;
    return share < 0 ? 0 : share > 1 ? 1 : share;
}

/* Tasks over the rows of the lists, by kernel; data is the view. */
typedef struct sph_sums {
    chunk_task density[SPH_KERNELS];      /* delta */
    chunk_task implicit[SPH_KERNELS];     /* delta, G, A_ii and the gradients of all pairs */
    chunk_task forces[SPH_KERNELS];       /* accelerations */
    chunk_task density_rate[SPH_KERNELS]; /* dt D delta / Dt */
    chunk_task displacement, jacobi;      /* u of K; and a step of Jacobi */
} sph_sums;

#endif
