/*
 * What the two halves of the neighbour search share: neighbours.c, which prepares it, and
 * neighbours_kernels.c, the hot passes over blocks, compiled once for each instruction set.
 */
#ifndef SPATE_STATE_NEIGHBOURS_SEARCH_H
#define SPATE_STATE_NEIGHBOURS_SEARCH_H

#include "state/neighbours.h"

enum {
    REACH_MAX = BLOCK_EDGE,                   /* cells around a block that a radius may reach */
    SEARCH_EDGE = BLOCK_EDGE + 2 * REACH_MAX, /* cells along an axis */
    SEARCH_ROWS = SEARCH_EDGE * SEARCH_EDGE,
    SIDE_MAX = 2 * REACH_MAX + 1 /* rows around a cell that a radius may reach, along an axis */
};

/* The candidates of a block: all particles of its cells and of `reach` cells around, rows of cells
 * along the last axis one after another. A row is followed by places that are far from everything,
 * so that eight may be looked at where fewer are left. */
typedef struct candidate_set {
    real *x[3];     /* cells from the block's corner */
    int32_t *index; /* in `among` */
    /* where each row's cells begin, and where the row ends */
    int32_t starts[SEARCH_ROWS * (SEARCH_EDGE + 1)];
    /* of the cell whose particles' rows are being made: */
    int32_t *eights; /* where each eight of its candidates begins */
    int32_t eight_count;
    int32_t own_eight; /* the first of the run that the cell itself is in */
    int32_t own_lane;  /* where in that run the cell begins */
    uint8_t *masks;    /* of each eight: which are near the particle */
} candidate_set;

/* One call of neighbours_build. */
typedef struct search {
    neighbours *n;
    const blocks *of_blocks, *among_blocks;
    const particles *of, *among;
    bool is_same; /* `of` is `among`: the particle itself is left out */
    int reach;    /* the radius rounded up to cells */
    real radius2;
    /* of the rows around a cell, [across the first axis][the second]: how many cells before and
     * behind may hold anything that is near, -1 for none */
    int8_t half[SIDE_MAX][SIDE_MAX];
    /* of each occupied block of `among`: where its cells begin, counted from its first particle */
    const uint32_t (*cells)[BLOCK_NODES_MAX + 1];
    const int32_t (*around)[NEIGHBOURS_MAX]; /* of each block of `of`: those of `among` */
    int64_t *starts; /* of each occupied block of `of`: where its rows begin in the list */
    candidate_set *candidate_sets;    /* one for each worker */
    int64_t largest[MAX_THREADS];     /* candidates of a block, upper bound, by worker */
    uint8_t packing[1 << WIDE][WIDE]; /* by mask: its lanes, ascending, then anything */
} search;

/* Tasks over the occupied blocks of `of`, for 2D and 3D; data is the search. */
typedef struct neighbour_kernels {
    chunk_task count[2]; /* number of every row, and starts[o + 1]: the length of all rows of o */
    chunk_task fill[2];  /* first and list, where starts has been summed up */
} neighbour_kernels;

static inline int64_t whole_wides(int64_t count) { return (count + WIDE - 1) / WIDE * WIDE; }

#endif
