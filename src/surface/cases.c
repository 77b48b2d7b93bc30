/* The table of triangles for each of the 256 patterns of inside corners; see cases.h. */
#include "surface/cases.h"
#include <assert.h>
#include <stdbool.h>

enum { CELL_EDGES = 12, NO_EDGE = -1 };

/* The edge between two corners that differ in one bit. */
static int edge_between(int c, int d) {
    int bit = c ^ d, axis = bit == 1 ? 0 : bit == 2 ? 1 : 2, low = c & d;
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    return 4 * axis + (low >> u & 1) + 2 * (low >> v & 1);
}

/* Bits of the two faces that an edge lies in. */
static int faces_of(int edge) {
    int axis = edge / 4, u = (axis + 1) % 3, v = (axis + 2) % 3;
    return 1 << (2 * u + (edge & 1)) | 1 << (2 * v + (edge >> 1 & 1));
}

/* The corners of face 2 axis + side, anticlockwise seen from outside the cell. */
static void face_corners(int face, int out[4]) {
    int axis = face / 2, u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3,
        base = (face & 1) << axis;
    bool upper = face & 1;
    out[0] = base;
    out[1] = base | (upper ? u : v);
    out[2] = base | u | v;
    out[3] = base | (upper ? v : u);
}

/* Cuts off each run of inside corners of a face: from the edge where it begins to where it ends. */
static void cut_face(int inside, int face, int next[CELL_EDGES]) {
    int c[4];
    face_corners(face, c);
    for (int i = 0; i < 4; i++) {
        bool begins = !(inside >> c[i] & 1) && inside >> c[(i + 1) % 4] & 1;
        if (!begins) continue;
        int last = i + 1;
        while (inside >> c[(last + 1) % 4] & 1) last++;
        int begin = edge_between(c[i], c[(i + 1) % 4]);
        next[begin] = edge_between(c[last % 4], c[(last + 1) % 4]);
    }
}

/* Whether a fan around loop[apex] has no diagonal within a face. */
static bool fan_is_good(const int *loop, int length, int apex) {
    for (int k = 2; k < length - 1; k++)
        if (faces_of(loop[apex]) & faces_of(loop[(apex + k) % length])) return false;
    return true;
}

static void add_fan(marching_cases *out, int pattern, const int *loop, int length) {
    int apex = 0;
    while (apex < length - 1 && !fan_is_good(loop, length, apex)) apex++;
    assert(fan_is_good(loop, length, apex));
    for (int k = 1; k < length - 1; k++) {
        uint8_t *corner = out->edges[pattern] + out->corners[pattern];
        corner[0] = (uint8_t)loop[apex];
        corner[1] = (uint8_t)loop[(apex + k) % length];
        corner[2] = (uint8_t)loop[(apex + k + 1) % length];
        out->corners[pattern] = (uint8_t)(out->corners[pattern] + 3);
    }
}

static void fill_case(marching_cases *out, int pattern) {
    int next[CELL_EDGES];
    out->corners[pattern] = 0;
    for (int e = 0; e < CELL_EDGES; e++) next[e] = NO_EDGE;
    for (int face = 0; face < 6; face++) cut_face(pattern, face, next);
    for (int e = 0; e < CELL_EDGES; e++) {
        int loop[CELL_EDGES], length = 0;
        for (int at = e; next[at] != NO_EDGE;) {
            int to = next[at];
            loop[length++] = at;
            next[at] = NO_EDGE;
            at = to;
        }
        if (length) add_fan(out, pattern, loop, length);
    }
}

void marching_cases_fill(marching_cases *out) {
    for (int pattern = 0; pattern < 256; pattern++) fill_case(out, pattern);
}
