/* A simulation from a scene's text, and its steps. */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

engine *engine_get(void) {
    static engine only;
    return &only;
}

/* ---- Texts in and out ------------------------------------------------------------------------ */

char *ENGINE_CALL(engine_room)(size_t bytes) {
    engine *e = engine_get();
    if (bytes + 1 > e->room_size) {
        free(e->room);
        e->room_size = bytes + 1;
        e->room = malloc(e->room_size);
        if (!e->room) e->room_size = 0;
    }
    return e->room;
}

void *engine_answer_take(size_t bytes) {
    engine *e = engine_get();
    if (bytes > e->answer_size) {
        char *larger = realloc(e->answer, bytes + bytes / 4);
        if (!larger) return NULL;
        e->answer = larger, e->answer_size = bytes + bytes / 4;
    }
    e->answer_length = bytes;
    return e->answer;
}

void engine_answer_add(const char *text, void *unused) {
    (void)unused;
    engine *e = engine_get();
    const size_t before = e->answer_length, length = strlen(text);
    char *all = engine_answer_take(before + length);
    if (all) memcpy(all + before, text, length);
}

const char *ENGINE_CALL(engine_answer)(void) { return engine_get()->answer; }
size_t ENGINE_CALL(engine_answer_length)(void) { return engine_get()->answer_length; }

const char *ENGINE_CALL(engine_message)(void) {
    const engine *e = engine_get();
    return e->ctx ? spate_message(e->ctx) : "the engine could not start: no memory";
}

const char *ENGINE_CALL(engine_version)(void) { return spate_version(); }

/* ---- From text to a simulation --------------------------------------------------------------- */

static void pass_on(spate_log_level level, const char *message, void *user) {
    (void)user;
    page_log((int)level, message);
}

spate_status engine_ready(engine *e) {
    if (e->ctx) return SPATE_OK;
    spate_config config = spate_default_config();
    config.log = pass_on;
    return spate_open(&config, &e->ctx);
}

void ENGINE_CALL(engine_close)(void) {
    engine *e = engine_get();
    spate_simulation_free(e->sim), e->sim = NULL;
    spate_scene_free(e->scene), e->scene = NULL;
}

enum { SETS_MAX = 64 };

/* Reads the scene in the room, `length` bytes, and behind it `sets` overrides, closed by 0 each.
 * The simulation that was there ends when the new scene is right, and goes on when it is not. */
spate_status ENGINE_CALL(engine_parse)(size_t length, int sets) {
    engine *e = engine_get();
    const char *list[SETS_MAX];
    const char *at = e->room + length;
    const int count = sets < SETS_MAX ? sets : SETS_MAX;
    for (int i = 0; i < count; i++) list[i] = at, at += strlen(at) + 1;
    spate_scene *scene = NULL;
    spate_status status = engine_ready(e);
    if (!status)
        status = spate_scene_parse(e->ctx, e->room, length, "scene", ".", list, count, &scene);
    if (status) return status;
    engine_close();
    e->scene = scene;
    return SPATE_OK;
}

/* What the scene would cost, as JSON: particles, memory, steps. */
spate_status ENGINE_CALL(engine_review)(void) {
    engine *e = engine_get();
    spate_review r;
    spate_status status = spate_scene_review(e->scene, &r);
    if (status) return status;
    char text[512];
    snprintf(text, sizeof text,
             "{\"particles\":%lld,\"cells\":%lld,\"memory\":%.17g,\"dt\":%.17g,\"steps\":%.17g,"
             "\"duration\":%.17g}",
             (long long)r.summary.particles,
             (long long)r.summary.cells[0] * r.summary.cells[1] * r.summary.cells[2],
             r.memory_bytes, r.dt, r.steps, r.summary.duration);
    engine_get()->answer_length = 0;
    engine_answer_add(text, NULL);
    return SPATE_OK;
}

spate_status ENGINE_CALL(engine_create)(int record) {
    engine *e = engine_get();
    spate_status status = spate_simulation_create(e->scene, &e->sim);
    if (!status && record) status = spate_simulation_record(e->sim);
    return status;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* Steps until `time` is reached, or for about so many milliseconds, or so many steps: whichever
 * comes first. No step passes `until`. */
spate_status ENGINE_CALL(engine_step)(double time, double until, double budget, int steps) {
    spate_simulation *sim = engine_get()->sim;
    const double begin = milliseconds();
    spate_status status = SPATE_OK;
    while (!status && steps-- > 0 && spate_simulation_time(sim) < time) {
        status = spate_simulation_step(sim, until);
        if (milliseconds() - begin >= budget) break;
    }
    return status;
}

static void tell_stage(spate_simulation *sim, const char *stage, void *user) {
    (void)sim, (void)user;
    page_stage(stage);
}

/* One step, with a call of the page after every stage, in which it may read. */
spate_status ENGINE_CALL(engine_step_stages)(double until) {
    spate_simulation *sim = engine_get()->sim;
    spate_status status = spate_simulation_on_stage(sim, tell_stage, NULL);
    if (!status) status = spate_simulation_step(sim, until);
    spate_simulation_on_stage(sim, NULL, NULL);
    return status;
}

double ENGINE_CALL(engine_time)(void) { return spate_simulation_time(engine_get()->sim); }
double ENGINE_CALL(engine_dt)(void) { return spate_simulation_dt(engine_get()->sim); }
double ENGINE_CALL(engine_steps)(void) { return (double)spate_simulation_steps(engine_get()->sim); }
double ENGINE_CALL(engine_particles)(void) {
    return (double)spate_simulation_particles(engine_get()->sim);
}
const char *ENGINE_CALL(engine_dt_limit)(void) {
    return spate_simulation_dt_limit(engine_get()->sim);
}
