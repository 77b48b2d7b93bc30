/*
 * A recording is the list of commands with the number of the step before which each was given.
 * Numbers are written with 17 digits, which read back as the same bits.
 *
 * A run of the scene ends steps at its frames; while a simulation is recorded it does so too. Where
 * the program's own loop lets steps end earlier, events `until` say so.
 */
#include "run/record.h"

#include "scene/event_tables.h"
#include "scene/yaml.h"
#include <spate/drive.h>

/* ---- Events as YAML -------------------------------------------------------------------------- */

static void put_numbers(text *t, const char *name, const double *values, int count) {
    text_add(t, ", %s: [", name);
    for (int i = 0; i < count; i++) text_add(t, "%s%.17g", i ? ", " : "", values[i]);
    text_add(t, "]");
}

static void put_name(text *t, const char *name) { text_add_json(t, name, strlen(name)); }

static void put_pose(text *t, const scene_event *e, int dim) {
    text_add(t, "{collider: ");
    put_name(t, e->name);
    put_numbers(t, "position", e->position, dim);
    put_numbers(t, "rotation", e->rotation, 4);
    put_numbers(t, "velocity", e->velocity, dim);
    if (dim == 3)
        put_numbers(t, "spin", e->spin, 3);
    else
        text_add(t, ", spin: %.17g", e->spin[2]);
    text_add(t, "}");
}

static void put_particles(text *t, const scene_event *e, int dim) {
    text_add(t, "[");
    for (int64_t k = 0; k < e->count; k++) {
        text_add(t, "%s[%llu", k ? ", " : "", (unsigned long long)e->ids[k]);
        for (int a = 0; a < dim; a++) text_add(t, ", %.17g", e->values[3 * k + a]);
        text_add(t, "]");
    }
    text_add(t, "]");
}

/* The fields of the kind's own table. */
static void put_force(text *t, const force_field *f, int dim) {
    const field_table *table = &scene_forces[f->kind].table;
    text_add(t, "{name: ");
    put_name(t, f->name);
    text_add(t, ", %s: {", scene_forces[f->kind].name);
    for (int i = 0; i < table->count; i++) {
        const field *one = &table->fields[i];
        const void *value = (const char *)f + one->offset;
        text_add(t, "%s%s: ", i ? ", " : "", one->name);
        if (one->type == FIELD_INTEGER) {
            text_add(t, "%lld", (long long)*(const int64_t *)value);
        } else if (one->type == FIELD_NUMBER) {
            text_add(t, "%.17g", *(const double *)value);
        } else {
            for (int a = 0; a < dim; a++)
                text_add(t, "%s%.17g", a ? ", " : "[", ((const double *)value)[a]);
            text_add(t, "]");
        }
    }
    text_add(t, "}, from: %.17g", f->from);
    if (isfinite(f->until)) text_add(t, ", until: %.17g", f->until);
    if (isfinite(f->min[0])) put_numbers(t, "min", f->min, dim), put_numbers(t, "max", f->max, dim);
    text_add(t, "}");
}

spate_status record_event(spate_simulation *sim, const scene_event *e) {
    if (!sim->drive || !sim->drive->recording) return SPATE_OK;
    text *t = &sim->drive->record;
    const int dim = sim->scene->dim;
    text_add(t, "  - {step: %lld, %s: ", (long long)sim->step, event_words[e->kind]);
    switch (e->kind) {
    case EVENT_POSE: put_pose(t, e, dim); break;
    case EVENT_VELOCITIES:
    case EVENT_POSITIONS:
    case EVENT_PARTICLE_FORCES: put_particles(t, e, dim); break;
    case EVENT_FORCE: put_force(t, &e->force, dim); break;
    case EVENT_REMOVE: put_name(t, e->name); break;
    case EVENT_SET: put_name(t, e->text); break;
    case EVENT_ADD: put_name(t, e->text); break;
    default: text_add(t, "%.17g", e->until); break;
    }
    text_add(t, "}\n");
    if (!t->failed) return SPATE_OK;
    sim->drive->recording = false;
    return fail(sim->ctx, SPATE_OUT_OF_MEMORY, "no memory to record any further");
}

/* ---- Where steps end ------------------------------------------------------------------------- */

/* The first frame after a time. */
static double next_frame(const spate_simulation *sim) {
    const double fps = sim->scene->fps;
    double frame = floor(sim->time * fps);
    while (frame / fps <= sim->time) frame++;
    return frame / fps;
}

spate_status record_until(spate_simulation *sim, double *until) {
    drive *d = sim->drive;
    if (!d || !d->recording) return SPATE_OK;
    const double frame = next_frame(sim), rounding = 1e-9 / sim->scene->fps;
    if (*until > frame - rounding) *until = frame; /* what differs only by rounding is one time */
    const double own = *until < frame ? *until : 0;
    const bool was_none = !(d->recorded_until > sim->time);
    if (own == d->recorded_until || (own == 0 && was_none)) return SPATE_OK;
    d->recorded_until = own;
    return record_event(sim, &(scene_event){.kind = EVENT_UNTIL, .until = own});
}

/* ---- Public ---------------------------------------------------------------------------------- */

static spate_status begin(spate_simulation *sim) {
    drive *d;
    if (sim->step > 0)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "a recording is played from the start; begin it before the first step, not "
                    "after %lld",
                    (long long)sim->step);
    TRY(drive_of(sim, &d));
    d->recording = true;
    return SPATE_OK;
}

spate_status spate_simulation_record(spate_simulation *sim) {
    TRY(simulation_enter(sim, true));
    spate_status status = begin(sim);
    simulation_leave(sim);
    return status;
}

static void drop_field(yaml_value *mapping, const char *name) {
    for (yaml_entry **e = &mapping->first, *last = NULL; *e; last = *e, e = &(*e)->next) {
        if (strcmp((*e)->key->text, name)) continue;
        if (mapping->last == *e) mapping->last = last;
        *e = (*e)->next;
        mapping->count--;
        return;
    }
}

/* The scene as it was given, without events, and long enough. */
static spate_status put_scene(const spate_simulation *sim, const spate_scene *scene, text *out) {
    yaml_tree tree = yaml_tree_create(sim->ctx, scene->path);
    char duration[64];
    text line = {.ctx = sim->ctx};
    text_add(&line, "duration=%.17g", fmax(scene->duration, sim->time));
    spate_status status = line.failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
    if (!status) memcpy(duration, line.data, line.length + 1);
    text_free(&line);
    const char *sets[1] = {duration};
    if (!status) status = yaml_tree_read(&tree, scene->canonical, strlen(scene->canonical));
    if (!status) status = yaml_tree_set(&tree, sets, 1);
    if (!status) {
        drop_field(tree.root, "events");
        yaml_emit(tree.root, out);
    }
    yaml_tree_free(&tree);
    return status;
}

static spate_status put_all(const spate_simulation *sim, text *all) {
    const drive *d = sim->drive;
    if (!d || (!d->recording && !d->record.length))
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "nothing was recorded; call spate_simulation_record before the first step");
    TRY(put_scene(sim, drive_given_scene(sim), all));
    if (all->length && all->data[all->length - 1] != '\n') text_add(all, "\n");
    if (d->record.length) text_add(all, "events:\n");
    if (d->record.length) text_add_bytes(all, d->record.data, d->record.length);
    return all->failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
}

spate_status spate_simulation_recorded(spate_simulation *sim,
                                       void (*write)(const char *text, void *user), void *user) {
    text all = {.ctx = sim->ctx};
    TRY(simulation_enter(sim, false));
    spate_status status = put_all(sim, &all);
    simulation_leave(sim);
    if (!status) write(all.data, user);
    text_free(&all);
    return status;
}
