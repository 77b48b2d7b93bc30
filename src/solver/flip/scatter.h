/* Particles to faces: momentum, mass, and the particles' volume to the middles of cells. */
#ifndef SPATE_SOLVER_FLIP_SCATTER_H
#define SPATE_SOLVER_FLIP_SCATTER_H

#include "solver/flip/transfer.h"

/* Component c of one particle: m (v w + B . slope) and m w. */
INLINE void scatter_component(real *tile, const stencil *s, int lane, int c, const particles *p,
                              int64_t particle, bool affine, int dim) {
    const axis_weights *x = &s->axis[0][c != 0], *z = &s->axis[dim - 1][c != dim - 1];
    const axis_weights *y = &s->axis[1][c != 1];
    const int at =
        tile_index((int)x->base[lane], dim == 3 ? (int)y->base[lane] : 0, (int)z->base[lane], dim);
    const row along = row_pairs(z->w, lane);
    const real mass = p->mass[particle];
    row straight = along * row_both(mass * p->velocity[particle][c], mass), in_x, in_y;
    if (affine) {
        const real4 *B = p->affine[particle];
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

/* The faces of a tile that particles reach, along an axis. */
enum { REACHED_FROM = 1, REACHED_TO = SUPPORT == 2 ? 7 : 8 };

INLINE void add_component(const flip *f, const tile_map *map, const real *tile, int c, int dim) {
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
                f->grid.velocity[c][at] += sign * z->sign[k] * from[0];
                f->grid.mass[c][at] += from[1];
            }
        }
}

INLINE void add_volume(const flip *f, const tile_map *map, const real *tile, int dim) {
    const axis_map *x = &map->axis[0][IN_MIDDLES], *y = &map->axis[1][IN_MIDDLES];
    const axis_map *z = &map->axis[dim - 1][IN_MIDDLES];
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            for (int k = REACHED_FROM; k < REACHED_TO; k++)
                f->grid.phi[0][rows[z->code[k]] + z->cell[k]] += tile[tile_index(i, j, k, dim)];
        }
}

INLINE void scatter_block(const flip *f, int32_t block, real *tile, real *volumes, bool affine,
                          bool momentum, int dim) {
    const particles *p = &f->sim->particles;
    const int64_t first = f->sim->blocks.first[block], last = f->sim->blocks.first[block + 1];
    for (int64_t i = first; i < last; i += WIDE) {
        wide x[3];
        stencil s;
        for (int a = 0; a < dim; a++) {
            x[a] = wide_load(PLANE(p, position, a) + i);
            /* lanes behind the last particle are not used, but must stay in the tile */
            x[a] = wide_min(wide_max(x[a], wide_splat(0)), wide_splat(BLOCK_EDGE));
        }
        stencil_fill(&s, x, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            for (int c = 0; c < dim && momentum; c++)
                scatter_component(tile + c * component_reals(dim), &s, lane, c, p, i + lane, affine,
                                  dim);
            scatter_volume(volumes, x, lane, p->mass[i + lane] * f->inverse_mass, dim);
        }
    }
}

INLINE void scatter_chunk(void *data, chunk items, int dim) {
    const flip *f = data;
    const bool momentum = f->options->transfer != FLIP_KERNEL;
    /* the last row may be read past its items.end */
    real tile[3 * TILE_EDGE * TILE_EDGE * TILE_EDGE * PAIR + WIDE] __attribute__((aligned(64)));
    real volumes[TILE_EDGE * TILE_EDGE * TILE_EDGE];
    for (int64_t o = items.begin; o < items.end; o++) {
        tile_map map;
        map_tile(&map, f, f->sim->blocks.coords[f->coloured[o]], dim);
        memset(tile, 0, (size_t)(dim * component_reals(dim) + WIDE) * sizeof *tile);
        memset(volumes, 0, (size_t)tile_nodes(dim) * sizeof *volumes);
        if (f->affine)
            scatter_block(f, f->coloured[o], tile, volumes, true, momentum, dim);
        else
            scatter_block(f, f->coloured[o], tile, volumes, false, momentum, dim);
        for (int c = 0; c < dim && momentum; c++)
            add_component(f, &map, tile + c * component_reals(dim), c, dim);
        add_volume(f, &map, volumes, dim);
    }
}

#endif
