/* The pass of number_density.c, which tells what it computes. */
#include "core/kernel_table.h"
#include "solver/mpm/number_density.h"

/* ---- Points around a block ------------------------------------------------------------------- */

/* The box of a block's particles, and the support around it. False if it has no liquid. */
INLINE bool find_box(const mpm_view *m, int32_t block, density_points *q, int dim) {
    const particles *p = m->particles;
    bool any = false;
    for (int a = 0; a < dim; a++) q->low[a] = (real)1e6, q->high[a] = (real)-1e6;
    for (int64_t i = m->first[block]; i < m->first[block + 1]; i++) {
        if (p->group[i] == GROUP_REMOVED) continue;
        any |= m->materials[m->group_material[p->group[i]]].kind == MATERIAL_LIQUID;
        for (int a = 0; a < dim; a++) {
            const real x = PLANE(p, position, a)[i];
            q->low[a] = x < q->low[a] ? x : q->low[a];
            q->high[a] = x > q->high[a] ? x : q->high[a];
        }
    }
    for (int a = 0; a < dim; a++) {
        q->low[a] -= (real)DENSITY_SUPPORT, q->high[a] += (real)DENSITY_SUPPORT;
        const int bins = (int)((q->high[a] - q->low[a]) * BINS_PER_CELL) + 1;
        q->edge[a] = bins < BINS_EDGE ? bins : BINS_EDGE;
    }
    return any;
}

/* Adds the particles of one block that are within the box; `shift` is where its corner is. */
INLINE void add_block(const mpm_view *m, int32_t block, const real shift[3], density_points *q,
                      int dim) {
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        wide x[3];
        wide_int inside = ~wide_splat_int(0);
        for (int a = 0; a < dim; a++) {
            x[a] = wide_load(PLANE(p, position, a) + i) + wide_splat(shift[a]);
            inside &= (x[a] >= wide_splat(q->low[a])) & (x[a] <= wide_splat(q->high[a]));
        }
        if (!wide_any(inside)) continue;
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            if (!inside[lane] || p->group[i + lane] == GROUP_REMOVED) continue;
            for (int a = 0; a < dim; a++) q->x[a][q->count] = x[a][lane];
            q->count++;
        }
    }
}

INLINE void add_neighbours(const mpm_view *m, int32_t block, density_points *q, int dim) {
    for (int k = 0; k < neighbour_count(dim); k++) {
        const int32_t other = m->neighbours[block][k];
        if (other < 0) continue;
        const int offset[3] = {dim == 3 ? k / 9 : k / 3, dim == 3 ? k / 3 % 3 : k % 3, k % 3};
        real shift[3];
        for (int a = 0; a < dim; a++) shift[a] = (real)((offset[a] - 1) * BLOCK_EDGE);
        add_block(m, other, shift, q, dim);
    }
}

/* Images behind closed sides; those across a second axis are images of images. */
INLINE void add_images(const mpm_view *m, int32_t block, density_points *q, int dim) {
    const domain *d = m->domain;
    for (int a = 0; a < dim; a++) {
        const int64_t count = q->count;
        for (int side = 0; side < 2; side++) {
            const double plane =
                (side ? d->cells[a] : 0) + 0.5 - (double)m->coords[block][a] * BLOCK_EDGE;
            if (!is_closed(d, a, side) || plane < (double)q->low[a] || plane > (double)q->high[a])
                continue;
            for (int64_t k = 0; k < count; k++) {
                const real image = (real)(2 * plane) - q->x[a][k];
                if (image < q->low[a] || image > q->high[a]) continue;
                for (int c = 0; c < dim; c++) q->x[c][q->count] = c == a ? image : q->x[c][k];
                q->count++;
            }
        }
    }
}

INLINE int bin_of(const density_points *q, int a, real x) {
    const int bin = (int)((x - q->low[a]) * BINS_PER_CELL);
    return bin < 0 ? 0 : bin < q->edge[a] ? bin : q->edge[a] - 1;
}

/* By bin, those of one as they came. */
INLINE void sort_points(density_points *q, int dim) {
    int bins = 1;
    for (int a = 0; a < dim; a++) bins *= q->edge[a];
    memset(q->first, 0, (size_t)(bins + 1) * sizeof *q->first);
    for (int64_t k = 0; k < q->count; k++) {
        int bin = 0;
        for (int a = 0; a < dim; a++) bin = bin * q->edge[a] + bin_of(q, a, q->x[a][k]);
        q->bin[k] = bin;
        q->first[bin + 1]++;
    }
    for (int bin = 0; bin < bins; bin++) q->first[bin + 1] += q->first[bin];
    for (int64_t k = 0; k < q->count; k++) {
        const int32_t to = q->first[q->bin[k]]++;
        for (int a = 0; a < dim; a++) q->sorted[a][to] = q->x[a][k];
    }
    for (int bin = bins; bin > 0; bin--) q->first[bin] = q->first[bin - 1];
    q->first[0] = 0;
}

/* ---- Sums ------------------------------------------------------------------------------------ */

/* Eight particles, and the box around them. */
typedef struct density_lanes {
    wide x[3];
    real low[3], high[3];
} density_lanes;

INLINE density_lanes lanes_at(const particles *p, int64_t i, int lanes, int dim) {
    density_lanes t;
    for (int a = 0; a < dim; a++) {
        const real *x = PLANE(p, position, a) + i;
        t.low[a] = t.high[a] = x[0];
        t.x[a] = wide_load(x);
        for (int k = 1; k < lanes; k++) {
            t.low[a] = x[k] < t.low[a] ? x[k] : t.low[a];
            t.high[a] = x[k] > t.high[a] ? x[k] : t.high[a];
        }
    }
    return t;
}

/* The square of the distance along an axis between a bin and the lanes' box. */
INLINE real bin_gap(const density_points *q, const density_lanes *t, int a, int bin) {
    const real width = (real)(1.0 / BINS_PER_CELL), low = q->low[a] + width * (real)bin;
    const real before = low - t->high[a], after = t->low[a] - (low + width);
    const real gap = before > after ? before : after;
    /* Places are rounded, and where bins have run out the last holds what is beyond it. */
    const real kept = gap - (real)1e-4;
    return kept > 0 && q->edge[a] < BINS_EDGE ? kept * kept : 0;
}

/* sum + (R^2 - r^2)^3 over points from `first` to `last`. */
INLINE wide sum_points(const density_points *q, const density_lanes *t, int32_t first, int32_t last,
                       wide sum, int dim) {
    const wide square = wide_splat((real)(DENSITY_SUPPORT * DENSITY_SUPPORT)), zero = wide_splat(0);
    for (int32_t k = first; k < last; k++) {
        wide w = square;
        for (int a = 0; a < dim; a++) {
            wide r = t->x[a] - wide_splat(q->sorted[a][k]);
            w = wide_fma(-r, r, w);
        }
        w = wide_max(w, zero);
        sum = wide_fma(w * w, w, sum);
    }
    return sum;
}

/* A row of bins along the last axis, `gap` away across it: those within reach. */
INLINE wide sum_row(const density_points *q, const density_lanes *t, int row, real gap, wide sum,
                    int dim) {
    const int last = dim - 1;
    const real reach = (real)sqrt(DENSITY_SUPPORT * DENSITY_SUPPORT - (double)gap) + (real)1e-4;
    const int from = bin_of(q, last, t->low[last] - reach),
              to = bin_of(q, last, t->high[last] + reach);
    const int32_t *first = q->first + row * q->edge[last];
    return sum_points(q, t, first[from], first[to + 1], sum, dim);
}

INLINE wide sum_lanes(const density_points *q, const density_lanes *t, int dim) {
    const real square = (real)(DENSITY_SUPPORT * DENSITY_SUPPORT), reach = (real)DENSITY_SUPPORT;
    wide sum = wide_splat(0);
    int from[2], to[2] = {0};
    for (int a = 0; a < dim - 1; a++) {
        from[a] = bin_of(q, a, t->low[a] - reach);
        to[a] = bin_of(q, a, t->high[a] + reach);
    }
    for (int x = from[0]; x <= to[0]; x++) {
        const real gap = bin_gap(q, t, 0, x);
        if (dim == 2) {
            if (gap < square) sum = sum_row(q, t, x, gap, sum, dim);
            continue;
        }
        for (int y = from[1]; y <= to[1]; y++) {
            const real both = gap + bin_gap(q, t, 1, y);
            if (both < square) sum = sum_row(q, t, x * q->edge[1] + y, both, sum, dim);
        }
    }
    return sum;
}

/* ---- Particles ------------------------------------------------------------------------------- */

/* What a collider near particle i adds, as a share of the lattice's sum. */
static double collider_share(const mpm_view *m, const boundary_part *solid, int32_t block,
                             int64_t i) {
    double x[3];
    int c;
    simulation_position(m->sim, block, i, x);
    const double distance = boundary_part_nearest(solid, x, &c) / (double)m->dx;
    return c < 0 || distance >= DENSITY_SUPPORT
               ? 0
               : density_share_beyond(m->dim, distance / DENSITY_SUPPORT);
}

INLINE void sum_block(const number_density *d, int32_t block, density_points *q, int dim) {
    const mpm_view *m = d->view;
    particles *p = m->particles;
    q->count = 0;
    if (!find_box(m, block, q, dim)) return;
    add_neighbours(m, block, q, dim);
    add_images(m, block, q, dim);
    sort_points(q, dim);
    double middle[3];
    simulation_middle(m->sim, m->coords[block], middle);
    const bool seam = simulation_at_seam(m->sim, block);
    const boundary_part solid =
        seam ? boundary_all(m->boundary)
             : boundary_around(m->boundary, middle,
                               simulation_reach(m->sim) + DENSITY_SUPPORT * (double)m->dx);
    const int64_t last = m->first[block + 1];
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        const int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        const density_lanes t = lanes_at(p, i, lanes, dim);
        const wide sum = sum_lanes(q, &t, dim);
        for (int lane = 0; lane < lanes; lane++) {
            const uint16_t group = p->group[i + lane];
            if (group == GROUP_REMOVED) continue;
            const material_constants *k = &m->materials[m->group_material[group]];
            if (k->kind != MATERIAL_LIQUID) continue;
            double share = (double)sum[lane] / d->lattice;
            if (solid.count) share += collider_share(m, &solid, block, i + lane);
            const double rest = (double)p->mass[i + lane] / ((double)k->density * d->volume);
            p->dilation[i + lane] = (real)(1 / (share * rest) - 1);
        }
    }
}

INLINE void density_chunk(void *data, chunk items, int dim) {
    const number_density *d = data;
    real *places = d->places + 6 * d->most * items.worker;
    density_points q = {.bin = d->bins + d->most * items.worker,
                        .first = d->first + (int64_t)(BINS_MAX + 1) * items.worker};
    for (int a = 0; a < 3; a++) q.x[a] = places + a * d->most, q.sorted[a] = q.x[a] + 3 * d->most;
    for (int64_t o = items.begin; o < items.end; o++) sum_block(d, d->view->occupied[o], &q, dim);
}

NUMBER_DENSITY_PASSES(TASK_BY_DIM)

const number_density_passes ISA_NAME(number_density) = {NUMBER_DENSITY_PASSES(FIELD_BY_DIM)};
