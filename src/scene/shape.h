/*
 * Shapes: a tree of solids given by signed distance (negative inside), in the scene's units.
 * In 2D a shape is cut by z = 0 and its z never matters (a box is a rectangle, a sphere a disc).
 *
 * distance: exact for the primitives and, in 3D, for meshes; for union, difference and intersection
 * a lower bound in size with the right sign (Hart 1996), which is what contact and culling need.
 */
#ifndef SPATE_SCENE_SHAPE_H
#define SPATE_SCENE_SHAPE_H

#include "scene/mesh.h"

typedef enum shape_kind {
    SHAPE_POINTS,      /* no inside: a list of positions, one particle each */
    SHAPE_BOX,         /* min, max */
    SHAPE_ROUNDED_BOX, /* min, max, radius */
    SHAPE_SPHERE,      /* center, radius */
    SHAPE_ELLIPSOID,   /* center, half axes: what a stretched sphere becomes (stretch.h) */
    SHAPE_CYLINDER,    /* from, to, radius */
    SHAPE_CAPSULE,     /* from, to, radius */
    SHAPE_TORUS,       /* center, axis, radius (of the ring), thickness (radius of the tube) */
    SHAPE_PLANE,       /* point, normal: inside is behind the normal */
    SHAPE_POLYGON,     /* 2D: points in order */
    SHAPE_MESH,        /* file */
    SHAPE_UNION,
    SHAPE_DIFFERENCE, /* the first without the others */
    SHAPE_INTERSECTION,
} shape_kind;

typedef struct shape shape;
struct shape {
    shape_kind kind;
    double a[3], b[3]; /* min/max, center/axis, center/half axes, from/to, point/normal */
    double radius, thickness;
    double (*points)[3]; /* points, polygon */
    int64_t point_count;
    mesh *mesh; /* owned by the scene's arena; of a sequence: as it is at the start */
    const struct mesh_sequence *sequence; /* of a mesh that deforms (mesh_sequence.h), or NULL */
    bool outside;                         /* its file may lie outside the scene's folder */
    shape **children;
    int child_count;
    /* Placement of this node, applied after everything below it: x = move + turn (scale x'). */
    double turn[3][3]; /* rotation; identity by default */
    double move[3];
    double scale; /* uniform, > 0, 1 by default */
};

typedef struct bounds {
    double min[3], max[3];
} bounds;

/* A node with identity placement. */
shape *shape_create(arena *a, shape_kind kind);

double shape_distance(const shape *s, int dim, const double x[3]);
/* Distance and its gradient (unit outward normal; some unit vector where it is not defined). */
double shape_normal(const shape *s, int dim, const double x[3], double normal[3]);
/* The same for many positions close to one another: `hints` starts as {0} and keeps, for the first
 * few meshes of the shape, what makes the next query faster. */
enum { SHAPE_HINTS = 8 };
typedef struct shape_hints {
    mesh_hint meshes[SHAPE_HINTS]; /* in the order of the tree */
    int used;                      /* of them, so far in this query */
} shape_hints;
double shape_distance_near(const shape *s, int dim, const double x[3], shape_hints *hints);
/* A box around the shape; a plane or an outside (difference of nothing) gives infinite sides. */
bounds shape_bounds(const shape *s, int dim);
/* Distance from x to a box, which may reach to infinity; 0 inside. */
double bounds_gap(const bounds *b, int dim, const double x[3]);
/* Exact where there is a formula, otherwise NAN (the sampler then measures it). */
double shape_volume(const shape *s, int dim);
/* The thinnest extent that could leak: smallest side, diameter or tube; HUGE_VAL if unknown. */
double shape_thickness(const shape *s, int dim);

#endif
