/*
 * The material point method, explicit, in its moving-least-squares form (Hu et al. 2018) with the
 * affine transfer of Jiang et al. 2015 (APIC), quadratic B-splines.
 *
 * A step:
 *   sort      particles into blocks, when one may have left the reach of its block's tile
 *   scatter   particles to tiles: m_i = sum w m and
 *             (m v)_i = sum w m [v + (C - 4 dt / (dx^2 rho0) tau) (x_i - x_p)]:
 *             momentum, affine part and the impulse of stress in one
 *   grid      tiles are added up to nodes; v* = (m v)_i / m_i + dt g; sources, colliders, walls
 *   gather    v = sum w v*, C = (4 / dx^2) sum w v* (x_i - x_p)^T; strain; position
 *
 * Nothing is written by two threads: a block's particles write to the block's own tile (8^dim
 * nodes, the block and what its particles reach beyond it), and every node then adds up the tiles
 * that hold a part of it, in a fixed order. So results do not depend on the number of threads.
 *
 * Closed sides of the domain are mirrors: what falls on the node behind a side is folded onto the
 * one before it, with the normal momentum turned round (all of it where the side is sticky), and
 * gathered back the same way. A liquid at rest stays at rest and a column is second-order accurate
 * at its foot.
 */
#ifndef SPATE_SOLVER_MPM_H
#define SPATE_SOLVER_MPM_H

#include "solver/materials/material.h"
#include "solver/solver.h"

typedef enum mpm_integrator { MPM_APIC, MPM_PIC } mpm_integrator;

typedef struct mpm_options {
    int integrator; /* mpm_integrator */
    double sound;   /* share of the time a wave takes to cross a cell */
} mpm_options;

enum { TILE_PAD = 16 };

enum { RANGE_SLOTS = 8 }; /* materials beyond it share a slot */

/* What a worker has seen in a gather, lane by lane. */
typedef struct mpm_extremes {
    wide speed2;                                  /* largest v^2 */
    wide J_low[RANGE_SLOTS], J_high[RANGE_SLOTS]; /* largest 1 - J and J - 1, by material */
    wide stretch[RANGE_SLOTS];                    /* largest trace of b / dim */
    int64_t bad;     /* lowest particle whose state is not finite, or -1 */
    int64_t removed; /* left through open sides */
    char apart[64];  /* keeps workers off each other's cache lines */
} mpm_extremes;

typedef struct mpm_kernels {
    chunk_task scatter[2], grid[2], gather[2]; /* [dim - 2]; over occupied blocks, all, occupied */
} mpm_kernels;

extern const mpm_kernels mpm_kernels_generic;
#if defined(__x86_64__)
extern const mpm_kernels mpm_kernels_avx2, mpm_kernels_avx512;
#endif

typedef struct mpm {
    spate_simulation *sim;
    const mpm_kernels *kernels;
    real *tiles; /* of every occupied block: momentum and mass of its nodes */
    int64_t tile_capacity;
    real *velocities; /* of every block's nodes: v*, and 0 */
    int64_t velocity_capacity;
    material_constants *materials; /* of the scene's materials */
    uint16_t *group_material;
    int material_count;
    bool has_viscosity;
    mpm_extremes *seen;   /* by worker */
    strain_range *ranges; /* by material, after the last step */
    bool must_sort;       /* particles were added or removed */
    real
        negligible; /* mass of a node below which it is left at rest: its weight is nothing for every
                        particle near it, and a quotient might lose its digits */
    /* constants of the step */
    real dt, dx;
    real affine; /* 1 for APIC, 0 for PIC */
} mpm;

/* Reals of a tile and of a block's velocities. The tile's last row may be read past by half a row.
 */
static inline int64_t tile_reals(int dim) { return (int64_t)tile_nodes(dim) * 4 + TILE_PAD; }
static inline int64_t block_reals(int dim) { return (int64_t)block_nodes(dim) * 4; }

extern const solver_declaration mpm_declaration;
extern const solver_type solver_mpm;

#endif
