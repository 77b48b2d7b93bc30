/* From particles_NNNN.vtp, surface_NNNN.ply or volume_NNNN.vti to frame_NNNN.png and film.mp4; from
 * stats.csv to plot_....png. */
#include "pictures/render.h"
#include "core/cookie.h"
#include "core/text.h"
#include "core/vec.h"
#include "pictures/draw/plot.h"
#include "pictures/draw/reel.h"
#include "pictures/frame_2d.h"
#include "pictures/frame_3d.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 256, LOOPS_MAX = 1000 };

spate_render_options spate_default_render_options(void) {
    return (spate_render_options){.cookie = COOKIE_RENDER,
                                  .width = 1280,
                                  .height = 720,
                                  .film = true,
                                  .samples = 4,
                                  .last = -1,
                                  .orbit = NAN,
                                  .loops = 1};
}

/* ---- One frame ------------------------------------------------------------------------------- */

/* Colliders and walls are drawn where the scene has them, so its grid must be the frame's. */
static spate_status check_grid(const spate_scene *scene, const snapshot *frame, const char *file) {
    const domain *d = &scene->domain;
    for (int a = 0; a < 3; a++) {
        const int cells = a < scene->dim ? d->cells[a] : 1;
        if (frame->cells[a] != cells || !(fabs(frame->spacing[a] - d->dx) <= 1e-6 * d->dx))
            return fail(scene->ctx, SPATE_BAD_INPUT,
                        "%s: its grid is not that of run.scene.yaml; is it a frame of this run?",
                        file);
    }
    return SPATE_OK;
}

spate_status render_frame(const colouring *s, const snapshot *frame, const char *file, double time,
                          int samples, picture *out) {
    if (frame->on_grid) TRY(check_grid(s->scene, frame, file));
    if (s->scene->dim == 2) return frame_2d_draw(s, frame, file, time, out);
    return frame->on_grid ? frame_3d_smoke(s, frame, file, time, samples, out)
                          : frame_3d_particles(s, frame, file, time, samples, out);
}

/* ---- A folder -------------------------------------------------------------------------------- */

typedef struct render_job {
    spate_context *ctx;
    const char *folder;
    const spate_render_options *options;
    spate_scene *scene;
    char output[PATH_SIZE];
    frame_list frames;    /* of the whole run */
    int64_t begin, count; /* those that are drawn, of them */
    colouring colouring;
    picture picture;
    unsigned char *bytes;
    motion_key *places; /* of driven colliders */
    reel reel;
} render_job;

static bool interrupted(const render_job *job) {
    return job->options->interrupt && *job->options->interrupt;
}

static spate_status stop_here(render_job *job, int64_t done) {
    return fail(job->ctx, SPATE_INTERRUPTED, "%s: interrupted after %lld of %lld pictures",
                job->folder, (long long)done, (long long)job->count);
}

/* Whether particles of one material fill all of the domain in the first frame: a plain surface in
 * 2D. */
static spate_status is_full(const spate_scene *scene, const char *folder, const frame_list *frames,
                            bool *full) {
    const domain *d = &scene->domain;
    char path[PATH_SIZE];
    snapshot frame;
    double area = 0;
    if (scene->dim != 2 || scene->material_count != 1 || scene_on_grid(scene) || !frames->count ||
        colouring_gives_colour(scene))
        return SPATE_OK;
    TRY(frame_list_load(frames, folder, 0, path, &frame));
    const snapshot_array *size = snapshot_find(&frame, "pscale");
    for (int64_t i = 0; i < frame.count && size; i++) {
        const double side = 2 * snapshot_value(size, i, 0);
        area += side * side;
    }
    snapshot_free(&frame);
    *full = area > 0.95 * d->size[0] * d->size[1];
    return SPATE_OK;
}

/* Whether smoke fills all of the domain evenly, in every frame. */
static spate_status is_even(const spate_scene *scene, const char *folder, const frame_list *frames,
                            bool *even) {
    colouring density;
    double low = HUGE_VAL, high = -HUGE_VAL;
    TRY(colouring_create(scene, "density", &density));
    *even = scene_on_grid(scene) && scene->material_count == 1;
    for (int64_t i = 0; i < frames->count && *even; i++) {
        char path[PATH_SIZE];
        snapshot frame;
        TRY(frame_list_load(frames, folder, i, path, &frame));
        spate_status status = SPATE_OK;
        *even = snapshot_find(&frame, "density") != NULL;
        if (*even) status = colouring_measure(&density, &frame, path, &low, &high);
        snapshot_free(&frame);
        TRY(status);
        *even = *even && high > 0 && high - low <= 1e-3 * high;
    }
    return SPATE_OK;
}

spate_status render_choose_colouring(const spate_scene *scene, const char *colour,
                                     const char *folder, const frame_list *frames, colouring *out) {
    bool plain = false; /* by material it would be one even area */
    if (!colour) TRY(is_even(scene, folder, frames, &plain));
    if (!colour && !plain) TRY(is_full(scene, folder, frames, &plain));
    TRY(colouring_create(scene, plain ? "speed" : colour, out));
    if (frames->kind == FRAMES_OF_SURFACES && !colouring_by_material(out))
        return fail(scene->ctx, SPATE_BAD_INPUT,
                    "%s: there are only surfaces, which have no '%s' to colour by; the scene needs "
                    "output.particles: [vtp]",
                    folder, colour);
    return SPATE_OK;
}

static bool is_drawn(const render_job *job, int64_t i) {
    return i >= job->begin && i < job->begin + job->count;
}

static spate_status measure_frame(const render_job *job, int64_t i, double *low, double *high) {
    char path[PATH_SIZE];
    snapshot frame;
    TRY(frame_list_load(&job->frames, job->folder, i, path, &frame));
    spate_status status = colouring_measure(&job->colouring, &frame, path, low, high);
    snapshot_free(&frame);
    return status;
}

/* Those that are drawn must be measured; another may be damaged, or without the attribute. */
static spate_status measure_frames(render_job *job, bool drawn, double *low, double *high) {
    for (int64_t i = 0; i < job->frames.count; i++) {
        if (is_drawn(job, i) != drawn) continue;
        if (interrupted(job)) return stop_here(job, 0);
        const spate_status status = measure_frame(job, i, low, high);
        if (status != SPATE_OK && (drawn || status == SPATE_OUT_OF_MEMORY)) return status;
        if (status != SPATE_OK)
            warn(job->ctx, "colour range", "%s; the range of colours is that of the other frames",
                 spate_message(job->ctx));
    }
    return SPATE_OK;
}

/* The colour scale is one for all frames of the run, drawn or not: a film does not flicker, and a
 * single frame has the colours that it has in the film. */
static spate_status measure_run(render_job *job) {
    double low = HUGE_VAL, high = -HUGE_VAL;
    TRY(measure_frames(job, true, &low, &high));
    TRY(measure_frames(job, false, &low, &high));
    colouring_set_range(&job->colouring, low, high);
    return SPATE_OK;
}

static spate_status choose_range(render_job *job) {
    const double *range = job->options->range;
    if (range[0] != range[1]) {
        if (!(range[0] < range[1]) || !isfinite(range[0]) || !isfinite(range[1]))
            return fail(job->ctx, SPATE_BAD_INPUT,
                        "range: %g to %g is no range; the first must be the smaller", range[0],
                        range[1]);
        job->colouring.low = range[0], job->colouring.high = range[1];
        job->colouring.both = range[0] == -range[1];
        return SPATE_OK;
    }
    return colouring_by_material(&job->colouring) ? SPATE_OK : measure_run(job);
}

/* The scene draws driven colliders at rest; the frame knows where they are. */
static void place_driven(render_job *job, const snapshot *frame) {
    int k = 0;
    for (int c = 0; c < job->scene->collider_count && k < frame->pose_count; c++) {
        collider *solid = &job->scene->colliders[c];
        if (!solid->driven) continue;
        const double *at = frame->poses + (ptrdiff_t)7 * k, *q = at + 3;
        motion_key *key = &job->places[k++];
        const double sine = vec_length(q);
        *key = (motion_key){.axis = {0, 0, 1}, .angle = 2 * atan2(sine, q[3])};
        vec_sub(key->translate, at, solid->motion.pivot);
        if (sine > 0) vec_scale(key->axis, 1 / sine, q);
        solid->motion.keys = key, solid->motion.key_count = 1;
    }
}

/* Draws the i-th of the chosen frames. */
static spate_status draw_frame(render_job *job, int64_t i) {
    const int64_t at = job->begin + i;
    char from[PATH_SIZE], to[PATH_SIZE];
    snapshot frame;
    TRY(reel_picture_path(job->ctx, job->output, job->frames.numbers[at], to));
    TRY(frame_list_load(&job->frames, job->folder, at, from, &frame));
    place_driven(job, &frame);
    /* Those that were added later are not there yet. */
    const int colliders = job->scene->collider_count;
    if (frame.collider_count >= 0 && frame.collider_count < colliders)
        job->scene->collider_count = frame.collider_count;
    spate_status status = render_frame(&job->colouring, &frame, from, frame.time,
                                       job->options->samples, &job->picture);
    job->scene->collider_count = colliders;
    snapshot_free(&frame);
    TRY(status);
    picture_to_bytes(&job->picture, job->bytes);
    TRY(picture_write_png(job->ctx, job->bytes, job->picture.width, job->picture.height, to));
    reel_show(&job->reel, i);
    if (job->options->progress)
        job->options->progress((int)i + 1, (int)job->count, to, job->options->user);
    return SPATE_OK;
}

static spate_status open_output(render_job *job) {
    const spate_render_options *o = job->options;
    if (o->output) {
        if (strlen(o->output) >= sizeof job->output)
            return fail(job->ctx, SPATE_BAD_INPUT, "%.200s...: the path is too long", o->output);
        memcpy(job->output, o->output, strlen(o->output) + 1);
    } else
        TRY(path_join(job->ctx, job->folder, "pictures", job->output));
    TRY(picture_create(job->ctx, o->width, o->height, &job->picture));
    job->bytes = take(job->ctx, (size_t)o->width * (size_t)o->height, 3);
    job->places = take(job->ctx, (size_t)job->scene->collider_count + 1, sizeof *job->places);
    if (!job->bytes || !job->places) return SPATE_OUT_OF_MEMORY;
    return file_make_folder(job->ctx, job->output);
}

/* The frames of the run that the options ask for. */
static spate_status choose_frames(render_job *job) {
    const spate_render_options *o = job->options;
    const frame_list *all = &job->frames;
    if (!all->count)
        return fail(job->ctx, SPATE_BAD_INPUT,
                    "%s: no frames (particles_0001.vtp, surface_0001.ply or volume_0001.vti ...); "
                    "the scene needs output.particles: [vtp], output.surface of a liquid, or "
                    "output.volume: vti where the solver is on a grid",
                    job->folder);
    if (all->kind == FRAMES_OF_SURFACES && job->scene->dim == 2)
        return fail(job->ctx, SPATE_BAD_INPUT,
                    "%s: there are only outlines of liquids; pictures in 2D are made from "
                    "particles, and the scene needs output.particles: [vtp]",
                    job->folder);
    return frame_list_choose(all, job->folder, o->first, o->last, &job->begin, &job->count);
}

/* One frame is a still: that is no film, and it would replace the one of the whole run. */
static spate_status open_film(render_job *job) {
    const spate_render_options *o = job->options;
    if (o->loops < 1 || o->loops > LOOPS_MAX)
        return fail(job->ctx, SPATE_BAD_INPUT, "loops: the film %d times; it must be 1 to %d",
                    o->loops, LOOPS_MAX);
    job->reel = (reel){.ctx = job->ctx,
                       .folder = job->output,
                       .numbers = job->frames.numbers + job->begin,
                       .count = job->count,
                       .picture = &job->picture,
                       .bytes = job->bytes};
    if (!o->film || job->count < 2) return SPATE_OK;
    return reel_open(&job->reel, job->scene->fps, o->fps, o->speed);
}

static spate_status draw_all(render_job *job) {
    const spate_render_options *o = job->options;
    for (int64_t i = 0; i < job->count; i++) {
        if (interrupted(job)) return stop_here(job, i);
        TRY(draw_frame(job, i));
    }
    return reel_repeat(&job->reel, o->loops, o->pingpong, o->interrupt);
}

static spate_status draw_pictures(render_job *job) {
    const spate_render_options *o = job->options;
    TRY(render_load_scene(job->ctx, job->folder, o, &job->scene));
    job->frames = (frame_list){.ctx = job->ctx, .scene = job->scene};
    TRY(frame_list_read(job->folder, &job->frames));
    TRY(choose_frames(job));
    /* A run may be shorter or longer than its scene says. */
    const int64_t last = job->frames.numbers[job->frames.count - 1];
    if (last > 0) job->scene->camera.orbit_time = (double)last / job->scene->fps;
    TRY(render_choose_colouring(job->scene, o->colour, job->folder, &job->frames, &job->colouring));
    job->colouring.points = o->points;
    TRY(open_output(job));
    TRY(choose_range(job));
    TRY(open_film(job));
    const bool filmed = job->reel.film.process != 0;
    const spate_status status = draw_all(job);
    /* A film that was interrupted is whole as far as it goes. */
    spate_status closed =
        film_close(&job->reel.film, status == SPATE_OK || status == SPATE_INTERRUPTED);
    if (status == SPATE_OK && closed == SPATE_OK && filmed && o->progress &&
        file_exists(job->ctx, job->reel.path))
        o->progress((int)job->count, (int)job->count, job->reel.path, o->user);
    return status != SPATE_OK ? status : closed;
}

/* ---- A plot ---------------------------------------------------------------------------------- */

static spate_status draw_plot(render_job *job) {
    char path[PATH_SIZE], name[160];
    stats_table table;
    TRY(render_load_scene(job->ctx, job->folder, NULL, &job->scene));
    TRY(path_join(job->ctx, job->folder, "stats.csv", path));
    TRY(stats_table_read(job->ctx, path, &table));
    spate_status status;
    TRY_OR_DONE(status, stats_table_add_total_energy(&table));
    TRY_OR_DONE(status, open_output(job));
    TRY_OR_DONE(status, plot_draw(&table, job->options->plot, job->scene, &job->picture));
    snprintf(name, sizeof name, "plot_%.140s.png", job->options->plot);
    for (char *c = name; *c; c++)
        if (*c == ',' || *c == '/') *c = *c == ',' ? '+' : '_';
    TRY_OR_DONE(status, path_join(job->ctx, job->output, name, path));
    picture_to_bytes(&job->picture, job->bytes);
    TRY_OR_DONE(status, picture_write_png(job->ctx, job->bytes, job->picture.width,
                                          job->picture.height, path));
    if (job->options->progress) job->options->progress(1, 1, path, job->options->user);
done:
    stats_table_free(&table);
    return status;
}

spate_status spate_render(spate_context *context, const char *folder,
                          const spate_render_options *options) {
    spate_render_options fallback = spate_default_render_options();
    if (!options) options = &fallback;
    TRY(cookie_check(context, options->cookie, COOKIE_RENDER, "render_options"));
    TRY(frame_list_check_folder(context, folder));
    if (options->samples < 1 || options->samples > SAMPLES_MAX)
        return fail(context, SPATE_BAD_INPUT, "samples: %d rays a pixel; it must be 1 to %d",
                    options->samples, SAMPLES_MAX);
    render_job *job = take(context, 1, sizeof *job);
    if (!job) return SPATE_OUT_OF_MEMORY;
    job->ctx = context, job->folder = folder, job->options = options;
    spate_status status = options->plot ? draw_plot(job) : draw_pictures(job);
    give(context, job->frames.numbers);
    give(context, job->bytes), give(context, job->places);
    picture_free(context, &job->picture);
    spate_scene_free(job->scene);
    give(context, job);
    return status;
}
