/*
 * The material point method, explicit, in its moving-least-squares form (Hu et al. 2018), with nine
 * ways to move velocity between particles and grid (Fei et al. 2021, whose equation numbers are used).
 *
 * A step:
 *   sort      particles into blocks, when one may have left the reach of its block's tile
 *   scatter   particles to tiles: m_i = sum w m, (m v)_i = sum w m [v + C (x_i - x_p)],
 *             dt f_i = -sum w m dt / (D rho0) tau (x_i - x_p)
 *             particles inside colliders: what presses them out (press.h)
 *   grid      tiles are added up to nodes: v^n = (m v)_i / m_i; v* = v^n + dt f_i / m_i + dt g;
 *             sources, colliders, walls on v*
 *   gather    vpic = sum w v*, vbar = sum w v^n, C = (1/D) sum w v* (x_i - x_p)^T; strain;
 *             adj = alpha (v_p - vbar), then v_p and x_p by the scheme:
 *
 *                    C in scatter   v_p          x_p += dt ...       beta
 *         pic        no             vpic         vpic
 *         flip       no             vpic + adj   vpic
 *         nflip      no             vpic + adj   vpic + beta adj     1
 *         sflip      no             vpic + adj   vpic + beta adj     eq. 5
 *         apic       yes            vpic         vpic
 *         aflip      yes            vpic + adj   vpic
 *         aspic      yes            vpic         vpic + beta adj     eq. 5
 *         asflip     yes            vpic + adj   vpic + beta adj     eq. 5
 *         polypic    and more       vpic         vpic                (poly.h)
 *
 * Where adj is nothing (pic, apic, polypic, and any scheme with alpha 0) nobody asks for v^n, and
 * momentum and impulse are scattered as one sum.
 *
 * Nothing is written by two threads: a block's particles write to the block's own tile (8^dim
 * nodes, the block and what its particles reach beyond it), and every node then adds up the tiles
 * that hold a part of it, in a fixed order. So results do not depend on the number of threads.
 *
 * Sticky sides of the domain, and slip ones without friction, are mirrors: what falls on the node behind a side is folded onto the
 * one before it, with the normal momentum turned round (all of it where the side is sticky), and
 * gathered back the same way. A liquid at rest stays at rest and a column is second-order accurate
 * at its foot.
 *
 * Files: mpm.c (options, time step, stages), transfer.h (a particle and its nodes), scatter.h,
 * grid.h, gather.h (the passes), poly.h (PolyPIC), mirror.h (sides), press.h (colliders), reaction.c
 * (forces on them), gradient.c (F, for output), plastic_volume.c (volumes where material flows),
 * liquid_density.c (volumes of liquids),
 * NAME_kernels.c (one for each kernel function, compiled once for each instruction set).
 */
#ifndef SPATE_SOLVER_MPM_H
#define SPATE_SOLVER_MPM_H

#include "solver/impulses.h"
#include "solver/materials/material.h"
#include "solver/solver.h"

typedef struct mpm_options {
    int integrator; /* 0: default; else one more than the index into the schemes of mpm.c */
    int kernel;     /* mpm_kernel */
    double alpha;
    double beta[2];
    bool beta_boundary, beta_compression; /* the terms of eq. 5 */
    int64_t poly_modes;                   /* 0: all */
    number_list poly_scale; /* of modes beyond the linear ones; the last holds for the rest */
    double sound;           /* share of the time a wave takes to cross a cell */
} mpm_options;

typedef enum mpm_kernel { KERNEL_LINEAR, KERNEL_QUADRATIC, KERNEL_CUBIC, KERNELS } mpm_kernel;

/* What a scheme does; the table is in mpm.c. */
typedef struct mpm_scheme {
    const char *name;
    bool affine;    /* C in the scatter */
    bool keeps;     /* v_p = vpic + adj */
    bool separates; /* x_p moves with beta adj */
    bool naturally; /* ... beta 1 always */
    bool poly;
} mpm_scheme;

/* How particles and nodes exchange velocity: each is a set of passes of its own. */
typedef enum transfer_family {
    TRANSFER_FUSED, /* nodes of four reals: momentum and impulse as one */
    TRANSFER_SPLIT, /* of eight: v^n is kept apart */
    TRANSFER_POLY,  /* as fused, with higher modes */
    TRANSFER_FAMILIES
} transfer_family;

INLINE int node_reals(transfer_family family) { return family == TRANSFER_SPLIT ? 8 : 4; }

enum { TILE_PAD = 16 };

enum { RANGE_SLOTS = 8 }; /* materials beyond it share a slot */

/* What ends a run: J out of this range, or more cells in a step. */
#define J_LOWEST  1e-3
#define J_HIGHEST 1e6
enum { MOVE_MOST = 3 };

/* Largest of 1 - J, J - 1, trace of b / dim and stiffening of one material, lane by lane. */
typedef struct mpm_range {
    wide J_low, J_high, stretch, stiffening;
} mpm_range;

/* What a worker has seen in a gather. */
typedef struct mpm_extremes {
    wide speed2, move2; /* largest square of v, and of what positions moved with */
    mpm_range range[RANGE_SLOTS];
    int64_t bad;     /* lowest particle whose state is not finite, or -1 */
    int64_t removed; /* left through open sides */
    int64_t yielded; /* changed by plasticity */
    char apart[64];  /* keeps workers off each other's cache lines */
} mpm_extremes;

/* Contact of a body with a collider that a probe asks for, and the bodies that are asked for. */
enum { CONTACT_BODIES = 4 };
typedef struct mpm_contact {
    const probe *probe;
    int body; /* its place in contacts.group */
} mpm_contact;

/* Colliders thinner than this, in cells, press particles out (press.h): material sinks into them by half
 * of it at the most. */
enum { PRESS_THIN = 3 };

typedef struct mpm_passes {
    chunk_task scatter[2], grid[2], gather[2]; /* [dim - 2]; over occupied blocks, all, occupied */
} mpm_passes;

/* Higher modes of PolyPIC, beyond the affine ones. */

typedef struct mpm {
    spate_simulation *sim;
    transfer_family family;
    mpm_kernel kernel;
    const mpm_passes *passes;
    const material_passes *laws;
    real *tiles; /* of every occupied block: momentum and mass of its nodes, impulse */
    int64_t tile_capacity;
    struct {
        bool on;
        bool *thin;  /* by collider: it presses particles out */
        real *tiles; /* of blocks near a collider: what it gives to their nodes (press.h) */
        int64_t capacity;
        int32_t *tile; /* block -> place in `tiles`, or -1 */
        int64_t tile_capacity;
        int32_t count;
    } press;
    block_touches *touches; /* by block, where the scene has colliders */
    int64_t touches_capacity;
    impulses impulses; /* on colliders (reaction.c) */
    struct {
        mpm_contact *list;
        int count, body_count;
        int group[CONTACT_BODIES];
        double *sums;  /* of the frame so far, three to each: N s; a checkpoint holds them */
        double *parts; /* of this step by block and contact, three each */
        int64_t parts_capacity;
        real *tiles; /* as those of `press`: the bodies' masses at nodes */
        int64_t capacity;
    } contacts;
    real *velocities; /* of every block's nodes: v*, and v^n where it is asked for */
    int64_t velocity_capacity;
    material_constants *materials; /* of the scene's materials */
    uint16_t *group_material;
    int material_count;
    bool has_viscosity;
    mpm_extremes *seen;   /* by worker */
    strain_range *ranges; /* by material, after the last step */
    bool must_sort;       /* particles were added or removed */
    int64_t yielded;      /* particles that plasticity changed in the last step */
    double max_move;      /* largest speed at which a position moved in the last step */
    double drift_limit;   /* cells a particle may leave its block by */
    real negligible; /* mass of a node below which it is left at rest: its weight is nothing for
                             every particle near it, and a quotient might lose its digits */
    /* constants of the scheme */
    real affine; /* 1 where C is scattered, else 0 */
    real alpha;
    real keep; /* 1 where v_p keeps adj, else 0 */
    struct {
        real beta_min, beta_max; /* where the material holds together, and where it has parted */
        bool at_boundaries;      /* 0 where a particle would run into something */
    } separation;
    struct {
        int count;
        uint8_t mode[POLY_MODES_MAX]; /* 9 e_x + 3 e_y + e_z, in 2D 3 e_x + e_y */
        real scale[POLY_MODES_MAX];
    } poly;
    /* constants of the step */
    real dt, dx;
    double reach; /* how far from a block's middle its particles may come in the step */
} mpm;

/* Reals of a tile and of a block's velocities. The tile's last row may be read past by half a row.
 */
INLINE int64_t tile_reals(int dim, int node) { return (int64_t)tile_nodes(dim) * node + TILE_PAD; }
INLINE int64_t block_reals(int dim, int node) { return (int64_t)block_nodes(dim) * node; }

/* After a gather: the deformation gradients, where the particles have them (gradient.c). */
void mpm_follow_gradient(mpm *m);

/* After a gather: evens out the volumes of what flows plastically, in every 32nd step (plastic_volume.c). */
void mpm_even_volumes(mpm *m);

/* Before a scatter: holds the volumes of liquids to their density, in every 32nd step
 * (liquid_density.c). */
void mpm_correct_density(mpm *m);

/* Forces on colliders (reaction.c): what a step did to them is added up. */
void mpm_add_touches(mpm *m);
/* A body's contact, where a probe asks for it: what particle i of a block lost, or a node where bodies
 * have `shares` of the mass. */
void mpm_contact_particle(const mpm *m, int32_t block, int c, int64_t i, const double lost[3]);
void mpm_contact_node(const mpm *m, int32_t block, int c, const real *shares, real mass,
                      const double lost[3]);
spate_status mpm_contacts_create(mpm *m);
void mpm_contacts_free(mpm *m);
void mpm_contact_force(const spate_simulation *sim, const probe *p, double force[3]);
void mpm_force(const spate_simulation *sim, int c, double force[3], double torque[3]);

extern const solver_declaration mpm_declaration;
const benchmark *mpm_benchmarks(void);
extern const solver_type solver_mpm;

/* Strains of bodies that begin at rest (rest.c). */
spate_status mpm_stand(mpm *m);

#endif
