/*
 * The viscosity's matrix times a vector, brick by brick: velocities and weights of a brick and a
 * layer of cells around it are copied to a tile, stresses follow from differences, forces from
 * differences of stresses. Arithmetic is double whatever the fields are, so that residuals can be
 * trusted.
 */
#include "solver/flip/viscosity.h"

enum { TILE = BRICK_EDGE + 2, TILE_ROWS = TILE * TILE, TILE_CELLS = TILE * TILE * TILE };

/* Where the rows of a tile come from along the last axis: the last cell of the brick before, the
 * first of the one in line, the first of the one after; -1 where there is none. */
typedef struct tile_rows {
    int64_t at[TILE_ROWS][3];
} tile_rows;

INLINE int row_count(int dim) { return dim == 3 ? TILE_ROWS : TILE; }

INLINE void find_rows(const viscous_level *level, int32_t brick, tile_rows *rows, int dim) {
    const int32_t *neighbours = level->neighbours[brick];
    for (int r = 0; r < row_count(dim); r++) {
        const int at[3] = {dim == 3 ? r / TILE - 1 : r - 1, dim == 3 ? r % TILE - 1 : 0, 0};
        const int code = neighbour_code(BRICK_EDGE, at, dim);
        const int first = neighbour_index(BRICK_EDGE, at, dim);
        for (int n = 0; n < 3; n++) { /* the last axis runs fastest in codes too */
            const int32_t from = neighbours[code + n - 1];
            const int in_row = n ? first : first + BRICK_EDGE - 1;
            rows->at[r][n] = from < 0 ? -1 : (int64_t)from * mac_cells(dim) + in_row;
        }
    }
}

INLINE void load_tile(const tile_rows *rows, const real *from, double *tile, int dim) {
    for (int r = 0; r < row_count(dim); r++, tile += TILE) {
        const int64_t *at = rows->at[r];
        tile[0] = at[0] < 0 ? 0 : (double)from[at[0]];
        if (at[1] < 0)
            for (int k = 0; k < BRICK_EDGE; k++) tile[1 + k] = 0;
        else
            for (int k = 0; k < BRICK_EDGE; k++) tile[1 + k] = (double)from[at[1] + k];
        tile[TILE - 1] = at[2] < 0 ? 0 : (double)from[at[2]];
    }
}

/* The part of a tile that a loop runs over: from `low` to below `high` along each axis. In 2D the
 * middle one has a single place, so that rows of both dimensions run along the last. */
typedef struct extent {
    int low[3], high[3];
} extent;

INLINE extent whole_brick(int dim) {
    return (extent){{0, 0, 0}, {BRICK_EDGE, dim == 3 ? BRICK_EDGE : 1, BRICK_EDGE}};
}
INLINE int loop_axis(int axis, int dim) { return axis == dim - 1 ? 2 : axis; }
INLINE int row_start(int i, int j, int dim) {
    return (dim == 3 ? ((i + 1) * TILE + j + 1) * TILE : (i + 1) * TILE) + 1;
}

/* A brick with a layer of cells around it: velocities, weights and stresses; and the forces
 * inside. */
typedef struct brick_tile {
    double u[3][TILE_CELLS], w[TILE_CELLS], stress[TILE_CELLS];
    double (*out)[BRICK_CELLS_MAX];
} brick_tile;

/* out_a -= the difference of 2 W d_a u_a along a. */
INLINE void add_normal(brick_tile *tile, int a, int dim) {
    const int s = box_stride(TILE, a, dim);
    const extent all = whole_brick(dim);
    const double *u = tile->u[a], *w = tile->w;
    double *stress = tile->stress, *out = tile->out[a];
    extent cells = all;
    cells.low[loop_axis(a, dim)] = -1;
    for (int i = cells.low[0]; i < cells.high[0]; i++)
        for (int j = cells.low[1]; j < cells.high[1]; j++)
            for (int k = cells.low[2], t = row_start(i, j, dim); k < cells.high[2]; k++)
                stress[t + k] = 2 * w[t + k] * (u[t + k + s] - u[t + k]);
    for (int i = 0; i < all.high[0]; i++)
        for (int j = 0; j < all.high[1]; j++, out += BRICK_EDGE)
            for (int k = 0, t = row_start(i, j, dim); k < BRICK_EDGE; k++)
                out[k] += stress[t + k - s] - stress[t + k];
}

/* The same for the shear stress W (d_b u_a + d_a u_b) of edges. */
INLINE void add_shear(brick_tile *tile, int a, int b, int dim) {
    const int sa = box_stride(TILE, a, dim), sb = box_stride(TILE, b, dim);
    const extent all = whole_brick(dim);
    const double *ua = tile->u[a], *ub = tile->u[b], *w = tile->w;
    double *stress = tile->stress, *out_a = tile->out[a], *out_b = tile->out[b];
    extent edges = all;
    edges.high[loop_axis(a, dim)]++, edges.high[loop_axis(b, dim)]++;
    for (int i = 0; i < edges.high[0]; i++)
        for (int j = 0; j < edges.high[1]; j++)
            for (int k = 0, t = row_start(i, j, dim); k < edges.high[2]; k++)
                stress[t + k] =
                    w[t + k] * (ua[t + k] - ua[t + k - sb] + (ub[t + k] - ub[t + k - sa]));
    for (int i = 0; i < all.high[0]; i++)
        for (int j = 0; j < all.high[1]; j++, out_a += BRICK_EDGE, out_b += BRICK_EDGE)
            for (int k = 0, t = row_start(i, j, dim); k < BRICK_EDGE; k++) {
                out_a[k] += stress[t + k] - stress[t + k + sb];
                out_b[k] += stress[t + k] - stress[t + k + sa];
            }
}

/* A x at the faces of a brick, 0 at those that are not free. */
INLINE void apply(const viscous_level *level, int32_t brick, real *const x[3],
                  double out[3][BRICK_CELLS_MAX], int dim) {
    tile_rows rows;
    brick_tile tile;
    const int64_t first = (int64_t)brick * mac_cells(dim);
    tile.out = out;
    find_rows(level, brick, &rows, dim);
    for (int a = 0; a < dim; a++) {
        load_tile(&rows, x[a], tile.u[a], dim);
        for (int c = 0; c < mac_cells(dim); c++) out[a][c] = 0;
    }
    for (int a = 0; a < dim; a++) {
        load_tile(&rows, level->normal[a], tile.w, dim);
        add_normal(&tile, a, dim);
        for (int b = a + 1; b < dim; b++) {
            load_tile(&rows, level->shear[viscous_edge(dim, a, b)], tile.w, dim);
            add_shear(&tile, a, b, dim);
        }
    }
    for (int a = 0; a < dim; a++)
        for (int c = 0; c < mac_cells(dim); c++) {
            const double sum = (double)level->inertia[a][first + c] * (double)x[a][first + c] +
                               level->scale * out[a][c];
            out[a][c] = level->relax[a][first + c] > 0 ? sum : 0;
        }
}

INLINE void multiply_chunk(const viscous_product *p, chunk items, double *part, int dim) {
    double out[3][BRICK_CELLS_MAX], lanes[BRICK_EDGE] = {0};
    for (int64_t n = items.begin; n < items.end; n++) {
        const int32_t brick = p->level->active[n];
        const int64_t first = (int64_t)brick * mac_cells(dim);
        apply(p->level, brick, p->x, out, dim);
        for (int a = 0; a < dim; a++)
            for (int c = 0; c < mac_cells(dim); c += BRICK_EDGE)
                for (int k = 0; k < BRICK_EDGE; k++) {
                    p->out[a][first + c + k] = out[a][c + k];
                    lanes[k] += out[a][c + k] * (double)p->x[a][first + c + k];
                }
    }
    for (int k = 0; k < BRICK_EDGE; k++) part[0] += lanes[k];
}

INLINE void relax_chunk(const viscous_relaxation *r, chunk items, int dim) {
    const viscous_level *level = r->level;
    double out[3][BRICK_CELLS_MAX];
    for (int64_t n = items.begin; n < items.end; n++) {
        const int64_t first = (int64_t)level->active[n] * mac_cells(dim);
        apply(level, level->active[n], level->x, out, dim);
        for (int a = 0; a < dim; a++) {
            const real *b = level->b[a] + first, *row = level->relax[a] + first;
            real *d = level->d[a] + first;
            if (r->residual)
                for (int c = 0; c < mac_cells(dim); c++)
                    d[c] = (real)((double)level->share[a][first + c] * ((double)b[c] - out[a][c]));
            else if (r->keep == 0) /* what d held may be anything */
                for (int c = 0; c < mac_cells(dim); c++)
                    d[c] = (real)(r->step * (double)row[c] * ((double)b[c] - out[a][c]));
            else
                for (int c = 0; c < mac_cells(dim); c++)
                    d[c] = (real)(r->keep * (double)d[c] +
                                  r->step * (double)row[c] * ((double)b[c] - out[a][c]));
        }
    }
}

VISCOUS_KERNELS(TASK_BY_DIM, SUM_BY_DIM)

extern const viscous_kernels ISA_NAME(viscous);
const viscous_kernels ISA_NAME(viscous) = {VISCOUS_KERNELS(FIELD_BY_DIM, FIELD_BY_DIM)};
