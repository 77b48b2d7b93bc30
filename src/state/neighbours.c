/*
 * Cell lists (Hockney and Eastwood 1981, section 8.4) with cells sorted by key instead of a table
 * of all cells:
 *   1. box      around the points; its cells are numbered with the last axis fastest
 *   2. sort     points by cell, a stable counting sort eleven bits of the key at a time
 *   3. cells    those that hold points
 *   4. count    the neighbours of every point, then where its list begins
 *   5. fill     the lists
 * The runs of a cell have keys at fixed distances from its own, so going through the cells in order
 * they are found by cursors that only move forward.
 */
#include "state/neighbours.h"

#include "core/simd.h"
#include <math.h>

enum {
    DIGIT_BITS = 11,
    DIGITS = 1 << DIGIT_BITS,
    SORT_CHUNK = 16384,   /* points */
    CELL_CHUNK = 64,      /* cells */
    AXIS_CELLS = 1 << 20, /* the product of three must fit a key */
    SLICES = 2, /* cells to a radius along the last axis: shorter runs, fewer candidates */
    RUNS_MAX = 9,
    PIECE = 128 /* candidates of a run that are looked at together */
};

/* Cells are larger than the radius by more than all rounding: of distances in working precision,
 * and of cell coordinates up to AXIS_CELLS in double. */
static const double EDGE_MARGIN = 1e-6;

neighbours neighbours_create(spate_context *ctx, int dim) {
    return (neighbours){.ctx = ctx, .dim = dim};
}

static void free_points(neighbours *n) {
    spate_context *ctx = n->ctx;
    give(ctx, n->cell_key), give(ctx, n->cell_first), give(ctx, n->order), give(ctx, n->keys);
    give(ctx, n->other_order), give(ctx, n->digits), give(ctx, n->first);
    for (int a = 0; a < 3; a++) give(ctx, n->sorted[a]), n->sorted[a] = NULL;
    n->cell_key = n->keys = NULL, n->digits = NULL, n->first = NULL;
    n->cell_first = n->order = n->other_order = NULL;
    n->point_capacity = 0;
}

void neighbours_free(neighbours *n) {
    if (!n->ctx) return;
    free_points(n);
    give(n->ctx, n->list);
    *n = (neighbours){0};
}

static spate_status reserve_points(neighbours *n, int64_t count) {
    if (count <= n->point_capacity) return SPATE_OK;
    spate_context *ctx = n->ctx;
    size_t room = (size_t)(count + count / 4 + 64), chunks = room / SORT_CHUNK + 1;
    free_points(n);
    n->cell_key = take(ctx, room, sizeof *n->cell_key);
    n->cell_first = take(ctx, room + 1, sizeof *n->cell_first);
    n->order = take(ctx, room, sizeof *n->order);
    n->keys = take(ctx, room, sizeof *n->keys);
    n->other_order = take(ctx, room, sizeof *n->other_order);
    n->digits = take(ctx, chunks * DIGITS, sizeof *n->digits);
    n->first = take(ctx, room + 1, sizeof *n->first);
    bool done = n->cell_key && n->cell_first && n->order && n->keys && n->other_order &&
                n->digits && n->first;
    for (int a = 0; a < n->dim && done; a++) {
        n->sorted[a] = take(ctx, room + WIDE, sizeof *n->sorted[a]);
        done = n->sorted[a] != NULL;
    }
    if (!done) {
        free_points(n);
        return SPATE_OUT_OF_MEMORY;
    }
    n->point_capacity = (int64_t)room;
    return SPATE_OK;
}

/* ---- Cells ----------------------------------------------------------------------------------- */

typedef struct build {
    neighbours *n;
    const real *const *positions;
    pool *threads;
    real radius2;
    uint64_t last_key;
    uint64_t *from_keys, *to_keys; /* one pass of the sort */
    int32_t *from_order, *to_order;
    int shift;
} build;

/* Corner, edges and strides of the cells. */
static spate_status measure_box(build *b) {
    neighbours *n = b->n;
    int64_t cells[3] = {1, 1, 1};
    for (int a = 0; a < n->dim; a++) {
        const real *x = b->positions[a];
        real low = x[0], high = x[0];
        bool finite = true;
        for (int64_t i = 0; i < n->count; i++) {
            low = x[i] < low ? x[i] : low;
            high = x[i] > high ? x[i] : high;
            finite &= x[i] - x[i] == 0;
        }
        double extent = (double)high - (double)low;
        if (!finite || extent > DBL_MAX)
            return fail(n->ctx, SPATE_UNSTABLE,
                        "neighbour search: a point's position is not a finite number");
        n->corner[a] = (double)low;
        double edge = n->radius * (1 + EDGE_MARGIN) / (a == n->dim - 1 ? SLICES : 1);
        n->edge[a] = fmax(edge, extent / (AXIS_CELLS - 1));
        cells[a] = (int64_t)(extent / n->edge[a]) + 1;
    }
    int64_t stride = 1;
    for (int a = n->dim - 1; a >= 0; stride *= cells[a] + 2 * SLICES, a--) n->stride[a] = stride;
    b->last_key = (uint64_t)stride - 1;
    return SPATE_OK;
}

static void find_keys(void *data, int64_t begin, int64_t end, int worker) {
    build *b = data;
    neighbours *n = b->n;
    (void)worker;
    for (int64_t i = begin; i < end; i++) n->keys[i] = 0, n->order[i] = (int32_t)i;
    for (int a = 0; a < n->dim; a++) {
        const real *x = b->positions[a];
        for (int64_t i = begin; i < end; i++) {
            int64_t cell = (int64_t)(((double)x[i] - n->corner[a]) / n->edge[a]);
            n->keys[i] += (uint64_t)((cell + SLICES) * n->stride[a]);
        }
    }
}

static void count_digits(void *data, int64_t begin, int64_t end, int worker) {
    build *b = data;
    uint32_t *digits = b->n->digits + begin / SORT_CHUNK * DIGITS;
    (void)worker;
    memset(digits, 0, DIGITS * sizeof *digits);
    for (int64_t i = begin; i < end; i++) digits[b->from_keys[i] >> b->shift & (DIGITS - 1)]++;
}

static void scatter_digits(void *data, int64_t begin, int64_t end, int worker) {
    build *b = data;
    uint32_t *digits = b->n->digits + begin / SORT_CHUNK * DIGITS;
    (void)worker;
    for (int64_t i = begin; i < end; i++) {
        uint32_t to = digits[b->from_keys[i] >> b->shift & (DIGITS - 1)]++;
        b->to_keys[to] = b->from_keys[i];
        b->to_order[to] = b->from_order[i];
    }
}

/* Sorts keys and order; the arrays that held them at the end are n->keys and n->order. */
static void sort_points(build *b) {
    neighbours *n = b->n;
    int64_t chunks = (n->count + SORT_CHUNK - 1) / SORT_CHUNK;
    for (b->shift = 0; b->shift < 64 && b->last_key >> b->shift; b->shift += DIGIT_BITS) {
        b->from_keys = n->keys, b->to_keys = n->cell_key;
        b->from_order = n->order, b->to_order = n->other_order;
        parallel_for(b->threads, n->count, SORT_CHUNK, count_digits, b);
        uint32_t place = 0;
        for (int d = 0; d < DIGITS; d++)
            for (int64_t c = 0; c < chunks; c++) {
                uint32_t here = n->digits[c * DIGITS + d];
                n->digits[c * DIGITS + d] = place;
                place += here;
            }
        parallel_for(b->threads, n->count, SORT_CHUNK, scatter_digits, b);
        n->keys = b->to_keys, n->cell_key = b->from_keys;
        n->order = b->to_order, n->other_order = b->from_order;
    }
}

static void sort_positions(void *data, int64_t begin, int64_t end, int worker) {
    build *b = data;
    (void)worker;
    for (int a = 0; a < b->n->dim; a++)
        for (int64_t k = begin; k < end; k++) b->n->sorted[a][k] = b->positions[a][b->n->order[k]];
}

static void list_cells(neighbours *n) {
    n->cell_count = 0;
    for (int64_t k = 0; k < n->count; k++) {
        if (k > 0 && n->keys[k] == n->keys[k - 1]) continue;
        n->cell_key[n->cell_count] = n->keys[k];
        n->cell_first[n->cell_count++] = (int32_t)k;
    }
    n->cell_first[n->cell_count] = (int32_t)n->count;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

/* The runs of a cell: points of cells with keys from `low` to `high` beyond its own. */
typedef struct runs {
    int count;
    int64_t low[RUNS_MAX], high[RUNS_MAX];
    int64_t begin_cell[RUNS_MAX], end_cell[RUNS_MAX]; /* cursors */
    int32_t begin[RUNS_MAX], end[RUNS_MAX];           /* places in the sorted order */
} runs;

/* The first of the cells whose key is at least `key`. */
static int64_t find_cell(const neighbours *n, uint64_t key) {
    int64_t low = 0, high = n->cell_count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (n->cell_key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static runs runs_before(const neighbours *n, int64_t cell) {
    runs r = {.count = n->dim == 2 ? 3 : RUNS_MAX};
    for (int i = 0; i < r.count; i++) {
        int64_t middle = n->dim == 2 ? (i - 1) * n->stride[0]
                                     : (i / 3 - 1) * n->stride[0] + (i % 3 - 1) * n->stride[1];
        r.low[i] = middle - SLICES;
        r.high[i] = middle + SLICES;
        r.begin_cell[i] = r.end_cell[i] = find_cell(n, n->cell_key[cell] + (uint64_t)r.low[i]);
    }
    return r;
}

static void runs_advance(runs *r, const neighbours *n, int64_t cell) {
    for (int i = 0; i < r->count; i++) {
        uint64_t low = n->cell_key[cell] + (uint64_t)r->low[i];
        uint64_t high = n->cell_key[cell] + (uint64_t)r->high[i];
        while (r->begin_cell[i] < n->cell_count && n->cell_key[r->begin_cell[i]] < low)
            r->begin_cell[i]++;
        while (r->end_cell[i] < n->cell_count && n->cell_key[r->end_cell[i]] <= high)
            r->end_cell[i]++;
        r->begin[i] = n->cell_first[r->begin_cell[i]];
        r->end[i] = n->cell_first[r->end_cell[i]];
    }
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* Which of the points j .. j + 3 are nearer to x than the radius. Four at a time is what the
 * plainest x86-64 has registers for, which this file is compiled for. */
INLINE quad_int near_lanes(const neighbours *n, int64_t j, const quad x[3], quad radius2, int dim) {
    quad d = quad_load(n->sorted[0] + j) - x[0], e = quad_load(n->sorted[1] + j) - x[1];
    quad distance2 = d * d + e * e;
    if (dim == 3) {
        quad f = quad_load(n->sorted[2] + j) - x[2];
        distance2 = distance2 + f * f;
    }
    return distance2 < radius2;
}

INLINE void splat_position(const neighbours *n, int64_t k, quad x[3], int dim) {
    for (int a = 0; a < dim; a++) x[a] = quad_splat(n->sorted[a][k]);
}

INLINE int64_t count_point(const neighbours *n, const runs *r, int64_t k, quad radius2, int dim) {
    const quad_int lanes = {0, 1, 2, 3};
    quad_int hits = {0};
    quad x[3];
    splat_position(n, k, x, dim);
    for (int i = 0; i < r->count; i++) {
        int64_t j = r->begin[i], end = r->end[i];
        for (; j + QUAD <= end; j += QUAD) hits -= near_lanes(n, j, x, radius2, dim);
        real_bits left = (real_bits)(end - j);
        hits -= near_lanes(n, j, x, radius2, dim) & (lanes < (quad_int){left, left, left, left});
    }
    return (int64_t)hits[0] + hits[1] + hits[2] + hits[3] - 1; /* without the point itself */
}

/* Every candidate is written, and counted only if it is near: no branch to guess. The list must not
 * be written past its end, where another thread may be, so this happens in a buffer. */
INLINE void fill_point(const neighbours *n, const runs *r, int64_t k, quad radius2, int dim) {
    quad x[3];
    int32_t found[2 * PIECE];
    real_bits near[PIECE];
    int32_t *list = n->list + n->first[n->order[k]];
    int count = 0;
    splat_position(n, k, x, dim);
    for (int i = 0; i < r->count; i++)
        for (int64_t begin = r->begin[i]; begin < r->end[i]; begin += PIECE) {
            int length = (int)(r->end[i] - begin < PIECE ? r->end[i] - begin : PIECE);
            for (int j = 0; j < length; j += QUAD) {
                quad_int mask = near_lanes(n, begin + j, x, radius2, dim);
                memcpy(near + j, &mask, sizeof mask);
            }
            if (k >= begin && k < begin + length) near[k - begin] = 0;
            for (int j = 0; j < length; j++) {
                found[count] = n->order[begin + j];
                count -= (int)near[j];
            }
            if (count <= PIECE) continue;
            memcpy(list, found, (size_t)count * sizeof *list);
            list += count, count = 0;
        }
    memcpy(list, found, (size_t)count * sizeof *list);
}

/* Goes through the points of cells begin .. end - 1. */
INLINE void visit_cells(build *b, int64_t begin, int64_t end, bool fill, int dim) {
    neighbours *n = b->n;
    quad radius2 = quad_splat(b->radius2);
    runs r = runs_before(n, begin);
    for (int64_t c = begin; c < end; c++) {
        runs_advance(&r, n, c);
        for (int64_t k = n->cell_first[c]; k < n->cell_first[c + 1]; k++)
            if (fill)
                fill_point(n, &r, k, radius2, dim);
            else
                n->first[n->order[k]] = count_point(n, &r, k, radius2, dim);
    }
}

static void count_neighbours(void *data, int64_t begin, int64_t end, int worker) {
    build *b = data;
    (void)worker;
    if (b->n->dim == 2)
        visit_cells(b, begin, end, false, 2);
    else
        visit_cells(b, begin, end, false, 3);
}

static void fill_lists(void *data, int64_t begin, int64_t end, int worker) {
    build *b = data;
    (void)worker;
    if (b->n->dim == 2)
        visit_cells(b, begin, end, true, 2);
    else
        visit_cells(b, begin, end, true, 3);
}

/* Turns counts into places in the list and makes room for it. */
static spate_status place_lists(neighbours *n) {
    int64_t total = 0;
    for (int64_t i = 0; i < n->count; i++) {
        int64_t here = n->first[i];
        n->first[i] = total;
        total += here;
    }
    n->first[n->count] = total;
    if (n->list && total <= n->list_capacity) return SPATE_OK;
    give(n->ctx, n->list);
    n->list_capacity = 0;
    n->list = take(n->ctx, (size_t)(total + total / 8 + 1), sizeof *n->list);
    if (!n->list) return SPATE_OUT_OF_MEMORY;
    n->list_capacity = total + total / 8 + 1;
    return SPATE_OK;
}

static spate_status build_lists(build *b) {
    neighbours *n = b->n;
    TRY(measure_box(b));
    parallel_for(b->threads, n->count, SORT_CHUNK, find_keys, b);
    sort_points(b);
    parallel_for(b->threads, n->count, SORT_CHUNK, sort_positions, b);
    list_cells(n);
    parallel_for(b->threads, n->cell_count, CELL_CHUNK, count_neighbours, b);
    TRY(place_lists(n));
    parallel_for(b->threads, n->cell_count, CELL_CHUNK, fill_lists, b);
    return SPATE_OK;
}

spate_status neighbours_build(neighbours *n, const real *const positions[3], int64_t count,
                              double radius, pool *threads) {
    real radius2 = (real)(radius * radius);
    n->count = n->cell_count = 0;
    if (!(radius > 0 && radius2 > 0 && radius2 <= REAL_MAX))
        return fail(n->ctx, SPATE_BAD_INPUT,
                    "neighbour search: the radius %g cannot be squared in working precision; use "
                    "other units",
                    radius);
    if (count > INT32_MAX - WIDE)
        return fail(n->ctx, SPATE_BAD_INPUT,
                    "neighbour search: %lld points are more than %d; use fewer", (long long)count,
                    INT32_MAX - WIDE);
    TRY(reserve_points(n, count + 1));
    n->first[0] = 0;
    n->radius = radius;
    if (count == 0) return SPATE_OK;
    n->count = count;
    build b = {.n = n, .positions = positions, .threads = threads, .radius2 = radius2};
    spate_status status = build_lists(&b);
    if (status) n->count = n->cell_count = 0, n->first[0] = 0;
    return status;
}
