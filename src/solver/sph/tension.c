/*
 * Surface tension as the gradient of an energy, sigma times the area of the surfaces F = const of a
 * smooth field, the particles' share of space:
 *
 *     F   = H sum_i V B(x - x_i)          V a volume, B a quadratic B-spline, H a filter
 *     E   = sigma int g(F) |grad F| dx    int_0^1 g dF = 1
 *     f_i = -dE / dx_i = -sigma V grad (B * H M)
 *     M   = g' |grad F| - div (g n)       n = grad F / |grad F|
 *
 * By the coarea formula E is sigma times the mean area of those surfaces, weighted by g, so tension
 * needs no factor. M is g kappa; H and B take it to the liquid's surface as sigma kappa, which is
 * Laplace's pressure. The filter of the force is the adjoint of that of F, so particles gain
 * nothing from going round in ripples. Pairs do not draw each other: cohesion would make the liquid
 * stiff against shear (Akinci et al. 2013).
 *
 *   g = 3 (1 - F)^2. It is none inside, where F is 1 but for noise. It is largest far outside, so
 *       that a particle off the surface is drawn in; with g(0) = 0 it would be driven away.
 *   H is passes of (1, 2, 1) / 4 along each axis. B and H have a variance of 2.75 spacings^2
 *   together: with
 *       2 or less the particles' own pattern shows in E, and drops keep the shape they are pressed
 *       into.
 *
 * The surfaces F = const lie outside that of the liquid, by `offset` in the mean. In 3D they are
 * larger than it, and E rises faster with the volume, by offset / R. What is too much is the energy
 * sigma offset int kappa dA, whose force has 2 K in place of kappa (Steiner), K the Gaussian
 * curvature: M = g (kappa - 2 offset K). In 2D there is no such term, as int kappa ds is 2 pi for
 * every shape.
 *
 * Integrals are sums over nodes about a spacing apart, a whole number to a cell, in all blocks
 * around the liquid: half of where |grad F| is not zero has no particles. As nodes do not move with
 * the liquid, the forces of a body that touches nothing, and their torques, sum up to zero only
 * nearly: what is left is taken off.
 *
 * Walls have a share of space too, and S = H of it. F is the share of what they leave, H sum / (1 -
 * S), and E is summed over that, so the surface meets them square.
 */
#include "core/vec.h"
#include "solver/sph/sph.h"

enum { BLOCKS_A_CHUNK = 4 };

/* Of B and H together, spacings^2, and of B and of a pass alone, in distances of nodes. */
static const double variance = 2.75, variance_of_spline = 0.25, variance_of_pass = 0.5;

/* Mean of n over int g dF where F falls as the normal distribution does, in standard deviations:
 * that of the largest of three, 3 / (2 sqrt pi). */
static const double mean_offset = 0.8463;

/* By how much tension presses the outermost particles in, until they have the density at rest too:
 * in spacings, measured. */
static const double pressed = 0.33;

/* Share of a spacing by which nodes may be farther apart than particles. */
static const double most_apart = 0.2;

/* |grad F| over nodes below which a direction means nothing. */
static const real flattest = (real)1e-3;

/* Least share of open space that F is taken of. */
static const real least_open = (real)0.05;

/* What is summed up over particles: how many, their accelerations, places x (cells), x x
 * acceleration and x x^T. */
typedef struct sums {
    double count, force[3], place[3], torque[3], moment[3][3];
} sums;

/* A block's part of a body. */
typedef struct part {
    int32_t first;             /* block of the same body, itself for the first */
    bool held;                 /* touches a wall */
    sums of;                   /* the block; for the first, the body */
    double middle[3], turn[3]; /* of the body: of its mass; its angular acceleration */
} part;

struct sph_tension {
    sph *s;
    const blocks *blocks;
    int dim, edge, passes;    /* nodes along a block; of the filter */
    int64_t nodes, stride[3]; /* of a block */
    double fine;              /* nodes a cell */
    real offset;              /* of the surfaces F = const from the liquid's, in nodes */
    real share;               /* a particle's volume over that of a node */
    bool walled;
    int64_t capacity; /* blocks */
    real *field;      /* all below, `planes` of them, and the nodes of a block */
    int planes;
    real *F, *spare, *M, *flux[3];
    real *nothing; /* a block without anything */
    real *open;    /* 1 - S */
    part *parts;
    /* of the pass that runs */
    real *from, *to;
    int axis;
};

/* ---- Nodes ----------------------------------------------------------------------------------- */

typedef struct spline {
    int base[3]; /* the first of three nodes along each axis */
    real w[3][3], slope[3][3];
} spline;

static spline spline_at(const sph_tension *t, const real x[3]) {
    spline b = {.w = {{1}, {1}, {1}}};
    for (int a = 0; a < t->dim; a++) {
        const real at = x[a] * (real)t->fine - (real)0.5, nearest = (real)floor((double)at + 0.5);
        const real d = at - nearest, half = (real)0.5;
        b.base[a] = (int)nearest - 1;
        b.w[a][0] = half * (half - d) * (half - d), b.slope[a][0] = d - half;
        b.w[a][1] = (real)0.75 - d * d, b.slope[a][1] = -2 * d;
        b.w[a][2] = half * (half + d) * (half + d), b.slope[a][2] = d + half;
    }
    return b;
}

/* A node that may lie in a neighbour of a block, or -1. */
static int64_t node_of(const sph_tension *t, int32_t block, const int at[3]) {
    int code = 0;
    int64_t node = 0;
    for (int a = 0; a < t->dim; a++) {
        const int side = at[a] < 0 ? 0 : at[a] >= t->edge ? 2 : 1;
        code = 3 * code + side;
        node += t->stride[a] * (at[a] - (side - 1) * t->edge);
    }
    const int32_t other = t->blocks->neighbours[block][code];
    return other < 0 ? -1 : other * t->nodes + node;
}

static void place_of(const sph_tension *t, int64_t c, int at[3]) {
    int left = (int)c;
    at[2] = 0;
    for (int a = t->dim - 1; a >= 0; a--, left /= t->edge) at[a] = left % t->edge;
}

static void each_block(sph_tension *t, chunk_task task) {
    parallel_for(t->s->threads, t->blocks->count, BLOCKS_A_CHUNK, task, t);
}

/* ---- Shares ---------------------------------------------------------------------------------- */

/* Adds what a particle at x, cells from the block's corner, has in the block's nodes. */
static void add_share(const sph_tension *t, const real x[3], real share, real *out) {
    const spline b = spline_at(t, x);
    int low[3] = {0}, high[3] = {1, 1, 1};
    for (int a = 0; a < t->dim; a++) {
        low[a] = b.base[a] < 0 ? -b.base[a] : 0;
        high[a] = t->edge - b.base[a] < 3 ? t->edge - b.base[a] : 3;
        if (low[a] >= high[a]) return;
    }
    for (int i = low[0]; i < high[0]; i++)
        for (int j = low[1]; j < high[1]; j++)
            for (int k = low[2]; k < high[2]; k++)
                out[(b.base[0] + i) * t->stride[0] + (b.base[1] + j) * t->stride[1] +
                    (b.base[2] + k) * t->stride[2]] += share * b.w[0][i] * b.w[1][j] * b.w[2][k];
}

/* Adds the particles of the block at offset `code`. */
static void add_block(const sph_tension *t, int32_t block, int code, real *out) {
    const blocks *b = t->blocks;
    const real reach = (real)(1.01 / t->fine); /* of B beyond the block, and a little */
    real corner[3] = {0};
    for (int a = t->dim - 1; a >= 0; a--, code /= 3)
        corner[a] = (real)((code % 3 - 1) * BLOCK_EDGE);
    for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
        real x[3] = {0};
        bool near = true;
        for (int a = 0; a < t->dim; a++) {
            x[a] = corner[a] + PLANE(&t->s->sim->particles, position, a)[i];
            near &= x[a] > -reach && x[a] < BLOCK_EDGE + reach;
        }
        if (near) add_share(t, x, t->share, out);
    }
}

static void gather(void *data, chunk items) {
    const sph_tension *t = data;
    for (int64_t block = items.begin; block < items.end; block++) {
        real *F = t->F + block * t->nodes;
        for (int64_t c = 0; c < t->nodes; c++) F[c] = 0;
        for (int code = 0; code < neighbour_count(t->dim); code++) {
            const int32_t other = t->blocks->neighbours[block][code];
            if (other >= 0) add_block(t, other, code, F);
        }
    }
}

/* How far a place is from the nearest closed side, cells; less than 0 behind it. */
static double distance_to_sides(const domain *d, int dim, const int32_t coords[3],
                                const double local[3]) {
    double nearest = HUGE_VAL;
    for (int a = 0; a < dim; a++) {
        const double g = coords[a] * BLOCK_EDGE + local[a];
        for (int end = 0; end < 2; end++)
            if (d->walls[a][end] != WALL_OPEN && d->walls[a][end] != WALL_PERIODIC)
                nearest = fmin(nearest, end ? d->cells[a] - g : g);
    }
    return nearest;
}

/* The share of walls, which ends as steeply as that of particles beside it. */
static void gather_walls(void *data, chunk items) {
    const sph_tension *t = data;
    const spate_simulation *sim = t->s->sim;
    const domain *d = &sim->scene->domain;
    for (int64_t block = items.begin; block < items.end; block++) {
        const int32_t *coords = sim->blocks.coords[block];
        double middle[3];
        simulation_middle(sim, coords, middle);
        const boundary_part near =
            simulation_at_seam(sim, (int32_t)block)
                ? boundary_all(&sim->boundary)
                : boundary_around(&sim->boundary, middle, simulation_reach(sim) + d->dx);
        const double half = 0.5 * BLOCK_EDGE, centre[3] = {half, half, half};
        const bool far = distance_to_sides(d, t->dim, coords, centre) > half + 1 / t->fine;
        real *open = t->open + block * t->nodes;
        if (far && !near.count) {
            memset(open, 0, (size_t)t->nodes * sizeof *open);
            continue;
        }
        for (int64_t c = 0; c < t->nodes; c++) {
            double local[3] = {0}, x[3];
            int at[3], which;
            place_of(t, c, at);
            for (int a = 0; a < t->dim; a++) local[a] = (at[a] + 0.5) / t->fine;
            double distance = distance_to_sides(d, t->dim, coords, local);
            if (near.count) {
                simulation_world(sim, coords, local, x);
                distance = fmin(distance, boundary_part_nearest(&near, x, &which) / d->dx);
            }
            open[c] = (real)fmin(1, fmax(0, 0.5 - 0.75 * distance * t->fine));
        }
    }
}

/* ---- The filter ------------------------------------------------------------------------------ */

/* A pass over `count` nodes in a row, from those before and behind them. */
INLINE void filter_row(const real *before, const real *here, const real *after, real *to,
                       int64_t count) {
    for (int64_t c = 0; c < count; c++)
        to[c] = (real)0.5 * here[c] + (real)0.25 * (before[c] + after[c]);
}

/* Along the last axis rows are of nodes that follow each other, along others of nodes side by side.
 * */
static void filter_block(const sph_tension *t, int32_t block, const real *low, const real *high) {
    const int64_t stride = t->stride[t->axis], far = (t->edge - 1) * stride;
    for (int64_t row = 0; row < t->nodes; row += t->edge * stride) {
        const real *from = t->from + block * t->nodes + row;
        real *to = t->to + block * t->nodes + row;
        filter_row(low + row + far, from, from + stride, to, stride);
        filter_row(from, from + stride, from + 2 * stride, to + stride, far - stride);
        filter_row(from + far - stride, from + far, high + row, to + far, stride);
    }
}

static void filter(void *data, chunk items) {
    const sph_tension *t = data;
    int step = 1;
    for (int a = t->dim - 1; a > t->axis; a--) step *= 3;
    for (int64_t block = items.begin; block < items.end; block++) {
        const int32_t *around = t->blocks->neighbours[block];
        const int middle = neighbour_count(t->dim) / 2;
        const int32_t low = around[middle - step], high = around[middle + step];
        filter_block(t, (int32_t)block, low < 0 ? t->nothing : t->from + low * t->nodes,
                     high < 0 ? t->nothing : t->from + high * t->nodes);
    }
}

static void smooth(sph_tension *t, real **values) {
    for (int pass = 0; pass < t->passes; pass++)
        for (t->axis = 0; t->axis < t->dim; t->axis++) {
            t->from = *values, t->to = t->spare;
            each_block(t, filter);
            *values = t->to, t->spare = t->from;
        }
}

/* ---- The energy's derivative ----------------------------------------------------------------- */

static void leave_walls(void *data, chunk items) {
    const sph_tension *t = data;
    for (int64_t c = items.begin * t->nodes; c < items.end * t->nodes; c++) {
        const real open = 1 - t->open[c];
        t->open[c] = open > 0 ? open : 0;
        t->F[c] /= open > least_open ? open : least_open;
    }
}

static real value_of(const sph_tension *t, const real *values, int32_t block, const int at[3]) {
    const int64_t node = node_of(t, block, at);
    return node < 0 ? 0 : values[node];
}

/* Central difference along an axis. */
INLINE real difference(const sph_tension *t, const real *values, int32_t block, int64_t c,
                       const int at[3], int axis) {
    const int64_t here = block * t->nodes + c;
    if (at[axis] > 0 && at[axis] < t->edge - 1)
        return (real)0.5 * (values[here + t->stride[axis]] - values[here - t->stride[axis]]);
    int low[3] = {at[0], at[1], at[2]}, high[3] = {at[0], at[1], at[2]};
    low[axis]--, high[axis]++;
    return (real)0.5 * (value_of(t, values, block, high) - value_of(t, values, block, low));
}

/* g' |grad F| and g n, as M and flux. */
static void differentiate(void *data, chunk items) {
    const sph_tension *t = data;
    for (int64_t block = items.begin; block < items.end; block++)
        for (int64_t c = 0; c < t->nodes; c++) {
            const int64_t here = block * t->nodes + c;
            const real F = t->F[here], rest = 1 - F;
            const bool outside = !(F > 0 && F < 1);
            real d[3] = {0}, size2 = flattest * flattest;
            int at[3];
            t->M[here] = 0;
            for (int a = 0; a < t->dim; a++) t->flux[a][here] = 0;
            if (outside) continue;
            place_of(t, c, at);
            for (int a = 0; a < t->dim; a++) {
                d[a] = difference(t, t->F, (int32_t)block, c, at, a);
                size2 += d[a] * d[a];
            }
            const real size = (real)sqrt((double)size2), open = t->walled ? t->open[here] : 1;
            const real g = open * 3 * rest * rest;
            t->M[here] = -open * 6 * rest * (size - flattest);
            for (int a = 0; a < t->dim; a++) t->flux[a][here] = g * d[a] / size;
        }
}

/* The derivative of F along two axes: differences of differences. */
static real second(const sph_tension *t, int32_t block, int64_t c, const int at[3], int a, int b) {
    const int64_t to_a = t->stride[a], to_b = t->stride[b];
    const int least = at[a] < at[b] ? at[a] : at[b], most = at[a] < at[b] ? at[b] : at[a];
    if (least >= 2 && most < t->edge - 2) {
        const real *F = t->F + block * t->nodes + c;
        return (real)0.25 * (F[to_a + to_b] - F[to_a - to_b] - F[to_b - to_a] + F[-to_a - to_b]);
    }
    real sum = 0;
    for (int k = 0; k < 4; k++) {
        int to[3] = {at[0], at[1], at[2]};
        to[a] += k % 2 ? 1 : -1;
        to[b] += k / 2 ? 1 : -1;
        sum += (k % 2 == k / 2 ? 1 : -1) * value_of(t, t->F, block, to);
    }
    return (real)0.25 * sum;
}

/* The Gaussian curvature of the surface F = const, K = grad F . adj(hessian F) grad F / |grad F|^4.
 * */
static real gaussian_curvature(const sph_tension *t, int32_t block, int64_t c, const int at[3]) {
    real d[3], h[3][3], sum = 0, size2 = flattest * flattest;
    for (int a = 0; a < 3; a++) {
        d[a] = difference(t, t->F, block, c, at, a);
        size2 += d[a] * d[a];
        for (int b = a; b < 3; b++) h[a][b] = h[b][a] = second(t, block, c, at, a, b);
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const int a1 = (a + 1) % 3, a2 = (a + 2) % 3, b1 = (b + 1) % 3, b2 = (b + 2) % 3;
            sum += d[a] * d[b] * (h[a1][b1] * h[a2][b2] - h[a1][b2] * h[a2][b1]);
        }
    return sum / (size2 * size2);
}

/* g (kappa - 2 offset K) for M = g kappa, never less than half of that nor more than twice. */
static real without_offset(const sph_tension *t, int32_t block, int64_t c, const int at[3],
                           real M) {
    const real rest = 1 - t->F[block * t->nodes + c];
    if (!(rest > (real)0.05)) return M; /* g is little */
    const real g = 3 * rest * rest * (t->walled ? t->open[block * t->nodes + c] : 1);
    const real most = (real)0.5 * (M > 0 ? M : -M);
    const real less = 2 * t->offset * g * gaussian_curvature(t, block, c, at);
    return M - (less > most ? most : less < -most ? -most : less);
}

/* M -= div flux; and as F is a share of what walls leave. */
static void diverge(void *data, chunk items) {
    const sph_tension *t = data;
    for (int64_t block = items.begin; block < items.end; block++)
        for (int64_t c = 0; c < t->nodes; c++) {
            const int64_t here = block * t->nodes + c;
            real M = t->M[here]; /* 0 where F is */
            int at[3];
            if (!(t->F[here] > 0)) continue;
            place_of(t, c, at);
            for (int a = 0; a < t->dim; a++)
                M -= difference(t, t->flux[a], (int32_t)block, c, at, a);
            if (t->dim == 3) M = without_offset(t, (int32_t)block, c, at, M);
            if (t->walled) M /= t->open[here] > least_open ? t->open[here] : least_open;
            t->M[here] = M;
        }
}

/* ---- Forces ---------------------------------------------------------------------------------- */

/* The gradient of M at a particle, over nodes. */
static void slope_at(const sph_tension *t, int32_t block, const real x[3], real out[3]) {
    const spline b = spline_at(t, x);
    const int depth = t->dim == 3 ? 3 : 1;
    out[0] = out[1] = out[2] = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < depth; k++) {
                const int at[3] = {b.base[0] + i, b.base[1] + j, b.base[2] + k};
                const real M = value_of(t, t->M, block, at);
                out[0] += M * b.slope[0][i] * b.w[1][j] * b.w[2][k];
                out[1] += M * b.w[0][i] * b.slope[1][j] * b.w[2][k];
                out[2] += M * b.w[0][i] * b.w[1][j] * b.slope[2][k];
            }
}

/* The place of a particle of a block, cells. */
static void place_in(const sph_tension *t, int32_t block, int64_t i, double x[3]) {
    const blocks *b = t->blocks;
    vec_set(x, 0, 0, 0);
    for (int a = 0; a < t->dim; a++)
        x[a] =
            b->coords[block][a] * BLOCK_EDGE + (double)PLANE(&t->s->sim->particles, position, a)[i];
}

static void add_particle(sums *of, const double x[3], const double acceleration[3]) {
    double torque[3];
    vec_cross(torque, x, acceleration);
    of->count++;
    vec_add(of->force, of->force, acceleration);
    vec_add(of->place, of->place, x);
    vec_add(of->torque, of->torque, torque);
    for (int a = 0; a < 3; a++) vec_add_scaled(of->moment[a], of->moment[a], x[a], x);
}

/* Accelerations; and what a block's sum up to. */
static void accelerate(void *data, chunk items) {
    const sph_tension *t = data;
    sph *s = t->s;
    const blocks *b = &s->sim->blocks;
    const double step = s->dx / t->fine;
    const real factor = (real)(s->tension / (s->rest_density * step * step));
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        part *own = &t->parts[block];
        *own = (part){.first = block};
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            real local[3] = {0}, slope[3];
            double x[3], acceleration[3] = {0};
            for (int a = 0; a < t->dim; a++) local[a] = PLANE(&s->sim->particles, position, a)[i];
            slope_at(t, block, local, slope);
            for (int a = 0; a < t->dim; a++) {
                acceleration[a] = (double)(-factor * slope[a]);
                s->view.acceleration[i][a] -= factor * slope[a];
            }
            place_in(t, block, i, x);
            add_particle(&own->of, x, acceleration);
            if (s->view.boundary_neighbours.number[i]) own->held = true;
        }
    }
}

/* ---- Bodies ---------------------------------------------------------------------------------- */

static part *first_of(part *parts, part *p) {
    while (p != &parts[p->first]) {
        p->first = parts[p->first].first;
        p = &parts[p->first];
    }
    return p;
}

/* Blocks that hold liquid and touch are of one body. */
static void join_parts(const sph_tension *t) {
    const blocks *b = t->blocks;
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        for (int code = 0; code < neighbour_count(t->dim) / 2; code++) {
            const int32_t other = b->neighbours[block][code];
            if (other < 0 || b->tile[other] < 0) continue;
            part *one = first_of(t->parts, &t->parts[block]);
            part *two = first_of(t->parts, &t->parts[other]);
            if (one < two)
                two->first = one->first;
            else
                one->first = two->first;
        }
    }
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const part *p = &t->parts[b->occupied[o]];
        part *first = first_of(t->parts, &t->parts[b->occupied[o]]);
        if (p == first) continue;
        first->held |= p->held;
        first->of.count += p->of.count;
        vec_add(first->of.force, first->of.force, p->of.force);
        vec_add(first->of.place, first->of.place, p->of.place);
        vec_add(first->of.torque, first->of.torque, p->of.torque);
        for (int a = 0; a < 3; a++)
            vec_add(first->of.moment[a], first->of.moment[a], p->of.moment[a]);
    }
}

/* The rigid acceleration of a body: force / mass, and J^-1 torque about its middle, J = tr(M) - M.
 * */
static void find_turn(part *whole) {
    sums *of = &whole->of;
    double shift[3], J[3][3], across[3], trace = 0;
    vec_scale(of->force, 1 / of->count, of->force);
    vec_scale(whole->middle, 1 / of->count, of->place);
    vec_cross(shift, of->place, of->force);
    vec_sub(of->torque, of->torque, shift);
    for (int a = 0; a < 3; a++) {
        vec_add_scaled(J[a], of->moment[a], -of->place[a], whole->middle);
        trace += J[a][a];
    }
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) J[a][b] = (a == b ? trace * (1 + 1e-12) : 0) - J[a][b];
    vec_cross(across, J[1], J[2]);
    const double volume = vec_dot(J[0], across);
    if (!(volume > 1e-9)) return; /* a particle, or some in a row */
    for (int a = 0; a < 3; a++) {
        vec_cross(across, J[(a + 1) % 3], J[(a + 2) % 3]);
        whole->turn[a] = vec_dot(across, of->torque) / volume;
    }
}

/* Where an axis is periodic a body may go round it, and has no middle. */
static void find_turns(const sph_tension *t) {
    const blocks *b = t->blocks;
    const bool round = b->period[0] || b->period[1] || b->period[2];
    for (int32_t o = 0; o < b->occupied_count; o++) {
        part *p = &t->parts[b->occupied[o]];
        if (p->first != b->occupied[o] || p->held) continue;
        find_turn(p);
        if (round) vec_set(p->turn, 0, 0, 0);
    }
}

/* Takes off what the forces on a body that touches nothing, and their torques, sum up to. */
static void balance(void *data, chunk items) {
    const sph_tension *t = data;
    const blocks *b = t->blocks;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = b->occupied[o];
        const part *whole = &t->parts[block];
        while (whole != &t->parts[whole->first]) whole = &t->parts[whole->first];
        if (whole->held) continue;
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            double x[3], rigid[3];
            place_in(t, block, i, x);
            vec_sub(x, x, whole->middle);
            vec_cross(rigid, whole->turn, x);
            vec_add(rigid, rigid, whole->of.force);
            for (int a = 0; a < t->dim; a++) t->s->view.acceleration[i][a] -= (real)rigid[a];
        }
    }
}

/* ---- All of it ------------------------------------------------------------------------------- */

static spate_status reserve(sph_tension *t) {
    spate_context *ctx = t->s->sim->ctx;
    const int64_t count = t->blocks->count;
    TRY(ENSURE(ctx, t->capacity, count + 1, EACH(t->field, t->planes * t->nodes),
               EACH(t->parts, 1))); /* one more, of zeros */
    real **const planes[] = {&t->F, &t->spare, &t->M, &t->flux[0], &t->flux[1]};
    const int64_t plane = (t->capacity - 1) * t->nodes;
    int n = 0;
    for (; n < COUNT_OF(planes); n++) *planes[n] = t->field + n * plane;
    if (t->dim == 3) t->flux[2] = t->field + n++ * plane;
    if (t->walled) t->open = t->field + n * plane;
    t->nothing = t->field + t->planes * plane;
    return SPATE_OK;
}

spate_status sph_tension_accelerate(sph_tension *t) {
    const int64_t occupied = t->blocks->occupied_count;
    pool *threads = t->s->threads;
    TRY(reserve(t));
    each_block(t, gather);
    smooth(t, &t->F);
    if (t->walled) {
        each_block(t, gather_walls);
        smooth(t, &t->open);
        each_block(t, leave_walls);
    }
    each_block(t, differentiate);
    each_block(t, diverge);
    smooth(t, &t->M);
    parallel_for(threads, occupied, BLOCKS_A_CHUNK, accelerate, t);
    join_parts(t);
    find_turns(t);
    parallel_for(threads, occupied, BLOCKS_A_CHUNK, balance, t);
    return SPATE_OK;
}

spate_status sph_tension_create(sph *s, sph_tension **out) {
    const spate_scene *scene = s->scene;
    sph_tension *t = take(s->sim->ctx, 1, sizeof *t);
    if (!t) return SPATE_OUT_OF_MEMORY;
    *out = t;
    t->s = s;
    t->blocks = &s->sim->blocks;
    t->dim = scene->dim;
    t->fine = fmax(1, ceil(scene->domain.dx / s->spacing - most_apart));
    t->edge = BLOCK_EDGE * (int)t->fine;
    const double length = s->spacing * t->fine / scene->domain.dx; /* a spacing, in nodes */
    const double passes = (variance * length * length - variance_of_spline) / variance_of_pass;
    t->passes = (int)fmax(1, floor(passes + 0.5));
    t->offset = (real)((mean_offset * sqrt(variance) - pressed) * length);
    t->share = (real)pow(length, t->dim);
    t->nodes = 1;
    for (int a = t->dim - 1; a >= 0; a--) t->stride[a] = t->nodes, t->nodes *= t->edge;
    t->walled = scene->collider_count > 0;
    for (int side = 0; side < 2 * t->dim; side++) {
        const wall kind = scene->domain.walls[side / 2][side % 2];
        t->walled |= kind != WALL_OPEN && kind != WALL_PERIODIC;
    }
    t->planes = 3 + t->dim + t->walled;
    return SPATE_OK;
}

void sph_tension_free(sph_tension *t) {
    if (!t) return;
    spate_context *ctx = t->s->sim->ctx;
    give(ctx, t->field), give(ctx, t->parts), give(ctx, t);
}

size_t sph_tension_bytes(const sph_tension *t) {
    if (!t) return 0;
    return (size_t)t->capacity *
           ((size_t)(t->planes * t->nodes) * sizeof *t->field + sizeof *t->parts);
}
