/*
 * A body as a mesh on its own vertices: elements at rest, forces for given positions. Forces of an
 * element are kept apart, by corner, and every vertex adds up its own in a fixed order: nothing
 * depends on threads. An element that has lost a vertex (`there`) exerts no force.
 *
 * forces   fe       elements
 *          cloth    membranes and hinges' angles; then moments and forces of hinges
 *          strands  directors carried along, twist at its least, forces: strand by strand
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_MESH_H
#define SPATE_SOLVER_LAGRANGIAN_MESH_H

#include "core/threads.h"
#include "scene/mesh_body.h"
#include "solver/lagrangian/cloth.h"
#include "solver/lagrangian/fe.h"
#include "solver/lagrangian/rods.h"

/* Moduli of a body as it needs them. */
typedef struct mesh_material {
    double density, young_modulus, poisson;
    fe_material fe;
    cloth_material cloth;
    rod_material rod;
} mesh_material;

/* An inner edge of a cloth. */
typedef struct mesh_hinge {
    int32_t corner[4];   /* the edge's ends, and the corners that face it */
    int32_t triangle[2]; /* beside it */
    int32_t side[2];     /* which edge of these it is */
    double rest;         /* angle */
    double stiffness;    /* of the hinge's own law */
} mesh_hinge;

/* How far from rest, and what the time step depends on. */
typedef struct mesh_extremes {
    double J_min, J_max, stretch; /* of elements: as strain_range has them */
    double altitude;              /* least height of an element, or length of a segment, m */
} mesh_extremes;

typedef struct lagrangian_mesh {
    spate_context *ctx;
    const mesh_body *of;
    int dim;
    mesh_material material;
    double *mass; /* of vertices at rest, kg */
    double rest_altitude;
    /* elements */
    fe_element *fe;
    membrane *membranes;
    double (*bending)[3][3]; /* of triangles: dM/dtheta */
    int32_t (*sides)[3];     /* their hinges, -1: none */
    mesh_hinge *hinges;
    int64_t hinge_count;
    double *angles; /* of hinges, from rest */
    /* strands: arrays over vertices; the edge that begins at the vertex */
    double *lengths;
    rod_bend *bends;
    rod_edge *edges, *rest_edges; /* state, and the frames at rest */
    double *references;           /* state */
    bool lent;                    /* these belong to another */
    double *work;                 /* 4 a vertex */
    /* forces by corner, and where those of a vertex are */
    double (*parts)[3];
    int64_t *first; /* vertex v: slots first[v] .. first[v + 1] - 1 */
    int64_t *slots;
    /* as of the last forces */
    strain_energy *energies; /* of elements, then hinges; or of strands */
    mesh_extremes *seen;     /* by worker */
    mesh_extremes extremes;
    int64_t fault; /* the first element, or vertex of a strand, that is beyond its law; -1: none */
    int64_t *faults;        /* by worker */
    struct mesh_step *step; /* semi-implicit (mesh_step.h); NULL: explicit */
} lagrangian_mesh;

/* Makes it at rest; fails where an element has no volume, or a cloth an edge with three triangles:
 * the message names the element. */
spate_status lagrangian_mesh_create(spate_context *ctx, const mesh_body *of, int dim,
                                    const mesh_material *material, lagrangian_mesh *out);
void lagrangian_mesh_free(lagrangian_mesh *m);
/* Moves the state of strands to where others keep it, one entry a vertex. */
void lagrangian_mesh_lend(lagrangian_mesh *m, rod_edge *edges, double *references);

/* Where the vertices are. */
typedef struct mesh_positions {
    const double (*x)[3];
    const bool *there;           /* by vertex; NULL: all are */
    const int *held;             /* by vertex: which hold, or -1; NULL: none */
    const double (*turns)[3][3]; /* of holds: rotation since rest */
} mesh_positions;

/* Forces on all vertices, and `extremes`, `energies` and `fault`. */
void lagrangian_mesh_forces(lagrangian_mesh *m, const mesh_positions *at, double (*f)[3]);
/* Energy of the last forces; that of finite elements is all in `stretch`. */
strain_energy lagrangian_mesh_energy(const lagrangian_mesh *m);
/* Longest explicit step, s, over `share`: for waves and for bending. */
double lagrangian_mesh_step(const lagrangian_mesh *m, const mesh_extremes *at, double share);

#endif
