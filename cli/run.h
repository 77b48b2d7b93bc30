/* What a single run and a comparison of runs share. */
#ifndef SPATE_CLI_RUN_H
#define SPATE_CLI_RUN_H

#include "options.h"

typedef struct run_settings {
    const char *folder;
    int64_t frames, threads;
    double until;
    text_list sets, compares;
    bool resume, force, quiet, json, steps_log, steps_full;
} run_settings;

/* Loads the scene and runs it, with progress. `label` stands in front of every line. `path` NULL:
 * the scene that the folder of a run keeps. */
spate_status run_scene(spate_context *ctx, const char *path, const run_settings *settings,
                       const char *label, spate_run_report *report);

/* The members of a JSON object about a run, without its braces. */
void print_json_report(const spate_run_report *r, spate_status status, const char *message);

/* Runs the variants that settings->compares ask for and compares them: compare.c. */
spate_status compare_run(const char *path, const run_settings *settings);

#endif
