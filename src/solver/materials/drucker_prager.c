/*
 * Sand: Drucker-Prager plasticity on Simo's neo-Hookean form (as in Fei et al. 2021; Klar et al.
 * 2016 on Hencky strains). With s = mu dev(bbar) and Kirchhoff pressure P = -(kappa / 2)(J^2 - 1):
 *
 *   |s| <= c_F (P + P_t),   P_t = cohesion / tan(phi)
 *   c_F = sqrt(2/3) 6 sin(phi) / (3 - sin(phi)) in 3D, sqrt(2) sin(phi) in 2D
 *
 * Beyond the cone's tip, J > J_t = sqrt(1 + 2 P_t / kappa), there is no stress but P_t:
 * b <- J_t^(2/d) I. Otherwise s is scaled back to the cone and J kept.
 *
 * volume_correction (Tampubolon et al. 2017): v_c = ln(J / J_t) that is taken away at the tip is
 * kept in `hardening`, and is given back to the trial strain of the next step: sand that was spread
 * out must be pushed together again before it holds pressure.
 */
#include "solver/materials/neo_hookean.h"

#include <stdio.h>

typedef struct drucker_prager {
    elastic base;
    double friction_angle, cohesion;
    bool volume_correction;
    double slope, tip; /* derived: c_F and P_t */
} drucker_prager;

static const field drucker_prager_fields[] = {
    ELASTIC_FIELDS("1, with cohesion J at the cone's tip"),
    NUMBER_FIELD(drucker_prager, friction_angle, "", 30, 0, 90,
                 "Angle of internal friction, degrees."),
    NUMBER_FIELD(drucker_prager, cohesion, "Pa", 0, 0, 1e15,
                 "Shear strength without pressure; shifts the cone's tip to tension."),
    FLAG_FIELD(drucker_prager, volume_correction, 0,
               "Sand that was spread out holds no pressure until it is pushed together again."),
};

static bool prepare(void *parameters, int dim, field_report *report) {
    drucker_prager *d = parameters;
    if (!elastic_prepare(&d->base, dim, report)) return false;
    double phi = d->friction_angle * acos(-1) / 180;
    if (d->cohesion > 0 && !(tan(phi) * d->base.bulk > 2 * d->cohesion)) {
        report->at = "cohesion";
        snprintf(report->message, sizeof report->message,
                 "is too large: cohesion / tan(friction_angle) must be less than half the bulk "
                 "modulus");
        return false;
    }
    d->slope = dim == 2 ? sqrt(2) * sin(phi) : sqrt(2.0 / 3) * 6 * sin(phi) / (3 - sin(phi));
    d->tip = d->cohesion > 0 ? d->cohesion / tan(phi) : 0;
    return true;
}

static void constants(const void *parameters, int dim, material_constants *out) {
    const drucker_prager *d = parameters;
    double x = 2 * d->tip / d->base.bulk; /* J_t^2 - 1 */
    elastic_begin(&d->base, MATERIAL_DRUCKER_PRAGER, sqrt(1 + x), out);
    out->drucker_prager = (drucker_prager_constants){
        .elastic = elastic_constants_of(&d->base),
        .slope = (real)(d->slope * d->base.bulk / d->base.shear),
        .tip = (real)(d->tip / d->base.bulk),
        .tip_strain = (real)expm1(log1p(x) / dim),
        .correct = d->volume_correction,
    };
}

static double yield(const void *parameters, int dim, const strain_state *state) {
    const drucker_prager *d = parameters;
    strain_split s = split_strain(dim, state->strain);
    double pressure = -d->base.bulk / 2 * s.x;
    return (d->base.shear * s.size - d->slope * (pressure + d->tip)) / d->base.bulk;
}

static void project(const void *parameters, int dim, strain_state *state) {
    const drucker_prager *d = parameters;
    double *B = state->strain, x_tip = 2 * d->tip / d->base.bulk;
    if (d->volume_correction) {
        double f = exp(2 * state->hardening / dim);
        for (int c = 0; c < 6; c++)
            if (has_component(dim, c)) B[c] = f * B[c] + (c <= ZZ ? f - 1 : 0);
        state->hardening = 0;
    }
    strain_split s = split_strain(dim, B);
    double limit = d->slope * (d->tip - d->base.bulk / 2 * s.x) / d->base.shear;
    if (s.x > x_tip) {
        rebuild_strain(dim, &s, x_tip, 0, B);
        if (d->volume_correction) state->hardening = fmin(LOOSEST, (log1p(s.x) - log1p(x_tip)) / 2);
    } else if (s.size > limit)
        rebuild_strain(dim, &s, s.x, limit / s.size, B);
}

const material_model material_drucker_prager = {
    .type = {.name = "sand",
             .table = FIELD_TABLE("sand", "Sand: Drucker-Prager plasticity.", drucker_prager_fields,
                                  drucker_prager),
             .prepare = prepare,
             .density_offset = offsetof(drucker_prager, base.density)},
    .fields = PARTICLE_BIT(strain) | PARTICLE_BIT(hardening),
    .constants = constants,
    .wave_speed = neo_hookean_wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = neo_hookean_evaluate,
    .project = project,
    .yield = yield,
};
