/*
 * The semi-implicit step of a mesh on its own vertices: the force that, over a step, changes their
 * momentum as the elements' forces at its end would (strand_step.h, mesh_system.h). `damping` is 0
 * for a step of second order, which keeps the energy of slow oscillations, and 1 for backward
 * Euler, whose energy falls by 1 / (1 + w^2 dt^2) in a step.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_MESH_STEP_H
#define SPATE_SOLVER_LAGRANGIAN_MESH_STEP_H

#include "solver/lagrangian/mesh.h"
#include "solver/lagrangian/strand_step.h"

typedef struct mesh_system mesh_system;

typedef struct mesh_step {
    /* of the last step */
    int64_t halvings;
    int iterations;
    strain_energy energy; /* at its beginning */
    mesh_system *system;  /* cloth and finite elements */
    /* strands */
    strand_report *reports;
    int64_t *groups, group_count;
    void *work;
    size_t work_size; /* of a worker */
} mesh_step;

/* Makes m->step; lagrangian_mesh_free() gives it back. */
spate_status mesh_step_create(lagrangian_mesh *m);
void mesh_step_free(lagrangian_mesh *m);

typedef struct mesh_motion {
    double dt, damping;
    const double (*v)[3];
    double gravity[3];      /* that acts besides */
    const mesh_wall *walls; /* strands: colliders that vertices are in; NULL: none */
    double *pressed;        /* and what edges push them with, N */
    double tolerance;       /* of systems that are solved by iterations; 0: 1e-4 */
    double (
        *guess)[3]; /* accelerations of the last step's solution, to begin from, and then of this
                           one's; NULL: none. Iterations only */
} mesh_motion;

/* As lagrangian_mesh_forces(), with the forces of a step, and m->step's numbers. */
void mesh_step_forces(lagrangian_mesh *m, const mesh_positions *at, const mesh_motion *how,
                      double (*f)[3]);

#endif
