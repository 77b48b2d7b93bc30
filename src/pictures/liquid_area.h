/*
 * Liquid area: liquid in a 2D picture, filled and smooth, with a darker line along its surface.
 *
 * Particles spread their own area over a lattice by a wide kernel; where the sum, over the share of
 * the kernel that solids leave open, passes a half or so, there is liquid. A particle that ends up
 * outside adds a narrow kernel of its own, so that drops are round and films stay.
 */
#ifndef SPATE_PICTURES_LIQUID_AREA_H
#define SPATE_PICTURES_LIQUID_AREA_H

#include "pictures/draw/picture.h"

typedef struct liquid_area_point {
    float at[2];   /* pixels */
    float spacing; /* side of the square it stands for, pixels */
    int layer;
    rgb colour;
} liquid_area_point;

typedef struct liquid_area_input {
    const liquid_area_point *points;
    int64_t count;
    int layers;    /* liquids: each keeps its own colours, with a sharp edge between two */
    int hidden;    /* a layer that takes up room and is not drawn: grains; -1: none */
    double low[2]; /* corners of the room it is in, pixels */
    double high[2];
    bool periodic[2]; /* its sides along an axis are one */
    /* Distance in pixels to the nearest solid that liquid rests on, negative inside. */
    double (*solid)(const void *user, double x, double y);
    const void *user;
} liquid_area_input;

spate_status liquid_area_draw(spate_context *ctx, const liquid_area_input *in, picture *out);

#endif
