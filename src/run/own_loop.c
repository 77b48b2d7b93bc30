/* What a run writes, from a program's own loop. */
#include "frames/frame_files.h"
#include "measure/statistics.h"
#include <spate/drive.h>

spate_status spate_simulation_write_frame(spate_simulation *sim, const char *folder, int frame) {
    frame_files f;
    if (frame < 0)
        return fail(sim->ctx, SPATE_BAD_INPUT, "frame %d; numbers of frames are not less than 0",
                    frame);
    TRY(simulation_enter(sim, false));
    spate_status status = file_make_folder(sim->ctx, folder);
    if (!status) {
        status = frame_files_take(sim, folder, frame, &f);
        if (!status) status = frame_files_write(sim->ctx, &f);
        frame_files_free(&f);
    }
    simulation_leave(sim);
    return status;
}

static spate_status tell(spate_simulation *sim, int frame, bool header, text *line) {
    statistics s;
    TRY(statistics_create(sim, &s));
    spate_status status = header ? SPATE_OK : statistics_evaluate(&s, frame, 0);
    if (!status && header) statistics_header(&s, line);
    if (!status && !header) statistics_row(&s, sim->dt_limit, line);
    statistics_free(&s);
    return !status && line->failed ? SPATE_OUT_OF_MEMORY : status;
}

spate_status spate_simulation_statistics(spate_simulation *sim, int frame,
                                         void (*write)(const char *words, void *user), void *user) {
    text line = {.ctx = sim->ctx};
    TRY(simulation_enter(sim, false));
    spate_status status = tell(sim, frame, frame < 0, &line);
    simulation_leave(sim);
    if (!status) write(line.data, user);
    text_free(&line);
    return status;
}

spate_status spate_simulation_on_stage(spate_simulation *sim,
                                       void (*call)(spate_simulation *simulation, const char *stage,
                                                    void *user),
                                       void *user) {
    TRY(simulation_enter(sim, true));
    sim->on_stage = (stage_hook){call, user};
    simulation_leave(sim);
    return SPATE_OK;
}
