/*
 * Spate without a file system: the scene is text in memory, and what is written goes to a few
 * arrays through the hooks of spate_config. Steps a scene, saves a checkpoint, continues from it,
 * and prints the state hash, which is the same with and without the interruption.
 */
#include <spate/spate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char scene_text[] =
    "spate: 1\n"
    "dimension: 2\n"
    "domain: {size: [1, 1], dx: 0.05}\n"
    "solver: {type: mpm}\n"
    "duration: 1\n"
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}\n"
    "bodies: [{material: water, shape: {sphere: {center: [0.5, 0.7], radius: 0.1}}}]\n";

/* ---- A few files in memory ------------------------------------------------------------------- */

enum { FILES_MOST = 8, NAME_MOST = 256 };

typedef struct memory_file {
    char path[NAME_MOST]; /* "": none */
    char *bytes;
    size_t length;
} memory_file;

static memory_file *find(memory_file *files, const char *path) {
    for (int i = 0; i < FILES_MOST; i++)
        if (!strcmp(files[i].path, path)) return &files[i];
    return NULL;
}

static int64_t file_size(const char *path, void *user) {
    const memory_file *f = find(user, path);
    return f ? (int64_t)f->length : -1;
}

static bool file_read(const char *path, void *bytes, size_t length, void *user) {
    const memory_file *f = find(user, path);
    if (!f || f->length != length) return false;
    if (length) memcpy(bytes, f->bytes, length);
    return true;
}

static bool file_write(const char *path, const void *bytes, size_t length, bool append,
                       void *user) {
    memory_file *f = find(user, path);
    if (!f) f = find(user, "");
    if (!f || strlen(path) >= NAME_MOST) return false;
    const size_t kept = append ? f->length : 0;
    char *all = malloc(kept + length + 1);
    if (!all) return false;
    if (kept) memcpy(all, f->bytes, kept);
    if (length) memcpy(all + kept, bytes, length);
    free(f->bytes);
    *f = (memory_file){.bytes = all, .length = kept + length};
    strcpy(f->path, path);
    return true;
}

static bool file_remove(const char *path, void *user) {
    memory_file *f = find(user, path);
    if (!f) return false;
    free(f->bytes);
    *f = (memory_file){0};
    return true;
}

static bool file_list(const char *folder, void (*visit)(const char *name, void *visitor),
                      void *visitor, void *user) {
    const memory_file *files = user;
    const size_t length = strlen(folder);
    for (int i = 0; i < FILES_MOST; i++)
        if (!strncmp(files[i].path, folder, length) && files[i].path[length] == '/')
            visit(files[i].path + length + 1, visitor);
    return true;
}

/* ---- A simulation ---------------------------------------------------------------------------- */

static spate_status step_until(spate_simulation *sim, double end) {
    spate_status status = SPATE_OK;
    while (!status && spate_simulation_time(sim) < end) status = spate_simulation_step(sim, end);
    return status;
}

/* Half of the way, a checkpoint, and the rest of it twice: by who wrote it and by who reads it. */
static spate_status run(spate_scene *scene, uint64_t hashes[2]) {
    spate_simulation *sim = NULL, *again = NULL;
    spate_status status = spate_simulation_create(scene, &sim);
    if (!status) status = step_until(sim, 0.1);
    if (!status) status = spate_simulation_save(sim, "drop/checkpoint.spate");
    if (!status) status = spate_simulation_restore(scene, "drop/checkpoint.spate", &again);
    if (!status) status = step_until(sim, 0.2);
    if (!status) status = step_until(again, 0.2);
    if (!status) hashes[0] = spate_simulation_hash(sim), hashes[1] = spate_simulation_hash(again);
    spate_simulation_free(sim);
    spate_simulation_free(again);
    return status;
}

int main(void) {
    memory_file files[FILES_MOST] = {0};
    spate_config config = spate_default_config();
    config.files = (spate_files){file_size, file_read, file_write, file_remove, file_list, files};
    spate_context *ctx = NULL;
    spate_scene *scene = NULL;
    uint64_t hashes[2] = {0};
    if (spate_open(&config, &ctx)) return 1;
    spate_status status =
        spate_scene_parse(ctx, scene_text, strlen(scene_text), "drop", ".", NULL, 0, &scene);
    if (!status) status = run(scene, hashes);
    if (status)
        puts(spate_message(ctx));
    else
        printf("checkpoint of %lld bytes, state %016llx, continued %016llx\n",
               (long long)file_size("drop/checkpoint.spate", files), (unsigned long long)hashes[0],
               (unsigned long long)hashes[1]);
    for (int i = 0; i < FILES_MOST; i++) free(files[i].bytes);
    spate_scene_free(scene);
    spate_close(ctx);
    return status ? (int)status : hashes[0] != hashes[1];
}
