/*
 * The volumes of liquids are held to the density that their particles have in space.
 *
 * A liquid follows J by its velocity gradient alone, and nothing ties that to where the particles
 * are. It forgets what it expands by beyond J = 1, where it holds no tension: a jet that broke into
 * drops comes together with J = 1 while there is still room between them. And particles move by
 * more than their gradient says, so they also come too close with J = 1. Poured liquid swelled by
 * up to a half, and a settled dam break was up to a tenth too dense.
 *
 * Here J is drawn to the volume that a particle has on the grid. With V the volumes at rest,
 *
 *    f_i = sum_p w V / h^d,   f = sum_i w f_i,   s = h |grad f| / f
 *    J_x = (1 - S) / f,       S = s (1/2 - 1/3 / (1 + 5 s))
 *
 * S is the share of a particle's surroundings that lies beyond a flat surface or collider: what s
 * and f of a half space say of it; nodes are few, so J_x is off by up to 7 % there. Mirrors double
 * the nodes on them and need no S.
 *
 *    ln J <- ln J + a e,   a = 1 - exp(-4 |D| t)
 *
 * with D the strain rate, t the time between two corrections and e what ln (J_x / J) is beyond a
 * tolerance of 0.05 + S / 4, since f is known no better where particles lie irregularly or half of
 * the kernel is empty. So the liquid's J is its own as long as it is right: sound, hydrostatic
 * pressure and liquid at rest are untouched, and errors are forgotten as fast as motion can make
 * them, whatever the step. Forces remain a gradient of stress, so momentum is kept. J may then be
 * above 1: room without pressure (liquid.c), until the liquid has been pushed together again.
 *
 * All materials count in f. It is done in every 32nd step, for liquids with `volume_correction`;
 * the weights are quadratic whatever the solver's kernel.
 */
#include "core/isa.h"
#include "solver/mpm/mpm.h"

enum { BLOCKS_AT_ONCE = 16 };

ISA_TABLES(mpm_density_passes, mpm_density);

void mpm_correct_density(mpm *m) {
    mpm_view *v = &m->view;
    const blocks *b = &m->sim->blocks;
    const mpm_density_passes *passes = ISA_CHOOSE(mpm_density, m->sim->ctx->isa);
    bool any = false;
    for (int c = 0; c < v->material_count; c++) any |= mpm_is_corrected(&v->materials[c]);
    if (!any || (m->sim->step + 1) % DENSITY_STEPS) return;
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, passes->volume[b->dim - 2], v);
    parallel_for(m->threads, b->count, BLOCKS_AT_ONCE, passes->add_up[b->dim - 2], v);
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, passes->correct[b->dim - 2], v);
}
