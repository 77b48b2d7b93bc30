/*
 * Strands in a 3D picture: hair, fibres and ropes as smooth curves (Catmull-Rom) through their
 * vertices. Rays by Embree's flat curves, which face the ray and are shaded as round; or by straight
 * round pieces in a tree of boxes (bvh.h).
 *
 * A strand that is thinner than a pixel is drawn a pixel wide, and as much fainter: `cover` is the
 * share of what is behind that it hides. Light among many strands comes from their density on a
 * grid (smoke_volume.h), so that hair shadows itself softly.
 */
#ifndef SPATE_PICTURES_TRACE_STRANDS_H
#define SPATE_PICTURES_TRACE_STRANDS_H

#include "pictures/trace/meshes.h"
#include "pictures/trace/stage.h"

typedef struct strands strands;

/* Keeps a copy of what it needs; NULL without lines. */
spate_status strands_create(spate_context *ctx, const mesh_parts *parts, const view *seen, v3 sun,
                            bool plain, strands **out);
void strands_free(strands *s);

/* The first strand between near and far; `which` is the number of its piece. */
hit strands_hit(const strands *s, const ray *r, float near, float far);
/* Where a ray goes on behind a piece that it has met. */
float strands_beyond(const strands *s, const hit *h);
/* The share of light that strands leave of a ray. */
float strands_left(const strands *s, const ray *r, float near, float far);

/* A point that a ray has met. */
typedef struct strand_point {
    v3 tangent, colour;
    v3 facing, normal; /* across it: towards the eye; as of a round strand */
    float radius;      /* as drawn */
    float cover;
} strand_point;
strand_point strands_point(const strands *s, const ray *r, const hit *h);

/* The shares of the sun's light, and of all other, that reach a place among the strands; `out` is a
 * direction in which it is nearest to the open. */
void strands_light(const strands *s, v3 x, v3 out, float *sun, float *sky);

#endif
