/*
 * FLIP against what is known of liquids.
 *   16  still water: p = rho g depth to 1 % wherever the surface lies in a cell, and it stays still
 *   17  sloshing in a tank, L 1 m, h 0.5 m: linear theory, w^2 = g k tanh(k h), T = 1.1818 s, to 2 %
 *   14  dam break, Martin and Moyce 1952, n^2 = 2: the front within 8 % after a start offset <= 0.3 T
 *   37  the same, the height of the column at the wall, tau = t sqrt(g / a): within 8 %, at any step
 *   26  projection: residual <= 1e-6, divergence * dx / speed <= 1e-5
 *       sources, sinks and open sides: what flows is width * speed * time
 *       volume_correction: a shaken tank keeps its volume
 */
#include "physics.h"

#include "solver/flip/flip.h"
#include "tanks.h"

/* ---- Case 16: still water -------------------------------------------------------------------- */

typedef struct stillness {
    double pressure, speed; /* largest error over rho g H; fastest particle, m/s */
} stillness;

/* A tank left alone for a second. Particles lie five to a cell's edge in 2D, three in 3D, and the
 * height is that of their mass. */
static stillness rest(int dim, const char *options, const char *points, double cells) {
    const double g = 9.81, rho = 1000, dx = 1.0 / 32, width = dim == 2 ? 1 : 0.25;
    const bool flat = dim == 2;
    play p = play_open(
        2,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {size: %s, dx: 0.03125}\nsolver: {type: flip, %s}\n"
        "materials: {w: {model: liquid, density: %g}}\n"
        "bodies: [{material: w, sampling: %s, particles_per_cell: %d, shape: {box: {min: %s, max: "
        "[%g, %.9g%s]}}}]\n",
        dim, flat ? "[1, 1]" : "[0.25, 0.5, 0.25]", options, rho, points, flat ? 25 : 27,
        flat ? "[0, 0]" : "[0, 0, 0]", width, cells * dx, flat ? "" : ", 0.25");
    play_until(&p, 1);
    const double H = play_quantity(&p, "mass") / rho / pow(width, dim - 1);
    assert_true(fabs(H / dx - cells) < 0.3);
    stillness s = {.speed = play_quantity(&p, "max_speed")};
    for (int n = 0; n < 12; n++) {
        double x[3] = {0.07 + 0.013 * n, (0.02 + 0.08 * n) * H, flat ? 0 : 0.11};
        double expected = rho * g * (H - x[1]), got = p.sim->type->pressure(p.sim, x);
        s.pressure = fmax(s.pressure, fabs(got - expected) / (rho * g * H));
    }
    play_close(&p);
    return s;
}

static void still_water(void **state) {
    (void)state;
    static const char *const transfers[] = {"transfer: flip", "transfer: apic", "transfer: pic"};
    static const double levels[2][2] = {{16, 16.4}, {8, 8.4}};
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
        for (int t = 0; t < (WATCHED ? 1 : COUNT_OF(transfers)); t++)
            for (int k = 0; k < 2; k++) {
                stillness s = rest(dim, transfers[t], "regular", levels[dim - 2][k]);
                print_message(
                    "case 16, %dD, %s, %g cells: pressure off by %.2g, fastest %.2g m/s\n", dim,
                    transfers[t], levels[dim - 2][k], s.pressure, s.speed);
                CHECK_BELOW(s.pressure, 0.01);
                /* where the surface cuts cells, particles near it come to lie a little anew */
                CHECK_BELOW(s.speed, k ? 1e-3 : 1e-4);
            }
    stillness irregular = rest(2, "transfer: flip", "glass", 16);
    print_message("case 16, glass: pressure off by %.2g, fastest %.2g m/s\n", irregular.pressure,
                  irregular.speed);
    CHECK_BELOW(irregular.pressure, 0.01);
    CHECK_BELOW(irregular.speed, 3e-3);
    /* Negative control: with the surface in the middle of the first air cell it is 0.9 cells
     * off. */
    stillness first = rest(2, "surface_order: 1", "regular", 16.6);
    print_message("case 16, surface_order 1: pressure off by %.2g\n", first.pressure);
    CHECK_ABOVE(first.pressure, 0.01);
}

/* ---- Case 17: sloshing ----------------------------------------------------------------------- */

static void sloshing(void **state) {
    (void)state;
    const double theory = sloshing_theory(), deep = sloshing_deep();
    CHECK_BELOW(fabs(theory - 1.1818), 1e-4);
    static const char *const options[] = {"transfer: flip", "transfer: apic",
                                          "transfer: aflip, kernel: quadratic"};
    for (int n = 0; n < (WATCHED ? 1 : COUNT_OF(options)); n++) {
        char solver[128];
        snprintf(solver, sizeof solver, "type: flip, dt: 0.01, %s", options[n]);
        double period = sloshing_period(0.03125, solver, "");
        print_message("case 17, %s: T = %.4f s, %.2g off; deep water %.2g\n", options[n], period,
                      period / theory - 1, period / deep - 1);
        CHECK_BELOW(fabs(period / theory - 1), 0.02);
        CHECK_ABOVE(fabs(period / deep - 1), 0.02); /* negative control: without the bottom */
    }
}

/* ---- Case 14: Martin and Moyce --------------------------------------------------------------- */

static void dam_break(void **state) {
    (void)state;
    if (WATCHED) skip();
    static const char *const solvers[] = {"type: flip, transfer: flip",
                                          "type: flip, transfer: apic"};
    double offset;
    for (int n = 0; n < COUNT_OF(solvers); n++) {
        double error = dam_error(9.81, 16, solvers[n], "", &offset);
        print_message("case 14, %s: front off by %.3f with a start offset of %.2f\n", solvers[n],
                      error, offset);
        CHECK_BELOW(error, 0.08);
    }
    double slow = dam_error(0.5 * 9.81, 16, solvers[0], "", &offset);
    print_message("case 14, half the gravity: front off by %.3f\n", slow);
    CHECK_ABOVE(slow, 0.08); /* negative control */
}

/* ---- Case 37: the column's height ------------------------------------------------------------ */

typedef struct column {
    double error, drift; /* largest of the height, relative; of the volume at the end */
} column;

static column column_of(int cells, const char *options) {
    static const double measured[][2] = {
        {0.56, 0.94}, {1.08, 0.78}, {1.66, 0.61}, {2.21, 0.44}, {3.06, 0.28}};
    const double a = 0.05715, unit = sqrt(a / 9.81);
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [%.17g, %.17g], dx: %.17g}\nsolver: {type: flip%s}\n"
                       "materials: {w: {model: liquid}}\n"
                       "bodies: [{material: w, shape: {box: {min: [0, 0], max: [%.17g, %.17g]}}}]\n"
                       "probes: [{name: column, height: {at: 0.002}}]\n",
                       7 * a, 2.5 * a, a / cells, options, a, 2 * a);
    column worst = {0};
    for (int n = 0; n < COUNT_OF(measured); n++) {
        play_until(&p, measured[n][0] * unit);
        double height = play_quantity(&p, "column") / (2 * a);
        print_message(" %.3f", height);
        worst.error = fmax(worst.error, fabs(height / measured[n][1] - 1));
    }
    worst.drift = play_quantity(&p, "volume_drift");
    play_close(&p);
    return worst;
}

/* As part of the velocity the correction held the column up: 0.326 of its height were left at the
 * end instead of 0.28, 0.364 with the shorter steps. */
static void column_falls(void **state) {
    (void)state;
    if (WATCHED) skip();
    const bool full = getenv("SPATE_FULL");
    static const char *const options[] = {"", ", cfl: 0.3", ", cfl: 3"};
    for (int cells = 32; cells <= (full ? 64 : 32); cells *= 2)
        for (int n = 0; n < COUNT_OF(options); n++) {
            column got = column_of(cells, options[n]);
            print_message("\ncase 37, %d cells%s: height off by %.3f, volume by %.4f\n", cells,
                          options[n], got.error, got.drift);
            CHECK_BELOW(got.error, 0.08);
            CHECK_BELOW(fabs(got.drift), 0.01);
        }
    column plain = column_of(32, ", volume_correction: 0");
    print_message("\ncase 37, without correction: height off by %.3f, volume by %.4f\n",
                  plain.error, plain.drift);
    CHECK_ABOVE(fabs(plain.drift), 0.01); /* negative control */
}

/* ---- Case 26: projection --------------------------------------------------------------------- */

typedef struct projection {
    double residual, divergence; /* largest; divergence * dx / speed */
} projection;

static projection project_dam(const char *options) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 1], dx: 0.03125}\n"
                       "solver: {type: flip, volume_correction: 0, %s}\n"
                       "materials: {w: {model: liquid}}\n"
                       "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.7]}}}]\n"
                       "colliders: [{shape: {sphere: {center: [0.7, 0.1], radius: 0.13}}}]\n",
                       options);
    projection worst = {0};
    for (int n = 0; n < 60; n++) {
        play_steps(&p, 1);
        worst.residual = fmax(worst.residual, play_quantity(&p, "residual"));
        worst.divergence = fmax(worst.divergence, play_quantity(&p, "max_divergence") * 0.03125 /
                                                      play_quantity(&p, "max_speed"));
    }
    assert_true(play_quantity(&p, "not_converged") == 0);
    play_close(&p);
    return worst;
}

static void projection_is_exact(void **state) {
    (void)state;
    static const char *const options[] = {"pressure: multigrid", "pressure: mic",
                                          "solids: voxels, surface_order: 1"};
    for (int n = 0; n < COUNT_OF(options); n++) {
        projection got = project_dam(options[n]);
        print_message("case 26, %s: residual %.2g, divergence %.2g\n", options[n], got.residual,
                      got.divergence);
        CHECK_BELOW(got.residual, 1e-6 * (1 + 1e-9));
        CHECK_BELOW(got.divergence, 1e-5);
    }
    projection loose = project_dam("tolerance: 0.01");
    print_message("case 26, tolerance 1e-2: residual %.2g, divergence %.2g\n", loose.residual,
                  loose.divergence);
    CHECK_ABOVE(loose.residual, 1e-6); /* negative control */
    CHECK_ABOVE(loose.divergence, 1e-5);
}

/* ---- What flows in and out ------------------------------------------------------------------- */

static void sources_flow_by_their_width(void **state) {
    (void)state;
    const double dx = 1.0 / 32, spacing = dx / 2, width = 0.25, length = 0.1875, speed = 1.5,
                 t = 0.6;
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                  "domain: {size: [1, 1], dx: 0.03125, walls: open}\nsolver: {type: flip}\n"
                  "materials: {w: {model: liquid}}\n"
                  "sources: [{material: w, velocity: [%g, 0], shape: {box: {min: [0.125, 0.375], "
                  "max: [%g, %g]}}}]\n",
                  speed, 0.125 + length, 0.375 + width);
    play_until(&p, t);
    double inside = (double)p.sim->particles.count, gone = (double)p.sim->removed;
    double flux = width * (length + speed * t) / (spacing * spacing);
    print_message("source: %g particles in the domain, %g gone; flux %g\n", inside, gone, flux);
    CHECK_BELOW(fabs((inside + gone) / flux - 1), 0.03);
    /* A jet of this length has passed the side by now. */
    double beyond = width * (0.125 + length + speed * t - 1) / (spacing * spacing);
    CHECK_BELOW(fabs(gone / beyond - 1), 0.1);
    CHECK_BELOW(fabs(play_quantity(&p, "removed") - gone), 0.5);
    CHECK_ABOVE(fabs((inside + gone) / (0.9 * flux) - 1), 0.03); /* negative control */
    play_close(&p);
}

static void sinks_drain(void **state) {
    (void)state;
    play p =
        play_open(2, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                     "domain: {size: [1, 1], dx: 0.03125, walls: open}\nsolver: {type: flip}\n"
                     "materials: {w: {model: liquid}}\n"
                     "bodies: [{material: w, velocity: [2, 0], shape: {box: {min: [0.125, 0.375], "
                     "max: [0.375, 0.625]}}}]\n"
                     "sinks: [{shape: {box: {min: [0.6, 0], max: [0.7, 1]}}}]\n");
    double before = (double)p.sim->particles.count;
    play_until(&p, 0.1); /* its front is at 0.575 */
    assert_int_equal(p.sim->drained, 0);
    play_until(&p, 0.175); /* half of it has come to 0.6 */
    CHECK_BELOW(fabs((double)p.sim->drained / before - 0.5), 0.07);
    play_until(&p, 0.3);
    assert_int_equal(p.sim->particles.count, 0);
    assert_true((double)p.sim->drained == before);
    assert_int_equal(p.sim->removed, 0);
    play_close(&p);
}

/* ---- Volume ---------------------------------------------------------------------------------- */

/* The largest drift of the volume in a tank that is shaken for two seconds. */
static double shaken_drift(double correction) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 1], dx: 0.03125}\n"
                       "solver: {type: flip, volume_correction: %g}\n"
                       "materials: {w: {model: liquid}}\n"
                       "bodies: [{material: w, shape: {box: {min: [0, 0], max: [1, 0.5]}}}]\n",
                       correction);
    double largest = 0;
    while (p.sim->time < 2) {
        p.scene->gravity[0] = 8 * sin(2 * M_PI * p.sim->time / 1.1);
        play_steps(&p, 1);
        largest = fmax(largest, fabs(play_quantity(&p, "volume_drift")));
    }
    play_close(&p);
    return largest;
}

static void shaken_tank_keeps_its_volume(void **state) {
    (void)state;
    if (WATCHED) skip();
    double corrected = shaken_drift(1), plain = shaken_drift(0);
    print_message("shaken: volume off by %.3f, without correction by %.3f\n", corrected, plain);
    CHECK_BELOW(corrected, 0.03);
    CHECK_ABOVE(plain, 0.03); /* negative control */
}

/* What flies keeps its shape: cells that are less than full because the surface goes through them do
 * not draw it together. */
static void test_flight_keeps_a_shape(void **state) {
    (void)state;
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\ndomain: {size: [2, 1], dx: 0.03125}\ngravity: [0, 0]\nfps: 10\n"
        "solver: {type: flip}\nmaterials: {water: {model: liquid}}\n"
        "bodies: [{material: water, sampling: regular, velocity: [2, 0], shape: {sphere: {center: "
        "[0.4, 0.5], radius: 0.19}}}]\n");
    const double before = play_quantity(&p, "mass");
    play_until(&p, 0.5);
    double largest = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        largest = fmax(largest, hypot(x[0] - 1.4, x[1] - 0.5));
    }
    print_message("farthest particle %.4f of 0.19\n", largest);
    CHECK_BELOW(fabs(play_quantity(&p, "mass") / before - 1), 1e-9);
    CHECK_BELOW(fabs(largest - 0.19), 0.003);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_water),
        cmocka_unit_test(sloshing),
        cmocka_unit_test(dam_break),
        cmocka_unit_test(column_falls),
        cmocka_unit_test(projection_is_exact),
        cmocka_unit_test(sources_flow_by_their_width),
        cmocka_unit_test(sinks_drain),
        cmocka_unit_test(shaken_tank_keeps_its_volume),
        cmocka_unit_test(test_flight_keeps_a_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
