/* The passes of plastic_volume.c, which tells what they compute. */
#define SUPPORT 3
#include "core/kernel_table.h"
#include "solver/materials/elastic.h"
#include "solver/mpm/gather.h"
#include "solver/mpm/grid.h"
#include "solver/mpm/plastic_volume.h"
#include "solver/mpm/scatter.h"

/* Metal pressed by 20 % at 16 cells keeps noise of 0.028, 0.018 and 0.013 of its yield stress with
 * 1, 2 and 4 here, and of 0.102 without. */
enum { RELAXATION = 4 };

/* The reals of a node: sums of w m a X, then their mean X_i; sums of w m a; two that stay 0. */
enum { EXCESS, WEIGHT, NODE = 4 };

INLINE bool is_flowing(const plastic_volume *s, int64_t i) {
    const particles *p = s->m->particles;
    return p->flow[i] > 0 && p->group[i] != GROUP_REMOVED &&
           s->m->group_material[p->group[i]] == s->material;
}

/* J^2 - 1 */
INLINE double volume_excess(const particles *p, int64_t i, int dim) {
    double B[6];
    for (int c = 0; c < 6; c++) B[c] = (double)PLANE(p, strain, c)[i];
    return determinant_less_one(dim, B);
}

INLINE real relaxation_of(const particles *p, int64_t i) {
    return (real)-expm1(-RELAXATION * (double)p->flow[i]);
}

INLINE int flowing_lanes(const plastic_volume *s, int64_t i, int64_t last) {
    int lanes = 0;
    for (int lane = 0; lane < WIDE && i + lane < last; lane++)
        lanes |= is_flowing(s, i + lane) << lane;
    return lanes;
}

/* Particles of a block to its tile. */
INLINE void scatter_excess(const plastic_volume *s, int64_t o, int dim) {
    const particles *p = s->m->particles;
    const int32_t block = s->m->occupied[o];
    const int64_t last = s->m->first[block + 1];
    real *tile = s->m->tiles + o * tile_reals(dim, NODE);
    memset(tile, 0, (size_t)tile_reals(dim, NODE) * sizeof *tile);
    for (int64_t i = s->m->first[block]; i < last; i += WIDE) {
        const int flowing = flowing_lanes(s, i, last);
        if (!flowing) continue;
        stencil st;
        stencil_fill(&st, p, i, dim);
        for (int lane = 0; lane < WIDE; lane++) {
            if (!(flowing >> lane & 1)) continue;
            quad q[4] = {{0}};
            q[0][WEIGHT] = p->mass[i + lane] * relaxation_of(p, i + lane);
            q[0][EXCESS] = q[0][WEIGHT] * (real)volume_excess(p, i + lane, dim);
            scatter_fused(tile, &st, lane, q, dim);
        }
    }
}

/* The mean at the nodes of a block, from all tiles that hold a part of it. */
INLINE void mean_block(const plastic_volume *s, int32_t block, int dim) {
    const mpm_view *m = s->m;
    real *nodes = m->velocities[0] + block * block_reals(dim, NODE);
    sum_tiles(m->neighbours[block], s->tile, m->tiles, nodes, NODE, dim);
    for (int n = 0; n < block_nodes(dim); n++) {
        real *node = nodes + NODE * n;
        node[EXCESS] = node[WEIGHT] > 0 ? node[EXCESS] / node[WEIGHT] : 0;
    }
}

/* b scaled so that J^2 - 1 goes from `before` to `after`. */
INLINE void set_excess(particles *p, int64_t i, double before, double after, int dim) {
    double s = expm1(log1p((after - before) / (1 + before)) / dim);
    for (int c = 0; c < 6; c++) {
        if (!has_component(dim, c)) continue;
        real *B = PLANE(p, strain, c) + i;
        *B = (real)((double)*B + s * ((double)*B + (c <= ZZ)));
    }
}

INLINE void relax_particle(particles *p, int64_t i, double mean, int dim) {
    const double before = volume_excess(p, i, dim);
    set_excess(p, i, before, before + (double)relaxation_of(p, i) * (mean - before), dim);
    p->flow[i] = 0;
}

/* The means back to the particles of a block. */
INLINE void relax_block(const plastic_volume *s, int64_t o, int dim) {
    particles *p = s->m->particles;
    const int32_t block = s->m->occupied[o];
    const int64_t last = s->m->first[block + 1];
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE * NODE + TILE_PAD] __attribute__((aligned(64)));
    memset(tile + tile_nodes(dim) * NODE, 0, TILE_PAD * sizeof *tile);
    load_nodes(s->m, block, 0, tile, NODE, dim);
    for (int64_t i = s->m->first[block]; i < last; i += WIDE) {
        const int flowing = flowing_lanes(s, i, last);
        if (!flowing) continue;
        stencil st;
        stencil_fill(&st, p, i, dim);
        for (int lane = 0; lane < WIDE; lane++) {
            if (!(flowing >> lane & 1)) continue;
            quad q[4];
            gather_fused(tile, &st, lane, q, dim);
            relax_particle(p, i + lane, (double)q[0][EXCESS], dim);
        }
    }
}

INLINE void excess_chunk(void *data, chunk items, int dim) {
    for (int64_t o = items.begin; o < items.end; o++) scatter_excess(data, o, dim);
}

INLINE void mean_chunk(void *data, chunk items, int dim) {
    for (int64_t k = items.begin; k < items.end; k++) mean_block(data, (int32_t)k, dim);
}

INLINE void relax_chunk(void *data, chunk items, int dim) {
    for (int64_t o = items.begin; o < items.end; o++) relax_block(data, o, dim);
}

PLASTIC_VOLUME_PASSES(TASK_BY_DIM)

const plastic_volume_passes ISA_NAME(plastic_volume) = {PLASTIC_VOLUME_PASSES(FIELD_BY_DIM)};
