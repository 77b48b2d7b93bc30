/*
 * S of phases.h: a number of particles becomes the mean that the grid holds of it, over particles
 * near which a solid meets another field.
 *
 *     n_i = sum w V n / sum w V,   S n = sum w n_i
 *
 * Of a step's two smoothings only the first sums volumes: particles have not moved at the second.
 */
#ifndef SPATE_SOLVER_MPM_SMOOTHING_H
#define SPATE_SOLVER_MPM_SMOOTHING_H

#include "solver/mpm/gather.h"
#include "solver/mpm/numbers.h"
#include "solver/mpm/phases.h"
#include "solver/mpm/tiles.h"

/* Vertices of meshes have no pressure of their own. */
INLINE bool has_pressure(const particles *p, int64_t i) {
    return !p->role || p->role[i] == ROLE_MATTER;
}

/* An empty tile of numbers of a block. */
INLINE real *number_tile(const mpm_phases *s, real *tiles, int32_t block, int dim) {
    real *tile = tiles + s->smooth_tile[block] * tile_reals(dim, 1);
    memset(tile, 0, (size_t)tile_reals(dim, 1) * sizeof *tile);
    return tile;
}

/* Volumes of a block's particles, and the number times them, to its tiles. */
INLINE void spread_block(const mpm_phases *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    const int64_t last = m->first[block + 1];
    real *number = number_tile(s, s->number_tiles, block, dim);
    real *volume = s->volumes_known ? NULL : number_tile(s, s->volume_tiles, block, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        row_weights w;
        stencil_fill(&at, m->particles, i, dim);
        row_weights_fill(&w, &at, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            if (!has_pressure(m->particles, i + lane)) continue;
            const real V = m->particles->mass[i + lane] / rest_density(m, i + lane);
            scatter_number(number, &at, &w, lane, V * s->numbers[i + lane], dim);
            if (volume) scatter_number(volume, &at, &w, lane, V, dim);
        }
    }
    mirror_numbers(m, block, number, true, 1, dim);
    if (volume) mirror_numbers(m, block, volume, true, 1, dim);
}

INLINE void spread_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    for (int64_t o = items.begin; o < items.end; o++)
        if (s->smooth_tile[s->view->occupied[o]] >= 0) spread_block(s, s->view->occupied[o], dim);
}

/* Whether a block's nodes are within reach of particles whose numbers are smoothed. */
INLINE bool is_averaged(const mpm_phases *s, int64_t block, int dim) {
    for (int n = 0; n < neighbour_count(dim); n++) {
        const int32_t other = s->view->neighbours[block][n];
        if (other >= 0 && s->smooth_tile[other] >= 0) return true;
    }
    return false;
}

/* Means at nodes. */
INLINE void average_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    for (int64_t k = items.begin; k < items.end; k++) {
        const int32_t *neighbours = s->view->neighbours[k];
        real *mean = s->means + k * block_reals(dim, 1), *V = s->volumes + k * block_reals(dim, 1);
        if (!is_averaged(s, k, dim)) continue;
        sum_tiles(neighbours, s->smooth_tile, s->number_tiles, mean, 1, dim);
        if (!s->volumes_known) sum_tiles(neighbours, s->smooth_tile, s->volume_tiles, V, 1, dim);
        for (int n = 0; n < block_nodes(dim); n++) mean[n] = V[n] > 0 ? mean[n] / V[n] : 0;
    }
}

/* And back to particles. */
INLINE void smoothed_chunk(void *data, chunk items, int dim) {
    const mpm_phases *s = data;
    const mpm_view *m = s->view;
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE + TILE_PAD] __attribute__((aligned(64)));
    memset(tile + tile_reals(dim, 1) - TILE_PAD, 0, TILE_PAD * sizeof *tile);
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = m->occupied[o];
        if (s->smooth_tile[block] < 0) continue;
        copy_tile(m, block, s->means, tile, 1, dim);
        mirror_numbers(m, block, tile, false, 1, dim);
        for (int64_t i = m->first[block]; i < m->first[block + 1]; i += WIDE) {
            stencil at;
            row_weights w;
            stencil_fill(&at, m->particles, i, dim);
            row_weights_fill(&w, &at, dim);
            for (int lane = 0; lane < WIDE && i + lane < m->first[block + 1]; lane++)
                if (has_pressure(m->particles, i + lane))
                    s->numbers[i + lane] = gather_number(tile, &at, &w, lane, dim);
        }
    }
}

#endif
