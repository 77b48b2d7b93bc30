/* 2D frames: the picture of a 2D frame: liquid as an area, other particles as discs, or smoke;
 * colliders, walls, scale and colour bar. */
#ifndef SPATE_PICTURES_FRAME_2D_H
#define SPATE_PICTURES_FRAME_2D_H

#include "pictures/colouring.h"

/* Where the domain is in the picture: pixel = (x - origin) * scale + corner, y turned over. */
typedef struct frame_2d_map {
    double scale, left, bottom;
} frame_2d_map;

/* The part of the plane that is shown at a time: the camera's, or the whole domain. */
typedef struct frame_2d_view {
    double min[2], max[2];
} frame_2d_view;

frame_2d_view frame_2d_shown(const spate_scene *scene, double time);
frame_2d_map frame_2d_fit(const colouring *s, const frame_2d_view *shown, const picture *p);
spate_status frame_2d_draw(const colouring *s, const snapshot *frame, const char *file, double time,
                           picture *out);

#endif
