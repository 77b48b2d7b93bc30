/*
 * What the files of the viscosity share: the equations on one level of the multigrid
 * preconditioner.
 *
 * On each level the unknowns are the velocities at free faces, and the matrix is
 *     A u = V u + s K u,        u . K u = sum_cells 2 W_a (d_a u_a)^2 + sum_edges W_ab (d_b u_a + d_a u_b)^2
 * with differences d between neighbouring faces: V is a face's inertia, W the liquid's share of a
 * cell (for each axis its own, since one side of it may be missing) or of the surroundings of an
 * edge. The edge of axes a and b of a cell is the one at its low faces; in 2D it is a corner, and
 * there is one.
 */
#ifndef SPATE_SOLVER_FLIP_VISCOSITY_H
#define SPATE_SOLVER_FLIP_VISCOSITY_H

#include "solver/flip/flip.h"

enum { VISCOUS_LEVELS = 12, VISCOUS_GRAIN = 4 };

/* Kinds of faces (viscosity.c); of a cell's faces, KIND_BITS an axis. */
enum { NONE, FREE, FIXED, SLIP };
enum { KIND_BITS = 2, KIND_MASK = 3 };
static inline int viscous_kind(const uint8_t *kinds, int64_t cell, int axis) {
    return kinds[cell] >> KIND_BITS * axis & KIND_MASK;
}

typedef struct viscous_level {
    int dim;
    int32_t bricks;
    const int32_t (*coords)[3];
    const int32_t (*neighbours)[NEIGHBOURS_MAX]; /* as in sparse_lattice.h */
    int32_t *parents;                            /* bricks of the next coarser level */
    int32_t (*children)[8];                      /* of the next finer one; -1: none */
    int32_t *active;                             /* bricks with a free face */
    int64_t active_count;
    double scale; /* s: viscosity dt / (density dx^2) */
    /* By face: shares of a full cell's mass, 0 where it is not free; that and what ties it to walls
     * (coarse levels, which know no walls); the sum of |A| over the face's row, inverted. */
    real *mass[3], *inertia[3], *relax[3];
    real *normal[3]; /* W of cells by axis */
    real *shear[3];  /* W of edges by their direction, [0] in 2D */
    real *share[3];  /* 1 / the sum of the weights that a face is interpolated with */
    real *tie[3];    /* K's pull towards walls; it lives where b does, until that is needed */
    real *x[3], *b[3], *d[3]; /* solution, right-hand side, last change or residual */
} viscous_level;

/* The cell at `at` from the corner of a brick or in a neighbour of it: its index, or -1. */
static inline int64_t viscous_cell(const viscous_level *level, int64_t brick, const int at[3]) {
    const int32_t home = level->neighbours[brick][neighbour_code(BRICK_EDGE, at, level->dim)];
    if (home < 0) return -1;
    return (int64_t)home * mac_cells(level->dim) + neighbour_index(BRICK_EDGE, at, level->dim);
}

/* The direction of the edge between faces of axes a and b. */
static inline int viscous_edge(int dim, int a, int b) { return dim == 3 ? 3 - a - b : 0; }

/* out = A x on one level; the sum is x . A x. */
typedef struct viscous_product {
    const viscous_level *level;
    real *const *x;
    double *const *out;
} viscous_product;

/* d = keep d + step relax (b - A x), or share (b - A x): the residual for the next level. */
typedef struct viscous_relaxation {
    const viscous_level *level;
    double keep, step;
    bool residual;
} viscous_relaxation;

/* [dim - 2], over active bricks. */
#define VISCOUS_KERNELS(TASK, SUM)      \
    SUM(multiply) /* viscous_product */ \
    TASK(relax)   /* viscous_relaxation */
typedef struct viscous_kernels {
    VISCOUS_KERNELS(TASK_FIELD, SUM_FIELD)
} viscous_kernels;

/* One piece of memory that everything is cut out of; without it, cutting only counts. */
typedef struct viscous_memory {
    char *start;
    size_t used;
} viscous_memory;

void *viscous_cut(viscous_memory *m, size_t count, size_t size);

/* Bytes for all levels below the finest, and their number. */
int viscous_levels(const flip *f, double scale, size_t *bytes);
void viscous_carve(viscous_level *level, viscous_memory *m, bool finest);
/* Fills the coarse levels from the finest one. */
void viscous_coarsen(const flip *f, viscous_level *levels, int count, viscous_memory *memory);
/* levels[0].x becomes roughly A^-1 levels[0].b: a symmetric V-cycle. */
void viscous_cycle(pool *threads, const viscous_kernels *kernels, viscous_level *levels, int count);

/* Sets relax from the weights, and lists the active bricks. */
void viscous_finish(pool *threads, viscous_level *level);

#endif
