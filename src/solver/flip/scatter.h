/* Particles to faces: momentum, mass, and the particles' volume to the middles of cells. */
#ifndef SPATE_SOLVER_FLIP_SCATTER_H
#define SPATE_SOLVER_FLIP_SCATTER_H

#include "core/wide_math.h"
#include "solver/flip/transfer.h"

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

/* The particle's volume, in cells, to the middles of cells; always by the linear kernel. */
INLINE void scatter_volume(real *tile, const wide x[3], int lane, real volume, int dim) {
    int base[3] = {0};
    real w[3][2] = {{1, 0}, {1, 0}, {1, 0}};
    for (int a = 0; a < dim; a++) {
        real from = x[a][lane] - (real)0.5;
        int first = (int)(from + 1) - 1; /* floor, from -1/2 on */
        base[a] = first + TILE_BEFORE;
        w[a][1] = from - (real)first, w[a][0] = 1 - w[a][1];
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < (dim == 3 ? 2 : 1); j++) {
            real share = volume * w[0][i] * (dim == 3 ? w[1][j] : 1);
            real *to =
                tile + tile_index(base[0] + i, dim == 3 ? base[1] + j : 0, base[dim - 1], dim);
            to[0] = real_fma(share, w[dim - 1][0], to[0]);
            to[1] = real_fma(share, w[dim - 1][1], to[1]);
        }
}

/* Integral of the linear kernel from -1 to s: 1/2 + s - s |s| / 2 within -1 and 1. */
INLINE real tent_below(real s) {
    const real least = s > -1 ? s : -1, within = least < 1 ? least : 1;
    const real square = within * (within < 0 ? -within : within);
    return (real)0.5 + within - (real)0.5 * square;
}

/* The edge of a box of a particle's volume, at most a cell. */
INLINE wide box_sizes(wide volume, int dim) {
    const wide share = wide_min(volume, wide_splat(1));
    return dim == 3 ? wide_cbrt(share) : wide_sqrt(share);
}

/* The same of a particle merged of others: by the linear kernel's mean over a box of its size, at
 * most a cell, which reaches three cells along an axis. */
INLINE void scatter_box(real *tile, const wide x[3], int lane, real volume, real size, int dim) {
    const real half = (real)0.5 * size, inverse = 1 / size;
    int base[3] = {0};
    real w[3][3] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
    for (int a = 0; a < dim; a++) {
        const real from = x[a][lane] - (real)0.5;
        const int middle = (int)(from + (real)1.5) - 1; /* the nearest, from -1/2 on */
        base[a] = middle - 1 + TILE_BEFORE;
        for (int n = 0; n < 3; n++) {
            const real s = from - (real)(middle + n - 1);
            w[a][n] = (tent_below(s + half) - tent_below(s - half)) * inverse;
        }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < (dim == 3 ? 3 : 1); j++) {
            const real share = volume * w[0][i] * (dim == 3 ? w[1][j] : 1);
            real *to =
                tile + tile_index(base[0] + i, dim == 3 ? base[1] + j : 0, base[dim - 1], dim);
            for (int k = 0; k < 3; k++) to[k] = real_fma(share, w[dim - 1][k], to[k]);
        }
}

/* The faces of a tile that particles reach, along an axis. */
enum { REACHED_FROM = 1, REACHED_TO = SUPPORT == 2 ? 7 : 8 };

INLINE void add_component(const flip_view *view, const tile_map *map, const real *tile, int c,
                          int dim) {
    const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
    const axis_map *z = &map->axis[dim - 1][c != dim - 1];
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            const real sign = x->sign[i] * (dim == 3 ? y->sign[j] : 1);
            for (int k = REACHED_FROM; k < REACHED_TO; k++) {
                const real *from = tile + tile_index(i, j, k, dim) * PAIR;
                if (from[1] == 0 && from[0] == 0) continue;
                int64_t at = rows[z->code[k]] + z->cell[k];
                view->velocity[c][at] += sign * z->sign[k] * from[0];
                view->mass[c][at] += from[1];
            }
        }
}

INLINE void add_volume(const flip_view *view, const tile_map *map, const real *tile, int dim) {
    const axis_map *x = &map->axis[0][IN_MIDDLES], *y = &map->axis[1][IN_MIDDLES];
    const axis_map *z = &map->axis[dim - 1][IN_MIDDLES];
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            for (int k = REACHED_FROM; k < REACHED_TO; k++)
                view->phi[rows[z->code[k]] + z->cell[k]] += tile[tile_index(i, j, k, dim)];
        }
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
        fill_weights(&s, x, dim);
        const wide size =
            p->role ? box_sizes(wide_load(p->mass + i) * view->inverse_mass, dim) : wide_splat(0);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const scattered own = {p->mass[i + lane], p->velocity[i + lane],
                                   affine ? p->affine[i + lane] : NULL};
            for (int c = 0; c < dim && view->momentum; c++)
                scatter_component(tile + c * component_reals(dim), &s, lane, c, &own, affine, dim);
            const real volume = own.mass * view->inverse_mass;
            if (p->role && p->role[i + lane] > 1)
                scatter_box(volumes, x, lane, volume, size[lane], dim);
            else
                scatter_volume(volumes, x, lane, volume, dim);
        }
    }
}

INLINE void scatter_chunk(void *data, chunk items, int dim) {
    const flip_view *view = data;
    /* the last row may be read past its end */
    real tile[3 * TILE_EDGE * TILE_EDGE * TILE_EDGE * PAIR + WIDE] __attribute__((aligned(64)));
    real volumes[TILE_EDGE * TILE_EDGE * TILE_EDGE];
    for (int64_t o = items.begin; o < items.end; o++) {
        tile_map map;
        const int32_t block = view->coloured[o];
        map_tile(&map, view, view->block_coords[block], dim);
        memset(tile, 0, (size_t)(dim * component_reals(dim) + WIDE) * sizeof *tile);
        memset(volumes, 0, (size_t)tile_nodes(dim) * sizeof *volumes);
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
