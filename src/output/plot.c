/* Ticks at round numbers, one colour a column, gaps where a value is missing. */
#include "output/plot.h"
#include "core/file.h"
#include "core/text.h"
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
    else
        plot_number_text(value, out, size);
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

/* ---- Tables ---------------------------------------------------------------------------------- */

static const char *field_end(const char *c, const char *line_end) {
    const char *comma = memchr(c, ',', (size_t)(line_end - c));
    return comma ? comma : line_end;
}

static spate_status read_names(plot_table *t, const char *line, const char *end) {
    t->column_count = 1;
    for (const char *c = line; c < end; c++) t->column_count += *c == ',';
    t->names = take(t->ctx, (size_t)t->column_count, sizeof *t->names);
    if (!t->names) return SPATE_OUT_OF_MEMORY;
    /* Names stay in the file's bytes; the commas become their ends. */
    char *c = t->bytes + (line - t->bytes), *stop = t->bytes + (end - t->bytes);
    for (int i = 0; i < t->column_count; i++) {
        t->names[i] = c;
        c = t->bytes + (field_end(c, stop) - t->bytes);
        *c++ = 0;
    }
    return SPATE_OK;
}

static void read_row(const plot_table *t, const char *c, const char *end, double *values) {
    for (int i = 0; i < t->column_count; i++) {
        values[i] = NAN;
        if (c > end) continue;
        const char *stop = field_end(c, end);
        double v;
        if (text_to_double(t->ctx, c, (size_t)(stop - c), &v)) values[i] = v;
        c = stop + 1;
    }
}

static const char *line_end(const char *c, const char *end) {
    const char *stop = memchr(c, '\n', (size_t)(end - c));
    return stop ? stop : end;
}

spate_status plot_read_table(spate_context *ctx, const char *path, plot_table *out) {
    *out = (plot_table){.ctx = ctx};
    size_t length;
    TRY(file_read(ctx, path, (size_t)1 << 31, &out->bytes, &length));
    const char *end = out->bytes + length, *first = line_end(out->bytes, end);
    int64_t lines = 0;
    for (const char *c = first; c < end; c++) lines += *c == '\n';
    spate_status status = read_names(out, out->bytes, first);
    if (status == SPATE_OK) {
        out->values =
            take(ctx, (size_t)(lines + 1) * (size_t)out->column_count, sizeof *out->values);
        if (!out->values) status = SPATE_OUT_OF_MEMORY;
    }
    for (const char *c = first + 1; status == SPATE_OK && c < end;) {
        const char *stop = line_end(c, end);
        if (stop > c) read_row(out, c, stop, out->values + out->row_count++ * out->column_count);
        c = stop + 1;
    }
    if (status != SPATE_OK) plot_free_table(out);
    return status;
}

int plot_find_column(const plot_table *t, const char *name, size_t length) {
    for (int i = 0; i < t->column_count; i++)
        if (strlen(t->names[i]) == length && !memcmp(t->names[i], name, length)) return i;
    return -1;
}

void plot_free_table(plot_table *t) {
    if (!t->ctx) return;
    give(t->ctx, t->names);
    give(t->ctx, t->values);
    give(t->ctx, t->bytes);
    *t = (plot_table){0};
}

/* ---- Drawing --------------------------------------------------------------------------------- */

enum { PLOT_COLUMNS = 8 };

typedef struct plot_frame {
    double x0, y0, x1, y1;  /* the axes in pixels, y0 the bottom */
    double low[2], high[2]; /* and in numbers: time, value */
    double size;            /* of letters */
} plot_frame;

static const rgb ink = {0.055f, 0.065f, 0.08f}, faint = {0.80f, 0.82f, 0.84f};

static double to_x(const plot_frame *f, double t) {
    return f->x0 + (t - f->low[0]) / (f->high[0] - f->low[0]) * (f->x1 - f->x0);
}
static double to_y(const plot_frame *f, double v) {
    return f->y0 + (v - f->low[1]) / (f->high[1] - f->low[1]) * (f->y1 - f->y0);
}

static spate_status unknown_column(const plot_table *t, const char *name, size_t length) {
    char all[1200];
    int used = 0;
    for (int i = 0; i < t->column_count && used < (int)sizeof all - 64; i++)
        used +=
            snprintf(all + used, sizeof all - (size_t)used, "%s%.40s", i ? ", " : "", t->names[i]);
    return fail(t->ctx, SPATE_BAD_INPUT, "plot: stats.csv has no column '%.*s'; it has %s",
                (int)length, name, all);
}

static spate_status choose_columns(const plot_table *t, const char *list, int *columns,
                                   int *count) {
    *count = 0;
    for (const char *c = list;; c++) {
        size_t length = strcspn(c, ",");
        if (*count == PLOT_COLUMNS)
            return fail(t->ctx, SPATE_BAD_INPUT, "plot: at most %d columns in one plot",
                        PLOT_COLUMNS);
        columns[*count] = plot_find_column(t, c, length);
        if (columns[*count] < 0) return unknown_column(t, c, length);
        (*count)++;
        c += length;
        if (!*c) return SPATE_OK;
    }
}

/* The range of a column, added to [*low, *high]. */
static void widen(const plot_table *t, int column, double *low, double *high) {
    for (int64_t r = 0; r < t->row_count; r++) {
        double v = t->values[r * t->column_count + column];
        if (isfinite(v)) *low = fmin(*low, v), *high = fmax(*high, v);
    }
}

static spate_status place_frame(const plot_table *t, int time, const int *columns, int count,
                                const picture *p, plot_frame *f) {
    for (int a = 0; a < 2; a++) f->low[a] = HUGE_VAL, f->high[a] = -HUGE_VAL;
    widen(t, time, &f->low[0], &f->high[0]);
    for (int i = 0; i < count; i++) widen(t, columns[i], &f->low[1], &f->high[1]);
    if (!isfinite(f->low[0]))
        return fail(t->ctx, SPATE_BAD_INPUT, "plot: stats.csv has no rows with a time");
    if (!isfinite(f->low[1]))
        return fail(t->ctx, SPATE_BAD_INPUT, "plot: the column '%s' has no values in this run",
                    t->names[columns[0]]);
    for (int a = 0; a < 2; a++) {
        double span = f->high[a] - f->low[a];
        /* A constant needs room too; and an axis that nearly reaches 0 shows it. */
        if (!(span > 1e-9 * fmax(fabs(f->low[a]), fabs(f->high[a]))))
            span = fmax(fabs(f->high[a]), 1e-30), f->low[a] -= 0.5 * span, f->high[a] += 0.5 * span;
        else if (a == 1) {
            if (f->low[1] > 0 && f->low[1] < 0.3 * span) f->low[1] = 0;
            if (f->low[1] != 0) f->low[1] -= 0.05 * span;
            f->high[1] += 0.05 * span;
        }
    }
    f->size = fmax(7, fmin(p->height / 55.0, p->width / 80.0));
    f->x0 = 9 * f->size, f->x1 = p->width - 3 * f->size;
    f->y0 = p->height - 5.5 * f->size, f->y1 = 5 * f->size;
    return SPATE_OK;
}

static void draw_axes(picture *p, const plot_frame *f, const char *time_unit) {
    char label[48];
    plot_ticks x = plot_choose_ticks(f->low[0], f->high[0], 9),
               y = plot_choose_ticks(f->low[1], f->high[1], 6);
    for (int i = 0; i < y.count; i++) {
        double v = plot_tick(&y, i), at = to_y(f, v);
        picture_line(p, f->x0, at, f->x1, at, 1, v == 0 ? ink : faint, v == 0 ? 0.5f : 0.9f);
        plot_tick_text(&y, v, label, sizeof label);
        picture_text(p, f->x0 - f->size, at + 0.5 * f->size, f->size, ALIGN_RIGHT, ink, label);
    }
    for (int i = 0; i < x.count; i++) {
        double v = plot_tick(&x, i), at = to_x(f, v);
        picture_line(p, at, f->y0, at, f->y0 + 0.5 * f->size, 1, ink, 1);
        plot_tick_text(&x, v, label, sizeof label);
        picture_text(p, at, f->y0 + 2.1 * f->size, f->size, ALIGN_MIDDLE, ink, label);
    }
    picture_line(p, f->x0, f->y0, f->x1, f->y0, 1.2, ink, 1);
    snprintf(label, sizeof label, "time [%s]", time_unit);
    picture_text(p, 0.5 * (f->x0 + f->x1), f->y0 + 4.2 * f->size, f->size, ALIGN_MIDDLE, ink,
                 label);
}

static void draw_column(picture *p, const plot_frame *f, const plot_table *t, int time, int column,
                        rgb colour) {
    double last[2] = {NAN, NAN};
    for (int64_t r = 0; r < t->row_count; r++) {
        const double *row = t->values + r * t->column_count;
        double x = to_x(f, row[time]), y = to_y(f, row[column]);
        if (isfinite(x) && isfinite(y)) {
            if (isfinite(last[0]))
                picture_line(p, last[0], last[1], x, y, 0.2 * f->size, colour, 1);
            else
                picture_disc(p, x, y, 0.15 * f->size, colour, 1);
        }
        last[0] = isfinite(y) ? x : NAN, last[1] = y;
    }
}

spate_status plot_draw(const plot_table *t, const char *columns, const char *title,
                       const char *time_unit, picture *out) {
    int list[PLOT_COLUMNS], count, time = plot_find_column(t, "time", 4);
    plot_frame f = {0};
    if (time < 0) return fail(t->ctx, SPATE_BAD_INPUT, "plot: stats.csv has no column 'time'");
    TRY(choose_columns(t, columns, list, &count));
    TRY(place_frame(t, time, list, count, out, &f));
    picture_fill(out, (rgb){1, 1, 1});
    draw_axes(out, &f, time_unit);
    double x = f.x0;
    for (int i = 0; i < count; i++) {
        rgb colour = colour_material(i);
        draw_column(out, &f, t, time, list[i], colour);
        picture_line(out, x, 3 * f.size, x + 2 * f.size, 3 * f.size, 0.3 * f.size, colour, 1);
        picture_text(out, x + 2.8 * f.size, 3.5 * f.size, f.size, ALIGN_LEFT, ink,
                     t->names[list[i]]);
        x += 5.5 * f.size + picture_text_width(f.size, t->names[list[i]]);
    }
    picture_text(out, f.x1, 3.5 * f.size, f.size, ALIGN_RIGHT, ink, title);
    return SPATE_OK;
}
