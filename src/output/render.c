/* From particles_NNNN.vtp or volume_NNNN.vti to frame_NNNN.png and film.mp4; from stats.csv to plot_....png. */
#include "output/render.h"
#include "core/text.h"
#include "output/dyes.h"
#include "output/film.h"
#include "output/flat.h"
#include "output/plot.h"
#include "output/surface_frame.h"
#include "output/trace.h"
#include "output/volume.h"
#include "scene/mesh.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 256 };

spate_render_options spate_default_render_options(void) {
    return (spate_render_options){
        .width = 1280, .height = 720, .film = true, .samples = 4, .last = -1};
}

/* ---- One frame in 3D ------------------------------------------------------------------------- */

/* A particle set sorted into what is drawn as liquid and what as matt balls. */
typedef struct cast {
    v3 *liquid, *matt;
    rgb *matt_colour;
    int64_t liquid_count, matt_count;
    double liquid_radius, matt_radius; /* mean */
    bool smooth;                       /* all that is matt is elastic */
} cast;

/* The name of a particle's material model, "" when it is coloured by an attribute anyway. */
static const char *model_of(const shades *s, const snapshot_array *materials, int64_t i) {
    double m = materials ? snapshot_value(materials, i, 0) : 0;
    if (!shades_by_material(s) || !(m >= 0 && m < s->scene->material_count)) return "";
    const material_type *type = s->scene->materials[(int)m].type;
    return type ? type->name : "";
}

static spate_status fill_cast(const shades *s, const stage *st, const snapshot *frame,
                              const char *file, cast *c) {
    spate_context *ctx = s->scene->ctx;
    size_t room = (size_t)frame->count + 1;
    shade_source by;
    TRY(shades_source(s, frame, file, &by));
    c->liquid = take(ctx, room, sizeof *c->liquid);
    c->matt = take(ctx, room, sizeof *c->matt);
    c->matt_colour = take(ctx, room, sizeof *c->matt_colour);
    if (!c->liquid || !c->matt || !c->matt_colour) return SPATE_OUT_OF_MEMORY;
    const snapshot_array *x = &frame->arrays[0], *size = snapshot_find(frame, "pscale");
    const snapshot_array *materials = snapshot_find(frame, "material");
    double far = 100 * (double)v3_length(st->size);
    /* Bodies read as one piece, single values as particles. */
    double swell = shades_by_material(s) ? 1.3 : 1.1;
    c->smooth = true;
    for (int64_t i = 0; i < frame->count; i++) {
        double world[3] = {snapshot_value(x, i, 0), snapshot_value(x, i, 1),
                           snapshot_value(x, i, 2)};
        double radius = size ? snapshot_value(size, i, 0) : 0.25 * s->scene->domain.dx;
        v3 at = stage_from_scene(st, world);
        /* What is not a number, or far out of the picture, would only spoil the rest. */
        if (!((double)v3_length(at) < far) || !(radius > 0 && radius < far)) continue;
        const char *model = model_of(s, materials, i);
        if (!strcmp(model, "liquid")) {
            c->liquid[c->liquid_count++] = at;
            c->liquid_radius += radius;
        } else {
            at[3] = (float)(radius * swell);
            c->matt_radius += radius;
            c->smooth &= !strcmp(model, "neo_hookean");
            c->matt_colour[c->matt_count] = shades_colour(s, materials, &by, i);
            c->matt[c->matt_count++] = at;
        }
    }
    if (c->liquid_count) c->liquid_radius /= (double)c->liquid_count;
    if (c->matt_count) c->matt_radius /= (double)c->matt_count;
    return SPATE_OK;
}

/* The liquid's surface that the run has written with this frame; without one it stays empty. */
static spate_status load_surface(const shades *s, const stage *st, const char *file,
                                 facet_mesh *out) {
    spate_context *ctx = s->scene->ctx;
    char path[PATH_SIZE], *bytes;
    size_t length;
    if (!surface_beside(s->scene, file, path)) return SPATE_OK;
    TRY(file_read(ctx, path, MESH_BYTES, &bytes, &length));
    arena a = arena_create(ctx);
    mesh m = {0};
    bool obj = !strcmp(s->scene->output.surface, "obj");
    spate_status status = SPATE_OK;
    /* Drops that are too small for its lattice leave a file without triangles. */
    if (obj ? !strstr(bytes, "\nf ") : strstr(bytes, "element face 0\n") != NULL) goto done;
    TRY_OR_DONE(status, obj ? mesh_read_obj(&a, path, bytes, length, &m)
                            : mesh_read_ply(&a, path, bytes, length, &m));
    out->vertices = take(ctx, (size_t)m.vertex_count, sizeof *out->vertices);
    out->triangles = take(ctx, (size_t)m.triangle_count, sizeof *out->triangles);
    if (!out->vertices || !out->triangles) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    out->vertex_count = m.vertex_count, out->triangle_count = m.triangle_count;
    for (int64_t v = 0; v < m.vertex_count; v++)
        out->vertices[v] = stage_from_scene(st, m.vertices[v]);
    memcpy(out->triangles, m.triangles, (size_t)m.triangle_count * sizeof *out->triangles);
done:
    arena_free(&a);
    give(ctx, bytes);
    return status;
}

static spate_status solid_picture(const shades *s, const snapshot *frame, const char *file,
                                  double time, int samples, picture *out) {
    spate_context *ctx = s->scene->ctx;
    cast c = {0};
    facet_mesh surface = {0};
    stage st;
    spate_status status;
    TRY_OR_DONE(status, stage_create(s->scene, time, &st));
    TRY_OR_DONE(status, fill_cast(s, &st, frame, file, &c));
    if (c.liquid_count) TRY_OR_DONE(status, load_surface(s, &st, file, &surface));
    trace_input in = {.stage = &st,
                      .liquid = c.liquid,
                      .liquid_count = c.liquid_count,
                      .liquid_radius = (float)c.liquid_radius,
                      .matt = c.matt,
                      .matt_colour = c.matt_colour,
                      .matt_count = c.matt_count,
                      .matt_radius = (float)c.matt_radius,
                      .matt_smooth = c.smooth,
                      .surface = surface.triangle_count ? &surface : NULL,
                      .samples = samples};
    TRY_OR_DONE(status, trace_picture(ctx, &in, out));
    shades_caption(s, time, out);
done:
    stage_free(&st);
    give(ctx, c.liquid);
    give(ctx, c.matt);
    give(ctx, c.matt_colour);
    give(ctx, surface.vertices);
    give(ctx, surface.triangles);
    return status;
}

/* ---- One frame of smoke in 3D ---------------------------------------------------------------- */

/* How much of the light is stopped on a way as long as the domain is wide, where smoke is as thick as
 * shades.high says: optical depth. */
static const float opacity = 30;

typedef struct matter_job {
    const dyed_cells *from;
    int turn; /* as of the stage */
    float scale;
    haze_grid *to;
} matter_job;

/* The cells along the stage's axes, with extinction for amount. */
static void turn_cells(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    const matter_job *job = data;
    const haze_grid *to = job->to;
    const int *n = job->from->cells;
    const int64_t strides[3] = {1, n[0], (int64_t)n[0] * n[1]};
    for (int64_t i = begin; i < end; i++) {
        const int64_t at[3] = {i % to->cells[0], i / to->cells[0] % to->cells[1],
                               i / to->cells[0] / to->cells[1]};
        int64_t place = 0;
        for (int a = 0; a < 3; a++) place += at[a] * strides[(a + job->turn) % 3];
        v3 v = job->from->values[place];
        /* What a colour map shows is thin where it is little, so that one sees into it. */
        float k = job->scale * (job->from->mapped ? v[3] : 1);
        to->values[i] = v * (v3){k, k, k, k};
    }
}

static spate_status smoke_picture(const shades *s, const snapshot *frame, const char *file,
                                  double time, int samples, picture *out) {
    spate_context *ctx = s->scene->ctx;
    stage st = {0};
    dyed_cells smoke = {0};
    haze_grid matter = {.edge = (float)frame->spacing[0]};
    spate_status status;
    TRY_OR_DONE(status, stage_create(s->scene, time, &st));
    TRY_OR_DONE(status, dyes_create(s, frame, file, &smoke));
    for (int a = 0; a < 3; a++) matter.cells[a] = smoke.cells[(a + st.turn) % 3];
    matter.values = take(ctx, (size_t)frame->count, sizeof *matter.values);
    if (!matter.values) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    matter_job job = {&smoke, st.turn, opacity / cbrtf(st.size[0] * st.size[1] * st.size[2]),
                      &matter};
    parallel_for(ctx->pool, frame->count, 16384, turn_cells, &job);
    trace_input in = {
        .stage = &st, .smoke = matter, .smoke_mapped = smoke.mapped, .samples = samples};
    dyes_free(&smoke);
    TRY_OR_DONE(status, trace_picture(ctx, &in, out));
    shades_caption(s, time, out);
done:
    stage_free(&st);
    dyes_free(&smoke);
    give(ctx, matter.values);
    return status;
}

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

spate_status render_frame(const shades *s, const snapshot *frame, const char *file, double time,
                          int samples, picture *out) {
    if (frame->on_grid) TRY(check_grid(s->scene, frame, file));
    if (s->scene->dim == 2) return flat_picture(s, frame, file, time, out);
    return frame->on_grid ? smoke_picture(s, frame, file, time, samples, out)
                          : solid_picture(s, frame, file, time, samples, out);
}

/* ---- A folder -------------------------------------------------------------------------------- */

static spate_status notice_frame(const char *name, void *user) {
    frame_list *list = user;
    const char *head = list->volumes ? "volume_" : "particles_",
               *tail = list->volumes ? ".vti" : ".vtp";
    size_t length = strlen(name), before = strlen(head), after = strlen(tail);
    int64_t number;
    if (length <= before + after || memcmp(name, head, before) ||
        strcmp(name + length - after, tail) ||
        !text_to_int64(name + before, length - before - after, &number) || number < 0)
        return SPATE_OK;
    if (number < list->first || (list->last >= 0 && number > list->last)) return SPATE_OK;
    TRY(GROW(list->ctx, list->numbers, list->capacity, list->count + 1));
    /* Names are sorted as text: past 9999 the numbers are not. */
    int64_t at = list->count++;
    for (; at > 0 && list->numbers[at - 1] > number; at--)
        list->numbers[at] = list->numbers[at - 1];
    list->numbers[at] = number;
    return SPATE_OK;
}

spate_status render_list_frames(const char *folder, frame_list *list) {
    TRY(file_list(list->ctx, folder, notice_frame, list));
    if (list->count) return SPATE_OK;
    list->volumes = true;
    return file_list(list->ctx, folder, notice_frame, list);
}

spate_status render_load_frame(const frame_list *list, const char *folder, int64_t index,
                               char path[PATH_SIZE], snapshot *out) {
    char name[FRAME_NAME_SIZE];
    if (list->volumes)
        volume_name(name, list->numbers[index]);
    else
        frame_name(name, list->numbers[index], "vtp");
    TRY(path_join(list->ctx, folder, name, path));
    TRY(snapshot_load(list->ctx, path, out));
    if (out->on_grid == list->volumes) return SPATE_OK;
    snapshot_free(out);
    return fail(list->ctx, SPATE_BAD_INPUT, "%s: it holds %s, which is not what its name says",
                path, list->volumes ? "particles" : "a grid");
}

spate_status render_load_scene(spate_context *ctx, const char *folder, spate_scene **out) {
    char path[PATH_SIZE];
    TRY(path_join(ctx, folder, "run.scene.yaml", path));
    if (!file_exists(path))
        return fail(ctx, SPATE_BAD_INPUT,
                    "%s: not the folder of a run: there is no run.scene.yaml in it", folder);
    return spate_scene_load(ctx, path, NULL, 0, out);
}

typedef struct render_job {
    spate_context *ctx;
    const char *folder;
    const spate_render_options *options;
    spate_scene *scene;
    char output[PATH_SIZE];
    frame_list frames;
    shades shades;
    picture picture;
    unsigned char *bytes;
    film film;
} render_job;

static bool interrupted(const render_job *job) {
    return job->options->interrupt && *job->options->interrupt;
}

static spate_status stop_here(render_job *job, int64_t done) {
    return fail(job->ctx, SPATE_INTERRUPTED, "%s: interrupted after %lld of %lld pictures",
                job->folder, (long long)done, (long long)job->frames.count);
}

/* Whether particles of one material fill all of the domain in the first frame: a plain surface in 2D. */
static spate_status is_full(const spate_scene *scene, const char *folder, const frame_list *frames,
                            bool *full) {
    const domain *d = &scene->domain;
    char path[PATH_SIZE];
    snapshot frame;
    double area = 0;
    if (scene->dim != 2 || scene->material_count != 1 || scene_on_grid(scene) || !frames->count)
        return SPATE_OK;
    TRY(render_load_frame(frames, folder, 0, path, &frame));
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
    shades density;
    double low = HUGE_VAL, high = -HUGE_VAL;
    TRY(shades_create(scene, "density", &density));
    *even = scene_on_grid(scene) && scene->material_count == 1;
    for (int64_t i = 0; i < frames->count && *even; i++) {
        char path[PATH_SIZE];
        snapshot frame;
        TRY(render_load_frame(frames, folder, i, path, &frame));
        spate_status status = SPATE_OK;
        *even = snapshot_find(&frame, "density") != NULL;
        if (*even) status = shades_measure(&density, &frame, path, &low, &high);
        snapshot_free(&frame);
        TRY(status);
        *even = *even && high > 0 && high - low <= 1e-3 * high;
    }
    return SPATE_OK;
}

spate_status render_choose_shades(const spate_scene *scene, const char *colour, const char *folder,
                                  const frame_list *frames, shades *out) {
    bool even = false;
    if (!colour) TRY(is_even(scene, folder, frames, &even));
    if (!colour && !even) TRY(is_full(scene, folder, frames, &even));
    return shades_create(scene, even ? "speed" : colour, out);
}

/* The colour scale is one for all frames, so a film does not flicker. */
static spate_status choose_range(render_job *job) {
    const double *range = job->options->range;
    if (range[0] != range[1]) {
        if (!(range[0] < range[1]) || !isfinite(range[0]) || !isfinite(range[1]))
            return fail(job->ctx, SPATE_BAD_INPUT,
                        "range: %g to %g is no range; the first must be the smaller", range[0],
                        range[1]);
        job->shades.low = range[0], job->shades.high = range[1];
        job->shades.both = range[0] == -range[1];
        return SPATE_OK;
    }
    if (shades_by_material(&job->shades)) return SPATE_OK;
    double low = HUGE_VAL, high = -HUGE_VAL;
    for (int64_t i = 0; i < job->frames.count; i++) {
        char path[PATH_SIZE];
        snapshot frame;
        if (interrupted(job)) return stop_here(job, 0);
        TRY(render_load_frame(&job->frames, job->folder, i, path, &frame));
        spate_status status = shades_measure(&job->shades, &frame, path, &low, &high);
        snapshot_free(&frame);
        TRY(status);
    }
    shades_set_range(&job->shades, low, high);
    return SPATE_OK;
}

static spate_status draw_frame(render_job *job, int64_t i) {
    char from[PATH_SIZE], to[PATH_SIZE], name[64];
    snapshot frame;
    snprintf(name, sizeof name, "frame_%04lld.png", (long long)job->frames.numbers[i]);
    TRY(path_join(job->ctx, job->output, name, to));
    TRY(render_load_frame(&job->frames, job->folder, i, from, &frame));
    double time = isnan(frame.time) ? (double)job->frames.numbers[i] / job->scene->fps : frame.time;
    spate_status status =
        render_frame(&job->shades, &frame, from, time, job->options->samples, &job->picture);
    snapshot_free(&frame);
    TRY(status);
    picture_to_bytes(&job->picture, job->bytes);
    TRY(picture_write_png(job->ctx, job->bytes, job->picture.width, job->picture.height, to));
    film_add(&job->film, job->bytes);
    if (job->options->progress)
        job->options->progress((int)i + 1, (int)job->frames.count, to, job->options->user);
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
    if (!job->bytes) return SPATE_OUT_OF_MEMORY;
    return file_make_folder(job->ctx, job->output);
}

static spate_status draw_pictures(render_job *job) {
    const spate_render_options *o = job->options;
    TRY(render_load_scene(job->ctx, job->folder, &job->scene));
    job->frames = (frame_list){.ctx = job->ctx, .first = o->first, .last = o->last};
    TRY(render_list_frames(job->folder, &job->frames));
    if (!job->frames.count)
        return fail(
            job->ctx, SPATE_BAD_INPUT,
            o->first > 0 || o->last >= 0
                ? "%s: no frames between %d and %d"
                : "%s: no frames (particles_0001.vtp or volume_0001.vti ...); the scene needs "
                  "output.particles: [vtp], or output.volume: vti where the solver is on a grid",
            job->folder, o->first, o->last);
    TRY(render_choose_shades(job->scene, o->colour, job->folder, &job->frames, &job->shades));
    job->shades.points = o->points;
    TRY(open_output(job));
    TRY(choose_range(job));
    if (o->film) {
        char path[PATH_SIZE];
        TRY(path_join(job->ctx, job->output, "film.mp4", path));
        TRY(film_open(job->ctx, path, o->width, o->height, job->scene->fps, &job->film));
    }
    spate_status status = SPATE_OK;
    for (int64_t i = 0; i < job->frames.count && status == SPATE_OK; i++)
        status = interrupted(job) ? stop_here(job, i) : draw_frame(job, i);
    /* A film that was interrupted is whole as far as it goes. */
    spate_status closed = film_close(&job->film, status == SPATE_OK || status == SPATE_INTERRUPTED);
    if (status == SPATE_OK && closed == SPATE_OK && o->film) {
        char path[PATH_SIZE];
        TRY(path_join(job->ctx, job->output, "film.mp4", path));
        int frames = (int)job->frames.count;
        if (o->progress && file_exists(path)) o->progress(frames, frames, path, o->user);
    }
    return status != SPATE_OK ? status : closed;
}

/* ---- A plot ---------------------------------------------------------------------------------- */

static spate_status draw_plot(render_job *job) {
    char path[PATH_SIZE], name[160];
    plot_table table;
    TRY(render_load_scene(job->ctx, job->folder, &job->scene));
    TRY(path_join(job->ctx, job->folder, "stats.csv", path));
    TRY(plot_read_table(job->ctx, path, &table));
    spate_status status;
    TRY_OR_DONE(status, open_output(job));
    TRY_OR_DONE(status,
                plot_draw(&table, job->options->plot, job->scene->name, "s", &job->picture));
    snprintf(name, sizeof name, "plot_%.140s.png", job->options->plot);
    for (char *c = name; *c; c++)
        if (*c == ',' || *c == '/') *c = *c == ',' ? '+' : '_';
    TRY_OR_DONE(status, path_join(job->ctx, job->output, name, path));
    picture_to_bytes(&job->picture, job->bytes);
    TRY_OR_DONE(status, picture_write_png(job->ctx, job->bytes, job->picture.width,
                                          job->picture.height, path));
    if (job->options->progress) job->options->progress(1, 1, path, job->options->user);
done:
    plot_free_table(&table);
    return status;
}

spate_status spate_render(spate_context *context, const char *folder,
                          const spate_render_options *options) {
    spate_render_options fallback = spate_default_render_options();
    if (!options) options = &fallback;
    if (!file_is_folder(folder))
        return fail(context, SPATE_BAD_INPUT, "%s: no such folder", folder);
    if (options->samples < 1 || options->samples > SAMPLES_MAX)
        return fail(context, SPATE_BAD_INPUT, "samples: %d rays a pixel; it must be 1 to %d",
                    options->samples, SAMPLES_MAX);
    render_job *job = take(context, 1, sizeof *job);
    if (!job) return SPATE_OUT_OF_MEMORY;
    job->ctx = context, job->folder = folder, job->options = options;
    spate_status status = options->plot ? draw_plot(job) : draw_pictures(job);
    give(context, job->frames.numbers);
    give(context, job->bytes);
    picture_free(context, &job->picture);
    spate_scene_free(job->scene);
    give(context, job);
    return status;
}
