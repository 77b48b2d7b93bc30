/*
 * Colour field: the colour at a place in or on a body, from the particles nearest to it. Every
 * point of a grid knows its nearest particle; between points their colours are mixed.
 */
#ifndef SPATE_PICTURES_TRACE_COLOUR_FIELD_H
#define SPATE_PICTURES_TRACE_COLOUR_FIELD_H

#include "pictures/trace/level_set.h"

typedef struct colour_field {
    spate_context *ctx;
    const v3 *colours; /* of the particles, all four lanes; not owned */
    v3 corner;         /* the grid of a level set */
    float cell;
    int points[3];
    int32_t *nearest; /* x fastest, -1: none is near; NULL: all have the same colour */
} colour_field;

/* On the grid of the level set around these particles, whose colours must stay where they are. */
spate_status colour_field_create(const level_set *l, const v3 *centers, const v3 *colours,
                                 int64_t count, colour_field *out);
void colour_field_free(colour_field *t);

/* Whether there is more than one colour. */
bool colours_differ(const v3 *colours, int64_t count);

v3 colour_field_at(const colour_field *t, v3 x);

#endif
