/*
 * Smoke beside what stands in its way: diffusion through colliders (none), viscosity against sticky
 * ones (the decay of flow between plates, exp(-nu pi^2 t / L^2)) with the friction on them, sources
 * and the amount they keep, steps that viscosity limits.
 */
#include "physics.h"

#include "solver/smoke/smoke.h"

/* ---- Diffusion ------------------------------------------------------------------------------- */

static double mass_left(const char *solver, const char *walls) {
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
                  "domain: {size: [1, 1], dx: 0.0625, walls: %s}\n"
                  "solver: {type: smoke, dt: 0.1, pressure: %s, iterations: 200}\n"
                  "materials: {m: {model: gas, diffusion: 0.5}}\n"
                  "bodies: [{material: m, shape: {sphere: {center: [0.3, 0.5], radius: 0.2}}}]\n"
                  "colliders: [{shape: {box: {min: [0.5, 0.25], max: [0.75, 0.75]}}}]\n",
                  walls, solver);
    const double before = play_quantity(&p, "mass");
    play_until(&p, 1);
    const double left = play_quantity(&p, "mass") / before;
    play_close(&p);
    return left;
}

static void nothing_diffuses_into_solids(void **state) {
    (void)state;
    static const char *const solvers[] = {"multigrid", "gauss_seidel"};
    for (int n = 0; n < 2; n++) {
        const double left = mass_left(solvers[n], "slip");
        print_message("%s: %.6f of the smoke is left beside a box\n", solvers[n], left);
        CHECK_BELOW(fabs(left - 1), n ? 1e-3 : 1e-4); /* sweeps are not to a tolerance */
    }
    CHECK_BELOW(mass_left(solvers[0], "open"), 0.5); /* negative control */
}

/* Solves that are cut off are told, and end the run. */
static void hopeless_diffusion_is_told(void **state) {
    (void)state;
    play p = play_open(1, "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
                          "domain: {size: [1, 1], dx: 0.03125}\n"
                          "solver: {type: smoke, dt: 0.1, max_iterations: 50}\n"
                          "materials: {m: {model: gas, diffusion: 1000}}\n"
                          "bodies: [{material: m, shape: {box: {min: [0, 0], max: [0.5, 1]}}}]\n");
    spate_status status = SPATE_OK;
    for (int i = 0; i < 20 && !status; i++) status = spate_simulation_step(p.sim, 1e9);
    assert_int_equal(status, SPATE_NOT_CONVERGED);
    assert_non_null(strstr(spate_message(p.ctx), "diffusion"));
    play_close(&p);
}

/* ---- Plates ---------------------------------------------------------------------------------- */

typedef struct channel {
    double rate;     /* at which the speed in the middle decays, 1/s */
    double friction; /* of both plates, over what the gas loses of its momentum */
} channel;

/* Between two colliders 0.5 m apart, `off` cells above faces. */
static channel flow_between(const char *touch, double off) {
    const double dx = 1.0 / 32, low = off * dx, t = 0.1;
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
                  "domain: {origin: [0, -0.25], size: [0.25, 1], dx: %g, walls: [periodic, "
                  "periodic, slip, slip]}\nsolver: {type: smoke, dt: 0.005}\n"
                  "materials: {m: {model: gas, density: 1, viscosity: 0.05}}\n"
                  "bodies: [{material: m, velocity: [1, 0], shape: {box: {min: [0, -0.25], max: "
                  "[0.25, 0.75]}}}]\n"
                  "colliders:\n"
                  " - {contact: %s, shape: {box: {min: [-1, -1], max: [2, %g]}}}\n"
                  " - {contact: %s, shape: {box: {min: [-1, %g], max: [2, 2]}}}\n",
                  dx, touch, low, touch, low + 0.5);
    const double middle[3] = {0.1, low + 0.25, 0};
    double before[3], after[3], sum = 0;
    play_until(&p, 0.5);
    p.sim->type->velocity(p.sim, middle, before);
    const double momentum = play_quantity(&p, "momentum_x");
    play_until(&p, 0.5 + t); /* a frame */
    for (int c = 0; c < 2; c++) {
        double force[3], torque[3];
        p.sim->type->force(p.sim, c, force, torque);
        sum += force[0] * t;
    }
    p.sim->type->velocity(p.sim, middle, after);
    const channel got = {log(before[0] / after[0]) / t,
                         sum / (momentum - play_quantity(&p, "momentum_x"))};
    play_close(&p);
    return got;
}

static void gas_sticks_to_plates(void **state) {
    (void)state;
    const double theory = 0.05 * M_PI * M_PI / 0.25;
    /* The plates half a cell farther away on both sides. */
    const double wrong = 0.05 * M_PI * M_PI / pow(0.5 + 1.0 / 32, 2);
    static const double offs[] = {0, 0.3, 0.6};
    for (int n = 0; n < COUNT_OF(offs); n++) {
        const channel got = flow_between("sticky", offs[n]);
        print_message("plates %.1f cells off: decay %.4f of theory, friction %.4f\n", offs[n],
                      got.rate / theory, got.friction);
        CHECK_BELOW(fabs(got.rate / theory - 1), 0.01);
        CHECK_ABOVE(fabs(got.rate / wrong - 1), 0.05);
        CHECK_BELOW(fabs(got.friction - 1), 0.002);
    }
    CHECK_BELOW(fabs(flow_between("slip", 0).rate), 1e-3); /* negative control */
}

/* ---- Sources --------------------------------------------------------------------------------- */

static void sources_keep_their_amount(void **state) {
    (void)state;
    double first = 0;
    for (int n = 0; n < 2; n++) {
        play p = play_open(1,
                           "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
                           "domain: {size: [1, 1], dx: 0.03125}\nsolver: {type: smoke, dt: %g}\n"
                           "materials: {m: {model: gas}}\nsources: [{material: m, shape: {sphere: "
                           "{center: [0.5, 0.5], radius: 0.1}}}]\n",
                           n ? 0.004 : 0.1);
        const double start = play_quantity(&p, "mass"), area = M_PI * 0.01;
        play_until(&p, 1);
        const double end = play_quantity(&p, "mass");
        play_close(&p);
        CHECK_BELOW(fabs(end / start - 1), 1e-5);
        if (n == 0) first = end;
        CHECK_BELOW(fabs(end / first - 1), 1e-5);
        CHECK_BELOW(fabs(end / (1.2 * area) - 1), 0.02); /* of the default density */
    }
}

/* Two jets into each other: where one blows there is nothing of the other. */
static void jets_are_of_one_dye(void **state) {
    (void)state;
    play p =
        play_open(2, "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
                     "domain: {size: [1, 1], dx: 0.03125, walls: open}\nsolver: {type: smoke}\n"
                     "materials: {a: {model: gas}, b: {model: gas}}\nsources:\n"
                     " - {material: a, velocity: [1, 0], shape: {box: {min: [0.1, 0.4], max: "
                     "[0.2, 0.6]}}}\n"
                     " - {material: b, velocity: [-1, 0], shape: {box: {min: [0.5, 0.4], max: "
                     "[0.6, 0.6]}}}\n");
    play_until(&p, 1);
    const smoke *s = p.sim->solver;
    const int64_t left = layout_at(&s->layout, 4, 16, 0), right = layout_at(&s->layout, 17, 16, 0);
    CHECK_BELOW(fabs((double)s->dyes[0][left] - 1), 1e-6);
    CHECK_BELOW(fabs((double)s->dyes[1][left]), 1e-6);
    CHECK_BELOW(fabs((double)s->dyes[1][right] - 1), 1e-6);
    CHECK_BELOW(fabs((double)s->dyes[0][right]), 1e-6);
    play_close(&p);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* A lid at Re = 1: the middle of the cavity, over that with short steps. */
static double lid(const char *options) {
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 10\n"
                  "domain: {size: [1, 1], dx: 0.0625, walls: sticky, wall_velocity: {y_max: [1, "
                  "0]}}\nsolver: {type: smoke%s}\n"
                  "materials: {m: {model: gas, density: 1, viscosity: 1}}\n"
                  "bodies: [{material: m, shape: {box: {min: [0, 0], max: [1, 1]}}}]\n",
                  options);
    double v[3];
    play_until(&p, 0.5);
    p.sim->type->velocity(p.sim, (double[3]){0.5, 0.5, 0}, v);
    play_close(&p);
    return v[0];
}

static void steps_are_short_enough_for_viscosity(void **state) {
    (void)state;
    const double exact = lid(", dt: 0.0002"), chosen = lid(""), far = lid(", dt: 0.05");
    print_message("lid at Re 1: %.4f, with the chosen steps %.4f, with long ones %.4f\n", exact,
                  chosen, far);
    CHECK_BELOW(fabs(chosen / exact - 1), 0.003);
    CHECK_BELOW(fabs(far / exact - 1), 0.03);
    /* Negative control: where viscosity does not know of the pressure. */
    const double course = lid(", grid: collocated, dt: 0.05");
    CHECK_ABOVE(fabs(course / exact - 1), 0.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_diffuses_into_solids),
        cmocka_unit_test(hopeless_diffusion_is_told),
        cmocka_unit_test(gas_sticks_to_plates),
        cmocka_unit_test(sources_keep_their_amount),
        cmocka_unit_test(jets_are_of_one_dye),
        cmocka_unit_test(steps_are_short_enough_for_viscosity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
