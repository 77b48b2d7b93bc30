/*
 * The linear solid: Hooke's law as lectures have it, both forms of it, its energy, its waves, and
 * that it does not turn with a body.
 */
#include "physics.h"
#include "strains.h"

static const sample hooke = {&material_linear, {{"young_modulus", 1e5}, {"poisson", 0.3}}};

/* Uniaxial strain e: sigma_xx = (lambda + 2 mu) e, the others lambda e; shear: 2 mu e. */
static void test_law(void **state) {
    (void)state;
    const double E = 1e5, nu = 0.3, mu = E / (2 * (1 + nu)),
                 lambda = E * nu / ((1 + nu) * (1 - 2 * nu));
    for (int dim = 2; dim <= 3; dim++) {
        void *parameters = parameters_of(&hooke, dim);
        double B[6] = {0}, tau[6];
        B[XX] = 0.02, B[XY] = -0.01;
        double energy = stress_at(&hooke, parameters, dim, B, tau);
        CHECK_BELOW(fabs(tau[XX] / ((lambda + 2 * mu) * 0.02) - 1), 1e-12);
        CHECK_BELOW(fabs(tau[YY] / (lambda * 0.02) - 1), 1e-12);
        CHECK_BELOW(fabs(tau[ZZ] - (dim == 3 ? lambda * 0.02 : 0)), 1e-9);
        CHECK_BELOW(fabs(tau[XY] / (-0.02 * mu) - 1), 1e-12);
        CHECK_BELOW(fabs(energy / ((tau[XX] * 0.02 + 2 * tau[XY] * -0.01) / 2) - 1), 1e-12);
        strain_range any = {.J_min = 0.5, .J_max = 2, .stretch = 2, .stiffening = 1};
        double c = material_linear.wave_speed(parameters, dim, &any);
        CHECK_BELOW(fabs(c / sqrt((lambda + 2 * mu) / 1000) - 1), 1e-12);
        free(parameters);
    }
}

/* Steps of random gradients: e is the sum of their symmetric parts, and the wide stress is
 * Hooke's. */
static void test_wide(void **state) {
    (void)state;
    bench b = bench_open();
    const material_passes *laws = ISA_CHOOSE(material_passes, b.ctx->isa);
    for (int dim = 2; dim <= 3; dim++) {
        material_constants c = constants_of(&hooke, dim);
        void *parameters = parameters_of(&hooke, dim);
        double e[6] = {0}, tau[6];
        for (int k = 0; k < 6; k++)
            for (int l = 0; l < WIDE; l++) PLANE(&b.p, strain, k)[l] = 0;
        wide_int mask = ~wide_splat_int(0), none = wide_splat_int(0);
        for (uint64_t step = 0; step < 20; step++) {
            double gradient[3][3];
            wide G[9];
            strain_report report;
            random_gradient(step, dim, 0.01, gradient);
            for (int r = 0; r < 3; r++)
                for (int k = 0; k < 3; k++) G[3 * r + k] = wide_splat((real)gradient[r][k]);
            laws->update[dim - 2](&c, &b.p, 0, G, &none, &report);
            laws->update[dim - 2](&c, &b.p, 0, G, &mask, &report);
            for (int r = 0; r < dim; r++)
                for (int k = r; k < dim; k++)
                    e[symmetric_place[r][k]] += (gradient[r][k] + gradient[k][r]) / 2;
        }
        wide t[6], unread[9] = {{0}};
        laws->stress[dim - 2](&c, &b.p, 0, unread, t);
        stress_at(&hooke, parameters, dim, e, tau);
        for (int k = 0; k < 6; k++)
            CHECK_BELOW(fabs((double)t[k][3] - tau[k]), 1e5 * (IN_DOUBLE ? 1e-14 : 1e-6));
        free(parameters);
    }
    bench_close(&b);
}

/* A bar of 25 m with E = 100, rho = 1, nu = 0, held at one end: T = 4 L / c = 10 s (case 7); and
 * energy is not made. */
static double bar_period(double speed, double *gained) {
    play p =
        play_open(2, "spate: 1\ndimension: 2\nduration: 100\nfps: 1\ngravity: [0, 0]\n"
                     "domain: {size: [30, 4], dx: 0.5, walls: {x_min: sticky}}\n"
                     "materials: {m: {model: linear, density: 1, young_modulus: 100, poisson: 0}}\n"
                     "bodies: [{material: m, shape: {box: {min: [0, 1], max: [25, 3]}}}]\n");
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], k = M_PI / 50;
        simulation_position(p.sim, block, i, x);
        p.sim->particles.velocity[i][0] = (real)(speed * sin(k * x[0]));
        p.sim->particles.affine[i][0][0] = (real)(speed * k * cos(k * x[0]) * 0.5);
    }
    double before = play_quantity(&p, "momentum_x"), turns[2] = {0};
    double first = play_quantity(&p, "kinetic_energy");
    *gained = 0;
    for (int seen = 0; seen < 2 && p.sim->time < 20;) {
        double t = p.sim->time;
        play_steps(&p, 1);
        double now = play_quantity(&p, "momentum_x");
        double energy = play_quantity(&p, "kinetic_energy") + play_quantity(&p, "elastic_energy");
        *gained = fmax(*gained, energy / first - 1);
        if ((now < 0) != (before < 0)) turns[seen++] = t + p.sim->dt * before / (before - now);
        before = now;
    }
    play_close(&p);
    return 2 * (turns[1] - turns[0]);
}

static void test_bar(void **state) {
    (void)state;
    double gained, period = bar_period(0.1, &gained);
    print_message("T = %.4f (10), energy at most %.5f above the first\n", period, gained);
    CHECK_BELOW(fabs(period / 10 - 1), 0.01);
    CHECK_BELOW(gained,
                0.01); /* symplectic Euler's energy goes up and down by about w dt / 2 = 0.006 */
}

/* A quarter turn in small steps: a body of any other elastic solid would carry sigma_xx over to
 * yy. */
static void test_does_not_turn(void **state) {
    (void)state;
    bench b = bench_open();
    const material_passes *laws = ISA_CHOOSE(material_passes, b.ctx->isa);
    material_constants c = constants_of(&hooke, 2);
    for (int l = 0; l < WIDE; l++) {
        for (int k = 0; k < 6; k++) PLANE(&b.p, strain, k)[l] = 0;
        PLANE(&b.p, strain, XX)[l] = (real)0.01;
    }
    wide G[9] = {{0}};
    wide_int mask = ~wide_splat_int(0);
    strain_report report;
    G[1] = wide_splat((real)(-M_PI / 2000)), G[3] = wide_splat((real)(M_PI / 2000));
    for (int step = 0; step < 1000; step++) laws->update[0](&c, &b.p, 0, G, &mask, &report);
    assert_true(PLANE(&b.p, strain, XX)[0] == (real)0.01 && PLANE(&b.p, strain, YY)[0] == 0);
    bench_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_law),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_does_not_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
