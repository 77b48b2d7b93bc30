/* Between the grid and the solver: which bricks have liquid, weights of faces, divergence, and the
 * velocities that the pressure changes. */
#ifndef SPATE_SOLVER_FLUXES_H
#define SPATE_SOLVER_FLUXES_H

#include "solver/pressure/system.h"

/* ---- Rows of the grid ------------------------------------------------------------------------ */

/* Number of the brick of the grid at a side, or -1. */
INLINE int32_t grid_near(const mac *m, int64_t brick, int side, int dim) {
    return m->bricks.neighbours[brick][side_code(side, dim)];
}

/* A field in a brick and in those at its sides; `missing` stands for bricks that are not there. */
typedef struct field_around {
    const real *own, *near[CHECKER_SLOTS];
} field_around;

INLINE field_around field_of(const mac *m, const real *field, int64_t brick, const real *missing,
                             int dim) {
    field_around f = {.own = field + brick * checker_cells(dim)};
    for (int s = 0; s < 2 * dim; s++) {
        const int32_t near = grid_near(m, brick, s, dim);
        f.near[s] = near < 0 ? missing : field + (int64_t)near * checker_cells(dim);
    }
    return f;
}

INLINE wide own_row(const field_around *f, int i, int j) {
    return wide_load(f->own + row_at(i, j));
}
/* Row j of plane i moved by one cell to a side. */
INLINE wide moved_row(const field_around *f, int i, int j, int side) {
    const real *own = f->own + row_at(i, j), *near = f->near[side] + row_at(i, j);
    switch (side) {
    case 0: return ROW_BEFORE(wide_load(own), wide_load(near));
    case 1: return ROW_AFTER(wide_load(own), wide_load(near));
    case 2: return wide_load(j > 0 ? own - row_at(0, 1) : near + row_at(0, ROW_LAST));
    case 3: return wide_load(j < ROW_LAST ? own + row_at(0, 1) : near - row_at(0, ROW_LAST));
    case 4: return wide_load(i > 0 ? own - row_at(1, 0) : near + row_at(ROW_LAST, 0));
    default: return wide_load(i < ROW_LAST ? own + row_at(1, 0) : near - row_at(ROW_LAST, 0));
    }
}
/* A face's value at a side of the row's cells: faces belong to the cell after them. */
INLINE wide face_row(const field_around *f, int i, int j, int side) {
    return side & 1 ? moved_row(f, i, j, side) : own_row(f, i, j);
}

typedef struct grid_around {
    const real *target_divergence; /* of the brick's own cells */
    field_around phi;
    field_around face_fraction[3], velocity[3], solid_velocity[3]; /* by direction */
} grid_around;

INLINE grid_around grid_of(const pass_data *d, int64_t brick, int dim) {
    const mac *m = d->m;
    const pressure *p = d->p;
    grid_around g = {.target_divergence = m->target_divergence[0]
                                              ? m->target_divergence[0] + brick * checker_cells(dim)
                                              : p->zeros,
                     .phi = field_of(m, m->phi[0], brick, p->ones, dim)};
    for (int direction = 0; direction < dim; direction++) {
        const int a = grid_axis(direction, dim);
        g.face_fraction[direction] = field_of(m, m->face_fraction[a], brick, p->ones, dim);
        g.velocity[direction] = field_of(m, m->velocity[a], brick, p->zeros, dim);
        g.solid_velocity[direction] = field_of(m, m->solid_velocity[a], brick, p->zeros, dim);
    }
    return g;
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* The surface passes no closer to a liquid cell than this, in cells. */
static const real least_theta = (real)1e-3;

/* Distance of the surface from a liquid cell on the way to a cell of air, in cells. */
INLINE wide theta_of(wide phi, wide other, bool second_order) {
    if (!second_order) return wide_splat(1);
    return wide_max(phi / (phi - other), wide_splat(least_theta));
}

typedef struct side_weights {
    wide inner, surface; /* to liquid, to air */
} side_weights;

INLINE side_weights side_weights_of(const grid_around *g, int i, int j, int side,
                                    bool second_order) {
    const wide none = wide_splat(0);
    wide phi = own_row(&g->phi, i, j), other = moved_row(&g->phi, i, j, side);
    wide open = face_row(&g->face_fraction[side / 2], i, j, side);
    wide_int here = phi < none, there = other < none;
    wide theta = theta_of(phi, other, second_order);
    return (side_weights){.inner = wide_select(here & there, open, none),
                          .surface = wide_select(here & ~there, open / theta, none)};
}

INLINE void find_liquid_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const real *phi = d->m->phi[0] + brick * checker_cells(dim);
        wide least = wide_splat(0);
        for (int c = 0; c < checker_cells(dim); c += WIDE)
            least = wide_min(wide_load(phi + c), least);
        d->p->number[brick] = wide_any(least < wide_splat(0)) ? 0 : -1;
    }
}

/* Whether a brick and all around it is liquid, with all faces open. */
INLINE bool is_uniform(const grid_around *g, int dim) {
    for (int i = 0; i < checker_planes(dim); i++)
        for (int j = 0; j < BRICK_EDGE; j++)
            for (int s = 0; s < 2 * dim; s++)
                if (!wide_all(side_weights_of(g, i, j, s, false).inner == wide_splat(1)))
                    return false;
    return true;
}

INLINE void classify_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const grid_around g = grid_of(d, d->p->active[brick], dim);
        d->fine->stencil_class[brick] = is_uniform(&g, dim) ? STENCIL_UNIFORM : STENCIL_OWN;
    }
}

INLINE void face_rows_chunk(const pass_data *d, chunk items, int dim) {
    const level *l = d->fine;
    for (int64_t class = STENCIL_OWN + items.begin; class < STENCIL_OWN + items.end; class ++) {
        const grid_around g = grid_of(d, d->p->active[l->owner[class]], dim);
        for (int i = 0; i < checker_planes(dim); i++)
            for (int j = 0; j < BRICK_EDGE; j++) {
                const int64_t at = class * checker_cells(dim) + row_at(i, j);
                wide surface = wide_splat(0);
                for (int s = 0; s < 2 * dim; s++) {
                    side_weights w = side_weights_of(&g, i, j, s, d->second_order);
                    surface += w.surface;
                    if (!(s & 1)) wide_store(l->face[s / 2] + at, w.inner);
                }
                wide_store(l->surface + at, surface);
            }
    }
}

/* ---- Divergence ------------------------------------------------------------------------------ */

/* What flows across the faces at a side of half a row; all are open where a brick is uniform. */
INLINE quad_double flux(const grid_around *g, int i, int j, int side, int high, bool uniform) {
    if (uniform) return to_double(wide_half(face_row(&g->velocity[side / 2], i, j, side), high));
    quad_double open =
        to_double(wide_half(face_row(&g->face_fraction[side / 2], i, j, side), high));
    quad_double u = to_double(wide_half(face_row(&g->velocity[side / 2], i, j, side), high));
    quad_double wall =
        to_double(wide_half(face_row(&g->solid_velocity[side / 2], i, j, side), high));
    return open * u + (double_splat(1) - open) * wall;
}

/* What flows out of the cells of half a row, less what shall (mac.h: target_divergence). */
INLINE quad_double outflow(const grid_around *g, int i, int j, int high, bool uniform, int dim) {
    quad_double sum = flux(g, i, j, 1, high, uniform) - flux(g, i, j, 0, high, uniform);
    for (int s = 2; s < 2 * dim; s += 2)
        sum += flux(g, i, j, s + 1, high, uniform) - flux(g, i, j, s, high, uniform);
    return sum - to_double(wide_half(wide_load(g->target_divergence + row_at(i, j)), high));
}

/* The unknowns of a row as ones and zeros. */
INLINE wide unknown_row(const level *l, int64_t brick, int i, int j, int dim) {
    const int64_t at = (int64_t)l->stencil_class[brick] * checker_cells(dim) + row_at(i, j);
    return wide_select(wide_load(l->inverse + at) > wide_splat(0), wide_splat(1), wide_splat(0));
}

/* A row of a brick. */
typedef struct brick_row {
    int64_t brick;
    int i, j;
} brick_row;

INLINE void right_side_row(const pass_data *d, const grid_around *g, brick_row row, bool uniform,
                           quad_double v[2], int dim) {
    const int i = row.i, j = row.j;
    const int64_t brick = row.brick;
    const int64_t at = (int64_t)d->p->active[brick] * checker_cells(dim) + row_at(i, j);
    for (int h = 0; h < 2; h++) {
        v[h] = d->given ? double_load(d->given + at + 4 * h) : -outflow(g, i, j, h, uniform, dim);
        if (!uniform) v[h] *= to_double(wide_half(unknown_row(d->fine, brick, i, j, dim), h));
    }
}

/* Also sets x and p to nothing. */
INLINE void right_side_brick(const pass_data *d, int64_t brick, bool uniform, int dim) {
    const level *l = d->fine;
    const grid_around g = grid_of(d, d->p->active[brick], dim);
    const int64_t half[2] = {half_at(l, brick, RED, dim), half_at(l, brick, BLACK, dim)};
    for (int c = RED; c <= BLACK; c++) {
        memset(d->p->x + half[c], 0, (size_t)checker_half(dim) * sizeof(double));
        memset(d->p->p + half[c], 0, (size_t)checker_half(dim) * sizeof(real));
    }
    for (int i = 0; i < checker_planes(dim); i++)
        for (int q = 0; q < PAIRS; q++) {
            quad_double first[2], second[2];
            right_side_row(d, &g, (brick_row){brick, i, 2 * q}, uniform, first, dim);
            right_side_row(d, &g, (brick_row){brick, i, 2 * q + 1}, uniform, second, dim);
            double *even = d->p->rhs + half[i & 1] + i * PLANE_REALS + q * WIDE;
            double *odd = d->p->rhs + half[!(i & 1)] + i * PLANE_REALS + q * WIDE;
            double_store(even, PACK_HALF(first[0], first[1], 0));
            double_store(even + 4, PACK_HALF(second[0], second[1], 1));
            double_store(odd, PACK_HALF(first[0], first[1], 1));
            double_store(odd + 4, PACK_HALF(second[0], second[1], 0));
        }
}

INLINE void right_side_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++)
        if (d->fine->stencil_class[brick] == STENCIL_UNIFORM)
            right_side_brick(d, brick, true, dim);
        else
            right_side_brick(d, brick, false, dim);
}

INLINE void largest_divergence_brick(const pass_data *d, int64_t brick, bool uniform, int dim) {
    const grid_around g = grid_of(d, d->p->active[brick], dim);
    wide most = wide_splat(0);
    for (int i = 0; i < checker_planes(dim); i++)
        for (int j = 0; j < BRICK_EDGE; j++) {
            wide v = wide_join(to_real(outflow(&g, i, j, 0, uniform, dim)),
                               to_real(outflow(&g, i, j, 1, uniform, dim)));
            if (!uniform) v *= unknown_row(d->fine, brick, i, j, dim);
            most = wide_max(most, wide_abs(v));
        }
    d->p->largest[brick] = wide_largest(most);
}

INLINE void largest_divergence_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++)
        if (d->fine->stencil_class[brick] == STENCIL_UNIFORM)
            largest_divergence_brick(d, brick, true, dim);
        else
            largest_divergence_brick(d, brick, false, dim);
}

/* ---- The pressure's work --------------------------------------------------------------------- */

INLINE void store_pressure_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        double *rows = d->m->pressure[0] + brick * checker_cells(dim);
        const int64_t number = d->p->number[brick];
        if (number < 0) {
            memset(rows, 0, sizeof(double) * (size_t)checker_cells(dim));
            continue;
        }
        const level *l = &d->p->levels[0];
        const int64_t half[2] = {half_at(l, number, RED, dim), half_at(l, number, BLACK, dim)};
        for (int i = 0; i < checker_planes(dim); i++)
            for (int q = 0; q < PAIRS; q++) {
                const double *even = d->p->x + half[i & 1] + i * PLANE_REALS + q * WIDE;
                const double *odd = d->p->x + half[!(i & 1)] + i * PLANE_REALS + q * WIDE;
                double *to = rows + row_at(i, 2 * q);
                quad_double e = double_load(even), o = double_load(odd);
                double_store(to, UNPACK_LOW(e, o)), double_store(to + 4, UNPACK_HIGH(e, o));
                o = double_load(even + 4), e = double_load(odd + 4);
                double_store(to + 8, UNPACK_LOW(e, o)), double_store(to + 12, UNPACK_HIGH(e, o));
            }
    }
}

/* Pressure of a row and of the one before it in a direction: their difference, and both. */
typedef struct pressure_step {
    wide step, here, before;
} pressure_step;

INLINE pressure_step step_of(const double *own, const double *beyond, int i, int j, int direction) {
    const int at = row_at(i, j), stride = direction_stride(direction);
    quad step[2], here[2], before[2];
    for (int h = 0; h < 2; h++) {
        quad_double p = double_load(own + at + 4 * h), q;
        if (direction > 0)
            q = double_load((direction == 1 ? j : i) > 0 ? own + at + 4 * h - stride
                                                         : beyond + at + 4 * h + ROW_LAST * stride);
        else if (h == 0)
            q = __builtin_shufflevector(double_splat(beyond[at + ROW_LAST]), p, 0, 4, 5, 6);
        else
            q = double_load(own + at + 3);
        step[h] = to_real(p - q), here[h] = to_real(p), before[h] = to_real(q);
    }
    return (pressure_step){wide_join(step[0], step[1]), wide_join(here[0], here[1]),
                           wide_join(before[0], before[1])};
}

/* Corrects the low faces of a row in a direction; `beyond` is the pressure of the brick before. */
INLINE void correct_row(const pass_data *d, const grid_around *g, const double *beyond,
                        brick_row row, int direction, int dim) {
    const int i = row.i, j = row.j;
    const int64_t brick = row.brick;
    const wide none = wide_splat(0);
    const int a = grid_axis(direction, dim);
    const int64_t cell = brick * checker_cells(dim) + row_at(i, j);
    wide phi = own_row(&g->phi, i, j), other = moved_row(&g->phi, i, j, 2 * direction);
    wide_int here = phi < none, there = other < none, touched = here | there;
    if (!wide_any(touched)) return;

    const double *own = d->m->pressure[0] + brick * checker_cells(dim);
    const pressure_step p = step_of(own, beyond, i, j, direction);
    wide step = p.step;
    if (!wide_all(here & there)) {
        wide up = p.here / theta_of(phi, other, d->second_order);
        wide down = -p.before / theta_of(other, phi, d->second_order);
        step = wide_select(here & ~there, up, wide_select(~here & there, down, step));
    }
    const wide_int open = own_row(&g->face_fraction[direction], i, j) > none, set = touched & open;
    wide u = own_row(&g->velocity[direction], i, j);
    u = wide_select(touched,
                    wide_select(open, u - step, own_row(&g->solid_velocity[direction], i, j)), u);
    wide_store(d->m->velocity[a] + cell, u);
    uint8_t *valid = d->m->valid[0] + cell;
    for (int k = 0; k < WIDE; k++) valid[k] |= (uint8_t)((set[k] & 1) << a);
}

/* A row of a uniform brick: all faces are open and between liquid. */
INLINE void correct_uniform_row(const pass_data *d, const double *beyond, brick_row row,
                                int direction, int dim) {
    const int i = row.i, j = row.j;
    const int64_t brick = row.brick;
    const double *own = d->m->pressure[0] + brick * checker_cells(dim);
    real *u = d->m->velocity[grid_axis(direction, dim)] + brick * checker_cells(dim) + row_at(i, j);
    wide_store(u, wide_load(u) - step_of(own, beyond, i, j, direction).step);
}

INLINE void correct_brick(const pass_data *d, const double *const beyond[3], int64_t brick,
                          int dim) {
    const int64_t number = d->p->number[brick];
    const bool uniform = number >= 0 && d->p->levels[0].stencil_class[number] == STENCIL_UNIFORM;
    const grid_around g = grid_of(d, brick, dim);
    for (int i = 0; i < checker_planes(dim); i++)
        for (int j = 0; j < BRICK_EDGE; j++)
            for (int direction = 0; direction < dim; direction++)
                if (uniform)
                    correct_uniform_row(d, beyond[direction], (brick_row){brick, i, j}, direction,
                                        dim);
                else
                    correct_row(d, &g, beyond[direction], (brick_row){brick, i, j}, direction, dim);
    uint8_t *valid = d->m->valid[0] + brick * checker_cells(dim);
    for (int c = 0; uniform && c < checker_cells(dim); c++) valid[c] |= (1 << dim) - 1;
}

INLINE void correct_chunk(const pass_data *d, chunk items, int dim) {
    for (int64_t brick = items.begin; brick < items.end; brick++) {
        const double *beyond[3];
        bool any = d->p->number[brick] >= 0;
        for (int direction = 0; direction < dim; direction++) {
            const int32_t near = grid_near(d->m, brick, 2 * direction, dim);
            any |= near >= 0 && d->p->number[near] >= 0;
            /* air where there is no brick: its pressure is not asked for */
            beyond[direction] = d->m->pressure[0] + (near < 0 ? brick : near) * checker_cells(dim);
        }
        if (any) correct_brick(d, beyond, brick, dim);
    }
}

#endif
