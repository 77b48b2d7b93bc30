/*
 * How phases meet: the velocity fields of one node exchange momentum (after Yan et al. 2018, whose
 * equation numbers are used, with changes).
 *
 * A node that several phases reach holds of each phase k, besides m^k and v*^k (the velocity that
 * its own forces give it, w^k here), in nodes of eight reals:
 *
 *     g^k = sum m grad w   points out of the phase (eq. 25)      V^k = sum w m / rho0
 *     P^k = dt sum V S p grad w, the impulse of its pressure; of solids p = -tr tau / d
 *
 * 1. All phases feel one gradient of pressure, each by its share of the volume, and what other
 *    stress they have of their own:
 *
 *     u^k = w^k + (V^k / sum V  sum P - P^k) / m^k
 *
 *    The article gives every phase the same sum of all forces (eq. 20); then a gap that has opened
 *    is never closed, for nothing acts on the two sides differently. Where solids alone reach a node
 *    u is w: a solid's pressure is but a part of its stress, and a share of it would push edges about.
 * 2. A phase k and the rest r, whose mass and momentum are sums, meet across
 *
 *     n = (g^k/|g^k| - g^r/|g^r|) / |...|
 *
 *    of two solids alone as solid_normals.h has it, if they touch; of three, and under a liquid, the
 *    above. Their own forces decide: with (w^k - w^r) . n > 0 they press on each other, and the share
 *    beta of (u^k - u^r) . n is taken away, whatever its sign (eq. 21-24, 26). Friction then takes
 *    from the sliding at most its coefficient times all that passed between them, m^k (u^k - w^k) . n.
 *    Otherwise they part, each with the normal part of its own w.
 *    Of two phases one is k; of more each in turn, with the velocities that the one before left.
 *    What happens to the rest happens to each of its phases.
 *    What of two liquids is drops does not meet. A particle that has more of other liquids around it
 *    than of its own is a drop, narrower than the grid can see: its nodes have no side on which it
 *    is, so a meeting there would carry all liquid around along with it. With c the shares of two
 *    phases that are no drops, the rest are c m and the impulse is c times that of above.
 * 3. Instead drops of a are dragged by what is around, b, as spheres half a cell wide are:
 *
 *     m^a du^a/dt = - 3/8 rho^b V^a / (h/2) |u^a - u^b| (u^a - u^b),   by the share 1 - c
 *
 * 4. Strain is the transpose of 1 and 2, so that pressure takes from particles the work that it does
 *    on nodes. What a phase's pressure works on is
 *
 *     U^k = sum V^j v^j / sum V,   and where it parts   U^k . n = v^k . n
 *
 *    So the rate of all volumes is div v^k + S div (U^k - v^k), and all other strain that of v^k.
 *    With U . n across faces that part, a ball in water tripled its energy; with each phase's own
 *    divergence, layers at rest grow noise of a third of their pressure.
 *
 * S: pressure and rate, where a solid is near, are means over nodes: from particles to nodes by
 * volume, and back. It is its own transpose. Without it (S = 1) every particle's volume is a
 * condition on how a liquid may slide along a solid that does not give way, more than nodes have
 * freedom: liquid then sticks to solids (locking).
 *
 * All keep the momentum of the node; 2, where phases press, and 3 never add energy. Where g^k and g^r are
 * parallel (a drop smaller than a cell) there is no normal and only 1 is done.
 *
 * Sides of the domain that are mirrors fold these sums as they do momentum; g is a vector that no
 * side sticks to.
 */
#ifndef SPATE_SOLVER_MPM_PHASES_H
#define SPATE_SOLVER_MPM_PHASES_H

#include "solver/mpm/mpm.h"

enum { INTERFACE_REALS = 8 }; /* of a node where fields meet */
enum { SHARE_REALS = 4 };     /* of a node in `differences` */
enum { NORMAL_REALS = 8 }; /* of a node where two solids meet: their normals, each with its field */
enum { MARGIN_REALS = 4 };

/* The first and last nodes of a block's tile that its particles reach, by field and axis. */
typedef struct field_extents {
    int8_t of[FIELDS_MAX][3][2];
} field_extents;

/* The passes over blocks, [dim - 2]: particles to the tiles of above, and nodes. */
typedef struct phase_passes {
    chunk_task extent[2];                          /* of blocks where another field is near */
    chunk_task pressure[2];                        /* of particles */
    chunk_task spread[2], average[2], smoothed[2]; /* smoothing.h */
    chunk_task scatter[2];
    chunk_task normals[2], margins[2]; /* solid_normals.h */
    mpm_exchange exchange[2];
    chunk_task difference[2], volume[2]; /* U - v^k at nodes, and its divergence at particles */
} phase_passes;

struct mpm_phases {
    const mpm_view *view;
    const phase_passes *passes;
    bool published;                             /* by the rule of Yan et al. */
    bool liquid[FIELDS_MAX], solid[FIELDS_MAX]; /* all of the field is; neither: glued together */
    phase_coupling couplings[FIELDS_MAX][FIELDS_MAX];
    /* of this step */
    const int32_t *tile[FIELDS_MAX]; /* block -> place in `tiles`, -1: no other field is near */
    real *tiles;
    double beta[FIELDS_MAX][FIELDS_MAX], friction[FIELDS_MAX][FIELDS_MAX];
    double drag; /* of drops: dt times their force over (speed squared, density, volume), 1/(m/s) */
    int32_t *places;        /* that `tile` points to */
    bool *near;             /* by block: a field that it has not is in it or beside it */
    field_extents *extents; /* by block, where another field is near */
    bool *mixed;            /* by block: several fields share nodes of it */
    bool *in_block;         /* by block: its particles reach such nodes, perhaps */
    int32_t *smooth_tile; /* block -> place in the two of below, -1: no solid meets another field */
    real *dilatation, *pressure;       /* by particle */
    real *numbers;                     /* those that are smoothed */
    real *number_tiles, *volume_tiles; /* one real a node */
    real *means, *volumes;             /* of the nodes of blocks, one real each */
    bool volumes_known;                /* in this step */
    bool solid_pairs;                  /* some fields are no liquids, more than one */
    bool *solids;                      /* by block: two solids meet at nodes of it */
    real *normals;                     /* of the nodes of blocks */
    real *margins;                     /* in the places of `tiles` */
    real *differences[FIELDS_MAX]; /* four reals a node: n where the phase parts, V^k / sum V, then
                                      U - v^k */
    real *all_differences;
    int64_t tile_capacity, number_capacity, place_capacity, block_capacity, difference_capacity,
        particle_capacity, normal_capacity, margin_capacity;
};

/* How many velocity fields a scene's phases need. */
int mpm_phase_fields(const spate_scene *scene);
/* The particle fields they need (PARTICLE_BIT). */
unsigned mpm_phase_particle_fields(const spate_scene *scene);
/* Nothing where a scene has one field. */
spate_status mpm_phases_create(mpm *m);
void mpm_phases_free(mpm *m);
/* Before a scatter, when tiles have been placed; after it; before a gather. */
spate_status mpm_phases_prepare(mpm *m);
void mpm_phases_scatter(mpm *m);
void mpm_phases_volume(mpm *m);
size_t mpm_phases_bytes(const mpm *m);

#endif
