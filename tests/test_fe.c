/* Finite elements: forces against energy, rigid motion, a patch, the linear limit, inversion. */
#include "solver/lagrangian/fe.h"

#include "core/random.h"
#include "core/vec.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* mu, kappa and lambda of E = 1 and nu = 0.3. */
static fe_material stuff(fe_law law, int dim) {
    const double lambda = 0.3 / (1.3 * 0.4), shear = 1 / 2.6;
    return (fe_material){law, shear, lambda + 2 * shear / dim, lambda};
}

static double draw(uint64_t key) { return random_unit(7, 1, key) - 0.5; }

static const double corners[4][3] = {{0.1, 0, 0.05}, {1, 0.1, -0.1}, {0.2, 0.9, 0.1}, {0, 0.1, 1}};

/* A rest element and corners that are moved by up to `far`. */
static fe_element element_of(int dim, double far, uint64_t key, double x[4][3]) {
    double X[4][3] = {{0}};
    fe_element e;
    for (int k = 0; k <= dim; k++)
        for (int a = 0; a < dim; a++) {
            X[k][a] = corners[k][a];
            x[k][a] = X[k][a] + far * draw(key * 16 + (uint64_t)(4 * k + a));
        }
    assert_true(fe_rest(dim, X, &e));
    return e;
}

static double energy_of(const fe_material *m, int dim, const fe_element *e, double x[4][3]) {
    double f[4][3];
    return fe_forces(m, dim, e, x, f).energy;
}

/* Largest difference of the forces from -dE/dx, over the largest force. */
static double force_error(const fe_material *m, int dim, uint64_t key) {
    double x[4][3] = {{0}}, f[4][3], worst = 0, most = 0;
    const fe_element e = element_of(dim, 0.5, key, x);
    fe_forces(m, dim, &e, x, f);
    for (int k = 0; k <= dim; k++)
        for (int a = 0; a < dim; a++) {
            const double h = 1e-5, at = x[k][a];
            x[k][a] = at + h;
            const double up = energy_of(m, dim, &e, x);
            x[k][a] = at - h;
            const double slope = (up - energy_of(m, dim, &e, x)) / (2 * h);
            x[k][a] = at;
            worst = fmax(worst, fabs(slope + f[k][a]));
            most = fmax(most, fabs(f[k][a]));
        }
    return worst / most;
}

static void forces_are_the_slope_of_the_energy(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int law = 0; law < 2; law++)
            for (uint64_t key = 0; key < 20; key++) {
                const fe_material m = stuff((fe_law)law, dim);
                assert_true(force_error(&m, dim, key) < 1e-7);
            }
}

/* A quarter turn about an oblique axis and a shift leave neither force nor energy. */
static void rigid_motion_has_no_force(void **state) {
    (void)state;
    const double axis[2][3] = {{0, 0, 1}, {2.0 / 3, -1.0 / 3, 2.0 / 3}}, move[3] = {3, -2, 1};
    for (int dim = 2; dim <= 3; dim++)
        for (int law = 0; law < 2; law++) {
            const fe_material m = stuff((fe_law)law, dim);
            double x[4][3] = {{0}}, turn[3][3], f[4][3];
            const fe_element e = element_of(dim, 0, 0, x);
            mat_rotation(turn, axis[dim - 2], 1.5707963267948966);
            for (int k = 0; k <= dim; k++) {
                mat_apply(x[k], turn, x[k]);
                for (int a = 0; a < dim; a++) x[k][a] += move[a];
            }
            const fe_report r = fe_forces(&m, dim, &e, x, f);
            assert_true(fabs(r.energy) < 1e-14 && fabs(r.J - 1) < 1e-13);
            for (int k = 0; k <= dim; k++) assert_true(vec_length(f[k]) < 1e-12);
        }
}

/* The sum of forces and of torques is nothing, whatever the shape. */
static void forces_keep_momentum(void **state) {
    (void)state;
    for (int law = 0; law < 2; law++) {
        const fe_material m = stuff((fe_law)law, 3);
        double x[4][3], f[4][3], sum[3] = {0}, torque[3] = {0}, turn[3];
        const fe_element e = element_of(3, 0.5, 3, x);
        fe_forces(&m, 3, &e, x, f);
        for (int k = 0; k < 4; k++) {
            vec_add(sum, sum, f[k]);
            vec_cross(turn, x[k], f[k]);
            vec_add(torque, torque, turn);
        }
        assert_true(vec_length(sum) < 1e-14 && vec_length(torque) < 1e-14);
    }
}

/* Four triangles around a vertex off the middle of a square, under x = A X: no force on it. */
static void a_patch_is_in_balance(void **state) {
    (void)state;
    const double X[5][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0.37, 0.58}};
    const double A[2][2] = {{1.2, 0.3}, {-0.1, 0.8}};
    const fe_material m = stuff(FE_NEO_HOOKEAN, 2);
    double inner[3] = {0}, outer = 0;
    for (int k = 0; k < 4; k++) {
        const int of[3] = {k, (k + 1) % 4, 4};
        double rest[4][3] = {{0}}, x[4][3] = {{0}}, f[4][3];
        fe_element e;
        for (int c = 0; c < 3; c++)
            for (int a = 0; a < 2; a++) {
                rest[c][a] = X[of[c]][a];
                x[c][a] = A[a][0] * X[of[c]][0] + A[a][1] * X[of[c]][1];
            }
        assert_true(fe_rest(2, rest, &e));
        fe_forces(&m, 2, &e, x, f);
        vec_add(inner, inner, f[2]);
        outer = fmax(outer, vec_length(f[0]));
    }
    assert_true(vec_length(inner) < 1e-14 && outer > 0.05);
}

/* Small strains: P = 2 mu e + lambda tr(e) I. With kappa of 3D in 2D it would be 0.6 mu off. */
static void small_strains_have_the_moduli(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int law = 0; law < 2; law++) {
            const fe_material m = stuff((fe_law)law, dim);
            const double h = 1e-6;
            double F[3][3], P[3][3], energy;
            mat_identity(F);
            F[0][0] += h, F[0][1] += h;
            fe_stress(&m, dim, F, P, &energy);
            assert_float_equal(P[0][0] / h, 2 * m.shear + m.lambda, 1e-5);
            assert_float_equal(P[1][1] / h, m.lambda, 1e-5);
            assert_float_equal(P[0][1] / h, m.shear, 1e-5);
        }
}

/* dP/dF against differences of P, of strained and turned elements; and it is symmetric. */
static void moduli_are_the_slope_of_the_stress(void **state) {
    (void)state;
    const double h = 1e-5;
    for (int kind = 0; kind < 4; kind++)
        for (uint64_t key = 0; key < 20; key++) {
            const int dim = 2 + kind % 2, n = dim * dim;
            const fe_material m = stuff((fe_law)(kind / 2), dim);
            double F[3][3] = {{0}}, A[9][9], P[2][3][3], unused;
            for (int j = 0; j < n; j++)
                F[j / dim][j % dim] = (j % (dim + 1) == 0) + draw(100 * key + (uint64_t)j);
            const double first = F[0][0];
            F[0][0] = first * cos(1.0) - F[1][0] * sin(1.0); /* turned, a little sheared */
            F[1][0] = first * sin(1.0) + F[1][0] * cos(1.0);
            if (mat_determinant(F) < 0.1 && dim == 3) continue;
            if (F[0][0] * F[1][1] - F[0][1] * F[1][0] < 0.1 && dim == 2) continue;
            fe_moduli(&m, dim, F, A);
            for (int k = 0; k < n; k++) {
                for (int side = 0; side < 2; side++) {
                    double moved[3][3];
                    memcpy(moved, F, sizeof moved);
                    moved[k / dim][k % dim] += side ? h : -h;
                    fe_stress(&m, dim, moved, P[side], &unused);
                }
                for (int j = 0; j < n; j++) {
                    const double slope =
                        (P[1][j / dim][j % dim] - P[0][j / dim][j % dim]) / (2 * h);
                    assert_float_equal(A[j][k], slope, 1e-7 * (1 + fabs(slope)));
                    assert_float_equal(A[j][k], A[k][j], 1e-12 * (1 + fabs(slope)));
                }
            }
        }
}

/* Turned inside out, the one law says so and the other still pushes back. */
static void inversion_is_seen(void **state) {
    (void)state;
    double X[4][3] = {{0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, x[4][3], f[4][3];
    fe_element e;
    assert_true(fe_rest(3, X, &e));
    memcpy(x, X, sizeof x);
    x[3][2] = -0.5;
    const fe_material simo = stuff(FE_NEO_HOOKEAN, 3), corotated = stuff(FE_FIXED_COROTATED, 3);
    fe_report r = fe_forces(&simo, 3, &e, x, f);
    assert_float_equal(r.J, -0.5, 1e-14);
    assert_true(r.energy == 0 && vec_length(f[3]) == 0);
    r = fe_forces(&corotated, 3, &e, x, f);
    assert_true(r.energy > 0 && f[3][2] > 0.1);
    X[3][2] = -1;
    assert_false(fe_rest(3, X, &e));
    X[3][2] = 0;
    assert_false(fe_rest(3, X, &e));
}

static void altitude_is_the_least_height(void **state) {
    (void)state;
    double x[4][3] = {{0}, {3, 0, 0}, {0, 4, 0}, {0, 0, 12}}, f[4][3];
    fe_element e;
    const fe_material m = stuff(FE_NEO_HOOKEAN, 2);
    assert_true(fe_rest(2, x, &e));
    assert_float_equal(fe_forces(&m, 2, &e, x, f).altitude, 2.4, 1e-12);
    assert_true(fe_rest(3, x, &e));
    /* corner 0 over the slanted side: 1 / sqrt(1/9 + 1/16 + 1/144) */
    assert_float_equal(fe_forces(&m, 3, &e, x, f).altitude,
                       1 / sqrt(1.0 / 9 + 1.0 / 16 + 1.0 / 144), 1e-12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forces_are_the_slope_of_the_energy),
        cmocka_unit_test(rigid_motion_has_no_force),
        cmocka_unit_test(forces_keep_momentum),
        cmocka_unit_test(a_patch_is_in_balance),
        cmocka_unit_test(small_strains_have_the_moduli),
        cmocka_unit_test(moduli_are_the_slope_of_the_stress),
        cmocka_unit_test(inversion_is_seen),
        cmocka_unit_test(altitude_is_the_least_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
