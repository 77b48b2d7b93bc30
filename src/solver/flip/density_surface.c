/*
 * The level set of Ando, Thuerey and Tsuruno 2012 (`surface: density`; kernels: particle_radius.h):
 *
 *     eq. 2   rho(x) = sum m W_smooth(p - x, a_rho d); rho0 is the largest of a particle at the start
 *     eq. 5   phi = a_L N0 rho0 - sum of rho(p) over the cell's particles; liquid where phi <= 0
 *
 * Eq. 2 is gathered: what surrounds a cell is listed once for its particles (neighbourhood.h).
 */
#include "solver/flip/neighbourhood.h"
#include "solver/flip/particle_radius.h"

/* ---- Eq. 2: densities ------------------------------------------------------------------------ */

/* A source that has only begun must not set rho0: it is at least this share of a full cell's times
 * the kernel's integral, the density deep inside. */
static const double least_reference = 0.5;

/* Cells whose estimated sum is above the least that gives phi = -1 by this factor are not looked at
 * closely: those deep inside, most of them. */
static const double surely = 1.5;

INLINE double particles_of_full_cell(const flip *f) { return (double)f->options->full_cell; }

typedef struct cell_sum {
    real given[4]; /* sum of m W_smooth at points whose squared distance is 0, 1, 2, 3 */
    real count;    /* of particles; one heavier than usual counts as several */
} cell_sum;

/* Cells are those of occupied blocks, in the order of their particles. */
typedef struct densities {
    flip *f;
    neighbourhood around;
    real *inverse; /* 1/R^2 of each particle */
    cell_sum *sums;
    double reach2;          /* the largest R^2 */
    real seen[MAX_THREADS]; /* largest R^2 or density, by worker */
} densities;

INLINE void add_to_cell(const densities *s, int64_t i, cell_sum *sum, real *largest, int dim) {
    const flip *f = s->f;
    const double a_rho = f->options->density_radius;
    const real mass = f->sim->particles.mass[i],
               radius2 = (real)(a_rho * a_rho) * size2_of(f, i, dim);
    const real several = mass * f->inverse_mass * (real)particles_of_full_cell(f);
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
    const int64_t *starts = s->around.starts;
    real largest = s->seen[items.worker];
    for (int64_t c = items.begin * block_nodes(dim); c < items.end * block_nodes(dim); c++) {
        s->sums[c] = (cell_sum){0};
        for (int64_t i = starts[c]; i < starts[c + 1]; i++)
            add_to_cell(s, i, &s->sums[c], &largest, dim);
    }
    s->seen[items.worker] = largest;
}
TASK_BY_DIM(prepare)

INLINE void find_largest_chunk(void *data, chunk items, int dim) {
    densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    real largest = s->seen[items.worker];
    span_list list;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t cell = o * block_nodes(dim) + c;
            if (s->around.starts[cell] == s->around.starts[cell + 1]) continue;
            list_spans(&s->around, s->reach2, b->occupied[o], c, &list, dim);
            for (int64_t i = s->around.starts[cell]; i < s->around.starts[cell + 1]; i++) {
                const real density = density_of(&s->around, s->inverse, i, &list, dim);
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
    const double size = pow(particles_of_full_cell(f), -1.0 / dim);
    const double R = f->options->density_radius * size, pi = 3.14159265358979323846;
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
                const int64_t other = find_cell(&s->around, block, at, dim);
                if (other >= 0) density += (double)s->sums[other].given[i * i + j * j + k * k];
            }
    return density * (double)s->sums[index].count;
}

/* phi over a_L N0 rho0, from -1 to 1. */
INLINE real level_set_of(const densities *s, int32_t block, int cell, int64_t index, int dim) {
    const flip *f = s->f;
    const double enough =
        f->options->liquid_share * particles_of_full_cell(f) * f->memory.reference;
    const double usual = particles_of_full_cell(f) * (double)f->inverse_mass;
    if (estimate(s, block, cell, index, dim) > surely * 2 * enough) return -1;
    span_list list;
    list_spans(&s->around, s->reach2, block, cell, &list, dim);
    double sum = 0;
    for (int64_t i = s->around.starts[index]; i < s->around.starts[index + 1]; i++) {
        const double several = (double)f->sim->particles.mass[i] * usual;
        sum += fmax(several, 1) * (double)density_of(&s->around, s->inverse, i, &list, dim);
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
            if (s->around.starts[index] == s->around.starts[index + 1]) continue;
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
    s.sums = scratch_take(memory, "flip cell sums", cells + 1, sizeof *s.sums);
    const bool enough = s.inverse && s.sums && !neighbourhood_begin(f->sim, &s.around);
    if (enough) find_level_set(&s);
    if (s.inverse) scratch_give(memory, "flip radii");
    neighbourhood_end(f->sim, &s.around);
    if (s.sums) scratch_give(memory, "flip cell sums");
    return enough ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
