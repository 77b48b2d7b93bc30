#include "solver/sph/sph.h"

#include "core/isa.h"
#include "core/vec.h"
#include "core/wide_math.h"
#include "scene/sample.h"
#include "solver/materials/one_liquid.h"
#include "solver/sources.h"
#include <stdio.h>

/* ---- What a user may set --------------------------------------------------------------------- */

static const char *const methods[] = {"wcsph", "dfsph", "iisph", NULL};
static const char *const kernel_names[] = {"default", "mueller", "cubic", "wendland", NULL};
static const char *const equations[] = {"linear", "tait", NULL};
static const char *const viscosities[] = {"default", "mueller", "morris", NULL};

static const field sph_fields[] = {
    CHOICE_FIELD(
        sph_options, pressure, SPH_WCSPH, methods,
        "wcsph: a stiff equation of state, as the course teaches; dfsph: the density is kept, and "
        "the velocity free of divergence, with long steps (Bender and Koschier 2015); iisph: the "
        "density alone is kept."),
    CHOICE_FIELD(
        sph_options, kernel, 0, kernel_names,
        "mueller: poly6 for sums, spiky for gradients (default of wcsph); cubic: the cubic "
        "spline (default of dfsph and iisph); wendland: Wendland's C2, for accuracy with a "
        "support of 3 spacings or more."),
    NUMBER_FIELD(sph_options, support, "", NAN, 1.2, 8,
                 "Radius of the kernel in spacings of particles; default 2.5 in 3D, 3 in 2D. 2 is "
                 "faster and less accurate."),
    CHOICE_FIELD(sph_options, equation, EQUATION_LINEAR, equations,
                 "wcsph's pressure: s (rho - rho0), or Tait's equation with the material's gamma."),
    NUMBER_FIELD(sph_options, stiffness, "m^2/s^2", NAN, SMALLEST, 1e15,
                 "s, the square of the speed of sound; default: bulk_modulus / density of the "
                 "material."),
    FLAG_FIELD(sph_options, negative_pressure, false,
               "Whether wcsph's liquid holds together below its density at rest; for flows without "
               "a surface."),
    CHOICE_FIELD(sph_options, viscosity, 0, viscosities,
                 "mueller: the Laplacian of their viscosity kernel (default with kernel mueller); "
                 "morris: from the kernel's gradient (default otherwise)."),
    NUMBER_FIELD(
        sph_options, artificial_viscosity, "", NAN, 0, 10,
        "Monaghan's alpha: damps pairs that approach; default: 0.1 for wcsph, which is noisy "
        "without, less what the material's own viscosity does, else 0."),
    NUMBER_FIELD(
        sph_options, xsph, "", NAN, 0, 1,
        "Share of the neighbours' mean velocity that a particle takes on in a step; default: "
        "0.05 for dfsph and iisph, whose particles tremble without, else 0."),
    NUMBER_FIELD(sph_options, shifting, "", 0, 0, 10,
                 "Moves wcsph's particles a little towards where there are few, in proportion to "
                 "their speed, so that they stay evenly spread; 2 is usual, 0: off."),
    NUMBER_FIELD(sph_options, tolerance, "", 1e-3, 1e-7, 0.1,
                 "Mean excess of density at which dfsph and iisph end their iteration."),
    NUMBER_FIELD(sph_options, divergence_tolerance, "", 1e-3, 1e-7, 0.1,
                 "The same for the excess that a step's divergence would make (dfsph)."),
    INTEGER_FIELD(sph_options, max_iterations, 100, 1, 1000000,
                  "Iterations after which a solve gives up; ten such in a row end the run."),
    INTEGER_FIELD(sph_options, boundary_layers, 0, 0, 8,
                  "Layers of particles in walls, 2 or more; default 0: as many as the kernel "
                  "reaches."),
    NUMBER_FIELD(sph_options, skin, "", 0, 0, 2,
                 "Neighbours are listed within the support and this many spacings more, and listed "
                 "anew when a particle has moved by half of it (Verlet lists); 0: in every step."),
};

static bool prepare(void *options, int dim, field_report *report) {
    sph_options *o = options;
    if (o->boundary_layers == 1)
        return field_complain(report, "boundary_layers",
                              "1 layer of particles does not hold liquid; give 2 or more, or leave "
                              "it out");
    if (isnan(o->support)) o->support = dim == 3 ? 2.5 : 3;
    if (!o->kernel) o->kernel = 1 + (o->pressure == SPH_WCSPH ? (int)SPH_MUELLER : (int)SPH_CUBIC);
    if (!o->viscosity)
        o->viscosity = 1 + (o->kernel == 1 + (int)SPH_MUELLER ? (int)VISCOSITY_MUELLER
                                                              : (int)VISCOSITY_MORRIS);
    if (isnan(o->xsph)) o->xsph = o->pressure == SPH_WCSPH ? 0 : 0.05;
    if (!o->boundary_layers) o->boundary_layers = (int64_t)ceil(o->support - 1e-9);
    return true;
}

static double group_density(const spate_scene *scene, int group) {
    return group < scene->body_count ? scene->bodies[group].particles_per_cell
                                     : scene->sources[group - scene->body_count].particles_per_cell;
}

/* wcsph's equation of state is that of one liquid. */
static bool check_stiffness(const spate_scene *scene, field_report *report) {
    const sph_options *o = scene->solver_options;
    const material_constants one = one_liquid_constants(scene);
    if (o->pressure != SPH_WCSPH) return true;
    for (int g = 1; g < scene_group_count(scene); g++) {
        const int other = scene_group_material(scene, g);
        const material_constants two = material_constants_of(scene, other);
        const bool soft = isnan(o->stiffness) && two.liquid.stiffness != one.liquid.stiffness;
        if (soft || two.liquid.gamma != one.liquid.gamma)
            return field_complain(
                report, NULL,
                "materials '%s' and '%s' differ in bulk_modulus or gamma; sph has "
                "one liquid: make them the same, or use solver.type mpm",
                scene->materials[scene_group_material(scene, 0)].name,
                scene->materials[other].name);
    }
    return true;
}

/* One liquid, one spacing, and lists that the search can make. */
static bool check(const spate_scene *scene, field_report *report) {
    for (int c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].shape->sequence)
            return field_complain(report, NULL,
                                  "collider '%s' deforms, which sph does not know; use solver.type "
                                  "mpm, flip or smoke, or leave out its `frames`",
                                  scene->colliders[c].name);
    for (int s = 0; s < scene->source_count; s++)
        if (scene->sources[s].shape->sequence)
            return field_complain(report, NULL,
                                  "source '%s' deforms, which sph does not know; use solver.type "
                                  "mpm, flip or smoke, or leave out its `frames`",
                                  scene->sources[s].name);
    const sph_options *o = scene->solver_options;
    const double one = group_density(scene, 0);
    const double spacing = sample_spacing(&scene->domain, scene->dim, one);
    const double reach = (o->support + o->skin) * spacing / scene->domain.dx;
    if (!one_liquid_check(scene, report) || !check_stiffness(scene, report)) return false;
    for (int g = 1; g < scene_group_count(scene); g++)
        if (group_density(scene, g) != one)
            return field_complain(report, NULL,
                                  "'%s' has %g particles a cell and '%s' %g; sph's particles are "
                                  "all of one size: give them the same particles_per_cell",
                                  scene_group_name(scene, 0), one, scene_group_name(scene, g),
                                  group_density(scene, g));
    if (reach > BLOCK_EDGE)
        return field_complain(
            report, NULL,
            "solver.support and skin reach %.3g cells of domain.dx, at most %d can be searched; "
            "use more particles_per_cell or a smaller support",
            reach, BLOCK_EDGE);
    for (int a = 0; a < scene->dim; a++)
        if (scene->domain.walls[a][0] == WALL_PERIODIC &&
            scene->domain.cells[a] < 2 * reach + BLOCK_EDGE)
            return field_complain(
                report, NULL,
                "the domain is %d cells long along %c, where it is periodic; with "
                "this support it needs at least %d: change domain.size or dx",
                scene->domain.cells[a], "xyz"[a], (int)ceil(2 * reach + BLOCK_EDGE));
    return true;
}

const solver_declaration sph_declaration = {
    .name = "sph",
    .table = FIELD_TABLE("sph", "Liquid as particles alone: smoothed particle hydrodynamics.",
                         sph_fields, sph_options),
    .prepare = prepare,
    .check = check,
    .matter = MATTER_LIQUID,
    .period = BLOCK_EDGE,
    .scheme = "pressure",
    .cfl = 0.4,
    .cfl_most = 5,
    .moves_walls = true,
};

/* ---- Creation -------------------------------------------------------------------------------- */

static unsigned fields(const spate_scene *scene) {
    const sph_options *o = scene->solver_options;
    unsigned needed = PARTICLE_BIT(density) | PARTICLE_BIT(pressure);
    if (o->pressure == SPH_DFSPH) needed |= PARTICLE_BIT(velocity_pressure);
    if (o->skin > 0) needed |= PARTICLE_BIT(reference);
    return needed;
}

ISA_TABLES(sph_sums, sph_sums);

/* The sum of f over the points of the particles' lattice within the support, but the middle. */
static double lattice_sum(const sph *s, double (*f)(sph_kernel, int, double, double),
                          sph_kernel kernel, int power) {
    const int dim = s->scene->dim, most = (int)ceil(s->support / s->spacing);
    double sum = 0;
    for (int i = -most; i <= most; i++)
        for (int j = -most; j <= most; j++)
            for (int k = dim == 3 ? -most : 0; k <= (dim == 3 ? most : 0); k++) {
                const double r = s->spacing * sqrt(i * i + j * j + k * k);
                if (r > 0 && r < s->support)
                    sum += s->volume * f(kernel, dim, r, s->support) * pow(r, power);
            }
    return sum;
}

static void set_kernel(sph *s) {
    const spate_scene *scene = s->scene;
    const sph_options *o = s->options;
    const double h = s->support, dx = scene->domain.dx, share = s->volume / pow(h, scene->dim);
    const kernel_constants a = kernel_constants_of(s->kernel, scene->dim);
    const kernel_constants mueller = kernel_constants_of(SPH_MUELLER, scene->dim);
    s->view.support2 = (real)(h / dx * (h / dx));
    s->view.inverse_support = (real)(dx / h);
    /* On their lattice particles have the density at rest, and gradients of what is linear are
     * exact, whatever the kernel makes of it. */
    s->lattice_density = share * a.value + lattice_sum(s, kernel_value, s->kernel, 0);
    s->view.kernel_factor = (real)(share * a.value / s->lattice_density);
    s->lattice_gradient = -lattice_sum(s, kernel_derivative, s->kernel, 1) / scene->dim;
    s->view.gradient_factor =
        (real)(share * a.derivative * (dx / h) * (dx / h) / s->lattice_gradient);
    s->view.half_spacing = (real)(0.5 * s->spacing / dx);
    s->view.inverse_spacing_value =
        (real)(a.value / pow(h, scene->dim) / kernel_value(s->kernel, scene->dim, s->spacing, h));
    s->view.pressure_factor = (real)(1 / (s->rest_density * dx));
    s->view.xsph_factor = (real)(o->xsph * (double)s->view.kernel_factor);
    double alpha = o->artificial_viscosity;
    /* Monaghan's alpha is a viscosity of alpha c l / (2 (d + 2)): what the liquid's own lacks. */
    const double own = 2 * (scene->dim + 2) * s->viscosity / (s->sound * 0.5 * h);
    if (isnan(alpha)) alpha = o->pressure == SPH_WCSPH ? fmax(0, 0.1 - own) : 0;
    s->view.artificial = (real)(alpha * s->sound * 0.5 * h / (dx * dx));
    s->artificial_damping = -alpha * s->sound * 0.5 * h / scene->dim *
                            lattice_sum(s, kernel_derivative, s->kernel, -1) / s->lattice_gradient;
    s->view.softening2 = (real)(0.01 * 0.25 * h * h / (dx * dx));
    if (o->viscosity == 1 + VISCOSITY_MUELLER) {
        s->view.mueller = (real)(s->viscosity * share * mueller.laplacian / (h * h));
        s->viscous_damping = s->viscosity * lattice_sum(s, kernel_laplacian, SPH_MUELLER, 0);
    } else {
        s->view.morris = (real)(2 * s->viscosity / (dx * dx));
        s->viscous_damping = -2 * s->viscosity * lattice_sum(s, kernel_derivative, s->kernel, -1) /
                             s->lattice_gradient;
    }
}

/* Jacobi with momentum converges for omega up to 1 / the largest eigenvalue of A_ij / A_ii: on the
 * lattice, where G = 0, that of some wave exp(i k x), (sum_j V W' x / r sin(k x))^2 / sum_j (V
 * W')^2. */
static void set_relaxation(sph *s) {
    const int dim = s->scene->dim, most = (int)ceil(s->support / s->spacing);
    enum { WAVES = 32 };
    double waves[WAVES] = {0}, squares = 0, largest = 3;
    for (int i = -most; i <= most; i++)
        for (int j = -most; j <= most; j++)
            for (int k = dim == 3 ? -most : 0; k <= (dim == 3 ? most : 0); k++) {
                const double r = sqrt(i * i + j * j + k * k), reach = s->support / s->spacing;
                const double slope = kernel_derivative(s->kernel, dim, r, reach);
                if (r == 0) continue;
                squares += slope * slope;
                for (int n = 0; n < WAVES; n++)
                    waves[n] += slope * i / r * sin(3.14159265358979323846 * n / WAVES * i);
            }
    for (int n = 0; n < WAVES; n++) largest = fmax(largest, waves[n] * waves[n] / squares);
    s->view.relaxation = (real)(1 / largest);
}

/* The length to wrap places of a periodic axis into: a whole part of it, where one is short enough
 * to be precise and long against what particles reach. */
static int part_of_axis(int cells, int longest) {
    for (int part = longest; part >= 8 * BLOCK_EDGE; part--)
        if (cells % part == 0) return part;
    return cells;
}

/* Places are wrapped along periodic axes and along such as are too long for their precision. */
static void set_periods(sph *s) {
    const domain *d = &s->scene->domain;
    enum { LONGEST = 256 };
    for (int a = 0; a < s->scene->dim; a++) {
        const bool periodic = d->walls[a][0] == WALL_PERIODIC;
        if (periodic || d->cells[a] > LONGEST - 4 * BLOCK_EDGE)
            s->view.period[a] = (real)(periodic ? part_of_axis(d->cells[a], LONGEST) : LONGEST);
        if (s->view.period[a] > 0)
            s->view.inverse_period[a] = 1 / s->view.period[a], s->view.wraps = true;
    }
}

static spate_status create(spate_simulation *sim) {
    spate_context *ctx = sim->ctx;
    const spate_scene *scene = sim->scene;
    sph *s = take(ctx, 1, sizeof *s);
    if (!s) return SPATE_OUT_OF_MEMORY;
    sim->solver = s;
    s->sim = sim;
    s->scene = scene;
    s->threads = ctx->pool;
    s->dx = scene->domain.dx;
    s->options = scene->solver_options;
    s->sums = ISA_CHOOSE(sph_sums, ctx->isa);
    s->view.fluid_neighbours = neighbours_create(ctx);
    s->view.boundary_neighbours = neighbours_create(ctx);
    s->kernel = (sph_kernel)(s->options->kernel - 1);
    s->spacing = sample_spacing(&scene->domain, scene->dim, group_density(scene, 0));
    s->support = s->options->support * s->spacing;
    s->volume = pow(s->spacing, scene->dim);
    const material_constants liquid = one_liquid_constants(scene);
    s->rest_density = (double)liquid.density;
    s->viscosity = (double)liquid.liquid.viscosity / s->rest_density;
    s->tension = (double)liquid.liquid.tension;
    s->sound = isnan(s->options->stiffness)
                   ? sqrt((double)(liquid.liquid.stiffness * liquid.liquid.gamma) / s->rest_density)
                   : sqrt(s->options->stiffness);
    s->gamma = liquid.liquid.gamma;
    s->view.shifts = s->options->shifting > 0;
    s->view.extras = s->options->xsph > 0 || s->view.shifts;
    for (int a = 0; a < scene->dim; a++) s->view.gravity[a] = (real)scene->gravity[a];
    s->view.hydrostatic_gradient = (real)(s->rest_density * scene->domain.dx);
    s->view.hydrostatic_onset =
        (real)(2 / fmax(s->rest_density * vec_length(scene->gravity) * s->support, 1e-30));
    set_kernel(s);
    set_relaxation(s);
    set_periods(s);
    s->seen = take(ctx, (size_t)pool_size(ctx->pool), sizeof *s->seen);
    if (!s->seen) return SPATE_OUT_OF_MEMORY;
    TRY(impulses_create(sim, &s->impulses));
    TRY(sph_boundary_create(sim, s->spacing, s->support, (int)s->options->boundary_layers,
                            &s->boundary));
    if (s->tension > 0) TRY(sph_tension_create(s, &s->surface));
    sim->max_speed = simulation_fastest(sim);
    return SPATE_OK;
}

static void destroy(spate_simulation *sim) {
    sph *s = sim->solver;
    sph_records_free(s);
    sph_tension_free(s->surface);
    sph_boundary_free(&s->boundary);
    neighbours_free(&s->view.fluid_neighbours);
    neighbours_free(&s->view.boundary_neighbours);
    give(sim->ctx, s->seen), give(sim->ctx, s->impulses.values), give(sim->ctx, s);
    sim->solver = NULL;
}

/* All particles stand for the same volume, also where a body's was not a whole number of them. */
static void even_out(spate_simulation *sim) {
    const sph *s = sim->solver;
    for (int64_t i = 0; i < sim->particles.count; i++) {
        sim->particles.mass[i] = (real)(s->rest_density * s->volume);
    }
}

static spate_status start(spate_simulation *sim) {
    even_out(sim);
    return sph_stand(sim->solver);
}

/* ---- The time step --------------------------------------------------------------------------- */

static void shorten(double *dt, const char **limit, double other, const char *name) {
    if (!(other < *dt)) return;
    *dt = other;
    *limit = name;
}

static double fastest(const spate_simulation *sim) {
    return fmax(sim->max_speed, fmax(sources_speed(sim), boundary_speed(&sim->boundary)));
}

/* What crosses cfl spacings at the present speed, or falls a quarter as far from rest; never more
 * than what lists and blocks can follow. */
static double travel_limit(const spate_simulation *sim, double cfl) {
    const sph *s = sim->solver;
    const double way = fmin(cfl * s->spacing, 0.75 * BLOCK_EDGE * sim->scene->domain.dx);
    return fmin(way / fmax(fastest(sim), 1e-30),
                0.5 * sqrt(way / fmax(vec_length(sim->scene->gravity), 1e-30)));
}

/* With l = h / 2: a wave or a particle crosses cfl l; half of what explicit viscosity can bear;
 * what an acceleration moves in a step is small against l. */
static double step_limit(spate_simulation *sim, const char **limit) {
    const sph *s = sim->solver;
    const spate_scene *scene = sim->scene;
    const double l = 0.5 * s->support, pi = 3.14159265358979323846;
    const double speed = fastest(sim);
    double dt = HUGE_VAL;
    *limit = "none";
    if (s->options->pressure == SPH_WCSPH) {
        shorten(&dt, limit, scene->cfl * l / (s->sound + speed), "sound");
        shorten(&dt, limit, 0.5 * sqrt(l / fmax(s->memory.acceleration, 1e-30)), "force");
    } else {
        const bool falls =
            vec_length(scene->gravity) * scene->cfl * s->spacing > 0.25 * speed * speed;
        shorten(&dt, limit, travel_limit(sim, scene->cfl), falls ? "gravity" : "speed");
    }
    if (s->viscosity > 0) shorten(&dt, limit, 0.5 / s->viscous_damping, "viscosity");
    if (s->view.artificial > 0)
        shorten(&dt, limit, 0.5 / s->artificial_damping, "artificial viscosity");
    if (s->tension > 0)
        shorten(&dt, limit, 0.4 * sqrt(s->rest_density * l * l * l / (2 * pi * s->tension)),
                "surface tension");
    return dt;
}

/* A step that the scene has fixed: the first limit that it breaks is what a failure is put down to.
 * */
static void watch_step(sph *s) {
    const char *limit;
    if (s->broken_limit || !(s->scene->dt > 0)) return;
    const double stable = step_limit(s->sim, &limit);
    if (s->sim->dt <= stable) return;
    s->broken_limit = limit;
    s->broken_step = stable;
}

spate_status sph_unstable(sph *s, int64_t i, const char *what) {
    char told[256];
    if (!s->broken_limit) return simulation_unstable(s->sim, i, what);
    snprintf(told, sizeof told,
             "%s; solver.dt %.3g s is longer than the limit '%s' allows, which was %.3g s", what,
             s->scene->dt, s->broken_limit, s->broken_step);
    return simulation_unstable(s->sim, i, told);
}

/* ---- A step ---------------------------------------------------------------------------------- */

void sph_over_particles(sph *s, chunk_task task) {
    parallel_for(s->threads, s->sim->particles.count, SPH_GRAIN, task, s);
}

void sph_sum(sph *s, chunk_task sum) {
    parallel_for(s->threads, s->sim->particles.count, SPH_GRAIN, sum, &s->view);
}

static spate_status lists(void *solver) {
    sph *s = solver;
    TRY(sph_lists(s));
    return sph_fluid_records(s);
}

/* wcsph's equation of state. */
static real pressure_of(const sph *s, real delta) {
    const real stiff = (real)(s->rest_density * s->sound * s->sound);
    const real p = s->options->equation == EQUATION_TAIT
                       ? stiff / s->gamma * real_expm1(s->gamma * real_log(delta))
                       : stiff * (delta - 1);
    return s->options->negative_pressure || p > 0 ? p : 0;
}

static void equation_of_state(void *data, chunk items) {
    sph *s = data;
    for (int64_t i = items.begin; i < items.end; i++) {
        s->view.fluid.position[i][3] = 1 / s->view.density[i];
        if (s->options->pressure != SPH_WCSPH) continue;
        s->sim->particles.pressure[i] = s->view.fluid.velocity[i][3] =
            pressure_of(s, s->view.density[i]);
    }
}

static spate_status density(void *solver) {
    sph *s = solver;
    const bool implicit = s->options->pressure != SPH_WCSPH;
    sph_sum(s, (implicit ? s->sums->implicit : s->sums->density)[s->kernel]);
    real most = 0;
    for (int64_t i = 0; i < s->sim->particles.count; i++)
        most = s->view.density[i] > most ? s->view.density[i] : most;
    s->memory.most_dense = (double)most;
    return SPATE_OK;
}

/* v += dt a, with what walls hold of the weight, and what XSPH takes from the neighbours. */
static void integrate_velocity(void *data, chunk items) {
    sph *s = data;
    const real dt = (real)s->sim->dt;
    for (int64_t i = items.begin; i < items.end; i++) {
        real *v = s->view.fluid.velocity[i], share = 0;
        if (s->view.hydrostatic)
            share = sph_hydrostatic_share(&s->view, (real)sph_pressure(&s->sim->particles, i));
        for (int a = 0; a < 3; a++) {
            if (s->view.hydrostatic)
                s->view.acceleration[i][a] += share * s->view.hydrostatic[i][a];
            v[a] = real_fma(dt, s->view.acceleration[i][a], v[a]);
            if (s->view.extras) v[a] += s->view.xsph[i][a];
        }
    }
}

static void gravity_alone(void *data, chunk items) {
    sph *s = data;
    for (int64_t i = items.begin; i < items.end; i++)
        for (int a = 0; a < 4; a++) s->view.acceleration[i][a] = a < 3 ? s->view.gravity[a] : 0;
}

static spate_status forces(void *solver) {
    sph *s = solver;
    const bool among =
        s->options->pressure == SPH_WCSPH || s->viscosity > 0 || s->view.artificial > 0;
    sph_over_particles(s, equation_of_state);
    if (among || s->view.extras)
        sph_sum(s, s->sums->forces[s->kernel]);
    else
        sph_over_particles(s, gravity_alone);
    if (s->surface) TRY(sph_tension_accelerate(s->surface));
    if (s->viscosity > 0 || s->view.artificial > 0) TRY(sph_react(s, REACTION_FRICTION));
    sph_over_particles(s, integrate_velocity);
    return SPATE_OK;
}

static spate_status react(void *solver) { return sph_react(solver, REACTION_PRESSURE); }

static spate_status move(void *solver) {
    sph *s = solver;
    TRY(sph_move(s));
    return sources_hold(s->sim);
}

const solver_stage sph_stages[][8] = {
    [SPH_WCSPH] = {{"neighbours", lists},
                   {"density", density},
                   {"forces", forces},
                   {"reaction", react},
                   {"move", move},
                   {NULL, NULL}},
    [SPH_DFSPH] = {{"neighbours", lists},
                   {"density", density},
                   {"divergence", sph_divergence},
                   {"forces", forces},
                   {"pressure", sph_incompressible},
                   {"reaction", react},
                   {"move", move},
                   {NULL, NULL}},
    [SPH_IISPH] = {{"neighbours", lists},
                   {"density", density},
                   {"forces", forces},
                   {"pressure", sph_incompressible},
                   {"reaction", react},
                   {"move", move},
                   {NULL, NULL}},
};

static spate_status step(spate_simulation *sim) {
    sph *s = sim->solver;
    s->view.displacement_factor = (real)(sim->dt / sim->scene->domain.dx);
    s->correction_share = (real)fmin(1, sim->dt / travel_limit(sim, sph_declaration.cfl));
    watch_step(s);
    impulses_begin_step(sim, &s->impulses);
    TRY(run_stages(sim, sph_stages[s->options->pressure]));
    s->memory.dt = sim->dt;
    return SPATE_OK;
}

/* ---- What others ask ------------------------------------------------------------------------- */

static void state(spate_simulation *sim, state_blocks *out) {
    sph *s = sim->solver;
    state_add(out, "sph memory", &s->memory, sizeof s->memory);
    impulses_state(sim, &s->impulses, "sph impulses", out);
}

/* Energy of a rest volume that has been pressed to delta, where the equation of state has one: the
 * work of p against 1 / delta. */
static double energy_of(const sph *s, double delta) {
    const double stiff = s->rest_density * s->sound * s->sound, gamma = (double)s->gamma;
    if (s->options->pressure != SPH_WCSPH) return 0;
    if (delta <= 1 && !s->options->negative_pressure) return 0;
    if (s->options->equation == EQUATION_LINEAR || gamma < 1.0001)
        return stiff * (log(delta) + 1 / delta - 1);
    return stiff / gamma * (expm1((gamma - 1) * log(delta)) / (gamma - 1) + 1 / delta - 1);
}

static void stress(const spate_simulation *sim, int64_t i, double tau[6], double *energy,
                   double *J) {
    const sph *s = sim->solver;
    const bool known = sim->step > 0 && sim->particles.density[i] > 0;
    const double delta = known ? (double)sim->particles.density[i] : 1;
    if (energy) *energy = known ? energy_of(s, delta) : 0;
    if (J) *J = 1 / delta;
    for (int c = 0; c < 6 && tau; c++)
        tau[c] = c < 3 ? -sph_pressure(&sim->particles, i) / delta : 0;
}

static void affine_moment(const spate_simulation *sim, int64_t i, double moment[3]) {
    (void)sim, (void)i;
    vec_set(moment, 0, 0, 0);
}

/* Particles of spray and surface have few neighbours, not more room. */
static double volume(const spate_simulation *sim) {
    const sph *s = sim->solver;
    double sum = 0;
    for (int64_t i = 0; i < sim->particles.count; i++)
        if (sim->particles.group[i] != GROUP_REMOVED)
            sum += s->volume / fmax(1, (double)sim->particles.density[i]);
    return sum;
}

static void numbers(spate_simulation *sim, solver_numbers *out) { out->volume = volume(sim); }

static void solved(const spate_simulation *sim, double *iterations, double *residual) {
    const sph *s = sim->solver;
    if (sim->step == 0 || s->options->pressure == SPH_WCSPH) return;
    *iterations = (double)s->memory.iterations;
    *residual = s->memory.density_error;
}

static bool has_divergence(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return s->options->pressure == SPH_DFSPH && sim->step > 0;
}

static double max_density(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return sim->step ? s->memory.most_dense * s->rest_density : NAN;
}
static double divergence_iterations(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return has_divergence(sim) ? (double)s->memory.velocity_iterations : NAN;
}
static double divergence_error(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return has_divergence(sim) ? s->memory.divergence_error : NAN;
}
static double not_converged(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return (double)s->memory.missed;
}
static double mean_neighbours(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return sim->step ? s->memory.neighbours : NAN;
}
static double list_builds(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return (double)s->memory.builds;
}
static double wall_particles(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return (double)s->boundary.particles.count;
}
static double stuck(const spate_simulation *sim) {
    const sph *s = sim->solver;
    return (double)s->memory.stuck;
}

static const solver_column columns[] = {
    {"max_density", "kg/m^3", max_density},
    {"divergence_iterations", "", divergence_iterations},
    {"divergence_error", "", divergence_error},
    {"not_converged", "", not_converged},
    {"neighbours", "", mean_neighbours},
    {"lists", "", list_builds},
    {"wall_particles", "", wall_particles},
    {"removed", "", column_removed},
    {"drained", "", column_drained},
    {"stuck", "", stuck},
    {NULL, NULL, NULL},
};

static size_t grid_bytes(const spate_simulation *sim) { return sph_records_bytes(sim->solver); }

static solver_cost cost(const spate_scene *scene) {
    (void)scene;
    return (solver_cost){.rate = {2.9e6, 1.7e6}, .bytes = {600, 1000}};
}

const solver_type solver_sph = {
    .declaration = &sph_declaration,
    .benchmarks = sph_benchmarks,
    .shift = 0,
    .fields = fields,
    .create = create,
    .free = destroy,
    .start = start,
    .step_limit = step_limit,
    .cost = cost,
    .step = step,
    .state = state,
    .stress = stress,
    .force = sph_force,
    .affine_moment = affine_moment,
    .numbers = numbers,
    .solved = solved,
    .columns = columns,
    .grid_bytes = grid_bytes,
};
