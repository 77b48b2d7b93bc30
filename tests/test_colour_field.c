/* Tints: the nearest particles decide, and one colour costs nothing. */
#include "pictures.h"

#include "pictures/trace/colour_field.h"

enum { SIDE = 12, ALL = SIDE * SIDE * SIDE };
static const float half = 0.02f;
static v3 centers[ALL];
static v3 colours[ALL];
static const v3 red = {1, 0, 0, 4}, blue = {0, 0, 1, 1};

/* A cube, red on the left and blue on the right of x = 0. */
static level_set make_cube(spate_context *ctx) {
    level_set l;
    for (int i = 0; i < ALL; i++) {
        centers[i] = v3_set((float)(i % SIDE) + 0.5f - SIDE / 2, (float)(i / SIDE % SIDE) + 0.5f,
                            (float)(i / SIDE / SIDE) + 0.5f) *
                     v3_splat(2 * half);
        colours[i] = i % SIDE < SIDE / 2 ? red : blue;
    }
    assert_int_equal(level_set_create(ctx, &(level_set_particles){centers, ALL, half}, 1.4f * half,
                                      (v3[]){v3_splat(-INFINITY), v3_splat(INFINITY)}, &l),
                     SPATE_OK);
    return l;
}

static void the_nearest_decide(void **state) {
    level_set l = make_cube(*state);
    colour_field t;
    assert_int_equal(colour_field_create(&l, centers, colours, ALL, &t), SPATE_OK);
    /* inside, and a little outside where the skin is */
    for (int k = 0; k < 2; k++) {
        float y = k ? 0.25f : -half;
        v3 left = colour_field_at(&t, v3_set(-0.1f, y, 0.25f)),
           right = colour_field_at(&t, v3_set(0.1f, y, 0.25f));
        assert_true(left[0] > 0.99f && left[2] < 0.01f && right[2] > 0.99f && right[0] < 0.01f);
        assert_true(left[3] == 4 && right[3] == 1); /* the fourth lane too */
        /* between them red goes over into blue, within two cells */
        float last = 1;
        for (int i = -20; i <= 20; i++) {
            v3 mixed = colour_field_at(&t, v3_set(0.1f * l.cell * (float)i, y, 0.25f));
            assert_true(mixed[0] <= last + 1e-5f && fabsf(mixed[0] + mixed[2] - 1) < 1e-5f);
            last = mixed[0];
        }
        assert_true(last < 0.01f);
    }
    /* pure from a cell on beside the border, and out where only some points know a particle */
    v3 near_left = colour_field_at(&t, v3_set(-1.5f * l.cell, 0.25f, 0.25f)),
       near_right = colour_field_at(&t, v3_set(1.5f * l.cell, 0.25f, 0.25f));
    assert_true(near_left[2] < 0.01f && near_right[0] < 0.01f);
    for (int k = 10; k < 20; k++)
        assert_true(colour_field_at(&t, v3_set(0.1f, half - 0.1f * (float)k * l.cell, 0.25f))[2] >
                    0.99f);
    /* far away and nowhere: some colour, and no harm */
    v3 far = colour_field_at(&t, v3_splat(1e6f)), nowhere = colour_field_at(&t, v3_splat(NAN));
    assert_true(far[0] == 1 && nowhere[0] == 1);
    colour_field_free(&t);
    level_set_free(&l);
}

static void one_colour_needs_no_grid(void **state) {
    spate_context *ctx = *state;
    level_set l = make_cube(ctx);
    colour_field t;
    for (int i = 0; i < ALL; i++) colours[i] = blue;
    assert_false(colours_differ(colours, ALL));
    assert_int_equal(colour_field_create(&l, centers, colours, ALL, &t), SPATE_OK);
    assert_null(t.nearest);
    assert_true(colour_field_at(&t, v3_splat(0))[2] == 1);
    colours[ALL - 1] = red;
    assert_true(colours_differ(colours, ALL));
    colour_field_free(&t);
    level_set_free(&l);
}

/* Of two neighbours each has its own side. */
static void of_two_the_nearer_decides(void **state) {
    const v3 two[2] = {{-half, 0, 0, 0}, {half, 0, 0, 0}}, own[2] = {red, blue};
    level_set l;
    colour_field t;
    assert_int_equal(level_set_create(*state, &(level_set_particles){two, 2, half}, 1.4f * half,
                                      (v3[]){v3_splat(-INFINITY), v3_splat(INFINITY)}, &l),
                     SPATE_OK);
    assert_int_equal(colour_field_create(&l, two, own, 2, &t), SPATE_OK);
    v3 left = colour_field_at(&t, v3_set(-2 * half, 0, 0)),
       right = colour_field_at(&t, v3_set(2 * half, 0, 0));
    assert_true(left[0] > 0.99f && right[2] > 0.99f);
    colour_field_free(&t);
    level_set_free(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_decide),
        cmocka_unit_test(of_two_the_nearer_decides),
        cmocka_unit_test(one_colour_needs_no_grid),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
