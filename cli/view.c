/* spate view: a scene that runs, or the folder of a run, in the browser. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"
#include <spate/serve.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct view_settings {
    const char *listen, *record;
    text_list sets;
    int64_t port, threads;
    double speed;
    bool no_open, paused, quiet;
} view_settings;

#define AT(member) .offset = offsetof(view_settings, member)
static const option view_options[] = {
    {.name = "port",
     .type = OPTION_INTEGER,
     AT(port),
     .argument = "N",
     .min = 0,
     .max = 65535,
     .help = "Port to listen on; default: one that is free"},
    {.name = "listen",
     .type = OPTION_TEXT,
     AT(listen),
     .argument = "ADDRESS",
     .help = "Address to listen on; default 127.0.0.1: this machine only"},
    {.name = "no-open", .type = OPTION_FLAG, AT(no_open), .help = "Do not start a browser"},
    {.name = "set",
     .type = OPTION_LIST,
     AT(sets),
     .argument = "PATH=VALUE",
     .help = "Override a field of the scene, e.g. solver.cfl=0.3; may be repeated"},
    {.name = "speed",
     .type = OPTION_NUMBER,
     AT(speed),
     .argument = "S",
     .min = 0,
     .max = 1000,
     .help = "Simulated seconds a second at most; 0: as fast as it can; default 1"},
    {.name = "paused", .type = OPTION_FLAG, AT(paused), .help = "Begin at rest"},
    {.name = "record",
     .type = OPTION_TEXT,
     AT(record),
     .argument = "FILE",
     .help = "At the end, write the scene with all that was done, for spate run"},
    THREADS_OPTION("Worker threads; by default one per core"),
    QUIET_OPTION,
};
#undef AT

/* ---- The browser ----------------------------------------------------------------------------- */

/* A program of the desktop that opens an address; only where there is a desktop. */
static void open_browser(const char *address) {
    extern char **environ;
    const bool desktop = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY");
    char name[] = "xdg-open", to[512];
    char *words[] = {name, to, NULL};
    posix_spawn_file_actions_t quiet;
    pid_t child;
    if (!desktop || strlen(address) >= sizeof to) return;
    strcpy(to, address);
    if (posix_spawn_file_actions_init(&quiet)) return;
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", 1, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", 1, 0);
    /* It hands the address to a browser and ends; nobody waits for it. */
    (void)posix_spawnp(&child, name, &quiet, NULL, words, environ);
    posix_spawn_file_actions_destroy(&quiet);
}

static void tell_address(const char *address, void *user) {
    const view_settings *s = user;
    printf("%s\n", address);
    fflush(stdout);
    if (!s->quiet) fputs("Open this address in a browser. Ctrl-C ends the viewer.\n", stderr);
    if (!s->no_open) open_browser(address);
}

/* ---- The command ----------------------------------------------------------------------------- */

static spate_serve_options serve_options(view_settings *s) {
    spate_serve_options o = spate_default_serve_options();
    o.listen = s->listen;
    o.port = (int)s->port;
    o.speed = s->speed;
    o.paused = s->paused;
    o.record = s->record;
    o.ready = tell_address;
    o.user = s;
    o.interrupt = &interrupt_flag;
    return o;
}

static spate_status view_scene(spate_context *ctx, const char *path, view_settings *s) {
    const spate_serve_options o = serve_options(s);
    spate_scene *scene;
    spate_status status = spate_scene_load(ctx, path, s->sets.items, s->sets.count, &scene);
    if (status) return status;
    status = spate_serve(scene, &o);
    spate_scene_free(scene);
    return status;
}

/* What only a simulation can be told. */
static bool fits_folder(const char *folder, const view_settings *s) {
    const char *wrong = s->record ? "record" : s->sets.count ? "set" : s->paused ? "paused" : NULL;
    if (wrong)
        fprintf(stderr, "spate view: --%s is for a scene that runs; %s is a folder of frames\n",
                wrong, folder);
    return !wrong;
}

static spate_status view_folder(spate_context *ctx, const char *folder, view_settings *s) {
    const spate_serve_options o = serve_options(s);
    return spate_serve_folder(ctx, folder, &o);
}

static bool is_folder(const char *path) {
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

static spate_status view(const char *word, view_settings *s) {
    char path[SCENE_PATH_SIZE];
    const bool folder = is_folder(word);
    const char *file = folder ? word : scene_wanted(word, s->quiet, path);
    spate_context *ctx;
    if (!file || (folder && !fits_folder(file, s))) return SPATE_BAD_INPUT;
    spate_status status = session_open(s->threads, s->quiet, &ctx);
    if (status) return status;
    catch_interrupts();
    status = folder ? view_folder(ctx, file, s) : view_scene(ctx, file, s);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

static int run_view(const command *self, int argc, char **argv) {
    view_settings settings = {.speed = spate_default_serve_options().speed};
    arguments args;
    int exit_code;
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    const spate_status status = view(args.items[0], &settings);
    options_free(self, &settings);
    return status;
}

const command command_view = {
    .name = "view",
    .synopsis = "SCENE|DIR",
    .summary = "Live in the browser: a scene that runs, or the frames of a run",
    .details =
        "Prints the address of a page on this machine and opens it where there is a desktop.\n"
        "A scene is simulated while you watch: pause, step, colour, pick a particle, pour, stir,\n"
        "pull, blast, drop a ball. What you did can be saved as a scene that `spate run` repeats\n"
        "bit for bit. A folder is shown along its time line, also while a run still writes it.\n"
        "Only who knows the whole address can connect. --listen lets other machines do so too;\n"
        "nothing is encrypted then.",
    .options = view_options,
    .option_count = COUNT_OF(view_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_view,
};
