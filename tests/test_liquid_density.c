/*
 * A liquid keeps its volume in space (mpm/liquid_density.c), whatever it went through.
 *   a jet poured into a box: the pool stands as high as its volume says, to 3 %
 *   jets and dam breaks on few cells that slosh on: density amid the pool within 8 % of that at rest
 *   two drops that collide: momentum, and nothing is drawn together
 *   a pool at rest stays as it is
 */
#include "physics.h"

/* Volume at rest of the particles in a box, over the box. */
static double density_in(const play *p, const double low[3], const double high[3]) {
    const int dim = p->scene->dim;
    double sum = 0, room = 1;
    for (int a = 0; a < dim; a++) room *= high[a] - low[a];
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        bool inside = true;
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < dim; a++) inside &= x[a] > low[a] && x[a] < high[a];
        if (inside) sum += (double)p->sim->particles.mass[i] / 1000;
    }
    return sum / room;
}

/* The mean of it over 0.5 s: pools are still sloshing. */
static double mean_density(play *p, const double low[3], const double high[3]) {
    enum { TIMES = 10 };
    double sum = 0;
    for (int n = 0; n < TIMES; n++) {
        play_until(p, p->sim->time + 0.05);
        sum += density_in(p, low, high) / TIMES;
    }
    return sum;
}

/* The height of a pool of density 1000 over the width w, from its centre of mass. */
static double height_of(play *p, double w) {
    return 2 * play_quantity(p, "c_y") * w / (play_quantity(p, "mass") / 1000);
}

/* What a jet has filled a box with. */
static play pour(const char *integrator, bool corrected) {
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\nsolver: {integrator: %s}\n"
        "domain: {size: [0.5, 0.75], dx: 0.03125}\n"
        "materials: {w: {model: liquid, bulk_modulus: 4.0e4, volume_correction: %s}}\n"
        "sources: [{material: w, velocity: [0.5, -1], until: 1.3, shape: {box: {min: [0.09375, "
        "0.59375], max: [0.21875, 0.65625]}}}]\nprobes: [{name: c, center_of_mass: {}}]\n",
        integrator, corrected ? "true" : "false");
    play_until(&p, 2.5);
    return p;
}

/* pic comes to rest at once. */
static void poured_liquid_does_not_swell(void **state) {
    (void)state;
    double height[2], told = 0;
    for (int k = 0; k < 2; k++) {
        play p = pour("pic", k);
        height[k] = height_of(&p, 0.5);
        told = play_quantity(&p, "volume") / (play_quantity(&p, "mass") / 1000);
        play_close(&p);
    }
    print_message("poured: height %.3f, column volume %.3f; without the correction %.3f\n",
                  height[1], told, height[0]);
    CHECK_BELOW(fabs(height[1] - 1), 0.03);
    CHECK_BELOW(fabs(height[1] - told), 0.04); /* the column tells the truth */
    CHECK_ABOVE(height[0], 1.2);               /* negative control */
}

/* The others slosh on. */
static void every_integrator_keeps_the_density(void **state) {
    (void)state;
    static const char *const integrators[] = {"apic", "sflip"};
    const double low[3] = {0.0625, 0.03125}, high[3] = {0.4375, 0.125};
    for (int k = 0; k < COUNT_OF(integrators); k++) {
        play p = pour(integrators[k], true);
        double density = mean_density(&p, low, high);
        print_message("poured, %s: density %.3f\n", integrators[k], density);
        CHECK_BELOW(fabs(density - 1), 0.08);
        play_close(&p);
    }
}

static double dam_density(int dim, const char *integrator, bool corrected) {
    const double low[3] = {0.125, 0.03125, 0.03125}, high[3] = {0.875, 0.125, 0.09375};
    const char *const sizes[] = {"[1, 0.75]", "[1, 0.75, 0.125]"};
    const char *const corners[][2] = {{"[0, 0]", "[0.375, 0.5]"},
                                      {"[0, 0, 0]", "[0.375, 0.5, 0.125]"}};
    play p = play_open(2,
                       "spate: 1\ndimension: %d\nduration: 10\nfps: 1\nsolver: {integrator: %s}\n"
                       "domain: {size: %s, dx: 0.03125}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 4.0e4, volume_correction: "
                       "%s}}\nbodies: [{material: w, shape: {box: {min: %s, max: %s}}}]\n",
                       dim, integrator, sizes[dim - 2], corrected ? "true" : "false",
                       corners[dim - 2][0], corners[dim - 2][1]);
    play_until(&p, dim == 2 ? 2.5 : 1.2);
    double density = mean_density(&p, low, high);
    print_message("dam break, %dD, %s%s: density %.3f\n", dim, integrator,
                  corrected ? "" : ", without the correction", density);
    play_close(&p);
    return density;
}

static void dam_break_settles_at_its_density(void **state) {
    (void)state;
    CHECK_BELOW(fabs(dam_density(2, "asflip", true) - 1), 0.08);
    CHECK_BELOW(fabs(dam_density(3, "aflip", true) - 1), 0.08);
    CHECK_BELOW(fabs(dam_density(2, "polypic", true) - 1), 0.08);
    CHECK_BELOW(dam_density(2, "polypic", false), 0.85); /* negative control */
}

/* Two drops meet in free space: what they give each other is equal and opposite. */
static void drops_keep_their_momentum(void **state) {
    (void)state;
    play p = play_open(
        2, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
           "domain: {size: [4, 4], dx: 0.03125, walls: open}\n"
           "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
           "bodies: [{material: w, velocity: [1, 0], shape: {sphere: {center: [1.7, 2], radius: "
           "0.2}}}, {material: w, velocity: [-0.5, 0.1], shape: {sphere: {center: [2.2, 2.1], "
           "radius: 0.2}}}]\n");
    const char *const names[] = {"momentum_x", "momentum_y"};
    double before[2], spread[2] = {0};
    for (int a = 0; a < 2; a++) before[a] = play_quantity(&p, names[a]);
    play_until(&p, 0.6);
    for (int a = 0; a < 2; a++)
        CHECK_BELOW(fabs(play_quantity(&p, names[a]) - before[a]), 1e-5 * fabs(before[0]) + 1e-4);
    /* They spread: nothing holds them together, nor throws them out faster than they came. */
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        for (int a = 0; a < 2; a++) spread[a] = fmax(spread[a], fabs(x[a] - 2));
    }
    print_message("drops: within %.2f and %.2f m of the middle\n", spread[0], spread[1]);
    CHECK_ABOVE(spread[1], 0.5);
    CHECK_BELOW(fmax(spread[0], spread[1]), 1.8);
    play_close(&p);
}

/* On a lattice nothing is beyond the tolerance, at walls and at the surface neither: no J
 * changes. */
static void rest_is_left_alone(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = play_open(
            2,
            "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ndomain: {size: %s, dx: 0.03125}\n"
            "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
            "bodies: [{material: w, at_rest: true, sampling: regular, shape: {box: {min: %s, max: "
            "%s}}}]\n",
            dim, dim == 2 ? "[0.5, 0.5]" : "[0.25, 0.5, 0.25]", dim == 2 ? "[0, 0]" : "[0, 0, 0]",
            dim == 2 ? "[0.5, 0.25]" : "[0.25, 0.25, 0.25]");
        const double weight = play_quantity(&p, "mass") * 9.81 * 0.25;
        play_steps(&p, 400);
        double moved = play_quantity(&p, "kinetic_energy") / weight;
        print_message("still, %dD: kinetic energy over m g H %.2g\n", dim, moved);
        CHECK_BELOW(moved, 1e-7);
        play_close(&p);
    }
}

/* The same for any number of threads. */
static void threads_do_not_matter(void **state) {
    (void)state;
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        play p = play_open(
            1 + 2 * k,
            "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ndomain: {size: [1, 0.5], dx: 0.03125}\n"
            "materials: {w: {model: liquid, bulk_modulus: 4.0e4}, s: {model: sand, young_modulus: "
            "1.0e5}}\n"
            "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.25, 0.5]}}}, {material: s, "
            "shape: {box: {min: [0.75, 0], max: [1, 0.125]}}}]\n");
        play_steps(&p, 600);
        hash[k] = spate_simulation_hash(p.sim);
        play_close(&p);
    }
    assert_true(hash[0] == hash[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poured_liquid_does_not_swell),
        cmocka_unit_test(every_integrator_keeps_the_density),
        cmocka_unit_test(dam_break_settles_at_its_density),
        cmocka_unit_test(drops_keep_their_momentum),
        cmocka_unit_test(rest_is_left_alone),
        cmocka_unit_test(threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
