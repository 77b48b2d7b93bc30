/*
 * Contact of the material point method with sides of the domain and with colliders.
 *   34  a block on an incline: a = g (sin - mu cos), every contact mode with friction, a flat side
 *       under tilted gravity and a tilted collider; and it stays where mu > tan
 *   36  the force on a collider is the momentum that the material lost, at any frame rate
 *       plates one and two cells thick hold sand that is poured on them, wherever they are on the grid
 *
 * A block vibrates while it slides, so friction is measured by impulses: what the contact has taken
 * from the motion down the slope, over what it has given across it.
 */
#include "physics.h"

static const double gravity = 9.81, slope = 24 * M_PI / 180;

typedef struct incline {
    const char *contact, *integrator;
    bool tilted; /* a collider on the slope, or the floor of the domain under gravity at an angle */
    int dim;
    double friction, young_modulus, gap, dx;
} incline;

static play open_tilted(const incline *c) {
    const double s = sin(slope), k = cos(slope), half = 0.25;
    /* the block's middle, half a metre down the slope from (0, 1.4) */
    const double x = 0.5 * k + (half + c->gap) * s, y = 1.4 - 0.5 * s + (half + c->gap) * k;
    const char *z = c->dim == 3 ? ", 0.2" : "", *none = c->dim == 3 ? ", 0" : "";
    return play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: [0, %.17g%s]\n"
        "domain: {size: [2.4, 2.2%s], dx: %g, walls: {x_min: open, x_max: open, y_min: open, "
        "y_max: open%s}}\n"
        "solver: {type: mpm, integrator: %s}\n"
        "materials: {m: {model: neo_hookean, density: 1000, young_modulus: %g}}\n"
        "bodies: [{material: m, shape: {box: {min: [-0.25, -0.25%s], max: [0.25, 0.25%s]}, rotate: "
        "%s%.17g%s, translate: [%.17g, %.17g%s]}}]\n"
        "colliders: [{contact: %s, friction: %.17g, shape: {plane: {point: [0, 1.4%s], normal: "
        "[%.17g, %.17g%s]}}}]\n",
        c->dim, -gravity, none, z, c->dx, c->dim == 3 ? ", z_min: periodic, z_max: periodic" : "",
        c->integrator, c->young_modulus, none, z, c->dim == 3 ? "[0, 0, 1, " : "",
        -slope * 180 / M_PI, c->dim == 3 ? "]" : "", x, y, none, c->contact, c->friction, none, s,
        k, none);
}

static play open_flat(const incline *c) {
    const char *z = c->dim == 3 ? ", 0.2" : "", *none = c->dim == 3 ? ", 0" : "";
    return play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: [%.17g, %.17g%s]\n"
        "domain: {size: [3, 1%s], dx: %g, wall_friction: %.17g, walls: {x_min: open, x_max: open, "
        "y_min: %s, y_max: open%s}}\n"
        "solver: {type: mpm, integrator: %s}\n"
        "materials: {m: {model: neo_hookean, density: 1000, young_modulus: %g}}\n"
        "bodies: [{material: m, shape: {box: {min: [0.25, %.17g%s], max: [0.75, %.17g%s]}}}]\n",
        c->dim, gravity * sin(slope), -gravity * cos(slope), none, z, c->dx, c->friction,
        c->contact, c->dim == 3 ? ", z_min: periodic, z_max: periodic" : "", c->integrator,
        c->young_modulus, c->gap, none, c->gap + 0.5, z);
}

static play open_incline(const incline *c) { return c->tilted ? open_tilted(c) : open_flat(c); }

/* Mean velocity down the slope and away from it. */
static void velocity_on(play *p, const incline *c, double v[2]) {
    const double mass = play_quantity(p, "mass"), x = play_quantity(p, "momentum_x") / mass,
                 y = play_quantity(p, "momentum_y") / mass;
    const double s = c->tilted ? sin(slope) : 0, k = c->tilted ? cos(slope) : 1;
    v[0] = x * k - y * s, v[1] = x * s + y * k;
}

/* Friction over load in the second half of a time: at first a soft block's foot lags behind. */
static double friction_of(const incline *c, double duration) {
    double from[2], to[2], time = duration / 2;
    play p = open_incline(c);
    play_until(&p, duration - time);
    velocity_on(&p, c, from);
    play_until(&p, duration);
    velocity_on(&p, c, to);
    play_close(&p);
    return (gravity * sin(slope) * time - (to[0] - from[0])) /
           (gravity * cos(slope) * time + (to[1] - from[1]));
}

static void blocks_slide_with_their_friction(void **state) {
    (void)state;
    const double mu = tan(15 * M_PI / 180);
    static const char *const contacts[] = {"slip", "separate"};
    static const char *const integrators[] = {"pic", "apic", "flip", "sflip", "aflip", "asflip"};
    for (int k = 0; k < 2; k++)
        for (int n = 0; n < (WATCHED ? 2 : COUNT_OF(integrators)); n++)
            for (int tilted = 0; tilted < 2; tilted++)
                for (int soft = 0; soft < (WATCHED ? 1 : 2); soft++) {
                    incline c = {contacts[k],      integrators[n],    tilted, 2, mu,
                                 soft ? 2e5 : 1e6, soft ? 0.0125 : 0, 0.0625};
                    double found = friction_of(&c, 0.8);
                    /* 0.65 % of mu are 1 % of the acceleration. */
                    if (fabs(found / mu - 1) > 0.002)
                        print_message("%s, %s, %s, E %g: friction %.4f of %.4f\n", c.contact,
                                      c.integrator, tilted ? "tilted collider" : "flat side",
                                      c.young_modulus, found, mu);
                    CHECK_BELOW(fabs(found / mu - 1), 0.0065);
                }
}

static void blocks_slide_alike_in_3d_on_other_grids_and_without_friction(void **state) {
    (void)state;
    const double mu = tan(15 * M_PI / 180);
    const incline cases[] = {{"slip", "apic", false, 3, mu, 1e6, 0, 0.05},
                             {"slip", "asflip", true, 3, mu, 1e6, 0, 0.05},
                             {"slip", "apic", false, 2, mu, 1e6, 0, 0.03125},
                             {"slip", "apic", true, 2, mu, 1e7, 0, 0.1},
                             {"slip", "apic", false, 2, 0, 1e6, 0, 0.0625}};
    for (int k = 0; k < COUNT_OF(cases); k++) {
        double found = friction_of(&cases[k], cases[k].dim == 3 ? 0.2 : 0.4);
        print_message("case %d: friction %.4f of %.4f\n", k, found, cases[k].friction);
        CHECK_BELOW(fabs(found - cases[k].friction), 0.0065 * mu);
    }
}

/* Speed some time after a block has been brought to rest on a slope. */
static double creep(const char *integrator, bool tilted, double friction, int stops, double time) {
    incline c = {"slip", integrator, tilted, 2, friction, 1e6, 0, 0.1};
    double v[2];
    play p = open_incline(&c);
    play_settle(&p, stops);
    play_until(&p, p.sim->time + time);
    velocity_on(&p, &c, v);
    play_close(&p);
    return v[0];
}

static void blocks_stay_where_friction_holds_them(void **state) {
    (void)state;
    static const char *const integrators[] = {"pic", "apic", "asflip"};
    for (int n = 0; n < (WATCHED ? 1 : COUNT_OF(integrators)); n++)
        for (int tilted = 0; tilted < 2; tilted++) {
            CHECK_BELOW(fabs(creep(integrators[n], tilted, tan(28 * M_PI / 180), 40, 1)), 1e-5);
            CHECK_ABOVE(creep(integrators[n], tilted, tan(20 * M_PI / 180), 1, 0.2), 0.05);
        }
}

/* Sand falls on a plate, still or moving: the deepest that a grain is ever in it, in cells. */
static double depth_of_poured_sand(const char *integrator, double cells, double offset,
                                   const char *moved) {
    const double dx = 0.05, top = 0.3 + offset * dx;
    double deepest = 0;
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, -9.81]\n"
        "domain: {size: [1, 1], dx: %g, walls: {x_min: slip, x_max: slip, y_min: open, y_max: "
        "open}}\n"
        "solver: {type: mpm, integrator: %s}\n"
        "materials: {s: {model: sand, density: 1500, young_modulus: 1.0e6}}\n"
        "bodies: [{material: s, sampling: regular, velocity: [0, -2], shape: {box: {min: [0.3, "
        "%.17g], max: [0.7, "
        "%.17g]}}}]\n"
        "colliders: [{friction: 0.3, shape: {box: {min: [-1, %.17g], max: [2, %.17g]}}%s}]\n",
        dx, integrator, top + 0.1, top + 0.4, top - cells * dx, top, moved);
    const int64_t grains = p.sim->particles.count;
    for (int k = 1; k <= 40; k++) {
        play_until(&p, 0.01 * k);
        deepest = fmax(deepest, play_quantity(&p, "penetration_max") / dx);
    }
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        assert_true(x[1] > top - cells * dx);
    }
    assert_int_equal(p.sim->particles.count, grains);
    play_close(&p);
    return deepest;
}

static void thin_plates_hold_sand(void **state) {
    (void)state;
    static const char *const integrators[] = {"apic", "asflip"};
    const char *lifted = ", motion: {keys: [{t: 0}, {t: 0.4, translate: [0, 0.2]}]}";
    for (int n = 0; n < (WATCHED ? 1 : 2); n++)
        for (int cells = 1; cells <= 2; cells++)
            for (int k = 0; k < 3; k++) {
                const double offset = 0.01 + 0.3 * k;
                double still = depth_of_poured_sand(integrators[n], cells, offset, "");
                double moving = depth_of_poured_sand(integrators[n], cells, offset, lifted);
                print_message("%s, %d cells, offset %.2f: %.3f cells deep, lifted %.3f\n",
                              integrators[n], cells, offset, still, moving);
                CHECK_BELOW(still, 0.25);
                CHECK_BELOW(moving, 0.25);
            }
}

/* A block that slides down a tilted collider: what it loses by the columns, and by its own
 * momentum. */
static void forces_are_the_momentum_lost(void **state) {
    (void)state;
    static const char *const integrators[] = {"pic", "apic", "asflip"};
    static const double frame_rates[] = {5, 50};
    for (int n = 0; n < COUNT_OF(integrators); n++)
        for (int f = 0; f < 2; f++) {
            incline c = {"slip", integrators[n], true, 2, tan(15 * M_PI / 180), 1e6, 0, 0.0625};
            play p = open_incline(&c);
            const double fps = frame_rates[f], mass = play_quantity(&p, "mass");
            double sum[2] = {0}, lost[2];
            p.scene->fps = fps;
            for (int k = 1; k <= (int)(0.4 * fps); k++) {
                play_until(&p, k / fps);
                sum[0] += play_quantity(&p, "collider 1_force_x") / fps;
                sum[1] += play_quantity(&p, "collider 1_force_y") / fps;
            }
            lost[0] = -play_quantity(&p, "momentum_x");
            lost[1] = -mass * gravity * 0.4 - play_quantity(&p, "momentum_y");
            play_close(&p);
            CHECK_BELOW(fabs(sum[0] - lost[0]), 0.003 * fabs(lost[1]));
            CHECK_BELOW(fabs(sum[1] / lost[1] - 1), 0.003);
        }
}

/* Particles that slide inside a thin plate are pressed out of it and rubbed by their share of that,
 * and the plate is given as much back. */
static void thin_plates_are_pressed_back(void **state) {
    (void)state;
    static const double frictions[] = {0, 0.3};
    for (int n = 0; n < COUNT_OF(frictions); n++) {
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\nduration: 10\nfps: 4\ngravity: [0, 0]\n"
            "domain: {size: [2, 1], dx: 0.1, walls: open}\nsolver: {type: mpm, integrator: pic}\n"
            "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e4}}\n"
            "bodies: [{name: b, material: m, velocity: [1, 0], shape: {points: [[0.98, 0.48], "
            "[1.02, 0.49]]}}]\n"
            "colliders: [{name: plate, friction: %g, shape: {box: {min: [-1, 0.28], max: [3, "
            "0.5]}}}]\n"
            "probes: [{name: of_b, contact_force: {of: b, on: plate}}]\n",
            frictions[n]);
        const double before = play_quantity(&p, "momentum_x");
        play_steps(&p, 1);
        const double t = p.sim->time, up = play_quantity(&p, "momentum_y"),
                     lost = before - play_quantity(&p, "momentum_x");
        CHECK_ABOVE(up, 0);
        CHECK_BELOW(fabs(lost / up - frictions[n]), 1e-4);
        CHECK_BELOW(fabs(play_quantity(&p, "plate_force_y") * t / up + 1), 1e-4);
        CHECK_BELOW(fabs(play_quantity(&p, "of_b_y") * t / up + 1), 1e-4);
        CHECK_BELOW(fabs(play_quantity(&p, "plate_force_x") * t / up - frictions[n]), 1e-4);
        play_close(&p);
    }
}

/* A block at rest on a floor between two rows of nodes: its weight, below its middle. */
static void a_block_at_rest_weighs_its_weight(void **state) {
    (void)state;
    play p = play_open(
        1, "spate: 1\ndimension: 2\nduration: 10\nfps: 4\ngravity: [0, -9.81]\n"
           "domain: {size: [2, 1], dx: 0.1, walls: open}\n"
           "solver: {type: mpm, integrator: pic}\n"
           "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e6}}\n"
           "bodies: [{name: b, material: m, shape: {box: {min: [1.2, 0.23], max: [1.7, 0.73]}}}]\n"
           "colliders: [{name: floor, shape: {box: {min: [-1, 0.1], max: [3, 0.23]}}, motion: "
           "{pivot: [0.5, 0], keys: [{t: 0}]}}]\n"
           "probes: [{name: b, center_of_mass: {of: b}}]\n");
    play_until(&p, 2);
    const double weight = gravity * play_quantity(&p, "mass");
    const double arm = play_quantity(&p, "b_x") - 0.5;
    CHECK_BELOW(fabs(play_quantity(&p, "floor_force_y") / -weight - 1), 0.003);
    CHECK_BELOW(fabs(play_quantity(&p, "floor_force_x")), 0.003 * weight);
    CHECK_BELOW(fabs(play_quantity(&p, "floor_torque") / (-weight * arm) - 1), 0.003);
    play_close(&p);
}

/* Two blocks side by side on one floor, the second twice as heavy: each has its own weight, also
 * where they share nodes, and together that of the floor's column. */
static void bodies_press_by_their_own_weight(void **state) {
    (void)state;
    play p = play_open(
        1, "spate: 1\ndimension: 2\nduration: 10\nfps: 4\ngravity: [0, -9.81]\n"
           "domain: {size: [2, 1], dx: 0.1, walls: open}\n"
           "solver: {type: mpm, integrator: pic}\n"
           "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e6},\n"
           "            n: {model: neo_hookean, density: 2000, young_modulus: 1.0e6}}\n"
           "bodies: [{name: a, material: m, shape: {box: {min: [0.5, 0.24], max: [1, 0.5]}}},\n"
           "         {name: b, material: n, shape: {box: {min: [1.1, 0.24], max: [1.6, 0.5]}}}]\n"
           "colliders: [{name: floor, friction: 0.5, shape: {box: {min: [-1, 0.1], max: [3, "
           "0.24]}}}]\n"
           "probes: [{name: pa, contact_force: {of: a, on: floor}},\n"
           "         {name: pb, contact_force: {of: b, on: floor}}]\n");
    play_until(&p, 2);
    const double all = gravity * play_quantity(&p, "mass"), a = play_quantity(&p, "pa_y"),
                 b = play_quantity(&p, "pb_y");
    print_message("contact: %.2f and %.2f of %.2f N/m\n", a, b, all);
    CHECK_BELOW(fabs(a / (-all / 3) - 1), 0.03);
    CHECK_BELOW(fabs(b / (-all * 2 / 3) - 1), 0.03);
    CHECK_BELOW(fabs(a + b - play_quantity(&p, "floor_force_y")), 1e-4 * all);
    play_close(&p);
}

/* A block in the corner of a side that mirrors and a floor: all that the floor bears is the
 * block's. */
static void body_in_a_corner_has_all_of_its_contact(void **state) {
    (void)state;
    play p = play_open(
        1, "spate: 1\ndimension: 2\nduration: 10\nfps: 4\ngravity: [0, -9.81]\n"
           "domain: {size: [1, 1], dx: 0.1, walls: [slip, open, open, open]}\n"
           "solver: {type: mpm, integrator: pic}\n"
           "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e6}}\n"
           "bodies: [{name: a, material: m, shape: {box: {min: [0, 0.24], max: [0.4, 0.5]}}}]\n"
           "colliders: [{name: floor, friction: 0.5, shape: {box: {min: [-1, -1], max: [3, "
           "0.24]}}}]\n"
           "probes: [{name: pa, contact_force: {of: a, on: floor}}]\n");
    play_until(&p, 0.5);
    const double all = gravity * play_quantity(&p, "mass");
    CHECK_BELOW(fabs(play_quantity(&p, "pa_y") - play_quantity(&p, "floor_force_y")), 1e-5 * all);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_slide_with_their_friction),
        cmocka_unit_test(blocks_slide_alike_in_3d_on_other_grids_and_without_friction),
        cmocka_unit_test(blocks_stay_where_friction_holds_them),
        cmocka_unit_test(thin_plates_hold_sand),
        cmocka_unit_test(thin_plates_are_pressed_back),
        cmocka_unit_test(forces_are_the_momentum_lost),
        cmocka_unit_test(a_block_at_rest_weighs_its_weight),
        cmocka_unit_test(bodies_press_by_their_own_weight),
        cmocka_unit_test(body_in_a_corner_has_all_of_its_contact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
