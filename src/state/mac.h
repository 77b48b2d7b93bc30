/*
 * The MAC grid (Harlow and Welch 1965), sparse: bricks of 8^dim cells, of which only those near the
 * liquid exist, so memory and time follow it and not the domain.
 *
 * Cell c of the domain covers c to c + 1 cells from the domain's corner along each axis. Pressure
 * and level set belong to its middle, velocities to its faces: component a of a cell is that across
 * its low face along axis a. Cell (i, j, k) of a brick has the index 64 i + 8 j + k in 3D, 8 i + j
 * in 2D, (sparse_lattice.h), so a row of eight along the last axis is a `wide`; brick b's cells
 * begin at b * mac_cells(dim).
 *
 * What lies beyond a side of the domain is in the grid too: solid where the side is closed (its
 * face has the fraction 0), air where it is open.
 */
#ifndef SPATE_STATE_MAC_H
#define SPATE_STATE_MAC_H

#include "core/real.h"
#include "state/sparse_lattice.h"

enum { BRICK_EDGE = 8, BRICK_CELLS_MAX = 512, SOLID_FAR = 4 };

static inline int mac_cells(int dim) { return dim == 2 ? 64 : 512; }

/*    velocity           across the face, m/s; written by transfer, forces, projection, extrapolation
 *    velocity_old       the same as the particles gave it: what FLIP's change is measured from
 *    displacement       how far particles move besides to lie evenly, in cells; written by the
 *                       volume's correction
 *    mass               of particles around the face, weighted by the kernel: 0 where none reaches
 *                       it, kg
 *    face_fraction      share of the face that is not in a solid, 0 to 1; written by faces_prepare
 *                       (solver/faces.c), and by flip where a side lets liquid go (flip/release.c)
 *    solid_velocity     of the solid across the face where face_fraction < 1, m/s; written by
 *                       faces_prepare; flip's extrapolation uses it up
 *    solid_phi          distance of the cell's middle to the nearest collider in cells, negative
 *                       inside; at most SOLID_FAR
 *    target_divergence  flux out of the cell that a projection leaves instead of none, in the
 *                       velocity's unit
 *    phi                distance to the liquid's surface in cells, negative inside
 *    pressure           p dt / (density dx), m/s, of liquid cells; written by the projection
 *    valid              of faces, bits: mac_is_valid, mac_is_prescribed
 */
#define MAC_FIELDS(X)             \
    X(velocity, real, 3)          \
    X(velocity_old, real, 3)      \
    X(displacement, real, 3)      \
    X(mass, real, 3)              \
    X(face_fraction, real, 3)     \
    X(solid_velocity, real, 3)    \
    X(solid_phi, real, 1)         \
    X(target_divergence, real, 1) \
    X(phi, real, 1)               \
    X(pressure, double, 1)        \
    X(valid, uint8_t, 1)

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
    sparse_lattice bricks;
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

/* ---- Cells ----------------------------------------------------------------------------------- */

/* The cell at `at` from the corner of a brick, which may lie in a neighbour of it (-8 to 15): its
 * index in the fields, or -1 where there is no such brick. at[2] is 0 in 2D. */
static inline int64_t mac_cell(const mac *m, int64_t brick, const int at[3]) {
    const int32_t home = m->bricks.neighbours[brick][neighbour_code(BRICK_EDGE, at, m->dim)];
    if (home < 0) return -1;
    return (int64_t)home * mac_cells(m->dim) + neighbour_index(BRICK_EDGE, at, m->dim);
}

/* The same for the cell at `at` + `step`. */
static inline int64_t mac_cell_at(const mac *m, int64_t brick, const int at[3], const int step[3]) {
    return mac_cell(m, brick, (const int[3]){at[0] + step[0], at[1] + step[1], at[2] + step[2]});
}

/* Where cell c of a brick is in it; the last is 0 in 2D. */
static inline void mac_place(int c, int dim, int at[3]) { box_place(BRICK_EDGE, c, dim, at); }

/* Index of the cell next to cell c (at `at`) of a brick, before (-1) or after it (1) along an axis,
 * or -1 where there is no such brick. */
static inline int64_t mac_beside(const mac *m, int64_t brick, int c, const int at[3], int axis,
                                 int way) {
    const int moved = at[axis] + way;
    if (moved >= 0 && moved < BRICK_EDGE)
        return brick * mac_cells(m->dim) + c + way * box_stride(BRICK_EDGE, axis, m->dim);
    int next[3] = {at[0], at[1], at[2]};
    next[axis] = moved;
    return mac_cell(m, brick, next);
}

/* Side n of the 2 dim of a cell: -1 where there is no brick. */
typedef struct mac_side {
    int axis, way;  /* -1: the low side, 1: the high one */
    int64_t beyond; /* the cell on the other side */
    int64_t face;   /* where the face's values are */
} mac_side;

static inline mac_side mac_side_of(const mac *m, int64_t brick, int c, const int at[3], int n) {
    mac_side s = {.axis = n >> 1, .way = n & 1 ? 1 : -1};
    s.beyond = mac_beside(m, brick, c, at, s.axis, s.way);
    s.face = s.way > 0 ? s.beyond : brick * mac_cells(m->dim) + c;
    return s;
}

/* ---- Faces ----------------------------------------------------------------------------------- */

enum { PRESCRIBED_SHIFT = 4 };

/* Whether the velocity at a face is the liquid's, or was made to fit it. */
static inline bool mac_is_valid(const mac *m, int axis, int64_t cell) {
    return m->valid[0][cell] >> axis & 1;
}
static inline void mac_set_valid(const mac *m, int axis, int64_t cell) {
    m->valid[0][cell] |= (uint8_t)(1 << axis);
}

/* Whether it is given by solid_velocity: at a closed side of the domain, or in a source. */
static inline bool mac_is_prescribed(const mac *m, int axis, int64_t cell) {
    return m->valid[0][cell] >> (axis + PRESCRIBED_SHIFT) & 1;
}

/* By axis, as bits: faces of a cell that are either. */
static inline int mac_settled(const mac *m, int64_t cell) {
    const int valid = m->valid[0][cell];
    return (valid | valid >> PRESCRIBED_SHIFT) & ((1 << m->dim) - 1);
}

/* ---- Bricks ---------------------------------------------------------------------------------- */

/* The number of the brick with cell `cell` of the domain, or -1, and where the cell is in it. */
static inline int32_t mac_find(const mac *m, const int cell[3], int at[3]) {
    int32_t brick[3];
    for (int a = 0; a < 3; a++) brick[a] = cell[a] >> 3, at[a] = cell[a] & (BRICK_EDGE - 1);
    return sparse_lattice_find(&m->bricks, brick);
}

#endif
