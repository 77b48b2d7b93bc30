/* Level: the surface around a block of particles is flat, at the right place, and rays find it. */
#include "pictures.h"

#include "pictures/trace/level_set.h"

enum { SIDE = 24 };
static const float half = 0.01f; /* half the particles' distance */

/* A cube of SIDE^3 particles from the origin on; its skin is at half a spacing beyond the last. */
static int64_t make_cube(v3 *x) {
    int64_t n = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++)
        x[n++] = v3_set((float)(i % SIDE) + 0.5f, (float)(i / SIDE % SIDE) + 0.5f,
                        (float)(i / SIDE / SIDE) + 0.5f) *
                 v3_splat(2 * half);
    return n;
}

static v3 particles[SIDE * SIDE * SIDE + 1];
static const v3 low = {-10, -10, -10, 0}, high = {10, 10, 10, 0};

static void surface_is_flat_and_in_place(void **state) {
    level_set l;
    int64_t n = make_cube(particles);
    float edge = SIDE * 2 * half, radius = 1.6f * half;
    assert_int_equal(level_set_create(*state, &(level_set_particles){particles, n, half}, radius,
                                      (v3[]){low, high}, &l),
                     SPATE_OK);
    for (int k = 0; k < 20; k++) {
        float at = edge * (0.3f + 0.02f * (float)k);
        ray down = {v3_set(at, 2, 0.5f * edge), {0, -1, 0, 0}};
        hit h = level_set_cross(&l, &down, 0, INFINITY, false);
        /* The outermost particles are at edge - half. */
        assert_true(h.met && fabsf(2 - h.t - (edge - half + radius)) < 0.8f * half);
        assert_true(h.normal[1] > 0.98f);
        assert_true(fabsf(level_set_value(&l, ray_at(&down, h.t))) < 0.1f * half);
        /* From inside it comes out at the other end. */
        ray in = {v3_set(at, 0.5f * edge, 0.5f * edge), {0, -1, 0, 0}};
        hit out = level_set_cross(&l, &in, 0, INFINITY, true);
        assert_true(out.met && fabsf(out.t - 0.5f * edge) < 1.5f * half && out.normal[1] < -0.98f);
    }
    ray past = {v3_set(-1, 2 * edge, 0.5f * edge), {1, 0, 0, 0}};
    assert_false(level_set_cross(&l, &past, 0, INFINITY, false).met);
    ray away = {v3_set(0.5f * edge, 2, 0.5f * edge), {0, 1, 0, 0}};
    assert_false(level_set_cross(&l, &away, 0, INFINITY, false).met);
    ray short_one = {v3_set(0.5f * edge, 2, 0.5f * edge), {0, -1, 0, 0}};
    assert_false(level_set_cross(&l, &short_one, 0, 1, false).met);
    level_set_free(&l);
}

/* Cut by a wall the surface is exactly flat there, with the wall's normal. */
static void walls_cut_it(void **state) {
    level_set l;
    int64_t n = make_cube(particles);
    v3 wall = high;
    wall[0] = 0.3f;
    assert_int_equal(level_set_create(*state, &(level_set_particles){particles, n, half},
                                      1.6f * half, (v3[]){low, wall}, &l),
                     SPATE_OK);
    ray in = {v3_set(2, 0.24f, 0.24f), {-1, 0, 0, 0}},
        out = {v3_set(0.2f, 0.24f, 0.24f), {1, 0, 0, 0}};
    hit h = level_set_cross(&l, &in, 0, INFINITY, false);
    assert_true(h.met && fabsf(h.t - 1.7f) < 1e-4f && h.normal[0] == 1);
    h = level_set_cross(&l, &out, 0, INFINITY, true);
    assert_true(h.met && fabsf(h.t - 0.1f) < 1e-4f && h.normal[0] == 1);
    level_set_free(&l);
}

/* One drop far from the rest is still there, about as large as a particle. */
static void single_drops_stay(void **state) {
    level_set l;
    int64_t n = make_cube(particles);
    particles[n] = v3_set(0.9f, 0.8f, 0.7f);
    for (int with = 0; with <= 1; with++) {
        assert_int_equal(level_set_create(*state, &(level_set_particles){particles, n + with, half},
                                          1.6f * half, (v3[]){low, high}, &l),
                         SPATE_OK);
        ray r = {v3_set(0.9f, 2, 0.7f), {0, -1, 0, 0}};
        hit h = level_set_cross(&l, &r, 0, INFINITY, false);
        assert_true(h.met == (with == 1));
        if (with) assert_true(fabsf(h.t - 1.2f + 1.3f * half) < 1.0f * half);
        level_set_free(&l);
    }
}

static void nothing_gives_nothing(void **state) {
    level_set l;
    ray r = {{0, 0, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(level_set_create(*state, &(level_set_particles){NULL, 0, half}, half,
                                      (v3[]){low, high}, &l),
                     SPATE_OK);
    assert_false(level_set_cross(&l, &r, 0, INFINITY, false).met);
    assert_true(level_set_value(&l, v3_splat(0)) > 0);
    level_set_free(&l);
}

/* Two particles a kilometre apart must not ask for a grid between them that fills the memory. */
static void huge_spans_are_coarse(void **state) {
    level_set l;
    v3 two[2] = {{0, 0, 0, 0}, {1000, 900, 800, 0}};
    assert_int_equal(level_set_create(*state, &(level_set_particles){two, 2, half}, half,
                                      (v3[]){v3_splat(-INFINITY), v3_splat(INFINITY)}, &l),
                     SPATE_OK);
    assert_true((double)l.points[0] * l.points[1] * l.points[2] <= 50e6);
    level_set_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(surface_is_flat_and_in_place),
        cmocka_unit_test(walls_cut_it),
        cmocka_unit_test(single_drops_stay),
        cmocka_unit_test(nothing_gives_nothing),
        cmocka_unit_test(huge_spans_are_coarse),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
