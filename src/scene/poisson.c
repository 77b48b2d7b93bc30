/* Bridson's method: a point is tried around one that is already there, at one to two radii, until
 * thirty tries in a row fail. A grid whose cells hold at most one point each finds what is near. */
#include "scene/poisson.h"
#include "core/random.h"
#include "core/vec.h"
#include <stdlib.h>

enum { TRIES = 30 };

typedef struct filling {
    spate_context *ctx;
    const poisson_region *region;
    int dim;
    uint64_t seed, drawn; /* numbers drawn so far: the counter of the random numbers */
    double radius, cell;
    int64_t cells[3];
    int32_t *owner; /* a point's number + 1 for each cell, 0 when empty */
    double (*points)[3];
    int64_t count, capacity;
    int32_t *active; /* points that may still have room around them */
    int64_t active_count, active_capacity;
} filling;

static double draw(filling *f) { return random_unit(f->seed, f->drawn++, 17); }

static void cell_of(const filling *f, const double x[3], int64_t c[3]) {
    for (int i = 0; i < 3; i++) {
        double k = i < f->dim ? floor((x[i] - f->region->box.min[i]) / f->cell) : 0;
        c[i] = (int64_t)fmin(fmax(k, 0), (double)(f->cells[i] - 1));
    }
}

static int64_t cell_index(const filling *f, const int64_t c[3]) {
    return (c[2] * f->cells[1] + c[1]) * f->cells[0] + c[0];
}

/* Whether no point is nearer than the radius: cells are radius / sqrt(d), so two cells a side do.
 */
static bool is_free(const filling *f, const double x[3]) {
    int64_t c[3], lo[3], hi[3];
    cell_of(f, x, c);
    for (int i = 0; i < 3; i++) {
        lo[i] = c[i] > 2 ? c[i] - 2 : 0;
        hi[i] = c[i] + 2 < f->cells[i] ? c[i] + 2 : f->cells[i] - 1;
    }
    if (f->owner[cell_index(f, c)]) return false;
    for (int64_t z = lo[2]; z <= hi[2]; z++)
        for (int64_t y = lo[1]; y <= hi[1]; y++) {
            const int32_t *row = f->owner + (z * f->cells[1] + y) * f->cells[0];
            for (int64_t i = lo[0]; i <= hi[0]; i++) {
                if (!row[i]) continue;
                double d[3];
                vec_sub(d, x, f->points[row[i] - 1]);
                if (vec_dot(d, d) < f->radius * f->radius) return false;
            }
        }
    return true;
}

static spate_status add(filling *f, const double x[3]) {
    TRY(GROW(f->ctx, f->points, f->capacity, f->count + 1));
    TRY(GROW(f->ctx, f->active, f->active_capacity, f->active_count + 1));
    if (f->count >= INT32_MAX - 1)
        return fail(f->ctx, SPATE_BAD_INPUT, "a body has more than 2^31 Poisson-disc points");
    int64_t c[3];
    cell_of(f, x, c);
    vec_copy(f->points[f->count], x);
    f->active[f->active_count++] = (int32_t)f->count++;
    f->owner[cell_index(f, c)] = (int32_t)f->count;
    return SPATE_OK;
}

/* A point between one and two radii from p, evenly in space. */
static void candidate(filling *f, const double p[3], double x[3]) {
    double d[3], dd;
    do {
        vec_set(d, 0, 0, 0);
        for (int i = 0; i < f->dim; i++) d[i] = 4 * draw(f) - 2;
        dd = vec_dot(d, d);
    } while (dd < 1 || dd > 4);
    vec_add_scaled(x, p, f->radius, d);
}

static bool in_box(const filling *f, const double x[3]) {
    for (int i = 0; i < f->dim; i++)
        if (x[i] < f->region->box.min[i] || x[i] > f->region->box.max[i]) return false;
    return true;
}

/* Works until no active point has room around it. */
static spate_status spread(filling *f) {
    while (f->active_count) {
        int64_t chosen = (int64_t)(draw(f) * (double)f->active_count);
        double p[3], x[3];
        vec_copy(p, f->points[f->active[chosen]]);
        bool found = false;
        for (int k = 0; k < TRIES && !found; k++) {
            candidate(f, p, x);
            found = in_box(f, x) && is_free(f, x) && f->region->allowed(x, f->region->user);
        }
        if (found)
            TRY(add(f, x));
        else
            f->active[chosen] = f->active[--f->active_count];
    }
    return SPATE_OK;
}

static spate_status make_grid(filling *f) {
    double total = 1;
    f->cell = f->radius / sqrt(f->dim);
    for (int i = 0; i < 3; i++) {
        double extent = f->region->box.max[i] - f->region->box.min[i];
        f->cells[i] = i < f->dim ? (int64_t)(fmax(extent, 0) / f->cell) + 1 : 1;
        total *= (double)f->cells[i];
    }
    if (total > 0x1p36)
        return fail(f->ctx, SPATE_BAD_INPUT,
                    "a body's box is too large for Poisson-disc sampling; split it or use "
                    "`sampling: jittered`");
    f->owner = take(f->ctx, (size_t)total, sizeof *f->owner);
    return f->owner ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

spate_status poisson_fill(spate_context *ctx, const poisson_region *region, int dim, uint64_t seed,
                          double radius, double (**points)[3], int64_t *count) {
    filling f = {.ctx = ctx, .region = region, .dim = dim, .seed = seed, .radius = radius};
    spate_status status;
    TRY_OR_DONE(status, make_grid(&f));
    for (int64_t i = 0; i < region->start_count; i++) {
        if (!is_free(&f, region->starts[i])) continue;
        TRY_OR_DONE(status, add(&f, region->starts[i]));
        TRY_OR_DONE(status, spread(&f));
    }
done:
    give(ctx, f.owner);
    give(ctx, f.active);
    if (status != SPATE_OK) {
        give(ctx, f.points);
        return status;
    }
    *points = f.points;
    *count = f.count;
    return SPATE_OK;
}

static int compare_keys(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

spate_status poisson_thin(spate_context *ctx, uint64_t seed, int64_t target, double (*points)[3],
                          int64_t *count) {
    if (*count <= target) return SPATE_OK;
    uint64_t *keys = take(ctx, (size_t)*count, sizeof *keys);
    if (!keys) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < *count; i++) keys[i] = random_bits(seed, (uint64_t)i, 18);
    qsort(keys, (size_t)*count, sizeof *keys, compare_keys);
    uint64_t limit = target > 0 ? keys[target - 1] : 0;
    int64_t kept = 0;
    for (int64_t i = 0; i < *count && kept < target; i++)
        if (random_bits(seed, (uint64_t)i, 18) <= limit) vec_copy(points[kept++], points[i]);
    *count = kept;
    give(ctx, keys);
    return SPATE_OK;
}
