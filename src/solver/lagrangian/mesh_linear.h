/* What mesh_system.c and mesh_eliminate.c share: a mesh where it is linearised, and the parts of K. */
#ifndef SPATE_SOLVER_LAGRANGIAN_MESH_LINEAR_H
#define SPATE_SOLVER_LAGRANGIAN_MESH_LINEAR_H

#include "solver/lagrangian/mesh_system.h"
#include "solver/lagrangian/sparse_direct.h"

/* A triangle of cloth where it is linearised: columns of F, and S without its compression; its
 * normal, and how its corners k turn the hinges at its sides by moving along it: dtheta = sum_k
 * tilt[side][k] normal . dx_k, which the triangle beyond the side has its own part of. */
typedef struct triangle_state {
    double F[2][3], S[2][2];
    double normal[3], tilt[3][3];
} triangle_state;

struct mesh_system {
    /* elements */
    double (*moduli)[9][9]; /* dP/dF of elements, by row and column of F */
    triangle_state *triangles;
    int32_t (*beyond)[3];              /* of triangles: 3 other + its side, or -1 */
    double (*turns)[3], (*moments)[3]; /* of a triangle's own, by side, for a displacement */
    /* vertices */
    double (*inverse)[3][3];
    double (*way)[3], (*z)[3], (*r)[3], (*p)[3], (*q)[3], (*y)[3], (*trial)[3];
    bool *fixed;
    int64_t *last;         /* the end of its elements in the mesh's slots */
    double inertia;        /* 1 / (c dt^2) */
    sparse_direct *direct; /* where it is solved by elimination */
};

typedef struct system_job {
    lagrangian_mesh *m;
    mesh_system *s;
    const mesh_positions *at;
    const mesh_motion *how;
    double (*f)[3];
    const double (*in)[3];
    double (*out)[3];
    double alpha;
} system_job;

static inline int mesh_corner_count(const lagrangian_mesh *m) { return m->fe ? m->dim + 1 : 3; }

/* What the corners of a membrane answer to a change dF, by column, and those of a finite element. */
void mesh_membrane_response(const cloth_material *law, const membrane *e, const triangle_state *at,
                            const double dF[2][3], double out[4][3]);
void mesh_fe_response(const lagrangian_mesh *m, const mesh_system *s, int64_t e,
                      const double dF[3][3], double out[4][3]);
/* dM/dtheta of the hinge at a side, of this triangle's share. */
double mesh_own_stiffness(const lagrangian_mesh *m, int64_t t, int side);

/* z = A^-1 r by elimination, once mesh_system_choose() has prepared it; false where A was not
 * positive. */
bool mesh_eliminate(const system_job *job);

#endif
