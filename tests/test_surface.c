/*
 * Surfaces: the meshes around liquids are closed, face out, have the right volume and area, and do
 * not depend on the number of threads. References are those of the shapes that are filled.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "count_down.h"
#include "surface/lattice.h"
#include "surface/marching.h"
#include "surfaces.h"
#include "watched.h"
#include <math.h>

static const double pi = 3.14159265358979323846;

/* ---- Particles ------------------------------------------------------------------------------- */

static surface_settings cube_of(int last, double particle_spacing, int smoothing) {
    return (surface_settings){.spacing = 1,
                              .last = {last, last, last},
                              .particle_spacing = particle_spacing,
                              .smoothing = smoothing};
}

static double distance_to(const double x[3], double cx, double cy, double cz) {
    return sqrt((x[0] - cx) * (x[0] - cx) + (x[1] - cy) * (x[1] - cy) + (x[2] - cz) * (x[2] - cz));
}

static bool in_ball(const double x[3]) { return distance_to(x, 20.3, 19.8, 20.1) < 16; }
static bool in_two_balls(const double x[3]) {
    return distance_to(x, 14, 20, 20) < 8 || distance_to(x, 28.5, 20, 20) < 8;
}
static bool in_pool(const double x[3]) { return x[1] < 17; }
static bool everywhere(const double x[3]) { return x[0] < 1000; }

/* ---- From particles -------------------------------------------------------------------------- */

/* The area is that of the ball; its volume is that of the particles that found room in it. */
static void ball_is_a_ball(void **state) {
    for (int k = 0; k < (WATCHED ? 1 : 4); k++) {
        surface_settings s = cube_of(40, 1, k < 2 ? 2 : 0);
        cloud c = fill_shape(in_ball, s.last, 1, k % 2 ? 0.8 : 0);
        surface_mesh m;
        assert_int_equal(surface_create(*state, &s, c.list, c.count, &m), SPATE_OK);
        verdict v = judge(&m);
        assert_closed(&v);
        assert_int_equal(v.euler, 2);
        assert_int_equal(v.wrong, 0);
        assert_within(v.volume, (double)c.count, 0.03);
        assert_within(v.area, 4 * pi * 16 * 16, 0.05);
        for (int64_t i = 0; i < m.vertex_count; i++) {
            const double middle[3] = {20.3, 19.8, 20.1};
            double out = 0;
            for (int a = 0; a < 3; a++)
                out += (double)m.normal[i][a] * ((double)m.position[i][a] - middle[a]);
            assert_true(out > 0.9 * 15);
            /* The particles turn about z: v = (y, 2, 0). */
            assert_true(fabs((double)m.velocity[i][0] - (double)m.position[i][1]) < 1.5);
            assert_true(fabs((double)m.velocity[i][1] - 2) < 1e-5);
        }
        surface_free(&m);
        free(c.list);
    }
}

static void touching_balls_are_one_piece(void **state) {
    surface_settings s = cube_of(40, 1, 2);
    cloud c = fill_shape(in_two_balls, s.last, 1, 0.5);
    surface_mesh m;
    assert_int_equal(surface_create(*state, &s, c.list, c.count, &m), SPATE_OK);
    verdict v = judge(&m);
    assert_closed(&v);
    assert_int_equal(v.euler, 2);
    assert_within(v.volume, (double)c.count, 0.06); /* they are small: radius 8 */
    surface_free(&m);
    free(c.list);
}

/* Against the walls the mesh is flat, closed and in the domain; so it is where the sides are
 * periodic. The height is 17. */
static void pool_ends_at_the_walls(void **state) {
    for (int k = WATCHED ? 3 : 0; k < 4; k++) {
        surface_settings s = cube_of(30, 1, k % 2 ? 5 : 0);
        s.periodic[0] = s.periodic[2] = k >= 2;
        cloud c = fill_shape(in_pool, s.last, 1, 0.6);
        surface_mesh m;
        assert_int_equal(surface_create(*state, &s, c.list, c.count, &m), SPATE_OK);
        verdict v = judge(&m);
        assert_closed(&v);
        assert_int_equal(v.euler, 2);
        assert_int_equal(v.wrong, 0);
        assert_within(v.volume, 30 * 30 * 17, 0.02);
        assert_within(v.area, 2 * 30 * 30 + 4 * 30 * 17, 0.02);
        double top = 0;
        for (int64_t i = 0; i < m.vertex_count; i++)
            for (int a = 0; a < 3; a++) {
                assert_true(m.position[i][a] >= 0 && m.position[i][a] <= 30);
                if (a == 1 && (double)m.position[i][1] > top) top = (double)m.position[i][1];
            }
        assert_true(fabs(top - 17) < 0.4);
        surface_free(&m);
        free(c.list);
    }
}

static void full_domain_is_a_box(void **state) {
    surface_settings s = cube_of(17, 1, 2);
    s.origin[0] = 100, s.spacing = s.particle_spacing = 0.5;
    cloud c = fill_shape(everywhere, s.last, 1, 0);
    surface_mesh m;
    assert_int_equal(surface_create(*state, &s, c.list, c.count, &m), SPATE_OK);
    verdict v = judge(&m);
    assert_closed(&v);
    assert_int_equal(v.euler, 2);
    assert_within(v.volume, 8.5 * 8.5 * 8.5, 1e-4);
    surface_free(&m);
    free(c.list);
}

static void nothing_gives_nothing(void **state) {
    surface_settings s = cube_of(20, 1, 2);
    surface_particle lost[2] = {{.x = {(real)NAN, 1, 1}}, {.x = {500, 1, 1}}};
    surface_mesh m;
    for (int count = 0; count <= 2; count += 2) {
        assert_int_equal(surface_create(*state, &s, lost, count, &m), SPATE_OK);
        assert_int_equal(m.vertex_count, 0);
        assert_int_equal(m.triangle_count, 0);
        surface_free(&m);
    }
}

/* Memory follows the liquid: a ball of 20 thousand particles in a domain of 10^9 points. */
static void large_domains_are_cheap(void **state) {
    spate_context *ctx = *state;
    surface_settings s = cube_of(1000, 1, 0);
    const int part[3] = {40, 40, 40};
    cloud c = fill_shape(in_ball, part, 1, 0.5);
    surface_mesh m;
    ctx->bytes_peak = ctx->bytes_now;
    assert_int_equal(surface_create(ctx, &s, c.list, c.count, &m), SPATE_OK);
    assert_true(m.triangle_count > 1000);
    assert_true(ctx->bytes_peak < 20000000);
    surface_free(&m);
    free(c.list);
}

/* ---- Bubbles --------------------------------------------------------------------------------- */

static double bubble; /* radius */
static bool around_bubble(const double x[3]) { return distance_to(x, 20, 20, 20) > bubble; }

/* A hole between unevenly placed particles is filled, a bubble that the grid can resolve stays. */
static void only_small_bubbles_are_filled(void **state) {
    for (int k = 0; k < 2; k++) {
        surface_settings s = cube_of(40, 1, 0);
        bubble = k ? 8 : 4;
        cloud c = fill_shape(around_bubble, s.last, 1, 0.5);
        surface_mesh m;
        assert_int_equal(surface_create(*state, &s, c.list, c.count, &m), SPATE_OK);
        verdict v = judge(&m);
        assert_closed(&v);
        assert_int_equal(v.euler, k ? 4 : 2); /* a box, and a ball in it */
        surface_free(&m);
        free(c.list);
    }
}

/* ---- From values ----------------------------------------------------------------------------- */

/* A lattice that fills `last` with random values; a layer of outside points is round it. */
static lattice random_lattice(spate_context *ctx, const int last[3], uint64_t seed) {
    const surface_settings settings = {
        .spacing = 1, .last = {last[0], last[1], last[2]}, .particle_spacing = 1};
    lattice l = lattice_create(ctx, &settings);
    for (int32_t z = -1; z <= last[2] / BRICK_EDGE; z++)
        for (int32_t y = -1; y <= last[1] / BRICK_EDGE; y++)
            for (int32_t x = -1; x <= last[0] / BRICK_EDGE; x++)
                assert_int_equal(lattice_add_brick(&l, x, y, z), SPATE_OK);
    assert_int_equal(lattice_order(&l), SPATE_OK);
    for (int64_t i = 0; i < (int64_t)l.bricks.count * BRICK_POINTS; i++) {
        int64_t b = i / BRICK_POINTS;
        int p[3];
        brick_point((int)(i % BRICK_POINTS), p);
        const int32_t x[3] = {lattice_point(&l, b, 0, p[0]), lattice_point(&l, b, 1, p[1]),
                              lattice_point(&l, b, 2, p[2])};
        l.values[i] = lattice_has(&l, x) ? (real)(random_unit(seed, (uint64_t)i, 0) - 0.5) : 1;
    }
    lattice_mark_inside(&l);
    return l;
}

/* Every pattern of corners meets every other one: the mesh is closed all the same, also where the
 * domain ends. */
static void random_values_give_closed_meshes(void **state) {
    static const int sizes[][3] = {{15, 15, 15}, {16, 9, 23}, {7, 8, 6}};
    marching_cases cases;
    marching_cases_fill(&cases);
    for (int k = 0; k < (WATCHED ? 3 : 12); k++) {
        lattice l = random_lattice(*state, sizes[k % 3], 100 + (uint64_t)k);
        surface_mesh m;
        assert_int_equal(marching_mesh(&l, &cases, NULL, &m), SPATE_OK);
        verdict v = judge(&m);
        assert_closed(&v);
        assert_true(v.volume > 0 && m.triangle_count > 500);
        surface_free(&m);
        lattice_free(&l);
    }
}

static void opposite_cases_mirrored(marching_cases *cases) {
    for (int pattern = 128; pattern < 256; pattern++)
        for (int c = 0; c < cases->corners[255 - pattern]; c++) {
            cases->corners[pattern] = cases->corners[255 - pattern];
            int other = cases->corners[pattern] - 1 - c;
            cases->edges[pattern][c] = cases->edges[255 - pattern][other];
        }
}

/* Negative controls: the table that takes a pattern and its opposite for the same, which leaves
 * holes at ambiguous faces (Durst 1988); and a mesh that lacks a triangle. */
static void wrong_meshes_are_noticed(void **state) {
    static const int last[3] = {15, 15, 15};
    marching_cases cases;
    marching_cases_fill(&cases);
    lattice l = random_lattice(*state, last, 7);
    surface_mesh m;
    assert_int_equal(marching_mesh(&l, &cases, NULL, &m), SPATE_OK);
    m.triangle_count--;
    verdict v = judge(&m);
    assert_int_equal(v.open, 3);
    surface_free(&m);
    opposite_cases_mirrored(&cases);
    assert_int_equal(marching_mesh(&l, &cases, NULL, &m), SPATE_OK);
    v = judge(&m);
    assert_true(v.open > 100);
    surface_free(&m);
    lattice_free(&l);
}

/* ---- Smoothing, threads, memory -------------------------------------------------------------- */

static void smoothing_keeps_the_volume(void **state) {
    verdict rough = {0};
    for (int passes = 0; passes <= 10; passes += 5) {
        surface_settings s = cube_of(40, 1, passes);
        cloud c = fill_shape(in_ball, s.last, 1, 1);
        surface_mesh m;
        assert_int_equal(surface_create(*state, &s, c.list, c.count, &m), SPATE_OK);
        verdict v = judge(&m);
        assert_closed(&v);
        if (!passes) rough = v;
        assert_within(v.volume, rough.volume, 0.01);
        assert_true(passes == 0 || v.area < rough.area);
        surface_free(&m);
        free(c.list);
    }
}

static void assert_same(const surface_mesh *a, const surface_mesh *b) {
    size_t vertices = (size_t)a->vertex_count, triangles = (size_t)a->triangle_count;
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->triangle_count, b->triangle_count);
    assert_memory_equal(a->position, b->position, vertices * sizeof *a->position);
    assert_memory_equal(a->normal, b->normal, vertices * sizeof *a->normal);
    assert_memory_equal(a->velocity, b->velocity, vertices * sizeof *a->velocity);
    assert_memory_equal(a->triangle, b->triangle, triangles * sizeof *a->triangle);
}

static void threads_do_not_matter(void **state) {
    surface_settings s = cube_of(40, 1, 2);
    cloud c = fill_shape(in_two_balls, s.last, 1, 1);
    surface_mesh one, more;
    assert_int_equal(surface_create(*state, &s, c.list, c.count, &one), SPATE_OK);
    for (int threads = 2; threads <= 3; threads++) {
        spate_context *ctx = open_with(threads);
        assert_int_equal(surface_create(ctx, &s, c.list, c.count, &more), SPATE_OK);
        assert_same(&one, &more);
        surface_free(&more);
        spate_close(ctx);
    }
    surface_free(&one);
    free(c.list);
}

static void no_memory_leaves_nothing_behind(void **state) {
    (void)state;
    int left = 1 << 20;
    spate_config config = {.allocate = count_down, .release = release, .user = &left, .threads = 1};
    surface_settings s = cube_of(12, 1, 2);
    cloud c = fill_shape(in_pool, s.last, 1, 0.5);
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    int64_t before = ctx->blocks_now;
    spate_status status = SPATE_OUT_OF_MEMORY;
    int made = 0;
    for (; status == SPATE_OUT_OF_MEMORY; made++) {
        surface_mesh m;
        left = made;
        status = surface_create(ctx, &s, c.list, c.count, &m);
        surface_free(&m);
        assert_int_equal(ctx->blocks_now, before);
    }
    assert_int_equal(status, SPATE_OK);
    assert_true(made > 20);
    spate_close(ctx);
    free(c.list);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ball_is_a_ball),
        cmocka_unit_test(touching_balls_are_one_piece),
        cmocka_unit_test(pool_ends_at_the_walls),
        cmocka_unit_test(full_domain_is_a_box),
        cmocka_unit_test(nothing_gives_nothing),
        cmocka_unit_test(large_domains_are_cheap),
        cmocka_unit_test(only_small_bubbles_are_filled),
        cmocka_unit_test(random_values_give_closed_meshes),
        cmocka_unit_test(wrong_meshes_are_noticed),
        cmocka_unit_test(smoothing_keeps_the_volume),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
