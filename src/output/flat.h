/* Flat: the picture of a 2D frame: liquid as an area, other particles as discs, or smoke; colliders, walls, scale and colour bar. */
#ifndef SPATE_OUTPUT_FLAT_H
#define SPATE_OUTPUT_FLAT_H

#include "output/shades.h"

/* Where the domain is in the picture: pixel = (x - origin) * scale + corner, y turned over. */
typedef struct flat_map {
    double scale, left, bottom;
} flat_map;

flat_map flat_fit(const shades *s, const picture *p);
spate_status flat_picture(const shades *s, const snapshot *frame, const char *file, double time,
                          picture *out);

#endif
