/*
 * Contact elements (Jiang, Gast and Teran 2017): the triangles of cloth and of the skins of finite
 * elements, segments of strands, edges in 2D. What is around an element shears and compresses the
 * directions d_n across it, which the grid carries, d_n <- (I + dt C) d_n; those along it are its
 * own edges. With F = Q R, whose first columns are the tangents,
 *
 *   one normal   psi = g/2 |s|^2 + k/3 (1 - r)^3 for r < 1, else 0;  s = R_tn, r = R_nn
 *   strands      psi = g/2 |s|^2 + Simo's neo-Hookean law in two dimensions of the block R_nn
 *
 * and tau = Q K Q^T, K the upper triangle of (dpsi/dR) R^T, mirrored. The columns of the stress P
 * that belong to normals act through the vertices on the nodes, those that belong to tangents are
 * forces on the vertices; without the latter, angular momentum would not be kept.
 *
 * Friction: an element that is pulled apart has no stress and forgets its shear. Else its shear
 * traction K_tn is at most tan(phi) times its pressure -K_nn; in the block of a strand the deviator
 * is at most sqrt(2) sin(phi) times the pressure (Drucker-Prager).
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_CONTACT_ELEMENT_H
#define SPATE_SOLVER_LAGRANGIAN_CONTACT_ELEMENT_H

#include <stdbool.h>

typedef struct contact_material {
    double normal;        /* k, Pa */
    double shear;         /* g, Pa */
    double bulk, block;   /* kappa and mu across a strand, Pa */
    double tangent, sine; /* of phi */
} contact_material;

/* How many directions an element has along it and across it. */
typedef struct contact_kind {
    int tangents, normals;
} contact_kind;

/* Of a volume of 1. Without a load there are no forces, moments and energy: they are not written. */
typedef struct contact_response {
    bool loaded;
    bool reset;         /* it was turned inside out, and begins anew */
    bool lost;          /* its corners span nothing: no response */
    double compression; /* 1 - r, of a strand 1 - J of the block */
    double energy;
    double force[3][3];  /* on its corners: of the tangents' columns */
    double moment[3][3]; /* sum over normals of P_n d_n^T */
} contact_response;

/* Unit normals of corners x. */
bool contact_normals(contact_kind kind, const double x[3][3], double d[2][3]);
/* What corners x and normals d make; d is returned to where friction lets it be. */
void contact_respond(const contact_material *m, contact_kind kind, const double x[3][3],
                     double d[2][3], contact_response *out);

#endif
