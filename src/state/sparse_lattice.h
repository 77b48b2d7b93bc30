/*
 * A sparse lattice: a set of sites (places of an integer lattice), numbered along a Z curve, each
 * with the numbers of its neighbours. Blocks (particles), bricks (grids) and the levels of the
 * multigrid solvers are sites.
 *
 * Axis order. Whatever lies on a lattice is in one order: the last axis runs fastest. It holds for
 * the cells of a brick or block, for the 3^dim neighbours of a site and for the 2^dim children of a
 * coarse one; each is a box of edge^dim places, (i, j, k) at (i edge + j) edge + k, in 2D (i, j) at
 * i edge + j.
 */
#ifndef SPATE_STATE_SPARSE_LATTICE_H
#define SPATE_STATE_SPARSE_LATTICE_H

#include "core/threads.h"

/* ---- Boxes ----------------------------------------------------------------------------------- */

/* How far apart two places are that follow each other along an axis. */
static inline int box_stride(int edge, int axis, int dim) {
    return axis == dim - 1 ? 1 : axis == dim - 2 ? edge : edge * edge;
}

static inline int box_index(int edge, const int at[3], int dim) {
    const int plane = at[0] * edge + at[1];
    return dim == 3 ? plane * edge + at[2] : plane;
}

/* The other way; at[2] is 0 in 2D. */
static inline void box_place(int edge, int index, int dim, int at[3]) {
    const unsigned n = (unsigned)edge, i = (unsigned)index;
    at[0] = (int)(dim == 3 ? i / (n * n) : i / n);
    at[1] = (int)(dim == 3 ? i / n % n : i % n);
    at[2] = dim == 3 ? (int)(i % n) : 0;
}

/* ---- Neighbours ------------------------------------------------------------------------------ */

/* A neighbour's code is its index in the box of 3^dim sites around a site, whose own is the
 * middle. */
enum { NEIGHBOURS_MAX = 27 };

static inline int neighbour_count(int dim) { return dim == 2 ? 9 : 27; }
static inline int neighbour_self(int dim) { return neighbour_count(dim) / 2; }

/* The neighbour before (-1) or after a site (1) along an axis. */
static inline int neighbour_beside(int axis, int way, int dim) {
    return neighbour_self(dim) + way * box_stride(3, axis, dim);
}

/* Places are counted from the corner of a site that is a box of edge^dim; those from -edge to 2
 * edge - 1 may lie in a neighbour: its code, and the index there. */
static inline int neighbour_code(int edge, const int at[3], int dim) {
    const int side[3] = {(at[0] + edge) / edge, (at[1] + edge) / edge, (at[2] + edge) / edge};
    return box_index(3, side, dim);
}
static inline int neighbour_index(int edge, const int at[3], int dim) {
    const unsigned n = (unsigned)edge;
    const int in[3] = {(int)((unsigned)(at[0] + edge) % n), (int)((unsigned)(at[1] + edge) % n),
                       (int)((unsigned)(at[2] + edge) % n)};
    return box_index(edge, in, dim);
}

/* ---- The set --------------------------------------------------------------------------------- */

typedef struct sparse_lattice {
    spate_context *ctx;
    int dim;
    int period[3]; /* sites along a periodic axis, 0 for an axis that is not */
    bool in_rows;  /* numbered in rows along the last axis instead of a Z curve */
    int32_t count;
    int64_t capacity;                      /* of coords and neighbours */
    int32_t (*coords)[3];                  /* in the order of their numbers; z is 0 in 2D */
    int32_t (*neighbours)[NEIGHBOURS_MAX]; /* numbers, by code; -1 where there is none */
    uint64_t *table_keys; /* hash table from keys to numbers; a key + 1, 0 when free */
    int32_t *table_numbers;
    int64_t table_size; /* a power of two, at least twice the number of sites */
    uint64_t *keys;     /* the set under construction, and room to sort it */
    int64_t keys_count, keys_capacity;
} sparse_lattice;

void sparse_lattice_create(spate_context *ctx, int dim, const int period[3], sparse_lattice *s);
void sparse_lattice_free(sparse_lattice *s);
/* Room for `capacity` sites. What coords and neighbours held is lost where they must grow. */
spate_status sparse_lattice_reserve(sparse_lattice *s, int64_t capacity);

/* A new set: begin, insert (once or often, in any order), number; find then knows the new numbers
 * while coords and neighbours are still those of the old set, until finish makes them anew. */
spate_status sparse_lattice_begin(sparse_lattice *s);
spate_status sparse_lattice_insert(sparse_lattice *s, const int32_t coords[3]);
/* Inserts all neighbours of what has been inserted so far. */
spate_status sparse_lattice_widen(sparse_lattice *s);
void sparse_lattice_number(sparse_lattice *s);
spate_status sparse_lattice_finish(sparse_lattice *s, pool *threads);

/* Rebuilds table and neighbours from count and coords. */
spate_status sparse_lattice_link(sparse_lattice *s, pool *threads);

/* The number of a site by its coordinates, or -1. */
int32_t sparse_lattice_find(const sparse_lattice *s, const int32_t coords[3]);
/* Coordinates of a neighbour by its code. */
void sparse_lattice_neighbour(const sparse_lattice *s, const int32_t coords[3], int code,
                              int32_t out[3]);

#endif
