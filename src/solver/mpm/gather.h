/* Nodes to particles: velocity, gradient, strain, position. */
#ifndef SPATE_SOLVER_GATHER_H
#define SPATE_SOLVER_GATHER_H

#include "solver/materials/strain_wide.h"
#include "solver/mpm/lanes.h"
#include "solver/mpm/mirror.h"
#include "solver/mpm/poly.h"
#include "solver/sources.h"

/* What nodes of all blocks hold, at those that a block's particles reach, sides left out of
 * account. */
INLINE void copy_tile(const mpm_view *m, int32_t block, const real *nodes, real *tile, int node,
                      int dim) {
    const int32_t *neighbours = m->neighbours[block];
    for (int i = 0; i < TILE_EDGE; i++)
        for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
            /* Node t - 1 of the tile's axis lies in the neighbour before, here, or after. */
            int ox = (i + 3) >> 2, oy = dim == 3 ? (j + 3) >> 2 : 0;
            int line = dim == 3 ? ((i + 3) & 3) * BLOCK_EDGE + ((j + 3) & 3) : (i + 3) & 3;
            const int32_t *others = neighbours + (dim == 3 ? (ox * 3 + oy) * 3 : ox * 3);
            const real *from = nodes + line * BLOCK_EDGE * node;
            const real *before = from + others[0] * block_reals(dim, node);
            const real *here = from + others[1] * block_reals(dim, node);
            const real *after = from + others[2] * block_reals(dim, node);
            real *to = tile + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * node;
            memcpy(to, before + 3 * node, (size_t)node * sizeof *to);
            memcpy(to + node, here, (size_t)(4 * node) * sizeof *to);
            memcpy(to + 5 * node, after, (size_t)(3 * node) * sizeof *to);
        }
}

/* What one field has there. */
INLINE void load_nodes(const mpm_view *m, int32_t block, int f, real *tile, int node, int dim) {
    copy_tile(m, block, m->velocities[f], tile, node, dim);
}

/* The velocities of one field at those nodes, with images behind mirrors. */
INLINE void load_tile(const mpm_view *m, int32_t block, int f, real *tile, int node, int dim) {
    load_nodes(m, block, f, tile, node, dim);
    mirror_tile(m, block, tile, false, node, dim);
}

/* Where particles of a block may go: inside closed sides. And what else they may meet in a step. */
typedef struct move_limits {
    const int32_t *coords;
    wide low[3], high[3];
    bool open;   /* some may have left through an open side */
    bool closed; /* a closed side is within reach */
    /* and colliders, a source: asked only where positions are adjusted */
    boundary_part solid;
    bool source;
} move_limits;

/* Sides further than this from a block are out of its particles' reach, and positions there have no
 * limit, in cells. */
enum { SIDE_REACH = 5 };
#define NO_LIMIT 1e6
/* The room is kept smaller by this, so that no particle is ever quite on a side, in cells. */
#define SIDE_GAP 1e-4

/* Closed sides within reach of the block limit it. */
INLINE void limit_by_sides(const mpm_view *m, move_limits *l, int dim) {
    const domain *d = m->domain;
    for (int a = 0; a < dim; a++) {
        double corner = (double)l->coords[a] * BLOCK_EDGE;
        double limits[2] = {0.5 - corner, d->cells[a] + 0.5 - corner};
        for (int side = 0; side < 2; side++) {
            bool in_reach = limits[side] > -SIDE_REACH && limits[side] < BLOCK_EDGE + SIDE_REACH;
            bool beyond = side ? limits[1] <= -SIDE_REACH : limits[0] >= BLOCK_EDGE + SIDE_REACH;
            wall w = d->walls[a][side];
            if (w == WALL_OPEN && (in_reach || beyond)) l->open = true;
            if (w == WALL_OPEN || w == WALL_PERIODIC || !in_reach)
                limits[side] = side ? NO_LIMIT : -NO_LIMIT;
            else
                limits[side] += (side ? -1 : 1) * SIDE_GAP, l->closed = true;
        }
        l->low[a] = wide_splat((real)limits[0]);
        l->high[a] = wide_splat((real)limits[1]);
    }
}

INLINE move_limits limits_of(const mpm_view *m, int32_t block, int dim) {
    move_limits l = {.coords = m->coords[block]};
    limit_by_sides(m, &l, dim);
    if (!m->separation.at_boundaries) return l;
    bool seam = simulation_at_seam(m->sim, block);
    double middle[3];
    simulation_middle(m->sim, l.coords, middle);
    l.solid = seam ? boundary_all(m->boundary) : boundary_around(m->boundary, middle, m->reach);
    l.source = m->source_count && (seam || sources_near(m->sim, middle, m->reach));
    return l;
}

/* Velocities of eight particles: what the schemes with v^n form from them. */
typedef struct adjustment {
    real velocity_old[WIDE][4]; /* v_p at the start of the step */
    real grid[WIDE][4];         /* sum w v* */
    real part[WIDE][4];         /* alpha (v_p - sum w v^n): formed here, and never expanded */
} adjustment;

/* A block's particles, eight at a time. */
typedef struct gather_job {
    const mpm_view *m;
    particles *p;           /* the store, or a copy of a block's tail */
    const real *tiles;      /* velocities of the nodes they reach, field after field */
    const real *dilatation; /* of the mixture by particle, from the first at hand; NULL: none */
    move_limits limits;
    adjustment adjust;
    mpm_extremes *seen;
} gather_job;

/* Where v^n is kept apart: v_p by the scheme, and the adjustment that its position may follow. */
INLINE void gather_adjusted(gather_job *job, const real *tile, const stencil *s, int64_t i,
                            int lane, quad q[4], int dim) {
    const mpm_view *m = job->m;
    const real share = m->group_alpha ? m->group_alpha[job->p->group[i + lane]] : m->alpha;
    const quad alpha = {share, share, share, 0};
    wide both[4];
    gather_split(tile, s, lane, both, dim);
    for (int a = 0; a <= dim; a++) q[a] = wide_low(both[a]);
    quad velocity_old = quad_load(job->p->velocity[i + lane]);
    quad part = alpha * (velocity_old - wide_high(both[0]));
    quad_store(job->adjust.velocity_old[lane], velocity_old);
    quad_store(job->adjust.grid[lane], q[0]);
    quad_store(job->adjust.part[lane], part);
    q[0] = quad_fma(quad_splat(m->flip), part, q[0]);
}

/* Velocity and its gradient at the first `lanes` of eight particles. */
INLINE void gather_lanes(gather_job *job, int64_t i, int lanes, transfer_family family, int dim) {
    const mpm_view *m = job->m;
    particles *p = job->p;
    stencil s;
    stencil_fill(&s, p, i, dim);
    for (int a = 0; a < dim && OWN_MOMENT; a++)
        for (int lane = 0; lane < lanes; lane++)
            PLANE(p, moment, a)[i + lane] = axis_moment(&s.axis[a], lane);
    const quad one = {0, 0, 0, 1};
    const int64_t tile_size = tile_reals(dim, node_reals(family));
    for (int lane = 0; lane < lanes; lane++) {
        const real *tile = job->tiles + field_of(m, p->group[i + lane]) * tile_size;
        quad q[4];
        if (family == TRANSFER_POLY)
            gather_poly(m, p->modes[i + lane], tile, &s, lane, q, dim);
        else if (family == TRANSFER_FUSED)
            gather_fused(tile, &s, lane, q, dim);
        else
            gather_adjusted(job, tile, &s, i, lane, q, dim);
        quad_store(p->velocity[i + lane], q[0] + one);
        for (int a = 0; a < dim; a++) quad_store(p->affine[i + lane][a], q[a + 1]);
    }
}

/* Lanes whose predicted point lies in a collider or source, or beyond a side, and which do not come
 * out of it: beta is 0 there. Only lanes in `asked` are looked at. */
INLINE wide_int stopped_lanes(const gather_job *job, int64_t i, wide_int asked, int dim) {
    const mpm_view *m = job->m;
    const move_limits *near = &job->limits;
    wide v[3], y[3];
    wide_int stopped = wide_splat_int(0);
    load_quads(job->adjust.velocity_old, 1, v);
    for (int a = 0; a < dim; a++) {
        y[a] = wide_fma(v[a], wide_splat(m->dt / m->dx), wide_load(PLANE(job->p, position, a) + i));
        stopped |= ((y[a] < near->low[a]) & (v[a] <= wide_splat(0))) |
                   ((y[a] > near->high[a]) & (v[a] >= wide_splat(0)));
    }
    if (!near->solid.count && !near->source) return stopped;
    for (int lane = 0; lane < WIDE; lane++) {
        if (!asked[lane] || stopped[lane]) continue;
        double x[3], speed[3] = {0}, unused[3], local[3] = {0};
        for (int a = 0; a < dim; a++) local[a] = (double)y[a][lane], speed[a] = (double)v[a][lane];
        simulation_world(m->sim, near->coords, local, x);
        if ((near->solid.count && boundary_part_meets(&near->solid, x, speed)) ||
            (near->source && sources_velocity(m->sim, x, unused)))
            stopped[lane] = -1;
    }
    return stopped;
}

/* beta_p (Fei et al. 2021, eq. 5). */
INLINE wide beta_lanes(const gather_job *job, int64_t i, wide_int parted, int dim) {
    const mpm_view *m = job->m;
    const move_limits *near = &job->limits;
    wide zero = wide_splat(0);
    wide beta =
        wide_select(parted, wide_splat(m->separation.beta_max), wide_splat(m->separation.beta_min));
    if (!m->separation.at_boundaries || !(near->closed || near->solid.count || near->source))
        return beta;
    wide_int asked = beta != zero;
    if (!wide_any(asked)) return beta;
    return wide_select(stopped_lanes(job, i, asked, dim), zero, beta);
}

/* Lanes whose state is sound, and lanes whose material has come apart. */
typedef struct lane_states {
    wide_int good, parted;
} lane_states;

/* Strain of the particles of material c, and what is seen of it. */
INLINE void update_material(const gather_job *job, int64_t i, int c, const wide G[9], wide_int mask,
                            lane_states *lanes, int dim) {
    const mpm_view *m = job->m;
    strain_report r;
    m->laws->update[dim - 2](&m->materials[c], job->p, i, G, &mask, &r);
    wide_int fine = (r.J_less_one > wide_splat((real)J_LOWEST - 1)) &
                    (r.J_less_one < wide_splat((real)J_HIGHEST));
    lanes->good &= fine | ~mask;
    lanes->parted |= r.parted & mask;
    wide_int counted = mask & fine;
    wide zero = wide_splat(0), J = r.J_less_one;
    mpm_range *range = &job->seen->range[c % RANGE_SLOTS];
    range->J_low = wide_max(wide_select(counted, zero - J, zero), range->J_low);
    range->J_high = wide_max(wide_select(counted, J, zero), range->J_high);
    range->stretch = wide_max(wide_select(counted, r.stretch, zero), range->stretch);
    range->stiffening = wide_max(wide_select(counted, r.stiffening, zero), range->stiffening);
    job->seen->yielded += wide_count(r.yielded & mask);
}

/* Strains of eight particles. */
INLINE lane_states update_lanes(const gather_job *job, int64_t i, int dim) {
    const mpm_view *m = job->m;
    wide G[9];
    lane_states lanes = {.good = ~wide_splat_int(0), .parted = wide_splat_int(0)};
    load_gradient(job->p->affine + i, m->dt / m->dx, G, dim);
    for (int a = 0; a < dim && job->dilatation; a++)
        G[4 * a] += wide_load(job->dilatation + i) * wide_splat(1 / (real)dim);
    if (m->material_count == 1) {
        update_material(job, i, 0, G, ~wide_splat_int(0), &lanes, dim);
        return lanes;
    }
    wide_int index = lane_materials(m, job->p, i), unseen = index >= wide_splat_int(0), mask;
    for (int c; next_material(index, &unseen, &c, &mask);)
        update_material(job, i, c, G, mask, &lanes, dim);
    return lanes;
}

/* Strains and positions of eight particles from their new motion; the lanes that are not good. */
INLINE wide_int move_lanes(const gather_job *job, int64_t i, transfer_family family, int dim) {
    const mpm_view *m = job->m;
    const particles *p = job->p;
    lane_states lanes = update_lanes(job, i, dim);
    wide v[3], u[3], steps = wide_splat(m->dt / m->dx), speed2 = wide_splat(0), move2 = speed2;
    if (family == TRANSFER_SPLIT) {
        wide part[3], beta = beta_lanes(job, i, lanes.parted, dim);
        load_quads(job->adjust.grid, 1, u);
        load_quads(job->adjust.part, 1, part);
        for (int a = 0; a < dim; a++) {
            v[a] = wide_fma(wide_splat(m->flip), part[a], u[a]);
            u[a] = wide_fma(beta, part[a], u[a]);
        }
    } else {
        load_quads(p->velocity + i, 1, v);
        for (int a = 0; a < dim; a++) u[a] = v[a];
    }
    for (int a = 0; a < dim; a++) {
        real *x = PLANE(p, position, a) + i;
        wide moved = wide_fma(u[a], steps, wide_load(x));
        wide_store(x, wide_min(wide_max(moved, job->limits.low[a]), job->limits.high[a]));
        speed2 = wide_fma(v[a], v[a], speed2);
        move2 = wide_fma(u[a], u[a], move2);
    }
    /* MOVE_MOST cells in a step is a blow-up, and so is what is not a number. */
    wide most = wide_splat(MOVE_MOST * MOVE_MOST) / (steps * steps);
    wide_int good = lanes.good & (speed2 < most) & (move2 < most);
    mpm_extremes *seen = job->seen;
    seen->speed2 = wide_max(wide_select(good, speed2, wide_splat(0)), seen->speed2);
    seen->move2 = wide_max(wide_select(good, move2, wide_splat(0)), seen->move2);
    return ~good;
}

static void note_bad(mpm_extremes *seen, int64_t i, wide_int bad) {
    for (int lane = 0; lane < WIDE; lane++)
        if (bad[lane] && (seen->bad < 0 || i + lane < seen->bad)) seen->bad = i + lane;
}

/* The last particles of a block, fewer than eight, are worked on apart: what lies behind them
 * belongs to another block, perhaps another thread. Lanes without a particle are at rest and change
 * nothing. */
INLINE void gather_tail(gather_job *job, int64_t i, int lanes, particle_batch *tail,
                        transfer_family family, int dim) {
    particles *p = job->p;
    const real *dilatation = job->dilatation;
    real rest[WIDE] __attribute__((aligned(64))) = {0};
    memset(&job->adjust, 0, sizeof job->adjust);
    if (dilatation) {
        memcpy(rest, dilatation + i, (size_t)lanes * sizeof *rest);
        job->dilatation = rest;
    }
    batch_prepare(tail, p);
    particles_copy(&tail->p, 0, p, i, lanes);
    job->p = &tail->p;
    gather_lanes(job, 0, lanes, family, dim);
    wide_int bad = move_lanes(job, 0, family, dim);
    if (wide_any(bad)) note_bad(job->seen, i, bad);
    job->p = p;
    job->dilatation = dilatation;
    particles_copy(p, i, &tail->p, 0, lanes);
}

INLINE void gather_block(gather_job *job, int32_t block, particle_batch *tail,
                         transfer_family family, int dim) {
    int64_t i = job->m->first[block], last = job->m->first[block + 1];
    for (; i + WIDE <= last; i += WIDE) {
        gather_lanes(job, i, WIDE, family, dim);
        wide_int bad = move_lanes(job, i, family, dim);
        if (wide_any(bad)) note_bad(job->seen, i, bad);
    }
    if (i < last) gather_tail(job, i, (int)(last - i), tail, family, dim);
}

INLINE void gather_chunk(const void *data, chunk items, transfer_family family, int dim) {
    const mpm_view *m = data;
    const int node = node_reals(family);
    real *tiles = m->worker_tiles + items.worker * m->field_count * tile_reals(dim, node);
    particle_batch tail;
    gather_job job = {
        .m = m, .p = m->particles, .tiles = tiles, .seen = &m->extremes[items.worker]};
    for (int f = 0; f < m->field_count; f++)
        memset(tiles + (f + 1) * tile_reals(dim, node) - TILE_PAD, 0, TILE_PAD * sizeof *tiles);
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = m->occupied[o];
        job.limits = limits_of(m, block, dim);
        job.dilatation =
            m->mixture.in_block && m->mixture.in_block[block] ? m->mixture.dilatation : NULL;
        for (int f = 0; f < m->field_count; f++)
            if (m->tile[f][block] >= 0)
                load_tile(m, block, f, tiles + f * tile_reals(dim, node), node, dim);
        gather_block(&job, block, &tail, family, dim);
        if (job.limits.open) job.seen->removed += simulation_remove_outside(m->sim, block);
    }
}

#endif
