/* Turned axes: one rotation for places, directions, tensors and the cells of grids, and the way
 * back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/vec.h"
#include "frames/axes.h"

static spate_scene scene_with(int up, up_axis wanted) {
    spate_scene s = {.dim = 3, .output.up = wanted};
    s.gravity[up] = -9.81;
    return s;
}

static const up_axis wishes[] = {UP_AS_SCENE, UP_Y, UP_Z};

/* Every wish in every scene. */
enum { CASES = 9 };
static file_axes axes_of_case(int k) {
    spate_scene s = scene_with(k % 3, wishes[k / 3]);
    return axes_of_files(&s);
}

static void random_row(uint64_t seed, int count, double *out) {
    for (int i = 0; i < count; i++) out[i] = 2 * random_unit(3, seed, (uint64_t)i) - 1;
}

static void turn(const file_axes *a, const double from[3], double to[3]) {
    vec_copy(to, from);
    axes_turn_point(a, to);
}

static void test_y_up_becomes_z_up(void **state) {
    (void)state;
    spate_scene s = scene_with(1, UP_Z);
    file_axes a = axes_of_files(&s);
    double x[3] = {1, 2, 3};
    axes_turn_point(&a, x);
    assert_true(x[0] == 1 && x[1] == -3 && x[2] == 2);
    s = scene_with(2, UP_Y);
    a = axes_of_files(&s);
    axes_turn_point(&a, x);
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 3);
    /* No minus before a zero. */
    double zero[3] = {0, 0, 0};
    axes_turn_point(&a, zero);
    for (int i = 0; i < 3; i++) assert_false(signbit(zero[i]));
}

/* What was up is where it is wanted, and left hands stay left hands. */
static void test_rotations(void **state) {
    (void)state;
    for (int k = 0; k < CASES; k++) {
        const file_axes a = axes_of_case(k);
        const int wanted = wishes[k / 3] == UP_AS_SCENE ? k % 3 : wishes[k / 3] == UP_Y ? 1 : 2;
        double m[3][3], up[3] = {0, 0, 0};
        for (int i = 0; i < 3; i++) {
            const double unit[3] = {i == 0, i == 1, i == 2};
            turn(&a, unit, m[i]);
        }
        assert_true(fabs(mat_determinant((const double(*)[3])m) - 1) < 1e-15);
        up[k % 3] = 1;
        axes_turn_point(&a, up);
        assert_true(up[wanted] == 1);
        assert_int_equal(a.turned, wanted != k % 3);
    }
}

/* R (A x) = A' (R x), for full and for symmetric tensors, and the way back is back. */
static void test_tensors(void **state) {
    (void)state;
    static const int places[3][3] = {{0, 3, 5}, {3, 1, 4}, {5, 4, 2}};
    for (int k = 0; k < CASES; k++)
        for (int components = 6; components <= 9; components += 3) {
            const file_axes a = axes_of_case(k), back = axes_back(&a);
            double row[9], turned[9], m[3][3], n[3][3], x[3], y[3], z[3];
            random_row((uint64_t)k, components, row);
            memcpy(turned, row, sizeof turned);
            axes_turn_doubles(&a, turned, 1, components);
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    const int at = components == 9 ? 3 * i + j : places[i][j];
                    m[i][j] = row[at], n[i][j] = turned[at];
                }
            random_row(77, 3, x);
            mat_apply(y, (const double(*)[3])m, x);
            axes_turn_point(&a, y);
            axes_turn_point(&a, x);
            mat_apply(z, (const double(*)[3])n, x);
            for (int i = 0; i < 3; i++) assert_true(fabs(y[i] - z[i]) < 1e-14);
            axes_turn_doubles(&back, turned, 1, components);
            assert_memory_equal(turned, row, (size_t)components * sizeof *row);
        }
}

/* Every cell of a grid is found at its turned place. */
static void test_grids(void **state) {
    (void)state;
    enum { NX = 2, NY = 3, NZ = 4, N = NX * NY * NZ };
    for (int k = 0; k < CASES; k++) {
        const file_axes a = axes_of_case(k), back = axes_back(&a);
        const int old_cells[3] = {NX, NY, NZ};
        int cells[3] = {NX, NY, NZ};
        const double corner[3] = {10, 20, 30}, dx = 0.5;
        double origin[3] = {10, 20, 30}, centers[N][3], moved[N][3], again[N][3];
        for (int i = 0; i < N; i++) {
            const int at[3] = {i % NX, i / NX % NY, i / NX / NY};
            for (int c = 0; c < 3; c++) centers[i][c] = corner[c] + dx * (at[c] + 0.5);
        }
        axes_turn_grid(&a, cells, origin, dx);
        axes_turn_cells(&a, old_cells, sizeof centers[0], centers, moved);
        for (int i = 0; i < N; i++) {
            const int at[3] = {i % cells[0], i / cells[0] % cells[1], i / cells[0] / cells[1]};
            axes_turn_point(&a, moved[i]);
            for (int c = 0; c < 3; c++)
                assert_true(fabs(moved[i][c] - (origin[c] + dx * (at[c] + 0.5))) < 1e-12);
            axes_turn_point(&back, moved[i]);
        }
        axes_turn_cells(&back, cells, sizeof moved[0], moved, again);
        assert_memory_equal(again, centers, sizeof centers);
        axes_turn_grid(&back, cells, origin, dx);
        assert_memory_equal(cells, old_cells, sizeof cells);
        assert_memory_equal(origin, corner, sizeof corner);
    }
}

/* Numbers without a direction stay. */
static void test_scalars_stay(void **state) {
    (void)state;
    const file_axes a = axes_of_case(3 * 2 + 1);
    assert_true(a.turned);
    float values[4] = {1, 2, 3, 4};
    axes_turn_floats(&a, values, 4, 1);
    axes_turn_floats(&a, values, 2, 2);
    for (int i = 0; i < 4; i++) assert_true(values[i] == (float)(i + 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_y_up_becomes_z_up), cmocka_unit_test(test_rotations),
        cmocka_unit_test(test_tensors),           cmocka_unit_test(test_grids),
        cmocka_unit_test(test_scalars_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
