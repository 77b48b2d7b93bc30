/*
 * Finite elements with linear shape functions: triangles in 2D (per metre of depth), tetrahedra in
 * 3D. F = D_s B with the edges D_s of the deformed element and B = D_m^-1 of the one at rest; the
 * forces on corners 1 .. d are the columns of -V P B^T, and corner 0 has what makes them sum to
 * nothing (Sifakis and Barbic 2012).
 *
 *   neo-Hookean (Simo)  psi = mu/2 (J^(-2/d) F:F - d) + kappa/2 ((J^2 - 1)/2 - ln J)
 *   fixed corotated     psi = mu |F - R|^2 + lambda/2 (J - 1)^2, F = R S
 *
 * kappa is lambda + 2 mu / d, that of the dimension: with the one of 3D, waves in 2D are 10 % off.
 * The first law has no stress at J <= 0, the second has one for every F.
 */
#ifndef SPATE_SOLVER_FE_H
#define SPATE_SOLVER_FE_H

#include <stdbool.h>

typedef enum fe_law { FE_NEO_HOOKEAN, FE_FIXED_COROTATED } fe_law;

typedef struct fe_material {
    fe_law law;
    double shear, bulk, lambda; /* mu, kappa of the dimension, lambda */
} fe_material;

/* An element at rest. */
typedef struct fe_element {
    double B[3][3]; /* 1/m */
    double volume;  /* m^3, in 2D m^2 */
} fe_element;

/* What a deformed element tells. */
typedef struct fe_report {
    double energy;   /* J; in 2D per metre */
    double J;        /* <= 0: turned inside out */
    double stretch;  /* trace of F^T F over the dimension */
    double altitude; /* least height of a corner over the side that faces it, m */
} fe_report;

/* Of corners X at rest; false where they span no volume, or a negative one. */
bool fe_rest(int dim, const double X[4][3], fe_element *out);
/* First Piola-Kirchhoff stress and energy density of F; where J <= 0 the neo-Hookean law has
 * neither, and both are zero. */
double fe_stress(const fe_material *m, int dim, const double F[3][3], double P[3][3],
                 double *energy);
/* dP/dF, by row and column of F (dim r + c of entry r, c); symmetric. */
void fe_moduli(const fe_material *m, int dim, const double F[3][3], double A[9][9]);
/* Forces on the corners, N; in 2D N/m. */
fe_report fe_forces(const fe_material *m, int dim, const fe_element *e, const double x[4][3],
                    double f[4][3]);
/* The rotation R of F = R S, with det R = 1 also where F is inverted. */
void fe_rotation(int dim, const double F[3][3], double R[3][3]);

#endif
