/* Zhu and Bridson 2005, "Animating sand as a fluid", section 5; rays walk it brick by brick. */
#include "pictures/trace/level_set.h"
#include "core/threads.h"
#include <string.h>

/* Layers of the grid are summed a few at a time, so that only these need the sums' memory. */
enum { SLAB = 4, POINTS_MAX = 32 << 20, SMOOTHINGS = 2, FAR = 120 };

typedef struct level_set_job {
    level_set *l;
    const v3 *centers;
    int64_t *first; /* particles by the slab they are in */
    int32_t *order;
    int slabs, slab_reach;
    float radius, reach;
    v3 *sums;    /* a slab for each worker: weight * offset, weight */
    float *rows; /* two rows for each worker */
} level_set_job;

static int64_t point_count(const level_set *l) {
    return (int64_t)l->points[0] * l->points[1] * l->points[2];
}

static void place_grid(level_set *l, const v3 *centers, int64_t count, float reach) {
    v3 low = v3_splat(INFINITY), high = v3_splat(-INFINITY);
    for (int64_t i = 0; i < count; i++)
        for (int a = 0; a < 3; a++) {
            low[a] = fminf(low[a], centers[i][a]);
            high[a] = fmaxf(high[a], centers[i][a]);
        }
    for (;; l->cell *= 1.25f) {
        double all = 1;
        for (int a = 0; a < 3; a++) {
            float margin = fmaxf(reach, 2 * l->cell) + 2 * l->cell;
            double points = 2 + ceil((high[a] - low[a] + 2 * margin) / l->cell);
            l->corner[a] = low[a] - margin;
            l->points[a] = points < POINTS_MAX ? (int)points : POINTS_MAX;
            all *= points;
        }
        if (all <= POINTS_MAX) return;
    }
}

static int slab_of(const level_set_job *job, v3 x) {
    int s = (int)((x[2] - job->l->corner[2]) / (job->l->cell * SLAB));
    return s < 0 ? 0 : s >= job->slabs ? job->slabs - 1 : s;
}

static void sort_by_slab(level_set_job *job, int64_t count) {
    for (int64_t i = 0; i < count; i++) job->first[slab_of(job, job->centers[i])]++;
    for (int s = 1; s <= job->slabs; s++) job->first[s] += job->first[s - 1];
    for (int64_t i = count - 1; i >= 0; i--)
        job->order[--job->first[slab_of(job, job->centers[i])]] = (int32_t)i;
}

/* Adds one particle to the layers z0..z1-1, whose sums begin at `sums`. */
static void add_particle(const level_set_job *job, v3 center, int z0, int z1, v3 *sums) {
    const level_set *l = job->l;
    v3 g = (center - l->corner) / v3_splat(l->cell);
    float reach = job->reach / l->cell, inverse = 1 / (reach * reach);
    int low[3], high[3];
    for (int a = 0; a < 3; a++)
        low[a] = (int)ceilf(g[a] - reach), high[a] = (int)floorf(g[a] + reach) + 1;
    if (low[2] < z0) low[2] = z0;
    if (high[2] > z1) high[2] = z1;
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++) {
            float dz = g[2] - (float)z, dy = g[1] - (float)y, across = dz * dz + dy * dy;
            v3 *row = sums + ((int64_t)(z - z0) * l->points[1] + y) * l->points[0];
            for (int x = low[0]; x < high[0]; x++) {
                float dx = g[0] - (float)x, s = 1 - (dx * dx + across) * inverse;
                if (s > 0) row[x] += (v3){dx, dy, dz, 1} * (s * s * s);
            }
        }
}

static void sum_slabs(void *data, chunk items) {
    level_set_job *job = data;
    level_set *l = job->l;
    int64_t layer = (int64_t)l->points[0] * l->points[1];
    v3 *sums = job->sums + items.worker * layer * SLAB;
    for (int64_t s = items.begin; s < items.end; s++) {
        int z0 = (int)s * SLAB, z1 = z0 + SLAB < l->points[2] ? z0 + SLAB : l->points[2];
        memset(sums, 0, (size_t)(layer * SLAB) * sizeof *sums);
        int64_t from = s > job->slab_reach ? s - job->slab_reach : 0;
        int64_t to = s + job->slab_reach + 1 < job->slabs ? s + job->slab_reach + 1 : job->slabs;
        for (int64_t k = job->first[from]; k < job->first[to]; k++)
            add_particle(job, job->centers[job->order[k]], z0, z1, sums);
        float *values = l->values + z0 * layer;
        for (int64_t i = 0; i < layer * (z1 - z0); i++) {
            float weight = sums[i][3];
            v3 mean = weight > 0 ? sums[i] / v3_splat(weight) : sums[i];
            values[i] = weight > 1e-6f ? v3_length(mean) * l->cell - job->radius : l->outside;
            if (values[i] > l->outside) values[i] = l->outside;
        }
    }
}

/* (1 2 1) / 4 between the rows before and after; `last` holds the row before, as it was. */
static void smooth_row(float *row, const float *after, float *last, int count) {
    for (int x = 0; x < count; x++) {
        float was = row[x];
        row[x] = 0.25f * (last[x] + after[x]) + 0.5f * was;
        last[x] = was;
    }
}

static void smooth_layers(void *data, chunk items) {
    level_set_job *job = data;
    level_set *l = job->l;
    int nx = l->points[0], ny = l->points[1];
    float *last = job->rows + (int64_t)items.worker * 2 * nx;
    for (int64_t z = items.begin; z < items.end; z++) {
        float *layer = l->values + z * nx * ny;
        for (int y = 0; y < ny; y++) {
            float *row = layer + (int64_t)y * nx, before = row[0];
            for (int x = 1; x < nx - 1; x++) {
                float was = row[x];
                row[x] = 0.25f * (before + row[x + 1]) + 0.5f * was;
                before = was;
            }
        }
        memcpy(last, layer, (size_t)nx * sizeof *last);
        for (int y = 1; y < ny - 1; y++)
            smooth_row(layer + (int64_t)y * nx, layer + (int64_t)(y + 1) * nx, last, nx);
    }
}

static void smooth_columns(void *data, chunk items) {
    level_set_job *job = data;
    level_set *l = job->l;
    int nx = l->points[0];
    int64_t layer = (int64_t)nx * l->points[1];
    float *last = job->rows + (int64_t)items.worker * 2 * nx;
    for (int64_t y = items.begin; y < items.end; y++) {
        float *column = l->values + y * nx;
        memcpy(last, column, (size_t)nx * sizeof *last);
        for (int z = 1; z < l->points[2] - 1; z++)
            smooth_row(column + z * layer, column + (z + 1) * layer, last, nx);
    }
}

/* Smoothing wears single drops away: particles that ended up outside get a sphere of their own. */
static void restore_drops(const level_set_job *job, int64_t count) {
    level_set *l = job->l;
    float sphere = fmaxf(0.8f * job->radius, 0.85f * l->cell);
    for (int64_t i = 0; i < count; i++) {
        v3 x = job->centers[i], g = (x - l->corner) / v3_splat(l->cell);
        if (level_set_value(l, x) < -0.1f * sphere) continue;
        for (int k = 0; k < 64; k++) {
            int p[3] = {(int)g[0] - 1 + (k & 3), (int)g[1] - 1 + (k >> 2 & 3),
                        (int)g[2] - 1 + (k >> 4)};
            v3 off = g - v3_set((float)p[0], (float)p[1], (float)p[2]);
            off[3] = 0;
            float *value = l->values + ((int64_t)p[2] * l->points[1] + p[1]) * l->points[0] + p[0];
            *value = fminf(*value, v3_length(off) * l->cell - sphere);
        }
    }
}

/* On which side of the surface the bricks are; a brick's points include those it shares. */
static void mark_bricks(void *data, chunk items) {
    level_set *l = ((level_set_job *)data)->l;
    int64_t layer = (int64_t)l->points[0] * l->points[1];
    for (int64_t bz = items.begin; bz < items.end; bz++)
        for (int by = 0; by < l->bricks[1]; by++)
            for (int bx = 0; bx < l->bricks[0]; bx++) {
                int low[3] = {bx * LEVEL_BRICK, by * LEVEL_BRICK, (int)bz * LEVEL_BRICK}, high[3];
                for (int a = 0; a < 3; a++)
                    high[a] = low[a] + LEVEL_BRICK < l->points[a] ? low[a] + LEVEL_BRICK
                                                                  : l->points[a] - 1;
                bool in = false, out = false;
                for (int z = low[2]; z <= high[2]; z++)
                    for (int y = low[1]; y <= high[1]; y++)
                        for (int x = low[0]; x <= high[0]; x++) {
                            bool negative =
                                l->values[z * layer + (int64_t)y * l->points[0] + x] < 0;
                            in |= negative, out |= !negative;
                        }
                l->side[(bz * l->bricks[1] + by) * l->bricks[0] + bx] = in && out ? 0
                                                                        : in      ? -FAR
                                                                                  : FAR;
            }
}

/* One sweep of the chessboard distance to a brick of another kind, first to last or back. */
static void spread_sides(level_set *l, int way) {
    const int *n = l->bricks;
    int64_t count = (int64_t)n[0] * n[1] * n[2];
    for (int64_t k = 0; k < count; k++) {
        int64_t i = way > 0 ? k : count - 1 - k;
        int at[3] = {(int)(i % n[0]), (int)(i / n[0] % n[1]), (int)(i / ((int64_t)n[0] * n[1]))};
        int sign = l->side[i] > 0 ? 1 : -1, best = sign * l->side[i];
        /* The 13 neighbours that the sweep has passed. */
        for (int m = 0; m < 13 && best > 1; m++) {
            int x = at[0] + way * (m % 3 - 1), y = at[1] + way * (m / 3 % 3 - 1),
                z = at[2] + way * (m / 9 - 1);
            if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2]) continue;
            int other = sign * l->side[((int64_t)z * n[1] + y) * n[0] + x];
            if (other < 0) other = 0;
            if (other + 1 < best) best = other + 1;
        }
        if (l->side[i]) l->side[i] = (signed char)(sign * best);
    }
}

static spate_status take_job(level_set_job *job, int64_t count) {
    level_set *l = job->l;
    spate_context *ctx = l->ctx;
    size_t workers = (size_t)pool_size(ctx->pool),
           layer = (size_t)l->points[0] * (size_t)l->points[1];
    int64_t bricks = 1;
    for (int a = 0; a < 3; a++) {
        l->bricks[a] = (l->points[a] + LEVEL_BRICK - 2) / LEVEL_BRICK;
        bricks *= l->bricks[a];
    }
    job->first = take(ctx, (size_t)job->slabs + 1, sizeof *job->first);
    job->order = take(ctx, (size_t)count, sizeof *job->order);
    job->sums = take(ctx, workers * layer * SLAB, sizeof *job->sums);
    job->rows = take(ctx, workers * 2 * (size_t)l->points[0], sizeof *job->rows);
    l->values = take(ctx, (size_t)point_count(l), sizeof *l->values);
    l->side = take(ctx, (size_t)bricks, sizeof *l->side);
    return job->first && job->order && job->sums && job->rows && l->values && l->side
               ? SPATE_OK
               : SPATE_OUT_OF_MEMORY;
}

/* Adds the mirror image of every particle within `reach` of a wall; corners come out of the order.
 */
static spate_status mirror_at_walls(const level_set *l, float reach, v3 **list, int64_t *capacity,
                                    int64_t *count) {
    for (int side = 0; side < 6; side++) {
        int axis = side / 2;
        float wall = side % 2 ? l->max[axis] : l->min[axis];
        for (int64_t i = 0, n = *count; i < n; i++) {
            v3 x = (*list)[i];
            if (fabsf(x[axis] - wall) > reach) continue;
            TRY(GROW(l->ctx, *list, *capacity, *count + 1));
            x[axis] = 2 * wall - x[axis];
            (*list)[(*count)++] = x;
        }
    }
    return SPATE_OK;
}

static spate_status build(level_set *out, const v3 *centers, int64_t count, float half_spacing,
                          float radius, bool drops) {
    spate_context *ctx = out->ctx;
    level_set_job job = {.l = out, .centers = centers};
    out->cell = 1.5f * half_spacing;
    place_grid(out, centers, count, 4 * half_spacing);
    /* A grid that had to be coarse needs particles that are seen from further away. */
    job.reach = fmaxf(4 * half_spacing, 2 * out->cell);
    job.radius = fmaxf(radius, 0.7f * out->cell);
    out->outside = job.reach - job.radius;
    job.slabs = (out->points[2] + SLAB - 1) / SLAB;
    job.slab_reach = 1 + (int)(job.reach / (out->cell * SLAB));
    spate_status status = take_job(&job, count);
    if (status == SPATE_OK) {
        sort_by_slab(&job, count);
        parallel_for(ctx->pool, job.slabs, 1, sum_slabs, &job);
        for (int k = 0; k < SMOOTHINGS; k++) {
            parallel_for(ctx->pool, out->points[2], 4, smooth_layers, &job);
            parallel_for(ctx->pool, out->points[1], 4, smooth_columns, &job);
        }
        if (drops) restore_drops(&job, count);
        parallel_for(ctx->pool, out->bricks[2], 2, mark_bricks, &job);
        spread_sides(out, 1);
        spread_sides(out, -1);
    }
    give(ctx, job.first);
    give(ctx, job.order);
    give(ctx, job.sums);
    give(ctx, job.rows);
    if (status != SPATE_OK) level_set_free(out);
    return status;
}

spate_status level_set_create(spate_context *ctx, const level_set_particles *particles,
                              float radius, const v3 box[2], level_set *out) {
    const int64_t count = particles->count;
    const float half_spacing = particles->half_spacing;
    *out = (level_set){.ctx = ctx, .min = box[0], .max = box[1]};
    if (!count) return SPATE_OK;
    if (!isfinite(out->min[0]))
        return build(out, particles->centers, count, half_spacing, radius, false);
    int64_t all = count, capacity = 0;
    v3 *list = NULL;
    spate_status status;
    TRY_OR_DONE(status, GROW(ctx, list, capacity, count));
    memcpy(list, particles->centers, (size_t)count * sizeof *list);
    TRY_OR_DONE(status, mirror_at_walls(out, 4 * half_spacing, &list, &capacity, &all));
    status = build(out, list, all, half_spacing, radius, true);
done:
    give(ctx, list);
    return status;
}

void level_set_free(level_set *l) {
    if (!l->ctx) return;
    give(l->ctx, l->values);
    give(l->ctx, l->side);
    *l = (level_set){0};
}

/* ---- Rays ------------------------------------------------------------------------------------ */

/* The value at grid coordinates g. */
static inline float value_at(const level_set *l, v3 g) {
    if (!(g[0] >= 0 && g[1] >= 0 && g[2] >= 0 && g[0] < (float)(l->points[0] - 1) &&
          g[1] < (float)(l->points[1] - 1) && g[2] < (float)(l->points[2] - 1)))
        return l->outside;
    int x = (int)g[0], y = (int)g[1], z = (int)g[2];
    float fx = g[0] - (float)x, fy = g[1] - (float)y, fz = g[2] - (float)z;
    int64_t nx = l->points[0], layer = nx * l->points[1];
    const float *v = l->values + z * layer + y * nx + x;
    float y0 = v[0] + (v[1] - v[0]) * fx, y1 = v[nx] + (v[nx + 1] - v[nx]) * fx;
    float z0 = y0 + (y1 - y0) * fy;
    v += layer;
    y0 = v[0] + (v[1] - v[0]) * fx, y1 = v[nx] + (v[nx + 1] - v[nx]) * fx;
    return z0 + (y0 + (y1 - y0) * fy - z0) * fz;
}

static inline v3 to_grid(const level_set *l, v3 x) {
    return (x - l->corner) * v3_splat(1 / l->cell);
}

float level_set_value(const level_set *l, v3 x) {
    return l->values ? value_at(l, to_grid(l, x)) : INFINITY;
}

v3 level_set_normal(const level_set *l, v3 x) {
    v3 n = {0}, g = to_grid(l, x);
    if (!l->values) return n;
    for (int a = 0; a < 3; a++) {
        v3 shift = {0};
        shift[a] = 1;
        n[a] = value_at(l, g + shift) - value_at(l, g - shift);
    }
    return v3_unit(n);
}

/* A ray in grid coordinates: lengths are cells. */
typedef struct walk {
    const level_set *l;
    v3 from, along, inverse;
    float skip; /* length of a brick along the ray's leading axis */
} walk;

static inline v3 walk_at(const walk *w, float t) { return w->from + w->along * v3_splat(t); }

/* Side of the brick at g, and how far along the ray all is on that side. */
static inline int brick_at(const walk *w, v3 g, float *free) {
    const level_set *l = w->l;
    int b[3];
    float end = INFINITY;
    for (int a = 0; a < 3; a++) {
        b[a] = (int)(g[a] * (1.0f / LEVEL_BRICK));
        b[a] = b[a] < 0 ? 0 : b[a] >= l->bricks[a] ? l->bricks[a] - 1 : b[a];
        float border = (float)((b[a] + (w->along[a] >= 0)) * LEVEL_BRICK);
        end = min_of(end, (border - g[a]) * w->inverse[a]);
    }
    int side = l->side[((int64_t)b[2] * l->bricks[1] + b[1]) * l->bricks[0] + b[0]];
    int bricks = side < 0 ? -side : side;
    *free = max_of(end, 0) + (bricks > 1 ? (float)(bricks - 1) * w->skip : 0);
    return side;
}

/* The crossing between `before` (on the starting side) and `after`, by false position; an end that
 * stays where it is counts half the next time (the Illinois rule), so that both move. */
static hit refine(const walk *w, float before, float after, bool inside) {
    float a = before, b = after, va = value_at(w->l, walk_at(w, a)),
          vb = value_at(w->l, walk_at(w, b));
    float t = b;
    for (int k = 0, moved = 0; k < 5 && va != vb; k++) {
        t = a + (b - a) * unit_clamp(va / (va - vb));
        float v = value_at(w->l, walk_at(w, t));
        if ((v < 0) == inside) {
            if (moved < 0) vb *= 0.5f;
            a = t, va = v, moved = -1;
        } else {
            if (moved > 0) va *= 0.5f;
            b = t, vb = v, moved = 1;
        }
    }
    v3 x = w->l->corner + walk_at(w, t) * v3_splat(w->l->cell);
    return (hit){.met = true, .t = t * w->l->cell, .normal = level_set_normal(w->l, x)};
}

static hit wall_hit(const ray *r, float t, int axis, bool leaving) {
    hit h = {.met = true, .t = t};
    h.normal[axis] = (r->along[axis] > 0) == leaving ? 1.0f : -1.0f;
    return h;
}

/* Walks from begin to end (cells): over bricks of the starting side at once, elsewhere by the
 * value. */
static hit walk_across(const walk *w, float begin, float end, bool inside) {
    float t = begin, before = begin;
    while (t < end) {
        float free;
        v3 g = walk_at(w, t);
        int side = brick_at(w, g, &free);
        if (inside ? side < 0 : side > 0) {
            before = t + free;
            t = before + 1e-3f;
            continue;
        }
        float v = value_at(w->l, g);
        if ((v < 0) != inside && t > begin) return refine(w, before, t, inside);
        before = t;
        t += max_of(0.7f / w->l->cell * fabsf(v), 0.5f);
    }
    if (before < end && (value_at(w->l, walk_at(w, end)) < 0) != inside)
        return refine(w, before, end, inside);
    return (hit){0};
}

hit level_set_cross(const level_set *l, const ray *r, float near, float far, bool inside) {
    if (!l->values) return (hit){0};
    v3 low, high;
    int axes[2];
    float begin = near, end = far;
    for (int a = 0; a < 3; a++) {
        low[a] = max_of(l->min[a], l->corner[a]);
        high[a] = min_of(l->max[a], l->corner[a] + l->cell * (float)(l->points[a] - 1));
    }
    if (!ray_box(r, low, high, &begin, &end, axes)) return (hit){0};
    if (!inside && axes[0] >= 0 && level_set_value(l, ray_at(r, begin)) < 0)
        return wall_hit(r, begin, axes[0], false);
    walk w = {.l = l, .from = to_grid(l, r->from), .along = r->along};
    float lead = 0;
    for (int a = 0; a < 3; a++) {
        bool moves = fabsf(w.along[a]) > 1e-9f;
        w.inverse[a] = moves ? 1 / w.along[a] : 1e30f;
        if (!moves) w.along[a] = 0;
        lead = max_of(lead, fabsf(w.along[a]));
    }
    w.skip = LEVEL_BRICK / lead;
    hit h = walk_across(&w, begin / l->cell, end / l->cell, inside);
    return h.met || !inside || axes[1] < 0 ? h : wall_hit(r, end, axes[1], true);
}
