#include "solver/lagrangian/fe.h"

#include "core/vec.h"

/* ---- Small matrices: in 2D the upper left of 3x3 --------------------------------------------- */

/* Cofactors: J F^-T. */
static void cofactors(int dim, const double F[3][3], double C[3][3]) {
    if (dim == 3) {
        mat_cofactors(C, F);
        return;
    }
    memset(C, 0, 9 * sizeof(double));
    C[0][0] = F[1][1], C[0][1] = -F[1][0], C[1][0] = -F[0][1], C[1][1] = F[0][0];
}

static double determinant(int dim, const double F[3][3]) {
    return dim == 3 ? mat_determinant(F) : F[0][0] * F[1][1] - F[0][1] * F[1][0];
}

static double contract(int dim, const double A[3][3], const double B[3][3]) {
    double sum = 0;
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) sum += A[r][c] * B[r][c];
    return sum;
}

/* Columns: the edges from corner 0. */
static void edges(int dim, const double x[4][3], double D[3][3]) {
    memset(D, 0, 9 * sizeof(double));
    for (int c = 0; c < dim; c++)
        for (int r = 0; r < dim; r++) D[r][c] = x[c + 1][r] - x[0][r];
}

static void product(int dim, const double A[3][3], const double B[3][3], double C[3][3]) {
    memset(C, 0, 9 * sizeof(double));
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++)
            for (int k = 0; k < dim; k++) C[r][c] += A[r][k] * B[k][c];
}

/* ---- Rotation -------------------------------------------------------------------------------- */

static void rotation_2d(const double F[3][3], double R[3][3]) {
    double c = F[0][0] + F[1][1], s = F[1][0] - F[0][1], length = sqrt(c * c + s * s);
    mat_identity(R);
    if (!(length > 0)) return;
    R[0][0] = R[1][1] = c / length;
    R[1][0] = s / length, R[0][1] = -R[1][0];
}

/* Eigenvectors of a symmetric matrix as columns of V, by Jacobi rotations; A becomes diagonal. */
static void eigenvectors(double A[3][3], double V[3][3]) {
    mat_identity(V);
    for (int sweep = 0; sweep < 12; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                if (A[p][q] == 0) continue;
                double w = (A[q][q] - A[p][p]) / (2 * A[p][q]);
                double t = (w >= 0 ? 1 : -1) / (fabs(w) + sqrt(w * w + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (int k = 0; k < 3; k++) {
                    double a = A[k][p], b = A[k][q];
                    A[k][p] = c * a - s * b, A[k][q] = s * a + c * b;
                }
                for (int k = 0; k < 3; k++) {
                    double a = A[p][k], b = A[q][k];
                    A[p][k] = c * a - s * b, A[q][k] = s * a + c * b;
                    a = V[k][p], b = V[k][q];
                    V[k][p] = c * a - s * b, V[k][q] = s * a + c * b;
                }
                A[p][q] = A[q][p] = 0;
            }
}

/* Makes u a unit vector across `other`; any such where nothing of it is left. */
static void unit_across(double u[3], const double other[3]) {
    vec_add_scaled(u, u, -vec_dot(u, other), other);
    if (vec_length(u) > 1e-12 && vec_normalise(u)) return;
    int least = 0;
    for (int a = 1; a < 3; a++)
        if (fabs(other[a]) < fabs(other[least])) least = a;
    double axis[3] = {0};
    axis[least] = 1;
    vec_cross(u, other, axis);
    vec_normalise(u);
}

/* U V^T with the columns of U along F v of the two longest stretches; the third completes a
 * rotation, so that an inverted element has its least stretch negative. */
static void rotation_3d(const double F[3][3], double R[3][3]) {
    double A[3][3], V[3][3], v[3][3], u[3][3];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            A[r][c] = F[0][r] * F[0][c] + F[1][r] * F[1][c] + F[2][r] * F[2][c];
    eigenvectors(A, V);
    int low = 0, high = 0;
    for (int k = 1; k < 3; k++) {
        if (A[k][k] < A[low][low]) low = k;
        if (A[k][k] >= A[high][high]) high = k;
    }
    mat_identity(R);
    if (!(A[high][high] > 0)) return;
    if (low == high) low = (high + 1) % 3;
    const int of[2] = {high, 3 - high - low};
    for (int k = 0; k < 2; k++) {
        for (int a = 0; a < 3; a++) v[k][a] = V[a][of[k]];
        mat_apply(u[k], F, v[k]);
    }
    vec_normalise(u[0]);
    vec_scale(u[1], 1 / sqrt(A[high][high]), u[1]);
    unit_across(u[1], u[0]);
    vec_cross(v[2], v[0], v[1]);
    vec_cross(u[2], u[0], u[1]);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            R[r][c] = u[0][r] * v[0][c] + u[1][r] * v[1][c] + u[2][r] * v[2][c];
}

void fe_rotation(int dim, const double F[3][3], double R[3][3]) {
    if (dim == 2)
        rotation_2d(F, R);
    else
        rotation_3d(F, R);
}

/* ---- Laws ------------------------------------------------------------------------------------ */

/* P = mu s (F - (F:F / d) G) + kappa/2 (J^2 - 1) G with G = F^-T, s = J^(-2/d). */
static void neo_hookean(const fe_material *m, int dim, const double F[3][3], double J,
                        double P[3][3], double *energy) {
    double cofactor[3][3];
    *energy = 0;
    if (!(J > 0)) return;
    cofactors(dim, F, cofactor);
    const double I = contract(dim, F, F), s = pow(J, -2.0 / dim);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            double G = cofactor[r][c] / J;
            P[r][c] = m->shear * s * (F[r][c] - I / dim * G) + m->bulk / 2 * (J * J - 1) * G;
        }
    *energy = m->shear / 2 * (s * I - dim) + m->bulk / 2 * ((J * J - 1) / 2 - log(J));
}

/* P = 2 mu (F - R) + lambda (J - 1) J F^-T */
static void fixed_corotated(const fe_material *m, int dim, const double F[3][3], double J,
                            double P[3][3], double *energy) {
    double R[3][3], cofactor[3][3];
    fe_rotation(dim, F, R);
    cofactors(dim, F, cofactor);
    *energy = m->lambda / 2 * (J - 1) * (J - 1);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            double away = F[r][c] - R[r][c];
            *energy += m->shear * away * away;
            P[r][c] = 2 * m->shear * away + m->lambda * (J - 1) * cofactor[r][c];
        }
}

double fe_stress(const fe_material *m, int dim, const double F[3][3], double P[3][3],
                 double *energy) {
    const double J = determinant(dim, F);
    memset(P, 0, 9 * sizeof(double));
    if (m->law == FE_NEO_HOOKEAN)
        neo_hookean(m, dim, F, J, P, energy);
    else
        fixed_corotated(m, dim, F, J, P, energy);
    return J;
}

/* ---- Their slopes ---------------------------------------------------------------------------- */

/* dP/dF is a sum of products: `same` dF, `turned` F^-T dF^T F^-T, and of F and G = F^-T with their
 * contractions with dF. */
typedef struct slope_terms {
    double same, turned, GG, FG; /* FG: F (G:dF) + G (F:dF) */
} slope_terms;

static void add_terms(int dim, const slope_terms *t, const double F[3][3], const double G[3][3],
                      double A[9][9]) {
    for (int j = 0; j < dim * dim; j++)
        for (int k = 0; k < dim * dim; k++) {
            const int r = j / dim, c = j % dim, s = k / dim, d = k % dim;
            A[j][k] = t->GG * G[r][c] * G[s][d] + t->turned * G[r][d] * G[s][c] +
                      t->FG * (F[r][c] * G[s][d] + G[r][c] * F[s][d]) + (j == k ? t->same : 0);
        }
}

/* What the rotation of F turns by, as an axial vector, for a change dF = e_s e_d^T. In 2D the third
 * component alone. `inverse` is (tr S - S)^-1. */
static void rotation_rate(int dim, const double R[3][3], const double inverse[3][3], int s, int d,
                          double w[3]) {
    double M[3][3] = {{0}};
    for (int r = 0; r < dim; r++) M[r][d] = R[s][r];
    const double axial[3] = {M[2][1] - M[1][2], M[0][2] - M[2][0], M[1][0] - M[0][1]};
    mat_apply(w, inverse, axial);
}

/* (tr S - S)^-1; where it is singular a large multiple stands for it: the eigenvalues of dP/dF are
 * bounded afterwards. */
static void rotation_inverse(int dim, const double F[3][3], const double R[3][3],
                             double inverse[3][3]) {
    double S[3][3] = {{0}}, A[3][3], C[3][3], trace = 0;
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++)
            for (int k = 0; k < dim; k++) S[r][c] += R[k][r] * F[k][c];
    for (int r = 0; r < dim; r++) trace += S[r][r];
    memset(inverse, 0, 9 * sizeof(double));
    if (dim == 2) {
        inverse[2][2] = 1 / fmax(trace, 1e-6);
        return;
    }
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) A[r][c] = (r == c ? trace : 0) - (S[r][c] + S[c][r]) / 2;
    mat_cofactors(C, A);
    const double det = mat_determinant(A), floor = 1e-9 * fabs(trace * trace * trace) + 1e-18;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) inverse[r][c] = C[c][r] / (det > floor ? det : floor);
}

/* A -= by dR/dF. */
static void take_rotation(int dim, const double F[3][3], double by, double A[9][9]) {
    double R[3][3], inverse[3][3], w[3];
    fe_rotation(dim, F, R);
    rotation_inverse(dim, F, R, inverse);
    for (int k = 0; k < dim * dim; k++) {
        rotation_rate(dim, R, inverse, k / dim, k % dim, w);
        const double W[3][3] = {{0, -w[2], w[1]}, {w[2], 0, -w[0]}, {-w[1], w[0], 0}};
        for (int j = 0; j < dim * dim; j++)
            for (int a = 0; a < dim; a++) A[j][k] -= by * R[j / dim][a] * W[a][j % dim];
    }
}

/* A += by d(cofactors)/dF: linear in F in 3D, constant in 2D. */
static void add_cofactor_slope(int dim, const double F[3][3], double by, double A[9][9]) {
    for (int k = 0; k < dim * dim; k++) {
        const int s = k / dim, d = k % dim;
        if (dim == 2) {
            A[(1 - s) * 2 + 1 - d][k] += s == d ? by : -by;
            continue;
        }
        for (int i = 1; i < 3; i++)
            for (int j = 1; j < 3; j++) /* even where both steps are alike */
                A[(s + i) % 3 * 3 + (d + j) % 3][k] +=
                    (i == j ? by : -by) * F[(s + 3 - i) % 3][(d + 3 - j) % 3];
    }
}

void fe_moduli(const fe_material *m, int dim, const double F[3][3], double A[9][9]) {
    const double J = determinant(dim, F);
    double G[3][3] = {{0}};
    memset(A, 0, 81 * sizeof(double));
    cofactors(dim, F, G);
    if (m->law == FE_NEO_HOOKEAN) {
        if (!(J > 0)) return;
        for (int r = 0; r < dim; r++) vec_scale(G[r], 1 / J, G[r]);
        const double I = contract(dim, F, F), s = m->shear * pow(J, -2.0 / dim);
        const slope_terms t = {.same = s,
                               .turned = s * I / dim - m->bulk / 2 * (J * J - 1),
                               .GG = 2 * s * I / (dim * dim) + m->bulk * J * J,
                               .FG = -2 * s / dim};
        add_terms(dim, &t, F, G, A);
        return;
    }
    /* With the cofactors JG in place of G; their slope is finite where J is 0. */
    const double two = 2 * m->shear, volume = m->lambda * (J - 1);
    const slope_terms t = {.same = two, .GG = m->lambda};
    add_terms(dim, &t, F, G, A);
    add_cofactor_slope(dim, F, volume, A);
    take_rotation(dim, F, two, A);
}

/* ---- Elements -------------------------------------------------------------------------------- */

bool fe_rest(int dim, const double X[4][3], fe_element *out) {
    double D[3][3], cofactor[3][3], longest = 0;
    edges(dim, X, D);
    const double det = determinant(dim, D);
    for (int c = 0; c < dim; c++) {
        double edge[3] = {D[0][c], D[1][c], dim == 3 ? D[2][c] : 0};
        longest = fmax(longest, vec_length(edge));
    }
    if (!(det > 1e-9 * pow(longest, dim))) return false;
    cofactors(dim, D, cofactor);
    memset(out->B, 0, sizeof out->B);
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) out->B[r][c] = cofactor[c][r] / det;
    out->volume = det / (dim == 2 ? 2 : 6);
    return true;
}

/* A row of D^-1 is as long as one over a corner's height. */
static double least_altitude(int dim, const double D[3][3], double det) {
    double C[3][3], rows[4][3] = {{0}}, longest = 0;
    cofactors(dim, D, C);
    for (int c = 0; c < dim; c++)
        for (int r = 0; r < dim; r++) {
            rows[c + 1][r] = C[r][c];
            rows[0][r] -= C[r][c];
        }
    for (int k = 0; k <= dim; k++) longest = fmax(longest, vec_length(rows[k]));
    return fabs(det) / longest;
}

fe_report fe_forces(const fe_material *m, int dim, const fe_element *e, const double x[4][3],
                    double f[4][3]) {
    double D[3][3], F[3][3], P[3][3], density;
    edges(dim, x, D);
    product(dim, D, e->B, F);
    fe_report report = {.J = fe_stress(m, dim, F, P, &density)};
    report.energy = e->volume * density;
    report.stretch = contract(dim, F, F) / dim;
    report.altitude = least_altitude(dim, D, determinant(dim, D));
    for (int k = 0; k <= dim; k++) vec_set(f[k], 0, 0, 0);
    for (int c = 0; c < dim; c++)
        for (int r = 0; r < dim; r++) {
            double sum = 0;
            for (int k = 0; k < dim; k++) sum -= e->volume * P[r][k] * e->B[c][k];
            f[c + 1][r] = sum;
            f[0][r] -= sum;
        }
    return report;
}
