/*
 * Driving a simulation: colliders, particles and force fields from outside. What is exact is
 * compared with it; what was recorded is played again bit for bit, with any number of threads and
 * after a checkpoint; what is wrong is refused and changes nothing.
 */
#include "driven.h"
#include "solver/drive.h"
#include "solver/impulses.h"

/* ---- Colliders ------------------------------------------------------------------------------- */

/* Driven along a straight line, step by step, it does what a scene's keys do: the same force, in
 * every solver. Both stand still at first: gas begins in the motion that keys have at the start. */
static void test_driven_as_keys(void **state) {
    (void)state;
    const double begin = 0.021, v = 0.5; /* within a step: whichever way its times are rounded */
    for (int s = 0; s < SOLVERS; s++) {
        play by_hand = open_tank_with(s, 1, ", dt: 0.002", driven_ball);
        play by_keys =
            open_tank_with(s, 1, ", dt: 0.002",
                           "colliders: [{name: ball, shape: {sphere: {center: [0.5, 0.25], radius: "
                           "0.12}}, motion: {pivot: [0.5, 0.25], keys: [{t: 0, translate: [0, 0]}, "
                           "{t: 0.021, translate: [0, 0]}, {t: 10.021, translate: [5, 0]}]}}]\n");
        double f[3], g[3], t[3], sum = 0, other = 0;
        for (int k = 0; k < 30; k++) {
            const bool moves = by_hand.sim->time > begin - 0.0015;
            const spate_pose at = ball_at(moves ? 0.5 + v * (by_hand.sim->time - begin) : 0.5, 0.25,
                                          moves ? v : 0, 0);
            expect(by_hand.ctx, spate_simulation_set_pose(by_hand.sim, "ball", &at));
            play_steps(&by_hand, 1), play_steps(&by_keys, 1);
            expect(by_hand.ctx, spate_simulation_force(by_hand.sim, "ball", f, t));
            expect(by_keys.ctx, spate_simulation_force(by_keys.sim, "ball", g, t));
            sum += f[0] * by_hand.sim->dt, other += g[0] * by_keys.sim->dt;
        }
        assert_true(fabs(other) > (s == SMOKE ? 1e-3 : 0.1));
        CHECK_BELOW(fabs(sum - other), 0.01 * fabs(other));
        play_close(&by_hand), play_close(&by_keys);
    }
}

/* A torque is about the pivot: about another one it is more by (difference of pivots) x force. */
static void test_torque(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play middle = open_tank(s, 1);
        play aside = open_tank_with(
            s, 1, "",
            "colliders: [{name: ball, driven: true, shape: {sphere: {center: [0.5, 0.25], radius: "
            "0.12}}, motion: {pivot: [0.3, 0.25], keys: [{t: 0}]}}]\n");
        spate_pose at = ball_at(0.5, 0.25, 0, 0);
        at.velocity[1] = -0.5;
        expect(middle.ctx, spate_simulation_set_pose(middle.sim, "ball", &at));
        at.position[0] = 0.3;
        expect(aside.ctx, spate_simulation_set_pose(aside.sim, "ball", &at));
        double f[3], g[3], t[3], u[3];
        for (int k = 0; k < 3; k++) {
            play_steps(&middle, 1), play_steps(&aside, 1);
            expect(middle.ctx, spate_simulation_force(middle.sim, "ball", f, t));
            expect(aside.ctx, spate_simulation_force(aside.sim, "ball", g, u));
        }
        assert_true(fabs(f[1]) > 1e-3);
        assert_float_equal(f[1], g[1], 1e-4 * fabs(f[1]));
        assert_float_equal(u[2], t[2] + 0.2 * f[1], 1e-3 * fabs(f[1]));
        play_close(&middle), play_close(&aside);
    }
}

/* It goes on with its velocity and spin; what is read is what was given. */
static void test_pose(void **state) {
    (void)state;
    play p = open_tank(1, 1);
    spate_pose out, at = ball_at(0.3, 0.25, 1, 2);
    at.rotation[2] = sin(0.25), at.rotation[3] = cos(0.25);
    expect(p.ctx, spate_simulation_set_pose(p.sim, "ball", &at));
    expect(p.ctx, spate_simulation_pose(p.sim, "ball", &out));
    for (int a = 0; a < 4; a++) assert_float_equal(out.rotation[a], at.rotation[a], 1e-12);
    assert_float_equal(out.position[0], 0.3, 1e-15);
    play_until(&p, 0.05);
    expect(p.ctx, spate_simulation_pose(p.sim, "ball", &out));
    assert_float_equal(out.position[0], 0.35, 1e-12);
    assert_float_equal(2 * atan2(out.rotation[2], out.rotation[3]), 0.5 + 2 * 0.05, 1e-12);
    play_close(&p);
}

/* The mean of the steps' forces is that of the frame, which stats.csv has. */
static void test_force_of_step(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play p = open_tank(s, 2);
        double f[3], t[3], impulse = 0;
        if (s == SMOKE) {
            const spate_pose at = ball_at(0.5, 0.25, 0.4, 0);
            expect(p.ctx, spate_simulation_set_pose(p.sim, "ball", &at));
        }
        while (p.sim->time < 0.05) {
            expect(p.ctx, spate_simulation_step(p.sim, 0.05));
            expect(p.ctx, spate_simulation_force(p.sim, "ball", f, t));
            impulse += f[s == SMOKE ? 0 : 1] * p.sim->dt;
        }
        const double mean = play_quantity(&p, s == SMOKE ? "ball_force_x" : "ball_force_y");
        assert_true(fabs(mean) > 0);
        assert_true(fabs(impulse / 0.05 - mean) <= 1e-9 * fabs(mean));
        play_close(&p);
    }
}

/* ---- Particles ------------------------------------------------------------------------------- */

static const char points[] =
    "spate: 1\ndimension: 2\ngravity: [%g, 0]\ndomain: {size: [4, 4], dx: 0.125}\nduration: 10\n"
    "solver: {type: %s%s}\nmaterials: {water: {model: liquid, density: 1000, bulk_modulus: "
    "1.0e3}}\n"
    "bodies: [{material: water, shape: {points: [[1, 1], [3, 3]]}, velocity: [0, 0.5]}]\n%s";

static void read_vectors(play *p, const char *name, double *values) {
    spate_reading r = spate_default_reading();
    r.attribute = name, r.type = SPATE_FLOAT64;
    r.values = values, r.capacity = 6;
    expect(p->ctx, spate_simulation_read(p->sim, &r));
}

/* A force F on a particle of mass m for one step of dt: v grows by F dt / m, once. */
static void test_particle_forces(void **state) {
    (void)state;
    for (int s = 0; s < SMOKE; s++) {
        play p = play_open(1, points, 0.0, solver_names[s], ", dt: 0.01", "");
        const uint64_t id = 1;
        const double force[3] = {2, 0, 0}, m = (double)p.sim->particles.mass[0];
        spate_writing w = spate_default_writing();
        w.target = SPATE_FORCE, w.ids = &id, w.particles = 1, w.values = force;
        expect(p.ctx, spate_simulation_write(p.sim, &w));
        double v[6];
        play_steps(&p, 1);
        read_vectors(&p, "v", v);
        assert_float_equal(v[3], 2 * 0.01 / m, 2e-3 * 0.02 / m);
        assert_float_equal(v[0], 0, 1e-7);
        play_steps(&p, 1);
        read_vectors(&p, "v", v);
        assert_float_equal(v[3], 2 * 0.01 / m, 5e-2 * 0.02 / m);
        play_close(&p);
    }
}

static void test_velocities_and_positions(void **state) {
    (void)state;
    for (int s = 0; s < SMOKE; s++) {
        play p = play_open(1, points, 0.0, solver_names[s], ", dt: 0.001", "");
        const double v[6] = {1, 0, 0, 0, -1, 0}, far[6] = {3.5, 0.5, 0, 0.5, 3.5, 0};
        double got[6];
        spate_writing w = spate_default_writing();
        w.particles = 2, w.values = v;
        expect(p.ctx, spate_simulation_write(p.sim, &w));
        read_vectors(&p, "v", got); /* at once */
        for (int i = 0; i < 6; i++) assert_true(got[i] == v[i]);
        w.target = SPATE_POSITION, w.values = far;
        expect(p.ctx, spate_simulation_write(p.sim, &w));
        read_vectors(&p, "P", got);
        for (int i = 0; i < 6; i++) assert_float_equal(got[i], far[i], 1e-6);
        play_steps(&p, 2);
        read_vectors(&p, "P", got);
        assert_float_equal(got[0], 3.502, 1e-4);
        assert_float_equal(got[4], 3.498, 1e-4);
        play_close(&p);
    }
}

/* ---- Force fields ---------------------------------------------------------------------------- */

/* A uniform wind is gravity: the same motion up to rounding, in a tank with walls. */
static void test_wind_is_gravity(void **state) {
    (void)state;
    for (int s = 0; s < SMOKE; s++)
        for (int wrong = 0; wrong < 2; wrong++) {
            const char *words =
                "spate: 1\ndimension: 2\ngravity: [%g, -9.81]\ndomain: {size: [1, 1], dx: 0.0625}\n"
                "duration: 1\nsolver: {type: %s, dt: 0.001}\n"
                "materials: {water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}}\n"
                "bodies: [{material: water, shape: {box: {min: [0, 0], max: [0.5, 0.5]}}}]\n%s";
            play gravity = play_open(1, words, 4.0, solver_names[s], ""), wind;
            wind = play_open(1, words, 0.0, solver_names[s],
                             wrong ? "forces: [{wind: {acceleration: [3.5, 0]}}]\n"
                                   : "forces: [{wind: {acceleration: [4, 0]}}]\n");
            play_until(&gravity, 0.05), play_until(&wind, 0.05);
            const double a = play_quantity(&gravity, "momentum_x"),
                         b = play_quantity(&wind, "momentum_x");
            const bool same = fabs(a - b) < 0.02 * fabs(a);
            assert_true(same == !wrong);
            play_close(&gravity), play_close(&wind);
        }
}

/* Drag: v = v0 exp(-k t) to rounding, whatever the step; a wrong rate is seen. */
static void test_drag(void **state) {
    (void)state;
    for (int s = 0; s < SMOKE; s++)
        for (int steps = 5; steps <= 50; steps *= 10) {
            char dt[40];
            snprintf(dt, sizeof dt, ", dt: %g", 0.2 / steps);
            play p =
                play_open(1, points, 0.0, solver_names[s], dt, "forces: [{drag: {rate: 3}}]\n");
            double v[6];
            play_steps(&p, steps);
            read_vectors(&p, "v", v);
            assert_float_equal(v[1], 0.5 * exp(-0.6), 2e-5);
            assert_true(fabs(v[1] - 0.5 / (1 + 0.6)) > 1e-3); /* implicit Euler in one step */
            play_close(&p);
        }
}

/* A particle around an attractor keeps its energy and angular momentum over turns. */
static void test_attractor(void **state) {
    (void)state;
    const char *words =
        "spate: 1\ndimension: 2\ngravity: [0, 0]\ndomain: {size: [4, 4], dx: 0.125}\nduration: 30\n"
        "solver: {type: mpm%s, dt: 0.005}\n"
        "materials: {water: {model: liquid, density: 1000, bulk_modulus: 1}}\n"
        "bodies: [{material: water, shape: {points: [[3, 2]]}, velocity: [0, 0.8]}]\n"
        "forces: [{attractor: {center: [2, 2], strength: 1, softening: 0.2}}]\n";
    play p = play_open(1, words, ", integrator: apic");
    double x[6], v[6], low = HUGE_VAL, high = -HUGE_VAL, turn_low = HUGE_VAL, turn_high = -HUGE_VAL;
    bool went_round = false;
    for (int k = 0; k < 2000; k++) {
        play_steps(&p, 1);
        read_vectors(&p, "P", x), read_vectors(&p, "v", v);
        const double r[2] = {x[0] - 2, x[1] - 2};
        const double energy =
            0.5 * (v[0] * v[0] + v[1] * v[1]) - 1 / sqrt(r[0] * r[0] + r[1] * r[1] + 0.04);
        const double angular = r[0] * v[1] - r[1] * v[0];
        low = fmin(low, energy), high = fmax(high, energy);
        turn_low = fmin(turn_low, angular), turn_high = fmax(turn_high, angular);
        went_round |= r[0] < -0.3;
    }
    assert_true(went_round);
    assert_true(high - low < 0.02 * fabs(low));
    assert_true(turn_high - turn_low < 1e-2 * fabs(turn_high));
    play_close(&p);
}

/* What each kind does to a particle at x that moves with v, over a step: the formulas of
 * docs/methods.md, and the other particle left alone where the field does not reach. */
static void expected_change(const spate_force *f, const double x[2], const double v[2], double dt,
                            double change[2]) {
    const double r[2] = {x[0] - f->center[0], x[1] - f->center[1]};
    const double square = r[0] * r[0] + r[1] * r[1], R = f->radius;
    double rate = f->rate;
    change[0] = change[1] = 0;
    if (f->kind == SPATE_WIND)
        for (int a = 0; a < 2; a++) change[a] = dt * f->acceleration[a];
    if (f->kind == SPATE_ATTRACTOR)
        for (int a = 0; a < 2; a++)
            change[a] = -dt * f->strength * r[a] / pow(square + f->softening * f->softening, 1.5);
    if (f->kind == SPATE_VORTEX) {
        const double speed =
            dt * f->strength * (square < R * R ? sqrt(square) / R : R / sqrt(square));
        change[0] = -speed * r[1] / sqrt(square), change[1] = speed * r[0] / sqrt(square);
    }
    if (f->kind == SPATE_MOUSE) rate = square < R * R ? rate * pow(1 - square / (R * R), 2) : 0;
    if (f->kind == SPATE_DRAG || f->kind == SPATE_MOUSE)
        for (int a = 0; a < 2; a++) change[a] = (f->velocity[a] - v[a]) * (1 - exp(-rate * dt));
}

static spate_force force_of_kind(spate_force_kind kind) {
    spate_force f = spate_default_force();
    f.kind = kind;
    f.acceleration[0] = 3, f.acceleration[1] = -1;
    f.strength = 4, f.softening = 0.5, f.radius = 0.6, f.length = 0.7;
    f.center[0] = 1.3, f.center[1] = 0.8;
    f.velocity[0] = 2, f.rate = 5;
    return f;
}

static void test_kinds_on_particles(void **state) {
    (void)state;
    static const spate_force_kind kinds[] = {SPATE_WIND, SPATE_ATTRACTOR, SPATE_VORTEX, SPATE_DRAG,
                                             SPATE_MOUSE};
    const double dt = 0.01, v0[2] = {0, 0.5}, places[2][2] = {{1, 1}, {3, 3}};
    for (int s = 0; s < SMOKE; s++)
        for (int k = 0; k < COUNT_OF(kinds); k++)
            for (int boxed = 0; boxed < 2; boxed++) {
                play p = play_open(1, points, 0.0, solver_names[s], ", dt: 0.01", "");
                spate_force f = force_of_kind(kinds[k]);
                if (boxed) f.max[0] = f.max[1] = 2; /* only the first particle */
                expect(p.ctx, spate_simulation_set_force(p.sim, "f", &f));
                double v[6], change[2];
                play_steps(&p, 1);
                read_vectors(&p, "v", v);
                for (int i = 0; i < 2; i++) {
                    expected_change(&f, places[i], v0, dt, change);
                    const double size = boxed && i ? 0 : hypot(change[0], change[1]);
                    for (int a = 0; a < 2; a++)
                        assert_float_equal(v[3 * i + a], v0[a] + (size > 0 ? change[a] : 0),
                                           2e-3 * size + 2e-6);
                    assert_true(i || size > 1e-4);
                }
                play_close(&p);
            }
}

/* On gas, after the projection: wind is left as it is; an attractor is the gradient of a potential
 * and moves nothing; what has no divergence stays. Walls around it. */
static void test_kinds_on_gas(void **state) {
    (void)state;
    const struct {
        spate_force_kind kind;
        double least, most; /* of the kinetic energy over that of the field without a projection */
    } cases[] = {{SPATE_ATTRACTOR, 0, 0.02},
                 {SPATE_VORTEX, 0.5, 1},
                 {SPATE_TURBULENCE, 0.4, 1},
                 {SPATE_MOUSE, 0.1, 0.9}};
    enum { N = 32 };
    static float v[3 * N * N];
    for (int k = 0; k < COUNT_OF(cases); k++) {
        play p =
            play_open(1, "spate: 1\ndimension: 2\ngravity: [0, 0]\ndomain: {size: [4, 4], dx: "
                         "0.125}\nduration: 1\nsolver: {type: smoke, dt: 0.01}\n"
                         "materials: {air: {model: gas}}\n"
                         "bodies: [{material: air, shape: {box: {min: [0, 0], max: [4, 4]}}}]\n");
        spate_force f = force_of_kind(cases[k].kind);
        f.center[0] = f.center[1] = 2, f.radius = 1;
        expect(p.ctx, spate_simulation_set_force(p.sim, "f", &f));
        play_steps(&p, 1);
        expect(p.ctx, spate_simulation_grid(p.sim, "velocity", v, 3 * N * N));
        double energy = 0, full = 0;
        for (int i = 0; i < N * N; i++) {
            double x[3] = {(i % N + 0.5) * 0.125, (i / N + 0.5) * 0.125, 0}, want[3] = {0};
            if (f.kind == SPATE_TURBULENCE) {
                force_field g = p.sim->forces.list[0];
                force_acceleration(&g, 2, x, 0, want);
                want[0] *= 0.01, want[1] *= 0.01;
            } else {
                expected_change(&f, x, (double[2]){0, 0}, 0.01, want);
            }
            full += want[0] * want[0] + want[1] * want[1];
            for (int a = 0; a < 2; a++) energy += (double)(v[3 * i + a] * v[3 * i + a]);
        }
        if (!(energy >= cases[k].least * full && energy <= cases[k].most * full))
            print_error("kind %d: %.3f of the field's energy\n", (int)f.kind, energy / full);
        assert_true(energy >= cases[k].least * full && energy <= cases[k].most * full);
        play_close(&p);
    }
}

/* `forces:` of a scene with a region of any shape, and times; steps end where one begins or
 * ends. */
static void test_region_and_times(void **state) {
    (void)state;
    for (int s = 0; s < SMOKE; s++) {
        play p =
            play_open(1, points, 0.0, solver_names[s], ", dt: 0.015",
                      "forces: [{wind: {acceleration: [2, 0]}, from: 0.02, until: 0.05, region: "
                      "{sphere: {center: [1, 1], radius: 0.3}}}]\n");
        double v[6];
        play_until(&p, 0.02);
        read_vectors(&p, "v", v);
        assert_float_equal(v[0], 0, 1e-7);
        play_until(&p, 0.2);
        read_vectors(&p, "v", v);
        assert_float_equal(v[0], 2 * 0.03, 2e-4);
        assert_float_equal(v[3], 0, 1e-6);
        play_close(&p);
    }
}

/* Turbulence has no divergence and the strength that was asked for. */
static void test_turbulence(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        force_field f = force_default();
        f.kind = FORCE_TURBULENCE, f.strength = 2, f.length = 0.3, f.period = 0.5, f.seed = 9;
        double square = 0, divergence = 0;
        const double h = 1e-5;
        enum { SAMPLES = 4000 };
        for (int k = 0; k < SAMPLES; k++) {
            double x[3] = {0.0137 * k, 0.0211 * k, dim == 3 ? 0.0173 * k : 0}, a[3], sum = 0;
            force_acceleration(&f, dim, x, 0.007 * k, a);
            for (int c = 0; c < dim; c++) square += a[c] * a[c] / SAMPLES;
            for (int c = 0; c < dim; c++) {
                double low[3] = {x[0], x[1], x[2]}, high[3] = {x[0], x[1], x[2]}, b[3];
                low[c] -= h, high[c] += h;
                force_acceleration(&f, dim, high, 0.007 * k, a);
                force_acceleration(&f, dim, low, 0.007 * k, b);
                sum += (a[c] - b[c]) / (2 * h);
            }
            divergence = fmax(divergence, fabs(sum));
        }
        assert_float_equal(sqrt(square), 2, 0.15);
        assert_true(divergence < 1e-4 * 2 / 0.3);
    }
}

/* All kinds act on gas too: a drag to a velocity moves it, a box keeps the field in. */
static void test_gas(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ndimension: 2\ngravity: [0, 0]\ndomain: {size: [1, 1], dx: 0.0625, "
                     "walls: periodic}\nduration: 1\nsolver: {type: smoke, dt: 0.01}\n"
                     "materials: {air: {model: gas}}\n"
                     "bodies: [{material: air, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n"
                     "forces: [{wind: {acceleration: [2, 0]}, until: 0.1}]\n");
    play_until(&p, 0.2);
    float v[3 * 256];
    expect(p.ctx, spate_simulation_grid(p.sim, "velocity", v, 3 * 256));
    for (int i = 0; i < 256; i++) assert_float_equal(v[3 * i], 0.2, 1e-4);
    spate_force drag = spate_default_force();
    drag.kind = SPATE_DRAG, drag.rate = 5;
    expect(p.ctx, spate_simulation_set_force(p.sim, "mud", &drag));
    play_until(&p, 0.4);
    expect(p.ctx, spate_simulation_grid(p.sim, "velocity", v, 3 * 256));
    for (int i = 0; i < 256; i++) assert_float_equal(v[3 * i], 0.2 * exp(-1), 1e-4);
    play_close(&p);
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* One of everything, by a loop that ends its steps where it likes. */
static void drive_about(play *p, double from, double to) {
    for (double t = from; t < to - 1e-9; t += 0.01) {
        spate_pose at = ball_at(0.5 + 0.2 * sin(3 * t), 0.25, 0.6 * cos(3 * t), 1 + t);
        at.rotation[2] = sin(t), at.rotation[3] = cos(t);
        expect(p->ctx, spate_simulation_set_pose(p->sim, "ball", &at));
        spate_force mouse = spate_default_force();
        mouse.kind = SPATE_MOUSE, mouse.radius = 0.2;
        mouse.center[0] = 0.3 + t, mouse.center[1] = 0.3, mouse.velocity[0] = 1;
        mouse.max[0] = 0.8;
        expect(p->ctx, spate_simulation_set_force(p->sim, "hand", &mouse));
        if (t > 0.045 && t < 0.055) expect(p->ctx, spate_simulation_remove(p->sim, "hand"));
        if (t < 0.015 && !p->sim->scene->solver->on_grid) {
            const uint64_t ids[3] = {3, 5, 11};
            const double v[9] = {0.1, 0.7, 0, 1.0 / 3, 0, 0, 0, -0.2, 0};
            spate_writing w = spate_default_writing();
            w.ids = ids, w.particles = 3, w.values = v;
            expect(p->ctx, spate_simulation_write(p->sim, &w));
            w.target = SPATE_FORCE;
            expect(p->ctx, spate_simulation_write(p->sim, &w));
            w.target = SPATE_POSITION;
            const double places[9] = {0.1, 0.7, 0, 1.0 / 3, 0.8, 0, 0.9, 0.6, 0};
            w.values = places;
            expect(p->ctx, spate_simulation_write(p->sim, &w));
        }
        while (p->sim->time < t + 0.01 - 1e-12)
            expect(p->ctx, spate_simulation_step(p->sim, t + 0.01));
    }
}

/* Played again from its events, by frames alone, with other threads, and from a checkpoint
 * halfway. */
static void test_recording(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play live = open_tank(s, 1);
        expect(live.ctx, spate_simulation_record(live.sim));
        drive_about(&live, 0, 0.1);
        check_recording(&live, 0.05, 2);
        play other = open_tank(s, 1); /* nobody drives it */
        play_until(&other, 0.1);
        assert_true(spate_simulation_hash(other.sim) != spate_simulation_hash(live.sim));
        play_close(&other), play_close(&live);
    }
}

/* A checkpoint in the midst of being driven, forces that wait for a step included. */
static void test_checkpoint(void **state) {
    (void)state;
    for (int s = 0; s < SOLVERS; s++) {
        play p = open_tank(s, 2);
        drive_about(&p, 0, 0.03);
        const uint64_t id = 7;
        const double force[3] = {3, 4, 0};
        spate_writing w = spate_default_writing();
        w.target = SPATE_FORCE, w.ids = &id, w.particles = 1, w.values = force;
        if (s < SMOKE) expect(p.ctx, spate_simulation_write(p.sim, &w));
        char path[] = "/tmp/spate_drive_XXXXXX";
        close(mkstemp(path));
        expect(p.ctx, spate_simulation_save(p.sim, path));
        play q = {.ctx = p.ctx, .scene = p.scene};
        expect(p.ctx, spate_simulation_restore(p.scene, path, &q.sim));
        unlink(path);
        assert_true(spate_simulation_hash(q.sim) == spate_simulation_hash(p.sim));
        drive_about(&p, 0.03, 0.06), drive_about(&q, 0.03, 0.06);
        assert_true(spate_simulation_hash(q.sim) == spate_simulation_hash(p.sim));
        spate_simulation_free(q.sim);
        play_close(&p);
    }
}

/* ---- Nothing in a steady step ---------------------------------------------------------------- */

static long blocks_taken;

static void *count_block(size_t bytes, void *user) {
    (void)user;
    blocks_taken++;
    return calloc(1, bytes);
}

static void release_block(void *block, void *user) {
    (void)user;
    free(block);
}

/* A step with a pose, a mouse and forces on particles, and all that is read after it. */
static void drive_step(play *p, const double *forces, float *read, size_t capacity) {
    const double t = p->sim->time;
    const spate_pose at = ball_at(0.5 + 0.02 * sin(9 * t), 0.25, 0.18 * cos(9 * t), 1);
    expect(p->ctx, spate_simulation_set_pose(p->sim, "ball", &at));
    spate_force mouse = spate_default_force();
    mouse.kind = SPATE_MOUSE, mouse.radius = 0.2, mouse.center[0] = mouse.center[1] = 0.3;
    expect(p->ctx, spate_simulation_set_force(p->sim, "hand", &mouse));
    const uint64_t ids[3] = {1, 2, 7};
    spate_writing w = spate_default_writing();
    w.target = SPATE_FORCE, w.ids = ids, w.particles = 3, w.values = forces;
    const bool on_grid = p->sim->scene->solver->on_grid;
    if (!on_grid) expect(p->ctx, spate_simulation_write(p->sim, &w));
    expect(p->ctx, spate_simulation_step(p->sim, 10));
    double f[3], torque[3];
    expect(p->ctx, spate_simulation_force(p->sim, "ball", f, torque));
    spate_view view;
    spate_reading r = spate_default_reading();
    r.values = read, r.capacity = capacity;
    expect(p->ctx, spate_simulation_read(p->sim, &r));
    if (on_grid)
        expect(p->ctx, spate_simulation_grid(p->sim, "velocity", read, capacity));
    else
        expect(p->ctx, spate_simulation_view(p->sim, "velocity", &view));
}

static void test_steady_step(void **state) {
    (void)state;
    const double forces[9] = {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0};
    static float read[65536];
    for (int s = 0; s < SOLVERS; s++) {
        play p = open_tank(s, 1), counted = {0};
        char *words = strdup(p.scene->canonical);
        play_close(&p);
        spate_config config = spate_default_config();
        config.threads = 1, config.allocate = count_block, config.release = release_block;
        assert_int_equal(spate_open(&config, &counted.ctx), SPATE_OK);
        expect(counted.ctx, spate_scene_parse(counted.ctx, words, strlen(words), "tank", ".", NULL,
                                              0, &counted.scene));
        expect(counted.ctx, spate_simulation_create(counted.scene, &counted.sim));
        for (int k = 0; k < 60; k++) drive_step(&counted, forces, read, COUNT_OF(read));
        const long before = blocks_taken;
        for (int k = 0; k < 10; k++) drive_step(&counted, forces, read, COUNT_OF(read));
        if (blocks_taken != before)
            print_error("%s takes %ld blocks in ten driven steps\n", solver_names[s],
                        blocks_taken - before);
        assert_int_equal(blocks_taken, before);
        play_close(&counted);
        free(words);
    }
}

/* ---- Refusals -------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    play p = open_tank(0, 1);
    const uint64_t hash = spate_simulation_hash(p.sim);
    spate_pose at = {.rotation = {0, 0, 0, 1}};
    expect_refused(&p, spate_simulation_set_pose(p.sim, "ball", &at), "spate_default_pose()");
    at = ball_at(0.5, NAN, 0, 0);
    expect_refused(&p, spate_simulation_set_pose(p.sim, "ball", &at), "pose.position");
    at = ball_at(0.5, 0.5, 0, 0);
    expect_refused(&p, spate_simulation_set_pose(p.sim, "bal", &at), "did you mean 'ball'");
    at.rotation[3] = 2;
    expect_refused(&p, spate_simulation_set_pose(p.sim, "ball", &at), "unit quaternion");
    at = ball_at(0.5, 0.5, 0, 0);
    at.spin[0] = 1;
    expect_refused(&p, spate_simulation_set_pose(p.sim, "ball", &at), "2D");
    uint64_t ids[2] = {5, 3};
    double v[6] = {0};
    spate_writing w = spate_default_writing();
    w.ids = ids, w.particles = 2, w.values = v;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "ascending");
    ids[0] = 3, ids[1] = 1000000;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "1 of 2 ids");
    ids[1] = 4, v[4] = INFINITY;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "not finite");
    v[4] = 0, v[0] = -0.1, w.target = SPATE_POSITION;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "outside the domain");
    w.ids = NULL;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "particles, not 2");
    w.cookie = 0;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "spate_default_writing()");
    w = spate_default_writing();
    expect_refused(&p, spate_simulation_write(p.sim, &w), "give a value for each");
    w.particles = 2;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "without values");
    w.values = v, w.target = (spate_target)9;
    expect_refused(&p, spate_simulation_write(p.sim, &w), "target 9");
    double f[3], torque[3];
    expect_refused(&p, spate_simulation_force(p.sim, "bal", f, torque), "did you mean 'ball'");
    expect_refused(&p, spate_simulation_pose(p.sim, NULL, &at), "no collider");
    spate_force force = {.kind = SPATE_WIND};
    expect_refused(&p, spate_simulation_set_force(p.sim, "m", &force), "spate_default_force()");
    force = spate_default_force();
    expect_refused(&p, spate_simulation_set_force(p.sim, "", &force), "needs a name");
    force.acceleration[1] = NAN;
    expect_refused(&p, spate_simulation_set_force(p.sim, "m", &force), "force.acceleration");
    force = spate_default_force();
    force.kind = SPATE_MOUSE;
    expect_refused(&p, spate_simulation_set_force(p.sim, "m", &force), "force.radius");
    force.radius = 1, force.rate = NAN;
    expect_refused(&p, spate_simulation_set_force(p.sim, "m", &force), "force.rate");
    force.kind = (spate_force_kind)77;
    expect_refused(&p, spate_simulation_set_force(p.sim, "m", &force), "kind 77");
    expect_refused(&p, spate_simulation_remove(p.sim, "m"), "'m'");
    expect_refused(&p, spate_simulation_recorded(p.sim, collect, NULL), "nothing was recorded");
    assert_true(spate_simulation_hash(p.sim) == hash);
    play_steps(&p, 1);
    expect_refused(&p, spate_simulation_record(p.sim), "before the first step");
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_driven_as_keys),
        cmocka_unit_test(test_torque),
        cmocka_unit_test(test_pose),
        cmocka_unit_test(test_force_of_step),
        cmocka_unit_test(test_particle_forces),
        cmocka_unit_test(test_velocities_and_positions),
        cmocka_unit_test(test_wind_is_gravity),
        cmocka_unit_test(test_drag),
        cmocka_unit_test(test_attractor),
        cmocka_unit_test(test_kinds_on_particles),
        cmocka_unit_test(test_kinds_on_gas),
        cmocka_unit_test(test_region_and_times),
        cmocka_unit_test(test_turbulence),
        cmocka_unit_test(test_gas),
        cmocka_unit_test(test_recording),
        cmocka_unit_test(test_checkpoint),
        cmocka_unit_test(test_steady_step),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
