/*
 * Clay: non-associated Cam-clay (NACC, Wolper et al. 2019) on Simo's neo-Hookean form. With
 * s = mu dev(bbar), q = sqrt((6 - d) / 2) |s| and Kirchhoff pressure P = -(kappa / 2)(J^2 - 1):
 *
 *   y = q^2 (1 + 2 chi) + M^2 (P + chi P0)(P - P0) <= 0
 *   P0 = kappa (1e-5 + sinh(xi max(-alpha_h, 0)))
 *   M = 6 sin(phi) / (3 - sin(phi)) in 3D, 2 sin(phi) in 2D
 *
 * an ellipse from -chi P0 to P0. Beyond either tip: s = 0 and the tip's pressure. Between them and
 * y > 0: s is scaled back to the ellipse and J kept. Hardening: alpha_h += ln(J_trial / J_x) with
 * J_x that of the tip, or of the point where the segment from the ellipse's centre to the trial
 * point meets it. `hardening` holds what alpha_h has changed by. The return uses P0 as it was
 * before.
 */
#include "solver/materials/neo_hookean.h"

typedef struct nacc {
    elastic base;
    double friction_angle, chi, xi, alpha_h;
    double slope; /* derived: M */
} nacc;

static const field nacc_fields[] = {
    ELASTIC_FIELDS("J at the tip in tension, which follows the hardening"),
    NUMBER_FIELD(nacc, friction_angle, "", 45, 0.01, 90, "Angle of internal friction, degrees."),
    NUMBER_FIELD(nacc, chi, "", 1, 0, 1000,
                 "Cohesion: how much tension it holds, over how much pressure before it yields."),
    NUMBER_FIELD(nacc, xi, "", 1, 0, 1000, "How strongly it hardens."),
    NUMBER_FIELD(
        nacc, alpha_h, "", -0.1, -NACC_LARGEST, 0,
        "Hardening at the start; the pressure at which it yields is kappa (1e-5 + sinh(-xi "
        "alpha_h))."),
};

static bool prepare(void *parameters, int dim, field_report *report) {
    nacc *n = parameters;
    if (!elastic_prepare(&n->base, dim, report)) return false;
    double phi = n->friction_angle * acos(-1) / 180;
    n->slope = dim == 2 ? 2 * sin(phi) : 6 * sin(phi) / (3 - sin(phi));
    return true;
}

/* P0 / kappa */
static double yield_pressure(const nacc *n, double hardening) {
    double z = n->xi * fmax(-(n->alpha_h + hardening), 0);
    return NACC_LEAST + sinh(fmin(z, NACC_LARGEST));
}

static void constants(const void *parameters, int dim, material_constants *out) {
    const nacc *n = parameters;
    elastic_begin(&n->base, MATERIAL_NACC, sqrt(1 + 2 * n->chi * yield_pressure(n, 0)), out);
    out->nacc = (nacc_constants){
        .elastic = elastic_constants_of(&n->base),
        .chi = (real)n->chi,
        .xi = (real)n->xi,
        .alpha_h = (real)n->alpha_h,
        .slope = (real)n->slope,
        .size = (real)(sqrt((6 - dim) / 2.0) * n->base.shear / n->base.bulk),
        .own_critical = isnan(n->base.critical_J),
    };
}

/* Pressures are over kappa from here on. */
static double deviator_size(const nacc *n, int dim, const strain_split *s) {
    return sqrt((6 - dim) / 2.0) * n->base.shear / n->base.bulk * s->size;
}

static double yield(const void *parameters, int dim, const strain_state *state) {
    const nacc *n = parameters;
    strain_split s = split_strain(dim, state->strain);
    double q = deviator_size(n, dim, &s), P = -s.x / 2, P0 = yield_pressure(n, state->hardening);
    return q * q * (1 + 2 * n->chi) + n->slope * n->slope * (P + n->chi * P0) * (P - P0);
}

static void project(const void *parameters, int dim, strain_state *state) {
    const nacc *n = parameters;
    strain_split s = split_strain(dim, state->strain);
    double P = -s.x / 2, P0 = yield_pressure(n, state->hardening), least = -n->chi * P0, met;
    if (P > P0 || P < least) {
        met = P > P0 ? P0 : least;
        rebuild_strain(dim, &s, -2 * met, 0, state->strain);
    } else {
        double q = deviator_size(n, dim, &s), scale = 1 + 2 * n->chi;
        double room = n->slope * n->slope * (P - least) * (P0 - P);
        if (q * q * scale <= room) return;
        double centre = (P0 + least) / 2, half = (P0 - least) / 2;
        met = centre +
              (P - centre) * n->slope * half / hypot(q * sqrt(scale), n->slope * (P - centre));
        rebuild_strain(dim, &s, s.x, sqrt(room / scale) / q, state->strain);
    }
    state->hardening += (log1p(s.x) - log(fmax(1 - 2 * met, NACC_FLATTEST))) / 2;
}

const material_model material_nacc = {
    .type = {.name = "clay",
             .matter = MATTER_SOLID,
             .table = FIELD_TABLE("clay", "Clay: non-associated Cam-clay plasticity (NACC).",
                                  nacc_fields, nacc),
             .prepare = prepare,
             .density_offset = offsetof(nacc, base.density),
             .look = LOOK_SKIN,
             .finish = FINISH_MATT,
             .color = 0xb8694a,
             .flows = true},
    .fields = PARTICLE_BIT(strain) | PARTICLE_BIT(hardening) | PARTICLE_BIT(flow),
    .constants = constants,
    .wave_speed = neo_hookean_wave_speed,
    .viscous_step = elastic_viscous_step,
    .evaluate = neo_hookean_evaluate,
    .project = project,
    .yield = yield,
};
