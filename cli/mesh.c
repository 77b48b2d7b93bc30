/* spate mesh: surfaces of liquids from the frames of a finished run. */
#include "options.h"
#include "progress.h"
#include <stddef.h>

typedef struct mesh_settings {
    const char *output, *method, *formats, *frames;
    int64_t resolution, smoothing, threads;
    bool force, quiet;
} mesh_settings;

#define AT(member) .offset = offsetof(mesh_settings, member)
static const option mesh_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     AT(output),
     .argument = "DIR",
     .help = "Where the files go; default: the run's folder"},
    {.name = "method",
     .type = OPTION_TEXT,
     AT(method),
     .argument = "NAME",
     .help = "isotropic, anisotropic or sheets; default: the scene's output.surface_method"},
    {.name = "formats",
     .type = OPTION_TEXT,
     AT(formats),
     .argument = "A,B...",
     .help = "ply, obj, vtp; default: the scene's output.surface, or ply"},
    {.name = "resolution",
     .type = OPTION_INTEGER,
     AT(resolution),
     .argument = "N",
     .min = 1,
     .max = 4,
     .help = "How much finer than the grid the lattice is; default: the scene's"},
    {.name = "smoothing",
     .type = OPTION_INTEGER,
     AT(smoothing),
     .argument = "N",
     .min = 0,
     .max = 100,
     .help = "Passes that smooth the surface; default: the scene's"},
    FRAMES_OPTION,
    {.name = "force", .type = OPTION_FLAG, AT(force), .help = "Replace surfaces that are there"},
    THREADS_OPTION("Worker threads; by default one per core"),
    QUIET_OPTION,
};
#undef AT

static bool read_settings(const command *self, const mesh_settings *s, spate_mesh_options *o) {
    o->method = s->method;
    o->formats = s->formats;
    o->resolution = (int)s->resolution;
    o->smoothing = (int)s->smoothing;
    o->output = s->output;
    o->force = s->force;
    return read_frames_option(self, s->frames, &o->first, &o->last);
}

static spate_status mesh_folder(const command *self, const char *folder,
                                const mesh_settings *settings) {
    spate_mesh_options options = spate_default_mesh_options();
    frame_work work;
    if (!read_settings(self, settings, &options)) return SPATE_BAD_INPUT;
    const spate_status status =
        frame_work_open(&work, "surface", settings->threads, settings->quiet);
    if (status) return status;
    options.progress = work.progress;
    options.user = &work;
    options.interrupt = &interrupt_flag;
    return frame_work_close(&work, spate_mesh(work.ctx, folder, &options));
}

static int run_mesh(const command *self, int argc, char **argv) {
    mesh_settings settings = {.smoothing = spate_default_mesh_options().smoothing};
    arguments args;
    int exit_code;
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    const spate_status status = mesh_folder(self, args.items[0], &settings);
    options_free(self, &settings);
    return status;
}

const command command_mesh = {
    .name = "mesh",
    .synopsis = "DIR",
    .summary = "Surfaces of liquids from the frames of a finished run",
    .details = "From particles_0001.vtp and so on come surface_0001.ply and so on: closed meshes, "
               "in 2D closed\noutlines, as the scene's output.surface gives them, or otherwise by "
               "the options here.",
    .options = mesh_options,
    .option_count = COUNT_OF(mesh_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_mesh,
};
