/*
 * Thin sheets that do not tear, after Ando, Thuerey and Tsuruno 2012, sections 4 and 5.2 (`sheets`
 * and `spacing` of solver flip). Lengths are in cells, d0 = N0^(-1/dim) is a usual particle's size.
 * Three stages after the sort:
 *
 *   thin     density rho of particles near air (eq. 2, all with the radius a_rho d0); where rho < a_drho rho0 the
 *            covariance C of the particles around (eq. 8, 9), s1 >= s2 >= s3 its eigenvalues; thin
 *            where s3 <= a_thin s1 (eq. 11)
 *   insert   inserted particles that are not needed any more give their mass back (eq. 15,
 *            ancestry.h); midpoints of thin pairs that part, with nobody there yet (eq. 12), get
 *            new ones, chosen by a walk (eq. 13, 14, walk.h)
 *   spacing  all particles are moved apart, less across a sheet than along it (eq. 21, 22); the
 *            velocity is taken anew where they come to lie (eq. 1)
 *
 * What differs from the text: rho0 is at least that of a full lattice, so that a scene that begins
 * with a sheet knows it for one; a new particle has the mean velocity by mass, and mass given back
 * brings its momentum along, so that both are kept exactly (`weighting: published` does neither); a
 * particle may not be split for ever (`generations`, `lightest`); clusters of a few particles are
 * spray and not a sheet (`spray`). The rate of `spacing` is one in time: 1 - exp(-rate t) of what
 * the text adds where a_s dt = 1, for the time t since the last correction, every second step. What
 * is undone is disorder that the flow makes, so no particle is moved farther than one near it went
 * relative to it in that time (`motion`): without that a lattice at rest is an unstable balance of
 * repulsions, and single particles of still water are pushed out of its surface.
 *
 * Nothing is done where nothing changes. In blocks in which velocities differ by less than a
 * thousandth of the fastest particle's, those of the cells around included, nothing is moved apart;
 * and where that is so of the blocks around as well, and there is no inserted particle, thin ones are
 * looked for every eighth step only, and keep their thinness until then.
 *
 * In a prescribed flow nothing holds the liquid together, so there, instead, `spacing` moves no
 * particle out of its surface: a ball would swell by a tenth on its way through Enright's
 * deformation.
 *
 * Inserted and removed particles are found with the neighbours of before: a new one takes part from
 * the sort after these stages on.
 */
#ifndef SPATE_SOLVER_FLIP_SHEETS_H
#define SPATE_SOLVER_FLIP_SHEETS_H

#include "solver/flip/ancestry.h"
#include "solver/flip/flip.h"
#include "solver/flip/neighbourhood.h"

typedef enum sheet_weighting { WEIGHTING_MASS, WEIGHTING_PUBLISHED } sheet_weighting;

typedef struct sheet_options {
    double thin;            /* a_thin */
    double sparse;          /* a_drho */
    double distance[2];     /* a_min, a_max */
    double remove_density;  /* a_maxrho */
    double remove_distance; /* a_dist */
    int64_t min_age;        /* steps */
    int64_t generations;
    double lightest; /* of usual particles' mass: what is not split */
    double spray;    /* of the number of particles around one inside: fewer are no sheet */
    int64_t limit;   /* insertions of a step */
    int weighting;   /* sheet_weighting */
} sheet_options;

typedef enum spacing_kind { SPACING_ANISOTROPIC, SPACING_ISOTROPIC } spacing_kind;

typedef struct spacing_options {
    int kind;     /* spacing_kind */
    double rate;  /* a_s, 1/s */
    double limit; /* of a correction, in d0 */
    double
        motion; /* of a correction, in ways that particles nearby went relative to one; 0: none */
    int64_t every; /* steps */
} spacing_options;

extern const field_table sheet_table, spacing_table;
/* Whether the groups' fields, where given, make sense together. */
bool sheets_check(const flip_options *o, field_report *report);

/* ---- Kernels, compiled once for each instruction set ----------------------------------------- */

/* Which cells of a block, by bits. */
typedef uint64_t block_cells;
_Static_assert(BLOCK_NODES_MAX <= 64, "a bit for each cell of a block");

/* Copies of the particles of a block and of cells round it (sheet_tile.h). */
enum {
    SHEET_TILE_EDGE = BLOCK_EDGE + 2 * REACH_MOST,
    SHEET_TILE_ROWS = SHEET_TILE_EDGE * SHEET_TILE_EDGE,
    SHEET_TILE_MOST = 16384,
    /* what ends each row; and planes do not begin in the same places of pages */
    SHEET_TILE_ROOM = SHEET_TILE_MOST + (SHEET_TILE_ROWS + 2) * WIDE + 72
};
typedef struct sheet_tile {
    int ring, edge, count; /* cells round the block, cells along an edge, copies */
    int low[3], high[3];   /* the cells that are filled, from the block's corner */
    int starts[SHEET_TILE_ROWS * (SHEET_TILE_EDGE + 1)];
    real x[3][SHEET_TILE_ROOM];
    real values[2][SHEET_TILE_ROOM];
    int64_t particle[SHEET_TILE_ROOM];
} sheet_tile;

/* What the kernels read and write: arrays by particle, of the sorted ones, and constants. */
typedef struct sheet_view {
    neighbourhood around;
    const block_cells *near; /* by occupied block: cells within two of air */
    const real *size;        /* d */
    const real *count;       /* how many usual particles it stands for, at least 1; 0: removed */
    real *density;           /* over rho0; 1 where it is not looked for */
    real *thinness;          /* the field of particles: 1 - s3/s1 */
    /* of particles less dense than `sparse`; those of others are not written, and taken for I and
     * 0: (k_s C)^-1 as xx xy xz yy yz zz, in 2D xx xy yy; and at a surface where the liquid is,
     * out of which nothing is moved. NULL: those of all are I, 0 */
    real (*metric)[6];
    real4 *inward;
    real4 *moved;      /* displacement, and whether there is one */
    real4 *resampled;  /* velocity at the new place */
    sheet_tile *tiles; /* by worker */
    real reach2;       /* of densities and covariances: (a_rho d0)^2 */
    real close;        /* how far displacements and velocities reach, at most 1 */
    real aside;        /* how far the mean of the particles around is from one at a surface */
    real least_count;  /* sum of W_smooth below which a particle is spray */
    real inverse_reference, sparse, stretch; /* 1/rho0, a_drho, k_s */
    real share, most, sharp;                 /* of the displacement in a step, its limit, a_u */
    real motion;                             /* its limit for a relative speed of 1 m/s; 0: none */
    real still;            /* velocities that differ by up to this do not; below 0: any do */
    bool *moving;          /* by occupied block: whether velocities differ in and around it */
    const bool *looked_at; /* by occupied block: whether thin particles are looked for */
    real *largest;         /* density by worker */
} sheet_view;

#define SHEET_KERNELS(TASK)                                     \
    TASK(find_largest) /* density of all */                     \
    TASK(find_moving)  /* blocks that move */                   \
    TASK(find_thin)    /* density near air, thinness, metric */ \
    TASK(find_pairs)   /* a pair_search (insertion.h) */        \
    TASK(find_spacing) /* moved and resampled */
typedef struct sheet_kernels {
    SHEET_KERNELS(TASK_FIELD)
} sheet_kernels;

/* ---- State ----------------------------------------------------------------------------------- */

/* What a checkpoint holds besides particles and ancestry. Counts are of the whole run. */
typedef struct sheet_memory {
    int64_t inserted, removed;
    int64_t through;     /* removals whose mass went on to heirs of a removed parent */
    int64_t aside;       /* whose mass one parent took alone, the other being gone */
    int64_t nearest;     /* both gone: to the nearest particle */
    int64_t kept;        /* nobody near: not removed */
    int64_t forwarded;   /* parents that were merged into another */
    int64_t stopped;     /* steps that reached the limit of insertions */
    double momentum[3];  /* made by insertion and removal, kg m/s */
    int64_t thin, alive; /* particles of the last step: thin, inserted */
    double lightest;     /* smallest mass of the last step, kg */
    double since;        /* seconds since the last correction of spacing */
    int64_t steps;       /* and steps */
} sheet_memory;

typedef struct sheets {
    flip *f;
    const sheet_options *options;   /* NULL: no insertion */
    const spacing_options *spacing; /* NULL: none */
    const sheet_kernels *kernels;
    double size;    /* d0 */
    double stretch; /* k_s: 1 over the covariance inside a lattice */
    double weights; /* sum of W_smooth over a lattice */
    ancestry ancestry;
    sheet_memory memory;
    sheet_view view; /* of a step; arrays in scratch, from the first stage to the last */
    real *sizes, *counts;
    real *held; /* by cell: how many particles are there, a full cell's at most */
    block_cells *near;
    bool *looked_at;
    bool begun;
    bool spaces;  /* in this step */
    bool changed; /* particles were added, removed or moved */
} sheets;

spate_status sheets_create(flip *f);
void sheets_free(flip *f);
void sheets_state(flip *f, state_blocks *out);

/* The stages; nothing happens where the scene asks for neither. */
spate_status flip_thin(void *solver);
spate_status flip_insert(void *solver);
spate_status flip_spacing(void *solver);

/* Ends what `thin` has begun. */
void sheets_end(sheets *s);

/* ---- For others ------------------------------------------------------------------------------ */

/* Whether particle i belongs to a sheet, or was inserted into one: reseeding, merging and the
 * correction of volume leave it alone. */
INLINE bool sheets_owns(const flip *f, int64_t i) {
    const particles *p = &f->sim->particles;
    if (!p->generation) return false;
    return particle_generation(p, i) > 0 || (double)p->thinness[i] >= f->thin_from;
}
/* Particle `from` has become part of `to`: what would return to it goes there. */
void sheets_forward(flip *f, int64_t from, int64_t to);
/* Whether any particle has been a parent; and the same for all that were merged in a step: into[i]
 * is the particle that i has become part of, -1 where it has not. */
bool sheets_has_parents(const flip *f);
spate_status sheets_forward_merged(flip *f, const int64_t *into);
/* Cells of thin and inserted particles count as full. */
void sheets_spare_volume(flip *f);

/* Columns of stats.csv, empty without sheets. */
#define SHEET_COLUMN_NAMES(X)                   \
    X(thin, "", (double)m->thin)                \
    X(inserted, "", (double)m->alive)           \
    X(insertions, "", (double)m->inserted)      \
    X(removals, "", (double)m->removed)         \
    X(forwarded, "", (double)m->forwarded)      \
    X(returned_through, "", (double)m->through) \
    X(returned_aside, "", (double)m->aside)     \
    X(returned_nearest, "", (double)m->nearest) \
    X(not_returned, "", (double)m->kept)        \
    X(lightest, "kg", m->lightest)              \
    X(sheet_momentum, "kg m/s", vec_length(m->momentum))
#define SHEET_COLUMN_FUNCTION(name, unit, value) double sheets_##name(const spate_simulation *sim);
SHEET_COLUMN_NAMES(SHEET_COLUMN_FUNCTION)
#define SHEET_COLUMN(name, unit, value) {#name, unit, sheets_##name},
#define SHEET_COLUMNS                   SHEET_COLUMN_NAMES(SHEET_COLUMN)

#endif
