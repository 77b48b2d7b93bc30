#include "solver/flip/flip.h"

#include "core/isa.h"
#include "core/vec.h"
#include "solver/flip/adaptive.h"
#include "solver/flip/reaction.h"
#include "solver/flip/sheets.h"
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
    GROUP_FIELD(flip_options, flow, &prescribed_table,
                "A velocity that is given instead of computed; see solver.flow."),
    NUMBER_FIELD(flip_options, sharp_radius, "", 1, 0.1, 1,
                 "Radius within which `transfer: kernel` and `spacing` take velocities from a "
                 "particle, in its sizes (a_u of Ando et al. 2012)."),
    NUMBER_FIELD(flip_options, density_radius, "", 4, 1, 4,
                 "Radius over which the density of `surface: density` and `sheets` is summed, in "
                 "sizes of a particle (a_rho)."),
    NUMBER_FIELD(flip_options, liquid_share, "", 0.2, 0, 1,
                 "Cells are liquid with `surface: density` from this share of a full cell's sum of "
                 "densities on (a_L)."),
    INTEGER_FIELD(flip_options, full_cell, 0, 0, 64,
                  "Particles of a full cell, which tell the size of a usual one for `surface: "
                  "density`, `sheets` and `spacing` (N0); 0: 8, in 2D 4."),
    GROUP_FIELD(flip_options, sheets, &sheet_table,
                "Particles inserted where thin sheets would tear; `sheets: {}` with all "
                "defaults, see solver.sheets."),
    GROUP_FIELD(flip_options, spacing, &spacing_table,
                "Particles moved apart to lie evenly; see solver.spacing."),
    GROUP_FIELD(flip_options, adaptive, &adaptive_table,
                "Particles deep in the liquid are merged; see solver.adaptive."),
};

static bool prepare(void *options, int dim, field_report *report) {
    flip_options *o = options;
    if (isnan(o->reseed_range[0]))
        o->reseed_range[0] = dim == 3 ? 4 : 2, o->reseed_range[1] = dim == 3 ? 12 : 8;
    if (!o->reseed_target) o->reseed_target = dim == 3 ? 8 : 4;
    if (!o->full_cell) o->full_cell = dim == 3 ? 8 : 4;
    if (!((double)o->reseed_target >= o->reseed_range[0] &&
          (double)o->reseed_target <= o->reseed_range[1]))
        return field_complain(report, "reseed_target",
                              "is %d, which is not in reseed_range [%g, %g]; change one of them",
                              (int)o->reseed_target, o->reseed_range[0], o->reseed_range[1]);
    if (!sheets_check(o, report)) return false;
    if (o->flow && !prescribed_check(o->flow, dim, report)) return false;
    return adaptive_check(o, dim, report);
}

static bool check(const spate_scene *scene, field_report *report) {
    const flip_options *o = scene->solver_options;
    if (o->flow && scene->collider_count)
        return field_complain(report, NULL,
                              "solver.flow moves particles through colliders; remove colliders, "
                              "or flow");
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
    .period = BRICK_EDGE,
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
    const flip_options *o = scene->solver_options;
    unsigned fields = is_affine(o) ? PARTICLE_BIT(affine) : 0;
    if (o->sheets || o->spacing) fields |= PARTICLE_BIT(thinness) | PARTICLE_BIT(generation);
    if (o->adaptive) fields |= PARTICLE_BIT(role);
    return fields;
}

ISA_TABLES(flip_kernels, flip_linear);
ISA_TABLES(flip_kernels, flip_quadratic);

static const flip_kernels *choose_kernels(enum isa isa, int kernel) {
    return kernel ? ISA_CHOOSE(flip_quadratic, isa) : ISA_CHOOSE(flip_linear, isa);
}

/* Bodies that spin come with the gradient of their velocity; what is kept is its moment B = C D,
 * and nothing by transfers that are not affine. */
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

static spate_status start(spate_simulation *sim) {
    flip *f = sim->solver;
    if (f->options->flow) flip_start_flow(f);
    return gradients_to_moments(sim);
}

static spate_status create(spate_simulation *sim) {
    spate_context *ctx = sim->ctx;
    const spate_scene *scene = sim->scene;
    flip *f = take(ctx, 1, sizeof *f);
    if (!f) return SPATE_OUT_OF_MEMORY;
    sim->solver = f;
    f->sim = sim;
    f->domain = &scene->domain;
    f->threads = ctx->pool;
    f->options = scene->solver_options;
    f->kernels = choose_kernels(ctx->isa, f->options->kernel);
    f->affine = is_affine(f->options);
    f->displaces = f->options->volume_correction > 0 && f->options->surface == SURFACE_VOLUME;
    bool keeps = f->options->transfer != FLIP_PIC && f->options->transfer != FLIP_APIC;
    f->alpha = keeps ? (real)f->options->alpha : 0;
    material_constants liquid = one_liquid_constants(scene);
    f->density = (double)liquid.density;
    f->viscosity = (double)liquid.liquid.viscosity;
    f->tension = (double)liquid.liquid.tension;
    sim->blocks.unordered = !f->options->reseed && f->options->transfer != FLIP_KERNEL &&
                            f->options->surface != SURFACE_DENSITY && !f->options->sheets &&
                            !f->options->spacing;
    f->dx = (real)scene->domain.dx;
    f->inverse_mass = (real)(1 / (f->density * pow(scene->domain.dx, scene->dim)));
    int period[3] = {0};
    for (int a = 0; a < scene->dim; a++)
        if (scene->domain.walls[a][0] == WALL_PERIODIC) period[a] = scene->domain.cells[a];
    const bool displacement = f->displaces || f->viscosity > 0;
    const unsigned fields = displacement ? MAC_ALL : MAC_ALL & ~MAC_BIT(displacement);
    mac_create(ctx, scene->dim, period, fields, &f->grid);
    f->seen = take(ctx, (size_t)pool_size(ctx->pool), sizeof *f->seen);
    if (!f->seen) return SPATE_OUT_OF_MEMORY;
    TRY(adaptive_create(f));
    TRY(impulses_create(sim, &f->impulses));
    TRY(sheets_create(f));
    TRY(pressure_create(ctx, &f->pressure));
    sim->max_speed = simulation_fastest(sim);
    return SPATE_OK;
}

static void destroy(spate_simulation *sim) {
    flip *f = sim->solver;
    mac_free(&f->grid);
    sheets_free(f);
    adaptive_free(f);
    pressure_free(f->pressure);
    give(sim->ctx, f->seen), give(sim->ctx, f->impulses.values), give(sim->ctx, f->coloured);
    give(sim->ctx, f->filled), give(sim->ctx, f);
    sim->solver = NULL;
}

/* ---- The time step --------------------------------------------------------------------------- */

/* The fastest particle, sped up by gravity in the step, crosses cfl cells: (v + g dt) dt = cfl
 * dx. */
static double step_limit(spate_simulation *sim, const char **limit) {
    flip *f = sim->solver;
    const spate_scene *scene = sim->scene;
    if (f->options->flow) return flip_flow_limit(f, limit);
    double way = scene->cfl * scene->domain.dx, gravity = vec_length(scene->gravity);
    double speed = fmax(sim->max_speed, sources_speed(sim));
    speed = fmax(speed, boundary_speed_within(&sim->boundary, sim->time, way));
    double dt = 2 * way / (speed + sqrt(speed * speed + 4 * gravity * way));
    *limit = speed * speed > gravity * way ? "speed" : "gravity";
    if (!(dt < HUGE_VAL)) *limit = "none";
    double tension = flip_tension_limit(f);
    if (tension < dt) dt = tension, *limit = "surface tension";
    return dt;
}

/* ---- A step ---------------------------------------------------------------------------------- */

static spate_status sort(void *solver) {
    const flip *f = solver;
    spate_simulation *sim = f->sim;
    int64_t lost;
    TRY(blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost));
    if (lost >= 0) return simulation_unstable(sim, lost, "a particle moved more than a block");
    sim->drift = 0;
    return SPATE_OK;
}

flip_view flip_view_of(const flip *f) {
    spate_simulation *sim = f->sim;
    const mac *m = &f->grid;
    flip_view view = {
        .f = f,
        .particles = &sim->particles,
        .block_coords = (const int32_t(*)[3])sim->blocks.coords,
        .block_first = sim->blocks.first,
        .occupied = sim->blocks.occupied,
        .coloured = f->coloured,
        .brick_neighbours = (const int32_t(*)[NEIGHBOURS_MAX])m->bricks.neighbours,
        .phi = m->phi[0],
        .domain = &sim->scene->domain,
        .affine = f->affine,
        .momentum = f->options->transfer != FLIP_KERNEL,
        .alpha = f->alpha,
        .inverse_mass = f->inverse_mass,
        .step = (real)sim->dt / f->dx,
        .advection_order = f->options->advection + 1,
        .reach = f->reach,
        .seen = f->seen,
        .touches = f->touches,
    };
    for (int a = 0; a < m->dim; a++) {
        view.velocity[a] = m->velocity[a], view.mass[a] = m->mass[a];
        view.velocity_old[a] = m->velocity_old[a];
        if (f->displaces) view.displacement[a] = m->displacement[a];
    }
    return view;
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

static spate_status scatter(void *solver) {
    flip *f = solver;
    const int dim = f->sim->scene->dim;
    TRY(colour_blocks(f));
    if (f->options->transfer == FLIP_KERNEL) TRY(flip_scatter_kernel(f));
    flip_view view = flip_view_of(f);
    parallel_colours(f->threads, f->colour_starts, 1 << dim, 4, f->kernels->scatter[dim - 2],
                     &view);
    return SPATE_OK;
}

/* Faces with less than this share of the mass of one in the midst of liquid are light. */
static const real light_share = (real)0.25;

/* And gravity. */
static void momentum_to_velocity(void *data, chunk items) {
    const flip *f = data;
    const mac *m = &f->grid;
    const real most = (real)(2 * fmax(f->sim->max_speed, sources_speed(f->sim)));
    const real light = light_share / f->inverse_mass;
    for (int a = 0; a < m->dim; a++) {
        const real gravity = (real)(f->sim->scene->gravity[a] * f->sim->dt);
        for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++) {
            const real mass = m->mass[a][c];
            real u = mass > 0 ? m->velocity[a][c] / mass : 0;
            /* What a lone particle's affine motion gives a face that it hardly reaches. */
            if (f->affine && mass < light) u = u > most ? most : u < -most ? -most : u;
            m->velocity_old[a][c] = u;
            m->velocity[a][c] = mac_is_prescribed(m, a, c) ? m->solid_velocity[a][c]
                                : mass > 0                 ? u + gravity
                                                           : 0;
        }
    }
}

static spate_status forces(void *solver) {
    flip *f = solver;
    parallel_for(f->threads, f->grid.bricks.count, 16, momentum_to_velocity, f);
    TRY(flip_keep_filled(f));
    TRY(flip_find_surface(f));
    sheets_spare_volume(f);
    flip_fill_faces(f);
    TRY(flip_release(f));
    const bool coupled = flip_is_coupled(f);
    if (coupled) flip_keep_velocity(f);
    TRY(flip_viscosity(f, coupled ? flip_first_tolerance(f) : f->options->tolerance, !coupled));
    return flip_tension(f); /* a jump at the surface, which viscosity would smear */
}

static spate_status project(void *solver) {
    flip *f = solver;
    flip_memory *memory = &f->memory;
    const flip_options *o = f->options;
    const pressure_options options = {.method = (pressure_method)o->pressure,
                                      .tolerance = o->tolerance,
                                      .max_iterations = (int)o->max_iterations,
                                      .second_order = o->surface_order == 2};
    pressure_report report;
    mac grid = f->grid;
    grid.target_divergence[0] = NULL; /* the particles' affair, not the velocity's: volume.c */
    if (flip_is_coupled(f))
        TRY(flip_couple(f, &grid, &options, &report));
    else
        TRY(pressure_project(f->pressure, &grid, &options, &report));
    memory->iterations = report.iterations;
    memory->residual = report.residual;
    memory->divergence = report.divergence / f->domain->dx;
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

/* What all workers have seen. */
static flip_extremes join_extremes(const flip *f) {
    flip_extremes all = {.bad = -1};
    for (int w = 0; w < pool_size(f->threads); w++) {
        const flip_extremes *seen = &f->seen[w];
        all.speed2 = wide_max(seen->speed2, all.speed2);
        all.move2 = wide_max(seen->move2, all.move2);
        all.removed += seen->removed;
        all.stuck += seen->stuck;
        if (seen->bad >= 0 && (all.bad < 0 || seen->bad < all.bad)) all.bad = seen->bad;
    }
    return all;
}

static void forget_extremes(flip *f) {
    for (int w = 0; w < pool_size(f->threads); w++) f->seen[w] = (flip_extremes){.bad = -1};
}

/* Over all blocks; and what colliders took of particles. */
static spate_status gather_blocks(flip *f) {
    spate_simulation *sim = f->sim;
    const int dim = sim->scene->dim;
    const int64_t occupied = sim->blocks.occupied_count;
    forget_extremes(f);
    f->reach =
        sim->scene->domain.dx * (BLOCK_EDGE * 0.5 * sqrt(dim) + 1 + fmax(sim->scene->cfl, 1)) +
        fmax(sim->max_speed, boundary_speed(&sim->boundary)) * sim->dt;
    f->touches =
        scratch_take(&sim->scratch, "flip touches", (size_t)occupied + 1, sizeof *f->touches);
    if (!f->touches) return SPATE_OUT_OF_MEMORY;
    flip_view view = flip_view_of(f);
    parallel_for(sim->ctx->pool, occupied, 4, f->kernels->gather[dim - 2], &view);
    impulses_add(&f->impulses, f->touches, occupied);
    scratch_give(&sim->scratch, "flip touches");
    return SPATE_OK;
}

/* What the workers have seen of the particles' motion. */
static spate_status finish_motion(flip *f) {
    spate_simulation *sim = f->sim;
    const flip_extremes all = join_extremes(f);
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
    return sources_hold(sim);
}

static spate_status gather(void *solver) {
    TRY(gather_blocks(solver));
    return finish_motion(solver);
}

static spate_status move(void *solver) {
    flip *f = solver;
    forget_extremes(f);
    flip_move_in_flow(f);
    return finish_motion(f);
}

const solver_stage flip_stages[FLIP_STAGES + 1] = {
    {"split", flip_split},
    {"sort", sort},
    {"reseed", flip_reseed},
    {"thin", flip_thin},
    {"insert", flip_insert},
    {"spacing", flip_spacing},
    {"grid", flip_grid},
    {"scatter", scatter},
    {"forces", forces},
    {"merge", flip_merge},
    {"pressure", project},
    {"volume", flip_correct_volume},
    {"extrapolate", flip_extrapolate},
    {"reaction", flip_reaction},
    {"gather", gather},
    {NULL, NULL},
};

const solver_stage flip_flow_stages[] = {
    {"sort", sort},
    {"reseed", flip_reseed},
    {"thin", flip_thin},
    {"insert", flip_insert},
    {"spacing", flip_spacing},
    {"move", move},
    {NULL, NULL},
};

static spate_status step(spate_simulation *sim) {
    flip *f = sim->solver;
    if (f->options->flow) return run_stages(sim, flip_flow_stages);
    impulses_begin_step(sim, &f->impulses);
    return run_stages(sim, flip_stages);
}

/* ---- What others ask ------------------------------------------------------------------------- */

static void state(spate_simulation *sim, state_blocks *out) {
    flip *f = sim->solver;
    state_add(out, "flip memory", &f->memory, sizeof f->memory);
    sheets_state(f, out);
    impulses_state(sim, &f->impulses, "flip impulses", out);
}

/* The mean of the pressure's slopes to both sides of a liquid cell along an axis. */
static double pressure_slope(const flip *f, int32_t brick, const int at[3], int axis) {
    const mac *m = &f->grid;
    const int c = box_index(BRICK_EDGE, at, m->dim);
    const int64_t here = (int64_t)brick * mac_cells(m->dim) + c;
    const double p = m->pressure[0][here];
    double slope = 0;
    int sides = 0;
    for (int n = 2 * axis; n < 2 * axis + 2; n++) {
        const mac_side s = mac_side_of(m, brick, c, at, n);
        if (s.beyond < 0 || m->face_fraction[axis][s.face] <= 0) continue;
        double q = m->phi[0][s.beyond] < 0
                       ? m->pressure[0][s.beyond]
                       : p * (double)m->phi[0][s.beyond] / (double)m->phi[0][here];
        slope += (q - p) * s.way;
        sides++;
    }
    return sides ? slope / sides : 0;
}

/* The pressure of the last step, Pa, at a point in cells from the domain's corner: that of the cell
 * there and its slopes, so that it is exact at walls and up to the surface where it is linear. */
static double pressure_at(const flip *f, const double x[3]) {
    const mac *m = &f->grid;
    int cell[3] = {0}, at[3];
    for (int a = 0; a < m->dim; a++) {
        const int last = f->domain->cells[a] - 1;
        cell[a] = (int)fmin(fmax(floor(x[a]), 0), last);
    }
    const int32_t home = mac_find(m, cell, at);
    if (home < 0) return 0;
    const int64_t here = mac_cell(m, home, at);
    if (!(m->phi[0][here] < 0)) return 0;
    double sum = m->pressure[0][here];
    for (int a = 0; a < m->dim; a++)
        sum += pressure_slope(f, home, at, a) * (x[a] - (cell[a] + 0.5));
    return sum * f->density * f->domain->dx / f->sim->dt;
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
    if (sim->step == 0 || f->options->flow) return;
    out->max_divergence = f->memory.divergence;
}

static void solved(const spate_simulation *sim, double *iterations, double *residual) {
    const flip *f = sim->solver;
    if (sim->step == 0 || f->options->flow) return;
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
    return sim->step && !f->options->flow ? f->memory.volume : NAN;
}
static double volume_drift(const spate_simulation *sim) {
    const flip *f = sim->solver;
    const double rest = rest_volume(f);
    return sim->step && rest > 0 && !f->options->flow ? f->memory.volume / rest - 1 : NAN;
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
    SHEET_COLUMNS{NULL, NULL, NULL},
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
    .start = start,
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
    .grid_fields = flip_grid_fields,
    .grid_field = flip_grid_field,
    .grid_bytes = grid_bytes,
};
