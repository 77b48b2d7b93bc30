/* Forces on colliders in flip: Archimedes, weight, and the momentum that the liquid lost, whatever
 * the frames are, however many threads there are, resumed or not. */
#include "physics.h"

#define WATER "materials: {water: {model: liquid, density: 1000, viscosity: %g}}\n"

/* A submerged ball is lifted by the weight of the water in its place, rho g V, and turned about the
 * pivot at the origin by it; a floor that the pool stands on carries the weight of all water. */
static void test_archimedes(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        const double g = 10, r = 0.27, x = 0.51;
        const char *more = dim == 3 ? ", 1" : "", *low = dim == 3 ? ", 0" : "";
        play p = play_open(
            1,
            "spate: 1\ndimension: %d\ndomain: {size: [1, 1.25%s], dx: %g}\n"
            "gravity: [0, -%g%s]\nfps: 10\nsolver: {type: flip, volume_correction: 0}\n" WATER
            "bodies:\n"
            "  - {material: water, shape: {box: {min: [0, 0%s], max: [1, 1%s]}}}\n"
            "colliders:\n"
            "  - {name: ball, shape: {sphere: {center: [%g, 0.55%s], radius: %g}}}\n"
            "  - {name: bed, shape: {plane: {point: [0, 0.13%s], normal: [0, 1%s]}}}\n",
            dim, more, dim == 2 ? 0.03125 : 0.0625, g, low, 0.0, low, more, x,
            dim == 3 ? ", 0.5" : "", r, low, low);
        const double pi = 3.14159265358979,
                     lift = 1000 * g * (dim == 2 ? pi * r * r : 4 * pi * r * r * r / 3);
        play_until(&p, 0.1);
        const double force = play_quantity(&p, "ball_force_y");
        const double weight = g * play_quantity(&p, "mass");
        CHECK_BELOW(fabs(force / lift - 1), dim == 2 ? 0.005 : 0.02);
        CHECK_BELOW(fabs(play_quantity(&p, "ball_force_x")), 0.005 * lift);
        CHECK_BELOW(
            fabs(play_quantity(&p, dim == 2 ? "ball_torque" : "ball_torque_z") / (x * lift) - 1),
            0.02);
        /* the bed carries what the ball pushes down besides */
        CHECK_BELOW(fabs(-play_quantity(&p, "bed_force_y") / (weight + lift) - 1), 0.01);
        CHECK_ABOVE(fabs(-play_quantity(&p, "bed_force_y") / weight - 1),
                    0.1); /* not its weight alone */
        play_close(&p);
    }
}

/* A ball half under water is lifted by the weight of the water in the place of that half: what the
 * surface cuts off of a face's way counts. */
static void test_half_under_water(void **state) {
    (void)state;
    const double g = 10, r = 0.27, lift = 1000 * g * 3.14159265358979 * r * r / 2;
    for (int shift = 0; shift < 2; shift++) {
        const double height = 0.53 + 0.015625 * shift; /* of the surface and the ball's middle */
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.03125}\ngravity: [0, -%g]\nfps: "
            "20\n"
            "solver: {type: flip, volume_correction: 0}\n" WATER
            "bodies: [{material: water, sampling: regular, shape: {box: {min: [0, 0], max: [1, "
            "%g]}}}]\n"
            "colliders: [{name: ball, shape: {sphere: {center: [0.5, %g], radius: %g}}}]\n",
            g, 0.0, height, height, r);
        play_until(&p, 0.05);
        print_message("half a ball: %.4f\n", play_quantity(&p, "ball_force_y") / lift);
        CHECK_BELOW(fabs(play_quantity(&p, "ball_force_y") / lift - 1), 0.004);
        play_close(&p);
    }
}

/* A drop thrown at a tilted plate: what the plate got is what the drop lost. */
static void open_drop(play *p, int threads, int fps) {
    *p = play_open(threads,
                   "spate: 1\ndimension: 2\ndomain: {size: [2, 2], dx: 0.03125, walls: open}\n"
                   "gravity: [0, 0]\nfps: %d\nsolver: {type: flip}\n" WATER "bodies:\n"
                   "  - {material: water, velocity: [2, 0], shape: {sphere: {center: [0.6, 0.9], "
                   "radius: 0.2}}}\n"
                   "colliders: [{name: plate, contact: slip, shape: {box: {min: [1.2, 0.02], max: "
                   "[1.5, 1.98]}, rotate: 25, translate: [0.3, -0.5]}}]\n",
                   fps, 0.0);
}

static void test_impact_by_frames(void **state) {
    (void)state;
    for (int frames = 2; frames <= 10; frames += 8) {
        double got[2] = {0}, until = 0;
        play p;
        open_drop(&p, 1, 5 * frames);
        const double brought = play_quantity(&p, "momentum_x");
        for (int k = 1; k <= frames; k++) {
            const double from = until;
            until = 0.2 * k / frames;
            play_until(&p, until);
            got[0] += (until - from) * play_quantity(&p, "plate_force_x");
            got[1] += (until - from) * play_quantity(&p, "plate_force_y");
        }
        const double lost[2] = {brought - play_quantity(&p, "momentum_x"),
                                -play_quantity(&p, "momentum_y")};
        CHECK_ABOVE(lost[0], 0.5 * brought);
        CHECK_BELOW(fabs(got[0] / lost[0] - 1), 0.02);
        CHECK_BELOW(fabs(got[1] / lost[1] - 1), 0.02);
        play_close(&p);
    }
}

/* Oil driven along a channel between sticky colliders, which lie across the cells: they take what
 * the driving force gives and the oil does not keep. */
static void test_drag_of_a_channel(void **state) {
    (void)state;
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\ndomain: {size: [0.5, 0.5], dx: 0.03125, walls: "
        "{x_min: periodic, x_max: periodic}}\ngravity: [1, 0]\nfps: 10\nsolver: {type: "
        "flip}\n" WATER
        "bodies: [{material: water, shape: {box: {min: [0, 0.11], max: [0.5, 0.42]}}}]\n"
        "colliders:\n"
        "  - {name: low, contact: sticky, shape: {plane: {point: [0, 0.11], normal: [0, 1]}}}\n"
        "  - {name: high, contact: sticky, shape: {plane: {point: [0, 0.42], normal: [0, -1]}}}\n",
        20.0);
    const double mass = play_quantity(&p, "mass");
    for (int k = 1; k <= 3; k++) {
        const double before = play_quantity(&p, "momentum_x"), step = 0.1;
        play_until(&p, k * step);
        const double kept = (play_quantity(&p, "momentum_x") - before) / step;
        const double drag = play_quantity(&p, "low_force_x") + play_quantity(&p, "high_force_x");
        CHECK_BELOW(fabs(drag / (mass - kept) - 1), 0.01);
        CHECK_BELOW(fabs(play_quantity(&p, "low_force_x") / drag - 0.5), 0.02);
    }
    play_close(&p);
}

/* In the midst of a frame a run is saved and goes on: the frame's mean is the same, bit by bit. */
static void test_resumed_and_threads(void **state) {
    (void)state;
    double force[3];
    for (int k = 0; k < 3; k++) {
        play p;
        open_drop(&p, k == 1 ? 3 : 1, 10);
        play_until(&p, 0.1);
        for (int n = 0; n < 3; n++) assert_int_equal(spate_simulation_step(p.sim, 0.2), SPATE_OK);
        if (k == 2) play_go_on(&p, &p);
        play_until(&p, 0.2);
        force[k] = play_quantity(&p, "plate_force_x");
        play_close(&p);
    }
    CHECK_ABOVE(force[0], 100);
    assert_true(force[0] == force[1] && force[0] == force[2]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_archimedes),          cmocka_unit_test(test_half_under_water),
        cmocka_unit_test(test_impact_by_frames),    cmocka_unit_test(test_drag_of_a_channel),
        cmocka_unit_test(test_resumed_and_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
