/*
 * Elastic solid in rate form (hypoelastic) with Jaumann's rate, as multiphase MPM has it: with the
 * velocity gradient C, its symmetric part D and its spin W,
 *
 *    tau' = K tr(D) I + 2 G dev(D) + W tau - tau W
 *
 * in 3D and in plane strain: dev takes off a third of the trace in both, K = lambda + 2 mu / 3. The
 * stress turns with the body by the rotation of Hughes and Winget (1980),
 *
 *    tau <- Q tau Q^T + dt (K tr(D) I + 2 G dev(D)),   Q = (I - dt W / 2)^-1 (I + dt W / 2)
 *
 * which is orthogonal: adding dt (W tau - tau W) instead makes the stress grow, by 8 % in a turn of
 * 1000 steps. Since the law is isotropic, a strain e that is turned and added to in the same way,
 * e <- Q e Q^T + dt D, gives the stress by Hooke's law, tau = lambda tr(e) I + 2 mu e. e is kept in
 * the place of b - I: it is ln V while the principal axes stay, and tr e = ln J always.
 *
 * tau is Kirchhoff's stress, J times Cauchy's, so that V0 tau : D is the power and psi = tau : e /
 * 2 is just the work that was done, whatever the path. Limit: in simple shear by an angle g the
 * principal axes turn by g / 2 while the material goes on shearing, so tau_xy = mu sin(g): it falls
 * from g = pi / 2 on. Use neo_hookean where strains pass some ten percent.
 */
#include "solver/materials/hypoelastic.h"

static const field hypoelastic_fields[] = {ELASTIC_FIELDS("never")};

static void constants(const void *parameters, int dim, material_constants *out) {
    (void)dim;
    elastic_begin(parameters, MATERIAL_HYPOELASTIC, NEVER_APART, out);
    out->hypoelastic = elastic_constants_of(parameters);
}

/* Along n, rho0 c^2 is lambda + 2 mu less the stress there. The range's stretch is 1 + |e|. */
static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    const elastic *e = parameters;
    const double size = fmax(0, range->stretch - 1),
                 most = (sqrt(dim) * fabs(e->lambda) + 2 * e->shear) * size;
    return sqrt((e->lambda + 2 * e->shear + most) / e->density);
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    material_linear.evaluate(parameters, dim, state, stress, energy, NULL);
    const double *e = state->strain;
    if (J) *J = exp(e[XX] + e[YY] + (dim == 3 ? e[ZZ] : 0));
}

/* Q - I = 2 (A + A^2) / (1 + |a|^2) with A = dt W / 2 and a its axis. */
static void turn_less_identity(int dim, double G[3][3], double q[3][3]) {
    double A[3][3] = {{0}}, square = 0;
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            A[r][c] = (G[r][c] - G[c][r]) / 4;
            square += A[r][c] * A[r][c] / 2;
        }
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            q[r][c] = A[r][c];
            for (int k = 0; k < dim; k++) q[r][c] += A[r][k] * A[k][c];
            q[r][c] *= 2 / (1 + square);
        }
}

void hypoelastic_advance(int dim, double e[6], double G[3][3]) {
    double q[3][3], next[6] = {0};
    turn_less_identity(dim, G, q);
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++) {
            double sum = (G[r][c] + G[c][r]) / 2;
            for (int k = 0; k < dim; k++)
                for (int l = 0; l < dim; l++)
                    sum += (q[r][k] + (r == k)) * e[symmetric_place[k][l]] * (q[c][l] + (c == l));
            next[symmetric_place[r][c]] = sum;
        }
    for (int c = 0; c < 6; c++) e[c] = next[c];
}

const material_model material_hypoelastic = {
    .type =
        {.name = "hypoelastic",
         .matter = MATTER_SOLID,
         .table = FIELD_TABLE(
             "hypoelastic",
             "Elastic solid in rate form: its stress adds up and turns with the body (Jaumann's "
             "rate, rotated by Hughes and Winget). As neo_hookean at small strains and any "
             "rotation; in shear beyond a right angle its stress falls again.",
             hypoelastic_fields, elastic),
         .prepare = elastic_prepare,
         .density_offset = offsetof(elastic, density),
         .look = LOOK_SKIN,
         .finish = FINISH_JELLY,
         .color = 0xc9862b},
    .fields = PARTICLE_BIT(strain),
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = evaluate,
};
