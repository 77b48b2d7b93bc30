/*
 * Linear elastic solid (Hooke's law), as textbooks begin with: sigma = lambda tr(e) I + 2 mu e,
 * energy sigma : e / 2, with the linear strain e. It adds up with the velocity gradient,
 *
 *    e <- e + dt (C + C^T) / 2
 *
 * which is (F + F^T) / 2 - I as long as displacements change little over their own length; in the
 * place of b - I the particle field `strain` holds e. sigma stands for tau as well, so the stress
 * does just the work that the energy takes up, and waves have one speed at any strain.
 *
 * It does not turn with the body: a strained piece that rotates keeps its stress where it was in
 * space. J is 1 + tr e.
 */
#include "solver/materials/elastic.h"

static const field linear_fields[] = {ELASTIC_FIELDS("never")};

static void constants(const void *parameters, int dim, material_constants *out) {
    (void)dim;
    elastic_begin(parameters, MATERIAL_LINEAR, NEVER_APART, out);
    out->linear = elastic_constants_of(parameters);
}

static double wave_speed(const void *parameters, int dim, const strain_range *range) {
    const elastic *e = parameters;
    (void)dim, (void)range;
    return sqrt((e->lambda + 2 * e->shear) / e->density);
}

static void evaluate(const void *parameters, int dim, const strain_state *state, double stress[6],
                     double *energy, double *J) {
    const elastic *m = parameters;
    const double *e = state->strain;
    double trace = e[XX] + e[YY] + (dim == 3 ? e[ZZ] : 0), square = 0;
    if (J) *J = 1 + trace;
    for (int c = 0; c < 6; c++) {
        bool has = has_component(dim, c);
        if (has) square += e[c] * e[c] * (c <= ZZ ? 1 : 2);
        if (stress) stress[c] = has ? 2 * m->shear * e[c] + (c <= ZZ ? m->lambda * trace : 0) : 0;
    }
    if (energy) *energy = m->lambda / 2 * trace * trace + m->shear * square;
}

const material_model material_linear = {
    .type = {.name = "linear",
             .matter = MATTER_SOLID,
             .table =
                 FIELD_TABLE("linear",
                             "Linear elastic solid (Hooke's law of small strains): for teaching "
                             "and comparison, since its stress does not turn with the body; "
                             "where pieces rotate or strains pass some percent use neo_hookean.",
                             linear_fields, elastic),
             .prepare = elastic_prepare,
             .density_offset = offsetof(elastic, density),
             .look = LOOK_SKIN,
             .finish = FINISH_GLOSS,
             .color = 0x8d6bb5},
    .fields = PARTICLE_BIT(strain),
    .constants = constants,
    .wave_speed = wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = evaluate,
};
