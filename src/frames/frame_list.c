/* The frames in a folder, by the names of their files; see frame_list.h. */
#include "frames/frame_list.h"
#include "core/text.h"
#include "frames/axes.h"
#include "frames/surface_read.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The number in the name of a frame of this kind, else -1. */
static int64_t frame_number(frame_kind kind, const char *name) {
    static const char *const heads[] = {"particles_", "surface_", "volume_", "mesh_"};
    static const char *const tails[][4] = {{".vtp"}, {".ply", ".obj", ".vtp"}, {".vti"}, {".vtp"}};
    const size_t length = strlen(name), before = strlen(heads[kind]);
    for (const char *const *tail = tails[kind]; *tail; tail++) {
        const size_t after = strlen(*tail);
        int64_t number;
        if (length > before + after && !memcmp(name, heads[kind], before) &&
            !strcmp(name + length - after, *tail) &&
            text_to_int64(name + before, length - before - after, &number))
            return number;
    }
    return -1;
}

static spate_status notice_frame(const char *name, void *user) {
    frame_list *list = user;
    const int64_t number = frame_number(list->kind, name);
    if (number < 0) return SPATE_OK;
    /* Names are sorted as text: past 9999 the numbers are not. */
    int64_t at = list->count;
    while (at > 0 && list->numbers[at - 1] > number) at--;
    if (at > 0 && list->numbers[at - 1] == number) return SPATE_OK; /* in another format */
    TRY(GROW(list->ctx, list->numbers, list->capacity, list->count + 1));
    memmove(list->numbers + at + 1, list->numbers + at,
            (size_t)(list->count++ - at) * sizeof *list->numbers);
    list->numbers[at] = number;
    return SPATE_OK;
}

spate_status frame_list_read(const char *folder, frame_list *list) {
    for (int kind = 0; kind < FRAME_KINDS && !list->count; kind++) {
        list->kind = (frame_kind)kind;
        TRY(file_list(list->ctx, folder, notice_frame, list));
    }
    return SPATE_OK;
}

/* What is drawn is the mesh, so that the frame itself stays empty. */
static spate_status find_surface(const frame_list *list, const char *folder, int64_t number,
                                 char path[PATH_SIZE], snapshot *out) {
    *out = (snapshot){.ctx = list->ctx, .time = NAN, .collider_count = -1};
    if (surface_find(list->ctx, folder, number, path)) return SPATE_OK;
    return fail(list->ctx, SPATE_IO_ERROR, "%s: the surface of frame %lld is gone", folder,
                (long long)number);
}

spate_status frame_list_check_folder(spate_context *ctx, const char *folder) {
    if (file_is_folder(ctx, folder)) return SPATE_OK;
    return fail(ctx, SPATE_BAD_INPUT,
                file_exists(ctx, folder) ? "%s is a file; give the folder of a run"
                                         : "%s: no such folder; give the folder of a run",
                folder);
}

spate_status frame_list_choose(const frame_list *list, const char *folder, int first, int last,
                               int64_t *begin, int64_t *count) {
    char end[32] = "the end";
    int64_t i = 0;
    while (i < list->count && list->numbers[i] < first) i++;
    *begin = i;
    while (i < list->count && (last < 0 || list->numbers[i] <= last)) i++;
    *count = i - *begin;
    if (*count) return SPATE_OK;
    if (last >= 0) snprintf(end, sizeof end, "%d", last);
    return fail(list->ctx, SPATE_BAD_INPUT, "%s: no frames from %d to %s; it has %lld to %lld",
                folder, first, end, (long long)list->numbers[0],
                (long long)list->numbers[list->count - 1]);
}

static spate_status load_frame(const frame_list *list, const char *folder, int64_t index,
                               char path[PATH_SIZE], snapshot *out) {
    char name[FRAME_NAME_SIZE];
    const bool volumes = list->kind == FRAMES_OF_VOLUMES;
    if (list->kind == FRAMES_OF_SURFACES)
        return find_surface(list, folder, list->numbers[index], path, out);
    if (volumes)
        volume_name(name, list->numbers[index]);
    else if (list->kind == FRAMES_OF_MESHES)
        mesh_name(name, list->numbers[index], "vtp");
    else
        frame_name(name, list->numbers[index], "vtp");
    TRY(path_join(list->ctx, folder, name, path));
    TRY(snapshot_load(list->ctx, path, out));
    spate_status status = SPATE_OK;
    if (out->on_grid != volumes) {
        status =
            fail(list->ctx, SPATE_BAD_INPUT, "%s: it holds %s, which is not what its name says",
                 path, volumes ? "particles" : "a grid");
    } else if (list->scene) {
        const file_axes to = axes_of_files(list->scene), back = axes_back(&to);
        status = axes_turn_snapshot(&back, out);
    }
    if (status != SPATE_OK) snapshot_free(out);
    return status;
}

spate_status frame_list_load(const frame_list *list, const char *folder, int64_t index,
                             char path[PATH_SIZE], snapshot *out) {
    TRY(load_frame(list, folder, index, path, out));
    if (isnan(out->time) && list->scene)
        out->time = (double)list->numbers[index] / list->scene->fps;
    return SPATE_OK;
}
