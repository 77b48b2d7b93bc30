/* Balls: both ways to find the first ball on a ray agree with looking at every ball. */
#include "pictures.h"

#include "core/random.h"
#include "pictures/trace/spheres.h"

enum { BALLS = 600, RAYS = 2000 };

static float number(uint64_t id, uint64_t stream) { return (float)random_unit(5, id, stream); }

static void make_balls(v3 *centers) {
    for (uint64_t i = 0; i < BALLS; i++) {
        centers[i] = v3_set(4 * number(i, 0), 2 * number(i, 1), number(i, 2));
        centers[i][3] = 0.01f + 0.05f * number(i, 3) * number(i, 4);
    }
}

static ray make_ray(uint64_t i) {
    v3 from = v3_set(6 * number(i, 10) - 1, 4 * number(i, 11) - 1, 3 * number(i, 12) - 1);
    v3 to = v3_set(4 * number(i, 13), 2 * number(i, 14), number(i, 15));
    if (i % 10 == 0) to[0] = from[0]; /* some along the axes' planes */
    if (i % 20 == 0) to[1] = from[1];
    return (ray){from, v3_unit(to - from)};
}

static hit nearest(const v3 *centers, const ray *r, float near, float far) {
    hit best = {.t = far};
    for (int i = 0; i < BALLS; i++) {
        v3 to = centers[i] - r->from;
        to[3] = 0;
        double middle = (double)v3_dot(to, r->along), radius = (double)centers[i][3];
        double inside = radius * radius - ((double)v3_dot(to, to) - middle * middle);
        float t = inside > 0 ? (float)(middle - sqrt(inside)) : -1;
        if (t > near && t < best.t) best.met = true, best.t = t, best.which = i;
    }
    return best;
}

static void check(spate_context *ctx, spheres *b, const v3 *centers) {
    int met = 0, wrong = 0;
    for (uint64_t i = 0; i < RAYS; i++) {
        ray r = make_ray(i);
        float far = i % 3 ? INFINITY : 1.5f;
        hit want = nearest(centers, &r, 0, far), got = spheres_hit(b, &r, 0, far);
        met += want.met;
        /* A ray that just touches may be judged either way in single precision. */
        wrong += want.met != got.met || (want.met && fabsf(want.t - got.t) > 2e-3f);
        wrong += spheres_block(b, &r, 0, far) != got.met;
        if (got.met && want.met && want.which == got.which) {
            v3 out = ray_at(&r, got.t) - centers[got.which];
            out[3] = 0;
            assert_true(v3_dot(v3_unit(out), got.normal) > 0.999f);
        }
    }
    assert_true(met > RAYS / 10 && met < RAYS);
    assert_true(wrong <= RAYS / 400);
    spheres_free(b);
    (void)ctx;
}

static void fast_one_agrees(void **state) {
    static v3 centers[BALLS];
    spheres *b;
    make_balls(centers);
    assert_int_equal(spheres_create(*state, centers, BALLS, &b), SPATE_OK);
    check(*state, b, centers);
}

static void plain_one_agrees(void **state) {
    static v3 centers[BALLS];
    spheres *b;
    make_balls(centers);
    assert_int_equal(spheres_create_plain(*state, centers, BALLS, &b), SPATE_OK);
    check(*state, b, centers);
}

static void none_are_met_when_there_are_none(void **state) {
    spheres *b;
    ray r = {{0, 0, 0, 0}, {1, 0, 0, 0}};
    assert_int_equal(spheres_create(*state, NULL, 0, &b), SPATE_OK);
    assert_false(spheres_hit(b, &r, 0, INFINITY).met);
    assert_false(spheres_block(b, &r, 0, INFINITY));
    spheres_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_one_agrees),
        cmocka_unit_test(plain_one_agrees),
        cmocka_unit_test(none_are_met_when_there_are_none),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
