/*
 * PolyPIC (Fu et al. 2017) on the quadratic kernel: a particle's velocity field as a polynomial of
 * up to 3^dim modes, tensor products of 1, xi and s(xi) = xi^2 - (m3/D) xi - D along each axis, xi
 * in cells. The modes are orthogonal under the weights, so each has its coefficient by itself,
 * c = sum w s v / sum w s^2.
 *
 * On three nodes w s must be orthogonal to 1 and xi, so it is proportional to (1, -2, 1); as s has
 * the second difference 2, w s = k (1, -2, 1) with k = 2 / (1/w0 + 4/w1 + 1/w2), and the
 * coefficient is the velocity's second difference over 2. Nothing in this divides by a weight that
 * may vanish.
 */
#ifndef SPATE_SOLVER_POLY_H
#define SPATE_SOLVER_POLY_H

#include "solver/mpm/mpm.h"
#include "solver/mpm/transfer.h"

#if SUPPORT == 3 && !GIMP

/* For one particle and axis, of the three modes at the three nodes. */
typedef struct poly_axis {
    real scatter[3][3]; /* w s */
    real gather[3][3];  /* w s / sum w s^2 */
} poly_axis;

INLINE poly_axis poly_axis_of(const axis_weights *a, int lane) {
    real w0 = a->w[0][lane], w1 = a->w[1][lane], w2 = a->w[2][lane];
    real k = 2 * w0 * w1 * w2 / (w1 * (w0 + w2) + 4 * w0 * w2), half = (real)0.5;
    poly_axis t = {.scatter[2] = {k, -2 * k, k}, .gather[2] = {half, -1, half}};
    for (int n = 0; n < 3; n++) {
        t.scatter[0][n] = t.gather[0][n] = a->w[n][lane];
        t.scatter[1][n] = a->w[n][lane] * (a->center[lane] + (real)(n - 1));
        t.gather[1][n] = INVERSE_MOMENT * t.scatter[1][n];
    }
    return t;
}

/* Numbers of the nodes of a row. */
INLINE row poly_row(const real n[3]) {
    return (row){.part[0] = wide_join(quad_splat(n[0]), quad_splat(n[1])),
                 .rest = quad_splat(n[2])};
}

/* Coefficients of one particle, mode (e_x, e_y, e_z) at 9 e_x + 3 e_y + e_z (2D: 3 e_x + e_y). */
INLINE void poly_load(const mpm_view *m, const quad q[4], int64_t i, quad c[27], int dim) {
    const particles *p = m->particles;
    const int stride[3] = {dim == 2 ? 3 : 9, dim == 2 ? 1 : 3, 1};
    for (int k = 0; k < (dim == 2 ? 9 : 27); k++) c[k] = quad_splat(0);
    c[0] = q[0];
    for (int a = 0; a < dim; a++) c[stride[a]] = q[a + 1];
    for (int k = 0; k < m->poly.count; k++)
        c[m->poly.mode[k]] = quad_splat(p->mass[i] * m->poly.scale[k]) * quad_load(p->modes[i][k]);
}

/* Adds a particle to the tile: its affine part and impulse in q, higher modes from its field. */
INLINE void scatter_poly(const mpm_view *m, real *tile, const stencil *st, int lane,
                         const quad q[4], int64_t i, int dim) {
    quad c[27];
    poly_load(m, q, i, c, dim);
    poly_axis x = poly_axis_of(&st->axis[0], lane), z = poly_axis_of(&st->axis[dim - 1], lane);
    row along[9]; /* by (e_x, e_y), expanded along the last axis */
    for (int k = 0; k < (dim == 2 ? 3 : 9); k++) {
        along[k] = row_zero();
        for (int e = 0; e < 3; e++)
            along[k] =
                row_plus(along[k], row_times(poly_row(z.scatter[e]), row_of_value(c[3 * k + e])));
    }
    real *first = tile + (int64_t)st->offset[lane] * 4;
    poly_axis y = dim == 3 ? poly_axis_of(&st->axis[1], lane) : x;
    for (int j = 0; j < (dim == 2 ? 1 : 3); j++) {
        row across[3]; /* by e_x, at node j of the second axis */
        for (int e = 0; e < 3; e++) {
            across[e] = along[dim == 2 ? e : 3 * e];
            if (dim == 2) continue;
            across[e] = row_scaled(y.scatter[0][j], across[e]);
            for (int k = 1; k < 3; k++)
                across[e] = row_fma(y.scatter[k][j], along[3 * e + k], across[e]);
        }
        for (int n = 0; n < 3; n++) {
            real *at = first + (dim == 2 ? n : n * TILE_EDGE + j) * TILE_EDGE * 4;
            row sum = row_load(at);
            for (int e = 0; e < 3; e++) sum = row_fma(x.scatter[e][n], across[e], sum);
            row_store(at, sum);
        }
    }
}

/* The velocity and its slopes over a cell into q, as gather_fused does, and the higher modes into
 * the particle's `modes`. */
INLINE void gather_poly(const mpm_view *m, real4 *modes, const real *tile, const stencil *st,
                        int lane, quad q[4], int dim) {
    const real *first = tile + (int64_t)st->offset[lane] * 4;
    poly_axis x = poly_axis_of(&st->axis[0], lane), z = poly_axis_of(&st->axis[dim - 1], lane);
    poly_axis y = dim == 3 ? poly_axis_of(&st->axis[1], lane) : x;
    row along[9]; /* by (e_x, e_y) */
    for (int k = 0; k < 9; k++) along[k] = row_zero();
    for (int j = 0; j < (dim == 2 ? 1 : 3); j++)
        for (int e = 0; e < 3; e++) {
            row across = row_zero();
            for (int n = 0; n < 3; n++) {
                const real *at = first + (dim == 2 ? n : n * TILE_EDGE + j) * TILE_EDGE * 4;
                across = row_fma(x.gather[e][n], row_load(at), across);
            }
            if (dim == 2)
                along[e] = across;
            else
                for (int k = 0; k < 3; k++)
                    along[3 * e + k] = row_fma(y.gather[k][j], across, along[3 * e + k]);
        }
    quad c[27];
    for (int k = 0; k < (dim == 2 ? 3 : 9); k++)
        for (int e = 0; e < 3; e++)
            c[3 * k + e] = row_sum(row_times(poly_row(z.gather[e]), along[k]));
    const int stride[3] = {dim == 2 ? 3 : 9, dim == 2 ? 1 : 3, 1};
    q[0] = c[0];
    for (int a = 0; a < dim; a++) q[a + 1] = c[stride[a]];
    for (int k = 0; k < m->poly.count; k++) quad_store(modes[k], c[m->poly.mode[k]]);
}

#else

INLINE void scatter_poly(const mpm_view *m, real *tile, const stencil *st, int lane,
                         const quad q[4], int64_t i, int dim) {
    (void)m, (void)tile, (void)st, (void)lane, (void)q, (void)i, (void)dim;
}
INLINE void gather_poly(const mpm_view *m, real4 *modes, const real *tile, const stencil *st,
                        int lane, quad q[4], int dim) {
    (void)m, (void)modes, (void)tile, (void)st, (void)lane, (void)q, (void)dim;
}

#endif
#endif
