/* Taylor-Green vortices at the start: their formula, and what particles get of it. */
#include "physics.h"

#include "scene/vortices.h"

static const double two_pi = 6.28318530717958647692;

static play open_vortices(const char *solver, int dim) {
    return play_open(
        1,
        "spate: 1\ndimension: %d\ngravity: [0, 0%s]\nsolver: %s\n"
        "domain: {origin: [1, -2%s], size: [1, 1%s], dx: 0.0625, walls: periodic}\n"
        "materials: {water: {model: liquid, bulk_modulus: 1e5}}\n"
        "bodies: [{material: water, sampling: regular, vortices: [2, 0.5], velocity: [0.25, 0%s],\n"
        "          shape: {box: {min: [1, -2%s], max: [2, -1%s]}}}]\n",
        dim, dim == 3 ? ", 0" : "", solver, dim == 3 ? ", 0" : "", dim == 3 ? ", 1" : "",
        dim == 3 ? ", 0" : "", dim == 3 ? ", 0" : "", dim == 3 ? ", 1" : "");
}

static void test_slopes(void **state) {
    (void)state;
    play p = open_vortices("{}", 2);
    const body *b = &p.scene->bodies[0];
    const double h = 1e-5, x[3] = {1.137, -1.71, 0.4};
    double v[3], slopes[3][3], before[3], after[3], most = 0;
    vortices_velocity(p.scene, b, x, v, slopes);
    CHECK_BELOW(fabs(v[0] - 2 * sin(two_pi * 0.137 / 0.5) * cos(two_pi * 0.29 / 0.5)), 1e-12);
    CHECK_BELOW(fabs(v[1] + 2 * cos(two_pi * 0.137 / 0.5) * sin(two_pi * 0.29 / 0.5)), 1e-12);
    assert_float_equal(v[2], 0, 0);
    for (int a = 0; a < 3; a++) {
        double y[3] = {x[0], x[1], x[2]};
        y[a] = x[a] - h;
        vortices_velocity(p.scene, b, y, before, NULL);
        y[a] = x[a] + h;
        vortices_velocity(p.scene, b, y, after, NULL);
        for (int k = 0; k < 3; k++) {
            CHECK_BELOW(fabs(slopes[a][k] - (after[k] - before[k]) / (2 * h)), 1e-6);
            most = fmax(most, fabs(slopes[a][k]));
        }
    }
    CHECK_ABOVE(most, 10);
    assert_true(slopes[0][0] + slopes[1][1] == 0);
    play_close(&p);
}

/* The motion records that a body's particles have before the first step. */
static void check_records(const char *solver, int dim, bool with_slopes) {
    play p = open_vortices(solver, dim);
    const real dx = (real)0.0625;
    double most = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], v[3], slopes[3][3];
        const real *record = p.sim->particles.velocity[i];
        const real4 *affine_part = p.sim->particles.affine ? p.sim->particles.affine[i] : NULL;
        simulation_position(p.sim, block, i, x);
        vortices_velocity(p.scene, &p.scene->bodies[0], x, v, slopes);
        v[0] += 0.25;
        for (int a = 0; a < dim; a++) {
            CHECK_BELOW(fabs((double)record[a] - v[a]), 1e-5);
            for (int k = 0; k < dim && affine_part; k++) {
                double expected = with_slopes ? (double)dx * slopes[a][k] : 0;
                CHECK_BELOW(fabs((double)affine_part[a][k] - expected), 1e-5);
                most = fmax(most, fabs(expected));
            }
        }
    }
    assert_int_equal(most > 1, with_slopes);
    /* the mean of u^2 + v^2 over whole waves is U^2 / 2, and that of 0.25 is its square */
    double mass = play_quantity(&p, "mass"), energy = play_quantity(&p, "kinetic_energy");
    CHECK_BELOW(fabs(energy / mass - (4 / 2.0 + 0.0625) / 2), 1e-5);
    CHECK_BELOW(fabs(play_quantity(&p, "momentum_x") / mass - 0.25), 1e-5);
    play_close(&p);
}

static void test_particles(void **state) {
    (void)state;
    check_records("{type: mpm}", 2, true);
    check_records("{type: mpm}", 3, true);
    check_records("{type: flip, transfer: flip}", 2, false); /* it keeps velocities alone */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slopes),
        cmocka_unit_test(test_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
