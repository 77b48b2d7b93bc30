/*
 * Liquids and boundaries of the material point method.
 *   16  still water: p = rho g depth to 1 %, and it stays still
 *       viscosity: a shear wave decays as exp(-nu k^2 t)
 *       friction: a block on an incline of slope s slides with g (sin - mu cos)
 *       periodic sides, open sides, positions far from the origin
 */
#include "physics.h"

/* A tank at rest, sampled as said; the pressure may be off by `limit` of that at the base. */
static void check_still_water(const char *points, double limit) {
    const double H = 0.5, g = 9.81, rho = 1000;
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
        "domain: {size: [0.5, 1], dx: 0.03125}\n"
        "materials: {w: {model: liquid, density: %g, bulk_modulus: 1.0e6, gamma: 7}}\n"
        "bodies: [{material: w, sampling: %s, shape: {box: {min: [0, 0], max: [0.5, %g]}}}]\n",
        rho, points, H);
    play_settle(&p, 30);
    play_until(&p, p.sim->time + 0.2); /* and it stays as it is */
    /* Cell by cell: the gradient that a particle sees is off by first order in its place within the
     * cell, which cancels over a cell's particles. */
    enum { ROWS = 32 };
    double pressure[ROWS] = {0}, mass[ROWS] = {0}, above = 0, worst = 0, wrong = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], tau[6], J;
        simulation_position(p.sim, block, i, x);
        p.sim->type->stress(p.sim, i, tau, NULL, &J);
        int row = (int)(x[1] / 0.03125);
        double m = (double)p.sim->particles.mass[i];
        pressure[row] += m * -tau[0] / J, mass[row] += m;
    }
    for (int row = ROWS - 1; row >= 0; row--) {
        /* Hydrostatics: each row carries the weight above it, on the tank's width of 0.5 m. */
        double expected = (above + 0.5 * mass[row]) * g / 0.5, got = pressure[row] / mass[row];
        above += mass[row];
        if (mass[row] == 0) continue;
        worst = fmax(worst, fabs(got - expected) / (rho * g * H));
        wrong = fmax(wrong, fabs(got - 1.1 * expected) / (rho * g * H));
    }
    double fastest = play_quantity(&p, "max_speed");
    print_message("case 16, %s: pressure off by %.3g of the base, fastest %.2g m/s\n", points,
                  worst, fastest);
    CHECK_BELOW(worst, limit);
    CHECK_BELOW(fastest, 0.01 * sqrt(g * H));
    CHECK_ABOVE(wrong, 0.01); /* negative control: a tenth more gravity is told apart */
    play_close(&p);
}

static void still_water(void **state) {
    (void)state;
    check_still_water("regular", 0.01);
    check_still_water("glass", 0.025); /* rows of cells hold a few particles more or less */
}

/* As the particles have it: of a glass the mean of sin^2 is 1/2 only to a thousandth. */
static double sine_amplitude(const play *p, double k) {
    double sum = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        sum += 2 * (double)p->sim->particles.velocity[i][0] * sin(k * x[1]);
    }
    return sum / (double)p->sim->particles.count;
}

/* The amplitude of v_x = sin(k y) after a time, relative to the start, in a periodic box. */
static double shear_wave(const char *solver, double viscosity) {
    const double L = 1, k = 2 * M_PI / L;
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\nsolver: {%s}\n"
        "domain: {size: [0.25, 1], dx: 0.03125, walls: periodic}\n"
        "materials: {w: {model: liquid, density: 1000, bulk_modulus: 1.0e5, viscosity: %g}}\n"
        "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.25, 1]}}}]\n",
        solver, viscosity);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        p.sim->particles.velocity[i][0] = (real)(0.1 * sin(k * x[1]));
        p.sim->particles.affine[i][1][0] = (real)(0.1 * k * cos(k * x[1]) * 0.03125);
    }
    const double start = sine_amplitude(&p, k);
    play_until(&p, 0.25);
    const double end = sine_amplitude(&p, k);
    play_close(&p);
    return end / start;
}

static void viscosity_decays_shear(void **state) {
    (void)state;
    const double nu = 0.05, expected = exp(-nu * 4 * M_PI * M_PI * 0.25);
    double kept = shear_wave("type: mpm", nu * 1000), inviscid = shear_wave("type: mpm", 0);
    print_message("shear wave: kept %.4f, expected %.4f; without viscosity %.4f\n", kept, expected,
                  inviscid);
    CHECK_BELOW(fabs(kept / inviscid / expected - 1), 0.02);
    CHECK_ABOVE(inviscid, 0.95); /* negative control: the decay is the viscosity's */
}

/* Without viscosity a shear wave of 32 cells should stay as it is. What an integrator takes from it
 * acts as a viscosity, -ln(kept) / (k^2 t), here over c dx: 2e-5 of the default for liquids, a
 * hundred times that of apic. */
static void liquids_keep_their_motion(void **state) {
    (void)state;
    const double scale = 4 * M_PI * M_PI * 0.25 * 10 * 0.03125;
    double own = -log(shear_wave("type: mpm", 0)) / scale;
    double apic = -log(shear_wave("integrator: apic", 0)) / scale;
    print_message("viscosity of the transfer over c dx: %.2g, apic %.2g\n", own, apic);
    CHECK_BELOW(own, 1e-4);
    CHECK_ABOVE(apic, 1e-3); /* negative control */
}

/* Distance a block slides in half a second down an incline, after it has come to rest on it. */
static double slide(double friction) {
    const double slope = 30 * M_PI / 180;
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, %.17g]\n"
        "domain: {size: [4, 1], dx: 0.0625, walls: open}\n"
        "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e6}}\n"
        "bodies: [{name: b, material: m, shape: {box: {min: [0.5, 0.25], max: [1, 0.5]}}}]\n"
        "colliders: [{name: floor, contact: separate, friction: %g, shape: {plane: {point: [0, "
        "0.2500001], normal: [0, 1]}}}]\n"
        "probes: [{name: b, center_of_mass: {of: b}}]\n",
        -9.81 * cos(slope), friction);
    play_settle(&p, 20);
    p.scene->gravity[0] = 9.81 * sin(slope);
    double from = play_quantity(&p, "b_x"), start = p.sim->time;
    play_until(&p, start + 0.5);
    double moved = play_quantity(&p, "b_x") - from;
    play_close(&p);
    return moved;
}

static void friction_on_an_incline(void **state) {
    (void)state;
    const double slope = 30 * M_PI / 180, half = 0.5 * 0.25;
    double rough = slide(0.3), smooth = slide(0);
    double expected = half * 9.81 * (sin(slope) - 0.3 * cos(slope));
    print_message("incline: slides %.4f m, expected %.4f; without friction %.4f, expected %.4f\n",
                  rough, expected, smooth, half * 9.81 * sin(slope));
    CHECK_BELOW(fabs(rough / expected - 1), 0.03);
    CHECK_BELOW(fabs(smooth / (half * 9.81 * sin(slope)) - 1), 0.01);
    /* More friction than the slope: it creeps, by less than a tenth of the free slide. */
    CHECK_BELOW(slide(0.7), 0.1 * smooth);
}

static void open_sides_let_particles_go(void **state) {
    (void)state;
    play p = play_open(
        2, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
           "domain: {size: [1, 1], dx: 0.0625, walls: {x_max: open}}\n"
           "materials: {w: {model: liquid}}\n"
           "bodies: [{material: w, velocity: [2, 0], shape: {box: {min: [0.5, 0.25], max: [0.75, "
           "0.75]}}}]\n");
    int64_t before = p.sim->particles.count;
    play_until(&p, 1);
    play_steps(&p, 1);
    assert_true(before > 0);
    assert_int_equal(p.sim->particles.count, 0);
    assert_int_equal(p.sim->removed, before);
    play_close(&p);
}

static void periodic_sides_wrap(void **state) {
    (void)state;
    play p = play_open(
        2, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
           "domain: {size: [1, 1], dx: 0.0625, walls: {x_min: periodic, x_max: periodic}}\n"
           "materials: {m: {model: neo_hookean, density: 1, young_modulus: 100}}\n"
           "bodies: [{material: m, velocity: [1, 0], shape: {box: {min: [0.5, 0.25], max: [0.75, "
           "0.75]}}}]\n");
    double energy = play_quantity(&p, "kinetic_energy");
    int64_t count = p.sim->particles.count;
    double first[3], last[3];
    simulation_position(p.sim, p.sim->blocks.occupied[0], 0, first);
    uint32_t id = p.sim->particles.id[0];
    play_until(&p, 3);
    assert_int_equal(p.sim->particles.count, count);
    CHECK_BELOW(fabs(play_quantity(&p, "kinetic_energy") / energy - 1), 1e-4);
    EACH_PARTICLE(p.sim, block, i)
    if (p.sim->particles.id[i] == id) simulation_position(p.sim, block, i, last);
    CHECK_BELOW(fabs(last[0] - first[0]), 1e-3); /* three times round */
    play_close(&p);
}

/* A block that ends at the seam of a periodic axis is as solid as anywhere. */
static void periodic_seam_is_solid(void **state) {
    (void)state;
    const double left[2] = {0.8, 0.3};
    double deepest[2];
    for (int k = 0; k < 2; k++) {
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
            "domain: {size: [1, 1], dx: 0.0625, walls: {x_min: periodic, x_max: periodic}}\n"
            "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
            "colliders: [{contact: sticky, shape: {box: {min: [%g, 0], max: [%g, 0.3]}}}]\n"
            "bodies: [{material: w, shape: {box: {min: [0, 0.55], max: [1, 0.8]}}}]\n",
            left[k], left[k] + 0.2);
        deepest[k] = 0;
        for (int n = 1; n <= 20; n++) {
            play_until(&p, 0.02 * n);
            deepest[k] = fmax(deepest[k], play_quantity(&p, "penetration_max"));
        }
        play_close(&p);
    }
    print_message("seam: deepest %.4f m there, %.4f m in the middle\n", deepest[0], deepest[1]);
    CHECK_BELOW(deepest[0], 1.5 * deepest[1] + 0.01);
}

/* The same fall at the near and the far end of a domain a thousand times as long. */
static void far_from_the_origin(void **state) {
    (void)state;
    double moved[2];
    for (int far = 0; far < 2; far++) {
        double x = far ? 999 : 1;
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [1, -9.81]\n"
            "domain: {size: [1001, 4], dx: 0.125}\nsolver: {dt: 0.001}\n"
            "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e4}}\n"
            "bodies: [{name: b, material: m, shape: {sphere: {center: [%g, 3], radius: 0.4}}}]\n"
            "probes: [{name: b, center_of_mass: {of: b}}]\n",
            x);
        double from = play_quantity(&p, "b_x");
        play_until(&p, 0.5);
        moved[far] = play_quantity(&p, "b_x") - from;
        play_close(&p);
    }
    print_message("far from the origin: %.3g cells apart\n", fabs(moved[1] - moved[0]) / 0.125);
    CHECK_BELOW(fabs(moved[1] - moved[0]) / 0.125, 1e-4);
    /* Negative control: a float coordinate alone would be off by more. */
    CHECK_ABOVE((double)(nextafterf(999 / 0.125f, 1e9f) - 999 / 0.125f), 1e-4);
}

/* A vent in the floor of a pool that is at rest: it has the pressure of the water beside it, which
 * without would be pushed about by the jump (6.4 m/s and 17 J/m after 0.2 s from a vent of 0.2 m/s). */
static void try_vent(const char *comes) {
    const double H = 0.6, g = 9.81, rho = 1000, bulk = 4e5;
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\n"
                  "domain: {size: [1, 1.2], dx: 0.02, walls: slip}\n"
                  "materials: {w: {model: liquid, density: %g, bulk_modulus: %g}, dye: {model: "
                  "liquid, density: %g, bulk_modulus: %g}}\n"
                  "bodies: [{material: w, at_rest: true, shape: {difference: [{box: {min: [0, "
                  "0], max: [1, %g]}}, {box: {min: [0.4, 0], max: [0.6, 0.06]}}]}}]\n"
                  "sources: [{material: %s, velocity: [0, 0.2], shape: {box: {min: [0.4, 0], "
                  "max: [0.6, 0.06]}}}]\n",
                  rho, bulk, rho, bulk, H, comes);
    double fastest = 0, pressure = 0, energy = 0;
    for (int k = 1; k <= 12; k++) {
        play_until(&p, 0.025 * k);
        fastest = fmax(fastest, play_quantity(&p, "max_speed"));
        energy = fmax(energy, play_quantity(&p, "kinetic_energy"));
        pressure += -bulk * p.sim->sources[0].dilation / 12;
    }
    print_message("a vent: %.3g of the weight above, fastest %.3g m/s, at most %.3g J/m\n",
                  pressure / (rho * g * (H - 0.03)), fastest, energy);
    CHECK_BELOW(fabs(pressure / (rho * g * (H - 0.03)) - 1), 0.15);
    CHECK_BELOW(fastest, 2);
    CHECK_BELOW(energy, 6);
    play_close(&p);
}

/* Also where a dye comes out of it, another liquid of the same equation of state. */
static void a_vent_has_the_pressure_around_it(void **state) {
    (void)state;
    try_vent("w");
    try_vent("dye");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_water),
        cmocka_unit_test(viscosity_decays_shear),
        cmocka_unit_test(liquids_keep_their_motion),
        cmocka_unit_test(friction_on_an_incline),
        cmocka_unit_test(open_sides_let_particles_go),
        cmocka_unit_test(periodic_sides_wrap),
        cmocka_unit_test(periodic_seam_is_solid),
        cmocka_unit_test(far_from_the_origin),
        cmocka_unit_test(a_vent_has_the_pressure_around_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
