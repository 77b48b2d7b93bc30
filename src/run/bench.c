/*
 * Benchmarks, stepped with everything a run does but the writing of files; the best of several
 * rounds counts. Each solver declares its own (src/solver/NAME/benchmarks.c), or a scene of the
 * user's is taken.
 */
#include "core/cookie.h"
#include "core/text.h"
#include "core/threads.h"
#include "solver/benchmark.h"
#include "solver/solver.h"

#include <stdio.h>

spate_bench_options spate_default_bench_options(void) {
    return (spate_bench_options){.cookie = COOKIE_BENCH, .rounds = 3, .domain_scale = 2};
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

/* A benchmark and whose it is. */
typedef struct bench_case {
    const solver_declaration *solver;
    const benchmark *benchmark;
} bench_case;

enum { CASES_MAX = 64 };

static int list_cases(bench_case *cases) {
    int count = 0;
    for (int s = 0; s < solver_type_count; s++)
        for (const benchmark *b = solver_types[s]->benchmarks(); b->variant && count < CASES_MAX;
             b++)
            cases[count++] = (bench_case){solver_types[s]->declaration, b};
    return count;
}

static bool is_asked_for(const bench_case *c, const spate_bench_options *o) {
    return (!o->name || !strcmp(o->name, c->solver->name)) &&
           (!o->variant || !strcmp(o->variant, c->benchmark->variant)) &&
           (!o->dimension || o->dimension == c->benchmark->dim);
}

static spate_status make_scene(spate_context *ctx, const bench_case *c, const char *scheme,
                               const spate_bench_options *o, spate_scene **scene) {
    text t = {.ctx = ctx};
    const benchmark *b = c->benchmark;
    text_add(&t, "spate: 1\nname: bench\ndimension: %d\nduration: 1000\nfps: 0.001\n", b->dim);
    text_add(&t, "materials: {m: %s}\nsolver: {type: %s, %s: %s%s}\n", b->material, c->solver->name,
             c->solver->scheme, scheme, b->options);
    b->write(&t, b, o);
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
        TRY(make_scene(ctx, c, one->scheme[0] ? one->scheme : c->benchmark->scheme, o,
                       &one->scene));
    TRY(spate_simulation_create(one->scene, &one->sim));
    TRY(run_steps(one->sim, 3));
    double start = phase_start();
    TRY(run_steps(one->sim, 3));
    double a_step = (phase_start() - start) / 3;
    const double least = o->scene ? BENCHMARK_STEPS : c->benchmark->least_steps;
    one->steps = (int64_t)fmax(least, fmin(2000, 1.0 / a_step));
    if (!o->scene && c->benchmark->steps) one->steps = c->benchmark->steps;
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
        .name = o->scene ? "scene" : c->solver->name,
        .solver = solver->name,
        .variant = o->scene ? one->scene->name : c->benchmark->variant,
        .integrator = one->scheme[0] ? one->scheme
                      : o->scene     ? ""
                                     : c->benchmark->scheme,
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
    bench_case cases[CASES_MAX];
    const int count = o->scene ? 0 : list_cases(cases);
    for (int i = 0; i < count && !status; i++)
        if (is_asked_for(&cases[i], o)) status = bench_case_run(ctx, &cases[i], o);
    if (status) fail(outer, status, "%s", spate_message(ctx));
    spate_close(ctx);
    return status;
}

static spate_status fail_unknown_name(spate_context *ctx, const char *name) {
    name_text known = {0};
    for (int s = 0; s < solver_type_count; s++)
        name_add(&known, ", ", solver_types[s]->declaration->name);
    return fail(ctx, SPATE_BAD_INPUT, "there is no benchmark '%s'; known: %s, or give a scene file",
                name, known.text);
}

/* "dam, tank of flip" */
static name_text variants_of(const solver_type *type) {
    name_text names = {0};
    for (const benchmark *b = type->benchmarks(); b->variant; b++) {
        bool again = false;
        for (const benchmark *o = type->benchmarks(); o < b; o++)
            again |= !strcmp(o->variant, b->variant);
        if (!again) name_add(&names, ", ", b->variant);
    }
    name_add(&names, " of ", type->declaration->name);
    return names;
}

static spate_status fail_unknown_variant(spate_context *ctx, const spate_bench_options *o) {
    name_text known = {0};
    for (int s = 0; s < solver_type_count; s++)
        name_add(&known, ", ", variants_of(solver_types[s]).text);
    return fail(ctx, SPATE_BAD_INPUT, "there is no variant '%s'%s%s; known: %s", o->variant,
                o->name ? " of " : "", o->name ? o->name : "", known.text);
}

spate_status spate_bench(spate_context *ctx, const spate_bench_options *options) {
    spate_bench_options o = options ? *options : spate_default_bench_options();
    TRY(cookie_check(ctx, o.cookie, COOKIE_BENCH, "bench_options"));
    bench_case cases[CASES_MAX];
    bool has_name = !o.name, has_variant = !o.variant;
    for (int i = list_cases(cases) - 1; i >= 0; i--) {
        bool named = !o.name || !strcmp(o.name, cases[i].solver->name);
        has_name |= named;
        has_variant |= named && o.variant && !strcmp(o.variant, cases[i].benchmark->variant);
    }
    if (!has_name) return fail_unknown_name(ctx, o.name);
    if (!has_variant) return fail_unknown_variant(ctx, &o);
    if (o.dimension && o.dimension != 2 && o.dimension != 3)
        return fail(ctx, SPATE_BAD_INPUT, "dimension is %d; give 2 or 3", o.dimension);
    if (o.threads > 0) return bench_threads(ctx, o.threads, &o);
    TRY(bench_threads(ctx, 1, &o));
    return bench_threads(ctx, 2, &o);
}
