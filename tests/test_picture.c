/* Pictures: areas that are covered, edges that fade, letters, and PNG files another reader opens.
 */
#include "pictures.h"

#include "core/file.h"
#include "pictures/draw/glyphs.h"
#include "pictures/draw/picture.h"

static const rgb white = {1, 1, 1}, black = {0, 0, 0};

/* How many pixels' worth of black there is on white. */
static double dark_area(const picture *p) {
    double sum = 0;
    for (int i = 0; i < p->width * p->height; i++) sum += 1 - (double)p->pixels[i].g;
    return sum;
}

static picture blank(spate_context *ctx, int width, int height) {
    picture p;
    assert_int_equal(picture_create(ctx, width, height, &p), SPATE_OK);
    picture_fill(&p, white);
    return p;
}

/* Within the third of a pixel that a faded edge adds. */
static void discs_have_their_area(void **state) {
    spate_context *ctx = *state;
    for (double r = 0.25; r < 20; r *= 1.7) {
        picture p = blank(ctx, 64, 64);
        picture_disc(&p, 31.3, 32.8, r, black, 1);
        assert_true(fabs(dark_area(&p) - M_PI * r * r) < 0.03 * M_PI * r * r + 0.35);
        picture_free(ctx, &p);
    }
}

static void lines_have_their_area(void **state) {
    spate_context *ctx = *state;
    picture p = blank(ctx, 400, 300);
    picture_line(&p, (picture_ends){20, 30, 370, 250}, 3, black, 1);
    double length = hypot(350, 220);
    assert_true(fabs(dark_area(&p) - (3 * length + M_PI * 2.25)) < 0.02 * 3 * length);
    /* Nothing away from it. */
    assert_true(p.pixels[250 * 400 + 60].g == 1);
    picture_fill(&p, white);
    /* Far ends cost nothing and the part inside is right; one outside is not drawn. */
    picture_line(&p, (picture_ends){-1e7, 150, 1e7, 150}, 2, black, 1);
    assert_true(fabs(dark_area(&p) - 800) < 8);
    picture_line(&p, (picture_ends){-1e7, -50, 1e7, -50}, 2, black, 1);
    assert_true(fabs(dark_area(&p) - 800) < 8);
    picture_free(ctx, &p);
}

static void boxes_cover_parts_of_pixels(void **state) {
    spate_context *ctx = *state;
    picture p = blank(ctx, 32, 32);
    picture_box(&p, 3.25, 4.5, 10.75, 6.25, black, 1);
    assert_true(fabs(dark_area(&p) - 7.5 * 1.75) < 1e-4);
    picture_box(&p, -50, -50, 100, 100, black, 1);
    assert_true(fabs(dark_area(&p) - 32 * 32) < 1e-3);
    picture_free(ctx, &p);
}

/* Every letter leaves ink, no two look alike, and all stay in their line. */
static void letters_differ(void **state) {
    spate_context *ctx = *state;
    static float seen[GLYPH_COUNT][24 * 24];
    for (int c = 0; c < GLYPH_COUNT; c++) {
        char text[2] = {(char)(GLYPH_FIRST + c), 0};
        picture p = blank(ctx, 24, 24);
        picture_text(&p, 5, 16, 10, ALIGN_LEFT, black, text);
        for (int i = 0; i < 24 * 24; i++) seen[c][i] = p.pixels[i].g;
        assert_true(c == 0 ? dark_area(&p) == 0 : dark_area(&p) > 1);
        for (int i = 0; i < 24; i++) assert_true(seen[c][i] == 1 && seen[c][23 * 24 + i] == 1);
        for (int d = 0; d < c; d++) {
            float difference = 0;
            for (int i = 0; i < 24 * 24; i++) difference += fabsf(seen[c][i] - seen[d][i]);
            /* I and l are the only twins. */
            bool twins = (GLYPH_FIRST + c == 'l' && GLYPH_FIRST + d == 'I');
            assert_true(twins || difference > 1);
        }
        picture_free(ctx, &p);
    }
}

static void text_is_as_wide_as_it_says(void **state) {
    spate_context *ctx = *state;
    picture p = blank(ctx, 300, 40);
    const char *text = "Hello, 0.25 m/s";
    double width = picture_text_width(12, text);
    picture_text(&p, 280, 25, 12, ALIGN_RIGHT, black, text);
    int left = 300, right = 0;
    for (int i = 0; i < 300 * 40; i++)
        if (p.pixels[i].g < 0.5f)
            left = i % 300 < left ? i % 300 : left, right = i % 300 > right ? i % 300 : right;
    assert_true(abs(right - 280) <= 2 && fabs(280 - left - width) <= 3);
    /* Letters beyond ASCII are one box each, broken UTF-8 is survived. */
    assert_true(fabs(picture_text_width(12, "\xc3\xa9\xc3\xa9") -
                     picture_text_width(12, "\x7f\x7f")) < 1e-9);
    picture_text(&p, 5, 25, 12, ALIGN_LEFT, black, "\xff\x80\xc3");
    picture_free(ctx, &p);
}

static void png_is_read_back(void **state) {
    spate_context *ctx = *state;
    picture p = blank(ctx, 37, 23);
    p.pixels[0] = colour_from_hex(0x123456);
    p.pixels[22 * 37 + 36] = colour_from_hex(0xfedcba);
    p.pixels[1] = (rgb){-1, 2, NAN};
    unsigned char bytes[37 * 23 * 3];
    picture_to_bytes(&p, bytes);
    assert_int_equal(picture_write_png(ctx, bytes, 37, 23, in_folder("a.png")), SPATE_OK);
    pixels back = read_png(in_folder("a.png"));
    assert_non_null(back.rgb);
    assert_int_equal(back.width, 37);
    assert_int_equal(back.height, 23);
    assert_memory_equal(back.rgb, "\x12\x34\x56\x00\xff\x00", 6);
    assert_memory_equal(pixel(&back, 36, 22), "\xfe\xdc\xba", 3);
    assert_memory_equal(pixel(&back, 10, 10), "\xff\xff\xff", 3);
    free(back.rgb);
    picture_free(ctx, &p);
}

static void failures_are_told(void **state) {
    spate_context *ctx = *state;
    picture p;
    assert_int_equal(picture_create(ctx, 5, 100, &p), SPATE_BAD_INPUT);
    assert_int_equal(picture_create(ctx, 100, 1 << 20, &p), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "pixels"));
    unsigned char bytes[16 * 16 * 3] = {0};
    assert_int_equal(picture_write_png(ctx, bytes, 16, 16, in_folder("none/a.png")),
                     SPATE_IO_ERROR);
    assert_non_null(strstr(spate_message(ctx), "none/a.png"));
    assert_int_equal(picture_write_png(ctx, bytes, -1, 16, in_folder("b.png")), SPATE_IO_ERROR);
    assert_false(file_exists(ctx, in_folder("b.png")));
}

/* Every shade comes back as the byte that it was, in each channel. */
static void pictures_are_loaded_as_they_were_saved(void **state) {
    spate_context *ctx = *state;
    picture p, q;
    unsigned char bytes[32 * 24 * 3], again[sizeof bytes];
    assert_int_equal(picture_create(ctx, 32, 24, &p), SPATE_OK);
    assert_int_equal(picture_create(ctx, 32, 24, &q), SPATE_OK);
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i / 3 + 80 * (i % 3));
    assert_int_equal(picture_write_png(ctx, bytes, 32, 24, in_folder("shades.png")), SPATE_OK);
    assert_int_equal(picture_load(ctx, in_folder("shades.png"), again, &p), SPATE_OK);
    assert_memory_equal(bytes, again, sizeof bytes);
    picture_to_bytes(&p, again);
    assert_memory_equal(bytes, again, sizeof bytes);
    /* Another size, no picture, no file. */
    picture_free(ctx, &q);
    assert_int_equal(picture_create(ctx, 24, 32, &q), SPATE_OK);
    assert_int_equal(picture_load(ctx, in_folder("shades.png"), again, &q), SPATE_IO_ERROR);
    put_bytes(in_folder("none.png"), "no picture", 10);
    assert_int_equal(picture_load(ctx, in_folder("none.png"), again, &q), SPATE_IO_ERROR);
    assert_int_equal(picture_load(ctx, in_folder("away.png"), again, &q), SPATE_BAD_INPUT);
    picture_free(ctx, &p);
    picture_free(ctx, &q);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discs_have_their_area),
        cmocka_unit_test(lines_have_their_area),
        cmocka_unit_test(boxes_cover_parts_of_pixels),
        cmocka_unit_test(letters_differ),
        cmocka_unit_test(text_is_as_wide_as_it_says),
        cmocka_unit_test(png_is_read_back),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(pictures_are_loaded_as_they_were_saved),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
