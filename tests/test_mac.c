/* The sparse MAC grid: indices of cells in and beside a brick, against places in the domain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "state/mac.h"

static spate_context *open_context(void) {
    spate_context *ctx;
    spate_config config = spate_default_config();
    config.threads = 2;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    return ctx;
}

/* Bricks at the given places, `widen` with all around them. */
static void add_bricks(mac *m, const int32_t (*at)[3], int count, bool widen) {
    assert_int_equal(sparse_lattice_begin(&m->bricks), SPATE_OK);
    for (int i = 0; i < count; i++)
        assert_int_equal(sparse_lattice_insert(&m->bricks, at[i]), SPATE_OK);
    if (widen) assert_int_equal(sparse_lattice_widen(&m->bricks), SPATE_OK);
    sparse_lattice_number(&m->bricks);
    assert_int_equal(sparse_lattice_finish(&m->bricks, m->ctx->pool), SPATE_OK);
    assert_int_equal(mac_reserve(m), SPATE_OK);
}

/* The index of a cell of the domain by search, or -1. */
static int64_t index_of(const mac *m, const int cell[3]) {
    int32_t brick[3] = {0};
    int at[3] = {0};
    for (int a = 0; a < m->dim; a++) {
        int cells = m->bricks.period[a] * BRICK_EDGE, g = cell[a];
        if (cells) g = (g + cells) % cells;
        brick[a] = (g + 800) / BRICK_EDGE - 100, at[a] = (g + 800) % BRICK_EDGE;
    }
    int32_t home = sparse_lattice_find(&m->bricks, brick);
    if (home < 0) return -1;
    int64_t first = (int64_t)home * mac_cells(m->dim);
    return m->dim == 3 ? first + 64 * at[0] + 8 * at[1] + at[2] : first + 8 * at[0] + at[1];
}

/* Every cell that mac_cell reaches from every brick. */
static void check_cells(const mac *m) {
    int64_t known = 0, missing = 0;
    for (int32_t b = 0; b < m->bricks.count; b++)
        for (int i = -8; i < 16; i++)
            for (int j = -8; j < 16; j++)
                for (int k = m->dim == 3 ? -8 : 0; k < (m->dim == 3 ? 16 : 1); k++) {
                    const int32_t *c = m->bricks.coords[b];
                    const int cell[3] = {c[0] * 8 + i, c[1] * 8 + j, c[2] * 8 + k};
                    int64_t expected = index_of(m, cell);
                    assert_int_equal(mac_cell(m, b, (const int[3]){i, j, k}), expected);
                    known += expected >= 0, missing += expected < 0;
                }
    assert_true(known > 0 && missing > 0);
}

static void check_neighbours(const mac *m) {
    for (int32_t b = 0; b < m->bricks.count; b++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            int at[3];
            mac_place(c, m->dim, at);
            assert_int_equal(mac_cell(m, b, at), (int64_t)b * mac_cells(m->dim) + c);
            for (int axis = 0; axis < m->dim; axis++)
                for (int way = -1; way <= 1; way += 2) {
                    int next[3] = {at[0], at[1], at[2]};
                    next[axis] += way;
                    for (int a = 0; a < m->dim; a++) next[a] += m->bricks.coords[b][a] * 8;
                    assert_int_equal(mac_beside(m, b, c, at, axis, way), index_of(m, next));
                }
        }
}

static void test_cells_and_neighbours(void **state) {
    (void)state;
    static const int32_t places[][3] = {{0, 0, 0}, {1, 0, 0}, {-1, 2, 0}, {3, -1, 0}};
    static const int32_t deep[][3] = {{0, 0, 0}, {1, 0, 1}, {-1, 2, 0}, {2, 2, -1}};
    spate_context *ctx = open_context();
    const int64_t blocks = ctx->blocks_now;
    for (int dim = 2; dim <= 3; dim++)
        for (int wide = 0; wide < 2; wide++) {
            mac m;
            mac_create(ctx, dim, (const int[3]){0, 0, 0}, MAC_ALL, &m);
            add_bricks(&m, dim == 2 ? places : deep, 4, wide);
            check_cells(&m);
            check_neighbours(&m);
            mac_free(&m);
            mac_free(&m); /* twice is fine */
        }
    assert_int_equal(ctx->blocks_now, blocks);
    spate_close(ctx);
}

/* Periods of one and of several bricks. */
static void test_periodic_axes(void **state) {
    (void)state;
    static const int32_t places[][3] = {{0, 0, 0}, {2, 1, 0}};
    spate_context *ctx = open_context();
    for (int dim = 2; dim <= 3; dim++) {
        mac m;
        mac_create(ctx, dim, (const int[3]){24, 0, dim == 3 ? 8 : 0}, MAC_ALL, &m);
        assert_int_equal(m.bricks.period[0], 3);
        assert_int_equal(m.bricks.period[2], dim == 3 ? 1 : 0);
        add_bricks(&m, places, 2, false);
        check_cells(&m);
        check_neighbours(&m);
        /* the last cell of the domain is before the first */
        int32_t first = sparse_lattice_find(&m.bricks, places[0]);
        assert_int_equal(mac_cell(&m, first, (const int[3]){0, -1, 0}), -1);
        assert_int_equal(mac_cell(&m, first, (const int[3]){-1, 8, 0}),
                         index_of(&m, (const int[3]){23, 8, 0}));
        assert_true(mac_cell(&m, first, (const int[3]){-1, 8, 0}) >= 0);
        mac_free(&m);
    }
    spate_close(ctx);
}

/* All fields have room for all cells; no more memory when the set does not grow. */
static void test_room(void **state) {
    (void)state;
    static const int32_t places[][3] = {{0, 0, 0}, {5, 5, 0}, {9, 9, 0}};
    spate_context *ctx = open_context();
    for (int dim = 2; dim <= 3; dim++) {
        mac m;
        mac_create(ctx, dim, (const int[3]){0, 0, 0}, MAC_ALL, &m);
        assert_int_equal(mac_bytes(&m), 0);
        add_bricks(&m, places, 3, true);
        assert_int_equal(m.bricks.count, 3 * neighbour_count(dim));
        assert_true(m.capacity >= m.bricks.count);
        size_t bytes = 0;
        const size_t cells = (size_t)m.capacity * (size_t)mac_cells(dim);
#define X(name, type, components)                                         \
    for (int c = 0; c < ((components) < dim ? (components) : dim); c++) { \
        for (size_t i = 0; i < cells; i++) m.name[c][i] = (type)1;        \
        bytes += cells * sizeof(type);                                    \
    }
        MAC_FIELDS(X)
#undef X
        assert_int_equal(mac_bytes(&m), bytes);
        const size_t now = ctx->bytes_now;
        add_bricks(&m, places, 2, true);
        assert_int_equal(ctx->bytes_now, now);
        assert_int_equal(mac_bytes(&m), bytes);
        mac_free(&m);
    }
    spate_close(ctx);
}

/* Only the fields that were asked for have memory. */
static void test_fields(void **state) {
    (void)state;
    static const int32_t places[][3] = {{0, 0, 0}};
    spate_context *ctx = open_context();
    mac some, all;
    mac_create(ctx, 2, (const int[3]){0, 0, 0}, MAC_BIT(velocity) | MAC_BIT(valid), &some);
    mac_create(ctx, 2, (const int[3]){0, 0, 0}, MAC_ALL, &all);
    add_bricks(&some, places, 1, false);
    add_bricks(&all, places, 1, false);
    assert_true(some.velocity[0] && some.velocity[1] && some.valid[0]);
    assert_true(!some.velocity_old[0] && !some.mass[1] && !some.target_divergence[0] &&
                !some.pressure[0]);
    assert_true(all.velocity_old[0] && all.mass[1] && all.target_divergence[0] && all.pressure[0]);
    assert_int_equal(mac_bytes(&some),
                     (size_t)some.capacity * mac_cells(2) * (2 * sizeof(real) + 1));
    assert_true(mac_bytes(&some) < mac_bytes(&all));
    mac_free(&some);
    mac_free(&all);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells_and_neighbours),
        cmocka_unit_test(test_periodic_axes),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
