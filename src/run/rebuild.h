/*
 * A simulation that goes on with another scene: the one it has, and something more. The new scene
 * is read and checked as a whole first. Then the state is kept as a checkpoint in memory, the
 * simulation made anew in its place, and the state put back: what is new finds itself as it is at
 * the start.
 */
#ifndef SPATE_RUN_REBUILD_H
#define SPATE_RUN_REBUILD_H

#include "solver/drive.h"

/* Adds the entries of a YAML mapping (materials, bodies, colliders, sources, sinks). */
spate_status rebuild_with(spate_simulation *sim, const char *yaml);
/* Changes a field, "materials.water.viscosity=2". */
spate_status rebuild_set(spate_simulation *sim, const char *set);
/* Takes away a collider, source, sink or body; *found tells whether there is one of that name. */
spate_status rebuild_without(spate_simulation *sim, const char *name, bool *found);

#endif
