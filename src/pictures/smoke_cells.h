/*
 * Smoke cells: how thick and of what colour smoke is in the cells of a frame. Where the
 * scene has several materials, each is a dye, a field of its own name; else there is one,
 * `density`. Where a picture is coloured by another field, its value stands for the smoke and gives
 * the colour.
 */
#ifndef SPATE_PICTURES_SMOKE_CELLS_H
#define SPATE_PICTURES_SMOKE_CELLS_H

#include "pictures/colouring.h"
#include "pictures/trace/ray.h"

/* Colour times amount, and the amount: 1 where smoke is as thick as colouring.high says. */
typedef struct smoke_cells {
    spate_context *ctx;
    int cells[3];
    v3 *values;  /* x fastest */
    bool mapped; /* by the colour map: the colour is the message, not the light on it */
} smoke_cells;

spate_status smoke_cells_create(const colouring *s, const snapshot *frame, const char *file,
                                smoke_cells *out);
void smoke_cells_free(smoke_cells *d);

#endif
