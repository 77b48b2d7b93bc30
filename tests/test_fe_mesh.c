/*
 * Finite elements of shapes: angles within bounds wherever the lattice lies, volumes that converge,
 * surfaces without gaps, the same for any number of threads; and the same in pieces.
 */
#include "core/random.h"
#include "core/vec.h"
#include "scene/fracture.h"
#include "scene/mesh_body.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "with_arena.h"

typedef struct quality {
    double least, most; /* dihedral angles in degrees; 2D: angles of corners */
    double volume;
} quality;

static void add_angle(quality *q, const double a[3], const double b[3]) {
    double across[3];
    vec_cross(across, a, b);
    const double angle = atan2(vec_length(across), vec_dot(a, b)) * 180 / PI;
    q->least = fmin(q->least, angle), q->most = fmax(q->most, angle);
}

/* The angle at the edge i k of a tetrahedron, whose other corners are m and n. */
static void add_dihedral(quality *q, const double *x[4], int i, int k, int m, int n) {
    double e[3], a[3], b[3];
    vec_sub(e, x[k], x[i]);
    vec_sub(a, x[m], x[i]);
    vec_sub(b, x[n], x[i]);
    vec_add_scaled(a, a, -vec_dot(a, e) / vec_dot(e, e), e);
    vec_add_scaled(b, b, -vec_dot(b, e) / vec_dot(e, e), e);
    add_angle(q, a, b);
}

static void add_element(quality *q, const double *x[4], int dim) {
    static const int others[6][4] = {{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2},
                                     {1, 2, 0, 3}, {1, 3, 0, 2}, {2, 3, 0, 1}};
    double D[3][3] = {{0}, {0}, {0, 0, 1}};
    for (int k = 0; k < dim; k++) vec_sub(D[k], x[k + 1], x[0]);
    const double volume = mat_determinant((const double(*)[3])D) / (dim == 2 ? 2 : 6);
    assert_true(volume > 0);
    q->volume += volume;
    for (int k = 0; k < 6 && dim == 3; k++)
        add_dihedral(q, x, others[k][0], others[k][1], others[k][2], others[k][3]);
    for (int k = 0; k < 3 && dim == 2; k++) {
        double a[3], b[3];
        vec_sub(a, x[(k + 1) % 3], x[k]);
        vec_sub(b, x[(k + 2) % 3], x[k]);
        add_angle(q, a, b);
    }
}

static quality measure(const mesh_body *m, int dim, quality q) {
    q.volume = 0;
    for (int64_t e = 0; e < m->element_count; e++) {
        const double *x[4];
        for (int k = 0; k < 4; k++) x[k] = m->vertices[m->elements[e][k <= dim ? k : 0]];
        add_element(&q, x, dim);
    }
    return q;
}

/* A closed surface: every edge of the skin has two faces, that run it both ways; in 2D every vertex
 * begins one edge and ends one. Returns its area. */
static double check_skin(fixture *f, const mesh_body *m, int dim) {
    int32_t(*faces)[3];
    int64_t count;
    double area = 0, sum[3] = {0};
    assert_int_equal(mesh_body_skin(&f->arena, m, dim, &faces, &count), SPATE_OK);
    int64_t *turns = calloc((size_t)m->vertex_count, sizeof *turns);
    for (int64_t i = 0; i < count; i++) {
        double a[3], b[3] = {0, 0, -1}, n[3];
        vec_sub(a, m->vertices[faces[i][1]], m->vertices[faces[i][0]]);
        if (dim == 3) vec_sub(b, m->vertices[faces[i][2]], m->vertices[faces[i][0]]);
        vec_cross(n, a, b);
        area += vec_length(n) / (dim == 2 ? 1 : 2);
        vec_add(sum, sum, n);
        for (int k = 0; k < dim; k++) { /* a sum over edges that cancels for a closed surface */
            const int32_t from = faces[i][k], to = faces[i][(k + 1) % dim];
            if (dim == 3 || k == 0)
                turns[from] += to + 1, turns[to] -= dim == 3 ? from + 1 : to + 1;
        }
    }
    for (int64_t v = 0; v < m->vertex_count && dim == 3; v++) assert_true(turns[v] == 0);
    assert_true(vec_length(sum) < 1e-9 * area);
    free(turns);
    return area;
}

static void place_ellipsoid(shape *s, uint64_t number) {
    for (int a = 0; a < 3; a++) {
        s->a[a] = random_unit(1, number, (uint64_t)a);
        s->b[a] = 0.5 + random_unit(1, number, (uint64_t)a + 3);
    }
}

/* Labelle and Shewchuk 2007 prove 10.78 and 164.74 degrees for a smooth surface that the lattice
 * resolves; in 2D our bounds are measured ones. */
static void angles_are_bounded(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++) {
        quality all = {180, 0, 0};
        for (uint64_t k = 0; k < (dim == 2 ? 200 : 12); k++) {
            mesh_body m;
            shape *s = shape_create(&f->arena, SHAPE_ELLIPSOID);
            place_ellipsoid(s, k);
            const fe_fields g = {.spacing = 0.12};
            assert_int_equal(mesh_from_shape(&f->arena, s, dim, &g, &m), SPATE_OK);
            all = measure(&m, dim, all);
            check_skin(f, &m, dim);
        }
        print_message("%dD: angles from %.2f to %.2f degrees\n", dim, all.least, all.most);
        assert_true(all.least > (dim == 2 ? 15 : 10.78));
        assert_true(all.most < (dim == 2 ? 140 : 164.74));
    }
}

static void volumes_converge(void **state) {
    fixture *f = *state;
    shape *s = shape_create(&f->arena, SHAPE_SPHERE);
    vec_set(s->a, 0.1, 0.2, 0.3), s->radius = 1;
    for (int dim = 2; dim <= 3; dim++) {
        const double volume = dim == 2 ? PI : 4 * PI / 3, area = dim == 2 ? 2 * PI : 4 * PI;
        double error[2];
        for (int k = 0; k < 2; k++) {
            mesh_body m;
            const fe_fields g = {.spacing = k ? 0.1 : 0.2};
            assert_int_equal(mesh_from_shape(&f->arena, s, dim, &g, &m), SPATE_OK);
            const quality q = measure(&m, dim, (quality){180, 0, 0});
            error[k] = 1 - q.volume / volume;
            assert_near(check_skin(f, &m, dim) / area, 1, k ? 0.01 : 0.04);
        }
        print_message("%dD ball: volume %.4f and %.4f\n", dim, 1 - error[0], 1 - error[1]);
        assert_true(error[0] > 0 && error[0] < 0.03);
        assert_true(error[0] / error[1] > 3);
    }
}

/* Pieces: as many as asked for, none lost or doubled; each element whole, and cuts flat where they
 * can be. */
static void bodies_break_into_cells(void **state) {
    fixture *f = *state;
    for (int dim = 2; dim <= 3; dim++)
        for (int round = 0; round < 2; round++) {
            shape *s = shape_create(&f->arena, round ? SHAPE_SPHERE : SHAPE_BOX);
            if (round)
                s->radius = 1;
            else
                vec_set(s->b, 2, 1, 1);
            mesh_body m, again;
            int64_t count;
            const fe_fields g = {.spacing = 0.08};
            assert_int_equal(mesh_from_shape(&f->arena, s, dim, &g, &m), SPATE_OK);
            again = m;
            again.vertices = arena_take(&f->arena, (size_t)m.vertex_count, sizeof *m.vertices);
            memcpy(again.vertices, m.vertices, (size_t)m.vertex_count * sizeof *m.vertices);
            const quality before = measure(&m, dim, (quality){180, 0, 0});
            const int64_t elements = m.element_count;
            assert_int_equal(mesh_break(&f->arena, dim, 20, 4, &m), SPATE_OK);
            assert_int_equal(mesh_count_pieces(f->ctx, &m, dim, &count, NULL), SPATE_OK);
            const quality after = measure(&m, dim, (quality){180, 0, 0});
            print_message("%dD %s: %lld pieces, angles %.1f to %.1f (%.1f to %.1f)\n", dim,
                          round ? "ball" : "box", (long long)count, after.least, after.most,
                          before.least, before.most);
            assert_int_equal(count, 20);
            assert_int_equal(m.element_count, elements);
            assert_near(after.volume / before.volume, 1, 1e-12);
            assert_true(after.least > 15 && after.most < 150);
            assert_true(check_skin(f, &m, dim) > 1.5 * (dim == 2 ? 6 : 10));
            assert_int_equal(mesh_break(&f->arena, dim, 20, 4, &again), SPATE_OK);
            assert_memory_equal(m.elements, again.elements, (size_t)elements * sizeof *m.elements);
            assert_memory_equal(m.vertices, again.vertices,
                                (size_t)m.vertex_count * sizeof *m.vertices);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(angles_are_bounded, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(volumes_converge, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(bodies_break_into_cells, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
