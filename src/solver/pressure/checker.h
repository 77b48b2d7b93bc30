/*
 * The order in which the solver keeps a brick: by the colours of a chequerboard, so that a half
 * sweep of red-black Gauss-Seidel reads and writes whole `wide`s and touches only what it needs.
 *
 * Directions are counted from the rows, the other way round than axes (sparse_lattice.h), so that
 * those of 2D are those of 3D: 0 along a row (the last direction of the grid), 1 across the rows, 2
 * across the planes of rows (3D only). Cell (i, j, k) - plane, row, place in the row - is red
 * (colour 0) where i + j + k is even. Two rows j = 2q and 2q + 1 of one colour make a wide: lanes
 * 0-3 are row 2q, lanes 4-7 row 2q + 1, each in rising k. Its phase says which k these are:
 *
 *     phase 0   lanes 0-3: k = 0 2 4 6   lanes 4-7: k = 1 3 5 7
 *     phase 1   lanes 0-3: k = 1 3 5 7   lanes 4-7: k = 0 2 4 6
 *
 * Of plane i and colour c it is (i + c) % 2. A brick's half of one colour holds its wides by plane,
 * then by pair q; a field holds the red halves of all bricks, then the black ones.
 *
 * All neighbours of a red cell are black and the other way round. In this order five of the six
 * neighbours of a wide are wides, or halves of two of them, as they lie in memory. By slots:
 *
 *     0   along the row, same lane: +k in the half whose k are even, -k in the other
 *     1   along the row, the other way: a lane further
 *     2   across the rows, within the pair: the halves swapped
 *     3   across the rows, out of the pair: row 2q - 1, row 2q + 2
 *     4   plane i - 1
 *     5   plane i + 1
 */
#ifndef SPATE_SOLVER_CHECKER_H
#define SPATE_SOLVER_CHECKER_H

#include "core/simd.h"
#include "state/mac.h"

enum { PAIRS = 4, CHECKER_SLOTS = 6, PLANE_REALS = PAIRS * WIDE };

typedef double quad_double __attribute__((vector_size(4 * sizeof(double))));

INLINE int checker_cells(int dim) { return mac_cells(dim); }
INLINE int checker_half(int dim) { return mac_cells(dim) / 2; }
INLINE int checker_planes(int dim) { return dim == 2 ? 1 : BRICK_EDGE; }

/* In rows, as in the grid: where row j of plane i begins, and the way to the next cell in a
 * direction. */
enum { ROW_LAST = BRICK_EDGE - 1 };
INLINE int row_at(int i, int j) { return (i * BRICK_EDGE + j) * BRICK_EDGE; }
INLINE int direction_stride(int direction) {
    return direction == 0 ? 1 : direction == 1 ? BRICK_EDGE : BRICK_EDGE * BRICK_EDGE;
}

/* Colour of cell c of a brick in rows, and where it is in the half of that colour. In 2D there is
 * one plane. */
INLINE int checker_colour_of(int c) {
    int at[3];
    box_place(BRICK_EDGE, c, 3, at);
    return (at[0] + at[1] + at[2]) & 1;
}
INLINE int checker_place_of(int c) {
    int at[3];
    box_place(BRICK_EDGE, c, 3, at);
    return at[0] * PLANE_REALS + at[1] / 2 * WIDE + at[1] % 2 * (BRICK_EDGE / 2) + at[2] / 2;
}

/* Two rows to the wide of one colour, and the wides of both phases to rows. */
#define PACK(row, next, phase)                                               \
    ((phase) ? __builtin_shufflevector(row, next, 1, 3, 5, 7, 8, 10, 12, 14) \
             : __builtin_shufflevector(row, next, 0, 2, 4, 6, 9, 11, 13, 15))
#define UNPACK_FIRST(even, odd)  __builtin_shufflevector(even, odd, 0, 8, 1, 9, 2, 10, 3, 11)
#define UNPACK_SECOND(even, odd) __builtin_shufflevector(odd, even, 4, 12, 5, 13, 6, 14, 7, 15)

/* The rows one cell before and after a row; what comes in at its end is `beyond`'s. */
#define ROW_BEFORE(row, beyond) __builtin_shufflevector(beyond, row, 7, 8, 9, 10, 11, 12, 13, 14)
#define ROW_AFTER(row, beyond)  __builtin_shufflevector(row, beyond, 1, 2, 3, 4, 5, 6, 7, 8)

/* ---- Doubles: half a wide at a time, which is a vector of every machine
 * --------------------------- */

INLINE quad_double to_double(quad v) { return __builtin_convertvector(v, quad_double); }
INLINE quad to_real(quad_double v) { return __builtin_convertvector(v, quad); }
INLINE quad wide_half(wide v, int high) { return high ? wide_high(v) : wide_low(v); }
INLINE quad_double double_load(const double *p) {
    quad_double v;
    memcpy(&v, p, sizeof v);
    return v;
}
INLINE void double_store(double *p, quad_double v) { memcpy(p, &v, sizeof v); }
INLINE quad_double double_splat(double s) { return (quad_double){s, s, s, s}; }
INLINE double double_sum(quad_double v) { return (v[0] + v[2]) + (v[1] + v[3]); }

/* PACK and UNPACK by halves of rows: the even or odd cells of a row, and a half row of both. */
#define PACK_HALF(low, high, odd)                           \
    ((odd) ? __builtin_shufflevector(low, high, 1, 3, 5, 7) \
           : __builtin_shufflevector(low, high, 0, 2, 4, 6))
#define UNPACK_LOW(even, odd)  __builtin_shufflevector(even, odd, 0, 4, 1, 5)
#define UNPACK_HIGH(even, odd) __builtin_shufflevector(even, odd, 2, 6, 3, 7)

/* ---- Neighbours ------------------------------------------------------------------------------ */

/* Halves of one colour, of a brick and those around it (2 direction, low side; 2 direction + 1,
 * high side). */
typedef struct around {
    const real *own, *near[CHECKER_SLOTS];
} around;
typedef struct around_double {
    const double *own, *near[CHECKER_SLOTS];
} around_double;

/* Slot 1: `before` and `after` are the same wide of the bricks at both ends of the row. */
INLINE wide shift_lane(wide v, const real *before, const real *after, int phase) {
    if (phase) {
        wide s = __builtin_shufflevector(v, v, 1, 2, 3, 3, 4, 4, 5, 6);
        s = __builtin_shufflevector(s, wide_splat(after[0]), 0, 1, 2, 11, 4, 5, 6, 7);
        return __builtin_shufflevector(s, wide_splat(before[7]), 0, 1, 2, 3, 12, 5, 6, 7);
    }
    wide s = __builtin_shufflevector(v, v, 0, 0, 1, 2, 5, 6, 7, 7);
    s = __builtin_shufflevector(s, wide_splat(before[3]), 8, 1, 2, 3, 4, 5, 6, 7);
    return __builtin_shufflevector(s, wide_splat(after[4]), 0, 1, 2, 3, 4, 5, 6, 15);
}

/* The neighbours of the wide of pair q in plane i, by slot. */
INLINE void fetch(const around *v, int i, int q, int phase, wide n[CHECKER_SLOTS], int dim) {
    const int at = i * PLANE_REALS + q * WIDE, last = PLANE_REALS - WIDE;
    n[0] = wide_load(v->own + at);
    n[1] = shift_lane(n[0], v->near[0] + at, v->near[1] + at, phase);
    n[2] = __builtin_shufflevector(n[0], n[0], 4, 5, 6, 7, 0, 1, 2, 3);
    n[3] = wide_join(quad_load((q > 0 ? v->own + at - WIDE : v->near[2] + at + last) + 4),
                     quad_load(q < PAIRS - 1 ? v->own + at + WIDE : v->near[3] + at - last));
    if (dim == 2) return;
    n[4] = wide_load(i > 0 ? v->own + at - PLANE_REALS : v->near[4] + at + ROW_LAST * PLANE_REALS);
    n[5] = wide_load(i < ROW_LAST ? v->own + at + PLANE_REALS
                                  : v->near[5] + at - ROW_LAST * PLANE_REALS);
}

/* The same in double, for the low or the high half of the wide. */
INLINE void fetch_double(const around_double *v, int i, int q, int phase, int high,
                         quad_double n[CHECKER_SLOTS], int dim) {
    const int row = i * PLANE_REALS + q * WIDE, last = PLANE_REALS - WIDE, at = row + 4 * high;
    n[0] = double_load(v->own + at);
    if (phase == high) {
        const double in = v->near[0][at + 3];
        n[1] = __builtin_shufflevector(double_splat(in), n[0], 0, 4, 5, 6);
    } else {
        const double in = v->near[1][at];
        n[1] = __builtin_shufflevector(n[0], double_splat(in), 1, 2, 3, 4);
    }
    n[2] = double_load(v->own + row + 4 * !high);
    if (high)
        n[3] = double_load(q < PAIRS - 1 ? v->own + row + WIDE : v->near[3] + row - last);
    else
        n[3] = double_load((q > 0 ? v->own + row - WIDE : v->near[2] + row + last) + 4);
    if (dim == 2) return;
    n[4] =
        double_load(i > 0 ? v->own + at - PLANE_REALS : v->near[4] + at + ROW_LAST * PLANE_REALS);
    n[5] = double_load(i < ROW_LAST ? v->own + at + PLANE_REALS
                                    : v->near[5] + at - ROW_LAST * PLANE_REALS);
}

#endif
