/* Render: a run's folder made into pictures, a film or a plot. spate_render() is the entry. */
#ifndef SPATE_OUTPUT_RENDER_H
#define SPATE_OUTPUT_RENDER_H

#include "output/shades.h"

/* Draws one frame, 2D or 3D as its scene is; `file` is for messages. */
spate_status render_frame(const shades *s, const snapshot *frame, const char *file, double time,
                          int samples, picture *out);

#endif
