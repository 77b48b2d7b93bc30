/*
 * The solid in rate form: both forms of it, a stressed block that turns (acceptance 15), the slope
 * in uniaxial strain (16), its energy, its limit in simple shear, a vibrating bar (validation 7)
 * and the order of its period in dt (17).
 */
#include "physics.h"
#include "solver/materials/hypoelastic.h"
#include "strains.h"

#define YOUNG   1e5
#define POISSON 0.3

static const sample solid = {&material_hypoelastic,
                             {{"young_modulus", YOUNG}, {"poisson", POISSON}}};

static double shear_modulus(void) { return YOUNG / (2 * (1 + POISSON)); }
static double bulk_modulus(void) { return YOUNG / (3 * (1 - 2 * POISSON)); }

/* A step of lane 0 with the wide code. */
static void wide_step(bench *b, const material_constants *c, double G[3][3], int dim) {
    wide wide_G[9];
    strain_report report;
    splat_gradient(G, wide_G);
    wide_update(c, &b->p, 0, wide_G, 1, &report, dim);
}

/* ---- Both forms ------------------------------------------------------------------------------ */

static void wide_form_is_the_plain_one(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        bench b = bench_open();
        material_constants c = constants_of(&solid, dim);
        double e[6] = {0}, G[3][3];
        void *parameters = parameters_of(&solid, dim);
        for (uint64_t step = 0; step < 200; step++) {
            random_gradient(step, dim, 0.05, G);
            for (int k = 0; k < 9; k++) G[k / 3][k % 3] = (double)(real)G[k / 3][k % 3];
            hypoelastic_advance(dim, e, G);
            wide_step(&b, &c, G, dim);
        }
        const strain_state got = get_state(&b, 0);
        wide tau[6], unread[9] = {{0}};
        double expected[6], size = 0, J;
        wide_stress(&c, &b.p, 0, unread, tau, dim);
        stress_at(&solid, parameters, dim, e, expected);
        for (int k = 0; k < 6; k++) size = fmax(size, fabs(e[k]));
        CHECK_ABOVE(size, 0.05);
        for (int k = 0; k < 6; k++) {
            CHECK_BELOW(fabs(got.strain[k] - e[k]), size * (IN_DOUBLE ? 1e-13 : 2e-5));
            CHECK_BELOW(fabs((double)tau[k][0] - expected[k]), YOUNG * (IN_DOUBLE ? 1e-12 : 2e-5));
        }
        assert_true(get_state(&b, 1).strain[XX] == 0); /* lanes out of the mask */
        strain_state s = {0};
        memcpy(s.strain, e, sizeof e);
        material_hypoelastic.evaluate(parameters, dim, &s, NULL, NULL, &J);
        CHECK_BELOW(fabs(J - exp(e[XX] + e[YY] + e[ZZ])), 1e-12);
        free(parameters);
        bench_close(&b);
    }
}

/* ---- A stressed block turns (15) ------------------------------------------------------------- */

/* How a step turns the strain: as the material does, with explicit spin terms, or not at all. */
typedef enum spin { HUGHES_WINGET, EXPLICIT, NO_SPIN } spin;

static void turn(spin how, int dim, double e[6], double G[3][3]) {
    double sum[6] = {0};
    if (how == HUGHES_WINGET) hypoelastic_advance(dim, e, G);
    if (how != EXPLICIT) return;
    for (int r = 0; r < dim; r++)
        for (int c = r; c < dim; c++)
            for (int k = 0; k < dim; k++)
                sum[symmetric_place[r][c]] +=
                    G[r][k] * e[symmetric_place[k][c]] - e[symmetric_place[r][k]] * G[k][c];
    for (int c = 0; c < 6; c++) e[c] += sum[c];
}

/* The largest change of the strain by `angle` in 1000 steps about an axis, over its size; what a
 * turn by it should give is in `expected`. */
static double turn_error(spin how, int dim, double angle, const double expected[6]) {
    enum { STEPS = 1000 };
    const double start[6] = {0.01, -0.004, 0, 0, 0, 0.003}, w = angle / STEPS;
    double e[6], G[3][3] = {{0, -w, 0}, {w, 0, 0}, {0, 0, 0}}, worst = 0;
    memcpy(e, start, sizeof e);
    for (int step = 0; step < STEPS; step++) turn(how, dim, e, G);
    for (int c = 0; c < 6; c++) worst = fmax(worst, fabs(e[c] - expected[c]) / 0.01);
    return worst;
}

static void stress_turns_with_the_body(void **state) {
    (void)state;
    const double same[6] = {0.01, -0.004, 0, 0, 0, 0.003},
                 quarter[6] = {-0.004, 0.01, 0, 0, 0, -0.003};
    for (int dim = 2; dim <= 3; dim++) {
        const double error = turn_error(HUGHES_WINGET, dim, 2 * M_PI, same),
                     explicit_terms = turn_error(EXPLICIT, dim, 2 * M_PI, same);
        print_message("%dD: a turn: %.1g; with explicit spin terms %.2g\n", dim, error,
                      explicit_terms);
        CHECK_BELOW(error, 1e-3);
        CHECK_BELOW(turn_error(HUGHES_WINGET, dim, M_PI / 2, quarter), 1e-3);
        CHECK_ABOVE(explicit_terms, 0.03);
        CHECK_ABOVE(turn_error(NO_SPIN, dim, M_PI / 2, quarter), 1);
    }
}

/* Through the fast form, about an axis that is none of the grid's. */
static void a_turn_about_any_axis(void **state) {
    (void)state;
    enum { STEPS = 1000 };
    const double start[6] = {0.01, -0.004, 0.006, 0.002, -0.005, 0.003}, n[3] = {1, 2, -2};
    bench b = bench_open();
    material_constants c = constants_of(&solid, 3);
    double w = 2 * M_PI / STEPS / 3, worst = 0;
    double G[3][3] = {{0, -w * n[2], w * n[1]}, {w * n[2], 0, -w * n[0]}, {-w * n[1], w * n[0], 0}};
    strain_state s = {0};
    memcpy(s.strain, start, sizeof start);
    put_state(&b, 0, &s);
    for (int step = 0; step < STEPS; step++) wide_step(&b, &c, G, 3);
    s = get_state(&b, 0);
    for (int k = 0; k < 6; k++) worst = fmax(worst, fabs(s.strain[k] - start[k]) / 0.01);
    print_message("about (1, 2, -2): %.1g\n", worst);
    CHECK_BELOW(worst, 1e-3);
    bench_close(&b);
}

/* ---- Moduli and energy (16) ------------------------------------------------------------------ */

/* The stress along x of uniaxial strain, by the material's own steps. */
static double uniaxial_stress(int dim, double strain) {
    enum { STEPS = 100 };
    double e[6] = {0}, tau[6], G[3][3] = {{strain / STEPS}};
    void *parameters = parameters_of(&solid, dim);
    for (int step = 0; step < STEPS; step++) hypoelastic_advance(dim, e, G);
    stress_at(&solid, parameters, dim, e, tau);
    free(parameters);
    return tau[XX];
}

static void slope_of_uniaxial_strain(void **state) {
    (void)state;
    const double K = bulk_modulus(), shear = shear_modulus(), printed = K / 3 + 4 * shear / 3;
    for (int dim = 2; dim <= 3; dim++) {
        const double slope = uniaxial_stress(dim, 1e-3) / 1e-3;
        CHECK_BELOW(fabs(slope / (K + 4 * shear / 3) - 1), 5e-3);
        CHECK_ABOVE(fabs(slope / printed - 1), 0.3); /* K tr(D) / 3, as it was printed */
    }
}

/* Stretch and shear while it turns, in small steps: psi is the work tau : D that was done on the
 * way, and not that of stress that stays where it was in space. */
static void energy_is_the_work_done(void **state) {
    (void)state;
    enum { STEPS = 20000 };
    const double dt = 1.3 / STEPS;
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = parameters_of(&solid, dim);
        double e[6] = {0}, fixed[6] = {0}, work = 0, tau[6];
        for (int step = 0; step < STEPS; step++) {
            const double t = dt * step;
            double G[3][3] = {{0.1 * cos(t) * dt, -2 * dt, 0},
                              {(2 + 0.2 * cos(3 * t)) * dt, 0.15 * sin(2 * t) * dt, 0},
                              {0, 0, dim == 3 ? 0.1 * cos(2 * t) * dt : 0}};
            hypoelastic_advance(dim, e, G);
            stress_at(&solid, parameters, dim, e, tau);
            for (int r = 0; r < dim; r++)
                for (int c = 0; c < dim; c++) {
                    work += tau[symmetric_place[r][c]] * (G[r][c] + G[c][r]) / 2;
                    if (r <= c) fixed[symmetric_place[r][c]] += (G[r][c] + G[c][r]) / 2;
                }
        }
        const double energy = stress_at(&solid, parameters, dim, e, tau),
                     without = stress_at(&solid, parameters, dim, fixed, tau);
        print_message("%dD: energy %.6g, work %.6g, without spin %.6g\n", dim, energy, work,
                      without);
        CHECK_BELOW(fabs(work / energy - 1), 2e-3);
        CHECK_ABOVE(fabs(without / energy - 1), 0.02); /* negative control */
        free(parameters);
    }
}

/* Simple shear: tau_xy = mu sin(g), the documented limit of Jaumann's rate. */
static void shear_stress_falls_beyond_a_right_angle(void **state) {
    (void)state;
    enum { STEPS = 20000 };
    const double most = 10;
    void *parameters = parameters_of(&solid, 2);
    double e[6] = {0}, tau[6], G[3][3] = {{0, most / STEPS}}, worst = 0;
    for (int step = 1; step <= STEPS; step++) {
        hypoelastic_advance(2, e, G);
        stress_at(&solid, parameters, 2, e, tau);
        worst = fmax(worst, fabs(tau[XY] / shear_modulus() - sin(most * step / STEPS)));
    }
    print_message("simple shear to 10: off mu sin(g) by %.1g mu\n", worst);
    CHECK_BELOW(worst, 2e-3);
    free(parameters);
}

/* ---- Simulations ----------------------------------------------------------------------------- */

/* A bar of 25 m with E = 100, rho = 1, nu = 0, held at one end: T = 4 L / c = 10 s. Full FLIP, so
 * that nothing is damped. Its period, and how much its energy goes above the first. */
static double bar_period(const char *model, double dt, double *gained) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 1\ngravity: [0, 0]\n"
        "domain: {size: [30, 4], dx: 0.5, walls: {x_min: sticky}}\n"
        "solver: {integrator: flip, alpha: 1, dt: %.17g}\n"
        "materials: {m: {model: %s, density: 1, young_modulus: 100, poisson: 0}}\n"
        "bodies: [{material: m, sampling: regular, shape: {box: {min: [0, 1], max: [25, 3]}}}]\n",
        dt, model);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        p.sim->particles.velocity[i][0] = (real)(0.1 * sin(M_PI / 50 * x[0]));
    }
    double before = play_quantity(&p, "momentum_x"), turns[2] = {0};
    const double first = play_quantity(&p, "kinetic_energy");
    *gained = 0;
    for (int seen = 0; seen < 2 && p.sim->time < 20;) {
        const double t = p.sim->time;
        play_steps(&p, 1);
        const double now = play_quantity(&p, "momentum_x"),
                     energy =
                         play_quantity(&p, "kinetic_energy") + play_quantity(&p, "elastic_energy");
        *gained = fmax(*gained, energy / first - 1);
        if ((now < 0) != (before < 0)) turns[seen++] = t + p.sim->dt * before / (before - now);
        before = now;
    }
    play_close(&p);
    return 2 * (turns[1] - turns[0]);
}

static void bar_has_its_period(void **state) {
    (void)state;
    double gained;
    const double period = bar_period("hypoelastic", 0.02, &gained);
    print_message("T = %.4f (10), energy at most %.5f above the first\n", period, gained);
    CHECK_BELOW(fabs(period / 10 - 1), 0.01);
    CHECK_BELOW(gained, 0.01); /* symplectic Euler: about w dt / 2 */
}

/* How far the energy of a spinning elastic block, kinetic and elastic, goes from the first over one
 * turn. */
static double energy_drift(const char *model) {
    play p = play_open(1,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                       "domain: {size: [2, 2], dx: 0.05}\n"
                       "solver: {integrator: aflip, alpha: 1, dt: 2.0e-4}\n"
                       "materials: {m: {model: %s, density: 1000, young_modulus: 1.0e5}}\n"
                       "bodies: [{material: m, spin: 4, shape: {box: {min: [0.8, 0.8], max: [1.2, "
                       "1.2]}}}]\n",
                       model);
    const double first = play_quantity(&p, "kinetic_energy");
    double worst = 0;
    for (int k = 1; k <= 16; k++) {
        play_until(&p, 0.1 * k);
        const double now =
            play_quantity(&p, "kinetic_energy") + play_quantity(&p, "elastic_energy");
        worst = fmax(worst, fabs(now / first - 1));
    }
    play_close(&p);
    return worst;
}

static void spinning_block_keeps_its_energy(void **state) {
    (void)state;
    if (WATCHED) skip();
    const double rate = energy_drift("hypoelastic"), hyper = energy_drift("neo_hookean");
    print_message("energy of a spinning block: hypoelastic %.2g, neo_hookean %.2g\n", rate, hyper);
    CHECK_BELOW(rate, 0.02);
}

/* The period does not feel the step: w^2 dt^2 / 24 = 3e-5 of it at the longest is the error of
 * symplectic Euler. In single precision it drowns in rounding. */
static void period_does_not_feel_the_step(void **state) {
    (void)state;
    if (WATCHED || !IN_DOUBLE) skip();
    double T[2], gained;
    for (int k = 0; k < 2; k++) T[k] = bar_period("hypoelastic", k ? 0.01 : 0.04, &gained);
    print_message("T at dt 0.04, 0.01: %.6f %.6f\n", T[0], T[1]);
    CHECK_BELOW(fabs(T[0] - T[1]) / T[1], 3e-5);
}

/* How far the middle of a bar has gone at a quarter of its period after gravity begins to pull it. */
static double pulled(const char *leapfrog, double dt) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 1\ngravity: [0.1, 0]\n"
        "domain: {size: [30, 4], dx: 0.5, walls: {x_min: sticky}}\n"
        "solver: {integrator: flip, alpha: 1, dt: %.17g, leapfrog: %s}\n"
        "materials: {m: {model: hypoelastic, density: 1, young_modulus: 100, poisson: 0}}\n"
        "bodies: [{name: bar, material: m, sampling: regular, shape: {box: {min: [0, 1], max: [25, "
        "3]}}}]\nprobes: [{name: bar, center_of_mass: {of: bar}}]\n",
        dt, leapfrog);
    const double before = play_quantity(&p, "bar_x");
    play_until(&p, 2.5);
    const double way = play_quantity(&p, "bar_x") - before;
    play_close(&p);
    return way;
}

/* With forces for half of the first step the way is second-order in dt, without (the control) first:
 * u' dt / 2. */
static void half_a_kick_makes_second_order(void **state) {
    (void)state;
    const double with = fabs(pulled("true", 0.04) - pulled("true", 0.01));
    const double without = fabs(pulled("false", 0.04) - pulled("false", 0.01));
    print_message("way at dt 0.04 and 0.01 differs by %.2g, without half a kick %.2g\n", with,
                  without);
    CHECK_BELOW(with, 0.05 * without);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_form_is_the_plain_one),
        cmocka_unit_test(stress_turns_with_the_body),
        cmocka_unit_test(a_turn_about_any_axis),
        cmocka_unit_test(slope_of_uniaxial_strain),
        cmocka_unit_test(energy_is_the_work_done),
        cmocka_unit_test(shear_stress_falls_beyond_a_right_angle),
        cmocka_unit_test(bar_has_its_period),
        cmocka_unit_test(spinning_block_keeps_its_energy),
        cmocka_unit_test(period_does_not_feel_the_step),
        cmocka_unit_test(half_a_kick_makes_second_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
