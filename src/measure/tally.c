#include "measure/tally.h"

enum { RANGES_A_CHUNK = 8 };

static tally tally_empty(void) {
    tally t = {0};
    for (int i = 0; i < TALLY_TOPS; i++) t.tops[i] = -HUGE_VAL;
    return t;
}

static void tally_chunk(void *data, chunk items) {
    const tally_job *job = data;
    tally t = tally_empty();
    for (int64_t k = items.begin; k < items.end; k++)
        job->visit(job, particle_range_at(job->sim, k), &t);
    job->chunks[items.begin / RANGES_A_CHUNK] = t;
}

spate_status tally_all(tally_job *job, tally *total) {
    int64_t ranges = particle_range_count(job->sim);
    int64_t chunks = (ranges + RANGES_A_CHUNK - 1) / RANGES_A_CHUNK;
    job->chunks = take(job->sim->ctx, (size_t)chunks + 1, sizeof *job->chunks);
    if (!job->chunks) return SPATE_OUT_OF_MEMORY;
    parallel_for(job->sim->ctx->pool, ranges, RANGES_A_CHUNK, tally_chunk, job);
    *total = tally_empty();
    for (int64_t c = 0; c < chunks; c++) {
        for (int i = 0; i < TALLY_SUMS; i++) total->sums[i] += job->chunks[c].sums[i];
        for (int i = 0; i < TALLY_TOPS; i++) raise_to(&total->tops[i], job->chunks[c].tops[i]);
    }
    give(job->sim->ctx, job->chunks);
    return SPATE_OK;
}

double range_middle(const spate_simulation *sim, particle_range range, double middle[3]) {
    const int dim = sim->scene->dim;
    bool seam = false;
    for (int a = 0; a < dim; a++) {
        const int period = sim->blocks.period[a];
        seam |= period && (range.coords[a] <= 0 || range.coords[a] >= period - 1);
    }
    simulation_middle(sim, range.coords, middle);
    return seam ? HUGE_VAL : simulation_reach(sim);
}
