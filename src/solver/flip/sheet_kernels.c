/*
 * Sums over the particles around each: densities, covariances, displacements (sheets.h). A lane is
 * a particle of a span; for eigenvalues it is a particle of its own.
 */
#include "core/decompose.h"
#include "solver/flip/insertion.h"

/* The eigenvalues of k_s C are kept above this: nothing is moved more than four times less across a
 * sheet than along it. */
static const real least_stretch = (real)0.25;
/* Nearer than this share of its radius, squared, a particle is on the point. */
static const real touching2 = (real)1e-8;

INLINE wide masked(wide_int mask, wide v) { return (wide)(mask & (wide_int)v); }

/* Which of the eight from n on are before the last. */
INLINE wide_int lanes_before(int last, int n) {
    const wide lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    return lanes < wide_splat((real)(last - n));
}

/* ---- What is around a cell, side by side ----------------------------------------------------- */

/* Copies of the particles around a cell, seen from its block, row by row of cells along the last
 * axis. A few rows are a group: whole wides, filled up with particles far away and without weight,
 * so that sums over them have no ends to stumble over; and groups too far from a point are passed
 * over. Where there is no room for more they are left out: so many around one are no surface. */
enum {
    AROUND_MOST = 4096 + 40, /* planes do not begin in the same places of pages */
    GROUPS_MOST = (2 * REACH_MOST + 1) * (2 * REACH_MOST + 1) + 1,
    GROUP_LEAST = 3 * WIDE
};
typedef struct surroundings {
    int groups, first[GROUPS_MOST + 1];             /* where each group begins */
    real low[GROUPS_MOST][2], high[GROUPS_MOST][2]; /* the box of its cells, across the rows */
    real x[3][AROUND_MOST] __attribute__((aligned(64)));
    real values[2][AROUND_MOST] __attribute__((aligned(64)));
    int64_t particle[AROUND_MOST]; /* where asked for */
} surroundings;

/* What is copied besides places: an array by particle each, or NULL. */
typedef struct copied {
    const real *values[2];
    bool particle;
} copied;

INLINE int copy_span(const particles *p, const span *own, const copied *what, surroundings *to,
                     int n, int dim) {
    wide corner[3];
    for (int a = 0; a < dim; a++) corner[a] = wide_splat((real)own->corner[a]);
    for (int64_t i = own->first; i < own->last && n + 2 * WIDE <= AROUND_MOST; i += WIDE) {
        const int lanes = own->last - i < WIDE ? (int)(own->last - i) : WIDE;
        for (int a = 0; a < dim; a++)
            wide_store(to->x[a] + n, wide_load(PLANE(p, position, a) + i) + corner[a]);
        for (int v = 0; v < 2; v++)
            if (what->values[v]) wide_store(to->values[v] + n, wide_load(what->values[v] + i));
        for (int k = 0; k < lanes && what->particle; k++) to->particle[n + k] = i + k;
        n += lanes;
    }
    return n;
}

/* Begins a group that is empty. */
INLINE void open_group(surroundings *to) {
    for (int a = 0; a < 2; a++) to->low[to->groups][a] = 64, to->high[to->groups][a] = -64;
}

/* The open group ends at n. */
INLINE void close_group(surroundings *to, int n, int dim) {
    if (n == to->first[to->groups]) return;
    while (n % WIDE) {
        for (int a = 0; a < dim; a++) to->x[a][n] = 64;
        for (int v = 0; v < 2; v++) to->values[v][n] = 0;
        n++;
    }
    to->first[++to->groups] = n;
    open_group(to);
}

/* The row of cells at a place across the last axis, from `low` to `high` along it; returns where
 * copies end. */
INLINE int copy_row(const neighbourhood *around, int32_t block, const int place[3], int low,
                    int high, const copied *what, surroundings *to, int n, int dim) {
    int at[3] = {place[0], place[1], place[2]};
    const int before = n, group = to->groups;
    span_list list;
    list.count = 0;
    list_row(around, block, at, low, high, &list, dim);
    for (int k = 0; k < list.count; k++)
        n = copy_span(around->particles, &list.spans[k], what, to, n, dim);
    if (n == before) return n;
    for (int a = 0; a < dim - 1; a++) {
        const real corner = (real)place[a];
        if (corner < to->low[group][a]) to->low[group][a] = corner;
        if (corner + 1 > to->high[group][a]) to->high[group][a] = corner + 1;
    }
    if (n - to->first[group] < GROUP_LEAST) return n;
    close_group(to, n, dim);
    return to->first[to->groups];
}

/* All particles that may be within sqrt(reach2) <= REACH_MOST of one in a cell of a block. */
INLINE void surround(const neighbourhood *around, double reach2, int32_t block, int cell,
                     const copied *what, surroundings *to, int dim) {
    const int reach = reach_along(reach2, 0, 0), depth = dim == 3 ? reach : 0;
    int home[3], n = 0;
    to->groups = 0, to->first[0] = 0;
    open_group(to);
    box_place(BLOCK_EDGE, cell, dim, home);
    for (int i = -reach; i <= reach; i++)
        for (int j = -depth; j <= depth; j++) {
            const int width = reach_along(reach2, i, j), middle = home[dim - 1];
            if (width < 0) continue;
            const int at[3] = {home[0] + i, home[1] + j, 0};
            n = copy_row(around, block, at, middle - width, middle + width, what, to, n, dim);
        }
    close_group(to, n, dim);
}

/* Whether a group comes within sqrt(reach2) of a point. */
INLINE bool group_is_near(const surroundings *around, int group, const real x[3], real reach2,
                          int dim) {
    real way2 = 0;
    for (int a = 0; a < dim - 1; a++) {
        const real low = around->low[group][a] - x[a], high = x[a] - around->high[group][a];
        const real way = low > high ? low : high;
        way2 += way > 0 ? way * way : 0;
    }
    return way2 < reach2;
}

/* Ways from a point to eight of them. */
INLINE wide ways_from(const surroundings *around, int n, const wide x[3], wide way[3], int dim) {
    wide r2 = wide_splat(0);
    for (int a = 0; a < dim; a++) {
        way[a] = wide_load(around->x[a] + n) - x[a];
        r2 = wide_fma(way[a], way[a], r2);
    }
    return r2;
}

INLINE void read_place(const particles *p, int64_t i, real point[3], wide x[3], int dim) {
    for (int a = 0; a < dim; a++) {
        point[a] = PLANE(p, position, a)[i];
        x[a] = wide_splat(point[a]);
    }
}

/* ---- Eq. 2 ----------------------------------------------------------------------------------- */

/* values: mass */
INLINE real density_around(const sheet_view *s, int64_t particle, const surroundings *around,
                           int dim) {
    const wide inverse = wide_splat(1 / s->reach2);
    real point[3];
    wide sum = wide_splat(0), x[3], way[3];
    read_place(s->around.particles, particle, point, x, dim);
    for (int g = 0; g < around->groups; g++) {
        if (!group_is_near(around, g, point, s->reach2, dim)) continue;
        for (int n = around->first[g]; n < around->first[g + 1]; n += WIDE) {
            const wide r2 = ways_from(around, n, x, way, dim);
            const wide w = wide_fma(-r2, inverse, wide_splat(1));
            sum = wide_fma(wide_max(w, wide_splat(0)), wide_load(around->values[0] + n), sum);
        }
    }
    return wide_sum(sum);
}

INLINE void surround_by_mass(const sheet_view *s, int32_t block, int cell, surroundings *around,
                             int dim) {
    const copied what = {.values = {s->around.particles->mass, NULL}};
    surround(&s->around, (double)s->reach2, block, cell, &what, around, dim);
}

INLINE void find_largest_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const blocks *b = s->around.blocks;
    real largest = s->largest[items.worker];
    surroundings around;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t *start = s->around.starts + o * block_nodes(dim) + c;
            if (start[0] == start[1]) continue;
            surround_by_mass(s, b->occupied[o], c, &around, dim);
            for (int64_t i = start[0]; i < start[1]; i++) {
                const real density = density_around(s, i, &around, dim);
                if (density > largest) largest = density;
            }
        }
    s->largest[items.worker] = largest;
}

INLINE void find_density_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const blocks *b = s->around.blocks;
    surroundings around;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t *start = s->around.starts + o * block_nodes(dim) + c;
            if (start[0] == start[1]) continue;
            const bool near = s->near[o] >> c & 1;
            if (near) surround_by_mass(s, b->occupied[o], c, &around, dim);
            for (int64_t i = start[0]; i < start[1]; i++)
                s->density[i] =
                    near ? density_around(s, i, &around, dim) * s->inverse_reference : 1;
        }
}

/* ---- Eq. 8 to 11 ----------------------------------------------------------------------------- */

enum { MOMENTS = 10 }; /* sums of W, W x, W x x^T */

INLINE int tensor_count(int dim) { return dim == 3 ? 6 : 3; }

/* Sums over the particles around one, about its place. values: how many a particle stands for */
INLINE void add_moments(const sheet_view *s, int64_t particle, const surroundings *around,
                        wide sums[MOMENTS], int dim) {
    const wide inverse = wide_splat(1 / s->reach2);
    real point[3];
    wide x[3], way[3];
    read_place(s->around.particles, particle, point, x, dim);
    for (int m = 0; m < MOMENTS; m++) sums[m] = wide_splat(0);
    for (int g = 0; g < around->groups; g++) {
        if (!group_is_near(around, g, point, s->reach2, dim)) continue;
        for (int n = around->first[g]; n < around->first[g + 1]; n += WIDE) {
            const wide r2 = ways_from(around, n, x, way, dim);
            const wide w = wide_max(wide_fma(-r2, inverse, wide_splat(1)), wide_splat(0)) *
                           wide_load(around->values[0] + n);
            int m = 0;
            sums[m++] += w;
            for (int a = 0; a < dim; a++) {
                const wide wx = w * way[a];
                sums[1 + a] += wx;
                for (int c = a; c < dim; c++, m++)
                    sums[dim + m] = wide_fma(wx, way[c], sums[dim + m]);
            }
        }
    }
}

/* Particles whose covariances are to be taken apart, a lane each. */
typedef struct shape_batch {
    int count;
    int64_t particle[WIDE];
    bool spray[WIDE];
    real covariance[6][WIDE] __attribute__((aligned(64)));
} shape_batch;

/* (k_s C)^-1 from eigenvalues within bounds: R diag(1/l) R^T. */
INLINE void metric_of(const wide q[9], const wide inverse[3], wide out[6], int dim) {
    int m = 0;
    for (int a = 0; a < dim; a++)
        for (int c = a; c < dim; c++, m++) {
            out[m] = wide_splat(0);
            for (int k = 0; k < dim; k++)
                out[m] = wide_fma(q[dim * a + k] * inverse[k], q[dim * c + k], out[m]);
        }
}

INLINE void finish_batch(const sheet_view *s, shape_batch *batch, int dim) {
    wide tensor[6], q[9], l[3], inverse[3], metric[6];
    for (int m = 0; m < tensor_count(dim); m++) tensor[m] = wide_load(batch->covariance[m]);
    if (dim == 3)
        wide_eigen3(tensor, q, l);
    else
        wide_eigen2(tensor, q, l);
    const wide first = wide_max(l[0], wide_splat(FLT_MIN));
    const wide ratio = wide_max(l[dim - 1], wide_splat(0)) / first;
    for (int k = 0; k < dim; k++) {
        const wide scaled = wide_max(l[k] * s->stretch, wide_splat(least_stretch));
        inverse[k] = 1 / wide_min(scaled, wide_splat(1));
    }
    if (s->metric[0]) metric_of(q, inverse, metric, dim);
    for (int n = 0; n < batch->count; n++) {
        const int64_t i = batch->particle[n];
        s->thinness[i] = batch->spray[n] ? 0 : 1 - ratio[n];
        for (int m = 0; m < tensor_count(dim) && s->metric[0]; m++) s->metric[m][i] = metric[m][n];
    }
    batch->count = 0;
}

/* Which way the others are, as a unit vector, where they are to one side: at a surface. */
INLINE void add_inward(const sheet_view *s, int64_t i, const real mean[3], int dim) {
    real length2 = 0;
    for (int a = 0; a < dim; a++) length2 += mean[a] * mean[a];
    const bool aside = length2 > s->aside * s->aside;
    const real scale = aside ? 1 / (real)sqrt((double)length2) : 0;
    for (int a = 0; a < dim; a++) s->inward[i][a] = scale * mean[a];
}

/* C = <x x^T> - <x> <x>^T */
INLINE void add_to_batch(const sheet_view *s, int64_t i, const wide sums[MOMENTS],
                         shape_batch *batch, int dim) {
    const int n = batch->count++;
    const real weight = wide_sum(sums[0]);
    real mean[3];
    for (int a = 0; a < dim; a++) mean[a] = wide_sum(sums[1 + a]) / weight;
    int m = 0;
    for (int a = 0; a < dim; a++)
        for (int c = a; c < dim; c++, m++)
            batch->covariance[m][n] = wide_sum(sums[1 + dim + m]) / weight - mean[a] * mean[c];
    if (s->inward) add_inward(s, i, mean, dim);
    batch->particle[n] = i;
    batch->spray[n] = weight < s->least_count;
    if (batch->count == WIDE) finish_batch(s, batch, dim);
}

INLINE void reset_shape(const sheet_view *s, int64_t i, int dim) {
    s->thinness[i] = 0;
    for (int a = 0; a < dim && s->inward; a++) s->inward[i][a] = 0;
    for (int a = 0, m = 0; a < dim && s->metric[0]; a++)
        for (int c = a; c < dim; c++, m++) s->metric[m][i] = a == c;
}

INLINE void find_shape_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const blocks *b = s->around.blocks;
    const copied what = {.values = {s->count, NULL}};
    surroundings around;
    shape_batch batch = {0};
    wide sums[MOMENTS];
    for (int64_t o = items.begin; o < items.end; o++)
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t cell = o * block_nodes(dim) + c;
            const int64_t *start = s->around.starts + cell;
            bool odd = false;
            for (int64_t i = start[0]; i < start[1]; i++) {
                reset_shape(s, i, dim);
                if (!(s->density[i] < s->sparse)) continue;
                if (!odd)
                    surround(&s->around, (double)s->reach2, b->occupied[o], c, &what, &around, dim);
                odd = true;
                add_moments(s, i, &around, sums, dim);
                add_to_batch(s, i, sums, &batch, dim);
            }
            s->odd[cell] = odd;
        }
    if (batch.count) finish_batch(s, &batch, dim);
}

/* ---- Eq. 12 ---------------------------------------------------------------------------------- */

/* Whether nobody is nearer to a point than `reach`. values: how many a particle stands for */
INLINE bool is_vacant(const surroundings *around, const real point[3], real reach, int dim) {
    wide x[3], way[3];
    for (int a = 0; a < dim; a++) x[a] = wide_splat(point[a]);
    for (int g = 0; g < around->groups; g++) {
        if (!group_is_near(around, g, point, reach * reach, dim)) continue;
        for (int n = around->first[g]; n < around->first[g + 1]; n += WIDE) {
            const wide r2 = ways_from(around, n, x, way, dim);
            const wide_int there = (r2 < wide_splat(reach * reach)) &
                                   (wide_load(around->values[0] + n) > wide_splat(0));
            if (wide_any(there)) return false;
        }
    }
    return true;
}

/* Whether particle i and j, copy n, are a pair that parts with nobody at its midpoint. */
INLINE bool is_pair(const pair_search *q, const surroundings *around, int64_t i, int64_t j, int n,
                    real middle[3], int dim) {
    const particles *p = q->view->around.particles;
    double rate = 0;
    if (p->id[j] <= p->id[i]) return false;
    for (int a = 0; a < dim; a++) {
        const real x = PLANE(p, position, a)[i], way = around->x[a][n] - x;
        rate += (double)way * ((double)p->velocity[j][a] - (double)p->velocity[i][a]);
        middle[a] = x + way / 2;
    }
    return rate > 0 && is_vacant(around, middle, q->near, dim);
}

/* Of eight copies from n on, those in `bits`. Returns how many pairs they make with particle i. */
INLINE int64_t add_pairs(const pair_search *q, int32_t block, int64_t i, const surroundings *around,
                         int n, unsigned bits, candidate *to, int dim) {
    const particles *p = q->view->around.particles;
    int64_t count = 0;
    for (; bits; bits &= bits - 1) {
        const int own = n + __builtin_ctz(bits);
        const int64_t j = around->particle[own];
        candidate c = {.particle = {i, j}, .block = block};
        if (!is_pair(q, around, i, j, own, c.x, dim)) continue;
        c.id[0] = p->id[i], c.id[1] = p->id[j];
        if (to) to[count] = c;
        count++;
    }
    return count;
}

/* Pairs of particle i with those of higher ids; values: count, and whether one may be a parent.
 * Returns how many. */
INLINE int64_t find_pairs_of(const pair_search *q, int32_t block, int64_t i,
                             const surroundings *around, candidate *to, int dim) {
    const real far2 = q->far * q->far;
    const wide least = wide_splat(4 * q->near * q->near), most = wide_splat(far2);
    real point[3];
    wide x[3], way[3];
    int64_t count = 0;
    read_place(q->view->around.particles, i, point, x, dim);
    for (int g = 0; g < around->groups; g++) {
        if (!group_is_near(around, g, point, far2, dim)) continue;
        for (int n = around->first[g]; n < around->first[g + 1]; n += WIDE) {
            const wide r2 = ways_from(around, n, x, way, dim);
            const wide_int apart =
                (r2 >= least) & (r2 <= most) & (wide_load(around->values[1] + n) > wide_splat(0));
            count +=
                add_pairs(q, block, i, around, n, wide_bits(apart), to ? to + count : NULL, dim);
        }
    }
    return count;
}

INLINE int64_t find_pairs_in_cell(const pair_search *q, int32_t block, int cell,
                                  const int64_t start[2], surroundings *around, candidate *to,
                                  int dim) {
    const sheet_view *s = q->view;
    const copied what = {.values = {s->count, q->splits}, .particle = true};
    int64_t count = 0;
    bool listed = false;
    for (int64_t i = start[0]; i < start[1]; i++) {
        if (!(q->splits[i] > 0) || (to && !q->found[i])) continue;
        if (!listed)
            surround(&s->around, (double)(q->far * q->far), block, cell, &what, around, dim);
        listed = true;
        const int64_t own = find_pairs_of(q, block, i, around, to ? to + count : NULL, dim);
        if (!to) q->found[i] = own > 0;
        count += own;
    }
    return count;
}

INLINE void find_pairs_chunk(void *data, chunk items, int dim) {
    const pair_search *q = data;
    const blocks *b = q->view->around.blocks;
    surroundings around;
    for (int64_t o = items.begin; o < items.end; o++) {
        int64_t count = 0;
        if (q->list && q->counts[o] == q->counts[o + 1]) continue;
        for (int c = 0; c < block_nodes(dim); c++)
            count += find_pairs_in_cell(q, b->occupied[o], c,
                                        q->view->around.starts + o * block_nodes(dim) + c, &around,
                                        q->list ? q->list + q->counts[o] + count : NULL, dim);
        if (!q->list) q->counts[o] = count;
    }
}

/* ---- Eq. 21, 22 and 1 ------------------------------------------------------------------------ */

/* Copies of a block's particles and those of the cells round it, seen from the block, cell by cell
 * with the last axis fastest (sheets.h). Cells that do not fit are left empty. */
INLINE void copy_cell(const sheet_view *s, int64_t first, int count, const real corner[3], bool odd,
                      space_tile *to, int dim) {
    const particles *p = s->around.particles;
    for (int k = 0; k < count; k += WIDE) {
        const int64_t i = first + k;
        const int n = to->count + k;
        for (int a = 0; a < dim; a++)
            wide_store(to->x[a] + n, wide_load(PLANE(p, position, a) + i) + wide_splat(corner[a]));
        wide_store(to->size + n, wide_load(s->size + i));
        wide_store(to->mass + n, wide_load(p->mass + i));
        for (int m = 0; m < tensor_count(dim) && odd; m++)
            wide_store(to->metric[m] + n, wide_load(s->metric[m] + i));
    }
    for (int k = 0; k < count; k++)
        for (int a = 0; a < dim; a++) to->velocity[a][to->count + k] = p->velocity[first + k][a];
    to->count += count;
}

INLINE void fill_tile(const sheet_view *s, int32_t block, bool odd, space_tile *to, int dim) {
    const int cells = dim == 3 ? SPACE_CELLS : SPACE_EDGE * SPACE_EDGE;
    to->count = 0;
    for (int c = 0; c < cells; c++) {
        int at[3];
        real corner[3] = {0};
        box_place(SPACE_EDGE, c, dim, at);
        for (int a = 0; a < dim; a++) at[a]--, corner[a] = (real)(at[a] & ~(BLOCK_EDGE - 1));
        to->starts[c] = to->count;
        const int64_t other = find_cell(&s->around, block, at, dim);
        if (other < 0) continue;
        const int64_t first = s->around.starts[other], last = s->around.starts[other + 1];
        if (last - first > SPACE_MOST - WIDE - to->count) continue;
        copy_cell(s, first, (int)(last - first), corner, odd, to, dim);
    }
    to->starts[cells] = to->count;
}

/* Rows of cells, as ranges of a tile, that may be within reach <= 1 of a point. */
typedef struct tile_rows {
    int count;
    int first[9], last[9];
} tile_rows;

INLINE void list_rows_near(const sheet_view *s, const space_tile *tile, const real x[3],
                           tile_rows *rows, int dim) {
    int low[3] = {0}, high[3] = {0};
    for (int a = 0; a < dim; a++) {
        const real in = x[a] - (real)(int)x[a];
        low[a] = (int)x[a] + (in < s->close ? 0 : 1);
        high[a] = (int)x[a] + (in + s->close >= 1 ? 2 : 1);
    }
    rows->count = 0;
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = dim == 3 ? low[1] : 0; j <= (dim == 3 ? high[1] : 0); j++) {
            const int row = dim == 3 ? (i * SPACE_EDGE + j) * SPACE_EDGE : i * SPACE_EDGE;
            rows->first[rows->count] = tile->starts[row + low[dim - 1]];
            rows->last[rows->count++] = tile->starts[row + high[dim - 1] + 1];
        }
}

/* r = (k_s C_i)^-1 + (k_s C_j)^-1 over two, times the way. */
INLINE wide stretch_ways(const space_tile *list, int n, const real own[6], wide way[3], int dim) {
    wide metric[6], r[3], r2 = wide_splat(0);
    for (int m = 0; m < tensor_count(dim); m++)
        metric[m] = (wide_load(list->metric[m] + n) + wide_splat(own[m])) * (real)0.5;
    for (int a = 0; a < dim; a++) {
        r[a] = wide_splat(0);
        for (int c = 0; c < dim; c++) {
            const int low = a < c ? a : c, high = a < c ? c : a;
            r[a] = wide_fma(metric[low * dim - low * (low - 1) / 2 + high - low], way[c], r[a]);
        }
        r2 = wide_fma(r[a], r[a], r2);
    }
    for (int a = 0; a < dim; a++) way[a] = r[a];
    return r2;
}

INLINE wide ways_in_tile(const space_tile *tile, int n, const wide x[3], wide way[3], int dim) {
    wide r2 = wide_splat(0);
    for (int a = 0; a < dim; a++) {
        way[a] = wide_load(tile->x[a] + n) - x[a];
        r2 = wide_fma(way[a], way[a], r2);
    }
    return r2;
}

INLINE void displacement_of(const sheet_view *s, int64_t particle, const real at[3],
                            const space_tile *tile, const tile_rows *rows, bool odd, real out[3],
                            int dim) {
    wide sums[3] = {wide_splat(0), wide_splat(0), wide_splat(0)}, x[3], way[3];
    real own[6] = {0};
    for (int m = 0; m < tensor_count(dim) && odd; m++) own[m] = s->metric[m][particle];
    for (int a = 0; a < dim; a++) x[a] = wide_splat(at[a]);
    for (int k = 0; k < rows->count; k++)
        for (int n = rows->first[k]; n < rows->last[k]; n += WIDE) {
            wide r2 = ways_in_tile(tile, n, x, way, dim);
            const wide d = (wide_load(tile->size + n) + wide_splat(s->size[particle])) * (real)0.5;
            if (odd) r2 = stretch_ways(tile, n, own, way, dim);
            const wide_int there = lanes_before(rows->last[k], n) & (r2 > wide_splat(0)) &
                                   (r2 < d * d) & (wide_load(tile->mass + n) > wide_splat(0));
            const wide safe = wide_select(there, r2, wide_splat(1)), length = wide_sqrt(safe);
            /* (1 - r^2/d^2) d / r */
            const wide w = masked(there, (d * d - safe) / (d * length));
            for (int a = 0; a < dim; a++) sums[a] = wide_fma(w, way[a], sums[a]);
        }
    for (int a = 0; a < dim; a++) out[a] = -s->share * wide_sum(sums[a]);
}

/* Without what leads out of the liquid. */
INLINE void hold_surface(const real4 inward, real move[3], int dim) {
    real in = 0;
    for (int a = 0; a < dim; a++) in += move[a] * inward[a];
    if (in < 0)
        for (int a = 0; a < dim; a++) move[a] -= in * inward[a];
}

/* Not longer than the most of a step. */
INLINE real limit_length(real move[3], real most, int dim) {
    real length2 = 0;
    for (int a = 0; a < dim; a++) length2 += move[a] * move[a];
    if (!(length2 > most * most)) return length2;
    const real less = most / (real)sqrt((double)length2);
    for (int a = 0; a < dim; a++) move[a] *= less;
    return most * most;
}

/* The mean velocity at a point by mass and W_sharp. */
INLINE void velocity_at(const sheet_view *s, const real at[3], const space_tile *tile,
                        const tile_rows *rows, real out[4], int dim) {
    wide sums[4] = {wide_splat(0), wide_splat(0), wide_splat(0), wide_splat(0)}, x[3], way[3];
    for (int a = 0; a < dim; a++) x[a] = wide_splat(at[a]);
    for (int k = 0; k < rows->count; k++)
        for (int n = rows->first[k]; n < rows->last[k]; n += WIDE) {
            const wide r2 = ways_in_tile(tile, n, x, way, dim);
            const wide radius = wide_load(tile->size + n) * s->sharp, radius2 = radius * radius;
            const wide_int there = lanes_before(rows->last[k], n) & (r2 < radius2);
            const wide sharp = radius2 / wide_max(r2, radius2 * touching2) - wide_splat(1);
            const wide w = masked(there, sharp * wide_load(tile->mass + n));
            for (int a = 0; a < dim; a++) {
                const wide v = masked(there, wide_load(tile->velocity[a] + n));
                sums[a] = wide_fma(w, v, sums[a]);
            }
            sums[3] += w;
        }
    const real weight = wide_sum(sums[3]);
    for (int a = 0; a < dim; a++) out[a] = wide_sum(sums[a]) / weight;
}

/* Whether a cell or one beside it holds a particle with another metric than I. */
INLINE bool is_odd_around(const sheet_view *s, int32_t block, int cell, int dim) {
    if (!s->metric[0]) return false;
    const int depth = dim == 3 ? 1 : 0;
    int home[3];
    box_place(BLOCK_EDGE, cell, dim, home);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -depth; k <= depth; k++) {
                const int at[3] = {home[0] + i, home[1] + j, home[2] + k};
                const int64_t other = find_cell(&s->around, block, at, dim);
                if (other >= 0 && s->odd[other]) return true;
            }
    return false;
}

INLINE void space_particle(const sheet_view *s, const space_tile *tile, int64_t i, bool odd,
                           int dim) {
    real x[3] = {0}, move[3] = {0};
    tile_rows rows;
    for (int a = 0; a < dim; a++) x[a] = PLANE(s->around.particles, position, a)[i];
    s->moved[i][3] = 0;
    if (!(s->count[i] > 0)) return;
    list_rows_near(s, tile, x, &rows, dim);
    displacement_of(s, i, x, tile, &rows, odd, move, dim);
    if (s->inward) hold_surface(s->inward[i], move, dim);
    if (!(limit_length(move, s->most, dim) > 0)) return;
    for (int a = 0; a < dim; a++) s->moved[i][a] = move[a], x[a] += move[a];
    s->moved[i][3] = 1;
    velocity_at(s, x, tile, &rows, s->resampled[i], dim);
}

/* Whether a block or one beside it holds a particle with another metric than I. */
INLINE bool is_odd_block(const sheet_view *s, int32_t block, int dim) {
    const blocks *b = s->around.blocks;
    if (!s->metric[0]) return false;
    for (int code = 0; code < neighbour_count(dim); code++) {
        const int32_t other = b->neighbours[block][code];
        if (other < 0 || b->tile[other] < 0) continue;
        const uint8_t *odd = s->odd + (int64_t)b->tile[other] * block_nodes(dim);
        for (int c = 0; c < block_nodes(dim); c++)
            if (odd[c]) return true;
    }
    return false;
}

INLINE void find_spacing_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const blocks *b = s->around.blocks;
    space_tile *tile = &s->tiles[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        const bool any = is_odd_block(s, block, dim);
        fill_tile(s, block, any, tile, dim);
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t *start = s->around.starts + o * block_nodes(dim) + c;
            if (start[0] == start[1]) continue;
            const bool odd = any && is_odd_around(s, block, c, dim);
            for (int64_t i = start[0]; i < start[1]; i++)
                if (odd)
                    space_particle(s, tile, i, true, dim);
                else
                    space_particle(s, tile, i, false, dim);
        }
    }
}

SHEET_KERNELS(TASK_BY_DIM)

const sheet_kernels ISA_NAME(flip_sheets) = {SHEET_KERNELS(FIELD_BY_DIM)};
