/* spate check: reads a scene and says what would run, and what it would cost. */
#include "options.h"
#include "scenes.h"
#include "terminal.h"
#include <stddef.h>

typedef struct check_settings {
    text_list sets;
    int64_t threads;
    bool json;
} check_settings;

#define AT(member) .offset = offsetof(check_settings, member)
static const option check_options[] = {
    {.name = "set",
     .type = OPTION_LIST,
     AT(sets),
     .argument = "PATH=VALUE",
     .help = "Override a field, e.g. solver.cfl=0.3; may be repeated"},
    THREADS_OPTION("That the run would have; by default one per core"),
    {.name = "json", .type = OPTION_FLAG, AT(json), .help = "One JSON object on standard output"},
};
#undef AT

static void print_summary(const spate_scene_summary *s) {
    char count[SHORT_TEXT];
    printf("%s: %dD, solver %s\n", s->name, s->dimension, s->solver);
    printf("  grid       %d x %d", s->cells[0], s->cells[1]);
    if (s->dimension == 3) printf(" x %d", s->cells[2]);
    printf(" cells of %g\n", s->dx);
    printf("  time       %g s, %d frames at %g a second\n", s->duration, s->frames, s->fps);
    if (s->on_grid)
        printf("  cells      %s (%lld) filled by bodies\n",
               short_count((double)s->filled_cells, count), (long long)s->filled_cells);
    else
        printf("  particles  %s (%lld)", short_count((double)s->particles, count),
               (long long)s->particles);
}

/* A post that stands in a pool is meant; it is told all the same. */
static void print_left_out(const spate_scene_summary *s) {
    if (s->left_out)
        printf("  left out   %lld %s that lie in colliders or earlier bodies\n",
               (long long)s->left_out, s->on_grid ? "cells" : "particles");
}

static void print_review(const spate_review *r) {
    const spate_scene_summary *s = &r->summary;
    char count[SHORT_TEXT], time[SHORT_TEXT], memory[SHORT_TEXT], disk[SHORT_TEXT];
    print_summary(s);
    if (!s->on_grid && r->particles > 1.005 * (double)s->particles)
        printf(", about %s in the end", short_count(r->particles, count));
    if (!s->on_grid) putchar('\n');
    print_left_out(s);
    printf("  parts      %d materials, %d bodies, %d colliders, %d sources, %d probes\n",
           s->materials, s->bodies, s->colliders, s->sources, s->probes);
    printf("  steps      about %s of %.2g s (limit: %s)\n", short_count(r->steps, count), r->dt,
           r->dt_limit);
    printf("  cost       about %s with %d %s, %s of memory, %s on disk\n",
           short_duration(r->seconds, time), r->threads, r->threads == 1 ? "thread" : "threads",
           short_bytes(r->memory_bytes, memory), short_bytes(r->disk_bytes, disk));
    printf("  hash       %016llx\n", (unsigned long long)s->hash);
    printf("  warnings   %d\n", s->warnings);
}

static void print_json_summary(const spate_scene_summary *s) {
    json_text(", \"name\": ", s->name);
    json_text(", \"solver\": ", s->solver);
    printf(", \"dimension\": %d, \"cells\": [%d, %d", s->dimension, s->cells[0], s->cells[1]);
    if (s->dimension == 3) printf(", %d", s->cells[2]);
    printf("], \"dx\": %.15g, \"duration\": %.15g, \"fps\": %.15g, \"frames\": %d", s->dx,
           s->duration, s->fps, s->frames);
    printf(", \"particles\": %lld, \"filled_cells\": %lld, \"left_out\": %lld",
           (long long)s->particles, (long long)s->filled_cells, (long long)s->left_out);
    printf(", \"materials\": %d, \"bodies\": %d, \"colliders\": %d, \"sources\": %d, "
           "\"probes\": %d, \"hash\": \"%016llx\"",
           s->materials, s->bodies, s->colliders, s->sources, s->probes,
           (unsigned long long)s->hash);
}

static void print_json_estimate(const spate_review *r) {
    printf(", \"estimate\": {\"particles\": %.6g, \"steps\": %.6g, \"dt\": %.6g", r->particles,
           r->steps, r->dt);
    json_text(", \"dt_limit\": ", r->dt_limit);
    printf(", \"threads\": %d, \"seconds\": %.6g, \"memory_bytes\": %.6g, \"disk_bytes\": %.6g}",
           r->threads, r->seconds, r->memory_bytes, r->disk_bytes);
}

/* Without a review the message says what is wrong. */
static void print_json(const char *path, const spate_review *r, const char *message) {
    json_text("{\"file\": ", path);
    printf(", \"valid\": %s", r ? "true" : "false");
    if (r) print_json_summary(&r->summary), print_json_estimate(r);
    fputs(", \"warnings\": [", stdout);
    for (int i = 0; i < warnings_kept(); i++) json_text(i ? ", " : "", warning_kept(i));
    json_text("], \"message\": ", r ? "" : message);
    puts("}");
}

static spate_status check_scene(spate_context *ctx, const char *path,
                                const check_settings *settings) {
    spate_scene *scene;
    spate_review review;
    spate_status status =
        spate_scene_load(ctx, path, settings->sets.items, settings->sets.count, &scene);
    if (!status) status = spate_scene_review(scene, &review);
    if (settings->json)
        print_json(path, status ? NULL : &review, spate_message(ctx));
    else if (!status)
        print_review(&review);
    spate_scene_free(scene);
    return status;
}

static int run_check(const command *self, int argc, char **argv) {
    check_settings settings = {0};
    arguments args;
    int exit_code;
    char path[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    spate_context *ctx;
    const char *scene = scene_wanted(args.items[0], settings.json, path);
    spate_status status = scene ? session_open(settings.threads, false, &ctx) : SPATE_BAD_INPUT;
    if (!status) {
        status = check_scene(ctx, scene, &settings);
        report_failure(ctx, status);
        spate_close(ctx);
    }
    options_free(self, &settings);
    return status;
}

const command command_check = {
    .name = "check",
    .synopsis = "SCENE",
    .summary = "Parse and validate a scene, print what would run and its cost",
    .details =
        "Nothing is written. Exits with 2 and says file, line and field when something is wrong,\n"
        "and warns of what is valid but probably not meant. Steps, time, memory and disk are\n"
        "estimates from rates that were measured once; expect them within a factor of two.",
    .options = check_options,
    .option_count = COUNT_OF(check_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_check,
};
