/*
 * The projection: the velocity made free of divergence.
 *
 * `mac`: through bricks, by solver/pressure or by Gauss-Seidel (gauss_seidel.c). `collocated`, with
 * central differences throughout: q from the compact Laplacian,
 *     sum of (q_here - q_neighbour) = -(u_right - u_left + v_up - v_down ...) / 2,
 * and then u -= (q_right - q_left) / 2. The two are not quite each other's inverse, so that some of
 * the divergence stays.
 */
#include "solver/smoke/jobs.h"

#include "solver/sources.h"

/* ---- Between the arrays and the bricks ------------------------------------------------------- */

/* The part of a row of eight that an array has values for, from cell `cell` on. */
static int row_length(const layout *l, int place, const int cell[3]) {
    for (int a = 0; a < l->dim - 1; a++)
        if (cell[a] >= layout_extent(l, place, a)) return 0;
    const int left = layout_extent(l, place, l->dim - 1) - cell[l->dim - 1];
    return left < 0 ? 0 : left < BRICK_EDGE ? left : BRICK_EDGE;
}

/* A row of eight cells of a brick: in the domain, in the bricks and in the arrays. */
typedef struct brick_row {
    int cell[3];
    int64_t in_bricks, in_array;
} brick_row;

/* Rows are counted through all bricks; a brick's begin at first_row. */
static int64_t first_row(const smoke *s, int64_t brick) {
    return brick * (mac_cells(s->layout.dim) / BRICK_EDGE);
}

static brick_row brick_row_at(const smoke *s, int64_t r) {
    const int dim = s->layout.dim;
    brick_row row = {.in_bricks = r * BRICK_EDGE};
    const int64_t brick = row.in_bricks / mac_cells(dim);
    int at[3];
    mac_place((int)(row.in_bricks % mac_cells(dim)), dim, at);
    for (int a = 0; a < dim; a++)
        row.cell[a] = s->grid.bricks.coords[brick][a] * BRICK_EDGE + at[a];
    row.in_array = layout_at(&s->layout, row.cell[0], row.cell[1], row.cell[2]);
    return row;
}

static void velocity_to_bricks(void *data, chunk items) {
    smoke *s = data;
    for (int64_t r = first_row(s, items.begin); r < first_row(s, items.end); r++) {
        const brick_row row = brick_row_at(s, r);
        for (int a = 0; a < s->layout.dim; a++) {
            const int length = row_length(&s->layout, a, row.cell);
            real *to = s->grid.velocity[a] + row.in_bricks;
            if (length) memcpy(to, s->velocity[a] + row.in_array, (size_t)length * sizeof(real));
            for (int k = length; k < BRICK_EDGE; k++) to[k] = 0;
        }
    }
}

/* The velocity into `next`, the pressure where it belongs. */
static void bricks_to_arrays(void *data, chunk items) {
    smoke *s = data;
    for (int64_t r = first_row(s, items.begin); r < first_row(s, items.end); r++) {
        const brick_row row = brick_row_at(s, r);
        for (int a = 0; a < s->layout.dim; a++) {
            const int length = row_length(&s->layout, a, row.cell);
            if (length)
                memcpy(s->next[a] + row.in_array, s->grid.velocity[a] + row.in_bricks,
                       (size_t)length * sizeof(real));
        }
        const int length = row_length(&s->layout, PLACE_MIDDLE, row.cell);
        for (int k = 0; k < length; k++)
            smoke_keep_pressure(s, row.in_array + k, s->grid.pressure[0][row.in_bricks + k]);
    }
}

/* ---- On faces -------------------------------------------------------------------------------- */

static pressure_options solver_options(const smoke *s) {
    return (pressure_options){.method = PRESSURE_MULTIGRID,
                              .tolerance = s->options->tolerance,
                              .max_iterations = (int)s->options->max_iterations,
                              .second_order = true};
}

static spate_status project_faces(smoke *s, pressure_report *report) {
    pool *threads = s->threads;
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

/* ---- In the middles of cells ----------------------------------------------------------------- */

static real central_outflow(const smoke *s, int64_t at) {
    real sum = 0;
    for (int a = 0; a < s->layout.dim; a++) {
        const int64_t step = s->layout.stride[a];
        sum += s->velocity[a][at + step] - s->velocity[a][at - step];
    }
    return (real)0.5 * sum;
}

/* Into spare[1]. */
static void find_right_side(void *data, chunk items) {
    smoke *s = data;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++)
            s->spare[1][at] = -central_outflow(s, at);
    }
}

static void right_side_to_bricks(void *data, chunk items) {
    smoke *s = data;
    for (int64_t r = first_row(s, items.begin); r < first_row(s, items.end); r++) {
        const brick_row row = brick_row_at(s, r);
        const int length = row_length(&s->layout, PLACE_MIDDLE, row.cell);
        for (int k = 0; k < BRICK_EDGE; k++)
            s->right[row.in_bricks + k] = k < length ? (double)s->spare[1][row.in_array + k] : 0;
    }
}

/* Into spare[0]. */
static void pressure_from_bricks(void *data, chunk items) {
    smoke *s = data;
    for (int64_t r = first_row(s, items.begin); r < first_row(s, items.end); r++) {
        const brick_row row = brick_row_at(s, r);
        const int length = row_length(&s->layout, PLACE_MIDDLE, row.cell);
        for (int k = 0; k < length; k++)
            s->spare[0][row.in_array + k] = (real)s->grid.pressure[0][row.in_bricks + k];
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
        smoke_rows(s, PLACE_MIDDLE, s->kernels->relax[dim - 2], &job);
        smoke_ghost_pressure(s, s->spare[0]);
    }
    double squares[2];
    parallel_sum(s->sim->ctx, layout_rows(&s->layout, PLACE_MIDDLE), 8,
                 s->kernels->residual[dim - 2], &job, 2, squares);
    report->iterations = (int)s->options->iterations;
    report->residual = squares[0] > 0 ? sqrt(squares[1] / squares[0]) : 0;
}

/* u - grad q into `next`, and the pressure in Pa. */
static void subtract_gradient(void *data, chunk items) {
    smoke *s = data;
    const real *q = s->spare[0];
    for (int64_t r = items.begin; r < items.end; r++) {
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

static void find_divergence(void *data, chunk items) {
    smoke *s = data;
    double most = s->seen[items.worker].outflow;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++)
            most = fmax(most, fabs((double)central_outflow(s, at)));
    }
    s->seen[items.worker].outflow = most;
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
    smoke_ghost_pressure(s, s->spare[0]);
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

/* ---- Both ------------------------------------------------------------------------------------ */

/* A source that blows into a closed box, or a piston that moves into one: there is no way out for
 * the gas. */
static void warn_of_stuffing(const smoke *s, const pressure_report *report) {
    const double edge = pow((double)report->unknowns, 1.0 / s->layout.dim);
    const double speed = fmax(sources_speed(s->sim), boundary_speed(&s->sim->boundary));
    if (speed == 0 || report->incompatible * edge < 1e-2 * speed) return;
    warn_once(
        s->sim->ctx, "gas without a way out",
        "step %lld, t = %.6g s: sources or colliders press gas into a part of the domain that is "
        "closed; it swells or shrinks everywhere instead: open a side (domain.walls), or leave out "
        "the source's velocity",
        (long long)s->sim->step + 1, s->sim->time);
}

spate_status smoke_project(void *solver) {
    smoke *s = solver;
    smoke_memory *memory = &s->memory;
    const smoke_options *o = s->options;
    pressure_report report = {.converged = true};
    if (o->grid == SMOKE_MAC)
        TRY(project_faces(s, &report));
    else
        TRY(project_middles(s, &report));
    smoke_extend(s, PLACE_MIDDLE, s->pressure);
    smoke_ghost_pressure(s, s->pressure);
    smoke_after_projection(s);
    memory->iterations = report.iterations;
    memory->residual = report.residual;
    memory->divergence = report.divergence / s->dx;
    warn_of_stuffing(s, &report);
    const solve_result result = {.what = "pressure",
                                 .kind = "pressure not converged",
                                 .residual = report.residual,
                                 .tolerance = o->tolerance,
                                 .iterations = report.iterations,
                                 .converged = report.converged};
    return simulation_judge(s->sim, &result, &memory->failures, &memory->missed);
}
