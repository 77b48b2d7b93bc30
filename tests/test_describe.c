/* Describing files: each kind is told by its content, and what is cut short is not taken for whole.
 */
#include <setjmp.h>
#include <spate/spate.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char scene_words[] =
    "spate: 1\nname: small\ndimension: 2\ndomain: {size: [1, 1], dx: 0.125}\n"
    "duration: 0.1\nfps: 50\nsolver: {type: mpm}\n"
    "materials:\n  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
    "bodies:\n  - {name: pool, material: water, shape: {box: {min: [0.25, 0.25], max: [0.5, "
    "0.5]}}}\n"
    "output: {particles: [vtp, ply, bgeo], fields: [stress], checkpoint: 1}\n";

static const char tetrahedron[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"
                                  "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

static spate_context *ctx;
static char base[64], found[4096];

static void collect(const char *words, void *user) {
    (void)user;
    snprintf(found, sizeof found, "%s", words);
}

/* Under a name that says nothing about the content. */
static const char *put(const char *name, const void *bytes, size_t length) {
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", base, name);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, length, f), length);
    fclose(f);
    return path;
}

static size_t get(const char *name, char *bytes, size_t room) {
    char path[128];
    snprintf(path, sizeof path, "%s/run/%s", base, name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t length = fread(bytes, 1, room, f);
    fclose(f);
    return length;
}

static void expect(const char *path, const char *first, const char *second) {
    found[0] = 0;
    spate_status status = spate_describe_file(ctx, path, collect, NULL);
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
    if (!strstr(found, first) || !strstr(found, second)) print_error("%s\n", found);
    assert_non_null(strstr(found, first));
    assert_non_null(strstr(found, second));
}

static int setup(void **state) {
    (void)state;
    spate_scene *scene;
    char folder[128];
    strcpy(base, "/tmp/spate_describe_XXXXXX");
    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%s/run", base);
    assert_int_equal(spate_open(NULL, &ctx), SPATE_OK);
    assert_int_equal(
        spate_scene_parse(ctx, scene_words, strlen(scene_words), "a.yaml", ".", NULL, 0, &scene),
        SPATE_OK);
    spate_run_options o = spate_default_run_options();
    o.folder = folder;
    o.frames = 1;
    assert_int_equal(spate_run(scene, &o, NULL), SPATE_OK);
    spate_scene_free(scene);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    char command[128];
    spate_close(ctx);
    snprintf(command, sizeof command, "rm -r '%s'", base);
    return system(command);
}

static void test_every_kind(void **state) {
    (void)state;
    char folder[128];
    static const struct {
        const char *name, *first, *second;
    } files[] = {
        {"checkpoint.spate", "checkpoint, format 7", "16 particles"},
        {"particles_0001.vtp", "VTK PolyData, 16 particles, t = 0.02", "pscale material stress(6)"},
        {"particles_0001.ply", "PLY points, 16 particles", "x y z vx vy vz id pscale"},
        {"particles_0001.bgeo", "Houdini .bgeo, version 5, 16 particles", "v(3) id pscale"},
        {"run.scene.yaml", "scene 'small', solver mpm, 2D", "16 particles"},
    };
    static char bytes[1 << 20];
    for (int i = 0; i < (int)(sizeof files / sizeof files[0]); i++) {
        size_t length = get(files[i].name, bytes, sizeof bytes);
        expect(put("thing", bytes, length), files[i].first, files[i].second);
    }
    /* a time that no double has exactly */
    size_t length = get("particles_0001.vtp", bytes, sizeof bytes);
    static const char given[] = ">0.02", odd[] = ">0.01999999999999999";
    char *time = strstr(bytes, given), *rest = time + strlen(given);
    assert_non_null(time);
    memmove(time + strlen(odd), rest, length - (size_t)(rest - bytes));
    memcpy(time, odd, strlen(odd));
    expect(put("thing", bytes, length + strlen(odd) - strlen(given)), "t = 0.02 s", "16 particles");
    expect(put("thing", tetrahedron, strlen(tetrahedron)), "4 vertices, 4 triangles, closed",
           "volume 0.166667");
    snprintf(folder, sizeof folder, "%s/run", base);
    expect(folder, "folder of a run", "exit_reason: \"done\"");
}

static void test_cut_files_are_refused(void **state) {
    (void)state;
    static const char *const names[] = {"checkpoint.spate", "particles_0001.vtp",
                                        "particles_0001.bgeo"};
    static char bytes[1 << 20];
    for (int i = 0; i < 3; i++) {
        size_t length = get(names[i], bytes, sizeof bytes);
        for (size_t cut = 0; cut < length - 8; cut += 1 + length / 50)
            assert_int_equal(spate_describe_file(ctx, put("thing", bytes, cut), collect, NULL),
                             SPATE_BAD_INPUT);
    }
}

static void test_other_files_are_refused(void **state) {
    (void)state;
    char missing[128];
    assert_int_equal(spate_describe_file(ctx, put("thing", "just words\n", 11), collect, NULL),
                     SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "thing"));
    assert_int_equal(spate_describe_file(ctx, base, collect, NULL), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(ctx), "run.json"));
    snprintf(missing, sizeof missing, "%s/missing", base);
    assert_int_equal(spate_describe_file(ctx, missing, collect, NULL), SPATE_BAD_INPUT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_cut_files_are_refused),
        cmocka_unit_test(test_other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
