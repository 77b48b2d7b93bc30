/*
 * The projection: the velocity made free of divergence.
 *
 * `mac`: through bricks, by solver/pressure or by Gauss-Seidel (gauss_seidel.c). `collocated`, with
 * central differences throughout: q from the compact Laplacian,
 *     sum of (q_here - q_neighbour) = -(u_right - u_left + v_up - v_down ...) / 2,
 * and then u -= (q_right - q_left) / 2. The two are not quite each other's inverse, so that some of the
 * divergence stays.
 */
#include "solver/smoke/passes.h"

#include "solver/sources.h"

/* ---- Between the arrays and the bricks ------------------------------------------------------------ */

/* The part of a row of eight that an array has values for, from cell `cell` on. */
static int row_length(const layout *l, int place, const int cell[3]) {
    for (int a = 0; a < l->dim - 1; a++)
        if (cell[a] >= layout_extent(l, place, a)) return 0;
    const int left = layout_extent(l, place, l->dim - 1) - cell[l->dim - 1];
    return left < 0 ? 0 : left < BRICK_EDGE ? left : BRICK_EDGE;
}

/* Where row r of a brick begins in the domain. */
static void row_cell(const smoke *s, int64_t brick, int r, int cell[3]) {
    int at[3];
    mac_place(r * BRICK_EDGE, s->layout.dim, at);
    for (int a = 0; a < 3; a++) cell[a] = s->grid.bricks.coords[brick][a] * BRICK_EDGE + at[a];
    if (s->layout.dim == 2) cell[2] = 0;
}

static void velocity_to_bricks(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const layout *l = &s->layout;
    const int cells = mac_cells(l->dim);
    (void)worker;
    for (int64_t b = begin; b < end; b++)
        for (int r = 0; r < cells / BRICK_EDGE; r++) {
            int cell[3];
            row_cell(s, b, r, cell);
            for (int a = 0; a < l->dim; a++) {
                const int length = row_length(l, a, cell);
                real *to = s->grid.velocity[a] + b * cells + r * BRICK_EDGE;
                if (length)
                    memcpy(to, s->velocity[a] + layout_at(l, cell[0], cell[1], cell[2]),
                           (size_t)length * sizeof(real));
                for (int k = length; k < BRICK_EDGE; k++) to[k] = 0;
            }
        }
}

/* The velocity into `next`, the pressure where it belongs. */
static void bricks_to_arrays(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const layout *l = &s->layout;
    const int cells = mac_cells(l->dim);
    (void)worker;
    for (int64_t b = begin; b < end; b++)
        for (int r = 0; r < cells / BRICK_EDGE; r++) {
            int cell[3];
            row_cell(s, b, r, cell);
            const int64_t from = b * cells + r * BRICK_EDGE;
            const int64_t to = layout_at(l, cell[0], cell[1], cell[2]);
            for (int a = 0; a < l->dim; a++) {
                const int length = row_length(l, a, cell);
                if (length)
                    memcpy(s->next[a] + to, s->grid.velocity[a] + from,
                           (size_t)length * sizeof(real));
            }
            const int length = row_length(l, PLACE_MIDDLE, cell);
            for (int k = 0; k < length; k++)
                smoke_keep_pressure(s, to + k, s->grid.pressure[0][from + k]);
        }
}

/* ---- On faces ------------------------------------------------------------------------------------- */

static pressure_options solver_options(const smoke *s) {
    return (pressure_options){.method = PRESSURE_MULTIGRID,
                              .tolerance = s->options->tolerance,
                              .max_iterations = (int)s->options->max_iterations,
                              .second_order = true};
}

static spate_status project_faces(smoke *s, pressure_report *report) {
    pool *threads = s->sim->ctx->pool;
    const pressure_options options = solver_options(s);
    parallel_for(threads, s->grid.bricks.count, 8, velocity_to_bricks, s);
    if (s->options->pressure == SMOKE_GAUSS_SEIDEL)
        smoke_gauss_seidel(s, report);
    else
        TRY(pressure_project(s->solver, &s->grid, &options, report));
    parallel_for(threads, s->grid.bricks.count, 8, bricks_to_arrays, s);
    for (int a = 0; a < s->layout.dim; a++) {
        real *before = s->velocity[a];
        s->velocity[a] = s->next[a];
        s->next[a] = before;
    }
    smoke_settle_velocity(s);
    return SPATE_OK;
}

/* ---- In the middles of cells ----------------------------------------------------------------------- */

static real central_outflow(const smoke *s, int64_t at) {
    real sum = 0;
    for (int a = 0; a < s->layout.dim; a++) {
        const int64_t step = s->layout.stride[a];
        sum += s->velocity[a][at + step] - s->velocity[a][at - step];
    }
    return (real)0.5 * sum;
}

/* Into spare[1]. */
static void find_right_side(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++)
            s->spare[1][at] = -central_outflow(s, at);
    }
}

static void right_side_to_bricks(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const layout *l = &s->layout;
    const int cells = mac_cells(l->dim);
    (void)worker;
    for (int64_t b = begin; b < end; b++)
        for (int r = 0; r < cells / BRICK_EDGE; r++) {
            int cell[3];
            row_cell(s, b, r, cell);
            const int length = row_length(l, PLACE_MIDDLE, cell);
            const int64_t from = layout_at(l, cell[0], cell[1], cell[2]);
            double *to = s->right + b * cells + r * BRICK_EDGE;
            for (int k = 0; k < BRICK_EDGE; k++)
                to[k] = k < length ? (double)s->spare[1][from + k] : 0;
        }
}

/* Into spare[0]. */
static void pressure_from_bricks(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const layout *l = &s->layout;
    const int cells = mac_cells(l->dim);
    (void)worker;
    for (int64_t b = begin; b < end; b++)
        for (int r = 0; r < cells / BRICK_EDGE; r++) {
            int cell[3];
            row_cell(s, b, r, cell);
            const int length = row_length(l, PLACE_MIDDLE, cell);
            real *to = s->spare[0] + layout_at(l, cell[0], cell[1], cell[2]);
            for (int k = 0; k < length; k++)
                to[k] = (real)s->grid.pressure[0][b * cells + r * BRICK_EDGE + k];
        }
}

/* The course's solver: `iterations` sweeps from nothing. */
static void sweep_middles(smoke *s, pressure_report *report) {
    const int dim = s->layout.dim;
    relax_job job = {.layout = &s->layout,
                     .place = PLACE_MIDDLE,
                     .center = (real)(2 * dim),
                     .side = 1,
                     .right = s->spare[1],
                     .values = s->spare[0]};
    for (int a = 0; a < dim; a++)
        for (int end = 0; end < 2; end++) job.reflect[a][end] = s->layout.open[a][end] ? 1 : -1;
    memset(s->spare[0], 0, (size_t)s->layout.reals * sizeof(real));
    for (int64_t i = 0; i < 2 * s->options->iterations; i++) {
        job.colour = (int)(i & 1);
        smoke_rows(s, PLACE_MIDDLE, s->passes->relax[dim - 2], &job);
        smoke_border_pressure(s, s->spare[0]);
    }
    double squares[2];
    parallel_sum(s->sim->ctx, layout_rows(&s->layout, PLACE_MIDDLE), 8,
                 s->passes->residual[dim - 2], &job, 2, squares);
    report->iterations = (int)s->options->iterations;
    report->residual = squares[0] > 0 ? sqrt(squares[1] / squares[0]) : 0;
}

/* u - grad q into `next`, and the pressure in Pa. */
static void subtract_gradient(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    const real *q = s->spare[0];
    (void)worker;
    for (int64_t r = begin; r < end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            for (int a = 0; a < s->layout.dim; a++) {
                const int64_t step = s->layout.stride[a];
                s->next[a][at] = s->velocity[a][at] - (real)0.5 * (q[at + step] - q[at - step]);
            }
            smoke_keep_pressure(s, at, (double)q[at]);
        }
    }
}

static void find_divergence(void *data, int64_t begin, int64_t end, int worker) {
    smoke *s = data;
    double most = s->seen[worker].outflow;
    for (int64_t r = begin; r < end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++)
            most = fmax(most, fabs((double)central_outflow(s, at)));
    }
    s->seen[worker].outflow = most;
}

static spate_status project_middles(smoke *s, pressure_report *report) {
    spate_context *ctx = s->sim->ctx;
    const pressure_options options = solver_options(s);
    smoke_rows(s, PLACE_MIDDLE, find_right_side, s);
    if (s->options->pressure == SMOKE_GAUSS_SEIDEL) {
        sweep_middles(s, report);
    } else {
        parallel_for(ctx->pool, s->grid.bricks.count, 8, right_side_to_bricks, s);
        TRY(pressure_solve(s->solver, &s->grid, s->right, &options, report));
        parallel_for(ctx->pool, s->grid.bricks.count, 8, pressure_from_bricks, s);
    }
    smoke_border_pressure(s, s->spare[0]);
    smoke_rows(s, PLACE_MIDDLE, subtract_gradient, s);
    for (int a = 0; a < s->layout.dim; a++) {
        real *before = s->velocity[a];
        s->velocity[a] = s->next[a];
        s->next[a] = before;
    }
    smoke_settle_velocity(s);
    for (int w = 0; w < pool_size(ctx->pool); w++) s->seen[w].outflow = 0;
    smoke_rows(s, PLACE_MIDDLE, find_divergence, s);
    for (int w = 0; w < pool_size(ctx->pool); w++)
        report->divergence = fmax(report->divergence, s->seen[w].outflow);
    return SPATE_OK;
}

/* ---- Both ----------------------------------------------------------------------------------------- */

/* A source that blows into a closed box, or a piston that moves into one: there is no way out for the
 * gas. */
static void warn_of_stuffing(const smoke *s, const pressure_report *report) {
    const double edge = pow((double)report->unknowns, 1.0 / s->layout.dim);
    const double speed = fmax(sources_speed(s->sim), boundary_speed(&s->sim->boundary));
    if (speed == 0 || report->incompatible * edge < 1e-2 * speed) return;
    warn(
        s->sim->ctx, "gas without a way out",
        "step %lld, t = %.6g s: sources or colliders press gas into a part of the domain that is "
        "closed; it swells or shrinks everywhere instead: open a side (domain.walls), or leave out "
        "the source's velocity",
        (long long)s->sim->step + 1, s->sim->time);
}

spate_status smoke_project(smoke *s) {
    smoke_memory *memory = &s->memory;
    const smoke_options *o = s->options;
    pressure_report report = {.converged = true};
    if (o->grid == SMOKE_MAC)
        TRY(project_faces(s, &report));
    else
        TRY(project_middles(s, &report));
    smoke_border_pressure(s, s->pressure);
    memory->iterations = report.iterations;
    memory->residual = report.residual;
    memory->divergence = report.divergence / s->sim->scene->domain.dx;
    warn_of_stuffing(s, &report);
    const solve_result result = {.what = "pressure",
                                 .kind = "pressure not converged",
                                 .residual = report.residual,
                                 .tolerance = o->tolerance,
                                 .iterations = report.iterations,
                                 .converged = report.converged};
    return simulation_judge(s->sim, &result, &memory->failures, &memory->missed);
}
