/*
 * Strains that carry the load of bodies at rest (solver/rest.h), by the materials' own reference:
 * the Kirchhoff stress along gravity is that load.
 *
 *   liquids   J with -tau(J) = load
 *   solids    compressed along gravity. Across it a body that lies between walls, colliders or periodic
 *             sides keeps its width (uniaxial strain, K0), and one that is free has no stress (uniaxial
 *             stress), for each axis by itself. Where gravity is along no axis, all keep their width, and
 *             so do materials that flow (those with a yield function), which cannot stand free
 *             In a liquid at rest they are compressed alike along and across
 *   yield     where that state yields, the body is also compressed across until it does not: sand with a
 *             low poisson is at the cone
 */
#include "solver/rest.h"
#include "core/vec.h"
#include "solver/materials/material.h"
#include "solver/mpm/mpm.h"

/* A particle in equilibrium under its load. */
typedef struct equilibrium {
    const material_model *model;
    const void *parameters;
    int dim, axis;
    const double *up;
    bool free[3];
    double load;
    double share; /* of the strain along gravity that there is across it, where nothing is free */
} equilibrium;

/* Logarithmic stretches along gravity, and along the axes across it. */
typedef struct stretches {
    double along, across[3];
} stretches;

static strain_state strain_of(const equilibrium *s, const stretches *e) {
    strain_state state = {.dilation = expm1(s->dim * e->along)};
    if (s->model->fields & PARTICLE_BIT(dilation)) return state;
    for (int r = 0; r < s->dim; r++)
        for (int c = r; c < s->dim; c++) {
            const double side = expm1(2 * e->across[r]);
            state.strain[symmetric_place[r][c]] =
                (r == c ? side : 0) + (expm1(2 * e->along) - side) * s->up[r] * s->up[c];
        }
    return state;
}

static void stress_of(const equilibrium *s, const stretches *e, double stress[6]) {
    const strain_state state = strain_of(s, e);
    s->model->evaluate(s->parameters, s->dim, &state, stress, NULL, NULL);
}

#define LOAD_TOLERANCE 1e-12
#define ROOT_WIDTH     1e-15
enum { ROOT_STEPS = 100 };

/* The root of a rising function that is not above 0 at `low`: false position (Illinois). */
static double rising_root(double (*f)(const equilibrium *s, double x, stretches *e),
                          const equilibrium *s, double low, double high, stretches *e) {
    double f_low = f(s, low, e), f_high = f(s, high, e), x = high;
    for (int n = 0, side = 0; n < ROOT_STEPS && f_high > 0 && f_low < 0; n++) {
        x = (low * f_high - high * f_low) / (f_high - f_low);
        const double value = f(s, x, e);
        if (fabs(value) <= LOAD_TOLERANCE * s->load || fabs(high - low) <= ROOT_WIDTH) break;
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
static double stress_across(const equilibrium *s, double width, stretches *e) {
    double stress[6];
    int any = 0;
    for (int a = 0; a < s->dim; a++)
        if (s->free[a]) e->across[a] = width, any = a;
    stress_of(s, e, stress);
    return stress[symmetric_place[any][any]];
}

/* What is missing of the load when the stretch along gravity is `along`; what follows across it
 * too. */
static double load_residual(const equilibrium *s, double along, stretches *e) {
    bool any = false;
    e->along = along;
    for (int a = 0; a < s->dim; a++) {
        e->across[a] = s->share * along;
        any |= s->free[a];
    }
    if (any) rising_root(stress_across, s, 0, -2 * along + LOAD_TOLERANCE, e);
    double stress[6], sum = 0;
    stress_of(s, e, stress);
    for (int r = 0; r < s->dim; r++)
        for (int c = 0; c < s->dim; c++) sum += s->up[r] * s->up[c] * stress[symmetric_place[r][c]];
    return sum + s->load;
}

/* The stretches that carry the load: a bracket is looked for from none to e^-3. */
static void solve_stretches(const equilibrium *s, stretches *e) {
    const double smallest = 1e-7, largest = 3;
    double low = -smallest;
    while (low > -largest && load_residual(s, low, e) > 0) low *= 4;
    rising_root(load_residual, s, low, 0, e);
}

/* The strain of a particle, within its yield surface where there is such a one. */
static strain_state equilibrium_strain(equilibrium *s, stretches *e) {
    enum { BISECTIONS = 30 };
    solve_stretches(s, e);
    strain_state state = strain_of(s, e);
    if (!s->model->yield || s->model->yield(s->parameters, s->dim, &state) <= 0) return state;
    double low = 0, high = 1;
    for (int n = 0; n < BISECTIONS; n++) {
        s->share = n ? 0.5 * (low + high) : 1;
        solve_stretches(s, e);
        state = strain_of(s, e);
        const bool holds = s->model->yield(s->parameters, s->dim, &state) <= 0;
        if (n == 0 && !holds) return state; /* nothing does */
        if (n) *(holds ? &high : &low) = s->share;
    }
    s->share = high;
    solve_stretches(s, e);
    return strain_of(s, e);
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
static void write_gradient(const equilibrium *s, particles *p, int64_t i, const stretches *e) {
    const bool liquid = s->model->fields & PARTICLE_BIT(dilation);
    for (int r = 0; r < s->dim && p->gradient; r++)
        for (int c = 0; c < s->dim; c++) {
            const double side = expm1(liquid ? e->along : e->across[r]);
            PLANE(p, gradient, 3 * r + c)
            [i] = (real)((r == c ? side : 0) + (expm1(e->along) - side) * s->up[r] * s->up[c]);
        }
}

/* How far from rest a material is, for the first step's wave speed. */
static void note_range(strain_range *range, const equilibrium *s, const strain_state *state) {
    double J, trace = s->dim;
    s->model->evaluate(s->parameters, s->dim, state, NULL, NULL, &J);
    for (int a = 0; a < s->dim; a++) trace += state->strain[a];
    range->J_min = fmin(range->J_min, J);
    range->J_max = fmax(range->J_max, J);
    range->stretch = fmax(range->stretch, trace / s->dim);
}

static void equilibrate_particle(mpm *m, const rest_state *r, int32_t block, int64_t i) {
    spate_simulation *sim = m->sim;
    const int b = sim->particles.group[i], kind = m->view.group_material[b];
    double x[3];
    stretches e = {0};
    simulation_position(sim, block, i, x);
    equilibrium s = {.model = material_models[m->view.materials[kind].kind],
                     .parameters = sim->scene->materials[kind].parameters,
                     .dim = sim->scene->dim,
                     .axis = r->axis,
                     .up = r->up,
                     .load = rest_load(r, b, x)};
    for (int a = 0; a < s.dim; a++)
        s.free[a] = r->axis >= 0 && a != r->axis && !r->bodies[b].confined[a] && !s.model->yield &&
                    !(s.model->fields & PARTICLE_BIT(dilation));
    /* A body in a liquid is pressed from all sides. */
    if (r->bodies[b].around >= 0) {
        s.share = 1;
        for (int a = 0; a < s.dim; a++) s.free[a] = false;
    }
    if (!(s.load > 0)) return;
    const strain_state state = equilibrium_strain(&s, &e);
    write_state(m, i, &state);
    write_gradient(&s, &sim->particles, i, &e);
    note_range(&m->ranges[kind], &s, &state);
}

spate_status mpm_equilibrate(mpm *m) {
    spate_simulation *sim = m->sim;
    rest_state r;
    TRY(rest_create(sim, &r));
    for (int32_t block = 0; block < sim->blocks.count && r.bodies; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++)
            if (rest_holds(&r, sim->particles.group[i])) equilibrate_particle(m, &r, block, i);
    rest_free(&r);
    return SPATE_OK;
}
