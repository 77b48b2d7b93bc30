/* Trace: what stands where in a 3D picture, the optics of water, the light on the floor. */
#include "pictures.h"

#include "pictures/trace/trace.h"
#include "pictures/trace/world.h"

static spate_scene cube_scene(spate_context *ctx) {
    spate_scene s = {.ctx = ctx, .name = "cube", .dim = 3, .gravity = {0, -9.81, 0}, .fps = 25};
    s.domain = (domain){.origin = {5, -1, 2}, .size = {1, 1, 1}, .dx = 0.1, .cells = {10, 10, 10}};
    return s;
}

static void camera_sees_what_it_projects(void **state) {
    spate_scene s = cube_scene(*state);
    stage st = {0};
    for (int given = 0; given <= 1; given++) {
        s.camera = (camera){.given = given, .from = {7, 1, 5}, .to = {5.5, -0.5, 2.5}, .fov = 40};
        stage_free(&st);
        assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
        view v = stage_view(&st, 320, 180);
        for (int i = 0; i < 8; i++) {
            v3 corner = v3_set((float)(i & 1), (float)(i >> 1 & 1), (float)(i >> 2));
            float p[3];
            assert_true(view_project(&v, corner, p));
            ray r = view_ray(&v, p[0], p[1]);
            assert_true(v3_length(ray_at(&r, p[2]) - corner) < 1e-3f);
            if (!given) assert_true(p[0] > 0 && p[0] < 320 && p[1] > 0 && p[1] < 180);
        }
    }
    /* The camera looks at its target: the middle of the picture. */
    view v = stage_view(&st, 320, 180);
    float p[3];
    assert_true(view_project(&v, v3_splat(0.5f), p) && fabsf(p[0] - 160) < 0.1f &&
                fabsf(p[1] - 90) < 0.1f);
    assert_false(view_project(&v, v.from - v.forward, p));
    stage_free(&st);
}

/* Gravity along -z turns the stage: z is up, and points come back as they went. */
static void up_is_against_gravity(void **state) {
    spate_scene s = cube_scene(*state);
    s.gravity[1] = 0, s.gravity[2] = -9.81;
    stage st;
    assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
    double x[3] = {5.25, -0.5, 2.75}, back[3];
    v3 p = stage_from_scene(&st, x);
    assert_true(fabsf(p[1] - 0.75f) < 1e-6f);
    stage_to_scene(&st, p, back);
    for (int a = 0; a < 3; a++) assert_true(fabs(back[a] - x[a]) < 1e-6);
    stage_free(&st);
}

/* Snell: sin 30 / 1.33 inside; beyond 48.8 degrees light stays in the water. */
static void water_bends_light(void **state) {
    (void)state;
    v3 n = v3_set(0, 1, 0), out, in = v3_set(0.5f, -sqrtf(0.75f), 0);
    assert_true(world_refract(in, n, false, &out));
    assert_true(fabsf(out[0] - 0.5f / 1.33f) < 1e-5f && out[1] < 0);
    v3 back;
    assert_true(world_refract(-out, n, true, &back));
    assert_true(v3_length(back + in) < 1e-4f);
    v3 steep = v3_unit(v3_set(1, 0.8f, 0));
    assert_false(world_refract(steep, n, true, &out));
    assert_true(fabsf(out[1] + steep[1]) < 1e-5f && fabsf(out[0] - steep[0]) < 1e-5f);
    assert_true(world_fresnel(1) < 0.021f && world_fresnel(0) > 0.999f);
}

static const v3 red = {0.8f, 0.05f, 0.05f, 1}, water_blue = {0.028f, 0.212f, 0.479f, 1};

/* A cluster of matt balls around a point; its neighbours stay as they were without it. */
static void matt_balls_are_where_they_are(void **state) {
    spate_context *ctx = *state;
    spate_scene s = cube_scene(ctx);
    stage st;
    picture p, empty;
    assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
    assert_int_equal(picture_create(ctx, 160, 90, &p), SPATE_OK);
    assert_int_equal(picture_create(ctx, 160, 90, &empty), SPATE_OK);
    v3 cluster[64];
    v3 colours[64];
    batch cluster_of_balls = {LOOK_GRAINS, FINISH_MATT, cluster, colours, 64, 0.02f, false, false};
    batches all = {.ctx = ctx, .list = &cluster_of_balls, .count = 1};
    for (int i = 0; i < 64; i++) {
        cluster[i] = v3_set(0.3f + 0.04f * (float)(i % 4), 0.6f + 0.04f * (float)(i / 4 % 4),
                            0.6f + 0.04f * (float)(i / 16));
        cluster[i][3] = 0.02f;
        colours[i] = red;
    }
    trace_input in = {.stage = &st, .samples = 2};
    assert_int_equal(trace_picture(ctx, &in, &empty), SPATE_OK);
    in.batches = &all;
    assert_int_equal(trace_picture(ctx, &in, &p), SPATE_OK);
    view v = stage_view(&st, 160, 90);
    float at[3], beside[3];
    assert_true(view_project(&v, v3_set(0.36f, 0.66f, 0.66f), at));
    assert_true(view_project(&v, v3_set(0.9f, 0.9f, 0.66f), beside));
    rgb hit_pixel = p.pixels[(int)at[1] * 160 + (int)at[0]],
        none = empty.pixels[(int)at[1] * 160 + (int)at[0]];
    assert_true(hit_pixel.r > 4 * hit_pixel.g && hit_pixel.r > 0.05f);
    assert_true(none.r < 1.3f * none.g);
    rgb free_pixel = p.pixels[(int)beside[1] * 160 + (int)beside[0]];
    assert_memory_equal(&free_pixel, &empty.pixels[(int)beside[1] * 160 + (int)beside[0]],
                        sizeof(rgb));
    picture_free(ctx, &p);
    picture_free(ctx, &empty);
    stage_free(&st);
}

static v3 pool_of_water[30 * 10 * 30];
static v3 pool_colours[30 * 10 * 30];

static batch make_pool(v3 colour) {
    int64_t n = 0;
    for (int i = 0; i < 30 * 10 * 30; i++) pool_colours[i] = colour;
    for (int i = 0; i < 30 * 10 * 30; i++)
        pool_of_water[n++] =
            v3_set(((float)(i % 30) + 0.5f) / 30, ((float)(i / 30 % 10) + 0.5f) / 30,
                   ((float)(i / 300) + 0.5f) / 30);
    return (batch){LOOK_SURFACE, FINISH_GLOSS, pool_of_water, pool_colours, n,
                   0.5f / 30,    false,        false};
}

/* A pool is bluer than the empty floor, and the same for every number of threads. */
static void water_is_blue(void **state) {
    spate_context *ctx = *state, *alone;
    spate_config config = spate_default_config();
    config.threads = 1;
    assert_int_equal(spate_open(&config, &alone), SPATE_OK);
    spate_scene s = cube_scene(ctx);
    stage st;
    picture p, again;
    assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
    assert_int_equal(picture_create(ctx, 96, 64, &p), SPATE_OK);
    assert_int_equal(picture_create(alone, 96, 64, &again), SPATE_OK);
    batch basin = make_pool(water_blue);
    batches all = {.ctx = ctx, .list = &basin, .count = 1};
    trace_input in = {.stage = &st, .samples = 2, .batches = &all};
    assert_int_equal(trace_picture(ctx, &in, &p), SPATE_OK);
    assert_int_equal(trace_picture(alone, &in, &again), SPATE_OK);
    assert_memory_equal(p.pixels, again.pixels, 96 * 64 * sizeof(rgb));
    view v = stage_view(&st, 96, 64);
    float at[3];
    assert_true(view_project(&v, v3_set(0.5f, 0.33f, 0.5f), at));
    rgb wet = p.pixels[(int)at[1] * 96 + (int)at[0]], dry = p.pixels[62 * 96 + 3];
    assert_true(wet.b > 1.5f * wet.r);
    assert_true(dry.b < 1.2f * dry.r);
    picture_free(ctx, &p);
    picture_free(alone, &again);
    stage_free(&st);
    spate_close(alone);
}

/* The colour of the pixel that shows a point. */
static rgb pixel_of(const stage *st, const picture *p, v3 at) {
    view v = stage_view(st, p->width, p->height);
    float place[3];
    assert_true(view_project(&v, at, place));
    return p->pixels[(int)place[1] * p->width + (int)place[0]];
}

/* Honey is warm where water is cold; of two liquids in one pool each has its own colour. */
static void liquids_have_their_colours(void **state) {
    spate_context *ctx = *state;
    spate_scene s = cube_scene(ctx);
    stage st;
    picture p;
    assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
    assert_int_equal(picture_create(ctx, 96, 64, &p), SPATE_OK);
    batch basin = make_pool((v3){0.69f, 0.25f, 0.003f, 1});
    batches all = {.ctx = ctx, .list = &basin, .count = 1};
    trace_input in = {.stage = &st, .samples = 1, .batches = &all};
    assert_int_equal(trace_picture(ctx, &in, &p), SPATE_OK);
    rgb honey = pixel_of(&st, &p, v3_set(0.5f, 0.33f, 0.5f));
    assert_true(honey.r > 1.5f * honey.b && honey.r > honey.g);
    for (int i = 0; i < basin.count; i++)
        if (basin.centers[i][0] > 0.5f) basin.colours[i] = water_blue;
    assert_int_equal(trace_picture(ctx, &in, &p), SPATE_OK);
    honey = pixel_of(&st, &p, v3_set(0.2f, 0.33f, 0.5f));
    rgb water = pixel_of(&st, &p, v3_set(0.85f, 0.33f, 0.5f));
    assert_true(honey.r > 1.3f * honey.b && water.b > 1.3f * water.r);
    picture_free(ctx, &p);
    stage_free(&st);
}

/* One skin around a body of two colours: left as the particles on the left, right as those on the
 * right; and every finish is of the colour it was given. */
static void skins_have_the_colours_of_their_particles(void **state) {
    spate_context *ctx = *state;
    spate_scene s = cube_scene(ctx);
    stage st;
    picture p;
    enum { SIDE = 16, ALL = SIDE * SIDE * SIDE };
    static v3 centers[ALL];
    static v3 colours[ALL];
    for (int i = 0; i < ALL; i++) {
        centers[i] =
            v3_set(0.1f + 0.05f * (float)(i % SIDE), 0.025f + 0.05f * (float)(i / SIDE % SIDE),
                   0.1f + 0.05f * (float)(i / SIDE / SIDE));
        centers[i][3] = 0.03f;
        colours[i] = i % SIDE < SIDE / 2 ? red : (v3){0.05f, 0.1f, 0.8f, 1};
    }
    assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
    assert_int_equal(picture_create(ctx, 96, 64, &p), SPATE_OK);
    for (int finish = FINISH_MATT; finish <= FINISH_METAL; finish++) {
        batch cube = {LOOK_SKIN, (material_finish)finish, centers, colours, ALL, 0.025f, false,
                      false};
        batches all = {.ctx = ctx, .list = &cube, .count = 1};
        trace_input in = {.stage = &st, .samples = 1, .batches = &all};
        assert_int_equal(trace_picture(ctx, &in, &p), SPATE_OK);
        rgb left = pixel_of(&st, &p, v3_set(0.25f, 0.4f, 0.9f)),
            right = pixel_of(&st, &p, v3_set(0.7f, 0.4f, 0.9f));
        assert_true(left.r > 1.5f * left.b && right.b > 1.5f * right.r);
    }
    picture_free(ctx, &p);
    stage_free(&st);
}

/* Light is neither made nor lost: shade where a ball stands, full light on open floor. */
static void floor_is_lit_and_shaded(void **state) {
    spate_context *ctx = *state;
    spate_scene s = cube_scene(ctx);
    stage st;
    assert_int_equal(stage_create(&s, 0, &st), SPATE_OK);
    world w = {
        .ctx = ctx, .stage = &st, .sun = v3_unit(v3_set(0.2f, 1, 0)), .tiny = 1e-4f, .texels = 256};
    v3 ball = {0.5f, 0.5f, 0.5f, 0.2f};
    assert_int_equal(spheres_create(ctx, &ball, 1, &w.spheres), SPATE_OK);
    batch grain = {.look = LOOK_GRAINS, .centers = &ball, .count = 1};
    batches all = {.ctx = ctx, .list = &grain, .count = 1};
    assert_int_equal(light_create(&w, &all, NULL), SPATE_OK);
    v3 sun;
    float sky;
    light_at(&w, 0.4f, 0.5f, &sun, &sky); /* 0.5 - 0.2 * 0.5: where the shadow falls */
    assert_true(sun[0] < 0.02f && sky < 1);
    light_at(&w, 0.75f, 0.5f, &sun, &sky);
    assert_true(fabsf(sun[0] - 1) < 0.02f);
    light_at(&w, 100, -100, &sun, &sky);
    assert_true(sun[0] == 1 && sky == 1);
    light_free(&w);
    spheres_free(w.spheres);
    stage_free(&st);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(camera_sees_what_it_projects),
        cmocka_unit_test(up_is_against_gravity),
        cmocka_unit_test(water_bends_light),
        cmocka_unit_test(matt_balls_are_where_they_are),
        cmocka_unit_test(water_is_blue),
        cmocka_unit_test(liquids_have_their_colours),
        cmocka_unit_test(skins_have_the_colours_of_their_particles),
        cmocka_unit_test(floor_is_lit_and_shaded),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
