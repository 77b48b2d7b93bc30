/*
 * Neo-Hookean solid in Simo's form: tau = (kappa / 2)(J^2 - 1) I + mu dev(bbar), bbar = J^(-2/d) b.
 * It needs b alone, no rotation. kappa is that of the dimension, lambda + 2 mu / d, so that waves
 * in 2D have the speed of plane strain.
 */
#include "solver/materials/neo_hookean.h"

static const field neo_hookean_fields[] = {ELASTIC_FIELDS("never")};

static void constants(const void *parameters, int dim, material_constants *out) {
    (void)dim;
    elastic_begin(parameters, MATERIAL_NEO_HOOKEAN, NEVER_APART, out);
    out->neo_hookean = elastic_constants_of(parameters);
}

/* rho0 c^2 is the second derivative of the energy along F + e (a n^T) F, for unit vectors a and n.
 * With k = a.n, s = 2 / d, beta = n.bbar n and gamma the length of what else bbar n has, it is
 *   kappa/2 (J^2 + 1) k^2 + mu/2 [k^2 (s (s + 1) tr bbar - 4 s beta) - 4 s k (..) gamma + 2 beta]
 * where (..) is at most sqrt(1 - k^2). The bracket is largest for k^2 = 0 or 1, with 2 s gamma for
 * its middle term; beta and gamma depart from the mean and from 0 by no more than the deviation of
 * bbar together. */
double neo_hookean_wave_speed(const void *parameters, int dim, const strain_range *range) {
    const elastic *e = parameters;
    double s = 2.0 / dim;
    unevenness u = largest_unevenness(dim, range);
    double along = (s * (s + 1) * dim + 2 - 4 * s) * u.mean + hypot(4 * s - 2, 2 * s) * u.deviation;
    double across = 2 * u.mean + hypot(2, 2 * s) * u.deviation;
    double volume = e->bulk / 2 * (range->J_max * range->J_max + 1);
    return sqrt((volume + e->shear / 2 * fmax(along, across)) / e->density);
}

void neo_hookean_evaluate(const void *parameters, int dim, const strain_state *state,
                          double stress[6], double *energy, double *J) {
    const elastic *e = parameters;
    const double *B = state->strain;
    double x = determinant_less_one(dim, B); /* J^2 - 1 */
    double shrink = exp(-log1p(x) / dim);    /* J^(-2/d) */
    double mean = (B[XX] + B[YY] + (dim == 3 ? B[ZZ] : 0)) / dim;
    if (J) *J = sqrt(1 + x);
    for (int c = 0; c < 6 && stress; c++)
        stress[c] = !has_component(dim, c) ? 0
                    : c <= ZZ              ? e->bulk / 2 * x + e->shear * shrink * (B[c] - mean)
                                           : e->shear * shrink * B[c];
    /* psi = kappa/2 ((J^2 - 1)/2 - ln J) + mu/2 (tr bbar - d) */
    double trace_excess = dim * (expm1(-log1p(x) / dim) + shrink * mean);
    if (energy) *energy = e->bulk / 4 * (x - log1p(x)) + e->shear / 2 * trace_excess;
}

strain_split split_strain(int dim, const double B[6]) {
    strain_split s = {.x = determinant_less_one(dim, B)};
    double shrink = exp(-log1p(s.x) / dim), square = 0;
    double mean = (B[XX] + B[YY] + (dim == 3 ? B[ZZ] : 0)) / dim;
    for (int c = 0; c < 6; c++) {
        if (!has_component(dim, c)) continue;
        s.D[c] = shrink * (c <= ZZ ? B[c] - mean : B[c]);
        square += s.D[c] * s.D[c] * (c <= ZZ ? 1 : 2);
    }
    s.mean = shrink * (1 + mean);
    s.size = sqrt(square);
    return s;
}

/* t - 1 for the largest t with det(D + t I) = 1, that is t^3 - k t + det D = 1 with k = |D|^2 / 2
 * in 3D and t^2 - k = 1 in 2D. Newton's method from the right: there it falls to the root. */
static double rebuilt_mean_less_one(int dim, const double D[6]) {
    double k = 0;
    for (int c = 0; c < 6; c++)
        if (has_component(dim, c)) k += D[c] * D[c] * (c <= ZZ ? 0.5 : 1);
    if (dim == 2) return k / (1 + sqrt(1 + k));
    double m = D[XX] * (D[YY] * D[ZZ] - D[YZ] * D[YZ]) - D[XY] * (D[XY] * D[ZZ] - D[YZ] * D[XZ]) +
               D[XZ] * (D[XY] * D[YZ] - D[YY] * D[XZ]);
    double e = 2 / sqrt(3) * sqrt(k);
    for (int step = 0; step < 100; step++)
        e -= (e * (3 + e * (3 + e) - k) - (k - m)) / (3 * (1 + e) * (1 + e) - k);
    return e;
}

void rebuild_strain(int dim, const strain_split *s, double x, double ratio, double B[6]) {
    double D[6], stretch_less_one = expm1(log1p(x) / dim); /* J^(2/d) - 1 */
    for (int c = 0; c < 6; c++) D[c] = ratio * s->D[c];
    double e = rebuilt_mean_less_one(dim, D);
    for (int c = 0; c < 6; c++) {
        if (!has_component(dim, c)) continue;
        B[c] = (1 + stretch_less_one) * D[c];
        if (c <= ZZ) B[c] += stretch_less_one + (1 + stretch_less_one) * e;
    }
}

const material_model material_neo_hookean = {
    .type = {.name = "neo_hookean",
             .matter = MATTER_SOLID,
             .table = FIELD_TABLE("neo_hookean", "Elastic solid (Simo's neo-Hookean form).",
                                  neo_hookean_fields, elastic),
             .prepare = elastic_prepare,
             .density_offset = offsetof(elastic, density),
             .look = LOOK_SKIN,
             .finish = FINISH_JELLY,
             .color = 0xd43d4c},
    .fields = PARTICLE_BIT(strain),
    .constants = constants,
    .wave_speed = neo_hookean_wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = neo_hookean_evaluate,
};
