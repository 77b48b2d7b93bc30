/*
 * Camera: from where the pictures of a scene are taken. It stands at `from` and looks at `to`; in
 * 2D these are opposite corners of the part that is shown. With keys each of the two, and the angle
 * of view, is a motion of its own (motion.h).
 */
#ifndef SPATE_SCENE_CAMERA_H
#define SPATE_SCENE_CAMERA_H

#include "scene/motion.h"

typedef struct camera {
    bool given; /* from and to are; else the whole domain is seen */
    double from[3], to[3];
    double fov;             /* degrees, vertical; not above 0 (or NAN): the default */
    double orbit;           /* degrees about the vertical through `to`, in orbit_time seconds */
    double orbit_time;      /* 0: it does not turn */
    motion path, aim, lens; /* translate: from, to and (fov, 0, 0); without keys they rest */
} camera;

/* A camera at one time. */
typedef struct camera_pose {
    bool given;
    double from[3], to[3];
    double fov;   /* degrees */
    double orbit; /* radians to turn `from` about the vertical through `to` */
    bool orbits;  /* it does so in the course of time */
} camera_pose;

camera_pose camera_at(const camera *c, double t);

#endif
