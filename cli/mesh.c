/* spate mesh: surfaces of liquids from the frames of a finished run. */
#include "options.h"
#include "terminal.h"
#include <stddef.h>
#include <string.h>
#include <unistd.h>

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
    {.name = "frames",
     .type = OPTION_TEXT,
     AT(frames),
     .argument = "A:B",
     .help = "Only frame A, or A to B (A-B too); A: goes to the end, :B is from the start"},
    {.name = "force", .type = OPTION_FLAG, AT(force), .help = "Replace surfaces that are there"},
    THREADS_OPTION("Worker threads; by default one per core"),
    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, AT(quiet), .help = "No progress"},
};
#undef AT

/* On a terminal a counter, otherwise only the last file is named. */
static void tell_progress(int done, int total, const char *file, void *user) {
    const bool *terminal = user;
    if (*terminal && done < total) {
        char line[128];
        snprintf(line, sizeof line, "surface %d/%d", done, total);
        status_line(line);
    } else if (done >= total && file) {
        status_line_clear();
        puts(file);
    }
}

static bool read_settings(const mesh_settings *s, spate_mesh_options *o) {
    if (s->frames && !read_frame_range(s->frames, &o->first, &o->last)) {
        fprintf(stderr,
                "spate mesh: --frames needs a frame such as 7, or the first and the last such as "
                "10:20, not '%s'\n",
                s->frames);
        return false;
    }
    o->method = s->method;
    o->formats = s->formats;
    o->resolution = (int)s->resolution;
    o->smoothing = (int)s->smoothing;
    o->output = s->output;
    o->force = s->force;
    return true;
}

static spate_status mesh_folder(const char *folder, const mesh_settings *settings) {
    spate_mesh_options options = spate_default_mesh_options();
    if (!read_settings(settings, &options)) return SPATE_BAD_INPUT;
    spate_context *ctx;
    spate_status status = session_open(settings->threads, settings->quiet, &ctx);
    if (status) return status;
    bool terminal = isatty(STDOUT_FILENO);
    options.progress = settings->quiet ? NULL : tell_progress;
    options.user = &terminal;
    options.interrupt = &interrupt_flag;
    catch_interrupts();
    status = spate_mesh(ctx, folder, &options);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

static int run_mesh(const command *self, int argc, char **argv) {
    mesh_settings settings = {.smoothing = spate_default_mesh_options().smoothing};
    arguments args;
    int exit_code;
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    const spate_status status = mesh_folder(args.items[0], &settings);
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
