/*
 * Marching cubes' table of triangles (Lorensen and Cline 1987), made from rules instead of copied.
 *
 * A corner c of a cell is at (c & 1, c >> 1 & 1, c >> 2 & 1); bit c of a case says that it is
 * inside. Edge e runs along axis e / 4 from corner marching_edge_corner(e). On each face of the
 * cell the surface cuts off every run of inside corners on its own, so the two cells of a face
 * always agree, the ambiguous faces (Durst 1988) included. These cuts close to loops, and a loop
 * is a fan of triangles around a corner chosen so that no diagonal lies in a face, where the cell
 * next door could have the same one. The mesh is then closed, with two triangles at every edge.
 */
#ifndef SPATE_SURFACE_CASES_H
#define SPATE_SURFACE_CASES_H

#include <stdint.h>

enum { CASE_CORNERS_MAX = 15 };

typedef struct marching_cases {
    uint8_t corners[256];                 /* three a triangle */
    uint8_t edges[256][CASE_CORNERS_MAX]; /* where they are; anticlockwise seen from outside */
} marching_cases;

void marching_cases_fill(marching_cases *out);

/* The lower corner of an edge. */
static inline int marching_edge_corner(int edge) {
    int axis = edge / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
    return (edge & 1) << u | (edge >> 1 & 1) << v;
}

#endif
