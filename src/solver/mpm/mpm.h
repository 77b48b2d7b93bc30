/*
 * The material point method, explicit, in its moving-least-squares form (Hu et al. 2018), with nine
 * ways to move velocity between particles and grid (Fei et al. 2021, whose equation numbers are
 * used). reference.c has the same transfers as plain loops: read it first.
 *
 * A step:
 *   sort      particles into blocks, when one may have left the reach of its block's tile
 *   meshes    forces of their elements on their vertices (solver/lagrangian)
 *   scatter   in every 32nd step volumes are put right (plastic_volume.c, liquid_density.c)
 *             particles to tiles: m_i = sum w m, (m v)_i = sum w m [v + C (x_i - x_p)],
 *             dt f_i = -sum w m dt / (D rho0) tau (x_i - x_p)
 *             particles inside thin colliders: impulses that push them out (penetration.h)
 *   grid      block by block (grid.h):
 *               sum_tiles             tiles are added up to nodes
 *               momentum_to_velocity  v^n = (m v)_i / m_i
 *               apply_forces          v* = v^n + dt f_i / m_i + dt g
 *               exchange_fields       what velocity fields do to each other; nothing with one
 *               apply_boundaries      sources, colliders, walls on v*
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
 * Fields. Phases that a scene couples have velocity fields of their own on one grid: particles of a
 * field scatter to its tiles and gather from its velocities, and its nodes are moved and bounded on
 * their own. Fields meet only in the exchange (phases.h). Without coupling there is one field.
 *
 * Nothing is written by two threads: a block's particles write to the block's own tiles (8^dim
 * nodes, the block and what its particles reach beyond it), and every node then adds up the tiles
 * that hold a part of it, in a fixed order. So results do not depend on the number of threads.
 *
 * Axes. Arrays of nodes, blocks and neighbours run with the last axis fastest: z in 3D, y in 2D.
 *
 * Sticky sides of the domain, and slip ones without friction, are mirrors: what falls on the node
 * behind a side is folded onto the one before it, with the normal momentum reversed (all of it
 * where the side is sticky), and gathered back the same way. A liquid at rest stays at rest and a
 * column is second-order accurate at its foot.
 *
 * Files: mpm.c (options, time step, stages), velocity_fields.c, phases.h (several fields, and how
 * they meet), transfer.h (a particle and its
 * nodes), scatter.h, grid.h, gather.h (the passes), poly.h (PolyPIC), mirror.h (sides),
 * penetration.h (thin colliders), reaction.c (forces on colliders), rest.c (bodies that begin at
 * rest), deformation.c (F, for output), plastic_volume.c (volumes where material flows),
 * liquid_density.c (volumes of liquids), number_density.c (the same by summation), mixing.c
 * (concentrations), heat.c (temperatures), instances.h and NAME_kernels.c (the passes for each kernel
 * function, compiled once for each instruction set).
 */
#ifndef SPATE_SOLVER_MPM_H
#define SPATE_SOLVER_MPM_H

#include "core/kernel_table.h"
#include "solver/impulses.h"
#include "solver/materials/material.h"
#include "solver/solver.h"

typedef struct mpm_options {
    int integrator; /* 0: default; else one more than the index into the schemes of mpm.c */
    int kernel;     /* mpm_kernel */
    double alpha;
    double beta[2];
    bool beta_boundary, beta_compression; /* the terms of eq. 5 */
    bool subgrid_forces;                  /* of meshes (mesh_push) */
    int64_t poly_modes;                   /* 0: all */
    number_list poly_scale; /* of modes beyond the linear ones; the last holds for the rest */
    int density;            /* mpm_density: where the volumes of liquids come from */
    double heat_diffusion;  /* m^2/s */
    double sound;           /* share of the time a wave takes to cross a cell */
    bool leapfrog;          /* velocities are those of half steps */
} mpm_options;

typedef enum mpm_kernel {
    KERNEL_LINEAR,
    KERNEL_QUADRATIC,
    KERNEL_CUBIC,
    KERNEL_GIMP,
    KERNELS
} mpm_kernel;
typedef enum mpm_density { DENSITY_J, DENSITY_SPH } mpm_density;

/* Whether the kernel's second moment D depends on the place, so that particles keep it. */
INLINE bool mpm_has_moment(mpm_kernel k) { return k == KERNEL_LINEAR || k == KERNEL_GIMP; }

/* What a scheme does; the table is in mpm.c. */
typedef struct mpm_scheme {
    const char *name;
    bool affine;    /* C in the scatter */
    bool flip;      /* v_p = vpic + adj */
    bool separable; /* x_p moves with beta adj */
    bool natural;   /* ... beta 1 always */
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

/* Colliders thinner than this, in cells, push all particles out (penetration.h): material sinks into
 * them by half of it at the most. */
enum { THIN_COLLIDER_CELLS = 3 };
/* Others push out free vertices of meshes; those of grips, and all where a scheme wants none, nothing. */
typedef enum pushed_matter { PUSHED_NONE, PUSHED_VERTICES, PUSHED_ALL } pushed_matter;

enum { FIELDS_MAX = 4 };

typedef struct mpm_view mpm_view;
typedef struct mpm_phases mpm_phases;

/* The nodes of one block in every field, on their way through the stages of the grid. */
typedef struct mpm_nodes {
    int32_t block;
    real *velocity[FIELDS_MAX];             /* node n: v* at velocity[f] + node_reals * n */
    real mass[FIELDS_MAX][BLOCK_NODES_MAX]; /* 0 at nodes that no particle of the field reaches */
} mpm_nodes;

/* What fields do to each other on the nodes of a block, after forces and before boundaries. Blocks
 * are handed out to several threads: it may change v* of these nodes, and nothing else. */
typedef void (*mpm_exchange)(void *data, const mpm_view *m, mpm_nodes *nodes);

/* What the passes over blocks see: arrays and constants. Made with the solver, arrays and constants
 * of the step anew in every step. */
struct mpm_view {
    int dim;
    int node_reals; /* 4, or 8 where v^n is kept apart */
    real dx, dt;    /* m, s */
    real kick; /* time that forces act for: dt, or with leapfrog the mean of this and the last */
    real4 gravity; /* kick g */
    real
        negligible; /* mass of a node below which it is left at rest: its weight is nothing for every
                        particle near it, and a quotient might lose its digits */
    const domain *domain;
    const boundary *boundary;
    /* particles, and the blocks they are sorted by (blocks.h) */
    particles *particles;
    int32_t (*coords)[3];
    int32_t (*neighbours)[NEIGHBOURS_MAX];
    const int64_t *first;
    const int32_t *occupied;
    const int *period;
    int source_count; /* of the scene */
    /* velocity fields */
    int field_count;
    uint8_t *group_field; /* the field of a group's particles; read with several fields */
    const int32_t *tile[FIELDS_MAX]; /* block -> place of its tile in `tiles`, -1: no particles */
    real *tiles;                     /* momentum and mass of nodes, impulse */
    real *worker_tiles;              /* by worker and field: velocities around the block at hand */
    real *velocities[FIELDS_MAX];    /* of every block's nodes: v*, and v^n where it is asked for */
    mpm_exchange exchange;           /* NULL: none */
    void *exchange_data;
    /* Where fields meet (phases.h): what volumes change by beyond their own field's strain. */
    struct {
        bool *in_block;   /* by block: its particles have one; NULL: none has */
        real *dilatation; /* by particle: dt div (U - v) */
    } mixture;
    /* materials */
    const material_passes *laws;
    material_constants *materials; /* of the scene's materials */
    uint16_t *group_material;
    int material_count;
    bool has_viscosity;
    /* the scheme */
    real affine; /* 1 where C is scattered, else 0 */
    real alpha;
    /* species of what mixes (mixing.h) */
    bool mixes;
    const uint8_t *group_mixture; /* 1 + the mixture of a group's liquid, 0: none */
    real4 specific_volume;        /* of the species, m^3/kg */
    real *group_alpha;            /* by group, where materials differ in it; else NULL */
    real flip;                    /* 1 where v_p = vpic + adj, else 0 */
    struct {
        real beta_min, beta_max; /* where the material holds together, and where it has parted */
        bool at_boundaries;      /* 0 where a particle would run into something */
    } separation;
    struct {
        int count;
        uint8_t mode[POLY_MODES_MAX]; /* 9 e_x + 3 e_y + e_z, in 2D 3 e_x + e_y */
        real scale[POLY_MODES_MAX];
    } poly;
    /* colliders */
    double reach; /* how far from a block's middle its particles may come in the step, m */
    struct {
        bool on;
        uint8_t *pushed;                 /* by collider: what it pushes out (pushed_matter) */
        const int32_t *tile[FIELDS_MAX]; /* block -> place in `tiles` and in the contacts', or -1 */
        int32_t count;
        real *tiles; /* of blocks near a collider: what it gives to their nodes (penetration.h) */
    } penetration;
    block_touches *touches; /* by block, where the scene has colliders */
    struct {
        mpm_contact *list;
        int count, body_count;
        int group[CONTACT_BODIES];
        double *parts; /* of this step by block and contact, three each */
        real *tiles;   /* as those of `penetration`: the bodies' masses at nodes */
    } contacts;
    mpm_extremes *extremes; /* by worker */
    spate_simulation *sim;  /* for what is asked of it once a block, or near boundaries */
};

typedef struct mpm_passes {
    chunk_task scatter[2], grid[2], gather[2]; /* [dim - 2]; over occupied blocks, all, occupied */
} mpm_passes;

typedef struct mpm {
    spate_simulation *sim;
    struct lagrangian *meshes; /* NULL: none */
    pool *threads;
    mpm_view view;
    transfer_family family;
    mpm_kernel kernel;
    const mpm_passes *passes;
    struct number_density *density; /* with `density: sph` (number_density.c), else NULL */
    struct {                        /* of the view's arrays */
        int64_t tiles, worker_tiles, velocities, field_tiles, touches, contact_parts, contact_tiles;
        int64_t penetration_tiles, penetration_places;
    } capacity;
    real *velocities;     /* of all fields */
    int32_t *field_tiles; /* with several fields: their tiles' places, field after field */
    int32_t *penetration_places;
    mpm_phases *phases;        /* how fields meet (phases.h); NULL with one field */
    struct mpm_mixing *mixing; /* NULL: nothing mixes */
    struct mpm_heat *heat;     /* NULL: nothing is hot */
    double last_dt;            /* of the step before, with leapfrog; 0: none */
    impulses impulses;         /* on colliders (reaction.c) */
    double *contact_sums; /* of the frame so far, three to each: N s; a checkpoint holds them */
    strain_range *ranges; /* by material, after the last step */
    bool must_sort;       /* particles were added or removed */
    int64_t tiles_sort, velocities_sort; /* number of the sort whose blocks they are of; 0: none */
    int64_t yielded;                     /* particles that plasticity changed in the last step */
    double max_move;    /* largest speed at which a position moved in the last step */
    double drift_limit; /* cells a particle may leave its block by */
} mpm;

/* Reals of a tile and of a block's velocities. The tile's last row may be read past by half a
 * row. */
INLINE int64_t tile_reals(int dim, int node) { return (int64_t)tile_nodes(dim) * node + TILE_PAD; }
INLINE int64_t block_reals(int dim, int node) { return (int64_t)block_nodes(dim) * node; }

/* The field of a group's particles. */
INLINE int field_of(const mpm_view *m, uint16_t group) {
    return m->field_count == 1 ? 0 : m->group_field[group];
}

/* The density at rest of particle i: that of its material, or by what is mixed in it. */
INLINE real rest_density(const mpm_view *m, int64_t i) {
    const particles *p = m->particles;
    const uint16_t group = p->group[i];
    if (!m->mixes || !m->group_mixture[group])
        return m->materials[m->group_material[group]].density;
    real volume = 0;
    for (int k = 0; k < SPECIES_MAX; k++) volume += p->concentration[i][k] * m->specific_volume[k];
    return 1 / volume;
}

/* Gives every material a velocity field, 0 .. count - 1, before the first step (velocity_fields.c).
 * It is part of how the solver is set up: a checkpoint does not hold it. */
void mpm_set_fields(mpm *m, const int *material_field, int count);
/* Before a scatter: where the tiles of every field are, how many, and those of blocks near
 * colliders. */
spate_status mpm_place_tiles(mpm *m, int64_t *count);
spate_status mpm_place_penetration(mpm *m);
/* Numbers what is marked with 0 in places[field * block_count + block], block after block. */
int64_t mpm_number_places(const mpm *m, int32_t *places);

/* After a gather: the deformation gradients, where the particles have them (deformation.c). */
void mpm_update_deformation(mpm *m);

/* Before a scatter, where no particle has left its block's tile: smooths the volumes of what flows
 * plastically, in every 32nd step (plastic_volume.c). */
void mpm_smooth_volume(mpm *m);

/* Before a scatter: holds the volumes of liquids to their density, in every 32nd step
 * (liquid_density.c). */
enum { DENSITY_STEPS = 32 };
void mpm_correct_density(mpm *m);
INLINE bool mpm_is_corrected(const material_constants *c) {
    return c->kind == MATERIAL_LIQUID && c->liquid.correct;
}
/* Its passes, [dim - 2] each (liquid_density_kernels.c). */
#define MPM_DENSITY_PASSES(TASK)                   \
    TASK(volume)  /* occupied blocks: to tiles */  \
    TASK(add_up)  /* all blocks: tiles to nodes */ \
    TASK(correct) /* occupied blocks: to particles */
typedef struct mpm_density_passes {
    MPM_DENSITY_PASSES(TASK_FIELD)
} mpm_density_passes;

/* Volumes of liquids by summation (number_density.c), before a scatter; whether a scene can have
 * them; and the places of bodies that begin at rest. */
bool mpm_density_check(const spate_scene *scene, field_report *report);
spate_status mpm_density_create(mpm *m);
void mpm_density_free(mpm *m);
spate_status mpm_sum_density(mpm *m);
spate_status mpm_settle_density(mpm *m);

/* Forces on colliders (reaction.c): what a step did to them is added up. */
void mpm_add_touches(mpm *m);
/* A body's contact, where a probe asks for it: what particle i of a block lost, or a node where
 * bodies have `shares` of the mass. */
void mpm_contact_particle(const mpm_view *m, int32_t block, int c, int64_t i, const double lost[3]);
void mpm_contact_node(const mpm_view *m, int32_t block, int c, const real *shares, real mass,
                      const double lost[3]);
spate_status mpm_contacts_create(mpm *m);
void mpm_contacts_free(mpm *m);
void mpm_contact_force(const spate_simulation *sim, const probe *p, double force[3]);
void mpm_force(const spate_simulation *sim, int c, double force[3], double torque[3]);

/* Fields for spate_simulation_grid; grid_fields.c. */
int mpm_grid_fields(const spate_simulation *sim, volume_field *out, int capacity);
void mpm_grid_field(const spate_simulation *sim, int which, float *values);

extern const solver_declaration mpm_declaration;
const benchmark *mpm_benchmarks(void);
extern const solver_type solver_mpm;

/* Strains of bodies that begin at rest (rest.c). */
spate_status mpm_equilibrate(mpm *m);

#endif
