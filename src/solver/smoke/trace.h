/*
 * Semi-Lagrangian advection, eight values of a row at a time; reference.c has it plainly.
 *
 * Displacements are kept relative to the value's own place and in cells: a place is found by their
 * whole part, weights by the rest, so that precision is the same everywhere in the domain.
 */
#ifndef SPATE_SOLVER_SMOKE_TRACE_H
#define SPATE_SOLVER_SMOKE_TRACE_H

#include "solver/smoke/jobs.h"

/* Where eight values are: indices along the axes. */
typedef struct cursor {
    wide index[3];
    int64_t at; /* of the first in the array */
    real room;  /* cells: what is no farther away along any axis is well within the domain */
} cursor;

INLINE int least_int(int a, int b) { return a < b ? a : b; }

INLINE cursor cursor_at(const layout *l, const layout_row *row, int k, int dim) {
    const wide lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    cursor c = {.at = row->begin + k};
    c.index[0] = wide_splat((real)row->i);
    c.index[1] = wide_splat((real)row->j);
    c.index[dim - 1] = wide_splat((real)k) + lanes;
    int room = least_int(k, l->n[dim - 1] - WIDE - k);
    room = least_int(room, least_int(row->i, l->n[0] - 1 - row->i));
    if (dim == 3) room = least_int(room, least_int(row->j, l->n[1] - 1 - row->j));
    c.room = (real)(room - 2); /* places differ by half a cell, and values above are read as well */
    return c;
}

/* How far from its cell's corner a place lies along an axis. */
INLINE real place_offset(int place, int axis) { return place == axis ? 0 : (real)0.5; }

/* ---- A point between values --------------------------------------------------------------------
 * */

typedef struct spot {
    wide_int at;   /* the value below */
    bool together; /* the eight lie side by side: most do, as neighbours move alike */
    wide share[3]; /* of the values above, by axis */
    wide_int out;  /* the point was outside the domain, and has been put on its side */
} spot;

/* Along an axis: the index below the point at `t` from a value at `index`. */
INLINE wide axis_index(const layout *l, int place, int axis, wide index, wide t, wide *share,
                       wide_int *out) {
    const real n = (real)l->n[axis];
    if (l->periodic[axis]) {
        wide below = wide_floor(t);
        *share = t - below;
        below += index;
        return below - wide_splat(n) * wide_floor(below / wide_splat(n));
    }
    /* sides that let gas in let in what the ghosts hold; others end where the domain does */
    const real edge = place == axis ? 0 : (real)0.5;
    const wide low = wide_splat(place != axis && l->open[axis][0] ? -1 : -edge) - index;
    const wide high = wide_splat(place != axis && l->open[axis][1] ? n : n - edge) - index;
    *out |= (t < low) | (t > high);
    t = wide_min(wide_max(t, low), high);
    const wide below = wide_min(wide_floor(t), wide_splat(n - 1) - index);
    *share = t - below;
    return index + below;
}

/* Whether points `move` from c are well within the domain. */
INLINE bool is_within(const cursor *c, const wide move[3], int dim) {
    wide farthest = wide_abs(move[0]);
    for (int a = 1; a < dim; a++) farthest = wide_max(farthest, wide_abs(move[a]));
    return wide_all(farthest < wide_splat(c->room));
}

/* The point `move` from the values of place `from` at c, among values of place `to`. */
INLINE spot spot_at(const layout *l, const cursor *c, int from, int to, const wide move[3],
                    bool within, int dim) {
    const wide_int lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    spot s = {.at = within ? wide_splat_int((real_bits)c->at) + lanes
                           : wide_splat_int((real_bits)l->first)};
    for (int a = 0; a < dim; a++) {
        const wide t = move[a] + wide_splat(place_offset(from, a) - place_offset(to, a));
        wide index;
        if (within)
            index = wide_floor(t), s.share[a] = t - index;
        else
            index = axis_index(l, to, a, c->index[a], t, &s.share[a], &s.out);
        s.at += wide_to_int(index) * wide_splat_int((real_bits)l->stride[a]);
    }
    s.together = wide_all(s.at - lanes == wide_splat_int(s.at[0]));
    return s;
}

INLINE wide mix(wide a, wide b, wide share) { return wide_fma(share, b - a, a); }

/* The values around a spot, [bit a: above along axis a], and what they give there. */
INLINE void corners_of(const layout *l, const real *values, const spot *s, wide v[8], int dim) {
    int64_t step[8] = {0};
    for (int c = 1; c < 1 << dim; c++)
        for (int a = 0; a < dim; a++)
            if (c >> a & 1) step[c] += l->stride[a];
    if (s->together)
        for (int c = 0; c < 1 << dim; c++) v[c] = wide_load(values + s->at[0] + step[c]);
    else
        for (int c = 0; c < 1 << dim; c++) v[c] = wide_gather(values + step[c], s->at);
}
INLINE wide mix_corners(wide v[8], const spot *s, int dim) {
    for (int a = dim - 1; a >= 0; a--)
        for (int c = 0; c < 1 << a; c++) v[c] = mix(v[c], v[c | 1 << a], s->share[a]);
    return v[0];
}
INLINE wide value_at(const layout *l, const real *values, const spot *s, int dim) {
    wide v[8];
    corners_of(l, values, s, v, dim);
    return mix_corners(v, s, dim);
}

/* ---- Where a value comes from ---------------------------------------------------------------- */

/* Component a of the velocity at values of the job's place, from those beside them. */
INLINE wide velocity_here(const advect_job *j, int64_t at, int a) {
    const real *u = j->velocity[a] + at;
    if (j->home[a] == j->place) return wide_load(u);
    const int64_t up = j->layout->stride[a];
    const wide sum = wide_load(u) + wide_load(u + up);
    if (j->place == PLACE_MIDDLE) return wide_splat((real)0.5) * sum;
    const int64_t down = j->layout->stride[j->place];
    return wide_splat((real)0.25) * (sum + (wide_load(u - down) + wide_load(u + up - down)));
}

INLINE void velocity_there(const advect_job *j, const cursor *c, const wide move[3], wide u[3],
                           int dim) {
    const bool within = is_within(c, move, dim);
#pragma GCC unroll 3
    for (int a = 0; a < dim; a++) {
        const spot s = spot_at(j->layout, c, j->place, j->home[a], move, within, dim);
        u[a] = value_at(j->layout, j->velocity[a], &s, dim);
    }
}

/* Where the gas at c is after `step` (in cells a m/s; negative: where it comes from), by
 * Runge-Kutta schemes of order 1, 2 (midpoint) and 3 (Ralston 1962), in the velocity as it is now.
 * */
INLINE void trace(const advect_job *j, const cursor *c, real step, wide move[3], int dim) {
    const wide most = wide_splat(SMOKE_MOST);
    wide u[3], way[3], sum[3];
    for (int a = 0; a < dim; a++) u[a] = velocity_here(j, c->at, a);
    if (j->order > 1) {
        for (int a = 0; a < dim; a++) {
            sum[a] = u[a];
            way[a] = wide_splat(step / 2) * u[a];
            way[a] = wide_min(wide_max(way[a], -most), most);
        }
        velocity_there(j, c, way, u, dim);
    }
    if (j->order > 2) {
        for (int a = 0; a < dim; a++) {
            sum[a] = wide_splat(2) * sum[a] + wide_splat(3) * u[a];
            way[a] = wide_splat(step * 3 / 4) * u[a];
            way[a] = wide_min(wide_max(way[a], -most), most);
        }
        velocity_there(j, c, way, u, dim);
        for (int a = 0; a < dim; a++)
            u[a] = (sum[a] + wide_splat(4) * u[a]) * wide_splat((real)(1.0 / 9));
    }
    /* in this order what is not a number becomes one: the step's end reports it */
    for (int a = 0; a < dim; a++)
        move[a] = wide_min(wide_max(wide_splat(step) * u[a], -most), most);
}

/* Where the gas at c comes from (step < 0), or goes to, among the values of the job's place. */
INLINE spot spot_along(const advect_job *j, const cursor *c, real step, int dim) {
    wide move[3];
    trace(j, c, step, move, dim);
    return spot_at(j->layout, c, j->place, j->place, move, is_within(c, move, dim), dim);
}

/* What comes from a spot; for MacCormack also the bounds of what may come from there. */
INLINE void fetch(const advect_job *j, int f, const cursor *c, const spot *s, int dim) {
    wide v[8], mixed[8];
    corners_of(j->layout, j->from[f], s, v, dim);
    for (int n = 0; n < 1 << dim; n++) mixed[n] = v[n];
    const wide value = mix_corners(mixed, s, dim);
    wide_store(j->ahead[f] + c->at, value);
    if (!j->twice) return;
    wide least = v[0], most = v[0];
    for (int n = 1; n < 1 << dim; n++) least = wide_min(least, v[n]), most = wide_max(most, v[n]);
    wide_store(j->to[f] + c->at, wide_select(s->out, value, least));
    wide_store(j->most[f] + c->at, wide_select(s->out, value, most));
}

INLINE void advect_chunk(const advect_job *j, chunk items, int dim) {
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, j->place, r, dim);
        for (int k = 0; k < row.length; k += WIDE) {
            const cursor c = cursor_at(j->layout, &row, k, dim);
            const spot behind = spot_along(j, &c, -j->step, dim);
            for (int f = 0; f < j->count; f++) fetch(j, f, &c, &behind, dim);
        }
    }
}

/* Where a field goes up and down from value to value along some axis. */
INLINE wide_int is_rippled(const layout *l, const real *f, wide own, int dim) {
    const wide zero = wide_splat(0);
    wide_int rippled = wide_splat_int(0);
    for (int a = 0; a < dim; a++) {
        const int64_t step = l->stride[a];
        const wide low = wide_load(f - step), high = wide_load(f + step);
        const wide up = high - own, down = own - low;
        const wide_int above = up * (wide_load(f + 2 * step) - high) < zero;
        const wide_int below = down * (low - wide_load(f - 2 * step)) < zero;
        rippled |= (up * down < zero) & (above | below);
    }
    return rippled;
}

/* MacCormack: going back along the flow from what came out ought to give what was there before;
 * half of the difference is the error of one way. The first pass's result stays where a path leaves
 * the domain or the corrected one is beyond the values that were mixed. It also stays in ripples of
 * dyes, which sharp edges shed and which would hardly be damped where the gas is slow. */
INLINE wide corrected(const advect_job *j, int f, const cursor *c, const spot *before, int dim) {
    const wide first = wide_load(j->ahead[f] + c->at), own = wide_load(j->from[f] + c->at);
    const wide least = wide_load(j->to[f] + c->at), most = wide_load(j->most[f] + c->at);
    const wide back = value_at(j->layout, j->ahead[f], before, dim);
    const wide better = wide_fma(wide_splat((real)0.5), own - back, first);
    wide_int kept = before->out | (better < least) | (better > most);
    if (j->sharp && c->room >= 0) kept |= is_rippled(j->layout, j->from[f] + c->at, own, dim);
    return wide_select(kept, first, better);
}

INLINE void correct_chunk(const advect_job *j, chunk items, int dim) {
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(j->layout, j->place, r, dim);
        for (int k = 0; k < row.length; k += WIDE) {
            const cursor c = cursor_at(j->layout, &row, k, dim);
            const spot before = spot_along(j, &c, j->step, dim);
            for (int f = 0; f < j->count; f++)
                wide_store(j->to[f] + c.at, corrected(j, f, &c, &before, dim));
        }
    }
}

#endif
