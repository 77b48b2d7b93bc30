/* spate list: the scenes that ship. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"

static bool print_scene(const shipped_scene *scene, void *user) {
    int *count = user;
    ++*count;
    printf("%-18s %dD  %s\n", scene->name, scene->dimension, scene->title);
    return true;
}

static int run_list(const command *self, int argc, char **argv) {
    arguments args;
    int exit_code, count = 0;
    char nothing, where[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &nothing, &args, &exit_code)) return exit_code;
    if (!scenes_each(print_scene, &count, where) || !count) {
        fprintf(stderr,
                "spate list: no scenes in %s; set SPATE_SCENES to the folder that has them\n",
                where);
        return SPATE_IO_ERROR;
    }
    return SPATE_OK;
}

const command command_list = {
    .name = "list",
    .synopsis = "",
    .summary = "Scenes that ship, one line each",
    .details = "`spate run NAME` runs one of them. They are looked for in $SPATE_SCENES, in the\n"
               "installation's share folder and in the source tree around the command.",
    .run = run_list,
};
