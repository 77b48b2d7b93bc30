/* Faces to particles: velocity, its change and its affine moment; then the particles move. */
#ifndef SPATE_SOLVER_FLIP_GATHER_H
#define SPATE_SOLVER_FLIP_GATHER_H

#include "solver/collide.h"
#include "solver/flip/transfer.h"
#include "solver/lanes.h"

/* ---- The tile -------------------------------------------------------------------------------- */

/* Numbers of a face: velocity, its change, shift, and the velocity of the next face along the last axis,
 * so that what lies between the two is one load. */
enum { FACE_REALS = 4, FACE_VELOCITY = 0, FACE_CHANGE, FACE_SHIFT, FACE_NEXT };

INLINE int face_tile_reals(int dim) { return tile_nodes(dim) * FACE_REALS; }

/* A row of eight cells; where there is no brick there is no particle near. */
INLINE wide load_row(const real *values, int64_t at) {
    return at < 0 ? wide_splat(0) : wide_load(values + at);
}

/* Eight faces along the last axis, mirrored as the map says: a block begins with its brick, or in the
 * middle of it. */
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

INLINE void store_faces(real *to, wide velocity, wide change, wide shift) {
    wide next = __builtin_shufflevector(velocity, wide_splat(0), 1, 2, 3, 4, 5, 6, 7, 8);
    wide r[4] = {velocity, change, shift, next};
    transpose_quads(r);
    for (int k = 0; k < 4; k++) {
        quad_store(to + k * FACE_REALS, wide_low(r[k]));
        quad_store(to + (k + 4) * FACE_REALS, wide_high(r[k]));
    }
}

INLINE void load_component(const flip *f, const tile_map *map, real *tile, int c, int dim) {
    const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
    const axis_map *z = &map->axis[dim - 1][c != dim - 1];
    const wide most = wide_splat((real)0.5), none = wide_splat(0);
    for (int i = 0; i < TILE_EDGE; i++)
        for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            const wide signs =
                wide_splat(x->sign[i] * (dim == 3 ? y->sign[j] : 1)) * wide_load(z->sign);
            wide velocity = load_faces(f->grid.velocity[c], rows, z, signs);
            wide before = load_faces(f->grid.before[c], rows, z, signs);
            wide shift = f->shifts ? load_faces(f->grid.shift[c], rows, z, signs) : none;
            shift = wide_min(wide_max(shift, none - most), most);
            store_faces(tile + tile_index(i, j, 0, dim) * FACE_REALS, velocity, velocity - before,
                        shift);
        }
}

/* ---- Sums over faces ------------------------------------------------------------------------- */

/* What eight particles gather: sum w u; sum w (u - before); sum w shift; sum w u (x_f - x_p) by axis;
 * for each component. */
typedef struct gathered {
    real u[3][WIDE], change[3][WIDE], shift[3][WIDE], moment[3][3][WIDE];
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
INLINE void gather_component(const real *tile, const stencil *s, int lane, int c, gathered *out,
                             bool affine, int dim) {
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
    out->u[c][lane] = all[FACE_VELOCITY];
    out->change[c][lane] = all[FACE_CHANGE];
    out->shift[c][lane] = all[FACE_SHIFT];
    if (!affine) return;
    out->moment[c][0][lane] = face_row_sum(&in_x, z->w, lane)[FACE_VELOCITY];
    if (dim == 3) out->moment[c][1][lane] = face_row_sum(&in_y, z->w, lane)[FACE_VELOCITY];
    out->moment[c][dim - 1][lane] = face_row_sum(&sum, z->arm, lane)[FACE_VELOCITY];
}

/* The place of eight points in the tile along one axis: the face before each, and how far behind. */
typedef struct sample_axis {
    real_bits base[2][WIDE];
    real share[2][WIDE];
} sample_axis;

/* Velocity by linear interpolation in the tile at x, in cells from the block; the lanes that lie in the
 * tile. */
INLINE wide_int sample_tile(const real *tile, const wide x[3], wide v[3], int lanes, int dim) {
    const wide half = wide_splat((real)0.5), low = wide_splat((real)-1.5), high = wide_splat(5);
    wide_int inside = ~wide_splat_int(0);
    sample_axis axis[3];
    for (int a = 0; a < dim; a++) {
        inside &= (x[a] >= low) & (x[a] < high);
        wide at = wide_min(wide_max(x[a], low), wide_splat((real)4.999)), shifted = at - half;
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

/* ---- Velocity -------------------------------------------------------------------------------- */

/* New velocities of the first `lanes` of eight particles; v is what they were, then what they are, u
 * the grid's velocity there, `shift` how far they are moved besides. */
INLINE void gather_lanes(const flip *f, particles *p, int64_t i, int lanes, const real *tile,
                         const wide x[3], wide v[3], wide u[3], wide shift[3], bool affine,
                         int dim) {
    stencil s;
    gathered sums;
    const wide alpha = wide_splat(f->alpha);
    stencil_fill(&s, x, dim);
    for (int lane = 0; lane < WIDE; lane++)
        for (int c = 0; c < dim; c++)
            gather_component(tile + c * face_tile_reals(dim), &s, lane, c, &sums, affine, dim);
    for (int c = 0; c < dim; c++) {
        u[c] = wide_load(sums.u[c]);
        shift[c] = wide_load(sums.shift[c]);
        v[c] = wide_fma(alpha, v[c] + wide_load(sums.change[c]) - u[c], u[c]);
    }
    for (int lane = 0; lane < lanes; lane++) {
        for (int c = 0; c < dim; c++) p->velocity[i + lane][c] = v[c][lane];
        for (int a = 0; a < dim && affine; a++)
            for (int c = 0; c < dim; c++) p->affine[i + lane][a][c] = sums.moment[c][a][lane];
    }
}

/* ---- Motion ---------------------------------------------------------------------------------- */

/* Where particles of a block may go: inside closed sides. And what else they may meet. */
typedef struct vicinity {
    const int32_t *coords;
    wide low[3], high[3];
    bool open; /* some may leave through an open side */
    boundary_part solid;
} vicinity;

INLINE vicinity vicinity_of(const flip *f, int32_t block, int dim) {
    const spate_simulation *sim = f->sim;
    const domain *d = &sim->scene->domain;
    vicinity v = {.coords = sim->blocks.coords[block]};
    for (int a = 0; a < dim; a++) {
        double corner = (double)v.coords[a] * BLOCK_EDGE, limits[2] = {-1e6, 1e6};
        if (flip_is_mirror(d->walls[a][0])) limits[0] = 1e-4 - corner;
        if (flip_is_mirror(d->walls[a][1])) limits[1] = d->cells[a] - 1e-4 - corner;
        v.open |= d->walls[a][0] == WALL_OPEN || d->walls[a][1] == WALL_OPEN;
        v.low[a] = wide_splat((real)fmax(limits[0], -1e6));
        v.high[a] = wide_splat((real)fmin(limits[1], 1e6));
    }
    double middle[3];
    simulation_middle(sim, v.coords, middle);
    v.solid = simulation_at_seam(sim, block) ? boundary_all(&sim->boundary)
                                             : boundary_around(&sim->boundary, middle, f->reach);
    return v;
}

/* Velocity at a stage of the Runge-Kutta scheme. Lanes that have left the tile ask the whole grid; where
 * that ends too they go on as they were. */
INLINE void sample_lanes(const flip *f, const vicinity *near, const real *tile, const wide x[3],
                         const wide before[3], wide v[3], int lanes, int dim) {
    wide_int inside = sample_tile(tile, x, v, lanes, dim);
    if (wide_all(inside)) return;
    for (int lane = 0; lane < lanes; lane++) {
        if (inside[lane]) continue;
        double at[3] = {0}, sample[3];
        for (int a = 0; a < dim; a++)
            at[a] = (double)x[a][lane] + (double)near->coords[a] * BLOCK_EDGE;
        bool known = flip_sample(f, at, sample);
        for (int a = 0; a < dim; a++) v[a][lane] = known ? (real)sample[a] : before[a][lane];
    }
}

/* Runge-Kutta of order 1 to 3 (Ralston) through the grid's velocity; x are positions, k1 the velocity
 * there. */
INLINE void advect_lanes(const flip *f, const vicinity *near, const real *tile, wide x[3],
                         const wide k1[3], int lanes, int dim) {
    const wide step = wide_splat(f->dt / f->dx);
    const int order = f->options->advection + 1;
    wide k2[3], k3[3], y[3];
    for (int a = 0; a < dim && order > 1; a++)
        y[a] = wide_fma(wide_splat((real)0.5) * step, k1[a], x[a]);
    if (order > 1) sample_lanes(f, near, tile, y, k1, k2, lanes, dim);
    for (int a = 0; a < dim && order > 2; a++)
        y[a] = wide_fma(wide_splat((real)0.75) * step, k2[a], x[a]);
    if (order > 2) sample_lanes(f, near, tile, y, k2, k3, lanes, dim);
    for (int a = 0; a < dim; a++) {
        wide k = order == 1 ? k1[a]
                 : order == 2
                     ? k2[a]
                     : (wide_splat(2) * k1[a] + wide_splat(3) * k2[a] + wide_splat(4) * k3[a]) *
                           wide_splat((real)(1.0 / 9));
        x[a] = wide_fma(step, k, x[a]);
    }
}

/* Particles that end in a collider are put beside it. */
static void collide_lanes(const flip *f, const vicinity *near, particles *p, int64_t i, int lanes,
                          const wide from[3], wide to[3], block_touches *touches, int64_t *stuck) {
    const int dim = f->sim->scene->dim;
    const double dx = f->sim->scene->domain.dx;
    for (int lane = 0; lane < lanes; lane++) {
        double a[3] = {0}, b[3] = {0}, x[3], y[3], end[3], v[3] = {0};
        real *velocity = p->velocity[i + lane];
        for (int e = 0; e < dim; e++) {
            a[e] = (double)from[e][lane], b[e] = (double)to[e][lane], v[e] = (double)velocity[e];
            if (!isfinite(b[e])) return; /* reported soon */
        }
        simulation_world(f->sim, near->coords, a, x);
        simulation_world(f->sim, near->coords, b, y);
        vec_copy(end, y);
        for (int e = 0; e < dim; e++) x[e] = y[e] + (a[e] - b[e]) * dx; /* across a seam too */
        bool is_stuck;
        if (!collide(&near->solid, dx, x, end, v, &is_stuck)) continue;
        *stuck += is_stuck;
        double lost[3] = {0};
        for (int e = 0; e < dim; e++) {
            to[e][lane] = (real)(b[e] + (end[e] - y[e]) / dx);
            lost[e] = ((double)velocity[e] - v[e]) * (double)p->mass[i + lane];
            velocity[e] = (real)v[e];
        }
        flip_touch(f, &near->solid, touches, end, lost);
    }
}

/* Positions of eight particles, and what is seen of them; the lanes that are not good. */
INLINE wide_int move_lanes(const flip *f, const vicinity *near, particles *p, int64_t i, int lanes,
                           const real *tile, const wide x[3], const wide v[3], const wide shift[3],
                           const wide u[3], block_touches *touches, flip_extremes *seen, int dim) {
    wide y[3], speed2 = wide_splat(0), move2 = speed2;
    wide_int used = ~wide_splat_int(0);
    for (int a = 0; a < dim; a++) y[a] = x[a] + shift[a], speed2 = wide_fma(v[a], v[a], speed2);
    advect_lanes(f, near, tile, y, u, lanes, dim);
    for (int a = 0; a < dim; a++) y[a] = wide_min(wide_max(y[a], near->low[a]), near->high[a]);
    if (near->solid.count) {
        collide_lanes(f, near, p, i, lanes, x, y, touches, &seen->stuck);
        for (int a = 0; a < dim; a++) y[a] = wide_min(wide_max(y[a], near->low[a]), near->high[a]);
    }
    /* A particle that has come to a side does not run into it any more. */
    for (int a = 0; a < dim; a++)
        for (int lane = 0; lane < lanes; lane++) {
            real *w = &p->velocity[i + lane][a];
            if ((y[a][lane] <= near->low[a][lane] && *w < 0) ||
                (y[a][lane] >= near->high[a][lane] && *w > 0))
                *w = 0;
        }
    for (int a = 0; a < dim; a++) {
        wide moved = y[a] - x[a];
        move2 = wide_fma(moved, moved, move2);
        if (lanes == WIDE)
            wide_store(PLANE(p, position, a) + i, y[a]);
        else
            for (int lane = 0; lane < lanes; lane++) PLANE(p, position, a)[i + lane] = y[a][lane];
    }
    for (int lane = lanes; lane < WIDE; lane++) used[lane] = 0;
    wide_int good = (speed2 < wide_splat((real)1e30)) & (move2 < wide_splat(FLIP_MOST * FLIP_MOST));
    seen->speed2 = wide_max(wide_select(good & used, speed2, wide_splat(0)), seen->speed2);
    seen->move2 = wide_max(wide_select(good & used, move2, wide_splat(0)), seen->move2);
    return ~good & used;
}

/* ---- A block --------------------------------------------------------------------------------- */

static void note_bad(flip_extremes *seen, int64_t i, wide_int bad) {
    for (int lane = 0; lane < WIDE; lane++)
        if (bad[lane] && (seen->bad < 0 || i + lane < seen->bad)) seen->bad = i + lane;
}

/* Positions and velocities of `lanes` particles; what lies behind the last belongs to another block,
 * perhaps another thread, and those lanes are at rest in the block's corner. */
INLINE void load_lanes(const particles *p, int64_t i, int lanes, wide x[3], wide v[3], int dim) {
    if (lanes == WIDE) {
        for (int a = 0; a < dim; a++) x[a] = wide_load(PLANE(p, position, a) + i);
        load_quads(p->velocity + i, 1, v);
        return;
    }
    for (int a = 0; a < dim; a++) {
        x[a] = v[a] = wide_splat(0);
        for (int lane = 0; lane < lanes; lane++) {
            x[a][lane] = PLANE(p, position, a)[i + lane];
            v[a][lane] = p->velocity[i + lane][a];
        }
    }
}

INLINE void gather_block(const flip *f, int32_t block, const real *tile, const vicinity *near,
                         block_touches *touches, flip_extremes *seen, bool affine, int dim) {
    particles *p = &f->sim->particles;
    const int64_t last = f->sim->blocks.first[block + 1];
    for (int64_t i = f->sim->blocks.first[block]; i < last; i += WIDE) {
        const int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        wide x[3], v[3], u[3], shift[3];
        load_lanes(p, i, lanes, x, v, dim);
        gather_lanes(f, p, i, lanes, tile, x, v, u, shift, affine, dim);
        if (SUPPORT != 2) sample_tile(tile, x, u, lanes, dim);
        wide_int bad = move_lanes(f, near, p, i, lanes, tile, x, v, shift, u, touches, seen, dim);
        if (wide_any(bad)) note_bad(seen, i, bad);
    }
}

INLINE void gather_chunk(void *data, chunk items, int dim) {
    const flip *f = data;
    flip_extremes *seen = &f->seen[items.worker];
    real tile[3 * TILE_EDGE * TILE_EDGE * TILE_EDGE * FACE_REALS + WIDE]
        __attribute__((aligned(64)));
    for (int64_t o = items.begin; o < items.end; o++) {
        int32_t block = f->sim->blocks.occupied[o];
        vicinity near = vicinity_of(f, block, dim);
        tile_map map;
        f->touches[o].count = 0;
        map_tile(&map, f, near.coords, dim);
        for (int c = 0; c < dim; c++)
            load_component(f, &map, tile + c * face_tile_reals(dim), c, dim);
        if (f->affine)
            gather_block(f, block, tile, &near, &f->touches[o], seen, true, dim);
        else
            gather_block(f, block, tile, &near, &f->touches[o], seen, false, dim);
        if (near.open) seen->removed += simulation_remove_outside(f->sim, block);
    }
}

#endif
