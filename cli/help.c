/* spate help, spate docs. */
#include "options.h"
#include "terminal.h"
#include <string.h>

static int run_help(const command *self, int argc, char **argv) {
    arguments args;
    int exit_code;
    char nothing;
    if (!options_read(self, argc, argv, &nothing, &args, &exit_code)) return exit_code;
    if (!args.count) {
        print_overview();
        return SPATE_OK;
    }
    const char *names[16];
    int count = 0;
    for (const command *const *c = commands; *c; c++) {
        names[count++] = (*c)->name;
        if (strcmp((*c)->name, args.items[0])) continue;
        print_command_help(*c);
        return SPATE_OK;
    }
    const char *near = nearest_word(args.items[0], names, count);
    fprintf(stderr, "spate help: there is no command '%s'%s%s%s\n", args.items[0],
            near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return SPATE_BAD_INPUT;
}

const command command_help = {
    .name = "help",
    .synopsis = "[COMMAND]",
    .summary = "Say what the commands and their options do",
    .arguments_max = 1,
    .run = run_help,
};

static int run_docs(const command *self, int argc, char **argv) {
    arguments args;
    int exit_code;
    char nothing;
    if (!options_read(self, argc, argv, &nothing, &args, &exit_code)) return exit_code;
    spate_context *ctx;
    spate_status status = session_open(1, false, &ctx);
    if (status) return status;
    status = spate_scene_reference(ctx, write_to_file, stdout);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

const command command_docs = {
    .name = "docs",
    .synopsis = "",
    .summary = "Print the reference of every scene field (Markdown)",
    .run = run_docs,
};
