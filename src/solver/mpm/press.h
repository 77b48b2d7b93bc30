/*
 * Particles inside thin colliders are pressed out of them.
 *
 * Conditions on nodes alone let material sink to the first row of nodes inside a collider, up to a cell
 * and more below its surface, and through a thin one where that row is nearer to its other face. So a
 * particle at depth d in a collider thinner than PRESS_THIN cells is given the impulse, along the normal
 * there,
 *
 *     j = m max(0, SHARE min(d, DEEP dx) / dt - v_n),   v_n its speed out of the collider,
 *
 * which stops it and takes a share of the depth back in a step. It goes to the particle's nodes with
 * their weights, as stress does: a pressure p up to the surface at y pushes node i by p w_i(y), which is
 * how these impulses are shared out too, wherever the surface lies between the nodes. A node gets
 *
 *     (sum w j n, sum w friction j),
 *
 * and friction shortens its sliding, after all forces, by at most the second over its mass.
 *
 * Thick colliders do without: what is pressed out beside an opening holds up what lies over it, as far
 * as a kernel reaches, and sand ran out of a silo as if its opening were four cells narrower.
 */
#ifndef SPATE_SOLVER_PRESS_H
#define SPATE_SOLVER_PRESS_H

#include "core/vec.h"
#include "solver/mpm/lanes.h"
#include "solver/mpm/mirror.h"
#include "solver/mpm/transfer.h"

#define PRESS_SHARE 0.1
#define PRESS_DEEP  0.25 /* cells; what begins deeper inside is let out at this pace */

/* The impulse on particle i of a block: none where it is outside, or leaves fast enough. */
static bool press_on(const mpm *m, const boundary_part *solid, int32_t block, int64_t i,
                     quad *load) {
    const real *v = m->sim->particles.velocity[i];
    double x[3];
    simulation_position(m->sim, block, i, x);
    int c;
    double depth = -boundary_part_nearest(solid, x, &c);
    if (!(depth > 0) || !m->press.thin[c]) return false;
    double normal[3], wall_velocity[3], relative[3], dx = (double)m->dx, dt = (double)m->dt;
    boundary_distance(solid->whole, c, x, normal, wall_velocity);
    for (int a = 0; a < 3; a++) relative[a] = (double)v[a] - wall_velocity[a];
    double speed = PRESS_SHARE * fmin(depth, PRESS_DEEP * dx) / dt - vec_dot(relative, normal);
    if (!(speed > 0)) return false;
    const collider *met = &solid->whole->scene->colliders[c];
    double lost[3], j = (double)m->sim->particles.mass[i] * speed,
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

/* Whether any of eight particles may be inside. They are in order, so what is known around one place
 * tells most of the next ones off. */
INLINE bool press_reaches(const mpm *m, const boundary_part *solid, const int32_t *coords,
                          int64_t i, int lanes, clear_ball *clear, int dim) {
    double middle[3] = {0}, x[3], radius2 = 0, gap2 = 0;
    for (int a = 0; a < dim; a++) {
        const real *at = PLANE(&m->sim->particles, position, a) + i;
        real low = at[0], high = at[0];
        for (int k = 1; k < lanes; k++) {
            low = at[k] < low ? at[k] : low;
            high = at[k] > high ? at[k] : high;
        }
        middle[a] = 0.5 * ((double)low + (double)high);
        radius2 += 0.25 * (double)((high - low) * (high - low));
        gap2 += (middle[a] - clear->place[a]) * (middle[a] - clear->place[a]);
    }
    const double radius = sqrt(radius2) + 1e-3; /* for rounding */
    if (sqrt(gap2) + radius < clear->radius) return false;
    simulation_world(m->sim, coords, middle, x);
    vec_copy(clear->place, middle);
    clear->radius = boundary_part_clearance(solid, x) / (double)m->dx;
    return radius >= clear->radius;
}

INLINE void press_block(const mpm *m, int32_t block, real *tile, int dim) {
    const spate_simulation *sim = m->sim;
    const particles *p = &sim->particles;
    const int32_t *coords = sim->blocks.coords[block];
    const int64_t last = sim->blocks.first[block + 1];
    const bool seam = simulation_at_seam(sim, block);
    double middle[3];
    simulation_middle(sim, coords, middle);
    boundary_part solid = seam ? boundary_all(&sim->boundary)
                               : boundary_around(&sim->boundary, middle, simulation_reach(sim));
    clear_ball clear = {.radius = 0};
    memset(tile, 0, (size_t)tile_reals(dim, 4) * sizeof *tile);
    for (int64_t i = sim->blocks.first[block]; i < last; i += WIDE) {
        int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        if (!m->press.on || (!seam && !press_reaches(m, &solid, coords, i, lanes, &clear, dim)))
            continue;
        stencil s;
        stencil_fill(&s, p, i, dim);
        for (int lane = 0; lane < lanes; lane++) {
            quad q[4] = {quad_splat(0), quad_splat(0), quad_splat(0), quad_splat(0)};
            if (press_on(m, &solid, block, i + lane, &q[0])) scatter_fused(tile, &s, lane, q, dim);
        }
    }
    mirror_tile(m, block, tile, true, 4, dim);
}

/* The masses at nodes of the bodies whose contacts are asked for. */
INLINE void share_block(const mpm *m, int32_t block, real *tile, int dim) {
    const particles *p = &m->sim->particles;
    const int64_t last = m->sim->blocks.first[block + 1];
    memset(tile, 0, (size_t)tile_reals(dim, 4) * sizeof *tile);
    for (int64_t i = m->sim->blocks.first[block]; i < last; i += WIDE) {
        stencil s;
        stencil_fill(&s, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++)
            for (int b = 0; b < m->contacts.body_count; b++) {
                if (p->group[i + lane] != m->contacts.group[b]) continue;
                quad q[4] = {quad_splat(0), quad_splat(0), quad_splat(0), quad_splat(0)};
                q[0][b] = p->mass[i + lane];
                scatter_fused(tile, &s, lane, q, dim);
            }
    }
}

/* What a node takes of it; friction is noted here, pressure was where it acts. */
static void press_node(const mpm *m, int32_t block, const boundary_part *solid, const double x[3],
                       const real *load, const real *shares, real mass, double v[3]) {
    double normal[3], relative[3], lost[3], wall_velocity[3];
    for (int a = 0; a < 3; a++) normal[a] = (double)load[a] / (double)mass;
    vec_add(v, v, normal);
    double grip = (double)load[3] / (double)mass;
    int c;
    if (!(grip > 0) || !vec_normalise(normal)) return;
    boundary_part_nearest(solid, x, &c);
    if (c < 0) return;
    boundary_distance(solid->whole, c, x, NULL, wall_velocity);
    vec_sub(relative, v, wall_velocity);
    vec_add_scaled(relative, relative, -vec_dot(relative, normal), normal);
    double sliding = vec_length(relative), share = sliding > grip ? grip / sliding : 1;
    vec_add_scaled(v, v, -share, relative);
    vec_scale(lost, share * (double)mass, relative);
    touches_note(m->sim, &m->touches[block], c, x, lost);
    if (m->contacts.count) mpm_contact_node(m, block, c, shares, mass, lost);
}

#endif
