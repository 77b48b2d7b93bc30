/* What a program sees of the grid after a step, on all cells of the domain: zero where no brick
 * is. */
#include "solver/flip/flip.h"

enum { FIELD_VELOCITY, FIELD_PRESSURE, FIELD_PHI, GRID_FIELDS };

int flip_grid_fields(const spate_simulation *sim, volume_field *out, int capacity) {
    static const volume_field all[GRID_FIELDS] = {[FIELD_VELOCITY] = {"velocity", 3},
                                                  [FIELD_PRESSURE] = {"pressure", 1},
                                                  [FIELD_PHI] = {"phi", 1}};
    (void)sim;
    for (int i = 0; i < GRID_FIELDS && i < capacity; i++) out[i] = all[i];
    return GRID_FIELDS;
}

typedef struct grid_job {
    const flip *f;
    int field;
    float *values;
} grid_job;

/* The mean of both faces along each axis; one where the other has no brick. */
static void cell_velocity(const mac *m, int32_t brick, const int at[3], float v[3]) {
    const int c = box_index(BRICK_EDGE, at, m->dim);
    const int64_t here = (int64_t)brick * mac_cells(m->dim) + c;
    for (int a = 0; a < m->dim; a++) {
        const int64_t next = mac_beside(m, brick, c, at, a, 1);
        const real low = m->velocity[a][here], high = next < 0 ? low : m->velocity[a][next];
        v[a] = (float)((low + high) / 2);
    }
}

static void copy_cell(const grid_job *job, const int cell[3], float *to) {
    const flip *f = job->f;
    const mac *m = &f->grid;
    int at[3];
    const int32_t brick = mac_find(m, cell, at);
    if (job->field == FIELD_VELOCITY) to[1] = to[2] = 0;
    to[0] = job->field == FIELD_PHI ? (float)(SOLID_FAR * f->domain->dx) : 0;
    if (brick < 0) return;
    const int64_t here = mac_cell(m, brick, at);
    const bool liquid = m->phi[0][here] < 0;
    if (job->field == FIELD_VELOCITY) {
        cell_velocity(m, brick, at, to);
    } else if (job->field == FIELD_PHI) {
        to[0] = (float)((double)m->phi[0][here] * f->domain->dx);
    } else if (liquid) {
        to[0] = (float)(m->pressure[0][here] * f->density * f->domain->dx / f->sim->dt);
    }
}

/* Planes of constant y (2D) or z. */
static void copy_planes(void *data, chunk items) {
    const grid_job *job = data;
    const int *n = job->f->domain->cells, dim = job->f->grid.dim;
    const int components = job->field == FIELD_VELOCITY ? 3 : 1;
    for (int64_t plane = items.begin; plane < items.end; plane++)
        for (int j = 0; j < (dim == 3 ? n[1] : 1); j++)
            for (int i = 0; i < n[0]; i++) {
                const int64_t row = dim == 3 ? plane * n[1] + j : plane;
                const int cell[3] = {i, dim == 3 ? j : (int)plane, dim == 3 ? (int)plane : 0};
                copy_cell(job, cell, job->values + (row * n[0] + i) * components);
            }
}

void flip_grid_field(const spate_simulation *sim, int which, float *values) {
    const domain *d = &sim->scene->domain;
    const flip *f = sim->solver;
    grid_job job = {f, which, values};
    const int planes = d->cells[sim->scene->dim - 1];
    if (f->grid.bricks.count && (sim->step || sim->stager)) {
        parallel_for(sim->ctx->pool, planes, 1, copy_planes, &job);
        return;
    }
    const size_t cells = (size_t)d->cells[0] * (size_t)d->cells[1] * (size_t)d->cells[2];
    for (size_t i = 0; i < cells * (which == FIELD_VELOCITY ? 3 : 1); i++)
        values[i] = which == FIELD_PHI ? (float)(SOLID_FAR * d->dx) : 0;
}
