/*
 * Strains that carry the load of bodies at rest (solver/rest.h), by the materials' own reference: the
 * Kirchhoff stress along gravity is that load.
 *
 *   liquids   J with -tau(J) = load
 *   solids    compressed along gravity. Across it a body that lies between walls, colliders or periodic
 *             sides keeps its width (uniaxial strain, K0), and one that is free has no stress (uniaxial
 *             stress), for each axis by itself. Where gravity is along no axis, all keep their width, and
 *             so do materials that flow (those with a yield function), which cannot stand free
 *   yield     where that state yields, the body is also compressed across until it does not: sand with a
 *             low poisson is at the cone
 */
#include "solver/rest.h"
#include "core/vec.h"
#include "solver/materials/material.h"
#include "solver/mpm/mpm.h"

typedef struct standing {
    const material_model *model;
    const void *parameters;
    int dim, axis;
    const double *up;
    bool free[3];
    double load;
    double share; /* of the strain along gravity that there is across it, where nothing is free */
} standing;

/* The strain with these logarithmic stretches: along gravity, and along axes across it. */
static strain_state strain_of(const standing *s, double along, const double across[3]) {
    strain_state state = {.dilation = expm1(s->dim * along)};
    if (s->model->fields & PARTICLE_BIT(dilation)) return state;
    for (int r = 0; r < s->dim; r++)
        for (int c = r; c < s->dim; c++) {
            const double side = expm1(2 * across[r]);
            state.strain[symmetric_place[r][c]] =
                (r == c ? side : 0) + (expm1(2 * along) - side) * s->up[r] * s->up[c];
        }
    return state;
}

static void stress_of(const standing *s, double along, const double across[3], double stress[6]) {
    const strain_state state = strain_of(s, along, across);
    s->model->evaluate(s->parameters, s->dim, &state, stress, NULL, NULL);
}

/* The root of a rising function that is not above 0 at `low`: false position (Illinois). */
static double rising_root(double (*f)(const standing *s, double x, double *across),
                          const standing *s, double low, double high, double *across) {
    double f_low = f(s, low, across), f_high = f(s, high, across), x = high;
    for (int n = 0, side = 0; n < 100 && f_high > 0 && f_low < 0; n++) {
        x = (low * f_high - high * f_low) / (f_high - f_low);
        const double value = f(s, x, across);
        if (fabs(value) <= 1e-12 * s->load || fabs(high - low) <= 1e-15) break;
        if (value > 0) {
            high = x, f_high = value;
            if (side == 1) f_low *= 0.5;
            side = 1;
        } else {
            low = x, f_low = value;
            if (side == -1) f_high *= 0.5;
            side = -1;
        }
    }
    return x;
}

/* ---- Across gravity -------------------------------------------------------------------------- */

/* Widths along free axes such that they have no stress; they are all the same. */
static double stress_across(const standing *s, double width, double *across) {
    double stress[6];
    int any = 0;
    for (int a = 0; a < s->dim; a++)
        if (s->free[a]) across[1 + a] = width, any = a;
    stress_of(s, across[0], across + 1, stress);
    return stress[symmetric_place[any][any]];
}

/* What is missing of the load when the logarithmic stretch along gravity is `along`, which is left in
 * across[0], with what follows across it behind. */
static double missing_load(const standing *s, double along, double *across) {
    bool any = false;
    across[0] = along;
    for (int a = 0; a < s->dim; a++) {
        across[1 + a] = s->share * along;
        any |= s->free[a];
    }
    if (any) rising_root(stress_across, s, 0, -2 * along + 1e-12, across);
    double stress[6], sum = 0;
    stress_of(s, along, across + 1, stress);
    for (int r = 0; r < s->dim; r++)
        for (int c = 0; c < s->dim; c++) sum += s->up[r] * s->up[c] * stress[symmetric_place[r][c]];
    return sum + s->load;
}

/* The stretch that carries the load: a bracket is looked for from none to e^-3. */
static void carry(const standing *s, double across[4]) {
    double low = -1e-7;
    while (low > -3 && missing_load(s, low, across) > 0) low *= 4;
    rising_root(missing_load, s, low, 0, across);
}

/* The state of a particle, within its yield surface where there is such a one. */
static strain_state stand(standing *s, double across[4]) {
    carry(s, across);
    strain_state state = strain_of(s, across[0], across + 1);
    if (!s->model->yield || s->model->yield(s->parameters, s->dim, &state) <= 0) return state;
    double low = 0, high = 1;
    for (int n = 0; n < 30; n++) {
        s->share = n ? 0.5 * (low + high) : 1;
        carry(s, across);
        state = strain_of(s, across[0], across + 1);
        const bool holds = s->model->yield(s->parameters, s->dim, &state) <= 0;
        if (n == 0 && !holds) return state; /* nothing does */
        if (n) *(holds ? &high : &low) = s->share;
    }
    s->share = high;
    carry(s, across);
    return strain_of(s, across[0], across + 1);
}

/* ---- Particles ------------------------------------------------------------------------------- */

static void write_state(const mpm *m, int64_t i, const strain_state *state) {
    const particles *p = &m->sim->particles;
    const material_model *model =
        material_models[m->view.materials[m->view.group_material[p->group[i]]].kind];
    if (model->fields & PARTICLE_BIT(dilation)) p->dilation[i] = (real)state->dilation;
    for (int c = 0; c < 6 && model->fields & PARTICLE_BIT(strain); c++)
        PLANE(p, strain, c)[i] = (real)state->strain[c];
}

/* The deformation gradient that output may follow: it stretches along gravity and the axes. */
static void write_gradient(const standing *s, particles *p, int64_t i, const double across[4]) {
    const bool liquid = s->model->fields & PARTICLE_BIT(dilation);
    for (int r = 0; r < s->dim && p->gradient; r++)
        for (int c = 0; c < s->dim; c++) {
            const double side = expm1(liquid ? across[0] : across[1 + r]);
            PLANE(p, gradient, 3 * r + c)
            [i] = (real)((r == c ? side : 0) + (expm1(across[0]) - side) * s->up[r] * s->up[c]);
        }
}

/* How far from rest a material is, for the first step's wave speed. */
static void note_range(strain_range *range, const standing *s, const strain_state *state) {
    double J, trace = s->dim;
    s->model->evaluate(s->parameters, s->dim, state, NULL, NULL, &J);
    for (int a = 0; a < s->dim; a++) trace += state->strain[a];
    range->J_min = fmin(range->J_min, J);
    range->J_max = fmax(range->J_max, J);
    range->stretch = fmax(range->stretch, trace / s->dim);
}

static void stand_particle(mpm *m, const rest_state *r, int32_t block, int64_t i) {
    spate_simulation *sim = m->sim;
    const int b = sim->particles.group[i], kind = m->view.group_material[b];
    double x[3], across[4] = {0};
    simulation_position(sim, block, i, x);
    standing s = {.model = material_models[m->view.materials[kind].kind],
                  .parameters = sim->scene->materials[kind].parameters,
                  .dim = sim->scene->dim,
                  .axis = r->axis,
                  .up = r->up,
                  .load = rest_load(r, b, x)};
    for (int a = 0; a < s.dim; a++)
        s.free[a] = r->axis >= 0 && a != r->axis && !r->bodies[b].confined[a] && !s.model->yield &&
                    !(s.model->fields & PARTICLE_BIT(dilation));
    if (!(s.load > 0)) return;
    const strain_state state = stand(&s, across);
    write_state(m, i, &state);
    write_gradient(&s, &sim->particles, i, across);
    note_range(&m->ranges[kind], &s, &state);
}

spate_status mpm_equilibrate(mpm *m) {
    spate_simulation *sim = m->sim;
    rest_state r;
    TRY(rest_create(sim, &r));
    for (int32_t block = 0; block < sim->blocks.count && r.bodies; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++)
            if (rest_holds(&r, sim->particles.group[i])) stand_particle(m, &r, block, i);
    rest_free(&r);
    return SPATE_OK;
}
