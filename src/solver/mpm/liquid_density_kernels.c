/* The passes of liquid_density.c, which tells what they compute. */
#define SUPPORT 3
#include "core/kernel_table.h"
#include "solver/mpm/gather.h"
#include "solver/mpm/grid.h"
#include "solver/mpm/scatter.h"

enum { NODE = 4, VOLUME = 3 /* the real of a node */ };
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
            quad q[4] = {{0}};
            q[0][VOLUME] = p->mass[i + lane] / (rest_density(m, i + lane) * cell);
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
    return sqrt(sum) * DENSITY_STEPS * (double)(m->dt / m->dx);
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
            if (group == GROUP_REMOVED ||
                !mpm_is_corrected(&m->materials[m->group_material[group]]))
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

MPM_DENSITY_PASSES(TASK_BY_DIM)

const mpm_density_passes ISA_NAME(mpm_density) = {MPM_DENSITY_PASSES(FIELD_BY_DIM)};
