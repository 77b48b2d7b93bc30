/* Sinks: what is inside is gone and counted, what is outside stays, bit for bit. */
#include "physics.h"

#include "solver/sinks.h"

#include <unistd.h>

#define HEAD                                                             \
    "spate: 1\ndimension: %d\ndomain: {size: %s, dx: 0.05, walls: %s}\n" \
    "gravity: %s\nmaterials: {water: {model: liquid, bulk_modulus: 500}}\n"

/* A jet of water that falls onto a basin whose floor has a drain. */
#define FALLING                                                                    \
    "sources: [{name: jet, material: water, velocity: [0, -2, 0],\n"               \
    "           shape: {box: {min: [0.3, 0.8, 0.3], max: [0.45, 0.95, 0.45]}}}]\n" \
    "bodies: [{material: water, shape: {box: {min: [0, 0, 0], max: [0.8, 0.2, 0.8]}}}]\n"
#define DRAIN                                                                                   \
    "sinks:\n"                                                                                  \
    "  - {name: drain, shape: {cylinder: {from: [0.5, -1, 0.5], to: [0.5, 0.1, 0.5], radius: "  \
    "0.2}}}\n"                                                                                  \
    "  - {name: later, from: 0.1, until: 0.2, shape: {plane: {point: [0.1, 0, 0], normal: [1, " \
    "0, 0]}}}\n"

static play open_falling(int threads, const char *sinks) {
    return play_open(threads, HEAD "%s%s", 3, "[0.8, 1, 0.8]", "slip", "[0, -9.81, 0]", FALLING,
                     sinks);
}

static int64_t living(const play *p) {
    int64_t count = 0;
    for (int64_t i = 0; i < p->sim->particles.count; i++)
        count += p->sim->particles.group[i] != GROUP_REMOVED;
    return count;
}

/* Particles inside a sink, looked at one by one. */
static int64_t inside(const play *p, const sink *drain) {
    int64_t count = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        count += p->sim->particles.group[i] != GROUP_REMOVED &&
                 shape_distance(drain->shape, p->scene->dim, x) < 0;
    }
    return count;
}

static void test_takes_what_is_inside(void **state) {
    (void)state;
    play p = play_open(1,
                       HEAD "bodies:\n  - {material: water, shape: {points: [[0.2, 0.5], [0.3, "
                            "0.5], [0.7, 0.5], [0.8, 0.5]]}}\n"
                            "sinks: [{shape: {box: {min: [0.25, 0.4], max: [0.75, 0.6]}}}]\n",
                       2, "[1, 1]", "slip", "[0, 0]");
    assert_string_equal(p.scene->sinks[0].name, "sink 1");
    assert_int_equal(living(&p), 4); /* nothing happens before a step */
    play_steps(&p, 1);
    assert_int_equal(p.sim->drained, 2);
    assert_int_equal(living(&p), 2);
    assert_int_equal(p.sim->removed, 0); /* that is for open sides */
    assert_float_equal(play_quantity(&p, "particles"), 2, 0);
    play_steps(&p, 1);
    assert_int_equal(p.sim->drained, 2); /* none twice */
    assert_int_equal(spate_simulation_particles(p.sim), 2);
    for (int64_t i = 0; i < 2; i++)
        assert_true(p.sim->particles.id[i] == 0 || p.sim->particles.id[i] == 3);
    play_close(&p);
}

/* A sink runs from its first moment on, and no longer at its last. */
static void test_first_and_last_moment(void **state) {
    (void)state;
    play p = play_open(1,
                       HEAD "bodies: [{material: water, shape: {points: [[0.5, 0.5]]}}]\n"
                            "sinks: [{from: 0.25, until: 0.5, shape: {box: {min: [0.4, 0.4], max: "
                            "[0.6, 0.6]}}}]\n",
                       2, "[1, 1]", "slip", "[0, 0]");
    static const struct {
        double time;
        int runs;
    } moments[] = {{0, 0}, {0.2499, 0}, {0.5, 0}, {0.25, 1}, {0.4999, 1}};
    for (int i = 0; i < COUNT_OF(moments); i++) {
        p.sim->time = moments[i].time;
        assert_int_equal(sinks_drain(p.sim), moments[i].runs);
        p.sim->particles.group[0] = 0; /* put back */
    }
    play_close(&p);
}

/* After every step no particle is left in a running sink, and none is lost from the books. */
static void test_books_balance(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = open_falling(2, DRAIN);
    play q = open_falling(2, "");
    int64_t basin = p.sim->particles.count - p.sim->sources[0].emitted, before = 0, slices = 0;
    while (p.sim->time < 0.3) {
        play_steps(&p, 1);
        double t = p.sim->time;
        assert_int_equal(basin + p.sim->sources[0].emitted, living(&p) + p.sim->drained);
        assert_int_equal(inside(&p, &p.scene->sinks[0]), 0);
        if (t >= 0.1 && t < 0.2) {
            assert_int_equal(inside(&p, &p.scene->sinks[1]), 0);
            slices++;
        }
        assert_true(p.sim->drained >= before);
        before = p.sim->drained;
    }
    CHECK_ABOVE(before, basin / 4);
    CHECK_ABOVE(slices, 5);
    CHECK_ABOVE(inside(&p, &p.scene->sinks[1]), 0); /* filled again when it has ended */
    /* control: without sinks the same places are full */
    play_until(&q, 0.3);
    CHECK_ABOVE(inside(&q, &p.scene->sinks[0]), 100);
    assert_int_equal(q.sim->drained, 0);
    play_close(&p);
    play_close(&q);
}

/* A block that is taken whole, one that is cut, one that is passed over; and the whole domain. */
static void test_blocks(void **state) {
    (void)state;
    if (WATCHED) skip();
    static const char *const shapes[] = {
        "{plane: {point: [0.43, 0.41, 0.4], normal: [1, 2, -1]}}",
        "{difference: [{sphere: {center: [0.4, 0.4, 0.4], radius: 0.39}}, {sphere: {center: [0.5, "
        "0.4, 0.4], radius: 0.2}}]}",
        "{box: {min: [-1, -1, -1], max: [2, 2, 2]}}",
    };
    for (int s = 0; s < COUNT_OF(shapes); s++) {
        play p = play_open(3,
                           HEAD "bodies: [{material: water, sampling: jittered, shape: {box: {min: "
                                "[0, 0, 0], max: [0.8, 0.8, 0.8]}}}]\n"
                                "sinks: [{shape: %s}]\n",
                           3, "[0.8, 0.8, 0.8]", "slip", "[0, 0, 0]", shapes[s]);
        int64_t all = living(&p), expected = inside(&p, &p.scene->sinks[0]);
        CHECK_ABOVE(expected, 1000);
        assert_int_equal(sinks_drain(p.sim), expected);
        assert_int_equal(p.sim->drained, expected);
        assert_int_equal(living(&p), all - expected);
        assert_int_equal(sinks_drain(p.sim), 0);
        p.sim->drift = 1;  /* as after a step */
        play_steps(&p, 3); /* also with nothing left */
        if (s == 2) assert_int_equal(spate_simulation_particles(p.sim), 0);
        play_close(&p);
    }
}

/* Round a periodic side into a sink behind it. */
static void test_seam(void **state) {
    (void)state;
    play p = play_open(1,
                       HEAD "bodies: [{material: water, velocity: [2, 0], shape: {box: {min: [0.7, "
                            "0.2], max: [0.95, 0.4]}}}]\n"
                            "sinks: [{shape: {box: {min: [0, 0], max: [0.02, 1]}}}]\n",
                       2, "[1, 1]", "[periodic, periodic, slip, slip]", "[0, 0]");
    int64_t all = living(&p);
    while (p.sim->time < 0.3) {
        play_steps(&p, 1);
        assert_int_equal(inside(&p, &p.scene->sinks[0]), 0);
        assert_int_equal(living(&p) + p.sim->drained, all);
    }
    CHECK_ABOVE(p.sim->drained, all / 2);
    play_close(&p);
    /* between two sorts, when it still belongs to the block at the other end */
    p = play_open(1,
                  HEAD "solver: {type: mpm, dt: 0.0075}\n"
                       "bodies: [{material: water, velocity: [2, 0], shape: {points: [[0.9745, "
                       "0.3]]}}]\n"
                       "sinks: [{shape: {box: {min: [0, 0], max: [0.02, 1]}}}]\n",
                  2, "[1, 1]", "[periodic, periodic, slip, slip]", "[0, 0]");
    play_steps(&p, 1);
    assert_int_equal(p.sim->drained, 0);
    play_steps(&p, 1);
    assert_int_equal(p.sim->blocks.coords[p.sim->blocks.occupied[0]][0], 4);
    assert_int_equal(p.sim->drained, 1);
    play_close(&p);
}

static void test_threads_make_no_difference(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 5};
    uint64_t hash = 0;
    int64_t drained = 0;
    for (int t = 0; t < (WATCHED ? 2 : COUNT_OF(threads)); t++) {
        play p = open_falling(threads[t], DRAIN);
        play_until(&p, 0.15);
        if (t == 0) hash = spate_simulation_hash(p.sim), drained = p.sim->drained;
        assert_true(spate_simulation_hash(p.sim) == hash);
        assert_int_equal(p.sim->drained, drained);
        play_close(&p);
    }
    CHECK_ABOVE(drained, 100);
}

/* Stopped at any step, also when drained particles are still stored, and gone on. */
static void test_checkpoint(void **state) {
    (void)state;
    char path[] = "/tmp/spate_sinks_XXXXXX";
    int fd = mkstemp(path), waiting = 0;
    assert_true(fd >= 0);
    close(fd);
    play p = open_falling(1, DRAIN), whole = open_falling(1, DRAIN);
    play_steps(&whole, 60);
    for (int k = 0; k < 60; k++) {
        play_steps(&p, 1);
        if (k % 7) continue;
        waiting += living(&p) < p.sim->particles.count;
        int64_t drained = p.sim->drained;
        assert_int_equal(spate_simulation_save(p.sim, path), SPATE_OK);
        spate_simulation_free(p.sim);
        assert_int_equal(spate_simulation_restore(p.scene, path, &p.sim), SPATE_OK);
        assert_int_equal(p.sim->drained, drained);
    }
    CHECK_ABOVE(waiting, 0);
    CHECK_ABOVE(p.sim->drained, 0);
    assert_int_equal(p.sim->drained, whole.sim->drained);
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(whole.sim));
    unlink(path);
    play_close(&p);
    play_close(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_takes_what_is_inside),
        cmocka_unit_test(test_first_and_last_moment),
        cmocka_unit_test(test_books_balance),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_seam),
        cmocka_unit_test(test_threads_make_no_difference),
        cmocka_unit_test(test_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
