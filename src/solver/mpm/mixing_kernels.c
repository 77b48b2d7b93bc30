/* The passes of mixing.h, which tells what they compute. */
#define SUPPORT 3
#include "core/kernel_table.h"
#include "solver/mpm/gather.h"
#include "solver/mpm/grid.h"
#include "solver/mpm/mixing.h"
#include "solver/mpm/scatter.h"

enum { BOTH = 8, NODE = 4 };

typedef enum particle_part { PART_NONE, PART_LIQUID, PART_SOLID } particle_part;

INLINE particle_part particle_part_of(const mpm_mixing *s, int64_t i) {
    const uint16_t group = s->view->particles->group[i];
    if (group == GROUP_REMOVED) return PART_NONE;
    if (s->group_mixture[group] == s->mixture + 1) return PART_LIQUID;
    return s->solid >= 0 && s->group_solid[group] == s->solid + 1 ? PART_SOLID : PART_NONE;
}

INLINE real *empty_tile(const mpm_mixing *s, int64_t o, int dim) {
    real *tile = s->tiles + o * tile_reals(dim, BOTH);
    memset(tile, 0, (size_t)tile_reals(dim, BOTH) * sizeof *tile);
    return tile;
}

INLINE void sum_nodes(const mpm_mixing *s, int32_t block, real *sums, int dim) {
    const mpm_view *m = s->view;
    sum_tiles(m->neighbours[block], m->sim->blocks.tile, s->tiles, sums, BOTH, dim);
}

/* (m a | m, 0) of liquids, (0 | 0, m) of the solid. */
INLINE void scatter_amounts(const mpm_mixing *s, int64_t o, int dim) {
    const mpm_view *m = s->view;
    const particles *p = m->particles;
    const int32_t block = m->occupied[o];
    const int64_t last = m->first[block + 1];
    real *tile = empty_tile(s, o, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const particle_part part = particle_part_of(s, i + lane);
            if (part == PART_NONE) continue;
            const real mass = p->mass[i + lane];
            quad amounts = quad_splat(0), masses = quad_splat(0);
            if (part == PART_LIQUID) amounts = quad_splat(mass) * quad_load(s->carried[i + lane]);
            masses[part == PART_LIQUID ? 0 : 1] = mass;
            wide q[4] = {wide_join(amounts, masses)};
            scatter_split(tile, &at, lane, q, dim);
        }
    }
}

INLINE void fraction_block(const mpm_mixing *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    real sums[BLOCK_NODES_MAX * BOTH] __attribute__((aligned(64)));
    const int64_t first = block * block_reals(dim, NODE);
    sum_nodes(s, block, sums, dim);
    for (int n = 0; n < block_nodes(dim); n++) {
        const quad masses = quad_load(sums + BOTH * n + 4);
        const real inverse = masses[0] > m->negligible ? 1 / masses[0] : 0;
        quad_store(s->values + first + NODE * n, quad_splat(inverse) * quad_load(sums + BOTH * n));
        quad_store(s->masses + first + NODE * n, masses);
    }
}

/* ---- Diffusion ------------------------------------------------------------------------------- */

/* (-k t m grad a | m r) of the liquids. */
INLINE void scatter_flux(const mpm_mixing *s, int64_t o, real *values, int dim) {
    const mpm_view *m = s->view;
    const particles *p = m->particles;
    const int32_t block = m->occupied[o];
    const int64_t last = m->first[block + 1];
    real *tile = empty_tile(s, o, dim);
    copy_tile(m, block, s->values, values, NODE, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            if (particle_part_of(s, i + lane) != PART_LIQUID) continue;
            const real mass = p->mass[i + lane];
            const quad flow = quad_splat(-s->diffusion * mass * INVERSE_MOMENT);
            quad a[4];
            gather_fused(values, &at, lane, a, dim);
            const quad rest = quad_load(s->carried[i + lane]) - a[0];
            wide q[4] = {wide_join(quad_splat(0), quad_splat(mass) * rest)};
            for (int k = 1; k <= dim; k++) q[k] = wide_join(flow * a[k], quad_splat(0));
            scatter_split(tile, &at, lane, q, dim);
        }
    }
}

/* The sum of a quad's species, each over its density. */
INLINE real volume_of(const mpm_view *m, quad amounts) {
    const quad parts = amounts * quad_load(m->specific_volume);
    return parts[0] + parts[1] + parts[2] + parts[3];
}

/* By how much d ln J of a liquid changes with these fractions: exactly 0 where species are
 * alike. */
INLINE real shrinkage(const mpm_view *m, quad before, quad change) {
    const real volume = volume_of(m, before);
    real sum = 0;
    for (int k = 0; k < SPECIES_MAX; k++)
        if (m->specific_volume[k] > 0)
            sum += change[k] * (m->specific_volume[k] - m->specific_volume[0]);
    return volume > 0 ? -sum / volume : 0;
}

/* b = da + e (a + r): then a += S b - e a. */
INLINE void change_block(const mpm_mixing *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    real sums[BLOCK_NODES_MAX * BOTH] __attribute__((aligned(64)));
    const int64_t first = block * block_reals(dim, NODE);
    sum_nodes(s, block, sums, dim);
    for (int n = 0; n < block_nodes(dim); n++) {
        real *value = s->values + first + NODE * n, *mass = s->masses + first + NODE * n;
        const quad inverse = quad_splat(mass[0] > m->negligible ? 1 / mass[0] : 0);
        const quad a = quad_load(value), change = inverse * quad_load(sums + BOTH * n),
                   rest = inverse * quad_load(sums + BOTH * n + 4);
        quad_store(mass, (quad){shrinkage(m, a, change), 0, 0, 0});
        quad_store(value, change + quad_splat(s->blend) * a + quad_splat(s->filter) * (a + rest));
    }
}

INLINE void change_volume(const mpm_mixing *s, int64_t i, real shrunk) {
    real *dilation = &s->view->particles->dilation[i];
    const double e = (double)*dilation;
    *dilation = (real)(e + (1 + e) * expm1((double)shrunk));
}

INLINE void mix_block(const mpm_mixing *s, int32_t block, real *values, real *masses, int dim) {
    const mpm_view *m = s->view;
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    copy_tile(m, block, s->values, values, NODE, dim);
    if (s->volumes) copy_tile(m, block, s->masses, masses, NODE, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            if (particle_part_of(s, i + lane) != PART_LIQUID) continue;
            quad b[4], a = quad_load(s->carried[i + lane]);
            gather_fused(values, &at, lane, b, dim);
            quad_store(s->carried[i + lane], a + (b[0] - quad_splat(s->filter + s->blend) * a));
            if (!s->volumes) continue;
            gather_fused(masses, &at, lane, b, dim);
            change_volume(s, i + lane, b[0][0]);
        }
    }
}

/* ---- Dissolution ----------------------------------------------------------------------------- */

/* Of a unit of solid that passes into liquid of fractions a: what comes back, by species. */
INLINE quad exchanged(const mpm_mixing *s, quad a) {
    const quad liquids = a * quad_load(s->liquids);
    const real sum = liquids[0] + liquids[1] + liquids[2] + liquids[3];
    return sum > 0 ? liquids * quad_splat(1 / sum) : quad_splat(0);
}

/* What the liquid gains by species; and with `loss`, what the solid loses of itself, its opposite:
 * (gain of solids by species), the volumes' change in the place of the solid. */
INLINE void exchange_block(const mpm_mixing *s, int32_t block, int dim) {
    const mpm_view *m = s->view;
    const int64_t first = block * block_reals(dim, NODE);
    real sums[BLOCK_NODES_MAX * BOTH] __attribute__((aligned(64)));
    sum_nodes(s, block, sums, dim);
    for (int n = 0; n < block_nodes(dim); n++) {
        real *value = s->values + first + NODE * n, *mass = s->masses + first + NODE * n;
        const real liquid = sums[BOTH * n + 4], solid = sums[BOTH * n + 5];
        quad gain = quad_splat(0), taken = quad_splat(0);
        if (liquid > m->negligible && solid > m->negligible) {
            const quad a = quad_splat(1 / liquid) * quad_load(sums + BOTH * n);
            const real lack = s->saturation - a[s->solid], all = liquid + solid;
            const real dissolved = lack > 0 ? s->rate * lack : 0;
            gain = -exchanged(s, a);
            gain[s->solid] += 1;
            taken = -gain * quad_splat(liquid / all * dissolved);
            gain *= quad_splat(solid / all * dissolved);
            /* The solid's own loss is the sum of what it takes up: its place tells of volumes. */
            taken[s->solid] = shrinkage(m, a, gain);
        }
        quad_store(value, gain);
        quad_store(mass, taken);
    }
}

INLINE void dissolve_block(const mpm_mixing *s, int32_t block, real *values, real *masses,
                           int dim) {
    const mpm_view *m = s->view;
    const particles *p = m->particles;
    const int64_t last = m->first[block + 1];
    s->fallen[block] = 0;
    copy_tile(m, block, s->values, values, NODE, dim);
    copy_tile(m, block, s->masses, masses, NODE, dim);
    for (int64_t i = m->first[block]; i < last; i += WIDE) {
        stencil at;
        stencil_fill(&at, p, i, dim);
        for (int lane = 0; lane < WIDE && i + lane < last; lane++) {
            const particle_part part = particle_part_of(s, i + lane);
            if (part == PART_NONE) continue;
            quad b[4], taken[4], a = quad_load(s->carried[i + lane]);
            gather_fused(masses, &at, lane, taken, dim);
            if (part == PART_LIQUID) {
                gather_fused(values, &at, lane, b, dim);
                quad_store(s->carried[i + lane], a + b[0]);
                if (s->volumes) change_volume(s, i + lane, taken[0][s->solid]);
                continue;
            }
            quad gain = taken[0];
            gain[s->solid] = 0;
            gain[s->solid] = -(gain[0] + gain[1] + gain[2] + gain[3]);
            quad_store(s->carried[i + lane], a + gain);
            s->fallen[block] += a[s->solid] + gain[s->solid] <= s->saturation;
        }
    }
}

/* ---- The passes ------------------------------------------------------------------------------ */

enum { TILE_MOST = TILE_EDGE * TILE_EDGE * TILE_EDGE * NODE + TILE_PAD };

#define OVER_BLOCKS(name, call)                                  \
    INLINE void name##_chunk(void *data, chunk items, int dim) { \
        const mpm_mixing *s = data;                              \
        for (int64_t k = items.begin; k < items.end; k++) call;  \
    }
OVER_BLOCKS(amounts, scatter_amounts(s, k, dim))
OVER_BLOCKS(fractions, fraction_block(s, (int32_t)k, dim))
OVER_BLOCKS(change, change_block(s, (int32_t)k, dim))
OVER_BLOCKS(exchange, exchange_block(s, (int32_t)k, dim))

/* With room for the nodes that a block's particles reach. */
#define OVER_TILES(name, call)                                                 \
    INLINE void name##_chunk(void *data, chunk items, int dim) {               \
        const mpm_mixing *s = data;                                            \
        real values[TILE_MOST] __attribute__((aligned(64)));                   \
        real masses[TILE_MOST] __attribute__((aligned(64)));                   \
        memset(values + tile_nodes(dim) * NODE, 0, TILE_PAD * sizeof *values); \
        memset(masses + tile_nodes(dim) * NODE, 0, TILE_PAD * sizeof *masses); \
        for (int64_t k = items.begin; k < items.end; k++) call;                \
        (void)masses;                                                          \
    }
OVER_TILES(flux, scatter_flux(s, k, values, dim))
OVER_TILES(mix, mix_block(s, s->view->occupied[k], values, masses, dim))
OVER_TILES(dissolve, dissolve_block(s, s->view->occupied[k], values, masses, dim))

MPM_MIXING_PASSES(TASK_BY_DIM)

const mixing_passes ISA_NAME(mpm_mixing) = {MPM_MIXING_PASSES(FIELD_BY_DIM)};
