/* Interface of the projection: what is done, in order. */
#include "solver/pressure/system.h"

pressure_options pressure_defaults(void) {
    return (pressure_options){.method = PRESSURE_MULTIGRID,
                              .tolerance = 1e-6,
                              .max_iterations = 200,
                              .second_order = true};
}

ISA_TABLES(pressure_passes, pressure_passes);

spate_status pressure_create(spate_context *ctx, pressure **out) {
    *out = NULL;
    pressure *p = take(ctx, 1, sizeof *p);
    if (!p) return SPATE_OUT_OF_MEMORY;
    p->ctx = ctx;
    p->passes = ISA_CHOOSE(pressure_passes, ctx->isa);
    p->zeros = take(ctx, BRICK_CELLS_MAX, sizeof *p->zeros);
    p->ones = take(ctx, BRICK_CELLS_MAX, sizeof *p->ones);
    if (!p->zeros || !p->ones) {
        pressure_free(p);
        return SPATE_OUT_OF_MEMORY;
    }
    for (int c = 0; c < BRICK_CELLS_MAX; c++) p->ones[c] = 1;
    *out = p;
    return SPATE_OK;
}

void pressure_free(pressure *p) {
    if (!p) return;
    spate_context *ctx = p->ctx;
    system_free(p);
    pockets_free(p);
    mic_free(p);
    give(ctx, p->zeros), give(ctx, p->ones);
    give(ctx, p);
}

size_t pressure_bytes(const pressure *p) {
    return system_bytes(p) + pockets_bytes(p) + mic_bytes(p);
}

/* Solves what has been assembled. */
static spate_status solve(pressure *p, mac *m, const pressure_options *options,
                          pressure_report *report) {
    *report = (pressure_report){.converged = true,
                                .unknowns = p->levels[0].unknowns,
                                .pockets = p->pockets.count,
                                .incompatible = pockets_remove_means(p, p->rhs)};
    if (options->method == PRESSURE_MIC)
        TRY(mic_solve(p, options, report));
    else
        TRY(multigrid_solve(p, options, report));
    pockets_remove_means(p, p->x);
    pass(p, p->passes->store_pressure, m->bricks.count, &(pass_data){.p = p, .m = m});
    return SPATE_OK;
}

spate_status pressure_solve(pressure *p, mac *m, const double *rhs, const pressure_options *options,
                            pressure_report *report) {
    TRY(system_assemble(p, m, options, rhs));
    TRY(pockets_find(p));
    return solve(p, m, options, report);
}

static double largest_divergence(pressure *p, mac *m) {
    level *l = &p->levels[0];
    pass(p, p->passes->largest_divergence, l->count, &(pass_data){.p = p, .m = m, .fine = l});
    double most = 0;
    for (int32_t b = 0; b < l->count; b++)
        if (!(p->largest[b] <= most)) most = p->largest[b];
    return most;
}

void pressure_accelerate(pressure *p, mac *m, const pressure_options *options) {
    pass(p, p->passes->correct, m->bricks.count,
         &(pass_data){.p = p, .m = m, .second_order = options->second_order});
}

spate_status pressure_project(pressure *p, mac *m, const pressure_options *options,
                              pressure_report *report) {
    TRY(pressure_solve(p, m, NULL, options, report));
    pressure_accelerate(p, m, options);
    report->divergence = largest_divergence(p, m);
    return SPATE_OK;
}

spate_status pressure_project_again(pressure *p, mac *m, const pressure_options *options,
                                    pressure_report *report) {
    level *l = &p->levels[0];
    pass(p, p->passes->right_side, l->count, &(pass_data){.p = p, .m = m, .fine = l});
    TRY(solve(p, m, options, report));
    pressure_accelerate(p, m, options);
    return SPATE_OK;
}
