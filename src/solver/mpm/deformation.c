/*
 * The deformation gradient F of every particle, followed for those who want to see it: no material
 * here needs more than b = F F^T, so F is a field of its own that exists where output.fields asks
 * for it. With the velocity gradient C that the gather has just given,
 *
 *    F <- (I + dt C) F,   that is   A <- A + G + G A   for A = F - I and G = dt C,
 *
 * the same update as that of b in the materials (strain_wide.h): F F^T is the b of an elastic
 * solid. Plastic flow is not taken out of it: F is all that has happened, and its elastic part is
 * in the stress alone.
 */
#include "core/kernel_table.h"
#include "solver/mpm/mpm.h"

enum { BLOCKS_A_CHUNK = 16 };

INLINE void update_particle(const mpm_view *m, const particles *p, int64_t i, int dim) {
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

INLINE void update_chunk(void *data, chunk items, int dim) {
    const mpm_view *m = data;
    for (int64_t o = items.begin; o < items.end; o++) {
        const int64_t last = m->first[m->occupied[o] + 1];
        for (int64_t i = m->first[m->occupied[o]]; i < last; i++)
            update_particle(m, m->particles, i, dim);
    }
}

TASK_BY_DIM(update)

void mpm_update_deformation(mpm *m) {
    const blocks *b = &m->sim->blocks;
    if (m->sim->particles.gradient)
        parallel_for(m->threads, b->occupied_count, BLOCKS_A_CHUNK,
                     b->dim == 2 ? update_2d : update_3d, &m->view);
}
