/* Plots: numbers against time, as small clean pictures: columns of one stats.csv, or the same
 * column of several runs. */
#ifndef SPATE_PICTURES_DRAW_PLOT_H
#define SPATE_PICTURES_DRAW_PLOT_H

#include "frames/stats_table.h"
#include "pictures/draw/picture.h"
#include "scene/scene.h"

/* Round numbers for an axis: 1, 2, 2.5 or 5 times a power of ten. */
typedef struct plot_ticks {
    double first, step; /* tick i is first + i * step */
    int count;
    int digits; /* after the point; -1: powers of ten are written (1.5e+06) */
} plot_ticks;

/* About `wanted` ticks that lie inside [low, high]. */
plot_ticks plot_choose_ticks(double low, double high, int wanted);
double plot_tick(const plot_ticks *t, int index);
/* "0.25", "-3", "1.5e+06" */
void plot_tick_text(const plot_ticks *t, double value, char *out, size_t size);
/* A number of itself, three digits, without needless zeros. */
void plot_number_text(double value, char *out, size_t size);
/* The largest of 1, 2 or 5 times a power of ten that is not above `value`. */
double plot_round_down(double value);

/* How a curve is drawn. */
typedef struct plot_pen {
    rgb colour;
    int dash; /* 0: a line, 1: dashes, 2: dots */
} plot_pen;

/* The pen of the i-th of many curves: seven colours that all kinds of colour vision tell apart
 * (Okabe and Ito 2008, without their yellow, which is lost on white), then the same in dashes and
 * in dots. */
enum { PLOT_PEN_COLOURS = 7 };
plot_pen plot_choose_pen(int index);
/* A piece of a curve, as legends show it. */
void plot_sample(picture *p, double x0, double x1, double y, double width, plot_pen pen);

/* An entry of a legend. */
typedef struct plot_label {
    char words[160];
    plot_pen pen;
} plot_label;

/* Draws a legend between left and right, in lines of a table from the base line y on, and returns
 * the last base line. Words that are too long become smaller. Without a picture it only
 * measures. */
double plot_legend(picture *p, const plot_label *labels, int count, double left, double right,
                   double y, double letters);

/* A curve: `count` points, each `stride` numbers after the one before. Where a number is missing
 * (NAN) there is a gap. */
typedef struct plot_curve {
    const double *x, *y;
    int64_t count, stride;
    plot_pen pen;
    bool broken; /* it ended before its time: a cross marks where, and it does not set the scale */
} plot_curve;

/* A small plot in a part of the picture; without any number to show only its frame is drawn. */
typedef struct plot_box {
    double left, top, right, bottom; /* pixels */
    double letters;                  /* height of capitals */
    const char *title;               /* with its unit */
} plot_box;
void plot_panel(picture *p, const plot_box *box, const plot_curve *curves, int count);

/* Draws the columns ("a,b") of a scene's run against the column "time" over the whole picture. */
spate_status plot_draw(const stats_table *t, const char *columns, const spate_scene *scene,
                       picture *out);

#endif
