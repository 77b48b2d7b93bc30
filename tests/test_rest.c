/* Bodies that begin at rest: they neither fall nor ring, whatever they are of and wherever gravity
 * points, while the same bodies without it do (negative control). */
#include "physics.h"

#include "core/vec.h"

typedef struct standing {
    const char *solver, *material, *units, *gravity, *walls, *bodies;
    double until; /* about the first period of its ringing */
} standing;

static play open_standing(const standing *s, int dim, bool at_rest) {
    char bodies[512];
    snprintf(bodies, sizeof bodies, s->bodies, at_rest ? "true" : "false",
             at_rest ? "true" : "false");
    return play_open(
        1,
        "spate: 1\ndimension: %d\nunits: %s\ndomain: {size: %s, dx: %s, walls: {%s}}\n"
        "gravity: %s\nsolver: {type: %s}\nmaterials: {m: {%s}, heavy: {model: liquid, density: "
        "2000, bulk_modulus: 1e6}}\nbodies: [%s]\n",
        dim, s->units,
        dim == 3                  ? "[0.5, 1, 0.5]"
        : strcmp(s->units, "cgs") ? "[1, 1]"
                                  : "[100, 100]",
        strcmp(s->units, "cgs") ? "0.0625" : "6.25", s->walls, s->gravity, s->solver, s->material,
        bodies);
}

/* Largest kinetic energy, and the momentum after the first step over the weight's impulse. */
static double most_energy(const standing *s, int dim, bool at_rest, double *fall) {
    play p = open_standing(s, dim, at_rest);
    double most = 0;
    for (int n = 0; p.sim->time < s->until; n++) {
        play_steps(&p, 1);
        most = fmax(most, play_quantity(&p, "kinetic_energy"));
        if (n) continue;
        const double momentum[3] = {play_quantity(&p, "momentum_x"),
                                    play_quantity(&p, "momentum_y"),
                                    play_quantity(&p, "momentum_z")};
        *fall = vec_length(momentum) /
                (play_quantity(&p, "mass") * vec_length(p.scene->gravity) * p.sim->dt);
    }
    play_close(&p);
    return most;
}

static void check(const standing *s, int dim, double share, double falls) {
    double fall, unheld;
    const double still = most_energy(s, dim, true, &fall),
                 ringing = most_energy(s, dim, false, &unheld);
    CHECK_BELOW(still / ringing, share);
    CHECK_BELOW(fall, falls); /* the floor holds the weight from the first step on */
    CHECK_ABOVE(unheld, 0.15);
}

#define LIQUID "model: liquid, density: 1000, bulk_modulus: 1e6"
#define POOL \
    "{material: m, sampling: regular, at_rest: %s, shape: {box: {min: [0, 0], max: [1, 0.75]}}}"
#define DOWN "[0, -10]"

static void test_materials(void **state) {
    (void)state;
    static const standing cases[] = {
        {"mpm", LIQUID, "si", DOWN, "", POOL, 0.1},
        {"mpm, integrator: asflip", LIQUID, "si", DOWN, "", POOL, 0.1},
        {"mpm", "model: neo_hookean, density: 1000, young_modulus: 1e6", "si", DOWN, "", POOL, 0.1},
        {"mpm", "model: snow, density: 400, young_modulus: 1e6", "si", DOWN, "", POOL, 0.1},
        /* poisson 0.2 alone would yield: K0 0.25, less than the cone's 1/3 */
        {"mpm", "model: sand, density: 1600, young_modulus: 1e7, poisson: 0.2", "si", DOWN, "",
         POOL, 0.05},
        /* free at its sides */
        {"mpm", "model: fixed_corotated, density: 1000, young_modulus: 1e6", "si", DOWN, "",
         "{material: m, sampling: regular, at_rest: %s, shape: {box: {min: [0.25, 0], max: [0.5, "
         "0.75]}}}",
         0.1},
    };
    for (int k = 0; k < COUNT_OF(cases); k++) check(&cases[k], 2, 1e-4, 0.01);
}

/* Without a lattice too it stays, but for what its particles' uneven weights stir. */
static void test_irregular_points(void **state) {
    (void)state;
    static const char tank[] =
        "{material: m, at_rest: %s, shape: {box: {min: [0, 0], max: [1, 0.75]}}}";
    static const standing cases[] = {
        {"mpm", LIQUID, "si", DOWN, "", tank, 0.1},
        {"mpm", "model: snow, density: 400, young_modulus: 1e6", "si", DOWN, "", tank, 0.1},
        {"mpm", "model: sand, density: 1600, young_modulus: 1e7, poisson: 0.2", "si", DOWN, "",
         tank, 0.05},
    };
    for (int k = 0; k < COUNT_OF(cases); k++) check(&cases[k], 2, 0.02, 0.05);
}

static void test_directions_sides_units(void **state) {
    (void)state;
    static const standing cases[] = {
        {"mpm", LIQUID, "si", "[10, 0]", "",
         "{material: m, sampling: regular, at_rest: %s, shape: {box: {min: [0.25, 0], max: [1, "
         "1]}}}",
         0.1},
        {"mpm", LIQUID, "si", "[0, 10]", "x_min: periodic, x_max: periodic",
         "{material: m, sampling: regular, at_rest: %s, shape: {box: {min: [0, 0.25], max: [1, "
         "1]}}}",
         0.1},
        {"mpm", "model: liquid, density: 1, bulk_modulus: 1e7", "cgs", "[0, -1000]", "",
         "{material: m, sampling: regular, at_rest: %s, shape: {box: {min: [0, 0], max: [100, "
         "75]}}}",
         0.1},
        /* a lighter layer on a heavier one */
        {"mpm", LIQUID, "si", DOWN, "",
         "{material: heavy, sampling: regular, at_rest: %s, shape: {box: {min: [0, 0], max: [1, "
         "0.5]}}}, {material: m, sampling: regular, at_rest: %s, "
         "shape: {box: {min: [0, 0.5], max: [1, 0.875]}}}",
         0.1},
    };
    for (int k = 0; k < COUNT_OF(cases); k++) check(&cases[k], 2, 1e-4, 0.01);
    const standing deep = {"mpm",
                           LIQUID,
                           "si",
                           "[0, -10, 0]",
                           "",
                           "{material: m, sampling: regular, at_rest: %s, shape: {box: {min: [0, "
                           "0, 0], max: [0.5, 0.75, 0.5]}}}",
                           0.05};
    check(&deep, 3, 1e-4, 0.01);
}

/* The methods of sph know the pressure of a lattice only so well: a few per cent. */
static void test_sph(void **state) {
    (void)state;
    static const standing weak = {"sph, pressure: wcsph", LIQUID, "si", DOWN, "", POOL, 0.09};
    static const standing tait = {
        "sph, pressure: wcsph, equation: tait", LIQUID, "si", DOWN, "", POOL, 0.09};
    check(&weak, 2, 0.08, 0.3);
    check(&tait, 2, 0.08, 0.3);
    static const standing implicit = {"sph, pressure: dfsph", LIQUID, "si", DOWN, "", POOL, 0.03};
    check(&implicit, 2, 0.3, 0.3);
}

/* Where there is nothing to do nothing is done: no gravity, and solvers that begin at rest
 * anyway. */
static void test_no_effect(void **state) {
    (void)state;
    static const standing cases[] = {{"mpm", LIQUID, "si", "[0, 0]", "", POOL, 0},
                                     {"sph, pressure: wcsph", LIQUID, "si", "[0, 0]", "", POOL, 0},
                                     {"flip", LIQUID, "si", DOWN, "", POOL, 0}};
    for (int k = 0; k < COUNT_OF(cases); k++) {
        play one = open_standing(&cases[k], 2, true), other = open_standing(&cases[k], 2, false);
        play_steps(&one, 2), play_steps(&other, 2);
        assert_true(spate_simulation_hash(one.sim) == spate_simulation_hash(other.sim));
        play_close(&one), play_close(&other);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_materials),
        cmocka_unit_test(test_irregular_points),
        cmocka_unit_test(test_directions_sides_units),
        cmocka_unit_test(test_sph),
        cmocka_unit_test(test_no_effect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
