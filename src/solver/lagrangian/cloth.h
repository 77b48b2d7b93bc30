/*
 * Cloth: triangles in space with a membrane in plane stress (St. Venant-Kirchhoff)
 *
 *   F = D_s B (3x2), G = (F^T F - I) / 2, psi = E2/2 ((1 - nu) G:G + nu tr(G)^2) per area,
 *   E2 = E t / (1 - nu^2), S = E2 ((1 - nu) G + nu tr(G) I), f = -A F S B^T
 *
 * and hinges at the inner edges that resist bending. A hinge's angle theta is 0 where its two
 * triangles are flat. Two laws give the moment M = dE/dtheta of a hinge, D = E t^3/(12 (1 - nu^2)):
 *
 *   shape operator  of each triangle Lam = sum_i theta_i l_i / (2 A) n_i n_i^T over its edges, with
 *                   n_i across them in its plane, E = A D/2 ((1 - nu) Lam:Lam + nu tr(Lam)^2) =
 *                   theta^T K theta / 2. It has the plate's D and nu on equilateral triangles and
 *                   on squares with one diagonal, in every direction. At an edge without a
 *                   neighbour the angle is the one that makes the moment there zero, as at the
 *                   free edge of a plate: it is eliminated from K.
 *   hinge           E = D/6 3 |e|^2 / (A1 + A2) theta^2 (Grinspun et al. 2003), for comparison: up
 *                   to three times too stiff across the squares' diagonals.
 */
#ifndef SPATE_SOLVER_CLOTH_H
#define SPATE_SOLVER_CLOTH_H

#include <stdbool.h>

typedef struct cloth_material {
    double stretch; /* E2, N/m */
    double bend;    /* D, N m */
    double poisson;
} cloth_material;

/* Of a solid's moduli, m and Pa. */
cloth_material cloth_material_of(double young_modulus, double poisson, double thickness);

typedef struct membrane {
    double B[2][2]; /* 1/m */
    double area;
} membrane;

/* Of corners at rest; false where they span no area. */
bool membrane_rest(const double X[3][3], membrane *out);
/* Forces on the corners; returns the energy, and the least height of a corner in *altitude. */
double membrane_forces(const cloth_material *m, const membrane *e, const double x[3][3],
                       double f[3][3], double *altitude);

/* Angle of the hinge along x[0] x[1] with the triangles (0, 1, 2) and (1, 0, 3), positive where the
 * two fold towards their back; and its gradient. */
double hinge_angle(const double x[4][3]);
void hinge_gradient(const double x[4][3], double gradient[4][3]);

/* K of a triangle at rest, for its edges k from corner k to k + 1, where `inner[k]` tells whether
 * there is a hinge. */
void bending_stiffness(const cloth_material *m, const double X[3][3], const bool inner[3],
                       double K[3][3]);
/* dM/dtheta of a hinge by the other law, from its edge and the areas beside it. */
double hinge_stiffness(const cloth_material *m, double edge, double areas);

#endif
