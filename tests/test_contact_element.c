/*
 * Contact elements on their own: forces and moments against the energy by differences, no net force
 * or torque, friction's limits, what separates or is turned inside out begins anew, and turns.
 */
#include "solver/lagrangian/contact_element.h"

#include "core/random.h"
#include "core/vec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const contact_kind kinds[] = {{2, 1}, {1, 2}, {1, 1}};
enum { KINDS = 3 };

static double radians(double degrees) { return degrees * acos(-1) / 180; }

/* Without friction's limit at 90 degrees. */
static contact_material law(double degrees) {
    return (contact_material){.normal = 3,
                              .shear = 2,
                              .bulk = 3,
                              .block = 1.2,
                              .tangent = degrees < 89 ? tan(radians(degrees)) : 1e9,
                              .sine = degrees < 89 ? sin(radians(degrees)) : 1e9};
}

/* An element pressed and sheared a little; in 2D all z are 0. */
static void press(contact_kind kind, uint64_t seed, double x[3][3], double d[2][3]) {
    const int dim = kind.tangents + kind.normals;
    const double rest[3][3] = {{0.3, 0.1, 0.2}, {1.2, 0.4, 0.1}, {0.4, 1.1, 0.5}};
    memset(x, 0, 9 * sizeof(double));
    for (int k = 0; k <= kind.tangents; k++)
        for (int a = 0; a < dim; a++)
            x[k][a] = rest[k][a] + 0.3 * (random_unit(seed, (uint64_t)k, (uint64_t)a) - 0.5);
    assert_true(contact_normals(kind, x, d));
    for (int n = 0; n < kind.normals; n++) {
        vec_scale(d[n], 0.8, d[n]);
        for (int a = 0; a < dim; a++)
            d[n][a] += 0.1 * (random_unit(seed + 9, (uint64_t)n, (uint64_t)a) - 0.5);
    }
}

static contact_response respond(const contact_material *m, contact_kind kind, const double x[3][3],
                                double d[2][3]) {
    contact_response r = {0};
    contact_respond(m, kind, x, d, &r);
    return r;
}

static double energy_at(const contact_material *m, contact_kind kind, const double x[3][3],
                        const double d[2][3]) {
    double copy[2][3];
    memcpy(copy, d, sizeof copy);
    return respond(m, kind, x, copy).energy;
}

/* Minus the slope of the energy by a corner's position is the force on it. */
static void check_forces(const contact_material *m, contact_kind kind, const contact_response *r,
                         const double x[3][3], const double d[2][3]) {
    const double step = 1e-6;
    for (int c = 0; c <= kind.tangents; c++)
        for (int a = 0; a < kind.tangents + kind.normals; a++) {
            double E[2], moved[3][3];
            for (int side = 0; side < 2; side++) {
                memcpy(moved, x, sizeof moved);
                moved[c][a] += side ? step : -step;
                E[side] = energy_at(m, kind, moved, d);
            }
            assert_float_equal((E[1] - E[0]) / (2 * step), -r->force[c][a], 1e-8);
        }
}

/* That by a gradient G of the motion around, d <- (I + G) d, is the moment. */
static void check_moments(const contact_material *m, contact_kind kind, const contact_response *r,
                          const double x[3][3], const double d[2][3]) {
    const double step = 1e-6;
    const int dim = kind.tangents + kind.normals;
    for (int a = 0; a < dim; a++)
        for (int b = 0; b < dim; b++) {
            double E[2], turned[2][3];
            for (int side = 0; side < 2; side++) {
                memcpy(turned, d, sizeof turned);
                for (int n = 0; n < kind.normals; n++)
                    turned[n][a] += (side ? step : -step) * d[n][b];
                E[side] = energy_at(m, kind, x, turned);
            }
            assert_float_equal((E[1] - E[0]) / (2 * step), r->moment[a][b], 1e-8);
        }
}

static void forces_are_the_slope_of_the_energy(void **state) {
    (void)state;
    const contact_material m = law(90);
    for (int k = 0; k < KINDS; k++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            double x[3][3], d[2][3], same[2][3];
            press(kinds[k], seed, x, d);
            memcpy(same, d, sizeof same);
            const contact_response r = respond(&m, kinds[k], x, same);
            assert_true(r.energy > 0 && r.compression > 0.05 && !r.reset);
            for (int n = 0; n < kinds[k].normals; n++) /* nothing was limited */
                for (int a = 0; a < 3; a++) assert_true(fabs(same[n][a] - d[n][a]) < 1e-14);
            check_forces(&m, kinds[k], &r, x, d);
            check_moments(&m, kinds[k], &r, x, d);
        }
}

/* Forces on corners sum to nothing, and their torque is balanced by the moments': the stress is
 * symmetric. Without the tangents' columns it would not be. */
static void forces_have_no_sum_and_no_torque(void **state) {
    (void)state;
    const contact_material m = law(30);
    for (int k = 0; k < KINDS; k++)
        for (uint64_t seed = 1; seed < 6; seed++) {
            double x[3][3], d[2][3], sum[3] = {0}, torque[3] = {0}, turn[3];
            press(kinds[k], seed, x, d);
            const contact_response r = respond(&m, kinds[k], x, d);
            for (int c = 0; c <= kinds[k].tangents; c++) {
                vec_add(sum, sum, r.force[c]);
                vec_cross(turn, x[c], r.force[c]);
                vec_add(torque, torque, turn);
            }
            /* Forces -M r about a point have the torque of M's antisymmetric part. */
            const double(*M)[3] = r.moment;
            const double of_moment[3] = {M[1][2] - M[2][1], M[2][0] - M[0][2], M[0][1] - M[1][0]};
            assert_true(vec_length(sum) < 1e-14);
            assert_true(vec_length(of_moment) > 1e-3);
            vec_add(torque, torque, of_moment);
            assert_true(vec_length(torque) < 1e-13);
        }
}

static void turns_do_not_matter(void **state) {
    (void)state;
    const contact_material m = law(20);
    double turn[3][3];
    for (int k = 0; k < KINDS; k++) {
        const double axis[3] = {k == 2 ? 0 : 2.0 / 3, k == 2 ? 0 : -1.0 / 3, k == 2 ? 1 : 2.0 / 3};
        double x[3][3], d[2][3], y[3][3] = {{0}}, e[2][3];
        mat_rotation(turn, axis, 1.3);
        press(kinds[k], 3, x, d);
        for (int c = 0; c <= kinds[k].tangents; c++) mat_apply(y[c], turn, x[c]);
        for (int n = 0; n < kinds[k].normals; n++) mat_apply(e[n], turn, d[n]);
        const contact_response first = respond(&m, kinds[k], x, d);
        const contact_response second = respond(&m, kinds[k], y, e);
        assert_float_equal(first.energy, second.energy, 1e-14);
        for (int c = 0; c <= kinds[k].tangents; c++) {
            double f[3];
            mat_apply(f, turn, first.force[c]);
            vec_sub(f, f, second.force[c]);
            assert_true(vec_length(f) < 1e-13);
        }
    }
}

/* Traction over pressure. Slid far it is tan(phi), a little it is elastic; what is pulled apart or
 * turned over has no stress, and is as at rest. */
static void friction_has_its_limit(void **state) {
    (void)state;
    const contact_material m = law(20), smooth = law(0);
    const double x[3][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    for (int far = 0; far < 2; far++) {
        double d[2][3] = {{far ? 0.5 : 1e-3, far ? 0.3 : 0, 0.9}};
        const contact_response r = respond(&m, kinds[0], x, d);
        /* tau = P F^T: along the normal its column is that of the moment. */
        const double shear = hypot(r.moment[0][2], r.moment[1][2]), load = -r.moment[2][2];
        assert_float_equal(load, 3 * 0.1 * 0.1 * 0.9, 1e-12);
        if (far)
            assert_float_equal(shear / load, tan(radians(20)), 1e-12);
        else
            assert_float_equal(shear, 2 * 1e-3 * 0.9, 1e-12);
    }
    double d[2][3] = {{0.5, 0.3, 0.9}};
    contact_response r = respond(&smooth, kinds[0], x, d);
    assert_true(r.moment[0][2] == 0 && r.moment[2][2] < 0);
    for (int over = 0; over < 2; over++) {
        vec_set(d[0], 0.5, 0.3, over ? -0.2 : 1.2);
        r = respond(&m, kinds[0], x, d);
        assert_true(r.energy == 0 && r.moment[2][2] == 0 && r.reset == (over == 1));
        assert_true(d[0][0] == 0 && d[0][1] == 0 && d[0][2] == 1);
    }
}

/* The block of a strand keeps its area while its deviator is brought to the cone. */
static void strands_rub_across_too(void **state) {
    (void)state;
    const contact_material m = law(20);
    const double x[3][3] = {{0, 0, 0}, {1, 0, 0}};
    double d[2][3] = {{0.4, 0.6, 0}, {-0.3, 0.2, 1.4}};
    const contact_response r = respond(&m, kinds[1], x, d);
    const double J = 0.6 * 1.4, pressure = 3.0 / 2 * (1 - J * J);
    assert_float_equal(d[0][1] * d[1][2] - d[0][2] * d[1][1], J, 1e-12);
    /* tau of the block is what the normals' columns make across the strand. */
    const double half = (r.moment[1][1] - r.moment[2][2]) / 2, off = r.moment[1][2];
    assert_float_equal(-(r.moment[1][1] + r.moment[2][2]) / 2, pressure, 1e-12);
    assert_float_equal(hypot(half, off), sin(radians(20)) * pressure, 1e-12);
    assert_float_equal(hypot(r.moment[0][1], r.moment[0][2]), tan(radians(20)) * pressure, 1e-12);
    double apart[2][3] = {{0.1, 1.2, 0}, {0, 0.1, 1}};
    assert_true(respond(&m, kinds[1], x, apart).energy == 0);
    double over[2][3] = {{0, 1, 0}, {0, 0, -0.5}};
    assert_true(respond(&m, kinds[1], x, over).reset);
    assert_float_equal(over[1][2], 1, 1e-15);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_the_slope_of_the_energy),
        cmocka_unit_test(forces_have_no_sum_and_no_torque),
        cmocka_unit_test(turns_do_not_matter),
        cmocka_unit_test(friction_has_its_limit),
        cmocka_unit_test(strands_rub_across_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
