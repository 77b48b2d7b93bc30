/* Lists of numbers in field tables: reading, overrides, ranges, units, defaults and their docs. */
#include "scene/reader.h"
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
        cmocka_unit_test(test_lists_are_read),
        cmocka_unit_test(test_lists_are_overridden),
        cmocka_unit_test(test_wrong_lists),
        cmocka_unit_test(test_lists_are_documented),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
