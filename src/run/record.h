/* Recording: commands as the `events` of a scene. */
#ifndef SPATE_RUN_RECORD_H
#define SPATE_RUN_RECORD_H

#include "scene/events.h"
#include "solver/drive.h"

/* Notes an event, where the simulation is recorded. */
spate_status record_event(spate_simulation *sim, const scene_event *e);
/* Where a step that may go to `until` must end so that a run of the recording does the same, and
 * notes it. */
spate_status record_until(spate_simulation *sim, double *until);

#endif
