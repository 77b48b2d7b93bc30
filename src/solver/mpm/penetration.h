/*
 * Particles inside thin colliders are pushed out of them, and free vertices of meshes out of all.
 *
 * Conditions on nodes alone let material sink to the first row of nodes inside a collider, up to a
 * cell and more below its surface, and through a thin one where that row is nearer to its other
 * face. So a particle at depth d in a collider thinner than THIN_COLLIDER_CELLS is given the
 * impulse, along the normal there,
 *
 *     j = m max(0, SHARE min(d, DEPTH_MOST dx) / dt - v_n),   v_n its speed out of the collider,
 *
 * which stops it and takes a share of the depth back in a step (Baumgarte 1972). It goes to the
 * particle's nodes with their weights, as stress does: a pressure p up to the surface at y pushes
 * node i by p w_i(y), which is how these impulses are shared out too, wherever the surface lies
 * between the nodes. A node gets
 *
 *     (sum w j n, sum w friction j),
 *
 * and friction shortens its sliding, after all forces, by at most the second over its mass.
 *
 * A cloth or a strand is a single layer of vertices: without this all of it would lie a cell deep.
 *
 * Thick colliders do without for other matter: what is pushed out beside an opening holds up what
 * lies over it, as far as a kernel reaches, and sand ran out of a silo as if its opening were four
 * cells narrower.
 */
#ifndef SPATE_SOLVER_PENETRATION_H
#define SPATE_SOLVER_PENETRATION_H

#include "core/vec.h"
#include "solver/mpm/lanes.h"
#include "solver/mpm/tiles.h"
#include "solver/mpm/transfer.h"

#define PENETRATION_SHARE      0.1
#define PENETRATION_DEPTH_MOST 0.25 /* cells; what begins deeper inside is let out at this pace */

enum { LOAD_REALS = 4 }; /* of a node: impulse, and what friction may take */

/* One node as boundaries see it. */
typedef struct boundary_node {
    int32_t block;
    int64_t at[3]; /* on the grid */
    double x[3];   /* in the world */
    double v[3];
    real mass;
    const real *shares; /* masses of the bodies whose contacts are asked for, or NULL */
} boundary_node;

/* Whether particles of the block may be inside colliders. */
INLINE bool is_near_collider(const mpm_view *m, int32_t block) {
    for (int f = 0; f < m->field_count && m->penetration.count; f++)
        if (m->penetration.tile[f][block] >= 0) return true;
    return false;
}

/* Whether collider c pushes particle i out; what is held none does. */
static bool is_pushed(const mpm_view *m, int64_t i, int c) {
    const int role = m->particles->role ? m->particles->role[i] : ROLE_MATTER;
    const int least = role == ROLE_VERTEX ? PUSHED_VERTICES : PUSHED_ALL;
    return role != ROLE_HELD && m->penetration.pushed[c] >= least;
}

/* The impulse on particle i of a block: none where it is outside, or leaves fast enough. */
static bool penetration_load(const mpm_view *m, const boundary_part *solid, int32_t block,
                             int64_t i, quad *load) {
    const real *v = m->particles->velocity[i];
    double x[3];
    simulation_position(m->sim, block, i, x);
    int c;
    double depth = -boundary_part_nearest(solid, x, &c);
    if (!(depth > 0) || !is_pushed(m, i, c)) return false;
    double normal[3], wall_velocity[3], relative[3], dx = (double)m->dx, dt = (double)m->dt;
    boundary_distance(solid->whole, c, x, normal, wall_velocity);
    for (int a = 0; a < 3; a++) relative[a] = (double)v[a] - wall_velocity[a];
    double speed = PENETRATION_SHARE * fmin(depth, PENETRATION_DEPTH_MOST * dx) / dt -
                   vec_dot(relative, normal);
    if (!(speed > 0)) return false;
    const collider *met = &solid->whole->scene->colliders[c];
    double lost[3], j = (double)m->particles->mass[i] * speed,
                    grip = met->contact == CONTACT_STICKY ? 0 : met->friction;
    *load = (quad){(real)(j * normal[0]), (real)(j * normal[1]), (real)(j * normal[2]),
                   (real)(j * grip)};
    vec_scale(lost, -j, normal);
    touches_note(m->sim, &m->touches[block], c, x, lost);
    if (m->contacts.count) mpm_contact_particle(m, block, c, i, lost);
    return true;
}

/* A place in cells and how far around it, in cells, nothing is inside a collider. */
typedef struct clear_ball {
    double place[3], radius;
} clear_ball;

/* Whether any of `lanes` particles from i on may be inside. They are in order, so what is known
 * around one place tells most of the next ones off. */
INLINE bool may_penetrate(const mpm_view *m, const boundary_part *solid, const int32_t *coords,
                          int64_t i, int lanes, clear_ball *clear, int dim) {
    double middle[3] = {0}, x[3], radius2 = 0, gap2 = 0;
    for (int a = 0; a < dim; a++) {
        const real *at = PLANE(m->particles, position, a) + i;
        real low = at[0], high = at[0];
        for (int k = 1; k < lanes; k++) {
            low = at[k] < low ? at[k] : low;
            high = at[k] > high ? at[k] : high;
        }
        middle[a] = 0.5 * ((double)low + (double)high);
        radius2 += 0.25 * (double)((high - low) * (high - low));
        gap2 += (middle[a] - clear->place[a]) * (middle[a] - clear->place[a]);
    }
    const double rounding = 1e-3, radius = sqrt(radius2) + rounding;
    if (sqrt(gap2) + radius < clear->radius) return false;
    simulation_world(m->sim, coords, middle, x);
    vec_copy(clear->place, middle);
    clear->radius = boundary_part_clearance(solid, x) / (double)m->dx;
    return radius >= clear->radius;
}

/* The impulses of a block's particles to its tiles. */
INLINE void scatter_penetration(const mpm_view *m, int32_t block, int dim) {
    const int32_t *coords = m->coords[block];
    const int64_t last = m->first[block + 1];
    const bool seam = simulation_at_seam(m->sim, block);
    double middle[3];
    simulation_middle(m->sim, coords, middle);
    boundary_part solid = seam ? boundary_all(m->boundary)
                               : boundary_around(m->boundary, middle, simulation_reach(m->sim));
    clear_ball clear = {.radius = 0};
    const field_tiles tiles =
        empty_tiles(m, m->penetration.tile, m->penetration.tiles, block, LOAD_REALS, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        if (!m->penetration.on ||
            (!seam && !may_penetrate(m, &solid, coords, i, lanes, &clear, dim)))
            continue;
        stencil s;
        stencil_fill(&s, m->particles, i, dim);
        for (int lane = 0; lane < lanes; lane++) {
            quad q[4] = {quad_splat(0), quad_splat(0), quad_splat(0), quad_splat(0)};
            if (!penetration_load(m, &solid, block, i + lane, &q[0])) continue;
            scatter_fused(tiles.of[field_of(m, m->particles->group[i + lane])], &s, lane, q, dim);
        }
    }
    fold_tiles(m, &tiles, block, LOAD_REALS, dim);
}

/* The masses at nodes of the bodies whose contacts are asked for. */
INLINE void scatter_body_masses(const mpm_view *m, int32_t block, int dim) {
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    const field_tiles tiles =
        empty_tiles(m, m->penetration.tile, m->contacts.tiles, block, LOAD_REALS, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil s;
        stencil_fill(&s, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++)
            for (int b = 0; b < m->contacts.body_count; b++) {
                if (p->group[i + lane] != m->contacts.group[b]) continue;
                quad q[4] = {quad_splat(0), quad_splat(0), quad_splat(0), quad_splat(0)};
                q[0][b] = p->mass[i + lane];
                scatter_fused(tiles.of[field_of(m, p->group[i + lane])], &s, lane, q, dim);
            }
    }
    for (int f = 0; f < m->field_count; f++)
        if (tiles.of[f]) mirror_numbers(m, block, tiles.of[f], true, LOAD_REALS, dim);
}

/* What colliders give to a block's nodes in one field, and which colliders they are. */
typedef struct node_loads {
    bool any;
    boundary_part solid;
    real loads[BLOCK_NODES_MAX * LOAD_REALS] __attribute__((aligned(64)));
    real shares[BLOCK_NODES_MAX * LOAD_REALS] __attribute__((aligned(64))); /* masses of bodies */
} node_loads;

INLINE void sum_loads(const mpm_view *m, int32_t block, int f, node_loads *l, int dim) {
    const int32_t *neighbours = m->neighbours[block], *place = m->penetration.tile[f];
    l->any = false;
    for (int k = 0; k < neighbour_count(dim) && m->penetration.count && !l->any; k++)
        l->any = neighbours[k] >= 0 && place[neighbours[k]] >= 0;
    if (!l->any) return;
    double middle[3], reach = simulation_reach(m->sim) + 2 * m->domain->dx;
    simulation_middle(m->sim, m->coords[block], middle);
    l->solid = simulation_at_seam(m->sim, block) ? boundary_all(m->boundary)
                                                 : boundary_around(m->boundary, middle, reach);
    sum_tiles(neighbours, place, m->penetration.tiles, l->loads, LOAD_REALS, dim);
    if (m->contacts.count)
        sum_tiles(neighbours, place, m->contacts.tiles, l->shares, LOAD_REALS, dim);
}

INLINE bool is_loaded(const node_loads *l, int n) {
    const real *load = l->loads + LOAD_REALS * n;
    return l->any && (load[0] != 0 || load[1] != 0 || load[2] != 0);
}

/* What a node takes of it; friction is noted here, pressure was where it acts. */
static void apply_load(const mpm_view *m, const boundary_part *solid, const real *load,
                       boundary_node *node) {
    double normal[3], relative[3], lost[3], wall_velocity[3], mass = (double)node->mass;
    for (int a = 0; a < 3; a++) normal[a] = (double)load[a] / mass;
    vec_add(node->v, node->v, normal);
    double grip = (double)load[3] / mass;
    int c;
    if (!(grip > 0) || !vec_normalise(normal)) return;
    boundary_part_nearest(solid, node->x, &c);
    if (c < 0) return;
    boundary_distance(solid->whole, c, node->x, NULL, wall_velocity);
    vec_sub(relative, node->v, wall_velocity);
    vec_add_scaled(relative, relative, -vec_dot(relative, normal), normal);
    double sliding = vec_length(relative), share = sliding > grip ? grip / sliding : 1;
    vec_add_scaled(node->v, node->v, -share, relative);
    vec_scale(lost, share * mass, relative);
    touches_note(m->sim, &m->touches[node->block], c, node->x, lost);
    if (m->contacts.count) mpm_contact_node(m, node->block, c, node->shares, node->mass, lost);
}

#endif
