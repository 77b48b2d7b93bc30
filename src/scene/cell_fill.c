#include "scene/cell_fill.h"

#include <stdlib.h>

#include "core/vec.h"

/* Each round solves roughly; the tent's kinks ask for a few. */
enum { ROUNDS = 4, ITERATIONS = 16 };
static const double solved = 1e-3; /* largest error of a cell's fill that is left, in points */
static const double roughly = 0.1; /* of a round's slope at its start */

/* The points of a window and the box of cells that they may reach. */
typedef struct window {
    const fill_task *task;
    const fill_point *list;
    double (*points)[3];
    int64_t count, cells;
    int64_t low[3], size[3]; /* of the box, in cells */
    int64_t corners[8];      /* how far a point's cells are from its lowest */
    struct tent *tents;      /* by point, at the start of a round */
    double (*move)[3], (*gradient)[3], (*search)[3];
    /* by cell */
    double *residual, *change;
} window;

/* ---- One point and its 2^dim cells ------------------------------------------------------------- */

/* A point's lowest cell, and how far it is from that one's middle. */
typedef struct tent {
    int64_t first;
    double above[3];
} tent;

static tent tent_at(const window *w, const double x[3]) {
    tent t = {0};
    for (int a = w->task->dim - 1; a >= 0; a--) {
        const double at = (x[a] - w->task->origin[a]) / w->task->dx - 0.5, below = floor(at);
        t.first = t.first * w->size[a] + (int64_t)below - w->low[a];
        t.above[a] = at - below;
    }
    return t;
}

/* How far its cells are from the lowest. */
static void find_corners(const window *w, int64_t corners[8]) {
    for (int corner = 0; corner < 8; corner++) {
        corners[corner] = 0;
        for (int a = 0; a < w->task->dim; a++)
            corners[corner] += (corner >> a & 1) * (a == 0   ? 1
                                                    : a == 1 ? w->size[0]
                                                             : w->size[0] * w->size[1]);
    }
}

static void add_fill(const window *w, const double x[3], double scale, double *fill) {
    const tent t = tent_at(w, x);
    for (int corner = 0; corner < 1 << w->task->dim; corner++) {
        double weight = scale;
        for (int a = 0; a < w->task->dim; a++)
            weight *= corner >> a & 1 ? t.above[a] : 1 - t.above[a];
        fill[t.first + w->corners[corner]] += weight;
    }
}

/* By how much the weights of its cells change for a cell's way along each axis; 0 of what a dimension
 * does not have. */
static inline void find_slopes(const tent *t, double slopes[8][3]) {
    const double x[2] = {1 - t->above[0], t->above[0]}, y[2] = {1 - t->above[1], t->above[1]},
                 z[2] = {1 - t->above[2], t->above[2]}, sign[2] = {-1, 1};
    for (int c = 0; c < 8; c++) {
        const int i = c & 1, j = c >> 1 & 1, k = c >> 2;
        slopes[c][0] = sign[i] * y[j] * z[k];
        slopes[c][1] = sign[j] * x[i] * z[k];
        slopes[c][2] = sign[k] * x[i] * y[j];
    }
}

/* ---- J and its transpose, d in cells ------------------------------------------------------------ */

/* out = J d; returns |out|^2. */
static double apply(const window *w, double (*d)[3], double *out) {
    const int corners = 1 << w->task->dim;
    double sum = 0, slopes[8][3];
    memset(out, 0, (size_t)w->cells * sizeof *out);
    for (int64_t k = 0; k < w->count; k++) {
        find_slopes(&w->tents[k], slopes);
        for (int c = 0; c < corners; c++)
            out[w->tents[k].first + w->corners[c]] += vec_dot(slopes[c], d[k]);
    }
    for (int64_t c = 0; c < w->cells; c++) sum += out[c] * out[c];
    return sum;
}

/* out = J^T r; returns |out|^2. */
static double apply_transpose(const window *w, const double *r, double (*out)[3]) {
    const int corners = 1 << w->task->dim;
    double sum = 0, slopes[8][3];
    for (int64_t k = 0; k < w->count; k++) {
        double all[3] = {0};
        find_slopes(&w->tents[k], slopes);
        for (int c = 0; c < corners; c++)
            vec_add_scaled(all, all, r[w->tents[k].first + w->corners[c]], slopes[c]);
        if (corners == 4) all[2] = 0;
        vec_copy(out[k], all);
        sum += vec_dot(all, all);
    }
    return sum;
}

/* The shortest move for the residual, roughly. */
static void solve(const window *w) {
    for (int64_t k = 0; k < w->count; k++)
        w->tents[k] = tent_at(w, w->points[w->list[k].index]), vec_set(w->move[k], 0, 0, 0);
    double slope2 = apply_transpose(w, w->residual, w->gradient);
    const double enough2 = slope2 * roughly * roughly;
    memcpy(w->search, w->gradient, (size_t)w->count * sizeof *w->search);
    for (int n = 0; n < ITERATIONS && slope2 > enough2; n++) {
        const double change2 = apply(w, w->search, w->change);
        if (!(change2 > 0)) return;
        const double step = slope2 / change2, before2 = slope2;
        for (int64_t k = 0; k < w->count; k++)
            vec_add_scaled(w->move[k], w->move[k], step, w->search[k]);
        for (int64_t c = 0; c < w->cells; c++) w->residual[c] -= step * w->change[c];
        slope2 = apply_transpose(w, w->residual, w->gradient);
        for (int64_t k = 0; k < w->count; k++)
            vec_add_scaled(w->search[k], w->gradient[k], slope2 / before2, w->search[k]);
    }
}

/* ---- Rounds ------------------------------------------------------------------------------------- */

/* F(y) - F(x); returns the largest. */
static double find_residual(const window *w) {
    double largest = 0;
    memset(w->residual, 0, (size_t)w->cells * sizeof *w->residual);
    for (int64_t k = 0; k < w->count; k++) {
        add_fill(w, w->list[k].from, 1, w->residual);
        add_fill(w, w->points[w->list[k].index], -1, w->residual);
    }
    for (int64_t c = 0; c < w->cells; c++) largest = fmax(largest, fabs(w->residual[c]));
    return largest;
}

/* The move is halved until the point stays where it may be. */
static void move_point(const window *w, int64_t k) {
    const fill_task *task = w->task;
    double *x = w->points[w->list[k].index];
    const double *from = w->list[k].from;
    for (double share = 1; share > 0.1; share *= 0.5) {
        double y[3];
        vec_add_scaled(y, x, share * task->dx, w->move[k]);
        for (int a = 0; a < task->dim; a++)
            y[a] = clamp(y[a], from[a] - task->most, from[a] + task->most);
        if (!task->allowed(y, task->user)) continue;
        vec_copy(x, y);
        return;
    }
}

static void find_box(window *w) {
    const fill_task *task = w->task;
    w->cells = 1;
    for (int a = 0; a < task->dim; a++) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (int64_t k = 0; k < w->count; k++) {
            low = fmin(low, w->list[k].from[a]), high = fmax(high, w->list[k].from[a]);
        }
        const double begin = (low - task->most - task->origin[a]) / task->dx - 0.5,
                     end = (high + task->most - task->origin[a]) / task->dx - 0.5;
        /* one more to either side, for what is rounded */
        w->low[a] = (int64_t)floor(begin) - 1;
        w->size[a] = (int64_t)floor(end) + 3 - w->low[a];
        w->cells *= w->size[a];
    }
}

static spate_status match_window(const fill_task *task, const fill_point *list, int64_t count,
                                 double (*points)[3]) {
    spate_context *ctx = task->ctx;
    window w = {.task = task, .list = list, .points = points, .count = count};
    find_box(&w);
    find_corners(&w, w.corners);
    w.tents = take(ctx, (size_t)count, sizeof *w.tents);
    w.move = take(ctx, (size_t)count, sizeof *w.move);
    w.gradient = take(ctx, (size_t)count, sizeof *w.gradient);
    w.search = take(ctx, (size_t)count, sizeof *w.search);
    w.residual = take(ctx, (size_t)w.cells, sizeof *w.residual);
    w.change = take(ctx, (size_t)w.cells, sizeof *w.change);
    const bool room = w.tents && w.move && w.gradient && w.search && w.residual && w.change;
    for (int round = 0; room && round < ROUNDS && find_residual(&w) > solved; round++) {
        solve(&w);
        for (int64_t k = 0; k < count; k++) move_point(&w, k);
    }
    give(ctx, w.tents), give(ctx, w.move), give(ctx, w.gradient), give(ctx, w.search);
    give(ctx, w.residual), give(ctx, w.change);
    return room ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* By window, and in one as they come. */
static int compare(const void *a, const void *b) {
    const fill_point *p = a, *q = b;
    for (int i = 2; i >= 0; i--)
        if (p->window[i] != q->window[i]) return p->window[i] < q->window[i] ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

spate_status cell_fill_match(const fill_task *task, fill_point *list, int64_t count,
                             double (*points)[3]) {
    if (count) qsort(list, (size_t)count, sizeof *list, compare);
    for (int64_t first = 0, last; first < count; first = last) {
        for (last = first + 1; last < count; last++)
            if (memcmp(list[last].window, list[first].window, sizeof list->window)) break;
        TRY(match_window(task, list + first, last - first, points));
    }
    return SPATE_OK;
}
