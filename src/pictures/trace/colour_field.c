/* Nearest particles on a grid. */
#include "pictures/trace/colour_field.h"
#include <string.h>

bool colours_differ(const v3 *colours, int64_t count) {
    bool differ = false;
    for (int64_t i = 1; i < count && !differ; i++)
        differ = memcmp(&colours[i], &colours[0], sizeof *colours) != 0;
    return differ;
}

static int64_t point_index(const colour_field *t, const int p[3]) {
    return ((int64_t)p[2] * t->points[1] + p[1]) * t->points[0] + p[0];
}

static v3 point_at(const colour_field *t, const int p[3]) {
    return t->corner + v3_set((float)p[0], (float)p[1], (float)p[2]) * v3_splat(t->cell);
}

static float square(v3 d) { return v3_dot(d, d); }

/* Tells the points within two cells of a particle that it is there. */
static void enter(colour_field *t, const v3 *centers, int32_t i) {
    const int reach = 2;
    int low[3], high[3], p[3];
    for (int a = 0; a < 3; a++) {
        const int middle = (int)roundf((centers[i][a] - t->corner[a]) / t->cell);
        low[a] = middle > reach ? middle - reach : 0;
        high[a] = middle + reach < t->points[a] ? middle + reach : t->points[a] - 1;
    }
    for (p[2] = low[2]; p[2] <= high[2]; p[2]++)
        for (p[1] = low[1]; p[1] <= high[1]; p[1]++)
            for (p[0] = low[0]; p[0] <= high[0]; p[0]++) {
                int32_t *nearest = &t->nearest[point_index(t, p)];
                const v3 x = point_at(t, p);
                if (*nearest < 0 || square(centers[i] - x) < square(centers[*nearest] - x))
                    *nearest = i;
            }
}

spate_status colour_field_create(const level_set *l, const v3 *centers, const v3 *colours,
                                 int64_t count, colour_field *out) {
    *out = (colour_field){.ctx = l->ctx, .colours = colours, .corner = l->corner, .cell = l->cell};
    memcpy(out->points, l->points, sizeof out->points);
    if (!l->values || !colours_differ(colours, count)) return SPATE_OK;
    const size_t all = (size_t)out->points[0] * (size_t)out->points[1] * (size_t)out->points[2];
    out->nearest = take(out->ctx, all, sizeof *out->nearest);
    if (!out->nearest) return SPATE_OUT_OF_MEMORY;
    memset(out->nearest, 0xff, all * sizeof *out->nearest); /* -1 */
    for (int64_t i = 0; i < count; i++) enter(out, centers, (int32_t)i);
    return SPATE_OK;
}

void colour_field_free(colour_field *t) {
    if (t->ctx) give(t->ctx, t->nearest);
    *t = (colour_field){0};
}

v3 colour_field_at(const colour_field *t, v3 x) {
    if (!t->colours) return (v3){1, 1, 1, 1};
    const v3 g = (x - t->corner) * v3_splat(1 / t->cell);
    bool inside = t->nearest != NULL;
    for (int a = 0; a < 3; a++) inside &= g[a] >= 0 && g[a] < (float)(t->points[a] - 1);
    if (!inside) return t->colours[0];
    const int base[3] = {(int)g[0], (int)g[1], (int)g[2]};
    v3 sum = {0};
    float weights = 0;
    for (int k = 0; k < 8; k++) {
        const int p[3] = {base[0] + (k & 1), base[1] + (k >> 1 & 1), base[2] + (k >> 2)};
        const int32_t i = t->nearest[point_index(t, p)];
        float weight = 1;
        for (int a = 0; a < 3; a++) weight *= 1 - fabsf(g[a] - (float)p[a]);
        if (i < 0) continue;
        sum += t->colours[i] * (v3){weight, weight, weight, weight};
        weights += weight;
    }
    const float k = 1 / weights;
    return weights > 0 ? sum * (v3){k, k, k, k} : t->colours[0];
}
