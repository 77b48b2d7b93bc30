/*
 * Smoke volume: smoke in a 3D picture. Every cell has an extinction k (1/length) and a colour.
 * Along a ray
 *
 *    dL = (c S - L) k dt
 *
 * for light L, colour c and the light S that falls on the place: what is behind comes through by
 * the share exp(-integral k dt) (Beer-Lambert). S is worked out once, on a coarser grid: the sun's
 * light dimmed by the smoke towards it, as if scattered on a little (Wrenninge 2015: octaves of
 * exp(-b tau) with smaller and smaller b), and the sky's, dimmed by the smoke above.
 */
#ifndef SPATE_PICTURES_TRACE_SMOKE_VOLUME_H
#define SPATE_PICTURES_TRACE_SMOKE_VOLUME_H

#include "core/context.h"
#include "pictures/trace/ray.h"

/* Values at the middles of cells that fill a box from (0, 0, 0) on; x fastest. */
typedef struct smoke_grid {
    int cells[3];
    float edge; /* of a cell */
    v3 *values;
} smoke_grid;

typedef struct smoke_volume {
    spate_context *ctx; /* NULL: there is no smoke */
    v3 size;            /* of the box */
    smoke_grid matter;  /* colour times extinction, extinction; not owned */
    smoke_grid light;   /* what falls on a place, and the sun's share of it that is left */
    int blocks[3];      /* of SMOKE_BLOCK cells along an edge */
    bool *filled;       /* blocks that a ray must look into */
    float thinnest;     /* an extinction that is none to the eye */
} smoke_volume;

enum { SMOKE_BLOCK = 8 };

/* Works out the light from a sun in that direction (unit); `lit` false: light is 1 everywhere. The
 * matter's values must stay. */
spate_status smoke_volume_create(spate_context *ctx, const smoke_grid *matter, v3 sun, bool lit,
                                 smoke_volume *out);
void smoke_volume_free(smoke_volume *h);

/* What a ray sees of the smoke between near and far. */
typedef struct smoke_view {
    v3 light;
    float left;  /* share of what is behind that comes through */
    float depth; /* where half of it is gone, INFINITY for nowhere */
} smoke_view;
/* `offset` (0 to 1): where in its steps a ray takes its samples. */
smoke_view smoke_volume_look(const smoke_volume *h, const ray *r, float near, float far,
                             float offset);

/* The share of light that comes through between near and far, by coarser steps. */
float smoke_volume_left(const smoke_volume *h, const ray *r, float near, float far);
/* The share of the sun's light that reaches a place in the box. */
float smoke_volume_sun(const smoke_volume *h, v3 x);

#endif
