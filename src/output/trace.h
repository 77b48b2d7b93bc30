/*
 * Trace: a 3D picture of one frame by ray tracing. Liquids are a smooth surface (level.h, or a
 * mesh, facets.h) with reflection, refraction and absorption; everything else is matt balls
 * (balls.h) whose shading follows the smooth surface around them; smoke veils what is behind it
 * (haze.h). Light: a sun, whose rays are followed through the liquid down to the floor (light.h), and
 * a sky.
 */
#ifndef SPATE_OUTPUT_TRACE_H
#define SPATE_OUTPUT_TRACE_H

#include "output/facets.h"
#include "output/haze.h"
#include "output/picture.h"
#include "output/stage.h"

typedef struct trace_input {
    const stage *stage;
    const v3
        *liquid; /* x, y, z of particles that are drawn as liquid, in the stage's coordinates */
    int64_t liquid_count;
    float liquid_radius; /* pscale: about half the distance of neighbours */
    const v3 *matt;      /* x, y, z, radius of all others */
    const rgb *matt_colour;
    int64_t matt_count;
    float matt_radius;         /* pscale of these */
    bool matt_smooth;          /* drawn as bodies with a smooth skin, not as balls */
    const facet_mesh *surface; /* of the liquid; NULL: made from the particles */
    haze_grid smoke;           /* in the stage's box; no values: none */
    bool smoke_mapped; /* the smoke's colours are those of a colour map: no light changes them */
    int samples;       /* rays a pixel where the picture has edges */
} trace_input;

spate_status trace_picture(spate_context *ctx, const trace_input *in, picture *out);

#endif
