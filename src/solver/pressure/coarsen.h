/*
 * The operator of a coarse level and the transfers to it, from the operator of the finer one.
 *
 * A coarse face gets its weight line by line: along each line of fine cells through it the faces
 * are resistors in series, from the middle of one coarse cell to the middle of the other,
 *
 *     1 / (h_own + 1 / w + h_other),    h = 1 / (2 w_within),
 *
 * where w is on the coarse face and w_within between the two cells of the line in one coarse cell
 * (h = 0 where only one of them is an unknown: the coarse cell's middle is then there). A wall that
 * is thinner than a coarse cell thus stays a wall. By the same resistors a fine cell takes its
 * value from its own coarse cell and the nearest one along each direction: the share of the latter
 * is
 *
 *     t = h_own / (h_own + 1 / w + h_other),
 *
 * 1/4 in the free, where this is linear interpolation. Where the way to a cell's own coarse cell is
 * shut, t is 1. A coarse cell that none of its fine cells takes anything from is no unknown.
 *
 * A cell's link to the surface gets longer by a part of the way to the coarse cell's middle:
 * s / (1 + s / (4 scale)); the 1/4 was found by trial, it gives the fewest iterations.
 */
#ifndef SPATE_SOLVER_COARSEN_H
#define SPATE_SOLVER_COARSEN_H

#include "solver/pressure/system.h"

/* ---- Rows of a level ------------------------------------------------------------------------- */

/* Stencil classes of a brick and those at its sides, by which rows are found. */
typedef struct classes_around {
    int64_t own, near[CHECKER_SLOTS];
} classes_around;

INLINE classes_around classes_of(const level *l, int64_t brick, int dim) {
    classes_around f = {.own = (int64_t)l->stencil_class[brick] * checker_cells(dim)};
    for (int s = 0; s < 2 * dim; s++)
        f.near[s] = (int64_t)l->stencil_class[l->near[brick][s]] * checker_cells(dim);
    return f;
}

/* Row j of plane i, of which one may lie up to a brick outside. */
INLINE wide class_row(const real *field, const classes_around *f, int i, int j, int dim) {
    int64_t at = f->own;
    if (j < 0) at = f->near[2], j += BRICK_EDGE;
    if (j > ROW_LAST) at = f->near[3], j -= BRICK_EDGE;
    if (dim == 3 && i < 0) at = f->near[4], i += BRICK_EDGE;
    if (dim == 3 && i > ROW_LAST) at = f->near[5], i -= BRICK_EDGE;
    return wide_load(field + at + row_at(i, j));
}

/* A row with two cells more at each end. */
typedef struct long_row {
    real v[12];
} long_row;

INLINE long_row class_long_row(const real *field, const classes_around *f, int i, int j) {
    const int at = row_at(i, j);
    long_row r;
    memcpy(r.v, field + f->near[0] + at + 6, 2 * sizeof(real));
    memcpy(r.v + 2, field + f->own + at, 8 * sizeof(real));
    memcpy(r.v + 10, field + f->near[1] + at, 2 * sizeof(real));
    return r;
}
INLINE wide long_at(const long_row *r, int shift) { return wide_load(r->v + 2 + shift); }

/* ---- Lines ----------------------------------------------------------------------------------- */

/* A line from the middle of a cell's own coarse cell to that of the nearest other. */
typedef struct line {
    wide weight; /* of the whole */
    wide share;  /* of the other */
} line;

/* Over the weight of an open face: what counts as shut; how much more that is of a line; and the
 * largest resistance of a line. */
static const real shut = (real)1e-9, shut_line = 1000, longest = (real)1e6;

/* w: of the coarse face; within: of the two faces within coarse cells; there: whether the other
 * fine cell of each is an unknown. */
INLINE line line_of(wide w, wide within, wide there, wide other_within, wide other_there,
                    real scale) {
    const wide none = wide_splat(0), half = wide_splat((real)0.5);
    const wide least = wide_splat(scale * shut), most = wide_splat(longest / scale);
    wide own = wide_select(there > none, half / wide_max(within, least), none);
    wide way = wide_splat(1) / wide_max(w, least) +
               wide_select(other_there > none, half / wide_max(other_within, least), none);
    wide weight = wide_splat(1) / (own + way);
    wide_int open = w > none;
    return (line){.weight =
                      wide_select(open & (weight > least * wide_splat(shut_line)), weight, none),
                  .share = wide_select(open & (way < most), own * weight, none)};
}

/* The lines through the cells of row j of plane i, across rows (direction 1) or planes (direction
 * 2). */
INLINE line line_across(const level *l, const classes_around *f, int i, int j, int direction,
                        int dim) {
    const int up = (direction == 1 ? j : i) & 1, di = direction == 2, dj = direction == 1;
    wide face[3]; /* within the own coarse cell, between, within the other */
    for (int n = 0; n < 3; n++) {
        const int offset = up ? n : 1 - n;
        face[n] = class_row(l->face[direction], f, i + di * offset, j + dj * offset, dim);
    }
    const int sibling = up ? -1 : 1, far = up ? 2 : -2;
    wide there = class_row(l->inverse, f, i + di * sibling, j + dj * sibling, dim);
    wide other_there = class_row(l->inverse, f, i + di * far, j + dj * far, dim);
    return line_of(face[1], face[0], there, face[2], other_there, l->scale);
}

/* The same along the row. */
INLINE line line_along(const level *l, const classes_around *f, int i, int j) {
    const wide_int up = {0, -1, 0, -1, 0, -1, 0, -1};
    const long_row face = class_long_row(l->face[0], f, i, j);
    const long_row there = class_long_row(l->inverse, f, i, j);
    wide here = long_at(&face, 0), after = long_at(&face, 1);
    return line_of(wide_select(up, after, here), wide_select(up, here, after),
                   wide_select(up, long_at(&there, -1), long_at(&there, 1)),
                   wide_select(up, long_at(&face, 2), long_at(&face, -1)),
                   wide_select(up, long_at(&there, 2), long_at(&there, -2)), l->scale);
}

/* ---- A fine brick ---------------------------------------------------------------------------- */

/* Shares of a row's cells: of their own coarse cell, then of the nearest along each direction. They
 * stay between 0 and 1: next to a large one the others give way. */
INLINE void limit_shares(wide share[4], wide there, int dim) {
    wide most = wide_max(share[1], share[2]), sum = share[1] + share[2];
    if (dim == 3) most = wide_max(most, share[3]), sum += share[3];
    wide rest = sum - most, room = (wide_splat(1) - most) * wide_splat((real)(dim - 1) / 3);
    wide_int tight = rest > room;
    wide factor =
        wide_select(tight, room / wide_max(rest, wide_splat(REAL_EPSILON)), wide_splat(1));
    wide own = wide_splat(1);
    wide_int kept = wide_splat_int(0); /* the first of the largest */
    for (int a = 1; a <= dim; a++) {
        wide_int keep = (share[a] == most) & ~kept;
        kept |= keep;
        share[a] = wide_select(keep, share[a], share[a] * factor);
        own -= share[a];
    }
    share[0] = own;
    for (int a = 0; a <= dim; a++)
        share[a] = wide_select(there > wide_splat(0), share[a], wide_splat(0));
}

/* The 1/4 of the head. */
static const real surface_lengthening = (real)0.25;

/* What a coarse row of four cells adds up. */
typedef struct coarse_row {
    quad face[3], surface, taken;
} coarse_row;

INLINE quad even_lanes(wide v) { return __builtin_shufflevector(v, v, 0, 2, 4, 6); }
INLINE quad pair_lanes(wide v) {
    return even_lanes(v) + (quad)__builtin_shufflevector(v, v, 1, 3, 5, 7);
}

/* Adds row j of plane i to a coarse row; its shares go to `share`. */
INLINE void add_fine_row(const level *l, const classes_around *f, int i, int j, coarse_row *sum,
                         wide share[4], int dim) {
    line along = line_along(l, f, i, j), across = line_across(l, f, i, j, 1, dim);
    share[1] = along.share, share[2] = across.share;
    sum->face[0] += even_lanes(along.weight);
    if (!(j & 1)) sum->face[1] += pair_lanes(across.weight);
    if (dim == 3) {
        line beyond = line_across(l, f, i, j, 2, dim);
        share[3] = beyond.share;
        if (!(i & 1)) sum->face[2] += pair_lanes(beyond.weight);
    }
    const int64_t at = f->own + row_at(i, j);
    limit_shares(share, wide_load(l->inverse + at), dim);
    wide s = wide_load(l->surface + at);
    s = s / (wide_splat(1) + s * wide_splat(surface_lengthening / l->scale));
    sum->surface += pair_lanes(s);
    sum->taken += pair_lanes(share[0]);
}

INLINE void store_coarse_row(const level *c, int64_t at, const coarse_row *sum, int dim) {
    for (int a = 0; a < dim; a++) quad_store(c->face[a] + at, sum->face[a]);
    quad_store(c->surface + at, sum->surface);
    quad_store(c->inverse + at, sum->taken);
}

/* `original`: whether this is the copy that leaves the brick's transfers. */
INLINE void coarsen_brick(const level *l, int64_t brick, const level *c, int64_t to, bool original,
                          int dim) {
    const classes_around f = classes_of(l, brick, dim);
    real *transfer = l->transfer + l->transfer_class[brick] * (int64_t)transfer_reals(dim);
    for (int plane = 0; plane < (dim == 2 ? 1 : 4); plane++)
        for (int q = 0; q < PAIRS; q++) {
            coarse_row sum = {0};
            for (int i = plane * 2; i < plane * 2 + (dim == 2 ? 1 : 2); i++) {
                wide first[4], second[4];
                add_fine_row(l, &f, i, 2 * q, &sum, first, dim);
                add_fine_row(l, &f, i, 2 * q + 1, &sum, second, dim);
                real *t = transfer + (i * PLANE_REALS + q * WIDE) * transfer_wides(dim);
                for (int a = 0; a <= dim && original; a++)
                    wide_store(t + a * WIDE,
                               i & 1 ? PACK(first[a], second[a], 0) : PACK(first[a], second[a], 1));
            }
            store_coarse_row(c, to + row_at(plane, q), &sum, dim);
        }
}

/* ---- A coarse brick -------------------------------------------------------------------------- */

/* The rows of an octant whose fine brick is uniform all around, or not there. */
INLINE void fill_octant(const level *c, int64_t to, bool there, int dim) {
    coarse_row row = {0};
    if (there) {
        for (int a = 0; a < dim; a++) row.face[a] = quad_splat(c->scale);
        row.taken = quad_splat(1);
    }
    for (int plane = 0; plane < (dim == 2 ? 1 : 4); plane++)
        for (int q = 0; q < PAIRS; q++) store_coarse_row(c, to + row_at(plane, q), &row, dim);
}

INLINE void coarsen_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->fine, *c = d->coarse;
    for (int64_t class = STENCIL_OWN + items.begin; class < STENCIL_OWN + items.end; class ++)
        for (int o = 0; o < 1 << dim; o++) {
            const int32_t brick = c->children[c->owner[class]][o];
            const int64_t to = class * checker_cells(dim) + octant_at(o);
            if (brick == l->count || l->transfer_class[brick] == TRANSFER_UNIFORM)
                fill_octant(c, to, brick != l->count, dim);
            else
                coarsen_brick(l, brick, c, to, c->originals[c->owner[class]] >> o & 1, dim);
        }
}

static const real least_taken = (real)0.02;

/* Of a coarse level `inverse` holds so far how much fine cells take from a cell. Where that is next
 * to nothing the cell is cut off. */
INLINE void drop_isolated_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->fine;
    const wide least = wide_splat(least_taken), none = wide_splat(0);
    for (int64_t class = STENCIL_OWN + items.begin; class < STENCIL_OWN + items.end; class ++) {
        const classes_around f = classes_of(l, l->owner[class], dim);
        for (int i = 0; i < checker_planes(dim); i++)
            for (int j = 0; j < BRICK_EDGE; j++) {
                const int64_t at = f.own + row_at(i, j);
                wide here = wide_load(l->inverse + at);
                wide before = wide_load(l->inverse + f.near[0] + row_at(i, j));
                wide other[3] = {ROW_BEFORE(here, before), class_row(l->inverse, &f, i, j - 1, dim),
                                 dim == 3 ? class_row(l->inverse, &f, i - 1, j, dim) : none};
                wide_int alive = here > least;
                wide_store(l->surface + at, wide_select(alive, wide_load(l->surface + at), none));
                for (int a = 0; a < dim; a++)
                    wide_store(l->face[a] + at, wide_select(alive & (other[a] > least),
                                                            wide_load(l->face[a] + at), none));
            }
    }
}

/* ---- Stencils -------------------------------------------------------------------------------- */

/* All that belongs to a row: weights by side, the surface's, the inverse of the diagonal. */
typedef struct row_stencil {
    wide side[CHECKER_SLOTS], surface, inverse;
} row_stencil;

INLINE row_stencil row_stencil_of(const level *l, const classes_around *f, int i, int j, int dim) {
    const int64_t at = row_at(i, j);
    wide low = wide_load(l->face[0] + f->own + at);
    row_stencil r = {.surface = wide_load(l->surface + f->own + at)};
    r.side[0] = low;
    r.side[1] = ROW_AFTER(low, wide_load(l->face[0] + f->near[1] + at));
    r.side[2] = class_row(l->face[1], f, i, j, dim);
    r.side[3] = class_row(l->face[1], f, i, j + 1, dim);
    if (dim == 3) {
        r.side[4] = class_row(l->face[2], f, i, j, dim);
        r.side[5] = class_row(l->face[2], f, i + 1, j, dim);
    }
    wide diagonal = r.surface + ((r.side[0] + r.side[1]) + (r.side[2] + r.side[3]));
    if (dim == 3) diagonal += r.side[4] + r.side[5];
    r.inverse = wide_select(diagonal > wide_splat(0), wide_splat(1) / diagonal, wide_splat(0));
    return r;
}

/* The stencil of the wide of one phase: sides become slots (checker.h). */
INLINE void store_stencil(real *w, const row_stencil *first, const row_stencil *second, int phase,
                          int dim) {
    const int ahead = phase ? 0 : 1, back = 1 - ahead;
    wide_store(w, PACK(first->side[ahead], second->side[back], phase));
    wide_store(w + WIDE, PACK(first->side[back], second->side[ahead], phase));
    wide_store(w + 2 * WIDE, PACK(first->side[3], second->side[2], phase));
    wide_store(w + 3 * WIDE, PACK(first->side[2], second->side[3], phase));
    for (int s = 4; s < 2 * dim; s++)
        wide_store(w + s * WIDE, PACK(first->side[s], second->side[s], phase));
    wide_store(w + 2 * dim * WIDE, PACK(first->inverse, second->inverse, phase));
    wide_store(w + (2 * dim + 1) * WIDE, PACK(first->surface, second->surface, phase));
}

/* Whether all faces of a row's cells are open and none is at the surface. */
INLINE wide_int uniform_cells(const row_stencil *r, real scale, int dim) {
    wide_int uniform = r->surface == wide_splat(0);
    for (int s = 0; s < 2 * dim; s++) uniform &= r->side[s] == wide_splat(scale);
    return uniform;
}

/* Wides that need no stencil, if most do not: to ask at each costs more than it gains where a
 * processor cannot foresee the answer. */
INLINE uint32_t most_or_none(uint32_t uniform, int dim) {
    const int most = checker_planes(dim) * PAIRS * 3 / 4;
    return __builtin_popcount(uniform) >= most ? uniform : 0;
}

INLINE void pack_stencils_chunk(const pass_data *d, chunk items, double *part, int dim) {
    const level *l = d->fine;
    for (int64_t class = STENCIL_OWN + items.begin; class < STENCIL_OWN + items.end; class ++) {
        const classes_around f = classes_of(l, l->owner[class], dim);
        real *stencil = l->stencil + class * stencil_reals(dim);
        const int black = checker_half(dim) * stencil_wides(dim);
        uint32_t uniform[2] = {0};
        int unknowns = 0;
        for (int i = 0; i < checker_planes(dim); i++)
            for (int q = 0; q < PAIRS; q++) {
                const row_stencil first = row_stencil_of(l, &f, i, 2 * q, dim);
                const row_stencil second = row_stencil_of(l, &f, i, 2 * q + 1, dim);
                const int64_t row = f.own + row_at(i, 2 * q);
                wide_store(l->inverse + row, first.inverse);
                wide_store(l->inverse + row + 8, second.inverse);
                unknowns += wide_count(first.inverse > wide_splat(0)) +
                            wide_count(second.inverse > wide_splat(0));
                const wide_int a = uniform_cells(&first, l->scale, dim);
                const wide_int b = uniform_cells(&second, l->scale, dim);
                uniform[i & 1] |= (uint32_t)wide_all(PACK(a, b, 0)) << (i * PAIRS + q);
                uniform[!(i & 1)] |= (uint32_t)wide_all(PACK(a, b, 1)) << (i * PAIRS + q);
                real *w = stencil + (i * PLANE_REALS + q * WIDE) * stencil_wides(dim);
                store_stencil(i & 1 ? w + black : w, &first, &second, 0, dim);
                store_stencil(i & 1 ? w : w + black, &first, &second, 1, dim);
            }
        for (int colour = RED; colour <= BLACK; colour++)
            l->uniform_wides[class][colour] = most_or_none(uniform[colour], dim);
        part[0] += unknowns;
    }
}

#endif
