#include "solver/lagrangian/cloth.h"

#include "core/vec.h"

cloth_material cloth_material_of(double young_modulus, double poisson, double thickness) {
    const double plane = young_modulus / (1 - poisson * poisson);
    return (cloth_material){
        .stretch = plane * thickness, .bend = plane * pow(thickness, 3) / 12, .poisson = poisson};
}

/* ---- Membrane -------------------------------------------------------------------------------- */

/* The triangle's edges from corner 0 in its own plane: (a, 0) and (b, c). */
static double flatten(const double X[3][3], double *a, double *b, double *c) {
    double u[3], v[3], n[3];
    vec_sub(u, X[1], X[0]);
    vec_sub(v, X[2], X[0]);
    vec_cross(n, u, v);
    *a = vec_length(u);
    *b = *a > 0 ? vec_dot(u, v) / *a : 0;
    *c = *a > 0 ? vec_length(n) / *a : 0;
    return *a * *c / 2;
}

bool membrane_rest(const double X[3][3], membrane *out) {
    double a, b, c;
    out->area = flatten(X, &a, &b, &c);
    if (!(out->area > 1e-9 * (a * a + b * b + c * c))) return false;
    out->B[0][0] = 1 / a, out->B[0][1] = -b / (a * c);
    out->B[1][0] = 0, out->B[1][1] = 1 / c;
    return true;
}

static double least_height(const double x[3][3]) {
    double longest = 0, edge[3], a, b, c, area = flatten(x, &a, &b, &c);
    for (int k = 0; k < 3; k++) {
        vec_sub(edge, x[(k + 1) % 3], x[k]);
        longest = fmax(longest, vec_length(edge));
    }
    return longest > 0 ? 2 * area / longest : 0;
}

double membrane_forces(const cloth_material *m, const membrane *e, const double x[3][3],
                       double f[3][3], double *altitude) {
    double D[2][3], F[2][3], G[2][2], S[2][2]; /* by column */
    vec_sub(D[0], x[1], x[0]);
    vec_sub(D[1], x[2], x[0]);
    for (int c = 0; c < 2; c++)
        for (int r = 0; r < 3; r++) F[c][r] = D[0][r] * e->B[0][c] + D[1][r] * e->B[1][c];
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) G[r][c] = (vec_dot(F[r], F[c]) - (r == c)) / 2;
    const double trace = G[0][0] + G[1][1], nu = m->poisson;
    double square = 0;
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) {
            S[r][c] = m->stretch * ((1 - nu) * G[r][c] + (r == c ? nu * trace : 0));
            square += G[r][c] * G[r][c];
        }
    vec_set(f[0], 0, 0, 0);
    for (int k = 0; k < 2; k++)
        for (int r = 0; r < 3; r++) {
            double sum = 0;
            for (int c = 0; c < 2; c++)
                sum -= e->area * (F[0][r] * S[0][c] + F[1][r] * S[1][c]) * e->B[k][c];
            f[k + 1][r] = sum;
            f[0][r] -= sum;
        }
    *altitude = least_height(x);
    return e->area * m->stretch / 2 * ((1 - nu) * square + nu * trace * trace);
}

/* ---- Bending --------------------------------------------------------------------------------- */

/* A hinge's edge, where the corners that face it are from its first end, and its normals. */
typedef struct hinge_shape {
    double e[3], a[3], b[3], n1[3], n2[3];
} hinge_shape;

static hinge_shape hinge_of(const double x[4][3]) {
    hinge_shape h;
    vec_sub(h.e, x[1], x[0]);
    vec_sub(h.a, x[2], x[0]);
    vec_sub(h.b, x[3], x[0]);
    vec_cross(h.n1, h.e, h.a);
    vec_cross(h.n2, h.b, h.e);
    return h;
}

double hinge_angle(const double x[4][3]) {
    const hinge_shape h = hinge_of(x);
    double across[3];
    vec_cross(across, h.n1, h.n2);
    return atan2(vec_dot(across, h.e) / vec_length(h.e), vec_dot(h.n1, h.n2));
}

/* -|e| n / |n|^2 at the corners that face the edge; the edge's ends share what is left. */
void hinge_gradient(const double x[4][3], double gradient[4][3]) {
    const hinge_shape h = hinge_of(x);
    const double length = vec_length(h.e), square = length * length;
    const double t1 = vec_dot(h.e, h.a) / square, t2 = vec_dot(h.e, h.b) / square;
    vec_scale(gradient[2], -length / vec_dot(h.n1, h.n1), h.n1);
    vec_scale(gradient[3], -length / vec_dot(h.n2, h.n2), h.n2);
    for (int c = 0; c < 3; c++) {
        gradient[0][c] = -(1 - t1) * gradient[2][c] - (1 - t2) * gradient[3][c];
        gradient[1][c] = -t1 * gradient[2][c] - t2 * gradient[3][c];
    }
}

/* Takes row and column k out of the quadratic form, its angle being free to find its least. */
static void eliminate(double K[3][3], int k) {
    const double pivot = K[k][k];
    double row[3];
    vec_copy(row, K[k]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) K[r][c] -= pivot > 0 ? row[r] * row[c] / pivot : 0;
    for (int c = 0; c < 3; c++) K[k][c] = K[c][k] = 0;
}

void bending_stiffness(const cloth_material *m, const double X[3][3], const bool inner[3],
                       double K[3][3]) {
    double a, b, c, area = flatten(X, &a, &b, &c);
    const double corner[3][2] = {{0, 0}, {a, 0}, {b, c}};
    double normal[3][2], share[3]; /* l / (2 A) */
    for (int k = 0; k < 3; k++) {
        const double *from = corner[k], *to = corner[(k + 1) % 3];
        const double length = hypot(to[0] - from[0], to[1] - from[1]);
        normal[k][0] = (to[1] - from[1]) / length, normal[k][1] = (from[0] - to[0]) / length;
        share[k] = length / (2 * area);
    }
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++) {
            const double dot = normal[r][0] * normal[k][0] + normal[r][1] * normal[k][1];
            K[r][k] =
                area * m->bend * share[r] * share[k] * ((1 - m->poisson) * dot * dot + m->poisson);
        }
    for (int k = 0; k < 3; k++)
        if (!inner[k]) eliminate(K, k);
}

double hinge_stiffness(const cloth_material *m, double edge, double areas) {
    return m->bend / 3 * 3 * edge * edge / areas;
}
