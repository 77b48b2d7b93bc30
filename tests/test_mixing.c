/*
 * Liquids that mix and solids that dissolve (src/solver/mpm/mixing.h).
 *   diffusion  a step spreads as erfc, particles and cells alike; the mass of each species stays.
 *              Without the filter particles of a cell differ for ever; with a blend it spreads too far
 *   densities  of 2 : 1 that mix keep the volume of both together
 *   cell       well mixed: C_n = C_s (1 - (1 - f kappa dt)^n), f the solid's share of the mass
 *   slab       dissolves: its mass stays in all particles together, its energy is booked
 *   runs       threads, stops and the order of bodies do not show
 */
#include "physics.h"

#include "solver/mpm/mixing.h"

static mpm_mixing *mixing_of(const play *p) { return ((mpm *)p->sim->solver)->mixing; }

/* The mass of species k in all particles. */
static double species_mass(const play *p, int k) {
    const particles *q = &p->sim->particles;
    double sum = 0;
    for (int64_t i = 0; i < q->count; i++)
        if (q->group[i] != GROUP_REMOVED)
            sum += (double)q->mass[i] * (double)q->concentration[i][k];
    return sum;
}

/* ---- Diffusion ------------------------------------------------------------------------------- */

typedef struct spread_result {
    double particle, cell; /* worst error of a fraction */
    double diffusion;      /* as measured, over that asked for */
    double mass;           /* change of a species, over its mass */
} spread_result;

/* Two halves of a channel 1 m long that drifts along y through its periodic sides, after kt =
 * 0.01. */
static spread_result spread(int dim, bool filters, double blend) {
    enum { CELLS = 64, ACROSS = 4 };
    const double k = 0.01, until = 1;
    const char *zero = dim == 2 ? "" : ", 0", *z = dim == 2 ? "" : ", 0.0625";
    play p = play_open(
        2,
        "spate: 1\ndimension: %d\nduration: 9\nfps: 1\ngravity: [0, 0%s]\n"
        "domain: {size: [1, 0.0625%s], dx: %.17g, walls: {y_min: periodic, y_max: periodic}}\n"
        "solver: {type: mpm}\n"
        "materials: {red: {model: liquid, density: 1000, bulk_modulus: 1000}, green: {model: "
        "liquid, density: 1000, bulk_modulus: 1000}}\n"
        "coupling: [{between: [red, green], type: miscible, diffusion: %g}]\n"
        "bodies: [{material: red, velocity: [0, 0.1%s], shape: {box: {min: [0, 0%s], max: [0.5, "
        "0.0625%s]}}}, {material: green, velocity: [0, 0.1%s], shape: {box: {min: [0.5, 0%s], max: "
        "[1, 0.0625%s]}}}]\n",
        dim, zero, z, 1.0 / CELLS, k, zero, zero, z, zero, zero, z);
    mixing_of(&p)->filters = filters;
    mixing_of(&p)->blend = (real)blend;
    spread_result r = {0};
    const double before = species_mass(&p, 0);
    play_until(&p, until);
    double sums[CELLS] = {0}, beyond = 0;
    int counts[CELLS] = {0};
    const particles *q = &p.sim->particles;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        /* Species are green and red, by the alphabet. */
        const double exact = 0.5 * erfc((x[0] - 0.5) / (2 * sqrt(k * until)));
        const double error = (double)q->concentration[i][1] - exact;
        r.particle = fmax(r.particle, fabs(error));
        sums[(int)(x[0] * CELLS)] += error;
        counts[(int)(x[0] * CELLS)]++;
        if (x[0] > 0.5) beyond += (double)q->mass[i] * (double)q->concentration[i][1];
    }
    for (int c = 0; c < CELLS; c++) r.cell = fmax(r.cell, fabs(sums[c] / counts[c]));
    const double length = beyond / (2 * before); /* of red that has gone over: sqrt(k t / pi) */
    r.diffusion = M_PI * length * length / (k * until);
    r.mass = fabs(species_mass(&p, 0) / before - 1);
    play_close(&p);
    return r;
}

static void step_spreads_as_erfc(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        const spread_result r = spread(dim, true, 0);
        print_message("%dD: particles %.4f, cells %.4f, diffusion %.3f, mass %.2g\n", dim,
                      r.particle, r.cell, r.diffusion, r.mass);
        CHECK_BELOW(r.particle, 0.01);
        CHECK_BELOW(r.cell, 0.01);
        CHECK_BELOW(fabs(r.diffusion - 1), 0.04);
        CHECK_BELOW(r.mass, IN_DOUBLE ? 1e-12 : 1e-5);
    }
    if (WATCHED) return;
    /* negative controls */
    const spread_result bare = spread(2, false, 0), blended = spread(2, false, 0.5);
    print_message("no filter: particles %.3f; blend: diffusion %.2f\n", bare.particle,
                  blended.diffusion);
    CHECK_ABOVE(bare.particle, 0.1);
    CHECK_ABOVE(blended.diffusion, 1.3);
}

/* A tank of light over heavy liquid that mixes, and the volume of both. */
static void mixture_keeps_its_volume(void **state) {
    (void)state;
    play p = play_open(
        2, "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ndomain: {size: [0.5, 1], dx: 0.03125}\n"
           "solver: {type: mpm}\n"
           "materials: {heavy: {model: liquid, density: 2000, bulk_modulus: 4.0e5}, light: {model: "
           "liquid, density: 1000, bulk_modulus: 4.0e5}}\n"
           "coupling: [{between: [heavy, light], type: miscible, diffusion: 0.02}]\n"
           "bodies: [{material: heavy, at_rest: true, shape: {box: {min: [0, 0], max: [0.5, "
           "0.4]}}}, {material: light, at_rest: true, shape: {box: {min: [0, 0.4], max: [0.5, "
           "0.8]}}}]\n"
           "probes: [{name: top, extent: {axis: y, side: max}}]\n");
    const double volume = play_quantity(&p, "volume"), top = play_quantity(&p, "top");
    const double mass[2] = {species_mass(&p, 0), species_mass(&p, 1)};
    play_until(&p, WATCHED ? 0.02 : 0.5);
    double least = 1, most = 0, off = 0;
    const particles *q = &p.sim->particles;
    for (int64_t i = 0; i < q->count; i++) {
        least = fmin(least, (double)q->concentration[i][0]);
        most = fmax(most, (double)q->concentration[i][0]);
        off = fmax(off, fabs((double)q->concentration[i][0] + (double)q->concentration[i][1] - 1));
    }
    print_message("volume %.5f, top %.4f to %.4f, fractions %.4f to %.4f, sums off by %.2g\n",
                  play_quantity(&p, "volume") / volume, top, play_quantity(&p, "top"), least, most,
                  off);
    CHECK_BELOW(fabs(play_quantity(&p, "volume") / volume - 1), 0.01);
    CHECK_BELOW(fabs(play_quantity(&p, "top") - top), 0.02);
    for (int k = 0; k < 2; k++)
        CHECK_BELOW(fabs(species_mass(&p, k) / mass[k] - 1), IN_DOUBLE ? 1e-12 : 1e-5);
    CHECK_ABOVE(least, -0.01); /* the filter overshoots a little while the step is sharp */
    CHECK_BELOW(most, 1.01);
    CHECK_BELOW(off, IN_DOUBLE ? 1e-12 : 1e-4);
    play_close(&p);
}

/* ---- Dissolution ----------------------------------------------------------------------------- */

/* Solid and liquid particle by particle, as the squares of a chess board: every node then has the
 * same share of both. */
static play chess_board(double kappa, double saturation) {
    play p = play_open(
        1,
        "spate: 1\ndimension: 2\nduration: 9\nfps: 1\ngravity: [0, 0]\n"
        "domain: {size: [0.5, 0.5], dx: 0.03125, walls: periodic}\n"
        "solver: {type: mpm, dt: 1.0e-3}\n"
        "materials: {sugar: {model: neo_hookean, density: 1500, young_modulus: 1000}, water: "
        "{model: liquid, density: 1000, bulk_modulus: 1000}}\n"
        "coupling: [{between: [sugar, water], type: dissolves, dissolution: %g, saturation: %g}]\n"
        "bodies: [{material: sugar, sampling: regular, shape: {box: {min: [0, 0], max: [0.25, "
        "0.5]}}}, {material: water, sampling: regular, shape: {box: {min: [0.25, 0], max: [0.5, "
        "0.5]}}}]\n",
        kappa, saturation);
    particles *q = &p.sim->particles;
    const double volume = 0.25 / (double)q->count;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3];
        simulation_position(p.sim, block, i, x);
        const bool sugar = ((int)(x[0] * 64) + (int)(x[1] * 64)) % 2;
        q->group[i] = sugar ? 0 : 1;
        q->mass[i] = (real)(volume * (sugar ? 1500 : 1000));
        q->concentration[i][0] = !sugar, q->concentration[i][1] = sugar; /* liquids come first */
    }
    mixing_of(&p)->limit = 0; /* in every step */
    return p;
}

static void cell_follows_noyes_and_whitney(void **state) {
    (void)state;
    const double kappa = 3, saturation = 0.5, f = 0.6, dt = 1e-3;
    enum { STEPS = 100 };
    play p = chess_board(kappa, saturation);
    const double before = species_mass(&p, 1);
    play_steps(&p, STEPS);
    const double exact = saturation * (1 - pow(1 - f * kappa * dt, STEPS)),
                 wrong = saturation * (1 - pow(1 - kappa * dt, STEPS));
    double worst = 0, solid = 0;
    const particles *q = &p.sim->particles;
    for (int64_t i = 0; i < q->count; i++) {
        const double C = (double)q->concentration[i][1];
        if (q->group[i] == 1) worst = fmax(worst, fabs(C - exact));
        if (q->group[i] == 0) solid = fmax(solid, fabs(1 - exact * 1000 / 1500 - C));
    }
    print_message("C %.6f, off by %.2g, the solid by %.2g; without f %.4f; mass %.2g\n", exact,
                  worst, solid, wrong, fabs(species_mass(&p, 1) / before - 1));
    CHECK_BELOW(worst, IN_DOUBLE ? 1e-12 : 2e-6);
    CHECK_BELOW(solid, IN_DOUBLE ? 1e-12 : 2e-6);
    CHECK_BELOW(fabs(species_mass(&p, 1) / before - 1), IN_DOUBLE ? 1e-12 : 1e-6);
    CHECK_ABOVE(fabs(wrong - exact), 0.04); /* negative control: no mass factor */
    assert_int_equal(mixing_of(&p)->state.dissolved, 0);
    play_close(&p);
}

/* A slab at the floor under water that rocks. */
static play slab_in_water(int dim, int threads, bool turned) {
    const char *z = dim == 2 ? "" : ", 0.25", *zero = dim == 2 ? "" : ", 0";
    char slab[256], water[256];
    snprintf(slab, sizeof slab,
             "{name: slab, material: sugar, shape: {box: {min: [0.2, 0%s], max: [0.4, 0.1%s]}}}",
             zero, z);
    snprintf(water, sizeof water,
             "{name: water, material: water, velocity: [0.3, 0%s], shape: {difference: [{box: "
             "{min: [0, 0%s], max: [0.7, 0.3%s]}}, {box: {min: [0.2, 0%s], max: [0.4, 0.1%s]}}]}}",
             zero, zero, z, zero, z);
    return play_open(
        threads,
        "spate: 1\ndimension: %d\nduration: 9\nfps: 1\ndomain: {size: [0.75, 0.5%s], dx: 0.03125}\n"
        "solver: {type: mpm}\n"
        "materials: {sugar: {model: neo_hookean, density: 1500, young_modulus: 2.0e4}, water: "
        "{model: liquid, density: 1000, bulk_modulus: 2.0e4}}\n"
        "coupling: [{between: [water, sugar], type: dissolves, dissolution: 30, saturation: 0.6, "
        "diffusion: 1.0e-3}]\n"
        "bodies: [%s, %s]\nprobes: [{name: at, center_of_mass: {of: slab}}]\n",
        dim, z, turned ? water : slab, turned ? slab : water);
}

static void slab_dissolves(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        play p = slab_in_water(dim, 2, false);
        const mpm_mixing *s = mixing_of(&p);
        const double before[2] = {species_mass(&p, 0), species_mass(&p, 1)},
                     mass = play_quantity(&p, "mass");
        play_until(&p, WATCHED ? 0.05 : 0.4);
        double clamped = 0;
        int64_t solids = 0, dissolved = 0;
        const particles *q = &p.sim->particles;
        for (int64_t i = 0; i < q->count; i++) {
            const double C = (double)q->concentration[i][1];
            solids += q->group[i] == 0, dissolved += q->group[i] == 2;
            if (q->group[i] == 2) clamped += (double)q->mass[i] * fabs(C - 0.6);
            if (q->group[i] == 0) CHECK_ABOVE(C, 0.6);
        }
        print_message("%dD: %lld of %lld dissolved, %.3g J released; mass %.2g, clamped %.2g\n",
                      dim, (long long)dissolved, (long long)(solids + dissolved), s->state.released,
                      fabs(species_mass(&p, 1) / before[1] - 1), clamped / before[1]);
        assert_int_equal(s->state.dissolved, dissolved);
        if (!WATCHED) CHECK_ABOVE(dissolved, (solids + dissolved) / 5);
        if (!WATCHED) CHECK_ABOVE(s->state.released, 0);
        for (int k = 0; k < 2; k++)
            CHECK_BELOW(fabs(species_mass(&p, k) / before[k] - 1), IN_DOUBLE ? 1e-12 : 1e-5);
        CHECK_BELOW(fabs(play_quantity(&p, "mass") / mass - 1), 1e-7);
        if (!WATCHED) CHECK_ABOVE(clamped / before[1], 1e-3); /* negative control */
        play_close(&p);
    }
}

static uint64_t slab_hash(int threads, bool stops) {
    play p = slab_in_water(2, threads, false);
    for (int part = 0; part < 2; part++) {
        play_steps(&p, WATCHED ? 20 : 150);
        if (stops && !part) play_go_on(&p, &p);
    }
    const uint64_t hash = spate_simulation_hash(p.sim);
    if (!WATCHED) CHECK_ABOVE((double)mixing_of(&p)->state.dissolved, 5);
    play_close(&p);
    return hash;
}

static void runs_are_alike(void **state) {
    (void)state;
    const uint64_t hash = slab_hash(1, false);
    for (int threads = 2; threads <= 8; threads *= 2)
        assert_true(slab_hash(threads, false) == hash);
    assert_true(slab_hash(2, true) == hash);
    play one = slab_in_water(2, 1, false), other = slab_in_water(2, 1, true);
    play_steps(&one, 100), play_steps(&other, 100);
    CHECK_BELOW(fabs(play_quantity(&one, "at_x") - play_quantity(&other, "at_x")), 1e-4);
    assert_int_equal(mixing_of(&one)->state.dissolved, mixing_of(&other)->state.dissolved);
    play_close(&one), play_close(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_spreads_as_erfc),
        cmocka_unit_test(mixture_keeps_its_volume),
        cmocka_unit_test(cell_follows_noyes_and_whitney),
        cmocka_unit_test(slab_dissolves),
        cmocka_unit_test(runs_are_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
