/* From the folders of several runs to one table; see compare_table.h. */
#include "run/compare_table.h"
#include "core/cookie.h"
#include "frames/units.h"
#include "measure/statistics.h"
#include "run/run_folder.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const fixed_columns[COMPARE_FIXED] = {
    "time",           "total_energy", "kinetic_energy",  "potential_energy",
    "elastic_energy", "max_speed",    "penetration_max", "penetration_count",
};

static spate_status read_track(compare_table *c, int index) {
    compare_track *t = &c->tracks[index];
    const char *folder = c->variants[index].folder;
    char path[PATH_SIZE];
    TRY(path_join(c->ctx, folder, RUN_STATISTICS, path));
    if (!file_exists(c->ctx, path)) return SPATE_OK;
    TRY(stats_table_read(c->ctx, path, &t->table));
    TRY(path_join(c->ctx, folder, RUN_SCENE, path));
    TRY(spate_scene_load(c->ctx, path, NULL, 0, &t->scene));
    const spate_scene *scene = t->scene;
    for (int i = 0; i < scene->probe_count; i++)
        t->probes += probe_columns(scene, &scene->probes[i]);
    if (!*c->title) {
        const char *more = c->options->title;
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

static spate_status add_column(compare_table *c, const spate_scene *scene, const char *name,
                               bool of_probe) {
    for (int64_t i = 0; i < c->column_count; i++)
        if (!strcmp(c->columns[i].name, name)) return SPATE_OK;
    TRY(GROW(c->ctx, c->columns, c->column_room, c->column_count + 1));
    compare_column *added = &c->columns[c->column_count++];
    *added = (compare_column){.name = name, .of_probe = of_probe};
    units_label(scene, name, added->label, sizeof added->label);
    return SPATE_OK;
}

/* The fixed columns, then all that some variant has: variants may differ in solver. */
static spate_status choose_columns(compare_table *c) {
    for (int i = 0; i < c->count; i++) {
        const compare_track *t = &c->tracks[i];
        if (!t->scene) continue;
        for (int k = 0; k < COMPARE_FIXED; k++)
            TRY(add_column(c, t->scene, fixed_columns[k], false));
        for (int k = 0; k < t->table.column_count; k++)
            if (!every_run_has(t->table.names[k]))
                TRY(add_column(c, t->scene, t->table.names[k],
                               k >= t->table.column_count - t->probes));
    }
    return SPATE_OK;
}

static spate_status fill_track(compare_table *c, int index) {
    compare_track *t = &c->tracks[index];
    const size_t width = (size_t)c->column_count;
    c->variants[index].total_energy = NAN;
    t->values = take(c->ctx, (size_t)t->table.row_count * width + 1, sizeof *t->values);
    if (!t->values) return SPATE_OUT_OF_MEMORY;
    for (int64_t r = 0; r < t->table.row_count; r++) {
        const double *from = t->table.values + r * t->table.column_count;
        double *to = t->values + t->rows * c->column_count;
        for (int64_t k = 0; k < c->column_count; k++) {
            const char *name = c->columns[k].name;
            int at = stats_table_column(&t->table, name, strlen(name));
            to[k] = at < 0 ? NAN : from[at];
        }
        to[COMPARE_TOTAL] = stats_table_total_energy(&t->table, from);
        if (isnan(to[COMPARE_TIME]) || isnan(to[COMPARE_TOTAL]))
            continue; /* cut short by a crash */
        c->variants[index].total_energy = to[COMPARE_TOTAL];
        t->rows++;
    }
    return SPATE_OK;
}

spate_status compare_table_path(const compare_table *c, const char *name, char path[PATH_SIZE]) {
    return path_join(c->ctx, c->options->folder, name, path);
}

void compare_table_tell(const compare_table *c, const char *path) {
    if (c->options->wrote) c->options->wrote(path, c->options->user);
}

static void write_row(const compare_table *c, file_writer *w, const char *variant,
                      const double *row) {
    file_print(w, "%s", variant);
    for (int64_t k = 0; k < c->column_count; k++)
        if (isnan(row[k]))
            file_print(w, ",");
        else
            file_print(w, ",%.15g", row[k]);
    file_print(w, "\n");
}

spate_status compare_table_write(const compare_table *c) {
    char path[PATH_SIZE];
    file_writer w;
    TRY(file_make_folder(c->ctx, c->options->folder));
    TRY(compare_table_path(c, "compare.csv", path));
    TRY(file_create(c->ctx, path, false, &w));
    file_print(&w, "variant");
    for (int64_t k = 0; k < c->column_count; k++) file_print(&w, ",%s", c->columns[k].name);
    file_print(&w, "\n");
    for (int i = 0; i < c->count; i++)
        for (int64_t r = 0; r < c->tracks[i].rows; r++)
            write_row(c, &w, c->variants[i].name, c->tracks[i].values + r * c->column_count);
    TRY(file_close(&w));
    compare_table_tell(c, path);
    return SPATE_OK;
}

/* ---- Making and freeing ---------------------------------------------------------------------- */

spate_compare_options spate_default_compare_options(void) {
    return (spate_compare_options){.cookie = COOKIE_COMPARE, .times = 4, .cell = 480, .samples = 4};
}

static spate_status check_call(spate_context *ctx, const spate_variant *variants, int count,
                               const spate_compare_options *o) {
    if (!variants || count < 1 || !o || !o->folder)
        return fail(ctx, SPATE_BAD_INPUT, "compare: no variants, or no folder for the result");
    TRY(cookie_check(ctx, o->cookie, COOKIE_COMPARE, "compare_options"));
    for (int i = 0; i < count; i++)
        if (!variants[i].name || !variants[i].folder)
            return fail(ctx, SPATE_BAD_INPUT, "compare: variant %d has no name or no folder", i);
    return SPATE_OK;
}

static spate_status fill(compare_table *c) {
    int64_t rows = 0;
    for (int i = 0; i < c->count; i++) TRY(read_track(c, i));
    TRY(choose_columns(c));
    for (int i = 0; i < c->count; i++) {
        TRY(fill_track(c, i));
        rows += c->tracks[i].rows;
    }
    if (rows) return SPATE_OK;
    return fail(c->ctx, SPATE_BAD_INPUT, "%s: none of the variants has statistics to compare",
                c->options->folder);
}

spate_status compare_table_create(spate_context *ctx, spate_variant *variants, int count,
                                  const spate_compare_options *options, compare_table *out) {
    TRY(check_call(ctx, variants, count, options));
    *out = (compare_table){.ctx = ctx, .variants = variants, .count = count, .options = options};
    out->tracks = take(ctx, (size_t)count, sizeof *out->tracks);
    if (!out->tracks) return SPATE_OUT_OF_MEMORY;
    const spate_status status = fill(out);
    if (status != SPATE_OK) compare_table_free(out);
    return status;
}

void compare_table_free(compare_table *c) {
    for (int i = 0; i < c->count; i++) {
        stats_table_free(&c->tracks[i].table);
        spate_scene_free(c->tracks[i].scene);
        give(c->ctx, c->tracks[i].values);
    }
    give(c->ctx, c->tracks);
    give(c->ctx, c->columns);
    *c = (compare_table){0};
}

spate_status spate_compare_table(spate_context *context, spate_variant *variants, int count,
                                 const spate_compare_options *options) {
    compare_table c;
    TRY(compare_table_create(context, variants, count, options, &c));
    const spate_status status = compare_table_write(&c);
    compare_table_free(&c);
    return status;
}
