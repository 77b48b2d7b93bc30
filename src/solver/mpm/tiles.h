/*
 * The tiles of a block, one for each velocity field that has particles in it, and their sums at
 * nodes. Along an axis a tile holds the block's four nodes, one before them and three after.
 */
#ifndef SPATE_SOLVER_MPM_TILES_H
#define SPATE_SOLVER_MPM_TILES_H

#include "solver/mpm/mirror.h"

/* By field; NULL where it has no particles in the block. */
typedef struct field_tiles {
    real *of[FIELDS_MAX];
} field_tiles;

/* A block's tiles, all zero; `place` tells where in `all` those of each field are. */
INLINE field_tiles empty_tiles(const mpm_view *m, const int32_t *const place[FIELDS_MAX], real *all,
                               int32_t block, int node, int dim) {
    field_tiles tiles = {0};
    for (int f = 0; f < m->field_count; f++) {
        if (place[f][block] < 0) continue;
        tiles.of[f] = all + place[f][block] * tile_reals(dim, node);
        memset(tiles.of[f], 0, (size_t)tile_reals(dim, node) * sizeof **tiles.of);
    }
    return tiles;
}

/* What has fallen behind mirrors goes to its image. */
INLINE void fold_tiles(const mpm_view *m, const field_tiles *tiles, int32_t block, int node,
                       int dim) {
    for (int f = 0; f < m->field_count; f++)
        if (tiles->of[f]) mirror_tile(m, block, tiles->of[f], true, node, dim);
}

/* The part of a block along an axis that the tile of its neighbour at offset o (-1, 0, 1) holds. */
typedef struct overlap {
    int from, count; /* nodes of the block */
    int tile;        /* where the first of them is in the tile */
} overlap;

static const overlap overlaps[3] = {{0, 3, 5}, {0, 4, 1}, {3, 1, 0}};

/* Adds what the neighbour at offsets x, y, z (0, 1, 2 for before, here, after) has for this block's
 * nodes: the one before holds the first three in the end of its tile, the one after only the last.
 * z, along the rows, is a literal. */
INLINE void add_tile(real *sum, const real *tile, int offset_x, int offset_y, int offset_z,
                     int node, int dim) {
    overlap x = overlaps[offset_x], y = overlaps[offset_y];
    const overlap z = offset_z == 0   ? (overlap){0, 3, 5}
                      : offset_z == 1 ? (overlap){0, 4, 1}
                                      : (overlap){3, 1, 0};
    if (dim == 2) y = (overlap){0, 1, 0};
    for (int i = 0; i < x.count; i++)
        for (int j = 0; j < y.count; j++) {
            int to = dim == 2 ? x.from + i : (x.from + i) * BLOCK_EDGE + y.from + j;
            int from = dim == 2 ? x.tile + i : (x.tile + i) * TILE_EDGE + y.tile + j;
            real *at = sum + (to * BLOCK_EDGE + z.from) * node;
            const real *part = tile + (from * TILE_EDGE + z.tile) * node;
            int k = 0, count = z.count * node;
            for (; k + WIDE <= count; k += WIDE)
                wide_store(at + k, wide_load(at + k) + wide_load(part + k));
            for (; k + QUAD <= count; k += QUAD)
                quad_store(at + k, quad_load(at + k) + quad_load(part + k));
            for (; k < count; k++) at[k] += part[k];
        }
}

/* The sum of all tiles that hold a part of the block, in the order of its neighbours. */
INLINE void sum_tiles(const int32_t *neighbours, const int32_t *place, const real *all, real *sum,
                      int node, int dim) {
    memset(sum, 0, (size_t)block_reals(dim, node) * sizeof *sum);
    for (int line = 0; line < neighbour_count(dim) / 3; line++) {
        int x = dim == 2 ? line : line / 3, y = dim == 2 ? 0 : line % 3;
        const real *tiles[3];
        for (int z = 0; z < 3; z++) {
            int32_t other = neighbours[3 * line + z];
            bool holds = other >= 0 && place[other] >= 0;
            tiles[z] = holds ? all + place[other] * tile_reals(dim, node) : NULL;
        }
        if (tiles[0]) add_tile(sum, tiles[0], x, y, 0, node, dim);
        if (tiles[1]) add_tile(sum, tiles[1], x, y, 1, node, dim);
        if (tiles[2]) add_tile(sum, tiles[2], x, y, 2, node, dim);
    }
}

#endif
