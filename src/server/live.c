/* A simulation as the subject of viewers: its pace, and what they say to it. */
#include "server/live.h"

#include "core/file.h"
#include "port/clock.h"
#include "server/solids.h"
#include <math.h>
#include <stdio.h>

enum { SECOND = 1000000000, IDLE = 200000000 };

/* Steps end where the solver or the next frame of the scene says, as those of a run. */
static const double no_end = 1e30;
static const double longest_wait = 1e6; /* s */
static const double behind_most = 0.25; /* s that a slow simulation may try to make up for */

/* ---- The simulation -------------------------------------------------------------------------- */

static void restart_pace(live *l) {
    l->clock_from = l->window_from = clock_nanoseconds();
    l->time_from = l->window_time = l->sim->time;
    l->window_steps = l->sim->step;
}

static spate_status list_all(live *l) {
    TRY(spate_simulation_list(l->sim, SPATE_ATTRIBUTES, l->attributes, LISTED_MOST,
                              &l->attribute_count));
    TRY(spate_simulation_list(l->sim, SPATE_QUANTITIES, l->quantities, LISTED_MOST,
                              &l->quantity_count));
    TRY(spate_simulation_list(l->sim, SPATE_GRIDS, l->grids, LISTED_MOST, &l->grid_count));
    if (l->attribute_count > LISTED_MOST) l->attribute_count = LISTED_MOST;
    if (l->quantity_count > LISTED_MOST) l->quantity_count = LISTED_MOST;
    if (l->grid_count > LISTED_MOST) l->grid_count = LISTED_MOST;
    return SPATE_OK;
}

/* From the scene, at the start, with nobody's hands in it. */
static spate_status begin(live *l) {
    spate_simulation *sim;
    TRY(spate_simulation_create(l->scene, &sim));
    const spate_status status = spate_simulation_record(sim);
    if (status) {
        spate_simulation_free(sim);
        return status;
    }
    spate_simulation_free(l->sim);
    l->sim = sim;
    l->failure = SPATE_OK;
    l->past_end = false;
    l->ball_count = 0;
    memset(l->tilt, 0, sizeof l->tilt);
    memset(l->stirs, 0, sizeof l->stirs), memset(l->pours, 0, sizeof l->pours);
    l->parts++, l->changes++;
    restart_pace(l);
    return list_all(l);
}

static void set_news(live *l, const char *words) {
    snprintf(l->words, sizeof l->words, "%s", words);
}

static void stop_at(live *l, packed_state state, const char *words) {
    l->state = state;
    l->changes++;
    set_news(l, words);
}

static spate_status step(live *l) {
    TRY(tools_before_step(l));
    TRY(spate_simulation_step(l->sim, no_end));
    return tools_after_step(l);
}

static void measure_pace(live *l) {
    const int64_t now = clock_nanoseconds(), passed = now - l->window_from;
    if (passed < SECOND / 2) return;
    l->pace = (float)((l->sim->time - l->window_time) * SECOND / (double)passed);
    l->rate = (float)((double)(l->sim->step - l->window_steps) * SECOND / (double)passed);
    l->window_from = now, l->window_time = l->sim->time, l->window_steps = l->sim->step;
}

/* Nanoseconds until the next step is due. */
static int64_t due_in(live *l) {
    if (!(l->speed > 0)) return 0;
    const double ahead = (l->sim->time - l->time_from) / l->speed -
                         (double)(clock_nanoseconds() - l->clock_from) / SECOND;
    if (ahead < -behind_most) l->clock_from = clock_nanoseconds(), l->time_from = l->sim->time;
    return ahead > 0 ? (int64_t)(fmin(ahead, longest_wait) * SECOND) + 1 : 0;
}

static int64_t advance(void *self) {
    live *l = self;
    if (l->state != STATE_RUNNING) return IDLE;
    const int64_t wait = due_in(l);
    if (wait > 0) return wait;
    l->failure = step(l);
    measure_pace(l);
    if (l->failure) {
        snprintf(l->why, sizeof l->why, "%s", spate_message(l->ctx));
        stop_at(l, STATE_FAILED, l->why);
    } else if (l->steps_left > 0 && --l->steps_left == 0) {
        stop_at(l, STATE_PAUSED, "");
    } else if (!l->past_end && l->sim->time >= l->scene->duration * (1 - 1e-9)) {
        stop_at(l, STATE_ENDED, "The scene's duration is over. Resume goes on beyond it.");
    }
    return 0;
}

/* ---- What viewers say ------------------------------------------------------------------------ */

static spate_status resume(live *l, int64_t steps) {
    if (l->state == STATE_FAILED)
        return fail(l->ctx, SPATE_BAD_INPUT, "the simulation has failed; reset begins it anew");
    if (l->state == STATE_ENDED) l->past_end = true;
    l->state = STATE_RUNNING;
    l->steps_left = steps;
    l->changes++;
    restart_pace(l);
    return SPATE_OK;
}

static spate_status set_colour(live *l, viewer *v, const message *m) {
    char name[MESSAGE_WORD];
    const char *word = m->words[0];
    subject_component(word, name);
    if (strcmp(word, "material") && !live_find(l->attributes, l->attribute_count, word) &&
        !live_find(l->grids, l->grid_count, word) &&
        !live_find(l->attributes, l->attribute_count, name) &&
        !live_find(l->grids, l->grid_count, name))
        return fail(l->ctx, SPATE_BAD_INPUT, "colour: nothing here is called '%s'", word);
    memcpy(v->colour, word, sizeof v->colour);
    v->settings++;
    return SPATE_OK;
}

static spate_status set_plots(live *l, viewer *v, const message *m) {
    for (int i = 0; i < m->word_count; i++)
        if (!live_find(l->quantities, l->quantity_count, m->words[i]))
            return fail(l->ctx, SPATE_BAD_INPUT, "plot: no quantity is called '%s'", m->words[i]);
    memcpy(v->plots, m->words, sizeof v->plots);
    v->plot_count = m->word_count;
    v->settings++;
    v->plotted_at = 0;
    return SPATE_OK;
}

static void keep_text(const char *words, void *user) {
    text *t = user;
    text_add_bytes(t, words, strlen(words));
}

/* The scene with all that was done as its events, and the state it led to. */
static spate_status tell_recording(live *l, text *reply) {
    text scene = {.ctx = l->ctx};
    spate_status status = spate_simulation_recorded(l->sim, keep_text, &scene);
    if (!status && scene.failed) status = SPATE_OUT_OF_MEMORY;
    if (!status) {
        text_add(reply, "{\"kind\": \"recording\", \"time\": %.17g, \"step\": %lld", l->sim->time,
                 (long long)l->sim->step);
        text_add(reply, ", \"hash\": \"%016llx\", \"scene\": ",
                 (unsigned long long)spate_simulation_hash(l->sim));
        text_add_json(reply, scene.data, scene.length);
        text_add(reply, "}");
    }
    text_free(&scene);
    return status;
}

static spate_status set_speed(live *l, double speed) {
    if (speed < 0) return fail(l->ctx, SPATE_BAD_INPUT, "speed: %g is below 0", speed);
    l->speed = speed;
    restart_pace(l);
    return SPATE_OK;
}

static spate_status act_on_run(live *l, const message *m) {
    switch (m->kind) {
    case MESSAGE_PAUSE:
        if (l->state == STATE_RUNNING) stop_at(l, STATE_PAUSED, "");
        return SPATE_OK;
    case MESSAGE_RESUME: return resume(l, -1);
    case MESSAGE_STEP:
        if (!(m->numbers[0] >= 1))
            return fail(l->ctx, SPATE_BAD_INPUT, "step: %g steps cannot be made", m->numbers[0]);
        return resume(l, (int64_t)m->numbers[0]);
    case MESSAGE_RESET:
        TRY(begin(l));
        if (l->state != STATE_PAUSED) TRY((l->state = STATE_PAUSED, resume(l, -1)));
        return SPATE_OK;
    case MESSAGE_SPEED: return set_speed(l, m->numbers[0]);
    default: return SPATE_OK;
    }
}

/* Tools change a state that a failed step has left, or that stands still, as well. */
static spate_status use_tool(live *l, const subject_call *call) {
    if (l->state == STATE_FAILED && call->message->kind != MESSAGE_LEFT)
        return fail(l->ctx, SPATE_BAD_INPUT, "the simulation has failed; reset begins it anew");
    if (l->state == STATE_FAILED) return SPATE_OK;
    l->changes++;
    return tools_act(l, call);
}

static spate_status act(void *self, const subject_call *call) {
    live *l = self;
    const message *m = call->message;
    switch (m->kind) {
    case MESSAGE_COLOUR: return set_colour(l, call->viewer, m);
    case MESSAGE_PLOT: return set_plots(l, call->viewer, m);
    case MESSAGE_PICK: return pick_particle(l, m->numbers, call->reply);
    case MESSAGE_VALUES: return pick_values(l, (uint64_t)fmax(m->numbers[0], 0), call->reply);
    case MESSAGE_SAVE: return tell_recording(l, call->reply);
    case MESSAGE_PAUSE:
    case MESSAGE_RESUME:
    case MESSAGE_STEP:
    case MESSAGE_RESET:
    case MESSAGE_SPEED: return act_on_run(l, m);
    case MESSAGE_SEEK: return fail(l->ctx, SPATE_BAD_INPUT, "seek: this run is live");
    default: return use_tool(l, call);
    }
}

/* ---- What viewers get ------------------------------------------------------------------------ */

static void list_names(text *out, const char *name, const spate_entry *entries, int count) {
    text_add(out, ", \"%s\": [", name);
    for (int i = 0; i < count; i++) {
        text_add(out, "%s{\"name\": ", i ? ", " : "");
        text_add_json(out, entries[i].name, strlen(entries[i].name));
        text_add(out, ", \"components\": %d, \"unit\": ", entries[i].components);
        text_add_json(out, entries[i].unit, strlen(entries[i].unit));
        text_add(out, "}");
    }
    text_add(out, "]");
}

static spate_status hello(void *self, text *out) {
    const live *l = self;
    text_add(out, "\"mode\": \"live\", ");
    hello_scene(l->sim->scene, out);
    list_names(out, "attributes", l->attributes, l->attribute_count);
    list_names(out, "quantities", l->quantities, l->quantity_count);
    list_names(out, "fields", l->grids, l->grid_count);
    text_add(out, ", \"speed\": %.9g, \"order\": \"%s\"", l->speed,
             l->order == SPATE_BY_ID ? "id" : "stored");
    return SPATE_OK;
}

static spate_status parts(void *self, packing *out) {
    return solids_pack(((const live *)self)->sim->scene, out);
}

static uint64_t parts_stamp(void *self) { return ((const live *)self)->parts; }

static void news(void *self, text *out) {
    live *l = self;
    if (l->words[0]) hello_notice(out, l->words);
    l->words[0] = 0;
}

static uint64_t stamp(void *self, const viewer *v) {
    const live *l = self;
    /* odd multipliers, so that one cannot make up for another */
    return 1 + spate_simulation_generation(l->sim) + l->changes * 0x9e3779b97f4a7c15u +
           v->settings * 0xc2b2ae3d27d4eb4fu;
}

static spate_status head(void *self, const viewer *v, packed_head *out) {
    const live *l = self;
    (void)v;
    out->time = l->sim->time;
    out->number = (uint64_t)l->sim->step;
    out->state = l->state;
    out->pace = l->state == STATE_RUNNING ? l->pace : 0;
    out->rate = l->state == STATE_RUNNING ? l->rate : 0;
    return SPATE_OK;
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static void write_text(const char *words, void *user) { file_write(user, words, strlen(words)); }

static spate_status write_recording(live *l) {
    file_writer w;
    TRY(file_create(l->ctx, l->record, false, &w));
    const spate_status status = spate_simulation_recorded(l->sim, write_text, &w);
    if (!status) return file_close(&w);
    file_abandon(&w);
    return status;
}

static spate_status finish(void *self) {
    live *l = self;
    const spate_status wrote = l->record ? write_recording(l) : SPATE_OK;
    if (wrote || !l->failure) return wrote;
    return fail(l->ctx, l->failure, "%s", l->why);
}

static void free_live(void *self) {
    live *l = self;
    spate_simulation_free(l->sim);
    mesh_links_free(&l->meshes);
    give(l->ctx, l->floats);
    give(l->ctx, l);
}

/* Grains differ, each by its place in the list: it must keep that. */
static bool has_grains(const spate_scene *s) {
    bool any = false;
    for (int m = 0; m < s->material_count; m++) any |= s->materials[m].look == LOOK_GRAINS;
    return any;
}

spate_status live_create(spate_scene *scene, const spate_serve_options *o, subject *out) {
    live *l = take(scene->ctx, 1, sizeof *l);
    if (!l) return SPATE_OUT_OF_MEMORY;
    *l = (live){.ctx = scene->ctx, .scene = scene, .speed = o->speed, .record = o->record};
    l->state = o->paused ? STATE_PAUSED : STATE_RUNNING;
    l->steps_left = -1;
    l->order = has_grains(scene) || mesh_cells_are_in(scene) ? SPATE_BY_ID : SPATE_AS_STORED;
    l->meshes.ctx = l->ctx;
    *out = (subject){l,     hello, parts,      parts_stamp, advance, news,
                     stamp, head,  live_frame, act,         finish,  free_live};
    const spate_status status = begin(l);
    if (status) free_live(l), out->self = NULL;
    return status;
}
