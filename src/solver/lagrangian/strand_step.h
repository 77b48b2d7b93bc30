/*
 * The semi-implicit step of strands (Fei et al. 2021, section 5; Baraff and Witkin 1998): one
 * Newton step for each strand on its own vertices. With the way w = dt (th v + c dt g) of a vertex
 * without forces but gravity's, its way d and the change phi of angles are where
 *
 *   E(x + d, theta + phi) + |d - w|_M^2 / (2 c dt^2)   is least:  (M / (c dt^2) + K) d = f + M w / (c dt^2)
 *
 * with f and K at x; angles have no inertia. Then dv = (d - w) / (c dt), that is
 *
 *   (M + c dt^2 K) dv = dt (f - K w)
 *
 * and f = M dv / dt is the force that the grid is given. c = th = 1 is backward Euler, c = 1/4 and
 * th = 0 is of second order. A strand that hangs at rest is where its forces balance, whatever dt.
 *
 *   K       stretch: exact, without the part of compressed edges that would be negative; bending and
 *           twist: Gauss-Newton, sum of w g g^T over curvatures and twist with their gradients g. So
 *           K is never negative. Unknowns in the order x_0, theta^0, x_1, ...: half a band of 10.
 *   search  d and phi are halved until the sum above falls, at most 8 times; no edge's ends move
 *           against each other by more than half of its length.
 *   motion  what dv would change of the momentum and the angular momentum of a strand that is not
 *           held is taken out again: forces within a strand have none.
 *
 *   walls   a vertex inside a collider is a million times as heavy along the normal (Baraff and
 *           Witkin 1998, section 5.1), and where the wall would have to pull the step is solved once
 *           more without it: the strand then bends as if it stood on the wall. Without this the wall, which acts on the nodes, would only answer with
 *           the inertia of the one vertex, m d / dt^2 at depth d, and tips would go through it. What
 *           its edges push with is for the collider, and the vertex gets none of it.
 *
 * Held vertices move by their w, and the turn of clamped edges is not an unknown. Strands of equal
 * length are taken four at a time.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_STRAND_STEP_H
#define SPATE_SOLVER_LAGRANGIAN_STRAND_STEP_H

#include "core/threads.h"
#include "solver/lagrangian/rods.h"

enum { STRAND_GROUP = 4 };

/* What a strand tells of its step. */
typedef struct strand_report {
    strain_energy energy; /* at x */
    double shortest;      /* edge at x */
    int halvings;
    bool folded; /* at x: no step */
} strand_report;

/* The collider that a vertex is in. */
typedef struct mesh_wall {
    int collider;            /* -1: none */
    double normal[3], speed; /* its own, along the normal */
} mesh_wall;

typedef struct strand_step {
    rod_material material;
    double dt, inertia, ahead; /* c, th */
    double gravity[3];
    /* arrays over vertices */
    const double (*x)[3], (*v)[3], *mass;
    const bool *there;           /* NULL: all are */
    const int *held;             /* NULL: none */
    const double (*turns)[3][3]; /* of holds */
    const mesh_wall *walls;      /* NULL: none */
    double *pressed;             /* out: force on walls, N */
    const double *length;
    const rod_bend *bend;
    const rod_edge *rest;
    rod_edge *edge;    /* state */
    double *reference; /* state */
    double (*f)[3];    /* out */
    /* over strands */
    const int64_t *first; /* strand s: vertices first[s] .. first[s + 1] - 1 */
    strand_report *reports;
    /* groups of strands of equal length: group g is groups[g] .. groups[g + 1] - 1 */
    const int64_t *groups;
    void *work;       /* of all workers, aligned to 64 bytes */
    size_t work_size; /* of one */
} strand_step;

/* Bytes for a worker, for strands of so many vertices. */
size_t strand_work_size(int64_t vertices);

typedef struct strand_passes {
    chunk_task step; /* over groups; data: strand_step */
} strand_passes;

#endif
