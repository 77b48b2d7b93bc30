/*
 * Forces and torques of smoke on colliders that are known otherwise (cases 36 and 38).
 *   - Couette: the torque between two cylinders is 4 pi mu W R1^2 R2^2 / (R2^2 - R1^2), between two balls
 *     8 pi mu W R1^3 R2^3 / (R2^3 - R1^3)
 *   - gas that turns with a drum around it goes on doing so
 *   - a lattice of cylinders, a tenth of the area: drag over mu U is 24.83 (Sangani and Acrivos 1982),
 *     whatever the step
 *   - a cylinder in a channel at Re 20: drag 5.5795, lift 0.0106 (Schaefer and Turek 1996, case 2D-1)
 */
#include "gas.h"

/* ---- Couette --------------------------------------------------------------------------------- */

/* The inner one turns with 1 rad/s within the outer one, which rests. */
static play turning_balls(int dim, double dx, double r1, double r2) {
    const char *size = dim == 2 ? "[1, 1]" : "[1, 1, 1]";
    const char *low = dim == 2 ? "[-0.5, -0.5]" : "[-0.5, -0.5, -0.5]";
    const char *high = dim == 2 ? "[0.5, 0.5]" : "[0.5, 0.5, 0.5]";
    const char *center = dim == 2 ? "[0, 0]" : "[0, 0, 0]";
    const double degrees = 180 / M_PI;
    char still[64], turned[64];
    snprintf(still, sizeof still, dim == 2 ? "0" : "[2, 3, 6, 0]");
    snprintf(turned, sizeof turned, dim == 2 ? "%.15g" : "[2, 3, 6, %.15g]", degrees);
    return play_open(
        2,
        "spate: 1\ndimension: %d\nduration: 100\nfps: 50\n"
        "domain: {origin: %s, size: %s, dx: %g}\nsolver: {type: smoke, dt: 0.005}\n"
        "materials: {m: {model: gas, density: 1, viscosity: 1}}\n"
        "bodies: [{material: m, shape: {box: {min: %s, max: %s}}}]\n"
        "colliders:\n"
        " - {contact: sticky, shape: {sphere: {center: %s, radius: %g}}, motion: {keys: [{t: 0, "
        "rotate: %s}, {t: 1, rotate: %s}]}}\n"
        " - {contact: sticky, shape: {difference: [{box: {min: %s, max: %s}}, {sphere: {center: "
        "%s, radius: %g}}]}}\n",
        dim, low, size, dx, low, high, center, r1, still, turned, low, high, center, r2);
}

static void torque_of_couette_flow(void **state) {
    (void)state;
    const double r1 = 0.2, r2 = 0.44, middle = 0.3;
    const double exact = 4 * M_PI * r1 * r1 * r2 * r2 / (r2 * r2 - r1 * r1);
    const double speed = r1 * r1 / (r2 * r2 - r1 * r1) * (r2 * r2 / middle - middle);
    play p = turning_balls(2, 0.0125, r1, r2);
    double inner, outer, v[3];
    play_until(&p, 0.1);
    force_of(&p, 0, &inner);
    force_of(&p, 1, &outer);
    p.sim->type->velocity(p.sim, (double[3]){middle, 0, 0}, v);
    print_message("Couette: torques %.4f and %.4f of the exact one, velocity %.4f\n",
                  -inner / exact, outer / exact, v[1] / speed);
    CHECK_BELOW(fabs(-inner / exact - 1), 0.006);
    CHECK_BELOW(fabs(outer / exact - 1), 0.006);
    CHECK_BELOW(fabs(v[1] / speed - 1), 0.006);
    play_close(&p);
}

static void torque_between_balls(void **state) {
    (void)state;
    const double r1 = 0.2, r2 = 0.44, axis[3] = {2.0 / 7, 3.0 / 7, 6.0 / 7};
    const double cube1 = pow(r1, 3), cube2 = pow(r2, 3);
    const double exact = 8 * M_PI * cube1 * cube2 / (cube2 - cube1);
    play p = turning_balls(3, 1.0 / 24, r1, r2);
    double force[3], torque[3];
    play_until(&p, 0.06);
    for (int c = 0; c < 2; c++) {
        const double sign = c ? 1 : -1;
        p.sim->type->force(p.sim, c, force, torque);
        print_message("%s ball: torque %.4f %.4f %.4f of the exact one\n", c ? "outer" : "inner",
                      sign * torque[0] / (exact * axis[0]), sign * torque[1] / (exact * axis[1]),
                      sign * torque[2] / (exact * axis[2]));
        for (int a = 0; a < 3; a++) CHECK_BELOW(fabs(sign * torque[a] / exact - axis[a]), 0.03);
    }
    play_close(&p);
}

/* ---- A drum ---------------------------------------------------------------------------------- */

/* Gas that turns with the drum around it goes on as a rigid body: the farthest off, over the rim's
 * speed. */
static void gas_turns_with_a_drum(void **state) {
    (void)state;
    const double radius = 0.44;
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 50\n"
        "domain: {origin: [-0.5, -0.5], size: [1, 1], dx: 0.05}\nsolver: {type: smoke, dt: 0.01}\n"
        "materials: {m: {model: gas, density: 1, viscosity: 10}}\n"
        "bodies: [{material: m, spin: 1, shape: {box: {min: [-0.5, -0.5], max: [0.5, 0.5]}}}]\n"
        "colliders: [{contact: sticky, shape: {difference: [{box: {min: [-1, -1], max: [1, 1]}}, "
        "{sphere: {center: [0, 0], radius: %g}}]}, motion: {keys: [{t: 0, rotate: 0}, {t: 1, "
        "rotate: %.15g}]}}]\n",
        radius, 180 / M_PI);
    const smoke *s = p.sim->solver;
    double most = 0;
    play_until(&p, 0.1);
    for (int i = 0; i < 20; i++)
        for (int j = 0; j < 20; j++) {
            const double x = -0.5 + 0.05 * i, y = -0.5 + 0.05 * (j + 0.5);
            if (hypot(x, y) > radius) continue;
            most = fmax(most, fabs(value(s->velocity[0], s, i, j) + y) / radius);
            most = fmax(most, fabs(value(s->velocity[1], s, j, i) - y) / radius);
        }
    print_message("gas in a drum: %.5f of its speed off\n", most);
    CHECK_BELOW(most, 0.001);
    play_close(&p);
}

/* ---- A lattice of cylinders ------------------------------------------------------------------ */

/* Gravity over the mean velocity, and what the cylinder feels of the weight of the gas. */
static double lattice_drag(const char *solver, double until, double *felt) {
    play p =
        play_open(2,
                  "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [1, 0]\n"
                  "domain: {size: [1, 1], dx: 0.03125, walls: periodic}\n"
                  "solver: {type: smoke%s}\n"
                  "materials: {m: {model: gas, density: 1, viscosity: 1, weight: 1}}\n"
                  "bodies: [{material: m, velocity: [0.04, 0], shape: {box: {min: [0, 0], max: "
                  "[1, 1]}}}]\n"
                  "colliders: [{contact: sticky, shape: {sphere: {center: [0.5, 0.5], radius: "
                  "0.178412}}}]\n",
                  solver);
    const smoke *s = p.sim->solver;
    double flow = 0;
    play_until(&p, until);
    for (int j = 0; j < 32; j++) flow += value(s->velocity[0], s, 0, j) / 32;
    *felt = force_of(&p, 0, NULL).x / 0.9;
    play_close(&p);
    return 1 / flow;
}

static void drag_of_a_lattice(void **state) {
    (void)state;
    static const char *const schemes[] = {"", ", advection: maccormack"};
    for (int n = 0; n < 2 - WATCHED; n++) {
        char solver[64];
        double felt, unused;
        snprintf(solver, sizeof solver, "%s, dt: 0.0003", schemes[n]);
        const double until = 0.3, drag = lattice_drag(schemes[n], until, &felt);
        const double slow = WATCHED ? drag : lattice_drag(solver, until, &unused);
        print_message(
            "lattice%s: drag %.3f, with a fifth of the step %.3f, theory 24.83; the cylinder "
            "feels %.4f of the weight\n",
            schemes[n], drag, slow, felt);
        CHECK_BELOW(fabs(drag / slow - 1), 0.005);
        CHECK_BELOW(fabs(drag / 24.83 - 1), 0.05);
        CHECK_BELOW(fabs(felt - 1), 0.01);
    }
}

/* ---- A cylinder in a channel ----------------------------------------------------------------- */

enum { ACROSS = 10, ROWS = 41 }; /* cells across the cylinder and the channel */

/* What flows by unit of time below height y of a channel 4.1 high, with mean velocity 1. */
static double poiseuille(double y) { return 6 / (4.1 * 4.1) * y * y * (4.1 / 2 - y / 3); }

/* The inflow: a source for each row of cells. */
static void write_inflow(char *text, size_t room) {
    const double dx = 1.0 / ACROSS, gap = 1e-6;
    size_t used = 0;
    for (int r = 0; r < ROWS && used < room; r++) {
        const double low = r * dx, high = low + dx;
        used += (size_t)snprintf(
            text + used, room - used,
            " - {material: m, velocity: [%.7g, 0], shape: {box: {min: [-9, %.7g], max: [%.7g, "
            "%.7g]}}}\n",
            (poiseuille(high) - poiseuille(low)) / dx, low - 2 + gap, gap - 2, high - 2 - gap);
    }
    assert_true(used < room);
}

/* Drag and lift coefficients; the cylinder's diameter, the density and the mean velocity are 1. */
static vec2 channel_coefficients(const char *advection) {
    char inflow[6000];
    write_inflow(inflow, sizeof inflow);
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 4\n"
        "domain: {origin: [-2.2, -2], size: [8.2, 4.1], dx: 0.1, walls: {x_max: open, y_min: "
        "sticky, y_max: sticky}}\nsolver: {type: smoke, advection: %s}\n"
        "materials: {m: {model: gas, density: 1, viscosity: 0.05}}\n"
        "bodies: [{material: m, velocity: [1, 0], shape: {box: {min: [-3, -3], max: [9, 9]}}}]\n"
        "colliders: [{contact: sticky, shape: {sphere: {center: [0, 0], radius: 0.5}}}]\n"
        "sources:\n%s",
        advection, inflow);
    play_until(&p, WATCHED ? 4 : 8);
    const vec2 force = force_of(&p, 0, NULL);
    play_close(&p);
    return (vec2){2 * force.x, 2 * force.y};
}

static void drag_in_a_channel(void **state) {
    (void)state;
    const double exact = 5.5795, lift = 0.0106;
    const vec2 got = channel_coefficients("maccormack");
    print_message("cylinder in a channel, Re 20: drag %.4f, exact %.4f; lift %.4f, exact %.4f\n",
                  got.x, exact, got.y, lift);
    CHECK_BELOW(fabs(got.x / exact - 1), 0.025);
    CHECK_BELOW(fabs(got.y - lift), WATCHED ? 0.02 : 0.01);
    /* Negative control: advection that blurs acts as a viscosity of its own. */
    CHECK_ABOVE(channel_coefficients("linear").x / exact, 1.1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(torque_of_couette_flow), cmocka_unit_test(torque_between_balls),
        cmocka_unit_test(gas_turns_with_a_drum),  cmocka_unit_test(drag_of_a_lattice),
        cmocka_unit_test(drag_in_a_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
