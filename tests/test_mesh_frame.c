/*
 * Mesh frames: files of bodies that are meshes hold exactly their cells. Skins are closed (every
 * edge has two triangles, once each way) and enclose the volume of the body; strands go from root to
 * tip; outlines go round with the body on their left. What VTK reads of a file is compared by
 * read_frames.py.
 */
#include "count_down.h"
#include "pictures.h"

#include "core/file.h"
#include "frames/mesh_frame.h"
#include "frames/surface_read.h"
#include <spate/drive.h>

static const char scene_3d[] =
    "spate: 1\nname: parts\ndomain: {size: [2, 2, 2], dx: 0.1, walls: {x_max: open}}\n"
    "gravity: [0, 0, 0]\nduration: 0.02\nfps: 100\nsolver: {type: mpm}\n"
    "materials: {soft: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3}}\n"
    "bodies:\n"
    "  - {name: box, material: soft, shape: {box: {min: [0.4, 0.4, 0.4], max: [0.8, 0.7, 0.6]}}, "
    "fe: {spacing: 0.1}}\n"
    "  - {name: flag, material: soft, cloth: {corner: [0.3, 1, 1], along: [0.4, 0, 0], across: [0, "
    "0, 0.3], spacing: 0.1, thickness: 0.02}}\n"
    "  - {name: hair, material: soft, velocity: [%s, 0, 0], strands: {root: [1.3, 1, 1], "
    "direction: "
    "[0.5, 0, 0], row: [0, 0.3, 0], count: 4, spacing: 0.1, radius: 0.01}}\n"
    "output: {meshes: [vtp, ply, obj]}\n";

static const char scene_2d[] =
    "spate: 1\nname: flat\ndimension: 2\ndomain: {size: [2, 2], dx: 0.1}\ngravity: [0, 0]\n"
    "duration: 0.01\nfps: 100\nsolver: {type: mpm}\n"
    "materials: {soft: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3}}\n"
    "bodies: [{name: square, material: soft, shape: {box: {min: [0.5, 0.5], max: [1.1, 0.9]}}, fe: "
    "{spacing: 0.1}}]\n";

static void run_scene(spate_context *ctx, const char *words, const char *set, const char *into) {
    spate_scene *scene = NULL;
    spate_status status =
        spate_scene_parse(ctx, words, strlen(words), "parts", ".", &set, set ? 1 : 0, &scene);
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    spate_run_options options = spate_default_run_options();
    options.folder = into, options.force = true;
    status = spate_run(scene, &options, NULL);
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    spate_scene_free(scene);
}

static void run_3d(spate_context *ctx, const char *speed, const char *set, const char *into) {
    char words[4096];
    snprintf(words, sizeof words, scene_3d, speed);
    run_scene(ctx, words, set, into);
}

static double value(const snapshot *s, const char *name, int64_t i, int c) {
    const snapshot_array *a = snapshot_find(s, name);
    assert_non_null(a);
    return snapshot_value(a, i, c);
}

static double place(const snapshot *s, int64_t vertex, int axis) {
    return snapshot_value(&s->arrays[0], vertex, axis);
}

/* Volume inside the triangles of a body, by the divergence theorem; also counts them. */
static double volume_of(const snapshot *s, double group, int64_t *triangles) {
    double sum = 0;
    *triangles = 0;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        double x[3][3];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 3; a++) x[k][a] = place(s, snapshot_triangle(s, t, k), a);
        if (value(s, "group", snapshot_triangle(s, t, 0), 0) != group) continue;
        ++*triangles;
        sum += (x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) +
                x[0][1] * (x[1][2] * x[2][0] - x[1][0] * x[2][2]) +
                x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0])) /
               6;
    }
    return sum;
}

/* Every edge from a to b of a closed skin is one from b to a of another triangle, and no other's. */
static void assert_closed(const snapshot *s, int64_t count) {
    for (int64_t i = 0; i < 3 * count; i++) {
        const int32_t a = snapshot_triangle(s, i / 3, (int)(i % 3)),
                      b = snapshot_triangle(s, i / 3, (int)((i + 1) % 3));
        int same = 0, back = 0;
        for (int64_t k = 0; k < 3 * count; k++) {
            const int32_t c = snapshot_triangle(s, k / 3, (int)(k % 3)),
                          d = snapshot_triangle(s, k / 3, (int)((k + 1) % 3));
            same += a == c && b == d, back += a == d && b == c;
        }
        assert_int_equal(same, 1);
        assert_int_equal(back, 1);
    }
}

/* Box: 4 x 3 x 2 cells, two triangles on each of its 52 squares; cloth: 4 x 3 squares. */
static void files_have_all_cells(void **state) {
    snapshot s;
    int64_t triangles;
    run_3d(*state, "0", NULL, in_folder("rest"));
    assert_int_equal(snapshot_load(*state, in_folder("rest/mesh_0000.vtp"), &s), SPATE_OK);
    assert_float_equal(volume_of(&s, 0, &triangles), 0.4 * 0.3 * 0.2, 1e-7);
    assert_int_equal(triangles, 2 * 52);
    assert_closed(&s, triangles);
    volume_of(&s, 1, &triangles);
    assert_int_equal(triangles, 2 * 12);
    assert_int_equal(s.triangle_count, 2 * 52 + 2 * 12);
    /* Of the box' 60 vertices the 6 inner ones are left out. */
    assert_int_equal(s.count, 54 + 20 + 4 * 6);
    assert_int_equal(s.line_count, 4);
    for (int k = 0; k < 4; k++) {
        assert_int_equal(snapshot_line_end(&s, k), 6 * (k + 1));
        const int32_t root = snapshot_line_corner(&s, 6 * k),
                      tip = snapshot_line_corner(&s, 6 * k + 5);
        const double wanted[2][3] = {{1.3, 1 + 0.1 * k, 1}, {1.8, 1 + 0.1 * k, 1}};
        for (int a = 0; a < 3; a++) {
            assert_float_equal(place(&s, root, a), wanted[0][a], 1e-6);
            assert_float_equal(place(&s, tip, a), wanted[1][a], 1e-6);
        }
        assert_float_equal(value(&s, "pscale", root, 0), 0.01, 1e-8);
        assert_float_equal(value(&s, "group", tip, 0), 2, 0);
    }
    snapshot_free(&s);
}

/* The same numbers in the three formats, and a list of the frames. */
static void formats_agree(void **state) {
    char *bytes, command[512];
    size_t length;
    int64_t vertices = 0, faces = 0, lines = 0;
    assert_int_equal(file_read(*state, in_folder("rest/mesh_0001.obj"), 1 << 20, &bytes, &length),
                     SPATE_OK);
    for (const char *c = bytes; c && *c; c = strchr(c, '\n'), c += c != NULL) {
        vertices += !strncmp(c, "v ", 2), faces += !strncmp(c, "f ", 2);
        lines += !strncmp(c, "l ", 2);
    }
    assert_non_null(strstr(bytes, "\ng hair\nl "));
    give(*state, bytes);
    assert_int_equal(vertices, 98), assert_int_equal(faces, 128), assert_int_equal(lines, 4);
    assert_int_equal(file_read(*state, in_folder("rest/mesh_0001.ply"), 1 << 20, &bytes, &length),
                     SPATE_OK);
    assert_non_null(strstr(bytes, "element vertex 98\n"));
    assert_non_null(strstr(bytes, "element face 128\n"));
    assert_non_null(strstr(bytes, "element edge 20\n"));
    give(*state, bytes);
    assert_int_equal(file_read(*state, in_folder("rest/mesh.pvd"), 1 << 20, &bytes, &length),
                     SPATE_OK);
    assert_non_null(
        strstr(bytes, "timestep=\"0.01\" group=\"\" part=\"0\" file=\"mesh_0001.vtp\""));
    give(*state, bytes);
    snprintf(command, sizeof command,
             "p=/usr/bin/python3; test -x $p || p=python3; LD_PRELOAD= $p tests/read_frames.py "
             "'%s' 1 mesh 98 4 128",
             in_folder("rest"));
    const int code = system(command);
    assert_true(code == 0 || code == 77 << 8);
}

/* Particles of a mesh say so; and without files of meshes there are none. */
static void particles_have_roles(void **state) {
    snapshot s;
    char path[PATH_SIZE];
    assert_int_equal(snapshot_load(*state, in_folder("rest/particles_0001.vtp"), &s), SPATE_OK);
    assert_int_equal(s.count, 60 + 20 + 24);
    for (int64_t i = 0; i < s.count; i++) assert_float_equal(value(&s, "role", i, 0), 1, 0);
    snapshot_free(&s);
    assert_true(mesh_beside(*state, in_folder("rest/particles_0001.vtp"), path));
    assert_string_equal(path, in_folder("rest/mesh_0001.vtp"));
    run_3d(*state, "0", "output.meshes=none", in_folder("none"));
    assert_false(mesh_beside(*state, in_folder("none/particles_0001.vtp"), path));
}

/* Strands that fly out through an open side lose what is outside, and nothing else. */
static void what_has_left_is_cut_off(void **state) {
    snapshot s;
    run_3d(*state, "17", NULL, in_folder("fly"));
    assert_int_equal(snapshot_load(*state, in_folder("fly/mesh_0002.vtp"), &s), SPATE_OK);
    int64_t triangles;
    assert_float_equal(volume_of(&s, 0, &triangles), 0.4 * 0.3 * 0.2, 1e-5);
    assert_int_equal(s.line_count, 4);
    const int64_t corners = snapshot_line_end(&s, 3);
    assert_true(corners >= 4 * 2 && corners < 4 * 6 && corners % 4 == 0);
    for (int64_t i = 0; i < corners; i++)
        assert_true(place(&s, snapshot_line_corner(&s, i), 0) <= 2 + 1e-6);
    assert_int_equal(s.count, 74 + corners);
    snapshot_free(&s);
}

/* 6 x 4 squares: 24 times the triangles of one, an outline of 20 sides that encloses its area. */
static void outlines_go_round(void **state) {
    snapshot s;
    double area = 0, inside = 0;
    run_scene(*state, scene_2d, NULL, in_folder("flat"));
    assert_int_equal(snapshot_load(*state, in_folder("flat/mesh_0000.vtp"), &s), SPATE_OK);
    assert_int_equal(s.line_count, 20);
    for (int64_t k = 0; k < s.line_count; k++) {
        const int32_t a = snapshot_line_corner(&s, 2 * k), b = snapshot_line_corner(&s, 2 * k + 1);
        int next = 0;
        assert_int_equal(snapshot_line_end(&s, k), 2 * (k + 1));
        area += (place(&s, a, 0) * place(&s, b, 1) - place(&s, b, 0) * place(&s, a, 1)) / 2;
        for (int64_t i = 0; i < s.line_count; i++) next += snapshot_line_corner(&s, 2 * i) == b;
        assert_int_equal(next, 1);
    }
    assert_float_equal(area, 0.6 * 0.4, 1e-6);
    for (int64_t t = 0; t < s.triangle_count; t++) {
        double x[3][2];
        for (int k = 0; k < 3; k++)
            for (int a = 0; a < 2; a++) x[k][a] = place(&s, snapshot_triangle(&s, t, k), a);
        inside += ((x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) -
                   (x[1][1] - x[0][1]) * (x[2][0] - x[0][0])) /
                  2;
    }
    assert_float_equal(inside, 0.6 * 0.4, 1e-6);
    snapshot_free(&s);
}

/* A file that is cut short, or whose lines are wrong, is told. */
static void damaged_files_are_told(void **state) {
    char *bytes;
    size_t length;
    snapshot s;
    assert_int_equal(file_read(*state, in_folder("rest/mesh_0000.vtp"), 1 << 20, &bytes, &length),
                     SPATE_OK);
    put_bytes(in_folder("short.vtp"), bytes, length - 2000);
    assert_int_equal(snapshot_load(*state, in_folder("short.vtp"), &s), SPATE_BAD_INPUT);
    char *lines = strstr(bytes, "NumberOfLines=\"4\"");
    assert_non_null(lines);
    memcpy(lines, "NumberOfLines=\"5\"", 17);
    put_bytes(in_folder("more.vtp"), bytes, length);
    assert_int_equal(snapshot_load(*state, in_folder("more.vtp"), &s), SPATE_BAD_INPUT);
    give(*state, bytes);
}

/* Every allocation of a frame may fail: it is told, nothing is kept, and no half file is left. */
static void refused_allocations_are_told(void **state) {
    char words[4096];
    const int length = snprintf(words, sizeof words, scene_3d, "0");
    spate_status status = SPATE_OUT_OF_MEMORY;
    for (int turn = 0; status != SPATE_OK; turn++) {
        int left;
        spate_context *ctx = open_counting(&left);
        spate_scene *scene;
        spate_simulation *sim;
        assert_non_null(ctx);
        assert_int_equal(spate_scene_parse(ctx, words, (size_t)length, "s", ".", NULL, 0, &scene),
                         SPATE_OK);
        assert_int_equal(spate_simulation_create(scene, &sim), SPATE_OK);
        const int64_t taken = ctx->blocks_now;
        left = turn;
        status = spate_simulation_write_frame(sim, in_folder("refused"), 0);
        assert_true(status == SPATE_OUT_OF_MEMORY || status == SPATE_OK);
        assert_int_equal(ctx->blocks_now, taken);
        snapshot s;
        if (file_exists(*state, in_folder("refused/mesh_0000.vtp"))) {
            assert_int_equal(snapshot_load(*state, in_folder("refused/mesh_0000.vtp"), &s),
                             SPATE_OK);
            snapshot_free(&s);
        }
        spate_simulation_free(sim);
        spate_scene_free(scene);
        spate_close(ctx);
        assert_true(turn < 2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_all_cells),
        cmocka_unit_test(formats_agree),
        cmocka_unit_test(particles_have_roles),
        cmocka_unit_test(what_has_left_is_cut_off),
        cmocka_unit_test(outlines_go_round),
        cmocka_unit_test(damaged_files_are_told),
        cmocka_unit_test(refused_allocations_are_told),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
