/*
 * Meters of phases that meet: healthy on two layers of a lattice, and each shows the fault that it
 * is for when the test makes it.
 */
#include "physics.h"

#include "measure/phase_meters.h"

static play two_layers(int dim, const char *coupling, const char *model) {
    const char *z = dim == 2 ? "" : ", 0.4", *zero = dim == 2 ? "" : ", 0";
    return play_open(
        1,
        "spate: 1\ndimension: %d\nduration: 1\nfps: 1\ngravity: [0, 0%s]\n"
        "domain: {size: [0.6, 1%s], dx: 0.05}\nsolver: {type: mpm}\n"
        "materials: {lower: {model: liquid, density: 1000}, upper: {%s}}\n%s\n"
        "bodies: [{material: lower, sampling: regular, shape: {box: {min: [0, 0%s], "
        "max: [0.6, 0.4%s]}}}, {material: upper, sampling: regular, shape: {box: {min: "
        "[0, 0.4%s], max: [0.6, 0.8%s]}}}]\n",
        dim, zero, z, model, coupling, zero, z, zero, z);
}

static const char *const LIQUID = "model: liquid, density: 500";

static void measure(const play *p, double out[METER_COUNT]) {
    assert_int_equal(phase_meters_measure(p->sim, out), SPATE_OK);
}

static void still_layers_are_healthy(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        double v[METER_COUNT], limit;
        play p = two_layers(dim, "coupling: immiscible", LIQUID);
        measure(&p, v);
        print_message("%dD: gap %.3g, penetration %.3g, pairs %.3g, gain %.3g\n", dim, v[0], v[1],
                      v[2], v[3]);
        CHECK_BELOW(fabs(v[METER_interface_gap]), 1e-4);
        assert_true(v[METER_interface_penetration] == 0 && v[METER_close_pairs] == 0);
        CHECK_BELOW(fabs(v[METER_volume_gain]), 0.02);
        assert_true(isnan(v[METER_fraction_scatter]));
        assert_int_equal(phase_meters_worst(v, &limit), -1);
        play_close(&p);
    }
}

/* The upper layer is lifted by a spacing. */
static void gap_shows(void **state) {
    (void)state;
    double v[METER_COUNT], limit;
    play p = two_layers(2, "coupling: immiscible", LIQUID);
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        if (p.sim->particles.group[i] == 1) PLANE(&p.sim->particles, position, 1)[i] += (real)0.5;
    measure(&p, v);
    CHECK_BELOW(fabs(v[METER_interface_gap] - 1), 1e-3);
    assert_int_equal(phase_meters_worst(v, &limit), METER_interface_gap);
    play_close(&p);
}

/* Every 40th particle changes its phase. */
static void penetration_shows(void **state) {
    (void)state;
    double v[METER_COUNT], limit;
    play p = two_layers(2, "coupling: immiscible", LIQUID);
    for (int64_t i = 0; i < p.sim->particles.count; i += 40) p.sim->particles.group[i] ^= 1;
    measure(&p, v);
    print_message("penetration %.4f\n", v[METER_interface_penetration]);
    CHECK_ABOVE(v[METER_interface_penetration], 0.02);
    assert_int_equal(phase_meters_worst(v, &limit), METER_interface_penetration);
    play_close(&p);
}

/* The particles have a tenth less mass than their places stand for; and some lie on each other. */
static void volume_and_pairs_show(void **state) {
    (void)state;
    double v[METER_COUNT], limit;
    play p = two_layers(2, "coupling: immiscible", LIQUID);
    particles *q = &p.sim->particles;
    for (int64_t i = 0; i < q->count; i++) q->mass[i] *= (real)0.9;
    measure(&p, v);
    CHECK_BELOW(fabs(v[METER_volume_gain] - 1 / 0.9 + 1), 0.03);
    assert_int_equal(phase_meters_worst(v, &limit), METER_volume_gain);
    for (int64_t i = 0; i + 1 < q->count; i += 2)
        for (int a = 0; a < 2; a++) PLANE(q, position, a)[i] = PLANE(q, position, a)[i + 1];
    measure(&p, v);
    CHECK_ABOVE(v[METER_close_pairs], 0.1);
    play_close(&p);
}

/* Fractions that differ from particle to particle; and a solid with a cell of it missing. */
static void scatter_and_tears_show(void **state) {
    (void)state;
    double v[METER_COUNT];
    play p = two_layers(2, "coupling: [{type: miscible, diffusion: 1.0e-3}]", LIQUID);
    particles *q = &p.sim->particles;
    for (int64_t i = 0; i < q->count; i++)
        q->concentration[i][0] = (real)(0.5 + 0.2 * (q->id[i] % 2 ? 1 : -1)),
        q->concentration[i][1] = 1 - q->concentration[i][0];
    measure(&p, v);
    print_message("scatter %.3f\n", v[METER_fraction_scatter]);
    CHECK_ABOVE(v[METER_fraction_scatter], 0.1);
    assert_true(isnan(v[METER_interface_gap])); /* one velocity: nothing foreign */
    play_close(&p);
    p = two_layers(2, "coupling: contact",
                   "model: neo_hookean, density: 500, young_modulus: 1.0e5");
    measure(&p, v);
    assert_true(v[METER_empty_cells] == 0);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        if (x[0] > 0.25 && x[0] < 0.3 && x[1] > 0.6 && x[1] < 0.65)
            p.sim->particles.group[i] = GROUP_REMOVED;
    }
    measure(&p, v);
    assert_true(v[METER_empty_cells] == 2); /* along x and along y */
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(still_layers_are_healthy), cmocka_unit_test(gap_shows),
        cmocka_unit_test(penetration_shows),        cmocka_unit_test(volume_and_pairs_show),
        cmocka_unit_test(scatter_and_tears_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
