/* The colliders of a scene as triangles, drawn around their pivots. */
#ifndef SPATE_SERVER_SOLIDS_H
#define SPATE_SERVER_SOLIDS_H

#include "scene/scene.h"
#include "server/packing.h"

/* A section for each. */
spate_status solids_pack(const spate_scene *scene, packing *p);

#endif
