/* What viewers say: every verb with its arguments, and everything that is not one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/message.h"
#include <string.h>

static spate_context *ctx;

static int open_context(void **state) {
    (void)state;
    return spate_open(NULL, &ctx);
}
static int close_context(void **state) {
    (void)state;
    spate_close(ctx);
    return 0;
}

static bool reads(const char *text, message *m) {
    message_error error = {""};
    const bool well = message_read(ctx, text, strlen(text), m, &error);
    assert_int_equal(well, error.text[0] == 0);
    return well;
}

static void test_verbs(void **state) {
    message m;
    (void)state;
    assert_true(reads("stir 0.5 0.25 -1 1e3 -2 0 .1", &m));
    assert_int_equal(m.kind, MESSAGE_STIR);
    const double wanted[7] = {0.5, 0.25, -1, 1e3, -2, 0, 0.1};
    for (int i = 0; i < 7; i++) assert_float_equal(m.numbers[i], wanted[i], 0);
    assert_true(reads("colour v_y", &m));
    assert_string_equal(m.words[0], "v_y");
    assert_true(reads("plot kinetic_energy mass", &m));
    assert_int_equal(m.word_count, 2);
    assert_string_equal(m.words[1], "mass");
    assert_true(reads("  release  ", &m));
    assert_true(reads("plot", &m));
    assert_int_equal(m.word_count, 0);
    for (int k = 0; k < MESSAGE_SPOKEN; k++) assert_true(*message_verb((message_kind)k));
}

static void test_refused(void **state) {
    static const char *const wrong[] = {"",
                                        " ",
                                        "fram",
                                        "framee",
                                        "frame 1",
                                        "stir 1 2 3 4 5 6",
                                        "stir 1 2 3 4 5 6 7 8",
                                        "step nan",
                                        "step inf",
                                        "step 1e300",
                                        "step one",
                                        "colour",
                                        "colour a b",
                                        "plot a b c d e",
                                        "joined",
                                        "colour a\tb",
                                        "colour 0123456789012345678901234567890123456789012345678"
                                        "9012345678901234567890"};
    message m;
    char long_one[MESSAGE_LENGTH + 2];
    (void)state;
    for (int i = 0; i < COUNT_OF(wrong); i++) assert_false(reads(wrong[i], &m));
    memset(long_one, ' ', sizeof long_one);
    memcpy(long_one, "frame", 5);
    long_one[sizeof long_one - 1] = 0;
    assert_false(reads(long_one, &m));
    long_one[MESSAGE_LENGTH] = 0;
    assert_true(reads(long_one, &m));
    message_error error;
    assert_false(message_read(ctx, "colour a\0b", 10, &m, &error));
    assert_false(message_read(ctx, NULL, 0, &m, &error));
}

/* Where a tool is now makes needless where it was; what was done stays done. */
static void test_replaces(void **state) {
    message a, b;
    (void)state;
    assert_true(reads("pull 1 2 3 4", &a) && reads("pull 2 2 3 4", &b));
    assert_true(message_replaces(&b, &a));
    assert_true(reads("ball 1 2 3 4", &a) && reads("ball 1 2 3 4", &b));
    assert_false(message_replaces(&b, &a));
    assert_true(reads("pull 1 2 3 4", &a) && reads("release", &b));
    assert_false(message_replaces(&b, &a));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verbs),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_replaces),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
