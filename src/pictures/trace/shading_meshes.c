/* Colours of cloth, skins of finite elements and strands. */
#include "pictures/trace/shading.h"

/* ---- Triangles -------------------------------------------------------------------------------- */

/* Directions spread over the sphere (Fibonacci), and how much what is near them hides. */
enum { DIRECTIONS = 40 };
static const float golden_angle = 2.3999632f, hiding = 0.85f;
/* The back of a cloth is darker and greyer; this share of the light behind a cloth comes through. */
static const float back_share = 0.62f, back_grey = 0.25f, through = 0.16f;
/* Fibres that stand off a cloth catch the light at its edges. */
static const float sheen = 0.22f;

/* How open it is above a point: what meshes leave of its half of the sky. */
static float open_above(const world *w, v3 x, const mesh_point *p) {
    const float reach = meshes_reach(w->meshes);
    float hidden = 0, all = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        const float up = 1 - (2 * (float)k + 1) / DIRECTIONS, flat = sqrtf(1 - up * up),
                    turn = golden_angle * (float)k;
        const ray r = {x, v3_set(flat * cosf(turn), up, flat * sinf(turn))};
        const float cosine = v3_dot(r.along, p->normal);
        if (!(cosine > 0)) continue;
        all += cosine;
        if (v3_dot(r.along, p->flat) <= 0) continue;
        const hit h = meshes_hit(w->meshes, &r, 0, reach);
        if (h.met) hidden += cosine * (1 - h.t / reach);
    }
    return all > 0 ? 1 - hiding * hidden / all : 1;
}

static v3 cloth_colour(const world *w, const ray *r, const mesh_point *p, v3 x, float open) {
    const float grey = (p->colour[0] + p->colour[1] + p->colour[2]) / 3;
    const v3 behind = v3_mix(p->colour, v3_splat(grey), back_grey) * v3_splat(back_share);
    const v3 paint = p->back && !p->mapped ? behind : p->colour;
    v3 out = shading_matt(w, x, p->normal, paint, open);
    const float facing = -v3_dot(p->normal, w->sun);
    if (facing > 0) {
        const v3 other = x - p->flat * v3_splat(8 * w->tiny);
        out += paint * paint * shading_sun(w, other) * v3_splat(through * facing);
    }
    const float edge = 1 + v3_dot(r->along, p->normal), edge2 = edge * edge;
    return out + paint * shading_around(p->normal) * v3_splat(sheen * open * edge2 * edge2);
}

v3 shading_mesh(const world *w, const ray *r, const hit *h) {
    const mesh_point p = meshes_point(w->meshes, r, h);
    const v3 x = ray_at(r, h->t) + p.flat * v3_splat(4 * w->tiny);
    /* Bright sky around the sun gives things in the shade a shape. */
    const float sunward = 0.78f + 0.32f * (0.5f + 0.5f * v3_dot(p.normal, w->sun));
    const float open = sunward * open_above(w, x, &p) * world_open(w, x, p.normal, 20 * w->tiny);
    if (p.cloth) return cloth_colour(w, r, &p, x, open);
    return shading_matt(w, x, p.normal, p.colour, open) + shading_shine(w, r->along, p.normal);
}

/* ---- Strands ---------------------------------------------------------------------------------- */

/* Hair (after Kajiya and Kay 1989 and Marschner et al. 2003): light that its surface mirrors, white
 * and towards the root; light that was inside and comes back, in its colour and towards the tip;
 * light that comes through. Tilts and widths in radians. */
static const float mirror_tilt = -0.09f, mirror_width = 0.11f, mirror_share = 0.30f;
static const float inner_tilt = 0.14f, inner_width = 0.22f, inner_share = 0.85f;
static const float passing_width = 0.20f, passing_share = 0.55f;
/* From this many pixels on a strand is a rope, not hair; from the second entirely. */
static const float hair_pixels = 3, rope_pixels = 9;

static float bell(float x, float width) { return expf(-0.5f * x * x / (width * width)); }

static v3 across(v3 along, v3 tangent) {
    return v3_unit(along - tangent * v3_splat(v3_dot(along, tangent)));
}

static float angle_of(float sine) { return asinf(max_of(min_of(sine, 1), -1)); }

/* What a hair sends to the eye of a light from direction `to`, unit strength. */
static v3 hair_light(const strand_point *p, v3 eye, v3 to) {
    const float incline_to = angle_of(v3_dot(p->tangent, to)),
                incline_eye = angle_of(v3_dot(p->tangent, eye)),
                half = 0.5f * (incline_to + incline_eye);
    const float round = v3_dot(across(to, p->tangent), across(eye, p->tangent)),
                front = sqrtf(max_of(0.5f + 0.5f * round, 0)), back = 0.5f - 0.5f * round;
    const float sine = cosf(incline_to);
    const float mirrored = mirror_share * front * bell(half - mirror_tilt, mirror_width),
                inner = inner_share * front * front * bell(half - inner_tilt, inner_width),
                passing = passing_share * back * back * back * bell(half, passing_width);
    const v3 deep = p->colour * v3_splat(0.55f * sine * (0.4f + 0.6f * front));
    return deep + v3_splat(mirrored * sine) + p->colour * v3_splat(inner + passing);
}

static v3 hair_colour(const world *w, const ray *r, const strand_point *p, v3 x) {
    float sun, sky;
    strands_light(w->strands, x, p->facing, &sun, &sky);
    const ray to_sun = {x + p->facing * v3_splat(2 * p->radius + w->tiny), w->sun};
    if (sun > 0.01f && world_block(w, &to_sun, 0)) sun = 0;
    const v3 lit = hair_light(p, -r->along, w->sun) * shading_sunlight() * v3_splat(sun);
    const v3 around = shading_around(v3_mix(p->facing, v3_set(0, 1, 0), 0.4f));
    return lit + p->colour * around * v3_splat(0.15f + 0.75f * sky);
}

v3 shading_strand(const world *w, const ray *r, const hit *h, shading_path way) {
    const strand_point p = strands_point(w->strands, r, h);
    const v3 x = ray_at(r, h->t);
    const float pixels = 2 * p.radius / (w->pixel * max_of(way.length + h->t, 1e-20f));
    const float rope = smooth_step(hair_pixels, rope_pixels, pixels);
    v3 out = v3_splat(0);
    if (rope < 1) out += hair_colour(w, r, &p, x) * v3_splat(1 - rope);
    if (rope > 0) {
        float sun, sky;
        strands_light(w->strands, x, p.facing, &sun, &sky);
        const v3 outside = x + p.normal * v3_splat(1.2f * p.radius + w->tiny);
        out += (shading_matt(w, outside, p.normal, p.colour, 0.3f + 0.7f * sky) +
                shading_shine(w, r->along, p.normal)) *
               v3_splat(rope);
    }
    return out;
}
