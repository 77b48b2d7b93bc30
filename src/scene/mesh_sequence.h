/*
 * A mesh that deforms: a numbered sequence of files with the same triangles. Between two of them
 * vertices move along straight lines with constant velocity; before the first and after the last
 * they rest.
 */
#ifndef SPATE_SCENE_MESH_SEQUENCE_H
#define SPATE_SCENE_MESH_SEQUENCE_H

#include "scene/shape.h"

enum { SEQUENCE_MOST = 100000 }; /* files */

typedef struct mesh_sequence {
    double start; /* s: when it is as in the first file */
    double fps;
    bool repeat; /* after the last it goes on with the first */
    int count;
    double (**vertices)[3]; /* of each file, in the order of the mesh */
    mesh *mesh;             /* the first one, prepared */
    double *way;            /* farthest that a vertex goes from each to the next, m */
    double (*middle)[3];    /* mean of the vertices of each */
    bounds box;             /* around all */
} mesh_sequence;

/* Where a time lies: between file `from` and the next, with a share of the way. */
typedef struct sequence_place {
    int from;
    double share;
    bool moving;
} sequence_place;

sequence_place mesh_sequence_at(const mesh_sequence *s, double t);
/* Vertices a share of the way from file `from` to the next. */
void mesh_sequence_blend(const mesh_sequence *s, int from, double share, double (*out)[3]);
/* The shape itself, or, of a sequence, one with the mesh as it is at time t. */
spate_status mesh_sequence_shape(arena *a, const shape *s, double t, const shape **out);
/* The velocity of the mean of its vertices at time t. */
void mesh_sequence_drift(const mesh_sequence *s, double t, double v[3]);
/* Around a shape; around all files where it is a sequence. */
bounds mesh_sequence_bounds(const shape *s, int dim);
/* The fastest that a vertex ever is, m/s. */
double mesh_sequence_speed(const mesh_sequence *s);
/* The speed v such that in a step from t of way/v no vertex goes further than `way`: that of the files
 * around t, or of those that the step would come to. */
double mesh_sequence_speed_within(const mesh_sequence *s, double t, double way);

/* Makes room for `count` files with the prepared mesh of the first; its raw vertices tell which of
 * them it has kept. */
spate_status mesh_sequence_begin(arena *a, int count, const mesh *raw, mesh *prepared,
                                 int32_t **kept, mesh_sequence **out);
/* Adds file k; fails, without a place in the message, where its triangles are not those of `first`. */
spate_status mesh_sequence_add(arena *a, mesh_sequence *s, int k, const int32_t *kept,
                               const mesh *first, const mesh *raw);
/* Once all are there, or whenever their vertices were changed. */
void mesh_sequence_finish(mesh_sequence *s);

#endif
