/* spate info: describes a file. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"
#include <stddef.h>
#include <unistd.h>

typedef struct info_settings {
    bool json;
} info_settings;

static const option info_options[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = offsetof(info_settings, json),
     .help = "One JSON object on standard output"},
};

static int run_info(const command *self, int argc, char **argv) {
    info_settings settings = {0};
    arguments args;
    int exit_code;
    char found[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    /* What is there comes before a shipped scene of that name: a run's folder too. */
    const char *path = args.items[0];
    if (access(path, F_OK)) path = scene_wanted(path, settings.json, found);
    if (!path) return SPATE_BAD_INPUT;
    spate_context *ctx;
    spate_status status = session_open(0, false, &ctx);
    if (status) return status;
    status = settings.json ? spate_describe_file_json(ctx, path, write_to_file, stdout)
                           : spate_describe_file(ctx, path, write_to_file, stdout);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

const command command_info = {
    .name = "info",
    .synopsis = "FILE",
    .summary = "Describe a scene, mesh, checkpoint, frame, picture or film",
    .options = info_options,
    .option_count = COUNT_OF(info_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_info,
};
