/*
 * Frames read back by readers of their own, written from the formats' descriptions: every attribute
 * of every particle must be found again in .vtp, .ply and .bgeo. read_frames.py does the same with
 * VTK where it is installed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "frames/frames.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char scene_words[] =
    "spate: 1\nname: \"drop & <splash>\"\ndimension: 3\ndomain: {size: [1, 1, 1], dx: 0.125}\n"
    "duration: 1\nsolver: {type: mpm}\n"
    "materials:\n"
    "  water: {model: liquid, density: 1000, bulk_modulus: 1.0e4}\n"
    "  jelly: {model: neo_hookean, density: 900, young_modulus: 1.0e4, poisson: 0.3}\n"
    "bodies:\n"
    "  - {name: a, material: jelly, shape: {box: {min: [0.5, 0.25, 0.25], max: [0.75, 0.5, 0.5]}},"
    " spin: [1, 2, 3]}\n"
    "  - {name: b, material: water, shape: {box: {min: [0.125, 0.25, 0.25], max: [0.375, 0.5, "
    "0.5]}}}\n"
    "output: {particles: [vtp, ply, bgeo], fields: [J, density, pressure, stress, C, group, id]}\n";

static const char *const names[] = {"P",       "v",        "id",     "pscale", "material", "J",
                                    "density", "pressure", "stress", "C",      "group"};

typedef struct fixture {
    spate_context *ctx;
    spate_scene *scene;
    spate_simulation *sim;
    char folder[64];
    int64_t count;
    double *values[COUNT_OF(names)]; /* what the files must hold */
    int components[COUNT_OF(names)];
} fixture;

static void expect_ok(const spate_context *ctx, spate_status status) {
    if (status) print_error("%s\n", spate_message(ctx));
    assert_int_equal(status, SPATE_OK);
}

static int setup(void **state) {
    static fixture f;
    memset(&f, 0, sizeof f);
    expect_ok(NULL, spate_open(NULL, &f.ctx));
    expect_ok(f.ctx, spate_scene_parse(f.ctx, scene_words, strlen(scene_words), "test.yaml", ".",
                                       NULL, 0, &f.scene));
    expect_ok(f.ctx, spate_simulation_create(f.scene, &f.sim));
    for (int i = 0; i < 3; i++) expect_ok(f.ctx, spate_simulation_step(f.sim, 1));
    for (int i = 0; i < COUNT_OF(names); i++) {
        expect_ok(f.ctx,
                  spate_simulation_attribute(f.sim, names[i], NULL, &f.components[i], &f.count));
        f.values[i] = malloc(sizeof(double) * (size_t)(f.count * f.components[i]));
        expect_ok(f.ctx, spate_simulation_attribute(f.sim, names[i], f.values[i], NULL, NULL));
    }
    strcpy(f.folder, "/tmp/spate_frames_XXXXXX");
    assert_non_null(mkdtemp(f.folder));
    *state = &f;
    return 0;
}

static int teardown(void **state) {
    fixture *f = *state;
    char command[128];
    for (int i = 0; i < COUNT_OF(names); i++) free(f->values[i]);
    spate_simulation_free(f->sim);
    spate_scene_free(f->scene);
    spate_close(f->ctx);
    snprintf(command, sizeof command, "rm -r '%s'", f->folder);
    return system(command);
}

/* Writes the frame with one of the writers and gives the file's bytes, to be freed. */
static char *write_frame(fixture *f, int format, size_t *length) {
    char path[128], name[FRAME_NAME_SIZE], *bytes;
    particle_frame frame;
    frame_name(name, 3, frame_formats[format].extension);
    snprintf(path, sizeof path, "%s/%s", f->folder, name);
    expect_ok(f->ctx, frame_create(f->sim, &frame));
    assert_int_equal(frame.array_count, COUNT_OF(names)); /* id is always there: not twice */
    expect_ok(f->ctx, frame_formats[format].write(f->ctx, &frame, path));
    frame_free(&frame);
    expect_ok(f->ctx, file_read(f->ctx, path, 1 << 24, &bytes, length));
    return bytes;
}

/* Files hold the build's precision, .bgeo floats. */
static void expect_near(double found, double wanted, bool single) {
    double scale = fabs(wanted) * (single || sizeof(real) == 4 ? 1e-6 : 1e-15);
    assert_true(fabs(found - wanted) <= scale);
}

/* ---- .vtp ---- */

static double vtp_value(const char *data, const char *type, int64_t i) {
    if (!strncmp(type, "Float32", 7)) {
        float s;
        memcpy(&s, data + 4 * i, 4);
        return (double)s;
    }
    if (!strncmp(type, "Float64", 7)) {
        double d;
        memcpy(&d, data + 8 * i, 8);
        return d;
    }
    if (!strncmp(type, "UInt32", 6)) {
        uint32_t u;
        memcpy(&u, data + 4 * i, 4);
        return u;
    }
    int64_t n;
    assert_memory_equal(type, "Int64", 5);
    memcpy(&n, data + 8 * i, 8);
    return (double)n;
}

/* Finds a declared array and checks its length against the data's own. */
static const char *find_array(const char *bytes, const char *appended, const char *name,
                              const char **type, uint64_t *length) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "Name=\"%s\"", name);
    const char *at = strstr(bytes, wanted);
    assert_non_null(at);
    const char *tag = at;
    while (*tag != '<') tag--;
    *type = strstr(tag, "type=\"") + 6;
    const char *offset = strstr(at, "offset=\"") + 8;
    const char *data = appended + strtoull(offset, NULL, 10);
    memcpy(length, data, 8);
    return data + 8;
}

static void test_vtp(void **state) {
    fixture *f = *state;
    size_t length;
    char *bytes = write_frame(f, 0, &length);
    const char *appended = strstr(bytes, "<AppendedData encoding=\"raw\">"), *type;
    assert_non_null(appended);
    appended = strchr(appended, '_') + 1;
    assert_non_null(strstr(bytes, "header_type=\"UInt64\""));
    assert_memory_equal(bytes + length - 11, "</VTKFile>\n", 11);
    uint64_t size, total = 0;
    for (int k = 0; k < COUNT_OF(names); k++) {
        const char *data = find_array(bytes, appended, names[k], &type, &size);
        const uint64_t element = type[0] == 'F' ? sizeof(real) : 4;
        assert_int_equal(size, element * (uint64_t)(f->count * f->components[k]));
        total += 8 + size;
        for (int64_t i = 0; i < f->count * f->components[k]; i++)
            expect_near(vtp_value(data, type, i), f->values[k][i], false);
    }
    const char *points = find_array(bytes, appended, "connectivity", &type, &size);
    assert_int_equal(size, 8 * f->count);
    assert_float_equal(vtp_value(points, type, f->count - 1), (double)(f->count - 1), 0);
    const char *ends = find_array(bytes, appended, "offsets", &type, &size);
    assert_float_equal(vtp_value(ends, type, 0), 1, 0);
    assert_float_equal(vtp_value(ends, type, f->count - 1), (double)f->count, 0);
    /* Nothing is between the last array and the closing tags. */
    total += 2 * (8 + size);
    assert_memory_equal(appended + total, "\n</AppendedData>", 16);
    give(f->ctx, bytes);
}

/* ---- .ply ---- */

static void test_ply(void **state) {
    fixture *f = *state;
    size_t length;
    char *bytes = write_frame(f, 1, &length), expected[64];
    snprintf(expected, sizeof expected, "element vertex %lld\n", (long long)f->count);
    assert_memory_equal(bytes, "ply\nformat binary_little_endian 1.0\n", 36);
    assert_non_null(strstr(bytes, expected));
    const char *data = strstr(bytes, "end_header\n") + 11;
    /* The properties come in the order of the attributes. */
    static const char *const some[] = {" x\n",  " y\n",    " z\n",    " vx\n",
                                       " vy\n", " vz\n",   " id\n",   " pscale\n",
                                       " J\n",  " C_xx\n", " C_zy\n", " group\n"};
    const char *cursor = bytes;
    for (int i = 0; i < COUNT_OF(some); i++) assert_non_null(cursor = strstr(cursor, some[i]));
    for (int64_t i = 0; i < f->count; i++)
        for (int k = 0; k < COUNT_OF(names); k++)
            for (int c = 0; c < f->components[k]; c++) {
                const bool whole = attribute_find(names[k])->type == ATTRIBUTE_WHOLE;
                const char *kind = whole ? "UInt32" : sizeof(real) == 4 ? "Float32" : "Float64";
                expect_near(vtp_value(data, kind, 0), f->values[k][i * f->components[k] + c],
                            false);
                data += whole ? 4 : sizeof(real);
            }
    assert_ptr_equal(data, bytes + length);
    give(f->ctx, bytes);
}

/* ---- .bgeo ---- */

static uint32_t big(const char *p) {
    const unsigned char *u = (const unsigned char *)p;
    return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

static void test_bgeo(void **state) {
    fixture *f = *state;
    size_t length;
    char *bytes = write_frame(f, 2, &length);
    assert_memory_equal(bytes, "BgeoV\0\0\0\5", 9);
    assert_int_equal(big(bytes + 9), f->count);
    assert_int_equal(big(bytes + 13), 0);
    assert_int_equal(big(bytes + 25), COUNT_OF(names) - 1);
    const char *at = bytes + 41;
    for (int k = 1; k < COUNT_OF(names); k++) {
        size_t name = (size_t)(unsigned char)at[1];
        assert_int_equal(name, strlen(names[k]));
        assert_memory_equal(at + 2, names[k], name);
        at += 2 + name;
        assert_int_equal(at[1], f->components[k]);
        uint32_t kind = big(at + 2);
        bool whole = attribute_find(names[k])->type == ATTRIBUTE_WHOLE;
        assert_int_equal(kind, whole ? 1 : f->components[k] == 3 ? 5 : 0);
        at += 6 + 4 * f->components[k];
    }
    for (int64_t i = 0; i < f->count; i++)
        for (int k = 0; k < COUNT_OF(names); k++) {
            for (int c = 0; c < f->components[k]; c++, at += 4) {
                uint32_t bits = big(at);
                float value;
                memcpy(&value, &bits, 4);
                bool whole = attribute_find(names[k])->type == ATTRIBUTE_WHOLE;
                expect_near(whole ? bits : (double)value, f->values[k][i * f->components[k] + c],
                            true);
            }
            if (k > 0) continue;
            assert_int_equal(big(at), 0x3f800000); /* w = 1 */
            at += 4;
        }
    assert_memory_equal(at, "\0\377", 2);
    assert_ptr_equal(at + 2, bytes + length);
    give(f->ctx, bytes);
}

/* ---- With readers that are not ours ---- */

static void dump_json(fixture *f) {
    char path[128];
    snprintf(path, sizeof path, "%s/frame.json", f->folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out,
            "{\"time\": %.17g, \"scene\": \"drop & <splash>\", \"count\": %lld, \"attributes\": {",
            f->sim->time, (long long)f->count);
    for (int k = 0; k < COUNT_OF(names); k++) {
        fprintf(out, "%s\"%s\": {\"components\": %d, \"values\": [", k ? ", " : "", names[k],
                f->components[k]);
        for (int64_t i = 0; i < f->count * f->components[k]; i++)
            fprintf(out, "%s%.17g", i ? "," : "", f->values[k][i]);
        fprintf(out, "]}");
    }
    fprintf(out, "}}\n");
    assert_int_equal(fclose(out), 0);
}

static void test_other_readers(void **state) {
    fixture *f = *state;
    char command[256];
    size_t length;
    for (int i = 0; i < FRAME_FORMATS; i++) give(f->ctx, write_frame(f, i, &length));
    dump_json(f);
    /* VTK's Python module usually belongs to the system's own python3. */
    snprintf(
        command, sizeof command,
        "p=/usr/bin/python3; test -x $p || p=python3; LD_PRELOAD= $p tests/read_frames.py '%s' 3",
        f->folder);
    int code = WEXITSTATUS(system(command));
    if (code == 77 || code == 127) skip();
    assert_int_equal(code, 0);
}

/* ---- The list of frames ---- */

static void test_pvd(void **state) {
    fixture *f = *state;
    char path[128], *bytes;
    size_t length;
    text lines = {.ctx = f->ctx};
    snprintf(path, sizeof path, "%s/particles.pvd", f->folder);
    pvd_add(&lines, 0, "particles_0000.vtp");
    pvd_add(&lines, 0.02, "particles_0001.vtp");
    expect_ok(f->ctx, pvd_write(f->ctx, &lines, path));
    expect_ok(f->ctx, file_read(f->ctx, path, 1 << 16, &bytes, &length));
    assert_non_null(strstr(bytes, "<VTKFile type=\"Collection\""));
    assert_non_null(
        strstr(bytes, "timestep=\"0.02\" group=\"\" part=\"0\" file=\"particles_0001.vtp\""));
    text_free(&lines);
    give(f->ctx, bytes);
}

/* Nothing that is not finite reaches a file, whichever attribute it is in. */
static void test_not_finite_is_not_written(void **state) {
    fixture *f = *state;
    static const real wrong[] = {(real)NAN, (real)INFINITY, (real)-INFINITY};
    particle_frame frame;
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        real *v = &f->sim->particles.velocity[5][1], before = *v;
        *v = wrong[i];
        assert_int_equal(frame_create(f->sim, &frame), SPATE_UNSTABLE);
        *v = before;
        assert_non_null(strstr(spate_message(f->ctx), "test.yaml: step 3"));
        assert_non_null(strstr(spate_message(f->ctx), "the attribute 'v' is not a finite number"));
    }
    expect_ok(f->ctx, frame_create(f->sim, &frame));
    frame_free(&frame);
}

static void test_frame_without_particles(void **state) {
    fixture *f = *state;
    size_t length;
    for (int64_t i = 0; i < f->sim->particles.count; i++)
        f->sim->particles.group[i] = GROUP_REMOVED;
    for (int k = 0; k < FRAME_FORMATS; k++) {
        char path[128];
        particle_frame empty;
        char *bytes;
        snprintf(path, sizeof path, "%s/empty.%s", f->folder, frame_formats[k].extension);
        expect_ok(f->ctx, frame_create(f->sim, &empty));
        assert_int_equal(empty.count, 0);
        expect_ok(f->ctx, frame_formats[k].write(f->ctx, &empty, path));
        frame_free(&empty);
        expect_ok(f->ctx, file_read(f->ctx, path, 1 << 20, &bytes, &length));
        assert_true(length > 50);
        give(f->ctx, bytes);
    }
}

/* Whose colour a particle has must be known where bodies have colours of their own, and only
 * there. */
static void test_groups_of_coloured_bodies(void **state) {
    fixture *f = *state;
    for (int k = 0; k < 3; k++) {
        static const char *const more[] = {"bodies.0.color=red", "materials.water.color=red"};
        const char *const sets[] = {"output.fields=[]", more[k > 1]};
        spate_scene *scene;
        spate_simulation *sim;
        particle_frame frame;
        expect_ok(f->ctx, spate_scene_parse(f->ctx, scene_words, strlen(scene_words), "test.yaml",
                                            ".", sets, k ? 2 : 1, &scene));
        expect_ok(f->ctx, spate_simulation_create(scene, &sim));
        expect_ok(f->ctx, frame_create(sim, &frame));
        bool there = false;
        for (int i = 0; i < frame.array_count; i++)
            there |= strcmp(frame.arrays[i].attribute->name, "group") == 0;
        assert_true(there == (k == 1));
        frame_free(&frame);
        spate_simulation_free(sim);
        spate_scene_free(scene);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vtp),
        cmocka_unit_test(test_ply),
        cmocka_unit_test(test_bgeo),
        cmocka_unit_test(test_pvd),
        cmocka_unit_test(test_other_readers),
        cmocka_unit_test(test_not_finite_is_not_written),
        cmocka_unit_test(test_frame_without_particles),
        cmocka_unit_test(test_groups_of_coloured_bodies),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
