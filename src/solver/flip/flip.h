/*
 * FLIP: incompressible liquid on particles and a MAC grid (Brackbill and Ruppel 1986, Zhu and
 * Bridson 2005), with the transfers PIC, FLIP, APIC (Jiang et al. 2015) and APIC with FLIP's
 * change.
 *
 * A step:
 *   split        by choice: large particles that have come near the surface (adaptive.h)
 *   sort         particles into blocks
 *   reseed       by choice: cells with few particles get more, with many fewer
 *   thin         by choice: which particles belong to thin sheets (sheets.h)
 *   insert       new particles where those would tear; others give their mass back
 *   spacing      by choice: particles that lie unevenly are moved apart
 *   grid         bricks around them; how much of each face is open, and how fast its walls move
 *   scatter      particles to faces: m_f = sum w m, (m u)_f = sum w m [v + C (x_f - x_p)]; and the
 *                particles' volume to cells, which gives the surface
 *   forces       u = (m u)_f / m_f, kept as velocity_old; u += dt g; viscosity; surface tension
 *   merge        by choice: particles deep in the liquid
 *   pressure     u is made free of divergence (solver/pressure)
 *   volume       how far particles move besides, to lie evenly (volume.c)
 *   extrapolate  u beyond the liquid, and along colliders
 *   reaction     what colliders took of the momentum
 *   gather       vpic = sum w u, change = sum w (u - velocity_old);
 *
 *                     C in scatter   v_p
 *         pic         no             vpic
 *         flip        no             alpha (v_p + change) + (1 - alpha) vpic
 *         apic        yes            vpic
 *         aflip       yes            alpha (v_p + change) + (1 - alpha) vpic
 *         kernel      no             as flip; sums over particles as in Ando et al. 2012 (kernel_transfer.c)
 *
 *                and then particles move through u (Runge-Kutta), round colliders
 *
 * The affine part is kept as its moment B = sum w u (x_f - x_p) (in m/s cell), not as the gradient
 * C = B / D: what is scattered next is w D^-1 B (x_f - x_p), so that angular momentum is kept by
 * the linear kernel too, whose D changes as a particle moves.
 *
 * Nothing is written by two threads at once: blocks are scattered colour by colour (2^dim colours),
 * where those of one colour do not reach the same faces. So results do not depend on the number of
 * threads. Closed sides of the domain are mirrors, as in the material point method: what falls on a
 * face behind a side is folded onto the one before it, and gathered back the same way.
 *
 * Files: flip.c (options, time step, stages), grid.c (bricks, sides, colliders), surface.c (the
 * level set), release.c (sides that let go), volume.c, coupling.c (viscosity with the pressure),
 * extrapolate.c, viscosity.c, tension.c, reaction.c (forces on colliders), reseed.c, adaptive.c,
 * flow.c (a prescribed velocity), kernel_transfer.c, density_surface.c and sheets.h (Ando et al.
 * 2012), neighbourhood.h (what is around a particle); transfer.h, scatter.h, gather.h with
 * NAME_kernels.c (one for each kernel function, compiled once for each instruction set).
 */
#ifndef SPATE_SOLVER_FLIP_H
#define SPATE_SOLVER_FLIP_H

#include "core/kernel_table.h"
#include "solver/faces.h"
#include "solver/impulses.h"
#include "solver/prescribed.h"
#include "solver/pressure/pressure.h"
#include "solver/solver.h"
#include "solver/stages.h"
#include "state/mac.h"

/* Most cells that a particle may cross in a step: more is a blow-up. */
enum { FLIP_MOST = 16 };

typedef enum flip_transfer {
    FLIP_FLIP,
    FLIP_PIC,
    FLIP_APIC,
    FLIP_AFLIP,
    FLIP_KERNEL,
} flip_transfer;

typedef enum flip_kernel { FLIP_LINEAR, FLIP_QUADRATIC, FLIP_KERNELS } flip_kernel;

/* What tells liquid from air: the particles' volume, their distance, or Ando et al. 2012, eq. 5. */
typedef enum flip_surface { SURFACE_VOLUME, SURFACE_DISTANCE, SURFACE_DENSITY } flip_surface;

/* Particles that are merged and split (adaptive.h). */
typedef struct adaptive_options {
    int64_t largest; /* most that are merged into one */
    int64_t deep;    /* cells from air, from which on they are */
    double reach;    /* how near two of them must be, in their sizes */
    int split;       /* 0: to places of a lattice, 1: anywhere */
} adaptive_options;

typedef struct flip_options {
    int transfer; /* flip_transfer */
    int kernel;   /* flip_kernel */
    double alpha;
    int advection; /* order of the Runge-Kutta scheme less one */
    int pressure;  /* pressure_method */
    double tolerance;
    int64_t max_iterations;
    int surface; /* flip_surface */
    int64_t surface_order;
    double surface_radius; /* cells, for SURFACE_DISTANCE */
    int solids;            /* 0: fractions of faces, 1: whole cells */
    bool reseed;
    double reseed_range[2]; /* fewest and most particles of a cell */
    int64_t reseed_target;
    double volume_correction;
    prescribed_flow *flow; /* NULL: the velocity is computed */
    /* Constants of Ando et al. 2012 */
    double sharp_radius;        /* a_u */
    double density_radius;      /* a_rho */
    double liquid_share;        /* a_L */
    int64_t full_cell;          /* N0 */
    void *sheets;               /* sheet_options, NULL: none */
    void *spacing;              /* spacing_options, NULL: none */
    adaptive_options *adaptive; /* NULL: particles stay as they are */
} flip_options;

/* What a worker has seen in a gather. */
typedef struct flip_extremes {
    wide speed2, move2; /* largest square of v, and of a displacement in cells */
    double flow_speed2; /* largest square of a prescribed velocity */
    int64_t bad;        /* lowest particle whose state is not finite, or -1 */
    int64_t removed;    /* left through open sides */
    int64_t stuck;      /* still in a collider after all */
    char apart[64];     /* keeps workers off each other's cache lines */
} flip_extremes;

/* The transfers of a step (transfer_kernels.h), [dim - 2] each, which are given a flip_view. */
#define FLIP_KERNELS(TASK)         \
    TASK(scatter) /* `coloured` */ \
    TASK(gather)  /* occupied blocks */
typedef struct flip_kernels {
    FLIP_KERNELS(TASK_FIELD)
} flip_kernels;

/* What a checkpoint holds besides the particles. */
typedef struct flip_memory {
    double volume;      /* of the liquid by its level set at the end of the last step, m^d */
    double divergence;  /* after the last projection, 1/s */
    double residual;    /* of the last solve */
    double reference;   /* largest density of a particle at the start, 0 before it is known */
    int64_t iterations; /* of the last solve */
    int64_t failures;   /* solves in a row that missed the tolerance */
    int64_t missed;     /* and in all */
    int64_t split, merged, stuck; /* particles in all */
} flip_memory;

typedef struct flip {
    spate_simulation *sim;
    const domain *domain; /* the scene's */
    pool *threads;
    const flip_options *options;
    const flip_kernels *kernels;
    mac grid;
    pressure *pressure;
    flip_extremes *seen; /* by worker */
    int32_t *coloured;   /* occupied blocks, colour by colour */
    int64_t coloured_capacity;
    int64_t colour_starts[9];
    real *filled; /* with surface tension: what particles fill of the surroundings of each cell */
    int64_t filled_capacity;
    flip_memory memory;
    block_touches *touches;    /* by occupied block, during a gather */
    impulses impulses;         /* on colliders (reaction.c) */
    struct sheets *sheets;     /* NULL where the scene asks for none (sheets.h) */
    struct adaptive *adaptive; /* NULL where the scene does not ask for it */
    /* constants of the scene */
    bool affine;    /* C is scattered */
    bool displaces; /* particles are moved to lie evenly */
    double density, viscosity, tension;
    real alpha; /* share of FLIP, 0 for those without it */
    real dx;
    real inverse_mass; /* 1 / (density dx^dim): a particle's mass as a share of a full cell's */
    real least_share;  /* such shares below count as this where a radius is made of them */
    double thin_from;  /* thinness of thin particles: 1 - a_thin; 2 without sheets */
    /* constants of the step */
    double reach; /* how far from a block's middle its particles may come in the step */
} flip;

/* What the transfers read and write: the arrays and constants of a step. */
typedef struct flip_view {
    const flip *f; /* for what happens rarely: particles at colliders, or far out of their block */
    /* particles, sorted by block */
    particles *particles;
    const int32_t (*block_coords)[3];
    const int64_t *block_first; /* particles of a block: block_first[b] .. block_first[b + 1] - 1 */
    const int32_t *occupied;    /* blocks with particles */
    const int32_t *coloured;    /* the same, colour by colour */
    /* the grid's fields (mac.h) */
    const int32_t (*brick_neighbours)[NEIGHBOURS_MAX];
    real *velocity[3]; /* momentum during the scatter */
    real *mass[3];
    real *phi; /* the particles' volume during the scatter */
    const real *velocity_old[3];
    const real *displacement[3]; /* NULL where there is none */
    /* constants */
    const domain *domain;
    bool affine;   /* C is scattered and gathered */
    bool momentum; /* is scattered; else `transfer: kernel` has done so */
    real alpha;    /* share of FLIP */
    real inverse_mass;
    real step; /* dt / dx */
    int advection_order;
    double reach;
    /* results of a gather */
    flip_extremes *seen;    /* by worker */
    block_touches *touches; /* by occupied block */
} flip_view;

flip_view flip_view_of(const flip *f);

/* A step is its stages, one after the other. */
enum { FLIP_STAGES = 15 };
extern const solver_stage flip_stages[FLIP_STAGES + 1]; /* the last has no name */
extern const solver_stage flip_flow_stages[];           /* in a prescribed flow */

/* Stages, and parts of them, that are told in files of their own. */
spate_status flip_grid(void *solver);
spate_status flip_find_surface(flip *f);
/* Which cells are liquid now; to be given back. */
struct cell_bits;
spate_status flip_take_liquid(flip *f, struct cell_bits *liquid);
void flip_give_liquid(flip *f);
spate_status flip_release(flip *f);
/* `last`: the step's last one, whose drag on colliders counts. */
spate_status flip_viscosity(flip *f, double tolerance, bool last);
spate_status flip_tension(flip *f);
/* Keeps for it what the scatter has left in phi, which the surface then takes. */
spate_status flip_keep_filled(flip *f);
spate_status flip_correct_volume(void *solver);
/* Where viscosity reaches beyond a cell in a step: the velocity before it is kept in
 * `displacement`, and found with the pressure in place of a projection alone. */
bool flip_is_coupled(const flip *f);
void flip_keep_velocity(flip *f);
/* The tolerance of solves that a later round makes good. */
double flip_first_tolerance(const flip *f);
spate_status flip_couple(flip *f, mac *grid, const pressure_options *options,
                         pressure_report *report);
spate_status flip_extrapolate(void *solver);
spate_status flip_reseed(void *solver);
/* `transfer: kernel`: momentum and mass of the faces in place of the scatter. */
spate_status flip_scatter_kernel(flip *f);
/* `surface: density`: the level set of eq. 5. */
spate_status flip_density_surface(flip *f);

/* `flow` (flow.c): velocities of the start; the longest step; particles move through the field. */
void flip_start_flow(flip *f);
double flip_flow_limit(flip *f, const char **limit);
void flip_move_in_flow(flip *f);

/* Where face g of an axis is kept, mirrored at closed sides of the domain, and the sign that a
 * velocity there turns by: at whole cells for the axis' own component, in the middles of cells for
 * others. */
static inline int flip_mirror(const domain *d, int axis, int g, bool middle, real *sign) {
    const int cells = d->cells[axis];
    const wall *sides = d->walls[axis];
    *sign = 1;
    if (g < 0 && wall_is_closed(sides[0])) {
        *sign = middle && sides[0] != WALL_STICKY ? 1 : -1;
        return middle ? -1 - g : -g;
    }
    if (g > cells - middle && wall_is_closed(sides[1])) {
        *sign = middle && sides[1] != WALL_STICKY ? 1 : -1;
        return 2 * cells - g - middle;
    }
    return g;
}

/* The brick that a block of particles is in, and the block's first cell there. */
int32_t flip_brick_of_block(const flip *f, const int32_t block[3], int corner[3]);

/* Velocity at a point, in cells from the domain's corner, by linear interpolation; what lies
 * outside the bricks counts as nothing. False where no brick is near. */
bool flip_sample(const flip *f, const double x[3], double v[3]);

/* Notes what a particle at x lost to the nearest of some colliders (reaction.c). */
void flip_touch(const flip *f, const boundary_part *solid, block_touches *touches,
                const double x[3], const double lost[3]);

/* The shortest step that surface tension asks for, HUGE_VAL without it. */
double flip_tension_limit(const flip *f);

extern const solver_declaration flip_declaration;
const benchmark *flip_benchmarks(void);
extern const solver_type solver_flip;

/* Fields for spate_simulation_grid; grid_fields.c. */
int flip_grid_fields(const spate_simulation *sim, volume_field *out, int capacity);
void flip_grid_field(const spate_simulation *sim, int which, float *values);

#endif
