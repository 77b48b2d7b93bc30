/* Meshes: every format of one surface gives the same mesh, distances agree with the solid the mesh
 * stands for, and damaged, open, inverted and foreign files are told apart. */
#include "core/file.h"
#include "core/random.h"
#include "core/text.h"
#include "core/vec.h"
#include "scene/mesh.h"
#include "scene/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "with_arena.h"

static int64_t warnings(const fixture *f, const char *kind) {
    for (int i = 0; i < f->ctx->warning_kinds; i++)
        if (!strcmp(f->ctx->warnings[i].kind, kind)) return f->ctx->warnings[i].count;
    return 0;
}

/* ---- Surfaces
 * -------------------------------------------------------------------------------------- */

enum { MOST = 20000 };

typedef struct surface {
    double vertices[MOST][3];
    int triangles[MOST][3];
    int vertex_count, triangle_count;
} surface;

static void add_triangle(surface *s, int a, int b, int c) {
    int *t = s->triangles[s->triangle_count++];
    t[0] = a, t[1] = b, t[2] = c;
}

static void make_cube(surface *s, const double low[3], double side) {
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = s->vertex_count;
    for (int v = 0; v < 8; v++)
        for (int i = 0; i < 3; i++) s->vertices[first + v][i] = low[i] + side * (v >> i & 1);
    s->vertex_count += 8;
    for (int f = 0; f < 6; f++)
        for (int k = 1; k < 3; k++)
            add_triangle(s, first + faces[f][0], first + faces[f][k], first + faces[f][k + 1]);
}

/* A grid of n x m closed both ways: a torus; with `ring` 0 a sphere whose poles are rows of one
 * place. */
static void make_round(surface *s, int n, int m, double ring, double tube) {
    int first = s->vertex_count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= m; j++) {
            double u = 2 * PI * i / n, v = ring > 0 ? 2 * PI * (j % m) / m : PI * j / m;
            double r = ring > 0 ? ring + tube * cos(v) : j % m ? tube * sin(v) : 0;
            double z = ring > 0 ? tube * sin(v) : -tube * cos(v);
            vec_set(s->vertices[s->vertex_count++], r * cos(u), r * sin(u), z);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            int a = first + i * (m + 1) + j, b = first + (i + 1) % n * (m + 1) + j;
            add_triangle(s, a, b, b + 1);
            add_triangle(s, a, b + 1, a + 1);
        }
}

static surface *new_surface(void) {
    static surface s;
    s.vertex_count = s.triangle_count = 0;
    return &s;
}

/* ---- Writers
 * ----------------------------------------------------------------------------------------- */

static text write_obj(fixture *f, const surface *s) {
    text t = {.ctx = f->ctx};
    text_add(&t, "# a comment\r\nmtllib x.mtl\no part\n");
    for (int i = 0; i < s->vertex_count; i++)
        text_add(&t, "v %.17g\t%.17g %.17g 1.0\n", s->vertices[i][0], s->vertices[i][1],
                 s->vertices[i][2]);
    text_add(&t, "vn 0 0 1\nvt 0 0\n");
    for (int i = 0; i < s->triangle_count; i++) {
        const int *c = s->triangles[i];
        int n = s->vertex_count;
        switch (i % 5) { /* all forms of an index */
        case 0: text_add(&t, "f %d %d %d\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        case 1: text_add(&t, "f %d/1 %d/1 %d/1\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        case 2: text_add(&t, "f %d//1 %d//1 %d//1 \r\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        case 3: text_add(&t, "f  %d/1/1 %d/1/1 %d/1/1\n", c[0] + 1, c[1] + 1, c[2] + 1); break;
        case 4: text_add(&t, "f %d %d %d # back\n", c[0] - n, c[1] - n, c[2] - n); break;
        }
    }
    return t;
}

static void put(text *t, const void *value, size_t size, bool big) {
    const char *bytes = value; /* the machine is little-endian */
    for (size_t i = 0; i < size; i++) text_add_bytes(t, bytes + (big ? size - 1 - i : i), 1);
}

/* Format 0: ascii, 1: little, 2: big. With extra properties and elements, and different types. */
static text write_ply(fixture *f, const surface *s, int format) {
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    text t = {.ctx = f->ctx};
    bool big = format == 2;
    text_add(&t,
             "ply\nformat %s 1.0\ncomment made by hand\nelement camera 2\nproperty short a\n"
             "property list uchar float b\nelement vertex %d\nproperty uchar red\n"
             "property double x\nproperty double y\nproperty float64 z\nelement face %d\n"
             "property list %s vertex_indices\nproperty float quality\nend_header\n",
             names[format], s->vertex_count, s->triangle_count,
             format == 2 ? "uint16 uint" : "uchar int");
    for (int16_t i = 0; i < 2; i++) {
        if (format == 0) {
            text_add(&t, "%d 2 0.5 0.25\n", i);
            continue;
        }
        unsigned char two = 2;
        float value = 0.5f;
        put(&t, &i, 2, big);
        put(&t, &two, 1, big);
        put(&t, &value, 4, big);
        put(&t, &value, 4, big);
    }
    for (int i = 0; i < s->vertex_count; i++) {
        const double *x = s->vertices[i];
        unsigned char red = 200;
        if (format == 0)
            text_add(&t, "%d %.17g %.17g %.17g\n", red, x[0], x[1], x[2]);
        else
            put(&t, &red, 1, big);
        for (int k = 0; k < 3 && format; k++) put(&t, &x[k], 8, big);
    }
    for (int i = 0; i < s->triangle_count; i++) {
        const int *c = s->triangles[i];
        uint16_t three = 3;
        float quality = 1;
        if (format == 0)
            text_add(&t, "3 %d %d %d 1\n", c[0], c[1], c[2]);
        else
            put(&t, &three, format == 2 ? 2 : 1, big);
        for (int k = 0; k < 3 && format; k++) put(&t, &c[k], 4, big);
        if (format) put(&t, &quality, 4, big);
    }
    return t;
}

static text write_stl(fixture *f, const surface *s, bool binary) {
    text t = {.ctx = f->ctx};
    char head[80] = "solid but binary";
    uint32_t count = (uint32_t)s->triangle_count;
    if (binary)
        put(&t, head, 80, false), put(&t, &count, 4, false);
    else
        text_add(&t, "solid a part of facets\n");
    for (int i = 0; i < s->triangle_count; i++) {
        float normal[3] = {0, 0, 0};
        uint16_t colour = 0;
        if (binary)
            put(&t, normal, 12, false);
        else
            text_add(&t, " facet normal 0 0 0\n  outer loop\n");
        for (int k = 0; k < 3; k++) {
            const double *x = s->vertices[s->triangles[i][k]];
            float v[3] = {(float)x[0], (float)x[1], (float)x[2]};
            if (binary)
                put(&t, v, 12, false);
            else
                text_add(&t, "   vertex %.9g %.9g %.9g\n", v[0], v[1], v[2]);
        }
        if (binary)
            put(&t, &colour, 2, false);
        else
            text_add(&t, "  endloop\n endfacet\n");
    }
    if (!binary) text_add(&t, "endsolid a part of facets\n");
    return t;
}

static text write_format(fixture *f, const surface *s, int format) {
    switch (format) {
    case 0: return write_obj(f, s);
    case 1:
    case 2:
    case 3: return write_ply(f, s, format - 1);
    default: return write_stl(f, s, format == 5);
    }
}
enum { FORMATS = 6 };

static mesh *read_surface(fixture *f, const surface *s, int format) {
    text t = write_format(f, s, format);
    mesh *m = NULL;
    if (mesh_read(&f->arena, "part", t.data, t.length, &m)) print_error("%s\n", f->ctx->message);
    text_free(&t);
    assert_non_null(m);
    return m;
}

/* ---- Formats
 * --------------------------------------------------------------------------------------------- */

static void test_formats_agree(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){-0.25, 0.5, 1}, 2);
    for (int format = 0; format < FORMATS; format++) {
        mesh *m = read_surface(f, s, format);
        assert_int_equal(m->vertex_count, 8);
        assert_int_equal(m->triangle_count, 12);
        assert_int_equal(m->state, MESH_CLOSED);
        assert_int_equal(m->open_edges, 0);
        assert_int_equal(m->pieces, 1);
        assert_false(m->by_winding);
        assert_near(m->volume, 8, 1e-12);
        assert_near(m->min[0], -0.25, 0);
        assert_near(m->max[2], 3, 0);
    }
}

/* The distance to a box is known everywhere. */
static void test_distance_to_a_cube(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    mesh *m = read_surface(f, s, 0);
    shape *box = shape_create(&f->arena, SHAPE_BOX);
    vec_set(box->b, 1, 1, 1);
    shape *solid = shape_create(&f->arena, SHAPE_MESH);
    solid->mesh = m;
    assert_near(shape_volume(solid, 3), 1, 1e-12);
    for (uint64_t i = 0; i < 5000; i++) {
        double x[3], n[3], k[3];
        for (int c = 0; c < 3; c++) x[c] = 3 * random_unit(1, i, (uint64_t)c) - 1;
        if (i % 7 == 0) x[i % 3] = 0.5; /* where faces, edges and corners are nearest exactly */
        if (i % 11 == 0) x[0] = x[1];
        double d = shape_normal(box, 3, x, n);
        assert_near(mesh_distance(m, x, k), d, 1e-12);
        if (d > 0) assert_near(vec_dot(n, k), 1, 1e-9); /* inside, ridges may choose another face */
        assert_near(vec_length(k), 1, 1e-9);
    }
    double n[3], corner[3] = {1, 1, 1}, edge[3] = {0.5, 1, 1};
    assert_near(mesh_distance(m, corner, n), 0, 0);
    assert_near(n[0], sqrt(1 / 3.0), 1e-9);
    assert_near(mesh_distance(m, edge, n), 0, 0);
    assert_near(n[1], sqrt(0.5), 1e-9);
}

/* A fine mesh of a sphere or torus: sign and distance of the round solid, within its sagitta. */
static void test_distance_to_round_meshes(void **state) {
    fixture *f = *state;
    for (int k = 0; k < 2; k++) {
        surface *s = new_surface();
        if (k == 0)
            make_round(s, 96, 48, 0, 1);
        else
            make_round(s, 128, 64, 1, 0.4);
        mesh *m = read_surface(f, s, 1 + k);
        shape *solid = shape_create(&f->arena, k ? SHAPE_TORUS : SHAPE_SPHERE);
        vec_set(solid->b, 0, 0, 1);
        solid->radius = 1, solid->thickness = 0.4;
        assert_int_equal(m->state, MESH_CLOSED);
        assert_near(m->volume, shape_volume(solid, 3), 0.01 * m->volume);
        for (uint64_t i = 0; i < 3000; i++) {
            double x[3], n[3], want[3];
            for (int c = 0; c < 3; c++) x[c] = 4 * random_unit(2, i, (uint64_t)c) - 2;
            double d = shape_normal(solid, 3, x, want), got = mesh_distance(m, x, n);
            assert_near(got, d, 2e-3);
            if (fabs(d) > 0.05 && fabs(d) < 0.3) assert_true(vec_dot(n, want) > 0.99);
            if (i % 50 == 0 && fabs(d) > 2e-3) assert_int_equal(mesh_winding(m, x) > 0.5, d < 0);
        }
    }
}

/* The hierarchy finds what trying every triangle finds. */
static void test_hierarchy_against_all_triangles(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_round(s, 24, 12, 1, 0.4);
    mesh *m = read_surface(f, s, 0);
    for (uint64_t i = 0; i < 20; i++) {
        double x[3], best = HUGE_VAL;
        for (int c = 0; c < 3; c++) x[c] = 4 * random_unit(3, i, (uint64_t)c) - 2;
        for (int64_t t = 0; t < m->triangle_count; t++)
            for (int a = 0; a <= 40; a++) /* dense points of the triangle bound it from above */
                for (int b = 0; a + b <= 40; b++) {
                    double p[3] = {0, 0, 0}, w[3] = {a / 40.0, b / 40.0, (40 - a - b) / 40.0};
                    for (int c = 0; c < 3; c++)
                        vec_add_scaled(p, p, w[c], m->vertices[m->triangles[t][c]]);
                    vec_sub(p, p, x);
                    best = fmin(best, vec_dot(p, p));
                }
        double d = fabs(mesh_distance(m, x, NULL));
        assert_true(d <= sqrt(best) + 1e-12 && d > sqrt(best) - 6e-3);
    }
}

/* ---- Bad surfaces
 * ------------------------------------------------------------------------------------------ */

static void test_inverted(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_round(s, 24, 12, 0, 1);
    for (int i = 0; i < s->triangle_count; i++) {
        int swap = s->triangles[i][1];
        s->triangles[i][1] = s->triangles[i][2], s->triangles[i][2] = swap;
    }
    int64_t before = warnings(f, "inverted mesh");
    mesh *m = read_surface(f, s, 5);
    assert_int_equal(m->state, MESH_INVERTED);
    assert_int_equal(warnings(f, "inverted mesh"), before + 1);
    assert_true(m->volume > 3.8);
    double n[3], x[3] = {0.05, 0.1, 0.9};
    assert_true(mesh_distance(m, x, n) < 0 && n[2] > 0.9);
}

/* A third of the faces the wrong way round is repaired without being called inverted. */
static void test_mixed_orientation(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_round(s, 24, 12, 1, 0.4);
    for (int i = 0; i < s->triangle_count; i += 3) {
        int swap = s->triangles[i][1];
        s->triangles[i][1] = s->triangles[i][2], s->triangles[i][2] = swap;
    }
    mesh *m = read_surface(f, s, 2);
    assert_int_equal(m->state, MESH_CLOSED);
    assert_int_equal(m->shared_edges, 0);
    assert_near(m->volume, 2 * PI * PI * 0.16, 0.2);
    assert_true(mesh_distance(m, (double[3]){1, 0, 0}, NULL) < -0.3);
}

/* Cut the cap off a sphere: the hole is named, and the sign still holds away from it. */
static void test_open(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_round(s, 48, 24, 0, 1);
    int kept = 0;
    for (int i = 0; i < s->triangle_count; i++) {
        bool cap = true;
        for (int k = 0; k < 3; k++) cap = cap && s->vertices[s->triangles[i][k]][2] > 0.85;
        if (!cap) memcpy(s->triangles[kept++], s->triangles[i], sizeof s->triangles[0]);
    }
    assert_true(kept < s->triangle_count);
    s->triangle_count = kept;
    int64_t before = warnings(f, "open mesh");
    mesh *m = read_surface(f, s, 0);
    assert_int_equal(m->state, MESH_OPEN);
    assert_int_equal(m->open_edges, 48);
    assert_int_equal(warnings(f, "open mesh"), before + 1);
    assert_near(m->hole[0], 0, 1e-9);
    assert_near(m->hole[1], 0, 1e-9);
    assert_near(m->hole[2], cos(PI / 6), 1e-9); /* the last row that is left */
    assert_near(m->volume, 4 * PI / 3 - PI * 0.134 * 0.134 * (3 - 0.134) / 3, 0.05);
    shape *solid = shape_create(&f->arena, SHAPE_MESH);
    solid->mesh = m;
    assert_true(isnan(shape_volume(solid, 3)));
    double worst = 0;
    for (uint64_t i = 0; i < 1000; i++) {
        double x[3];
        for (int c = 0; c < 3; c++) x[c] = 3 * random_unit(4, i, (uint64_t)c) - 1.5;
        double r = vec_length(x);
        if (x[2] > 0.4 || fabs(r - 1) < 0.02) continue;
        assert_int_equal(mesh_distance(m, x, NULL) < 0, r < 1);
        /* the hierarchy's dipoles against the plain sum */
        mesh plain = *m;
        plain.far = NULL;
        double w = mesh_winding(m, x) - mesh_winding(&plain, x);
        worst = fmax(worst, fabs(w));
    }
    assert_true(worst < 0.02);
}

/* Two cubes that overlap and one with a cavity: the winding number sees through inner walls. */
static void test_pieces(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    make_cube(s, (double[3]){0.5, 0.25, 0.25}, 1);
    mesh *m = read_surface(f, s, 0);
    assert_int_equal(m->pieces, 2);
    assert_true(m->by_winding);
    assert_true(mesh_distance(m, (double[3]){0.45, 0.5, 0.5}, NULL) < 0); /* beside an inner wall */
    assert_true(mesh_distance(m, (double[3]){1.45, 0.1, 0.5}, NULL) > 0);

    s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    make_cube(s, (double[3]){0.25, 0.25, 0.25}, 0.5);
    for (int i = 12; i < 24; i++) {
        int swap = s->triangles[i][1];
        s->triangles[i][1] = s->triangles[i][2], s->triangles[i][2] = swap;
    }
    m = read_surface(f, s, 3);
    assert_int_equal(m->state, MESH_CLOSED);
    assert_near(m->volume, 1 - 0.125, 1e-12);
    assert_true(mesh_distance(m, (double[3]){0.5, 0.5, 0.5}, NULL) > 0);
    assert_true(mesh_distance(m, (double[3]){0.1, 0.5, 0.5}, NULL) < 0);

    /* beside each other, one of them inside out */
    s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    make_cube(s, (double[3]){3, 0, 0}, 0.5);
    for (int i = 12; i < 24; i++) {
        int swap = s->triangles[i][1];
        s->triangles[i][1] = s->triangles[i][2], s->triangles[i][2] = swap;
    }
    m = read_surface(f, s, 0);
    assert_int_equal(m->state, MESH_INVERTED);
    assert_true(mesh_distance(m, (double[3]){3.2, 0.2, 0.2}, NULL) < 0);
}

static void test_shared_edge(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    make_cube(s, (double[3]){1, 1, 0}, 1);
    int64_t before = warnings(f, "non-manifold mesh");
    mesh *m = read_surface(f, s, 0);
    assert_int_equal(m->shared_edges, 1);
    assert_int_equal(warnings(f, "non-manifold mesh"), before + 1);
    assert_true(mesh_distance(m, (double[3]){0.99, 0.98, 0.5}, NULL) < 0);
    assert_true(mesh_distance(m, (double[3]){1.02, 0.99, 0.5}, NULL) > 0);
}

static void test_degenerate_triangles(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    add_triangle(s, 3, 3, 5);
    vec_set(s->vertices[s->vertex_count++], 9, 9, 9); /* used by nobody */
    mesh *m = read_surface(f, s, 0);
    assert_int_equal(m->triangle_count, 12);
    assert_int_equal(m->state, MESH_CLOSED);
    assert_near(m->max[0], 1, 0);
}

/* ---- Bad files
 * ------------------------------------------------------------------------------------------------
 */

static void refused(fixture *f, const char *bytes, size_t length, const char *because) {
    arena a = arena_create(f->ctx);
    mesh *m = NULL;
    spate_status status = mesh_read(&a, "part.obj", bytes, length, &m);
    arena_free(&a);
    if (status != SPATE_BAD_INPUT || !strstr(f->ctx->message, because) ||
        strncmp(f->ctx->message, "part.obj", 8))
        fail_msg("status %d, wanted \"%s\", message \"%s\"", status, because, f->ctx->message);
}

static void test_messages(void **state) {
    fixture *f = *state;
    static const char *const cases[][2] = {
        {"Dear reader,\nthis is a letter.\n",
         "is a text file, not a mesh; OBJ, PLY and STL are read"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n",
         "part.obj:4: face refers to vertex 9 of 3; the file is damaged"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 0\n", ":4: face refers to vertex 0"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf -1 -2 -4\n", ":4: face refers to vertex -4"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n", ":4: face has 2 corners"},
        {"v 0 0 0\nv 1 0\n", ":2: a vertex is three numbers"},
        {"v 0 0 0\nv 1 nan 0\n", ":2: a vertex is three numbers"},
        {"v 0 0 0\nv 1 1e999 0\n", ":2: a vertex is three numbers"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 x\n", ":4: a face is a list"},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\n", "no triangles"},
        {"v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3\n", "three different corners"},
        {"ply\nformat ascii 1.0\nelement vertex 3\n", "end_header"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n",
         "x, y and z"},
        {"ply\nformat morse 1.0\n", ":2: unknown PLY format"},
        {"ply\nformat ascii 1.0\nelement vertex 9999999999999999999\n", ":3: an element needs"},
        {"ply\nformat ascii 1.0\nelement vertex 4000000000\nproperty float x\nproperty float y\n"
         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 "
         "0 0\n",
         "cut short: 0 of 4000000000 vertices"},
        {"ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
         "property float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n"
         "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n",
         "face refers to vertex 4 of 3"},
        {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n", "cut short"},
        {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 zero\n",
         ":5: a vertex is three numbers"},
        {"solid a\nendsolid a\n", "no vertices"},
    };
    for (int i = 0; i < COUNT_OF(cases); i++)
        refused(f, cases[i][0], strlen(cases[i][0]), cases[i][1]);
    refused(f, "", 0, "empty");
    refused(f, "\0\1\2", 3, "not a mesh");
}

/* Every file cut at any place is refused or, where only its last line end is missing, whole. */
static void test_truncated(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    for (int format = 0; format < FORMATS; format++) {
        text t = write_format(f, s, format);
        for (size_t length = 0; length + 1 < t.length; length += 1 + length / 40) {
            arena a = arena_create(f->ctx);
            char *copy = take(f->ctx, length + 1, 1); /* so that reading too far is seen */
            mesh *m = NULL;
            memcpy(copy, t.data, length);
            spate_status status = mesh_read(&a, "part", copy, length, &m);
            /* an OBJ file has no end mark: with fewer faces it is an open mesh */
            if (status == SPATE_OK)
                assert_true(format == 0 && m->state == MESH_OPEN);
            else
                assert_int_equal(status, SPATE_BAD_INPUT);
            give(f->ctx, copy);
            arena_free(&a);
        }
        text_free(&t);
    }
    char picture[200] = "\x89PNG\r\n\x1a\n", model[200] = "Kaydara FBX Binary  ";
    refused(f, picture, sizeof picture, "is a picture; OBJ, PLY and STL are read");
    refused(f, model, sizeof model, "is an FBX file; OBJ");
    uint32_t huge = 0xffffffff; /* a binary STL that claims 4 billion triangles */
    text t = write_stl(f, s, true);
    memcpy(t.data + 80, &huge, 4);
    refused(f, t.data, t.length, "12 of 4294967295 triangles");
    text_free(&t);
}

static void test_files(void **state) {
    fixture *f = *state;
    mesh *m = NULL;
    assert_int_equal(mesh_load(&f->arena, "/nonexistent/part.obj", &m), SPATE_BAD_INPUT);
    assert_non_null(strstr(f->ctx->message, "/nonexistent/part.obj"));
    char path[] = "/tmp/spate-test-mesh-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    text t = write_stl(f, s, true);
    assert_int_equal(write(fd, t.data, t.length), t.length);
    close(fd);
    text_free(&t);
    spate_status status = mesh_load(&f->arena, path, &m);
    unlink(path);
    assert_int_equal(status, SPATE_OK);
    assert_near(m->volume, 1, 1e-12);
}

/* ---- Memory
 * ------------------------------------------------------------------------------------------------------
 */

static int64_t allowance;

static void *allocate(size_t bytes, void *user) {
    (void)user;
    return allowance-- > 0 ? malloc(bytes) : NULL;
}

static void release(void *block, void *user) {
    (void)user;
    free(block);
}

/* Each allocation fails in turn; the last round has enough. */
static void test_every_allocation_failing(void **state) {
    fixture *f = *state;
    surface *s = new_surface();
    make_cube(s, (double[3]){0, 0, 0}, 1);
    make_cube(s, (double[3]){3, 0, 0}, 1);
    text t = write_ply(f, s, 1);
    spate_config config = spate_default_config();
    config.allocate = allocate, config.release = release, config.threads = 1;
    spate_context *ctx;
    allowance = INT64_MAX;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    int64_t blocks = ctx->blocks_now;
    spate_status status = SPATE_OUT_OF_MEMORY;
    int rounds = 0;
    for (; status != SPATE_OK && rounds < 200; rounds++) {
        arena a = arena_create(ctx);
        mesh *m = NULL;
        allowance = rounds;
        status = mesh_read(&a, "part", t.data, t.length, &m);
        if (status != SPATE_OK) assert_int_equal(status, SPATE_OUT_OF_MEMORY);
        arena_free(&a);
        assert_int_equal(ctx->blocks_now, blocks);
    }
    assert_in_range(rounds, 10, 199);
    spate_close(ctx);
    text_free(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_formats_agree),
        cmocka_unit_test(test_distance_to_a_cube),
        cmocka_unit_test(test_distance_to_round_meshes),
        cmocka_unit_test(test_hierarchy_against_all_triangles),
        cmocka_unit_test(test_inverted),
        cmocka_unit_test(test_mixed_orientation),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_shared_edge),
        cmocka_unit_test(test_degenerate_triangles),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
