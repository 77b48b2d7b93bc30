/*
 * Weakly compressible liquid: p(J) = (kappa / gamma) (J^-gamma - 1), tau = -J p I, which holds no
 * tension: J does not grow beyond 1. Where the solver finds the liquid sparse
 * (mpm/liquid_density.c) the particle's dilation is above 0: so much room must go before it has
 * pressure again, while for all else J is 1. With `negative_pressure` J may be anything, and p may
 * be below 0. Viscosity adds J mu (C + C^T).
 */
#include "solver/materials/material.h"

typedef struct liquid {
    double density, bulk_modulus, gamma, viscosity, surface_tension, critical_J;
    double temperature, expansion;
    bool volume_correction, negative_pressure;
} liquid;

static const field liquid_fields[] = {
    NUMBER_FIELD(liquid, density, "kg/m^3", 1000, SMALLEST, 1e12, "Density at rest."),
    NUMBER_FIELD(liquid, bulk_modulus, "Pa", 2e5, SMALLEST, 1e15,
                 "Resistance to compression; the speed of sound is sqrt(bulk_modulus / density)."),
    NUMBER_FIELD(liquid, gamma, "", 7, 1, 20, "Exponent of the equation of state."),
    NUMBER_FIELD(liquid, viscosity, "Pa s", 0, 0, 1e12, "Dynamic viscosity."),
    NUMBER_FIELD(liquid, surface_tension, "N/m", 0, 0, 1e12,
                 "Surface tension (solvers flip and sph); water in air has 0.072."),
    FLAG_FIELD(liquid, volume_correction, true,
               "Whether the volumes of particles are held to the density that they have in space "
               "(solver mpm). Without it, poured and splashing liquid swells or shrinks."),
    NUMBER_FIELD(liquid, temperature, "K", 0, -1e6, 1e6,
                 "Temperature above the surroundings that bodies and sources of it bring (solver "
                 "mpm); see solver.heat_diffusion."),
    NUMBER_FIELD(liquid, expansion, "1/K", 1.0 / 293, 0, 1e6,
                 "How much lighter a degree makes it: hot liquid rises (solver mpm)."),
    FLAG_FIELD(
        liquid, negative_pressure, false,
        "Whether it pulls where it is sparse (solver mpm): for gas that fills its room. With "
        "density sph free surfaces then contract and break up into beads."),
    CRITICAL_FIELD(liquid, "1"),
};

static void constants(const void *parameters, int dim, material_constants *out) {
    const liquid *l = parameters;
    (void)dim;
    out->kind = MATERIAL_LIQUID;
    out->density = (real)l->density;
    out->critical = isnan(l->critical_J) ? 0 : (real)(l->critical_J - 1);
    out->liquid = (liquid_constants){.stiffness = (real)(l->bulk_modulus / l->gamma),
                                     .gamma = (real)l->gamma,
                                     .viscosity = (real)l->viscosity,
                                     .tension = (real)l->surface_tension,
                                     .correct = l->volume_correction,
                                     .pulls = l->negative_pressure,
                                     .temperature = (real)l->temperature,
                                     .expansion = (real)l->expansion};
}

/* c^2 = dp/drho = kappa J^(1 - gamma) / rho0, largest where J is smallest. */
static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    const liquid *l = parameters;
    (void)dim;
    return sqrt(l->bulk_modulus / l->density * pow(range->J_min, 1 - l->gamma));
}

static double viscous_step(const void *parameters, int dim, double dx) {
    const liquid *l = parameters;
    return l->viscosity > 0 ? l->density * dx * dx / (4 * dim * l->viscosity) : HUGE_VAL;
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    const liquid *l = parameters;
    double pressed = l->negative_pressure ? state->dilation : fmin(state->dilation, 0),
           k = l->bulk_modulus / l->gamma;
    double pressure = k * expm1(-l->gamma * log1p(pressed));
    (void)dim;
    if (J) *J = 1 + pressed;
    for (int c = 0; c < 6 && stress; c++) stress[c] = c <= ZZ ? -(1 + pressed) * pressure : 0;
    /* The work of p against volume: psi = integral of p from J to 1. */
    double a = 1 - l->gamma;
    if (energy)
        *energy = l->gamma > 1.0001 ? k * (pressed - expm1(a * log1p(pressed)) / a)
                                    : k * (pressed - log1p(pressed));
}

const material_model material_liquid = {
    .type = {.name = "liquid",
             .matter = MATTER_LIQUID,
             .table = FIELD_TABLE("liquid", "Weakly compressible liquid.", liquid_fields, liquid),
             .density_offset = offsetof(liquid, density),
             .look = LOOK_SURFACE,
             .finish = FINISH_GLOSS,
             .color = 0x2f7fb8,
             .flows = true},
    .fields = PARTICLE_BIT(dilation),
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = viscous_step,
    .evaluate = evaluate,
};
