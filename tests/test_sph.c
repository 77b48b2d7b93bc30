/*
 * SPH as a solver: what it keeps (momentum, particles out of solids, its tolerance), what it
 * refuses (steps that are too long, scenes it cannot play, memory that is not there), and what must
 * not show in a result (the lists' skin, how far the origin is).
 */
#include "count_down.h"
#include "physics.h"
#include "solver/sph/sph.h"

#include <limits.h>

static const char *const methods[] = {"wcsph", "dfsph", "iisph"};

/* ---- Momentum -------------------------------------------------------------------------------- */

typedef struct momenta {
    double linear[3], angular[3];
} momenta;

static momenta momenta_of(play *p) {
    static const char *const names[] = {"momentum_x", "momentum_y", "momentum_z",
                                        "angular_x",  "angular_y",  "angular_z"};
    double all[6];
    for (int n = 0; n < 6; n++) all[n] = play_quantity(p, names[n]);
    return (momenta){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
}

/* How much of their momentum two drops lose that meet in free flight, one of them spinning, over
 * all that either has; with a floor in their way for a negative control. */
static double lost_momentum(int dim, const char *method, bool floor, double *angular) {
    const bool flat = dim == 2;
    play p =
        play_open(2,
                  "spate: 1\ndimension: %d\nduration: 10\nfps: 1\ngravity: %s\n"
                  "domain: {size: %s, dx: 0.1}\nsolver: {type: sph, pressure: %s, xsph: 0}\n"
                  "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
                  "bodies: [{material: w, velocity: %s, spin: %s, shape: {box: {min: %s, "
                  "max: %s}}}, {material: w, velocity: %s, shape: {box: {min: %s, max: "
                  "%s}}}]\n",
                  dim, flat ? "[0, 0]" : "[0, 0, 0]", flat ? "[4, 4]" : "[2, 2, 2]", method,
                  flat ? "[2, -1]" : "[2, -1, 0.5]", flat ? "3" : "[1, 2, 3]",
                  flat ? "[1.2, 1.2]" : "[0.5, 0.7, 0.7]", flat ? "[2, 2.2]" : "[0.9, 1.2, 1.2]",
                  floor  ? flat ? "[-1, -8]" : "[-1, -8, 0]"
                  : flat ? "[-1, 0]"
                         : "[-1, 0, 0]",
                  flat ? "[2.2, 1.4]" : "[1, 0.8, 0.8]", flat ? "[2.8, 2]" : "[1.3, 1.2, 1.2]");
    const momenta before = momenta_of(&p);
    const double energy = play_quantity(&p, "kinetic_energy");
    play_until(&p, 0.2);
    const momenta after = momenta_of(&p);
    CHECK_ABOVE(fabs(play_quantity(&p, "kinetic_energy") / energy - 1), 0.02); /* they have met */
    double lost = 0, had = 0, turned = 0, spun = 0;
    for (int a = 0; a < 3; a++) {
        lost += fabs(after.linear[a] - before.linear[a]), had += fabs(before.linear[a]);
        turned += fabs(after.angular[a] - before.angular[a]), spun += fabs(before.angular[a]);
    }
    *angular = turned / spun;
    play_close(&p);
    return lost / had;
}

static void momentum_is_kept(void **state) {
    (void)state;
    double angular;
    for (int dim = 2; dim <= (WATCHED ? 2 : 3); dim++)
        for (int m = 0; m < COUNT_OF(methods); m++) {
            const double lost = lost_momentum(dim, methods[m], false, &angular);
            print_message("%dD, %s: momentum lost %.2g, angular momentum %.2g\n", dim, methods[m],
                          lost, angular);
            CHECK_BELOW(lost, IN_DOUBLE ? 1e-12 : 1e-5);
            CHECK_BELOW(angular, 1e-3);
        }
    CHECK_ABOVE(lost_momentum(2, "wcsph", true, &angular), 0.1); /* negative control */
}

/* The share of its momentum that a liquid between plates loses in half a second, all of it moving
 * along them. The material has no viscosity, wcsph its artificial one. */
static double dragged(const char *kernel, const char *walls) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\ngravity: [0, 0]\n"
                       "domain: {size: [1.6, 0.8], dx: 0.1, walls: [periodic, periodic, %s, %s]}\n"
                       "solver: {type: sph, kernel: %s}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
                       "bodies: [{material: w, velocity: [1, 0], shape: {box: {min: [0, 0], max: "
                       "[1.6, 0.8]}}}]\n",
                       walls, walls, kernel);
    const double before = play_quantity(&p, "momentum_x");
    play_until(&p, WATCHED ? 0.1 : 0.5);
    const double lost = 1 - play_quantity(&p, "momentum_x") / before;
    play_close(&p);
    return lost;
}

/* Artificial viscosity had taken 7 % on slip walls. */
static void slip_walls_do_not_drag(void **state) {
    (void)state;
    static const char *const kernels[] = {"mueller", "cubic", "wendland"};
    for (int k = 0; k < COUNT_OF(kernels); k++) {
        const double lost = dragged(kernels[k], "slip");
        print_message("%s: slip walls take %.2g of the momentum\n", kernels[k], lost);
        CHECK_BELOW(fabs(lost), 1e-5);
    }
    CHECK_ABOVE(dragged("wendland", "sticky"), 0.005); /* negative control */
}

/* What a drop gives to the plate it falls on, by the column's frames over its own loss. */
static double momentum_given(const char *method, double fps) {
    play p = play_open(1,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: %g\ngravity: [0, -5]\n"
                       "domain: {size: [2, 1], dx: 0.05, walls: open}\n"
                       "solver: {type: sph, pressure: %s}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 1.0e5, viscosity: 1}}\n"
                       "bodies: [{material: w, velocity: [0.5, -2], shape: {sphere: {center: [0.9, "
                       "0.45], radius: 0.15}}}]\n"
                       "colliders: [{name: plate, shape: {box: {min: [-1, 0], max: [3, 0.2]}}}]\n",
                       fps, method);
    const double before = play_quantity(&p, "momentum_y"), weight = 5 * play_quantity(&p, "mass");
    double given = 0;
    const int frames = (int)(0.2 * fps + 0.5);
    for (int k = 1; k <= frames; k++) {
        play_until(&p, k / fps);
        given -= play_quantity(&p, "plate_force_y") / fps;
    }
    const double lost = play_quantity(&p, "momentum_y") - before + 0.2 * weight;
    play_close(&p);
    return given / lost;
}

/* A block of particles closer than at rest runs into a plate: what it loses in each step is what
 * the plate is given, to rounding, however dense the liquid is. */
static void squeezed_liquid_gives_what_it_loses(void **state) {
    (void)state;
    char points[4096];
    size_t length = 0;
    for (int n = 0; n < 96; n++)
        length +=
            (size_t)snprintf(points + length, sizeof points - length, "%s[%.6g, %.6g]",
                             n ? ", " : "", 0.8 + 0.0235 * (n / 8), 0.2125 + 0.0235 * (n % 8));
    for (int m = 0; m < COUNT_OF(methods); m++) {
        play p = play_open(
            1,
            "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
            "domain: {size: [2, 1], dx: 0.05, walls: open}\nsolver: {type: sph, pressure: %s}\n"
            "materials: {w: {model: liquid, bulk_modulus: 1.0e5, viscosity: 1}}\n"
            "bodies: [{material: w, velocity: [0.5, -1], shape: {points: [%s]}}]\n"
            "colliders: [{name: plate, shape: {box: {min: [-1, 0], max: [3, 0.2]}}}]\n",
            methods[m], points);
        const momenta before = momenta_of(&p);
        for (int step = 0; step < 3; step++) {
            double force[3], torque[3];
            play_steps(&p, 1);
            const momenta after = momenta_of(&p);
            p.sim->type->force(p.sim, 0, force, torque);
            const double lost = after.linear[1] - before.linear[1];
            CHECK_ABOVE(lost, 1);
            for (int a = 0; a < 2; a++)
                CHECK_BELOW(
                    fabs(after.linear[a] - before.linear[a] + force[a] * p.sim->time) / lost, 1e-4);
        }
        play_close(&p);
    }
}

static void forces_are_means_over_frames(void **state) {
    (void)state;
    for (int m = 0; m < (WATCHED ? 1 : COUNT_OF(methods)); m++) {
        const double often = momentum_given(methods[m], 50),
                     seldom = WATCHED ? often : momentum_given(methods[m], 5);
        print_message("%s: %.4f of the momentum lost is in the columns of 5 frames a second, %.4f "
                      "of 50\n",
                      methods[m], seldom, often);
        CHECK_BELOW(fabs(seldom - 1), 0.03);
        CHECK_BELOW(fabs(often - 1), 0.03);
    }
}

/* ---- Lists with a skin ----------------------------------------------------------------------- */

typedef struct ending {
    double front, height, lists, steps;
} ending;

static ending play_dam(const char *options, double end) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph, %s}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
                       "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.6]}}}]\n"
                       "probes: [{name: front, extent: {axis: x, side: max}}, {name: middle, "
                       "center_of_mass: {}}]\n",
                       options);
    play_until(&p, end);
    ending e = {play_quantity(&p, "front"), play_quantity(&p, "middle_y"),
                play_quantity(&p, "lists"), (double)p.sim->step};
    play_close(&p);
    return e;
}

static void a_skin_saves_lists(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        char plain[64], skinned[64];
        snprintf(plain, sizeof plain, "pressure: %s, skin: 0", methods[m]);
        snprintf(skinned, sizeof skinned, "pressure: %s, skin: 0.4", methods[m]);
        const ending without = play_dam(plain, 0.15), with = play_dam(skinned, 0.15);
        const ending later = play_dam(plain, 0.16);
        print_message("%s: front %.4f and %.4f, %g lists and %g in %g steps\n", methods[m],
                      without.front, with.front, without.lists, with.lists, with.steps);
        CHECK_BELOW(fabs(with.front - without.front), 0.01);
        CHECK_BELOW(fabs(with.height - without.height), 0.001);
        CHECK_ABOVE(fabs(later.height - without.height), 0.001); /* negative control */
        assert_true(without.lists == without.steps);
        CHECK_BELOW(with.lists, (m == 0 ? 0.5 : 1) * with.steps); /* dfsph's steps are long */
    }
}

/* ---- Solids ---------------------------------------------------------------------------------- */

/* The largest depth in colliders and beyond the domain while a dam runs into something. */
static double deepest(const char *method, const char *post, double end) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph, pressure: %s}\n"
                       "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
                       "bodies: [{material: w, velocity: [1, 0], shape: {box: {min: [0, 0], max: "
                       "[0.4, 0.6]}}}]\ncolliders: [%s]\n",
                       method, post);
    double worst = 0, frame = 0.02;
    for (double t = frame; t < end; t += frame) {
        play_until(&p, t);
        worst = fmax(worst, play_quantity(&p, "penetration_max"));
        EACH_PARTICLE(p.sim, block, i) {
            double x[3];
            simulation_position(p.sim, block, i, x);
            for (int a = 0; a < 2; a++) worst = fmax(worst, fmax(-x[a], x[a] - 1));
        }
    }
    assert_true(play_quantity(&p, "stuck") == 0);
    assert_int_equal(p.sim->particles.count, 12 * 8 * 4);
    play_close(&p);
    return worst;
}

static void nothing_is_in_solids(void **state) {
    (void)state;
    static const char *const colliders[] = {
        "{shape: {sphere: {center: [0.7, 0.1], radius: 0.15}}}",
        "{shape: {box: {min: [0.6, -0.1], max: [0.62, 0.4]}}}",
        "{shape: {box: {min: [0.9, -0.1], max: [0.96, 0.8]}}, motion: {keys: [{t: 0, translate: "
        "[0, 0]}, {t: 0.5, translate: [-0.5, 0]}]}}",
    };
    for (int m = 0; m < 2; m++)
        for (int c = 0; c < COUNT_OF(colliders); c++) {
            const double depth = deepest(methods[m], colliders[c], WATCHED ? 0.25 : 0.5);
            print_message("%s, collider %d: depth %.2g\n", methods[m], c, depth);
            /* in the wedge between a ball and the floor a particle fits to a share of a cell */
            CHECK_BELOW(depth, 0.01 * 0.05);
        }
}

/* Negative control: particles put into a collider are seen there. */
static void penetration_shows(void **state) {
    (void)state;
    play p = play_open(1, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                          "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph}\n"
                          "materials: {w: {model: liquid}}\n"
                          "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.6]}}}]\n"
                          "colliders: [{shape: {sphere: {center: [0.7, 0.1], radius: 0.15}}, "
                          "motion: {keys: [{t: 0, translate: [0, 0]}, {t: 1.0e-6, translate: "
                          "[-0.5, 0]}]}}]\n");
    assert_true(play_quantity(&p, "penetration_max") == 0);
    p.sim->time = 1e-6;
    CHECK_ABOVE(play_quantity(&p, "penetration_max"), 0.1);
    play_close(&p);
}

/* ---- Steps that are too long ----------------------------------------------------------------- */

/* The message of a run that is to fail within some steps. */
static void expect_end(const char *solver, const char *water, spate_status expected,
                       const char *const words[], int count) {
    play p = play_open(2,
                       "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                       "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph, %s}\n"
                       "materials: {w: {model: liquid, %s}}\n"
                       "bodies: [{material: w, velocity: [0.5, 0], shape: {box: {min: [0, 0], "
                       "max: [0.4, 0.6]}}}]\n",
                       solver, water);
    spate_status status = SPATE_OK;
    for (int n = 0; n < 300 && !status; n++) status = spate_simulation_step(p.sim, 1e9);
    if (status != expected) print_error("%s: %s\n", solver, spate_message(p.ctx));
    assert_int_equal(status, expected);
    for (int n = 0; n < count; n++)
        if (!strstr(spate_message(p.ctx), words[n]))
            fail_msg("no '%s' in '%s'", words[n], spate_message(p.ctx));
    play_close(&p);
}

static void long_steps_fail_with_their_limit(void **state) {
    (void)state;
    expect_end("dt: 0.02", "bulk_modulus: 1.0e6", SPATE_UNSTABLE,
               (const char *const[]){"solver.dt 0.02 s", "'sound'", "step"}, 3);
    expect_end("dt: 0.02", "bulk_modulus: 1.0e3, viscosity: 1.0e3", SPATE_UNSTABLE,
               (const char *const[]){"solver.dt 0.02 s", "'viscosity'", "step"}, 3);
    expect_end("pressure: dfsph, dt: 0.3, tolerance: 0.1", "density: 1000", SPATE_UNSTABLE,
               (const char *const[]){"solver.dt 0.3 s", "step"}, 2);
    /* negative control: within the limit it goes well */
    expect_end("dt: 0.0002", "bulk_modulus: 1.0e6", SPATE_OK, NULL, 0);
}

/* ---- The tolerance --------------------------------------------------------------------------- */

static void the_density_is_kept(void **state) {
    (void)state;
    static const double tolerances[] = {1e-2, 1e-3, 1e-4};
    double last = HUGE_VAL;
    for (int m = 1; m < 3; m++)
        for (int t = 0; t < COUNT_OF(tolerances); t++) {
            play p = play_open(2,
                               "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                               "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph, pressure: "
                               "%s, tolerance: %g, max_iterations: 2000}\n"
                               "materials: {w: {model: liquid}}\n"
                               "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, "
                               "0.6]}}}]\n",
                               methods[m], tolerances[t]);
            double worst = 0, dense = 0, iterations = 0;
            for (int n = 0; n < 40; n++) {
                play_steps(&p, 1);
                worst = fmax(worst, play_quantity(&p, "residual"));
                dense = fmax(dense, play_quantity(&p, "max_density"));
                iterations += play_quantity(&p, "iterations") / 40;
            }
            print_message("%s, tolerance %g: %.2g off, densest %.4g, %.3g iterations\n", methods[m],
                          tolerances[t], worst, dense, iterations);
            CHECK_BELOW(worst, tolerances[t] * 1.0001);
            CHECK_BELOW(dense, 1250);
            assert_true(play_quantity(&p, "not_converged") == 0);
            if (t) CHECK_ABOVE(last, worst); /* negative control: a loose one is not so good */
            last = worst;
            play_close(&p);
        }
    for (int m = 1; m < 3; m++) {
        char solver[96];
        snprintf(solver, sizeof solver, "pressure: %s, tolerance: 1.0e-6, max_iterations: 1",
                 methods[m]);
        expect_end(solver, "density: 1000", SPATE_NOT_CONVERGED,
                   (const char *const[]){"solver.max_iterations", "solver.tolerance", "step"}, 3);
    }
}

/* ---- Scenes it cannot play ------------------------------------------------------------------- */

static void expect_refusal(const char *domain_and_solver, const char *things, const char *place,
                           const char *remedy) {
    char yaml[2048];
    snprintf(yaml, sizeof yaml, "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n%s%s",
             domain_and_solver, things);
    spate_context *ctx;
    spate_scene *scene = NULL;
    spate_config config = spate_default_config();
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    const spate_status status =
        spate_scene_parse(ctx, yaml, strlen(yaml), "test", ".", NULL, 0, &scene);
    const char *told = spate_message(ctx);
    if (!place) {
        if (status) print_error("%s\n", told);
        assert_int_equal(status, SPATE_OK);
    } else {
        assert_int_equal(status, SPATE_BAD_INPUT);
        if (!strstr(told, place) || !strstr(told, remedy))
            fail_msg("expected '%s' and '%s' in '%s'", place, remedy, told);
    }
    spate_scene_free(scene);
    spate_close(ctx);
}

static void bad_scenes_are_refused(void **state) {
    (void)state;
    static const char plain[] = "domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph}\n";
    static const char one[] =
        "materials: {w: {model: liquid}}\n"
        "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.6]}}}]\n";
    expect_refusal(plain, one, NULL, NULL); /* negative control */
    expect_refusal(plain,
                   "materials: {w: {model: liquid}}\n"
                   "bodies: [{name: a, material: w, shape: {box: {min: [0, 0], max: [0.4, 0.4]}}}, "
                   "{name: b, material: w, particles_per_cell: 9, shape: {box: {min: [0.5, 0], "
                   "max: [0.9, 0.4]}}}]\n",
                   "'a' has 4 particles a cell and 'b' 9", "same particles_per_cell");
    expect_refusal(plain,
                   "materials: {w: {model: liquid}, o: {model: liquid, density: 800}}\n"
                   "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.4]}}}, "
                   "{material: o, shape: {box: {min: [0.5, 0], max: [0.9, 0.4]}}}]\n",
                   "liquid", "one");
    expect_refusal("domain: {size: [1, 1], dx: 0.05}\nsolver: {type: sph, support: 8, skin: 2}\n",
                   one, "solver.support", "smaller support");
    expect_refusal("domain: {size: [0.2, 1], dx: 0.05, walls: [periodic, periodic, slip, slip]}\n"
                   "solver: {type: sph}\n",
                   "materials: {w: {model: liquid}}\n"
                   "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.2, 0.6]}}}]\n",
                   "periodic", "domain.size");
    expect_refusal(plain,
                   "materials: {w: {model: sand}}\n"
                   "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.4, 0.6]}}}]\n",
                   "sand", "liquid");
}

/* ---- Memory that is not there ---------------------------------------------------------------- */

static void refused_memory_leaves_nothing(void **state) {
    (void)state;
    for (int m = 0; m < 2; m++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
                 "domain: {size: [0.4, 0.4], dx: 0.05}\nsolver: {type: sph, pressure: %s, xsph: "
                 "0.1, skin: 0.2}\n"
                 "materials: {w: {model: liquid, surface_tension: 1}}\n"
                 "bodies: [{material: w, shape: {box: {min: [0, 0], max: [0.2, 0.2]}}}]\n"
                 "colliders: [{name: post, shape: {box: {min: [0.25, 0], max: [0.35, 0.1]}}}]\n",
                 methods[m]);
        int refused = 0;
        for (int turn = 0; turn < 2000; turn += WATCHED ? 7 : 1) {
            int left = INT_MAX;
            spate_context *ctx;
            spate_scene *scene;
            spate_simulation *sim = NULL;
            spate_config config = {
                .allocate = count_down, .release = release, .user = &left, .threads = 1};
            assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
            const int64_t before = ctx->blocks_now;
            assert_int_equal(
                spate_scene_parse(ctx, text, strlen(text), "test", ".", NULL, 0, &scene), SPATE_OK);
            left = turn;
            spate_status status = spate_simulation_create(scene, &sim);
            for (int n = 0; n < 2 && !status; n++) status = spate_simulation_step(sim, 1);
            const bool over = left >= 0;
            assert_int_equal(status, over ? SPATE_OK : SPATE_OUT_OF_MEMORY);
            refused += !over;
            left = INT_MAX;
            spate_simulation_free(sim);
            spate_scene_free(scene);
            assert_int_equal(ctx->blocks_now, before);
            spate_close(ctx);
            if (over) break;
        }
        CHECK_ABOVE(refused, WATCHED ? 5 : 40);
    }
}

/* ---- Far from the origin --------------------------------------------------------------------- */

/* The densities of a drop that hits the floor, by id, in a domain 2000 cells long, `cells` from its
 * start: whole multiples of 16, so that ids are given out in the same order. */
static void fall_at(const char *method, const char *sides, double origin, int cells,
                    double densities[]) {
    const double dx = 0.0625, x = origin + cells * dx;
    play p = play_open(
        2,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 1\n"
        "domain: {origin: [%.17g, 0], size: [%.17g, 2], dx: %.17g, walls: [%s, %s, slip, slip]}\n"
        "solver: {type: sph, pressure: %s}\n"
        "materials: {w: {model: liquid, bulk_modulus: 1.0e5}}\n"
        "bodies: [{material: w, velocity: [0.5, -1], spin: 1, shape: {box: {min: "
        "[%.17g, 0.0625], max: [%.17g, 0.5625]}}}]\n",
        origin, 2048 * dx, dx, sides, sides, method, x, x + 0.5);
    play_until(&p, 0.1);
    for (int64_t i = 0; i < p.sim->particles.count; i++)
        densities[p.sim->particles.id[i]] = (double)p.sim->particles.density[i];
    play_close(&p);
}

static double difference(const double a[], const double b[], int count) {
    double worst = 0;
    for (int i = 0; i < count; i++) worst = fmax(worst, fabs(a[i] - b[i]));
    return worst;
}

static void the_origin_does_not_show(void **state) {
    (void)state;
    enum { DROP = 16 * 16 };
    double near[DROP], far[DROP], shifted[DROP], round[DROP], other[DROP];
    for (int m = 0; m < 2; m++) {
        fall_at(methods[m], "slip", 0, 16, near);
        fall_at(methods[m], "slip", 0, 1904, far);
        fall_at(methods[m], "periodic", 0, 1904, round);
        fall_at(methods[m], "slip", 4096, 1024, shifted);
        fall_at("iisph", "slip", 0, 16, other);
        print_message("%s: densities far off differ by %.2g, in a domain far off by %.2g\n",
                      methods[m], difference(near, far, DROP), difference(near, shifted, DROP));
        CHECK_BELOW(difference(near, far, DROP), 1e-4);
        CHECK_BELOW(difference(near, shifted, DROP), 1e-4);
        CHECK_BELOW(difference(near, round, DROP), 1e-4);
        CHECK_ABOVE(difference(near, other, DROP), 1e-4); /* negative control */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momentum_is_kept),
        cmocka_unit_test(slip_walls_do_not_drag),
        cmocka_unit_test(squeezed_liquid_gives_what_it_loses),
        cmocka_unit_test(forces_are_means_over_frames),
        cmocka_unit_test(a_skin_saves_lists),
        cmocka_unit_test(nothing_is_in_solids),
        cmocka_unit_test(penetration_shows),
        cmocka_unit_test(long_steps_fail_with_their_limit),
        cmocka_unit_test(the_density_is_kept),
        cmocka_unit_test(bad_scenes_are_refused),
        cmocka_unit_test(refused_memory_leaves_nothing),
        cmocka_unit_test(the_origin_does_not_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
