/* spate render: pictures, a film or a plot from a run's folder. */
#include "options.h"
#include "terminal.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct render_settings {
    const char *output, *size, *colour, *range, *frames, *plot;
    int64_t samples, threads;
    bool no_film, points, quiet;
} render_settings;

#define AT(member) .offset = offsetof(render_settings, member)
static const option render_options[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     AT(output),
     .argument = "DIR",
     .help = "Where the pictures go; default: pictures/ in the run's folder"},
    {.name = "size",
     .type = OPTION_TEXT,
     AT(size),
     .argument = "WxH",
     .help = "Pixels of a picture; default 1280x720"},
    {.name = "colour",
     .type = OPTION_TEXT,
     AT(colour),
     .argument = "NAME",
     .help = "Attribute to colour by; default: material; speed of what fills a 2D domain"},
    {.name = "range",
     .type = OPTION_TEXT,
     AT(range),
     .argument = "MIN,MAX",
     .help = "Range of the colours; default: from the data"},
    {.name = "frames",
     .type = OPTION_TEXT,
     AT(frames),
     .argument = "A-B",
     .help = "Only frame A, or A to B"},
    {.name = "samples",
     .type = OPTION_INTEGER,
     AT(samples),
     .argument = "N",
     .min = 1,
     .max = 1024,
     .help = "Rays a pixel in 3D; default 4"},
    {.name = "points", .type = OPTION_FLAG, AT(points), .help = "In 2D, draw liquid as points"},
    {.name = "no-film", .type = OPTION_FLAG, AT(no_film), .help = "Pictures only"},
    {.name = "plot",
     .type = OPTION_TEXT,
     AT(plot),
     .argument = "A,B...",
     .help = "Instead of pictures: columns of stats.csv against time"},
    {.name = "threads",
     .type = OPTION_INTEGER,
     AT(threads),
     .argument = "N",
     .min = 1,
     .max = 1024,
     .help = "Worker threads; by default one per core"},
    {.name = "quiet", .letter = 'q', .type = OPTION_FLAG, AT(quiet), .help = "No progress"},
};
#undef AT

/* Two numbers with `between` in the middle; `alone` allows one number to stand for both. */
static bool read_two(const char *text, char between, bool alone, double out[2]) {
    char first[64];
    const char *middle = text[0] ? strchr(text + 1, between) : NULL;
    if (!middle) return alone && read_number(text, &out[0]) && read_number(text, &out[1]);
    if ((size_t)(middle - text) >= sizeof first) return false;
    memcpy(first, text, (size_t)(middle - text));
    first[middle - text] = 0;
    return read_number(first, &out[0]) && read_number(middle + 1, &out[1]);
}

static bool wrong_value(const char *name, const char *value, const char *form) {
    fprintf(stderr, "spate render: --%s needs %s, not '%s'\n", name, form, value);
    return false;
}

static bool read_settings(const render_settings *s, spate_render_options *o) {
    double two[2];
    if (s->size) {
        if (!read_two(s->size, 'x', false, two) || two[0] < 16 || two[1] < 16 || two[0] > 16384 ||
            two[1] > 16384)
            return wrong_value("size", s->size, "pixels such as 1280x720 (16 to 16384)");
        o->width = (int)two[0], o->height = (int)two[1];
    }
    if (s->range) {
        if (!read_two(s->range, ',', false, two) || two[0] >= two[1])
            return wrong_value("range", s->range, "two rising numbers such as 0,5");
        o->range[0] = two[0], o->range[1] = two[1];
    }
    if (s->frames) {
        if (!read_two(s->frames, '-', true, two) || two[0] < 0 || two[1] < two[0] || two[1] > 1e8)
            return wrong_value("frames", s->frames, "a frame or a range such as 10-20");
        o->first = (int)two[0], o->last = (int)two[1];
    }
    if (s->samples) o->samples = (int)s->samples;
    o->colour = s->colour;
    o->plot = s->plot;
    o->output = s->output;
    o->film = !s->no_film;
    o->points = s->points;
    return true;
}

/* On a terminal a counter, otherwise only the last file is named. */
static void tell_progress(int done, int total, const char *file, void *user) {
    const bool *terminal = user;
    if (*terminal && done < total) {
        char line[128];
        snprintf(line, sizeof line, "picture %d/%d", done, total);
        status_line(line);
    } else if (done >= total && file) {
        status_line_clear();
        puts(file);
    }
}

static int run_render(const command *self, int argc, char **argv) {
    render_settings settings = {0};
    arguments args;
    int exit_code;
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    spate_render_options options = spate_default_render_options();
    if (!read_settings(&settings, &options)) return SPATE_BAD_INPUT;
    spate_context *ctx;
    spate_status status = session_open(settings.threads, settings.quiet, &ctx);
    if (status) return status;
    bool terminal = isatty(STDOUT_FILENO);
    options.progress = settings.quiet ? NULL : tell_progress;
    options.user = &terminal;
    options.interrupt = &interrupt_flag;
    catch_interrupts();
    status = spate_render(ctx, args.items[0], &options);
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

const command command_render = {
    .name = "render",
    .synopsis = "DIR",
    .summary = "Pictures (PNG) and a film (MP4) from a run's frames",
    .details = "The camera comes from the scene. The film needs ffmpeg on the PATH.",
    .options = render_options,
    .option_count = COUNT_OF(render_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_render,
};
