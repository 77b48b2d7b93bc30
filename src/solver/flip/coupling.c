/*
 * Viscosity and pressure together. One after the other they do not fit: the projection gives the
 * liquid slip along sticky walls again, which the viscosity has just taken, by as much as viscosity
 * reaches in a step. Drag in a lattice of cylinders was 28 % too small at steps of a diffusion
 * time. What is meant is the Stokes problem
 *
 *     (V + s K) u = V (u* - grad p),   div u = 0,        s = mu dt / (rho dx^2)   (viscosity.c),
 *
 * which is solved by going round: viscosity with the pressure so far, projection, and
 *
 *     p += q - 2 s div u     for the projection's q of the u before it,
 *
 * with which a round removes all but the walls' part of the error (Cahouet and Chabard 1988; in
 * time instead of rounds Timmermans et al. 1996, Brown et al. 2001). Two rounds after the first
 * solve leave less than 1 % of the drag. Nothing is kept from step to step.
 */
#include "solver/flip/flip.h"

/* Rounds; and the reach of viscosity in a step, as the s below which it has none beyond a cell. */
enum { ROUNDS = 2 };
static const double least_reach = 0.1;

static double reach(const flip *f) {
    const double dx = f->domain->dx;
    return f->viscosity * f->sim->dt / (f->density * dx * dx);
}

bool flip_is_coupled(const flip *f) { return reach(f) > least_reach; }

double flip_first_tolerance(const flip *f) { return fmax(f->options->tolerance, 1e-3); }

typedef struct coupling {
    const flip *f;
    double *p; /* so far, in the units of mac.h */
} coupling;

/* What flows out of a cell through its faces; 0 beside the surface, where the pressure is given. */
static double outflow(const mac *m, int64_t brick, int c) {
    double sum = 0;
    int at[3];
    mac_place(c, m->dim, at);
    for (int n = 0; n < 2 * m->dim; n++) {
        const mac_side s = mac_side_of(m, brick, c, at, n);
        if (s.beyond < 0) return 0;
        const double fraction = (double)m->face_fraction[s.axis][s.face];
        if (fraction > 0 && m->phi[0][s.beyond] >= 0) return 0;
        sum += s.way * (fraction * (double)m->velocity[s.axis][s.face] +
                        (1 - fraction) * (double)m->solid_velocity[s.axis][s.face]);
    }
    return sum;
}

/* p -= 2 s div u, before the projection. */
static void add_viscous_part(void *data, chunk items) {
    const coupling *k = data;
    const mac *m = &k->f->grid;
    const double factor = 2 * reach(k->f);
    for (int64_t brick = items.begin; brick < items.end; brick++)
        for (int c = 0; c < mac_cells(m->dim); c++) {
            const int64_t here = brick * mac_cells(m->dim) + c;
            if (m->phi[0][here] < 0) k->p[here] -= factor * outflow(m, brick, c);
        }
}

/* p += q, after it; and the velocity is that before viscosity again, which `displacement` has
 * kept. */
static void begin_round(void *data, chunk items) {
    const coupling *k = data;
    const mac *m = &k->f->grid;
    const size_t first = (size_t)(items.begin * mac_cells(m->dim));
    const size_t count = (size_t)((items.end - items.begin) * mac_cells(m->dim));
    for (size_t c = first; c < first + count; c++) k->p[c] += m->pressure[0][c];
    for (int a = 0; a < m->dim; a++)
        memcpy(m->velocity[a] + first, m->displacement[a] + first, count * sizeof(real));
}

static void take_pressure(void *data, chunk items) {
    const coupling *k = data;
    const mac *m = &k->f->grid;
    for (int64_t c = items.begin * mac_cells(m->dim); c < items.end * mac_cells(m->dim); c++)
        m->pressure[0][c] += k->p[c];
}

static spate_status go_round(flip *f, coupling *k, mac *grid, const pressure_options *options,
                             bool last, pressure_report *report) {
    pool *threads = f->threads;
    const int64_t bricks = f->grid.bricks.count;
    mac so_far = *grid;
    so_far.pressure[0] = k->p;
    parallel_for(threads, bricks, 16, begin_round, k);
    TRY(flip_tension(f));
    pressure_accelerate(f->pressure, &so_far, options);
    TRY(flip_viscosity(f, options->tolerance, last));
    parallel_for(threads, bricks, 16, add_viscous_part, k);
    return pressure_project_again(f->pressure, grid, options, report);
}

void flip_keep_velocity(flip *f) {
    const mac *m = &f->grid;
    const size_t bytes = (size_t)(m->bricks.count * mac_cells(m->dim)) * sizeof(real);
    for (int a = 0; a < m->dim; a++) memcpy(m->displacement[a], m->velocity[a], bytes);
}

spate_status flip_couple(flip *f, mac *grid, const pressure_options *options,
                         pressure_report *report) {
    pool *threads = f->threads;
    const int64_t bricks = f->grid.bricks.count;
    const size_t cells = (size_t)(bricks * mac_cells(f->grid.dim));
    coupling k = {.f = f};
    k.p = scratch_take(&f->sim->scratch, "flip coupled pressure", cells + 1, sizeof *k.p);
    if (!k.p) return SPATE_OUT_OF_MEMORY;
    memset(k.p, 0, cells * sizeof *k.p);
    parallel_for(threads, bricks, 16, add_viscous_part, &k);
    pressure_options loose = *options;
    loose.tolerance = flip_first_tolerance(f);
    spate_status status = pressure_project(f->pressure, grid, &loose, report);
    for (int round = 1; round <= ROUNDS && !status; round++)
        status = go_round(f, &k, grid, round < ROUNDS ? &loose : options, round == ROUNDS, report);
    if (!status) parallel_for(threads, bricks, 16, take_pressure, &k);
    scratch_give(&f->sim->scratch, "flip coupled pressure");
    return status;
}
