/*
 * Metal: von Mises plasticity with linear isotropic hardening on Simo's neo-Hookean form, with the
 * radial return of Simo and Hughes 1998, box 9.1. With s = mu dev(bbar) and the plastic strain ep
 * that `hardening` adds up:
 *
 *   |s| <= sqrt(2/3) (yield_stress + H ep)
 *   g = (|s| - sqrt(2/3) (yield_stress + H ep)) / (2 mu tr(bbar) / d + 2 H / 3) > 0:
 *   |s| <- |s| - 2 mu tr(bbar) / d g,   ep <- ep + sqrt(2/3) g,   J kept
 *
 * In simple shear it yields at yield_stress / sqrt(3), in 2D as in 3D.
 */
#include "solver/materials/neo_hookean.h"

typedef struct von_mises {
    elastic base;
    double yield_stress, hardening;
} von_mises;

static const field von_mises_fields[] = {
    ELASTIC_FIELDS("never"),
    REQUIRED_NUMBER(von_mises, yield_stress, "Pa", SMALLEST, 1e15,
                    "Stress at which a bar begins to flow."),
    NUMBER_FIELD(von_mises, hardening, "Pa", 0, 0, 1e15,
                 "How much the yield stress rises for a plastic strain of 1."),
};

static void constants(const void *parameters, int dim, material_constants *out) {
    const von_mises *v = parameters;
    (void)dim;
    elastic_begin(&v->base, MATERIAL_VON_MISES, NEVER_APART, out);
    out->von_mises = (von_mises_constants){
        .elastic = elastic_constants_of(&v->base),
        .yield = (real)(sqrt(2.0 / 3) * v->yield_stress / v->base.shear),
        .hardening = (real)(v->hardening / v->base.shear),
    };
}

/* |s| at yield */
static double limit_of(const von_mises *v, double hardening) {
    return sqrt(2.0 / 3) * (v->yield_stress + v->hardening * hardening);
}

static double yield(const void *parameters, int dim, const strain_state *state) {
    const von_mises *v = parameters;
    strain_split s = split_strain(dim, state->strain);
    return (v->base.shear * s.size - limit_of(v, state->hardening)) / v->base.bulk;
}

static void project(const void *parameters, int dim, strain_state *state) {
    const von_mises *v = parameters;
    strain_split s = split_strain(dim, state->strain);
    double size = v->base.shear * s.size, over = size - limit_of(v, state->hardening);
    if (over <= 0) return;
    double stiffness = 2 * v->base.shear * s.mean;
    double flow = over / (stiffness + 2 * v->hardening / 3);
    rebuild_strain(dim, &s, s.x, 1 - stiffness * flow / size, state->strain);
    state->hardening += sqrt(2.0 / 3) * flow;
}

const material_model material_von_mises = {
    .type = {.name = "metal",
             .matter = MATTER_SOLID,
             .table =
                 FIELD_TABLE("metal", "Metal: von Mises plasticity.", von_mises_fields, von_mises),
             .prepare = elastic_prepare,
             .density_offset = offsetof(von_mises, base.density),
             .look = LOOK_SKIN,
             .finish = FINISH_METAL,
             .color = 0xb4b9c0},
    .fields = PARTICLE_BIT(strain) | PARTICLE_BIT(hardening) | PARTICLE_BIT(flow),
    .constants = constants,
    .wave_speed = neo_hookean_wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = neo_hookean_evaluate,
    .project = project,
    .yield = yield,
};
