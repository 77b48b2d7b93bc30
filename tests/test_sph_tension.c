/*
 * Surface tension of sph. Lengths are in radii of the drop, density and tension 1: speeds are in
 * sqrt(sigma / (rho R)), times in sqrt(rho R^3 / sigma).
 *   still       p = (d - 1) sigma / R (Young and Laplace); nothing is lost
 *   momentum    and angular momentum of a drop that touches nothing stay zero to rounding
 *   waves       omega^2 = n (n^2 - 1) sigma / (rho R^3) in 2D, n (n - 1) (n + 2) in 3D (Rayleigh, Lamb)
 *   alone       a particle beside a drop is drawn in
 *   walls       the surface meets a slip wall square: half a drop stays one
 *   full        without a surface there is no force
 *   same        whatever the number of threads, and through a checkpoint
 */
#include "core/vec.h"
#include "physics.h"
#include "solver/sph/sph.h"

typedef struct droplet {
    int dim;
    double spacings; /* of the radius */
    const char *solver, *walls;
    double at[2]; /* the middle, off the domain's, cells */
    double room;  /* of the domain */
    double tension;
    double wide; /* first half axis, the other its inverse */
} droplet;

static const droplet usual = {.dim = 2,
                              .spacings = 10,
                              .solver = "pressure: dfsph",
                              .walls = "open",
                              .at = {0.31, 0.22},
                              .room = 3.2,
                              .tension = 1,
                              .wide = 1};

static play open_droplet(const droplet *d, int threads) {
    enum { CORNERS = 96 };
    char shape_text[4096];
    const double dx = 2 / d->spacings, size = ceil(d->room / dx) * dx;
    const double x = size / 2 + d->at[0] * dx, y = size / 2 + d->at[1] * dx;
    size_t length = (size_t)snprintf(shape_text, sizeof shape_text, "{polygon: [");
    for (int k = 0; k < CORNERS; k++)
        length += (size_t)snprintf(
            shape_text + length, sizeof shape_text - length, "%s[%.5f, %.5f]", k ? ", " : "",
            x + d->wide * cos(2 * M_PI * k / CORNERS), y + sin(2 * M_PI * k / CORNERS) / d->wide);
    snprintf(shape_text + length, sizeof shape_text - length, "]}");
    if (d->dim == 3)
        snprintf(shape_text, sizeof shape_text, "{sphere: {center: [%.9g, %.9g, %.9g], radius: 1}}",
                 x, y, size / 2);
    char third[32];
    snprintf(third, sizeof third, ", %.9g", size);
    return play_open(threads,
                     "spate: 1\ndimension: %d\nduration: 100\nfps: 1\ngravity: [0, 0%s]\n"
                     "domain: {size: [%.9g, %.9g%s], dx: %.9g, walls: %s}\n"
                     "solver: {type: sph, %s}\n"
                     "materials: {w: {model: liquid, density: 1, bulk_modulus: 300, "
                     "surface_tension: %g}}\n"
                     "bodies: [{material: w, shape: %s}]\n",
                     d->dim, d->dim == 3 ? ", 0" : "", size, size, d->dim == 3 ? third : "", dx,
                     d->walls, d->solver, d->tension, shape_text);
}

/* Means over the particles: place, velocity, x^2 - y^2 (2 z^2 - x^2 - y^2 in 3D) about the middle;
 * and pressure within half the radius, the largest distance and speed. */
typedef struct moments {
    double x[3], v[3], wave, pressure, farthest, fastest;
} moments;

static moments moments_of(play *p) {
    moments m = {{0}, {0}, 0, 0, 0, 0};
    const int dim = p->scene->dim;
    const double n = (double)p->sim->particles.count;
    double inside = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < dim; a++)
            m.x[a] += x[a] / n, m.v[a] += (double)p->sim->particles.velocity[i][a] / n;
    }
    EACH_PARTICLE(p->sim, block, i) {
        double x[3], r2 = 0, speed2 = 0;
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < dim; a++) {
            x[a] -= m.x[a], r2 += x[a] * x[a];
            speed2 += pow((double)p->sim->particles.velocity[i][a], 2);
        }
        m.fastest = fmax(m.fastest, sqrt(speed2));
        m.farthest = fmax(m.farthest, sqrt(r2));
        m.wave +=
            (dim == 3 ? 2 * x[2] * x[2] - x[0] * x[0] - x[1] * x[1] : x[0] * x[0] - x[1] * x[1]) /
            n;
        if (r2 < 0.25) m.pressure += sph_pressure(&p->sim->particles, i), inside++;
    }
    m.pressure /= inside;
    return m;
}

/* ---- Still drops ----------------------------------------------------------------------------- */

static void check_still(const droplet *d, double until, double tolerance, double fastest) {
    play p = open_droplet(d, 1);
    const int64_t count = p.sim->particles.count;
    double sum = 0, time = 0;
    while (p.sim->time < until) {
        play_steps(&p, 1);
        if (p.sim->time < until / 2) continue;
        sum += p.sim->dt * moments_of(&p).pressure, time += p.sim->dt;
    }
    const moments m = moments_of(&p);
    const double pressure = sum / time / (d->dim - 1);
    print_message("%dD, %s: pressure %.3f, speed %.4f, drift %.1e\n", d->dim, d->solver, pressure,
                  m.fastest, hypot(m.v[0], m.v[1]));
    CHECK_BELOW(fabs(pressure - 1), tolerance);
    CHECK_BELOW(m.fastest, fastest);
    CHECK_BELOW(m.farthest, 1.1);
    CHECK_BELOW(hypot(hypot(m.v[0], m.v[1]), m.v[2]), 1e-6);
    assert_int_equal(p.sim->particles.count, count);
    play_close(&p);
}

static void drop_is_still(void **state) {
    (void)state;
    droplet d = usual;
    check_still(&d, WATCHED ? 2 : 5, WATCHED ? 0.1 : 0.05, WATCHED ? 0.2 : 0.08);
    if (WATCHED) return;
    d.solver = "pressure: iisph";
    check_still(&d, 3, 0.05, 0.1);
    d.solver = "kernel: wendland";
    check_still(&d, 3, 0.05, 0.15);
}

static void sphere_is_still(void **state) {
    (void)state;
    droplet d = usual;
    if (WATCHED) skip();
    d.dim = 3, d.spacings = 8;
    check_still(&d, 1, 0.07, 0.25);
}

/* Without XSPH, which does not keep angular momentum. */
static void momentum_is_kept(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        droplet d = usual;
        d.dim = dim, d.spacings = 5, d.solver = "pressure: dfsph, xsph: 0", d.wide = 1.2;
        play p = open_droplet(&d, 1);
        play_steps(&p, 40);
        const moments m = moments_of(&p);
        double angular[3] = {0};
        EACH_PARTICLE(p.sim, block, i) {
            double x[3], v[3] = {0}, one[3];
            simulation_position(p.sim, block, i, x);
            for (int a = 0; a < dim; a++)
                x[a] -= m.x[a], v[a] = (double)p.sim->particles.velocity[i][a];
            vec_cross(one, x, v);
            vec_add_scaled(angular, angular, 1 / (double)p.sim->particles.count, one);
        }
        print_message("%dD: momentum %.1e, angular %.1e, fastest %.2f\n", dim, vec_length(m.v),
                      vec_length(angular), m.fastest);
        CHECK_BELOW(vec_length(m.v), 1e-7);
        CHECK_BELOW(vec_length(angular), 1e-7);
        CHECK_ABOVE(m.fastest, 0.02);
        play_close(&p);
    }
}

/* ---- Waves ----------------------------------------------------------------------------------- */

/* From the first passage through zero to the third. */
static double frequency_of(play *p) {
    double before = moments_of(p).wave, time = p->sim->time, at[3] = {0};
    for (int found = 0; found < 3 && p->sim->time < 12;) {
        play_steps(p, 1);
        const double now = moments_of(p).wave;
        if (before * now < 0) at[found++] = time + (p->sim->time - time) * before / (before - now);
        before = now, time = p->sim->time;
    }
    return at[2] > 0 ? 2 * M_PI / (at[2] - at[0]) : 0;
}

static void check_wave(const droplet *d, double tolerance) {
    play p = open_droplet(d, 1);
    const double omega = frequency_of(&p), expected = sqrt(6 * d->tension);
    print_message("%s, %g spacings: omega %.4f, expected %.4f\n", d->solver, d->spacings, omega,
                  expected);
    CHECK_BELOW(fabs(omega / expected - 1), tolerance);
    play_close(&p);
}

static void drop_oscillates(void **state) {
    (void)state;
    static const char *const solvers[] = {"pressure: dfsph", "pressure: iisph", "kernel: wendland",
                                          "pressure: wcsph"};
    if (WATCHED) skip();
    for (int n = 0; n < (getenv("SPATE_FULL") ? 4 : 1); n++)
        for (int finer = 0; finer < (getenv("SPATE_FULL") ? 3 : 1); finer++) {
            droplet d = usual;
            d.solver = solvers[n], d.spacings = 10 + 5 * finer, d.wide = 1.1;
            check_wave(&d, 0.05);
        }
}

/* ---- Particles alone, walls ------------------------------------------------------------------ */

static void lone_particle_is_drawn_in(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_open(1, "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ngravity: [0, 0]\n"
                          "domain: {size: [4, 4], dx: 0.2, walls: open}\n"
                          "solver: {type: sph, pressure: dfsph}\n"
                          "materials: {w: {model: liquid, density: 1, surface_tension: 1}}\n"
                          "bodies:\n- {material: w, shape: {sphere: {center: [2, 2], radius: 1}}}\n"
                          "- {material: w, shape: {box: {min: [3.2, 2], max: [3.3, 2.1]}}}\n");
    CHECK_ABOVE(moments_of(&p).farthest, 1.2);
    play_until(&p, 2);
    CHECK_BELOW(moments_of(&p).farthest, 1.1);
    play_close(&p);
}

static void half_drop_stays_one(void **state) {
    (void)state;
    if (WATCHED) skip();
    droplet d = usual;
    d.walls = "slip", d.room = 4.8, d.at[1] = -12;
    play p = open_droplet(&d, 1);
    const moments start = moments_of(&p);
    play_until(&p, 4);
    const moments m = moments_of(&p);
    print_message("half: height %.3f then %.3f, wave %.3f then %.3f, speed %.3f\n", start.x[1],
                  m.x[1], start.wave, m.wave, m.fastest);
    CHECK_BELOW(fabs(m.x[1] / (4 / (3 * M_PI)) - 1), 0.04);
    CHECK_BELOW(fabs(m.wave / start.wave - 1), 0.1);
    CHECK_BELOW(m.fastest, 0.2);
    play_close(&p);
}

static void full_box_has_no_force(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\nduration: 1\nfps: 1\ngravity: [0, 0]\n"
                     "domain: {size: [1.6, 1.6], dx: 0.1, walls: slip}\n"
                     "solver: {type: sph, pressure: dfsph}\n"
                     "materials: {w: {model: liquid, density: 1, surface_tension: 1}}\n"
                     "bodies: [{material: w, shape: {box: {min: [0, 0], max: [1.6, 1.6]}}}]\n");
    play_steps(&p, 5);
    CHECK_BELOW(play_quantity(&p, "max_speed"), 0.05); /* 0.5 where walls are as air */
    play_close(&p);
}

/* ---- The same -------------------------------------------------------------------------------- */

static void same_with_threads_and_resumed(void **state) {
    (void)state;
    droplet d = usual;
    d.walls = "slip", d.room = 4.8, d.at[1] = -12;
    play one = open_droplet(&d, 1), two = open_droplet(&d, 2), rest = open_droplet(&d, 2);
    play_steps(&one, 12);
    play_steps(&two, 6);
    play_go_on(&two, &rest);
    play_steps(&rest, 6);
    const size_t bytes = (size_t)one.sim->particles.count * sizeof(real4);
    assert_memory_equal(one.sim->particles.velocity, rest.sim->particles.velocity, bytes);
    play_close(&one), play_close(&two), play_close(&rest);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drop_is_still),
        cmocka_unit_test(sphere_is_still),
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(drop_oscillates),
        cmocka_unit_test(lone_particle_is_drawn_in),
        cmocka_unit_test(half_drop_stays_one),
        cmocka_unit_test(full_box_has_no_force),
        cmocka_unit_test(same_with_threads_and_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
