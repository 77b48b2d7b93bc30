/* Flat: the picture of a 2D frame: liquid as an area, other particles as discs, or smoke; colliders, walls, scale and colour bar. */
#ifndef SPATE_PICTURES_FLAT_H
#define SPATE_PICTURES_FLAT_H

#include "pictures/shades.h"

/* Where the domain is in the picture: pixel = (x - origin) * scale + corner, y turned over. */
typedef struct flat_map {
    double scale, left, bottom;
} flat_map;

/* The part of the plane that is shown at a time: the camera's, or the whole domain. */
typedef struct flat_view {
    double min[2], max[2];
} flat_view;

flat_view flat_shown(const spate_scene *scene, double time);
flat_map flat_fit(const shades *s, const flat_view *shown, const picture *p);
spate_status flat_picture(const shades *s, const snapshot *frame, const char *file, double time,
                          picture *out);

#endif
