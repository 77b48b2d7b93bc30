/*
 * Reading a simulation from outside: every attribute in every type and order is the attribute as it
 * always was; views are the simulation's own memory and grow old; grids; and what is refused.
 */
#include "driven.h"
#include "measure/attributes.h"

static const char tap_scene[] =
    "spate: 1\ndimension: %d\ndomain: {size: [1, 1%s], dx: 0.0625, walls: [periodic, periodic, "
    "slip, "
    "slip%s]}\nduration: 1\nsolver: {type: %s}\n"
    "materials: {water: {model: liquid, density: 1000, bulk_modulus: 2.0e4}}\n"
    "bodies: [{material: water, velocity: [3, 0%s], shape: {box: {min: [0.5, 0.1%s], max: [0.9, "
    "0.4%s]}}}]\n"
    "sources: [{material: water, velocity: [0, -2%s], shape: {sphere: {center: [0.3, 0.8%s], "
    "radius: 0.1}}}]\n"
    "sinks: [{shape: {box: {min: [0.1, 0.1%s], max: [0.2, 0.5%s]}}}]\n";

static play open_tap(int dim, const char *solver, int threads) {
    const bool deep = dim == 3;
    return play_open(threads, tap_scene, dim, deep ? ", 1" : "", deep ? ", slip, slip" : "", solver,
                     deep ? ", 0" : "", deep ? ", 0.1" : "", deep ? ", 0.6" : "", deep ? ", 0" : "",
                     deep ? ", 0.5" : "", deep ? ", 0" : "", deep ? ", 1" : "");
}

static double *read_doubles(play *p, const char *name, spate_order order, spate_reading *r) {
    *r = spate_default_reading();
    r->attribute = name;
    r->type = SPATE_FLOAT64;
    r->order = order;
    expect(p->ctx, spate_simulation_read(p->sim, r));
    r->capacity = (size_t)r->particles * (size_t)r->components;
    double *values = calloc(r->capacity + 1, sizeof *values);
    r->values = values;
    expect(p->ctx, spate_simulation_read(p->sim, r));
    return values;
}

/* Against spate_simulation_attribute, in all types and orders. */
static void check_attribute(play *p, const char *name) {
    int components;
    int64_t count;
    spate_reading r;
    expect(p->ctx, spate_simulation_attribute(p->sim, name, NULL, &components, &count));
    double *known = calloc((size_t)count * (size_t)components + 1, sizeof *known);
    expect(p->ctx, spate_simulation_attribute(p->sim, name, known, &components, &count));
    double *by_id = read_doubles(p, name, SPATE_BY_ID, &r);
    assert_int_equal(r.particles, count);
    assert_int_equal(r.components, components);
    assert_memory_equal(by_id, known, (size_t)count * (size_t)components * sizeof *known);
    r.type = SPATE_FLOAT32;
    expect(p->ctx, spate_simulation_read(p->sim, &r));
    for (int64_t i = 0; i < count * components; i++)
        assert_true(((float *)r.values)[i] == (float)known[i]);
    free(by_id);
    double *stored = read_doubles(p, name, SPATE_AS_STORED, &r);
    double *ids = read_doubles(p, "id", SPATE_AS_STORED, &r),
           *all = read_doubles(p, "id", SPATE_BY_ID, &r);
    assert_int_equal(r.particles, count);
    for (int64_t i = 0; i < count; i++) {
        int64_t low = 0, high = count;
        while (high - low > 1) {
            const int64_t middle = (low + high) / 2;
            if (all[middle] <= ids[i])
                low = middle;
            else
                high = middle;
        }
        assert_memory_equal(stored + i * components, known + low * components,
                            (size_t)components * sizeof *known);
    }
    free(stored), free(ids), free(all), free(known);
}

static void test_attributes(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++)
        for (int s = 0; s < SMOKE; s++) {
            play p = open_tap(dim, solver_names[s], 2);
            check_attribute(&p, "P"); /* all ids live */
            play_until(&p, dim == 2 ? 0.2 : 0.12);
            assert_true(p.sim->drained > 0);
            spate_entry entries[64];
            int count;
            expect(p.ctx, spate_simulation_list(p.sim, SPATE_ATTRIBUTES, entries, 64, &count));
            assert_true(count >= 13 && count <= 64);
            for (int i = 0; i < count; i++) check_attribute(&p, entries[i].name);
            play_close(&p);
        }
}

/* Positions in 16 bits are within half a quantum of those in full. */
static void test_quantised(void **state) {
    (void)state;
    play p = open_tap(3, "flip", 2);
    play_until(&p, 0.05);
    spate_reading r;
    double *full = read_doubles(&p, "P", SPATE_BY_ID, &r);
    uint16_t *q = calloc(r.capacity, sizeof *q);
    r.type = SPATE_UINT16;
    r.values = q;
    expect(p.ctx, spate_simulation_read(p.sim, &r));
    for (int64_t i = 0; i < 3 * r.particles; i++) {
        const double x = r.origin[i % 3] + r.spacing[i % 3] * q[i];
        assert_true(fabs(x - full[i]) <= 0.5001 * r.spacing[i % 3]);
    }
    free(q), free(full);
    play_close(&p);
}

static void test_views(void **state) {
    (void)state;
    play p = open_tap(2, "mpm", 1);
    spate_view v, id, position;
    expect(p.ctx, spate_simulation_view(p.sim, "velocity", &v));
    expect(p.ctx, spate_simulation_view(p.sim, "id", &id));
    expect(p.ctx, spate_simulation_view(p.sim, "position", &position));
    assert_ptr_equal(v.data, p.sim->particles.velocity); /* nothing was copied */
    assert_int_equal(v.components, 2);
    assert_int_equal(id.type, SPATE_UINT64);
    spate_reading r;
    double *known = read_doubles(&p, "v", SPATE_AS_STORED, &r);
    for (int64_t i = 0; i < v.particles; i++)
        for (int c = 0; c < 2; c++) {
            const char *at = (const char *)v.data + i * v.stride + c * v.component_stride;
            assert_true((double)*(const real *)at == known[3 * i + c]);
            at = (const char *)position.data + i * position.stride + c * position.component_stride;
            assert_true(*(const real *)at == PLANE(&p.sim->particles, position, c)[i]);
        }
    free(known);
    expect(p.ctx, spate_simulation_check_view(p.sim, &v));
    play_steps(&p, 1);
    expect_refused(&p, spate_simulation_check_view(p.sim, &v), "make a new view");
    expect_refused(&p, spate_simulation_view(p.sim, "velocty", &v), "did you mean 'velocity'");
    play_close(&p);
}

static void test_grids(void **state) {
    (void)state;
    play p = open_tap(2, "flip", 2);
    int cells[3], count;
    spate_simulation_cells(p.sim, cells);
    assert_int_equal(cells[0] * cells[1] * cells[2], 256);
    float velocity[3 * 256], phi[256];
    expect(p.ctx, spate_simulation_grid(p.sim, "phi", phi, 256));
    for (int i = 0; i < 256; i++) assert_true(phi[i] > 0); /* nothing known before the first step */
    play_steps(&p, 1);
    expect(p.ctx, spate_simulation_grid(p.sim, "velocity", velocity, 3 * 256));
    expect(p.ctx, spate_simulation_grid(p.sim, "phi", phi, 256));
    const int inside = 4 * 16 + 11; /* of the body, which moves along x */
    assert_true(phi[inside] < 0);
    assert_float_equal(velocity[3 * inside], 3, 0.5);
    assert_true(phi[15 * 16 + 12] > 0);
    expect_refused(&p, spate_simulation_grid(p.sim, "velocity", velocity, 3 * 256 - 1), "768");
    expect_refused(&p, spate_simulation_grid(p.sim, "presure", velocity, 256), "pressure");
    play_close(&p);

    p = play_open(1, "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.125}\nduration: 1\n"
                     "solver: {type: smoke}\nmaterials: {soot: {model: gas}}\n"
                     "bodies: [{material: soot, shape: {box: {min: [0, 0], max: [0.5, 1]}}}]\n");
    float density[64];
    spate_entry entries[8];
    expect(p.ctx, spate_simulation_list(p.sim, SPATE_GRIDS, entries, 8, &count));
    assert_true(count >= 4);
    assert_string_equal(entries[0].name, "density");
    expect(p.ctx, spate_simulation_grid(p.sim, "density", density, 64));
    assert_true(density[0] > 0.9f && density[7] == 0);
    play_close(&p);
}

static void test_listing(void **state) {
    (void)state;
    play p = open_tap(2, "mpm", 1);
    spate_entry e[128];
    int count, few;
    expect(p.ctx, spate_simulation_list(p.sim, SPATE_QUANTITIES, e, 128, &count));
    bool energy = false;
    for (int i = 0; i < count; i++) {
        double value;
        energy |= !strcmp(e[i].name, "kinetic_energy") && !strcmp(e[i].unit, "J/m");
        expect(p.ctx, spate_simulation_quantity(p.sim, e[i].name, &value));
    }
    assert_true(energy);
    expect(p.ctx, spate_simulation_list(p.sim, SPATE_QUANTITIES, e, 2, &few));
    assert_int_equal(few, count);
    expect(p.ctx, spate_simulation_list(p.sim, SPATE_FIELDS, e, 128, &count));
    for (int i = 0; i < count; i++) {
        spate_view v;
        expect(p.ctx, spate_simulation_view(p.sim, e[i].name, &v));
        assert_int_equal(v.components, e[i].components);
        assert_int_equal(v.type, e[i].type);
    }
    expect_refused(&p, spate_simulation_list(p.sim, (spate_listing)9, e, 128, &count), "listing 9");
    play_close(&p);
}

static void test_refused(void **state) {
    (void)state;
    play p = open_tap(2, "mpm", 1);
    spate_reading r = {.attribute = "P"};
    expect_refused(&p, spate_simulation_read(p.sim, &r), "spate_default_reading()");
    r = spate_default_reading();
    float few[3] = {7, 7, 7};
    r.values = few, r.capacity = 3;
    expect_refused(&p, spate_simulation_read(p.sim, &r), "room for");
    assert_true(few[0] == 7);
    r.attribute = "velocity_of_light";
    expect_refused(&p, spate_simulation_read(p.sim, &r), "there is no particle attribute");
    r.attribute = "F";
    expect_refused(&p, spate_simulation_read(p.sim, &r), "output.fields");
    r.attribute = "v", r.type = SPATE_UINT32;
    expect_refused(&p, spate_simulation_read(p.sim, &r), "SPATE_FLOAT32");
    r.attribute = "P", r.type = SPATE_FLOAT32, r.order = (spate_order)5;
    expect_refused(&p, spate_simulation_read(p.sim, &r), "SPATE_BY_ID");
    r = spate_default_reading();
    r.attribute = NULL;
    expect_refused(&p, spate_simulation_read(p.sim, &r), "names no attribute");
    double value;
    expect_refused(&p, spate_simulation_quantity(p.sim, "mas", &value), "did you mean 'mass'");
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributes), cmocka_unit_test(test_quantised),
        cmocka_unit_test(test_views),      cmocka_unit_test(test_grids),
        cmocka_unit_test(test_listing),    cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
