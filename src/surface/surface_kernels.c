/*
 * The hot parts of a surface, compiled for every instruction set: covariances and axes of shapes,
 * eight particles at a time, and what particles leave on the points of a brick, a row of eight
 * points at a time. All sums are in a fixed order.
 */
#include "core/decompose.h"
#include "core/kernel_table.h"
#include "surface/shapes.h"
#include <math.h>

_Static_assert((int)BRICK_EDGE == (int)WIDE, "a row of a brick is a wide");

static const wide lanes = {0, 1, 2, 3, 4, 5, 6, 7};

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* Up to eight particles, from the corner of their brick, and the box around them. */
typedef struct shape_group {
    real x[3][WIDE], size[WIDE], low[3], high[3], radius; /* radius: the largest */
    int32_t place[WIDE];
    int count;
} shape_group;

/* Sums over the particles around: weight, times offset, times products of offsets; and the weight
 * of the nearest, within NEAR_RADIUS sizes. */
typedef struct shape_moments {
    wide weight, first[3], second[6], near;
} shape_moments;

INLINE real radius_of(real size) {
    const real radius = SHAPE_RADIUS * (size > 1 ? size : 1);
    return radius < BRICK_EDGE ? radius : BRICK_EDGE;
}

INLINE wide group_radius(const shape_group *g) {
    return wide_min(SHAPE_RADIUS * wide_max(wide_load(g->size), wide_splat(1)),
                    wide_splat(BRICK_EDGE));
}

INLINE void add_candidates(const shape_group *g, const shape_candidates *c, shape_moments *m,
                           int dim) {
    const wide x = wide_load(g->x[0]), y = wide_load(g->x[1]), z = wide_load(g->x[2]);
    const wide radius = group_radius(g), inverse = 1 / (radius * radius), zero = wide_splat(0);
    const wide close = NEAR_RADIUS * wide_max(wide_load(g->size), wide_splat(1));
    const wide close_inverse = 1 / (close * close);
    shape_moments s = *m;
    for (int k = 0; k < c->count; k++) {
        const wide dx = wide_splat(c->x[0][k]) - x, dy = wide_splat(c->x[1][k]) - y,
                   dz = wide_splat(c->x[2][k]) - z;
        wide square = wide_fma(dx, dx, dy * dy);
        if (dim == 3) square = wide_fma(dz, dz, square);
        const wide volume = wide_splat(c->x[3][k]);
        const wide w = wide_max(1 - square * inverse, zero) * volume, wx = w * dx, wy = w * dy;
        s.near = wide_fma(wide_max(1 - square * close_inverse, zero), volume, s.near);
        s.weight += w;
        s.first[0] += wx, s.first[1] += wy;
        s.second[0] = wide_fma(wx, dx, s.second[0]);
        s.second[1] = wide_fma(wx, dy, s.second[1]);
        s.second[3] = wide_fma(wy, dy, s.second[3]);
        if (dim == 3) {
            const wide wz = w * dz;
            s.first[2] += wz;
            s.second[2] = wide_fma(wx, dz, s.second[2]);
            s.second[4] = wide_fma(wy, dz, s.second[4]);
            s.second[5] = wide_fma(wz, dz, s.second[5]);
        }
    }
    *m = s;
}

INLINE real beyond(real x, real low, real high) {
    return x < low ? low - x : x > high ? x - high : 0;
}

/* Takes particles begin..end-1 that are near the group's box. */
INLINE void take_run(const lattice *l, int64_t begin, int64_t end, const real origin[3],
                     const shape_group *g, shape_candidates *c, shape_moments *m, int dim) {
    const real square = g->radius * g->radius;
    for (int64_t i = begin; i < end; i++) {
        const lattice_particle *p = &l->particles[i];
        real x[3], far = 0, volume = p->size * p->size * (dim == 3 ? p->size : 1);
        for (int a = 0; a < 3; a++) {
            x[a] = p->x[a] - origin[a];
            const real d = beyond(x[a], g->low[a], g->high[a]);
            far += d * d;
        }
        if (far >= square) continue;
        for (int a = 0; a < 3; a++) c->x[a][c->count] = x[a];
        c->x[3][c->count] = volume;
        if (++c->count < CANDIDATES) continue;
        add_candidates(g, c, m, dim);
        c->count = 0;
    }
}

/* Cells lo..hi along an axis within the radius of the group's box. */
INLINE void cells_near(const shape_group *g, int axis, int *lo, int *hi) {
    *lo = (int)floor((double)(g->low[axis] - g->radius) / CELL_POINTS);
    *hi = (int)floor((double)(g->high[axis] + g->radius) / CELL_POINTS);
    if (*lo < -CELL_EDGE) *lo = -CELL_EDGE;
    if (*hi > 2 * CELL_EDGE - 1) *hi = 2 * CELL_EDGE - 1;
}

/* Runs of particles lie along x, one brick after another. */
INLINE shape_moments group_moments(const lattice *l, int64_t brick, const real origin[3],
                                   const shape_group *g, shape_candidates *c, int dim) {
    shape_moments m = {0};
    int lo[3], hi[3];
    for (int a = 0; a < 3; a++) cells_near(g, a, &lo[a], &hi[a]);
    if (dim == 2) lo[2] = hi[2] = 0;
    c->count = 0;
    for (int z = lo[2]; z <= hi[2]; z++)
        for (int y = lo[1]; y <= hi[1]; y++) {
            const real dy = fmax(fmax(g->low[1] - (real)(CELL_POINTS * (y + 1)),
                                      (real)(CELL_POINTS * y) - g->high[1]),
                                 0),
                       dz = dim == 2 ? 0
                                     : fmax(fmax(g->low[2] - (real)(CELL_POINTS * (z + 1)),
                                                 (real)(CELL_POINTS * z) - g->high[2]),
                                            0);
            if (dy * dy + dz * dz >= g->radius * g->radius) continue;
            for (int x = lo[0]; x <= hi[0];) {
                const int at[3] = {x, y, z}, side = (x + CELL_EDGE) / CELL_EDGE,
                          end = side * CELL_EDGE - 1 < hi[0] ? side * CELL_EDGE - 1 : hi[0];
                const int32_t b = l->bricks.neighbours[brick][lattice_code(CELL_EDGE, at)];
                if (b >= 0) {
                    const int64_t *first =
                        l->first + (int64_t)b * BRICK_CELLS + lattice_index(CELL_EDGE, at);
                    take_run(l, first[0], first[end - x + 1], origin, g, c, &m, dim);
                }
                x = end + 1;
            }
        }
    add_candidates(g, c, &m, dim);
    return m;
}

/* Axes of shapes: columns of `q` and their halves; how much larger than its volume a kernel is; and
 * how many are around. */
typedef struct shape_frame {
    wide mean[3], q[9], half[3], boost, others;
} shape_frame;

INLINE wide unit_clamp(wide v) { return wide_min(wide_max(v, wide_splat(0)), wide_splat(1)); }
INLINE wide power(wide v, int dim) { return dim == 3 ? v * v * v : v * v; }

INLINE wide ramp(wide v, real from, real to) { return unit_clamp((v - from) * (1 / (to - from))); }

/* How the particles around lie: in a sheet, or in a line or a few; 0 to 1. In the plane a sheet is
 * a line of particles. */
typedef struct shape_kind {
    wide sheet, line;
} shape_kind;

INLINE shape_kind kind_of(const wide *eigenvalue, wide_int whole, int dim) {
    const wide next = eigenvalue[dim - 2], least = eigenvalue[dim - 1], one = wide_splat(1);
    const wide thin = ramp(least, THIN_ABOVE, THIN_BELOW);
    const wide wide_enough = ramp(next, THIN_ABOVE, 2 * THIN_ABOVE);
    return (shape_kind){.sheet = wide_select(whole, one - one, thin * wide_enough),
                        .line = wide_select(whole, one - one, 1 - wide_enough)};
}

/* Sheets and threads that are thinner than the lattice would slip between its points: they are made
 * thicker, the more the coarser the lattice. And a sheet whose particles have come apart stays as
 * thick as one layer, or it would have holes. */
INLINE wide thin_boost(const shape_rule *rule, wide span, wide share, const shape_kind *kind,
                       int dim) {
    const wide coarse = ramp(span, COARSE_SPACING, 1);
    const wide lack = (real)SHEET_SHARE(dim) / share - 1;
    const wide apart = unit_clamp(lack * (SHEET_SLOPE + (COARSE_SLOPE - SHEET_SLOPE) * coarse));
    return (1 + coarse * (rule->thicken_sheet * kind->sheet + rule->thicken_thread * kind->line)) *
           (1 + (SHEET_BOOST - 1) * kind->sheet * apart + LINE_BOOST * kind->line);
}

/* The root of a number from 0 to 1, of the third order in 3D. */
INLINE wide root(wide x, int dim) {
    if (dim == 2) return wide_sqrt(x);
    wide y = (2 + x) * (real)(1.0 / 3);
    for (int k = 0; k < 4; k++) y = y - (y * y * y - x) / (3 * y * y);
    return y;
}

/* A particle must be inside its own surface: with few close to it, unless they are a sheet, its
 * kernel is made narrower, down to that of a drop of its own volume. */
INLINE wide narrowing(const shape_rule *rule, const shape_moments *m, wide volume, wide product,
                      const shape_kind *kind, int dim) {
    const wide close = (m->near / volume - 1) * (real)(1 / NEAR_WEIGHT(dim));
    const wide slope = (real)OWN_SLOPE(dim) * (1 + (real)0.5 * kind->line);
    const wide needed = (1 - kind->sheet) * (rule->own - slope * close);
    const wide own = (real)KERNEL_PEAK(dim) * volume / product;
    return root(unit_clamp(own / wide_max(needed, wide_splat((real)1e-3))), dim);
}

INLINE void shape_axes(const shape_group *g, const shape_rule *rule, const shape_moments *m,
                       shape_frame *axes, int dim) {
    wide *mean = axes->mean, *q = axes->q, *half = axes->half;
    const wide radius = group_radius(g), span = wide_max(wide_load(g->size), wide_splat(1));
    const wide inverse = 1 / m->weight;
    const wide scale = 1 / ((real)SHAPE_COVARIANCE(dim) * radius * radius);
    wide c[6], share = m->weight / ((real)SHAPE_WEIGHT(dim) * radius * radius);
    if (dim == 3) share = share / radius;
    for (int a = 0; a < 3; a++) mean[a] = m->first[a] * inverse;
    if (dim == 3) {
        static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
        for (int k = 0; k < 6; k++)
            c[k] = (m->second[k] * inverse - mean[row[k]] * mean[column[k]]) * scale;
    } else {
        c[0] = (m->second[0] * inverse - mean[0] * mean[0]) * scale;
        c[1] = (m->second[1] * inverse - mean[0] * mean[1]) * scale;
        c[2] = (m->second[3] * inverse - mean[1] * mean[1]) * scale;
    }
    const wide_int whole = share >= wide_splat((real)SHARE_WHOLE);
    if (wide_all(whole)) {
        wide_set_identity(q, dim);
        for (int k = 0; k < dim; k++) half[k] = wide_splat(1);
    } else if (dim == 3)
        wide_eigen3(c, q, half);
    else
        wide_eigen2(c, q, half);
    const wide volume = power(wide_load(g->size), dim);
    const wide support = wide_min(rule->support * span, wide_splat(SUPPORT_MAX));
    const shape_kind kind = kind_of(half, whole, dim);
    wide product = wide_splat(1);
    axes->boost = thin_boost(rule, span, share, &kind, dim);
    for (int k = 0; k < dim; k++) {
        half[k] = wide_min(wide_max(half[k], wide_splat(rule->least)), wide_splat(rule->most));
        half[k] = wide_select(whole, wide_splat(1), half[k]) * support;
        product = product * half[k];
    }
    const wide narrow = narrowing(rule, m, volume, product, &kind, dim);
    const wide_int kept = narrow >= wide_splat(1);
    const wide sparse = wide_max((real)SPARSE_BELOW - narrow, wide_splat(0));
    axes->boost *= 1 + ramp(span, COARSE_SPACING, 1) * (rule->thicken_spray * sparse);
    for (int k = 0; k < dim; k++)
        half[k] = wide_select(kept, wide_max(half[k], wide_splat(rule->floor)), narrow * half[k]);
    /* what the others around weigh, in volumes of the particle itself */
    axes->others = m->weight / volume - 1;
}

INLINE void store_shapes(lattice *l, const shape_group *g, const real origin[3],
                         const shape_rule *rule, const shape_frame *axes, int dim) {
    const wide *q = axes->q, *half = axes->half;
    wide metric[6], box[3], product = half[0] * half[1];
    if (dim == 3) product = product * half[2];
    for (int a = 0; a < 6; a++) metric[a] = wide_splat(0);
    for (int a = 0, n = 0; a < 3; a++) {
        box[a] = wide_splat(0);
        for (int b = a; b < 3; b++, n++)
            for (int k = 0; k < dim && b < dim; k++)
                metric[n] += q[dim * a + k] * q[dim * b + k] / (half[k] * half[k]);
        for (int k = 0; k < dim && a < dim; k++)
            box[a] += q[dim * a + k] * q[dim * a + k] * half[k] * half[k];
        box[a] = wide_sqrt(box[a]);
    }
    const wide volume = power(wide_load(g->size), dim);
    const wide peak = (real)KERNEL_PEAK(dim) * axes->boost * volume / product;
    for (int i = 0; i < g->count; i++) {
        particle_shape *s = &l->shapes[g->place[i]];
        for (int a = 0; a < 3; a++) {
            s->centre[a] = origin[a] + g->x[a][i] + rule->move * axes->mean[a][i];
            s->box[a] = axes->others[i] < LONE_OTHERS ? LONE_BOX : box[a][i];
        }
        for (int k = 0; k < 6; k++) s->metric[k] = metric[k][i];
        s->peak = peak[i];
    }
}

INLINE void finish_group(measure_job *job, int64_t brick, const real origin[3], shape_group *g,
                         int worker, int dim) {
    lattice *l = job->l;
    const shape_rule *rule = shape_rule_of(l->method);
    shape_frame axes;
    if (!g->count) return;
    /* What fills up the lanes is the first once more. */
    for (int i = g->count; i < WIDE; i++) {
        for (int a = 0; a < 3; a++) g->x[a][i] = g->x[a][0];
        g->size[i] = g->size[0];
    }
    const shape_moments m = group_moments(l, brick, origin, g, &job->candidates[worker], dim);
    shape_axes(g, rule, &m, &axes, dim);
    store_shapes(l, g, origin, rule, &axes, dim);
    g->count = 0;
}

/* Whether a particle still fits a group: one far away would make its box too large. */
INLINE bool group_takes(const shape_group *g, const real x[3], real size) {
    const real most = 2 * (size > 1 ? size : 1);
    if (!g->count) return true;
    if (g->count == WIDE) return false;
    for (int a = 1; a < 3; a++) {
        const real low = x[a] < g->low[a] ? x[a] : g->low[a];
        const real high = x[a] > g->high[a] ? x[a] : g->high[a];
        if (high - low > most) return false;
    }
    return true;
}

INLINE void group_add(shape_group *g, const real x[3], real size, int32_t place) {
    const real radius = radius_of(size);
    for (int a = 0; a < 3; a++) {
        g->x[a][g->count] = x[a];
        if (!g->count || x[a] < g->low[a]) g->low[a] = x[a];
        if (!g->count || x[a] > g->high[a]) g->high[a] = x[a];
    }
    if (!g->count || radius > g->radius) g->radius = radius;
    g->size[g->count] = size;
    g->place[g->count++] = place;
}

INLINE void shape_chunk(void *data, chunk items, int dim) {
    measure_job *job = data;
    lattice *l = job->l;
    for (int64_t b = items.begin; b < items.end; b++) {
        shape_group g = {.count = 0};
        real origin[3];
        for (int a = 0; a < 3; a++) origin[a] = (real)lattice_point(l, b, a, 0);
        for (uint64_t rest = job->shaped[b]; rest; rest &= rest - 1) {
            const int64_t *first = l->first + b * BRICK_CELLS + __builtin_ctzll(rest);
            for (int64_t i = first[0]; i < first[1]; i++) {
                const lattice_particle *p = &l->particles[i];
                real x[3];
                if (p->image) continue;
                for (int a = 0; a < 3; a++) x[a] = p->x[a] - origin[a];
                if (!group_takes(&g, x, p->size))
                    finish_group(job, b, origin, &g, items.worker, dim);
                group_add(&g, x, p->size, (int32_t)i);
            }
        }
        finish_group(job, b, origin, &g, items.worker, dim);
    }
}

TASK_BY_DIM(shape)

/* ---- Points of a brick ----------------------------------------------------------------------- */

/* Rows low..high of an axis that are within `reach` of x. */
INLINE void rows_near(real x, real reach, int *low, int *high) {
    *low = (int)ceil((double)(x - reach));
    *high = (int)floor((double)(x + reach));
    if (*low < 0) *low = 0;
    if (*high > BRICK_EDGE - 1) *high = BRICK_EDGE - 1;
}

INLINE void add_wide(real *to, wide v) { wide_store(to, wide_load(to) + v); }

/* Adds the ball of a particle at x, measured from the brick's first point. */
INLINE void add_ball(brick_sums *s, const real x[3], real reach) {
    int low[3], high[3];
    for (int a = 1; a < 3; a++) rows_near(x[a], reach, &low[a], &high[a]);
    const wide dx = wide_splat(x[0]) - lanes, along = dx * dx;
    const wide inverse = wide_splat(1 / (reach * reach));
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++) {
            const real dy = x[1] - (real)y, dz = x[2] - (real)z, across = dy * dy + dz * dz;
            if (across >= reach * reach) continue;
            const int row = BRICK_LAYER * z + BRICK_EDGE * y;
            const wide square = along + wide_splat(across),
                       t = wide_max(1 - square * inverse, wide_splat(0)), w = t * t * t;
            add_wide(s->offset[0] + row, w * dx);
            add_wide(s->offset[1] + row, w * wide_splat(dy));
            add_wide(s->offset[2] + row, w * wide_splat(dz));
            add_wide(s->weight + row, w);
            wide_store(s->nearest + row, wide_min(wide_load(s->nearest + row), square));
        }
}

/* Adds an ellipsoid whose centre is at c from the brick's first point: its kernel, or how near it
 * is. A row sees q^2 = xx dx^2 + 2 b dx + c, nowhere below c - b^2 / xx. */
INLINE void add_ellipsoid(brick_sums *s, const particle_shape *p, const real c[3],
                          surface_method method) {
    const real *m = p->metric;
    int low[3], high[3];
    if (p->box[0] <= 0 || c[0] + p->box[0] < 0 || c[0] - p->box[0] > BRICK_EDGE - 1) return;
    for (int a = 1; a < 3; a++) rows_near(c[a], p->box[a], &low[a], &high[a]);
    const wide dx = lanes - wide_splat(c[0]), along = dx * dx * wide_splat(m[0]);
    const wide peak = wide_splat(p->peak), zero = wide_splat(0);
    const real inverse = 1 / m[0];
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++) {
            const real dy = (real)y - c[1], dz = (real)z - c[2], b = m[1] * dy + m[2] * dz;
            const real rest = m[3] * dy * dy + 2 * m[4] * dy * dz + m[5] * dz * dz;
            if (rest - b * b * inverse >= 1) continue;
            const int row = BRICK_LAYER * z + BRICK_EDGE * y;
            const wide square = wide_fma(dx, wide_splat(2 * b), along) + wide_splat(rest);
            if (method == SURFACE_SHEETS) {
                wide_store(s->nearest + row, wide_min(wide_load(s->nearest + row), square));
            } else {
                const wide t = wide_max(1 - square, zero);
                add_wide(s->weight + row, peak * t * t * t);
            }
        }
}

/* Bits of the cells of a brick within `range` of c along an axis; `first` are those with c = 0. */
INLINE uint64_t slab(int c, int range, int axis) {
    static const uint64_t first[3] = {0x1111111111111111, 0x000f000f000f000f, 0xffff};
    const int stride = box_stride(CELL_EDGE, 2 - axis, 3);
    uint64_t bits = 0;
    for (int k = c - range < 0 ? 0 : c - range; k <= c + range && k < CELL_EDGE; k++)
        bits |= first[axis] << k * stride;
    return bits;
}

INLINE void add_cell(const lattice *l, const int64_t *first, const real origin[3], brick_sums *s,
                     surface_method method) {
    for (int64_t i = first[0]; i < first[1]; i++) {
        real x[3];
        const real *from = method == SURFACE_ISOTROPIC ? l->particles[i].x : l->shapes[i].centre;
        for (int a = 0; a < 3; a++) x[a] = from[a] - origin[a];
        if (method == SURFACE_ISOTROPIC)
            add_ball(s, x, l->reach);
        else
            add_ellipsoid(s, &l->shapes[i], x, method);
    }
}

/* Adds the particles of another brick, `offset` bricks away, that reach a cell of `wanted`. */
INLINE void add_brick(const lattice *l, int64_t brick, const int offset[3], const real origin[3],
                      uint64_t wanted, brick_sums *s, surface_method method) {
    const int range = (int)ceil((double)l->reach / CELL_POINTS);
    uint64_t near[3][CELL_EDGE];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < CELL_EDGE; c++) near[a][c] = slab(CELL_EDGE * offset[a] + c, range, a);
    for (int cell = 0; cell < BRICK_CELLS; cell++) {
        int at[3]; /* z, y, x */
        box_place(CELL_EDGE, cell, 3, at);
        const uint64_t reached = near[0][at[2]] & near[1][at[1]] & near[2][at[0]];
        if (reached & wanted) add_cell(l, l->first + brick * BRICK_CELLS + cell, origin, s, method);
    }
}

INLINE void clear_sums(brick_sums *s, real reach, surface_method method) {
    const wide far = wide_splat(method == SURFACE_ISOTROPIC ? reach * reach : 1);
    for (int i = 0; i < BRICK_POINTS; i += WIDE) {
        for (int a = 0; a < 3 && method == SURFACE_ISOTROPIC; a++)
            wide_store(s->offset[a] + i, wide_splat(0));
        wide_store(s->weight + i, wide_splat(0));
        wide_store(s->nearest + i, far);
    }
}

/* Zhu and Bridson's distance; see distance.c. Weights below `faint` are none. */
INLINE real ball_distance(const lattice *l, const brick_sums *s, int i) {
    const real faint = (real)1e-6, weight = s->weight[i], outside = l->reach - l->radius;
    real square = 0;
    if (!(weight > faint)) return outside;
    for (int a = 0; a < 3; a++) {
        const real mean = s->offset[a][i] / weight;
        square += mean * mean;
    }
    real value = (real)sqrt((double)square) - l->radius;
    const real gap = (real)sqrt((double)s->nearest[i]) - l->cut;
    value = gap > value ? gap : value;
    return value < outside ? value : outside;
}

INLINE real value_at(const measure_job *job, const brick_sums *s, int i, surface_method method) {
    if (method == SURFACE_ISOTROPIC) return ball_distance(job->l, s, i);
    return flat_profile_at(
        &job->profile, method == SURFACE_SHEETS ? (real)sqrt((double)s->nearest[i]) : s->weight[i]);
}

INLINE void fill_values(const measure_job *job, int64_t brick, const brick_sums *s,
                        surface_method method) {
    const lattice *l = job->l;
    for (int i = 0; i < BRICK_POINTS; i++) {
        int p[3];
        int32_t point[3];
        brick_point(i, p);
        for (int a = 0; a < 3; a++) point[a] = lattice_point(l, brick, a, p[a]);
        const int cell = brick_cell(p[0] / CELL_POINTS, p[1] / CELL_POINTS, p[2] / CELL_POINTS);
        const bool deep = l->deep[brick] >> cell & 1;
        l->values[brick * BRICK_POINTS + i] = !lattice_has(l, point) ? l->reach - l->radius
                                              : deep                 ? -l->radius
                                                                     : value_at(job, s, i, method);
    }
}

INLINE void measure_with(void *data, chunk items, surface_method method) {
    measure_job *job = data;
    lattice *l = job->l;
    brick_sums *s = &job->sums[items.worker];
    for (int64_t b = items.begin; b < items.end; b++) {
        const uint64_t wanted = lattice_wanted_cells(l, b);
        real origin[3];
        for (int a = 0; a < 3; a++) origin[a] = (real)lattice_point(l, b, a, 0);
        if (wanted) clear_sums(s, l->reach, method);
        for (int k = 0; k < NEIGHBOURS_MAX && wanted; k++) {
            const int32_t other = l->bricks.neighbours[b][k];
            int side[3]; /* z, y, x */
            box_place(3, k, 3, side);
            const int offset[3] = {side[2] - 1, side[1] - 1, side[0] - 1};
            if (other >= 0) add_brick(l, other, offset, origin, wanted, s, method);
        }
        fill_values(job, b, s, method);
    }
}

static void measure_isotropic(void *data, chunk items) {
    measure_with(data, items, SURFACE_ISOTROPIC);
}
static void measure_anisotropic(void *data, chunk items) {
    measure_with(data, items, SURFACE_ANISOTROPIC);
}
static void measure_sheets(void *data, chunk items) { measure_with(data, items, SURFACE_SHEETS); }

const surface_kernels ISA_NAME(surface_kernels) = {
    .measure = {measure_isotropic, measure_anisotropic, measure_sheets},
    .shape = {shape_2d, shape_3d},
};
