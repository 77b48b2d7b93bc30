/* SPH's fast sums against the plain ones over all pairs (solver/sph/reference.c). */
#include "physics.h"
#include "solver/sph/reference.h"
#include "solver/sph/sph.h"

/* Rounding of the fast sums, relative to the largest value. */
static const double gate = IN_DOUBLE ? 1e-12 : 2e-5;

/* Positions, velocities and pressures in storage order, as the reference reads them. */
typedef struct copies {
    double (*x)[3], (*v)[3], *pressure, (*boundary_x)[3], *boundary_volume;
    double *delta, (*pushed)[3], (*dragged)[3];
} copies;

/* Liquid in a corner of the domain around a sphere, every particle with a velocity of its own. */
static play open_corner(int dim, const char *options) {
    const char *box =
        dim == 2 ? "{min: [0, 0], max: [0.6, 0.5]}" : "{min: [0, 0, 0], max: [0.5, 0.4, 0.4]}";
    play p = play_open(
        2,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: %s\n"
        "domain: {size: %s, dx: 0.1}\n"
        "solver: {type: sph, artificial_viscosity: 0, negative_pressure: true, %s}\n"
        "materials: {m: {model: liquid, density: 800, bulk_modulus: 1.0e4, viscosity: 300}}\n"
        "bodies: [{material: m, shape: {box: %s}}]\n"
        "colliders: [{name: ball, shape: {sphere: {center: %s, radius: 0.12}}}]\n",
        dim, dim == 2 ? "[0, 0]" : "[0, 0, 0]", dim == 2 ? "[1, 1]" : "[1, 1, 0.4]", options, box,
        dim == 2 ? "[0.65, 0.2]" : "[0.55, 0.1, 0.2]");
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        for (int a = 0; a < dim; a++)
            p.sim->particles.velocity[i][a] = (real)sin(7.3 * (double)(3 * i + a));
    return p;
}

static void run_stages_until(const play *p, const char *last) {
    for (const solver_stage *s = sph_stages[SPH_WCSPH]; s->name; s++) {
        assert_int_equal(s->run(p->sim->solver), SPATE_OK);
        if (!strcmp(s->name, last)) return;
    }
    fail_msg("no stage is called %s", last);
}

static void copy_positions(const spate_simulation *sim, const blocks *b, const particles *p,
                           double (*x)[3]) {
    for (int32_t o = 0; o < b->occupied_count; o++) {
        const int32_t block = b->occupied[o];
        for (int64_t i = b->first[block]; i < b->first[block + 1]; i++) {
            double local[3] = {0};
            for (int a = 0; a < sim->scene->dim; a++) local[a] = (double)PLANE(p, position, a)[i];
            simulation_world(sim, b->coords[block], local, x[i]);
        }
    }
}

static void *doubles(int64_t count) { return calloc((size_t)count + 1, sizeof(double)); }

static copies copies_of(const sph *s) {
    const particles *p = &s->sim->particles, *solid = &s->boundary.particles;
    const int64_t n = p->count;
    copies c = {doubles(3 * n),        doubles(3 * n), doubles(n),     doubles(3 * solid->count),
                doubles(solid->count), doubles(n),     doubles(3 * n), doubles(3 * n)};
    copy_positions(s->sim, &s->sim->blocks, p, c.x);
    copy_positions(s->sim, &s->boundary.blocks, solid, c.boundary_x);
    for (int64_t i = 0; i < n; i++) {
        c.pressure[i] = (double)p->pressure[i];
        for (int a = 0; a < s->sim->scene->dim; a++) c.v[i][a] = (double)p->velocity[i][a];
    }
    for (int64_t b = 0; b < solid->count; b++) c.boundary_volume[b] = (double)solid->mass[b];
    return c;
}

static void copies_free(copies *c) {
    free(c->x), free(c->v), free(c->pressure), free(c->boundary_x), free(c->boundary_volume);
    free(c->delta), free(c->pushed), free(c->dragged);
}

static sph_reference reference_of(const sph *s, const copies *c) {
    return (sph_reference){.dim = s->sim->scene->dim,
                           .kernel = s->kernel,
                           .support = s->support,
                           .volume = s->volume,
                           .rest_density = s->rest_density,
                           .viscosity = s->viscosity,
                           .morris = s->options->viscosity == 1 + VISCOSITY_MORRIS,
                           .lattice_density = s->lattice_density,
                           .lattice_gradient = s->lattice_gradient,
                           .count = s->sim->particles.count,
                           .x = (const double(*)[3])c->x,
                           .v = (const double(*)[3])c->v,
                           .pressure = c->pressure,
                           .boundary_count = s->boundary.particles.count,
                           .boundary_x = (const double(*)[3])c->boundary_x,
                           .boundary_volume = c->boundary_volume};
}

typedef struct errors {
    double density, acceleration;         /* relative to the largest */
    double pressure_share, viscous_share; /* of the largest acceleration: the largest by each */
} errors;

static errors errors_of(const sph *s, const sph_reference *r, copies *c) {
    double off = 0, dense = 0, wrong = 0, largest = 0, pushed = 0, dragged = 0;
    sph_reference_density(r, c->delta);
    sph_reference_pressure(r, c->delta, c->pushed);
    sph_reference_viscosity(r, c->delta, c->dragged);
    for (int64_t i = 0; i < r->count; i++) {
        off = fmax(off, fabs((double)s->view.density[i] - c->delta[i]));
        dense = fmax(dense, c->delta[i]);
        for (int a = 0; a < 3; a++) {
            const double whole = c->pushed[i][a] + c->dragged[i][a];
            wrong = fmax(wrong, fabs((double)s->view.acceleration[i][a] - whole));
            largest = fmax(largest, fabs(whole));
            pushed = fmax(pushed, fabs(c->pushed[i][a]));
            dragged = fmax(dragged, fabs(c->dragged[i][a]));
        }
    }
    return (errors){off / dense, wrong / largest, pushed / largest, dragged / largest};
}

static void fast_sums_are_the_plain_ones(void **state) {
    (void)state;
    static const char *const options[] = {"kernel: mueller", "kernel: cubic", "kernel: wendland",
                                          "kernel: cubic, viscosity: mueller"};
    for (int dim = 2; dim <= 3; dim++)
        for (int o = 0; o < COUNT_OF(options); o++) {
            play p = open_corner(dim, options[o]);
            const sph *s = p.sim->solver;
            run_stages_until(&p, "forces");
            copies c = copies_of(s);
            sph_reference r = reference_of(s, &c);
            const errors e = errors_of(s, &r, &c);
            print_message(
                "%dD, %s: density %.1e, acceleration %.1e, pressure %.2f, viscosity %.2f\n", dim,
                options[o], e.density, e.acceleration, e.pressure_share, e.viscous_share);
            CHECK_BELOW(e.density, gate);
            CHECK_BELOW(e.acceleration, gate);
            CHECK_ABOVE(fmin(e.pressure_share, e.viscous_share), 0.1); /* neither hides the other */
            r.support *= 1.01;                                         /* negative control */
            const errors wrong = errors_of(s, &r, &c);
            CHECK_ABOVE(wrong.density, 1e-3);
            CHECK_ABOVE(wrong.acceleration, 1e-3);
            copies_free(&c);
            play_close(&p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(fast_sums_are_the_plain_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
