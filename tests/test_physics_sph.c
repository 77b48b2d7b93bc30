/*
 * SPH against what is known of liquids.
 *   22  Poiseuille flow, L 1e-3 m, nu 1e-6, F 1e-4: Morris et al. 1997, to 2 %
 *   23  Couette flow, V 1.25e-5 m/s: the same paper, to 2 %
 *   20  Taylor-Green vortices, Re 100: the largest speed falls as exp(-8 pi^2 t / Re), to 3 %
 *   16  still water: p = rho g depth to 4.5 %, and it stays still
 *   17  sloshing (tanks.h): T = 1.1818 s to 2 %
 *   14  dam break, Martin and Moyce 1952 (tanks.h): 8 % after a start offset <= 0.3 T
 *   37  the height of its column at the wall: 8 %
 *       an elliptical drop (Monaghan 1994): its long half-axis to 3 %, its area to 1 % with shifting
 *       buoyancy: the force on a body under water is the weight of the water it displaces
 *       surface tension: a square drop becomes round, and its pressure is that of Laplace
 */
#include "physics.h"

#include "solver/sph/sph.h"
#include "tanks.h"

static const char accurate[] =
    "type: sph, kernel: wendland, viscosity: morris, support: 3, negative_pressure: true";

/* ---- Cases 22 and 23: flow between plates ---------------------------------------------------- */

/* The velocity in the middle between plates at some times, where a force drives the liquid or the
 * upper plate moves. */
static void channel(bool driven, const char *walls, double viscosity, int count,
                    const double times[], double speeds[]) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [%g, 0]\n"
        "domain: {size: [3.2e-4, 1.0e-3], dx: 4.0e-5, walls: [periodic, periodic, %s, %s]%s}\n"
        "solver: {%s}\n"
        "materials: {w: {model: liquid, density: 1000, bulk_modulus: 1.5625e-5, viscosity: %g}}\n"
        "bodies: [{material: w, shape: {box: {min: [0, 0], max: [3.2e-4, 1.0e-3]}}}]\n"
        "probes: [{name: middle, velocity: {at: [1.6e-4, 5.0e-4]}}]\n",
        driven ? 1e-4 : 0, walls, walls, driven ? "" : ", wall_velocity: {y_max: [1.25e-5, 0]}",
        accurate, viscosity);
    for (int n = 0; n < count; n++) {
        play_until(&p, times[n]);
        speeds[n] = play_quantity(&p, "middle_x");
    }
    play_close(&p);
}

static void poiseuille(void **state) {
    (void)state;
    static const double times[] = {0.0225, 0.045, 0.1125};
    static const double theory[] = {2.233e-6, 4.235e-6, 8.250e-6};
    const int count = WATCHED ? 1 : 3;
    double v[3];
    channel(true, "sticky", 1e-3, count, times, v);
    for (int n = 0; n < count; n++) {
        print_message("case 22: %.4g m/s at %g s, %.2g off\n", v[n], times[n],
                      v[n] / theory[n] - 1);
        CHECK_BELOW(fabs(v[n] / theory[n] - 1), 0.02);
    }
    if (WATCHED) return;
    channel(true, "slip", 1e-3, 2, times, v);
    print_message("case 22, slip walls: %.4g m/s\n", v[1]);
    CHECK_ABOVE(fabs(v[1] / theory[1] - 1), 0.02); /* negative control */
}

static void couette(void **state) {
    (void)state;
    static const double times[] = {0.045, 0.1125}, theory[] = {1.195e-6, 3.628e-6};
    const int count = WATCHED ? 1 : 2;
    double v[2];
    channel(false, "sticky", 1e-3, count, times, v);
    for (int n = 0; n < count; n++) {
        print_message("case 23: %.4g m/s at %g s, %.2g off\n", v[n], times[n],
                      v[n] / theory[n] - 1);
        CHECK_BELOW(fabs(v[n] / theory[n] - 1), 0.02);
    }
    if (WATCHED) return;
    channel(false, "sticky", 1.1e-3, 1, times, v);
    print_message("case 23, a tenth more viscous: %.4g m/s\n", v[0]);
    CHECK_ABOVE(fabs(v[0] / theory[0] - 1), 0.02); /* negative control */
}

/* ---- Case 20: Taylor-Green ------------------------------------------------------------------- */

typedef struct vortices {
    double speed; /* the largest, over theory */
    double share; /* of the exact field in the velocities, over theory */
} vortices;

static vortices vortices_left(int cells, double shifting, double t) {
    const double k = 2 * M_PI, theory = exp(-8 * M_PI * M_PI * t / 100);
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                       "domain: {size: [1, 1], dx: %.17g, walls: periodic}\n"
                       "solver: {%s, shifting: %g}\n"
                       "materials: {w: {model: liquid, density: 1, bulk_modulus: 50, viscosity: "
                       "0.01}}\n"
                       "bodies: [{material: w, vortices: [1, 1], shape: {box: {min: [0, 0], max: "
                       "[1, 1]}}}]\n",
                       1.0 / cells, accurate, shifting);
    play_until(&p, t);
    vortices left = {play_quantity(&p, "max_speed") / theory, 0};
    double squares = 0, product = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        const double u = sin(k * x[0]) * cos(k * x[1]), v = -cos(k * x[0]) * sin(k * x[1]);
        const real *velocity = p.sim->particles.velocity[i];
        squares += u * u + v * v;
        product += u * (double)velocity[0] + v * (double)velocity[1];
    }
    left.share = product / squares / theory;
    play_close(&p);
    return left;
}

static void taylor_green(void **state) {
    (void)state;
    const double t = WATCHED ? 0.05 : 0.5;
    vortices left = vortices_left(32, 2, t);
    print_message("case 20: at %g s the largest speed is %.3f, the field %.3f of theory\n", t,
                  left.speed, left.share);
    CHECK_BELOW(fabs(left.speed - 1), 0.03);
    /* the lattice it begins with breaks up in the first 0.25 s, which takes 2 to 3 % of the field;
     * from there on it falls as it should */
    CHECK_BELOW(fabs(left.share - 1), 0.04);
    if (WATCHED) return;
    left = vortices_left(24, 0, t);
    print_message("case 20, without shifting: %.3f, %.3f of theory\n", left.speed, left.share);
    CHECK_ABOVE(fabs(left.speed - 1), 0.03); /* negative control */
    CHECK_ABOVE(fabs(left.share - 1), 0.04);
}

/* ---- Case 16: still water -------------------------------------------------------------------- */

static const double rho = 1000, g = 9.81;
static const char stiff[] = ", bulk_modulus: 3.0e5";
static const char weakly[] = "kernel: wendland, artificial_viscosity: 0.3";
static const char incompressible[] = "pressure: dfsph", thick[] = ", viscosity: 2";
static const double beat = 0.1155; /* of sound in the stiff water of a tank, 4 H / c, s */

/* A tank of water, half a metre wide and deep; half of that in 3D. */
static play open_tank(int dim, double gravity, const char *solver, const char *water,
                      const char *colliders) {
    const bool flat = dim == 2;
    return play_open(2,
                     "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: [0, %g%s]\n"
                     "domain: {size: %s, dx: 0.03125}\nsolver: {type: sph, %s}\n"
                     "materials: {w: {model: liquid%s}}\n"
                     "bodies: [{material: w, shape: {box: {min: %s, max: %s}}}]\n"
                     "colliders: [%s]\n",
                     dim, -gravity, flat ? "" : ", 0", flat ? "[0.5, 0.75]" : "[0.25, 0.375, 0.25]",
                     solver, water, flat ? "[0, 0]" : "[0, 0, 0]",
                     flat ? "[0.5, 0.5]" : "[0.25, 0.25, 0.25]", colliders);
}

enum { LAYERS = 8 };

typedef struct stillness {
    double pressure; /* largest error of a layer's mean over rho g H */
    double kinetic;  /* largest energy over that of the tank's height, m g H / 2 */
} stillness;

/* The tank's collapse to rest takes a few beats of sound; after that, means over time of the
 * pressure in layers of the height H that the water had at first. */
static stillness rest(int dim, double gravity, const char *solver, const char *water) {
    const double H = dim == 2 ? 0.5 : 0.25, start = (WATCHED ? 1 : 3) * beat,
                 end = start + (WATCHED ? 1 : 2) * beat;
    double weights[LAYERS] = {0}, pressures[LAYERS] = {0}, expected[LAYERS] = {0};
    play p = open_tank(dim, gravity, solver, water, "");
    stillness s = {0};
    play_until(&p, start);
    while (p.sim->time < end) {
        play_steps(&p, 1);
        const double dt = p.sim->dt;
        s.kinetic = fmax(s.kinetic, play_quantity(&p, "kinetic_energy") /
                                        (0.5 * g * H * play_quantity(&p, "mass")));
        EACH_PARTICLE(p.sim, block, i) {
            double x[3], tau[6], J;
            simulation_position(p.sim, block, i, x);
            const int layer = (int)(x[1] / H * LAYERS);
            if (layer >= LAYERS) continue;
            p.sim->type->stress(p.sim, i, tau, NULL, &J);
            weights[layer] += dt;
            pressures[layer] -= dt * tau[0] / J;
            expected[layer] += dt * rho * g * (H - x[1]);
        }
    }
    for (int n = 0; n < LAYERS; n++)
        s.pressure =
            fmax(s.pressure, fabs(pressures[n] - expected[n]) / weights[n] / (rho * g * H));
    play_close(&p);
    return s;
}

static void still_water(void **state) {
    (void)state;
    static const struct {
        int dim;
        const char *solver, *water;
        double kinetic; /* gate */
    } tanks[] = {
        {2, weakly, stiff, 0.01},
        {2, incompressible, thick, 0.01},
        {3, "pressure: dfsph, support: 2.5", thick, 0.01},
    };
    for (int n = 0; n < (WATCHED ? 2 : COUNT_OF(tanks)); n++) {
        stillness s = rest(tanks[n].dim, g, tanks[n].solver, tanks[n].water);
        print_message("case 16, %dD, %s%s: pressure off by %.3f, kinetic energy %.2g\n",
                      tanks[n].dim, tanks[n].solver, tanks[n].water, s.pressure, s.kinetic);
        CHECK_BELOW(s.pressure, 0.045);
        CHECK_BELOW(s.kinetic, tanks[n].kinetic);
    }
    stillness light = rest(2, 0.9 * g, incompressible, thick);
    print_message("case 16, a tenth less gravity: pressure off by %.3f\n", light.pressure);
    CHECK_ABOVE(light.pressure, 0.045); /* negative control */
}

/* ---- Case 17: sloshing ----------------------------------------------------------------------- */

/* At its usual tolerance dfsph's particles tremble as much as the wave moves them: T scatters
 * between 0.4 and 2.3 % off for starts that hardly differ. With 2e-4 it is 0.2 to 0.7 %. */
static void sloshing(void **state) {
    (void)state;
    static const char *const solvers[][2] = {
        {"type: sph, kernel: wendland, artificial_viscosity: 0.2", ", bulk_modulus: 5.0e5"},
        {"type: sph, pressure: dfsph, tolerance: 2.0e-4", ""},
    };
    if (WATCHED) skip();
    for (int n = 0; n < COUNT_OF(solvers); n++) {
        double period = sloshing_period(n ? 1.0 / 32 : 1.0 / 24, solvers[n][0], solvers[n][1]);
        print_message("case 17, %s%s: T = %.4f s, %.2g off; deep water %.2g\n", solvers[n][0],
                      solvers[n][1], period, period / sloshing_theory() - 1,
                      period / sloshing_deep() - 1);
        CHECK_BELOW(fabs(period / sloshing_theory() - 1), 0.02);
        CHECK_ABOVE(fabs(period / sloshing_deep() - 1), 0.02); /* negative control */
    }
}

/* ---- Case 14: Martin and Moyce --------------------------------------------------------------- */

static void dam_break(void **state) {
    (void)state;
    if (WATCHED) skip();
    static const char *const solvers[][2] = {
        {"type: sph", ", bulk_modulus: 1.0e5"},
        {"type: sph, pressure: dfsph", ""},
    };
    double offset;
    for (int n = 0; n < COUNT_OF(solvers); n++) {
        double error = dam_error(9.81, 10, solvers[n][0], solvers[n][1], &offset);
        print_message("case 14, %s: front off by %.3f with a start offset of %.2f\n", solvers[n][0],
                      error, offset);
        CHECK_BELOW(error, 0.08);
    }
    double slow = dam_error(0.5 * 9.81, 10, solvers[1][0], solvers[1][1], &offset);
    print_message("case 14, half the gravity: front off by %.3f\n", slow);
    CHECK_ABOVE(slow, 0.08); /* negative control */
}

/* ---- Case 37: the column of the same dam ----------------------------------------------------- */

/* The largest relative error of the highest water within a fifth of the dam's width from the
 * wall. */
static double column_error(double gravity, const char *solver) {
    static const double measured[][2] = {
        {0.56, 0.94}, {1.08, 0.78}, {1.66, 0.61}, {2.21, 0.44}, {3.06, 0.28}};
    const double a = 0.05715, unit = sqrt(a / 9.81);
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, %g]\n"
                  "domain: {size: [%.17g, %.17g], dx: %.17g}\nsolver: {type: sph, %s}\n"
                  "materials: {w: {model: liquid}}\n"
                  "bodies: [{material: w, shape: {box: {min: [0, 0], max: [%.17g, %.17g]}}}]\n",
                  -gravity, 6 * a, 2.5 * a, a / 10, solver, a, 2 * a);
    const sph *s = p.sim->solver;
    double worst = 0;
    for (int n = 0; n < COUNT_OF(measured); n++) {
        double top = 0;
        play_until(&p, measured[n][0] * unit);
        EACH_PARTICLE(p.sim, block, i) {
            double x[3];
            simulation_position(p.sim, block, i, x);
            if (x[0] < 0.2 * a && s->view.density[i] > (real)0.6) top = fmax(top, x[1]);
        }
        worst = fmax(worst, fabs((top + 0.5 * s->spacing) / (2 * a * measured[n][1]) - 1));
    }
    play_close(&p);
    return worst;
}

/* wcsph had been 24 to 29 % off: its artificial viscosity was friction along slip walls. */
static void columns_fall(void **state) {
    (void)state;
    static const char *const solvers[] = {"pressure: wcsph", "pressure: dfsph", "pressure: iisph"};
    if (WATCHED) skip();
    for (int n = 0; n < COUNT_OF(solvers); n++) {
        const double error = column_error(9.81, solvers[n]);
        print_message("case 37, %s: height off by %.3f\n", solvers[n], error);
        CHECK_BELOW(error, 0.08);
    }
    const double slow = column_error(0.8 * 9.81, solvers[1]);
    print_message("case 37, a fifth less gravity: height off by %.3f\n", slow);
    CHECK_ABOVE(slow, 0.08); /* negative control */
}

/* ---- An elliptical drop ---------------------------------------------------------------------- */

typedef struct ellipse {
    double area; /* over what it was */
    double axis; /* the long one, over theory */
} ellipse;

/* A disc of radius 1 m whose velocity is (-x, y), t seconds on. With half-axes 1 / b and b, and the
 * strain rate A: b' = A b, A' = A^2 (1 - b^4) / (1 + b^4). Those of the particles are from their
 * second moments. */
static ellipse stretch(const char *solver, double end) {
    const double R = 1, dx = 0.1, middle[2] = {1.5, 3.5};
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                       "domain: {size: [3, 7], dx: %g, walls: open}\nsolver: {type: sph, %s}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 2.25e5}}\n"
                       "bodies: [{material: w, shape: {sphere: {center: [%g, %g], radius: %g}}}]\n",
                       dx, solver, middle[0], middle[1], R);
    double A = 1, b = 1, dt = 1e-4, squares[2] = {0}, count = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        p.sim->particles.velocity[i][0] = (real)(middle[0] - x[0]);
        p.sim->particles.velocity[i][1] = (real)(x[1] - middle[1]);
    }
    p.sim->max_speed = R;
    play_until(&p, end);
    for (double t = 0; t < end; t += dt) {
        const double b4 = b * b * b * b;
        A += dt * A * A * (1 - b4) / (1 + b4), b += dt * A * b;
    }
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        for (int a = 0; a < 2; a++) squares[a] += (x[a] - middle[a]) * (x[a] - middle[a]);
        count++;
    }
    const sph *s = p.sim->solver;
    const double rest = count * s->volume / M_PI;
    const ellipse got = {4 * sqrt(squares[0] * squares[1]) / count / rest,
                         2 * sqrt(squares[1] / count / rest) / b};
    play_close(&p);
    return got;
}

static void ellipses_keep_their_area(void **state) {
    (void)state;
    static const char even[] = "kernel: wendland, artificial_viscosity: 0.02, shifting: 1";
    const ellipse got = stretch(even, WATCHED ? 0.2 : 1.5);
    print_message("ellipse, %s: area %.4f, axis %.4f of theory\n", even, got.area, got.axis);
    CHECK_BELOW(fabs(got.area - 1), 0.01);
    CHECK_BELOW(fabs(got.axis - 1), 0.03);
    if (WATCHED) return;
    /* the rows of the lattice, pressed together, buckle: what comes out is less dense */
    const ellipse lattice = stretch("kernel: wendland, artificial_viscosity: 0.02", 1.5);
    print_message("ellipse, without shifting: area %.4f\n", lattice.area);
    CHECK_ABOVE(fabs(lattice.area - 1), 0.01); /* negative control */
}

/* ---- Buoyancy -------------------------------------------------------------------------------- */

typedef struct lift {
    double up, aside, torque; /* means over time; the force over the displaced weight */
} lift;

static lift lift_of(int dim, double gravity, const char *solver, const char *water,
                    const char *form, double volume) {
    const double middle = dim == 2 ? 0.25 : 0.125;
    char colliders[256];
    snprintf(colliders, sizeof colliders, "{name: stone, shape: {%s}}", form);
    play p = open_tank(dim, gravity, solver, water, colliders);
    lift sum = {0};
    double time = 0;
    play_settle(&p, WATCHED ? 2 : 8);
    p.scene->fps = 1e9; /* each step is a frame of its own */
    const double end = p.sim->time + (WATCHED ? 0.3 : 2) * beat;
    while (p.sim->time < end) {
        play_steps(&p, 1);
        const double dt = p.sim->dt;
        double force[3], torque[3];
        p.sim->type->force(p.sim, 0, force, torque);
        sum.up += dt * force[1], sum.aside += dt * force[0];
        sum.torque +=
            dt * (torque[2] - middle * (force[1] - force[0])); /* it was about the origin */
        time += dt;
    }
    double column, force[3], torque[3];
    p.sim->type->force(p.sim, 0, force, torque);
    column = play_quantity(&p, "stone_force_y");
    assert_true(column == force[1]);
    const double weight = rho * g * volume * time;
    sum.up /= weight, sum.aside /= weight, sum.torque /= weight * pow(volume, 1.0 / dim);
    play_close(&p);
    return sum;
}

static void stones_are_lifted(void **state) {
    (void)state;
    static const char livelier[] = "kernel: wendland"; /* what damps at walls is not in the force */
    static const char box[] = "box: {min: [0.1875, 0.1875], max: [0.3125, 0.3125]}";
    static const char disc[] = "sphere: {center: [0.25, 0.25], radius: 0.08}";
    static const char ball[] = "sphere: {center: [0.125, 0.125, 0.125], radius: 0.06}";
    const struct {
        int dim;
        const char *solver, *water, *form;
        double volume;
    } tanks[] = {
        {2, livelier, stiff, box, 0.125 * 0.125},
        {2, incompressible, thick, box, 0.125 * 0.125},
        {2, incompressible, thick, disc, M_PI * 0.08 * 0.08},
        {3, "pressure: dfsph, support: 2.5", thick, ball, 4 * M_PI / 3 * 0.06 * 0.06 * 0.06},
    };
    for (int n = 0; n < (WATCHED || IN_DOUBLE ? 2 : COUNT_OF(tanks)); n++) {
        lift got = lift_of(tanks[n].dim, g, tanks[n].solver, tanks[n].water, tanks[n].form,
                           tanks[n].volume);
        print_message("buoyancy, %s, %s: %.3f of the displaced weight, aside %.3f, torque %.3f\n",
                      tanks[n].solver, tanks[n].form, got.up, got.aside, got.torque);
        CHECK_BELOW(fabs(got.up - 1), 0.1);
        CHECK_BELOW(fabs(got.aside), 0.1);
        CHECK_BELOW(fabs(got.torque), 0.1);
    }
    lift light = lift_of(2, 0.8 * g, livelier, stiff, box, 0.125 * 0.125);
    print_message("buoyancy, a fifth less gravity: %.3f of the displaced weight\n", light.up);
    CHECK_ABOVE(fabs(light.up - 1), 0.1); /* negative control */
}

/* ---- Surface tension ------------------------------------------------------------------------- */

typedef struct drop {
    double pressure; /* in the inner half, over Laplace's */
    double reach;    /* of the farthest particle over the mean reach of a ball */
} drop;

/* A square or cube of water without weight, 5 mm (2 mm) wide. */
static drop round_off(int dim, const char *solver, double tension, double end) {
    const bool flat = dim == 2;
    const double radius = flat ? 5e-3 / sqrt(M_PI) : 2e-3 * pow(0.75 / M_PI, 1.0 / 3);
    const double middle[3] = {4e-3, 4e-3, 4e-3};
    play p = play_open(2,
                       "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: %s\n"
                       "domain: {size: %s, dx: 5.0e-4, walls: open}\nsolver: {type: sph, %s}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 4000, viscosity: 0.1, "
                       "surface_tension: %g}}\n"
                       "bodies: [{material: w, shape: {box: {min: %s, max: %s}}}]\n",
                       dim, flat ? "[0, 0]" : "[0, 0, 0]",
                       flat ? "[8.0e-3, 8.0e-3]" : "[8.0e-3, 8.0e-3, 8.0e-3]", solver, tension,
                       flat ? "[1.5e-3, 1.5e-3]" : "[3.0e-3, 3.0e-3, 3.0e-3]",
                       flat ? "[6.5e-3, 6.5e-3]" : "[5.0e-3, 5.0e-3, 5.0e-3]");
    drop got = {0};
    double weight = 0;
    while (p.sim->time < end) {
        play_steps(&p, 1);
        if (p.sim->time < 0.7 * end) continue;
        EACH_PARTICLE(p.sim, block, i) {
            double x[3], tau[6], J, r2 = 0;
            simulation_position(p.sim, block, i, x);
            for (int a = 0; a < dim; a++) r2 += (x[a] - middle[a]) * (x[a] - middle[a]);
            if (r2 > radius * radius / 4) continue;
            p.sim->type->stress(p.sim, i, tau, NULL, &J);
            got.pressure -= p.sim->dt * tau[0] / J, weight += p.sim->dt;
        }
    }
    got.pressure /= weight * (dim - 1) * tension / radius;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], r2 = 0;
        simulation_position(p.sim, block, i, x);
        for (int a = 0; a < dim; a++) r2 += (x[a] - middle[a]) * (x[a] - middle[a]);
        got.reach = fmax(got.reach, sqrt(r2) / radius);
    }
    play_close(&p);
    return got;
}

/* The cube has a radius of five spacings only; more in test_sph_tension.c. */
static void drops_become_round(void **state) {
    (void)state;
    static const char *const solvers[] = {"kernel: wendland", "pressure: dfsph"};
    const double end = 0.05;
    for (int n = 0; n < 2; n++)
        for (int dim = 2; dim <= (WATCHED || IN_DOUBLE || n == 0 ? 2 : 3); dim++) {
            drop got = round_off(dim, solvers[n], 0.07, end);
            print_message("drop, %dD, %s: farthest at %.3f radii, pressure %.3f of Laplace's\n",
                          dim, solvers[n], got.reach, got.pressure);
            CHECK_BELOW(got.reach, 1.05);
        }
    drop slack = round_off(2, solvers[0], 1e-4, end);
    print_message("drop, hardly any tension: farthest at %.3f radii\n", slack.reach);
    CHECK_ABOVE(slack.reach, 1.1); /* negative control */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poiseuille),        cmocka_unit_test(couette),
        cmocka_unit_test(taylor_green),      cmocka_unit_test(still_water),
        cmocka_unit_test(sloshing),          cmocka_unit_test(dam_break),
        cmocka_unit_test(columns_fall),      cmocka_unit_test(ellipses_keep_their_area),
        cmocka_unit_test(stones_are_lifted), cmocka_unit_test(drops_become_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
