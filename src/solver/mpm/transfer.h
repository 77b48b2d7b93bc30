/*
 * Between a particle and its SUPPORT^dim nodes. SUPPORT, a constant of the including file, is the
 * kernel's reach: 2 nodes along an axis (linear), 3 (quadratic B-spline), 4 (cubic).
 *
 * A node is four reals, (momentum, mass) on the way to the grid and (v*, 0) on the way back, or eight,
 * (momentum, mass | impulse, 0) and (v*, 0 | v^n, 0), where a scheme asks for v^n. Nodes along the
 * last axis lie one after another and make a row. What a particle gives to a node is linear in its
 * distance, so a node costs two multiply-adds.
 *
 * With f the particle's place between two nodes (quadratic: between two middles), 0 <= f < 1, an axis
 * has weights w, distances d in cells, and slopes s:
 *
 *     quadratic   (1-f)^2/2, 1/2+f(1-f), f^2/2         d = -1/2-f ...   s = w d,   D = 1/4
 *     cubic       (1-f)^3/6, 2/3-f^2+f^3/2, ..., f^3/6  d = -1-f ...    s = w d,   D = 1/3
 *     linear      1-f, f                               d = -f, 1-f      s = -1, 1
 *
 * The gradient of the interpolated velocity is sum v s / D. For the linear kernel w d = D s with
 * D = f (1 - f), which vanishes at nodes: there s is the gradient itself, and the particle keeps the
 * D of its last gather (field `moment`) as a factor on what it scatters: sum w v d is then handed on
 * as it was gathered, and angular momentum is kept.
 */
#ifndef SPATE_SOLVER_TRANSFER_H
#define SPATE_SOLVER_TRANSFER_H

#include "core/simd.h"
#include "state/blocks.h"

/* 1 / D, and 1 for the linear kernel. */
#define INVERSE_MOMENT ((real)(SUPPORT == 3 ? 4 : SUPPORT == 4 ? 3 : 1))

/* Weights and slopes of eight particles along an axis. */
typedef struct axis_weights {
    real w[SUPPORT][WIDE];
    real s[SUPPORT][WIDE];
} axis_weights;

/* What the transfer needs to know of eight particles. */
typedef struct stencil {
    axis_weights axis[3];
    real_bits offset[WIDE]; /* of the first node in the tile, in nodes */
} stencil;

INLINE void axis_fill(axis_weights *a, wide f) {
    wide half = wide_splat((real)0.5), one = wide_splat(1), g = one - f;
    wide w[SUPPORT], d = wide_splat(0) - f;
    if (SUPPORT == 2) {
        w[0] = g, w[1] = f;
    } else if (SUPPORT == 3) {
        w[0] = half * g * g, w[1] = wide_fma(f, g, half), w[SUPPORT - 1] = half * f * f;
        d -= half;
    } else {
        const wide sixth = wide_splat((real)(1.0 / 6)), two_thirds = wide_splat((real)(2.0 / 3));
        wide f2 = f * f, g2 = g * g;
        w[0] = sixth * g2 * g, w[SUPPORT - 1] = sixth * f2 * f;
        w[1] = wide_fma(f2, wide_fma(half, f, wide_splat(-1)), two_thirds);
        w[SUPPORT - 2] = wide_fma(g2, wide_fma(half, g, wide_splat(-1)), two_thirds);
        d -= one;
    }
    for (int k = 0; k < SUPPORT; k++) {
        wide_store(a->w[k], w[k]);
        wide_store(a->s[k],
                   SUPPORT == 2 ? wide_splat(k ? 1 : -1) : w[k] * (d + wide_splat((real)k)));
    }
}

/* Positions of particles i .. i + 7 to weights and tile offsets. */
INLINE void stencil_fill(stencil *s, const particles *p, int64_t i, int dim) {
    wide_int offset = wide_splat_int(0);
    const wide shift = wide_splat(SUPPORT == 3 ? 0 : (real)0.5);
    for (int a = 0; a < dim; a++) {
        wide x = wide_load(PLANE(p, position, a) + i) - shift, base = wide_floor(x), f = x - base;
        offset = offset * wide_splat_int(TILE_EDGE) + wide_to_int(base) +
                 wide_splat_int(SUPPORT == 2 ? 2 : 1);
        axis_fill(&s->axis[a], f);
    }
    wide_store_int(s->offset, offset);
}

/* ---- Rows of nodes of four reals --------------------------------------------------------------- */

/* SUPPORT nodes as registers: wides, and a quad where half a wide is left. */
enum { ROW_WIDES = SUPPORT / 2, ROW_HAS_REST = SUPPORT % 2 };

typedef struct row {
    wide part[2];
    quad rest;
} row;

INLINE row row_zero(void) {
    row r = {.rest = quad_splat(0)};
    for (int k = 0; k < ROW_WIDES; k++) r.part[k] = wide_splat(0);
    return r;
}
INLINE row row_load(const real *at) {
    row r = {.rest = quad_splat(0)};
    for (int k = 0; k < ROW_WIDES; k++) r.part[k] = wide_load(at + WIDE * k);
    if (ROW_HAS_REST) r.rest = quad_load(at + WIDE * ROW_WIDES);
    return r;
}
INLINE void row_store(real *at, row r) {
    for (int k = 0; k < ROW_WIDES; k++) wide_store(at + WIDE * k, r.part[k]);
    if (ROW_HAS_REST) quad_store(at + WIDE * ROW_WIDES, r.rest);
}
INLINE row row_plus(row a, row b) {
    for (int k = 0; k < ROW_WIDES; k++) a.part[k] += b.part[k];
    if (ROW_HAS_REST) a.rest += b.rest;
    return a;
}
INLINE row row_times(row a, row b) {
    for (int k = 0; k < ROW_WIDES; k++) a.part[k] *= b.part[k];
    if (ROW_HAS_REST) a.rest *= b.rest;
    return a;
}
INLINE row row_scaled(real s, row a) {
    for (int k = 0; k < ROW_WIDES; k++) a.part[k] *= wide_splat(s);
    if (ROW_HAS_REST) a.rest *= quad_splat(s);
    return a;
}
/* s * a + b */
INLINE row row_fma(real s, row a, row b) {
    for (int k = 0; k < ROW_WIDES; k++) b.part[k] = wide_fma(wide_splat(s), a.part[k], b.part[k]);
    if (ROW_HAS_REST) b.rest = quad_fma(quad_splat(s), a.rest, b.rest);
    return b;
}
/* a * b + c, node by node */
INLINE row row_times_plus(row a, row b, row c) {
    for (int k = 0; k < ROW_WIDES; k++) c.part[k] = wide_fma(a.part[k], b.part[k], c.part[k]);
    if (ROW_HAS_REST) c.rest = quad_fma(a.rest, b.rest, c.rest);
    return c;
}
/* At every node its own number n[k][lane]. */
INLINE row row_of_numbers(const real n[SUPPORT][WIDE], int lane) {
    row r = {.rest = quad_splat(n[SUPPORT - 1][lane])};
    for (int k = 0; k < ROW_WIDES; k++)
        r.part[k] = wide_join(quad_splat(n[2 * k][lane]), quad_splat(n[2 * k + 1][lane]));
    return r;
}
/* At every node the same. */
INLINE row row_of_value(quad v) {
    row r = {.rest = v};
    for (int k = 0; k < ROW_WIDES; k++) r.part[k] = wide_twice(v);
    return r;
}
/* Sum over the nodes. */
INLINE quad row_sum(row r) {
    quad sum = wide_low(r.part[0]) + wide_high(r.part[0]);
    for (int k = 1; k < ROW_WIDES; k++) sum += wide_low(r.part[k]) + wide_high(r.part[k]);
    return ROW_HAS_REST ? sum + r.rest : sum;
}

/* ---- Scatter and gather ------------------------------------------------------------------------ */

/* Adds a particle to the tile: at a node, w q[0] + sum_a s_a q[a + 1]. */
INLINE void scatter_fused(real *tile, const stencil *st, int lane, const quad q[4], int dim) {
    real *first = tile + (int64_t)st->offset[lane] * 4;
    row w = row_of_numbers(st->axis[dim - 1].w, lane),
        s = row_of_numbers(st->axis[dim - 1].s, lane);
    row base = row_times_plus(s, row_of_value(q[dim]), row_times(w, row_of_value(q[0])));
    row along_x = row_times(w, row_of_value(q[1])), along_y = along_x;
    if (dim == 3) along_y = row_times(w, row_of_value(q[2]));
    for (int i = 0; i < SUPPORT; i++) {
        real wx = st->axis[0].w[i][lane], sx = st->axis[0].s[i][lane];
        row part = row_fma(sx, along_x, row_scaled(wx, base));
        if (dim == 2) {
            real *at = first + i * TILE_EDGE * 4;
            row_store(at, row_plus(part, row_load(at)));
            continue;
        }
        row slope = row_scaled(wx, along_y);
        for (int j = 0; j < SUPPORT; j++) {
            real *at = first + (i * TILE_EDGE + j) * TILE_EDGE * 4;
            real wy = st->axis[1].w[j][lane], sy = st->axis[1].s[j][lane];
            row_store(at, row_fma(wy, part, row_fma(sy, slope, row_load(at))));
        }
    }
}

/* sum w v into q[0] and, for each axis, the change over a cell, sum s_a v / D, into q[a + 1]. */
INLINE void gather_fused(const real *tile, const stencil *st, int lane, quad q[4], int dim) {
    const real *first = tile + (int64_t)st->offset[lane] * 4;
    row v = row_zero(), x = v, y = v;
    for (int i = 0; i < SUPPORT; i++) {
        real wx = st->axis[0].w[i][lane], sx = st->axis[0].s[i][lane];
        row sum = row_zero();
        if (dim == 2)
            sum = row_load(first + i * TILE_EDGE * 4);
        else {
            row slope = sum;
            for (int j = 0; j < SUPPORT; j++) {
                row n = row_load(first + (i * TILE_EDGE + j) * TILE_EDGE * 4);
                sum = row_fma(st->axis[1].w[j][lane], n, sum);
                slope = row_fma(st->axis[1].s[j][lane], n, slope);
            }
            y = row_fma(wx, slope, y);
        }
        v = row_fma(wx, sum, v);
        x = row_fma(sx, sum, x);
    }
    row w = row_of_numbers(st->axis[dim - 1].w, lane),
        s = row_of_numbers(st->axis[dim - 1].s, lane);
    const quad scale = quad_splat(INVERSE_MOMENT);
    q[0] = row_sum(row_times(w, v));
    q[1] = scale * row_sum(row_times(w, x));
    if (dim == 3) q[2] = scale * row_sum(row_times(w, y));
    q[dim] = scale * row_sum(row_times(s, v));
}

/* The same two for nodes of eight reals, a register each: the last axis is dealt with node by node,
 * so that all sums stay in registers. */
INLINE void scatter_split(real *tile, const stencil *st, int lane, const wide q[4], int dim) {
    real *first = tile + (int64_t)st->offset[lane] * 8;
    const axis_weights *x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[dim - 1];
    for (int i = 0; i < SUPPORT; i++) {
        wide wx = wide_splat(x->w[i][lane]);
        wide base = wide_fma(wide_splat(x->s[i][lane]), q[1], wx * q[0]);
        wide along_y = wx * q[2], along_z = wx * q[dim];
        for (int j = 0; j < (dim == 3 ? SUPPORT : 1); j++) {
            real *row_at = first + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * 8;
            wide value = base, slope = along_z;
            if (dim == 3) {
                wide wy = wide_splat(y->w[j][lane]);
                value = wide_fma(wide_splat(y->s[j][lane]), along_y, wy * base);
                slope = wy * along_z;
            }
            for (int k = 0; k < SUPPORT; k++) {
                wide sum = wide_fma(wide_splat(z->s[k][lane]), slope, wide_load(row_at + 8 * k));
                wide_store(row_at + 8 * k, wide_fma(wide_splat(z->w[k][lane]), value, sum));
            }
        }
    }
}

/* The high half of q[0] is sum w v^n; those of the others are not asked for. */
INLINE void gather_split(const real *tile, const stencil *st, int lane, wide q[4], int dim) {
    const real *first = tile + (int64_t)st->offset[lane] * 8;
    const axis_weights *x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[dim - 1];
    wide zero = wide_splat(0), sum = zero, along_x = zero, along_y = zero, along_z = zero;
    for (int i = 0; i < SUPPORT; i++) {
        wide plane = zero, plane_y = zero, plane_z = zero;
        for (int j = 0; j < (dim == 3 ? SUPPORT : 1); j++) {
            const real *row_at = first + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * 8;
            wide value = zero, slope = zero;
            for (int k = 0; k < SUPPORT; k++) {
                wide n = wide_load(row_at + 8 * k);
                value = wide_fma(wide_splat(z->w[k][lane]), n, value);
                slope = wide_fma(wide_splat(z->s[k][lane]), n, slope);
            }
            if (dim == 2) {
                plane = value, plane_z = slope;
                continue;
            }
            wide wy = wide_splat(y->w[j][lane]);
            plane = wide_fma(wy, value, plane);
            plane_y = wide_fma(wide_splat(y->s[j][lane]), value, plane_y);
            plane_z = wide_fma(wy, slope, plane_z);
        }
        wide wx = wide_splat(x->w[i][lane]);
        sum = wide_fma(wx, plane, sum);
        along_x = wide_fma(wide_splat(x->s[i][lane]), plane, along_x);
        along_y = wide_fma(wx, plane_y, along_y);
        along_z = wide_fma(wx, plane_z, along_z);
    }
    const wide scale = wide_splat(INVERSE_MOMENT);
    q[0] = sum;
    q[1] = scale * along_x;
    if (dim == 3) q[2] = scale * along_y;
    q[dim] = scale * along_z;
}

#endif
