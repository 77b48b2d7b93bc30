/*
 * What all solvers share: the simulation (a scene being played) and the interface of a solver.
 *
 * A solver is a folder under src/solver/ that defines one solver_type and is named in registry.c.
 * It says which particle fields it needs, how long a step may be and why, and how a step is made.
 */
#ifndef SPATE_SOLVER_SOLVER_H
#define SPATE_SOLVER_SOLVER_H

#include "core/arena.h"
#include "core/threads.h"
#include "scene/forces.h"
#include "scene/scene.h"
#include "state/blocks.h"
#include "state/boundary.h"
#include "state/particles.h"

enum { PHASES_MAX = 24 };

typedef struct phase {
    const char *name; /* a literal */
    double seconds;
} phase;

/* A checkpoint block of a solver's own state: saved and restored by name. */
typedef struct state_block {
    const char *name;
    void *data;
    size_t bytes;
    /* Of a list: makes room for what a checkpoint holds, of whatever length, and says where. */
    spate_status (*resize)(spate_simulation *sim, size_t bytes, void **data);
} state_block;

/* All of a solver's. */
enum { STATE_BLOCKS_MAX = 32 };
typedef struct state_blocks {
    state_block list[STATE_BLOCKS_MAX];
    int count; /* of those that were added, also where they do not fit */
} state_blocks;
void state_add(state_blocks *out, const char *name, void *data, size_t bytes);
void state_add_list(state_blocks *out, const char *name, void *data, size_t bytes,
                    spate_status (*resize)(spate_simulation *sim, size_t bytes, void **data));

/* A column of stats.csv that only this solver has. */
typedef struct solver_column {
    const char *name;
    const char *unit;                             /* in SI and 3D; "" for a pure number */
    double (*value)(const spate_simulation *sim); /* NAN where there is none yet */
} solver_column;

/* NAN where it is not known, or where the particles tell it. */
typedef struct solver_numbers {
    double max_divergence; /* 1/s */
    double mass, momentum[3], angular[3], kinetic_energy, potential_energy, volume, max_speed;
    double mesh_energy; /* elastic energy that particles do not tell, added to theirs; 0: none */
} solver_numbers;

/* A field on the cells of the domain, as a solver with its matter on a grid shows it. */
typedef struct volume_field {
    const char *name;
    int components; /* 1 or 3 */
} volume_field;

/* What a run costs, about, in 2D and 3D: for estimates before it (review.c). */
typedef struct solver_cost {
    double rate[2];  /* particles, or cells of a grid, that one thread steps in a second */
    double bytes[2]; /* of memory for each of them */
} solver_cost;

typedef struct benchmark benchmark; /* benchmark.h */

typedef struct solver_type {
    const solver_declaration *declaration;
    const benchmark *(*benchmarks)(void); /* the last is one without a variant */
    /* Of this scene. Rates were measured over the scenes that ship (docs/performance.md). */
    solver_cost (*cost)(const spate_scene *scene);
    /* Grid coordinate of the domain's corner (blocks.h), in cells: what a block's grid begins with.
     * */
    double shift;
    /* Particle fields the solver needs for this scene. */
    unsigned (*fields)(const spate_scene *scene);
    /* Fields that its sorts exchange with a second buffer besides velocity and affine part
     * (blocks.h): worth the memory where it sorts in every step. */
    unsigned exchanged;
    /* Makes sim->solver; particles are there. */
    spate_status (*create)(spate_simulation *sim);
    void (*free)(spate_simulation *sim);
    /* What a new simulation's particles still need, which those of a checkpoint have; or NULL. */
    spate_status (*start)(spate_simulation *sim);
    /* The longest stable step from the present state and the name of the limit that sets it. */
    double (*step_limit)(spate_simulation *sim, const char **limit);
    /* One step of length sim->dt from sim->time. */
    spate_status (*step)(spate_simulation *sim);
    /* The solver's plain data that a checkpoint must hold besides the particles. */
    void (*state)(spate_simulation *sim, state_blocks *out);
    /* Kirchhoff stress (xx yy zz yz xz xy) and strain energy density of particle i, by its
     * material, as double precision reference code; J too. Any pointer may be NULL. */
    void (*stress)(const spate_simulation *sim, int64_t i, double stress[6], double *energy,
                   double *J);
    /* Pressure at a place, Pa; NULL: the mean of the particles around tells it. */
    double (*pressure)(const spate_simulation *sim, const double x[3]);
    /* Velocity at a place, m/s; NULL: as with the pressure. */
    void (*velocity)(const spate_simulation *sim, const double x[3], double v[3]);
    /* What matter does to collider c, and its torque about the collider's pivot: the mean
     * over the frame so far (impulses.h); NULL: not known. */
    void (*force)(const spate_simulation *sim, int c, double force[3], double torque[3]);
    /* The same of a probe's body alone (contact_force); NULL where the declaration knows no
     * contacts. */
    void (*contact)(const spate_simulation *sim, const probe *p, double force[3]);
    /* Second moment D of the kernel at particle i over dx^2, by axis: the angular momentum of its
     * affine motion is m axial(C D); 0 where a scheme does not carry it. */
    void (*affine_moment)(const spate_simulation *sim, int64_t i, double moment[3]);
    /* Iterations of the last step's solve and what they left, where something was solved; NULL:
     * nothing ever is. */
    void (*solved)(const spate_simulation *sim, double *iterations, double *residual);
    /* What the solver itself knows of the columns that every run has; NULL: nothing. */
    void (*numbers)(spate_simulation *sim, solver_numbers *out);
    /* Columns of stats.csv of its own, closed by one without a name; NULL: none. */
    const solver_column *columns;
    /* Fields on the domain's cells, for frames: which there are (returns how many, of which at most
     * `capacity` are written), and the values of one: components of a cell beside one another,
     * cells with x fastest. NULL: none. */
    int (*volumes)(const spate_simulation *sim, volume_field *out, int capacity);
    void (*volume)(const spate_simulation *sim, int field, float *values);
    /* The same of fields that only the program asks for (spate_simulation_grid), not files; NULL:
     * those of `volumes`. */
    int (*grid_fields)(const spate_simulation *sim, volume_field *out, int capacity);
    void (*grid_field)(const spate_simulation *sim, int field, float *values);
    bool grid_on_nodes; /* those are at the corners of cells, one more along every axis that is not
                           periodic */
    /* What the state hash must know besides the particles; NULL: nothing. */
    uint64_t (*hash)(const spate_simulation *sim, uint64_t seed);
    /* Bytes in grids, for the benchmarks. */
    size_t (*grid_bytes)(const spate_simulation *sim);
    /* Of body `group`, which is a mesh: the id of its first vertex, the others' follow. NULL: there
     * are no meshes. */
    uint64_t (*mesh_first_id)(const spate_simulation *sim, int group);
} solver_type;

/* Where a source is: the lattice of particles that flows through its shape. */
typedef struct source_state {
    double shift[3];      /* how far its lattice had moved at the start of the last step */
    double motion[3];     /* and how far it moved in that step */
    double emitted_at[3]; /* its shift when points of it last became particles */
    int64_t emitted;
    int64_t filled;  /* whether the shape has been filled at the start, 0 or 1 */
    double dilation; /* J - 1 of the liquid that it holds */
} source_state;

/* Where a particle goes when all are read out in some order (measure/order.c), and room for it. */
typedef struct read_order {
    uint32_t *place; /* by storage index; UINT32_MAX for a removed one */
    uint64_t *bits;  /* of every id, whether it lives */
    uint32_t *before;
    int64_t place_capacity, bits_capacity, before_capacity;
    uint64_t generation; /* that it is of */
    int order;           /* spate_order; -1: none yet */
    int64_t count;       /* living particles */
} read_order;

/* What is called after every stage of a step (spate_simulation_on_stage). */
typedef struct stage_hook {
    void (*call)(spate_simulation *sim, const char *stage, void *user);
    void *user;
} stage_hook;

struct impulses;
typedef struct drive drive; /* run/drive.h */

struct spate_simulation {
    int busy; /* a call is at work on it (simulation_enter); kept by simulation_open */
    spate_context *ctx;
    spate_scene *scene; /* not owned */
    const solver_type *type;
    void *solver; /* the solver's own state */
    particles particles;
    blocks blocks;
    boundary boundary;
    scratch scratch;
    double time;
    int64_t step;
    double dt;            /* of the last step, or of the one being made */
    double whole_dt;      /* what it would have been without a frame or event to land on */
    const char *dt_limit; /* which limit set it */
    uint64_t next_id;
    source_state *sources;
    struct source_shapes *source_shapes; /* of sources that deform; NULL: none do */
    double drift;        /* cells the fastest particle may have moved since the last sort */
    double max_speed;    /* after the last step */
    spate_status broken; /* a step failed: the state is not to be gone on from */
    int64_t removed;     /* particles that left through open sides, in all */
    int64_t drained;     /* particles that sinks took away, in all */
    phase phases[PHASES_MAX];
    int phase_count;
    uint64_t generation; /* grows with every step and every write: tells old views from new */
    read_order order;
    struct impulses *impulses; /* the solver's sums of what acts on colliders */
    force_list forces;         /* that act besides gravity */
    stage_hook on_stage;
    const void *stager; /* that call is a step of this thread, and has called on_stage; or NULL */
    drive *drive;       /* what others than its scene have done to it; NULL: nothing */
};

/* Before and after a public call that reads (`changes` false) or changes a simulation: one at a
 * time, but a stage's hook may read. No call looks at the simulation before it has entered. */
spate_status simulation_enter(spate_simulation *sim, bool changes);
void simulation_leave(spate_simulation *sim);

/* Seconds of a stage: double t = phase_start(); ... phase_stop(sim, "scatter", t); */
double phase_start(void);
void phase_stop(spate_simulation *sim, const char *name, double start);

/* World position of what is `local` cells from the corner of the block at `coords`, inside the
 * domain on a periodic axis (where it may be half a cell before the first node, or a cell beyond
 * its last block between two sorts). */
static inline void simulation_world(const spate_simulation *sim, const int32_t coords[3],
                                    const double local[3], double x[3]) {
    const domain *d = &sim->scene->domain;
    x[2] = 0;
    for (int a = 0; a < sim->scene->dim; a++) {
        x[a] =
            d->origin[a] + ((double)coords[a] * BLOCK_EDGE + local[a] - sim->type->shift) * d->dx;
        if (!sim->blocks.period[a]) continue;
        if (x[a] < d->origin[a])
            x[a] += d->size[a];
        else if (x[a] >= d->origin[a] + d->size[a])
            x[a] -= d->size[a];
    }
}
/* The middle of the block at `coords`; at the seam of a periodic axis it does not tell where the
 * block's particles are (simulation_at_seam). */
static inline void simulation_middle(const spate_simulation *sim, const int32_t coords[3],
                                     double x[3]) {
    const domain *d = &sim->scene->domain;
    x[2] = 0;
    for (int a = 0; a < sim->scene->dim; a++)
        x[a] = d->origin[a] + (((double)coords[a] + 0.5) * BLOCK_EDGE - sim->type->shift) * d->dx;
}
/* How far from a block's middle its particles may be: half a block, what they have drifted since
 * the sort, and half a cell for rounding. */
static inline double simulation_reach(const spate_simulation *sim) {
    return sim->scene->domain.dx * (0.5 * BLOCK_EDGE * sqrt(sim->scene->dim) + sim->drift + 0.5);
}
/* The place of particle i of a block. */
static inline void simulation_place(const spate_simulation *sim, const int32_t coords[3], int64_t i,
                                    double x[3]) {
    double local[3] = {0};
    for (int a = 0; a < sim->scene->dim; a++)
        local[a] = (double)PLANE(&sim->particles, position, a)[i];
    simulation_world(sim, coords, local, x);
}
static inline void simulation_position(const spate_simulation *sim, int32_t block, int64_t i,
                                       double x[3]) {
    simulation_place(sim, sim->blocks.coords[block], i, x);
}

/* Whether a block lies at the seam of a periodic axis: its particles and nodes may be at either
 * end, so its middle does not tell where they are. */
static inline bool simulation_at_seam(const spate_simulation *sim, int32_t block) {
    const blocks *b = &sim->blocks;
    for (int a = 0; a < b->dim; a++)
        if (b->period[a] && (b->coords[block][a] == 0 || b->coords[block][a] == b->period[a] - 1))
            return true;
    return false;
}

/* A simulation without particles, ready to be filled by create or by a checkpoint. */
spate_status simulation_prepare(spate_scene *scene, spate_simulation **out);
/* The parts of one, made in a struct that has its context only, and given back. */
spate_status simulation_open(spate_scene *scene, spate_simulation *sim);
void simulation_close(spate_simulation *sim);
/* spate_simulation_create and _step, without what src/run adds to them. */
spate_status simulation_create(spate_scene *scene, spate_simulation **simulation);
spate_status simulation_step(spate_simulation *sim, double until);
uint64_t simulation_hash(spate_simulation *sim);
/* Samples body `index` of the scene, as at the start. */
spate_status simulation_fill_body(spate_simulation *sim, int index);

/* Adds a particle at world position x; it takes part after the next sort. */
spate_status simulation_add(spate_simulation *sim, int group, const double x[3], const double v[3],
                            double volume);

/* The blocks of the solver's own state; fails where it has more than a checkpoint takes. */
spate_status simulation_state(spate_simulation *sim, state_blocks *out);

/* Values of columns that several solvers have. */
double column_removed(const spate_simulation *sim); /* particles that left through open sides */
double column_drained(const spate_simulation *sim); /* and into sinks */
double column_sorts(const spate_simulation *sim);

/* The speed of the fastest particle, m/s. */
double simulation_fastest(const spate_simulation *sim);

/* Marks particles of a block that have left through open sides; the next sort drops them. Returns
 * how many. */
int64_t simulation_remove_outside(spate_simulation *sim, int32_t block);
/* Whether the step begins at time t. Times that differ only by rounding are one. */
#define TIME_ROUNDING 1e-12
static inline bool simulation_is_now(const spate_simulation *sim, double t) {
    return fabs(sim->time - t) <= TIME_ROUNDING * t;
}
/* Makes the solver sort its particles before it uses them again: some are to be gone. */
void simulation_must_sort(spate_simulation *sim);

/* Adds what acts on collider c at x: to its force, and to its torque about the pivot of its motion.
 * */
void simulation_add_force(const spate_simulation *sim, int c, const double x[3],
                          const double part[3], double force[3], double torque[3]);

/* How an iteration to solver.tolerance has ended. */
typedef struct solve_result {
    const char *what; /* was solved for: "pressure" */
    const char *kind; /* of the warning: "pressure not converged" */
    double residual, tolerance;
    int64_t iterations;
    bool converged;
} solve_result;

/* Takes note of it: one that missed its tolerance is warned of and counted, and ten in a row end
 * the run with SPATE_NOT_CONVERGED. *failures counts those in a row, *missed all. */
spate_status simulation_judge(spate_simulation *sim, const solve_result *r, int64_t *failures,
                              int64_t *missed);

/* Stops with SPATE_UNSTABLE: names step, particle, material, x, v, J and dt. */
spate_status simulation_unstable(spate_simulation *sim, int64_t particle, const char *what);
/* The same for a value that is about to be written: nothing that is not finite ever is. */
spate_status simulation_not_finite(spate_simulation *sim, const char *what, const char *name);

/* All solvers, the default first; src/solver/registry.c. */
extern const solver_type *const solver_types[];
extern const solver_declaration *const solver_declarations[];
extern const int solver_type_count;

#endif
