#include "pictures/liquid_area.h"
#include "core/threads.h"
#include <math.h>

/* Reach of the kernels in spacings, and at least in pixels; lattice cells a spacing. The body's is
 * wide enough to hide where single particles lie: the surface of a still pool is flat, a disc is
 * round. */
static const double body_spacings = 6.5, drop_spacings = 2, reach_pixels = 6, cells_a_spacing = 2;
enum { CELLS_MAX = 2048 }; /* along the longer side */

/* The sum at the surface, and the least that a particle has where it is: one alone is drawn as a
 * disc of about its own area. */
static const float surface_level = 0.46f, least_level = 0.6f, surface_margin = 0.18f;
static const float least_open = 0.3f; /* inside solids the open share would vanish */

/* Amounts and, times them, colours. */
typedef struct ink {
    float amount;
    rgb colour;
} ink;

typedef struct area {
    const liquid_area_input *in;
    picture *out;
    double cell, reach, drop_reach, corner[2]; /* pixels */
    int nodes[2];
    ink **layers; /* of in->layers by the body's kernel, then as many by the drops' alone */
    float *open;  /* what each node's sum is divided by */
} area;

static float clamp_unit(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

static void add_ink(ink *to, rgb colour, float amount) {
    to->amount += amount;
    to->colour.r += amount * colour.r;
    to->colour.g += amount * colour.g;
    to->colour.b += amount * colour.b;
}

/* ---- The lattice ----------------------------------------------------------------------------- */

static double mean_spacing(const liquid_area_input *in) {
    double sum = 0;
    for (int64_t i = 0; i < in->count; i++) sum += (double)in->points[i].spacing;
    return sum / (double)in->count;
}

static void place_lattice(area *a) {
    const liquid_area_input *in = a->in;
    const double spacing = mean_spacing(in);
    const double side = fmax(in->high[0] - in->low[0], in->high[1] - in->low[1]);
    a->reach = fmax(body_spacings * spacing, reach_pixels);
    a->drop_reach = fmax(drop_spacings * spacing, reach_pixels);
    a->cell = fmax(fmax(spacing / cells_a_spacing, 1), side / CELLS_MAX);
    for (int i = 0; i < 2; i++) {
        a->corner[i] = in->low[i] - a->cell;
        a->nodes[i] = (int)ceil((in->high[i] - in->low[i]) / a->cell) + 4;
    }
}

static int64_t node_count(const area *a) { return (int64_t)a->nodes[0] * a->nodes[1]; }

/* What one particle leaves on a layer: `peak` at its middle, nothing at `reach` pixels and beyond.
 * */
typedef struct stamp {
    int layer;
    double reach;
    float peak;
    rgb colour;
} stamp;

/* The peak that gives the kernel the area a particle stands for. */
static float own_peak(const liquid_area_point *p, double reach) {
    const float share = p->spacing / (float)reach;
    return 4 / 3.14159265f * share * share;
}

static void press_at(area *a, const stamp *s, double x, double y) {
    const double g[2] = {(x - a->corner[0]) / a->cell, (y - a->corner[1]) / a->cell};
    const double reach = s->reach / a->cell;
    const float inverse = (float)(1 / (reach * reach));
    int low[2], high[2];
    for (int i = 0; i < 2; i++) {
        low[i] = (int)fmax(ceil(g[i] - reach), 0);
        high[i] = (int)fmin(floor(g[i] + reach), a->nodes[i] - 1);
    }
    for (int j = low[1]; j <= high[1]; j++) {
        ink *row = a->layers[s->layer] + (int64_t)j * a->nodes[0];
        const float dy = (float)(g[1] - j);
        for (int i = low[0]; i <= high[0]; i++) {
            const float dx = (float)(g[0] - i), k = 1 - (dx * dx + dy * dy) * inverse;
            if (k > 0) add_ink(&row[i], s->colour, s->peak * k * k * k);
        }
    }
}

/* Presses a stamp where a particle is and, near a periodic side, where its images are. */
static void press(area *a, const stamp *s, const float at[2]) {
    const liquid_area_input *in = a->in;
    double shift[2][2] = {{0, 0}, {0, 0}};
    int images[2] = {1, 1};
    for (int i = 0; i < 2; i++) {
        if (!in->periodic[i]) continue;
        const double middle = 0.5 * (in->low[i] + in->high[i]);
        const double period = in->high[i] - in->low[i];
        shift[i][1] = (double)at[i] < middle ? period : -period;
        images[i] = 2;
    }
    for (int j = 0; j < images[1]; j++)
        for (int i = 0; i < images[0]; i++)
            press_at(a, s, (double)at[0] + shift[0][i], (double)at[1] + shift[1][j]);
}

/* Spreads all particles by both kernels. */
static void spread(area *a) {
    const liquid_area_input *in = a->in;
    for (int64_t i = 0; i < in->count; i++) {
        const liquid_area_point *p = &in->points[i];
        const stamp body = {p->layer, a->reach, own_peak(p, a->reach), p->colour};
        const stamp drop = {in->layers + p->layer, a->drop_reach, own_peak(p, a->drop_reach),
                            p->colour};
        press(a, &body, p->at);
        press(a, &drop, p->at);
    }
}

/* The share of a disc of radius 1 about a point that a straight wall at distance d leaves open, by
 * the kernel's weight: the integral of 35/32 (1 - x^2)^3. */
static double open_share(double d) {
    if (d >= 1) return 1;
    if (d <= -1) return 0;
    const double d2 = d * d;
    return 0.5 + 35.0 / 32 * d * (1 - d2 * (1 - d2 * (0.6 - d2 / 7)));
}

static bool is_empty(const area *a, int64_t node) {
    for (int l = 0; l < a->in->layers; l++)
        if (a->layers[l][node].amount > 0) return false;
    return true;
}

static void find_open(void *data, chunk items) {
    area *a = data;
    const liquid_area_input *in = a->in;
    for (int64_t node = items.begin; node < items.end; node++) {
        a->open[node] = 1;
        if (is_empty(a, node)) continue;
        const double x = a->corner[0] + a->cell * (double)(node % a->nodes[0]);
        const double y = a->corner[1] + a->cell * (double)(node / a->nodes[0]);
        const double share = open_share(in->solid(in->user, x, y) / a->reach);
        a->open[node] = fmaxf((float)share, least_open);
    }
}

/* ---- Between its nodes ----------------------------------------------------------------------- */

typedef struct corners {
    int64_t node;
    float weight[4];
} corners;

static corners corners_at(const area *a, double x, double y) {
    const double gx = fmin(fmax((x - a->corner[0]) / a->cell, 0), a->nodes[0] - 1.001);
    const double gy = fmin(fmax((y - a->corner[1]) / a->cell, 0), a->nodes[1] - 1.001);
    const int i = (int)gx, j = (int)gy;
    const float fx = (float)(gx - i), fy = (float)(gy - j);
    return (corners){.node = (int64_t)j * a->nodes[0] + i,
                     .weight = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy}};
}

static int64_t corner_node(const area *a, const corners *c, int k) {
    return c->node + (k & 1) + (k >> 1) * a->nodes[0];
}

/* The amount of `count` layers over the open share. */
static float sum_at(const area *a, int first, int count, double x, double y) {
    const corners c = corners_at(a, x, y);
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        const int64_t node = corner_node(a, &c, k);
        float amount = 0;
        for (int l = first; l < first + count; l++) amount += a->layers[l][node].amount;
        sum += c.weight[k] * amount / a->open[node];
    }
    return sum;
}

/* The same of one, or of all (-1), by the body's kernel. */
static float level_set_at(const area *a, int layer, double x, double y) {
    return layer < 0 ? sum_at(a, 0, a->in->layers, x, y) : sum_at(a, layer, 1, x, y);
}

static ink ink_at(const area *a, int layer, double x, double y) {
    const corners c = corners_at(a, x, y);
    ink sum = {0};
    for (int k = 0; k < 4; k++) {
        const ink *n = &a->layers[layer][corner_node(a, &c, k)];
        sum.amount += c.weight[k] * n->amount;
        sum.colour.r += c.weight[k] * n->colour.r;
        sum.colour.g += c.weight[k] * n->colour.g;
        sum.colour.b += c.weight[k] * n->colour.b;
    }
    return sum;
}

/* Particles in thin places, which the wide kernel smears out, are given what they lack as drops:
 * alone they are round, together a film. */
static spate_status strengthen(spate_context *ctx, area *a) {
    const liquid_area_input *in = a->in;
    float *lacking = take(ctx, (size_t)in->count, sizeof *lacking);
    if (!lacking) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < in->count; i++) {
        const double x = (double)in->points[i].at[0], y = (double)in->points[i].at[1];
        const float drops = sum_at(a, in->layers, in->layers, x, y),
                    level = level_set_at(a, -1, x, y);
        const float outside = clamp_unit((surface_level - level) / surface_margin);
        lacking[i] = drops > 0 ? outside * (least_level - level) / drops : 0;
    }
    for (int64_t i = 0; i < in->count; i++) {
        const liquid_area_point *p = &in->points[i];
        const stamp drop = {p->layer, a->drop_reach, lacking[i] * own_peak(p, a->drop_reach),
                            p->colour};
        if (lacking[i] > 0) press(a, &drop, p->at);
    }
    give(ctx, lacking);
    return SPATE_OK;
}

/* ---- Pixels ---------------------------------------------------------------------------------- */

/* A layer's claim to a place. Grains are drawn over the liquid, which wets the first of them:
 * between the two there would be a gap, for both keep off the place where they meet. */
static float claim(const area *a, int layer, double x, double y) {
    const float grains = 0.2f;
    return level_set_at(a, layer, x, y) * (layer == a->in->hidden ? grains : 1);
}

/* How far inside a layer, against all others, or inside the liquid as a whole (-1); positive
 * inside. */
static float excess(const area *a, int layer, double x, double y) {
    if (layer < 0) return level_set_at(a, -1, x, y) - surface_level;
    float others = 0;
    for (int l = 0; l < a->in->layers; l++)
        if (l != layer) others = fmaxf(others, claim(a, l, x, y));
    return claim(a, layer, x, y) - others;
}

/* The same as a distance in pixels, held at +-`most`. */
static float depth(const area *a, int layer, double x, double y, float most) {
    const float value = excess(a, layer, x, y);
    /* No slope is steeper than a drop's own, 2.2 over its reach: this is farther away. */
    if (fabsf(value) * (float)a->drop_reach > 4.4f * most) return value > 0 ? most : -most;
    const float sx = excess(a, layer, x + 0.5, y) - excess(a, layer, x - 0.5, y);
    const float sy = excess(a, layer, x, y + 0.5) - excess(a, layer, x, y - 0.5);
    const float slope = sqrtf(sx * sx + sy * sy);
    const float distance = slope > 0 ? value / slope : value > 0 ? most : -most;
    return fminf(fmaxf(distance, -most), most);
}

/* A layer's colour is as fine as the particles: that of the narrow kernel, as far as it reaches. */
static ink colour_at(const area *a, int layer, double x, double y) {
    const float beyond = 0.02f; /* how much the wide one counts beside it */
    const ink wide = ink_at(a, layer, x, y);
    ink sum = ink_at(a, a->in->layers + layer, x, y);
    sum.amount += beyond * wide.amount;
    sum.colour.r += beyond * wide.colour.r;
    sum.colour.g += beyond * wide.colour.g;
    sum.colour.b += beyond * wide.colour.b;
    return sum;
}

/* The liquid's colour at a pixel, and how much of the pixel is its own; where several meet they are
 * mixed over a pixel. */
static ink paint_at(const area *a, double x, double y) {
    ink sum = {0}, any = {0};
    float hidden = 0;
    for (int l = 0; l < a->in->layers; l++) {
        const ink own = colour_at(a, l, x, y);
        if (!(own.amount > 0)) continue;
        const float scale = 1 / own.amount;
        const rgb colour = {own.colour.r * scale, own.colour.g * scale, own.colour.b * scale};
        const float cover = a->in->layers > 1 ? clamp_unit(0.5f + depth(a, l, x, y, 1)) : 1;
        if (l == a->in->hidden)
            hidden += cover;
        else
            add_ink(&sum, colour, cover), add_ink(&any, colour, own.amount);
    }
    if (!(sum.amount + hidden > 0)) sum = any;
    if (!(sum.amount > 0)) return sum;
    const float scale = 1 / sum.amount;
    sum.colour = (rgb){sum.colour.r * scale, sum.colour.g * scale, sum.colour.b * scale};
    sum.amount /= sum.amount + hidden;
    return sum;
}

static void draw_pixel(const area *a, int i, int j) {
    /* The line along the surface: as dark as this at it, gone so many pixels below. */
    const float line_dark = 0.5f, line_width = 2.2f;
    const rgb dark = {0.012f, 0.035f, 0.07f};
    const double x = i + 0.5, y = j + 0.5;
    const float inside = depth(a, -1, x, y, line_width + 1), cover = clamp_unit(inside + 0.5f);
    if (!(cover > 0)) return;
    const ink paint = paint_at(a, x, y);
    const rgb colour =
        colour_mix(paint.colour, dark, line_dark * clamp_unit(1 - inside / line_width));
    picture_blend(a->out, i, j, colour, cover * paint.amount);
}

static void draw_rows(void *data, chunk items) {
    const area *a = data;
    const int first = (int)fmax(floor(a->in->low[0] + 0.5), 0);
    const int last = (int)fmin(ceil(a->in->high[0] - 0.5), a->out->width);
    for (int j = (int)items.begin; j < items.end; j++) {
        if (j + 0.5 < a->in->low[1] || j + 0.5 > a->in->high[1]) continue;
        for (int i = first; i < last; i++) draw_pixel(a, i, j);
    }
}

spate_status liquid_area_draw(spate_context *ctx, const liquid_area_input *in, picture *out) {
    area a = {.in = in, .out = out};
    spate_status status = SPATE_OK;
    if (in->count == 0) return SPATE_OK;
    place_lattice(&a);
    a.layers = take(ctx, 2 * (size_t)in->layers, sizeof *a.layers);
    a.open = take(ctx, (size_t)node_count(&a), sizeof *a.open);
    if (!a.layers || !a.open) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    for (int l = 0; l < 2 * in->layers; l++)
        if (!(a.layers[l] = take(ctx, (size_t)node_count(&a), sizeof **a.layers)))
            TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    spread(&a);
    parallel_for(ctx->pool, node_count(&a), 4096, find_open, &a);
    TRY_OR_DONE(status, strengthen(ctx, &a));
    parallel_for(ctx->pool, out->height, 8, draw_rows, &a);
done:
    for (int l = 0; l < 2 * in->layers && a.layers; l++) give(ctx, a.layers[l]);
    give(ctx, a.layers);
    give(ctx, a.open);
    return status;
}
