/* Phases of a scene as velocity fields, and the tiles of blocks where they meet. */
#include "solver/mpm/phases.h"

#include "core/isa.h"

enum { BLOCKS_AT_ONCE = 16 };

/* Drops: width, and the coefficient of their drag, that of a sphere in fast flow. */
static const double DROP_CELLS = 0.5, DROP_DRAG = 0.5;

ISA_TABLES(phase_passes, phases_linear);
ISA_TABLES(phase_passes, phases_quadratic);
ISA_TABLES(phase_passes, phases_cubic);
ISA_TABLES(phase_passes, phases_gimp);

/* ---- Fields ---------------------------------------------------------------------------------- */

/* The first phase that phase k has one velocity with, in the order of the alphabet. */
static int first_of(const spate_scene *s, int k) {
    int first = 0;
    while (first < k && !coupling_is_one(s->couplings[first * s->phase_count + k].kind)) first++;
    return first;
}

/* The field of phase k: how many phases before it are the first of theirs. */
static int phase_field(const spate_scene *s, int k) {
    int count = 0;
    for (int other = 0; other < first_of(s, k); other++) count += first_of(s, other) == other;
    return count;
}

int mpm_phase_fields(const spate_scene *scene) {
    int count = 0;
    for (int k = 0; k < scene->phase_count; k++) count += first_of(scene, k) == k;
    return count;
}

static bool group_is_liquid(const spate_scene *s, int group) {
    return material_kind_of(s->materials[scene_group_material(s, group)].type) == MATERIAL_LIQUID;
}

/* Drops are told from bodies where liquids of several fields meet. */
unsigned mpm_phase_particle_fields(const spate_scene *scene) {
    bool liquid[FIELDS_MAX], published = false;
    if (!scene->coupled || mpm_phase_fields(scene) > FIELDS_MAX) return 0;
    for (int f = 0; f < FIELDS_MAX; f++) liquid[f] = f < mpm_phase_fields(scene);
    for (int g = 0; g < scene_group_count(scene); g++)
        liquid[phase_field(scene, scene->group_phase[g])] &= group_is_liquid(scene, g);
    for (int k = 0; k < scene->phase_count * scene->phase_count; k++)
        published |= scene->couplings[k].kind == COUPLING_PUBLISHED;
    int count = 0;
    for (int f = 0; f < FIELDS_MAX; f++) count += liquid[f];
    return count > 1 && !published ? PARTICLE_BIT(foreign) : 0;
}

/* Of two ways in which phases of the same two fields meet, the firmer. */
static phase_coupling firmer(const phase_coupling *a, const phase_coupling *b) {
    phase_coupling c = *a;
    c.beta = fmax(a->beta, b->beta), c.tau = fmin(a->tau, b->tau);
    c.friction = fmax(a->friction, b->friction);
    return c;
}

/* The fields of groups, and how fields couple. */
static void set_fields(mpm *m) {
    const spate_scene *s = m->sim->scene;
    mpm_phases *out = m->phases;
    mpm_view *v = &m->view;
    v->field_count = mpm_phase_fields(s);
    for (int g = 0; g < scene_group_slots(s); g++)
        v->group_field[g] = (uint8_t)phase_field(s, s->group_phase[g]);
    for (int f = 0; f < v->field_count; f++) out->liquid[f] = out->solid[f] = true;
    for (int g = 0; g < scene_group_count(s); g++) {
        out->liquid[v->group_field[g]] &= group_is_liquid(s, g);
        out->solid[v->group_field[g]] &= !group_is_liquid(s, g);
    }
    int solids = 0;
    bool met[FIELDS_MAX][FIELDS_MAX] = {{false}};
    for (int f = 0; f < v->field_count; f++) solids += out->solid[f];
    for (int a = 0; a < s->phase_count; a++)
        for (int b = 0; b < s->phase_count; b++) {
            const phase_coupling *c = &s->couplings[a * s->phase_count + b];
            const int of_a = phase_field(s, a), of_b = phase_field(s, b);
            if (of_a == of_b) continue;
            phase_coupling *fields = &out->couplings[of_a][of_b];
            *fields = met[of_a][of_b] ? firmer(fields, c) : *c;
            met[of_a][of_b] = true;
            out->published = c->kind == COUPLING_PUBLISHED;
        }
    out->solid_pairs = solids > 1 && !out->published;
}

static const phase_passes *choose_passes(const mpm *m) {
    const enum isa isa = m->sim->ctx->isa;
    const phase_passes *by_kernel[KERNELS] = {[KERNEL_LINEAR] = ISA_CHOOSE(phases_linear, isa),
                                              [KERNEL_QUADRATIC] =
                                                  ISA_CHOOSE(phases_quadratic, isa),
                                              [KERNEL_CUBIC] = ISA_CHOOSE(phases_cubic, isa),
                                              [KERNEL_GIMP] = ISA_CHOOSE(phases_gimp, isa)};
    return by_kernel[m->kernel];
}

spate_status mpm_phases_create(mpm *m) {
    const spate_scene *s = m->sim->scene;
    mpm_view *v = &m->view;
    if (!s->coupled || mpm_phase_fields(s) == 1) return SPATE_OK;
    m->phases = take(m->sim->ctx, 1, sizeof *m->phases);
    if (!m->phases) return SPATE_OUT_OF_MEMORY;
    m->phases->view = v;
    m->phases->passes = choose_passes(m);
    set_fields(m);
    v->exchange = m->phases->passes->exchange[v->dim - 2];
    v->exchange_data = m->phases;
    return SPATE_OK;
}

void mpm_phases_free(mpm *m) {
    spate_context *ctx = m->sim->ctx;
    if (!m->phases) return;
    give(ctx, m->phases->tiles), give(ctx, m->phases->places);
    give(ctx, m->phases->mixed), give(ctx, m->phases->in_block);
    give(ctx, m->phases->dilatation), give(ctx, m->phases->pressure);
    give(ctx, m->phases->near), give(ctx, m->phases->extents);
    give(ctx, m->phases->smooth_tile), give(ctx, m->phases->means), give(ctx, m->phases->volumes);
    give(ctx, m->phases->number_tiles), give(ctx, m->phases->volume_tiles);
    give(ctx, m->phases->solids), give(ctx, m->phases->normals), give(ctx, m->phases->margins);
    give(ctx, m->phases->all_differences);
    give(ctx, m->phases);
    m->phases = NULL;
}

size_t mpm_phases_bytes(const mpm *m) {
    if (!m->phases) return 0;
    const mpm_phases *s = m->phases;
    const int dim = m->view.dim;
    return (size_t)(s->tile_capacity * tile_reals(dim, INTERFACE_REALS) +
                    2 * s->number_capacity * tile_reals(dim, 1) +
                    s->margin_capacity * tile_reals(dim, MARGIN_REALS) +
                    s->normal_capacity * block_reals(dim, NORMAL_REALS) +
                    2 * s->block_capacity * block_nodes(dim) + 2 * s->particle_capacity +
                    s->difference_capacity) *
           sizeof(real);
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* Blocks that have, or are next to one that has, a field besides their own: tiles reach only into
 * blocks next to theirs. */
static void mark_near(void *data, chunk items) {
    const mpm *m = data;
    const mpm_view *v = &m->view;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = v->occupied[o];
        int fields = 0;
        for (int f = 0; f < v->field_count; f++) {
            bool near = false;
            for (int n = 0; n < neighbour_count(v->dim) && !near; n++) {
                const int32_t other = v->neighbours[block][n];
                near = other >= 0 && v->tile[f][other] >= 0;
            }
            fields += near;
        }
        m->phases->near[block] = fields > 1;
    }
}

/* Whether field f of a block and field g of its neighbour n reach a node that is the same. */
static bool share_nodes(const mpm_view *v, const field_extents *mine, int f,
                        const field_extents *other, int g, int n) {
    for (int a = v->dim - 1; a >= 0; a--, n /= 3) {
        const int shift = (n % 3 - 1) * BLOCK_EDGE;
        if (other->of[g][a][0] + shift > mine->of[f][a][1] ||
            other->of[g][a][1] + shift < mine->of[f][a][0])
            return false;
    }
    return true;
}

/* Whether field f of a block meets another; `solid` where one of the two is not a liquid. */
static bool field_meets(const mpm *m, int32_t block, int f, bool *solid) {
    const mpm_view *v = &m->view;
    const mpm_phases *s = m->phases;
    bool meets = false;
    for (int n = 0; n < neighbour_count(v->dim); n++) {
        const int32_t other = v->neighbours[block][n];
        for (int g = 0; g < v->field_count && other >= 0; g++) {
            if (g == f || v->tile[g][other] < 0 ||
                !share_nodes(v, &s->extents[block], f, &s->extents[other], g, n))
                continue;
            meets = true;
            *solid |= !s->liquid[f] || !s->liquid[g];
        }
    }
    return meets;
}

/* Marks the blocks whose particles share nodes with those of another field, for all fields that
 * they have. */
static void mark_interface(void *data, chunk items) {
    const mpm *m = data;
    const mpm_view *v = &m->view;
    const int64_t block_count = m->sim->blocks.count;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = v->occupied[o];
        bool solid = false, meets = false;
        for (int f = 0; f < v->field_count && m->phases->near[block]; f++)
            if (v->tile[f][block] >= 0) meets |= field_meets(m, block, f, &solid);
        for (int f = 0; f < v->field_count && meets; f++)
            if (v->tile[f][block] >= 0) m->phases->places[f * block_count + block] = 0;
        m->phases->smooth_tile[block] = solid ? 0 : -1;
    }
}

/* What a step's length makes of the couplings. */
static void fill_betas(mpm *m) {
    mpm_phases *s = m->phases;
    s->drag = 0.75 * DROP_DRAG * m->sim->dt / (DROP_CELLS * m->sim->scene->domain.dx);
    for (int a = 0; a < m->view.field_count; a++)
        for (int b = 0; b < m->view.field_count; b++) {
            const phase_coupling *c = &s->couplings[a][b];
            s->beta[a][b] = isnan(c->beta) ? -expm1(-m->sim->dt / c->tau) : c->beta;
            s->friction[a][b] = c->friction;
        }
}

/* Where two solids may meet. */
static spate_status prepare_solids(mpm *m, int64_t tiles) {
    mpm_phases *s = m->phases;
    const int dim = m->view.dim;
    if (!s->solid_pairs) return SPATE_OK;
    TRY(ENSURE(m->sim->ctx, s->normal_capacity, m->sim->blocks.count, EACH(s->solids, 1),
               EACH(s->normals, block_reals(dim, NORMAL_REALS))));
    return ENSURE(m->sim->ctx, s->margin_capacity, tiles,
                  EACH(s->margins, tile_reals(dim, MARGIN_REALS)));
}

spate_status mpm_phases_prepare(mpm *m) {
    mpm_phases *s = m->phases;
    const mpm_view *v = &m->view;
    const blocks *b = &m->sim->blocks;
    spate_context *ctx = m->sim->ctx;
    if (!s) return SPATE_OK;
    fill_betas(m);
    const int64_t places = (int64_t)v->field_count * b->count;
    TRY(GROW(ctx, s->places, s->place_capacity, places));
    for (int64_t k = 0; k < places; k++) s->places[k] = -1;
    const int64_t of_block = block_reals(v->dim, SHARE_REALS);
    TRY(ENSURE(ctx, s->block_capacity, b->count, EACH(s->mixed, 1), EACH(s->in_block, 1),
               EACH(s->near, 1), EACH(s->extents, 1), EACH(s->smooth_tile, 1),
               EACH(s->means, block_nodes(v->dim)), EACH(s->volumes, block_nodes(v->dim))));
    for (int32_t k = 0; k < b->count; k++) s->smooth_tile[k] = -1;
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, mark_near, m);
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, s->passes->extent[v->dim - 2], s);
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, mark_interface, m);
    const int64_t count = mpm_number_places(m, s->places);
    for (int f = 0; f < v->field_count; f++) s->tile[f] = s->places + (int64_t)f * b->count;
    TRY(ENSURE(ctx, s->particle_capacity, v->particles->capacity + WIDE, EACH(s->dilatation, 1),
               EACH(s->pressure, 1)));
    int32_t smooth = 0;
    for (int32_t k = 0; k < b->count; k++)
        if (s->smooth_tile[k] >= 0) s->smooth_tile[k] = smooth++;
    m->view.mixture.in_block = s->published ? NULL : s->in_block;
    m->view.mixture.dilatation = s->dilatation;
    TRY(ENSURE(ctx, s->difference_capacity, v->field_count * b->count * of_block,
               EACH(s->all_differences, 1)));
    for (int f = 0; f < v->field_count; f++)
        s->differences[f] = s->all_differences + f * b->count * of_block;
    TRY(ENSURE(ctx, s->number_capacity, smooth, EACH(s->number_tiles, tile_reals(v->dim, 1)),
               EACH(s->volume_tiles, tile_reals(v->dim, 1))));
    TRY(prepare_solids(m, count));
    return ENSURE(ctx, s->tile_capacity, count,
                  EACH(s->tiles, tile_reals(v->dim, INTERFACE_REALS)));
}

/* Numbers of particles become the means that the grid holds of them. */
static void smooth(mpm *m, real *numbers) {
    mpm_phases *s = m->phases;
    const blocks *b = &m->sim->blocks;
    const int d = m->view.dim - 2;
    s->numbers = numbers;
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, s->passes->spread[d], s);
    parallel_for(m->threads, b->count, BLOCKS_AT_ONCE, s->passes->average[d], s);
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, s->passes->smoothed[d], s);
}

void mpm_phases_scatter(mpm *m) {
    mpm_phases *s = m->phases;
    if (!s) return;
    parallel_for(m->threads, m->sim->blocks.occupied_count, BLOCKS_AT_ONCE,
                 s->passes->pressure[m->view.dim - 2], s);
    s->volumes_known = false;
    if (!s->published) smooth(m, s->pressure);
    s->volumes_known = true;
    parallel_for(m->threads, m->sim->blocks.occupied_count, BLOCKS_AT_ONCE,
                 s->passes->scatter[m->view.dim - 2], s);
    if (!s->solid_pairs) return;
    parallel_for(m->threads, m->sim->blocks.count, BLOCKS_AT_ONCE,
                 s->passes->normals[m->view.dim - 2], s);
    parallel_for(m->threads, m->sim->blocks.occupied_count, BLOCKS_AT_ONCE,
                 s->passes->margins[m->view.dim - 2], s);
}

void mpm_phases_volume(mpm *m) {
    mpm_phases *s = m->phases;
    const blocks *b = &m->sim->blocks;
    if (!s || s->published) return;
    parallel_for(m->threads, b->count, BLOCKS_AT_ONCE, s->passes->difference[m->view.dim - 2], s);
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, s->passes->volume[m->view.dim - 2],
                 s);
    smooth(m, s->dilatation);
}
