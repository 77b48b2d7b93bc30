/* Looks for shipped scenes in $SPATE_SCENES, then beside the command: installed, or in a build. */
#include "scenes.h"
#include "options.h"
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_folder(const char *path) {
    struct stat s;
    return !stat(path, &s) && S_ISDIR(s.st_mode);
}

/* out = folder of the running command + "/" + tail; false when that is no folder. */
static bool beside_command(const char *tail, char out[SCENE_PATH_SIZE]) {
    char self[SCENE_PATH_SIZE];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return false;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = 0;
    char joined[SCENE_PATH_SIZE + 64];
    snprintf(joined, sizeof joined, "%s/%s", self, tail);
    char *real = realpath(joined, NULL);
    bool found = real && strlen(real) < SCENE_PATH_SIZE && is_folder(real);
    if (found) strcpy(out, real);
    free(real);
    return found;
}

static bool find_folder(char out[SCENE_PATH_SIZE]) {
    const char *given = getenv("SPATE_SCENES");
    if (given && *given) {
        snprintf(out, SCENE_PATH_SIZE, "%s", given);
        return is_folder(out);
    }
    if (beside_command("../share/spate/scenes", out)) return true;
    if (beside_command("../../scenes", out)) return true;
    snprintf(out, SCENE_PATH_SIZE, "share/spate/scenes");
    return false;
}

/* The value of a top-level "key: value" line, without quotes and comment. */
static bool top_level_value(const char *line, const char *key, char *out, size_t size) {
    size_t length = strlen(key);
    if (strncmp(line, key, length) || line[length] != ':') return false;
    const char *from = line + length + 1 + strspn(line + length + 1, " \t\"'");
    size_t end = strcspn(from, "#\r\n\"'");
    while (end && (from[end - 1] == ' ' || from[end - 1] == '\t')) end--;
    snprintf(out, size, "%.*s", (int)end, from);
    return true;
}

/* Dimension and title without reading the whole scene: its first comment, else its name. */
static void read_head(shipped_scene *scene) {
    FILE *f = fopen(scene->path, "r");
    if (!f) return;
    char line[512], value[256], name[256] = "";
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#' && !scene->title[0]) {
            const char *text = line + strspn(line, "# \t");
            snprintf(scene->title, sizeof scene->title, "%.*s", (int)strcspn(text, "\r\n"), text);
        } else if (top_level_value(line, "dimension", value, sizeof value)) {
            scene->dimension = atoi(value);
        } else if (!name[0]) {
            top_level_value(line, "name", name, sizeof name);
        }
    }
    fclose(f);
    if (!scene->title[0]) snprintf(scene->title, sizeof scene->title, "%s", name);
}

static int visible_names(const struct dirent *e) { return e->d_name[0] != '.'; }

/* Sets name and path of a scene file; false for anything else in the folder. */
static bool scene_file(const char *root, const char *group, const char *file,
                       shipped_scene *scene) {
    size_t length = strlen(file);
    if (length <= 5 || strcmp(file + length - 5, ".yaml")) return false;
    *scene = (shipped_scene){.dimension = 3};
    bool gallery = !strcmp(group, "gallery");
    int used = snprintf(scene->path, sizeof scene->path, "%s/%s/%s", root, group, file);
    int named = snprintf(scene->name, sizeof scene->name, "%s%s%.*s", gallery ? "" : group,
                         gallery ? "" : "/", (int)length - 5, file);
    return used < (int)sizeof scene->path && named < (int)sizeof scene->name;
}

static bool visit_group(const char *root, const char *group,
                        bool (*visit)(const shipped_scene *, void *), void *user) {
    char folder[SCENE_PATH_SIZE];
    struct dirent **files;
    if (snprintf(folder, sizeof folder, "%s/%s", root, group) >= (int)sizeof folder) return true;
    int count = is_folder(folder) ? scandir(folder, &files, visible_names, alphasort) : -1;
    bool go_on = true;
    for (int i = 0; i < count; i++) {
        shipped_scene scene;
        if (go_on && scene_file(root, group, files[i]->d_name, &scene)) {
            read_head(&scene);
            go_on = visit(&scene, user);
        }
        free(files[i]);
    }
    if (count >= 0) free(files);
    return go_on;
}

bool scenes_each(bool (*visit)(const shipped_scene *scene, void *user), void *user,
                 char where[SCENE_PATH_SIZE]) {
    struct dirent **groups;
    if (!find_folder(where)) return false;
    int count = scandir(where, &groups, visible_names, alphasort);
    bool go_on = true;
    for (int i = 0; i < count; i++) {
        if (go_on) go_on = visit_group(where, groups[i]->d_name, visit, user);
        free(groups[i]);
    }
    if (count >= 0) free(groups);
    return count >= 0;
}

typedef struct name_search {
    const char *word;
    char *out;
    bool found;
} name_search;

static bool match_name(const shipped_scene *scene, void *user) {
    name_search *search = user;
    const char *word = search->word;
    /* "gallery/splash" is another way to say "splash". */
    if (!strncmp(word, "gallery/", 8)) word += 8;
    /* The group may be left out, "fig08_hourglass" is "integrators/fig08_hourglass", unless a scene
     * has just this name. */
    const char *slash = strrchr(scene->name, '/');
    const bool exact = !strcmp(scene->name, word);
    if (!exact && (search->found || !slash || strcmp(slash + 1, word))) return true;
    snprintf(search->out, SCENE_PATH_SIZE, "%s", scene->path);
    search->found = true;
    return !exact;
}

const char *scene_path(const char *word, char out[SCENE_PATH_SIZE]) {
    char where[SCENE_PATH_SIZE];
    name_search search = {.word = word, .out = out};
    if (!access(word, F_OK) && !is_folder(word)) return word;
    scenes_each(match_name, &search, where);
    return search.found ? out : word;
}

bool is_run_folder(const char *path) {
    char kept[SCENE_PATH_SIZE];
    return is_folder(path) &&
           snprintf(kept, sizeof kept, "%s/run.scene.yaml", path) < (int)sizeof kept &&
           !access(kept, F_OK);
}

typedef struct near_search {
    const char *word;
    char nearest[256]; /* "" for none */
} near_search;

/* Keeps the nearer of the best name so far and this one, with its group and without. */
static bool match_near_name(const shipped_scene *scene, void *user) {
    near_search *search = user;
    const char *slash = strrchr(scene->name, '/');
    const char *words[3] = {search->nearest, scene->name, slash ? slash + 1 : scene->name};
    const int first = search->nearest[0] ? 0 : 1;
    const char *near = nearest_word(search->word, words + first, 3 - first);
    if (near && near != search->nearest)
        snprintf(search->nearest, sizeof search->nearest, "%s", near);
    return true;
}

/* The file that lies here with an extension that the word lacks. */
static bool find_own(const char *word, char out[SCENE_PATH_SIZE]) {
    return snprintf(out, SCENE_PATH_SIZE, "%s.yaml", word) < SCENE_PATH_SIZE &&
           !access(out, F_OK) && !is_folder(out);
}

static void say_no_scene(const char *word) {
    char where[SCENE_PATH_SIZE];
    near_search search = {.word = word};
    if (is_run_folder(word)) {
        fprintf(
            stderr,
            "spate: %s is the folder of a run; go on with it by 'spate run %s --resume', or give "
            "its scene, %s/run.scene.yaml\n",
            word, word, word);
        return;
    }
    if (is_folder(word)) {
        fprintf(stderr, "spate: %s is a folder; give a scene's file\n", word);
        return;
    }
    scenes_each(match_near_name, &search, where);
    fprintf(stderr,
            "spate: %s: there is no such file, and no scene that ships is called so; %s%s%s'spate "
            "list' tells those that do\n",
            word, search.nearest[0] ? "did you mean '" : "", search.nearest,
            search.nearest[0] ? "'? " : "");
}

const char *scene_wanted(const char *word, bool quiet, char out[SCENE_PATH_SIZE]) {
    char shipped[SCENE_PATH_SIZE];
    if (!access(word, F_OK) && !is_folder(word)) return word;
    const bool ships = scene_path(word, shipped) != word;
    if (find_own(word, out)) {
        if (!quiet)
            fprintf(stderr, "spate: '%s' is %s here%s%s\n", word, out,
                    ships ? ", which comes before the shipped " : "", ships ? shipped : "");
        return out;
    }
    if (!ships) {
        say_no_scene(word);
        return NULL;
    }
    if (!quiet) fprintf(stderr, "spate: '%s' is the shipped scene %s\n", word, shipped);
    snprintf(out, SCENE_PATH_SIZE, "%s", shipped);
    return out;
}
