/* For tests of spate/drive.h: a tank for every solver, what is expected, and playing a
 * recording. */
#ifndef SPATE_TESTS_DRIVEN_H
#define SPATE_TESTS_DRIVEN_H

#include "physics.h"
#include <spate/drive.h>

static inline void expect(spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

/* Refused, with a message that has these words. */
static inline void expect_refused(const play *p, spate_status status, const char *words) {
    assert_int_equal(status, SPATE_BAD_INPUT);
    if (!strstr(spate_message(p->ctx), words)) print_error("%s\n", spate_message(p->ctx));
    assert_non_null(strstr(spate_message(p->ctx), words));
}

enum { MPM, FLIP, SPH, SMOKE, SOLVERS };
static const char *const solver_names[SOLVERS] = {"mpm", "flip", "sph", "smoke"};
static const char liquid[] = "model: liquid, density: 1000, bulk_modulus: 2.0e4";
static const char gas[] = "model: gas, density: 1.2";

/* Half a box of water, or of gas that fills the box, with what else `more` says: colliders... `set`
 * is more of the solver's, ", dt: 0.01". */
static inline play open_tank_with(int solver, int threads, const char *set, const char *more) {
    return play_open(
        threads,
        "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\nduration: 1\nfps: 20\n"
        "solver: {type: %s%s}\nmaterials: {water: {%s}}\n"
        "bodies: [{name: pool, material: water, shape: {box: {min: [0, 0], max: [1, 0.5]}}}]\n%s",
        solver_names[solver], set, solver == SMOKE ? gas : liquid, more);
}

static const char driven_ball[] =
    "colliders: [{name: ball, driven: true, shape: {sphere: {center: [0.5, 0.25], radius: "
    "0.12}}}]\n";
static inline play open_tank(int solver, int threads) {
    return open_tank_with(solver, threads, "", driven_ball);
}

static inline spate_pose ball_at(double x, double y, double vx, double spin) {
    spate_pose at = spate_default_pose();
    at.position[0] = x, at.position[1] = y;
    at.velocity[0] = vx;
    at.spin[2] = spin;
    return at;
}

/* ---- Text that comes piece by piece ---------------------------------------------------------- */

typedef struct collected {
    char *data;
    size_t length;
} collected;

static inline void collect(const char *words, void *user) {
    collected *c = user;
    c->data = realloc(c->data, c->length + strlen(words) + 1);
    strcpy(c->data + c->length, words);
    c->length += strlen(words);
}

/* A simulation of what was recorded of another, with so many threads. */
static inline play open_recorded(const play *live, int threads) {
    collected scene = {0};
    play p = {0};
    spate_config config = spate_default_config();
    config.threads = threads;
    expect(live->ctx, spate_simulation_recorded(live->sim, collect, &scene));
    assert_int_equal(spate_open(&config, &p.ctx), SPATE_OK);
    expect(p.ctx,
           spate_scene_parse(p.ctx, scene.data, scene.length, "recorded", ".", NULL, 0, &p.scene));
    expect(p.ctx, spate_simulation_create(p.scene, &p.sim));
    free(scene.data);
    return p;
}

/* A step as a run makes it, which ends at frames. */
static inline void step_of_run(play *p) {
    const double fps = p->scene->fps, frame = floor(p->sim->time * fps * (1 + 1e-12)) + 1;
    expect(p->ctx, spate_simulation_step(p->sim, frame / fps));
}

static inline void run_until(play *p, double t) {
    while (p->sim->time < t * (1 - 1e-12)) step_of_run(p);
}

/* By frames alone, to the time and state of the live one, once through and once from a checkpoint
 * in memory a step after `half`. */
static inline void check_recording(const play *live, double half, int threads) {
    const uint64_t hash = spate_simulation_hash(live->sim);
    play again = open_recorded(live, threads);
    size_t length, same;
    run_until(&again, half);
    step_of_run(&again);
    expect(again.ctx, spate_simulation_save_memory(again.sim, NULL, 0, &length));
    char *bytes = malloc(length);
    expect(again.ctx, spate_simulation_save_memory(again.sim, bytes, length, &same));
    assert_int_equal(length, same);
    run_until(&again, live->sim->time);
    assert_int_equal(again.sim->step, live->sim->step);
    assert_true(spate_simulation_hash(again.sim) == hash);
    spate_simulation_free(again.sim);
    expect(again.ctx, spate_simulation_restore_memory(again.scene, bytes, length, &again.sim));
    run_until(&again, live->sim->time);
    assert_true(spate_simulation_hash(again.sim) == hash);
    free(bytes);
    play_close(&again);
}

#endif
