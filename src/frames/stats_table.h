/* A table of numbers by column: stats.csv read back. Fields that are empty or no numbers are
 * NAN. */
#ifndef SPATE_FRAMES_STATS_TABLE_H
#define SPATE_FRAMES_STATS_TABLE_H

#include "core/context.h"

typedef struct stats_table {
    spate_context *ctx;
    char *bytes;
    int column_count;
    char **names;
    int64_t row_count;
    double *values; /* values[row * column_count + column] */
} stats_table;

spate_status stats_table_read(spate_context *ctx, const char *path, stats_table *out);
/* -1 when there is none of that name. */
int stats_table_column(const stats_table *t, const char *name, size_t length);
/* Kinetic, potential and elastic energy of a row, as far as the run knows them; NAN where the row
 * is cut short. */
double stats_table_total_energy(const stats_table *t, const double *row);
/* A last column more, total_energy: kinetic, potential and elastic, as far as the run knows them.
 * */
spate_status stats_table_add_total_energy(stats_table *t);
void stats_table_free(stats_table *t);

#endif
