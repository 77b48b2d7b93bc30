/*
 * A loop of one's own: files, surfaces and pictures from it, stages with the grid in sight, and one
 * thread at a time.
 */
#include "driven.h"
#include "pictures.h"
#include "port/thread.h"

/* ---- Stages ---------------------------------------------------------------------------------- */

typedef struct watcher {
    char stages[512];
    spate_status read, wrote, saved;
    float values[3 * 17 * 17];
    double mass, momentum[2]; /* of the grid, where it has them */
    spate_view view;          /* of an earlier stage */
    bool stale;
} watcher;

static void add_up_grid(spate_simulation *sim, watcher *w) {
    float mass[17 * 17];
    w->mass = w->momentum[0] = w->momentum[1] = 0;
    if (spate_simulation_grid(sim, "mass", mass, 17 * 17)) return;
    if (spate_simulation_grid(sim, "velocity", w->values, 3 * 17 * 17)) return;
    for (int i = 0; i < 17 * 17; i++) {
        w->mass += (double)mass[i];
        for (int a = 0; a < 2; a++) w->momentum[a] += (double)(mass[i] * w->values[3 * i + a]);
    }
}

static void watch(spate_simulation *sim, const char *stage, void *user) {
    watcher *w = user;
    size_t length;
    strcat(strcat(w->stages, stage), " ");
    spate_reading r = spate_default_reading();
    w->read = spate_simulation_read(sim, &r);
    const spate_force wind = spate_default_force();
    w->wrote = spate_simulation_set_force(sim, "wind", &wind);
    w->saved = spate_simulation_save_memory(sim, NULL, 0, &length);
    if (w->view.data) w->stale = spate_simulation_check_view(sim, &w->view) == SPATE_BAD_INPUT;
    if (!strcmp(stage, "sort")) spate_simulation_view(sim, "velocity", &w->view);
    if (!strcmp(stage, "grid")) add_up_grid(sim, w);
    if (!strcmp(stage, "pressure")) spate_simulation_grid(sim, "phi", w->values, 16 * 16);
}

/* Gas at rest would make one of any length. */
static void short_step(play *p) {
    expect(p->ctx, spate_simulation_step(p->sim, p->sim->time + 0.01));
}

/* Stages in their order, in which it can be read, and neither changed nor saved. */
static void test_stages(void **state) {
    (void)state;
    static const char *const order[SOLVERS][2] = {
        {"scatter ", "gather "}, {"scatter ", "pressure "}, {"", ""}, {"", ""}};
    for (int s = 0; s < SOLVERS; s++) {
        play p = open_tank(s, 1), alone = open_tank(s, 1);
        watcher w = {.stages = ""};
        expect(p.ctx, spate_simulation_on_stage(p.sim, watch, &w));
        short_step(&p);
        const char *first = strstr(w.stages, order[s][0]), *then = strstr(w.stages, order[s][1]);
        assert_true(strlen(w.stages) > 8 && first && then && (first < then || s > FLIP));
        assert_int_equal(w.read, SPATE_OK);
        assert_int_equal(w.wrote, SPATE_BAD_INPUT);
        assert_int_equal(w.saved, SPATE_BAD_INPUT);
        if (s == FLIP) assert_true(w.values[2 * 16 + 2] < 0 && w.values[14 * 16 + 2] > 0);
        assert_true(w.stale == (w.view.data != NULL));
        w.stages[0] = 0;
        short_step(&p);
        assert_true(strlen(w.stages) > 8);
        expect(p.ctx, spate_simulation_on_stage(p.sim, NULL, NULL));
        w.stages[0] = 0;
        short_step(&p);
        for (int k = 0; k < 3; k++) short_step(&alone);
        assert_true(w.stages[0] == 0);
        assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(alone.sim));
        play_close(&p), play_close(&alone);
    }
}

/* mpm's grid has all mass of the particles, and their momentum with what gravity gave them. */
static void test_nodes(void **state) {
    (void)state;
    play p = play_open(
        1, "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.0625}\nduration: 1\n"
           "materials: {jelly: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: "
           "0.3}}\n"
           "bodies: [{material: jelly, velocity: [0.5, 0.2], shape: {sphere: {center: [0.5, 0.5], "
           "radius: 0.2}}}]\n");
    int size[3];
    double first[3];
    expect(p.ctx, spate_simulation_grid_size(p.sim, "mass", size, first));
    assert_true(size[0] == 17 && size[1] == 17 && size[2] == 1);
    assert_true(first[0] == 0 && first[1] == 0);
    watcher w = {.stages = ""};
    add_up_grid(p.sim, &w);
    assert_true(w.mass == 0); /* nothing before the first step */
    expect(p.ctx, spate_simulation_on_stage(p.sim, watch, &w));
    const double mass = play_quantity(&p, "mass");
    for (int k = 0; k < 3; k++) {
        const double before[2] = {play_quantity(&p, "momentum_x"), play_quantity(&p, "momentum_y")};
        play_steps(&p, 1);
        assert_float_equal(w.mass, mass, 1e-5 * mass);
        assert_float_equal(w.momentum[0], before[0], 1e-5 * mass);
        assert_float_equal(w.momentum[1], before[1] - mass * 9.81 * p.sim->dt, 1e-5 * mass);
        add_up_grid(p.sim, &w); /* it stays in sight after the step */
        assert_float_equal(w.mass, mass, 1e-5 * mass);
    }
    expect_refused(&p, spate_simulation_grid(p.sim, "mass", w.values, 16 * 16), "289");
    expect_refused(&p, spate_simulation_grid_size(p.sim, "mas", size, first), "'mass'");
    play_close(&p);
}

/* ---- Threads --------------------------------------------------------------------------------- */

typedef struct intruder {
    spate_simulation *sim;
    spate_status status[12];
    char message[256];
    const spate_context *ctx;
} intruder;

/* Every call from a thread while another one steps. */
static void *intrude(void *data) {
    intruder *i = data;
    spate_reading r = spate_default_reading();
    spate_view view;
    spate_entry entry;
    double value, force[3], torque[3];
    const spate_pose at = spate_default_pose();
    const spate_force wind = spate_default_force();
    spate_pose out;
    int count;
    i->status[0] = spate_simulation_read(i->sim, &r);
    r.cookie = 0;
    i->status[1] = spate_simulation_read(i->sim, &r);
    i->status[2] = spate_simulation_view(i->sim, "velocity", &view);
    i->status[3] = spate_simulation_list(i->sim, SPATE_FIELDS, &entry, 1, &count);
    i->status[4] = spate_simulation_quantity(i->sim, "mass", &value);
    i->status[5] = spate_simulation_set_pose(i->sim, "ball", &at);
    i->status[6] = spate_simulation_pose(i->sim, "ball", &out);
    i->status[7] = spate_simulation_force(i->sim, "ball", force, torque);
    i->status[8] = spate_simulation_set_force(i->sim, "wind", &wind);
    i->status[9] = spate_simulation_step(i->sim, 1);
    i->status[10] = spate_simulation_add(i->sim, "bodies: []");
    i->status[11] = spate_simulation_recorded(i->sim, NULL, NULL);
    snprintf(i->message, sizeof i->message, "%s", spate_message(i->ctx));
    return NULL;
}

static void let_in(spate_simulation *sim, const char *stage, void *user) {
    intruder *i = user;
    thread_handle t;
    (void)stage;
    if (i->sim) return; /* once is enough */
    i->sim = sim;
    assert_int_equal(thread_start(&t, intrude, i), 0);
    thread_join(&t);
}

static void test_two_threads(void **state) {
    (void)state;
    play p = open_tank(MPM, 2), alone = open_tank(MPM, 1);
    intruder i = {.ctx = p.ctx};
    expect(p.ctx, spate_simulation_on_stage(p.sim, let_in, &i));
    play_steps(&p, 2), play_steps(&alone, 2);
    for (int k = 0; k < COUNT_OF(i.status); k++) assert_int_equal(i.status[k], SPATE_BAD_INPUT);
    assert_non_null(strstr(i.message, "two threads"));
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(alone.sim));
    spate_reading r = {0}; /* a later failure has its own message again */
    expect_refused(&p, spate_simulation_read(p.sim, &r), "spate_default_reading()");
    play_close(&p), play_close(&alone);
}

/* ---- Files ----------------------------------------------------------------------------------- */

static bool there(const char *name) { return access(in_folder(name), R_OK) == 0; }

static void test_files(void **state) {
    (void)state;
    play p = open_tank(MPM, 1);
    play_steps(&p, 2);
    expect(p.ctx, spate_simulation_write_frame(p.sim, in_folder("files/deep"), 7));
    assert_true(there("files/deep/particles_0007.vtp") && there("files/deep/run.scene.yaml"));
    expect(p.ctx, spate_simulation_write_surface(p.sim, in_folder("water.ply")));
    expect(p.ctx, spate_simulation_write_surface(p.sim, in_folder("water.obj")));
    assert_true(there("water.ply") && there("water.obj"));
    expect_refused(&p, spate_simulation_write_surface(p.sim, in_folder("water.stl")), ".ply");
    expect_refused(&p, spate_simulation_write_surface(p.sim, NULL), ".ply");
    expect_refused(&p, spate_simulation_write_frame(p.sim, folder, -1), "frame -1");
    expect_refused(&p, spate_simulation_write_frame(p.sim, NULL, 1), "folder");
    collected head = {0}, row = {0};
    expect(p.ctx, spate_simulation_statistics(p.sim, -1, collect, &head));
    expect(p.ctx, spate_simulation_statistics(p.sim, 3, collect, &row));
    assert_memory_equal(head.data, "frame,time,steps", 16);
    assert_memory_equal(row.data, "3,", 2);
    assert_int_equal(strcspn(row.data, "\n"), row.length - 1);
    free(head.data), free(row.data);
    char few[16];
    size_t length;
    expect_refused(&p, spate_simulation_save_memory(p.sim, few, sizeof few, &length), "needs");
    spate_simulation *none;
    expect_refused(&p, spate_simulation_restore_memory(p.scene, "SPATE", 5, &none), "damaged");
    play_close(&p);
    p = open_tank(SMOKE, 1);
    expect_refused(&p, spate_simulation_write_surface(p.sim, in_folder("gas.ply")), "no surface");
    play_close(&p);
}

/* The share of a picture's pixels that differ from another's, left and right of its middle. */
static void compare(const pixels *a, const pixels *b, double share[2]) {
    share[0] = share[1] = 0;
    for (int i = 0; i < a->width * a->height; i++)
        if (memcmp(a->rgb + 3 * i, b->rgb + 3 * i, 3))
            share[i % a->width >= a->width / 2] += 2.0 / (a->width * a->height);
}

static pixels draw(play *p, int frame, double x, double angle) {
    char name[64];
    spate_pose at = ball_at(x, 0.7, 0, 0);
    at.rotation[2] = sin(angle / 2), at.rotation[3] = cos(angle / 2);
    expect(p->ctx, spate_simulation_set_pose(p->sim, "bar", &at));
    expect(p->ctx, spate_simulation_write_frame(p->sim, in_folder("drawn"), frame));
    spate_render_options o = spate_default_render_options();
    o.first = o.last = frame, o.width = o.height = 100;
    expect(p->ctx, spate_render(p->ctx, in_folder("drawn"), &o));
    snprintf(name, sizeof name, "drawn/pictures/frame_%04d.png", frame);
    pixels out = read_png(in_folder(name));
    assert_non_null(out.rgb);
    return out;
}

/* A picture of the moment shows a driven collider where it is, and turned as it is. */
static void test_picture(void **state) {
    (void)state;
    play p = open_tank_with(FLIP, 1, "",
                            "colliders: [{name: bar, driven: true, shape: {box: {min: [0.4, 0.65], "
                            "max: [0.6, 0.75]}}}]\n");
    pixels left = draw(&p, 0, 0.25, 0), again = draw(&p, 1, 0.25, 0), right = draw(&p, 2, 0.75, 0),
           turned = draw(&p, 3, 0.25, 1.5707963);
    double same[2], moved[2], other[2];
    compare(&left, &again, same), compare(&left, &right, moved), compare(&left, &turned, other);
    assert_true(same[0] == 0 && same[1] == 0);
    assert_true(moved[0] > 0.01 && moved[1] > 0.01);
    assert_true(other[0] > 0.01 && other[1] == 0);
    free(left.rgb), free(again.rgb), free(right.rgb), free(turned.rgb);
    spate_render_options o = {.width = 100, .height = 100};
    expect_refused(&p, spate_render(p.ctx, in_folder("drawn"), &o), "spate_default_render_options");
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),      cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_two_threads), cmocka_unit_test(test_files),
        cmocka_unit_test(test_picture),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
