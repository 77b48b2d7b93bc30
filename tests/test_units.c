/* Units of columns: by name, by probe, in SI and cgs, in 3D and 2D. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/units.h"
#include "solver/solver.h"

static void columns_have_their_units(void **state) {
    (void)state;
    static const char *const expected[][5] = {
        {"kinetic_energy", "J", "J/m", "erg", "erg/cm"},
        {"total_energy", "J", "J/m", "erg", "erg/cm"},
        {"mass", "kg", "kg/m", "g", "g/cm"},
        {"momentum_y", "kg m/s", "kg/s", "g cm/s", "g/s"},
        {"max_speed", "m/s", "m/s", "cm/s", "cm/s"},
        {"dt", "s", "s", "s", "s"},
        {"volume", "m^3", "m^2", "cm^3", "cm^2"},
        {"post_force_x", "N", "N/m", "dyn", "dyn/cm"},
        {"post_torque", "N m", "N", "dyn cm", "dyn"},
        {"iterations", "", "", "", ""},
        {"volume_drift", "", "", "", ""},
        {"front", "m", "m", "cm", "cm"},
        {"ball_y", "m", "m", "cm", "cm"},
        {"p1", "Pa", "Pa", "Ba", "Ba"},
        {"mass_x", "m/s", "m/s", "cm/s", "cm/s"}, /* a probe of that name */
    };
    probe probes[] = {{.name = "front", .kind = PROBE_EXTENT},
                      {.name = "ball", .kind = PROBE_CENTER_OF_MASS},
                      {.name = "p1", .kind = PROBE_PRESSURE},
                      {.name = "mass_x", .kind = PROBE_MEAN_SPEED}};
    for (int k = 0; k < 4; k++) {
        const spate_scene s = {.dim = k % 2 ? 2 : 3,
                               .units = k / 2 ? UNITS_CGS : UNITS_SI,
                               .probes = probes,
                               .probe_count = COUNT_OF(probes)};
        for (int i = 0; i < COUNT_OF(expected); i++)
            assert_string_equal(units_of_column(&s, expected[i][0]), expected[i][k + 1]);
    }
    const spate_scene s = {.dim = 3};
    char label[32];
    units_label(&s, "mass", label, sizeof label);
    assert_string_equal(label, "mass [kg]");
    units_label(&s, "steps", label, sizeof label);
    assert_string_equal(label, "steps");
}

/* Plots name the units that the solvers declare. */
static void columns_of_solvers_have_the_units_they_declare(void **state) {
    (void)state;
    const spate_scene s = {.dim = 3};
    int count = 0;
    for (int k = 0; k < solver_type_count; k++)
        for (const solver_column *c = solver_types[k]->columns; c && c->name; c++, count++)
            assert_string_equal(units_of_column(&s, c->name), c->unit);
    assert_true(count > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_have_their_units),
        cmocka_unit_test(columns_of_solvers_have_the_units_they_declare)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
