/*
 * What happens on nodes, block by block while a block is in cache:
 *
 *   sum_tiles              m_i, (m v)_i and dt f_i: the tiles around added up (tiles.h)
 *   momentum_to_velocity   v^n = (m v)_i / m_i
 *   apply_forces           v* = v^n + dt f_i / m_i + dt g
 *   exchange_fields        what velocity fields do to each other; nothing with one field
 *   apply_boundaries       impulses out of thin colliders, sources, colliders, walls on v*
 *
 * v^n is the momentum of the particles over their mass, affine part included. Where nodes have no
 * room for it (four reals) the sum of momentum holds dt f_i too.
 */
#ifndef SPATE_SOLVER_GRID_H
#define SPATE_SOLVER_GRID_H

#include "solver/mpm/penetration.h"
#include "solver/sources.h"

/* ---- Momentum and forces --------------------------------------------------------------------- */

/* Where a node has eight reals, both of its sums become velocities. */
INLINE void momentum_to_velocity(const mpm_view *m, real *v, real *masses, int node, int dim) {
    for (int n = 0; n < block_nodes(dim); n++) {
        real *at = v + node * n, mass = at[3];
        const bool empty = !(mass > m->negligible);
        masses[n] = empty ? mass - mass : mass; /* 0, or NaN kept */
        quad per_mass = quad_splat(1 / mass);
        for (int k = 0; k < node; k += 4) {
            quad velocity = quad_load(at + k) * per_mass;
            velocity[3] = 0;
            quad_store(at + k, empty ? quad_splat(masses[n]) : velocity);
        }
    }
}

INLINE void apply_forces(const mpm_view *m, real *v, const real *masses, int node, int dim) {
    const quad gravity = quad_load(m->gravity);
    for (int n = 0; n < block_nodes(dim); n++) {
        if (!(masses[n] > 0)) continue;
        real *at = v + node * n;
        quad velocity_old = quad_load(at), velocity = velocity_old;
        if (node == 8) {
            velocity += quad_load(at + 4);
            quad_store(at + 4, velocity_old);
        }
        quad_store(at, velocity + gravity);
    }
}

INLINE void exchange_fields(const mpm_view *m, mpm_nodes *nodes) {
    if (m->exchange) m->exchange(m->exchange_data, m, nodes);
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

/* What of sources, colliders and walls is within reach of a block. */
typedef struct near_boundaries {
    boundary_part solid;
    bool source, side;
} near_boundaries;

/* Whether any node of the block is on or behind a side of the domain. */
INLINE bool at_wall(const domain *d, const int32_t *coords, int dim) {
    for (int a = 0; a < dim; a++)
        if (coords[a] <= 0 || (int64_t)coords[a] * BLOCK_EDGE + BLOCK_EDGE > d->cells[a])
            return true;
    return false;
}

INLINE near_boundaries boundaries_near(const mpm_view *m, int32_t block, int dim) {
    const domain *d = m->domain;
    const int32_t *coords = m->coords[block];
    const double root_dim = dim == 2 ? 1.415 : 1.733; /* rounded up */
    double middle[3] = {0}, reach = d->dx * BLOCK_EDGE * 0.5 * root_dim;
    for (int a = 0; a < dim; a++)
        middle[a] =
            d->origin[a] + ((double)coords[a] * BLOCK_EDGE + 0.5 * (BLOCK_EDGE - 1) - 1) * d->dx;
    bool seam = simulation_at_seam(m->sim, block);
    return (near_boundaries){
        .solid = seam ? boundary_all(m->boundary) : boundary_around(m->boundary, middle, reach),
        .source = m->source_count && (seam || sources_near(m->sim, middle, reach)),
        .side = at_wall(d, coords, dim),
    };
}

/* Node n of the block at `coords`: its place on the grid and in the world. */
INLINE void place_node(const mpm_view *m, const int32_t *coords, int n, boundary_node *node,
                       int dim) {
    const domain *d = m->domain;
    for (int a = dim - 1; a >= 0; a--, n /= BLOCK_EDGE) {
        int64_t at = (int64_t)coords[a] * BLOCK_EDGE + n % BLOCK_EDGE;
        if (m->period[a] && at < 1) at += d->cells[a]; /* the same one, inside */
        node->at[a] = at;
        node->x[a] = d->origin[a] + (double)(at - 1) * d->dx;
    }
}

/* Colliders on one node, and what it does to them. */
static void collide_node(const mpm_view *m, const boundary_part *solid, boundary_node *node) {
    for (int k = 0; k < solid->count; k++) {
        double lost[3];
        int c;
        vec_copy(lost, node->v);
        if (!boundary_part_apply_one(solid, k, node->x, node->v, &c)) continue;
        vec_sub(lost, lost, node->v);
        vec_scale(lost, (double)node->mass, lost);
        touches_note(m->sim, &m->touches[node->block], c, node->x, lost);
        if (node->shares) mpm_contact_node(m, node->block, c, node->shares, node->mass, lost);
    }
}

/* All of them on node n of a block. */
static void constrain_node(const mpm_view *m, boundary_node *node, int n,
                           const near_boundaries *near, const node_loads *loads, real *v, int dim) {
    for (int a = 0; a < 3; a++) node->v[a] = (double)v[a];
    node->shares = m->contacts.count && loads->any ? loads->shares + LOAD_REALS * n : NULL;
    place_node(m, m->coords[node->block], n, node, dim);
    if (is_loaded(loads, n)) apply_load(m, &loads->solid, loads->loads + LOAD_REALS * n, node);
    if (near->source) sources_velocity(m->sim, node->x, node->v);
    if (near->solid.count) collide_node(m, &near->solid, node);
    apply_walls(m, node->at, node->v, dim);
    for (int a = 0; a < dim; a++) v[a] = (real)node->v[a];
}

INLINE void apply_boundaries(const mpm_view *m, const mpm_nodes *nodes, int f,
                             const near_boundaries *near, int node, int dim) {
    node_loads loads;
    sum_loads(m, nodes->block, f, &loads, dim);
    const bool constrained = near->solid.count || near->source || near->side;
    if (!constrained && !loads.any) return;
    for (int n = 0; n < block_nodes(dim); n++) {
        boundary_node at = {.block = nodes->block, .mass = nodes->mass[f][n]};
        if (at.mass > 0 && (constrained || is_loaded(&loads, n)))
            constrain_node(m, &at, n, near, &loads, nodes->velocity[f] + node * n, dim);
    }
}

/* ---- The pass -------------------------------------------------------------------------------- */

/* Whether particles of field f may reach a block's nodes. With one field they do, or nobody asks. */
INLINE bool reaches_block(const mpm_view *m, int32_t block, int f, int dim) {
    const int32_t *neighbours = m->neighbours[block];
    for (int n = 0; n < neighbour_count(dim) && m->field_count > 1; n++)
        if (neighbours[n] >= 0 && m->tile[f][neighbours[n]] >= 0) return true;
    return m->field_count == 1;
}

INLINE void grid_block(const mpm_view *m, int32_t block, int node, int dim) {
    mpm_nodes nodes;
    bool reached[FIELDS_MAX];
    nodes.block = block;
    for (int f = 0; f < m->field_count; f++) {
        real *v = nodes.velocity[f] = m->velocities[f] + block * block_reals(dim, node);
        reached[f] = reaches_block(m, block, f, dim);
        if (!reached[f]) {
            memset(nodes.mass[f], 0, sizeof nodes.mass[f]);
            continue;
        }
        sum_tiles(m->neighbours[block], m->tile[f], m->tiles, v, node, dim);
        momentum_to_velocity(m, v, nodes.mass[f], node, dim);
        apply_forces(m, v, nodes.mass[f], node, dim);
    }
    exchange_fields(m, &nodes);
    const near_boundaries near = boundaries_near(m, block, dim);
    for (int f = 0; f < m->field_count; f++)
        if (reached[f]) apply_boundaries(m, &nodes, f, &near, node, dim);
}

INLINE void grid_chunk(const void *data, chunk items, transfer_family family, int dim) {
    for (int64_t k = items.begin; k < items.end; k++)
        grid_block(data, (int32_t)k, node_reals(family), dim);
}

#endif
