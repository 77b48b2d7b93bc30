/* Plots: ticks at round numbers, tables with holes, curves where the numbers say. */
#include "pictures.h"

#include "pictures/draw/plot.h"

static const spate_scene no_scene = {.name = "zigzag", .dim = 3};

static void ticks_are_round(void **state) {
    (void)state;
    plot_ticks t = plot_choose_ticks(0, 2, 8);
    assert_true(t.first == 0 && t.step == 0.25 && t.count == 9 && t.digits == 2);
    t = plot_choose_ticks(-3.2, 7.9, 6);
    assert_true(t.step == 2 && t.first == -2 && t.count == 5 && t.digits == 0);
    t = plot_choose_ticks(0, 1.3e7, 5);
    assert_true(t.step == 5e6 && t.digits == -1);
    /* Over many ranges: inside, evenly spread, neither few nor many, a round step. */
    for (double size = 1e-6; size < 1e9; size *= 3.7)
        for (double from = -2; from < 3; from += 0.7) {
            double low = from * size, high = low + size;
            t = plot_choose_ticks(low, high, 6);
            double m = t.step / pow(10, floor(log10(t.step) + 1e-9));
            assert_true(fabs(m - 1) < 1e-6 || fabs(m - 2) < 1e-6 || fabs(m - 2.5) < 1e-6 ||
                        fabs(m - 5) < 1e-6);
            assert_true(t.count >= 2 && t.count <= 8);
            assert_true(plot_tick(&t, 0) >= low - 1e-6 * size);
            assert_true(plot_tick(&t, t.count - 1) <= high + 1e-6 * size);
            assert_true(plot_tick(&t, t.count - 1) + t.step > high);
        }
    t = plot_choose_ticks(5, 5, 6);
    assert_true(t.step > 0 && t.count > 0);
}

static void numbers_are_written_short(void **state) {
    (void)state;
    char text[32];
    plot_ticks t = plot_choose_ticks(-0.3, 0.3, 6);
    for (int i = 0; i < t.count; i++)
        if (fabs(plot_tick(&t, i)) < 0.01) {
            plot_tick_text(&t, plot_tick(&t, i), text, sizeof text);
            assert_string_equal(text, "0.0"); /* not "-0.0" */
        }
    plot_number_text(0.5, text, sizeof text);
    assert_string_equal(text, "0.5");
    assert_true(plot_round_down(0.73) == 0.5 && plot_round_down(1) == 1 &&
                plot_round_down(39) == 20);
}

static const char table_text[] = "frame,time,energy,front\n"
                                 "0,0,1.0,\n"
                                 "1,0.5,0.0,2\n"
                                 "2,1.0,1.0,nan\n"
                                 "3,1.5,0.0,4\n";

static void tables_have_holes(void **state) {
    spate_context *ctx = *state;
    stats_table t;
    put_bytes(in_folder("stats.csv"), table_text, sizeof table_text - 1);
    assert_int_equal(stats_table_read(ctx, in_folder("stats.csv"), &t), SPATE_OK);
    assert_int_equal(t.column_count, 4);
    assert_int_equal(t.row_count, 4);
    assert_int_equal(stats_table_column(&t, "front", 5), 3);
    assert_int_equal(stats_table_column(&t, "fron", 4), -1);
    assert_true(isnan(t.values[3]) && isnan(t.values[2 * 4 + 3]));
    assert_true(t.values[3 * 4 + 3] == 4 && t.values[2] == 1);
    stats_table_free(&t);
    /* A row that a crash cut short, and no last line end. */
    put_bytes(in_folder("cut.csv"), "frame,time,a\n0,0,1\n1,0.", 24);
    assert_int_equal(stats_table_read(ctx, in_folder("cut.csv"), &t), SPATE_OK);
    assert_true(t.row_count == 2 && isnan(t.values[5]));
    stats_table_free(&t);
    put_bytes(in_folder("empty.csv"), "", 0);
    assert_int_equal(stats_table_read(ctx, in_folder("empty.csv"), &t), SPATE_OK);
    picture p;
    assert_int_equal(picture_create(ctx, 320, 200, &p), SPATE_OK);
    assert_int_equal(plot_draw(&t, "a", &no_scene, &p), SPATE_BAD_INPUT);
    picture_free(ctx, &p);
    stats_table_free(&t);
    assert_int_equal(stats_table_read(ctx, in_folder("missing.csv"), &t), SPATE_BAD_INPUT);
}

/* How far the pixel is from the colour of the first curve. */
static bool is_curve(const picture *p, int x, int y) {
    rgb c = p->pixels[y * p->width + x], want = colour_material(0);
    return fabsf(c.r - want.r) + fabsf(c.g - want.g) + fabsf(c.b - want.b) < 0.1f;
}

/* 1, 0, 1, 0 over 0..1.5 s is a zigzag: the first curve pixel of a column tells the value. */
static void curves_are_where_the_numbers_are(void **state) {
    spate_context *ctx = *state;
    stats_table t;
    picture p;
    put_bytes(in_folder("stats.csv"), table_text, sizeof table_text - 1);
    assert_int_equal(stats_table_read(ctx, in_folder("stats.csv"), &t), SPATE_OK);
    assert_int_equal(picture_create(ctx, 900, 500, &p), SPATE_OK);
    assert_int_equal(plot_draw(&t, "energy", &no_scene, &p), SPATE_OK);
    /* The curve's box; the legend is above it. */
    int left = 900, right = 0, top = 500, bottom = 0;
    for (int y = 60; y < 500; y++)
        for (int x = 0; x < 900; x++)
            if (is_curve(&p, x, y)) {
                left = x < left ? x : left, right = x > right ? x : right;
                top = y < top ? y : top, bottom = y > bottom ? y : bottom;
            }
    assert_true(right - left > 700 && bottom - top > 300);
    for (int k = 0; k < 6; k++) {
        int x = left + (right - left) * (2 * k + 1) / 12;
        /* Quarter points of each leg: 0.75, 0.25, 0.25, 0.75, 0.75, 0.25. */
        static const double expected[6] = {0.75, 0.25, 0.25, 0.75, 0.75, 0.25};
        double y = bottom + (top - bottom) * expected[k];
        bool near = false;
        for (int d = -3; d <= 3; d++) near |= is_curve(&p, x, (int)y + d);
        assert_true(near);
        assert_false(is_curve(&p, x, (int)(bottom + (top - bottom) * (1 - expected[k]))));
    }
    assert_int_equal(plot_draw(&t, "energy,frunt", &no_scene, &p), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "frunt"));
    assert_non_null(strstr(spate_message(ctx), "front"));
    assert_int_equal(plot_draw(&t, "energy,front", &no_scene, &p), SPATE_OK);
    picture_free(ctx, &p);
    stats_table_free(&t);
}

/* Large numbers with a small step between them keep the digits that differ. */
static void neighbouring_ticks_read_differently(void **state) {
    (void)state;
    static const double ranges[][2] = {{1.2345e7, 1.2346e7}, {-3e9, 2e9}, {1e-7, 9e-7}, {1e6, 2e6}};
    for (int k = 0; k < COUNT_OF(ranges); k++) {
        plot_ticks t = plot_choose_ticks(ranges[k][0], ranges[k][1], 6);
        char last[48] = "", text[48];
        for (int i = 0; i < t.count; i++) {
            plot_tick_text(&t, plot_tick(&t, i), text, sizeof text);
            assert_string_not_equal(text, last);
            assert_true(fabs(strtod(text, NULL) - plot_tick(&t, i)) < 0.01 * t.step);
            strcpy(last, text);
        }
    }
}

/* How high a curve from 0 to 1 stands in its panel beside one that goes to 1e6, in pixels. */
static int height_beside_explosion(spate_context *ctx, bool broken) {
    static const double x[] = {0, 1, 2}, calm[] = {0, 0.5, 1}, wild[] = {0, 1e3, 1e6};
    const plot_curve curves[] = {
        {x, calm, 3, 1, plot_choose_pen(0), false},
        {x, wild, 3, 1, plot_choose_pen(1), broken},
    };
    const plot_box box = {0, 0, 400, 300, 8, "energy"};
    const rgb want = plot_choose_pen(0).colour;
    picture p;
    int top = 300, bottom = 0;
    assert_int_equal(picture_create(ctx, 400, 300, &p), SPATE_OK);
    picture_fill(&p, (rgb){1, 1, 1});
    plot_panel(&p, &box, curves, 2);
    for (int i = 0; i < 400 * 300; i++) {
        rgb c = p.pixels[i];
        if (fabsf(c.r - want.r) + fabsf(c.g - want.g) + fabsf(c.b - want.b) > 0.1f) continue;
        top = i / 400 < top ? i / 400 : top, bottom = i / 400;
    }
    picture_free(ctx, &p);
    return bottom - top;
}

static bool is_white(const picture *p, int x, int y) {
    const rgb c = p->pixels[y * p->width + x];
    return c.r == 1 && c.g == 1 && c.b == 1;
}

/* However many entries and however long their words: nothing outside left and right, and as much
 * room as was measured. */
static void legends_stay_inside(void **state) {
    spate_context *ctx = *state;
    static plot_label labels[20];
    for (int length = 3; length < 159; length += 50) {
        picture p;
        for (int i = 0; i < COUNT_OF(labels); i++) {
            memset(labels[i].words, 'm', (size_t)length);
            labels[i].words[length] = 0;
            labels[i].pen = plot_choose_pen(i);
        }
        const double end = plot_legend(NULL, labels, COUNT_OF(labels), 20, 380, 30, 8);
        assert_int_equal(picture_create(ctx, 400, (int)end + 20, &p), SPATE_OK);
        picture_fill(&p, (rgb){1, 1, 1});
        assert_true(plot_legend(&p, labels, COUNT_OF(labels), 20, 380, 30, 8) == end);
        int drawn = 0;
        for (int y = 0; y < p.height; y++)
            for (int x = 0; x < p.width; x++) {
                const bool inside = x >= 18 && x <= 382 && y < end + 4;
                drawn += !is_white(&p, x, y);
                if (!inside) assert_true(is_white(&p, x, y));
            }
        assert_true(drawn > 20 * 20);
        picture_free(ctx, &p);
    }
}

/* Long names in a small picture: the legend ends with the axes; below it a number may stand out. */
static void legends_do_not_touch_the_edge(void **state) {
    spate_context *ctx = *state;
    static const char text[] =
        "time,a_rather_long_name,another_rather_long_name,c_rather_long_name,d_energy\n"
        "0,1,1,1,1\n1,1,1,1,1\n";
    static const char columns[] =
        "a_rather_long_name,another_rather_long_name,c_rather_long_name,d_energy";
    stats_table t;
    picture p;
    put_bytes(in_folder("stats.csv"), text, sizeof text - 1);
    assert_int_equal(stats_table_read(ctx, in_folder("stats.csv"), &t), SPATE_OK);
    assert_int_equal(picture_create(ctx, 400, 300, &p), SPATE_OK);
    assert_int_equal(plot_draw(&t, columns, &no_scene, &p), SPATE_OK);
    for (int y = 0; y < p.height / 2; y++)
        for (int x = 382; x < p.width; x++) assert_true(is_white(&p, x, y));
    picture_free(ctx, &p);
    stats_table_free(&t);
}

static void a_curve_that_explodes_flattens_none(void **state) {
    assert_in_range(height_beside_explosion(*state, true), 90, 150); /* half of the axis */
    assert_in_range(height_beside_explosion(*state, false), 0, 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_are_round),
        cmocka_unit_test(numbers_are_written_short),
        cmocka_unit_test(tables_have_holes),
        cmocka_unit_test(legends_stay_inside),
        cmocka_unit_test(legends_do_not_touch_the_edge),
        cmocka_unit_test(curves_are_where_the_numbers_are),
        cmocka_unit_test(neighbouring_ticks_read_differently),
        cmocka_unit_test(a_curve_that_explodes_flattens_none),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
