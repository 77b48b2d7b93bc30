/*
 * Sampling of shapes with particles.
 *
 * Regular: a lattice of spacing s = dx / n^(1/d), n particles a cell, aligned with the grid's cells
 * so that cells are filled evenly. Jittered: the same, each point moved by up to jitter * s / 2 a
 * side. Glass: the same, moved so that they keep their distance from one another (glass.h), and
 * near faces along the grid so that cells are as full as the lattice makes them (cell_fill.h).
 * Poisson: points no two of which are nearer than a radius, as dense as such a set gets, then
 * thinned to the same mean number (poisson.h). A point that belongs to no body's inside, to an
 * earlier body, or to a collider, is left out.
 *
 * Where the solver keeps its matter on a grid (solver_declaration.on_grid) the points are the
 * middles of the cells that the body fills, and earlier bodies do not matter.
 */
#ifndef SPATE_SCENE_SAMPLE_H
#define SPATE_SCENE_SAMPLE_H

#include "scene/scene.h"

typedef struct samples {
    double (*points)[3]; /* z = 0 in 2D */
    int64_t count, capacity;
    double volume; /* of each particle: spacing^d, corrected so that the body's volume is met when
                      the shape has an exact one and nothing of it was left out */
    double spacing;
    int64_t left_out; /* lattice points inside the body that a collider or an earlier body holds */
    int64_t left_to_bodies; /* those of them that an earlier body holds */
    bool clipped;           /* the shape reaches out of the domain; that part has no points */
} samples;

/* Points of body `index`, in a fixed order; memory from take(). Points inside a collider (at t = 0)
 * or inside an earlier body of the scene are left out, and so are points outside the domain: count
 * may be 0, which the caller reports. Given points (SHAPE_POINTS) are all taken, in their order,
 * but for those outside the domain. */
spate_status sample_body(const spate_scene *scene, int index, samples *out);
/* The same, where a body without particles is an error that says why. */
spate_status sample_filled_body(const spate_scene *scene, int index, samples *out);
/* The same without the points: a block inside a body is counted at once, however many it has. Of a
 * Poisson set it is the number that it is thinned to; one in a thin shape may fall short of it. */
spate_status sample_count_body(const spate_scene *scene, int index, samples *out);
/* How far the point of lattice index k is from its place on the lattice, in spacings: 0 but for
 * jittered points and those of a glass. */
void sample_move(const spate_scene *scene, sampling kind, double jitter, const int64_t k[3],
                 double move[3]);
/* Spacing of a lattice of n particles a cell. */
double sample_spacing(const domain *d, int dim, double particles_per_cell);
void samples_free(spate_context *ctx, samples *s);

#endif
