/*
 * How an array of the domain lies in memory: rows along the last axis, the first axis slowest, a
 * border of one ghost cell around.
 *
 * Indices run from -1 to n along an axis of n cells. What belongs to the middles of cells uses 0 to
 * n - 1, the rest are ghosts; what belongs to the faces across an axis uses 0 to n along it, as the
 * face below cell n is the domain's last. A row begins eight reals before its cell 0, so that cells
 * are aligned, and has room for a whole number of eights from cell 0 to beyond n: passes over rows
 * go by eights and may write what lies beyond, which nobody reads.
 */
#ifndef SPATE_SOLVER_SMOKE_LAYOUT_H
#define SPATE_SOLVER_SMOKE_LAYOUT_H

#include "core/real.h"
#include "core/simd.h"
#include <stdint.h>

/* Where values lie in their cell: across axis 0, 1, 2, or in the middle. */
enum { PLACE_MIDDLE = 3 };

typedef struct layout {
    int dim;
    int n[3];          /* cells; 1 along z in 2D */
    bool periodic[4];  /* axes, and no more */
    bool open[3][2];   /* sides */
    int64_t stride[3]; /* 0 along z in 2D */
    int64_t first;     /* of cell (0, 0, 0) */
    int64_t reals;     /* in all */
} layout;

INLINE int64_t layout_at(const layout *l, int i, int j, int k) {
    return l->first + i * l->stride[0] + j * l->stride[1] + k * l->stride[2];
}

/* How many values a place has along an axis: a face more than cells across it, but where the last
 * is the first again. */
INLINE int layout_extent(const layout *l, int place, int axis) {
    return l->n[axis] + (place == axis && !l->periodic[axis]);
}

/* Rows of a place: all but the last axis. */
INLINE int64_t layout_rows(const layout *l, int place) {
    int64_t rows = layout_extent(l, place, 0);
    if (l->dim == 3) rows *= layout_extent(l, place, 1);
    return rows;
}

/* Where row r of a place is: its first two indices (the second is 0 in 2D) and its begin. */
typedef struct layout_row {
    int i, j;
    int length;    /* values */
    int64_t begin; /* index of the first */
} layout_row;

INLINE layout_row layout_row_at(const layout *l, int place, int64_t r, int dim) {
    layout_row row = {.length = layout_extent(l, place, dim - 1)};
    if (dim == 3) {
        const int across = layout_extent(l, place, 1);
        row.i = (int)(r / across), row.j = (int)(r % across);
        row.begin = l->first + row.i * l->stride[0] + row.j * l->stride[1];
    } else {
        row.i = (int)r;
        row.begin = l->first + row.i * l->stride[0];
    }
    return row;
}

#endif
