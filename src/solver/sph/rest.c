/*
 * Bodies that begin at rest (solver/rest.h). The implicit methods begin their iteration with the
 * pressure of the load. wcsph takes its pressure from the density, so its particles are moved
 * together along gravity: with delta(p) the density over that at rest by the equation of state, a
 * particle sinks by
 *
 *     integral of (1 - 1 / delta) from the body's bottom up to it,
 *
 * and by the whole of it for every body at rest that lies below.
 */
#include "solver/rest.h"
#include "core/vec.h"
#include "solver/sph/sph.h"

/* How far liquid of a body under this load is pressed together. */
static double lost_height(const sph *s, double load) {
    const double x = load / (s->rest_density * s->sound * s->sound), gamma = (double)s->gamma;
    if (s->options->equation == EQUATION_TAIT) return -expm1(-log1p(gamma * x) / gamma);
    return x / (1 + x);
}

/* The integral from height `low` to `high` on the vertical through x, in a body: Simpson's rule. */
static double sunk_between(const sph *s, const rest_state *r, int b, const double x[3], double low,
                           double high) {
    enum { PARTS = 8 };
    const double h = (high - low) / (2 * PARTS), own = vec_dot(x, r->up);
    double sum = 0;
    for (int k = 0; k <= 2 * PARTS; k++) {
        double y[3];
        vec_add_scaled(y, x, low + k * h - own, r->up);
        const double weight = k == 0 || k == 2 * PARTS ? 1 : k % 2 ? 4 : 2;
        sum += weight * lost_height(s, rest_load(r, b, y));
    }
    return sum * h / 3;
}

static double sunk(const sph *s, const rest_state *r, int b, const double x[3]) {
    const spate_scene *scene = s->scene;
    const rest_body *own = &r->bodies[b];
    double sum = sunk_between(s, r, b, x, own->bottom, vec_dot(x, r->up));
    for (int c = 0; c < scene->body_count; c++)
        if (c != b && rest_is_below(r, c, b, x))
            sum += sunk_between(s, r, c, x, r->bodies[c].bottom, r->bodies[c].top);
    return sum;
}

static void stand_particle(const sph *s, const rest_state *r, int32_t block, int64_t i) {
    spate_simulation *sim = s->sim;
    const int b = sim->particles.group[i];
    double x[3];
    simulation_position(sim, block, i, x);
    sim->particles.pressure[i] = (real)rest_load(r, b, x);
    if (s->options->pressure != SPH_WCSPH) return;
    const double down = sunk(s, r, b, x) / sim->scene->domain.dx;
    for (int a = 0; a < sim->scene->dim; a++) PLANE(&sim->particles, position, a)
    [i] -= (real)(down * r->up[a]);
    sim->drift = fmax(sim->drift, down);
}

spate_status sph_stand(sph *s) {
    spate_simulation *sim = s->sim;
    rest_state r;
    TRY(rest_create(sim, &r));
    for (int32_t block = 0; block < sim->blocks.count && r.bodies; block++)
        for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++)
            if (rest_holds(&r, sim->particles.group[i])) stand_particle(s, &r, block, i);
    if (r.bodies) s->memory.dt = 1e30; /* the pressure to begin with can be trusted */
    rest_free(&r);
    if (sim->drift > BLOCK_EDGE)
        return fail(sim->ctx, SPATE_BAD_INPUT,
                    "%s: a body at rest would sink by %.3g cells under its weight; make the "
                    "liquid stiffer (solver.stiffness), or leave at_rest out",
                    sim->scene->path, sim->drift);
    return SPATE_OK;
}
