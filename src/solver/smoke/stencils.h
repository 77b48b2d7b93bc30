/* Passes that look at the values beside each: implicit diffusion, and vorticity. */
#ifndef SPATE_SOLVER_SMOKE_STENCILS_H
#define SPATE_SOLVER_SMOKE_STENCILS_H

#include "solver/smoke/jobs.h"

/* ---- center f - side (sum of the neighbours) = right ----------------------------------------- */

/* Which values of a row are unknowns: not those on the sides of the domain. */
typedef struct unknowns {
    int begin, end;
    real extra; /* of the diagonal, from the sides along the row */
} unknowns;

INLINE unknowns unknowns_of(const relax_job *j, const layout_row *row, int dim) {
    const layout *l = j->layout;
    unknowns u = {.end = row->length};
    const int index[2] = {row->i, row->j};
    for (int a = 0; a < dim - 1; a++) {
        const bool on_side = j->place == a && !l->periodic[a];
        if (on_side && (index[a] == 0 || index[a] == l->n[a])) u.end = 0;
        if (j->place == a || l->periodic[a]) continue;
        if (index[a] == 0) u.extra += j->reflect[a][0];
        if (index[a] == l->n[a] - 1) u.extra += j->reflect[a][1];
    }
    if (j->place == dim - 1 && !l->periodic[dim - 1] && u.end) u.begin = 1, u.end--;
    return u;
}

/* The diagonal: with what the ghost next to a value has of it. */
INLINE real diagonal(const relax_job *j, real extra, int k, int dim) {
    const int last = dim - 1;
    if (j->place != last && !j->layout->periodic[last]) {
        if (k == 0) extra += j->reflect[last][0];
        if (k == j->layout->n[last] - 1) extra += j->reflect[last][1];
    }
    return j->center + j->side * extra;
}

INLINE real neighbours_of(const layout *l, const real *f, int dim) {
    real sum = (f[-l->stride[0]] + f[l->stride[0]]) + (f[-l->stride[1]] + f[l->stride[1]]);
    if (dim == 3) sum += f[-1] + f[1];
    return sum;
}

INLINE bool is_held(const relax_job *j, int64_t at) { return j->depth && j->depth[at]; }

/* A value's neighbours, and what they have of it, times -1: solids let nothing through, so that
 * what is in them is the value itself; where gas sticks, it is what lies on the line from the value
 * through the wall's. */
typedef struct surrounding {
    real sum, extra;
} surrounding;

INLINE surrounding surrounding_of(const relax_job *j, const real *values, int64_t at, int dim) {
    const layout *l = j->layout;
    const real *f = values + at;
    surrounding s = {neighbours_of(l, f, dim), 0};
    if (!j->depth) return s;
    const uint8_t *depth = j->depth + at;
    int solid = 0;
    for (int a = 0; a < dim; a++) solid |= depth[-l->stride[a]] | depth[l->stride[a]];
    if (!solid) return s;
    for (int a = 0; a < dim; a++)
        for (int way = -1; way <= 1; way += 2) {
            const int64_t beside = way * l->stride[a];
            if (depth[beside] == DEPTH_GAS || depth[beside] == DEPTH_HELD) continue;
            real share = -1, rest = 0; /* rest - share f is there */
            if (depth[beside] == DEPTH_STICKY) {
                const real gap = smoke_gap(j->distance[at], j->distance[at + beside]);
                const real surface = smoke_wall(&j->turning, f[beside], at + beside, a, way, gap);
                share = (1 - gap) / gap, rest = surface / gap;
            }
            s.sum += rest - share * *f - f[beside];
            s.extra += share;
        }
    return s;
}

/* Chebyshev's iteration (Golub and Varga 1961): from the last two iterates to the next,
 *     f_next = f_before + weight (f_now + D^-1 (right - A f_now) - f_before). */
INLINE void chebyshev_value(const relax_job *j, int64_t at, real diagonal, int dim) {
    const real now = j->now[at], before = j->values[at];
    const surrounding s = surrounding_of(j, j->now, at, dim);
    const real left = j->right[at] - (j->center * now - j->side * s.sum);
    const real aim = now + left / (diagonal + j->side * s.extra);
    j->values[at] = before + j->weight * (aim - before);
}

INLINE void chebyshev_chunk(const relax_job *j, chunk items, int dim) {
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, j->place, r, dim);
        const unknowns u = unknowns_of(j, &row, dim);
        const real inner = j->center + j->side * u.extra;
        /* the ends of a row have diagonals of their own */
        const int ends[2] = {u.begin, u.end - 1};
        for (int e = 0; e < 2 && u.end > u.begin + e; e++)
            if (!is_held(j, row.begin + ends[e]))
                chebyshev_value(j, row.begin + ends[e], diagonal(j, u.extra, ends[e], dim), dim);
        if (j->depth) {
            for (int k = u.begin + 1; k < u.end - 1; k++)
                if (!j->depth[row.begin + k]) chebyshev_value(j, row.begin + k, inner, dim);
        } else {
            for (int k = u.begin + 1; k < u.end - 1; k++)
                chebyshev_value(j, row.begin + k, inner, dim);
        }
    }
}

/* Gauss-Seidel in two colours, like a chessboard: values of a colour do not read one another, so
 * that they may be set in any order. */
INLINE void relax_chunk(const relax_job *j, chunk items, int dim) {
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, j->place, r, dim);
        const unknowns u = unknowns_of(j, &row, dim);
        for (int k = u.begin + ((row.i + row.j + u.begin + j->colour) & 1); k < u.end; k += 2) {
            const int64_t at = row.begin + k;
            if (is_held(j, at)) continue;
            const surrounding s = surrounding_of(j, j->values, at, dim);
            const real left = j->right[at] - (j->center * j->values[at] - j->side * s.sum);
            j->values[at] += left / diagonal(j, u.extra + s.extra, k, dim);
        }
    }
}

/* Squares of the right-hand side and of what is left of it. */
INLINE void residual_chunk(const relax_job *j, chunk items, double *part, int dim) {
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, j->place, r, dim);
        const unknowns u = unknowns_of(j, &row, dim);
        for (int k = u.begin; k < u.end; k++) {
            const int64_t at = row.begin + k;
            const real *f = j->values + at;
            const double left =
                (double)(j->right[at] -
                         (j->center * *f - j->side * neighbours_of(j->layout, f, dim)));
            part[0] += (double)j->right[at] * (double)j->right[at];
            part[1] += left * left;
        }
    }
}

/* ---- Vorticity ------------------------------------------------------------------------------- */

/* Component a of the velocity in the middle of a cell. */
INLINE real middle_velocity(const curl_job *j, int a, int64_t at) {
    const real *u = j->velocity[a] + at;
    return j->on_faces ? (real)0.5 * (u[0] + u[j->layout->stride[a]]) : u[0];
}

/* d u_a / d x_b, times 2 dx. */
INLINE real slope(const curl_job *j, int a, int b, int64_t at) {
    return middle_velocity(j, a, at + j->layout->stride[b]) -
           middle_velocity(j, a, at - j->layout->stride[b]);
}

INLINE void curl_chunk(const curl_job *j, chunk items, int dim) {
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, PLACE_MIDDLE, r, dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            const real z = j->scale * (slope(j, 1, 0, at) - slope(j, 0, 1, at));
            if (dim == 2) {
                j->curl[0][at] = z;
                j->size[at] = z < 0 ? -z : z;
                continue;
            }
            const real x = j->scale * (slope(j, 2, 1, at) - slope(j, 1, 2, at));
            const real y = j->scale * (slope(j, 0, 2, at) - slope(j, 2, 0, at));
            j->curl[0][at] = x, j->curl[1][at] = y, j->curl[2][at] = z;
            j->size[at] = (real)__builtin_sqrt((double)(x * x + y * y + z * z));
        }
    }
}

/* eps dx (N x w), N the direction in which the vorticity grows: towards the middle of a vortex. */
INLINE void confine_chunk(const curl_job *j, chunk items, int dim) {
    const int64_t *stride = j->layout->stride;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, PLACE_MIDDLE, r, dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            real N[3] = {0}, w[3] = {0};
            double square = 1e-30;
            for (int a = 0; a < dim; a++) {
                N[a] = j->size[at + stride[a]] - j->size[at - stride[a]];
                square += (double)N[a] * (double)N[a];
                w[dim == 2 ? 2 : a] = j->curl[dim == 2 ? 0 : a][at];
            }
            const real scale = j->scale * (real)(1 / __builtin_sqrt(square));
            j->curl[0][at] = scale * (N[1] * w[2] - N[2] * w[1]);
            j->curl[1][at] = scale * (N[2] * w[0] - N[0] * w[2]);
            if (dim == 3) j->curl[2][at] = scale * (N[0] * w[1] - N[1] * w[0]);
        }
    }
}

#endif
