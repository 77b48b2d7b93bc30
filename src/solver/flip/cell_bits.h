/*
 * A yes or no for each cell, 64 cells at a time: which of them lie beside a cell that says yes takes
 * a dozen shifts. Passes that concern few cells (those at the surface) find them so.
 *
 * A word is a slab: a brick of 2D, or one of the eight slabs across x of 3D; rows of eight along the
 * last axis. Words are stored [brick][slab][set].
 */
#ifndef SPATE_SOLVER_FLIP_CELL_BITS_H
#define SPATE_SOLVER_FLIP_CELL_BITS_H

#include "state/mac.h"

enum { SLAB_CELLS = BRICK_EDGE * BRICK_EDGE };
_Static_assert(SLAB_CELLS == 64, "a slab's cells are the bits of a word");
#define FIRST_COLUMN 0x0101010101010101u
#define LAST_COLUMN  (FIRST_COLUMN << (BRICK_EDGE - 1))

typedef struct cell_bits {
    const sparse_lattice *bricks;
    int sets;
    uint64_t *words;
} cell_bits;

static inline int slabs_of(int dim) { return mac_cells(dim) / SLAB_CELLS; }

static inline uint64_t *cell_bits_word(const cell_bits *b, int64_t brick, int slab, int set) {
    return &b->words[(brick * slabs_of(b->bricks->dim) + slab) * b->sets + set];
}

/* The word with every bit changed that `negate` has; no bit is set where there is no such brick. */
static inline uint64_t cell_bits_get(const cell_bits *b, int64_t brick, int slab, int set,
                                     uint64_t negate) {
    return (brick < 0 ? 0 : *cell_bits_word(b, brick, slab, set)) ^ negate;
}

/* The brick beside a brick, before (-1) or after it (1) along an axis, or -1. */
static inline int64_t brick_beside(const sparse_lattice *bricks, int64_t brick, int axis, int way) {
    int place[3] = {1, 1, 1};
    place[axis] += way;
    return bricks->neighbours[brick][box_index(3, place, bricks->dim)];
}

/* The cells of a slab that lie beside one whose bit is set; with `negate` ~0, is not set. */
static inline uint64_t cell_bits_beside(const cell_bits *b, int64_t brick, int slab, int set,
                                        uint64_t negate) {
#define SLAB(axis, way, slab) \
    cell_bits_get(b, brick_beside(b->bricks, brick, axis, way), slab, set, negate)
    const int dim = b->bricks->dim, rows = dim - 2, columns = dim - 1, last = slabs_of(dim) - 1;
    const int edge = BRICK_EDGE, to_other_end = SLAB_CELLS - BRICK_EDGE;
    const uint64_t here = cell_bits_get(b, brick, slab, set, negate);
    const uint64_t left = SLAB(columns, -1, slab), right = SLAB(columns, 1, slab);
    const uint64_t below = SLAB(rows, -1, slab), above = SLAB(rows, 1, slab);
    uint64_t cells = (here & ~LAST_COLUMN) << 1 | (here & ~FIRST_COLUMN) >> 1 |
                     (left & LAST_COLUMN) >> (edge - 1) | (right & FIRST_COLUMN) << (edge - 1) |
                     here << edge | here >> edge | below >> to_other_end | above << to_other_end;
    if (dim == 2) return cells;
    cells |= slab > 0 ? cell_bits_get(b, brick, slab - 1, set, negate) : SLAB(0, -1, last);
    cells |= slab < last ? cell_bits_get(b, brick, slab + 1, set, negate) : SLAB(0, 1, 0);
    return cells;
#undef SLAB
}

#endif
