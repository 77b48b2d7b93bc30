/*
 * Phases of a scene that mix (scene.h): which species there are, and what may mix with what.
 *
 * Miscible liquids must be so with each other, all with one coefficient of diffusion: the fractions
 * of a particle then keep their sum of 1. A solid dissolves in all liquids of a mixture alike.
 */
#include "scene/scene_parts.h"

static const phase_coupling *pair_of(const spate_scene *s, int a, int b) {
    return &s->couplings[a * s->phase_count + b];
}

static coupling_kind kind_of(const spate_scene *s, int a, int b) {
    return a == b ? COUPLING_GLUED : pair_of(s, a, b)->kind;
}

/* ---- Phases ---------------------------------------------------------------------------------- */

/* The one material of a phase, -1: it has several. */
static int phase_material(const spate_scene *s, int phase) {
    int only = -1;
    for (int g = 0; g < scene_group_count(s); g++) {
        if (s->group_phase[g] != phase) continue;
        const int m = scene_group_material(s, g);
        if (only >= 0 && only != m) return -1;
        only = m;
    }
    return only;
}

static bool is_liquid(const spate_scene *s, int phase) {
    return material_is_liquid(&s->materials[phase_material(s, phase)]);
}

static bool mixes(const spate_scene *s, int phase) {
    for (int other = 0; other < s->phase_count; other++) {
        const coupling_kind kind = kind_of(s, phase, other);
        if (kind == COUPLING_MISCIBLE || kind == COUPLING_DISSOLVES) return true;
    }
    return false;
}

static spate_status check_phase(reader *r, const yaml_value *v, int phase) {
    const spate_scene *s = r->scene;
    const char *name = s->phases[phase];
    if (phase_material(s, phase) < 0)
        return reader_fail(r, v,
                           "phase '%s' mixes, but has several materials; give every material a "
                           "phase of its own",
                           name);
    for (int b = 0; b < s->body_count; b++)
        if (s->group_phase[b] == phase && s->bodies[b].mesh.kind)
            return reader_fail(r, v,
                               "phase '%s' mixes, but its body '%s' is a mesh; make it of "
                               "particles, with `shape`",
                               name, s->bodies[b].name);
    return SPATE_OK;
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static spate_status check_pair(reader *r, const yaml_value *v, int a, int b) {
    const spate_scene *s = r->scene;
    const phase_coupling *c = pair_of(s, a, b);
    const int liquids = is_liquid(s, a) + is_liquid(s, b);
    if (c->kind == COUPLING_MISCIBLE && liquids < 2)
        return reader_fail(r, v,
                           "'%s' and '%s' are miscible, but not both of them are liquids; use "
                           "`type: dissolves` for a solid in a liquid",
                           s->phases[b], s->phases[a]);
    if (c->kind == COUPLING_DISSOLVES && liquids != 1)
        return reader_fail(r, v,
                           "of '%s' and '%s' one must be a solid that dissolves and the other a "
                           "liquid; use `type: %s`",
                           s->phases[b], s->phases[a], liquids ? "miscible" : "contact");
    return SPATE_OK;
}

/* A liquid c that b is miscible with is to a what b is to a. */
static spate_status check_third(reader *r, const yaml_value *v, int a, int b, int c) {
    const spate_scene *s = r->scene;
    const phase_coupling *first = pair_of(s, a, b), *second = pair_of(s, a, c);
    const bool alike = first->kind == second->kind && first->dissolution == second->dissolution &&
                       first->saturation == second->saturation &&
                       first->diffusion == second->diffusion;
    const bool solids = first->kind != COUPLING_MISCIBLE;
    if (alike || (solids && (isnan(first->dissolution) && isnan(second->dissolution))))
        return SPATE_OK;
    return reader_fail(r, v,
                       "'%s' and '%s' are miscible: what mixes with one of them mixes with the "
                       "other in the same way; couple '%s' to both alike, with the same "
                       "diffusion, dissolution and saturation",
                       s->phases[b], s->phases[c], s->phases[a]);
}

static spate_status check_triples(reader *r, const yaml_value *v, int a, int b) {
    const spate_scene *s = r->scene;
    for (int c = 0; c < s->phase_count; c++) {
        if (c == a || c == b) continue;
        if (kind_of(s, b, c) == COUPLING_MISCIBLE &&
            (kind_of(s, a, b) == COUPLING_MISCIBLE || kind_of(s, a, b) == COUPLING_DISSOLVES))
            TRY(check_third(r, v, a, b, c));
        if (!is_liquid(s, a) && kind_of(s, a, b) == COUPLING_DISSOLVES &&
            kind_of(s, a, c) == COUPLING_DISSOLVES && kind_of(s, b, c) != COUPLING_MISCIBLE)
            return reader_fail(r, v,
                               "'%s' dissolves in '%s' and in '%s', which do not mix; make them "
                               "miscible, or leave one of the two out",
                               s->phases[a], s->phases[b], s->phases[c]);
    }
    return SPATE_OK;
}

spate_status scene_check_steps(reader *r, const yaml_value *v, const phase_coupling *c) {
    const spate_scene *s = r->scene;
    const double square = s->domain.dx * s->domain.dx,
                 most = s->dt > 0 ? square / (2 * s->dim * s->dt) : HUGE_VAL;
    if (c->diffusion > most)
        return reader_fail_field(r, reader_at(v, "diffusion"), "diffusion",
                                 "with solver.dt %g and cells of %g, more than %.3g is not "
                                 "stable; make dt smaller, or leave it out",
                                 s->dt, s->domain.dx, most);
    if (s->dt > 0 && c->dissolution * s->dt > 1)
        return reader_fail_field(r, reader_at(v, "dissolution"), "dissolution",
                                 "with solver.dt %g, more than %.3g is not stable; make dt "
                                 "smaller, or leave it out",
                                 s->dt, 1 / s->dt);
    return SPATE_OK;
}

/* ---- Species --------------------------------------------------------------------------------- */

/* The first species before k that phase k mixes with; -1: none. */
static int partner_of(const spate_scene *s, int phase) {
    for (int k = 0; k < s->species_count; k++) {
        const coupling_kind kind = kind_of(s, phase, s->species[k].phase);
        if (kind == COUPLING_MISCIBLE || kind == COUPLING_DISSOLVES) return k;
    }
    return -1;
}

/* Liquids come before the solids that dissolve in them. */
static void add_species(spate_scene *s, int phase) {
    const int partner = partner_of(s, phase);
    species *k = &s->species[s->species_count];
    *k = (species){.phase = phase, .material = phase_material(s, phase)};
    k->solid = !is_liquid(s, phase);
    k->mixture = partner >= 0 ? s->species[partner].mixture : s->mixture_count++;
    s->species_count++;
    for (int other = 0; other < s->phase_count; other++) {
        const phase_coupling *c = pair_of(s, phase, other);
        if (other == phase || (c->kind != COUPLING_MISCIBLE && c->kind != COUPLING_DISSOLVES))
            continue;
        if (c->diffusion > 0) s->diffusion[k->mixture] = c->diffusion;
        if (k->solid) k->dissolution = c->dissolution, k->saturation = c->saturation;
    }
}

static spate_status collect_species(reader *r, const yaml_value *v) {
    spate_scene *s = r->scene;
    int count = 0;
    for (int k = 0; k < s->phase_count; k++) count += mixes(s, k);
    if (count > SPECIES_MAX)
        return reader_fail(r, v, "%d phases mix; a scene can have %d: make some of them one phase",
                           count, SPECIES_MAX);
    for (int solids = 0; solids < 2; solids++)
        for (int k = 0; k < s->phase_count; k++)
            if (mixes(s, k) && is_liquid(s, k) == !solids) add_species(s, k);
    return SPATE_OK;
}

/* What groups become when they are dissolved: the first liquid of their mixture. */
static spate_status name_dissolved(reader *r) {
    spate_scene *s = r->scene;
    const int groups = scene_group_count(s);
    bool any = false;
    for (int k = 0; k < s->species_count; k++) any |= s->species[k].solid;
    if (!any) return SPATE_OK;
    int *dissolved = arena_take(r->arena, (size_t)groups + 1, sizeof *dissolved);
    if (!dissolved) return SPATE_OUT_OF_MEMORY;
    for (int g = 0; g < groups; g++) {
        const int own = scene_group_species(s, g);
        int becomes = own;
        for (int k = s->species_count - 1; k >= 0 && own >= 0; k--)
            if (!s->species[k].solid && s->species[k].mixture == s->species[own].mixture)
                becomes = k;
        const bool solid = own >= 0 && s->species[own].solid;
        dissolved[g] = solid ? s->species[becomes].material : scene_group_material(s, g);
        s->group_phase[groups + g] = solid ? s->species[becomes].phase : s->group_phase[g];
    }
    s->dissolved_material = dissolved;
    return SPATE_OK;
}

spate_status scene_read_mixtures(reader *r, const yaml_value *v) {
    const spate_scene *s = r->scene;
    for (int a = 0; a < s->phase_count; a++)
        if (mixes(s, a)) TRY(check_phase(r, v, a));
    for (int a = 0; a < s->phase_count; a++)
        for (int b = 0; b < s->phase_count; b++) {
            const coupling_kind kind = kind_of(s, a, b);
            if (kind != COUPLING_MISCIBLE && kind != COUPLING_DISSOLVES) continue;
            TRY(check_pair(r, v, a, b));
            TRY(check_triples(r, v, a, b));
        }
    TRY(collect_species(r, v));
    return name_dissolved(r);
}
