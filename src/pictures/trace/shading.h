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
v3 shading_mesh(const world *w, const ray *r, const hit *h);
v3 shading_strand(const world *w, const ray *r, const hit *h, shading_path way);

/* Matt surfaces: sun with shadow, sky from above, a little light back from the floor. */
v3 shading_matt(const world *w, v3 x, v3 n, v3 paint, float open);
/* The sun mirrored in a skin that is smooth. */
v3 shading_shine(const world *w, v3 along, v3 n);
/* The sun's light, what reaches a place of it, and the light from everywhere else on a surface. */
v3 shading_sunlight(void);
v3 shading_sun(const world *w, v3 x);
v3 shading_around(v3 n);
/* What a ray sees that a surface has mirrored. */
v3 shading_mirror(const world *w, const ray *r, shading_path way);

#endif
