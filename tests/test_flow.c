/* Bodies that start with a list of motions: what particles and faces get of it, and the elliptical
 * drop. */
#include "physics.h"

#include "scene/flow.h"

#define MOTIONS                                                                                    \
    "velocity: [0.25, 0%s], spin: %s, flow: [{translate: [1, 0%s]}, {rotate: %s, center: [0.5, "   \
    "0.5%s]}, "                                                                                    \
    "{strain: [-2, 2%s], center: [0, 0.25%s]}, {shear: 4, along: x, across: y}, {vortices: [0.5, " \
    "2]}]"

static play open_motions(const char *solver, int dim) {
    const char *zero = dim == 3 ? ", 0" : "", *one = dim == 3 ? ", 1" : "",
               *half = dim == 3 ? ", 0.5" : "";
    return play_open(1,
                     "spate: 1\ndimension: %d\ngravity: [0, 0%s]\nsolver: %s\n"
                     "domain: {size: [1, 1%s], dx: 0.125}\n"
                     "materials: {water: {model: liquid}}\n"
                     "bodies: [{material: water, sampling: regular, shape: {box: {min: [0.25, "
                     "0.25%s], max: [0.75, "
                     "0.5%s]}}, " MOTIONS "}]\n",
                     dim, zero, solver, one, dim == 3 ? ", 0.25" : "", half, zero,
                     dim == 3 ? "[0, 0, 0.5]" : "0.5", zero, dim == 3 ? "[0, 0, 3]" : "3", half,
                     zero, zero);
}

/* Worked out by hand. With slopes[a][k] = dv_k/dx_a. */
static void expected(const double x[3], double v[3], double slopes[3][3]) {
    const double k = 3.14159265358979323846, U = 0.5;
    const double sx = sin(k * x[0]), cx = cos(k * x[0]), sy = sin(k * x[1]), cy = cos(k * x[1]);
    memset(slopes, 0, 9 * sizeof(double));
    v[0] = 0.25 - 0.5 * (x[1] - 0.375) + 1 - 3 * (x[1] - 0.5) - 2 * x[0] + 4 * (x[1] - 0.375) +
           U * sx * cy;
    v[1] = 0.5 * (x[0] - 0.5) + 3 * (x[0] - 0.5) + 2 * (x[1] - 0.25) - U * cx * sy;
    v[2] = 0;
    slopes[0][0] = -2 + U * k * cx * cy, slopes[0][1] = 3.5 + U * k * sx * sy;
    slopes[1][0] = 0.5 - U * k * sx * sy, slopes[1][1] = 2 - U * k * cx * cy;
}

static void test_records(void **state) {
    (void)state;
    static const struct {
        const char *solver;
        bool slopes;
    } cases[] = {
        {"{type: mpm, integrator: apic}", true}, {"{type: sph}", false}, {"{type: flip}", false}};
    for (int c = 0; c < 6; c++) {
        const int dim = 2 + c % 2;
        play p = open_motions(cases[c / 2].solver, dim);
        EACH_PARTICLE(p.sim, block, i) {
            double x[3], v[3], slopes[3][3];
            const real *record = p.sim->particles.velocity[i];
            const real4 *affine_part = p.sim->particles.affine ? p.sim->particles.affine[i] : NULL;
            simulation_position(p.sim, block, i, x);
            expected(x, v, slopes);
            for (int a = 0; a < dim; a++) CHECK_BELOW(fabs((double)record[a] - v[a]), 1e-5);
            for (int a = 0; a < dim && cases[c / 2].slopes; a++)
                for (int k = 0; k < dim; k++)
                    CHECK_BELOW(fabs((double)affine_part[a][k] - 0.125 * slopes[a][k]), 1e-5);
        }
        play_close(&p);
    }
}

static void test_gas(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\ngravity: [0, 0]\nsolver: {type: smoke}\n"
                     "domain: {size: [1, 1], dx: 0.0625, walls: open}\nmaterials: {gas: {model: "
                     "gas, density: 1}}\n"
                     "bodies: [{material: gas, shape: {box: {min: [-1, -1], max: [2, 2]}}, flow: "
                     "[{strain: [-1, 1], "
                     "center: [0.4, 0.4]}]}]\nprobes: [{name: v, velocity: {at: [0.7, 0.6]}}]\n");
    assert_float_equal(play_quantity(&p, "v_x"), -0.3, 0.02);
    assert_float_equal(play_quantity(&p, "v_y"), 0.2, 0.02);
    play_close(&p);
}

/* A free drop with v = (-A x, A y) stays an ellipse of semi-axes a and b, a b constant, and
 * da/dt = -A a, dA/dt = A^2 (a^2 - b^2) / (a^2 + b^2) (Monaghan 1994). */
static void test_elliptical_drop(void **state) {
    (void)state;
    const double r = 0.25, end = 0.3;
    double a = r, A = 2;
    for (int n = 0; n < 10000; n++) {
        const double b = r * r / a, h = end / 10000;
        A += h * A * A * (a * a - b * b) / (a * a + b * b);
        a -= h * A * a;
    }
    for (int k = 0; k < 2; k++) { /* the same, of the other sign: a negative control */
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\ngravity: [0, 0]\nsolver: {type: flip, transfer: apic}\n"
            "domain: {size: [2, 2], dx: 0.03125, walls: open}\nmaterials: {water: {model: "
            "liquid}}\n"
            "bodies: [{material: water, shape: {sphere: {center: [1, 1], radius: 0.25}}, flow: "
            "[{strain: "
            "[%g, %g]}]}]\nprobes: [{name: x, extent: {axis: x, side: max}}, {name: y, extent: "
            "{axis: y, "
            "side: max}}]\n",
            k ? 2.0 : -2.0, k ? -2.0 : 2.0);
        play_until(&p, end);
        const double off = fabs((play_quantity(&p, "y") - 1) / (r * r / a) - 1);
        if (k)
            CHECK_ABOVE(off, 0.3);
        else
            CHECK_BELOW(off, 0.03);
        if (!k) CHECK_BELOW(fabs((play_quantity(&p, "x") - 1) / a - 1), 0.05);
        play_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_gas),
        cmocka_unit_test(test_elliptical_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
