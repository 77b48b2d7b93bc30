/*
 * Lattice: a sparse one of points in bricks of 8^3, and the particles around them.
 *
 * A brick exists where a particle is near, so memory follows the liquid and not the domain. Bricks
 * are sorted by their coordinates (z, y, x), found through a hash table, and know the 26 around
 * them. All lengths are in spacings; point (0, 0, 0) is the domain's lowest corner and `last` its
 * highest. Points outside of it, and of bricks that do not exist, are outside the liquid.
 *
 * Each brick is cut into 4^3 cells of 2^3 points, a bit of a word each, by which particles are
 * sorted. A cell is deep when it and all 26 around it hold particles; nothing is computed there.
 * Beyond the sides of the domain there are images of the particles near them, mirrored or
 * periodic.
 */
#ifndef SPATE_SURFACE_LATTICE_H
#define SPATE_SURFACE_LATTICE_H

#include "surface/surface.h"

enum {
    BRICK_EDGE = 8,
    BRICK_POINTS = 512,
    BRICK_CELLS = 64,
    AROUND = 27,
    AROUND_SELF = 13,
};

/* A particle or an image of it. */
typedef struct lattice_particle {
    real x[3];
    int32_t index; /* of surface_particle */
} lattice_particle;

typedef struct lattice {
    spate_context *ctx;
    int last[3];
    real reach;  /* how far a particle is felt */
    real radius; /* of a lone particle's ball; a flat surface is then where the liquid ends */
    real cut;    /* points farther than this from every particle are outside */

    int64_t brick_count, brick_capacity;
    uint64_t *keys;       /* of the bricks, ascending */
    int32_t (*coords)[3]; /* bricks; the first point of one is 8 times this */
    int32_t (
        *around)[AROUND]; /* brick at offset (x, y, z) of -1..1: 9 (z+1) + 3 (y+1) + x+1; or -1 */
    uint64_t *table_keys; /* key + 1, 0 when free */
    int32_t *table_bricks;
    int64_t table_size; /* a power of two, at least twice the number of bricks */

    uint64_t *filled;            /* cells with particles, bit 16 z + 4 y + x */
    uint64_t *deep;              /* cells amid filled ones */
    int64_t *first;              /* particles of a cell; of deep bricks they are left out */
    lattice_particle *particles; /* by brick and cell */

    real *values;          /* 512 a brick, x fastest; negative inside */
    uint64_t (*inside)[8]; /* a word a layer of z, bit 8 y + x: the sign of the values */
} lattice;

/* An empty lattice; reach, radius and cut follow the particles' spacing (in spacings of points). */
lattice lattice_create(spate_context *ctx, const int last[3], double particle_spacing);
void lattice_free(lattice *l);

/* Makes the bricks around particles and sorts the particles into them. */
spate_status lattice_build(lattice *l, const surface_particle *particles, int64_t count,
                           const bool periodic[3]);
/* Fills values and inside: distance.c. */
spate_status lattice_measure(lattice *l);
/* Makes small bubbles liquid: pockets.c. */
spate_status lattice_fill_pockets(lattice *l);
/* Mean velocity of the particles around a point of a brick. */
void lattice_velocity(const lattice *l, int64_t brick, const surface_particle *particles,
                      const real x[3], real out[3]);

/* By hand, as the tests do: bricks one by one (index unused till ordered), then ordered and given
 * their tables, then `inside` taken from the values. */
spate_status lattice_add_brick(lattice *l, const int32_t coords[3]);
spate_status lattice_order(lattice *l);
void lattice_mark_inside(lattice *l);

/* The index of a brick, or -1. */
int32_t lattice_find(const lattice *l, const int32_t coords[3]);

static inline bool lattice_has(const lattice *l, const int32_t x[3]) {
    for (int a = 0; a < 3; a++)
        if (x[a] < 0 || x[a] > l->last[a]) return false;
    return true;
}

#endif
