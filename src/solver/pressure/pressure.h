/*
 * The pressure projection: the velocity of a liquid on a MAC grid (state/mac.h) made free of
 * divergence.
 *
 * Discretisation. Faces may be partly in solids, which enter by the open share w of each face
 * (Batty, Bertails and Bridson 2007; the form of Ng, Min and Gibou 2009), and the liquid's surface
 * lies between cells, where the pressure is 0 (ghost fluid: Gibou et al. 2002; Enright et al.
 * 2003). Of a liquid cell i (phi < 0), with p in units of density dx / dt,
 *
 *     sum over faces to liquid cells  w (p_i - p_j)  +  sum over faces to air  (w / theta) p_i
 *         = target_divergence - sum over all faces, outward  w u + (1 - w) u_wall,
 *
 *     theta = phi_i / (phi_i - phi_j), at least 0.001 (1 where the surface is put on the faces).
 *
 * Then u -= p_high - p_low across each open face, with p_i / theta for the difference across the
 * surface, and u = u_wall across closed ones. A cell with no open face is no unknown.
 *
 * Pockets: a connected region of unknowns that no surface touches can only be solved if what flows
 * into it through its walls is nothing in sum. The mean of its right-hand side is taken off (and
 * reported), and its pressure, known but for a constant, gets mean 0. Weights are stored, not
 * the diagonal, and A is applied as weights times differences in double, so that such a region is
 * exactly singular.
 *
 * Solver. Conjugate gradients with one V-cycle of multigrid as preconditioner. Solution and
 * residual are doubles, the cycle works in `real`. A level has a brick wherever the finer one has
 * any of the eight (four) within it.
 *   operator    coarse faces from the finer ones as resistors (coarsen.h), which keeps the stencil
 *               of 7 (5) points and keeps walls shut that are thinner than a coarse cell
 *   transfers   linear interpolation from a cell's own coarse cell and the nearest along each axis
 *               (the cell-centred interpolation of Mohr and Wienands 2004), with the same
 *               resistors as weights; restriction is its transpose
 *   smoother    red-black Gauss-Seidel: on the finest level red, black, red before and after the
 *               correction, on coarse ones two whole sweeps, after the correction in reverse order,
 *               so that the cycle is symmetric and, whatever the coarse operators, positive
 * The number of iterations does not grow with resolution: 6 to 8 for 1e-6 from 32^3 to 256^3, some
 * 12 where walls are thinner than a cell.
 *
 * Bricks in the midst of the liquid have no weights of their own; where memory is the limit that
 * makes half the time. Cells are kept by colour (checker.h). Half sweeps of one colour depend on no
 * order and sums are over fixed chunks, so results do not depend on the number of threads.
 *
 * Reference: PRESSURE_MIC, conjugate gradients with modified incomplete Cholesky factors (Bridson
 * 2015, section 5.4.2) on the same system, in double, one thread.
 *
 * Files: pressure.c (interface), system.c (assembly, levels), multigrid.c (cycle, iteration),
 * pockets.c, mic.c; fluxes.h, coarsen.h, relax.h, gradients.h (the passes over bricks),
 * pressure_kernels.c (all of them, compiled once for each instruction set).
 */
#ifndef SPATE_SOLVER_PRESSURE_H
#define SPATE_SOLVER_PRESSURE_H

#include "state/mac.h"

typedef enum pressure_method { PRESSURE_MULTIGRID, PRESSURE_MIC } pressure_method;

typedef struct pressure_options {
    pressure_method method;
    double tolerance;   /* of the residual's 2-norm, relative to that of the right-hand side */
    int max_iterations; /* not reaching the tolerance by then is reported, not an error */
    bool second_order;  /* surface between cells; false: on the faces */
} pressure_options;

/* Multigrid, tolerance 1e-6, 200 iterations, second order. */
pressure_options pressure_defaults(void);

typedef struct pressure_report {
    int iterations;
    double residual; /* relative, computed anew from the solution */
    bool converged;
    double
        divergence; /* largest outflow of a liquid cell that is left, over the area of a face, m/s */
    int pockets;    /* regions of liquid without surface */
    double incompatible; /* largest mean outflow that had to be taken off one, m/s */
    int64_t unknowns;
} pressure_report;

typedef struct pressure pressure; /* memory, kept between steps */

spate_status pressure_create(spate_context *ctx, pressure **out);
void pressure_free(pressure *p);
size_t pressure_bytes(const pressure *p);

/* Makes m->velocity free of divergence in the liquid. Writes m->pressure (0 outside the liquid) and
 * sets bit a of m->valid where face a is open and next to a liquid cell. Faces between two cells
 * that are not liquid stay as they are. A brick that the grid does not have counts as air with phi
 * 1 behind open faces at rest. */
spate_status pressure_project(pressure *p, mac *m, const pressure_options *options,
                              pressure_report *report);

/* The same for another velocity on the same liquid, right after: phi and open are as they were. */
spate_status pressure_project_again(pressure *p, mac *m, const pressure_options *options,
                                    pressure_report *report);

/* Takes the gradient of m->pressure off m->velocity, as a projection does with its own. */
void pressure_accelerate(pressure *p, mac *m, const pressure_options *options);

/* Only solves the system, into m->pressure; `rhs` of every cell in the grid's order, or NULL for
 * that of the projection. Leaves report->divergence 0. */
spate_status pressure_solve(pressure *p, mac *m, const double *rhs, const pressure_options *options,
                            pressure_report *report);

#endif
