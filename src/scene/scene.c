/*
 * From a scene file to a checked scene: the top level, domain, solver, materials and output. Bodies
 * and the like: scene_bodies.c; shapes and motion: scene_shapes.c; the camera: scene_camera.c;
 * phases: scene_coupling.c.
 */
#include "scene/scene.h"
#include "core/file.h"
#include "core/hash.h"
#include "core/vec.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <stdio.h>
#include <string.h>

enum { FORMAT = 1, CELLS_MIN = 4, CELLS_MAX = 1000000, FRAMES_MAX = 1000000 };

/* A field of a mapping, where it is given. */
static spate_status read_part(reader *r, const yaml_value *mapping, const char *name,
                              spate_status (*read)(reader *, const yaml_value *)) {
    const yaml_value *v = yaml_find(mapping, name);
    if (!v) return SPATE_OK;
    int back = reader_enter(r, name);
    TRY(read(r, v));
    reader_leave(r, back);
    return SPATE_OK;
}

/* ---- Domain ---------------------------------------------------------------------------------- */

static spate_status count_cells(reader *r, const yaml_value *v, domain *d) {
    const yaml_value *size = yaml_find(v, "size");
    int back = reader_enter(r, "size");
    for (int i = 0; i < r->dim; i++) {
        double exact = d->size[i] / d->dx, cells = round(exact);
        const char *axis = scene_axis_words[i];
        if (cells > CELLS_MAX)
            return reader_fail(r, yaml_item(size, i),
                               "%.10g cells along %s, more than %d; use a larger dx than %.10g",
                               cells, axis, CELLS_MAX, d->dx);
        if (cells < CELLS_MIN)
            return reader_fail(r, yaml_item(size, i),
                               "%.10g cells along %s, fewer than %d; use a dx of %.10g or less",
                               cells, axis, CELLS_MIN, d->size[i] / CELLS_MIN);
        if (fabs(exact - cells) > 1e-3) {
            char place[YAML_PLACE_SIZE];
            yaml_place(r->tree, yaml_item(size, i), place);
            warn(r->ctx, "domain size",
                 "%s: domain.size: %.10g along %s is not a whole number of cells; it becomes "
                 "%.10g (%.0f cells)",
                 place, d->size[i], axis, cells * d->dx, cells);
        }
        d->cells[i] = (int)cells;
        d->size[i] = cells * d->dx;
    }
    if (r->dim == 2) d->cells[2] = 1, d->size[2] = d->dx;
    reader_leave(r, back);
    return SPATE_OK;
}

/* Walls as one word, a list of words or a mapping of sides. */
static spate_status read_walls(reader *r, const yaml_value *v, domain *d) {
    wall *sides = &d->walls[0][0];
    int word;
    if (v->kind == YAML_MAPPING) {
        field_table table = scene_walls_table;
        table.count = 2 * r->dim;
        TRY(reader_table(r, v, &table, d));
    } else if (v->kind == YAML_LIST) {
        if (v->count != 2 * r->dim)
            return reader_fail(r, v, "%d words; give %d in the order x_min, x_max, y_min, y_max%s",
                               v->count, 2 * r->dim, r->dim == 3 ? ", z_min, z_max" : "");
        int i = 0;
        for (const yaml_entry *e = v->first; e; e = e->next, i++) {
            int back = reader_enter_index(r, i);
            TRY(reader_choice(r, e->value, scene_wall_words, &word));
            reader_leave(r, back);
            sides[i] = (wall)word;
        }
    } else {
        TRY(reader_choice(r, v, scene_wall_words, &word));
        for (int i = 0; i < 2 * r->dim; i++) sides[i] = (wall)word;
    }
    return SPATE_OK;
}

static spate_status check_periodic_pairs(reader *r, const yaml_value *v, const domain *d) {
    for (int i = 0; i < r->dim; i++) {
        bool low = d->walls[i][0] == WALL_PERIODIC, high = d->walls[i][1] == WALL_PERIODIC;
        const char *axis = scene_axis_words[i];
        if (low != high)
            return reader_fail(r, v, "only one side of %s is periodic; make %s_%s periodic as well",
                               axis, axis, low ? "max" : "min");
    }
    return SPATE_OK;
}

spate_status scene_read_domain(reader *r, const yaml_value *v) {
    domain *d = &r->scene->domain;
    TRY(reader_table(r, v, &scene_domain_table, d));
    TRY(count_cells(r, v, d));
    for (int i = 0; i < 3; i++)
        d->walls[i][0] = d->walls[i][1] = i < r->dim ? WALL_SLIP : WALL_OPEN;
    const yaml_value *walls = yaml_find(v, "walls");
    if (!walls) return SPATE_OK;
    int back = reader_enter(r, "walls");
    TRY(read_walls(r, walls, d));
    TRY(check_periodic_pairs(r, walls, d));
    reader_leave(r, back);
    return SPATE_OK;
}

/* Solvers whose lattices are of blocks go round only by whole ones. */
static spate_status check_period(reader *r, const yaml_value *v) {
    const domain *d = &r->scene->domain;
    const int period = r->scene->solver->period;
    for (int i = 0; i < r->dim; i++) {
        if (d->walls[i][0] != WALL_PERIODIC || d->cells[i] % period == 0) continue;
        int better = (d->cells[i] + period / 2) / period * period;
        return reader_fail(r, v,
                           "periodic along %s needs a multiple of %d cells, there are %d; use "
                           "dx: %.9g for %d cells, or another size",
                           scene_axis_words[i], period, d->cells[i], d->size[i] / better, better);
    }
    return SPATE_OK;
}

/* Of a side: only along itself, and only where material sticks to it. */
static spate_status check_wall_velocity(reader *r, const yaml_value *v, int axis, int end) {
    const domain *d = &r->scene->domain;
    const double *velocity = d->wall_velocity[axis][end];
    if (vec_length(velocity) == 0) return SPATE_OK;
    if (!r->scene->solver->moves_walls)
        return reader_fail(
            r, v, "%s does not know sides that move; leave it out, or use solver.type %s",
            r->scene->solver->name, solvers_that(r->registry, solver_moves_walls).text);
    if (d->walls[axis][end] != WALL_STICKY)
        return reader_fail(r, v, "nothing sticks to this side, it is %s; make it sticky in walls",
                           scene_wall_words[d->walls[axis][end]]);
    if (velocity[axis] != 0)
        return reader_fail(r, yaml_item(v, axis),
                           "a side moves along itself only; make %s, which is across it, 0",
                           scene_axis_words[axis]);
    return SPATE_OK;
}

static spate_status read_wall_velocity(reader *r, const yaml_value *v) {
    field_table table = scene_wall_velocity_table;
    table.count = 2 * r->dim;
    TRY(reader_table(r, v, &table, &r->scene->domain));
    for (int side = 0; side < table.count; side++) {
        const yaml_value *given = yaml_find(v, table.fields[side].name);
        if (!given) continue;
        int inside = reader_enter(r, table.fields[side].name);
        TRY(check_wall_velocity(r, given, side / 2, side % 2));
        reader_leave(r, inside);
    }
    return SPATE_OK;
}

spate_status scene_read_domain_for_solver(reader *r, const yaml_value *v) {
    TRY(read_part(r, v, "walls", check_period));
    return read_part(r, v, "wall_velocity", read_wall_velocity);
}

/* ---- Solver and materials -------------------------------------------------------------------- */

static spate_status find_solver(reader *r, const yaml_value *v, const solver_declaration **out) {
    enum { MOST = 32 };
    const char *names[MOST], *given;
    const yaml_value *type = yaml_find(v, "type");
    int count = r->registry->solver_count;
    for (int i = 0; i < count && i < MOST; i++) {
        *out = r->registry->solvers[i];
        names[i] = (*out)->name;
        if (!type || yaml_is_word(type, names[i])) return SPATE_OK;
    }
    int back = reader_enter(r, "type");
    TRY(reader_text(r, type, &given));
    spate_status status = reader_fail_word(r, type, "unknown solver", given, names, count);
    reader_leave(r, back);
    return status;
}

/* A field by its name, or that of a group by its path "flow.period"; the last that is there. */
static const yaml_value *find_path(const yaml_value *v, const char *path) {
    char name[64];
    for (size_t length; v && *path; path += length) {
        length = strcspn(path, ".");
        snprintf(name, sizeof name, "%.*s", (int)length, path);
        const yaml_value *next = v->kind == YAML_MAPPING ? yaml_find(v, name) : NULL;
        if (!next) break;
        v = next;
        length += path[length] == '.';
    }
    return v;
}

/* What a solver or material says about its fields together. */
static spate_status prepare(reader *r, const yaml_value *v,
                            bool (*check)(void *, int, field_report *), void *values) {
    field_report report = {0};
    if (!check || check(values, r->dim, &report)) return SPATE_OK;
    if (report.at)
        return reader_fail_field(r, find_path(v, report.at), report.at, "%s", report.message);
    return reader_fail(r, v, "%s", report.message);
}

/* A solver's name alone is what people try first. */
static spate_status refuse_bare_solver(reader *r, const yaml_value *v) {
    char shown[YAML_SHOWN];
    if (v->kind != YAML_WORD || yaml_is_null(v)) return SPATE_OK;
    return reader_fail(r, v, "expected a mapping, found '%s'; write {type: %s}",
                       yaml_shown(v->text, shown), shown);
}

static bool has_field(const field_table *table, const char *name) {
    for (int i = 0; i < table->count; i++)
        if (!strcmp(table->fields[i].name, name)) return true;
    return false;
}

/* A field that only other solvers have, such as sheets of flip: says which. */
static spate_status refuse_other_solvers(reader *r, const yaml_value *v) {
    const registry *all = r->registry;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        const char *name = e->key->text;
        name_text names = {0};
        if (has_field(&scene_solver_table, name) || has_field(&r->scene->solver->table, name))
            continue;
        for (int i = 0; i < all->solver_count; i++)
            if (has_field(&all->solvers[i]->table, name))
                name_add(&names, " or ", all->solvers[i]->name);
        if (names.text[0])
            return reader_fail_field(r, e->key, name,
                                     "unknown field '%s' of solver %s; use type: %s, or remove it",
                                     name, r->scene->solver->name, names.text);
    }
    return SPATE_OK;
}

spate_status scene_read_solver(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    solver_common common;
    if (v) TRY(refuse_bare_solver(r, v));
    if (v) TRY(reader_mapping(r, v));
    /* Without a solver's mapping everything has its default. */
    yaml_value none = {.kind = YAML_MAPPING, .set = -1, .line = 1, .column = 1};
    if (!v) v = &none;
    TRY(find_solver(r, v, &s->solver));
    s->solver_options = arena_take(r->arena, 1, s->solver->table.size + 1);
    if (!s->solver_options) return SPATE_OUT_OF_MEMORY;
    reader_part parts[] = {{&scene_solver_table, &common}, {&s->solver->table, s->solver_options}};
    TRY(refuse_other_solvers(r, v));
    TRY(reader_fields(r, v, parts, COUNT_OF(parts)));
    TRY(prepare(r, v, s->solver->prepare, s->solver_options));
    s->dt = common.dt;
    s->cfl = isnan(common.cfl) ? s->solver->cfl : common.cfl;
    if (s->cfl > s->solver->cfl_most)
        return reader_fail_field(r, reader_at(v, "cfl"), "cfl", "is %g; %s goes up to %g", s->cfl,
                                 s->solver->name, s->solver->cfl_most);
    s->max_steps = common.max_steps;
    return SPATE_OK;
}

/* The solver cannot run a model: tells those it can, and solvers that can run this one. */
static spate_status refuse_model(reader *r, const yaml_value *at, const material_type *given) {
    const registry *all = r->registry;
    const solver_declaration *ours = r->scene->solver;
    name_text models = {0}, solvers = {0};
    for (int i = 0; i < all->material_count; i++)
        if (solver_runs(ours, all->materials[i])) name_add(&models, ", ", all->materials[i]->name);
    for (int i = 0; i < all->solver_count; i++)
        if (solver_runs(all->solvers[i], given)) name_add(&solvers, " or ", all->solvers[i]->name);
    return reader_fail(r, at, "solver %s cannot run model '%s'; use %s, or solver.type %s",
                       ours->name, given->name, models.text, solvers.text);
}

/* Whoever has written "modle" is told so. */
static spate_status fail_no_model(reader *r, const yaml_value *v) {
    static const char *const names[] = {"model"};
    for (const yaml_entry *e = v->first; e; e = e->next)
        if (text_nearest(e->key->text, names, 1))
            return reader_fail_word(r, e->key, "unknown field", e->key->text, names, 1);
    return reader_fail_field(r, v, "model", "is missing; add the material model, e.g. %s",
                             r->registry->materials[0]->name);
}

static spate_status find_model(reader *r, const yaml_value *v, const material_type **out) {
    enum { MOST = 64 };
    const registry *all = r->registry;
    const char *names[MOST], *given;
    const yaml_value *model = yaml_find(v, "model");
    if (!model) return fail_no_model(r, v);
    int back = reader_enter(r, "model");
    TRY(reader_text(r, model, &given));
    int count = 0;
    *out = NULL;
    for (; count < all->material_count && count < MOST; count++) {
        names[count] = all->materials[count]->name;
        if (strcmp(names[count], given) == 0) *out = all->materials[count];
    }
    if (!*out) return reader_fail_word(r, model, "unknown model", given, names, count);
    if (!solver_runs(r->scene->solver, *out)) return refuse_model(r, model, *out);
    reader_leave(r, back);
    return SPATE_OK;
}

static spate_status read_material(reader *r, const yaml_value *v, material *m) {
    TRY(reader_mapping(r, v));
    TRY(find_model(r, v, &m->type));
    m->parameters = arena_take(r->arena, 1, m->type->table.size + 1);
    if (!m->parameters) return SPATE_OUT_OF_MEMORY;
    reader_part parts[] = {{&scene_material_table, m}, {&m->type->table, m->parameters}};
    TRY(reader_fields(r, v, parts, COUNT_OF(parts)));
    TRY(prepare(r, v, m->type->prepare, m->parameters));
    if (m->look >= 0 && m->type->look == LOOK_SMOKE)
        return reader_fail_field(r, reader_at(v, "look"), "look",
                                 "%s is drawn as smoke alone; leave it out", m->type->name);
    if (m->look < 0) m->look = (int)m->type->look;
    memcpy(&m->density, (char *)m->parameters + m->type->density_offset, sizeof m->density);
    return SPATE_OK;
}

spate_status scene_read_materials(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    TRY(reader_mapping(r, v));
    if (v->count == 0)
        return reader_fail(r, v, "there is none; add one such as water: {model: liquid, ...}");
    s->materials = arena_take(r->arena, (size_t)v->count, sizeof *s->materials);
    if (!s->materials) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        material *m = &s->materials[s->material_count++];
        int back = reader_enter(r, e->key->text);
        TRY(reader_text(r, e->key, &m->name));
        TRY(read_material(r, e->value, m));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

/* ---- Output ---------------------------------------------------------------------------------- */

/* The entries of a list, or a word that stands for a list of one. */
static const yaml_value *entry_of(const yaml_value *v, int index) {
    if (v->kind == YAML_LIST) return yaml_item(v, index);
    return index == 0 ? v : NULL;
}

/* A word or a list of `words`, of which the first is "none", as the bits beside them. */
static spate_status read_formats(reader *r, const yaml_value *v, const char *const *words,
                                 const unsigned *bits, unsigned *out) {
    const yaml_value *entry;
    *out = 0;
    for (int i = 0; (entry = entry_of(v, i)); i++) {
        int word, back = v->kind == YAML_LIST ? reader_enter_index(r, i) : r->path_length;
        TRY(reader_choice(r, entry, words, &word));
        if (word == 0 && v->kind == YAML_LIST && v->count > 1)
            return reader_fail(r, entry, "'none' beside other formats; remove it");
        reader_leave(r, back);
        *out |= bits[word];
    }
    return SPATE_OK;
}

/* Whether an attribute is made of the deformation gradient, which not every solver can keep. */
static spate_status check_gradient(reader *r, const yaml_value *v, const char *name) {
    const char *const *names = r->registry->gradient_attributes;
    bool made_of_it = false;
    for (int i = 0; names[i]; i++) made_of_it |= strcmp(names[i], name) == 0;
    if (!made_of_it) return SPATE_OK;
    r->scene->output.gradient = true;
    if (r->scene->solver->follows_gradient) return SPATE_OK;
    return reader_fail(r, v,
                       "%s does not follow the deformation gradient of its particles; leave it "
                       "out, or use solver.type %s",
                       r->scene->solver->name,
                       solvers_that(r->registry, solver_follows_gradient).text);
}

static spate_status read_attributes(reader *r, const yaml_value *v, const char ***names,
                                    int *count) {
    enum { MOST = 64 };
    const yaml_value *entry;
    if (v->kind == YAML_LIST && v->count > MOST)
        return reader_fail(r, v, "%d names; use at most %d", v->count, MOST);
    *names = arena_take(r->arena, MOST, sizeof **names);
    if (!*names) return SPATE_OUT_OF_MEMORY;
    for (*count = 0; (entry = entry_of(v, *count)); ++*count) {
        const char **name = &(*names)[*count];
        int back = v->kind == YAML_LIST ? reader_enter_index(r, *count) : r->path_length;
        int word;
        TRY(reader_choice(r, entry, r->registry->attributes, &word));
        *name = r->registry->attributes[word];
        for (int i = 0; i < *count; i++)
            if (strcmp((*names)[i], *name) == 0)
                return reader_fail(r, entry, "named twice; remove one");
        TRY(check_gradient(r, entry, *name));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_particle_formats(reader *r, const yaml_value *v) {
    static const char *const words[] = {"none", "vtp", "ply", "bgeo", NULL};
    static const unsigned bits[] = {0, OUTPUT_VTP, OUTPUT_PLY, OUTPUT_BGEO};
    return read_formats(r, v, words, bits, &r->scene->output.particles);
}

static spate_status read_output_fields(reader *r, const yaml_value *v) {
    return read_attributes(r, v, &r->scene->output.fields, &r->scene->output.field_count);
}

static spate_status read_surface(reader *r, const yaml_value *v) {
    static const char *const words[] = {"none", "ply", "obj", "vtp", NULL};
    static const unsigned bits[] = {0, OUTPUT_PLY, OUTPUT_OBJ, OUTPUT_VTP};
    const spate_scene *s = r->scene;
    unsigned *out = &r->scene->output.surface;
    bool liquid = false;
    TRY(read_formats(r, v, words, bits, out));
    for (int i = 0; i < s->material_count; i++) liquid |= material_is_liquid(&s->materials[i]);
    if (*out && !liquid)
        return reader_fail(r, v, "no material of this scene is a liquid; leave it out");
    return SPATE_OK;
}

static spate_status read_mesh_formats(reader *r, const yaml_value *v) {
    static const char *const words[] = {"none", "vtp", "ply", "obj", NULL};
    static const unsigned bits[] = {0, OUTPUT_VTP, OUTPUT_PLY, OUTPUT_OBJ};
    return read_formats(r, v, words, bits, &r->scene->output.meshes);
}

spate_status scene_read_output(reader *r, const yaml_value *v) {
    output_settings *o = &r->scene->output;
    output_common common = {.checkpoint = 10,
                            .surface_resolution = 2,
                            .surface_smoothing = 10,
                            .surface_method = SURFACE_ANISOTROPIC};
    if (v) TRY(reader_table(r, v, &scene_output_table, &common));
    o->checkpoint = (int)common.checkpoint;
    o->surface_resolution = (int)common.surface_resolution;
    o->surface_smoothing = (int)common.surface_smoothing;
    o->surface_method = (surface_method)common.surface_method;
    o->volumes = common.volume == 0;
    o->up = (up_axis)common.up;
    o->particles = o->meshes = OUTPUT_VTP;
    if (o->up != UP_AS_SCENE && r->dim == 2)
        return reader_fail_field(r, reader_at(v, "up"), "up",
                                 "a 2D scene lies in the plane of x and y; leave it out");
    TRY(read_part(r, v, "particles", read_particle_formats));
    TRY(read_part(r, v, "fields", read_output_fields));
    TRY(read_part(r, v, "meshes", read_mesh_formats));
    return read_part(r, v, "surface", read_surface);
}

/* ---- The top --------------------------------------------------------------------------------- */

/* Format, dimension and units decide how everything else is read. */
static spate_status read_head(reader *r, const yaml_value *root, scene_top *top) {
    TRY(reader_mapping(r, root));
    TRY(reader_field(r, root, &scene_top_table, "spate", top));
    if (top->spate != FORMAT)
        return reader_fail_field(r, reader_at(root, "spate"), "spate",
                                 "this scene is for format %lld; this build reads %d",
                                 (long long)top->spate, FORMAT);
    TRY(reader_field(r, root, &scene_top_table, "dimension", top));
    TRY(reader_field(r, root, &scene_top_table, "units", top));
    r->dim = r->scene->dim = (int)top->dimension;
    r->units = r->scene->units = (unit_system)top->units;
    return SPATE_OK;
}

static spate_status name_after_file(reader *r, const char **name) {
    const char *slash = strrchr(r->scene->path, '/');
    const char *stem = slash ? slash + 1 : r->scene->path;
    const char *dot = strrchr(stem, '.');
    *name = arena_text(r->arena, stem, dot && dot > stem ? (size_t)(dot - stem) : strlen(stem));
    return *name ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* "integrator" at the top is one of the solver's fields. */
static spate_status refuse_solver_fields(reader *r, const yaml_value *root) {
    for (const yaml_entry *e = root->first; e; e = e->next) {
        const char *name = e->key->text;
        bool solvers = has_field(&scene_solver_table, name);
        for (int i = 0; i < r->registry->solver_count; i++)
            solvers |= has_field(&r->registry->solvers[i]->table, name);
        if (solvers && !has_field(&scene_top_table, name))
            return reader_fail_field(r, e->key, name,
                                     "is a field of the solver; write solver: {%s: ...}, or "
                                     "--set solver.%s=...",
                                     name, name);
    }
    return SPATE_OK;
}

static spate_status read_top(reader *r, const yaml_value *root, scene_top *top) {
    spate_scene *s = r->scene;
    TRY(refuse_solver_fields(r, root));
    TRY(reader_table(r, root, &scene_top_table, top));
    s->named = top->name != NULL;
    if (!s->named) TRY(name_after_file(r, &top->name));
    if (!yaml_find(root, "gravity")) vec_set(top->gravity, 0, -9.81 * reader_unit(r, "m/s^2"), 0);
    const yaml_value *fps = yaml_find(root, "fps");
    if (top->duration * top->fps > FRAMES_MAX)
        return reader_fail_field(r, fps ? fps : root, "fps",
                                 "%.10g s at %.10g frames a second are more than %d frames; lower "
                                 "fps or duration",
                                 top->duration, top->fps, FRAMES_MAX);
    if (top->duration * top->fps < 1 - 1e-9)
        warn(r->ctx, "no frame",
             "%s: duration %.10g s ends before the first frame at %.10g s; raise fps or duration",
             s->path, top->duration, 1 / top->fps);
    s->name = top->name;
    s->seed = (uint64_t)top->seed;
    vec_copy(s->gravity, top->gravity);
    s->duration = top->duration;
    s->fps = top->fps;
    return SPATE_OK;
}

static spate_status read_scene(reader *r, const yaml_value *root) {
    scene_top top;
    TRY(read_head(r, root, &top));
    TRY(read_top(r, root, &top));
    TRY(read_part(r, root, "domain", scene_read_domain));
    if (yaml_find(root, "solver"))
        TRY(read_part(r, root, "solver", scene_read_solver));
    else
        TRY(scene_read_solver(r, NULL));
    TRY(read_part(r, root, "domain", scene_read_domain_for_solver));
    TRY(read_part(r, root, "materials", scene_read_materials));
    TRY(read_part(r, root, "bodies", scene_read_bodies));
    TRY(read_part(r, root, "colliders", scene_read_colliders));
    TRY(scene_add_grips(r, root));
    TRY(read_part(r, root, "sources", scene_read_sources));
    TRY(read_part(r, root, "sinks", scene_read_sinks));
    if (yaml_find(root, "coupling"))
        TRY(read_part(r, root, "coupling", scene_read_coupling));
    else
        TRY(scene_read_coupling(r, NULL));
    TRY(read_part(r, root, "probes", scene_read_probes));
    TRY(read_part(r, root, "forces", scene_read_forces));
    TRY(read_part(r, root, "events", scene_read_events));
    if (yaml_find(root, "output"))
        TRY(read_part(r, root, "output", scene_read_output));
    else
        TRY(scene_read_output(r, NULL));
    TRY(read_part(r, root, "camera", scene_read_camera));
    const yaml_value *bodies = yaml_find(root, "bodies");
    if (scene_group_count(r->scene) == 0)
        return reader_fail_field(r, bodies ? bodies : root, "bodies",
                                 "nothing to simulate; add a body, or a source");
    return SPATE_OK;
}

/* ---- Hashes and the scene as it was run ------------------------------------------------------ */

/* The hash of a tree without some fields, and of the bytes of all meshes. */
static spate_status hash_tree(const reader *r, const char *const *left_out, uint64_t *out) {
    text t = {.ctx = r->ctx};
    spate_status status = yaml_serialise(r->tree, r->tree->root, "materials", left_out, &t);
    uint64_t meshes = 0; /* a sum: the order in which they were met does not matter */
    for (const loaded_file *m = r->files; m; m = m->next)
        meshes += hash_bytes(m->file, strlen(m->file), m->hash);
    text_add(&t, "meshes %016llx", (unsigned long long)meshes);
    if (status == SPATE_OK && t.failed) status = SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) *out = hash_bytes(t.data, t.length, 0);
    text_free(&t);
    return status;
}

static spate_status keep_mesh_files(reader *r) {
    spate_scene *s = r->scene;
    int count = 0;
    for (const loaded_file *m = r->files; m; m = m->next) count++;
    s->mesh_files = arena_take(r->arena, (size_t)count + 1, sizeof *s->mesh_files);
    if (!s->mesh_files) return SPATE_OUT_OF_MEMORY;
    for (const loaded_file *m = r->files; m; m = m->next)
        s->mesh_files[s->mesh_file_count++] = (scene_file){m->file, m->path};
    return SPATE_OK;
}

static spate_status finish(reader *r) {
    /* What may change when a run is taken up again. */
    static const char *const not_physics[] = {"name",
                                              "duration",
                                              "output",
                                              "camera",
                                              "solver.max_steps",
                                              "materials.*.color",
                                              "materials.*.look",
                                              "bodies.*.color",
                                              "colliders.*.color",
                                              "sources.*.color",
                                              NULL};
    spate_scene *s = r->scene;
    text t = {.ctx = r->ctx};
    TRY(hash_tree(r, not_physics, &s->hash));
    TRY(hash_tree(r, NULL, &s->full_hash));
    TRY(keep_mesh_files(r));
    yaml_emit(r->tree->root, &t);
    if (!t.failed) s->canonical = arena_text(r->arena, t.data, t.length);
    text_free(&t);
    return s->canonical ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* ---- Public ---------------------------------------------------------------------------------- */

static spate_status copy_text(spate_scene *s, const char *from, const char **to) {
    *to = arena_text(&s->arena, from, strlen(from));
    return *to ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status keep_sets(spate_scene *s, const char *const *sets, int set_count) {
    s->sets = arena_take(&s->arena, (size_t)set_count + 1, sizeof *s->sets);
    if (!s->sets) return SPATE_OUT_OF_MEMORY;
    for (; s->set_count < set_count; s->set_count++)
        TRY(copy_text(s, sets[s->set_count], &s->sets[s->set_count]));
    return SPATE_OK;
}

static spate_status parse_into(spate_scene *s, const registry *all, const scene_document *given) {
    yaml_tree tree = yaml_tree_create(s->ctx, s->path);
    reader r = {.ctx = s->ctx, .scene = s, .arena = &s->arena, .tree = &tree, .registry = all};
    spate_status status;
    TRY_OR_DONE(status, yaml_tree_read(&tree, given->bytes, given->length));
    TRY_OR_DONE(status, yaml_tree_set(&tree, given->sets, given->set_count));
    TRY_OR_DONE(status, read_scene(&r, tree.root));
    field_report report = {0};
    if (s->solver->check && !s->solver->check(s, &report))
        TRY_OR_DONE(status, reader_fail(&r, tree.root, "%s", report.message));
    status = finish(&r);
done:
    yaml_tree_free(&tree);
    return status;
}

spate_status scene_parse(spate_context *ctx, const registry *all, const scene_document *given,
                         spate_scene **scene) {
    *scene = NULL;
    spate_scene *s = take(ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    int64_t warnings = warnings_total(ctx);
    s->ctx = ctx;
    s->arena = arena_create(ctx);
    s->particle_count = -1;
    spate_status status;
    TRY_OR_DONE(status, copy_text(s, given->name ? given->name : "scene", &s->path));
    TRY_OR_DONE(status, copy_text(s, given->folder ? given->folder : ".", &s->folder));
    TRY_OR_DONE(status, keep_sets(s, given->sets, given->set_count));
    TRY_OR_DONE(status, parse_into(s, all, given));
    s->warnings = warnings_total(ctx) - warnings;
    *scene = s;
    return SPATE_OK;
done:
    spate_scene_free(s);
    return status;
}

spate_status scene_load(spate_context *ctx, const registry *all, const char *path,
                        const char *const *sets, int set_count, spate_scene **scene) {
    char *bytes, folder[PATH_SIZE];
    size_t length;
    *scene = NULL;
    const char *slash = strrchr(path, '/');
    size_t folder_length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (folder_length >= sizeof folder)
        return fail(ctx, SPATE_BAD_INPUT, "%.100s...: the path is too long; shorten it", path);
    memcpy(folder, path, folder_length);
    folder[folder_length] = 0;
    TRY(file_read(ctx, path, YAML_BYTES, &bytes, &length));
    const scene_document given = {.bytes = bytes,
                                  .length = length,
                                  .name = path,
                                  .folder = folder_length > 0 ? folder : ".",
                                  .sets = sets,
                                  .set_count = set_count};
    spate_status status = scene_parse(ctx, all, &given, scene);
    give(ctx, bytes);
    return status;
}

void spate_scene_free(spate_scene *scene) {
    if (!scene) return;
    spate_context *ctx = scene->ctx;
    arena_free(&scene->arena);
    give(ctx, scene);
}
