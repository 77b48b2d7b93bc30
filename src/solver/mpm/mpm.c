#include "solver/mpm/mpm.h"

#include "core/isa.h"
#include "core/vec.h"
#include "solver/sources.h"

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const integrators[] = {"apic", "pic", NULL};

static const field mpm_fields[] = {
    {.name = "integrator",
     .type = FIELD_CHOICE,
     .offset = offsetof(mpm_options, integrator),
     .unit = "",
     .fallback = MPM_APIC,
     .choices = integrators,
     .help =
         "How velocity moves between particles and grid: apic keeps angular momentum, pic is the "
         "damped textbook transfer."},
    {.name = "sound",
     .type = FIELD_NUMBER,
     .offset = offsetof(mpm_options, sound),
     .unit = "",
     .fallback = 0.4,
     .min = 1e-6,
     .max = 1,
     .help = "The time step as a share of the time a pressure wave takes to cross a cell."},
};

static const char *const mpm_materials[] = {"liquid", "neo_hookean", NULL};

const solver_declaration mpm_declaration = {
    .name = "mpm",
    .table = {.name = "mpm",
              .help = "Explicit material point method (MLS-MPM).",
              .fields = mpm_fields,
              .count = COUNT_OF(mpm_fields),
              .size = sizeof(mpm_options)},
    .material_names = mpm_materials,
};

static const material_model *model_of(const spate_scene *scene, int index) {
    return material_models[material_kind_of(scene->materials[index].type)];
}

/* ---- Creation -------------------------------------------------------------------------------- */

static unsigned fields(const spate_scene *scene) {
    unsigned bits = 0;
    for (int i = 0; i < scene->material_count; i++) bits |= model_of(scene, i)->fields;
    return bits;
}

static void forget_extremes(mpm *m) {
    for (int w = 0; w < pool_size(m->sim->ctx->pool); w++) m->seen[w] = (mpm_extremes){.bad = -1};
}

/* Adds up what the workers have seen: speed, strain ranges, losses. */
static int64_t collect_extremes(mpm *m) {
    spate_simulation *sim = m->sim;
    wide speed2 = wide_splat(0);
    int64_t bad = -1, removed = 0;
    for (int c = 0; c < m->material_count; c++) m->ranges[c] = (strain_range){1, 1, 1};
    for (int w = 0; w < pool_size(sim->ctx->pool); w++) {
        const mpm_extremes *seen = &m->seen[w];
        speed2 = wide_max(seen->speed2, speed2);
        removed += seen->removed;
        if (seen->bad >= 0 && (bad < 0 || seen->bad < bad)) bad = seen->bad;
        for (int c = 0; c < m->material_count; c++) {
            strain_range *r = &m->ranges[c];
            r->J_min = fmin(r->J_min, 1 - (double)wide_largest(seen->J_low[c % RANGE_SLOTS]));
            r->J_max = fmax(r->J_max, 1 + (double)wide_largest(seen->J_high[c % RANGE_SLOTS]));
            r->stretch = fmax(r->stretch, (double)wide_largest(seen->stretch[c % RANGE_SLOTS]));
        }
    }
    sim->max_speed = sqrt((double)wide_largest(speed2));
    sim->removed += removed;
    m->must_sort |= removed > 0;
    return bad;
}

static double fastest_particle(const spate_simulation *sim) {
    double fastest = 0;
    for (int64_t i = 0; i < sim->particles.count; i++) {
        const real *v = sim->particles.motion + i * 16;
        double w[3] = {v[0], v[1], v[2]};
        fastest = fmax(fastest, vec_length(w));
    }
    return fastest;
}

static const mpm_kernels *choose_kernels(const spate_context *ctx) {
#if defined(__x86_64__)
    if (ctx->isa == ISA_AVX512) return &mpm_kernels_avx512;
    if (ctx->isa == ISA_AVX2) return &mpm_kernels_avx2;
#endif
    (void)ctx;
    return &mpm_kernels_generic;
}

/* A share of 1e-14 of the lightest particle that the scene can make. */
static real negligible_mass(const spate_scene *scene) {
    double lightest = HUGE_VAL, cell = pow(scene->domain.dx, scene->dim);
    for (int g = 0; g < scene_group_count(scene); g++) {
        double per_cell = g < scene->body_count
                              ? scene->bodies[g].particles_per_cell
                              : scene->sources[g - scene->body_count].particles_per_cell;
        double density = scene->materials[scene_group_material(scene, g)].density;
        lightest = fmin(lightest, density * cell / per_cell);
    }
    return (real)fmax(1e-14 * lightest, sizeof(real) == sizeof(float) ? 1e-36 : 1e-300);
}

static spate_status create(spate_simulation *sim) {
    spate_context *ctx = sim->ctx;
    const spate_scene *scene = sim->scene;
    mpm *m = take(ctx, 1, sizeof *m);
    if (!m) return SPATE_OUT_OF_MEMORY;
    sim->solver = m;
    const mpm_options *options = scene->solver_options;
    m->sim = sim;
    m->kernels = choose_kernels(ctx);
    m->material_count = scene->material_count;
    m->materials = take(ctx, (size_t)scene->material_count + 1, sizeof *m->materials);
    m->group_material = take(ctx, (size_t)scene_group_count(scene) + 1, sizeof *m->group_material);
    m->seen = take(ctx, (size_t)pool_size(ctx->pool), sizeof *m->seen);
    m->ranges = take(ctx, (size_t)scene->material_count + 1, sizeof *m->ranges);
    if (!m->materials || !m->group_material || !m->seen || !m->ranges) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < scene->material_count; c++) {
        model_of(scene, c)->constants(scene->materials[c].parameters, scene->dim, &m->materials[c]);
        m->ranges[c] = (strain_range){1, 1, 1};
        m->has_viscosity |=
            m->materials[c].kind == MATERIAL_LIQUID && m->materials[c].liquid.viscosity > 0;
    }
    for (int g = 0; g < scene_group_count(scene); g++)
        m->group_material[g] = (uint16_t)scene_group_material(scene, g);
    m->dx = (real)scene->domain.dx;
    m->negligible = negligible_mass(scene);
    m->affine = options->integrator == MPM_PIC ? 0 : 1;
    sim->max_speed = fastest_particle(sim);
    return SPATE_OK;
}

static void destroy(spate_simulation *sim) {
    mpm *m = sim->solver;
    give(sim->ctx, m->tiles), give(sim->ctx, m->velocities), give(sim->ctx, m->materials);
    give(sim->ctx, m->group_material), give(sim->ctx, m->seen), give(sim->ctx, m->ranges);
    give(sim->ctx, m);
    sim->solver = NULL;
}

/* ---- The time step --------------------------------------------------------------------------- */

static double collider_speed(const spate_scene *scene) {
    double fastest = 0;
    for (int c = 0; c < scene->collider_count; c++) {
        const collider *solid = &scene->colliders[c];
        if (!solid->motion.key_count) continue;
        bounds box = shape_bounds(solid->shape, scene->dim);
        double radius2 = 0;
        for (int a = 0; a < scene->dim; a++) {
            double far = fmax(fabs(box.min[a] - solid->motion.pivot[a]),
                              fabs(box.max[a] - solid->motion.pivot[a]));
            radius2 += far < 1e3 * scene->domain.size[a]
                           ? far * far
                           : scene->domain.size[a] * scene->domain.size[a];
        }
        fastest = fmax(fastest, motion_max_speed(&solid->motion, sqrt(radius2)));
    }
    return fastest;
}

/* dt <= cfl dx / v, dt <= sound dx / (c + v) for every material, and what viscosity allows. */
static double step_limit(spate_simulation *sim, const char **limit) {
    const spate_scene *scene = sim->scene;
    const mpm *m = sim->solver;
    const mpm_options *options = scene->solver_options;
    double dx = scene->domain.dx, dt = HUGE_VAL;
    double speed = fmax(sim->max_speed, sources_speed(sim));
    double fastest = fmax(speed, collider_speed(scene));
    *limit = "none";
    if (fastest > 0) dt = scene->cfl * dx / fastest, *limit = "speed";
    for (int c = 0; c < m->material_count; c++) {
        const material_model *model = model_of(scene, c);
        const void *parameters = scene->materials[c].parameters;
        double wave = options->sound * dx /
                      (model->wave_speed(parameters, scene->dim, &m->ranges[c]) + speed);
        double viscous = model->viscous_step(parameters, scene->dim, dx);
        if (wave < dt) dt = wave, *limit = "wave";
        if (viscous < dt) dt = viscous, *limit = "viscosity";
    }
    return dt;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static spate_status sort(spate_simulation *sim) {
    mpm *m = sim->solver;
    /* A particle may drift one cell out of its block; a little is kept for rounding. */
    if (sim->drift < 0.99 && !m->must_sort && sim->blocks.pending_count == 0) return SPATE_OK;
    int64_t lost;
    TRY(blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return simulation_unstable(sim, lost, "a particle moved more than a block");
    sim->drift = 0;
    m->must_sort = false;
    return SPATE_OK;
}

static spate_status reserve(spate_context *ctx, real **array, int64_t *capacity, int64_t needed) {
    if (needed <= *capacity) return SPATE_OK;
    give(ctx, *array);
    *capacity = 0;
    *array = take(ctx, (size_t)(needed + needed / 8), sizeof **array);
    if (!*array) return SPATE_OUT_OF_MEMORY;
    *capacity = needed + needed / 8;
    return SPATE_OK;
}

static spate_status scatter(spate_simulation *sim) {
    mpm *m = sim->solver;
    int dim = sim->scene->dim;
    m->dt = (real)sim->dt;
    TRY(reserve(sim->ctx, &m->tiles, &m->tile_capacity,
                sim->blocks.occupied_count * tile_reals(dim)));
    TRY(reserve(sim->ctx, &m->velocities, &m->velocity_capacity,
                sim->blocks.count * block_reals(dim)));
    parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 4, m->kernels->scatter[dim - 2], m);
    return SPATE_OK;
}

static spate_status grid(spate_simulation *sim) {
    mpm *m = sim->solver;
    boundary_move(&sim->boundary, sim->time + sim->dt);
    parallel_for(sim->ctx->pool, sim->blocks.count, 16, m->kernels->grid[sim->scene->dim - 2], m);
    return SPATE_OK;
}

static spate_status gather(spate_simulation *sim) {
    mpm *m = sim->solver;
    forget_extremes(m);
    parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 4,
                 m->kernels->gather[sim->scene->dim - 2], m);
    int64_t bad = collect_extremes(m);
    if (bad >= 0)
        return simulation_unstable(sim, bad, "a particle's state is not finite or far too fast");
    sim->drift += sim->max_speed * sim->dt / sim->scene->domain.dx;
    sources_hold(sim);
    return SPATE_OK;
}

static spate_status step(spate_simulation *sim) {
    static const struct {
        const char *name;
        spate_status (*run)(spate_simulation *);
    } stages[] = {{"sort", sort}, {"scatter", scatter}, {"grid", grid}, {"gather", gather}};
    for (int i = 0; i < COUNT_OF(stages); i++) {
        double start = phase_start();
        TRY(stages[i].run(sim));
        phase_stop(sim, stages[i].name, start);
    }
    return SPATE_OK;
}

/* ---- What others ask ------------------------------------------------------------------------- */

static int state(spate_simulation *sim, state_block *out, int capacity) {
    mpm *m = sim->solver;
    if (capacity < 2) return 0;
    out[0] = (state_block){"mpm strain ranges", m->ranges,
                           (size_t)m->material_count * sizeof *m->ranges};
    out[1] = (state_block){"mpm must sort", &m->must_sort, sizeof m->must_sort};
    return 2;
}

static spate_status restored(spate_simulation *sim) {
    (void)sim;
    return SPATE_OK;
}

static void stress(const spate_simulation *sim, int64_t i, double tau[6], double *energy,
                   double *J) {
    const particles *p = &sim->particles;
    const spate_scene *scene = sim->scene;
    if (p->group[i] == GROUP_REMOVED) return;
    int index = scene_group_material(scene, p->group[i]);
    strain_state s = {0};
    if (p->dilation) s.dilation = (double)p->dilation[i];
    for (int c = 0; c < 6 && p->strain; c++) s.strain[c] = (double)PLANE(p, strain, c)[i];
    model_of(scene, index)
        ->evaluate(scene->materials[index].parameters, scene->dim, &s, tau, energy, J);
}

static const char *const column_names[] = {"J_min", "J_max", "sorts", "removed", NULL};

/* The range of J in the last step, 1 always within it. */
static void columns(spate_simulation *sim, double *values) {
    const mpm *m = sim->solver;
    values[0] = values[1] = 1;
    for (int c = 0; c < m->material_count; c++) {
        values[0] = fmin(values[0], m->ranges[c].J_min);
        values[1] = fmax(values[1], m->ranges[c].J_max);
    }
    values[2] = (double)sim->blocks.sorts;
    values[3] = (double)sim->removed;
}

static size_t grid_bytes(const spate_simulation *sim) {
    const mpm *m = sim->solver;
    return (size_t)(m->tile_capacity + m->velocity_capacity) * sizeof(real);
}

const solver_type solver_mpm = {
    .declaration = &mpm_declaration,
    .fields = fields,
    .create = create,
    .free = destroy,
    .step_limit = step_limit,
    .step = step,
    .state = state,
    .restored = restored,
    .stress = stress,
    .column_names = column_names,
    .columns = columns,
    .grid_bytes = grid_bytes,
};
