/* spate render: pictures, a film or a plot from a run's folder. */
#include "options.h"
#include "progress.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct render_settings {
    const char *output, *size, *colour, *range, *frames, *camera, *speed, *loop, *plot;
    double fov, orbit, fps;
    text_list sets;
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
     .also = "color",
     .type = OPTION_TEXT,
     AT(colour),
     .argument = "NAME",
     .help =
         "Attribute to colour by (or --color); default: material; speed of what fills a 2D domain"},
    {.name = "range",
     .type = OPTION_TEXT,
     AT(range),
     .argument = "MIN,MAX",
     .help = "Range of the colours; default: that of the whole run"},
    FRAMES_OPTION,
    {.name = "camera",
     .type = OPTION_TEXT,
     AT(camera),
     .argument = "FROM:TO",
     .help = "Where it stands and what it looks at, x,y,z:x,y,z; 2D: corners of what is shown"},
    {.name = "fov",
     .type = OPTION_NUMBER,
     AT(fov),
     .argument = "DEGREES",
     .min = 1,
     .max = 170,
     .help = "Vertical angle of view in 3D"},
    {.name = "orbit",
     .type = OPTION_NUMBER,
     AT(orbit),
     .argument = "DEGREES",
     .min = -36000,
     .max = 36000,
     .help = "How far the camera circles what it looks at, over the run"},
    {.name = "set",
     .type = OPTION_LIST,
     AT(sets),
     .argument = "PATH=VALUE",
     .help = "Override camera..., name or a color of the scene; may be repeated"},
    {.name = "samples",
     .type = OPTION_INTEGER,
     AT(samples),
     .argument = "N",
     .min = 1,
     .max = 1024,
     .help = "Rays a pixel in 3D; default 4"},
    {.name = "points", .type = OPTION_FLAG, AT(points), .help = "In 2D, draw liquid as points"},
    {.name = "no-film", .type = OPTION_FLAG, AT(no_film), .help = "Pictures only"},
    {.name = "fps",
     .type = OPTION_NUMBER,
     AT(fps),
     .argument = "N",
     .min = 1,
     .max = 1000,
     .help = "Pictures a second of the film; default: as the frames pass, 12 to 60"},
    {.name = "speed",
     .type = OPTION_TEXT,
     AT(speed),
     .argument = "S",
     .help = "Simulated seconds a second of the film, 0.25 or 1/4; default: 1, or less for 4 s"},
    {.name = "loop",
     .type = OPTION_TEXT,
     AT(loop),
     .argument = "N",
     .help = "Show the run N times in the film; pingpong: forth and back"},
    {.name = "plot",
     .type = OPTION_TEXT,
     AT(plot),
     .argument = "A,B...",
     .help = "Instead of pictures: columns of stats.csv, or total_energy, against time"},
    THREADS_OPTION("Worker threads; by default one per core"),
    QUIET_OPTION,
};
#undef AT

/* Two numbers with `between` in the middle. */
static bool read_two(const char *text, char between, double out[2]) {
    char first[64];
    const char *middle = text[0] ? strchr(text + 1, between) : NULL;
    if (!middle || (size_t)(middle - text) >= sizeof first) return false;
    memcpy(first, text, (size_t)(middle - text));
    first[middle - text] = 0;
    return read_number(first, &out[0]) && read_number(middle + 1, &out[1]);
}

static bool is_whole(double value, double min, double max) {
    return value >= min && value <= max && value == (double)(int64_t)value;
}

/* "0.25" or "1/4". */
static bool read_speed(const char *text, double *out) {
    double two[2];
    if (read_number(text, out)) return *out > 0;
    if (!read_two(text, '/', two) || !(two[0] > 0 && two[1] > 0)) return false;
    *out = two[0] / two[1];
    return true;
}

static bool read_loop(const char *text, spate_render_options *o) {
    int64_t times;
    o->pingpong = !strcmp(text, "pingpong");
    if (o->pingpong) return true;
    if (!read_integer(text, &times) || times < 1 || times > 1000) return false;
    o->loops = (int)times;
    return true;
}

static bool read_size(const char *text, spate_render_options *o) {
    double two[2];
    if (!read_two(text, 'x', two) || !is_whole(two[0], 16, 16384) || !is_whole(two[1], 16, 16384))
        return false;
    o->width = (int)two[0], o->height = (int)two[1];
    return true;
}

static bool read_settings(const command *self, const render_settings *s, spate_render_options *o) {
    if (s->size && !read_size(s->size, o))
        return wrong_value(self, "size", s->size, "pixels such as 1280x720 (16 to 16384 each)");
    if (s->range && (!read_two(s->range, ',', o->range) || o->range[0] >= o->range[1]))
        return wrong_value(self, "range", s->range, "two rising numbers such as 0,5");
    if (!read_frames_option(self, s->frames, &o->first, &o->last)) return false;
    if (s->speed && !read_speed(s->speed, &o->speed))
        return wrong_value(self, "speed", s->speed,
                           "simulated seconds a second of the film such as 0.25 or 1/4");
    if (s->loop && !read_loop(s->loop, o))
        return wrong_value(self, "loop", s->loop, "how often (1 to 1000), or pingpong");
    if (s->samples) o->samples = (int)s->samples;
    o->colour = s->colour;
    o->camera = s->camera;
    o->fov = s->fov;
    o->orbit = s->orbit;
    o->sets = s->sets.items, o->set_count = s->sets.count;
    o->fps = s->fps;
    o->plot = s->plot;
    o->output = s->output;
    o->film = !s->no_film;
    o->points = s->points;
    return true;
}

static spate_status render_folder(const command *self, const char *folder,
                                  const render_settings *settings) {
    spate_render_options options = spate_default_render_options();
    frame_work work;
    if (!read_settings(self, settings, &options)) return SPATE_BAD_INPUT;
    const spate_status status =
        frame_work_open(&work, "picture", settings->threads, settings->quiet);
    if (status) return status;
    options.progress = work.progress;
    options.user = &work;
    options.interrupt = &interrupt_flag;
    return frame_work_close(&work, spate_render(work.ctx, folder, &options));
}

static int run_render(const command *self, int argc, char **argv) {
    render_settings settings = {.orbit = spate_default_render_options().orbit};
    arguments args;
    int exit_code;
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    const spate_status status = render_folder(self, args.items[0], &settings);
    options_free(self, &settings);
    return status;
}

const command command_render = {
    .name = "render",
    .synopsis = "DIR",
    .summary = "Pictures (PNG) and a film (MP4) from a run's frames",
    .details =
        "The camera comes from the scene, or from the options here: nothing needs to run again.\n"
        "A film that would be shorter than 4 s is in slow motion, which is written into its "
        "corner;\n"
        "it needs ffmpeg on the PATH. One frame alone is a still, without a film.",
    .options = render_options,
    .option_count = COUNT_OF(render_options),
    .arguments_min = 1,
    .arguments_max = 1,
    .run = run_render,
};
