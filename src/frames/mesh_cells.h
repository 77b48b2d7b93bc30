/*
 * Mesh cells: what of a scene's bodies that are meshes is written and drawn, found once from their
 * elements.
 *
 *    cloth    its triangles
 *    fe       3D: the skin, the facets that belong to one tetrahedron only, anticlockwise seen from
 *             outside; 2D: the triangles, and as lines of two corners the outline, with the body on
 *             their left
 *    strands  a line each
 *
 * Only vertices that a cell has are listed; those of a body follow one another.
 */
#ifndef SPATE_FRAMES_MESH_CELLS_H
#define SPATE_FRAMES_MESH_CELLS_H

#include "scene/scene.h"

/* A body's part of the lists. */
typedef struct mesh_cells_body {
    int body; /* of the scene */
    int64_t first_vertex, vertex_count;
    int64_t first_line, line_count;
    int64_t first_triangle, triangle_count;
} mesh_cells_body;

typedef struct mesh_cells {
    spate_context *ctx;
    uint64_t key; /* tells the meshes that they are of; 0: none yet */
    mesh_cells_body *bodies;
    int body_count;
    int32_t *vertices; /* by number in their body */
    int64_t vertex_count;
    int32_t *line_corners; /* of line k: from line_first[k] to before line_first[k + 1] */
    int64_t *line_first, line_count;
    int32_t (*triangles)[3];
    int64_t triangle_count;
} mesh_cells;

/* Whether a scene has such bodies. */
bool mesh_cells_are_in(const spate_scene *scene);
/* Makes them, or keeps what is there where it is of the same meshes. Begin with {.ctx = ctx}. */
spate_status mesh_cells_update(const spate_scene *scene, mesh_cells *c);
void mesh_cells_free(mesh_cells *c);

#endif
