/*
 * The contact elements of a mesh (contact_element.h): all triangles of a cloth, all segments of
 * strands, the skin of finite elements. Forces of an element are kept apart, and every vertex adds
 * up its own in a fixed order.
 *
 * An element is carried by the mean of the velocity gradients of its vertices, and its stress acts
 * through them: a vertex at x_q gives node i the force -w_iq / D M_q (x_i - x_q), M_q the sum of the
 * elements' V P_n d_n^T over their number of corners. So work and both momenta are kept. With
 * weights taken at an element's middle it would reach nodes without mass.
 *
 * State: the normals.
 */
#ifndef SPATE_SOLVER_LAGRANGIAN_MESH_CONTACT_H
#define SPATE_SOLVER_LAGRANGIAN_MESH_CONTACT_H

#include "core/threads.h"
#include "solver/lagrangian/contact_element.h"
#include "solver/lagrangian/mesh.h"

typedef struct contact_report {
    double energy;      /* J */
    double compression; /* largest */
    int64_t resets;     /* elements that were turned inside out */
} contact_report;

typedef struct mesh_contact {
    spate_context *ctx;
    contact_material material;
    contact_kind kind;
    int64_t count;
    int32_t (*corners)[3];
    double *volume;          /* of elements, m^3 */
    double lightest;         /* least mass of an element over its volume, kg/m^3 */
    double (*normals)[2][3]; /* state; lent by the owner */
    contact_response *responses;
    int64_t *first, *slots; /* vertex v: corners slots[first[v]] .. as element * 3 + corner */
} mesh_contact;

/* Makes the elements of a mesh; `normals` is left to contact_lend(). */
spate_status mesh_contact_create(const lagrangian_mesh *m, const contact_material *material,
                                 double thickness, mesh_contact *out);
void mesh_contact_free(mesh_contact *c);
/* Where the normals are kept, and what they are in the beginning. */
void mesh_contact_lend(mesh_contact *c, double (*normals)[2][3], const double (*x)[3]);

/* Adds forces f and writes moments M of all vertices. */
contact_report mesh_contact_forces(mesh_contact *c, const mesh_positions *at, int64_t vertices,
                                   double (*f)[3], double (*moment)[3][3]);
/* The largest compression of a vertex's elements in the last forces; of strands 0, whose blocks are
 * pressed from all sides. */
double mesh_contact_compression(const mesh_contact *c, int64_t vertex);
/* Carries the normals for dt with gradients C of the vertices' velocities. */
void mesh_contact_carry(mesh_contact *c, const bool *there, const double (*C)[3][3], double dt);
/* Speed of waves in what is pressed together so far. */
double mesh_contact_speed(const mesh_contact *c, double compression);

#endif
