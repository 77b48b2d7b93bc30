/*
 * Smoke against what is known of viscous flow.
 *   20  Taylor-Green vortices, Re 100, 64^2: the velocity falls as exp(-8 pi^2 t / Re), to 3 %
 *   21  lid-driven cavity, velocity along the vertical centre line (Ghia, Ghia and Shin 1982), to 2 % of
 *       the lid's; in full, on 129^2 cells up to Re 1000, where SPATE_FULL is set
 *   26  projection: residual <= 1e-6 where asked for, divergence * dx / speed <= 1e-5
 */
#include "physics.h"

/* ---- Case 20: Taylor-Green ------------------------------------------------------------------- */

typedef struct decay {
    double speed;      /* of the mean square, relative to the start */
    double divergence; /* largest, times dx over the fastest gas */
    double pressure;   /* in a corner of the vortices, over that of the exact flow, u^2 / 2 */
} decay;

static decay vortices(const char *options, double viscosity, double until) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 1], dx: 0.015625, walls: periodic}\n"
                       "solver: {type: smoke, %s}\n"
                       "materials: {m: {model: gas, density: 1, viscosity: %g}}\n"
                       "bodies: [{material: m, vortices: [1, 1], shape: {box: {min: [0, 0], max: "
                       "[1, 1]}}}]\n",
                       options, viscosity);
    const double before = play_quantity(&p, "kinetic_energy");
    decay d = {0};
    while (p.sim->time < until) {
        play_until(&p, fmin(until, p.sim->time + 0.1));
        d.divergence = fmax(d.divergence, play_quantity(&p, "max_divergence") / 64 /
                                              play_quantity(&p, "max_speed"));
    }
    d.speed = sqrt(play_quantity(&p, "kinetic_energy") / before);
    d.pressure = p.sim->type->pressure(p.sim, (double[3]){0}) / (0.5 * d.speed * d.speed);
    play_close(&p);
    return d;
}

static void taylor_green(void **state) {
    (void)state;
    static const char *const options[] = {"advection: maccormack, cfl: 1", "advection: maccormack",
                                          "advection: maccormack, reflection: false, cfl: 0.25"};
    const double until = WATCHED ? 0.2 : 0.6, expected = exp(-8 * M_PI * M_PI * until / 100);
    for (int n = WATCHED; n < COUNT_OF(options) - WATCHED; n++) {
        const decay d = vortices(options[n], 0.01, until);
        print_message("case 20, %s: speed %.4f, expected %.4f; pressure %.3f; divergence %.2g\n",
                      options[n], d.speed, expected, d.pressure, d.divergence);
        CHECK_BELOW(fabs(d.speed / expected - 1), 0.03);
        CHECK_BELOW(fabs(d.pressure - 1), 0.05);
        CHECK_BELOW(d.divergence, 1e-5);
    }
    /* Negative controls: values that are only mixed blur, and another viscosity. */
    CHECK_ABOVE(fabs(vortices("advection: linear, cfl: 1", 0.01, until).speed / expected - 1),
                0.03);
    CHECK_ABOVE(fabs(vortices("advection: maccormack", 0.013, until).speed / expected - 1), 0.03);
}

/* ---- Case 21: the lid ------------------------------------------------------------------------ */

enum { HEIGHTS = 6 };
static const double heights[HEIGHTS] = {0.1719, 0.2813, 0.4531, 0.5, 0.7344, 0.9531};
static const double at_100[HEIGHTS] = {-0.1015, -0.1566, -0.2109, -0.2058, 0.0033, 0.6872};
static const double at_1000[HEIGHTS] = {-0.3829, -0.2781, -0.1065, -0.0608, 0.1872, 0.4660};

/* The largest difference from Ghia et al. when nothing changes any more. */
static double cavity(int cells, double reynolds, const char *options) {
    const double *expected = reynolds < 500 ? at_100 : at_1000;
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 1000\nfps: 1\n"
                  "domain: {size: [1, 1], dx: %.15g, walls: sticky, wall_velocity: {y_max: [1, "
                  "0]}}\n"
                  "solver: {type: smoke, %s}\n"
                  "materials: {m: {model: gas, density: 1, viscosity: %.15g}}\n"
                  "bodies: [{material: m, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n",
                  1.0 / cells, options, 1 / reynolds);
    double before[HEIGHTS] = {0}, worst = 0, change = 1;
    while (change > 1e-3 && p.sim->time < 200) {
        play_until(&p, p.sim->time + (reynolds < 500 ? 2 : 10));
        worst = change = 0;
        for (int i = 0; i < HEIGHTS; i++) {
            double x[3] = {0.5, heights[i], 0}, v[3];
            p.sim->type->velocity(p.sim, x, v);
            worst = fmax(worst, fabs(v[0] - expected[i]));
            change = fmax(change, fabs(v[0] - before[i]));
            before[i] = v[0];
        }
    }
    print_message("case 21, Re %g, %d^2, %s: off by %.4f of the lid's speed at t = %g\n", reynolds,
                  cells, options, worst, p.sim->time);
    play_close(&p);
    return worst;
}

static void lid_driven_cavity(void **state) {
    (void)state;
    if (WATCHED) return;
    CHECK_BELOW(cavity(24, 100, "advection: maccormack"), 0.02);
    /* Negative control: the same gas on the same cells, blurred. */
    CHECK_ABOVE(cavity(24, 100, "advection: linear, cfl: 0.5"), 0.025);
}

static void lid_driven_cavity_in_full(void **state) {
    (void)state;
    if (WATCHED || IN_DOUBLE || !getenv("SPATE_FULL")) skip();
    CHECK_BELOW(cavity(129, 100, "advection: maccormack"), 0.02);
    CHECK_BELOW(cavity(129, 1000, "advection: maccormack"), 0.02);
    CHECK_ABOVE(cavity(129, 1000, "reflection: true, advection: linear"), 0.02);
}

/* ---- Case 26: projection --------------------------------------------------------------------- */

/* A plume against a ball in 3D, to a tolerance; the worst of a few steps. */
static void projection(void **state) {
    (void)state;
    static const char *const options[] = {"tolerance: 1.0e-6", "reflection: true",
                                          "tolerance: 0.1"};
    for (int o = 0; o < COUNT_OF(options); o++) {
        play p = play_open(2,
                           "spate: 1\ndimension: 3\nduration: 10\nfps: 1\n"
                           "domain: {size: [1, 1.5, 1], dx: 0.0625, walls: [slip, slip, sticky, "
                           "open, slip, slip]}\n"
                           "solver: {type: smoke, %s}\n"
                           "materials: {m: {model: gas, temperature: 100}}\n"
                           "sources: [{material: m, velocity: [0, 1, 0], shape: {sphere: {center: "
                           "[0.5, 0.3, 0.5], radius: 0.2}}}]\n"
                           "colliders: [{shape: {sphere: {center: [0.55, 0.9, 0.5], radius: "
                           "0.2}}}]\n",
                           options[o]);
        double residual = 0, divergence = 0;
        for (int i = 0; i < (WATCHED ? 2 : 6); i++) {
            play_steps(&p, 1);
            residual = fmax(residual, play_quantity(&p, "residual"));
            divergence = fmax(divergence, play_quantity(&p, "max_divergence") * 0.0625 /
                                              play_quantity(&p, "max_speed"));
        }
        print_message("case 26, %s: residual %.2g, divergence %.2g\n", options[o], residual,
                      divergence);
        if (o == 0) CHECK_BELOW(residual, 1e-6);
        if (o < 2)
            CHECK_BELOW(divergence, 1e-5);
        else
            CHECK_ABOVE(divergence, 1e-5); /* negative control */
        play_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taylor_green),
        cmocka_unit_test(lid_driven_cavity),
        cmocka_unit_test(lid_driven_cavity_in_full),
        cmocka_unit_test(projection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
