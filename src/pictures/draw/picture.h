/*
 * A picture: pixels in linear light, what is drawn on them (all edges antialiased), and PNG files.
 * Positions are in pixels from the top left corner; the middle of the first pixel is (0.5, 0.5).
 */
#ifndef SPATE_PICTURES_DRAW_PICTURE_H
#define SPATE_PICTURES_DRAW_PICTURE_H

#include "core/context.h"
#include "pictures/draw/colour.h"

typedef struct picture {
    int width, height;
    rgb *pixels; /* rows from the top */
} picture;

enum { PICTURE_SIDE_MAX = 16384 };

spate_status picture_create(spate_context *ctx, int width, int height, picture *p);
void picture_free(spate_context *ctx, picture *p);

void picture_fill(picture *p, rgb colour);
/* Both ends of a line. */
typedef struct picture_ends {
    double x0, y0, x1, y1;
} picture_ends;

/* Lays `colour` over one pixel; outside the picture nothing happens. */
void picture_blend(picture *p, int x, int y, rgb colour, float cover);
void picture_disc(picture *p, double x, double y, double radius, rgb colour, float cover);
void picture_line(picture *p, picture_ends ends, double width, rgb colour, float cover);
void picture_box(picture *p, double x0, double y0, double x1, double y1, rgb colour, float cover);
/* A vertical bar of the colour map, the low end at the bottom. */
void picture_colour_bar(picture *p, double x0, double y0, double x1, double y1,
                        rgb (*map)(double at));

typedef enum text_align { ALIGN_LEFT, ALIGN_MIDDLE, ALIGN_RIGHT } text_align;
/* `y` is the base line, `size` the height of capitals in pixels. What is not ASCII is drawn as a
 * box. */
void picture_text(picture *p, double x, double y, double size, text_align align, rgb colour,
                  const char *text);
double picture_text_width(double size, const char *text);
/* `size`, or smaller so that the text is not wider than `room`. */
double picture_fit_text(double size, double room, const char *text);

/* width * height * 3 bytes for screens. */
void picture_to_bytes(const picture *p, unsigned char *bytes);
/* Replaces the file as a whole or leaves what was there. */
spate_status picture_write_png(spate_context *ctx, const unsigned char *bytes, int width,
                               int height, const char *path);
/* The same from a picture. */
spate_status picture_save(spate_context *ctx, const picture *p, const char *path);
/* Reads such a file into a picture of the same size; `bytes` has room as for picture_to_bytes. */
spate_status picture_load(spate_context *ctx, const char *path, unsigned char *bytes, picture *p);

#endif
