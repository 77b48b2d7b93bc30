/* Statistics: each column against numbers worked out by hand, and free of the number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/statistics.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fixture {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
} fixture;

static void expect_ok(const spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

static fixture open_scene(const char *words, int threads) {
    fixture f;
    spate_config config = spate_default_config();
    config.threads = threads;
    assert_int_equal(spate_open(&config, &f.ctx), SPATE_OK);
    expect_ok(f.ctx,
              spate_scene_parse(f.ctx, words, strlen(words), "test.yaml", ".", NULL, 0, &f.scene));
    expect_ok(f.ctx, spate_simulation_create(f.scene, &f.sim));
    return f;
}

static void close_scene(fixture *f) {
    spate_simulation_free(f->sim);
    spate_scene_free(f->scene);
    spate_close(f->ctx);
}

static double quantity(fixture *f, const char *name) {
    double value;
    expect_ok(f->ctx, spate_simulation_quantity(f->sim, name, &value));
    return value;
}

/* One particle, whose motion and mass the tests set by hand. */
static const char one_scene[] =
    "spate: 1\nname: one\ndimension: 2\ngravity: [1, -10]\n"
    "domain: {origin: [-1, -1], size: [4, 4], dx: 0.25}\nduration: 1\nsolver: {type: mpm}\n"
    "materials:\n  water: {model: liquid, density: 500, bulk_modulus: 1.0e4, gamma: 7}\n"
    "bodies:\n  - {name: a, material: water, shape: {points: [[0.3, 0.4]]}}\n"
    "colliders:\n  - {name: ball, shape: {sphere: {center: [2, 2], radius: 0.5}}}\n";

static void test_one_particle(void **state) {
    (void)state;
    fixture f = open_scene(one_scene, 1);
    real *v = f.sim->particles.velocity[0];
    real4 *slopes = f.sim->particles.affine[0];
    f.sim->particles.mass[0] = 3;
    v[0] = 1, v[1] = 2;
    slopes[0][0] = (real)0.5, slopes[0][1] = (real)0.75; /* dx dv/dx */
    slopes[1][0] = (real)0.125, slopes[1][1] = 1;        /* dx dv/dy */
    f.sim->particles.dilation[0] = (real)-0.25;
    assert_float_equal(quantity(&f, "particles"), 1, 0);
    assert_float_equal(quantity(&f, "mass"), 3, 0);
    assert_float_equal(quantity(&f, "momentum_x"), 3, 1e-12);
    assert_float_equal(quantity(&f, "momentum_y"), 6, 1e-12);
    assert_float_equal(quantity(&f, "momentum_z"), 0, 0);
    /* m (x v_y - y v_x) + m dx^2 / 4 (C_yx - C_xy); without the last part it would be 0.6. */
    double affine = 3 * 0.25 * 0.25 / 4 * (0.75 - 0.125) / 0.25;
    assert_true(affine > 0.1);
    assert_float_equal(quantity(&f, "angular_z"), 3 * (0.3 * 2 - 0.4 * 1) + affine, 1e-6);
    assert_float_equal(quantity(&f, "angular_x"), 0, 0);
    assert_float_equal(quantity(&f, "kinetic_energy"), 0.5 * 3 * 5, 1e-12);
    assert_float_equal(quantity(&f, "potential_energy"), -3 * (1 * 0.3 - 10 * 0.4), 1e-5);
    assert_float_equal(quantity(&f, "volume"), 3.0 / 500 * 0.75, 1e-9);
    assert_float_equal(quantity(&f, "max_speed"), sqrt(5), 1e-7);
    assert_float_equal(quantity(&f, "max_divergence"), (0.5 + 1) / 0.25, 1e-6);
    double energy;
    f.sim->type->stress(f.sim, 0, NULL, &energy, NULL);
    assert_true(energy > 0);
    assert_float_equal(quantity(&f, "elastic_energy"), energy * 3 / 500, 1e-9 * energy);
    assert_true(isnan(quantity(&f, "iterations")));
    statistics s; /* what the warning of a volume that drifts is measured by */
    expect_ok(f.ctx, statistics_create(f.sim, &s));
    expect_ok(f.ctx, statistics_evaluate(&s, 0, 0));
    assert_float_equal(s.rest_volume, 3.0 / 500, 1e-9);
    statistics_free(&s);
    close_scene(&f);
}

/* A sum that overflows or is not a number ends the run; what a solver does not have is left
 * empty. */
static void test_not_finite_is_refused(void **state) {
    (void)state;
    fixture f = open_scene(one_scene, 1);
    static const real wrong[] = {(real)NAN, (real)INFINITY};
    double value;
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        f.sim->particles.velocity[0][1] = wrong[i];
        assert_int_equal(spate_simulation_quantity(f.sim, "mass", &value), SPATE_UNSTABLE);
        assert_non_null(strstr(spate_message(f.ctx), "test.yaml: "));
        assert_non_null(strstr(spate_message(f.ctx), "the column 'momentum_y' is not a finite"));
    }
    f.sim->particles.velocity[0][1] = 2;
    assert_float_equal(quantity(&f, "momentum_y"), 2 * quantity(&f, "mass"), 1e-6);
    assert_true(isnan(quantity(&f, "residual")));
    close_scene(&f);
}

/* Of two probes, of a probe and a column of the solver or of every run. */
static void test_columns_have_names_of_their_own(void **state) {
    (void)state;
    static const char *const probes[] = {
        "{name: momentum, center_of_mass: {of: a}}", "{name: J_min, height: {at: 1}}",
        "{name: b_x, height: {at: 1}}, {name: b, center_of_mass: {of: a}}"};
    for (int k = 0; k < COUNT_OF(probes); k++) {
        char yaml[512];
        double value;
        snprintf(yaml, sizeof yaml,
                 "spate: 1\ndimension: 2\ndomain: {size: [4, 4], dx: 0.25}\n"
                 "materials: {water: {model: liquid, bulk_modulus: 1.0e4}}\n"
                 "bodies: [{name: a, material: water, shape: {points: [[1, 1]]}}]\nprobes: [%s]\n",
                 probes[k]);
        fixture f = open_scene(yaml, 1);
        assert_int_equal(spate_simulation_quantity(f.sim, "mass", &value), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(f.ctx), "would have two columns"));
        close_scene(&f);
    }
}

static void test_penetration(void **state) {
    (void)state;
    fixture f = open_scene(one_scene, 1);
    assert_float_equal(quantity(&f, "penetration_count"), 0, 0);
    assert_float_equal(quantity(&f, "penetration_max"), 0, 0);
    const double rest[3] = {0};
    assert_int_equal(simulation_add(f.sim, 0, (double[3]){2, 2.4, 0}, rest, 1e-3), SPATE_OK);
    assert_int_equal(simulation_add(f.sim, 0, (double[3]){1.7, 2, 0}, rest, 1e-3), SPATE_OK);
    assert_int_equal(simulation_add(f.sim, 0, (double[3]){2, 2.6, 0}, rest, 1e-3), SPATE_OK);
    assert_float_equal(quantity(&f, "particles"), 4, 0);
    assert_float_equal(quantity(&f, "penetration_count"), 2, 0);
    assert_float_equal(quantity(&f, "penetration_max"), 0.2, 1e-6);
    close_scene(&f);
}

/* Colliders are looked at where they are at the simulation's time, whoever moved them last. */
static void test_penetration_of_a_moving_collider(void **state) {
    (void)state;
    fixture f = open_scene(
        "spate: 1\ndimension: 2\ndomain: {size: [4, 4], dx: 0.25}\n"
        "materials: {water: {model: liquid, bulk_modulus: 1.0e4}}\n"
        "bodies: [{name: a, material: water, shape: {points: [[1, 1]]}}]\n"
        "colliders: [{name: ball, shape: {sphere: {center: [3, 1], radius: 0.5}},\n"
        "             motion: {keys: [{t: 0, translate: [0, 0]}, {t: 1, translate: [-2, 0]}]}}]\n",
        1);
    assert_float_equal(quantity(&f, "penetration_count"), 0, 0);
    f.sim->time = 1;
    assert_float_equal(quantity(&f, "penetration_count"), 1, 0);
    assert_float_equal(quantity(&f, "penetration_max"), 0.5, 1e-6);
    close_scene(&f);
}

static void test_free_fall(void **state) {
    (void)state;
    fixture f = open_scene(
        "spate: 1\nname: fall\ndimension: 3\ngravity: [0, -9.81, 0]\n"
        "domain: {size: [1, 2, 1], dx: 0.125}\nduration: 1\nsolver: {integrator: apic, dt: 0.001}\n"
        "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e3}\n"
        "bodies:\n  - {name: a, material: water, sampling: regular, shape: {sphere: {center: [0.5, "
        "1.4, 0.5], radius: "
        "0.2}},"
        " velocity: [0.25, 0, 0], spin: [0, 0, 2]}\n",
        2);
    double mass = quantity(&f, "mass"), energy = quantity(&f, "potential_energy");
    double turn = quantity(&f, "angular_z"), kinetic = quantity(&f, "kinetic_energy");
    while (f.sim->time < 0.1) assert_int_equal(spate_simulation_step(f.sim, 0.1), SPATE_OK);
    assert_float_equal(quantity(&f, "mass"), mass, 0);
    assert_float_equal(quantity(&f, "momentum_y"), -mass * 9.81 * 0.1, 1e-5 * mass);
    assert_float_equal(quantity(&f, "momentum_x"), mass * 0.25, 1e-5 * mass);
    assert_float_equal(quantity(&f, "momentum_z"), 0, 1e-5 * mass);
    /* The weight's moment about the origin: -m g x, with x = 0.5 + 0.25 t on the way. */
    double moment = -mass * 9.81 * (0.5 * 0.1 + 0.25 * 0.1 * 0.1 / 2);
    assert_float_equal(quantity(&f, "angular_z") - turn, moment, 5e-4 * fabs(moment));
    /* What is lost in height is found in speed, but for what the transfer smooths. */
    double gained = quantity(&f, "kinetic_energy") - kinetic;
    assert_float_equal(gained, energy - quantity(&f, "potential_energy"), 0.05 * gained);
    close_scene(&f);
}

/* ---- What the solver knows itself ---- */

/* Momentum along y, kinetic energy, and a mass of its own; the rest is left to the particles. */
static void know_some(spate_simulation *sim, solver_numbers *out) {
    (void)sim;
    out->mass = 70;
    out->momentum[1] = -5;
    out->angular[0] = 2;
    out->kinetic_energy = 0;
    out->potential_energy = -3;
    out->volume = 11;
    out->max_speed = 13;
}

static void solve_in_four(const spate_simulation *sim, double *iterations, double *residual) {
    (void)sim, (void)residual;
    *iterations = 4;
}

static void test_solver_knows_better(void **state) {
    (void)state;
    fixture f = open_scene(one_scene, 1);
    f.sim->particles.mass[0] = 3;
    f.sim->particles.velocity[0][0] = 1, f.sim->particles.velocity[0][1] = 2;
    const solver_type *mpm = f.sim->type;
    solver_type other = *mpm;
    other.numbers = know_some;
    other.solved = solve_in_four;
    assert_float_equal(quantity(&f, "mass"), 3, 0); /* control */
    f.sim->type = &other;
    assert_float_equal(quantity(&f, "mass"), 70, 0);
    assert_float_equal(quantity(&f, "momentum_x"), 3, 1e-12); /* of the particle */
    assert_float_equal(quantity(&f, "momentum_y"), -5, 0);
    assert_float_equal(quantity(&f, "angular_x"), 2, 0);
    assert_float_equal(quantity(&f, "angular_y"), 0, 0);
    assert_float_equal(quantity(&f, "kinetic_energy"), 0, 0); /* 0 is a number, too */
    assert_float_equal(quantity(&f, "potential_energy"), -3, 0);
    assert_float_equal(quantity(&f, "volume"), 11, 0);
    assert_float_equal(quantity(&f, "max_speed"), 13, 0);
    assert_float_equal(quantity(&f, "iterations"), 4, 0);
    assert_true(isnan(quantity(&f, "residual")));
    /* nothing of its own beside the particles: no stress, no affine motion */
    other.numbers = NULL;
    other.affine_moment = NULL;
    other.stress = NULL;
    assert_float_equal(quantity(&f, "angular_z"), 3 * (0.3 * 2 - 0.4 * 1), 1e-6);
    assert_true(isnan(quantity(&f, "elastic_energy")));
    f.sim->type = mpm;
    close_scene(&f);
}

/* ---- Forces on colliders ---- */

static void push(const spate_simulation *sim, int c, double force[3], double torque[3]) {
    (void)sim;
    for (int a = 0; a < 3; a++) force[a] = 10 * c + a + 1, torque[a] = -(10 * c + a + 1);
}

static const char pushed_scene[] =
    "spate: 1\ndimension: %d\ndomain: {size: [4, 4%s], dx: 0.25}\n"
    "materials: {water: {model: liquid, bulk_modulus: 1.0e4}}\n"
    "bodies: [{name: a, material: water, shape: {points: [[1, 1%s]]}}]\n"
    "colliders:\n"
    "  - {name: post, shape: {sphere: {center: [2, 2%s], radius: 0.5}}}\n"
    "  - {name: wall, shape: {sphere: {center: [3, 3%s], radius: 0.5}}}\n"
    "probes: [{name: here, center_of_mass: {}}]\n";

static fixture open_pushed(int dim) {
    char words[1024];
    const char *more = dim == 3 ? ", 1" : "";
    snprintf(words, sizeof words, pushed_scene, dim, dim == 3 ? ", 4" : "", more, more, more);
    return open_scene(words, 1);
}

static void expect_header(fixture *f, const char *end, bool there) {
    statistics s;
    text header = {.ctx = f->ctx};
    assert_int_equal(statistics_create(f->sim, &s), SPATE_OK);
    statistics_header(&s, &header);
    assert_int_equal(strstr(header.data, end) != NULL, there);
    text_free(&header);
    statistics_free(&s);
}

static void test_forces_on_colliders(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        fixture f = open_pushed(dim);
        const solver_type *mpm = f.sim->type;
        solver_type other = *mpm, without = *mpm;
        double value;
        other.force = push, without.force = NULL;
        /* not known: no columns */
        f.sim->type = &without;
        expect_header(&f, "force", false);
        assert_int_equal(spate_simulation_quantity(f.sim, "post_force_x", &value), SPATE_BAD_INPUT);
        f.sim->type = &other;
        expect_header(&f,
                      dim == 2
                          ? ",contact_resets,post_force_x,post_force_y,post_torque,wall_force_x,"
                            "wall_force_y,wall_torque,here_x,here_y\n"
                          : ",contact_resets,post_force_x,post_force_y,post_force_z,post_torque_x,"
                            "post_torque_y,post_torque_z,wall_force_x,wall_force_y,wall_force_z,"
                            "wall_torque_x,wall_torque_y,wall_torque_z,here_x,here_y,here_z\n",
                      true);
        assert_float_equal(quantity(&f, "post_force_x"), 1, 0);
        assert_float_equal(quantity(&f, "post_force_y"), 2, 0);
        assert_float_equal(quantity(&f, "wall_force_y"), 12, 0);
        assert_float_equal(quantity(&f, dim == 2 ? "post_torque" : "post_torque_z"), -3, 0);
        assert_float_equal(quantity(&f, dim == 2 ? "wall_torque" : "wall_torque_z"), -13, 0);
        if (dim == 3) assert_float_equal(quantity(&f, "wall_torque_x"), -11, 0);
        assert_float_equal(quantity(&f, "here_y"), 1, 1e-6); /* probes are found behind them */
        f.sim->type = mpm;
        close_scene(&f);
    }
}

static const char probe_scene[] =
    "spate: 1\nname: probes\ndimension: 2\ndomain: {size: [4, 4], dx: 0.25}\nduration: 1\n"
    "solver: {type: mpm}\n"
    "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4, gamma: 7}\n"
    "bodies:\n"
    "  - {name: a, material: water, shape: {points: [[1.0, 0.5], [1.05, 1.5], [1.3, 3.0]]}}\n"
    "  - {name: b, material: water, shape: {points: [[3.0, 1.0]]}}\n"
    "probes:\n"
    "  - {name: right, extent: {of: a, axis: x, side: max}}\n"
    "  - {name: left, extent: {of: a, axis: x, side: min}}\n"
    "  - {name: level, height: {at: [1.0]}}\n"
    "  - {name: dry, height: {at: [2.0]}}\n"
    "  - {name: push, pressure: {at: [1.05, 1.4]}}\n"
    "  - {name: nothing, pressure: {at: [2.0, 2.0]}}\n"
    "  - {name: middle, center_of_mass: {of: a}}\n";

static void test_probes(void **state) {
    (void)state;
    fixture f = open_scene(probe_scene, 1);
    double radius = sqrt((double)f.sim->particles.mass[0] / 1000) / 2, p;
    for (int64_t i = 0; i < 4; i++)
        f.sim->particles.dilation[i] = f.sim->particles.id[i] == 1 ? (real)-0.125 : 0;
    p = 1e4 / 7 * (pow(0.875, -7) - 1);
    assert_float_equal(quantity(&f, "right"), 1.3 + radius, 1e-6); /* and not body b's 3.0 */
    assert_float_equal(quantity(&f, "left"), 1.0 - radius, 1e-6);
    assert_float_equal(quantity(&f, "level"), 1.5 + radius,
                       1e-6); /* 1.3 is more than dx / 2 away */
    assert_float_equal(quantity(&f, "dry"), 0, 0);
    assert_float_equal(quantity(&f, "push"), p, 1e-3 * p);
    assert_float_equal(quantity(&f, "nothing"), 0, 0);
    assert_float_equal(quantity(&f, "middle_x"), (1 + 1.05 + 1.3) / 3, 1e-6);
    assert_float_equal(quantity(&f, "middle_y"), (0.5 + 1.5 + 3) / 3, 1e-6);
    close_scene(&f);
}

static void test_row_has_the_contracts_columns(void **state) {
    (void)state;
    static const char contract[] =
        "frame,time,steps,dt,dt_limit,particles,mass,momentum_x,momentum_y,momentum_z,angular_x,"
        "angular_y,angular_z,kinetic_energy,potential_energy,elastic_energy,volume,max_speed,"
        "max_divergence,iterations,residual,penetration_max,penetration_count,wall_seconds";
    fixture f = open_scene(probe_scene, 1);
    statistics s;
    text header = {.ctx = f.ctx}, row = {.ctx = f.ctx};
    assert_int_equal(statistics_create(f.sim, &s), SPATE_OK);
    assert_int_equal(statistics_evaluate(&s, 7, 1.5), SPATE_OK);
    statistics_header(&s, &header);
    statistics_row(&s, "", &row);
    assert_memory_equal(header.data, contract, strlen(contract));
    assert_non_null(strstr(header.data, ",right,left,level,dry,push,nothing,middle_x,middle_y\n"));
    int commas = 0, row_commas = 0;
    for (const char *c = header.data; *c; c++) commas += *c == ',';
    for (const char *c = row.data; *c; c++) row_commas += *c == ',';
    assert_int_equal(commas, row_commas);
    assert_memory_equal(row.data, "7,0,0,", 6);
    assert_non_null(strstr(row.data, ",,,0,0,1.500")); /* iterations and residual are empty */
    /* as many digits as a double holds for sure */
    const double middle = s.values[s.count - 1];
    assert_true(fabs(strtod(strrchr(row.data, ',') + 1, NULL) / middle - 1) < 1e-14);
    text_free(&header);
    text_free(&row);
    statistics_free(&s);
    close_scene(&f);
}

static void test_unknown_quantity(void **state) {
    (void)state;
    fixture f = open_scene(probe_scene, 1);
    double value;
    assert_int_equal(spate_simulation_quantity(f.sim, "kinetic", &value), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "'kinetic'"));
    assert_non_null(strstr(spate_message(f.ctx), "known: time, steps, dt, particles, mass, "));
    assert_int_equal(spate_simulation_quantity(f.sim, "mas", &value), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "did you mean 'mass'?"));
    assert_int_equal(spate_simulation_quantity(f.sim, "dt_limit", &value), SPATE_BAD_INPUT);
    assert_null(strstr(spate_message(f.ctx), "did you mean 'dt_limit'"));
    close_scene(&f);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    static const char words[] =
        "spate: 1\nname: many\ndimension: 2\ndomain: {size: [2, 2], dx: 0.03125}\nduration: 1\n"
        "solver: {type: mpm}\n"
        "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
        "bodies:\n  - {name: a, material: water, shape: {sphere: {center: [1, 1], radius: 0.7}},"
        " sampling: jittered, spin: 3}\n"
        "probes:\n  - {name: c, center_of_mass: {of: a}}\n";
    double rows[2][64];
    int count = 0;
    for (int k = 0; k < 2; k++) {
        fixture f = open_scene(words, k ? 3 : 1);
        statistics s;
        assert_int_equal(statistics_create(f.sim, &s), SPATE_OK);
        assert_int_equal(statistics_evaluate(&s, 0, 0), SPATE_OK);
        count = s.count;
        assert_true(count < 64);
        memcpy(rows[k], s.values, sizeof(double) * (size_t)count);
        statistics_free(&s);
        close_scene(&f);
    }
    assert_memory_equal(rows[0], rows[1], sizeof(double) * (size_t)count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_particle),
        cmocka_unit_test(test_not_finite_is_refused),
        cmocka_unit_test(test_columns_have_names_of_their_own),
        cmocka_unit_test(test_penetration),
        cmocka_unit_test(test_penetration_of_a_moving_collider),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_solver_knows_better),
        cmocka_unit_test(test_forces_on_colliders),
        cmocka_unit_test(test_probes),
        cmocka_unit_test(test_row_has_the_contracts_columns),
        cmocka_unit_test(test_unknown_quantity),
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
