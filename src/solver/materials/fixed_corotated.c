/*
 * Fixed corotated solid (Stomakhin et al. 2012): psi = mu |F - R|^2 + (lambda / 2)(J - 1)^2, so
 * tau = 2 mu (b - V) + lambda J (J - 1) I with V = sqrt(b): it too needs b alone. V has the axes of
 * b; from the eigenvalues beta of B = b - I its own are 1 + w, w = beta / (1 + sqrt(1 + beta)), and
 * those of b - V are w (1 + w), so that small strains keep their digits.
 */
#include "solver/materials/fixed_corotated.h"

static const field fixed_corotated_fields[] = {ELASTIC_FIELDS("never")};

static void constants(const void *parameters, int dim, material_constants *out) {
    (void)dim;
    elastic_begin(parameters, MATERIAL_FIXED_COROTATED, NEVER_APART, out);
    out->fixed_corotated = elastic_constants_of(parameters);
}

/* rho0 c^2 is the second derivative of the energy along F + e (a n^T) F: lambda J^2 (a.n)^2 of the
 * volume; 2 mu n.b n of |F|^2; and tr V, which is taken away, is convex in F. */
double corotated_wave_speed(const elastic *e, int dim, const strain_range *range) {
    unevenness u = largest_unevenness(dim, range);
    double longest = (u.mean + u.deviation) * pow(range->J_min, 2.0 / dim); /* of b */
    double stiffness =
        fmax(e->lambda, 0) * range->J_max * range->J_max + 2 * e->shear * fmax(1, longest);
    return sqrt(fmax(1, range->stiffening) * stiffness / e->density);
}

static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    return corotated_wave_speed(parameters, dim, range);
}

/* One rotation of Jacobi's method: makes A[p][q] zero. */
static void rotate(double A[3][3], double Q[3][3], int p, int q) {
    if (A[p][q] == 0) return;
    double theta = (A[q][q] - A[p][p]) / (2 * A[p][q]);
    double t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1));
    double c = 1 / hypot(t, 1), s = t * c;
    for (int k = 0; k < 3; k++) {
        double x = A[k][p], y = A[k][q];
        A[k][p] = c * x - s * y, A[k][q] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = A[p][k], y = A[q][k];
        A[p][k] = c * x - s * y, A[q][k] = s * x + c * y;
    }
    for (int k = 0; k < 3; k++) {
        double x = Q[k][p], y = Q[k][q];
        Q[k][p] = c * x - s * y, Q[k][q] = s * x + c * y;
    }
}

principal_stretches stretches_of(int dim, const double B[6]) {
    principal_stretches s = {.Q = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
    double A[3][3] = {{0}};
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) A[r][c] = B[symmetric_place[r][c]];
    for (int sweep = 0; sweep < 8; sweep++)
        for (int p = 0; p < dim; p++)
            for (int q = p + 1; q < dim; q++) rotate(A, s.Q, p, q);
    for (int a = 0; a < dim; a++) s.w[a] = A[a][a] / (1 + sqrt(1 + A[a][a]));
    return s;
}

void tensor_of(int dim, const double Q[3][3], const double v[3], double T[6]) {
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++) {
            T[symmetric_place[r][c]] = 0;
            for (int k = 0; k < dim; k++) T[symmetric_place[r][c]] += Q[r][k] * v[k] * Q[c][k];
        }
}

void corotated_evaluate(const elastic *e, int dim, double factor, const strain_state *state,
                        double stress[6], double *energy, double *J) {
    principal_stretches s = stretches_of(dim, state->strain);
    double x = determinant_less_one(dim, state->strain), root = sqrt(1 + x);
    double grown = x / (1 + root), square = 0, v[3]; /* J - 1 */
    for (int a = 0; a < dim; a++) {
        square += s.w[a] * s.w[a];
        v[a] = factor * (2 * e->shear * s.w[a] * (1 + s.w[a]) + e->lambda * root * grown);
    }
    if (J) *J = root;
    if (energy) *energy = factor * (e->shear * square + e->lambda / 2 * grown * grown);
    for (int c = 0; c < 6 && stress; c++) stress[c] = 0;
    if (stress) tensor_of(dim, s.Q, v, stress);
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    corotated_evaluate(parameters, dim, 1, state, stress, energy, J);
}

const material_model material_fixed_corotated = {
    .type = {.name = "fixed_corotated",
             .matter = MATTER_SOLID,
             .table = FIELD_TABLE("fixed_corotated", "Elastic solid (fixed corotated).",
                                  fixed_corotated_fields, elastic),
             .prepare = elastic_prepare,
             .density_offset = offsetof(elastic, density),
             .look = LOOK_SKIN,
             .finish = FINISH_GLOSS,
             .color = 0x3f9a6b},
    .fields = PARTICLE_BIT(strain),
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = evaluate,
};
