/*
 * Triangle meshes from OBJ, PLY (ascii, binary both ways) and STL (ascii, binary), and their signed
 * distance. Closest points come from a bounding volume hierarchy; the sign from the angle-weighted
 * pseudonormal (Baerentzen and Aanaes 2005) for a closed surface in one piece, otherwise from the
 * generalised winding number (Jacobson et al. 2013).
 * Readers trust nothing: counts are checked against the bytes that remain, indices against the
 * arrays, numbers are finite.
 */
#ifndef SPATE_SCENE_MESH_H
#define SPATE_SCENE_MESH_H

#include "core/arena.h"

typedef struct mesh_node mesh_node;     /* of the hierarchy, mesh_tree.h */
typedef struct mesh_corner mesh_corner; /* a triangle laid out for distances, mesh_tree.h */
typedef struct mesh_far mesh_far;       /* a child's triangles seen from far away, mesh_tree.h */

enum { MESH_BYTES = 1 << 30 }; /* of the largest file that a scene may name */

typedef enum mesh_state { MESH_CLOSED, MESH_INVERTED, MESH_OPEN } mesh_state;

typedef struct mesh {
    double (*vertices)[3];
    int64_t vertex_count;
    int32_t (*triangles)[3]; /* in the hierarchy's order once prepared */
    int64_t triangle_count;
    int32_t (*edges)[2]; /* of polylines, where these were asked for */
    int64_t edge_count;
    mesh_state state;   /* inverted: closed, facing in; it is turned round and a warning given */
    int64_t open_edges; /* edges with one triangle */
    int64_t
        shared_edges; /* edges with more than two triangles, or two that cannot be turned alike */
    int64_t pieces;   /* connected parts */
    double hole[3];   /* middle of the longest loop of open edges */
    double volume;    /* enclosed; when open, with each hole closed by a fan around its middle */
    double min[3], max[3];
    bool by_winding; /* the sign of distances is that of the winding number */
    /* Pseudonormals: one a triangle, three a triangle (its edges 01, 12, 20), one a vertex. */
    double (*face_normals)[3], (*edge_normals)[3], (*vertex_normals)[3];
    mesh_node *nodes;
    int64_t node_count;
    mesh_corner *corners; /* one a triangle */
    mesh_far *far;        /* one a child of a node, NULL unless by_winding */
} mesh;

/* Reads a mesh by its content (not by its name) and prepares it; memory is the arena's. A mesh that
 * is open or inverted is told with warn(), naming the hole. `name` is used in messages. */
spate_status mesh_load(arena *a, const char *path, mesh **out);
spate_status mesh_read(arena *a, const char *name, const char *bytes, size_t length, mesh **out);

/* The three readers, for tests and fuzzing: raw vertices and triangles. */
spate_status mesh_read_obj(arena *a, const char *name, const char *bytes, size_t length, mesh *m);
spate_status mesh_read_ply(arena *a, const char *name, const char *bytes, size_t length, mesh *m);
spate_status mesh_read_stl(arena *a, const char *name, const char *bytes, size_t length, mesh *m);
/* Raw vertices, triangles and, where there are any, edges of polylines, by the file's content. */
spate_status mesh_read_raw(arena *a, const char *name, const char *bytes, size_t length, mesh *m);
/* Vertices and edges of polylines, of OBJ or PLY; other faces do not matter. */
spate_status mesh_read_lines(arena *a, const char *name, const char *bytes, size_t length, mesh *m);
/* Welds equal vertices, drops degenerate triangles, turns triangles alike, finds holes, builds
 * normals and hierarchy. */
spate_status mesh_prepare(arena *a, const char *name, mesh *m);

/* A copy of a prepared mesh with its vertices mapped by a matrix that keeps orientation. */
spate_status mesh_map(arena *a, const mesh *m, const double by[3][3], mesh **out);

/* Signed distance (negative inside) and, when `normal` is not NULL, the outward unit normal there.
 * For an open mesh the sign is that of the generalised winding number. */
double mesh_distance(const mesh *m, const double x[3], double normal[3]);
/* What a query found, for the next one nearby, which it makes faster. Starts as {0}. */
typedef struct mesh_hint {
    int64_t triangle; /* the nearest */
    double at[3], distance;
} mesh_hint;
double mesh_distance_near(const mesh *m, const double x[3], mesh_hint *hint, double normal[3]);
/* How often the surface goes round x: 1 inside, 0 outside, between the two near a hole. */
double mesh_winding(const mesh *m, const double x[3]);

#endif
