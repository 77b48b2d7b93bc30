/* Render: a run's folder made into pictures, a film or a plot. spate_render() is the entry. */
#ifndef SPATE_PICTURES_RENDER_H
#define SPATE_PICTURES_RENDER_H

#include "frames/frame_list.h"
#include "pictures/colouring.h"

/* The scene as it ran, with the camera and the overrides that the options ask for; NULL: none. */
spate_status render_load_scene(spate_context *ctx, const char *folder,
                               const spate_render_options *options, spate_scene **out);

/* How its frames are to be coloured; NULL: by material, but what is everywhere the same, which is
 * no picture, by its speed. */
spate_status render_choose_colouring(const spate_scene *scene, const char *colour,
                                     const char *folder, const frame_list *frames, colouring *out);

/* Draws one frame, 2D or 3D as its scene is; `file` is for messages. */
spate_status render_frame(const colouring *s, const snapshot *frame, const char *file, double time,
                          int samples, picture *out);

#endif
