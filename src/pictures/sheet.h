/*
 * Sheet: frames of several runs in one picture, a row a run, a column a time, so that they can be
 * held against each other. All cells share one colour scale, which the runs that ended well set.
 * The first column is the beginning, unless all rows begin with the same picture.
 */
#ifndef SPATE_PICTURES_SHEET_H
#define SPATE_PICTURES_SHEET_H

#include "pictures/draw/picture.h"
#include "scene/scene.h"

/* What a variant is called in pictures. */
static inline const char *variant_words(const spate_variant *v) {
    return v->label ? v->label : v->name;
}

/* Where things are, in pixels. */
typedef struct sheet_layout {
    int rows, columns;
    int cell[2];       /* size of a cell's picture */
    int strip;         /* height of the words below it */
    int gap, left;     /* between cells; on the left */
    int top, right;    /* above the cells, and on their right */
    double letters;    /* height of capitals */
    int width, height; /* of all */
} sheet_layout;

/* Room for the cells of a scene; `about` is the width of one that is 16 : 9, `bar` leaves room for
 * a colour bar. */
sheet_layout sheet_place(const spate_scene *scene, int rows, int columns, int about, bool bar);
/* The top left pixel of a cell's picture. */
void sheet_cell(const sheet_layout *l, int row, int column, int at[2]);

/* Draws the variants that have frames, under options->title, and writes the picture; *drawn is
 * false when none has. */
spate_status sheet_write(spate_context *ctx, const spate_variant *variants, int count,
                         const spate_compare_options *options, const char *path, bool *drawn);

#endif
