/*
 * Bodies that are meshes as lists of particles: how those who draw particles draw them.
 *
 * Cells are those of mesh_cells.h; a corner is the place of its vertex among the particles of a
 * frame, in the order of their ids. A vertex that is not there takes its triangles and segments
 * along.
 */
#ifndef SPATE_FRAMES_MESH_LINKS_H
#define SPATE_FRAMES_MESH_LINKS_H

#include "frames/mesh_cells.h"

typedef struct mesh_links {
    spate_context *ctx;
    mesh_cells cells;
    int64_t *rows; /* by vertex of the cells: its place, or -1 */
    int64_t row_room;
    uint32_t (*triangles)[3], (*segments)[2];
    int64_t triangle_count, triangle_room, segment_count, segment_room;
} mesh_links;

/* The particles of a frame, and the id of the first vertex of each of the scene's bodies. */
typedef struct mesh_vertices {
    const uint64_t *ids; /* ascending */
    int64_t count;
    const uint64_t *first; /* by body */
} mesh_vertices;

/* Begin with {.ctx = ctx}; what has not changed is kept. */
spate_status mesh_links_update(const spate_scene *scene, const mesh_vertices *v, mesh_links *l);
void mesh_links_free(mesh_links *l);

/* Of the particles that a simulation has now, as spate_simulation_read gives them by id (run/
 * mesh_reading.c). */
struct spate_simulation;
spate_status simulation_link_meshes(struct spate_simulation *sim, mesh_links *l);

#endif
