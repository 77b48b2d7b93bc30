/*
 * The scene that a run's folder keeps, run.scene.yaml: all overrides applied, and listed at its
 * head as comments, so that a run can go on without their being given again. Pictures need what
 * events have added to it too: run.added.yaml.
 */
#ifndef SPATE_RUN_RUN_SCENE_H
#define SPATE_RUN_RUN_SCENE_H

#include "core/file.h"
#include "scene/scene.h"

/* Writes it, and copies of the meshes that it names. An override that does not fit on a line is
 * left out of the comments. */
spate_status run_scene_write(const spate_scene *scene, const char *folder);
/* The same for a scene with what events have added. */
spate_status run_scene_write_added(const spate_scene *scene, const char *folder);

#endif
