/* What a run tells about itself: run.json, and steps.jsonl on request. */
#include "measure/attributes.h"
#include "run/run.h"
#include <math.h>
#include <string.h>

static void add_string(text *t, const char *value) { text_add_json(t, value, strlen(value)); }

static void add_number(text *t, double value) {
    if (isfinite(value))
        text_add(t, "%.15g", value);
    else
        text_add(t, "null");
}

static void add_counts(text *t, const char *name, const named_count *counts, int64_t count) {
    text_add(t, "  \"%s\": {", name);
    for (int64_t i = 0; i < count; i++) {
        text_add(t, "%s", i ? ", " : "");
        add_string(t, counts[i].name);
        text_add(t, ": %lld", (long long)counts[i].count);
    }
    text_add(t, "},\n");
}

/* ---- run.json ---- */

static void add_origin(text *t, const run *r) {
    const spate_scene *scene = r->scene;
    text_add(t, "{\n  \"scene\": ");
    add_string(t, scene->name ? scene->name : "");
    text_add(t, ",\n  \"scene_file\": ");
    add_string(t, scene->path ? scene->path : "");
    text_add(t,
             ",\n  \"scene_hash\": \"%016llx\",\n  \"build\": ", (unsigned long long)scene->hash);
    add_string(t, spate_build(r->ctx));
    text_add(t, ",\n  \"solver\": ");
    add_string(t, scene->solver->name);
    text_add(t, ",\n  \"seed\": %llu,\n  \"threads\": %d,\n", (unsigned long long)scene->seed,
             spate_threads(r->ctx));
}

static void add_progress(text *t, const run *r) {
    const run_record *record = &r->record;
    text_add(
        t, "  \"frames\": %lld,\n  \"steps\": %lld,\n  \"time\": %.15g,\n  \"particles\": %lld,\n",
        (long long)record->frame, (long long)r->sim->step, r->sim->time,
        (long long)particle_living(r->sim));
    text_add(t, "  \"wall_seconds\": %.3f,\n  \"phases\": {", record->wall_seconds);
    for (int64_t i = 0; i < record->phase_count; i++) {
        text_add(t, "%s", i ? ", " : "");
        add_string(t, record->phases[i].name);
        text_add(t, ": %.6f", record->phases[i].seconds);
    }
    double pace = record->wall_seconds > 0 ? record->particle_steps / record->wall_seconds : 0;
    text_add(t, "},\n  \"particle_steps_per_second\": %.6g,\n  \"peak_memory_bytes\": %zu,\n", pace,
             r->ctx->bytes_peak);
    text_add(t, "  \"state_hash\": \"%016llx\",\n", (unsigned long long)r->state_hash);
    add_counts(t, "dt_limits", record->limits, record->limit_count);
    add_counts(t, "warnings", record->warnings, record->warning_count);
}

spate_status run_report_write(run *r, int exit_code, const char *reason) {
    char path[PATH_SIZE];
    TRY(path_join(r->ctx, r->folder, RUN_REPORT, path));
    double start = phase_start();
    r->state_hash = spate_simulation_hash(r->sim);
    if (!r->state_hash) return SPATE_OUT_OF_MEMORY; /* 0 says that there was no room to take it */
    phase_stop(r->sim, "report", start);
    run_refresh(r);
    text t = {.ctx = r->ctx};
    add_origin(&t, r);
    add_progress(&t, r);
    text_add(&t, exit_code < 0 ? "  \"exit_code\": null,\n" : "  \"exit_code\": %d,\n", exit_code);
    text_add(&t, "  \"exit_reason\": ");
    add_string(&t, reason);
    text_add(&t, "\n}\n");
    spate_status status = t.failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
    file_writer w;
    if (status == SPATE_OK) status = file_create(r->ctx, path, true, &w);
    if (status == SPATE_OK) {
        file_write(&w, t.data, t.length);
        status = file_close(&w);
    }
    text_free(&t);
    return status;
}

/* ---- steps.jsonl ---- */

/* The columns that have been evaluated; with `all`, null for the others. */
static void add_columns(text *t, const statistics *s, bool all) {
    for (int i = 0; i < s->count; i++) {
        if (i == COLUMN_dt_limit || i == COLUMN_steps || (!all && isnan(s->values[i]))) continue;
        text_add(t, ",");
        add_string(t, s->names[i]);
        text_add(t, ":");
        add_number(t, s->values[i]);
    }
}

static void add_step(text *t, const run *r, uint64_t state_hash) {
    const spate_simulation *sim = r->sim;
    const statistics *s = &r->statistics;
    text_add(t, "{\"step\":%lld,\"dt_limit\":", (long long)sim->step);
    add_string(t, sim->dt_limit ? sim->dt_limit : "");
    add_columns(t, s, r->options->step_full);
    if (r->options->step_full) {
        text_add(t, ",\"cfl\":");
        add_number(t, s->values[COLUMN_max_speed] * sim->dt / sim->scene->domain.dx);
        text_add(t, ",\"state_hash\":\"%016llx\"", (unsigned long long)state_hash);
    }
    text_add(t, ",\"added\":%llu,\"memory_bytes\":%zu,\"phases\":{",
             (unsigned long long)sim->next_id, r->ctx->bytes_now);
    for (int i = 0; i < sim->phase_count; i++) {
        text_add(t, "%s", i ? "," : "");
        add_string(t, sim->phases[i].name);
        text_add(t, ":%.6f", sim->phases[i].seconds);
    }
    text_add(t, "}}\n");
}

/* Sums over all particles and their hash may take longer than the step itself: only where asked. */
static spate_status look_at_step(run *r, uint64_t *state_hash) {
    const double seconds = r->before.wall_seconds + (phase_start() - r->start);
    statistics_glance(&r->statistics, r->record.frame, seconds);
    if (!r->options->step_full) return SPATE_OK;
    TRY(statistics_evaluate(&r->statistics, r->record.frame, seconds));
    *state_hash = spate_simulation_hash(r->sim);
    return *state_hash ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

spate_status run_report_step(run *r) {
    uint64_t state_hash = 0;
    if (!r->step_file.buffer) return SPATE_OK;
    double start = phase_start();
    TRY(look_at_step(r, &state_hash));
    text t = {.ctx = r->ctx};
    add_step(&t, r, state_hash);
    spate_status status = t.failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
    if (status == SPATE_OK) {
        file_write(&r->step_file, t.data, t.length);
        status = file_flush(&r->step_file);
    }
    text_free(&t);
    phase_stop(r->sim, "log", start);
    return status;
}
