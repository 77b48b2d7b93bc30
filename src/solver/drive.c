#include "solver/drive.h"

spate_status drive_of(spate_simulation *sim, drive **out) {
    if (!sim->drive) {
        sim->drive = take(sim->ctx, 1, sizeof *sim->drive);
        if (sim->drive) sim->drive->record.ctx = sim->ctx;
    }
    *out = sim->drive;
    return sim->drive ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

void drive_free(spate_simulation *sim) {
    if (!sim->drive) return;
    text_free(&sim->drive->record);
    give(sim->ctx, sim->drive->colliders.slots);
    spate_scene_free(sim->drive->own);
    give(sim->ctx, sim->drive);
    sim->drive = NULL;
}
