/*
 * Viscosity, implicit and variational (Batty and Bridson 2008): the velocity that the step ends
 * with minimises
 *     integral rho/2 |u - u*|^2 + dt mu |D(u)|^2 dV,      D = (grad u + grad u^T) / 2,
 * over the liquid. With the whole of D a liquid that turns as a rigid body feels nothing, which
 * lets honey buckle and coil, and a free surface needs no condition: it is where the integral ends.
 *
 * In cells, with s = mu dt / (rho dx^2):   (V + s K) u = V u*   (viscosity.h). V is the mass that
 * the particles gave the face, so their momentum is kept and their energy falls; W is the liquid's
 * share by the level set.
 *
 *   free    a face with mass that is not closed: an unknown
 *   fixed   moves with a wall: its middle is in a sticky collider, at a closed side or behind a sticky
 *           one, or in a source
 *   slip    closed by any other collider, or behind a side that is not sticky: cells and edges that
 *           would need it carry no stress
 *   none    no liquid near; likewise
 *
 * A wall that passes between a free and a fixed face at the share theta of their distance makes the
 * stress between them larger by 1/theta: 2 at sides, where it passes half way. Where a collider
 * slips, its normal stress is left to the pressure.
 *
 * The equations are symmetric and positive definite; they are solved by conjugate gradients with a
 * multigrid preconditioner (viscosity_levels.c). The direction of a step is rounded to `real`,
 * while solution and residual are double: both follow the rounded direction, so they stay true to
 * each other.
 */
#include "solver/flip/viscosity.h"

#include "solver/flip/reaction.h"

#include "core/isa.h"
#include "core/vec.h"

/* Closest that a collider's wall may pass a free face, in cells. */
static const double least_theta = 0.2;

enum { RESTARTS = 3 };

typedef struct viscous {
    const flip *f;
    const viscous_kernels *kernels;
    viscous_level levels[VISCOUS_LEVELS];
    int level_count;
    uint8_t *kinds;                  /* of faces, two bits an axis */
    real *p[3];                      /* direction of a step */
    double *change[3], *r[3], *q[3]; /* what u* lacks of the solution; residual; A p */
    double factor;                   /* of what a pass adds */
    int part;                        /* what set_part writes to p */
    double right, left;              /* squares of |V u* + walls| and of the residual */
    double tolerance;
    int iterations;
} viscous;

static int kind_at(const viscous *v, int64_t cell, int axis) {
    return viscous_kind(v->kinds, cell, axis);
}

/* ---- Which faces are free -------------------------------------------------------------------- */

static int kind_of_prescribed(const domain *d, int dim, int axis, const int g[3]) {
    for (int e = 0; e < dim; e++) {
        const wall *side = e == axis ? NULL : closed_side(d, e, g[e]);
        if (side && *side != WALL_STICKY) return SLIP;
    }
    return FIXED;
}

/* Of a face that a collider closes in part or wholly. */
static int kind_of_cut(const flip *f, const boundary_part *near, int axis, const int g[3],
                       int uncut, bool closed) {
    double x[3];
    int c;
    face_position(f->domain, f->grid.dim, g, axis, x);
    const bool inside = boundary_part_nearest(near, x, &c) < 0;
    if (inside && f->sim->scene->colliders[c].contact == CONTACT_STICKY) return FIXED;
    return closed ? SLIP : uncut;
}

static void classify(void *data, chunk items) {
    const viscous *v = data;
    const flip *f = v->f;
    const mac *m = &f->grid;
    const viscous_level *level = &v->levels[0];
    const int dim = m->dim;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const boundary_part near = colliders_near_brick(f->sim, m, brick);
        for (int c = 0; c < mac_cells(dim); c++) {
            const int64_t here = brick * mac_cells(dim) + c;
            int g[3], kinds = 0;
            mac_place(c, dim, g);
            for (int a = 0; a < dim; a++) g[a] += m->bricks.coords[brick][a] * BRICK_EDGE;
            for (int a = 0; a < dim; a++) {
                int kind = m->mass[a][here] > 0 ? FREE : NONE;
                if (mac_is_prescribed(m, a, here))
                    kind = kind_of_prescribed(f->domain, dim, a, g);
                else if (m->face_fraction[a][here] < 1)
                    kind = kind_of_cut(f, &near, a, g, kind, m->face_fraction[a][here] == 0);
                kinds |= kind << KIND_BITS * a;
                level->mass[a][here] = kind == FREE ? m->mass[a][here] * f->inverse_mass : 0;
                level->x[a][here] = level->d[a][here] = 0;
                v->change[a][here] = 0;
            }
            v->kinds[here] = (uint8_t)kinds;
        }
    }
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Distance of a face's middle from the nearest collider, in cells. */
static double solid_at(const mac *m, int64_t brick, const int at[3], int axis) {
    int before[3] = {at[0], at[1], at[2]};
    before[axis]--;
    int64_t here = mac_cell(m, brick, at), low = mac_cell(m, brick, before);
    double solid = here < 0 ? SOLID_FAR : (double)m->solid_phi[0][here];
    return low < 0 ? solid : 0.5 * (solid + (double)m->solid_phi[0][low]);
}

/* What a difference between two faces of one axis counts: nothing when one of them has no velocity,
 * more when there is a wall between them. */
static double pair_weight(const viscous *v, int64_t brick, const int low[3], const int high[3],
                          int axis, bool *free) {
    const mac *m = &v->f->grid;
    const int64_t a = mac_cell(m, brick, low), b = mac_cell(m, brick, high);
    const int ka = a < 0 ? NONE : kind_at(v, a, axis), kb = b < 0 ? NONE : kind_at(v, b, axis);
    if (ka == NONE || kb == NONE || ka == SLIP || kb == SLIP) return 0;
    *free |= ka == FREE || kb == FREE;
    const int64_t closed = ka == FREE ? b : a;
    if (ka == kb || mac_is_prescribed(m, axis, closed)) return 1;
    double inside = fmin(solid_at(m, brick, ka == FREE ? high : low, axis), -0.01);
    double outside = fmax(solid_at(m, brick, ka == FREE ? low : high, axis), 0);
    return 1 / fmax(outside / (outside - inside), least_theta);
}

/* The liquid's share of a cell-sized box, from the mean distance of its middle to the surface. */
static double share_of(double distance) { return fmin(fmax(0.5 - distance, 0), 1); }

/* That around an edge: of the four cells there, those in the domain count. Also whether a side of
 * the domain runs along it. */
static double edge_share(const viscous *v, int64_t brick, const int at[3], int a, int b,
                         bool *side) {
    const mac *m = &v->f->grid;
    double sum = 0;
    int count = 0;
    *side = false;
    for (int n = 0; n < 4; n++) {
        int q[3] = {at[0], at[1], at[2]};
        q[a] -= n & 1, q[b] -= n >> 1;
        bool behind = false;
        for (int e = 0; e < m->dim; e++)
            behind |= closed_side(v->f->domain, e,
                                  m->bricks.coords[brick][e] * BRICK_EDGE + q[e]) != NULL;
        *side |= behind;
        if (behind) continue;
        const int64_t cell = mac_cell(m, brick, q);
        sum += cell < 0 ? 1 : (double)m->phi[0][cell];
        count++;
    }
    return count ? share_of(sum / count) : 0;
}

static double normal_weight(const viscous *v, int64_t brick, int c, const int at[3], int a) {
    int high[3] = {at[0], at[1], at[2]};
    bool free = false;
    high[a]++;
    double weight = pair_weight(v, brick, at, high, a, &free);
    const mac *m = &v->f->grid;
    return free ? weight * share_of((double)m->phi[0][brick * mac_cells(m->dim) + c]) : 0;
}

static double shear_weight(const viscous *v, int64_t brick, const int at[3], int a, int b) {
    int before_a[3] = {at[0], at[1], at[2]}, before_b[3] = {at[0], at[1], at[2]};
    bool free = false, side;
    before_a[a]--, before_b[b]--;
    double one = pair_weight(v, brick, before_b, at, a, &free);
    if (!(one > 0)) return 0;
    double other = pair_weight(v, brick, before_a, at, b, &free);
    if (!free || !(other > 0)) return 0;
    double share = edge_share(v, brick, at, a, b, &side);
    return share * (side ? 2 : fmax(one, other));
}

static void find_weights(void *data, chunk items) {
    const viscous *v = data;
    const viscous_level *level = &v->levels[0];
    const int dim = level->dim;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(dim); c++) {
            const int64_t here = brick * mac_cells(dim) + c;
            int at[3];
            mac_place(c, dim, at);
            for (int a = 0; a < dim; a++) {
                level->normal[a][here] = (real)normal_weight(v, brick, c, at, a);
                for (int b = a + 1; b < dim; b++)
                    level->shear[viscous_edge(dim, a, b)][here] =
                        (real)shear_weight(v, brick, at, a, b);
            }
        }
}

/* What K pulls a free face towards fixed ones: for the coarse levels, which have none. */
static double tie_of(const viscous *v, int64_t brick, int c, const int at[3], int a) {
    const mac *m = &v->f->grid;
    const viscous_level *level = &v->levels[0];
    const int64_t here = brick * mac_cells(m->dim) + c;
    double sum = 0;
    for (int n = 0; n < 2 * m->dim; n++) {
        const mac_side s = mac_side_of(m, brick, c, at, n);
        if (s.beyond < 0 || kind_at(v, s.beyond, a) != FIXED) continue;
        if (s.axis == a) sum += 2 * (double)level->normal[a][s.way < 0 ? s.beyond : here];
        if (s.axis != a) sum += (double)level->shear[viscous_edge(m->dim, a, s.axis)][s.face];
    }
    return sum;
}

static void tie_faces(void *data, chunk items) {
    const viscous *v = data;
    const viscous_level *level = &v->levels[0];
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(level->dim); c++) {
            const int64_t here = brick * mac_cells(level->dim) + c;
            int at[3];
            mac_place(c, level->dim, at);
            for (int a = 0; a < level->dim; a++)
                level->tie[a][here] =
                    kind_at(v, here, a) == FREE ? (real)tie_of(v, brick, c, at, a) : 0;
        }
}

/* ---- Conjugate gradients --------------------------------------------------------------------- */

/* What is summed for the true residual V u* - A (walls + u* + change); a change in double is two
 * reals. */
enum { WALLS, START, CHANGE, CHANGE_REST, PARTS };

static void set_part(void *data, chunk items) {
    const viscous *v = data;
    const mac *m = &v->f->grid;
    const int cells = mac_cells(m->dim);
    for (int64_t c = items.begin * cells; c < items.end * cells; c++)
        for (int a = 0; a < m->dim; a++) {
            const int kind = kind_at(v, c, a);
            const real whole = (real)v->change[a][c];
            real value = 0;
            if (v->part == WALLS && kind == FIXED) value = m->solid_velocity[a][c];
            if (v->part == START && kind == FREE) value = m->velocity[a][c];
            if (v->part == CHANGE) value = whole;
            if (v->part == CHANGE_REST) value = (real)(v->change[a][c] - (double)whole);
            v->p[a][c] = value;
        }
}

/* Loops over the faces of active bricks; `lane` counts along rows, for sums in a fixed order. */
#define EACH_ACTIVE(v, items, a, c, lane)                                                      \
    for (int64_t n_ = (items).begin, cells_ = mac_cells((v)->levels[0].dim); n_ < (items).end; \
         n_++)                                                                                 \
        for (int a = 0; a < (v)->levels[0].dim; a++)                                           \
            for (int64_t r_ = (v)->levels[0].active[n_] * cells_, e_ = r_ + cells_; r_ < e_;   \
                 r_ += 8)                                                                      \
                for (int64_t c = r_, lane = 0; lane < 8; c++, lane++)

static void add_lanes(const double lanes[8], double *part) {
    for (int k = 0; k < 8; k++) *part += lanes[k];
}

/* r = V u* */
static void start_residual(void *data, chunk items) {
    const viscous *v = data;
    const mac *m = &v->f->grid;
    EACH_ACTIVE(v, items, a, c, lane)
    v->r[a][c] = (double)v->levels[0].mass[a][c] * (double)m->velocity[a][c];
}

/* r -= factor q; the sum is r . r */
static void reduce_residual(void *data, chunk items, double *part) {
    const viscous *v = data;
    double lanes[8] = {0};
    EACH_ACTIVE(v, items, a, c, lane) {
        v->r[a][c] -= v->factor * v->q[a][c];
        lanes[lane] += v->r[a][c] * v->r[a][c];
    }
    add_lanes(lanes, part);
}

static void square_residual(void *data, chunk items, double *part) {
    const viscous *v = data;
    double lanes[8] = {0};
    EACH_ACTIVE(v, items, a, c, lane) lanes[lane] += v->r[a][c] * v->r[a][c];
    add_lanes(lanes, part);
}

/* The residual for the preconditioner, in a range that `real` has. */
static void load_residual(void *data, chunk items) {
    const viscous *v = data;
    EACH_ACTIVE(v, items, a, c, lane) v->levels[0].b[a][c] = (real)(v->factor * v->r[a][c]);
}

static void sum_product(void *data, chunk items, double *part) {
    const viscous *v = data;
    double lanes[8] = {0};
    EACH_ACTIVE(v, items, a, c, lane)
    lanes[lane] += v->r[a][c] * (double)v->levels[0].x[a][c];
    add_lanes(lanes, part);
}

static void update_direction(void *data, chunk items) {
    const viscous *v = data;
    EACH_ACTIVE(v, items, a, c, lane)
    v->p[a][c] = (real)((double)v->levels[0].x[a][c] + v->factor * (double)v->p[a][c]);
}

static void update_solution(void *data, chunk items) {
    const viscous *v = data;
    EACH_ACTIVE(v, items, a, c, lane) v->change[a][c] += v->factor * (double)v->p[a][c];
}

static void over_active(viscous *v, chunk_task task, double factor) {
    v->factor = factor;
    parallel_for(v->f->threads, v->levels[0].active_count, 16, task, v);
}

static spate_status sum_active(viscous *v, sum_task task, double factor, double *sum) {
    v->factor = factor;
    return parallel_sum(v->f->sim->ctx, v->levels[0].active_count, 16, task, v, 1, sum);
}

/* q = A p; *sum = p . q */
static spate_status multiply(viscous *v, double *sum) {
    viscous_product product = {&v->levels[0], v->p, v->q};
    return parallel_sum(v->f->sim->ctx, v->levels[0].active_count, VISCOUS_GRAIN,
                        v->kernels->multiply[v->levels[0].dim - 2], &product, 1, sum);
}

/* r and its square, from the definition. Nothing is lost by leaving out a part that is zero: walls
 * that do not move, and the change before there is any. */
static spate_status true_residual(viscous *v, bool changed) {
    const spate_simulation *sim = v->f->sim;
    const bool walls = boundary_speed(&sim->boundary) > 0 || sim->scene->source_count;
    over_active(v, start_residual, 0);
    for (v->part = WALLS; v->part < (changed ? PARTS : CHANGE); v->part++) {
        const bool zero = v->part == WALLS && !walls;
        double unused;
        if (!zero) {
            parallel_for(sim->ctx->pool, v->levels[0].bricks, 16, set_part, v);
            TRY(multiply(v, &unused));
        }
        TRY(sum_active(v, zero ? square_residual : reduce_residual, 1, &v->left));
        if (v->part == WALLS) v->right = v->left;
    }
    return SPATE_OK;
}

/* z = B r, scaled by a constant factor that drops out; *product = r . z */
static spate_status precondition(viscous *v, double *product) {
    over_active(v, load_residual, 1 / sqrt(v->right));
    viscous_cycle(v->f->threads, v->kernels, v->levels, v->level_count);
    return sum_active(v, sum_product, 0, product);
}

static spate_status conjugate_gradients(viscous *v, double enough) {
    double product, before = 1, curvature;
    for (bool first = true; v->iterations < v->f->options->max_iterations; first = false) {
        TRY(precondition(v, &product));
        over_active(v, update_direction, first ? 0 : product / before);
        before = product;
        TRY(multiply(v, &curvature));
        if (!(curvature > 0)) return SPATE_OK;
        over_active(v, update_solution, product / curvature);
        TRY(sum_active(v, reduce_residual, product / curvature, &v->left));
        v->iterations++;
        if (!(v->left > enough)) return SPATE_OK;
    }
    return SPATE_OK;
}

static spate_status solve(viscous *v) {
    const flip_options *o = v->f->options;
    TRY(true_residual(v, false));
    const double enough = v->tolerance * v->tolerance * v->right;
    for (int k = 0; k < RESTARTS && v->left > enough && v->iterations < o->max_iterations; k++) {
        TRY(conjugate_gradients(v, enough));
        TRY(true_residual(v, true));
    }
    return SPATE_OK;
}

/* ---- The stage ------------------------------------------------------------------------------- */

static void take_change(void *data, chunk items) {
    const viscous *v = data;
    const mac *m = &v->f->grid;
    EACH_ACTIVE(v, items, a, c, lane) {
        if (kind_at(v, c, a) == FREE)
            m->velocity[a][c] = (real)((double)m->velocity[a][c] + v->change[a][c]);
        if (kind_at(v, c, a) == FIXED) m->velocity[a][c] = m->solid_velocity[a][c];
    }
}

ISA_TABLES(viscous_kernels, viscous);

static void carve(viscous *v, viscous_memory *m) {
    const int dim = v->levels[0].dim;
    const size_t cells = (size_t)v->levels[0].bricks * (size_t)mac_cells(dim);
    viscous_carve(&v->levels[0], m, true);
    for (int a = 0; a < dim; a++) {
        v->change[a] = viscous_cut(m, cells, sizeof(double));
        v->r[a] = viscous_cut(m, cells, sizeof(double));
        v->q[a] = viscous_cut(m, cells, sizeof(double));
        v->p[a] = viscous_cut(m, cells, sizeof(real));
    }
    v->kinds = viscous_cut(m, cells, 1);
}

static void set_up(viscous *v, viscous_memory *memory) {
    pool *threads = v->f->threads;
    const int64_t bricks = v->levels[0].bricks;
    parallel_for(threads, bricks, 4, classify, v);
    parallel_for(threads, bricks, 4, find_weights, v);
    parallel_for(threads, bricks, 4, tie_faces, v);
    viscous_finish(threads, &v->levels[0]);
    viscous_coarsen(v->f, v->levels, v->level_count, memory);
}

static void tell(const viscous *v) {
    const spate_simulation *sim = v->f->sim;
    warn_once(sim->ctx, "viscosity not converged",
              "step %lld, t = %.6g s: the viscosity's residual is %.3g after %d iterations, above "
              "solver.tolerance %.3g; raise solver.max_iterations or the tolerance",
              (long long)sim->step + 1, sim->time, sqrt(v->left / v->right), v->iterations,
              v->tolerance);
}

spate_status flip_viscosity(flip *f, double tolerance, bool last) {
    spate_simulation *sim = f->sim;
    const mac *m = &f->grid;
    if (!(f->viscosity > 0) || !m->bricks.count) return SPATE_OK;
    const double dx = sim->scene->domain.dx;
    viscous v = {.f = f, .kernels = ISA_CHOOSE(viscous, sim->ctx->isa), .tolerance = tolerance};
    v.levels[0] =
        (viscous_level){.dim = m->dim,
                        .bricks = m->bricks.count,
                        .coords = (const int32_t(*)[3])m->bricks.coords,
                        .neighbours = (const int32_t(*)[NEIGHBOURS_MAX])m->bricks.neighbours,
                        .scale = f->viscosity * sim->dt / (f->density * dx * dx)};
    viscous_memory measure = {0}, memory = {0};
    size_t coarse;
    carve(&v, &measure);
    v.level_count = viscous_levels(f, v.levels[0].scale, &coarse);
    memory.start = scratch_take(&sim->scratch, "viscosity", measure.used + coarse, 1);
    if (!memory.start) return SPATE_OUT_OF_MEMORY;
    carve(&v, &memory);
    set_up(&v, &memory);
    spate_status status = solve(&v);
    if (!status) over_active(&v, take_change, 0);
    if (!status && last) status = flip_viscous_reaction(f, &v.levels[0], v.kinds);
    if (!status && !(v.left <= tolerance * tolerance * v.right)) {
        f->memory.missed++;
        tell(&v);
    }
    scratch_give(&sim->scratch, "viscosity");
    return status;
}
