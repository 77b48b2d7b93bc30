/*
 * Light on the floor. A photon is sent down to every texel of the map; water bends and tints it,
 * smoke dims it, all else stops it, and where it lands its energy is laid down: shadows and
 * caustics in one. How much of the sky a texel sees is estimated from the lowest thing above it,
 * spread by a wide blur.
 */
#include "core/threads.h"
#include "pictures/trace/world.h"
#include <string.h>

enum { INTERFACES = 6, STRAND_LAYERS = 12, SOFT_SUN = 4, SOFT_SKY = 10 };

typedef struct photon {
    float x, z; /* where it lands, in texels */
    v3 energy;
} photon;

typedef struct light_job {
    world *w;
    photon *photons;
} light_job;

static photon follow(const world *w, ray r) {
    photon p = {.energy = v3_splat(1)};
    bool inside = false;
    float near = 0;
    for (int k = 0; k < INTERFACES; k++) {
        hit end, face;
        world_thing thing = world_hit(w, &r, near, &end);
        for (int layers = 0; thing == THING_STRAND && layers < STRAND_LAYERS; layers++) {
            p.energy *= v3_splat(1 - strands_point(w->strands, &r, &end).cover);
            thing = world_hit(w, &r, strands_beyond(w->strands, &end), &end);
        }
        face = world_face(w, &r, near, end.t, inside);
        bool on_floor = face.met && inside && face.normal[1] < -0.99f && thing == THING_FLOOR;
        float t = face.met ? face.t : end.t;
        p.energy *= inside ? world_pass(w, &r, t, NULL)
                           : v3_splat(smoke_volume_left(&w->smoke, &r, near, t));
        if (!face.met || on_floor) {
            v3 x = ray_at(&r, end.t);
            p.x = x[0], p.z = x[2];
            if (thing != THING_FLOOR) p.energy = v3_splat(0);
            return p;
        }
        v3 bent;
        if (!inside) p.energy *= v3_splat(1 - world_fresnel(-v3_dot(r.along, face.normal)));
        if (world_refract(r.along, face.normal, inside, &bent)) inside = !inside;
        r = (ray){ray_at(&r, face.t), bent};
        near = w->tiny;
    }
    p.energy = v3_splat(0);
    return p;
}

static void send_photons(void *data, chunk items) {
    light_job *job = data;
    const world *w = job->w;
    const light_map *m = &w->light;
    float height = 1.2f * w->stage->size[1] + w->tiny;
    for (int64_t i = items.begin; i < items.end; i++) {
        v3 floor = v3_set(m->corner_x + ((float)(i % m->width) + 0.5f) * m->texel, 0,
                          m->corner_z + ((float)(i / m->width) + 0.5f) * m->texel);
        v3 from = floor + w->sun * v3_splat(height / w->sun[1]);
        photon p = follow(w, (ray){from, -w->sun});
        p.x = (p.x - m->corner_x) / m->texel - 0.5f, p.z = (p.z - m->corner_z) / m->texel - 0.5f;
        job->photons[i] = p;
    }
}

static void lay_down(light_map *m, const photon *photons) {
    for (int64_t i = 0; i < (int64_t)m->width * m->depth; i++) {
        const photon *p = &photons[i];
        if (!(p->x > -1 && p->z > -1 && p->x < (float)m->width && p->z < (float)m->depth)) continue;
        int x = (int)floorf(p->x), z = (int)floorf(p->z);
        float fx = p->x - (float)x, fz = p->z - (float)z;
        for (int k = 0; k < 4; k++) {
            int tx = x + (k & 1), tz = z + (k >> 1);
            if (tx < 0 || tz < 0 || tx >= m->width || tz >= m->depth) continue;
            float share = (k & 1 ? fx : 1 - fx) * (k >> 1 ? fz : 1 - fz);
            m->sun[(int64_t)tz * m->width + tx] += p->energy * v3_splat(share);
        }
    }
}

/* The least height of anything over a texel becomes how much it hides of the sky. */
static void cover_sky(world *w, const v3 *points, int64_t count, float strength) {
    light_map *m = &w->light;
    float scale = 0.18f * w->stage->size[1] + 4 * m->texel;
    for (int64_t i = 0; i < count; i++) {
        int x = (int)((points[i][0] - m->corner_x) / m->texel),
            z = (int)((points[i][2] - m->corner_z) / m->texel);
        if (x < 0 || z < 0 || x >= m->width || z >= m->depth) continue;
        float h = max_of(points[i][1], 0) / scale, hidden = strength / (1 + h * h);
        float *sky = &m->sky[(int64_t)z * m->width + x];
        if (1 - hidden < *sky) *sky = 1 - hidden;
    }
}

static void cover_colliders(void *data, chunk items) {
    world *w = ((light_job *)data)->w;
    light_map *m = &w->light;
    float scale = 0.18f * w->stage->size[1] + 4 * m->texel;
    for (int64_t i = items.begin; i < items.end; i++) {
        ray up = {v3_set(m->corner_x + ((float)(i % m->width) + 0.5f) * m->texel, -w->tiny,
                         m->corner_z + ((float)(i / m->width) + 0.5f) * m->texel),
                  {0, 1, 0, 0}};
        hit h = stage_hit(w->stage, &up, 0, INFINITY);
        if (h.met) m->sky[i] = min_of(m->sky[i], 1 - 0.75f / (1 + h.t * h.t / (scale * scale)));
    }
}

static void cover_haze(void *data, chunk items) {
    world *w = ((light_job *)data)->w;
    light_map *m = &w->light;
    for (int64_t i = items.begin; i < items.end; i++) {
        ray up = {v3_set(m->corner_x + ((float)(i % m->width) + 0.5f) * m->texel, 0,
                         m->corner_z + ((float)(i / m->width) + 0.5f) * m->texel),
                  {0, 1, 0, 0}};
        m->sky[i] *= 1 - 0.6f * (1 - smoke_volume_left(&w->smoke, &up, 0, INFINITY));
    }
}

/* One pass of (1 2 1) / 4 along both axes with a stride; what lies beyond the border is open floor.
 */
static void blur(float *values, int lanes, int width, int depth, int stride, float *temporary) {
    int64_t count = (int64_t)width * depth * lanes;
    for (int axis = 0; axis < 2; axis++) {
        memcpy(temporary, values, (size_t)count * sizeof *values);
        int64_t step = (int64_t)lanes * (axis ? width : 1) * stride;
        for (int z = 0; z < depth; z++)
            for (int x = 0; x < width; x++) {
                int at = axis ? z : x, size = axis ? depth : width;
                int64_t i = ((int64_t)z * width + x) * lanes;
                for (int c = 0; c < lanes; c++) {
                    float a = at >= stride ? temporary[i + c - step] : 1;
                    float b = at + stride < size ? temporary[i + c + step] : 1;
                    values[i + c] = 0.25f * (a + b) + 0.5f * temporary[i + c];
                }
            }
    }
}

static void place_map(world *w) {
    light_map *m = &w->light;
    v3 size = w->stage->size;
    /* The domain's own floor, where its shadow falls, and some room for the blur. */
    float fall_x = -w->sun[0] / w->sun[1] * size[1], fall_z = -w->sun[2] / w->sun[1] * size[1];
    float room = 0.12f * max_of(size[0], size[2]);
    m->corner_x = min_of(fall_x, 0) - room, m->corner_z = min_of(fall_z, 0) - room;
    float wide = size[0] + fabsf(fall_x) + 2 * room, deep = size[2] + fabsf(fall_z) + 2 * room;
    m->texel = max_of(wide, deep) / (float)w->texels;
    m->width = 1 + (int)(wide / m->texel), m->depth = 1 + (int)(deep / m->texel);
}

spate_status light_create(world *w, const batches *c, const mesh_parts *parts) {
    light_map *m = &w->light;
    place_map(w);
    int64_t count = (int64_t)m->width * m->depth;
    light_job job = {w, take(w->ctx, (size_t)count, sizeof *job.photons)};
    m->sun = take(w->ctx, (size_t)count, sizeof *m->sun);
    m->sky = take(w->ctx, (size_t)count, sizeof *m->sky);
    if (!job.photons || !m->sun || !m->sky) {
        give(w->ctx, job.photons);
        return SPATE_OUT_OF_MEMORY;
    }
    parallel_for(w->ctx->pool, count, 1024, send_photons, &job);
    lay_down(m, job.photons);
    for (int64_t i = 0; i < count; i++) m->sky[i] = 1;
    for (int k = 0; c && k < c->count; k++)
        cover_sky(w, c->list[k].centers, c->list[k].count,
                  c->list[k].look == LOOK_SURFACE ? 0.35f : 0.75f);
    if (parts) cover_sky(w, parts->vertices, parts->vertex_count, 0.5f);
    if (w->stage->collider_count) parallel_for(w->ctx->pool, count, 1024, cover_colliders, &job);
    if (w->smoke.ctx) parallel_for(w->ctx->pool, count, 1024, cover_haze, &job);
    float *temporary = (float *)job.photons; /* the photons have landed */
    for (int k = 0; k < SOFT_SUN; k++) blur((float *)m->sun, 4, m->width, m->depth, 1, temporary);
    for (int k = 1; k <= SOFT_SKY; k++) blur(m->sky, 1, m->width, m->depth, k, temporary);
    give(w->ctx, job.photons);
    return SPATE_OK;
}

void light_free(world *w) {
    if (!w->ctx) return;
    give(w->ctx, w->light.sun);
    give(w->ctx, w->light.sky);
    w->light = (light_map){0};
}

void light_at(const world *w, float x, float z, v3 *sun, float *sky) {
    const light_map *m = &w->light;
    *sun = v3_splat(1), *sky = 1;
    float gx = (x - m->corner_x) / m->texel - 0.5f, gz = (z - m->corner_z) / m->texel - 0.5f;
    if (!(gx >= 0 && gz >= 0 && gx < (float)(m->width - 1) && gz < (float)(m->depth - 1))) return;
    int ix = (int)gx, iz = (int)gz;
    float fx = gx - (float)ix, fz = gz - (float)iz;
    const v3 *s = m->sun + (int64_t)iz * m->width + ix;
    const float *k = m->sky + (int64_t)iz * m->width + ix;
    *sun = v3_mix(v3_mix(s[0], s[1], fx), v3_mix(s[m->width], s[m->width + 1], fx), fz);
    float near = k[0] + (k[1] - k[0]) * fx,
          far = k[m->width] + (k[m->width + 1] - k[m->width]) * fx;
    *sky = near + (far - near) * fz;
}
