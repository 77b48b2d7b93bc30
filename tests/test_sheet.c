/* Comparisons: folders of runs made by hand; their table, plot and sheet of pictures looked at. */
#include "count_down.h"
#include "pictures.h"

#include "core/file.h"
#include "pictures/draw/plot.h"
#include "pictures/sheet.h"
#include <sys/stat.h>

enum { ROOM = 1 << 18, CELL = 240 };

static const char scene_2d[] =
    "spate: 1\nname: squares\ndimension: 2\n"
    "domain: {origin: [0, 0], size: [2, 1], dx: 0.05, walls: slip}\nduration: 1\nfps: 3\n"
    "solver: {type: mpm}\nmaterials:\n"
    "  water: {model: liquid, density: 1000, bulk_modulus: 1.0e5}\n"
    "bodies:\n  - {name: a, material: water, shape: {box: {min: [0.2, 0.2], max: [0.4, 0.4]}}}\n"
    "probes:\n  - {name: front, extent: {axis: x, side: max}}\n";

static const char *in_run(const char *run, const char *name) {
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", run, name);
    return in_folder(path);
}

static void start_run(const char *run, const char *statistics) {
    mkdir(in_folder(run), 0777);
    put_bytes(in_run(run, "run.scene.yaml"), scene_2d, sizeof scene_2d - 1);
    put_bytes(in_run(run, "stats.csv"), statistics, strlen(statistics));
}

/* A square of particles around (x, y), all with one speed. */
static void put_square(const char *run, int frame, float x, float y, float speed) {
    static float p[400][3], v[400][3];
    static uint32_t m[400];
    static char bytes[ROOM];
    char name[32];
    for (int i = 0; i < 400; i++) {
        p[i][0] = x + 0.01f * (float)(i % 20 - 10), p[i][1] = y + 0.01f * (float)(i / 20 - 10);
        v[i][0] = speed;
    }
    snprintf(name, sizeof name, "particles_%04d.vtp", frame);
    put_bytes(in_run(run, name), bytes,
              make_frame(bytes, ROOM, 400, p, v, 0.005f, m, NULL, frame / 3.0));
}

static void clear_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
    assert_int_equal(system(command), 0);
}

/* Two runs of four frames: a square that moves right in one and up in the other. A crash
 * cut the last row of the first one short. */
static void put_runs(void) {
    clear_folder();
    start_run("right", "frame,time,kinetic_energy,potential_energy,elastic_energy,J_min,front\n"
                       "0,0,1,2,,0.9,0.5\n1,0.333,2,2,0.5,0.9,0.9\n2,0.667,3,2,0,0.9,1.3\n"
                       "3,1,4,2,1,0.9,1.7\n4,1.3");
    start_run("up", "frame,time,kinetic_energy,potential_energy,elastic_energy,front\n"
                    "0,0,1,2,0,0.5\n1,0.333,1,3,0,0.5\n2,0.667,1,4,0,0.5\n3,1,1,5,0,0.5\n");
    for (int frame = 0; frame < 4; frame++) {
        put_square("right", frame, 0.3f + 0.4f * (float)frame, 0.3f, frame > 0);
        put_square("up", frame, 0.3f, 0.3f + 0.15f * (float)frame, 1);
    }
}

static char names[2][128];

/* The variants "right" and "up" and where they go. */
static spate_compare_options two_variants(spate_variant list[2]) {
    static const char *const runs[2] = {"right", "up"};
    for (int i = 0; i < 2; i++) {
        snprintf(names[i], sizeof names[i], "%s", in_folder(runs[i]));
        list[i] = (spate_variant){.name = runs[i], .folder = names[i]};
    }
    spate_compare_options o = spate_default_compare_options();
    o.folder = folder;
    o.title = "where to";
    o.cell = CELL;
    return o;
}

static bool is_near(const unsigned char *p, rgb want) {
    int c[3] = {(int)(colour_to_screen(want.r) * 255), (int)(colour_to_screen(want.g) * 255),
                (int)(colour_to_screen(want.b) * 255)};
    return abs(p[0] - c[0]) <= 4 && abs(p[1] - c[1]) <= 4 && abs(p[2] - c[2]) <= 4;
}

/* The pixel of a place in the 2 x 1 domain, in a cell; a margin of 3 pixels is around the
 * domain. */
static const unsigned char *cell_pixel(const pixels *p, const sheet_layout *l, int row, int column,
                                       double x, double y) {
    int at[2];
    sheet_cell(l, row, column, at);
    double scale = fmin((l->cell[0] - 6) / 2.0, l->cell[1] - 6);
    return pixel(p, at[0] + 0.5 * l->cell[0] + (x - 1) * scale,
                 at[1] + 0.5 * l->cell[1] - (y - 0.5) * scale);
}

static sheet_layout layout_of(spate_context *ctx, int rows, int columns) {
    spate_scene *scene;
    assert_int_equal(
        spate_scene_parse(ctx, scene_2d, sizeof scene_2d - 1, "x", "", NULL, 0, &scene), SPATE_OK);
    sheet_layout l = sheet_place(scene, rows, columns, CELL, true);
    spate_scene_free(scene);
    return l;
}

static void bare_names_are_the_solvers(void **state) {
    (void)state;
    char path[32];
    static const char *const pairs[][2] = {{"integrator", "solver.integrator"},
                                           {"alpha", "solver.alpha"},
                                           {"gravity", "gravity"},
                                           {"seed", "seed"},
                                           {"domain.dx", "domain.dx"},
                                           {"materials.water.viscosity", NULL}};
    for (int i = 0; i < COUNT_OF(pairs); i++) {
        assert_true(spate_scene_field(pairs[i][0], path, sizeof path));
        assert_string_equal(path, pairs[i][1] ? pairs[i][1] : pairs[i][0]);
    }
    assert_false(spate_scene_field("integrator", path, 17)); /* no room for the last zero */
    assert_true(spate_scene_field("integrator", path, 18));
}

static void the_table_has_every_row(void **state) {
    spate_variant list[2];
    put_runs();
    spate_compare_options o = two_variants(list);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    char *bytes;
    size_t length;
    assert_int_equal(file_read(*state, in_folder("compare.csv"), 1 << 20, &bytes, &length),
                     SPATE_OK);
    const char *expected =
        "variant,time,total_energy,kinetic_energy,potential_energy,elastic_energy,max_speed,"
        "penetration_max,penetration_count,J_min,front\n"
        "right,0,3,1,2,,,,,0.9,0.5\nright,0.333,4.5,2,2,0.5,,,,0.9,0.9\n"
        "right,0.667,5,3,2,0,,,,0.9,1.3\nright,1,7,4,2,1,,,,0.9,1.7\nup,0,";
    assert_true(length > strlen(expected));
    assert_memory_equal(bytes, expected, strlen(expected));
    assert_non_null(strstr(bytes, "\nup,1,6,1,5,0,,,,,0.5\n"));
    give(*state, bytes);
    assert_true(list[0].total_energy == 7 && list[1].total_energy == 6);
}

/* Pixels of a pen's colour in the lower part of the plot, below the legend. */
static int count_colour(const pixels *p, rgb colour) {
    int count = 0;
    for (int y = 80; y < p->height; y++)
        for (int x = 0; x < p->width; x++) count += is_near(pixel(p, x, y), colour);
    return count;
}

static void the_plot_has_a_curve_a_variant(void **state) {
    spate_variant list[2];
    put_runs();
    spate_compare_options o = two_variants(list);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    pixels p = read_png(in_folder("compare.png"));
    assert_non_null(p.rgb);
    for (int i = 0; i < 3; i++) {
        int seen = count_colour(&p, plot_choose_pen(i).colour);
        assert_true(i < 2 ? seen > 500 : seen < 20); /* there is no third variant */
    }
    free(p.rgb);
    /* All pens are different. */
    for (int i = 0; i < 3 * PLOT_PEN_COLOURS; i++)
        for (int k = 0; k < i; k++) {
            plot_pen a = plot_choose_pen(i), b = plot_choose_pen(k);
            assert_true(a.dash != b.dash || memcmp(&a.colour, &b.colour, sizeof a.colour));
        }
}

static void cells_show_their_frames(void **state) {
    spate_variant list[2];
    put_runs();
    spate_compare_options o = two_variants(list);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    pixels p = read_png(in_folder("sheet.png"));
    sheet_layout l = layout_of(*state, 2, 4);
    assert_non_null(p.rgb);
    assert_true(p.width == l.width && p.height == l.height);
    const rgb white = {1, 1, 1};
    for (int column = 0; column < 4; column++)
        for (int frame = 0; frame < 4; frame++) {
            /* Where the square is in `frame`, it is in that column and in no other. */
            const unsigned char *right = cell_pixel(&p, &l, 0, column, 0.3 + 0.4 * frame, 0.3),
                                *up = cell_pixel(&p, &l, 1, column, 0.3, 0.3 + 0.15 * frame);
            assert_int_equal(is_near(right, white), column != frame);
            if (abs(column - frame) != 1) assert_int_equal(is_near(up, white), column != frame);
        }
    free(p.rgb);
}

/* Where both begin with the same picture, it is left out: columns are frames 1 to 3. */
static void a_first_column_of_one_picture_is_left_out(void **state) {
    spate_variant list[2];
    put_runs();
    put_square("right", 0, 0.3f, 0.3f, 1);
    spate_compare_options o = two_variants(list);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    pixels p = read_png(in_folder("sheet.png"));
    sheet_layout l = layout_of(*state, 2, 3);
    assert_non_null(p.rgb);
    assert_true(p.width == l.width && p.height == l.height);
    for (int column = 0; column < 3; column++)
        for (int frame = 0; frame < 4; frame++)
            assert_int_equal(
                is_near(cell_pixel(&p, &l, 0, column, 0.3 + 0.4 * frame, 0.3), (rgb){1, 1, 1}),
                column != frame - 1);
    free(p.rgb);
    /* One run alone shows how it began. */
    assert_int_equal(spate_compare(*state, list, 1, &o), SPATE_OK);
    p = read_png(in_folder("sheet.png"));
    assert_int_equal(p.width, layout_of(*state, 1, 4).width);
    free(p.rgb);
}

/* The second run ends with its second frame, which is 100 times as fast as the first run ever is.
 * Told: the colour of the first run at its end, of the second run's last frame, and what is in the
 * cells after that. */
static void draw_trouble(spate_context *ctx, const char *trouble, unsigned char well[3],
                         unsigned char blank[3], unsigned char last[3]) {
    spate_variant list[2];
    put_runs();
    for (int frame = 2; frame < 4; frame++) {
        char name[32];
        snprintf(name, sizeof name, "particles_%04d.vtp", frame);
        remove(in_run("up", name));
    }
    put_square("up", 1, 1.5f, 0.5f, 100);
    spate_compare_options o = two_variants(list);
    list[1].trouble = trouble;
    assert_int_equal(spate_compare(ctx, list, 2, &o), SPATE_OK);
    pixels p = read_png(in_folder("sheet.png"));
    sheet_layout l = layout_of(ctx, 2, 4);
    assert_non_null(p.rgb);
    memcpy(well, cell_pixel(&p, &l, 0, 3, 1.5, 0.3), 3);
    memcpy(last, cell_pixel(&p, &l, 1, 1, 1.5, 0.5), 3);
    memcpy(blank, cell_pixel(&p, &l, 1, 3, 1.5, 0.5), 3);
    free(p.rgb);
}

static void trouble_does_not_set_the_scale(void **state) {
    unsigned char well[3], blank[3], last[3];
    draw_trouble(*state, "unstable", well, blank, last);
    assert_true(is_near(well, colour_map(1))); /* speed 1 of 1 */
    assert_true(is_near(last, colour_map(1))); /* off the scale */
    assert_true(is_near(blank, (rgb){0.93f, 0.94f, 0.95f}));
    /* One that ended well does set it. */
    draw_trouble(*state, NULL, well, blank, last);
    assert_true(is_near(well, colour_map(0.01)));
    assert_true(is_near(last, colour_map(1)));
}

static void without_frames_there_is_no_sheet(void **state) {
    spate_variant list[2];
    char command[160];
    put_runs();
    spate_compare_options o = two_variants(list);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    assert_true(file_exists(*state, in_folder("sheet.png")));
    /* One run without frames has no row. */
    snprintf(command, sizeof command, "rm '%s'/up/*.vtp", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    pixels p = read_png(in_folder("sheet.png"));
    assert_int_equal(p.height, layout_of(*state, 1, 4).height);
    free(p.rgb);
    snprintf(command, sizeof command, "rm '%s'/right/*.vtp", folder);
    assert_int_equal(system(command), 0);
    assert_int_equal(spate_compare(*state, list, 2, &o), SPATE_OK);
    assert_false(file_exists(*state, in_folder("sheet.png"))); /* the old one would mislead */
    assert_true(file_exists(*state, in_folder("compare.png")));
}

static void mistakes_are_told(void **state) {
    spate_context *ctx = *state;
    spate_variant list[2];
    put_runs();
    spate_compare_options o = two_variants(list), wrong = o;
    assert_int_equal(spate_compare(ctx, list, 0, &o), SPATE_BAD_INPUT);
    wrong.times = 0;
    assert_int_equal(spate_compare(ctx, list, 2, &wrong), SPATE_BAD_INPUT);
    wrong = o, wrong.folder = NULL;
    assert_int_equal(spate_compare(ctx, list, 2, &wrong), SPATE_BAD_INPUT);
    /* A variant that never ran is left out; without any there is nothing to compare. */
    list[1].folder = "/nowhere";
    assert_int_equal(spate_compare(ctx, list, 2, &o), SPATE_OK);
    list[0].folder = "/nowhere";
    assert_int_equal(spate_compare(ctx, list, 2, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "statistics"));
    const int stop = 1;
    o = two_variants(list), o.interrupt = &stop;
    assert_int_equal(spate_compare(ctx, list, 2, &o), SPATE_INTERRUPTED);
    /* A folder in use is not taken over. */
    spate_scene *scene;
    char chosen[256];
    assert_int_equal(
        spate_scene_parse(ctx, scene_2d, sizeof scene_2d - 1, "x", "", NULL, 0, &scene), SPATE_OK);
    assert_int_equal(spate_compare_folder(scene, folder, false, chosen, sizeof chosen),
                     SPATE_BAD_INPUT);
    assert_int_equal(spate_compare_folder(scene, folder, true, chosen, sizeof chosen), SPATE_OK);
    assert_string_equal(chosen, folder);
    assert_int_equal(spate_compare_folder(scene, folder, true, chosen, strlen(folder)),
                     SPATE_BAD_INPUT);
    spate_scene_free(scene);
}

static void every_refused_allocation_is_told(void **state) {
    (void)state;
    spate_variant list[2];
    put_runs();
    spate_compare_options o = two_variants(list);
    o.cell = 32, o.times = 2;
    spate_status status = SPATE_OUT_OF_MEMORY;
    /* One by one at first; a picture is drawn before the later ones. */
    for (int turn = 0; status != SPATE_OK; turn += 1 + turn / 16) {
        int left;
        spate_context *ctx = open_counting(&left);
        assert_non_null(ctx);
        const int64_t blocks = ctx->blocks_now;
        left = turn;
        status = spate_compare(ctx, list, 2, &o);
        assert_true(status == SPATE_OUT_OF_MEMORY || status == SPATE_OK);
        assert_true(status == SPATE_OK || strlen(spate_message(ctx)) > 0);
        assert_int_equal(ctx->blocks_now, blocks);
        spate_close(ctx);
        assert_true(turn < 2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bare_names_are_the_solvers),
        cmocka_unit_test(the_table_has_every_row),
        cmocka_unit_test(the_plot_has_a_curve_a_variant),
        cmocka_unit_test(cells_show_their_frames),
        cmocka_unit_test(a_first_column_of_one_picture_is_left_out),
        cmocka_unit_test(trouble_does_not_set_the_scale),
        cmocka_unit_test(without_frames_there_is_no_sheet),
        cmocka_unit_test(mistakes_are_told),
        cmocka_unit_test(every_refused_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
