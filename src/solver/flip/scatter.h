/* Particles to faces: momentum, mass, and the particles' volume to the middles of cells. */
#ifndef SPATE_SOLVER_FLIP_SCATTER_H
#define SPATE_SOLVER_FLIP_SCATTER_H

#include "core/wide_math.h"
#include "solver/flip/transfer.h"
#include "solver/lanes.h"

/* What a particle scatters; B only where transfers are affine. */
typedef struct scattered {
    real mass;
    const real *velocity;
    const real4 *B;
} scattered;

/* Component c of one particle: m (v w + B . slope) and m w. */
INLINE void scatter_component(real *tile, const kernel_weights *s, int lane, int c,
                              const scattered *p, bool affine, int dim) {
    const axis_weights *x = &s->axis[0][c != 0], *z = &s->axis[dim - 1][c != dim - 1];
    const axis_weights *y = &s->axis[1][c != 1];
    const int at =
        tile_index((int)x->base[lane], dim == 3 ? (int)y->base[lane] : 0, (int)z->base[lane], dim);
    const row along = row_pairs(z->w, lane);
    const real mass = p->mass;
    row straight = along * row_both(mass * p->velocity[c], mass), in_x, in_y;
    if (affine) {
        const real4 *B = p->B;
        straight = row_fma(row_pairs(z->slope, lane), row_both(mass * B[dim - 1][c], 0), straight);
        in_x = along * row_both(mass * B[0][c], 0);
        if (dim == 3) in_y = along * row_both(mass * B[1][c], 0);
    }
    for (int i = 0; i < SUPPORT; i++)
        for (int j = 0; j < (dim == 3 ? SUPPORT : 1); j++) {
            real *to = tile + (at + tile_index(i, j, 0, dim)) * PAIR;
            const real wx = x->w[i][lane], wy = dim == 3 ? y->w[j][lane] : 1;
            row sum = row_fma(row_splat(wx * wy), straight, row_load(to));
            if (affine) {
                sum = row_fma(row_splat(x->slope[i][lane] * wy), in_x, sum);
                if (dim == 3) sum = row_fma(row_splat(wx * y->slope[j][lane]), in_y, sum);
            }
            row_store(to, sum);
        }
}

/* Weights of eight particles' volumes at three cells along an axis, and the first of those in the
 * tile. The third is 0 but for merged particles. */
typedef struct volume_weights {
    real_bits base[3][WIDE];
    real w[3][WIDE][QUAD];
} volume_weights;

/* By the linear kernel, always: two cells. */
INLINE void weigh_points(const wide x[3], wide base[3], wide w[3][3], int dim) {
    for (int a = 0; a < dim; a++) {
        const wide from = x[a] - wide_splat((real)0.5);
        base[a] = wide_floor(from + wide_splat(1)) - wide_splat(1);
        w[a][1] = from - base[a], w[a][0] = wide_splat(1) - w[a][1], w[a][2] = wide_splat(0);
    }
}

/* Integral of the linear kernel from -1 to s: 1/2 + s - s |s| / 2 within -1 and 1. */
INLINE wide tent_below(wide s) {
    const wide within = wide_min(wide_max(s, wide_splat(-1)), wide_splat(1));
    return wide_splat((real)0.5) + within - wide_splat((real)0.5) * (within * wide_abs(within));
}

/* The edge of a box of a particle's volume, at most a cell. */
INLINE wide box_sizes(wide volume, int dim) {
    const wide share = wide_min(volume, wide_splat(1));
    return dim == 3 ? wide_cbrt(share) : wide_sqrt(share);
}

/* Particles merged of others, where the mask is set: by the linear kernel's mean over a box of its
 * size, which reaches three cells along an axis. */
INLINE void weigh_boxes(const wide x[3], wide volume, wide_int merged, wide base[3], wide w[3][3],
                        int dim) {
    const wide size = box_sizes(volume, dim), half = wide_splat((real)0.5) * size;
    const wide inverse = wide_splat(1) / size, one = wide_splat(1);
    for (int a = 0; a < dim; a++) {
        const wide from = x[a] - wide_splat((real)0.5);
        const wide middle = wide_floor(from + wide_splat((real)1.5)) - one; /* the nearest */
        base[a] = wide_select(merged, middle - one, base[a]);
        for (int n = 0; n < 3; n++) {
            const wide s = from - (middle + wide_splat((real)(n - 1)));
            const wide mean = (tent_below(s + half) - tent_below(s - half)) * inverse;
            w[a][n] = wide_select(merged, mean, w[a][n]);
        }
    }
}

INLINE void weigh_volumes(volume_weights *out, const wide x[3], wide volume, const uint8_t *role,
                          int lanes, int dim) {
    wide base[3], w[3][3];
    wide_int merged = wide_splat_int(0);
    weigh_points(x, base, w, dim);
    for (int lane = 0; lane < lanes && role; lane++) merged[lane] = role[lane] > 1 ? -1 : 0;
    if (wide_any(merged)) weigh_boxes(x, volume, merged, base, w, dim);
    for (int a = 0; a < dim; a++) {
        wide_store_int(out->base[a], wide_to_int(base[a]) + wide_splat_int(TILE_BEFORE));
        wide r[4] = {w[a][0], w[a][1], w[a][2], wide_splat(0)};
        transpose_quads(r);
        for (int k = 0; k < QUAD; k++) {
            quad_store(out->w[a][k], wide_low(r[k]));
            quad_store(out->w[a][k + QUAD], wide_high(r[k]));
        }
    }
}

/* A particle's volume, in cells, to the middles of `cells` of them along an axis. */
INLINE void scatter_volume(real *tile, const volume_weights *s, int lane, real volume, int cells,
                           int dim) {
    const real *x = s->w[0][lane], *y = s->w[1][lane];
    const quad along = quad_load(s->w[dim - 1][lane]);
    real *corner = tile + tile_index((int)s->base[0][lane], dim == 3 ? (int)s->base[1][lane] : 0,
                                     (int)s->base[dim - 1][lane], dim);
    for (int i = 0; i < cells; i++)
        for (int j = 0; j < (dim == 3 ? cells : 1); j++) {
            const real share = volume * x[i] * (dim == 3 ? y[j] : 1);
            real *to = corner + tile_index(i, j, 0, dim);
            quad_store(to, quad_fma(quad_splat(share), along, quad_load(to)));
        }
}

/* Bytes of a line of memory, and particles of a block that are asked for. */
enum { LINE = 64, FETCHED_MOST = 128 };

/* The faces of a tile that particles reach, along an axis. */
enum { REACHED_FROM = 1, REACHED_TO = SUPPORT == 2 ? 7 : 8 };

/* Entry k of a row. Beyond a side a face is mirrored, to where another block of the colour may add
 * something: what is nothing stays away from there. */
INLINE void add_entry(real *to, const int64_t rows[3], const axis_map *z, wide values, int k) {
    if (z->straight || values[k] != 0) to[rows[z->code[k]] + z->cell[k]] += values[k];
}

/* A row of a tile to the rows of the grid: those of the block's own cells together, which no other
 * block of its colour touches, and the others one by one. */
INLINE void add_row(real *to, const int64_t rows[3], const axis_map *z, wide values) {
    const int first = TILE_BEFORE, last = TILE_BEFORE + BLOCK_EDGE;
    for (int k = REACHED_FROM; k < first; k++) add_entry(to, rows, z, values, k);
    if (z->middle_straight) {
        real *middle = to + rows[z->code[first]] + z->cell[first];
        quad_store(middle, quad_load(middle) + __builtin_shufflevector(values, values, 2, 3, 4, 5));
    }
    for (int k = z->middle_straight ? last : first; k < REACHED_TO; k++)
        add_entry(to, rows, z, values, k);
}

/* The tile is left empty. */
INLINE void add_component(const flip_view *view, const tile_map *map, real *tile, int c, int dim) {
    const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
    const axis_map *z = &map->axis[dim - 1][c != dim - 1];
    const wide none = wide_splat(0), signs = wide_load(z->sign);
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            real *from = tile + tile_index(i, j, 0, dim) * PAIR;
            const wide low = wide_load(from), high = wide_load(from + WIDE);
            if (!wide_any((low != none) | (high != none))) continue;
            wide_store(from, none), wide_store(from + WIDE, none);
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            const wide sign = wide_splat(x->sign[i] * (dim == 3 ? y->sign[j] : 1)) * signs;
            add_row(view->velocity[c], rows, z,
                    sign * __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14));
            add_row(view->mass[c], rows, z,
                    __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15));
        }
}

/* Likewise. */
INLINE void add_volume(const flip_view *view, const tile_map *map, real *tile, int dim) {
    const axis_map *x = &map->axis[0][IN_MIDDLES], *y = &map->axis[1][IN_MIDDLES];
    const axis_map *z = &map->axis[dim - 1][IN_MIDDLES];
    const wide none = wide_splat(0);
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            real *from = tile + tile_index(i, j, 0, dim);
            const wide values = wide_load(from);
            if (!wide_any(values != none)) continue;
            wide_store(from, none);
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            add_row(view->phi, rows, z, values);
        }
}

/* Whether row j is in the same line of memory as the one before it. */
INLINE bool shares_line(const axis_map *y, int j, int dim) {
    return dim == 3 && j > REACHED_FROM && y->cell[j] % (LINE / (int)(WIDE * sizeof(real)));
}

/* Asks for the rows of the grid that a tile will be added to, while its particles are summed. */
INLINE void fetch_tile(const flip_view *view, const tile_map *map, int dim) {
    for (int c = 0; c <= dim; c++) {
        const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
        const axis_map *z = &map->axis[dim - 1][c != dim - 1];
        for (int i = REACHED_FROM; i < REACHED_TO; i++)
            for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
                int64_t rows[3];
                if (shares_line(y, j, dim)) continue;
                map_row(map, x, y, i, j, rows, dim);
                for (int k = REACHED_FROM; k < REACHED_TO; k += REACHED_TO - 1 - REACHED_FROM) {
                    const int64_t from = rows[z->code[k]];
                    __builtin_prefetch(c < dim ? view->velocity[c] + from : view->phi + from, 1);
                    if (c < dim) __builtin_prefetch(view->mass[c] + from, 1);
                }
            }
    }
}

/* Asks for the particles of a block that comes next: colour by colour, they are elsewhere. */
INLINE void fetch_particles(const flip_view *view, int32_t block, int dim) {
    const particles *p = view->particles;
    const int64_t first = view->block_first[block], last = view->block_first[block + 1];
    const int64_t end = last - first > FETCHED_MOST ? first + FETCHED_MOST : last;
    for (int64_t i = first; i < end; i += LINE / (int)sizeof(real)) {
        for (int a = 0; a < dim; a++) __builtin_prefetch(PLANE(p, position, a) + i);
        __builtin_prefetch(p->mass + i);
    }
    for (int64_t i = first; i < end; i += LINE / (int)sizeof(real4))
        __builtin_prefetch(p->velocity + i);
}

INLINE void scatter_block(const flip_view *view, int32_t block, real *tile, real *volumes,
                          bool affine, int dim) {
    const particles *p = view->particles;
    const int64_t first = view->block_first[block], last = view->block_first[block + 1];
    for (int64_t i = first; i < last; i += WIDE) {
        wide x[3];
        kernel_weights s;
        for (int a = 0; a < dim; a++) {
            x[a] = wide_load(PLANE(p, position, a) + i);
            /* lanes behind the last particle are not used, but must stay in the tile */
            x[a] = wide_min(wide_max(x[a], wide_splat(0)), wide_splat(BLOCK_EDGE));
        }
        fill_weights(&s, x, affine, dim);
        const int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        volume_weights v;
        const wide volume = wide_load(p->mass + i) * wide_splat(view->inverse_mass);
        weigh_volumes(&v, x, volume, p->role ? p->role + i : NULL, lanes, dim);
        for (int lane = 0; lane < lanes; lane++) {
            const scattered own = {p->mass[i + lane], p->velocity[i + lane],
                                   affine ? p->affine[i + lane] : NULL};
            for (int c = 0; c < dim && view->momentum; c++)
                scatter_component(tile + c * component_reals(dim), &s, lane, c, &own, affine, dim);
            const int cells = p->role && p->role[i + lane] > 1 ? 3 : 2;
            scatter_volume(volumes, &v, lane, volume[lane], cells, dim);
        }
    }
}

INLINE void scatter_chunk(void *data, chunk items, int dim) {
    const flip_view *view = data;
    /* the last row may be read past its end; both are empty between blocks */
    real tile[3 * TILE_EDGE * TILE_EDGE * TILE_EDGE * PAIR + WIDE] __attribute__((aligned(64)));
    real volumes[TILE_EDGE * TILE_EDGE * TILE_EDGE + QUAD];
    memset(tile, 0, (size_t)(dim * component_reals(dim) + WIDE) * sizeof *tile);
    memset(volumes, 0, (size_t)(tile_nodes(dim) + QUAD) * sizeof *volumes);
    for (int64_t o = items.begin; o < items.end; o++) {
        tile_map map;
        const int32_t block = view->coloured[o];
        map_tile(&map, view, view->block_coords[block], dim);
        fetch_tile(view, &map, dim);
        if (o + 1 < items.end) fetch_particles(view, view->coloured[o + 1], dim);
        if (view->affine)
            scatter_block(view, block, tile, volumes, true, dim);
        else
            scatter_block(view, block, tile, volumes, false, dim);
        for (int c = 0; c < dim && view->momentum; c++)
            add_component(view, &map, tile + c * component_reals(dim), c, dim);
        add_volume(view, &map, volumes, dim);
    }
}

#endif
