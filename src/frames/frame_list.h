/* Frame list: which frames a run's folder holds, and reading them one by one. */
#ifndef SPATE_FRAMES_FRAME_LIST_H
#define SPATE_FRAMES_FRAME_LIST_H

#include "core/file.h"
#include "frames/frame_names.h"
#include "frames/vtp_read.h"
#include "scene/scene.h"

/* The frames in a run's folder: of particles, or where there are none the surfaces, the
 * volumes, or the meshes. */
typedef struct frame_list {
    spate_context *ctx;
    int64_t *numbers; /* ascending */
    int64_t count, capacity;
    frame_kind kind;
    const spate_scene
        *scene; /* whose axes the frames get when they are read; NULL: those of files */
} frame_list;

/* Adds what is there of particles_NNNN.vtp, surface_NNNN.*, volume_NNNN.vti or mesh_NNNN.vtp; free `numbers` with
 * give(). */
spate_status frame_list_read(const char *folder, frame_list *list);
/* Fails when there is no such folder. */
spate_status frame_list_check_folder(spate_context *ctx, const char *folder);
/* Those numbered first..last (-1: to the end): `count` of the list from `begin` on. None is an
 * error. */
spate_status frame_list_choose(const frame_list *list, const char *folder, int first, int last,
                               int64_t *begin, int64_t *count);
/* Reads the frame at an index of the list; `path` is its file, for messages. Of surfaces it has no
 * particles: what is drawn is the file. A frame that does not tell its time has that of its number,
 * if the list has a scene. */
spate_status frame_list_load(const frame_list *list, const char *folder, int64_t index,
                             char path[PATH_SIZE], snapshot *out);

#endif
