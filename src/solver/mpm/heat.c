/* Heat of a scene's liquids; heat.h tells how it spreads and lifts. */
#include "solver/mpm/heat.h"

enum { BLOCKS_AT_ONCE = 32 };

static bool is_liquid(const spate_scene *s, int group) {
    return material_is_liquid(&s->materials[scene_group_material(s, group)]);
}

bool mpm_is_heated(const spate_scene *scene) {
    bool any = false;
    for (int c = 0; c < scene->material_count; c++) any |= material_temperature(scene, c) != 0;
    return any;
}

/* Half of what is stable. */
static double longest_time(const spate_scene *s, double diffusion) {
    const double square = s->domain.dx * s->domain.dx;
    return diffusion > 0 ? 0.5 * square / (2 * s->dim * diffusion) : HUGE_VAL;
}

static void fill_groups(mpm_heat *s, const spate_scene *scene) {
    for (int g = 0; g < scene_group_slots(scene); g++) {
        const int c = scene_group_material(scene, g);
        if (!is_liquid(scene, g)) continue;
        s->spreading.group_mixture[g] = 1;
        for (int a = 0; a < scene->dim; a++)
            s->buoyancy[g][a] =
                -material_constants_of(scene, c).liquid.expansion * (real)scene->gravity[a];
    }
}

spate_status mpm_heat_create(mpm *m) {
    const spate_scene *scene = m->sim->scene;
    spate_context *ctx = m->sim->ctx;
    if (!mpm_is_heated(scene)) return SPATE_OK;
    mpm_heat *s = m->heat = take(ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    const size_t slots = (size_t)scene_group_slots(scene) + 1;
    s->diffusion = ((const mpm_options *)scene->solver_options)->heat_diffusion;
    s->spreading.view = &m->view;
    s->spreading.filters = true;
    s->spreading.limit = longest_time(scene, s->diffusion);
    s->spreading.group_mixture = take(ctx, slots, sizeof *s->spreading.group_mixture);
    s->spreading.group_solid = take(ctx, slots, sizeof *s->spreading.group_solid);
    s->buoyancy = take(ctx, slots, sizeof *s->buoyancy);
    if (!s->spreading.group_mixture || !s->spreading.group_solid || !s->buoyancy)
        return SPATE_OUT_OF_MEMORY;
    fill_groups(s, scene);
    return SPATE_OK;
}

void mpm_heat_free(mpm *m) {
    spate_context *ctx = m->sim->ctx;
    mpm_heat *s = m->heat;
    if (!s) return;
    mpm_mixing_free_arrays(ctx, &s->spreading);
    give(ctx, s->carried), give(ctx, s->buoyancy);
    give(ctx, s);
    m->heat = NULL;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static void load_temperatures(void *data, chunk items) {
    const mpm *m = data;
    const particles *p = &m->sim->particles;
    for (int64_t i = items.begin; i < items.end; i++)
        quad_store(m->heat->carried[i], (quad){p->temperature[i], 0, 0, 0});
}

static void store_temperatures(void *data, chunk items) {
    const mpm *m = data;
    const particles *p = &m->sim->particles;
    for (int64_t i = items.begin; i < items.end; i++) p->temperature[i] = m->heat->carried[i][0];
}

static spate_status spread(mpm *m) {
    enum { PARTICLES_AT_ONCE = 4096 };
    mpm_heat *s = m->heat;
    const int64_t count = m->sim->particles.count;
    TRY(ENSURE(m->sim->ctx, s->capacity, m->sim->particles.capacity, EACH(s->carried, 1)));
    TRY(mpm_mixing_prepare(m, &s->spreading));
    s->spreading.carried = s->carried;
    parallel_for(m->threads, count, PARTICLES_AT_ONCE, load_temperatures, m);
    mpm_mixing_diffuse(m, &s->spreading, 0, s->diffusion, s->spreading.state.time);
    parallel_for(m->threads, count, PARTICLES_AT_ONCE, store_temperatures, m);
    return SPATE_OK;
}

static void lift_blocks(void *data, chunk items) {
    const mpm *m = data;
    const particles *p = &m->sim->particles;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = m->view.occupied[o];
        for (int64_t i = m->view.first[block]; i < m->view.first[block + 1]; i++) {
            if (p->group[i] == GROUP_REMOVED) continue;
            const quad force = quad_splat(p->mass[i] * p->temperature[i]) *
                               quad_load(m->heat->buoyancy[p->group[i]]);
            quad_store(p->force[i], quad_load(p->force[i]) + force);
        }
    }
}

spate_status mpm_heat_step(mpm *m) {
    const spate_simulation *sim = m->sim;
    if (!m->heat) return SPATE_OK;
    mpm_mixing *s = &m->heat->spreading;
    s->state.time += sim->dt;
    if ((sim->step + 1) % MIXING_STEPS == 0 || s->state.time + sim->dt > s->limit) {
        if (m->heat->diffusion > 0) TRY(spread(m));
        s->state.time = 0;
    }
    parallel_for(m->threads, sim->blocks.occupied_count, BLOCKS_AT_ONCE, lift_blocks, m);
    return SPATE_OK;
}
