/* What a program that shows a simulation must know of it: its scene as it is now, and where
 * colliders are. */
#include "core/text.h"
#include "frames/mesh_cells.h"
#include "scene/fields_json.h"
#include "scene/scene_tables.h"
#include "solver/drive.h"
#include "solver/materials/material.h"
#include <spate/drive.h>

static void put_name(text *t, const char *key, const char *value) {
    text_add(t, "\"%s\":", key);
    text_add_json(t, value, strlen(value));
    text_add(t, ",");
}

static void put_vector(text *t, const char *key, const double v[3]) {
    text_add(t, "\"%s\":[%.17g,%.17g,%.17g],", key, v[0], v[1], v[2]);
}

static unsigned color_of(const field_color *c, unsigned fallback) {
    if (!c->given) return fallback;
    unsigned all = 0;
    for (int a = 0; a < 3; a++) all = all << 8 | (unsigned)(c->rgb[a] * 255 + 0.5);
    return all;
}

/* Meshes have theirs to themselves: as particles it would be something else. */
static bool is_of_meshes(const spate_scene *s, int index) {
    for (int b = 0; b < s->body_count; b++)
        if (s->bodies[b].mesh.kind && s->bodies[b].material == index) return true;
    return false;
}

static void put_materials(text *t, const spate_scene *s) {
    text_add(t, "\"materials\":[");
    for (int i = 0; i < s->material_count; i++) {
        const material *m = &s->materials[i];
        text_add(t, "%s{", i ? "," : "");
        put_name(t, "name", m->name);
        put_name(t, "model", m->type->name);
        put_name(t, "look", m->look == LOOK_SMOKE ? "veil" : scene_look_words[m->look]);
        text_add(t, "\"mesh\":%s,", is_of_meshes(s, i) ? "true" : "false");
        text_add(t, "\"color\":\"#%06x\",\"values\":{", color_of(&m->color, m->type->color));
        values_json(t, &m->type->table, m->parameters);
        text_add(t, "}}");
    }
    text_add(t, "],");
}

/* Names of the parts that have not ended. */
static void put_names(text *t, const char *key,
                      const char *(*name_of)(const spate_simulation *, int),
                      const spate_simulation *sim, int count) {
    bool any = false;
    text_add(t, "\"%s\":[", key);
    for (int i = 0; i < count; i++) {
        const char *name = name_of(sim, i);
        if (!name) continue;
        if (any) text_add(t, ",");
        text_add_json(t, name, strlen(name));
        any = true;
    }
    text_add(t, "],");
}

static const char *body_name(const spate_simulation *sim, int i) {
    return sim->scene->bodies[i].name;
}
static const char *collider_name(const spate_simulation *sim, int i) {
    const collider *c = &sim->scene->colliders[i];
    return collider_end(c) > sim->time && !c->grip ? c->name : NULL;
}
static const char *source_name(const spate_simulation *sim, int i) {
    const source *c = &sim->scene->sources[i];
    return c->until > sim->time ? c->name : NULL;
}
static const char *probe_name(const spate_simulation *sim, int i) {
    return sim->scene->probes[i].name;
}

/* Whether a collider moves, or will come or go, by the scene or its events. */
static bool colliders_move(const spate_simulation *sim) {
    bool move = sim->scene->event_count > 0;
    for (int i = 0; i < sim->scene->collider_count; i++) {
        const collider *c = &sim->scene->colliders[i];
        const bool goes = collider_end(c) < HUGE_VAL;
        if (collider_end(c) > sim->time)
            move |= c->motion.key_count > 1 || c->from > sim->time || goes;
    }
    return move;
}

static void put_scene(text *t, const spate_simulation *sim) {
    const spate_scene *s = sim->scene;
    const domain *d = &s->domain;
    double size[3];
    for (int a = 0; a < 3; a++) size[a] = a < s->dim ? d->cells[a] * d->dx : 0;
    text_add(t, "{");
    put_name(t, "name", s->name);
    text_add(t, "\"dimension\":%d,\"units\":\"%s\",\"duration\":%.17g,\"fps\":%.17g,", s->dim,
             s->units == UNITS_CGS ? "cgs" : "si", s->duration, s->fps);
    put_vector(t, "gravity", s->gravity);
    put_vector(t, "origin", d->origin);
    put_vector(t, "size", size);
    text_add(t, "\"dx\":%.17g,\"cells\":[%d,%d,%d],", d->dx, d->cells[0], d->cells[1], d->cells[2]);
    put_name(t, "solver", s->solver->name);
    text_add(t, "\"on_grid\":%s,\"options\":{\"cfl\":%.17g,\"dt\":%.17g",
             s->solver->on_grid ? "true" : "false", s->cfl, s->dt);
    values_json(t, &s->solver->table, s->solver_options);
    text_add(t, "},");
    put_materials(t, s);
    put_names(t, "bodies", body_name, sim, s->body_count);
    text_add(t, "\"meshes\":%s,", mesh_cells_are_in(s) ? "true" : "false");
    put_names(t, "colliders", collider_name, sim, s->collider_count);
    put_names(t, "sources", source_name, sim, s->source_count);
    put_names(t, "probes", probe_name, sim, s->probe_count);
    text_add(t, "\"moving\":%s,\"events\":%d}", colliders_move(sim) ? "true" : "false",
             s->event_count);
}

static spate_status hand_over(text *t, spate_context *ctx, void (*write)(const char *, void *),
                              void *user) {
    spate_status status = SPATE_OK;
    if (t->failed)
        status = fail(ctx, SPATE_OUT_OF_MEMORY, "no memory for a text as long");
    else
        write(t->data, user);
    text_free(t);
    return status;
}

spate_status spate_simulation_portrait(spate_simulation *sim, void (*write)(const char *, void *),
                                       void *user) {
    TRY(simulation_enter(sim, false));
    text t = {.ctx = sim->ctx};
    put_scene(&t, sim);
    spate_status status = hand_over(&t, sim->ctx, write, user);
    simulation_leave(sim);
    return status;
}

/* ---- Colliders ------------------------------------------------------------------------------- */

static spate_status check_lattice(spate_simulation *sim, const spate_lattice *l) {
    size_t numbers = 1;
    for (int a = 0; a < 3; a++) {
        if (l->size[a] < 1)
            return fail(sim->ctx, SPATE_BAD_INPUT, "a lattice needs a point along every axis");
        if (__builtin_mul_overflow(numbers, (size_t)l->size[a], &numbers)) numbers = SIZE_MAX;
    }
    if (!l->values || l->capacity < numbers)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "the lattice has %zu points, there is room for %zu; multiply its sizes",
                    numbers, l->values ? l->capacity : 0);
    return SPATE_OK;
}

/* The nearest of the colliders that are there. */
static double nearest(const spate_simulation *sim, const double x[3]) {
    const spate_scene *s = sim->scene;
    double least = HUGE_VAL;
    for (int c = 0; c < s->collider_count; c++)
        if (collider_is_present(&s->colliders[c], sim->time) && !s->colliders[c].grip)
            least = fmin(least, boundary_distance(&sim->boundary, c, x, NULL, NULL));
    return least;
}

static void fill_lattice(const spate_simulation *sim, const spate_lattice *l) {
    size_t at = 0;
    for (int k = 0; k < l->size[2]; k++)
        for (int j = 0; j < l->size[1]; j++)
            for (int i = 0; i < l->size[0]; i++) {
                const double x[3] = {l->first[0] + i * l->spacing, l->first[1] + j * l->spacing,
                                     l->first[2] + k * l->spacing};
                l->values[at++] = (float)nearest(sim, x);
            }
}

spate_status spate_simulation_solid_distance(spate_simulation *sim, const spate_lattice *lattice) {
    TRY(simulation_enter(sim, false));
    spate_status status = check_lattice(sim, lattice);
    if (!status) fill_lattice(sim, lattice);
    simulation_leave(sim);
    return status;
}
