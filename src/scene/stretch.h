/*
 * Stretching: a matrix, such as a factor for each axis, worked into a shape's own numbers.
 *
 * What comes out is a shape like any other with exact distances: points, polygons and meshes have
 * their vertices mapped, a box stays a box, a sphere becomes an ellipsoid. A shape that has no
 * exact distance once it is stretched is refused.
 */
#ifndef SPATE_SCENE_STRETCH_H
#define SPATE_SCENE_STRETCH_H

#include "scene/shape.h"

/* Maps a shape, before its own rotation and translation; `by` keeps orientation, its scale must be
 * 1 or is replaced. Where that cannot be, *why says so and the shape is of no use. */
spate_status shape_stretch(arena *a, shape *s, int dim, const double by[3][3], const char **why);

#endif
