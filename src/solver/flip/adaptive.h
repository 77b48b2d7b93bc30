/*
 * Fewer, larger particles deep in the liquid, after Ando, Thuerey and Tsuruno 2012, eq. 16 and 17
 * and algorithm 3 (`adaptive` of solver flip). Lengths are in cells.
 *
 *   depth   of a cell: 0 in air, k where the nearest air is k cells away along some axis, up to `deep`.
 *           Cells behind closed sides are not air
 *   merge   in cells of that depth: of the particles of a block each finds the nearest, by distance and
 *           then id, that it may be merged with: nearer than `reach` means of their sizes d = share^(1/dim),
 *           together not more than `largest` of the start's, nor more than a full cell. Two that found
 *           each other become one; and again, until there are none
 *   split   a particle that has come to a depth of deep - 2 or less is parted into as many as it was
 *           made of; between the two is a layer where neither happens
 *
 * What differs from the text: a merged particle is put where the centre of mass is and has the mean
 * velocity by mass, so that mass, momentum and centre of mass are kept; the parts of a split one
 * lie on a lattice about it, turned at random (`split: random` scatters them), in pairs on opposite
 * sides, so that angular momentum is kept as well; only particles of the same block are merged, so
 * that blocks need not know of each other and particles need no new sort.
 *
 * A step merges after the surface is known and before the projection: a merged particle gathers
 * what the grid's velocity changes by as others do. Those to be split are marked after they have
 * moved, and split before the next sort, so the mark is in checkpoints and frames have whole
 * particles only.
 *
 * A particle of a cell's volume does not scatter it as a point: the linear kernel is spread over a
 * box of the particle's size (scatter.h), which for a whole cell is the quadratic B-spline. As
 * points they would fill cells unevenly, and the volume's correction would stir them.
 */
#ifndef SPATE_SOLVER_FLIP_ADAPTIVE_H
#define SPATE_SOLVER_FLIP_ADAPTIVE_H

#include "solver/flip/flip.h"

/* The field `role`: how many of the start's it stands for, and whether it will be split. */
enum { PIECES_COUNT = 127, PIECES_SPLIT = 128, PIECES_MOST = 8 };

static inline int pieces_of(const particles *p, int64_t i) {
    if (!p->role) return 1;
    const int count = p->role[i] & PIECES_COUNT;
    return count > 1 ? count : 1;
}

extern const field_table adaptive_table;
/* Defaults of the dimension, and whether the options make sense together. */
bool adaptive_check(const flip_options *o, int dim, field_report *report);

spate_status adaptive_create(flip *f);
void adaptive_free(flip *f);

/* Stages, which do nothing without `adaptive`. */
spate_status flip_split(void *solver);
spate_status flip_merge(void *solver);
/* After the particles of a block have moved; only with `adaptive`. */
void flip_mark_splits(const flip *f, int32_t block);
/* Faces between liquid cells that no particle reaches take the mean of those around. */
void flip_fill_faces(flip *f);

/* Place k of n about a particle of `share` of a full cell's mass, not turned; the middle of all is
 * 0. Also for surfaces of such particles. */
void pieces_place(int dim, int n, int k, double share, double offset[3]);

/* ---- Of adaptive.c, for merge_kernels.c -------------------------------------------------------- */

#define MERGE_KERNELS(TASK) TASK(merge) /* particles of occupied blocks */
typedef struct merge_kernels {
    MERGE_KERNELS(TASK_FIELD)
} merge_kernels;

/* Of a row of eight cells along the last axis the sets of cells are a byte, bit k for cell k. */
typedef struct adaptive {
    const merge_kernels *kernels;
    uint8_t *air;     /* by row: where there is air */
    uint8_t *near;    /* by row: nearer to air than `deep`, nothing is merged there */
    uint8_t *close;   /* by row: nearer to air than deep - 1, what was merged is split there */
    uint8_t *has_air; /* by brick */
    uint8_t *is_deep; /* by brick: no air in it nor around, all its cells are deep */
    int64_t capacity;
    int64_t merged[MAX_THREADS]; /* in the step, by worker */
    int64_t *into; /* with sheets, during the stage: by particle, who has taken it in; -1: nobody */
} adaptive;

/* Whether the cell at `at` from a brick's corner, which may be in a neighbour, is one of `rows`, as
 * cells without a brick are. */
static inline bool is_in_rows(const mac *m, const uint8_t *rows, int64_t brick, const int at[3]) {
    const int64_t cell = mac_cell(m, brick, at);
    return cell < 0 || rows[cell / BRICK_EDGE] >> cell % BRICK_EDGE & 1;
}

#endif
