/*
 * Tints: the colour at a place in or on a body, from the particles nearest to it. Every point of a
 * grid knows its nearest particle; between points their colours are mixed.
 */
#ifndef SPATE_PICTURES_TRACE_TINTS_H
#define SPATE_PICTURES_TRACE_TINTS_H

#include "pictures/trace/level.h"

typedef struct tints {
    spate_context *ctx;
    const v3 *colours; /* of the particles, all four lanes; not owned */
    v3 corner;         /* the grid of a level */
    float cell;
    int points[3];
    int32_t *nearest; /* x fastest, -1: none is near; NULL: all have the same colour */
} tints;

/* On the grid of the level around these particles, whose colours must stay where they are. */
spate_status tints_create(const level *l, const v3 *centers, const v3 *colours, int64_t count,
                          tints *out);
void tints_free(tints *t);

/* Whether there is more than one colour. */
bool tints_differ(const v3 *colours, int64_t count);

v3 tints_at(const tints *t, v3 x);

#endif
