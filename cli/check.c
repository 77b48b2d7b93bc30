/* spate check: reads a scene and says what would run. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"
#include <stddef.h>

typedef struct check_settings {
    text_list sets;
} check_settings;

static const option check_options[] = {
    {.name = "set",
     .type = OPTION_LIST,
     .offset = offsetof(check_settings, sets),
     .argument = "PATH=VALUE",
     .help = "Override a field, e.g. solver.cfl=0.3; may be repeated"},
};

static void print_summary(const spate_scene_summary *s) {
    char count[SHORT_TEXT];
    printf("%s: %dD, solver %s\n", s->name, s->dimension, s->solver);
    printf("  grid       %d x %d", s->cells[0], s->cells[1]);
    if (s->dimension == 3) printf(" x %d", s->cells[2]);
    printf(" cells of %g\n", s->dx);
    printf("  time       %g s, %d frames at %g a second\n", s->duration, s->frames, s->fps);
    if (s->on_grid)
        printf("  cells      %s (%lld) filled by bodies\n",
               short_count((double)s->filled_cells, count), (long long)s->filled_cells);
    else
        printf("  particles  %s (%lld)\n", short_count((double)s->particles, count),
               (long long)s->particles);
    printf("  parts      %d materials, %d bodies, %d colliders, %d sources, %d probes\n",
           s->materials, s->bodies, s->colliders, s->sources, s->probes);
    printf("  hash       %016llx\n", (unsigned long long)s->hash);
    printf("  warnings   %d\n", s->warnings);
}

static spate_status check_scene(spate_context *ctx, const char *path, const text_list *sets) {
    spate_scene *scene;
    spate_scene_summary summary;
    spate_status status = spate_scene_load(ctx, path, sets->items, sets->count, &scene);
    if (status) return status;
    status = spate_scene_summarise(scene, &summary);
    if (!status) print_summary(&summary);
    spate_scene_free(scene);
    return status;
}

static int run_check(const command *self, int argc, char **argv) {
    check_settings settings = {0};
    arguments args;
    int exit_code;
    char path[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    spate_context *ctx;
    const char *scene = scene_wanted(args.items[0], path);
    spate_status status = scene ? session_open(0, false, &ctx) : SPATE_IO_ERROR;
    if (!status) {
        status = check_scene(ctx, scene, &settings.sets);
        report_failure(ctx, status);
        spate_close(ctx);
    }
    options_free(self, &settings);
    return status;
}

const command command_check = {
    .name = "check",
    .synopsis = "SCENE",
    .summary = "Parse and validate a scene, print what would run",
    .details =
        "Nothing is written. Exits with 2 and says file, line and field when something is wrong.",
    .options = check_options,
    .option_count = COUNT_OF(check_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_check,
};
