/*
 * Forces of smoke on colliders (cases 36 and 38).
 *   - all momentum that the gas loses is a collider's, to rounding: any scheme, contact, 2D and 3D,
 *     moving by keys, driven from outside, or not
 *   - force and torque are those of the balance of momentum of a box around the collider, seen from
 *     outside: flux, pressure, viscous stress and what is stored, to 3 %
 *   - a ball that is pushed has an added mass: that of the gas in its place (2D)
 *   - the mean over frames does not depend on their rate, and goes on from a checkpoint
 */
#include "gas.h"
#include <spate/drive.h>

/* ---- Nothing is lost ------------------------------------------------------------------------- */

/* The momentum of the gas along x by open shares, and its volume, in units of a cell's. */
static void momentum_of(const smoke *s, double *momentum, double *volume) {
    const layout *l = &s->layout;
    *momentum = *volume = 0;
    for (int64_t r = 0; r < layout_rows(l, 0); r++) {
        const layout_row row = layout_row_at(l, 0, r, l->dim);
        for (int64_t at = row.begin; at < row.begin + row.length; at++) {
            *momentum += (double)s->face_fraction[0][at] * (double)s->velocity[0][at];
            *volume += (double)s->face_fraction[0][at];
        }
    }
}

/* To and fro and round, from outside, without jumps: each pose is where the one before has led. */
static void drive_ball(play *p) {
    spate_pose at;
    assert_int_equal(spate_simulation_pose(p->sim, "ball", &at), SPATE_OK);
    at.velocity[0] = 0.1 * cos(5 * p->sim->time), at.spin[2] = 1;
    assert_int_equal(spate_simulation_set_pose(p->sim, "ball", &at), SPATE_OK);
}

/* A ball in a periodic box that gravity blows gas through: impulse on it over what is missing. */
static double share_accounted_for(int dim, const char *solver, const char *touch,
                                  const char *moves) {
    play p = play_open(
        2,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: %s\n"
        "domain: {size: %s, dx: 0.0625, walls: periodic}\n"
        "solver: {type: smoke, dt: 0.05, %s}\n"
        "materials: {m: {model: gas, density: 2, viscosity: 0.02, weight: 1}}\n"
        "bodies: [{material: m, velocity: %s, shape: {box: {min: %s, max: %s}}}]\n"
        "colliders: [{name: ball, contact: %s, shape: {sphere: {center: %s, radius: 0.33}}%s}]\n",
        dim, dim == 2 ? "[1, 0.2]" : "[1, 0.2, 0]", dim == 2 ? "[1, 1]" : "[1, 1, 1]", solver,
        dim == 2 ? "[0.5, 0.1]" : "[0.5, 0.1, 0.1]", dim == 2 ? "[0, 0]" : "[0, 0, 0]",
        dim == 2 ? "[1, 1]" : "[1, 1, 1]", touch, dim == 2 ? "[0.49, 0.52]" : "[0.49, 0.52, 0.51]",
        moves);
    const smoke *s = p.sim->solver;
    const double mass = 2 * pow(0.0625, dim), until = WATCHED ? 0.2 : 0.5;
    double before, after, volume, missing = 0;
    momentum_of(s, &before, &volume);
    double by_steps = 0; /* the same as a program that drives the ball reads it */
    const bool driven = p.scene->colliders[0].driven;
    while (p.sim->time < until) {
        if (driven) drive_ball(&p);
        play_until(&p, fmin(until, p.sim->time + 0.05));
        double force[3], torque[3];
        assert_int_equal(spate_simulation_force(p.sim, "ball", force, torque), SPATE_OK);
        by_steps += force[0] * p.sim->dt;
        momentum_of(s, &after, &volume);
        missing += mass * (volume * p.sim->dt - (after - before));
        before = after;
    }
    const double share = force_of(&p, 0, NULL).x * until / missing;
    assert_float_equal(by_steps / missing, share, 1e-9);
    play_close(&p);
    return share;
}

static void nothing_is_lost(void **state) {
    (void)state;
    static const char *const cases[][3] = {
        {"advection: linear", "sticky", ""},
        {"advection: maccormack", "sticky", ""},
        {"advection: linear", "slip", ""},
        {"advection: maccormack", "slip", ""},
        {"advection: linear, pressure: gauss_seidel, iterations: 60", "sticky", ""},
        {"advection: maccormack", "sticky",
         ", motion: {keys: [{t: 0, translate: [0, 0]}, {t: 1, translate: [0.1, 0.05]}]}"},
        {"advection: linear", "slip",
         ", motion: {keys: [{t: 0, translate: [0, 0]}, {t: 1, translate: [-0.1, 0.05]}]}"},
        {"advection: maccormack", "sticky", ", driven: true"},
        {"advection: linear", "slip", ", driven: true"},
    };
    for (int n = 0; n < COUNT_OF(cases); n++) {
        const double share = share_accounted_for(2, cases[n][0], cases[n][1], cases[n][2]);
        print_message("2D, %s, %s%s: %.6f of the momentum\n", cases[n][0], cases[n][1],
                      *cases[n][2] ? ", moving" : "", share);
        CHECK_BELOW(fabs(share - 1), 1e-3);
    }
    for (int n = 0; n < 2; n++) {
        const double share = share_accounted_for(3, cases[3 * n][0], cases[3 * n][1], "");
        print_message("3D, %s, %s: %.6f of the momentum\n", cases[3 * n][0], cases[3 * n][1],
                      share);
        CHECK_BELOW(fabs(share - 1), 1e-3);
    }
}

/* ---- A box around it ------------------------------------------------------------------------- */

typedef struct pull {
    double force[2], torque;
} pull;

static void add_pull(pull *to, double scale, const pull *from) {
    for (int a = 0; a < 2; a++) to->force[a] += scale * from->force[a];
    to->torque += scale * from->torque;
}
static void add_at(pull *to, double x, double y, const double f[2]) {
    add_pull(to, 1, &(pull){{f[0], f[1]}, x * f[1] - y * f[0]});
}

/* What flows into the box, the stress on its rim, and what is in it. */
typedef struct balance {
    pull inflow, stress, stored;
} balance;

/* What goes through face (i, j) across a of the box's rim, outwards along `way`. */
static void add_rim(const smoke *s, int a, int i, int j, double way, balance *sum) {
    const double dx = s->sim->scene->domain.dx, *origin = s->sim->scene->domain.origin;
    const int b = 1 - a, down[2] = {a == 0, a == 1}, up[2] = {b == 0, b == 1};
    const real *u = s->velocity[a], *v = s->velocity[b];
    const double normal = value(u, s, i, j);
    const double v_low = 0.5 * (value(v, s, i - down[0], j - down[1]) +
                                value(v, s, i - down[0] + up[0], j - down[1] + up[1]));
    const double v_high = 0.5 * (value(v, s, i, j) + value(v, s, i + up[0], j + up[1]));
    const double along = 0.5 * (v_low + v_high);
    const double p =
        0.5 * (value(s->pressure, s, i, j) + value(s->pressure, s, i - down[0], j - down[1]));
    const double stretch =
        (value(u, s, i + down[0], j + down[1]) - value(u, s, i - down[0], j - down[1])) / (2 * dx);
    const double shear =
        (value(u, s, i + up[0], j + up[1]) - value(u, s, i - up[0], j - up[1])) / (2 * dx) +
        (v_high - v_low) / dx;
    double flow[2], stress[2];
    flow[a] = -way * dx * s->density * normal * normal;
    flow[b] = -way * dx * s->density * normal * along;
    stress[a] = way * dx * (2 * s->viscosity * stretch - p);
    stress[b] = way * dx * s->viscosity * shear;
    const double x = origin[0] + (i + (a == 0 ? 0 : 0.5)) * dx;
    const double y = origin[1] + (j + (a == 1 ? 0 : 0.5)) * dx;
    add_at(&sum->inflow, x, y, flow);
    add_at(&sum->stress, x, y, stress);
}

static balance balance_of(const smoke *s, const int low[2], const int high[2]) {
    const double dx = s->sim->scene->domain.dx, *origin = s->sim->scene->domain.origin;
    balance sum = {0};
    for (int end = 0; end < 2; end++) {
        const double way = end ? 1 : -1;
        for (int j = low[1]; j < high[1]; j++) add_rim(s, 0, end ? high[0] : low[0], j, way, &sum);
        for (int i = low[0]; i < high[0]; i++) add_rim(s, 1, i, end ? high[1] : low[1], way, &sum);
    }
    for (int a = 0; a < 2; a++)
        for (int i = low[0]; i < high[0]; i++)
            for (int j = low[1]; j < high[1]; j++) {
                const double m = s->density * dx * dx * value(s->face_fraction[a], s, i, j);
                double f[2] = {0};
                f[a] = m * value(s->velocity[a], s, i, j);
                add_at(&sum.stored, origin[0] + (i + (a ? 0.5 : 0)) * dx,
                       origin[1] + (j + (a ? 0 : 0.5)) * dx, f);
            }
    return sum;
}

/* The mean over a time as the frames tell it, and by the box. */
static void blow_at(const char *solver, const char *solid, double fps, pull *told, pull *seen) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: %g\ngravity: [0, 0]\n"
        "domain: {origin: [-3, -3], size: [7, 6], dx: 0.125, walls: {x_max: open}}\n"
        "solver: {type: smoke, %s}\nmaterials: {m: {model: gas, density: 1, viscosity: 0.02}}\n"
        "bodies: [{material: m, velocity: [1, 0], shape: {box: {min: [-3, -3], max: [4, 3]}}}]\n"
        "sources: [{material: m, velocity: [1, 0], shape: {box: {min: [-4, -4], max: [-2.5, "
        "4]}}}]\n"
        "colliders: [{%s}]\n",
        fps, solver, solid);
    const smoke *s = p.sim->solver;
    const int low[2] = {13, 12}, high[2] = {35, 36};
    const double from = 2, until = from + (WATCHED ? 1 : 2);
    *told = *seen = (pull){0};
    play_until(&p, from);
    balance before = balance_of(s, low, high);
    add_pull(seen, 1, &before.stored);
    while (p.sim->time < until) {
        const double frame = round(p.sim->time * fps + 1) / fps;
        while (p.sim->time < frame) {
            assert_int_equal(spate_simulation_step(p.sim, frame), SPATE_OK);
            const balance after = balance_of(s, low, high);
            add_pull(seen, p.sim->dt, &after.stress);
            add_pull(seen, 0.5 * p.sim->dt, &before.inflow);
            add_pull(seen, 0.5 * p.sim->dt, &after.inflow);
            before = after;
        }
        double torque;
        const vec2 force = force_of(&p, 0, &torque);
        add_pull(told, 1 / fps, &(pull){{force.x, force.y}, torque});
    }
    add_pull(seen, -1, &before.stored);
    play_close(&p);
}

static void balance_of_a_box(void **state) {
    (void)state;
    static const char *const ball = "contact: %s, shape: {sphere: {center: [0.03, 0.02], radius: "
                                    "0.5}}";
    static const char *const plate = "contact: %s, shape: {box: {min: [-0.7, -0.2], max: [0.7, "
                                     "0.2]}, rotate: -25, translate: [0.02, 0.03]}";
    static const struct {
        const char *solver, *contact, *shape;
        double fps;
    } cases[] = {
        {"advection: maccormack", "sticky", ball, 2},
        {"advection: maccormack", "sticky", ball, 50},
        {"advection: linear", "sticky", ball, 5},
        {"advection: maccormack", "slip", ball, 10},
        {"advection: linear", "slip", plate, 10},
        {"advection: maccormack", "sticky", plate, 5},
        {"advection: maccormack, dt: 0.25", "sticky", plate, 4},
    };
    for (int n = 0; n < COUNT_OF(cases); n += 1 + 2 * WATCHED) {
        char solid[256];
        pull told, seen;
        snprintf(solid, sizeof solid, cases[n].shape, cases[n].contact);
        blow_at(cases[n].solver, solid, cases[n].fps, &told, &seen);
        const double size = hypot(seen.force[0], seen.force[1]);
        print_message("%s, %s, %g fps: force %.4f %.4f, box %.4f %.4f; torque %.4f, box %.4f\n",
                      cases[n].solver, cases[n].contact, cases[n].fps, told.force[0], told.force[1],
                      seen.force[0], seen.force[1], told.torque, seen.torque);
        for (int a = 0; a < 2; a++) CHECK_BELOW(fabs(told.force[a] - seen.force[a]) / size, 0.03);
        CHECK_BELOW(fabs(told.torque - seen.torque) / size, 0.03);
    }
}

/* ---- Added mass ------------------------------------------------------------------------------ */

static void added_mass(void **state) {
    (void)state;
    const double r = 0.12;
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 100\nfps: 10\ngravity: [0, 0]\n"
        "domain: {origin: [-1, -1], size: [2, 2], dx: 0.025}\nsolver: {type: smoke, dt: 0.01}\n"
        "materials: {m: {model: gas, density: 3}}\n"
        "bodies: [{material: m, shape: {box: {min: [-1, -1], max: [1, 1]}}}]\n"
        "colliders: [{contact: slip, shape: {sphere: {center: [0, 0], radius: %g}}, motion: "
        "{interpolate: smooth, keys: [{t: 0, translate: [0, 0]}, {t: 0.1, translate: [0.0005, 0]}, "
        "{t: 0.2, translate: [0.002, 0]}, {t: 0.3, translate: [0.0045, 0]}, {t: 0.4, translate: "
        "[0.008, 0]}, {t: 0.5, translate: [0.0125, 0]}]}}]\n",
        r);
    play_until(&p, 0.3);
    /* x = t^2 / 20, so the acceleration is 0.1 */
    const double exact = -3 * M_PI * r * r * 0.1, force = force_of(&p, 0, NULL).x;
    print_message("added mass: %.4f of the gas's in the place of the ball\n", force / exact);
    CHECK_BELOW(fabs(force / exact - 1), 0.06);
    play_close(&p);
}

/* ---- Frames ---------------------------------------------------------------------------------- */

static play paddle(double fps, bool turns) {
    return play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 10\nfps: %g\ngravity: [0, 0]\n"
        "domain: {size: [1, 1], dx: 0.0625}\nsolver: {type: smoke, dt: 0.0625}\n"
        "materials: {m: {model: gas, viscosity: 0.01}}\n"
        "bodies: [{material: m, spin: 2, shape: {box: {min: [0, 0], max: "
        "[1, 1]}}}]\n"
        "colliders:\n"
        " - {contact: sticky, shape: {box: {min: [0.3, 0.3], max: [0.4, 0.7]}}%s}\n"
        " - {contact: slip, shape: {sphere: {center: [0.7, 0.4], radius: 0.1}}}\n",
        fps,
        turns ? ", motion: {pivot: [0.35, 0.5], keys: [{t: 0, rotate: 0}, {t: 1, rotate: 40}]}"
              : "");
}

static void frames_are_means(void **state) {
    (void)state;
    play whole = paddle(1, true), parts = paddle(4, true);
    double sum[2] = {0};
    for (int f = 0; f < 4; f++) {
        play_until(&parts, (f + 1) / 4.0);
        for (int c = 0; c < 2; c++) sum[c] += force_of(&parts, c, NULL).x / 4;
    }
    play_until(&whole, 1);
    for (int c = 0; c < 2; c++) {
        const double all = force_of(&whole, c, NULL).x;
        CHECK_ABOVE(fabs(all), 1e-5);
        CHECK_BELOW(fabs(sum[c] / all - 1), 1e-9);
    }
    play_close(&whole), play_close(&parts);
}

/* From a checkpoint amid a frame: bit by bit the same, whether faces change or not. */
static void frames_go_on(void **state) {
    (void)state;
    for (int turns = 0; turns < 2; turns++) {
        play through = paddle(1, turns), first = paddle(1, turns), second = paddle(1, turns);
        play_until(&through, 0.375);
        play_until(&first, 0.375);
        play_go_on(&first, &second);
        play_until(&through, 0.875);
        play_until(&second, 0.875);
        for (int c = 0; c < 2; c++) {
            double here, there;
            const vec2 one = force_of(&through, c, &here), two = force_of(&second, c, &there);
            assert_true(one.x == two.x && one.y == two.y && here == there);
            CHECK_ABOVE(fabs(one.x), 1e-6);
        }
        play_close(&through), play_close(&first), play_close(&second);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost), cmocka_unit_test(balance_of_a_box),
        cmocka_unit_test(added_mass),      cmocka_unit_test(frames_are_means),
        cmocka_unit_test(frames_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
