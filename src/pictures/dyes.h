/*
 * Dyes: how thick and of what colour smoke is in the cells of a frame. Where the
 * scene has several materials, each is a dye, a field of its own name; else there is one, `density`. Where a
 * picture is coloured by another field, its value stands for the smoke and gives the colour.
 */
#ifndef SPATE_PICTURES_DYES_H
#define SPATE_PICTURES_DYES_H

#include "pictures/shades.h"
#include "pictures/trace/ray.h"

/* Colour times amount, and the amount: 1 where smoke is as thick as shades.high says. */
typedef struct dyed_cells {
    spate_context *ctx;
    int cells[3];
    v3 *values;  /* x fastest */
    bool mapped; /* by the colour map: the colour is the message, not the light on it */
} dyed_cells;

spate_status dyes_create(const shades *s, const snapshot *frame, const char *file, dyed_cells *out);
void dyes_free(dyed_cells *d);

#endif
