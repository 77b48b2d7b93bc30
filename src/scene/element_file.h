/*
 * Elements from files that a mesher wrote: Gmsh (.msh 2.2 and 4.1), TetGen and Triangle (.node with
 * .ele), VTK (legacy, unstructured grid), all as text; and triangles of OBJ, PLY and STL. What a
 * file is, is told by its content, but for .ele. Elements of other kinds are left out.
 */
#ifndef SPATE_SCENE_ELEMENT_FILE_H
#define SPATE_SCENE_ELEMENT_FILE_H

#include "scene/mesh_body.h"

/* Vertices and elements as they are in the file. */
typedef struct element_file {
    int corners;   /* that are wanted: 3 or 4 */
    int64_t first; /* number of the first vertex, in the files of TetGen and Triangle */
    int64_t vertex_count;
    double (*vertices)[3];
    int64_t element_count;
    int32_t (*elements)[4];
} element_file;

/* `out->corners` is given. Memory from the arena. */
spate_status elements_read(arena *a, const char *name, const char *bytes, size_t length,
                           element_file *out);
/* The two files of TetGen or Triangle: the first fills the vertices, the second the elements, with
 * the numbers of the first. */
spate_status elements_read_nodes(arena *a, const char *name, const char *bytes, size_t length,
                                 element_file *out);
spate_status elements_read_ele(arena *a, const char *name, const char *bytes, size_t length,
                               element_file *out);

/* Makes a body of them: vertices that no element has are dropped, elements that are inside out are
 * turned. An element without volume, two equal ones, and a face that more than two have (of a
 * cloth: an edge) are refused. `dim` is that of the elements: 2 also for a cloth, in space. */
spate_status elements_check(arena *a, const char *name, mesh_kind kind, int dim, element_file *f,
                            mesh_body *out);

#endif
