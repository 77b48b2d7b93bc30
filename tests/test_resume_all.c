/*
 * Every integrator, material and kernel, every transfer of flip, every pressure of sph: a run that
 * is stopped and gone on with cannot be told from one that never stopped, and the number of threads
 * does not show in the result. Then several materials in one scene: they fall together as one, meet
 * the floor, and stay finite.
 */
#include "physics.h"

#include <unistd.h>

typedef struct sample {
    const char *solver, *material;
    bool wet; /* flip or sph, and what follows `model: liquid` in the material */
} sample;

static const char sand[] =
    "model: sand, density: 1500, young_modulus: 2.0e5, friction_angle: 30, volume_correction: true";
static const char liquid[] = "model: liquid, density: 1000, bulk_modulus: 2.0e4, viscosity: 2";
static const char metal[] =
    "model: metal, density: 2000, young_modulus: 3.0e5, yield_stress: 3.0e3, hardening: 1.0e4";

static const char *const integrators[] = {"pic",   "flip",  "nflip",  "sflip",  "apic",
                                          "aflip", "aspic", "asflip", "polypic"};
static const char *const materials[] = {
    liquid,
    "model: neo_hookean, density: 900, young_modulus: 1.0e5",
    "model: fixed_corotated, density: 900, young_modulus: 1.0e5",
    sand,
    "model: clay, density: 1800, young_modulus: 3.0e5, friction_angle: 40, alpha_h: -0.02",
    metal,
    "model: snow, density: 400, young_modulus: 1.4e5, poisson: 0.2",
    "model: linear, young_modulus: 1.0e5",
    "model: hypoelastic, young_modulus: 1.0e5",
};

/* A block runs into the floor, a moving post and an open side: strains, plasticity, sorts,
 * particles that leave. */
static play play_solid(const sample *s, int dim, int threads) {
    const bool flat = dim == 2;
    return play_open(
        threads,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {size: %s, dx: 0.1, walls: {x_min: separate, x_max: open, y_min: separate}, "
        "wall_friction: 0.3}\n"
        "solver: {%s}\nmaterials: {m: {%s}}\n"
        "bodies: [{material: m, velocity: %s, shape: {box: {min: %s, max: %s}}}]\n"
        "sources: [{material: m, velocity: %s, shape: {sphere: {center: %s, radius: 0.12}}}]\n"
        "colliders: [{shape: {sphere: {center: %s, radius: 0.15}}, friction: 0.3, motion: {keys: "
        "[{t: 0, translate: %s}, {t: 1, translate: %s}]}}]\n",
        dim, flat ? "[1.2, 1]" : "[1.2, 0.8, 0.6]", s->solver, s->material,
        flat ? "[3, -4]" : "[3, -4, 0.5]", flat ? "[0.4, 0.1]" : "[0.4, 0.1, 0.2]",
        flat ? "[1.1, 0.4]" : "[1.1, 0.4, 0.5]", flat ? "[1, -2]" : "[1, -2, 0]",
        flat ? "[0.2, 0.6]" : "[0.2, 0.6, 0.3]", flat ? "[0.8, 0]" : "[0.8, 0, 0.3]",
        flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[-0.5, 0]" : "[-0.5, 0, 0]");
}

/* A dam runs into a moving post, a source and a sink, across a periodic seam and out at an open
 * side. */
static play play_wet(const sample *s, int dim, int threads) {
    const bool flat = dim == 2, grid = !strncmp(s->solver, "flip", 4);
    return play_open(
        threads,
        "spate: 1\ndimension: %d\nduration: 10\nfps: 1\n"
        "domain: {size: %s, dx: 0.1, walls: %s}\n"
        "solver: {type: %s}\nmaterials: {m: {model: liquid%s}}\n"
        "bodies: [{material: m, jitter: %g, velocity: %s, shape: {box: {min: %s, max: %s}}}]\n"
        "sources: [{material: m, velocity: %s, shape: {sphere: {center: %s, radius: 0.12}}}]\n"
        "sinks: [{shape: {sphere: {center: %s, radius: 0.15}}}]\n"
        "colliders: [{shape: {sphere: {center: %s, radius: 0.15}}, friction: 0.3, motion: {keys: "
        "[{t: 0, translate: %s}, {t: 1, translate: %s}]}}]\n",
        dim, flat ? "[1.6, 1]" : "[1.2, 0.8, 0.8]",
        flat ? "[periodic, periodic, slip, open]"
             : "[slip, open, sticky, slip, periodic, periodic]",
        s->solver, s->material, grid ? 0.8 : 0.2, flat ? "[3, -1]" : "[2, -1, 1]",
        flat ? "[0.6, 0]" : "[0.4, 0, 0.1]", flat ? "[1.5, 0.6]" : "[1.1, 0.5, 0.7]",
        flat ? "[1, -2]" : "[1, -2, 0]", flat ? "[0.4, 0.8]" : "[0.2, 0.6, 0.4]",
        flat ? "[1.1, 0.1]" : "[0.9, 0.1, 0.4]", flat ? "[0.8, 0.3]" : "[0.8, 0, 0.4]",
        flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[-1, 0]" : "[-1, 0, 0]");
}

static play play_sample(const sample *s, int dim, int threads) {
    return s->wet ? play_wet(s, dim, threads) : play_solid(s, dim, threads);
}

enum { STOP = 13, TOTAL = 30 };

static uint64_t hash_straight(const sample *s, int dim, int threads) {
    play p = play_sample(s, dim, threads);
    play_steps(&p, TOTAL);
    uint64_t hash = spate_simulation_hash(p.sim);
    play_close(&p);
    return hash;
}

/* Stopped after STOP steps, written, and gone on with from the file by another number of threads;
 * `fewer` steps are left out. */
static uint64_t hash_resumed(const sample *s, int dim, int fewer) {
    play first = play_sample(s, dim, 2), again = play_sample(s, dim, 3);
    play_steps(&first, STOP);
    play_go_on(&first, &again);
    play_close(&first);
    play_steps(&again, TOTAL - STOP - fewer);
    uint64_t hash = spate_simulation_hash(again.sim);
    play_close(&again);
    return hash;
}

/* The hash of a run, the same for every number of threads and when it was stopped. */
static uint64_t hash_sample(const sample *s, int dim) {
    static const int threads[] = {7, 2, 3};
    const int tried = WATCHED || s->wet ? 1 : COUNT_OF(threads); /* the stop has two more */
    uint64_t one = hash_straight(s, dim, 1);
    for (int k = 0; k < tried; k++)
        if (hash_straight(s, dim, threads[k]) != one)
            fail_msg("%dD, %s, %s: %d threads differ from one", dim, s->solver, s->material,
                     threads[k]);
    if (hash_resumed(s, dim, 0) != one)
        fail_msg("%dD, %s, %s: a stop shows", dim, s->solver, s->material);
    return one;
}

static uint64_t hash_of(const char *solver, const char *made_of, int dim) {
    return hash_sample(&(sample){.solver = solver, .material = made_of}, dim);
}

/* Negative control: what was compared are different runs. */
static void assert_all_differ(const uint64_t *hashes, int count) {
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) assert_true(hashes[i] != hashes[j]);
}

/* The runs have something to keep: sorts after the stop, sources at work, plastic strain, particles
 * that left. */
static void the_runs_are_busy(void **state) {
    (void)state;
    sample s = {.solver = "integrator: asflip", .material = sand};
    for (int dim = 2; dim <= 3; dim++) {
        play p = play_sample(&s, dim, 1);
        int64_t made = p.sim->particles.count;
        play_steps(&p, STOP);
        double sorts = (double)p.sim->blocks.sorts;
        assert_true(p.sim->drift > 0);
        play_steps(&p, TOTAL - STOP);
        CHECK_ABOVE((double)p.sim->blocks.sorts, sorts);
        CHECK_ABOVE((double)p.sim->removed, 0);
        CHECK_ABOVE((double)p.sim->next_id, (double)made);
        CHECK_ABOVE(play_quantity(&p, "yielded"), 0);
        play_close(&p);
    }
}

static void every_integrator_resumes(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
        for (int wet = 0; wet < 2; wet++) {
            uint64_t hashes[COUNT_OF(integrators)];
            for (int k = 0; k < COUNT_OF(integrators); k++) {
                char solver[64];
                snprintf(solver, sizeof solver, "integrator: %s, alpha: 0.97", integrators[k]);
                hashes[k] = hash_of(solver, wet ? liquid : sand, dim);
            }
            assert_all_differ(hashes, COUNT_OF(hashes));
        }
}

static void every_material_resumes(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        uint64_t hashes[2 * COUNT_OF(materials)];
        for (int k = 0; k < COUNT_OF(materials); k++) {
            hashes[2 * k] = hash_of("integrator: apic", materials[k], dim);
            hashes[2 * k + 1] = hash_of("integrator: asflip", materials[k], dim);
        }
        assert_all_differ(hashes, COUNT_OF(hashes));
    }
}

static void every_kernel_resumes(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        uint64_t hashes[] = {
            hash_of("kernel: linear", sand, dim),
            hash_of("kernel: linear, integrator: asflip", sand, dim),
            hash_of("kernel: linear, integrator: aflip", metal, dim),
            hash_of("kernel: cubic", sand, dim),
            hash_of("kernel: cubic, integrator: asflip", sand, dim),
            hash_of("kernel: cubic, integrator: aflip", metal, dim),
            hash_of("density: sph", liquid, dim),
            hash_of("kernel: gimp", sand, dim),
            hash_of("kernel: gimp, integrator: asflip", sand, dim),
        };
        assert_all_differ(hashes, COUNT_OF(hashes));
    }
}

/* Negative control: a step more or less shows. */
static void a_missing_step_shows(void **state) {
    (void)state;
    sample s = {.solver = "integrator: asflip", .material = sand};
    assert_true(hash_straight(&s, 2, 1) != hash_resumed(&s, 2, 1));
}

/* ---- Several materials in one scene ---- */

typedef struct mixture {
    const char *name, *materials, *bodies;
} mixture;

static const mixture mixtures[] = {
    {"liquid on an elastic block",
     "water: {model: liquid, bulk_modulus: 2.0e4}, jelly: {model: neo_hookean, density: 500, "
     "young_modulus: 5.0e4}",
     "{material: jelly, spin: 2, shape: {box: {min: [0.5, 0.6], max: [1.1, 0.9]}}}, "
     "{material: water, velocity: [0.3, -1], shape: {box: {min: [0.5, 0.95], max: [0.9, 1.3]}}}"},
    {"sand on a plate",
     "sand: {model: sand, density: 1600, young_modulus: 2.0e5}, plate: {model: metal, density: "
     "2000, young_modulus: 4.0e5, yield_stress: 4.0e3}",
     "{material: plate, shape: {box: {min: [0.4, 0.6], max: [1.2, 0.7]}}}, "
     "{material: sand, velocity: [0, -1.5], shape: {sphere: {center: [0.8, 1.05], radius: 0.25}}}"},
    {"all seven",
     "a: {model: liquid, bulk_modulus: 2.0e4}, b: {model: neo_hookean, young_modulus: 1.0e5}, "
     "c: {model: fixed_corotated, young_modulus: 1.0e5}, d: {model: sand, young_modulus: 1.0e5}, "
     "e: {model: clay, young_modulus: 1.0e5}, f: {model: metal, young_modulus: 1.0e5, "
     "yield_stress: "
     "2.0e3}, g: {model: snow, young_modulus: 1.0e5}",
     "{material: a, velocity: [1, 0], shape: {box: {min: [0.4, 0.6], max: [0.6, 0.8]}}}, "
     "{material: b, velocity: [-1, 0], shape: {box: {min: [0.62, 0.6], max: [0.8, 0.8]}}}, "
     "{material: c, velocity: [1, 0], shape: {box: {min: [0.82, 0.6], max: [1, 0.8]}}}, "
     "{material: d, velocity: [-1, 0], shape: {box: {min: [1.02, 0.6], max: [1.2, 0.8]}}}, "
     "{material: e, velocity: [0, -1], shape: {box: {min: [0.4, 0.82], max: [0.6, 1]}}}, "
     "{material: f, velocity: [0, -1], shape: {box: {min: [0.7, 0.82], max: [0.9, 1]}}}, "
     "{material: g, velocity: [0, -1], shape: {box: {min: [1, 0.82], max: [1.2, 1]}}}"},
};

static play play_mixture(const mixture *m, const char *integrator, int threads) {
    return play_open(threads,
                     "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, -10]\n"
                     "domain: {size: [1.6, 1.6], dx: 0.05, walls: separate}\n"
                     "solver: {integrator: %s}\nmaterials: {%s}\nbodies: [%s]\n",
                     integrator, m->materials, m->bodies);
}

/* How far the momentum is from that of free fall, over mass and the speed that was gained. */
static double momentum_error(play *p, const double start[2]) {
    double mass = play_quantity(p, "mass"), gained = 10 * p->sim->time;
    double x = play_quantity(p, "momentum_x") - start[0];
    double y = play_quantity(p, "momentum_y") - start[1] + mass * gained;
    return hypot(x, y) / (mass * gained);
}

static void assert_finite(const play *p) {
    EACH_PARTICLE(p->sim, block, i) {
        double x[3], tau[6], J;
        simulation_position(p->sim, block, i, x);
        p->sim->type->stress(p->sim, i, tau, NULL, &J);
        double sum = J;
        for (int a = 0; a < 2; a++) sum += x[a] + (double)p->sim->particles.velocity[i][a];
        for (int c = 0; c < 6; c++) sum += tau[c];
        assert_true(isfinite(sum));
        assert_true(J > 0);
    }
}

static void materials_share_a_scene(void **state) {
    (void)state;
    if (WATCHED) skip();
    static const char *const used[] = {"apic", "asflip", "polypic"};
    double gate = IN_DOUBLE ? 1e-12 : 1e-5;
    for (int k = 0; k < COUNT_OF(mixtures); k++)
        for (int s = 0; s < COUNT_OF(used); s++) {
            uint64_t hashes[3];
            for (int t = 0; t < 3; t++) {
                play p = play_mixture(&mixtures[k], used[s], t == 0 ? 1 : t == 1 ? 3 : 7);
                double start[2] = {play_quantity(&p, "momentum_x"),
                                   play_quantity(&p, "momentum_y")};
                play_until(&p, 0.15); /* they have met by now, high above the floor */
                double falling = momentum_error(&p, start);
                CHECK_BELOW(falling, gate);
                play_until(&p, 0.5);
                assert_finite(&p);
                double landed = momentum_error(&p, start);
                CHECK_ABOVE(landed, 1e3 * gate); /* negative control: the floor shows */
                if (t == 0)
                    print_message("%s, %s: momentum off by %.2g, with the floor %.2g\n",
                                  mixtures[k].name, used[s], falling, landed);
                hashes[t] = spate_simulation_hash(p.sim);
                play_close(&p);
            }
            assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
        }
}

/* ---- FLIP ------------------------------------------------------------------------------------ */

static const sample wet_samples[] = {
    {"flip, transfer: flip", "", true},
    {"flip, transfer: pic, pressure: mic", "", true},
    {"flip, transfer: apic, solids: voxels, surface: distance", "", true},
    {"flip, transfer: aflip, reseed: true, cfl: 3", "", true},
    {"flip, transfer: aflip, kernel: quadratic, advection: rk2", "", true},
    {"flip, transfer: kernel, surface: density", "", true},
    {"flip, transfer: flip, kernel: quadratic, volume_correction: 0, surface_order: 1", "", true},
    {"flip, transfer: apic, reseed: true", ", viscosity: 20", true},
    {"flip, transfer: flip", ", surface_tension: 5", true},
    {"flip, transfer: aflip, reseed: true, sheets: {}, spacing: {}", "", true},
    {"flip, transfer: flip, adaptive: {}", "", true},
};

static void every_transfer_resumes(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        uint64_t hashes[COUNT_OF(wet_samples)];
        for (int k = 0; k < COUNT_OF(wet_samples); k++)
            hashes[k] = hash_sample(&wet_samples[k], dim);
        assert_all_differ(hashes, COUNT_OF(hashes));
        assert_true(hash_resumed(&wet_samples[0], dim, 1) != hashes[0]); /* a missing step shows */
    }
}

/* ---- SPH ------------------------------------------------------------------------------------- */

static const sample sph_samples[] = {
    {"sph", ", bulk_modulus: 1.0e5", true},
    {"sph, skin: 0.3, xsph: 0.1", ", bulk_modulus: 1.0e5", true},
    {"sph, kernel: wendland, shifting: 1, equation: tait", ", bulk_modulus: 1.0e5, viscosity: 5",
     true},
    {"sph, boundary_layers: 2", ", bulk_modulus: 1.0e5, surface_tension: 5", true},
    {"sph, pressure: dfsph", "", true},
    {"sph, pressure: dfsph, skin: 0.3, kernel: wendland", ", viscosity: 5", true},
    {"sph, pressure: iisph", "", true},
    {"sph, pressure: iisph, skin: 0.3", "", true},
};

static void every_sph_resumes(void **state) {
    (void)state;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++) {
        uint64_t hashes[COUNT_OF(sph_samples)];
        for (int k = 0; k < COUNT_OF(sph_samples); k++)
            hashes[k] = hash_sample(&sph_samples[k], dim);
        assert_all_differ(hashes, COUNT_OF(hashes));
        assert_true(hash_resumed(&sph_samples[0], dim, 1) != hashes[0]); /* a missing step shows */
    }
}

/* They have something to keep: particles that came, left, were drained, split and merged. */
static void the_wet_runs_are_busy(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = play_wet(&wet_samples[3], dim, 1);
        int64_t made = p.sim->particles.count;
        play_steps(&p, TOTAL);
        CHECK_ABOVE((double)p.sim->next_id, (double)made);
        CHECK_ABOVE((double)p.sim->drained, 0);
        CHECK_ABOVE(play_quantity(&p, "split") + play_quantity(&p, "merged"), 0);
        if (dim == 3) CHECK_ABOVE((double)p.sim->removed, 0);
        play_close(&p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runs_are_busy),      cmocka_unit_test(every_integrator_resumes),
        cmocka_unit_test(every_material_resumes), cmocka_unit_test(every_kernel_resumes),
        cmocka_unit_test(a_missing_step_shows),   cmocka_unit_test(materials_share_a_scene),
        cmocka_unit_test(every_transfer_resumes), cmocka_unit_test(the_wet_runs_are_busy),
        cmocka_unit_test(every_sph_resumes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
