/*
 * Strands as a scene gives them: in rows, as a brush (roots on a parallelogram, all over it or in
 * tufts) or as hair (roots on the surface of a shape). All have as many segments, so that several
 * are solved side by side.
 */
#ifndef SPATE_SCENE_STRANDS_H
#define SPATE_SCENE_STRANDS_H

#include "scene/mesh_body.h"

typedef struct strands_fields {
    double root[3], direction[3]; /* the first root; from root to tip */
    double row[3], rows[3];       /* to the last root of a row, and to the last row */
    int64_t count[2];             /* strands in a row, rows */
    double spacing, radius;
    double curl_radius, curl_length; /* of the helix, and of a turn along the strand */
    stepping_fields stepping;
} strands_fields;

typedef struct brush_fields {
    double corner[3], along[3], across[3]; /* where its roots are */
    double direction[3];                   /* from root to tip */
    int64_t count, tufts;                  /* 0 tufts: roots all over */
    double tuft_radius;
    double spread; /* radians: the most that a strand leans */
    double vary;   /* share by which strands may be shorter */
} brush_fields;

typedef struct hair_fields {
    shape *on, *within; /* roots are on the surface of the one, inside the other (NULL: anywhere) */
    int64_t count;
    double density; /* of roots, 1/m^2; where there is no count */
    double length, vary;
    double direction[3]; /* where it is combed to */
    double lean, comb;   /* share of that in the direction at the root, and at the tip */
    double gap;          /* kept from the surface, but by the root */
} hair_fields;

/* Memory from the arena; see mesh_body.h on what has too many vertices. Hair without a root is left
 * without vertices. */
spate_status mesh_of_strands(arena *a, const strands_fields *g, int dim, mesh_body *out);
spate_status mesh_of_brush(arena *a, const strands_fields *g, const brush_fields *b, uint64_t seed,
                           mesh_body *out);
spate_status mesh_of_hair(arena *a, const strands_fields *g, const hair_fields *h, uint64_t seed,
                          mesh_body *out);
/* Chains of edges that a file has; a branch, a ring, a segment without length or a strand of one
 * segment is refused. */
spate_status mesh_of_lines(arena *a, const char *name, const mesh *lines, mesh_body *out);

#endif
