/* The values of probes; see probes.h for what they mean. */
#include "measure/probes.h"

#include "core/vec.h"
#include "measure/mixing.h"
#include "measure/pieces.h"
#include "measure/tally.h"
#include "scene/sample.h"

static const domain *domain_of(const tally_job *job) {
    const spate_scene *scene = job->sim->scene;
    return &scene->domain;
}
static int dim_of(const tally_job *job) { return job->sim->scene->dim; }

static const double two_pi = 6.28318530717958647692;

/* Whether the probe looks at particle i; its position goes to x. */
static bool is_seen(const tally_job *job, particle_range range, int64_t i, double x[3]) {
    const spate_simulation *sim = job->sim;
    const probe *p = job->probe;
    if (particle_is_removed(sim, i)) return false;
    if (p->group >= 0 && scene_group_origin(sim->scene, sim->particles.group[i]) != p->group)
        return false;
    simulation_place(sim, range.coords, i, x);
    return !p->shape || shape_distance(p->shape, sim->scene->dim, x) < 0;
}

static double speed_of(const spate_simulation *sim, int64_t i) {
    const real *record = sim->particles.velocity[i];
    double v[3] = {0};
    for (int a = 0; a < sim->scene->dim; a++) v[a] = (double)record[a];
    return vec_length(v);
}

/* ---- Visits ---- */

static void visit_extent(const tally_job *job, particle_range range, tally *t) {
    const probe *p = job->probe;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++)
        if (is_seen(job, range, i, x))
            raise_to(&t->tops[0],
                     (p->side ? x[p->axis] : -x[p->axis]) + particle_radius(job->sim, i));
}

static void visit_height(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    const double half = 0.5 * sim->scene->domain.dx;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x) || fabs(x[0] - job->probe->at[0]) > half) continue;
        if (sim->scene->dim == 3 && fabs(x[2] - job->probe->at[2]) > half) continue;
        raise_to(&t->tops[0], x[1] + particle_radius(sim, i));
    }
}

static double overlap(double a, double b, double c, double d) {
    return fmax(fmin(b, d) - fmax(a, c), 0);
}

/* The part of [low, high] of an axis that lies in the probe's column or in its image beyond a
 * side. */
static double in_column(const tally_job *job, int axis, double low, double high) {
    const domain *d = domain_of(job);
    const double half = 0.5 * job->probe->width, first = job->probe->at[axis] - half;
    const double last = job->probe->at[axis] + half, begin = d->origin[axis];
    const double size = d->size[axis], end = begin + size;
    double sum = overlap(low, high, first, last);
    if (d->walls[axis][0] == WALL_PERIODIC)
        return sum + overlap(low, high, first - size, last - size) +
               overlap(low, high, first + size, last + size);
    if (d->walls[axis][0] != WALL_OPEN)
        sum += overlap(low, fmin(high, begin), 2 * begin - last, 2 * begin - first);
    if (d->walls[axis][1] != WALL_OPEN)
        sum += overlap(fmax(low, end), high, 2 * end - last, 2 * end - first);
    return sum;
}

static void visit_depth(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        const double volume = particle_volume(sim, i);
        const double half = 0.5 * pow(volume, 1.0 / sim->scene->dim);
        double share = in_column(job, 0, x[0] - half, x[0] + half) / (2 * half);
        if (sim->scene->dim == 3 && share > 0)
            share *= in_column(job, 2, x[2] - half, x[2] + half) / (2 * half);
        t->sums[0] += share * volume;
    }
}

/* What particle i at x counts for at the probe's point: its mass, falling to 0 at a distance of
 * dx. */
static double weight_at(const tally_job *job, int64_t i, const double x[3]) {
    const spate_scene *scene = job->sim->scene;
    double away[3] = {0};
    for (int a = 0; a < scene->dim; a++) away[a] = x[a] - job->probe->at[a];
    return (1 - vec_length(away) / scene->domain.dx) * (double)job->sim->particles.mass[i];
}

static void visit_pressure(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        double weight = weight_at(job, i, x);
        if (weight <= 0) continue;
        t->sums[0] += weight;
        t->sums[1] += weight * particle_pressure(sim, i);
    }
}

static void visit_velocity(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        double weight = weight_at(job, i, x);
        if (weight <= 0) continue;
        t->sums[0] += weight;
        for (int a = 0; a < sim->scene->dim; a++)
            t->sums[1 + a] += weight * (double)sim->particles.velocity[i][a];
    }
}

static void visit_center(const tally_job *job, particle_range range, tally *t) {
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        double m = (double)job->sim->particles.mass[i];
        t->sums[0] += m;
        for (int a = 0; a < 3; a++) t->sums[1 + a] += m * x[a];
    }
}

/* Number, mass and m |v|, of blocks that are not altogether outside the shape. */
static void visit_inside(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    double x[3], reach = range_middle(sim, range, x);
    if (job->probe->shape && shape_distance(job->probe->shape, sim->scene->dim, x) > reach) return;
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        double m = (double)sim->particles.mass[i];
        t->sums[0] += 1;
        t->sums[1] += m;
        t->sums[2] += m * speed_of(sim, i);
    }
}

/* Mass, and along each axis m x and the sums of the circular mean. */
static void visit_means(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    const domain *d = &sim->scene->domain;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        double m = (double)sim->particles.mass[i];
        t->sums[0] += m;
        for (int a = 0; a < sim->scene->dim; a++) {
            t->sums[1 + a] += m * x[a];
            if (!sim->blocks.period[a]) continue;
            double angle = two_pi * (x[a] - d->origin[a]) / d->size[a];
            t->sums[4 + a] += m * cos(angle);
            t->sums[7 + a] += m * sin(angle);
        }
    }
}

/* Mass, and along each axis m u and m u^2 for u = x - about, to the nearest image. */
static void visit_moments(const tally_job *job, particle_range range, tally *t) {
    const spate_simulation *sim = job->sim;
    double x[3];
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!is_seen(job, range, i, x)) continue;
        double m = (double)sim->particles.mass[i];
        t->sums[0] += m;
        for (int a = 0; a < sim->scene->dim; a++) {
            double u = x[a] - job->about[a], size = sim->scene->domain.size[a];
            if (sim->blocks.period[a]) u -= size * round(u / size);
            t->sums[1 + a] += m * u;
            t->sums[4 + a] += m * u * u;
        }
    }
}

/* ---- Values ---- */

static spate_status tally_by(tally_job *job, tally_visit *visit, tally *t) {
    job->visit = visit;
    return tally_all(job, t);
}

static spate_status measure_extent(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    tally t;
    TRY(tally_by(job, visit_extent, &t));
    out[0] = t.tops[0] == -HUGE_VAL ? NAN : job->probe->side ? t.tops[0] : -t.tops[0];
    return SPATE_OK;
}

static spate_status measure_height(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    tally t;
    TRY(tally_by(job, visit_height, &t));
    const domain *d = domain_of(job);
    out[0] = t.tops[0] == -HUGE_VAL ? d->origin[1] : t.tops[0];
    return SPATE_OK;
}

/* The column's area: of what is in the domain. */
static double column_area(const tally_job *job) {
    const domain *d = domain_of(job);
    double area = 1;
    for (int a = 0; a < dim_of(job); a += 2) {
        const double first = job->probe->at[a] - 0.5 * job->probe->width,
                     last = first + job->probe->width;
        area *= d->walls[a][0] == WALL_PERIODIC
                    ? last - first
                    : overlap(first, last, d->origin[a], d->origin[a] + d->size[a]);
    }
    return area;
}

static spate_status measure_depth(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    tally t;
    TRY(tally_by(job, visit_depth, &t));
    out[0] = t.sums[0] / column_area(job);
    return SPATE_OK;
}

static spate_status measure_pressure(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    tally t;
    const solver_type *type = job->sim->type;
    if (type->pressure) {
        out[0] = type->pressure(job->sim, job->probe->at);
        return SPATE_OK;
    }
    TRY(tally_by(job, visit_pressure, &t));
    out[0] = t.sums[0] > 0 ? t.sums[1] / t.sums[0] : 0;
    return SPATE_OK;
}

static spate_status measure_velocity(tally_job *job, probe_memory *memory, double *out) {
    const spate_simulation *sim = job->sim;
    (void)memory;
    double v[3] = {0};
    tally t;
    if (sim->type->velocity) {
        sim->type->velocity(sim, job->probe->at, v);
    } else {
        TRY(tally_by(job, visit_velocity, &t));
        for (int a = 0; a < 3; a++) v[a] = t.sums[0] > 0 ? t.sums[1 + a] / t.sums[0] : NAN;
    }
    for (int a = 0; a < sim->scene->dim; a++) out[a] = v[a];
    return SPATE_OK;
}

static spate_status measure_center(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    tally t;
    TRY(tally_by(job, visit_center, &t));
    for (int a = 0; a < dim_of(job); a++) out[a] = t.sums[0] > 0 ? t.sums[1 + a] / t.sums[0] : NAN;
    return SPATE_OK;
}

static spate_status measure_inside(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    tally t;
    TRY(tally_by(job, visit_inside, &t));
    if (job->probe->kind == PROBE_COUNT)
        out[0] = t.sums[0];
    else
        out[0] = t.sums[1] > 0 ? t.sums[2] / t.sums[1] : NAN;
    return SPATE_OK;
}

static bool is_along(const probe *p, int axis) {
    if (p->axis == AXIS_HORIZONTAL) return axis != 1;
    return p->axis == AXIS_ALL || p->axis == axis;
}

/* The variance about a point near the centre, less what that point is off. */
static spate_status measure_spread(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    const spate_simulation *sim = job->sim;
    const domain *d = &sim->scene->domain;
    double about[3] = {0}, variance = 0;
    tally t;
    TRY(tally_by(job, visit_means, &t));
    for (int a = 0; a < sim->scene->dim && t.sums[0] > 0; a++)
        about[a] = sim->blocks.period[a]
                       ? d->origin[a] + d->size[a] * atan2(t.sums[7 + a], t.sums[4 + a]) / two_pi
                       : t.sums[1 + a] / t.sums[0];
    job->about = about;
    TRY(tally_by(job, visit_moments, &t));
    for (int a = 0; a < sim->scene->dim && t.sums[0] > 0; a++) {
        double off = t.sums[1 + a] / t.sums[0];
        if (is_along(job->probe, a)) variance += fmax(t.sums[4 + a] / t.sums[0] - off * off, 0);
    }
    out[0] = t.sums[0] > 0 ? sqrt(variance) : NAN;
    return SPATE_OK;
}

/* The particles of a probe's body or source, or of all bodies and (with `sources`) all sources. */
static spate_status point_grid_of(const tally_job *job, bool sources, point_grid *c) {
    const spate_scene *scene = job->sim->scene;
    const int group = job->probe->group;
    if (group >= 0) return point_grid_create(job->sim, group, group + 1, c);
    return point_grid_create(job->sim, 0, sources ? scene_group_count(scene) : scene->body_count,
                             c);
}

static spate_status measure_pieces(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    const probe *p = job->probe;
    int64_t count, largest;
    point_grid c;
    TRY(point_grid_of(job, true, &c));
    spate_status status = pieces_count(&c, p->gap, p->at_least, &count, &largest);
    if (p->kind == PROBE_PIECES)
        out[0] = (double)count;
    else
        out[0] = c.count > 0 ? (double)largest / (double)c.count : NAN;
    point_grid_free(&c);
    return status;
}

/* Ids were given in the order of the bodies' samples, and sampling gives the same points again. */
static spate_status remember_start(spate_simulation *sim, probe_memory *memory) {
    if (memory->start) return SPATE_OK;
    int64_t capacity = 0;
    memory->ctx = sim->ctx;
    TRY(GROW(sim->ctx, memory->start, capacity, 1));
    for (int b = 0; b < sim->scene->body_count; b++) {
        samples s = {0};
        TRY(sample_filled_body(sim->scene, b, &s));
        spate_status status =
            GROW(sim->ctx, memory->start, capacity, memory->start_count + s.count);
        if (!status)
            memcpy(memory->start + memory->start_count, s.points,
                   (size_t)s.count * sizeof *s.points);
        memory->start_count += s.count;
        samples_free(sim->ctx, &s);
        TRY(status);
    }
    return SPATE_OK;
}

static spate_status measure_mixing(tally_job *job, probe_memory *memory, double *out) {
    spate_status status = remember_start(job->sim, memory);
    if (status) {
        probe_memory_free(memory); /* it is whole or not there */
        return status;
    }
    point_grid c;
    TRY(point_grid_of(job, false, &c));
    status = mixing_measure(&c, (const double(*)[3])memory->start, memory->start_count,
                            job->probe->axis, out);
    point_grid_free(&c);
    return status;
}

static spate_status measure_contact(tally_job *job, probe_memory *memory, double *out) {
    (void)memory;
    double force[3] = {NAN, NAN, NAN};
    const solver_type *type = job->sim->type;
    if (type->contact) type->contact(job->sim, job->probe, force);
    for (int a = 0; a < dim_of(job); a++) out[a] = force[a];
    return SPATE_OK;
}

void probe_memory_free(probe_memory *m) {
    if (m->ctx) give(m->ctx, m->start);
    *m = (probe_memory){0};
}

spate_status probe_measure(spate_simulation *sim, const probe *p, probe_memory *memory,
                           double *out) {
    static spate_status (*const measures[])(tally_job *, probe_memory *, double *) = {
        [PROBE_EXTENT] = measure_extent,         [PROBE_HEIGHT] = measure_height,
        [PROBE_DEPTH] = measure_depth,           [PROBE_PRESSURE] = measure_pressure,
        [PROBE_CENTER_OF_MASS] = measure_center, [PROBE_COUNT] = measure_inside,
        [PROBE_MEAN_SPEED] = measure_inside,     [PROBE_SPREAD] = measure_spread,
        [PROBE_PIECES] = measure_pieces,         [PROBE_LARGEST_PIECE] = measure_pieces,
        [PROBE_MIXING] = measure_mixing,         [PROBE_VELOCITY] = measure_velocity,
        [PROBE_CONTACT_FORCE] = measure_contact,
    };
    return measures[p->kind](&(tally_job){.sim = sim, .probe = p}, memory, out);
}
