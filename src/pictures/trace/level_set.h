/*
 * Level set: a smooth surface around particles, as the zero of a function on a regular grid, and
 * the rays that cross it. The function is that of Zhu and Bridson 2005 (section 5): the distance to
 * the weighted mean of the particles around, less a radius; a lone particle gives a sphere, many a
 * smooth sheet. Negative inside. It is cut off at a box, so a liquid ends flush with the walls of
 * its domain.
 */
#ifndef SPATE_PICTURES_TRACE_LEVEL_SET_H
#define SPATE_PICTURES_TRACE_LEVEL_SET_H

#include "core/context.h"
#include "pictures/trace/ray.h"

typedef struct level_set {
    spate_context *ctx;
    v3 corner; /* of the first grid point */
    float cell;
    int points[3];
    float *values;     /* x fastest; NULL when there are no particles */
    int bricks[3];     /* of LEVEL_BRICK^3 cells each */
    signed char *side; /* of a brick: 0 has both sides; k > 0 all outside, k < 0 all inside, and so
                          are all bricks nearer than |k| */
    v3 min, max;       /* the box */
    float outside;     /* the value far from particles */
} level_set;

enum { LEVEL_BRICK = 3 };

/* The particles that a surface goes around. */
typedef struct level_set_particles {
    const v3 *centers; /* x, y, z */
    int64_t count;
    float half_spacing; /* of neighbours, about */
} level_set_particles;

/* Without walls. */
static inline void level_set_no_box(v3 box[2]) {
    box[0] = v3_splat(-INFINITY), box[1] = v3_splat(INFINITY);
}

/* A surface at about `radius` from the outermost particles. A finite box, from box[0] to box[1],
 * stands for walls around a liquid: particles near them are mirrored, so that the surface meets the
 * walls square, and single drops are kept from being smoothed away. */
spate_status level_set_create(spate_context *ctx, const level_set_particles *particles,
                              float radius, const v3 box[2], level_set *out);
void level_set_free(level_set *l);

float level_set_value(const level_set *l, v3 x);
/* Direction of growth, unit: the outward normal near the surface. */
v3 level_set_normal(const level_set *l, v3 x);
/* The first crossing between near and far of a ray that is outside (or inside) at `near`. */
hit level_set_cross(const level_set *l, const ray *r, float near, float far, bool inside);

#endif
