/*
 * Neo-Hookean solid in Simo's form: tau = (kappa / 2)(J^2 - 1) I + mu dev(bbar), bbar = J^(-2/d) b.
 * It needs b alone, no rotation. kappa is that of the dimension, lambda + 2 mu / d, so that waves
 * in 2D have the speed of plane strain.
 */
#include "solver/materials/material.h"

#include <math.h>
#include <stdio.h>

typedef struct neo_hookean {
    double density, young_modulus, poisson;
    double bulk_modulus; /* instead of young_modulus */
    double bulk, shear;  /* derived: kappa_d and mu */
} neo_hookean;

static const field neo_hookean_fields[] = {
    {.name = "density",
     .type = FIELD_NUMBER,
     .offset = offsetof(neo_hookean, density),
     .unit = "kg/m^3",
     .fallback = 1000,
     .min = SMALLEST,
     .max = 1e12,
     .help = "Density at rest."},
    {.name = "young_modulus",
     .type = FIELD_NUMBER,
     .offset = offsetof(neo_hookean, young_modulus),
     .unit = "Pa",
     .fallback = 0,
     .min = 0,
     .max = 1e15,
     .help = "Young's modulus E; give this or bulk_modulus."},
    {.name = "bulk_modulus",
     .type = FIELD_NUMBER,
     .offset = offsetof(neo_hookean, bulk_modulus),
     .unit = "Pa",
     .fallback = 0,
     .min = 0,
     .max = 1e15,
     .help = "Bulk modulus kappa instead of E: E = 3 kappa (1 - 2 poisson)."},
    {.name = "poisson",
     .type = FIELD_NUMBER,
     .offset = offsetof(neo_hookean, poisson),
     .unit = "",
     .fallback = 0.3,
     .min = -0.99,
     .max = 0.499,
     .help = "Poisson's ratio."},
};

static bool prepare(void *parameters, int dim, field_report *report) {
    neo_hookean *n = parameters;
    bool young = n->young_modulus > 0, bulk = n->bulk_modulus > 0;
    if (young == bulk) {
        report->at = "young_modulus";
        snprintf(report->message, sizeof report->message, "%s; give young_modulus or bulk_modulus",
                 young ? "is given together with bulk_modulus" : "is missing or zero");
        return false;
    }
    double E = young ? n->young_modulus : 3 * n->bulk_modulus * (1 - 2 * n->poisson);
    double lambda = E * n->poisson / ((1 + n->poisson) * (1 - 2 * n->poisson));
    n->shear = E / (2 * (1 + n->poisson));
    n->bulk = lambda + 2 * n->shear / dim;
    return true;
}

static void constants(const void *parameters, int dim, material_constants *out) {
    const neo_hookean *n = parameters;
    (void)dim;
    out->kind = MATERIAL_NEO_HOOKEAN;
    out->density = (real)n->density;
    out->neo_hookean = (neo_hookean_constants){(real)n->bulk, (real)n->shear};
}

/* Along a uniaxial stretch J the spatial wave speed is c^2 = J^2 P'(J) / rho0; sideways stretch
 * stiffens shear in proportion to b. */
static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    const neo_hookean *n = parameters;
    double d = dim, stiffest = 0, ends[2] = {range->J_min, range->J_max};
    for (int i = 0; i < 2; i++) {
        double J = ends[i];
        double volume = n->bulk / 2 * (J * J + 1);
        double shape = n->shear * (d - 1) / d *
                       ((1 - 2 / d) * pow(J, 2 - 2 / d) + (1 + 2 / d) * pow(J, -2 / d));
        stiffest = fmax(stiffest, volume + shape * fmax(1, range->stretch * pow(J, -2 / d)));
    }
    return sqrt(stiffest / n->density);
}

static double viscous_step(const void *parameters, int dim, double dx) {
    (void)parameters, (void)dim, (void)dx;
    return HUGE_VAL;
}

/* det b - 1 from B = b - I, without losing small strains. */
static double determinant_less_one(int dim, const double B[6]) {
    if (dim == 2) return B[XX] + B[YY] + B[XX] * B[YY] - B[XY] * B[XY];
    double minors = B[XX] * B[YY] - B[XY] * B[XY] + B[XX] * B[ZZ] - B[XZ] * B[XZ] + B[YY] * B[ZZ] -
                    B[YZ] * B[YZ];
    double determinant = B[XX] * (B[YY] * B[ZZ] - B[YZ] * B[YZ]) -
                         B[XY] * (B[XY] * B[ZZ] - B[YZ] * B[XZ]) +
                         B[XZ] * (B[XY] * B[YZ] - B[YY] * B[XZ]);
    return B[XX] + B[YY] + B[ZZ] + minors + determinant;
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    const neo_hookean *n = parameters;
    const double *B = state->strain;
    double x = determinant_less_one(dim, B); /* J^2 - 1 */
    double shrink = exp(-log1p(x) / dim);    /* J^(-2/d) */
    double mean = (B[XX] + B[YY] + (dim == 3 ? B[ZZ] : 0)) / dim;
    if (J) *J = sqrt(1 + x);
    for (int c = 0; c < 6 && stress; c++) {
        bool diagonal = c < dim, used = dim == 3 || c == XX || c == YY || c == XY;
        stress[c] = !used      ? 0
                    : diagonal ? n->bulk / 2 * x + n->shear * shrink * (B[c] - mean)
                               : n->shear * shrink * B[c];
    }
    /* psi = kappa/2 ((J^2 - 1)/2 - ln J) + mu/2 (tr bbar - d) */
    double trace_excess = dim * (expm1(-log1p(x) / dim) + shrink * mean);
    if (energy) *energy = n->bulk / 4 * (x - log1p(x)) + n->shear / 2 * trace_excess;
}

const material_model material_neo_hookean = {
    .type = {.name = "neo_hookean",
             .table = {.name = "neo_hookean",
                       .help = "Elastic solid (Simo's neo-Hookean form).",
                       .fields = neo_hookean_fields,
                       .count = COUNT_OF(neo_hookean_fields),
                       .size = sizeof(neo_hookean)},
             .prepare = prepare,
             .density_offset = offsetof(neo_hookean, density)},
    .fields = PARTICLE_BIT(strain),
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = viscous_step,
    .evaluate = evaluate,
};
