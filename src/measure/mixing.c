#include "measure/mixing.h"

#include "core/vec.h"
#include "measure/attributes.h"

enum { CELLS_A_CHUNK = 64 };

typedef struct mixing_job {
    const point_grid *point_grid;
    const double *begun; /* the coordinate at the start, by place in the point grid */
    double period;       /* of that coordinate, 0 for none */
    double radius;
    const point_grid_reach *reach;
} mixing_job;

/* Sums over a particle's neighbours, itself included: u from it to them, s between their starts. */
typedef struct fit {
    double n, s, ss;
    double u[3], us[3], uu[3][3]; /* uu: b >= a until fit_center */
} fit;

static void fit_add(fit *f, const double u[3], double s) {
    f->n += 1, f->s += s, f->ss += s * s;
    for (int a = 0; a < 3; a++) {
        f->u[a] += u[a], f->us[a] += u[a] * s;
        for (int b = a; b < 3; b++) f->uu[a][b] += u[a] * u[b];
    }
}

/* Takes the means out: sums of squares and products about them. */
static void fit_center(fit *f) {
    for (int a = 0; a < 3; a++) {
        for (int b = a; b < 3; b++) f->uu[b][a] = f->uu[a][b] -= f->u[a] * f->u[b] / f->n;
        f->us[a] -= f->u[a] * f->s / f->n;
    }
    f->ss -= f->s * f->s / f->n;
}

/* What of ss a linear function of u explains, by elimination with the largest pivot; directions in
 * which the neighbours do not lie apart are left out, the others counted in *rank. */
static double fit_explained(fit *f, int *rank) {
    const double least = 1e-9 * (f->uu[0][0] + f->uu[1][1] + f->uu[2][2]);
    double explained = 0;
    for (*rank = 0; *rank < 3; ++*rank) {
        int p = 0;
        for (int a = 1; a < 3; a++)
            if (f->uu[a][a] > f->uu[p][p]) p = a;
        const double pivot = f->uu[p][p], us = f->us[p];
        if (!(pivot > least)) break;
        double row[3];
        vec_copy(row, f->uu[p]);
        explained += us * us / pivot;
        for (int a = 0; a < 3; a++) {
            f->us[a] -= row[a] * us / pivot;
            for (int b = 0; b < 3; b++) f->uu[a][b] -= row[a] * row[b] / pivot;
        }
        for (int a = 0; a < 3; a++) f->uu[p][a] = f->uu[a][p] = 0;
    }
    return explained;
}

/* The share of the order around a particle that is lost; false when it has too few neighbours. */
static bool lost_share(fit *f, double radius, double *share) {
    int rank;
    fit_center(f);
    const double total = f->ss, left = fmax(total - fit_explained(f, &rank), 0);
    const double freedom = f->n - 1 - rank;
    if (freedom < 2) return false;
    /* Where all began at one coordinate there is no order to lose. */
    const bool alike = total <= 1e-12 * f->n * radius * radius;
    *share = alike ? 0 : left / freedom / (total / (f->n - 1));
    return true;
}

static fit fit_around(const mixing_job *job, int64_t i, const int64_t *cells, int cell_count) {
    const point_grid *c = job->point_grid;
    fit f = {0};
    for (int k = 0; k < cell_count; k++)
        for (int64_t j = c->cells[cells[k]].first; j >= 0; j = c->next[j]) {
            double u[3], s = job->begun[j] - job->begun[i];
            point_grid_difference(c, c->x[i], c->x[j], u);
            if (!(vec_dot(u, u) < job->radius * job->radius)) continue;
            if (job->period > 0) s -= job->period * round(s / job->period);
            fit_add(&f, u, s);
        }
    return f;
}

static void mix_cells(void *data, chunk items, double *part) {
    const mixing_job *job = data;
    const point_grid *c = job->point_grid;
    for (int64_t cell = items.begin; cell < items.end; cell++) {
        int64_t near[CLOUD_REACH_MAX];
        const int count = point_grid_near(c, cell, job->reach, near);
        for (int64_t i = c->cells[cell].first; i >= 0; i = c->next[i]) {
            fit f = fit_around(job, i, near, count);
            double share, m = (double)c->sim->particles.mass[c->stored[i]];
            if (!lost_share(&f, job->radius, &share)) continue;
            part[0] += m;
            part[1] += m * share;
        }
    }
}

/* Twice the largest of the particles' radii. */
static double spacing_of(const point_grid *c) {
    double radius = 0;
    for (int64_t i = 0; i < c->count; i++)
        radius = fmax(radius, particle_radius(c->sim, c->stored[i]));
    return 2 * radius;
}

spate_status mixing_measure(point_grid *c, const double (*start)[3], int64_t start_count, int axis,
                            double *out) {
    double sums[2];
    mixing_job job = {.point_grid = c, .period = c->period[axis], .radius = 2.1 * spacing_of(c)};
    *out = NAN;
    if (!(job.radius > 0)) return SPATE_OK;
    TRY(point_grid_sort(c, job.radius));
    double *begun = take(c->ctx, (size_t)c->count + 1, sizeof *begun);
    point_grid_reach *reach = take(c->ctx, 1, sizeof *reach);
    spate_status status = begun && reach ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (!status) {
        point_grid_reach_of(c, job.radius, reach);
        for (int64_t i = 0; i < c->count; i++) {
            int64_t id = c->sim->particles.id[c->stored[i]];
            if (id < start_count) begun[i] = start[id][axis];
        }
        job.begun = begun, job.reach = reach;
        status = parallel_sum(c->ctx, c->cell_count, CELLS_A_CHUNK, mix_cells, &job, 2, sums);
        if (sums[0] > 0) *out = sums[1] / sums[0];
    }
    give(c->ctx, begun), give(c->ctx, reach);
    return status;
}
