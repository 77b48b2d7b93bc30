/* Surface files: what a run writes is a closed mesh that our own reader takes, as PLY and as OBJ.
 * */
#include "pictures.h"

#include "core/file.h"
#include "frames/surface_frame.h"
#include "frames/surface_read.h"
#include "scene/mesh.h"

static const char scene_text[] =
    "spate: 1\nname: pool\ndomain: {origin: [3, 0, 0], size: [1, 1, 1], dx: 0.1}\n"
    "duration: 0.02\nfps: 100\n"
    "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
    "  jelly: {model: neo_hookean, density: 1000, young_modulus: 1.0e4, poisson: 0.3}\n"
    "bodies:\n"
    "  - {material: water, shape: {box: {min: [3, 0, 0], max: [4, 0.4, 1]}}}\n"
    "  - {material: jelly, shape: {box: {min: [3.3, 0.6, 0.3], max: [3.7, 0.9, 0.7]}}}\n";

static spate_scene *parse(spate_context *ctx, const char *set) {
    spate_scene *scene = NULL;
    spate_status status = spate_scene_parse(ctx, scene_text, strlen(scene_text), "pool", ".", &set,
                                            set ? 1 : 0, &scene);
    return status == SPATE_OK ? scene : NULL;
}

static void run_with(spate_context *ctx, const char *set, const char *into) {
    spate_scene *scene = parse(ctx, set);
    assert_non_null(scene);
    spate_run_options options = spate_default_run_options();
    options.folder = into, options.frames = 1;
    assert_int_equal(spate_run(scene, &options, NULL), SPATE_OK);
    spate_scene_free(scene);
}

/* Only the liquid has a surface: 1 x 0.4 x 1. */
static void files_are_closed_meshes(void **state) {
    static const char *const kinds[] = {"ply", "obj"};
    for (int k = 0; k < 2; k++) {
        char set[64], name[64], path[PATH_SIZE];
        snprintf(set, sizeof set, "output.surface=%s", kinds[k]);
        snprintf(name, sizeof name, "run_%s", kinds[k]);
        run_with(*state, set, in_folder(name));
        for (int frame = 0; frame <= 1; frame++) {
            snprintf(path, sizeof path, "%s/surface_%04d.%s", in_folder(name), frame, kinds[k]);
            arena a = arena_create(*state);
            mesh *m;
            assert_int_equal(mesh_load(&a, path, &m), SPATE_OK);
            assert_int_equal(m->state, MESH_CLOSED);
            assert_true(fabs(m->volume / 0.4 - 1) < 0.02);
            assert_true(fabs(m->min[0] - 3) < 1e-6 && fabs(m->max[0] - 4) < 1e-6);
            assert_true(fabs(m->max[1] - 0.4) < 0.02);
            arena_free(&a);
        }
    }
}

static void surfaces_are_found_beside_frames(void **state) {
    spate_scene *with = parse(*state, "output.surface=ply"), *without = parse(*state, NULL);
    char path[PATH_SIZE];
    assert_true(surface_is_wanted(with) && !surface_is_wanted(without));
    assert_true(surface_beside(*state, in_folder("run_ply/particles_0001.vtp"), path));
    assert_string_equal(path, in_folder("run_ply/surface_0001.ply"));
    assert_false(surface_beside(*state, in_folder("run_ply/particles_0009.vtp"), path));
    assert_false(surface_beside(*state, in_folder("run_ply/something.vtp"), path));
    assert_true(surface_beside(*state, in_folder("run_ply/surface_0001.obj"), path));
    assert_string_equal(path, in_folder("run_ply/surface_0001.obj"));
    spate_scene_free(with);
    spate_scene_free(without);
}

/* A picture with the mesh shows the pool where one without it does. */
static void pictures_use_it(void **state) {
    run_with(*state, "name=plain", in_folder("run_plain"));
    static const char *const runs[] = {"run_ply", "run_plain"};
    pixels shown[2];
    spate_render_options options = spate_default_render_options();
    options.width = 240, options.height = 180, options.film = false, options.first = 1;
    for (int k = 0; k < 2; k++) {
        char path[256];
        assert_int_equal(spate_render(*state, in_folder(runs[k]), &options), SPATE_OK);
        snprintf(path, sizeof path, "%s/pictures/frame_0001.png", in_folder(runs[k]));
        shown[k] = read_png(path);
        assert_non_null(shown[k].rgb);
    }
    int64_t apart = 0, count = 3 * 240 * 180;
    for (int64_t i = 0; i < count; i++) apart += abs(shown[0].rgb[i] - shown[1].rgb[i]);
    assert_true((double)apart / (double)count < 8);
    /* Without triangles there is nothing to use, and no harm done; what is damaged is told. */
    static const char empty[] = "ply\nformat binary_little_endian 1.0\nelement vertex 0\n"
                                "property float x\nproperty float y\nproperty float z\n"
                                "element face 0\nproperty list uchar int vertex_indices\n"
                                "end_header\n";
    put_bytes(in_folder("run_ply/surface_0001.ply"), empty, strlen(empty));
    assert_int_equal(spate_render(*state, in_folder("run_ply"), &options), SPATE_OK);
    put_bytes(in_folder("run_ply/surface_0001.ply"), empty, 70);
    assert_int_equal(spate_render(*state, in_folder("run_ply"), &options), SPATE_BAD_INPUT);
    free(shown[0].rgb);
    free(shown[1].rgb);
}

static void scenes_without_one_are_told(void **state) {
    spate_context *ctx = *state;
    assert_null(parse(ctx, "output.surface=stl"));
    assert_null(parse(ctx, "output.surface_resolution=9"));
    assert_null(parse(ctx, "output.surface_method=round"));
    static const char flat[] = "spate: 1\ndimension: 2\ndomain: {size: [1, 1], dx: 0.1}\n"
                               "materials: {water: {model: liquid}}\n"
                               "bodies: [{material: water, shape: {box: {min: [0, 0], max: [1, "
                               "0.5]}}}]\noutput: {surface: ply}\n";
    spate_scene *scene;
    assert_int_equal(spate_scene_parse(ctx, flat, strlen(flat), "flat", ".", NULL, 0, &scene),
                     SPATE_OK);
    spate_scene_free(scene);
    static const char dry[] =
        "spate: 1\ndomain: {size: [1, 1, 1], dx: 0.1}\n"
        "materials: {jelly: {model: neo_hookean, young_modulus: 1.0e4, poisson: 0.3}}\n"
        "bodies: [{material: jelly, shape: {box: {min: [0, 0, 0], max: [1, "
        "0.5, 1]}}}]\noutput: {surface: ply}\n";
    assert_int_equal(spate_scene_parse(ctx, dry, strlen(dry), "dry", ".", NULL, 0, &scene),
                     SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "is a liquid"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_closed_meshes),
        cmocka_unit_test(surfaces_are_found_beside_frames),
        cmocka_unit_test(pictures_use_it),
        cmocka_unit_test(scenes_without_one_are_told),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
