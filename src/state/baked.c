/*
 * Bricks are told near from far by the distance at their middle: a signed distance changes by no
 * more than the way walked (it is 1-Lipschitz), so a brick whose middle is farther from the surface
 * than half its diagonal and the band has no part in the band, and all of it is on one side. The
 * exception are open meshes, whose sign (by winding number) changes across a hole, far from any
 * triangle: neighbours on different sides are near, too.
 *
 * The value is linear along each axis between samples (trilinear; bilinear in 2D), for which the
 * error is about h^2 / (4 R) where the surface has radius R; the normal is the gradient of that
 * interpolation. A kink at half the spacing is off by an eighth of a cell, or a little more in a
 * corner: sharp edges are rounded off by so much.
 */
#include "state/baked.h"

#include "core/real.h"
#include "core/threads.h"
#include "core/vec.h"

enum {
    BRICK = 4,        /* cells along a brick */
    FINE = 2 * BRICK, /* cells along one at half the spacing */
    MOST_BRICKS = 1 << 24,
    GRAIN = 16
};
static const double BAND = 2;         /* cells to both sides of the surface */
static const double TOLERANCE = 0.05; /* cells: more than that takes half the spacing */

/* Cells: the largest error, where the distance has a kink across the middle of a cell. */
static const double ERROR = 0.5;

/* Marks in brick.first until there are samples. */
enum { FAR = -1, NEAR = -2 };

typedef struct brick {
    float middle;  /* distance there */
    int32_t first; /* sample, or FAR */
} brick;

struct baked {
    spate_context *ctx;
    const shape *shape;
    int dim;
    double spacing, side; /* of a cell, of a brick */
    double per_side;      /* 1 / side */
    double half_diagonal; /* of a brick */
    bounds box;           /* of the shape */
    double origin[3];     /* lowest corner of brick 0 */
    int32_t count[3];     /* bricks along each axis; 1 along z in 2D */
    int64_t bricks, near, fine;
    brick *table;
    /* Each near brick has (4 + 1)^dim samples; the fine ones have (8 + 1)^dim besides, after all
     * of those, and use only them. */
    float *samples;
    int32_t first_fine, sample_count;
    bool too_large; /* given up */
    int64_t thin;   /* a brick with a thin wall, or -1 */
};

bool baked_is_needed(const shape *s) {
    if (s->kind == SHAPE_MESH) return true;
    for (int i = 0; i < s->child_count; i++)
        if (baked_is_needed(s->children[i])) return true;
    return false;
}

double baked_band(const baked *b) { return BAND * b->spacing; }
double baked_error(const baked *b) { return ERROR * b->spacing; }

baked_size baked_measure(const baked *b) {
    return (baked_size){.bricks = b->bricks,
                        .near = b->near,
                        .fine = b->fine,
                        .bytes = (int64_t)sizeof *b + b->bricks * (int64_t)sizeof *b->table +
                                 b->sample_count * (int64_t)sizeof *b->samples};
}

INLINE int32_t samples_of(int cells, int dim) {
    return (cells + 1) * (cells + 1) * (dim == 3 ? cells + 1 : 1);
}

INLINE int64_t index_of(const baked *b, const int32_t at[3]) {
    return ((int64_t)at[0] * b->count[1] + at[1]) * b->count[2] + at[2];
}

static void place_of(const baked *b, int64_t index, int32_t at[3]) {
    at[2] = (int32_t)(index % b->count[2]);
    at[1] = (int32_t)(index / b->count[2] % b->count[1]);
    at[0] = (int32_t)(index / b->count[2] / b->count[1]);
}

/* The corner of a brick, and a point `shares` of a brick from it. */
static void point_in(const baked *b, const int32_t at[3], const double shares[3], double x[3]) {
    vec_set(x, 0, 0, 0);
    for (int a = 0; a < b->dim; a++) x[a] = b->origin[a] + (at[a] + shares[a]) * b->side;
}

bool baked_is_thin(const baked *b, double near[3]) {
    int32_t at[3];
    if (b->thin < 0) return false;
    place_of(b, b->thin, at);
    point_in(b, at, (const double[3]){0.5, 0.5, 0.5}, near);
    return true;
}

/* ---- Asking ---------------------------------------------------------------------------------- */

INLINE double between(double a, double b, double share) { return a + share * (b - a); }

/* Between four samples, and the slopes along both axes. */
INLINE double blend_square(const float *s, int row, double f, double g, double slopes[2]) {
    double p = between(s[0], s[1], g), q = between(s[row], s[row + 1], g);
    slopes[0] = q - p;
    slopes[1] = between((double)s[1] - s[0], (double)s[row + 1] - s[row], f);
    return between(p, q, f);
}

/* Between the samples of a cell whose first is at s, `row` samples along an axis. */
INLINE double blend(const float *s, int row, const double f[3], double slopes[3], int dim) {
    if (dim == 2) {
        slopes[2] = 0;
        return blend_square(s, row, f[0], f[1], slopes);
    }
    double low[2], high[2];
    double p = blend_square(s, row, f[1], f[2], low);
    double q = blend_square(s + row * row, row, f[1], f[2], high);
    slopes[0] = q - p;
    slopes[1] = between(low[0], high[0], f[0]);
    slopes[2] = between(low[1], high[1], f[0]);
    return between(p, q, f[0]);
}

/* The normal from the slopes over a cell; from the shape itself where they cancel out, as half way
 * between two sides of a wall. */
INLINE void normal_from(const baked *b, const double x[3], const double slopes[3], double cell,
                        double normal[3]) {
    double length = vec_length(slopes);
    if (length > 0.25 * cell)
        vec_scale(normal, 1 / length, slopes);
    else
        shape_normal(b->shape, b->dim, x, normal);
}

/* Outside of all bricks. */
static double distance_beyond(const baked *b, const double x[3], double normal[3]) {
    double gap = bounds_gap(&b->box, b->dim, x);
    if (!normal && gap >= BAND * b->spacing) return gap;
    double n[3];
    return shape_normal(b->shape, b->dim, x, normal ? normal : n);
}

/* In a brick without samples, `shares` of the way through it. Its middle is nearer than half the
 * diagonal, so the distance differs from that there by no more. Inside, the distances at the
 * middles around are blended, because there it is not for culling but to tell how deep. */
static double distance_far(const baked *b, const int32_t at[3], const double shares[3],
                           const double x[3], double normal[3]) {
    double middle = b->table[index_of(b, at)].middle, away[3] = {0}, f[3] = {0}, slopes[3];
    int32_t low[3] = {0}, corner[3] = {0};
    for (int a = 0; a < b->dim; a++) {
        away[a] = (shares[a] - 0.5) * b->side;
        double place = at[a] + shares[a] - 0.5, last = b->count[a] - 1;
        place = place < 0 ? 0 : place > last ? last : place;
        low[a] = (int32_t)place;
        f[a] = place - low[a];
    }
    double bound = fabs(middle) * (1 - FLT_EPSILON) - vec_length(away);
    if (!normal && middle > 0) return bound;
    float around[8];
    for (int k = 0; k < 1 << b->dim; k++) {
        for (int a = 0; a < b->dim; a++) {
            corner[a] = low[a] + (k >> (b->dim - 1 - a) & 1);
            if (corner[a] >= b->count[a]) corner[a] = b->count[a] - 1;
        }
        around[k] = b->table[index_of(b, corner)].middle;
    }
    double blended = b->dim == 3 ? blend(around, 2, f, slopes, 3) : blend(around, 2, f, slopes, 2);
    if (normal) normal_from(b, x, slopes, b->side, normal);
    return middle > 0 ? bound : fmin(-bound, blended);
}

INLINE double distance_at(const baked *b, const double x[3], double normal[3], int dim) {
    double f[3], slopes[3];
    int32_t at[3] = {0}, cell = 0;
    for (int a = 0; a < dim; a++) {
        f[a] = (x[a] - b->origin[a]) * b->per_side;
        if (!(f[a] >= 0 && f[a] < b->count[a])) return distance_beyond(b, x, normal);
        at[a] = (int32_t)f[a];
        f[a] -= at[a];
    }
    int32_t first = b->table[index_of(b, at)].first;
    if (first < 0) return distance_far(b, at, f, x, normal);
    int cells = first < b->first_fine ? BRICK : FINE;
    for (int a = 0; a < dim; a++) {
        f[a] *= cells;
        int32_t i = (int32_t)f[a];
        f[a] -= i;
        cell = cell * (cells + 1) + i;
    }
    double d = blend(b->samples + first + cell, cells + 1, f, slopes, dim);
    if (normal) normal_from(b, x, slopes, b->side / cells, normal);
    return d;
}

double baked_distance(const baked *b, const double x[3], double normal[3]) {
    return b->dim == 3 ? distance_at(b, x, normal, 3) : distance_at(b, x, normal, 2);
}

/* ---- Baking ---------------------------------------------------------------------------------- */

typedef struct bake_job {
    baked *b;
    int64_t *list; /* near bricks */
    bool *fine;    /* of them, whether they need half the spacing */
    bool *thin;    /* and whether they have a thin wall */
} bake_job;

/* Rows of bricks: the distances at their middles. */
static void measure_rows(void *data, chunk items) {
    baked *b = ((bake_job *)data)->b;
    shape_hints hints = {0};
    for (int64_t k = items.begin * b->count[2]; k < items.end * b->count[2]; k++) {
        int32_t at[3];
        double x[3];
        place_of(b, k, at);
        point_in(b, at, (const double[3]){0.5, 0.5, 0.5}, x);
        b->table[k].middle = (float)shape_distance_near(b->shape, b->dim, x, &hints);
    }
}

/* Whether any of the bricks around is on the other side. */
static bool is_at_turn(const baked *b, const int32_t at[3]) {
    bool inside = b->table[index_of(b, at)].middle < 0;
    int32_t low[3], high[3], other[3];
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] > 0 ? at[a] - 1 : 0;
        high[a] = at[a] + 1 < b->count[a] ? at[a] + 1 : at[a];
    }
    for (other[0] = low[0]; other[0] <= high[0]; other[0]++)
        for (other[1] = low[1]; other[1] <= high[1]; other[1]++)
            for (other[2] = low[2]; other[2] <= high[2]; other[2]++)
                if ((b->table[index_of(b, other)].middle < 0) != inside) return true;
    return false;
}

static void mark_rows(void *data, chunk items) {
    baked *b = ((bake_job *)data)->b;
    double reach = (b->half_diagonal + BAND * b->spacing) * (1 + 4 * FLT_EPSILON);
    for (int64_t k = items.begin * b->count[2]; k < items.end * b->count[2]; k++) {
        int32_t at[3];
        place_of(b, k, at);
        bool near = fabs(b->table[k].middle) <= reach || is_at_turn(b, at);
        b->table[k].first = near ? NEAR : FAR;
    }
}

/* The same sample in the brick that it is the first corner of, if that has samples as close. */
static const float *twin_of(const baked *b, const int32_t at[3], const int place[3], int cells) {
    int32_t other[3];
    int sample = 0;
    bool own = true;
    for (int a = 0; a < b->dim; a++) {
        bool last = place[a] == cells;
        other[a] = at[a] + last;
        sample = sample * (cells + 1) + (last ? 0 : place[a]);
        own &= !last;
        if (other[a] >= b->count[a]) return NULL;
    }
    if (b->dim == 2) other[2] = 0;
    int32_t first = b->table[index_of(b, other)].first;
    if (own || first < 0 || (first >= b->first_fine) != (cells == FINE)) return NULL;
    return b->samples + first + sample;
}

/* The samples of a brick that no other brick has, or copies of those that others have. Goes to and
 * fro so that each is next to the one before, which the hints like. */
static void sample_brick(const baked *b, int64_t index, int cells, shape_hints *hints, bool copy) {
    float *samples = b->samples + b->table[index].first;
    int32_t at[3];
    int depth = b->dim == 3 ? cells + 1 : 1;
    place_of(b, index, at);
    for (int i = 0; i <= cells; i++)
        for (int n = 0; n < (cells + 1) * depth; n++) {
            int m = i % 2 ? (cells + 1) * depth - 1 - n : n, j = m / depth;
            int k = j % 2 ? depth - 1 - m % depth : m % depth;
            const float *twin = twin_of(b, at, (const int[3]){i, j, k}, cells);
            float *sample = samples + (i * (cells + 1) + j) * depth + k;
            if (copy && twin) *sample = *twin;
            if (copy || twin) continue;
            double shares[3] = {(double)i / cells, (double)j / cells, (double)k / cells}, x[3];
            point_in(b, at, shares, x);
            *sample = (float)shape_distance_near(b->shape, b->dim, x, hints);
        }
}

/* The middle x of cell n of a brick, and what its samples make of the distance there. */
static double guess_at(const baked *b, int64_t index, int cells, int n, double x[3],
                       double slopes[3]) {
    static const double half[3] = {0.5, 0.5, 0.5};
    int place[3] = {0}, first = 0;
    for (int a = b->dim - 1; a >= 0; a--, n /= cells) place[a] = n % cells;
    double shares[3] = {0};
    for (int a = 0; a < b->dim; a++) {
        shares[a] = (place[a] + 0.5) / cells;
        first = first * (cells + 1) + place[a];
    }
    int32_t at[3];
    place_of(b, index, at);
    point_in(b, at, shares, x);
    const float *samples = b->samples + b->table[index].first + first;
    return b->dim == 3 ? blend(samples, cells + 1, half, slopes, 3)
                       : blend(samples, cells + 1, half, slopes, 2);
}

static int cells_of(const baked *b, int cells) { return cells * cells * (b->dim == 3 ? cells : 1); }

/* Whether the interpolation is off in the middle of some cell that the surface may pass. */
static bool needs_fine(const baked *b, int64_t index, shape_hints *hints) {
    for (int n = 0; n < cells_of(b, BRICK); n++) {
        double x[3], slopes[3], guess = guess_at(b, index, BRICK, n, x, slopes);
        if (fabs(guess) > b->spacing) continue;
        double d = shape_distance_near(b->shape, b->dim, x, hints);
        if (fabs(d - guess) > TOLERANCE * b->spacing) return true;
    }
    return false;
}

/* Whether somewhere inside the distance has a ridge, with the surface less than half a cell away on
 * both sides. There the slopes cancel out; at an edge of 90 degrees they do not. In 2D the distance
 * is that to the solid, also above and below, and tells nothing of walls. */
static bool has_thin_wall(const baked *b, int64_t index) {
    if (b->dim == 2) return false;
    for (int n = 0; n < cells_of(b, FINE); n++) {
        double x[3], slopes[3], guess = guess_at(b, index, FINE, n, x, slopes);
        if (fabs(guess) > b->spacing / 2 || vec_length(slopes) > 0.1 * b->spacing) continue;
        double d = shape_distance(b->shape, b->dim, x);
        if (d < 0 && d > -b->spacing / 2) return true;
    }
    return false;
}

static void sample_near(void *data, chunk items) {
    bake_job *job = data;
    shape_hints hints = {0};
    for (int64_t n = items.begin; n < items.end; n++)
        sample_brick(job->b, job->list[n], BRICK, &hints, false);
}

static void finish_near(void *data, chunk items) {
    bake_job *job = data;
    shape_hints hints = {0};
    for (int64_t n = items.begin; n < items.end; n++) {
        sample_brick(job->b, job->list[n], BRICK, NULL, true);
        job->fine[n] = needs_fine(job->b, job->list[n], &hints);
    }
}

static void sample_fine(void *data, chunk items) {
    bake_job *job = data;
    shape_hints hints = {0};
    for (int64_t n = items.begin; n < items.end; n++)
        if (job->fine[n]) sample_brick(job->b, job->list[n], FINE, &hints, false);
}

static void finish_fine(void *data, chunk items) {
    bake_job *job = data;
    for (int64_t n = items.begin; n < items.end; n++) {
        if (!job->fine[n]) continue;
        sample_brick(job->b, job->list[n], FINE, NULL, true);
        job->thin[n] = has_thin_wall(job->b, job->list[n]);
    }
}

/* Room for the samples of `more` bricks after those there are. */
static spate_status add_samples(baked *b, int64_t more, int cells) {
    int64_t all = b->sample_count + more * samples_of(cells, b->dim);
    if (all > INT32_MAX) return b->too_large = true, SPATE_OK;
    float *samples =
        retake(b->ctx, b->samples, (size_t)b->sample_count, (size_t)all + 1, sizeof *samples);
    if (!samples) return SPATE_OUT_OF_MEMORY;
    b->samples = samples;
    b->sample_count = (int32_t)all;
    return SPATE_OK;
}

/* Half the spacing where that is needed. */
static spate_status bake_fine(bake_job *job) {
    baked *b = job->b;
    int32_t next = b->sample_count;
    for (int64_t n = 0; n < b->near; n++) b->fine += job->fine[n];
    TRY(add_samples(b, b->fine, FINE));
    if (b->too_large) return SPATE_OK;
    for (int64_t n = 0; n < b->near; n++) {
        if (!job->fine[n]) continue;
        b->table[job->list[n]].first = next;
        next += samples_of(FINE, b->dim);
    }
    parallel_for(b->ctx->pool, b->near, GRAIN, sample_fine, job);
    parallel_for(b->ctx->pool, b->near, GRAIN, finish_fine, job);
    for (int64_t n = 0; n < b->near && b->thin < 0; n++)
        if (job->thin[n]) b->thin = job->list[n];
    return SPATE_OK;
}

static spate_status bake_near(baked *b) {
    bake_job job = {.b = b};
    for (int64_t k = 0; k < b->bricks; k++) b->near += b->table[k].first == NEAR;
    TRY(add_samples(b, b->near, BRICK));
    if (b->too_large) return SPATE_OK;
    spate_status status = SPATE_OUT_OF_MEMORY;
    job.list = take(b->ctx, (size_t)b->near + 1, sizeof *job.list);
    job.fine = job.list ? take(b->ctx, (size_t)b->near + 1, sizeof *job.fine) : NULL;
    job.thin = job.fine ? take(b->ctx, (size_t)b->near + 1, sizeof *job.thin) : NULL;
    if (!job.thin) goto done;
    for (int64_t k = 0, n = 0; k < b->bricks; k++) {
        if (b->table[k].first != NEAR) continue;
        b->table[k].first = (int32_t)n * samples_of(BRICK, b->dim);
        job.list[n++] = k;
    }
    b->first_fine = b->sample_count;
    parallel_for(b->ctx->pool, b->near, GRAIN, sample_near, &job);
    parallel_for(b->ctx->pool, b->near, GRAIN, finish_near, &job);
    status = bake_fine(&job);
done:
    give(b->ctx, job.list);
    give(b->ctx, job.fine);
    give(b->ctx, job.thin);
    return status;
}

/* The bricks cover what of the shape and its band lies in reach, and have the same middle. */
static void lay_out(baked *b, const bounds *reach) {
    double bricks = 1, band = BAND * b->spacing;
    for (int a = 0; a < 3; a++) b->count[a] = 1;
    for (int a = 0; a < b->dim; a++) {
        double low = fmax(b->box.min[a] - band, reach->min[a]);
        double high = fmin(b->box.max[a] + band, reach->max[a]);
        double count = high > low ? ceil((high - low) * b->per_side) : 0;
        bricks *= count;
        b->too_large |= !(count <= MOST_BRICKS && bricks <= MOST_BRICKS);
        if (b->too_large) return;
        b->count[a] = (int32_t)count;
        b->origin[a] = count > 0 ? (low + high - count * b->side) / 2 : 0;
    }
    b->bricks = (int64_t)bricks;
}

static spate_status bake(baked *b, const bounds *reach) {
    lay_out(b, reach);
    if (b->too_large || b->bricks == 0) return SPATE_OK;
    b->table = take(b->ctx, (size_t)b->bricks, sizeof *b->table);
    if (!b->table) return SPATE_OUT_OF_MEMORY;
    bake_job job = {.b = b};
    int64_t rows = (int64_t)b->count[0] * b->count[1];
    parallel_for(b->ctx->pool, rows, 4, measure_rows, &job);
    parallel_for(b->ctx->pool, rows, 4, mark_rows, &job);
    return bake_near(b);
}

spate_status baked_create(spate_context *ctx, const shape *s, int dim, double spacing,
                          const bounds *reach, baked **out) {
    *out = NULL;
    baked *b = take(ctx, 1, sizeof *b);
    if (!b) return SPATE_OUT_OF_MEMORY;
    double side = BRICK * spacing;
    *b = (baked){.ctx = ctx,
                 .shape = s,
                 .dim = dim,
                 .thin = -1,
                 .spacing = spacing,
                 .side = side,
                 .per_side = 1 / side,
                 .half_diagonal = side / 2 * sqrt(dim),
                 .box = shape_bounds(s, dim)};
    spate_status status = bake(b, reach);
    if (status || b->too_large)
        baked_free(b);
    else
        *out = b;
    return status;
}

void baked_free(baked *b) {
    if (!b) return;
    give(b->ctx, b->samples);
    give(b->ctx, b->table);
    give(b->ctx, b);
}
