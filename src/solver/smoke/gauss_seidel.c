/*
 * Gauss-Seidel for the pressure on faces: the equations of solver/pressure, a given number of
 * sweeps from nothing, in two colours like a chessboard, so that cells of one may be set in any
 * order. It is there to be looked at and compared with; what it leaves of the divergence is
 * reported.
 */
#include "solver/smoke/smoke.h"

typedef struct sweep_job {
    smoke *s;
    int colour;
} sweep_job;

/* Calls for every cell of the domain in a chunk of bricks. */
#define EACH_CELL(s, items, b, c, at)                               \
    for (int64_t b = (items).begin; b < (items).end; b++)           \
        for (int c = 0, at[3]; c < mac_cells((s)->layout.dim); c++) \
            if (mac_place(c, (s)->layout.dim, at),                  \
                (s)->grid.phi[0][b * mac_cells((s)->layout.dim) + c] < 0)

/* The open share of a face of a cell and the index of the cell beyond, -1 where the domain ends. */
typedef struct passage {
    double open;
    int64_t face, beyond;
} passage;

static passage passage_of(const mac *m, int64_t b, int c, const int at[3], int axis, int way) {
    const int64_t beside = mac_beside(m, b, c, at, axis, way);
    passage p = {.face = way < 0 ? b * mac_cells(m->dim) + c : beside, .beyond = beside};
    p.open = p.face < 0 ? 1 : (double)m->face_fraction[axis][p.face];
    if (beside >= 0 && !(m->phi[0][beside] < 0)) p.beyond = -1;
    return p;
}

static double outflow(const mac *m, int64_t b, int c, const int at[3]) {
    double sum = 0;
    for (int a = 0; a < m->dim; a++)
        for (int way = -1; way <= 1; way += 2) {
            const passage p = passage_of(m, b, c, at, a, way);
            if (p.face >= 0)
                sum += way * (p.open * (double)m->velocity[a][p.face] +
                              (1 - p.open) * (double)m->solid_velocity[a][p.face]);
        }
    return sum;
}

static void find_right(void *data, chunk items) {
    smoke *s = data;
    EACH_CELL(s, items, b, c, at)
    s->right[b * mac_cells(s->layout.dim) + c] = -outflow(&s->grid, b, c, at);
}

/* An open side has pressure 0 on its face, half a cell away: twice the weight. */
static void sweep(void *data, chunk items) {
    const sweep_job *job = data;
    smoke *s = job->s;
    const mac *m = &s->grid;
    EACH_CELL(s, items, b, c, at) {
        if (((at[0] + at[1] + at[2]) & 1) != job->colour) continue;
        const int64_t here = b * mac_cells(m->dim) + c;
        double sum = s->right[here], weight = 0;
        for (int a = 0; a < m->dim; a++)
            for (int way = -1; way <= 1; way += 2) {
                const passage p = passage_of(m, b, c, at, a, way);
                weight += p.beyond < 0 ? 2 * p.open : p.open;
                if (p.beyond >= 0) sum += p.open * m->pressure[0][p.beyond];
            }
        m->pressure[0][here] = weight > 0 ? sum / weight : 0;
    }
}

/* Each face is changed by the cell above it; the domain's last ones by the cell below. */
static void correct(void *data, chunk items) {
    smoke *s = data;
    const mac *m = &s->grid;
    EACH_CELL(s, items, b, c, at) {
        const double here = m->pressure[0][b * mac_cells(m->dim) + c];
        for (int a = 0; a < m->dim; a++)
            for (int way = -1; way <= 1; way += 2) {
                const passage p = passage_of(m, b, c, at, a, way);
                if (p.face < 0 || (way > 0 && p.beyond >= 0)) continue;
                const double step = p.beyond < 0 ? 2 * here : here - m->pressure[0][p.beyond];
                real *u = m->velocity[a] + p.face;
                *u = p.open > 0 ? (real)((double)*u + way * step) : m->solid_velocity[a][p.face];
            }
    }
}

static void find_squares(void *data, chunk items, double *part) {
    const smoke *s = data;
    EACH_CELL(s, items, b, c, at) {
        const double before = s->right[b * mac_cells(s->layout.dim) + c];
        const double left = outflow(&s->grid, b, c, at);
        part[0] += before * before;
        part[1] += left * left;
    }
}

static void find_largest(void *data, chunk items) {
    smoke *s = data;
    EACH_CELL(s, items, b, c, at) {
        const double left = fabs(outflow(&s->grid, b, c, at));
        if (left > s->seen[items.worker].outflow) s->seen[items.worker].outflow = left;
    }
}

void smoke_gauss_seidel(smoke *s, pressure_report *report) {
    spate_context *ctx = s->sim->ctx;
    const int64_t bricks = s->grid.bricks.count;
    memset(s->grid.pressure[0], 0, (size_t)(bricks * mac_cells(s->layout.dim)) * sizeof(double));
    parallel_for(ctx->pool, bricks, 4, find_right, s);
    for (int64_t i = 0; i < 2 * s->options->iterations; i++)
        parallel_for(ctx->pool, bricks, 4, sweep, &(sweep_job){s, (int)(i & 1)});
    parallel_for(ctx->pool, bricks, 4, correct, s);
    double squares[2];
    parallel_sum(ctx, bricks, 4, find_squares, s, 2, squares);
    for (int w = 0; w < pool_size(ctx->pool); w++) s->seen[w].outflow = 0;
    parallel_for(ctx->pool, bricks, 4, find_largest, s);
    for (int w = 0; w < pool_size(ctx->pool); w++)
        report->divergence = fmax(report->divergence, s->seen[w].outflow);
    report->iterations = (int)s->options->iterations;
    report->residual = squares[0] > 0 ? sqrt(squares[1] / squares[0]) : 0;
}
