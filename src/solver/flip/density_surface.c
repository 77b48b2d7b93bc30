/*
 * The level set of Ando, Thuerey and Tsuruno 2012 (`surface: density`; kernels: particle_radius.h):
 *
 *     eq. 2   rho(x) = sum m W_smooth(p - x, a_rho d); rho0 is the largest of a particle at the start
 *     eq. 5   phi = a_L N0 rho0 - sum of rho(p) over the cell's particles; liquid where phi <= 0
 *
 * Eq. 2 is gathered: what surrounds a cell is listed as spans of the particle arrays, which are
 * sorted by block and cell, and summed up four particles at a time.
 */
#include "solver/flip/particle_radius.h"

#include <assert.h>
#include <stdlib.h>

/* ---- Eq. 2: densities ------------------------------------------------------------------------ */

static const double a_rho = 4, a_L = 0.2;

/* A source that has only begun must not set rho0: it is at least this share of a full cell's times
 * the kernel's integral, the density deep inside. */
static const double least_reference = 0.5;

/* Cells whose estimated sum is above the least that gives phi = -1 by this factor are not looked at
 * closely: those deep inside, most of them. */
static const double surely = 1.5;

INLINE double particles_of_full_cell(int dim) { return dim == 3 ? 8 : 4; }

enum { REACH_MOST = BLOCK_EDGE, SPANS_MOST = 3 * (2 * REACH_MOST + 1) * (2 * REACH_MOST + 1) };

typedef struct cell_sum {
    real given[4]; /* sum of m W_smooth at points whose squared distance is 0, 1, 2, 3 */
    real count;    /* of particles; one heavier than usual counts as several */
} cell_sum;

/* Cells are those of occupied blocks, in the order of their particles. */
typedef struct densities {
    flip *f;
    real *inverse;   /* 1/R^2 of each particle */
    int64_t *starts; /* first particle of each cell, and of what would be the next after the last */
    cell_sum *sums;
    double reach2;          /* the largest R^2 */
    real seen[MAX_THREADS]; /* largest R^2 or density, by worker */
} densities;

/* Particles first..last - 1, of a block whose corner is `corner` cells from that of the cell's
 * own. */
typedef struct span {
    int64_t first, last;
    int8_t corner[3];
} span;

/* The cell at `at` from a block's corner, -4 to 7 along each axis, or -1 where its block is
 * empty. */
INLINE int64_t find_cell(const blocks *b, int32_t block, const int at[3], int dim) {
    const int32_t other = b->neighbours[block][neighbour_code(BLOCK_EDGE, at, dim)];
    if (other < 0 || b->tile[other] < 0) return -1;
    return (int64_t)b->tile[other] * block_nodes(dim) + neighbour_index(BLOCK_EDGE, at, dim);
}

INLINE void add_to_cell(const densities *s, int64_t i, cell_sum *sum, real *largest, int dim) {
    const flip *f = s->f;
    const real mass = f->sim->particles.mass[i],
               radius2 = (real)(a_rho * a_rho) * size2_of(f, i, dim);
    const real several = mass * f->inverse_mass * (real)particles_of_full_cell(dim);
    s->inverse[i] = 1 / radius2;
    for (int n = 0; n < 4; n++) {
        const real w = 1 - (real)n * s->inverse[i];
        if (w > 0) sum->given[n] += w * mass;
    }
    sum->count += several > 1 ? several : 1;
    if (radius2 > *largest) *largest = radius2;
}

INLINE void prepare_chunk(void *data, chunk items, int dim) {
    densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    real largest = s->seen[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        int64_t i = b->first[b->occupied[o]];
        const int64_t last = b->first[b->occupied[o] + 1], cell = o * block_nodes(dim);
        for (int c = 0; c < block_nodes(dim); c++) {
            s->starts[cell + c] = i;
            s->sums[cell + c] = (cell_sum){0};
            for (; i < last && block_cell_of(&s->f->sim->particles, i, dim) == c; i++)
                add_to_cell(s, i, &s->sums[cell + c], &largest, dim);
        }
        assert(i == last);
    }
    s->seen[items.worker] = largest;
}
TASK_BY_DIM(prepare)

typedef struct span_list {
    int count;
    span spans[SPANS_MOST];
} span_list;

/* Adds a row of cells along the last axis, from `low` to `high`: spans of up to three blocks. */
INLINE void list_row(const densities *s, int32_t block, int at[3], int low, int high,
                     span_list *list, int dim) {
    const int z = dim - 1;
    for (int corner = -BLOCK_EDGE; corner <= BLOCK_EDGE; corner += BLOCK_EDGE) {
        const int from = low > corner ? low : corner;
        const int to = high < corner + BLOCK_EDGE - 1 ? high : corner + BLOCK_EDGE - 1;
        if (from > to) continue;
        at[z] = from;
        const int64_t cell = find_cell(&s->f->sim->blocks, block, at, dim);
        if (cell < 0) continue;
        span next = {s->starts[cell], s->starts[cell + to - from + 1], {0}};
        if (next.first == next.last) continue;
        for (int a = 0; a < dim; a++) next.corner[a] = (int8_t)(at[a] & ~(BLOCK_EDGE - 1));
        /* whole rows of a block follow each other */
        span *before = list->count ? &list->spans[list->count - 1] : NULL;
        if (before && before->last == next.first && !memcmp(before->corner, next.corner, 3))
            before->last = next.last;
        else
            list->spans[list->count++] = next;
    }
}

/* All particles that may be within reach of one in a cell of a block. */
INLINE void list_spans(const densities *s, int32_t block, int cell, span_list *list, int dim) {
    const double rounding = 1e-5;
    const int reach = (int)ceil(sqrt(s->reach2) - rounding), depth = dim == 3 ? reach : 0;
    int home[3];
    list->count = 0;
    box_place(BLOCK_EDGE, cell, dim, home);
    for (int i = -reach; i <= reach; i++)
        for (int j = -depth; j <= depth; j++) {
            /* least ways between points of two cells */
            const int in_x = abs(i) > 1 ? abs(i) - 1 : 0, in_y = abs(j) > 1 ? abs(j) - 1 : 0;
            const double rest2 = s->reach2 - in_x * in_x - in_y * in_y;
            if (rest2 <= 0) continue;
            const int width = (int)ceil(sqrt(rest2) - rounding), middle = home[dim - 1];
            int at[3] = {home[0] + i, home[1] + j, 0};
            list_row(s, block, at, middle - width, middle + width, list, dim);
        }
}

/* W_smooth times mass of the four particles from i on. */
INLINE quad smooth_weights(const densities *s, int64_t i, const quad x[3], int dim) {
    const particles *p = &s->f->sim->particles;
    quad r2 = quad_splat(0);
    for (int a = 0; a < dim; a++) {
        const quad way = quad_load(PLANE(p, position, a) + i) - x[a];
        r2 += way * way;
    }
    const quad w = quad_splat(1) - r2 * quad_load(s->inverse + i);
    return quad_larger(w, quad_splat(0)) * quad_load(p->mass + i);
}

INLINE real density_at(const densities *s, int64_t particle, const span_list *list, int dim) {
    const particles *p = &s->f->sim->particles;
    const quad lanes = {0, 1, 2, 3};
    quad sum = quad_splat(0);
    for (int n = 0; n < list->count; n++) {
        const span *own = &list->spans[n];
        quad x[3];
        int64_t i = own->first;
        const int64_t last = own->last;
        for (int a = 0; a < dim; a++)
            x[a] = quad_splat(PLANE(p, position, a)[particle] - (real)own->corner[a]);
        for (; i + QUAD <= last; i += QUAD) sum += smooth_weights(s, i, x, dim);
        if (i == last) continue;
        const quad_int used = lanes < quad_splat((real)(last - i));
        sum += (quad)(used & (quad_int)smooth_weights(s, i, x, dim));
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

INLINE void find_largest_chunk(void *data, chunk items, int dim) {
    densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    real largest = s->seen[items.worker];
    span_list list;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t cell = o * block_nodes(dim) + c;
            if (s->starts[cell] == s->starts[cell + 1]) continue;
            list_spans(s, b->occupied[o], c, &list, dim);
            for (int64_t i = s->starts[cell]; i < s->starts[cell + 1]; i++) {
                const real density = density_at(s, i, &list, dim);
                if (density > largest) largest = density;
            }
        }
    s->seen[items.worker] = largest;
}
TASK_BY_DIM(find_largest)

static double largest_seen(densities *s) {
    real largest = 0;
    for (int w = 0; w < MAX_THREADS; w++) {
        if (s->seen[w] > largest) largest = s->seen[w];
        s->seen[w] = 0;
    }
    return (double)largest;
}

/* The density of evenly filled space around a usual particle: the integral of W_smooth. */
static double even_density(const flip *f, int dim) {
    const double R = a_rho / 2, pi = 3.14159265358979323846;
    return (dim == 3 ? 8 * pi / 15 * R * R * R : pi / 2 * R * R) / (double)f->inverse_mass;
}

static void find_reference(densities *s) {
    flip *f = s->f;
    const int dim = f->grid.dim;
    const int64_t occupied = f->sim->blocks.occupied_count;
    parallel_for(f->threads, occupied, 4, dim == 3 ? find_largest_3d : find_largest_2d, s);
    f->memory.reference = fmax(largest_seen(s), least_reference * even_density(f, dim));
}

/* ---- Eq. 5: the level set -------------------------------------------------------------------- */

/* The sum of eq. 5 with every particle moved to the middle of its cell. */
INLINE double estimate(const densities *s, int32_t block, int cell, int64_t index, int dim) {
    const int depth = dim == 3 ? 1 : 0;
    int home[3];
    double density = 0;
    box_place(BLOCK_EDGE, cell, dim, home);
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            for (int k = -depth; k <= depth; k++) {
                const int at[3] = {home[0] + i, home[1] + j, home[2] + k};
                const int64_t other = find_cell(&s->f->sim->blocks, block, at, dim);
                if (other >= 0) density += (double)s->sums[other].given[i * i + j * j + k * k];
            }
    return density * (double)s->sums[index].count;
}

/* phi over a_L N0 rho0, from -1 to 1. */
INLINE real level_set_of(const densities *s, int32_t block, int cell, int64_t index, int dim) {
    const flip *f = s->f;
    const double enough = a_L * particles_of_full_cell(dim) * f->memory.reference;
    const double usual = particles_of_full_cell(dim) * (double)f->inverse_mass;
    if (estimate(s, block, cell, index, dim) > surely * 2 * enough) return -1;
    span_list list;
    list_spans(s, block, cell, &list, dim);
    double sum = 0;
    for (int64_t i = s->starts[index]; i < s->starts[index + 1]; i++) {
        const double several = (double)f->sim->particles.mass[i] * usual;
        sum += fmax(several, 1) * (double)density_at(s, i, &list, dim);
    }
    const real phi = (real)fmax(1 - sum / enough, -1);
    return phi == 0 ? -REAL_EPSILON : phi; /* liquid is what is below zero */
}

INLINE void fill_blocks_chunk(void *data, chunk items, int dim) {
    const densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    const mac *m = &s->f->grid;
    for (int64_t o = items.begin; o < items.end; o++) {
        int corner[3];
        const int32_t home = flip_brick_of_block(s->f, b->coords[b->occupied[o]], corner);
        for (int cell = 0; cell < block_nodes(dim); cell++) {
            const int64_t index = o * block_nodes(dim) + cell;
            if (s->starts[index] == s->starts[index + 1]) continue;
            int at[3];
            box_place(BLOCK_EDGE, cell, dim, at);
            for (int a = 0; a < dim; a++) at[a] += corner[a];
            m->phi[0][mac_cell(m, home, at)] = level_set_of(s, b->occupied[o], cell, index, dim);
        }
    }
}
TASK_BY_DIM(fill_blocks)

static void all_air(void *data, chunk items) {
    const mac *m = &((const densities *)data)->f->grid;
    for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++)
        m->phi[0][c] = 1;
}

static void find_level_set(densities *s) {
    const flip *f = s->f;
    const blocks *b = &f->sim->blocks;
    const int dim = f->grid.dim;
    pool *threads = f->threads;
    parallel_for(threads, b->occupied_count, 16, dim == 3 ? prepare_3d : prepare_2d, s);
    s->starts[(int64_t)b->occupied_count * block_nodes(dim)] = b->sorted;
    s->reach2 = largest_seen(s);
    if (!(f->memory.reference > 0) && b->sorted) find_reference(s);
    parallel_for(threads, f->grid.bricks.count, 16, all_air, s);
    parallel_for(threads, b->occupied_count, 4, dim == 3 ? fill_blocks_3d : fill_blocks_2d, s);
}

spate_status flip_density_surface(flip *f) {
    scratch *memory = &f->sim->scratch;
    const size_t cells = (size_t)f->sim->blocks.occupied_count * (size_t)block_nodes(f->grid.dim);
    densities s = {.f = f};
    /* whole quads are read */
    s.inverse = scratch_take(memory, "flip radii", (size_t)f->sim->particles.count + QUAD,
                             sizeof *s.inverse);
    s.starts = scratch_take(memory, "flip cells", cells + 1, sizeof *s.starts);
    s.sums = scratch_take(memory, "flip cell sums", cells + 1, sizeof *s.sums);
    const bool enough = s.inverse && s.starts && s.sums;
    if (enough) find_level_set(&s);
    if (s.inverse) scratch_give(memory, "flip radii");
    if (s.starts) scratch_give(memory, "flip cells");
    if (s.sums) scratch_give(memory, "flip cell sums");
    return enough ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
