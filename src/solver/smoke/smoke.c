#include "solver/smoke/smoke.h"

#include "core/isa.h"
#include "core/vec.h"
#include "solver/materials/material.h"
#include "solver/source_shapes.h"
#include "solver/sources.h"

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const grids[] = {"mac", "collocated", NULL};
static const char *const advections[] = {"linear", "maccormack", NULL};
static const char *const traces[] = {"rk1", "rk2", "rk3", NULL};
static const char *const pressures[] = {"multigrid", "gauss_seidel", NULL};

static const char *const reflections[] = {"default", "false", "true", NULL};

static const field smoke_fields[] = {
    CHOICE_FIELD(smoke_options, grid, SMOKE_MAC, grids,
                 "Where velocities are kept: on the faces of cells, or all values in their middles "
                 "(the textbook's stable fluids; it knows no colliders)."),
    CHOICE_FIELD(smoke_options, advection, SMOKE_LINEAR, advections,
                 "How values move along: linear, the textbook's, is fast and blurs; maccormack "
                 "keeps detail."),
    CHOICE_FIELD(smoke_options, trace, 1, traces,
                 "Order of the Runge-Kutta scheme that finds where values come from."),
    CHOICE_FIELD(smoke_options, reflection, REFLECTION_DEFAULT, reflections,
                 "Whether a step has two halves with a reflection between them, which keeps the "
                 "energy of vortices, for twice the work; default: with maccormack on the mac "
                 "grid."),
    NUMBER_FIELD(smoke_options, vorticity, "1/s", 0, 0, 1e6,
                 "Strength of the vorticity confinement, which brings back small vortices."),
    CHOICE_FIELD(smoke_options, pressure, SMOKE_MULTIGRID, pressures,
                 "How pressure and diffusion are solved for: to a tolerance, or by a number of "
                 "sweeps of the textbook's Gauss-Seidel."),
    INTEGER_FIELD(smoke_options, iterations, 20, 1, 1000000, "Sweeps of gauss_seidel."),
    NUMBER_FIELD(
        smoke_options, tolerance, "", 1e-5, 1e-14, 0.1,
        "Residual of the pressure's equations, relative to their right-hand side, at which "
        "a solve ends."),
    INTEGER_FIELD(smoke_options, max_iterations, 500, 1, 1000000,
                  "Iterations after which a solve gives up; ten such in a row end the run."),
    NUMBER_FIELD(smoke_options, dissipation, "1/s", 0, 0, 1e6, "Rate at which smoke vanishes."),
    NUMBER_FIELD(smoke_options, cooling, "1/s", 0, 0, 1e6, "Rate at which warm gas cools."),
};

static bool prepare(void *options, int dim, field_report *report) {
    smoke_options *o = options;
    (void)dim, (void)report;
    if (o->reflection == REFLECTION_DEFAULT)
        o->reflection = o->advection == SMOKE_MACCORMACK && o->grid == SMOKE_MAC ? REFLECTION_ON
                                                                                 : REFLECTION_OFF;
    return true;
}

static bool check_domain(const spate_scene *scene, field_report *report) {
    double values = 1;
    for (int a = 0; a < scene->dim; a++) values *= scene->domain.cells[a] + 24;
    if (values < 2e9) return true;
    return field_complain(report, NULL,
                          "the domain has %.3g cells, more than the 2e9 that smoke can have; "
                          "make domain.dx larger",
                          values);
}

/* One gas, whatever smoke is in it. */
static bool check_materials(const spate_scene *scene, field_report *report) {
    static const char *const taken[] = {"density", "temperature", "velocity", "pressure",
                                        "vorticity"}; /* by fields of volumes */
    for (int m = 0; m < scene->material_count && scene->material_count > 1; m++) {
        const char *name = scene->materials[m].name;
        for (int i = 0; i < COUNT_OF(taken); i++)
            if (!strcmp(name, taken[i]))
                return field_complain(report, NULL,
                                      "a material is called '%s', as is a field of the gas; smoke "
                                      "writes dyes by their names: choose another",
                                      name);
        if (strlen(name) > SMOKE_NAME)
            return field_complain(report, NULL,
                                  "a material's name is %zu bytes long, the most that smoke can "
                                  "have for a dye is %d: '%s'",
                                  strlen(name), SMOKE_NAME, name);
    }
    if (scene->material_count > SMOKE_DYES)
        return field_complain(report, NULL, "%d materials; smoke can have %d, each of them a dye",
                              scene->material_count, SMOKE_DYES);
    const material_constants one = material_constants_of(scene, 0);
    for (int m = 1; m < scene->material_count; m++) {
        const material_constants two = material_constants_of(scene, m);
        if (two.density != one.density || two.gas.viscosity != one.gas.viscosity ||
            two.gas.expansion != one.gas.expansion)
            return field_complain(
                report, NULL,
                "materials '%s' and '%s' differ in density, viscosity or expansion; smoke has "
                "one gas: make them the same",
                scene->materials[0].name, scene->materials[m].name);
    }
    return true;
}

static bool check(const spate_scene *scene, field_report *report) {
    const smoke_options *o = scene->solver_options;
    if (o->grid == SMOKE_COLLOCATED && scene->collider_count)
        return field_complain(report, NULL,
                              "there are colliders, which solver.grid collocated does not know; "
                              "use solver.grid mac");
    return check_domain(scene, report) && check_materials(scene, report);
}

const solver_declaration smoke_declaration = {
    .name = "smoke",
    .table = {.name = "smoke",
              .help = "Gas on a grid that carries smoke and heat (stable fluids).",
              .fields = smoke_fields,
              .count = COUNT_OF(smoke_fields),
              .size = sizeof(smoke_options)},
    .prepare = prepare,
    .check = check,
    .matter = MATTER_GAS,
    .period = BRICK_EDGE,
    .scheme = "advection",
    .cfl = 2,
    .cfl_most = 20,
    .moves_walls = true,
    .on_grid = true,
};

/* ---- Creation -------------------------------------------------------------------------------- */

static unsigned fields(const spate_scene *scene) {
    (void)scene;
    return 0;
}

ISA_TABLES(smoke_kernels, smoke_kernels);

static layout make_layout(const spate_scene *scene) {
    const domain *d = &scene->domain;
    const int dim = scene->dim, last = dim - 1;
    layout l = {.dim = dim, .n = {1, 1, 1}};
    for (int a = 0; a < dim; a++) {
        l.n[a] = d->cells[a];
        l.periodic[a] = d->walls[a][0] == WALL_PERIODIC;
        for (int end = 0; end < 2; end++) l.open[a][end] = d->walls[a][end] == WALL_OPEN;
    }
    l.stride[last] = 1;
    l.stride[last - 1] = WIDE + (l.n[last] + 1 + WIDE - 1) / WIDE * WIDE;
    if (dim == 3) l.stride[0] = l.stride[1] * (l.n[1] + 2);
    l.first = WIDE;
    for (int a = 0; a < last; a++) l.first += l.stride[a];
    l.reals = l.stride[0] * (l.n[0] + 2) + 2 * WIDE;
    return l;
}

static void find_constants(smoke *s) {
    const spate_scene *scene = s->scene;
    const material_constants first = material_constants_of(scene, 0);
    s->density = (double)first.density;
    s->viscosity = first.gas.viscosity;
    s->expansion = first.gas.expansion;
    s->dye_count = scene->material_count;
    for (int m = 0; m < scene->material_count; m++) {
        const gas_constants gas = material_constants_of(scene, m).gas;
        s->kinds[m] = (smoke_dye){.name = scene->materials[m].name,
                                  .amount = gas.smoke,
                                  .temperature = gas.temperature,
                                  .weight = gas.weight,
                                  .diffusion = gas.diffusion};
        if (gas.temperature != 0) s->heat_diffusion = fmax(s->heat_diffusion, gas.diffusion);
        const double buoyancy = fabs(gas.weight * gas.smoke) + fabs(s->expansion * gas.temperature);
        s->max_buoyancy = fmax(s->max_buoyancy, buoyancy * vec_length(scene->gravity));
    }
}

static bool has_sticky_colliders(const smoke *s) {
    const spate_scene *scene = s->scene;
    for (int c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].contact == CONTACT_STICKY) return true;
    return false;
}

/* Any step is stable, but beside walls that gas sticks to, one in which viscosity reaches far into
 * the domain is not right: a flow that changes lags behind (flow between plates decays 0.8 % too
 * slowly where sqrt(nu dt) is 0.04 of their distance), and on the collocated grid, where viscosity
 * does not know of the pressure, one that does not change is wrong too: a lid at Re = 1 drives the
 * middle of its cavity 1 % too slowly where it is 0.03 of the cavity's width, 10 % at 0.1. */
static double viscous_step(const smoke *s) {
    const spate_scene *scene = s->scene;
    double edge = HUGE_VAL;
    bool sticky = false;
    for (int a = 0; a < scene->dim; a++) {
        edge = fmin(edge, scene->domain.cells[a] * scene->domain.dx);
        for (int end = 0; end < 2; end++) sticky |= scene->domain.walls[a][end] == WALL_STICKY;
    }
    sticky |= has_sticky_colliders(s);
    const double reach = 0.04 * edge;
    return sticky && s->viscosity > 0 ? reach * reach * s->density / s->viscosity : HUGE_VAL;
}

static bool is_ever_warm(const smoke *s) {
    for (int d = 0; d < s->dye_count; d++)
        if (s->kinds[d].temperature != 0) return true;
    return false;
}

/* Whether anything but the domain's sides may stand in the way. */
static bool has_obstacles(const smoke *s) {
    const spate_scene *scene = s->scene;
    if (s->options->grid != SMOKE_MAC) return false;
    for (int i = 0; i < scene->source_count; i++)
        if (source_speed(scene, i) > 0) return true;
    return scene->collider_count > 0;
}

static int spare_count(const smoke *s) {
    return s->options->advection == SMOKE_MACCORMACK ? SMOKE_ROOM - s->layout.dim : 2;
}

static spate_status take_arrays(smoke *s) {
    spate_context *ctx = s->sim->ctx;
    const size_t reals = (size_t)s->layout.reals;
    bool enough = true;
#define TAKE(array) enough = enough && ((array) = take(ctx, reals, sizeof *(array)))
    for (int a = 0; a < s->layout.dim; a++) {
        TAKE(s->velocity[a]);
        TAKE(s->next[a]);
        if (has_obstacles(s)) TAKE(s->depth[a]);
        if (has_sticky_colliders(s) && s->viscosity > 0) TAKE(s->distance[a]);
        if (s->distance[a] && smoke_colliders_move(s)) TAKE(s->nearest[a]);
        if (s->scene->collider_count) TAKE(s->face_fraction[a]);
        s->face_fraction_before[a] = s->face_fraction[a];
        if (smoke_colliders_move(s)) TAKE(s->face_fraction_before[a]);
    }
    if (s->nearest[0])
        s->turning = take(ctx, 9 * (size_t)s->scene->collider_count, sizeof *s->turning);
    enough = enough && (s->turning || !s->nearest[0]);
    if (has_obstacles(s)) TAKE(s->depth[PLACE_MIDDLE]);
    for (int d = 0; d < s->dye_count; d++) TAKE(s->dyes[d]);
    if (is_ever_warm(s)) TAKE(s->temperature);
    TAKE(s->pressure);
    for (int i = 0; i < spare_count(s); i++) TAKE(s->spare[i]);
#undef TAKE
    return enough ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static spate_status make_control_volumes(smoke *s) {
    spate_context *ctx = s->sim->ctx;
    smoke_control_volumes *v = &s->control;
    const size_t bricks = (size_t)s->grid.bricks.count,
                 colliders = (size_t)s->scene->collider_count;
    if (!colliders) return SPATE_OK;
    v->owner = take(ctx, bricks * (size_t)mac_cells(s->layout.dim), sizeof *v->owner);
    v->near = take(ctx, bricks, sizeof *v->near);
    v->first = take(ctx, 2 * colliders + 1, sizeof *v->first);
    v->inflow = take(ctx, 6 * colliders, sizeof *v->inflow);
    return v->owner && v->near && v->first && v->inflow ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

/* All that cover the domain, and those beyond its last faces. */
static spate_status make_bricks(smoke *s) {
    const layout *l = &s->layout;
    sparse_lattice *bricks = &s->grid.bricks;
    int period[3] = {0}, count[3] = {1, 1, 1};
    for (int a = 0; a < l->dim; a++) {
        if (l->periodic[a]) period[a] = l->n[a];
        count[a] = l->n[a] / BRICK_EDGE + !l->periodic[a];
    }
    mac_create(s->sim->ctx, l->dim, period,
               MAC_BIT(velocity) | MAC_BIT(face_fraction) | MAC_BIT(solid_velocity) | MAC_BIT(phi) |
                   MAC_BIT(pressure) | MAC_BIT(valid),
               &s->grid);
    TRY(sparse_lattice_begin(bricks));
    for (int32_t i = 0; i < count[0]; i++)
        for (int32_t j = 0; j < count[1]; j++)
            for (int32_t k = 0; k < count[2]; k++)
                TRY(sparse_lattice_insert(bricks, (int32_t[3]){i, j, k}));
    sparse_lattice_number(bricks);
    TRY(sparse_lattice_finish(bricks, s->threads));
    TRY(mac_reserve(&s->grid));
    const size_t cells = (size_t)bricks->count * (size_t)mac_cells(l->dim);
    const bool by_hand =
        s->options->grid == SMOKE_COLLOCATED || s->options->pressure == SMOKE_GAUSS_SEIDEL;
    if (by_hand && !(s->right = take(s->sim->ctx, cells, sizeof *s->right)))
        return SPATE_OUT_OF_MEMORY;
    s->closed = take(s->sim->ctx, (size_t)bricks->count, sizeof *s->closed);
    return s->closed ? make_control_volumes(s) : SPATE_OUT_OF_MEMORY;
}

static spate_status look_round(smoke *s);

/* The start: what bodies bring, without divergence. */
static spate_status begin(smoke *s) {
    s->dt = s->scene->fps > 0 ? 1 / s->scene->fps : 1; /* only the unit of the pressure */
    TRY(smoke_walls(s));
    smoke_fill_bodies(s);
    TRY(smoke_hold(s));
    TRY(smoke_project(s));
    /* no time has passed in which this could be a pressure */
    memset(s->pressure, 0, (size_t)s->layout.reals * sizeof *s->pressure);
    s->control.inflow_known = false; /* a checkpoint may bring another velocity */
    return look_round(s);
}

static spate_status create(spate_simulation *sim) {
    spate_context *ctx = sim->ctx;
    smoke *s = take(ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    sim->solver = s;
    s->sim = sim;
    s->scene = sim->scene;
    s->threads = ctx->pool;
    s->dx = sim->scene->domain.dx;
    s->options = sim->scene->solver_options;
    s->kernels = ISA_CHOOSE(smoke_kernels, ctx->isa);
    s->layout = make_layout(sim->scene);
    find_constants(s);
    s->viscous_step = viscous_step(s);
    s->seen = take(ctx, (size_t)pool_size(ctx->pool), sizeof *s->seen);
    s->running = take(ctx, (size_t)sim->scene->source_count + 1, sizeof *s->running);
    if (!s->seen || !s->running) return SPATE_OUT_OF_MEMORY;
    TRY(take_arrays(s));
    TRY(impulses_create(sim, &s->impulses));
    TRY(make_bricks(s));
    TRY(pressure_create(ctx, &s->solver));
    return begin(s);
}

static void destroy(spate_simulation *sim) {
    smoke *s = sim->solver;
    spate_context *ctx = sim->ctx;
    mac_free(&s->grid);
    pressure_free(s->solver);
    for (int a = 0; a < 3; a++) {
        give(ctx, s->velocity[a]), give(ctx, s->next[a]), give(ctx, s->distance[a]);
        give(ctx, s->nearest[a]);
        if (s->face_fraction_before[a] != s->face_fraction[a])
            give(ctx, s->face_fraction_before[a]);
        give(ctx, s->face_fraction[a]);
    }
    give(ctx, s->control.owner), give(ctx, s->control.near), give(ctx, s->control.cells);
    give(ctx, s->control.first), give(ctx, s->control.pieces), give(ctx, s->control.inflow),
        give(ctx, s->impulses.values);
    for (int d = 0; d < SMOKE_DYES; d++) give(ctx, s->dyes[d]);
    for (int p = 0; p <= PLACE_MIDDLE; p++) give(ctx, s->depth[p]), give(ctx, s->layers[p].list);
    give(ctx, s->pressure), give(ctx, s->temperature);
    for (int i = 0; i < SMOKE_ROOM - 2; i++) give(ctx, s->spare[i]);
    give(ctx, s->right), give(ctx, s->turning);
    give(ctx, s->closed), give(ctx, s->seen), give(ctx, s->running), give(ctx, s);
    sim->solver = NULL;
}

/* ---- The time step --------------------------------------------------------------------------- */

/* The fastest gas, sped up by buoyancy in the step, crosses cfl cells: (v + b dt) dt = cfl dx. */
static double step_limit(spate_simulation *sim, const char **limit) {
    const smoke *s = sim->solver;
    const double way = sim->scene->cfl * sim->scene->domain.dx;
    double speed = fmax(sim->max_speed, sources_speed(sim));
    speed = fmax(speed, boundary_speed_within(&sim->boundary, sim->time, way));
    for (int a = 0; a < sim->scene->dim; a++)
        for (int end = 0; end < 2; end++)
            speed = fmax(speed, vec_length(sim->scene->domain.wall_velocity[a][end]));
    const double dt = 2 * way / (speed + sqrt(speed * speed + 4 * s->max_buoyancy * way));
    *limit = speed * speed > s->max_buoyancy * way ? "speed" : "buoyancy";
    if (!(dt < HUGE_VAL)) *limit = "none";
    if (!(s->viscous_step < dt)) return dt;
    *limit = "viscosity";
    return s->viscous_step;
}

/* ---- A step ---------------------------------------------------------------------------------- */

void smoke_rows(const smoke *s, int place, chunk_task task, void *data) {
    parallel_for(s->threads, layout_rows(&s->layout, place), s->layout.dim == 3 ? 32 : 8, task,
                 data);
}

/* The largest velocity of a cell, and whether all is well. */
static void look_at_rows(void *data, chunk items) {
    smoke *s = data;
    smoke_extremes *seen = &s->seen[items.worker];
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            double square = 0;
            if (smoke_is_solid(s, at)) continue;
            for (int a = 0; a < s->layout.dim; a++) {
                const double low = (double)s->velocity[a][at];
                const double high = (double)s->velocity[a][at + s->layout.stride[a]];
                square += s->options->grid == SMOKE_MAC && high * high > low * low ? high * high
                                                                                   : low * low;
            }
            if (square > seen->speed2) seen->speed2 = square;
            seen->bad |= !isfinite(square);
        }
    }
}

static spate_status look_round(smoke *s) {
    const int workers = pool_size(s->threads);
    double speed2 = 0;
    bool bad = false;
    for (int w = 0; w < workers; w++) s->seen[w] = (smoke_extremes){0};
    smoke_rows(s, PLACE_MIDDLE, look_at_rows, s);
    for (int w = 0; w < workers; w++) {
        speed2 = fmax(speed2, s->seen[w].speed2);
        bad |= s->seen[w].bad;
    }
    if (bad) return simulation_unstable(s->sim, -1, "the velocity of the gas is not finite");
    s->sim->max_speed = sqrt(speed2);
    return SPATE_OK;
}

const solver_stage smoke_stages[] = {
    {"walls", smoke_walls},
    {"advect", smoke_advect},
    {"forces", smoke_forces},
    {"diffuse", smoke_diffuse},
    {"pressure", smoke_project},
    {"sources", smoke_hold},
    {NULL, NULL},
};

/* Takes away once more what the projection has taken: next = 2 velocity - next. */
static void reflect_values(void *data, chunk items) {
    smoke *s = data;
    for (int a = 0; a < s->layout.dim; a++)
        for (int64_t i = items.begin; i < items.end; i++)
            s->next[a][i] = 2 * s->velocity[a][i] - s->next[a][i];
}

static void reflect(smoke *s) {
    parallel_for(s->threads, s->layout.reals, 1 << 14, reflect_values, s);
    for (int a = 0; a < s->layout.dim; a++) smoke_ghost_velocity(s, a, s->next[a]);
    s->reflected = true;
}

static spate_status step(spate_simulation *sim) {
    smoke *s = sim->solver;
    const int parts = s->options->reflection == REFLECTION_ON ? 2 : 1;
    s->dt = sim->dt / parts;
    impulses_begin_step(sim, &s->impulses);
    for (s->part = 0; s->part < parts; s->part++) {
        if (s->part > 0) {
            const double start = phase_start();
            reflect(s);
            phase_stop(sim, "reflect", start);
        }
        TRY(run_stages(sim, smoke_stages));
    }
    s->part = 0;
    const double start = phase_start();
    TRY(look_round(s));
    phase_stop(sim, "limit", start); /* of the next step */
    return SPATE_OK;
}

/* ---- What others ask ------------------------------------------------------------------------- */

static void state(spate_simulation *sim, state_blocks *out) {
    static const char *const velocities[] = {"smoke velocity x", "smoke velocity y",
                                             "smoke velocity z"};
    static const char *const dyes[SMOKE_DYES] = {
        "smoke dye 1",  "smoke dye 2",  "smoke dye 3",  "smoke dye 4",
        "smoke dye 5",  "smoke dye 6",  "smoke dye 7",  "smoke dye 8",
        "smoke dye 9",  "smoke dye 10", "smoke dye 11", "smoke dye 12",
        "smoke dye 13", "smoke dye 14", "smoke dye 15", "smoke dye 16"};
    smoke *s = sim->solver;
    const size_t bytes = (size_t)s->layout.reals * sizeof(real);
    state_add(out, "smoke memory", &s->memory, sizeof s->memory);
    impulses_state(sim, &s->impulses, "smoke impulses", out);
    for (int a = 0; a < s->layout.dim; a++) state_add(out, velocities[a], s->velocity[a], bytes);
    for (int d = 0; d < s->dye_count; d++) state_add(out, dyes[d], s->dyes[d], bytes);
    if (s->temperature) state_add(out, "smoke temperature", s->temperature, bytes);
    state_add(out, "smoke pressure", s->pressure, bytes);
}

static double not_converged(const spate_simulation *sim) {
    const smoke *s = sim->solver;
    return (double)s->memory.missed;
}

static const solver_column columns[] = {
    {"not_converged", "", not_converged},
    {NULL, NULL, NULL},
};

static size_t grid_bytes(const spate_simulation *sim) {
    const smoke *s = sim->solver;
    const int arrays =
        2 * s->layout.dim + spare_count(s) + s->dye_count + (s->temperature ? 1 : 0) + 1;
    return (size_t)arrays * (size_t)s->layout.reals * sizeof(real) + mac_bytes(&s->grid) +
           pressure_bytes(s->solver);
}

static solver_cost cost(const spate_scene *scene) {
    (void)scene;
    return (solver_cost){.rate = {8.5e6, 3.6e6}, .bytes = {220, 250}};
}

const solver_type solver_smoke = {
    .declaration = &smoke_declaration,
    .benchmarks = smoke_benchmarks,
    .fields = fields,
    .create = create,
    .free = destroy,
    .step_limit = step_limit,
    .cost = cost,
    .step = step,
    .state = state,
    .pressure = smoke_pressure_at,
    .velocity = smoke_velocity_at,
    .force = smoke_force_on,
    .numbers = smoke_numbers,
    .solved = smoke_solved,
    .columns = columns,
    .volumes = smoke_volumes,
    .volume = smoke_volume,
    .hash = smoke_hash,
    .grid_bytes = grid_bytes,
};
