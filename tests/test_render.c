/* Render: a run's folder made by hand, its pictures looked at pixel by pixel. */
#include "count_down.h"
#include "pictures.h"

#include "core/file.h"
#include "output/render.h"
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 1 << 18 };

static const char scene_2d[] =
    "spate: 1\nname: two drops\ndimension: 2\n"
    "domain: {origin: [0, 0], size: [2, 1], dx: 0.05, walls: slip}\nduration: 1\nfps: 10\n"
    "solver: {type: mpm}\nmaterials:\n  water: {model: liquid, density: 1000, bulk_modulus: "
    "1.0e5}\n%s"
    "bodies:\n  - {name: a, material: water, shape: {box: {min: [0.2, 0.2], max: [0.4, 0.4]}}}\n"
    "colliders:\n  - {name: post, shape: {box: {min: [0.9, 0], max: [1.1, 0.5]}}, "
    "motion: {keys: [{t: 0, translate: [0, 0]}, {t: 1, translate: [0.5, 0]}]}}\n";
static const char scene_3d[] =
    "spate: 1\nname: jelly\ndimension: 3\n"
    "domain: {origin: [0, 0, 0], size: [1, 1, 1], dx: 0.1, walls: slip}\nduration: 1\nfps: 10\n"
    "solver: {type: mpm}\nmaterials:\n  water: {model: liquid, density: 1000, bulk_modulus: "
    "1.0e5}\n"
    "bodies:\n  - {name: a, material: water, shape: {box: {min: [0.2, 0.2, 0.2], max: [0.8, 0.5, "
    "0.8]}}}\n"
    "camera: {from: [0.5, 0.6, 4], to: [0.5, 0.5, 0.5], fov: 30}\n";

static void put_scene(const char *format, const char *more) {
    char text[4096];
    int length = snprintf(text, sizeof text, format, more);
    put_bytes(in_folder("run.scene.yaml"), text, (size_t)length);
}

/* A square of particles around (x, y), all with one speed and material. */
static void put_square(const char *name, float x, float y, float speed, uint32_t kind,
                       double time) {
    static float p[400][3], v[400][3];
    static uint32_t m[400];
    static char bytes[ROOM];
    for (int i = 0; i < 400; i++) {
        p[i][0] = x + 0.01f * (float)(i % 20 - 10), p[i][1] = y + 0.01f * (float)(i / 20 - 10),
        p[i][2] = 0;
        v[i][0] = speed, m[i] = kind;
    }
    put_bytes(in_folder(name), bytes, make_frame(bytes, ROOM, 400, p, v, 0.005f, m, time));
}

static void clear_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'/*", folder);
    assert_int_equal(system(command), 0);
}

static spate_render_options small_options(void) {
    spate_render_options o = spate_default_render_options();
    o.width = 400, o.height = 240, o.film = false, o.samples = 2;
    return o;
}

static void assert_near(const unsigned char *p, rgb want, int tolerance) {
    int c[3] = {(int)(colour_to_screen(want.r) * 255), (int)(colour_to_screen(want.g) * 255),
                (int)(colour_to_screen(want.b) * 255)};
    for (int i = 0; i < 3; i++) assert_true(abs(p[i] - c[i]) <= tolerance);
}

/* Where a point of the 2 x 1 domain is in a picture; the domain's frame is found by its corners. */
static void at_2d(const pixels *p, double margin, double x, double y, double out[2]) {
    double letters = fmax(6, fmin(p->height / 60.0, p->width / 90.0)), side = 2.5 * letters;
    double wide = p->width - 2 * side - margin * letters, high = p->height - side - 6 * letters;
    double scale = fmin(wide / 2, high);
    out[0] = side + 0.5 * (wide - 2 * scale) + x * scale;
    out[1] = side + 0.5 * (high + scale) - y * scale;
}

static void flat_pictures_show_the_particles(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
    put_square("particles_0002.vtp", 1.7f, 0.7f, 4, 0, 1);
    spate_render_options o = small_options();
    o.range[1] = 4, o.colour = "speed";
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    double at[2];
    for (int frame = 1; frame <= 2; frame++) {
        pixels p =
            read_png(in_folder(frame == 1 ? "pictures/frame_0001.png" : "pictures/frame_0002.png"));
        assert_non_null(p.rgb);
        assert_true(p.width == 400 && p.height == 240);
        rgb white = {1, 1, 1}, grey = {0.30f, 0.31f, 0.33f};
        at_2d(&p, 9, 0.3, 0.3, at);
        assert_near(pixel(&p, at[0], at[1]), frame == 1 ? colour_map(0.25) : white, 3);
        at_2d(&p, 9, 1.7, 0.7, at);
        assert_near(pixel(&p, at[0], at[1]), frame == 2 ? colour_map(1) : white, 3);
        /* The collider moves half a metre in the second between the frames. */
        at_2d(&p, 9, 1.0, 0.25, at);
        assert_near(pixel(&p, at[0], at[1]), frame == 1 ? grey : white, 3);
        at_2d(&p, 9, 1.5, 0.25, at);
        assert_near(pixel(&p, at[0], at[1]), frame == 2 ? grey : white, 3);
        free(p.rgb);
    }
    assert_false(file_exists(in_folder("pictures/film.mp4")));
}

/* Particles a tenth of a metre apart: an area of the material's colour, with gaps only as points. */
static void liquid_is_an_area_and_points_by_choice(void **state) {
    static float x[64][3], v[64][3];
    static uint32_t kinds[64];
    static char bytes[ROOM];
    clear_folder();
    put_scene(scene_2d, "");
    for (int i = 0; i < 64; i++)
        x[i][0] = 0.05f + 0.1f * (float)(i % 8), x[i][1] = 0.05f + 0.1f * (float)(i / 8);
    put_bytes(in_folder("particles_0000.vtp"), bytes,
              make_frame(bytes, ROOM, 64, x, v, 0.05f, kinds, 0));
    spate_render_options o = small_options();
    for (int points = 0; points < 2; points++) {
        double at[2];
        o.points = points;
        assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
        pixels p = read_png(in_folder("pictures/frame_0000.png"));
        at_2d(&p, 0, 0.35, 0.35, at); /* a particle */
        assert_near(pixel(&p, at[0], at[1]), colour_material(0), 3);
        at_2d(&p, 0, 0.4, 0.4, at); /* between four */
        assert_near(pixel(&p, at[0], at[1]), points ? (rgb){1, 1, 1} : colour_material(0), 3);
        free(p.rgb);
    }
}

/* A domain full of one liquid would be a plain box: it is coloured by its speed. */
static void a_full_domain_shows_the_speed(void **state) {
    static float x[800][3], v[800][3];
    static uint32_t kinds[800];
    static char bytes[ROOM];
    clear_folder();
    put_scene(scene_2d, "");
    for (int i = 0; i < 800; i++)
        x[i][0] = 0.025f + 0.05f * (float)(i % 40), x[i][1] = 0.025f + 0.05f * (float)(i / 40),
        v[i][0] = x[i][1];
    for (int full = 0; full < 2; full++) {
        const int count = full ? 800 : 400;
        put_bytes(in_folder("particles_0000.vtp"), bytes,
                  make_frame(bytes, ROOM, count, x, v, 0.025f, kinds, 0));
        frame_list frames = {.ctx = *state, .last = -1};
        spate_scene *scene;
        shades s;
        assert_int_equal(render_list_frames(folder, &frames), SPATE_OK);
        assert_int_equal(render_load_scene(*state, folder, &scene), SPATE_OK);
        assert_int_equal(render_choose_shades(scene, NULL, folder, &frames, &s), SPATE_OK);
        assert_string_equal(s.attribute, full ? "speed" : "");
        spate_scene_free(scene);
        give(*state, frames.numbers);
    }
}

static void several_materials_have_their_colours(void **state) {
    clear_folder();
    put_scene(scene_2d, "  oil: {model: liquid, density: 900, bulk_modulus: 1.0e5}\n");
    put_square("particles_0003.vtp", 0.3f, 0.3f, 1, 1, 0);
    spate_render_options o = small_options();
    o.output = in_folder("elsewhere/deep");
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    pixels p = read_png(in_folder("elsewhere/deep/frame_0003.png"));
    assert_non_null(p.rgb);
    double at[2];
    at_2d(&p, 0, 0.3, 0.3, at);
    assert_near(pixel(&p, at[0], at[1]), colour_material(1), 3);
    free(p.rgb);
}

static void put_block(const char *name) {
    static float x[3000][3], v[3000][3];
    static uint32_t m[3000];
    static char bytes[ROOM];
    int n = 0;
    for (int i = 0; i < 20 * 6 * 20; i++, n++) {
        x[n][0] = 0.2f + 0.03f * (float)(i % 20), x[n][1] = 0.3f + 0.03f * (float)(i / 20 % 6);
        x[n][2] = 0.2f + 0.03f * (float)(i / 120), v[n][0] = 2;
    }
    put_bytes(in_folder(name), bytes, make_frame(bytes, ROOM, n, x, v, 0.015f, m, 0));
}

/* A block in the middle of the view: blue as water, the map's colour as matt balls. */
static void solid_pictures_show_the_particles(void **state) {
    clear_folder();
    put_bytes(in_folder("run.scene.yaml"), scene_3d, sizeof scene_3d - 1);
    put_block("particles_0001.vtp");
    spate_render_options o = small_options();
    o.width = 160, o.height = 120;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    pixels p = read_png(in_folder("pictures/frame_0001.png"));
    assert_non_null(p.rgb);
    const unsigned char *block = pixel(&p, 80, 68), *sky = pixel(&p, 80, 12);
    assert_true(block[2] > block[0] + 25);
    assert_true(abs(sky[0] - sky[2]) < 60 && sky[0] > 120);
    free(p.rgb);
    o.colour = "v_x", o.range[1] = 2;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    p = read_png(in_folder("pictures/frame_0001.png"));
    block = pixel(&p, 80, 68);
    assert_true(block[0] > block[2] + 40 && block[1] > block[2] + 40); /* the map's yellow end */
    free(p.rgb);
}

static void damage_is_told(void **state) {
    clear_folder();
    spate_context *ctx = *state;
    spate_render_options o = small_options();
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "run.scene.yaml"));
    assert_int_equal(spate_render(ctx, in_folder("none"), &o), SPATE_BAD_INPUT);
    put_scene(scene_2d, "");
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "no frames"));
    put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
    put_square("particles_0002.vtp", 0.3f, 0.3f, 1, 0, 0);
    assert_int_equal(truncate(in_folder("particles_0002.vtp"), 5000), 0);
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "particles_0002.vtp"));
    /* The whole one alone is fine. */
    o.first = o.last = 1;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_OK);
    o.colour = "vorticity";
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "pscale"));
    o.colour = NULL, o.samples = 0;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    o.samples = 1, o.range[0] = 2;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
}

static void note(int done, int total, const char *file, void *user) {
    (void)file;
    ((int *)user)[0] = done, ((int *)user)[1] = total;
}

static void frames_are_chosen_and_interrupted(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    char name[32];
    for (int i = 1; i <= 5; i++) {
        snprintf(name, sizeof name, "particles_%04d.vtp", i);
        put_square(name, 0.3f, 0.3f, 1, 0, 0.1 * i);
    }
    int seen[2] = {0};
    spate_render_options o = small_options();
    o.first = 2, o.last = 4, o.progress = note, o.user = seen;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    assert_true(seen[0] == 3 && seen[1] == 3);
    assert_false(file_exists(in_folder("pictures/frame_0001.png")));
    assert_true(file_exists(in_folder("pictures/frame_0002.png")));
    assert_true(file_exists(in_folder("pictures/frame_0004.png")));
    assert_false(file_exists(in_folder("pictures/frame_0005.png")));
    volatile int stop = 1;
    o.interrupt = &stop;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_INTERRUPTED);
}

static void without_ffmpeg_there_are_pictures(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
    char path[4096];
    const char *was = getenv("PATH");
    snprintf(path, sizeof path, "%s", was ? was : "");
    spate_context *ctx = *state;
    spate_render_options o = small_options();
    o.film = true;
    int64_t warnings = warnings_total(ctx);
    setenv("PATH", "/nonexistent", 1);
    spate_status status = spate_render(ctx, folder, &o);
    setenv("PATH", path, 1);
    assert_int_equal(status, SPATE_OK);
    assert_int_equal(warnings_total(ctx), warnings + 1);
    assert_true(file_exists(in_folder("pictures/frame_0001.png")));
    assert_false(file_exists(in_folder("pictures/film.mp4")));
    /* One that takes nothing and ends at once: also only a warning, and no signal. */
    put_bytes(in_folder("ffmpeg"), "#!/bin/sh\nexit 3\n", 17);
    chmod(in_folder("ffmpeg"), 0755);
    setenv("PATH", folder, 1);
    status = spate_render(ctx, folder, &o);
    setenv("PATH", path, 1);
    assert_int_equal(status, SPATE_OK);
    assert_int_equal(warnings_total(ctx), warnings + 2);
    assert_false(file_exists(in_folder("pictures/film.mp4")));
}

static void films_are_mp4(void **state) {
    if (system("ffmpeg -version > /dev/null 2>&1")) skip();
    clear_folder();
    put_scene(scene_2d, "");
    put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
    put_square("particles_0002.vtp", 0.5f, 0.3f, 1, 0, 0.1);
    spate_render_options o = small_options();
    o.film = true, o.width = 161, o.height = 97; /* odd: H.264 wants even sides */
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    char *bytes;
    size_t length;
    assert_int_equal(file_read(*state, in_folder("pictures/film.mp4"), 1 << 24, &bytes, &length),
                     SPATE_OK);
    assert_true(length > 500 && !memcmp(bytes + 4, "ftyp", 4));
    give(*state, bytes);
    assert_false(file_exists(in_folder("pictures/film.mp4.part")));
}

static void plots_come_from_statistics(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    spate_context *ctx = *state;
    spate_render_options o = small_options();
    o.plot = "mass,front";
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_IO_ERROR);
    put_bytes(in_folder("stats.csv"), "frame,time,mass,front\n0,0,1,2\n1,1,3,4\n", 38);
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_OK);
    pixels p = read_png(in_folder("pictures/plot_mass+front.png"));
    assert_non_null(p.rgb);
    assert_true(p.width == 400);
    free(p.rgb);
    o.plot = "moss";
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "moss"));
}

static void nothing_is_left_behind(void **state) {
    spate_context *ctx = *state;
    int64_t blocks = ctx->blocks_now;
    several_materials_have_their_colours(state);
    plots_come_from_statistics(state);
    damage_is_told(state);
    assert_int_equal(ctx->blocks_now, blocks);
}

static void every_refused_allocation_is_told(void **state) {
    (void)state;
    for (int dim = 2; dim <= 3; dim++) {
        clear_folder();
        if (dim == 2) {
            put_scene(scene_2d, "");
            put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
        } else {
            put_bytes(in_folder("run.scene.yaml"), scene_3d, sizeof scene_3d - 1);
            put_block("particles_0001.vtp");
        }
        spate_status status = SPATE_OUT_OF_MEMORY;
        for (int turn = 0; status != SPATE_OK; turn++) {
            int left = -1;
            spate_config config = {
                .allocate = count_down, .release = release, .user = &left, .threads = 1};
            spate_context *ctx;
            assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
            int64_t blocks = ctx->blocks_now;
            spate_render_options o = small_options();
            o.width = 32, o.height = 24, o.samples = 1;
            left = turn;
            status = spate_render(ctx, folder, &o);
            assert_true(status == SPATE_OUT_OF_MEMORY || status == SPATE_OK);
            assert_true(status == SPATE_OK || strlen(spate_message(ctx)) > 0);
            assert_int_equal(ctx->blocks_now, blocks);
            spate_close(ctx);
            assert_true(turn < 2000);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_pictures_show_the_particles),
        cmocka_unit_test(liquid_is_an_area_and_points_by_choice),
        cmocka_unit_test(a_full_domain_shows_the_speed),
        cmocka_unit_test(several_materials_have_their_colours),
        cmocka_unit_test(solid_pictures_show_the_particles),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(frames_are_chosen_and_interrupted),
        cmocka_unit_test(without_ffmpeg_there_are_pictures),
        cmocka_unit_test(films_are_mp4),
        cmocka_unit_test(plots_come_from_statistics),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(every_refused_allocation_is_told),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
