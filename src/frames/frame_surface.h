/* Surfaces made from frames of particles that were read back. */
#ifndef SPATE_FRAMES_FRAME_SURFACE_H
#define SPATE_FRAMES_FRAME_SURFACE_H

#include "frames/surface_frame.h"
#include "frames/vtp_read.h"

/* The mesh around the liquids of a frame, whose axes are the scene's; `settings` but for the
 * particles' spacing, which is the frame's. A frame without pscale has two particles a cell along
 * each axis. */
spate_status surface_of_snapshot(const spate_scene *scene, const snapshot *frame,
                                 surface_settings settings, surface_mesh *out);

#endif
