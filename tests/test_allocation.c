/*
 * Every allocation made to fail in turn, once and from there on, on one small scene through all the
 * library does: read, create, step, save, restore, run, free. Each time the call that met the
 * failure says SPATE_OUT_OF_MEMORY, nothing leaks and nothing crashes.
 */
#include <setjmp.h>
#include <spate/drive.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char scene_text[] =
    "spate: 1\n"
    "name: small\n"
    "dimension: 2\n"
    "domain: {size: [1, 1], dx: 0.125, walls: slip}\n"
    "duration: 0.02\n"
    "fps: 100\n"
    "solver: {type: mpm}\n"
    "materials:\n"
    "  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
    "  jelly: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3}\n"
    "bodies:\n"
    "  - {name: pool, material: water, shape: {box: {min: [0.1, 0.1], max: [0.5, 0.3]}}}\n"
    "  - {name: ball, material: jelly, shape: {difference: [{sphere: {center: [0.6, 0.6], radius: "
    "0.2}},"
    " {box: {min: [0.6, 0.6], max: [0.8, 0.8]}}]}, sampling: poisson}\n"
    "colliders:\n"
    "  - {name: post, shape: {sphere: {center: [0.8, 0.2], radius: 0.1}}}\n"
    "  - {name: slope, shape: {polygon: [[0, 0], [1, 0], [0, 1]], scale: [0.2, 0.1]}}\n"
    "sources:\n"
    "  - {name: tap, material: water, shape: {box: {min: [0.2, 0.7], max: [0.4, 0.9]}},"
    " velocity: [0, -1]}\n"
    "probes:\n"
    "  - {name: front, extent: {of: pool, axis: x, side: max}}\n"
    "  - {name: pieces, pieces: {of: pool}}\n"
    "  - {name: mixing, mixing: {axis: y}}\n"
    "sinks: [{shape: {box: {min: [0, 0], max: [1, 0.15]}}}]\n"
    "output: {particles: [vtp, ply, bgeo], fields: [J], checkpoint: 1}\n";

/* What the hooks count, and which allocation is to fail. */
typedef struct ledger {
    long made, live;
    long fail_at; /* 1 is the first; 0: none fails */
    bool from_there_on;
    bool failed;
    bool driven; /* a simulation is driven, instead of all else */
} ledger;

static void *count_allocate(size_t bytes, void *user) {
    ledger *l = user;
    l->made++;
    if (l->fail_at && (l->made == l->fail_at || (l->from_there_on && l->made > l->fail_at))) {
        l->failed = true;
        return NULL;
    }
    void *block = malloc(bytes);
    if (block) l->live++;
    return block;
}

static void count_release(void *block, void *user) {
    ledger *l = user;
    if (block) l->live--;
    free(block);
}

static char folder[256];

static void ignore(const char *text, void *user) { (void)text, (void)user; }

/* What a program does to a simulation that it drives. */
static spate_status drive(spate_scene *scene) {
    spate_simulation *sim = NULL;
    spate_status status = spate_simulation_create(scene, &sim);
    if (!status) status = spate_simulation_record(sim);
    spate_collider paddle = spate_default_collider();
    paddle.name = "paddle", paddle.shape.kind = SPATE_SPHERE, paddle.shape.radius = 0.05;
    paddle.shape.center[0] = paddle.shape.center[1] = 0.4;
    if (!status) status = spate_simulation_add_collider(sim, &paddle);
    spate_pose at = spate_default_pose();
    at.position[0] = at.position[1] = 0.45;
    if (!status) status = spate_simulation_set_pose(sim, "paddle", &at);
    const spate_force wind = spate_default_force();
    if (!status) status = spate_simulation_set_force(sim, "wind", &wind);
    if (!status) status = spate_simulation_step(sim, 1);
    float values[3000];
    spate_reading r = spate_default_reading();
    r.values = values, r.capacity = 3000;
    if (!status) status = spate_simulation_read(sim, &r);
    if (!status) status = spate_simulation_remove(sim, "tap");
    if (!status) status = spate_simulation_write_frame(sim, folder, 1);
    if (!status) status = spate_simulation_recorded(sim, ignore, NULL);
    spate_simulation_free(sim);
    return status;
}

/* Everything once; stops at the first failure, as a careful caller would. */
static spate_status use_simulation(spate_scene *scene, const char *checkpoint) {
    spate_simulation *sim = NULL, *again = NULL;
    spate_status status = spate_simulation_create(scene, &sim);
    for (int i = 0; i < 3 && !status; i++) status = spate_simulation_step(sim, 1);
    double mass;
    if (!status) status = spate_simulation_quantity(sim, "mass", &mass);
    if (!status) status = spate_simulation_save(sim, checkpoint);
    if (!status) status = spate_simulation_restore(scene, checkpoint, &again);
    if (!status) status = spate_simulation_step(again, 1);
    spate_simulation_free(again);
    spate_simulation_free(sim);
    return status;
}

/* What is asked before a run: of the scene, and of a mesh. */
static spate_status look_over(spate_context *ctx, spate_scene *scene) {
    spate_review review;
    char mesh[300];
    snprintf(mesh, sizeof mesh, "%s/tetra.obj", folder);
    FILE *f = fopen(mesh, "w");
    if (f) fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", f);
    if (f) fclose(f);
    spate_status status = spate_scene_review(scene, &review);
    return status ? status : spate_describe_file_json(ctx, mesh, ignore, NULL);
}

static spate_status use_library(ledger *l, char message[256]) {
    char checkpoint[300], run_folder[300];
    snprintf(checkpoint, sizeof checkpoint, "%s/small.spate", folder);
    snprintf(run_folder, sizeof run_folder, "%s/run", folder);
    spate_config config = spate_default_config();
    config.allocate = count_allocate;
    config.release = count_release;
    config.user = l;
    config.threads = 1;
    spate_context *ctx = NULL;
    spate_scene *scene = NULL;
    spate_status status = spate_open(&config, &ctx);
    if (status) return status;
    status = spate_scene_parse(ctx, scene_text, strlen(scene_text), "small", ".", NULL, 0, &scene);
    if (!status && l->driven) status = drive(scene);
    if (!status && !l->driven) status = look_over(ctx, scene);
    if (!status && !l->driven) status = use_simulation(scene, checkpoint);
    if (!status && !l->driven) {
        spate_run_options options = spate_default_run_options();
        options.folder = run_folder;
        options.frames = 1;
        options.force = true;
        status = spate_run(scene, &options, NULL);
        options.force = false, options.resume = true, options.frames = 2;
        if (!status) status = spate_run(scene, &options, NULL);
    }
    snprintf(message, 256, "%s", spate_message(ctx));
    spate_scene_free(scene);
    spate_close(ctx);
    return status;
}

/* Fails allocation after allocation until one run makes no more than were allowed. */
static void check_all(bool from_there_on, bool driven) {
    long at = 0;
    for (;;) {
        ledger l = {.fail_at = ++at, .from_there_on = from_there_on, .driven = driven};
        char message[256] = "";
        spate_status status = use_library(&l, message);
        if (!l.failed) {
            assert_int_equal(status, SPATE_OK);
            break;
        }
        if (status != SPATE_OUT_OF_MEMORY || l.live)
            fail_msg("allocation %ld failed%s: status %d, %ld blocks leaked, message '%s'", at,
                     from_there_on ? " and all after it" : "", (int)status, l.live, message);
    }
    /* A library that took nothing through the hooks would pass all of the above. */
    assert_true(at > 50);
}

static void test_nothing_fails(void **state) {
    (void)state;
    ledger l = {0};
    char message[256] = "";
    spate_status status = use_library(&l, message);
    if (status) fail_msg("status %d: %s", (int)status, message);
    assert_int_equal(l.live, 0);
}

static void test_one_fails(void **state) {
    (void)state;
    check_all(false, false);
    check_all(false, true);
}

static void test_all_fail_from_one_on(void **state) {
    (void)state;
    check_all(true, false);
    check_all(true, true);
}

static int make_folder(void **state) {
    (void)state;
    /* In memory where possible: checkpoints are synced to disk, a thousand times here. */
    snprintf(folder, sizeof folder, "%s/spate-allocation-XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_fails),
        cmocka_unit_test(test_one_fails),
        cmocka_unit_test(test_all_fail_from_one_on),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
