/* spate view in a build without civetweb. */
#include "options.h"
#include <stdio.h>
#include <string.h>

#define WHY                                                                                      \
    "this build has no viewer; install civetweb (Debian and Ubuntu: libcivetweb-dev) and build " \
    "Spate anew"

static int refuse_view(const command *self, int argc, char **argv) {
    if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h"))) {
        print_command_help(self);
        return SPATE_OK;
    }
    fputs("spate view: " WHY "\n", stderr);
    return SPATE_BAD_INPUT;
}

const command command_view = {
    .name = "view",
    .synopsis = "SCENE|DIR",
    .summary = "Live in the browser: not in this build",
    .details = WHY ".",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = refuse_view,
};
