/* Colliders that come and go: a dam behind a gate, a ball that appears, in all solvers; resumed or
 * not. */
#include "physics.h"

#include "pictures/trace/stage.h"

#define GATE                                                                                    \
    "spate: 1\ndimension: 2\ndomain: {size: [1, 0.5], dx: 0.025}\ngravity: [0, -10]\nfps: 20\n" \
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1e5}}\n"                   \
    "bodies: [{material: water, sampling: regular, shape: {box: {min: [0, 0], max: [0.3, "      \
    "0.3]}}}]\n"                                                                                \
    "colliders: [{name: gate, %s shape: {box: {min: [0.3, -0.1], max: [0.4, 0.6]}}}]\n"         \
    "probes: [{name: front, extent: {axis: x, side: max}}]\n"                                   \
    "solver: {type: %s}\n"

/* The gate opens at a time that no step would end at: the water then goes as that which was never
 * held, and the gate carries rho g h^2 / 2 before and nothing after. */
static void test_dam_with_a_gate(void **state) {
    (void)state;
    const double open = 0.0437;
    char until[64];
    snprintf(until, sizeof until, "until: %g,", open);
    const char *flip = "flip, volume_correction: 0";
    play held = play_open(1, GATE, until, flip), free = play_open(1, GATE, "until: 1e-9,", flip);
    play_until(&held, open);
    assert_true(held.sim->time == open);
    CHECK_BELOW(fabs(play_quantity(&held, "gate_force_x") / 450 - 1), 0.01);
    assert_float_equal(play_quantity(&held, "front"), 0.3, 1e-5);
    play_until(&held, open + 0.15);
    play_until(&free, 0.15);
    CHECK_ABOVE(play_quantity(&free, "front"), 0.45);
    assert_float_equal(play_quantity(&held, "front"), play_quantity(&free, "front"), 0.005);
    play_until(&held, 0.25); /* a frame without the gate */
    assert_float_equal(play_quantity(&held, "gate_force_x"), 0, 0);
    play_close(&held), play_close(&free);
}

/* Steps end where the gate opens, also fixed ones that would pass over it. */
static void test_steps_land(void **state) {
    (void)state;
    play p = play_open(1, GATE, "until: 0.0437,", "flip, dt: 0.01");
    bool landed = false;
    while (p.sim->time < 0.06) {
        play_steps(&p, 1);
        landed |= p.sim->time == 0.0437 && strcmp(p.sim->dt_limit, "collider") == 0;
    }
    assert_true(landed);
    play_close(&p);
}

static void test_every_solver_lets_go(void **state) {
    (void)state;
    static const char *const solvers[] = {"mpm", "sph", "sph, pressure: wcsph"};
    for (int k = 0; k < COUNT_OF(solvers); k++) {
        play held = play_open(1, GATE, "until: 0.05,", solvers[k]),
             shut = play_open(1, GATE, "", solvers[k]);
        play_until(&held, 0.05);
        CHECK_BELOW(play_quantity(&held, "front"), 0.32);
        play_until(&held, 0.15), play_until(&shut, 0.15);
        CHECK_ABOVE(play_quantity(&held, "front"), 0.35);
        CHECK_BELOW(play_quantity(&shut, "front"), 0.32); /* negative control */
        play_close(&held), play_close(&shut);
    }
}

/* Saved before the gate opens, at that very time and after; bit by bit the same afterwards. */
static void test_resumed(void **state) {
    (void)state;
    static const char *const solvers[] = {"mpm", "flip", "sph"};
    const double times[] = {0.02, 0.03, 0.04};
    for (int k = 0; k < COUNT_OF(solvers); k++) {
        play whole = play_open(2, GATE, "from: 0.03, until: 0.05,", solvers[k]);
        for (int n = 0; n < 3; n++) play_until(&whole, times[n]);
        play_until(&whole, 0.06);
        const uint64_t hash = spate_simulation_hash(whole.sim);
        for (int stop = 0; stop < 3; stop++) {
            play p = play_open(1, GATE, "from: 0.03, until: 0.05,", solvers[k]);
            for (int n = 0; n < 3; n++) {
                play_until(&p, times[n]);
                if (n == stop) play_go_on(&p, &p);
            }
            play_until(&p, 0.06);
            assert_true(spate_simulation_hash(p.sim) == hash);
            play_close(&p);
        }
        play_close(&whole);
    }
}

/* A ball that appears in water: flip pushes the water out, sph takes it away and tells so, mpm
 * leaves it and counts it; nothing is thrown about. */
static void test_appears_in_water(void **state) {
    (void)state;
    static const char *const solvers[] = {"flip", "sph", "mpm"};
    for (int k = 0; k < COUNT_OF(solvers); k++) {
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\ndomain: {size: [0.5, 0.5], dx: 0.025}\ngravity: [0, -10]\n"
            "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1e5}}\n"
            "bodies: [{material: water, shape: {box: {min: [0, 0], max: [0.5, 0.3]}}}]\n"
            "colliders: [{name: ball, from: 0.05, shape: {sphere: {center: [0.25, 0.15], radius: "
            "0.06}}}]\n"
            "solver: {type: %s}\n",
            solvers[k]);
        const double before = play_quantity(&p, "particles"), mass = play_quantity(&p, "mass");
        play_until(&p, 0.05);
        assert_float_equal(play_quantity(&p, "particles"), before, 0);
        play_until(&p, 0.1);
        const double inside = play_quantity(&p, "penetration_count"),
                     left = play_quantity(&p, "particles");
        if (k == 2)
            CHECK_ABOVE(inside, 0);
        else
            assert_float_equal(inside, 0, 0);
        if (k == 1) {
            CHECK_BELOW(left, before);
            assert_float_equal(play_quantity(&p, "drained"), before - left, 0);
        } else
            assert_float_equal(left, before, 0);
        CHECK_BELOW(play_quantity(&p, "kinetic_energy"), 0.05 * mass * 10 * 0.15);
        play_close(&p);
    }
}

/* Gas is held under a lid, and moves where that was when it is gone. */
static void test_gas_under_a_lid(void **state) {
    (void)state;
    const char *scene =
        "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\ngravity: [0, 0]\n"
        "solver: {type: smoke}\nmaterials: {gas: {model: gas, density: 1}}\n"
        "bodies: [{material: gas, velocity: [0, 1], shape: {sphere: {center: [0.5, 0.25], radius: "
        "0.15}}}]\n"
        "colliders: [{name: lid, until: 0.1, shape: {box: {min: [-1, 0.5], max: [2, 0.7]}}}]\n"
        "probes: [{name: v, velocity: {at: [0.5, 0.6]}}, {name: w, velocity: {at: [0.5, 0.8]}}]\n";
    play whole = play_open(2, "%s", scene), again = play_open(1, "%s", scene);
    play_until(&whole, 0.1), play_until(&again, 0.1);
    CHECK_BELOW(fabs(play_quantity(&whole, "w_y")), 1e-3);
    play_go_on(&again, &again);
    play_until(&whole, 0.2), play_until(&again, 0.2);
    CHECK_ABOVE(fabs(play_quantity(&whole, "v_y")), 0.02);
    assert_true(spate_simulation_hash(whole.sim) == spate_simulation_hash(again.sim));
    play_close(&whole), play_close(&again);
}

/* Pictures show what is there: from its first moment, and not at its last. */
static void test_pictures(void **state) {
    (void)state;
    play p = play_open(1, "spate: 1\ndimension: 3\ndomain: {size: [1, 1, 1], dx: 0.25}\n"
                          "materials: {water: {model: liquid}}\nbodies: [{material: water, shape: "
                          "{points: [[0.5, 0.5, 0.5]]}}]\n"
                          "colliders: [{from: 1, until: 2, shape: {sphere: {center: [0.2, 0.2, "
                          "0.2], radius: 0.1}}}]\n");
    const double times[] = {0, 1, 1.5, 2};
    for (int k = 0; k < 4; k++) {
        stage s;
        assert_int_equal(stage_create(p.scene, times[k], &s), SPATE_OK);
        assert_int_equal(s.collider_count, k == 1 || k == 2);
        stage_free(&s);
    }
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_land),
        cmocka_unit_test(test_dam_with_a_gate),
        cmocka_unit_test(test_every_solver_lets_go),
        cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_appears_in_water),
        cmocka_unit_test(test_gas_under_a_lid),
        cmocka_unit_test(test_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
