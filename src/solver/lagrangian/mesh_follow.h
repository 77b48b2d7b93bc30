/*
 * Positions that follow a semi-implicit step. The step of a mesh (mesh_step.h) counts on its
 * vertices to go by dt^2 f/m under its forces f. The grid moves them by what it sees of that, which
 * is little where vertices are a fraction of a cell apart, as in a bundle of strands: they follow
 * late, and with long steps forces grow faster than positions can make up for them. So after the
 * gather each strand, cloth or body of elements goes a share of what it lacks along its ways dt^2
 * f/m, towards where its step would have taken it.
 *
 * A mesh that bears a load lacks the whole of its ways too, and must not follow them: it would go up
 * through what lies on it, a little in every step. Its forces are steady. So where there is other
 * matter around, of another body too, f is what differs from its mean over some fifty steps before
 * (state): what stays as it is has no ways there. Among its own kind a strand follows all: what is
 * locked in a bundle only because the grid sees one motion comes free.
 *
 * Ways are no motion: the places of the step before go along. Those of what is neither held nor
 * pressed add up to nothing, as its forces do, so its middle goes where its momentum takes it. They
 * end at closed sides, and do not lead further into colliders.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_MESH_FOLLOW_H
#define SPATE_SOLVER_LAGRANGIAN_MESH_FOLLOW_H

#include "solver/lagrangian/mesh_step.h"
#include "solver/solver.h"

typedef struct mesh_follow {
    spate_simulation *sim;
    const lagrangian_mesh *mesh;
    double time; /* that forces act for, s */
    /* arrays over its vertices: as at the beginning of the step */
    const uint32_t *particle;
    const int32_t *block;
    const bool *there;
    const int *held;
    const double (*x)[3], (*v)[3], (*f)[3];
    const mesh_wall *walls; /* NULL: none */
    double (*before)[3];    /* places of the step before: they go along */
    const int *around;      /* by block: the part whose vertices alone are in it and beside it */
    int part;               /* of this mesh */
    double (*steady)[3];    /* forces that last, N: state */
    double *farthest;       /* by worker: the longest way yet, m */
} mesh_follow;

void mesh_follow_step(const mesh_follow *m);

#endif
