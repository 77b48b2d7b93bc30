/*
 * Connected regions of unknowns, by union and find over nodes: one for each uniform brick, whose
 * cells all hang together, and one for each cell of the others, in rows. Of two sets the lower root
 * stays the root, so that the result depends on no order.
 */
#include "solver/pressure/system.h"
#include <math.h>

void pockets_free(pressure *p) {
    pockets *k = &p->pockets;
    give(p->ctx, k->first), give(p->ctx, k->parent), give(p->ctx, k->root);
    give(p->ctx, k->label);
    give(p->ctx, k->sum), give(p->ctx, k->cells), give(p->ctx, k->brick_sum);
    give(p->ctx, k->brick_pocket);
    *k = (pockets){0};
}

size_t pockets_bytes(const pressure *p) {
    const pockets *k = &p->pockets;
    return (size_t)k->first_capacity * sizeof *k->first +
           (size_t)k->parent_capacity * sizeof *k->parent +
           (size_t)k->root_capacity * sizeof *k->root +
           (size_t)k->label_capacity * sizeof *k->label +
           (size_t)k->brick_sum_capacity * sizeof *k->brick_sum +
           (size_t)k->brick_pocket_capacity * sizeof *k->brick_pocket +
           (size_t)k->sum_capacity * sizeof *k->sum + (size_t)k->cells_capacity * sizeof *k->cells;
}

/* ---- Sets ------------------------------------------------------------------------------------ */

static int32_t find(int32_t *parent, int32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
}

static void join(int32_t *parent, int32_t a, int32_t b) {
    a = find(parent, a), b = find(parent, b);
    if (a < b) parent[b] = a;
    if (b < a) parent[a] = b;
}

static bool is_uniform(const level *l, int32_t brick) {
    return l->stencil_class[brick] == STENCIL_UNIFORM;
}

static int32_t node_of(const pressure *p, int32_t brick, int cell) {
    return p->pockets.first[brick] + (is_uniform(&p->levels[0], brick) ? 0 : cell);
}

/* Rows of a brick's stencil class; `field` is any that classes have. */
static const real *rows_of(const level *l, const real *field, int32_t brick) {
    return field + (int64_t)l->stencil_class[brick] * checker_cells(l->dim);
}

/* Each cell of a row hangs on the first of those it is connected with: sets to begin with. */
static void begin_own(const pressure *p, int32_t brick) {
    const level *l = &p->levels[0];
    const real *face = rows_of(l, l->face[0], brick);
    int32_t *parent = p->pockets.parent + p->pockets.first[brick];
    const int32_t first = p->pockets.first[brick];
    for (int c = 0; c < checker_cells(l->dim); c++)
        parent[c] = c % BRICK_EDGE && face[c] > 0 ? parent[c - 1] : first + c;
}

/* Joins a row with the one before it in a direction, which begins at `other` in brick `beyond`.
 * Where two faces side by side are open and the cells of both rows hang together, one is enough. */
static void join_across(const pressure *p, int32_t brick, int row, int direction, int32_t beyond,
                        int other) {
    const level *l = &p->levels[0];
    const real *face = rows_of(l, l->face[direction], brick) + row;
    const real *along = rows_of(l, l->face[0], brick) + row;
    const real *beside = rows_of(l, l->face[0], beyond) + other;
    for (int k = 0; k < BRICK_EDGE; k++) {
        if (!(face[k] > 0)) continue;
        if (k > 0 && face[k - 1] > 0 && along[k] > 0 && beside[k] > 0) continue;
        join(p->pockets.parent, node_of(p, brick, row + k), node_of(p, beyond, other + k));
    }
}

/* The rows of a brick that is not uniform with one another... */
static void join_within(const pressure *p, int32_t brick) {
    const level *l = &p->levels[0];
    for (int direction = 1; direction < l->dim; direction++) {
        const int stride = direction_stride(direction);
        for (int row = 0; row < checker_cells(l->dim); row += BRICK_EDGE)
            if (row / stride % BRICK_EDGE)
                join_across(p, brick, row, direction, brick, row - stride);
    }
}

/* ... and with those of the bricks before it. */
static void join_beyond(const pressure *p, int32_t brick) {
    const level *l = &p->levels[0];
    const int cells = checker_cells(l->dim);
    const real *along = rows_of(l, l->face[0], brick);
    const int32_t before = l->near[brick][0];
    const real *across = rows_of(l, l->face[1], brick);
    const real *beside = rows_of(l, l->face[1], before);
    for (int row = 0; row < cells; row += BRICK_EDGE) {
        if (!(along[row] > 0)) continue;
        /* as in join_across, down the rows of a plane */
        if (row % row_at(1, 0) && along[row - BRICK_EDGE] > 0 && across[row] > 0 &&
            beside[row + ROW_LAST] > 0)
            continue;
        join(p->pockets.parent, node_of(p, brick, row), node_of(p, before, row + ROW_LAST));
    }
    for (int direction = 1; direction < l->dim; direction++) {
        const int stride = direction_stride(direction);
        for (int row = 0; row < cells; row += BRICK_EDGE)
            if (row / stride % BRICK_EDGE == 0)
                join_across(p, brick, row, direction, l->near[brick][2 * direction],
                            row + ROW_LAST * stride);
    }
}

/* A uniform brick hangs together with all cells before it; of those in a line one is enough. */
static void join_uniform(const pressure *p, int32_t brick) {
    const level *l = &p->levels[0];
    for (int direction = 0; direction < l->dim; direction++) {
        const int32_t beyond = l->near[brick][2 * direction];
        const int side = ROW_LAST * direction_stride(direction);
        const int step = direction == 0 ? 8 : 1, lines = l->dim == 2 ? 1 : 8;
        const int line = direction == 2 ? 8 : 64;
        const real *linked = rows_of(l, l->face[direction == 0], beyond);
        const int count = is_uniform(l, beyond) ? 1 : 8 * lines;
        for (int n = 0; n < count; n++) {
            const int c = side + n / 8 * line + n % BRICK_EDGE * step;
            if (n % BRICK_EDGE && linked[c] > 0) continue;
            join(p->pockets.parent, p->pockets.first[brick], node_of(p, beyond, c));
        }
    }
}

/* ---- Pockets --------------------------------------------------------------------------------- */

static spate_status number_nodes(pressure *p, int32_t *nodes) {
    const level *l = &p->levels[0];
    pockets *k = &p->pockets;
    int64_t count = 0;
    TRY(GROW(p->ctx, k->first, k->first_capacity, l->count + 1));
    for (int32_t b = 0; b < l->count; b++) {
        k->first[b] = (int32_t)count;
        count += is_uniform(l, b) ? 1 : checker_cells(l->dim);
    }
    if (count > INT32_MAX)
        return fail(p->ctx, SPATE_BAD_INPUT, "the liquid has too many cells at its surface");
    TRY(GROW(p->ctx, k->parent, k->parent_capacity, count + 1));
    TRY(GROW(p->ctx, k->root, k->root_capacity, count + 1));
    TRY(GROW(p->ctx, k->label, k->label_capacity, count + 1));
    *nodes = (int32_t)count;
    return SPATE_OK;
}

/* Sets within bricks, whose nodes are all their own. */
static void begin_bricks(void *data, chunk items) {
    const pressure *p = data;
    for (int32_t b = (int32_t)items.begin; b < items.end; b++)
        if (is_uniform(&p->levels[0], b)) {
            p->pockets.parent[p->pockets.first[b]] = p->pockets.first[b];
        } else {
            begin_own(p, b);
            join_within(p, b);
        }
}

enum { LABEL_NONE = -1, LABEL_CLOSED = -2, LABEL_MIXED = -3 };

/* Roots of all nodes, each marked as that of a region without surface. */
static void find_roots(void *data, chunk items) {
    const pressure *p = data;
    const level *l = &p->levels[0];
    const pockets *k = &p->pockets;
    for (int32_t b = (int32_t)items.begin; b < items.end; b++) {
        const real *inverse = rows_of(l, l->inverse, b);
        for (int c = 0; c < (is_uniform(l, b) ? 1 : checker_cells(l->dim)); c++) {
            const int32_t node = k->first[b] + c;
            int32_t root = node;
            while (k->parent[root] != root) root = k->parent[root];
            k->root[node] = root;
            k->label[node] = root == node && inverse[c] > 0 ? LABEL_CLOSED : LABEL_NONE;
        }
    }
}

/* Regions with a cell at the surface are no pockets; numbers the others. */
static void number_pockets(pressure *p, int32_t nodes) {
    const level *l = &p->levels[0];
    pockets *k = &p->pockets;
    for (int32_t class = STENCIL_OWN; class < l->stencil_classes; class ++) {
        const real *surface = l->surface + (int64_t) class * checker_cells(l->dim);
        const int32_t first = k->first[l->owner[class]];
        for (int c = 0; c < checker_cells(l->dim); c++)
            if (surface[c] > 0) k->label[k->root[first + c]] = LABEL_NONE;
    }
    k->count = 0;
    for (int32_t n = 0; n < nodes; n++)
        if (k->label[n] == LABEL_CLOSED) k->label[n] = k->count++;
}

static int32_t pocket_of(const pockets *k, int32_t node) { return k->label[k->root[node]]; }

/* The pocket that all unknowns of a brick are in, LABEL_NONE or LABEL_MIXED. */
static int32_t pocket_of_brick(const pressure *p, int32_t brick) {
    const level *l = &p->levels[0];
    const pockets *k = &p->pockets;
    const int32_t first = k->first[brick];
    if (is_uniform(l, brick)) return pocket_of(k, first);
    const real *inverse = rows_of(l, l->inverse, brick);
    int32_t pocket = LABEL_CLOSED;
    for (int c = 0; c < checker_cells(l->dim); c++) {
        if (!(inverse[c] > 0)) continue;
        const int32_t own = pocket_of(k, first + c);
        if (pocket != LABEL_CLOSED && pocket != own) return LABEL_MIXED;
        pocket = own;
    }
    return pocket == LABEL_CLOSED ? LABEL_NONE : pocket;
}

static void find_bricks(void *data, chunk items) {
    pressure *p = data;
    for (int64_t b = items.begin; b < items.end; b++)
        p->pockets.brick_pocket[b] = pocket_of_brick(p, (int32_t)b);
}

spate_status pockets_find(pressure *p) {
    const level *l = &p->levels[0];
    pockets *k = &p->pockets;
    int32_t nodes;
    TRY(number_nodes(p, &nodes));
    parallel_for(p->ctx->pool, l->count, CHUNK, begin_bricks, p);
    for (int32_t b = 0; b < l->count; b++)
        if (is_uniform(l, b))
            join_uniform(p, b);
        else
            join_beyond(p, b);
    parallel_for(p->ctx->pool, l->count, CHUNK, find_roots, p);
    number_pockets(p, nodes);
    if (k->count == 0) return SPATE_OK;
    TRY(GROW(p->ctx, k->sum, k->sum_capacity, k->count));
    TRY(GROW(p->ctx, k->cells, k->cells_capacity, k->count));
    TRY(GROW(p->ctx, k->brick_sum, k->brick_sum_capacity, l->count));
    TRY(GROW(p->ctx, k->brick_pocket, k->brick_pocket_capacity, l->count));
    parallel_for(p->ctx->pool, l->count, CHUNK, find_bricks, p);
    return SPATE_OK;
}

/* ---- Means ----------------------------------------------------------------------------------- */

typedef struct mean_data {
    pressure *p;
    double *v;
} mean_data;

/* Sums over bricks that are in one pocket with all cells; what is no unknown is 0. */
static void sum_bricks(void *data, chunk items) {
    const mean_data *d = data;
    const level *l = &d->p->levels[0];
    for (int64_t b = items.begin; b < items.end; b++) {
        double sum[4] = {0};
        for (int colour = RED; colour <= BLACK && d->p->pockets.brick_pocket[b] >= 0; colour++) {
            const double *v = d->v + half_at(l, b, colour, l->dim);
            for (int c = 0; c < checker_half(l->dim); c += 4)
                for (int n = 0; n < 4; n++) sum[n] += v[c + n];
        }
        d->p->pockets.brick_sum[b] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
}

static int64_t place_of(const level *l, int64_t brick, int c) {
    return half_at(l, brick, checker_colour_of(c), l->dim) + checker_place_of(c);
}

static void take_means(void *data, chunk items) {
    const mean_data *d = data;
    const pockets *k = &d->p->pockets;
    const level *l = &d->p->levels[0];
    for (int64_t b = items.begin; b < items.end; b++) {
        if (k->brick_pocket[b] == LABEL_NONE) continue;
        if (is_uniform(l, (int32_t)b)) {
            for (int colour = RED; colour <= BLACK; colour++)
                for (int c = 0; c < checker_half(l->dim); c++)
                    d->v[half_at(l, b, colour, l->dim) + c] -= k->sum[k->brick_pocket[b]];
            continue;
        }
        const real *inverse = rows_of(l, l->inverse, (int32_t)b);
        for (int c = 0; c < checker_cells(l->dim); c++) {
            const int32_t pocket = inverse[c] > 0 ? pocket_of(k, k->first[b] + c) : LABEL_NONE;
            if (pocket >= 0) d->v[place_of(l, b, c)] -= k->sum[pocket];
        }
    }
}

/* Adds up sums and cells of a brick, cell by cell where it has more than one pocket. */
static void add_brick(pockets *k, const level *l, const double *v, int32_t b) {
    const real *inverse = rows_of(l, l->inverse, b);
    const int32_t common = k->brick_pocket[b];
    if (common >= 0) k->sum[common] += k->brick_sum[b];
    if (common >= 0 && is_uniform(l, b)) k->cells[common] += checker_cells(l->dim);
    if (common == LABEL_NONE || is_uniform(l, b)) return;
    for (int c = 0; c < checker_cells(l->dim); c++) {
        if (!(inverse[c] > 0)) continue;
        const int32_t pocket = common >= 0 ? common : pocket_of(k, k->first[b] + c);
        if (pocket < 0) continue;
        k->cells[pocket]++;
        if (common < 0) k->sum[pocket] += v[place_of(l, b, c)];
    }
}

double pockets_remove_means(pressure *p, double *v) {
    pockets *k = &p->pockets;
    const level *l = &p->levels[0];
    mean_data data = {p, v};
    if (k->count == 0) return 0;
    for (int32_t i = 0; i < k->count; i++) k->sum[i] = 0, k->cells[i] = 0;
    parallel_for(p->ctx->pool, l->count, CHUNK, sum_bricks, &data);
    for (int32_t b = 0; b < l->count; b++) add_brick(k, l, v, b);
    double most = 0;
    for (int32_t i = 0; i < k->count; i++) {
        k->sum[i] /= (double)k->cells[i];
        most = fmax(most, fabs(k->sum[i]));
    }
    parallel_for(p->ctx->pool, l->count, CHUNK, take_means, &data);
    return most;
}
