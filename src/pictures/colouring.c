/* Attributes to colours, and the caption. */
#include "pictures/colouring.h"
#include "core/file.h"
#include "core/random.h"
#include "core/text.h"
#include "pictures/draw/plot.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *unit_of(const char *attribute, unit_system units) {
    static const struct {
        const char *name, *si, *cgs;
    } known[] = {
        {"speed", "m/s", "cm/s"},        {"v", "m/s", "cm/s"},      {"P", "m", "cm"},
        {"pressure", "Pa", "Ba"},        {"stress", "Pa", "Ba"},    {"density", "kg/m^3", "g/cm^3"},
        {"pscale", "m", "cm"},           {"C", "1/s", "1/s"},       {"velocity", "m/s", "cm/s"},
        {"energy", "J/m^3", "erg/cm^3"}, {"temperature", "K", "K"}, {"vorticity", "1/s", "1/s"},
    };
    size_t length = strcspn(attribute, "_");
    for (int i = 0; i < COUNT_OF(known); i++)
        if (strlen(known[i].name) == length && !memcmp(known[i].name, attribute, length))
            return units == UNITS_SI ? known[i].si : known[i].cgs;
    return "";
}

/* Whether the scene says what colour matter has. */
bool colouring_gives_colour(const spate_scene *scene) {
    bool any = scene_colors_groups(scene);
    for (int i = 0; i < scene->material_count; i++) any |= scene->materials[i].color.given;
    return any;
}

spate_status colouring_create(const spate_scene *scene, const char *colour, colouring *out) {
    *out = (colouring){.scene = scene, .high = 1};
    const bool smoke = scene_on_grid(scene);
    if (!colour || !strcmp(colour, "material")) colour = "";
    if (strlen(colour) >= sizeof out->attribute)
        return fail(scene->ctx, SPATE_BAD_INPUT, "colour: '%.80s...' is no particle attribute",
                    colour);
    memcpy(out->attribute, colour, strlen(colour) + 1);
    /* The density of smoke is an amount. */
    const char *unit = smoke && !strcmp(colour, "density") ? "" : unit_of(colour, scene->units);
    snprintf(out->label, sizeof out->label, *unit ? "%s [%s]" : "%s%s", colour, unit);
    return SPATE_OK;
}

bool colouring_by_material(const colouring *s) { return !s->attribute[0]; }

/* What a frame can be coloured by: its attributes, and what is made of its velocity. */
static spate_status fail_attribute(const colouring *s, const snapshot *frame, const char *file) {
    spate_context *ctx = s->scene->ctx;
    char what[PATH_SIZE + 64];
    const char **names = take(ctx, (size_t)frame->array_count + 2, sizeof *names);
    if (!names) return SPATE_OUT_OF_MEMORY;
    int count = 0;
    names[count++] = "speed";
    for (int i = 0; i < frame->array_count; i++) names[count++] = frame->arrays[i].name;
    snprintf(what, sizeof what, "%s: no attribute to colour by is called", file);
    spate_status status = text_fail_unknown(ctx, what, s->attribute, names, count);
    give(ctx, names);
    if (status != SPATE_BAD_INPUT || frame->on_grid) return status;
    return fail(ctx, status, "%s (output.fields adds others)", ctx->message);
}

spate_status colouring_source(const colouring *s, const snapshot *frame, const char *file,
                              colour_source *out) {
    *out = (colour_source){.component = -1,
                           .groups = snapshot_find(frame, "group"),
                           .ids = snapshot_find(frame, "id"),
                           .fractions = snapshot_find(frame, "concentration")};
    if (colouring_by_material(s)) return SPATE_OK;
    out->array = snapshot_find(frame, s->attribute);
    if (!out->array && !strcmp(s->attribute, "speed"))
        out->array = snapshot_find(frame, frame->on_grid ? "velocity" : "v");
    if (!out->array) {
        /* "v_y": one component of a vector. */
        char base[SNAPSHOT_NAME];
        size_t length = strlen(s->attribute);
        int axis =
            length > 2 && s->attribute[length - 2] == '_' ? s->attribute[length - 1] - 'x' : -1;
        snprintf(base, sizeof base, "%.*s", (int)(length > 2 ? length - 2 : 0), s->attribute);
        const snapshot_array *array = axis >= 0 && axis < 3 ? snapshot_find(frame, base) : NULL;
        if (array && array->components == 3) out->array = array, out->component = axis;
    }
    return out->array ? SPATE_OK : fail_attribute(s, frame, file);
}

double colouring_value(const colour_source *by, int64_t particle) {
    const snapshot_array *a = by->array;
    if (by->component >= 0) return snapshot_value(a, particle, by->component);
    if (a->components == 1) return snapshot_value(a, particle, 0);
    double sum = 0;
    for (int c = 0; c < a->components; c++) {
        double v = snapshot_value(a, particle, c);
        sum += v * v;
    }
    return sqrt(sum);
}

/* The first material of a model that has no colour given has the model's; all others take the
 * palette's. */
rgb colouring_of_material(const spate_scene *scene, int index) {
    if (index >= scene->material_count || !scene->materials[index].type)
        return colour_material(index);
    const material *m = &scene->materials[index];
    bool first = true;
    for (int i = 0; i < index; i++)
        first &= scene->materials[i].type != m->type || scene->materials[i].color.given;
    return colour_given(&m->color,
                        first ? colour_from_hex(m->type->color) : colour_material(index));
}

/* A whole number of a particle's, or one that no list has. */
static int whole_value(const snapshot_array *a, int64_t particle) {
    double value = snapshot_value(a, particle, 0);
    return value >= 0 && value < 1e6 ? (int)value : 0;
}

static int material_index(const snapshot_array *materials, int64_t particle) {
    return materials ? whole_value(materials, particle) : 0;
}

const material *colouring_material(const colouring *s, const snapshot_array *materials,
                                   int64_t particle) {
    const int m = material_index(materials, particle);
    return m < s->scene->material_count ? &s->scene->materials[m] : NULL;
}

/* Grains differ, each by its id and for ever; what a colour map shows does not. */
static bool is_grain(const colouring *s, const snapshot_array *materials, const colour_source *by,
                     int64_t particle) {
    const material *m = by->array ? NULL : colouring_material(s, materials, particle);
    return m && m->look == LOOK_GRAINS;
}

enum { STREAM_LIGHT = 1, STREAM_WARM, STREAM_SIZE, STREAM_OWN };

static uint64_t id_of(const colour_source *by, int64_t particle) {
    return by->ids ? (uint64_t)snapshot_value(by->ids, particle, 0) : (uint64_t)particle;
}

float colouring_own(const colour_source *by, int64_t particle) {
    return (float)random_unit(1, id_of(by, particle), STREAM_OWN);
}

/* From -1 to 1, most of them near 0. */
static float grain_chance(const colour_source *by, int64_t particle, uint64_t stream) {
    const uint64_t id = id_of(by, particle);
    return (float)(random_unit(1, id, stream) + random_unit(2, id, stream) - 1);
}

static rgb vary(rgb c, const colour_source *by, int64_t particle) {
    /* Dark stuff may differ more than white, which has nowhere to go. */
    const float room = 0.15f + 0.55f * (1 - colour_lightness(c));
    const float light = 1 + room * grain_chance(by, particle, STREAM_LIGHT),
                warm = 0.4f * room * grain_chance(by, particle, STREAM_WARM);
    return (rgb){c.r * light * (1 + warm), c.g * light, c.b * light * (1 - warm)};
}

/* The colour of the body or source it came from, which need not be given. */
static field_color group_color(const colouring *s, const colour_source *by, int64_t particle) {
    const int group = by->groups ? whole_value(by->groups, particle) : -1;
    if (group < 0 || group >= scene_group_count(s->scene)) return (field_color){0};
    return *scene_group_color(s->scene, group);
}

bool colouring_is_given(const colouring *s, const snapshot_array *materials,
                        const colour_source *by, int64_t particle) {
    const material *m = colouring_material(s, materials, particle);
    return !by->array && ((m && m->color.given) || group_color(s, by, particle).given);
}

/* The colour of what is mixed in a particle: that of each species by its share. */
static rgb mixed_colour(const colouring *s, const colour_source *by, int64_t particle, rgb own) {
    const spate_scene *scene = s->scene;
    rgb sum = {0, 0, 0};
    double all = 0;
    for (int k = 0; k < scene->species_count && by->fractions; k++) {
        const double share = fmax(snapshot_value(by->fractions, particle, k), 0);
        const rgb c = colouring_of_material(scene, scene->species[k].material);
        const float f = (float)share;
        sum = (rgb){sum.r + f * c.r, sum.g + f * c.g, sum.b + f * c.b};
        all += share;
    }
    const float scale = all > 0 ? 1 / (float)all : 0;
    return all > 0 ? (rgb){sum.r * scale, sum.g * scale, sum.b * scale} : own;
}

rgb colouring_colour(const colouring *s, const snapshot_array *materials, const colour_source *by,
                     int64_t particle) {
    if (by->array)
        return colouring_map(s)((colouring_value(by, particle) - s->low) / (s->high - s->low));
    const field_color own = group_color(s, by, particle);
    const rgb colour = mixed_colour(
        s, by, particle,
        colour_given(&own, colouring_of_material(s->scene, material_index(materials, particle))));
    return is_grain(s, materials, by, particle) ? vary(colour, by, particle) : colour;
}

double colouring_size(const colouring *s, const snapshot_array *materials, const colour_source *by,
                      int64_t particle) {
    const float spread = 0.35f;
    return is_grain(s, materials, by, particle)
               ? 1 + spread * grain_chance(by, particle, STREAM_SIZE)
               : 1;
}

rgb colouring_smoke(const colouring *s, int index) {
    const spate_scene *scene = s->scene;
    if (index >= scene->material_count || !scene->materials[index].type)
        return colour_material(index);
    const material *m = &scene->materials[index];
    return colour_given(&m->color, scene->material_count > 1 ? colour_material(index)
                                                             : colour_from_hex(m->type->color));
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

spate_status colouring_measure(const colouring *s, const snapshot *frame, const char *file,
                               double *low, double *high) {
    enum { PROBES = 4096 };
    colour_source by;
    TRY(colouring_source(s, frame, file, &by));
    if (!by.array || !frame->count) return SPATE_OK;
    double *values = take(s->scene->ctx, PROBES, sizeof *values);
    if (!values) return SPATE_OUT_OF_MEMORY;
    int64_t n = frame->count < PROBES ? frame->count : PROBES;
    int count = 0;
    for (int64_t i = 0; i < n; i++) {
        /* Even steps through a grid would only meet some of its columns. */
        int64_t place = frame->on_grid
                            ? (int64_t)(random_bits(1, (uint64_t)i, 0) % (uint64_t)frame->count)
                            : i * frame->count / n;
        double v = colouring_value(&by, place);
        if (isfinite(v)) values[count++] = v;
    }
    if (count) {
        qsort(values, (size_t)count, sizeof *values, compare);
        *low = fmin(*low, values[count / 100]);
        *high = fmax(*high, values[count - 1 - count / 100]);
    }
    give(s->scene->ctx, values);
    return SPATE_OK;
}

void colouring_set_range(colouring *s, double low, double high) {
    if (!(low <= high)) low = 0, high = 1;
    /* Lengths begin at nothing. */
    if (low >= 0 && low < 0.3 * high) low = 0;
    const double less = fmin(-low, high), more = fmax(-low, high);
    s->both = less > 0.1 * more;
    if (s->both) low = -more, high = more;
    double step = plot_choose_ticks(low, high, 5).step;
    s->low = floor(low / step + 1e-9) * step;
    s->high = ceil(high / step - 1e-9) * step;
    if (!(s->high > s->low)) s->high = s->low + step;
}

rgb (*colouring_map(const colouring *s))(double at) {
    return s->both ? colour_map_signed : colour_map;
}

double colouring_margin(const colouring *s, const picture *p) {
    return s->plain || colouring_by_material(s) ? 0 : 9 * caption_letters(p);
}

static void draw_colour_bar(const colouring *s, picture *out) {
    const rgb ink = caption_ink(out);
    double size = caption_letters(out), x1 = out->width - 7 * size, x0 = x1 - 1.4 * size;
    double y0 = 0.25 * out->height, y1 = 0.75 * out->height;
    picture_colour_bar(out, x0, y0, x1, y1, colouring_map(s));
    plot_ticks t = plot_choose_ticks(s->low, s->high, 5);
    for (int i = 0; i < t.count; i++) {
        double v = plot_tick(&t, i), y = y1 + (v - s->low) / (s->high - s->low) * (y0 - y1);
        char number[48];
        plot_tick_text(&t, v, number, sizeof number);
        picture_line(out, (picture_ends){x1, y, x1 + 0.5 * size, y}, 1, ink, 1);
        picture_text(out, x1 + size, y + 0.5 * size, size, ALIGN_LEFT, ink, number);
    }
    double width = picture_text_width(size, s->label),
           x = fmin(x0, out->width - 1.5 * size - width);
    picture_text(out, x, y0 - 1.6 * size, size, ALIGN_LEFT, ink, s->label);
}

void colouring_caption(const colouring *s, double time, picture *out) {
    double size = caption_letters(out), x = 2.2 * size, y = out->height - 2.2 * size;
    char words[64];
    const rgb ink = caption_ink(out);
    if (s->plain) return;
    snprintf(words, sizeof words, "t = %.3f s", time);
    for (char *c = words; *c; c++)
        if (*c == ',') *c = '.';
    picture_text(out, x, y, size, ALIGN_LEFT, ink, s->scene->name ? s->scene->name : "");
    picture_text(out, out->width - x, y, size, ALIGN_RIGHT, ink, words);
    if (!colouring_by_material(s)) draw_colour_bar(s, out);
}

void colouring_scale_bar(const colouring *s, double pixels_a_unit, picture *out) {
    double size = caption_letters(out), length = plot_round_down(0.2 * out->width / pixels_a_unit);
    double half = 0.5 * length * pixels_a_unit, x = 0.5 * out->width, y = out->height - 1.6 * size;
    char number[40], words[48];
    const rgb ink = caption_ink(out);
    if (s->plain) return;
    plot_number_text(length, number, sizeof number);
    snprintf(words, sizeof words, "%s %s", number, s->scene->units == UNITS_SI ? "m" : "cm");
    picture_line(out, (picture_ends){x - half, y, x + half, y}, 0.22 * size, ink, 1);
    for (int end = -1; end <= 1; end += 2)
        picture_line(out, (picture_ends){x + end * half, y - 0.5 * size, x + end * half, y},
                     0.22 * size, ink, 1);
    picture_text(out, x, y - 0.8 * size, size, ALIGN_MIDDLE, ink, words);
}
