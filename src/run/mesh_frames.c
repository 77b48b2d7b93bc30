/* spate_mesh: surfaces of liquids from the frames of a finished run. */
#include "core/cookie.h"
#include "core/text.h"
#include "frames/frame_list.h"
#include "frames/frame_surface.h"
#include "run/run_folder.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SETS = 4, SET_SIZE = 96 };

spate_mesh_options spate_default_mesh_options(void) {
    return (spate_mesh_options){.cookie = COOKIE_MESH, .smoothing = -1, .last = -1};
}

typedef struct mesh_job {
    spate_context *ctx;
    const char *folder, *output;
    const spate_mesh_options *options;
    spate_scene *scene;
    frame_list frames;
    int64_t begin, count; /* those that are wanted, of the frames */
    text list;            /* lines of surface.pvd */
} mesh_job;

/* The options as overrides of the scene's output, so that its reader checks them. */
static spate_status load_scene(mesh_job *job) {
    const spate_mesh_options *o = job->options;
    char set[SETS][SET_SIZE], path[PATH_SIZE];
    const char *sets[SETS];
    int count = 0;
    TRY(path_join(job->ctx, job->folder, RUN_SCENE, path));
    if (!file_exists(job->ctx, path))
        return fail(job->ctx, SPATE_BAD_INPUT,
                    "%s: not the folder of a run: there is no run.scene.yaml in it", job->folder);
    if (o->method) snprintf(set[count++], SET_SIZE, "output.surface_method=%.60s", o->method);
    if (o->formats) snprintf(set[count++], SET_SIZE, "output.surface=[%.60s]", o->formats);
    if (o->resolution)
        snprintf(set[count++], SET_SIZE, "output.surface_resolution=%d", o->resolution);
    if (o->smoothing >= 0)
        snprintf(set[count++], SET_SIZE, "output.surface_smoothing=%d", o->smoothing);
    for (int i = 0; i < count; i++) sets[i] = set[i];
    TRY(spate_scene_load(job->ctx, path, sets, count, &job->scene));
    bool liquid = false;
    for (int i = 0; i < job->scene->material_count; i++)
        liquid |= material_is_liquid(&job->scene->materials[i]);
    if (!liquid)
        return fail(job->ctx, SPATE_BAD_INPUT,
                    "%s: no material of this run is a liquid, so there is no surface to make",
                    job->folder);
    if (!job->scene->output.surface) job->scene->output.surface = OUTPUT_PLY;
    return SPATE_OK;
}

static spate_status choose_frames(mesh_job *job) {
    const spate_mesh_options *o = job->options;
    frame_list *all = &job->frames;
    *all = (frame_list){.ctx = job->ctx, .scene = job->scene};
    TRY(frame_list_read(job->folder, all));
    if (!all->count || all->kind != FRAMES_OF_PARTICLES)
        return fail(job->ctx, SPATE_BAD_INPUT,
                    "%s: no frames of particles (particles_0001.vtp ...); the scene needs "
                    "output.particles: [vtp]",
                    job->folder);
    while (job->begin < all->count && all->numbers[job->begin] < o->first) job->begin++;
    int64_t end = job->begin;
    while (end < all->count && (o->last < 0 || all->numbers[end] <= o->last)) end++;
    job->count = end - job->begin;
    if (job->count) return SPATE_OK;
    return fail(job->ctx, SPATE_BAD_INPUT, "%s: none of the frames asked for; it has %lld to %lld",
                job->folder, (long long)all->numbers[0], (long long)all->numbers[all->count - 1]);
}

static spate_status output_path(mesh_job *job, int64_t number, const char *extension,
                                char path[PATH_SIZE]) {
    char name[FRAME_NAME_SIZE];
    surface_name(name, number, extension);
    return path_join(job->ctx, job->output, name, path);
}

/* Nothing that is there is replaced unasked. */
static spate_status check_output(mesh_job *job) {
    for (int64_t i = 0; i < job->count && !job->options->force; i++)
        for (int f = 0; f < SURFACE_FORMATS; f++) {
            char path[PATH_SIZE];
            if (!(job->scene->output.surface & surface_formats[f].bit)) continue;
            TRY(output_path(job, job->frames.numbers[job->begin + i], surface_formats[f].extension,
                            path));
            if (file_exists(job->ctx, path))
                return fail(job->ctx, SPATE_BAD_INPUT,
                            "%s exists; --force replaces it, -o DIR writes elsewhere", path);
        }
    return SPATE_OK;
}

static spate_status write_files(mesh_job *job, const surface_mesh *m, int64_t number, double time,
                                char path[PATH_SIZE]) {
    for (int f = 0; f < SURFACE_FORMATS; f++) {
        if (!(job->scene->output.surface & surface_formats[f].bit)) continue;
        TRY(output_path(job, number, surface_formats[f].extension, path));
        TRY(surface_write(job->ctx, m, &surface_formats[f], job->scene->name, time, path));
        if (surface_formats[f].bit == OUTPUT_VTP) {
            char name[FRAME_NAME_SIZE];
            surface_name(name, number, "vtp");
            pvd_add(&job->list, time, name);
        }
    }
    return SPATE_OK;
}

static spate_status mesh_frame(mesh_job *job, int64_t i) {
    const int64_t at = job->begin + i, number = job->frames.numbers[at];
    char path[PATH_SIZE];
    snapshot frame;
    surface_mesh m;
    TRY(frame_list_load(&job->frames, job->folder, at, path, &frame));
    const double time = isnan(frame.time) ? (double)number / job->scene->fps : frame.time;
    spate_status status =
        surface_of_snapshot(job->scene, &frame, surface_settings_of(job->scene), &m);
    snapshot_free(&frame);
    TRY(status);
    surface_turn(job->scene, &m);
    status = write_files(job, &m, number, time, path);
    surface_free(&m);
    TRY(status);
    if (job->options->progress)
        job->options->progress((int)i + 1, (int)job->count, path, job->options->user);
    return SPATE_OK;
}

static spate_status mesh_all(mesh_job *job) {
    char path[PATH_SIZE];
    TRY(load_scene(job));
    TRY(choose_frames(job));
    TRY(check_output(job));
    TRY(file_make_folder(job->ctx, job->output));
    for (int64_t i = 0; i < job->count; i++) {
        if (job->options->interrupt && *job->options->interrupt)
            return fail(job->ctx, SPATE_INTERRUPTED, "%s: interrupted after %lld of %lld surfaces",
                        job->folder, (long long)i, (long long)job->count);
        TRY(mesh_frame(job, i));
    }
    if (!job->list.length) return SPATE_OK;
    TRY(path_join(job->ctx, job->output, RUN_SURFACES, path));
    return pvd_write(job->ctx, &job->list, path);
}

spate_status spate_mesh(spate_context *context, const char *folder,
                        const spate_mesh_options *options) {
    const spate_mesh_options fallback = spate_default_mesh_options();
    if (!options) options = &fallback;
    TRY(cookie_check(context, options->cookie, COOKIE_MESH, "mesh_options"));
    if (!file_is_folder(context, folder))
        return fail(context, SPATE_BAD_INPUT,
                    file_exists(context, folder) ? "%s is a file; give the folder of a run"
                                                 : "%s: no such folder; give the folder of a run",
                    folder);
    mesh_job job = {.ctx = context,
                    .folder = folder,
                    .output = options->output ? options->output : folder,
                    .options = options,
                    .list.ctx = context};
    const spate_status status = mesh_all(&job);
    give(context, job.frames.numbers);
    text_free(&job.list);
    spate_scene_free(job.scene);
    return status;
}
