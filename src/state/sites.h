/*
 * Sites: a sparse set of places of an integer lattice, numbered along a Z curve, each with the
 * numbers of its neighbours. Blocks (particles), bricks (grids) and the levels of the multigrid
 * solver are sites.
 */
#ifndef SPATE_STATE_SITES_H
#define SPATE_STATE_SITES_H

#include "core/threads.h"

enum { NEIGHBOURS_MAX = 27 };

static inline int neighbour_count(int dim) { return dim == 2 ? 9 : 27; }

typedef struct sites {
    spate_context *ctx;
    int dim;
    int period[3]; /* sites along a periodic axis, 0 for an axis that is not */
    int32_t count;
    int64_t capacity;                      /* of coords and neighbours */
    int32_t (*coords)[3];                  /* sorted along a Z curve; z is 0 in 2D */
    int32_t (*neighbours)[NEIGHBOURS_MAX]; /* number of the site at offset (o_x, o_y, o_z), each
                               -1..1, last axis fastest; -1 where there is none */
    uint64_t *table_keys; /* hash table from Z-curve keys to numbers; a key + 1, 0 when free */
    int32_t *table_numbers;
    int64_t table_size; /* a power of two, at least twice the number of sites */
    uint64_t *keys;     /* the set under construction, and room to sort it */
    int64_t keys_count, keys_capacity;
} sites;

void sites_create(spate_context *ctx, int dim, const int period[3], sites *s);
void sites_free(sites *s);
/* Room for `capacity` sites. What coords and neighbours held is lost where they must grow. */
spate_status sites_reserve(sites *s, int64_t capacity);

/* A new set: begin, insert (once or often, in any order), number; find then knows the new numbers
 * while coords and neighbours are still those of the old set, until finish makes them anew. */
spate_status sites_begin(sites *s);
spate_status sites_insert(sites *s, const int32_t coords[3]);
/* Inserts all neighbours of what has been inserted so far. */
spate_status sites_widen(sites *s);
void sites_number(sites *s);
spate_status sites_finish(sites *s, pool *threads);

/* Rebuilds table and neighbours from count and coords. */
spate_status sites_link(sites *s, pool *threads);

/* The number of a site by its coordinates, or -1. */
int32_t sites_find(const sites *s, const int32_t coords[3]);
/* Coordinates of the neighbour at offset `code` (last axis fastest, 1 is the middle). */
void sites_neighbour(const sites *s, const int32_t coords[3], int code, int32_t out[3]);

#endif
