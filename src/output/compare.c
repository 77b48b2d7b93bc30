/*
 * Comparisons: the folders of several runs made into one table (compare.csv), one plot
 * (compare.png) and one sheet of pictures (sheet.png).
 *
 * The table has the energies and what else tells variants apart, then what the solver and the probes
 * measure. Total energy is kinetic + potential + elastic: what a method loses of it, it loses to
 * viscosity, friction, plastic flow and its own dissipation.
 */
#include "core/file.h"
#include "output/plot.h"
#include "output/run_folder.h"
#include "output/sheet.h"
#include "output/statistics.h"
#include "output/units.h"
#include "scene/scene_tables.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PANELS_MAX = 9, PANELS_WANTED = 4, TIMES_MAX = 16, SAMPLES_MAX = 256 };

/* ---- Names and folders ----------------------------------------------------------------------- */

bool spate_scene_field(const char *name, char *path, size_t size) {
    const field_table *top = &scene_top_table;
    bool whole = strchr(name, '.') != NULL;
    for (int i = 0; i < top->count && !whole; i++) whole = !strcmp(top->fields[i].name, name);
    return snprintf(path, size, "%s%s", whole ? "" : "solver.", name) < (int)size;
}

spate_status spate_compare_folder(const spate_scene *scene, const char *given, bool reuse,
                                  char *folder, size_t size) {
    char path[PATH_SIZE];
    TRY(run_folder_choose(scene->ctx, scene->path, given, path));
    TRY(run_folder_check(scene->ctx, path, reuse));
    if (strlen(path) >= size)
        return fail(scene->ctx, SPATE_BAD_INPUT, "%.200s...: the path is too long", path);
    memcpy(folder, path, strlen(path) + 1);
    return SPATE_OK;
}

/* ---- The table ------------------------------------------------------------------------------- */

enum { AT_TIME, AT_TOTAL, AT_KINETIC, AT_POTENTIAL, AT_ELASTIC, FIXED_COLUMNS = 8 };
static const char *const fixed_columns[FIXED_COLUMNS] = {
    "time",           "total_energy", "kinetic_energy",  "potential_energy",
    "elastic_energy", "max_speed",    "penetration_max", "penetration_count",
};

/* The rows of one variant. */
typedef struct track {
    plot_table table; /* stats.csv as it is; its names live here */
    spate_scene *scene;
    int probes;     /* its last columns */
    double *values; /* in the columns of the comparison */
    int64_t rows;
} track;

typedef struct column {
    const char *name;
    bool of_probe;
    char label[160]; /* with its unit */
} column;

typedef struct comparison {
    spate_context *ctx;
    spate_variant *variants;
    int count;
    spate_compare_options options; /* their title is the whole one */
    track *tracks;
    column *columns;
    int64_t column_count, column_room;
    char title[512];
} comparison;

static spate_status read_track(comparison *c, int index) {
    track *t = &c->tracks[index];
    const char *folder = c->variants[index].folder;
    char path[PATH_SIZE];
    TRY(path_join(c->ctx, folder, RUN_STATISTICS, path));
    if (!file_exists(path)) return SPATE_OK;
    TRY(plot_read_table(c->ctx, path, &t->table));
    TRY(path_join(c->ctx, folder, RUN_SCENE, path));
    TRY(spate_scene_load(c->ctx, path, NULL, 0, &t->scene));
    const spate_scene *scene = t->scene;
    for (int i = 0; i < scene->probe_count; i++)
        t->probes += probe_columns(scene, &scene->probes[i]);
    if (!*c->title) {
        const char *more = c->options.title;
        snprintf(c->title, sizeof c->title, "%s%s%s", scene->name ? scene->name : "",
                 more ? ": " : "", more ? more : "");
    }
    return SPATE_OK;
}

static bool every_run_has(const char *name) {
    static const char *const names[COLUMN_COUNT] = {
#define X(name) #name,
        STATISTICS_COLUMNS(X)
#undef X
    };
    for (int i = 0; i < COLUMN_COUNT; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

static spate_status add_column(comparison *c, const spate_scene *scene, const char *name,
                               bool of_probe) {
    for (int64_t i = 0; i < c->column_count; i++)
        if (!strcmp(c->columns[i].name, name)) return SPATE_OK;
    TRY(GROW(c->ctx, c->columns, c->column_room, c->column_count + 1));
    column *added = &c->columns[c->column_count++];
    *added = (column){.name = name, .of_probe = of_probe};
    units_label(scene, name, added->label, sizeof added->label);
    return SPATE_OK;
}

/* The fixed columns, then all that some variant has: variants may differ in solver. */
static spate_status choose_columns(comparison *c) {
    for (int i = 0; i < c->count; i++) {
        const track *t = &c->tracks[i];
        if (!t->scene) continue;
        for (int k = 0; k < FIXED_COLUMNS; k++)
            TRY(add_column(c, t->scene, fixed_columns[k], false));
        for (int k = 0; k < t->table.column_count; k++)
            if (!every_run_has(t->table.names[k]))
                TRY(add_column(c, t->scene, t->table.names[k],
                               k >= t->table.column_count - t->probes));
    }
    return SPATE_OK;
}

static double or_zero(double value) { return isnan(value) ? 0 : value; }

static spate_status fill_track(comparison *c, int index) {
    track *t = &c->tracks[index];
    const size_t width = (size_t)c->column_count;
    c->variants[index].total_energy = NAN;
    t->values = take(c->ctx, (size_t)t->table.row_count * width + 1, sizeof *t->values);
    if (!t->values) return SPATE_OUT_OF_MEMORY;
    for (int64_t r = 0; r < t->table.row_count; r++) {
        const double *from = t->table.values + r * t->table.column_count;
        double *to = t->values + t->rows * c->column_count;
        for (int64_t k = 0; k < c->column_count; k++) {
            const char *name = c->columns[k].name;
            int at = plot_find_column(&t->table, name, strlen(name));
            to[k] = at < 0 ? NAN : from[at];
        }
        /* A solver need not know all kinds of energy. */
        to[AT_TOTAL] = to[AT_KINETIC] + or_zero(to[AT_POTENTIAL]) + or_zero(to[AT_ELASTIC]);
        if (isnan(to[AT_TIME]) || isnan(to[AT_TOTAL])) continue; /* cut short by a crash */
        c->variants[index].total_energy = to[AT_TOTAL];
        t->rows++;
    }
    return SPATE_OK;
}

static spate_status write_table(const comparison *c, const char *path) {
    file_writer w;
    TRY(file_create(c->ctx, path, false, &w));
    file_print(&w, "variant");
    for (int64_t k = 0; k < c->column_count; k++) file_print(&w, ",%s", c->columns[k].name);
    file_print(&w, "\n");
    for (int i = 0; i < c->count; i++)
        for (int64_t r = 0; r < c->tracks[i].rows; r++) {
            const double *row = c->tracks[i].values + r * c->column_count;
            file_print(&w, "%s", c->variants[i].name);
            for (int64_t k = 0; k < c->column_count; k++)
                if (isnan(row[k]))
                    file_print(&w, ",");
                else
                    file_print(&w, ",%.15g", row[k]);
            file_print(&w, "\n");
        }
    return file_close(&w);
}

/* ---- The plot -------------------------------------------------------------------------------- */

static const rgb ink = {0.055f, 0.065f, 0.08f};

static bool has_values(const comparison *c, int64_t at) {
    for (int i = 0; i < c->count; i++)
        for (int64_t r = 0; r < c->tracks[i].rows; r++)
            if (isfinite(c->tracks[i].values[r * c->column_count + at])) return true;
    return false;
}

/* Total and kinetic energy and the probes; without probes the other energies too. */
static int choose_panels(const comparison *c, int64_t panels[PANELS_MAX]) {
    static const int64_t first[] = {AT_TOTAL, AT_KINETIC}, more[] = {AT_POTENTIAL, AT_ELASTIC};
    int count = 0;
    for (int i = 0; i < COUNT_OF(first); i++)
        if (has_values(c, first[i])) panels[count++] = first[i];
    for (int64_t k = FIXED_COLUMNS; k < c->column_count && count < PANELS_MAX; k++)
        if (c->columns[k].of_probe && has_values(c, k)) panels[count++] = k;
    for (int i = 0; i < COUNT_OF(more) && count < PANELS_WANTED; i++)
        if (has_values(c, more[i])) panels[count++] = more[i];
    return count;
}

static plot_label variant_label(const comparison *c, int i) {
    const spate_variant *v = &c->variants[i];
    const bool well = !v->trouble || !*v->trouble;
    plot_label l = {.pen = plot_choose_pen(i)};
    snprintf(l.words, sizeof l.words, well ? "%s" : "%s (%s)", variant_words(v),
             well ? "" : v->trouble);
    return l;
}

static void draw_panels(const comparison *c, const int64_t *panels, int count, int columns,
                        double top, plot_curve *curves, picture *p) {
    const double width = (double)p->width / columns;
    const double height = (p->height - top) / ((count + columns - 1) / columns);
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < c->count; i++)
            curves[i] = (plot_curve){
                .x = c->tracks[i].values + AT_TIME,
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
static spate_status draw_plot(const comparison *c, const char *path) {
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

spate_compare_options spate_default_compare_options(void) {
    return (spate_compare_options){.times = 4, .cell = 480, .samples = 4};
}

static spate_status check_call(spate_context *ctx, const spate_variant *variants, int count,
                               const spate_compare_options *o) {
    if (!variants || count < 1 || !o || !o->folder)
        return fail(ctx, SPATE_BAD_INPUT, "compare: no variants, or no folder for the result");
    if (o->times < 1 || o->times > TIMES_MAX || o->cell < 32 || o->cell > 2048 || o->samples < 1 ||
        o->samples > SAMPLES_MAX)
        return fail(ctx, SPATE_BAD_INPUT,
                    "compare: %d times, cells of %d pixels, %d rays a pixel; it must be 1 to %d, "
                    "32 to 2048 and 1 to %d",
                    o->times, o->cell, o->samples, TIMES_MAX, SAMPLES_MAX);
    for (int i = 0; i < count; i++)
        if (!variants[i].name || !variants[i].folder)
            return fail(ctx, SPATE_BAD_INPUT, "compare: variant %d has no name or no folder", i);
    return SPATE_OK;
}

static spate_status name_file(const comparison *c, const char *name, char path[PATH_SIZE]) {
    return path_join(c->ctx, c->options.folder, name, path);
}

static void tell_file(const comparison *c, const char *path) {
    if (c->options.wrote) c->options.wrote(path, c->options.user);
}

static spate_status make_files(comparison *c) {
    char path[PATH_SIZE];
    bool drawn;
    int64_t rows = 0;
    for (int i = 0; i < c->count; i++) TRY(read_track(c, i));
    c->options.title = c->title;
    TRY(choose_columns(c));
    for (int i = 0; i < c->count; i++) {
        TRY(fill_track(c, i));
        rows += c->tracks[i].rows;
    }
    if (!rows)
        return fail(c->ctx, SPATE_BAD_INPUT, "%s: none of the variants has statistics to compare",
                    c->options.folder);
    TRY(name_file(c, "compare.csv", path));
    TRY(write_table(c, path));
    tell_file(c, path);
    TRY(name_file(c, "compare.png", path));
    TRY(draw_plot(c, path));
    tell_file(c, path);
    TRY(name_file(c, "sheet.png", path));
    TRY(sheet_write(c->ctx, c->variants, c->count, &c->options, path, &drawn));
    if (drawn) {
        tell_file(c, path);
        return SPATE_OK;
    }
    inform(c->ctx, "no sheet of pictures: it needs frames, output.particles: [vtp]");
    return file_remove(c->ctx, path); /* of an earlier comparison */
}

spate_status spate_compare(spate_context *context, spate_variant *variants, int count,
                           const spate_compare_options *options) {
    TRY(check_call(context, variants, count, options));
    comparison c = {.ctx = context, .variants = variants, .count = count, .options = *options};
    c.tracks = take(context, (size_t)count, sizeof *c.tracks);
    if (!c.tracks) return SPATE_OUT_OF_MEMORY;
    spate_status status = file_make_folder(context, options->folder);
    if (status == SPATE_OK) status = make_files(&c);
    for (int i = 0; i < count; i++) {
        plot_free_table(&c.tracks[i].table);
        spate_scene_free(c.tracks[i].scene);
        give(context, c.tracks[i].values);
    }
    give(context, c.tracks);
    give(context, c.columns);
    return status;
}
