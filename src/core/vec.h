/* Small vectors and matrices in double, for cold code: scenes, colliders, statistics; and clamp. */
#ifndef SPATE_CORE_VEC_H
#define SPATE_CORE_VEC_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* x within low and high; low where it is not a number. fmin and fmax are calls on some systems. */
static inline double clamp(double x, double low, double high) {
    const double above = x > low ? x : low;
    return above < high ? above : high;
}

static inline double vec_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double vec_length(const double a[3]) { return sqrt(vec_dot(a, a)); }
static inline void vec_set(double out[3], double x, double y, double z) {
    out[0] = x, out[1] = y, out[2] = z;
}
static inline void vec_copy(double out[3], const double a[3]) { memcpy(out, a, 3 * sizeof *a); }
static inline void vec_add(double out[3], const double a[3], const double b[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] + b[i];
}
static inline void vec_sub(double out[3], const double a[3], const double b[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}
/* out = a + s b */
static inline void vec_add_scaled(double out[3], const double a[3], double s, const double b[3]) {
    for (int i = 0; i < 3; i++) out[i] = a[i] + s * b[i];
}
static inline void vec_scale(double out[3], double s, const double a[3]) {
    for (int i = 0; i < 3; i++) out[i] = s * a[i];
}
static inline void vec_cross(double out[3], const double a[3], const double b[3]) {
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
           z = a[0] * b[1] - a[1] * b[0];
    vec_set(out, x, y, z);
}
/* Unit length; a zero vector becomes (0, 0, 0) and false is returned. */
static inline bool vec_normalise(double a[3]) {
    double l = vec_length(a);
    if (!(l > 0)) return false;
    vec_scale(a, 1 / l, a);
    return true;
}
static inline void mat_identity(double m[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) m[i][j] = i == j;
}
static inline void mat_apply(double out[3], const double m[3][3], const double a[3]) {
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = vec_dot(m[i], a);
    vec_copy(out, x);
}
/* out = m^T a: the inverse of a rotation. */
static inline void mat_apply_transposed(double out[3], const double m[3][3], const double a[3]) {
    double x[3];
    for (int i = 0; i < 3; i++) x[i] = m[0][i] * a[0] + m[1][i] * a[1] + m[2][i] * a[2];
    vec_copy(out, x);
}
static inline void mat_multiply(double out[3][3], const double a[3][3], const double b[3][3]) {
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    memcpy(out, m, sizeof m);
}
/* The matrix of cofactors: it maps normals as m maps points. */
static inline void mat_cofactors(double out[3][3], const double m[3][3]) {
    for (int i = 0; i < 3; i++) vec_cross(out[i], m[(i + 1) % 3], m[(i + 2) % 3]);
}
static inline double mat_determinant(const double m[3][3]) {
    double across[3];
    vec_cross(across, m[1], m[2]);
    return vec_dot(m[0], across);
}
/* Rotation by `angle` radians about a unit axis (Rodrigues). */
static inline void mat_rotation(double out[3][3], const double axis[3], double angle) {
    double c = cos(angle), s = sin(angle);
    const double x = axis[0], y = axis[1], z = axis[2];
    double m[3][3] = {
        {c + x * x * (1 - c), x * y * (1 - c) - z * s, x * z * (1 - c) + y * s},
        {y * x * (1 - c) + z * s, c + y * y * (1 - c), y * z * (1 - c) - x * s},
        {z * x * (1 - c) - y * s, z * y * (1 - c) + x * s, c + z * z * (1 - c)},
    };
    memcpy(out, m, sizeof m);
}

#endif
