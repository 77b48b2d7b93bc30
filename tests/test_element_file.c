/*
 * Elements of files: one mesh of two tetrahedra in every format, a square of two triangles, and
 * what is refused, with the element's number.
 */
#include "core/vec.h"
#include "scene/element_file.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "with_arena.h"

static const char gmsh_2[] = "$MeshFormat\n"
                             "2.2 0 8\n"
                             "$EndMeshFormat\n"
                             "$Nodes\n"
                             "5\n"
                             "10 0 0 0\n"
                             "20 1 0 0\n"
                             "30 0 1 0\n"
                             "40 0 0 1\n"
                             "50 1 1 1\n"
                             "$EndNodes\n"
                             "$Elements\n"
                             "4\n"
                             "1 15 2 0 1 10\n"
                             "2 2 2 0 1 10 20 30\n"
                             "3 4 2 0 1 10 20 30 40\n"
                             "4 4 2 0 1 20 30 40 50\n"
                             "$EndElements\n";
static const char gmsh_4[] = "$MeshFormat\n"
                             "4.1 0 8\n"
                             "$EndMeshFormat\n"
                             "$Entities\n"
                             "1 0 0 0\n"
                             "1 0 0 0 0\n"
                             "$EndEntities\n"
                             "$Nodes\n"
                             "2 5 1 9\n"
                             "0 1 0 1\n"
                             "9\n"
                             "0 0 0\n"
                             "3 1 0 4\n"
                             "2\n"
                             "3\n"
                             "4\n"
                             "5\n"
                             "1 0 0\n"
                             "0 1 0\n"
                             "0 0 1\n"
                             "1 1 1\n"
                             "$EndNodes\n"
                             "$Elements\n"
                             "2 3 1 3\n"
                             "2 1 2 1\n"
                             "7 9 2 3\n"
                             "3 1 4 2\n"
                             "1 9 2 3 4\n"
                             "2 2 3 4 5\n"
                             "$EndElements\n";
static const char vtk_3[] = "# vtk DataFile Version 3.0\n"
                            "two\n"
                            "ASCII\n"
                            "DATASET UNSTRUCTURED_GRID\n"
                            "POINTS 5 float\n"
                            "0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n"
                            "CELLS 3 14\n"
                            "4 0 1 2 3\n"
                            "3 0 1 2\n"
                            "4 1 2 3 4\n"
                            "CELL_TYPES 3\n"
                            "10\n"
                            "5\n"
                            "10\n";
static const char vtk_5[] = "# vtk DataFile Version 5.1\n"
                            "two\n"
                            "ASCII\n"
                            "DATASET UNSTRUCTURED_GRID\n"
                            "POINTS 5 double\n"
                            "0 0 0 1 0 0 0 1 0 0 0 1 1 1 1\n"
                            "CELLS 3 8\n"
                            "OFFSETS vtktypeint64\n"
                            "0 4 8\n"
                            "CONNECTIVITY vtktypeint64\n"
                            "0 1 2 3 1 2 3 4\n"
                            "CELL_TYPES 2\n"
                            "10\n"
                            "10\n";
static const char nodes[] = "# vertices\n"
                            "5 3 0 1\n"
                            "0 0 0 0 7\n"
                            "1 1 0 0 7\n"
                            "2 0 1 0 7\n"
                            "3 0 0 1 7\n"
                            "4 1 1 1 7\n";
static const char elements[] = "2 4 1\n"
                               "0 0 1 2 3 5.5\n"
                               "1 1 2 3 4 2\n"
                               "# end\n";
static const char square_nodes[] = "4 2 1 0\n"
                                   "1 0 0 9\n"
                                   "2 1 0 9\n"
                                   "3 1 1 9\n"
                                   "4 0 1 9\n";
static const char square[] = "2 3 0\n"
                             "1 1 2 3\n"
                             "2 1 3 4\n";

static spate_status read_text(fixture *f, const char *text, int dim, mesh_kind kind,
                              mesh_body *out) {
    element_file e = {.corners = dim + 1};
    TRY(elements_read(&f->arena, "file", text, strlen(text), &e));
    return elements_check(&f->arena, "file", kind, dim, &e, out);
}

static spate_status read_two(fixture *f, const char *first, const char *second, int dim,
                             mesh_body *out) {
    element_file e = {.corners = dim + 1};
    TRY(elements_read_nodes(&f->arena, "file.node", first, strlen(first), &e));
    TRY(elements_read_ele(&f->arena, "file.ele", second, strlen(second), &e));
    return elements_check(&f->arena, "file.ele", MESH_FE, dim, &e, out);
}

static void check_two(const mesh_body *m) {
    static const double x[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}};
    assert_int_equal(m->vertex_count, 5);
    assert_int_equal(m->element_count, 2);
    for (int v = 0; v < 5; v++) assert_memory_equal(m->vertices[v], x[v], sizeof x[v]);
    double volume = 0;
    for (int e = 0; e < 2; e++) {
        double D[3][3];
        for (int k = 0; k < 3; k++)
            vec_sub(D[k], m->vertices[m->elements[e][k + 1]], m->vertices[m->elements[e][0]]);
        assert_true(mat_determinant((const double(*)[3])D) > 0);
        volume += mat_determinant((const double(*)[3])D) / 6;
    }
    assert_near(volume, 0.5, 1e-15);
}

static void all_formats_are_one_mesh(void **state) {
    fixture *f = *state;
    static const char *const texts[] = {gmsh_2, gmsh_4, vtk_3, vtk_5};
    mesh_body m;
    for (int k = 0; k < COUNT_OF(texts); k++) {
        assert_int_equal(read_text(f, texts[k], 3, MESH_FE, &m), SPATE_OK);
        check_two(&m);
    }
    assert_int_equal(read_two(f, nodes, elements, 3, &m), SPATE_OK);
    check_two(&m);
    assert_int_equal(read_two(f, square_nodes, square, 2, &m), SPATE_OK);
    assert_int_equal(m.element_count, 2);
    /* the same file as triangles: those of the surface, without the fifth vertex */
    assert_int_equal(read_text(f, gmsh_2, 2, MESH_CLOTH, &m), SPATE_OK);
    assert_int_equal(m.element_count, 1);
    assert_int_equal(m.vertex_count, 3);
    assert_int_equal(
        read_text(f, "v 0 0 2\nv 1 0 2\nv 1 1 2\nv 0 1 2\nf 1 2 3 4\n", 2, MESH_CLOTH, &m),
        SPATE_OK);
    assert_int_equal(m.element_count, 2);
    assert_near(m.vertices[0][2], 2, 0);
}

#define POINTS "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 2 0 0\n"
#define CLOTH  POINTS "f 1 2 3\n"

static void odd_files_are_refused(void **state) {
    fixture *f = *state;
    static const struct {
        const char *text;
        int dim;
        const char *message;
    } cases[] = {
        {CLOTH "f 1 2 2\n", 2, "triangle 2 has vertex 2 twice"},
        {CLOTH "f 1 2 6\n", 2, "triangle 2 at (0, 0, 0) has no area"},
        {CLOTH "f 2 3 1\n", 2, "elements 1 and 2 have the same corners"},
        {CLOTH "f 2 1 4\nf 1 2 5\n", 2, "3 elements, such as 1, have one edge"},
        {CLOTH "f 1 2 4\n", 2, "1 and 2 beside each other face opposite ways"},
        {"solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
         "0\nendloop\nendfacet\nfacet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 "
         "0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n",
         2, "share no vertices"},
        {CLOTH, 3, "has no tetrahedra"},
        {"hello\n", 2, "is a text file, not a mesh"},
        {"$MeshFormat\n2.2 1 8\n", 3, "save it as text"},
        {"$MeshFormat\n4.0 0 8\n", 3, "save it as 2.2 or 4.1"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n", 3, "no $Nodes"},
        {"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n9999\n", 3, "damaged or cut short"},
        {"$MeshFormat\n2.2 0 8\n$Nodes\n1\n1 0 x 0\n", 3, "file:5: this is not a number"},
        {"$MeshFormat\n2.2 0 8\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 11 0 1 1 1 1 "
         "1 1 1 1 1 1\n",
         3, "elements of first order"},
        {"$MeshFormat\n2.2 0 8\n$Nodes\n1\n1 0 0 0\n$EndNodes\n$Elements\n1\n1 4 0 1 2 3 "
         "4\n",
         3, "refers to vertex 2, which is not there"},
        {"$MeshFormat\n2.2 0 8\n$Nodes\n2\n1 0 0 0\n1 0 0 1\n$EndNodes\n$Elements\n1\n1 4 0 "
         "1 2 3 4\n",
         3, "two vertices have the number 1"},
        {"# vtk DataFile Version 3.0\nt\nBINARY\n", 3, "save it as ASCII"},
        {"# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n", 3, "UNSTRUCTURED_GRID"},
    };
    for (int k = 0; k < COUNT_OF(cases); k++) {
        mesh_body m;
        const spate_status status =
            read_text(f, cases[k].text, cases[k].dim, cases[k].dim == 2 ? MESH_CLOTH : MESH_FE, &m);
        if (status != SPATE_BAD_INPUT || !strstr(spate_message(f->ctx), cases[k].message))
            fail_msg("expected '%s' in '%s'", cases[k].message, spate_message(f->ctx));
    }
    mesh_body m;
    assert_int_equal(read_two(f, square_nodes, "1 3 0\n1 1 2 9\n", 2, &m), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "refers to vertex 9"));
    assert_int_equal(read_two(f, square_nodes, "1 6 0\n1 1 2 3 1 2 3\n", 2, &m), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "first order"));
    assert_int_equal(read_two(f, square_nodes, square, 3, &m), SPATE_BAD_INPUT);
    assert_non_null(strstr(spate_message(f->ctx), "vertices of 2D"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_formats_are_one_mesh, open_fixture, close_fixture),
        cmocka_unit_test_setup_teardown(odd_files_are_refused, open_fixture, close_fixture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
