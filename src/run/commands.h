/*
 * Commands: everything that is done to a simulation from outside is a scene_event, whether a
 * program gives it now (spate/drive.h) or the scene's `events` bring it again. Checked as a whole
 * before anything changes.
 */
#ifndef SPATE_RUN_COMMANDS_H
#define SPATE_RUN_COMMANDS_H

#include "scene/events.h"
#include "solver/drive.h"

spate_status command_apply(spate_simulation *sim, const scene_event *e);
/* Applies one that comes now, and notes it where the simulation is recorded. */
spate_status command_give(spate_simulation *sim, scene_event *e);

/* The index of a collider by its name. */
spate_status collider_find(spate_simulation *sim, const char *name, int *out);

#endif
