/*
 * Volumes where material flows plastically.
 *
 * Plastic flow keeps J and limits the deviator alone, so what a particle has once gathered of tr C
 * stays in its pressure for ever. A part of it is noise: there are more particles than velocities
 * of nodes, and pressures that go up and down from particle to particle give no force on any node
 * (Brackbill 1988; Gritton and Berzins 2017). Elastic strains come back with the shape; in a flow
 * nothing takes this noise away again, and it grows with the strain.
 *
 * Here it is relaxed about as fast as the flow relaxes the deviator. A return
 * leaves a share r of the deviator, and `flow` adds up 1 - r: over steps short against the yield
 * strain it is the plastic strain over the yield strain, whatever their length. Then, with
 * a = 1 - exp(-4 flow) and X = J^2 - 1, among particles of one material,
 *
 *    X_i = sum_p w m a X_p / sum_p w m a,   X_p <- X_p + a (sum_i w X_i - X_p),   flow <- 0
 *
 * and b is scaled to the new J. The sum of m X is kept, and as the energy of volume is convex in X
 * it never grows (Jensen, twice). What is at rest or elastic does not take part. It is done in
 * every 32nd step, which costs little; the weights are quadratic whatever the solver's kernel.
 */
#include "solver/mpm/plastic_volume.h"
#include "core/isa.h"

enum { STEPS_BETWEEN = 32, BLOCKS_AT_ONCE = 16 };

ISA_TABLES(plastic_volume_passes, plastic_volume);

void mpm_smooth_volume(mpm *m) {
    const blocks *b = &m->sim->blocks;
    const plastic_volume_passes *passes = ISA_CHOOSE(plastic_volume, m->sim->ctx->isa);
    const int form = b->dim - 2;
    if (!m->sim->particles.flow || (m->sim->step + 1) % STEPS_BETWEEN) return;
    for (int c = 0; c < m->sim->scene->material_count; c++) {
        if (!(material_models[m->view.materials[c].kind]->fields & PARTICLE_BIT(flow))) continue;
        plastic_volume s = {.m = &m->view, .tile = b->tile, .material = c};
        parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, passes->excess[form], &s);
        parallel_for(m->threads, b->count, BLOCKS_AT_ONCE, passes->mean[form], &s);
        parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, passes->relax[form], &s);
    }
}
