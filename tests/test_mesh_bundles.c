/*
 * Strands a fraction of a cell apart, of whose own motion the grid sees little, with long steps
 * (mesh_follow.h): a tuft that is bent straightens again, a free bundle goes where its momentum
 * takes it, and what bears a load does not sink into it.
 */
#include "physics.h"

#include "core/vec.h"

/* ---- A tuft ---------------------------------------------------------------------------------- */

/* 24 clamped bristles within a cell are bent aside by a plate that comes down on them by a third of
 * their length and goes; dt is 120 times the explicit limit. */
static play play_tuft(const char *solver, double side) {
    return play_open(
        1,
        "spate: 1\nunits: cgs\nduration: 10\nfps: 50\n"
        "domain: {origin: [%g, 0, -3], size: [6, 8, 6], dx: 0.125}\n"
        "solver: {integrator: asflip, alpha: 0.97, beta: [0.05, 0.2], dt: 2.0e-4%s}\n"
        "materials: {m: {model: neo_hookean, density: 1.3, bulk_modulus: 4.52e10, "
        "poisson: 0.39}}\n"
        "bodies: [{name: tuft, material: m, strands: {brush: {corner: [-0.1, 0.5, "
        "-0.1], along: [0.2, 0, 0], across: [0, 0, 0.2], direction: [0, 5, 0], count: "
        "24, tufts: 1, tuft_radius: 0.08, spread: 6}, spacing: 0.25, radius: 0.0075}, "
        "hold: [{of: roots}]}]\n"
        "colliders: [{name: box, contact: separate, shape: {box: {min: [-2, 5.7, -2], "
        "max: [2, 7.5, 2]}}, motion: {keys: [{t: 0}, {t: 0.06, translate: [0, -1.6, "
        "0]}, {t: 0.08, translate: [0, -1.6, 0]}, {t: 0.14, translate: [0, 0.5, 0]}]}}]\n"
        "probes: [{name: left, extent: {of: tuft, axis: x, side: min}}]\n",
        side, solver);
}

/* The largest energy of the strands on the way, or HUGE_VAL where the run ends early. */
static double bend_tuft(play *p, double until) {
    double most = 0;
    while (p->sim->time < until - 1e-9) {
        if (spate_simulation_step(p->sim, until)) return HUGE_VAL;
        most = fmax(most, play_quantity(p, "strand_energy"));
    }
    return most;
}

static void a_tuft_straightens(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_tuft("", -3);
    const double most = bend_tuft(&p, 0.08);
    bend_tuft(&p, 0.2);
    print_message("a tuft: %.0f erg at most, %.1f erg at the end\n", most,
                  play_quantity(&p, "strand_energy"));
    CHECK_BELOW(most, 1e4);
    CHECK_BELOW(play_quantity(&p, "strand_energy"), 20);
    play_close(&p);
    play control = play_tuft(", subgrid_forces: false", -3);
    CHECK_ABOVE(bend_tuft(&control, 0.08), 1e5);
    play_close(&control);
}

/* Beside a closed side of the domain bristles that spread stay inside of it. */
static void ways_end_at_sides(void **state) {
    (void)state;
    if (WATCHED) skip();
    const double side = -0.65, radius = 0.0177; /* of a particle, which the probe takes along */
    play p = play_tuft("", side);
    double left = HUGE_VAL;
    while (p.sim->time < 0.08 - 1e-9) {
        assert_int_equal(spate_simulation_step(p.sim, 0.08), SPATE_OK);
        left = fmin(left, play_quantity(&p, "left"));
    }
    CHECK_BELOW(left, side); /* they reach it */
    CHECK_ABOVE(left, side - radius);
    play_close(&p);
}

/* ---- A free bundle --------------------------------------------------------------------------- */

/* 20 strands within a cell, stretched and turned by what they begin with. With one beta for all, and
 * the ways of a strand adding up to nothing, the middle moves by momentum / mass. */
static void a_bundle_goes_where_its_momentum_does(void **state) {
    (void)state;
    play p =
        play_open(1, "spate: 1\ngravity: [0, 0, 0]\nduration: 100\nfps: 1\n"
                     "domain: {size: [3, 2, 2], dx: 0.1}\n"
                     "solver: {integrator: asflip, beta: [0.2, 0.2], dt: 1.0e-3}\n"
                     "materials: {m: {model: neo_hookean, density: 1000, young_modulus: 1e8}}\n"
                     "bodies: [{name: bundle, material: m, velocity: [0.3, 0.1, 0], spin: [1, "
                     "3, 2], flow: [{strain: [2, -1, -1]}], strands: {root: [1, 1, 1], "
                     "direction: [0.8, 0, 0], row: [0, 0.1, 0], count: 20, radius: 0.01}}]\n"
                     "probes: [{name: middle, center_of_mass: {of: bundle}}]\n");
    static const char *const names[2][3] = {{"middle_x", "middle_y", "middle_z"},
                                            {"momentum_x", "momentum_y", "momentum_z"}};
    const double mass = play_quantity(&p, "mass");
    double x[3], way[3], ahead = 0;
    for (int a = 0; a < 3; a++) x[a] = play_quantity(&p, names[0][a]), way[a] = 0;
    for (int n = 0; n < 200; n++) {
        play_steps(&p, 1);
        for (int a = 0; a < 3; a++) way[a] += p.sim->dt / mass * play_quantity(&p, names[1][a]);
        ahead = fmax(ahead, play_quantity(&p, "strand_energy"));
    }
    CHECK_ABOVE(ahead, 0.01 * play_quantity(&p, "kinetic_energy")); /* there are forces */
    for (int a = 0; a < 3; a++)
        CHECK_BELOW(fabs(play_quantity(&p, names[0][a]) - x[a] - way[a]), IN_DOUBLE ? 1e-9 : 1e-6);
    play_close(&p);
}

/* ---- A load ---------------------------------------------------------------------------------- */

/* A strand that is held at its ends bears an elastic block, though the block's weight keeps its
 * vertices from going where its forces push them: it does not follow them through the block. When
 * forces that last were followed too the block lay below the strand after 1.2 s. */
static void a_load_is_borne(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ndomain: {size: [1.2, 1.2], dx: 0.05}\n"
        "solver: {integrator: asflip}\nmaterials:\n"
        "  m: {model: neo_hookean, density: 1000, young_modulus: 1.0e7}\n"
        "  b: {model: neo_hookean, density: 1000, young_modulus: 1.0e5}\nbodies:\n"
        "  - {material: m, strands: {root: [0.2, 0.5], direction: [0.8, 0], radius: 0.03, spacing: "
        "0.025}, hold: [{of: ends}]}\n"
        "  - {name: b, material: b, sampling: regular, shape: {box: {min: [0.45, 0.54], max: "
        "[0.75, 0.7]}}}\n"
        "probes: [{name: block, center_of_mass: {of: b}}]\n");
    play_until(&p, 3);
    CHECK_ABOVE(play_quantity(&p, "block_y"), 0.45); /* apic: 0.52 */
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tuft_straightens),
        cmocka_unit_test(ways_end_at_sides),
        cmocka_unit_test(a_bundle_goes_where_its_momentum_does),
        cmocka_unit_test(a_load_is_borne),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
