/*
 * Batches: the particles of a frame in 3D, sorted by how they are drawn. All that is clear is one
 * batch, all grains are one, and each material with a skin is one, so that bodies of different
 * stuff do not melt together. Where an attribute gives the colours, what is clear gets a skin that
 * shows them.
 */
#ifndef SPATE_PICTURES_TRACE_BATCHES_H
#define SPATE_PICTURES_TRACE_BATCHES_H

#include "core/context.h"
#include "pictures/trace/ray.h"
#include "scene/registry.h"

typedef struct batch {
    material_look look;
    material_finish finish; /* of a skin */
    v3 *centers;            /* x, y, z, and the radius of its sphere, in the stage's coordinates */
    v3 *colours; /* red, green, blue; fourth where it is clear: how much sooner than water it shows
                    them; of grains: a number of its own, 0 to 1 */
    int64_t count;
    float radius; /* mean of pscale: about half the distance of neighbours */
    bool rough;   /* grains: like broken stone; else smooth spheres */
    bool flows;   /* a skin of liquid: walls hold it, and drops fly off it */
} batch;

typedef struct batches {
    spate_context *ctx;
    batch *list;
    int count; /* some may be without particles */
    v3 clear;  /* as in batch.colours: of the first material that is clear, for a surface alone */
} batches;

void batches_free(batches *c);

/* The first with particles that is drawn so, or NULL. */
const batch *batches_find(const batches *c, material_look look);

#endif
