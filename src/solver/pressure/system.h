/*
 * What the pressure solver keeps: the levels of the multigrid, the finest of which is the system
 * itself, and the vectors of the conjugate gradients. Inside the folder only.
 */
#ifndef SPATE_SOLVER_SYSTEM_H
#define SPATE_SOLVER_SYSTEM_H

#include "core/kernel_table.h"
#include "solver/pressure/checker.h"
#include "solver/pressure/pressure.h"

enum { RED, BLACK };

/* Classes of stencils: bricks without unknowns share one, so do those in the midst of the liquid,
 * all of whose cells are unknowns with open faces; the others have their own. The same for
 * transfers to the next level: uniform where a brick and those at its sides have uniform
 * stencils. */
enum { STENCIL_EMPTY, STENCIL_UNIFORM, STENCIL_OWN };
enum { TRANSFER_UNIFORM, TRANSFER_OWN };
enum { DOUBLINGS_MAX = 3 };          /* levels that hold an odd period twice (system.c) */
enum { LEVELS_MAX = 20, CHUNK = 8 }; /* bricks of a chunk */

/* Reals of a brick or a class. A stencil holds for each wide its weights by slot, the inverse of
 * the diagonal and the surface's part of it; a transfer for each black wide the share of its own
 * coarse cell and those of the nearest ones in directions 0, 1 and 2; sums are what a brick
 * restricts to the coarse cells in it and, by side, to those next to it. */
INLINE int stencil_wides(int dim) { return 2 * dim + 2; }
INLINE int transfer_wides(int dim) { return dim + 1; }
INLINE int stencil_reals(int dim) { return checker_cells(dim) * stencil_wides(dim); }
INLINE int transfer_reals(int dim) { return checker_half(dim) * transfer_wides(dim); }
INLINE int sums_side(int dim) { return dim == 2 ? 4 : 16; }
INLINE int sums_own(int dim) { return dim == 2 ? 16 : 64; }
INLINE int sums_reals(int dim) { return sums_own(dim) + 2 * dim * sums_side(dim); }

/* Where the octant of a child begins among the rows of a coarse brick. Bit d is its half in
 * direction d, so that octants are the places of a box of edge 2 (sparse_lattice.h). */
INLINE int octant_at(int octant) {
    int at = 0;
    for (int d = 0; d < 3; d++) at += (octant >> d & 1) * (BRICK_EDGE / 2) * direction_stride(d);
    return at;
}

/* The axis of the grid that a direction is; and the code of the neighbour at side 2 d (low) or 2 d
 * + 1 (high) of direction d. */
INLINE int grid_axis(int direction, int dim) { return dim - 1 - direction; }
INLINE int side_code(int side, int dim) {
    return neighbour_beside(grid_axis(side / 2, dim), side & 1 ? 1 : -1, dim);
}

/*
 * A level of the multigrid. Brick `count` is the empty one that stands for all that do not exist.
 * Fields by stencil class are in rows as in the grid, all others in the order of checker.h.
 */
typedef struct level {
    spate_context *ctx;
    int dim;
    real scale;            /* weight of an open face */
    bool doubled[3];       /* holds the finer level twice along an axis of the grid (system.c) */
    sparse_lattice bricks; /* where they are; of coarse levels */
    int32_t count, stencil_classes, transfer_classes;
    int32_t (*near)[CHECKER_SLOTS];          /* bricks at the sides: 2 d, 2 d + 1 for direction d */
    int32_t (*children)[8];                  /* of the finer level, by octant */
    uint8_t *originals;                      /* which of the children are no copies, a bit each */
    int32_t *stencil_class, *transfer_class; /* of a brick */
    int32_t *owner;                          /* brick of a stencil class */
    int64_t unknowns;
    /* by stencil class */
    real *face[3]; /* weight between a cell and the one before it, by direction */
    real *surface; /* weight between a cell and the liquid's surface */
    real *inverse; /* of the diagonal; 0 where the cell is no unknown */
    real *stencil;
    uint32_t (*uniform_wides)[2]; /* by colour: which wides have open faces only; a bit each */
    /* by transfer class */
    real *transfer;
    /* by brick */
    real *b, *z; /* right-hand side, and what the cycle makes of it */
    real *sums;  /* restricted to the next level */
    real *rows;  /* z in rows: what the finer level takes from it */
    int64_t brick_capacity, stencil_capacity, transfer_capacity;
} level;

/* Where a brick's half of a colour begins in fields by brick. */
INLINE int64_t half_at(const level *l, int64_t brick, int colour, int dim) {
    return (colour * l->brick_capacity + brick) * checker_half(dim);
}

INLINE bool is_uniform_wide(uint32_t uniform, int i, int q) {
    return uniform >> (i * PAIRS + q) & 1;
}

/* What a pass over bricks is given. */
typedef struct pass_data {
    pressure *p;
    mac *m;
    level *fine, *coarse;
    int colour;
    bool second_order;
    double alpha, unit; /* step along p; factor from residuals to b */
    bool from_nothing;  /* x is 0 */
    real beta;
    const double *given; /* right-hand side in the grid's order, or NULL for the divergence */
} pass_data;

/* The passes, compiled for each instruction set; [dim - 2]. */
#define PRESSURE_PASSES(TASK, SUM)                                                             \
    TASK(find_liquid)        /* bricks of the grid: whether there is any */                    \
    TASK(classify)           /* active bricks: uniform or not */                               \
    TASK(right_side)         /* active: right-hand side */                                     \
    TASK(face_rows)          /* stencils of level 0 from the grid */                           \
    SUM(pack_stencils)       /* stencils from rows; counts unknowns */                         \
    TASK(coarsen)            /* coarse stencils: rows and transfers from the finer level */    \
    TASK(drop_isolated)      /* coarse stencils: cells that nobody takes anything from */      \
    TASK(relax)              /* half a sweep */                                                \
    SUM(relax_dot)           /* the same, the last of a cycle: b z */                          \
    TASK(restrict_residual)  /* residual of the black cells to sums */                         \
    TASK(collect_restricted) /* sums to the right-hand side of the next level */               \
    TASK(unpack)             /* z to rows */                                                   \
    TASK(prolong)            /* correction of the black cells */                               \
    TASK(update_direction)   /* p = z + beta p */                                              \
    SUM(energy)              /* p A p */                                                       \
    SUM(update_solution)     /* x += alpha p, b -= A p alpha unit, half a sweep; residual^2 */ \
    SUM(restart_residual)    /* b = (rhs - A x) unit, half a sweep; residual^2 */              \
    SUM(right_side_square)   /* rhs rhs */                                                     \
    TASK(store_pressure)     /* x to the grid's pressure */                                    \
    TASK(correct)            /* the grid's velocity */                                         \
    TASK(largest_divergence) /* active: of a brick */

typedef struct pressure_passes {
    PRESSURE_PASSES(TASK_FIELD, SUM_FIELD)
} pressure_passes;

/* Connected regions of unknowns: sets of nodes, one for each uniform brick and one for each cell of
 * the others (pockets.c). */
typedef struct pockets {
    int32_t *first;        /* node of a brick */
    int32_t *parent;       /* of a node */
    int32_t *root;         /* of a node, when all are joined */
    int32_t *label;        /* of a root: the number of its pocket, or -1 */
    double *sum;           /* by pocket; then its mean */
    int64_t *cells;        /* by pocket */
    double *brick_sum;     /* by brick, of those in one pocket */
    int32_t *brick_pocket; /* by brick: its pocket, or that it has none or several */
    int32_t count;
    int64_t first_capacity, parent_capacity, root_capacity, label_capacity, sum_capacity,
        cells_capacity, brick_sum_capacity, brick_pocket_capacity;
} pockets;

struct pressure {
    spate_context *ctx;
    int dim, period[3]; /* of the grid they were made for */
    const pressure_passes *passes;
    level levels[LEVELS_MAX];
    int level_count, levels_most;
    int32_t *number;      /* of a brick of the grid: its number here, or -1 */
    int32_t *active;      /* of a brick here: its number in the grid */
    int32_t (*coords)[3]; /* of a brick here */
    real *largest;        /* by brick: divergence that is left */
    real *ones, *zeros;   /* what is read of bricks that the grid does not have */
    double *x, *rhs;      /* in bricks of level 0 */
    real *p;
    int64_t grid_capacity, vector_capacity;
    pockets pockets;
    void *mic; /* what mic.c keeps */
};

/* system.c: level 0 with its right-hand side, and the levels above it. */
spate_status system_assemble(pressure *p, mac *m, const pressure_options *options,
                             const double *given);
spate_status system_coarsen(pressure *p);
void system_free(pressure *p);
size_t system_bytes(const pressure *p);

/* pockets.c */
spate_status pockets_find(pressure *p);
/* Takes the mean over each pocket off v; returns the largest. */
double pockets_remove_means(pressure *p, double *v);
void pockets_free(pressure *p);
size_t pockets_bytes(const pressure *p);

/* multigrid.c and mic.c: solve A x = rhs; x, iterations and residual are theirs. */
spate_status multigrid_solve(pressure *p, const pressure_options *o, pressure_report *report);
spate_status mic_solve(pressure *p, const pressure_options *o, pressure_report *report);
void mic_free(pressure *p);
size_t mic_bytes(const pressure *p);

/* Runs a pass over `count` things. */
INLINE void pass(pressure *p, chunk_task const task[2], int64_t count, const pass_data *data) {
    parallel_for(p->ctx->pool, count, CHUNK, task[p->dim - 2], (void *)data);
}
INLINE double pass_sum(pressure *p, sum_task const task[2], int64_t count, const pass_data *data) {
    double sum = 0;
    parallel_sum(p->ctx, count, CHUNK, task[p->dim - 2], (void *)data, 1, &sum);
    return sum;
}

#endif
