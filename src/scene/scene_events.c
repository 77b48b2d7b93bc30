/* Reading events. */
#include "scene/event_tables.h"
#include "scene/motion_fields.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

const char *const event_words[] = {"pose",   "velocities", "positions", "particle_forces", "force",
                                   "remove", "add",        "set",       "until",           NULL};
_Static_assert(COUNT_OF(event_words) == EVENT_KINDS + 1, "a word for every kind");

typedef struct event_common {
    double t;
    int64_t step;
} event_common;

static const field event_fields[] = {
    NUMBER_FIELD(event_common, t, "s", NAN, 0, ANY_MAX, "when it is applied; a step ends there"),
    INTEGER_FIELD(event_common, step, -1, -1, 9007199254740992.0,
                  "instead of t: the number of steps before it, as recordings have it"),
    PART_FIELD("pose", "mapping", false, "puts a driven collider somewhere; see events: pose"),
    PART_FIELD("velocities", "list", false,
               "of particles, each as [id, v_x, v_y] or [id, v_x, v_y, v_z]"),
    PART_FIELD("positions", "list", false, "of particles, likewise"),
    PART_FIELD("particle_forces", "list", false, "on particles for one step, likewise"),
    PART_FIELD("force", "mapping", false,
               "a force field as in `forces`, with a name; takes the place of one that has it"),
    PART_FIELD("remove", "word", false,
               "name of a force field, collider, source, sink or body that goes"),
    PART_FIELD("add", "mapping or word", false,
               "materials, bodies, colliders, sources, sinks, as at the top of a scene; or a text "
               "of that"),
    PART_FIELD("set", "word", false, "`path=value`: a field of the scene changes"),
    PART_FIELD("until", "number", false,
               "s; steps end there, as the program's did that was recorded; 0: no longer"),
};
const field_table scene_event_table = FIELD_TABLE(
    "events",
    "What is done to a running simulation, in the order of its times; each entry is one thing, "
    "applied at the start of a step: `events: [{t: 0.5, force: {name: gust, wind: {acceleration: "
    "[3, 0]}}}, {t: 1, remove: gust}]`. A program's commands can be recorded as such "
    "(docs/library.md).",
    event_fields, event_common);

typedef struct pose_common {
    const char *collider;
    double position[3], velocity[3], spin[3];
    number_list rotation;
} pose_common;

static const field pose_fields[] = {
    TEXT_FIELD(pose_common, collider, "its name; it must be `driven`"),
    REQUIRED_VECTOR(pose_common, position, "m", ANY_MIN, ANY_MAX, "of its pivot"),
    NUMBERS_FIELD(pose_common, rotation, "", NAN, -1, 1,
                  "from how it was drawn, a unit quaternion [x, y, z, w]; default: [0, 0, 0, 1]"),
    VECTOR_FIELD(pose_common, velocity, "m/s", 0, ANY_MIN, ANY_MAX, "it moves on with"),
    SPIN_FIELD(pose_common, spin, ANY_MAX, "it turns on with; 2D: one number"),
};
const field_table scene_pose_table =
    FIELD_TABLE("events: pose", "Where a driven collider is.", pose_fields, pose_common);

static spate_status read_pose(reader *r, const yaml_value *v, scene_event *e) {
    pose_common given;
    TRY(reader_table(r, v, &scene_pose_table, &given));
    const spate_scene *s = r->scene;
    int c = 0;
    while (c < s->collider_count && given.collider && strcmp(s->colliders[c].name, given.collider))
        c++;
    if (!given.collider || c == s->collider_count)
        e->name = given.collider; /* it may be added before */
    else if (!s->colliders[c].driven)
        return reader_fail_field(r, v, "collider", "'%s' is not driven; write `driven: true` in it",
                                 given.collider);
    if (!given.collider)
        return reader_fail_field(r, v, "collider", "is missing; name a collider of the scene");
    e->name = given.collider;
    memcpy(e->position, given.position, sizeof e->position);
    memcpy(e->velocity, given.velocity, sizeof e->velocity);
    memcpy(e->spin, given.spin, sizeof e->spin);
    e->rotation[3] = 1;
    if (!given.rotation.count) return SPATE_OK;
    if (given.rotation.count != 4)
        return reader_fail_field(r, reader_at(v, "rotation"), "rotation",
                                 "%d numbers; give the four of a quaternion, [x, y, z, w]",
                                 given.rotation.count);
    memcpy(e->rotation, given.rotation.values, sizeof e->rotation);
    return SPATE_OK;
}

/* [id, x, y] or [id, x, y, z]. */
static spate_status read_particle(reader *r, const yaml_value *v, uint64_t *id, double value[3]) {
    int64_t given;
    TRY(reader_list(r, v));
    if (v->count != r->dim + 1)
        return reader_fail(r, v, "%d numbers; give the id and %d more", v->count, r->dim);
    TRY(reader_integer(r, yaml_item(v, 0), &given));
    if (given < 0) return reader_fail(r, v, "ids are not less than 0");
    *id = (uint64_t)given;
    for (int a = 0; a < r->dim; a++) TRY(reader_number(r, yaml_item(v, a + 1), &value[a]));
    return SPATE_OK;
}

static spate_status read_particles(reader *r, const yaml_value *v, scene_event *e) {
    TRY(reader_list(r, v));
    uint64_t *ids = arena_take(r->arena, (size_t)v->count + 1, sizeof *ids);
    double *values = arena_take(r->arena, 3 * (size_t)v->count + 1, sizeof *values);
    if (!ids || !values) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *i = v->first; i; i = i->next) {
        int back = reader_enter_index(r, (int)e->count);
        TRY(read_particle(r, i->value, &ids[e->count], values + 3 * e->count));
        if (e->count && ids[e->count] <= ids[e->count - 1])
            return reader_fail(r, i->value, "ids must ascend; sort the entries, each id once");
        reader_leave(r, back);
        e->count++;
    }
    e->ids = ids, e->values = values;
    return SPATE_OK;
}

static spate_status read_added(reader *r, const yaml_value *v, scene_event *e) {
    if (v->kind == YAML_WORD) {
        e->text = arena_text(r->arena, v->text, v->length);
        return e->text ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    }
    TRY(reader_mapping(r, v));
    text t = {.ctx = r->ctx};
    yaml_emit(v, &t);
    if (!t.failed) e->text = arena_text(r->arena, t.data, t.length);
    text_free(&t);
    return e->text ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status read_kind(reader *r, const yaml_value *v, scene_event *e) {
    switch (e->kind) {
    case EVENT_POSE: return read_pose(r, v, e);
    case EVENT_VELOCITIES:
    case EVENT_POSITIONS:
    case EVENT_PARTICLE_FORCES: return read_particles(r, v, e);
    case EVENT_FORCE: return scene_read_force(r, v, 0, &e->force, NULL);
    case EVENT_REMOVE: return reader_text(r, v, &e->name);
    case EVENT_ADD: return read_added(r, v, e);
    case EVENT_SET: return reader_text(r, v, &e->text);
    default: return reader_number(r, v, &e->until);
    }
}

/* By step or by time, and not before the event before it. */
static spate_status check_when(reader *r, const yaml_value *v, const event_common *when,
                               const scene_event *before) {
    const bool by_step = when->step >= 0;
    if (by_step == !isnan(when->t))
        return reader_fail(r, v,
                           by_step ? "both t and step; remove one"
                                   : "neither t nor step; add when it is, t: 0.5");
    if (!before) return SPATE_OK;
    if (by_step != (before->step >= 0))
        return reader_fail(r, v, "by %s, but the event before it by %s; use one of them",
                           by_step ? "step" : "t", by_step ? "t" : "step");
    if (by_step ? when->step < before->step : when->t < before->t)
        return reader_fail(r, v, "earlier than the event before it; put events in their order");
    return SPATE_OK;
}

static spate_status read_event(reader *r, const yaml_value *v, scene_event *e,
                               const scene_event *before) {
    event_common common;
    int kind = -1;
    TRY(reader_table(r, v, &scene_event_table, &common));
    TRY(check_when(r, v, &common, before));
    for (int k = 0; k < EVENT_KINDS; k++) {
        if (!yaml_find(v, event_words[k])) continue;
        if (kind >= 0)
            return reader_fail(r, v, "both '%s' and '%s'; make two events of it", event_words[kind],
                               event_words[k]);
        kind = k;
    }
    if (kind < 0)
        return reader_fail(r, v, "nothing happens; add force: {...}, pose: {...} or another kind");
    *e = (scene_event){.step = common.step, .t = common.t, .kind = (event_kind)kind};
    int back = reader_enter(r, event_words[kind]);
    TRY(read_kind(r, yaml_find(v, event_words[kind]), e));
    reader_leave(r, back);
    return SPATE_OK;
}

spate_status scene_read_events(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    TRY(reader_list(r, v));
    s->events = arena_take(r->arena, (size_t)v->count + 1, sizeof *s->events);
    if (!s->events) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *i = v->first; i; i = i->next) {
        scene_event *e = &s->events[s->event_count];
        int back = reader_enter_index(r, s->event_count);
        TRY(read_event(r, i->value, e, s->event_count ? e - 1 : NULL));
        reader_leave(r, back);
        s->event_count++;
    }
    return SPATE_OK;
}
