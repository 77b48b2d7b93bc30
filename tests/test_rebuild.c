/*
 * Simulations that change while they run: bodies, sources, colliders and materials that come and go;
 * and what a run writes, from a loop of one's own. All of it recorded, resumed and with other threads
 * bit for bit the same.
 */
#include "physics.h"
#include <spate/drive.h>

static void expect(spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

static void expect_refused(play *p, spate_status status, const char *words) {
    assert_int_equal(status, SPATE_BAD_INPUT);
    if (!strstr(spate_message(p->ctx), words)) print_error("%s\n", spate_message(p->ctx));
    assert_non_null(strstr(spate_message(p->ctx), words));
}

static const char *const solvers[] = {"mpm", "flip", "sph", "smoke"};

static play open_pool(int solver, int threads) {
    return play_open(
        threads,
        "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\nduration: 1\nfps: 20\n"
        "solver: {type: %s}\nmaterials: {water: {%s}}\n"
        "bodies: [{name: pool, material: water, shape: {box: {min: [0, 0], max: [1, 0.25]}}}]\n"
        "sources: [{name: tap, material: water, velocity: [0, -1], shape: {sphere: {center: [0.2, "
        "0.8], "
        "radius: 0.1}}}]\n"
        "colliders: [{name: post, shape: {sphere: {center: [0.5, 0.2], radius: 0.1}}}]\n",
        solvers[solver],
        solver == 3 ? "model: gas" : "model: liquid, density: 1000, bulk_modulus: 2.0e4");
}

static const char drop[] =
    "bodies: [{name: drop, material: water, velocity: [0, -1], shape: {sphere: "
    "{center: [0.7, 0.5], radius: 0.1}}}]";
static const char tools[] =
    "colliders: [{name: paddle, driven: true, shape: {box: {min: [0.6, 0.3], max: [0.7, 0.4]}}}]\n"
    "sinks: [{name: hole, shape: {box: {min: [0.9, 0], max: [1, 0.1]}}}]\n"
    "sources:\n  - {name: jet, material: water, velocity: [-1, 0], shape: {sphere: {center: [0.9, "
    "0.7], "
    "radius: 0.06}}}\n";

static void change_things(play *p, int solver) {
    play_until(p, 0.03);
    if (solver < 3) expect(p->ctx, spate_simulation_add(p->sim, drop));
    play_until(p, 0.05);
    expect(p->ctx, spate_simulation_add(p->sim, tools));
    spate_pose at = spate_default_pose();
    at.position[0] = 0.65, at.position[1] = 0.35, at.velocity[0] = -0.5;
    expect(p->ctx, spate_simulation_set_pose(p->sim, "paddle", &at));
    play_until(p, 0.07);
    if (solver < 3) expect(p->ctx, spate_simulation_set(p->sim, "materials.water.viscosity=0.5"));
    expect(p->ctx, spate_simulation_remove(p->sim, "tap"));
    expect(p->ctx, spate_simulation_remove(p->sim, "post"));
    play_until(p, 0.1);
}

typedef struct collected {
    char *data;
    size_t length;
} collected;

static void collect(const char *words, void *user) {
    collected *c = user;
    c->data = realloc(c->data, c->length + strlen(words) + 1);
    strcpy(c->data + c->length, words);
    c->length += strlen(words);
}

static void test_recorded(void **state) {
    (void)state;
    for (int s = 0; s < 4; s++) {
        play live = open_pool(s, 1);
        expect(live.ctx, spate_simulation_record(live.sim));
        change_things(&live, s);
        const uint64_t hash = spate_simulation_hash(live.sim);
        collected scene = {0};
        expect(live.ctx, spate_simulation_recorded(live.sim, collect, &scene));
        play again = {0};
        spate_config config = spate_default_config();
        config.threads = 2;
        assert_int_equal(spate_open(&config, &again.ctx), SPATE_OK);
        expect(again.ctx, spate_scene_parse(again.ctx, scene.data, scene.length, "recorded", ".",
                                            NULL, 0, &again.scene));
        expect(again.ctx, spate_simulation_create(again.scene, &again.sim));
        play_until(&again, 0.05);
        play_steps(&again, 1);
        size_t length, same;
        expect(again.ctx, spate_simulation_save_memory(again.sim, NULL, 0, &length));
        char *bytes = malloc(length);
        expect(again.ctx, spate_simulation_save_memory(again.sim, bytes, length, &same));
        assert_int_equal(length, same);
        play_until(&again, 0.1);
        assert_true(spate_simulation_hash(again.sim) == hash);
        spate_simulation_free(again.sim);
        expect(again.ctx, spate_simulation_restore_memory(again.scene, bytes, length, &again.sim));
        play_until(&again, 0.1);
        assert_true(spate_simulation_hash(again.sim) == hash);
        free(bytes), free(scene.data);
        play_close(&again), play_close(&live);
    }
}

/* A body that is added has its mass, but not where others are. */
static void test_mass(void **state) {
    (void)state;
    for (int s = 0; s < 3; s++) {
        play p = open_pool(s, 2);
        expect(p.ctx, spate_simulation_remove(p.sim, "tap"));
        play_until(&p, 0.02);
        const double before = play_quantity(&p, "mass");
        expect(p.ctx, spate_simulation_add(p.sim, drop));
        const double added = play_quantity(&p, "mass") - before, exact = 1000 * 3.14159265 * 0.01;
        assert_float_equal(added, exact, 0.06 * exact);
        play_steps(&p, 2);
        assert_float_equal(play_quantity(&p, "mass") - before, added, 1e-6 * added);
        expect(p.ctx,
               spate_simulation_add(
                   p.sim, "bodies: [{name: late, material: water, shape: {box: {min: [0, 0.02], "
                          "max: [0.3, 0.2]}}}]"));
        assert_true(play_quantity(&p, "mass") - before - added < 0.2 * 1000 * 0.3 * 0.18);
        expect(p.ctx, spate_simulation_remove(p.sim, "drop"));
        play_steps(&p, 1);
        assert_true(play_quantity(&p, "mass") < before + 0.5 * added + 0.2 * 54);
        play_close(&p);
    }
}

static void test_refused(void **state) {
    (void)state;
    play p = open_pool(0, 1);
    play_steps(&p, 2);
    const uint64_t hash = spate_simulation_hash(p.sim);
    expect_refused(
        &p,
        spate_simulation_add(p.sim, "bodies: [{material: wtaer, shape: {points: [[0.5, 0.5]]}}]"),
        "did you mean 'water'");
    expect_refused(&p, spate_simulation_add(p.sim, "domain: {dx: 1}"), "cannot be added");
    expect_refused(&p, spate_simulation_add(p.sim, "bodies: ["), "added");
    expect_refused(&p, spate_simulation_add(p.sim, "[1]"), "mapping");
    expect_refused(&p,
                   spate_simulation_add(p.sim,
                                        "colliders: [{name: post, shape: {sphere: {center: [0, "
                                        "0], radius: 1}}}]"),
                   "'post' is the name of another one");
    expect_refused(&p, spate_simulation_set(p.sim, "domain.dx=0.1"), "cannot change");
    expect_refused(&p, spate_simulation_set(p.sim, "solver.type=flip"), "cannot change");
    expect_refused(&p, spate_simulation_set(p.sim, "materials.water.density=-1"), "out of range");
    expect_refused(&p, spate_simulation_remove(p.sim, "nobody"), "'nobody'");
    assert_true(spate_simulation_hash(p.sim) == hash);
    play_steps(&p, 1);
    char few[16];
    size_t length;
    expect_refused(&p, spate_simulation_save_memory(p.sim, few, sizeof few, &length), "needs");
    spate_simulation *none;
    expect_refused(&p, spate_simulation_restore_memory(p.scene, "SPATE", 5, &none), "damaged");
    play_close(&p);
    p = open_pool(3, 1);
    expect_refused(&p, spate_simulation_add(p.sim, drop), "add a source");
    play_close(&p);
}

typedef struct watcher {
    char stages[256];
    spate_status read, wrote;
} watcher;

static void watch(spate_simulation *sim, const char *stage, void *user) {
    watcher *w = user;
    float phi[256];
    strcat(strcat(w->stages, stage), " ");
    w->read = spate_simulation_grid(sim, "phi", phi, 256);
    const spate_force wind = spate_default_force();
    w->wrote = spate_simulation_set_force(sim, "wind", &wind);
}

/* Stages in their order, in which it can be read and not changed. */
static void test_stages(void **state) {
    (void)state;
    play p = open_pool(1, 1);
    watcher w = {.stages = ""};
    expect(p.ctx, spate_simulation_on_stage(p.sim, watch, &w));
    play_steps(&p, 1);
    const char *scatter = strstr(w.stages, "scatter"), *pressure = strstr(w.stages, "pressure");
    assert_true(scatter && pressure && scatter < pressure);
    assert_int_equal(w.read, SPATE_OK);
    assert_int_equal(w.wrote, SPATE_BAD_INPUT);
    expect(p.ctx, spate_simulation_on_stage(p.sim, NULL, NULL));
    play_steps(&p, 1);
    play_close(&p);
}

static void test_files(void **state) {
    (void)state;
    play p = open_pool(0, 1);
    char folder[] = "/tmp/spate_loop_XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    play_steps(&p, 2);
    expect(p.ctx, spate_simulation_write_frame(p.sim, folder, 7));
    snprintf(path, sizeof path, "%s/particles_0007.vtp", folder);
    assert_int_equal(access(path, R_OK), 0);
    unlink(path), rmdir(folder);
    collected head = {0}, row = {0};
    expect(p.ctx, spate_simulation_statistics(p.sim, -1, collect, &head));
    expect(p.ctx, spate_simulation_statistics(p.sim, 3, collect, &row));
    assert_memory_equal(head.data, "frame,time,steps", 16);
    assert_memory_equal(row.data, "3,", 2);
    free(head.data), free(row.data);
    expect_refused(&p, spate_simulation_write_frame(p.sim, folder, -1), "frame -1");
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded), cmocka_unit_test(test_mass),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_stages),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
