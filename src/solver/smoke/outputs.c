/* What others ask of the gas: numbers, values at a place, fields of cells. */
#include "core/hash.h"
#include "core/vec.h"
#include "solver/smoke/smoke.h"

/* ---- A cell ---------------------------------------------------------------------------------- */

static double cell_component(const smoke *s, int64_t at, int a) {
    const real *u = s->velocity[a] + at;
    if (s->options->grid != SMOKE_MAC) return (double)u[0];
    return 0.5 * ((double)u[0] + (double)u[s->layout.stride[a]]);
}

static void cell_velocity(const smoke *s, int64_t at, double v[3]) {
    v[2] = 0;
    for (int a = 0; a < s->layout.dim; a++) v[a] = cell_component(s, at, a);
}

static double cell_smoke(const smoke *s, int64_t at) {
    double sum = 0;
    for (int d = 0; d < s->dye_count; d++) sum += (double)s->dyes[d][at];
    return sum;
}

/* d v_a / d x_b by central differences, of two different axes. */
static double cell_slope(const smoke *s, int64_t at, int a, int b) {
    const int64_t step = s->layout.stride[b];
    return (cell_component(s, at + step, a) - cell_component(s, at - step, a)) / (2 * s->dx);
}

static void cell_vorticity(const smoke *s, int64_t at, double w[3]) {
    vec_set(w, 0, 0, cell_slope(s, at, 1, 0) - cell_slope(s, at, 0, 1));
    if (s->layout.dim == 2) return;
    w[0] = cell_slope(s, at, 2, 1) - cell_slope(s, at, 1, 2);
    w[1] = cell_slope(s, at, 0, 2) - cell_slope(s, at, 2, 0);
}

/* ---- Numbers --------------------------------------------------------------------------------- */

enum { SUM_SMOKE, SUM_MOMENTUM, SUM_SQUARES = SUM_MOMENTUM + 3, SUM_CELLS, SUMS };

/* Twice the kinetic energy of a cell over its mass: on faces, each belongs to its two cells by
 * half. */
static double cell_square(const smoke *s, int64_t at) {
    double sum = 0;
    for (int a = 0; a < s->layout.dim; a++) {
        const double low = (double)s->velocity[a][at];
        const double high = (double)s->velocity[a][at + s->layout.stride[a]];
        sum += s->options->grid == SMOKE_MAC ? 0.5 * (low * low + high * high) : low * low;
    }
    return sum;
}

static void sum_rows(void *data, chunk items, double *part) {
    const smoke *s = data;
    for (int64_t r = items.begin; r < items.end; r++) {
        const layout_row row = layout_row_at(&s->layout, PLACE_MIDDLE, r, s->layout.dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            double v[3];
            if (smoke_is_solid(s, at)) continue;
            cell_velocity(s, at, v);
            part[SUM_SMOKE] += cell_smoke(s, at);
            for (int a = 0; a < 3; a++) part[SUM_MOMENTUM + a] += v[a];
            part[SUM_SQUARES] += cell_square(s, at);
            part[SUM_CELLS] += 1;
        }
    }
}

void smoke_numbers(spate_simulation *sim, solver_numbers *out) {
    const smoke *s = sim->solver;
    const double cell = pow(sim->scene->domain.dx, sim->scene->dim), mass = s->density * cell;
    double sums[SUMS];
    parallel_sum(sim->ctx, layout_rows(&s->layout, PLACE_MIDDLE), 16, sum_rows, (void *)s, SUMS,
                 sums);
    out->mass = mass * sums[SUM_SMOKE];
    for (int a = 0; a < 3; a++) out->momentum[a] = mass * sums[SUM_MOMENTUM + a];
    out->kinetic_energy = 0.5 * mass * sums[SUM_SQUARES];
    out->volume = cell * sums[SUM_CELLS];
    out->max_speed = sim->max_speed;
    out->max_divergence = s->memory.divergence;
}

void smoke_solved(const spate_simulation *sim, double *iterations, double *residual) {
    const smoke *s = sim->solver;
    *iterations = (double)s->memory.iterations;
    *residual = s->memory.residual;
}

/* Dyes, heat and velocity, but not what lies around them. */
static uint64_t hash_values(const smoke *s, int place, const real *values, uint64_t seed) {
    hash_state h;
    hash_begin(&h, seed);
    for (int64_t r = 0; r < layout_rows(&s->layout, place); r++) {
        const layout_row row = layout_row_at(&s->layout, place, r, s->layout.dim);
        hash_add(&h, values + row.begin, (size_t)row.length * sizeof(real));
    }
    return hash_end(&h);
}

uint64_t smoke_hash(const spate_simulation *sim, uint64_t seed) {
    const smoke *s = sim->solver;
    for (int a = 0; a < s->layout.dim; a++)
        seed = hash_values(s, smoke_place(s, a), s->velocity[a], seed);
    for (int d = 0; d < s->dye_count; d++) seed = hash_values(s, PLACE_MIDDLE, s->dyes[d], seed);
    if (s->temperature) seed = hash_values(s, PLACE_MIDDLE, s->temperature, seed);
    return seed;
}

/* ---- At a place ------------------------------------------------------------------------------ */

/* Linear between the values of a place; what is outside the domain is put on its side. */
static double value_at(const smoke *s, int place, const real *values, const double x[3]) {
    const layout *l = &s->layout;
    const domain *d = &s->scene->domain;
    int64_t at = l->first;
    double share[3] = {0}, sum = 0;
    for (int a = 0; a < l->dim; a++) {
        const double n = l->n[a], cells = fmin(fmax((x[a] - d->origin[a]) / d->dx, 0), n);
        const double index = cells - (a == place ? 0 : 0.5), below = fmin(floor(index), n - 1);
        share[a] = index - below;
        at += (int64_t)below * l->stride[a];
    }
    for (int c = 0; c < 1 << l->dim; c++) {
        double weight = 1;
        int64_t corner = at;
        for (int a = 0; a < l->dim; a++) {
            const bool above = c >> a & 1;
            weight *= above ? share[a] : 1 - share[a];
            if (above) corner += l->stride[a];
        }
        if (weight > 0) sum += weight * (double)values[corner];
    }
    return sum;
}

void smoke_velocity_at(const spate_simulation *sim, const double x[3], double v[3]) {
    const smoke *s = sim->solver;
    v[2] = 0;
    for (int a = 0; a < s->layout.dim; a++)
        v[a] = value_at(s, smoke_place(s, a), s->velocity[a], x);
}

double smoke_pressure_at(const spate_simulation *sim, const double x[3]) {
    const smoke *s = sim->solver;
    return value_at(s, PLACE_MIDDLE, s->pressure, x);
}

/* ---- Fields of cells ------------------------------------------------------------------------- */

typedef enum volume_kind {
    VOLUME_SMOKE,
    VOLUME_DYE,
    VOLUME_TEMPERATURE,
    VOLUME_VELOCITY,
    VOLUME_PRESSURE,
    VOLUME_VORTICITY
} volume_kind;

typedef struct volume_entry {
    volume_kind kind;
    int dye;
    volume_field field;
} volume_entry;

enum { VOLUMES_MAX = SMOKE_DYES + 5 };

static int list_volumes(const smoke *s, volume_entry out[VOLUMES_MAX]) {
    int count = 0;
    out[count++] = (volume_entry){VOLUME_SMOKE, 0, {"density", 1}};
    for (int d = 0; d < s->dye_count && s->dye_count > 1; d++)
        out[count++] = (volume_entry){VOLUME_DYE, d, {s->kinds[d].name, 1}};
    if (s->temperature) out[count++] = (volume_entry){VOLUME_TEMPERATURE, 0, {"temperature", 1}};
    out[count++] = (volume_entry){VOLUME_VELOCITY, 0, {"velocity", 3}};
    out[count++] = (volume_entry){VOLUME_PRESSURE, 0, {"pressure", 1}};
    out[count++] = (volume_entry){VOLUME_VORTICITY, 0, {"vorticity", s->layout.dim == 2 ? 1 : 3}};
    return count;
}

int smoke_volumes(const spate_simulation *sim, volume_field *out, int capacity) {
    volume_entry entries[VOLUMES_MAX];
    const int count = list_volumes(sim->solver, entries);
    for (int i = 0; i < count && i < capacity; i++) out[i] = entries[i].field;
    return count;
}

typedef struct volume_job {
    const smoke *s;
    volume_entry entry;
    float *values;
} volume_job;

static void cell_value(const volume_job *job, int64_t at, double v[3]) {
    const smoke *s = job->s;
    switch (job->entry.kind) {
    case VOLUME_SMOKE: v[0] = cell_smoke(s, at); break;
    case VOLUME_DYE: v[0] = (double)s->dyes[job->entry.dye][at]; break;
    case VOLUME_TEMPERATURE: v[0] = (double)s->temperature[at]; break;
    case VOLUME_PRESSURE: v[0] = (double)s->pressure[at]; break;
    case VOLUME_VELOCITY: cell_velocity(s, at, v); break;
    case VOLUME_VORTICITY:
        cell_vorticity(s, at, v);
        if (s->layout.dim == 2) v[0] = v[2];
        break;
    }
}

/* Planes of constant y (2D) or z; cells inside colliders hold nothing. */
static void copy_planes(void *data, chunk items) {
    const volume_job *job = data;
    const layout *l = &job->s->layout;
    const int components = job->entry.field.components;
    for (int64_t plane = items.begin; plane < items.end; plane++)
        for (int j = 0; j < (l->dim == 3 ? l->n[1] : 1); j++)
            for (int i = 0; i < l->n[0]; i++) {
                const int64_t at =
                    l->dim == 3 ? layout_at(l, i, j, (int)plane) : layout_at(l, i, (int)plane, 0);
                const int64_t row = l->dim == 3 ? plane * l->n[1] + j : plane;
                float *to = job->values + (row * l->n[0] + i) * components;
                double v[3] = {0};
                if (!smoke_is_solid(job->s, at)) cell_value(job, at, v);
                for (int c = 0; c < components; c++) to[c] = (float)v[c];
            }
}

void smoke_volume(const spate_simulation *sim, int index, float *values) {
    volume_entry entries[VOLUMES_MAX];
    const smoke *s = sim->solver;
    list_volumes(s, entries);
    volume_job job = {s, entries[index], values};
    parallel_for(sim->ctx->pool, s->layout.n[s->layout.dim - 1], 1, copy_planes, &job);
}
