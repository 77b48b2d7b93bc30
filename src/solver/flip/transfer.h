/*
 * A particle and the faces its kernel reaches; transfer_reference.c says what is meant. SUPPORT is
 * the number of faces along an axis: 2 for the linear kernel, 3 for the quadratic one.
 *
 * Along its own axis a component's faces are at whole cells, along the others in the middle of
 * cells; so each axis has two sets of weights. `slope` is w D^-1 (x_f - x_p), which spreads an
 * affine moment: -1 and 1 for the linear kernel, 4 w (x_f - x_p) for the quadratic one; `arm` is w
 * (x_f - x_p), which gathers it.
 *
 * A tile is what a block's particles reach: faces -2 to 5 of the block along each axis, three
 * components, two numbers each: momentum and mass when scattering, velocity and its change when
 * gathering.
 */
#ifndef SPATE_SOLVER_FLIP_TRANSFER_H
#define SPATE_SOLVER_FLIP_TRANSFER_H

#include "solver/flip/flip.h"

enum { TILE_BEFORE = 2, PAIR = 2 }; /* faces before the block; numbers of a face */

INLINE int component_reals(int dim) { return tile_nodes(dim) * PAIR; }
INLINE int tile_index(int i, int j, int k, int dim) {
    return dim == 3 ? (i * TILE_EDGE + j) * TILE_EDGE + k : i * TILE_EDGE + k;
}

typedef struct axis_weights {
    wide_int base; /* first face, in the tile */
    wide w[SUPPORT], slope[SUPPORT], arm[SUPPORT];
} axis_weights;

enum { ON_FACES, IN_MIDDLES };
typedef struct kernel_weights {
    axis_weights axis[3][2];
} kernel_weights;

/* The weights along one axis, with slopes and arms if wanted; x in cells from the block, faces at
 * whole numbers. */
INLINE void fill_axis(axis_weights *a, wide x, bool affine) {
    const wide one = wide_splat(1), half = wide_splat((real)0.5);
    if (SUPPORT == 2) {
        wide first = wide_floor(x), f = x - first, g = one - f;
        a->base = wide_to_int(first) + wide_splat_int(TILE_BEFORE);
        a->w[0] = g, a->w[1] = f;
        if (!affine) return;
        a->arm[1] = f * g, a->arm[0] = wide_splat(0) - a->arm[1];
        a->slope[0] = wide_splat(-1), a->slope[1] = one;
    } else {
        wide first = wide_floor(x + half) - one, d = x - first - one; /* -1/2 to 1/2 */
        wide l = half - d, r = half + d;
        a->base = wide_to_int(first) + wide_splat_int(TILE_BEFORE);
        a->w[0] = half * l * l, a->w[1] = wide_splat((real)0.75) - d * d;
        a->w[SUPPORT - 1] = half * r * r;
        for (int n = 0; n < SUPPORT && affine; n++) {
            a->arm[n] = a->w[n] * (wide_splat((real)(n - 1)) - d);
            a->slope[n] = wide_splat(4) * a->arm[n];
        }
    }
}

INLINE void fill_weights(kernel_weights *s, const wide x[3], bool affine, int dim) {
    for (int a = 0; a < dim; a++) {
        fill_axis(&s->axis[a][ON_FACES], x[a], affine);
        fill_axis(&s->axis[a][IN_MIDDLES], x[a] - wide_splat((real)0.5), affine);
    }
}

/* A row of faces along the last axis, two numbers each: two faces fill a quad, three a wide. */
#if SUPPORT == 2
typedef quad row;
#define row_load  quad_load
#define row_store quad_store
#define row_fma   quad_fma
#define row_splat quad_splat
INLINE row row_pairs(const wide w[SUPPORT], int lane) {
    return (row){w[0][lane], w[0][lane], w[1][lane], w[1][lane]};
}
INLINE row row_both(real a, real b) { return (row){a, b, a, b}; }
#else
typedef wide row;
#define row_load  wide_load
#define row_store wide_store
#define row_fma   wide_fma
#define row_splat wide_splat
INLINE row row_pairs(const wide w[SUPPORT], int lane) {
    return (row){w[0][lane], w[0][lane], w[1][lane], w[1][lane], w[2][lane], w[2][lane], 0, 0};
}
INLINE row row_both(real a, real b) { return (row){a, b, a, b, a, b, a, b}; }
#endif

/* ---- Where a tile's faces are on the grid ---------------------------------------------------- */

/* One axis of a tile: the brick (0, 1 or 2 along its neighbours' codes) and the cell in it where
 * each face is kept, mirrored at closed sides, and the sign that a velocity there turns by. */
typedef struct axis_map {
    int8_t code[TILE_EDGE], cell[TILE_EDGE];
    bool straight; /* no face is mirrored: they are the end of a row and the begin of the next */
    bool middle_straight; /* so with those of the block's own cells, which are in one brick */
    real sign[TILE_EDGE];
} axis_map;
typedef struct tile_map {
    const int32_t *neighbours; /* of the brick */
    axis_map axis[3][2];
} tile_map;

INLINE void map_axis(axis_map *m, const domain *d, int axis, int block, int alignment) {
    const int corner = block * BLOCK_EDGE & ~(BRICK_EDGE - 1);
    m->straight = m->middle_straight = true;
    for (int t = 0; t < TILE_EDGE; t++) {
        const int face = block * BLOCK_EDGE + t - TILE_BEFORE;
        const int kept = flip_mirror(d, axis, face, alignment == IN_MIDDLES, &m->sign[t]);
        m->straight &= kept == face;
        if (t >= TILE_BEFORE && t < TILE_BEFORE + BLOCK_EDGE) m->middle_straight &= kept == face;
        const int in = kept - corner + BRICK_EDGE; /* from the corner of the brick before */
        m->code[t] = (int8_t)(in / BRICK_EDGE), m->cell[t] = (int8_t)(in % BRICK_EDGE);
    }
}

INLINE void map_tile(tile_map *m, const flip_view *view, const int32_t block[3], int dim) {
    int corner[3];
    m->neighbours = view->brick_neighbours[flip_brick_of_block(view->f, block, corner)];
    for (int a = 0; a < dim; a++)
        for (int alignment = 0; alignment < 2; alignment++)
            map_axis(&m->axis[a][alignment], view->domain, a, block[a], alignment);
}

/* A row of a tile along the last axis: where its cells begin on the grid, by the code of that
 * axis. */
INLINE void map_row(const tile_map *m, const axis_map *x, const axis_map *y, int i, int j,
                    int64_t rows[3], int dim) {
    const int code[3] = {x->code[i], dim == 3 ? y->code[j] : 0, 0};
    const int cell[3] = {x->cell[i], dim == 3 ? y->cell[j] : 0, 0};
    const int32_t *home = m->neighbours + box_index(3, code, dim);
    for (int c = 0; c < 3; c++)
        rows[c] = (int64_t)home[c] * mac_cells(dim) + box_index(BRICK_EDGE, cell, dim);
}

#endif
