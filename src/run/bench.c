/*
 * Benchmarks, stepped with everything a run does but the writing of files; the best of several
 * rounds counts.
 *   mpm          a block of material in a domain of `domain_scale` blocks' edges, thrown so that it
 *                is sorted every dozen steps
 *   flip, dam    a dam of 0.4 x 0.6 in a unit square or cube, 100 cells along an edge by default
 *   flip, tank   a full tank with a post in it, 128 cells along an edge, one particle a cell: a
 *                closed pocket, for the pressure
 *   sph          a column of 1 m^3, 117,649 particles by default, falls in a tank of
 *                3.2 x 2 x 1.06 m; support of 2 spacings
 *   smoke        a plume in a closed box, 128 cells along an edge by default; --particles says
 *                cells
 *   or a scene of the user's
 */
#include "core/text.h"
#include "core/threads.h"
#include "solver/solver.h"

#include <stdio.h>

spate_bench_options spate_default_bench_options(void) {
    return (spate_bench_options){.rounds = 3, .domain_scale = 2};
}

/* ---- Memory bandwidth ------------------------------------------------------------------------ */

enum { COPY_BYTES = 256 << 20, COPY_GRAIN = 1 << 20 };

static void copy_chunk(void *data, chunk items) {
    char *memory = data;
    memcpy(memory + COPY_BYTES / 2 + items.begin, memory + items.begin,
           (size_t)(items.end - items.begin));
}

/* Bytes a second that a plain copy reads and writes with the context's threads. */
static double copy_bandwidth(spate_context *ctx) {
    char *memory = take(ctx, COPY_BYTES, 1);
    if (!memory) return -1;
    double best = 0;
    for (int round = 0; round < 5; round++) {
        double start = phase_start();
        parallel_for(ctx->pool, COPY_BYTES / 2, COPY_GRAIN, copy_chunk, memory);
        best = fmax(best, COPY_BYTES / (phase_start() - start));
    }
    give(ctx, memory);
    return best;
}

/* What a step must move at the least: the scatter reads a particle, the gather reads and writes it,
 * and the grids are written and read once each. */
static double bytes_of_step(const spate_simulation *sim) {
    double particle = 0;
    for (int f = 0; f < PARTICLE_FIELD_COUNT; f++)
        if (sim->particles.fields & 1u << f && f != PARTICLE_id)
            particle += (double)particle_fields[f].bytes * particle_fields[f].planes;
    return particle * 3 * (double)sim->particles.count + 2 * (double)sim->type->grid_bytes(sim);
}

enum { NAME_MAX_LENGTH = 32 };

/* ---- Cases ----------------------------------------------------------------------------------- */

typedef struct bench_case bench_case;
struct bench_case {
    const char *name; /* of the benchmark, which is the solver's */
    const char *variant;
    const char *material; /* YAML of the material */
    const char *scheme; /* the solver's, unless another is asked for (solver_declaration.scheme) */
    int dim;
    void (*write)(text *t, const bench_case *c,
                  const spate_bench_options *o); /* domain, bodies ... */
    const char *options; /* YAML of the solver's other options, each after a comma */
};

#define LIQUID_YAML  "{model: liquid, density: 1000, bulk_modulus: 1.0e5}"
#define WATER_YAML   "{model: liquid, density: 1000, bulk_modulus: 3.0e5}"
#define GAS_YAML     "{model: gas, temperature: 100}"
#define ELASTIC_YAML "{model: neo_hookean, density: 1000, young_modulus: 1.0e5, poisson: 0.3}"
#define SAND_YAML \
    "{model: sand, density: 1000, young_modulus: 1.0e5, poisson: 0.3, friction_angle: 30}"
#define CLAY_YAML                                                                           \
    "{model: clay, density: 1000, young_modulus: 1.0e5, poisson: 0.3, friction_angle: 45, " \
    "chi: 2, xi: 1, alpha_h: -0.05}"

/* Edge of the domain in cells for about `wanted` particles, where cells hold this many on
 * average. */
static double cells_along(double wanted, double per_cell, int dim) {
    return fmax(8, round(pow(wanted / per_cell, 1.0 / dim)));
}

static void write_dam(text *t, const bench_case *c, const spate_bench_options *o) {
    const char *more = c->dim == 2 ? "" : ", 1";
    double wanted = o->particles > 0 ? (double)o->particles : c->dim == 2 ? 960e3 : 1.92e6;
    double cells = cells_along(wanted, 0.24 * (c->dim == 2 ? 4 : 8), c->dim);
    text_add(t, "domain: {size: [1, 1%s], dx: %.17g}\n", more, 1 / cells);
    text_add(t,
             "bodies: [{material: m, sampling: regular, shape: {box: {min: [0, 0%s], max: [0.4, "
             "0.6%s]}}}]\n",
             c->dim == 2 ? "" : ", 0", more);
}

static void write_tank(text *t, const bench_case *c, const spate_bench_options *o) {
    (void)c;
    double cells = cells_along(o->particles > 0 ? (double)o->particles : 128.0 * 128 * 128, 1, 3);
    text_add(t, "domain: {size: [1, 1, 1], dx: %.17g}\n", 1 / cells);
    text_add(t, "bodies: [{material: m, sampling: regular, particles_per_cell: 1, velocity: [1, 0, "
                "0], shape: "
                "{difference: [{box: {min: [0, 0, 0], max: [1, 1, 1]}}, {cylinder: {from: [0.4, "
                "-1, 0.5], to: [0.4, 2, 0.5], radius: 0.1}}]}}]\n"
                "colliders: [{name: post, shape: {cylinder: {from: [0.4, -1, 0.5], to: [0.4, 2, "
                "0.5], radius: 0.1}}}]\n");
}

/* A particle to 1/49 m, eight to a cell. */
static void write_column(text *t, const bench_case *c, const spate_bench_options *o) {
    (void)c;
    double edge = round(cbrt(o->particles > 0 ? (double)o->particles : 117649)), dx = 2 / edge;
    text_add(t, "domain: {size: [%.17g, %.17g, %.17g], dx: %.17g}\n", round(3.2 / dx) * dx,
             round(2 / dx) * dx, ceil(1.04 / dx) * dx, dx);
    text_add(t, "bodies: [{material: m, sampling: regular, shape: {box: {min: [0, 0, 0], max: [1, "
                "1, 1]}}}]\n");
}

static void write_plume(text *t, const bench_case *c, const spate_bench_options *o) {
    const char *more = c->dim == 2 ? "" : ", 1", *middle = c->dim == 2 ? "" : ", 0.5";
    double wanted = o->particles > 0 ? (double)o->particles : c->dim == 2 ? 512.0 * 512 : 2097152;
    text_add(t, "domain: {size: [1, 1%s], dx: %.17g}\n", more, 1 / cells_along(wanted, 1, c->dim));
    text_add(t,
             "sources: [{material: m, velocity: [0, 1%s], shape: {sphere: {center: [0.5, 0.15%s], "
             "radius: 0.08}}}]\n",
             c->dim == 2 ? "" : ", 0", middle);
    text_add(t, "colliders: [{shape: {sphere: {center: [0.55, 0.5%s], radius: 0.1}}}]\n", middle);
}

static void write_block(text *t, const bench_case *c, const spate_bench_options *o) {
    double per_cell = c->dim == 2 ? 4 : 8;
    double wanted = o->particles > 0 ? (double)o->particles : c->dim == 2 ? 250e3 : 1e6;
    double cells = fmax(4, round(pow(wanted / per_cell, 1.0 / c->dim)));
    double size = fmax(1.5, o->domain_scale);
    /* Whole cells, and the body a quarter of its edge from the side. */
    size = ceil(size * cells) / cells;
    double low = floor(0.25 * cells) / cells, high = low + 1;
    if (c->dim == 2) {
        text_add(t, "domain: {size: [%.12g, %.12g], dx: %.17g}\n", size, size, 1 / cells);
        text_add(t,
                 "bodies: [{material: m, sampling: regular, velocity: [2, 1], shape: {box: {min: "
                 "[%.17g, 0], max: "
                 "[%.17g, 1]}}}]\n",
                 low, high);
    } else {
        text_add(t, "domain: {size: [%.12g, %.12g, %.12g], dx: %.17g}\n", size, size, size,
                 1 / cells);
        text_add(t,
                 "bodies: [{material: m, sampling: regular, velocity: [2, 1, 1], shape: {box: "
                 "{min: [%.17g, 0, "
                 "%.17g], max: [%.17g, 1, "
                 "%.17g]}}}]\n",
                 low, low, high, high);
    }
}

/* The errors that dfsph is allowed are those of other tools' measurements: density 0.05 %,
 * divergence 0.1 %. */
#define SPH_YAML ", support: 2, tolerance: 5.0e-4, divergence_tolerance: 1.0e-3"

static const bench_case bench_cases[] = {
    {"mpm", "liquid", LIQUID_YAML, "apic", 3, write_block, ""},
    {"mpm", "elastic", ELASTIC_YAML, "apic", 3, write_block, ""},
    {"mpm", "sand", SAND_YAML, "asflip", 3, write_block, ""},
    {"mpm", "clay", CLAY_YAML, "asflip", 3, write_block, ""},
    {"mpm", "liquid", LIQUID_YAML, "apic", 2, write_block, ""},
    {"mpm", "elastic", ELASTIC_YAML, "apic", 2, write_block, ""},
    {"mpm", "sand", SAND_YAML, "asflip", 2, write_block, ""},
    {"mpm", "clay", CLAY_YAML, "asflip", 2, write_block, ""},
    {"flip", "dam", LIQUID_YAML, "flip", 3, write_dam, ""},
    {"flip", "tank", LIQUID_YAML, "flip", 3, write_tank, ""},
    {"flip", "dam", LIQUID_YAML, "flip", 2, write_dam, ""},
    {"sph", "wcsph", WATER_YAML, "wcsph", 3, write_column, SPH_YAML},
    {"sph", "dfsph", WATER_YAML, "dfsph", 3, write_column, SPH_YAML},
    {"smoke", "plume", GAS_YAML, "linear", 3, write_plume, ""},
    {"smoke", "plume", GAS_YAML, "linear", 2, write_plume, ""},
};

/* The field that --integrator sets. */
static const char *scheme_option(const char *solver) {
    int i = 0;
    while (strcmp(spate_registry.solvers[i]->name, solver) != 0) i++;
    return spate_registry.solvers[i]->scheme;
}

static spate_status make_scene(spate_context *ctx, const bench_case *c, const char *scheme,
                               const spate_bench_options *o, spate_scene **scene) {
    text t = {.ctx = ctx};
    text_add(&t, "spate: 1\nname: bench\ndimension: %d\nduration: 1000\nfps: 0.001\n", c->dim);
    text_add(&t, "materials: {m: %s}\nsolver: {type: %s, %s: %s%s}\n", c->material, c->name,
             scheme_option(c->name), scheme, c->options);
    c->write(&t, c, o);
    spate_status status =
        t.failed ? SPATE_OUT_OF_MEMORY
                 : spate_scene_parse(ctx, t.data, t.length, "bench", ".", NULL, 0, scene);
    text_free(&t);
    return status;
}

/* A scene of the user's, with another scheme where one is asked for. */
static spate_status load_scene(spate_context *ctx, const char *path, const char *scheme,
                               spate_scene **scene) {
    char set[NAME_MAX_LENGTH + 32];
    const char *overrides[] = {set};
    TRY(spate_scene_load(ctx, path, NULL, 0, scene));
    if (!scheme[0]) return SPATE_OK;
    snprintf(set, sizeof set, "solver.%.20s=%.31s", (*scene)->solver->scheme, scheme);
    spate_scene_free(*scene);
    *scene = NULL;
    return spate_scene_load(ctx, path, overrides, 1, scene);
}

/* ---- Measuring ------------------------------------------------------------------------------- */

enum { CONTESTANTS_MAX = 16 };

/* One simulation of a case: those of several integrators are stepped in turn, round by round, so
 * that what else the machine does touches all of them alike. */
typedef struct contestant {
    char scheme[NAME_MAX_LENGTH]; /* "": the scene's own */
    spate_scene *scene;
    spate_simulation *sim;
    size_t bytes;
    int64_t steps;
    double seconds; /* of the best round */
    phase phases[PHASES_MAX];
    int phase_count;
} contestant;

static spate_status run_steps(spate_simulation *sim, int64_t steps) {
    for (int64_t i = 0; i < steps; i++) TRY(spate_simulation_step(sim, 1e9));
    return SPATE_OK;
}

static spate_status contestant_open(spate_context *ctx, const bench_case *c, contestant *one,
                                    const spate_bench_options *o) {
    size_t before = ctx->bytes_now;
    if (o->scene)
        TRY(load_scene(ctx, o->scene, one->scheme, &one->scene));
    else
        TRY(make_scene(ctx, c, one->scheme[0] ? one->scheme : c->scheme, o, &one->scene));
    TRY(spate_simulation_create(one->scene, &one->sim));
    TRY(run_steps(one->sim, 3));
    double start = phase_start();
    TRY(run_steps(one->sim, 3));
    double a_step = (phase_start() - start) / 3;
    const double least = o->scene || c->write != write_block ? 10 : 60; /* it is to be sorted too */
    one->steps = (int64_t)fmax(least, fmin(2000, 1.0 / a_step));
    one->bytes = ctx->bytes_now - before;
    return SPATE_OK;
}

static spate_status contestant_round(contestant *one) {
    one->sim->phase_count = 0;
    double start = phase_start();
    TRY(run_steps(one->sim, one->steps));
    double seconds = phase_start() - start;
    if (one->seconds > 0 && seconds >= one->seconds) return SPATE_OK;
    one->seconds = seconds;
    one->phase_count = one->sim->phase_count;
    memcpy(one->phases, one->sim->phases, sizeof one->phases);
    return SPATE_OK;
}

static void contestant_report(const contestant *one, const bench_case *c,
                              const spate_bench_options *o, double bandwidth) {
    const spate_simulation *sim = one->sim;
    spate_bench_phase shown[PHASES_MAX];
    /* What a solver on a grid has instead of particles are its cells. */
    double cells = 1, count = (double)sim->particles.count;
    for (int a = 0; a < one->scene->dim; a++) cells *= one->scene->domain.cells[a];
    const solver_declaration *solver = one->scene->solver;
    if (solver->on_grid) count = cells;
    spate_bench_row row = {
        .name = o->scene ? "scene" : c->name,
        .solver = solver->name,
        .variant = o->scene ? one->scene->name : c->variant,
        .integrator = one->scheme[0] ? one->scheme
                      : o->scene     ? ""
                                     : c->scheme,
        .dimension = one->scene->dim,
        .threads = pool_size(sim->ctx->pool),
        .particles = sim->particles.count,
        .cells = (int64_t)cells,
        .steps = one->steps,
        .seconds = one->seconds,
        .particle_steps_per_second = count * (double)one->steps / one->seconds,
        .bytes_per_particle = (double)one->bytes / count,
        .phases = shown,
        .phase_count = one->phase_count,
    };
    for (int i = 0; i < row.phase_count; i++)
        shown[i] = (spate_bench_phase){one->phases[i].name, one->phases[i].seconds};
    double moved = bytes_of_step(sim) * (double)row.steps / row.seconds;
    row.bandwidth_share = bandwidth > 0 ? moved / bandwidth : -1;
    if (o->row) o->row(&row, o->user);
}

/* The integrators of a list with commas; one that is "" without a list. */
static int split_names(const char *list, contestant *all) {
    int count = 0;
    do {
        size_t length = list ? strcspn(list, ",") : 0;
        if (length >= NAME_MAX_LENGTH || count == CONTESTANTS_MAX) return -1;
        if (length) memcpy(all[count].scheme, list, length);
        count++;
        list = list && list[length] ? list + length + 1 : NULL;
    } while (list);
    return count;
}

static spate_status bench_case_run(spate_context *ctx, const bench_case *c,
                                   const spate_bench_options *o) {
    contestant all[CONTESTANTS_MAX] = {0};
    spate_status status = SPATE_OK;
    int count = split_names(o->integrator, all);
    if (count < 0) return fail(ctx, SPATE_BAD_INPUT, "the list of integrators is too long");
    for (int k = 0; k < count; k++) TRY_OR_DONE(status, contestant_open(ctx, c, &all[k], o));
    for (int round = 0; round < (o->rounds > 0 ? o->rounds : 1); round++)
        for (int k = 0; k < count; k++) TRY_OR_DONE(status, contestant_round(&all[k]));
    double bandwidth = copy_bandwidth(ctx);
    for (int k = 0; k < count; k++) contestant_report(&all[k], c, o, bandwidth);
done:
    for (int k = 0; k < count; k++) {
        spate_simulation_free(all[k].sim);
        spate_scene_free(all[k].scene);
    }
    return status;
}

/* The cases that were asked for, in a context of its own with this many threads. */
static spate_status bench_threads(spate_context *outer, int threads, const spate_bench_options *o) {
    spate_config config = outer->config;
    config.threads = threads;
    spate_context *ctx;
    spate_status status = spate_open(&config, &ctx);
    if (status) return fail(outer, status, "no memory for another context");
    if (o->scene) status = bench_case_run(ctx, NULL, o);
    for (int i = 0; i < COUNT_OF(bench_cases) && !status && !o->scene; i++) {
        const bench_case *c = &bench_cases[i];
        if (o->name && strcmp(o->name, c->name) != 0) continue;
        if (o->variant && strcmp(o->variant, c->variant) != 0) continue;
        if (o->dimension && o->dimension != c->dim) continue;
        status = bench_case_run(ctx, c, o);
    }
    if (status) fail(outer, status, "%s", spate_message(ctx));
    spate_close(ctx);
    return status;
}

spate_status spate_bench(spate_context *ctx, const spate_bench_options *options) {
    spate_bench_options o = options ? *options : spate_default_bench_options();
    bool has_name = !o.name, has_variant = !o.variant;
    for (int i = 0; i < COUNT_OF(bench_cases); i++) {
        const bench_case *c = &bench_cases[i];
        bool named = !o.name || !strcmp(o.name, c->name);
        has_name |= named;
        has_variant |= named && o.variant && !strcmp(o.variant, c->variant);
    }
    if (!has_name)
        return fail(
            ctx, SPATE_BAD_INPUT,
            "there is no benchmark '%s'; known: mpm, flip, sph, smoke, or give a scene file",
            o.name);
    if (!has_variant)
        return fail(
            ctx, SPATE_BAD_INPUT,
            "there is no variant '%s'%s%s; known: liquid, elastic, sand, clay of mpm, dam, tank "
            "of flip, wcsph, dfsph of sph, plume of smoke",
            o.variant, o.name ? " of " : "", o.name ? o.name : "");
    if (o.dimension && o.dimension != 2 && o.dimension != 3)
        return fail(ctx, SPATE_BAD_INPUT, "dimension is %d; give 2 or 3", o.dimension);
    if (o.threads > 0) return bench_threads(ctx, o.threads, &o);
    TRY(bench_threads(ctx, 1, &o));
    return bench_threads(ctx, 2, &o);
}
