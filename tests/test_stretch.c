/* Shapes with a factor for each axis: their inside is the mapped one, and distances stay exact. */
#include "core/random.h"
#include "core/vec.h"
#include "scene/stretch.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "with_arena.h"

static const double factors[3] = {1.5, 0.6, 2.2};

static void stretch(fixture *f, shape *s, int dim) {
    double by[3][3];
    const char *why = NULL;
    mat_identity(by);
    for (int i = 0; i < dim; i++) by[i][i] = factors[i];
    assert_int_equal(shape_stretch(&f->arena, s, dim, by, &why), SPATE_OK);
    assert_null(why);
}

static void random_point(uint64_t i, int dim, double span, double x[3]) {
    for (int k = 0; k < 3; k++)
        x[k] = k < dim ? span * (2 * random_unit(9, i, (uint64_t)k) - 1) : 0;
}

/* A cube of side 1 around the origin. */
static mesh *cube(fixture *f) {
    static const char obj[] = "v -.5 -.5 -.5\nv .5 -.5 -.5\nv .5 .5 -.5\nv -.5 .5 -.5\n"
                              "v -.5 -.5 .5\nv .5 -.5 .5\nv .5 .5 .5\nv -.5 .5 .5\n"
                              "f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
    mesh *m;
    assert_int_equal(mesh_read(&f->arena, "cube.obj", obj, sizeof obj - 1, &m), SPATE_OK);
    return m;
}

static double corners[4][3] = {{-0.4, -0.5, 0}, {0.7, -0.3, 0}, {0.2, 0.1, 0}, {0.3, 0.8, 0}};

/* One of every kind that can be stretched; NULL for one that there is not in this dimension. */
static shape *make(fixture *f, shape_kind kind, int dim) {
    shape *s = shape_create(&f->arena, kind);
    vec_set(s->a, -0.4, -0.3, dim == 3 ? -0.2 : 0);
    vec_set(s->b, 0.5, 0.2, dim == 3 ? 0.35 : 0);
    s->radius = 0.3;
    switch (kind) {
    case SHAPE_PLANE: vec_set(s->b, 0.6, 0.8, 0); break;
    case SHAPE_POLYGON:
        s->points = corners, s->point_count = 4;
        if (dim == 3) return NULL;
        break;
    case SHAPE_MESH:
        s->mesh = cube(f);
        if (dim == 2) return NULL;
        break;
    case SHAPE_CYLINDER: /* along x, so that y alone is across in 2D */
        vec_set(s->b, 0.5, -0.3, 0);
        if (dim == 3) return NULL;
        break;
    default: break;
    }
    return s;
}

static const shape_kind kinds[] = {SHAPE_BOX,  SHAPE_SPHERE,  SHAPE_PLANE,
                                   SHAPE_MESH, SHAPE_POLYGON, SHAPE_CYLINDER};

/* Inside what is stretched is what was inside before; the distance leads to the surface in one step
 * (negative control: that of the shape as it was, times the mean factor, does not). */
static void test_single_shapes(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int k = 0; k < COUNT_OF(kinds); k++) {
            shape *before = make(f, kinds[k], dim), *s = make(f, kinds[k], dim);
            if (!s) continue;
            stretch(f, s, dim);
            int inside = 0, wrong = 0;
            for (uint64_t i = 0; i < 1000; i++) {
                double x[3], y[3], n[3], foot[3], m[3];
                random_point(i, dim, 0.8, y);
                for (int a = 0; a < 3; a++) x[a] = a < dim ? factors[a] * y[a] : y[a];
                double d = shape_normal(s, dim, x, n), was = shape_distance(before, dim, y);
                assert_int_equal(d < 0, was < 0);
                inside += d < 0;
                vec_add_scaled(foot, x, -d, n);
                assert_near(shape_normal(s, dim, foot, m), 0, 1e-9);
                vec_add_scaled(foot, x, -1.3 * was, n);
                wrong += fabs(shape_distance(s, dim, foot)) > 1e-3;
            }
            assert_in_range(inside, 20, 980);
            assert_in_range(wrong, 500, 1000);
            double grown = factors[0] * factors[1] * (dim == 3 ? factors[2] : 1);
            double volume = shape_volume(before, dim) * grown;
            if (kinds[k] != SHAPE_PLANE) assert_near(shape_volume(s, dim), volume, 1e-9 * volume);
        }
}

/* In a tree, what is scaled, moved and turned by right angles inside is stretched with the rest. */
static void test_trees(void **state) {
    fixture *f = *state;
    const double z[3] = {0, 0, 1};
    for (int stretched = 0; stretched <= 1; stretched++) {
        shape *s = shape_create(&f->arena, SHAPE_DIFFERENCE);
        shape *children[2] = {make(f, SHAPE_BOX, 3), make(f, SHAPE_SPHERE, 3)};
        s->children = children, s->child_count = 2;
        mat_rotation(children[0]->turn, z, PI / 2);
        vec_set(children[0]->move, 0.1, 0.2, 0.3);
        children[0]->scale = 1.7;
        if (stretched) stretch(f, s, 3);
        for (uint64_t i = 0; i < 500; i++) {
            static bool inside[500];
            double x[3];
            random_point(i, 3, 1, x);
            for (int a = 0; a < 3 && stretched; a++) x[a] *= factors[a];
            bool in = shape_distance(s, 3, x) < 0;
            if (!stretched) inside[i] = in;
            assert_int_equal(in, inside[i]);
        }
    }
}

/* The same factor on every axis is a scale, which every shape can have. */
static void test_even_factors(void **state) {
    fixture *f = *state;
    double by[3][3] = {{2, 0, 0}, {0, 2, 0}, {0, 0, 2}};
    const char *why = NULL;
    shape *s = shape_create(&f->arena, SHAPE_CAPSULE);
    assert_int_equal(shape_stretch(&f->arena, s, 3, by, &why), SPATE_OK);
    assert_null(why);
    assert_near(s->scale, 2, 0);
}

/* From the middle of a plate the way out is the short one, and it has one direction. */
static void test_middle_of_an_ellipsoid(void **state) {
    fixture *f = *state;
    shape *s = shape_create(&f->arena, SHAPE_ELLIPSOID);
    double n[3];
    vec_set(s->b, 3, 0.5, 0.5);
    assert_near(shape_normal(s, 3, (double[3]){0, 0, 0}, n), -0.5, 1e-12);
    assert_near(vec_length(n), 1, 1e-12);
    /* On the long axis: Eberly 2013, x0 = e0^2 y0 / (e0^2 - e1^2) as long as that is inside. */
    assert_near(shape_normal(s, 3, (double[3]){1, 0, 0}, n),
                -hypot(9 / 8.75 - 1, 0.5 * sqrt(1 - 9 / (8.75 * 8.75))), 1e-9);
    assert_near(shape_normal(s, 3, (double[3]){5, 0, 0}, n), 2, 1e-12);
    assert_near(n[0], 1, 1e-9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_shapes),
        cmocka_unit_test(test_trees),
        cmocka_unit_test(test_even_factors),
        cmocka_unit_test(test_middle_of_an_ellipsoid),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
