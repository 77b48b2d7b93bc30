/* spate bench: how fast the solvers are on this machine, as a table or as JSON. */
#include "options.h"
#include "terminal.h"
#include <stddef.h>
#include <string.h>

typedef struct bench_settings {
    int64_t threads, particles, rounds, dimension;
    double domain_scale;
    const char *variant, *integrator;
    bool json;
} bench_settings;

#define AT(member) .offset = offsetof(bench_settings, member)
static const option bench_options[] = {
    THREADS_OPTION("Worker threads; default: one, then two"),
    {.name = "particles",
     .type = OPTION_INTEGER,
     AT(particles),
     .argument = "N",
     .min = 1,
     .max = 1e10,
     .help = "About how many; default 1M in 3D, 250k in 2D"},
    {.name = "rounds",
     .type = OPTION_INTEGER,
     AT(rounds),
     .argument = "N",
     .min = 1,
     .max = 1000,
     .help = "The best of N rounds counts; default 3"},
    {.name = "variant",
     .type = OPTION_TEXT,
     AT(variant),
     .argument = "NAME",
     .help = "mpm: liquid, elastic, sand, clay; flip: dam, tank; sph: wcsph, dfsph; smoke: plume; "
             "default: all"},
    {.name = "integrator",
     .type = OPTION_TEXT,
     AT(integrator),
     .argument = "LIST",
     .help = "One or several, as in flip,asflip, measured in turn; of flip: transfer, of sph: "
             "pressure, of smoke: advection"},
    {.name = "dimension",
     .type = OPTION_INTEGER,
     AT(dimension),
     .argument = "N",
     .min = 2,
     .max = 3,
     .help = "2 or 3; default: both"},
    {.name = "domain-scale",
     .type = OPTION_NUMBER,
     AT(domain_scale),
     .argument = "X",
     .min = 1,
     .max = 1000,
     .help = "Edge of the domain in bodies; default 2"},
    {.name = "json", .type = OPTION_FLAG, AT(json), .help = "A list of rows for machines"},
};
#undef AT

typedef struct bench_output {
    bool json;
    int rows;
} bench_output;

static void print_json_row(const spate_bench_row *r, bool first) {
    fputs(first ? "[\n  {\"name\": " : ",\n  {\"name\": ", stdout);
    print_json_text(stdout, r->name);
    fputs(", \"solver\": ", stdout);
    print_json_text(stdout, r->solver);
    printf(", \"dimension\": %d, \"variant\": ", r->dimension);
    print_json_text(stdout, r->variant);
    fputs(", \"integrator\": ", stdout);
    print_json_text(stdout, r->integrator);
    printf(", \"particles\": %lld, \"cells\": %lld, \"threads\": %d, \"steps\": %lld, "
           "\"seconds\": %.6g, \"particle_steps_per_second\": %.6g, \"bytes_per_particle\": %.6g, ",
           (long long)r->particles, (long long)r->cells, r->threads, (long long)r->steps,
           r->seconds, r->particle_steps_per_second, r->bytes_per_particle);
    if (r->bandwidth_share >= 0)
        printf("\"bandwidth_share\": %.4g, ", r->bandwidth_share);
    else
        fputs("\"bandwidth_share\": null, ", stdout);
    fputs("\"phases\": {", stdout);
    for (int i = 0; i < r->phase_count; i++) {
        if (i) fputs(", ", stdout);
        print_json_text(stdout, r->phases[i].name);
        printf(": %.6g", r->phases[i].seconds);
    }
    fputs("}}", stdout);
}

static void print_table_row(const spate_bench_row *r, bool first) {
    char particles[SHORT_TEXT], pace[SHORT_TEXT], each[SHORT_TEXT], share[SHORT_TEXT] = "-";
    if (first)
        printf("%-6s %-9s %-8s %3s %9s %7s %10s %10s %10s %6s  %s\n", "solver", "variant", "scheme",
               "dim", "particles", "threads", "p-steps/s", "per thread", "bytes/part", "bandw.",
               "share of phases");
    if (r->bandwidth_share >= 0) snprintf(share, sizeof share, "%.0f %%", 100 * r->bandwidth_share);
    printf("%-6s %-9s %-8s %2dD %9s %7d %10s %10s %10.0f %6s ", r->solver, r->variant,
           r->integrator, r->dimension, short_count((double)r->particles, particles), r->threads,
           short_count(r->particle_steps_per_second, pace),
           short_count(r->particle_steps_per_second / r->threads, each), r->bytes_per_particle,
           share);
    double sum = 0;
    for (int i = 0; i < r->phase_count; i++) sum += r->phases[i].seconds;
    for (int i = 0; i < r->phase_count && sum > 0; i++)
        printf(" %s %.0f%%", r->phases[i].name, 100 * r->phases[i].seconds / sum);
    putchar('\n');
}

static void print_row(const spate_bench_row *row, void *user) {
    bench_output *output = user;
    if (output->json)
        print_json_row(row, output->rows == 0);
    else
        print_table_row(row, output->rows == 0);
    fflush(stdout);
    output->rows++;
}

static int run_bench(const command *self, int argc, char **argv) {
    bench_settings settings = {0};
    arguments args;
    int exit_code;
    if (!options_read(self, argc, argv, &settings, &args, &exit_code)) return exit_code;
    spate_context *ctx;
    spate_status status = session_open(settings.threads, settings.json, &ctx);
    if (status) return status;
    bench_output output = {.json = settings.json};
    spate_bench_options options = spate_default_bench_options();
    const char *what = args.count ? args.items[0] : NULL;
    if (what && (strchr(what, '/') || strstr(what, ".yaml")))
        options.scene = what;
    else
        options.name = what;
    options.integrator = settings.integrator;
    options.particles = settings.particles;
    options.threads = (int)settings.threads;
    if (settings.rounds) options.rounds = (int)settings.rounds;
    options.variant = settings.variant;
    options.dimension = (int)settings.dimension;
    if (settings.domain_scale > 0) options.domain_scale = settings.domain_scale;
    options.row = print_row;
    options.user = &output;
    status = spate_bench(ctx, &options);
    if (settings.json) puts(output.rows ? "\n]" : "[]");
    report_failure(ctx, status);
    spate_close(ctx);
    return status;
}

const command command_bench = {
    .name = "bench",
    .synopsis = "[NAME | SCENE]",
    .summary = "Benchmarks: particle-steps a second, phases, memory",
    .options = bench_options,
    .option_count = COUNT_OF(bench_options),
    .arguments_max = 1,
    .run = run_bench,
};
