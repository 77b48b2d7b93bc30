/* Scenes of runs that go on; see run_scene.h. */
#include "run/run_scene.h"
#include "run/run_folder.h"
#include "scene/mesh.h"
#include "scene/yaml.h"
#include <string.h>

static const char set_mark[] = "# set: ";

static void write_sets(const spate_scene *scene, file_writer *w) {
    for (int i = 0; i < scene->set_count; i++)
        if (!strpbrk(scene->sets[i], "\r\n")) file_print(w, "%s%s\n", set_mark, scene->sets[i]);
}

/* A scene names its meshes from where it lies itself, so they go with it. */
static spate_status copy_mesh(spate_context *ctx, const char *folder, const scene_file *given) {
    char to[PATH_SIZE], *bytes;
    size_t length;
    file_writer w;
    TRY(path_join(ctx, folder, given->name, to));
    TRY(file_read(ctx, given->path, MESH_BYTES, &bytes, &length));
    spate_status status;
    char *slash = strrchr(to, '/');
    if (slash) *slash = 0;
    TRY_OR_DONE(status, slash ? file_make_folder(ctx, to) : SPATE_OK);
    if (slash) *slash = '/';
    TRY_OR_DONE(status, file_create(ctx, to, false, &w));
    file_write(&w, bytes, length);
    status = file_close(&w);
done:
    give(ctx, bytes);
    return status;
}

/* Whether a name needs no care between quotes of YAML. */
static bool is_plain(const char *name) {
    for (const char *c = name; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\') return false;
    return true;
}

static spate_status write_scene(const spate_scene *scene, const char *folder, const char *name) {
    char path[PATH_SIZE];
    file_writer w;
    TRY(path_join(scene->ctx, folder, name, path));
    TRY(file_create(scene->ctx, path, false, &w));
    write_sets(scene, &w);
    if (!scene->named && is_plain(scene->name)) /* its file's, which is another now */
        file_print(&w, "name: \"%s\"\n", scene->name);
    if (scene->canonical) file_write(&w, scene->canonical, strlen(scene->canonical));
    TRY(file_close(&w));
    for (int i = 0; i < scene->mesh_file_count; i++)
        TRY(copy_mesh(scene->ctx, folder, &scene->mesh_files[i]));
    return SPATE_OK;
}

spate_status run_scene_write(const spate_scene *scene, const char *folder) {
    return write_scene(scene, folder, RUN_SCENE);
}

spate_status run_scene_write_added(const spate_scene *scene, const char *folder) {
    return write_scene(scene, folder, RUN_ADDED);
}

/* Overrides, the earlier ones first. */
typedef struct set_list {
    spate_context *ctx;
    const char **items;
    int64_t capacity, count, earlier;
} set_list;

/* The last one counts, so what is there already, word for word, goes to the end. */
static void take_out(set_list *list, const char *set) {
    for (int64_t i = 0; i < list->count; i++) {
        if (strcmp(list->items[i], set)) continue;
        list->count--;
        list->earlier -= i < list->earlier;
        memmove(list->items + i, list->items + i + 1,
                (size_t)(list->count - i) * sizeof *list->items);
        return;
    }
}

static spate_status add_set(set_list *list, const char *set) {
    take_out(list, set);
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

/* All overrides are kept with the scene, also those that were in its file already. */
static spate_status note_sets(spate_scene *s, const set_list *all) {
    s->sets = arena_take(&s->arena, (size_t)all->count + 1, sizeof *s->sets);
    if (!s->sets) return SPATE_OUT_OF_MEMORY;
    for (s->set_count = 0; s->set_count < all->count; s->set_count++) {
        const char *set = all->items[s->set_count];
        s->sets[s->set_count] = arena_text(&s->arena, set, strlen(set));
        if (!s->sets[s->set_count]) return SPATE_OUT_OF_MEMORY;
    }
    return SPATE_OK;
}

/* With the overrides from `first` on. */
static spate_status load(spate_context *ctx, const char *path, const set_list *all, int64_t first,
                         spate_scene **scene) {
    const char *const *sets = all->count ? all->items + first : NULL;
    TRY(spate_scene_load(ctx, path, sets, (int)(all->count - first), scene));
    const spate_status status = note_sets(*scene, all);
    if (!status) return SPATE_OK;
    spate_scene_free(*scene);
    *scene = NULL;
    return status;
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
    all.earlier = all.count;
    for (int i = 0; i < set_count; i++) TRY_OR_DONE(status, add_set(&all, sets[i]));
    /* The scene that the folder keeps has the earlier ones in it. */
    const bool own = !path || file_is_same(ctx, path, kept);
    status = load(ctx, own ? kept : path, &all, own ? all.earlier : 0, scene);
done:
    give(ctx, (void *)all.items);
    give(ctx, bytes);
    return status;
}
