/* Ray marching through a grid of smoke, and the light in it. */
#include "pictures/trace/smoke_volume.h"
#include "core/threads.h"
#include <string.h>

enum { CELLS_A_CHUNK = 1024 };

/* At most so many places have a light of their own. */
static const int64_t lights_most = 1 << 20;

/* A ray that is all but stopped goes no further. */
static const float stopped = 0.002f;

/* ---- Values between the middles of cells ----------------------------------------------------- */

static v3 v4_splat(float s) { return (v3){s, s, s, s}; }

/* Trilinear; the outermost values go on to the walls and beyond. */
static inline v3 value_at(const smoke_grid *g, v3 x) {
    v3 p = x * v3_splat(1 / g->edge) - v3_splat(0.5f);
    int64_t at[3], next[3], stride = 1;
    float f[3];
    for (int a = 0; a < 3; a++) {
        float last = (float)(g->cells[a] - 1), c = p[a] > 0 ? min_of(p[a], last) : 0;
        int i = (int)c;
        f[a] = c - (float)i;
        at[a] = i * stride;
        next[a] = i + 1 < g->cells[a] ? at[a] + stride : at[a];
        stride *= g->cells[a];
    }
    const v3 *v = g->values;
    v3 fx = v4_splat(f[0]), fy = v4_splat(f[1]), fz = v4_splat(f[2]);
    v3 a = v[at[0] + at[1] + at[2]], b = v[next[0] + at[1] + at[2]];
    v3 c = v[at[0] + next[1] + at[2]], d = v[next[0] + next[1] + at[2]];
    v3 near = (a + (b - a) * fx) * (v4_splat(1) - fy) + (c + (d - c) * fx) * fy;
    a = v[at[0] + at[1] + next[2]], b = v[next[0] + at[1] + next[2]];
    c = v[at[0] + next[1] + next[2]], d = v[next[0] + next[1] + next[2]];
    v3 far = (a + (b - a) * fx) * (v4_splat(1) - fy) + (c + (d - c) * fx) * fy;
    return near + (far - near) * fz;
}

static int64_t cell_count(const smoke_grid *g) {
    return (int64_t)g->cells[0] * g->cells[1] * g->cells[2];
}

static void cell_of(const smoke_grid *g, int64_t i, int at[3]) {
    at[0] = (int)(i % g->cells[0]);
    at[1] = (int)(i / g->cells[0] % g->cells[1]);
    at[2] = (int)(i / g->cells[0] / g->cells[1]);
}

/* ---- The light ------------------------------------------------------------------------------- */

typedef struct light_job {
    smoke_volume *smoke;
    smoke_grid coarse; /* the smoke on the cells of the light */
    int factor;
    v3 sun;
} light_job;

/* The mean of the cells that a coarse one covers. */
static void thin_out(void *data, chunk items) {
    light_job *job = data;
    const smoke_grid *g = &job->smoke->matter;
    for (int64_t i = items.begin; i < items.end; i++) {
        int at[3], from[3], to[3];
        cell_of(&job->coarse, i, at);
        for (int a = 0; a < 3; a++) {
            from[a] = at[a] * job->factor;
            to[a] = from[a] + job->factor < g->cells[a] ? from[a] + job->factor : g->cells[a];
        }
        v3 sum = {0};
        for (int z = from[2]; z < to[2]; z++)
            for (int y = from[1]; y < to[1]; y++)
                for (int x = from[0]; x < to[0]; x++)
                    sum += g->values[((int64_t)z * g->cells[1] + y) * g->cells[0] + x];
        float count = (float)((to[0] - from[0]) * (to[1] - from[1]) * (to[2] - from[2]));
        job->coarse.values[i] = sum * v4_splat(1 / count);
    }
}

/* Optical depth along a ray: the integral of k, in steps of about a cell of `g`. */
static float depth_along(const smoke_grid *g, v3 size, const ray *r, float near, float far) {
    int axes[2];
    if (!ray_box(r, v3_splat(0), size, &near, &far, axes)) return 0;
    int steps = 1 + (int)((far - near) / g->edge);
    float step = (far - near) / (float)steps, sum = 0;
    for (int k = 0; k < steps; k++)
        sum += value_at(g, ray_at(r, near + ((float)k + 0.5f) * step))[3];
    return sum * step;
}

/* One octave of scattered light: its share, and how much less it is dimmed. */
typedef struct octave {
    float share, dimming;
} octave;

static float scattered(const octave *octaves, int count, float depth) {
    float sum = 0;
    for (int k = 0; k < count; k++) sum += octaves[k].share * expf(-octaves[k].dimming * depth);
    return sum;
}

/* Light on smoke that lies this deep, optically, below the sun and the sky. */
static v3 light_of(float to_sun, float to_sky) {
    static const octave sun[] = {{0.60f, 1}, {0.29f, 0.3f}, {0.11f, 0.1f}};
    static const octave sky[] = {{0.75f, 0.4f}, {0.25f, 0.06f}};
    static const v3 sun_colour = {0.90f, 0.84f, 0.74f, 0}, sky_colour = {0.12f, 0.16f, 0.23f, 0},
                    from_ground = {0.035f, 0.035f, 0.035f, 0};
    return sun_colour * v3_splat(scattered(sun, COUNT_OF(sun), to_sun)) +
           sky_colour * v3_splat(scattered(sky, COUNT_OF(sky), to_sky)) + from_ground;
}

static void fill_light(void *data, chunk items) {
    light_job *job = data;
    smoke_volume *h = job->smoke;
    for (int64_t i = items.begin; i < items.end; i++) {
        int at[3];
        cell_of(&job->coarse, i, at);
        v3 x = {0};
        for (int a = 0; a < 3; a++) x[a] = ((float)at[a] + 0.5f) * job->coarse.edge;
        ray to_sun = {x, job->sun}, to_sky = {x, v3_set(0, 1, 0)};
        float sun = depth_along(&job->coarse, h->size, &to_sun, 0, INFINITY);
        float sky = depth_along(&job->coarse, h->size, &to_sky, 0, INFINITY);
        h->light.values[i] = light_of(sun, sky);
        h->light.values[i][3] = expf(-sun);
    }
}

static spate_status create_light(smoke_volume *h, v3 sun, bool lit) {
    const smoke_grid *g = &h->matter;
    light_job job = {.smoke = h, .factor = 1, .sun = sun};
    do {
        job.factor++;
        for (int a = 0; a < 3; a++)
            job.coarse.cells[a] = (g->cells[a] + job.factor - 1) / job.factor;
    } while (cell_count(&job.coarse) > lights_most);
    job.coarse.edge = g->edge * (float)job.factor;
    const int64_t count = cell_count(&job.coarse);
    h->light = job.coarse;
    h->light.values = take(h->ctx, (size_t)count, sizeof(v3));
    job.coarse.values = take(h->ctx, (size_t)count, sizeof(v3));
    const bool have = h->light.values && job.coarse.values;
    if (have) {
        parallel_for(h->ctx->pool, count, CELLS_A_CHUNK, thin_out, &job);
        parallel_for(h->ctx->pool, count, CELLS_A_CHUNK, fill_light, &job);
        for (int64_t i = 0; i < count && !lit; i++)
            for (int c = 0; c < 3; c++) h->light.values[i][c] = 1;
    }
    give(h->ctx, job.coarse.values);
    return have ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* ---- Blocks of empty space ------------------------------------------------------------------- */

/* A block counts as filled when it, or a cell beside it that values between reach, has smoke. */
static void find_filled(void *data, chunk items) {
    smoke_volume *h = data;
    const smoke_grid *g = &h->matter;
    for (int64_t i = items.begin; i < items.end; i++) {
        const int at[3] = {(int)(i % h->blocks[0]), (int)(i / h->blocks[0] % h->blocks[1]),
                           (int)(i / h->blocks[0] / h->blocks[1])};
        int from[3], to[3];
        for (int a = 0; a < 3; a++) {
            from[a] = at[a] ? at[a] * SMOKE_BLOCK - 1 : 0;
            to[a] = (at[a] + 1) * SMOKE_BLOCK + 1;
            if (to[a] > g->cells[a]) to[a] = g->cells[a];
        }
        bool any = false;
        for (int z = from[2]; z < to[2] && !any; z++)
            for (int y = from[1]; y < to[1] && !any; y++)
                for (int x = from[0]; x < to[0] && !any; x++)
                    any = g->values[((int64_t)z * g->cells[1] + y) * g->cells[0] + x][3] >
                          h->thinnest;
        h->filled[i] = any;
    }
}

/* Whether the block at x has smoke; if not, where the ray leaves it goes to *leave. */
static bool is_filled(const smoke_volume *h, const ray *r, v3 x, float *leave) {
    const float edge = SMOKE_BLOCK * h->matter.edge;
    v3 low = {0};
    int64_t i = 0;
    for (int a = 2; a >= 0; a--) {
        int b = (int)(x[a] / edge);
        b = b < 0 ? 0 : b < h->blocks[a] ? b : h->blocks[a] - 1;
        low[a] = (float)b * edge;
        i = i * h->blocks[a] + b;
    }
    if (h->filled[i]) return true;
    float near = 0;
    int axes[2];
    *leave = INFINITY;
    if (!ray_box(r, low, low + v3_splat(edge), &near, leave, axes)) *leave = 0;
    return false;
}

/* ---- Making it ------------------------------------------------------------------------------- */

static spate_status fill(smoke_volume *h, v3 sun, bool lit) {
    for (int a = 0; a < 3; a++) {
        h->size[a] = (float)h->matter.cells[a] * h->matter.edge;
        h->blocks[a] = (h->matter.cells[a] + SMOKE_BLOCK - 1) / SMOKE_BLOCK;
    }
    h->thinnest = 1e-3f / v3_length(h->size);
    const int64_t count = (int64_t)h->blocks[0] * h->blocks[1] * h->blocks[2];
    h->filled = take(h->ctx, (size_t)count, sizeof *h->filled);
    if (!h->filled) return SPATE_OUT_OF_MEMORY;
    parallel_for(h->ctx->pool, count, 64, find_filled, h);
    return create_light(h, sun, lit);
}

spate_status smoke_volume_create(spate_context *ctx, const smoke_grid *matter, v3 sun, bool lit,
                                 smoke_volume *out) {
    *out = (smoke_volume){.ctx = ctx, .matter = *matter};
    spate_status status = fill(out, sun, lit);
    if (status != SPATE_OK) smoke_volume_free(out);
    return status;
}

void smoke_volume_free(smoke_volume *h) {
    if (h->ctx) {
        give(h->ctx, h->light.values);
        give(h->ctx, h->filled);
    }
    *h = (smoke_volume){0};
}

/* ---- Rays ------------------------------------------------------------------------------------ */

smoke_view smoke_volume_look(const smoke_volume *h, const ray *r, float near, float far,
                             float offset) {
    smoke_view v = {.left = 1, .depth = INFINITY};
    int axes[2];
    if (!h->ctx || !ray_box(r, v3_splat(0), h->size, &near, &far, axes)) return v;
    const int steps = 1 + (int)(2 * (far - near) / h->matter.edge);
    const float step = (far - near) / (float)steps;
    for (int k = 0; k < steps && v.left > stopped; k++) {
        float t = near + ((float)k + offset) * step, leave;
        v3 x = ray_at(r, t);
        if (!is_filled(h, r, x, &leave)) {
            if (leave >= far) break;
            if (leave > t) k += (int)((leave - t) / step);
            continue;
        }
        v3 m = value_at(&h->matter, x);
        if (!(m[3] > 0)) continue;
        float through = expf(-m[3] * step);
        v.light += m * value_at(&h->light, x) * v3_splat(v.left * (1 - through) / m[3]);
        v.left *= through;
        if (v.left < 0.5f && t < v.depth) v.depth = t;
    }
    v.light[3] = 0;
    return v;
}

float smoke_volume_left(const smoke_volume *h, const ray *r, float near, float far) {
    return h->ctx ? expf(-depth_along(&h->matter, h->size, r, near, far)) : 1;
}

float smoke_volume_sun(const smoke_volume *h, v3 x) {
    return h->ctx ? value_at(&h->light, x)[3] : 1;
}
