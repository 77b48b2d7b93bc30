/* The sums over neighbours of sph.h, eight pairs at a time; reference.c has them plainly. */
#ifndef SPATE_SOLVER_SPH_SUMS_H
#define SPATE_SOLVER_SPH_SUMS_H

#include "solver/lanes.h"
#include "solver/sph/view.h"

/* ---- Pairs ----------------------------------------------------------------------------------- */

/* A particle as its neighbours are compared with it. */
typedef struct row {
    const sph_view *s;
    int64_t i;
    wide x[3];
    bool wraps;
} row;

/* Eight neighbours: what lies between, i less j, in cells. */
typedef struct pairs {
    wide d[3], q2, number; /* the last of the position's record */
    wide_int near;         /* lanes that count */
} pairs;

INLINE row row_of(const sph_view *s, int64_t i, bool wraps) {
    const real *x = s->fluid.position[i];
    return (row){s, i, {wide_splat(x[0]), wide_splat(x[1]), wide_splat(x[2])}, wraps};
}

/* The records of eight particles as four lanes-wide components. */
INLINE void load_records(const real4 *records, const int32_t *list, wide out[4]) {
    for (int k = 0; k < 4; k++)
        out[k] = wide_join(quad_load(records[list[k]]), quad_load(records[list[k + 4]]));
    transpose_quads(out);
}

INLINE wide_int first_lanes(int64_t count) {
    const wide_int lanes = {0, 1, 2, 3, 4, 5, 6, 7};
    return lanes < wide_splat_int((real_bits)(count > WIDE ? WIDE : count));
}

/* Differences to eight places, to the nearest image. */
INLINE void difference(const row *r, const wide x[4], wide d[3]) {
    for (int a = 0; a < 3; a++) {
        d[a] = r->x[a] - x[a];
        if (!r->wraps) continue;
        const wide turns =
            wide_floor(wide_fma(d[a], wide_splat(r->s->inverse_period[a]), wide_splat((real)0.5)));
        d[a] = wide_fma(turns, wide_splat(-r->s->period[a]), d[a]);
    }
}

INLINE pairs pairs_load(const row *r, const real4 *positions, const int32_t *list, int64_t count) {
    wide x[4];
    pairs p;
    load_records(positions, list, x);
    difference(r, x, p.d);
    const wide r2 = wide_fma(p.d[2], p.d[2], wide_fma(p.d[1], p.d[1], p.d[0] * p.d[0]));
    p.number = x[3];
    p.near = first_lanes(count) & (r2 < wide_splat(r->s->support2));
    p.q2 = r2 * wide_splat(r->s->inverse_support * r->s->inverse_support);
    return p;
}

/* Goes through a row, eight entries at a time: `k` is an entry of the list, `left` how many remain.
 * */
#define FOR_ROW(n, i, k, left) \
    for (int64_t k = (n)->first[i], left = (n)->number[i]; left > 0; k += WIDE, left -= WIDE)

INLINE wide where_near(wide_int near, wide value) {
    return wide_select(near, value, wide_splat(0));
}

INLINE void store_sums(real4 out, const wide sums[3]) {
    for (int a = 0; a < 3; a++) out[a] = wide_sum(sums[a]);
    out[3] = 0;
}

/* ---- Density --------------------------------------------------------------------------------- */

/* Sum of w, and where the method is implicit of V grad W (in 1 / cells), of its squares, and of
 * what walls hold of the weight (the hydrostatic part of their pressure). */
typedef struct density_sums {
    wide value, gradient[3], square, hydrostatic[3];
} density_sums;

/* What lies between along gravity, m/s^2 cells. */
INLINE wide along_gravity(const sph_view *s, const wide d[3]) {
    wide along = wide_splat(s->gravity[0]) * d[0];
    for (int a = 1; a < 3; a++) along = wide_fma(wide_splat(s->gravity[a]), d[a], along);
    return along;
}

/* Of the fluid V grad W / d is kept for the iterations that follow; `solid` are boundary particles,
 * whose number is their volume. */
INLINE void add_density(density_sums *sums, const sph_view *s, const pairs *p, real *pair_gradient,
                        sph_kernel kernel, bool implicit, bool solid) {
    const wide q = implicit || kernel != SPH_MUELLER ? wide_sqrt(p->q2) : p->q2;
    wide value = where_near(p->near, kernel_wide(kernel, q, p->q2));
    sums->value = solid ? wide_fma(p->number, value, sums->value) : sums->value + value;
    if (!implicit) return;
    wide factor =
        where_near(p->near, kernel_wide_derivative(kernel, q) * wide_splat(s->gradient_factor));
    if (solid)
        factor *= p->number + p->number; /* mirrored */
    else
        wide_store(pair_gradient, factor);
    wide square = wide_splat(0);
    const wide potential = solid ? wide_splat((real)0.5) * along_gravity(s, p->d) : square;
    for (int a = 0; a < 3; a++) {
        const wide gradient = factor * p->d[a];
        if (solid) sums->hydrostatic[a] = wide_fma(gradient, potential, sums->hydrostatic[a]);
        sums->gradient[a] += gradient;
        square = wide_fma(gradient, gradient, square);
    }
    if (!solid) sums->square += square;
}

/* A_ii below which a particle has no neighbours to be pressed away from. */
static const real least_diagonal = (real)1e-6;

INLINE void density_row(sph_view *s, int64_t i, sph_kernel kernel, bool implicit, bool wraps) {
    const row r = row_of(s, i, wraps);
    const wide zero = wide_splat(0);
    density_sums sums = {zero, {zero, zero, zero}, zero, {zero, zero, zero}};
    FOR_ROW(&s->fluid_neighbours, i, k, left) {
        const pairs p = pairs_load(&r, s->fluid.position, s->fluid_neighbours.list + k, left);
        add_density(&sums, s, &p, implicit ? s->pair_gradient + k : NULL, kernel, implicit, false);
    }
    FOR_ROW(&s->boundary_neighbours, i, k, left) {
        const pairs p = pairs_load(&r, s->boundary.position, s->boundary_neighbours.list + k, left);
        add_density(&sums, s, &p, NULL, kernel, implicit, true);
    }
    s->density[i] = s->kernel_factor * (1 + wide_sum(sums.value));
    if (!implicit) return;
    real square = wide_sum(sums.square), *G = s->gradient_sum[i];
    store_sums(s->hydrostatic[i], sums.hydrostatic);
    store_sums(G, sums.gradient);
    for (int a = 0; a < 3; a++) square = real_fma(G[a], G[a], square);
    G[3] = square > least_diagonal ? 1 / square : 0;
}

/* ---- Forces ---------------------------------------------------------------------------------- */

typedef struct force_sums {
    wide pressure[3], viscous[3], xsph[3], shift[3];
} force_sums;

/* The particle whose forces are summed, in every lane. */
typedef struct force_particle {
    wide v[3], pressure, inverse_density;
    wide hydrostatic; /* rho0 g in walls, as far as it leans on them */
} force_particle;

/* Monaghan's artificial viscosity: pairs that approach are pushed apart. */
INLINE void add_artificial_viscosity(force_sums *sums, const sph_view *s, const pairs *p,
                                     const wide v[3], const wide other[3], wide gradient) {
    wide approach = wide_splat(0);
    for (int a = 0; a < 3; a++) approach = wide_fma(v[a] - other[a], p->d[a], approach);
    const wide distance2 = wide_fma(p->q2, wide_splat(s->support2), wide_splat(s->softening2));
    const wide factor =
        wide_min(approach, wide_splat(0)) / distance2 * (wide_splat(s->artificial) * gradient);
    for (int a = 0; a < 3; a++) sums->viscous[a] = wide_fma(factor, p->d[a], sums->viscous[a]);
}

/* Particle shifting (Lind et al. 2012): down the gradient of concentration, with the term that
 * keeps pairs apart. */
INLINE void add_shift(force_sums *sums, const sph_view *s, const pairs *p, wide w, wide gradient) {
    const wide share = w * wide_splat(s->inverse_spacing_value), share2 = share * share;
    const wide factor = gradient * wide_fma(wide_splat((real)0.2), share2 * share2, wide_splat(1));
    for (int a = 0; a < 3; a++) sums->shift[a] = wide_fma(factor, p->d[a], sums->shift[a]);
}

INLINE void add_forces(force_sums *sums, const sph_view *s, const pairs *p, const int32_t *list,
                       const force_particle *own, sph_kernel kernel) {
    const wide q = wide_sqrt(p->q2);
    const wide inverse_density = p->number;
    const wide gradient =
        where_near(p->near, kernel_wide_derivative(kernel, q) * wide_splat(s->gradient_factor));
    wide other[4]; /* velocity and pressure */
    load_records(s->fluid.velocity, list, other);
    const wide pressure = (own->pressure + other[3]) * inverse_density * gradient;
    const wide mueller = where_near(p->near, wide_splat(s->mueller) * kernel_wide_laplacian(q));
    const wide laplacian = wide_fma(wide_splat(-s->morris), gradient, mueller) * inverse_density;
    for (int a = 0; a < 3; a++) {
        sums->pressure[a] = wide_fma(pressure, p->d[a], sums->pressure[a]);
        sums->viscous[a] = wide_fma(laplacian, other[a] - own->v[a], sums->viscous[a]);
    }
    if (s->artificial > 0)
        add_artificial_viscosity(sums, s, p, own->v, other, gradient * inverse_density);
    if (!s->extras) return;
    const wide w = where_near(p->near, kernel_wide(kernel, q, p->q2));
    const wide mean = wide_splat(2) * own->inverse_density * inverse_density /
                      (own->inverse_density + inverse_density); /* 1 / the mean density */
    for (int a = 0; a < 3; a++)
        sums->xsph[a] = wide_fma(w * mean, other[a] - own->v[a], sums->xsph[a]);
    if (s->shifts) add_shift(sums, s, p, w, gradient);
}

/* The same of boundary particles. Along a wall that is not sticky nothing is damped: points ahead
 * are approached and those behind are not, which would be friction. */
INLINE void add_boundary_artificial_viscosity(force_sums *sums, const sph_view *s, const pairs *p,
                                              const wide v[3], const wide solid[3],
                                              const wide normal[4], wide gradient) {
    const wide_int slips = normal[3] < wide_splat(0);
    wide distance = wide_splat(0), approach = wide_splat(0), towards[3];
    for (int a = 0; a < 3; a++) distance = wide_fma(normal[a], p->d[a], distance);
    for (int a = 0; a < 3; a++) {
        towards[a] = wide_select(slips, distance * normal[a], p->d[a]);
        approach = wide_fma(v[a] - solid[a], towards[a], approach);
    }
    const wide distance2 = wide_fma(p->q2, wide_splat(s->support2), wide_splat(s->softening2));
    const wide factor =
        wide_min(approach, wide_splat(0)) / distance2 * (wide_splat(s->artificial) * gradient);
    for (int a = 0; a < 3; a++) sums->viscous[a] = wide_fma(factor, towards[a], sums->viscous[a]);
}

/* The pressure goes on in walls, with rho0 g as far as the particle leans on them; and the velocity
 * is mirrored in sticky ones. */
INLINE void add_boundary_forces(force_sums *sums, const sph_view *s, const pairs *p,
                                const int32_t *list, const force_particle *own, sph_kernel kernel) {
    const wide q = wide_sqrt(p->q2);
    const wide gradient = where_near(p->near, kernel_wide_derivative(kernel, q) *
                                                  (wide_splat(s->gradient_factor) * p->number));
    const wide pressure =
        (own->pressure + own->pressure - own->hydrostatic * along_gravity(s, p->d)) * gradient;
    wide wall[4], normal[4], distance;
    load_records(s->boundary.velocity, list, wall);
    load_records(s->boundary_normal, list, normal);
    /* A point half way between the sides of a thin wall serves both. */
    distance = normal[0] * p->d[0];
    for (int a = 1; a < 3; a++) distance = wide_fma(normal[a], p->d[a], distance);
    distance = wide_max(wide_abs(distance) - normal[3], wide_splat(s->half_spacing));
    const wide mirror = wide_splat(1) + normal[3] / distance;
    const wide mueller =
        where_near(p->near, wide_splat(s->mueller) * p->number * kernel_wide_laplacian(q));
    const wide laplacian =
        wide_select(normal[3] < wide_splat(0), wide_splat(0),
                    wide_fma(wide_splat(-s->morris), gradient, mueller) * mirror);
    for (int a = 0; a < 3; a++) {
        sums->pressure[a] = wide_fma(pressure, p->d[a], sums->pressure[a]);
        sums->viscous[a] = wide_fma(laplacian, wall[a] - own->v[a], sums->viscous[a]);
    }
    if (s->artificial > 0)
        add_boundary_artificial_viscosity(sums, s, p, own->v, wall, normal, gradient);
    if (!s->extras || !s->shifts) return;
    const wide w = where_near(p->near, kernel_wide(kernel, q, p->q2));
    add_shift(sums, s, p, w, gradient);
}

INLINE force_particle force_particle_of(const sph_view *s, int64_t i) {
    const real *v = s->fluid.velocity[i];
    return (force_particle){
        .v = {wide_splat(v[0]), wide_splat(v[1]), wide_splat(v[2])},
        .pressure = wide_splat(v[3]),
        .inverse_density = wide_splat(s->fluid.position[i][3]),
        .hydrostatic = wide_splat(sph_hydrostatic_share(s, v[3]) * s->hydrostatic_gradient)};
}

INLINE void force_row(sph_view *s, int64_t i, sph_kernel kernel, bool wraps) {
    const row r = row_of(s, i, wraps);
    const force_particle own = force_particle_of(s, i);
    force_sums sums;
    memset(&sums, 0, sizeof sums);
    FOR_ROW(&s->fluid_neighbours, i, k, left) {
        const int32_t *list = s->fluid_neighbours.list + k;
        const pairs p = pairs_load(&r, s->fluid.position, list, left);
        add_forces(&sums, s, &p, list, &own, kernel);
    }
    FOR_ROW(&s->boundary_neighbours, i, k, left) {
        const int32_t *list = s->boundary_neighbours.list + k;
        const pairs p = pairs_load(&r, s->boundary.position, list, left);
        add_boundary_forces(&sums, s, &p, list, &own, kernel);
    }
    for (int a = 0; a < 3; a++)
        s->acceleration[i][a] =
            s->gravity[a] +
            s->fluid.position[i][3] *
                (wide_sum(sums.viscous[a]) - s->pressure_factor * wide_sum(sums.pressure[a]));
    s->acceleration[i][3] = 0;
    if (!s->extras) return;
    for (int a = 0; a < 3; a++) {
        s->xsph[i][a] = s->xsph_factor * wide_sum(sums.xsph[a]);
        s->shift[i][a] = wide_sum(sums.shift[a]);
    }
}

/* ---- Incompressible -------------------------------------------------------------------------- */

/* dt D delta / Dt, of the velocities in the records. */
INLINE void rate_row(sph_view *s, int64_t i, sph_kernel kernel, bool wraps) {
    const row r = row_of(s, i, wraps);
    const real *own = s->fluid.velocity[i];
    const wide v[3] = {wide_splat(own[0]), wide_splat(own[1]), wide_splat(own[2])};
    wide sum = wide_splat(0);
    FOR_ROW(&s->fluid_neighbours, i, k, left) {
        wide x[4], other[4], d[3], approach = wide_splat(0);
        load_records(s->fluid.position, s->fluid_neighbours.list + k, x);
        load_records(s->fluid.velocity, s->fluid_neighbours.list + k, other);
        difference(&r, x, d);
        for (int a = 0; a < 3; a++) approach = wide_fma(v[a] - other[a], d[a], approach);
        sum = wide_fma(wide_load(s->pair_gradient + k), approach, sum);
    }
    FOR_ROW(&s->boundary_neighbours, i, k, left) {
        const pairs p = pairs_load(&r, s->boundary.position, s->boundary_neighbours.list + k, left);
        const wide gradient = where_near(p.near, kernel_wide_derivative(kernel, wide_sqrt(p.q2)) *
                                                     (wide_splat(s->gradient_factor) * p.number));
        wide wall[4], approach = wide_splat(0);
        load_records(s->boundary.velocity, s->boundary_neighbours.list + k, wall);
        for (int a = 0; a < 3; a++) approach = wide_fma(v[a] - wall[a], p.d[a], approach);
        sum =
            wide_fma(gradient + gradient, approach, sum); /* the image comes from the other side */
    }
    s->source[i] = wide_sum(sum) * s->displacement_factor;
}

/* The iteration's sums are vectors that need no roots, so here a lane is a component and a wide two
 * neighbours: nothing is transposed, and little is left to add up at the end of a row. */
INLINE wide load_two(const real4 *records, const int32_t *list) {
    return wide_join(quad_load(records[list[0]]), quad_load(records[list[1]]));
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

/* A particle's position less those of two neighbours; the last component is of no use. */
INLINE wide difference_two(const sph_view *s, wide own, wide others, bool wraps) {
    const wide d = own - others;
    if (!wraps) return d;
    const wide turns =
        wide_floor(wide_fma(d, wide_twice(quad_load(s->inverse_period)), wide_splat((real)0.5)));
    return wide_fma(turns, -wide_twice(quad_load(s->period)), d);
}

/* u_i = -K_i G_i - sum_j K_j V grad W_ij */
INLINE void displacement_row(sph_view *s, int64_t i, bool wraps) {
    const quad G = quad_load(s->gradient_sum[i]);
    const wide own = wide_twice(quad_load(s->fluid.position[i]));
    wide sums[2] = {wide_splat(0), wide_splat(0)};
    FOR_ROW(&s->fluid_neighbours, i, k, left) {
        const wide gradients = wide_load(s->pair_gradient + k);
        for (int two = 0; two < 4; two++) {
            const wide other = load_two(s->fluid.position, s->fluid_neighbours.list + k + 2 * two);
            const wide K = __builtin_shufflevector(other, other, 3, 3, 3, 3, 7, 7, 7, 7);
            sums[two % 2] = wide_fma(spread_two(gradients, two) * K,
                                     difference_two(s, own, other, wraps), sums[two % 2]);
        }
    }
    const wide sum = sums[0] + sums[1];
    const real K = s->fluid.position[i][3];
    quad_store(s->displacement[i], -quad_fma(quad_splat(K), G, wide_low(sum) + wide_high(sum)));
}

/* The sum over three components of two neighbours. */
INLINE real sum_components(wide v) {
    const quad both = wide_low(v) + wide_high(v);
    return both[0] + both[1] + both[2];
}

/* Jacobi: K_i <- max(0, K_i + omega (s - A K)_i / A_ii). The error is by how much the density is
 * off: all of it where there is pressure, which is to be neither too low nor too high, else what is
 * too dense. */
INLINE void jacobi_row(sph_view *s, int64_t i, bool wraps) {
    const real *G = s->gradient_sum[i], *u = s->displacement[i];
    const wide own = wide_twice(quad_load(s->fluid.position[i]));
    wide sums[2] = {wide_splat(0), wide_splat(0)};
    FOR_ROW(&s->fluid_neighbours, i, k, left) {
        const wide gradients = wide_load(s->pair_gradient + k);
        for (int two = 0; two < 4; two++) {
            const int32_t *list = s->fluid_neighbours.list + k + 2 * two;
            const wide d = difference_two(s, own, load_two(s->fluid.position, list), wraps);
            sums[two % 2] = wide_fma(spread_two(gradients, two) * d,
                                     load_two(s->displacement, list), sums[two % 2]);
        }
    }
    real change = -sum_components(sums[0] + sums[1]);
    for (int a = 0; a < 3; a++) change = real_fma(u[a], G[a], change);
    const real residual = s->source[i] - change;
    const real K = s->fluid.position[i][3], step = s->relaxation * G[3];
    const real wanted = real_fma(-step, residual, K);
    const real next = wanted > 0 ? wanted : 0;
    const real change_of_K = next > K ? next - K : K - next;
    s->next[i] = next;
    s->density_error[i] = step > 0 ? change_of_K / step : 0;
}

#endif
