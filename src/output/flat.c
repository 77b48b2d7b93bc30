/* 2D pictures: everything by its distance in pixels, so all edges are smooth. */
#include "output/flat.h"
#include "core/threads.h"
#include "output/dyes.h"
#include <math.h>

static const rgb paper = {0.93f, 0.94f, 0.95f}, water_room = {1, 1, 1},
                 smoke_room = {0.020f, 0.026f, 0.036f}, wall_ink = {0.10f, 0.12f, 0.14f};

flat_view flat_shown(const spate_scene *scene, double time) {
    const camera_pose c = camera_at(&scene->camera, time);
    const domain *d = &scene->domain;
    flat_view v;
    for (int a = 0; a < 2; a++) {
        v.min[a] = c.given ? fmin(c.from[a], c.to[a]) : d->origin[a];
        v.max[a] = c.given ? fmax(c.from[a], c.to[a]) : d->origin[a] + d->size[a];
        /* Keys may lead the corners through each other. */
        v.max[a] = fmax(v.max[a], v.min[a] + 1e-6 * d->size[a]);
    }
    return v;
}

flat_map flat_fit(const shades *s, const flat_view *shown, const picture *p) {
    const domain *d = &s->scene->domain;
    const double size[2] = {shown->max[0] - shown->min[0], shown->max[1] - shown->min[1]};
    double letters = shades_letters(p), side = s->plain ? 3 : 2.5 * letters;
    double right = side + shades_margin(s, p), below = s->plain ? side : 6 * letters;
    double wide = p->width - side - right, high = p->height - side - below;
    flat_map m = {.scale = fmax(fmin(wide / size[0], high / size[1]), 1e-12)};
    m.left = side + 0.5 * (wide - m.scale * size[0]) + m.scale * (d->origin[0] - shown->min[0]);
    m.bottom = side + 0.5 * (high + m.scale * size[1]) - m.scale * (d->origin[1] - shown->min[1]);
    return m;
}

typedef struct flat_job {
    const spate_scene *scene;
    flat_map map;
    const pose *poses;
    double time;
    picture *out;
} flat_job;

/* Colliders, filled where a pixel's middle is inside, faded over one pixel. */
static void collider_rows(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    flat_job *job = data;
    const spate_scene *scene = job->scene;
    const domain *d = &scene->domain;
    const rgb grey = {0.30f, 0.31f, 0.33f};
    for (int y = (int)begin; y < end; y++)
        for (int x = 0; x < job->out->width; x++) {
            double world[3] = {d->origin[0] + (x + 0.5 - job->map.left) / job->map.scale,
                               d->origin[1] + (job->map.bottom - y - 0.5) / job->map.scale, 0};
            double outside = 0, rest[3], nearest = HUGE_VAL;
            rgb colour = grey;
            for (int a = 0; a < 2; a++)
                outside = fmax(outside,
                               fmax(d->origin[a] - world[a], world[a] - d->origin[a] - d->size[a]));
            if (outside * job->map.scale > 0.5) continue;
            for (int c = 0; c < scene->collider_count; c++) {
                if (!collider_is_present(&scene->colliders[c], job->time)) continue;
                pose_to_rest(&job->poses[c], world, rest);
                double distance = shape_distance(scene->colliders[c].shape, 2, rest);
                if (!(distance < nearest)) continue;
                nearest = distance;
                colour = colour_given(&scene->colliders[c].color, grey);
            }
            double cover = 0.5 - nearest * job->map.scale;
            if (cover > 0) picture_blend(job->out, x, y, colour, (float)fmin(cover, 1));
        }
}

static spate_status draw_colliders(const shades *s, const flat_map *map, double time,
                                   picture *out) {
    const spate_scene *scene = s->scene;
    if (!scene->collider_count) return SPATE_OK;
    pose *poses = take(scene->ctx, (size_t)scene->collider_count, sizeof *poses);
    if (!poses) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < scene->collider_count; c++)
        poses[c] = motion_pose(&scene->colliders[c].motion, time);
    flat_job job = {scene, *map, poses, time, out};
    parallel_for(scene->ctx->pool, out->height, 8, collider_rows, &job);
    give(scene->ctx, poses);
    return SPATE_OK;
}

/* Sides that stop particles are drawn, open and periodic ones only hinted at. */
static void draw_walls(const shades *s, const flat_map *m, picture *out) {
    const domain *d = &s->scene->domain;
    double x0 = m->left, x1 = m->left + d->size[0] * m->scale;
    double y0 = m->bottom, y1 = m->bottom - d->size[1] * m->scale;
    const double ends[2][2][4] = {{{x0, y0, x0, y1}, {x1, y0, x1, y1}},
                                  {{x0, y0, x1, y0}, {x0, y1, x1, y1}}};
    for (int axis = 0; axis < 2; axis++)
        for (int side = 0; side < 2; side++) {
            const double *e = ends[axis][side];
            bool solid = d->walls[axis][side] != WALL_OPEN && d->walls[axis][side] != WALL_PERIODIC;
            picture_line(out, e[0], e[1], e[2], e[3], solid ? 1.6 : 1, wall_ink,
                         solid ? 0.9f : 0.25f);
        }
}

static spate_status draw_particles(const shades *s, const flat_map *m, const snapshot *frame,
                                   const char *file, picture *out) {
    const domain *d = &s->scene->domain;
    const snapshot_array *x = &frame->arrays[0], *size = snapshot_find(frame, "pscale");
    const snapshot_array *materials = snapshot_find(frame, "material");
    shade_source by;
    TRY(shades_source(s, frame, file, &by));
    for (int64_t i = 0; i < frame->count; i++) {
        double px = m->left + (snapshot_value(x, i, 0) - d->origin[0]) * m->scale;
        double py = m->bottom - (snapshot_value(x, i, 1) - d->origin[1]) * m->scale;
        double radius = (size ? snapshot_value(size, i, 0) : 0.25 * d->dx) * m->scale;
        if (!isfinite(px + py) || !(radius > 0)) continue;
        /* A little more than its own room, so that a dense body has no pinholes. */
        radius *= shades_size(s, materials, &by, i);
        picture_disc(out, px, py, fmin(1.2 * radius, out->width),
                     shades_colour(s, materials, &by, i), 1);
    }
    return SPATE_OK;
}

/* ---- Smoke ------------------------------------------------------------------------------------- */

typedef struct smoke_job {
    const shades *shades;
    flat_map map;
    const dyed_cells *smoke;
    picture *out;
} smoke_job;

/* Between the middles of cells, bilinear; the outermost values go on to the walls. `x` in cells. */
static v3 smoke_at(const dyed_cells *d, double x, double y) {
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
    if (job->smoke->mapped) return shades_map(job->shades)((double)amount);
    if (!(amount > 0)) return behind;
    rgb colour = {smoke[0] / amount, smoke[1] / amount, smoke[2] / amount};
    return colour_mix(colour, behind, expf(-thickness * amount));
}

static void smoke_rows(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    smoke_job *job = data;
    const double cell = job->shades->scene->domain.dx * job->map.scale; /* in pixels */
    /* Where cells are smaller than pixels, the mean of several. */
    const int n = cell >= 1 ? 1 : cell > 0.25 ? (int)ceil(1 / cell) : 4;
    for (int y = (int)begin; y < end; y++)
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

static spate_status draw_smoke(const shades *s, const flat_map *m, const snapshot *frame,
                               const char *file, picture *out) {
    dyed_cells smoke;
    TRY(dyes_create(s, frame, file, &smoke));
    smoke_job job = {s, *m, &smoke, out};
    parallel_for(s->scene->ctx->pool, out->height, 8, smoke_rows, &job);
    dyes_free(&smoke);
    return SPATE_OK;
}

/* Paper over all that lies outside the camera's view, a pixel away from it: a wall there is seen. */
static void lay_mount(const shades *s, const flat_view *shown, const flat_map *m, picture *out) {
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

spate_status flat_picture(const shades *s, const snapshot *frame, const char *file, double time,
                          picture *out) {
    const domain *d = &s->scene->domain;
    const flat_view shown = flat_shown(s->scene, time);
    flat_map m = flat_fit(s, &shown, out);
    picture_fill(out, paper);
    picture_box(out, m.left, m.bottom - d->size[1] * m.scale, m.left + d->size[0] * m.scale,
                m.bottom, frame->on_grid ? smoke_room : water_room, 1);
    TRY(frame->on_grid ? draw_smoke(s, &m, frame, file, out)
                       : draw_particles(s, &m, frame, file, out));
    TRY(draw_colliders(s, &m, time, out));
    draw_walls(s, &m, out);
    lay_mount(s, &shown, &m, out);
    shades_caption(s, time, out);
    shades_scale_bar(s, m.scale, out);
    return SPATE_OK;
}
