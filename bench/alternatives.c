/*
 * The ways of writing the transfer that were tried, measured side by side on the same particles in
 * one process: what docs/performance.md compares. Not part of the library.
 *
 *   rows       what the solver does: one particle at a time, a row of three nodes in a vector
 *   lanes      eight particles at a time, a lane each; nodes are transposed in and out
 *   fused      gather, move and the next scatter in one pass over the particles (G2P2G)
 *   sort 1     rows, with the particles sorted in every step
 *
 * build: ninja -C build/release bench_alternatives; run: build/release/bench_alternatives [cells]
 */
#define SPATE_ISA alternatives
#include "solver/mpm/quadratic_kernels.c"

#include <stdio.h>
#include <stdlib.h>

/* ---- A lane a particle ----------------------------------------------------------------------- */

typedef struct lane_stencil {
    wide w[3][3], d[3][3]; /* [axis][node] */
    real_bits offset[WIDE];
} lane_stencil;

INLINE void lane_stencil_fill(lane_stencil *s, const particles *p, int64_t i) {
    wide_int offset = wide_splat_int(0);
    wide half = wide_splat((real)0.5);
    for (int a = 0; a < 3; a++) {
        wide x = wide_load(PLANE(p, position, a) + i), base = wide_floor(x), f = x - base;
        wide g = wide_splat(1) - f;
        offset = offset * wide_splat_int(TILE_EDGE) + wide_to_int(base) + wide_splat_int(1);
        s->w[a][0] = half * g * g, s->w[a][1] = wide_fma(f, g, half), s->w[a][2] = half * f * f;
        for (int k = 0; k < 3; k++) s->d[a][k] = wide_splat((real)k - (real)0.5) - f;
    }
    wide_store_int(s->offset, offset * wide_splat_int(4));
}

static void scatter_lanes_block(const mpm *m, int32_t block, real *tile) {
    const particles *p = &m->sim->particles;
    int64_t i = m->sim->blocks.first[block], last = m->sim->blocks.first[block + 1];
    memset(tile, 0, (size_t)tile_reals(3, 4) * sizeof *tile);
    for (; i < last; i += WIDE) {
        lane_stencil s;
        lane_stencil_fill(&s, p, i);
        wide t[6], v[3], A[9], mass = wide_load(p->mass + i);
        load_impulse(m, i, t, 3);
        load_quads(p->motion + i * 16, 16, v);
        load_gradient(p->motion + i * 16, 1, A, 3);
        static const int place[9] = {XX, XY, XZ, XY, YY, YZ, XZ, YZ, ZZ};
        for (int k = 0; k < 9; k++) A[k] = mass * (A[k] + t[place[k]]);
        for (int k = 0; k < 3; k++) v[k] *= mass;
        int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        for (int n = 0; n < 27; n++) {
            int x = n / 9, y = n / 3 % 3, z = n % 3;
            wide w = s.w[0][x] * s.w[1][y] * s.w[2][z], r[4];
            for (int k = 0; k < 3; k++)
                r[k] = w * wide_fma(A[3 * k], s.d[0][x],
                                    wide_fma(A[3 * k + 1], s.d[1][y],
                                             wide_fma(A[3 * k + 2], s.d[2][z], v[k])));
            r[3] = w * mass;
            transpose_quads(r);
            for (int lane = 0; lane < lanes; lane++) {
                real *node = tile + s.offset[lane] + ((x * TILE_EDGE + y) * TILE_EDGE + z) * 4;
                quad part = lane < 4 ? wide_low(r[lane & 3]) : wide_high(r[lane & 3]);
                quad_store(node, quad_load(node) + part);
            }
        }
    }
    mirror_tile(m, block, tile, true, 4, 3);
}

static void scatter_lanes_3d(void *data, int64_t begin, int64_t end, int worker) {
    const mpm *m = data;
    (void)worker;
    for (int64_t o = begin; o < end; o++)
        scatter_lanes_block(m, m->sim->blocks.occupied[o], m->tiles + o * tile_reals(3, 4));
}

/* Gather of eight particles that fill a wide; the rest of a block goes the usual way. */
static void gather_eight(const mpm *m, particles *p, int64_t i, const real *tile) {
    lane_stencil s;
    (void)m;
    lane_stencil_fill(&s, p, i);
    wide v[3] = {0}, B[9] = {0};
    for (int n = 0; n < 27; n++) {
        int x = n / 9, y = n / 3 % 3, z = n % 3;
        wide w = s.w[0][x] * s.w[1][y] * s.w[2][z], r[4];
        int64_t at = ((x * TILE_EDGE + y) * TILE_EDGE + z) * 4;
        for (int k = 0; k < 4; k++)
            r[k] = wide_join(quad_load(tile + s.offset[k] + at),
                             quad_load(tile + s.offset[k + 4] + at));
        transpose_quads(r);
        for (int k = 0; k < 3; k++) {
            wide part = w * r[k];
            v[k] += part;
            B[3 * k] = wide_fma(part, s.d[0][x], B[3 * k]);
            B[3 * k + 1] = wide_fma(part, s.d[1][y], B[3 * k + 1]);
            B[3 * k + 2] = wide_fma(part, s.d[2][z], B[3 * k + 2]);
        }
    }
    for (int part = 0; part < 4; part++) {
        wide r[4], scale = wide_splat(part ? 4 : 1);
        for (int k = 0; k < 3; k++) r[k] = (part ? B[3 * k + part - 1] : v[k]) * scale;
        r[3] = wide_splat(part ? 0 : 1);
        transpose_quads(r);
        for (int k = 0; k < 4; k++) {
            quad_store(p->motion + 16 * (i + k) + 4 * part, wide_low(r[k]));
            quad_store(p->motion + 16 * (i + k + 4) + 4 * part, wide_high(r[k]));
        }
    }
}

static void gather_lanes_3d(void *data, int64_t begin, int64_t end, int worker) {
    const mpm *m = data;
    const blocks *b = &m->sim->blocks;
    particles *p = &m->sim->particles;
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE * 4 + TILE_PAD] __attribute__((aligned(64))) = {0};
    particle_handful tail;
    for (int64_t o = begin; o < end; o++) {
        int32_t block = b->occupied[o];
        int64_t i = b->first[block], last = b->first[block + 1];
        vicinity near = vicinity_of(m, block, 3);
        load_tile(m, block, tile, 4, 3);
        for (; i + WIDE <= last; i += WIDE) {
            gather_eight(m, p, i, tile);
            move_lanes(m, &near, p, i, NULL, &m->seen[worker], TRANSFER_FUSED, 3);
        }
        if (i == last) continue;
        handful_prepare(&tail, p);
        particles_copy(&tail.p, 0, p, i, last - i);
        gather_lanes(m, &tail.p, 0, (int)(last - i), tile, NULL, TRANSFER_FUSED, 3);
        move_lanes(m, &near, &tail.p, 0, NULL, &m->seen[worker], TRANSFER_FUSED, 3);
        particles_copy(p, i, &tail.p, 0, last - i);
    }
}

/* ---- Gather, move and scatter in one pass ---------------------------------------------------- */

/* The next step's tiles from this step's velocities, block by block while its particles are in the
 * cache. The step's length must be known a step ahead. */
static void fused_3d(void *data, int64_t begin, int64_t end, int worker) {
    gather_fused_3d(data, begin, begin, worker);
    for (int64_t o = begin; o < end; o++) {
        gather_fused_3d(data, o, o + 1, worker);
        scatter_fused_3d(data, o, o + 1, worker);
    }
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef enum way { ROWS, LANES, FUSED, SORT_ALWAYS, WAYS } way;
static const char *const way_names[WAYS] = {"rows", "lanes", "fused", "sort 1"};

static spate_status step_by(spate_simulation *sim, way w, const mpm_passes *rows,
                            const mpm_passes *lanes) {
    mpm *m = sim->solver;
    m->passes = w == LANES ? lanes : rows;
    if (w == SORT_ALWAYS) sim->drift = 1;
    if (w != FUSED) return spate_simulation_step(sim, 1e9);
    /* The tiles of this step are already there; sorting starts them anew. */
    int64_t lost;
    if (sim->drift > 0.95) {
        TRY(blocks_sort(&sim->blocks, &sim->particles, &sim->scratch, sim->ctx->pool, &lost));
        sim->drift = 0;
        parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 4, scatter_fused_3d, m);
    }
    parallel_for(sim->ctx->pool, sim->blocks.count, 16, grid_fused_3d, m);
    parallel_for(sim->ctx->pool, sim->blocks.occupied_count, 4, fused_3d, m);
    real speed2 = 0;
    for (int k = 0; k < pool_size(sim->ctx->pool); k++)
        speed2 = fmaxf((float)speed2, (float)wide_largest(m->seen[k].speed2));
    sim->drift += sqrt((double)speed2) * sim->dt / sim->scene->domain.dx;
    return SPATE_OK;
}

int main(int argc, char **argv) {
    double cells = argc > 1 ? atof(argv[1]) : 50;
    const mpm_passes rows = {.scatter = {scatter_fused_2d, scatter_fused_3d},
                             .grid = {grid_fused_2d, grid_fused_3d},
                             .gather = {gather_fused_2d, gather_fused_3d}};
    const mpm_passes lanes = {.scatter = {scatter_fused_2d, scatter_lanes_3d},
                              .grid = {grid_fused_2d, grid_fused_3d},
                              .gather = {gather_fused_2d, gather_lanes_3d}};
    double best[WAYS] = {0};
    for (int round = 0; round < 3; round++)
        for (int w = 0; w < WAYS; w++) {
            char yaml[1024];
            snprintf(
                yaml, sizeof yaml,
                "spate: 1\nduration: 1\nfps: 1\ndomain: {size: [2, 2, 2], dx: %.17g}\n"
                "solver: {dt: %.17g}\n"
                "materials: {m: {model: liquid, density: 1000, bulk_modulus: 1.0e5}}\n"
                "bodies: [{material: m, velocity: [0, -1, 0], shape: {box: {min: [0.5, 0.5, 0.5], "
                "max: [1.5, 1.5, 1.5]}}}]\n",
                1 / cells, 0.03 / cells);
            spate_config config = spate_default_config();
            config.threads = 1;
            spate_context *ctx;
            spate_scene *scene;
            spate_simulation *sim;
            if (spate_open(&config, &ctx) ||
                spate_scene_parse(ctx, yaml, strlen(yaml), "bench", ".", NULL, 0, &scene) ||
                spate_simulation_create(scene, &sim))
                return 1;
            for (int i = 0; i < 3; i++)
                if (spate_simulation_step(sim, 1e9)) return 1;
            enum { STEPS = 30 };
            double start = phase_start();
            for (int i = 0; i < STEPS; i++)
                if (step_by(sim, (way)w, &rows, &lanes)) return 1;
            double rate = STEPS * (double)sim->particles.count / (phase_start() - start);
            best[w] = fmax(best[w], rate);
            spate_simulation_free(sim);
            spate_scene_free(scene);
            spate_close(ctx);
        }
    for (int w = 0; w < WAYS; w++)
        printf("%-8s %6.2f million particle-steps/s\n", way_names[w], best[w] * 1e-6);
    return 0;
}
