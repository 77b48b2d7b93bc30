/* Numbers from text and back in any locale, growing text, nearest words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/text.h"
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_allocator.h"

static void check_numbers(const spate_context *ctx) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},
                {"-0.5", -0.5},
                {"+3", 3},
                {".25", 0.25},
                {"7.", 7},
                {"1e3", 1000},
                {"1.5E-3", 0.0015},
                {"-2e+2", -200},
                {"0.1", 0.1},
                {"1e-400", 0},
                {"0009.81", 9.81},
                {"1.7976931348623157e308", 1.7976931348623157e308},
                {"4.9406564584124654e-324", 4.9406564584124654e-324},
                {"0.1000000000000000055511151231257827", 0.1}};
    for (int i = 0; i < COUNT_OF(good); i++) {
        double value = 99;
        assert_true(text_to_double(ctx, good[i].text, strlen(good[i].text), &value));
        assert_true(value == good[i].value);
    }
    static const char *const bad[] = {
        "",    " ",     "0.02m",  "nan",   "inf",   "-inf",   "infinity", "0x10", "1e",
        "1e+", ".",     "-",      "+.e1",  "e5",    "1,5",    "1 ",       " 1",   "1.2.3",
        "--1", "1e999", "-1e999", "1_000", "1e5.5", "NAN(1)", "0x1p3",    "1d3"};
    for (int i = 0; i < COUNT_OF(bad); i++) {
        double value = 99;
        assert_false(text_to_double(ctx, bad[i], strlen(bad[i]), &value));
        assert_true(value == 99);
    }
}

static void test_whole_numbers_only(void **state) { check_numbers(*state); }

static void test_length_is_respected(void **state) {
    double value;
    assert_true(text_to_double(*state, "12345", 2, &value));
    assert_true(value == 12);
    char zeros[1000];
    memset(zeros, '0', sizeof zeros);
    assert_true(text_to_double(*state, zeros, 300, &value));
    assert_false(text_to_double(*state, zeros, sizeof zeros, &value));
    assert_false(text_to_double(*state, "1\0002", 3, &value));
}

static void test_integers(void **state) {
    (void)state;
    int64_t value = 99;
    assert_true(text_to_int64("9223372036854775807", 19, &value) && value == INT64_MAX);
    assert_true(text_to_int64("-9223372036854775808", 20, &value) && value == INT64_MIN);
    assert_true(text_to_int64("+07", 3, &value) && value == 7);
    assert_true(text_to_int64("-0", 2, &value) && value == 0);
    value = 99;
    static const char *const bad[] = {"",
                                      "-",
                                      "+",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999",
                                      "1.0",
                                      "1e3",
                                      "0x1",
                                      " 1",
                                      "1 "};
    for (int i = 0; i < COUNT_OF(bad); i++)
        assert_false(text_to_int64(bad[i], strlen(bad[i]), &value));
    assert_int_equal(value, 99);
}

static void test_scanning(void **state) {
    const char *line = " \t1.5  -2e1\t.5/7//-8 x", *end = line + strlen(line), *at = line;
    double d;
    int64_t i;
    assert_true(text_scan_double(*state, &at, end, &d) && d == 1.5);
    assert_true(text_scan_double(*state, &at, end, &d) && d == -20);
    assert_true(text_scan_double(*state, &at, end, &d) && d == 0.5);
    assert_int_equal(*at, '/');
    at++;
    assert_true(text_scan_int64(&at, end, &i) && i == 7);
    at += 2;
    assert_true(text_scan_int64(&at, end, &i) && i == -8);
    /* Nothing is read and the cursor stays where there is no number. */
    const char *before = at;
    assert_false(text_scan_double(*state, &at, end, &d));
    assert_false(text_scan_int64(&at, end, &i));
    assert_ptr_equal(at, before);

    /* Not across a line end, not beyond the end, and not a part of something else. */
    static const char *const bad[] = {"\n1",   "\r1",  "",   "  ",  "nan", "inf", "1.5f",
                                      "12abc", "1..2", "1e", "1-2", "0x1", "1_0"};
    for (int k = 0; k < COUNT_OF(bad); k++) {
        at = bad[k];
        assert_false(text_scan_double(*state, &at, bad[k] + strlen(bad[k]), &d));
        assert_ptr_equal(at, bad[k]);
        assert_false(text_scan_int64(&at, bad[k] + strlen(bad[k]), &i));
        assert_ptr_equal(at, bad[k]);
    }
    at = "1.5";
    assert_false(text_scan_int64(&at, at + 3, &i));
    at = "1234";
    assert_true(text_scan_int64(&at, at + 2, &i) && i == 12);
    at = "3\r\n";
    assert_true(text_scan_double(*state, &at, at + 3, &d) && d == 3);
    assert_int_equal(*at, '\r');
}

static void check_formatting(spate_context *ctx) {
    text t = {.ctx = ctx};
    text_add(&t, "%g %.2f", 0.5, 1e6);
    assert_string_equal(t.data, "0.5 1000000.00");
    text_free(&t);
    assert_int_equal(fail(ctx, SPATE_BAD_INPUT, "%.1f", 2.5), SPATE_BAD_INPUT);
    assert_string_equal(spate_message(ctx), "2.5");
}

static void test_growing_text(void **state) {
    spate_context *ctx = *state;
    const int64_t blocks = ctx->blocks_now;
    text t = {.ctx = ctx};
    text_add(&t, "%s", "");
    assert_string_equal(t.data, "");
    char expected[8000] = "";
    for (int i = 0; i < 1000; i++) {
        text_add(&t, "%d,", i);
        sprintf(expected + strlen(expected), "%d,", i);
        assert_int_equal(t.length, strlen(expected));
    }
    assert_string_equal(t.data, expected);
    text_add_bytes(&t, "a\0b", 3);
    text_add_bytes(&t, NULL, 0);
    assert_int_equal(t.length, strlen(expected) + 3);
    assert_memory_equal(t.data + strlen(expected), "a\0b", 4);

    /* No memory: what is there stays and is closed, and nothing is added any more. */
    const size_t length = t.length;
    char longer[20000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    refuse = 1;
    text_add(&t, "%s", longer);
    assert_true(t.failed);
    refuse = 0;
    text_add(&t, "more");
    text_add_bytes(&t, "more", 4);
    assert_int_equal(t.length, length);
    assert_int_equal(t.data[length], 0);
    text_free(&t);
    assert_null(t.data);
    assert_false(t.failed);
    assert_int_equal(ctx->blocks_now, blocks);
}

static void test_formatting_in_the_c_locale(void **state) {
    check_formatting(*state);
    assert_string_equal(text_of_errno(*state, 2), "No such file or directory");
}

/* With a decimal comma, where the system has such a locale. */
static void test_comma_locale(void **state) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR",
                                        "nl_NL.UTF-8"};
    const char *set = NULL;
    for (int i = 0; i < COUNT_OF(names) && !set; i++) set = setlocale(LC_ALL, names[i]);
    if (!set) skip();
    char control[16];
    snprintf(control, sizeof control, "%.1f", 0.5);
    assert_string_equal(control, "0,5");
    check_numbers(*state);
    check_formatting(*state);
    /* The program's own locale is as it was. */
    snprintf(control, sizeof control, "%.1f", 0.5);
    assert_string_equal(control, "0,5");
    setlocale(LC_ALL, "C");
}

static void test_nearest_word(void **state) {
    (void)state;
    static const char *const words[] = {"viscosity", "density",      "dx",
                                        "cfl",       "bulk_modulus", "friction_coefficient"};
    const int count = COUNT_OF(words);
    assert_string_equal(text_nearest("viscocity", words, count), "viscosity");
    assert_string_equal(text_nearest("desnity", words, count), "density");
    assert_string_equal(text_nearest("dens", words, count) ? "found" : "none", "none");
    assert_string_equal(text_nearest("densit", words, count), "density");
    assert_string_equal(text_nearest("dy", words, count), "dx");
    assert_string_equal(text_nearest("clf", words, count), "cfl");
    assert_string_equal(text_nearest("dx", words, count), "dx");
    assert_string_equal(text_nearest("DENSITY", words, count), "density");
    const char *const formats[] = {"vtp", "ply", "VDB"};
    assert_null(text_nearest("vdx", formats, 1)); /* two of three letters are not a slip */
    assert_string_equal(text_nearest("vdb", formats, 3), "VDB");
    assert_true(text_is_same_but_case("fLIp", "FliP") && !text_is_same_but_case("flip", "flips"));
    assert_false(text_is_same_but_case("[", "{")); /* letters only */
    /* A third of a long word may differ. */
    assert_string_equal(text_nearest("friction_coeff", words, 6) ? "found" : "none", "none");
    assert_string_equal(text_nearest("frictions_coeficcientt", words, count),
                        "friction_coefficient");
    /* Nothing near, nothing to compare, nothing shared. */
    assert_null(text_nearest("temperature", words, count));
    assert_null(text_nearest("", words, count));
    assert_null(text_nearest("q", words, count));
    assert_null(text_nearest("qq", words, count));
    assert_null(text_nearest("dx", words, 0));
    char longer[200];
    memset(longer, 'd', 199);
    longer[199] = 0;
    assert_null(text_nearest(longer, words, count));
    const char *only = longer;
    assert_null(text_nearest("dx", &only, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_numbers_only),
        cmocka_unit_test(test_length_is_respected),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_scanning),
        cmocka_unit_test(test_growing_text),
        cmocka_unit_test(test_formatting_in_the_c_locale),
        cmocka_unit_test(test_comma_locale),
        cmocka_unit_test(test_nearest_word),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
