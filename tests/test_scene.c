/* The scene reader: every value of good scenes, overrides, hashes, summary and reference. */
#include "core/text.h"
#include "scene/scene.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static spate_context *ctx;
static int64_t blocks_at_start;
static char last_warning[1024];

static void keep_warning(spate_log_level level, const char *message, void *user) {
    (void)user;
    if (level == SPATE_LOG_WARNING) snprintf(last_warning, sizeof last_warning, "%s", message);
}

static int open_context(void **state) {
    (void)state;
    spate_config config = spate_default_config();
    config.log = keep_warning;
    config.threads = 1;
    if (spate_open(&config, &ctx) != SPATE_OK) return -1;
    blocks_at_start = ctx->blocks_now;
    last_warning[0] = 0;
    return 0;
}

/* Fails when something was not given back. */
static int close_context(void **state) {
    (void)state;
    int64_t left = ctx->blocks_now - blocks_at_start;
    spate_close(ctx);
    return left == 0 ? 0 : -1;
}

static spate_scene *read_with(const char *document, const char *const *sets, int count) {
    spate_scene *s;
    spate_status status = spate_scene_parse(ctx, document, strlen(document), "f.yaml",
                                            "no/such/folder", sets, count, &s);
    if (status != SPATE_OK) fail_msg("%s", spate_message(ctx));
    return s;
}
static spate_scene *read_good(const char *document) { return read_with(document, NULL, 0); }

/* A small good scene, a line each; a case replaces one line (from 1) or adds one (line 6). */
static const char *const small[] = {
    "spate: 1",
    "dimension: 2",
    "domain: {size: [4, 2], dx: 0.1}",
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 2e5, gamma: 7}}",
    "bodies: [{name: dam, material: water, shape: {box: {min: [0, 0], max: [1, 1]}}}]",
};

static void compose(int line, const char *replacement, char out[4096]) {
    size_t n = 0;
    for (int i = 1; i <= COUNT_OF(small); i++)
        n += (size_t)snprintf(out + n, 4096 - n, "%s\n", i == line ? replacement : small[i - 1]);
    if (line > COUNT_OF(small)) snprintf(out + n, 4096 - n, "%s\n", replacement);
}

#define BODY(rest)  "bodies: [{name: dam, material: water, " rest "}]"
#define SHAPE(rest) "bodies: [{material: water, shape: {" rest "}}]"

/* ---- Good scenes ----------------------------------------------------------------------------- */

static const char full[] =
    "spate: 1\n"
    "name: dam break\n"
    "dimension: 3\n"
    "seed: 7\n"
    "units: si\n"
    "domain: {origin: [-1, 0, 0.5], size: [4, 2, 1], dx: 0.125, wall_friction: 0.25,\n"
    "         walls: {x_min: sticky, y_max: open, z_min: periodic, z_max: periodic}}\n"
    "gravity: [0, -1.5, 0.25]\n"
    "duration: 2.0\n"
    "fps: 50\n"
    "solver: {type: mpm, integrator: apic, dt: 1e-4, cfl: 0.25, max_steps: 1e3}\n"
    "materials:\n"
    "  water: {model: liquid, density: 998, bulk_modulus: 2.0e5, gamma: 7, viscosity: 1e-3}\n"
    "  jelly: {model: neo_hookean, density: 1100, young_modulus: 1e4, poisson: 0.4}\n"
    "bodies:\n"
    "  - {name: dam, material: water, shape: {box: {min: [0, 0, 0.5], max: [1, 1, 1]}},\n"
    "     particles_per_cell: 27, velocity: [1, 2, 3], spin: [0, 0, 4], sampling: poisson,\n"
    "     vortices: [-0.5, 0.25]}\n"
    "  - {material: jelly, jitter: 0.75, shape: {sphere: {center: [2, 1, 1], radius: 0.25}}}\n"
    "colliders:\n"
    "  - name: post\n"
    "    shape: {cylinder: {from: [2, 0, 1], to: [2, 1, 1], radius: 0.2}}\n"
    "    contact: sticky\n"
    "    friction: 0.3\n"
    "    motion:\n"
    "      pivot: [2, 0.5, 0.5]\n"
    "      interpolate: smooth\n"
    "      repeat: true\n"
    "      keys: [{t: 0}, {t: 1, rotate: [0, 2, 0, 90]}, {t: 2, translate: [1, 2, 3]},\n"
    "             {t: 3, rotate: [0, 1, 0, 720]}]\n"
    "  - {shape: {plane: {point: [0, 0.1, 0], normal: [0, 5, 0]}}}\n"
    "sources:\n"
    "  - {name: nozzle, material: jelly, shape: {sphere: {center: [1, 1.5, 1], radius: 0.1}},\n"
    "     velocity: [0, -2, 0], from: 0.5, until: 1.0, limit: 200000, particles_per_cell: 1}\n"
    "  - {material: water, shape: {sphere: {center: [1, 1.5, 1], radius: 0.1}}}\n"
    "sinks:\n"
    "  - {name: drain, shape: {box: {min: [0, 0, 0.5], max: [1, 0.1, 1]}}, from: 0.25, until: 2}\n"
    "  - {shape: {plane: {point: [0, 0.1, 0], normal: [0, 1, 0]}}}\n"
    "probes:\n"
    "  - {name: front, extent: {of: dam, axis: x, side: max}}\n"
    "  - {name: low, extent: {axis: z, side: min}}\n"
    "  - {name: h2, height: {at: [2.5, 0.75]}}\n"
    "  - {name: p1, pressure: {at: [2.99, 0.1, 0.5]}}\n"
    "  - {center_of_mass: {of: nozzle}}\n"
    "  - {name: over, count: {of: nozzle, shape: {plane: {point: [0, 1, 0], normal: [0, -1, "
    "0]}}}}\n"
    "  - {name: v, mean_speed: {}}\n"
    "  - {name: v1, mean_speed: {shape: {sphere: {center: [1, 1, 1], radius: 0.5}}}}\n"
    "  - {name: s, spread: {}}\n"
    "  - {name: s1, spread: {of: nozzle, axis: horizontal}}\n"
    "  - {name: n, pieces: {}}\n"
    "  - {name: n1, pieces: {of: nozzle, gap: 0.5, at_least: 10}}\n"
    "  - {name: l, largest_piece: {gap: 0.25}}\n"
    "  - {name: m, mixing: {axis: z}}\n"
    "  - {name: u, velocity: {at: [1, 0.5, 1.25]}}\n"
    "output: {particles: [vtp, bgeo], fields: [J, stress], surface: none, checkpoint: 3,\n"
    "         volume: none}\n"
    "camera: {from: [6, 3, 5], to: [2, 0.5, 0.5], fov: 40}\n";

static void assert_vector(const double v[3], double x, double y, double z) {
    assert_true(fabs(v[0] - x) < 1e-12 && fabs(v[1] - y) < 1e-12 && fabs(v[2] - z) < 1e-12);
}
static void assert_number(double a, double b) { assert_true(fabs(a - b) <= 1e-12 * fabs(b)); }

static void test_full_scene(void **state) {
    (void)state;
    spate_scene *s = read_good(full);
    assert_string_equal(s->name, "dam break");
    assert_int_equal(s->dim, 3);
    assert_int_equal(s->seed, 7);
    assert_int_equal(s->units, UNITS_SI);
    assert_vector(s->domain.origin, -1, 0, 0.5);
    assert_vector(s->domain.size, 4, 2, 1);
    assert_int_equal(s->domain.cells[0], 32);
    assert_int_equal(s->domain.cells[1], 16);
    assert_int_equal(s->domain.cells[2], 8);
    assert_number(s->domain.wall_friction, 0.25);
    static const wall walls[6] = {WALL_STICKY, WALL_SLIP,     WALL_SLIP,
                                  WALL_OPEN,   WALL_PERIODIC, WALL_PERIODIC};
    assert_memory_equal(s->domain.walls, walls, sizeof walls);
    assert_vector(s->gravity, 0, -1.5, 0.25);
    assert_number(s->duration, 2);
    assert_number(s->fps, 50);
    assert_string_equal(s->solver->name, "mpm");
    assert_non_null(s->solver_options);
    assert_number(s->dt, 1e-4);
    assert_number(s->cfl, 0.25);
    assert_int_equal(s->max_steps, 1000);
    assert_int_equal(s->material_count, 2);
    assert_string_equal(s->materials[0].name, "water");
    assert_string_equal(s->materials[0].type->name, "liquid");
    assert_number(s->materials[0].density, 998);
    assert_string_equal(s->materials[1].type->name, "neo_hookean");
    assert_number(s->materials[1].density, 1100);
    assert_int_equal(s->warnings, 1); /* the second source has no velocity */
    spate_scene_free(s);
}

static void test_full_bodies(void **state) {
    (void)state;
    spate_scene *s = read_good(full);
    assert_int_equal(s->body_count, 2);
    const body *dam = &s->bodies[0], *ball = &s->bodies[1];
    assert_string_equal(dam->name, "dam");
    assert_int_equal(dam->material, 0);
    assert_int_equal(dam->shape->kind, SHAPE_BOX);
    assert_vector(dam->shape->a, 0, 0, 0.5);
    assert_vector(dam->shape->b, 1, 1, 1);
    assert_number(dam->particles_per_cell, 27);
    assert_vector(dam->velocity, 1, 2, 3);
    assert_vector(dam->spin, 0, 0, 4);
    assert_int_equal(dam->sampling, SAMPLE_POISSON);
    assert_number(dam->vortices[0], -0.5);
    assert_number(dam->vortices[1], 0.25);
    assert_true(s->bodies[1].vortices[0] == 0);
    assert_string_equal(ball->name, "body 2");
    assert_int_equal(ball->material, 1);
    assert_int_equal(ball->sampling, SAMPLE_JITTERED);
    assert_number(ball->jitter, 0.75);
    assert_number(ball->particles_per_cell, 8);
    assert_vector(ball->velocity, 0, 0, 0);
    assert_vector(ball->shape->a, 2, 1, 1);
    assert_number(ball->shape->radius, 0.25);
    assert_int_equal(s->source_count, 2);
    const source *nozzle = &s->sources[0], *second = &s->sources[1];
    assert_int_equal(nozzle->material, 1);
    assert_vector(nozzle->velocity, 0, -2, 0);
    assert_number(nozzle->from, 0.5);
    assert_number(nozzle->until, 1);
    assert_int_equal(nozzle->limit, 200000);
    assert_number(nozzle->particles_per_cell, 1);
    assert_string_equal(second->name, "source 2");
    assert_number(second->from, 0.0);
    assert_true(isinf(second->until));
    assert_true(second->limit == INT64_MAX);
    assert_number(second->particles_per_cell, 8);
    spate_scene_free(s);
}

static void test_full_colliders(void **state) {
    (void)state;
    spate_scene *s = read_good(full);
    const double turn = acos(-1) / 2;
    assert_int_equal(s->collider_count, 2);
    const collider *post = &s->colliders[0], *floor_ = &s->colliders[1];
    assert_string_equal(post->name, "post");
    assert_int_equal(post->contact, CONTACT_STICKY);
    assert_number(post->friction, 0.3);
    assert_vector(post->shape->b, 2, 1, 1);
    const motion *m = &post->motion;
    assert_vector(m->pivot, 2, 0.5, 0.5);
    assert_int_equal(m->interpolation, MOTION_SMOOTH);
    assert_true(m->repeat);
    assert_int_equal(m->key_count, 4);
    /* a key that leaves something out keeps what was before; the first takes the axis to come */
    assert_vector(m->keys[0].axis, 0, 1, 0);
    assert_true(m->keys[0].angle == 0);
    assert_vector(m->keys[1].axis, 0, 1, 0);
    assert_number(m->keys[1].angle, turn);
    assert_vector(m->keys[1].translate, 0, 0, 0);
    assert_number(m->keys[2].angle, turn);
    assert_vector(m->keys[2].translate, 1, 2, 3);
    assert_vector(m->keys[3].translate, 1, 2, 3);
    assert_number(m->keys[3].angle, 8 * turn);
    assert_string_equal(floor_->name, "collider 2");
    assert_int_equal(floor_->contact, CONTACT_SEPARATE);
    assert_int_equal(floor_->motion.key_count, 0);
    assert_vector(floor_->shape->b, 0, 1, 0);
    spate_scene_free(s);
}

static void test_full_sinks(void **state) {
    (void)state;
    spate_scene *s = read_good(full);
    assert_int_equal(s->sink_count, 2);
    assert_string_equal(s->sinks[0].name, "drain");
    assert_int_equal(s->sinks[0].shape->kind, SHAPE_BOX);
    assert_number(s->sinks[0].from, 0.25);
    assert_number(s->sinks[0].until, 2);
    assert_string_equal(s->sinks[1].name, "sink 2");
    assert_true(s->sinks[1].from == 0 && isinf(s->sinks[1].until));
    /* sinks decide the course of a run */
    const char *const sets[] = {"sinks.1.until=1", "sinks.drain.name=plug", "seed=7"};
    for (int i = 0; i < COUNT_OF(sets); i++) {
        spate_scene *other = read_with(full, &sets[i], 1);
        assert_int_equal(other->hash == s->hash, i == 2); /* control: the seed it has */
        spate_scene_free(other);
    }
    spate_scene_free(s);
}

static void test_full_probes(void **state) {
    (void)state;
    spate_scene *s = read_good(full);
    const probe *p = s->probes + 5;
    static const probe_kind kinds[] = {PROBE_COUNT,  PROBE_MEAN_SPEED,    PROBE_MEAN_SPEED,
                                       PROBE_SPREAD, PROBE_SPREAD,        PROBE_PIECES,
                                       PROBE_PIECES, PROBE_LARGEST_PIECE, PROBE_MIXING};
    static const int groups[] = {2, -1, -1, -1, 2, -1, 2, -1, -1};
    for (int i = 0; i < COUNT_OF(kinds); i++) {
        assert_int_equal(p[i].kind, kinds[i]);
        assert_int_equal(p[i].group, groups[i]);
        assert_int_equal(p[i].shape != NULL, i == 0 || i == 2);
    }
    assert_int_equal(p[0].shape->kind, SHAPE_PLANE);
    assert_int_equal(p[3].axis, AXIS_ALL);
    assert_int_equal(p[4].axis, AXIS_HORIZONTAL);
    assert_number(p[5].gap, 0.125); /* dx */
    assert_int_equal(p[5].at_least, 1);
    assert_number(p[6].gap, 0.5);
    assert_int_equal(p[6].at_least, 10);
    assert_number(p[7].gap, 0.25);
    assert_int_equal(p[8].axis, 2);
    spate_scene_free(s);
}

static void test_full_output(void **state) {
    (void)state;
    spate_scene *s = read_good(full);
    assert_int_equal(s->probe_count, 15);
    assert_int_equal(s->probes[14].kind, PROBE_VELOCITY);
    assert_vector(s->probes[14].at, 1, 0.5, 1.25);
    assert_int_equal(s->probes[14].group, -1);
    const probe *p = s->probes;
    assert_string_equal(p[0].name, "front");
    assert_int_equal(p[0].kind, PROBE_EXTENT);
    assert_int_equal(p[0].group, 0);
    assert_int_equal(p[0].axis, 0);
    assert_int_equal(p[0].side, 1);
    assert_int_equal(p[1].group, -1);
    assert_int_equal(p[1].axis, 2);
    assert_int_equal(p[1].side, 0);
    assert_int_equal(p[2].kind, PROBE_HEIGHT);
    assert_vector(p[2].at, 2.5, 0, 0.75);
    assert_int_equal(p[3].kind, PROBE_PRESSURE);
    assert_vector(p[3].at, 2.99, 0.1, 0.5);
    assert_int_equal(p[4].kind, PROBE_CENTER_OF_MASS);
    assert_string_equal(p[4].name, "probe 5");
    assert_int_equal(p[4].group, 2); /* the first source, behind two bodies */
    assert_int_equal(s->output.particles, OUTPUT_VTP | OUTPUT_BGEO);
    assert_int_equal(s->output.field_count, 2);
    assert_string_equal(s->output.fields[1], "stress");
    assert_false(s->output.gradient);
    assert_false(s->output.volumes);
    assert_int_equal(s->output.checkpoint, 3);
    assert_int_equal(s->output.surface, 0);
    assert_true(s->camera.given);
    assert_vector(s->camera.from, 6, 3, 5);
    assert_vector(s->camera.to, 2, 0.5, 0.5);
    assert_number(s->camera.fov, 40);
    spate_scene_free(s);
}

static void test_defaults(void **state) {
    (void)state;
    char document[4096];
    compose(6, "", document);
    spate_scene *s = read_good(document);
    assert_string_equal(s->name, "f"); /* after f.yaml */
    assert_vector(s->gravity, 0, -9.81, 0);
    assert_number(s->duration, 1);
    assert_number(s->fps, 25);
    assert_true(s->dt == 0);
    assert_number(s->cfl, 0.5);
    assert_int_equal(s->max_steps, 0);
    assert_int_equal(s->output.particles, OUTPUT_VTP);
    assert_int_equal(s->output.field_count, 0);
    assert_true(s->output.volumes);
    assert_vector(s->domain.wall_velocity[1][1], 0, 0, 0);
    assert_true(s->bodies[0].vortices[0] == 0);
    assert_int_equal(s->output.checkpoint, 10);
    assert_false(s->camera.given);
    assert_int_equal(s->domain.cells[2], 1);
    assert_number(s->domain.size[2], 0.1);
    assert_int_equal(s->domain.walls[1][0], WALL_SLIP);
    assert_int_equal(s->domain.walls[2][0], WALL_OPEN);
    assert_number(s->bodies[0].particles_per_cell, 4);
    assert_int_equal(s->particle_count, -1);
    spate_scene_free(s);
}

static void test_walls_as_list(void **state) {
    (void)state;
    char document[4096];
    static const wall walls[4] = {WALL_PERIODIC, WALL_PERIODIC, WALL_SEPARATE, WALL_OPEN};
    compose(3, "domain: {size: [4, 2], dx: 0.1, walls: [periodic, periodic, separate, open]}",
            document);
    spate_scene *s = read_good(document);
    assert_memory_equal(s->domain.walls, walls, sizeof walls);
    spate_scene_free(s);
    compose(3, "domain: {size: [4, 2], dx: 0.1, walls: sticky}", document);
    s = read_good(document);
    for (int i = 0; i < 4; i++) assert_int_equal(s->domain.walls[i / 2][i % 2], WALL_STICKY);
    assert_int_equal(s->domain.walls[2][1], WALL_OPEN);
    spate_scene_free(s);
}

static void test_shapes(void **state) {
    (void)state;
    char document[4096];
    compose(5,
            SHAPE("difference: [{union: [{torus: {center: [1, 1], radius: 0.5, thickness: 0.1}}, "
                  "{capsule: {from: [0, 0], to: [1, 0], radius: 0.2}}], rotate: 90, scale: 2, "
                  "translate: [3, 0]}, {polygon: [[0, 0], [1, 0], [0, 1]]}, {intersection: "
                  "[{rounded_box: {min: [0, 0], max: [1, 1], radius: 0.1}}]}]"),
            document);
    spate_scene *s = read_good(document);
    const shape *top = s->bodies[0].shape;
    assert_int_equal(top->kind, SHAPE_DIFFERENCE);
    assert_int_equal(top->child_count, 3);
    const shape *both = top->children[0];
    assert_int_equal(both->kind, SHAPE_UNION);
    assert_number(both->scale, 2);
    assert_vector(both->move, 3, 0, 0);
    assert_true(fabs(both->turn[1][0] - 1) < 1e-12 && fabs(both->turn[0][1] + 1) < 1e-12);
    assert_vector(both->children[0]->b, 0, 0, 1); /* the axis of a ring in the plane */
    assert_number(both->children[0]->thickness, 0.1);
    assert_int_equal(both->children[1]->kind, SHAPE_CAPSULE);
    assert_int_equal(top->children[1]->point_count, 3);
    assert_vector(top->children[1]->points[2], 0, 1, 0);
    assert_int_equal(top->children[2]->children[0]->kind, SHAPE_ROUNDED_BOX);
    spate_scene_free(s);
}

static void test_cgs(void **state) {
    (void)state;
    char document[4096];
    compose(2, "dimension: 2\nunits: cgs", document);
    spate_scene *s = read_good(document);
    assert_vector(s->gravity, 0, -981, 0);
    assert_int_equal(s->units, UNITS_CGS);
    assert_number(s->materials[0].density, 1000); /* given numbers are never converted */
    spate_scene_free(s);
    /* defaults are: kg/m^3 to g/cm^3 */
    const char *water = "materials={water: {model: liquid}}";
    s = read_with(document, &water, 1);
    double density = s->materials[0].density;
    spate_scene_free(s);
    s = read_with(document, (const char *[]){water, "units=si"}, 2);
    assert_number(density, s->materials[0].density / 1000);
    spate_scene_free(s);
}

/* A file with a comma for a decimal point in force reads the same numbers. */
static void test_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool found = false;
    for (int i = 0; i < COUNT_OF(names) && !found; i++) found = setlocale(LC_ALL, names[i]) != NULL;
    spate_scene *s = read_good(full);
    assert_number(s->domain.dx, 0.125);
    assert_number(s->gravity[1], -1.5);
    uint64_t hash = s->hash;
    spate_scene_free(s);
    char document[4096];
    compose(3, "domain: {size: [4, 2], dx: -0.5}", document);
    spate_scene *none;
    assert_int_equal(
        spate_scene_parse(ctx, document, strlen(document), "f.yaml", ".", NULL, 0, &none),
        SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "-0.5 is out of range"));
    setlocale(LC_ALL, "C");
    s = read_good(full);
    assert_true(s->hash == hash);
    spate_scene_free(s);
    if (!found) print_message("no locale with a decimal comma is installed\n");
}

static void test_no_frame_warns(void **state) {
    (void)state;
    char document[4096];
    compose(6, "duration: 0.01\nfps: 50", document);
    spate_scene *s = read_good(document);
    assert_int_equal(s->warnings, 1);
    assert_non_null(strstr(last_warning, "ends before the first frame at 0.02 s"));
    spate_scene_free(s);
}

static void test_size_is_rounded(void **state) {
    (void)state;
    char document[4096];
    compose(3, "domain: {size: [4.04, 2.00001], dx: 0.1}", document);
    spate_scene *s = read_good(document);
    assert_number(s->domain.size[0], 4.0);
    assert_int_equal(s->domain.cells[0], 40);
    assert_int_equal(s->warnings, 1); /* x is off by 0.4 cells, y by less than a thousandth */
    assert_non_null(strstr(last_warning, "f.yaml:3:17: domain.size: 4.04 along x"));
    assert_non_null(strstr(last_warning, "becomes 4 (40 cells)"));
    spate_scene_free(s);
}

/* ---- Overrides, hashes, the scene written out
 * ---------------------------------------------------- */

static void test_overrides(void **state) {
    (void)state;
    const char *const sets[] = {
        "solver.cfl=0.3",
        "bodies.0.velocity=[4,5,6]",
        "bodies.body 2.velocity=[7,8,9]",
        "bodies.1.name=ball",
        "bodies.ball.spin=[1,0,0]",
        "colliders.post.motion.keys.0.t=-1",
        "gravity.1=-3",
        "output.particles=none",
        "materials.water.density=5",
        "probes.14={name: x, height: {at: [0, 1]}}",
    };
    spate_scene *s;
    /* an unnamed entry has no name in the file yet: by index only */
    spate_status status =
        spate_scene_parse(ctx, full, strlen(full), "f.yaml", ".", sets, COUNT_OF(sets), &s);
    assert_int_equal(status, SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "--set bodies.body 2.velocity=[7,8,9]: no entry"));
    const char *good[COUNT_OF(sets)];
    memcpy(good, sets, sizeof sets);
    good[2] = "bodies.1.velocity=[7,8,9]";
    s = read_with(full, good, COUNT_OF(good));
    assert_number(s->cfl, 0.3);
    assert_vector(s->bodies[0].velocity, 4, 5, 6);
    assert_vector(s->bodies[1].velocity, 7, 8, 9);
    assert_string_equal(s->bodies[1].name, "ball");
    assert_vector(s->bodies[1].spin, 1, 0, 0);
    assert_number(s->colliders[0].motion.keys[0].t, -1.0);
    assert_vector(s->gravity, 0, -3, 0.25);
    assert_int_equal(s->output.particles, 0);
    assert_number(s->materials[0].density, 5);
    assert_int_equal(s->probe_count, 15);
    spate_scene_free(s);
}

static void test_colours(void **state) {
    (void)state;
    spate_scene *s = read_good("spate: 1\ndimension: 2\ndomain: {size: [4, 2], dx: 0.1}\n"
                               "materials:\n"
                               "  oil: {model: liquid, color: Dark Green, look: skin}\n"
                               "  dust: {model: sand, young_modulus: 1.0e6}\n"
                               "bodies:\n"
                               "  - {material: oil, color: \"#ff8000\", shape: {sphere: {center: "
                               "[1, 1], radius: 0.5}}}\n"
                               "  - {material: dust, shape: {sphere: {center: [2, 1], radius: "
                               "0.5}}}\n"
                               "colliders: [{color: [0.25, 0.5, 1], shape: {sphere: {center: [3, "
                               "1], radius: 0.5}}}]\n"
                               "sources: [{material: oil, color: white, velocity: [1, 0], shape: "
                               "{sphere: {center: [1, 1], radius: 0.5}}}]\n");
    assert_true(s->materials[0].color.given && !s->materials[1].color.given);
    assert_vector(s->materials[0].color.rgb, 0, 100 / 255.0, 0);
    assert_vector(s->bodies[0].color.rgb, 1, 128 / 255.0, 0);
    assert_vector(s->colliders[0].color.rgb, 0.25, 0.5, 1);
    assert_vector(s->sources[0].color.rgb, 1, 1, 1);
    assert_true(scene_colors_groups(s) && scene_group_color(s, 2)->given);
    assert_false(scene_group_color(s, 1)->given);
    assert_int_equal(s->materials[0].look, LOOK_SKIN); /* instead of the model's */
    assert_int_equal(s->materials[1].look, LOOK_GRAINS);
    spate_scene_free(s);
}

static void test_hash(void **state) {
    (void)state;
    static const struct {
        const char *set;
        bool hash_changes, full_hash_changes;
    } cases[] = {
        {"fps=50.0", false, false},
        {"name=other", false, true},
        {"duration=3", false, true},
        {"output.checkpoint=1", false, true},
        {"camera.fov=20", false, true},
        {"solver.max_steps=7", false, true},
        {"materials.water.color=red", false, true},
        {"materials.water.look=grains", false, true},
        {"bodies.0.color=[1,0,0]", false, true},
        {"colliders.0.color=red", false, true},
        {"sources.0.color=red", false, true},
        {"solver.cfl=0.2500001", true, true},
        {"fps=51", true, true},
        {"seed=8", true, true},
        {"bodies.0.velocity.2=3.0001", true, true},
        {"materials.water.gamma=6", true, true},
        {"gravity.2=0", true, true},
        {"units=cgs", true, true},
        {"colliders.0.friction=0.31", true, true},
    };
    spate_scene *plain = read_good(full);
    for (int i = 0; i < COUNT_OF(cases); i++) {
        spate_scene *s = read_with(full, &cases[i].set, 1);
        if ((s->hash != plain->hash) != cases[i].hash_changes) fail_msg("%s", cases[i].set);
        if ((s->full_hash != plain->full_hash) != cases[i].full_hash_changes)
            fail_msg("full: %s", cases[i].set);
        spate_scene_free(s);
    }
    spate_scene_free(plain);
}

static void test_canonical_reads_back(void **state) {
    (void)state;
    const char *const sets[] = {"solver.cfl=0.3", "name='a: \"b\" #'",
                                "bodies.0.name=\"\xc3\xa4\""};
    const char *probes = "probes.0.extent.of=\xc3\xa4";
    const char *all[] = {sets[0], sets[1], sets[2], probes};
    spate_scene *s = read_with(full, all, COUNT_OF(all));
    spate_scene *again = read_good(s->canonical);
    assert_true(again->hash == s->hash);
    assert_true(again->full_hash == s->full_hash);
    assert_string_equal(again->name, "a: \"b\" #");
    assert_string_equal(again->canonical, s->canonical);
    spate_scene_free(again);
    spate_scene_free(s);
}

/* ---- Files, summary, reference
 * ------------------------------------------------------------------- */

static void write_file(const char *path, const char *content) {
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(content, f);
    fclose(f);
}

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                  "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

static void test_mesh_from_folder(void **state) {
    (void)state;
    char folder[] = "/tmp/spate_scene_XXXXXX", scene[64], mesh_file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(scene, sizeof scene, "%s/tet.yaml", folder);
    snprintf(mesh_file, sizeof mesh_file, "%s/t.obj", folder);
    write_file(scene, "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.125}\n"
                      "materials: {w: {model: liquid, density: 1, bulk_modulus: 1, gamma: 7}}\n"
                      "bodies: [{material: w, shape: {mesh: {file: t.obj}}},\n"
                      "  {material: w, shape: {mesh: {file: t.obj}, translate: [0.5, 0, 0]}}]\n");
    write_file(mesh_file, tetrahedron);
    spate_scene *s, *changed;
    if (spate_scene_load(ctx, scene, NULL, 0, &s)) fail_msg("%s", spate_message(ctx));
    assert_string_equal(s->name, "tet");
    assert_string_equal(s->folder, folder);
    assert_non_null(s->bodies[0].shape->mesh);
    assert_ptr_equal(s->bodies[0].shape->mesh, s->bodies[1].shape->mesh); /* read once */
    /* another mesh under the same name is another scene */
    write_file(mesh_file, "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 0.9\n"
                          "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
    assert_int_equal(spate_scene_load(ctx, scene, NULL, 0, &changed), SPATE_OK);
    assert_true(changed->hash != s->hash);
    spate_scene_free(changed);
    spate_scene_free(s);
    write_file(mesh_file, "this is a shopping list\n");
    assert_int_equal(spate_scene_load(ctx, scene, NULL, 0, &s), SPATE_BAD_INPUT);
    char place[128];
    snprintf(place, sizeof place, "%s:4:45: bodies.0.shape.mesh.file: ", scene);
    assert_ptr_equal(strstr(spate_message(ctx), place), spate_message(ctx));
    unlink(mesh_file);
    unlink(scene);
    rmdir(folder);
}

static void test_missing_file(void **state) {
    (void)state;
    spate_scene *s;
    assert_int_equal(spate_scene_load(ctx, "no/such/scene.yaml", NULL, 0, &s), SPATE_BAD_INPUT);
    assert_null(s);
    assert_non_null(strstr(spate_message(ctx), "no/such/scene.yaml"));
}

static void test_summary(void **state) {
    (void)state;
    char document[4096];
    spate_scene_summary sum;
    compose(6, "duration: 2.5\nfps: 10", document);
    spate_scene *s = read_good(document);
    assert_int_equal(spate_scene_summarise(s, &sum), SPATE_OK);
    assert_int_equal(sum.particles, 400); /* 10 x 10 cells of 4 */
    assert_int_equal(s->particle_count, 400);
    assert_int_equal(sum.frames, 25);
    assert_int_equal(sum.dimension, 2);
    assert_int_equal(sum.cells[0], 40);
    assert_int_equal(sum.cells[1], 20);
    assert_int_equal(sum.bodies, 1);
    assert_int_equal(sum.warnings, 0);
    assert_true(sum.hash == s->hash);
    assert_string_equal(sum.solver, "mpm");
    spate_scene_free(s);
}

static void test_summary_warns(void **state) {
    (void)state;
    char document[4096];
    spate_scene_summary sum;
    compose(6, "colliders: [{name: sheet, shape: {box: {min: [2, 0], max: [2.05, 1]}}}]", document);
    spate_scene *s = read_good(document);
    assert_int_equal(spate_scene_summarise(s, &sum), SPATE_OK);
    assert_int_equal(sum.warnings, 1);
    assert_non_null(strstr(last_warning, "collider 'sheet' is 0.05 thick"));
    assert_int_equal(spate_scene_summarise(s, &sum), SPATE_OK);
    assert_int_equal(sum.warnings, 1); /* told once */
    spate_scene_free(s);
    compose(5, BODY("shape: {box: {min: [-1, 0], max: [1, 1]}}"), document);
    s = read_good(document);
    assert_int_equal(spate_scene_summarise(s, &sum), SPATE_OK);
    assert_int_equal(sum.warnings, 1);
    assert_int_equal(sum.particles, 400);
    assert_non_null(strstr(last_warning, "body 'dam' reaches out of the domain; 50 %"));
    spate_scene_free(s);
}

static void test_empty_body_fails(void **state) {
    (void)state;
    char document[4096];
    spate_scene_summary sum;
    /* its bounds touch the domain, the disc itself does not */
    compose(5, BODY("shape: {sphere: {center: [4.75, 2.75], radius: 1}}"), document);
    spate_scene *s = read_good(document);
    assert_int_equal(spate_scene_summarise(s, &sum), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "bodies.0: body 'dam' has no particles; "));
    spate_scene_free(s);
}

/* Every allocation failing in turn, once and from there on: a status, and nothing left behind. */
typedef struct failing_memory {
    int64_t count, fail_at;
    bool keep_failing;
} failing_memory;

static void *allocate_or_fail(size_t bytes, void *user) {
    failing_memory *m = user;
    int64_t n = m->count++;
    return n == m->fail_at || (m->keep_failing && n > m->fail_at) ? NULL : malloc(bytes);
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

static void test_failing_memory(void **state) {
    (void)state;
    failing_memory memory = {.fail_at = -1};
    spate_config config = spate_default_config();
    config.allocate = allocate_or_fail;
    config.release = release;
    config.user = &memory;
    config.threads = 1;
    spate_context *c;
    assert_int_equal(spate_open(&config, &c), SPATE_OK);
    const int64_t blocks = c->blocks_now;
    const char *set = "bodies.2={material: water, shape: {points: [[1, 1, 1]]}}";
    spate_status status = SPATE_OUT_OF_MEMORY;
    int tries = 0;
    for (int keep = 0; keep < 2; keep++) {
        status = SPATE_OUT_OF_MEMORY;
        for (int n = 0; status != SPATE_OK; n++, tries++) {
            spate_scene *s;
            memory = (failing_memory){.fail_at = n, .keep_failing = keep};
            status = spate_scene_parse(c, full, strlen(full), "f.yaml", ".", &set, 1, &s);
            if (status == SPATE_OK)
                spate_scene_free(s);
            else
                assert_int_equal(status, SPATE_OUT_OF_MEMORY);
            assert_int_equal(c->blocks_now, blocks);
        }
    }
    assert_true(tries > 10);
    spate_close(c);
}

static void collect(const char *piece, void *user) {
    text *t = user;
    text_add_bytes(t, piece, strlen(piece));
}

static void test_reference(void **state) {
    (void)state;
    static const char *const expected[] = {
        "# Scene files",    "| `dx` | number | m | **required** | > 0 |",
        "`x_min`",          "### box",
        "### intersection", "solver type `mpm`",
        "model `liquid`",   "model `neo_hookean`",
        "`young_modulus`",  "| `cfl` | number |  |  | > 0 |",
        "`center_of_mass`", "| `limit` | whole number |  | no limit | >= 0 |",
        "`interpolate`",    "`fov`",
        "`wall_velocity`",  "`solver.cfl` is 0.5 by default and at most 1.",
        "`vortices`",       "### probes: velocity",
    };
    text t = {.ctx = ctx};
    assert_int_equal(spate_scene_reference(ctx, collect, &t), SPATE_OK);
    for (int i = 0; i < COUNT_OF(expected); i++)
        if (!strstr(t.data, expected[i])) fail_msg("the reference lacks '%s'", expected[i]);
    assert_null(strstr(t.data, "nan"));
    assert_null(strstr(t.data, "(null)"));
    text_free(&t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_context, close_context)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_full_scene),
        TEST(test_full_bodies),
        TEST(test_full_colliders),
        TEST(test_full_sinks),
        TEST(test_full_probes),
        TEST(test_full_output),
        TEST(test_defaults),
        TEST(test_walls_as_list),
        TEST(test_shapes),
        TEST(test_cgs),
        TEST(test_locale),
        TEST(test_size_is_rounded),
        TEST(test_no_frame_warns),
        TEST(test_overrides),
        TEST(test_colours),
        TEST(test_hash),
        TEST(test_canonical_reads_back),
        TEST(test_mesh_from_folder),
        TEST(test_missing_file),
        TEST(test_summary),
        TEST(test_summary_warns),
        TEST(test_empty_body_fails),
        TEST(test_reference),
        TEST(test_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
