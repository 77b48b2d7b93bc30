/*
 * Lattice: a sparse one of points in bricks of 8^3, and the particles around them.
 *
 * A brick exists where a particle is near, so memory follows the liquid and not the domain. All
 * lengths are in spacings; point (0, 0, 0) is the domain's lowest corner and `last` its highest.
 * Points outside of it, and of bricks that do not exist, are outside the liquid.
 *
 * Points, bits and cells of a brick have x fastest, and the bricks' own coordinates are (z, y, x),
 * so that the last axis runs fastest there too (state/sparse_lattice.h).
 *
 * Each brick is cut into 4^3 cells of 2^3 points, a bit of a word each, by which particles are
 * sorted. A cell is deep when it and all 26 around it hold particles; nothing is computed there.
 * Beyond the sides of the domain there are images of the particles near them, mirrored or
 * periodic.
 */
#ifndef SPATE_SURFACE_LATTICE_H
#define SPATE_SURFACE_LATTICE_H

#include "state/sparse_lattice.h"
#include "surface/surface.h"

enum {
    BRICK_EDGE = 8,
    BRICK_LAYER = BRICK_EDGE * BRICK_EDGE, /* points of a layer of z: bits of a word */
    BRICK_POINTS = BRICK_LAYER * BRICK_EDGE,
    CELL_POINTS = 2,                      /* along an edge of a cell */
    CELL_EDGE = BRICK_EDGE / CELL_POINTS, /* cells along an edge of a brick */
    BRICK_CELLS = CELL_EDGE * CELL_EDGE * CELL_EDGE,
};

/* Bits of a layer: the points with x = 0, and point (x, y). */
static const uint64_t layer_column = 0x0101010101010101;
static inline int layer_bit(int x, int y) { return y * BRICK_EDGE + x; }

/* Point i of a brick; cell i of it. */
static inline void brick_point(int i, int p[3]) {
    p[0] = i % BRICK_EDGE, p[1] = i / BRICK_EDGE % BRICK_EDGE, p[2] = i / BRICK_LAYER;
}
static inline int brick_cell(int x, int y, int z) { return (z * CELL_EDGE + y) * CELL_EDGE + x; }

/* A particle or an image of it. */
typedef struct lattice_particle {
    real x[3], size;
    int32_t index; /* of surface_particle */
    int32_t
        image; /* 0 for the particle itself; IMAGE, and bit a where it is mirrored along axis a */
} lattice_particle;

enum { IMAGE = 1 << 3 };

typedef struct lattice {
    spate_context *ctx;
    int dim; /* in 2D all is in the layer z = 0 */
    surface_method method;
    int last[3];
    real spacing; /* of usual particles */
    real least;   /* size of the smallest */
    real reach;   /* how far a particle is felt */
    real radius;  /* values are not below -radius, nor above reach - radius. With balls, that of a
                     lone particle; a flat surface is then where the liquid ends */
    real cut;     /* points farther than this from every particle are outside */

    sparse_lattice bricks;

    uint64_t *filled;            /* cells with particles, bit brick_cell(x, y, z) */
    uint64_t *deep;              /* cells amid filled ones */
    int64_t *first;              /* particles of a cell; of deep bricks they are left out */
    lattice_particle *particles; /* by brick and cell */
    int64_t given, images;       /* particles it was made from; images of them */

    struct particle_shape *shapes; /* of the particles; NULL where the method needs none */

    real *values;                   /* of points; negative inside */
    uint64_t (*inside)[BRICK_EDGE]; /* a word a layer of z: the sign of the values */
} lattice;

/* An empty lattice; reach, radius and cut follow the particles' spacing and size. */
lattice lattice_create(spate_context *ctx, const surface_settings *settings);
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

/* By hand, as the tests do: bricks one by one, then ordered, then `inside` taken from the
 * values. */
spate_status lattice_add_brick(lattice *l, int32_t x, int32_t y, int32_t z);
spate_status lattice_order(lattice *l);
void lattice_mark_inside(lattice *l);

/* Coordinate along an axis (0: x) of a point of a brick. */
static inline int32_t lattice_point(const lattice *l, int64_t brick, int axis, int local) {
    return l->bricks.coords[brick][2 - axis] * BRICK_EDGE + local;
}

/* The brick next to one along an axis (0: x), before (-1) or after it (1), or -1; and the code of
 * that with a point -8 to 15 from a brick's corner. */
static inline int32_t lattice_beside(const lattice *l, int64_t brick, int axis, int way) {
    return l->bricks.neighbours[brick][neighbour_beside(2 - axis, way, 3)];
}
static inline int lattice_code(int edge, const int p[3]) {
    return neighbour_code(edge, (const int[3]){p[2], p[1], p[0]}, 3);
}
static inline int lattice_index(int edge, const int p[3]) {
    return neighbour_index(edge, (const int[3]){p[2], p[1], p[0]}, 3);
}

static inline bool lattice_has(const lattice *l, const int32_t x[3]) {
    for (int a = 0; a < 3; a++)
        if (x[a] < 0 || x[a] > l->last[a]) return false;
    return true;
}

#endif
