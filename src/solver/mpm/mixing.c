/* Mixtures of a scene, and when they mix; mixing.h tells how. */
#include "solver/mpm/mixing.h"

#include "core/isa.h"

enum { BLOCKS_AT_ONCE = 16 };

ISA_TABLES(mixing_passes, mpm_mixing);

/* ---- Scenes ---------------------------------------------------------------------------------- */

/* One equation of state: else the pressure of a mixture would depend on which particle carries
 * it. */
static bool check_liquids(const spate_scene *s, const species *a, const species *b,
                          field_report *report) {
    const material_constants one = material_constants_of(s, a->material),
                             other = material_constants_of(s, b->material);
    if (one.liquid.stiffness == other.liquid.stiffness && one.liquid.gamma == other.liquid.gamma)
        return true;
    return field_complain(report, NULL,
                          "materials '%s' and '%s' are miscible, but differ in bulk_modulus or "
                          "gamma; give them the same",
                          s->materials[a->material].name, s->materials[b->material].name);
}

bool mpm_mixing_check(const spate_scene *scene, field_report *report) {
    const mpm_options *o = scene->solver_options;
    const double alike = 0.01;
    for (int k = 0; k < scene->species_count; k++)
        for (int l = 0; l < k; l++) {
            const species *a = &scene->species[l], *b = &scene->species[k];
            if (a->mixture != b->mixture) continue;
            if (!a->solid && !b->solid && !check_liquids(scene, a, b, report)) return false;
            const double ratio =
                scene->materials[a->material].density / scene->materials[b->material].density;
            if (o->density == DENSITY_SPH && fabs(ratio - 1) > alike)
                return field_complain(report, NULL,
                                      "solver.density is sph, which needs particles of one volume, "
                                      "but '%s' and '%s' mix and differ in density; use density J",
                                      scene->phases[a->phase], scene->phases[b->phase]);
        }
    return true;
}

static double density_of(const spate_scene *s, int k) {
    return s->materials[s->species[k].material].density;
}

/* The largest ratio of densities in a mixture. */
static double density_ratio(const spate_scene *s, int mixture) {
    double least = HUGE_VAL, most = 0;
    for (int k = 0; k < s->species_count; k++)
        if (s->species[k].mixture == mixture) {
            least = fmin(least, density_of(s, k));
            most = fmax(most, density_of(s, k));
        }
    return most / least;
}

double mpm_mixing_speedup(const spate_scene *scene, int c) {
    for (int k = 0; k < scene->species_count; k++)
        if (scene->species[k].material == c && !scene->species[k].solid)
            return sqrt(density_ratio(scene, scene->species[k].mixture));
    return 1;
}

/* Half of what is stable, and no more than a hundredth of a volume at once. */
static double longest_time(const spate_scene *s) {
    const double square = s->domain.dx * s->domain.dx, once = 0.01, share = 0.5;
    double time = HUGE_VAL;
    for (int x = 0; x < s->mixture_count; x++) {
        const double k = s->diffusion[x], more = density_ratio(s, x) - 1;
        if (k > 0) time = fmin(time, share * square / (2 * s->dim * k));
        if (k > 0 && more > 0) time = fmin(time, 2 * once * square / (k * more));
        for (int a = 0; a < s->species_count; a++) {
            const double rate = s->species[a].mixture == x ? s->species[a].dissolution : 0;
            if (rate > 0) time = fmin(time, fmin(0.1, more > 0 ? once / more : 1) / rate);
        }
    }
    return time;
}

/* ---- Creation -------------------------------------------------------------------------------- */

static void fill_groups(mpm_mixing *s, const spate_scene *scene) {
    const int groups = scene_group_count(scene);
    for (int g = 0; g < scene_group_slots(scene); g++) {
        const int k = scene_group_species(scene, g);
        if (k < 0) continue;
        if (!scene->species[k].solid)
            s->group_mixture[g] = (uint8_t)(scene->species[k].mixture + 1);
        else if (g < groups)
            s->group_solid[g] = (uint8_t)(k + 1);
    }
}

spate_status mpm_mixing_create(mpm *m) {
    const spate_scene *scene = m->sim->scene;
    mpm_view *v = &m->view;
    if (!scene->species_count) return SPATE_OK;
    mpm_mixing *s = m->mixing = take(m->sim->ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    const size_t slots = (size_t)scene_group_slots(scene);
    s->view = v;
    s->filters = true;
    s->limit = longest_time(scene);
    s->group_mixture = take(m->sim->ctx, slots + 1, sizeof *s->group_mixture);
    s->group_solid = take(m->sim->ctx, slots + 1, sizeof *s->group_solid);
    if (!s->group_mixture || !s->group_solid) return SPATE_OUT_OF_MEMORY;
    fill_groups(s, scene);
    for (int k = 0; k < scene->species_count; k++) {
        v->specific_volume[k] = (real)(1 / density_of(scene, k));
        s->volumes |= v->specific_volume[k] != v->specific_volume[0];
    }
    v->mixes = true;
    v->group_mixture = s->group_mixture;
    return SPATE_OK;
}

void mpm_mixing_free_arrays(spate_context *ctx, mpm_mixing *s) {
    give(ctx, s->group_mixture), give(ctx, s->group_solid);
    give(ctx, s->tiles), give(ctx, s->values), give(ctx, s->masses), give(ctx, s->fallen);
}

void mpm_mixing_free(mpm *m) {
    spate_context *ctx = m->sim->ctx;
    mpm_mixing *s = m->mixing;
    if (!s) return;
    mpm_mixing_free_arrays(ctx, s);
    give(ctx, s);
    m->mixing = NULL;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static const mixing_passes *passes_of(const mpm *m) {
    return ISA_CHOOSE(mpm_mixing, m->sim->ctx->isa);
}

static void over_occupied(mpm *m, mpm_mixing *s, const chunk_task pass[2]) {
    parallel_for(m->threads, m->sim->blocks.occupied_count, BLOCKS_AT_ONCE, pass[m->view.dim - 2],
                 s);
}
static void over_all(mpm *m, mpm_mixing *s, const chunk_task pass[2]) {
    parallel_for(m->threads, m->sim->blocks.count, BLOCKS_AT_ONCE, pass[m->view.dim - 2], s);
}

void mpm_mixing_diffuse(mpm *m, mpm_mixing *s, int mixture, double k, double time) {
    const mixing_passes *passes = passes_of(m);
    const double dx = m->sim->scene->domain.dx, number = k * time / (dx * dx);
    if (!(number > 0)) return;
    s->mixture = mixture, s->solid = -1;
    s->diffusion = (real)number;
    s->filter = s->filters ? (real)-expm1(-number * M_PI * M_PI) : 0;
    over_occupied(m, s, passes->amounts);
    over_all(m, s, passes->fractions);
    over_occupied(m, s, passes->flux);
    over_all(m, s, passes->change);
    over_occupied(m, s, passes->mix);
}

/* A particle of the solid becomes liquid: it had this volume, and has no stress. */
static void convert(mpm *m, int64_t i) {
    const spate_simulation *sim = m->sim;
    particles *p = &m->sim->particles;
    mpm_mixing *s = m->mixing;
    double energy = 0, J = 1;
    sim->type->stress(sim, i, NULL, &energy, &J);
    const double mass = (double)p->mass[i], before = mass / (double)rest_density(&m->view, i);
    s->state.released += energy * before;
    s->state.dissolved++;
    particles_clear(p, &i, 1,
                    p->fields & (PARTICLE_BIT(dilation) | PARTICLE_BIT(strain) |
                                 PARTICLE_BIT(hardening) | PARTICLE_BIT(flow)));
    p->group[i] = (uint16_t)(p->group[i] + scene_group_count(sim->scene));
    p->dilation[i] = (real)fmax(J * before * (double)rest_density(&m->view, i) / mass - 1, 0);
}

static void convert_fallen(mpm *m) {
    const mpm_mixing *s = m->mixing;
    const particles *p = &m->sim->particles;
    for (int32_t o = 0; o < m->sim->blocks.occupied_count; o++) {
        const int32_t block = m->sim->blocks.occupied[o];
        if (!s->fallen[block]) continue;
        for (int64_t i = m->view.first[block]; i < m->view.first[block + 1]; i++)
            if (p->group[i] != GROUP_REMOVED && s->group_solid[p->group[i]] == s->solid + 1 &&
                p->concentration[i][s->solid] <= s->saturation)
                convert(m, i);
    }
}

static void dissolve(mpm *m, int k, double time) {
    mpm_mixing *s = m->mixing;
    const species *all = m->sim->scene->species;
    const mixing_passes *passes = passes_of(m);
    if (!all[k].solid || !(all[k].dissolution > 0)) return;
    s->mixture = all[k].mixture, s->solid = k;
    for (int l = 0; l < SPECIES_MAX; l++)
        s->liquids[l] =
            l < m->sim->scene->species_count && !all[l].solid && all[l].mixture == s->mixture;
    s->rate = (real)(all[k].dissolution * time);
    s->saturation = (real)all[k].saturation;
    over_occupied(m, s, passes->amounts);
    over_all(m, s, passes->exchange);
    over_occupied(m, s, passes->dissolve);
    convert_fallen(m);
}

spate_status mpm_mixing_prepare(mpm *m, mpm_mixing *s) {
    const blocks *b = &m->sim->blocks;
    const int64_t nodes = block_reals(b->dim, 4);
    TRY(ENSURE(m->sim->ctx, s->tile_capacity, b->occupied_count,
               EACH(s->tiles, tile_reals(b->dim, 8))));
    return ENSURE(m->sim->ctx, s->block_capacity, b->count, EACH(s->values, nodes),
                  EACH(s->masses, nodes), EACH(s->fallen, 1));
}

spate_status mpm_mix(mpm *m) {
    mpm_mixing *s = m->mixing;
    const spate_simulation *sim = m->sim;
    if (!s) return SPATE_OK;
    s->state.time += sim->dt;
    if ((sim->step + 1) % MIXING_STEPS && s->state.time + sim->dt <= s->limit) return SPATE_OK;
    TRY(mpm_mixing_prepare(m, s));
    s->carried = m->sim->particles.concentration;
    for (int k = 0; k < sim->scene->species_count; k++) dissolve(m, k, s->state.time);
    for (int x = 0; x < sim->scene->mixture_count; x++)
        mpm_mixing_diffuse(m, s, x, sim->scene->diffusion[x], s->state.time);
    s->state.time = 0;
    return SPATE_OK;
}
