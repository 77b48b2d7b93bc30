/*
 * Neighbour lists over blocks:
 *   1. cells    of every block: where each begins among its particles, which are sorted by cell
 *   2. around   for two different sets, which blocks of the one lie around those of the other
 *   3. room     for the candidates of the block that has most
 *   4. count    the neighbours of every particle, then where the rows of each block begin
 *   5. fill     the rows
 * Counting first, and looking at all distances again, costs some 40% more than one pass would, but
 * rows then have one place, whatever the number of threads, and the list is no longer than it must
 * be.
 */
#include "state/neighbours_search.h"

#include <math.h>

enum { BLOCK_GRAIN = 4 };

neighbours neighbours_create(spate_context *ctx) { return (neighbours){.ctx = ctx}; }

void neighbours_free(neighbours *n) {
    spate_context *ctx = n->ctx;
    if (!ctx) return;
    give(ctx, n->first), give(ctx, n->number), give(ctx, n->list), give(ctx, n->cells);
    give(ctx, n->around), give(ctx, n->starts), give(ctx, n->candidate_sets), give(ctx, n->planes);
    give(ctx, n->indices);
    *n = (neighbours){0};
}

size_t neighbours_bytes(const neighbours *n) {
    return (size_t)n->row_capacity * (sizeof *n->first + sizeof *n->number) +
           (size_t)n->list_capacity * sizeof *n->list +
           (size_t)n->cell_capacity * sizeof *n->cells +
           (size_t)n->around_capacity * sizeof *n->around +
           (size_t)n->start_capacity * sizeof *n->starts +
           (size_t)n->set_capacity * sizeof *n->candidate_sets +
           (size_t)n->plane_capacity * sizeof *n->planes +
           (size_t)n->index_capacity * sizeof *n->indices;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

static void find_cells(void *data, chunk items) {
    search *s = data;
    const blocks *b = s->among_blocks;
    for (int64_t o = items.begin; o < items.end; o++) {
        uint32_t *ends = s->n->cells[o] + 1;
        const int64_t first = b->first[b->occupied[o]], last = b->first[b->occupied[o] + 1];
        memset(s->n->cells[o], 0, sizeof s->n->cells[o]);
        for (int64_t i = first; i < last; i++) {
            int cell = 0;
            for (int a = 0; a < b->dim; a++)
                cell = cell * BLOCK_EDGE + (int)PLANE(s->among, position, a)[i];
            ends[cell] = (uint32_t)(i + 1 - first);
        }
        for (int c = 1; c < BLOCK_NODES_MAX; c++)
            if (ends[c] == 0) ends[c] = ends[c - 1];
    }
}

static void find_around(void *data, chunk items) {
    search *s = data;
    const blocks *b = s->of_blocks;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int code = 0; code < neighbour_count(b->dim); code++) {
            int32_t c[3];
            sparse_lattice_neighbour(&s->among_blocks->lattice, b->coords[b->occupied[o]], code, c);
            s->n->around[b->occupied[o]][code] = blocks_find(s->among_blocks, c);
        }
}

static void find_largest(void *data, chunk items) {
    search *s = data;
    const blocks *b = s->of_blocks;
    const int64_t *first = s->among_blocks->first;
    for (int64_t o = items.begin; o < items.end; o++) {
        int64_t candidates = 0;
        for (int code = 0; code < neighbour_count(b->dim); code++) {
            int32_t block = s->around[b->occupied[o]][code];
            if (block >= 0) candidates += first[block + 1] - first[block];
        }
        if (candidates > s->largest[items.worker]) s->largest[items.worker] = candidates;
    }
}

/* A set for each worker with room for as many candidates as any block has. */
static spate_status reserve_candidates(search *s, pool *threads) {
    neighbours *n = s->n;
    const int workers = pool_size(threads), dim = s->of_blocks->dim;
    int64_t most = 0;
    for (int w = 0; w < workers; w++) most = s->largest[w] > most ? s->largest[w] : most;
    most = whole_wides(most + (SEARCH_ROWS + 1) * WIDE);
    TRY(ENSURE(n->ctx, n->set_capacity, workers, EACH(n->candidate_sets, 1)));
    TRY(ENSURE(n->ctx, n->plane_capacity, workers * dim * most, EACH(n->planes, 1)));
    /* index, eights and masks; runs have no more eights than all rows and their ends together */
    const int64_t eights = most / WIDE, each = most + 2 * eights;
    TRY(ENSURE(n->ctx, n->index_capacity, workers * each, EACH(n->indices, 1)));
    for (int w = 0; w < workers; w++) {
        candidate_set *v = &n->candidate_sets[w];
        for (int a = 0; a < dim; a++) v->x[a] = n->planes + (w * dim + a) * most;
        v->index = n->indices + w * each;
        v->eights = v->index + most;
        v->masks = (uint8_t *)(v->eights + eights);
    }
    s->candidate_sets = n->candidate_sets;
    return SPATE_OK;
}

/* Steps 1 to 3. */
static spate_status prepare(search *s, pool *threads) {
    neighbours *n = s->n;
    const blocks *of = s->of_blocks, *among = s->among_blocks;
    TRY(ENSURE(n->ctx, n->row_capacity, s->of->count + 1, EACH(n->first, 1), EACH(n->number, 1)));
    TRY(ENSURE(n->ctx, n->start_capacity, of->occupied_count + 1, EACH(n->starts, 1)));
    TRY(ENSURE(n->ctx, n->cell_capacity, among->occupied_count, EACH(n->cells, 1)));
    s->starts = n->starts;
    s->cells = (const uint32_t(*)[BLOCK_NODES_MAX + 1]) n->cells;
    s->around = (const int32_t(*)[NEIGHBOURS_MAX])of->neighbours;
    parallel_for(threads, among->occupied_count, BLOCK_GRAIN, find_cells, s);
    if (of != among) {
        TRY(ENSURE(n->ctx, n->around_capacity, of->count, EACH(n->around, 1)));
        s->around = (const int32_t(*)[NEIGHBOURS_MAX])n->around;
        parallel_for(threads, of->occupied_count, BLOCK_GRAIN, find_around, s);
    }
    parallel_for(threads, of->occupied_count, 64, find_largest, s);
    return reserve_candidates(s, threads);
}

/* ---- The search ------------------------------------------------------------------------------ */

ISA_TABLES(neighbour_kernels, neighbour_kernels);

static void list_packing(search *s) {
    for (int bits = 0; bits < 1 << WIDE; bits++)
        for (int lane = 0, at = 0; lane < WIDE; lane++)
            if (bits >> lane & 1) s->packing[bits][at++] = (uint8_t)lane;
}

static spate_status build_rows(search *s, pool *threads) {
    neighbours *n = s->n;
    const neighbour_kernels *kernels = ISA_CHOOSE(neighbour_kernels, n->ctx->isa);
    const int dim = s->of_blocks->dim;
    const int32_t occupied = s->of_blocks->occupied_count;
    TRY(prepare(s, threads));
    list_packing(s);
    n->starts[0] = 0;
    parallel_for(threads, occupied, BLOCK_GRAIN, kernels->count[dim - 2], s);
    for (int32_t o = 0; o < occupied; o++) n->starts[o + 1] += n->starts[o];
    TRY(ENSURE(n->ctx, n->list_capacity, n->starts[occupied], EACH(n->list, 1)));
    parallel_for(threads, occupied, BLOCK_GRAIN, kernels->fill[dim - 2], s);
    n->count = s->of->count;
    n->entries = n->first[n->count] = n->starts[occupied];
    return SPATE_OK;
}

/* Particles of cells that are k apart along an axis are more than k - 1 apart. */
static void find_halves(search *s, double radius, int dim) {
    const int side = 2 * s->reach + 1;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < (dim == 2 ? 1 : side); j++) {
            const double x = fmax(0, fabs((double)(i - s->reach)) - 1);
            const double y = dim == 2 ? 0 : fmax(0, fabs((double)(j - s->reach)) - 1);
            const double left = radius * radius * (1 + 1e-5) - x * x - y * y; /* with rounding */
            s->half[i][j] = (int8_t)(left > 0 ? fmin(ceil(sqrt(left)), s->reach) : -1);
        }
}

spate_status neighbours_build(neighbours *n, const blocks *of_blocks, const particles *of,
                              const blocks *among_blocks, const particles *among, double radius,
                              pool *threads) {
    n->count = n->entries = 0;
    if (!(radius > 0 && radius <= BLOCK_EDGE))
        return fail(n->ctx, SPATE_BAD_INPUT,
                    "neighbour search: the radius is %g cells, but must be above 0 and at most %d",
                    radius, BLOCK_EDGE);
    if (among->count > INT32_MAX - WIDE)
        return fail(n->ctx, SPATE_BAD_INPUT,
                    "neighbour search: %lld particles are more than %d; use a larger dx",
                    (long long)among->count, INT32_MAX - WIDE);
    search s = {.n = n,
                .of_blocks = of_blocks,
                .among_blocks = among_blocks,
                .of = of,
                .among = among,
                .is_same = of == among,
                .reach = (int)ceil(radius),
                .radius2 = (real)(radius * radius)};
    find_halves(&s, radius, of_blocks->dim);
    return build_rows(&s, threads);
}
