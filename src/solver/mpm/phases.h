/*
 * How phases meet: the velocity fields of one node exchange momentum (after Yan et al. 2018, whose
 * equation numbers are used, with two changes).
 *
 * A node that several phases reach holds of each phase k, besides m^k and v*^k (the velocity that
 * its own forces give it, w^k here), in nodes of eight reals:
 *
 *     g^k = sum m grad w   points out of the phase (eq. 25)      V^k = sum w m / rho0
 *     P^k = dt sum V p grad w, the impulse of a liquid's pressure; 0 of what is no liquid
 *
 * 1. All phases feel one gradient of the liquids' pressure, each by its share of the volume, and what
 *    stress they have of their own:
 *
 *     u^k = w^k + (V^k / sum V  sum P - P^k) / m^k
 *
 *    The article gives every phase the same sum of all forces (eq. 20); then a gap that has opened
 *    is never closed, for nothing acts on the two sides differently.
 * 2. A phase k and the rest r, whose mass and momentum are sums, meet across
 *
 *     n = (g^k/|g^k| - g^r/|g^r|) / |...|
 *
 *    Their own forces decide: with (w^k - w^r) . n > 0 they press on each other, and the share beta of
 *    (u^k - u^r) . n is taken away, whatever its sign (eq. 21-24, 26). Friction then takes from the
 *    sliding at most its coefficient times all that passed between them, m^k (u^k - w^k) . n.
 *    Otherwise they part, each with the normal part of its own w.
 *    Of two phases one is k; of more each in turn, with the velocities that the one before left.
 *    What happens to the rest happens to each of its phases.
 *
 * 3. Where phases slide along each other, pressure works on all of them: on
 *
 *     U = sum V^k v^k / sum V
 *
 *    So liquids take the rate of their volume from the divergence of U, and all other strain from
 *    their own phase's v. With their own divergence the work of pressure on what slides is not what
 *    the particles lose, and layers at rest grow noise of a third of their pressure.
 *
 * Both steps keep the momentum of the node, and the second never adds energy. Where g^k and g^r are
 * parallel (a drop smaller than a cell) there is no normal and only 1 is done.
 *
 * Sides of the domain that are mirrors fold these sums as they do momentum; g is a vector that no
 * side sticks to.
 */
#ifndef SPATE_SOLVER_MPM_PHASES_H
#define SPATE_SOLVER_MPM_PHASES_H

#include "solver/mpm/mpm.h"

enum { INTERFACE_REALS = 8 }; /* of a node where fields meet */
enum { SHARE_REALS = 4 };     /* of a node in `shares` and `differences` */

/* The passes over blocks, [dim - 2]: particles to the tiles of above, and nodes. */
typedef struct phase_passes {
    chunk_task scatter[2];
    mpm_exchange exchange[2];
    chunk_task difference[2], volume[2]; /* U - v^k at nodes, and its divergence at particles */
} phase_passes;

struct mpm_phases {
    const mpm_view *view;
    const phase_passes *passes;
    bool published; /* by the rule of Yan et al. */
    phase_coupling couplings[FIELDS_MAX][FIELDS_MAX];
    /* of this step */
    const int32_t *tile[FIELDS_MAX]; /* block -> place in `tiles`, -1: no other field is near */
    real *tiles;
    double beta[FIELDS_MAX][FIELDS_MAX], friction[FIELDS_MAX][FIELDS_MAX];
    int32_t *places; /* that `tile` points to */
    bool *mixed;     /* by block: several fields share nodes of it */
    real *shares;    /* of its nodes, four reals each: V^k / sum V, 0 where one phase is alone */
    real *differences[FIELDS_MAX]; /* U - v^k, four reals a node */
    real *all_differences;
    int64_t tile_capacity, place_capacity, block_capacity, difference_capacity;
};

/* How many velocity fields a scene's phases need. */
int mpm_phase_fields(const spate_scene *scene);
/* Nothing where a scene has one field. */
spate_status mpm_phases_create(mpm *m);
void mpm_phases_free(mpm *m);
/* Before a scatter, when tiles have been placed; after it; before a gather. */
spate_status mpm_phases_prepare(mpm *m);
void mpm_phases_scatter(mpm *m);
void mpm_phases_volume(mpm *m);
size_t mpm_phases_bytes(const mpm *m);

#endif
