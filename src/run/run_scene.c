/* Scenes of runs that go on; see run_scene.h. */
#include "run/run_scene.h"
#include "run/run_folder.h"
#include "scene/yaml.h"
#include <string.h>

static const char set_mark[] = "# set: ";

void run_scene_write_sets(const spate_scene *scene, file_writer *w) {
    for (int i = 0; i < scene->set_count; i++)
        if (!strpbrk(scene->sets[i], "\r\n")) file_print(w, "%s%s\n", set_mark, scene->sets[i]);
}

/* Overrides, the earlier ones first. */
typedef struct set_list {
    spate_context *ctx;
    const char **items;
    int64_t capacity, count;
} set_list;

/* What is there already, word for word, stays where it is. */
static spate_status add_set(set_list *list, const char *set) {
    for (int64_t i = 0; i < list->count; i++)
        if (!strcmp(list->items[i], set)) return SPATE_OK;
    TRY(GROW(list->ctx, list->items, list->capacity, list->count + 1));
    list->items[list->count++] = set;
    return SPATE_OK;
}

/* Those at the head of a scene; its bytes are cut into lines. */
static spate_status read_sets(set_list *list, char *bytes) {
    for (char *line = bytes, *end; *line == '#'; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) return SPATE_OK;
        *end = 0;
        if (!strncmp(line, set_mark, sizeof set_mark - 1))
            TRY(add_set(list, line + sizeof set_mark - 1));
    }
    return SPATE_OK;
}

spate_status spate_run_scene(spate_context *ctx, const char *folder, const char *path,
                             const char *const *sets, int set_count, spate_scene **scene) {
    char where[PATH_SIZE], kept[PATH_SIZE], *bytes = NULL;
    size_t length;
    spate_status status;
    set_list all = {.ctx = ctx};
    *scene = NULL;
    TRY(run_folder_choose(ctx, path, folder, where));
    TRY(path_join(ctx, where, RUN_SCENE, kept));
    if (file_exists(ctx, kept)) {
        TRY_OR_DONE(status, file_read(ctx, kept, YAML_BYTES, &bytes, &length));
        TRY_OR_DONE(status, read_sets(&all, bytes));
    }
    for (int i = 0; i < set_count; i++) TRY_OR_DONE(status, add_set(&all, sets[i]));
    status = spate_scene_load(ctx, path ? path : kept, all.items, (int)all.count, scene);
done:
    give(ctx, (void *)all.items);
    give(ctx, bytes);
    return status;
}
