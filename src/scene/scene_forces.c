/* Reading force fields: `forces:` of a scene, and those that events bring. */
#include "core/vec.h"
#include "scene/event_tables.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <stdio.h>

#define ACCELERATION_MOST 1e6
#define CENTER(help_)     REQUIRED_VECTOR(force_field, center, "m", ANY_MIN, ANY_MAX, help_)

static const field wind_fields[] = {
    REQUIRED_VECTOR(force_field, acceleration, "m/s^2", -ACCELERATION_MOST, ACCELERATION_MOST,
                    "of everything"),
};
static const field attractor_fields[] = {
    CENTER("what it pulls to"),
    REQUIRED_NUMBER(force_field, strength, "m^3/s^2", -1e12, 1e12,
                    "mu: far away it pulls with mu / r^2; less than 0: pushes away"),
    REQUIRED_NUMBER(force_field, softening, "m", SMALLEST, ANY_MAX,
                    "s: the pull is mu r / (r^2 + s^2)^(3/2), nothing at the centre"),
};
static const field vortex_fields[] = {
    CENTER("a point of its axis"),
    VECTOR_FIELD(force_field, axis, "", NAN, ANY_MIN, ANY_MAX,
                 "what it turns about, counter-clockwise; default: z; 2D: always z"),
    REQUIRED_NUMBER(force_field, strength, "m/s^2", -ACCELERATION_MOST, ACCELERATION_MOST,
                    "acceleration at the radius"),
    REQUIRED_NUMBER(force_field, radius, "m", SMALLEST, ANY_MAX,
                    "within it the acceleration grows with the distance, beyond it falls with it"),
};
static const field turbulence_fields[] = {
    REQUIRED_NUMBER(force_field, strength, "m/s^2", 0, ACCELERATION_MOST,
                    "root mean square of the acceleration"),
    REQUIRED_NUMBER(force_field, length, "m", SMALLEST, ANY_MAX, "size of the eddies"),
    NUMBER_FIELD(force_field, period, "s", 0, 0, ANY_MAX,
                 "time in which they become others; 0: never"),
    INTEGER_FIELD(force_field, seed, 0, 0, 9007199254740992.0, "another one, other eddies"),
};
#define RATE_MOST 1e9
static const field drag_fields[] = {
    REQUIRED_NUMBER(force_field, rate, "1/s", 0, RATE_MOST,
                    "velocities near that of the medium as exp(-rate t)"),
    VECTOR_FIELD(force_field, velocity, "m/s", 0, ANY_MIN, ANY_MAX, "of the medium"),
};
static const field mouse_fields[] = {
    CENTER("where it is"),
    REQUIRED_NUMBER(force_field, radius, "m", SMALLEST, ANY_MAX, "what it reaches"),
    VECTOR_FIELD(force_field, velocity, "m/s", 0, ANY_MIN, ANY_MAX, "that it gives"),
    NUMBER_FIELD(force_field, rate, "1/s", 50, 0, RATE_MOST,
                 "how fast, at the centre; less towards the radius"),
};

#define KIND(word, about, array) \
    { #word, FIELD_TABLE("forces: " #word, about, array, force_field) }
const force_declaration scene_forces[FORCE_KINDS] = {
    [FORCE_WIND] = KIND(wind, "The same acceleration everywhere, as gravity.", wind_fields),
    [FORCE_ATTRACTOR] = KIND(attractor, "Pulls to a point.", attractor_fields),
    [FORCE_VORTEX] = KIND(vortex, "Pushes around an axis.", vortex_fields),
    [FORCE_TURBULENCE] =
        KIND(turbulence, "Eddies at random, without divergence.", turbulence_fields),
    [FORCE_DRAG] = KIND(drag, "Slows down, or takes along.", drag_fields),
    [FORCE_MOUSE] =
        KIND(mouse, "A ball that takes along what is in it: a hand that stirs.", mouse_fields),
};

bool force_unit_axis(double axis[3]) {
    const double square = vec_dot(axis, axis);
    return fabs(square - 1) < 1e-12 || (isfinite(square) && vec_normalise(axis));
}

/* What every kind has. */
typedef struct force_common {
    const char *name;
    double from, until, min[3], max[3];
} force_common;

static const field force_fields[] = {
    TEXT_FIELD(force_common, name, "default: force 1, force 2, ...; unique"),
    PART_FIELD("wind", "mapping", false, "the same acceleration everywhere"),
    PART_FIELD("attractor", "mapping", false, "pulls to a point"),
    PART_FIELD("vortex", "mapping", false, "pushes around an axis"),
    PART_FIELD("turbulence", "mapping", false, "eddies at random"),
    PART_FIELD("drag", "mapping", false, "slows down, or takes along"),
    PART_FIELD("mouse", "mapping", false, "a ball that takes along what is in it"),
    NUMBER_FIELD(force_common, from, "s", 0, 0, ANY_MAX, "when it begins"),
    NUMBER_FIELD(force_common, until, "s", HUGE_VAL, 0, ANY_MAX, "when it ends"),
    VECTOR_FIELD(force_common, min, "m", -HUGE_VAL, ANY_MIN, ANY_MAX,
                 "lowest corner of the box in which it acts; default: everywhere"),
    VECTOR_FIELD(force_common, max, "m", HUGE_VAL, ANY_MIN, ANY_MAX, "its highest corner"),
    PART_FIELD("region", "mapping", false,
               "only inside this shape; see shapes. Not in events, where min and max serve"),
};
const field_table scene_force_table = FIELD_TABLE(
    "forces",
    "Each entry is a force field of one of the kinds, which acts on all material besides "
    "gravity: `forces: [{wind: {acceleration: [2, 0]}, until: 1}]`.",
    force_fields, force_common);

static spate_status find_kind(reader *r, const yaml_value *v, int *kind) {
    *kind = -1;
    for (int k = 0; k < FORCE_KINDS; k++) {
        if (!yaml_find(v, scene_forces[k].name)) continue;
        if (*kind >= 0)
            return reader_fail(r, v, "both '%s' and '%s'; make two force fields of it",
                               scene_forces[*kind].name, scene_forces[k].name);
        *kind = k;
    }
    if (*kind >= 0) return SPATE_OK;
    return reader_fail(r, v, "no force; add wind: {acceleration: ...}, or another kind");
}

static spate_status set_name(reader *r, const yaml_value *v, const char *name, int index,
                             force_field *out) {
    if (!name)
        snprintf(out->name, sizeof out->name, "force %d", index + 1);
    else if (!*name || strlen(name) >= sizeof out->name)
        return reader_fail_field(r, reader_at(v, "name"), "name", "give 1 to %d letters",
                                 FORCE_NAME - 1);
    else
        memcpy(out->name, name, strlen(name));
    return SPATE_OK;
}

static spate_status read_region(reader *r, const yaml_value *v, shape **region) {
    const yaml_value *given = yaml_find(v, "region");
    if (!given) return SPATE_OK;
    if (!region)
        return reader_fail_field(r, given, "region", "an event takes a box; use min and max");
    int back = reader_enter(r, "region");
    TRY(scene_read_shape(r, given, region));
    TRY(scene_refuse_sequence(r, given, *region, "region"));
    reader_leave(r, back);
    return SPATE_OK;
}

spate_status scene_read_force(reader *r, const yaml_value *v, int index, force_field *out,
                              shape **region) {
    force_common common;
    int kind;
    TRY(reader_table(r, v, &scene_force_table, &common));
    TRY(find_kind(r, v, &kind));
    *out = force_default();
    TRY(set_name(r, v, common.name, index, out));
    int back = reader_enter(r, scene_forces[kind].name);
    TRY(reader_table(r, yaml_find(v, scene_forces[kind].name), &scene_forces[kind].table, out));
    reader_leave(r, back);
    out->kind = kind;
    out->from = common.from, out->until = common.until;
    vec_copy(out->min, common.min), vec_copy(out->max, common.max);
    if (!(out->until > out->from))
        return reader_fail_field(r, reader_at(v, "until"), "until",
                                 "%.10g is not after from (%.10g); make it later", out->until,
                                 out->from);
    if (isnan(out->axis[0]) || r->dim == 2) vec_set(out->axis, 0, 0, 1);
    if (!force_unit_axis(out->axis))
        return reader_fail(r, v, "the axis of the vortex is 0; give a direction such as [0, 0, 1]");
    return read_region(r, v, region);
}

spate_status scene_read_forces(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    TRY(reader_list(r, v));
    if (v->count > FORCES_MAX)
        return reader_fail(r, v, "%d force fields; use at most %d", v->count, FORCES_MAX);
    s->forces = arena_take(r->arena, (size_t)v->count + 1, sizeof *s->forces);
    s->force_regions = arena_take(r->arena, (size_t)v->count + 1, sizeof *s->force_regions);
    if (!s->forces || !s->force_regions) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        const int i = s->force_count;
        int back = reader_enter_index(r, i);
        TRY(scene_read_force(r, e->value, i, &s->forces[i], &s->force_regions[i]));
        if (s->force_regions[i]) s->forces[i].region = i;
        for (int k = 0; k < i; k++)
            if (!strcmp(s->forces[k].name, s->forces[i].name))
                return reader_fail_field(r, e->value, "name",
                                         "'%s' is the name of another one; choose a different name",
                                         s->forces[i].name);
        reader_leave(r, back);
        s->force_count++;
    }
    return SPATE_OK;
}
