/*
 * What the liquid does to colliders: the other side of what their points do to it in a step,
 * pressure and viscosity, and what particles lose that are put beside a collider (move.c). It is
 * summed over the steps of a frame (solver/impulses.h), in double.
 */
#include "core/vec.h"
#include "solver/sph/sph.h"

typedef struct reaction {
    const sph *s;
    sph_reaction part;
    double *parts; /* by chunk: six to a collider */
} reaction;

/* A particle and a point of a wall. */
typedef struct wall_pair {
    double d[3], r;    /* from the point to the particle, in cells; m */
    double derivative; /* of the kernel there, times the point's volume */
} wall_pair;

static bool pair_of(const sph *s, int64_t i, int32_t b, wall_pair *pair) {
    const spate_scene *scene = s->scene;
    const real *x = s->view.fluid.position[i], *y = s->view.boundary.position[b];
    for (int a = 0; a < 3; a++) {
        pair->d[a] = (double)x[a] - (double)y[a];
        if (s->view.period[a] > 0)
            pair->d[a] -=
                (double)s->view.period[a] * floor(pair->d[a] / (double)s->view.period[a] + 0.5);
    }
    pair->r = vec_length(pair->d) * scene->domain.dx;
    if (pair->r >= s->support || pair->r <= 0 || !(s->view.density[i] > 0)) return false;
    pair->derivative = (double)s->boundary.particles.mass[b] *
                       kernel_derivative(s->kernel, scene->dim, pair->r, s->support) /
                       s->lattice_gradient;
    return true;
}

static double mass_of(const sph *s) { return s->rest_density * s->volume; }

/* What particle i does to wall point b by its pressure. */
static void pressure_force(const sph *s, int64_t i, const wall_pair *pair, double force[3]) {
    const spate_scene *scene = s->scene;
    const double dx = scene->domain.dx, delta = (double)s->view.density[i];
    const double pressure = sph_pressure(&s->sim->particles, i);
    const double share = (double)sph_hydrostatic_share(&s->view, (real)pressure);
    double pressure_term =
        (2 * pressure - share * s->rest_density * dx * vec_dot(scene->gravity, pair->d)) /
        (s->rest_density * delta);
    if (s->options->pressure != SPH_WCSPH) pressure_term /= delta;
    vec_scale(force, mass_of(s) * pressure_term * pair->derivative * dx / pair->r, pair->d);
}

/* By viscosity and damping, of the velocities that these are found from: before they act. */
static void friction_force(const sph *s, int64_t i, int32_t b, const wall_pair *pair,
                           double force[3]) {
    const spate_scene *scene = s->scene;
    const double dx = scene->domain.dx, share = mass_of(s) / (double)s->view.density[i],
                 r = pair->r;
    const real *facing = s->view.boundary_normal[b];
    double v[3], towards[3], distance = 0;
    for (int a = 0; a < 3; a++) distance += (double)facing[a] * pair->d[a];
    for (int a = 0; a < 3; a++) {
        towards[a] = facing[3] < 0 ? distance * (double)facing[a] : pair->d[a];
        v[a] = (double)s->view.fluid.velocity[i][a] - (double)s->view.boundary.velocity[b][a];
    }
    const double damping = (double)s->view.artificial * fmin(vec_dot(v, towards), 0) /
                           (vec_dot(pair->d, pair->d) + (double)s->view.softening2) *
                           pair->derivative / r * dx * dx;
    vec_scale(force, -share * damping, towards);
    if (facing[3] < 0) return;
    distance = fmax(fabs(distance) - (double)facing[3], (double)s->view.half_spacing);
    const double laplacian = s->view.mueller > 0
                                 ? (double)s->boundary.particles.mass[b] *
                                       kernel_laplacian(SPH_MUELLER, scene->dim, r, s->support)
                                 : -2 * pair->derivative / r;
    const double drag = share * s->viscosity * laplacian * (1 + (double)facing[3] / distance);
    vec_add_scaled(force, force, drag, v);
}

static void add_particle(const reaction *job, int64_t i, double *sums) {
    const sph *s = job->s;
    const spate_scene *scene = s->scene;
    const int64_t first = s->view.boundary_neighbours.first[i];
    for (int64_t k = first; k < first + s->view.boundary_neighbours.number[i]; k++) {
        const int32_t b = s->view.boundary_neighbours.list[k];
        const int owner = s->boundary.particles.group[b];
        double force[3], x[3];
        wall_pair pair;
        if (owner >= scene->collider_count || !pair_of(s, i, b, &pair)) continue;
        if (job->part == REACTION_PRESSURE)
            pressure_force(s, i, &pair, force);
        else
            friction_force(s, i, b, &pair, force);
        pose_to_world(&s->sim->boundary.poses[owner], s->boundary.rest[s->boundary.particles.id[b]],
                      x);
        simulation_add_force(s->sim, owner, x, force, sums + 6 * owner, sums + 6 * owner + 3);
    }
}

static void add_chunk(void *data, chunk items) {
    const reaction *job = data;
    double *sums = job->parts + items.begin / SPH_GRAIN * 6 * job->s->scene->collider_count;
    for (int64_t i = items.begin; i < items.end; i++) add_particle(job, i, sums);
}

spate_status sph_react(sph *s, sph_reaction part) {
    spate_simulation *sim = s->sim;
    const int values = 6 * sim->scene->collider_count;
    const int64_t count = s->view.boundary_neighbours.count,
                  chunks = (count + SPH_GRAIN - 1) / SPH_GRAIN;
    if (!values) return SPATE_OK;
    double *parts =
        scratch_take(&sim->scratch, "sph reaction", (size_t)(chunks * values) + 1, sizeof *parts);
    if (!parts) return SPATE_OUT_OF_MEMORY;
    memset(parts, 0, (size_t)(chunks * values) * sizeof *parts);
    parallel_for(sim->ctx->pool, count, SPH_GRAIN, add_chunk, &(reaction){s, part, parts});
    double *sums = impulses_of(&s->impulses, 0);
    for (int64_t c = 0; c < chunks; c++)
        for (int v = 0; v < values; v++) sums[v] += sim->dt * parts[c * values + v];
    scratch_give(&sim->scratch, "sph reaction");
    return SPATE_OK;
}

void sph_force(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    const sph *s = sim->solver;
    impulses_mean(&s->impulses, c, force, torque);
}
