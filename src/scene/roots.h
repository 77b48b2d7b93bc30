/*
 * Roots of strands: points all over a surface of triangles that keep their distance from one
 * another (blue noise). Darts are thrown at random, and a dart stays if no other is within a
 * radius; the radius shrinks until there are as many as wanted (McCool and Fiume 1992). All
 * randomness comes from the seed.
 */
#ifndef SPATE_SCENE_ROOTS_H
#define SPATE_SCENE_ROOTS_H

#include "scene/mesh_body.h"

/* Triangles, and the areas up to each of them. */
typedef struct root_surface {
    int64_t count;
    double (*corners)[3][3];
    double *areas;
} root_surface;

/* The surface of a solid: the triangles of a mesh, or what elements about as long as `spacing` make
 * of another shape. Memory from take(), also where it fails. */
spate_status root_surface_of(spate_context *ctx, const shape *s, double spacing, root_surface *out);
/* A parallelogram. */
spate_status root_surface_flat(spate_context *ctx, const double corner[3], const double along[3],
                               const double across[3], root_surface *out);
void root_surface_free(spate_context *ctx, root_surface *s);

/* How much of the surface's area lies within a shape (NULL: all of it). */
double root_surface_area(const root_surface *s, const shape *within, uint64_t seed);
/* Spreads `count` points over that part, which has this area; `roots` has room for them. */
spate_status roots_spread(spate_context *ctx, const root_surface *s, const shape *within,
                          double area, uint64_t seed, int64_t count, double (*roots)[3]);

#endif
