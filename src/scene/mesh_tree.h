/* The hierarchy over a mesh's triangles, and pairs of triangles that share an edge. */
#ifndef SPATE_SCENE_MESH_TREE_H
#define SPATE_SCENE_MESH_TREE_H

#include "scene/mesh.h"

enum { MESH_WAYS = 4, MESH_LEAF = 4, MESH_STACK = 96 };

/* Up to four children with a box each, rounded outwards, side by side for vector arithmetic. */
struct mesh_node {
    float low[3][MESH_WAYS], high[3][MESH_WAYS];
    int32_t first[MESH_WAYS]; /* a leaf's first triangle, or another node */
    int32_t count[MESH_WAYS]; /* a leaf's triangles; MESH_INNER: another node; 0: no child */
};
enum { MESH_INNER = -1 };

/* A triangle as a corner and two sides, in the hierarchy's order. */
struct mesh_corner {
    double at[3], ab[3], ac[3];
};

/* A child's triangles as one dipole (Barill et al. 2018, first order). */
struct mesh_far {
    double centre[3];
    double radius;  /* of a ball around the centre that holds them */
    double area[3]; /* sum of their area vectors */
};

/* Sorts the triangles into the hierarchy's order and builds it. */
spate_status mesh_build_tree(arena *a, mesh *m);
/* Pseudonormals of faces, edges and vertices; after mesh_build_tree. */
spate_status mesh_build_normals(arena *a, mesh *m);
/* Dipoles of all children of all nodes, for the winding number; after mesh_build_tree. */
spate_status mesh_build_far(arena *a, mesh *m);

/* All of these anew for vertices that have moved; `twins` are those of mesh_pair_edges. Takes no
 * memory. The hierarchy stays as it was, with other boxes. */
void mesh_refit(mesh *m, const int32_t *twins);

/* Half-edge 3 t + c runs from corner c of triangle t to the next one. */
enum {
    MESH_OPEN_EDGE = -1,   /* nothing on the other side */
    MESH_SHARED_EDGE = -2, /* more than one triangle there; the first half-edge of such an edge */
    MESH_SHARED_AGAIN = -3 /* the others */
};
/* The half-edge on the other side of each, or one of the marks above; memory from take(). */
spate_status mesh_pair_edges(spate_context *ctx, const mesh *m, int32_t **twins);

/* Shares of a triangle's corners in its point that is nearest to x. */
void mesh_nearest_shares(const mesh *m, int64_t triangle, const double x[3], double out[3]);
/* The box of all vertices. */
void mesh_measure_bounds(mesh *m);
/* Twice the area, as a vector along the normal. */
void mesh_area_vector(const mesh *m, int64_t triangle, double out[3]);

#endif
