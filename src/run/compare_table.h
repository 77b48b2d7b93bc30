/*
 * The table of a comparison: the rows of several runs in the same columns, compare.csv.
 *
 * It has the energies and what else tells variants apart, then what the solver and the probes
 * measure. Total energy is kinetic + potential + elastic: what a method loses of it, it loses to
 * viscosity, friction, plastic flow and its own dissipation.
 */
#ifndef SPATE_RUN_COMPARE_TABLE_H
#define SPATE_RUN_COMPARE_TABLE_H

#include "core/file.h"
#include "frames/stats_table.h"
#include "scene/scene.h"

/* The first columns; those of solvers and probes follow. */
enum {
    COMPARE_TIME,
    COMPARE_TOTAL,
    COMPARE_KINETIC,
    COMPARE_POTENTIAL,
    COMPARE_ELASTIC,
    COMPARE_FIXED = 8
};

/* The rows of one variant. */
typedef struct compare_track {
    stats_table table; /* stats.csv as it is; its names live here */
    spate_scene *scene;
    int probes;     /* its last columns */
    double *values; /* in the columns of the comparison */
    int64_t rows;
} compare_track;

typedef struct compare_column {
    const char *name;
    bool of_probe;
    char label[160]; /* with its unit */
} compare_column;

typedef struct compare_table {
    spate_context *ctx;
    spate_variant *variants;
    int count;
    const spate_compare_options *options;
    compare_track *tracks;
    compare_column *columns;
    int64_t column_count, column_room;
    char title[512]; /* of the scene, then what the options add */
} compare_table;

/* Reads the statistics of all variants and sets their total_energy. After a failure there is
 * nothing to free. */
spate_status compare_table_create(spate_context *ctx, spate_variant *variants, int count,
                                  const spate_compare_options *options, compare_table *out);
void compare_table_free(compare_table *c);

/* Writes options->folder/compare.csv, making the folder, and tells that it did. */
spate_status compare_table_write(const compare_table *c);
/* The path of a file of the comparison. */
spate_status compare_table_path(const compare_table *c, const char *name, char path[PATH_SIZE]);
void compare_table_tell(const compare_table *c, const char *path);

#endif
