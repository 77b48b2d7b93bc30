/* Sizes of pictures and films, from files made by hand; what is cut short anywhere is not taken for
 * whole. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run/media.h"
#include <stdlib.h>
#include <string.h>

/* ---- Files ---- */

typedef struct bytes {
    char data[1024];
    size_t length;
} bytes;

static void put(bytes *b, uint64_t value, int count) {
    for (int i = count - 1; i >= 0; i--) b->data[b->length++] = (char)(value >> (8 * i));
}

static void put_zeros(bytes *b, size_t count) {
    memset(b->data + b->length, 0, count);
    b->length += count;
}

/* A box around what is in it; `wide`: its size in 64 bits. */
static bytes box(const char *kind, const bytes *in, bool wide) {
    bytes b = {.length = 0};
    put(&b, wide ? 1 : in->length + 8, 4);
    memcpy(b.data + b.length, kind, 4);
    b.length += 4;
    if (wide) put(&b, in->length + 16, 8);
    memcpy(b.data + b.length, in->data, in->length);
    b.length += in->length;
    return b;
}

static void append(bytes *to, const bytes *more) {
    memcpy(to->data + to->length, more->data, more->length);
    to->length += more->length;
}

/* 640 x 480 pixels, 90 frames in 3.6 s. */
static bytes make_film(bool wide) {
    bytes shown = {.length = 0}, header = {.length = 0}, sizes = {.length = 0}, part, all;
    put_zeros(&shown, 76);
    put(&shown, 640 << 16, 4), put(&shown, 480 << 16, 4);
    put(&header, wide ? 1u << 24 : 0, 4);
    put_zeros(&header, wide ? 16 : 8);
    put(&header, 12800, 4), put(&header, 46080, wide ? 8 : 4);
    put_zeros(&header, 4);
    put_zeros(&sizes, 8);
    put(&sizes, 90, 4);
    part = box("stsz", &sizes, false);
    part = box("stbl", &part, false);
    part = box("minf", &part, false);
    all = box("mdhd", &header, false);
    append(&all, &part);
    part = box("mdia", &all, false);
    all = box("tkhd", &shown, false);
    append(&all, &part);
    part = box("trak", &all, false);
    part = box("moov", &part, wide);
    all = box("ftyp", &(bytes){"isom", 4}, false);
    append(&all, &part);
    return all;
}

static bytes make_picture(void) {
    bytes b = {.length = 0};
    const char signature[] = "\x89PNG\r\n\x1a\n";
    memcpy(b.data, signature, 8);
    b.length = 8;
    put(&b, 13, 4);
    memcpy(b.data + b.length, "IHDR", 4);
    b.length += 4;
    put(&b, 1280, 4), put(&b, 720, 4);
    put_zeros(&b, 9);
    put(&b, 0, 4);
    memcpy(b.data + b.length, "IEND", 4);
    b.length += 4;
    put(&b, 0xae426082, 4);
    return b;
}

/* ---- Tests ---- */

static void a_picture_has_its_size(void **state) {
    (void)state;
    media m;
    const bytes b = make_picture();
    assert_true(media_is_png(b.data, b.length) && !media_is_mp4(b.data, b.length));
    assert_true(media_read_png(b.data, b.length, &m));
    assert_int_equal(m.width, 1280);
    assert_int_equal(m.height, 720);
}

static void a_film_has_size_and_frames(void **state) {
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        media m;
        const bytes b = make_film(wide);
        assert_true(media_is_mp4(b.data, b.length) && !media_is_png(b.data, b.length));
        assert_true(media_read_mp4(b.data, b.length, &m));
        assert_int_equal(m.width, 640);
        assert_int_equal(m.height, 480);
        assert_int_equal(m.frames, 90);
        assert_true(m.seconds > 3.599 && m.seconds < 3.601);
    }
}

/* Each in a block of its own size, so that a sanitizer sees a byte too far. */
static void expect_cut(const bytes *whole, bool (*read)(const char *, size_t, media *)) {
    for (size_t length = 0; length < whole->length; length++) {
        media m;
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memcpy(copy, whole->data, length);
        assert_false(read(copy, length, &m));
        assert_false(media_is_png(copy, length < 8 ? length : 7));
        free(copy);
    }
}

static void what_is_cut_is_refused(void **state) {
    (void)state;
    const bytes picture = make_picture(), film = make_film(false), wide = make_film(true);
    expect_cut(&picture, media_read_png);
    expect_cut(&film, media_read_mp4);
    expect_cut(&wide, media_read_mp4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_picture_has_its_size),
        cmocka_unit_test(a_film_has_size_and_frames),
        cmocka_unit_test(what_is_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
