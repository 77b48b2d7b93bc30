/* Reading a table: the first line names its columns, each further line is a row. */
#include "frames/stats_table.h"
#include "core/file.h"
#include "core/text.h"
#include <math.h>
#include <string.h>

static const char *field_end(const char *c, const char *line_end) {
    const char *comma = memchr(c, ',', (size_t)(line_end - c));
    return comma ? comma : line_end;
}

static spate_status read_names(stats_table *t, const char *line, const char *end) {
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

static void read_row(const stats_table *t, const char *c, const char *end, double *values) {
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

spate_status stats_table_read(spate_context *ctx, const char *path, stats_table *out) {
    *out = (stats_table){.ctx = ctx};
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
    if (status != SPATE_OK) stats_table_free(out);
    return status;
}

int stats_table_column(const stats_table *t, const char *name, size_t length) {
    for (int i = 0; i < t->column_count; i++)
        if (strlen(t->names[i]) == length && !memcmp(t->names[i], name, length)) return i;
    return -1;
}

static double value_of(const stats_table *t, const double *row, const char *name) {
    const int at = stats_table_column(t, name, strlen(name));
    return at < 0 ? NAN : row[at];
}

static double or_zero(double value) { return isnan(value) ? 0 : value; }

/* A solver need not know all kinds of energy. */
double stats_table_total_energy(const stats_table *t, const double *row) {
    return value_of(t, row, "kinetic_energy") + or_zero(value_of(t, row, "potential_energy")) +
           or_zero(value_of(t, row, "elastic_energy"));
}

spate_status stats_table_add_total_energy(stats_table *t) {
    static char name[] = "total_energy";
    const int64_t before = t->column_count, now = before + 1;
    char **names = take(t->ctx, (size_t)now, sizeof *names);
    double *values = take(t->ctx, (size_t)(t->row_count * now) + 1, sizeof *values);
    if (!names || !values) {
        give(t->ctx, names);
        give(t->ctx, values);
        return SPATE_OUT_OF_MEMORY;
    }
    memcpy(names, t->names, (size_t)before * sizeof *names);
    names[before] = name;
    for (int64_t r = 0; r < t->row_count; r++) {
        const double *from = t->values + r * before;
        memcpy(values + r * now, from, (size_t)before * sizeof *values);
        values[r * now + before] = stats_table_total_energy(t, from);
    }
    give(t->ctx, t->names);
    give(t->ctx, t->values);
    t->names = names, t->values = values, t->column_count = (int)now;
    return SPATE_OK;
}

void stats_table_free(stats_table *t) {
    if (!t->ctx) return;
    give(t->ctx, t->names);
    give(t->ctx, t->values);
    give(t->ctx, t->bytes);
    *t = (stats_table){0};
}
