/* Rays against all there is, and the optics of water. */
#include "output/world.h"

static const float water_index = 1.33f;

/* The skin around matt particles; `which` is the particle right under it. */
static hit skin_hit(const world *w, const ray *r, float near, float far) {
    /* A ray that starts under the skin has just left it. */
    if (level_value(&w->matt, ray_at(r, near)) < 0) return (hit){0};
    hit h = level_cross(&w->matt, r, near, far, false);
    if (!h.met) return h;
    ray in = {ray_at(r, h.t), -h.normal};
    hit ball = balls_hit(w->balls, &in, 0, 6 * w->matt.cell);
    if (!ball.met) ball = balls_hit(w->balls, r, h.t, h.t + 6 * w->matt.cell);
    h.which = ball.met ? ball.which : 0;
    return h;
}

static hit matt_hit(const world *w, const ray *r, float near, float far) {
    return w->smooth ? skin_hit(w, r, near, far) : balls_hit(w->balls, r, near, far);
}

world_thing world_hit(const world *w, const ray *r, float near, hit *out) {
    world_thing thing = THING_SKY;
    *out = (hit){.t = INFINITY};
    if (r->along[1] < -1e-6f) {
        float t = -r->from[1] / r->along[1];
        if (t > near) thing = THING_FLOOR, *out = (hit){true, t, {0, 1, 0, 0}, 0};
    }
    hit h = stage_hit(w->stage, r, near, out->t);
    if (h.met) thing = THING_COLLIDER, *out = h;
    h = matt_hit(w, r, near, out->t);
    if (h.met) thing = THING_BALL, *out = h;
    return thing;
}

bool world_block(const world *w, const ray *r, float near) {
    return balls_block(w->balls, r, near, INFINITY) || stage_hit(w->stage, r, near, INFINITY).met;
}

hit world_face(const world *w, const ray *r, float near, float far, bool inside) {
    return w->skin ? facets_cross(w->skin, r, near, far, inside)
                   : level_cross(&w->liquid, r, near, far, inside);
}

bool world_wet(const world *w, v3 x) {
    return w->skin ? facets_hold(w->skin, x) : level_value(&w->liquid, x) < 0;
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

v3 world_transmit(const world *w, float length) {
    return v3_set(expf(-w->absorb[0] * length), expf(-w->absorb[1] * length),
                  expf(-w->absorb[2] * length));
}
