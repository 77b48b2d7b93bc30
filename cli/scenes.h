/* The scenes that ship: where they are, what they are called. */
#ifndef SPATE_CLI_SCENES_H
#define SPATE_CLI_SCENES_H

#include <stdbool.h>

enum { SCENE_PATH_SIZE = 4096 };

typedef struct shipped_scene {
    char name[256]; /* "splash" in the gallery, "folder/name" elsewhere */
    char path[SCENE_PATH_SIZE];
    int dimension;
    char title[256];
} shipped_scene;

/* Calls visit for every scene that ships, by name; stops when it returns false. Returns whether any
 * folder of scenes was found; `where` gets the folder (or what was looked for). */
bool scenes_each(bool (*visit)(const shipped_scene *scene, void *user), void *user,
                 char where[SCENE_PATH_SIZE]);

/* The file that `word` means: itself when there is such a file, or a shipped scene's name. */
const char *scene_path(const char *word, char out[SCENE_PATH_SIZE]);
/* The same for a scene that is to be read, where "drop" also means a drop.yaml that is there and
 * comes before a shipped scene. Says which file is meant where it is not `word` itself, unless
 * `quiet`. Where there is none, says so and returns NULL: bad input. */
const char *scene_wanted(const char *word, bool quiet, char out[SCENE_PATH_SIZE]);

/* Whether this is the folder of a run, with the scene that it keeps. */
bool is_run_folder(const char *path);

#endif
