/*
 * Pictures of meshes: rays meet triangles and strands where they are, with Embree and without;
 * creases stay; a strand hides as much of a picture as it is wide, also where that is less than a
 * pixel; cloth has two sides, neither of them black; hair shadows itself.
 */
#include "count_down.h"
#include "pictures.h"

#include "core/random.h"
#include "pictures/trace/meshes.h"
#include "pictures/trace/strands.h"

/* ---- Triangles -------------------------------------------------------------------------------- */

/* The box (0, 0, 0) to (1, 1, 1): corner c is at its bits; two triangles a side, facing out. */
static int32_t sides[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                               {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
static v3 corners[8], colours[8];
static bool cloth[12];

static mesh_parts make_box(bool as_cloth) {
    for (int c = 0; c < 8; c++) {
        corners[c] = v3_set((float)(c & 1), (float)(c >> 1 & 1), (float)(c >> 2));
        colours[c] = v3_set(corners[c][0], 0.5f, 0);
    }
    for (int t = 0; t < 12; t++) cloth[t] = as_cloth;
    return (mesh_parts){.vertices = corners,
                        .colours = colours,
                        .vertex_count = 8,
                        .triangles = sides,
                        .cloth = cloth,
                        .triangle_count = 12};
}

static ray random_ray(uint64_t k) {
    v3 from = {0}, to = {0};
    for (int a = 0; a < 3; a++) {
        from[a] = 4 * (float)random_unit(1, k, (uint64_t)a) - 1.5f;
        to[a] = (float)random_unit(2, k, (uint64_t)a);
    }
    return (ray){from, v3_unit(to - from)};
}

static void both_ways_meet_the_same(void **state) {
    const mesh_parts box = make_box(false);
    meshes *fast, *plain;
    int met = 0;
    assert_int_equal(meshes_create(*state, &box, false, &fast), SPATE_OK);
    assert_int_equal(meshes_create(*state, &box, true, &plain), SPATE_OK);
    for (uint64_t k = 0; k < 2000; k++) {
        const ray r = random_ray(k);
        const hit a = meshes_hit(fast, &r, 0, INFINITY), b = meshes_hit(plain, &r, 0, INFINITY);
        assert_true(a.met == b.met && meshes_block(plain, &r, 0, INFINITY) == b.met);
        if (!a.met) continue;
        met++;
        assert_float_equal(a.t, b.t, 1e-4);
        const v3 c = meshes_point(plain, &r, &b).colour;
        assert_float_equal(c[0], ray_at(&r, b.t)[0], 1e-4); /* as the colours are laid */
    }
    assert_true(met > 1000);
    meshes_free(fast), meshes_free(plain);
}

/* A skin has the normals of its sides up to the edges; a cloth of that shape is round there. */
static void creases_are_kept(void **state) {
    const ray r = {v3_set(3, 0.9f, 0.8f), {-1, 0, 0, 0}};
    for (int soft = 0; soft < 2; soft++) {
        const mesh_parts box = make_box(soft);
        meshes *m;
        assert_int_equal(meshes_create(*state, &box, true, &m), SPATE_OK);
        hit h = meshes_hit(m, &r, 0, INFINITY);
        const mesh_point outside = meshes_point(m, &r, &h);
        assert_true(soft ? outside.normal[0] < 0.95f : outside.normal[0] > 0.9999f);
        assert_false(outside.back);
        h = meshes_hit(m, &r, h.t + 0.01f, INFINITY); /* the far side, from inside */
        const mesh_point inside = meshes_point(m, &r, &h);
        assert_true(inside.back && v3_dot(inside.flat, r.along) < -0.99f);
        meshes_free(m);
    }
}

/* ---- Strands ---------------------------------------------------------------------------------- */

enum { POINTS = 9 };
static const float away = 10, pixel_size = 0.001f;

/* A straight strand along y, seen from z. */
static strands *make_strand(spate_context *ctx, float radius, bool plain) {
    static v3 x[POINTS], c[POINTS];
    static int32_t list[POINTS], end = POINTS;
    for (int i = 0; i < POINTS; i++) {
        x[i] = (v3){0, 0.1f * (float)i, 0, radius};
        c[i] = v3_splat(0.5f), list[i] = i;
    }
    const mesh_parts p = {.vertices = x,
                          .colours = c,
                          .vertex_count = POINTS,
                          .line_corners = list,
                          .line_ends = &end,
                          .line_count = 1,
                          .mapped = true};
    const view seen = {.from = v3_set(0, 0.4f, away), .pixel = pixel_size};
    strands *s;
    assert_int_equal(strands_create(ctx, &p, &seen, v3_set(0, 1, 0), plain, &s), SPATE_OK);
    return s;
}

/* What it hides along a row of rays, as a width: exact for every radius, thick or thin. */
static double hidden_width(const strands *s) {
    enum { RAYS = 4000 };
    const double reach = 0.1, step = 2 * reach / RAYS;
    double sum = 0;
    for (int k = 0; k < RAYS; k++) {
        const float x = (float)(-reach + (k + 0.5) * step);
        const ray r = {v3_set(x, 0.43f, away), {0, 0, -1, 0}};
        const hit h = strands_hit(s, &r, 0, INFINITY);
        if (h.met) sum += step * (double)strands_point(s, &r, &h).cover;
        if (h.met)
            assert_float_equal(strands_left(s, &r, 0, INFINITY), 1 - strands_point(s, &r, &h).cover,
                               1e-6);
    }
    return sum;
}

static void strands_are_as_wide_as_they_are(void **state) {
    static const float radii[] = {0.05f, 0.02f, 0.004f, 0.0005f, 0.0001f};
    for (int plain = 0; plain < 2; plain++)
        for (int k = 0; k < COUNT_OF(radii); k++) {
            strands *s = make_strand(*state, radii[k], plain);
            assert_float_equal(hidden_width(s) / (2 * (double)radii[k]), 1, 0.02);
            strands_free(s);
        }
}

static void strands_are_round(void **state) {
    for (int plain = 0; plain < 2; plain++) {
        strands *s = make_strand(*state, 0.05f, plain);
        for (int k = -4; k <= 4; k++) {
            const float x = 0.01f * (float)k;
            const ray r = {v3_set(x, 0.4f, away), {0, 0, -1, 0}};
            const hit h = strands_hit(s, &r, 0, INFINITY);
            assert_true(h.met);
            const strand_point p = strands_point(s, &r, &h);
            assert_true(fabsf(p.tangent[1]) > 0.999f && fabsf(p.radius - 0.05f) < 1e-5f);
            assert_float_equal(p.normal[0], x / 0.05f, 0.03);
            assert_true(p.normal[2] > 0.5f && p.facing[2] > 0.999f);
        }
        const ray past = {v3_set(0.06f, 0.4f, away), {0, 0, -1, 0}};
        assert_false(strands_hit(s, &past, 0, INFINITY).met);
        strands_free(s);
    }
}

/* Within a tuft the sun's light is less than above it, and nothing is a number that is none. */
static void tufts_shadow_themselves(void **state) {
    enum { SIDE = 20, LONG = 6, ALL = SIDE * SIDE * LONG };
    static v3 x[ALL], c[ALL];
    static int32_t list[ALL], ends[SIDE * SIDE];
    for (int i = 0; i < ALL; i++) {
        const int strand = i / LONG;
        x[i] = (v3){0.05f * (float)(strand % SIDE), 0.2f * (float)(i % LONG),
                    0.05f * (float)(strand / SIDE), 0.01f};
        c[i] = v3_splat(0.5f), list[i] = i;
        ends[strand] = (strand + 1) * LONG;
    }
    const mesh_parts p = {.vertices = x,
                          .colours = c,
                          .vertex_count = ALL,
                          .line_corners = list,
                          .line_ends = ends,
                          .line_count = SIDE * SIDE};
    const view seen = {.from = v3_set(0, 0.4f, away), .pixel = pixel_size};
    strands *s;
    float sun[2], sky[2];
    assert_int_equal(strands_create(*state, &p, &seen, v3_unit(v3_set(1, 1, 0)), true, &s),
                     SPATE_OK);
    strands_light(s, v3_set(0.5f, 0.98f, 0.5f), v3_set(0, 1, 0), &sun[0], &sky[0]);
    strands_light(s, v3_set(0.2f, 0.1f, 0.5f), v3_set(0, 1, 0), &sun[1], &sky[1]);
    assert_true(sun[1] > 0 && sun[1] < 0.5f * sun[0] && sun[0] <= 1);
    assert_true(sky[1] > 0 && sky[1] < sky[0] && sky[0] <= 1);
    strands_free(s);
}

/* ---- Whole pictures --------------------------------------------------------------------------- */

static const char sheet_scene[] =
    "spate: 1\nname: sheet\ndomain: {size: [2, 2, 2], dx: 0.1}\ngravity: [0, 0, 0]\n"
    "duration: 0.01\nfps: 100\nsolver: {type: mpm}\n"
    "materials: {red: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3, "
    "color: \"#d03030\"}}\n"
    "bodies: [{material: red, cloth: {corner: [0.5, 0.5, 1], along: [1, 0, 0], across: [0, 1, 0], "
    "spacing: 0.1, thickness: 0.02}}, {material: red, strands: {root: [0.1, 0.2, 0.4], direction: "
    "[0, 0.5, "
    "0], row: [0.2, 0, 0], count: 3, spacing: 0.1, radius: 0.01}}]\n"
    "output: {particles: %s}\n";

static void run_sheet(spate_context *ctx, const char *formats, const char *into) {
    char words[2048];
    spate_scene *scene;
    const int length = snprintf(words, sizeof words, sheet_scene, formats);
    assert_int_equal(spate_scene_parse(ctx, words, (size_t)length, "s", ".", NULL, 0, &scene),
                     SPATE_OK);
    spate_run_options options = spate_default_run_options();
    options.folder = into, options.frames = 1;
    assert_int_equal(spate_run(scene, &options, NULL), SPATE_OK);
    spate_scene_free(scene);
}

/* The middle of the picture of a run from a camera. */
static void look(spate_context *ctx, const char *run, const char *from, int out[3]) {
    char path[256];
    spate_render_options options = spate_default_render_options();
    options.width = 160, options.height = 120, options.film = false, options.first = 1;
    options.camera = from;
    const spate_status status = spate_render(ctx, run, &options);
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    snprintf(path, sizeof path, "%s/pictures/frame_0001.png", run);
    pixels p = read_png(path);
    assert_non_null(p.rgb);
    for (int c = 0; c < 3; c++) out[c] = pixel(&p, 80, 60)[c];
    free(p.rgb);
}

/* The light is in front (+z); behind, sky and what comes through. Meshes alone are enough. */
static void cloth_has_two_sides(void **state) {
    static const char *const formats[] = {"vtp", "none"};
    for (int k = 0; k < 2; k++) {
        int front[3], back[3];
        run_sheet(*state, formats[k], in_folder(formats[k]));
        look(*state, in_folder(formats[k]), "1,1,4:1,1,1", front);
        look(*state, in_folder(formats[k]), "1,1,-2:1,1,1", back);
        assert_true(front[0] > 150 && front[0] > 2 * front[1]);
        assert_true(back[0] > 60 && back[0] > 3 * back[1] / 2 && back[0] < front[0]);
    }
}

/* Every allocation of a picture of meshes may fail: it is told, and nothing is kept. */
static void refused_allocations_are_told(void **state) {
    (void)state;
    spate_status status = SPATE_OUT_OF_MEMORY;
    for (int turn = 0; status != SPATE_OK; turn++) {
        int left;
        spate_context *ctx = open_counting(&left);
        assert_non_null(ctx);
        const int64_t blocks = ctx->blocks_now;
        spate_render_options o = spate_default_render_options();
        o.width = 32, o.height = 24, o.samples = 1, o.film = false, o.first = o.last = 1;
        left = turn;
        status = spate_render(ctx, in_folder("vtp"), &o);
        assert_true(status == SPATE_OUT_OF_MEMORY || status == SPATE_OK);
        assert_true(status == SPATE_OK || strlen(spate_message(ctx)) > 0);
        assert_int_equal(ctx->blocks_now, blocks);
        spate_close(ctx);
        assert_true(turn < 2000);
    }
}

/* A collider that an event adds is drawn from the frame on that has it, and no sooner. */
static void added_colliders_are_drawn(void **state) {
    static const char words[] =
        "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.1}\nduration: 0.03\nfps: 100\n"
        "materials: {sand: {model: sand, density: 1500, young_modulus: 1.0e5, poisson: 0.3}}\n"
        "bodies: [{material: sand, shape: {box: {min: [0, 0], max: [1, 0.2]}}}]\nevents:\n"
        "  - {t: 0.015, add: \"{colliders: [{name: ball, color: red, shape: {sphere: {center: "
        "[0.5, 0.6], radius: 0.2}}}]}\"}\n";
    spate_scene *scene;
    assert_int_equal(spate_scene_parse(*state, words, strlen(words), "s", ".", NULL, 0, &scene),
                     SPATE_OK);
    spate_run_options options = spate_default_run_options();
    options.folder = in_folder("added");
    assert_int_equal(spate_run(scene, &options, NULL), SPATE_OK);
    spate_scene_free(scene);
    spate_render_options drawn = spate_default_render_options();
    drawn.width = 120, drawn.height = 120, drawn.film = false;
    assert_int_equal(spate_render(*state, in_folder("added"), &drawn), SPATE_OK);
    for (int frame = 0; frame <= 3; frame++) {
        char path[256];
        snprintf(path, sizeof path, "%s/pictures/frame_%04d.png", in_folder("added"), frame);
        pixels p = read_png(path);
        assert_non_null(p.rgb);
        int red = 0;
        for (int i = 0; i < 120 * 120; i++) red += p.rgb[3 * i] > 200 && p.rgb[3 * i + 1] < 80;
        if (frame < 2)
            assert_int_equal(red, 0);
        else
            assert_in_range(red, 480, 640); /* pi 0.2^2 of a square 67 pixels wide */
        free(p.rgb);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_meet_the_same),
        cmocka_unit_test(creases_are_kept),
        cmocka_unit_test(strands_are_as_wide_as_they_are),
        cmocka_unit_test(strands_are_round),
        cmocka_unit_test(tufts_shadow_themselves),
        cmocka_unit_test(cloth_has_two_sides),
        cmocka_unit_test(refused_allocations_are_told),
        cmocka_unit_test(added_colliders_are_drawn),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
