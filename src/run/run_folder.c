/* The folder of a run; see run_folder.h. */
#include "run/run_folder.h"
#include "frames/frames.h"
#include <stdio.h>
#include <string.h>

/* ---- Names ---- */

spate_status run_folder_choose(spate_context *ctx, const char *scene_path, const char *given,
                               char out[PATH_SIZE]) {
    if (given && *given) return path_join(ctx, "", given, out);
    const char *name = scene_path && *scene_path ? scene_path : "run";
    const char *slash = strrchr(name, '/');
    if (slash && slash[1]) name = slash + 1;
    TRY(path_join(ctx, "", name, out));
    char *dot = strrchr(out, '.');
    if (dot && dot != out) *dot = 0;
    if (file_exists(ctx, out) && !file_is_folder(ctx, out))
        return fail(ctx, SPATE_BAD_INPUT,
                    "a file is in the way of the folder '%s'; choose another one with -o", out);
    return SPATE_OK;
}

/* "particles_0001.vtp": a stem, a number of four or more digits, an extension. */
static bool is_numbered(const char *name, size_t length, int64_t *frame) {
    static const char *const kinds[][2] = {
        {"particles_", ".vtp"}, {"particles_", ".ply"}, {"particles_", ".bgeo"},
        {"surface_", ".ply"},   {"surface_", ".obj"},   {"surface_", ".vtp"},
        {"mesh_", ".vtp"},      {"mesh_", ".ply"},      {"mesh_", ".obj"},
        {"volume_", ".vti"},    {"volume_", ".vdb"},
    };
    for (int k = 0; k < COUNT_OF(kinds); k++) {
        const size_t stem = strlen(kinds[k][0]), tail = strlen(kinds[k][1]);
        if (length < stem + 4 + tail || memcmp(name, kinds[k][0], stem) ||
            memcmp(name + length - tail, kinds[k][1], tail))
            continue;
        if (name[stem] >= '0' && name[stem] <= '9' &&
            text_to_int64(name + stem, length - stem - tail, frame))
            return true;
    }
    return false;
}

bool run_folder_owns(const char *name, int64_t *frame) {
    static const char *const whole[] = {RUN_CHECKPOINT, RUN_PREVIOUS,   RUN_REPORT, RUN_ADDED,
                                        RUN_SCENE,      RUN_STATISTICS, RUN_STEPS,  RUN_COLLECTION,
                                        RUN_VOLUMES,    RUN_SURFACES,   RUN_MESHES};
    static const char temporary[] = ".tmp"; /* a write that was cut short */
    size_t length = strlen(name);
    const size_t tail = strlen(temporary);
    int64_t number = -1;
    if (length > tail && !strcmp(name + length - tail, temporary)) length -= tail;
    bool ours = is_numbered(name, length, &number);
    for (int i = 0; i < COUNT_OF(whole); i++)
        ours |= strlen(whole[i]) == length && !memcmp(name, whole[i], length);
    if (frame) *frame = number;
    return ours;
}

/* ---- Before a run ---- */

static spate_status stop_at_any(const char *name, void *user) {
    (void)name;
    *(bool *)user = true;
    return SPATE_OK;
}

spate_status run_folder_check(spate_context *ctx, const char *folder, bool force) {
    if (!file_exists(ctx, folder)) return SPATE_OK;
    if (!file_is_folder(ctx, folder))
        return fail(ctx, SPATE_BAD_INPUT, "'%s' is a file; choose a folder for the run with -o",
                    folder);
    bool any = false;
    TRY(file_list(ctx, folder, stop_at_any, &any));
    if (any && !force)
        return fail(ctx, SPATE_BAD_INPUT,
                    "the folder '%s' is not empty; go on with the run in it (--resume), replace it "
                    "(--force) or choose another folder (-o)",
                    folder);
    return SPATE_OK;
}

spate_status run_folder_check_lock(spate_context *ctx, const char *folder, int lock) {
    if (file_is_locked_folder(folder, lock)) return SPATE_OK;
    return fail(ctx, SPATE_IO_ERROR,
                "the folder '%s' was renamed, removed or replaced during the run; put it back and "
                "go on with --resume",
                folder);
}

typedef struct clearing {
    spate_context *ctx;
    const char *folder;
    int64_t frame;
} clearing;

static spate_status clear_one(const char *name, void *user) {
    const clearing *c = user;
    int64_t frame;
    char path[PATH_SIZE];
    if (!run_folder_owns(name, &frame)) return SPATE_OK;
    const size_t length = strlen(name);
    const bool temporary = length > 4 && !strcmp(name + length - 4, ".tmp");
    if (c->frame >= 0 && !temporary && frame <= c->frame) return SPATE_OK;
    TRY(path_join(c->ctx, c->folder, name, path));
    return file_remove(c->ctx, path);
}

spate_status run_folder_clear(spate_context *ctx, const char *folder, int64_t frame) {
    clearing c = {ctx, folder, frame};
    return file_list(ctx, folder, clear_one, &c);
}

/* ---- Back to a checkpoint ---- */

/* Writes the first `length` bytes of a file in its place, when it is longer. */
static spate_status cut_file(spate_context *ctx, const char *path, const char *bytes, size_t length,
                             size_t old_length) {
    if (length == old_length) return SPATE_OK;
    file_writer w;
    TRY(file_create(ctx, path, false, &w));
    file_write(&w, bytes, length);
    return file_close(&w);
}

/* The length of the whole lines at the start of `bytes` (from `at`) whose leading number, after
 * `skip` bytes, grows and stays at or below `last`. */
static size_t lines_up_to(const char *bytes, size_t length, size_t at, size_t skip, int64_t last,
                          int64_t *lines) {
    int64_t before = -1;
    *lines = 0;
    while (at < length) {
        const char *end = memchr(bytes + at, '\n', length - at);
        if (!end) break;
        const char *cursor = bytes + at + skip;
        int64_t number;
        if (cursor >= end || !text_scan_int64(&cursor, end, &number)) break;
        if (number <= before || number > last) break;
        before = number;
        at = (size_t)(end - bytes) + 1;
        ++*lines;
    }
    return at;
}

spate_status run_folder_trim_statistics(spate_context *ctx, const char *folder, const char *header,
                                        int64_t frame, int64_t *rows) {
    char path[PATH_SIZE], *bytes = NULL;
    size_t length = 0;
    const size_t head = strlen(header);
    *rows = 0;
    TRY(path_join(ctx, folder, RUN_STATISTICS, path));
    if (file_exists(ctx, path)) TRY(file_read(ctx, path, SIZE_MAX / 2, &bytes, &length));
    spate_status status = SPATE_OK;
    if (length >= head && !memcmp(bytes, header, head))
        status =
            cut_file(ctx, path, bytes, lines_up_to(bytes, length, head, 0, frame, rows), length);
    else if (length && memchr(bytes, '\n', length))
        status =
            fail(ctx, SPATE_BAD_INPUT,
                 "%s: its columns are not those of this scene and build (have probes changed?); "
                 "start the run again with --force or in another folder (-o)",
                 path);
    else
        status = cut_file(ctx, path, header, head, SIZE_MAX);
    give(ctx, bytes);
    return status;
}

spate_status run_folder_trim_steps(spate_context *ctx, const char *folder, int64_t step) {
    char path[PATH_SIZE], *bytes;
    size_t length;
    int64_t lines;
    TRY(path_join(ctx, folder, RUN_STEPS, path));
    if (!file_exists(ctx, path)) return SPATE_OK;
    TRY(file_read(ctx, path, SIZE_MAX / 2, &bytes, &length));
    const size_t keep = lines_up_to(bytes, length, 0, strlen("{\"step\":"), step, &lines);
    spate_status status = cut_file(ctx, path, bytes, keep, length);
    give(ctx, bytes);
    return status;
}

/* What a collection lists. */
static void listed_name(frame_kind kind, int64_t number, char out[FRAME_NAME_SIZE]) {
    switch (kind) {
    case FRAMES_OF_PARTICLES: frame_name(out, number, "vtp"); break;
    case FRAMES_OF_MESHES: mesh_name(out, number, "vtp"); break;
    case FRAMES_OF_SURFACES: surface_name(out, number, "vtp"); break;
    case FRAMES_OF_VOLUMES: volume_name(out, number); break;
    }
}

spate_status run_folder_list_frames(const spate_scene *scene, const char *folder, frame_kind kind,
                                    int64_t frame, double last_time, text *lines) {
    char name[FRAME_NAME_SIZE], path[PATH_SIZE];
    for (int64_t i = 0; i <= frame; i++) {
        listed_name(kind, i, name);
        TRY(path_join(scene->ctx, folder, name, path));
        if (!file_exists(scene->ctx, path)) continue;
        double time = (double)i / scene->fps;
        pvd_add(lines, time < last_time ? time : last_time, name);
    }
    return lines->failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
}

/* ---- Of several runs ---- */

spate_status spate_compare_folder(const spate_scene *scene, const char *given, bool reuse,
                                  char *folder, size_t size) {
    char path[PATH_SIZE];
    TRY(run_folder_choose(scene->ctx, scene->path, given, path));
    TRY(run_folder_check(scene->ctx, path, reuse));
    if (strlen(path) >= size)
        return fail(scene->ctx, SPATE_BAD_INPUT, "%.200s...: the path is too long", path);
    memcpy(folder, path, strlen(path) + 1);
    return SPATE_OK;
}
