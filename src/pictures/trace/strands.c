/* Rays against curves, and the light among them; see strands.h. */
#include "pictures/trace/strands.h"
#include "core/random.h"
#include "pictures/trace/bvh.h"
#include "pictures/trace/embree.h"
#include "pictures/trace/smoke_volume.h"

enum { LAYERS = 24, GRID_CELLS = 112, NEAR_CELLS = 10 };

/* Strands this far from the mean lightness of their body, at most. */
static const float lightness_spread = 0.22f;
/* Half the width of the thinnest drawn line, in pixels. */
static const float thinnest = 0.55f;

struct strands {
    spate_context *ctx;
    v3 *points;  /* of all curves, two more than vertices each; and half the drawn width */
    v3 *colours; /* of points, and what they cover */
    int64_t point_count;
    uint32_t *pieces; /* the first of a piece's four points; it goes from the second to the third */
    int64_t piece_count;
    embree *embree; /* NULL: */
    bvh *tree;
    /* light */
    v3 corner;
    smoke_grid density;
    smoke_volume sun, sky;
};

/* ---- Curves ----------------------------------------------------------------------------------- */

/* Of four points with p = 0 at the second and 1 at the third: the place, or what it changes by. */
static v3 curve_at(const v3 *c, float p) {
    const float q = 1 - p;
    const v3 a = v3_splat(-p * q * q), b = v3_splat(2 - 5 * p * p + 3 * p * p * p),
             d = v3_splat(2 - 5 * q * q + 3 * q * q * q), e = v3_splat(-q * p * p);
    return (c[0] * a + c[1] * b + c[2] * d + c[3] * e) * v3_splat(0.5f);
}

static v3 curve_along(const v3 *c, float p) {
    const v3 a = v3_splat(-1 + 4 * p - 3 * p * p), b = v3_splat(-10 * p + 9 * p * p),
             d = v3_splat(1 + 8 * p - 9 * p * p), e = v3_splat(-2 * p + 3 * p * p);
    return (c[0] * a + c[1] * b + c[2] * d + c[3] * e) * v3_splat(0.5f);
}

/* A vertex of a line as a point of its curve: at least as wide as a pixel, where it is seen. */
static void add_point(strands *s, const mesh_parts *p, const view *seen, int32_t vertex,
                      float light) {
    v3 x = p->vertices[vertex], colour = p->colours[vertex] * v3_splat(light);
    const float wide = thinnest * seen->pixel * v3_length(x - seen->from), radius = x[3];
    x[3] = max_of(radius, wide);
    colour[3] = radius > 0 && radius < wide ? radius / wide : 1;
    s->points[s->point_count] = x, s->colours[s->point_count++] = colour;
}

/* Lines go on beyond their ends, so that the curve has a direction there. */
static void add_line(strands *s, const mesh_parts *p, const view *seen, int64_t line) {
    const int32_t begin = line ? p->line_ends[line - 1] : 0, end = p->line_ends[line];
    const float light = p->mapped
                            ? 1
                            : 1 + lightness_spread * ((float)random_unit(1, (uint64_t)line, 7) +
                                                      (float)random_unit(2, (uint64_t)line, 7) - 1);
    const int64_t first = s->point_count++;
    for (int32_t i = begin; i < end; i++) add_point(s, p, seen, p->line_corners[i], light);
    const int64_t last = s->point_count++;
    const v3 twice = {2, 2, 2, 1}, once = {1, 1, 1, 0};
    s->points[first] = s->points[first + 1] * twice - s->points[first + 2] * once;
    s->points[last] = s->points[last - 1] * twice - s->points[last - 2] * once;
    s->colours[first] = s->colours[first + 1], s->colours[last] = s->colours[last - 1];
    for (int64_t i = first; i + 3 <= last; i++) s->pieces[s->piece_count++] = (uint32_t)i;
}

static spate_status take_curves(strands *s, const mesh_parts *p, const view *seen) {
    const int64_t corners = p->line_ends[p->line_count - 1];
    const size_t points = (size_t)(corners + 2 * p->line_count);
    s->points = take(s->ctx, points + 1, sizeof *s->points);
    s->colours = take(s->ctx, points + 1, sizeof *s->colours);
    s->pieces = take(s->ctx, (size_t)corners + 1, sizeof *s->pieces);
    if (!s->points || !s->colours || !s->pieces) return SPATE_OUT_OF_MEMORY;
    for (int64_t k = 0; k < p->line_count; k++) add_line(s, p, seen, k);
    return SPATE_OK;
}

/* ---- Without Embree --------------------------------------------------------------------------- */

static void box_of(const void *of, int64_t i, v3 out[2]) {
    const strands *s = of;
    const v3 *c = s->points + s->pieces[i];
    for (int a = 0; a < 3; a++) {
        out[0][a] = min_of(c[1][a] - c[1][3], c[2][a] - c[2][3]);
        out[1][a] = max_of(c[1][a] + c[1][3], c[2][a] + c[2][3]);
    }
}

/* Nearest to the piece's axis a ray is inside it, or nowhere: a flat piece that faces the ray. */
static bool meets(const void *of, int64_t i, const ray *r, float near, float far, embree_hit *out) {
    const strands *s = of;
    const v3 *c = s->points + s->pieces[i];
    const v3 d = c[2] - c[1], to = r->from - c[1];
    const float dd = v3_dot(d, d), dr = v3_dot(d, r->along), rest = dd - dr * dr;
    float p = rest > 1e-12f * dd ? (v3_dot(d, to) - dr * v3_dot(r->along, to)) / rest : 0;
    p = unit_clamp(p);
    const float t = v3_dot(d * v3_splat(p) - to, r->along);
    const v3 off = to + r->along * v3_splat(t) - d * v3_splat(p);
    const float radius = c[1][3] + (c[2][3] - c[1][3]) * p;
    if (!(t > near && t < far && v3_dot(off, off) < radius * radius)) return false;
    *out = (embree_hit){t, p, 0, i};
    return true;
}

/* ---- Rays ------------------------------------------------------------------------------------- */

hit strands_hit(const strands *s, const ray *r, float near, float far) {
    embree_hit found;
    const bool met = s->embree ? embree_first(s->embree, r, near, far, &found)
                               : bvh_first(s->tree, s, meets, r, near, far, false, &found);
    if (!met) return (hit){0};
    return (hit){.met = true, .t = found.t, .which = (int)found.which, .u = found.u, .v = found.v};
}

static v3 colour_of(const strands *s, const hit *h) {
    const v3 *c = s->colours + s->pieces[h->which];
    return c[1] + (c[2] - c[1]) * (v3){h->u, h->u, h->u, h->u};
}

float strands_beyond(const strands *s, const hit *h) {
    return h->t + 1e-5f * h->t + 0.05f * s->points[s->pieces[h->which] + 1][3];
}

float strands_left(const strands *s, const ray *r, float near, float far) {
    float left = 1;
    for (int k = 0; k < LAYERS && left > 0.01f; k++) {
        const hit h = strands_hit(s, r, near, far);
        if (!h.met) return left;
        left *= 1 - colour_of(s, &h)[3];
        near = strands_beyond(s, &h);
    }
    return left > 0.01f ? left : 0;
}

strand_point strands_point(const strands *s, const ray *r, const hit *h) {
    const v3 *c = s->points + s->pieces[h->which];
    const v3 colour = colour_of(s, h), middle = curve_at(c, h->u);
    const v3 tangent = v3_unit(curve_along(c, h->u));
    const v3 across = v3_unit(v3_cross(tangent, r->along));
    strand_point out = {.tangent = tangent,
                        .colour = colour * v3_splat(1),
                        .facing = v3_cross(tangent, across),
                        .radius = c[1][3] + (c[2][3] - c[1][3]) * h->u,
                        .cover = colour[3]};
    if (v3_dot(out.facing, r->along) > 0) out.facing = -out.facing;
    const float side = v3_dot(ray_at(r, h->t) - middle, across) / max_of(out.radius, 1e-30f),
                v = max_of(min_of(side, 0.98f), -0.98f);
    out.normal = v3_unit(across * v3_splat(v) + out.facing * v3_splat(sqrtf(1 - v * v)));
    return out;
}

/* ---- Light ------------------------------------------------------------------------------------ */

/* A grid around all strands, with cells about as small as strands are apart. */
static spate_status take_grid(strands *s) {
    v3 low = v3_splat(INFINITY), high = v3_splat(-INFINITY);
    for (int64_t i = 0; i < s->point_count; i++)
        for (int a = 0; a < 3; a++)
            low[a] = min_of(low[a], s->points[i][a]), high[a] = max_of(high[a], s->points[i][a]);
    const v3 size = high - low;
    const float longest = max_of(size[0], max_of(size[1], size[2]));
    s->density.edge = max_of(longest / GRID_CELLS, 1e-20f);
    s->corner = low;
    size_t count = 1;
    for (int a = 0; a < 3; a++) {
        s->density.cells[a] = 1 + (int)(size[a] / s->density.edge);
        count *= (size_t)s->density.cells[a];
    }
    s->density.values = take(s->ctx, count, sizeof *s->density.values);
    return s->density.values ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void add_density(strands *s, v3 x, float amount) {
    int64_t at = 0;
    for (int a = 2; a >= 0; a--) {
        const int n = s->density.cells[a], i = (int)((x[a] - s->corner[a]) / s->density.edge);
        at = at * n + (i < 0 ? 0 : i >= n ? n - 1 : i);
    }
    s->density.values[at][3] += amount;
}

/* Extinction of thin cylinders in all directions: pi/4 of their length times their width, in a
 * volume. Hair lets much light through and on. */
static void fill_grid(strands *s) {
    const float edge = s->density.edge, through = 0.5f;
    const float scale = through * 0.785f / (edge * edge * edge);
    for (int64_t i = 0; i < s->piece_count; i++) {
        const v3 *c = s->points + s->pieces[i];
        const float length = v3_length(c[2] - c[1]),
                    width = 2 * c[1][3] * s->colours[s->pieces[i] + 1][3];
        const int parts = 1 + (int)min_of(length / edge, 1000);
        for (int k = 0; k < parts; k++)
            add_density(s, curve_at(c, ((float)k + 0.5f) / (float)parts),
                        scale * length * width / (float)parts);
    }
}

static spate_status make_light(strands *s, v3 sun) {
    TRY(take_grid(s));
    fill_grid(s);
    TRY(smoke_volume_create(s->ctx, &s->density, sun, true, &s->sun));
    return smoke_volume_create(s->ctx, &s->density, v3_set(0, 1, 0), true, &s->sky);
}

void strands_light(const strands *s, v3 x, v3 out, float *sun, float *sky) {
    /* Some of the sun's light has been on other strands before, and reaches deeper. */
    const float scattered = 0.3f, deeper = 0.3f;
    const ray open = {x - s->corner, out};
    const float straight = smoke_volume_sun(&s->sun, open.from),
                beside = smoke_volume_left(&s->sun, &open, 0, NEAR_CELLS * s->density.edge);
    *sun = (1 - scattered) * straight + scattered * powf(straight, deeper);
    *sky = 0.5f * (smoke_volume_sun(&s->sky, open.from) + beside);
}

/* ---- Making ----------------------------------------------------------------------------------- */

spate_status strands_create(spate_context *ctx, const mesh_parts *parts, const view *seen, v3 sun,
                            bool plain, strands **out) {
    *out = NULL;
    if (!parts->line_count) return SPATE_OK;
    strands *s = take(ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    s->ctx = ctx;
    spate_status status = take_curves(s, parts, seen);
    if (!status && !plain)
        status =
            embree_of_curves(ctx, s->points, s->point_count, s->pieces, s->piece_count, &s->embree);
    if (!status && !s->embree) status = bvh_create(ctx, s, s->piece_count, box_of, &s->tree);
    if (!status) status = make_light(s, sun);
    if (status)
        strands_free(s);
    else
        *out = s;
    return status;
}

void strands_free(strands *s) {
    if (!s) return;
    embree_free(s->embree);
    bvh_free(s->tree);
    smoke_volume_free(&s->sun);
    smoke_volume_free(&s->sky);
    give(s->ctx, s->density.values);
    give(s->ctx, s->points);
    give(s->ctx, s->colours);
    give(s->ctx, s->pieces);
    give(s->ctx, s);
}
