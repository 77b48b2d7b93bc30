/* Render: a run's folder made into pictures, a film or a plot. spate_render() is the entry. */
#ifndef SPATE_PICTURES_RENDER_H
#define SPATE_PICTURES_RENDER_H

#include "core/file.h"
#include "pictures/shades.h"

/* The frames in a run's folder: of particles, or where there are none the surfaces, or the volumes. */
typedef struct frame_list {
    spate_context *ctx;
    int64_t *numbers; /* ascending */
    int64_t count, capacity;
    frame_kind kind;
    const spate_scene
        *scene; /* whose axes the frames get when they are read; NULL: those of files */
} frame_list;

/* Adds what is there of particles_NNNN.vtp, surface_NNNN.* or volume_NNNN.vti; free `numbers` with
 * give(). */
spate_status render_list_frames(const char *folder, frame_list *list);
/* Reads the frame at an index of the list; `path` is its file, for messages. Of surfaces it has no
 * particles: what is drawn is the file. */
spate_status render_load_frame(const frame_list *list, const char *folder, int64_t index,
                               char path[PATH_SIZE], snapshot *out);
/* The scene as it ran, with the camera and the overrides that the options ask for; NULL: none. */
spate_status render_load_scene(spate_context *ctx, const char *folder,
                               const spate_render_options *options, spate_scene **out);

/* How its frames are to be coloured; NULL: by material, but what is everywhere the same, which is no
 * picture, by its speed. */
spate_status render_choose_shades(const spate_scene *scene, const char *colour, const char *folder,
                                  const frame_list *frames, shades *out);

/* Draws one frame, 2D or 3D as its scene is; `file` is for messages. */
spate_status render_frame(const shades *s, const snapshot *frame, const char *file, double time,
                          int samples, picture *out);

#endif
