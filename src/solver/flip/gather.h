/* Faces to particles: velocity, its change and its affine moment; then the particles move. */
#ifndef SPATE_SOLVER_FLIP_GATHER_H
#define SPATE_SOLVER_FLIP_GATHER_H

#include "solver/collide.h"
#include "solver/flip/adaptive.h"
#include "solver/flip/transfer.h"
#include "solver/lanes.h"

/* ---- The tile -------------------------------------------------------------------------------- */

/* Numbers of a face: velocity, its change, displacement, and the velocity of the next face along
 * the last axis, so that what lies between the two is one load. */
enum { FACE_REALS = 4, FACE_VELOCITY = 0, FACE_CHANGE, FACE_DISPLACEMENT, FACE_NEXT };

INLINE int face_tile_reals(int dim) { return tile_nodes(dim) * FACE_REALS; }

/* A row of eight cells; where there is no brick there is no particle near. */
INLINE wide load_row(const real *values, int64_t at) {
    return at < 0 ? wide_splat(0) : wide_load(values + at);
}

/* Most that volume's correction may move a particle by, in cells. */
static const real most_displacement = (real)0.5;

/* Eight faces along the last axis, mirrored as the map says: a block begins with its brick, or in
 * the middle of it. */
INLINE wide load_faces(const real *values, const int64_t rows[3], const axis_map *z, wide signs) {
    if (z->straight) {
        wide first = load_row(values, rows[z->code[0]]);
        wide last = load_row(values, rows[z->code[0] + 1]);
        if (z->cell[0] == BRICK_EDGE - TILE_BEFORE)
            return __builtin_shufflevector(first, last, 6, 7, 8, 9, 10, 11, 12, 13) * signs;
        return __builtin_shufflevector(first, last, 2, 3, 4, 5, 6, 7, 8, 9) * signs;
    }
    wide v = wide_splat(0);
    for (int k = 0; k < TILE_EDGE; k++)
        if (rows[z->code[k]] >= 0) v[k] = values[rows[z->code[k]] + z->cell[k]];
    return v * signs;
}

INLINE void store_faces(real *to, wide velocity, wide change, wide displacement) {
    wide next = __builtin_shufflevector(velocity, wide_splat(0), 1, 2, 3, 4, 5, 6, 7, 8);
    wide r[4] = {velocity, change, displacement, next};
    transpose_quads(r);
    for (int k = 0; k < 4; k++) {
        quad_store(to + k * FACE_REALS, wide_low(r[k]));
        quad_store(to + (k + 4) * FACE_REALS, wide_high(r[k]));
    }
}

INLINE void load_component(const flip_view *view, const tile_map *map, real *tile, int c, int dim) {
    const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
    const axis_map *z = &map->axis[dim - 1][c != dim - 1];
    const wide most = wide_splat(most_displacement), none = wide_splat(0);
    for (int i = 0; i < TILE_EDGE; i++)
        for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            const wide signs =
                wide_splat(x->sign[i] * (dim == 3 ? y->sign[j] : 1)) * wide_load(z->sign);
            wide velocity = load_faces(view->velocity[c], rows, z, signs);
            wide change = velocity - load_faces(view->velocity_old[c], rows, z, signs);
            wide displacement = none;
            if (view->displacement[c])
                displacement = load_faces(view->displacement[c], rows, z, signs);
            displacement = wide_min(wide_max(displacement, none - most), most);
            store_faces(tile + tile_index(i, j, 0, dim) * FACE_REALS, velocity, change,
                        displacement);
        }
}

/* ---- Sums over faces ------------------------------------------------------------------------- */

/* What eight particles gather, for each component: sums of the numbers of a face with weights, and
 * sum w u (x_f - x_p) by axis. */
typedef struct gathered {
    real4 sums[3][WIDE];
    real moment[3][3][WIDE];
} gathered;

/* Weighted sums of rows of SUPPORT faces. */
typedef struct face_row {
    wide two;
    quad third;
} face_row;

INLINE void face_row_add(face_row *sum, real w, const real *from) {
    sum->two = wide_fma(wide_splat(w), wide_load(from), sum->two);
    if (SUPPORT == 3)
        sum->third = quad_fma(quad_splat(w), quad_load(from + 2 * FACE_REALS), sum->third);
}
INLINE quad face_row_sum(const face_row *r, const wide w[SUPPORT], int lane) {
    quad sum = quad_splat(w[0][lane]) * wide_low(r->two);
    sum = quad_fma(quad_splat(w[1][lane]), wide_high(r->two), sum);
    if (SUPPORT == 3) sum = quad_fma(quad_splat(w[SUPPORT - 1][lane]), r->third, sum);
    return sum;
}

/* Component c of one particle. */
INLINE void gather_component(const real *tile, const kernel_weights *s, int lane, int c,
                             gathered *out, bool affine, int dim) {
    const axis_weights *x = &s->axis[0][c != 0], *z = &s->axis[dim - 1][c != dim - 1];
    const axis_weights *y = &s->axis[1][c != 1];
    const int at =
        tile_index((int)x->base[lane], dim == 3 ? (int)y->base[lane] : 0, (int)z->base[lane], dim);
    face_row sum = {0}, in_x = {0}, in_y = {0};
    for (int i = 0; i < SUPPORT; i++)
        for (int j = 0; j < (dim == 3 ? SUPPORT : 1); j++) {
            const real *from = tile + (at + tile_index(i, j, 0, dim)) * FACE_REALS;
            const real wx = x->w[i][lane], wy = dim == 3 ? y->w[j][lane] : 1;
            face_row_add(&sum, wx * wy, from);
            if (!affine) continue;
            face_row_add(&in_x, x->arm[i][lane] * wy, from);
            if (dim == 3) face_row_add(&in_y, wx * y->arm[j][lane], from);
        }
    const quad all = face_row_sum(&sum, z->w, lane);
    quad_store(out->sums[c][lane], all);
    if (!affine) return;
    out->moment[c][0][lane] = face_row_sum(&in_x, z->w, lane)[FACE_VELOCITY];
    if (dim == 3) out->moment[c][1][lane] = face_row_sum(&in_y, z->w, lane)[FACE_VELOCITY];
    out->moment[c][dim - 1][lane] = face_row_sum(&sum, z->arm, lane)[FACE_VELOCITY];
}

/* Where a tile can be interpolated in, in cells from its block: between the middles of its first
 * cell and its last face but one; and a point just before the end. */
static const real tile_low = (real)-1.5, tile_high = 5, tile_last = (real)4.999;

/* The place of eight points in the tile along one axis: the face before each, and how far
 * behind. */
typedef struct sample_axis {
    real_bits base[2][WIDE];
    real share[2][WIDE];
} sample_axis;

/* Velocity by linear interpolation in the tile at x, in cells from the block; the lanes that lie in
 * the tile. */
INLINE wide_int sample_tile(const real *tile, const wide x[3], wide v[3], int lanes, int dim) {
    const wide half = wide_splat((real)0.5), low = wide_splat(tile_low),
               high = wide_splat(tile_high);
    wide_int inside = ~wide_splat_int(0);
    sample_axis axis[3];
    for (int a = 0; a < dim; a++) {
        inside &= (x[a] >= low) & (x[a] < high);
        wide at = wide_min(wide_max(x[a], low), wide_splat(tile_last)), shifted = at - half;
        wide whole = wide_floor(at), middle = wide_floor(shifted);
        wide_store_int(axis[a].base[ON_FACES], wide_to_int(whole) + wide_splat_int(TILE_BEFORE));
        wide_store_int(axis[a].base[IN_MIDDLES], wide_to_int(middle) + wide_splat_int(TILE_BEFORE));
        wide_store(axis[a].share[ON_FACES], at - whole);
        wide_store(axis[a].share[IN_MIDDLES], shifted - middle);
    }
    real out[3][WIDE] = {{0}};
    for (int lane = 0; lane < lanes; lane++)
        for (int c = 0; c < dim; c++) {
            const real fx = axis[0].share[c != 0][lane], fy = axis[1].share[c != 1][lane];
            const real fz = axis[dim - 1].share[c != dim - 1][lane];
            const int at = tile_index((int)axis[0].base[c != 0][lane],
                                      dim == 3 ? (int)axis[1].base[c != 1][lane] : 0,
                                      (int)axis[dim - 1].base[c != dim - 1][lane], dim);
            const real *from = tile + c * face_tile_reals(dim) + at * FACE_REALS;
            quad side[2];
            for (int i = 0; i < 2; i++) {
                quad first = quad_load(from + tile_index(i, 0, 0, dim) * FACE_REALS), last = first;
                if (dim == 3) last = quad_load(from + tile_index(i, 1, 0, dim) * FACE_REALS);
                side[i] = dim == 3 ? quad_fma(quad_splat(fy), last - first, first) : first;
            }
            quad sum = quad_fma(quad_splat(fx), side[1] - side[0], side[0]);
            out[c][lane] = real_fma(fz, sum[FACE_NEXT] - sum[FACE_VELOCITY], sum[FACE_VELOCITY]);
        }
    for (int a = 0; a < dim; a++) v[a] = wide_load(out[a]);
    return inside;
}

/* ---- A block --------------------------------------------------------------------------------- */

/* Where particles of a block may go: inside closed sides. And what else they may meet. */
typedef struct motion_limits {
    wide low[3], high[3];
    bool may_leave; /* through an open side */
    boundary_part colliders;
} motion_limits;

/* Particles stay this far inside closed sides, in cells; where there is none they are not held. */
static const double side_margin = 1e-4, unlimited = 1e6;

INLINE motion_limits limits_of(const flip_view *view, int32_t block, int dim) {
    const spate_simulation *sim = view->f->sim;
    const domain *d = view->domain;
    motion_limits limits = {0};
    for (int a = 0; a < dim; a++) {
        const double corner = (double)view->block_coords[block][a] * BLOCK_EDGE;
        double low = -unlimited, high = unlimited;
        if (wall_is_closed(d->walls[a][0])) low = side_margin - corner;
        if (wall_is_closed(d->walls[a][1])) high = d->cells[a] - side_margin - corner;
        limits.may_leave |= d->walls[a][0] == WALL_OPEN || d->walls[a][1] == WALL_OPEN;
        limits.low[a] = wide_splat((real)fmax(low, -unlimited));
        limits.high[a] = wide_splat((real)fmin(high, unlimited));
    }
    double middle[3];
    simulation_middle(sim, view->block_coords[block], middle);
    limits.colliders = simulation_at_seam(sim, block)
                           ? boundary_all(&sim->boundary)
                           : boundary_around(&sim->boundary, middle, view->reach);
    return limits;
}

/* What a block is gathered with. */
typedef struct block_gather {
    const flip_view *view;
    const int32_t *coords;
    const real *tile;
    const motion_limits *limits;
    block_touches *touches;
    flip_extremes *seen;
} block_gather;

/* Eight of its particles, of which the first `lanes` are there. */
typedef struct eight_particles {
    int64_t first;
    int lanes;
    wide x[3], v[3];      /* position and velocity, old and then new */
    wide u[3];            /* the grid's velocity at x */
    wide displacement[3]; /* how far they are moved besides */
} eight_particles;

/* What lies behind the last particle belongs to another block, perhaps another thread; those lanes
 * are at rest in the block's corner. */
INLINE void load_lanes(const particles *p, eight_particles *e, int dim) {
    const int64_t i = e->first;
    if (e->lanes == WIDE) {
        for (int a = 0; a < dim; a++) e->x[a] = wide_load(PLANE(p, position, a) + i);
        load_quads(p->velocity + i, 1, e->v);
        return;
    }
    for (int a = 0; a < dim; a++) {
        e->x[a] = e->v[a] = wide_splat(0);
        for (int lane = 0; lane < e->lanes; lane++) {
            e->x[a][lane] = PLANE(p, position, a)[i + lane];
            e->v[a][lane] = p->velocity[i + lane][a];
        }
    }
}

/* ---- Velocity -------------------------------------------------------------------------------- */

INLINE void gather_lanes(const block_gather *b, eight_particles *e, bool affine, int dim) {
    particles *p = b->view->particles;
    kernel_weights s;
    gathered found;
    const wide alpha = wide_splat(b->view->alpha);
    fill_weights(&s, e->x, affine, dim);
    for (int lane = 0; lane < WIDE; lane++)
        for (int c = 0; c < dim; c++)
            gather_component(b->tile + c * face_tile_reals(dim), &s, lane, c, &found, affine, dim);
    for (int c = 0; c < dim; c++) {
        wide sums[3];
        load_quads(found.sums[c], 1, sums);
        e->u[c] = sums[FACE_VELOCITY];
        e->displacement[c] = sums[FACE_DISPLACEMENT];
        e->v[c] = wide_fma(alpha, e->v[c] + sums[FACE_CHANGE] - e->u[c], e->u[c]);
    }
    for (int lane = 0; lane < e->lanes; lane++) {
        const int64_t i = e->first + lane;
        for (int c = 0; c < dim; c++) p->velocity[i][c] = e->v[c][lane];
        for (int a = 0; a < dim && affine; a++)
            for (int c = 0; c < dim; c++) p->affine[i][a][c] = found.moment[c][a][lane];
    }
}

/* ---- Motion ---------------------------------------------------------------------------------- */

/* Velocity at a stage of the Runge-Kutta scheme. Lanes that have left the tile ask the whole grid;
 * where that ends too they go on as in the stage before. */
INLINE void sample_lanes(const block_gather *b, int lanes, const wide x[3], const wide before[3],
                         wide v[3], int dim) {
    wide_int inside = sample_tile(b->tile, x, v, lanes, dim);
    if (wide_all(inside)) return;
    for (int lane = 0; lane < lanes; lane++) {
        if (inside[lane]) continue;
        double at[3] = {0}, sample[3];
        for (int a = 0; a < dim; a++)
            at[a] = (double)x[a][lane] + (double)b->coords[a] * BLOCK_EDGE;
        const bool found = flip_sample(b->view->f, at, sample);
        for (int a = 0; a < dim; a++) v[a][lane] = found ? (real)sample[a] : before[a][lane];
    }
}

/* Runge-Kutta of order 1 to 3 (Ralston) through the grid's velocity; x are positions, k1 the
 * velocity there. */
INLINE void advect_lanes(const block_gather *b, int lanes, wide x[3], const wide k1[3], int dim) {
    const wide step = wide_splat(b->view->step);
    const int order = b->view->advection_order;
    wide k2[3], k3[3], y[3];
    for (int a = 0; a < dim && order > 1; a++)
        y[a] = wide_fma(wide_splat((real)0.5) * step, k1[a], x[a]);
    if (order > 1) sample_lanes(b, lanes, y, k1, k2, dim);
    for (int a = 0; a < dim && order > 2; a++)
        y[a] = wide_fma(wide_splat((real)0.75) * step, k2[a], x[a]);
    if (order > 2) sample_lanes(b, lanes, y, k2, k3, dim);
    for (int a = 0; a < dim; a++) {
        wide k = order == 1 ? k1[a]
                 : order == 2
                     ? k2[a]
                     : (wide_splat(2) * k1[a] + wide_splat(3) * k2[a] + wide_splat(4) * k3[a]) *
                           wide_splat((real)(1.0 / 9));
        x[a] = wide_fma(step, k, x[a]);
    }
}

/* Squares of speeds above this are not finite, or soon will not be. */
static const real most_speed2 = (real)1e30;

/* Particles that end in a collider are put beside it. */
static void collide_lanes(const block_gather *b, const eight_particles *e, wide to[3]) {
    const spate_simulation *sim = b->view->f->sim;
    const particles *p = b->view->particles;
    const int dim = sim->scene->dim;
    const double dx = b->view->domain->dx;
    for (int lane = 0; lane < e->lanes; lane++) {
        double from[3] = {0}, wished[3] = {0}, x[3], y[3], end[3], v[3] = {0};
        real *velocity = p->velocity[e->first + lane];
        for (int a = 0; a < dim; a++) {
            from[a] = (double)e->x[a][lane], wished[a] = (double)to[a][lane];
            v[a] = (double)velocity[a];
            if (!isfinite(wished[a])) return; /* reported soon */
        }
        simulation_world(sim, b->coords, from, x);
        simulation_world(sim, b->coords, wished, y);
        vec_copy(end, y);
        for (int a = 0; a < dim; a++) x[a] = y[a] + (from[a] - wished[a]) * dx; /* across a seam */
        bool is_stuck;
        if (!collide(&b->limits->colliders, dx, x, end, v, &is_stuck)) continue;
        b->seen->stuck += is_stuck;
        double lost[3] = {0};
        for (int a = 0; a < dim; a++) {
            to[a][lane] = (real)(wished[a] + (end[a] - y[a]) / dx);
            lost[a] = ((double)velocity[a] - v[a]) * (double)p->mass[e->first + lane];
            velocity[a] = (real)v[a];
        }
        flip_touch(b->view->f, &b->limits->colliders, b->touches, end, lost);
    }
}

/* Returns whether any was not. */
INLINE bool hold_inside(const motion_limits *limits, wide x[3], int dim) {
    wide_int outside = wide_splat_int(0);
    for (int a = 0; a < dim; a++) {
        outside |= (x[a] < limits->low[a]) | (x[a] > limits->high[a]);
        x[a] = wide_min(wide_max(x[a], limits->low[a]), limits->high[a]);
    }
    return wide_any(outside);
}

/* Out of colliders and inside the domain's sides. Where the two meet, what one puts right the other
 * may undo, by less each time. */
INLINE void hold_outside(const block_gather *b, const eight_particles *e, wide y[3], int dim) {
    const int rounds = 4;
    for (int n = 0; n < rounds; n++) {
        collide_lanes(b, e, y);
        if (!hold_inside(b->limits, y, dim)) return;
    }
}

/* A particle that has come to a side does not run into it any more. */
INLINE void stop_at_sides(const block_gather *b, const eight_particles *e, const wide x[3],
                          int dim) {
    const motion_limits *limits = b->limits;
    for (int a = 0; a < dim; a++)
        for (int lane = 0; lane < e->lanes; lane++) {
            real *w = &b->view->particles->velocity[e->first + lane][a];
            if ((x[a][lane] <= limits->low[a][lane] && *w < 0) ||
                (x[a][lane] >= limits->high[a][lane] && *w > 0))
                *w = 0;
        }
}

/* Positions of eight particles, and what is seen of them; the lanes that are not good. */
INLINE wide_int move_lanes(const block_gather *b, const eight_particles *e, int dim) {
    const particles *p = b->view->particles;
    wide y[3], speed2 = wide_splat(0), move2 = speed2;
    wide_int used = ~wide_splat_int(0);
    for (int a = 0; a < dim; a++)
        y[a] = e->x[a] + e->displacement[a], speed2 = wide_fma(e->v[a], e->v[a], speed2);
    advect_lanes(b, e->lanes, y, e->u, dim);
    hold_inside(b->limits, y, dim);
    if (b->limits->colliders.count) hold_outside(b, e, y, dim);
    stop_at_sides(b, e, y, dim);
    for (int a = 0; a < dim; a++) {
        wide moved = y[a] - e->x[a];
        real *to = PLANE(p, position, a) + e->first;
        move2 = wide_fma(moved, moved, move2);
        if (e->lanes == WIDE)
            wide_store(to, y[a]);
        else
            for (int lane = 0; lane < e->lanes; lane++) to[lane] = y[a][lane];
    }
    for (int lane = e->lanes; lane < WIDE; lane++) used[lane] = 0;
    wide_int good =
        (speed2 < wide_splat(most_speed2)) & (move2 < wide_splat(FLIP_MOST * FLIP_MOST));
    b->seen->speed2 = wide_max(wide_select(good & used, speed2, wide_splat(0)), b->seen->speed2);
    b->seen->move2 = wide_max(wide_select(good & used, move2, wide_splat(0)), b->seen->move2);
    return ~good & used;
}

/* ---- All blocks ------------------------------------------------------------------------------ */

static void note_bad(flip_extremes *seen, int64_t i, wide_int bad) {
    for (int lane = 0; lane < WIDE; lane++)
        if (bad[lane] && (seen->bad < 0 || i + lane < seen->bad)) seen->bad = i + lane;
}

INLINE void gather_block(const block_gather *b, int32_t block, bool affine, int dim) {
    const int64_t last = b->view->block_first[block + 1];
    for (int64_t i = b->view->block_first[block]; i < last; i += WIDE) {
        eight_particles e = {.first = i, .lanes = last - i < WIDE ? (int)(last - i) : WIDE};
        load_lanes(b->view->particles, &e, dim);
        gather_lanes(b, &e, affine, dim);
        if (SUPPORT != 2) sample_tile(b->tile, e.x, e.u, e.lanes, dim);
        wide_int bad = move_lanes(b, &e, dim);
        if (wide_any(bad)) note_bad(b->seen, i, bad);
    }
}

INLINE void gather_chunk(void *data, chunk items, int dim) {
    const flip_view *view = data;
    real tile[3 * TILE_EDGE * TILE_EDGE * TILE_EDGE * FACE_REALS + WIDE]
        __attribute__((aligned(64)));
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = view->occupied[o];
        const motion_limits limits = limits_of(view, block, dim);
        const block_gather b = {.view = view,
                                .coords = view->block_coords[block],
                                .tile = tile,
                                .limits = &limits,
                                .touches = &view->touches[o],
                                .seen = &view->seen[items.worker]};
        tile_map map;
        b.touches->count = 0;
        map_tile(&map, view, b.coords, dim);
        for (int c = 0; c < dim; c++)
            load_component(view, &map, tile + c * face_tile_reals(dim), c, dim);
        if (view->affine)
            gather_block(&b, block, true, dim);
        else
            gather_block(&b, block, false, dim);
        if (limits.may_leave) b.seen->removed += simulation_remove_outside(view->f->sim, block);
        if (view->f->adaptive) flip_mark_splits(view->f, block);
    }
}

#endif
