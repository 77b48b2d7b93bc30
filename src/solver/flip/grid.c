/* The bricks of a step, and what stands in the liquid's way. */
#include "solver/flip/flip.h"

enum { BLOCK_TO_BRICK = 1 }; /* shift of coordinates: a brick is two blocks along an axis */
_Static_assert(BLOCK_EDGE << BLOCK_TO_BRICK == BRICK_EDGE, "a brick is whole blocks");

static void brick_of_block(const int32_t block[3], int32_t brick[3]) {
    for (int a = 0; a < 3; a++) brick[a] = block[a] >> BLOCK_TO_BRICK;
}

int32_t flip_brick_of_block(const flip *f, const int32_t block[3], int corner[3]) {
    int32_t brick[3];
    brick_of_block(block, brick);
    for (int a = 0; a < 3; a++)
        corner[a] =
            (block[a] & ((1 << BLOCK_TO_BRICK) - 1)) * BLOCK_EDGE; /* of negative ones too */
    return sparse_lattice_find(&f->grid.bricks, brick);
}

/* All blocks are covered, which are those with particles and a ring of four cells around them; long
 * steps need more. */
static spate_status list_bricks(flip *f) {
    const blocks *b = &f->sim->blocks;
    sparse_lattice *bricks = &f->grid.bricks;
    TRY(sparse_lattice_begin(bricks));
    for (int32_t i = 0; i < b->count; i++) {
        int32_t c[3];
        brick_of_block(b->coords[i], c);
        TRY(sparse_lattice_insert(bricks, c));
    }
    if (f->sim->scene->cfl > 2) TRY(sparse_lattice_widen(bricks));
    sparse_lattice_number(bricks);
    TRY(sparse_lattice_finish(bricks, f->threads));
    return mac_reserve(&f->grid);
}

spate_status flip_grid(void *solver) {
    flip *f = solver;
    TRY(list_bricks(f));
    TRY(boundary_move(&f->sim->boundary, f->sim->time + f->sim->dt));
    faces_prepare(&(faces){.sim = f->sim, .grid = &f->grid, .voxels = f->options->solids == 1});
    return SPATE_OK;
}
