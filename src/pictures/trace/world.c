/* Rays against all there is, and the optics of water. */
#include "pictures/trace/world.h"

static const float water_index = 1.33f;

static hit skin_hit(const world_skin *s, const ray *r, float near, float far) {
    /* A ray that starts under the skin has just left it. */
    if (level_set_value(&s->level_set, ray_at(r, near)) < 0) return (hit){0};
    return level_set_cross(&s->level_set, r, near, far, false);
}

static hit skins_hit(const world *w, const ray *r, float near, float far) {
    hit best = {.t = far};
    for (int i = 0; i < w->skin_count; i++) {
        hit h = skin_hit(&w->skins[i], r, near, best.t);
        if (h.met) best = h, best.which = i;
    }
    return best;
}

world_thing world_hit(const world *w, const ray *r, float near, hit *out) {
    world_thing thing = THING_SKY;
    *out = (hit){.t = INFINITY};
    if (r->along[1] < -1e-6f) {
        float t = -r->from[1] / r->along[1];
        if (t > near)
            thing = THING_FLOOR, *out = (hit){.met = true, .t = t, .normal = {0, 1, 0, 0}};
    }
    hit h = stage_hit(w->stage, r, near, out->t);
    if (h.met) thing = THING_COLLIDER, *out = h;
    h = spheres_hit(w->spheres, r, near, out->t);
    if (h.met) thing = THING_GRAIN, *out = h;
    h = skins_hit(w, r, near, out->t);
    if (h.met) thing = THING_SKIN, *out = h;
    if (w->meshes) h = meshes_hit(w->meshes, r, near, out->t);
    if (w->meshes && h.met) thing = THING_MESH, *out = h;
    if (w->strands) h = strands_hit(w->strands, r, near, out->t);
    if (w->strands && h.met) thing = THING_STRAND, *out = h;
    return thing;
}

bool world_block(const world *w, const ray *r, float near) {
    return spheres_block(w->spheres, r, near, INFINITY) || skins_hit(w, r, near, INFINITY).met ||
           stage_hit(w->stage, r, near, INFINITY).met ||
           (w->meshes && meshes_block(w->meshes, r, near, INFINITY));
}

hit world_face(const world *w, const ray *r, float near, float far, bool inside) {
    return w->face ? triangles_cross(w->face, r, near, far, inside)
                   : level_set_cross(&w->liquid, r, near, far, inside);
}

bool world_wet(const world *w, v3 x) {
    return w->face ? triangles_hold(w->face, x) : level_set_value(&w->liquid, x) < 0;
}

float world_fresnel(float cosine) {
    float m = 1 - unit_clamp(cosine), m2 = m * m;
    return 0.02f + 0.98f * m2 * m2 * m;
}

bool world_refract(v3 along, v3 normal, bool inside, v3 *out) {
    v3 n = inside ? -normal : normal;
    float eta = inside ? water_index : 1 / water_index, cosine = -v3_dot(along, n);
    float rest = 1 - eta * eta * (1 - cosine * cosine);
    if (rest < 0 || cosine < 0) {
        *out = cosine < 0 ? along : v3_unit(along + n * v3_splat(2 * cosine));
        return cosine < 0;
    }
    *out = v3_unit(along * v3_splat(eta) + n * v3_splat(eta * cosine - sqrtf(rest)));
    return true;
}

v3 world_absorption(v3 colour, float depth) {
    v3 out = {0};
    /* No stuff is so clear, or so pure, that its colour is never or at once reached. */
    for (int c = 0; c < 3; c++) out[c] = -logf(max_of(min_of(colour[c], 0.97f), 0.015f)) / depth;
    return out;
}

v3 world_glow(v3 colour) { return colour * v3_splat(0.4f); }

v3 world_pass(const world *w, const ray *r, float length, v3 *glow) {
    /* A liquid of several colours is passed in pieces. */
    const int pieces = w->liquid_colours.nearest ? 12 : 1;
    const float piece = length / (float)pieces;
    v3 left = v3_splat(1);
    for (int k = 0; k < pieces && w->liquid_colours.colours; k++) {
        const v3 colour = colour_field_at(&w->liquid_colours, ray_at(r, ((float)k + 0.5f) * piece));
        const v3 absorbed = world_absorption(colour, w->depth / colour[3]);
        v3 share = v3_set(expf(-absorbed[0] * piece), expf(-absorbed[1] * piece),
                          expf(-absorbed[2] * piece));
        if (glow) *glow += left * (v3_splat(1) - share) * world_glow(colour);
        left *= share;
    }
    return left;
}

static float hidden_by(const level_set *l, v3 x, float distance) {
    if (!l->values) return 0;
    return unit_clamp(1 - max_of(level_set_value(l, x), 0) / min_of(distance, l->outside));
}

float world_open(const world *w, v3 x, v3 normal, float step) {
    float open = 1;
    for (int k = 1; k <= 3; k++) {
        const float d = (float)k * step;
        const v3 out = x + normal * v3_splat(d);
        float hidden = hidden_by(&w->heap, out, d);
        for (int i = 0; i < w->skin_count; i++)
            hidden = max_of(hidden, hidden_by(&w->skins[i].level_set, out, d));
        open -= 0.22f * hidden;
    }
    return max_of(open, 0.25f);
}
