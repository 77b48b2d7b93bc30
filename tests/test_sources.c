/* Nozzles: how many particles come out, when, how evenly, and how fast. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/vec.h"
#include "solver/solver.h"
#include "solver/sources.h"
#include <stdio.h>
#include <stdlib.h>

/* Cells of 0.05 with 2 particles along each axis. */
static const double DX = 0.05, SPACING = 0.025;

typedef struct play {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
} play;

/* A scene with nothing but a source: open sides, no gravity, a soft liquid for long steps. It has a
 * lattice, whose points can be counted, unless its fields say otherwise. */
static play play_open_with(const char *solver, int dim, const char *size, const char *source_fields,
                           int threads) {
    char text[1024];
    const char *lattice = strstr(source_fields, "sampling") ? "" : "sampling: regular, ";
    snprintf(text, sizeof text,
             "spate: 1\nname: nozzle\ndimension: %d\n"
             "domain: {size: %s, dx: %g, walls: open}\ngravity: %s\nduration: 10\nfps: 10\n"
             "solver: {%s}\n"
             "materials: {water: {model: liquid, bulk_modulus: 500}}\n"
             "sources:\n  - {name: jet, material: water, %s%s}\n",
             dim, size, DX, dim == 2 ? "[0, 0]" : "[0, 0, 0]", solver, lattice, source_fields);
    play p;
    spate_config config = spate_default_config();
    config.threads = threads;
    assert_int_equal(spate_open(&config, &p.ctx), SPATE_OK);
    spate_status status =
        spate_scene_parse(p.ctx, text, strlen(text), "nozzle.yaml", ".", NULL, 0, &p.scene);
    if (!status) status = spate_simulation_create(p.scene, &p.sim);
    if (status) print_error("%s\n", spate_message(p.ctx));
    assert_int_equal(status, SPATE_OK);
    return p;
}

static play play_open(int dim, const char *size, const char *source_fields, int threads) {
    return play_open_with("integrator: apic", dim, size, source_fields, threads);
}

static void play_close(play *p) {
    spate_simulation_free(p->sim);
    spate_scene_free(p->scene);
    spate_close(p->ctx);
}

static void step(play *p, double until) {
    spate_status status = spate_simulation_step(p->sim, until);
    if (status) print_error("%s\n", spate_message(p->ctx));
    assert_int_equal(status, SPATE_OK);
}

static void advance(play *p, double until) {
    while (spate_simulation_time(p->sim) < until) step(p, until);
}

/* How many have come in all: those that are there and those that have left the domain. */
static int64_t emitted(const play *p) {
    assert_int_equal(p->sim->sources[0].emitted,
                     spate_simulation_particles(p->sim) + p->sim->removed);
    return p->sim->sources[0].emitted;
}

static int compare_numbers(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- How many ---- */

/* A square nozzle of 4 x 4 lattice columns: rate = area * velocity / spacing^3 = 80 layers/s. */
static void test_rate_of_a_box(void **state) {
    (void)state;
    play p = play_open(3, "[0.5, 3, 0.5]",
                       "shape: {box: {min: [0.2, 2.6, 0.2], max: [0.3, 2.7, 0.3]}}, "
                       "velocity: [0, -2, 0]",
                       2);
    double rate = 0.1 * 0.1 * 2 / pow(SPACING, 3);
    assert_int_equal(emitted(&p), 64); /* full from the start */
    for (int k = 1; k <= 5; k++) {
        advance(&p, 0.2 * k);
        assert_true(fabs((double)emitted(&p) - 64 - rate * 0.2 * k) <= 16); /* a layer */
    }
    assert_true(fabs((double)(emitted(&p) - 64) - rate) <= 0.02 * rate);
    /* each has the mass of its share of the volume */
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        assert_true(fabs((double)p.sim->particles.mass[i] / (1000 * pow(SPACING, 3)) - 1) < 1e-5);
    play_close(&p);
}

/* Obliquely out of a sphere, whose cross-section is pi r^2, and out of a disc in 2D: 2 r. */
static void test_rate_of_a_round_nozzle(void **state) {
    (void)state;
    play p = play_open(3, "[2, 2, 2]",
                       "shape: {sphere: {center: [0.5, 1.51, 0.5], radius: 0.12}}, "
                       "velocity: [0.9, -0.7, 0.41]",
                       2);
    int64_t start = emitted(&p);
    double volume = 4.18879 * pow(0.12, 3) / pow(SPACING, 3);
    assert_true(fabs((double)start / volume - 1) < 0.05);
    advance(&p, 0.8);
    double speed = sqrt(0.81 + 0.49 + 0.41 * 0.41);
    double expected = 3.14159265 * 0.12 * 0.12 * speed * 0.8 / pow(SPACING, 3);
    assert_true(fabs((double)(emitted(&p) - start) / expected - 1) < 0.02);
    play_close(&p);

    p = play_open(2, "[2, 2]",
                  "shape: {sphere: {center: [0.5, 1.5], radius: 0.21}}, velocity: [0.8, -0.6]", 1);
    start = emitted(&p);
    advance(&p, 1);
    expected = 2 * 0.21 * 1 / pow(SPACING, 2);
    assert_true(fabs((double)(emitted(&p) - start) / expected - 1) < 0.02);
    play_close(&p);
}

/* Without a lattice as much comes out, to the bit the same however many threads there are; and the
 * points are not in rows. */
static void test_rate_of_a_glass(void **state) {
    (void)state;
    static const char fields[] = "sampling: glass, velocity: [0, -2, 0], "
                                 "shape: {box: {min: [0.2, 2.6, 0.2], max: [0.3, 2.7, 0.3]}}";
    play p = play_open(3, "[0.5, 3, 0.5]", fields, 1), q = play_open(3, "[0.5, 3, 0.5]", fields, 2);
    double rate = 0.1 * 0.1 * 2 / pow(SPACING, 3);
    int64_t start = emitted(&p), in_rows = 0;
    assert_true(fabs((double)start / 64 - 1) < 0.2);
    const blocks *b = &p.sim->blocks;
    for (int32_t block = 0; block < b->count; block++)
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            double x[3];
            simulation_position(p.sim, block, i, x);
            const double row = x[0] / SPACING;
            in_rows += fabs(row - floor(row) - 0.5) < 0.02;
        }
    assert_true(in_rows < start / 4);
    advance(&p, 1), advance(&q, 1);
    assert_true(fabs((double)(emitted(&p) - start) / rate - 1) < 0.03);
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(q.sim));
    play_close(&p), play_close(&q);
}

static void test_limit(void **state) {
    (void)state;
    play p = play_open(3, "[0.5, 2, 0.5]",
                       "shape: {box: {min: [0.2, 1.6, 0.2], max: [0.3, 1.7, 0.3]}}, "
                       "velocity: [0, -2, 0], limit: 301",
                       1);
    advance(&p, 0.1);
    assert_true(emitted(&p) < 301);
    advance(&p, 0.3);
    assert_int_equal(emitted(&p), 301);
    advance(&p, 0.4);
    assert_int_equal(emitted(&p), 301);
    play_close(&p);
    p = play_open(3, "[0.5, 2, 0.5]",
                  "shape: {box: {min: [0.2, 1.6, 0.2], max: [0.3, 1.7, 0.3]}}, "
                  "velocity: [0, -2, 0], limit: 10",
                  1);
    assert_int_equal(emitted(&p), 10); /* already in the first filling */
    play_close(&p);
}

/* The limit holds at every step, in the middle of a layer (301), at the end of one (320), with the
 * first filling (64), and from the start (0); it is reached exactly, and never passed. */
static void test_limit_is_never_passed(void **state) {
    (void)state;
    static const int64_t limits[] = {301, 320, 64, 0};
    for (int l = 0; l < COUNT_OF(limits); l++) {
        char fields[256];
        snprintf(fields, sizeof fields,
                 "shape: {box: {min: [0.2, 1.6, 0.2], max: [0.3, 1.7, 0.3]}}, "
                 "velocity: [0, -2, 0], limit: %d",
                 (int)limits[l]);
        play p = play_open(3, "[0.5, 2, 0.5]", fields, 1);
        int64_t before = emitted(&p);
        while (spate_simulation_time(p.sim) < 0.3) {
            step(&p, 0.3);
            assert_true(emitted(&p) >= before && emitted(&p) <= limits[l]);
            before = emitted(&p);
        }
        assert_int_equal(before, limits[l]);
        assert_false(source_is_running(p.sim, 0)); /* nor holds it anything any longer */
        assert_int_equal(spate_simulation_particles(p.sim), limits[l]);
        play_close(&p);
    }
}

static void test_from_and_until(void **state) {
    (void)state;
    play p = play_open(2, "[1, 2]",
                       "shape: {box: {min: [0.2, 1.6], max: [0.4, 1.7]}}, velocity: [0, -2], "
                       "from: 0.1, until: 0.3",
                       1);
    assert_int_equal(emitted(&p), 0);
    advance(&p, 0.1);
    assert_int_equal(emitted(&p), 0);
    advance(&p, 0.3);
    int64_t all = emitted(&p);
    double expected = 32 + 0.2 * 2 * 0.2 / pow(SPACING, 2);
    assert_true(fabs((double)all - expected) <= 16);
    advance(&p, 0.5);
    assert_int_equal(emitted(&p), all);
    play_close(&p);
}

/* A source runs from the first moment on, and no longer at the last. */
static void test_first_and_last_moment(void **state) {
    (void)state;
    play p = play_open(2, "[1, 1]",
                       "shape: {box: {min: [0.4, 0.4], max: [0.6, 0.6]}}, velocity: [0, -1], "
                       "from: 0.25, until: 0.5",
                       1);
    static const struct {
        double time;
        bool runs;
    } moments[] = {{0, false}, {0.2499, false}, {0.25, true}, {0.4999, true}, {0.5, false}};
    for (int i = 0; i < COUNT_OF(moments); i++) {
        p.sim->time = moments[i].time;
        assert_true(source_is_running(p.sim, 0) == moments[i].runs);
    }
    play_close(&p);
}

/* A nozzle that sticks out of the domain goes on: points enter where they cross its side. */
static void test_nozzle_through_the_side(void **state) {
    (void)state;
    play p = play_open(3, "[0.5, 1, 0.5]",
                       "shape: {box: {min: [0.2, 0.8, 0.2], max: [0.3, 1.6, 0.3]}}, "
                       "velocity: [0, -2, 0]",
                       1);
    assert_int_equal(emitted(&p), 8 * 16);
    advance(&p, 0.2);
    assert_true(fabs((double)emitted(&p) - 128 - 256) <= 16);
    play_close(&p);
}

/* ---- How evenly ---- */

/* Gaps between layers along the jet, however time is cut: fixed steps that land on the lattice, and
 * steps of all lengths. Returns the number of layers. */
static int check_layers(const play *p, double tolerance) {
    const spate_simulation *sim = p->sim;
    double *y = malloc((size_t)sim->particles.count * sizeof *y), x[3];
    for (int32_t block = 0; block < sim->blocks.count; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
            simulation_position(sim, block, i, x);
            y[i] = x[1];
        }
    qsort(y, (size_t)sim->particles.count, sizeof *y, compare_numbers);
    int layers = 1, in_layer = 1;
    for (int64_t i = 1; i < sim->particles.count; i++) {
        double gap = (y[i] - y[i - 1]) / SPACING;
        if (gap < 0.5) {
            assert_true(gap < tolerance);
            in_layer++;
            continue;
        }
        assert_true(fabs(gap - 1) < tolerance);
        assert_int_equal(in_layer, 16);
        layers++, in_layer = 1;
    }
    assert_int_equal(in_layer, 16);
    free(y);
    return layers;
}

static void test_layers_are_even(void **state) {
    (void)state;
    /* 1: dt fixed so that a layer enters every fifth step, exactly on the border */
    static const char *const fields[] = {
        "shape: {box: {min: [0.2, 2.6, 0.2], max: [0.3, 2.7, 0.3]}}, velocity: [0, -2, 0]",
        "shape: {box: {min: [0.2, 2.6125, 0.2], max: [0.3, 2.7125, 0.3]}}, velocity: [0, -2, 0]",
    };
    for (int f = 0; f < COUNT_OF(fields); f++)
        for (int cut = 0; cut < 2; cut++) {
            play p = play_open(3, "[0.5, 3, 0.5]", fields[f], 1);
            if (cut == 0) p.scene->dt = 0.0025;
            for (uint64_t k = 0; cut == 1 && spate_simulation_time(p.sim) < 0.5; k++)
                step(&p, spate_simulation_time(p.sim) + 0.012 * random_unit(1, k, 0) + 1e-5);
            advance(&p, 0.5131);
            int layers = check_layers(&p, 0.005);
            assert_true(abs(layers - 4 - 41) <= 1);
            assert_int_equal(layers * 16, emitted(&p));
            play_close(&p);
        }
}

/* ---- How fast ---- */

/* Gravity would bend and speed up the jet; inside the nozzle it does not. */
static void test_particles_in_the_nozzle_keep_its_velocity(void **state) {
    (void)state;
    play p = play_open(3, "[1, 2, 1]",
                       "shape: {sphere: {center: [0.4, 1.5, 0.5], radius: 0.15}}, "
                       "velocity: [0.5, -1, 0.25]",
                       2);
    vec_set(p.scene->gravity, 0, -9.81, 0);
    const double v[3] = {0.5, -1, 0.25};
    int64_t inside = 0, outside = 0;
    for (int k = 0; k < 40; k++) {
        step(&p, 10);
        const spate_simulation *sim = p.sim;
        for (int32_t block = 0; block < sim->blocks.count; block++)
            for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
                double x[3];
                const real *record = sim->particles.velocity[i];
                simulation_position(sim, block, i, x);
                if (shape_distance(p.scene->sources[0].shape, 3, x) >= 0) {
                    outside += record[1] < (real)-1.05;
                    continue;
                }
                inside++;
                for (int a = 0; a < 3; a++) assert_true(record[a] == (real)v[a]);
                for (int c = 0; c < 12; c++)
                    assert_true(sim->particles.affine[i][c / 4][c % 4] == 0);
                assert_true(sim->particles.dilation[i] == (real)sim->sources[0].dilation);
            }
    }
    assert_true(inside > 20000);
    assert_true(outside > 500); /* and the others do fall */
    assert_true(fabs(p.sim->sources[0].dilation) < 0.03);
    play_close(&p);
}

/* The nodes in a running nozzle have its velocity, whatever else is there: a particle of a body at
 * rest in its middle is swept along at once. Before the nozzle runs it stays where it is. */
static void test_nodes_in_the_nozzle_have_its_velocity(void **state) {
    (void)state;
    for (int runs = 0; runs < 2; runs++) {
        char fields[512];
        snprintf(fields, sizeof fields,
                 "shape: {sphere: {center: [0.5, 1.5, 0.5], radius: 0.3}}, "
                 "velocity: [0.5, -1, 0.25], from: %d}\n"
                 "bodies:\n  - {name: leaf, material: water, shape: {points: [[0.5, 1.5, 0.5]]}",
                 runs ? 0 : 1);
        play p = play_open(3, "[1, 2, 1]", fields, 1);
        step(&p, 10);
        const double v[3] = {0.5, -1, 0.25};
        int found = 0;
        for (int64_t i = 0; i < p.sim->particles.count; i++) {
            if (p.sim->particles.group[i] != 0) continue;
            for (int a = 0; a < 3; a++)
                assert_true(fabs((double)p.sim->particles.velocity[i][a] - runs * v[a]) < 1e-6);
            found++;
        }
        assert_int_equal(found, 1);
        /* but its own past stays: only the source's particles are made new */
        for (int64_t i = 0; i < p.sim->particles.count; i++) p.sim->particles.affine[i][0][0] = 1;
        sources_hold(p.sim);
        int renewed = 0;
        for (int64_t i = 0; i < p.sim->particles.count; i++) {
            const bool is_new = p.sim->particles.affine[i][0][0] == 0;
            assert_true(!is_new || p.sim->particles.group[i] == 1);
            renewed += is_new;
        }
        assert_int_equal(renewed > 0, runs);
        play_close(&p);
    }
}

/* Points that enter in steps much shorter than their spacing become particles together: each
 * emission costs a sort of all particles. As many come as the flux says up to the start of the last
 * step of a source, however long steps are. */
static void test_short_steps_emit_together(void **state) {
    (void)state;
    const double radius = 0.8, speed = sqrt(1 + 0.09), until = 0.1;
    for (int fine = 0; fine < 2; fine++) {
        play p = play_open(2, "[4, 2]",
                           "shape: {sphere: {center: [1.31, 1], radius: 0.8}}, velocity: "
                           "[1, 0.3], until: 0.1",
                           1);
        /* the lattice moves by 1/60 or 1/6 of a spacing */
        const double dt = fine ? 0.0004 : 0.004;
        const int64_t start = emitted(&p);
        int64_t steps = 0;
        for (double t = 0; t < until + 5 * dt; t += dt, steps++) step(&p, t + dt);
        const double flux = 2 * radius * speed / (SPACING * SPACING);
        assert_true(fabs((double)(emitted(&p) - start) - flux * (until - dt)) <= 4);
        /* about eight steps to an emission; one by one there is a sort for two of three */
        if (fine) assert_in_range(p.sim->blocks.sorts, steps / 20, steps / 4);
        play_close(&p);
    }
}

/* In a step the lattice may move by many spacings: all that it brings in is there. */
static void test_long_steps_bring_all(void **state) {
    (void)state;
    play p =
        play_open_with("type: flip, cfl: 5", 2, "[2, 6]",
                       "shape: {box: {min: [0.5, 5.0], max: [1.5, 5.8]}}, velocity: [0, -4]", 1);
    const double dt = 5 * DX / 4, column = 1 / SPACING;
    const int64_t start = emitted(&p);
    int steps = 0;
    for (; steps < 8; steps++) step(&p, (steps + 1) * dt);
    assert_int_equal(p.sim->step, steps); /* ten spacings each; the last one's points come next */
    assert_int_equal(emitted(&p) - start, (int64_t)round(column * (steps - 1) * 10));
    play_close(&p);
}

static void test_threads_make_no_difference(void **state) {
    (void)state;
    static const int threads[] = {1, 2, 3, 7};
    uint64_t hash = 0;
    for (int t = 0; t < COUNT_OF(threads); t++) {
        play p = play_open(3, "[1, 2, 1]",
                           "shape: {sphere: {center: [0.4, 1.5, 0.5], radius: 0.15}}, "
                           "velocity: [0.5, -1, 0.25]",
                           threads[t]);
        advance(&p, 0.15);
        if (t == 0) hash = spate_simulation_hash(p.sim);
        assert_true(spate_simulation_hash(p.sim) == hash);
        play_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate_of_a_box),
        cmocka_unit_test(test_rate_of_a_round_nozzle),
        cmocka_unit_test(test_rate_of_a_glass),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_limit_is_never_passed),
        cmocka_unit_test(test_from_and_until),
        cmocka_unit_test(test_first_and_last_moment),
        cmocka_unit_test(test_nozzle_through_the_side),
        cmocka_unit_test(test_layers_are_even),
        cmocka_unit_test(test_particles_in_the_nozzle_keep_its_velocity),
        cmocka_unit_test(test_nodes_in_the_nozzle_have_its_velocity),
        cmocka_unit_test(test_short_steps_emit_together),
        cmocka_unit_test(test_long_steps_bring_all),
        cmocka_unit_test(test_threads_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
