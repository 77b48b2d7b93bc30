/* 2D pictures: everything by its distance in pixels, so all edges are smooth. */
#include "pictures/frame_2d.h"
#include "core/threads.h"
#include "pictures/liquid_area.h"
#include "pictures/mesh_2d.h"
#include "pictures/mesh_pictures.h"
#include "pictures/smoke_cells.h"
#include "scene/mesh_sequence.h"
#include <math.h>

static const rgb paper = {0.93f, 0.94f, 0.95f}, water_room = {1, 1, 1},
                 smoke_room = {0.020f, 0.026f, 0.036f}, wall_ink = {0.10f, 0.12f, 0.14f};

frame_2d_view frame_2d_shown(const spate_scene *scene, double time) {
    const camera_pose c = camera_at(&scene->camera, time);
    const domain *d = &scene->domain;
    frame_2d_view v;
    for (int a = 0; a < 2; a++) {
        v.min[a] = c.given ? fmin(c.from[a], c.to[a]) : d->origin[a];
        v.max[a] = c.given ? fmax(c.from[a], c.to[a]) : d->origin[a] + d->size[a];
        /* Keys may lead the corners through each other. */
        v.max[a] = fmax(v.max[a], v.min[a] + 1e-6 * d->size[a]);
    }
    return v;
}

frame_2d_map frame_2d_fit(const colouring *s, const frame_2d_view *shown, const picture *p) {
    const domain *d = &s->scene->domain;
    const double size[2] = {shown->max[0] - shown->min[0], shown->max[1] - shown->min[1]};
    double letters = caption_letters(p), side = s->plain ? 3 : 2.5 * letters;
    double right = side + colouring_margin(s, p), below = s->plain ? side : 6 * letters;
    double wide = p->width - side - right, high = p->height - side - below;
    frame_2d_map m = {.scale = fmax(fmin(wide / size[0], high / size[1]), 1e-12)};
    m.left = side + 0.5 * (wide - m.scale * size[0]) + m.scale * (d->origin[0] - shown->min[0]);
    m.bottom = side + 0.5 * (high + m.scale * size[1]) - m.scale * (d->origin[1] - shown->min[1]);
    return m;
}

typedef struct frame_2d_job {
    const spate_scene *scene;
    frame_2d_map map;
    pose *poses; /* of the colliders */
    const shape **shapes;
    double time;
    picture *out;
} frame_2d_job;

/* How far the nearest collider is, and its colour. */
static double colliders_distance(const frame_2d_job *job, const double world[3], rgb *colour) {
    const rgb grey = {0.30f, 0.31f, 0.33f};
    double nearest = HUGE_VAL, rest[3];
    *colour = grey;
    for (int c = 0; c < job->scene->collider_count; c++) {
        const collider *solid = &job->scene->colliders[c];
        if (!collider_is_present(solid, job->time) || solid->grip) continue;
        pose_to_rest(&job->poses[c], world, rest);
        const double distance = shape_distance(job->shapes[c], 2, rest);
        if (!(distance < nearest)) continue;
        nearest = distance;
        *colour = colour_given(&solid->color, grey);
    }
    return nearest;
}

/* Colliders, filled where a pixel's middle is inside, faded over one pixel. */
static void collider_rows(void *data, chunk items) {
    frame_2d_job *job = data;
    const spate_scene *scene = job->scene;
    const domain *d = &scene->domain;
    for (int y = (int)items.begin; y < items.end; y++)
        for (int x = 0; x < job->out->width; x++) {
            double world[3] = {d->origin[0] + (x + 0.5 - job->map.left) / job->map.scale,
                               d->origin[1] + (job->map.bottom - y - 0.5) / job->map.scale, 0};
            double outside = 0;
            for (int a = 0; a < 2; a++)
                outside = fmax(outside,
                               fmax(d->origin[a] - world[a], world[a] - d->origin[a] - d->size[a]));
            if (outside * job->map.scale > 0.5) continue;
            rgb colour;
            double cover = 0.5 - colliders_distance(job, world, &colour) * job->map.scale;
            if (cover > 0) picture_blend(job->out, x, y, colour, (float)fmin(cover, 1));
        }
}

static bool is_solid(wall kind) { return kind != WALL_OPEN && kind != WALL_PERIODIC; }

/* Sides that stop particles are drawn, open and periodic ones only hinted at. */
static void draw_walls(const colouring *s, const frame_2d_map *m, picture *out) {
    const domain *d = &s->scene->domain;
    double x0 = m->left, x1 = m->left + d->size[0] * m->scale;
    double y0 = m->bottom, y1 = m->bottom - d->size[1] * m->scale;
    const double ends[2][2][4] = {{{x0, y0, x0, y1}, {x1, y0, x1, y1}},
                                  {{x0, y0, x1, y0}, {x0, y1, x1, y1}}};
    for (int axis = 0; axis < 2; axis++)
        for (int side = 0; side < 2; side++) {
            const double *e = ends[axis][side];
            bool solid = is_solid(d->walls[axis][side]);
            picture_line(out, (picture_ends){e[0], e[1], e[2], e[3]}, solid ? 1.6 : 1, wall_ink,
                         solid ? 0.9f : 0.25f);
        }
}

/* ---- Particles ------------------------------------------------------------------------------- */

/* A particle where the picture has it. */
typedef struct frame_2d_particle {
    double at[2], radius; /* pixels */
    int material;
    rgb colour;
} frame_2d_particle;

typedef struct frame_2d_frame {
    const colouring *colouring;
    const frame_2d_map *map;
    const snapshot *frame;
    const snapshot_array *sizes, *materials, *roles;
    colour_source by;
} frame_2d_frame;

/* False for one that is nowhere. */
static bool read_particle(const frame_2d_frame *f, int64_t i, frame_2d_particle *p) {
    const spate_scene *scene = f->colouring->scene;
    const domain *d = &scene->domain;
    const snapshot_array *x = &f->frame->arrays[0];
    if (mesh_pictures_has(f->roles, i)) return false;
    p->at[0] = f->map->left + (snapshot_value(x, i, 0) - d->origin[0]) * f->map->scale;
    p->at[1] = f->map->bottom - (snapshot_value(x, i, 1) - d->origin[1]) * f->map->scale;
    p->radius = (f->sizes ? snapshot_value(f->sizes, i, 0) : 0.25 * d->dx) * f->map->scale;
    const double index = f->materials ? snapshot_value(f->materials, i, 0) : 0;
    p->material = index >= 0 && index < scene->material_count ? (int)index : -1;
    p->colour = colouring_colour(f->colouring, f->materials, &f->by, i);
    return isfinite(p->at[0] + p->at[1]) && p->radius > 0;
}

static bool is_filled(const frame_2d_frame *f, const frame_2d_particle *p) {
    const colouring *s = f->colouring;
    return !s->points && p->material >= 0 && s->scene->materials[p->material].look == LOOK_SURFACE;
}

static void draw_grains(const frame_2d_frame *f, picture *out) {
    frame_2d_particle p;
    for (int64_t i = 0; i < f->frame->count; i++)
        /* A little more than its own room, so that a dense body has no pinholes. */
        if (read_particle(f, i, &p) && !is_filled(f, &p))
            picture_disc(
                out, p.at[0], p.at[1],
                fmin(1.2 * p.radius * colouring_size(f->colouring, f->materials, &f->by, i),
                     out->width),
                p.colour, 1);
}

/* Walls that hold a liquid, and colliders. */
static double solid_distance(const void *user, double x, double y) {
    const frame_2d_job *job = user;
    const domain *d = &job->scene->domain;
    const double world[3] = {d->origin[0] + (x - job->map.left) / job->map.scale,
                             d->origin[1] + (job->map.bottom - y) / job->map.scale, 0};
    rgb unused;
    double nearest = colliders_distance(job, world, &unused);
    for (int a = 0; a < 2; a++)
        for (int side = 0; side < 2; side++)
            if (is_solid(d->walls[a][side])) {
                const double inside = world[a] - d->origin[a];
                nearest = fmin(nearest, side ? d->size[a] - inside : inside);
            }
    return nearest * job->map.scale;
}

/* The liquids as areas: of one colour each, or all together where an attribute colours them. What
 * else there is takes up room beside them. */
static spate_status draw_liquid(const frame_2d_frame *f, frame_2d_job *job) {
    const spate_scene *scene = job->scene;
    const domain *d = &scene->domain;
    const frame_2d_map *m = f->map;
    const bool apart = colouring_by_material(f->colouring);
    liquid_area_point *points = take(scene->ctx, (size_t)f->frame->count + 1, sizeof *points);
    if (!points) return SPATE_OUT_OF_MEMORY;
    const int layers = apart ? scene->material_count : 1;
    liquid_area_input in = {.points = points,
                            .layers = layers,
                            .hidden = -1,
                            .low = {m->left, m->bottom - d->size[1] * m->scale},
                            .high = {m->left + d->size[0] * m->scale, m->bottom},
                            .solid = solid_distance,
                            .user = job};
    for (int a = 0; a < 2; a++) in.periodic[a] = d->walls[a][0] == WALL_PERIODIC;
    frame_2d_particle p;
    bool any = false;
    for (int64_t i = 0; i < f->frame->count; i++) {
        if (!read_particle(f, i, &p)) continue;
        const bool filled = is_filled(f, &p);
        any |= filled;
        if (!filled) in.hidden = layers, in.layers = layers + 1;
        points[in.count++] = (liquid_area_point){.at = {(float)p.at[0], (float)p.at[1]},
                                                 .spacing = (float)(2 * p.radius),
                                                 .layer = !filled ? layers
                                                          : apart ? p.material
                                                                  : 0,
                                                 .colour = p.colour};
    }
    spate_status status = any ? liquid_area_draw(scene->ctx, &in, job->out) : SPATE_OK;
    give(scene->ctx, points);
    return status;
}

static spate_status draw_particles(const colouring *s, const snapshot *frame, const char *file,
                                   frame_2d_job *job) {
    frame_2d_frame f = {.colouring = s,
                        .map = &job->map,
                        .frame = frame,
                        .sizes = snapshot_find(frame, "pscale"),
                        .materials = snapshot_find(frame, "material")};
    snapshot drawn;
    TRY(colouring_source(s, frame, file, &f.by));
    TRY(mesh_pictures_load(s->scene, file, &drawn));
    if (drawn.bytes) f.roles = snapshot_find(frame, "role");
    spate_status status = SPATE_OK;
    if (!frame->triangles && !frame->line_ends) { /* which are a frame of meshes alone */
        status = draw_liquid(&f, job);
        draw_grains(&f, job->out);
    }
    if (!status && drawn.bytes) status = mesh_2d_draw(s, f.map, &drawn, file, job->out);
    snapshot_free(&drawn);
    return status;
}

/* ---- Smoke ----------------------------------------------------------------------------------- */

typedef struct smoke_job {
    const colouring *colouring;
    frame_2d_map map;
    const smoke_cells *smoke;
    picture *out;
} smoke_job;

/* Between the middles of cells, bilinear; the outermost values go on to the walls. `x` in cells. */
static v3 smoke_at(const smoke_cells *d, double x, double y) {
    const double place[2] = {x - 0.5, y - 0.5};
    int64_t at[2], next[2];
    float f[2];
    for (int a = 0; a < 2; a++) {
        double c = fmin(fmax(place[a], 0), d->cells[a] - 1);
        at[a] = (int64_t)c;
        next[a] = at[a] + 1 < d->cells[a] ? at[a] + 1 : at[a];
        f[a] = (float)(c - (double)at[a]);
    }
    const v3 *low = d->values + at[1] * d->cells[0], *high = d->values + next[1] * d->cells[0];
    const v3 fx = {f[0], f[0], f[0], f[0]}, fy = {f[1], f[1], f[1], f[1]};
    v3 below = low[at[0]] + (low[next[0]] - low[at[0]]) * fx;
    v3 above = high[at[0]] + (high[next[0]] - high[at[0]]) * fx;
    return below + (above - below) * fy;
}

/* Smoke lets through what is behind it by the share exp(-thickness * amount); a mapped field hides
 * it. */
static rgb smoke_over(const smoke_job *job, rgb behind, v3 smoke) {
    const float thickness = 2.2f, amount = smoke[3];
    if (job->smoke->mapped) return colouring_map(job->colouring)((double)amount);
    if (!(amount > 0)) return behind;
    rgb colour = {smoke[0] / amount, smoke[1] / amount, smoke[2] / amount};
    return colour_mix(colour, behind, expf(-thickness * amount));
}

static void smoke_rows(void *data, chunk items) {
    smoke_job *job = data;
    const double cell = job->colouring->scene->domain.dx * job->map.scale; /* in pixels */
    /* Where cells are smaller than pixels, the mean of several. */
    const int n = cell >= 1 ? 1 : cell > 0.25 ? (int)ceil(1 / cell) : 4;
    for (int y = (int)items.begin; y < items.end; y++)
        for (int x = 0; x < job->out->width; x++) {
            v3 sum = {0};
            for (int k = 0; k < n * n; k++) {
                double px = (x + (k % n + 0.5) / n - job->map.left) / cell;
                double py = (job->map.bottom - y - (k / n + 0.5) / n) / cell;
                sum += smoke_at(job->smoke, px, py);
            }
            float share = 1.0f / (float)(n * n);
            double px = (x + 0.5 - job->map.left) / cell, py = (job->map.bottom - y - 0.5) / cell;
            if (px < 0 || py < 0 || px > job->smoke->cells[0] || py > job->smoke->cells[1])
                continue;
            rgb *pixel = &job->out->pixels[(int64_t)y * job->out->width + x];
            *pixel = smoke_over(job, *pixel, sum * (v3){share, share, share, share});
        }
}

static spate_status draw_smoke(const colouring *s, const frame_2d_map *m, const snapshot *frame,
                               const char *file, picture *out) {
    smoke_cells smoke;
    TRY(smoke_cells_create(s, frame, file, &smoke));
    smoke_job job = {s, *m, &smoke, out};
    parallel_for(s->scene->ctx->pool, out->height, 8, smoke_rows, &job);
    smoke_cells_free(&smoke);
    return SPATE_OK;
}

/* Paper over all that lies outside the camera's view, a pixel away from it: a wall there is
 * seen. */
static void lay_mount(const colouring *s, const frame_2d_view *shown, const frame_2d_map *m,
                      picture *out) {
    const double *origin = s->scene->domain.origin, w = out->width, h = out->height;
    const double x0 = m->left + (shown->min[0] - origin[0]) * m->scale - 1;
    const double x1 = m->left + (shown->max[0] - origin[0]) * m->scale + 1;
    const double y0 = m->bottom - (shown->max[1] - origin[1]) * m->scale - 1;
    const double y1 = m->bottom - (shown->min[1] - origin[1]) * m->scale + 1;
    if (!s->scene->camera.given) return;
    picture_box(out, 0, 0, x0, h, paper, 1);
    picture_box(out, x1, 0, w, h, paper, 1);
    picture_box(out, x0, 0, x1, y0, paper, 1);
    picture_box(out, x0, y1, x1, h, paper, 1);
}

static spate_status draw_frame(const colouring *s, const snapshot *frame, const char *file,
                               arena *shown, frame_2d_job *job) {
    const spate_scene *scene = s->scene;
    for (int c = 0; c < scene->collider_count; c++) {
        job->poses[c] = motion_pose(&scene->colliders[c].motion, job->time);
        TRY(mesh_sequence_shape(shown, scene->colliders[c].shape, job->time, &job->shapes[c]));
    }
    TRY(frame->on_grid ? draw_smoke(s, &job->map, frame, file, job->out)
                       : draw_particles(s, frame, file, job));
    if (scene->collider_count)
        parallel_for(scene->ctx->pool, job->out->height, 8, collider_rows, job);
    return SPATE_OK;
}

spate_status frame_2d_draw(const colouring *s, const snapshot *frame, const char *file, double time,
                           picture *out) {
    const spate_scene *scene = s->scene;
    const domain *d = &scene->domain;
    const frame_2d_view shown = frame_2d_shown(scene, time);
    frame_2d_map m = frame_2d_fit(s, &shown, out);
    picture_fill(out, paper);
    picture_box(out, m.left, m.bottom - d->size[1] * m.scale, m.left + d->size[0] * m.scale,
                m.bottom, frame->on_grid ? smoke_room : water_room, 1);
    arena own = arena_create(scene->ctx);
    const size_t colliders = (size_t)scene->collider_count + 1;
    pose *poses = arena_take(&own, colliders, sizeof *poses);
    const shape **shapes = arena_take(&own, colliders, sizeof *shapes);
    frame_2d_job job = {scene, m, poses, shapes, time, out};
    spate_status status =
        poses && shapes ? draw_frame(s, frame, file, &own, &job) : SPATE_OUT_OF_MEMORY;
    arena_free(&own);
    TRY(status);
    draw_walls(s, &m, out);
    lay_mount(s, &shown, &m, out);
    colouring_caption(s, time, out);
    colouring_scale_bar(s, m.scale, out);
    return SPATE_OK;
}
