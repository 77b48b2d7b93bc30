/* What a program that shows a simulation reads: the scene as it is now, and where colliders are. */
#include "driven.h"

static char *portrait(const play *p) {
    collected c = {0};
    expect(p->ctx, spate_simulation_portrait(p->sim, collect, &c));
    return c.data;
}

static void assert_says(const play *p, const char *words, bool says) {
    char *text = portrait(p);
    if ((strstr(text, words) != NULL) != says) print_error("%s\n%s\n", words, text);
    assert_int_equal(strstr(text, words) != NULL, says);
    free(text);
}

/* Of every solver: domain, solver and materials with their values. */
static void test_scene(void **state) {
    (void)state;
    for (int solver = 0; solver < SOLVERS; solver++) {
        play p = open_tank(solver, 1);
        char name[64];
        snprintf(name, sizeof name, "\"solver\":\"%s\"", solver_names[solver]);
        assert_says(&p, name, true);
        assert_says(&p, "\"size\":[1,1,0],\"dx\":0.0625,\"cells\":[16,16,1]", true);
        assert_says(&p, "\"colliders\":[\"ball\"]", true);
        assert_says(&p, solver == SMOKE ? "\"on_grid\":true" : "\"on_grid\":false", true);
        assert_says(&p, solver == SMOKE ? "\"model\":\"gas\"" : "\"density\":1000,", true);
        assert_says(&p, "\"moving\":false", true);
        play_close(&p);
    }
}

/* Parts that come are told of, those that have ended are not; values are those of now. */
static void test_changes(void **state) {
    (void)state;
    play p = open_tank_with(FLIP, 1, "", "");
    assert_says(&p, "\"tap\"", false);
    expect(p.ctx, spate_simulation_add(
                      p.sim, "sources: [{name: tap, material: water, velocity: [0, -1], "
                             "shape: {sphere: {center: [0.5, 0.8], radius: 0.1}}}]\n"
                             "colliders: [{name: wall, shape: {box: {min: [0.2, 0.6], max: [0.4, "
                             "0.7]}}}]"));
    assert_says(&p, "\"sources\":[\"tap\"]", true);
    assert_says(&p, "\"colliders\":[\"wall\"]", true);
    expect(p.ctx, spate_simulation_step(p.sim, 0.01));
    expect(p.ctx, spate_simulation_remove(p.sim, "tap"));
    expect(p.ctx, spate_simulation_remove(p.sim, "wall"));
    expect(p.ctx, spate_simulation_set(p.sim, "materials.water.viscosity=2"));
    assert_says(&p, "\"sources\":[]", true);
    assert_says(&p, "\"colliders\":[]", true);
    assert_says(&p, "\"viscosity\":2", true);
    play_close(&p);
}

/* Distances to a disc are exact, follow it as it is driven, and are infinite without colliders. */
static void test_distance(void **state) {
    (void)state;
    float d[9];
    const spate_lattice l = {
        .first = {0.1, 0.1}, .spacing = 0.4, .size = {3, 3, 1}, .values = d, .capacity = 9};
    play p = open_tank(FLIP, 1);
    expect(p.ctx, spate_simulation_solid_distance(p.sim, &l));
    for (int i = 0; i < 9; i++) {
        const double x = 0.1 + 0.4 * (i % 3), y = 0.1 + 0.4 * (i / 3);
        assert_float_equal(d[i], hypot(x - 0.5, y - 0.25) - 0.12, 1e-6);
    }
    const spate_pose at = ball_at(0.5, 0.5, 0, 0);
    expect(p.ctx, spate_simulation_set_pose(p.sim, "ball", &at));
    expect(p.ctx, spate_simulation_step(p.sim, 0.01));
    expect(p.ctx, spate_simulation_solid_distance(p.sim, &l));
    assert_float_equal(d[4], -0.12, 1e-6);
    play_close(&p);

    play bare = open_tank_with(FLIP, 1, "", "");
    expect(bare.ctx, spate_simulation_solid_distance(bare.sim, &l));
    assert_true(isinf(d[4]) && d[4] > 0);
    spate_lattice wrong = l;
    wrong.capacity = 8;
    expect_refused(&bare, spate_simulation_solid_distance(bare.sim, &wrong), "room for 8");
    wrong = l, wrong.size[2] = 0;
    expect_refused(&bare, spate_simulation_solid_distance(bare.sim, &wrong), "a point along every");
    play_close(&bare);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scene),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
