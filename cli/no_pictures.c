/* spate render in a build without pictures (-DSPATE_PICTURES=OFF). */
#include "options.h"
#include <stdio.h>

static int refuse_render(const command *self, int argc, char **argv) {
    (void)self, (void)argc, (void)argv;
    fputs("spate render: this build has no pictures; build Spate with -DSPATE_PICTURES=ON, which "
          "needs libpng\n",
          stderr);
    return SPATE_BAD_INPUT;
}

const command command_render = {
    .name = "render",
    .synopsis = "DIR",
    .summary = "Pictures and films of a run: not in this build",
    .details =
        "This build has no pictures; build Spate with -DSPATE_PICTURES=ON, which needs libpng.",
    .arguments_min = 1,
    .arguments_max = 1,
    .run = refuse_render,
};
