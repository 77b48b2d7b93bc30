/* What in a scene is valid and yet probably not meant: told once, as warnings, by
 * spate_scene_review. */
#ifndef SPATE_SCENE_SLIPS_H
#define SPATE_SCENE_SLIPS_H

#include "scene/scene.h"

void scene_warn_of_slips(spate_scene *scene);
/* Where a run by duration ends before it, because frames are whole. */
void scene_warn_of_last_frame(const spate_scene *scene);

#endif
