/* Colliders are met by sphere tracing their signed distance (Hart 1996). */
#include "pictures/trace/stage.h"
#include "scene/mesh_sequence.h"

v3 stage_from_scene(const stage *s, const double x[3]) {
    v3 out = {0};
    for (int a = 0; a < 3; a++) {
        int b = (a + s->turn) % 3;
        out[a] = (float)(x[b] - s->scene->domain.origin[b]);
    }
    return out;
}

void stage_to_scene(const stage *s, v3 x, double out[3]) {
    for (int a = 0; a < 3; a++) {
        int b = (a + s->turn) % 3;
        out[b] = (double)x[a] + s->scene->domain.origin[b];
    }
}

static double collider_distance(const stage *s, const stage_collider *c, v3 x) {
    double world[3], rest[3];
    stage_to_scene(s, x, world);
    pose_to_rest(&c->pose, world, rest);
    return shape_distance(c->shape, 3, rest);
}

/* A container that the domain stands in would hide everything: most of the box' sides are inside
 * it. */
static bool is_container(const stage *s, const stage_collider *c) {
    int inside = 0, all = 0;
    for (int i = 0; i < 27; i++) {
        if (i == 13) continue;
        v3 x =
            v3_set((float)(i % 3), (float)(i / 3 % 3), (float)(i / 9)) * v3_splat(0.5f) * s->size;
        inside += collider_distance(s, c, x) < 0;
        all++;
    }
    return 2 * inside > all;
}

static void collider_box(const stage *s, stage_collider *c) {
    bounds b = shape_bounds(c->shape, 3);
    v3 margin = v3_splat(1e-4f * v3_length(s->size));
    c->min = v3_splat(INFINITY), c->max = v3_splat(-INFINITY);
    bool finite = true;
    for (int a = 0; a < 3; a++) finite &= isfinite(b.min[a]) && isfinite(b.max[a]);
    for (int i = 0; i < 8 && finite; i++) {
        double rest[3], world[3];
        for (int a = 0; a < 3; a++) rest[a] = i >> a & 1 ? b.max[a] : b.min[a];
        pose_to_world(&c->pose, rest, world);
        v3 x = stage_from_scene(s, world);
        for (int a = 0; a < 3; a++)
            c->min[a] = min_of(c->min[a], x[a]), c->max[a] = max_of(c->max[a], x[a]);
    }
    for (int a = 0; a < 3; a++) {
        float low = -margin[a], high = s->size[a] + margin[a];
        c->min[a] = finite ? max_of(c->min[a] - margin[a], low) : low;
        c->max[a] = finite ? min_of(c->max[a] + margin[a], high) : high;
    }
}

spate_status stage_create(const spate_scene *scene, double time, stage *out) {
    *out = (stage){.ctx = scene->ctx,
                   .scene = scene,
                   .arena = arena_create(scene->ctx),
                   .turn = (scene_up_axis(scene) + 2) % 3,
                   .camera = camera_at(&scene->camera, time)};
    for (int a = 0; a < 3; a++) out->size[a] = (float)scene->domain.size[(a + out->turn) % 3];
    if (!scene->collider_count) return SPATE_OK;
    out->colliders = take(scene->ctx, (size_t)scene->collider_count, sizeof *out->colliders);
    if (!out->colliders) return SPATE_OUT_OF_MEMORY;
    for (int i = 0; i < scene->collider_count; i++) {
        stage_collider *c = &out->colliders[out->collider_count];
        if (!collider_is_present(&scene->colliders[i], time) || scene->colliders[i].grip) continue;
        const shape *given = scene->colliders[i].shape;
        if (mesh_sequence_shape(&out->arena, given, time, &c->shape)) {
            stage_free(out);
            return SPATE_OUT_OF_MEMORY;
        }
        c->pose = motion_pose(&scene->colliders[i].motion, time);
        c->colour = colour_given(&scene->colliders[i].color, (rgb){0.52f, 0.52f, 0.53f});
        collider_box(out, c);
        if (!is_container(out, c)) out->collider_count++;
    }
    return SPATE_OK;
}

void stage_free(stage *s) {
    if (s->ctx) {
        give(s->ctx, s->colliders);
        arena_free(&s->arena);
    }
    *s = (stage){0};
}

static v3 collider_normal(const stage *s, const stage_collider *c, v3 x) {
    double world[3], rest[3], n[3], turned[3];
    stage_to_scene(s, x, world);
    pose_to_rest(&c->pose, world, rest);
    shape_normal(c->shape, 3, rest, n);
    pose_turn(&c->pose, n, turned);
    v3 out = {0};
    for (int a = 0; a < 3; a++) out[a] = (float)turned[(a + s->turn) % 3];
    return v3_unit(out);
}

static hit collider_hit(const stage *s, const stage_collider *c, const ray *r, float near,
                        float far) {
    enum { STEPS = 160 };
    int axes[2];
    if (!ray_box(r, c->min, c->max, &near, &far, axes)) return (hit){0};
    float close = 2e-4f * v3_length(c->max - c->min), t = near;
    for (int k = 0; k < STEPS && t <= far; k++) {
        float d = (float)collider_distance(s, c, ray_at(r, t));
        if (d < close)
            return (hit){.met = true, .t = t, .normal = collider_normal(s, c, ray_at(r, t))};
        t += d;
    }
    return (hit){0};
}

hit stage_hit(const stage *s, const ray *r, float near, float far) {
    hit best = {.t = far};
    for (int i = 0; i < s->collider_count; i++) {
        hit h = collider_hit(s, &s->colliders[i], r, near, best.t);
        if (h.met) best = h, best.which = i;
    }
    return best;
}

/* ---- Camera ---------------------------------------------------------------------------------- */

static view look(v3 from, v3 to, float fov_degrees, int width, int height) {
    view v = {.from = from, .width = width, .height = height};
    v.forward = v3_unit(to - from);
    /* Keys may lead the two ends through each other. */
    if (!(v3_length(v.forward) > 0)) v.forward = v3_set(0, 0, -1);
    v3 up = fabsf(v.forward[1]) > 0.999f ? v3_set(0, 0, -1) : v3_set(0, 1, 0);
    v.right = v3_unit(v3_cross(v.forward, up));
    v.up = v3_cross(v.right, v.forward);
    v.pixel = 2 * tanf(fov_degrees * 0.5f * 3.14159265f / 180) / (float)height;
    return v;
}

/* Whether the whole box is in the picture with a margin around it. */
static bool sees_box(const view *v, v3 size) {
    const float margin = 0.07f;
    for (int i = 0; i < 8; i++) {
        v3 corner = v3_set(i & 1 ? size[0] : 0, i & 2 ? size[1] : 0, i & 4 ? size[2] : 0);
        float p[3];
        if (!view_project(v, corner, p)) return false;
        float w = (float)v->width, h = (float)v->height;
        if (p[0] < margin * w || p[0] > (1 - margin) * w || p[1] < margin * h ||
            p[1] > (1 - margin) * h)
            return false;
    }
    return true;
}

/* A direction turned about the vertical, counter-clockwise from above. */
static v3 turn_about_up(v3 d, float angle) {
    const float c = cosf(angle), s = sinf(angle);
    return v3_set(c * d[0] + s * d[2], d[1], c * d[2] - s * d[0]);
}

/* The whole domain from three quarters; where the camera circles, far enough off for all its
 * way. */
static view look_at_all(const stage *s, int width, int height) {
    enum { ROUND = 24 };
    const camera_pose *c = &s->camera;
    const int directions = c->orbits ? ROUND : 1;
    const v3 middle = s->size * v3_set(0.5f, 0.42f, 0.5f);
    const v3 away = v3_unit(v3_set(0.52f, 0.42f, 0.9f));
    float distance = 0.5f * v3_length(s->size);
    for (int k = 0; k < directions;) {
        v3 from = turn_about_up(away, 2 * (float)M_PI * (float)k / ROUND) * v3_splat(distance);
        view v = look(middle + from, middle, (float)c->fov, width, height);
        if (sees_box(&v, s->size) || distance > 50 * v3_length(s->size))
            k++;
        else
            distance *= 1.02f;
    }
    v3 from = turn_about_up(away, (float)c->orbit) * v3_splat(distance);
    return look(middle + from, middle, (float)c->fov, width, height);
}

view stage_view(const stage *s, int width, int height) {
    const camera_pose *c = &s->camera;
    if (!c->given) return look_at_all(s, width, height);
    const v3 from = stage_from_scene(s, c->from), to = stage_from_scene(s, c->to);
    const v3 away = turn_about_up(from - to, (float)c->orbit);
    return look(c->orbits ? to + away : from, to, (float)c->fov, width, height);
}

ray view_ray(const view *v, float x, float y) {
    float right = (x - 0.5f * (float)v->width) * v->pixel,
          up = (0.5f * (float)v->height - y) * v->pixel;
    return (ray){v->from, v3_unit(v->forward + v->right * v3_splat(right) + v->up * v3_splat(up))};
}

bool view_project(const view *v, v3 point, float out[3]) {
    v3 to = point - v->from;
    float depth = v3_dot(to, v->forward);
    out[2] = v3_length(to);
    if (!(depth > 1e-6f * out[2])) return false;
    out[0] = 0.5f * (float)v->width + v3_dot(to, v->right) / (depth * v->pixel);
    out[1] = 0.5f * (float)v->height - v3_dot(to, v->up) / (depth * v->pixel);
    return true;
}
