/* The sparse grid and the sort: every particle in its block, with all that belongs to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/hash.h"
#include "core/random.h"
#include "state/blocks.h"
#include <math.h>
#include <stdlib.h>

enum { IDS_MAX = 4096 };

/* A set of particles, and for each id where it must be. */
typedef struct world {
    spate_context *ctx;
    particles p;
    blocks b;
    scratch s;
    uint32_t next_id;
    bool alive[IDS_MAX];
    double g[IDS_MAX][3];
} world;

static world *world_open(int dim, const int period[3], int threads) {
    world *w = calloc(1, sizeof *w);
    spate_config config = spate_default_config();
    config.threads = threads;
    assert_int_equal(spate_open(&config, &w->ctx), SPATE_OK);
    w->p = (particles){.ctx = w->ctx, .fields = (1u << PARTICLE_FIELD_COUNT) - 1};
    w->s.ctx = w->ctx;
    assert_int_equal(particles_reserve(&w->p, 64), SPATE_OK);
    assert_int_equal(blocks_create(w->ctx, dim, period, &w->b), SPATE_OK);
    return w;
}

static void world_close(world *w) {
    particles_free(&w->p);
    blocks_free(&w->b);
    scratch_free(&w->s);
    spate_close(w->ctx);
    free(w);
}

/* What the fields of a particle hold, by its id. */
static real value_of(uint32_t id, int field, int component) {
    return (real)(random_bits(id, (uint64_t)field, (uint64_t)component) >> 44);
}

static uint32_t world_add(world *w, const double g[3]) {
    int64_t i;
    assert_true(w->next_id < IDS_MAX);
    assert_int_equal(blocks_add(&w->b, &w->p, g, &i), SPATE_OK);
    assert_int_equal(i, w->p.count - 1);
    uint32_t id = w->next_id++;
    assert_true(w->p.mass[i] == 0 && w->p.dilation[i] == 0 && w->p.group[i] == 0);
    for (int c = 0; c < 4; c++) assert_true(w->p.velocity[i][c] == (c == 3));
    for (int c = 0; c < 12; c++) assert_true(w->p.affine[i][c / 4][c % 4] == 0);
    w->p.id[i] = id;
    w->p.group[i] = (uint16_t)(id % 1000);
    w->p.dilation[i] = value_of(id, 1, 0);
    for (int c = 0; c < 6; c++) PLANE(&w->p, strain, c)[i] = value_of(id, 2, c);
    for (int c = 0; c < 4; c++) w->p.velocity[i][c] = value_of(id, 3, c);
    for (int c = 0; c < 12; c++) w->p.affine[i][c / 4][c % 4] = value_of(id, 4, c);
    for (int k = 0; k < POLY_MODES_MAX; k++) w->p.modes[i][k][k % 4] = value_of(id, 5, k);
    w->alive[id] = true;
    for (int a = 0; a < w->b.dim; a++) w->g[id][a] = g[a];
    return id;
}

/* Random particles in a box of `size` cells from `low` on. */
static void world_fill(world *w, int count, double low, double size) {
    for (int n = 0; n < count; n++) {
        double g[3] = {0};
        for (int a = 0; a < w->b.dim; a++)
            g[a] = low + size * random_unit(5, w->next_id, (uint64_t)a);
        world_add(w, g);
    }
}

static void world_sort(world *w) {
    /* mass remembers the old place, to see whether the sort is stable */
    for (int64_t i = 0; i < w->p.count; i++) w->p.mass[i] = (real)i;
    int64_t lost;
    assert_int_equal(blocks_sort(&w->b, &w->p, &w->s, w->ctx->pool, &lost), SPATE_OK);
    assert_int_equal(lost, -1);
    assert_true(scratch_is_empty(&w->s));
}

/* Moves every particle by up to a cell along each axis. */
static void world_move(world *w, uint64_t round) {
    for (int32_t block = 0; block < w->b.count; block++)
        for (int64_t i = w->b.first[block]; i < w->b.first[block + 1]; i++) {
            uint32_t id = w->p.id[i];
            for (int a = 0; a < w->b.dim; a++) {
                real *x = PLANE(&w->p, position, a) + i;
                *x += (real)(2 * random_unit(round, id, (uint64_t)a) - 1);
                w->g[id][a] = w->b.coords[block][a] * BLOCK_EDGE + (double)*x;
            }
        }
}

static void world_remove(world *w, uint32_t every, uint32_t from) {
    for (int64_t i = 0; i < w->p.count; i++)
        if (w->p.id[i] % every == from) {
            w->p.group[i] = GROUP_REMOVED;
            w->alive[w->p.id[i]] = false;
        }
}

/* ---- Checks ---- */

/* Distance along an axis that may be periodic. */
static double apart(const world *w, int a, double x, double y) {
    double length = w->b.period[a] * BLOCK_EDGE, d = x - y;
    return length > 0 ? fabs(d - length * round(d / length)) : fabs(d);
}

static int cell_of(const world *w, int64_t i) {
    int cell = 0;
    for (int a = 0; a < w->b.dim; a++) {
        real x = PLANE(&w->p, position, a)[i];
        assert_true(x >= 0 && x < BLOCK_EDGE);
        cell = cell * BLOCK_EDGE + (int)x;
    }
    return cell;
}

/* Everyone alive is there once, where it should be, with its values; cells ascend, ties keep order.
 */
static void check_particles(const world *w, double tolerance) {
    const particles *p = &w->p;
    bool *seen = calloc(IDS_MAX, sizeof *seen);
    int64_t alive = 0;
    /* over one or two periodic blocks both ends of a block lead to the same one */
    bool is_stable = true;
    for (int a = 0; a < w->b.dim; a++) is_stable &= w->b.period[a] == 0 || w->b.period[a] > 2;
    for (uint32_t id = 0; id < w->next_id; id++) alive += w->alive[id];
    assert_int_equal(p->count, alive);
    assert_int_equal(w->b.first[0], 0);
    assert_int_equal(w->b.first[w->b.count], p->count);
    assert_int_equal(w->b.sorted, p->count);
    for (int32_t block = 0; block < w->b.count; block++)
        for (int64_t i = w->b.first[block]; i < w->b.first[block + 1]; i++) {
            uint32_t id = p->id[i];
            double g[3];
            assert_true(id < w->next_id && w->alive[id] && !seen[id]);
            seen[id] = true;
            blocks_position(&w->b, p, block, i, g);
            for (int a = 0; a < w->b.dim; a++)
                assert_true(apart(w, a, g[a], w->g[id][a]) <= tolerance);
            if (i > w->b.first[block]) {
                assert_true(cell_of(w, i - 1) <= cell_of(w, i));
                if (is_stable && cell_of(w, i - 1) == cell_of(w, i))
                    assert_true(p->mass[i - 1] < p->mass[i]);
            }
            assert_int_equal(p->group[i], id % 1000);
            assert_true(p->dilation[i] == value_of(id, 1, 0));
            for (int c = 0; c < 6; c++) assert_true(PLANE(p, strain, c)[i] == value_of(id, 2, c));
            for (int c = 0; c < 4; c++) assert_true(p->velocity[i][c] == value_of(id, 3, c));
            for (int c = 0; c < 12; c++)
                assert_true(p->affine[i][c / 4][c % 4] == value_of(id, 4, c));
            for (int k = 0; k < POLY_MODES_MAX; k++)
                assert_true(p->modes[i][k][k % 4] == value_of(id, 5, k));
        }
    free(seen);
}

/* The block at given coordinates, or -1. That every block is found by its own has been checked, so
 * one that is not found is not there. */
static int32_t search_block(const blocks *b, const int32_t c[3]) {
    int32_t i = blocks_find(b, c);
    assert_true(i >= -1 && i < b->count);
    if (i >= 0) assert_memory_equal(b->coords[i], c, sizeof b->coords[i]);
    return i;
}

/* Whether a comes before b on the Z curve: the highest bit in which they differ decides, x before y
 * before z. */
static bool is_before(const int32_t a[3], const int32_t b[3]) {
    for (int bit = 20; bit >= 0; bit--)
        for (int axis = 0; axis < 3; axis++) {
            int x = (a[axis] + (1 << 20)) >> bit & 1, y = (b[axis] + (1 << 20)) >> bit & 1;
            if (x != y) return x < y;
        }
    return false;
}

static void check_blocks(const blocks *b) {
    int32_t occupied = 0;
    bool *needed = calloc((size_t)b->count + 1, sizeof *needed);
    for (int32_t i = 0; i < b->count; i++) assert_int_equal(blocks_find(b, b->coords[i]), i);
    for (int32_t i = 0; i < b->count; i++) {
        if (i > 0) assert_true(is_before(b->coords[i - 1], b->coords[i]));
        bool holds = b->first[i + 1] > b->first[i];
        assert_int_equal(b->tile[i], holds ? occupied : -1);
        if (holds) assert_int_equal(b->occupied[occupied++], i);
        for (int code = 0; code < neighbour_count(b->dim); code++) {
            int offset[3] = {code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
            if (b->dim == 2) offset[0] = code / 3 - 1, offset[1] = code % 3 - 1, offset[2] = 0;
            int32_t c[3];
            for (int a = 0; a < 3; a++) {
                c[a] = b->coords[i][a] + offset[a];
                if (b->period[a] && c[a] < 0) c[a] += b->period[a];
                if (b->period[a] && c[a] >= b->period[a]) c[a] -= b->period[a];
            }
            int32_t expected = search_block(b, c);
            assert_int_equal(b->neighbours[i][code], expected);
            if (!holds) continue;
            assert_true(expected >= 0);
            needed[expected] = true;
        }
    }
    assert_int_equal(occupied, b->occupied_count);
    for (int32_t i = 0; i < b->count; i++) assert_true(needed[i]); /* and no block too many */
    assert_int_equal(blocks_find(b, (const int32_t[3]){70000, 70000, b->dim == 3}), -1);
    free(needed);
}

static void check_world(const world *w, double tolerance) {
    check_particles(w, tolerance);
    check_blocks(&w->b);
}

/* ---- Tests ---- */

static const int no_period[3] = {0, 0, 0};

/* Some rounds of moving, removing and adding, each followed by a sort. */
static void live(world *w, bool checked) {
    double size = w->b.dim == 2 ? 40 : 14;
    world_fill(w, 1500, 0, size);
    world_sort(w);
    if (checked) check_world(w, 1e-5);
    for (int round = 1; round <= 5; round++) {
        world_move(w, (uint64_t)round);
        if (round % 2) world_remove(w, 17, (uint32_t)round);
        if (round > 2) world_fill(w, 60, -9 + round, size);
        world_sort(w);
        if (checked) check_world(w, 1e-5);
    }
    assert_int_equal(w->b.sorts, 6);
}

static void test_sort_2d_and_3d(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        world *w = world_open(dim, no_period, 2);
        live(w, true);
        /* an id that is off by a cell is noticed */
        w->g[w->p.id[0]][0] += 1;
        double g[3];
        blocks_position(&w->b, &w->p, w->b.occupied[0], 0, g);
        assert_true(apart(w, 0, g[0], w->g[w->p.id[0]][0]) > 0.5);
        world_close(w);
    }
}

static void test_periodic_axes(void **state) {
    (void)state;
    static const int periods[][3] = {{13, 0, 0}, {13, 13, 0}, {3, 0, 0}, {5, 4, 3}, {1, 2, 0}};
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(periods); k++) {
            int period[3] = {periods[k][0], periods[k][1], dim == 3 ? periods[k][2] : 0};
            world *w = world_open(dim, period, 2);
            live(w, true);
            for (int32_t i = 0; i < w->b.count; i++)
                for (int a = 0; a < dim; a++)
                    if (period[a])
                        assert_true(w->b.coords[i][a] >= 0 && w->b.coords[i][a] < period[a]);
            world_close(w);
        }
}

/* Who refers to particles by index finds them again after a sort, and who is gone is named. */
static void test_indices_follow_a_sort(void **state) {
    (void)state;
    world *w = world_open(3, no_period, 2);
    live(w, false);
    for (int64_t i = 0; i < w->p.count; i++) PLANE(&w->p, position, i % 3)[i] += (real)(i % 7) - 3;
    for (int64_t i = 5; i < w->p.count; i += 11) w->p.group[i] = GROUP_REMOVED;
    const int64_t before = w->p.count;
    uint64_t *ids = malloc((size_t)before * sizeof *ids);
    uint16_t *groups = malloc((size_t)before * sizeof *groups);
    memcpy(ids, w->p.id, (size_t)before * sizeof *ids);
    memcpy(groups, w->p.group, (size_t)before * sizeof *groups);
    int64_t lost;
    assert_int_equal(blocks_sort(&w->b, &w->p, &w->s, w->ctx->pool, &lost), SPATE_OK);
    assert_int_equal(lost, -1);
    assert_int_equal(w->b.order_before, before);
    uint32_t *to = malloc((size_t)before * sizeof *to);
    blocks_moved(&w->b, to);
    int64_t moved = 0;
    for (int64_t i = 0; i < before; i++) {
        assert_int_equal(to[i] == UINT32_MAX, groups[i] == GROUP_REMOVED);
        if (to[i] == UINT32_MAX) continue;
        assert_true(w->p.id[to[i]] == ids[i]);
        moved += to[i] != i;
    }
    assert_true(moved > before / 2);
    free(ids), free(groups), free(to);
    world_close(w);
}

static uint64_t hash_world(const world *w) {
    uint64_t h = hash_bytes(w->b.coords, (size_t)w->b.count * sizeof *w->b.coords, 0);
    h = hash_bytes(w->b.first, ((size_t)w->b.count + 1) * sizeof *w->b.first, h);
    for (int32_t i = 0; i < w->b.count; i++)
        h = hash_bytes(w->b.neighbours[i], (size_t)neighbour_count(w->b.dim) * sizeof(int32_t), h);
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++) {
        const particle_field_info *info = &particle_fields[f];
        for (int c = 0; c < info->planes && info->flags & FIELD_SORTED; c++)
            h = hash_bytes(particles_element(&w->p, (particle_field)f, c, 0),
                           (size_t)w->p.count * info->bytes, h);
    }
    return h;
}

static void test_threads_make_no_difference(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    static const int period[3] = {13, 0, 0};
    for (int dim = 2; dim <= 3; dim++) {
        uint64_t hash = 0;
        for (int t = 0; t < COUNT_OF(threads); t++) {
            world *w = world_open(dim, period, threads[t]);
            live(w, false);
            if (t == 0) hash = hash_world(w);
            assert_true(hash_world(w) == hash);
            PLANE(&w->p, position, 1)[7] += (real)0.001;
            assert_false(hash_world(w) == hash);
            world_close(w);
        }
    }
}

/* A checkpoint holds coords and first: the rest comes back as it was. */
static void test_rebuild_equals_sort(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        static const int period[3] = {0, 13, 0};
        world *w = world_open(dim, period, 2);
        live(w, false);
        blocks b;
        assert_int_equal(blocks_create(w->ctx, dim, period, &b), SPATE_OK);
        assert_int_equal(blocks_reserve(&b, w->b.count), SPATE_OK);
        b.count = w->b.count;
        memcpy(b.coords, w->b.coords, (size_t)b.count * sizeof *b.coords);
        memcpy(b.first, w->b.first, ((size_t)b.count + 1) * sizeof *b.first);
        assert_int_equal(blocks_rebuild(&b, w->ctx->pool), SPATE_OK);
        check_blocks(&b);
        assert_int_equal(b.sorted, w->b.sorted);
        assert_int_equal(b.occupied_count, w->b.occupied_count);
        for (int32_t i = 0; i < b.count; i++)
            assert_memory_equal(b.neighbours[i], w->b.neighbours[i],
                                (size_t)neighbour_count(dim) * sizeof(int32_t));
        /* and it can be gone on from: the next sort has the same outcome */
        blocks sorted = w->b;
        world_move(w, 99);
        w->b = b;
        world_sort(w);
        check_world(w, 1e-5);
        blocks_free(&sorted);
        world_close(w);
    }
}

static void test_nothing_moved_changes_nothing(void **state) {
    (void)state;
    world *w = world_open(3, no_period, 2);
    live(w, false);
    world_sort(w);
    uint64_t hash = hash_world(w);
    world_sort(w);
    assert_true(hash_world(w) == hash);
    world_close(w);
}

static void test_lost_particles_are_reported(void **state) {
    (void)state;
    static const double jumps[] = {-4.6, 8.5, 1e9, NAN, HUGE_VAL};
    for (int j = 0; j < COUNT_OF(jumps); j++) {
        world *w = world_open(3, no_period, 2);
        world_fill(w, 800, 0, 20);
        world_sort(w);
        int64_t lost = -1, sorts = w->b.sorts;
        PLANE(&w->p, position, 1)[700] = (real)jumps[j];
        PLANE(&w->p, position, 2)[311] = (real)jumps[j];
        assert_int_equal(blocks_sort(&w->b, &w->p, &w->s, w->ctx->pool, &lost), SPATE_OK);
        assert_int_equal(lost, 311);
        assert_int_equal(w->b.sorts, sorts);
        assert_int_equal(w->p.count, 800);
        assert_true(scratch_is_empty(&w->s));
        world_close(w);
    }
    /* just within a block is not lost */
    world *w = world_open(2, no_period, 1);
    uint32_t id = world_add(w, (const double[3]){5, 6, 0});
    world_sort(w);
    w->p.position[0] = (real)-3.99, w->g[id][0] = 4 - 3.99;
    PLANE(&w->p, position, 1)[0] = (real)7.99, w->g[id][1] = 4 + 7.99;
    world_sort(w);
    check_world(w, 1e-5);
    world_close(w);
}

/* Positions that round onto a block's border belong to the block behind it. */
static void test_borders(void **state) {
    (void)state;
    world *w = world_open(2, no_period, 1);
    static const double places[] = {0, 4, 8, -4, 3.9999999999, -1e-12, 7.99999999999, 4.0000001};
    for (int i = 0; i < COUNT_OF(places); i++)
        for (int j = 0; j < COUNT_OF(places); j++)
            world_add(w, (const double[3]){places[i], places[j], 0});
    world_sort(w);
    check_world(w, 1e-6);
    for (int64_t i = 0; i < w->p.count; i++) w->p.position[i] = -(real)1e-12;
    for (int32_t block = 0; block < w->b.count; block++)
        for (int64_t i = w->b.first[block]; i < w->b.first[block + 1]; i++)
            w->g[w->p.id[i]][0] = w->b.coords[block][0] * BLOCK_EDGE;
    world_sort(w);
    check_world(w, 1e-6);
    world_close(w);
}

/* At 250,000 blocks from the origin: below 1e-4 cells, where a float would err by 0.03. */
static void test_far_from_the_origin(void **state) {
    (void)state;
    for (int sign = -1; sign <= 1; sign += 2) {
        world *w = world_open(3, no_period, 2);
        world_fill(w, 1000, sign * 1e6, 20);
        double worst_float = 0;
        for (uint32_t id = 0; id < w->next_id; id++)
            for (int a = 0; a < 3; a++)
                worst_float = fmax(worst_float, fabs((double)(float)w->g[id][a] - w->g[id][a]));
        assert_true(worst_float > 1e-2);
        world_sort(w);
        assert_true(labs((long)w->b.coords[0][0]) >= 249990);
        check_world(w, 1e-6);
        for (uint64_t round = 0; round < 4; round++) {
            world_move(w, (uint64_t)round);
            world_sort(w);
            check_world(w, 1e-6);
        }
        world_close(w);
    }
}

/* Moves every seventh particle by up to 12 cells along each axis. */
static void world_throw(world *w) {
    for (int32_t block = 0; block < w->b.count; block++)
        for (int64_t i = w->b.first[block]; i < w->b.first[block + 1]; i++) {
            uint32_t id = w->p.id[i];
            for (int a = 0; a < w->b.dim && id % 7 == 0; a++) {
                real *x = PLANE(&w->p, position, a) + i;
                *x += (real)(24 * random_unit(9, id, (uint64_t)a) - 12);
                w->g[id][a] = w->b.coords[block][a] * BLOCK_EDGE + (double)*x;
            }
        }
}

/* Particles that went further than a sort follows are carried: they arrive with all that they
 * have. */
static void test_carried_particles_arrive(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        world *w = world_open(dim, (const int[3]){0, 8, 0}, 2);
        world_fill(w, 600, 0, 16);
        world_sort(w);
        world_throw(w);
        int64_t lost, carried = 0;
        for (int32_t block = 0; block < w->b.count; block++)
            for (int64_t i = w->b.first[block], last = w->b.first[block + 1]; i < last; i++)
                if (w->p.id[i] % 7 == 0) {
                    assert_int_equal(blocks_carry(&w->b, &w->p, block, i), SPATE_OK);
                    assert_int_equal(w->p.group[i], GROUP_REMOVED);
                    carried++;
                }
        assert_true(carried > 50);
        assert_int_equal(w->p.count, 600 + carried);
        world_sort(w);
        assert_int_equal(w->p.count, 600);
        check_world(w, 1e-5);
        /* negative control: the sort alone does not follow them */
        world_throw(w);
        assert_int_equal(blocks_sort(&w->b, &w->p, &w->s, w->ctx->pool, &lost), SPATE_OK);
        assert_true(lost >= 0);
        world_close(w);
    }
}

static void test_empty_worlds(void **state) {
    (void)state;
    world *w = world_open(3, no_period, 2);
    world_sort(w);
    check_world(w, 0);
    assert_int_equal(w->b.count, 0);
    world_fill(w, 50, 0, 9);
    world_sort(w);
    check_world(w, 1e-6);
    world_remove(w, 1, 0);
    world_sort(w);
    assert_int_equal(w->p.count, 0);
    assert_int_equal(w->b.count, 0);
    world_fill(w, 20, 0, 9);
    world_sort(w);
    check_world(w, 1e-6);
    world_close(w);
}

static void test_steady_sorts_take_no_memory(void **state) {
    (void)state;
    world *w = world_open(3, no_period, 2);
    world_fill(w, 2000, 0, 16);
    world_sort(w);
    int64_t blocks_now = 0;
    size_t bytes = 0;
    for (int64_t round = 0; round < 6; round++) {
        for (int64_t i = 0; i < w->p.count; i++) w->p.position[i] += (real)(round % 2 ? -0.5 : 0.5);
        world_sort(w);
        if (round == 1) { /* both states have been seen */
            blocks_now = w->ctx->blocks_now;
            bytes = w->ctx->bytes_peak = w->ctx->bytes_now;
        } else if (round > 1) {
            assert_int_equal(w->ctx->bytes_peak, bytes);
            assert_int_equal(w->ctx->blocks_now, blocks_now);
        }
    }
    world_close(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sort_2d_and_3d),
        cmocka_unit_test(test_periodic_axes),
        cmocka_unit_test(test_indices_follow_a_sort),
        cmocka_unit_test(test_threads_make_no_difference),
        cmocka_unit_test(test_rebuild_equals_sort),
        cmocka_unit_test(test_nothing_moved_changes_nothing),
        cmocka_unit_test(test_lost_particles_are_reported),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_far_from_the_origin),
        cmocka_unit_test(test_carried_particles_arrive),
        cmocka_unit_test(test_empty_worlds),
        cmocka_unit_test(test_steady_sorts_take_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
