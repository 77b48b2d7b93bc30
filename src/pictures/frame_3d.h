/* The picture of a 3D frame by ray tracing: particles and the surface around them, or smoke. */
#ifndef SPATE_PICTURES_FRAME_3D_H
#define SPATE_PICTURES_FRAME_3D_H

#include "pictures/colouring.h"

/* `file` is that of the frame, for messages; `samples` are rays a pixel. */
spate_status frame_3d_particles(const colouring *s, const snapshot *frame, const char *file,
                                double time, int samples, picture *out);
spate_status frame_3d_smoke(const colouring *s, const snapshot *frame, const char *file,
                            double time, int samples, picture *out);

#endif
