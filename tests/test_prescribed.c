/*
 * Prescribed flows: particles follow the exact field with the order of the scheme, come back to
 * where they were when the field reverses, and do so for every number of threads and after a
 * restore.
 */
#include "physics.h"

#include "solver/flip/flip.h"

typedef struct path {
    double x[3];
} path;

/* Positions by id. */
static path *paths_of(const play *p) {
    path *all = calloc((size_t)p->sim->particles.count + 1, sizeof *all);
    EACH_PARTICLE(p->sim, block, i)
    simulation_position(p->sim, block, i, all[p->sim->particles.id[i]].x);
    return all;
}

static double largest_difference(const path *a, const path *b, int64_t count) {
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) worst = fmax(worst, fabs(a[i].x[c] - b[i].x[c]));
    return worst;
}

static play open_flow(int threads, int dim, double dx, const char *solver) {
    return play_open(threads,
                     "spate: 1\ndimension: %d\nduration: 100\nfps: 1\n"
                     "domain: {size: %s, dx: %.17g}\nsolver: {type: flip, %s}\n"
                     "materials: {w: {model: liquid}}\nbodies: [{material: w, sampling: regular, "
                     "shape: {sphere: {center: %s, radius: 0.15}}}]\n",
                     dim, dim == 2 ? "[1, 1]" : "[1, 1, 1]", dx, solver,
                     dim == 2 ? "[0.5, 0.75]" : "[0.35, 0.35, 0.35]");
}

/* How far from its start the farthest particle is at time t. */
static double distance_after(int dim, double dx, const char *solver, double t) {
    play p = open_flow(2, dim, dx, solver);
    path *before = paths_of(&p);
    play_until(&p, t);
    path *after = paths_of(&p);
    double worst = largest_difference(before, after, p.sim->particles.count);
    free(before), free(after);
    play_close(&p);
    return worst;
}

/* ---- Back at the start ----------------------------------------------------------------------- */

static void test_fields_that_return(void **state) {
    (void)state;
    const double gate = 2e-3; /* of rk3 at cfl 1 */
    CHECK_BELOW(distance_after(3, 0.05, "flow: {field: enright}", 3), gate);
    CHECK_BELOW(distance_after(2, 0.02, "flow: {field: vortex}", 8), gate);
    CHECK_BELOW(distance_after(2, 0.02, "flow: {field: zalesak, period: 2}", 2), gate);
    /* halfway they are elsewhere */
    CHECK_ABOVE(distance_after(3, 0.05, "flow: {field: enright}", 1.5), 0.3);
    CHECK_ABOVE(distance_after(2, 0.02, "flow: {field: vortex}", 4), 0.3);
    CHECK_ABOVE(distance_after(2, 0.02, "flow: {field: zalesak, period: 2}", 1), 0.3);
}

static void test_reverse(void **state) {
    (void)state;
    const char *solver = "flow: {reverse: 0.5, motion: [{rotate: 3, until: 0.3}, {strain: [-1, 1], "
                         "decay: 0.2}, {shear: 2, from: 0.1, until: 0.45}, {translate: [0.2, 0], "
                         "from: 0.45}]}, cfl: 0.2";
    CHECK_BELOW(distance_after(2, 0.02, solver, 1), 2e-5);
    CHECK_ABOVE(distance_after(2, 0.02, solver, 0.5), 0.1);
    CHECK_ABOVE(distance_after(2, 0.02, solver, 0.9), 0.01);
}

/* ---- Order of accuracy ----------------------------------------------------------------------- */

static double order_of(const char *scheme, double dt, double t) {
    char solver[256];
    path *results[3];
    int64_t count = 0;
    for (int k = 0; k < 3; k++) {
        snprintf(solver, sizeof solver,
                 "advection: %s, dt: %.17g, flow: {field: vortex, period: 4}",
                 k < 2 ? scheme : "rk3", k < 2 ? dt / (1 + k) : dt / 16);
        play p = open_flow(1, 2, 0.05, solver);
        play_until(&p, t);
        results[k] = paths_of(&p);
        count = p.sim->particles.count;
        play_close(&p);
    }
    double coarse = largest_difference(results[0], results[2], count);
    double fine = largest_difference(results[1], results[2], count);
    for (int k = 0; k < 3; k++) free(results[k]);
    return log2(coarse / fine);
}

static void test_order(void **state) {
    (void)state;
    CHECK_BELOW(fabs(order_of("rk1", 0.02, 1) - 1), 0.15);
    CHECK_BELOW(fabs(order_of("rk2", 0.05, 1) - 2), 0.2);
    CHECK_BELOW(fabs(order_of("rk3", 0.1, 1) - 3), 0.4);
}

/* ---- Exact motions --------------------------------------------------------------------------- */

/* (x, y, -2 z)/(t + t0): x grows as 1 + t/t0, z falls as its inverse square. And a step that ends
 * where a part does: what is left of rk3's error is far below the one of a step across. */
static void test_disc_spreads(void **state) {
    (void)state;
    play p =
        open_flow(2, 3, 0.05,
                  "cfl: 0.1, flow: {motion: [{strain: [10, 10, -20], center: [0.35, 0.35, 0.35], "
                  "decay: 0.1, until: 0.07}]}");
    path *before = paths_of(&p);
    play_until(&p, 0.2);
    path *after = paths_of(&p);
    double worst = 0;
    const double factor[3] = {1.7, 1.7, 1 / (1.7 * 1.7)};
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs((after[i].x[c] - 0.35) - factor[c] * (before[i].x[c] - 0.35)));
    CHECK_BELOW(worst, 1e-5);
    CHECK_BELOW(play_quantity(&p, "max_speed"), 1e-12);
    free(before), free(after);
    play_close(&p);
}

/* What a particle's velocity is: the field's, where it is now. */
static void test_velocity_is_the_fields(void **state) {
    (void)state;
    play p = open_flow(1, 2, 0.05, "flow: {motion: [{rotate: 2, center: [0.5, 0.5]}]}");
    /* at the start already */
    CHECK_ABOVE(play_quantity(&p, "max_speed"), 2 * 0.35);
    play_steps(&p, 3);
    double worst = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        const real *v = p.sim->particles.velocity[i];
        worst = fmax(worst, fabs((double)v[0] + 2 * (x[1] - 0.5)));
        worst = fmax(worst, fabs((double)v[1] - 2 * (x[0] - 0.5)));
    }
    CHECK_BELOW(worst, 2e-6);
    /* cfl: the fastest crosses one cell */
    CHECK_BELOW(play_quantity(&p, "max_speed") * p.sim->dt / 0.05, 1.05);
    CHECK_ABOVE(play_quantity(&p, "max_speed") * p.sim->dt / 0.05, 0.9);
    play_close(&p);
}

/* ---- One result ------------------------------------------------------------------------------ */

static uint64_t hash_after(int threads, bool restored) {
    play p = open_flow(threads, 3, 0.05, "flow: {field: enright}");
    play_steps(&p, 7);
    if (restored) {
        play q = open_flow(threads, 3, 0.05, "flow: {field: enright}");
        play_go_on(&p, &q);
        play_close(&p);
        p = q;
    }
    play_steps(&p, 8);
    uint64_t hash = spate_simulation_hash(p.sim);
    play_close(&p);
    return hash;
}

static void test_threads_and_restore(void **state) {
    (void)state;
    const uint64_t one = hash_after(1, false);
    assert_int_equal(hash_after(3, false), one);
    assert_int_equal(hash_after(2, true), one);
}

/* ---- Bad input ------------------------------------------------------------------------------- */

static void refused(int dim, const char *solver, const char *more, const char *expected) {
    play_refused(expected,
                 "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ndomain: {size: %s, dx: 0.1}\n"
                 "solver: {type: flip, %s}\nmaterials: {w: {model: liquid}}\n"
                 "bodies: [{material: w, shape: {sphere: {center: %s, radius: 0.2}}}]\n%s",
                 dim, dim == 2 ? "[1, 1]" : "[1, 1, 1]", solver,
                 dim == 2 ? "[.5, .5]" : "[.5, .5, .5]", more);
}

static void test_bad_input(void **state) {
    (void)state;
    refused(2, "flow: {field: enright}", "", "test:6:36: solver.flow.field: enright is a 3D field");
    refused(2, "flow: {}", "", "solver.flow.motion: nothing moves");
    refused(2, "flow: {field: vortex, motion: [{rotate: 1}]}", "", "is for `field: parts`");
    refused(2, "flow: {motion: [{rotat: 1}]}", "", "solver.flow.motion.0.rotat: unknown field");
    refused(2, "flow: {motion: []}", "", "an empty list");
    refused(2, "flow: {motion: [{rotate: 1, from: 2, until: 1}]}", "", "not after its begin");
    refused(2, "flow: {motion: [{shear: 1, along: x, across: x}]}", "", "choose another");
    refused(2, "flow: {motion: [{shear: 1, along: z}]}", "", "in a 2D scene");
    refused(2, "flow: {field: vortex, period: -1}", "", "solver.flow.period: -1 is out of range");
    refused(2, "flow: 3", "", "solver.flow: expected a mapping");
    refused(2, "flow: {field: vortex}",
            "colliders: [{shape: {sphere: {center: [.1, .1], radius: .1}}}]\n",
            "through colliders; remove");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_that_return),
        cmocka_unit_test(test_reverse),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_disc_spreads),
        cmocka_unit_test(test_velocity_is_the_fields),
        cmocka_unit_test(test_threads_and_restore),
        cmocka_unit_test(test_bad_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
