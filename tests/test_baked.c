/* Baked distances against those of the mesh itself: value, sign, normal, bounds far away, edges and
 * thin walls, open meshes, trees of shapes, 2D; and that threads and failing memory do no harm. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "core/random.h"
#include "core/vec.h"
#include "state/baked.h"
#include "watched.h"
#include "with_arena.h"

/* ---- Meshes ---- */

enum { MOST = 40000 };

typedef struct surface {
    double vertices[MOST][3];
    int32_t triangles[MOST][3];
    int vertex_count, triangle_count;
} surface;

static surface made;

static void add_square(int a, int b, int c, int d) {
    int32_t(*t)[3] = made.triangles + made.triangle_count;
    t[0][0] = a, t[0][1] = b, t[0][2] = c;
    t[1][0] = a, t[1][1] = c, t[1][2] = d;
    made.triangle_count += 2;
}

/* A closed curve (radius, z)[m], or one from axis to axis, turned about z in n steps. */
static void add_turned(const double (*curve)[2], int m, bool closed, int n, const double at[3]) {
    int first = made.vertex_count;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double u = 2 * PI * i / n, r = curve[j][0];
            vec_set(made.vertices[made.vertex_count++], at[0] + r * cos(u), at[1] + r * sin(u),
                    at[2] + curve[j][1]);
        }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < (closed ? m : m - 1); j++) {
            int a = first + i * m, b = first + (i + 1) % n * m, k = (j + 1) % m;
            add_square(a + j, b + j, b + k, a + k);
        }
}

static void add_sphere(double radius, const double at[3]) {
    double curve[61][2];
    for (int j = 0; j <= 60; j++) {
        curve[j][0] = j % 60 ? radius * sin(PI * j / 60) : 0;
        curve[j][1] = -radius * cos(PI * j / 60);
    }
    add_turned((const double(*)[2])curve, 61, false, 120, at);
}

static void add_torus(double ring, double tube, const double at[3]) {
    double curve[48][2];
    for (int j = 0; j < 48; j++) {
        curve[j][0] = ring + tube * cos(2 * PI * j / 48);
        curve[j][1] = tube * sin(2 * PI * j / 48);
    }
    add_turned((const double(*)[2])curve, 48, true, 96, at);
}

/* Half a hollow ball, open at the top, with a wall. */
static void add_bowl(double outer, double inner, const double at[3]) {
    double curve[82][2];
    for (int j = 0; j <= 40; j++) {
        double u = PI / 2 * j / 40;
        curve[j][0] = j ? outer * sin(u) : 0, curve[j][1] = j < 40 ? -outer * cos(u) : 0;
        curve[81 - j][0] = j ? inner * sin(u) : 0, curve[81 - j][1] = j < 40 ? -inner * cos(u) : 0;
    }
    add_turned((const double(*)[2])curve, 82, false, 120, at);
}

static void add_box(const double low[3], const double high[3]) {
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = made.vertex_count;
    for (int v = 0; v < 8; v++)
        for (int i = 0; i < 3; i++) made.vertices[first + v][i] = v >> i & 1 ? high[i] : low[i];
    made.vertex_count += 8;
    for (int f = 0; f < 6; f++)
        add_square(first + faces[f][0], first + faces[f][1], first + faces[f][2],
                   first + faces[f][3]);
}

static void start_mesh(void) { made.vertex_count = made.triangle_count = 0; }

static shape *finish_mesh(arena *a) {
    mesh *m = arena_take(a, 1, sizeof *m);
    m->vertices = arena_take(a, (size_t)made.vertex_count, sizeof *m->vertices);
    m->triangles = arena_take(a, (size_t)made.triangle_count, sizeof *m->triangles);
    m->vertex_count = made.vertex_count, m->triangle_count = made.triangle_count;
    memcpy(m->vertices, made.vertices, (size_t)made.vertex_count * sizeof *m->vertices);
    memcpy(m->triangles, made.triangles, (size_t)made.triangle_count * sizeof *m->triangles);
    assert_int_equal(mesh_prepare(a, "made", m), SPATE_OK);
    shape *s = shape_create(a, SHAPE_MESH);
    s->mesh = m;
    return s;
}

static shape *make_sphere(arena *a, double radius, double x, double y, double z) {
    start_mesh();
    add_sphere(radius, (const double[3]){x, y, z});
    return finish_mesh(a);
}

/* ---- Comparing ---- */

static const bounds everywhere = {{-100, -100, -100}, {100, 100, 100}};

static baked *bake(spate_context *ctx, const shape *s, int dim, double spacing) {
    baked *b;
    assert_int_equal(baked_create(ctx, s, dim, spacing, &everywhere, &b), SPATE_OK);
    assert_non_null(b);
    return b;
}

/* Position n of many in a cube of half-side `size` about the origin. */
static void scatter(uint64_t n, double size, int dim, double x[3]) {
    for (int a = 0; a < 3; a++) {
        uint64_t bits = random_mix(random_mix(n * 3 + (uint64_t)a + 12345));
        x[a] = a < dim ? size * ((double)(bits >> 11) * 0x1p-52 - 1) : 0;
    }
}

typedef struct errors {
    double band;     /* of the distance, largest in the band */
    double contact;  /* the same within half a cell of the surface */
    double turn;     /* 1 - the cosine between the normals, there */
    int wrong_signs; /* farther from the surface than a quarter of dx */
    int too_long;    /* outside beyond the band: larger than the true distance, or below the band */
    int too_shallow; /* inside beyond the band: above it */
    int inside, outside, in_band;
} errors;

/* All lengths are in dx = 1. */
static errors compare(const baked *b, const shape *s, int dim, double size, double band) {
    errors e = {0};
    for (uint64_t n = 0; n < 40000; n++) {
        double x[3], own[3], exact[3];
        scatter(n, size, dim, x);
        double d = baked_distance(b, x, NULL), truth = shape_normal(s, dim, x, exact);
        assert_true(isfinite(d));
        if (fabs(truth) > 0.25 && (d < 0) != (truth < 0)) e.wrong_signs++;
        truth < 0 ? e.inside++ : e.outside++;
        if (truth > band && (d < band - 0.5 || d > truth + 0.5)) e.too_long++;
        if (truth < -band && d > -band + 0.5) e.too_shallow++;
        if (fabs(truth) > band) continue;
        e.in_band++;
        e.band = fmax(e.band, fabs(d - truth));
        assert_true(baked_distance(b, x, own) == d);
        assert_near(vec_length(own), 1, 1e-6);
        if (fabs(truth) > 0.5) continue;
        e.contact = fmax(e.contact, fabs(d - truth));
        e.turn = fmax(e.turn, 1 - vec_dot(own, exact));
    }
    return e;
}

/* ---- Tests ---- */

/* A bake at four times the spacing must fail the gates that one at dx passes. */
static void test_sphere(void **state) {
    if (WATCHED) skip();
    fixture *f = *state;
    shape *s = make_sphere(&f->arena, 9, 0.3, -0.2, 0.1);
    baked *b = bake(f->ctx, s, 3, 1), *coarse = bake(f->ctx, s, 3, 4);
    errors e = compare(b, s, 3, 14, 2), control = compare(coarse, s, 3, 14, 2);
    assert_true(e.in_band > 4000 && e.inside > 4000 && e.outside > 4000);
    assert_true(e.band < 0.1 && e.turn < 0.005);
    assert_true(control.band > 0.1 && control.turn > 0.005);
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    baked_free(b);
    baked_free(coarse);
}

/* The hole of a torus and the hollow of a bowl are outside, although surrounded. */
static void test_hollows(void **state) {
    if (WATCHED) skip();
    fixture *f = *state;
    static const double origin[3] = {0, 0, 0};
    start_mesh();
    add_torus(10, 4, origin);
    shape *torus = finish_mesh(&f->arena);
    start_mesh();
    add_bowl(12, 9, origin);
    shape *bowl = finish_mesh(&f->arena);
    baked *b = bake(f->ctx, torus, 3, 1);
    errors e = compare(b, torus, 3, 16, 2);
    assert_true(e.band < 0.1 && e.turn < 0.02);
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    assert_true(baked_distance(b, origin, NULL) > 2);
    baked_free(b);
    b = bake(f->ctx, bowl, 3, 1);
    e = compare(b, bowl, 3, 15, 2);
    assert_true(e.contact < 0.25 && e.band < 0.5);
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    assert_true(baked_distance(b, (const double[3]){0, 0, -1}, NULL) > 2);
    assert_true(baked_distance(b, (const double[3]){0, 0, -10.5}, NULL) < -0.9);
    baked_free(b);
}

/* Edges take half the spacing, faces do not; a tilted plate of a cell's thickness has no gaps. At
 * four times the spacing it has. */
static void test_edges_and_thin_walls(void **state) {
    fixture *f = *state;
    start_mesh();
    add_box((const double[3]){-8, -8, -8}, (const double[3]){8, 8, 8});
    shape *s = finish_mesh(&f->arena);
    mat_rotation(s->turn, (const double[3]){0.6, 0.8, 0}, 0.4);
    baked *b = bake(f->ctx, s, 3, 1);
    errors e = compare(b, s, 3, 14, 2);
    baked_size size = baked_measure(b);
    assert_true(e.contact < 0.25 && e.band < 0.5);
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    assert_true(size.fine > 0 && 2 * size.fine < size.near && size.near < size.bricks);
    baked_free(b);

    start_mesh();
    add_box((const double[3]){-8, -8, -0.5}, (const double[3]){8, 8, 0.5});
    s = finish_mesh(&f->arena);
    mat_rotation(s->turn, (const double[3]){0.6, 0.8, 0}, 0.4);
    baked *coarse = bake(f->ctx, s, 3, 4);
    int gaps = 0, coarse_gaps = 0;
    b = bake(f->ctx, s, 3, 1);
    for (uint64_t n = 0; n < 5000; n++) {
        double x[3];
        scatter(n, 7, 2, x);
        mat_apply(x, (const double(*)[3])s->turn, x);
        gaps += baked_distance(b, x, NULL) >= 0;
        coarse_gaps += baked_distance(coarse, x, NULL) >= 0;
    }
    assert_int_equal(gaps, 0);
    assert_true(coarse_gaps > 0);
    baked_free(b);
    baked_free(coarse);
}

/* Walls of half a cell are told, with a place; walls of a cell and more, and sharp edges, are not.
 */
static void test_thin_walls_are_told(void **state) {
    fixture *f = *state;
    for (int k = 0; k < 3; k++) {
        double wall = (const double[]){0.5, 1.2, 12}[k], near[3];
        start_mesh();
        add_bowl(12.1, 12.1 - fmin(wall, 12), (const double[3]){0.2, 0.1, 0});
        shape *s = finish_mesh(&f->arena);
        baked *b = bake(f->ctx, s, 3, 1);
        assert_true(baked_is_thin(b, near) == (k == 0));
        if (k == 0) assert_true(fabs(shape_distance(s, 3, near)) < 5);
        baked_free(b);
    }
}

/* Half way through a plate the gradient vanishes; the normal is still one of its two. */
static void test_normal_where_the_gradient_vanishes(void **state) {
    fixture *f = *state;
    start_mesh();
    add_box((const double[3]){-6, -6, -1}, (const double[3]){6, 6, 1});
    shape *s = finish_mesh(&f->arena);
    baked *b = bake(f->ctx, s, 3, 1);
    for (uint64_t n = 0; n < 100; n++) {
        double x[3], normal[3];
        scatter(n, 4, 2, x);
        x[2] = 1e-3;
        baked_distance(b, x, normal);
        assert_near(fabs(normal[2]), 1, 1e-3);
    }
    baked_free(b);
}

/* Without its top third a sphere is open; its sign is by winding and flips across the hole, far
 * from any triangle. */
static void test_open_mesh(void **state) {
    fixture *f = *state;
    start_mesh();
    double curve[41][2];
    for (int j = 0; j <= 40; j++) {
        curve[j][0] = j ? 20 * sin(PI * j / 60) : 0;
        curve[j][1] = -20 * cos(PI * j / 60);
    }
    add_turned((const double(*)[2])curve, 41, false, 120, (const double[3]){0, 0, 0});
    shape *s = finish_mesh(&f->arena);
    assert_true(s->mesh->by_winding && s->mesh->open_edges > 0);
    baked *b = bake(f->ctx, s, 3, 1);
    int wrong = 0, tested = 0;
    for (uint64_t n = 0; n < 4000; n++) {
        double x[3];
        scatter(n, 24, 3, x);
        double winding = mesh_winding(s->mesh, x);
        if (fabs(winding - 0.5) < 0.1 || fabs(shape_distance(s, 3, x)) < 0.2) continue;
        tested++;
        wrong += (baked_distance(b, x, NULL) < 0) != (winding > 0.5);
    }
    assert_true(tested > 3000);
    assert_int_equal(wrong, 0);
    baked_free(b);
}

/* Two pieces: the sign, by winding, is carried along from sample to sample. */
static void test_pieces_and_trees(void **state) {
    if (WATCHED) skip();
    fixture *f = *state;
    start_mesh();
    add_sphere(5, (const double[3]){-6, 0, 0});
    add_sphere(4, (const double[3]){6, 1, 0});
    shape *pair = finish_mesh(&f->arena);
    assert_true(pair->mesh->by_winding);
    baked *b = bake(f->ctx, pair, 3, 1);
    errors e = compare(b, pair, 3, 13, 2);
    assert_true(e.contact < 0.1 && e.band < 0.5); /* the two are a cell apart */
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    baked_free(b);

    /* below a plane, without a mesh and a sphere: its bounds are infinite */
    shape *tree = shape_create(&f->arena, SHAPE_DIFFERENCE), *ball, *floor_;
    floor_ = shape_create(&f->arena, SHAPE_PLANE);
    vec_set(floor_->b, 0, 0, 1);
    ball = shape_create(&f->arena, SHAPE_SPHERE);
    vec_set(ball->a, 0, 8, 0);
    ball->radius = 3;
    shape *children[] = {floor_, pair, ball};
    tree->children = children, tree->child_count = 3;
    assert_true(baked_is_needed(tree) && !baked_is_needed(floor_));
    bounds reach = {{-12, -12, -12}, {12, 12, 12}};
    assert_int_equal(baked_create(f->ctx, tree, 3, 1, &reach, &b), SPATE_OK);
    e = compare(b, tree, 3, 16, 2); /* partly out of reach: there the tree is asked */
    assert_true(e.contact < 0.25 && e.band < 0.5 && e.inside > 1000);
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    baked_free(b);
}

/* What a query leaves for the next one changes its speed alone, in small steps and in jumps. */
static void test_hints(void **state) {
    if (WATCHED) skip();
    fixture *f = *state;
    start_mesh();
    add_sphere(5, (const double[3]){-6, 0, 0});
    add_torus(4, 1.5, (const double[3]){6, 1, 0});
    shape *pair = finish_mesh(&f->arena), *ball = make_sphere(&f->arena, 4, 0, 0, 5);
    shape *tree = shape_create(&f->arena, SHAPE_UNION);
    shape *children[] = {pair, ball};
    tree->children = children, tree->child_count = 2;
    shape_hints hints = {0};
    int inside = 0;
    double x[3] = {0}, to[3];
    for (uint64_t n = 0; n < 6000; n++) {
        scatter(n, 13, 3, to);
        double share = n % 50 ? 0.02 : 1;
        for (int a = 0; a < 3; a++) x[a] += share * (to[a] - x[a]);
        double d = shape_distance(tree, 3, x);
        assert_near(shape_distance_near(tree, 3, x, &hints), d, 1e-12);
        inside += d < 0;
    }
    assert_true(inside > 200 && inside < 5800);
}

static void test_plane(void **state) {
    fixture *f = *state;
    shape *s = make_sphere(&f->arena, 9, 0.3, -0.2, 0);
    baked *b = bake(f->ctx, s, 2, 1);
    errors e = compare(b, s, 2, 16, 2);
    assert_true(e.in_band > 4000 && e.band < 0.1 && e.turn < 0.005);
    assert_int_equal(e.wrong_signs + e.too_long + e.too_shallow, 0);
    double normal[3];
    baked_distance(b, (const double[3]){9, 0, 0}, normal);
    assert_true(normal[2] == 0);
    baked_free(b);
}

static void test_out_of_reach_and_too_large(void **state) {
    fixture *f = *state;
    shape *s = make_sphere(&f->arena, 9, 0, 0, 0);
    bounds elsewhere = {{50, 50, 50}, {60, 60, 60}};
    baked *b;
    assert_int_equal(baked_create(f->ctx, s, 3, 1, &elsewhere, &b), SPATE_OK);
    assert_int_equal(baked_measure(b).bricks, 0);
    double x[3] = {1, 2, 3};
    assert_near(baked_distance(b, x, NULL), shape_distance(s, 3, x), 0);
    vec_set(x, 30, 0, 0);
    assert_near(baked_distance(b, x, NULL), 21, 1e-9);
    vec_set(x, NAN, 0, 0);
    baked_distance(b, x, NULL);
    baked_free(b);
    int64_t blocks = f->ctx->blocks_now;
    assert_int_equal(baked_create(f->ctx, s, 3, 1e-3, &everywhere, &b), SPATE_OK);
    assert_null(b);
    assert_int_equal(f->ctx->blocks_now, blocks);
}

/* ---- Threads and memory ---- */

static uint64_t hash_of_bake(int threads) {
    spate_config config = spate_default_config();
    config.threads = threads;
    spate_context *ctx;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    arena a = arena_create(ctx);
    start_mesh();
    add_box((const double[3]){-8, -8, -8}, (const double[3]){8, 8, 8});
    add_sphere(4, (const double[3]){0, 0, 7});
    baked *b = bake(ctx, finish_mesh(&a), 3, 1);
    uint64_t hash = 0;
    for (uint64_t n = 0; n < 20000; n++) {
        double x[3], answer[4];
        scatter(n, 13, 3, x);
        answer[3] = baked_distance(b, x, answer);
        for (int i = 0; i < 4; i++) {
            uint64_t bits;
            memcpy(&bits, &answer[i], sizeof bits);
            hash = random_mix(hash ^ bits);
        }
    }
    baked_free(b);
    arena_free(&a);
    spate_close(ctx);
    return hash;
}

static void test_threads(void **state) {
    (void)state;
    uint64_t one = hash_of_bake(1);
    assert_true(hash_of_bake(2) == one);
    assert_true(hash_of_bake(3) == one);
}

static int allowed; /* allocations before one is refused; negative: all are granted */

static void *allocate(size_t bytes, void *user) {
    (void)user;
    return allowed == 0 || (allowed > 0 && --allowed == 0) ? NULL : malloc(bytes);
}
static void release(void *block, void *user) {
    (void)user;
    free(block);
}

static void test_no_memory(void **state) {
    (void)state;
    spate_config config = {.allocate = allocate, .release = release, .threads = 1};
    spate_context *ctx;
    allowed = -1;
    assert_int_equal(spate_open(&config, &ctx), SPATE_OK);
    arena a = arena_create(ctx);
    start_mesh();
    add_box((const double[3]){-3, -3, -3}, (const double[3]){3, 3, 3});
    shape *s = finish_mesh(&a);
    int64_t blocks = ctx->blocks_now;
    spate_status status = SPATE_OUT_OF_MEMORY;
    int refused = 0;
    for (int at = 1; status != SPATE_OK; at++) {
        baked *b = NULL;
        allowed = at;
        status = baked_create(ctx, s, 3, 1, &everywhere, &b);
        if (status == SPATE_OK) {
            baked_free(b);
        } else {
            assert_int_equal(status, SPATE_OUT_OF_MEMORY);
            assert_null(b);
            refused++;
        }
        assert_int_equal(ctx->blocks_now, blocks);
    }
    assert_true(refused >= 5); /* itself, bricks, samples twice, lists */
    allowed = -1;
    arena_free(&a);
    spate_close(ctx);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sphere),
        cmocka_unit_test(test_hollows),
        cmocka_unit_test(test_edges_and_thin_walls),
        cmocka_unit_test(test_thin_walls_are_told),
        cmocka_unit_test(test_normal_where_the_gradient_vanishes),
        cmocka_unit_test(test_open_mesh),
        cmocka_unit_test(test_pieces_and_trees),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_plane),
        cmocka_unit_test(test_out_of_reach_and_too_large),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
