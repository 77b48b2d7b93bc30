/*
 * Boundary particles (Akinci et al. 2012): colliders and closed sides of the domain are filled with
 * points along their surface, which take part in the liquid's sums as if they were of it.
 *
 * Points lie in layers below the surface, layer k at the depth (k + 1/2) s for the liquid's spacing
 * s, so that the liquid's lattice goes on in a flat wall and its kernels are full. In a layer they
 * stand about s apart: where the surface is flat and along the axes, on the liquid's lattice. Parts
 * thinner than s have points half way between their sides. No place of a surface is farther than
 * about 1.3 s from a point, but for the tips of spikes.
 *
 *   volume   V = s / sum W' over the layer's own points, with the kernel W' of one dimension less:
 *            the layer's thickness times the surface that the point stands for. On the sides of the
 *            domain it is s^dim, and so it is wherever all around is the liquid's lattice.
 *   velocity that of the collider there, or of the side (domain.wall_velocity)
 *
 * They are particles in blocks of their own, with the liquid's cells, so that neighbours (state/)
 * finds them: `mass` holds the volume (m^dim), `group` the collider's number or collider_count + 2
 * axis + end for a side, `velocity` the velocity, `id` is the place in the arrays below. Colliders
 * that move carry theirs along. Parts that no liquid can reach, beyond the domain and its layers,
 * have none, nor have those behind closed sides and in other colliders, whose own points are there
 * for as long; what a collider that moves takes behind a closed side has no volume while it is
 * there (mass 0), nor has one that is not there.
 */
#ifndef SPATE_SOLVER_SPH_BOUNDARY_H
#define SPATE_SOLVER_SPH_BOUNDARY_H

#include "solver/solver.h"

typedef struct sph_boundary {
    spate_simulation *sim;
    particles particles;
    blocks blocks;
    double (*rest)[3]; /* by id: where the point is at rest, world */
    real *depth;       /* by id: below the surface, m */
    real *volume;      /* by id: m^dim */
    uint16_t *owner;   /* by id: what `group` holds */
    bool moving;       /* some collider has motion, comes or goes */
    double time;       /* where the points are now, s */
} sph_boundary;

/* `support` is the kernel's radius, m; both spacing and support as the liquid's. At time sim->time.
 * */
spate_status sph_boundary_create(spate_simulation *sim, double spacing, double support, int layers,
                                 sph_boundary *out);
void sph_boundary_free(sph_boundary *w);
/* Where the points are at a time, and how fast; sorted. boundary_move has been called for it. */
spate_status sph_boundary_move(sph_boundary *w, double time);

#endif
