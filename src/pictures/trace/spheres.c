/* Rays against spheres: Embree, or a uniform grid with each sphere listed in every cell it touches.
 */
#include "pictures/trace/spheres.h"
#include "pictures/trace/embree.h"
#include <string.h>

struct spheres {
    spate_context *ctx;
    int64_t count;
    v3 *centers;    /* radius in the fourth lane */
    embree *embree; /* NULL: the grid below is used */
    v3 min, max;
    float cell;
    int cells[3];
    int64_t *first; /* spheres of a cell: list[first[c]] .. list[first[c + 1] - 1] */
    int32_t *list;
};

/* ---- Grid ------------------------------------------------------------------------------------ */

static int64_t cell_index(const spheres *b, const int c[3]) {
    return ((int64_t)c[2] * b->cells[1] + c[1]) * b->cells[0] + c[0];
}

static int cell_of(const spheres *b, float x, int axis) {
    int c = (int)floorf((x - b->min[axis]) / b->cell);
    return c < 0 ? 0 : c >= b->cells[axis] ? b->cells[axis] - 1 : c;
}

/* Cells about as large as a sphere, but not many more than there are spheres. */
static void grid_size(spheres *b) {
    double radii = 0, volume = 1;
    b->min = v3_splat(INFINITY), b->max = v3_splat(-INFINITY);
    for (int64_t i = 0; i < b->count; i++) {
        float r = b->centers[i][3];
        radii += r;
        for (int a = 0; a < 3; a++) {
            b->min[a] = fminf(b->min[a], b->centers[i][a] - r);
            b->max[a] = fmaxf(b->max[a], b->centers[i][a] + r);
        }
    }
    for (int a = 0; a < 3; a++) volume *= b->max[a] - b->min[a];
    double cell = fmax(3 * radii / (double)b->count, cbrt(volume / (4.0 * (double)b->count + 64)));
    for (int a = 0; a < 3; a++) cell = fmax(cell, (b->max[a] - b->min[a]) / 2000);
    b->cell = (float)cell;
    for (int a = 0; a < 3; a++) b->cells[a] = 1 + (int)((b->max[a] - b->min[a]) / b->cell);
}

/* Visits every cell that sphere i touches: counts it there, or lists it. */
static void grid_enter(spheres *b, int64_t i, bool list) {
    v3 c = b->centers[i];
    int low[3], high[3], k[3];
    for (int a = 0; a < 3; a++)
        low[a] = cell_of(b, c[a] - c[3], a), high[a] = cell_of(b, c[a] + c[3], a);
    for (k[2] = low[2]; k[2] <= high[2]; k[2]++)
        for (k[1] = low[1]; k[1] <= high[1]; k[1]++)
            for (k[0] = low[0]; k[0] <= high[0]; k[0]++) {
                int64_t cell = cell_index(b, k);
                if (list)
                    b->list[--b->first[cell]] = (int32_t)i;
                else
                    b->first[cell]++;
            }
}

static spate_status grid_build(spheres *b) {
    if (!b->count) return SPATE_OK;
    grid_size(b);
    int64_t cells = (int64_t)b->cells[0] * b->cells[1] * b->cells[2];
    b->first = take(b->ctx, (size_t)cells + 1, sizeof *b->first);
    if (!b->first) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < b->count; i++) grid_enter(b, i, false);
    /* Ends of the cells' ranges, which listing then moves down to their beginnings. */
    for (int64_t c = 1; c <= cells; c++) b->first[c] += b->first[c - 1];
    b->list = take(b->ctx, (size_t)b->first[cells] + 1, sizeof *b->list);
    if (!b->list) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = b->count - 1; i >= 0; i--) grid_enter(b, i, true);
    return SPATE_OK;
}

/* Where the ray enters sphere i, or a negative number. */
static float ball_entry(const spheres *b, int32_t i, const ray *r) {
    v3 to = b->centers[i] - r->from;
    float radius = b->centers[i][3], middle = v3_dot(to, r->along);
    v3 beside = to - r->along * v3_splat(middle);
    float inside = radius * radius - v3_dot(beside, beside);
    return inside > 0 ? middle - sqrtf(inside) : -1;
}

static hit cell_hit(const spheres *b, int64_t cell, const ray *r, float near, float far) {
    hit best = {.t = far};
    for (int64_t k = b->first[cell]; k < b->first[cell + 1]; k++) {
        float t = ball_entry(b, b->list[k], r);
        if (t >= near && t < best.t) best.met = true, best.t = t, best.which = b->list[k];
    }
    return best;
}

static hit grid_hit(const spheres *b, const ray *r, float near, float far) {
    int axes[2], c[3], step[3];
    float next[3], delta[3], begin = near, end = far;
    if (!b->count || !ray_box(r, b->min, b->max, &begin, &end, axes)) return (hit){0};
    v3 p = ray_at(r, begin);
    for (int a = 0; a < 3; a++) {
        c[a] = cell_of(b, p[a], a);
        step[a] = r->along[a] > 0 ? 1 : -1;
        float border = b->min[a] + b->cell * (float)(c[a] + (step[a] > 0));
        bool moves = fabsf(r->along[a]) > 1e-12f;
        delta[a] = moves ? b->cell / fabsf(r->along[a]) : INFINITY;
        next[a] = moves ? (border - r->from[a]) / r->along[a] : INFINITY;
    }
    for (;;) {
        int a = next[0] < next[1] ? (next[0] < next[2] ? 0 : 2) : (next[1] < next[2] ? 1 : 2);
        hit h = cell_hit(b, cell_index(b, c), r, near, far);
        /* A sphere that reaches over from another cell counts only up to this cell's end. */
        if (h.met && h.t <= next[a] + 1e-4f * b->cell) {
            v3 out = ray_at(r, h.t) - b->centers[h.which];
            out[3] = 0;
            h.normal = v3_unit(out);
            return h;
        }
        c[a] += step[a];
        if (next[a] > end || c[a] < 0 || c[a] >= b->cells[a]) return (hit){0};
        next[a] += delta[a];
    }
}

/* ---- Both ------------------------------------------------------------------------------------ */

static spate_status create(spate_context *ctx, const v3 *centers, int64_t count, bool plain,
                           spheres **out) {
    *out = NULL;
    spheres *b = take(ctx, 1, sizeof *b);
    if (!b) return SPATE_OUT_OF_MEMORY;
    b->ctx = ctx, b->count = count;
    b->centers = take(ctx, (size_t)count + 1, sizeof *b->centers);
    spate_status status = SPATE_OUT_OF_MEMORY;
    if (b->centers) {
        if (count) memcpy(b->centers, centers, (size_t)count * sizeof *centers);
        status = plain || !count ? SPATE_OK : embree_of_spheres(ctx, b->centers, count, &b->embree);
        if (!status && !b->embree) status = grid_build(b);
    }
    if (status == SPATE_OK)
        *out = b;
    else
        spheres_free(b);
    return status;
}

spate_status spheres_create(spate_context *ctx, const v3 *centers, int64_t count, spheres **out) {
    return create(ctx, centers, count, false, out);
}

spate_status spheres_create_plain(spate_context *ctx, const v3 *centers, int64_t count,
                                  spheres **out) {
    return create(ctx, centers, count, true, out);
}

void spheres_free(spheres *b) {
    if (!b) return;
    embree_free(b->embree);
    give(b->ctx, b->first);
    give(b->ctx, b->list);
    give(b->ctx, b->centers);
    give(b->ctx, b);
}

hit spheres_hit(const spheres *b, const ray *r, float near, float far) {
    embree_hit found;
    if (!b->embree) return grid_hit(b, r, near, far);
    if (!embree_first(b->embree, r, near, far, &found)) return (hit){0};
    v3 out = ray_at(r, found.t) - b->centers[found.which];
    out[3] = 0;
    return (hit){.met = true, .t = found.t, .normal = v3_unit(out), .which = (int)found.which};
}

bool spheres_block(const spheres *b, const ray *r, float near, float far) {
    if (b->embree) return embree_any(b->embree, r, near, far);
    return grid_hit(b, r, near, far).met;
}
