/*
 * spate run --compare: variants of a scene, one run after another, then a table and pictures of
 * all.
 *
 * All variants are checked before the first one runs. Each has a context of its own, so that it is
 * in nothing different from a run by itself.
 */
#include "run.h"
#include "terminal.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIELDS_MAX = 4, VALUES_MAX = 24, VARIANTS_MAX = 24, NAME_SIZE = 96, SET_SIZE = 1024 };

/* FIELD=A,B,... taken apart. */
typedef struct choice {
    char path[250];   /* as --set takes it */
    const char *leaf; /* the last word of it */
    const char *values[VALUES_MAX];
    int lengths[VALUES_MAX];
    int count;
} choice;

typedef struct variant {
    char name[NAME_SIZE];
    char label[FIELDS_MAX * 64]; /* in pictures: "gravity [0, -9.81], pic" */
    char sets[FIELDS_MAX][SET_SIZE];
    char folder[4096];
    bool ran;
    spate_status status;
    char *message;
    spate_run_report report;
    double total_energy; /* at the end; NAN unknown */
} variant;

typedef struct comparison {
    const char *scene;
    const run_settings *settings;
    choice choices[FIELDS_MAX];
    int choice_count;
    char folder[4096];
    variant *variants;
    int count;
} comparison;

/* ---- What to compare ------------------------------------------------------------------------- */

static bool refuse(const char *given, const char *why) {
    fprintf(stderr, "spate run: --compare %.200s: %s\n", given, why);
    return false;
}

/* The length of the value at `text`: up to a comma that is in no bracket and no quotes. */
static int value_length(const char *text) {
    int depth = 0, length = 0;
    char quote = 0;
    for (; text[length] && (quote || depth > 0 || text[length] != ','); length++) {
        const char c = text[length];
        if (quote)
            quote = c == quote ? 0 : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else
            depth += (c == '[' || c == '{') - (c == ']' || c == '}');
    }
    return length;
}

static bool read_choice(const char *given, choice *c) {
    char field[200];
    const char *equals = strchr(given, '=');
    if (!equals || equals == given || !equals[1] || equals - given >= (ptrdiff_t)sizeof field)
        return refuse(given, "expected FIELD=A,B,...; write it like integrator=pic,apic");
    memcpy(field, given, (size_t)(equals - given));
    field[equals - given] = 0;
    if (!spate_scene_field(field, c->path, sizeof c->path))
        return refuse(given, "the field's path is too long");
    const char *dot = strrchr(c->path, '.');
    c->leaf = dot ? dot + 1 : c->path;
    for (const char *at = equals + 1;; at++) {
        int length = value_length(at);
        if (!length) return refuse(given, "there is an empty value in the list");
        if (c->count == VALUES_MAX) return refuse(given, "at most 24 values");
        if (strlen(c->path) + (size_t)length + 2 > SET_SIZE)
            return refuse(given, "a value is too long");
        c->values[c->count] = at, c->lengths[c->count++] = length;
        at += length;
        if (!*at) return true;
    }
}

/* A word speaks for itself, anything else needs its field's name: "flip", "alpha-0.97". */
static bool is_word(const char *value, int length) {
    static const char *const vague[] = {"true", "false", "yes", "no", "on", "off"};
    for (int i = 0; i < COUNT_OF(vague); i++)
        if (strlen(vague[i]) == (size_t)length && !memcmp(vague[i], value, (size_t)length))
            return false;
    return isalpha((unsigned char)value[0]) != 0;
}

/* Adds to a name what may be part of a file's; anything else becomes one '_' between the rest. */
static bool add_to_name(char *name, const char *text, int length) {
    size_t used = strlen(name);
    bool gap = false;
    for (int i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool good = c < 0x80 && (isalnum(c) || c == '.' || c == '-' || c == '+' || c == '_');
        if (good && used + 3 > NAME_SIZE) return false;
        if (good && gap) name[used++] = '_';
        if (good) name[used++] = (char)c;
        gap = !good && used && name[used - 1] != '-';
    }
    name[used] = 0;
    return true;
}

/* One that is too long is cut. */
static void add_to_label(variant *v, int index, const char *leaf, const char *value, int length) {
    const size_t used = strlen(v->label);
    const bool word = is_word(value, length);
    snprintf(v->label + used, sizeof v->label - used, "%s%s%s%.*s", index ? ", " : "",
             word ? "" : leaf, word ? "" : " ", length, value);
}

/* Variant `index` of all combinations; the last field's values change fastest. */
static bool name_variant(const comparison *c, int index, variant *v) {
    int at[FIELDS_MAX];
    for (int k = c->choice_count - 1; k >= 0; k--)
        at[k] = index % c->choices[k].count, index /= c->choices[k].count;
    for (int k = 0; k < c->choice_count; k++) {
        const choice *f = &c->choices[k];
        const char *value = f->values[at[k]];
        const int length = f->lengths[at[k]];
        bool fits = !k || add_to_name(v->name, "_", 1);
        if (!is_word(value, length))
            fits = fits && add_to_name(v->name, f->leaf, (int)strlen(f->leaf)) &&
                   add_to_name(v->name, "-", 1);
        fits = fits && add_to_name(v->name, value, length);
        if (!fits)
            return refuse(c->settings->compares.items[k],
                          "the values are too long to name folders by");
        add_to_label(v, k, f->leaf, value, length);
        snprintf(v->sets[k], SET_SIZE, "%s=%.*s", f->path, length, value);
    }
    return true;
}

static bool read_choices(comparison *c) {
    const text_list *given = &c->settings->compares;
    int count = 1;
    if (given->count > FIELDS_MAX) return refuse(given->items[FIELDS_MAX], "at most 4 fields");
    for (int k = 0; k < given->count; k++) {
        if (!read_choice(given->items[k], &c->choices[k])) return false;
        count *= c->choices[k].count;
        if (count > VARIANTS_MAX) return refuse(given->items[k], "more than 24 variants in all");
    }
    c->choice_count = given->count;
    c->variants = calloc((size_t)count, sizeof *c->variants);
    if (!c->variants) {
        fputs("spate: out of memory\n", stderr);
        return false;
    }
    for (c->count = 0; c->count < count; c->count++) {
        variant *v = &c->variants[c->count];
        if (!name_variant(c, c->count, v)) return false;
        for (int i = 0; i < c->count; i++)
            if (!strcmp(c->variants[i].name, v->name)) {
                fprintf(stderr, "spate run: --compare: two variants would be called '%s'\n",
                        v->name);
                return false;
            }
    }
    return true;
}

/* ---- Running --------------------------------------------------------------------------------- */

/* The overrides of a variant behind those of all; the list is the caller's to free. */
static bool variant_sets(const comparison *c, const variant *v, text_list *out) {
    const text_list *common = &c->settings->sets;
    out->count = common->count + c->choice_count;
    out->items = calloc((size_t)out->count, sizeof *out->items);
    if (!out->items) return false;
    for (int i = 0; i < common->count; i++) out->items[i] = common->items[i];
    for (int k = 0; k < c->choice_count; k++) out->items[common->count + k] = v->sets[k];
    return true;
}

static spate_status check_variant(comparison *c, variant *v, spate_context *ctx) {
    text_list sets;
    spate_scene *scene;
    if (!variant_sets(c, v, &sets)) return SPATE_OUT_OF_MEMORY;
    spate_status status = spate_scene_load(ctx, c->scene, sets.items, sets.count, &scene);
    free((void *)sets.items);
    if (status) return status;
    const run_settings *s = c->settings;
    if (!c->folder[0])
        status = spate_compare_folder(scene, s->folder, s->resume || s->force, c->folder,
                                      sizeof c->folder);
    spate_scene_free(scene);
    return status;
}

/* Every variant must be a good scene before the first one runs. Silent: the runs themselves warn.
 * */
static spate_status check_variants(comparison *c) {
    spate_context *ctx;
    spate_config config = spate_default_config();
    config.threads = 1;
    spate_status status = spate_open(&config, &ctx);
    if (status) return status;
    for (int i = 0; i < c->count && !status; i++) {
        variant *v = &c->variants[i];
        status = check_variant(c, v, ctx);
        if (!status && snprintf(v->folder, sizeof v->folder, "%s/%s", c->folder, v->name) >=
                           (int)sizeof v->folder) {
            fputs("spate run: the path of the folder is too long\n", stderr);
            status = SPATE_BAD_INPUT;
        } else if (status) {
            v->status = status;
            v->message = strdup(spate_message(ctx));
            fprintf(stderr, "spate: %s: %s\n", v->name, spate_message(ctx));
        }
    }
    spate_close(ctx);
    return status;
}

/* What the library says, with the variant's name in front of it. */
typedef struct variant_log {
    const char *name;
    bool quiet;
} variant_log;

static void log_variant(spate_log_level level, const char *message, void *user) {
    const variant_log *log = user;
    if (level == SPATE_LOG_INFO && log->quiet) return;
    status_line_clear();
    fprintf(stderr, "spate: %s: %s%s\n", log->name, level == SPATE_LOG_WARNING ? "warning: " : "",
            message);
}

static void run_variant(comparison *c, int index) {
    variant *v = &c->variants[index];
    run_settings settings = *c->settings;
    spate_context *ctx = NULL;
    struct stat there;
    char label[NAME_SIZE + 32];
    v->ran = true;
    v->status = SPATE_OUT_OF_MEMORY;
    if (!variant_sets(c, v, &settings.sets)) return;
    settings.folder = v->folder;
    /* A variant that was never begun begins; the others go on. */
    settings.resume = settings.resume && !stat(v->folder, &there);
    snprintf(label, sizeof label, "%s (%d/%d)", v->name, index + 1, c->count);
    variant_log log = {v->name, settings.quiet};
    spate_config config = spate_default_config();
    config.log = log_variant, config.user = &log;
    config.threads = (int)settings.threads;
    v->status = spate_open(&config, &ctx);
    if (!v->status) {
        v->status = run_scene(ctx, c->scene, &settings, label, &v->report);
        status_line_clear();
        if (v->status) {
            v->message = strdup(spate_message(ctx));
            fprintf(stderr, "spate: %s: %s\n", v->name, spate_message(ctx));
        }
        spate_close(ctx);
    }
    free((void *)settings.sets.items);
}

/* ---- What became of them --------------------------------------------------------------------- */

static const char *ending(const variant *v) {
    if (!v->ran) return "not run";
    switch (v->status) {
    case SPATE_OK: return "done";
    case SPATE_BAD_INPUT: return "bad input";
    case SPATE_UNSTABLE: return "unstable";
    case SPATE_NOT_CONVERGED: return "not converged";
    case SPATE_IO_ERROR: return "input/output";
    case SPATE_OUT_OF_MEMORY: return "out of memory";
    case SPATE_INTERRUPTED: return "interrupted";
    }
    return "?";
}

/* The runs have told their warnings already. */
static void log_information(spate_log_level level, const char *message, void *user) {
    const bool *quiet = user;
    if (level == SPATE_LOG_INFO && !*quiet) fprintf(stderr, "spate: %s\n", message);
}

static void tell_file(const char *file, void *user) {
    const run_settings *settings = user;
    if (!settings->quiet && !settings->json) puts(file);
}

static spate_status compare_all(comparison *c) {
    spate_variant list[VARIANTS_MAX];
    run_settings settings = *c->settings;
    spate_config config = spate_default_config();
    spate_context *ctx;
    char title[FIELDS_MAX * 256] = "";
    for (int k = 0, used = 0; k < c->choice_count; k++)
        used += snprintf(title + used, sizeof title - (size_t)used, "%s%s", k ? ", " : "",
                         c->choices[k].path);
    for (int i = 0; i < c->count; i++)
        list[i] =
            (spate_variant){.name = c->variants[i].name,
                            .label = c->variants[i].label,
                            .folder = c->variants[i].folder,
                            .trouble = c->variants[i].status ? ending(&c->variants[i]) : NULL};
    config.log = log_information;
    config.user = &settings.quiet;
    config.threads = (int)settings.threads;
    spate_status status = spate_open(&config, &ctx);
    if (status) return status;
    spate_compare_options options = spate_default_compare_options();
    options.folder = c->folder;
    options.title = title;
    options.wrote = tell_file;
    options.user = &settings;
    options.interrupt = &interrupt_flag;
#ifdef SPATE_NO_PICTURES
    status = spate_compare_table(ctx, list, c->count, &options);
#else
    status = spate_compare(ctx, list, c->count, &options);
#endif
    report_failure(ctx, status);
    spate_close(ctx);
    for (int i = 0; i < c->count; i++) c->variants[i].total_energy = list[i].total_energy;
    return status;
}

static void print_table(const comparison *c) {
    int width = (int)strlen("variant");
    for (int i = 0; i < c->count; i++) {
        const int length = (int)strlen(c->variants[i].name);
        width = length > width ? length : width;
    }
    printf("%-*s  frames     steps  seconds  particle-steps/s  total energy  end\n", width,
           "variant");
    for (int i = 0; i < c->count; i++) {
        const variant *v = &c->variants[i];
        const spate_run_report *r = &v->report;
        char pace[SHORT_TEXT], energy[SHORT_TEXT] = "-";
        if (!isnan(v->total_energy)) snprintf(energy, sizeof energy, "%.6g", v->total_energy);
        printf("%-*s  %6d  %8lld  %7.1f  %16s  %12s  %s\n", width, v->name, r->frames,
               (long long)r->steps, r->wall_seconds,
               short_count(r->particle_steps_per_second, pace), energy, ending(v));
    }
}

static void print_json(const comparison *c, spate_status status) {
    fputs("{\"folder\": ", stdout);
    print_json_text(stdout, c->folder);
    fputs(", \"fields\": [", stdout);
    for (int k = 0; k < c->choice_count; k++) {
        fputs(k ? ", " : "", stdout);
        print_json_text(stdout, c->choices[k].path);
    }
    fputs("], \"variants\": [", stdout);
    for (int i = 0; i < c->count; i++) {
        const variant *v = &c->variants[i];
        fputs(i ? ",\n  {\"variant\": " : "\n  {\"variant\": ", stdout);
        print_json_text(stdout, v->name);
        fputs(", \"set\": [", stdout);
        for (int k = 0; k < c->choice_count; k++) {
            fputs(k ? ", " : "", stdout);
            print_json_text(stdout, v->sets[k]);
        }
        fputs("], ", stdout);
        print_json_report(&v->report, v->status, v->message ? v->message : "");
        if (!isnan(v->total_energy))
            printf(", \"total_energy\": %.15g", v->total_energy);
        else
            fputs(", \"total_energy\": null", stdout);
        printf(", \"end\": \"%s\"}", ending(v));
    }
    printf("\n], \"exit_code\": %d}\n", (int)status);
}

/* The first that did not end well, after all were run; Ctrl-C ends the whole. */
static spate_status run_all(comparison *c) {
    spate_status status = SPATE_OK;
    for (int i = 0; i < c->count && status != SPATE_INTERRUPTED; i++) {
        run_variant(c, i);
        const spate_status now = c->variants[i].status;
        if (now == SPATE_INTERRUPTED || !status) status = now;
    }
    if (status == SPATE_INTERRUPTED) {
        fprintf(stderr, "spate: %s: no pictures yet; go on with --resume\n", c->folder);
        return status;
    }
    const spate_status compared = compare_all(c);
    return status ? status : compared;
}

spate_status compare_run(const char *path, const run_settings *settings) {
    comparison *c = calloc(1, sizeof *c);
    if (!c) {
        fputs("spate: out of memory\n", stderr);
        return SPATE_OUT_OF_MEMORY;
    }
    c->scene = path, c->settings = settings;
    spate_status status = SPATE_BAD_INPUT;
    if (read_choices(c)) {
        for (int i = 0; i < c->count; i++) c->variants[i].total_energy = NAN;
        status = check_variants(c);
        const bool good = !status;
        if (good) status = run_all(c);
        for (int i = 0; i < c->count; i++)
            if (!c->variants[i].ran && !c->variants[i].status) c->variants[i].status = status;
        if (settings->json)
            print_json(c, status);
        else if (good && !settings->quiet)
            print_table(c);
    }
    for (int i = 0; i < c->count; i++) free(c->variants[i].message);
    free(c->variants);
    free(c);
    return status;
}
