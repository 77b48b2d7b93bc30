/*
 * Strands: discrete elastic rods (Bergou et al. 2008, 2010). A strand is a polyline with vertices
 * x_i and edges e^j = x_(j+1) - x_j, each of which has a director u, across it, and an angle theta
 * by which the material frame m_1, m_2 is turned from (u, t x u) about the tangent t.
 *
 *   kb_i = 2 t^- x t^+ / (1 + t^-.t^+),  k1 = (m2^- + m2^+).kb / 2,  k2 = -(m1^- + m1^+).kb / 2
 *   m_i  = theta^i - theta^(i-1) + ref_i, ref_i the twist of the directors
 *   E    = sum_j EA/2 (|e|/l - 1)^2 l + sum_i 1/(2 l_i) (EI sum_k (k_k - k0_k)^2 + GJ (m - m0)^2)
 *
 * with l_i the mean of the rest lengths beside vertex i. Directors are carried along in time by the
 * smallest rotation of their tangent: they, the tangents, ref and theta are state. Twist has no
 * inertia: theta is where the energy is least (rods_relax), one tridiagonal system for a strand.
 *
 * Round: EA = E pi r^2, EI = E pi r^4/4, GJ = G pi r^4/2. A clamp is two held vertices and a held
 * theta; the free length begins in the middle of the clamped edge.
 */
#ifndef SPATE_SOLVER_RODS_H
#define SPATE_SOLVER_RODS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rod_material {
    double stretch, bend, twist; /* EA (N), EI, GJ (N m^2) */
} rod_material;

/* Energy by kind of strain, J. */
typedef struct strain_energy {
    double stretch, bend, twist;
} strain_energy;

static inline double strain_energy_sum(const strain_energy *e) {
    return e->stretch + e->bend + e->twist;
}

rod_material rod_material_of(double young_modulus, double poisson, double radius);

/* An edge of a strand. */
typedef struct rod_edge {
    double tangent[3];  /* when the director was last carried along */
    double director[3]; /* u */
    double angle;       /* theta */
} rod_edge;

/* A vertex between two edges, at rest. */
typedef struct rod_bend {
    double length; /* l_i */
    double curvature[2];
    double twist;
} rod_bend;

/* A strand: edge j is from vertex j to j + 1, bend j is at the vertex where edge j begins. An open
 * strand has one edge less than vertices, and bends 1 .. edges - 1; a closed one has as many. */
typedef struct rod {
    int64_t vertices;
    bool closed;
    /* at rest */
    double *length; /* of edges */
    rod_bend *bend;
    /* state */
    rod_edge *edge;
    double *reference; /* ref_i of bends */
} rod;

static inline int64_t rod_edges(const rod *r) { return r->closed ? r->vertices : r->vertices - 1; }

/* Directors without twist along a polyline, the first of them across its tangent and nearest to
 * `across`; angles zero. False where an edge has no length. */
bool rod_begin(rod *r, const double (*x)[3], const double across[3]);
/* Takes the present shape as the one at rest. */
void rod_set_rest(rod *r, const double (*x)[3]);
/* Carries the directors to where the vertices are now; false where an edge has turned by half a
 * turn, or has no length. */
bool rod_transport(rod *r, const double (*x)[3]);
/* The twist of the directors, after they were changed by others. */
void rod_references(rod *r);
/* Angles of least energy; those of the first edges and of the last are kept where they are held.
 * `work` has room for 4 numbers an edge. */
typedef struct rod_clamps {
    bool first, last;
} rod_clamps;
void rod_relax(rod *r, const rod_material *m, rod_clamps clamps, double *work);
/* Adds the forces; dE/dtheta of every edge is written unless it is NULL. Returns the energy. */
strain_energy rod_forces(const rod *r, const rod_material *m, const double (*x)[3], double (*f)[3],
                         double *torque);

#endif
