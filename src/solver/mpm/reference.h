/*
 * The transfers of a step as plain loops in double on a dense grid: what the fast passes must give
 * (test_mpm_reference.c), and where to begin reading. No boundaries, no materials.
 */
#ifndef SPATE_SOLVER_MPM_REFERENCE_H
#define SPATE_SOLVER_MPM_REFERENCE_H

#include "state/particles.h"

typedef struct reference_particle {
    double x[3];          /* cells; node i is at i */
    double mass, density; /* the latter at rest */
    double v[3], C[3][3]; /* C[r][a]: change of v_r over a cell along axis a */
    double D[3];      /* linear kernel and GIMP: second moments, in cells^2, where C was gathered */
    double tau[3][3]; /* Kirchhoff stress, Pa */
    double modes[POLY_MODES_MAX][3];
} reference_particle;

typedef struct reference_node {
    double mass, momentum[3], impulse[3];
    double v_old[3], v[3]; /* v^n and v* */
} reference_node;

enum { REFERENCE_GIMP = 4 };

typedef struct reference_step {
    int dim, order; /* of the B-spline: 1, 2, 3; or REFERENCE_GIMP */
    bool affine;    /* the particle's affine part is scattered */
    bool flip;      /* v_p = vpic + adj, else vpic */
    double alpha, beta;
    int mode_count; /* of PolyPIC beyond the affine ones: 9 e_x + 3 e_y + e_z, in 2D 3 e_x + e_y */
    const uint8_t *mode;
    const real *mode_scale;
    double dx, dt, gravity[3];
    int nodes[3]; /* along each axis; 1 along z in 2D */
    reference_node *grid;
} reference_step;

void reference_p2g(const reference_step *s, const reference_particle *p);
void reference_grid(const reference_step *s);
void reference_g2p(const reference_step *s, reference_particle *p);

#endif
