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
#include "core/kernel_table.h"
#include "solver/materials/elastic.h"
#include "solver/mpm/mpm.h"

enum { STEPS_BETWEEN = 32, BLOCKS_AT_ONCE = 16, NODE = 2 };
/* Metal pressed by 20 % at 16 cells keeps noise of 0.028, 0.018 and 0.013 of its yield stress with
 * 1, 2 and 4 here, and of 0.102 without. */
enum { RELAXATION = 4 };

/* The volumes of one material, smoothed over the grid. */
typedef struct smoothing {
    const mpm_view *m;
    const int32_t *tile; /* block -> place of its tile: one a block, whatever the velocity fields */
    int material;
} smoothing;

/* A particle's nodes in its block's tile, and their quadratic weights along each axis. */
typedef struct weights {
    int first;
    real w[3][3];
} weights;

INLINE weights weights_of(const particles *p, int64_t i, int dim) {
    weights r = {0};
    for (int a = 0; a < dim; a++) {
        real x = PLANE(p, position, a)[i], base = (real)floor((double)x), f = x - base;
        r.first = r.first * TILE_EDGE + (int)base + 1;
        r.w[a][0] = (real)0.5 * (1 - f) * (1 - f);
        r.w[a][1] = (real)0.5 + f * (1 - f);
        r.w[a][2] = (real)0.5 * f * f;
    }
    return r;
}

/* Row n = 0 .. 3^(dim - 1) - 1 of its nodes, three one after another: where it is, and its weight. */
INLINE int weights_row(const weights *r, int n, int dim, real *w) {
    if (dim == 2) {
        *w = r->w[0][n];
        return r->first + n * TILE_EDGE;
    }
    int x = n / 3, y = n - 3 * x;
    *w = r->w[0][x] * r->w[1][y];
    return r->first + (x * TILE_EDGE + y) * TILE_EDGE;
}

INLINE bool is_flowing(const smoothing *s, int64_t i) {
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

/* Particles of a block to its tile: sums of w m a X and w m a. */
INLINE void scatter_excess(const smoothing *s, int64_t o, int dim) {
    const particles *p = s->m->particles;
    const int32_t block = s->m->occupied[o];
    real *tile = s->m->tiles + o * tile_reals(dim, 4);
    memset(tile, 0, (size_t)(tile_nodes(dim) * NODE) * sizeof *tile);
    for (int64_t i = s->m->first[block]; i < s->m->first[block + 1]; i++) {
        if (!is_flowing(s, i)) continue;
        weights r = weights_of(p, i, dim);
        real mass = p->mass[i] * relaxation_of(p, i);
        real excess = mass * (real)volume_excess(p, i, dim);
        for (int n = 0; n < (dim == 3 ? 9 : 3); n++) {
            real w, *at = tile + NODE * weights_row(&r, n, dim, &w);
            for (int z = 0; z < 3; z++) {
                at[NODE * z] += w * r.w[dim - 1][z] * excess;
                at[NODE * z + 1] += w * r.w[dim - 1][z] * mass;
            }
        }
    }
}

/* The mean at the nodes of a block, from all tiles that hold a part of it. */
INLINE void mean_block(const smoothing *s, int32_t block, int dim) {
    real *mean = s->m->velocities[0] + block * block_reals(dim, 4), sums[BLOCK_NODES_MAX][NODE];
    memset(sums, 0, sizeof sums);
    for (int k = 0; k < neighbour_count(dim); k++) {
        int32_t other = s->m->neighbours[block][k];
        if (other < 0 || s->tile[other] < 0) continue;
        const real *tile = s->m->tiles + s->tile[other] * tile_reals(dim, 4);
        int offset[3] = {dim == 3 ? k / 9 - 1 : k / 3 - 1, k / 3 % 3 - 1, k % 3 - 1};
        for (int n = 0; n < block_nodes(dim); n++) {
            /* in the tile of a neighbour that lies o blocks on, node n is at n - 4 o + 1 */
            int x = (dim == 3 ? n >> 4 : n >> 2) - BLOCK_EDGE * offset[0] + 1;
            int y = dim == 3 ? (n >> 2 & 3) - BLOCK_EDGE * offset[1] + 1 : 0;
            int z = (n & 3) - BLOCK_EDGE * offset[2] + 1;
            if ((x | y | z) & ~(TILE_EDGE - 1)) continue;
            const real *part = tile + NODE * ((dim == 3 ? x * TILE_EDGE + y : x) * TILE_EDGE + z);
            sums[n][0] += part[0];
            sums[n][1] += part[1];
        }
    }
    for (int n = 0; n < block_nodes(dim); n++)
        mean[n] = sums[n][1] > 0 ? sums[n][0] / sums[n][1] : 0;
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

/* The means at all nodes that a block's particles reach. */
INLINE void load_means(const smoothing *s, int32_t block, real *tile, int dim) {
    const int32_t *neighbours = s->m->neighbours[block];
    for (int t = 0; t < tile_nodes(dim); t++) {
        int z = (t & 7) + 3, y = dim == 3 ? (t >> 3 & 7) + 3 : 0, x = (t >> (dim == 3 ? 6 : 3)) + 3;
        int k = (x >> 2) * (dim == 3 ? 9 : 3) + (y >> 2) * 3 + (z >> 2);
        int node = dim == 3 ? (x & 3) << 4 | (y & 3) << 2 | (z & 3) : (x & 3) << 2 | (z & 3);
        const int64_t at = neighbours[k] * block_reals(dim, 4) + node;
        tile[t] = neighbours[k] < 0 ? 0 : s->m->velocities[0][at];
    }
}

/* The means back to the particles of a block. */
INLINE void relax_block(const smoothing *s, int64_t o, int dim) {
    particles *p = s->m->particles;
    const int32_t block = s->m->occupied[o];
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE];
    load_means(s, block, tile, dim);
    for (int64_t i = s->m->first[block]; i < s->m->first[block + 1]; i++) {
        if (!is_flowing(s, i)) continue;
        weights r = weights_of(p, i, dim);
        real sum = 0;
        for (int n = 0; n < (dim == 3 ? 9 : 3); n++) {
            real w, row = 0;
            const real *at = tile + weights_row(&r, n, dim, &w);
            for (int z = 0; z < 3; z++) row += r.w[dim - 1][z] * at[z];
            sum += w * row;
        }
        double before = volume_excess(p, i, dim);
        set_excess(p, i, before, before + (double)relaxation_of(p, i) * ((double)sum - before),
                   dim);
        p->flow[i] = 0;
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

TASK_BY_DIM(excess)
TASK_BY_DIM(mean)
TASK_BY_DIM(relax)

void mpm_smooth_volume(mpm *m) {
    const blocks *b = &m->sim->blocks;
    if (!m->sim->particles.flow || (m->sim->step + 1) % STEPS_BETWEEN) return;
    bool flat = b->dim == 2;
    for (int c = 0; c < m->sim->scene->material_count; c++) {
        if (!(material_models[m->view.materials[c].kind]->fields & PARTICLE_BIT(flow))) continue;
        smoothing s = {.m = &m->view, .tile = b->tile, .material = c};
        parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, flat ? excess_2d : excess_3d,
                     &s);
        parallel_for(m->threads, b->count, BLOCKS_AT_ONCE, flat ? mean_2d : mean_3d, &s);
        parallel_for(m->threads, b->occupied_count, BLOCKS_AT_ONCE, flat ? relax_2d : relax_3d, &s);
    }
}
