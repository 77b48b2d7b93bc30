#include "solver/flip/neighbourhood.h"

#include <assert.h>

static const char cells_name[] = "flip cells";

static void find_starts(void *data, chunk items) {
    const neighbourhood *n = data;
    const blocks *b = n->blocks;
    const int dim = b->dim, cells = block_nodes(dim);
    for (int64_t o = items.begin; o < items.end; o++) {
        int64_t i = b->first[b->occupied[o]];
        const int64_t last = b->first[b->occupied[o] + 1];
        for (int c = 0; c < cells; c++) {
            n->starts[o * cells + c] = i;
            while (i < last && block_cell_of(n->particles, i, dim) == c) i++;
        }
        assert(i == last);
    }
}

spate_status neighbourhood_begin(spate_simulation *sim, neighbourhood *n) {
    const blocks *b = &sim->blocks;
    const int64_t cells = (int64_t)b->occupied_count * block_nodes(b->dim);
    assert(!b->unordered);
    *n = (neighbourhood){.blocks = b, .particles = &sim->particles};
    n->starts = scratch_take(&sim->scratch, cells_name, (size_t)cells + 1, sizeof *n->starts);
    if (!n->starts) return SPATE_OUT_OF_MEMORY;
    parallel_for(sim->ctx->pool, b->occupied_count, 16, find_starts, n);
    n->starts[cells] = b->sorted;
    return SPATE_OK;
}

void neighbourhood_end(spate_simulation *sim, neighbourhood *n) {
    if (n->starts) scratch_give(&sim->scratch, cells_name);
    n->starts = NULL;
}
