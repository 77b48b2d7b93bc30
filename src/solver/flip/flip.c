#include "solver/flip/flip.h"

#include "core/isa.h"
#include "core/vec.h"
#include "solver/flip/reaction.h"
#include "solver/materials/one_liquid.h"
#include "solver/sources.h"

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const transfers[] = {"flip", "pic", "apic", "aflip", "kernel", NULL};
static const char *const kernel_names[] = {"linear", "quadratic", NULL};
static const char *const advections[] = {"rk1", "rk2", "rk3", NULL};
static const char *const pressures[] = {"multigrid", "mic", NULL};
static const char *const surfaces[] = {"volume", "distance", "density", NULL};
static const char *const solid_names[] = {"fractions", "voxels", NULL};

static const field flip_fields[] = {
    CHOICE_FIELD(
        flip_options, transfer, FLIP_FLIP, transfers,
        "How velocity moves between particles and grid: flip is lively, pic the damped "
        "textbook transfer, apic smooth and keeps angular momentum, aflip both; kernel takes "
        "SPH-like means over particles (Ando et al. 2012) and is flip otherwise."),
    CHOICE_FIELD(flip_options, kernel, FLIP_LINEAR, kernel_names,
                 "Interpolation between particles and faces."),
    NUMBER_FIELD(flip_options, alpha, "", 0.97, 0, 1,
                 "Share of FLIP in flip, aflip and kernel; the rest is PIC, which damps."),
    CHOICE_FIELD(
        flip_options, advection, 2, advections,
        "Order of the Runge-Kutta scheme that moves particles through the grid's velocity."),
    CHOICE_FIELD(flip_options, pressure, PRESSURE_MULTIGRID, pressures,
                 "How the pressure is solved for: conjugate gradients with a multigrid "
                 "preconditioner, or with MIC(0), the textbook's."),
    NUMBER_FIELD(
        flip_options, tolerance, "", 1e-6, 1e-14, 0.1,
        "Residual of the pressure's equations, relative to their right-hand side, at which "
        "a solve ends."),
    INTEGER_FIELD(flip_options, max_iterations, 500, 1, 1000000,
                  "Iterations after which a solve gives up; ten such in a row end the run."),
    CHOICE_FIELD(
        flip_options, surface, SURFACE_VOLUME, surfaces,
        "What is liquid: where the particles' volume fills half of the surroundings; what is "
        "nearer to a particle than surface_radius; or cells of enough density (Ando et al. "
        "2012)."),
    INTEGER_FIELD(
        flip_options, surface_order, 2, 1, 2,
        "Accuracy of the pressure at the surface: 2 lets it end where the level set is zero, 1 "
        "in the middle of the first cell of air."),
    NUMBER_FIELD(flip_options, surface_radius, "cells", 0.6, 0.3, 1,
                 "Radius of a particle with `surface: distance`, in cells."),
    CHOICE_FIELD(flip_options, solids, 0, solid_names,
                 "Colliders as open fractions of faces, or cell by cell, as stairs."),
    FLAG_FIELD(flip_options, reseed, false,
               "Whether particles are split and merged to keep their number in a cell in "
               "reseed_range; mass and momentum are kept."),
    PAIR_FIELD(
        flip_options, reseed_range, "", NAN, 1, 1000,
        "Fewest and most particles of a cell inside the liquid; default [4, 12], in 2D [2, 8]."),
    INTEGER_FIELD(flip_options, reseed_target, 0, 0, 1000,
                  "Number that a cell outside that range is brought to; 0: 8, in 2D 4."),
    NUMBER_FIELD(
        flip_options, volume_correction, "", 1, 0, 10,
        "How fast particles that have come too close move apart, which keeps the volume: the "
        "excess or lack of a cell falls by exp(-volume_correction) while the fastest particle "
        "crosses a cell. Places change, velocities do not; 0: off."),
};

static bool prepare(void *options, int dim, field_report *report) {
    flip_options *o = options;
    if (isnan(o->reseed_range[0]))
        o->reseed_range[0] = dim == 3 ? 4 : 2, o->reseed_range[1] = dim == 3 ? 12 : 8;
    if (!o->reseed_target) o->reseed_target = dim == 3 ? 8 : 4;
    if (!((double)o->reseed_target >= o->reseed_range[0] &&
          (double)o->reseed_target <= o->reseed_range[1]))
        return field_complain(report, "reseed_target",
                              "is %d, which is not in reseed_range [%g, %g]; change one of them",
                              (int)o->reseed_target, o->reseed_range[0], o->reseed_range[1]);
    return true;
}

/* Whole bricks along periodic axes, and one liquid. */
static bool check(const spate_scene *scene, field_report *report) {
    for (int a = 0; a < scene->dim; a++)
        if (scene->domain.walls[a][0] == WALL_PERIODIC && scene->domain.cells[a] % BRICK_EDGE)
            return field_complain(
                report, NULL,
                "the domain is %d cells long along %c, where it is periodic; flip needs a "
                "multiple of %d: change domain.size or domain.dx",
                scene->domain.cells[a], "xyz"[a], BRICK_EDGE);
    return one_liquid_check(scene, report);
}

const solver_declaration flip_declaration = {
    .name = "flip",
    .table = {.name = "flip",
              .help = "Incompressible liquid on particles and a MAC grid (PIC, FLIP, APIC).",
              .fields = flip_fields,
              .count = COUNT_OF(flip_fields),
              .size = sizeof(flip_options)},
    .prepare = prepare,
    .check = check,
    .matter = MATTER_LIQUID,
    .period = BLOCK_EDGE,
    .scheme = "transfer",
    .cfl = 1,
    .cfl_most = 5,
    .irregular = true,
};

/* ---- Creation -------------------------------------------------------------------------------- */

static bool is_affine(const flip_options *o) {
    return o->transfer == FLIP_APIC || o->transfer == FLIP_AFLIP;
}

static unsigned fields(const spate_scene *scene) {
    return is_affine(scene->solver_options) ? PARTICLE_BIT(affine) : 0;
}

ISA_TABLES(flip_passes, flip_linear);
ISA_TABLES(flip_passes, flip_quadratic);

static const flip_passes *choose_passes(enum isa isa, int kernel) {
    return kernel ? ISA_CHOOSE(flip_quadratic, isa) : ISA_CHOOSE(flip_linear, isa);
}

/* Bodies that spin come with the gradient of their velocity; what is kept is its moment B = C D, and
 * nothing by transfers that are not affine. */
static spate_status gradients_to_moments(spate_simulation *sim) {
    const flip *f = sim->solver;
    const particles *p = &sim->particles;
    const int dim = sim->scene->dim;
    for (int64_t i = 0; i < p->count && f->affine; i++)
        for (int a = 0; a < dim; a++)
            for (int c = 0; c < dim; c++) {
                double x = (double)PLANE(p, position, a)[i] - (a == c ? 0 : 0.5),
                       share = x - floor(x);
                double D = f->options->kernel == FLIP_QUADRATIC ? 0.25 : share * (1 - share);
                p->affine[i][a][c] *= (real)D;
            }
    return SPATE_OK;
}

static spate_status create(spate_simulation *sim) {
    spate_context *ctx = sim->ctx;
    const spate_scene *scene = sim->scene;
    flip *f = take(ctx, 1, sizeof *f);
    if (!f) return SPATE_OUT_OF_MEMORY;
    sim->solver = f;
    f->sim = sim;
    f->options = scene->solver_options;
    f->passes = choose_passes(ctx->isa, f->options->kernel);
    f->affine = is_affine(f->options);
    f->shifts = f->options->volume_correction > 0 && f->options->surface == SURFACE_VOLUME;
    bool keeps = f->options->transfer != FLIP_PIC && f->options->transfer != FLIP_APIC;
    f->alpha = keeps ? (real)f->options->alpha : 0;
    material_constants liquid = one_liquid_constants(scene);
    f->density = (double)liquid.density;
    f->viscosity = (double)liquid.liquid.viscosity;
    f->tension = (double)liquid.liquid.tension;
    sim->blocks.unordered = !f->options->reseed && f->options->transfer != FLIP_KERNEL &&
                            f->options->surface != SURFACE_DENSITY;
    f->dx = (real)scene->domain.dx;
    f->inverse_mass = (real)(1 / (f->density * pow(scene->domain.dx, scene->dim)));
    int period[3] = {0};
    for (int a = 0; a < scene->dim; a++)
        if (scene->domain.walls[a][0] == WALL_PERIODIC) period[a] = scene->domain.cells[a];
    const bool shift = f->shifts || f->viscosity > 0;
    mac_create(ctx, scene->dim, period, shift ? MAC_ALL : MAC_ALL & ~MAC_BIT(shift), &f->grid);
    f->seen = take(ctx, (size_t)pool_size(ctx->pool), sizeof *f->seen);
    if (!f->seen) return SPATE_OUT_OF_MEMORY;
    TRY(impulses_create(sim, &f->impulses));
    TRY(pressure_create(ctx, &f->pressure));
    sim->max_speed = simulation_fastest(sim);
    return SPATE_OK;
}

static void destroy(spate_simulation *sim) {
    flip *f = sim->solver;
    mac_free(&f->grid);
    pressure_free(f->pressure);
    give(sim->ctx, f->seen), give(sim->ctx, f->impulses.values), give(sim->ctx, f->coloured);
    give(sim->ctx, f->filled), give(sim->ctx, f);
    sim->solver = NULL;
}

/* ---- The time step --------------------------------------------------------------------------- */

/* The fastest particle, sped up by gravity in the step, crosses cfl cells: (v + g dt) dt = cfl dx. */
static double step_limit(spate_simulation *sim, const char **limit) {
    const flip *f = sim->solver;
    const spate_scene *scene = sim->scene;
    double way = scene->cfl * scene->domain.dx, pull = vec_length(scene->gravity);
    double speed = fmax(sim->max_speed, fmax(sources_speed(sim), boundary_speed(&sim->boundary)));
    double dt = 2 * way / (speed + sqrt(speed * speed + 4 * pull * way));
    *limit = speed * speed > pull * way ? "speed" : "gravity";
    if (!(dt < HUGE_VAL)) *limit = "none";
    double tension = flip_tension_limit(f);
    if (tension < dt) dt = tension, *limit = "surface tension";
    return dt;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static spate_status sort(flip *f) {
    spate_simulation *sim = f->sim;
    int64_t lost;
    TRY(blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return simulation_unstable(sim, lost, "a particle moved more than a block");
    sim->drift = 0;
    return SPATE_OK;
}

/* Occupied blocks by the parity of their coordinates: those of one colour share no face. */
static spate_status colour_blocks(flip *f) {
    const blocks *b = &f->sim->blocks;
    const int dim = b->dim, colours = 1 << dim;
    TRY(GROW(f->sim->ctx, f->coloured, f->coloured_capacity, b->occupied_count + 1));
    int64_t count = 0;
    for (int colour = 0; colour < colours; colour++) {
        f->colour_starts[colour] = count;
        for (int32_t o = 0; o < b->occupied_count; o++) {
            const int32_t *c = b->coords[b->occupied[o]];
            if (((c[0] & 1) | (c[1] & 1) << 1 | (c[2] & 1) << 2) == colour)
                f->coloured[count++] = b->occupied[o];
        }
    }
    f->colour_starts[colours] = count;
    return SPATE_OK;
}

static spate_status scatter(flip *f) {
    const int dim = f->sim->scene->dim;
    TRY(colour_blocks(f));
    if (f->options->transfer == FLIP_KERNEL) TRY(flip_scatter_sharp(f));
    parallel_colours(f->sim->ctx->pool, f->colour_starts, 1 << dim, 4, f->passes->scatter[dim - 2],
                     f);
    return SPATE_OK;
}

/* Momentum to velocity, and gravity. */
static void weigh(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const real most = (real)(2 * fmax(f->sim->max_speed, sources_speed(f->sim)));
    const real light = (real)0.25 / f->inverse_mass; /* of a face in the midst of liquid */
    for (int a = 0; a < m->dim; a++) {
        const real pull = (real)(f->sim->scene->gravity[a] * f->sim->dt);
        for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++) {
            const real mass = m->mass[a][c];
            const bool given = m->known[0][c] >> (a + 4) & 1;
            real u = mass > 0 ? m->velocity[a][c] / mass : 0;
            /* What a lone particle's affine motion gives a face that it hardly reaches. */
            if (f->affine && mass < light) u = u > most ? most : u < -most ? -most : u;
            m->before[a][c] = u;
            m->velocity[a][c] = given ? m->wall[a][c] : mass > 0 ? u + pull : 0;
        }
    }
}

static spate_status forces(flip *f) {
    parallel_for(f->sim->ctx->pool, f->grid.bricks.count, 16, weigh, f);
    TRY(flip_keep_filled(f));
    TRY(flip_find_surface(f));
    TRY(flip_release(f));
    const bool coupled = flip_is_coupled(f);
    if (coupled) flip_keep_velocity(f);
    TRY(flip_viscosity(f, coupled ? flip_first_tolerance(f) : f->options->tolerance, !coupled));
    return flip_tension(f); /* a jump at the surface, which viscosity would smear */
}

static spate_status project(flip *f) {
    flip_memory *memory = &f->memory;
    const flip_options *o = f->options;
    const pressure_options options = {.method = (pressure_method)o->pressure,
                                      .tolerance = o->tolerance,
                                      .max_iterations = (int)o->max_iterations,
                                      .second_order = o->surface_order == 2};
    pressure_report report;
    mac grid = f->grid;
    grid.swell[0] = NULL; /* the particles' affair, not the velocity's: volume.c */
    if (flip_is_coupled(f))
        TRY(flip_couple(f, &grid, &options, &report));
    else
        TRY(pressure_project(f->pressure, &grid, &options, &report));
    memory->iterations = report.iterations;
    memory->residual = report.residual;
    memory->divergence = report.divergence / f->sim->scene->domain.dx;
    const solve_result result = {.what = "pressure",
                                 .kind = "pressure not converged",
                                 .residual = report.residual,
                                 .tolerance = o->tolerance,
                                 .iterations = report.iterations,
                                 .converged = report.converged};
    return simulation_judge(f->sim, &result, &memory->failures, &memory->missed);
}

/* Particles that went further than the sort follows are put where they are now. */
static spate_status move_far(flip *f) {
    spate_simulation *sim = f->sim;
    particles *p = &sim->particles;
    bool any = false;
    for (int32_t o = 0; o < sim->blocks.occupied_count; o++) {
        const int32_t block = sim->blocks.occupied[o];
        const int64_t last = sim->blocks.first[block + 1];
        for (int64_t i = sim->blocks.first[block]; i < last; i++) {
            bool far = false;
            for (int a = 0; a < sim->scene->dim; a++) {
                double x = (double)PLANE(p, position, a)[i];
                far |= x < -BLOCK_EDGE || x >= 2 * BLOCK_EDGE;
            }
            if (!far || p->group[i] == GROUP_REMOVED) continue;
            TRY(blocks_carry(&sim->blocks, p, block, i));
            any = true;
        }
    }
    return any ? sort(f) : SPATE_OK;
}

static spate_status gather(flip *f) {
    spate_simulation *sim = f->sim;
    const domain *d = &sim->scene->domain;
    const int workers = pool_size(sim->ctx->pool), dim = sim->scene->dim;
    for (int w = 0; w < workers; w++) f->seen[w] = (flip_extremes){.bad = -1};
    f->reach = d->dx * (BLOCK_EDGE * 0.5 * sqrt(dim) + 1 + fmax(sim->scene->cfl, 1)) +
               fmax(sim->max_speed, boundary_speed(&sim->boundary)) * sim->dt;
    f->touches = scratch_take(&sim->scratch, "flip touches", (size_t)sim->blocks.occupied_count + 1,
                              sizeof *f->touches);
    if (!f->touches) return SPATE_OUT_OF_MEMORY;
    parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 4, f->passes->gather[dim - 2], f);
    impulses_add(&f->impulses, f->touches, sim->blocks.occupied_count);
    scratch_give(&sim->scratch, "flip touches");
    flip_extremes all = {.bad = -1};
    for (int w = 0; w < workers; w++) {
        const flip_extremes *seen = &f->seen[w];
        all.speed2 = wide_max(seen->speed2, all.speed2);
        all.move2 = wide_max(seen->move2, all.move2);
        all.removed += seen->removed;
        all.stuck += seen->stuck;
        if (seen->bad >= 0 && (all.bad < 0 || seen->bad < all.bad)) all.bad = seen->bad;
    }
    if (all.bad >= 0)
        return simulation_unstable(
            sim, all.bad,
            "a particle's velocity is not finite, or took it across more than "
            "16 cells in a step");
    sim->max_speed = sqrt((double)wide_largest(all.speed2));
    sim->drift = sqrt((double)wide_largest(all.move2));
    sim->removed += all.removed;
    f->memory.stuck += all.stuck;
    if (sim->drift > BLOCK_EDGE) TRY(move_far(f));
    sources_hold(sim);
    return SPATE_OK;
}

const flip_stage flip_stages[FLIP_STAGES] = {
    {"sort", sort},
    {"reseed", flip_reseed},
    {"grid", flip_grid},
    {"scatter", scatter},
    {"forces", forces},
    {"pressure", project},
    {"volume", flip_correct_volume},
    {"extrapolate", flip_extrapolate},
    {"reaction", flip_reaction},
    {"gather", gather},
};

static spate_status step(spate_simulation *sim) {
    flip *f = sim->solver;
    f->dt = (real)sim->dt;
    impulses_begin_step(sim, &f->impulses);
    for (int i = 0; i < FLIP_STAGES; i++) {
        double start = phase_start();
        TRY(flip_stages[i].run(f));
        phase_stop(sim, flip_stages[i].name, start);
    }
    return SPATE_OK;
}

/* ---- What others ask ------------------------------------------------------------------------- */

static void state(spate_simulation *sim, state_blocks *out) {
    flip *f = sim->solver;
    state_add(out, "flip memory", &f->memory, sizeof f->memory);
    impulses_state(sim, &f->impulses, "flip impulses", out);
}

/* The pressure of the last step, Pa, at a point in cells from the domain's corner: that of the cell
 * there and its slopes, so that it is exact at walls and up to the surface where it is linear. */
static double pressure_at(const flip *f, const double x[3]) {
    const mac *m = &f->grid;
    int32_t brick[3] = {0};
    int at[3] = {0};
    for (int a = 0; a < m->dim; a++) {
        int cell = (int)floor(x[a]);
        cell = cell < 0                                 ? 0
               : cell >= f->sim->scene->domain.cells[a] ? f->sim->scene->domain.cells[a] - 1
                                                        : cell;
        brick[a] = cell >> 3, at[a] = cell & 7;
    }
    int32_t home = sites_find(&m->bricks, brick);
    if (home < 0) return 0;
    const int64_t here = mac_cell(m, home, at[0], at[1], at[2]);
    if (!(m->phi[0][here] < 0)) return 0;
    const double p = m->pressure[0][here];
    double sum = p;
    for (int a = 0; a < m->dim; a++) {
        double slope = 0, sides = 0;
        for (int way = -1; way <= 1; way += 2) {
            int next[3] = {at[0], at[1], at[2]};
            next[a] += way;
            int64_t other = mac_cell(m, home, next[0], next[1], next[2]);
            if (other < 0 || m->open[a][way < 0 ? here : other] <= 0) continue;
            double q = m->phi[0][other] < 0
                           ? m->pressure[0][other]
                           : p * (double)m->phi[0][other] / (double)m->phi[0][here];
            slope += (q - p) * way;
            sides += 1;
        }
        if (sides > 0) sum += slope / sides * (x[a] - (brick[a] * BRICK_EDGE + at[a] + 0.5));
    }
    return sum * f->density * f->sim->scene->domain.dx / f->sim->dt;
}

static double pressure_in_world(const spate_simulation *sim, const double x[3]) {
    const domain *d = &sim->scene->domain;
    double cells[3] = {0};
    for (int a = 0; a < sim->scene->dim; a++) cells[a] = (x[a] - d->origin[a]) / d->dx;
    const flip *f = sim->solver;
    return f->grid.bricks.count && sim->step ? pressure_at(f, cells) : 0;
}

static void stress(const spate_simulation *sim, int64_t i, double tau[6], double *energy,
                   double *J) {
    const flip *f = sim->solver;
    const blocks *b = &sim->blocks;
    if (energy) *energy = 0;
    if (J) *J = 1;
    if (!tau) return;
    for (int c = 0; c < 6; c++) tau[c] = 0;
    if (!f->grid.bricks.count || i >= b->sorted) return;
    int32_t low = 0, high = b->count;
    while (high - low > 1) {
        int32_t middle = (low + high) / 2;
        if (b->first[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    double g[3];
    blocks_position(b, &sim->particles, low, i, g);
    for (int c = 0; c < 3; c++) tau[c] = -pressure_at(f, g);
}

/* Moments are kept as they are: the angular momentum of an affine motion is m axial(B). */
static void affine_moment(const spate_simulation *sim, int64_t i, double moment[3]) {
    const flip *f = sim->solver;
    (void)i;
    for (int a = 0; a < 3; a++) moment[a] = f->affine ? 1 : 0;
}

static void numbers(spate_simulation *sim, solver_numbers *out) {
    const flip *f = sim->solver;
    if (sim->step == 0) return;
    out->max_divergence = f->memory.divergence;
}

static void solved(const spate_simulation *sim, double *iterations, double *residual) {
    const flip *f = sim->solver;
    if (sim->step == 0) return;
    *iterations = (double)f->memory.iterations;
    *residual = f->memory.residual;
}

static double rest_volume(const flip *f) {
    double mass = 0;
    for (int64_t i = 0; i < f->sim->particles.count; i++)
        if (f->sim->particles.group[i] != GROUP_REMOVED) mass += (double)f->sim->particles.mass[i];
    return mass / f->density;
}

static double liquid_volume(const spate_simulation *sim) {
    const flip *f = sim->solver;
    return sim->step ? f->memory.volume : NAN;
}
static double volume_drift(const spate_simulation *sim) {
    const flip *f = sim->solver;
    const double rest = rest_volume(f);
    return sim->step && rest > 0 ? f->memory.volume / rest - 1 : NAN;
}
static double not_converged(const spate_simulation *sim) {
    const flip *f = sim->solver;
    return (double)f->memory.missed;
}
static double split(const spate_simulation *sim) {
    const flip *f = sim->solver;
    return (double)f->memory.split;
}
static double merged(const spate_simulation *sim) {
    const flip *f = sim->solver;
    return (double)f->memory.merged;
}
static double stuck(const spate_simulation *sim) {
    const flip *f = sim->solver;
    return (double)f->memory.stuck;
}

static const solver_column columns[] = {
    {"liquid_volume", "m^3", liquid_volume},
    {"volume_drift", "", volume_drift},
    {"not_converged", "", not_converged},
    {"sorts", "", column_sorts},
    {"removed", "", column_removed},
    {"drained", "", column_drained},
    {"split", "", split},
    {"merged", "", merged},
    {"stuck", "", stuck},
    {NULL, NULL, NULL},
};

static size_t grid_bytes(const spate_simulation *sim) {
    const flip *f = sim->solver;
    return mac_bytes(&f->grid) + pressure_bytes(f->pressure) +
           (size_t)f->filled_capacity * sizeof *f->filled;
}

/* Viscosity is solved for implicitly, all components at once. */
static solver_cost cost(const spate_scene *scene) {
    const double dearer = (double)one_liquid_constants(scene).liquid.viscosity > 0 ? 25 : 1;
    return (solver_cost){.rate = {4.5e6 / dearer, 3e6 / dearer}, .bytes = {500, 300}};
}

const solver_type solver_flip = {
    .declaration = &flip_declaration,
    .benchmarks = flip_benchmarks,
    .shift = 0,
    .fields = fields,
    .exchanged = PARTICLE_BIT(position),
    .create = create,
    .free = destroy,
    .start = gradients_to_moments,
    .step_limit = step_limit,
    .cost = cost,
    .step = step,
    .state = state,
    .stress = stress,
    .pressure = pressure_in_world,
    .force = flip_force,
    .affine_moment = affine_moment,
    .numbers = numbers,
    .solved = solved,
    .columns = columns,
    .grid_bytes = grid_bytes,
};
