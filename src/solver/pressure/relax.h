/* The cycle's passes on one level: half sweeps of Gauss-Seidel, and the way to the next level and
 * back. Only the black cells take part in transfers: the red ones have just been relaxed (their
 * residual is 0), and are relaxed next (what they were does not matter). */
#ifndef SPATE_SOLVER_RELAX_H
#define SPATE_SOLVER_RELAX_H

#include "solver/pressure/system.h"

INLINE around around_of(const level *l, const real *field, int64_t brick, int colour, int dim) {
    around v = {.own = field + half_at(l, brick, colour, dim)};
    for (int s = 0; s < 2 * dim; s++)
        v.near[s] = field + half_at(l, l->near[brick][s], colour, dim);
    return v;
}

INLINE const real *stencil_of(const level *l, int64_t brick, int colour, int dim) {
    return l->stencil + (int64_t)l->stencil_class[brick] * stencil_reals(dim) +
           colour * checker_half(dim) * stencil_wides(dim);
}

INLINE wide sum_slots(const wide n[CHECKER_SLOTS], int dim) {
    wide sum = (n[0] + n[1]) + (n[2] + n[3]);
    return dim == 2 ? sum : sum + (n[4] + n[5]);
}
INLINE wide weigh_slots(const real *w, const wide n[CHECKER_SLOTS], int dim) {
    wide sum = wide_load(w) * n[0];
    for (int s = 1; s < 2 * dim; s++) sum = wide_fma(wide_load(w + s * WIDE), n[s], sum);
    return sum;
}

/* ---- Half a sweep ---------------------------------------------------------------------------- */

typedef struct sweep {
    around other;
    const real *b, *stencil;
    real *z;
    uint32_t uniform_wides;
    real scale, inverse; /* of uniform wides */
} sweep;

INLINE void relax_plane(const sweep *s, int i, int phase, bool uniform, int dim) {
    for (int q = 0; q < PAIRS; q++) {
        const int at = i * PLANE_REALS + q * WIDE;
        wide n[CHECKER_SLOTS];
        fetch(&s->other, i, q, phase, n, dim);
        wide b = wide_load(s->b + at), z;
        if (uniform || is_uniform_wide(s->uniform_wides, i, q)) {
            z = wide_fma(sum_slots(n, dim), wide_splat(s->scale), b) * wide_splat(s->inverse);
        } else {
            const real *w = s->stencil + at * stencil_wides(dim);
            z = (b + weigh_slots(w, n, dim)) * wide_load(w + 2 * dim * WIDE);
        }
        wide_store(s->z + at, z);
    }
}

INLINE void relax_planes(const sweep *s, int colour, bool uniform, int dim) {
    for (int i = 0; i < checker_planes(dim); i++) {
        if ((i + colour) & 1)
            relax_plane(s, i, 1, uniform, dim);
        else
            relax_plane(s, i, 0, uniform, dim);
    }
}

INLINE void relax_brick(const level *l, int64_t brick, int colour, int dim) {
    const int64_t at = half_at(l, brick, colour, dim);
    const sweep s = {.other = around_of(l, l->z, brick, !colour, dim),
                     .b = l->b + at,
                     .stencil = stencil_of(l, brick, colour, dim),
                     .z = l->z + at,
                     .uniform_wides = l->uniform_wides[l->stencil_class[brick]][colour],
                     .scale = l->scale,
                     .inverse = 1 / (2 * dim * l->scale)};
    if (l->stencil_class[brick] == STENCIL_UNIFORM)
        relax_planes(&s, colour, true, dim);
    else
        relax_planes(&s, colour, false, dim);
}

INLINE void relax_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++)
        relax_brick(d->fine, brick, d->colour, dim);
}

INLINE void relax_dot_chunk(const pass_data *d, chunk items, double *part, int dim) {
    const level *l = d->fine;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        relax_brick(l, brick, d->colour, dim);
        wide sum = wide_splat(0);
        for (int colour = RED; colour <= BLACK; colour++) {
            const real *b = l->b + half_at(l, brick, colour, dim);
            const real *z = l->z + half_at(l, brick, colour, dim);
            for (int c = 0; c < checker_half(dim); c += WIDE)
                sum = wide_fma(wide_load(b + c), wide_load(z + c), sum);
        }
        part[0] += wide_sum(sum);
    }
}

/* ---- To the next level ----------------------------------------------------------------------- */

/* Residual of a black wide. */
INLINE wide residual(const sweep *s, int i, int q, int phase, bool uniform, int dim) {
    const int at = i * PLANE_REALS + q * WIDE;
    wide n[CHECKER_SLOTS];
    fetch(&s->other, i, q, phase, n, dim);
    wide b = wide_load(s->b + at), z = wide_load(s->z + at);
    if (uniform || is_uniform_wide(s->uniform_wides, i, q))
        return wide_fma(sum_slots(n, dim) - wide_splat(2 * dim) * z, wide_splat(s->scale), b);
    const real *w = s->stencil + at * stencil_wides(dim);
    for (int k = 0; k < 2 * dim; k++) n[k] -= z;
    return b + weigh_slots(w, n, dim) - wide_load(w + (2 * dim + 1) * WIDE) * z;
}

/* What the black cells of a coarse row (four coarse cells) give: to their own coarse cells, and to
 * those on both sides along each direction. */
typedef struct given_row {
    quad own, low[3], high[3];
} given_row;

/* Adds a black wide in which direction 2 points low (even planes) or high; its halves point low and
 * high along direction 1, and along direction 0 by the phase. */
INLINE void give_wide(given_row *g, wide r, const real *transfer, int phase, int dim) {
    wide part[4];
    for (int a = 0; a <= dim; a++)
        part[a] = r * (transfer ? wide_load(transfer + a * WIDE) : wide_splat((real)0.25));
    if (!transfer && dim == 2) part[0] = r * wide_splat((real)0.5);
    g->own += wide_low(part[0]) + wide_high(part[0]);
    g->high[0] += phase ? wide_low(part[1]) : wide_high(part[1]);
    g->low[0] += phase ? wide_high(part[1]) : wide_low(part[1]);
    g->low[1] += wide_low(part[2]);
    g->high[1] += wide_high(part[2]);
    if (dim == 2) return;
    if (phase)
        g->low[2] += wide_low(part[3]) + wide_high(part[3]);
    else
        g->high[2] += wide_low(part[3]) + wide_high(part[3]);
}

INLINE given_row give_row(const sweep *s, const real *transfer, int plane, int q, bool uniform,
                          int dim) {
    given_row g = {0};
    for (int i = plane * 2; i < plane * 2 + (dim == 2 ? 1 : 2); i++) {
        const int at = i * PLANE_REALS + q * WIDE;
        const real *t = transfer ? transfer + at * transfer_wides(dim) : NULL;
        /* black: phase 1 on even planes */
        if (i & 1)
            give_wide(&g, residual(s, i, q, 0, uniform, dim), t, 0, dim);
        else
            give_wide(&g, residual(s, i, q, 1, uniform, dim), t, 1, dim);
    }
    return g;
}

/* Adds up what coarse cells get from within the brick, and stores what leaves it by its sides. */
INLINE void store_sums(given_row g[4][4], real *sums, int dim) {
    const int planes = dim == 2 ? 1 : 4;
    const quad none = {0};
    real *side = sums + sums_own(dim);
    for (int i = 0; i < planes; i++)
        for (int j = 0; j < 4; j++) {
            const int row = i * 4 + j;
            quad from_low = g[i][j].high[0], from_high = g[i][j].low[0];
            quad v = g[i][j].own + __builtin_shufflevector(none, from_low, 0, 4, 5, 6) +
                     __builtin_shufflevector(from_high, none, 1, 2, 3, 4);
            side[row] = from_high[0];
            side[sums_side(dim) + row] = from_low[3];
            v += (j > 0 ? g[i][j - 1].high[1] : none) + (j < 3 ? g[i][j + 1].low[1] : none);
            if (dim == 3)
                v += (i > 0 ? g[i - 1][j].high[2] : none) + (i < 3 ? g[i + 1][j].low[2] : none);
            quad_store(sums + row * 4, v);
        }
    for (int i = 0; i < planes; i++) {
        quad_store(side + 2 * sums_side(dim) + i * 4, g[i][0].low[1]);
        quad_store(side + 3 * sums_side(dim) + i * 4, g[i][3].high[1]);
    }
    for (int j = 0; dim == 3 && j < 4; j++) {
        quad_store(side + 4 * sums_side(dim) + j * 4, g[0][j].low[2]);
        quad_store(side + 5 * sums_side(dim) + j * 4, g[3][j].high[2]);
    }
}

INLINE void restrict_brick(const level *l, int64_t brick, bool uniform, bool uniform_transfer,
                           int dim) {
    const int64_t at = half_at(l, brick, BLACK, dim);
    const sweep s = {.other = around_of(l, l->z, brick, RED, dim),
                     .b = l->b + at,
                     .stencil = stencil_of(l, brick, BLACK, dim),
                     .z = l->z + at,
                     .uniform_wides = l->uniform_wides[l->stencil_class[brick]][BLACK],
                     .scale = l->scale};
    const real *transfer =
        uniform_transfer ? NULL
                         : l->transfer + l->transfer_class[brick] * (int64_t)transfer_reals(dim);
    given_row g[4][4];
    for (int i = 0; i < (dim == 2 ? 1 : 4); i++)
        for (int q = 0; q < PAIRS; q++) g[i][q] = give_row(&s, transfer, i, q, uniform, dim);
    store_sums(g, l->sums + brick * sums_reals(dim), dim);
}

INLINE void restrict_residual_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->fine;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        if (l->transfer_class[brick] == TRANSFER_UNIFORM)
            restrict_brick(l, brick, true, true, dim);
        else if (l->stencil_class[brick] == STENCIL_UNIFORM)
            restrict_brick(l, brick, true, false, dim);
        else
            restrict_brick(l, brick, false, false, dim);
    }
}

/* The part of a coarse brick that lies in one brick of the finer level, in rows. */
INLINE void collect_child(const level *fine, int32_t child, real *rows, int dim) {
    const int size = sums_reals(dim), side = sums_side(dim), planes = dim == 2 ? 1 : 4;
    const real *own = fine->sums + (int64_t)child * size;
    const real *from[CHECKER_SLOTS]; /* what the brick at a side gives through the side it shares */
    for (int s = 0; s < 2 * dim; s++)
        from[s] =
            fine->sums + (int64_t)fine->near[child][s] * size + sums_own(dim) + (s ^ 1) * side;
    for (int i = 0; i < planes; i++)
        for (int j = 0; j < 4; j++) {
            const int row = i * 4 + j;
            quad v = quad_load(own + row * 4);
            v += (quad){from[0][row], 0, 0, from[1][row]};
            if (j == 0) v += quad_load(from[2] + i * 4);
            if (j == 3) v += quad_load(from[3] + i * 4);
            if (dim == 3 && i == 0) v += quad_load(from[4] + j * 4);
            if (dim == 3 && i == 3) v += quad_load(from[5] + j * 4);
            quad_store(rows + row_at(i, j), v);
        }
}

INLINE void collect_restricted_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->coarse;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        real rows[BRICK_CELLS_MAX];
        for (int o = 0; o < 1 << dim; o++)
            collect_child(d->fine, l->children[brick][o], rows + octant_at(o), dim);
        const int64_t red = half_at(l, brick, RED, dim), black = half_at(l, brick, BLACK, dim);
        const real *stencil = stencil_of(l, brick, BLACK, dim) + 2 * dim * WIDE;
        for (int i = 0; i < checker_planes(dim); i++)
            for (int q = 0; q < PAIRS; q++) {
                const int to = i * PLANE_REALS + q * WIDE;
                wide first = wide_load(rows + row_at(i, 2 * q));
                wide second = wide_load(rows + row_at(i, 2 * q + 1));
                wide even = PACK(first, second, 0), odd = PACK(first, second, 1);
                wide b = i & 1 ? even : odd;
                wide_store(l->b + red + to, i & 1 ? odd : even);
                wide_store(l->b + black + to, b);
                /* the first half sweep, from nothing */
                wide_store(l->z + black + to, b * wide_load(stencil + to * stencil_wides(dim)));
            }
        memset(l->z + red, 0, sizeof(real) * (size_t)checker_half(dim));
    }
}

/* ---- And back -------------------------------------------------------------------------------- */

INLINE void unpack_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->fine;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const real *red = l->z + half_at(l, brick, RED, dim);
        const real *black = l->z + half_at(l, brick, BLACK, dim);
        real *rows = l->rows + brick * checker_cells(dim);
        for (int i = 0; i < checker_planes(dim); i++)
            for (int q = 0; q < PAIRS; q++) {
                const int at = i * PLANE_REALS + q * WIDE;
                wide even = wide_load((i & 1 ? black : red) + at);
                wide odd = wide_load((i & 1 ? red : black) + at);
                wide_store(rows + row_at(i, 2 * q), UNPACK_FIRST(even, odd));
                wide_store(rows + row_at(i, 2 * q + 1), UNPACK_SECOND(even, odd));
            }
    }
}

/* Rows of coarse values around a fine brick: its own octant of a coarse brick, and what is next to
 * it on each side, which may be in the brick beside that one. */
typedef struct patch {
    const real *own, *near[CHECKER_SLOTS];
} patch;

INLINE patch patch_of(const level *coarse, int32_t brick, int octant, int dim) {
    const int at = octant_at(octant);
    const real *own = coarse->rows + (int64_t)brick * checker_cells(dim) + at;
    patch p = {.own = own};
    for (int a = 0; a < dim; a++) {
        const int stride = direction_stride(a), high = octant >> a & 1;
        for (int side = 0; side < 2; side++) {
            const int32_t next = coarse->near[brick][2 * a + side];
            const int step =
                side ? BRICK_EDGE / 2 * stride : -stride; /* from the octant's first to beyond it */
            const int wrap = (side ? -BRICK_EDGE : BRICK_EDGE) * stride;
            p.near[2 * a + side] =
                side == high ? coarse->rows + (int64_t)next * checker_cells(dim) + at + step + wrap
                             : own + step;
        }
    }
    return p;
}

/* Adds to the black wides of one coarse row what they take from the coarse cells. */
INLINE void prolong_row(const patch *p, int plane, int q, const real *transfer, real *z, int dim) {
    const int at = row_at(plane, q);
    const quad own = quad_load(p->own + at), none = {0};
    const quad low0 = {p->near[0][at], own[0], own[1], own[2]};
    const quad high0 = {own[1], own[2], own[3], p->near[1][at]};
    const quad low1 = quad_load(q > 0 ? p->own + at - row_at(0, 1) : p->near[2] + row_at(plane, 0));
    const quad high1 =
        quad_load(q < 3 ? p->own + at + row_at(0, 1) : p->near[3] + row_at(plane, 0));
    quad low2 = none, high2 = none;
    if (dim == 3) {
        low2 = quad_load(plane > 0 ? p->own + at - row_at(1, 0) : p->near[4] + row_at(0, q));
        high2 = quad_load(plane < 3 ? p->own + at + row_at(1, 0) : p->near[5] + row_at(0, q));
    }
    for (int i = 0; i < (dim == 2 ? 1 : 2); i++) {
        const int to = (plane * 2 + i) * PLANE_REALS + q * WIDE;
        /* black: the first row of even planes has odd k, whose nearest is after them */
        wide along = i == 0 ? wide_join(high0, low0) : wide_join(low0, high0);
        wide across = wide_join(low1, high1), beyond = wide_twice(i == 0 ? low2 : high2);
        wide mine = wide_twice(own), v;
        if (transfer) {
            const real *t = transfer + to * transfer_wides(dim);
            v = wide_load(t) * mine;
            v = wide_fma(wide_load(t + WIDE), along, v);
            v = wide_fma(wide_load(t + 2 * WIDE), across, v);
            if (dim == 3) v = wide_fma(wide_load(t + 3 * WIDE), beyond, v);
        } else if (dim == 3) {
            v = wide_splat((real)0.25) * ((mine + along) + (across + beyond));
        } else {
            v = wide_splat((real)0.25) * ((mine + mine) + (along + across));
        }
        wide_store(z + to, wide_load(z + to) + v);
    }
}

INLINE void prolong_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->fine;
    for (int64_t coarse = items.begin; coarse < items.end; coarse++)
        for (int o = 0; o < 1 << dim; o++) {
            const int64_t brick = d->coarse->children[coarse][o];
            if (!(d->coarse->originals[coarse] >> o & 1)) continue;
            const patch p = patch_of(d->coarse, (int32_t)coarse, o, dim);
            const bool uniform = l->transfer_class[brick] == TRANSFER_UNIFORM;
            const real *transfer =
                l->transfer + l->transfer_class[brick] * (int64_t)transfer_reals(dim);
            real *z = l->z + half_at(l, brick, BLACK, dim);
            for (int i = 0; i < (dim == 2 ? 1 : 4); i++)
                for (int q = 0; q < PAIRS; q++)
                    prolong_row(&p, i, q, uniform ? NULL : transfer, z, dim);
        }
}

#endif
