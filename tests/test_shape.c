/* Distances of shapes against what sampling of their surface and inside tests by hand say. */
#include "core/random.h"
#include "core/vec.h"
#include "scene/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "with_arena.h"

/* ---- One of each
 * ------------------------------------------------------------------------------------- */

enum { PRIMITIVES = 9 };

static double STAR[6][3] = {{0, 0, 0}, {1, -0.2, 0},  {0.7, 0.3, 0},
                            {1, 1, 0}, {0.3, 0.6, 0}, {-0.2, 0.9, 0}};

static shape *make(fixture *f, shape_kind kind) {
    shape *s = shape_create(&f->arena, kind);
    vec_set(s->a, -0.4, -0.3, -0.2);
    vec_set(s->b, 0.5, 0.2, 0.35);
    s->radius = 0.3;
    switch (kind) {
    case SHAPE_ROUNDED_BOX: s->radius = 0.1; break;
    case SHAPE_TORUS:
        vec_set(s->a, 0.1, 0.05, -0.1);
        vec_set(s->b, 0.3, 0.4, 1.0);
        s->radius = 0.5, s->thickness = 0.2;
        break;
    case SHAPE_ELLIPSOID: vec_set(s->b, 0.8, 0.25, 0.4); break;
    case SHAPE_PLANE: vec_set(s->b, 0.6, 0.8, 0); break;
    case SHAPE_POLYGON: s->points = STAR, s->point_count = 6; break;
    default: break;
    }
    return s;
}

static void place(shape *s, int dim) {
    double axis[3] = {0.6, 0, 0.8};
    if (dim == 2) vec_set(axis, 0, 0, 1);
    mat_rotation(s->turn, axis, 0.7);
    vec_set(s->move, 0.2, -0.1, dim == 3 ? 0.3 : 0);
    s->scale = 1.4;
}

static const shape_kind KINDS[] = {SHAPE_BOX,      SHAPE_ROUNDED_BOX, SHAPE_SPHERE,
                                   SHAPE_CYLINDER, SHAPE_CAPSULE,     SHAPE_TORUS,
                                   SHAPE_PLANE,    SHAPE_POLYGON,     SHAPE_ELLIPSOID};

static void random_point(uint64_t i, int dim, double span, double x[3]) {
    for (int k = 0; k < 3; k++)
        x[k] = k < dim ? span * (2 * random_unit(5, i, (uint64_t)k) - 1) : 0;
}

/* An exact signed distance has a gradient of length 1 that leads to the surface in one step; one
 * that is only a bound does not. This is the test of exactness for all primitives. */
static bool leads_to_surface(const shape *s, int dim, const double x[3]) {
    double n[3], foot[3], m[3];
    double d = shape_normal(s, dim, x, n);
    vec_add_scaled(foot, x, -d, n);
    if (fabs(vec_length(n) - 1) > 1e-9) return false;
    return fabs(shape_normal(s, dim, foot, m)) < 1e-9;
}

/* ... and it is the nearest surface: within |d| of x no point has the other sign. */
static bool none_nearer(const shape *s, int dim, const double x[3], double d) {
    for (uint64_t i = 0; i < 40; i++) {
        double u[3], y[3];
        random_point(i + 77, dim, 1, u);
        if (!vec_normalise(u)) continue;
        vec_add_scaled(y, x, 0.999 * fabs(d), u);
        if (shape_distance(s, dim, y) * d < 0) return false;
    }
    return true;
}

static void test_primitives_are_exact(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(KINDS); k++)
            for (int placed = 0; placed < 2; placed++) {
                if (dim == 3 && KINDS[k] == SHAPE_POLYGON) continue;
                shape *s = make(f, KINDS[k]);
                if (placed) place(s, dim);
                int inside = 0;
                for (uint64_t i = 0; i < 1500; i++) {
                    double x[3], n[3];
                    random_point(i, dim, 1.3, x);
                    double d = shape_normal(s, dim, x, n);
                    inside += d < 0;
                    if (!leads_to_surface(s, dim, x) || !none_nearer(s, dim, x, d))
                        fail_msg("kind %d, %dD, placed %d: (%g, %g, %g) d %g", KINDS[k], dim,
                                 placed, x[0], x[1], x[2], d);
                }
                assert_in_range(inside, 3, 1497);
            }
}

/* Negative control: the intersection of two spheres is only a bound outside their rim. */
static void test_combinations_bound_the_distance(void **state) {
    fixture *f = *state;
    shape *a = make(f, SHAPE_SPHERE), *b = make(f, SHAPE_SPHERE);
    vec_set(a->a, -0.2, 0, 0);
    vec_set(b->a, 0.2, 0, 0);
    shape *children[2] = {a, b};
    shape *s = shape_create(&f->arena, SHAPE_INTERSECTION);
    s->children = children, s->child_count = 2;
    double above[3] = {0, 0.6, 0}, rim = sqrt(0.09 - 0.04);
    double d = shape_distance(s, 3, above);
    assert_true(d > 0 && d < 0.6 - rim - 0.01);
    assert_false(leads_to_surface(s, 3, above));
}

/* Signs of unions, differences and intersections are those of the sets. */
static void test_signs_of_combinations(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++) {
        shape *a = make(f, SHAPE_BOX), *b = make(f, SHAPE_CAPSULE), *c = make(f, SHAPE_SPHERE);
        place(b, dim);
        vec_set(c->a, -0.1, -0.2, 0);
        c->radius = 0.4;
        shape *children[3] = {a, b, c};
        shape_kind kinds[3] = {SHAPE_UNION, SHAPE_DIFFERENCE, SHAPE_INTERSECTION};
        for (int k = 0; k < 3; k++) {
            shape *s = shape_create(&f->arena, kinds[k]);
            s->children = children, s->child_count = 3;
            int hits = 0;
            for (uint64_t i = 0; i < 2000; i++) {
                double x[3], n[3];
                random_point(i, dim, 0.8, x);
                bool in[3];
                for (int j = 0; j < 3; j++) in[j] = shape_distance(children[j], dim, x) < 0;
                bool want = k == 0   ? in[0] || in[1] || in[2]
                            : k == 1 ? in[0] && !in[1] && !in[2]
                                     : in[0] && in[1] && in[2];
                double d = shape_normal(s, dim, x, n);
                assert_int_equal(want, d < 0);
                assert_true(none_nearer(s, dim, x, d));
                assert_true(fabs(vec_length(n) - 1) < 1e-9);
                hits += want;
            }
            assert_in_range(hits, 3, 1997);
        }
    }
}

/* The gradient of every shape is that of its distance. */
static void test_normals_are_gradients(void **state) {
    fixture *f = *state;
    for (int k = 0; k < COUNT_OF(KINDS); k++) {
        int dim = KINDS[k] == SHAPE_POLYGON ? 2 : 3, bad = 0;
        shape *s = make(f, KINDS[k]);
        place(s, dim);
        for (uint64_t i = 0; i < 300; i++) {
            double x[3], n[3], step = 1e-6;
            random_point(i, dim, 1.3, x);
            shape_normal(s, dim, x, n);
            for (int c = 0; c < dim; c++) {
                double y[3], z[3];
                vec_copy(y, x);
                vec_copy(z, x);
                y[c] += step, z[c] -= step;
                double slope = (shape_distance(s, dim, y) - shape_distance(s, dim, z)) / (2 * step);
                bad += fabs(slope - n[c]) > 1e-4;
            }
        }
        assert_in_range(bad, 0, 2); /* a point may lie on a ridge */
    }
}

/* ---- Numbers by hand
 * ----------------------------------------------------------------------------------- */

static void test_known_distances(void **state) {
    fixture *f = *state;
    shape *box = shape_create(&f->arena, SHAPE_BOX);
    vec_set(box->b, 2, 1, 1);
    assert_near(shape_distance(box, 3, (double[3]){5, 5, 0.5}), 5, 1e-12);
    assert_near(shape_distance(box, 3, (double[3]){1, 0.4, 0.5}), -0.4, 1e-12);
    assert_near(shape_distance(box, 3, (double[3]){1, 0.5, 9}), 8, 1e-12);
    assert_near(shape_distance(box, 2, (double[3]){1, 0.5, 9}), -0.5, 1e-12);

    shape *rod = shape_create(&f->arena, SHAPE_CYLINDER);
    vec_set(rod->b, 4, 0, 0);
    rod->radius = 1;
    assert_near(shape_distance(rod, 3, (double[3]){7, 3, 4}), 5, 1e-12);
    assert_near(shape_distance(rod, 2, (double[3]){7, 5, 0}), 5, 1e-12);
    assert_near(shape_distance(rod, 3, (double[3]){2, 0, 0}), -1, 1e-12);

    shape *ring = shape_create(&f->arena, SHAPE_TORUS);
    vec_set(ring->b, 0, 1, 0);
    ring->radius = 3, ring->thickness = 1;
    assert_near(shape_distance(ring, 3, (double[3]){0, 0, 0}), 2, 1e-12);
    assert_near(shape_distance(ring, 3, (double[3]){6, 4, 0}), 4, 1e-12);
    assert_near(shape_distance(ring, 2, (double[3]){0, 3, 0}), -1, 1e-12);
    assert_near(shape_distance(ring, 2, (double[3]){0, 0, 0}), 2, 1e-12);

    shape *slope = shape_create(&f->arena, SHAPE_PLANE);
    vec_set(slope->b, 0, 2, 0); /* need not be of unit length */
    assert_near(shape_distance(slope, 3, (double[3]){1, 3, 1}), 3, 1e-12);
}

/* A tube thicker than its ring has a dent on the axis and no hole. */
static void test_thick_torus(void **state) {
    fixture *f = *state;
    shape *ring = shape_create(&f->arena, SHAPE_TORUS);
    vec_set(ring->b, 0, 0, 1);
    ring->radius = 0.3, ring->thickness = 0.5;
    assert_near(shape_distance(ring, 3, (double[3]){0, 0, 0}), -0.4, 1e-12);
    assert_near(shape_distance(ring, 2, (double[3]){0, 0, 0}), -0.8, 1e-12);
    assert_true(isnan(shape_volume(ring, 3)));
    for (uint64_t i = 0; i < 500; i++) {
        double x[3];
        random_point(i, 3, 1, x);
        double d = shape_distance(ring, 3, x);
        assert_true(leads_to_surface(ring, 3, x) && none_nearer(ring, 3, x, d));
    }
}

/* The same polygon drawn both ways round. */
static void test_polygon_winding(void **state) {
    fixture *f = *state;
    double reversed[6][3];
    for (int i = 0; i < 6; i++) vec_copy(reversed[i], STAR[5 - i]);
    shape *a = make(f, SHAPE_POLYGON), *b = make(f, SHAPE_POLYGON);
    b->points = reversed;
    for (uint64_t i = 0; i < 300; i++) {
        double x[3];
        random_point(i, 2, 1.2, x);
        assert_near(shape_distance(a, 2, x), shape_distance(b, 2, x), 1e-14);
    }
    double n[3], m[3], on_edge[3] = {0.5, -0.1, 0};
    shape_normal(a, 2, on_edge, n);
    shape_normal(b, 2, on_edge, m);
    assert_near(vec_dot(n, m), 1, 1e-9);
    assert_true(n[1] < 0);
    assert_near(shape_volume(a, 2), shape_volume(b, 2), 1e-14);
    double bow[4][3] = {{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}};
    a->points = bow, a->point_count = 4;
    assert_true(isnan(shape_volume(a, 2)));
}

/* ---- Volume, bounds, thickness
 * ---------------------------------------------------------------------------- */

/* Share of a box of side 4 that is inside. */
static double measured_volume(const shape *s, int dim) {
    int64_t hits = 0, tries = 60000;
    for (int64_t i = 0; i < tries; i++) {
        double x[3];
        random_point((uint64_t)i, dim, 2, x);
        hits += shape_distance(s, dim, x) < 0;
    }
    return (double)hits / (double)tries * (dim == 2 ? 16 : 64);
}

static void test_volumes(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(KINDS); k++) {
            shape *s = make(f, KINDS[k]);
            place(s, dim);
            double volume = shape_volume(s, dim);
            if (KINDS[k] == SHAPE_PLANE || (dim == 3 && KINDS[k] == SHAPE_POLYGON)) {
                assert_true(isnan(volume));
                continue;
            }
            /* four standard deviations of counting */
            double whole = dim == 2 ? 16 : 64, sigma = sqrt(volume * whole / 60000);
            assert_near(measured_volume(s, dim), volume, 4 * sigma);
        }
    shape *ball = make(f, SHAPE_SPHERE);
    ball->radius = 2, ball->scale = 0.5;
    assert_near(shape_volume(ball, 3), 4 * PI / 3, 1e-12);
    assert_near(shape_volume(ball, 2), PI, 1e-12);
}

static void test_bounds_are_tight(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(KINDS); k++) {
            if (KINDS[k] == SHAPE_PLANE || KINDS[k] == SHAPE_ROUNDED_BOX) continue;
            if (dim == 3 && KINDS[k] == SHAPE_POLYGON) continue;
            shape *s = make(f, KINDS[k]);
            place(s, dim);
            bounds b = shape_bounds(s, dim);
            double low[3] = {9, 9, 9}, high[3] = {-9, -9, -9};
            for (uint64_t i = 0; i < 20000; i++) { /* points of the surface, by projection */
                double x[3], n[3];
                random_point(i, dim, 3, x);
                double d = shape_normal(s, dim, x, n);
                vec_add_scaled(x, x, -d, n);
                for (int c = 0; c < dim; c++)
                    low[c] = fmin(low[c], x[c]), high[c] = fmax(high[c], x[c]);
            }
            for (int c = 0; c < dim; c++) {
                assert_true(b.min[c] <= low[c] + 1e-9 && b.max[c] >= high[c] - 1e-9);
                if (!(low[c] - b.min[c] < 0.05 && b.max[c] - high[c] < 0.05))
                    fail_msg("kind %d, %dD, axis %d: %g %g, %g %g", KINDS[k], dim, c, b.min[c],
                             low[c], high[c], b.max[c]);
            }
        }
    bounds plane = shape_bounds(make(f, SHAPE_PLANE), 3);
    assert_true(isinf(plane.min[0]) && isinf(plane.max[0]) && isinf(plane.max[2]));
    shape *floor_plane = make(f, SHAPE_PLANE);
    vec_set(floor_plane->b, 0, 1, 0);
    plane = shape_bounds(floor_plane, 3);
    assert_near(plane.max[1], floor_plane->a[1], 1e-12);
    assert_true(isinf(plane.min[1]));
}

static void test_thickness(void **state) {
    fixture *f = *state;
    shape *s = make(f, SHAPE_BOX);
    s->scale = 2;
    assert_near(shape_thickness(s, 3), 1.0, 1e-12);
    assert_near(shape_thickness(make(f, SHAPE_TORUS), 3), 0.4, 1e-12);
    assert_true(isinf(shape_thickness(make(f, SHAPE_PLANE), 3)));
}

/* Points have no inside. */
static void test_points(void **state) {
    fixture *f = *state;
    shape *s = shape_create(&f->arena, SHAPE_POINTS);
    s->points = STAR, s->point_count = 6;
    assert_near(shape_distance(s, 2, (double[3]){0, -2, 5}), 2, 1e-12);
    assert_near(shape_distance(s, 2, (double[3]){1, 1, 0}), 0, 0);
    assert_true(isnan(shape_volume(s, 2)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primitives_are_exact),
        cmocka_unit_test(test_combinations_bound_the_distance),
        cmocka_unit_test(test_signs_of_combinations),
        cmocka_unit_test(test_normals_are_gradients),
        cmocka_unit_test(test_known_distances),
        cmocka_unit_test(test_thick_torus),
        cmocka_unit_test(test_polygon_winding),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_bounds_are_tight),
        cmocka_unit_test(test_thickness),
        cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
