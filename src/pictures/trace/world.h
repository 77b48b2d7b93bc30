/*
 * World: everything a ray can meet in a 3D picture, and what light does there. Shared by the rays
 * from the camera (trace.c) and those from the sun (light.c).
 */
#ifndef SPATE_PICTURES_TRACE_WORLD_H
#define SPATE_PICTURES_TRACE_WORLD_H

#include "pictures/trace/batches.h"
#include "pictures/trace/colour_field.h"
#include "pictures/trace/level_set.h"
#include "pictures/trace/meshes.h"
#include "pictures/trace/smoke_volume.h"
#include "pictures/trace/spheres.h"
#include "pictures/trace/stage.h"
#include "pictures/trace/strands.h"
#include "pictures/trace/triangles.h"

/* Light that reaches the floor, on a map of texels; 1 is the open floor. */
typedef struct light_map {
    int width, depth;
    float corner_x, corner_z, texel;
    v3 *sun;
    float *sky; /* share of the sky that is seen */
} light_map;

/* Bodies of one stuff. */
typedef struct world_skin {
    level_set level_set;
    colour_field colours;
    material_finish finish;
} world_skin;

typedef struct world {
    spate_context *ctx;
    const stage *stage;
    level_set liquid;
    colour_field liquid_colours;
    triangles
        *face;   /* the liquid's surface where a run has left one; NULL: that of the level set */
    float depth; /* through that much of a liquid one sees its colour */
    const batch *grains; /* NULL: none */
    level_set heap;      /* the smooth surface around them */
    spheres *spheres;
    world_skin *skins;
    int skin_count;
    meshes *meshes;     /* bodies of triangles; NULL: none */
    strands *strands;   /* NULL: none */
    smoke_volume smoke; /* smoke */
    v3 sun;             /* towards it, unit */
    float tiny;         /* a step off a surface */
    int texels;         /* along the longer side of the floor's light map */
    float line;         /* distance of the lines on the floor */
    float pixel;        /* how wide one is at distance 1 */
    light_map light;
} world;

/* What a ray meets first, apart from the liquid's surface. */
typedef enum world_thing {
    THING_SKY,
    THING_FLOOR,
    THING_GRAIN,
    THING_SKIN,
    THING_COLLIDER,
    THING_MESH,
    THING_STRAND
} world_thing;

world_thing world_hit(const world *w, const ray *r, float near, hit *out);
/* Whether something stops a ray; strands take a share of it instead (strands_left). */
bool world_block(const world *w, const ray *r, float near);

/* The first crossing of the liquid's surface between near and far by a ray that is outside (or
 * inside) at `near`. */
hit world_face(const world *w, const ray *r, float near, float far, bool inside);
/* Whether a point is in the liquid. */
bool world_wet(const world *w, v3 x);

/* Share of light that a surface of water reflects at this cosine (Schlick 1994). */
float world_fresnel(float cosine);
/* Direction behind a surface of water with this normal; false: totally reflected, and so is *out.
 */
bool world_refract(v3 along, v3 normal, bool inside, v3 *out);
/* Share of light that is left of a ray after a way through the liquid; what the liquid itself adds
 * goes to *glow, which may be NULL. */
v3 world_pass(const world *w, const ray *r, float length, v3 *glow);
/* The light that a liquid of this colour has in itself, from sun and sky. */
v3 world_glow(v3 colour);
/* What stuff of a colour takes from light, per length, when it shows it through a depth. */
v3 world_absorption(v3 colour, float depth);

/* How open the surroundings of a surface with this normal are, 1: entirely; hollows are darker. */
float world_open(const world *w, v3 x, v3 normal, float step);

/* Follows the sun's light to the floor: light.c. */
spate_status light_create(world *w, const batches *c, const mesh_parts *parts);
void light_free(world *w);
/* Light on the floor at x, z. */
void light_at(const world *w, float x, float z, v3 *sun, float *sky);

#endif
