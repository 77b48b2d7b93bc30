/*
 * The reference: conjugate gradients preconditioned by modified incomplete Cholesky factors of
 * level 0, MIC(0) (Bridson 2015, section 5.4.2: tau 0.97, sigma 0.25), in double and one cell at a
 * time. Unknowns are numbered brick by brick, row by row; of a cell's neighbours those with lower
 * numbers come before it.
 */
#include "solver/pressure/system.h"
#include <math.h>

#define TAU   0.97
#define SIGMA 0.25

typedef struct mic {
    int64_t count, capacity, place_capacity;
    int32_t *number;     /* of a cell in rows: its unknown, or -1 */
    int64_t *place;      /* of an unknown: where its x and rhs are */
    int32_t (*near)[6];  /* unknowns at its sides, or -1 */
    double (*weight)[6]; /* of the faces to them */
    double *diagonal;    /* ... of which the surface's part is not a weight */
    double *factor;      /* 1 / sqrt of the factor's diagonal */
    double *x, *r, *z, *s, *q;
} mic;

void mic_free(pressure *p) {
    mic *k = p->mic;
    if (!k) return;
    spate_context *ctx = p->ctx;
    give(ctx, k->number), give(ctx, k->place), give(ctx, k->near), give(ctx, k->weight);
    give(ctx, k->diagonal), give(ctx, k->factor);
    give(ctx, k->x), give(ctx, k->r), give(ctx, k->z), give(ctx, k->s), give(ctx, k->q);
    give(ctx, k);
    p->mic = NULL;
}

size_t mic_bytes(const pressure *p) {
    const mic *k = p->mic;
    if (!k) return 0;
    return (size_t)k->place_capacity * sizeof *k->number +
           (size_t)k->capacity *
               (sizeof *k->place + sizeof *k->near + sizeof *k->weight + 7 * sizeof(double));
}

static spate_status reserve(pressure *p, int64_t cells, int64_t unknowns) {
    spate_context *ctx = p->ctx;
    if (!p->mic) p->mic = take(ctx, 1, sizeof(mic));
    mic *k = p->mic;
    if (!k) return SPATE_OUT_OF_MEMORY;
    if (cells <= k->place_capacity && unknowns <= k->capacity) return SPATE_OK;
    mic_free(p);
    k = p->mic = take(ctx, 1, sizeof(mic));
    if (!k) return SPATE_OUT_OF_MEMORY;
    const size_t n = (size_t)unknowns;
    k->number = take(ctx, (size_t)cells, sizeof *k->number);
    k->place = take(ctx, n, sizeof *k->place);
    k->near = take(ctx, n, sizeof *k->near);
    k->weight = take(ctx, n, sizeof *k->weight);
    double **vectors[] = {&k->diagonal, &k->factor, &k->x, &k->r, &k->z, &k->s, &k->q};
    bool enough = k->number && k->place && k->near && k->weight;
    for (int i = 0; i < COUNT_OF(vectors) && enough; i++)
        enough = (*vectors[i] = take(ctx, n, sizeof(double)));
    if (!enough) return SPATE_OUT_OF_MEMORY;
    k->place_capacity = cells, k->capacity = unknowns;
    return SPATE_OK;
}

/* ---- The matrix ------------------------------------------------------------------------------ */

static void number_unknowns(const pressure *p, mic *k) {
    const level *l = &p->levels[0];
    const int cells = checker_cells(l->dim);
    k->count = 0;
    for (int64_t b = 0; b < l->count; b++)
        for (int c = 0; c < cells; c++) {
            const bool there = l->inverse[(int64_t)l->stencil_class[b] * cells + c] > 0;
            k->number[b * cells + c] = there ? (int32_t)k->count : -1;
            if (there)
                k->place[k->count++] =
                    half_at(l, b, checker_colour_of(c), l->dim) + checker_place_of(c);
        }
}

/* The cell beside a cell: its brick times cells plus its place in rows. */
static int64_t beside(const level *l, int64_t b, int c, int side) {
    const int cells = checker_cells(l->dim);
    const int stride = direction_stride(side / 2), at = c / stride % BRICK_EDGE;
    if (side & 1 ? at < ROW_LAST : at > 0) return b * cells + c + (side & 1 ? stride : -stride);
    return (int64_t)l->near[b][side] * cells + c + (side & 1 ? -ROW_LAST : ROW_LAST) * stride;
}

static void fill_matrix(const pressure *p, mic *k) {
    const level *l = &p->levels[0];
    const int cells = checker_cells(l->dim);
    for (int64_t at = 0; at < (int64_t)l->count * cells; at++) {
        const int32_t n = k->number[at];
        if (n < 0) continue;
        const int64_t b = at / cells, own = l->stencil_class[b] * (int64_t)cells + at % cells;
        k->diagonal[n] = (double)l->surface[own];
        for (int side = 0; side < 2 * l->dim; side++) {
            const int64_t next = beside(l, b, (int)(at % cells), side);
            const int64_t there = l->stencil_class[next / cells] * (int64_t)cells + next % cells;
            const double w = (double)l->face[side / 2][side & 1 ? there : own];
            k->near[n][side] = w > 0 ? k->number[next] : -1;
            k->weight[n][side] = w;
            k->diagonal[n] += w;
        }
        for (int side = 2 * l->dim; side < 6; side++) k->near[n][side] = -1;
    }
}

/* e_i = a_ii - sum over neighbours j before i of (a_ij^2 + tau a_ij sum over the others after j of
 * a_jk) / e_j, where all a are negative. */
static void factorise(mic *k) {
    for (int32_t n = 0; n < k->count; n++) {
        double e = k->diagonal[n];
        for (int s = 0; s < 6; s++) {
            const int32_t j = k->near[n][s];
            if (j < 0 || j >= n) continue;
            double others = 0;
            for (int t = 0; t < 6; t++)
                if (k->near[j][t] > j && k->near[j][t] != n) others += k->weight[j][t];
            const double w = k->weight[n][s];
            e -= w * (w + TAU * others) * k->factor[j] * k->factor[j];
        }
        if (e < SIGMA * k->diagonal[n]) e = k->diagonal[n];
        k->factor[n] = 1 / sqrt(e);
    }
}

/* ---- The iteration --------------------------------------------------------------------------- */

/* z = (L L^T)^-1 r */
static void precondition(mic *k) {
    for (int32_t n = 0; n < k->count; n++) {
        double t = k->r[n];
        for (int s = 0; s < 6; s++) {
            const int32_t j = k->near[n][s];
            if (j >= 0 && j < n) t += k->weight[n][s] * k->factor[j] * k->z[j];
        }
        k->z[n] = t * k->factor[n];
    }
    for (int32_t n = (int32_t)k->count - 1; n >= 0; n--) {
        double t = k->z[n];
        for (int s = 0; s < 6; s++) {
            const int32_t j = k->near[n][s];
            if (j > n) t += k->weight[n][s] * k->factor[n] * k->z[j];
        }
        k->z[n] = t * k->factor[n];
    }
}

/* q = A v, from differences. */
static void apply(const pressure *p, mic *k, const double *v) {
    const int sides = 2 * p->dim;
    for (int32_t n = 0; n < k->count; n++) {
        double sum = 0, surface = k->diagonal[n];
        for (int s = 0; s < sides; s++) {
            if (k->near[n][s] < 0) continue;
            sum += k->weight[n][s] * (v[n] - v[k->near[n][s]]);
            surface -= k->weight[n][s];
        }
        k->q[n] = sum + surface * v[n];
    }
}

static double dot(const mic *k, const double *a, const double *b) {
    double sum = 0;
    for (int64_t n = 0; n < k->count; n++) sum += a[n] * b[n];
    return sum;
}

static void iterate(const pressure *p, mic *k, double goal, int most, pressure_report *report) {
    double before = 0;
    while (report->iterations < most && !(sqrt(dot(k, k->r, k->r)) <= goal)) {
        precondition(k);
        const double rz = dot(k, k->r, k->z), beta = before > 0 ? rz / before : 0;
        for (int64_t n = 0; n < k->count; n++)
            k->s[n] = beta > 0 ? k->z[n] + beta * k->s[n] : k->z[n];
        apply(p, k, k->s);
        const double energy = dot(k, k->s, k->q), alpha = rz / energy;
        if (!(energy > 0)) return;
        for (int64_t n = 0; n < k->count; n++)
            k->x[n] += alpha * k->s[n], k->r[n] -= alpha * k->q[n];
        before = rz;
        report->iterations++;
    }
}

/* r = rhs - A x; its 2-norm. */
static double residual(const pressure *p, mic *k) {
    apply(p, k, k->x);
    for (int64_t n = 0; n < k->count; n++) k->r[n] = p->rhs[k->place[n]] - k->q[n];
    return sqrt(dot(k, k->r, k->r));
}

spate_status mic_solve(pressure *p, const pressure_options *o, pressure_report *report) {
    const level *l = &p->levels[0];
    if (l->unknowns == 0) return SPATE_OK;
    TRY(reserve(p, ((int64_t)l->count + 1) * checker_cells(l->dim), l->unknowns));
    mic *k = p->mic;
    number_unknowns(p, k);
    fill_matrix(p, k);
    factorise(k);
    for (int64_t n = 0; n < k->count; n++) k->x[n] = 0;
    const double size = residual(p, k), goal = o->tolerance * size;
    if (size == 0) return SPATE_OK;
    iterate(p, k, goal, o->max_iterations, report);
    for (int64_t n = 0; n < k->count; n++) p->x[k->place[n]] = k->x[n];
    const double left = residual(p, k);
    report->residual = left / size;
    report->converged = left <= goal * (1 + 1e-9);
    return SPATE_OK;
}
