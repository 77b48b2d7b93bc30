/*
 * SPH where something is unusual: nozzles with lists that are kept, no particles at all, belts
 * longer than a periodic axis, particles that leave while lists are kept, much artificial
 * viscosity, absurd speeds.
 */
#include "physics.h"

#include "solver/sph/sph.h"

/* ---- Nozzles --------------------------------------------------------------------------------- */

static play open_nozzle(int dim, const char *solver, int threads) {
    return play_open(
        threads,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 100\n"
        "domain: {size: %s, dx: 0.05}\nsolver: {type: sph, %s}\n"
        "materials: {w: {model: liquid, bulk_modulus: 2.0e4}}\n"
        "sources: [{material: w, velocity: %s, shape: {box: {min: %s, max: %s}}}]\n"
        "colliders: [{name: side, shape: {box: {min: %s, max: %s}}}]\n",
        dim, dim == 2 ? "[0.6, 0.6]" : "[0.6, 0.6, 0.6]", solver,
        dim == 2 ? "[0.3, -1]" : "[0.3, 0, -1]", dim == 2 ? "[0.12, 0.12]" : "[0.12, 0.12, 0.12]",
        dim == 2 ? "[0.42, 0.42]" : "[0.42, 0.42, 0.42]", dim == 2 ? "[0.45, 0]" : "[0.45, 0, 0]",
        dim == 2 ? "[0.55, 0.6]" : "[0.55, 0.6, 0.6]");
}

/* What a nozzle holds is in lists, too, and they are made again after a stop. */
static void nozzles_resume(void **state) {
    (void)state;
    static const char *const solvers[] = {"skin: 0.5", "pressure: dfsph, skin: 0.5"};
    enum { STEPS = 40 };
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
        for (int n = 0; n < COUNT_OF(solvers); n++) {
            play whole = open_nozzle(dim, solvers[n], 1);
            play_steps(&whole, STEPS);
            for (int stop = 7; stop <= 25; stop += 9) {
                play first = open_nozzle(dim, solvers[n], 2);
                play again = open_nozzle(dim, solvers[n], 3);
                play_steps(&first, stop);
                play_go_on(&first, &again);
                play_steps(&again, STEPS - stop);
                assert_true(spate_simulation_hash(again.sim) == spate_simulation_hash(whole.sim));
                play_close(&first);
                play_close(&again);
            }
            CHECK_ABOVE(play_quantity(&whole, "particles"), 50);
            if (n == 0) CHECK_BELOW(play_quantity(&whole, "lists"), STEPS); /* some were kept */
            play_close(&whole);
        }
}

static play open_pool(void) {
    return play_open(1, "spate: 1\ndimension: 2\nduration: 10\nfps: 100\n"
                        "domain: {size: [0.6, 0.6], dx: 0.05}\nsolver: {type: sph, skin: 1}\n"
                        "materials: {w: {model: liquid, bulk_modulus: 2.0e4}}\n"
                        "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.6, 0.3]}}}]\n");
}

/* References that no sort can have left are refused, not searched. */
static void damaged_references_are_told(void **state) {
    (void)state;
    static const double wrong[] = {-1, 4, 1e30, NAN, 0};
    for (int n = 0; n < COUNT_OF(wrong); n++) {
        play first = open_pool(), again = open_pool();
        play_steps(&first, 3); /* the lists of the first still serve */
        const particles *p = &first.sim->particles;
        for (int a = 0; a < 2; a++)
            PLANE(p, reference, a)[p->count - 1] = (real)wrong[n]; /* the last of its block */
        play_go_on(&first, &again);
        assert_int_equal(spate_simulation_step(again.sim, 1), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(again.ctx), "reference"));
        play_close(&first);
        play_close(&again);
    }
}

static void nozzles_push_on_colliders(void **state) {
    (void)state;
    static const char *const methods[] = {"pressure: wcsph", "pressure: dfsph"};
    for (int n = 0; n < 2; n++) {
        play p = open_nozzle(2, methods[n], 1);
        play_until(&p, 0.05);
        double force[3], torque[3];
        p.sim->type->force(p.sim, 0, force, torque);
        print_message("%s: %.3g N on the side\n", methods[n], force[0]);
        CHECK_ABOVE(force[0], 0);
        play_close(&p);
    }
}

/* ---- Nothing there --------------------------------------------------------------------------- */

static void no_particles_are_no_error(void **state) {
    (void)state;
    static const char *const methods[] = {"wcsph", "dfsph", "iisph"};
    for (int n = 0; n < 3; n++) {
        play p =
            play_open(1,
                      "spate: 1\ndimension: 2\nduration: 10\nfps: 20\n"
                      "domain: {size: [1, 1], dx: 0.05, walls: open}\n"
                      "solver: {type: sph, pressure: %s}\n"
                      "materials: {w: {model: liquid, bulk_modulus: 2.0e4}}\n"
                      "sources: [{material: w, velocity: [0, -1], from: 0.3, until: 0.4, shape: "
                      "{box: {min: [0.4, 0.3], max: [0.6, 0.4]}}}]\n",
                      methods[n]);
        play_until(&p, 0.2);
        assert_int_equal(p.sim->particles.count, 0);
        play_until(&p, 0.4);
        CHECK_ABOVE((double)p.sim->particles.count, 10);
        play_until(&p, 2);
        CHECK_BELOW(play_quantity(&p, "particles"), 1);
        play_close(&p);
    }
}

/* ---- Belts ----------------------------------------------------------------------------------- */

/* Liquid on a collider longer than the periodic axis: the largest speed, and the walls' points. */
static double on_a_belt(const char *keys, double *points) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 20\n"
                       "domain: {size: [1, 1], dx: 0.05, walls: [periodic, periodic, separate, "
                       "separate]}\nsolver: {type: sph}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 2.0e5, viscosity: 1}}\n"
                       "bodies: [{material: w, shape: {box: {min: [0, 0.2], max: [1, 0.4]}}}]\n"
                       "colliders: [{contact: sticky, shape: {box: {min: [-10, -1], max: [10, "
                       "0.2]}}%s}]\n",
                       keys);
    double fastest = 0;
    while (p.sim->time < 0.1) {
        play_steps(&p, 1);
        fastest = fmax(fastest, p.sim->max_speed);
    }
    *points = play_quantity(&p, "wall_particles");
    play_close(&p);
    return fastest;
}

static void belts_go_round(void **state) {
    (void)state;
    double still_points, moving_points;
    const double still = on_a_belt("", &still_points);
    const double moving =
        on_a_belt(", motion: {keys: [{t: 0, translate: [0, 0]}, {t: 10, translate: [1, 0]}]}",
                  &moving_points);
    assert_true(still_points == moving_points);
    CHECK_BELOW(moving, still + 0.2); /* it moves at 0.1 m/s */
}

/* ---- Leaving while lists are kept ------------------------------------------------------------ */

static void what_left_is_counted_once(void **state) {
    (void)state;
    static const char *const skins[] = {"", ", skin: 2"};
    for (int n = 0; n < 2; n++) {
        play p = play_open(1,
                           "spate: 1\ndimension: 2\nduration: 10\nfps: 20\ngravity: [0, 0]\n"
                           "domain: {size: [2, 1], dx: 0.05, walls: open}\n"
                           "solver: {type: sph, support: 1.3%s}\n"
                           "materials: {w: {model: liquid, bulk_modulus: 200}}\n"
                           "bodies: [{material: w, particles_per_cell: 0.7, velocity: [1.3, 0], "
                           "shape: {box: {min: [1, 0.2], max: [2, 0.8]}}}]\n",
                           skins[n]);
        const double before = play_quantity(&p, "particles");
        play_until(&p, 0.5);
        const double removed = play_quantity(&p, "removed");
        CHECK_ABOVE(removed, 20);
        assert_true(removed + play_quantity(&p, "particles") == before);
        play_close(&p);
    }
}

/* ---- Damping and speed ----------------------------------------------------------------------- */

static void artificial_viscosity_gains_nothing(void **state) {
    (void)state;
    static const char *const solvers[] = {"artificial_viscosity: 5",
                                          "pressure: dfsph, artificial_viscosity: 1"};
    for (int n = 0; n < 2; n++) {
        play p =
            play_open(2,
                      "spate: 1\ndimension: 2\nduration: 10\nfps: 20\n"
                      "domain: {size: [1, 1], dx: 0.1}\nsolver: {type: sph, %s}\n"
                      "materials: {w: {model: liquid, bulk_modulus: 2.0e5}}\n"
                      "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.4]}}}]\n",
                      solvers[n]);
        const double before = play_quantity(&p, "potential_energy");
        double most = 0;
        for (int k = 1; k <= (WATCHED ? 2 : 10); k++) {
            play_until(&p, 0.03 * k);
            most = fmax(most, play_quantity(&p, "kinetic_energy") +
                                  play_quantity(&p, "potential_energy"));
        }
        CHECK_BELOW(most / before, 1.001);
        play_close(&p);
    }
}

static void absurd_speeds_end_at_once(void **state) {
    (void)state;
    play p = play_open(1, "spate: 1\ndimension: 2\nduration: 10\nfps: 20\ngravity: [0, 0]\n"
                          "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph, dt: 0.02}\n"
                          "materials: {w: {model: liquid}}\n"
                          "bodies: [{material: w, velocity: [1.0e9, 0], shape: {points: [[0.1, "
                          "0.3]]}}]\n"
                          "colliders: [{shape: {plane: {point: [0, 0.1], normal: [0, 1]}}}]\n");
    assert_int_equal(spate_simulation_step(p.sim, 1), SPATE_UNSTABLE);
    assert_non_null(strstr(spate_message(p.ctx), "solver.dt"));
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nozzles_resume),
        cmocka_unit_test(damaged_references_are_told),
        cmocka_unit_test(nozzles_push_on_colliders),
        cmocka_unit_test(no_particles_are_no_error),
        cmocka_unit_test(belts_go_round),
        cmocka_unit_test(what_left_is_counted_once),
        cmocka_unit_test(artificial_viscosity_gains_nothing),
        cmocka_unit_test(absurd_speeds_end_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
