/*
 * Coarser levels of the viscosity's equations, and the V-cycle that preconditions them.
 *
 * P interpolates between coarse faces linearly, so that moving and turning as a whole are on every
 * level what they are on the finest; where a coarse face has no liquid near, the others count for
 * more. Residuals go down by its transpose. Inertia is summed over the fine faces in the plane of a
 * coarse one, and with half their weight over those a fine cell before and after it; weights of
 * cells and edges are means over what they cover. Walls are not seen on coarse levels, where they
 * may lie anywhere between two faces: instead, what ties a fine face to one is passed on as a pull
 * towards rest, halved from level to level like the inverse distance of a face from a wall.
 * Smoothing is by Chebyshev polynomials of Jacobi's iteration scaled by the sum of |A| over rows
 * (Adams et al. 2003; Baker et al. 2011), whose eigenvalues are below 1; it is the same before and
 * after the coarse correction, so the cycle is symmetric.
 *
 * The cycle shares no code with that of the pressure (solver/pressure/multigrid.c): unknowns,
 * smoother and transfers all differ, and what is left in common is the five lines of viscous_cycle.
 *
 * Levels end where inertia outweighs viscosity: there a few steps of the smoother solve the
 * equations.
 */
#include "solver/flip/viscosity.h"

#include <math.h>

/* Where coarsening ends; steps of the smoother, and the part of the spectrum it damps. */
static const double least_scale = 0.25, smooth_from = 0.1;
/* Share of a coarse face's surroundings that must be free for it to take part: one that hangs on to
 * the liquid by little would move too far. */
static const double least_cover = 0.4;

enum { SMOOTH_STEPS = 2, SOLVE_STEPS = 16 };

/* ---- Memory ---------------------------------------------------------------------------------- */

void *viscous_cut(viscous_memory *m, size_t count, size_t size) {
    char *here = m->start ? m->start + m->used : NULL;
    m->used += (count * size + 63) / 64 * 64;
    return here;
}

void viscous_carve(viscous_level *level, viscous_memory *m, bool finest) {
    const int dim = level->dim;
    const size_t bricks = (size_t)level->bricks, cells = bricks * (size_t)mac_cells(dim);
    level->active = viscous_cut(m, bricks, sizeof *level->active);
    level->parents = viscous_cut(m, bricks, sizeof *level->parents);
    if (!finest) {
        level->coords = viscous_cut(m, bricks, sizeof *level->coords);
        level->neighbours = viscous_cut(m, bricks, sizeof *level->neighbours);
        level->children = viscous_cut(m, bricks, sizeof *level->children);
    }
    for (int a = 0; a < dim; a++) {
        level->mass[a] = viscous_cut(m, cells, sizeof(real));
        level->inertia[a] = finest ? level->mass[a] : viscous_cut(m, cells, sizeof(real));
        level->relax[a] = viscous_cut(m, cells, sizeof(real));
        level->normal[a] = viscous_cut(m, cells, sizeof(real));
        if (dim == 3 || a == 0) level->shear[a] = viscous_cut(m, cells, sizeof(real));
        level->x[a] = viscous_cut(m, cells, sizeof(real));
        level->b[a] = level->tie[a] = viscous_cut(m, cells, sizeof(real));
        level->share[a] = viscous_cut(m, cells, sizeof(real));
        level->d[a] = viscous_cut(m, cells, sizeof(real));
    }
}

/* Bricks are in the order of a Z curve, so those of one parent follow each other. */
static bool same_parent(const int32_t a[3], const int32_t b[3], int shift) {
    return a[0] >> shift == b[0] >> shift && a[1] >> shift == b[1] >> shift &&
           a[2] >> shift == b[2] >> shift;
}

int viscous_levels(const flip *f, double scale, size_t *bytes) {
    const sparse_lattice *bricks = &f->grid.bricks;
    viscous_memory measure = {0};
    int count = 1;
    for (; count < VISCOUS_LEVELS && scale > least_scale; count++, scale /= 4) {
        /* a seam must not cut a brick in half */
        for (int a = 0; a < bricks->dim; a++)
            if (bricks->period[a] % (1 << count)) goto done;
        viscous_level level = {.dim = bricks->dim, .bricks = 1};
        for (int32_t i = 1; i < bricks->count; i++)
            level.bricks += !same_parent(bricks->coords[i - 1], bricks->coords[i], count);
        viscous_carve(&level, &measure, false);
    }
done:
    *bytes = measure.used;
    return count;
}

/* ---- From one level to the next -------------------------------------------------------------- */

typedef struct level_pair {
    viscous_level *fine, *coarse;
    double tie_scale; /* the finest level's scale: what ties count in */
} level_pair;

/* Coarse bricks and their neighbours: those with fine bricks that are neighbours. */
static void link_bricks(viscous_level *fine, viscous_level *coarse) {
    int32_t(*coords)[3] = (int32_t(*)[3])(uintptr_t)coarse->coords;
    int32_t(*neighbours)[NEIGHBOURS_MAX] =
        (int32_t(*)[NEIGHBOURS_MAX])(uintptr_t)coarse->neighbours;
    const int dim = fine->dim, middle = neighbour_self(dim);
    int32_t at = -1;
    for (int32_t i = 0; i < fine->bricks; i++) {
        const int32_t *c = fine->coords[i];
        if (i == 0 || !same_parent(fine->coords[i - 1], c, 1)) {
            at++;
            for (int a = 0; a < 3; a++) coords[at][a] = c[a] >> 1;
            for (int n = 0; n < NEIGHBOURS_MAX; n++) neighbours[at][n] = n == middle ? at : -1;
            for (int n = 0; n < 8; n++) coarse->children[at][n] = -1;
        }
        coarse->children[at][box_index(2, (const int[3]){c[0] & 1, c[1] & 1, c[2] & 1}, dim)] = i;
        fine->parents[i] = at;
    }
    for (int32_t i = 0; i < fine->bricks; i++)
        for (int n = 0; n < neighbour_count(dim); n++) {
            const int32_t other = fine->neighbours[i][n], *c = fine->coords[i];
            if (other < 0) continue;
            int side[3];
            box_place(3, n, dim, side);
            for (int a = 0; a < dim; a++) side[a] = ((c[a] + side[a] - 1) >> 1) - (c[a] >> 1) + 1;
            const int code = box_index(3, side, dim);
            if (code != middle) neighbours[fine->parents[i]][code] = fine->parents[other];
        }
}

/* How a coarse place counts fine ones along an axis, from the one before its first on: as a part,
 * as a neighbour of planes, or as linear interpolation does. */
enum { COVER, PLANES, LINEAR };
static const double counts[3][4] = {{0, 1, 1, 0}, {0.5, 1, 0.5, 0}, {0.25, 0.75, 0.75, 0.25}};

/* What a fine cell is of a coarse one. */
static double child_share(int dim) { return 1.0 / (1 << dim); }

/* A place along one axis: what it adds to the number of a neighbour, of a child, and of a cell, so
 * that those of a place in space are sums; and its weight in a sum over places. */
typedef struct place {
    int code, child, cell;
    double weight;
} place;

/* q counts cells from the corner of a brick that is `edge` of them long, which may lie in a
 * neighbour. */
static place place_at(int dim, int axis, int q, int edge, double weight) {
    return (place){(q + edge) / edge * box_stride(3, axis, dim),
                   (q + edge) / BRICK_EDGE % 2 * box_stride(2, axis, dim),
                   (q + edge) % BRICK_EDGE * box_stride(BRICK_EDGE, axis, dim), weight};
}

/* Sum of a fine field over what coarse cell `at` counts along each axis, or, with `weights`, of the
 * weights where the field is not zero. */
static double sum_fine(const level_pair *p, int64_t brick, const int at[3], const int ways[3],
                       const real *from, bool weights) {
    const viscous_level *coarse = p->coarse;
    const int dim = coarse->dim;
    place places[3][4] = {{{0}}};
    int number[3] = {0, 0, 1};
    places[2][0].weight = 1;
    for (int e = 0; e < dim; e++) {
        number[e] = 0;
        for (int i = 0; i < 4; i++)
            if (counts[ways[e]][i] > 0)
                places[e][number[e]++] =
                    place_at(dim, e, 2 * at[e] + i - 1, 2 * BRICK_EDGE, counts[ways[e]][i]);
    }
    double sum = 0;
    for (int i = 0; i < number[0]; i++)
        for (int j = 0; j < number[1]; j++)
            for (int k = 0; k < number[2]; k++) {
                const place *x = &places[0][i], *y = &places[1][j], *z = &places[2][k];
                const int32_t home = coarse->neighbours[brick][x->code + y->code + z->code];
                if (home < 0) continue;
                const int32_t fine = coarse->children[home][x->child + y->child + z->child];
                if (fine < 0) continue;
                const real value =
                    from[(int64_t)fine * mac_cells(dim) + x->cell + y->cell + z->cell];
                sum += x->weight * y->weight * z->weight * (weights ? value > 0 : (double)value);
            }
    return sum;
}

/* The same the other way: what linear interpolation to a fine face finds in a coarse field, or,
 * with `weights`, the sum of its weights where the field is not zero. */
static double sum_coarse(const level_pair *p, int64_t brick, const int at[3], int axis,
                         const real *from, bool weights) {
    const viscous_level *coarse = p->coarse;
    const int dim = coarse->dim;
    const int32_t *corner = p->fine->coords[brick],
                  *near = coarse->neighbours[p->fine->parents[brick]];
    place places[3][2] = {{{0}}};
    int number[3] = {2, 2, 1};
    places[2][0].weight = 1;
    for (int e = 0; e < dim; e++) {
        const int odd = at[e] & 1, q = ((corner[e] & 1) * BRICK_EDGE + at[e]) >> 1;
        const double other = e == axis ? 0.5 * odd : 0.25;
        places[e][0] = place_at(dim, e, q, BRICK_EDGE, 1 - other);
        places[e][1] = place_at(dim, e, odd ? q + 1 : q - 1, BRICK_EDGE, other);
        number[e] = other > 0 ? 2 : 1;
    }
    double sum = 0;
    for (int i = 0; i < number[0]; i++)
        for (int j = 0; j < number[1]; j++)
            for (int k = 0; k < number[2]; k++) {
                const place *x = &places[0][i], *y = &places[1][j], *z = &places[2][k];
                const int32_t home = near[x->code + y->code + z->code];
                if (home < 0) continue;
                const real value =
                    from[(int64_t)home * mac_cells(dim) + x->cell + y->cell + z->cell];
                sum += x->weight * y->weight * z->weight * (weights ? value > 0 : (double)value);
            }
    return sum;
}

/* Interpolation of the faces of an axis, as `ways` of sum_fine. */
static void face_ways(int axis, int across, int ways[3]) {
    for (int e = 0; e < 3; e++) ways[e] = e == axis ? PLANES : across;
}

/* ---- Coarse coefficients --------------------------------------------------------------------- */

static void coarsen_face(const level_pair *p, int64_t brick, const int at[3], int a, int64_t here) {
    const viscous_level *fine = p->fine, *coarse = p->coarse;
    const double share = child_share(fine->dim);
    double mass = 0, tie = 0;
    int ways[3];
    face_ways(a, COVER, ways);
    if (share * sum_fine(p, brick, at, ways, fine->mass[a], true) >= least_cover) {
        mass = share * sum_fine(p, brick, at, ways, fine->mass[a], false);
        tie = 0.5 * share * sum_fine(p, brick, at, ways, fine->tie[a], false);
    }
    coarse->mass[a][here] = (real)mass;
    coarse->tie[a][here] = (real)tie;
    coarse->inertia[a][here] = (real)(mass + p->tie_scale * tie);
    coarse->x[a][here] = coarse->d[a][here] = 0; /* also read where no face is free */
}

static void coarsen_faces(void *data, chunk items) {
    const level_pair *p = data;
    const int dim = p->coarse->dim;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(dim); c++) {
            int at[3];
            mac_place(c, dim, at);
            for (int a = 0; a < dim; a++) coarsen_face(p, brick, at, a, brick * mac_cells(dim) + c);
        }
}

/* Whether face a is free of the cell at `at`, and of that before (-1) or after it (1) along an
 * axis. */
static bool is_free(const viscous_level *level, int64_t brick, const int at[3], int a) {
    const int64_t cell = viscous_cell(level, brick, at);
    return cell >= 0 && level->mass[a][cell] > 0;
}
static bool is_free_beside(const viscous_level *level, int64_t brick, const int at[3], int along,
                           int way, int a) {
    int beside[3] = {at[0], at[1], at[2]};
    beside[along] += way;
    return is_free(level, brick, beside, a);
}

/* Weights only where all faces of a cell or an edge are free. */
static double coarse_normal(const level_pair *p, int64_t brick, const int at[3], int a) {
    static const int ways[3] = {COVER, COVER, COVER};
    if (!is_free(p->coarse, brick, at, a) || !is_free_beside(p->coarse, brick, at, a, 1, a))
        return 0;
    return child_share(p->coarse->dim) * sum_fine(p, brick, at, ways, p->fine->normal[a], false);
}

static double coarse_shear(const level_pair *p, int64_t brick, const int at[3], int a, int b) {
    const viscous_level *coarse = p->coarse;
    const real *fine = p->fine->shear[viscous_edge(coarse->dim, a, b)];
    int ways[3] = {COVER, COVER, COVER};
    ways[a] = ways[b] = PLANES;
    if (!is_free(coarse, brick, at, a) || !is_free(coarse, brick, at, b) ||
        !is_free_beside(coarse, brick, at, b, -1, a) ||
        !is_free_beside(coarse, brick, at, a, -1, b))
        return 0;
    return fmin(child_share(coarse->dim) * sum_fine(p, brick, at, ways, fine, false), 1);
}

static void coarsen_weights(void *data, chunk items) {
    const level_pair *p = data;
    const viscous_level *coarse = p->coarse;
    const int dim = coarse->dim;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(dim); c++) {
            const int64_t here = brick * mac_cells(dim) + c;
            int at[3];
            mac_place(c, dim, at);
            for (int a = 0; a < dim; a++) {
                coarse->normal[a][here] = (real)coarse_normal(p, brick, at, a);
                for (int b = a + 1; b < dim; b++)
                    coarse->shear[viscous_edge(dim, a, b)][here] =
                        (real)coarse_shear(p, brick, at, a, b);
            }
        }
}

/* The sum of W over all cells and edges that a face belongs to. */
static double weights_around(const viscous_level *level, int64_t brick, const int at[3], int a) {
    const int64_t here = viscous_cell(level, brick, at);
    double sum = (double)level->normal[a][here];
    for (int e = 0; e < level->dim; e++) {
        const real *from = e == a ? level->normal[a] : level->shear[viscous_edge(level->dim, a, e)];
        int beside[3] = {at[0], at[1], at[2]};
        beside[e] += e == a ? -1 : 1;
        const int64_t other = viscous_cell(level, brick, beside);
        if (e != a) sum += (double)from[here];
        if (other >= 0) sum += (double)from[other];
    }
    return sum;
}

/* The sum of |A| over a row of the matrix is the inertia and 4 s W for each cell and edge. */
static void invert_row_sums(void *data, chunk items) {
    viscous_level *level = data;
    const int dim = level->dim;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        bool any = false;
        for (int c = 0; c < mac_cells(dim); c++) {
            const int64_t here = brick * mac_cells(dim) + c;
            int at[3];
            mac_place(c, dim, at);
            for (int a = 0; a < dim; a++) {
                const bool free = level->mass[a][here] > 0;
                const double sum = free ? weights_around(level, brick, at, a) : 0;
                any |= free;
                level->relax[a][here] =
                    free ? (real)(1 / ((double)level->inertia[a][here] + 4 * level->scale * sum))
                         : 0;
            }
        }
        level->active[brick] = any;
    }
}

void viscous_finish(pool *threads, viscous_level *level) {
    parallel_for(threads, level->bricks, 4, invert_row_sums, level);
    level->active_count = 0;
    for (int32_t i = 0; i < level->bricks; i++)
        if (level->active[i]) level->active[level->active_count++] = i;
}

static void find_shares(void *data, chunk items) {
    const level_pair *p = data;
    const viscous_level *fine = p->fine;
    for (int64_t n = items.begin; n < items.end; n++)
        for (int c = 0; c < mac_cells(fine->dim); c++) {
            const int64_t here = (int64_t)fine->active[n] * mac_cells(fine->dim) + c;
            int at[3];
            mac_place(c, fine->dim, at);
            for (int a = 0; a < fine->dim; a++) {
                double sum = 0;
                if (fine->relax[a][here] > 0)
                    sum = sum_coarse(p, fine->active[n], at, a, p->coarse->mass[a], true);
                fine->share[a][here] = sum > 0 ? (real)(1 / sum) : 0;
            }
        }
}

void viscous_coarsen(const flip *f, viscous_level *levels, int count, viscous_memory *memory) {
    pool *threads = f->threads;
    for (int l = 1; l < count; l++) {
        viscous_level *fine = &levels[l - 1], *coarse = &levels[l];
        *coarse = (viscous_level){.dim = fine->dim, .bricks = 1, .scale = fine->scale / 4};
        for (int32_t i = 1; i < fine->bricks; i++)
            coarse->bricks += !same_parent(fine->coords[i - 1], fine->coords[i], 1);
        viscous_carve(coarse, memory, false);
        link_bricks(fine, coarse);
        level_pair pair = {fine, coarse, levels[0].scale};
        parallel_for(threads, coarse->bricks, 2, coarsen_faces, &pair);
        parallel_for(threads, coarse->bricks, 2, coarsen_weights, &pair);
        viscous_finish(threads, coarse);
        parallel_for(threads, fine->active_count, 4, find_shares, &pair);
    }
}

/* ---- The cycle ------------------------------------------------------------------------------- */

static void start_from_zero(void *data, chunk items) {
    const viscous_relaxation *r = data;
    const viscous_level *level = r->level;
    const int cells = mac_cells(level->dim);
    for (int64_t n = items.begin; n < items.end; n++)
        for (int a = 0; a < level->dim; a++)
            for (int64_t c = level->active[n] * (int64_t)cells, last = c + cells; c < last; c++) {
                const double change = r->step * (double)level->relax[a][c] * (double)level->b[a][c];
                level->x[a][c] = level->d[a][c] = (real)change;
            }
}

static void add_change(void *data, chunk items) {
    const viscous_level *level = data;
    const int cells = mac_cells(level->dim);
    for (int64_t n = items.begin; n < items.end; n++)
        for (int a = 0; a < level->dim; a++)
            for (int64_t c = level->active[n] * (int64_t)cells, last = c + cells; c < last; c++)
                level->x[a][c] += level->d[a][c];
}

/* Chebyshev's polynomial for eigenvalues from `low` to 1. */
static void smooth(pool *threads, const viscous_kernels *kernels, viscous_level *level, int steps,
                   double low, bool from_zero) {
    const double middle = 0.5 * (1 + low), half = 0.5 * (1 - low), ratio = middle / half;
    double before = 1 / ratio;
    for (int k = 0; k < steps; k++) {
        const double now = k ? 1 / (2 * ratio - before) : before;
        viscous_relaxation r = {.level = level, .step = 1 / middle};
        if (k) r.keep = now * before, r.step = 2 * now / half;
        before = now;
        if (k == 0 && from_zero) {
            parallel_for(threads, level->active_count, 16, start_from_zero, &r);
            continue;
        }
        parallel_for(threads, level->active_count, VISCOUS_GRAIN, kernels->relax[level->dim - 2],
                     &r);
        parallel_for(threads, level->active_count, 16, add_change, level);
    }
}

/* coarse b = P^T d; d has been multiplied by `share`. */
static void restrict_residual(void *data, chunk items) {
    const level_pair *p = data;
    const viscous_level *coarse = p->coarse;
    const int dim = coarse->dim;
    const double share = child_share(dim);
    for (int64_t n = items.begin; n < items.end; n++)
        for (int c = 0; c < mac_cells(dim); c++) {
            const int64_t here = (int64_t)coarse->active[n] * mac_cells(dim) + c;
            int at[3], ways[3];
            mac_place(c, dim, at);
            for (int a = 0; a < dim; a++) {
                if (!(coarse->relax[a][here] > 0)) continue;
                face_ways(a, LINEAR, ways);
                coarse->b[a][here] =
                    (real)(share * sum_fine(p, coarse->active[n], at, ways, p->fine->d[a], false));
            }
        }
}

/* fine x += P coarse x */
static void prolong(void *data, chunk items) {
    const level_pair *p = data;
    const viscous_level *fine = p->fine;
    for (int64_t n = items.begin; n < items.end; n++)
        for (int c = 0; c < mac_cells(fine->dim); c++) {
            const int64_t here = (int64_t)fine->active[n] * mac_cells(fine->dim) + c;
            int at[3];
            mac_place(c, fine->dim, at);
            for (int a = 0; a < fine->dim; a++) {
                if (!(fine->relax[a][here] > 0)) continue;
                const double sum = sum_coarse(p, fine->active[n], at, a, p->coarse->x[a], false);
                fine->x[a][here] += (real)(sum * (double)fine->share[a][here]);
            }
        }
}

void viscous_cycle(pool *threads, const viscous_kernels *kernels, viscous_level *levels,
                   int count) {
    viscous_level *level = levels;
    if (count == 1) {
        const double spread = 1 + 24 * level->scale;
        const int steps = (int)fmin(ceil(sqrt(spread)) + 1, SOLVE_STEPS);
        smooth(threads, kernels, level, steps, fmin(0.5, fmax(1 / spread, 0.003)), true);
        return;
    }
    level_pair pair = {level, level + 1, 0};
    viscous_relaxation r = {.level = level, .residual = true};
    smooth(threads, kernels, level, SMOOTH_STEPS, smooth_from, true);
    parallel_for(threads, level->active_count, VISCOUS_GRAIN, kernels->relax[level->dim - 2], &r);
    parallel_for(threads, level[1].active_count, 2, restrict_residual, &pair);
    viscous_cycle(threads, kernels, levels + 1, count - 1);
    parallel_for(threads, level->active_count, 4, prolong, &pair);
    smooth(threads, kernels, level, SMOOTH_STEPS, smooth_from, false);
}
