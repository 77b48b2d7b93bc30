/* A comparison drawn: one plot (compare.png) and one sheet of pictures (sheet.png). */
#include "pictures/draw/plot.h"
#include "pictures/sheet.h"
#include "run/compare_table.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    PANELS_MAX = 9,
    PANELS_WANTED = 4,
    TIMES_MAX = 16,
    SAMPLES_MAX = 256,
    CELL_MIN = 32,
    CELL_MAX = 2048
};

/* ---- The plot -------------------------------------------------------------------------------- */

static const rgb ink = {0.055f, 0.065f, 0.08f};

static bool has_values(const compare_table *c, int64_t at) {
    for (int i = 0; i < c->count; i++)
        for (int64_t r = 0; r < c->tracks[i].rows; r++)
            if (isfinite(c->tracks[i].values[r * c->column_count + at])) return true;
    return false;
}

/* Total and kinetic energy and the probes; without probes the other energies too. */
static int choose_panels(const compare_table *c, int64_t panels[PANELS_MAX]) {
    static const int64_t first[] = {COMPARE_TOTAL, COMPARE_KINETIC},
                         more[] = {COMPARE_POTENTIAL, COMPARE_ELASTIC};
    int count = 0;
    for (int i = 0; i < COUNT_OF(first); i++)
        if (has_values(c, first[i])) panels[count++] = first[i];
    for (int64_t k = COMPARE_FIXED; k < c->column_count && count < PANELS_MAX; k++)
        if (c->columns[k].of_probe && has_values(c, k)) panels[count++] = k;
    for (int i = 0; i < COUNT_OF(more) && count < PANELS_WANTED; i++)
        if (has_values(c, more[i])) panels[count++] = more[i];
    return count;
}

static plot_label variant_label(const compare_table *c, int i) {
    const spate_variant *v = &c->variants[i];
    const bool well = !v->trouble || !*v->trouble;
    plot_label l = {.pen = plot_choose_pen(i)};
    snprintf(l.words, sizeof l.words, well ? "%s" : "%s (%s)", variant_words(v),
             well ? "" : v->trouble);
    return l;
}

static void draw_panels(const compare_table *c, const int64_t *panels, int count, int columns,
                        double top, plot_curve *curves, picture *p) {
    const double width = (double)p->width / columns;
    const double height = (p->height - top) / ((count + columns - 1) / columns);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < c->count; i++)
            curves[i] = (plot_curve){
                .x = c->tracks[i].values + COMPARE_TIME,
                .y = c->tracks[i].values + panels[k],
                .count = c->tracks[i].rows,
                .stride = c->column_count,
                .pen = plot_choose_pen(i),
                .broken = c->variants[i].trouble && *c->variants[i].trouble,
            };
        const double left = k % columns * width, above = top + k / columns * height;
        plot_box box = {left, above, left + width, above + height, 11, c->columns[panels[k]].label};
        plot_panel(p, &box, curves, c->count);
    }
}

/* Title, legend and panels, below each other. */
static spate_status draw_plot(const compare_table *c, const char *path) {
    enum { PANEL_WIDTH = 560, PANEL_HEIGHT = 340 };
    const double letters = 11, side = 1.5 * letters;
    int64_t panels[PANELS_MAX];
    const int count = choose_panels(c, panels);
    const int columns = count <= 1 ? 1 : count <= 4 ? 2 : 3;
    const int lines = count ? (count + columns - 1) / columns : 1, width = columns * PANEL_WIDTH;
    const double first = 5.2 * letters, right = width - side;
    picture p = {0};
    spate_status status = SPATE_OUT_OF_MEMORY;
    plot_curve *curves = take(c->ctx, (size_t)c->count, sizeof *curves);
    plot_label *labels = take(c->ctx, (size_t)c->count, sizeof *labels);
    if (!curves || !labels) goto done;
    for (int i = 0; i < c->count; i++) labels[i] = variant_label(c, i);
    const double top =
        plot_legend(NULL, labels, c->count, side, right, first, letters) + 1.5 * letters;
    TRY_OR_DONE(status, picture_create(c->ctx, width, (int)top + lines * PANEL_HEIGHT, &p));
    picture_fill(&p, (rgb){1, 1, 1});
    picture_text(&p, side, 2.6 * letters, picture_fit_text(1.3 * letters, right - side, c->title),
                 ALIGN_LEFT, ink, c->title);
    plot_legend(&p, labels, c->count, side, right, first, letters);
    draw_panels(c, panels, count, columns, top, curves, &p);
    status = picture_save(c->ctx, &p, path);
done:
    picture_free(c->ctx, &p);
    give(c->ctx, curves);
    give(c->ctx, labels);
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static spate_status check_options(spate_context *ctx, const spate_compare_options *o) {
    if (o->times >= 1 && o->times <= TIMES_MAX && o->cell >= CELL_MIN && o->cell <= CELL_MAX &&
        o->samples >= 1 && o->samples <= SAMPLES_MAX)
        return SPATE_OK;
    return fail(ctx, SPATE_BAD_INPUT,
                "compare: %d times, cells of %d pixels, %d rays a pixel; it must be 1 to %d, "
                "%d to %d and 1 to %d",
                o->times, o->cell, o->samples, TIMES_MAX, CELL_MIN, CELL_MAX, SAMPLES_MAX);
}

static spate_status write_sheet(const compare_table *c) {
    char path[PATH_SIZE];
    bool drawn;
    spate_compare_options titled = *c->options;
    titled.title = c->title;
    TRY(compare_table_path(c, "sheet.png", path));
    TRY(sheet_write(c->ctx, c->variants, c->count, &titled, path, &drawn));
    if (drawn) {
        compare_table_tell(c, path);
        return SPATE_OK;
    }
    inform(c->ctx, "no sheet of pictures: it needs frames, output.particles: [vtp]");
    return file_remove(c->ctx, path); /* of an earlier comparison */
}

static spate_status write_files(const compare_table *c) {
    char path[PATH_SIZE];
    TRY(check_options(c->ctx, c->options));
    TRY(compare_table_write(c));
    TRY(compare_table_path(c, "compare.png", path));
    TRY(draw_plot(c, path));
    compare_table_tell(c, path);
    return write_sheet(c);
}

spate_status spate_compare(spate_context *context, spate_variant *variants, int count,
                           const spate_compare_options *options) {
    compare_table c;
    TRY(compare_table_create(context, variants, count, options, &c));
    const spate_status status = write_files(&c);
    compare_table_free(&c);
    return status;
}
