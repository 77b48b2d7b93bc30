/*
 * Smoke: a gas that fills the domain, with dyes and heat in it, by stable fluids (Stam 1999).
 *
 *     du/dt = -(u . grad) u + nu lap u - grad p / rho + f,    div u = 0
 *     dc/dt = -(u . grad) c + D lap c - k c                   for every dye, and for the
 *     temperature
 *
 * Each term is dealt with on its own, by a method that is stable for any step:
 *   advect    values are fetched from where they come from (semi-Lagrangian); with `maccormack` the
 *             error of that is measured by going back, and taken off (Selle et al. 2008)
 *   forces    buoyancy g (sum weight c - expansion T) (Boussinesq: the weight of the gas at rest is
 *             balanced by a pressure that is left out), vorticity confinement (Fedkiw et al. 2001)
 *   diffuse   implicit: (1 - nu dt lap) u = u_before
 *   project   the nearest velocity without divergence
 * The course this follows begins with the forces and ends with the advection. It is the same circle
 * begun one term earlier, so that what is written and looked at is free of divergence.
 *
 * Advecting and then projecting loses energy, the more the longer the step. With `reflection` a
 * step has two halves, and what the first projection took away is taken once more before the second
 * half (Zehnder, Narain and Thomaszewski 2018): u_hat = 2 P(u) - u. That makes up for the loss.
 * Dyes and heat go their way in the second half, by the velocity in the middle of the step.
 *
 * Grids. `mac`: velocities on the faces of cells, the rest in their middles; the projection is that
 * of the liquid (solver/pressure), with colliders as fractions of faces. `collocated`, the course's
 * own: everything in the middles, central differences, a border of ghost cells that copies
 * densities and reflects velocities; what is left of the divergence is what such differences cannot
 * see.
 *
 * Arrays are dense, rows along the last axis, with a border of ghost cells around (layout.h). The
 * pressure of `mac` goes through bricks (state/mac.h) that are filled from them. Every pass works
 * row by row and writes what no other row reads, so results do not depend on the number of threads.
 *
 * Files: smoke.c (options, memory, the step), layout.h and ghosts.c (arrays and the ghost cells
 * around them), sources.c (bodies, sources, sinks), advect.c, forces.c, diffuse.c, project.c,
 * gauss_seidel.c, solids.c (walls, and values inside colliders), reaction.c (forces on them),
 * outputs.c; smoke_kernels.c with jobs.h, trace.h and stencils.h (kernels over rows, compiled once
 * for each instruction set), reference.c (the trace, plainly).
 */
#ifndef SPATE_SOLVER_SMOKE_H
#define SPATE_SOLVER_SMOKE_H

#include "core/kernel_table.h"
#include "core/simd.h"
#include "solver/impulses.h"
#include "solver/pressure/pressure.h"
#include "solver/smoke/layout.h"
#include "solver/stages.h"
#include "state/mac.h"

enum { SMOKE_DYES = 16, SMOKE_NAME = 63, SMOKE_ROOM = 6 };
/* Most cells that the gas may cross in a step: more is a blow-up. */
enum { SMOKE_MOST = 1000 };

typedef enum smoke_grid { SMOKE_MAC, SMOKE_COLLOCATED } smoke_grid;
typedef enum smoke_advection { SMOKE_LINEAR, SMOKE_MACCORMACK } smoke_advection;
typedef enum smoke_reflection {
    REFLECTION_DEFAULT,
    REFLECTION_OFF,
    REFLECTION_ON
} smoke_reflection;
typedef enum smoke_pressure { SMOKE_MULTIGRID, SMOKE_GAUSS_SEIDEL } smoke_pressure;

typedef struct smoke_options {
    int grid;         /* smoke_grid */
    int advection;    /* smoke_advection */
    int trace;        /* order of the Runge-Kutta scheme less one */
    int reflection;   /* smoke_reflection: whether steps have halves */
    double vorticity; /* of the confinement, 1/s */
    int pressure;     /* smoke_pressure */
    int64_t iterations;
    double tolerance;
    int64_t max_iterations;
    double dissipation, cooling; /* 1/s */
} smoke_options;

/* What a material is as a dye. */
typedef struct smoke_dye {
    const char *name;
    double amount;      /* that its bodies and sources bring */
    double temperature; /* of theirs, K above the surroundings */
    double weight;      /* how much heavier a unit of it makes the gas */
    double diffusion;   /* m^2/s */
} smoke_dye;

/* What a worker has seen. */
typedef struct smoke_extremes {
    double speed2;  /* largest square of a cell's velocity */
    double outflow; /* largest of a cell */
    bool bad;       /* something was not finite */
    char apart[64];
} smoke_extremes;

/* What a checkpoint holds besides the arrays. */
typedef struct smoke_memory {
    double divergence; /* after the last projection, 1/s */
    double residual;   /* of the last solve */
    int64_t iterations;
    int64_t failures, diffusion_failures; /* solves in a row that missed the tolerance */
    int64_t missed;                       /* and in all */
} smoke_memory;

/* The kernels over rows (jobs.h), compiled for each instruction set; [dim - 2]. */
#define SMOKE_KERNELS(TASK, SUM)                                                  \
    TASK(advect)    /* linear, or the first half of MacCormack */                 \
    TASK(correct)   /* its second half */                                         \
    TASK(chebyshev) /* an iteration of the implicit diffusion */                  \
    TASK(relax)     /* half a sweep of Gauss-Seidel */                            \
    SUM(residual)   /* squares of a right-hand side, and of what is left of it */ \
    TASK(curl)      /* vorticity in the middles of cells, and its size */         \
    TASK(confine)   /* vorticity to the confinement's acceleration */

typedef struct smoke_kernels {
    SMOKE_KERNELS(TASK_FIELD, SUM_FIELD)
} smoke_kernels;

/* How deep in solids a value is: in the gas; the layers that are made of values beside them; where
 * gas sticks (also on faces that are open by a part, but not in their middle); and what is
 * prescribed. */
enum { DEPTH_GAS, DEPTH_FIRST, DEPTH_SECOND, DEPTH_STICKY, DEPTH_HELD = 255 };

/* How far away from a value of the gas the wall is whose sticky value is beside it, in cells, from
 * the distances of both to it in hundredths. */
INLINE real smoke_gap(int8_t gas, int8_t sticky) {
    const int outside = gas > 0 ? gas : 0, inside = sticky < 0 ? -sticky : 0;
    const real gap = (real)outside / (real)(outside + inside > 0 ? outside + inside : 1);
    return gap > (real)0.05 ? gap : (real)0.05;
}

/* How colliders turn: the one that a value of some component is in, and by how much the velocities
 * of each change from cell to cell, three axes to a component. NULL where none moves. */
typedef struct smoke_turning {
    const int32_t *collider;
    const real *change; /* of this component; nine to a collider */
} smoke_turning;

/* The wall's velocity `gap` cells from a value of the gas, whose sticky one `way` along `axis` is
 * `at`: a collider that turns is slower inside than on its surface. */
INLINE real smoke_wall(const smoke_turning *turning, real sticky, int64_t at, int axis, int way,
                       real gap) {
    if (!turning->collider) return sticky;
    const real change = turning->change[9 * (int64_t)turning->collider[at] + axis];
    return sticky - (real)way * (1 - gap) * change;
}

/* Values inside colliders next to the gas: the first layer, then the second (solids.c). */
typedef struct smoke_layers {
    int32_t *list; /* indices */
    int64_t count, first, capacity;
} smoke_layers;

/* Cells near colliders, and what the gas there gives to them (reaction.c). */
typedef struct smoke_piece {
    int collider;
    bool apart;         /* none of its cells touches the collider */
    int64_t begin, end; /* of the cells */
    double sums[6];     /* of a stage: impulse and its moment */
} smoke_piece;

typedef struct smoke_control_volumes {
    int32_t
        *owner; /* by cells of bricks: twice the nearest collider, and 1 apart from it; -1: none */
    bool *near; /* by bricks: whether `owner` tells */
    int32_t *cells; /* indices, owner by owner */
    int64_t *first; /* by owner, for the sort */
    smoke_piece *pieces;
    double *inflow;    /* of momentum by the present velocity, six to a collider: N, N m */
    bool inflow_known; /* for these cells */
    int64_t capacity, piece_count, piece_capacity;
} smoke_control_volumes;

typedef struct smoke {
    spate_simulation *sim;
    const spate_scene *scene;
    pool *threads;
    const smoke_options *options;
    const smoke_kernels *kernels;
    layout layout;
    /* the state */
    real *velocity[3]; /* m/s */
    real *pressure;    /* Pa, of the last projection */
    real *dyes[SMOKE_DYES];
    real *temperature; /* K above the surroundings; NULL where nothing is ever warm */
    /* room for the next state, and for what comes between: six arrays in all, of which linear
     * advection needs those of the velocity and two more */
    real *next[3], *spare[SMOKE_ROOM - 2];
    bool reflected;    /* `next` is the velocity to carry, made by the reflection */
    uint8_t *depth[4]; /* by place: how deep in solids; NULL where nothing is in the way */
    int8_t
        *distance[3]; /* of faces from the nearest collider, hundredths of a cell, at most 127; NULL
                            where gas sticks to none */
    /* the collider nearest to a face and how each turns (smoke_turning); NULL where none moves or
     * gas sticks to none */
    int32_t *nearest[3];
    real *turning;
    smoke_layers layers[4];
    /* open shares of faces, 0 in sources and sides, where there are colliders; as they were before
     * the step where some move, else the same arrays */
    real *face_fraction[3], *face_fraction_before[3];
    smoke_control_volumes control;
    impulses impulses; /* on colliders */
    bool *closed;      /* bricks with faces that are not quite open */
    mac grid;
    pressure *solver;
    double *right; /* right-hand side by cells of the bricks, where the solver does not make it */
    smoke_extremes *seen; /* by worker */
    bool *running;        /* sources as they were when faces were last prepared */
    bool prepared;
    double walls_time; /* for which colliders were last put in place */
    int64_t changes;   /* of the set of colliders, when faces were last prepared */
    smoke_memory memory;
    /* constants of the scene */
    smoke_dye kinds[SMOKE_DYES];
    int dye_count;
    double dx;
    double density, viscosity, expansion;
    double heat_diffusion; /* m^2/s: the largest of what is ever warm */
    double max_buoyancy;   /* strongest buoyancy that the scene can bring, m/s^2 */
    double viscous_step;   /* longest step with which viscosity is right beside walls, s */
    /* of the part of a step that is being made */
    double dt;
    int part; /* 1: the second half, with reflection */
} smoke;

static inline bool smoke_colliders_move(const smoke *s) {
    const spate_scene *scene = s->scene;
    for (int c = 0; c < scene->collider_count; c++)
        if (scene->colliders[c].motion.key_count || scene->colliders[c].shape->sequence ||
            collider_is_temporary(&scene->colliders[c]))
            return true;
    return false;
}

static inline smoke_turning smoke_turning_of(const smoke *s, int a) {
    return (smoke_turning){s->nearest[a], s->turning ? s->turning + 3 * a : NULL};
}

/* Whether this is the second half of a step, or the step has none. */
static inline bool smoke_last_part(const smoke *s) {
    return s->part == 1 || s->options->reflection != REFLECTION_ON;
}

/* A step is its stages, one after the other, with reflection twice. */
extern const solver_stage smoke_stages[];

/* Those that are told in files of their own. */
spate_status smoke_walls(void *solver);
spate_status smoke_advect(void *solver);
spate_status smoke_forces(void *solver);
spate_status smoke_diffuse(void *solver);
spate_status smoke_project(void *solver);
spate_status smoke_hold(void *solver);

/* sources.c: bodies at the start. */
void smoke_fill_bodies(smoke *s);

/* Where the values of component a of the velocity are kept: on its faces, or in the middles. */
static inline int smoke_place(const smoke *s, int a) {
    return s->options->grid == SMOKE_MAC ? a : PLACE_MIDDLE;
}

/* Where value `at` (indices) of a place is in the world. */
static inline void smoke_world(const smoke *s, int place, const int at[3], double x[3]) {
    const domain *d = &s->scene->domain;
    x[2] = 0;
    for (int a = 0; a < s->layout.dim; a++)
        x[a] = d->origin[a] + (at[a] + (a == place ? 0 : 0.5)) * d->dx;
}

/* ghosts.c: the ghost cells of an array after it has changed. */
void smoke_ghost_velocity(const smoke *s, int a, real *values);
void smoke_ghost_scalar(const smoke *s, real *values);
/* The same for a pressure: 0 at open sides. */
void smoke_ghost_pressure(const smoke *s, real *values);

/* solids.c: what tracing finds inside colliders: the values beside them. */
void smoke_extend(const smoke *s, int place, real *values);
/* Whether a cell lies inside a collider as a whole. */
static inline bool smoke_is_solid(const smoke *s, int64_t cell) {
    return s->depth[PLACE_MIDDLE] && s->depth[PLACE_MIDDLE][cell];
}

/* What viscosity does to the gas on faces whose middle is in a sticky collider. */
void smoke_stick(smoke *s);
/* After the velocity has changed: walls, solids and ghost cells. */
void smoke_settle_velocity(smoke *s);

/* Takes note of the pressure p of a cell (in the solver's unit, p dt / (density dx)). With
 * reflection the first projection's acts in both halves of the step, and the second's is what that
 * was short of. */
static inline void smoke_keep_pressure(smoke *s, int64_t cell, double p) {
    const double pascal = p * s->density * s->dx / s->dt;
    s->pressure[cell] = (real)(s->part ? (double)s->pressure[cell] + 0.5 * pascal : pascal);
}

/* `pressure: gauss_seidel` on faces: velocity and pressure of the bricks. */
void smoke_gauss_seidel(smoke *s, pressure_report *report);

/* Runs a pass over all rows of `place`. */
void smoke_rows(const smoke *s, int place, chunk_task task, void *data);

/* reaction.c: after the faces have changed; around the stages. */
spate_status smoke_find_control_volumes(smoke *s);
void smoke_before_advection(smoke *s);
void smoke_after_advection(smoke *s);
void smoke_before_diffusion(smoke *s);
void smoke_after_diffusion(smoke *s);
void smoke_after_projection(smoke *s);
void smoke_force_on(const spate_simulation *sim, int c, double force[3], double torque[3]);

/* outputs.c */
void smoke_velocity_at(const spate_simulation *sim, const double x[3], double v[3]);
double smoke_pressure_at(const spate_simulation *sim, const double x[3]);
void smoke_numbers(spate_simulation *sim, solver_numbers *out);
void smoke_solved(const spate_simulation *sim, double *iterations, double *residual);
int smoke_volumes(const spate_simulation *sim, volume_field *out, int capacity);
void smoke_volume(const spate_simulation *sim, int index, float *values);
uint64_t smoke_hash(const spate_simulation *sim, uint64_t seed);

extern const solver_declaration smoke_declaration;
const benchmark *smoke_benchmarks(void);
extern const solver_type solver_smoke;

#endif
