/* The bricks of a step, and what stands in the liquid's way. */
#include "solver/flip/flip.h"

#include "solver/faces.h"

/* All blocks are covered, which are those with particles and a ring of four cells around them; long
 * steps need more. */
static spate_status list_bricks(flip *f) {
    const blocks *b = &f->sim->blocks;
    sites *bricks = &f->grid.bricks;
    TRY(sites_begin(bricks));
    for (int32_t i = 0; i < b->count; i++) {
        int32_t c[3] = {b->coords[i][0] >> 1, b->coords[i][1] >> 1, b->coords[i][2] >> 1};
        TRY(sites_insert(bricks, c));
    }
    if (f->sim->scene->cfl > 2) TRY(sites_widen(bricks));
    sites_number(bricks);
    TRY(sites_finish(bricks, f->sim->ctx->pool));
    return mac_reserve(&f->grid);
}

spate_status flip_grid(flip *f) {
    TRY(list_bricks(f));
    boundary_move(&f->sim->boundary, f->sim->time + f->sim->dt);
    faces_prepare(&(faces){.sim = f->sim, .grid = &f->grid, .voxels = f->options->solids == 1});
    return SPATE_OK;
}
