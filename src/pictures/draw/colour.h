/*
 * Colours. Inside pictures they are linear light, red green blue, 0 to 1.
 *
 * The colour map is a path through OKLab (Ottosson 2020), whose lightness grows evenly along it, so
 * equal steps of a quantity look equally large; it also reads in grey. Quantities of both signs
 * have a map of their own, from blue through white to red.
 */
#ifndef SPATE_PICTURES_DRAW_COLOUR_H
#define SPATE_PICTURES_DRAW_COLOUR_H

#include "core/fields.h"

typedef struct rgb {
    float r, g, b;
} rgb;

/* From the usual 0xRRGGBB of screens. */
rgb colour_from_hex(unsigned hex);
/* From the same as numbers, 0 to 1 each. */
rgb colour_from_screen(const double channels[3]);
/* A scene's, or another where it gives none. */
rgb colour_given(const field_color *c, rgb otherwise);
/* One channel, linear light to the screen's curve (0 to 1 both). */
float colour_to_screen(float linear);
/* OKLab to linear light; may leave 0..1 when there is no such colour. */
rgb colour_from_oklab(float lightness, float a, float b);
float colour_lightness(rgb c); /* OKLab lightness */
rgb colour_mix(rgb a, rgb b, float share_of_b);

/* The colour map at 0..1; values outside are held at the ends, nan is grey. */
rgb colour_map(double at);
/* The one for both signs, white at 0.5. */
rgb colour_map_signed(double at);
/* Materials one after another; repeats after COLOUR_PALETTE. */
enum { COLOUR_PALETTE = 8 };
rgb colour_material(int index);

#endif
