/* Nodes to particles: velocity, gradient, strain, position. */
#ifndef SPATE_SOLVER_GATHER_H
#define SPATE_SOLVER_GATHER_H

#include "solver/materials/strain_wide.h"
#include "solver/mpm/lanes.h"
#include "solver/mpm/mirror.h"
#include "solver/mpm/poly.h"
#include "solver/sources.h"

/* The velocities of the nodes that a block's particles reach. */
INLINE void load_tile(const mpm *m, int32_t block, real *tile, int node, int dim) {
    const int32_t *neighbours = m->sim->blocks.neighbours[block];
    for (int i = 0; i < TILE_EDGE; i++)
        for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
            /* Node t - 1 of the tile's axis lies in the neighbour before, here, or after. */
            int ox = (i + 3) >> 2, oy = dim == 3 ? (j + 3) >> 2 : 0;
            int line = dim == 3 ? ((i + 3) & 3) * BLOCK_EDGE + ((j + 3) & 3) : (i + 3) & 3;
            const int32_t *others = neighbours + (dim == 3 ? (ox * 3 + oy) * 3 : ox * 3);
            const real *from = m->velocities + line * BLOCK_EDGE * node;
            const real *before = from + others[0] * block_reals(dim, node);
            const real *here = from + others[1] * block_reals(dim, node);
            const real *after = from + others[2] * block_reals(dim, node);
            real *to = tile + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * node;
            memcpy(to, before + 3 * node, (size_t)node * sizeof *to);
            memcpy(to + node, here, (size_t)(4 * node) * sizeof *to);
            memcpy(to + 5 * node, after, (size_t)(3 * node) * sizeof *to);
        }
    mirror_tile(m, block, tile, false, node, dim);
}

/* Where particles of a block may go: inside closed sides. And what else they may meet in a step. */
typedef struct vicinity {
    const int32_t *coords;
    wide low[3], high[3];
    bool open;   /* some may have left through an open side */
    bool closed; /* a closed side is within reach */
    /* and colliders, a source: asked only where positions are adjusted */
    boundary_part solid;
    bool nozzle;
} vicinity;

/* Closed sides within reach of the block limit it; the room is kept a little smaller, so that no
 * particle is ever quite on a side. */
INLINE void limit_vicinity(const mpm *m, vicinity *v, int dim) {
    const domain *d = &m->sim->scene->domain;
    for (int a = 0; a < dim; a++) {
        double corner = (double)v->coords[a] * BLOCK_EDGE;
        double limits[2] = {0.5 - corner, d->cells[a] + 0.5 - corner};
        for (int side = 0; side < 2; side++) {
            bool in_reach = limits[side] > -5 && limits[side] < BLOCK_EDGE + 5;
            bool beyond = side ? limits[1] <= -5 : limits[0] >= BLOCK_EDGE + 5;
            wall w = d->walls[a][side];
            if (w == WALL_OPEN && (in_reach || beyond)) v->open = true;
            if (w == WALL_OPEN || w == WALL_PERIODIC || !in_reach)
                limits[side] = side ? 1e6 : -1e6;
            else
                limits[side] += (side ? -1 : 1) * 1e-4, v->closed = true;
        }
        v->low[a] = wide_splat((real)limits[0]);
        v->high[a] = wide_splat((real)limits[1]);
    }
}

INLINE vicinity vicinity_of(const mpm *m, int32_t block, int dim) {
    const spate_simulation *sim = m->sim;
    vicinity v = {.coords = sim->blocks.coords[block]};
    limit_vicinity(m, &v, dim);
    if (!m->separation.at_boundaries) return v;
    bool seam = simulation_at_seam(sim, block);
    double middle[3];
    simulation_middle(sim, v.coords, middle);
    v.solid =
        seam ? boundary_all(&sim->boundary) : boundary_around(&sim->boundary, middle, m->reach);
    v.nozzle = sim->scene->source_count && (seam || sources_near(sim, middle, m->reach));
    return v;
}

/* Velocities of eight particles: what the schemes with v^n form from them. */
typedef struct adjustment {
    real before[WIDE][4]; /* v_p at the start of the step */
    real grid[WIDE][4];   /* sum w v* */
    real part[WIDE][4];   /* alpha (v_p - sum w v^n): formed here, and never expanded */
} adjustment;

/* Velocity and its gradient at the first `lanes` of eight particles. */
INLINE void gather_lanes(const mpm *m, particles *p, int64_t i, int lanes, const real *tile,
                         adjustment *adjust, transfer_family family, int dim) {
    stencil s;
    stencil_fill(&s, p, i, dim);
    for (int a = 0; a < dim && SUPPORT == 2; a++)
        for (int lane = 0; lane < lanes; lane++)
            PLANE(p, moment, a)[i + lane] = s.axis[a].w[0][lane] * s.axis[a].w[1][lane];
    const quad one = {0, 0, 0, 1}, alpha = {m->alpha, m->alpha, m->alpha, 0};
    for (int lane = 0; lane < lanes; lane++) {
        quad q[4];
        if (family == TRANSFER_POLY)
            gather_poly(m, p, i + lane, tile, &s, lane, q, dim);
        else if (family == TRANSFER_FUSED)
            gather_fused(tile, &s, lane, q, dim);
        else {
            wide both[4];
            gather_split(tile, &s, lane, both, dim);
            for (int a = 0; a <= dim; a++) q[a] = wide_low(both[a]);
            quad before = quad_load(p->velocity[i + lane]),
                 part = alpha * (before - wide_high(both[0]));
            quad_store(adjust->before[lane], before);
            quad_store(adjust->grid[lane], q[0]);
            quad_store(adjust->part[lane], part);
            q[0] = quad_fma(quad_splat(m->keep), part, q[0]);
        }
        quad_store(p->velocity[i + lane], q[0] + one);
        for (int a = 0; a < dim; a++) quad_store(p->affine[i + lane][a], q[a + 1]);
    }
}

/* Lanes whose predicted point lies in a collider or source, or beyond a side, and which do not come
 * out of it: beta is 0 there. Only lanes in `asked` are looked at. */
INLINE wide_int stopped_lanes(const mpm *m, const vicinity *near, const particles *p, int64_t i,
                              const adjustment *adjust, wide_int asked, int dim) {
    wide v[3], y[3];
    wide_int stopped = wide_splat_int(0);
    load_quads(adjust->before, 1, v);
    for (int a = 0; a < dim; a++) {
        y[a] = wide_fma(v[a], wide_splat(m->dt / m->dx), wide_load(PLANE(p, position, a) + i));
        stopped |= ((y[a] < near->low[a]) & (v[a] <= wide_splat(0))) |
                   ((y[a] > near->high[a]) & (v[a] >= wide_splat(0)));
    }
    if (!near->solid.count && !near->nozzle) return stopped;
    for (int lane = 0; lane < WIDE; lane++) {
        if (!asked[lane] || stopped[lane]) continue;
        double x[3], speed[3] = {0}, unused[3], local[3] = {0};
        for (int a = 0; a < dim; a++) local[a] = (double)y[a][lane], speed[a] = (double)v[a][lane];
        simulation_world(m->sim, near->coords, local, x);
        if ((near->solid.count && boundary_part_meets(&near->solid, x, speed)) ||
            (near->nozzle && sources_velocity(m->sim, x, unused)))
            stopped[lane] = -1;
    }
    return stopped;
}

/* beta_p (Fei et al. 2021, eq. 5). */
INLINE wide separation_of(const mpm *m, const vicinity *near, const particles *p, int64_t i,
                          const adjustment *adjust, wide_int parted, int dim) {
    wide zero = wide_splat(0);
    wide beta =
        wide_select(parted, wide_splat(m->separation.beta_max), wide_splat(m->separation.beta_min));
    if (!m->separation.at_boundaries || !(near->closed || near->solid.count || near->nozzle))
        return beta;
    wide_int asked = beta != zero;
    if (!wide_any(asked)) return beta;
    return wide_select(stopped_lanes(m, near, p, i, adjust, asked, dim), zero, beta);
}

/* Strain of the particles of one material, and what is seen of it. */
INLINE void update_material(const mpm *m, particles *p, int64_t i, int c, const wide G[9],
                            wide_int mask, mpm_extremes *seen, wide_int *good, wide_int *parted,
                            int dim) {
    strain_report r;
    m->laws->update[dim - 2](&m->materials[c], p, i, G, &mask, &r);
    wide_int fine = (r.J_less_one > wide_splat((real)J_LOWEST - 1)) &
                    (r.J_less_one < wide_splat((real)J_HIGHEST));
    *good &= fine | ~mask;
    *parted |= r.parted & mask;
    int slot = c % RANGE_SLOTS;
    wide_int counted = mask & fine;
    wide zero = wide_splat(0), J = r.J_less_one;
    mpm_range *range = &seen->range[slot];
    range->J_low = wide_max(wide_select(counted, zero - J, zero), range->J_low);
    range->J_high = wide_max(wide_select(counted, J, zero), range->J_high);
    range->stretch = wide_max(wide_select(counted, r.stretch, zero), range->stretch);
    range->stiffening = wide_max(wide_select(counted, r.stiffening, zero), range->stiffening);
    seen->yielded += wide_count(r.yielded & mask);
}

/* Strains of eight particles, and the lanes that have come apart. */
INLINE wide_int update_lanes(const mpm *m, particles *p, int64_t i, mpm_extremes *seen,
                             wide_int *good, int dim) {
    wide G[9];
    wide_int parted = wide_splat_int(0);
    load_gradient(p->affine + i, m->dt / m->dx, G, dim);
    if (m->material_count == 1) {
        update_material(m, p, i, 0, G, ~wide_splat_int(0), seen, good, &parted, dim);
        return parted;
    }
    wide_int index = lane_materials(m, p, i), unseen = index >= wide_splat_int(0), mask;
    for (int c; next_material(index, &unseen, &c, &mask);)
        update_material(m, p, i, c, G, mask, seen, good, &parted, dim);
    return parted;
}

/* Strains and positions of eight particles from their new motion; the lanes that are not good. */
INLINE wide_int move_lanes(const mpm *m, const vicinity *near, particles *p, int64_t i,
                           const adjustment *adjust, mpm_extremes *seen, transfer_family family,
                           int dim) {
    wide_int good = ~wide_splat_int(0), parted = update_lanes(m, p, i, seen, &good, dim);
    wide v[3], u[3], steps = wide_splat(m->dt / m->dx), speed2 = wide_splat(0), move2 = speed2;
    if (family == TRANSFER_SPLIT) {
        wide part[3], beta = separation_of(m, near, p, i, adjust, parted, dim);
        load_quads(adjust->grid, 1, u);
        load_quads(adjust->part, 1, part);
        for (int a = 0; a < dim; a++) {
            v[a] = wide_fma(wide_splat(m->keep), part[a], u[a]);
            u[a] = wide_fma(beta, part[a], u[a]);
        }
    } else {
        load_quads(p->velocity + i, 1, v);
        for (int a = 0; a < dim; a++) u[a] = v[a];
    }
    for (int a = 0; a < dim; a++) {
        real *x = PLANE(p, position, a) + i;
        wide moved = wide_fma(u[a], steps, wide_load(x));
        wide_store(x, wide_min(wide_max(moved, near->low[a]), near->high[a]));
        speed2 = wide_fma(v[a], v[a], speed2);
        move2 = wide_fma(u[a], u[a], move2);
    }
    /* MOVE_MOST cells in a step is a blow-up, and so is what is not a number. */
    wide most = wide_splat(MOVE_MOST * MOVE_MOST) / (steps * steps);
    good &= (speed2 < most) & (move2 < most);
    seen->speed2 = wide_max(wide_select(good, speed2, wide_splat(0)), seen->speed2);
    seen->move2 = wide_max(wide_select(good, move2, wide_splat(0)), seen->move2);
    return ~good;
}

static void note_bad(mpm_extremes *seen, int64_t i, wide_int bad) {
    for (int lane = 0; lane < WIDE; lane++)
        if (bad[lane] && (seen->bad < 0 || i + lane < seen->bad)) seen->bad = i + lane;
}

INLINE void gather_block(const mpm *m, int32_t block, const real *tile, const vicinity *near,
                         particle_handful *tail, mpm_extremes *seen, transfer_family family,
                         int dim) {
    particles *p = &m->sim->particles;
    int64_t i = m->sim->blocks.first[block], last = m->sim->blocks.first[block + 1];
    adjustment adjust;
    for (; i + WIDE <= last; i += WIDE) {
        gather_lanes(m, p, i, WIDE, tile, &adjust, family, dim);
        wide_int bad = move_lanes(m, near, p, i, &adjust, seen, family, dim);
        if (wide_any(bad)) note_bad(seen, i, bad);
    }
    if (i == last) return;
    /* The rest is worked on apart: what lies behind it belongs to another block, perhaps another
     * thread. Lanes without a particle are at rest and change nothing. */
    int lanes = (int)(last - i);
    memset(&adjust, 0, sizeof adjust);
    handful_prepare(tail, p);
    particles_copy(&tail->p, 0, p, i, lanes);
    gather_lanes(m, &tail->p, 0, lanes, tile, &adjust, family, dim);
    wide_int bad = move_lanes(m, near, &tail->p, 0, &adjust, seen, family, dim);
    if (wide_any(bad)) note_bad(seen, i, bad);
    particles_copy(p, i, &tail->p, 0, lanes);
}

INLINE void gather_chunk(void *data, chunk items, transfer_family family, int dim) {
    const mpm *m = data;
    const blocks *b = &m->sim->blocks;
    const int node = node_reals(family);
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE * 8 + TILE_PAD] __attribute__((aligned(64)));
    memset(tile + tile_nodes(dim) * node, 0, TILE_PAD * sizeof *tile);
    particle_handful tail;
    for (int64_t o = items.begin; o < items.end; o++) {
        int32_t block = b->occupied[o];
        vicinity near = vicinity_of(m, block, dim);
        load_tile(m, block, tile, node, dim);
        gather_block(m, block, tile, &near, &tail, &m->seen[items.worker], family, dim);
        if (near.open) m->seen[items.worker].removed += simulation_remove_outside(m->sim, block);
    }
}

#endif
