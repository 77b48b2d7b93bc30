/*
 * A glass: points as irregular as molecules in one and nearly as even as a lattice. Random points,
 * one in each cell of a lattice, push their neighbours away until they keep their distance, as
 * particles that repel one another do where simulations of the universe begin (Baugh, Gaztanaga and
 * Efstathiou 1995, section 4.1, after White). One periodic tile of them fills all space. A lattice
 * shows as rows once it flows, and independent random points make pressure noisy; a glass does
 * neither.
 */
#ifndef SPATE_SCENE_GLASS_H
#define SPATE_SCENE_GLASS_H

#include "core/arena.h"

/* The farthest move along an axis, in spacings. */
#define GLASS_MOVE_MAX 0.75

typedef struct glass {
    int dim;
    int side; /* lattice points along an edge of the tile */
    /* of every lattice point of the tile, x fastest, in spacings */
    double (*moves)[3];
} glass;

/* The same for the same dimension and seed; memory from the arena. */
spate_status glass_create(arena *a, int dim, uint64_t seed, glass *out);
/* How far the point of lattice index k is from its place on the lattice, in spacings. */
const double *glass_move(const glass *g, const int64_t k[3]);

#endif
