/* spate list: the scenes that ship. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"
#include <stddef.h>

typedef struct list_settings {
    bool json;
    int count; /* of scenes so far */
} list_settings;

static const option list_options[] = {
    {.name = "json",
     .type = OPTION_FLAG,
     .offset = offsetof(list_settings, json),
     .help = "One JSON object on standard output"},
};

static bool print_scene(const shipped_scene *scene, void *user) {
    list_settings *s = user;
    if (s->json) {
        json_text(s->count ? ",\n  {\"name\": " : "{\"scenes\": [\n  {\"name\": ", scene->name);
        printf(", \"dimension\": %d", scene->dimension);
        json_text(", \"title\": ", scene->title);
        json_text(", \"file\": ", scene->path);
        putchar('}');
    } else {
        printf("%-27s %dD  %s\n", scene->name, scene->dimension, scene->title);
    }
    s->count++;
    return true;
}

static int run_list(const command *self, int argc, char **argv) {
    arguments args;
    int exit_code;
    list_settings settings = {0};
    char where[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    if (!scenes_each(print_scene, &settings, where) || !settings.count) {
        fprintf(stderr,
                "spate list: no scenes in %s; set SPATE_SCENES to the folder that has them\n",
                where);
        return SPATE_IO_ERROR;
    }
    if (settings.json) puts("\n]}");
    return SPATE_OK;
}

const command command_list = {
    .name = "list",
    .synopsis = "",
    .summary = "Scenes that ship, one line each",
    .details = "`spate run NAME` runs one of them. They are looked for in $SPATE_SCENES, in the\n"
               "installation's share folder and in the source tree around the command.",
    .options = list_options,
    .option_count = COUNT_OF(list_options),
    .run = run_list,
};
