/*
 * FLIP and what stands in its way: a flow that hits thin walls hard stays before them, colliders
 * that move sweep it along and hold none of it, and a tank that is full to its lid stays full.
 */
#include "physics.h"

#include "core/vec.h"
#include "solver/flip/flip.h"

#include <unistd.h>

/* Particles beyond the line a x + b y = c. */
static int64_t beyond(const play *p, double a, double b, double c) {
    int64_t count = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        count += a * x[0] + b * x[1] > c;
    }
    return count;
}

/* A column that falls towards the right, with something in its way, at long steps. */
static play open_dam(const char *options, const char *colliders) {
    return play_open(2,
                     "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, -9.81]\n"
                     "domain: {size: [1.5, 1], dx: 0.03125}\nsolver: {type: flip, %s}\n"
                     "materials: {w: {model: liquid}}\n"
                     "bodies: [{material: w, sampling: regular, velocity: [2, 0], shape: {box: "
                     "{min: [0, 0], max: [0.5, "
                     "0.8]}}}]\n%s",
                     options, colliders);
}

/* Plays it; nothing comes into a collider or past the line. */
static void assert_held(play *p, double until, double a, double b, double c) {
    for (int n = 1; n <= 10; n++) {
        play_until(p, until * n / 10);
        assert_int_equal(beyond(p, a, b, c), 0);
        assert_true(play_quantity(p, "penetration_count") == 0);
    }
    assert_true(play_quantity(p, "stuck") == 0);
    assert_int_equal(p->sim->removed, 0);
}

static void thin_walls_hold(void **state) {
    (void)state;
    static const char *const options[] = {"cfl: 5", "cfl: 5, solids: voxels",
                                          "cfl: 5, transfer: apic"};
    static const double thickness[] = {1, 0.5};
    for (int k = 0; k < (WATCHED ? 1 : COUNT_OF(options)); k++)
        for (int t = 0; t < COUNT_OF(thickness); t++) {
            char board[256];
            snprintf(board, sizeof board,
                     "colliders: [{shape: {box: {min: [0.99, -1], max: [%g, 2]}}}]\n",
                     0.99 + thickness[t] / 32);
            play p = open_dam(options[k], board);
            int64_t count = p.sim->particles.count;
            assert_held(&p, 1, 1, 0, 0.99);
            assert_int_equal(p.sim->particles.count, count);
            play_close(&p);
        }
    play p = open_dam("cfl: 5", "");
    play_until(&p, 1);
    assert_true(beyond(&p, 1, 0, 1.01) > 100); /* negative control */
    play_close(&p);
}

/* The same wall turned by 30 degrees about (0.8, 0). */
static void slanted_wall_holds(void **state) {
    (void)state;
    for (int voxels = 0; voxels < 2; voxels++) {
        play p = open_dam(voxels ? "cfl: 5, solids: voxels" : "cfl: 5",
                          "colliders: [{shape: {box: {min: [0, -2], max: [0.02, 2]}, rotate: -30, "
                          "translate: [0.8, 0]}}]\n");
        double slope = 30 * M_PI / 180;
        assert_held(&p, 1, cos(slope), -sin(slope), 0.8 * cos(slope));
        play_close(&p);
    }
}

/* A thin board as a mesh, in 3D. */
static void mesh_holds(void **state) {
    (void)state;
    char folder[] = "/tmp/spate_walls_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/board.obj", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int n = 0; n < 8; n++)
        fprintf(file, "v %g %g %g\n", n & 4 ? 0.55 : 0.5, n & 2 ? 2.0 : -1.0, n & 1 ? 2.0 : -1.0);
    fprintf(file, "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n");
    fclose(file);
    static const char yaml[] =
        "spate: 1\nduration: 10\nfps: 1\n"
        "domain: {size: [1, 0.6, 0.4], dx: 0.05}\nsolver: {type: flip, cfl: 5}\n"
        "materials: {w: {model: liquid}}\n"
        "bodies: [{material: w, velocity: [2, 0, 0], shape: {box: {min: [0, 0, 0], max: [0.3, 0.5, "
        "0.4]}}}]\ncolliders: [{shape: {mesh: {file: board.obj}}}]\n";
    play p = {0};
    assert_int_equal(spate_open(NULL, &p.ctx), SPATE_OK);
    if (spate_scene_parse(p.ctx, yaml, strlen(yaml), "test", folder, NULL, 0, &p.scene) ||
        spate_simulation_create(p.scene, &p.sim))
        fail_msg("%s", spate_message(p.ctx));
    unlink(path), rmdir(folder);
    assert_held(&p, 0.6, 1, 0, 0.5);
    assert_true(beyond(&p, 1, 0, 0.4) > 100); /* it has come to the board */
    play_close(&p);
}

/* ---- Colliders that move --------------------------------------------------------------------- */

static void moving_colliders_hold_nothing(void **state) {
    (void)state;
    static const char *const colliders[] = {
        /* a piston at 1.5 m/s, and back */
        "{shape: {box: {min: [-1, -1], max: [0.1, 2]}}, motion: {keys: [{t: 0, translate: [0, 0]}, "
        "{t: 0.4, translate: [0.6, 0]}, {t: 0.8, translate: [0, 0]}]}}",
        /* a paddle, a turn a second */
        "{shape: {box: {min: [0.4, 0.28], max: [0.9, 0.32]}}, motion: {pivot: [0.65, 0.3], keys: "
        "[{t: 0, rotate: 0}, {t: 1, rotate: 360}]}}",
        /* a ball that falls into the liquid */
        "{shape: {sphere: {center: [0.75, 0.8], radius: 0.15}}, motion: {keys: [{t: 0, translate: "
        "[0, 0]}, {t: 0.3, translate: [0, -0.5]}]}}",
    };
    static const char *const options[] = {"cfl: 3", "cfl: 3, solids: voxels"};
    for (int k = 0; k < COUNT_OF(colliders); k++)
        for (int o = 0; o < (WATCHED ? 1 : COUNT_OF(options)); o++) {
            play p =
                play_open(2,
                          "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                          "domain: {size: [1.5, 1], dx: 0.03125}\nsolver: {type: flip, %s}\n"
                          "materials: {w: {model: liquid}}\n"
                          "bodies: [{material: w, shape: {box: {min: [0, 0], max: [1.5, 0.4]}}}]\n"
                          "colliders: [%s]\n",
                          options[o], colliders[k]);
            int64_t count = p.sim->particles.count;
            double fastest = 0;
            for (int n = 1; n <= 16; n++) {
                play_until(&p, 0.05 * n);
                if (play_quantity(&p, "penetration_count") > 0)
                    fail_msg("collider %d, %s, t = %g: %g inside, %g deep", k, options[o],
                             p.sim->time, play_quantity(&p, "penetration_count"),
                             play_quantity(&p, "penetration_max"));
                fastest = fmax(fastest, play_quantity(&p, "max_speed"));
            }
            print_message("moving collider %d, %s: fastest %.3g m/s, stuck %g, not converged %g\n",
                          k, options[o], fastest, play_quantity(&p, "stuck"),
                          play_quantity(&p, "not_converged"));
            assert_true(play_quantity(&p, "stuck") == 0);
            assert_int_equal(p.sim->particles.count, count);
            CHECK_ABOVE(fastest, 0.5); /* it was moved */
            CHECK_BELOW(fastest, 20);
            play_close(&p);
        }
}

/* ---- A closed tank --------------------------------------------------------------------------- */

/* Full to the lid: the pressure is known but for a constant. At rest without the paddle; stirred by
 * it, no faster than its tips (0.15 m at a turn a second) by far. */
static void full_tank(void **state) {
    (void)state;
    for (int stirred = 0; stirred < 2; stirred++) {
        play p = play_open(
            2,
            "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
            "domain: {size: [0.5, 0.5], dx: 0.015625}\nsolver: {type: flip}\n"
            "materials: {w: {model: liquid}}\n"
            "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.5, 0.5]}}}]\n%s",
            stirred ? "colliders: [{shape: {box: {min: [0.1, 0.22], max: [0.4, 0.28]}}, motion: "
                      "{pivot: [0.25, 0.25], keys: [{t: 0, rotate: 0}, {t: 1, rotate: 360}]}}]\n"
                    : "");
        int64_t count = p.sim->particles.count;
        play_until(&p, 0.5);
        double fastest = play_quantity(&p, "max_speed");
        print_message("full tank%s: fastest %.3g m/s, volume off by %.3g\n",
                      stirred ? ", stirred" : "", fastest, play_quantity(&p, "volume_drift"));
        assert_true(play_quantity(&p, "not_converged") == 0);
        assert_true(play_quantity(&p, "penetration_count") == 0);
        assert_int_equal(p.sim->particles.count, count);
        CHECK_BELOW(play_quantity(&p, "residual"), 1.0001e-6);
        CHECK_BELOW(fabs(play_quantity(&p, "volume_drift")), 0.05);
        CHECK_BELOW(fastest, stirred ? 3 * 0.15 * 2 * M_PI : 1e-4);
        if (stirred) CHECK_ABOVE(fastest, 0.15 * M_PI); /* it does move */
        play_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_walls_hold), cmocka_unit_test(slanted_wall_holds),
        cmocka_unit_test(mesh_holds),      cmocka_unit_test(moving_colliders_hold_nothing),
        cmocka_unit_test(full_tank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
