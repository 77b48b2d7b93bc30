/*
 * Volumes: fields on cells written, read back by our reader and by VTK, damaged files refused; and
 * what smoke does to light in the pictures of them.
 */
#include "pictures.h"

#include "core/file.h"
#include "core/random.h"
#include "frames/volume.h"
#include "pictures/frame_2d.h"
#include "pictures/render.h"
#include "pictures/smoke_cells.h"
#include "pictures/trace/trace.h"
#include "run/run_folder.h"
#include "watched.h"

/* ---- A solver that has nothing but fields ---------------------------------------------------- */

static const char awkward[] = "tar & <\"soot\">",
                  endless[] = "a dye whose name is longer than any reader of frames has room for: "
                              "seventy letters and more";

static int fake_volumes(const spate_simulation *sim, volume_field *out, int capacity) {
    (void)sim;
    const volume_field fields[] = {{"density", 1}, {"velocity", 3}, {awkward, 1}, {endless, 1}};
    for (int i = 0; i < COUNT_OF(fields) && i < capacity; i++) out[i] = fields[i];
    return COUNT_OF(fields);
}

static float fake_value(int number, int64_t i, int component) {
    return (float)(number + 1) * 1000 + (float)i + 0.25f * (float)component;
}

static void fake_volume(const spate_simulation *sim, int number, float *values) {
    const int *n = sim->scene->domain.cells, components = number == 1 ? 3 : 1;
    int64_t count = (int64_t)n[0] * n[1] * (sim->scene->dim == 3 ? n[2] : 1);
    for (int64_t i = 0; i < count * components; i++)
        values[i] = fake_value(number, i / components, (int)(i % components));
}

static void broken_volume(const spate_simulation *sim, int number, float *values) {
    fake_volume(sim, number, values);
    if (number == 1) values[7] = INFINITY;
}

static const solver_type fake_solver = {.volumes = fake_volumes, .volume = fake_volume};

static spate_scene fake_scene(spate_context *ctx, int dim) {
    spate_scene s = {.ctx = ctx, .name = "plume", .dim = dim, .fps = 10, .output.volumes = true};
    s.domain = (domain){.origin = {5, -1, dim == 3 ? 0.1 : 0}, .dx = 0.1, .cells = {4, 3, 2}};
    for (int a = 0; a < 3; a++) s.domain.size[a] = 0.1 * s.domain.cells[a];
    if (dim == 2) s.domain.cells[2] = 1, s.domain.size[2] = 0.1;
    return s;
}

static spate_status write_volume(spate_simulation *sim, const char *path) {
    volume_frame f;
    TRY(volume_create(sim, &f));
    spate_status status = volume_write(sim->ctx, &f, path);
    volume_free(&f);
    return status;
}

static spate_status write_fake(spate_context *ctx, int dim, const char *path) {
    spate_scene scene = fake_scene(ctx, dim);
    spate_simulation sim = {.ctx = ctx, .scene = &scene, .type = &fake_solver, .time = 1.5};
    assert_true(volume_is_wanted(&sim));
    return write_volume(&sim, path);
}

static void unwanted_volumes_are_left_out(void **state) {
    static const solver_type particles_only = {0};
    spate_scene scene = fake_scene(*state, 3);
    spate_simulation sim = {.ctx = *state, .scene = &scene, .type = &particles_only};
    assert_false(volume_is_wanted(&sim));
    sim.type = &fake_solver, scene.output.volumes = false;
    assert_false(volume_is_wanted(&sim));
}

static void not_finite_is_not_written(void **state) {
    static const solver_type broken = {.volumes = fake_volumes, .volume = broken_volume};
    const char *path = in_folder("volume_0009.vti");
    spate_scene scene = fake_scene(*state, 3);
    spate_simulation sim = {.ctx = *state, .scene = &scene, .type = &broken};
    assert_int_equal(write_volume(&sim, path), SPATE_UNSTABLE);
    assert_non_null(strstr(spate_message(*state), "the field 'velocity' is not a finite number"));
    assert_false(file_exists(*state, path));
}

/* ---- There and back -------------------------------------------------------------------------- */

static void fields_come_back(void **state) {
    for (int dim = 2; dim <= 3; dim++) {
        const char *path = in_folder("volume_0001.vti");
        assert_int_equal(write_fake(*state, dim, path), SPATE_OK);
        snapshot s;
        assert_int_equal(snapshot_load(*state, path, &s), SPATE_OK);
        assert_true(s.on_grid && s.time == 1.5 && s.array_count == 4);
        assert_true(s.cells[0] == 4 && s.cells[1] == 3 && s.cells[2] == dim - 1);
        assert_int_equal(s.count, 12 * (dim - 1));
        assert_true(s.origin[0] == 5 && s.origin[1] == -1 && s.spacing[2] == 0.1);
        assert_ptr_equal(snapshot_find(&s, awkward), &s.arrays[2]);
        assert_null(snapshot_find(&s, endless)); /* cut, but there */
        assert_memory_equal(s.arrays[3].name, endless, SNAPSHOT_NAME - 1);
        for (int f = 0; f < 4; f++) {
            assert_int_equal(s.arrays[f].components, f == 1 ? 3 : 1);
            for (int64_t i = 0; i < s.count; i++)
                for (int c = 0; c < s.arrays[f].components; c++)
                    assert_true(snapshot_value(&s.arrays[f], i, c) == (double)fake_value(f, i, c));
        }
        snapshot_free(&s);
    }
}

static void dump_json(const snapshot *s) {
    FILE *f = fopen(in_folder("volume.json"), "w");
    assert_non_null(f);
    fprintf(f, "{\"cells\": [%d, %d, %d], \"origin\": [%.17g, %.17g, %.17g], \"spacing\": %.17g,\n",
            s->cells[0], s->cells[1], s->cells[2], s->origin[0], s->origin[1], s->origin[2],
            s->spacing[0]);
    fprintf(f, "\"time\": %.17g, \"scene\": \"plume\", \"attributes\": {", s->time);
    static const char *const names[] = {"density", "velocity", "tar & <\\\"soot\\\">"};
    for (int a = 0; a < COUNT_OF(names); a++) {
        fprintf(f, "%s\"%s\": {\"components\": %d, \"values\": [", a ? ", " : "", names[a],
                s->arrays[a].components);
        for (int64_t i = 0; i < s->count * s->arrays[a].components; i++)
            fprintf(f, "%s%.9g", i ? ", " : "",
                    snapshot_value(&s->arrays[a], i / s->arrays[a].components,
                                   (int)(i % s->arrays[a].components)));
        fprintf(f, "]}");
    }
    fprintf(f, "}}\n");
    fclose(f);
}

/* VTK reads it the same, and notices where a value is not what the dump says. */
static int vtk_code(const char *change) {
    char command[512];
    snprintf(command, sizeof command,
             "p=/usr/bin/python3; test -x $p || p=python3; sed -i '%s' %s/volume.json; "
             "LD_PRELOAD= $p tests/read_frames.py '%s' 7 volume 2>/dev/null",
             change, folder, folder);
    return WEXITSTATUS(system(command));
}

static void vtk_agrees(void **state) {
    for (int dim = 2; dim <= 3; dim++) {
        snapshot s;
        assert_int_equal(write_fake(*state, dim, in_folder("volume_0007.vti")), SPATE_OK);
        assert_int_equal(snapshot_load(*state, in_folder("volume_0007.vti"), &s), SPATE_OK);
        dump_json(&s);
        snapshot_free(&s);
        int code = vtk_code("");
        if (code == 77 || code == 127) skip();
        assert_int_equal(code, 0);
    }
    assert_int_not_equal(vtk_code("s/1001,/1002,/"), 0);
}

/* ---- Damaged files --------------------------------------------------------------------------- */

static char *fake_bytes(spate_context *ctx, size_t *length) {
    char *bytes;
    assert_int_equal(write_fake(ctx, 3, in_folder("whole.vti")), SPATE_OK);
    assert_int_equal(file_read(ctx, in_folder("whole.vti"), 1 << 20, &bytes, length), SPATE_OK);
    return bytes;
}

static spate_status read_copy(spate_context *ctx, const char *bytes, size_t length, snapshot *s) {
    char *copy = take(ctx, length + 1, 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    return snapshot_read(ctx, "volume_0001.vti", copy, length, s);
}

static void cut_files_are_refused(void **state) {
    spate_context *ctx = *state;
    size_t length;
    char *bytes = fake_bytes(ctx, &length);
    int64_t taken = ctx->blocks_now;
    for (size_t cut = 0; cut < length - strlen("\n</AppendedData>\n</VTKFile>\n"); cut += 3) {
        snapshot s;
        assert_int_equal(read_copy(ctx, bytes, cut, &s), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), "volume_0001.vti"));
        assert_int_equal(ctx->blocks_now, taken);
    }
    give(ctx, bytes);
}

/* Single wrong bytes: refused or read, but never beyond the file (the sanitizers watch). */
static void wrong_bytes_are_survived(void **state) {
    spate_context *ctx = *state;
    size_t length;
    char *bytes = fake_bytes(ctx, &length);
    int refused = 0;
    for (uint64_t k = 0; k < (WATCHED ? 500 : 5000); k++) {
        size_t at = random_bits(1, k, 0) % length;
        char before = bytes[at];
        bytes[at] = (char)random_bits(1, k, 1);
        snapshot s;
        if (read_copy(ctx, bytes, length, &s) == SPATE_OK) {
            double sum = 0;
            for (int a = 0; a < s.array_count; a++)
                for (int64_t i = 0; i < s.count; i++)
                    sum += snapshot_value(&s.arrays[a], i, s.arrays[a].components - 1);
            (void)sum;
            snapshot_free(&s);
        } else
            refused++;
        bytes[at] = before;
    }
    assert_true(refused > 0);
    give(ctx, bytes);
}

static void lies_are_refused(void **state) {
    static const char *const lies[][2] = {
        {"<Piece Extent=\"0 4", "<Piece Extent=\"0 5"},
        {"<Piece Extent=\"0 4", "<Piece Extent=\"1 4"},
        {"<Piece Extent=\"0 4", "<Piece Extent=\"0 0"},
        {"<Piece Extent=\"0 4", "<Piece Extent=\"0 n"},
        {"Spacing=\"0.1", "Spacing=\"-.1"},
        {"Spacing=", "spacing="},
        {"Origin=\"5 -1", "Origin=\"5  x"},
        {"offset=\"104\"", "offset=\"999\""},
        {"LittleEndian", "MiddleEndian"},
        {"\"UInt64\"", "\"UInt32\""},
        {"Float32", "Float31"},
        {"ImageData", "ImageDada"},
        {"Components=\"3\"", "Components=\"4\""},
        {"<CellData", "<CellDada"},
    };
    spate_context *ctx = *state;
    for (int i = 0; i < COUNT_OF(lies); i++) {
        size_t length;
        char *bytes = fake_bytes(ctx, &length), *c = strstr(bytes, lies[i][0]);
        snapshot s;
        assert_non_null(c);
        memcpy(c, lies[i][1], strlen(lies[i][1]));
        assert_int_equal(read_copy(ctx, bytes, length, &s), SPATE_BAD_INPUT);
        give(ctx, bytes);
    }
}

static void keep_words(const char *words, void *user) { snprintf(user, 1024, "%s", words); }

static void files_are_described(void **state) {
    char words[1024] = "";
    assert_int_equal(write_fake(*state, 3, in_folder("some")), SPATE_OK);
    assert_int_equal(spate_describe_file(*state, in_folder("some"), keep_words, words), SPATE_OK);
    assert_non_null(strstr(words, "4 x 3 x 2 cells of 0.1, t = 1.5 s"));
    assert_non_null(strstr(words, "density: 1000 to 1023"));
    assert_non_null(strstr(words, "velocity(3): 3464"));
    size_t length;
    char *bytes = fake_bytes(*state, &length);
    put_bytes(in_folder("some"), bytes, length / 2);
    give(*state, bytes);
    assert_int_equal(spate_describe_file(*state, in_folder("some"), keep_words, words),
                     SPATE_BAD_INPUT);
}

/* A run that goes on from a checkpoint takes back the volumes after it. */
static void folders_know_volumes(void **state) {
    spate_scene scene = fake_scene(*state, 2);
    char path[PATH_SIZE];
    text lines = {.ctx = *state};
    int64_t number;
    assert_int_equal(path_join(*state, folder, "run", path), SPATE_OK);
    assert_int_equal(file_make_folder(*state, path), SPATE_OK);
    for (int i = 0; i < 4; i++) {
        char name[FRAME_NAME_SIZE], file[PATH_SIZE];
        volume_name(name, i);
        assert_true(run_folder_owns(name, &number) && number == i);
        assert_int_equal(path_join(*state, path, name, file), SPATE_OK);
        assert_int_equal(write_fake(*state, 2, file), SPATE_OK);
    }
    assert_true(run_folder_owns("volume.pvd", &number) && number == -1);
    assert_int_equal(run_folder_clear(*state, path, 2), SPATE_OK);
    assert_int_equal(run_folder_list_frames(&scene, path, FRAMES_OF_VOLUMES, 9, 0.15, &lines),
                     SPATE_OK);
    assert_non_null(
        strstr(lines.data, "timestep=\"0.15\" group=\"\" part=\"0\" file=\"volume_0002.vti\""));
    assert_null(strstr(lines.data, "volume_0003"));
    text_free(&lines);
    assert_int_equal(run_folder_list_frames(&scene, path, FRAMES_OF_PARTICLES, 9, 0.15, &lines),
                     SPATE_OK);
    assert_int_equal(lines.length, 0);
    frame_list list = {.ctx = *state};
    assert_int_equal(frame_list_read(path, &list), SPATE_OK);
    assert_true(list.kind == FRAMES_OF_VOLUMES && list.count == 3);
    give(*state, list.numbers);
}

/* ---- Light through smoke --------------------------------------------------------------------- */

enum { N = 32 };
static v3 cube[N * N * N];

/* A unit cube; `amount` tells the extinction at a place. */
static smoke_grid fill_cube(float (*amount)(v3 x), rgb colour) {
    for (int i = 0; i < N * N * N; i++) {
        v3 x = {0};
        x[0] = ((float)(i % N) + 0.5f) / N, x[1] = ((float)(i / N % N) + 0.5f) / N;
        x[2] = ((float)(i / N / N) + 0.5f) / N;
        float k = amount(x);
        cube[i] = (v3){colour.r * k, colour.g * k, colour.b * k, k};
    }
    return (smoke_grid){.cells = {N, N, N}, .edge = 1.0f / N, .values = cube};
}

static float everywhere(v3 x) { return x[0] >= 0 ? 2.5f : 0; }
/* Half of the cube, so that rays also cross blocks that are empty. */
static float in_a_slab(v3 x) { return x[0] > 0.5f ? 5 : 0; }
static float in_a_ball(v3 x) { return v3_length(x - v3_splat(0.5f)) < 0.25f ? 30 : 0; }

static const rgb white = {0.9f, 0.9f, 0.9f};
static const v3 sun = {-0.403f, 0.851f, 0.340f, 0};

static void slabs_let_through_what_beer_says(void **state) {
    smoke_volume h;
    smoke_grid g = fill_cube(everywhere, white);
    assert_int_equal(smoke_volume_create(*state, &g, v3_unit(sun), true, &h), SPATE_OK);
    for (int k = 0; k < 20; k++) {
        ray r = {v3_set(-1, 0.1f + 0.03f * (float)k, 0.4f),
                 v3_unit(v3_set(1, 0.01f * (float)k, 0.1f))};
        float near = 0, far = INFINITY;
        int axes[2];
        assert_true(ray_box(&r, v3_splat(0), v3_splat(1), &near, &far, axes));
        float want = expf(-2.5f * (far - near)), offset = (float)k / 20;
        smoke_view v = smoke_volume_look(&h, &r, 0, INFINITY, offset);
        assert_true(fabsf(v.left / want - 1) < 1e-3f);
        assert_true(fabsf(smoke_volume_left(&h, &r, 0, INFINITY) / want - 1) < 1e-3f);
        /* Half a way in, and the wrong extinction is told from the right one. */
        v = smoke_volume_look(&h, &r, 0, near + 0.5f, offset);
        assert_true(fabsf(v.left / expf(-1.25f) - 1) < 1e-3f);
        assert_true(fabsf(v.left / expf(-1.27f) - 1) > 1e-2f);
        assert_true(fabsf(v.depth - near - logf(2) / 2.5f) < 1.0f / N);
    }
    smoke_volume_free(&h);
    g = fill_cube(in_a_slab, white);
    assert_int_equal(smoke_volume_create(*state, &g, v3_unit(sun), true, &h), SPATE_OK);
    for (int way = -1; way <= 1; way += 2) {
        ray r = {v3_set(way > 0 ? -1 : 2, 0.4f, 0.6f), v3_set((float)way, 0, 0)};
        assert_true(fabsf(smoke_volume_look(&h, &r, 0, INFINITY, 0.5f).left / expf(-2.5f) - 1) <
                    1e-2f);
        assert_true(smoke_volume_look(&h, &r, 0, 1, 0.5f).left == 1);
    }
    smoke_volume_free(&h);
}

/* Without smoke, and beside it, light passes untouched. */
static void empty_space_is_clear(void **state) {
    smoke_volume none = {0}, h;
    ray r = {v3_set(-1, 0.05f, 0.05f), v3_set(1, 0, 0)};
    assert_true(smoke_volume_look(&none, &r, 0, INFINITY, 0).left == 1);
    assert_true(smoke_volume_left(&none, &r, 0, INFINITY) == 1 &&
                smoke_volume_sun(&none, r.from) == 1);
    smoke_grid g = fill_cube(in_a_ball, white);
    assert_int_equal(smoke_volume_create(*state, &g, v3_unit(sun), true, &h), SPATE_OK);
    smoke_view v = smoke_volume_look(&h, &r, 0, INFINITY, 0.3f);
    assert_true(v.left == 1 && v3_length(v.light) == 0 && v.depth == INFINITY);
    smoke_volume_free(&h);
}

static float brightness(rgb c) { return (c.r + c.g + c.b) / 3; }

/* A ray towards the middle from some side. */
static float seen_from(const smoke_volume *h, v3 side) {
    ray r = {v3_splat(0.5f) + side * v3_splat(2), -side};
    return smoke_volume_look(h, &r, 0, INFINITY, 0.5f).light[1];
}

static void shadow_side_is_darker(void **state) {
    smoke_volume h;
    smoke_grid g = fill_cube(in_a_ball, white);
    const v3 to_sun = v3_unit(sun);
    assert_int_equal(smoke_volume_create(*state, &g, to_sun, true, &h), SPATE_OK);
    assert_true(seen_from(&h, to_sun) > 2 * seen_from(&h, -to_sun));
    assert_true(smoke_volume_sun(&h, v3_splat(0.5f) + to_sun * v3_splat(0.4f)) > 0.95f);
    assert_true(smoke_volume_sun(&h, v3_splat(0.5f) - to_sun * v3_splat(0.4f)) < 0.05f);
    smoke_volume_free(&h);
    /* Colours of a map are the same from all sides. */
    assert_int_equal(smoke_volume_create(*state, &g, to_sun, false, &h), SPATE_OK);
    assert_true(fabsf(seen_from(&h, to_sun) / seen_from(&h, -to_sun) - 1) < 0.01f);
    smoke_volume_free(&h);
}

/* ---- Pictures in 3D -------------------------------------------------------------------------- */

enum { WIDTH = 160, HEIGHT = 120 };

static spate_scene stage_scene(spate_context *ctx) {
    spate_scene s = {.ctx = ctx, .name = "cube", .dim = 3, .gravity = {0, -9.81, 0}, .fps = 25};
    s.domain = (domain){.size = {1, 1, 1}, .dx = 1.0 / N, .cells = {N, N, N}};
    return s;
}

static rgb pixel_at(const spate_scene *s, const picture *p, v3 x) {
    stage st;
    float at[3];
    assert_int_equal(stage_create(s, 0, &st), SPATE_OK);
    view v = stage_view(&st, WIDTH, HEIGHT);
    stage_free(&st);
    assert_true(view_project(&v, x, at));
    return p->pixels[(int)at[1] * WIDTH + (int)at[0]];
}

static void draw_cube(spate_context *ctx, const spate_scene *s, smoke_grid smoke, picture *out) {
    stage st;
    assert_int_equal(stage_create(s, 0, &st), SPATE_OK);
    assert_int_equal(picture_create(ctx, WIDTH, HEIGHT, out), SPATE_OK);
    trace_input in = {.stage = &st, .samples = 2, .smoke = smoke};
    assert_int_equal(trace_picture(ctx, &in, out), SPATE_OK);
    stage_free(&st);
}

static float nearly_nothing(v3 x) { return x[0] >= 0 ? 1e-6f : 0; }

/* A ball of red smoke veils what is behind it, shades the floor, and is the same for all
 * threads. */
static void smoke_stands_in_the_picture(void **state) {
    spate_context *ctx = *state, *alone;
    spate_config config = spate_default_config();
    config.threads = 1;
    assert_int_equal(spate_open(&config, &alone), SPATE_OK);
    spate_scene s = stage_scene(ctx);
    const rgb red = {0.8f, 0.1f, 0.1f};
    picture ball, again, clear;
    draw_cube(ctx, &s, fill_cube(in_a_ball, red), &ball);
    draw_cube(alone, &s, fill_cube(in_a_ball, red), &again);
    assert_memory_equal(ball.pixels, again.pixels, WIDTH * HEIGHT * sizeof(rgb));
    draw_cube(ctx, &s, fill_cube(nearly_nothing, red), &clear);
    const rgb there = pixel_at(&s, &ball, v3_splat(0.5f)),
              before = pixel_at(&s, &clear, v3_splat(0.5f));
    assert_true(there.r > 3 * there.g && before.r < 1.5f * before.g);
    /* Where the sun's ray through the ball meets the floor. */
    const v3 to_sun = v3_unit(v3_set(-0.45f, 0.95f, 0.38f));
    const v3 shade = v3_splat(0.5f) - to_sun * v3_splat(0.5f / to_sun[1]);
    assert_true(brightness(pixel_at(&s, &ball, shade)) <
                0.7f * brightness(pixel_at(&s, &clear, shade)));
    picture_free(ctx, &ball);
    picture_free(alone, &again);
    picture_free(ctx, &clear);
    spate_close(alone);
}

/* A collider within the smoke: a thin veil in front of it, a thick one before what is behind. */
static float fog(v3 x) { return x[1] >= 0 ? 3 : 0; }

static shape sphere(double x, double y, double z) {
    shape s = {.kind = SHAPE_SPHERE, .a = {x, y, z}, .radius = 0.1, .scale = 1};
    for (int a = 0; a < 3; a++) s.turn[a][a] = 1;
    return s;
}

static void colliders_are_veiled_by_what_is_before_them(void **state) {
    spate_context *ctx = *state;
    spate_scene s = stage_scene(ctx);
    shape balls[2] = {sphere(0.75, 0.5, 0.9), sphere(0.25, 0.5, 0.1)};
    collider colliders[2] = {{.name = "front", .shape = &balls[0]},
                             {.name = "back", .shape = &balls[1]}};
    s.colliders = colliders, s.collider_count = 2;
    const rgb blue = {0, 0, 0.9f};
    picture p;
    draw_cube(ctx, &s, fill_cube(fog, blue), &p);
    /* The side that the camera sees; blue is the smoke's share, red what comes through. */
    const rgb front = pixel_at(&s, &p, v3_set(0.75f, 0.5f, 0.9f)),
              back = pixel_at(&s, &p, v3_set(0.25f, 0.5f, 0.1f));
    assert_true(front.r > 3 * back.r);
    assert_true(front.r / front.b > 3 * back.r / back.b);
    picture_free(ctx, &p);
}

/* ---- Dyes in 2D ------------------------------------------------------------------------------ */

typedef struct gas {
    double density;
} gas;

static const field gas_fields[] = {
    NUMBER_FIELD(gas, density, "kg/m^3", 1.2, 0, 1e3, "Density."),
};
static const material_type gas_type = {.name = "gas",
                                       .table = FIELD_TABLE("material: gas", "", gas_fields, gas)};

static snapshot_array dye_array(const char *name, const float *values) {
    snapshot_array a = {.type = SNAPSHOT_FLOAT32, .components = 1, .data = (const void *)values};
    snprintf(a.name, sizeof a.name, "%s", name);
    return a;
}

static void assert_close(rgb c, float r, float g, float b) {
    assert_true(fabsf(c.r - r) < 0.02f && fabsf(c.g - g) < 0.02f && fabsf(c.b - b) < 0.02f);
}

/* Left a dye with a colour of its own, right one without, in between nothing. */
static void dyes_have_their_colours(void **state) {
    spate_context *ctx = *state;
    gas gases[2] = {{.density = 1}, {.density = 1}};
    const field_color green = {true, {0, 1, 0}};
    material materials[2] = {
        {.name = "mint", .type = &gas_type, .parameters = &gases[0], .color = green},
        {.name = "soot", .type = &gas_type, .parameters = &gases[1]}};
    static float mint[9 * 3], soot[9 * 3];
    for (int i = 0; i < 27; i++) mint[i] = i % 9 < 3 ? 5 : 0, soot[i] = i % 9 > 5 ? 5 : 0;
    spate_scene s = {.ctx = ctx, .name = "dyes", .dim = 2, .fps = 25};
    s.domain = (domain){.size = {0.9, 0.3, 0.1}, .dx = 0.1, .cells = {9, 3, 1}};
    s.materials = materials, s.material_count = 2;
    snapshot frame = {.ctx = ctx, .on_grid = true, .count = 27, .cells = {9, 3, 1}};
    for (int a = 0; a < 3; a++) frame.spacing[a] = 0.1;
    frame.arrays[frame.array_count++] = dye_array("mint", mint);
    frame.arrays[frame.array_count++] = dye_array("soot", soot);
    picture p;
    colouring sh;
    assert_int_equal(colouring_create(&s, "material", &sh), SPATE_OK);
    sh.plain = true;
    assert_int_equal(picture_create(ctx, 96, 36, &p), SPATE_OK);
    assert_int_equal(frame_2d_draw(&sh, &frame, "here", 0, &p), SPATE_OK);
    const rgb *row = p.pixels + 18 * 96;
    rgb other = colour_material(1);
    assert_close(row[12], 0, 1, 0);
    assert_close(row[84], other.r, other.g, other.b);
    assert_true(brightness(row[48]) < 0.05f);
    /* A field through the colour map hides what is behind it. */
    assert_int_equal(colouring_create(&s, "soot", &sh), SPATE_OK);
    sh.plain = true, sh.low = 0, sh.high = 10;
    assert_int_equal(frame_2d_draw(&sh, &frame, "here", 0, &p), SPATE_OK);
    rgb half = colour_map(0.5), none = colour_map(0);
    assert_close(row[84], half.r, half.g, half.b);
    assert_close(row[12], none.r, none.g, none.b);
    /* One of both signs has another map, with nothing in its middle. */
    colouring_set_range(&sh, -3, 10);
    assert_true(sh.both && sh.low == -sh.high);
    assert_int_equal(frame_2d_draw(&sh, &frame, "here", 0, &p), SPATE_OK);
    rgb middle = colour_map_signed(0.5);
    assert_close(row[12], middle.r, middle.g, middle.b);
    colouring_set_range(&sh, -0.1, 10);
    assert_false(sh.both);
    /* Nothing that is smoke: told, with what to do. */
    assert_int_equal(colouring_create(&s, "material", &sh), SPATE_OK);
    strcpy(frame.arrays[0].name, "pressure"), strcpy(frame.arrays[1].name, "heat");
    assert_int_equal(frame_2d_draw(&sh, &frame, "here", 0, &p), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "--colour"));
    /* A frame of another grid. */
    frame.spacing[1] = 1e-300;
    assert_int_equal(render_frame(&sh, &frame, "here", 0, 1, &p), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "run.scene.yaml"));
    picture_free(ctx, &p);
}

/* The range of a field is found although what is not zero is one column of the grid. */
static void ranges_are_found(void **state) {
    enum { EDGE = 64, CELLS = EDGE * EDGE * EDGE };
    static float values[CELLS];
    for (int i = 0; i < CELLS; i++) values[i] = i % EDGE == 17 ? 8 : 0;
    spate_scene s = {.ctx = *state, .dim = 3};
    snapshot frame = {.ctx = *state, .on_grid = true, .count = CELLS, .cells = {EDGE, EDGE, EDGE}};
    frame.arrays[frame.array_count++] = dye_array("heat", values);
    colouring sh;
    double low = HUGE_VAL, high = -HUGE_VAL;
    assert_int_equal(colouring_create(&s, "heat", &sh), SPATE_OK);
    assert_int_equal(colouring_measure(&sh, &frame, "here", &low, &high), SPATE_OK);
    assert_true(low == 0 && high == 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unwanted_volumes_are_left_out),
        cmocka_unit_test(not_finite_is_not_written),
        cmocka_unit_test(fields_come_back),
        cmocka_unit_test(vtk_agrees),
        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(wrong_bytes_are_survived),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(files_are_described),
        cmocka_unit_test(folders_know_volumes),
        cmocka_unit_test(slabs_let_through_what_beer_says),
        cmocka_unit_test(empty_space_is_clear),
        cmocka_unit_test(shadow_side_is_darker),
        cmocka_unit_test(smoke_stands_in_the_picture),
        cmocka_unit_test(colliders_are_veiled_by_what_is_before_them),
        cmocka_unit_test(dyes_have_their_colours),
        cmocka_unit_test(ranges_are_found),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
