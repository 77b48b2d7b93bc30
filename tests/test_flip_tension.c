/*
 * Surface tension of flip. Lengths are in radii of the drop, density and tension 1: speeds are in
 * sqrt(sigma / (rho R)), times in sqrt(rho R^3 / sigma).
 *   still       a drop of ten cells, off the grid's middle: p = (d - 1) sigma / R (Young and Laplace), and
 *               after five times nothing is faster than 0.02, with viscosity mu U / sigma below 1e-3
 *   waves       omega^2 = n (n^2 - 1) sigma / (rho R^3) in 2D, n (n - 1) (n + 2) in 3D (Rayleigh, Lamb)
 *   ripples     of 6 cells and more have the share that the filter leaves (the head of tension.c)
 *   moving      a drop that flies keeps its speed and shape
 *   walls       the surface meets a slip wall square: half a drop is as still as a whole one
 *   full        without a surface there is no force
 *   step        sqrt(rho dx^3 / (4 pi sigma)) (Brackbill et al. 1992); a third of it gives the same wave
 */
#include "physics.h"
#include "solver/flip/flip.h"

typedef struct droplet {
    int dim;
    double cells;   /* of the radius */
    double size[2]; /* of the domain, cells */
    double at[2];   /* the middle, cells */
    const char *transfer, *walls;
    const char *floor; /* a slip collider there, or none */
    double tension, viscosity, speed, dt;
    int wave;         /* around a cylinder, or a sphere if zero */
    double amplitude; /* of it */
} droplet;

static const droplet usual = {.dim = 2,
                              .cells = 10,
                              .size = {32, 32},
                              .at = {16.313, 16.177},
                              .transfer = "apic",
                              .walls = "open",
                              .floor = "",
                              .tension = 1};

static void write_shape(const droplet *d, char *out, size_t capacity) {
    enum { CORNERS = 128 };
    const double x = d->at[0] / d->cells, y = d->at[1] / d->cells;
    if (!d->wave) {
        const char *third = d->dim == 3 ? ", 1.6" : "";
        snprintf(out, capacity, "{sphere: {center: [%.9g, %.9g%s], radius: 1}}", x, y, third);
        return;
    }
    size_t length = (size_t)snprintf(out, capacity, "{polygon: [");
    for (int k = 0; k < CORNERS; k++) {
        const double angle = 2 * M_PI * k / CORNERS, r = 1 + d->amplitude * cos(d->wave * angle);
        length += (size_t)snprintf(out + length, capacity - length, "%s[%.5f, %.5f]", k ? ", " : "",
                                   x + r * cos(angle), y + r * sin(angle));
    }
    snprintf(out + length, capacity - length, "]}");
}

static play open_droplet(const droplet *d) {
    char shape_text[4096], step[32] = "";
    const bool deep = d->dim == 3;
    const double dx = 1 / d->cells, middle[2] = {d->at[0] * dx, d->at[1] * dx};
    write_shape(d, shape_text, sizeof shape_text);
    if (d->dt > 0) snprintf(step, sizeof step, ", dt: %.9g", d->dt);
    return play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 100\nfps: 1\ngravity: [0, 0%s]\n"
        "domain: {size: [%.9g, %.9g%s], dx: %.9g, walls: %s}\n"
        "solver: {type: flip, transfer: %s%s}\n"
        "materials: {w: {model: liquid, density: 1, surface_tension: %g, viscosity: %g}}\n"
        "bodies: [{material: w, sampling: regular, velocity: [%g, %g%s], shape: %s}]\n"
        "probes: [{name: inside, pressure: {at: [%.9g, %.9g%s]}}]\n%s",
        d->dim, deep ? ", 0" : "", d->size[0] * dx, d->size[1] * dx, deep ? ", 3.2" : "", dx,
        d->walls, d->transfer, step, d->tension, d->viscosity, d->speed, 0.37 * d->speed,
        deep ? ", 0" : "", shape_text, middle[0], middle[1], deep ? ", 1.6" : "", d->floor);
}

/* Means over the particles: place and velocity; the largest speed against that mean; and for waves
 * the mean of r^n cos n angle, which no motion inside the drop changes, in 3D that of 2 z^2 - x^2 -
 * y^2. */
typedef struct moments {
    double x[3], v[3], fastest, wave;
} moments;

static moments moments_of(play *p, int wave) {
    moments m = {{0}, {0}, 0, 0};
    const int dim = p->scene->dim;
    const double n = (double)p->sim->particles.count;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < dim; a++)
            m.x[a] += x[a] / n, m.v[a] += (double)p->sim->particles.velocity[i][a] / n;
    }
    EACH_PARTICLE(p->sim, block, i) {
        double x[3], speed2 = 0;
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < dim; a++) {
            x[a] -= m.x[a];
            speed2 += pow((double)p->sim->particles.velocity[i][a] - m.v[a], 2);
        }
        m.fastest = fmax(m.fastest, sqrt(speed2));
        m.wave += dim == 3 ? (2 * x[2] * x[2] - x[0] * x[0] - x[1] * x[1]) / n
                           : pow(hypot(x[0], x[1]), wave) * cos(wave * atan2(x[1], x[0])) / n;
    }
    return m;
}

/* ---- Still drops ----------------------------------------------------------------------------- */

/* Mean pressure inside over what it must be, and the fastest particle, after a time. */
static void check_still(const droplet *d, double until, double fastest) {
    play p = open_droplet(d);
    const int64_t count = p.sim->particles.count;
    double sum = 0, peak = 0;
    int steps = 0;
    while (p.sim->time < until) {
        play_steps(&p, 1);
        peak = fmax(peak, play_quantity(&p, "kinetic_energy"));
        if (p.sim->time > 0.2) sum += play_quantity(&p, "inside"), steps++;
    }
    const double inside = sum / steps / (d->dim - 1), last = play_quantity(&p, "max_speed");
    const double energy = play_quantity(&p, "kinetic_energy");
    print_message("%s %s: pressure %.4f, speed %.4f, energy %.2g of at most %.2g\n", d->transfer,
                  d->walls, inside, last, energy, peak);
    CHECK_BELOW(fabs(inside - 1), 1.2 / (d->cells * d->cells));
    CHECK_BELOW(last, fastest);
    CHECK_BELOW(energy, 0.9 * peak);
    const moments m = moments_of(&p, 2);
    const bool is_free = !*d->floor && !strcmp(d->walls, "open");
    if (is_free) CHECK_BELOW(hypot(m.v[0], m.v[1]), 0.002); /* 0.008 where jumps do not balance */
    assert_int_equal(p.sim->particles.count, count);
    assert_int_equal(p.sim->removed, 0);
    play_close(&p);
}

static void drop_is_still(void **state) {
    (void)state;
    const char *transfers[] = {"flip", "apic", "aflip", "apic, surface: distance"};
    for (int k = 0; k < (WATCHED ? 1 : 4); k++) {
        droplet d = usual;
        d.transfer = transfers[k];
        check_still(&d, WATCHED ? 1 : 5, WATCHED ? 0.1 : 0.02);
    }
}

static void viscous_drop_is_still(void **state) {
    (void)state;
    if (WATCHED) skip();
    droplet d = usual;
    d.viscosity = 0.1;
    check_still(&d, 2, 0.01);
}

static void small_sphere_is_still(void **state) {
    (void)state;
    droplet d = usual;
    if (WATCHED) skip();
    d.dim = 3, d.cells = 5, d.size[0] = d.size[1] = 16, d.at[0] = 8.3, d.at[1] = 7.8;
    check_still(&d, 1.2, 0.025);
}

/* On a slip side, and on a slip collider that ends within cells. */
static void half_drop_is_still(void **state) {
    (void)state;
    droplet d = usual;
    d.walls = "slip", d.at[1] = 0;
    check_still(&d, WATCHED ? 1 : 5, WATCHED ? 0.1 : 0.02);
    if (WATCHED) return;
    d.walls = "open", d.at[1] = 4.3;
    d.floor = "colliders: [{contact: slip, shape: {plane: {point: [0, 0.43], normal: [0, 1]}}}]\n";
    check_still(&d, 3, 0.08);
}

static void no_tension_no_pressure(void **state) {
    (void)state;
    droplet d = usual;
    d.tension = 0, d.dt = 0.01;
    play p = open_droplet(&d);
    play_steps(&p, 3);
    CHECK_BELOW(fabs(play_quantity(&p, "inside")), 1e-6);
    play_close(&p);
}

/* ---- Waves ----------------------------------------------------------------------------------- */

typedef struct wave_seen {
    double omega;       /* from the first passage through zero to the last */
    double first, last; /* amplitudes before the first and the last */
} wave_seen;

static wave_seen watch_wave(play *p, int wave, int passages) {
    wave_seen seen = {0, 0, 0};
    double before = moments_of(p, wave).wave, time = p->sim->time, start = 0, peak = fabs(before);
    for (int found = 0; found < passages && p->sim->time < 20;) {
        play_steps(p, 1);
        const double now = moments_of(p, wave).wave;
        if (before * now < 0) {
            const double at = time + (p->sim->time - time) * before / (before - now);
            if (found++ == 0) start = at, seen.first = peak;
            seen.omega = M_PI * (found - 1) / (at - start), seen.last = peak, peak = 0;
        }
        peak = fmax(peak, fabs(now)), before = now, time = p->sim->time;
    }
    return seen;
}

static wave_seen check_wave(const droplet *d, int passages, double tolerance) {
    play p = open_droplet(d);
    const int64_t count = p.sim->particles.count;
    const double n = d->wave, expected = sqrt(n * (n * n - 1));
    const wave_seen seen = watch_wave(&p, d->wave, passages);
    print_message("%s, wave %d at %g cells: omega %.4f, expected %.4f; from %.4f to %.4f\n",
                  d->transfer, d->wave, d->cells, seen.omega, expected, seen.first, seen.last);
    CHECK_BELOW(fabs(seen.omega / expected - 1), tolerance);
    CHECK_BELOW(seen.last, seen.first);
    CHECK_ABOVE(seen.last, 0.4 * seen.first);
    assert_int_equal(p.sim->particles.count, count);
    play_close(&p);
    return seen;
}

static void drop_oscillates(void **state) {
    (void)state;
    droplet d = usual;
    d.wave = 2, d.amplitude = 0.05;
    if (WATCHED) skip();
    check_wave(&d, 5, 0.03);
    d.wave = 3;
    check_wave(&d, 5, 0.03);
}

static void drop_oscillates_in_full(void **state) {
    (void)state;
    const char *transfers[] = {"flip", "apic", "aflip"};
    if (WATCHED || IN_DOUBLE || !getenv("SPATE_FULL")) skip();
    for (int k = 0; k < 3; k++)
        for (int finer = 1; finer <= 2; finer++) {
            droplet d = usual;
            d.transfer = transfers[k], d.wave = 2, d.amplitude = 0.05;
            d.cells *= finer, d.at[0] *= finer, d.at[1] *= finer;
            d.size[0] *= finer, d.size[1] *= finer;
            check_wave(&d, 11, 0.03);
        }
}

/* From a sphere with the velocity of its second wave. */
static void sphere_oscillates_in_full(void **state) {
    (void)state;
    if (WATCHED || IN_DOUBLE || !getenv("SPATE_FULL")) skip();
    droplet d = usual;
    d.dim = 3;
    play p = open_droplet(&d);
    const moments start = moments_of(&p, 2);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        for (int a = 0; a < 3; a++)
            p.sim->particles.velocity[i][a] = (real)((a == 2 ? 0.1 : -0.05) * (x[a] - start.x[a]));
    }
    play_steps(&p, 10);
    const wave_seen seen = watch_wave(&p, 2, 4);
    print_message("sphere: omega %.4f, expected %.4f\n", seen.omega, sqrt(8));
    CHECK_BELOW(fabs(seen.omega / sqrt(8) - 1), 0.03);
    assert_int_equal(p.sim->removed, 0);
    play_close(&p);
}

/* What the tension of a wave of `cells` cells on a deep pool does in a step, over that of the true
 * surface, dt sigma k^3 amplitude / density. */
static double pull_on_ripple(int cells) {
    const double dx = 0.1, k = 2 * M_PI / (cells * dx), top = 1.6, amplitude = 0.1 * dx;
    play p = play_open(1,
                       "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ngravity: [0, 0]\n"
                       "domain: {size: [%.9g, 2.4], dx: 0.1, walls: slip}\n"
                       "solver: {type: flip, transfer: apic}\n"
                       "materials: {w: {model: liquid, density: 1, surface_tension: 1}}\n"
                       "bodies: [{material: w, sampling: regular, shape: {box: {min: [0, 0], max: "
                       "[%.9g, 1.6]}}}]\n",
                       2 * cells * dx, 2 * cells * dx);
    double pull = 0, all = 0, x[3];
    EACH_PARTICLE(p.sim, block, i) {
        simulation_position(p.sim, block, i, x);
        const double e = amplitude / dx * exp(k * (x[1] - top));
        PLANE(&p.sim->particles, position, 0)[i] -= (real)(e * sin(k * x[0]));
        PLANE(&p.sim->particles, position, 1)[i] += (real)(e * cos(k * x[0]));
    }
    p.sim->drift = 1;
    play_steps(&p, 1);
    EACH_PARTICLE(p.sim, block, i) {
        simulation_position(p.sim, block, i, x);
        const double e = exp(k * (x[1] - top));
        const real *v = p.sim->particles.velocity[i];
        pull += e * (sin(k * x[0]) * (double)v[0] - cos(k * x[0]) * (double)v[1]), all += e * e;
    }
    pull /= all * p.sim->dt * k * k * k * amplitude;
    play_close(&p);
    return pull;
}

/* The head of tension.c: a wave of which the filter leaves a share a is pulled by a (3 a - 2 a^2),
 * and by less as the tent, the spline and the velocities between faces see less of it. */
static void ripples_have_their_share(void **state) {
    (void)state;
    static const int cells[] = {6, 8, 12, 16};
    for (int n = 0; n < COUNT_OF(cells); n++) {
        const double half = M_PI / cells[n], passed = pow(cos(half), 2), a = pow(passed, 4);
        const double seen = pow(sin(half) / half, 2 + 4 + 2);
        const double expected = seen * a * (3 * a - 2 * a * a), found = pull_on_ripple(cells[n]);
        print_message("ripples of %d cells: %.3f of their tension, expected %.3f\n", cells[n],
                      found, expected);
        CHECK_BELOW(fabs(found / expected - 1), 0.1);
    }
}

/* ---- Moving drops, walls, steps -------------------------------------------------------------- */

static void flying_drop_keeps_its_shape(void **state) {
    (void)state;
    droplet d = usual;
    d.walls = "periodic", d.speed = 1, d.transfer = "flip";
    play p = open_droplet(&d);
    play_until(&p, WATCHED ? 0.2 : 1.2); /* it does not cross a side */
    const moments m = moments_of(&p, 2);
    print_message("flying: speed %.5f, %.5f; inside %.4f\n", m.v[0], m.v[1], m.fastest);
    CHECK_BELOW(fabs(m.v[0] - 1), 0.01);
    CHECK_BELOW(fabs(m.v[1] - 0.37), 0.01);
    CHECK_BELOW(m.fastest, 0.1);
    play_close(&p);
}

/* Their cusps are not resolved, but momentum is kept and little sprays. */
static void drops_merge(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ngravity: [0, 0]\n"
        "domain: {size: [4.8, 3.2], dx: 0.1, walls: open}\n"
        "solver: {type: flip, transfer: apic}\n"
        "materials: {w: {model: liquid, density: 1, surface_tension: 1}}\n"
        "bodies:\n"
        "- {material: w, shape: {sphere: {center: [1.75, 1.6], radius: 0.7}}, velocity: [0.1, 0]}\n"
        "- {material: w, shape: {sphere: {center: [3.17, 1.62], radius: 0.7}}, velocity: [-0.1, "
        "0]}\n");
    const int64_t count = p.sim->particles.count;
    play_until(&p, 1.5);
    const moments m = moments_of(&p, 2);
    print_message("merged: velocity %.4f, %.4f; removed %d of %d, energy %.3f\n", m.v[0], m.v[1],
                  (int)p.sim->removed, (int)count, play_quantity(&p, "kinetic_energy"));
    CHECK_BELOW(hypot(m.v[0], m.v[1]), 0.02);
    CHECK_BELOW((double)p.sim->removed, 0.03 * (double)count);
    /* what the surface has set free: sigma 2 pi (2 r - sqrt(2) r) */
    CHECK_BELOW(play_quantity(&p, "kinetic_energy"), 2 * M_PI * 0.7 * (2 - sqrt(2)));
    play_close(&p);
}

static void full_box_has_no_force(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\nduration: 1\nfps: 1\ngravity: [0, 0]\n"
                     "domain: {size: [1.6, 1.6], dx: 0.1, walls: slip}\n"
                     "solver: {type: flip}\n"
                     "materials: {w: {model: liquid, density: 1, surface_tension: 1}}\n"
                     "bodies: [{material: w, shape: {box: {min: [0, 0], max: [1.6, 1.6]}}}]\n");
    play_steps(&p, 5);
    assert_true(play_quantity(&p, "max_speed") == 0);
    play_close(&p);
}

static void step_is_limited(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        droplet d = usual;
        d.cells = k == 1 ? 5 : 10, d.tension = k == 2 ? 4 : 1;
        play p = open_droplet(&d);
        play_steps(&p, 1);
        const double dx = 1 / d.cells, expected = sqrt(dx * dx * dx / (4 * M_PI * d.tension));
        CHECK_BELOW(fabs(p.sim->dt / expected - 1), 1e-6);
        play_close(&p);
    }
}

static void wave_does_not_depend_on_the_step(void **state) {
    (void)state;
    if (WATCHED) skip();
    droplet d = usual;
    d.wave = 2, d.amplitude = 0.05, d.cells = 8, d.at[0] = 16, d.at[1] = 16;
    wave_seen seen[2];
    for (int k = 0; k < 2; k++) {
        d.dt = (k ? 1.0 / 3 : 1) * sqrt(pow(1 / d.cells, 3) / (4 * M_PI));
        play p = open_droplet(&d);
        seen[k] = watch_wave(&p, 2, 3);
        play_close(&p);
    }
    print_message("omega %.4f, at a third of the step %.4f; last amplitude %.4f, %.4f\n",
                  seen[0].omega, seen[1].omega, seen[0].last, seen[1].last);
    CHECK_BELOW(fabs(seen[0].omega / seen[1].omega - 1), 0.01);
    CHECK_BELOW(fabs(seen[0].last / seen[1].last - 1), 0.03);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drop_is_still),
        cmocka_unit_test(viscous_drop_is_still),
        cmocka_unit_test(small_sphere_is_still),
        cmocka_unit_test(half_drop_is_still),
        cmocka_unit_test(no_tension_no_pressure),
        cmocka_unit_test(drop_oscillates),
        cmocka_unit_test(drop_oscillates_in_full),
        cmocka_unit_test(sphere_oscillates_in_full),
        cmocka_unit_test(ripples_have_their_share),
        cmocka_unit_test(flying_drop_keeps_its_shape),
        cmocka_unit_test(drops_merge),
        cmocka_unit_test(full_box_has_no_force),
        cmocka_unit_test(step_is_limited),
        cmocka_unit_test(wave_does_not_depend_on_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
