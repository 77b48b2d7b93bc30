/*
 * Kernels of SPH: their constants are such that sums stand for integrals. With S the surface of a
 * unit ball in d dimensions, over r from 0 to h,
 *
 *     int W S r^(d-1) = 1,   -int (r / d) W' S r^(d-1) = 1,   int (r^2 / 2 d) lap W S r^(d-1) = 1:
 *
 * a constant, the gradient of a linear field and the Laplacian of a square come out exactly.
 * mueller's three polynomials have three constants, each tested by itself.
 */
#include "physics.h"
#include "solver/sph/kernel.h"

static const char *const names[] = {"mueller", "cubic", "wendland"};
static const double h = 0.37; /* not 1, so that its powers show */

/* The surface of a unit ball. */
static double sphere(int dim) { return dim == 1 ? 2 : dim == 2 ? 2 * M_PI : 4 * M_PI; }

typedef double (*kernel_function)(sph_kernel kernel, int dim, double r, double h);

/* int r^power f S r^(dim-1) dr, by the midpoint rule: smooth on either side of h / 2, where the
 * cubic spline has its joint. */
static double moment(kernel_function f, sph_kernel kernel, int dim, int power) {
    enum { STEPS = 4000 };
    double sum = 0;
    for (int k = 0; k < STEPS; k++) {
        const double r = (k + 0.5) / STEPS * h;
        sum += f(kernel, dim, r, h) * pow(r, power + dim - 1);
    }
    return sum * sphere(dim) * h / STEPS;
}

static void integrals_are_one(void **state) {
    (void)state;
    for (int dim = 1; dim <= 3; dim++)
        for (int k = 0; k < SPH_KERNELS; k++) {
            const double value = moment(kernel_value, k, dim, 0);
            const double slope = -moment(kernel_derivative, k, dim, 1) / dim;
            print_message("%s, %dD: value off by %.1g, slope %.1g\n", names[k], dim, value - 1,
                          slope - 1);
            CHECK_BELOW(fabs(value - 1), 1e-6);
            CHECK_BELOW(fabs(slope - 1), 1e-6);
            if (dim == 1) continue;
            const double laplacian = moment(kernel_laplacian, k, dim, 2) / (2 * dim);
            CHECK_BELOW(fabs(laplacian - 1), 1e-6);
        }
}

/* Negative control: a kernel with another dimension's constant. */
static void constants_belong_to_a_dimension(void **state) {
    (void)state;
    for (int k = 0; k < SPH_KERNELS; k++) {
        const kernel_constants flat = kernel_constants_of(k, 2), full = kernel_constants_of(k, 3);
        const double value = moment(kernel_value, k, 2, 0) * full.value / flat.value;
        const double slope =
            -moment(kernel_derivative, k, 2, 1) / 2 * full.derivative / flat.derivative;
        const double laplacian =
            moment(kernel_laplacian, k, 2, 2) / 4 * full.laplacian / flat.laplacian;
        CHECK_ABOVE(fabs(value - 1), 0.1);
        CHECK_ABOVE(fabs(slope - 1), 0.1);
        CHECK_ABOVE(fabs(laplacian - 1), 0.1);
    }
}

/* Largest difference between the slope and the value's central difference, over the steepest
 * slope. */
static double slope_error(sph_kernel kernel, int dim) {
    const double step = 1e-5 * h;
    double worst = 0, steepest = 0;
    for (int k = 1; k < 100; k++) {
        const double r = 0.01 * k * h + 1e-3 * h, slope = kernel_derivative(kernel, dim, r, h);
        const double rise =
            kernel_value(kernel, dim, r + step, h) - kernel_value(kernel, dim, r - step, h);
        worst = fmax(worst, fabs(rise / (2 * step) - slope));
        steepest = fmax(steepest, fabs(slope));
    }
    return worst / steepest;
}

/* The same for the Laplacian, from the slope. */
static double laplacian_error(sph_kernel kernel, int dim) {
    const double step = 1e-5 * h;
    double worst = 0, largest = 0;
    for (int k = 1; k < 100; k++) {
        const double r = 0.01 * k * h + 1e-3 * h, got = kernel_laplacian(kernel, dim, r, h);
        const double rise = kernel_derivative(kernel, dim, r + step, h) -
                            kernel_derivative(kernel, dim, r - step, h);
        const double expected =
            rise / (2 * step) + (dim - 1) * kernel_derivative(kernel, dim, r, h) / r;
        worst = fmax(worst, fabs(expected - got));
        largest = fmax(largest, fabs(got));
    }
    return worst / largest;
}

static void derivatives_follow_from_the_value(void **state) {
    (void)state;
    for (int dim = 1; dim <= 3; dim++)
        for (int k = SPH_CUBIC; k < SPH_KERNELS; k++) {
            CHECK_BELOW(slope_error(k, dim), 1e-6);
            if (dim > 1) CHECK_BELOW(laplacian_error(k, dim), 1e-6);
        }
    /* Negative control: mueller's are of other kernels. */
    for (int dim = 2; dim <= 3; dim++) {
        CHECK_ABOVE(slope_error(SPH_MUELLER, dim), 0.1);
        CHECK_ABOVE(laplacian_error(SPH_MUELLER, dim), 0.1);
    }
}

/* Viscosity may only bring velocities together: its Laplacian must be positive. That of the kernel
 * whose slope mueller uses (spiky) is not, nor are those of the other two. */
static double lowest_laplacian(sph_kernel kernel, int dim) {
    double lowest = HUGE_VAL;
    for (int k = 1; k < 100; k++)
        lowest = fmin(lowest, kernel_laplacian(kernel, dim, 0.01 * k * h, h));
    return lowest;
}

static double lowest_of_spiky(int dim) {
    const double a = kernel_constants_of(SPH_MUELLER, dim).derivative / pow(h, dim + 2);
    double lowest = HUGE_VAL;
    for (int k = 1; k < 100; k++) {
        const double q = 0.01 * k;
        lowest = fmin(lowest, a * (6 * (1 - q) - (dim - 1) * 3 * (1 - q) * (1 - q) / q));
    }
    return lowest;
}

static void the_viscous_laplacian_is_positive(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        CHECK_ABOVE(lowest_laplacian(SPH_MUELLER, dim), 0);
        CHECK_BELOW(lowest_of_spiky(dim), 0); /* negative controls */
        CHECK_BELOW(lowest_laplacian(SPH_CUBIC, dim), 0);
        CHECK_BELOW(lowest_laplacian(SPH_WENDLAND, dim), 0);
    }
}

/* Nothing beyond the support, and no jump at it or at the joint of the cubic spline. */
static void kernels_end_at_the_support(void **state) {
    (void)state;
    const double small = 1e-7;
    for (int dim = 1; dim <= 3; dim++)
        for (int k = 0; k < SPH_KERNELS; k++) {
            const double middle = kernel_value(k, dim, 0, h);
            for (int beyond = 0; beyond < 3; beyond++) {
                assert_true(kernel_value(k, dim, (1 + beyond) * h, h) == 0);
                assert_true(kernel_derivative(k, dim, (1 + beyond) * h, h) == 0);
                assert_true(kernel_laplacian(k, dim, (1 + beyond) * h, h) == 0);
            }
            CHECK_BELOW(kernel_value(k, dim, h * (1 - small), h) / middle, 1e-6);
            CHECK_BELOW(fabs(kernel_derivative(k, dim, h * (1 - small), h)) * h / middle, 1e-6);
            const double low = kernel_derivative(k, dim, h * (0.5 - small), h);
            const double high = kernel_derivative(k, dim, h * (0.5 + small), h);
            CHECK_BELOW(fabs(high / low - 1), 1e-5);
        }
}

/* What the passes sum up against the reference, without constants and for h = 1. */
static void check_wide(sph_kernel kernel, int dim, double gate) {
    const kernel_constants a = kernel_constants_of(kernel, dim);
    for (int k = 0; k < 1000; k += WIDE) {
        real q[WIDE], w[WIDE], slope[WIDE], laplacian[WIDE];
        for (int lane = 0; lane < WIDE; lane++) q[lane] = (real)(0.001 * (k + lane) + 0.0005);
        const wide all = wide_load(q);
        wide_store(w, kernel_wide(kernel, all, all * all));
        wide_store(slope, kernel_wide_derivative(kernel, all));
        wide_store(laplacian, kernel_wide_laplacian(all));
        for (int lane = 0; lane < WIDE && k + lane < 1000; lane++) {
            const double r = (double)q[lane];
            const double steepest = fabs(kernel_derivative(kernel, dim, r, 1) / r) + 1e-3;
            CHECK_BELOW(fabs(a.value * (double)w[lane] - kernel_value(kernel, dim, r, 1)),
                        gate * a.value);
            CHECK_BELOW(
                fabs(a.derivative * (double)slope[lane] - kernel_derivative(kernel, dim, r, 1) / r),
                gate * (a.derivative + steepest));
            if (kernel == SPH_MUELLER)
                CHECK_BELOW(fabs(a.laplacian * (double)laplacian[lane] -
                                 kernel_laplacian(kernel, dim, r, 1)),
                            gate * a.laplacian);
        }
    }
}

static void eight_at_a_time_are_the_same(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < SPH_KERNELS; k++) check_wide(k, dim, IN_DOUBLE ? 1e-13 : 2e-6);
    /* two particles in one place do not break it */
    for (int k = 0; k < SPH_KERNELS; k++) {
        real slope[WIDE];
        wide_store(slope, kernel_wide_derivative(k, wide_splat(0)));
        assert_true(isfinite(slope[0]) && slope[0] < 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integrals_are_one),
        cmocka_unit_test(constants_belong_to_a_dimension),
        cmocka_unit_test(derivatives_follow_from_the_value),
        cmocka_unit_test(the_viscous_laplacian_is_positive),
        cmocka_unit_test(kernels_end_at_the_support),
        cmocka_unit_test(eight_at_a_time_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
