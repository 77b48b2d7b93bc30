#include "measure/phase_meters.h"

#include "core/vec.h"
#include "measure/attributes.h"
#include "measure/point_grid.h"

enum { CELLS_A_CHUNK = 64, LIQUIDS_MAX = 8 };
enum { PLACES_LEAST = 10 };             /* where a phase is alone: fewer tell nothing of it */
static const double SUPPORT = 2.5;      /* spacings */
static const double CLOSE = 0.5;        /* spacings */
static const double FOREIGN_MOST = 0.8; /* of the neighbours */
static const double INSIDE = 0.9, AT_SURFACE = 0.75; /* of the neighbours on a lattice */

const char *const phase_meter_names[METER_COUNT] = {
#define X(name) #name,
    PHASE_METERS(X)
#undef X
};

/* Sums over particles. */
enum {
    SUM_PARTICLES,
    SUM_PENETRATED,
    SUM_SURFACE,
    SUM_CLOSE,
    SUM_MIXED,
    SUM_SCATTER,
    SUM_GAIN, /* weight and sum of each liquid phase */
    SUM_COUNT = SUM_GAIN + 2 * LIQUIDS_MAX
};

typedef struct meter_job {
    const point_grid *c;
    const point_grid_reach *reach;
    const int *moves; /* by phase: the first that moves with it */
    double spacing, radius;
    int full;         /* neighbours on a lattice */
    double lattice;   /* integral of W */
    int64_t *nearest; /* foreign particle, -1: none near */
    double *distance;
} meter_job;

static int phase_of(const meter_job *job, int64_t i) {
    const spate_simulation *sim = job->c->sim;
    return sim->scene->group_phase[sim->particles.group[job->c->stored[i]]];
}

static bool is_liquid(const meter_job *job, int64_t i) {
    const spate_simulation *sim = job->c->sim;
    const int m = scene_group_material(sim->scene, sim->particles.group[job->c->stored[i]]);
    return material_is_liquid(&sim->scene->materials[m]);
}

static double kernel(const meter_job *job, double square) {
    const double q = job->radius * job->radius - square;
    return q > 0 ? q * q * q : 0;
}

/* ---- A particle ------------------------------------------------------------------------------ */

typedef struct surroundings {
    int count, foreign;
    bool close;
    double volume, weight;         /* sums of W V0, W */
    double fractions[SPECIES_MAX]; /* of W a, over what mixes */
} surroundings;

static void look_at(const meter_job *job, int64_t i, int64_t j, surroundings *s) {
    const point_grid *c = job->c;
    const spate_simulation *sim = c->sim;
    const int64_t other = c->stored[j];
    double u[3];
    point_grid_difference(c, c->x[i], c->x[j], u);
    const double square = vec_dot(u, u), w = kernel(job, square);
    if (!(w > 0)) return;
    s->volume += w * particle_rest_volume(sim, other);
    const real4 *a = sim->particles.concentration;
    if (a && scene_group_mixes(sim->scene, sim->particles.group[other])) {
        s->weight += w;
        for (int k = 0; k < SPECIES_MAX; k++) s->fractions[k] += w * (double)a[other][k];
    }
    if (i == j) return;
    const bool foreign = job->moves[phase_of(job, i)] != job->moves[phase_of(job, j)];
    s->count++, s->foreign += foreign;
    s->close |= square < CLOSE * CLOSE * job->spacing * job->spacing;
    if (!foreign || !(sqrt(square) < job->distance[i])) return;
    job->distance[i] = sqrt(square);
    job->nearest[i] = j;
}

static void add_scatter(const meter_job *job, int64_t i, const surroundings *s, double *part) {
    const spate_simulation *sim = job->c->sim;
    const int64_t at = job->c->stored[i];
    if (!(s->weight > 0) || !scene_group_mixes(sim->scene, sim->particles.group[at])) return;
    double square = 0;
    for (int k = 0; k < SPECIES_MAX; k++) {
        const double off =
            (double)sim->particles.concentration[at][k] - s->fractions[k] / s->weight;
        square = fmax(square, off * off);
    }
    part[SUM_MIXED] += 1;
    part[SUM_SCATTER] += square;
}

static void add_particle(const meter_job *job, int64_t i, const surroundings *s, double *part) {
    const bool liquid = is_liquid(job, i);
    part[SUM_PARTICLES] += 1;
    part[SUM_PENETRATED] += s->count > 0 && s->foreign >= FOREIGN_MOST * s->count;
    if (liquid && s->count < AT_SURFACE * job->full) {
        part[SUM_SURFACE] += 1;
        part[SUM_CLOSE] += s->close;
    }
    if (s->count >= INSIDE * job->full) add_scatter(job, i, s, part);
}

/* Whether a cell is so deep in the material that nothing but it is within reach of its middle. */
static bool is_deep(const point_grid *c, int64_t cell) {
    for (int a = 0; a < c->dim; a++)
        for (int64_t side = -2; side <= 2; side += 4) {
            int64_t offset[3] = {0};
            offset[a] = side;
            if (point_grid_neighbour(c, &c->cells[cell], offset) < 0) return false;
        }
    return true;
}

/* The density at the middle of a cell, where one liquid is alone: at places, not at particles,
 * which are more often where others are. */
static void add_place(const meter_job *job, int64_t cell, const int64_t *near, int count,
                      double *part) {
    const point_grid *c = job->c;
    double middle[3] = {0}, u[3], volume = 0;
    int only = -1;
    for (int a = 0; a < c->dim; a++) middle[a] = ((double)c->cells[cell].at[a] + 0.5) * c->edge[a];
    for (int k = 0; k < count; k++)
        for (int64_t j = c->cells[near[k]].first; j >= 0; j = c->next[j]) {
            point_grid_difference(c, middle, c->x[j], u);
            const double w = kernel(job, vec_dot(u, u));
            if (!(w > 0)) continue;
            if ((only >= 0 && only != phase_of(job, j)) || !is_liquid(job, j)) return;
            only = phase_of(job, j);
            volume += w * particle_rest_volume(c->sim, c->stored[j]);
        }
    if (only < 0 || only >= LIQUIDS_MAX) return;
    part[SUM_GAIN + 2 * only] += volume / job->lattice;
    part[SUM_GAIN + 2 * only + 1] += 1;
}

static void meter_cells(void *data, chunk items, double *part) {
    const meter_job *job = data;
    const point_grid *c = job->c;
    for (int64_t cell = items.begin; cell < items.end; cell++) {
        int64_t near[CLOUD_REACH_MAX];
        const int count = point_grid_near(c, cell, job->reach, near);
        if (count == job->reach->count && is_deep(c, cell)) add_place(job, cell, near, count, part);
        for (int64_t i = c->cells[cell].first; i >= 0; i = c->next[i]) {
            surroundings s = {0};
            job->nearest[i] = -1, job->distance[i] = HUGE_VAL;
            for (int k = 0; k < count; k++)
                for (int64_t j = c->cells[near[k]].first; j >= 0; j = c->next[j])
                    look_at(job, i, j, &s);
            add_particle(job, i, &s, part);
        }
    }
}

/* ---- All together ---------------------------------------------------------------------------- */

/* The spacing of most: the mean over particles. */
static double spacing_of(const point_grid *c) {
    double sum = 0;
    for (int64_t i = 0; i < c->count; i++) sum += 2 * particle_radius(c->sim, c->stored[i]);
    return sum / (double)c->count;
}

/* On the mean over places, W sums up to its integral. */
static void fill_lattice(meter_job *job, int dim) {
    const int most = (int)SUPPORT;
    for (int x = -most; x <= most; x++)
        for (int y = -most; y <= most; y++)
            for (int z = dim == 3 ? -most : 0; z <= (dim == 3 ? most : 0); z++) {
                const double w =
                    kernel(job, job->spacing * job->spacing * (double)(x * x + y * y + z * z));
                job->full += w > 0 && (x || y || z);
            }
    const double R = job->radius;
    job->lattice = dim == 2 ? M_PI * pow(R, 8) / 4 : 64 * M_PI * pow(R, 9) / 315;
}

static double mean_gap(const meter_job *job) {
    double sum = 0;
    int64_t pairs = 0;
    for (int64_t i = 0; i < job->c->count; i++) {
        const int64_t j = job->nearest[i];
        if (j <= i || job->nearest[j] != i) continue;
        sum += job->distance[i] / job->spacing - 1;
        pairs++;
    }
    return pairs ? sum / (double)pairs : NAN;
}

static double worst_gain(const double *sums) {
    double worst = NAN;
    for (int k = 0; k < LIQUIDS_MAX; k++) {
        const double *of = sums + SUM_GAIN + 2 * k;
        const double gain = of[1] / of[0] - 1;
        if (of[1] >= PLACES_LEAST && !(fabs(gain) <= fabs(worst))) worst = gain;
    }
    return worst;
}

static void fill_meters(const meter_job *job, const double *sums, double out[METER_COUNT]) {
    out[METER_interface_gap] = mean_gap(job);
    if (sums[SUM_PARTICLES] > 0)
        out[METER_interface_penetration] = sums[SUM_PENETRATED] / sums[SUM_PARTICLES];
    if (sums[SUM_SURFACE] > 0) out[METER_close_pairs] = sums[SUM_CLOSE] / sums[SUM_SURFACE];
    out[METER_volume_gain] = worst_gain(sums);
    if (sums[SUM_MIXED] > 0)
        out[METER_fraction_scatter] = sqrt(sums[SUM_SCATTER] / sums[SUM_MIXED]);
}

static spate_status measure_neighbours(point_grid *c, double out[METER_COUNT]) {
    const spate_scene *scene = c->sim->scene;
    double sums[SUM_COUNT];
    if (!c->count) return SPATE_OK;
    meter_job job = {.c = c, .spacing = spacing_of(c)};
    job.radius = SUPPORT * job.spacing;
    fill_lattice(&job, c->dim);
    point_grid_reach *reach = take(c->ctx, 1, sizeof *reach);
    int *first = take(c->ctx, (size_t)scene->phase_count, sizeof *first);
    job.nearest = take(c->ctx, (size_t)c->count, sizeof *job.nearest);
    job.distance = take(c->ctx, (size_t)c->count, sizeof *job.distance);
    job.reach = reach, job.moves = first;
    spate_status status =
        reach && first && job.nearest && job.distance ? SPATE_OK : SPATE_OUT_OF_MEMORY;
    if (!status) status = point_grid_sort(c, job.radius);
    if (!status) {
        for (int k = 0; k < scene->phase_count; k++)
            while (first[k] < k &&
                   !coupling_is_one(scene->couplings[first[k] * scene->phase_count + k].kind))
                first[k]++;
        point_grid_reach_of(c, job.radius, reach);
        status =
            parallel_sum(c->ctx, c->cell_count, CELLS_A_CHUNK, meter_cells, &job, SUM_COUNT, sums);
    }
    if (!status) fill_meters(&job, sums, out);
    give(c->ctx, reach), give(c->ctx, first);
    give(c->ctx, job.nearest), give(c->ctx, job.distance);
    return status;
}

/* Cells between two of a body's that hold nothing of it. */
static spate_status count_empty(const spate_simulation *sim, int b, double *sum) {
    point_grid c;
    TRY(point_grid_create(sim, b, b + 1, &c));
    spate_status status = point_grid_sort(&c, sim->scene->domain.dx);
    for (int64_t k = 0; k < c.cell_count && !status; k++)
        for (int a = 0; a < c.dim; a++) {
            int64_t next[3] = {0}, beyond[3] = {0};
            next[a] = 1, beyond[a] = 2;
            *sum += point_grid_neighbour(&c, &c.cells[k], next) < 0 &&
                    point_grid_neighbour(&c, &c.cells[k], beyond) >= 0;
        }
    point_grid_free(&c);
    return status;
}

static spate_status measure_tears(const spate_simulation *sim, double *out) {
    const spate_scene *scene = sim->scene;
    *out = 0;
    for (int b = 0; b < scene->body_count; b++)
        if (!material_is_liquid(&scene->materials[scene->bodies[b].material]) &&
            !scene->bodies[b].mesh.kind)
            TRY(count_empty(sim, b, out));
    return SPATE_OK;
}

spate_status phase_meters_measure(const spate_simulation *sim, double out[METER_COUNT]) {
    for (int k = 0; k < METER_COUNT; k++) out[k] = NAN;
    point_grid c;
    TRY(point_grid_create(sim, 0, scene_group_count(sim->scene), &c));
    spate_status status = measure_neighbours(&c, out);
    point_grid_free(&c);
    return status ? status : measure_tears(sim, &out[METER_empty_cells]);
}

int phase_meters_worst(const double values[METER_COUNT], double *limit) {
    static const double healthy[METER_COUNT] = {
        [METER_interface_gap] = 0.3,         [METER_interface_penetration] = 0.01,
        [METER_close_pairs] = HUGE_VAL,      [METER_volume_gain] = 0.05,
        [METER_fraction_scatter] = HUGE_VAL, [METER_empty_cells] = HUGE_VAL};
    int worst = -1;
    double most = 1;
    for (int k = 0; k < METER_COUNT; k++) {
        const double share = fabs(values[k]) / healthy[k];
        /* A gap below 0 is one of particles that lie irregularly. */
        if (!(share > most) || (k == METER_interface_gap && values[k] < 0)) continue;
        most = share, worst = k, *limit = healthy[k];
    }
    return worst;
}
