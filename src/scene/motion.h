/*
 * Keyframed rigid motion of colliders and sources: translation and rotation about a pivot.
 * Keys that turn about one axis (or not at all) have their angle interpolated, so whole turns
 * count; between different axes the shortest rotation is taken. Smooth motion comes to rest at its
 * first and last key, unless it repeats.
 */
#ifndef SPATE_SCENE_MOTION_H
#define SPATE_SCENE_MOTION_H

#include "core/context.h"

typedef struct motion_key {
    double t;
    double translate[3];
    double axis[3]; /* unit; (0,0,1) in 2D */
    double angle;   /* radians; keeps whole turns: 0 to 720 degrees turns twice */
} motion_key;

typedef enum motion_interpolation { MOTION_LINEAR, MOTION_SMOOTH } motion_interpolation;

typedef struct motion {
    double pivot[3];
    motion_key *keys; /* ascending in t; before the first and after the last the pose is held */
    int key_count;    /* 0: at rest */
    motion_interpolation interpolation; /* smooth: Catmull-Rom */
    bool repeat;                        /* start again after the last key */
} motion;

/* Where a body that was drawn at rest is at a time: x = turn (x_rest - pivot) + pivot + move. */
typedef struct pose {
    double turn[3][3];
    double move[3];
    double pivot[3];
    double velocity[3]; /* of the pivot */
    double spin[3];     /* angular velocity */
} pose;

pose motion_pose(const motion *m, double t);
void pose_to_rest(const pose *p, const double x[3], double rest[3]);  /* world -> rest frame */
void pose_to_world(const pose *p, const double rest[3], double x[3]); /* rest frame -> world */
void pose_turn(const pose *p, const double rest_vector[3], double world_vector[3]);
/* Velocity of the body's point at world position x. */
void pose_velocity(const pose *p, const double x[3], double v[3]);
/* An upper bound of the speed of any point within `radius` of the pivot, over all time. */
double motion_max_speed(const motion *m, double radius);

#endif
