/* What is told of a scene before it runs: slips, particles that vanish, and the cost against real
 * runs. */
#include "scene/scene.h"
#include "solver/solver.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static spate_context *ctx;
static int64_t blocks_at_start;
static char told[8192];

static void keep(spate_log_level level, const char *message, void *user) {
    (void)user;
    const size_t used = strlen(told);
    if (level == SPATE_LOG_WARNING) snprintf(told + used, sizeof told - used, "%s\n", message);
}

static int setup(void **state) {
    (void)state;
    spate_config config = spate_default_config();
    config.log = keep;
    config.threads = 1;
    told[0] = 0;
    if (spate_open(&config, &ctx)) return -1;
    blocks_at_start = ctx->blocks_now;
    return 0;
}

static int teardown(void **state) {
    (void)state;
    const int64_t left = ctx->blocks_now - blocks_at_start;
    spate_close(ctx);
    return left == 0 ? 0 : -1;
}

static const char plain[] =
    "spate: 1\nname: plain\ndimension: 2\ndomain: {size: [2, 1], dx: 0.05}\n"
    "duration: 0.5\nfps: 20\nmaterials: {water: {model: liquid, bulk_modulus: 1e5}}\n"
    "bodies: [{name: dam, material: water, shape: {box: {min: [0, 0], max: [0.5, 0.8]}}}]\n";

static spate_scene *parse(const char *document, const char *const *sets, int count) {
    spate_scene *scene;
    spate_status status =
        spate_scene_parse(ctx, document, strlen(document), "f.yaml", ".", sets, count, &scene);
    if (status) fail_msg("%s", spate_message(ctx));
    return scene;
}

static spate_review review(const char *document, const char *const *sets, int count) {
    spate_review r;
    spate_scene *scene = parse(document, sets, count);
    told[0] = 0;
    if (spate_scene_review(scene, &r)) fail_msg("%s", spate_message(ctx));
    spate_scene_free(scene);
    r.summary.name = r.summary.solver = NULL;
    return r;
}

static void expect_warning(const char *set, const char *more, const char *words) {
    const char *const sets[] = {set, more};
    const spate_review r = review(plain, sets, more ? 2 : 1);
    if (!words) {
        if (told[0]) fail_msg("%s: %s", set, told);
        assert_int_equal(r.summary.warnings, 0);
        return;
    }
    if (!strstr(told, words)) fail_msg("%s: '%s' not in '%s'", set, words, told);
    assert_int_equal(r.summary.warnings, 1);
}

static void test_gravity(void **state) {
    (void)state;
    expect_warning("gravity=[0, 9.81]", NULL,
                   "gravity points upwards, along +y; y is up here, so did you mean [0, -9.81]?");
    expect_warning("gravity=[-9.81, 0]", NULL, "gravity points sideways, along -x");
    expect_warning("gravity=[0, -9.81]", NULL, NULL);
    expect_warning("gravity=[0, 0]", NULL, NULL);
    expect_warning("gravity=[3, -9]", NULL, NULL);
    /* along a periodic axis it drives a flow */
    expect_warning("gravity=[9.81, 0]", "domain.walls=[periodic, periodic, slip, slip]", NULL);
}

static void test_density(void **state) {
    (void)state;
    expect_warning("materials.water.density=1", "materials.water.bulk_modulus=100",
                   "materials.water.density: 1 kg/m^3 is that of a gas; did you mean 1000?");
    expect_warning("materials.water.density=100", NULL, NULL);
    expect_warning("materials.water.density=1", "gravity=[0, 0]", NULL);
    const char *const cgs[] = {"units=cgs", "materials.water.density=1000"};
    review(plain, cgs, 2);
    assert_non_null(
        strstr(told, "1000 g/cm^3 is more than any matter on earth has; did you mean 1?"));
}

static void test_stiffness(void **state) {
    (void)state;
    expect_warning("materials.water.bulk_modulus=2.2e9", NULL,
                   "materials.water.bulk_modulus: 2.2e+09 makes steps of");
    assert_non_null(strstr(told, "a frame: its waves run at 1.48e+03, matter at about "));
    assert_non_null(strstr(told, " would do, with steps "));
    expect_warning("materials.water={model: neo_hookean, young_modulus: 2e11, density: 7800}", NULL,
                   "materials.water.young_modulus: 2e+11 makes steps of");
    assert_non_null(strstr(told, "a softer one makes them longer"));
    expect_warning("materials.water.bulk_modulus=1e6", NULL, NULL);
    /* stiff, but a frame is a few hundred steps */
    expect_warning("materials.water.bulk_modulus=1.5e7", NULL, NULL);
}

/* The solver's own step is 1.2e-3 s; twice that may still go, where a wave crosses a cell it cannot. */
static void test_fixed_step(void **state) {
    (void)state;
    expect_warning("solver.dt=5e-3", NULL,
                   "solver.dt: 0.005 s is far longer than steps that are stable, about 0.00");
    assert_non_null(strstr(told, "(limit: wave); make it smaller, or leave it out"));
    expect_warning("solver.dt=1e-3", NULL, NULL);
    expect_warning("solver={type: flip, dt: 0.05}", NULL, NULL);
}

static void test_holds_of_nothing(void **state) {
    (void)state;
    const char *const sand = "materials.water={model: sand, young_modulus: 1e5}";
    expect_warning(sand, "bodies.dam.hold=[{shape: {box: {min: [1, 0], max: [1.2, 0.2]}}}]",
                   "bodies.0.hold.0: holds nothing of body 'dam'; move or enlarge its shape");
    expect_warning(sand, "bodies.dam.hold=[{shape: {box: {min: [0.4, 0], max: [1.2, 0.2]}}}]",
                   NULL);
}

/* It rests until something drives it; its step is that without it. */
static void test_driven_collider(void **state) {
    (void)state;
    const char *const disc[] = {"colliders=[{driven: true, shape: {sphere: {center: [1, 0.5], "
                                "radius: 0.1}}}]"};
    const spate_review without = review(plain, NULL, 0), with = review(plain, disc, 1);
    assert_true(with.dt == without.dt && with.steps == without.steps);
}

static void test_events_of_nothing(void **state) {
    (void)state;
    expect_warning("events=[{t: 0.1, remove: gust}]", NULL,
                   "events.0.remove: there is nothing called 'gust'; the run will fail there");
    expect_warning("events=[{t: 0.1, remove: dam}]", NULL, NULL);
    expect_warning("events=[{t: 0, force: {name: gust, wind: {acceleration: [1, 0]}}}, {t: 0.1, "
                   "remove: gust}]",
                   NULL, NULL);
    expect_warning("events=[{t: 0, add: {materials: {oil: {model: liquid}}}}, {t: 0.1, remove: x}]",
                   NULL, NULL);
    const char *const disc = "colliders=[{name: disc, driven: true, shape: {sphere: {center: [1, "
                             "0.5], radius: 0.1}}}]";
    expect_warning("events=[{t: 0.1, pose: {collider: disc, position: [1, 0.5]}}]", NULL,
                   "events.0.pose.collider: no collider 'disc' is driven; the run will fail there");
    expect_warning("events=[{t: 0.1, pose: {collider: disc, position: [1, 0.5]}}]", disc, NULL);
}

static void test_numbers_in_other_units(void **state) {
    (void)state;
    expect_warning(
        "materials.water={model: sand, young_modulus: 1e5, friction_angle: 0.5}", NULL,
        "friction_angle: 0.5 degrees is next to no friction; in radians it would be 28.65");
    expect_warning("materials.water={model: sand, young_modulus: 1e5, friction_angle: 0}", NULL,
                   NULL);
    expect_warning("materials.water.viscosity=2e5", "solver.type=flip",
                   "viscosity: 200000 Pa s is far more than honey has (about 10; water: 0.001)");
    expect_warning("materials.water.viscosity=9e4", "solver.type=flip", NULL);
    expect_warning("materials.water.viscosity=2e4", NULL, "viscosity makes steps of");
}

static void test_thin_bodies(void **state) {
    (void)state;
    expect_warning(
        "bodies.0.shape={box: {min: [0, 0], max: [1, 0.04]}}", NULL,
        "body 'dam' is 0.04 thick, less than a cell (dx 0.05); it would need a dx of 0.02");
    expect_warning("bodies.0.shape={box: {min: [0, 0], max: [1, 0.05]}}", NULL, NULL);
}

/* In cells of 0.05; alone a mesh lets nothing through. */
static void test_coarse_meshes(void **state) {
    (void)state;
    const char *const jelly = "materials.m={model: neo_hookean, young_modulus: 1e4}";
    expect_warning(
        "bodies.1={name: rope, material: m, strands: {root: [0.2, 0.9], direction: [0.5, "
        "0], radius: 0.01, spacing: 0.125}}",
        jelly,
        "body 'rope': its vertices are 0.125 apart, 2.5 cells (dx 0.05): what it meets "
        "may go through between them; use a spacing of 0.05 or less");
    expect_warning(
        "bodies.1={name: rope, material: m, strands: {root: [0.2, 0.9], direction: [0.5, "
        "0], radius: 0.01, spacing: 0.1}}",
        jelly, NULL);
    expect_warning("bodies=[{name: rope, material: m, strands: {root: [0.2, 0.9], direction: "
                   "[0.5, 0], radius: 0.01, spacing: 0.125}}]",
                   jelly, NULL);
}

static void test_last_frame(void **state) {
    (void)state;
    expect_warning("duration=0.52", NULL, "the run ends with frame 10 at 0.5 s; --until 0.52");
    expect_warning("duration=0.55", NULL, NULL);
}

static void test_collider_outside(void **state) {
    (void)state;
    expect_warning("colliders=[{name: post, shape: {sphere: {center: [5, 5], radius: 1}}}]", NULL,
                   "collider 'post' is outside the domain all the time");
    expect_warning(
        "colliders=[{name: post, shape: {sphere: {center: [5, 0.5], radius: 0.3}}, motion: "
        "{keys: [{t: 0}, {t: 0.5, translate: [-3.5, 0]}]}}]",
        NULL, NULL);
    expect_warning("colliders=[{name: floor, shape: {plane: {point: [0, -3], normal: [0, 1]}}}]",
                   NULL, NULL);
}

static void test_vanished_particles(void **state) {
    (void)state;
    spate_scene_summary s;
    /* 10 x 16 cells of 4 particles; a word from a quarter on */
    expect_warning("colliders=[{name: rock, shape: {box: {min: [0, 0], max: [0.25, 1]}}}]", NULL,
                   "body 'dam': 320 of its 640 particles lie in colliders and are left out;");
    expect_warning("bodies.1={name: lake, material: water, shape: {box: {min: [0.25, 0], max: [1, "
                   "0.8]}}}",
                   NULL,
                   "body 'lake': 320 of its 960 particles lie in earlier bodies and are left out;");
    expect_warning("colliders=[{shape: {box: {min: [0, 0], max: [0.125, 0.8]}}}]", NULL,
                   "160 of its 640 particles");
    expect_warning("colliders=[{shape: {box: {min: [0, 0], max: [0.1, 0.8]}}}]", NULL, NULL);
    /* A run tells it too, once. */
    const char *const set = "colliders=[{shape: {box: {min: [0, 0], max: [0.25, 1]}}}]";
    spate_scene *scene = parse(plain, &set, 1);
    told[0] = 0;
    for (int i = 0; i < 2; i++) assert_int_equal(spate_scene_summarise(scene, &s), SPATE_OK);
    assert_non_null(strstr(told, "320 of its 640"));
    assert_null(strstr(strstr(told, "320 of its 640") + 1, "320 of its 640"));
    assert_int_equal(s.warnings, 1);
    spate_scene_free(scene);
}

static void test_mesh_in_millimetres(void **state) {
    (void)state;
    char folder[] = "/tmp/spate_review_XXXXXX", name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/mesh.obj", folder);
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    fputs("v 0 0 0\nv 90 0 0\nv 0 90 0\nv 0 0 90\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", f);
    fclose(f);
    spate_scene *scene;
    spate_review r;
    static const char words[] =
        "spate: 1\ndomain: {size: [2, 1, 1], dx: 0.05}\nmaterials: {water: {model: liquid, "
        "bulk_modulus: 1e5}}\nbodies: [{name: dam, material: water, shape: {mesh: {file: "
        "mesh.obj}, scale: %g}}]\n";
    for (int scaled = 0; scaled < 2; scaled++) {
        char document[512];
        snprintf(document, sizeof document, words, scaled ? 0.01 : 1.0);
        assert_int_equal(
            spate_scene_parse(ctx, document, strlen(document), "f.yaml", folder, NULL, 0, &scene),
            SPATE_OK);
        told[0] = 0;
        assert_int_equal(spate_scene_review(scene, &r), SPATE_OK);
        const char *found =
            strstr(told, "body 'dam': its mesh is 90 long in a domain of 2, as if "
                         "in millimetres; write scale: 0.001 (it is then 0.09 long)");
        assert_true(scaled ? !found : found != NULL);
        spate_scene_free(scene);
    }
    remove(name), remove(folder);
}

/* ---- The cost ---- */

/* Steps of a run to its end. */
static double steps_of(spate_scene *scene, int64_t *count) {
    spate_simulation *sim;
    assert_int_equal(spate_simulation_create(scene, &sim), SPATE_OK);
    const int frames = (int)(scene->duration * scene->fps + 1e-9);
    for (int i = 1; i <= frames; i++)
        while (spate_simulation_time(sim) < i / scene->fps)
            assert_int_equal(spate_simulation_step(sim, i / scene->fps), SPATE_OK);
    *count = spate_simulation_particles(sim);
    const double steps = (double)spate_simulation_steps(sim);
    spate_simulation_free(sim);
    return steps;
}

static void expect_about(double estimate, double truth) {
    if (!(estimate > 0.5 * truth && estimate < 2 * truth))
        fail_msg("%g was estimated, %g is right", estimate, truth);
}

static void test_steps_and_particles(void **state) {
    (void)state;
    static const char *const solvers[] = {"solver={type: mpm}", "solver={type: flip}",
                                          "solver={type: sph}", "solver={type: mpm, dt: 0.0004}"};
    static const char tap[] =
        "sources=[{name: tap, material: water, velocity: [0, -1], shape: {sphere: {center: [1.5, "
        "0.7], radius: 0.1}}}]";
    for (int i = 0; i < COUNT_OF(solvers); i++) {
        const char *const sets[] = {solvers[i], tap};
        const spate_review r = review(plain, sets, 2);
        spate_scene *scene = parse(plain, sets, 2);
        int64_t count;
        const double steps = steps_of(scene, &count);
        expect_about(r.steps, steps);
        expect_about(r.particles - (double)r.summary.particles,
                     (double)(count - r.summary.particles));
        assert_true(r.dt > 0 && fabs(r.dt * r.steps - 0.5) < 1e-9);
        assert_true(r.seconds > 0 && r.memory_bytes > 1e4 && r.disk_bytes > 1e4);
        assert_int_equal(r.threads, 1);
        spate_scene_free(scene);
    }
}

static void test_steps_of_smoke(void **state) {
    (void)state;
    static const char words[] =
        "spate: 1\ndimension: 2\ndomain: {size: [1, 2], dx: 0.0625}\nduration: 1\nfps: 10\n"
        "solver: {type: smoke}\nmaterials: {hot: {model: gas, temperature: 300}}\nsources: "
        "[{material: hot, velocity: [0, 2], shape: {sphere: {center: [0.5, 0.25], radius: "
        "0.15}}}]\n";
    const spate_review r = review(words, NULL, 0);
    spate_scene *scene = parse(words, NULL, 0);
    int64_t count;
    expect_about(r.steps, steps_of(scene, &count));
    assert_true(r.particles == 0 && r.memory_bytes > 512);
    spate_scene_free(scene);
}

/* More particles and finer cells cost what they must; the same scene is told the same. */
static void test_cost_scales(void **state) {
    (void)state;
    const char *const finer[] = {"domain.dx=0.025"}, *const longer[] = {"duration=1"};
    const spate_review one = review(plain, NULL, 0), fine = review(plain, finer, 1);
    const spate_review twice = review(plain, longer, 1), again = review(plain, NULL, 0);
    assert_true(one.seconds == again.seconds && one.steps == again.steps);
    assert_true(fine.memory_bytes > 3.9 * one.memory_bytes);
    assert_true(fabs(fine.steps / one.steps - 2) < 0.2);
    assert_true(fabs(twice.steps / one.steps - 2) < 0.1);
}

/* Half a billion particles, a thousand million cells: counted without room for particles, however
 * they are sampled. */
static void test_huge_scenes(void **state) {
    (void)state;
    static const char *const kinds[] = {"regular", "jittered", "poisson"};
    for (int k = 0; k < 3; k++) {
        char document[512];
        snprintf(
            document, sizeof document,
            "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.002}\nsolver: {type: mpm}\nmaterials: "
            "{water: {model: liquid, bulk_modulus: 1e4}}\nbodies: [{material: water, sampling: "
            "%s, shape: {box: {min: [0, 0, 0], max: [1, 0.5, 1]}}}]\n",
            kinds[k]);
        const size_t before = ctx->bytes_peak;
        const spate_review r = review(document, NULL, 0);
        assert_true(r.summary.particles == 500000000);
        assert_true(r.memory_bytes > 1e11);
        assert_true(ctx->bytes_peak < before + (32 << 20));
    }
    const char *const smoke =
        "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.001}\nsolver: {type: smoke}\nmaterials: {gas: "
        "{model: gas}}\nsources: [{material: gas, velocity: [0, 1, 0], shape: {sphere: {center: "
        "[0.5, 0.5, 0.5], radius: 0.1}}}]\n";
    const spate_review r = review(smoke, NULL, 0);
    assert_true(r.memory_bytes > 1e11 && ctx->bytes_peak < 64 << 20);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_gravity),
        TEST(test_density),
        TEST(test_stiffness),
        TEST(test_fixed_step),
        TEST(test_holds_of_nothing),
        TEST(test_driven_collider),
        TEST(test_events_of_nothing),
        TEST(test_numbers_in_other_units),
        TEST(test_thin_bodies),
        TEST(test_coarse_meshes),
        TEST(test_last_frame),
        TEST(test_collider_outside),
        TEST(test_vanished_particles),
        TEST(test_mesh_in_millimetres),
        TEST(test_steps_and_particles),
        TEST(test_steps_of_smoke),
        TEST(test_cost_scales),
        TEST(test_huge_scenes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
