/* Cameras: keys of a scene, views between them, circles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pictures/trace/stage.h"
#include "scene/scene.h"
#include <stdio.h>

static int open_context(void **state) { return spate_open(NULL, (spate_context **)state); }
static int close_context(void **state) {
    spate_close(*state);
    return 0;
}

static spate_scene *scene_with(spate_context *ctx, const char *given, const char *set) {
    char text[2048];
    spate_scene *scene;
    const int length =
        snprintf(text, sizeof text,
                 "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.1}\nduration: 2\n"
                 "materials: {water: {model: liquid}}\n"
                 "bodies: [{material: water, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: "
                 "0.2}}}]\ncamera: %s\n",
                 given);
    const spate_status status =
        spate_scene_parse(ctx, text, (size_t)length, "c.yaml", "", &set, set != NULL, &scene);
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    return scene;
}

static void assert_pose(const spate_scene *s, double t, const double from[3], const double to[3],
                        double fov) {
    const camera_pose p = camera_at(&s->camera, t);
    assert_true(p.given);
    for (int a = 0; a < 3; a++) {
        assert_true(fabs(p.from[a] - from[a]) < 1e-9);
        assert_true(fabs(p.to[a] - to[a]) < 1e-9);
    }
    assert_true(fabs(p.fov - fov) < 1e-9);
}

#define AT(x, y, z) ((const double[3]){x, y, z})

static void keys_are_passed_and_held(void **state) {
    spate_scene *s = scene_with(*state,
                                "{to: [0, 1, 0], keys: [{t: 0, from: [4, 0, 0]}, {t: 1, from: [0, "
                                "0, 4], fov: 55}, {t: 2, to: [1, 0, 0]}]}",
                                NULL);
    assert_pose(s, -1, AT(4, 0, 0), AT(0, 1, 0), 35);
    assert_pose(s, 0, AT(4, 0, 0), AT(0, 1, 0), 35);
    assert_pose(s, 1, AT(0, 0, 4), AT(0, 1, 0), 55);
    assert_pose(s, 2, AT(0, 0, 4), AT(1, 0, 0), 55);
    assert_pose(s, 9, AT(0, 0, 4), AT(1, 0, 0), 55);
    /* It leaves slowly: less than half the way in half the time, and no jump of velocity at a
     * key. */
    const camera_pose early = camera_at(&s->camera, 0.1);
    assert_true(early.from[0] > 3.8 && early.from[0] < 4);
    const double h = 1e-5, before = camera_at(&s->camera, 1 - h).to[0],
                 here = camera_at(&s->camera, 1).to[0], after = camera_at(&s->camera, 1 + h).to[0];
    assert_true(fabs((after - here) - (here - before)) < 1e-8);
    spate_scene_free(s);
    s = scene_with(*state,
                   "{interpolate: linear, keys: [{t: 0, from: [4, 0, 0], to: [0, 0, 0]}, {t: 1, "
                   "from: [0, 0, 4]}]}",
                   NULL);
    assert_pose(s, 0.25, AT(3, 0, 1), AT(0, 0, 0), 35);
    spate_scene_free(s);
}

static void fields_can_be_left_out(void **state) {
    spate_scene *s = scene_with(*state, "{fov: 50}", NULL);
    camera_pose p = camera_at(&s->camera, 0);
    assert_true(!p.given && p.fov == 50);
    spate_scene_free(s);
    s = scene_with(*state, "{from: [3, 0, 0], to: [0, 0, 0]}", "camera.to=[0, 1, 0]");
    assert_pose(s, 0, AT(3, 0, 0), AT(0, 1, 0), 35);
    spate_scene_free(s);
    assert_true(camera_at(&(camera){0}, 0).fov == 30);
}

/* Where the camera stands on the stage, about its target. */
static v3 offset_at(const spate_scene *s, double t) {
    stage st;
    assert_int_equal(stage_create(s, t, &st), SPATE_OK);
    const view v = stage_view(&st, 160, 90);
    const v3 to = stage_from_scene(&st, s->camera.to);
    stage_free(&st);
    return v.from - to;
}

/* A quarter of a circle in the two seconds of the run, counter-clockwise from above: from +x to -z;
 * with gravity along -z, where the stage is turned, from +x to +y of the scene. */
static void orbits_go_round(void **state) {
    spate_scene *s = scene_with(*state, "{from: [3, 2, 0], to: [1, 1, 0], orbit: 90}", NULL);
    v3 d = offset_at(s, 2);
    assert_true(fabsf(d[0]) < 1e-5f && fabsf(d[1] - 1) < 1e-5f && fabsf(d[2] + 2) < 1e-5f);
    d = offset_at(s, 1);
    assert_true(fabsf(d[0] - sqrtf(2)) < 1e-5f && fabsf(d[2] + sqrtf(2)) < 1e-5f);
    spate_scene_free(s);
    s = scene_with(*state, "{from: [3, 0, 2], to: [1, 0, 1], orbit: 90}", "gravity=[0, 0, -9.81]");
    stage st;
    double scene_at[3];
    assert_int_equal(stage_create(s, 2, &st), SPATE_OK);
    stage_to_scene(&st, stage_view(&st, 160, 90).from, scene_at);
    assert_true(fabs(scene_at[0] - 1) < 1e-5 && fabs(scene_at[1] - 2) < 1e-5 &&
                fabs(scene_at[2] - 2) < 1e-5);
    stage_free(&st);
    spate_scene_free(s);
}

/* The view of the whole domain holds it all the way round, and does not change its distance. */
static void the_whole_domain_stays_in_view(void **state) {
    spate_scene *s = scene_with(*state, "{orbit: 360, fov: 40}", "domain.size=[4, 1, 1]");
    float distance = 0;
    for (int k = 0; k <= 16; k++) {
        stage st;
        assert_int_equal(stage_create(s, k / 8.0, &st), SPATE_OK);
        const view v = stage_view(&st, 320, 180);
        const v3 away = v.from - st.size * v3_set(0.5f, 0.42f, 0.5f);
        if (k == 0) distance = v3_length(away);
        assert_true(fabsf(v3_length(away) - distance) < 1e-3f);
        for (int i = 0; i < 8; i++) {
            float p[3];
            const v3 corner =
                v3_set((float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2)) * st.size;
            assert_true(view_project(&v, corner, p));
            assert_true(p[0] > 0 && p[0] < 320 && p[1] > 0 && p[1] < 180);
        }
        stage_free(&st);
    }
    spate_scene_free(s);
}

/* Keys may lead a camera through what it looks at: a view all the same. */
static void a_camera_at_its_target_looks_somewhere(void **state) {
    spate_scene *s = scene_with(*state,
                                "{interpolate: linear, keys: [{t: 0, from: [0, 0, 0], to: [1, 0, "
                                "0]}, {t: 1, from: [2, 0, 0]}]}",
                                NULL);
    stage st;
    assert_int_equal(stage_create(s, 0.5, &st), SPATE_OK);
    const view v = stage_view(&st, 160, 90);
    const ray r = view_ray(&v, 10, 10);
    assert_true(fabsf(v3_length(r.along) - 1) < 1e-5f);
    stage_free(&st);
    spate_scene_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_passed_and_held),
        cmocka_unit_test(fields_can_be_left_out),
        cmocka_unit_test(orbits_go_round),
        cmocka_unit_test(the_whole_domain_stays_in_view),
        cmocka_unit_test(a_camera_at_its_target_looks_somewhere),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
