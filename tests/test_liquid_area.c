/* Liquid as an area: where it is filled, how it ends, and what is beside it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "pictures/liquid_area.h"
#include <math.h>

static const rgb white = {1, 1, 1}, blue = {0.05f, 0.2f, 0.5f}, red = {0.6f, 0.1f, 0.05f};
enum { SPACING = 6, MOST = 2000 };

typedef struct canvas {
    picture picture;
    liquid_area_point points[MOST];
    liquid_area_input in;
} canvas;

static double nowhere(const void *user, double x, double y) {
    (void)user, (void)x, (void)y;
    return HUGE_VAL;
}

static double floor_below(const void *user, double x, double y) {
    (void)user, (void)x;
    return 110 - y;
}

/* A room of 180 by 100 pixels from (10, 10) on. */
static canvas *begin(spate_context *ctx) {
    static canvas c;
    c = (canvas){.in = {.layers = 1,
                        .hidden = -1,
                        .low = {10, 10},
                        .high = {190, 110},
                        .solid = nowhere,
                        .points = c.points}};
    assert_int_equal(picture_create(ctx, 200, 120, &c.picture), SPATE_OK);
    picture_fill(&c.picture, white);
    return &c;
}

static void add(canvas *c, double x, double y, int layer, rgb colour) {
    assert_true(c->in.count < MOST);
    c->points[c->in.count++] = (liquid_area_point){
        .at = {(float)x, (float)y}, .spacing = SPACING, .layer = layer, .colour = colour};
}

/* A block of w by h points whose own squares begin at (x, y). */
static void add_block(canvas *c, double x, double y, int w, int h, int layer, rgb colour) {
    for (int k = 0; k < w * h; k++)
        add(c, x + SPACING * (k % w + 0.5), y + SPACING * (k / w + 0.5), layer, colour);
}

static void finish(spate_context *ctx, canvas *c) {
    assert_int_equal(liquid_area_draw(ctx, &c->in, &c->picture), SPATE_OK);
}

static rgb at(const canvas *c, int x, int y) { return c->picture.pixels[y * c->picture.width + x]; }
static float apart(rgb a, rgb b) {
    return fmaxf(fabsf(a.r - b.r), fmaxf(fabsf(a.g - b.g), fabsf(a.b - b.b)));
}
static bool is(rgb a, rgb b) { return apart(a, b) < 1e-4f; }

/* All of a block is filled with its colour, its edge is where the particles' squares end, and a
 * line lies along it. */
static void a_block_is_filled(void **state) {
    canvas *c = begin(*state);
    add_block(c, 60, 40, 12, 8, 0, blue); /* to (132, 88) */
    finish(*state, c);
    /* Corners are round. */
    for (int y = 44; y < 84; y++)
        for (int x = 64; x < 128; x++)
            if ((y >= 54 && y < 74) || (x >= 74 && x < 118)) assert_true(is(at(c, x, y), blue));
    int first = 0;
    while (is(at(c, first, 64), white)) first++;
    assert_in_range(first, 57, 60);
    assert_true(at(c, first + 1, 64).b < 0.8f * blue.b);
    assert_true(is(at(c, 52, 64), white) && is(at(c, 96, 96), white));
    picture_free(*state, &c->picture);
}

/* Half of the points gone at random: no holes, for a liquid has none. */
static void loose_points_leave_no_holes(void **state) {
    canvas *c = begin(*state);
    for (int k = 0; k < 20 * 12; k++)
        if (k % 7 != 3 && k % 11 != 5)
            add(c, 40 + SPACING * (k % 20 + 0.5), 20 + SPACING * (k / 20 + 0.5), 0, blue);
    finish(*state, c);
    for (int y = 30; y < 82; y++)
        for (int x = 50; x < 150; x++) assert_true(is(at(c, x, y), blue));
    picture_free(*state, &c->picture);
}

/* How much of a pixel is covered, about. */
static float cover(const canvas *c, int x, int y) {
    const float left = (at(c, x, y).r - blue.r) / (white.r - blue.r);
    return 1 - fmaxf(0, fminf(1, left));
}

static double noise(int k) { return fmod(0.7548777 * k + 0.31 * (k % 7), 1) - 0.5; }

/* Points that lie unevenly, by up to a third of their spacing, have a surface that is flat within a
 * fraction of a pixel. */
static void a_still_pool_is_flat(void **state) {
    canvas *c = begin(*state);
    c->in.solid = floor_below;
    for (int k = 0; k < 32 * 8; k++)
        add(c, 4 + SPACING * (k % 32 + 0.5 + 0.6 * noise(k)),
            62 + SPACING * (k / 32 + 0.5 + 0.6 * noise(3 * k + 1)), 0, blue);
    finish(*state, c);
    float low = HUGE_VALF, high = 0;
    for (int x = 40; x < 160; x++) {
        float height = 0;
        for (int y = 30; y < 110; y++) height += cover(c, x, y);
        low = fminf(low, height), high = fmaxf(high, height);
    }
    assert_true(high - low < 1.1f);
    assert_true(low > 46 && high < 51);
    picture_free(*state, &c->picture);
}

/* A disc cut from a lattice, with steps along its edge, is round within a quarter of a spacing. */
static void a_disc_is_round(void **state) {
    const double radius = 7.5 * SPACING, middle[2] = {100.3, 60.4};
    canvas *c = begin(*state);
    for (int k = 0; k < 20 * 20; k++) {
        const double x = 40 + SPACING * (k % 20 + 0.5), y = 0 + SPACING * (k / 20 + 0.5);
        if (hypot(x - middle[0], y - middle[1]) < radius) add(c, x, y, 0, blue);
    }
    finish(*state, c);
    double low = HUGE_VAL, high = 0;
    for (int k = 0; k < 96; k++) {
        const double angle = 2 * M_PI * k / 96;
        double r = radius - 6;
        while (r < radius + 6 && cover(c, (int)(middle[0] + r * cos(angle)),
                                       (int)(middle[1] + r * sin(angle))) > 0.5f)
            r += 0.1;
        low = fmin(low, r), high = fmax(high, r);
    }
    assert_true(high - low < 0.25 * SPACING + 1.5); /* pixels are met with their corners */
    assert_true(fabs(0.5 * (low + high) - radius) < 0.3 * SPACING);
    picture_free(*state, &c->picture);
}

/* A drop of one particle has about its own area, and two that are far apart do not meet. */
static void a_single_drop_is_seen(void **state) {
    canvas *c = begin(*state);
    add(c, 60.5, 60.5, 0, blue);
    add(c, 60.5 + 4 * SPACING, 60.5, 0, blue);
    finish(*state, c);
    float area = 0;
    for (int y = 45; y < 76; y++)
        for (int x = 45; x < 72; x++) area += (white.r - at(c, x, y).r) / (white.r - 0.5f * blue.r);
    assert_true(area > 0.6f * SPACING * SPACING && area < 1.8f * SPACING * SPACING);
    assert_true(is(at(c, 60 + 2 * SPACING, 60), white));
    picture_free(*state, &c->picture);
}

/* A string of particles is a film without gaps. */
static void a_film_holds_together(void **state) {
    canvas *c = begin(*state);
    for (int k = 0; k < 20; k++) add(c, 40 + 1.4 * SPACING * k, 60.5, 0, blue);
    finish(*state, c);
    for (int x = 40; x < 190; x++) assert_true(apart(at(c, x, 60), white) > 0.3f);
    picture_free(*state, &c->picture);
}

/* Liquid lies on a floor without a line or a rounded corner; without one it has both. */
static void a_floor_is_wet(void **state) {
    for (int solid = 0; solid < 2; solid++) {
        canvas *c = begin(*state);
        if (solid) c->in.solid = floor_below;
        add_block(c, 10, 50, 30, 10, 0, blue);
        finish(*state, c);
        assert_int_equal(is(at(c, 100, 109), blue), solid);
        picture_free(*state, &c->picture);
    }
}

/* On a periodic axis liquid goes on beyond the side. */
static void periodic_sides_are_none(void **state) {
    for (int periodic = 0; periodic < 2; periodic++) {
        canvas *c = begin(*state);
        c->in.periodic[0] = periodic;
        add_block(c, 10, 40, 30, 8, 0, blue);
        finish(*state, c);
        assert_int_equal(is(at(c, 10, 64), blue), periodic);
        assert_int_equal(is(at(c, 189, 64), blue), periodic);
        picture_free(*state, &c->picture);
    }
}

/* Two liquids meet at a sharp edge, with nothing of the paper between them. */
static void liquids_meet(void **state) {
    canvas *c = begin(*state);
    c->in.layers = 2;
    add_block(c, 40, 40, 10, 8, 0, blue); /* to x = 100 */
    add_block(c, 100, 40, 10, 8, 1, red);
    finish(*state, c);
    assert_true(is(at(c, 97, 64), blue) && is(at(c, 102, 64), red));
    for (int x = 45; x < 155; x++) assert_true(at(c, x, 64).g < 0.25f);
    picture_free(*state, &c->picture);
}

/* What is hidden takes up room: liquid goes up to it, and it is not drawn. */
static void grains_take_up_room(void **state) {
    canvas *c = begin(*state);
    c->in.layers = 2, c->in.hidden = 1;
    add_block(c, 40, 40, 10, 8, 0, blue);
    add_block(c, 104, 40, 10, 8, 1, red); /* a gap of most of a spacing */
    finish(*state, c);
    assert_true(is(at(c, 103, 64), blue));
    assert_true(is(at(c, 140, 64), white));
    picture_free(*state, &c->picture);
}

/* Colours change smoothly from particle to particle. */
static void colours_are_smooth(void **state) {
    canvas *c = begin(*state);
    for (int k = 0; k < 20 * 8; k++)
        add(c, 40 + SPACING * (k % 20 + 0.5), 40 + SPACING * (k / 20 + 0.5), 0,
            (rgb){(float)(k % 20) / 19, 0.5f, 0.5f});
    finish(*state, c);
    for (int x = 48; x < 150; x++) {
        const float step = at(c, x + 1, 64).r - at(c, x, 64).r;
        assert_true(step > 0 && step < 0.02f);
    }
    picture_free(*state, &c->picture);
}

static void nothing_is_no_area(void **state) {
    canvas *c = begin(*state);
    finish(*state, c);
    assert_true(is(at(c, 100, 60), white));
    picture_free(*state, &c->picture);
}

static int open_context(void **state) { return spate_open(NULL, (spate_context **)state); }
static int close_context(void **state) {
    spate_close(*state);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_is_filled),     cmocka_unit_test(loose_points_leave_no_holes),
        cmocka_unit_test(a_still_pool_is_flat),  cmocka_unit_test(a_disc_is_round),
        cmocka_unit_test(a_single_drop_is_seen), cmocka_unit_test(a_film_holds_together),
        cmocka_unit_test(a_floor_is_wet),        cmocka_unit_test(periodic_sides_are_none),
        cmocka_unit_test(liquids_meet),          cmocka_unit_test(grains_take_up_room),
        cmocka_unit_test(colours_are_smooth),    cmocka_unit_test(nothing_is_no_area),
    };
    return cmocka_run_group_tests(tests, open_context, close_context);
}
