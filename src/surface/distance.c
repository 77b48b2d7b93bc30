/*
 * The smooth distance of Zhu and Bridson 2005, "Animating sand as a fluid", section 5: the
 * distance from a point to the weighted mean of the particles around it, less a radius. Two
 * changes. The radius is such that a flat surface lies where the liquid ends, and so the volume is
 * right (lattice.c). And a point far from every particle is outside, whatever the mean: between
 * two sheets the mean would be in the gap.
 *
 * Each brick adds up the particles around it, a row of eight points at a time, in a fixed order.
 */
#include "core/simd.h"
#include "core/threads.h"
#include "surface/lattice.h"
#include <math.h>

enum { MEASURE_GRAIN = 4, ROWS = 64 };
_Static_assert((int)BRICK_EDGE == (int)WIDE, "a row of a brick is a wide");

static const real faint = (real)1e-6;

/* Sums of a brick: weight * offset, weight, and the least squared distance. */
typedef struct brick_sums {
    wide offset[3][ROWS], weight[ROWS], nearest[ROWS];
} brick_sums;

typedef struct measure_job {
    lattice *l;
    brick_sums *sums; /* one for each worker */
} measure_job;

/* Adds a particle at x, measured from the brick's first point. */
static void add_particle(brick_sums *s, const real x[3], real reach) {
    const wide lanes = {0, 1, 2, 3, 4, 5, 6, 7}, zero = wide_splat(0), one = wide_splat(1);
    int low[3], high[3];
    for (int a = 1; a < 3; a++) {
        low[a] = (int)ceil((double)(x[a] - reach));
        high[a] = (int)floor((double)(x[a] + reach));
        if (low[a] < 0) low[a] = 0;
        if (high[a] > BRICK_EDGE - 1) high[a] = BRICK_EDGE - 1;
    }
    const wide dx = wide_splat(x[0]) - lanes, along = dx * dx;
    const wide inverse = wide_splat(1 / (reach * reach));
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++) {
            real dy = x[1] - (real)y, dz = x[2] - (real)z, across = dy * dy + dz * dz;
            if (across >= reach * reach) continue;
            int row = BRICK_EDGE * z + y;
            wide square = along + wide_splat(across), t = wide_max(one - square * inverse, zero);
            wide w = t * t * t;
            s->offset[0][row] += w * dx;
            s->offset[1][row] += w * wide_splat(dy);
            s->offset[2][row] += w * wide_splat(dz);
            s->weight[row] += w;
            s->nearest[row] = wide_min(s->nearest[row], square);
        }
}

/* Bits of the cells of a brick within `range` of c along an axis whose bits are `stride` apart. */
static uint64_t slab(int c, int range, int axis) {
    static const uint64_t unit[3] = {0x1111111111111111, 0x000f000f000f000f, 0xffff};
    static const int stride[3] = {1, 4, 16};
    uint64_t bits = 0;
    for (int k = c - range < 0 ? 0 : c - range; k <= c + range && k < 4; k++)
        bits |= unit[axis] << k * stride[axis];
    return bits;
}

/* Adds the particles of another brick, `offset` bricks away, that reach a cell of `wanted`. */
static void add_brick(const lattice *l, int64_t brick, const int offset[3], const int32_t origin[3],
                      uint64_t wanted, brick_sums *s) {
    int range = (int)ceil((double)l->reach / 2);
    uint64_t near[3][4];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 4; c++) near[a][c] = slab(4 * offset[a] + c, range, a);
    for (int cell = 0; cell < BRICK_CELLS; cell++) {
        uint64_t reached = near[0][cell & 3] & near[1][cell >> 2 & 3] & near[2][cell >> 4];
        if (!(reached & wanted)) continue;
        const int64_t *first = l->first + brick * BRICK_CELLS + cell;
        for (int64_t i = first[0]; i < first[1]; i++) {
            real x[3];
            for (int a = 0; a < 3; a++) x[a] = l->particles[i].x[a] - (real)origin[a];
            add_particle(s, x, l->reach);
        }
    }
}

static void clear_sums(brick_sums *s, real reach) {
    for (int row = 0; row < ROWS; row++) {
        for (int a = 0; a < 3; a++) s->offset[a][row] = wide_splat(0);
        s->weight[row] = wide_splat(0);
        s->nearest[row] = wide_splat(reach * reach);
    }
}

static real distance_at(const lattice *l, const brick_sums *s, int row, int lane) {
    real weight = s->weight[row][lane], square = 0, outside = l->reach - l->radius;
    if (!(weight > faint)) return outside;
    for (int a = 0; a < 3; a++) {
        real mean = s->offset[a][row][lane] / weight;
        square += mean * mean;
    }
    real value = (real)sqrt((double)square) - l->radius;
    real gap = (real)sqrt((double)s->nearest[row][lane]) - l->cut;
    value = gap > value ? gap : value;
    return value < outside ? value : outside;
}

/* Cells of a brick with points in the domain. */
static uint64_t cells_in_domain(const lattice *l, const int32_t origin[3]) {
    uint64_t bits = ~UINT64_C(0);
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 4; c++)
            if (origin[a] + 2 * c + 1 < 0 || origin[a] + 2 * c > l->last[a]) bits &= ~slab(c, 0, a);
    return bits;
}

static void fill_values(lattice *l, int64_t brick, const int32_t origin[3], const brick_sums *s) {
    for (int i = 0; i < BRICK_POINTS; i++) {
        int x = i & 7, y = i >> 3 & 7, z = i >> 6;
        int32_t point[3] = {origin[0] + x, origin[1] + y, origin[2] + z};
        bool deep = l->deep[brick] >> (16 * (z / 2) + 4 * (y / 2) + x / 2) & 1;
        l->values[brick * BRICK_POINTS + i] = !lattice_has(l, point) ? l->reach - l->radius
                                              : deep                 ? -l->radius
                                                     : distance_at(l, s, i / WIDE, i % WIDE);
    }
}

static void measure_bricks(void *data, chunk items) {
    measure_job *job = data;
    lattice *l = job->l;
    brick_sums *s = &job->sums[items.worker];
    for (int64_t b = items.begin; b < items.end; b++) {
        int32_t origin[3];
        for (int a = 0; a < 3; a++) origin[a] = l->coords[b][a] * BRICK_EDGE;
        uint64_t wanted = cells_in_domain(l, origin) & ~l->deep[b];
        if (wanted) clear_sums(s, l->reach);
        for (int k = 0; k < AROUND && wanted; k++) {
            int offset[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
            if (l->around[b][k] >= 0) add_brick(l, l->around[b][k], offset, origin, wanted, s);
        }
        fill_values(l, b, origin, s);
    }
}

spate_status lattice_measure(lattice *l) {
    measure_job job = {.l = l};
    job.sums = take(l->ctx, (size_t)pool_size(l->ctx->pool), sizeof *job.sums);
    if (!job.sums) return SPATE_OUT_OF_MEMORY;
    parallel_for(l->ctx->pool, l->brick_count, MEASURE_GRAIN, measure_bricks, &job);
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
        real local = x[a] - (real)(l->coords[brick][a] * BRICK_EDGE);
        low[a] = (int)floor((double)(local - reach) / 2);
        high[a] = (int)floor((double)(local + reach) / 2);
        if (low[a] < -4) low[a] = -4;
        if (high[a] > 7) high[a] = 7;
    }
    for (c[2] = low[2]; c[2] <= high[2]; c[2]++)
        for (c[1] = low[1]; c[1] <= high[1]; c[1]++)
            for (c[0] = low[0]; c[0] <= high[0]; c[0]++) {
                int k = ((c[2] + 4) / 4 * 3 + (c[1] + 4) / 4) * 3 + (c[0] + 4) / 4;
                int32_t other = l->around[brick][k];
                if (other < 0) continue;
                int cell = (c[2] & 3) * 16 + (c[1] & 3) * 4 + (c[0] & 3);
                const int64_t *first = l->first + (int64_t)other * BRICK_CELLS + cell;
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

void lattice_velocity(const lattice *l, int64_t brick, const surface_particle *particles,
                      const real x[3], real out[3]) {
    double sum[4] = {0};
    add_velocity(l, brick, particles, x, (real)0.6 * l->reach, sum);
    if (!(sum[3] > 0)) add_velocity(l, brick, particles, x, l->reach, sum);
    for (int a = 0; a < 3; a++) out[a] = sum[3] > 0 ? (real)(sum[a] / sum[3]) : 0;
}
