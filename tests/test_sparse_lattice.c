/* Sparse sets of lattice places: against a plain list, with borders, periods and many sets in
 * turn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "state/sparse_lattice.h"
#include <stdlib.h>
#include <string.h>

static const int no_period[3] = {0};

static spate_context *open_context(int threads) {
    spate_context *ctx;
    spate_config config = spate_default_config();
    config.threads = threads;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

/* A plain list of places without doubles. */
enum { LIST_MAX = 20000 };
typedef struct list {
    int count;
    int32_t at[LIST_MAX][3];
} list;

static int list_find(const list *l, const int32_t c[3]) {
    for (int i = 0; i < l->count; i++)
        if (!memcmp(l->at[i], c, sizeof l->at[i])) return i;
    return -1;
}

static void list_insert(list *l, const int32_t c[3]) {
    if (list_find(l, c) >= 0) return;
    assert_true(l->count < LIST_MAX);
    memcpy(l->at[l->count++], c, sizeof l->at[0]);
}

/* What sparse_lattice_neighbour must give, written out. */
static void step_from(const int32_t c[3], const int offset[3], const int period[3], int dim,
                      int32_t out[3]) {
    for (int a = 0; a < 3; a++) {
        out[a] = a < dim ? c[a] + offset[a] : 0;
        if (a < dim && period[a]) {
            if (out[a] < 0) out[a] += period[a];
            if (out[a] >= period[a]) out[a] -= period[a];
        }
    }
}

static void list_widen(list *l, const int period[3], int dim) {
    for (int i = 0, before = l->count; i < before; i++)
        for (int n = 0; n < 27; n++) {
            int offset[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
            int32_t next[3];
            step_from(l->at[i], offset, period, dim, next);
            list_insert(l, next);
        }
}

/* The set holds exactly what the list does, numbered, found and linked. */
static void assert_same_set(const sparse_lattice *s, const list *l) {
    assert_int_equal(s->count, l->count);
    for (int32_t i = 0; i < s->count; i++) {
        assert_true(list_find(l, s->coords[i]) >= 0);
        assert_int_equal(sparse_lattice_find(s, s->coords[i]), i);
        for (int code = 0; code < neighbour_count(s->dim); code++) {
            int offset[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
            if (s->dim == 2) offset[0] = code / 3 - 1, offset[1] = code % 3 - 1, offset[2] = 0;
            int32_t next[3], told[3];
            step_from(s->coords[i], offset, s->period, s->dim, next);
            sparse_lattice_neighbour(s, s->coords[i], code, told);
            assert_memory_equal(next, told, sizeof next);
            assert_int_equal(s->neighbours[i][code], sparse_lattice_find(s, next));
            assert_true((list_find(l, next) < 0) == (s->neighbours[i][code] < 0));
        }
    }
}

/* Random places of a cube around the origin; inside the period on periodic axes. */
static void place_at(uint64_t seed, uint64_t n, const int period[3], int dim, int32_t c[3]) {
    for (int a = 0; a < 3; a++) {
        int width = period[a] ? period[a] : 12;
        c[a] = a < dim ? (int32_t)(random_unit(seed, n, (uint64_t)a) * width) : 0;
        if (a < dim && !period[a]) c[a] -= 6;
    }
}

static void make_set(sparse_lattice *s, pool *threads, uint64_t seed, int places, bool widen,
                     list *l) {
    l->count = 0;
    assert_int_equal(sparse_lattice_begin(s), SPATE_OK);
    for (int n = 0; n < places; n++) {
        int32_t c[3];
        place_at(seed, (uint64_t)n, s->period, s->dim, c);
        assert_int_equal(sparse_lattice_insert(s, c), SPATE_OK);
        list_insert(l, c);
    }
    if (widen) {
        assert_int_equal(sparse_lattice_widen(s), SPATE_OK);
        list_widen(l, s->period, s->dim);
    }
    sparse_lattice_number(s);
    assert_int_equal(sparse_lattice_finish(s, threads), SPATE_OK);
}

static void test_sets_match_a_list(void **state) {
    (void)state;
    static const int periods[][3] = {{0, 0, 0}, {5, 0, 0}, {0, 1, 2}, {3, 4, 5}};
    list *l = calloc(1, sizeof *l);
    spate_context *ctx = open_context(3);
    const int64_t blocks = ctx->blocks_now;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < 4; k++) {
            const int period[3] = {periods[k][0], periods[k][1], dim == 3 ? periods[k][2] : 0};
            sparse_lattice s;
            sparse_lattice_create(ctx, dim, period, &s);
            assert_int_equal(sparse_lattice_find(&s, (const int32_t[3]){0, 0, 0}), -1);
            /* sets of different sizes one after the other: what was there before does not show */
            static const int places[] = {40, 3, 300, 0, 60};
            for (int n = 0; n < 5; n++) {
                make_set(&s, ctx->pool, (uint64_t)(n + 10 * k), places[n], n % 2, l);
                assert_same_set(&s, l);
            }
            sparse_lattice_free(&s);
            sparse_lattice_free(&s); /* twice is fine */
        }
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
    free(l);
}

/* On the Z curve of 2^dim places the last axis comes first; far and negative places have an order
 * too. */
static void test_order_along_the_curve(void **state) {
    (void)state;
    spate_context *ctx = open_context(1);
    sparse_lattice s;
    sparse_lattice_create(ctx, 3, no_period, &s);
    assert_int_equal(sparse_lattice_begin(&s), SPATE_OK);
    for (int n = 7; n >= 0; n--)
        assert_int_equal(sparse_lattice_insert(&s, (const int32_t[3]){n & 1, n >> 1 & 1, n >> 2}),
                         SPATE_OK);
    const int32_t far[3] = {900000, -900000, 900000}, low[3] = {-1, -1, -1};
    assert_int_equal(sparse_lattice_insert(&s, far), SPATE_OK);
    assert_int_equal(sparse_lattice_insert(&s, low), SPATE_OK);
    sparse_lattice_number(&s);
    assert_int_equal(sparse_lattice_finish(&s, ctx->pool), SPATE_OK);
    assert_int_equal(s.count, 10);
    assert_int_equal(sparse_lattice_find(&s, low), 0);
    const int first = sparse_lattice_find(&s, (const int32_t[3]){0, 0, 0});
    for (int n = 0; n < 8; n++)
        assert_int_equal(sparse_lattice_find(&s, (const int32_t[3]){n >> 2, n >> 1 & 1, n & 1}),
                         first + n);
    assert_true(sparse_lattice_find(&s, far) >= 0);
    assert_memory_equal(s.coords[sparse_lattice_find(&s, far)], far, sizeof far);
    sparse_lattice_free(&s);
    spate_close(ctx);
}

/* In rows: the last axis runs fastest, and all else is as along the curve. */
static void test_order_in_rows(void **state) {
    (void)state;
    list *l = calloc(1, sizeof *l);
    spate_context *ctx = open_context(2);
    sparse_lattice s;
    sparse_lattice_create(ctx, 3, no_period, &s);
    s.in_rows = true;
    make_set(&s, ctx->pool, 5, 300, true, l);
    assert_same_set(&s, l);
    for (int32_t i = 1; i < s.count; i++) {
        const int32_t *before = s.coords[i - 1], *here = s.coords[i];
        int a = 0;
        while (a < 2 && before[a] == here[a]) a++;
        assert_true(before[a] < here[a]);
    }
    sparse_lattice_free(&s);
    spate_close(ctx);
    free(l);
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* Places in the order of nested loops, the last axis innermost. */
static void test_boxes_have_the_last_axis_fastest(void **state) {
    (void)state;
    static const int edges[] = {2, 3, 4, 8, 10};
    for (int e = 0; e < 5; e++)
        for (int dim = 2; dim <= 3; dim++)
            for (int i = 0, n = 0; i < edges[e]; i++)
                for (int j = 0; j < edges[e]; j++)
                    for (int k = 0; k < (dim == 3 ? edges[e] : 1); k++, n++) {
                        const int at[3] = {i, j, k};
                        int place[3];
                        assert_int_equal(box_index(edges[e], at, dim), n);
                        box_place(edges[e], n, dim, place);
                        assert_memory_equal(place, at, sizeof at);
                        for (int a = 0; a < dim; a++) {
                            int next[3] = {i, j, k};
                            next[a]++;
                            assert_int_equal(box_index(edges[e], next, dim) - n,
                                             box_stride(edges[e], a, dim));
                        }
                    }
}

static int floor_divided(int x, int y) { return (x - ((x % y) + y) % y) / y; }

/* A place up to a box outside is found in the neighbour that has it. */
static void test_places_outside_are_in_neighbours(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int edge = 4; edge <= 8; edge += 4) {
            const sparse_lattice s = {.dim = dim};
            const int deep = dim == 3 ? edge : 0;
            for (int i = -edge; i < 2 * edge; i++)
                for (int j = -edge; j < 2 * edge; j++)
                    for (int k = -deep; k < (dim == 3 ? 2 * edge : 1); k++) {
                        const int32_t home[3] = {0};
                        const int at[3] = {i, j, k};
                        int32_t other[3];
                        int in[3] = {0};
                        sparse_lattice_neighbour(&s, home, neighbour_code(edge, at, dim), other);
                        for (int a = 0; a < dim; a++) {
                            assert_int_equal(other[a], floor_divided(at[a], edge));
                            in[a] = at[a] - edge * other[a];
                        }
                        assert_int_equal(neighbour_index(edge, at, dim), box_index(edge, in, dim));
                    }
            for (int a = 0; a < dim; a++)
                for (int way = -1; way <= 1; way++) {
                    int at[3] = {0};
                    at[a] = way * edge;
                    assert_int_equal(neighbour_beside(a, way, dim), neighbour_code(edge, at, dim));
                }
        }
}

/* Neighbours and table from coordinates alone are those that the set had. */
static void test_links_are_rebuilt(void **state) {
    (void)state;
    list *l = calloc(1, sizeof *l);
    spate_context *ctx = open_context(2);
    sparse_lattice s, copy;
    sparse_lattice_create(ctx, 3, (const int[3]){4, 0, 0}, &s);
    sparse_lattice_create(ctx, 3, (const int[3]){4, 0, 0}, &copy);
    make_set(&s, ctx->pool, 77, 200, true, l);
    assert_int_equal(sparse_lattice_reserve(&copy, s.count), SPATE_OK);
    copy.count = s.count;
    memcpy(copy.coords, s.coords, (size_t)s.count * sizeof *s.coords);
    assert_int_equal(sparse_lattice_link(&copy, ctx->pool), SPATE_OK);
    assert_same_set(&copy, l);
    for (int32_t i = 0; i < s.count; i++)
        assert_memory_equal(copy.neighbours[i], s.neighbours[i], sizeof s.neighbours[i]);
    sparse_lattice_free(&s), sparse_lattice_free(&copy);
    spate_close(ctx);
    free(l);
}

/* Between number and finish, find gives the new numbers and coords are still the old ones. */
static void test_numbers_come_before_coordinates(void **state) {
    (void)state;
    spate_context *ctx = open_context(1);
    sparse_lattice s;
    const int32_t a[3] = {5, 1, 0}, b[3] = {0, 0, 0};
    sparse_lattice_create(ctx, 2, no_period, &s);
    assert_int_equal(sparse_lattice_begin(&s), SPATE_OK);
    assert_int_equal(sparse_lattice_insert(&s, a), SPATE_OK);
    sparse_lattice_number(&s);
    assert_int_equal(sparse_lattice_finish(&s, ctx->pool), SPATE_OK);
    assert_int_equal(sparse_lattice_find(&s, a), 0);
    assert_int_equal(sparse_lattice_begin(&s), SPATE_OK);
    assert_int_equal(sparse_lattice_insert(&s, a), SPATE_OK);
    assert_int_equal(sparse_lattice_insert(&s, b), SPATE_OK);
    sparse_lattice_number(&s);
    assert_int_equal(s.count, 1);
    assert_memory_equal(s.coords[0], a, sizeof a);
    assert_int_equal(sparse_lattice_find(&s, a), 1);
    assert_int_equal(sparse_lattice_find(&s, b), 0);
    assert_int_equal(sparse_lattice_finish(&s, ctx->pool), SPATE_OK);
    assert_int_equal(s.count, 2);
    sparse_lattice_free(&s);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sets_match_a_list),
        cmocka_unit_test(test_order_along_the_curve),
        cmocka_unit_test(test_order_in_rows),
        cmocka_unit_test(test_boxes_have_the_last_axis_fastest),
        cmocka_unit_test(test_places_outside_are_in_neighbours),
        cmocka_unit_test(test_links_are_rebuilt),
        cmocka_unit_test(test_numbers_come_before_coordinates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
