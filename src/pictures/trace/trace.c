/*
 * The picture: one ray a pixel, then more where neighbours differ. A ray goes on through the
 * liquid, bent at every surface and tinted by its way inside (Beer-Lambert), until it meets
 * something matt.
 */
#include "pictures/trace/trace.h"
#include "core/threads.h"
#include "pictures/trace/shading.h"

typedef struct trace_job {
    world world;
    const trace_input *in;
    view view;
    picture *out;
    rgb *first;   /* the picture with one ray a pixel */
    float *depth; /* how far the first thing is */
} trace_job;

enum { BOUNCES = 6, STRAND_LAYERS = 32, ROWS_A_CHUNK = 4 };

/* How far the surfaces of liquids and skins are from the outermost particles, in half spacings. */
static const float liquid_radius = 1.6f, skin_radius = 1.4f;
/* A reflection below this share is seen at the first surface only. */
static const float least_mirrored = 0.08f;
/* A surface that looks this much down upon the floor lies on it. */
static const float downward = -0.99f;
/* What is behind strands that leave less than this is not looked for. */
static const float least_seen = 0.03f;
/* Light lost among many surfaces comes out white, as from spray. */
static const v3 spray = {0.60f, 0.66f, 0.72f, 0};
/* How much the colours of neighbours differ where more rays are wanted. */
static const float edge_contrast = 0.07f;
/* The R2 sequence, which spreads offsets evenly over the plane (Roberts 2018). */
static const float r2_x = 0.7548777f, r2_y = 0.5698403f;

/* What the liquid's surface mirrors where a ray comes upon it from outside; *mirrored is its
 * share. */
static v3 reflection(const world *w, const ray *r, const hit *face, shading_path path, bool first,
                     float *mirrored) {
    const float cosine = -v3_dot(r->along, face->normal);
    *mirrored = cosine > 0 ? world_fresnel(cosine) : 0;
    if (!(cosine > 0) || !(first || *mirrored > least_mirrored)) return v3_splat(0);
    const ray up = {ray_at(r, face->t), v3_unit(r->along + face->normal * v3_splat(2 * cosine))};
    return shading_mirror(w, &up, path);
}

static v3 follow(const trace_job *job, ray r, float offset, float *depth) {
    const world *w = &job->world;
    v3 share = v3_splat(1), sum = v3_splat(0);
    bool inside = world_wet(w, r.from);
    float near = 0, travelled = 0;
    *depth = INFINITY;
    for (int k = 0, layers = 0; k < BOUNCES; k++) {
        hit end;
        world_thing thing = world_hit(w, &r, near, &end);
        hit face = world_face(w, &r, near, end.t, inside);
        /* Liquid that stands on the floor wets it: there is no surface between them. */
        if (face.met && inside && face.normal[1] < downward && thing == THING_FLOOR)
            face.met = false;
        float t = face.met ? face.t : end.t;
        if (k == 0) *depth = t;
        if (inside) {
            v3 glow = {0}, left = world_pass(w, &r, t, &glow);
            sum += share * glow;
            share *= left;
        } else {
            smoke_view smoke = smoke_volume_look(&w->smoke, &r, near, t, offset);
            sum += share * smoke.light;
            share *= v3_splat(smoke.left);
            if (k == 0) *depth = min_of(*depth, smoke.depth);
        }
        /* Thin strands hide a share of what is behind them. */
        const float cover = !face.met && thing == THING_STRAND && layers < STRAND_LAYERS
                                ? strands_point(w->strands, &r, &end).cover
                                : 1;
        if (cover < 1) {
            const shading_path way = {.length = travelled};
            sum += share * v3_splat(cover) * shading_thing(w, thing, &r, &end, way);
            share *= v3_splat(1 - cover);
            near = strands_beyond(w->strands, &end);
            if (k == 0 && layers) *depth = min_of(*depth, end.t);
            k--, layers++;
            if (share[0] + share[1] + share[2] < least_seen) return sum;
            continue;
        }
        if (!face.met)
            return sum +
                   share * shading_thing(w, thing, &r, &end, (shading_path){.length = travelled});
        travelled += t;
        v3 x = ray_at(&r, t), bent;
        if (!inside) {
            float mirrored;
            v3 seen =
                reflection(w, &r, &face, (shading_path){.length = travelled}, k == 0, &mirrored);
            sum += share * v3_splat(mirrored) * seen;
            share *= v3_splat(1 - mirrored);
        }
        if (world_refract(r.along, face.normal, inside, &bent)) inside = !inside;
        r = (ray){x, bent};
        near = w->tiny;
    }
    return sum + share * spray;
}

/* Highlights roll off instead of being cut. */
static float roll_off(float v) {
    const float knee = 0.75f, room = 0.25f;
    return v < knee ? v : knee + room * (1 - expf(-(v - knee) / room));
}

static rgb pixel_colour(const trace_job *job, float x, float y, float *depth) {
    float offset = fmodf(r2_x * x + r2_y * y, 1);
    v3 c = follow(job, view_ray(&job->view, x, y), offset, depth);
    return (rgb){roll_off(c[0]), roll_off(c[1]), roll_off(c[2])};
}

static void first_rows(void *data, chunk items) {
    trace_job *job = data;
    int width = job->view.width;
    for (int64_t i = items.begin * width; i < items.end * width; i++)
        job->first[i] =
            pixel_colour(job, (float)(i % width) + 0.5f, (float)(i / width) + 0.5f, &job->depth[i]);
}

static float contrast(rgb a, rgb b) {
    return max_of(fabsf(sqrtf(a.r) - sqrtf(b.r)),
                  max_of(fabsf(sqrtf(a.g) - sqrtf(b.g)), fabsf(sqrtf(a.b) - sqrtf(b.b))));
}

/* More rays for pixels that differ from a neighbour, spread evenly. */
static void second_rows(void *data, chunk items) {
    trace_job *job = data;
    int width = job->view.width, height = job->view.height, samples = job->in->samples;
    for (int64_t i = items.begin * width; i < items.end * width; i++) {
        int x = (int)(i % width), y = (int)(i / width);
        const rgb *c = &job->first[i];
        float most = 0;
        if (x > 0) most = max_of(most, contrast(c[0], c[-1]));
        if (x + 1 < width) most = max_of(most, contrast(c[0], c[1]));
        if (y > 0) most = max_of(most, contrast(c[0], c[-width]));
        if (y + 1 < height) most = max_of(most, contrast(c[0], c[width]));
        rgb sum = *c;
        int taken = 1;
        for (; most > edge_contrast && taken < samples; taken++) {
            float depth, dx = fmodf(0.5f + r2_x * (float)taken, 1),
                         dy = fmodf(0.5f + r2_y * (float)taken, 1);
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
    const bool dusky = job->world.smoke.ctx;
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
            picture_line(job->out, (picture_ends){begin[0], begin[1], last[0], last[1]}, 1.2, pen,
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

/* The surface of a liquid that the domain's walls hold, with its drops. */
static spate_status fill(world *w, const batch *c, level_set *out) {
    return level_set_create(w->ctx, &(level_set_particles){c->centers, c->count, c->radius},
                            liquid_radius * c->radius, (v3[]){v3_splat(0), w->stage->size}, out);
}

static spate_status prepare_liquid(world *w, const trace_input *in) {
    const batch *c = in->batches ? batches_find(in->batches, LOOK_SURFACE) : NULL;
    const v3 size = in->stage->size;
    if (in->surface) TRY(triangles_create(w->ctx, in->surface, size, &w->face));
    if (in->surface && !w->face && !c)
        return fail(w->ctx, SPATE_BAD_INPUT,
                    "this build has no Embree, without which a surface is drawn from particles "
                    "only; the scene needs output.particles: [vtp]");
    if (!c) {
        if (in->batches) w->liquid_colours.colours = &in->batches->clear;
        return SPATE_OK;
    }
    if (!w->face || colours_differ(c->colours, c->count)) TRY(fill(w, c, &w->liquid));
    return colour_field_create(&w->liquid, c->centers, c->colours, c->count, &w->liquid_colours);
}

/* A smooth surface around particles that no wall holds. */
static spate_status wrap(world *w, const batch *c, float radius, level_set *out) {
    v3 everywhere[2];
    level_set_no_box(everywhere);
    return level_set_create(w->ctx, &(level_set_particles){c->centers, c->count, c->radius}, radius,
                            everywhere, out);
}

static spate_status prepare_grains(world *w, const batches *all) {
    w->grains = all ? batches_find(all, LOOK_GRAINS) : NULL;
    if (w->grains) TRY(wrap(w, w->grains, w->grains->radius, &w->heap));
    return spheres_create(w->ctx, w->grains ? w->grains->centers : NULL,
                          w->grains ? w->grains->count : 0, &w->spheres);
}

static spate_status prepare_skins(world *w, const batches *all) {
    const int count = all ? all->count : 0;
    w->skins = take(w->ctx, (size_t)count + 1, sizeof *w->skins);
    if (!w->skins) return SPATE_OUT_OF_MEMORY;
    for (int k = 0; k < count; k++) {
        const batch *c = &all->list[k];
        if (c->look != LOOK_SKIN || !c->count) continue;
        world_skin *s = &w->skins[w->skin_count++];
        s->finish = c->finish;
        TRY(c->flows ? fill(w, c, &s->level_set)
                     : wrap(w, c, skin_radius * c->radius, &s->level_set));
        TRY(colour_field_create(&s->level_set, c->centers, c->colours, c->count, &s->colours));
    }
    return SPATE_OK;
}

static spate_status prepare(spate_context *ctx, trace_job *job) {
    const trace_input *in = job->in;
    world *w = &job->world;
    v3 size = in->stage->size;
    w->ctx = ctx, w->stage = in->stage;
    w->sun = v3_unit(v3_set(-0.45f, 0.95f, 0.38f));
    w->tiny = 1e-4f * v3_length(size);
    w->texels = 48 + job->view.width * 5 / 16;
    /* Clear in a thin sheet, of its colour through the whole of the domain. */
    w->depth = cbrtf(size[0] * size[1] * size[2]);
    TRY(prepare_liquid(w, in));
    TRY(prepare_grains(w, in->batches));
    TRY(prepare_skins(w, in->batches));
    if (in->meshes) TRY(meshes_create(ctx, in->meshes, false, &w->meshes));
    if (in->meshes) TRY(strands_create(ctx, in->meshes, &job->view, w->sun, false, &w->strands));
    if (in->smoke.values)
        TRY(smoke_volume_create(ctx, &in->smoke, w->sun, !in->smoke_mapped, &w->smoke));
    return light_create(w, in->batches, in->meshes);
}

static void free_world(world *w) {
    light_free(w);
    spheres_free(w->spheres);
    meshes_free(w->meshes);
    strands_free(w->strands);
    smoke_volume_free(&w->smoke);
    triangles_free(w->face);
    level_set_free(&w->liquid);
    colour_field_free(&w->liquid_colours);
    level_set_free(&w->heap);
    for (int i = 0; i < w->skin_count; i++) {
        level_set_free(&w->skins[i].level_set);
        colour_field_free(&w->skins[i].colours);
    }
    if (w->ctx) give(w->ctx, w->skins);
}

spate_status trace_picture(spate_context *ctx, const trace_input *in, picture *out) {
    trace_job job = {.in = in, .out = out, .view = stage_view(in->stage, out->width, out->height)};
    size_t pixels = (size_t)out->width * (size_t)out->height;
    job.world.line = line_distance(in->stage->size);
    job.world.pixel = job.view.pixel;
    job.first = take(ctx, pixels, sizeof *job.first);
    job.depth = take(ctx, pixels, sizeof *job.depth);
    spate_status status = job.first && job.depth ? prepare(ctx, &job) : SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) {
        parallel_for(ctx->pool, out->height, ROWS_A_CHUNK, first_rows, &job);
        parallel_for(ctx->pool, out->height, ROWS_A_CHUNK, second_rows, &job);
        draw_edges(&job);
    }
    free_world(&job.world);
    give(ctx, job.first);
    give(ctx, job.depth);
    return status;
}
