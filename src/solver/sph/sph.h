/*
 * SPH: liquid as particles alone (Lucy 1977; Mueller et al. 2003), without a grid but for finding
 * neighbours.
 *
 * All particles have the same volume V = s^d for the spacing s, and the same mass rho0 V. With
 * W_ij = W(|x_i - x_j|) of support h, j over the liquid and b over the boundary particles
 * (boundary.h):
 *
 *     density   delta_i = rho_i / rho0 = sum_j V W_ij + sum_b V_b W_ib   (i itself included)
 *     forces    a_i = g + (nu / delta_i) sum_j V lap W_ij (v_j - v_i) / delta_j + tension
 *
 * wcsph, weakly compressible, as Mueller et al. 2003 and the course have it:
 *     p_i = c^2 rho0 (delta_i - 1), or Tait's equation
 *     a_i -= 1 / (rho0 delta_i) sum_j V (p_i + p_j) / delta_j grad W_ij
 * (their factor 1/2 would make it half the gradient, as sum_j V grad W_ij = 0)
 *     v += dt a,  x += dt v
 *
 * dfsph, divergence-free (Bender and Koschier 2015), and iisph (Ihmsen et al. 2013): pressures for
 * which the next density is the density at rest. With K_i = dt^2 p_i / (rho0 delta_i^2 dx^2) and
 * lengths in cells, a displacement u and the change of density that it makes,
 *
 *     u_i = -sum_j V (K_i + K_j) grad W_ij - 2 K_i sum_b V_b grad W_ib
 *     (A K)_i = sum_j V (u_i - u_j) . grad W_ij + 2 u_i . sum_b V_b grad W_ib,
 *
 * and s_i = 1 - delta_i - dt D delta_i / Dt is to be made good (1 - delta_i in proportion in a step
 * that is cut short): A K = s, K >= 0 (where a liquid would
 * have to be held together, it comes apart). Damped Jacobi: K_i <- max(0, K_i + omega (s - A K)_i /
 * A_ii), until the mean of what is too dense is below the tolerance. dfsph does the same once more
 * for the velocity at the start of a step, with s_i = -dt D delta_i / Dt. The
 * density's iteration begins with the pressures of the last step, that of the velocity with none.
 *     With G_i = sum_j V grad W_ij + 2 sum_b V_b grad W_ib both sums are over the liquid alone:
 *     u_i = -K_i G_i - sum_j K_j V grad W_ij,  (A K)_i = u_i . G_i - sum_j V u_j . grad W_ij,
 * and W'(r) / r of each pair is kept from the density's sum, so an iteration has no roots in it.
 *
 * In walls the liquid's pressure goes on, p_b = p_i + rho0 g . (x_b - x_i) (mirrored: Akinci et al.
 * 2012; with its weight: Adami et al. 2012): an even pressure does not push particles into them,
 * and liquid at rest beside them does not sink. dfsph and iisph also mirror its way towards them.
 * Sticky ones also mirror its velocity along them (Morris et al. 1997): v_b = v_wall - (d_b / d_i)
 * (v_i - v_wall) for the distances d of both to the surface, so that the velocity there is the
 * wall's; others carry no viscous stress.
 *
 * Nothing is scattered: every particle gathers over its own list, in the list's order, so results
 * do not depend on the number of threads. 2D runs the same code with z = 0.
 *
 * Positions are kept in cells, wrapped into a box of `period` cells along each axis that is
 * periodic or long, so that differences are as precise far from the origin as near it (but on
 * periodic axes of more than 256 cells that have no divisor between 32 and 256).
 *
 * Files: sph.c (options, time step, stages), lists.c (neighbours), records.c (what is summed over),
 * move.c, implicit.c (dfsph, iisph), tension.c (of the surface), boundary.c and boundary_sampling.c
 * (particles in walls), reaction.c (forces on colliders), rest.c (bodies at rest), kernel.c;
 * view.h, sums.h and sph_kernels.c (the sums, compiled once for each instruction set), reference.c
 * (the sums, plainly).
 */
#ifndef SPATE_SOLVER_SPH_H
#define SPATE_SOLVER_SPH_H

#include "solver/impulses.h"
#include "solver/sph/boundary.h"
#include "solver/sph/view.h"
#include "solver/stages.h"

enum { SPH_GRAIN = 256 }; /* rows of a chunk */

typedef enum sph_method { SPH_WCSPH, SPH_DFSPH, SPH_IISPH } sph_method;
typedef enum sph_viscosity { VISCOSITY_MUELLER, VISCOSITY_MORRIS } sph_viscosity;
typedef enum sph_equation { EQUATION_LINEAR, EQUATION_TAIT } sph_equation;

typedef struct sph_options {
    int pressure;   /* sph_method */
    int kernel;     /* sph_kernel + 1; 0: the method's */
    double support; /* spacings */
    int equation;   /* sph_equation */
    double stiffness;
    bool negative_pressure;
    int viscosity; /* sph_viscosity + 1; 0: the kernel's */
    double artificial_viscosity;
    double xsph, shifting;
    double tolerance, divergence_tolerance;
    int64_t max_iterations;
    int64_t boundary_layers;
    double skin; /* spacings */
} sph_options;

/* What a checkpoint holds besides the particles. */
typedef struct sph_memory {
    double dt;            /* of the last step */
    double acceleration;  /* the largest of the last step, m/s^2 */
    double density_error; /* mean and largest of the last step, shares */
    double most_dense;
    double divergence_error;     /* as density over a step */
    int64_t iterations;          /* of the last step's density */
    int64_t velocity_iterations; /* and of its divergence */
    int64_t failures, missed;    /* solves in a row that missed the tolerance, and in all */
    int64_t builds;              /* of the lists */
    int64_t stuck;               /* particles that no way led out of a collider */
    double neighbours;           /* mean number */
} sph_memory;

/* What a worker has seen in a move. */
typedef struct sph_extremes {
    double speed2, move2, acceleration2; /* the largest; moves in cells */
    int64_t bad;                         /* lowest particle that is not to be gone on with, or -1 */
    int64_t removed, stuck;
    char apart[64]; /* keeps workers off each other's cache lines */
} sph_extremes;

typedef struct sph sph;
typedef struct sph_tension sph_tension;

struct sph {
    spate_simulation *sim;
    const spate_scene *scene;
    pool *threads;
    const sph_options *options;
    const sph_sums *sums;
    sph_view view;
    bool lists_valid; /* they are there, and serve until particles have moved too far */
    /* fluid particles that the view's arrays have room for, and entries of pair_gradient */
    int64_t capacity, extra_capacity, implicit_capacity, pair_capacity;
    real *previous; /* by particle: K of the last iteration, without its momentum */
    sph_boundary boundary;
    sph_tension *surface;   /* NULL without tension */
    impulses impulses;      /* on colliders (reaction.c) */
    block_touches *touches; /* by occupied block, while particles move */
    sph_extremes *seen;     /* by worker */
    sph_memory memory;
    /* constants of the scene */
    sph_kernel kernel;
    double dx, spacing, support, volume, rest_density, sound; /* V, rho0, c */
    double viscosity, tension;                                /* nu, N/m */
    real gamma;                                               /* of Tait's equation */
    double viscous_damping; /* largest rate at which viscosity damps, 1/s */
    double artificial_damping;
    double lattice_density;  /* sum of V W on a lattice, the middle included */
    double lattice_gradient; /* sum of -V W'(r) r / d on it; either kind of sum is over its own */
    /* of the step */
    real correction_share; /* of what is too dense that a step is to make good: all in a step that
                                 is as long as particles' speed allows, less in a shorter one */
    const char *broken_limit; /* the first limit that solver.dt did not keep, NULL: none so far */
    double broken_step;       /* what it allowed */
};

/* lists.c: sorts, and lists neighbours where the old lists do not serve */
spate_status sph_lists(sph *s);
/* records.c: positions and velocities as the sums read them */
spate_status sph_fluid_records(sph *s);
spate_status sph_boundary_records(sph *s);
void sph_records_free(sph *s);
size_t sph_records_bytes(const sph *s);
/* x of the corner of the block at `coords`, in cells, wrapped */
void sph_wrap(const sph *s, const int32_t coords[3], real corner[3]);
/* move.c: v and x at the end of the step */
spate_status sph_move(sph *s);
/* implicit.c */
spate_status sph_divergence(void *solver);
spate_status sph_incompressible(void *solver);
/* tension.c */
spate_status sph_tension_create(sph *s, sph_tension **out); /* after the walls */
void sph_tension_free(sph_tension *t);
size_t sph_tension_bytes(const sph_tension *t);
spate_status sph_tension_accelerate(sph_tension *t); /* adds its accelerations */
/* reaction.c */
typedef enum sph_reaction { REACTION_FRICTION, REACTION_PRESSURE } sph_reaction;
spate_status sph_react(sph *s, sph_reaction part);
void sph_force(const spate_simulation *sim, int c, double force[3], double torque[3]);

/* All of a particle's pressure: dfsph's has two parts. */
static inline double sph_pressure(const particles *p, int64_t i) {
    return (double)p->pressure[i] + (p->velocity_pressure ? (double)p->velocity_pressure[i] : 0);
}

/* Runs a task over all particles: of sph; and one of its sums, of the view. */
void sph_over_particles(sph *s, chunk_task task);
void sph_sum(sph *s, chunk_task sum);
/* Stops with SPATE_UNSTABLE, naming particle i and the limit of the step that was not kept. */
spate_status sph_unstable(sph *s, int64_t i, const char *what);

/* A step is its stages, by method. */
extern const solver_stage sph_stages[][8];

extern const solver_declaration sph_declaration;
const benchmark *sph_benchmarks(void);
extern const solver_type solver_sph;

/* Pressures and places of bodies that begin at rest (rest.c). */
spate_status sph_stand(sph *s);

#endif
