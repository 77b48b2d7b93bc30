/*
 * Holds: which vertices of strands, cloth and finite elements they take, bodies of particles that
 * are gripped, hang, are carried and let go, and what is refused.
 */
#include "physics.h"

#include "core/vec.h"
#include "solver/mpm/mpm.h"

static const char clay[] = "{model: neo_hookean, density: 1000, young_modulus: 1.0e5}";

static play play_body_on(int threads, int dim, const char *body_text) {
    return play_open(threads,
                     "spate: 1\ndimension: %d\nduration: 10\nfps: 10\ndomain: {size: %s, dx: "
                     "0.05}\nmaterials: {m: %s}\nbodies: [{name: b, material: m, %s}]\n",
                     dim, dim == 2 ? "[1, 1]" : "[1, 1, 1]", clay, body_text);
}

static play play_body(int dim, const char *body_text) { return play_body_on(1, dim, body_text); }

/* ---- Vertices of meshes ---------------------------------------------------------------------- */

static int64_t held_of(const char *given, int dim, int64_t *all) {
    play p = play_body(dim, given);
    const mesh_body *m = &p.scene->bodies[0].mesh;
    int64_t held = 0;
    for (int64_t v = 0; v < m->vertex_count; v++) held += m->held[v] >= 0;
    *all = m->vertex_count;
    play_close(&p);
    return held;
}

#define ROWS                                                                                 \
    "strands: {root: [0.2, 0.8, 0.2], direction: [0, -0.4, 0], row: [0.5, 0, 0], count: 4, " \
    "radius: 0.005}, hold: "
#define SHEET                                                                               \
    "cloth: {corner: [0.2, 0.5, 0.2], along: [0.5, 0, 0], across: [0, 0, 0.4], thickness: " \
    "0.01}, hold: "

static void parts_are_held(void **state) {
    (void)state;
    int64_t all;
    assert_int_equal(held_of(ROWS "[{of: roots}]", 3, &all), 8);
    assert_int_equal(all, 4 * 9);
    assert_int_equal(held_of(ROWS "[{of: tips}]", 3, &all), 8);
    assert_int_equal(held_of(ROWS "[{of: ends}]", 3, &all), 16);
    assert_int_equal(held_of(ROWS "[{of: roots, shape: {box: {min: [0, 0, 0], max: [0.45, 1, "
                                  "1]}}}]",
                             3, &all),
                     4);
    assert_int_equal(held_of(SHEET "[{of: rim}]", 3, &all), 2 * (10 + 8));
    assert_int_equal(all, 11 * 9);
    assert_int_equal(held_of("shape: {box: {min: [0.2, 0.2], max: [0.7, 0.6]}}, fe: {spacing: "
                             "0.05}, hold: [{of: rim}]",
                             2, &all),
                     2 * (10 + 8));
    assert_int_equal(held_of("shape: {box: {min: [0.2, 0.2, 0.2], max: [0.4, 0.4, 0.4]}}, fe: "
                             "{spacing: 0.05}, hold: [{of: rim}]",
                             3, &all),
                     125 - 27);
}

/* Roots that turn take their strands along. */
static void roots_carry_strands(void **state) {
    (void)state;
    play p = play_body(3, ROWS "[{of: roots, motion: {keys: [{t: 0}, {t: 0.1, translate: [0.1, 0, "
                               "0]}]}}]");
    play_until(&p, 0.1);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        const int64_t v = (int64_t)p.sim->particles.id[i];
        simulation_position(p.sim, block, i, x);
        if (v % 9 > 1) continue;
        CHECK_BELOW(fabs(x[0] - (0.3 + 0.5 / 3 * (double)(v / 9))), 1e-6);
        CHECK_BELOW(fabs(x[1] - (0.8 - 0.05 * (double)(v % 9))), 1e-6);
    }
    play_close(&p);
}

/* ---- Bodies of particles --------------------------------------------------------------------- */

#define BAR   "shape: {box: {min: [0.4, 0.3], max: [0.6, 0.9]}}"
#define GRIP  "{shape: {box: {min: [0.3, 0.8], max: [0.7, 1]}}%s}"
#define TOP_Y 0.85

static void mean_of(play *p, bool top, double x[2], double v[2]) {
    double count = 0, sum[4] = {0};
    EACH_PARTICLE(p->sim, block, i) {
        double at[3];
        simulation_position(p->sim, block, i, at);
        if ((at[1] > TOP_Y - 0.02) != top) continue;
        count++;
        for (int a = 0; a < 2; a++)
            sum[a] += at[a], sum[a + 2] += (double)p->sim->particles.velocity[i][a];
    }
    for (int a = 0; a < 2; a++) x[a] = sum[a] / count, v[a] = sum[a + 2] / count;
}

/* A bar hangs from its upper end: what is gripped stays, the force is the weight, all of the body's
 * particles are there from the start. Let go, it falls. */
static void a_bar_hangs(void **state) {
    (void)state;
    char text[512];
    snprintf(text, sizeof text, BAR ", hold: [" GRIP "]", ", until: 1.2");
    play p = play_body(2, text);
    assert_int_equal(p.sim->particles.count, 4 * 4 * 12);
    double x[2], v[2], before[2];
    mean_of(&p, true, before, v);
    double sum = 0;
    int frames = 0;
    for (double t = 0.1; t < 1.15; t += 0.1) {
        play_until(&p, t);
        if (t > 0.25) sum += play_quantity(&p, "b_hold_force_y"), frames++;
    }
    mean_of(&p, true, x, v);
    print_message("moved by %.2g, force %.1f of %.1f N/m\n", x[1] - before[1], sum / frames,
                  -0.12 * 1000 * 9.81);
    CHECK_BELOW(fabs(x[1] - before[1]), 1e-3);
    CHECK_BELOW(fabs(x[0] - before[0]), 1e-3);
    CHECK_BELOW(fabs(sum / frames / (-0.12 * 1000 * 9.81) - 1), 0.05);
    assert_int_equal((int)play_quantity(&p, "penetration_count"), 0);
    play_until(&p, 1.3);
    mean_of(&p, false, x, v);
    CHECK_BELOW(v[1], -0.7);
    play_close(&p);
}

/* Held at both ends, it bears its weight on both. */
static void a_bar_held_at_both_ends(void **state) {
    (void)state;
    play p = play_body(
        2, BAR ", hold: [{shape: {box: {min: [0.3, 0.8], max: [0.7, 1]}}}, {shape: {box: {min: "
               "[0.3, 0.2], max: [0.7, 0.4]}}}]");
    double sum = 0;
    int frames = 0;
    for (double t = 0.1; t < 1.15; t += 0.1) {
        play_until(&p, t);
        if (t < 0.25) continue;
        sum += play_quantity(&p, "b_hold_force_y") + play_quantity(&p, "b_hold_2_force_y");
        frames++;
    }
    print_message("both: %.1f of %.1f N/m\n", sum / frames, -0.12 * 1000 * 9.81);
    CHECK_BELOW(fabs(sum / frames / (-0.12 * 1000 * 9.81) - 1), 0.05);
    CHECK_BELOW(p.sim->max_speed, 0.5);
    play_close(&p);
}

/* A grip that moves takes its part along by exactly its way, and the rest follows. */
static void a_bar_is_carried(void **state) {
    (void)state;
    char text[512];
    snprintf(text, sizeof text, BAR ", hold: [" GRIP "]",
             ", motion: {keys: [{t: 0}, {t: 0.5, translate: [0.2, 0]}]}");
    play p = play_body(2, text);
    double x[2], v[2], before[2], rest[2];
    mean_of(&p, true, before, v);
    mean_of(&p, false, rest, v);
    play_until(&p, 0.5);
    mean_of(&p, true, x, v);
    CHECK_BELOW(fabs(x[0] - before[0] - 0.2), 2e-3);
    mean_of(&p, false, x, v);
    CHECK_ABOVE(x[0] - rest[0], 0.1);
    play_close(&p);
}

static void grips_resume_and_do_not_see_threads(void **state) {
    (void)state;
    uint64_t hash[2];
    char text[512];
    snprintf(text, sizeof text, BAR ", hold: [" GRIP "]", "");
    play first = play_body(2, text), again = play_body_on(3, 2, text);
    play_steps(&first, 40);
    play_go_on(&first, &again);
    play_steps(&first, 20), play_steps(&again, 20);
    hash[0] = spate_simulation_hash(first.sim), hash[1] = spate_simulation_hash(again.sim);
    play_close(&first), play_close(&again);
    assert_true(hash[0] == hash[1]);
}

/* ---- Steps that are cut short ---------------------------------------------------------------- */

/* A cloth held by its rim and a ball falling on it. Two events that do nothing are 1e-10 s apart:
 * what the rim gains in so short a step is no force. */
static double speed_on_a_net(const char *events) {
    play p = play_open(
        1,
        "spate: 1\ndimension: 3\nduration: 1\nfps: 20\ndomain: {size: [1, 1, 1], dx: 0.1}\n"
        "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 2.0e4}}\nbodies:\n"
        "  - {name: net, material: m, cloth: {corner: [0.2, 0.4, 0.2], along: [0.6, 0, 0], across: "
        "[0, 0, 0.6], spacing: 0.1, thickness: 0.02}, contact: {stiffness: 5000}, hold: [{of: "
        "rim}]}\n"
        "  - {name: ball, material: m, velocity: [0, -1, 0], shape: {sphere: {center: [0.5, 0.62, "
        "0.5], radius: 0.15}}}\n%s",
        events);
    double fastest;
    play_until(&p, 0.2);
    fastest = p.sim->max_speed;
    play_close(&p);
    return fastest;
}

static void a_short_step_does_not_push(void **state) {
    (void)state;
    const double usual = speed_on_a_net("");
    const double cut = speed_on_a_net(
        "events:\n  - {t: 0.17, force: {name: w, wind: {acceleration: [0, 0, 0]}}}\n"
        "  - {t: 0.1700000001, force: {name: w, wind: {acceleration: [0, 0, 0]}}}\n");
    CHECK_BELOW(fabs(cut / usual - 1), 0.05);
}

/* ---- Energy ---------------------------------------------------------------------------------- */

/* A strand that two holds stretch by a hundredth within half a second, and four seconds later: all
 * of its energy over E A e^2 L/2. While elements' forces on held vertices reached the nodes, and a
 * hold's answer a step later, explicit steps gained energy: 30 times with aflip. */
static double energy_of_a_held_strand(const char *integrator, const char *step) {
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\ngravity: [0, 0]\nduration: 10\nfps: 10\ndomain: {size: [1.6, "
        "1.2], dx: 0.1}\nsolver: {integrator: %s, dt: 4.0e-3}\n"
        "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1.0e5}}\nbodies:\n"
        "  - {material: m, strands: {root: [0.3, 0.6], direction: [1, 0], radius: 0.02, step: %s}, "
        "hold: [{shape: {box: {min: [0, 0], max: [0.31, 2]}}}, {shape: {box: {min: [1.29, 0], max: "
        "[2, 2]}}, motion: {interpolate: smooth, keys: [{t: 0}, {t: 0.5, translate: [0.01, "
        "0]}]}}]}\n",
        integrator, step);
    play_until(&p, 4.5);
    const double stored = 0.5 * 1e5 * acos(-1) * 0.02 * 0.02 * 0.01 * 0.01;
    const double all = play_quantity(&p, "kinetic_energy") + play_quantity(&p, "strand_energy");
    play_close(&p);
    return all / stored;
}

static void what_is_held_gains_no_energy(void **state) {
    (void)state;
    static const char *const integrators[] = {"aflip", "asflip", "flip", "apic"};
    for (int k = 0; k < COUNT_OF(integrators); k++)
        for (int implicit = 0; implicit < 2; implicit++)
            CHECK_BELOW(
                fabs(energy_of_a_held_strand(integrators[k], implicit ? "implicit" : "explicit") -
                     1),
                0.01);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuse(const char *given, const char *message) {
    play_refused(message,
                 "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.1}\nmaterials: {m: %s}\nbodies: "
                 "[{material: m, %s}]\n",
                 clay, given);
}

/* Matter may be in a grip: it pushes out nothing, where other colliders push out vertices of meshes. */
static void grips_push_nothing_out(void **state) {
    (void)state;
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ndomain: {size: [1, 1], dx: 0.05}\n"
        "materials: {m: %s}\nbodies:\n"
        "  - {name: b, material: m, shape: {box: {min: [0.4, 0.4], max: [0.6, 0.9]}}, hold: [" GRIP
        "]}\n"
        "  - {name: s, material: m, strands: {root: [0.1, 0.3], direction: [0.8, 0], radius: "
        "0.01}}\n"
        "colliders: [{name: rock, shape: {sphere: {center: [0.5, 0.1], radius: 0.1}}}]\n",
        clay, "");
    const mpm *m = p.sim->solver;
    int grips = 0;
    for (int c = 0; c < p.scene->collider_count; c++) {
        const bool grip = p.scene->colliders[c].grip;
        grips += grip;
        assert_int_equal(m->view.penetration.pushed[c], grip ? PUSHED_NONE : PUSHED_VERTICES);
    }
    assert_int_equal(grips, 1);
    play_close(&p);
}

static void bad_holds_are_refused(void **state) {
    (void)state;
    refuse(ROWS "[{of: rim}]", "is of cloth and fe");
    refuse(SHEET "[{of: roots}]", "is of strands");
    refuse(SHEET "[{}]", "shape: is missing");
    refuse(SHEET "[{shape: {box: {min: [0, 0, 0], max: [0.1, 0.1, 0.1]}}}]", "holds none");
    refuse(SHEET "[{shape: {points: [[0, 0, 0]]}}]", "points have no inside");
    refuse("shape: {box: {min: [0, 0, 0], max: [0.5, 0.5, 0.5]}}, hold: [{of: rim}]",
           "is of cloth and fe");
#define RIM(keys) SHEET "[{of: rim, motion: {pivot: [0.45, 0.5, 0.4], " keys "}}]"
    refuse(RIM("keys: [{t: 0, translate: [0, 0.1, 0]}]"), "is not at rest at t = 0");
    refuse(RIM("keys: [{t: 1, rotate: [0, 1, 0, 90]}]"), "is not at rest at t = 0");
    refuse(RIM("repeat: true, keys: [{t: 0}, {t: 1, translate: [0, 0.1, 0]}]"),
           "does not end where it begins");
    refuse(RIM("keys: [{t: 0}, {t: 1, translate: [0, 0.6, 0]}]"),
           "takes vertex 0 out of the domain: at t = 0.875 s its y is 1.025, the domain's from 0");
    refuse(RIM("keys: [{t: 0}, {t: 1, rotate: [1, 1, 1, 360]}, {t: 2, translate: [0.4, 0, 0]}]"),
           "at t = 1.");
}

/* What ends before it would, begins late but at rest, comes back, or leaves by an open side. */
static void good_holds_are_taken(void **state) {
    (void)state;
    static const char *const good[] = {
        SHEET "[{of: rim, until: 0.5, motion: {keys: [{t: 0}, {t: 1, translate: [0, 0.9, 0]}]}}]",
        RIM("keys: [{t: 0.5}, {t: 1, translate: [0, 0.1, 0]}]"),
        RIM("repeat: true, keys: [{t: 0}, {t: 1, rotate: [0, 1, 0, 360]}]"),
        RIM("repeat: true, keys: [{t: 0}, {t: 1, translate: [0, 0.1, 0]}, {t: 2, translate: [0, 0, "
            "0]}]"),
    };
    for (int k = 0; k < COUNT_OF(good); k++) {
        play p = play_body(3, good[k]);
        play_close(&p);
    }
    play p = play_open(1,
                       "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.1, walls: open}\nmaterials: {m: "
                       "%s}\nbodies: [{material: m, %s}]\n",
                       clay, RIM("keys: [{t: 0}, {t: 1, translate: [0, 9, 0]}]"));
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_held),
        cmocka_unit_test(roots_carry_strands),
        cmocka_unit_test(a_bar_hangs),
        cmocka_unit_test(a_bar_held_at_both_ends),
        cmocka_unit_test(a_bar_is_carried),
        cmocka_unit_test(grips_resume_and_do_not_see_threads),
        cmocka_unit_test(a_short_step_does_not_push),
        cmocka_unit_test(what_is_held_gains_no_energy),
        cmocka_unit_test(grips_push_nothing_out),
        cmocka_unit_test(bad_holds_are_refused),
        cmocka_unit_test(good_holds_are_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
