/* Render: a run's folder made by hand, its pictures looked at pixel by pixel. */
#include "count_down.h"
#include "pictures.h"

#include "core/file.h"
#include "pictures/render.h"
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
    put_bytes(in_folder(name), bytes, make_frame(bytes, ROOM, 400, p, v, 0.005f, m, NULL, time));
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
    assert_false(file_exists(*state, in_folder("pictures/film.mp4")));
}

/* Particles a tenth of a metre apart: an area of the material's colour, with gaps only as
 * points. */
static void liquid_is_an_area_and_points_by_choice(void **state) {
    static float x[64][3], v[64][3];
    static uint32_t kinds[64];
    static char bytes[ROOM];
    clear_folder();
    put_scene(scene_2d, "");
    for (int i = 0; i < 64; i++)
        x[i][0] = 0.05f + 0.1f * (float)(i % 8), x[i][1] = 0.05f + 0.1f * (float)(i / 8);
    put_bytes(in_folder("particles_0000.vtp"), bytes,
              make_frame(bytes, ROOM, 64, x, v, 0.05f, kinds, NULL, 0));
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
                  make_frame(bytes, ROOM, count, x, v, 0.025f, kinds, NULL, 0));
        frame_list frames = {.ctx = *state};
        spate_scene *scene;
        colouring s;
        assert_int_equal(frame_list_read(folder, &frames), SPATE_OK);
        assert_int_equal(render_load_scene(*state, folder, NULL, &scene), SPATE_OK);
        assert_int_equal(render_choose_colouring(scene, NULL, folder, &frames, &s), SPATE_OK);
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

static const char painted[] =
    "spate: 1\nname: paint\ndimension: 2\n"
    "domain: {origin: [0, 0], size: [2, 1], dx: 0.05}\nduration: 1\nfps: 10\n"
    "materials: {water: {model: liquid, color: \"#204060\"}}\n"
    "bodies:\n  - {name: a, material: water, shape: {box: {min: [0, 0], max: [0.4, 0.4]}}}\n"
    "  - {name: b, material: water, color: [0, 1, 0], shape: {box: {min: [1, 0], max: [1.4, "
    "0.4]}}}\n"
    "colliders:\n  - {shape: {box: {min: [0.9, 0], max: [1.1, 0.5]}}, color: orange}\n";

/* Colours that the scene gives are shown without being asked for: of a material, of a body of that
 * material, of a collider. */
static void given_colours_are_shown(void **state) {
    static float x[400][3], v[400][3];
    static uint32_t kind[400], group[400];
    static char bytes[ROOM];
    clear_folder();
    put_bytes(in_folder("run.scene.yaml"), painted, sizeof painted - 1);
    for (int i = 0; i < 400; i++) {
        group[i] = i >= 200;
        x[i][0] = (group[i] ? 1.6f : 0.3f) + 0.01f * (float)(i % 20 - 10);
        x[i][1] = 0.5f + 0.01f * (float)(i % 200 / 20 - 5);
    }
    put_bytes(in_folder("particles_0001.vtp"), bytes,
              make_frame(bytes, ROOM, 400, x, v, 0.005f, kind, group, 0));
    spate_render_options o = small_options();
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    pixels p = read_png(in_folder("pictures/frame_0001.png"));
    assert_non_null(p.rgb);
    double at[2];
    at_2d(&p, 0, 0.3, 0.5, at);
    assert_near(pixel(&p, at[0], at[1]), colour_from_hex(0x204060), 3);
    at_2d(&p, 0, 1.6, 0.5, at);
    assert_near(pixel(&p, at[0], at[1]), colour_from_hex(0x00ff00), 3);
    at_2d(&p, 0, 1.0, 0.25, at);
    assert_near(pixel(&p, at[0], at[1]), colour_from_hex(0xff9500), 3);
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
    put_bytes(in_folder(name), bytes, make_frame(bytes, ROOM, n, x, v, 0.015f, m, NULL, 0));
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

static const char beside[] =
    "spate: 1\nname: beside\ndimension: 3\n"
    "domain: {size: [1, 1, 1], dx: 0.1}\nduration: 1\nfps: 10\nmaterials:\n"
    "  jelly: {model: neo_hookean, young_modulus: 1.0e4, color: green}\n"
    "  sand: {model: sand, young_modulus: 1.0e6}\n"
    "bodies:\n  - {material: jelly, shape: {box: {min: [0, 0, 0], max: [0.5, 0.5, 1]}}}\n"
    "  - {material: jelly, color: orange, shape: {box: {min: [0, 0, 0], max: [0.5, 0.1, 1]}}}\n"
    "colliders:\n  - {shape: {sphere: {center: [0.5, 0.85, 0.5], radius: 0.1}}, color: red}\n"
    "camera: {from: [0.5, 0.6, 4], to: [0.5, 0.5, 0.5], fov: 30}\n";

/* How much a pixel differs from its neighbours, over a square of 2 half + 1 pixels. */
static double roughness(const pixels *p, int x, int y, int half) {
    double sum = 0;
    for (int j = y - half; j <= y + half; j++)
        for (int i = x - half; i <= x + half; i++)
            sum += abs(pixel(p, i, j)[1] - pixel(p, i + 1, j)[1]);
    return sum / ((2 * half + 1) * (2 * half + 1));
}

/* Jelly on the left, green and at its foot orange, sand on the right: a block of `high` layers. */
static void put_beside(int high) {
    static float x[6000][3], v[6000][3];
    static uint32_t kind[6000], group[6000];
    static char bytes[2 * ROOM];
    clear_folder();
    put_bytes(in_folder("run.scene.yaml"), beside, sizeof beside - 1);
    int n = 0;
    for (int i = 0; i < 26 * 15 * high; i++, n++) {
        kind[n] = i % 26 >= 13, group[n] = !kind[n] && i / 390 < 3;
        x[n][0] = 0.03f + 0.036f * (float)(i % 26) + (kind[n] ? 0.05f : -0.02f);
        x[n][1] = 0.02f + 0.036f * (float)(i / 390), x[n][2] = 0.3f + 0.036f * (float)(i / 26 % 15);
    }
    put_bytes(in_folder("particles_0001.vtp"), bytes,
              make_frame(bytes, 2 * ROOM, n, x, v, 0.018f, kind, group, 0));
}

/* A smooth skin of two bodies' colours and rough grains in one picture, below a red ball. */
static void jelly_beside_sand_has_a_skin(void **state) {
    put_beside(15);
    spate_render_options o = small_options();
    o.samples = 1;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    pixels p = read_png(in_folder("pictures/frame_0001.png"));
    assert_non_null(p.rgb);
    const unsigned char *jelly = pixel(&p, 165, 150), *foot = pixel(&p, 165, 183),
                        *sand = pixel(&p, 240, 150), *ball = pixel(&p, 200, 75);
    assert_true(jelly[1] > jelly[0] + 30 && jelly[1] > jelly[2] + 30);
    assert_true(foot[0] > foot[1] + 30 && foot[1] > foot[2]);
    assert_true(sand[0] > sand[1] && sand[1] > sand[2] + 15);
    assert_true(ball[0] > 2 * ball[1] && ball[0] > 2 * ball[2]);
    assert_true(roughness(&p, 240, 150, 15) > 4 * roughness(&p, 165, 150, 15));
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
    assert_false(file_exists(*state, in_folder("pictures/frame_0001.png")));
    assert_true(file_exists(*state, in_folder("pictures/frame_0002.png")));
    assert_true(file_exists(*state, in_folder("pictures/frame_0004.png")));
    assert_false(file_exists(*state, in_folder("pictures/frame_0005.png")));
    volatile int stop = 1;
    o.interrupt = &stop;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_INTERRUPTED);
}

static void without_ffmpeg_there_are_pictures(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
    put_square("particles_0002.vtp", 0.3f, 0.3f, 1, 0, 0.1);
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
    assert_true(file_exists(*state, in_folder("pictures/frame_0001.png")));
    assert_false(file_exists(*state, in_folder("pictures/film.mp4")));
    /* One that takes nothing and ends at once: also only a warning, and no signal. */
    put_bytes(in_folder("ffmpeg"), "#!/bin/sh\nexit 3\n", 17);
    chmod(in_folder("ffmpeg"), 0755);
    setenv("PATH", folder, 1);
    status = spate_render(ctx, folder, &o);
    setenv("PATH", path, 1);
    assert_int_equal(status, SPATE_OK);
    assert_int_equal(warnings_total(ctx), warnings + 2);
    assert_false(file_exists(*state, in_folder("pictures/film.mp4")));
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
    assert_false(file_exists(*state, in_folder("pictures/film.mp4.part")));
}

/* Renders with an ffmpeg that keeps the raw pictures. */
static spate_status render_raw(spate_context *ctx, const spate_render_options *o) {
    static const char script[] = "#!/bin/sh\nfor last; do :; done\n/bin/cat > \"${last#file:}\"\n";
    char path[4096];
    const char *was = getenv("PATH");
    snprintf(path, sizeof path, "%s", was ? was : "");
    put_bytes(in_folder("ffmpeg"), script, sizeof script - 1);
    chmod(in_folder("ffmpeg"), 0755);
    setenv("PATH", folder, 1);
    spate_status status = spate_render(ctx, folder, o);
    setenv("PATH", path, 1);
    return status;
}

/* The film's pictures and their number. */
static int64_t raw_film(spate_context *ctx, const spate_render_options *o, char **bytes) {
    size_t length;
    assert_int_equal(render_raw(ctx, o), SPATE_OK);
    assert_int_equal(
        file_read(ctx, in_folder("pictures/film.mp4"), (size_t)1 << 26, bytes, &length), SPATE_OK);
    const size_t one = (size_t)o->width * (size_t)o->height * 3;
    assert_int_equal(length % one, 0);
    return (int64_t)(length / one);
}

/* Which of the three frames a picture of the film is; 0: none, byte by byte. */
static int frame_of(const char *bytes, int64_t shown) {
    for (int frame = 1; frame <= 3; frame++) {
        char name[32];
        snprintf(name, sizeof name, "pictures/frame_%04d.png", frame);
        pixels p = read_png(in_folder(name));
        const size_t one = (size_t)p.width * (size_t)p.height * 3;
        const bool same = !memcmp(bytes + (size_t)shown * one, p.rgb, one);
        free(p.rgb);
        if (same) return frame;
    }
    return 0;
}

static void put_three_frames(void) {
    clear_folder();
    put_scene(scene_2d, "");
    for (int i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "particles_%04d.vtp", i);
        put_square(name, 0.3f * (float)i, 0.3f, (float)i, 0, 0.1 * i);
    }
}

static void films_repeat_and_return(void **state) {
    static const struct {
        double fps, speed;
        int loops;
        bool pingpong;
        const char *shown;
    } cases[] = {
        {10, 1, 1, false, "123"},     {10, 1, 2, false, "123123"},    {10, 1, 1, true, "1232"},
        {10, 1, 2, true, "12321232"}, {20, 1, 1, true, "1122333221"}, {10, 2, 1, false, "13"},
    };
    put_three_frames();
    for (int i = 0; i < COUNT_OF(cases); i++) {
        spate_render_options o = small_options();
        char *bytes;
        o.film = true, o.width = 64, o.height = 48;
        o.fps = cases[i].fps, o.speed = cases[i].speed;
        o.loops = cases[i].loops, o.pingpong = cases[i].pingpong;
        const int64_t count = raw_film(*state, &o, &bytes);
        /* At twice the speed words stand in the corner; the pictures are not those of the files. */
        if (o.speed == 1)
            for (int64_t k = 0; k < count; k++)
                assert_int_equal(frame_of(bytes, k), cases[i].shown[k] - '0');
        assert_int_equal(count, strlen(cases[i].shown));
        give(*state, bytes);
    }
}

/* Three frames of a tenth of a second: slow motion for four seconds, and only the corner says
 * so. */
static void slow_motion_is_written_into_the_corner(void **state) {
    put_three_frames();
    spate_render_options o = small_options();
    char *bytes;
    o.film = true;
    const int64_t count = raw_film(*state, &o, &bytes);
    /* 1/15 speed: 2/3 of a frame a second, doubled to 21.3 pictures: 4.5 s. */
    assert_int_equal(count, 96);
    pixels p = read_png(in_folder("pictures/frame_0001.png"));
    int changed = 0;
    for (int y = 0; y < p.height; y++)
        for (int x = 0; x < p.width; x++) {
            const size_t at = (size_t)(y * p.width + x) * 3;
            if (!memcmp(bytes + at, p.rgb + at, 3)) continue;
            changed++;
            assert_true(x > p.width / 2 && y < 20);
        }
    assert_true(changed > 50);
    free(p.rgb);
    give(*state, bytes);
}

static void one_frame_is_a_still(void **state) {
    put_three_frames();
    spate_render_options o = small_options();
    o.film = true, o.first = o.last = 2;
    put_bytes(in_folder("ffmpeg"), "#!/bin/sh\nexit 3\n", 17);
    const int64_t warnings = warnings_total(*state);
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    assert_int_equal(warnings_total(*state), warnings);
    assert_false(file_exists(*state, in_folder("pictures/film.mp4")));
}

static void assert_same_picture(const char *a, const char *b, bool same) {
    pixels p = read_png(in_folder(a)), q = read_png(in_folder(b));
    assert_non_null(p.rgb);
    assert_non_null(q.rgb);
    assert_true(p.width == q.width && p.height == q.height);
    assert_int_equal(!memcmp(p.rgb, q.rgb, (size_t)p.width * (size_t)p.height * 3), same);
    free(p.rgb);
    free(q.rgb);
}

/* Frame 2 alone is drawn as it is among the others, whose speeds are 1 and 3. */
static void a_still_has_the_colours_of_the_film(void **state) {
    put_three_frames();
    spate_render_options o = small_options();
    o.colour = "speed";
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    o.output = in_folder("still"), o.first = o.last = 2;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    assert_same_picture("pictures/frame_0002.png", "still/frame_0002.png", true);
    o.range[1] = 30;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    assert_same_picture("pictures/frame_0002.png", "still/frame_0002.png", false);
}

/* The part around the square of particles, which is a quarter of it; paper is left and right of it,
 * although the domain goes on there. */
static void flat_cameras_show_a_part(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    put_square("particles_0001.vtp", 0.3f, 0.3f, 4, 0, 0);
    spate_render_options o = small_options();
    o.colour = "speed", o.points = true, o.range[1] = 4, o.camera = "0.5,0.1:0.1,0.5";
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    pixels p = read_png(in_folder("pictures/frame_0001.png"));
    const double letters = 6, high = p.height - 8.5 * letters, wide = p.width - 14 * letters;
    const double x = 2.5 * letters + 0.5 * wide, y = 2.5 * letters + 0.5 * high, scale = high / 0.4;
    const rgb white = {1, 1, 1}, around = {0.93f, 0.94f, 0.95f};
    assert_near(pixel(&p, x, y), colour_map(1), 3);
    for (int side = -1; side <= 1; side += 2) {
        assert_near(pixel(&p, x + side * 0.08 * scale, y), colour_map(1), 3);
        assert_near(pixel(&p, x + side * 0.15 * scale, y), white, 3);
        assert_near(pixel(&p, x + side * (0.2 * scale + 6), y), around, 3);
    }
    free(p.rgb);
    /* The same by the scene's own field, and by an override of it. */
    const char *set = "camera={from: [0.1, 0.1], to: [0.5, 0.5]}";
    o.camera = NULL, o.sets = &set, o.set_count = 1, o.output = in_folder("set");
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    assert_same_picture("pictures/frame_0001.png", "set/frame_0001.png", true);
}

/* What options say is what a scene would say. */
static void cameras_are_given_by_options(void **state) {
    static const char *const sets[] = {"camera.from=[2, 1, 3]", "camera.to=[0.5, 0.3, 0.5]",
                                       "camera.fov=25"};
    clear_folder();
    put_bytes(in_folder("run.scene.yaml"), scene_3d, sizeof scene_3d - 1);
    put_block("particles_0004.vtp");
    spate_render_options o = small_options();
    o.width = 80, o.height = 60, o.samples = 1;
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    spate_render_options given = o;
    given.camera = "2,1,3:0.5,0.3,0.5", given.fov = 25, given.output = in_folder("given");
    assert_int_equal(spate_render(*state, folder, &given), SPATE_OK);
    assert_same_picture("pictures/frame_0004.png", "given/frame_0004.png", false);
    o.sets = sets, o.set_count = COUNT_OF(sets), o.output = in_folder("set");
    assert_int_equal(spate_render(*state, folder, &o), SPATE_OK);
    assert_same_picture("given/frame_0004.png", "set/frame_0004.png", true);
    /* Keys give way to a camera on the command line; a whole turn ends where it began. */
    const char *keys = "camera={keys: [{t: 0, from: [9, 9, 9], to: [0, 0, 0], fov: 50}]}";
    given.sets = &keys, given.set_count = 1, given.orbit = 360, given.output = in_folder("keys");
    assert_int_equal(spate_render(*state, folder, &given), SPATE_OK);
    assert_same_picture("given/frame_0004.png", "keys/frame_0004.png", true);
}

static void wrong_cameras_are_told(void **state) {
    static const char *const wrong[][2] = {
        {"1,2:3", "is not FROM:TO; write where it stands"},
        {"1,2,3", "is not FROM:TO"},
        {"1,2,3:4,5", "is not FROM:TO"},
        {"1,2,3,4:5,6,7", "is not FROM:TO"},
        {"1,2,x:5,6,7", "is not FROM:TO"},
        {"1,2,nan:5,6,7", "is not FROM:TO"},
        {":", "is not FROM:TO"},
        {"1,2,3:1,2,3", "it stands where it looks at; move"},
    };
    static const char *const sets[][2] = {
        {"solver.cfl=0.3", "--set solver.cfl=0.3: pictures of a finished run can be given"},
        {"materials.water.density=2", "for anything else run the scene with it"},
        {"cameras=1", "for anything else run"},
        {"camera.fov=900", "--set camera.fov=900: camera.fov: 900 is out of range"},
        {"camera.form=[1, 2, 3]", "did you mean 'from'"},
    };
    spate_context *ctx = *state;
    clear_folder();
    put_bytes(in_folder("run.scene.yaml"), scene_3d, sizeof scene_3d - 1);
    put_block("particles_0001.vtp");
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        spate_render_options o = small_options();
        o.camera = wrong[i][0];
        assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), wrong[i][1]));
    }
    for (int i = 0; i < COUNT_OF(sets); i++) {
        spate_render_options o = small_options();
        o.sets = &sets[i][0], o.set_count = 1;
        assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), sets[i][1]));
    }
    spate_render_options o = small_options();
    o.fov = 171;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    o = small_options(), o.orbit = 1e9;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    o = small_options(), o.first = 5;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "no frames from 5 to the end; it has 1 to 1"));
    put_scene(scene_2d, "");
    o = small_options(), o.fov = 40;
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "fov: this run is in 2D"));
    o = small_options(), o.camera = "0,0,1:1,1,0";
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "two corners"));
}

static void plots_come_from_statistics(void **state) {
    clear_folder();
    put_scene(scene_2d, "");
    spate_context *ctx = *state;
    spate_render_options o = small_options();
    o.plot = "mass,front";
    assert_int_equal(spate_render(ctx, folder, &o), SPATE_BAD_INPUT);
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
    const char *set = "camera.keys=[{t: 0}]";
    for (int kind = 0; kind < 3; kind++) {
        clear_folder();
        if (kind == 2) {
            put_beside(4);
        } else if (kind == 0) {
            put_scene(scene_2d, "");
            put_square("particles_0001.vtp", 0.3f, 0.3f, 1, 0, 0);
        } else {
            put_bytes(in_folder("run.scene.yaml"), scene_3d, sizeof scene_3d - 1);
            put_block("particles_0001.vtp");
        }
        spate_status status = SPATE_OUT_OF_MEMORY;
        for (int turn = 0; status != SPATE_OK; turn++) {
            int left;
            spate_context *ctx = open_counting(&left);
            assert_non_null(ctx);
            int64_t blocks = ctx->blocks_now;
            spate_render_options o = small_options();
            o.width = 32, o.height = 24, o.samples = 1;
            o.sets = &set, o.set_count = 1;
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

/* A film that is shown again reads its pictures back: a refusal there leaves none, and nothing half
 * done. */
static void refused_allocations_leave_no_half_film(void **state) {
    (void)state;
    put_three_frames();
    spate_status status = SPATE_OUT_OF_MEMORY;
    for (int turn = 0; status != SPATE_OK; turn += 1 + turn / 8) {
        int left;
        spate_context *ctx = open_counting(&left);
        assert_non_null(ctx);
        int64_t blocks = ctx->blocks_now;
        spate_render_options o = small_options();
        o.width = 32, o.height = 24, o.film = true, o.speed = 1, o.loops = 2;
        left = turn;
        status = render_raw(ctx, &o);
        assert_true(status == SPATE_OUT_OF_MEMORY || status == SPATE_OK);
        assert_int_equal(ctx->blocks_now, blocks);
        assert_false(file_exists(*state, in_folder("pictures/film.mp4.part")));
        assert_int_equal(file_exists(*state, in_folder("pictures/film.mp4")), status == SPATE_OK);
        spate_close(ctx);
        assert_true(turn < 2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_pictures_show_the_particles),
        cmocka_unit_test(liquid_is_an_area_and_points_by_choice),
        cmocka_unit_test(a_full_domain_shows_the_speed),
        cmocka_unit_test(several_materials_have_their_colours),
        cmocka_unit_test(given_colours_are_shown),
        cmocka_unit_test(solid_pictures_show_the_particles),
        cmocka_unit_test(jelly_beside_sand_has_a_skin),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(frames_are_chosen_and_interrupted),
        cmocka_unit_test(without_ffmpeg_there_are_pictures),
        cmocka_unit_test(films_are_mp4),
        cmocka_unit_test(films_repeat_and_return),
        cmocka_unit_test(slow_motion_is_written_into_the_corner),
        cmocka_unit_test(one_frame_is_a_still),
        cmocka_unit_test(a_still_has_the_colours_of_the_film),
        cmocka_unit_test(flat_cameras_show_a_part),
        cmocka_unit_test(cameras_are_given_by_options),
        cmocka_unit_test(wrong_cameras_are_told),
        cmocka_unit_test(plots_come_from_statistics),
        cmocka_unit_test(nothing_is_left_behind),
        cmocka_unit_test(every_refused_allocation_is_told),
        cmocka_unit_test(refused_allocations_leave_no_half_film),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
