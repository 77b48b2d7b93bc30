/*
 * Benchmarks: a block of material in a domain of `domain_scale` blocks' edges, thrown so that it is
 * sorted every dozen steps, stepped with everything a run does but the writing of files. The best of
 * several rounds counts.
 */
#include "core/text.h"
#include "core/threads.h"
#include "solver/solver.h"

spate_bench_options spate_default_bench_options(void) {
    return (spate_bench_options){.rounds = 3, .domain_scale = 2};
}

/* ---- Memory bandwidth ------------------------------------------------------------------------ */

enum { COPY_BYTES = 256 << 20, COPY_GRAIN = 1 << 20 };

static void copy_chunk(void *data, int64_t begin, int64_t end, int worker) {
    char *memory = data;
    (void)worker;
    memcpy(memory + COPY_BYTES / 2 + begin, memory + begin, (size_t)(end - begin));
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
            particle += (double)particle_fields[f].size * particle_fields[f].components;
    return particle * 3 * (double)sim->particles.count + 2 * (double)sim->type->grid_bytes(sim);
}

/* ---- One case -------------------------------------------------------------------------------- */

typedef struct bench_case {
    const char *variant;  /* "liquid", "elastic" */
    const char *material; /* YAML of the material */
    int dim;
} bench_case;

static const bench_case mpm_cases[] = {
    {"liquid", "{model: liquid, density: 1000, bulk_modulus: 1.0e5}", 3},
    {"elastic", "{model: neo_hookean, density: 1000, young_modulus: 1.0e5, poisson: 0.3}", 3},
    {"liquid", "{model: liquid, density: 1000, bulk_modulus: 1.0e5}", 2},
    {"elastic", "{model: neo_hookean, density: 1000, young_modulus: 1.0e5, poisson: 0.3}", 2},
};

static spate_status make_scene(spate_context *ctx, const bench_case *c,
                               const spate_bench_options *o, spate_scene **scene) {
    double per_cell = c->dim == 2 ? 4 : 8;
    double wanted = o->particles > 0 ? (double)o->particles : c->dim == 2 ? 250e3 : 1e6;
    double cells = fmax(4, round(pow(wanted / per_cell, 1.0 / c->dim)));
    double size = fmax(1.5, o->domain_scale);
    /* Whole cells, and the body a quarter of its edge from the side. */
    size = ceil(size * cells) / cells;
    double low = floor(0.25 * cells) / cells, high = low + 1;
    text t = {.ctx = ctx};
    text_add(&t, "spate: 1\nname: bench\ndimension: %d\nduration: 1000\nfps: 0.001\n", c->dim);
    text_add(&t, "materials: {m: %s}\n", c->material);
    if (c->dim == 2) {
        text_add(&t, "domain: {size: [%.12g, %.12g], dx: %.17g}\n", size, size, 1 / cells);
        text_add(&t,
                 "bodies: [{material: m, velocity: [2, 1], shape: {box: {min: [%.17g, 0], max: "
                 "[%.17g, 1]}}}]\n",
                 low, high);
    } else {
        text_add(&t, "domain: {size: [%.12g, %.12g, %.12g], dx: %.17g}\n", size, size, size,
                 1 / cells);
        text_add(&t,
                 "bodies: [{material: m, velocity: [2, 1, 1], shape: {box: {min: [%.17g, 0, "
                 "%.17g], max: [%.17g, 1, "
                 "%.17g]}}}]\n",
                 low, low, high, high);
    }
    spate_status status =
        t.failed ? SPATE_OUT_OF_MEMORY
                 : spate_scene_parse(ctx, t.data, t.length, "bench", ".", NULL, 0, scene);
    text_free(&t);
    return status;
}

static spate_status run_steps(spate_simulation *sim, int64_t steps) {
    for (int64_t i = 0; i < steps; i++) TRY(spate_simulation_step(sim, 1000));
    return SPATE_OK;
}

/* Rounds of the same number of steps; the quickest fills the row. */
static spate_status measure(spate_simulation *sim, int rounds, spate_bench_row *row,
                            phase *phases) {
    double start = phase_start();
    TRY(run_steps(sim, 3));
    double a_step = (phase_start() - start) / 3;
    row->steps = (int64_t)fmax(60, fmin(2000, 1.0 / a_step));
    for (int round = 0; round < rounds; round++) {
        sim->phase_count = 0;
        start = phase_start();
        TRY(run_steps(sim, row->steps));
        double seconds = phase_start() - start;
        if (round > 0 && seconds >= row->seconds) continue;
        row->seconds = seconds;
        row->phase_count = sim->phase_count;
        memcpy(phases, sim->phases, sizeof sim->phases);
    }
    return SPATE_OK;
}

static spate_status bench_case_run(spate_context *ctx, const bench_case *c,
                                   const spate_bench_options *o) {
    spate_scene *scene = NULL;
    spate_simulation *sim = NULL;
    phase phases[PHASES_MAX] = {0};
    spate_bench_phase shown[PHASES_MAX];
    size_t bytes_before = ctx->bytes_now;
    spate_status status;
    spate_bench_row row = {.name = "mpm",
                           .variant = c->variant,
                           .dimension = c->dim,
                           .threads = pool_size(ctx->pool),
                           .phases = shown};
    TRY_OR_DONE(status, make_scene(ctx, c, o, &scene));
    TRY_OR_DONE(status, spate_simulation_create(scene, &sim));
    TRY_OR_DONE(status, measure(sim, o->rounds > 0 ? o->rounds : 1, &row, phases));
    row.solver = scene->solver->name;
    row.particles = sim->particles.count;
    row.cells = 1;
    for (int a = 0; a < c->dim; a++) row.cells *= scene->domain.cells[a];
    row.particle_steps_per_second = (double)row.particles * (double)row.steps / row.seconds;
    row.bytes_per_particle = (double)(ctx->bytes_now - bytes_before) / (double)row.particles;
    for (int i = 0; i < row.phase_count; i++)
        shown[i] = (spate_bench_phase){phases[i].name, phases[i].seconds};
    double moved = bytes_of_step(sim) * (double)row.steps / row.seconds;
    spate_simulation_free(sim);
    sim = NULL;
    double bandwidth = copy_bandwidth(ctx);
    row.bandwidth_share = bandwidth > 0 ? moved / bandwidth : -1;
    if (o->row) o->row(&row, o->user);
done:
    spate_simulation_free(sim);
    spate_scene_free(scene);
    return status;
}

/* The cases that were asked for, in a context of its own with this many threads. */
static spate_status bench_threads(spate_context *outer, int threads, const spate_bench_options *o) {
    spate_config config = outer->config;
    config.threads = threads;
    spate_context *ctx;
    spate_status status = spate_open(&config, &ctx);
    if (status) return fail(outer, status, "no memory for another context");
    for (int i = 0; i < COUNT_OF(mpm_cases) && !status; i++) {
        const bench_case *c = &mpm_cases[i];
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
    if (o.name && strcmp(o.name, "mpm") != 0)
        return fail(ctx, SPATE_BAD_INPUT, "there is no benchmark '%s'; known: mpm", o.name);
    if (o.variant && strcmp(o.variant, "liquid") != 0 && strcmp(o.variant, "elastic") != 0)
        return fail(ctx, SPATE_BAD_INPUT, "mpm has no variant '%s'; known: liquid, elastic",
                    o.variant);
    if (o.dimension && o.dimension != 2 && o.dimension != 3)
        return fail(ctx, SPATE_BAD_INPUT, "dimension is %d; give 2 or 3", o.dimension);
    if (o.threads > 0) return bench_threads(ctx, o.threads, &o);
    TRY(bench_threads(ctx, 1, &o));
    return bench_threads(ctx, 2, &o);
}
