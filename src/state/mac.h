/*
 * The MAC grid (Harlow and Welch 1965), sparse: bricks of 8^dim cells, of which only those near the
 * liquid exist, so memory and time follow it and not the domain.
 *
 * Cell c of the domain covers c to c + 1 cells from the domain's corner along each axis. Pressure and
 * level set belong to its middle, velocities to its faces: component a of a cell is that across its
 * low face along axis a. Cell (i, j, k) of a brick has the index 64 i + 8 j + k in 3D, 8 i + j in 2D,
 * so a row of eight along the last axis is a `wide`; brick b's cells begin at b * mac_cells(dim).
 *
 * What lies beyond a side of the domain is in the grid too: solid where the side is closed (its face
 * is not open), air where it is open.
 */
#ifndef SPATE_STATE_MAC_H
#define SPATE_STATE_MAC_H

#include "core/real.h"
#include "state/sites.h"

enum { BRICK_EDGE = 8, BRICK_CELLS_MAX = 512, SOLID_FAR = 4 };

static inline int mac_cells(int dim) { return dim == 2 ? 64 : 512; }

/*    velocity  across the face, m/s; written by the transfer, forces, projection, extrapolation
 *    before    the same as the particles gave it: what FLIP's change is measured from
 *    shift     how far particles move besides to lie evenly, in cells; written by the volume's correction
 *    mass      of particles around the face, weighted by the kernel: 0 where none reaches it, kg
 *    open      share of the face that is not in a solid, 0 to 1
 *    wall      velocity of the solid across the face where open < 1, m/s
 *    solid     distance of the cell's middle to the nearest collider in cells, negative inside; at
 *              most SOLID_FAR
 *    swell     flux out of the cell that a projection leaves instead of none, in the velocity's unit
 *    phi       distance to the liquid's surface in cells, negative inside
 *    pressure  p dt / (density dx), m/s, of liquid cells; written by the projection
 *    known     bit a: the velocity at face a is the liquid's, or was made to fit it; bit a + 4: it
 *              is prescribed by `wall`, at a side of the domain or in a source
 */
#define MAC_FIELDS(X)      \
    X(velocity, real, 3)   \
    X(before, real, 3)     \
    X(shift, real, 3)      \
    X(mass, real, 3)       \
    X(open, real, 3)       \
    X(wall, real, 3)       \
    X(solid, real, 1)      \
    X(swell, real, 1)      \
    X(phi, real, 1)        \
    X(pressure, double, 1) \
    X(known, uint8_t, 1)

typedef enum mac_field {
#define X(name, type, components) MAC_##name,
    MAC_FIELDS(X)
#undef X
        MAC_FIELD_COUNT
} mac_field;
#define MAC_BIT(name) (1u << MAC_##name)
enum { MAC_ALL = (1 << MAC_FIELD_COUNT) - 1 };

typedef struct mac {
    spate_context *ctx;
    int dim;
    unsigned fields; /* MAC_BITs of those that it has; the others are NULL */
    sites bricks;
    int64_t capacity;                                     /* bricks that the fields have room for */
#define X(name, type, components) type *name[components]; /* by axis, or [0] */
    MAC_FIELDS(X)
#undef X
} mac;

void mac_create(spate_context *ctx, int dim, const int cells_of_period[3], unsigned fields, mac *m);
void mac_free(mac *m);
/* Room for bricks.count bricks. What the fields held is lost where they must grow. */
spate_status mac_reserve(mac *m);
size_t mac_bytes(const mac *m);

/* The cell at (i, j, k) from the corner of a brick, which may lie in a neighbour of it (-8 to 15): its
 * index in the fields, or -1 where there is no such brick. k is 0 in 2D. */
static inline int64_t mac_cell(const mac *m, int32_t brick, int i, int j, int k) {
    const int edge = BRICK_EDGE;
    int code = (i + edge) / edge * 3 + (j + edge) / edge;
    if (m->dim == 3) code = code * 3 + (k + edge) / edge;
    int32_t at = m->bricks.neighbours[brick][code];
    if (at < 0) return -1;
    i &= edge - 1, j &= edge - 1, k &= edge - 1;
    return (int64_t)at * mac_cells(m->dim) +
           (m->dim == 3 ? (i * edge + j) * edge + k : i * edge + j);
}

/* Where cell c of a brick is in it; the last is 0 in 2D. */
static inline void mac_place(int c, int dim, int at[3]) {
    at[0] = dim == 3 ? c >> 6 : c >> 3;
    at[1] = dim == 3 ? c >> 3 & 7 : c & 7;
    at[2] = dim == 3 ? c & 7 : 0;
}

/* Index of the cell next to cell c (at `at`) of a brick, before (-1) or after it (1) along an axis, or
 * -1 where there is no such brick. */
static inline int64_t mac_beside(const mac *m, int64_t brick, int c, const int at[3], int axis,
                                 int way) {
    static const int strides[2][3] = {{8, 1, 0}, {64, 8, 1}};
    const int moved = at[axis] + way;
    if (moved >= 0 && moved < BRICK_EDGE)
        return brick * mac_cells(m->dim) + c + way * strides[m->dim - 2][axis];
    int next[3] = {at[0], at[1], at[2]};
    next[axis] = moved;
    return mac_cell(m, (int32_t)brick, next[0], next[1], next[2]);
}

#endif
