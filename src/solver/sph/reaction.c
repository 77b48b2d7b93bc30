/*
 * What the liquid does to colliders: the other side of what their points do to it in a step, pressure
 * and viscosity. Asked for now and then (a row of stats.csv), so it is summed then, in double.
 */
#include "core/vec.h"
#include "solver/sph/sph.h"

typedef struct reaction {
    const sph *s;
    double *parts; /* by chunk: six to a collider */
} reaction;

static void difference(const sph *s, const real *x, const real *y, double d[3]) {
    for (int a = 0; a < 3; a++) {
        d[a] = (double)x[a] - (double)y[a];
        if (s->period[a] > 0)
            d[a] -= (double)s->period[a] * floor(d[a] / (double)s->period[a] + 0.5);
    }
}

/* What particle i does to wall point b: the force on it. */
static void pair_force(const sph *s, int64_t i, int32_t b, double force[3]) {
    const spate_scene *scene = s->sim->scene;
    const particles *p = &s->sim->particles;
    const double dx = scene->domain.dx, delta = (double)s->density[i];
    const double volume = (double)s->walls.points.mass[b], mass = s->rest_density * s->volume;
    const real *facing = s->facing + 4 * (int64_t)b;
    double d[3];
    difference(s, s->of.place + 4 * i, s->on.place + 4 * (int64_t)b, d);
    const double r = vec_length(d) * dx;
    vec_set(force, 0, 0, 0);
    if (r >= s->support || r <= 0 || !(delta > 0)) return;
    const double slope =
        volume * kernel_slope(s->kernel, scene->dim, r, s->support) / s->lattice_slope;
    const double pressure = sph_pressure(p, i), leaning = (double)sph_leaning(s, (real)pressure);
    double squeeze = (2 * pressure - leaning * s->rest_density * dx * vec_dot(scene->gravity, d)) /
                     (s->rest_density * delta);
    if (s->options->pressure != SPH_WCSPH) squeeze /= delta;
    vec_scale(force, mass * squeeze * slope * dx / r, d);
    double v[3] = {0}, towards[3], distance = 0;
    for (int a = 0; a < 3; a++) distance += (double)facing[a] * d[a];
    for (int a = 0; a < 3; a++) {
        towards[a] = facing[3] < 0 ? distance * (double)facing[a] : d[a];
        if (a < scene->dim)
            v[a] = (double)p->motion[16 * i + a] - (double)s->on.flow[4 * (int64_t)b + a];
    }
    const double damping = (double)s->damp * fmin(vec_dot(v, towards), 0) /
                           (vec_dot(d, d) + (double)s->soft2) * slope / r * dx * dx;
    vec_add_scaled(force, force, -mass * damping / delta, towards);
    if (facing[3] < 0) return;
    distance = fmax(fabs(distance) - (double)facing[3], (double)s->half_spacing);
    const double laplacian = s->mueller > 0
                                 ? volume * kernel_laplacian(SPH_MUELLER, scene->dim, r, s->support)
                                 : -2 * slope / r;
    const double drag =
        mass * s->viscosity / delta * laplacian * (1 + (double)facing[3] / distance);
    vec_add_scaled(force, force, drag, v);
}

static void add_particle(const sph *s, int64_t i, double *sums) {
    const spate_scene *scene = s->sim->scene;
    const int64_t first = s->wall.first[i];
    for (int64_t k = first; k < first + s->wall.number[i]; k++) {
        const int32_t b = s->wall.list[k];
        const int owner = s->walls.points.group[b];
        double force[3], x[3];
        if (owner >= scene->collider_count) continue;
        pair_force(s, i, b, force);
        pose_to_world(&s->sim->boundary.poses[owner], s->walls.rest[s->walls.points.id[b]], x);
        simulation_add_force(s->sim, owner, x, force, sums + 6 * owner, sums + 6 * owner + 3);
    }
}

static void add_chunk(void *data, int64_t begin, int64_t end, int worker) {
    const reaction *job = data;
    double *sums = job->parts + begin / SPH_GRAIN * 6 * job->s->sim->scene->collider_count;
    (void)worker;
    for (int64_t i = begin; i < end; i++) add_particle(job->s, i, sums);
}

static bool sum_all(sph *s) {
    spate_simulation *sim = s->sim;
    const int values = 6 * sim->scene->collider_count;
    const int64_t count = s->wall.count, chunks = (count + SPH_GRAIN - 1) / SPH_GRAIN;
    double *parts = take(sim->ctx, (size_t)(chunks * values) + 1, sizeof *parts);
    if (!parts) return false;
    parallel_for(sim->ctx->pool, count, SPH_GRAIN, add_chunk, &(reaction){s, parts});
    for (int v = 0; v < values; v++) s->force[v] = 0;
    for (int64_t c = 0; c < chunks; c++)
        for (int v = 0; v < values; v++) s->force[v] += parts[c * values + v];
    give(sim->ctx, parts);
    s->force_step = sim->step;
    return true;
}

void sph_reaction(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    sph *s = sim->solver;
    const bool known =
        s->of.place && s->listed && sim->step > 0 && (s->force_step == sim->step || sum_all(s));
    for (int a = 0; a < 3; a++) {
        force[a] = known ? s->force[6 * c + a] : NAN;
        torque[a] = known ? s->force[6 * c + 3 + a] : NAN;
    }
}
