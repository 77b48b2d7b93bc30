/* Colours of floor, sky, grains, skins and colliders. */
#include "pictures/trace/shading.h"
#include "core/random.h"

enum { MIRRORS = 2 };

/* Smoke stands out against a darker floor and sky. */
static const v3 dusk = {0.17f, 0.20f, 0.26f, 0};

/* The sky, from the horizon up, and how fast it changes; the sun in it. */
static const v3 horizon = {0.62f, 0.68f, 0.75f, 0}, zenith = {0.15f, 0.30f, 0.54f, 0};
static const float sky_rise = 2.2f;
static const v3 sun_disc = {1, 0.97f, 0.92f, 0};

/* The floor, its lines, and the light on it. */
static const v3 floor_paint = {0.66f, 0.66f, 0.645f, 0};
static const v3 sun_on_floor = {0.66f, 0.64f, 0.60f, 0}, sky_on_floor = {0.36f, 0.39f, 0.44f, 0};
static const float line_ink = 0.42f, flattest = 0.15f; /* slope at which lines stop to blur more */

/* The light on matt things. */
static const v3 light_from_below = {0.30f, 0.29f, 0.27f, 0},
                light_from_above = {0.42f, 0.47f, 0.54f, 0}, sun_light = {0.80f, 0.77f, 0.71f, 0};

v3 shading_sky(const world *w, v3 along) {
    float up = along[1] > 0 ? along[1] : 0;
    v3 sky = v3_mix(horizon, zenith, 1 - expf(-sky_rise * up));
    /* The sun as a soft box: what glints on water. */
    const float s = v3_dot(along, w->sun);
    const float halo = smooth_step(0.80f, 1.0f, s), disc = smooth_step(0.982f, 0.992f, s);
    const float glow = 1.1f * halo + 14 * disc;
    sky += sun_disc * v3_splat(up > 0 ? glow : 0);
    return w->smoke.ctx ? sky * dusk : sky;
}

/* How much of a thin line, repeated every `every`, covers a stretch `blur` wide at x. */
static float line_cover(float x, float every, float width, float blur) {
    float d = fabsf(x - every * roundf(x / every)), spread = 0.5f * (width + blur);
    return unit_clamp((spread + 0.5f * blur - d) / (blur + 1e-12f)) *
           min_of(1, width / (2 * spread)) * 1.0f;
}

static v3 floor_colour(const world *w, const ray *r, float t, float travelled) {
    v3 x = ray_at(r, t), sun, size = w->stage->size;
    float sky, extent = max_of(size[0], size[2]);
    light_at(w, x[0], x[2], &sun, &sky);
    v3 paint = floor_paint * (w->smoke.ctx ? dusk : v3_splat(1));
    float foot = w->pixel * (travelled + t) / max_of(flattest, -r->along[1]);
    float dx = x[0] - 0.5f * size[0], dz = x[2] - 0.5f * size[2];
    float off = max_of(fabsf(dx) - 0.5f * size[0], fabsf(dz) - 0.5f * size[2]);
    const float width = 0.022f * w->line;
    float line =
        max_of(line_cover(x[0], w->line, width, foot), line_cover(x[2], w->line, width, foot));
    const float fade =
        smooth_step(-0.01f * extent, 0.02f * extent, off); /* lines end at the domain */
    paint *= v3_splat(1 - line_ink * line * (1 - fade));
    v3 light = sun * sun_on_floor + sky_on_floor * v3_splat(sky);
    float far = sqrtf(dx * dx + dz * dz) / extent;
    const v3 horizontal = v3_set(r->along[0], 0, r->along[2]);
    const float haze = smooth_step(0.9f, 4.5f, far); /* far floor becomes sky */
    return v3_mix(paint * light, shading_sky(w, horizontal), haze);
}

v3 shading_sunlight(void) { return sun_light; }

v3 shading_sun(const world *w, v3 x) {
    const ray to_sun = {x, w->sun};
    if (world_block(w, &to_sun, 0)) return v3_splat(0);
    const float left = w->strands ? strands_left(w->strands, &to_sun, 0, INFINITY) : 1;
    const hit face = world_face(w, &to_sun, 0, INFINITY, world_wet(w, x));
    const v3 sun = face.met ? world_pass(w, &to_sun, face.t, NULL) * v3_splat(0.8f) : v3_splat(1);
    return sun * sun_light * v3_splat(left * smoke_volume_sun(&w->smoke, x));
}

v3 shading_around(v3 n) { return v3_mix(light_from_below, light_from_above, 0.5f + 0.5f * n[1]); }

v3 shading_matt(const world *w, v3 x, v3 n, v3 paint, float open) {
    const float facing = v3_dot(n, w->sun);
    v3 sun = v3_splat(0);
    if (facing > 0) sun = shading_sun(w, x + n * v3_splat(4 * w->tiny)) * v3_splat(facing);
    return paint * (shading_around(n) * v3_splat(open) + sun);
}

static v3 mirror(v3 along, v3 n) { return along - n * v3_splat(2 * v3_dot(along, n)); }

v3 shading_shine(const world *w, v3 along, v3 n) {
    float s = v3_dot(mirror(along, n), w->sun);
    return v3_splat(s > 0 ? 0.35f * powf(s, 80) + 0.10f * powf(s, 12) : 0);
}

/* The liquid mirrored in itself is only its own colour. */
v3 shading_mirror(const world *w, const ray *r, shading_path way) {
    hit h;
    world_thing thing = world_hit(w, r, w->tiny, &h);
    hit face = world_face(w, r, 2 * w->tiny, h.t, false);
    if (face.met)
        return v3_mix(world_glow(colour_field_at(&w->liquid_colours, ray_at(r, face.t))),
                      shading_sky(w, v3_set(0, 1, 0)), 0.35f);
    return shading_thing(w, thing, r, &h, way);
}

/* The normal of one of the faces that a grain has, wherever it is met. */
static v3 break_stone(const batch *grains, v3 x, int which, v3 n) {
    const float fineness = 1.6f, depth = 0.9f; /* faces a radius; how far they tilt */
    const v3 center = grains->centers[which];
    const uint64_t own = (uint64_t)(grains->colours[which][3] * 0x1p24f);
    uint64_t key = 0;
    for (int a = 0; a < 3; a++) {
        const float turn = (float)random_unit(3, own, (uint64_t)a);
        const int step = (int)floorf(fineness * (x[a] - center[a]) / center[3] + turn);
        key = key * 8 + (uint64_t)(step + 4);
    }
    v3 tilt = {0};
    for (int a = 0; a < 3; a++) tilt[a] = (float)random_unit(key, own, (uint64_t)a) - 0.5f;
    return v3_unit(n + tilt * v3_splat(depth));
}

static v3 grain_colour(const world *w, const ray *r, const hit *h) {
    v3 x = ray_at(r, h->t), n = h->normal, smooth = level_set_normal(&w->heap, x);
    if (v3_dot(smooth, smooth) > 0.5f && v3_dot(smooth, n) > -0.3f)
        n = v3_unit(n * v3_splat(0.3f) + smooth * v3_splat(0.7f));
    const v3 paint = w->grains->colours[h->which] * v3_splat(1);
    const float open = world_open(w, x, n, 2 * w->heap.cell);
    if (w->grains->rough) n = break_stone(w->grains, x, h->which, n);
    return shading_matt(w, x, n, paint, open);
}

/* A point of a skin that a ray meets. */
typedef struct spot {
    const world_skin *skin;
    v3 x, n, paint, matt; /* matt: its colour under sun and sky */
    float cosine;         /* between the normal and the way back */
} spot;

/* Mirrors in its own colour, all colours at grazing angles, and is hardly anything besides. */
static v3 metal_colour(const world *w, const ray *r, const spot *s, shading_path way) {
    const v3 along = v3_unit(mirror(r->along, s->n));
    const ray up = {s->x + s->n * v3_splat(s->skin->level_set.cell), along};
    const v3 seen = way.turns < MIRRORS
                        ? shading_mirror(w, &up, (shading_path){way.length, way.turns + 1})
                        : shading_sky(w, along);
    const v3 share = s->paint + (v3_splat(1) - s->paint) * v3_splat(world_fresnel(s->cosine));
    return share * seen * v3_splat(0.8f) + s->matt * v3_splat(0.2f) +
           shading_shine(w, r->along, s->n);
}

/* Shows through what is behind, tinted, and what light is lost in it. Jelly is cloudy: only through
 * thin parts is anything seen; a clear one would show the shadows and edges behind it as blotches.
 * */
static v3 jelly_colour(const world *w, const ray *r, const spot *s, shading_path way) {
    const float clearest = 0.5f, cloudy = 0.1f * w->depth;
    const level_set *l = &s->skin->level_set;
    v3 bent;
    world_refract(r->along, s->n, false, &bent);
    const ray in = {s->x - s->n * v3_splat(0.5f * l->cell), bent};
    const hit out = level_set_cross(l, &in, 0, INFINITY, true);
    if (!out.met || way.turns >= MIRRORS) return s->matt + shading_shine(w, r->along, s->n);
    const ray on = {ray_at(&in, out.t + l->cell), r->along};
    hit h;
    world_thing thing = world_hit(w, &on, 0, &h);
    const v3 behind =
        shading_thing(w, thing, &on, &h, (shading_path){way.length + out.t + h.t, way.turns + 1});
    const v3 absorbed = world_absorption(s->paint, 0.35f * w->depth);
    const v3 left =
        v3_set(expf(-absorbed[0] * out.t), expf(-absorbed[1] * out.t), expf(-absorbed[2] * out.t));
    const v3 mirrored = shading_sky(w, mirror(r->along, s->n));
    const v3 inside = v3_mix(s->matt, left * behind, clearest * expf(-out.t / cloudy));
    return v3_mix(inside, mirrored, 0.5f * world_fresnel(s->cosine)) +
           shading_shine(w, r->along, s->n);
}

static v3 skin_colour(const world *w, const ray *r, const hit *h, shading_path way) {
    const world_skin *skin = &w->skins[h->which];
    const float cell = skin->level_set.cell;
    spot s = {.skin = skin, .x = ray_at(r, h->t), .n = h->normal};
    s.paint = colour_field_at(&skin->colours, s.x) * v3_splat(1);
    s.cosine = -v3_dot(r->along, s.n);
    s.matt = shading_matt(w, s.x + s.n * v3_splat(cell), s.n, s.paint,
                          world_open(w, s.x, s.n, 2 * cell));
    switch (skin->finish) {
    case FINISH_METAL: return metal_colour(w, r, &s, way);
    case FINISH_JELLY: return jelly_colour(w, r, &s, way);
    case FINISH_GLOSS: return s.matt + shading_shine(w, r->along, s.n);
    default: return s.matt;
    }
}

static v3 collider_colour(const world *w, const ray *r, const hit *h) {
    const rgb paint = w->stage->colliders[h->which].colour;
    v3 n = v3_dot(h->normal, r->along) > 0 ? -h->normal : h->normal, x = ray_at(r, h->t), sun;
    float sky, low = unit_clamp(x[1] / (0.25f * w->stage->size[1]));
    light_at(w, x[0], x[2], &sun, &sky);
    return shading_matt(w, x, n, v3_set(paint.r, paint.g, paint.b),
                        low + (1 - low) * (0.4f + 0.6f * sky));
}

v3 shading_thing(const world *w, world_thing thing, const ray *r, const hit *h, shading_path way) {
    switch (thing) {
    case THING_MESH: return shading_mesh(w, r, h);
    case THING_STRAND: return shading_strand(w, r, h, way);
    case THING_FLOOR: return floor_colour(w, r, h->t, way.length);
    case THING_GRAIN: return grain_colour(w, r, h);
    case THING_SKIN: return skin_colour(w, r, h, way);
    case THING_COLLIDER: return collider_colour(w, r, h);
    default: return shading_sky(w, r->along);
    }
}
