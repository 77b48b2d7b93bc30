/*
 * Phases of a scene and how they meet.
 *
 * A phase is named by bodies, sources or materials (`phase`); a material without one is a phase of
 * its own name. Phases are kept in the order of the alphabet, so that the order in which a scene
 * lists things does not matter. Each pair has a coupling; phases that are glued, directly or
 * through others, have one velocity on the grid.
 */
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <string.h>

/* ---- Names ----------------------------------------------------------------------------------- */

static const char *material_phase(const material *m) { return m->phase ? m->phase : m->name; }

static const char *group_phase_name(const spate_scene *s, int group) {
    const char *own =
        group < s->body_count ? s->bodies[group].phase : s->sources[group - s->body_count].phase;
    return own ? own : material_phase(&s->materials[scene_group_material(s, group)]);
}

/* The place of a name among the phases, -1: none. */
static int find_phase(const spate_scene *s, const char *name) {
    for (int k = 0; k < s->phase_count; k++)
        if (strcmp(s->phases[k], name) == 0) return k;
    return -1;
}

static void insert_phase(spate_scene *s, const char *name) {
    if (find_phase(s, name) >= 0) return;
    int k = s->phase_count++;
    for (; k > 0 && strcmp(s->phases[k - 1], name) > 0; k--) s->phases[k] = s->phases[k - 1];
    s->phases[k] = name;
}

static spate_status collect_phases(reader *r) {
    spate_scene *s = r->scene;
    const int groups = scene_group_count(s);
    s->phases = arena_take(r->arena, (size_t)(s->material_count + groups) + 1, sizeof *s->phases);
    s->group_phase = arena_take(r->arena, 2 * (size_t)groups + 1, sizeof *s->group_phase);
    if (!s->phases || !s->group_phase) return SPATE_OUT_OF_MEMORY;
    for (int g = 0; g < groups; g++) insert_phase(s, group_phase_name(s, g));
    for (int g = 0; g < groups; g++) s->group_phase[g] = find_phase(s, group_phase_name(s, g));
    return SPATE_OK;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static phase_coupling plain(coupling_kind kind) {
    return (phase_coupling){
        .kind = kind, .beta = NAN, .tau = NAN, .diffusion = NAN, .dissolution = NAN};
}

static phase_coupling *pair_of(spate_scene *s, int a, int b) {
    return &s->couplings[a * s->phase_count + b];
}

/* Whether a liquid moves with a phase: its own, or one of a phase that is glued to it. */
static bool has_liquid(spate_scene *s, int phase) {
    for (int g = 0; g < scene_group_count(s); g++) {
        const int other = s->group_phase[g];
        if ((other == phase || coupling_is_one(pair_of(s, other, phase)->kind)) &&
            material_is_liquid(&s->materials[scene_group_material(s, g)]))
            return true;
    }
    return false;
}

/* Of a solid in a liquid enough to keep them apart, step by step: normals are not exact, and with 1
 * what flows along the solid drags on it more. Solids that press on each other have no pressure in
 * common, so with less than 1 they would creep into each other. */
static double default_beta(spate_scene *s, int a, int b) {
    const double in_liquid = 0.3;
    const bool all =
        pair_of(s, a, b)->kind == COUPLING_IMMISCIBLE || (!has_liquid(s, a) && !has_liquid(s, b));
    return all ? 1 : in_liquid;
}

/* Once it is known which phases move as one. */
static void set_defaults(spate_scene *s) {
    for (int a = 0; a < s->phase_count; a++)
        for (int b = 0; b < s->phase_count; b++) {
            phase_coupling *pair = pair_of(s, a, b);
            if (a != b && isnan(pair->beta) && isnan(pair->tau)) pair->beta = default_beta(s, a, b);
        }
}

static void set_pair(spate_scene *s, int a, int b, const phase_coupling *c) {
    *pair_of(s, a, b) = *pair_of(s, b, a) = *c;
}

static spate_status read_phase_name(reader *r, const yaml_value *v, int *out) {
    const char *name;
    TRY(reader_text(r, v, &name));
    *out = find_phase(r->scene, name);
    if (*out >= 0) return SPATE_OK;
    return reader_fail_word(r, v, "unknown phase", name, r->scene->phases, r->scene->phase_count);
}

static spate_status read_between(reader *r, const yaml_value *v, int pair[2]) {
    int back = reader_enter(r, "between");
    if (v->kind != YAML_LIST || v->count != 2)
        return reader_fail(r, v, "give the names of two phases; write [water, ball]");
    for (int k = 0; k < 2; k++) {
        int entry = reader_enter_index(r, k);
        TRY(read_phase_name(r, yaml_item(v, k), &pair[k]));
        reader_leave(r, entry);
    }
    if (pair[0] == pair[1])
        return reader_fail(r, v,
                           "'%s' twice; bodies of one phase have one velocity, so give one "
                           "of them a phase of its own",
                           r->scene->phases[pair[0]]);
    reader_leave(r, back);
    return SPATE_OK;
}

/* Numbers of mixing stand where something mixes, and those that have no default must. */
static spate_status check_mixing(reader *r, const yaml_value *v, const phase_coupling *c) {
    static const char *const names[] = {"diffusion", "dissolution", "saturation"};
    const bool miscible = c->kind == COUPLING_MISCIBLE, dissolves = c->kind == COUPLING_DISSOLVES;
    for (int k = 0; k < 3; k++)
        if (yaml_find(v, names[k]) && !dissolves && !(miscible && k == 0))
            return reader_fail_field(r, reader_at(v, names[k]), names[k],
                                     "is for `type: %s`; leave it out",
                                     k ? "dissolves" : "miscible` and `dissolves");
    if (miscible && isnan(c->diffusion))
        return reader_fail_field(r, v, "diffusion",
                                 "is missing; say how fast they mix, e.g. diffusion: 1.0e-4");
    if (dissolves && isnan(c->dissolution))
        return reader_fail_field(r, v, "dissolution",
                                 "is missing; say how fast it dissolves, e.g. dissolution: 3.0");
    return SPATE_OK;
}

static spate_status check_entry(reader *r, const yaml_value *v, const phase_coupling *c) {
    if (!isnan(c->beta) && !isnan(c->tau))
        return reader_fail_field(r, reader_at(v, "tau"), "tau",
                                 "stands beside beta, which says the same; leave one of them out");
    if (coupling_is_one(c->kind) && (c->friction > 0 || !isnan(c->beta) || !isnan(c->tau)))
        return reader_fail_field(r, reader_at(v, "type"), "type",
                                 "%s phases move as one; leave friction, beta and tau out",
                                 scene_coupling_words[c->kind]);
    if (c->friction > 0 && c->kind != COUPLING_CONTACT && c->kind != COUPLING_DISSOLVES)
        return reader_fail_field(r, reader_at(v, "friction"), "friction",
                                 "is for `type: contact` and `dissolves`; leave it out");
    TRY(check_mixing(r, v, c));
    return scene_check_steps(r, v, c);
}

/* Fills the pairs that an entry is for; `named` tells those that have been named. */
static spate_status read_entry(reader *r, const yaml_value *v, phase_coupling *others,
                               bool *named) {
    spate_scene *s = r->scene;
    phase_coupling c;
    int pair[2];
    TRY(reader_mapping(r, v));
    TRY(reader_table(r, v, &scene_coupling_table, &c));
    TRY(check_entry(r, v, &c));
    const yaml_value *between = yaml_find(v, "between");
    if (!between) {
        *others = c;
        return SPATE_OK;
    }
    TRY(read_between(r, between, pair));
    bool *seen = &named[pair[0] * s->phase_count + pair[1]];
    if (*seen)
        return reader_fail_field(r, between, "between",
                                 "'%s' and '%s' are coupled twice; remove one", s->phases[pair[0]],
                                 s->phases[pair[1]]);
    *seen = named[pair[1] * s->phase_count + pair[0]] = true;
    set_pair(s, pair[0], pair[1], &c);
    return SPATE_OK;
}

static spate_status read_list(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    phase_coupling others = plain(COUPLING_CONTACT);
    int index = 0;
    TRY(reader_list(r, v));
    bool *named =
        arena_take(r->arena, (size_t)(s->phase_count * s->phase_count) + 1, sizeof *named);
    if (!named) return SPATE_OUT_OF_MEMORY;
    for (const yaml_entry *e = v->first; e; e = e->next) {
        int back = reader_enter_index(r, index++);
        TRY(read_entry(r, e->value, &others, named));
        reader_leave(r, back);
    }
    for (int a = 0; a < s->phase_count; a++)
        for (int b = 0; b < a; b++)
            if (!named[a * s->phase_count + b]) set_pair(s, a, b, &others);
    return SPATE_OK;
}

static spate_status read_word(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    int word;
    TRY(reader_choice(r, v, scene_coupling_words, &word));
    if (word == COUPLING_MISCIBLE || word == COUPLING_DISSOLVES)
        return reader_fail(r, v, "%s needs numbers; write [{type: %s, %s}]",
                           scene_coupling_words[word], scene_coupling_words[word],
                           word == COUPLING_MISCIBLE ? "diffusion: 1.0e-4" : "dissolution: 3.0");
    const phase_coupling all = plain((coupling_kind)word);
    for (int a = 0; a < s->phase_count; a++)
        for (int b = 0; b < a; b++) set_pair(s, a, b, &all);
    return SPATE_OK;
}

/* ---- All together ---------------------------------------------------------------------------- */

/* A glued pair of a glued pair is glued; the published rule is for a whole node. */
static spate_status check_pairs(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    bool published = false, other = false;
    for (int a = 0; a < s->phase_count; a++)
        for (int b = 0; b < a; b++) {
            const coupling_kind kind = pair_of(s, a, b)->kind;
            published |= kind == COUPLING_PUBLISHED;
            other |= kind != COUPLING_PUBLISHED && !coupling_is_one(kind);
            for (int c = 0; c < s->phase_count && !coupling_is_one(kind); c++)
                if (c != a && c != b && coupling_is_one(pair_of(s, a, c)->kind) &&
                    coupling_is_one(pair_of(s, b, c)->kind))
                    return reader_fail(
                        r, v,
                        "'%s' and '%s' are both glued to or miscible with '%s', but not with each "
                        "other; couple them so too, or leave one of the others out",
                        s->phases[b], s->phases[a], s->phases[c]);
        }
    if (published && other)
        return reader_fail(r, v,
                           "some pairs are `published` and others are not; that rule is for "
                           "all pairs or none: write `coupling: published`");
    return SPATE_OK;
}

/* What a scene without coupling may not say. */
static spate_status refuse_phases(reader *r) {
    const spate_scene *s = r->scene;
    const char *given = NULL;
    for (int c = 0; c < s->material_count; c++) {
        if (s->materials[c].phase) given = s->materials[c].phase;
        if (!isnan(s->materials[c].pic_time) && !s->solver->couples)
            return reader_fail_field(r, r->tree->root, "materials",
                                     "'%s' has pic_time, which %s does not know; leave it out, or "
                                     "use solver.type %s",
                                     s->materials[c].name, s->solver->name,
                                     solvers_that(r->registry, solver_couples).text);
    }
    for (int b = 0; b < s->body_count; b++)
        if (s->bodies[b].phase) given = s->bodies[b].phase;
    for (int k = 0; k < s->source_count; k++)
        if (s->sources[k].phase) given = s->sources[k].phase;
    if (!given) return SPATE_OK;
    return reader_fail_field(r, r->tree->root, "coupling",
                             "is missing, though something has phase '%s'; say how phases meet, "
                             "e.g. coupling: contact",
                             given);
}

spate_status scene_read_coupling(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    if (!v) return refuse_phases(r);
    if (!s->solver->couples)
        return reader_fail(r, v,
                           "%s gives all material one velocity; leave it out, or use "
                           "solver.type %s",
                           s->solver->name, solvers_that(r->registry, solver_couples).text);
    TRY(collect_phases(r));
    const size_t pairs = (size_t)(s->phase_count * s->phase_count);
    s->couplings = arena_take(r->arena, pairs + 1, sizeof *s->couplings);
    if (!s->couplings) return SPATE_OUT_OF_MEMORY;
    TRY(v->kind == YAML_WORD ? read_word(r, v) : read_list(r, v));
    s->coupled = true;
    TRY(check_pairs(r, v));
    set_defaults(s);
    return scene_read_mixtures(r, v);
}
