/* Columns by their names, probes by their kinds. */
#include "frames/units.h"
#include "core/text.h"
#include <stdio.h>

typedef enum quantity {
    PURE,
    TIME,
    LENGTH,
    SPEED,
    RATE,
    PRESSURE,
    DENSITY,
    MASS,
    MOMENTUM,
    ANGULAR,
    ENERGY,
    VOLUME,
    FORCE,
    TORQUE,
    QUANTITIES
} quantity;

/* In SI and cgs, of 3D and 2D. */
static const char *const words[QUANTITIES][2][2] = {
    [PURE] = {{"", ""}, {"", ""}},
    [TIME] = {{"s", "s"}, {"s", "s"}},
    [LENGTH] = {{"m", "m"}, {"cm", "cm"}},
    [SPEED] = {{"m/s", "m/s"}, {"cm/s", "cm/s"}},
    [RATE] = {{"1/s", "1/s"}, {"1/s", "1/s"}},
    [PRESSURE] = {{"Pa", "Pa"}, {"Ba", "Ba"}},
    [DENSITY] = {{"kg/m^3", "kg/m^3"}, {"g/cm^3", "g/cm^3"}},
    [MASS] = {{"kg", "kg/m"}, {"g", "g/cm"}},
    [MOMENTUM] = {{"kg m/s", "kg/s"}, {"g cm/s", "g/s"}},
    [ANGULAR] = {{"kg m^2/s", "kg m/s"}, {"g cm^2/s", "g cm/s"}},
    [ENERGY] = {{"J", "J/m"}, {"erg", "erg/cm"}},
    [VOLUME] = {{"m^3", "m^2"}, {"cm^3", "cm^2"}},
    [FORCE] = {{"N", "N/m"}, {"dyn", "dyn/cm"}},
    [TORQUE] = {{"N m", "N"}, {"dyn cm", "dyn"}},
};

static quantity of_probe(probe_kind kind) {
    switch (kind) {
    case PROBE_EXTENT:
    case PROBE_HEIGHT:
    case PROBE_DEPTH:
    case PROBE_SPREAD:
    case PROBE_CENTER_OF_MASS: return LENGTH;
    case PROBE_PRESSURE: return PRESSURE;
    case PROBE_VELOCITY:
    case PROBE_MEAN_SPEED: return SPEED;
    case PROBE_CONTACT_FORCE: return FORCE;
    case PROBE_COUNT:
    case PROBE_PIECES:
    case PROBE_LARGEST_PIECE:
    case PROBE_MIXING: return PURE;
    }
    return PURE;
}

/* The length of a name without the "_x", "_y" or "_z" of a coordinate. */
static size_t stem_of(const char *name) {
    const size_t length = strlen(name);
    const bool coordinate =
        length > 2 && name[length - 2] == '_' && name[length - 1] >= 'x' && name[length - 1] <= 'z';
    return coordinate ? length - 2 : length;
}

static bool is_word(const char *name, size_t length, const char *word) {
    return strlen(word) == length && !memcmp(name, word, length);
}

static quantity of_column(const char *name, size_t stem) {
    static const struct {
        const char *name;
        quantity quantity;
    } known[] = {
        {"time", TIME},           {"dt", TIME},
        {"wall_seconds", TIME},   {"mass", MASS},
        {"momentum", MOMENTUM},   {"angular", ANGULAR},
        {"volume", VOLUME},       {"liquid_volume", VOLUME},
        {"max_speed", SPEED},     {"max_divergence", RATE},
        {"max_density", DENSITY}, {"penetration_max", LENGTH},
        {"lightest", MASS},       {"sheet_momentum", MOMENTUM},
    };
    for (int i = 0; i < COUNT_OF(known); i++)
        if (is_word(name, stem, known[i].name)) return known[i].quantity;
    if (text_ends_with(name, stem, "_energy")) return ENERGY;
    if (text_ends_with(name, stem, "_force")) return FORCE;
    if (text_ends_with(name, stem, "_torque")) return TORQUE;
    return PURE;
}

static quantity quantity_of(const spate_scene *scene, const char *name) {
    const size_t stem = stem_of(name);
    for (int i = 0; i < scene->probe_count; i++) {
        const probe *p = &scene->probes[i];
        if (!strcmp(p->name, name) || is_word(name, stem, p->name)) return of_probe(p->kind);
    }
    return of_column(name, stem);
}

const char *units_of_column(const spate_scene *scene, const char *name) {
    return words[quantity_of(scene, name)][scene->units == UNITS_CGS][scene->dim == 2];
}

void units_label(const spate_scene *scene, const char *name, char *out, size_t size) {
    const char *unit = units_of_column(scene, name);
    snprintf(out, size, *unit ? "%s [%s]" : "%s%s", name, unit);
}
