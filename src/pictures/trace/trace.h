/*
 * Trace: a 3D picture of one frame by ray tracing. What is clear has a smooth surface (level.h, or a
 * mesh, facets.h) with reflection, refraction and absorption; bodies have a skin (level.h), matt or
 * shining; grains are balls (balls.h) whose shading follows the smooth surface around them; smoke
 * veils what is behind it (haze.h). Light: a sun, whose rays are followed through the liquid down to the floor (light.h), and
 * a sky.
 */
#ifndef SPATE_PICTURES_TRACE_TRACE_H
#define SPATE_PICTURES_TRACE_TRACE_H

#include "pictures/draw/picture.h"
#include "pictures/trace/crowds.h"
#include "pictures/trace/facets.h"
#include "pictures/trace/haze.h"
#include "pictures/trace/stage.h"

typedef struct trace_input {
    const stage *stage;
    const crowds *crowds;      /* NULL: no particles */
    const facet_mesh *surface; /* of what is clear; NULL: made from the particles */
    haze_grid smoke;           /* in the stage's box; no values: none */
    bool smoke_mapped; /* the smoke's colours are those of a colour map: no light changes them */
    int samples;       /* rays a pixel where the picture has edges */
} trace_input;

spate_status trace_picture(spate_context *ctx, const trace_input *in, picture *out);

#endif
