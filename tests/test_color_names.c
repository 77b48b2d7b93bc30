/* Colours as people write them: names, hexadecimal digits, and what is neither. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "scene/color_names.h"

static void expect(const char *word, unsigned hex) {
    double c[3];
    if (!color_from_text(word, c)) fail_msg("'%s' is refused", word);
    for (int k = 0; k < 3; k++)
        assert_int_equal((unsigned)(c[k] * 255 + 0.5), hex >> (16 - 8 * k) & 255);
}

static void digits_are_channels(void **state) {
    (void)state;
    expect("#e8a317", 0xe8a317);
    expect("#E8A317", 0xe8a317);
    expect("e8a317", 0xe8a317);
    expect("#fa3", 0xffaa33);
    expect("000000", 0);
}

static void names_are_known_however_written(void **state) {
    (void)state;
    expect("white", 0xffffff);
    expect("Dark Green", 0x006400);
    expect("dark-green", 0x006400);
    expect("LIGHT_BLUE", 0xadd8e6);
    for (int i = 0; i < COLOR_NAMES; i++) {
        double c[3];
        assert_true(color_from_text(color_names[i], c));
        for (int k = 0; k < i; k++) assert_string_not_equal(color_names[i], color_names[k]);
    }
}

static void all_else_is_refused(void **state) {
    (void)state;
    static const char *const words[] = {"",
                                        "#",
                                        "#ff",
                                        "fa3",
                                        "#ff00zz",
                                        "#ff00000",
                                        "0.5",
                                        "ff0000ff",
                                        "reddish",
                                        "re d d",
                                        "1234567890123456789"};
    double c[3];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (color_from_text(words[i], c)) fail_msg("'%s' is accepted", words[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_channels),
        cmocka_unit_test(names_are_known_however_written),
        cmocka_unit_test(all_else_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
