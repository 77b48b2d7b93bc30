/*
 * Shading: what colour a ray sees where it meets something. Matt things have the light of sun and
 * sky; a skin has the finish of its stuff, and may send the ray on.
 */
#ifndef SPATE_PICTURES_TRACE_SHADING_H
#define SPATE_PICTURES_TRACE_SHADING_H

#include "pictures/trace/world.h"

/* How a ray came to a thing: the way behind it, and how often skins have sent it on. */
typedef struct shading_path {
    float length;
    int turns;
} shading_path;

v3 shading_sky(const world *w, v3 along);
v3 shading_thing(const world *w, world_thing thing, const ray *r, const hit *h, shading_path way);
/* What a ray sees that a surface has mirrored. */
v3 shading_mirror(const world *w, const ray *r, shading_path way);

#endif
