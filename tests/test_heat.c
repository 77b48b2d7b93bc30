/*
 * Temperatures of liquids under mpm (src/solver/mpm/heat.h).
 *   spreading  a step of two phases that do not mix spreads as erfc, particles and cells alike; the
 *              sum of m T stays
 *   buoyancy   hot air of a cylinder begins to rise with b T g / (1 + Ca), Ca its added mass; cold air
 *              stays, and without the heat's diffusion no temperature changes
 *   runs       threads and stops do not show
 *   refused    by solvers that do not know heat
 */
#include "physics.h"

/* ---- Spreading ------------------------------------------------------------------------------- */

static double heat_of(const play *p) {
    const particles *q = &p->sim->particles;
    double sum = 0;
    for (int64_t i = 0; i < q->count; i++)
        if (q->group[i] != GROUP_REMOVED) sum += (double)q->mass[i] * (double)q->temperature[i];
    return sum;
}

/* A channel of hot smoke and cold air, each a phase, that drifts along y. */
static play open_channel(int threads, double k) {
    return play_open(
        threads,
        "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ngravity: [0, 0]\n"
        "domain: {size: [1, 0.0625], dx: 0.015625, walls: {y_min: periodic, y_max: periodic}}\n"
        "solver: {type: mpm, heat_diffusion: %g}\n"
        "materials: {smoke: {model: liquid, density: 1, bulk_modulus: 1, temperature: 80}, air: "
        "{model: liquid, density: 1, bulk_modulus: 1}}\n"
        "coupling: immiscible\n"
        "bodies: [{material: smoke, velocity: [0, 0.1], shape: {box: {min: [0, 0], max: [0.5, "
        "0.0625]}}}, {material: air, velocity: [0, 0.1], shape: {box: {min: [0.5, 0], max: [1, "
        "0.0625]}}}]\n",
        k);
}

static void heat_spreads_as_erfc(void **state) {
    (void)state;
    const double k = 0.01, until = WATCHED ? 0.1 : 1, T0 = 80;
    play p = open_channel(2, k);
    const double before = heat_of(&p);
    double worst = 0;
    play_until(&p, until);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        const double exact = 0.5 * T0 * erfc((x[0] - 0.5) / (2 * sqrt(k * until)));
        worst = fmax(worst, fabs((double)p.sim->particles.temperature[i] - exact) / T0);
    }
    const double kept = fabs(heat_of(&p) / before - 1);
    print_message("worst particle %.4f of the step, heat %.2g\n", worst, kept);
    CHECK_BELOW(worst, WATCHED ? 0.05 : 0.01);
    CHECK_BELOW(kept, IN_DOUBLE ? 1e-12 : 1e-6);
    play_close(&p);
}

static void heat_stays_without_diffusion(void **state) {
    (void)state;
    play p = open_channel(1, 0);
    play_steps(&p, 30);
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        assert_true(p.sim->particles.temperature[i] == (p.sim->particles.group[i] == 0 ? 80 : 0));
    play_close(&p);
}

/* ---- Buoyancy -------------------------------------------------------------------------------- */

/* The acceleration over g of a cylinder of smoke as dense as the air around it, made lighter by heat. */
static double rise(const char *coupling, double lightness) {
    const double R = 0.1, g = 9.81, from = 0.15 * sqrt(R / g), to = 0.5 * sqrt(R / g);
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ndomain: {size: [1, 1], dx: 0.0125}\n"
        "solver: {integrator: aflip}\n"
        "materials: {smoke: {model: liquid, density: 1, bulk_modulus: 1000, temperature: %g, "
        "expansion: 0.005}, air: {model: liquid, density: 1, bulk_modulus: 1000, expansion: "
        "0.005}}\n%s\n"
        "bodies: [{name: smoke, material: smoke, at_rest: true, shape: {sphere: {center: [0.5, "
        "0.4], radius: %g}}}, {material: air, at_rest: true, sampling: regular, shape: {box: {min: "
        "[0, 0], max: [1, 0.9]}}}]\n"
        "probes: [{name: at, center_of_mass: {of: smoke}}]\n",
        lightness / 0.005, coupling, R);
    const double a = play_acceleration(&p, "at_y", from, to);
    play_close(&p);
    return a / g;
}

/* Ca of a cylinder in a tank 10 R wide is that of test_phases.c: 0.319 = (1 - q) / (q + Ca) with q
 * = 1/2. */
static void hot_air_rises(void **state) {
    (void)state;
    if (WATCHED) skip();
    const double Ca = 0.5 / 0.319 - 0.5, exact = 0.5 / (1 + Ca);
    const double apart = rise("coupling: immiscible", 0.5),
                 cold = rise("coupling: immiscible", 0.0);
    print_message("hot cylinder: %.3f g (exact %.3f), cold %.3f g\n", apart, exact, cold);
    CHECK_BELOW(fabs(apart / exact - 1), 0.15);
    CHECK_BELOW(fabs(cold), 0.01); /* negative control */
}

/* ---- Runs ------------------------------------------------------------------------------------ */

static uint64_t hash_of(int threads, bool stops) {
    return play_hash(open_channel(threads, 0.01), 21, stops);
}

static void threads_and_stops_do_not_show(void **state) {
    (void)state;
    const uint64_t hash = hash_of(1, false);
    for (int threads = 2; threads <= 8; threads *= 2) assert_true(hash_of(threads, false) == hash);
    assert_true(hash_of(2, true) == hash);
}

static void others_refuse_it(void **state) {
    (void)state;
    play_refused("'water' has a temperature, which flip does not know; leave it out, or use "
                 "solver.type mpm",
                 "spate: 1\ndimension: 2\nduration: 1\nfps: 1\ndomain: {size: [1, 1], dx: 0.1}\n"
                 "solver: {type: flip}\nmaterials: {water: {model: liquid, temperature: 9}}\n"
                 "bodies: [{material: water, shape: {box: {min: [0, 0], max: [1, 0.5]}}}]\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heat_spreads_as_erfc), cmocka_unit_test(heat_stays_without_diffusion),
        cmocka_unit_test(hot_air_rises),        cmocka_unit_test(threads_and_stops_do_not_show),
        cmocka_unit_test(others_refuse_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
