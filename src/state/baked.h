/*
 * A shape's signed distance on a lattice, for shapes that are slow to ask themselves: those with a
 * mesh in them. It is in the shape's own frame, so one bake serves a collider wherever it moves.
 *
 * Space is cut into bricks of 4^dim cells of `spacing` (the domain's dx). Bricks near the surface
 * hold samples at the corners of their cells; those where the interpolation of these misses the
 * surface by more than a twentieth of a cell (edges, thin walls, small features) hold samples at
 * half the spacing instead. All others hold the distance at their middle.
 */
#ifndef SPATE_STATE_BAKED_H
#define SPATE_STATE_BAKED_H

#include "scene/shape.h"

typedef struct baked baked;

/* Whether a shape is worth baking: whether there is a mesh in it. */
bool baked_is_needed(const shape *s);

/* Bakes what of the shape lies in `reach`; elsewhere the shape itself is asked. Uses all threads,
 * with the same result for any number of them. *out is NULL where the lattice would be too large.
 * The shape must outlive it. */
spate_status baked_create(spate_context *ctx, const shape *s, int dim, double spacing,
                          const bounds *reach, baked **out);
void baked_free(baked *b);

/* Distance, and the unit outward normal when `normal` is not NULL. Within baked_band() of the
 * surface it is interpolated between exact values: near the surface off by about a twentieth of a
 * cell, a sixth at edges, and less than baked_error() anywhere. Farther outside it is, up to that
 * error, at least the band and at most the true distance, so it is good for culling; farther inside
 * it is coarse, and as deep as the band. */
double baked_distance(const baked *b, const double x[3], double normal[3]);
double baked_band(const baked *b);
double baked_error(const baked *b);

/* Whether there are walls thinner than `spacing`, and a place near one (3D only). Such a wall is in
 * the distances, but hardly on a grid of that spacing. */
bool baked_is_thin(const baked *b, double near[3]);

typedef struct baked_size {
    int64_t bricks, near, fine; /* in all, with samples, with samples at half the spacing */
    int64_t bytes;
} baked_size;
baked_size baked_measure(const baked *b);

#endif
