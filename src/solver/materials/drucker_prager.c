/*
 * Sand: a frictional cone on Simo's neo-Hookean form (as in Fei et al. 2021; Klar et al. 2016 on
 * Hencky strains). With s = mu dev(bbar) and Kirchhoff pressure P = -(kappa / 2)(J^2 - 1):
 *
 *   |s| <= c_F (P + P_t),   P_t = cohesion / tan(phi)
 *
 * In 2D c_F = sqrt(2) sin(phi) is Mohr and Coulomb's law. In 3D that law, (s1 - s3) / 2 <= sin(phi)
 * (P + P_t - (s1 + s3) / 2) for principal stresses s1 >= s2 >= s3, is a pyramid of six sides, whose
 * c_F depends on the Lode angle theta, from -30 degrees (triaxial extension) over 0 (plane strain,
 * once it flows) to 30 (triaxial compression):
 *
 *   c_F = sqrt(2) sin(phi) / (cos(theta) - sin(theta) sin(phi) / sqrt(3)),
 *   sin(3 theta) = -3 sqrt(6) det(s) / |s|^3
 *
 * `cone` takes that, or a round cone (Drucker and Prager 1952) through the pyramid's edges of
 * compression, sqrt(2/3) 6 sin(phi) / (3 - sin(phi)), or through its sides at theta = 0.
 *
 * Beyond the cone's tip, J > J_t = sqrt(1 + 2 P_t / kappa), there is no stress but P_t:
 * b <- J_t^(2/d) I. Otherwise s is scaled back to the cone and J kept; theta stays as it is.
 *
 * volume_correction (Tampubolon et al. 2017, there as a logarithm): what is taken away at the tip,
 * J_c - 1 for J_c = J / J_t, is kept in `hardening`, and is given back to the trial strain of the
 * next step, b <- J_c^(2/d) b: sand that was spread out must be pushed together again before it
 * holds pressure.
 */
#include "solver/materials/neo_hookean.h"

#include <stdio.h>

enum { CONE_COMPRESSION, CONE_PLANE_STRAIN, CONE_MOHR_COULOMB };

typedef struct drucker_prager {
    elastic base;
    double friction_angle, cohesion;
    int cone;
    bool volume_correction;
    double slope, tip; /* derived: c_F, at theta = 0 where it depends on it, and P_t */
    double lode;       /* derived: sin(phi) / sqrt(3), 0 where c_F does not depend on theta */
} drucker_prager;

static const char *const cone_words[] = {"compression", "plane_strain", "mohr_coulomb", NULL};

static const field drucker_prager_fields[] = {
    ELASTIC_FIELDS("1, with cohesion J at the cone's tip"),
    NUMBER_FIELD(drucker_prager, friction_angle, "", 30, 0, 90,
                 "Angle of internal friction, degrees."),
    NUMBER_FIELD(drucker_prager, cohesion, "Pa", 0, 0, 1e15,
                 "Shear strength without pressure; shifts the cone's tip to tension."),
    CHOICE_FIELD(
        drucker_prager, cone, CONE_MOHR_COULOMB, cone_words,
        "In 3D: strong as Mohr and Coulomb's law with the friction angle has it, or a round "
        "cone of their strength in triaxial compression (too strong for the rest) or in plane "
        "strain. In 2D all are the same."),
    FLAG_FIELD(drucker_prager, volume_correction, 1,
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
    d->slope = dim == 3 && d->cone == CONE_COMPRESSION
                   ? sqrt(2.0 / 3) * 6 * sin(phi) / (3 - sin(phi))
                   : sqrt(2) * sin(phi);
    d->lode = dim == 3 && d->cone == CONE_MOHR_COULOMB ? sin(phi) / sqrt(3) : 0;
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
        .lode = (real)d->lode,
        .weakest = (real)sqrt(1 + d->lode * d->lode),
        .tip = (real)(d->tip / d->base.bulk),
        .tip_strain = (real)expm1(log1p(x) / dim),
        .correct = d->volume_correction,
    };
}

/* c_F for the direction of a deviator. */
static double slope_along(const drucker_prager *d, const strain_split *s) {
    if (!(d->lode > 0) || !(s->size > 0)) return d->slope;
    double D[6];
    for (int c = 0; c < 6; c++) D[c] = s->D[c] / s->size;
    double det = D[XX] * (D[YY] * D[ZZ] - D[YZ] * D[YZ]) - D[XY] * (D[XY] * D[ZZ] - D[YZ] * D[XZ]) +
                 D[XZ] * (D[XY] * D[YZ] - D[YY] * D[XZ]);
    double theta = asin(fmax(-1, fmin(1, -3 * sqrt(6) * det))) / 3;
    return d->slope / (cos(theta) - d->lode * sin(theta));
}

static double yield(const void *parameters, int dim, const strain_state *state) {
    const drucker_prager *d = parameters;
    strain_split s = split_strain(dim, state->strain);
    double pressure = -d->base.bulk / 2 * s.x;
    return (d->base.shear * s.size - slope_along(d, &s) * (pressure + d->tip)) / d->base.bulk;
}

static void project(const void *parameters, int dim, strain_state *state) {
    const drucker_prager *d = parameters;
    double *B = state->strain, x_tip = 2 * d->tip / d->base.bulk;
    if (d->volume_correction) {
        double f = pow(1 + state->hardening, 2.0 / dim);
        for (int c = 0; c < 6; c++)
            if (has_component(dim, c)) B[c] = f * B[c] + (c <= ZZ ? f - 1 : 0);
        state->hardening = 0;
    }
    strain_split s = split_strain(dim, B);
    double limit = slope_along(d, &s) * (d->tip - d->base.bulk / 2 * s.x) / d->base.shear;
    if (s.x > x_tip) {
        rebuild_strain(dim, &s, x_tip, 0, B);
        if (d->volume_correction)
            state->hardening = fmin(LOOSEST, sqrt((1 + s.x) / (1 + x_tip)) - 1);
    } else if (s.size > limit)
        rebuild_strain(dim, &s, s.x, limit / s.size, B);
}

const material_model material_drucker_prager = {
    .type = {.name = "sand",
             .matter = MATTER_SOLID,
             .table = FIELD_TABLE(
                 "sand",
                 "Sand: Drucker-Prager plasticity. It heaps up where the ground has "
                 "friction, which is 0 by default: domain.wall_friction, friction of a collider.",
                 drucker_prager_fields, drucker_prager),
             .prepare = prepare,
             .density_offset = offsetof(drucker_prager, base.density),
             .look = LOOK_GRAINS,
             .finish = FINISH_MATT,
             .color = 0xcfae7c,
             .flows = true},
    .fields = PARTICLE_BIT(strain) | PARTICLE_BIT(hardening),
    .constants = constants,
    .wave_speed = neo_hookean_wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = neo_hookean_evaluate,
    .project = project,
    .yield = yield,
};
