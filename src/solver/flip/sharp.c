/*
 * The transfer and the level set of Ando, Thuerey and Tsuruno 2012. Both weigh particles by distance
 * alone, each with a radius of its own; lengths are in cells:
 *
 *     d = (share of a full cell's mass)^(1/dim), 1/2 for one of N0 particles (8 in 3D, 4 in 2D)
 *     W_sharp(r, R) = R^2/r^2 - 1,     W_smooth(r, R) = 1 - r^2/R^2,     both 0 beyond R
 *
 *     eq. 1   u(x) = sum m u W_sharp(p - x, a_u d) / sum m W_sharp, or the nearest particle's u
 *             where no particle is within its radius of x
 *     eq. 2   rho(x) = sum m W_smooth(p - x, a_rho d); rho0 is the largest of a particle at the start
 *     eq. 5   phi = a_L N0 rho0 - sum of rho(p) over the cell's particles; liquid where phi <= 0
 *
 * Eq. 1 is scattered: it reaches the faces of the linear kernel, all that are within a cell.
 * Eq. 2 is gathered: what surrounds a cell is listed as spans of the particle arrays, which are sorted
 * by block and cell, and summed up four particles at a time.
 */
#include "solver/flip/flip.h"

#define SUPPORT 2
#include "solver/flip/transfer.h"

#include <assert.h>
#include <stdlib.h>

/* A task for each number of dimensions, from a function that takes it last. */
#define TASKS(name)                                                          \
    static void name##_2d(void *data, chunk items) { name(data, items, 2); } \
    static void name##_3d(void *data, chunk items) { name(data, items, 3); } \
    static const chunk_task name##_tasks[2] = {name##_2d, name##_3d};

/* d^2 of a particle. One heavier than a full cell is no larger: it would reach further than the faces
 * and blocks around it. */
INLINE real size2_of(const flip *f, int64_t i, int dim) {
    real share = f->sim->particles.mass[i] * f->inverse_mass;
    if (share > 1) share = 1;
    if (dim == 2) return share;
    double size = cbrt((double)share);
    return (real)(size * size);
}

INLINE quad quad_larger(quad a, quad b) {
    const quad_int first = a > b;
    return (quad)((first & (quad_int)a) | (~first & (quad_int)b));
}

INLINE double particles_of_full_cell(int dim) { return dim == 3 ? 8 : 4; }

/* ---- Eq. 1: the transfer --------------------------------------------------------------------- */

/* a_u is 1. Nearer than this share of its radius, squared, a particle is on the face. */
static const real touching2 = (real)1e-8;
/* Sums of weights below this, in masses of a full cell, count as none. */
static const real least_weight = (real)1e-7;

enum { REACHED_FROM = 1, REACHED_TO = 7 };

/* A particle and its squared distance to a face, which is in the upper half as a float: the least of
 * such numbers is the nearest particle, found without a branch. */
typedef uint64_t near_particle;
static const near_particle nobody = UINT64_MAX;

INLINE near_particle near_particle_of(real distance2, uint32_t particle) {
    const float distance = (float)distance2;
    uint32_t upper;
    memcpy(&upper, &distance, sizeof upper); /* bits of floats >= 0 are in their order */
    return (near_particle)upper << 32 | particle;
}

/* One component of what a block's particles reach (transfer.h). */
typedef struct sharp_tile {
    real sums[TILE_EDGE * TILE_EDGE * TILE_EDGE * PAIR]; /* momentum and mass, weighted */
    near_particle nearest[TILE_EDGE * TILE_EDGE * TILE_EDGE];
} sharp_tile;

typedef struct sharp {
    const flip *f;
    near_particle *nearest[3]; /* of each face, by component */
} sharp;

/* The two faces around x along an axis: which is the first, and the squared ways to both. */
INLINE int ways_to_faces(real x, real way2[2]) {
    const int first = x < 0 ? -1 : (int)x;
    const real t = x - (real)first;
    way2[0] = t * t, way2[1] = (1 - t) * (1 - t);
    return first + TILE_BEFORE;
}

/* W_sharp for four squared distances. */
INLINE quad sharp_weights(quad r2, real radius2) {
    const quad least = quad_splat(radius2 * touching2);
    return quad_larger(quad_splat(radius2) / quad_larger(r2, least) - quad_splat(1), quad_splat(0));
}

/* Two faces beside each other along the last axis. */
INLINE void add_row(sharp_tile *tile, int at, real w0, real w1, quad both, real r0, real r1,
                    uint32_t i) {
    const quad w = {w0, w0, w1, w1};
    real *sums = tile->sums + at * PAIR;
    near_particle *nearest = tile->nearest + at;
    const near_particle first = near_particle_of(r0, i), second = near_particle_of(r1, i);
    quad_store(sums, quad_load(sums) + w * both);
    nearest[0] = first < nearest[0] ? first : nearest[0];
    nearest[1] = second < nearest[1] ? second : nearest[1];
}

/* Component c of one particle, four faces at a time: two rows. */
INLINE void scatter_component(sharp_tile *tile, const int base[3][2], const real way2[3][2][2],
                              int c, real radius2, real momentum, real mass, uint32_t i, int dim) {
    const int first = dim - 2, last = dim - 1; /* the axes of the four */
    const real *y = way2[first][c != first], *z = way2[last][c != last];
    const int at = tile_index(base[0][c != 0], base[1][c != 1], base[last][c != last], dim);
    const quad flat = {y[0] + z[0], y[0] + z[1], y[1] + z[0], y[1] + z[1]};
    const quad both = {momentum, mass, momentum, mass};
    for (int n = 0; n < (dim == 3 ? 2 : 1); n++) {
        const quad r2 = dim == 3 ? flat + quad_splat(way2[0][c != 0][n]) : flat;
        const quad w = sharp_weights(r2, radius2);
        const int start = at + n * TILE_EDGE * TILE_EDGE;
        add_row(tile, start, w[0], w[1], both, r2[0], r2[1], i);
        add_row(tile, start + TILE_EDGE, w[2], w[3], both, r2[2], r2[3], i);
    }
}

INLINE void scatter_particle(const flip *f, int64_t i, sharp_tile *tiles, int dim) {
    const particles *p = &f->sim->particles;
    const real mass = p->mass[i], radius2 = size2_of(f, i, dim);
    int base[3][2] = {{0}};
    real way2[3][2][2] = {{{0}}};
    for (int a = 0; a < dim; a++) {
        const real x = PLANE(p, position, a)[i];
        base[a][ON_FACES] = ways_to_faces(x, way2[a][ON_FACES]);
        base[a][IN_MIDDLES] = ways_to_faces(x - (real)0.5, way2[a][IN_MIDDLES]);
    }
    for (int c = 0; c < dim; c++)
        scatter_component(&tiles[c], base, way2, c, radius2, mass * p->velocity[i][c], mass,
                          (uint32_t)i, dim);
}

/* What was scattered behind a closed side is folded back, as in scatter.h; it comes from particles that
 * are nearer to the face before the side, so it is never their nearest. */
INLINE void add_component(const sharp *s, const tile_map *map, const sharp_tile *tile, int c,
                          int dim) {
    const mac *m = &s->f->grid;
    const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
    const axis_map *z = &map->axis[dim - 1][c != dim - 1];
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            const real sign = x->sign[i] * (dim == 3 ? y->sign[j] : 1);
            for (int k = REACHED_FROM; k < REACHED_TO; k++) {
                const int from = tile_index(i, j, k, dim);
                const near_particle nearest = tile->nearest[from];
                if (nearest == nobody) continue;
                const int64_t at = rows[z->code[k]] + z->cell[k];
                m->velocity[c][at] += sign * z->sign[k] * tile->sums[from * PAIR];
                m->mass[c][at] += tile->sums[from * PAIR + 1];
                if (nearest < s->nearest[c][at]) s->nearest[c][at] = nearest;
            }
        }
}

INLINE void clear_tile(sharp_tile *tile, int dim) {
    memset(tile->sums, 0, (size_t)component_reals(dim) * sizeof *tile->sums);
    for (int n = 0; n < tile_nodes(dim); n++) tile->nearest[n] = nobody;
}

INLINE void scatter(void *data, chunk items, int dim) {
    const sharp *s = data;
    const flip *f = s->f;
    sharp_tile tiles[3];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = f->coloured[o];
        tile_map map;
        map_tile(&map, f, f->sim->blocks.coords[block], dim);
        for (int c = 0; c < dim; c++) clear_tile(&tiles[c], dim);
        for (int64_t i = f->sim->blocks.first[block]; i < f->sim->blocks.first[block + 1]; i++)
            scatter_particle(f, i, tiles, dim);
        for (int c = 0; c < dim; c++) add_component(s, &map, &tiles[c], c, dim);
    }
}
TASKS(scatter)

static void forget_nearest(void *data, chunk items) {
    const sharp *s = data;
    const int dim = s->f->grid.dim;
    for (int c = 0; c < dim; c++)
        for (int64_t n = items.begin * mac_cells(dim); n < items.end * mac_cells(dim); n++)
            s->nearest[c][n] = nobody;
}

static void take_nearest(void *data, chunk items) {
    const sharp *s = data;
    const mac *m = &s->f->grid;
    const particles *p = &s->f->sim->particles;
    for (int c = 0; c < m->dim; c++)
        for (int64_t n = items.begin * mac_cells(m->dim); n < items.end * mac_cells(m->dim); n++) {
            if (s->nearest[c][n] == nobody) continue;
            if (m->mass[c][n] * s->f->inverse_mass > least_weight) continue;
            const int64_t i = (uint32_t)s->nearest[c][n];
            const real mass = p->mass[i];
            m->velocity[c][n] = mass * p->velocity[i][c];
            m->mass[c][n] = mass;
        }
}

spate_status flip_scatter_sharp(flip *f) {
    spate_simulation *sim = f->sim;
    pool *threads = sim->ctx->pool;
    const int dim = f->grid.dim;
    const int64_t bricks = f->grid.bricks.count, cells = bricks * mac_cells(dim);
    sharp s = {.f = f};
    near_particle *nearest =
        scratch_take(&sim->scratch, "flip nearest", (size_t)(dim * cells) + 1, sizeof *nearest);
    if (!nearest) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < dim; c++) s.nearest[c] = nearest + c * cells;
    parallel_for(threads, bricks, 32, forget_nearest, &s);
    parallel_colours(threads, f->colour_starts, 1 << dim, 4, scatter_tasks[dim - 2], &s);
    parallel_for(threads, bricks, 32, take_nearest, &s);
    scratch_give(&sim->scratch, "flip nearest");
    return SPATE_OK;
}

/* ---- Eq. 2: densities ------------------------------------------------------------------------ */

static const double a_rho = 4, a_L = 0.2;

/* A source that has only begun must not set rho0: it is at least this share of a full cell's times
 * the kernel's integral, the density deep inside. */
static const double least_reference = 0.5;

/* Cells whose estimated sum is above the least that gives phi = -1 by this factor are not looked at
 * closely: those deep inside, most of them. */
static const double surely = 1.5;

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

/* Particles first..last - 1, of a block whose corner is `corner` cells from that of the cell's own. */
typedef struct span {
    int64_t first, last;
    int8_t corner[3];
} span;

/* The cell at `at` from a block's corner, -4 to 7 along each axis, or -1 where its block is empty. */
INLINE int64_t find_cell(const blocks *b, int32_t block, const int at[3], int dim) {
    int code = 0, place = 0;
    for (int a = 0; a < dim; a++) {
        code = code * 3 + (at[a] + BLOCK_EDGE) / BLOCK_EDGE;
        place = place * BLOCK_EDGE + (at[a] & (BLOCK_EDGE - 1));
    }
    const int32_t other = b->neighbours[block][code];
    if (other < 0 || b->tile[other] < 0) return -1;
    return (int64_t)b->tile[other] * block_nodes(dim) + place;
}

INLINE void place_of(int cell, int at[3], int dim) {
    at[0] = dim == 3 ? cell >> 4 : cell >> 2;
    at[1] = dim == 3 ? cell >> 2 & 3 : cell & 3;
    at[2] = dim == 3 ? cell & 3 : 0;
}

INLINE int cell_of(const particles *p, int64_t i, int dim) {
    int cell = 0;
    for (int a = 0; a < dim; a++) cell = cell * BLOCK_EDGE + (int)PLANE(p, position, a)[i];
    return cell;
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

INLINE void prepare(void *data, chunk items, int dim) {
    densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    real largest = s->seen[items.worker];
    for (int64_t o = items.begin; o < items.end; o++) {
        int64_t i = b->first[b->occupied[o]];
        const int64_t last = b->first[b->occupied[o] + 1], cell = o * block_nodes(dim);
        for (int c = 0; c < block_nodes(dim); c++) {
            s->starts[cell + c] = i;
            s->sums[cell + c] = (cell_sum){0};
            for (; i < last && cell_of(&s->f->sim->particles, i, dim) == c; i++)
                add_to_cell(s, i, &s->sums[cell + c], &largest, dim);
        }
        assert(i == last);
    }
    s->seen[items.worker] = largest;
}
TASKS(prepare)

/* One row of cells along the last axis, from `low` to `high`, as spans of up to three blocks. */
INLINE int list_row(const densities *s, int32_t block, int at[3], int low, int high, span *list,
                    int count, int dim) {
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
        span *before = count ? &list[count - 1] : NULL;
        if (before && before->last == next.first && !memcmp(before->corner, next.corner, 3))
            before->last = next.last;
        else
            list[count++] = next;
    }
    return count;
}

/* All particles that may be within reach of one in a cell of a block. */
INLINE int list_spans(const densities *s, int32_t block, int cell, span *list, int dim) {
    const double rounding = 1e-5;
    const int reach = (int)ceil(sqrt(s->reach2) - rounding), depth = dim == 3 ? reach : 0;
    int home[3], count = 0;
    place_of(cell, home, dim);
    for (int i = -reach; i <= reach; i++)
        for (int j = -depth; j <= depth; j++) {
            /* least ways between points of two cells */
            const int in_x = abs(i) > 1 ? abs(i) - 1 : 0, in_y = abs(j) > 1 ? abs(j) - 1 : 0;
            const double rest2 = s->reach2 - in_x * in_x - in_y * in_y;
            if (rest2 <= 0) continue;
            const int width = (int)ceil(sqrt(rest2) - rounding), middle = home[dim - 1];
            int at[3] = {home[0] + i, home[1] + j, 0};
            count = list_row(s, block, at, middle - width, middle + width, list, count, dim);
        }
    return count;
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

INLINE real density_at(const densities *s, int64_t particle, const span *list, int count, int dim) {
    const particles *p = &s->f->sim->particles;
    const quad lanes = {0, 1, 2, 3};
    quad sum = quad_splat(0);
    for (int n = 0; n < count; n++) {
        quad x[3];
        int64_t i = list[n].first;
        const int64_t last = list[n].last;
        for (int a = 0; a < dim; a++)
            x[a] = quad_splat(PLANE(p, position, a)[particle] - (real)list[n].corner[a]);
        for (; i + QUAD <= last; i += QUAD) sum += smooth_weights(s, i, x, dim);
        if (i == last) continue;
        const quad_int own = lanes < quad_splat((real)(last - i));
        sum += (quad)(own & (quad_int)smooth_weights(s, i, x, dim));
    }
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

INLINE void find_largest(void *data, chunk items, int dim) {
    densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    real largest = s->seen[items.worker];
    span list[SPANS_MOST];
    for (int64_t o = items.begin; o < items.end; o++)
        for (int c = 0; c < block_nodes(dim); c++) {
            const int64_t cell = o * block_nodes(dim) + c;
            if (s->starts[cell] == s->starts[cell + 1]) continue;
            const int count = list_spans(s, b->occupied[o], c, list, dim);
            for (int64_t i = s->starts[cell]; i < s->starts[cell + 1]; i++) {
                const real density = density_at(s, i, list, count, dim);
                if (density > largest) largest = density;
            }
        }
    s->seen[items.worker] = largest;
}
TASKS(find_largest)

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
    parallel_for(f->sim->ctx->pool, occupied, 4, find_largest_tasks[dim - 2], s);
    f->memory.reference = fmax(largest_seen(s), least_reference * even_density(f, dim));
}

/* ---- Eq. 5: the level set -------------------------------------------------------------------- */

/* The sum of eq. 5 with every particle moved to the middle of its cell. */
INLINE double estimate(const densities *s, int32_t block, int cell, int64_t index, int dim) {
    const int depth = dim == 3 ? 1 : 0;
    int home[3];
    double density = 0;
    place_of(cell, home, dim);
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
INLINE real level_of(const densities *s, int32_t block, int cell, int64_t index, int dim) {
    const flip *f = s->f;
    const double enough = a_L * particles_of_full_cell(dim) * f->memory.reference;
    const double usual = particles_of_full_cell(dim) * (double)f->inverse_mass;
    if (estimate(s, block, cell, index, dim) > surely * 2 * enough) return -1;
    span list[SPANS_MOST];
    const int count = list_spans(s, block, cell, list, dim);
    double sum = 0;
    for (int64_t i = s->starts[index]; i < s->starts[index + 1]; i++) {
        const double several = (double)f->sim->particles.mass[i] * usual;
        sum += fmax(several, 1) * (double)density_at(s, i, list, count, dim);
    }
    const real phi = (real)fmax(1 - sum / enough, -1);
    return phi == 0 ? -REAL_EPSILON : phi; /* liquid is what is below zero */
}

INLINE void fill_blocks(void *data, chunk items, int dim) {
    const densities *s = data;
    const blocks *b = &s->f->sim->blocks;
    const mac *m = &s->f->grid;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t *c = b->coords[b->occupied[o]], brick[3] = {c[0] >> 1, c[1] >> 1, c[2] >> 1};
        const int32_t home = sites_find(&m->bricks, brick);
        for (int cell = 0; cell < block_nodes(dim); cell++) {
            const int64_t index = o * block_nodes(dim) + cell;
            if (s->starts[index] == s->starts[index + 1]) continue;
            int at[3];
            place_of(cell, at, dim);
            for (int a = 0; a < dim; a++) at[a] += (c[a] & 1) * BLOCK_EDGE;
            m->phi[0][mac_cell(m, home, at[0], at[1], at[2])] =
                level_of(s, b->occupied[o], cell, index, dim);
        }
    }
}
TASKS(fill_blocks)

static void all_air(void *data, chunk items) {
    const mac *m = &((const densities *)data)->f->grid;
    for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++)
        m->phi[0][c] = 1;
}

static void find_level(densities *s) {
    const flip *f = s->f;
    const blocks *b = &f->sim->blocks;
    const int dim = f->grid.dim;
    pool *threads = f->sim->ctx->pool;
    parallel_for(threads, b->occupied_count, 16, prepare_tasks[dim - 2], s);
    s->starts[(int64_t)b->occupied_count * block_nodes(dim)] = b->sorted;
    s->reach2 = largest_seen(s);
    if (!(f->memory.reference > 0) && b->sorted) find_reference(s);
    parallel_for(threads, f->grid.bricks.count, 16, all_air, s);
    parallel_for(threads, b->occupied_count, 4, fill_blocks_tasks[dim - 2], s);
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
    if (enough) find_level(&s);
    if (s.inverse) scratch_give(memory, "flip radii");
    if (s.starts) scratch_give(memory, "flip cells");
    if (s.sums) scratch_give(memory, "flip cell sums");
    return enough ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}
