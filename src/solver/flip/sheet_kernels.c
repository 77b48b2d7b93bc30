/*
 * Sums over the particles around each: densities, covariances, displacements (sheets.h). A lane is
 * a particle of a tile; for eigenvalues it is a particle of its own.
 */
#include "core/decompose.h"
#include "solver/flip/insertion.h"
#include "solver/flip/sheet_tile.h"

/* The eigenvalues of k_s C are kept above this: nothing is moved more than four times less across a
 * sheet than along it. */
static const real least_stretch = (real)0.25;
/* Nearer than this share of its radius, squared, a particle is on the point. */
static const real touching2 = (real)1e-8;

INLINE void read_place(const particles *p, int64_t i, real point[3], wide x[3], int dim) {
    for (int a = 0; a < dim; a++) {
        point[a] = PLANE(p, position, a)[i];
        x[a] = wide_splat(point[a]);
    }
}

/* ---- Eq. 2 ----------------------------------------------------------------------------------- */

/* values: mass */
INLINE real density_around(const sheet_view *s, int64_t particle, const sheet_tile *tile,
                           const tile_rows *rows, int dim) {
    const wide inverse = wide_splat(1 / s->reach2);
    real point[3];
    wide sum = wide_splat(0), x[3], way[3];
    read_place(s->around.particles, particle, point, x, dim);
    for (int k = 0; k < rows->count; k++) {
        const tile_row *row = &rows->rows[k];
        if (!row_is_near(row, point, s->reach2, dim)) continue;
        for (int n = row->first; n < row->last; n += WIDE) {
            const wide r2 = ways_from(tile, n, x, way, dim);
            const wide w = wide_fma(-r2, inverse, wide_splat(1));
            sum = wide_fma(wide_max(w, wide_splat(0)), wide_load(tile->values[0] + n), sum);
        }
    }
    return wide_sum(sum);
}

/* The cells of a block that hold particles. */
INLINE block_cells occupied_cells(const int64_t *starts, int dim) {
    block_cells bits = 0;
    for (int c = 0; c < block_nodes(dim); c++)
        bits |= (block_cells)(starts[c] < starts[c + 1]) << c;
    return bits;
}

INLINE void find_largest_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const copied what = {.values = {s->around.particles->mass, NULL}};
    const row_reach reach = row_reach_of(s->reach2, dim);
    sheet_tile *tile = &s->tiles[items.worker];
    real largest = s->largest[items.worker];
    tile_rows rows;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int64_t *starts = s->around.starts + o * block_nodes(dim);
        block_cells cells = occupied_cells(starts, dim);
        fill_tile(&s->around, s->around.blocks->occupied[o], cells, reach.ring, &what, tile, dim);
        for (; cells; cells &= cells - 1) {
            const int c = __builtin_ctzll(cells);
            list_rows(tile, &reach, c, &rows, dim);
            for (int64_t i = starts[c]; i < starts[c + 1]; i++) {
                const real density = density_around(s, i, tile, &rows, dim);
                if (density > largest) largest = density;
            }
        }
    }
    s->largest[items.worker] = largest;
}

/* ---- What moves ------------------------------------------------------------------------------ */

/* The bounds of the velocities of the particles in a row of cells round a block. */
INLINE void bound_velocities(const sheet_view *s, int32_t block, int i, int j, quad *low,
                             quad *high, int dim) {
    const real4 *velocity = s->around.particles->velocity;
    int at[3] = {i, j, 0};
    span_list row;
    row.count = 0;
    list_row(&s->around, block, at, -1, BLOCK_EDGE, &row, dim);
    for (int k = 0; k < row.count; k++)
        for (int64_t n = row.spans[k].first; n < row.spans[k].last; n++) {
            const quad v = quad_load(velocity[n]);
            *high = quad_larger(*high, v);
            *low = -quad_larger(-*low, -v);
        }
}

/* Whether the particles of a block and those within a cell of it may differ in velocity by more than
 * counts. */
INLINE bool is_moving(const sheet_view *s, int32_t block, int dim) {
    const int last = dim == 3 ? BLOCK_EDGE : 0;
    quad low = quad_splat(REAL_MAX), high = quad_splat(-REAL_MAX);
    if (s->still < 0) return true;
    for (int i = -1; i <= BLOCK_EDGE; i++)
        for (int j = dim == 3 ? -1 : 0; j <= last; j++)
            bound_velocities(s, block, i, j, &low, &high, dim);
    real spread2 = 0;
    for (int a = 0; a < dim; a++) spread2 += (high[a] - low[a]) * (high[a] - low[a]);
    return spread2 > s->still * s->still;
}

INLINE void find_moving_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    for (int64_t o = items.begin; o < items.end; o++)
        s->moving[o] = is_moving(s, s->around.blocks->occupied[o], dim);
}

/* ---- Eq. 8 to 11 ----------------------------------------------------------------------------- */

enum { MOMENTS = 10 }; /* sums of W, W x, W x x^T */

INLINE int tensor_count(int dim) { return dim == 3 ? 6 : 3; }

/* Sums over the particles around one, about its place. values[1]: how many a particle stands
 * for */
INLINE void add_moments(const sheet_view *s, int64_t particle, const sheet_tile *tile,
                        const tile_rows *rows, wide sums[MOMENTS], int dim) {
    const wide inverse = wide_splat(1 / s->reach2);
    real point[3];
    wide x[3], way[3];
    read_place(s->around.particles, particle, point, x, dim);
    for (int m = 0; m < MOMENTS; m++) sums[m] = wide_splat(0);
    for (int k = 0; k < rows->count; k++) {
        const tile_row *row = &rows->rows[k];
        if (!row_is_near(row, point, s->reach2, dim)) continue;
        for (int n = row->first; n < row->last; n += WIDE) {
            const wide r2 = ways_from(tile, n, x, way, dim);
            const wide w = wide_max(wide_fma(-r2, inverse, wide_splat(1)), wide_splat(0)) *
                           wide_load(tile->values[1] + n);
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
    if (s->metric) metric_of(q, inverse, metric, dim);
    for (int n = 0; n < batch->count; n++) {
        const int64_t i = batch->particle[n];
        s->thinness[i] = batch->spray[n] ? 0 : 1 - ratio[n];
        for (int m = 0; m < tensor_count(dim) && s->metric; m++) s->metric[i][m] = metric[m][n];
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

/* Density, thinness and metric of a block's particles in the cells near air. */
INLINE void find_thin_cells(const sheet_view *s, const row_reach *reach, const int64_t *starts,
                            block_cells cells, const sheet_tile *tile, shape_batch *batch,
                            int dim) {
    tile_rows rows;
    wide sums[MOMENTS];
    for (; cells; cells &= cells - 1) {
        const int c = __builtin_ctzll(cells);
        list_rows(tile, reach, c, &rows, dim);
        for (int64_t i = starts[c]; i < starts[c + 1]; i++) {
            s->density[i] = density_around(s, i, tile, &rows, dim) * s->inverse_reference;
            if (!(s->density[i] < s->sparse)) continue;
            add_moments(s, i, tile, &rows, sums, dim);
            add_to_batch(s, i, sums, batch, dim);
        }
    }
}

INLINE void find_thin_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const copied what = {.values = {s->around.particles->mass, s->count}};
    const row_reach reach = row_reach_of(s->reach2, dim);
    sheet_tile *tile = &s->tiles[items.worker];
    shape_batch batch = {0};
    for (int64_t o = items.begin; o < items.end; o++) {
        const int64_t *starts = s->around.starts + o * block_nodes(dim);
        const block_cells cells = s->near[o];
        for (int64_t i = starts[0]; i < starts[block_nodes(dim)]; i++) s->density[i] = 1;
        if (!s->looked_at[o]) continue;
        for (int64_t i = starts[0]; i < starts[block_nodes(dim)]; i++) s->thinness[i] = 0;
        if (!cells) continue;
        fill_tile(&s->around, s->around.blocks->occupied[o], cells, reach.ring, &what, tile, dim);
        find_thin_cells(s, &reach, starts, cells, tile, &batch, dim);
    }
    if (batch.count) finish_batch(s, &batch, dim);
}

/* ---- Eq. 12 ---------------------------------------------------------------------------------- */

/* Whether nobody is nearer to a point than `reach`. values[0]: how many a particle stands for */
INLINE bool is_vacant(const sheet_tile *tile, const real point[3], real reach, int dim) {
    tile_rows rows;
    wide x[3], way[3];
    list_rows_near(tile, point, reach, &rows, dim);
    for (int a = 0; a < dim; a++) x[a] = wide_splat(point[a]);
    for (int k = 0; k < rows.count; k++)
        for (int n = rows.rows[k].first; n < rows.rows[k].last; n += WIDE) {
            const wide r2 = ways_from(tile, n, x, way, dim);
            const wide_int there =
                (r2 < wide_splat(reach * reach)) & (wide_load(tile->values[0] + n) > wide_splat(0));
            if (wide_any(there)) return false;
        }
    return true;
}

/* Whether particle i and j, copy n, are a pair that parts with nobody at its midpoint. */
INLINE bool is_pair(const pair_search *q, const sheet_tile *tile, int64_t i, int64_t j, int n,
                    real middle[3], int dim) {
    const particles *p = q->view->around.particles;
    double rate = 0;
    if (p->id[j] <= p->id[i]) return false;
    for (int a = 0; a < dim; a++) {
        const real x = PLANE(p, position, a)[i], way = tile->x[a][n] - x;
        rate += (double)way * ((double)p->velocity[j][a] - (double)p->velocity[i][a]);
        middle[a] = x + way / 2;
    }
    return rate > 0 && is_vacant(tile, middle, q->near, dim);
}

/* Of eight copies from n on, those in `bits`. Returns how many pairs they make with particle i. */
INLINE int64_t add_pairs(const pair_search *q, int32_t block, int64_t i, const sheet_tile *tile,
                         int n, unsigned bits, candidate *to, int dim) {
    const particles *p = q->view->around.particles;
    int64_t count = 0;
    for (; bits; bits &= bits - 1) {
        const int own = n + __builtin_ctz(bits);
        const int64_t j = tile->particle[own];
        candidate c = {.particle = {i, j}, .block = block};
        if (!is_pair(q, tile, i, j, own, c.x, dim)) continue;
        c.id[0] = p->id[i], c.id[1] = p->id[j];
        if (to) to[count] = c;
        count++;
    }
    return count;
}

/* Pairs of particle i with those of higher ids; values: count, and whether one may be a parent.
 * Returns how many. */
INLINE int64_t find_pairs_of(const pair_search *q, int32_t block, int64_t i, const sheet_tile *tile,
                             const tile_rows *rows, candidate *to, int dim) {
    const real far2 = q->far * q->far;
    const wide least = wide_splat(4 * q->near * q->near), most = wide_splat(far2);
    real point[3];
    wide x[3], way[3];
    int64_t count = 0;
    read_place(q->view->around.particles, i, point, x, dim);
    for (int k = 0; k < rows->count; k++) {
        const tile_row *row = &rows->rows[k];
        if (!row_is_near(row, point, far2, dim)) continue;
        for (int n = row->first; n < row->last; n += WIDE) {
            const wide r2 = ways_from(tile, n, x, way, dim);
            const wide_int apart =
                (r2 >= least) & (r2 <= most) & (wide_load(tile->values[1] + n) > wide_splat(0));
            count += add_pairs(q, block, i, tile, n, wide_bits(apart), to ? to + count : NULL, dim);
        }
    }
    return count;
}

/* Whether a particle is looked at: one that may be a parent, and where pairs are listed one that
 * has been seen to have any. */
INLINE bool is_searched(const pair_search *q, int64_t i) {
    return q->splits[i] > 0 && (!q->list || q->found[i]);
}

INLINE int64_t find_pairs_in_cell(const pair_search *q, int32_t block, const int64_t start[2],
                                  const sheet_tile *tile, const tile_rows *rows, candidate *to,
                                  int dim) {
    int64_t count = 0;
    for (int64_t i = start[0]; i < start[1]; i++) {
        if (!is_searched(q, i)) continue;
        const int64_t own = find_pairs_of(q, block, i, tile, rows, to ? to + count : NULL, dim);
        if (!to) q->found[i] = own > 0;
        count += own;
    }
    return count;
}

INLINE block_cells searched_cells(const pair_search *q, const int64_t *starts, int dim) {
    block_cells cells = 0;
    for (int c = 0; c < block_nodes(dim); c++) {
        bool any = false;
        for (int64_t i = starts[c]; i < starts[c + 1]; i++) any |= is_searched(q, i);
        cells |= (block_cells)any << c;
    }
    return cells;
}

INLINE void find_pairs_chunk(void *data, chunk items, int dim) {
    const pair_search *q = data;
    const sheet_view *s = q->view;
    const copied what = {.values = {s->count, q->splits}, .particle = true};
    const row_reach reach = row_reach_of(q->far * q->far, dim);
    sheet_tile *tile = &s->tiles[items.worker];
    tile_rows rows;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = s->around.blocks->occupied[o];
        const int64_t *starts = s->around.starts + o * block_nodes(dim);
        int64_t count = 0;
        if (q->list && q->counts[o] == q->counts[o + 1]) continue;
        block_cells cells = s->looked_at[o] ? searched_cells(q, starts, dim) : 0;
        if (cells) fill_tile(&s->around, block, cells, reach.ring, &what, tile, dim);
        for (; cells; cells &= cells - 1) {
            const int c = __builtin_ctzll(cells);
            list_rows(tile, &reach, c, &rows, dim);
            count += find_pairs_in_cell(q, block, starts + c, tile, &rows,
                                        q->list ? q->list + q->counts[o] + count : NULL, dim);
        }
        if (!q->list) q->counts[o] = count;
    }
}

/* ---- Eq. 21, 22 and 1 ------------------------------------------------------------------------ */

/* Particles near one, of many that are looked at. Where there is no room for more they are left
 * out. */
enum { CLOSE_MOST = 512 };
typedef struct close_list {
    int count;
    int copies[CLOSE_MOST];
} close_list;

/* How far displacements and velocities of the particles of a tile reach: their largest size, and
 * the most that one is moved. values[0]: size */
INLINE real reach_in_tile(const sheet_view *s, const sheet_tile *tile) {
    wide largest = wide_splat(0);
    for (int n = 0; n < tile->count; n += WIDE)
        largest = wide_max(largest, wide_load(tile->values[0] + n));
    const real reach = wide_largest(largest) + s->most;
    return reach < s->close ? reach : s->close;
}

/* Those nearer than the size of either and the most that one is moved. */
INLINE void list_close(const sheet_view *s, real size, const sheet_tile *tile, const real at[3],
                       real close, close_list *list, int dim) {
    const wide most = wide_splat(s->most), limit = wide_splat(close * close);
    const real own = size + s->most;
    tile_rows rows;
    wide x[3], way[3];
    list_rows_near(tile, at, close, &rows, dim);
    list->count = 0;
    for (int a = 0; a < dim; a++) x[a] = wide_splat(at[a]);
    for (int k = 0; k < rows.count; k++)
        for (int n = rows.rows[k].first; n < rows.rows[k].last; n += WIDE) {
            const wide r2 = ways_from(tile, n, x, way, dim);
            const wide reach = wide_load(tile->values[0] + n) + most;
            const wide reach2 = wide_min(wide_max(reach * reach, wide_splat(own * own)), limit);
            for (unsigned bits = wide_bits(r2 < reach2); bits; bits &= bits - 1)
                if (list->count < CLOSE_MOST) list->copies[list->count++] = n + __builtin_ctz(bits);
        }
}

/* Whether a particle has another metric than I. */
INLINE bool is_stretched(const sheet_view *s, int64_t i) {
    return s->metric && s->density[i] < s->sparse;
}

/* The way r = (G_i + G_j) / 2 times the way, where one of the two is stretched. */
INLINE void stretch_way(const sheet_view *s, int64_t i, int64_t j, real way[3], int dim) {
    const bool own = is_stretched(s, i), other = is_stretched(s, j);
    real r[3] = {0};
    if (!own && !other) return;
    for (int a = 0, m = 0; a < dim; a++)
        for (int c = a; c < dim; c++, m++) {
            const real usual = a == c;
            const real metric =
                ((own ? s->metric[i][m] : usual) + (other ? s->metric[j][m] : usual)) * (real)0.5;
            r[a] += metric * way[c];
            if (a != c) r[c] += metric * way[a];
        }
    for (int a = 0; a < dim; a++) way[a] = r[a];
}

INLINE real length2_of(const real v[3], int dim) {
    real sum = 0;
    for (int a = 0; a < dim; a++) sum += v[a] * v[a];
    return sum;
}

INLINE void displacement_of(const sheet_view *s, int64_t i, const real at[3],
                            const sheet_tile *tile, const close_list *list, real out[3], int dim) {
    real sums[3] = {0};
    for (int k = 0; k < list->count; k++) {
        const int n = list->copies[k];
        const int64_t j = tile->particle[n];
        const real d = (s->size[i] + s->size[j]) * (real)0.5;
        real way[3] = {0};
        for (int a = 0; a < dim; a++) way[a] = tile->x[a][n] - at[a];
        stretch_way(s, i, j, way, dim);
        const real r2 = length2_of(way, dim);
        if (!(r2 > 0 && r2 < d * d && s->count[j] > 0)) continue;
        const real w = (d * d - r2) / (d * (real)sqrt((double)r2)); /* (1 - r^2/d^2) d / r */
        for (int a = 0; a < dim; a++) sums[a] += w * way[a];
    }
    for (int a = 0; a < dim; a++) out[a] = -s->share * sums[a];
}

/* The largest speed of those nearer than their size relative to particle i. */
INLINE real relative_speed(const sheet_view *s, int64_t i, const real at[3], const sheet_tile *tile,
                           const close_list *list, int dim) {
    const real4 *velocity = s->around.particles->velocity;
    real largest2 = 0;
    for (int k = 0; k < list->count; k++) {
        const int n = list->copies[k];
        const int64_t j = tile->particle[n];
        const real d = (s->size[i] + s->size[j]) * (real)0.5;
        real way[3] = {0}, change[3] = {0};
        for (int a = 0; a < dim; a++) {
            way[a] = tile->x[a][n] - at[a];
            change[a] = velocity[j][a] - velocity[i][a];
        }
        const real speed2 = length2_of(change, dim);
        if (length2_of(way, dim) < d * d && s->count[j] > 0 && speed2 > largest2) largest2 = speed2;
    }
    return (real)sqrt((double)largest2);
}

/* The most that particle i is moved. */
INLINE real most_of(const sheet_view *s, int64_t i, const real at[3], const sheet_tile *tile,
                    const close_list *list, int dim) {
    if (!(s->motion > 0)) return s->most;
    const real speed = relative_speed(s, i, at, tile, list, dim), most = s->motion * speed;
    if (speed <= s->still) return 0;
    return most < s->most ? most : s->most;
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
    const real length2 = length2_of(move, dim);
    if (!(length2 > most * most)) return length2;
    const real less = most / (real)sqrt((double)length2);
    for (int a = 0; a < dim; a++) move[a] *= less;
    return most * most;
}

/* The mean velocity at a point by mass and W_sharp. */
INLINE void velocity_at(const sheet_view *s, const real at[3], const sheet_tile *tile,
                        const close_list *list, real out[4], int dim) {
    const particles *p = s->around.particles;
    real sums[3] = {0}, weight = 0;
    for (int k = 0; k < list->count; k++) {
        const int n = list->copies[k];
        const int64_t j = tile->particle[n];
        const real radius = s->size[j] * s->sharp, radius2 = radius * radius;
        real way[3] = {0};
        for (int a = 0; a < dim; a++) way[a] = tile->x[a][n] - at[a];
        const real r2 = length2_of(way, dim), least = radius2 * touching2;
        if (!(r2 < radius2)) continue;
        const real w = (radius2 / (r2 > least ? r2 : least) - 1) * p->mass[j];
        for (int a = 0; a < dim; a++) sums[a] += w * p->velocity[j][a];
        weight += w;
    }
    for (int a = 0; a < dim; a++) out[a] = sums[a] / weight;
}

INLINE void space_particle(const sheet_view *s, const sheet_tile *tile, real close, int64_t i,
                           int dim) {
    real x[3] = {0}, move[3] = {0};
    close_list list;
    for (int a = 0; a < dim; a++) x[a] = PLANE(s->around.particles, position, a)[i];
    s->moved[i][3] = 0;
    if (!(s->count[i] > 0)) return;
    list_close(s, s->size[i], tile, x, close, &list, dim);
    const real most = most_of(s, i, x, tile, &list, dim);
    if (!(most > 0)) return;
    displacement_of(s, i, x, tile, &list, move, dim);
    if (s->inward && s->density[i] < s->sparse) hold_surface(s->inward[i], move, dim);
    if (!(limit_length(move, most, dim) > 0)) return;
    for (int a = 0; a < dim; a++) s->moved[i][a] = move[a], x[a] += move[a];
    s->moved[i][3] = 1;
    velocity_at(s, x, tile, &list, s->resampled[i], dim);
}

INLINE void find_spacing_chunk(void *data, chunk items, int dim) {
    const sheet_view *s = data;
    const copied what = {.values = {s->size, NULL}, .particle = true};
    sheet_tile *tile = &s->tiles[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int64_t *starts = s->around.starts + o * block_nodes(dim);
        const int32_t block = s->around.blocks->occupied[o];
        if (s->motion > 0 && !s->moving[o]) {
            for (int64_t i = starts[0]; i < starts[block_nodes(dim)]; i++) s->moved[i][3] = 0;
            continue;
        }
        fill_tile(&s->around, block, occupied_cells(starts, dim), 1, &what, tile, dim);
        const real close = reach_in_tile(s, tile);
        for (int64_t i = starts[0]; i < starts[block_nodes(dim)]; i++)
            space_particle(s, tile, close, i, dim);
    }
}

SHEET_KERNELS(TASK_BY_DIM)

const sheet_kernels ISA_NAME(flip_sheets) = {SHEET_KERNELS(FIELD_BY_DIM)};
