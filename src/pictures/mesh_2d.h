/* Meshes in a 2D picture: triangles filled, with their outline; strands as lines. */
#ifndef SPATE_PICTURES_MESH_2D_H
#define SPATE_PICTURES_MESH_2D_H

#include "pictures/colouring.h"
#include "pictures/frame_2d.h"

/* `frame` has the meshes of a frame (mesh_pictures_load); `file` is for messages. */
spate_status mesh_2d_draw(const colouring *s, const frame_2d_map *map, const snapshot *frame,
                          const char *file, picture *out);

#endif
