/* Pace: how long films last, which frame each picture shows, what the corner says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pictures/draw/film_timing.h"
#include <math.h>
#include <string.h>

static int open_context(void **state) { return spate_open(NULL, (spate_context **)state); }
static int close_context(void **state) {
    spate_close(*state);
    return 0;
}

static film_timing choose(void **state, double rate, int64_t frames, double fps, double speed) {
    film_timing p;
    assert_int_equal(film_timing_choose(*state, rate, frames, fps, speed, &p), SPATE_OK);
    return p;
}

static void assert_words(const film_timing *p, const char *expected) {
    char words[32];
    film_timing_words(p, words, sizeof words);
    assert_string_equal(words, expected);
}

/* 80 frames of 1/50 s are 1.6 s: a third of the speed makes them 4.8 s. */
static void short_runs_are_in_slow_motion(void **state) {
    film_timing p = choose(state, 50, 80, 0, 0);
    assert_true(fabs(p.speed - 1.0 / 3) < 1e-12 && fabs(p.fps - 50.0 / 3) < 1e-9);
    assert_int_equal(p.pictures, 80);
    assert_words(&p, "1/3 speed");
    p = choose(state, 50, 200, 0, 0);
    assert_true(p.speed == 1 && p.fps == 50);
    assert_words(&p, "");
    p = choose(state, 50, 199, 0, 0);
    assert_words(&p, "1/2 speed");
}

/* Whatever a run has, nobody waits less than four seconds, nor much more, and every frame stays as
 * long as every other. */
static void films_last_four_seconds(void **state) {
    for (int64_t frames = 2; frames < 900; frames += 1 + frames / 3)
        for (double rate = 1; rate < 3000; rate *= 1.7) {
            film_timing p = choose(state, rate, frames, 0, 0);
            const double seconds = (double)p.pictures / p.fps, real = (double)frames / rate;
            assert_true(seconds >= 4 - 1e-6);
            assert_true(seconds <= fmax(8 + 1e-6, real * (1 + 1e-6) + 1 / p.fps));
            assert_true(p.fps > 11.9 && p.fps < 60.1);
            const double halvings = log2(p.step);
            assert_true(fabs(halvings - round(halvings)) < 1e-6);
            assert_int_equal(film_timing_frame(&p, 0), 0);
            assert_true(film_timing_frame(&p, p.pictures - 1) < frames);
            assert_true(film_timing_frame(&p, p.pictures) >= frames);
        }
}

static void wishes_are_granted(void **state) {
    /* The rate of the film changes neither its speed nor its length. */
    film_timing p = choose(state, 50, 80, 24, 0);
    assert_true(p.fps == 24 && fabs(p.speed - 1.0 / 3) < 1e-12);
    assert_true(fabs((double)p.pictures / p.fps - 4.8) < 0.05);
    p = choose(state, 50, 80, 0, 2);
    assert_true(p.fps == 50 && p.step == 2);
    assert_int_equal(p.pictures, 40);
    assert_int_equal(film_timing_frame(&p, 7), 14);
    assert_words(&p, "2x speed");
    p = choose(state, 25, 100, 50, 0.25);
    assert_int_equal(p.pictures, 800);
    assert_int_equal(film_timing_frame(&p, 7), 0);
    assert_int_equal(film_timing_frame(&p, 8), 1);
    assert_words(&p, "1/4 speed");
    p = choose(state, 25, 100, 0, 0.4);
    assert_words(&p, "0.4x speed");
}

static void mistakes_are_told(void **state) {
    static const double wrong[][2] = {{0.5, 0},  {1e4, 0}, {NAN, 0}, {0, -1},
                                      {0, 1e-9}, {0, 1e9}, {0, NAN}, {0, 1e-5}};
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        film_timing p;
        assert_int_equal(film_timing_choose(*state, 50, 80, wrong[i][0], wrong[i][1], &p),
                         SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(*state), wrong[i][1] == 0 ? "fps: " : "speed: "));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_runs_are_in_slow_motion),
        cmocka_unit_test(films_last_four_seconds),
        cmocka_unit_test(wishes_are_granted),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
