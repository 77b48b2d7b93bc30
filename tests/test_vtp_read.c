/* Frames read back: whole ones give their numbers, damaged ones a message, never a crash. */
#include "pictures.h"

#include "core/random.h"
#include "frames/vtp_read.h"

enum { COUNT = 5, ROOM = 4096 };

static size_t sample(char *out) {
    float x[COUNT][3], v[COUNT][3];
    uint32_t material[COUNT];
    for (int i = 0; i < COUNT; i++) {
        for (int a = 0; a < 3; a++) x[i][a] = (float)(10 * i + a), v[i][a] = -(float)(i + a);
        material[i] = (uint32_t)i;
    }
    return make_frame(out, ROOM, COUNT, x, v, 0.25f, material, NULL, 1.5);
}

/* Reads a copy, which the reader takes over. */
static spate_status read_copy(spate_context *ctx, const char *bytes, size_t length, snapshot *s) {
    char *copy = take(ctx, length + 1, 1);
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    return snapshot_read(ctx, "particles_0001.vtp", copy, length, s);
}

static void numbers_come_back(void **state) {
    char bytes[ROOM];
    snapshot s;
    assert_int_equal(read_copy(*state, bytes, sample(bytes), &s), SPATE_OK);
    assert_int_equal(s.count, COUNT);
    assert_true(s.time == 1.5);
    assert_int_equal(s.array_count, 4);
    const snapshot_array *v = snapshot_find(&s, "v"), *m = snapshot_find(&s, "material");
    assert_non_null(v);
    assert_non_null(m);
    assert_null(snapshot_find(&s, "pscal"));
    for (int i = 0; i < COUNT; i++) {
        assert_true(snapshot_value(&s.arrays[0], i, 2) == 10 * i + 2);
        assert_true(snapshot_value(v, i, 1) == -(i + 1));
        assert_true(snapshot_value(m, i, 0) == i);
        assert_true(snapshot_value(snapshot_find(&s, "pscale"), i, 0) == 0.25);
    }
    snapshot_free(&s);
}

static void cut_files_are_refused(void **state) {
    spate_context *ctx = *state;
    char bytes[ROOM];
    size_t length = sample(bytes);
    int64_t blocks = ctx->blocks_now;
    const char *tail = "\n</AppendedData>\n</VTKFile>\n";
    for (size_t cut = 0; cut < length - strlen(tail); cut += 7) {
        snapshot s;
        assert_int_equal(read_copy(ctx, bytes, cut, &s), SPATE_BAD_INPUT);
        assert_non_null(strstr(spate_message(ctx), "particles_0001.vtp"));
        assert_int_equal(ctx->blocks_now, blocks);
    }
}

/* Single wrong bytes: refused or read, but never beyond the file (the sanitizers watch). */
static void wrong_bytes_are_survived(void **state) {
    spate_context *ctx = *state;
    char bytes[ROOM];
    for (uint64_t k = 0; k < 3000; k++) {
        size_t length = sample(bytes), at = random_bits(1, k, 0) % length;
        bytes[at] = (char)random_bits(1, k, 1);
        snapshot s;
        if (read_copy(ctx, bytes, length, &s) != SPATE_OK) continue;
        double sum = 0;
        for (int a = 0; a < s.array_count; a++)
            for (int64_t i = 0; i < s.count; i++)
                sum += snapshot_value(&s.arrays[a], i, s.arrays[a].components - 1);
        (void)sum;
        snapshot_free(&s);
    }
}

static void replace(char *bytes, const char *from, const char *to) {
    char *c = strstr(bytes, from);
    assert_non_null(c);
    assert_int_equal(strlen(from), strlen(to));
    memcpy(c, to, strlen(to));
}

static void lies_are_refused(void **state) {
    static const char *const lies[][2] = {
        {"NumberOfPoints=\"5\"", "NumberOfPoints=\"6\""},
        {"offset=\"68\"", "offset=\"99\""},
        {"offset=\"68\"", "offset=\"-8\""},
        {"LittleEndian", "MiddleEndian"},
        {"\"UInt64\"", "\"UInt32\""},
        {"Float32", "Float31"},
        {"PolyData", "PolyDada"},
        {"Components=\"3\"", "Components=\"4\""},
        {"format=\"appended\"", "format=\"asciiiii\""},
        {"Components=\"1\"", "Components=\"0\""},
    };
    for (int i = 0; i < COUNT_OF(lies); i++) {
        char bytes[ROOM];
        size_t length = sample(bytes);
        snapshot s;
        replace(bytes, lies[i][0], lies[i][1]);
        assert_int_equal(read_copy(*state, bytes, length, &s), SPATE_BAD_INPUT);
    }
}

/* Files of tests/fuzz/corpus: a tetrahedron, and one of whose triangles has a corner that is not
 * there. */
static void surfaces_have_triangles(void **state) {
    snapshot s;
    int32_t corner;
    assert_int_equal(snapshot_load(*state, "tests/fuzz/corpus/vtp/surface.vtp", &s), SPATE_OK);
    assert_int_equal(s.count, 4);
    assert_int_equal(s.triangle_count, 4);
    memcpy(&corner, s.triangles + 11 * sizeof corner, sizeof corner);
    assert_int_equal(corner, 3);
    snapshot_free(&s);
    assert_int_equal(snapshot_load(*state, "tests/fuzz/corpus/vtp/surface_corner.vtp", &s),
                     SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(*state), "a cell without a corner"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_come_back),        cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(wrong_bytes_are_survived), cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(surfaces_have_triangles),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
