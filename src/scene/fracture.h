/*
 * Finite elements in pieces, as if broken before: each element goes to the nearest of a number of
 * seeds (Voronoi cells), and cells share no vertex. No volume is lost. Vertices between two cells
 * are first moved to the plane between them, as far as elements stay good, so that cuts are flat.
 */
#ifndef SPATE_SCENE_FRACTURE_H
#define SPATE_SCENE_FRACTURE_H

#include "scene/mesh_body.h"

enum { PIECES_MOST = 10000 };

/* Breaks a mesh into about this many pieces; at most one an element. Memory from the arena. */
spate_status mesh_break(arena *a, int dim, int64_t pieces, uint64_t seed, mesh_body *m);
/* How many parts without a common vertex it has, and (unless NULL) which one each vertex is in. */
spate_status mesh_count_pieces(spate_context *ctx, const mesh_body *m, int dim, int64_t *count,
                               int32_t *piece_of);

#endif
