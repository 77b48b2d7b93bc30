/*
 * Between a particle and its SUPPORT^dim nodes. SUPPORT, a constant of the including file, is the
 * kernel's reach: 2 nodes along an axis (linear), 3 (quadratic B-spline, and GIMP where the file
 * sets GIMP), 4 (cubic).
 *
 * A node is four reals, (momentum, mass) on the way to the grid and (v*, 0) on the way back, or
 * eight, (momentum, mass | impulse, 0) and (v*, 0 | v^n, 0), where a scheme asks for v^n. Nodes
 * along the last axis lie one after another and make a row. What a particle gives to a node is
 * linear in its distance, so a node costs two multiply-adds.
 *
 * With f the particle's place between two nodes (quadratic: between two middles), 0 <= f < 1, an
 * axis has weights w, distances d in cells, and slopes s:
 *
 *     quadratic   (1-f)^2/2, 1/2+f(1-f), f^2/2         d = -1/2-f ...   s = w d,   D = 1/4
 *     cubic       (1-f)^3/6, 2/3-f^2+f^3/2, ..., f^3/6  d = -1-f ...    s = w d,   D = 1/3
 *     linear      1-f, f                               d = -f, 1-f      s = -1, 1
 *
 *     gimp        w0 = (1/4-u)^2 + (u-t)+, w2 = (1/4+u)^2 + (t-u)+, the rest w1, with t = f - 1/2
 *                 and u = t within -1/4 .. 1/4         d = -1-t, -t, 1-t s = w d,   D = w0+w2-t^2
 *
 * The gradient of the interpolated velocity is sum v s / D. For the linear kernel w d = D s with
 * D = f (1 - f), which vanishes at nodes: there s is the gradient itself, and the particle keeps
 * the D of its last gather (field `moment`) as a factor on what it scatters: sum w v d is then
 * handed on as it was gathered, and angular momentum is kept. GIMP (Bardenhagen and Kober 2004) is
 * the linear kernel averaged over a particle's width of half a cell. Its D, 1/8 at nodes and 1/4
 * between them, never vanishes: slopes are divided by the D of the place, and `moment` is kept in
 * the same way. An affine field then comes back exactly, wherever the particles are.
 *
 * Three nodes, as of the quadratic kernel, which most runs use, have d = c - 1, c, c + 1 with c =
 * 1/2 - f, so that sum w d v = c sum w v + (w2 v2 - w0 v0): products with weights serve value and
 * slope, and slopes need no numbers of their own. c is set right once for a particle (`center`).
 */
#ifndef SPATE_SOLVER_TRANSFER_H
#define SPATE_SOLVER_TRANSFER_H

#include "core/simd.h"
#include "state/blocks.h"

#ifndef GIMP
#define GIMP 0
#endif

/* 1 / D, and 1 where D depends on the place. */
#define INVERSE_MOMENT ((real)(GIMP ? 1 : SUPPORT == 3 ? 4 : SUPPORT == 4 ? 3 : 1))

enum {
    CENTRED = SUPPORT == 3,
    OWN_MOMENT = SUPPORT == 2 || GIMP, /* particles keep their D */
};

/* Weights and slopes of eight particles along an axis; centred, slopes follow from the weights. */
typedef struct axis_weights {
    real w[SUPPORT][WIDE];
    real s[CENTRED ? 1 : SUPPORT][WIDE];
    real center[WIDE];                    /* c where CENTRED */
    real inverse_moment[GIMP ? WIDE : 1]; /* 1 / D of GIMP */
} axis_weights;

/* What the transfer needs to know of eight particles. */
typedef struct stencil {
    axis_weights axis[3];
    real_bits offset[WIDE]; /* of the first node in the tile, in nodes */
} stencil;

/* The three weights of GIMP, and its D. */
INLINE void gimp_fill(axis_weights *a, wide f, wide w[SUPPORT]) {
    const wide zero = wide_splat(0), quarter = wide_splat((real)0.25);
    wide t = f - wide_splat((real)0.5), u = wide_min(quarter, wide_max(-quarter, t));
    wide before = quarter - u, after = quarter + u, beyond = t - u;
    w[0] = wide_fma(before, before, wide_max(zero, -beyond));
    w[SUPPORT - 1] = wide_fma(after, after, wide_max(zero, beyond));
    w[1] = wide_splat(1) - (w[0] + w[SUPPORT - 1]);
    wide_store(a->center, -t);
    if (GIMP) wide_store(a->inverse_moment, wide_splat(1) / wide_fma(-t, t, w[0] + w[SUPPORT - 1]));
}

INLINE void axis_fill(axis_weights *a, wide f) {
    wide half = wide_splat((real)0.5), one = wide_splat(1), g = one - f;
    wide w[SUPPORT], d = wide_splat(0) - f;
    if (SUPPORT == 2) {
        w[0] = g, w[1] = f;
    } else if (GIMP) {
        gimp_fill(a, f, w);
    } else if (SUPPORT == 3) {
        w[0] = half * g * g, w[1] = wide_fma(f, g, half), w[SUPPORT - 1] = half * f * f;
        wide_store(a->center, half - f);
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
        if (!CENTRED)
            wide_store(a->s[k],
                       SUPPORT == 2 ? wide_splat(k ? 1 : -1) : w[k] * (d + wide_splat((real)k)));
    }
}

/* D where it depends on the place, in cells^2, and what slopes are divided by, inverted. */
INLINE real axis_moment(const axis_weights *a, int lane) {
    if (SUPPORT == 2) return a->w[0][lane] * a->w[1][lane];
    return a->w[0][lane] + a->w[SUPPORT - 1][lane] - a->center[lane] * a->center[lane];
}
INLINE real axis_scale(const axis_weights *a, int lane) {
    return GIMP ? a->inverse_moment[lane] : INVERSE_MOMENT;
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

/* ---- Nodes of eight reals -------------------------------------------------------------------- */

/* What a register holds of a node of eight reals: all of it, or a half. Lanes do not mix, so both
 * give the same bits; more registers than the machine has would go through memory. */
#if SIMD_AVX2
typedef wide node_part;
enum { NODE_PARTS = 1 };
INLINE node_part part_splat(real s) { return wide_splat(s); }
INLINE node_part part_load(const real *p) { return wide_load(p); }
INLINE void part_store(real *p, node_part v) { wide_store(p, v); }
INLINE node_part part_fma(node_part a, node_part b, node_part c) { return wide_fma(a, b, c); }
INLINE node_part part_of(wide v, int part) { return (void)part, v; }
INLINE wide part_join(node_part low, node_part high) { return (void)high, low; }
#define PART_NOW(v) ((void)0)
#else
typedef quad node_part;
enum { NODE_PARTS = 2 };
INLINE node_part part_splat(real s) { return quad_splat(s); }
INLINE node_part part_load(const real *p) { return quad_load(p); }
INLINE void part_store(real *p, node_part v) { quad_store(p, v); }
INLINE node_part part_fma(node_part a, node_part b, node_part c) { return quad_fma(a, b, c); }
INLINE node_part part_of(wide v, int part) { return part ? wide_high(v) : wide_low(v); }
INLINE wide part_join(node_part low, node_part high) { return wide_join(low, high); }
#define PART_NOW(v) SIMD_NOW(v)
#endif
enum { PART_REALS = 8 / NODE_PARTS };

/* w[k] value + s[k] slope, where value already holds c slope if CENTRED. */
INLINE node_part axis_node(const axis_weights *a, int k, int lane, node_part value,
                           node_part slope) {
    node_part w = part_splat(a->w[k][lane]);
    if (!CENTRED) return part_fma(part_splat(a->s[k][lane]), slope, w * value);
    return w * (k == 0 ? value - slope : k == 1 ? value : value + slope);
}

/* The same added to `sum`. */
INLINE node_part axis_add(const axis_weights *a, int k, int lane, node_part value, node_part slope,
                          node_part sum) {
    node_part w = part_splat(a->w[k][lane]);
    if (!CENTRED) return part_fma(part_splat(a->s[k][lane]), slope, part_fma(w, value, sum));
    return part_fma(w, k == 0 ? value - slope : k == 1 ? value : value + slope, sum);
}

/* sum w n and sum s n, the latter less c sum w n if CENTRED. */
INLINE void axis_sums(const axis_weights *a, int lane, const node_part n[SUPPORT], node_part *value,
                      node_part *slope) {
    node_part first = part_splat(a->w[0][lane]) * n[0], sum = first;
    for (int k = 1; k < SUPPORT; k++) sum = part_fma(part_splat(a->w[k][lane]), n[k], sum);
    *value = sum;
    if (CENTRED) {
        *slope = part_fma(part_splat(a->w[SUPPORT - 1][lane]), n[SUPPORT - 1], -first);
        return;
    }
    node_part slopes = part_splat(a->s[0][lane]) * n[0];
    for (int k = 1; k < SUPPORT && !CENTRED; k++)
        slopes = part_fma(part_splat(a->s[k][lane]), n[k], slopes);
    *slope = slopes;
}

/* ---- Rows of nodes of four reals ------------------------------------------------------------- */

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
INLINE row row_minus(row a, row b) {
    for (int k = 0; k < ROW_WIDES; k++) a.part[k] -= b.part[k];
    if (ROW_HAS_REST) a.rest -= b.rest;
    return a;
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

/* The two of above for rows along another axis. */
INLINE row axis_add_row(const axis_weights *a, int k, int lane, row value, row slope, row sum) {
    real w = a->w[k][lane];
    if (!CENTRED) return row_fma(a->s[k][lane], slope, row_fma(w, value, sum));
    row node = k == 0 ? row_minus(value, slope) : k == 1 ? value : row_plus(value, slope);
    return row_fma(w, node, sum);
}
INLINE void axis_sums_row(const axis_weights *a, int lane, const row n[SUPPORT], row *value,
                          row *slope) {
    row first = row_scaled(a->w[0][lane], n[0]), sum = first, slopes;
    for (int k = 1; k < SUPPORT; k++) sum = row_fma(a->w[k][lane], n[k], sum);
    *value = sum;
    if (CENTRED) {
        *slope = row_fma(a->w[SUPPORT - 1][lane], n[SUPPORT - 1], row_minus(row_zero(), first));
        return;
    }
    slopes = row_scaled(a->s[0][lane], n[0]);
    for (int k = 1; k < SUPPORT && !CENTRED; k++) slopes = row_fma(a->s[k][lane], n[k], slopes);
    *slope = slopes;
}

/* And along the row itself: every node its part, and the sums. */
INLINE row row_parts(const axis_weights *a, int lane, quad value, quad slope) {
    row w = row_of_numbers(a->w, lane);
    if (!CENTRED)
        return row_plus(row_times(row_of_numbers(a->s, lane), row_of_value(slope)),
                        row_times(w, row_of_value(value)));
    row nodes = {.part[0] = wide_join(value - slope, value), .rest = value + slope};
    return row_times(w, nodes);
}
INLINE void row_sums(const axis_weights *a, int lane, row n, quad *value, quad *slope) {
    row weighted = row_times(row_of_numbers(a->w, lane), n);
    *value = row_sum(weighted);
    if (CENTRED)
        *slope = weighted.rest - wide_low(weighted.part[0]);
    else
        *slope = row_sum(row_times(row_of_numbers(a->s, lane), n));
}

/* ---- Scatter and gather ---------------------------------------------------------------------- */

/* Adds a particle to the tile: at a node, w q[0] + sum_a s_a q[a + 1]. */
INLINE void scatter_fused(real *tile, const stencil *st, int lane, const quad q[4], int dim) {
    real *first = tile + (int64_t)st->offset[lane] * 4;
    const axis_weights *x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[dim - 1];
    quad value = q[0];
    for (int a = 0; a < dim && CENTRED; a++)
        value = quad_fma(quad_splat(st->axis[a].center[lane]), q[a + 1], value);
    row w = row_of_numbers(z->w, lane), base = row_parts(z, lane, value, q[dim]);
    row along_x = row_times(w, row_of_value(q[1])), along_y = along_x;
    if (dim == 3) along_y = row_times(w, row_of_value(q[2]));
    for (int i = 0; i < SUPPORT; i++) {
        row part = axis_add_row(x, i, lane, base, along_x, row_zero());
        if (dim == 2) {
            real *at = first + i * TILE_EDGE * 4;
            row_store(at, row_plus(part, row_load(at)));
            continue;
        }
        row slope = row_scaled(x->w[i][lane], along_y);
        for (int j = 0; j < SUPPORT; j++) {
            real *at = first + (i * TILE_EDGE + j) * TILE_EDGE * 4;
            row_store(at, axis_add_row(y, j, lane, part, slope, row_load(at)));
        }
    }
}

/* sum w v into q[0] and, for each axis, the change over a cell, sum s_a v / D, into q[a + 1]. */
INLINE void gather_fused(const real *tile, const stencil *st, int lane, quad q[4], int dim) {
    const real *first = tile + (int64_t)st->offset[lane] * 4;
    const axis_weights *x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[dim - 1];
    row planes[SUPPORT], slopes[SUPPORT], sum, along_x, along_y = row_zero();
    for (int i = 0; i < SUPPORT; i++) {
        if (dim == 2) {
            planes[i] = row_load(first + i * TILE_EDGE * 4);
            continue;
        }
        row rows[SUPPORT];
        for (int j = 0; j < SUPPORT; j++)
            rows[j] = row_load(first + (i * TILE_EDGE + j) * TILE_EDGE * 4);
        axis_sums_row(y, lane, rows, &planes[i], &slopes[i]);
        along_y = row_fma(x->w[i][lane], slopes[i], along_y);
    }
    axis_sums_row(x, lane, planes, &sum, &along_x);
    row w = row_of_numbers(z->w, lane);
    row_sums(z, lane, sum, &q[0], &q[dim]);
    q[1] = row_sum(row_times(w, along_x));
    if (dim == 3) q[2] = row_sum(row_times(w, along_y));
    for (int a = 0; a < dim; a++) {
        if (CENTRED) q[a + 1] = quad_fma(quad_splat(st->axis[a].center[lane]), q[0], q[a + 1]);
        q[a + 1] *= quad_splat(axis_scale(&st->axis[a], lane));
    }
}

/* The same two for nodes of eight reals, part by part: the last axis is dealt with node by node, so
 * that all sums stay in registers. */
INLINE void scatter_part(real *first, const stencil *st, int lane, const node_part q[4], int dim) {
    const axis_weights *x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[dim - 1];
    node_part value = q[0];
    for (int a = 0; a < dim && CENTRED; a++)
        value = part_fma(part_splat(st->axis[a].center[lane]), q[a + 1], value);
    for (int i = 0; i < SUPPORT; i++) {
        node_part plane = axis_node(x, i, lane, value, q[1]), wx = part_splat(x->w[i][lane]);
        node_part along_y = wx * q[2], along_z = wx * q[dim];
        for (int j = 0; j < (dim == 3 ? SUPPORT : 1); j++) {
            real *at = first + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * 8;
            node_part line = plane, slope = along_z;
            if (dim == 3) {
                line = axis_node(y, j, lane, plane, along_y);
                slope = part_splat(y->w[j][lane]) * along_z;
            }
            for (int k = 0; k < SUPPORT; k++)
                part_store(at + 8 * k, axis_add(z, k, lane, line, slope, part_load(at + 8 * k)));
        }
    }
}

INLINE void scatter_split(real *tile, const stencil *st, int lane, const wide q[4], int dim) {
    real *first = tile + (int64_t)st->offset[lane] * 8;
    for (int part = 0; part < NODE_PARTS; part++) {
        node_part own[4];
        for (int a = 0; a <= dim; a++) own[a] = part_of(q[a], part);
        scatter_part(first + part * PART_REALS, st, lane, own, dim);
    }
}

/* `slopes_too`: where q[1] and on are asked for. */
INLINE void gather_part(const real *first, const stencil *st, int lane, node_part q[4],
                        bool slopes_too, int dim) {
    const axis_weights *x = &st->axis[0], *y = &st->axis[1], *z = &st->axis[dim - 1];
    node_part planes[SUPPORT], along_y = part_splat(0), along_z = along_y;
    for (int i = 0; i < SUPPORT; i++) {
        node_part values[SUPPORT], slopes[SUPPORT], plane_y;
        for (int j = 0; j < (dim == 3 ? SUPPORT : 1); j++) {
            const real *at = first + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * 8;
            node_part nodes[SUPPORT];
            for (int k = 0; k < SUPPORT; k++) nodes[k] = part_load(at + 8 * k);
            axis_sums(z, lane, nodes, &values[j], &slopes[j]);
            PART_NOW(values[j]);
            if (slopes_too) PART_NOW(slopes[j]);
        }
        node_part wx = part_splat(x->w[i][lane]), plane_z = slopes[0];
        planes[i] = values[0];
        if (dim == 3) {
            axis_sums(y, lane, values, &planes[i], &plane_y);
            along_y = part_fma(wx, plane_y, along_y);
            plane_z = part_splat(y->w[0][lane]) * slopes[0];
            for (int j = 1; j < SUPPORT; j++)
                plane_z = part_fma(part_splat(y->w[j][lane]), slopes[j], plane_z);
        }
        along_z = part_fma(wx, plane_z, along_z);
    }
    axis_sums(x, lane, planes, &q[0], &q[1]);
    if (dim == 3) q[2] = along_y;
    q[dim] = along_z;
    for (int a = 0; a < dim; a++) {
        if (CENTRED) q[a + 1] = part_fma(part_splat(st->axis[a].center[lane]), q[0], q[a + 1]);
        q[a + 1] *= part_splat(axis_scale(&st->axis[a], lane));
    }
}

/* The high half of q[0] is sum w v^n; those of the others are not asked for. */
INLINE void gather_split(const real *tile, const stencil *st, int lane, wide q[4], int dim) {
    const real *first = tile + (int64_t)st->offset[lane] * 8;
    node_part low[4], high[4];
    gather_part(first, st, lane, low, true, dim);
    if (NODE_PARTS == 2) gather_part(first + PART_REALS, st, lane, high, false, dim);
    for (int a = 0; a <= dim; a++) q[a] = part_join(low[a], NODE_PARTS == 2 ? high[a] : low[a]);
}

#endif
