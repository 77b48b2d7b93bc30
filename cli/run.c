/* spate run: simulates a scene into a folder, with progress. Several variants of it: compare.c. */
#include "run.h"
#include "progress.h"
#include "scenes.h"
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define AT(member) .offset = offsetof(run_settings, member)
static const option run_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     AT(folder),
     .argument = "DIR",
     .help = "Folder of the run; by default named after the scene"},
    {.name = "frames",
     .type = OPTION_INTEGER,
     AT(frames),
     .argument = "N",
     .min = 1,
     .max = 1e8,
     .help = "Stop after N frames"},
    {.name = "until",
     .type = OPTION_NUMBER,
     AT(until),
     .argument = "T",
     .min = ABOVE_ZERO,
     .max = 1e300,
     .help = "Stop with the frame that reaches T seconds"},
    THREADS_OPTION("Worker threads; by default one per core. The result does not depend on it"),
    {.name = "set",
     .type = OPTION_LIST,
     AT(sets),
     .argument = "PATH=VALUE",
     .help = "Override a field, e.g. solver.cfl=0.3; may be repeated"},
    {.name = "compare",
     .type = OPTION_LIST,
     AT(compares),
     .argument = "FIELD=A,B...",
     .help = "One run for each value, side by side, e.g. integrator=pic,apic; see above"},
    {.name = "resume",
     .type = OPTION_FLAG,
     AT(resume),
     .help = "Go on from the folder's checkpoint"},
    {.name = "force",
     .type = OPTION_FLAG,
     AT(force),
     .help = "Replace the run that is in the folder"},
    {.name = "quiet",
     .letter = 'q',
     .type = OPTION_FLAG,
     AT(quiet),
     .help = "No progress, only errors and the first warning of a kind"},
    {.name = "json",
     .type = OPTION_FLAG,
     AT(json),
     .help = "The final report as JSON on standard output; progress goes to standard error"},
    {.name = "steps-log",
     .type = OPTION_FLAG,
     AT(steps_log),
     .help = "Also write steps.jsonl: a JSON line for every step"},
    {.name = "steps-full",
     .type = OPTION_FLAG,
     AT(steps_full),
     .help = "The same with statistics and state hash in every line, which is slow"},
};
#undef AT

/* ---- Report
 * -------------------------------------------------------------------------------------- */

static void print_report(const spate_run_report *r) {
    char particles[SHORT_TEXT], wall[SHORT_TEXT], pace[SHORT_TEXT];
    if (r->particles == 0 && r->particle_steps_per_second == 0) {
        printf("%s: %d frames, %lld steps in %s, state %016llx\n", r->folder, r->frames,
               (long long)r->steps, short_time(r->wall_seconds, wall),
               (unsigned long long)r->state_hash);
        return;
    }
    printf("%s: %d frames, %lld steps, %s particles in %s (%s particle-steps/s), state %016llx\n",
           r->folder, r->frames, (long long)r->steps, short_count((double)r->particles, particles),
           short_time(r->wall_seconds, wall), short_count(r->particle_steps_per_second, pace),
           (unsigned long long)r->state_hash);
}

void print_json_report(const spate_run_report *r, spate_status status, const char *message) {
    fputs("\"folder\": ", stdout);
    print_json_text(stdout, r->folder);
    printf(", \"frames\": %d, \"steps\": %lld, \"particles\": %lld, \"wall_seconds\": %.6g, "
           "\"particle_steps_per_second\": %.6g, \"state_hash\": \"%016llx\", \"warnings\": %lld, "
           "\"exit_code\": %d, \"message\": ",
           r->frames, (long long)r->steps, (long long)r->particles, r->wall_seconds,
           r->particle_steps_per_second, (unsigned long long)r->state_hash, (long long)r->warnings,
           (int)status);
    print_json_text(stdout, status ? message : "");
}

spate_status run_scene(spate_context *ctx, const char *path, const run_settings *settings,
                       const char *label, spate_run_report *report) {
    spate_scene *scene;
    const text_list *sets = &settings->sets;
    spate_status status =
        settings->resume
            ? spate_run_scene(ctx, settings->folder, path, sets->items, sets->count, &scene)
            : spate_scene_load(ctx, path, sets->items, sets->count, &scene);
    if (status) return status;
    progress_line progress = {
        .out = settings->json ? stderr : stdout,
        .label = label,
        .terminal = !settings->json && isatty(STDOUT_FILENO),
    };
    spate_run_options options = spate_default_run_options();
    options.folder = settings->folder;
    options.frames = (int)settings->frames;
    options.until = settings->until;
    options.resume = settings->resume;
    options.force = settings->force;
    options.step_log = settings->steps_log;
    options.step_full = settings->steps_full;
    options.progress = settings->quiet ? NULL : tell_progress;
    options.user = &progress;
    options.interrupt = &interrupt_flag;
    catch_interrupts();
    status = spate_run(scene, &options, report);
    tell_last_frame(&progress, report->frames);
    spate_scene_free(scene);
    return status;
}

static spate_status run_one(const char *path, const run_settings *settings) {
    spate_context *ctx;
    spate_run_report report = {0};
    spate_status status = session_open(settings->threads, settings->quiet, &ctx);
    if (status) return status;
    status = run_scene(ctx, path, settings, "", &report);
    status_line_clear();
    if (settings->json) {
        putchar('{');
        print_json_report(&report, status, spate_message(ctx));
        puts("}");
    } else if (!status && !settings->quiet)
        print_report(&report);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

static bool settings_agree(const run_settings *s) {
    if (s->frames && s->until > 0)
        fputs("spate run: give --frames or --until, not both\n", stderr);
    else if (s->resume && s->force)
        fputs("spate run: --resume goes on with a run, --force replaces it: give one of them\n",
              stderr);
    else
        return true;
    return false;
}

/* Whether a run's folder stands for its scene. */
static bool goes_on(const char *word, run_settings *settings) {
    if (settings->compares.count || !is_run_folder(word)) return false;
    if (settings->folder && strcmp(settings->folder, word)) return false;
    settings->folder = word;
    return true;
}

static int run_run(const command *self, int argc, char **argv) {
    run_settings settings = {0};
    arguments args;
    int exit_code;
    char path[SCENE_PATH_SIZE];
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    spate_status status = SPATE_BAD_INPUT;
    const char *scene = NULL;
    const bool again = settings.resume && goes_on(args.items[0], &settings);
    if (!again) scene = scene_wanted(args.items[0], settings.quiet || settings.json, path);
    if ((scene || again) && settings_agree(&settings))
        status =
            settings.compares.count ? compare_run(scene, &settings) : run_one(scene, &settings);
    options_free(self, &settings);
    return status;
}

const command command_run = {
    .name = "run",
    .synopsis = "SCENE",
    .summary = "Simulate a scene into a folder of frames",
    .details =
        "SCENE is a YAML file (its .yaml may be left out) or a name from `spate list`. The folder "
        "gets run.json, stats.csv,\n"
        "particles or fields of every frame and checkpoints. Ctrl-C writes a checkpoint and "
        "stops;\n"
        "--resume goes on from there, bit for bit as if nothing had happened; earlier --set need "
        "not\n"
        "be given again, and DIR may stand for the scene: spate run DIR --resume --until 4.\n\n"
        "--compare FIELD=A,B,... runs the scene once for each value, into a folder each below "
        "that\n"
        "of the run, and adds compare.csv (a row a frame of every variant), compare.png (energies\n"
        "and probes over time) and sheet.png (a row of pictures a variant). FIELD is a path as "
        "for\n"
        "--set; a bare name such as integrator is a field of the solver. Commas in brackets "
        "belong\n"
        "to a value: gravity=[0,-9.81],[0,0]. Given more than once, all combinations run. A "
        "variant\n"
        "that fails does not stop the others; the command then ends with its exit code.",
    .options = run_options,
    .option_count = COUNT_OF(run_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_run,
};
