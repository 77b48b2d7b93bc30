/* The field tables as JSON: complete, and right in what programs rely on. */
#include "driven.h"

static bool has(const collected *c, const char *words) { return strstr(c->data, words) != NULL; }

/* Braces, brackets and quotes close, and nothing is there that JSON does not have. */
static void assert_json(const char *text) {
    char open[64];
    int depth = 0;
    bool quoted = false;
    for (const char *c = text; *c; c++) {
        if (quoted && *c == '\\')
            c++;
        else if (*c == '"')
            quoted = !quoted;
        else if (!quoted && (*c == '{' || *c == '['))
            open[depth++] = *c;
        else if (!quoted && (*c == '}' || *c == ']'))
            assert_int_equal(open[--depth], *c == '}' ? '{' : '[');
    }
    assert_int_equal(depth, 0);
    assert_false(quoted);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf,"));
    assert_null(strstr(text, ",}"));
    assert_null(strstr(text, "{,"));
}

static void test_tables(void **state) {
    (void)state;
    play p = open_tank(FLIP, 1);
    collected c = {0};
    expect(p.ctx, spate_scene_fields(p.ctx, collect, &c));
    assert_json(c.data);
    static const char *const expected[] = {
        "\"scene\":[",
        "\"solver mpm\":[",
        "\"solver flip\":[",
        "\"material liquid\":[",
        "\"shape sphere\":[",
        "\"probe depth\":[",
        "\"force mouse\":[",
        "\"event pose\":[",
        "{\"name\":\"dx\",\"type\":\"number\",\"unit\":\"m\",\"required\":true",
        "\"choices\":[\"flip\",\"pic\",\"apic\",\"aflip\",\"kernel\"]",
        "{\"name\":\"alpha\",\"type\":\"number\",\"default\":0.96999999999999997,\"min\":0,\"max\":"
        "1",
    };
    for (int i = 0; i < COUNT_OF(expected); i++)
        if (!has(&c, expected[i])) fail_msg("the tables lack %s", expected[i]);
    assert_false(has(&c, "\"solver magic\""));
    free(c.data);
    play_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tables)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
