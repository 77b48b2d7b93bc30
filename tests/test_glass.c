/* A glass: as irregular as random points, but without their clumps and holes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/random.h"
#include "scene/glass.h"
#include "with_arena.h"

/* Moves as independent random numbers would have them: the negative control. */
static glass jittered(arena *a, const glass *like) {
    glass g = *like;
    size_t count = (size_t)(g.side * g.side * (g.dim == 3 ? g.side : 1));
    g.moves = arena_take(a, count, sizeof *g.moves);
    assert_non_null(g.moves);
    for (size_t i = 0; i < count; i++)
        for (int c = 0; c < g.dim; c++) g.moves[i][c] = random_unit(5, i, (uint64_t)c) - 0.5;
    return g;
}

/* The mass that bilinear weights give to a node of a grid with two points a cell along each
 * axis. */
static double node_mass(const glass *g, int x, int y) {
    double sum = 0;
    for (int64_t j = -4; j < 4; j++)
        for (int64_t i = -4; i < 4; i++) {
            const int64_t k[3] = {2 * x + i, 2 * y + j, 0};
            const double *move = glass_move(g, k);
            const double dx = fabs((double)i + 0.5 + move[0]) / 2,
                         dy = fabs((double)j + 0.5 + move[1]) / 2;
            sum += fmax(1 - dx, 0) * fmax(1 - dy, 0) / 4;
        }
    return sum;
}

static double mass_noise(const glass *g) {
    double sum = 0;
    const int n = g->side / 2;
    for (int k = 0; k < n * n; k++) {
        const double off = node_mass(g, k % n, k / n) - 1;
        sum += off * off / (n * n);
    }
    return sqrt(sum);
}

static void masses_are_even(void **state) {
    fixture *f = *state;
    glass g;
    assert_int_equal(glass_create(&f->arena, 2, 5, &g), SPATE_OK);
    const glass random = jittered(&f->arena, &g);
    assert_true(mass_noise(&g) < 0.35 * mass_noise(&random));
}

static double smallest_gap2(const glass *g) {
    double best = HUGE_VAL;
    const int deep = g->dim == 3;
    int64_t k[3] = {0}, o[3];
    for (k[1] = 0; k[1] < g->side; k[1]++)
        for (k[0] = 0; k[0] < g->side; k[0]++)
            for (o[2] = -2 * deep; o[2] <= 2 * deep; o[2]++)
                for (o[1] = -2; o[1] <= 2; o[1]++)
                    for (o[0] = -2; o[0] <= 2; o[0]++) {
                        const int64_t other[3] = {k[0] + o[0], k[1] + o[1], k[2] + o[2]};
                        const double *a = glass_move(g, k), *b = glass_move(g, other);
                        double sum = 0;
                        for (int c = 0; c < g->dim; c++) sum += pow(a[c] - b[c] - (double)o[c], 2);
                        if (o[0] || o[1] || o[2]) best = fmin(best, sum);
                    }
    return best;
}

static void points_keep_their_distance(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++) {
        glass g;
        assert_int_equal(glass_create(&f->arena, dim, 5, &g), SPATE_OK);
        const glass random = jittered(&f->arena, &g);
        assert_true(smallest_gap2(&g) > 0.45 * 0.45);
        assert_true(smallest_gap2(&random) < 0.3 * 0.3);
    }
}

/* No rows are left: the moves are as large as those of points that were put at random within 0.6 of
 * their cell, and go everywhere alike. */
static void no_rows_are_left(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++) {
        glass g;
        assert_int_equal(glass_create(&f->arena, dim, 7, &g), SPATE_OK);
        const int count = g.side * g.side * (dim == 3 ? g.side : 1);
        for (int c = 0; c < dim; c++) {
            double mean = 0, square = 0;
            for (int i = 0; i < count; i++) {
                assert_true(fabs(g.moves[i][c]) <= GLASS_MOVE_MAX);
                mean += g.moves[i][c] / count;
                square += g.moves[i][c] * g.moves[i][c] / count;
            }
            assert_true(square > 0.6 * 0.6 / 12);
            assert_near(mean, 0, 0.02);
        }
    }
}

static void the_seed_alone_decides(void **state) {
    fixture *f = *state;
    glass g, again, other;
    assert_int_equal(glass_create(&f->arena, 3, 7, &g), SPATE_OK);
    assert_int_equal(glass_create(&f->arena, 3, 7, &again), SPATE_OK);
    assert_int_equal(glass_create(&f->arena, 3, 8, &other), SPATE_OK);
    const size_t bytes = (size_t)(g.side * g.side * g.side) * sizeof *g.moves;
    assert_memory_equal(g.moves, again.moves, bytes);
    assert_true(memcmp(g.moves, other.moves, bytes) != 0);
}

static void the_tile_repeats(void **state) {
    fixture *f = *state;
    glass g;
    assert_int_equal(glass_create(&f->arena, 3, 7, &g), SPATE_OK);
    const int64_t n = g.side, k[3] = {1, 2, 3}, far[3] = {1 + 7 * n, 2 - 9 * n, 3 - n},
                  beside[3] = {2, 2, 3};
    assert_ptr_equal(glass_move(&g, k), glass_move(&g, far));
    assert_ptr_equal(glass_move(&g, beside), glass_move(&g, k) + 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(masses_are_even),  cmocka_unit_test(points_keep_their_distance),
        cmocka_unit_test(no_rows_are_left), cmocka_unit_test(the_seed_alone_decides),
        cmocka_unit_test(the_tile_repeats),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
