/* Reading bodies, colliders, sources, sinks and probes of a scene. */
#include "core/vec.h"
#include "scene/mesh_sequence.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <stdio.h>
#include <string.h>

/* ---- What the lists have in common ----------------------------------------------------------- */

enum { MOST_ENTRIES = 10000 };

/* Room in the scene for the entries of a list. */
static spate_status begin_list(reader *r, const yaml_value *v, size_t size, void *array) {
    TRY(reader_list(r, v));
    if (v->count > MOST_ENTRIES)
        return reader_fail(r, v, "%d entries; use at most %d, with unions, points or meshes",
                           v->count, MOST_ENTRIES);
    void *memory = arena_take(r->arena, (size_t)v->count + 1, size);
    if (!memory) return SPATE_OUT_OF_MEMORY;
    memcpy(array, &memory, sizeof memory);
    return SPATE_OK;
}

/* "body 1", where no name was given. */
static spate_status default_name(reader *r, const char *noun, int index, const char **name) {
    char made[32];
    if (*name) return SPATE_OK;
    int length = snprintf(made, sizeof made, "%s %d", noun, index + 1);
    *name = arena_text(r->arena, made, (size_t)length);
    return *name ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status duplicate_name(reader *r, const yaml_value *v, const char *name) {
    const yaml_value *given = yaml_find(v, "name");
    char shown[YAML_SHOWN];
    return reader_fail_field(r, given ? given : v, "name",
                             "'%s' is the name of another one; choose a different name",
                             yaml_shown(name, shown));
}

/* Whether a body or source before the last `group` has its name. */
static spate_status check_group_name(reader *r, const yaml_value *v, int group) {
    const char *name = scene_group_name(r->scene, group);
    for (int g = 0; g < group; g++)
        if (strcmp(scene_group_name(r->scene, g), name) == 0) return duplicate_name(r, v, name);
    return SPATE_OK;
}

/* Fails for a name that is not there, with one that is. */
static spate_status fail_name(reader *r, const yaml_value *v, const char *list,
                              const char *(*name_of)(const spate_scene *, int), int count) {
    enum { MOST = 256 };
    const char *names[MOST] = {""}, *nearest;
    char shown[YAML_SHOWN], near[YAML_SHOWN];
    if (count > MOST) count = MOST;
    for (int i = 0; i < count; i++) names[i] = name_of(r->scene, i);
    if ((nearest = text_nearest(v->text, names, count)))
        return reader_fail(r, v, "%s '%s'; did you mean '%s'?", list, yaml_shown(v->text, shown),
                           yaml_shown(nearest, near));
    return reader_fail(r, v, "%s '%s'; use a name such as '%s'", list, yaml_shown(v->text, shown),
                       count > 0 ? yaml_shown(names[0], near) : "");
}

static const char *material_name(const spate_scene *s, int index) {
    return s->materials[index].name;
}

static spate_status read_material_name(reader *r, const yaml_value *mapping, int *out) {
    const yaml_value *v = yaml_find(mapping, "material");
    const spate_scene *s = r->scene;
    const char *name;
    int back = reader_enter(r, "material");
    TRY(reader_text(r, v, &name));
    for (*out = 0; *out < s->material_count; ++*out)
        if (strcmp(s->materials[*out].name, name) == 0) {
            reader_leave(r, back);
            return SPATE_OK;
        }
    return fail_name(r, v, "materials has no", material_name, s->material_count);
}

static spate_status read_shape_field(reader *r, const yaml_value *mapping, shape **out) {
    int back = reader_enter(r, "shape");
    TRY(scene_read_shape(r, yaml_find(mapping, "shape"), out));
    reader_leave(r, back);
    return SPATE_OK;
}

static spate_status refuse_change(reader *r, const yaml_value *mapping, const shape *s,
                                  const char *noun) {
    return scene_refuse_sequence(r, yaml_find(mapping, "shape"), s, noun);
}

static spate_status refuse_points(reader *r, const yaml_value *mapping, const shape *s,
                                  const char *noun) {
    if (s->kind != SHAPE_POINTS) return SPATE_OK;
    return reader_fail_field(r, reader_at(mapping, "shape"), "shape",
                             "points have no inside; a %s needs a solid shape such as a sphere",
                             noun);
}

/* A shape that does not even touch the domain would give no particle. */
static spate_status check_inside(reader *r, const yaml_value *mapping, const shape *s) {
    const domain *d = &r->scene->domain;
    const bounds b = s->sequence ? s->sequence->box : shape_bounds(s, r->dim);
    for (int i = 0; i < r->dim; i++) {
        double low = d->origin[i], high = low + d->size[i];
        if (b.max[i] >= low && b.min[i] <= high) continue;
        return reader_fail_field(r, reader_at(mapping, "shape"), "shape",
                                 "lies outside the domain: %s from %.6g to %.6g, the domain's from "
                                 "%.6g to %.6g; move it or enlarge the domain",
                                 scene_axis_words[i], b.min[i], b.max[i], low, high);
    }
    return SPATE_OK;
}

/* Vortices are as long as something. */
static spate_status check_vortices(reader *r, const yaml_value *mapping, const double vortices[2]) {
    if (vortices[0] == 0 || vortices[1] > 0) return SPATE_OK;
    return reader_fail_field(r, reader_at(mapping, "vortices"), "vortices",
                             "the wave length is %.10g; give [speed, length] with a length "
                             "greater than 0",
                             vortices[1]);
}

static spate_status read_flow_part(reader *r, const yaml_value *v, flow_part *p) {
    TRY(reader_table(r, v, &scene_flow_table, p));
    TRY(check_vortices(r, v, p->vortices));
    if (p->shear != 0 && p->along == p->across)
        return reader_fail_field(r, reader_at(v, "across"), "across",
                                 "is the axis that the shear moves along; choose another, or use "
                                 "strain");
    if (r->dim == 2 && p->shear != 0 && (p->along == 2 || p->across == 2))
        return reader_fail_field(r, reader_at(v, p->along == 2 ? "along" : "across"),
                                 p->along == 2 ? "along" : "across",
                                 "'z' in a 2D scene; use x or y, or say dimension: 3");
    if (v->count == 0)
        return reader_fail(r, v, "nothing moves; add translate: [1, 0], or another motion");
    return SPATE_OK;
}

static spate_status read_flow(reader *r, const yaml_value *mapping, body *b) {
    const yaml_value *v = yaml_find(mapping, "flow");
    if (!v) return SPATE_OK;
    int back = reader_enter(r, "flow");
    TRY(begin_list(r, v, sizeof(flow_part), &b->flow));
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int entry = reader_enter_index(r, b->flow_count);
        TRY(read_flow_part(r, e->value, &b->flow[b->flow_count]));
        b->flow_count++;
        reader_leave(r, entry);
    }
    reader_leave(r, back);
    return SPATE_OK;
}

static double default_per_cell(const reader *r) { return r->dim == 3 ? 8 : 4; }

/* What was not given: a glass of what flows, where the solver can do without a lattice. */
static void choose_sampling(const reader *r, const yaml_value *v, int of, sampling *out) {
    const spate_scene *s = r->scene;
    if (yaml_find(v, "sampling")) return;
    const bool can = s->solver->irregular && s->materials[of].type->flows;
    *out = yaml_find(v, "jitter") ? SAMPLE_JITTERED : can ? SAMPLE_GLASS : SAMPLE_REGULAR;
}

/* The tile of points that all who are sampled as a glass share. */
static spate_status need_glass(reader *r, sampling kind) {
    spate_scene *s = r->scene;
    if (kind != SAMPLE_GLASS || s->glass.moves || scene_on_grid(s)) return SPATE_OK;
    return glass_create(r->arena, r->dim, s->seed, &s->glass);
}

static spate_status check_times(reader *r, const yaml_value *mapping, double from, double until) {
    if (until > from) return SPATE_OK;
    return reader_fail_field(r, reader_at(mapping, "until"), "until",
                             "%.10g is not after from (%.10g); make it later", until, from);
}

/* Smoke has the colour of its material: what a body or source brings mixes with the rest. */
static spate_status check_color(reader *r, const yaml_value *mapping, const field_color *c) {
    if (!c->given || !scene_on_grid(r->scene)) return SPATE_OK;
    return reader_fail_field(r, reader_at(mapping, "color"), "color",
                             "matter on a grid has the colour of its material; give it to a "
                             "material of its own");
}

/* ---- Bodies, colliders, sources, sinks ------------------------------------------------------- */

static spate_status need_shape(reader *r, const yaml_value *v) {
    if (yaml_find(v, "shape")) return SPATE_OK;
    return reader_fail_field(r, v, "shape", "is missing; add it (what it fills; see shapes)");
}

static spate_status read_body(reader *r, const yaml_value *v, int index) {
    body *b = &r->scene->bodies[index];
    TRY(reader_table(r, v, &scene_body_table, b));
    r->scene->body_count = index + 1;
    TRY(default_name(r, "body", index, &b->name));
    TRY(check_group_name(r, v, index));
    TRY(read_material_name(r, v, &b->material));
    if (scene_body_has_shape(v)) {
        TRY(need_shape(r, v));
        TRY(read_shape_field(r, v, &b->shape));
        TRY(refuse_change(r, v, b->shape, "body"));
        TRY(check_inside(r, v, b->shape));
    }
    TRY(scene_read_mesh(r, v, b));
    TRY(scene_check_contact(r, v, b));
    TRY(check_vortices(r, v, b->vortices));
    TRY(check_color(r, v, &b->color));
    TRY(read_flow(r, v, b));
    if (scene_on_grid(r->scene)) TRY(refuse_points(r, v, b->shape, "body on a grid"));
    if (isnan(b->particles_per_cell)) b->particles_per_cell = default_per_cell(r);
    choose_sampling(r, v, b->material, &b->sampling);
    return need_glass(r, b->sampling);
}

spate_status scene_read_bodies(reader *r, const yaml_value *v) {
    int i = 0;
    TRY(begin_list(r, v, sizeof(body), &r->scene->bodies));
    for (const yaml_entry *e = v->first; e; e = e->next, i++) {
        int back = reader_enter_index(r, i);
        TRY(read_body(r, e->value, i));
        reader_leave(r, back);
    }
    return scene_warn_of_close(r);
}

/* One that is driven has a motion of one key, at rest unless it says otherwise. */
static spate_status prepare_driven(reader *r, const yaml_value *v, collider *c) {
    if (!c->driven) return SPATE_OK;
    if (c->motion.key_count > 1)
        return reader_fail_field(r, reader_at(v, "motion"), "motion",
                                 "has %d keys, but the collider is driven; give one, or remove "
                                 "`driven`",
                                 c->motion.key_count);
    if (c->motion.key_count) return SPATE_OK;
    c->motion.keys = arena_take(r->arena, 1, sizeof *c->motion.keys);
    if (!c->motion.keys) return SPATE_OUT_OF_MEMORY;
    c->motion.key_count = 1;
    vec_set(c->motion.keys[0].axis, 0, 0, 1);
    const bounds box = shape_bounds(c->shape, r->dim);
    for (int a = 0; a < r->dim; a++)
        if (isfinite(box.min[a]) && isfinite(box.max[a]))
            c->motion.pivot[a] = (box.min[a] + box.max[a]) / 2;
    return SPATE_OK;
}

static spate_status read_collider(reader *r, const yaml_value *v, int index) {
    collider *c = &r->scene->colliders[index];
    TRY(reader_table(r, v, &scene_collider_table, c));
    TRY(default_name(r, "collider", index, &c->name));
    for (int i = 0; i < index; i++)
        if (strcmp(r->scene->colliders[i].name, c->name) == 0) return duplicate_name(r, v, c->name);
    TRY(read_shape_field(r, v, &c->shape));
    TRY(refuse_points(r, v, c->shape, "collider"));
    TRY(scene_place_sequence(r, c->shape));
    TRY(check_times(r, v, c->from, c->until));
    const yaml_value *moves = yaml_find(v, "motion");
    if (moves) {
        int back = reader_enter(r, "motion");
        TRY(scene_read_motion(r, moves, &c->motion));
        reader_leave(r, back);
    }
    return prepare_driven(r, v, c);
}

spate_status scene_read_colliders(reader *r, const yaml_value *v) {
    TRY(begin_list(r, v, sizeof(collider), &r->scene->colliders));
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int back = reader_enter_index(r, r->scene->collider_count);
        TRY(read_collider(r, e->value, r->scene->collider_count));
        r->scene->collider_count++;
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_source(reader *r, const yaml_value *v, int index) {
    source *s = &r->scene->sources[index];
    TRY(reader_table(r, v, &scene_source_table, s));
    r->scene->source_count = index + 1;
    TRY(default_name(r, "source", index, &s->name));
    TRY(check_group_name(r, v, r->scene->body_count + index));
    TRY(read_material_name(r, v, &s->material));
    TRY(read_shape_field(r, v, &s->shape));
    TRY(refuse_points(r, v, s->shape, "source"));
    TRY(scene_place_sequence(r, s->shape));
    TRY(check_inside(r, v, s->shape));
    TRY(check_times(r, v, s->from, s->until));
    TRY(check_color(r, v, &s->color));
    if (isnan(s->particles_per_cell)) s->particles_per_cell = default_per_cell(r);
    choose_sampling(r, v, s->material, &s->sampling);
    TRY(need_glass(r, s->sampling));
    if (vec_length(s->velocity) == 0 && !s->shape->sequence && !scene_on_grid(r->scene))
        warn(r->ctx, "still source",
             "%s: source '%s' has no velocity, so nothing leaves it while it runs; give it one, or "
             "use a body",
             r->scene->path, s->name);
    return SPATE_OK;
}

spate_status scene_read_sources(reader *r, const yaml_value *v) {
    int i = 0;
    TRY(begin_list(r, v, sizeof(source), &r->scene->sources));
    for (const yaml_entry *e = v->first; e; e = e->next, i++) {
        int back = reader_enter_index(r, i);
        TRY(read_source(r, e->value, i));
        reader_leave(r, back);
    }
    return SPATE_OK;
}

static spate_status read_sink(reader *r, const yaml_value *v, int index) {
    sink *s = &r->scene->sinks[index];
    TRY(reader_table(r, v, &scene_sink_table, s));
    TRY(default_name(r, "sink", index, &s->name));
    for (int i = 0; i < index; i++)
        if (strcmp(r->scene->sinks[i].name, s->name) == 0) return duplicate_name(r, v, s->name);
    TRY(read_shape_field(r, v, &s->shape));
    TRY(refuse_points(r, v, s->shape, "sink"));
    TRY(refuse_change(r, v, s->shape, "sink"));
    TRY(check_inside(r, v, s->shape));
    return check_times(r, v, s->from, s->until);
}

spate_status scene_read_sinks(reader *r, const yaml_value *v) {
    TRY(begin_list(r, v, sizeof(sink), &r->scene->sinks));
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int back = reader_enter_index(r, r->scene->sink_count);
        TRY(read_sink(r, e->value, r->scene->sink_count));
        r->scene->sink_count++;
        reader_leave(r, back);
    }
    return SPATE_OK;
}

/* ---- Probes ---------------------------------------------------------------------------------- */

static spate_status read_group(reader *r, const yaml_value *v, int *out) {
    const char *name;
    const spate_scene *s = r->scene;
    TRY(reader_text(r, v, &name));
    for (*out = 0; *out < scene_group_count(s); ++*out)
        if (strcmp(scene_group_name(s, *out), name) == 0) return SPATE_OK;
    return fail_name(r, v, "no body or source is named", scene_group_name, scene_group_count(s));
}

static const char *collider_name(const spate_scene *s, int index) {
    return s->colliders[index].name;
}

static spate_status read_collider_name(reader *r, const yaml_value *v, int *out) {
    const char *name;
    const spate_scene *s = r->scene;
    int back = reader_enter(r, "on");
    TRY(reader_text(r, v, &name));
    for (*out = 0; *out < s->collider_count; ++*out)
        if (strcmp(s->colliders[*out].name, name) == 0) break;
    if (*out == s->collider_count)
        return fail_name(r, v, "no collider is named", collider_name, s->collider_count);
    reader_leave(r, back);
    return SPATE_OK;
}

static bool is_over_floor(probe_kind kind) { return kind == PROBE_HEIGHT || kind == PROBE_DEPTH; }

/* The place of a height or depth probe on the floor: x in 2D, x and z in 3D. */
static spate_status read_floor_point(reader *r, const yaml_value *v, probe *p) {
    double at[2] = {0, 0};
    vec_set(p->at, 0, 0, 0);
    if (r->dim == 3)
        TRY(reader_numbers(r, v, 2, at));
    else
        TRY(reader_number(r, v->kind == YAML_LIST && v->count == 1 ? yaml_item(v, 0) : v, at));
    p->at[0] = at[0];
    p->at[2] = at[1];
    return SPATE_OK;
}

static spate_status check_probe_point(reader *r, const yaml_value *v, const probe *p) {
    const domain *d = &r->scene->domain;
    for (int i = 0; i < r->dim; i++) {
        double low = d->origin[i], high = low + d->size[i];
        if (is_over_floor(p->kind) && i == 1) continue;
        if (p->at[i] < low || p->at[i] > high)
            return reader_fail(r, v,
                               "%s = %.10g is outside the domain; give one from %.10g to %.10g",
                               scene_axis_words[i], p->at[i], low, high);
    }
    return SPATE_OK;
}

static spate_status read_probe_shape(reader *r, const yaml_value *v, probe *p) {
    TRY(read_shape_field(r, v, &p->shape));
    TRY(refuse_points(r, v, p->shape, "probe"));
    TRY(refuse_change(r, v, p->shape, "probe"));
    return check_inside(r, v, p->shape);
}

/* Cells of a tiny gap could not be counted; nothing but coinciding particles would hang
 * together. */
static spate_status check_gap(reader *r, const yaml_value *v, probe *p) {
    const double dx = r->scene->domain.dx, least = 1e-6 * dx;
    if (isnan(p->gap)) p->gap = dx;
    if (p->gap >= least) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, "gap"), "gap",
                             "%.10g is less than a millionth of a cell; give at least %.10g",
                             p->gap, least);
}

/* A column fits the domain, or nothing would be over most of it. */
static spate_status check_width(reader *r, const yaml_value *v, probe *p) {
    const domain *d = &r->scene->domain;
    if (isnan(p->width)) p->width = d->dx;
    const double most = r->dim == 3 ? fmin(d->size[0], d->size[2]) : d->size[0];
    if (p->width <= most) return SPATE_OK;
    return reader_fail_field(r, reader_at(v, "width"), "width",
                             "%.10g is wider than the domain; give at most %.10g", p->width, most);
}

/* Only bodies have an order at the start. */
static spate_status check_mixing(reader *r, const yaml_value *v, const probe *p) {
    const spate_scene *s = r->scene;
    if (p->group >= s->body_count)
        return reader_fail_field(r, reader_at(v, "of"), "of",
                                 "a source has no order at the start; name a body");
    if (s->body_count == 0)
        return reader_fail(r, v, "there are no bodies, whose order it could follow; remove it");
    return SPATE_OK;
}

static spate_status check_probe(reader *r, const yaml_value *v, probe *p) {
    const bool has_axis =
        p->kind == PROBE_EXTENT || p->kind == PROBE_SPREAD || p->kind == PROBE_MIXING;
    if (has_axis && p->axis == 2 && r->dim == 2)
        return reader_fail_field(r, reader_at(v, "axis"), "axis",
                                 "'z' in a 2D scene; use x or y, or say dimension: 3");
    if (p->kind == PROBE_DEPTH) return check_width(r, v, p);
    if (p->kind == PROBE_PIECES || p->kind == PROBE_LARGEST_PIECE) return check_gap(r, v, p);
    return p->kind == PROBE_MIXING ? check_mixing(r, v, p) : SPATE_OK;
}

static spate_status read_probe_kind(reader *r, const yaml_value *v, const probe_declaration *d,
                                    probe *p) {
    const yaml_value *of, *at;
    p->kind = d->kind;
    TRY(reader_table(r, v, &d->table, p));
    if ((of = yaml_find(v, "of"))) {
        int back = reader_enter(r, "of");
        TRY(read_group(r, of, &p->group));
        reader_leave(r, back);
    }
    if (yaml_find(v, "on")) TRY(read_collider_name(r, yaml_find(v, "on"), &p->collider));
    if (yaml_find(v, "shape")) TRY(read_probe_shape(r, v, p));
    if ((at = yaml_find(v, "at"))) {
        int back = reader_enter(r, "at");
        if (is_over_floor(d->kind)) TRY(read_floor_point(r, at, p));
        TRY(check_probe_point(r, at, p));
        reader_leave(r, back);
    }
    return check_probe(r, v, p);
}

/* Most probes look at particles. */
static spate_status check_probe_sees(reader *r, const yaml_value *v, const probe_declaration *d) {
    const solver_declaration *solver = r->scene->solver;
    if (d->kind == PROBE_CONTACT_FORCE && !solver->contacts)
        return reader_fail(r, v,
                           "solver %s does not know it; remove it, or use solver.type %s; the "
                           "column COLLIDER_force_x has the force of all material",
                           solver->name, solvers_that(r->registry, solver_knows_contacts).text);
    if (!solver->on_grid || d->kind == PROBE_PRESSURE || d->kind == PROBE_VELOCITY) return SPATE_OK;
    return reader_fail(r, v,
                       "it looks at particles, and %s has none; use a probe of pressure or "
                       "velocity",
                       solver->name);
}

/* A column of each name: of another probe, or of every run. */
static spate_status check_probe_name(reader *r, const yaml_value *v, int index) {
    const char *name = r->scene->probes[index].name;
    const char *const *columns = r->registry->columns;
    if (strpbrk(name, ",\""))
        return reader_fail_field(r, reader_at(v, "name"), "name",
                                 "a comma or quote cannot be in a column's name; remove it");
    for (int i = 0; i < index; i++)
        if (strcmp(r->scene->probes[i].name, name) == 0) return duplicate_name(r, v, name);
    for (; columns && *columns; columns++)
        if (strcmp(*columns, name) == 0)
            return reader_fail_field(r, reader_at(v, "name"), "name",
                                     "stats.csv has a column '%s' already; name it otherwise",
                                     name);
    return SPATE_OK;
}

static spate_status read_probe(reader *r, const yaml_value *v, int index) {
    probe *p = &r->scene->probes[index];
    const probe_declaration *kind = NULL;
    TRY(reader_table(r, v, &scene_probe_table, p));
    p->group = -1;
    TRY(default_name(r, "probe", index, &p->name));
    TRY(check_probe_name(r, v, index));
    for (int i = 0; i < PROBE_DECLARATIONS; i++) {
        if (!yaml_find(v, scene_probes[i].name)) continue;
        if (kind)
            return reader_fail(r, v, "both '%s' and '%s'; make two probes of it", kind->name,
                               scene_probes[i].name);
        kind = &scene_probes[i];
    }
    if (!kind)
        return reader_fail(r, v,
                           "nothing to measure; add extent: {axis: x, side: max}, or another kind");
    int back = reader_enter(r, kind->name);
    TRY(check_probe_sees(r, yaml_find(v, kind->name), kind));
    TRY(read_probe_kind(r, yaml_find(v, kind->name), kind, p));
    reader_leave(r, back);
    return SPATE_OK;
}

spate_status scene_read_probes(reader *r, const yaml_value *v) {
    TRY(begin_list(r, v, sizeof(probe), &r->scene->probes));
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int back = reader_enter_index(r, r->scene->probe_count);
        TRY(read_probe(r, e->value, r->scene->probe_count));
        r->scene->probe_count++;
        reader_leave(r, back);
    }
    return SPATE_OK;
}
