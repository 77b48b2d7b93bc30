/* Which fields of two scenes differ. */
#ifndef SPATE_SCENE_COMPARE_H
#define SPATE_SCENE_COMPARE_H

#include "scene/scene.h"

/* Calls `tell` for every field at the top, or one level below it ("solver.cfl"), whose value in the
 * YAML text `bytes` is not that of the scene. How it is written does not matter. */
spate_status scene_compare(const spate_scene *scene, const char *name, const char *bytes,
                           size_t length, void (*tell)(const char *path, void *user), void *user);

#endif
