/* What a program that shows a simulation reads: the scene as it is now, and where colliders are. */
#include "core/vec.h"
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

/* ---- Meshes ---------------------------------------------------------------------------------- */

enum { CORNERS_MOST = 4096 };
typedef struct links {
    uint32_t triangles[CORNERS_MOST], segments[CORNERS_MOST];
    spate_mesh_reading r;
    float x[CORNERS_MOST][3];
    spate_reading places;
} links;

static void read_links(const play *p, links *l) {
    l->r = spate_default_mesh_reading();
    expect(p->ctx, spate_simulation_read_meshes(p->sim, &l->r));
    l->r.triangles = l->triangles, l->r.segments = l->segments;
    l->r.triangle_capacity = l->r.segment_capacity = CORNERS_MOST;
    expect(p->ctx, spate_simulation_read_meshes(p->sim, &l->r));
    l->places = spate_default_reading();
    l->places.values = l->x, l->places.capacity = 3 * CORNERS_MOST;
    expect(p->ctx, spate_simulation_read(p->sim, &l->places));
}

static double area_of(const links *l, int64_t t) {
    const float *a = l->x[l->triangles[3 * t]], *b = l->x[l->triangles[3 * t + 1]],
                *c = l->x[l->triangles[3 * t + 2]];
    double u[3], v[3], n[3];
    for (int k = 0; k < 3; k++) u[k] = (double)(b[k] - a[k]), v[k] = (double)(c[k] - a[k]);
    vec_cross(n, u, v);
    return vec_length(n) / 2;
}

static double length_of(const links *l, int64_t s) {
    double way[3];
    for (int k = 0; k < 3; k++)
        way[k] = (double)(l->x[l->segments[2 * s]][k] - l->x[l->segments[2 * s + 1]][k]);
    return vec_length(way);
}

/* A bed of sand before, so that places are not numbers in a body; and a side that lets out. */
static play open_meshes(void) {
    return play_open(
        1, "%s",
        "spate: 1\ndimension: 3\ngravity: [0, 0, 0]\nduration: 1\nfps: 20\n"
        "domain: {size: [1, 1, 1], dx: 0.125, walls: {x_max: open}}\nsolver: {type: mpm}\n"
        "materials:\n  sand: {model: sand, density: 1500, young_modulus: 1.0e5, poisson: 0.3}\n"
        "  cotton: {model: neo_hookean, density: 300, young_modulus: 1.0e4, poisson: 0.3}\n"
        "bodies:\n"
        "  - {material: sand, shape: {box: {min: [0, 0, 0], max: [0.5, 0.125, 0.5]}}}\n"
        "  - {name: cloth, material: cotton, velocity: [1, 0, 0], cloth: {corner: [0.4, 0.5, 0.3], "
        "along: [0.5, 0, 0], across: [0, 0, 0.4], spacing: 0.1, thickness: 0.002}}\n"
        "  - {name: hair, material: cotton, strands: {root: [0.3, 0.9, 0.5], direction: [0, -0.2, "
        "0], "
        "row: [0.2, 0, 0], count: 3, spacing: 0.05, radius: 0.01}}\n");
}

/* Cloth has its area and strands their length; what has left is left out, the rest stays. */
static void test_meshes(void **state) {
    (void)state;
    static links l;
    play p = open_meshes();
    assert_says(&p, "\"meshes\":true", true);
    assert_says(&p, "\"name\":\"cotton\",\"model\":\"neo_hookean\",\"look\":\"skin\",\"mesh\":true",
                true);
    assert_says(&p, "\"name\":\"sand\",\"model\":\"sand\",\"look\":\"grains\",\"mesh\":false",
                true);
    read_links(&p, &l);
    double area = 0, length = 0;
    for (int64_t t = 0; t < l.r.triangles_found; t++) area += area_of(&l, t);
    for (int64_t s = 0; s < l.r.segments_found; s++) length += length_of(&l, s);
    assert_float_equal(area, 0.5 * 0.4, 1e-5);
    assert_float_equal(length, 3 * 0.2, 1e-5);
    const int64_t whole = l.r.triangles_found, before = l.places.particles;
    while (spate_simulation_time(p.sim) < 0.3) expect(p.ctx, spate_simulation_step(p.sim, 0.3));
    read_links(&p, &l);
    assert_true(l.places.particles < before);
    assert_true(l.r.triangles_found > 0 && l.r.triangles_found < whole);
    for (int64_t t = 0; t < l.r.triangles_found; t++)
        assert_float_equal(area_of(&l, t), 0.5 * 0.4 / (double)whole, 2e-3);
    l.r.triangle_capacity = 3;
    expect_refused(&p, spate_simulation_read_meshes(p.sim, &l.r), "need room for");
    play_close(&p);
    play bare = open_tank(FLIP, 1);
    assert_says(&bare, "\"meshes\":false", true);
    read_links(&bare, &l);
    assert_int_equal(l.r.triangles_found + l.r.segments_found, 0);
    play_close(&bare);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_scene),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
