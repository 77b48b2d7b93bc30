/*
 * Gas of the solver `smoke`: what carries the smoke, which is one gas for the whole scene, and the
 * smoke itself, of which there may be several kinds. It has no stress and no waves: it cannot be
 * compressed.
 */
#include "solver/materials/material.h"

typedef struct gas {
    double density, viscosity, expansion, smoke, temperature, weight, diffusion;
} gas;

static const field gas_fields[] = {
    NUMBER_FIELD(gas, density, "kg/m^3", 1.2, SMALLEST, 1e12,
                 "Density of the gas; the same for all materials of a scene."),
    NUMBER_FIELD(gas, viscosity, "Pa s", 0, 0, 1e12,
                 "Dynamic viscosity, air has 1.8e-5; the same for all materials of a scene."),
    NUMBER_FIELD(gas, expansion, "1/K", 1.0 / 293, 0, 1e6,
                 "How much lighter a degree makes the gas; the same for all materials of a scene."),
    NUMBER_FIELD(gas, smoke, "", 1, 0, 1e6,
                 "Amount of smoke that bodies and sources of this material bring."),
    NUMBER_FIELD(gas, temperature, "K", 0, -1e6, 1e6,
                 "Temperature above the surroundings that they bring; hot gas rises."),
    NUMBER_FIELD(gas, weight, "", 0, -1e6, 1e6,
                 "How much heavier, relative to the gas, an amount of 1 of this smoke makes it."),
    NUMBER_FIELD(
        gas, diffusion, "m^2/s", 0, 0, 1e12,
        "Diffusivity of this smoke and of its heat, which spreads by the largest of a scene."),
};

static void constants(const void *parameters, int dim, material_constants *out) {
    const gas *g = parameters;
    (void)dim;
    out->kind = MATERIAL_GAS;
    out->density = (real)g->density;
    out->critical = 0;
    out->gas = (gas_constants){.viscosity = g->viscosity,
                               .expansion = g->expansion,
                               .smoke = g->smoke,
                               .temperature = g->temperature,
                               .weight = g->weight,
                               .diffusion = g->diffusion};
}

static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    (void)parameters, (void)dim, (void)range;
    return 0;
}

static double viscous_step(const void *parameters, int dim, double dx) {
    (void)parameters, (void)dim, (void)dx;
    return HUGE_VAL; /* viscosity is implicit */
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    (void)parameters, (void)dim, (void)state;
    for (int c = 0; c < 6 && stress; c++) stress[c] = 0;
    if (energy) *energy = 0;
    if (J) *J = 1;
}

const material_model material_gas = {
    .type = {.name = "gas",
             .matter = MATTER_GAS,
             .table = FIELD_TABLE("gas", "Gas with smoke in it (solver smoke).", gas_fields, gas),
             .density_offset = offsetof(gas, density),
             .look = LOOK_SMOKE,
             .finish = FINISH_MATT,
             .color = 0xf7f7f7},
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = viscous_step,
    .evaluate = evaluate,
};
