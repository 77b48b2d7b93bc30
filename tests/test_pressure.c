/* The projection: order of accuracy at the surface, multigrid against incomplete Cholesky and both
 * against a plain loop over cells, pockets, water at rest, threads, periods, lack of memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "count_down.h"
#include "solver/pressure/pressure.h"
#include "watched.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- A grid to test on ----------------------------------------------------------------------- */

/* A box of cells with closed sides, or periodic ones; all liquid, at rest. */
typedef struct world {
    spate_context *ctx;
    mac m;
    int dim, n[3];
    bool periodic[3];
    pressure *p;
    pressure_options options;
    pressure_report report;
} world;

typedef struct cell {
    int64_t at;
    int g[3];
} cell;

static int64_t cells_of(const world *w) { return (int64_t)w->m.bricks.count * mac_cells(w->dim); }

static cell cell_of(const world *w, int64_t at) {
    const int inside = (int)(at % mac_cells(w->dim)), dim = w->dim;
    const int32_t *brick = w->m.bricks.coords[at / mac_cells(dim)];
    cell c = {.at = at};
    for (int a = dim - 1, rest = inside; a >= 0; a--, rest /= 8) c.g[a] = brick[a] * 8 + rest % 8;
    return c;
}

/* The cell `step` further along an axis, -1 where there is no brick. */
static int64_t beside(const world *w, int64_t at, int axis, int step) {
    int i[3] = {0}, rest = (int)(at % mac_cells(w->dim));
    for (int a = w->dim - 1; a >= 0; a--, rest /= 8) i[a] = rest % 8;
    i[axis] += step;
    return mac_cell(&w->m, at / mac_cells(w->dim), i);
}

static bool in_box(const world *w, const int g[3]) {
    for (int a = 0; a < w->dim; a++)
        if (!w->periodic[a] && (g[a] < 0 || g[a] >= w->n[a])) return false;
    return true;
}

static void make_bricks(world *w) {
    int low[3] = {0}, high[3] = {0}, period[3] = {0};
    for (int a = 0; a < w->dim; a++) {
        low[a] = w->periodic[a] ? 0 : -1;
        high[a] = w->periodic[a] ? w->n[a] / 8 - 1 : (w->n[a] + 7) / 8;
        period[a] = w->periodic[a] ? w->n[a] : 0;
    }
    mac_create(w->ctx, w->dim, period, MAC_ALL, &w->m);
    assert_int_equal(sparse_lattice_begin(&w->m.bricks), SPATE_OK);
    for (int i = low[0]; i <= high[0]; i++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int k = low[2]; k <= high[2]; k++)
                assert_int_equal(sparse_lattice_insert(&w->m.bricks, (int32_t[]){i, j, k}),
                                 SPATE_OK);
    sparse_lattice_number(&w->m.bricks);
    assert_int_equal(sparse_lattice_finish(&w->m.bricks, w->ctx->pool), SPATE_OK);
    assert_int_equal(mac_reserve(&w->m), SPATE_OK);
}

static world *world_open(int dim, int nx, int ny, int nz, const char *periodic, int threads) {
    world *w = calloc(1, sizeof *w);
    *w = (world){.dim = dim, .n = {nx, ny, nz}, .options = pressure_defaults()};
    for (int a = 0; a < dim; a++) w->periodic[a] = periodic[a] == 'p';
    spate_config config = spate_default_config();
    config.threads = threads;
    assert_int_equal(spate_open(&config, &w->ctx), SPATE_OK);
    make_bricks(w);
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        const bool inside = in_box(w, c.g);
        w->m.phi[0][at] = inside ? -1 : 1;
        for (int a = 0; a < dim; a++) {
            int before[3] = {c.g[0], c.g[1], c.g[2]};
            before[a]--;
            w->m.face_fraction[a][at] = inside && in_box(w, before);
        }
    }
    assert_int_equal(pressure_create(w->ctx, &w->p), SPATE_OK);
    return w;
}

static void world_close(world *w) {
    pressure_free(w->p);
    mac_free(&w->m);
    spate_close(w->ctx);
    free(w);
}

static void project(world *w) {
    assert_int_equal(pressure_project(w->p, &w->m, &w->options, &w->report), SPATE_OK);
}

/* ---- A plain reference ----------------------------------------------------------------------- */

static double theta(const world *w, int64_t i, int64_t j) {
    const double here = w->m.phi[0][i], there = w->m.phi[0][j];
    return w->options.second_order ? fmax(here / (here - there), 1e-3) : 1;
}

/* Right-hand side and A p of a cell, straight from the header's formula; *solid where it has no
 * open face. */
static void equation(const world *w, int64_t at, double *b, double *Ap, bool *solid) {
    const mac *m = &w->m;
    *b = *Ap = 0, *solid = true;
    for (int side = 0; side < 2 * w->dim; side++) {
        const int a = side / 2, up = side % 2;
        const int64_t other = beside(w, at, a, up ? 1 : -1), face = up ? other : at;
        const double open = m->face_fraction[a][face], sign = up ? 1 : -1;
        *b -= sign * (open * m->velocity[a][face] + (1 - open) * m->solid_velocity[a][face]);
        if (open > 0) *solid = false;
        if (m->phi[0][other] < 0)
            *Ap += open * (m->pressure[0][at] - m->pressure[0][other]);
        else
            *Ap += open / theta(w, at, other) * m->pressure[0][at];
    }
}

/* Numbers the regions without surface by flooding; 0: none, -1: not yet seen. */
static int flood(const world *w, int *pocket) {
    int64_t *stack = malloc((size_t)cells_of(w) * 8 * sizeof *stack);
    int count = 0;
    for (int64_t at = 0; at < cells_of(w); at++) pocket[at] = w->m.phi[0][at] < 0 ? -1 : 0;
    for (int64_t at = 0; at < cells_of(w); at++) {
        if (pocket[at] != -1) continue;
        int64_t top = 0, size = 0, links = 0;
        bool surface = false;
        int64_t *list = stack; /* grows as it is walked through */
        list[size++] = at, pocket[at] = count + 1;
        for (; top < size; top++)
            for (int side = 0; side < 2 * w->dim; side++) {
                const int a = side / 2, up = side % 2;
                const int64_t other = beside(w, list[top], a, up ? 1 : -1);
                if (!(w->m.face_fraction[a][up ? other : list[top]] > 0)) continue;
                links++;
                if (w->m.phi[0][other] >= 0) surface = true;
                if (pocket[other] == -1) list[size++] = other, pocket[other] = count + 1;
            }
        const bool is_pocket = !surface && links > 0;
        for (int64_t i = 0; i < size && !is_pocket; i++) pocket[list[i]] = 0;
        count += is_pocket;
    }
    free(stack);
    return count;
}

/* |b - A p| / |b| of all unknowns, with the mean taken off the b of pockets. */
static double reference_residual(const world *w, int *pockets) {
    int *pocket = malloc((size_t)cells_of(w) * sizeof *pocket);
    *pockets = flood(w, pocket);
    double *mean = calloc((size_t)*pockets + 1, sizeof *mean), r2 = 0, b2 = 0;
    int64_t *count = calloc((size_t)*pockets + 1, sizeof *count);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t at = 0; at < cells_of(w); at++) {
            double b, Ap;
            bool solid;
            if (w->m.phi[0][at] >= 0) continue;
            equation(w, at, &b, &Ap, &solid);
            const int k = pocket[at];
            if (solid) continue;
            if (pass == 0)
                mean[k] += b, count[k]++;
            else {
                if (k > 0) b -= mean[k] / (double)count[k];
                r2 += (b - Ap) * (b - Ap), b2 += b * b;
            }
        }
    free(pocket), free(mean), free(count);
    return sqrt(r2 / b2);
}

/* ---- Order of accuracy ----------------------------------------------------------------------- */

static const double radius = 0.37, middle[3] = {0.5 + 0.013, 0.5 - 0.008, 0.5 + 0.005};

/* p = (R^2 - r^2) (2 + sin(2x + y + z + 1/2)), 0 on the circle or sphere; gradient and
 * Laplacian. */
static double exact(int dim, const double x[3], double gradient[3], double *laplacian) {
    static const double k[3] = {2, 1, 1};
    double q = radius * radius, phase = 0.5, k2 = 0, cross = 0;
    for (int a = 0; a < dim; a++) {
        q -= (x[a] - middle[a]) * (x[a] - middle[a]);
        phase += k[a] * x[a], k2 += k[a] * k[a], cross += k[a] * (x[a] - middle[a]);
    }
    const double s = 2 + sin(phase), c = cos(phase);
    for (int a = 0; a < dim; a++) gradient[a] = -2 * (x[a] - middle[a]) * s + q * k[a] * c;
    *laplacian = -q * k2 * sin(phase) - 4 * cross * c - 2 * dim * s;
    return q * s;
}

typedef struct errors {
    double p_max, p_mean, gradient_mean;
} errors;

static double at_place(const world *w, const cell *c, int face, double x[3]) {
    double r2 = 0;
    for (int a = 0; a < w->dim; a++) {
        x[a] = (c->g[a] + (a == face ? 0 : 0.5)) / w->n[0];
        r2 += (x[a] - middle[a]) * (x[a] - middle[a]);
    }
    return sqrt(r2) - radius;
}

/* Solves -h^2 Laplace(p) = rhs in a ball and compares; gradients by correcting a velocity of 0. */
static errors ball_errors(int dim, int n, bool second_order) {
    world *w = world_open(dim, n, n, dim == 3 ? n : 0, "   ", 1);
    double *rhs = calloc((size_t)cells_of(w), sizeof *rhs), h = 1.0 / n, x[3], g[3], f;
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        w->m.phi[0][at] = (real)(at_place(w, &c, -1, x) * n);
        exact(dim, x, g, &f);
        rhs[at] = -h * h * f;
    }
    w->options.second_order = second_order;
    w->options.tolerance = 1e-9;
    assert_int_equal(pressure_solve(w->p, &w->m, rhs, &w->options, &w->report), SPATE_OK);
    assert_true(w->report.converged);
    errors e = {0};
    int64_t cells = 0, faces = 0;
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        if (!in_box(w, c.g)) continue;
        const double p = w->m.pressure[0][at];
        const bool here = w->m.phi[0][at] < 0;
        at_place(w, &c, -1, x);
        if (here) {
            const double miss = fabs(p - exact(dim, x, g, &f));
            e.p_max = fmax(e.p_max, miss), e.p_mean += miss * miss, cells++;
        }
        for (int a = 0; a < dim; a++) {
            const int64_t other = beside(w, at, a, -1);
            const bool there = w->m.phi[0][other] < 0;
            if (!here && !there) continue;
            /* next to a cell as good as on the surface it is the least theta that decides */
            if (here != there && w->m.phi[0][here ? at : other] > (real)-0.01) continue;
            double step = p - w->m.pressure[0][other];
            if (here && !there) step = p / theta(w, at, other);
            if (there && !here) step = -w->m.pressure[0][other] / theta(w, other, at);
            at_place(w, &c, a, x);
            exact(dim, x, g, &f);
            e.gradient_mean += (step / h - g[a]) * (step / h - g[a]), faces++;
        }
    }
    e.p_mean = sqrt(e.p_mean / (double)cells);
    e.gradient_mean = sqrt(e.gradient_mean / (double)faces);
    free(rhs);
    world_close(w);
    return e;
}

/* Orders over `doublings` of the resolution; whether they are those of a second-order method. */
static bool has_order(int dim, int n, int doublings, bool second_order) {
    const errors coarse = ball_errors(dim, n, second_order);
    const errors fine = ball_errors(dim, n << doublings, second_order);
    const double p_max = log2(coarse.p_max / fine.p_max) / doublings;
    const double p_mean = log2(coarse.p_mean / fine.p_mean) / doublings;
    const double gradient = log2(coarse.gradient_mean / fine.gradient_mean) / doublings;
    return p_max >= 1.9 && p_mean >= 1.9 && gradient >= 0.8;
}

/* Gibou et al. 2002: pressure of second order, its gradient of first. */
static void second_order_at_the_surface(void **state) {
    (void)state;
    assert_true(has_order(2, 32, WATCHED ? 2 : 3, true));
    if (!WATCHED) assert_true(has_order(3, 32, 1, true));
    assert_false(has_order(2, 32, 2, false));
    assert_false(has_order(3, 16, 1, false));
}

/* ---- Water at rest --------------------------------------------------------------------------- */

/* A step of gravity on still water with its surface at 10.37 cells leaves it still, under
 * p = g dt (10.37 - y). With the surface on faces the pressure is off by up to half a cell. */
static void still_water(void **state) {
    (void)state;
    const double push = 0.3, height = 10.37;
    for (int dim = 2; dim <= 3; dim++)
        for (int order = 1; order <= 2; order++) {
            world *w = world_open(dim, 20, 24, dim == 3 ? 20 : 0, "   ", 1);
            w->options.second_order = order == 2;
            w->options.tolerance = 1e-8;
            for (int64_t at = 0; at < cells_of(w); at++) {
                const cell c = cell_of(w, at);
                if (in_box(w, c.g)) w->m.phi[0][at] = (real)(c.g[1] + 0.5 - height);
                w->m.velocity[1][at] = (real)-push;
            }
            project(w);
            double speed = 0, off = 0;
            for (int64_t at = 0; at < cells_of(w); at++) {
                const cell c = cell_of(w, at);
                for (int a = 0; a < dim; a++)
                    if (w->m.valid[0][at] >> a & 1)
                        speed = fmax(speed, fabs((double)w->m.velocity[a][at]));
                if (w->m.phi[0][at] < 0)
                    off = fmax(off, fabs(w->m.pressure[0][at] - push * (height - c.g[1] - 0.5)));
            }
            assert_true(w->report.converged && speed <= 1e-6 * push);
            if (order == 2)
                assert_true(off <= 1e-5 * push * height);
            else
                assert_true(off > 0.1 * push);
            world_close(w);
        }
}

/* ---- Random geometry ------------------------------------------------------------------------- */

/* Waves of liquid, cut faces, thin walls with gaps, and closed rooms full of liquid, from a
 * seed. */
static void scatter_geometry(world *w, uint64_t seed) {
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        const double x = c.g[0], y = c.g[1], z = c.g[2];
        if (!in_box(w, c.g)) continue;
        w->m.phi[0][at] = (real)(3 * sin(0.4 * x + 1) * sin(0.31 * y + (double)seed) +
                                 sin(0.5 * z + 0.2 * x) - 1.2);
        const bool room = c.g[0] >= 5 && c.g[0] < 11 && c.g[1] >= 3 && c.g[1] < 10;
        if (room) w->m.phi[0][at] = -2;
        for (int a = 0; a < w->dim; a++) {
            const double u = random_unit(seed, (uint64_t)at, (uint64_t)a);
            w->m.velocity[a][at] = (real)(random_unit(seed, (uint64_t)at, 10 + (uint64_t)a) - 0.5);
            w->m.solid_velocity[a][at] =
                (real)(random_unit(seed, (uint64_t)at, 20 + (uint64_t)a) - 0.5);
            real *open = &w->m.face_fraction[a][at];
            if (u < 0.1) *open *= (real)(10 * u);
            if (u > 0.97) *open = 0;
            const bool wall_x =
                a == 0 && (c.g[0] == 5 || c.g[0] == 11) && c.g[1] >= 3 && c.g[1] < 10;
            const bool wall_y = a == 1 && (c.g[1] == 3 || c.g[1] == 10) && room;
            const bool plate = a == 0 && c.g[0] == 17 && c.g[1] != 13;
            if (wall_x || (a == 1 && (c.g[1] == 3 || c.g[1] == 10) && c.g[0] >= 5 && c.g[0] < 11) ||
                wall_y || plate)
                *open = 0;
        }
    }
}

static double *copy_of(const double *v, int64_t count) {
    double *c = malloc((size_t)count * sizeof *c);
    memcpy(c, v, (size_t)count * sizeof *c);
    return c;
}

static void both_methods_agree(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (uint64_t seed = 1; seed <= (WATCHED ? 1 : 3); seed++) {
            world *w = world_open(dim, 29, 26, dim == 3 ? 24 : 0, "  p", 2);
            scatter_geometry(w, seed);
            w->options.tolerance = 1e-10;
            w->options.max_iterations = 2000;
            w->options.method = PRESSURE_MIC;
            assert_int_equal(pressure_solve(w->p, &w->m, NULL, &w->options, &w->report), SPATE_OK);
            assert_true(w->report.converged);
            double *mic = copy_of(w->m.pressure[0], cells_of(w));
            w->options.method = PRESSURE_MULTIGRID;
            assert_int_equal(pressure_solve(w->p, &w->m, NULL, &w->options, &w->report), SPATE_OK);
            assert_true(w->report.converged && w->report.iterations <= 100);
            double off = 0, most = 0;
            int pockets;
            for (int64_t at = 0; at < cells_of(w); at++) {
                off = fmax(off, fabs(mic[at] - w->m.pressure[0][at]));
                most = fmax(most, fabs(mic[at]));
            }
            assert_true(off <= 1e-5 * most);
            assert_true(reference_residual(w, &pockets) <= 1e-6);
            assert_int_equal(pockets, w->report.pockets);
            assert_true(pockets >= 1);
            project(w);
            assert_true(w->report.divergence <= 1e-5 + w->report.incompatible);
            free(mic);
            world_close(w);
        }
}

/* ---- Pockets --------------------------------------------------------------------------------- */

/* The low side of a full tank moves in with speed 1; the high side moves out, or stays. */
static world *piston(bool lets_out) {
    world *w = world_open(3, 16, 11, 10, "   ", 1);
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        if (c.g[0] == 0 || (c.g[0] == 16 && lets_out)) w->m.solid_velocity[0][at] = 1;
        w->m.velocity[1][at] = (real)(random_unit(3, (uint64_t)at, 0) - 0.5);
    }
    project(w);
    assert_int_equal(w->report.pockets, 1);
    assert_true(w->report.converged);
    return w;
}

static void closed_tanks(void **state) {
    (void)state;
    world *w = piston(true);
    assert_true(w->report.incompatible < 1e-7 && w->report.divergence < 1e-5);
    /* what comes in at one end goes out at the other */
    double flow = 0;
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        if (in_box(w, c.g) && c.g[0] == 7) flow += (double)w->m.velocity[0][at];
    }
    assert_true(fabs(flow - 11 * 10) < 1e-3);
    /* again and again: nothing drifts */
    for (int i = 0; i < 10; i++) project(w);
    double mean = 0, most = 0;
    for (int64_t at = 0; at < cells_of(w); at++) {
        mean += w->m.pressure[0][at];
        most = fmax(most, fabs(w->m.pressure[0][at]));
    }
    assert_true(fabs(mean) < 1e-9 && most < 1e-5 && w->report.divergence < 1e-5);
    world_close(w);

    /* one cell in sixteen is pushed out of every row: the same for all cells is what is left */
    w = piston(false);
    assert_true(fabs(w->report.incompatible - 1.0 / 16) < 1e-6);
    assert_true(fabs(w->report.divergence - 1.0 / 16) < 1e-4);
    world_close(w);
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* A dam of water with waves on it, or a tank around a post with or without air above. */
static double dam(const double x[3]) {
    return fmax(x[0] - 0.4 + 0.03 * sin(9 * x[2] + 3 * x[1]),
                x[1] - 0.6 + 0.03 * sin(11 * x[0] + 7 * x[2]));
}
static double full(const double x[3]) {
    (void)x;
    return -1;
}
static double layer(const double x[3]) { return x[1] - 0.85 + 0.01 * sin(9 * x[0]); }

static int iterations_of(int n, double (*phi)(const double x[3]), bool post, bool plate) {
    world *w = world_open(3, n, n, n, "   ", 1);
    for (int64_t at = 0; at < cells_of(w); at++) {
        const cell c = cell_of(w, at);
        if (!in_box(w, c.g)) continue;
        const double x[3] = {(c.g[0] + 0.5) / n, (c.g[1] + 0.5) / n, (c.g[2] + 0.5) / n};
        w->m.phi[0][at] = (real)(phi(x) * n);
        for (int a = 0; a < 3; a++) {
            double y[3] = {x[0], x[1], x[2]};
            y[a] -= 0.5 / n;
            const double share = (hypot(y[0] - 0.43, y[2] - 0.52) - 0.1) * n + 0.5;
            if (post && share < 1) w->m.face_fraction[a][at] *= (real)(share < 0.02 ? 0 : share);
            if (plate && a == 0 && c.g[0] == n / 2 + 1 && x[1] < 0.8) w->m.face_fraction[a][at] = 0;
            w->m.velocity[a][at] = (real)(random_unit(7, (uint64_t)at, (uint64_t)a) - 0.5 + x[a]);
        }
    }
    project(w);
    assert_true(w->report.converged);
    const int iterations = w->report.iterations;
    world_close(w);
    return iterations;
}

static void few_iterations(void **state) {
    (void)state;
    for (int n = 32; n <= (WATCHED ? 32 : 64); n *= 2) {
        assert_true(iterations_of(n, dam, false, false) <= 9);
        assert_true(iterations_of(n, full, true, false) <= 8);
        assert_true(iterations_of(n, layer, true, false) <= 8);
    }
    /* a plate thinner than a cell, off the coarse grid: it must not vanish there */
    assert_true(iterations_of(32, layer, false, true) <= 12);
}

/* ---- Threads, periods, small things ---------------------------------------------------------- */

static void same_bits_for_all_threads(void **state) {
    (void)state;
    double *first = NULL;
    real *velocity = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        world *w = world_open(3, 40, 33, 32, "p p", threads);
        scatter_geometry(w, 5);
        project(w);
        const size_t count = (size_t)cells_of(w);
        if (!first) {
            first = copy_of(w->m.pressure[0], cells_of(w));
            velocity = malloc(count * sizeof *velocity);
            memcpy(velocity, w->m.velocity[1], count * sizeof *velocity);
        }
        assert_memory_equal(first, w->m.pressure[0], count * sizeof *first);
        assert_memory_equal(velocity, w->m.velocity[1], count * sizeof *velocity);
        world_close(w);
    }
    free(first), free(velocity);
}

/* Along a periodic axis of any number of bricks, a push moved by 5 cells gives a pressure moved by
 * 5 cells, as soon as any other. */
static void periods(void **state) {
    (void)state;
    for (int bricks = 1; bricks <= 5; bricks++) {
        const int n = 8 * bricks;
        double *seen = calloc((size_t)n * 64, sizeof *seen);
        for (int shift = 0; shift <= 5; shift += 5) {
            world *w = world_open(2, n, 64, 0, "p ", 1);
            w->options.tolerance = 1e-9;
            for (int64_t at = 0; at < cells_of(w); at++) {
                const cell c = cell_of(w, at);
                if (in_box(w, c.g)) w->m.phi[0][at] = (real)(c.g[1] - 50.8);
                w->m.velocity[1][at] = (c.g[0] - shift + n) % n < 3 ? -1 : 0;
            }
            project(w);
            assert_true(w->report.converged && w->report.iterations <= 14);
            for (int64_t at = 0; at < cells_of(w); at++) {
                const cell c = cell_of(w, at);
                if (!in_box(w, c.g)) continue;
                double *p = &seen[(c.g[0] - shift + n) % n * 64 + c.g[1]];
                if (shift == 0) *p = w->m.pressure[0][at];
                assert_true(fabs(*p - w->m.pressure[0][at]) < 1e-6);
            }
            world_close(w);
        }
        free(seen);
    }
}

static void nothing_to_do(void **state) {
    (void)state;
    world *w = world_open(3, 9, 9, 9, "   ", 1);
    project(w); /* at rest */
    assert_true(w->report.converged && w->report.iterations == 0 && w->report.unknowns == 729);
    for (int64_t at = 0; at < cells_of(w); at++) w->m.phi[0][at] = 1, w->m.velocity[0][at] = 2;
    project(w); /* no liquid: nothing is touched */
    assert_true(w->report.converged && w->report.unknowns == 0 && w->report.divergence == 0);
    for (int64_t at = 0; at < cells_of(w); at++)
        assert_true(w->m.velocity[0][at] == 2 && w->m.pressure[0][at] == 0);
    world_close(w);
}

/* Half of the floor's faces are a solid that rises with speed 1: the water above rises by half of
 * it. With the solid at rest it does not. */
static void moving_solid(void **state) {
    (void)state;
    for (int speed = 0; speed <= 1; speed++) {
        world *w = world_open(2, 8, 12, 0, "p ", 1);
        for (int64_t at = 0; at < cells_of(w); at++) {
            const cell c = cell_of(w, at);
            if (in_box(w, c.g)) w->m.phi[0][at] = (real)(c.g[1] - 8.2);
            if (c.g[1] == 0) w->m.solid_velocity[1][at] = (real)speed / 2;
            if (c.g[1] == 3)
                w->m.face_fraction[1][at] = (real)0.5, w->m.solid_velocity[1][at] = (real)speed;
        }
        project(w);
        for (int64_t at = 0; at < cells_of(w); at++) {
            const cell c = cell_of(w, at);
            if (c.g[1] == 5) assert_true(fabs((double)w->m.velocity[1][at] - 0.5 * speed) < 1e-5);
            if (c.g[1] == 3) assert_true(fabs((double)w->m.velocity[1][at]) < 1e-5);
            if (c.g[1] == 0) assert_true(w->m.velocity[1][at] == w->m.solid_velocity[1][at]);
        }
        world_close(w);
    }
}

/* Iterations that run out, and velocities that are no numbers: a report, not an error. */
static void no_solution(void **state) {
    (void)state;
    world *w = world_open(2, 32, 32, 0, "  ", 1);
    scatter_geometry(w, 2);
    w->options.max_iterations = 1;
    project(w);
    assert_true(!w->report.converged && w->report.iterations == 1 && w->report.residual > 1e-6);
    w->options = pressure_defaults();
    for (int64_t at = 0; at < cells_of(w); at++) w->m.velocity[0][at] = NAN;
    project(w);
    assert_true(!w->report.converged);
    for (int64_t at = 0; at < cells_of(w); at++) w->m.velocity[0][at] = (real)(at % 7);
    project(w); /* and nothing of it stays */
    assert_true(w->report.converged);
    world_close(w);
}

/* Every allocation refused in turn: a status, no leak, and the next call works. */
static void out_of_memory(void **state) {
    (void)state;
    for (int method = PRESSURE_MULTIGRID; method <= PRESSURE_MIC; method++) {
        int left = -1;
        spate_config config = {
            .allocate = count_down, .release = release, .user = &left, .threads = 1};
        world *w = calloc(1, sizeof *w);
        *w = (world){.dim = 2, .n = {20, 20, 0}, .options = pressure_defaults()};
        w->options.method = method;
        assert_int_equal(spate_open(&config, &w->ctx), SPATE_OK);
        make_bricks(w);
        for (int64_t at = 0; at < cells_of(w); at++) {
            const cell c = cell_of(w, at);
            w->m.phi[0][at] = in_box(w, c.g) ? -1 : 1;
            for (int a = 0; a < 2; a++) w->m.face_fraction[a][at] = in_box(w, c.g) && c.g[a] > 0;
            w->m.velocity[0][at] = (real)(at % 5);
        }
        const int64_t blocks = w->ctx->blocks_now;
        bool done = false;
        for (int turn = 0; !done; turn++) {
            assert_true(turn < 200);
            pressure *p = NULL;
            left = turn;
            spate_status status = pressure_create(w->ctx, &p);
            if (!status) status = pressure_project(p, &w->m, &w->options, &w->report);
            done = left >= 0;
            left = -1;
            assert_int_equal(status, done ? SPATE_OK : SPATE_OUT_OF_MEMORY);
            if (p) {
                assert_int_equal(pressure_project(p, &w->m, &w->options, &w->report), SPATE_OK);
                left = 0; /* a second step takes no memory at all */
                assert_int_equal(pressure_project(p, &w->m, &w->options, &w->report), SPATE_OK);
                left = -1;
                assert_true(w->report.converged && pressure_bytes(p) > 0);
            }
            pressure_free(p);
            assert_int_equal(w->ctx->blocks_now, blocks);
        }
        world_close(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_order_at_the_surface),
        cmocka_unit_test(still_water),
        cmocka_unit_test(both_methods_agree),
        cmocka_unit_test(closed_tanks),
        cmocka_unit_test(few_iterations),
        cmocka_unit_test(same_bits_for_all_threads),
        cmocka_unit_test(periods),
        cmocka_unit_test(nothing_to_do),
        cmocka_unit_test(moving_solid),
        cmocka_unit_test(no_solution),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
