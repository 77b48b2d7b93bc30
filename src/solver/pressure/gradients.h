/* The passes of the conjugate gradients over level 0. Directions p and the residual b are reals, x
 * is double, and so are steps: what b is changed by is what A makes of x's change. */
#ifndef SPATE_SOLVER_GRADIENTS_H
#define SPATE_SOLVER_GRADIENTS_H

#include "solver/pressure/relax.h"

/* (A v) of half a wide, from differences: a region without surface is exactly singular. No stencil
 * where all faces are open. */
INLINE quad_double apply(const real *stencil, quad_double own, const quad_double n[CHECKER_SLOTS],
                         int dim) {
    if (!stencil) {
        quad_double sum = (n[0] + n[1]) + (n[2] + n[3]);
        if (dim == 3) sum += n[4] + n[5];
        return double_splat(2 * dim) * own - sum;
    }
    quad_double sum = to_double(quad_load(stencil + (2 * dim + 1) * WIDE)) * own;
    for (int s = 0; s < 2 * dim; s++)
        sum += to_double(quad_load(stencil + s * WIDE)) * (own - n[s]);
    return sum;
}

/* Stores b and does the first half sweep, from nothing. */
INLINE void first_relax(const level *l, int64_t at, wide b, const real *stencil, int colour,
                        int dim) {
    wide_store(l->b + at, b);
    if (colour != RED) return;
    wide inverse =
        stencil ? wide_load(stencil + 2 * dim * WIDE) : wide_splat(1 / (2 * dim * l->scale));
    wide_store(l->z + at, b * inverse);
}

INLINE void update_direction_chunk(const pass_data *d, chunk items, int dim) {
    real *p = d->p->p;
    const real *z = d->fine->z;
    const wide beta = wide_splat(d->beta);
    for (int colour = RED; colour <= BLACK; colour++) {
        const int64_t first = half_at(d->fine, items.begin, colour, dim);
        const int64_t last = half_at(d->fine, items.end, colour, dim);
        for (int64_t c = first; c < last; c += WIDE)
            wide_store(p + c, wide_fma(beta, wide_load(p + c), wide_load(z + c)));
    }
}

/* ---- p A p ----------------------------------------------------------------------------------- */

/* Every face has one red cell, so these are enough: sum of w (difference)^2. */
INLINE wide energy_wide(const around *other, const real *p, const real *stencil, int i, int q,
                        int phase, int dim) {
    wide n[CHECKER_SLOTS], own = wide_load(p + i * PLANE_REALS + q * WIDE), sum = wide_splat(0);
    fetch(other, i, q, phase, n, dim);
    for (int s = 0; s < 2 * dim; s++) {
        wide step = own - n[s];
        sum = wide_fma(stencil ? wide_load(stencil + s * WIDE) * step : step, step, sum);
    }
    return sum;
}

INLINE wide energy_brick(const level *l, const real *field, int64_t brick, bool uniform, int dim) {
    const around other = around_of(l, field, brick, BLACK, dim);
    const real *p = field + half_at(l, brick, RED, dim), *stencil = stencil_of(l, brick, RED, dim);
    const uint32_t uniform_wides = l->uniform_wides[l->stencil_class[brick]][RED];
    wide sum = wide_splat(0);
    for (int i = 0; i < checker_planes(dim); i++)
        for (int q = 0; q < PAIRS; q++) {
            const bool bare = uniform || is_uniform_wide(uniform_wides, i, q);
            const int at = i * PLANE_REALS + q * WIDE;
            const real *w = bare ? NULL : stencil + at * stencil_wides(dim);
            sum += i & 1 ? energy_wide(&other, p, w, i, q, 1, dim)
                         : energy_wide(&other, p, w, i, q, 0, dim);
        }
    return sum;
}

/* The surface's part, of one colour. */
INLINE wide surface_energy(const level *l, const real *field, int64_t brick, int colour, int dim) {
    const real *p = field + half_at(l, brick, colour, dim);
    const real *w = stencil_of(l, brick, colour, dim) + (2 * dim + 1) * WIDE;
    const uint32_t uniform_wides = l->uniform_wides[l->stencil_class[brick]][colour];
    wide sum = wide_splat(0);
    for (int i = 0; i < checker_planes(dim); i++)
        for (int q = 0; q < PAIRS; q++) {
            const int at = i * PLANE_REALS + q * WIDE;
            if (is_uniform_wide(uniform_wides, i, q)) continue;
            wide own = wide_load(p + at);
            sum = wide_fma(wide_load(w + at * stencil_wides(dim)) * own, own, sum);
        }
    return sum;
}

INLINE void energy_chunk(const pass_data *d, chunk items, double *part, int dim) {
    const level *l = d->fine;
    const real *p = d->p->p;
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        if (l->stencil_class[brick] == STENCIL_UNIFORM) {
            part[0] += wide_sum(energy_brick(l, p, brick, true, dim));
            continue;
        }
        part[0] += wide_sum(energy_brick(l, p, brick, false, dim));
        part[0] += wide_sum(surface_energy(l, p, brick, RED, dim) +
                            surface_energy(l, p, brick, BLACK, dim));
    }
}

/* ---- Steps and residuals --------------------------------------------------------------------- */

/* A wide of a colour: where it is, its place in the brick, its stencil. */
typedef struct spot {
    int64_t at;
    int i, q, colour, phase;
    const real *stencil;
} spot;

INLINE quad_double update_solution_wide(const pass_data *d, const around *other, spot s, int dim) {
    const pressure *p = d->p;
    wide n[CHECKER_SLOTS], own = wide_load(p->p + s.at), b = wide_load(d->fine->b + s.at);
    const quad_double alpha = double_splat(d->alpha), per_unit = double_splat(d->alpha / d->unit);
    quad_double far[CHECKER_SLOTS], sum = double_splat(0);
    quad left[2];
    fetch(other, s.i, s.q, s.phase, n, dim);
    for (int h = 0; h < 2; h++) {
        const quad_double mine = to_double(wide_half(own, h));
        for (int k = 0; k < 2 * dim; k++) far[k] = to_double(wide_half(n[k], h));
        const quad_double change = apply(s.stencil ? s.stencil + 4 * h : NULL, mine, far, dim);
        const quad_double r = to_double(wide_half(b, h)) - alpha * change;
        double *x = p->x + s.at + 4 * h;
        double_store(x, double_load(x) + per_unit * mine);
        left[h] = to_real(r);
        sum += r * r;
    }
    first_relax(d->fine, s.at, wide_join(left[0], left[1]), s.stencil, s.colour, dim);
    return sum;
}

INLINE quad_double restart_residual_wide(const pass_data *d, const around_double *other, spot s,
                                         int dim) {
    const pressure *p = d->p;
    quad_double n[CHECKER_SLOTS], sum = double_splat(0);
    quad left[2];
    for (int h = 0; h < 2; h++) {
        quad_double r = double_load(p->rhs + s.at + 4 * h);
        if (!d->from_nothing) {
            fetch_double(other, s.i, s.q, s.phase, h, n, dim);
            r -= apply(s.stencil ? s.stencil + 4 * h : NULL, double_load(p->x + s.at + 4 * h), n,
                       dim);
        }
        left[h] = to_real(r * double_splat(d->unit));
        sum += r * r;
    }
    first_relax(d->fine, s.at, wide_join(left[0], left[1]), s.stencil, s.colour, dim);
    return sum;
}

/* Both as the same loop over the wides of one colour of a brick. */
#define OVER_HALF(name, type)                                                                   \
    INLINE double name##_half(const pass_data *d, const type *other, int64_t brick, int colour, \
                              bool uniform, int dim) {                                          \
        const real *stencil = stencil_of(d->fine, brick, colour, dim);                          \
        const uint32_t uniform_wides =                                                          \
            d->fine->uniform_wides[d->fine->stencil_class[brick]][colour];                      \
        const int64_t half = half_at(d->fine, brick, colour, dim);                              \
        quad_double sum = double_splat(0);                                                      \
        for (int i = 0; i < checker_planes(dim); i++)                                           \
            for (int q = 0; q < PAIRS; q++) {                                                   \
                const int at = i * PLANE_REALS + q * WIDE;                                      \
                spot s = {half + at,                                                            \
                          i,                                                                    \
                          q,                                                                    \
                          colour,                                                               \
                          0,                                                                    \
                          uniform || is_uniform_wide(uniform_wides, i, q)                       \
                              ? NULL                                                            \
                              : stencil + at * stencil_wides(dim)};                             \
                if ((i + colour) & 1) {                                                         \
                    s.phase = 1;                                                                \
                    sum += name##_wide(d, other, s, dim);                                       \
                } else {                                                                        \
                    s.phase = 0;                                                                \
                    sum += name##_wide(d, other, s, dim);                                       \
                }                                                                               \
            }                                                                                   \
        return double_sum(sum);                                                                 \
    }
OVER_HALF(update_solution, around)
OVER_HALF(restart_residual, around_double)

INLINE void update_solution_chunk(const pass_data *d, chunk items, double *part, int dim) {
    const level *l = d->fine;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int colour = RED; colour <= BLACK; colour++) {
            const around other = around_of(l, d->p->p, brick, !colour, dim);
            part[0] += l->stencil_class[brick] == STENCIL_UNIFORM
                           ? update_solution_half(d, &other, brick, colour, true, dim)
                           : update_solution_half(d, &other, brick, colour, false, dim);
        }
}

INLINE void restart_residual_chunk(const pass_data *d, chunk items, double *part, int dim) {
    const level *l = d->fine;
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int colour = RED; colour <= BLACK; colour++) {
            around_double other = {.own = d->p->x + half_at(l, brick, !colour, dim)};
            for (int s = 0; s < 2 * dim; s++)
                other.near[s] = d->p->x + half_at(l, l->near[brick][s], !colour, dim);
            part[0] += l->stencil_class[brick] == STENCIL_UNIFORM
                           ? restart_residual_half(d, &other, brick, colour, true, dim)
                           : restart_residual_half(d, &other, brick, colour, false, dim);
        }
}

INLINE void right_side_square_chunk(const pass_data *d, chunk items, double *part, int dim) {
    for (int colour = RED; colour <= BLACK; colour++) {
        const int64_t first = half_at(d->fine, items.begin, colour, dim);
        const int64_t last = half_at(d->fine, items.end, colour, dim);
        quad_double sum = double_splat(0);
        for (int64_t c = first; c < last; c += 4) {
            quad_double v = double_load(d->p->rhs + c);
            sum += v * v;
        }
        part[0] += double_sum(sum);
    }
}

#endif
