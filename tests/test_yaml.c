/* The document tree: places, limits, overrides, and writing it out again. */
#include "scene/yaml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static spate_context *ctx;
static int64_t blocks_at_start;

static int open_context(void **state) {
    (void)state;
    if (spate_open(NULL, &ctx) != SPATE_OK) return -1;
    blocks_at_start = ctx->blocks_now;
    return 0;
}

/* Fails when something was not given back. */
static int close_context(void **state) {
    (void)state;
    int64_t left = ctx->blocks_now - blocks_at_start;
    spate_close(ctx);
    return left == 0 ? 0 : -1;
}

static yaml_tree read_good(const char *document) {
    yaml_tree t = yaml_tree_create(ctx, "f.yaml");
    spate_status status = yaml_tree_read(&t, document, strlen(document));
    if (status != SPATE_OK) print_message("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    return t;
}

static void test_byte_order_marks_are_passed_over(void **state) {
    (void)state;
    yaml_tree t = read_good("\xef\xbb\xbfspate: 1\nname: a\n");
    assert_non_null(yaml_find(t.root, "spate"));
    assert_non_null(yaml_find(t.root, "name"));
    yaml_tree_free(&t);
}

/* Reads a document that must fail. A '^' in it marks the expected place and is taken out first. */
static void expect_failure(const char *marked, const char *fragment) {
    char document[4096], place[64];
    int line = 1, column = 1;
    const char *mark = strchr(marked, '^');
    assert_non_null(mark);
    for (const char *s = marked; s < mark; s++) {
        if (((unsigned char)*s & 0xc0) == 0x80) continue; /* columns are characters, not bytes */
        column = *s == '\n' ? 1 : column + 1;
        line += *s == '\n';
    }
    snprintf(document, sizeof document, "%.*s%s", (int)(mark - marked), marked, mark + 1);
    snprintf(place, sizeof place, "f.yaml:%d:%d: ", line, column);
    yaml_tree t = yaml_tree_create(ctx, "f.yaml");
    assert_int_equal(yaml_tree_read(&t, document, strlen(document)), SPATE_BAD_INPUT);
    yaml_tree_free(&t);
    if (strncmp(spate_message(ctx), place, strlen(place)) != 0 ||
        !strstr(spate_message(ctx), fragment))
        fail_msg("for:\n%s\nexpected '%s...%s', got '%s'", document, place, fragment,
                 spate_message(ctx));
}

static void test_values_and_places(void **state) {
    (void)state;
    yaml_tree t = read_good("a: 1\nb: [x, 'y', {c: ~}]\nd:\n");
    yaml_value *b = yaml_find(t.root, "b");
    assert_int_equal(t.root->count, 3);
    assert_int_equal(b->kind, YAML_LIST);
    assert_int_equal(b->count, 3);
    assert_int_equal(b->line, 2);
    assert_int_equal(b->column, 4);
    assert_true(yaml_is_word(yaml_item(b, 0), "x"));
    assert_false(yaml_item(b, 0)->quoted);
    assert_true(yaml_item(b, 1)->quoted);
    assert_int_equal(yaml_item(b, 1)->column, 8);
    assert_null(yaml_item(b, 3));
    assert_true(yaml_is_null(yaml_find(yaml_item(b, 2), "c")));
    assert_true(yaml_is_null(yaml_find(t.root, "d")));
    assert_null(yaml_find(t.root, "e"));
    yaml_tree_free(&t);
}

static void test_quoted_null_is_text(void **state) {
    (void)state;
    yaml_tree t = read_good("['', '~', 'null', \"\"]");
    for (int i = 0; i < 4; i++) assert_false(yaml_is_null(yaml_item(t.root, i)));
    yaml_tree_free(&t);
}

static void test_wrong_documents(void **state) {
    (void)state;
    static const struct {
        const char *document, *fragment;
    } cases[] = {
        {"^", "empty"},
        {"^# only a comment\n", "empty"},
        {"a: 1\nb: 2\n^a: 3\n", "duplicate field 'a', first given at line 1"},
        {"a: {b: [{c: 1, ^c: 2}]}", "a.b.0: duplicate field 'c'"},
        {"a: 1\n^---\nb: 2\n", "second document"},
        {"a: &x [1, ^*x]\n", "inside what it refers to"},
        {"a: &x {b: {c: ^*x}}\n", "a.b.c: alias '*x' stands inside"},
        {"a: ^*nothing\n", "'*nothing' has no anchor"},
        {"a: ^!!str 1\n", "tags such as"},
        {"a: ^!<python/object> {}\n", "tags such as"},
        {"^[a]: 1\n", "name must be a word"},
        {"? ^{a: 1}\n: 1\n", "name must be a word"},
        {"a: ^\"x\\0y\"\n", "zero character"},
        {"a: [1, 2\nb^: 3\n", "not valid YAML: did not find expected"},
        {"a: {color: #ff0000}\nb^: 3\n", "whether a # outside quotes began a comment"},
        {"a: b^: c\n", "not valid YAML"},
        {"a: \"x\n^", "not valid YAML"},
        {"a: 1\n b^: 2\n", "not valid YAML"},
        {"a: ^\xff\n", "byte 0xff is not UTF-8"},
        {"# \xc3\xa4\n\xc3\xa4: ^\xc3\n", "byte 0xc3 is not UTF-8"},
        {"^\xff\xfe"
         "a",
         "is not UTF-8"},
        {"a: ^\xc0\x80", "is not UTF-8"},
        {"a: ^\xe0\x80\x80", "is not UTF-8"},
        {"a: ^\xed\xa0\x80", "is not UTF-8"},
        {"a: ^\xf4\x90\x80\x80", "is not UTF-8"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) expect_failure(cases[i].document, cases[i].fragment);
}

static void test_depth(void **state) {
    (void)state;
    char document[512] = "";
    memset(document, '[', 64);
    memset(document + 64, ']', 64);
    yaml_tree t = read_good(document);
    assert_int_equal(t.root->height, 64);
    yaml_tree_free(&t);
    /* one more: refused at the bracket that is too deep */
    memset(document, '[', 64);
    memcpy(document + 64, "^[", 2);
    memset(document + 66, ']', 65);
    expect_failure(document, "nested deeper than 64");
    /* through an alias: 32 deep inside 32 is fine, inside 33 is not */
    snprintf(document, sizeof document, "a: &x %.*s%.*s\nb: %.*s*x%.*s\n", 32,
             "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 32, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", 31,
             "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 31, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    t = read_good(document);
    yaml_tree_free(&t);
    snprintf(document, sizeof document, "a: &x %.*s%.*s\nb: %.*s^*x%.*s\n", 32,
             "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 32, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]", 32,
             "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 32, "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]");
    expect_failure(document, "nested deeper than 64");
}

/* Each line holds ten of the line before: 10^k values. Five levels pass, seven do not. */
static void test_alias_bomb(void **state) {
    (void)state;
    for (int levels = 5; levels <= 9; levels += 2) {
        text t = {.ctx = ctx};
        text_add(&t, "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n");
        for (int i = 1; i < levels; i++) {
            text_add(&t, "l%d: &l%d [", i, i);
            for (int k = 0; k < 10; k++) text_add(&t, "*l%d%s", i - 1, k < 9 ? ", " : "]\n");
        }
        yaml_tree tree = yaml_tree_create(ctx, "f.yaml");
        spate_status status = yaml_tree_read(&tree, t.data, t.length);
        assert_int_equal(status, levels == 5 ? SPATE_OK : SPATE_BAD_INPUT);
        if (status) assert_non_null(strstr(spate_message(ctx), "more than 1000000 values"));
        yaml_tree_free(&tree);
        text_free(&t);
    }
}

static void test_large_files(void **state) {
    (void)state;
    size_t length = (16 << 20) + 1;
    char *bytes = take(ctx, length, 1);
    memset(bytes, '#', length);
    yaml_tree t = yaml_tree_create(ctx, "f.yaml");
    assert_int_equal(yaml_tree_read(&t, bytes, length), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "16777216"));
    give(ctx, bytes);
    yaml_tree_free(&t);
}

static void test_aliases_share(void **state) {
    (void)state;
    yaml_tree t = read_good("a: &x {v: 1}\nb: *x\n");
    assert_ptr_equal(yaml_find(t.root, "a"), yaml_find(t.root, "b"));
    /* an override changes the one it names and not its namesake */
    assert_int_equal(yaml_tree_set(&t, (const char *[]){"b.v=2"}, 1), SPATE_OK);
    assert_string_equal(yaml_find(yaml_find(t.root, "a"), "v")->text, "1");
    assert_string_equal(yaml_find(yaml_find(t.root, "b"), "v")->text, "2");
    yaml_tree_free(&t);
}

/* Applies one override to a small tree and gives the tree back as YAML. */
static spate_status set_and_emit(const char *set, char out[512]) {
    static const char document[] = "s: {cfl: 1}\nl: [{name: dam, v: [0, 0]}, {name: b 2}]\nn:\n";
    yaml_tree t = read_good(document);
    spate_status status = yaml_tree_set(&t, &set, 1);
    text emitted = {.ctx = ctx};
    if (status == SPATE_OK) yaml_emit(t.root, &emitted);
    snprintf(out, 512, "%s", emitted.data ? emitted.data : "");
    text_free(&emitted);
    yaml_tree_free(&t);
    return status;
}

static void test_overrides(void **state) {
    (void)state;
    static const struct {
        const char *set, *result;
    } cases[] = {
        {"s.cfl=2", "s: {cfl: 2}\n"},
        {"s.cfl= 2 ", "s: {cfl: 2}\n"},
        {"s.x.y=[1, a]", "s: {cfl: 1, x: {y: [1, a]}}\n"},
        {"s=5", "s: 5\n"},
        {"t={a: b}", "t: {a: b}\n"},
        {"l.0.v.1=7", "v: [0, 7]"},
        {"l.dam.v=[1,0]", "v: [1, 0]"},
        {"l.b 2.v=3", "{name: b 2, v: 3}"},
        {"l.2={name: c}", "{name: c}"},
        {"l.2.name=c", "{name: c}"},
        {"l.0.v.2=9", "v: [0, 0, 9]"},
        {"n.0.a=1", "n: [{a: 1}]"},
        {"n.a=1", "n: {a: 1}"},
        {"s.cfl=a=b", "s: {cfl: \"a=b\"}"},
        {"s.cfl='2'", "s: {cfl: \"2\"}"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char out[512];
        if (set_and_emit(cases[i].set, out) != SPATE_OK)
            fail_msg("%s: %s", cases[i].set, spate_message(ctx));
        if (!strstr(out, cases[i].result))
            fail_msg("%s: expected '%s' in:\n%s", cases[i].set, cases[i].result, out);
    }
}

static void test_wrong_overrides(void **state) {
    (void)state;
    static const struct {
        const char *set, *fragment;
    } cases[] = {
        {"s.cfl", "--set s.cfl: expected path=value"},
        {"=2", "--set =2: expected path=value"},
        {"s..cfl=2", "--set s..cfl=2: an empty name"},
        {".s=2", "empty name"},
        {"s.=2", "empty name"},
        {"s.cfl.x=2", "'cfl' is a single value"},
        {"l.3.v=2", "index 3 of a list of 2"},
        {"l.-1=2", "index -1"},
        {"l.dem.v=2", "no entry named 'dem'; did you mean 'dam'?"},
        {"l.qqqqqq.v=2", "no entry named 'qqqqqq'; give its name, or its index from 0 to 1"},
        {"s.cfl=[1", "--set s.cfl=[1: not valid YAML"},
        {"s.cfl=", "no value behind '='"},
        {"s.cfl={a: 1, a: 2}", "duplicate field 'a'"},
        {"s.cfl=&x [*x]", "inside what it refers to"},
        {"s.cfl=\xff", "not valid YAML"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++) {
        char out[512];
        assert_int_equal(set_and_emit(cases[i].set, out), SPATE_BAD_INPUT);
        if (!strstr(spate_message(ctx), cases[i].fragment))
            fail_msg("%s: expected '%s', got '%s'", cases[i].set, cases[i].fragment,
                     spate_message(ctx));
    }
}

static void test_override_depth(void **state) {
    (void)state;
    char set[512] = "s", out[512];
    for (int i = 1; i < 64; i++) strcat(set, ".a");
    strcat(set, "=1");
    assert_int_equal(set_and_emit("s={}", out), SPATE_OK);
    yaml_tree t = read_good("x: 1\n");
    const char *sets[] = {set};
    assert_int_equal(yaml_tree_set(&t, sets, 1), SPATE_OK);
    strcpy(strchr(set, '='), "=[1]");
    assert_int_equal(yaml_tree_set(&t, sets, 1), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "nested deeper"));
    yaml_tree_free(&t);
}

static void hash_text(const char *document, const char *const *left_out, char out[1024]) {
    yaml_tree t = read_good(document);
    text s = {.ctx = ctx};
    assert_int_equal(yaml_serialise(&t, t.root, "materials", left_out, &s), SPATE_OK);
    snprintf(out, 1024, "%s", s.data);
    text_free(&s);
    yaml_tree_free(&t);
}

static void test_serialised(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        bool same;
    } cases[] = {
        {"{a: 1, b: 2}", "{b: 2, a: 1}", true},
        {"{a: 1.0}", "{a: 1}", true},
        {"{a: 1e3}", "{a: 1000.00}", true},
        {"{a: x}", "{a: 'x'}", true},
        {"{a: 1}", "{a: '1'}", false},
        {"{a: [1, 2]}", "{a: [2, 1]}", false},
        {"{a: {b: 1}}", "{a: {c: 1}}", false},
        {"{a: 0.1}", "{a: 0.10000000000000001}", true},
        {"{a: 0.1}", "{a: 0.1000000000000001}", false},
        {"{seed: 9007199254740993}", "{seed: 9007199254740992}", false},
        {"{a: &x [1], b: *x}", "{a: [1], b: [1]}", true},
        {"{materials: {a: 1, b: 2}}", "{materials: {b: 2, a: 1}}", false},
        {"{materials: {a: {x: 1, y: 2}}}", "{materials: {a: {y: 2, x: 1}}}", true},
        {"{a: ~}", "{a: }", true},
        {"{a: ~}", "{a: '~'}", false},
    };
    char a[1024], b[1024];
    for (int i = 0; i < COUNT_OF(cases); i++) {
        hash_text(cases[i].a, NULL, a);
        hash_text(cases[i].b, NULL, b);
        if ((strcmp(a, b) == 0) != cases[i].same) fail_msg("%s | %s", cases[i].a, cases[i].b);
    }
    const char *left_out[] = {"name", "s.m", NULL};
    hash_text("{name: a, s: {m: 1, n: 2}, t: {m: 1, name: x}}", left_out, a);
    hash_text("{name: b, s: {m: 7, n: 2}, t: {m: 1, name: x}}", left_out, b);
    assert_string_equal(a, b);
    hash_text("{name: b, s: {m: 7, n: 2}, t: {m: 2, name: x}}", left_out, b);
    assert_string_not_equal(a, b);
    hash_text("{name: b, s: {m: 7, n: 3}, t: {m: 1, name: x}}", left_out, b);
    assert_string_not_equal(a, b);
}

/* What is written reads back as the same tree, whatever the words are. */
static void test_emitted_reads_back(void **state) {
    (void)state;
    static const char *const documents[] = {
        "a: 1\n",
        "[]",
        "{}",
        "x",
        "- - - 1\n    - 2\n  - 3\n- {}\n- []\n",
        "a: ['1', '', ~, 'null', '~', 'true', true, 1e3, -.5, '- x', '#c', 'a: b', 'a #b']\n",
        "a: \"tab\\t nl\\n quote\\\" back\\\\ bell\\a nel\\N ls\\L bom\\uFEFF del\\x7f c1\\x81\"\n",
        "a: 'it''s'\nb: \"\xc3\xa4 \xe2\x82\xac \xf0\x9f\x8c\x8a\"\n\"\xc3\xa4\": 1\n",
        "a: |\n  two\n  lines\nb: >\n  folded\n  text\n",
        "'1': 2\n'': 3\n'a: b': 4\n'- ': 5\n",
        "[[a, b], {c: [d, {e: f}]}, '--- x', '...', '---', '%x', '@x', '`x', '!x', '&x', '*x']",
        "long: [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, "
        "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb,"
        " {c: ccccccccccccccccccccccccccccccc, d: [{e: dddddddddddddddddddddddddddddddddddddddddd,"
        " f: eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee}]}]\n",
        "1: a\ntrue: b\n~: c\n",
    };
    for (int i = 0; i < COUNT_OF(documents); i++) {
        char before[1024], after[1024];
        text emitted = {.ctx = ctx};
        yaml_tree t = read_good(documents[i]);
        yaml_emit(t.root, &emitted);
        yaml_tree_free(&t);
        hash_text(documents[i], NULL, before);
        hash_text(emitted.data, NULL, after);
        if (strcmp(before, after) != 0) fail_msg("%s\nbecame\n%s", documents[i], emitted.data);
        text_free(&emitted);
    }
}

static void test_shown(void **state) {
    (void)state;
    char out[YAML_SHOWN], longer[200];
    assert_string_equal(yaml_shown("a\nb\x1b[0m", out), "a b [0m");
    memset(longer, 'x', 199), longer[199] = 0;
    assert_int_equal(strlen(yaml_shown(longer, out)), YAML_SHOWN - 1);
    /* never cut inside a character */
    for (int shift = 0; shift < 4; shift++) {
        memset(longer, 'x', (size_t)shift);
        for (int i = shift; i + 2 < 199; i += 2) memcpy(longer + i, "\xc3\xa4", 3);
        yaml_shown(longer, out);
        size_t n = strlen(out) - 3;
        assert_string_equal(out + n, "...");
        assert_int_equal((unsigned char)out[n - 1], 0xa4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_byte_order_marks_are_passed_over),
        cmocka_unit_test(test_values_and_places),
        cmocka_unit_test(test_quoted_null_is_text),
        cmocka_unit_test(test_wrong_documents),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_alias_bomb),
        cmocka_unit_test(test_large_files),
        cmocka_unit_test(test_aliases_share),
        cmocka_unit_test(test_overrides),
        cmocka_unit_test(test_wrong_overrides),
        cmocka_unit_test(test_override_depth),
        cmocka_unit_test(test_serialised),
        cmocka_unit_test(test_emitted_reads_back),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
