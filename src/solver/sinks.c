/*
 * Sinks. After every step the particles inside a sink are marked as removed; the next sort drops
 * them. A block that is farther from the shape than its particles can reach is passed over, and one
 * that is deeper inside than that is taken whole: time follows the shape's surface. A shape's
 * distance is never more than the true one (shape.h), so both are safe.
 */
#include "solver/sinks.h"

#include "core/vec.h"

enum { BLOCKS_A_CHUNK = 64 };

typedef struct drain_job {
    spate_simulation *sim;
    const shape *shape;
} drain_job;

/* Marks the block's particles in the shape. They lie within half a block of its middle and what
 * they have drifted since the sort, with half a cell to spare. */
static int64_t drain_block(const drain_job *job, int32_t block) {
    spate_simulation *sim = job->sim;
    const blocks *b = &sim->blocks;
    const int dim = sim->scene->dim;
    const double reach = simulation_reach(sim);
    double x[3], distance = 0;
    simulation_middle(sim, b->coords[block], x);
    if (!simulation_at_seam(sim, block)) distance = shape_distance(job->shape, dim, x);
    if (distance > reach) return 0;
    int64_t drained = 0;
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
        if (sim->particles.group[i] == GROUP_REMOVED) continue;
        if (distance >= -reach) {
            simulation_position(sim, block, i, x);
            if (!(shape_distance(job->shape, dim, x) < 0)) continue;
        }
        sim->particles.group[i] = GROUP_REMOVED;
        drained++;
    }
    return drained;
}

static void drain_chunk(void *data, chunk items, double *part) {
    const drain_job *job = data;
    for (int64_t o = items.begin; o < items.end; o++)
        part[0] += (double)drain_block(job, job->sim->blocks.occupied[o]);
}

int64_t sinks_drain(spate_simulation *sim) {
    int64_t drained = 0;
    for (int s = 0; s < sim->scene->sink_count; s++) {
        const sink *drain = &sim->scene->sinks[s];
        if (sim->time < drain->from || sim->time >= drain->until) continue;
        drain_job job = {sim, drain->shape};
        double count; /* whole numbers far below 2^53 */
        parallel_sum(sim->ctx, sim->blocks.occupied_count, BLOCKS_A_CHUNK, drain_chunk, &job, 1,
                     &count);
        drained += (int64_t)count;
    }
    sim->drained += drained;
    return drained;
}
