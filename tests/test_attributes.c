/* Attributes by name: values against what the scene says, in id order however particles are stored.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/attributes.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Points far apart, not in the order of the grid. */
static const char points_scene[] =
    "spate: 1\n"
    "name: points\n"
    "dimension: 2\n"
    "gravity: [0, 0]\n"
    "domain: {size: [4, 4], dx: 0.125}\n"
    "duration: 1\n"
    "solver: {type: mpm}\n"
    "materials:\n"
    "  oil: {model: liquid, density: 800, bulk_modulus: 1.0e4, gamma: 7}\n"
    "  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4, gamma: 7}\n"
    "bodies:\n"
    "  - {name: a, material: water, shape: {points: [[3.5, 3.25], [0.5, 0.75], [2.0, 2.5], [0.5, "
    "3.0]]},"
    " velocity: [1, -2]}\n"
    "  - {name: b, material: oil, shape: {points: [[1.0, 1.0]]}}\n";

static const double expected[5][2] = {{3.5, 3.25}, {0.5, 0.75}, {2.0, 2.5}, {0.5, 3.0}, {1.0, 1.0}};

typedef struct fixture {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
} fixture;

static void expect_ok(const spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

static fixture open_scene(const char *words) {
    fixture f;
    assert_int_equal(spate_open(NULL, &f.ctx), SPATE_OK);
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

static int64_t get(fixture *f, const char *name, double *values, int components) {
    int found;
    int64_t count;
    expect_ok(f->ctx, spate_simulation_attribute(f->sim, name, values, &found, &count));
    assert_int_equal(found, components);
    return count;
}

static void test_order_is_by_id(void **state) {
    (void)state;
    fixture f = open_scene(points_scene);
    double x[15], id[5];
    bool ascending = true;
    for (int i = 1; i < 5; i++) ascending &= f.sim->particles.id[i] > f.sim->particles.id[i - 1];
    assert_false(ascending); /* otherwise this test would show nothing */
    for (int round = 0; round < 2; round++) {
        assert_int_equal(get(&f, "P", x, 3), 5);
        assert_int_equal(get(&f, "id", id, 1), 5);
        for (int i = 0; i < 5; i++) {
            double moved = i < 4 ? f.sim->time : 0;
            assert_float_equal(id[i], i, 0);
            assert_float_equal(x[3 * i], expected[i][0] + moved, 1e-5);
            assert_float_equal(x[3 * i + 1], expected[i][1] - 2 * moved, 1e-5);
            assert_float_equal(x[3 * i + 2], 0, 0);
        }
        assert_int_equal(spate_simulation_step(f.sim, 0.01), SPATE_OK);
    }
    close_scene(&f);
}

static void test_plain_values(void **state) {
    (void)state;
    fixture f = open_scene(points_scene);
    double v[15], speed[5], kind[5], group[5], radius[5];
    get(&f, "v", v, 3);
    get(&f, "speed", speed, 1);
    get(&f, "material", kind, 1);
    get(&f, "group", group, 1);
    get(&f, "pscale", radius, 1);
    assert_float_equal(v[0], 1, 0);
    assert_float_equal(v[1], -2, 0);
    assert_float_equal(v[12], 0, 0);
    assert_float_equal(speed[0], sqrt(5), 1e-6);
    assert_float_equal(kind[0], 1, 0); /* water is the second material */
    assert_float_equal(kind[4], 0, 0);
    assert_float_equal(group[3], 0, 0);
    assert_float_equal(group[4], 1, 0);
    /* Each has the mass of its share of a cell, so the disc's radius is half of that share's edge.
     */
    for (int64_t i = 0; i < 5; i++) {
        uint32_t id = f.sim->particles.id[i];
        double area = (double)f.sim->particles.mass[i] / (id == 4 ? 800 : 1000);
        assert_float_equal(radius[id], sqrt(area) / 2, 1e-7);
    }
    close_scene(&f);
}

static void test_stress_and_density(void **state) {
    (void)state;
    fixture f = open_scene(points_scene);
    double J[5], density[5], pressure[5], stress[30];
    for (int64_t i = 0; i < 5; i++)
        f.sim->particles.dilation[i] = f.sim->particles.id[i] == 2 ? (real)-0.125 : 0;
    get(&f, "J", J, 1);
    get(&f, "density", density, 1);
    get(&f, "pressure", pressure, 1);
    get(&f, "stress", stress, 6);
    assert_float_equal(J[2], 0.875, 1e-7);
    assert_float_equal(J[1], 1, 0);
    assert_float_equal(density[2], 1000 / 0.875, 1e-3);
    assert_float_equal(density[4], 800, 0);
    /* Tait: p = K / gamma (J^-gamma - 1), and no shear. */
    double p = 1e4 / 7 * (pow(0.875, -7) - 1);
    assert_float_equal(pressure[2], p, 1e-3 * p);
    assert_float_equal(pressure[1], 0, 1e-9);
    assert_float_equal(stress[12], -p, 1e-3 * p);
    assert_float_equal(stress[13], -p, 1e-3 * p);
    assert_float_equal(stress[15], 0, 1e-9);
    close_scene(&f);
}

static void test_stress_order(void **state) {
    (void)state;
    fixture f = open_scene(
        "spate: 1\nname: jelly\ndimension: 3\ndomain: {size: [1, 1, 1], dx: 0.125}\nduration: 1\n"
        "solver: {type: mpm}\nmaterials:\n"
        "  jelly: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3}\n"
        "bodies:\n  - {name: a, material: jelly, shape: {points: [[0.5, 0.5, 0.5]]}}\n");
    double before[6], after[6], tau[6], J;
    get(&f, "stress", before, 6);
    /* b = I + shear: only the xz component of the strain, the fifth of xx yy zz yz xz xy. */
    PLANE(&f.sim->particles, strain, 4)[0] = (real)0.25;
    get(&f, "stress", after, 6);
    assert_float_equal(before[5], 0, 1e-6);
    assert_true(fabs(after[5]) > 1); /* xz is the last in VTK's order */
    assert_float_equal(after[3], 0, 1e-6);
    assert_float_equal(after[4], 0, 1e-6);
    f.sim->type->stress(f.sim, 0, tau, NULL, &J);
    assert_float_equal(after[5], tau[4] / J, 1e-9 * fabs(tau[4]));
    close_scene(&f);
}

static void test_gradient_is_row_by_row(void **state) {
    (void)state;
    fixture f = open_scene(
        "spate: 1\nname: spin\ndimension: 3\ndomain: {size: [1, 1, 1], dx: 0.125}\nduration: 1\n"
        "solver: {type: mpm}\nmaterials:\n"
        "  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
        "bodies:\n  - {name: a, material: water, shape: {sphere: {center: [0.5, 0.5, 0.5], radius: "
        "0.2}},"
        " spin: [1, 2, 3]}\n");
    static double C[9 * 10000];
    const double want[9] = {0, -3, 2, 3, 0, -1, -2, 1, 0}; /* the cross product with (1, 2, 3) */
    assert_true(get(&f, "C", NULL, 9) < 10000);
    get(&f, "C", C, 9);
    for (int i = 0; i < 9; i++) assert_float_equal(C[9 * 7 + i], want[i], 1e-5);
    close_scene(&f);
}

static void test_removed_and_new_particles(void **state) {
    (void)state;
    fixture f = open_scene(points_scene);
    double x[18], id[6];
    for (int64_t i = 0; i < 5; i++)
        if (f.sim->particles.id[i] == 1) f.sim->particles.group[i] = GROUP_REMOVED;
    assert_int_equal(simulation_add(f.sim, 1, (double[3]){3.9, 0.1, 0}, (double[3]){0, 0, 0}, 1e-3),
                     SPATE_OK);
    assert_int_equal(get(&f, "id", id, 1), 5);
    get(&f, "P", x, 3);
    const double want[5] = {0, 2, 3, 4, 5};
    for (int i = 0; i < 5; i++) assert_float_equal(id[i], want[i], 0);
    assert_float_equal(x[3], 2.0, 1e-6);
    assert_float_equal(x[12], 3.9, 1e-6);
    assert_float_equal(x[13], 0.1, 1e-6);
    assert_int_equal(particle_living(f.sim), 5);
    close_scene(&f);
}

static void test_unknown_names(void **state) {
    (void)state;
    fixture f = open_scene(points_scene);
    int components;
    assert_int_equal(spate_simulation_attribute(f.sim, "densty", NULL, &components, NULL),
                     SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f.ctx), "did you mean 'density'"));
    assert_non_null(strstr(spate_message(f.ctx), "pscale"));
    /* The list that scenes are checked against names the attributes in their order. */
    for (int i = 0; i < ATTRIBUTE_COUNT; i++)
        assert_string_equal(attribute_names[i], attributes[i].name);
    close_scene(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_is_by_id),
        cmocka_unit_test(test_plain_values),
        cmocka_unit_test(test_stress_and_density),
        cmocka_unit_test(test_stress_order),
        cmocka_unit_test(test_gradient_is_row_by_row),
        cmocka_unit_test(test_removed_and_new_particles),
        cmocka_unit_test(test_unknown_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
