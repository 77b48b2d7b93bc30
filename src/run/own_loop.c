/* What a run writes, from a program's own loop. */
#include "frames/frame_files.h"
#include "measure/statistics.h"
#include "run/run_scene.h"
#include "solver/drive.h"
#include <spate/drive.h>

/* Pictures of a frame need its scene, with what was added to it. */
static spate_status write_frame(spate_simulation *sim, const char *folder, int frame) {
    frame_files f;
    mesh_cells cells = {.ctx = sim->ctx};
    if (!folder || frame < 0)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "frame %d in folder '%s'; give a number from 0 on and the path of a folder",
                    frame, folder ? folder : "");
    TRY(file_make_folder(sim->ctx, folder));
    TRY(run_scene_write(sim->scene, folder));
    spate_status status = frame_files_take(sim, folder, frame, &cells, &f);
    if (!status) status = frame_files_write(sim->ctx, &f);
    frame_files_free(&f);
    mesh_cells_free(&cells);
    return status;
}

spate_status spate_simulation_write_frame(spate_simulation *sim, const char *folder, int frame) {
    TRY(simulation_enter(sim, false));
    spate_status status = write_frame(sim, folder, frame);
    simulation_leave(sim);
    return status;
}

/* The format of a surface's file by its ending. */
static const surface_format *format_of(const char *path) {
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (int i = 0; i < SURFACE_FORMATS && dot; i++)
        if (!strcmp(dot + 1, surface_formats[i].extension)) return &surface_formats[i];
    return NULL;
}

static spate_status write_surface(spate_simulation *sim, const char *path) {
    const surface_format *format = format_of(path);
    surface_mesh made = {0};
    if (scene_on_grid(sim->scene))
        return fail(sim->ctx, SPATE_BAD_INPUT, "solver %s has no surface; write a frame",
                    sim->type->declaration->name);
    if (!format)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "surface '%s' is in no known format; end its name in .ply, .obj or .vtp",
                    path ? path : "");
    TRY(surface_of_simulation(sim, &made));
    spate_status status = surface_prepare(sim, &made);
    if (!status) status = surface_write(sim->ctx, &made, format, sim->scene->name, sim->time, path);
    surface_free(&made);
    return status;
}

spate_status spate_simulation_write_surface(spate_simulation *sim, const char *path) {
    TRY(simulation_enter(sim, false));
    spate_status status = write_surface(sim, path);
    simulation_leave(sim);
    return status;
}

static spate_status tell(spate_simulation *sim, int frame, bool header, text *line) {
    statistics s;
    TRY(statistics_create_for(sim, drive_given_scene(sim), &s));
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
