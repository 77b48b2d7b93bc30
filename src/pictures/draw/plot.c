/* Ticks at round numbers, one pen a curve, gaps where a value is missing. */
#include "pictures/draw/plot.h"
#include "core/text.h"
#include "frames/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Round numbers --------------------------------------------------------------------------- */

/* A power of ten without the rounding of pow(). */
static double power_of_ten(int exponent) {
    double p = 1;
    for (int i = 0; i < (exponent < 0 ? -exponent : exponent); i++) p *= 10;
    return exponent < 0 ? 1 / p : p;
}

plot_ticks plot_choose_ticks(double low, double high, int wanted) {
    static const double rounds[] = {1, 2, 2.5, 5, 10};
    if (!(high > low)) high = low + (low != 0 ? fabs(low) : 1);
    double rough = (high - low) / (wanted > 1 ? wanted : 1);
    int exponent = (int)floor(log10(rough));
    double ten = power_of_ten(exponent), best = 10 * ten, factor = 10;
    for (int i = COUNT_OF(rounds) - 1; i >= 0; i--)
        if (rounds[i] * ten >= rough * (1 - 1e-9)) best = rounds[i] * ten, factor = rounds[i];
    plot_ticks t = {.step = best, .first = ceil(low / best - 1e-9) * best};
    t.count = 1 + (int)floor((high - t.first) / best + 1e-9);
    t.digits = -exponent + (factor == 2.5) - (factor == 10);
    if (t.digits < 0) t.digits = 0;
    if (t.digits > 4 || fmax(fabs(low), fabs(high)) >= 1e6) t.digits = -1;
    return t;
}

double plot_tick(const plot_ticks *t, int index) {
    double value = t->first + index * t->step;
    return fabs(value) < 1e-9 * t->step ? 0 : value;
}

void plot_tick_text(const plot_ticks *t, double value, char *out, size_t size) {
    if (t->digits >= 0)
        snprintf(out, size, "%.*f", t->digits, value);
    else {
        /* As many digits as tell a tick from the next one, which may be 2.5 away. */
        int digits = value == 0 ? 1 : 3 + (int)floor(log10(fabs(value) / t->step) + 1e-9);
        snprintf(out, size, "%.*g", digits < 1 ? 1 : digits > 15 ? 15 : digits, value);
    }
    for (char *c = out; *c; c++)
        if (*c == ',') *c = '.'; /* a locale's decimal comma */
}

void plot_number_text(double value, char *out, size_t size) {
    snprintf(out, size, "%.3g", value);
    for (char *c = out; *c; c++)
        if (*c == ',') *c = '.';
}

double plot_round_down(double value) {
    double ten = power_of_ten((int)floor(log10(value))), m = value / ten * (1 + 1e-9);
    return ten * (m >= 5 ? 5 : m >= 2 ? 2 : 1);
}

/* ---- Drawing --------------------------------------------------------------------------------- */

enum { PLOT_COLUMNS = 8 };

typedef struct plot_frame {
    double x0, y0, x1, y1;  /* the axes in pixels, y0 the bottom */
    double low[2], high[2]; /* and in numbers: time, value */
    int ticks[2];           /* about how many along each axis */
    double size;            /* of letters */
} plot_frame;

static const rgb ink = {0.055f, 0.065f, 0.08f}, faint = {0.80f, 0.82f, 0.84f};

static double to_x(const plot_frame *f, double t) {
    return f->x0 + (t - f->low[0]) / (f->high[0] - f->low[0]) * (f->x1 - f->x0);
}
static double to_y(const plot_frame *f, double v) {
    return f->y0 + (v - f->low[1]) / (f->high[1] - f->low[1]) * (f->y1 - f->y0);
}

static spate_status unknown_column(const stats_table *t, const char *name, size_t length) {
    char shown[256];
    snprintf(shown, sizeof shown, "%.*s", (int)length, name);
    return text_fail_unknown(t->ctx, "plot: stats.csv has no column", shown,
                             (const char *const *)t->names, t->column_count);
}

static spate_status choose_columns(const stats_table *t, const char *list, int *columns,
                                   int *count) {
    *count = 0;
    for (const char *c = list;; c++) {
        size_t length = strcspn(c, ",");
        if (*count == PLOT_COLUMNS)
            return fail(t->ctx, SPATE_BAD_INPUT, "plot: at most %d columns in one plot",
                        PLOT_COLUMNS);
        columns[*count] = stats_table_column(t, c, length);
        if (columns[*count] < 0) return unknown_column(t, c, length);
        (*count)++;
        c += length;
        if (!*c) return SPATE_OK;
    }
}

/* The numbers of a curve along an axis, added to [*low, *high] as far as they lie within
 * `limits`. */
static void widen(const plot_curve *c, int axis, const double limits[2], double *low,
                  double *high) {
    const double *values = axis ? c->y : c->x;
    for (int64_t i = 0; i < c->count; i++) {
        double v = values[i * c->stride];
        if (!isfinite(v)) continue;
        v = fmin(fmax(v, limits[0]), limits[1]);
        *low = fmin(*low, v), *high = fmax(*high, v);
    }
}

/* A constant needs room too; and an axis of values that nearly reaches 0 shows it. */
static void make_room(int axis, double *low, double *high) {
    double span = *high - *low;
    if (!(span > 1e-9 * fmax(fabs(*low), fabs(*high))))
        span = fmax(fabs(*high), 1e-30), *low -= 0.5 * span, *high += 0.5 * span;
    else if (axis == 1) {
        if (*low > 0 && *low < 0.3 * span) *low = 0;
        if (*low != 0) *low -= 0.05 * span;
        *high += 0.05 * span;
    }
}

/* The ranges of both axes; false along `*missing` where there is no number at all. A broken curve
 * may reach out of the others' range by as much as that range: one that explodes would flatten
 * them. */
static bool fit_axes(const plot_curve *curves, int count, plot_frame *f, int *missing) {
    for (int a = 0; a < 2; a++) {
        double low = HUGE_VAL, high = -HUGE_VAL, limits[2] = {-HUGE_VAL, HUGE_VAL};
        for (int i = 0; i < count; i++)
            if (!curves[i].broken) widen(&curves[i], a, limits, &low, &high);
        if (a == 1 && low < high) limits[0] = 2 * low - high, limits[1] = 2 * high - low;
        for (int i = 0; i < count; i++)
            if (curves[i].broken) widen(&curves[i], a, limits, &low, &high);
        *missing = a;
        if (!isfinite(low)) return false;
        make_room(a, &low, &high);
        f->low[a] = low, f->high[a] = high;
    }
    return true;
}

/* The axes with their numbers; time is in seconds, `unit` that of the values ("": none, or told
 * elsewhere). */
static void draw_axes(picture *p, const plot_frame *f, const char *unit) {
    char label[48];
    plot_ticks x = plot_choose_ticks(f->low[0], f->high[0], f->ticks[0]),
               y = plot_choose_ticks(f->low[1], f->high[1], f->ticks[1]);
    for (int i = 0; i < y.count; i++) {
        double v = plot_tick(&y, i), at = to_y(f, v);
        picture_line(p, (picture_ends){f->x0, at, f->x1, at}, 1, v == 0 ? ink : faint,
                     v == 0 ? 0.5f : 0.9f);
        plot_tick_text(&y, v, label, sizeof label);
        picture_text(p, f->x0 - f->size, at + 0.5 * f->size, f->size, ALIGN_RIGHT, ink, label);
    }
    for (int i = 0; i < x.count; i++) {
        double v = plot_tick(&x, i), at = to_x(f, v);
        picture_line(p, (picture_ends){at, f->y0, at, f->y0 + 0.5 * f->size}, 1, ink, 1);
        plot_tick_text(&x, v, label, sizeof label);
        picture_text(p, at, f->y0 + 2.1 * f->size, f->size, ALIGN_MIDDLE, ink, label);
    }
    picture_line(p, (picture_ends){f->x0, f->y0, f->x1, f->y0}, 1.2, ink, 1);
    picture_text(p, 0.5 * (f->x0 + f->x1), f->y0 + 4.2 * f->size, f->size, ALIGN_MIDDLE, ink,
                 "time [s]");
    if (!*unit) return;
    snprintf(label, sizeof label, "[%s]", unit);
    const double room = f->x0 - 1.5 * f->size;
    picture_text(p, f->x0 - f->size, f->y1 - 1.1 * f->size, picture_fit_text(f->size, room, label),
                 ALIGN_RIGHT, ink, label);
}

/* ---- Curves ---------------------------------------------------------------------------------- */

plot_pen plot_choose_pen(int index) {
    static const unsigned colours[PLOT_PEN_COLOURS] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7,
                                                       0xe69f00, 0x56b4e9, 0x000000};
    return (plot_pen){colour_from_hex(colours[index % PLOT_PEN_COLOURS]),
                      index / PLOT_PEN_COLOURS % 3};
}

/* A straight piece from a to b; *along is the way drawn so far, which the dashes go by. */
static void draw_piece(picture *p, plot_pen pen, double width, const double a[2], const double b[2],
                       double *along) {
    const double length = hypot(b[0] - a[0], b[1] - a[1]);
    const double on = (pen.dash == 1 ? 4 : 0.5) * width, period = (pen.dash == 1 ? 7.5 : 3) * width;
    if (!pen.dash || !(length > 0)) {
        picture_line(p, (picture_ends){a[0], a[1], b[0], b[1]}, width, pen.colour, 1);
        return;
    }
    for (double k = floor(*along / period); k * period < *along + length; k++) {
        double from = fmax(k * period - *along, 0) / length;
        double to = fmin(k * period + on - *along, length) / length;
        if (to <= from) continue;
        picture_line(p,
                     (picture_ends){a[0] + from * (b[0] - a[0]), a[1] + from * (b[1] - a[1]),
                                    a[0] + to * (b[0] - a[0]), a[1] + to * (b[1] - a[1])},
                     width, pen.colour, 1);
    }
    *along += length;
}

void plot_sample(picture *p, double x0, double x1, double y, double width, plot_pen pen) {
    double along = 0;
    draw_piece(p, pen, width, (double[2]){x0, y}, (double[2]){x1, y}, &along);
}

/* Cuts the segment a-b to the height of the axes; false when nothing is left. */
static bool cut_to_frame(const plot_frame *f, double a[2], double b[2]) {
    const double edges[2] = {f->y1, f->y0};
    for (int e = 0; e < 2; e++) {
        double out_a = e ? a[1] - edges[e] : edges[e] - a[1];
        double out_b = e ? b[1] - edges[e] : edges[e] - b[1];
        if (out_a > 0 && out_b > 0) return false;
        if (out_a <= 0 && out_b <= 0) continue;
        double *out = out_a > 0 ? a : b;
        out[0] = a[0] + (b[0] - a[0]) * out_a / (out_a - out_b), out[1] = edges[e];
    }
    return true;
}

static void draw_cross(picture *p, const plot_frame *f, const double at[2], rgb colour) {
    const double r = 0.55 * f->size, x = at[0], y = fmin(fmax(at[1], f->y1), f->y0);
    picture_line(p, (picture_ends){x - r, y - r, x + r, y + r}, 0.25 * f->size, colour, 1);
    picture_line(p, (picture_ends){x - r, y + r, x + r, y - r}, 0.25 * f->size, colour, 1);
}

static void draw_curve(picture *p, const plot_frame *f, const plot_curve *c) {
    double last[2] = {NAN, NAN}, end[2] = {NAN, NAN}, along = 0;
    for (int64_t i = 0; i < c->count; i++) {
        double at[2] = {to_x(f, c->x[i * c->stride]), to_y(f, c->y[i * c->stride])};
        if (!isfinite(at[0]) || !isfinite(at[1])) {
            last[0] = NAN;
            continue;
        }
        double a[2] = {last[0], last[1]}, b[2] = {at[0], at[1]};
        if (!isfinite(last[0]))
            picture_disc(p, at[0], at[1], 0.15 * f->size, c->pen.colour, 1);
        else if (cut_to_frame(f, a, b))
            draw_piece(p, c->pen, 0.2 * f->size, a, b, &along);
        memcpy(last, at, sizeof last);
        memcpy(end, at, sizeof end);
    }
    if (c->broken && isfinite(end[0])) draw_cross(p, f, end, c->pen.colour);
}

void plot_panel(picture *p, const plot_box *box, const plot_curve *curves, int count) {
    const double size = box->letters;
    int missing;
    plot_frame f = {.x0 = box->left + 8.2 * size,
                    .x1 = box->right - 2 * size,
                    .y0 = box->bottom - 5 * size,
                    .y1 = box->top + 3 * size,
                    .high = {1, 1},
                    .ticks = {5, 5},
                    .size = size};
    bool any = fit_axes(curves, count, &f, &missing);
    draw_axes(p, &f, "");
    for (int i = 0; i < count && any; i++) draw_curve(p, &f, &curves[i]);
    picture_text(p, f.x0, box->top + 1.6 * size,
                 picture_fit_text(1.1 * size, f.x1 - f.x0, box->title), ALIGN_LEFT, ink,
                 box->title);
}

double plot_legend(picture *p, const plot_label *labels, int count, double left, double right,
                   double y, double letters) {
    const double sample = 2.8 * letters, before = sample + 0.8 * letters, gap = 2.4 * letters;
    double widest = 0, x = left;
    for (int i = 0; i < count; i++)
        widest = fmax(widest, picture_text_width(letters, labels[i].words));
    const double room = fmin(widest, right - left - before);
    for (int i = 0; i < count; i++) {
        if (x > left && x + before + room > right) x = left, y += 2.2 * letters;
        if (p) {
            plot_sample(p, x, x + sample, y - 0.45 * letters, 0.3 * letters, labels[i].pen);
            picture_text(p, x + before, y, picture_fit_text(letters, room, labels[i].words),
                         ALIGN_LEFT, ink, labels[i].words);
        }
        x += before + room + gap;
    }
    return y;
}

/* Where all columns have one unit it stands at the axis, else each has its own in the legend. */
static void label_columns(const spate_scene *scene, const stats_table *t, const int *list,
                          int count, plot_label *labels, const char **unit) {
    *unit = units_of_column(scene, t->names[list[0]]);
    for (int i = 1; i < count; i++)
        if (strcmp(*unit, units_of_column(scene, t->names[list[i]]))) *unit = "";
    for (int i = 0; i < count; i++) {
        labels[i].pen = (plot_pen){colour_material(i), 0};
        if (**unit)
            snprintf(labels[i].words, sizeof labels[i].words, "%.120s", t->names[list[i]]);
        else
            units_label(scene, t->names[list[i]], labels[i].words, sizeof labels[i].words);
    }
}

spate_status plot_draw(const stats_table *t, const char *columns, const spate_scene *scene,
                       picture *out) {
    int list[PLOT_COLUMNS], count, time = stats_table_column(t, "time", 4), missing;
    plot_curve curves[PLOT_COLUMNS];
    plot_label labels[PLOT_COLUMNS];
    const char *unit;
    if (time < 0) return fail(t->ctx, SPATE_BAD_INPUT, "plot: stats.csv has no column 'time'");
    TRY(choose_columns(t, columns, list, &count));
    label_columns(scene, t, list, count, labels, &unit);
    for (int i = 0; i < count; i++)
        curves[i] = (plot_curve){t->values + time, t->values + list[i], t->row_count,
                                 t->column_count,  labels[i].pen,       false};
    plot_frame f = {.ticks = {9, 6}, .size = fmax(7, fmin(out->height / 55.0, out->width / 80.0))};
    f.x0 = 9 * f.size, f.x1 = out->width - 3 * f.size;
    f.y0 = out->height - 5.5 * f.size;
    const double legend = 4.6 * f.size;
    f.y1 = plot_legend(NULL, labels, count, f.x0, f.x1, legend, f.size) + 2.2 * f.size;
    if (!fit_axes(curves, count, &f, &missing))
        return missing == 0
                   ? fail(t->ctx, SPATE_BAD_INPUT, "plot: stats.csv has no rows with a time")
                   : fail(t->ctx, SPATE_BAD_INPUT,
                          "plot: the column '%s' has no values in this run", t->names[list[0]]);
    picture_fill(out, (rgb){1, 1, 1});
    draw_axes(out, &f, unit);
    for (int i = 0; i < count; i++) draw_curve(out, &f, &curves[i]);
    plot_legend(out, labels, count, f.x0, f.x1, legend, f.size);
    const char *title = scene->name ? scene->name : "";
    picture_text(out, f.x0, 2.2 * f.size, picture_fit_text(f.size, f.x1 - f.x0, title), ALIGN_LEFT,
                 ink, title);
    return SPATE_OK;
}
