/*
 * Shapes: the ellipsoid that stands for a particle, stretched along the liquid's surface.
 *
 * Yu and Turk 2013, "Reconstructing surfaces of particle-based fluids using anisotropic kernels",
 * section 4. Particles around particle i, nearer than r_i = 3 d_i (d_i its size), weighted by
 * w_j = V_j (1 - |x_j - x_i|^2 / r_i^2), have the mean m_i and the covariance C_i. With k_s C = I
 * amid the liquid the eigenvalues of k_s C_i are lengths: 1 along a surface, about 0.4 across it,
 * 0 across a single layer. Within the limits of a shape_rule they are the half axes, in units of
 * support d_i; they shrink where few particles are near. The centre moves a little towards m_i.
 *
 * The sum of all kernels, or the nearest ellipsoid, is then turned into a distance by what it is at
 * that distance from a flat surface (flat_profile), so that flat faces are where the liquid ends.
 */
#ifndef SPATE_SURFACE_SHAPES_H
#define SPATE_SURFACE_SHAPES_H

#include "core/isa.h"
#include "core/threads.h"
#include "surface/lattice.h"

/* In lattice spacings. The squared distance is d . metric d, 1 on the ellipsoid. */
typedef struct particle_shape {
    real centre[3];
    real metric[6]; /* xx xy xz yy yz zz */
    real peak;      /* of the kernel: volume over that of the ellipsoid, normalised */
    real box[3];    /* half the edges of the box around it; LONE_BOX: it is a drop by itself */
} particle_shape;

/* How the eigenvalues become half axes. */
typedef struct shape_rule {
    real support;     /* half axis of a ball amid the liquid, in sizes */
    real least, most; /* limits of the half axes, in those of that ball */
    real own;         /* peak of a kernel on its own */
    real floor;       /* no half axis is smaller, in lattice spacings */
    real move;        /* how far the centre goes towards the mean */
    real bias; /* how far above its mean height the nearest of uneven particles is, in sizes */
    real thicken_sheet, thicken_thread, thicken_spray; /* see COARSE_SPACING */
} shape_rule;

extern const shape_rule anisotropic_rule, sheets_rule;
static inline const shape_rule *shape_rule_of(surface_method method) {
    return method == SURFACE_SHEETS ? &sheets_rule : &anisotropic_rule;
}

/* Radius of the covariance, in sizes. */
#define SHAPE_RADIUS 3
/* All that a particle does is within the bricks around its own. */
#define SUPPORT_MAX (BRICK_EDGE / (real)1.2)
/* Covariance of an even filling, in squares of the radius; and the sum of its weights, in powers of
 * the radius: integrals over a disc and a ball. */
#define SHAPE_COVARIANCE(dim) ((dim) == 2 ? 1.0 / 6 : 1.0 / 7)
#define SHAPE_WEIGHT(dim)     ((dim) == 2 ? 1.5707963267948966 : 1.6755160819145563)
/* Kernel (1 - q^2)^3: its peak is this over the product of the half axes. */
#define KERNEL_PEAK(dim) ((dim) == 2 ? 1.2732395447351628 : 1.5666814710608448)
/* With this share of that sum there is no surface near. A full layer of particles has SHEET_SHARE;
 * with less, where they have come apart, kernels are up to SHEET_BOOST larger: by a slope of what
 * is lacking, which is steeper on a lattice as coarse as the particles, where a thinner sheet would
 * slip between the points. */
#define SHARE_WHOLE      0.92
#define SHEET_SHARE(dim) ((dim) == 2 ? 0.28 : 0.31)
#define SHEET_BOOST      ((real)2.5)
#define SHEET_SLOPE      ((real)0.4)
#define COARSE_SLOPE     ((real)2)
/* What the lattice takes from threads. */
#define LINE_BOOST ((real)0.4)
/* Weight of an even filling within NEAR_RADIUS sizes, in volumes; and how much less a particle's
 * own kernel must have the more of it is there: a thread, in 2D a line, needs no more than it
 * has. */
#define NEAR_RADIUS      ((real)1.5)
#define NEAR_WEIGHT(dim) ((dim) == 2 ? 3.53 : 5.65)
#define OWN_SLOPE(dim)   ((dim) == 2 ? 1.8 : 3.0)
/* Where particles are less than this far apart, in lattice spacings, thin parts are made thicker so
 * that the lattice sees them: sheets by thicken_sheet where the smallest eigenvalue is below
 * THIN_BELOW and not at all above THIN_ABOVE, threads by thicken_thread, what is narrowed to
 * less than SPARSE_BELOW by thicken_spray. */
#define COARSE_SPACING ((real)1.6)
#define SPARSE_BELOW   0.9
#define THIN_BELOW     ((real)0.12)
#define THIN_ABOVE     ((real)0.25)
/* With less around it than one particle 1.7 sizes away it is a drop, which is not left to the
 * lattice: drops.c. */
#define LONE_OTHERS ((real)0.68)
#define LONE_BOX    ((real)-1)

/* ---- A flat surface -------------------------------------------------------------------------- */

enum { PROFILE_STEPS = 128 };

/* Distance (spacings; positive outside) by what is measured there: the sum of kernels, or how far
 * the nearest ellipsoid is, both from 0 to 1 and held beyond. */
typedef struct flat_profile {
    real distance[PROFILE_STEPS + 2];
} flat_profile;

/* For particles a lattice of `spacing` apart below a flat surface, half a spacing above the first
 * layer. */
flat_profile flat_profile_create(surface_method method, int dim, double spacing);

static inline real flat_profile_at(const flat_profile *p, real measured) {
    const real at = (measured < 1 ? measured > 0 ? measured : 0 : 1) * PROFILE_STEPS;
    const int k = (int)at;
    return p->distance[k] + (at - (real)k) * (p->distance[k + 1] - p->distance[k]);
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Sums of a brick, a row of eight points each: of balls weight * offset, weight and the least
 * squared distance; of ellipsoids the sum of kernels, or the least squared distance. */
enum { BRICK_ROWS = BRICK_LAYER };
typedef struct brick_sums {
    real offset[3][BRICK_POINTS], weight[BRICK_POINTS], nearest[BRICK_POINTS];
} brick_sums;

enum { CANDIDATES = 2048 };

/* Particles around a group, from the corner of its brick: place and volume. */
typedef struct shape_candidates {
    real x[4][CANDIDATES];
    int count;
} shape_candidates;

typedef struct measure_job {
    lattice *l;
    flat_profile profile;
    uint64_t *shaped; /* cells of a brick whose particles need shapes */
    brick_sums *sums; /* one for each worker */
    shape_candidates *candidates;
} measure_job;

typedef struct surface_kernels {
    chunk_task measure[3]; /* by method: values of bricks */
    chunk_task shape[2];   /* by dimension: shapes of the particles of bricks */
} surface_kernels;

ISA_TABLES(surface_kernels, surface_kernels);

/* Shapes of all particles near the surface, and of their images: shapes.c. */
spate_status shapes_create(measure_job *job);

/* Adds a ball for each drop to a mesh in lattice coordinates: drops.c. */
spate_status surface_add_drops(const lattice *l, const surface_particle *particles,
                               surface_mesh *m);

/* Cells of a brick with points in the domain that are not deep. */
uint64_t lattice_wanted_cells(const lattice *l, int64_t brick);

#endif
