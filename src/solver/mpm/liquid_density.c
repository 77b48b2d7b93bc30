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
#define SUPPORT 3
#include "core/kernel_table.h"
#include "solver/mpm/gather.h"
#include "solver/mpm/grid.h"
#include "solver/mpm/scatter.h"

enum { STEPS_BETWEEN = 32, BLOCKS_AT_ONCE = 16, NODE = 4, VOLUME = 3 /* the real of a node */ };
/* Settled pools are within 3 % of their volume with rates of 1 and 4. */
static const double FORGETTING = 4;
/* A still pool on a glass scatters by 0.02 in the midst of it and by 0.05 at its surface. */
static const double TOLERANCE = 0.05, SURFACE_TOLERANCE = 0.25;
static const double MOST_OUTSIDE = 0.7; /* of a particle's surroundings: a corner, a drop */

/* f_i of a block's particles to its tile. */
INLINE void scatter_volume(const mpm_view *m, int64_t o, int dim) {
    const particles *p = m->particles;
    const int32_t block = m->occupied[o];
    const int64_t last = m->first[block + 1];
    const real cell = dim == 3 ? m->dx * m->dx * m->dx : m->dx * m->dx;
    real *tile = m->tiles + o * tile_reals(dim, NODE);
    memset(tile, 0, (size_t)tile_reals(dim, NODE) * sizeof *tile);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil s;
        stencil_fill(&s, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const uint16_t group = p->group[i + lane];
            if (group == GROUP_REMOVED) continue;
            const real density = m->materials[m->group_material[group]].density;
            quad q[4] = {{0}};
            q[0][VOLUME] = p->mass[i + lane] / (density * cell);
            scatter_fused(tile, &s, lane, q, dim);
        }
    }
    mirror_tile(m, block, tile, true, NODE, dim);
}

/* Half of the cell around a node on a mirror is behind it. */
INLINE void double_mirrors(const mpm_view *m, int32_t block, real *nodes, int dim) {
    const domain *d = m->domain;
    for (int n = 0; n < block_nodes(dim); n++) {
        boundary_node node;
        place_node(m, m->coords[block], n, &node, dim);
        for (int a = 0; a < dim; a++)
            if ((node.at[a] == 1 && is_mirror(d, d->walls[a][0])) ||
                (node.at[a] == d->cells[a] + 1 && is_mirror(d, d->walls[a][1])))
                nodes[NODE * n + VOLUME] *= 2;
    }
}

INLINE void add_up_block(const mpm_view *m, int32_t block, int dim) {
    real *nodes = m->velocities[0] + block * block_reals(dim, NODE);
    sum_tiles(m->neighbours[block], m->sim->blocks.tile, m->tiles, nodes, NODE, dim);
    if (at_wall(m->domain, m->coords[block], dim)) double_mirrors(m, block, nodes, dim);
}

/* S, from the slope s of f over a cell. */
INLINE double share_outside(double slope) {
    return fmin(slope * (0.5 - 1.0 / 3 / (1 + 5 * slope)), MOST_OUTSIDE);
}

/* |D| t of particle i. */
INLINE double strain_since(const mpm_view *m, int64_t i, int dim) {
    real(*const C)[4] = m->particles->affine[i];
    double sum = 0;
    for (int a = 0; a < dim; a++)
        for (int c = 0; c < dim; c++) {
            const double rate = 0.5 * (double)(C[a][c] + C[c][a]);
            sum += rate * rate;
        }
    return sqrt(sum) * STEPS_BETWEEN * (double)(m->dt / m->dx);
}

/* Draws J of particle i to its volume on the grid; q is f and its slopes. */
INLINE void correct_particle(const mpm_view *m, int64_t i, const quad q[4], int dim) {
    real *dilation = &m->particles->dilation[i];
    const double f = (double)q[0][VOLUME];
    double slope2 = 0;
    for (int a = 1; a <= dim; a++) slope2 += (double)q[a][VOLUME] * (double)q[a][VOLUME];
    const double outside = share_outside(sqrt(slope2) / f), J = 1 + (double)*dilation;
    const double tolerance = TOLERANCE + SURFACE_TOLERANCE * outside;
    const double error = log((1 - outside) / (f * J)), beyond = fabs(error) - tolerance;
    if (!(beyond > 0)) return;
    const double change = -expm1(-FORGETTING * strain_since(m, i, dim)) * copysign(beyond, error);
    *dilation = (real)(J * exp(change) - 1);
}

static bool is_corrected(const material_constants *c) {
    return c->kind == MATERIAL_LIQUID && c->liquid.correct;
}

INLINE void correct_block(const mpm_view *m, int32_t block, int dim) {
    const int64_t last = m->first[block + 1];
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE * NODE + TILE_PAD] __attribute__((aligned(64)));
    memset(tile + tile_nodes(dim) * NODE, 0, TILE_PAD * sizeof *tile);
    load_tile(m, block, 0, tile, NODE, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil s;
        stencil_fill(&s, m->particles, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const uint16_t group = m->particles->group[i + lane];
            if (group == GROUP_REMOVED || !is_corrected(&m->materials[m->group_material[group]]))
                continue;
            quad q[4];
            gather_fused(tile, &s, lane, q, dim);
            correct_particle(m, i + lane, q, dim);
        }
    }
}

INLINE void volume_chunk(void *data, chunk items, int dim) {
    for (int64_t o = items.begin; o < items.end; o++) scatter_volume(data, o, dim);
}

INLINE void add_up_chunk(void *data, chunk items, int dim) {
    for (int64_t k = items.begin; k < items.end; k++) add_up_block(data, (int32_t)k, dim);
}

INLINE void correct_chunk(void *data, chunk items, int dim) {
    const mpm_view *m = data;
    for (int64_t o = items.begin; o < items.end; o++) correct_block(m, m->occupied[o], dim);
}

TASK_BY_DIM(volume)
TASK_BY_DIM(add_up)
TASK_BY_DIM(correct)

void mpm_correct_density(mpm *m) {
    mpm_view *v = &m->view;
    const blocks *b = &m->sim->blocks;
    const bool flat = b->dim == 2;
    bool any = false;
    for (int c = 0; c < v->material_count; c++) any |= is_corrected(&v->materials[c]);
    if (!any || (m->sim->step + 1) % STEPS_BETWEEN) return;
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, flat ? volume_2d : volume_3d, v);
    parallel_for(m->threads, b->count, BLOCKS_AT_ONCE, flat ? add_up_2d : add_up_3d, v);
    parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, flat ? correct_2d : correct_3d, v);
}
