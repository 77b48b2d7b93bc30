/* Lists of numbers in field tables: reading, overrides, ranges, units, defaults and their docs. And
 * what depends on the kind of solver: sides that move, matter on a grid. */
#include "scene/reader.h"
#include "scene/sample.h"
#include "scene/scene_parts.h"
#include "scene/scene_tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

typedef struct mode_settings {
    number_list scale, width, share;
} mode_settings;

static const field mode_fields[] = {
    NUMBERS_FIELD(mode_settings, scale, "", NAN, -1, 2, "of each mode; default: none"),
    NUMBERS_FIELD(mode_settings, width, "m", 0.5, SMALLEST, ANY_MAX, "of each mode"),
    {.name = "share",
     .type = FIELD_NUMBERS,
     .offset = offsetof(mode_settings, share),
     .unit = "",
     .required = true,
     .min = ANY_MIN,
     .max = ANY_MAX,
     .help = "anything"},
};
static const field_table mode_table =
    FIELD_TABLE("modes", "Numbers of modes.", mode_fields, mode_settings);

static spate_context *ctx;

/* Reads a document by the table; what is read lives in `memory`. */
static spate_status read_modes(const char *document, const char *set, unit_system units,
                               arena *memory, mode_settings *out) {
    yaml_tree tree = yaml_tree_create(ctx, "f.yaml");
    reader r = {.ctx = ctx, .arena = memory, .tree = &tree, .dim = 2, .units = units};
    spate_status status;
    memset(out, 0x55, sizeof *out); /* nothing may be left as it was */
    TRY_OR_DONE(status, yaml_tree_read(&tree, document, strlen(document)));
    TRY_OR_DONE(status, yaml_tree_set(&tree, &set, set != NULL));
    status = reader_table(&r, tree.root, &mode_table, out);
done:
    yaml_tree_free(&tree);
    return status;
}

static void expect_list(const number_list *list, int count, const double *values) {
    assert_int_equal(list->count, count);
    for (int i = 0; i < count; i++) assert_true(list->values[i] == values[i]);
    if (count == 0) assert_null(list->values);
}
#define LIST(...) \
    COUNT_OF(((const double[]){__VA_ARGS__})), (const double[]) { __VA_ARGS__ }

static void test_lists_are_read(void **state) {
    (void)state;
    arena memory = arena_create(ctx);
    mode_settings m;
    assert_int_equal(read_modes("share: [3, -1e300, 0.5]\nscale: [1, 1, 0.5, -1, 2]\n", NULL,
                                UNITS_SI, &memory, &m),
                     SPATE_OK);
    expect_list(&m.share, LIST(3, -1e300, 0.5));
    expect_list(&m.scale, LIST(1, 1, 0.5, -1, 2));
    expect_list(&m.width, LIST(0.5)); /* its default, a list of one */
    /* one number, and no list at all */
    assert_int_equal(read_modes("share: 7", NULL, UNITS_CGS, &memory, &m), SPATE_OK);
    expect_list(&m.share, LIST(7));
    expect_list(&m.scale, 0, NULL);
    expect_list(&m.width, LIST(50)); /* in cm */
    arena_free(&memory);
}

static void test_lists_are_overridden(void **state) {
    (void)state;
    static const struct {
        const char *set;
        int count;
        double values[4];
    } cases[] = {
        {"scale=[0.25]", 1, {0.25}},     {"scale=2", 1, {2}},
        {"scale.1=0", 2, {1, 0}},        {"scale.2=0.75", 3, {1, 0.5, 0.75}},
        {"scale=[1,0,1]", 3, {1, 0, 1}},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        arena memory = arena_create(ctx);
        mode_settings m;
        assert_int_equal(
            read_modes("share: 1\nscale: [1, 0.5]\n", cases[i].set, UNITS_SI, &memory, &m),
            SPATE_OK);
        expect_list(&m.scale, cases[i].count, cases[i].values);
        arena_free(&memory);
    }
}

static void test_wrong_lists(void **state) {
    (void)state;
    static const struct {
        const char *document, *set, *message;
    } cases[] = {
        {"share: 1\nscale: [1, 2.5, 0]", NULL,
         "f.yaml:2:12: scale.1: 2.5 is out of range; give a number from -1 to 2"},
        {"share: 1\nscale: 3", NULL, "f.yaml:2:8: scale: 3 is out of range"},
        {"share: 1\nwidth: [1, 0]", NULL,
         "f.yaml:2:12: width.1: 0 is out of range; give a number greater than 0"},
        {"share: 1\nscale: []", NULL, "f.yaml:2:8: scale: an empty list; give at least one number"},
        {"share: 1\nscale: [1, [2]]", NULL,
         "f.yaml:2:12: scale.1: expected a number, found a list"},
        {"share: 1\nscale: [1, two]", NULL, "scale.1: expected a number, found 'two'"},
        {"share: 1\nscale: {a: 1}", NULL, "scale: expected a number, found a mapping"},
        {"share: 1\nscale: [1, nan]", NULL, "scale.1: expected a number, found 'nan'"},
        {"share: 1\nscale: ~", NULL, "scale: has no value"},
        {"scale: 1", NULL, "share: is missing; add it (anything)"},
        {"share: 1\nscale: [1]", "scale.1=9", "scale.1: 9 is out of range"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        arena memory = arena_create(ctx);
        mode_settings m;
        spate_status status = read_modes(cases[i].document, cases[i].set, UNITS_SI, &memory, &m);
        assert_int_equal(status, SPATE_BAD_INPUT);
        if (!strstr(spate_message(ctx), cases[i].message))
            fail_msg("expected '%s', got '%s'", cases[i].message, spate_message(ctx));
        arena_free(&memory);
    }
}

static void collect(const char *words, void *user) { text_add(user, "%s", words); }

static void test_lists_are_documented(void **state) {
    (void)state;
    text page = {.ctx = ctx};
    scene_describe_table(ctx, &mode_table, collect, &page);
    static const char *const rows[] = {
        "## modes\n\nNumbers of modes.\n\n",
        "| `scale` | number or list of numbers |  |  | -1 to 2 | Of each mode; default: none. |\n",
        "| `width` | number or list of numbers | m | 0.5 | > 0 | Of each mode. |\n",
        "| `share` | number or list of numbers |  | **required** |  | Anything. |\n",
    };
    for (int i = 0; i < COUNT_OF(rows); i++)
        if (!strstr(page.data, rows[i])) fail_msg("no '%s' in:\n%s", rows[i], page.data);
    text_free(&page);
}

/* ---- What a solver knows ---- */

static const solver_declaration mover = {.name = "mover", .moves_walls = true, .period = 4};
static const solver_declaration plain = {.name = "plain", .period = 4};
static const solver_declaration gridded = {.name = "gridded", .on_grid = true, .period = 1};

/* The parts of a scene as a solver of that kind has them, which no document can name. */
static spate_status read_for(const solver_declaration *solver, const char *document,
                             spate_scene *scene) {
    yaml_tree tree = yaml_tree_create(ctx, "f.yaml");
    static material water = {.name = "water"};
    *scene = (spate_scene){.ctx = ctx,
                           .arena = arena_create(ctx),
                           .path = "f.yaml",
                           .dim = 2,
                           .solver = solver,
                           .materials = &water,
                           .material_count = 1};
    const registry all = {.solvers = (const solver_declaration *const[]){&plain, &mover},
                          .solver_count = 2,
                          .attributes = (const char *const[]){"P", "F", NULL},
                          .gradient_attributes = (const char *const[]){"F", NULL}};
    reader r = {.ctx = ctx,
                .scene = scene,
                .arena = &scene->arena,
                .tree = &tree,
                .registry = &all,
                .dim = 2};
    static const struct {
        const char *name;
        spate_status (*read)(reader *, const yaml_value *);
    } parts[] = {
        {"domain", scene_read_domain}, {"domain", scene_read_domain_for_solver},
        {"bodies", scene_read_bodies}, {"colliders", scene_read_colliders},
        {"probes", scene_read_probes}, {"output", scene_read_output},
    };
    spate_status status;
    TRY_OR_DONE(status, yaml_tree_read(&tree, document, strlen(document)));
    for (int i = 0; i < COUNT_OF(parts); i++) {
        const yaml_value *v = yaml_find(tree.root, parts[i].name);
        int back = reader_enter(&r, parts[i].name);
        if (v) TRY_OR_DONE(status, parts[i].read(&r, v));
        reader_leave(&r, back);
    }
done:
    yaml_tree_free(&tree);
    return status;
}

static void expect_refused(const solver_declaration *solver, const char *document,
                           const char *message) {
    spate_scene scene;
    assert_int_equal(read_for(solver, document, &scene), SPATE_BAD_INPUT);
    if (!strstr(spate_message(ctx), message) || !strchr(spate_message(ctx), ';'))
        fail_msg("expected '%s', got '%s'", message, spate_message(ctx));
    arena_free(&scene.arena);
}

#define DOMAIN(rest) "domain: {origin: [1, 0], size: [4, 2], dx: 0.125, " rest "}\n"

static void test_sides_that_move(void **state) {
    (void)state;
    static const char lid[] = DOMAIN("walls: {y_max: sticky, x_min: sticky}, "
                                     "wall_velocity: {y_max: [1.5, 0], x_min: [0, -2]}");
    spate_scene s;
    assert_int_equal(read_for(&mover, lid, &s), SPATE_OK);
    for (int axis = 0; axis < 3; axis++)
        for (int end = 0; end < 2; end++)
            for (int a = 0; a < 3; a++)
                assert_true(s.domain.wall_velocity[axis][end][a] ==
                            (axis == 1 && end == 1 && a == 0   ? 1.5
                             : axis == 0 && end == 0 && a == 1 ? -2
                                                               : 0));
    arena_free(&s.arena);
    expect_refused(&plain, lid, "domain.wall_velocity.x_min: plain does not know sides that move");
    expect_refused(&mover, DOMAIN("wall_velocity: {y_max: [1, 0]}"),
                   "f.yaml:1:74: domain.wall_velocity.y_max: nothing sticks to this side, it is "
                   "slip; make it sticky");
    expect_refused(&mover, DOMAIN("walls: sticky, wall_velocity: {y_max: [1, 0.5]}"),
                   "f.yaml:1:93: domain.wall_velocity.y_max: a side moves along itself only; make "
                   "y, which is across it, 0");
    /* a side at rest needs no solver that moves it */
    assert_int_equal(read_for(&plain, DOMAIN("wall_velocity: {y_max: [0, 0]}"), &s), SPATE_OK);
    arena_free(&s.arena);
}

#define BODY(shape) "bodies: [{name: a, material: water, shape: {" shape "}}]\n"
#define SQUARE      BODY("box: {min: [1, 0], max: [2, 1]}")

static void test_matter_on_a_grid(void **state) {
    (void)state;
    spate_scene s;
    spate_scene_summary sum;
    const char *two =
        DOMAIN("") "bodies:\n"
                   "  - {material: water, particles_per_cell: 9, sampling: jittered,\n"
                   "     shape: {box: {min: [1, 0], max: [2, 1]}}}\n"
                   "  - {material: water, shape: {box: {min: [1.5, 0], max: [2.5, 1]}}}\n"
                   "colliders: [{shape: {box: {min: [1, 0], max: [1.5, 0.5]}}}]\n"
                   "probes: [{velocity: {at: [2, 1]}}, {pressure: {at: [2, 1]}}]\n";
    assert_int_equal(read_for(&gridded, two, &s), SPATE_OK);
    s.particle_count = -1;
    assert_int_equal(spate_scene_summarise(&s, &sum), SPATE_OK);
    assert_int_equal(sum.particles, 0);
    assert_int_equal(sum.on_grid, 1);
    assert_int_equal(sum.filled_cells, (64 - 16) + 64); /* bodies overlap, colliders do not */
    samples cells;
    assert_int_equal(sample_body(&s, 1, &cells), SPATE_OK);
    for (int64_t i = 0; i < cells.count; i++) /* middles of cells */
        for (int a = 0; a < 2; a++) assert_true(fmod(cells.points[i][a], 0.125) == 0.0625);
    samples_free(ctx, &cells);
    arena_free(&s.arena);
    /* the same with particles */
    assert_int_equal(read_for(&plain, two, &s), SPATE_OK);
    s.particle_count = -1;
    assert_int_equal(spate_scene_summarise(&s, &sum), SPATE_OK);
    assert_int_equal(sum.on_grid, 0);
    assert_int_equal(sum.filled_cells, 0);
    assert_true(sum.particles > 400);
    arena_free(&s.arena);
}

static void test_what_a_grid_has_not(void **state) {
    (void)state;
    spate_scene s;
    spate_scene_summary sum;
    expect_refused(&gridded, DOMAIN("") BODY("points: [[2, 1]]"),
                   "bodies.0.shape: points have no inside; a body on a grid needs a solid shape");
    expect_refused(
        &gridded,
        DOMAIN("") SQUARE "probes: [{count: {shape: {sphere: {center: [2, 1], "
                          "radius: 1}}}}]",
        "f.yaml:3:18: probes.0.count: it looks at particles, and gridded has none; use a "
        "probe of pressure");
    expect_refused(&gridded, DOMAIN("") SQUARE "output: {fields: [F]}",
                   "output.fields.0: gridded does not follow the deformation gradient");
    assert_int_equal(
        read_for(&gridded, DOMAIN("") BODY("sphere: {center: [2, 1], radius: 0.05}"), &s),
        SPATE_OK);
    s.particle_count = -1;
    assert_int_equal(spate_scene_summarise(&s, &sum), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx),
                           "body 'a' fills no cell; it is outside the domain or "
                           "smaller than a cell"));
    arena_free(&s.arena);
}

static int open_context(void **state) {
    (void)state;
    return spate_open(NULL, &ctx) == SPATE_OK ? 0 : -1;
}

static int close_context(void **state) {
    (void)state;
    spate_close(ctx);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_are_read),      cmocka_unit_test(test_lists_are_overridden),
        cmocka_unit_test(test_wrong_lists),         cmocka_unit_test(test_lists_are_documented),
        cmocka_unit_test(test_sides_that_move),     cmocka_unit_test(test_matter_on_a_grid),
        cmocka_unit_test(test_what_a_grid_has_not),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
