/*
 * Decompositions of 2x2 and 3x3 matrices, a lane a matrix, and for one matrix with the bits of a
 * lane.
 *
 *   eigen  A = Q diag(l) Q^T   A symmetric; l falls; Q a proper rotation
 *   svd    F = U diag(s) V^T   U and V proper rotations; s[0] >= s[1] >= |s[last]|, and the
 *                              last one carries the sign of det F
 *   polar  F = R S             R a proper rotation, S symmetric (indefinite where det F < 0)
 *
 * Any finite matrix will do: of any rank, with repeated values, of any scale. Errors are some ulps
 * of the matrix norm. Matrices are row by row: f[3 * row + column]; symmetric ones are their upper
 * triangle row by row: xx xy xz yy yz zz, or xx xy yy.
 *
 * Method: Jacobi rotations in a fixed number of cyclic sweeps, two-sided for eigen (Golub and Van
 * Loan, section 8.5), one-sided on the columns for svd (Hestenes 1958), since F^T F would lose the
 * small values; then U and s from a QR factorisation by Givens rotations, which yields proper
 * rotations whatever the rank (as in McAdams et al. 2011, but with square roots in full precision).
 */
#ifndef SPATE_CORE_DECOMPOSE_H
#define SPATE_CORE_DECOMPOSE_H

#include "core/simd.h"

/* Whole sweeps; two more rotations follow, and the third would turn by nothing. NEGLIGIBLE: the
 * square of a smaller number loses digits, and beside 1 it is nothing. Comparisons with it are
 * written so that what is not a number goes on into the result. */
#ifdef SPATE_DOUBLE
enum { DECOMPOSE_SWEEPS = 4 };
#define DECOMPOSE_SMALLEST   DBL_MIN
#define DECOMPOSE_NEGLIGIBLE 0x1p-500
#else
enum { DECOMPOSE_SWEEPS = 3 };
#define DECOMPOSE_SMALLEST   FLT_MIN
#define DECOMPOSE_NEGLIGIBLE 0x1p-55f
#endif

/* x' = c x - s y, y' = s x + c y */
typedef struct wide_rotation {
    wide c, s, tangent;
} wide_rotation;

INLINE void wide_rotate(wide_rotation r, wide *x, wide *y) {
    wide a = *x, b = *y;
    *x = wide_fma(r.c, a, -(r.s * b));
    *y = wide_fma(r.s, a, r.c * b);
}

/* The rotation by at most 45 degrees that makes [xx xy; xy yy] diagonal; none where it is so but
 * for rounding, since equal values would then be turned about at random in every sweep. The entries
 * are scaled to about 1. tangent = h / (|d| + sqrt(d^2 + h^2)), and c and s do not wait for it. */
INLINE wide_rotation wide_rotation_jacobi(wide xx, wide xy, wide yy) {
    wide d = yy - xx, h = xy + xy;
    wide rounding = (wide_abs(xx) + wide_abs(yy)) * (REAL_EPSILON / 2);
    wide_int needed = ~(wide_abs(h) <= wide_max(rounding, wide_splat(DECOMPOSE_NEGLIGIBLE)));
    wide_int sign = (wide_int)d ^ (wide_int)wide_abs(d);
    wide size = wide_abs(d) + wide_sqrt(wide_fma(d, d, h * h));
    size = wide_select(needed, size, wide_splat(1));
    h = (wide)(((wide_int)h ^ sign) & needed);
    wide length = wide_sqrt(wide_fma(size, size, h * h));
    return (wide_rotation){.c = size / length, .s = h / length, .tangent = h / size};
}

/* The rotation that turns (x, y) into (length, 0); none where the length is negligible. */
INLINE wide_rotation wide_rotation_givens(wide x, wide y) {
    wide square = wide_fma(x, x, y * y);
    wide_int some = ~(square <= DECOMPOSE_NEGLIGIBLE * DECOMPOSE_NEGLIGIBLE);
    wide length = wide_sqrt(wide_select(some, square, wide_splat(1)));
    wide c = wide_select(some, x / length, wide_splat(1));
    wide s = wide_select(some, -y / length, wide_splat(0));
    return (wide_rotation){.c = c, .s = s, .tangent = wide_splat(0)};
}

/* A power of two near the largest number, so that squares neither overflow nor underflow. */
INLINE wide wide_scale_of(const wide *numbers, int count) {
    wide most = wide_splat(DECOMPOSE_SMALLEST);
#pragma GCC unroll 9
    for (int i = 0; i < count; i++) most = wide_max(most, wide_abs(numbers[i]));
    most = wide_min(wide_splat(1 / DECOMPOSE_SMALLEST), most); /* its inverse must be normal */
    return (wide)((wide_int)most & (wide_int)wide_splat((real)__builtin_inf()));
}

/* Rotates columns p and q of a matrix. */
INLINE void wide_rotate_columns(wide_rotation r, wide *m, int size, int p, int q) {
#pragma GCC unroll 3
    for (int i = 0; i < size; i++) wide_rotate(r, &m[size * i + p], &m[size * i + q]);
}

/* Exchanges columns p and q where the mask says so; the change of sign keeps a rotation proper. */
INLINE void wide_exchange_columns(wide_int mask, wide *m, int size, int p, int q) {
#pragma GCC unroll 3
    for (int i = 0; i < size; i++) {
        wide a = m[size * i + p], b = m[size * i + q];
        m[size * i + p] = wide_select(mask, b, a);
        m[size * i + q] = wide_select(mask, -a, b);
    }
}

INLINE void wide_set_identity(wide *m, int size) {
#pragma GCC unroll 9
    for (int i = 0; i < size * size; i++) m[i] = wide_splat(i % (size + 1) == 0);
}

/* Values p and q in falling order, and columns p and q of `vectors` with them. */
INLINE void wide_order_pair(wide *values, wide *vectors, int size, int p, int q) {
    wide_int rising = values[p] < values[q];
    wide a = values[p], b = values[q];
    values[p] = wide_select(rising, b, a);
    values[q] = wide_select(rising, a, b);
    wide_exchange_columns(rising, vectors, size, p, q);
}

/* In the plane one rotation does it. */
INLINE void wide_eigen2(const wide a[3], wide q[4], wide l[2]) {
    wide scale = wide_scale_of(a, 3), inverse = 1 / scale;
    wide xx = a[0] * inverse, xy = a[1] * inverse, yy = a[2] * inverse;
    wide_rotation r = wide_rotation_jacobi(xx, xy, yy);
    q[0] = r.c, q[1] = r.s, q[2] = -r.s, q[3] = r.c;
    l[0] = wide_fma(-r.tangent, xy, xx) * scale;
    l[1] = wide_fma(r.tangent, xy, yy) * scale;
    wide_order_pair(l, q, 2, 0, 1);
}

/* One rotation of a sweep: makes xy zero, z is the third axis. */
INLINE void wide_eigen3_step(wide *xx, wide *xy, wide *yy, wide *xz, wide *yz, wide *q, int x,
                             int y) {
    wide_rotation r = wide_rotation_jacobi(*xx, *xy, *yy);
    *xx = wide_fma(-r.tangent, *xy, *xx);
    *yy = wide_fma(r.tangent, *xy, *yy);
    *xy = wide_splat(0);
    wide_rotate(r, xz, yz);
    wide_rotate_columns(r, q, 3, x, y);
}

INLINE void wide_eigen3(const wide a[6], wide q[9], wide l[3]) {
    wide scale = wide_scale_of(a, 6), inverse = 1 / scale;
    wide xx = a[0] * inverse, xy = a[1] * inverse, xz = a[2] * inverse;
    wide yy = a[3] * inverse, yz = a[4] * inverse, zz = a[5] * inverse;
    wide_set_identity(q, 3);
    for (int sweep = 0; sweep < DECOMPOSE_SWEEPS; sweep++) {
        wide_eigen3_step(&xx, &xy, &yy, &xz, &yz, q, 0, 1);
        wide_eigen3_step(&xx, &xz, &zz, &xy, &yz, q, 0, 2);
        wide_eigen3_step(&yy, &yz, &zz, &xy, &xz, q, 1, 2);
    }
    wide_eigen3_step(&xx, &xy, &yy, &xz, &yz, q, 0, 1);
    wide_eigen3_step(&xx, &xz, &zz, &xy, &yz, q, 0, 2);
    l[0] = xx * scale, l[1] = yy * scale, l[2] = zz * scale;
    wide_order_pair(l, q, 3, 0, 1);
    wide_order_pair(l, q, 3, 0, 2);
    wide_order_pair(l, q, 3, 1, 2);
}

/* The polar decomposition of f divided by a power of two, which is returned. In the plane the
 * rotation is known: it turns (1, 0) towards (xx + yy, yx - xy). */
INLINE wide wide_polar2_scaled(const wide f[4], wide r[4], wide s[3]) {
    wide scale = wide_scale_of(f, 4), inverse = 1 / scale;
    wide xx = f[0] * inverse, xy = f[1] * inverse, yx = f[2] * inverse, yy = f[3] * inverse;
    wide_rotation g = wide_rotation_givens(xx + yy, yx - xy);
    r[0] = g.c, r[1] = g.s, r[2] = -g.s, r[3] = g.c;
    s[0] = wide_fma(g.c, xx, -(g.s * yx));
    s[1] = wide_fma(g.c, xy, -(g.s * yy));
    s[2] = wide_fma(g.s, xy, g.c * yy);
    return scale;
}

INLINE void wide_polar2(const wide f[4], wide r[4], wide s[3]) {
    wide scale = wide_polar2_scaled(f, r, s);
    for (int i = 0; i < 3; i++) s[i] *= scale;
}

/* F = R S and S = V diag(s) V^T give U = R V. */
INLINE void wide_svd2(const wide f[4], wide u[4], wide s[2], wide v[4]) {
    wide r[4], symmetric[3], scale = wide_polar2_scaled(f, r, symmetric);
    wide_eigen2(symmetric, v, s);
    for (int i = 0; i < 4; i++) u[i] = wide_fma(r[i & 2], v[i & 1], r[i | 1] * v[i | 2]);
    /* the trace of S is not negative but for rounding */
    s[0] = wide_abs(s[0]) * scale;
    s[1] = wide_max(-s[0], s[1] * scale);
}

INLINE wide wide_dot_columns(const wide m[9], int p, int q) {
    return wide_fma(m[6 + p], m[6 + q], wide_fma(m[3 + p], m[3 + q], m[p] * m[q]));
}

/* One rotation of a sweep: makes columns p and q of b orthogonal. */
INLINE void wide_svd3_step(wide b[9], wide v[9], int p, int q) {
    wide_rotation r = wide_rotation_jacobi(wide_dot_columns(b, p, p), wide_dot_columns(b, p, q),
                                           wide_dot_columns(b, q, q));
    wide_rotate_columns(r, b, 3, p, q);
    wide_rotate_columns(r, v, 3, p, q);
}

/* Longest column first. */
INLINE void wide_svd3_order(wide b[9], wide v[9], int p, int q) {
    wide_int rising = wide_dot_columns(b, p, p) < wide_dot_columns(b, q, q);
    wide_exchange_columns(rising, b, 3, p, q);
    wide_exchange_columns(rising, v, 3, p, q);
}

/* One rotation of the QR factorisation: makes b[row j, column] zero. */
INLINE void wide_svd3_givens(wide b[9], wide u[9], int i, int j, int column) {
    wide_rotation r = wide_rotation_givens(b[3 * i + column], b[3 * j + column]);
#pragma GCC unroll 3
    for (int k = 0; k < 3; k++) wide_rotate(r, &b[3 * i + k], &b[3 * j + k]);
    wide_rotate_columns(r, u, 3, i, j);
}

/* The svd of f divided by a power of two, which is returned. */
INLINE wide wide_svd3_scaled(const wide f[9], wide u[9], wide s[3], wide v[9]) {
    wide b[9], scale = wide_scale_of(f, 9), inverse = 1 / scale;
#pragma GCC unroll 9
    for (int i = 0; i < 9; i++) b[i] = f[i] * inverse;
    wide_set_identity(v, 3);
    for (int sweep = 0; sweep < DECOMPOSE_SWEEPS; sweep++) {
        wide_svd3_step(b, v, 0, 1);
        wide_svd3_step(b, v, 0, 2);
        wide_svd3_step(b, v, 1, 2);
    }
    wide_svd3_step(b, v, 0, 1);
    wide_svd3_step(b, v, 0, 2);
    wide_svd3_order(b, v, 0, 1);
    wide_svd3_order(b, v, 0, 2);
    wide_svd3_order(b, v, 1, 2);
    /* b = U diag(s) now, but for rounding */
    wide_set_identity(u, 3);
    wide_svd3_givens(b, u, 0, 1, 0);
    wide_svd3_givens(b, u, 0, 2, 0);
    wide_svd3_givens(b, u, 1, 2, 1);
    /* rounding may have disturbed the order of equal values */
    s[0] = wide_abs(b[0]);
    s[1] = wide_min(s[0], wide_abs(b[4]));
    s[2] = wide_max(-s[1], wide_min(s[1], b[8]));
    return scale;
}

INLINE void wide_svd3(const wide f[9], wide u[9], wide s[3], wide v[9]) {
    wide scale = wide_svd3_scaled(f, u, s, v);
    for (int i = 0; i < 3; i++) s[i] *= scale;
}

INLINE wide wide_dot_rows(const wide a[3], const wide b[3]) {
    return wide_fma(a[2], b[2], wide_fma(a[1], b[1], a[0] * b[0]));
}

/* R = U V^T, S = V diag(s) V^T */
INLINE void wide_polar3(const wide f[9], wide r[9], wide s[6]) {
    wide u[9], l[3], v[9], vl[9], scale = wide_svd3_scaled(f, u, l, v);
#pragma GCC unroll 9
    for (int i = 0; i < 9; i++) r[i] = wide_dot_rows(&u[i / 3 * 3], &v[i % 3 * 3]);
#pragma GCC unroll 9
    for (int i = 0; i < 9; i++) vl[i] = v[i] * l[i % 3];
    s[0] = wide_dot_rows(&vl[0], &v[0]) * scale;
    s[1] = wide_dot_rows(&vl[0], &v[3]) * scale;
    s[2] = wide_dot_rows(&vl[0], &v[6]) * scale;
    s[3] = wide_dot_rows(&vl[3], &v[3]) * scale;
    s[4] = wide_dot_rows(&vl[3], &v[6]) * scale;
    s[5] = wide_dot_rows(&vl[6], &v[6]) * scale;
}

/* One matrix: the same in every lane, the first is handed back. */
INLINE void wide_splat_all(const real *from, int count, wide *to) {
    for (int i = 0; i < count; i++) to[i] = wide_splat(from[i]);
}
INLINE void wide_first_of_all(const wide *from, int count, real *to) {
    for (int i = 0; i < count; i++) to[i] = from[i][0];
}

INLINE void real_eigen2(const real a[3], real q[4], real l[2]) {
    wide wa[3], wq[4], wl[2];
    wide_splat_all(a, 3, wa);
    wide_eigen2(wa, wq, wl);
    wide_first_of_all(wq, 4, q);
    wide_first_of_all(wl, 2, l);
}
INLINE void real_eigen3(const real a[6], real q[9], real l[3]) {
    wide wa[6], wq[9], wl[3];
    wide_splat_all(a, 6, wa);
    wide_eigen3(wa, wq, wl);
    wide_first_of_all(wq, 9, q);
    wide_first_of_all(wl, 3, l);
}
INLINE void real_svd2(const real f[4], real u[4], real s[2], real v[4]) {
    wide wf[4], wu[4], ws[2], wv[4];
    wide_splat_all(f, 4, wf);
    wide_svd2(wf, wu, ws, wv);
    wide_first_of_all(wu, 4, u);
    wide_first_of_all(ws, 2, s);
    wide_first_of_all(wv, 4, v);
}
INLINE void real_svd3(const real f[9], real u[9], real s[3], real v[9]) {
    wide wf[9], wu[9], ws[3], wv[9];
    wide_splat_all(f, 9, wf);
    wide_svd3(wf, wu, ws, wv);
    wide_first_of_all(wu, 9, u);
    wide_first_of_all(ws, 3, s);
    wide_first_of_all(wv, 9, v);
}
INLINE void real_polar2(const real f[4], real r[4], real s[3]) {
    wide wf[4], wr[4], ws[3];
    wide_splat_all(f, 4, wf);
    wide_polar2(wf, wr, ws);
    wide_first_of_all(wr, 4, r);
    wide_first_of_all(ws, 3, s);
}
INLINE void real_polar3(const real f[9], real r[9], real s[6]) {
    wide wf[9], wr[9], ws[6];
    wide_splat_all(f, 9, wf);
    wide_polar3(wf, wr, ws);
    wide_first_of_all(wr, 9, r);
    wide_first_of_all(ws, 6, s);
}

#endif
