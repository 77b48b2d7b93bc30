/*
 * Colliders that deform: distances and velocities of an expanding sphere, a thin plate that goes
 * far between two files, the same whatever was asked before; in scenes, matter that has the speed
 * of the surface and makes room for its volume, a sequence that does what keys do, threads and
 * resuming, and what is refused.
 */
#include "gas.h"

#include "core/vec.h"
#include "state/deforming.h"

#include <sys/stat.h>

static char folder[] = "/tmp/spate_deforming_XXXXXX";

/* ---- Files ----------------------------------------------------------------------------------- */

enum { RINGS = 32, POINTS = 64 };

/* A sphere as a text of OBJ, with a middle and a radius. */
static void write_sphere(const char *name, const double middle[3], double radius) {
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    for (int i = 0; i <= RINGS; i++)
        for (int k = 0; k < POINTS; k++) {
            const double a = M_PI * i / RINGS, b = 2 * M_PI * k / POINTS;
            const double s = i % RINGS ? sin(a) : 0; /* the poles are one place each */
            fprintf(f, "v %.17g %.17g %.17g\n", middle[0] + radius * s * cos(b),
                    middle[1] + radius * cos(a), middle[2] + radius * s * sin(b));
        }
    for (int i = 0; i < RINGS; i++)
        for (int k = 0; k < POINTS; k++) {
            const int next = (k + 1) % POINTS, here = i * POINTS + 1, below = here + POINTS;
            fprintf(f, "f %d %d %d\nf %d %d %d\n", here + k, below + next, below + k, here + k,
                    here + next, below + next);
        }
    fclose(f);
}

static void write_box(const char *name, const double low[3], const double high[3]) {
    static const int faces[6][4] = {{1, 3, 4, 2}, {5, 6, 8, 7}, {1, 2, 6, 5},
                                    {3, 7, 8, 4}, {1, 5, 7, 3}, {2, 4, 8, 6}};
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    for (int v = 0; v < 8; v++)
        fprintf(f, "v %.17g %.17g %.17g\n", v & 1 ? high[0] : low[0], v & 2 ? high[1] : low[1],
                v & 4 ? high[2] : low[2]);
    for (int k = 0; k < 6; k++)
        fprintf(f, "f %d %d %d %d\n", faces[k][0], faces[k][1], faces[k][2], faces[k][3]);
    fclose(f);
}

static int make_files(void **state) {
    (void)state;
    const double middle[3] = {0.5, 0.35, 0};
    if (!mkdtemp(folder) || chdir(folder)) return -1;
    for (int k = 0; k < 5; k++) {
        char name[64];
        snprintf(name, sizeof name, "ball_%03d.obj", k + 1);
        write_sphere(name, middle, 0.1 + 0.04 * k);
        snprintf(name, sizeof name, "plate_%02d.obj", k);
        write_box(name, (double[]){0.2 + 0.1 * k, -0.2, -0.2}, (double[]){0.3 + 0.1 * k, 1.4, 1.2});
        snprintf(name, sizeof name, "block_%02d.obj", k);
        write_box(name, (double[]){0.1 + 0.1 * k, 0.6, -1}, (double[]){0.3 + 0.1 * k, 0.9, 1});
    }
    return 0;
}

static int remove_files(void **state) {
    (void)state;
    for (int k = 0; k < 5; k++) {
        char name[64];
        snprintf(name, sizeof name, "ball_%03d.obj", k + 1), remove(name);
        snprintf(name, sizeof name, "plate_%02d.obj", k), remove(name);
        snprintf(name, sizeof name, "block_%02d.obj", k), remove(name);
    }
    remove("odd_1.obj"), remove("odd_2.obj");
    return chdir("/") || rmdir(folder);
}

/* ---- Distances ------------------------------------------------------------------------------- */

#define SCENE_3D                                                                            \
    "spate: 1\nduration: 10\nfps: 10\ndomain: {size: [1, 1, 1], dx: %g}\nmaterials: {m: "   \
    "{model: liquid}}\nbodies: [{material: m, shape: {box: {min: [0, 0.8, 0], max: [1, 1, " \
    "1]}}}]\n"

/* An expanding sphere: at all times distance, normal and velocity are those of the sphere with the
 * radius of that time; 0.1 + 0.4 t to t = .4 s, then it rests. */
static void a_sphere_expands(void **state) {
    (void)state;
    const double dx = 0.04, middle[3] = {0.5, 0.35, 0.5};
    play p = play_open(1,
                       SCENE_3D "colliders: [{shape: {mesh: {file: ball_###.obj, frames: {fps: "
                                "10}}, translate: [0, 0, 0.5]}}]\n",
                       dx);
    static const double times[] = {0, 0.03, 0.1, 0.24, 0.399, 0.7};
    for (int k = 0; k < COUNT_OF(times); k++) {
        const double radius = 0.1 + 0.4 * fmin(times[k], 0.4), speed = times[k] < 0.4 ? 0.4 : 0;
        assert_int_equal(boundary_move(&p.sim->boundary, times[k]), SPATE_OK);
        double worst[3] = {0};
        for (int i = 0; i < 400; i++) {
            const double a = acos(1 - 2 * (i + 0.5) / 400), b = 2.4 * i;
            const double n[3] = {sin(a) * cos(b), cos(a), sin(a) * sin(b)};
            const double off = dx * (i % 5 - 2) / 2; /* up to a cell in and out */
            double x[3], normal[3], velocity[3];
            vec_add_scaled(x, middle, radius + off, n);
            const double d = boundary_distance(&p.sim->boundary, 0, x, normal, velocity);
            worst[0] = fmax(worst[0], fabs(d - off) / dx);
            vec_sub(normal, normal, n);
            worst[1] = fmax(worst[1], vec_length(normal));
            /* without divergence: that of the surface times (R/r)^2, to first order */
            vec_add_scaled(velocity, velocity, -speed * (1 - 2 * off / radius), n);
            worst[2] = fmax(worst[2], vec_length(velocity));
        }
        print_message("t %.3f: distance off by %.3f cells, normal %.3f, velocity %.4f\n", times[k],
                      worst[0], worst[1], worst[2]);
        CHECK_BELOW(worst[0], 0.06);
        CHECK_BELOW(worst[1], 0.2);
        CHECK_BELOW(worst[2], speed * 0.12 + 1e-12);
    }
    CHECK_BELOW(fabs(boundary_speed(&p.sim->boundary) - 0.4), 1e-9);
    play_close(&p);
}

/* A plate of two cells that goes ten of its thicknesses between two files is there all the way; the
 * two files' distances alone, blended, would not have it: in the middle both are positive. */
static void fast_plates_stay_whole(void **state) {
    (void)state;
    play p = play_open(1,
                       SCENE_3D "colliders: [{shape: {mesh: {file: plate_##.obj, frames: {first: "
                                "0, fps: 0.5}}}}]\n",
                       0.05);
    for (double t = 0; t < 8; t += 0.37) {
        const double left = 0.2 + 0.1 * fmin(t / 2, 4);
        assert_int_equal(boundary_move(&p.sim->boundary, t), SPATE_OK);
        for (double x = 0.02; x < 1; x += 0.013) {
            const double at[3] = {x, 0.3, 0.4}, exact = fmax(left - x, x - left - 0.1);
            const double d = boundary_distance(&p.sim->boundary, 0, at, NULL, NULL);
            if (fabs(exact) < 0.03) CHECK_BELOW(fabs(d - exact), 0.005);
            if (fabs(exact) > 0.01) assert_true((d < 0) == (exact < 0));
        }
    }
    play_close(&p);
}

/* It limits steps while it moves: before its first file they end where that begins, and after its last
 * they are free. */
static void a_step_is_limited_while_it_moves(void **state) {
    (void)state;
    play p = play_open(1,
                       SCENE_3D "colliders: [{shape: {mesh: {file: plate_##.obj, frames: {first: "
                                "0, fps: 0.5, start: 1}}}}]\n",
                       0.05);
    const boundary *b = &p.sim->boundary;
    const double way = 0.01, speed = 0.05, end = 1 + 4 / 0.5; /* .1 a file, five of them */
    CHECK_BELOW(fabs(way / boundary_speed_within(b, 0, way) - 1), 1e-9); /* lands at the start */
    CHECK_BELOW(fabs(boundary_speed_within(b, 0.9, way) - speed), 1e-9); /* .1 s of it moves */
    CHECK_BELOW(fabs(boundary_speed_within(b, 1, way) - speed), 1e-9);
    CHECK_BELOW(fabs(boundary_speed_within(b, end - 1e-3, way) - speed), 1e-9);
    assert_true(boundary_speed_within(b, end + 1e-3, way) == 0);
    CHECK_BELOW(fabs(boundary_speed(b) - speed), 1e-9); /* ever */
    for (int k = 0; k < 400; k++) {                     /* no step of way/v goes further */
        const double t = 0.02 * k, dt = way / fmax(boundary_speed_within(b, t, way), 1e-3);
        const double from = fmin(fmax(t, 1), end), to = fmin(fmax(t + dt, 1), end);
        CHECK_BELOW(speed * (to - from), way * (1 + 1e-6));
    }
    play_close(&p);
}

/* Bit by bit the same at a time, whatever was asked before, and for any number of threads. */
static void the_past_does_not_matter(void **state) {
    (void)state;
    double seen[2][50][4];
    for (int k = 0; k < 2; k++) {
        play p = play_open(k ? 3 : 1,
                           SCENE_3D "colliders: [{shape: {mesh: {file: ball_###.obj, "
                                    "frames: {fps: 10}}, translate: [0, 0, 0.5]}}]\n",
                           0.04);
        for (double t = 0; t < 0.27 && k; t += 0.01)
            assert_int_equal(boundary_move(&p.sim->boundary, t), SPATE_OK);
        assert_int_equal(boundary_move(&p.sim->boundary, 0.233), SPATE_OK);
        for (int i = 0; i < 50; i++) {
            const double x[3] = {0.3 + 0.007 * i, 0.3, 0.45};
            seen[k][i][0] = boundary_distance(&p.sim->boundary, 0, x, NULL, seen[k][i] + 1);
        }
        play_close(&p);
    }
    assert_memory_equal(seen[0], seen[1], sizeof seen[0]);
}

/* ---- In scenes ------------------------------------------------------------------------------- */

static play play_pool(int threads, const char *solver, const char *solid) {
    return play_open(threads,
                     "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ndomain: {size: [1, 1.2], dx: "
                     "0.03125}\nsolver: {%s}\nmaterials: {m: {model: liquid%s}}\n"
                     "bodies: [{material: m, shape: {box: {min: [0, 0], max: [1, 0.7]}}}]\n"
                     "colliders: [{name: c, contact: slip, %s}]\n",
                     solver, strstr(solver, "mpm") ? ", bulk_modulus: 2.0e6" : "", solid);
}

static const char swelling[] = "shape: {mesh: {file: ball_###.obj, frames: {fps: 5}}}";

/* Liquid beside a swelling disc has its speed across the surface, 0.2 m/s: over every circle around
 * it the mean is that times R/r, since liquid keeps its volume. And it makes room: the mean height
 * over the floor grows as that of a pool whose level has risen by pi (R1^2 - R0^2) over its width,
 * less the disc. mpm, where only nodes inside the disc feel it, is a part of a cell behind. */
static void liquid_makes_room(const char *solver, double tolerance, double height_off) {
    play p = play_pool(2, solver, swelling);
    const double middle[3] = {0.5, 0.35, 0}, dx = 0.03125;
    play_until(&p, 0.6);
    const double radius = 0.1 + 0.2 * p.sim->time;
    double inside = 0, height = 0, mass = 0, sum = 0;
    int count = 0;
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], away[3], v = 0;
        simulation_position(p.sim, block, i, x);
        mass += (double)p.sim->particles.mass[i];
        height += (double)p.sim->particles.mass[i] * x[1];
        vec_sub(away, x, middle);
        const double r = vec_length(away);
        inside = fmax(inside, radius - r);
        if (r < radius + 0.5 * dx || r > radius + 2 * dx) continue;
        for (int a = 0; a < 2; a++) v += (double)p.sim->particles.velocity[i][a] * away[a] / r;
        sum += v * r / radius, count++;
    }
    /* at the start, without the disc: .35; after: that of a box less a disc */
    const double disc = M_PI * radius * radius, level = 0.7 - M_PI * 0.01 + disc;
    const double expected = (level * level / 2 - disc * 0.35) / (level - disc);
    print_message("%s: speed %.4f at the disc (%d particles), deepest %.3f cells, height %.4f, "
                  "expected %.4f\n",
                  solver, sum / count, count, inside / dx, height / mass, expected);
    assert_true(count > 40);
    CHECK_BELOW(fabs(sum / count - 0.2), tolerance);
    CHECK_BELOW(inside / dx, 0.6);
    CHECK_BELOW(fabs(height / mass - expected), height_off);
    play_close(&p);
}

static void matter_has_the_speed_of_the_surface(void **state) {
    (void)state;
    if (WATCHED) skip();
    /* However long steps are: what lies in the way of the disc is not pushed away twice. */
    liquid_makes_room("type: flip", 0.01, 0.002);
    liquid_makes_room("type: flip, dt: 0.02", 0.01, 0.002);
    liquid_makes_room("type: flip, volume_correction: 0", 0.01, 0.003);
    liquid_makes_room("type: mpm, integrator: apic", 0.03, 0.01);
}

/* Also where it is driven, and there is more of it than at the start. */
static void a_driven_one_grows_too(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_pool(1, "type: mpm, integrator: apic",
                       "driven: true, shape: {mesh: {file: ball_###.obj, frames: {fps: 5}}}");
    const double middle[3] = {0.5, 0.35, 0};
    double inside = 0;
    play_until(&p, 0.6);
    EACH_PARTICLE(p.sim, block, i) {
        double x[3], away[3];
        simulation_position(p.sim, block, i, x);
        vec_sub(away, x, middle);
        inside = fmax(inside, 0.1 + 0.2 * p.sim->time - vec_length(away));
    }
    CHECK_BELOW(inside / 0.03125, 0.6);
    play_close(&p);
}

/* A plate moved by a sequence of files does what one moved by keys does. */
static void a_sequence_is_as_keys(void **state) {
    (void)state;
    if (WATCHED) skip();
    static const char *const solvers[] = {"type: flip", "type: mpm, integrator: apic"};
    static const char *const plates[] = {
        "shape: {mesh: {file: plate_##.obj, frames: {first: 0, fps: 4}}}",
        "shape: {mesh: {file: plate_00.obj}}, motion: {keys: [{t: 0}, {t: 1, translate: [0.4, "
        "0]}]}",
        "shape: {mesh: {file: plate_00.obj}}"};
    for (int s = 0; s < COUNT_OF(solvers); s++) {
        double x[3], force[3];
        for (int k = 0; k < 3; k++) {
            play p = play_pool(2, solvers[s], plates[k]);
            play_until(&p, 0.2);
            x[k] = force[k] = 0;
            EACH_PARTICLE(p.sim, block, i) {
                double at[3];
                simulation_position(p.sim, block, i, at);
                x[k] += at[0] / (double)p.sim->particles.count;
            }
            force[k] = play_quantity(&p, "c_force_x");
            play_close(&p);
        }
        print_message("%s: middle at %.5f, with keys %.5f, at rest %.5f; force %.3f, %.3f\n",
                      solvers[s], x[0], x[1], x[2], force[0], force[1]);
        CHECK_BELOW(fabs(x[0] - x[1]), 0.002 * fabs(x[1] - x[2]));
        CHECK_BELOW(fabs(force[0] - force[1]), 0.002 * fabs(force[1]));
    }
}

static void sequences_resume_and_do_not_see_threads(void **state) {
    (void)state;
    static const char *const solvers[] = {"type: flip", "type: mpm, integrator: asflip"};
    for (int s = 0; s < COUNT_OF(solvers); s++) {
        const uint64_t hash = play_hash(play_pool(1, solvers[s], swelling), 15, false);
        assert_true(play_hash(play_pool(3, solvers[s], swelling), 15, false) == hash);
        assert_true(play_hash(play_pool(2, solvers[s], swelling), 15, true) == hash);
    }
}

/* ---- Sources --------------------------------------------------------------------------------- */

static play play_source(int threads, const char *solver, const char *given) {
    return play_open(threads,
                     "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
                     "domain: {size: [1, 1.2], dx: 0.03125}\nsolver: {%s}\n"
                     "materials: {m: {model: liquid%s}}\nsources: [{name: s, material: m, %s}]\n",
                     solver, strstr(solver, "mpm") ? ", bulk_modulus: 2.0e4" : "", given);
}

/* What came out in the last step is made up for in the next: short steps. */
static const char *const all_solvers[] = {"type: flip, dt: 0.005", "type: mpm, integrator: apic"};

/* Volume that has come out, m^2; and means over all matter. */
typedef struct outflow {
    double volume, place[2], speed[2];
} outflow;

static outflow look_at_outflow(play *p) {
    outflow out = {.volume = play_quantity(p, "mass") / 1000};
    double count = 0;
    EACH_PARTICLE(p->sim, block, i) {
        double x[3];
        simulation_position(p->sim, block, i, x);
        for (int a = 0; a < 2; a++) {
            out.place[a] += x[a];
            out.speed[a] += (double)p->sim->particles.velocity[i][a];
        }
        count++;
    }
    for (int a = 0; a < 2; a++) out.place[a] /= count, out.speed[a] /= count;
    return out;
}

static outflow let_out(const char *solver, const char *file, double speed, double until) {
    char text[256];
    snprintf(text, sizeof text, "velocity: [0, %g], shape: {mesh: {%s}}", -speed, file);
    play p = play_source(2, solver, text);
    play_until(&p, until);
    const outflow out = look_at_outflow(&p);
    print_message("%s, %.1f m/s: volume %.5f, at (%.4f, %.4f) with (%.4f, %.4f) m/s\n", solver,
                  speed, out.volume, out.place[0], out.place[1], out.speed[0], out.speed[1]);
    play_close(&p);
    return out;
}

/* A block .2 x .3 that files move by .4 m/s. Without a velocity of its own its matter goes along
 * with it, and none is added; with one across the motion, v times the width comes out besides. As a
 * control, one that rests. */
static void matter_goes_along_with_its_source(void **state) {
    (void)state;
    if (WATCHED) skip();
    const double row = 0.2 * 0.03125 / 2; /* of particles: they come and go by rows */
    static const char moving[] = "file: block_##.obj, frames: {first: 0, fps: 4}";
    for (int s = 0; s < COUNT_OF(all_solvers); s++) {
        const outflow still = let_out(all_solvers[s], moving, 0, 0.5);
        CHECK_BELOW(fabs(still.place[0] - 0.4), 0.006);
        CHECK_BELOW(fabs(still.place[1] - 0.75), 0.006);
        CHECK_BELOW(fabs(still.speed[0] - 0.4) + fabs(still.speed[1]), 1e-3);
        const outflow flows = let_out(all_solvers[s], moving, 0.5, 0.5);
        CHECK_BELOW(fabs(flows.volume - 0.06 - 0.5 * 0.5 * 0.2), row);
        const double half = let_out(all_solvers[s], moving, 0.5, 0.25).volume;
        CHECK_BELOW(fabs(half - 0.06 - 0.25 * 0.5 * 0.2), row);
        CHECK_BELOW(fabs(flows.speed[0] - 0.4) + fabs(flows.speed[1] + 0.5), 1e-3);
        const outflow rests = let_out(all_solvers[s], "file: block_00.obj", 0, 0.5);
        CHECK_ABOVE(fabs(rests.place[0] - 0.4), 0.15);
    }
}

/* A ball that swells from .1 to .22 m holds as much as it has room for, and its matter at the
 * surface goes along with that. */
static void sources_fill_what_they_grow_by(void **state) {
    (void)state;
    if (WATCHED) skip();
    for (int s = 0; s < COUNT_OF(all_solvers); s++) {
        play p = play_source(2, all_solvers[s], swelling);
        for (int n = 0; n <= 3; n++) {
            play_until(&p, 0.2 * n);
            const double radius = 0.1 + 0.2 * p.sim->time;
            double outside = 0;
            EACH_PARTICLE(p.sim, block, i) {
                double x[3], away[3];
                simulation_position(p.sim, block, i, x);
                vec_sub(away, x, (double[]){0.5, 0.35, 0});
                outside = fmax(outside, vec_length(away) - radius);
            }
            const double volume = look_at_outflow(&p).volume, room = M_PI * radius * radius;
            print_message("%s: volume %.4f of %.4f, %.3f cells outside\n", all_solvers[s], volume,
                          room, outside / 0.03125);
            CHECK_BELOW(fabs(volume / room - 1), 0.02);
            CHECK_BELOW(outside / 0.03125, 0.05);
        }
        play_close(&p);
    }
}

static void sources_resume_and_do_not_see_threads(void **state) {
    (void)state;
    static const char given[] =
        "velocity: [0.1, -0.5], shape: {mesh: {file: ball_###.obj, frames: {fps: 5}}}";
    for (int s = 0; s < COUNT_OF(all_solvers); s++) {
        const uint64_t hash = play_hash(play_source(1, all_solvers[s], given), 15, false);
        assert_true(play_hash(play_source(3, all_solvers[s], given), 15, false) == hash);
        assert_true(play_hash(play_source(2, all_solvers[s], given), 15, true) == hash);
    }
}

/* ---- Smoke ----------------------------------------------------------------------------------- */

static play play_gas(int threads, const char *sides, const char *things) {
    return play_open(
        threads,
        "spate: 1\ndimension: 2\nduration: 10\nfps: 10\ngravity: [0, 0]\n"
        "domain: {size: [1.5, 1], dx: 0.03125, walls: {%s}}\n"
        "solver: {type: smoke, dt: 0.01}\nmaterials: {m: {model: gas}}\n"
        "bodies: [{material: m, shape: {box: {min: [1.2, 0.1], max: [1.3, 0.2]}}}]\n%s\n",
        sides, things);
}

/* What flows through the faces of a column, m^2/s. */
static double flux_at(const play *p, double x) {
    const smoke *s = p->sim->solver;
    double sum = 0;
    for (int j = 0; j < 32; j++) sum += value(s->velocity[0], s, (int)(x / s->dx + 0.5), j) * s->dx;
    return sum;
}

/* Gas makes room for what moves: a plate across a channel drives all of it at its speed, and a
 * swelling disc drives out what it grows by, 2 pi R dR/dt. As a control, both at rest. */
static void gas_flows_as_walls_push(void **state) {
    (void)state;
    if (WATCHED) skip();
    for (int k = 0; k < 2; k++) {
        play p = play_gas(
            2, "x_min: open, x_max: open",
            k ? "colliders: [{shape: {mesh: {file: plate_##.obj, frames: {first: 0, fps: 4}}}}]"
              : "colliders: [{shape: {mesh: {file: plate_00.obj}}}]");
        play_until(&p, 0.5);
        print_message("plate: %.6f behind it, %.6f ahead\n", flux_at(&p, 0.125), flux_at(&p, 1));
        CHECK_BELOW(fabs(flux_at(&p, 0.125) - 0.4 * k), 4e-4);
        CHECK_BELOW(fabs(flux_at(&p, 1) - 0.4 * k), 4e-4);
        play_close(&p);
    }
    for (int k = 0; k < 2; k++) {
        play p = play_gas(2, "x_max: open",
                          k ? "colliders: [{shape: {mesh: {file: ball_###.obj, frames: {fps: 5}}}}]"
                            : "colliders: [{shape: {mesh: {file: ball_001.obj}}}]");
        play_until(&p, 0.4);
        const double expected = k * 2 * M_PI * 0.18 * 0.2;
        print_message("disc: %.5f of %.5f\n", flux_at(&p, 1), expected);
        CHECK_BELOW(fabs(flux_at(&p, 1) - expected),
                    0.025 * 0.226); /* of a polygon of 64 corners */
        play_close(&p);
    }
}

/* A block of smoke that files move by .4 m/s: smoke and its speed are where the block is. */
static void smoke_goes_along_with_its_source(void **state) {
    (void)state;
    if (WATCHED) skip();
    play p = play_gas(2, "x_min: open, x_max: open",
                      "sources: [{material: m, shape: {mesh: {file: block_##.obj, frames: {first: "
                      "0, fps: 4}}}}]");
    play_until(&p, 0.5); /* from .3 to .5 m */
    const smoke *s = p.sim->solver;
    for (int i = 11; i < 15; i++)
        for (int j = 21; j < 27; j++) {
            CHECK_BELOW(fabs(value(s->velocity[0], s, i, j) - 0.4), 1e-5);
            CHECK_BELOW(fabs(value(s->dyes[0], s, i, j) - 1), 1e-5);
        }
    assert_true(value(s->dyes[0], s, 22, 24) < 0.05);
    play_close(&p);
}

static void gas_resumes_and_does_not_see_threads(void **state) {
    (void)state;
    static const char given[] =
        "colliders: [{shape: {mesh: {file: ball_###.obj, frames: {fps: 5}}}}]\n"
        "sources: [{material: m, velocity: [0, 0.2], shape: {mesh: {file: block_##.obj, frames: "
        "{first: 0, fps: 4}}}}]";
    const uint64_t hash = play_hash(play_gas(1, "x_max: open", given), 12, false);
    assert_true(play_hash(play_gas(3, "x_max: open", given), 12, false) == hash);
    assert_true(play_hash(play_gas(2, "x_max: open", given), 12, true) == hash);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuse(const char *solver, const char *what, const char *message) {
    play_refused(message,
                 "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.1}\nsolver: {type: %s}\nmaterials: {m: "
                 "{model: liquid}}\n"
                 "bodies: [{material: m, shape: {box: {min: [0, 0, 0], max: [1, 0.1, 1]}}}]\n%s\n",
                 solver, what);
}

static void bad_sequences_are_refused(void **state) {
    (void)state;
    write_box("odd_1.obj", (double[]){0, 0, 0}, (double[]){1, 1, 1});
    write_sphere("odd_2.obj", (double[]){0, 0, 0}, 1);
    refuse("flip", "colliders: [{shape: {mesh: {file: odd_#.obj, frames: {fps: 1}}}}]",
           "the first one 8 and 12");
    refuse("flip", "colliders: [{shape: {mesh: {file: odd_1.obj, frames: {fps: 1}}}}]",
           "write # for the number");
    refuse("flip", "colliders: [{shape: {mesh: {file: none_#.obj, frames: {fps: 1}}}}]",
           "0 files from none_1.obj on");
    refuse("flip", "colliders: [{shape: {mesh: {file: ball_###.obj, frames: {fps: 1, last: 7}}}}]",
           "ball_006.obj");
    refuse("flip", "colliders: [{shape: {mesh: {file: ball_###.obj, frames: {}}}}]", "fps");
    refuse("flip", "colliders: [{shape: {mesh: {file: ../ball_###.obj, frames: {fps: 1}}}}]",
           "'..'");
    refuse("sph", "colliders: [{shape: {mesh: {file: ball_###.obj, frames: {fps: 1}}}}]",
           "which sph does not know");
    refuse("sph", "sources: [{material: m, shape: {mesh: {file: ball_###.obj, frames: {fps: 1}}}}]",
           "source 'source 1' deforms, which sph does not know");
    refuse("flip", "sources: [{material: m, shape: {mesh: {file: odd_#.obj, frames: {fps: 1}}}}]",
           "test:6:46: sources.0.shape.mesh.file: ./odd_2.obj: it has 2112 vertices");
    refuse(
        "mpm",
        "sources: [{material: m, shape: {mesh: {file: ball_###.obj, frames: {fps: 1, last: 7}}}}]",
        "ball_006.obj");
    refuse("flip", "sinks: [{shape: {mesh: {file: ball_###.obj, frames: {fps: 1}}}}]",
           "which a sink cannot");
    refuse("flip",
           "forces: [{wind: {acceleration: [1, 0, 0]}, region: {mesh: {file: ball_###.obj, frames: "
           "{fps: 1}}}}]",
           "which a region cannot");
    refuse("flip",
           "colliders: [{shape: {union: [{mesh: {file: ball_###.obj, frames: {fps: 1}}}]}}]",
           "which a part of another shape cannot");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sphere_expands),
        cmocka_unit_test(fast_plates_stay_whole),
        cmocka_unit_test(a_step_is_limited_while_it_moves),
        cmocka_unit_test(the_past_does_not_matter),
        cmocka_unit_test(matter_has_the_speed_of_the_surface),
        cmocka_unit_test(a_driven_one_grows_too),
        cmocka_unit_test(a_sequence_is_as_keys),
        cmocka_unit_test(sequences_resume_and_do_not_see_threads),
        cmocka_unit_test(matter_goes_along_with_its_source),
        cmocka_unit_test(sources_fill_what_they_grow_by),
        cmocka_unit_test(sources_resume_and_do_not_see_threads),
        cmocka_unit_test(gas_flows_as_walls_push),
        cmocka_unit_test(smoke_goes_along_with_its_source),
        cmocka_unit_test(gas_resumes_and_does_not_see_threads),
        cmocka_unit_test(bad_sequences_are_refused),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
