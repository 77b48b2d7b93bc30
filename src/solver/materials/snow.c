/*
 * Snow (Stomakhin et al. 2013): fixed corotated, with the elastic principal stretches kept within
 * 1 - critical_compression and 1 + critical_stretch, and the moduli times exp(hardening (1 - J_P)).
 * J_P, the volume ratio of the plastic part, takes what is cut off: J_P <- J_P J_trial / J. The
 * particle's `hardening` holds J_P - 1.
 */
#include "solver/materials/fixed_corotated.h"

typedef struct snow {
    elastic base;
    double critical_compression, critical_stretch, hardening;
} snow;

static const field snow_fields[] = {
    ELASTIC_FIELDS("never"),
    NUMBER_FIELD(snow, critical_compression, "", 2.5e-2, 1e-6, 0.9,
                 "Compression of an axis at which it yields."),
    NUMBER_FIELD(snow, critical_stretch, "", 7.5e-3, 1e-6, 10,
                 "Stretch of an axis at which it yields."),
    NUMBER_FIELD(snow, hardening, "", 10, 0, 50,
                 "How strongly it hardens when packed and softens when spread."),
};

static void constants(const void *parameters, int dim, material_constants *out) {
    const snow *s = parameters;
    (void)dim;
    elastic_begin(&s->base, MATERIAL_SNOW, NEVER_APART, out);
    out->snow = (snow_constants){
        .elastic = elastic_constants_of(&s->base),
        .compression = (real)s->critical_compression,
        .stretch = (real)s->critical_stretch,
        .hardening = (real)s->hardening,
    };
}

static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    return corotated_wave_speed(parameters, dim, range);
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    const snow *s = parameters;
    corotated_evaluate(&s->base, dim, exp(-s->hardening * state->hardening), state, stress, energy,
                       J);
}

/* How far the stretches are outside their limits. */
static double yield(const void *parameters, int dim, const strain_state *state) {
    const snow *s = parameters;
    principal_stretches p = stretches_of(dim, state->strain);
    double worst = -1;
    for (int a = 0; a < dim; a++)
        worst = fmax(worst, fmax(p.w[a] - s->critical_stretch, -s->critical_compression - p.w[a]));
    return worst;
}

static void project(const void *parameters, int dim, strain_state *state) {
    const snow *s = parameters;
    principal_stretches p = stretches_of(dim, state->strain);
    double beta[3], ratio = 1; /* J_trial / J */
    for (int a = 0; a < dim; a++) {
        double w = fmin(fmax(p.w[a], -s->critical_compression), s->critical_stretch);
        ratio *= (1 + p.w[a]) / (1 + w);
        beta[a] = w * (2 + w);
    }
    tensor_of(dim, p.Q, beta, state->strain);
    state->hardening = (1 + state->hardening) * ratio - 1;
}

const material_model material_snow = {
    .type = {.name = "snow",
             .matter = MATTER_SOLID,
             .table = FIELD_TABLE("snow", "Snow: packs and breaks up (Stomakhin et al. 2013).",
                                  snow_fields, snow),
             .prepare = elastic_prepare,
             .density_offset = offsetof(snow, base.density),
             .look = LOOK_GRAINS,
             .finish = FINISH_MATT,
             .color = 0xe9eef3,
             .flows = true},
    .fields = PARTICLE_BIT(strain) | PARTICLE_BIT(hardening),
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = evaluate,
    .project = project,
    .yield = yield,
};
