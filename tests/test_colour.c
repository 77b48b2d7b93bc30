/* Colours: the screen's curve, OKLab, and a map whose lightness grows evenly. */
#include "pictures.h"

#include "pictures/draw/colour.h"

/* OKLab's own reference: white is (1, 0, 0). */
static void white_is_white(void **state) {
    (void)state;
    rgb white = colour_from_oklab(1, 0, 0), hex = colour_from_hex(0xffffff),
        grey = colour_from_hex(0x808080);
    assert_true(fabsf(white.r - 1) < 1e-3f && fabsf(white.g - 1) < 1e-3f &&
                fabsf(white.b - 1) < 1e-3f);
    assert_true(hex.r == 1 && hex.g == 1 && hex.b == 1);
    /* IEC 61966-2-1: 128 is 0.2158 of the light of 255. */
    assert_true(fabsf(grey.g - 0.21586f) < 1e-4f);
    assert_true(fabsf(colour_to_screen(grey.r) - 128.0f / 255) < 1e-4f);
    rgb red = colour_from_hex(0xff0000);
    assert_true(red.r == 1 && red.g == 0 && red.b == 0);
    assert_true(fabsf(colour_lightness(red) - 0.62796f) < 1e-3f);
}

static void map_is_even_in_lightness(void **state) {
    (void)state;
    enum { STEPS = 64 };
    float first = colour_lightness(colour_map(0)), last = colour_lightness(colour_map(1));
    float step = (last - first) / STEPS;
    assert_true(last - first > 0.55f);
    for (int i = 0; i < STEPS; i++) {
        float a = colour_lightness(colour_map((double)i / STEPS)),
              b = colour_lightness(colour_map((i + 1.0) / STEPS));
        assert_true(fabsf(b - a - step) < 0.25f * step);
    }
}

static void map_holds_its_ends(void **state) {
    (void)state;
    rgb low = colour_map(0), below = colour_map(-3), high = colour_map(1),
        above = colour_map(1e300);
    assert_memory_equal(&low, &below, sizeof low);
    assert_memory_equal(&high, &above, sizeof high);
    for (int i = 0; i <= 10; i++) { /* both signs alike */
        float a = colour_lightness(colour_map_signed(0.5 + 0.05 * i)),
              b = colour_lightness(colour_map_signed(0.5 - 0.05 * i));
        assert_true(fabsf(a - b) < 0.02f && a < 0.96f);
        assert_true(i == 0 || a < colour_lightness(colour_map_signed(0.5 + 0.05 * (i - 1))));
    }
    rgb none = colour_map(NAN);
    assert_true(none.r == none.g && none.g == none.b);
}

static void materials_differ(void **state) {
    (void)state;
    for (int i = 0; i < COLOUR_PALETTE; i++)
        for (int j = 0; j < i; j++) {
            rgb a = colour_material(i), b = colour_material(j);
            assert_true(fabsf(a.r - b.r) + fabsf(a.g - b.g) + fabsf(a.b - b.b) > 0.08f);
        }
    rgb again = colour_material(COLOUR_PALETTE), zero = colour_material(0);
    assert_memory_equal(&again, &zero, sizeof zero);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(white_is_white),
        cmocka_unit_test(map_is_even_in_lightness),
        cmocka_unit_test(map_holds_its_ends),
        cmocka_unit_test(materials_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
