/*
 * The deformation gradient F of every particle, followed for those who want to see it: no material
 * here needs more than b = F F^T, so F is a field of its own that exists where output.fields asks
 * for it. With the velocity gradient C that the gather has just given,
 *
 *    F <- (I + dt C) F,   that is   A <- A + G + G A   for A = F - I and G = dt C,
 *
 * the same update as that of b in the materials (strain_wide.h): F F^T is the b of an elastic solid.
 * Plastic flow is not taken out of it: F is all that has happened, and its elastic part is in the
 * stress alone.
 */
#include "solver/mpm/mpm.h"

enum { BLOCKS_A_CHUNK = 16 };

INLINE void follow_particle(const mpm *m, const particles *p, int64_t i, int dim) {
    const real step = m->dt / m->dx;
    real G[3][3], A[3][3];
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            G[r][c] = step * p->affine[i][c][r];
            A[r][c] = PLANE(p, gradient, 3 * r + c)[i];
        }
    for (int r = 0; r < dim; r++)
        for (int c = 0; c < dim; c++) {
            real change = G[r][c];
            for (int k = 0; k < dim; k++) change += G[r][k] * A[k][c];
            PLANE(p, gradient, 3 * r + c)[i] = A[r][c] + change;
        }
}

INLINE void follow_chunk(void *data, chunk items, int dim) {
    const mpm *m = data;
    const blocks *b = &m->sim->blocks;
    const particles *p = &m->sim->particles;
    for (int64_t o = items.begin; o < items.end; o++)
        for (int64_t i = b->first[b->occupied[o]]; i < b->first[b->occupied[o] + 1]; i++)
            follow_particle(m, p, i, dim);
}

static void follow_2d(void *data, chunk items) { follow_chunk(data, items, 2); }
static void follow_3d(void *data, chunk items) { follow_chunk(data, items, 3); }

void mpm_follow_gradient(mpm *m) {
    const blocks *b = &m->sim->blocks;
    if (m->sim->particles.gradient)
        parallel_for(m->sim->ctx->pool, b->occupied_count, BLOCKS_A_CHUNK,
                     b->dim == 2 ? follow_2d : follow_3d, m);
}
