/*
 * Blocks: the sparse grid. A block is 4^dim nodes; only blocks that hold particles, and their
 * neighbours, exist, so memory and time follow the material and not the domain.
 *
 * Grid coordinates: g = (x - origin) / dx + shift along each axis. A particle belongs to block
 * floor(g / 4) and stores g - 4 block. The shift is the solver's: 0 for flip, whose cells blocks
 * are made of; 1/2 for mpm, where node i of the grid is the domain's node i - 1 and the first of
 * the three nodes that a particle's quadratic kernel reaches is then simply floor(g).
 *
 * Particles are sorted by block, and by cell within it. They may drift up to one cell out of their
 * block before they must be sorted again, so a block's particles reach nodes -1 to 6 of it: its
 * "tile" of 8^dim nodes (solver/mpm).
 */
#ifndef SPATE_STATE_BLOCKS_H
#define SPATE_STATE_BLOCKS_H

#include "core/arena.h"
#include "core/threads.h"
#include "state/particles.h"
#include "state/sparse_lattice.h"

enum { BLOCK_EDGE = 4, BLOCK_NODES_MAX = 64, TILE_EDGE = 8 };

static inline int block_nodes(int dim) { return dim == 2 ? 16 : 64; }
static inline int tile_nodes(int dim) { return dim == 2 ? 64 : 512; }

typedef struct blocks {
    spate_context *ctx;
    int dim;
    int period[3];          /* blocks along a periodic axis, 0 for an axis that is not */
    sparse_lattice lattice; /* blocks that exist: with particles, and all neighbours of those */
    int32_t count;          /* its count, coords and neighbours */
    int32_t (*coords)[3];
    int32_t (*neighbours)[NEIGHBOURS_MAX];
    int32_t occupied_count;
    int64_t capacity;      /* of the arrays below */
    int64_t *first;        /* particles of block b: first[b] .. first[b + 1] - 1; count + 1 long */
    int32_t *occupied;     /* blocks with particles, ascending */
    int32_t *tile;         /* block -> place in `occupied`, or -1 */
    int64_t sorted;        /* particles that are in their block's range; later ones are new */
    int32_t (*pending)[3]; /* blocks of the new ones */
    int64_t pending_count, pending_capacity;
    int64_t sorts;  /* how often it has been done */
    bool unordered; /* particles of a block need not be sorted by cell */
    unsigned
        exchanged; /* PARTICLE_BIT of fields that a sort writes to a second buffer instead of back
                           to their own: velocity among them */
    void *spare[PARTICLE_FIELD_COUNT]; /* those buffers */
    size_t spare_bytes[PARTICLE_FIELD_COUNT];
    uint32_t *order; /* of the last sort: new index -> index before it */
    int64_t order_capacity;
    int64_t order_before; /* how many particles there were before it */
} blocks;

spate_status blocks_create(spate_context *ctx, int dim, const int period[3], blocks *b);
void blocks_free(blocks *b);

/* Adds a particle at grid coordinates g; it takes part after the next sort. All of its other fields
 * are zero but mass, id and group. The index is returned in *at. */
spate_status blocks_add(blocks *b, particles *p, const double g[3], int64_t *at);

/* Adds a particle at g that is like particle i in all else, its id too. */
spate_status blocks_add_like(blocks *b, particles *p, int64_t i, const double g[3], int64_t *at);

/* A particle of a block that has moved further than the sort follows: it is added again where it
 * is, with all that it has, and dropped where it was. */
spate_status blocks_carry(blocks *b, particles *p, int32_t block, int64_t i);

/* Puts every particle into its block and order, drops the removed ones, rebuilds the block list.
 * A particle that has moved more than a block since the last sort is reported in *lost (its index),
 * which is -1 otherwise; the sort is then not done. */
spate_status blocks_sort(blocks *b, particles *p, scratch *s, pool *threads, int64_t *lost);

/* For those who refer to particles by index: where the last sort has put the particles that were
 * there before it, UINT32_MAX for those it has dropped. `to` has room for order_before of them. */
void blocks_moved(const blocks *b, uint32_t *to);

/* Rebuilds table, neighbours, occupied and tile from dim, count, coords and first (which a
 * checkpoint holds). The arrays must have been made with blocks_reserve. */
spate_status blocks_reserve(blocks *b, int64_t capacity);
spate_status blocks_rebuild(blocks *b, pool *threads);

/* Grid coordinates of particle i of block b. */
static inline void blocks_position(const blocks *b, const particles *p, int32_t block, int64_t i,
                                   double g[3]) {
    for (int a = 0; a < 3; a++)
        g[a] = a < b->dim
                   ? (double)b->coords[block][a] * BLOCK_EDGE + (double)PLANE(p, position, a)[i]
                   : 0.5;
}

/* The cell of its block that particle i is in. */
static inline int block_cell_of(const particles *p, int64_t i, int dim) {
    int at[3] = {0};
    for (int a = 0; a < dim; a++) at[a] = (int)PLANE(p, position, a)[i];
    return box_index(BLOCK_EDGE, at, dim);
}

/* The index of a block in the list by its coordinates, or -1. */
int32_t blocks_find(const blocks *b, const int32_t coords[3]);

#endif
