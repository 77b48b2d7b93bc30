/* For the physics tests: a scene from text, played to a time, asked for numbers. */
#ifndef SPATE_TESTS_PHYSICS_H
#define SPATE_TESTS_PHYSICS_H

#include "core/real.h"
#include "solver/solver.h"
#include "watched.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef SPATE_DOUBLE
enum { IN_DOUBLE = 1 };
#else
enum { IN_DOUBLE = 0 };
#endif

typedef struct play {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
} play;

/* A scene given as text, with printf-like numbers in it, is refused as bad input with a message that
 * has `expected` in it. */
static inline void play_refused(const char *expected, const char *format, ...) {
    char yaml[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(yaml, sizeof yaml, format, arguments);
    va_end(arguments);
    spate_context *ctx;
    spate_scene *scene = NULL;
    const spate_config config = spate_default_config();
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    const spate_status status =
        spate_scene_parse(ctx, yaml, strlen(yaml), "test", ".", NULL, 0, &scene);
    if (!strstr(spate_message(ctx), expected)) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), expected));
    assert_null(scene);
    spate_close(ctx);
}

/* Opens a scene given as text, with printf-like numbers in it. */
static inline play play_open(int threads, const char *format, ...) {
    char yaml[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(yaml, sizeof yaml, format, arguments);
    va_end(arguments);
    play p = {0};
    spate_config config = spate_default_config();
    config.threads = threads;
    assert_int_equal(spate_open(&config, &p.ctx), SPATE_OK);
    if (spate_scene_parse(p.ctx, yaml, strlen(yaml), "test", ".", NULL, 0, &p.scene) ||
        spate_simulation_create(p.scene, &p.sim)) {
        print_error("%s\n", spate_message(p.ctx));
        assert_true(false);
    }
    return p;
}

static inline void play_until(play *p, double t) {
    while (p->sim->time < t)
        if (spate_simulation_step(p->sim, t)) {
            print_error("%s\n", spate_message(p->ctx));
            assert_true(false);
        }
}

static inline void play_steps(play *p, int steps) {
    for (int i = 0; i < steps; i++)
        if (spate_simulation_step(p->sim, 1e9)) {
            print_error("%s\n", spate_message(p->ctx));
            assert_true(false);
        }
}

static inline double play_quantity(play *p, const char *name) {
    double value = NAN;
    if (spate_simulation_quantity(p->sim, name, &value)) {
        print_error("%s\n", spate_message(p->ctx));
        assert_true(false);
    }
    return value;
}

/* Brings a simulation to rest: all motion is stopped whenever the kinetic energy has passed a peak
 * (dynamic relaxation with kinetic damping). */
static inline void play_settle(play *p, int stops) {
    double before = 0;
    while (stops > 0) {
        play_steps(p, 1);
        double now = play_quantity(p, "kinetic_energy");
        if (now < before) {
            for (int64_t i = 0; i < p->sim->particles.count; i++)
                particles_clear(&p->sim->particles, &i, 1,
                                PARTICLE_BIT(velocity) | PARTICLE_BIT(affine));
            now = 0;
            stops--;
        }
        before = now;
    }
}

/* Acceleration of a place that a column tells: a line through its velocities between two times. */
static inline double play_acceleration(play *p, const char *column, double from, double to) {
    double sums[5] = {0}, last = play_quantity(p, column), last_t = p->sim->time;
    while (p->sim->time < to) {
        play_steps(p, 1);
        const double x = play_quantity(p, column), t = 0.5 * (p->sim->time + last_t);
        const double v = (x - last) / (p->sim->time - last_t);
        last = x, last_t = p->sim->time;
        if (t < from) continue;
        sums[0] += 1, sums[1] += t, sums[2] += t * t, sums[3] += v, sums[4] += t * v;
    }
    return (sums[0] * sums[4] - sums[1] * sums[3]) / (sums[0] * sums[2] - sums[1] * sums[1]);
}

/* `to`, of the same scene, goes on from what `from` writes to a file. */
static inline void play_go_on(const play *from, play *to) {
    char path[] = "/tmp/spate_play_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(spate_simulation_save(from->sim, path), SPATE_OK);
    spate_simulation_free(to->sim);
    to->sim = NULL;
    spate_status status = spate_simulation_restore(to->scene, path, &to->sim);
    unlink(path);
    if (status) print_error("%s\n", spate_message(to->ctx));
    assert_int_equal(status, SPATE_OK);
}

static inline void play_close(play *p) {
    spate_simulation_free(p->sim);
    spate_scene_free(p->scene);
    spate_close(p->ctx);
}

/* The hash after twice as many steps, from a checkpoint in between or not; closes it. */
static inline uint64_t play_hash(play p, int steps, bool stops) {
    for (int part = 0; part < 2; part++) {
        play_steps(&p, steps);
        if (stops && !part) play_go_on(&p, &p);
    }
    const uint64_t hash = spate_simulation_hash(p.sim);
    play_close(&p);
    return hash;
}

/* Calls for every particle with its block and index. */
#define EACH_PARTICLE(sim, block, i)                              \
    for (int32_t block = 0; block < (sim)->blocks.count; block++) \
        for (int64_t i = (sim)->blocks.first[block]; i < (sim)->blocks.first[block + 1]; i++)

/* A check that says the numbers when it fails. */
#define CHECK_BELOW(value, limit)                                                               \
    do {                                                                                        \
        double value_ = (value), limit_ = (limit);                                              \
        if (!(value_ < limit_)) print_error("%s = %.6g, limit %.6g\n", #value, value_, limit_); \
        assert_true(value_ < limit_);                                                           \
    } while (0)
#define CHECK_ABOVE(value, limit)                                                                  \
    do {                                                                                           \
        double value_ = (value), limit_ = (limit);                                                 \
        if (!(value_ > limit_)) print_error("%s = %.6g, at least %.6g\n", #value, value_, limit_); \
        assert_true(value_ > limit_);                                                              \
    } while (0)

#endif
