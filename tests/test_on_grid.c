/* Solvers whose matter is on a grid: a simulation without a single particle goes through everything
 * that a run does with it. */
#include "physics.h"

#include "frames/frames.h"
#include "measure/attributes.h"
#include "measure/statistics.h"
#include "solver/materials/material.h"

#include <unistd.h>

/* The first such solver of this build, and a material that it runs; skips the test without one. */
static const solver_declaration *find_solver(void) {
    for (int i = 0; i < solver_type_count; i++)
        if (solver_declarations[i]->on_grid) return solver_declarations[i];
    return NULL;
}

static const char *material_of(const solver_declaration *d) {
    int k = 0;
    while (!solver_runs(d, material_types[k])) k++;
    return material_types[k]->name;
}

static play open_grid(int dim) {
    const solver_declaration *d = find_solver();
    const char *z = dim == 3 ? ", 1" : "";
    if (!d) skip();
    return play_open(1,
                     "spate: 1\ndimension: %d\ndomain: {size: [1, 1%s], dx: 0.0625}\n"
                     "solver: {type: %s}\nmaterials: {m: {model: %s}}\n"
                     "bodies: [{name: a, material: m, velocity: [0.5, 0%s], shape: {box: {min: "
                     "[0.25, 0.25%s], max: [0.75, 0.75%s]}}}]\n"
                     "sources: [{name: tap, material: m, velocity: [0, 1%s], shape: {box: {min: "
                     "[0.4, 0%s], max: [0.6, 0.125%s]}}}]\n"
                     "sinks: [{shape: {box: {min: [0, 0.9%s], max: [1, 1%s]}}}]\n"
                     "probes: [{name: u, velocity: {at: [0.5, 0.5%s]}}, {name: p, pressure: {at: "
                     "[0.5, 0.5%s]}}]\n",
                     dim, z, d->name, material_of(d), dim == 3 ? ", 0" : "",
                     dim == 3 ? ", 0.25" : "", dim == 3 ? ", 0.75" : "", dim == 3 ? ", 0" : "",
                     dim == 3 ? ", 0.4" : "", dim == 3 ? ", 0.6" : "", dim == 3 ? ", 0" : "", z,
                     dim == 3 ? ", 0.5" : "", dim == 3 ? ", 0.5" : "");
}

static void test_no_particles(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        play p = open_grid(dim);
        spate_scene_summary sum;
        assert_int_equal(spate_scene_summarise(p.scene, &sum), SPATE_OK);
        assert_int_equal(sum.particles, 0);
        assert_int_equal(sum.filled_cells, dim == 2 ? 64 : 512);
        play_steps(&p, 3);
        assert_int_equal(spate_simulation_particles(p.sim), 0);
        assert_int_equal(p.sim->blocks.count, 0);
        CHECK_ABOVE(p.sim->time, 0);
        play_close(&p);
    }
}

static void test_statistics(void **state) {
    (void)state;
    play p = open_grid(2);
    play_steps(&p, 3);
    statistics s;
    text row = {.ctx = p.ctx};
    assert_int_equal(statistics_create(p.sim, &s), SPATE_OK);
    assert_int_equal(statistics_evaluate(&s, 1, 0), SPATE_OK);
    statistics_row(&s, "", &row);
    assert_false(row.failed);
    assert_null(strstr(row.data, "nan"));
    assert_null(strstr(row.data, "inf"));
    assert_float_equal(s.values[COLUMN_particles], 0, 0);
    CHECK_ABOVE(s.values[COLUMN_mass], 0); /* the solver's own */
    CHECK_ABOVE(s.values[COLUMN_kinetic_energy], 0);
    CHECK_ABOVE(s.values[COLUMN_max_speed], 0);
    assert_true(isfinite(play_quantity(&p, "u_x")) && isfinite(play_quantity(&p, "u_y")));
    CHECK_ABOVE(fabs(play_quantity(&p, "u_x")) + fabs(play_quantity(&p, "u_y")), 0.01);
    assert_true(isfinite(play_quantity(&p, "p")));
    text_free(&row);
    statistics_free(&s);
    play_close(&p);
}

static void test_frames_are_empty(void **state) {
    (void)state;
    play p = open_grid(2);
    int64_t count = -1;
    particle_frame f;
    assert_int_equal(spate_simulation_attribute(p.sim, "P", NULL, NULL, &count), SPATE_OK);
    assert_int_equal(count, 0);
    assert_int_equal(frame_create(p.sim, &f), SPATE_OK);
    assert_int_equal(f.count, 0);
    frame_free(&f);
    play_close(&p);
}

static void test_checkpoint(void **state) {
    (void)state;
    char path[] = "/tmp/spate_on_grid_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    play p = open_grid(2);
    uint64_t start = spate_simulation_hash(p.sim);
    play_steps(&p, 3);
    play again = {.ctx = p.ctx, .scene = p.scene};
    assert_true(spate_simulation_hash(p.sim) != start);
    assert_int_equal(spate_simulation_save(p.sim, path), SPATE_OK);
    assert_int_equal(spate_simulation_restore(p.scene, path, &again.sim), SPATE_OK);
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(again.sim));
    play_steps(&p, 3);
    assert_true(spate_simulation_hash(p.sim) != spate_simulation_hash(again.sim)); /* control */
    play_steps(&again, 3);
    assert_true(spate_simulation_hash(p.sim) == spate_simulation_hash(again.sim));
    spate_simulation_free(again.sim);
    unlink(path);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_particles),
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_frames_are_empty),
        cmocka_unit_test(test_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
