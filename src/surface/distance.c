/*
 * Values of lattice points by three methods (surface_kernels.c); and velocities.
 *
 * Isotropic: the smooth distance of Zhu and Bridson 2005, "Animating sand as a fluid", section 5:
 * the distance from a point to the weighted mean of the particles around it, less a radius. Two
 * changes. The radius is such that a flat surface lies where the liquid ends, and so the volume is
 * right (lattice.c). And a point far from every particle is outside, whatever the mean: between
 * two sheets the mean would be in the gap.
 *
 * Anisotropic and sheets: the ellipsoids of shapes.h, summed or the nearest.
 */
#include "core/threads.h"
#include "surface/lattice.h"
#include "surface/shapes.h"
#include <math.h>

enum { MEASURE_GRAIN = 4 };

spate_status lattice_measure(lattice *l) {
    const surface_kernels *kernels = ISA_CHOOSE(surface_kernels, l->ctx->isa);
    measure_job job = {.l = l};
    if (l->method != SURFACE_ISOTROPIC) {
        job.profile = flat_profile_create(l->method, l->dim, (double)l->spacing);
        TRY(shapes_create(&job));
    }
    job.sums = take(l->ctx, (size_t)pool_size(l->ctx->pool), sizeof *job.sums);
    if (!job.sums) return SPATE_OUT_OF_MEMORY;
    parallel_for(l->ctx->pool, l->bricks.count, MEASURE_GRAIN, kernels->measure[l->method], &job);
    give(l->ctx, job.sums);
    lattice_mark_inside(l);
    return SPATE_OK;
}

/* ---- Velocity -------------------------------------------------------------------------------- */

/* Adds weight * velocity and weight of the particles nearer to x than `reach`. */
static void add_velocity(const lattice *l, int64_t brick, const surface_particle *particles,
                         const real x[3], real reach, double sum[4]) {
    int low[3], high[3], c[3];
    for (int a = 0; a < 3; a++) {
        real local = x[a] - (real)lattice_point(l, brick, a, 0);
        low[a] = (int)floor((double)(local - reach) / CELL_POINTS);
        high[a] = (int)floor((double)(local + reach) / CELL_POINTS);
        if (low[a] < -CELL_EDGE) low[a] = -CELL_EDGE;
        if (high[a] > 2 * CELL_EDGE - 1) high[a] = 2 * CELL_EDGE - 1;
    }
    for (c[2] = low[2]; c[2] <= high[2]; c[2]++)
        for (c[1] = low[1]; c[1] <= high[1]; c[1]++)
            for (c[0] = low[0]; c[0] <= high[0]; c[0]++) {
                const int32_t other = l->bricks.neighbours[brick][lattice_code(CELL_EDGE, c)];
                if (other < 0) continue;
                const int64_t *first =
                    l->first + (int64_t)other * BRICK_CELLS + lattice_index(CELL_EDGE, c);
                for (int64_t i = first[0]; i < first[1]; i++) {
                    const lattice_particle *p = &l->particles[i];
                    double square = 0;
                    for (int a = 0; a < 3; a++)
                        square += (double)(p->x[a] - x[a]) * (double)(p->x[a] - x[a]);
                    double t = 1 - square / (double)(reach * reach);
                    if (t <= 0) continue;
                    for (int a = 0; a < 3; a++) sum[a] += t * t * (double)particles[p->index].v[a];
                    sum[3] += t * t;
                }
            }
}

/* Velocities are those of the nearest particles if there are any within this share of the reach. */
static const real velocity_share = (real)0.6;

void lattice_velocity(const lattice *l, int64_t brick, const surface_particle *particles,
                      const real x[3], real out[3]) {
    double sum[4] = {0};
    add_velocity(l, brick, particles, x, velocity_share * l->reach, sum);
    if (!(sum[3] > 0)) add_velocity(l, brick, particles, x, l->reach, sum);
    for (int a = 0; a < 3; a++) out[a] = sum[3] > 0 ? (real)(sum[a] / sum[3]) : 0;
}
