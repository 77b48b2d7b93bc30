/*
 * The picture: one ray a pixel, then more where neighbours differ. A ray goes on through the
 * liquid, bent at every surface and tinted by its way inside (Beer-Lambert), until it meets
 * something matt.
 */
#include "output/trace.h"
#include "core/threads.h"
#include "output/world.h"

typedef struct trace_job {
    world world;
    const trace_input *in;
    view view;
    float line; /* distance of the lines on the floor */
    picture *out;
    rgb *first;   /* the picture with one ray a pixel */
    float *depth; /* how far the first thing is */
} trace_job;

enum { BOUNCES = 6 };

/* Smoke stands out against a darker floor and sky. */
static const v3 dusk = {0.17f, 0.20f, 0.26f, 0};

static v3 sky_colour(const world *w, v3 along) {
    float up = along[1] > 0 ? along[1] : 0;
    v3 sky = v3_mix(v3_set(0.62f, 0.68f, 0.75f), v3_set(0.15f, 0.30f, 0.54f), 1 - expf(-2.2f * up));
    /* The sun as a soft box: what glints on water. */
    float s = v3_dot(along, w->sun);
    float glow = 1.1f * smooth_step(0.80f, 1.0f, s) + 14 * smooth_step(0.982f, 0.992f, s);
    sky += v3_set(1, 0.97f, 0.92f) * v3_splat(up > 0 ? glow : 0);
    return w->haze.ctx ? sky * dusk : sky;
}

/* How much of a thin line, repeated every `every`, covers a stretch `blur` wide at x. */
static float line_cover(float x, float every, float width, float blur) {
    float d = fabsf(x - every * roundf(x / every)), spread = 0.5f * (width + blur);
    return unit_clamp((spread + 0.5f * blur - d) / (blur + 1e-12f)) *
           min_of(1, width / (2 * spread)) * 1.0f;
}

static v3 floor_colour(const trace_job *job, const ray *r, float t, float travelled) {
    const world *w = &job->world;
    v3 x = ray_at(r, t), sun, size = w->stage->size;
    float sky, extent = max_of(size[0], size[2]);
    light_at(w, x[0], x[2], &sun, &sky);
    v3 paint = v3_set(0.66f, 0.66f, 0.645f) * (w->haze.ctx ? dusk : v3_splat(1));
    float foot = job->view.pixel * (travelled + t) / max_of(0.15f, -r->along[1]);
    float dx = x[0] - 0.5f * size[0], dz = x[2] - 0.5f * size[2];
    float off = max_of(fabsf(dx) - 0.5f * size[0], fabsf(dz) - 0.5f * size[2]);
    float width = 0.022f * job->line;
    float line =
        max_of(line_cover(x[0], job->line, width, foot), line_cover(x[2], job->line, width, foot));
    paint *= v3_splat(1 - 0.42f * line * (1 - smooth_step(-0.01f * extent, 0.02f * extent, off)));
    v3 light = sun * v3_set(0.66f, 0.64f, 0.60f) + v3_set(0.36f, 0.39f, 0.44f) * v3_splat(sky);
    float far = sqrtf(dx * dx + dz * dz) / extent;
    ray level_look = {r->from, v3_set(r->along[0], 0, r->along[2])};
    return v3_mix(paint * light, sky_colour(w, level_look.along), smooth_step(0.9f, 4.5f, far));
}

/* Matt surfaces: sun with shadow, sky from above, a little light back from the floor. */
static v3 matt_colour(const trace_job *job, v3 x, v3 n, v3 paint, float open) {
    const world *w = &job->world;
    float facing = v3_dot(n, w->sun), lit = 0;
    v3 sun = v3_splat(0);
    ray to_sun = {x + n * v3_splat(4 * w->tiny), w->sun};
    if (facing > 0 && !world_block(w, &to_sun, 0)) lit = facing;
    if (lit > 0) {
        hit face = world_face(w, &to_sun, 0, INFINITY, world_wet(w, to_sun.from));
        sun = face.met ? world_transmit(w, face.t) * v3_splat(0.8f) : v3_splat(1);
        sun *= v3_splat(haze_sun(&w->haze, x));
    }
    float up = 0.5f + 0.5f * n[1];
    v3 around =
        v3_mix(v3_set(0.30f, 0.29f, 0.27f), v3_set(0.42f, 0.47f, 0.54f), up) * v3_splat(open);
    return paint * (around + sun * v3_splat(lit) * v3_set(0.80f, 0.77f, 0.71f));
}

/* The sun mirrored in a skin that is smooth. */
static v3 shine(const world *w, v3 along, v3 n) {
    v3 mirrored = along - n * v3_splat(2 * v3_dot(along, n));
    float s = v3_dot(mirrored, w->sun);
    return v3_splat(s > 0 ? 0.35f * powf(s, 80) + 0.10f * powf(s, 12) : 0);
}

static v3 ball_colour(const trace_job *job, const ray *r, const hit *h) {
    const world *w = &job->world;
    const level *l = &w->matt;
    v3 x = ray_at(r, h->t), n = h->normal, smooth = w->smooth ? n : level_normal(l, x);
    if (v3_dot(smooth, smooth) > 0.5f && v3_dot(smooth, n) > -0.3f)
        n = v3_unit(n * v3_splat(0.3f) + smooth * v3_splat(0.7f));
    /* Hollows are darker: there the surface is near again a little way out. */
    float open = 1, step = 2 * l->cell;
    for (int k = 1; k <= 3; k++) {
        float d = (float)k * step, v = max_of(level_value(l, x + n * v3_splat(d)), 0);
        open -= 0.22f * unit_clamp(1 - v / min_of(d, l->outside));
    }
    rgb c = job->in->matt_colour[h->which];
    v3 off = w->smooth ? n * v3_splat(l->cell) : v3_splat(0);
    v3 colour = matt_colour(job, x + off, n, v3_set(c.r, c.g, c.b), max_of(open, 0.25f));
    return w->smooth ? colour + shine(w, r->along, n) : colour;
}

static v3 thing_colour(const trace_job *job, world_thing thing, const ray *r, const hit *h,
                       float travelled) {
    switch (thing) {
    case THING_FLOOR: return floor_colour(job, r, h->t, travelled);
    case THING_BALL: return ball_colour(job, r, h);
    case THING_COLLIDER: {
        v3 n = v3_dot(h->normal, r->along) > 0 ? -h->normal : h->normal, x = ray_at(r, h->t);
        v3 sun;
        float sky;
        light_at(&job->world, x[0], x[2], &sun, &sky);
        float low = unit_clamp(x[1] / (0.25f * job->world.stage->size[1]));
        return matt_colour(job, x, n, v3_set(0.52f, 0.52f, 0.53f),
                           low + (1 - low) * (0.4f + 0.6f * sky));
    }
    default: return sky_colour(&job->world, r->along);
    }
}

/* Light from the liquid itself: what the sun and sky leave in it on the way. */
static v3 liquid_glow(void) { return v3_set(0.008f, 0.085f, 0.185f); }

/* What a reflection shows; the liquid mirrored in itself is only its own colour. */
static v3 mirror_colour(const trace_job *job, const ray *r, float travelled) {
    hit h;
    world_thing thing = world_hit(&job->world, r, job->world.tiny, &h);
    if (world_face(&job->world, r, 2 * job->world.tiny, h.t, false).met)
        return v3_mix(liquid_glow(), sky_colour(&job->world, v3_set(0, 1, 0)), 0.35f);
    return thing_colour(job, thing, r, &h, travelled);
}

static v3 follow(const trace_job *job, ray r, float offset, float *depth) {
    const world *w = &job->world;
    v3 share = v3_splat(1), sum = v3_splat(0);
    bool inside = world_wet(w, r.from);
    float near = 0, travelled = 0;
    *depth = INFINITY;
    for (int k = 0; k < BOUNCES; k++) {
        hit end;
        world_thing thing = world_hit(w, &r, near, &end);
        hit face = world_face(w, &r, near, end.t, inside);
        /* Liquid that stands on the floor wets it: there is no surface between them. */
        if (face.met && inside && face.normal[1] < -0.99f && thing == THING_FLOOR) face.met = false;
        float t = face.met ? face.t : end.t;
        if (k == 0) *depth = t;
        if (inside) {
            v3 left = world_transmit(w, t);
            sum += share * (v3_splat(1) - left) * liquid_glow();
            share *= left;
        } else {
            haze_view smoke = haze_look(&w->haze, &r, near, t, offset);
            sum += share * smoke.light;
            share *= v3_splat(smoke.left);
            if (k == 0) *depth = min_of(*depth, smoke.depth);
        }
        if (!face.met) return sum + share * thing_colour(job, thing, &r, &end, travelled);
        travelled += t;
        v3 x = ray_at(&r, t), bent;
        float cosine = -v3_dot(r.along, face.normal);
        if (!inside && cosine > 0) {
            float mirrored = world_fresnel(cosine);
            if (k == 0 || mirrored > 0.08f) {
                ray up = {x, v3_unit(r.along + face.normal * v3_splat(2 * cosine))};
                sum += share * v3_splat(mirrored) * mirror_colour(job, &up, travelled);
            }
            share *= v3_splat(1 - mirrored);
        }
        if (world_refract(r.along, face.normal, inside, &bent)) inside = !inside;
        r = (ray){x, bent};
        near = w->tiny;
    }
    /* Light lost among many surfaces comes out white, as from spray. */
    return sum + share * v3_set(0.60f, 0.66f, 0.72f);
}

/* Highlights roll off instead of being cut. */
static float roll_off(float v) {
    return v < 0.75f ? v : 0.75f + 0.25f * (1 - expf(-(v - 0.75f) / 0.25f));
}

static rgb pixel_colour(const trace_job *job, float x, float y, float *depth) {
    /* Golden ratios spread the offsets evenly over neighbours (Roberts 2018). */
    float offset = fmodf(0.7548777f * x + 0.5698403f * y, 1);
    v3 c = follow(job, view_ray(&job->view, x, y), offset, depth);
    return (rgb){roll_off(c[0]), roll_off(c[1]), roll_off(c[2])};
}

static void first_rows(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    trace_job *job = data;
    int width = job->view.width;
    for (int64_t i = begin * width; i < end * width; i++)
        job->first[i] =
            pixel_colour(job, (float)(i % width) + 0.5f, (float)(i / width) + 0.5f, &job->depth[i]);
}

static float contrast(rgb a, rgb b) {
    return max_of(fabsf(sqrtf(a.r) - sqrtf(b.r)),
                  max_of(fabsf(sqrtf(a.g) - sqrtf(b.g)), fabsf(sqrtf(a.b) - sqrtf(b.b))));
}

/* More rays for pixels that differ from a neighbour, spread evenly (the R2 sequence, Roberts 2018).
 */
static void second_rows(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    trace_job *job = data;
    int width = job->view.width, height = job->view.height, samples = job->in->samples;
    for (int64_t i = begin * width; i < end * width; i++) {
        int x = (int)(i % width), y = (int)(i / width);
        const rgb *c = &job->first[i];
        float most = 0;
        if (x > 0) most = max_of(most, contrast(c[0], c[-1]));
        if (x + 1 < width) most = max_of(most, contrast(c[0], c[1]));
        if (y > 0) most = max_of(most, contrast(c[0], c[-width]));
        if (y + 1 < height) most = max_of(most, contrast(c[0], c[width]));
        rgb sum = *c;
        int taken = 1;
        for (; most > 0.07f && taken < samples; taken++) {
            float depth, dx = fmodf(0.5f + 0.7548777f * (float)taken, 1),
                         dy = fmodf(0.5f + 0.5698403f * (float)taken, 1);
            rgb more = pixel_colour(job, (float)x + dx, (float)y + dy, &depth);
            sum.r += more.r, sum.g += more.g, sum.b += more.b;
        }
        float s = 1 / (float)taken;
        job->out->pixels[i] = (rgb){sum.r * s, sum.g * s, sum.b * s};
    }
}

/* One edge of the domain, cut where it goes behind something: hidden stretches are fainter. */
static void draw_edge(trace_job *job, v3 from, v3 along) {
    enum { PIECES = 256 };
    const bool dusky = job->world.haze.ctx;
    const rgb pen = dusky ? (rgb){0.62f, 0.68f, 0.76f} : (rgb){0.10f, 0.13f, 0.17f};
    float begin[3], end[3];
    bool was_hidden = false, open = false;
    for (int k = 0; k <= PIECES; k++) {
        float p[3];
        bool seen = view_project(&job->view, from + along * v3_splat((float)k / PIECES), p),
             hidden = was_hidden;
        int x = seen ? (int)p[0] : -1, y = seen ? (int)p[1] : -1;
        if (x >= 0 && y >= 0 && x < job->view.width && y < job->view.height)
            hidden = job->depth[(int64_t)y * job->view.width + x] < 0.995f * p[2];
        if (open && (!seen || hidden != was_hidden || k == PIECES)) {
            const float *last = seen ? p : end;
            picture_line(job->out, begin[0], begin[1], last[0], last[1], 1.2, pen,
                         was_hidden ? 0.10f
                         : dusky    ? 0.35f
                                    : 0.42f);
            open = false;
        }
        if (seen && !open)
            for (int c = 0; c < 3; c++) begin[c] = p[c];
        for (int c = 0; c < 3 && seen; c++) end[c] = p[c];
        open = seen, was_hidden = hidden;
    }
}

static void draw_edges(trace_job *job) {
    v3 size = job->world.stage->size;
    for (int e = 0; e < 12; e++) {
        int axis = e / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
        v3 from = {0}, along = {0};
        from[u] = e & 1 ? size[u] : 0, from[v] = e & 2 ? size[v] : 0;
        along[axis] = size[axis];
        draw_edge(job, from, along);
    }
}

/* 1, 2 or 5 times a power of ten, so that a handful of lines cross the domain. */
static float line_distance(v3 size) {
    float want = max_of(size[0], size[2]) / 12, ten = powf(10, floorf(log10f(want))),
          m = want / ten;
    return ten * (m < 1.5f ? 1 : m < 3.5f ? 2 : m < 7.5f ? 5 : 10);
}

static spate_status prepare(spate_context *ctx, trace_job *job) {
    const trace_input *in = job->in;
    world *w = &job->world;
    v3 zero = v3_splat(0), size = in->stage->size;
    w->ctx = ctx, w->stage = in->stage;
    w->sun = v3_unit(v3_set(-0.45f, 0.95f, 0.38f));
    w->tiny = 1e-4f * v3_length(size);
    w->texels = 48 + job->view.width * 5 / 16;
    /* Clear in a thin sheet, blue through the whole of the domain. */
    w->absorb = v3_set(4.2f, 1.45f, 0.62f) * v3_splat(1 / cbrtf(size[0] * size[1] * size[2]));
    if (in->surface) TRY(facets_create(ctx, in->surface, size, &w->skin));
    if (in->surface && !w->skin && !in->liquid_count)
        return fail(ctx, SPATE_BAD_INPUT,
                    "this build has no Embree, without which a surface is drawn from particles "
                    "only; the scene needs output.particles: [vtp]");
    if (!w->skin)
        TRY(level_create(ctx, in->liquid, in->liquid_count, in->liquid_radius,
                         1.6f * in->liquid_radius, zero, size, &w->liquid));
    w->smooth = in->matt_smooth;
    float skin = in->matt_radius * (w->smooth ? 1.4f : 1);
    TRY(level_create(ctx, in->matt, in->matt_count, in->matt_radius, skin, v3_splat(-INFINITY),
                     v3_splat(INFINITY), &w->matt));
    TRY(balls_create(ctx, in->matt, in->matt_count, &w->balls));
    if (in->smoke.values) TRY(haze_create(ctx, &in->smoke, w->sun, !in->smoke_mapped, &w->haze));
    return light_create(w, in->liquid, in->liquid_count, in->matt, in->matt_count);
}

spate_status trace_picture(spate_context *ctx, const trace_input *in, picture *out) {
    trace_job job = {.in = in, .out = out, .view = stage_view(in->stage, out->width, out->height)};
    size_t pixels = (size_t)out->width * (size_t)out->height;
    job.line = line_distance(in->stage->size);
    job.first = take(ctx, pixels, sizeof *job.first);
    job.depth = take(ctx, pixels, sizeof *job.depth);
    spate_status status = job.first && job.depth ? prepare(ctx, &job) : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) {
        parallel_for(ctx->pool, out->height, 4, first_rows, &job);
        parallel_for(ctx->pool, out->height, 4, second_rows, &job);
        draw_edges(&job);
    }
    light_free(&job.world);
    balls_free(job.world.balls);
    haze_free(&job.world.haze);
    facets_free(job.world.skin);
    level_free(&job.world.liquid);
    level_free(&job.world.matt);
    give(ctx, job.first);
    give(ctx, job.depth);
    return status;
}
