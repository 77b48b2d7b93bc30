/*
 * Between a particle and its 3^dim nodes. A node is a quad (momentum, mass) or (velocity, 0); nodes
 * along the last axis lie one after another, so a row of three is a wide and a quad. The affine
 * part is linear in the node's index: a row costs two multiply-adds.
 *
 * With f the particle's place in its cell, 0 <= f < 1, the weights of the three nodes are
 * (1 - f)^2 / 2, 1/2 + f - f^2, f^2 / 2 and their distances from it -1/2 - f, 1/2 - f, 3/2 - f
 * cells.
 */
#ifndef SPATE_SOLVER_TRANSFER_H
#define SPATE_SOLVER_TRANSFER_H

#include "core/simd.h"
#include "state/blocks.h"

/* Weights of eight particles along an axis, and weights times distances. */
typedef struct axis_weights {
    real w[3][WIDE];
    real wd[3][WIDE];
} axis_weights;

/* What the transfer needs to know of eight particles. */
typedef struct stencil {
    axis_weights axis[2];   /* all but the last */
    real row[WIDE];         /* f along the last axis */
    real_bits offset[WIDE]; /* of the first node in the tile, in reals */
} stencil;

INLINE void axis_fill(axis_weights *a, wide f) {
    wide half = wide_splat((real)0.5), one = wide_splat(1);
    wide g = one - f;
    wide w[3] = {half * g * g, wide_fma(f, g, half), half * f * f};
    wide d = wide_splat(0) - half - f;
    for (int k = 0; k < 3; k++) {
        wide_store(a->w[k], w[k]);
        wide_store(a->wd[k], w[k] * (d + wide_splat((real)k)));
    }
}

/* Positions of particles i .. i + 7 to weights and tile offsets. */
INLINE void stencil_fill(stencil *s, const particles *p, int64_t i, int dim) {
    wide_int offset = wide_splat_int(0);
    for (int a = 0; a < dim; a++) {
        wide x = wide_load(PLANE(p, position, a) + i), base = wide_floor(x), f = x - base;
        offset = offset * wide_splat_int(TILE_EDGE) + wide_to_int(base) + wide_splat_int(1);
        if (a < dim - 1)
            axis_fill(&s->axis[a], f);
        else
            wide_store(s->row, f);
    }
    wide_store_int(s->offset, offset * wide_splat_int(4));
}

/* Weights and distances of the three nodes of a row: two in a wide, the third in a quad. */
typedef struct row_weights {
    wide w, d;   /* nodes 0 and 1 */
    quad w2, d2; /* node 2 */
} row_weights;

INLINE row_weights row_fill(real f) {
    /* Lane by lane c0 + f (c1 + f c2). */
    const wide c0 = {(real).5, (real).5, (real).5, (real).5,
                     (real).5, (real).5, (real).5, (real).5};
    const wide c1 = {-1, -1, -1, -1, 1, 1, 1, 1};
    const wide c2 = {(real).5, (real).5, (real).5, (real).5, -1, -1, -1, -1};
    const wide d0 = {(real)-.5, (real)-.5, (real)-.5, (real)-.5,
                     (real).5,  (real).5,  (real).5,  (real).5};
    wide x = wide_splat(f);
    quad y = wide_low(x);
    return (row_weights){
        .w = wide_fma(x, wide_fma(x, c2, c1), c0),
        .d = d0 - x,
        .w2 = quad_splat((real)0.5) * y * y,
        .d2 = quad_splat((real)1.5) - y,
    };
}

/* Adds a particle to the tile: at a node with distance d, w (q[0] + sum_a q[a + 1] d_a). */
INLINE void scatter_particle(real *tile, const stencil *s, int lane, const quad q[4], int dim) {
    real *node = tile + s->offset[lane];
    row_weights r = row_fill(s->row[lane]);
    wide base = r.w * wide_fma(wide_twice(q[dim]), r.d, wide_twice(q[0]));
    quad base2 = r.w2 * quad_fma(q[dim], r.d2, q[0]);
    wide along_x = r.w * wide_twice(q[1]);
    quad along_x2 = r.w2 * q[1];
    wide along_y = along_x;
    quad along_y2 = along_x2;
    if (dim == 3) along_y = r.w * wide_twice(q[2]), along_y2 = r.w2 * q[2];
    for (int i = 0; i < 3; i++) {
        real wx = s->axis[0].w[i][lane], wdx = s->axis[0].wd[i][lane];
        wide part = wide_fma(wide_splat(wdx), along_x, wide_splat(wx) * base);
        quad part2 = quad_fma(quad_splat(wdx), along_x2, quad_splat(wx) * base2);
        if (dim == 2) {
            real *row = node + i * TILE_EDGE * 4;
            wide_store(row, wide_load(row) + part);
            quad_store(row + WIDE, quad_load(row + WIDE) + part2);
            continue;
        }
        wide slope = wide_splat(wx) * along_y;
        quad slope2 = quad_splat(wx) * along_y2;
        for (int j = 0; j < 3; j++) {
            real *row = node + (i * TILE_EDGE + j) * TILE_EDGE * 4;
            real wy = s->axis[1].w[j][lane], wdy = s->axis[1].wd[j][lane];
            wide sum = wide_fma(wide_splat(wdy), slope, wide_load(row));
            quad sum2 = quad_fma(quad_splat(wdy), slope2, quad_load(row + WIDE));
            wide_store(row, wide_fma(wide_splat(wy), part, sum));
            quad_store(row + WIDE, quad_fma(quad_splat(wy), part2, sum2));
        }
    }
}

INLINE quad sum_of_row(wide a, quad b) { return (wide_low(a) + wide_high(a)) + b; }

/* v = sum w v_i and, for each axis, sum w v_i d_a; into q[0] and q[1..dim]. */
INLINE void gather_particle(const real *tile, const stencil *s, int lane, quad q[4], int dim) {
    const real *node = tile + s->offset[lane];
    wide v = wide_splat(0), x = v, y = v;
    quad v2 = quad_splat(0), x2 = v2, y2 = v2;
    for (int i = 0; i < 3; i++) {
        real wx = s->axis[0].w[i][lane], wdx = s->axis[0].wd[i][lane];
        wide sum, slope;
        quad sum2, slope2;
        if (dim == 2) {
            const real *row = node + i * TILE_EDGE * 4;
            sum = wide_load(row), sum2 = quad_load(row + WIDE);
        } else {
            sum = slope = wide_splat(0), sum2 = slope2 = quad_splat(0);
            for (int j = 0; j < 3; j++) {
                const real *row = node + (i * TILE_EDGE + j) * TILE_EDGE * 4;
                real wy = s->axis[1].w[j][lane], wdy = s->axis[1].wd[j][lane];
                wide n = wide_load(row);
                quad n2 = quad_load(row + WIDE);
                sum = wide_fma(wide_splat(wy), n, sum);
                sum2 = quad_fma(quad_splat(wy), n2, sum2);
                slope = wide_fma(wide_splat(wdy), n, slope);
                slope2 = quad_fma(quad_splat(wdy), n2, slope2);
            }
            y = wide_fma(wide_splat(wx), slope, y);
            y2 = quad_fma(quad_splat(wx), slope2, y2);
        }
        v = wide_fma(wide_splat(wx), sum, v);
        v2 = quad_fma(quad_splat(wx), sum2, v2);
        x = wide_fma(wide_splat(wdx), sum, x);
        x2 = quad_fma(quad_splat(wdx), sum2, x2);
    }
    row_weights r = row_fill(s->row[lane]);
    wide vw = r.w * v;
    quad vw2 = r.w2 * v2;
    q[0] = sum_of_row(vw, vw2);
    q[1] = sum_of_row(r.w * x, r.w2 * x2);
    if (dim == 3) q[2] = sum_of_row(r.w * y, r.w2 * y2);
    q[dim] = sum_of_row(vw * r.d, vw2 * r.d2);
}

#endif
