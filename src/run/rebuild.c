#include "run/rebuild.h"

#include "run/checkpoint.h"
#include "scene/sample.h"
#include "scene/yaml.h"

#include <stdio.h>

/* An entry cannot end at 0, which says that it does not. */
#define EARLIEST 1e-300

/* ---- The new scene --------------------------------------------------------------------------- */

static spate_status parse(const spate_simulation *sim, const char *words, size_t length,
                          const char *set, spate_scene **out) {
    const spate_scene *s = sim->scene;
    spate_status status =
        spate_scene_parse(sim->ctx, words, length, s->path, s->folder, &set, set != NULL, out);
    if (status) fail_prefix(sim->ctx, "with what is added or changed: ");
    return status;
}

static bool may_add(const char *name) {
    static const char *const known[] = {"materials", "bodies", "colliders", "sources", "sinks"};
    for (int i = 0; i < COUNT_OF(known); i++)
        if (!strcmp(known[i], name)) return true;
    return false;
}

/* Puts the entries of one list or mapping behind those of another. */
static void append(yaml_value *to, const yaml_value *from) {
    if (!from->first) return;
    if (to->last)
        to->last->next = from->first;
    else
        to->first = from->first;
    to->last = from->last;
    to->count += from->count;
}

static spate_status merge(const spate_simulation *sim, yaml_value *scene, const yaml_value *more) {
    if (more->kind != YAML_MAPPING)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "what is added must be a mapping such as {bodies: [...]}; it is not");
    for (yaml_entry *e = more->first; e; e = e->next) {
        yaml_value *there = yaml_find(scene, e->key->text);
        if (!may_add(e->key->text))
            return fail(sim->ctx, SPATE_BAD_INPUT,
                        "'%.60s' cannot be added to a running simulation; add materials, bodies, "
                        "colliders, sources or sinks",
                        e->key->text);
        if (there && there->kind != e->value->kind)
            return fail(sim->ctx, SPATE_BAD_INPUT, "'%s' must be a %s", e->key->text,
                        there->kind == YAML_LIST ? "list" : "mapping");
        if (there) append(there, e->value);
    }
    return SPATE_OK;
}

/* Lists that the scene does not have yet, behind its fields. */
static void add_new(yaml_value *scene, yaml_value *more) {
    for (yaml_entry *e = more->first, *next; e; e = next) {
        next = e->next;
        if (yaml_find(scene, e->key->text)) continue;
        e->next = NULL;
        scene->last->next = e;
        scene->last = e;
        scene->count++;
    }
}

/* What was removed stays in the scene as an entry that has ended. Its name is free again: it takes
 * another one when a new entry wants it. */
static spate_status rename_ended(yaml_tree *base, const char *list, int index, const char *name) {
    text set = {.ctx = base->ctx}, other = {.ctx = base->ctx};
    text_add(&other, "%s, gone %d", name, index);
    text_add(&set, "%s.%d.name=", list, index);
    if (!other.failed) text_add_json(&set, other.data, other.length);
    const char *words = set.data;
    spate_status status =
        set.failed || other.failed ? SPATE_OUT_OF_MEMORY : yaml_tree_set(base, &words, 1);
    text_free(&set), text_free(&other);
    return status;
}

static spate_status free_name(const spate_simulation *sim, yaml_tree *base, const char *list,
                              const char *name) {
    const spate_scene *s = sim->scene;
    const double now = fmax(sim->time, EARLIEST) * (1 + TIME_ROUNDING);
    for (int i = s->grip_count; i < s->collider_count && !strcmp(list, "colliders"); i++)
        if (!strcmp(s->colliders[i].name, name) && collider_end(&s->colliders[i]) <= now)
            return rename_ended(base, list, i - s->grip_count, name);
    for (int i = 0; i < s->source_count && !strcmp(list, "sources"); i++)
        if (!strcmp(s->sources[i].name, name) && s->sources[i].until <= now)
            return rename_ended(base, list, i, name);
    for (int i = 0; i < s->sink_count && !strcmp(list, "sinks"); i++)
        if (!strcmp(s->sinks[i].name, name) && s->sinks[i].until <= now)
            return rename_ended(base, list, i, name);
    return SPATE_OK;
}

static spate_status free_names(const spate_simulation *sim, yaml_tree *base,
                               const yaml_value *more) {
    for (const yaml_entry *e = more->first; e && more->kind == YAML_MAPPING; e = e->next)
        for (const yaml_entry *i = e->value->first; i && e->value->kind == YAML_LIST; i = i->next) {
            const yaml_value *name =
                i->value->kind == YAML_MAPPING ? yaml_find(i->value, "name") : NULL;
            if (name && name->kind == YAML_WORD)
                TRY(free_name(sim, base, e->key->text, name->text));
        }
    return SPATE_OK;
}

static spate_status scene_with(const spate_simulation *sim, const char *yaml, spate_scene **out) {
    const spate_scene *s = sim->scene;
    yaml_tree base = yaml_tree_create(sim->ctx, s->path),
              more = yaml_tree_create(sim->ctx, "added");
    text all = {.ctx = sim->ctx};
    spate_status status;
    TRY_OR_DONE(status, yaml_tree_read(&more, yaml, strlen(yaml)));
    TRY_OR_DONE(status, yaml_tree_read(&base, s->canonical, strlen(s->canonical)));
    TRY_OR_DONE(status, free_names(sim, &base, more.root));
    TRY_OR_DONE(status, merge(sim, base.root, more.root));
    add_new(base.root, more.root);
    yaml_emit(base.root, &all);
    status = all.failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
    if (!status) status = parse(sim, all.data, all.length, NULL, out);
done:
    text_free(&all);
    yaml_tree_free(&base), yaml_tree_free(&more);
    return status;
}

/* ---- The simulation in its place ------------------------------------------------------------- */

typedef struct counts {
    int bodies, colliders;
    int64_t particles;
} counts;

/* The groups of sources come behind those of all bodies, and what is dissolved behind all. */
static void shift_sources(spate_simulation *sim, const counts *before) {
    const int more = sim->scene->body_count - before->bodies,
              groups = scene_group_count(sim->scene) - more;
    particles *p = &sim->particles;
    for (int64_t i = 0; i < p->count && more > 0; i++) {
        if (p->group[i] == GROUP_REMOVED) continue;
        const bool dissolved = p->group[i] >= groups;
        const int origin = p->group[i] - (dissolved ? groups : 0);
        const int shifted = origin < before->bodies ? origin : origin + more;
        p->group[i] = (uint16_t)(shifted + (dissolved ? groups + more : 0));
    }
}

/* Cells of half the grid's width with particles in them: an open hash of their numbers. */
typedef struct occupancy {
    uint64_t *keys; /* 0: free */
    int64_t size;   /* a power of two */
} occupancy;

static uint64_t cell_key(const spate_simulation *sim, const double x[3]) {
    uint64_t key = 1;
    for (int a = 0; a < sim->scene->dim; a++) {
        const double cell = (x[a] - sim->scene->domain.origin[a]) / sim->scene->domain.dx * 2;
        key = (key << 21) | ((uint64_t)(int64_t)(floor(cell) + 8) & 0x1fffff);
    }
    return key;
}

static uint64_t *find_cell(const occupancy *o, uint64_t key) {
    uint64_t at = key * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    for (;; at++) {
        uint64_t *slot = &o->keys[at & (uint64_t)(o->size - 1)];
        if (*slot == 0 || *slot == key) return slot;
    }
}

/* Of the particles that were there before; pending ones among them are few and new. */
static spate_status note_occupied(const spate_simulation *sim, occupancy *o) {
    const blocks *b = &sim->blocks;
    o->size = 64;
    while (o->size < 2 * sim->particles.count) o->size *= 2;
    o->keys = take(sim->ctx, (size_t)o->size, sizeof *o->keys);
    if (!o->keys) return SPATE_OUT_OF_MEMORY;
    for (int32_t k = 0; k < b->occupied_count; k++)
        for (int64_t i = b->first[b->occupied[k]]; i < b->first[b->occupied[k] + 1]; i++) {
            double x[3];
            if (sim->particles.group[i] == GROUP_REMOVED) continue;
            simulation_position(sim, b->occupied[k], i, x);
            const uint64_t key = cell_key(sim, x);
            *find_cell(o, key) = key;
        }
    return SPATE_OK;
}

/* New particles: none where there are others or a collider is now, all of the lattice's volume
 * where the solver needs it. */
static void settle_new(spate_simulation *sim, const occupancy *o, int64_t first) {
    particles *p = &sim->particles;
    const blocks *b = &sim->blocks;
    const spate_scene *s = sim->scene;
    for (int64_t i = first; i < p->count; i++) {
        double x[3];
        simulation_place(sim, b->pending[i - b->sorted], i, x);
        const body *of = &s->bodies[p->group[i]];
        if (!s->solver->irregular)
            p->mass[i] =
                (real)(s->materials[of->material].density *
                       pow(sample_spacing(&s->domain, s->dim, of->particles_per_cell), s->dim));
        for (int a = 0; a < 3 && p->affine; a++) memset(p->affine[i][a], 0, sizeof p->affine[i][a]);
        if (*find_cell(o, cell_key(sim, x)) || boundary_depth(&sim->boundary, x) > 0)
            p->group[i] = GROUP_REMOVED;
        const double v[3] = {(double)p->velocity[i][0], (double)p->velocity[i][1],
                             (double)p->velocity[i][2]};
        sim->max_speed = fmax(sim->max_speed, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
}

/* Bodies that were there before are where their particles are, not where they were drawn. */
static spate_status fill_new(spate_simulation *sim, const counts *before) {
    spate_scene *s = sim->scene;
    static const shape nothing = {.kind = SHAPE_POINTS};
    occupancy o = {0};
    TRY(note_occupied(sim, &o));
    spate_status status = SPATE_OK;
    shape **shapes = take(sim->ctx, (size_t)before->bodies + 1, sizeof *shapes);
    if (!shapes) status = SPATE_OUT_OF_MEMORY;
    for (int k = 0; k < before->bodies && !status; k++)
        shapes[k] = s->bodies[k].shape, s->bodies[k].shape = (shape *)(uintptr_t)&nothing;
    const int64_t first = sim->particles.count;
    for (int k = before->bodies; k < s->body_count && !status; k++)
        status = simulation_fill_body(sim, k);
    for (int k = 0; k < before->bodies && shapes; k++) s->bodies[k].shape = shapes[k];
    if (!status) settle_new(sim, &o, first);
    give(sim->ctx, shapes), give(sim->ctx, o.keys);
    return status;
}

static spate_status put_back(spate_simulation *sim, const counts *before, const char *bytes,
                             size_t length) {
    TRY(checkpoint_refill(sim, before->colliders, bytes, length));
    shift_sources(sim, before);
    return sim->scene->body_count > before->bodies ? fill_new(sim, before) : SPATE_OK;
}

/* From here on only memory can be wanting; the simulation is broken then. */
static spate_status replace(spate_simulation *sim, spate_scene *scene) {
    drive *d = sim->drive;
    const counts before = {sim->scene->body_count, sim->scene->collider_count,
                           sim->particles.count};
    char *bytes = NULL;
    size_t length;
    spate_status status = checkpoint_to_memory(sim, &bytes, &length);
    if (status) {
        spate_scene_free(scene);
        return status;
    }
    const spate_scene *given = sim->scene;
    const uint64_t generation = sim->generation;
    const stage_hook on_stage = sim->on_stage;
    const int phase_count = sim->phase_count;
    phase phases[PHASES_MAX];
    memcpy(phases, sim->phases, sizeof phases);
    simulation_close(sim);
    status = simulation_open(scene, sim);
    sim->drive = d;
    sim->generation = generation + 1;
    sim->on_stage = on_stage;
    memcpy(sim->phases, phases, sizeof phases);
    sim->phase_count = phase_count;
    d->colliders.scene = NULL; /* another one may come to lie where an old one was */
    if (!d->given) d->given = given;
    if (!status) status = put_back(sim, &before, bytes, length);
    spate_scene_free(d->own);
    d->own = scene;
    sim->broken = status;
    give(sim->ctx, bytes);
    return status;
}

/* Whether bodies that were added can be filled now. */
static spate_status check_added(const spate_simulation *sim, const spate_scene *scene) {
    if (scene_on_grid(scene) && scene->body_count > sim->scene->body_count)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "solver %s fills bodies at the start only; add a source with `until`",
                    sim->type->declaration->name);
    for (int b = sim->scene->body_count; b < scene->body_count; b++)
        if (scene->bodies[b].mesh.kind)
            return fail(sim->ctx, SPATE_BAD_INPUT,
                        "body '%s' is a mesh, and meshes are there from the start; put it into "
                        "the scene, or leave out fe, cloth and strands",
                        scene->bodies[b].name);
    if (scene->grip_count > sim->scene->grip_count)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "body '%s' has a hold, and holds are there from the start; leave it out, or "
                    "add a sticky collider",
                    scene->bodies[scene->body_count - 1].name);
    return SPATE_OK;
}

spate_status rebuild_with(spate_simulation *sim, const char *yaml) {
    drive *d;
    spate_scene *scene;
    TRY(drive_of(sim, &d));
    TRY(scene_with(sim, yaml, &scene));
    spate_status status = check_added(sim, scene);
    if (!status) return replace(sim, scene);
    spate_scene_free(scene);
    return status;
}

static bool may_change(const char *set) {
    return (!strncmp(set, "materials.", 10) || !strncmp(set, "solver.", 7) ||
            !strncmp(set, "gravity", 7)) &&
           strncmp(set, "solver.type", 11);
}

static spate_status change(spate_simulation *sim, const char *set) {
    drive *d;
    spate_scene *scene;
    const char *words = sim->scene->canonical;
    TRY(drive_of(sim, &d));
    TRY(parse(sim, words, strlen(words), set, &scene));
    return replace(sim, scene);
}

spate_status rebuild_set(spate_simulation *sim, const char *set) {
    if (!set || !may_change(set))
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "'%.60s' cannot change while a simulation runs; change materials.NAME.FIELD, "
                    "solver.FIELD (not its type) or gravity",
                    set ? set : "");
    return change(sim, set);
}

static spate_status end_entry(spate_simulation *sim, const char *list, int index) {
    char set[128];
    text t = {.ctx = sim->ctx};
    text_add(&t, "%s.%d.until=%.17g", list, index, fmax(sim->time, EARLIEST));
    spate_status status = t.failed ? SPATE_OUT_OF_MEMORY : SPATE_OK;
    if (!status) snprintf(set, sizeof set, "%s", t.data);
    text_free(&t);
    return status ? status : change(sim, set);
}

static void remove_group(spate_simulation *sim, int group) {
    for (int64_t i = 0; i < sim->particles.count; i++)
        if (sim->particles.group[i] == group) sim->particles.group[i] = GROUP_REMOVED;
    simulation_must_sort(sim);
}

spate_status rebuild_without(spate_simulation *sim, const char *name, bool *found) {
    const spate_scene *s = sim->scene;
    *found = true;
    for (int i = 0; i < s->grip_count; i++)
        if (!strcmp(s->colliders[i].name, name))
            return fail(sim->ctx, SPATE_BAD_INPUT,
                        "'%s' is a hold of a body, not a part; give the hold `until`", name);
    for (int i = s->grip_count; i < s->collider_count; i++)
        if (!strcmp(s->colliders[i].name, name))
            return end_entry(sim, "colliders", i - s->grip_count);
    for (int i = 0; i < s->source_count; i++)
        if (!strcmp(s->sources[i].name, name)) return end_entry(sim, "sources", i);
    for (int i = 0; i < s->sink_count; i++)
        if (!strcmp(s->sinks[i].name, name)) return end_entry(sim, "sinks", i);
    for (int i = 0; i < s->body_count && !scene_on_grid(s); i++)
        if (!strcmp(s->bodies[i].name, name)) {
            remove_group(sim, i);
            return SPATE_OK;
        }
    *found = false;
    return SPATE_OK;
}
