/* What in a scene is valid and yet probably not meant: told once, as warnings, by spate_scene_review. */
#ifndef SPATE_SCENE_SLIPS_H
#define SPATE_SCENE_SLIPS_H

#include "scene/scene.h"

void scene_warn_of_slips(spate_scene *scene);

#endif
