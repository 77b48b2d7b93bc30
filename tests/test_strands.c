/*
 * Strands of scenes: roots that keep their distance, brushes in tufts, hair on a sphere and on a
 * mesh, combed around it, curls, lines of files, and what of these is refused.
 */
#include "core/random.h"
#include "core/vec.h"
#include "scene/roots.h"
#include "scene/strands.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "with_arena.h"

static double distance(const double a[3], const double b[3]) {
    double d[3];
    vec_sub(d, a, b);
    return vec_length(d);
}

static double least_distance(const double (*x)[3], int64_t count) {
    double least = HUGE_VAL;
    for (int64_t i = 0; i < count; i++)
        for (int64_t k = 0; k < i; k++) least = fmin(least, distance(x[i], x[k]));
    return least;
}

static mesh_body grow_hair(fixture *f, const strands_fields *g, const hair_fields *h,
                           uint64_t seed) {
    mesh_body m;
    assert_int_equal(mesh_of_hair(&f->arena, g, h, seed, &m), SPATE_OK);
    return m;
}

static shape *ball(fixture *f, double radius) {
    shape *s = shape_create(&f->arena, SHAPE_SPHERE);
    vec_set(s->a, 0.2, -0.1, 0.4);
    s->radius = radius;
    return s;
}

/* ---- Roots ----------------------------------------------------------------------------------- */

/* Blue noise: exactly as many as wanted, none nearer than .6 of the closest packing's distance, and
 * as many in every quarter; random points as a control. */
static void roots_keep_their_distance(void **state) {
    fixture *f = *state;
    enum { COUNT = 3000 };
    static double roots[COUNT][3], again[COUNT][3];
    const double corner[3] = {1, 2, 3}, along[3] = {2, 0, 0}, across[3] = {0.5, 0, 1.5};
    root_surface flat;
    assert_int_equal(root_surface_flat(f->ctx, corner, along, across, &flat), SPATE_OK);
    const double area = root_surface_area(&flat, NULL, 1);
    assert_near(area, 3, 1e-12);
    assert_int_equal(roots_spread(f->ctx, &flat, NULL, area, 7, COUNT, roots), SPATE_OK);
    const double packed = sqrt(2 / sqrt(3) * area / COUNT);
    const double least = least_distance((const double(*)[3])roots, COUNT) / packed;
    print_message("least distance %.3f of the closest packing\n", least);
    assert_true(least > 0.6);
    int quarter[4] = {0};
    for (int i = 0; i < COUNT; i++) {
        const double v = (roots[i][2] - 3) / 1.5, u = (roots[i][0] - 1 - 0.5 * v) / 2;
        assert_true(u >= 0 && u <= 1 && v >= 0 && v <= 1 && roots[i][1] == 2);
        quarter[(u > 0.5) + 2 * (v > 0.5)]++;
    }
    for (int q = 0; q < 4; q++) assert_near(quarter[q], COUNT / 4.0, 0.03 * COUNT / 4);
    assert_int_equal(roots_spread(f->ctx, &flat, NULL, area, 7, COUNT, again), SPATE_OK);
    assert_memory_equal(roots, again, sizeof roots);
    assert_int_equal(roots_spread(f->ctx, &flat, NULL, area, 8, COUNT, again), SPATE_OK);
    assert_true(memcmp(roots, again, sizeof roots) != 0);
    for (int i = 0; i < COUNT; i++)
        for (int a = 0; a < 3; a++)
            again[i][a] = a == 1 ? 0 : random_unit(3, (uint64_t)i, (uint64_t)a);
    assert_true(least_distance((const double(*)[3])again, COUNT) < 0.1 / sqrt(COUNT));
    root_surface_free(f->ctx, &flat);
    /* none beyond the long side of a triangle */
    double triangle[1][3][3] = {{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}}}, half = 0.5;
    const root_surface one = {1, triangle, &half};
    assert_int_equal(roots_spread(f->ctx, &one, NULL, half, 1, 300, again), SPATE_OK);
    for (int i = 0; i < 300; i++) assert_true(again[i][0] + again[i][2] <= 1);
}

/* ---- Brushes --------------------------------------------------------------------------------- */

static void a_brush_has_its_tufts(void **state) {
    fixture *f = *state;
    mesh_body m;
    const strands_fields g = {.spacing = 0.25, .radius = 0.01};
    brush_fields b = {.along = {4, 0, 0},
                      .across = {0, 0, 3},
                      .direction = {0, -2, 0},
                      .count = 600,
                      .tufts = 12,
                      .tuft_radius = 0.2,
                      .spread = 0.1,
                      .vary = 0.3};
    assert_int_equal(mesh_of_brush(&f->arena, &g, &b, 5, &m), SPATE_OK);
    assert_int_equal(m.strand_count, 600);
    assert_int_equal(m.vertex_count, 600 * 9);
    assert_near(m.spacing, 0.7 * 0.25, 1e-12);
    double shortest = 2, longest = 0, leant = 0;
    for (int s = 0; s < 600; s++) {
        const double(*x)[3] = (const double(*)[3])m.vertices + m.strand_first[s];
        const int first = s / 50 * 50; /* of its tuft */
        assert_true(distance(x[0], m.vertices[m.strand_first[first]]) <= 0.4);
        const double length = distance(x[0], x[8]);
        shortest = fmin(shortest, length), longest = fmax(longest, length);
        leant = fmax(leant, acos((x[0][1] - x[8][1]) / length));
        for (int k = 1; k < 9; k++) assert_near(distance(x[k], x[k - 1]), length / 8, 1e-12);
    }
    assert_true(shortest > 1.4 && shortest < 1.42 && longest > 1.98 && longest <= 2);
    assert_true(leant > 0.09 && leant <= 0.1 + 1e-9);
    b = (brush_fields){
        .along = {1, 0, 0}, .across = {0, 0, 1}, .direction = {0, -2, 0}, .count = 100};
    assert_int_equal(mesh_of_brush(&f->arena, &g, &b, 5, &m), SPATE_OK);
    for (int s = 0; s < 100; s++) assert_near(m.vertices[9 * s + 8][1], -2, 1e-14);
}

/* ---- Hair ------------------------------------------------------------------------------------ */

/* Along the normals of a sphere: vertex k is at R + k h, over its root. */
static void hair_stands_on_a_sphere(void **state) {
    fixture *f = *state;
    const strands_fields g = {.spacing = 0.1, .radius = 0.01};
    hair_fields h = {.on = ball(f, 1), .count = 2000, .length = 0.5};
    const mesh_body m = grow_hair(f, &g, &h, 3);
    assert_int_equal(m.strand_count, 2000);
    assert_int_equal(m.vertex_count, 2000 * 6);
    double roots[2000][3], mean[3] = {0};
    for (int s = 0; s < 2000; s++) {
        double n[3];
        vec_copy(roots[s], m.vertices[6 * s]);
        vec_sub(n, roots[s], h.on->a);
        assert_near(vec_length(n), 1, 1e-12);
        for (int k = 1; k < 6; k++) {
            double x[3];
            vec_add_scaled(x, h.on->a, 1 + 0.1 * k, n);
            assert_near(distance(x, m.vertices[6 * s + k]), 0, 1e-9);
        }
        vec_add_scaled(mean, mean, 1 / 2000.0, n);
    }
    assert_true(vec_length(mean) < 0.01); /* none side has more */
    assert_true(least_distance((const double(*)[3])roots, 2000) >
                0.55 * sqrt(2 / sqrt(3) * 4 * PI / 2000));
    h.within = shape_create(&f->arena, SHAPE_BOX);
    vec_set(h.within->a, -5, -0.1, -5), vec_set(h.within->b, 5, 5, 5);
    h.count = 0, h.density = 100;
    const mesh_body half = grow_hair(f, &g, &h, 3);
    assert_near((double)half.strand_count, 100 * 2 * PI, 8);
    for (int64_t s = 0; s < half.strand_count; s++)
        assert_true(half.vertices[half.strand_first[s]][1] > -0.11);
    vec_set(h.within->a, 3, 3, 3);
    assert_int_equal(grow_hair(f, &g, &h, 3).vertex_count, 0);
}

/* Combed down, it goes round the sphere, not through; every segment keeps its length. Through it
 * would go without the gap. */
static void combed_hair_goes_round(void **state) {
    fixture *f = *state;
    const strands_fields g = {.spacing = 0.1, .radius = 0.01};
    hair_fields h = {.on = ball(f, 1),
                     .count = 300,
                     .length = 1.5,
                     .direction = {0, -3, 0},
                     .lean = 0.1,
                     .comb = 0.9,
                     .gap = 0.03};
    int deep[2] = {0};
    for (int k = 0; k < 2; k++) {
        if (k) h.gap = -HUGE_VAL;
        const mesh_body m = grow_hair(f, &g, &h, 3);
        for (int64_t s = 0; s < m.strand_count; s++)
            for (int64_t v = m.strand_first[s] + 1; v < m.strand_first[s + 1]; v++) {
                deep[k] += shape_distance(h.on, 3, m.vertices[v]) < 0.005;
                assert_near(distance(m.vertices[v], m.vertices[v - 1]), 0.1, 1e-12);
            }
    }
    assert_int_equal(deep[0], 0);
    print_message("%d vertices inside without the gap\n", deep[1]);
    assert_true(deep[1] > 20);
}

/* A helix: all vertices as far from its axis, which goes through a point at the curl's radius from
 * the root; strands begin at angles of their own. */
static void hair_curls(void **state) {
    fixture *f = *state;
    const strands_fields g = {
        .spacing = 0.05, .radius = 0.01, .curl_radius = 0.07, .curl_length = 0.4};
    const hair_fields h = {.on = ball(f, 1), .count = 200, .length = 1};
    const mesh_body m = grow_hair(f, &g, &h, 9);
    for (int64_t s = 0; s < m.strand_count; s++) {
        const double(*x)[3] = (const double(*)[3])m.vertices + m.strand_first[s];
        double n[3], middle[3] = {0}, across[3];
        vec_sub(n, x[0], h.on->a);
        for (int k = 0; k < 8; k++) /* a turn has eight segments */
            vec_add_scaled(middle, middle, 1 / 8.0, x[k]);
        for (int k = 0; k < 20; k++) {
            vec_sub(across, x[k], middle);
            vec_add_scaled(across, across, -vec_dot(across, n), n);
            assert_near(vec_length(across), 0.07, 1e-9);
        }
        assert_near(distance(x[16], x[0]), 0.8, 1e-9);
    }
}

/* ---- Files ----------------------------------------------------------------------------------- */

static spate_status read_strands(fixture *f, const char *text, mesh_body *out) {
    mesh lines = {.vertex_count = 0};
    TRY(mesh_read_lines(&f->arena, "file", text, strlen(text), &lines));
    return mesh_of_lines(&f->arena, "file", &lines, out);
}

#define POINTS "v 0 0 0\nv 0 1 0\nv 0 2 0\nv 0 3 0\nv 5 0 0\nv 5 1 0\nv 5 2 0\n"

static void lines_become_strands(void **state) {
    fixture *f = *state;
    static const char *const same[] = {
        POINTS "l 1 2 3 4\nl 7 6 5\n",
        POINTS "l 1 2\nl 2 3\nl 3 4\nl 7 6\nl 6 5\n",
        POINTS "o hair\nl 1/1 2/2 3/3\nl 4 3\nl -1 -2 -3\n",
        "ply\nformat ascii 1.0\nelement vertex 7\nproperty float x\nproperty float y\nproperty "
        "float z\nelement edge 5\nproperty int vertex1\nproperty int vertex2\nproperty uchar "
        "red\nend_header\n0 0 0\n0 1 0\n0 2 0\n0 3 0\n5 0 0\n5 1 0\n5 2 0\n0 1 9\n1 2 9\n3 2 9\n"
        "6 5 9\n5 4 9\n",
    };
    static const double y[7] = {0, 1, 2, 3, 2, 1, 0};
    for (int k = 0; k < COUNT_OF(same); k++) {
        mesh_body m;
        assert_int_equal(read_strands(f, same[k], &m), SPATE_OK);
        assert_int_equal(m.strand_count, 2);
        assert_int_equal(m.strand_first[1], 4);
        assert_int_equal(m.strand_first[2], 7);
        for (int v = 0; v < 7; v++) assert_true(m.vertices[v][1] == y[v]);
        assert_true(m.spacing == 1);
    }
}

/* A .bgeo file in the making. */
typedef struct bgeo {
    unsigned char bytes[4096];
    size_t length;
} bgeo;

static void put(bgeo *b, uint32_t value, int bytes) {
    for (int k = bytes - 1; k >= 0; k--) b->bytes[b->length++] = (unsigned char)(value >> (8 * k));
}

static void put_text(bgeo *b, const char *text) {
    for (; *text; text++) put(b, (unsigned char)*text, 1);
}

static void put_float(bgeo *b, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put(b, bits, 4);
}

static void put_attribute(bgeo *b, const char *name, uint32_t size, uint32_t kind) {
    put(b, (uint32_t)strlen(name), 2), put_text(b, name);
    put(b, size, 2), put(b, kind, 4);
    if (kind == 4) /* names instead of default values */
        put(b, 1, 4), put(b, 3, 2), put_text(b, "hay");
    for (uint32_t k = 0; k < size && kind != 4; k++) put_float(b, 1);
}

/* The strands of POINTS, and a triangle that does not matter, in a run or one by one; with
 * attributes of points, vertices and primitives or without. */
static void put_strands(bgeo *b, bool run, bool attributes) {
    static const uint32_t lines[3][5] = {{4, 0, 1, 2, 3}, {3, 6, 5, 4}, {3, 0, 1, 4}};
    const uint32_t has = attributes, counts[] = {5, 7, 3, 0, 0, 2 * has, has, has, 0};
    b->length = 0;
    put_text(b, "BgeoV");
    for (int k = 0; k < COUNT_OF(counts); k++) put(b, counts[k], 4);
    if (attributes) put_attribute(b, "v", 3, 5), put_attribute(b, "kind", 1, 4);
    for (int v = 0; v < 7; v++) {
        put_float(b, v < 4 ? 0 : 5), put_float(b, (float)(v < 4 ? v : v - 4)), put_float(b, 0);
        put_float(b, 1);
        for (int k = 0; k < 4 && attributes; k++) put(b, 0, 4);
    }
    if (attributes) put_attribute(b, "uv", 2, 0), put_attribute(b, "id", 1, 1);
    if (run) put(b, UINT32_MAX, 4), put(b, 3, 2), put(b, 1, 4);
    for (int k = 0; k < 3; k++) {
        if (!run) put(b, 1, 4);
        put(b, lines[k][0], 4), put(b, k == 2 ? '<' : ':', 1);
        for (uint32_t v = 1; v <= lines[k][0]; v++) {
            put(b, lines[k][v], 2);
            if (attributes) put(b, 0, 4), put(b, 0, 4);
        }
        if (attributes) put(b, 9, 4);
    }
    put(b, 0x00ff, 2);
}

static spate_status read_bgeo(fixture *f, const bgeo *b, size_t length, mesh_body *out) {
    mesh lines = {.vertex_count = 0};
    TRY(mesh_read_lines(&f->arena, "file", (const char *)b->bytes, length, &lines));
    return mesh_of_lines(&f->arena, "file", &lines, out);
}

static void bgeo_lines_become_strands(void **state) {
    fixture *f = *state;
    static const double y[7] = {0, 1, 2, 3, 2, 1, 0};
    bgeo b;
    mesh_body m;
    for (int k = 0; k < 4; k++) {
        put_strands(&b, k & 1, k & 2);
        assert_int_equal(read_bgeo(f, &b, b.length, &m), SPATE_OK);
        assert_int_equal(m.strand_count, 2);
        assert_int_equal(m.strand_first[1], 4);
        assert_int_equal(m.vertex_count, 7);
        for (int v = 0; v < 7; v++) assert_true(m.vertices[v][1] == y[v]);
        /* cut anywhere in front of its end it is refused */
        for (size_t n = 5; n + 2 < b.length; n++)
            assert_int_equal(read_bgeo(f, &b, n, &m), SPATE_BAD_INPUT);
    }
}

static void odd_bgeo_is_refused(void **state) {
    fixture *f = *state;
    static const struct {
        size_t at;
        unsigned char byte;
        const char *says;
    } cases[] = {
        {8, 4, "version 4 of .bgeo"},
        {9, 0x7f, "a count of"},
        {41 + 7 * 16 + 9, 2, "no polygon"},
        {41 + 7 * 16 + 5, 9, "a run of 9 primitives of 3"},
        {41 + 7 * 16 + 14, 'x', "neither closed nor open"},
        {41 + 7 * 16 + 16, 77, "vertex 78 of 7"},
    };
    for (int k = 0; k < COUNT_OF(cases); k++) {
        bgeo b;
        mesh_body m;
        put_strands(&b, true, false);
        b.bytes[cases[k].at] = cases[k].byte;
        assert_int_equal(read_bgeo(f, &b, b.length, &m), SPATE_BAD_INPUT);
        if (!strstr(spate_message(f->arena.ctx), cases[k].says))
            print_error("%s\n", spate_message(f->arena.ctx));
        assert_non_null(strstr(spate_message(f->arena.ctx), cases[k].says));
    }
    mesh_body m;
    bgeo b = {.length = 0};
    put_text(&b, "\x7fNSJb and more");
    assert_int_equal(read_bgeo(f, &b, b.length, &m), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->arena.ctx), "Houdini 12 or later"));
}

static void odd_lines_are_refused(void **state) {
    fixture *f = *state;
    static const char *const cases[][2] = {
        {POINTS "l 1 2\n", "single segment"},
        {POINTS "l 1 2 3\nl 2 5\n", "three lines meet in vertex 2"},
        {POINTS "l 1 2 3 1\n", "closed"},
        {POINTS "l 1 2 2 3\n", "vertex 2 to itself"},
        {POINTS "v 0 0 0\nl 1 8 3\n", "at the same place"},
        {POINTS "l 1 2 9\n", "vertex 9 of 7"},
        {POINTS "l 1 x\n", "list of vertex numbers"},
        {POINTS "l 3\n", "two are needed"},
        {POINTS "f 1 2 5\n", "has no lines"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
         "float z\nend_header\n0 0 0\n",
         "declares no edges"},
        {"solid a\nfacet normal 0 0 1\n", "not a file of lines"},
        {"", "not a file of lines"},
    };
    for (int k = 0; k < COUNT_OF(cases); k++) {
        mesh_body m;
        assert_int_equal(read_strands(f, cases[k][0], &m), SPATE_BAD_INPUT);
        if (!strstr(spate_message(f->ctx), cases[k][1]))
            fail_msg("expected '%s' in '%s'", cases[k][1], spate_message(f->ctx));
    }
}

/* ---- The sizes of Fei et al. 2021 ------------------------------------------------------------ */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Figs 17 and 24: 991.7K vertices of 47K strands, 1.818M of 93K; a tenth of each unless SPATE_FULL
 * is set. */
static void published_sizes_are_quick(void **state) {
    fixture *f = *state;
    const int64_t part = getenv("SPATE_FULL") ? 1 : 10;
    const strands_fields g = {.spacing = 0.125, .radius = 0.005};
    const brush_fields b = {.along = {10, 0, 0},
                            .across = {0, 0, 10},
                            .direction = {0, -2.5, 0},
                            .count = 47224 / part};
    const hair_fields h = {.on = ball(f, 10),
                           .count = 93000 / part,
                           .length = 2.375,
                           .direction = {0, -1, 0},
                           .comb = 0.8,
                           .gap = 0.06};
    mesh_body m;
    double start = now();
    assert_int_equal(mesh_of_brush(&f->arena, &g, &b, 1, &m), SPATE_OK);
    print_message("brush: %lld vertices, %.2f s of processor time\n", (long long)m.vertex_count,
                  now() - start);
    assert_int_equal(m.vertex_count, 47224 / part * 21);
    assert_true(now() - start < 20);
    start = now();
    m = grow_hair(f, &g, &h, 1);
    print_message("hair: %lld vertices, %.2f s of processor time, %.0f MB at most\n",
                  (long long)m.vertex_count, now() - start, (double)f->ctx->bytes_peak / 1e6);
    assert_int_equal(m.vertex_count, 93000 / part * 20);
    assert_true(now() - start < 40);
    assert_true(f->ctx->bytes_peak < (size_t)400 << 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(roots_keep_their_distance, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(a_brush_has_its_tufts, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(hair_stands_on_a_sphere, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(combed_hair_goes_round, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(hair_curls, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(lines_become_strands, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(bgeo_lines_become_strands, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(odd_bgeo_is_refused, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(odd_lines_are_refused, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(published_sizes_are_quick, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
