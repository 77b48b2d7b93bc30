/*
 * The semi-implicit step of cloth and finite elements: as strand_step.h, for a whole mesh, with a
 * system that is solved by conjugate gradients,
 *
 *   (M / (c dt^2) + K) z = f - K w,   dv = z / (c dt)
 *
 * with z = 0 at held vertices, w the way without forces but gravity's. K is applied element by
 * element and never negative:
 *
 *   fe        V B (dP/dF) B^T with the negative eigenvalues of dP/dF at 0 (Teran et al. 2005)
 *   membrane  dP = F dS + dF S, the second part with the tensions of S only
 *   hinges    g K g^T with the gradients g of angles (Gauss-Newton), each the sum of what the two
 *             triangles beside it have along their normals
 *
 * The preconditioner is the inverse of K's blocks at vertices. Sums are over fixed chunks, so one
 * mesh uses all threads and the bits do not depend on them.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_MESH_SYSTEM_H
#define SPATE_SOLVER_LAGRANGIAN_MESH_SYSTEM_H

#include "solver/lagrangian/mesh_step.h"

spate_status mesh_system_create(lagrangian_mesh *m, mesh_system **out);
/* Whether it is solved by elimination (sparse_direct.h), where that is there. */
spate_status mesh_system_choose(lagrangian_mesh *m, mesh_system *s, bool direct);
void mesh_system_free(spate_context *ctx, mesh_system *s);
/* As mesh_step_forces(). */
void mesh_system_forces(lagrangian_mesh *m, const mesh_positions *at, const mesh_motion *how,
                        double (*f)[3]);

#endif
