/*
 * Surface tension: the pressure at the surface is sigma kappa (Young and Laplace), put there by the
 * ghost fluid method (Kang et al. 2000). The projection takes it as 0; what the difference does to a
 * face between a liquid and an air cell, the surface at the share theta of the way between them, is
 *     u -= dt sigma kappa / (density dx theta)
 * towards the air. A drop at rest gets the same kappa all around, and the projection then finds the
 * pressure sigma kappa inside and no velocity at all, whatever the thetas are.
 *
 * The curvature is that of a smoothed share of liquid F: passes of the filter (1, 2, 1) / 4 along each
 * axis, which take out the particles' noise and make F vary over a few cells, and then
 *     kappa = -div (grad F / |grad F|)
 * with central differences. Walls and colliders are mirrors to F: the surface meets them at a right
 * angle. The force is explicit, so a step must not outrun the shortest waves (Brackbill et al. 1992).
 */
#include "solver/flip/flip.h"

enum { PASSES = 4 };

/* Safety of the step; least theta, as in the projection. */
static const double safety = 0.5, least_theta = 1e-3;

/* Marks cells in solids. */
static const real solid_mark = -1;

typedef struct tension {
    const flip *f;
    real *shares, *other; /* F, and where the next pass of the filter goes */
    int axis;
} tension;

/* ---- The smoothed share ---------------------------------------------------------------------- */

static bool is_solid(const flip *f, int64_t brick, const int at[3], int64_t cell) {
    const domain *d = &f->sim->scene->domain;
    for (int a = 0; a < f->grid.dim; a++) {
        const int g = f->grid.bricks.coords[brick][a] * BRICK_EDGE + at[a];
        if (g < 0 && flip_is_mirror(d->walls[a][0])) return true;
        if (g >= d->cells[a] && flip_is_mirror(d->walls[a][1])) return true;
    }
    return f->grid.solid[0][cell] < 0;
}

static void fill_shares(void *data, int64_t begin, int64_t end, int worker) {
    const tension *t = data;
    const mac *m = &t->f->grid;
    (void)worker;
    for (int64_t brick = begin; brick < end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            int at[3];
            mac_place(c, m->dim, at);
            const real share = (real)0.5 - m->phi[0][here];
            t->shares[here] = share < 0 ? 0 : share > 1 ? 1 : share;
            if (is_solid(t->f, brick, at, here)) t->shares[here] = solid_mark;
        }
}

/* One pass of the filter along an axis. */
static void filter(void *data, int64_t begin, int64_t end, int worker) {
    const tension *t = data;
    const mac *m = &t->f->grid;
    (void)worker;
    for (int64_t brick = begin; brick < end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            const real own = t->shares[here];
            int at[3];
            mac_place(c, m->dim, at);
            real sum = 2 * own;
            for (int way = -1; way <= 1; way += 2) {
                const int64_t next = mac_beside(m, brick, c, at, t->axis, way);
                const real share = next < 0 ? 0 : t->shares[next];
                sum += share < 0 ? own : share;
            }
            t->other[here] = own < 0 ? solid_mark : (real)0.25 * sum;
        }
}

static void smooth(tension *t) {
    const int64_t bricks = t->f->grid.bricks.count;
    pool *threads = t->f->sim->ctx->pool;
    parallel_for(threads, bricks, 8, fill_shares, t);
    for (int pass = 0; pass < PASSES; pass++)
        for (t->axis = 0; t->axis < t->f->grid.dim; t->axis++) {
            parallel_for(threads, bricks, 8, filter, t);
            real *swap = t->shares;
            t->shares = t->other, t->other = swap;
        }
}

/* ---- Curvature ------------------------------------------------------------------------------- */

/* F at an offset from a cell; in a solid that of the cell before it, along each axis in turn. */
static double share_at(const tension *t, int64_t brick, const int at[3], int i, int j, int k) {
    const int offset[3] = {i, j, k};
    int q[3] = {at[0], at[1], at[2]};
    double share = 0;
    for (int a = 0; a < t->f->grid.dim; a++) {
        q[a] += offset[a];
        const int64_t cell = mac_cell(&t->f->grid, (int32_t)brick, q[0], q[1], q[2]);
        share = cell < 0 ? 0 : (double)t->shares[cell];
        if (share >= 0 || !offset[a]) continue;
        q[a] -= offset[a];
        const int64_t back = mac_cell(&t->f->grid, (int32_t)brick, q[0], q[1], q[2]);
        share = back < 0 ? 0 : fmax((double)t->shares[back], 0);
    }
    return fmax(share, 0);
}

/* Curvature of the surface of F through a cell, 1/cells, positive where the liquid bulges out. */
static double curvature(const tension *t, int64_t brick, const int at[3]) {
    const int dim = t->f->grid.dim;
    double slope[3] = {0}, bend[3][3] = {{0}};
    const double own = share_at(t, brick, at, 0, 0, 0);
    for (int a = 0; a < dim; a++) {
        int e[3] = {0};
        e[a] = 1;
        double high = share_at(t, brick, at, e[0], e[1], e[2]);
        double low = share_at(t, brick, at, -e[0], -e[1], -e[2]);
        slope[a] = 0.5 * (high - low);
        bend[a][a] = high - 2 * own + low;
        for (int b = 0; b < a; b++) {
            double sum = 0;
            for (int n = 0; n < 4; n++) {
                int q[3] = {0};
                q[a] = n & 1 ? 1 : -1, q[b] = n & 2 ? 1 : -1;
                sum += q[a] * q[b] * share_at(t, brick, at, q[0], q[1], q[2]);
            }
            bend[a][b] = bend[b][a] = 0.25 * sum;
        }
    }
    double steep = 0, trace = 0, along = 0;
    for (int a = 0; a < dim; a++) {
        steep += slope[a] * slope[a];
        trace += bend[a][a];
        for (int b = 0; b < dim; b++) along += slope[a] * bend[a][b] * slope[b];
    }
    if (!(steep > 1e-8)) return 0;
    /* nothing on the grid is rounder than a cell */
    const double kappa = (along / steep - trace) / sqrt(steep);
    return fmin(fmax(kappa, 1 - dim), dim - 1);
}

/* ---- The force ------------------------------------------------------------------------------- */

static void pull_faces(void *data, int64_t begin, int64_t end, int worker) {
    const tension *t = data;
    const flip *f = t->f;
    const mac *m = &f->grid;
    const double dx = f->sim->scene->domain.dx;
    const double force = f->sim->dt * f->tension / (f->density * dx * dx);
    (void)worker;
    for (int64_t brick = begin; brick < end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            const double high = (double)m->phi[0][here];
            int at[3];
            mac_place(c, m->dim, at);
            for (int a = 0; a < m->dim; a++) {
                if (!(m->open[a][here] > 0) || m->known[0][here] >> (a + 4) & 1) continue;
                const int64_t before = mac_beside(m, brick, c, at, a, -1);
                const double low = before < 0 ? 1 : (double)m->phi[0][before];
                if ((low < 0) == (high < 0)) continue;
                const double inside = low < 0 ? low : high, outside = low < 0 ? high : low;
                const double share = inside / (inside - outside);
                int next[3] = {at[0], at[1], at[2]};
                next[a]--;
                const double kappa_high = curvature(t, brick, at),
                             kappa_low = curvature(t, brick, next);
                const double kappa = low < 0 ? (1 - share) * kappa_low + share * kappa_high
                                             : (1 - share) * kappa_high + share * kappa_low;
                const double theta = f->options->surface_order == 2 ? fmax(share, least_theta) : 1;
                const double change = force * kappa / theta;
                m->velocity[a][here] += (real)(low < 0 ? -change : change);
            }
        }
}

spate_status flip_tension(flip *f) {
    scratch *s = &f->sim->scratch;
    const size_t cells = (size_t)(f->grid.bricks.count * mac_cells(f->grid.dim));
    if (!(f->tension > 0) || !cells) return SPATE_OK;
    real *memory = scratch_take(s, "tension", 2 * cells, sizeof *memory);
    if (!memory) return SPATE_OUT_OF_MEMORY;
    tension t = {.f = f, .shares = memory, .other = memory + cells};
    smooth(&t);
    parallel_for(f->sim->ctx->pool, f->grid.bricks.count, 4, pull_faces, &t);
    scratch_give(s, "tension");
    return SPATE_OK;
}

double flip_tension_limit(const flip *f) {
    const double dx = f->sim->scene->domain.dx;
    if (!(f->tension > 0)) return HUGE_VAL;
    return safety * sqrt(f->density * dx * dx * dx / (4 * M_PI * f->tension));
}
