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

enum { MEASURE_GRAIN = 4, ROWS = BRICK_LAYER };
_Static_assert((int)BRICK_EDGE == (int)WIDE, "a row of a brick is a wide");

/* Weights below this are none: the point is far from all particles. */
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

/* Bits of the cells of a brick within `range` of c along an axis; `first` are those with c = 0. */
static uint64_t slab(int c, int range, int axis) {
    static const uint64_t first[3] = {0x1111111111111111, 0x000f000f000f000f, 0xffff};
    const int stride = box_stride(CELL_EDGE, 2 - axis, 3);
    uint64_t bits = 0;
    for (int k = c - range < 0 ? 0 : c - range; k <= c + range && k < CELL_EDGE; k++)
        bits |= first[axis] << k * stride;
    return bits;
}

/* Adds the particles of another brick, `offset` bricks away, that reach a cell of `wanted`. */
static void add_brick(const lattice *l, int64_t brick, const int offset[3], const int32_t origin[3],
                      uint64_t wanted, brick_sums *s) {
    int range = (int)ceil((double)l->reach / CELL_POINTS);
    uint64_t near[3][CELL_EDGE];
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < CELL_EDGE; c++) near[a][c] = slab(CELL_EDGE * offset[a] + c, range, a);
    for (int cell = 0; cell < BRICK_CELLS; cell++) {
        int at[3]; /* z, y, x */
        box_place(CELL_EDGE, cell, 3, at);
        uint64_t reached = near[0][at[2]] & near[1][at[1]] & near[2][at[0]];
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
        for (int c = 0; c < CELL_EDGE; c++) {
            const int32_t low = origin[a] + CELL_POINTS * c, high = low + CELL_POINTS - 1;
            if (high < 0 || low > l->last[a]) bits &= ~slab(c, 0, a);
        }
    return bits;
}

static void fill_values(lattice *l, int64_t brick, const int32_t origin[3], const brick_sums *s) {
    for (int i = 0; i < BRICK_POINTS; i++) {
        int p[3];
        brick_point(i, p);
        const int32_t point[3] = {origin[0] + p[0], origin[1] + p[1], origin[2] + p[2]};
        const int cell = brick_cell(p[0] / CELL_POINTS, p[1] / CELL_POINTS, p[2] / CELL_POINTS);
        bool deep = l->deep[brick] >> cell & 1;
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
        for (int a = 0; a < 3; a++) origin[a] = lattice_point(l, b, a, 0);
        uint64_t wanted = cells_in_domain(l, origin) & ~l->deep[b];
        if (wanted) clear_sums(s, l->reach);
        for (int k = 0; k < NEIGHBOURS_MAX && wanted; k++) {
            const int32_t other = l->bricks.neighbours[b][k];
            int side[3]; /* z, y, x */
            box_place(3, k, 3, side);
            const int offset[3] = {side[2] - 1, side[1] - 1, side[0] - 1};
            if (other >= 0) add_brick(l, other, offset, origin, wanted, s);
        }
        fill_values(l, b, origin, s);
    }
}

spate_status lattice_measure(lattice *l) {
    measure_job job = {.l = l};
    job.sums = take(l->ctx, (size_t)pool_size(l->ctx->pool), sizeof *job.sums);
    if (!job.sums) return SPATE_OUT_OF_MEMORY;
    parallel_for(l->ctx->pool, l->bricks.count, MEASURE_GRAIN, measure_bricks, &job);
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
