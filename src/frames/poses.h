/*
 * Where driven colliders are at the moment of a frame: a scene does not know it, and pictures must.
 * Of each, in the order of the scene, the position of its pivot and its rotation as a quaternion x,
 * y, z, w, along the axes of the scene. And how many colliders there are, where a program or events
 * may add some: those of a scene with all that was added come in the order they were added in.
 */
#ifndef SPATE_FRAMES_POSES_H
#define SPATE_FRAMES_POSES_H

#include "solver/solver.h"

enum { POSE_NUMBERS = 7 };

typedef struct frame_poses {
    double (*values)[POSE_NUMBERS];
    int count;
    bool counted; /* `colliders` is told */
    int colliders;
} frame_poses;

spate_status frame_poses_take(const spate_simulation *sim, frame_poses *out);

#endif
