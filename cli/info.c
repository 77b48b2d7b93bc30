/* spate info: describes a file. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"

static int run_info(const command *self, int argc, char **argv) {
    arguments args;
    int exit_code;
    char nothing, path[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &nothing, &args, &exit_code)) return exit_code;
    spate_context *ctx;
    spate_status status = session_open(0, false, &ctx);
    if (status) return status;
    status = spate_describe_file(ctx, scene_path(args.items[0], path), write_to_file, stdout);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

const command command_info = {
    .name = "info",
    .synopsis = "FILE",
    .summary = "Describe a scene, mesh, checkpoint or frame",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_info,
};
