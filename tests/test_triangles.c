/* Facets: rays cross a box where its sides are, from outside and from inside. */
#include "pictures.h"

#include "pictures/trace/triangles.h"

/* The box (0, 0, 0) to (1, 1, 1): corner c is at its bits; two triangles a side, facing out. */
static v3 corners[8];
static int32_t sides[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                               {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

static triangles *make_box(spate_context *ctx, v3 size) {
    for (int c = 0; c < 8; c++)
        corners[c] = v3_set((float)(c & 1), (float)(c >> 1 & 1), (float)(c >> 2));
    triangle_mesh box = {corners, 8, sides, 12};
    triangles *f;
    assert_int_equal(triangles_create(ctx, &box, size, &f), SPATE_OK);
    return f;
}

static void rays_cross_a_box(void **state) {
    triangles *f = make_box(*state, v3_splat(1));
    if (!f) skip(); /* no Embree */
    ray in = {v3_set(-2, 0.4f, 0.3f), {1, 0, 0, 0}};
    hit h = triangles_cross(f, &in, 0, INFINITY, false);
    assert_true(h.met && fabsf(h.t - 2) < 1e-5f && h.normal[0] < -0.999f);
    h = triangles_cross(f, &in, h.t + 1e-3f, INFINITY, true);
    assert_true(h.met && fabsf(h.t - 3) < 1e-5f && h.normal[0] > 0.999f);
    assert_false(triangles_cross(f, &in, 0, 1.5f, false).met);
    /* One that starts on the surface does not meet it where it starts. */
    ray from = {v3_set(0, 0.4f, 0.3f), {1, 0, 0, 0}};
    h = triangles_cross(f, &from, 0, INFINITY, true);
    assert_true(h.met && fabsf(h.t - 1) < 1e-5f);
    ray past = {v3_set(-2, 1.4f, 0.3f), {1, 0, 0, 0}};
    assert_false(triangles_cross(f, &past, 0, INFINITY, false).met);
    assert_true(triangles_hold(f, v3_splat(0.5f)));
    assert_false(triangles_hold(f, v3_set(0.5f, 1.5f, 0.5f)));
    assert_false(triangles_hold(f, v3_set(0.5f, -0.5f, 0.5f)));
    triangles_free(f);
}

/* Where no side of the domain is, normals go over from one triangle to the next. */
static void normals_are_flat_only_in_sides(void **state) {
    triangles *flat = make_box(*state, v3_splat(1)), *round = make_box(*state, v3_splat(5));
    if (!flat) skip();
    ray in = {v3_set(3, 0.9f, 0.8f), {-1, 0, 0, 0}};
    assert_true(triangles_cross(flat, &in, 0, INFINITY, false).normal[0] > 0.9999f);
    v3 n = triangles_cross(round, &in, 0, INFINITY, false).normal;
    assert_true(n[0] > 0.3f && n[0] < 0.95f && n[1] > 0.1f && n[2] > 0.1f);
    triangles_free(flat);
    triangles_free(round);
}

static void nothing_gives_nothing(void **state) {
    triangles *f = (triangles *)corners;
    triangle_mesh none = {0};
    assert_int_equal(triangles_create(*state, &none, v3_splat(1), &f), SPATE_OK);
    assert_null(f);
    triangles_free(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rays_cross_a_box),
        cmocka_unit_test(normals_are_flat_only_in_sides),
        cmocka_unit_test(nothing_gives_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
