/* The sums over neighbours: what sph.h writes, eight pairs at a time. */
#ifndef SPATE_SOLVER_SPH_PASSES_H
#define SPATE_SOLVER_SPH_PASSES_H

#include "solver/lanes.h"
#include "solver/sph/sph.h"

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* A particle as its neighbours are compared with it. */
typedef struct row {
    const sph *s;
    int64_t i;
    wide x[3];
    bool wraps;
} row;

/* Eight neighbours: what lies between, i less j, in cells. */
typedef struct pairs {
    wide d[3], q2, number; /* the last of the place's record */
    wide_int near;         /* lanes that count */
} pairs;

INLINE row row_of(const sph *s, int64_t i, bool wraps) {
    const real *place = s->of.place + 4 * i;
    return (row){s, i, {wide_splat(place[0]), wide_splat(place[1]), wide_splat(place[2])}, wraps};
}

/* The records of eight particles as four lanes-wide components. */
INLINE void load_records(const real *records, const int32_t *list, wide out[4]) {
    for (int k = 0; k < 4; k++)
        out[k] = wide_join(quad_load(records + 4 * (int64_t)list[k]),
                           quad_load(records + 4 * (int64_t)list[k + 4]));
    transpose_quads(out);
}

INLINE wide_int first_lanes(int64_t count) {
    const wide_int lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    return lanes < wide_splat_int((real_bits)(count > WIDE ? WIDE : count));
}

/* Differences to eight places, to the nearest image. */
INLINE void differ(const row *r, const wide place[4], wide d[3]) {
    for (int a = 0; a < 3; a++) {
        d[a] = r->x[a] - place[a];
        if (!r->wraps) continue;
        const wide turns =
            wide_floor(wide_fma(d[a], wide_splat(r->s->inverse_period[a]), wide_splat((real)0.5)));
        d[a] = wide_fma(turns, wide_splat(-r->s->period[a]), d[a]);
    }
}

INLINE pairs pairs_load(const row *r, const real *places, const int32_t *list, int64_t count) {
    wide place[4];
    pairs p;
    load_records(places, list, place);
    differ(r, place, p.d);
    const wide r2 = wide_fma(p.d[2], p.d[2], wide_fma(p.d[1], p.d[1], p.d[0] * p.d[0]));
    p.number = place[3];
    p.near = first_lanes(count) & (r2 < wide_splat(r->s->reach2));
    p.q2 = r2 * wide_splat(r->s->inverse_reach * r->s->inverse_reach);
    return p;
}

/* Goes through a row, eight entries at a time: `k` is an entry of the list, `left` how many remain. */
#define FOR_ROW(n, i, k, left) \
    for (int64_t k = (n)->first[i], left = (n)->number[i]; left > 0; k += WIDE, left -= WIDE)

INLINE wide only(wide_int near, wide value) { return wide_select(near, value, wide_splat(0)); }

INLINE void store_record(real *records, int64_t i, const wide sums[3], real scale, real last) {
    real *out = records + 4 * i;
    for (int a = 0; a < 3; a++) out[a] = wide_sum(sums[a]) * scale;
    out[3] = last;
}

/* ---- Density --------------------------------------------------------------------------------- */

/* Sum of w, and where the method is implicit of V grad W (in 1 / cells), of its squares, and of what
 * walls hold of the weight. */
typedef struct density_sums {
    wide value, gradient[3], square, lift[3];
} density_sums;

/* What lies between along gravity, m/s^2 cells. */
INLINE wide along_gravity(const sph *s, const wide d[3]) {
    wide along = wide_splat(s->gravity[0]) * d[0];
    for (int a = 1; a < 3; a++) along = wide_fma(wide_splat(s->gravity[a]), d[a], along);
    return along;
}

INLINE void add_density(density_sums *sums, const sph *s, const pairs *p, wide weight, real *slopes,
                        sph_kernel kernel, bool implicit, bool solid) {
    const wide q = implicit || kernel != SPH_MUELLER ? wide_sqrt(p->q2) : p->q2;
    wide value = only(p->near, kernel_wide(kernel, q, p->q2));
    sums->value = solid ? wide_fma(weight, value, sums->value) : sums->value + value;
    if (!implicit) return;
    wide slope = only(p->near, kernel_wide_slope(kernel, q) * wide_splat(s->slope));
    if (solid)
        slope *= weight + weight; /* mirrored */
    else
        wide_store(slopes, slope);
    wide square = wide_splat(0);
    const wide fall = solid ? wide_splat((real)0.5) * along_gravity(s, p->d) : square;
    for (int a = 0; a < 3; a++) {
        const wide gradient = slope * p->d[a];
        if (solid) sums->lift[a] = wide_fma(gradient, fall, sums->lift[a]);
        sums->gradient[a] += gradient;
        square = wide_fma(gradient, gradient, square);
    }
    if (!solid) sums->square += square;
}

INLINE void density_row(sph *s, int64_t i, sph_kernel kernel, bool implicit, bool wraps) {
    const row r = row_of(s, i, wraps);
    const wide zero = wide_splat(0);
    density_sums sums = {zero, {zero, zero, zero}, zero, {zero, zero, zero}};
    FOR_ROW(&s->liquid, i, k, left) {
        const pairs p = pairs_load(&r, s->of.place, s->liquid.list + k, left);
        add_density(&sums, s, &p, zero, implicit ? s->slopes + k : NULL, kernel, implicit, false);
    }
    FOR_ROW(&s->wall, i, k, left) {
        const pairs p = pairs_load(&r, s->on.place, s->wall.list + k, left);
        add_density(&sums, s, &p, p.number, NULL, kernel, implicit, true);
    }
    s->density[i] = s->value * (1 + wide_sum(sums.value));
    if (!implicit) return;
    real square = wide_sum(sums.square), *pull = s->pull + 4 * i;
    store_record(s->lift, i, sums.lift, 1, 0);
    store_record(s->pull, i, sums.gradient, 1, 0);
    for (int a = 0; a < 3; a++) square = real_fma(pull[a], pull[a], square);
    pull[3] = square > (real)1e-6 ? 1 / square : 0;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

typedef struct force_sums {
    wide pressure[3], viscous[3], smooth[3], shift[3];
} force_sums;

/* Monaghan's artificial viscosity: pairs that approach are pushed apart. */
INLINE void add_damping(force_sums *sums, const sph *s, const pairs *p, const wide v[3],
                        const wide other[3], wide slope) {
    wide approach = wide_splat(0);
    for (int a = 0; a < 3; a++) approach = wide_fma(v[a] - other[a], p->d[a], approach);
    const wide distance2 = wide_fma(p->q2, wide_splat(s->reach2), wide_splat(s->soft2));
    const wide factor =
        wide_min(approach, wide_splat(0)) / distance2 * (wide_splat(s->damp) * slope);
    for (int a = 0; a < 3; a++) sums->viscous[a] = wide_fma(factor, p->d[a], sums->viscous[a]);
}

/* Particle shifting (Lind et al. 2012): down the gradient of concentration, with the term that keeps
 * pairs apart. */
INLINE void add_shift(force_sums *sums, const sph *s, const pairs *p, wide w, wide slope) {
    const wide share = w * wide_splat(s->inverse_spacing_value), share2 = share * share;
    const wide factor = slope * wide_fma(wide_splat((real)0.2), share2 * share2, wide_splat(1));
    for (int a = 0; a < 3; a++) sums->shift[a] = wide_fma(factor, p->d[a], sums->shift[a]);
}

INLINE void add_forces(force_sums *sums, const sph *s, const pairs *p, const int32_t *list,
                       const wide v[3], wide pressure, wide own, sph_kernel kernel) {
    const wide q = wide_sqrt(p->q2);
    const wide share = p->number; /* 1 / delta_j */
    const wide slope = only(p->near, kernel_wide_slope(kernel, q) * wide_splat(s->slope));
    wide flow[4];
    load_records(s->of.flow, list, flow);
    const wide squeeze = (pressure + flow[3]) * share * slope;
    const wide smooth = only(p->near, wide_splat(s->mueller) * kernel_wide_laplacian(q));
    const wide drag = wide_fma(wide_splat(-s->morris), slope, smooth) * share;
    for (int a = 0; a < 3; a++) {
        sums->pressure[a] = wide_fma(squeeze, p->d[a], sums->pressure[a]);
        sums->viscous[a] = wide_fma(drag, flow[a] - v[a], sums->viscous[a]);
    }
    if (s->damp > 0) add_damping(sums, s, p, v, flow, slope * share);
    if (!s->extras) return;
    const wide w = only(p->near, kernel_wide(kernel, q, p->q2));
    const wide even = wide_splat(2) * own * share / (own + share); /* over the mean density */
    for (int a = 0; a < 3; a++)
        sums->smooth[a] = wide_fma(w * even, flow[a] - v[a], sums->smooth[a]);
    if (s->options->shifting > 0) add_shift(sums, s, p, w, slope);
}

/* The same of a wall's points. Along a wall that is not sticky nothing is damped: points ahead are
 * approached and those behind are not, which would be friction. */
INLINE void add_wall_damping(force_sums *sums, const sph *s, const pairs *p, const wide v[3],
                             const wide solid[3], const wide facing[4], wide slope) {
    const wide_int slips = facing[3] < wide_splat(0);
    wide distance = wide_splat(0), approach = wide_splat(0), towards[3];
    for (int a = 0; a < 3; a++) distance = wide_fma(facing[a], p->d[a], distance);
    for (int a = 0; a < 3; a++) {
        towards[a] = wide_select(slips, distance * facing[a], p->d[a]);
        approach = wide_fma(v[a] - solid[a], towards[a], approach);
    }
    const wide distance2 = wide_fma(p->q2, wide_splat(s->reach2), wide_splat(s->soft2));
    const wide factor =
        wide_min(approach, wide_splat(0)) / distance2 * (wide_splat(s->damp) * slope);
    for (int a = 0; a < 3; a++) sums->viscous[a] = wide_fma(factor, towards[a], sums->viscous[a]);
}

/* The pressure goes on in walls, with `weight` rho0 g as far as the particle leans on them; and the
 * velocity is mirrored in sticky ones. */
INLINE void add_wall_forces(force_sums *sums, const sph *s, const pairs *p, const int32_t *list,
                            const wide v[3], wide pressure, wide weight, sph_kernel kernel) {
    const wide q = wide_sqrt(p->q2);
    const wide slope =
        only(p->near, kernel_wide_slope(kernel, q) * (wide_splat(s->slope) * p->number));
    const wide squeeze = (pressure + pressure - weight * along_gravity(s, p->d)) * slope;
    wide flow[4], facing[4], distance;
    load_records(s->on.flow, list, flow);
    load_records(s->facing, list, facing);
    /* A point half way between the sides of a thin wall serves both. */
    distance = facing[0] * p->d[0];
    for (int a = 1; a < 3; a++) distance = wide_fma(facing[a], p->d[a], distance);
    distance = wide_max(wide_abs(distance) - facing[3], wide_splat(s->half_spacing));
    const wide mirror = wide_splat(1) + facing[3] / distance;
    const wide smooth =
        only(p->near, wide_splat(s->mueller) * p->number * kernel_wide_laplacian(q));
    const wide drag = wide_select(facing[3] < wide_splat(0), wide_splat(0),
                                  wide_fma(wide_splat(-s->morris), slope, smooth) * mirror);
    for (int a = 0; a < 3; a++) {
        sums->pressure[a] = wide_fma(squeeze, p->d[a], sums->pressure[a]);
        sums->viscous[a] = wide_fma(drag, flow[a] - v[a], sums->viscous[a]);
    }
    if (s->damp > 0) add_wall_damping(sums, s, p, v, flow, facing, slope);
    if (!s->extras || !(s->options->shifting > 0)) return;
    const wide w = only(p->near, kernel_wide(kernel, q, p->q2));
    add_shift(sums, s, p, w, slope);
}

INLINE void force_row(sph *s, int64_t i, sph_kernel kernel, bool wraps) {
    const row r = row_of(s, i, wraps);
    const real *flow = s->of.flow + 4 * i;
    const real own = s->of.place[4 * i + 3];
    const wide v[3] = {wide_splat(flow[0]), wide_splat(flow[1]), wide_splat(flow[2])};
    const wide pressure = wide_splat(flow[3]);
    const wide weight = wide_splat(sph_leaning(s, flow[3]) * s->weight);
    force_sums sums;
    memset(&sums, 0, sizeof sums);
    FOR_ROW(&s->liquid, i, k, left) {
        const pairs p = pairs_load(&r, s->of.place, s->liquid.list + k, left);
        add_forces(&sums, s, &p, s->liquid.list + k, v, pressure, wide_splat(own), kernel);
    }
    FOR_ROW(&s->wall, i, k, left) {
        const pairs p = pairs_load(&r, s->on.place, s->wall.list + k, left);
        add_wall_forces(&sums, s, &p, s->wall.list + k, v, pressure, weight, kernel);
    }
    real *push = s->push + 4 * i;
    for (int a = 0; a < 3; a++)
        push[a] = s->gravity[a] +
                  own * (wide_sum(sums.viscous[a]) - s->squeeze * wide_sum(sums.pressure[a]));
    push[3] = 0;
    if (!s->extras) return;
    real *aside = s->aside + 8 * i;
    for (int a = 0; a < 3; a++) {
        aside[a] = s->smooth * wide_sum(sums.smooth[a]);
        aside[4 + a] = wide_sum(sums.shift[a]);
    }
}

/* ---- Incompressible -------------------------------------------------------------------------- */

/* dt D delta / Dt, of the velocities in the records. */
INLINE void rate_row(sph *s, int64_t i, sph_kernel kernel, bool wraps) {
    const row r = row_of(s, i, wraps);
    const real *own = s->of.flow + 4 * i;
    const wide v[3] = {wide_splat(own[0]), wide_splat(own[1]), wide_splat(own[2])};
    wide sum = wide_splat(0);
    FOR_ROW(&s->liquid, i, k, left) {
        wide place[4], flow[4], d[3], approach = wide_splat(0);
        load_records(s->of.place, s->liquid.list + k, place);
        load_records(s->of.flow, s->liquid.list + k, flow);
        differ(&r, place, d);
        for (int a = 0; a < 3; a++) approach = wide_fma(v[a] - flow[a], d[a], approach);
        sum = wide_fma(wide_load(s->slopes + k), approach, sum);
    }
    FOR_ROW(&s->wall, i, k, left) {
        const pairs p = pairs_load(&r, s->on.place, s->wall.list + k, left);
        const wide slope = only(p.near, kernel_wide_slope(kernel, wide_sqrt(p.q2)) *
                                            (wide_splat(s->slope) * p.number));
        wide flow[4], approach = wide_splat(0);
        load_records(s->on.flow, s->wall.list + k, flow);
        for (int a = 0; a < 3; a++) approach = wide_fma(v[a] - flow[a], p.d[a], approach);
        sum = wide_fma(slope + slope, approach, sum); /* the image comes from the other side */
    }
    s->source[i] = wide_sum(sum) * s->rate;
}

/* The iteration's sums are vectors that need no roots, so here a lane is a component and a wide two
 * neighbours: nothing is transposed, and little is left to add up at the end of a row. */
INLINE wide load_two(const real *records, const int32_t *list) {
    return wide_join(quad_load(records + 4 * (int64_t)list[0]),
                     quad_load(records + 4 * (int64_t)list[1]));
}

/* Factors 2 k and 2 k + 1 of eight, four times each. */
INLINE wide spread_two(wide factors, int k) {
    switch (k) {
    case 0: return __builtin_shufflevector(factors, factors, 0, 0, 0, 0, 1, 1, 1, 1);
    case 1: return __builtin_shufflevector(factors, factors, 2, 2, 2, 2, 3, 3, 3, 3);
    case 2: return __builtin_shufflevector(factors, factors, 4, 4, 4, 4, 5, 5, 5, 5);
    default: return __builtin_shufflevector(factors, factors, 6, 6, 6, 6, 7, 7, 7, 7);
    }
}

/* A particle's place less those of two neighbours; the last component is of no use. */
INLINE wide differ_two(const sph *s, wide own, wide places, bool wraps) {
    const wide d = own - places;
    if (!wraps) return d;
    const wide turns =
        wide_floor(wide_fma(d, wide_twice(quad_load(s->inverse_period)), wide_splat((real)0.5)));
    return wide_fma(turns, -wide_twice(quad_load(s->period)), d);
}

/* u_i = -K_i G_i - sum_j K_j V grad W_ij */
INLINE void displace_row(sph *s, int64_t i, bool wraps) {
    const quad pull = quad_load(s->pull + 4 * i);
    const wide own = wide_twice(quad_load(s->of.place + 4 * i));
    wide sums[2] = {wide_splat(0), wide_splat(0)};
    FOR_ROW(&s->liquid, i, k, left) {
        const wide slopes = wide_load(s->slopes + k);
        for (int two = 0; two < 4; two++) {
            const wide other = load_two(s->of.place, s->liquid.list + k + 2 * two);
            const wide K = __builtin_shufflevector(other, other, 3, 3, 3, 3, 7, 7, 7, 7);
            sums[two % 2] = wide_fma(spread_two(slopes, two) * K, differ_two(s, own, other, wraps),
                                     sums[two % 2]);
        }
    }
    const wide sum = sums[0] + sums[1];
    const real K = s->of.place[4 * i + 3];
    quad_store(s->push + 4 * i, -quad_fma(quad_splat(K), pull, wide_low(sum) + wide_high(sum)));
}

/* The sum over three components of two neighbours. */
INLINE real sum_components(wide v) {
    const quad both = wide_low(v) + wide_high(v);
    return both[0] + both[1] + both[2];
}

/* Jacobi: K_i <- max(0, K_i + omega (s - A K)_i / A_ii). Returns by how much the density is off: all of
 * it where there is pressure, which is to be neither too low nor too high, else what is too dense. */
INLINE real correct_row(sph *s, int64_t i, real *next, bool wraps) {
    const real *pull = s->pull + 4 * i, *push = s->push + 4 * i;
    const wide own = wide_twice(quad_load(s->of.place + 4 * i));
    wide sums[2] = {wide_splat(0), wide_splat(0)};
    FOR_ROW(&s->liquid, i, k, left) {
        const wide slopes = wide_load(s->slopes + k);
        for (int two = 0; two < 4; two++) {
            const int32_t *list = s->liquid.list + k + 2 * two;
            const wide d = differ_two(s, own, load_two(s->of.place, list), wraps);
            sums[two % 2] =
                wide_fma(spread_two(slopes, two) * d, load_two(s->push, list), sums[two % 2]);
        }
    }
    real change = -sum_components(sums[0] + sums[1]);
    for (int a = 0; a < 3; a++) change = real_fma(push[a], pull[a], change);
    const real miss = s->source[i] - change;
    const real K = s->of.place[4 * i + 3], step = s->relaxation * pull[3];
    const real wanted = real_fma(-step, miss, K);
    *next = wanted > 0 ? wanted : 0;
    const real change_of_K = *next > K ? *next - K : K - *next;
    return step > 0 ? change_of_K / step : 0;
}

#endif
