/*
 * Simulations that change while they run: bodies, sources, colliders and materials that come and
 * go, as YAML and as structs. All of it recorded, resumed and with other threads bit for bit the
 * same.
 */
#include "driven.h"

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
        solver_names[solver], solver == SMOKE ? gas : liquid);
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
    if (solver < SMOKE) expect(p->ctx, spate_simulation_add(p->sim, drop));
    play_until(p, 0.05);
    expect(p->ctx, spate_simulation_add(p->sim, tools));
    spate_pose at = spate_default_pose();
    at.position[0] = 0.65, at.position[1] = 0.35, at.velocity[0] = -0.5;
    expect(p->ctx, spate_simulation_set_pose(p->sim, "paddle", &at));
    play_until(p, 0.07);
    if (solver < SMOKE)
        expect(p->ctx, spate_simulation_set(p->sim, "materials.water.viscosity=0.5"));
    expect(p->ctx, spate_simulation_remove(p->sim, "tap"));
    expect(p->ctx, spate_simulation_remove(p->sim, "post"));
    play_until(p, 0.1);
}

static void test_recorded(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play live = open_pool(s, 1);
        expect(live.ctx, spate_simulation_record(live.sim));
        change_things(&live, s);
        check_recording(&live, 0.05, 2);
        play_close(&live);
    }
}

/* What was added by hand is in a checkpoint too. */
static void test_resumed(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play p = open_pool(s, 2);
        change_things(&p, s);
        size_t length;
        expect(p.ctx, spate_simulation_save_memory(p.sim, NULL, 0, &length));
        char *bytes = malloc(length);
        expect(p.ctx, spate_simulation_save_memory(p.sim, bytes, length, &length));
        play q = {.ctx = p.ctx, .scene = p.scene};
        expect(p.ctx, spate_simulation_restore_memory(p.scene, bytes, length, &q.sim));
        free(bytes);
        assert_true(spate_simulation_hash(q.sim) == spate_simulation_hash(p.sim));
        play_until(&p, 0.15), play_until(&q, 0.15);
        assert_true(spate_simulation_hash(q.sim) == spate_simulation_hash(p.sim));
        spate_simulation_free(q.sim);
        play_close(&p);
    }
}

/* ---- As structs ------------------------------------------------------------------------------ */

static void add_structs(play *p, int solver) {
    spate_body blob = spate_default_body();
    blob.name = "drop", blob.material = "water";
    blob.shape.kind = SPATE_SPHERE, blob.shape.center[0] = 0.7, blob.shape.center[1] = 0.5;
    blob.shape.radius = 0.1, blob.velocity[1] = -1, blob.spin[2] = 1.0 / 3;
    if (solver < SMOKE) expect(p->ctx, spate_simulation_add_body(p->sim, &blob));
    spate_collider paddle = spate_default_collider();
    paddle.name = "paddle", paddle.contact = SPATE_STICKY;
    paddle.shape.kind = SPATE_CAPSULE, paddle.shape.radius = 0.05;
    paddle.shape.from[0] = 0.8, paddle.shape.to[0] = 0.9;
    paddle.shape.from[1] = paddle.shape.to[1] = 0.8;
    expect(p->ctx, spate_simulation_add_collider(p->sim, &paddle));
    spate_source jet = spate_default_source();
    jet.name = "jet", jet.material = "water", jet.velocity[0] = -1, jet.until = 0.8;
    jet.shape.kind = SPATE_CYLINDER, jet.shape.radius = 0.06;
    jet.shape.from[0] = 0.4, jet.shape.to[0] = 0.5;
    jet.shape.from[1] = jet.shape.to[1] = 0.8;
    expect(p->ctx, spate_simulation_add_source(p->sim, &jet));
    spate_sink hole = spate_default_sink();
    hole.name = "hole";
    hole.shape.min[0] = 0.9, hole.shape.max[0] = 1, hole.shape.max[1] = 0.1;
    expect(p->ctx, spate_simulation_add_sink(p->sim, &hole));
}

/* The same as YAML, number for number. */
static void add_words(play *p, int solver) {
    if (solver < SMOKE)
        expect(p->ctx,
               spate_simulation_add(p->sim, "bodies: [{name: drop, material: water, velocity: [0, "
                                            "-1], spin: 0.33333333333333331, shape: {sphere: "
                                            "{center: [0.7, 0.5], radius: 0.1}}}]"));
    expect(p->ctx, spate_simulation_add(p->sim, "colliders: [{name: paddle, driven: true, contact: "
                                                "sticky, shape: {capsule: {from: [0.8, 0.8], to: "
                                                "[0.9, 0.8], radius: 0.05}}}]"));
    expect(p->ctx, spate_simulation_add(p->sim, "sources: [{name: jet, material: water, velocity: "
                                                "[-1, 0], until: 0.8, shape: {cylinder: {from: "
                                                "[0.4, 0.8], to: [0.5, 0.8], radius: 0.06}}}]"));
    expect(p->ctx, spate_simulation_add(p->sim, "sinks: [{name: hole, shape: {box: {min: [0.9, 0], "
                                                "max: [1, 0.1]}}}]"));
}

static void move_paddle(play *p) {
    spate_pose at = spate_default_pose();
    at.position[0] = 0.85, at.position[1] = 0.8, at.velocity[0] = -0.5;
    expect(p->ctx, spate_simulation_set_pose(p->sim, "paddle", &at));
    play_until(p, 0.1);
}

static void test_structs(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play a = open_pool(s, 1), b = open_pool(s, 2);
        expect(a.ctx, spate_simulation_record(a.sim));
        expect(b.ctx, spate_simulation_record(b.sim)); /* steps end at frames in both */
        play_until(&a, 0.03), play_until(&b, 0.03);
        add_structs(&a, s), add_words(&b, s);
        assert_int_equal(a.sim->scene->collider_count, 2);
        assert_int_equal(a.sim->scene->source_count, 2);
        move_paddle(&a), move_paddle(&b);
        assert_true(spate_simulation_hash(a.sim) == spate_simulation_hash(b.sim));
        check_recording(&a, 0.05, 2);
        play_close(&a), play_close(&b);
    }
}

/* A tap that is opened and closed, under one name; recorded too. */
static void test_name_again(void **state) {
    (void)state;
    play p = open_pool(FLIP, 1);
    expect(p.ctx, spate_simulation_record(p.sim));
    expect(p.ctx, spate_simulation_remove(p.sim, "tap"));
    double mass[4];
    for (int k = 0; k < 3; k++) {
        spate_source tap = spate_default_source();
        tap.name = "tap", tap.material = "water", tap.velocity[1] = -2;
        tap.shape.min[0] = 0.1, tap.shape.max[0] = 0.3;
        tap.shape.min[1] = 0.7, tap.shape.max[1] = 0.8;
        expect(p.ctx, spate_simulation_add_source(p.sim, &tap));
        expect_refused(&p, spate_simulation_add_source(p.sim, &tap), "another one");
        play_until(&p, (2 * k + 1) / 40.0);
        mass[k] = play_quantity(&p, "mass");
        expect(p.ctx, spate_simulation_remove(p.sim, "tap"));
        play_until(&p, (k + 1) / 20.0);
        assert_float_equal(play_quantity(&p, "mass"), mass[k], 1e-6 * mass[k]);
        assert_true(k == 0 || mass[k] > mass[k - 1] + 1);
    }
    check_recording(&p, 0.05, 2);
    play_close(&p);
}

static void test_structs_refused(void **state) {
    (void)state;
    play p = open_pool(MPM, 1);
    const uint64_t hash = spate_simulation_hash(p.sim), generation = p.sim->generation;
    spate_body blob = {.material = "water"};
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "spate_default_body()");
    blob = spate_default_body();
    blob.shape.max[0] = blob.shape.max[1] = 0.1;
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "body.material is not set");
    blob.material = "wtaer";
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "did you mean 'water'");
    blob.material = "water", blob.shape.max[1] = NAN;
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "body.max has y");
    blob.shape.max[1] = 0.1, blob.shape.max[2] = 1;
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "2D");
    blob.shape.max[2] = 0, blob.spin[0] = 1;
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "about z alone");
    blob.spin[0] = 0, blob.shape.kind = (spate_shape_kind)7;
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "no kind 7");
    blob.shape.kind = SPATE_SPHERE; /* without a radius */
    expect_refused(&p, spate_simulation_add_body(p.sim, &blob), "radius");
    spate_collider bar = {.contact = SPATE_SLIP};
    expect_refused(&p, spate_simulation_add_collider(p.sim, &bar), "spate_default_collider()");
    bar = spate_default_collider();
    bar.contact = (spate_contact)5;
    expect_refused(&p, spate_simulation_add_collider(p.sim, &bar), "collider.contact is 5");
    spate_source tap = {.material = "water"};
    expect_refused(&p, spate_simulation_add_source(p.sim, &tap), "spate_default_source()");
    tap = spate_default_source();
    tap.material = "water", tap.shape.max[0] = tap.shape.max[1] = 0.1, tap.from = NAN;
    expect_refused(&p, spate_simulation_add_source(p.sim, &tap), "source.from");
    spate_sink drain = {.until = 1};
    expect_refused(&p, spate_simulation_add_sink(p.sim, &drain), "spate_default_sink()");
    assert_true(spate_simulation_hash(p.sim) == hash && p.sim->generation == generation);
    play_close(&p);
}

/* A body that is added has its mass, but not where others are. */
static void test_mass(void **state) {
    (void)state;
    for (int s = 0; s < SMOKE; s++) {
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
    play p = open_pool(MPM, 1);
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
    play_close(&p);
    p = open_pool(SMOKE, 1);
    expect_refused(&p, spate_simulation_add(p.sim, drop), "add a source");
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),   cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_structs),    cmocka_unit_test(test_structs_refused),
        cmocka_unit_test(test_name_again), cmocka_unit_test(test_mass),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
