/*
 * A run from its start, or from a checkpoint, to its end.
 *
 * Within a frame: steps to the frame's time (frame / fps, never added up), the frame's files, its
 * row of stats.csv, then a checkpoint when one is due. The files are written while the next steps
 * are made (background.h); the row waits for them, the checkpoint for both. A run that is cut off
 * anywhere goes on from its newest whole checkpoint: what was written after it is taken back first,
 * so that the folder ends up the same as if the run had never stopped.
 */
#include "run/run.h"
#include "core/cookie.h"
#include "core/hash.h"
#include "measure/attributes.h"
#include "measure/phase_meters.h"
#include "run/run_scene.h"
#include "scene/mesh.h"
#include "scene/scene_compare.h"
#include "scene/slips.h"
#include "scene/yaml.h"
#include "solver/drive.h"
#include <stdio.h>
#include <string.h>

/* Warnings: a share of the volume at rest, a share of a frame's time, steps in a frame. */
static const double volume_drift_limit = 0.05;
static const double collapsed_dt = 1e-6;
static const int64_t collapsed_steps = 1000000;

enum { CHANGES_SIZE = 512 }; /* of a list of fields in a message */

/* ---- Bookkeeping ---- */

/* Adds to the count of that name; a name that finds no room is left out. */
static void add_count(named_count *counts, int64_t *used, int64_t room, const char *name,
                      int64_t count) {
    int64_t i = 0;
    while (i < *used && strncmp(counts[i].name, name, RECORD_NAME - 1)) i++;
    if (i == room || count == 0) return;
    if (i == *used) {
        counts[i] = (named_count){.count = 0};
        snprintf(counts[i].name, RECORD_NAME, "%s", name);
        ++*used;
    }
    counts[i].count += count;
}

static void add_seconds(run_record *record, const char *name, double seconds) {
    int64_t i = 0;
    while (i < record->phase_count && strncmp(record->phases[i].name, name, RECORD_NAME - 1)) i++;
    if (i == PHASES_MAX) return;
    if (i == record->phase_count) {
        record->phases[i] = (named_seconds){.seconds = 0};
        snprintf(record->phases[i].name, RECORD_NAME, "%s", name);
        record->phase_count++;
    }
    record->phases[i].seconds += seconds;
}

void run_refresh(run *r) {
    run_record *now = &r->record;
    const spate_context *ctx = r->ctx;
    now->wall_seconds = r->before.wall_seconds + (phase_start() - r->start);
    now->phase_count = r->before.phase_count;
    memcpy(now->phases, r->before.phases, sizeof now->phases);
    for (int i = 0; i < r->sim->phase_count; i++)
        add_seconds(now, r->sim->phases[i].name, r->sim->phases[i].seconds);
    now->warning_count = r->before.warning_count;
    memcpy(now->warnings, r->before.warnings, sizeof now->warnings);
    for (int i = 0; i < ctx->warning_kinds; i++)
        add_count(now->warnings, &now->warning_count, WARNING_KINDS, ctx->warnings[i].kind,
                  ctx->warnings[i].count - r->warnings_known[i]);
}

const char *run_usual_limit(const run *r) {
    const run_record *now = &r->record;
    const char *usual = r->sim->dt_limit;
    int64_t most = 0;
    for (int64_t i = 0; i < now->limit_count; i++) {
        const int64_t steps = now->limits[i].count - now->frame_limits[i];
        if (steps > most) most = steps, usual = now->limits[i].name;
    }
    return usual ? usual : "";
}

static bool is_interrupted(const run *r) { return r->options->interrupt && *r->options->interrupt; }

static spate_status in_folder(run *r, const char *name, char path[PATH_SIZE]) {
    return path_join(r->ctx, r->folder, name, path);
}

static spate_status check_folder(run *r) {
    return run_folder_check_lock(r->ctx, r->folder, r->lock);
}

/* ---- Frames ---- */

static spate_status list_frame(run *r, const text *lines, const char *collection) {
    char path[PATH_SIZE];
    if (lines->failed) return SPATE_OUT_OF_MEMORY;
    TRY(in_folder(r, collection, path));
    return pvd_write(r->ctx, lines, path);
}

static spate_status add_row(run *r) {
    if (r->row.failed) return SPATE_OUT_OF_MEMORY;
    file_write(&r->statistics_file, r->row.data, r->row.length);
    return file_flush(&r->statistics_file);
}

/* A frame whose files are whole gets its lines in the collections, then its row. */
static spate_status enter_frame(run *r) {
    const frame_files *f = &r->files;
    if (frame_files_has_vtp(f)) TRY(list_frame(r, &r->frame_list, RUN_COLLECTION));
    if (frame_files_has_mesh_vtp(f)) TRY(list_frame(r, &r->mesh_list, RUN_MESHES));
    if (frame_files_has_surface_vtp(f)) TRY(list_frame(r, &r->surface_list, RUN_SURFACES));
    if (f->has_volumes) TRY(list_frame(r, &r->volume_list, RUN_VOLUMES));
    return r->row.length ? add_row(r) : SPATE_OK;
}

/* Waits for the frame under way, if there is one. */
static spate_status finish_frame(run *r) {
    if (!r->writing) return SPATE_OK;
    double start = phase_start();
    spate_status status = background_wait(r->writer);
    if (status == SPATE_OK) status = enter_frame(r);
    frame_files_free(&r->files);
    text_free(&r->row);
    r->writing = false;
    if (status != SPATE_OK && r->record.frame > 0) r->record.frame--; /* it is not there */
    phase_stop(r->sim, "frames", start);
    return status;
}

static spate_status make_row(run *r) {
    double start = phase_start();
    run_refresh(r);
    TRY(statistics_evaluate(&r->statistics, r->record.frame, r->record.wall_seconds));
    statistics_row(&r->statistics, run_usual_limit(r), &r->row);
    phase_stop(r->sim, "statistics", start);
    return r->row.failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
}

static void warn_of_drift(run *r) {
    const double volume = r->statistics.values[COLUMN_volume], rest = r->statistics.rest_volume;
    if (!(rest > 0) || fabs(volume / rest - 1) <= volume_drift_limit) return;
    warn_once(r->ctx, "volume drift",
              "frame %lld: the material fills %.3g times its volume at rest; use %s",
              (long long)r->record.frame, volume / rest,
              r->scene->dt > 0 ? "a smaller solver.dt, or leave it out"
                               : "a stiffer material, a smaller dx or a smaller solver.cfl");
}

/* Phases that are not apart as they should be. */
static void warn_of_meters(run *r) {
    const double *meters = statistics_meters(&r->statistics);
    double limit = 0;
    const int worst = meters ? phase_meters_worst(meters, &limit) : -1;
    if (worst < 0) return;
    static const char *const what[METER_COUNT] = {
        [METER_interface_gap] = "phases stand apart; use more cells across, or a smaller beta",
        [METER_interface_penetration] =
            "phases have gone into each other; use more cells across, a stiffer material or beta 1",
        [METER_volume_gain] = "a liquid phase has gained or lost volume; use a stiffer material or "
                              "a smaller dx"};
    warn_once(r->ctx, phase_meter_names[worst], "frame %lld: %s is %.3g, healthy is up to %.3g: %s",
              (long long)r->record.frame, phase_meter_names[worst], meters[worst], limit,
              what[worst]);
}

static void add_to_collections(run *r) {
    char name[FRAME_NAME_SIZE];
    if (frame_files_has_vtp(&r->files)) {
        frame_name(name, r->record.frame, "vtp");
        pvd_add(&r->frame_list, r->sim->time, name);
    }
    if (frame_files_has_mesh_vtp(&r->files)) {
        mesh_name(name, r->record.frame, "vtp");
        pvd_add(&r->mesh_list, r->sim->time, name);
    }
    if (frame_files_has_surface_vtp(&r->files)) {
        surface_name(name, r->record.frame, "vtp");
        pvd_add(&r->surface_list, r->sim->time, name);
    }
    if (r->files.has_volumes) {
        volume_name(name, r->record.frame);
        pvd_add(&r->volume_list, r->sim->time, name);
    }
}

static spate_status write_files(spate_context *beside, void *data) {
    const run *r = data;
    TRY(run_folder_check_lock(beside, r->folder, r->lock));
    return frame_files_write(beside, &r->files);
}

/* Pictures of the frame need what events have added to the scene. */
static spate_status keep_added(run *r) {
    const spate_scene *now = r->sim->scene;
    if (now == r->scene || !now->canonical) return SPATE_OK;
    const uint64_t hash = hash_bytes(now->canonical, strlen(now->canonical), 1);
    if (hash == r->added) return SPATE_OK;
    TRY(run_scene_write_added(now, r->folder));
    r->added = hash;
    return SPATE_OK;
}

/* Takes the frame that r->record.frame names and lets it be written while the run goes on. The one
 * before is done: no more than one is in memory. What was taken before a failure is written. */
static spate_status start_frame(run *r) {
    TRY(keep_added(r));
    spate_status taken = frame_files_take(r->sim, r->folder, r->record.frame, &r->cells, &r->files);
    double start = phase_start();
    add_to_collections(r);
    r->writing = true;
    background_start(r->writer, write_files, r);
    phase_stop(r->sim, "frames", start);
    if (taken == SPATE_OK) taken = make_row(r);
    if (taken == SPATE_OK) {
        warn_of_drift(r);
        warn_of_meters(r);
        return SPATE_OK;
    }
    /* What fails first in the order of the files is told. */
    const int64_t frame = r->record.frame;
    spate_status written = finish_frame(r);
    r->record.frame = frame > 0 ? frame - 1 : 0;
    return written ? written : taken;
}

/* ---- Checkpoints ---- */

static spate_status save(run *r) {
    char path[PATH_SIZE], previous[PATH_SIZE];
    if (r->saved_step == r->sim->step && r->saved_frame == r->record.frame) return SPATE_OK;
    TRY(in_folder(r, RUN_CHECKPOINT, path));
    TRY(in_folder(r, RUN_PREVIOUS, previous));
    /* The checkpoint vouches for the frames and rows before it. */
    TRY(finish_frame(r));
    double start = phase_start();
    run_refresh(r);
    TRY(check_folder(r));
    TRY(file_sync_folder(r->ctx, r->folder));
    TRY(checkpoint_write(r->sim, &r->record, path, previous));
    phase_stop(r->sim, "checkpoint", start);
    r->saved_step = r->sim->step;
    r->saved_frame = r->record.frame;
    return SPATE_OK;
}

/* The newest checkpoint that is whole. */
static spate_status load(run *r) {
    char path[PATH_SIZE], previous[PATH_SIZE], first[MESSAGE_SIZE];
    bool damaged = false;
    TRY(in_folder(r, RUN_CHECKPOINT, path));
    TRY(in_folder(r, RUN_PREVIOUS, previous));
    const bool have = file_exists(r->ctx, path), have_previous = file_exists(r->ctx, previous);
    if (!have && !have_previous)
        return fail(
            r->ctx, SPATE_BAD_INPUT,
            "there is no checkpoint in '%s' to go on from; run the scene without --resume%s",
            r->folder,
            file_is_folder(r->ctx, r->folder) ? ", with --force to replace what is there" : "");
    if (have) {
        spate_status status = checkpoint_read(r->scene, path, &r->sim, &r->record, &damaged);
        if (status == SPATE_OK) {
            r->saved_step = r->sim->step;
            r->saved_frame = r->record.frame;
        }
        if (status == SPATE_OK || !damaged || !have_previous) return status;
        snprintf(first, sizeof first, "%s", r->ctx->message);
        warn(r->ctx, "damaged checkpoint", "%s; going on from %s", first, RUN_PREVIOUS);
    } else {
        warn(r->ctx, "damaged checkpoint", "%s is missing; going on from %s", path, RUN_PREVIOUS);
    }
    TRY(checkpoint_read(r->scene, previous, &r->sim, &r->record, NULL));
    /* The next one must not push the damaged file over the whole one. */
    return file_remove(r->ctx, path);
}

/* ---- Steps ---- */

static void tell_progress(run *r) {
    const spate_simulation *sim = r->sim;
    if (!r->options->progress) return;
    const double elapsed = phase_start() - r->start;
    const double last = (double)r->frames / r->scene->fps, to_go = last - sim->time;
    const double done = sim->time - r->start_time;
    spate_progress p = {.frame = (int)r->record.frame,
                        .frames = (int)r->frames,
                        .time = sim->time,
                        .steps = sim->step,
                        .particles = sim->particles.count,
                        .eta_seconds = done > 0 && to_go > 0 ? elapsed * to_go / done
                                       : done > 0            ? 0
                                                             : -1,
                        .dt = sim->dt,
                        .dt_limit = run_usual_limit(r),
                        .worst_phase = "",
                        .done = fmin(1, sim->time / last)};
    if (elapsed > 0) p.steps_per_second = (double)(sim->step - r->start_step) / elapsed;
    double worst = 0, all = 0;
    for (int i = 0; i < sim->phase_count; i++) {
        all += sim->phases[i].seconds;
        if (sim->phases[i].seconds <= worst) continue;
        worst = sim->phases[i].seconds;
        p.worst_phase = sim->phases[i].name;
    }
    if (all > 0) p.worst_share = worst / all;
    r->options->progress(&p, r->options->user);
}

/* A step that only ends a frame may be short; any other that is tells of trouble. */
static void warn_of_collapse(run *r) {
    const spate_simulation *sim = r->sim;
    const int64_t steps = sim->step - r->record.frame_step;
    const bool tiny = sim->dt < collapsed_dt / r->scene->fps && strcmp(sim->dt_limit, "frame") &&
                      strcmp(sim->dt_limit, "collider") && strcmp(sim->dt_limit, "fixed");
    if (r->record.collapsed || (!tiny && steps <= collapsed_steps)) return;
    r->record.collapsed = 1;
    warn_once(
        r->ctx, "time step collapsed",
        "step %lld, t = %.6g s: dt is %.3g s, set by the limit '%s'; %lld steps in this frame so "
        "far",
        (long long)sim->step, sim->time, sim->dt, sim->dt_limit, (long long)steps);
}

static spate_status make_step(run *r, double until) {
    spate_simulation *sim = r->sim;
    TRY(spate_simulation_step(sim, until));
    r->record.particle_steps += (double)sim->particles.count;
    add_count(r->record.limits, &r->record.limit_count, RECORD_LIMITS, sim->dt_limit, 1);
    warn_of_collapse(r);
    if (r->scene->max_steps > 0 && sim->step >= r->scene->max_steps) r->record.max_steps_met = 1;
    TRY(run_report_step(r));
    if (r->writing && background_is_done(r->writer)) TRY(finish_frame(r));
    tell_progress(r);
    return SPATE_OK;
}

/* What is counted within a frame begins anew. */
static void begin_next(run *r) {
    run_record *now = &r->record;
    now->frame_step = r->sim->step;
    now->collapsed = 0;
    for (int64_t i = 0; i < now->limit_count; i++) now->frame_limits[i] = now->limits[i].count;
}

static spate_status play(run *r) {
    const int every = r->scene->output.checkpoint;
    while (r->record.frame < r->frames && !r->record.max_steps_met) {
        const double until = (double)(r->record.frame + 1) / r->scene->fps;
        while (r->sim->time < until && !r->record.max_steps_met) {
            if (is_interrupted(r))
                return fail(r->ctx, SPATE_INTERRUPTED,
                            "interrupted at t = %.6g s after frame %lld; go on with --resume",
                            r->sim->time, (long long)r->record.frame);
            TRY(make_step(r, until));
        }
        TRY(finish_frame(r));
        r->record.frame++;
        TRY(start_frame(r));
        begin_next(r);
        if (every > 0 && r->record.frame % every == 0) {
            TRY(save(r));
            TRY(run_report_write(r, -1, "running"));
        }
    }
    return SPATE_OK;
}

/* ---- Beginning ---- */

static spate_status check_options(spate_context *ctx, const spate_run_options *o) {
    TRY(cookie_check(ctx, o->cookie, COOKIE_RUN, "run_options"));
    if (o->resume && o->force)
        return fail(ctx, SPATE_BAD_INPUT,
                    "--resume goes on with a run, --force replaces it; choose one");
    if (o->frames < 0) return fail(ctx, SPATE_BAD_INPUT, "--frames must not be negative");
    if (!(o->until >= 0) || o->until == HUGE_VAL)
        return fail(ctx, SPATE_BAD_INPUT, "--until must be a time, 0 or later");
    if (o->frames > 0 && o->until > 0)
        return fail(ctx, SPATE_BAD_INPUT, "--frames and --until both say where to end; choose one");
    return SPATE_OK;
}

/* Whole frames in the duration, or the frame that reaches `until`. */
static int64_t count_frames(const spate_scene *scene, const spate_run_options *o) {
    if (o->frames > 0) return o->frames;
    double frames = o->until > 0 ? ceil(o->until * scene->fps - 1e-9)
                                 : floor(scene->duration * scene->fps + 1e-9);
    return frames < 1 ? 1 : frames > INT32_MAX ? INT32_MAX : (int64_t)frames;
}

/* Opens stats.csv after its row of the present frame; *rows tells how many there are. */
static spate_status open_statistics(run *r, int64_t *rows) {
    char path[PATH_SIZE];
    text header = {.ctx = r->ctx};
    TRY(statistics_create_for(r->sim, drive_given_scene(r->sim), &r->statistics));
    statistics_header(&r->statistics, &header);
    spate_status status = header.failed ? SPATE_OUT_OF_MEMORY
                                        : run_folder_trim_statistics(r->ctx, r->folder, header.data,
                                                                     r->record.frame, rows);
    text_free(&header);
    TRY(status);
    TRY(in_folder(r, RUN_STATISTICS, path));
    return file_append(r->ctx, path, &r->statistics_file);
}

static spate_status open_step_log(run *r) {
    char path[PATH_SIZE];
    TRY(run_folder_trim_steps(r->ctx, r->folder, r->sim->step));
    if (!r->options->step_log && !r->options->step_full) return SPATE_OK;
    TRY(in_folder(r, RUN_STEPS, path));
    return file_append(r->ctx, path, &r->step_file);
}

static void start_clock(run *r) {
    r->before = r->record;
    r->start_step = r->sim->step;
    r->start_time = r->sim->time;
}

/* Everything that can be wrong with the scene is known before the folder is touched. */
static spate_status begin_new(run *r) {
    int64_t rows;
    spate_scene_summary told; /* it gives the warnings: thin colliders, bodies that reach out */
    TRY(run_folder_check(r->ctx, r->folder, r->options->force));
    TRY(spate_scene_summarise(r->scene, &told));
    if (!r->options->frames && !(r->options->until > 0)) scene_warn_of_last_frame(r->scene);
    TRY(spate_simulation_create(r->scene, &r->sim));
    start_clock(r);
    TRY(file_make_folder(r->ctx, r->folder));
    TRY(file_lock_folder(r->ctx, r->folder, &r->lock));
    TRY(run_folder_clear(r->ctx, r->folder, -1));
    r->touched = true;
    TRY(run_scene_write(r->scene, r->folder));
    phase_stop(r->sim, "start", r->start);
    TRY(run_report_write(r, -1, "running"));
    if (r->scene->output.checkpoint > 0) TRY(save(r));
    TRY(open_statistics(r, &rows));
    TRY(open_step_log(r));
    TRY(background_create(r->ctx, FRAME_FILES_ROOM, &r->writer));
    return start_frame(r);
}

/* A run that solver.max_steps ended may be given more of them. Its last frame was cut short then,
 * and is made again. */
static void allow_more_steps(run *r) {
    const int64_t limit = r->scene->max_steps;
    if (!r->record.max_steps_met || (limit > 0 && r->sim->step >= limit)) return;
    r->record.max_steps_met = 0;
    if (r->sim->time < (double)r->record.frame / r->scene->fps) r->record.frame--;
}

/* The collections list the frames that are there. */
static spate_status list_frames(run *r) {
    const struct {
        frame_kind kind;
        const char *name;
        text *lines;
    } lists[] = {{FRAMES_OF_PARTICLES, RUN_COLLECTION, &r->frame_list},
                 {FRAMES_OF_MESHES, RUN_MESHES, &r->mesh_list},
                 {FRAMES_OF_SURFACES, RUN_SURFACES, &r->surface_list},
                 {FRAMES_OF_VOLUMES, RUN_VOLUMES, &r->volume_list}};
    for (int i = 0; i < COUNT_OF(lists); i++) {
        char path[PATH_SIZE];
        text *lines = lists[i].lines;
        lines->length = 0;
        TRY(run_folder_list_frames(r->scene, r->folder, lists[i].kind, r->record.frame,
                                   r->sim->time, lines));
        TRY(in_folder(r, lists[i].name, path));
        TRY(lines->length ? pvd_write(r->ctx, lines, path) : file_remove(r->ctx, path));
    }
    return SPATE_OK;
}

/* ---- Going on with another output ---- */

/* What of a scene differs from the one that the folder's run was made from. */
typedef struct scene_changes {
    char physics[CHANGES_SIZE], output[CHANGES_SIZE]; /* paths of fields, "fps, solver.cfl" */
    bool up;                                          /* the axes of files */
} scene_changes;

static void note_change(const char *path, void *user) {
    /* As in the hash of a scene: what may change when a run is taken up again. */
    static const char *const free_to[] = {"name", "duration", "camera", "solver.max_steps"};
    static const char output[] = "output";
    scene_changes *c = user;
    for (int i = 0; i < COUNT_OF(free_to); i++) {
        const size_t length = strlen(free_to[i]);
        if (!strncmp(path, free_to[i], length) && (path[length] == 0 || path[length] == '.'))
            return;
    }
    char *list = strncmp(path, output, sizeof output - 1) ? c->physics : c->output;
    c->up |= !strcmp(path, "output.up");
    const size_t used = strlen(list);
    snprintf(list + used, CHANGES_SIZE - used, "%s%s", used ? ", " : "", path);
}

/* Compares with run.scene.yaml, where there is one that can be read; the checkpoint knows for sure
 * whether a run can go on, but not why it cannot. */
static spate_status check_changes(run *r, scene_changes *c) {
    char path[PATH_SIZE], *bytes;
    size_t length;
    *c = (scene_changes){.up = false};
    TRY(in_folder(r, RUN_SCENE, path));
    if (!file_exists(r->ctx, path)) return SPATE_OK;
    spate_status status = file_read(r->ctx, path, YAML_BYTES, &bytes, &length);
    if (status == SPATE_OK) {
        status = scene_compare(r->scene, path, bytes, length, note_change, c);
        give(r->ctx, bytes);
    }
    if (status == SPATE_OUT_OF_MEMORY) return status;
    if (*c->physics)
        return fail(
            r->ctx, SPATE_BAD_INPUT,
            "the run in '%s' is of another scene: %s changed (see its %s); only duration, "
            "output, camera, colours, solver.max_steps and the number of threads may change "
            "when a run goes on; start again with --force or in another folder (-o)",
            r->folder, c->physics, RUN_SCENE);
    if (c->up)
        return fail(r->ctx, SPATE_BAD_INPUT,
                    "output.up changed: the frames in '%s' would not fit together; leave it as it "
                    "was, or start again with --force or in another folder (-o)",
                    r->folder);
    return SPATE_OK;
}

/* The files of the frame that is there; its row is, too. */
static spate_status write_again(run *r) {
    spate_status status =
        frame_files_take(r->sim, r->folder, r->record.frame, &r->cells, &r->files);
    if (status == SPATE_OK) status = write_files(r->ctx, r);
    frame_files_free(&r->files);
    return status;
}

/* A changed output begins with the frame that is there, if the state is still that of the frame. */
static spate_status begin_output(run *r, const scene_changes *c) {
    const bool at_frame = r->sim->step == r->record.frame_step &&
                          r->sim->time >= (double)r->record.frame / r->scene->fps;
    if (!*c->output) return SPATE_OK;
    if (at_frame) TRY(write_again(r));
    inform(r->ctx,
           "%s changed: frames from %lld on have it, those before stay as they were written",
           c->output, (long long)r->record.frame + !at_frame);
    return SPATE_OK;
}

static spate_status begin_again(run *r) {
    int64_t rows;
    scene_changes changes;
    for (int i = 0; i < r->ctx->warning_kinds; i++)
        r->warnings_known[i] = r->ctx->warnings[i].count;
    if (file_is_folder(r->ctx, r->folder)) TRY(file_lock_folder(r->ctx, r->folder, &r->lock));
    TRY(check_changes(r, &changes));
    TRY(load(r));
    allow_more_steps(r);
    start_clock(r);
    TRY(open_statistics(r, &rows));
    r->touched = true;
    TRY(run_folder_clear(r->ctx, r->folder, r->record.frame));
    TRY(run_scene_write(r->scene, r->folder));
    TRY(open_step_log(r));
    TRY(background_create(r->ctx, FRAME_FILES_ROOM, &r->writer));
    phase_stop(r->sim, "start", r->start);
    if (r->record.frame >= r->frames || r->record.max_steps_met) {
        inform(r->ctx,
               "the run in '%s' is finished: frame %lld, t = %.6g s; extend it with --until or "
               "--frames",
               r->folder, (long long)r->record.frame, r->sim->time);
    } else {
        inform(r->ctx, "going on from frame %lld, t = %.6g s", (long long)r->record.frame,
               r->sim->time);
        TRY(run_report_write(r, -1, "running"));
    }
    /* The very first checkpoint is written before its frame. */
    if (rows == 0 && r->record.frame == 0 && r->sim->step == 0) return start_frame(r);
    if (rows != r->record.frame + 1)
        warn(r->ctx, "rows missing",
             "stats.csv in '%s' has %lld rows up to frame %lld; some were lost", r->folder,
             (long long)rows, (long long)r->record.frame);
    TRY(begin_output(r, &changes));
    return list_frames(r);
}

/* ---- End ---- */

static void tell_reason(const run *r, spate_status status, char reason[REASON_SIZE]) {
    const char *kind = "done";
    switch (status) {
    case SPATE_OK: kind = "done"; break;
    case SPATE_BAD_INPUT: kind = "bad input: "; break;
    case SPATE_UNSTABLE: kind = "unstable: "; break;
    case SPATE_NOT_CONVERGED: kind = "not converged: "; break;
    case SPATE_IO_ERROR: kind = "input/output: "; break;
    case SPATE_OUT_OF_MEMORY: kind = "out of memory: "; break;
    case SPATE_INTERRUPTED: kind = "interrupted"; break;
    }
    const bool explain = status != SPATE_OK && status != SPATE_INTERRUPTED;
    snprintf(reason, REASON_SIZE, "%s%s", kind, explain ? r->ctx->message : "");
}

/* Leaves a complete folder: a checkpoint where the state is good, and the report. The first failure
 * is the one that is told. */
static spate_status end(run *r, spate_status status) {
    char reason[REASON_SIZE], message[MESSAGE_SIZE];
    /* A frame under way comes before whatever has ended the run since. */
    const spate_status written = finish_frame(r);
    if (written) status = written;
    warnings_tell_hidden(r->ctx);
    /* A file that could not be written may be one of a folder that is gone. */
    if (status == SPATE_IO_ERROR && check_folder(r)) return status;
    snprintf(message, sizeof message, "%s", r->ctx->message);
    if (status == SPATE_OK || status == SPATE_INTERRUPTED) {
        spate_status saved = save(r);
        if (saved != SPATE_OK) {
            status = saved;
            snprintf(message, sizeof message, "%s", r->ctx->message);
        }
    }
    tell_reason(r, status, reason);
    const bool here = file_is_locked_folder(r->folder, r->lock);
    spate_status reported = here ? run_report_write(r, (int)status, reason) : SPATE_OK;
    if (status == SPATE_OK) return reported;
    return fail(r->ctx, status, "%s", message);
}

static void fill_report(const run *r, spate_run_report *report) {
    const run_record *record = &r->record;
    if (!report) return;
    *report = (spate_run_report){.frames = (int)record->frame,
                                 .steps = r->sim->step,
                                 .particles = particle_living(r->sim),
                                 .wall_seconds = record->wall_seconds,
                                 .state_hash = r->state_hash};
    snprintf(report->folder, sizeof report->folder, "%s", r->folder);
    if (record->wall_seconds > 0)
        report->particle_steps_per_second = record->particle_steps / record->wall_seconds;
    for (int64_t i = 0; i < record->warning_count; i++)
        report->warnings += record->warnings[i].count;
}

spate_run_options spate_default_run_options(void) {
    return (spate_run_options){.cookie = COOKIE_RUN};
}

static void run_free(run *r) {
    background_free(r->writer);
    frame_files_free(&r->files);
    text_free(&r->row);
    file_abandon(&r->statistics_file);
    file_abandon(&r->step_file);
    text_free(&r->frame_list);
    text_free(&r->mesh_list);
    text_free(&r->surface_list);
    text_free(&r->volume_list);
    mesh_cells_free(&r->cells);
    statistics_free(&r->statistics);
    spate_simulation_free(r->sim);
    file_unlock_folder(r->lock);
    give(r->ctx, r);
}

spate_status spate_run(spate_scene *scene, const spate_run_options *options,
                       spate_run_report *report) {
    spate_context *ctx = scene->ctx;
    spate_run_options defaults = spate_default_run_options();
    if (!options) options = &defaults;
    if (report) *report = (spate_run_report){0};
    TRY(check_options(ctx, options));
    run *r = take(ctx, 1, sizeof *r);
    if (!r) return SPATE_OUT_OF_MEMORY;
    *r = (run){.ctx = ctx,
               .scene = scene,
               .options = options,
               .frames = count_frames(scene, options),
               .start = phase_start(),
               .saved_step = -1,
               .lock = -1,
               .frame_list.ctx = ctx,
               .mesh_list.ctx = ctx,
               .cells.ctx = ctx,
               .surface_list.ctx = ctx,
               .volume_list.ctx = ctx,
               .row.ctx = ctx};
    spate_status status = run_folder_choose(ctx, scene->path, options->folder, r->folder);
    if (status == SPATE_OK) status = options->resume ? begin_again(r) : begin_new(r);
    if (status == SPATE_OK) status = play(r);
    if (r->touched) {
        status = end(r, status);
        fill_report(r, report);
    }
    run_free(r);
    return status;
}
