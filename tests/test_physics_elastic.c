/*
 * Validation cases 5 (APIC part), 6 and 7: elastic solids.
 *   6  a column under its own weight: P(X) = -rho0 g (H - X), settlement rho g H^2 / 2M at small
 *      strain to 1 %; displacement converges with order >= 1.8 on three grids
 *   7  a vibrating bar, L 25, E 100, rho 1, nu 0, v0 0.1 in its first mode: T = 10, centre of mass
 *      velocity 0.06366 cos wt, to 1 %
 *   5  a bounce never has more energy than it began with (+0.1 %)
 */
#include "physics.h"

static const double column_height = 1, column_g = 10, column_density = 1000, column_nu = 0.3;

/* A 2D column between slip walls, its foot on the floor. */
static play column(int cells, double young) {
    return play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 1\ngravity: [0, %g]\n"
        "domain: {size: [%.17g, 2], dx: %.17g}\n"
        "materials: {m: {model: neo_hookean, density: %g, young_modulus: %g, poisson: %g}}\n"
        "bodies: [{name: c, material: m, shape: {box: {min: [0, 0], max: [%.17g, %g]}}}]\n"
        "probes: [{name: c, center_of_mass: {of: c}}]\n",
        -column_g, 4.0 / cells, 1.0 / cells, column_density, young, column_nu, 4.0 / cells,
        column_height);
}

/* The weight is put on in small parts, each settled, so that no wave leaves its strain behind. */
static void load_slowly(play *p) {
    enum { PARTS = 40 };
    for (int k = 1; k <= PARTS; k++) {
        p->scene->gravity[1] = -column_g * k / PARTS;
        play_settle(p, k < PARTS ? 2 : 80);
    }
}

/* Large strain: first Piola P(X) = -rho0 g (H - X) and P = tau / lambda; displacement by
 * integrating the stretch that carries P. Uniaxial strain in 2D: tau = k/2 (l^2 - 1) + mu/2 (l -
 * 1/l). */
static double stretch_for(double P, double kappa, double mu) {
    double l = 1;
    for (int i = 0; i < 50; i++) {
        double f = kappa / 2 * (l - 1 / l) + mu / 2 * (1 - 1 / (l * l)) - P;
        double df = kappa / 2 * (1 + 1 / (l * l)) + mu / (l * l * l);
        l -= f / df;
    }
    return l;
}

static double displacement_at(double X, double kappa, double mu) {
    int n = 400;
    double u = 0;
    for (int i = 0; i < n; i++) {
        double s = (i + 0.5) / n * X;
        u += (stretch_for(-column_density * column_g * (column_height - s), kappa, mu) - 1) * X / n;
    }
    return u;
}

/* Root mean square error of displacement at rest, the largest error of P over rho g H, and how far
 * the centre of mass went down. */
static void column_errors(int cells, double young, double *displacement, double *stress,
                          double *sank) {
    play p = column(cells, young);
    double lambda = young * column_nu / ((1 + column_nu) * (1 - 2 * column_nu));
    double mu = young / (2 * (1 + column_nu)), kappa = lambda + mu;
    double start = play_quantity(&p, "c_y");
    /* Each particle's place at rest, by id. */
    int64_t count = p.sim->particles.count;
    double *rest = malloc((size_t)count * sizeof *rest);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        rest[p.sim->particles.id[i]] = x[1];
    }
    load_slowly(&p);
    *sank = start - play_quantity(&p, "c_y");
    *displacement = *stress = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], tau[6], J, X = rest[p.sim->particles.id[i]];
        simulation_position(p.sim, block, i, x);
        p.sim->type->stress(p.sim, i, tau, NULL, &J);
        double error = x[1] - X - displacement_at(X, kappa, mu);
        *displacement += error * error / (double)count;
        double P = tau[1] / J; /* uniaxial: the stretch is J */
        *stress = fmax(*stress, fabs(P + column_density * column_g * (column_height - X)));
    }
    *displacement = sqrt(*displacement);
    *stress /= column_density * column_g * column_height;
    free(rest);
    play_close(&p);
}

static double uniaxial_modulus(double young, double nu) {
    return young * (1 - nu) / ((1 + nu) * (1 - 2 * nu));
}

static void column_settles(void **state) {
    (void)state;
    if (WATCHED) skip();
    double error, stress, sank;
    column_errors(32, 1e6, &error, &stress, &sank);
    /* The top sinks by rho g H^2 / 2M, the centre of mass by / 3M. */
    double load = column_density * column_g * column_height * column_height / 3;
    double ratio = sank * uniaxial_modulus(1e6, column_nu) / load;
    print_message("case 6: settlement %.5f of expected, P off by %.2g of the base\n", ratio,
                  stress);
    CHECK_BELOW(fabs(ratio - 1), 0.01);
    CHECK_BELOW(stress, 0.01);
    /* Negative control: another Poisson's ratio has another modulus. */
    CHECK_ABOVE(fabs(sank * uniaxial_modulus(1e6, 0.25) / load - 1), 0.01);
}

/* At small strain, so that particles keep their places in the cells. A float's positions are too
 * coarse for such displacements: the order is told in the double build. */
static void column_converges(void **state) {
    (void)state;
    if (!IN_DOUBLE) skip();
    double errors[3], stress, sank;
    for (int k = 0; k < 3; k++) column_errors(8 << k, 1e7, &errors[k], &stress, &sank);
    double order[2] = {log2(errors[0] / errors[1]), log2(errors[1] / errors[2])};
    print_message("case 6: L2 %.3g %.3g %.3g m, orders %.2f %.2f\n", errors[0], errors[1],
                  errors[2], order[0], order[1]);
    CHECK_ABOVE(order[0], 1.8);
    CHECK_ABOVE(order[1], 1.8);
}

/* The bar of case 7 as a strip; fixed at x = 0 by the sticky side. */
static play bar(double young) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 1\ngravity: [0, 0]\n"
        "domain: {size: [30, 4], dx: 0.5, walls: {x_min: sticky}}\n"
        "materials: {m: {model: neo_hookean, density: 1, young_modulus: %g, poisson: 0}}\n"
        "bodies: [{name: bar, material: m, shape: {box: {min: [0, 1], max: [25, 3]}}}]\n"
        "probes: [{name: bar, center_of_mass: {of: bar}}]\n",
        young);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        double k = M_PI / 50;
        p.sim->particles.velocity[i][0] = (real)(0.1 * sin(k * x[0]));
        p.sim->particles.affine[i][0][0] = (real)(0.1 * k * cos(k * x[0]) * 0.5);
    }
    return p;
}

/* Period from the times at which the centre of mass turns round, and its first speed. */
static double bar_period(double young, double *speed) {
    play p = bar(young);
    double mass = play_quantity(&p, "mass"), before = play_quantity(&p, "momentum_x"),
           turns[2] = {0};
    *speed = before / mass;
    int seen = 0;
    while (seen < 2 && p.sim->time < 20) {
        double t = p.sim->time;
        play_steps(&p, 1);
        double now = play_quantity(&p, "momentum_x");
        if ((now < 0) != (before < 0)) turns[seen++] = t + p.sim->dt * before / (before - now);
        before = now;
    }
    play_close(&p);
    return 2 * (turns[1] - turns[0]);
}

static void bar_vibrates(void **state) {
    (void)state;
    double speed, period = bar_period(100, &speed);
    print_message("case 7: T = %.4f (10), v_cm(0) = %.5f (0.06366)\n", period, speed);
    CHECK_BELOW(fabs(period / 10 - 1), 0.01);
    CHECK_BELOW(fabs(speed / 0.06366 - 1), 0.01);
    CHECK_ABOVE(fabs(bar_period(110, &speed) / 10 - 1), 0.01); /* negative control: stiffer */
}

static double energy(play *p) {
    return play_quantity(p, "kinetic_energy") + play_quantity(p, "potential_energy") +
           play_quantity(p, "elastic_energy");
}

static void bounce_gains_no_energy(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_open(
        2, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
           "domain: {size: [2, 2], dx: 0.0625, walls: {y_min: separate}}\n"
           "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e5}}\n"
           "bodies: [{name: box, material: m, shape: {box: {min: [0.75, 0.5], max: [1.25, 1]}}}]\n"
           "probes: [{name: box, center_of_mass: {of: box}}]\n");
    double first = energy(&p), highest = first, low = 1, rebound = 0;
    for (int k = 1; k <= 100; k++) {
        play_until(&p, 0.01 * k);
        double now = energy(&p), y = play_quantity(&p, "box_y");
        highest = fmax(highest, now);
        if (y < low) low = y, rebound = y;
        rebound = fmax(rebound, y);
    }
    print_message("case 5: highest energy %.5f of the first, rebound to %.3f m\n", highest / first,
                  rebound);
    CHECK_BELOW(highest / first, 1.001);
    CHECK_BELOW(low, 0.26);     /* it did reach the floor and was pressed flat */
    CHECK_ABOVE(rebound, 0.35); /* and came back */
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(column_settles),
        cmocka_unit_test(column_converges),
        cmocka_unit_test(bar_vibrates),
        cmocka_unit_test(bounce_gains_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
