/* The sides of the domain: mirrors, and conditions on nodes. */
#ifndef SPATE_SOLVER_MIRROR_H
#define SPATE_SOLVER_MIRROR_H

#include "core/vec.h"
#include "solver/mpm/mpm.h"

/* A mirror bears no shear, so a side with friction is none. */
INLINE bool is_mirror(const domain *d, wall w) {
    return (w == WALL_SLIP && d->wall_friction == 0) || w == WALL_STICKY;
}

/* A plane of a tile that lies behind a mirror, and the one before it that is its image. */
typedef struct mirror {
    int axis;
    int64_t back, front; /* along the axis, in nodes of the tile */
    quad sign[2];        /* what reflection does to a node's vectors and what stands behind each */
} mirror;

/* One node and its image: sums behind the mirror go to it (fold), or velocities come from it. */
INLINE void mirror_node(real *behind, real *image, const mirror *m, bool fold, int node) {
    if (node == 1) {
        if (fold) *image += *behind;
        *behind = fold ? 0 : *image;
    }
    for (int half = 0; half < node && node >= QUAD; half += QUAD) {
        const quad sign = m->sign[half / QUAD];
        if (fold) {
            quad_store(image + half, quad_load(image + half) + sign * quad_load(behind + half));
            quad_store(behind + half, quad_splat(0));
        } else
            quad_store(behind + half, sign * quad_load(image + half));
    }
}

INLINE void mirror_plane(real *tile, const mirror *m, bool fold, int node, int dim) {
    const int stride[3] = {dim == 2 ? TILE_EDGE : TILE_EDGE * TILE_EDGE, dim == 2 ? 1 : TILE_EDGE,
                           1};
    const int u = m->axis == 0 ? 1 : 0, w = m->axis == 2 ? 1 : 2;
    for (int i = 0; i < TILE_EDGE; i++)
        for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
            const int64_t at = i * stride[u] + (dim == 3 ? j * stride[w] : 0);
            mirror_node(tile + node * (at + m->back * stride[m->axis]),
                        tile + node * (at + m->front * stride[m->axis]), m, fold, node);
        }
}

/* The mirror of a side of the domain, if it lies within a block's tile; it changes no signs yet. */
INLINE bool mirror_at(const mpm_view *m, int32_t block, int axis, int side, mirror *plane) {
    const domain *d = m->domain;
    if (!is_mirror(d, d->walls[axis][side])) return false;
    /* Grid nodes: the wall is at 1 or cells + 1, its back one further out. */
    const int64_t corner = (int64_t)m->coords[block][axis] * BLOCK_EDGE;
    const int64_t back = (side ? (int64_t)d->cells[axis] + 2 : 0) - corner + 1;
    const int64_t front = back + (side ? -2 : 2);
    *plane =
        (mirror){.axis = axis, .back = back, .front = front, .sign = {{1, 1, 1, 1}, {1, 1, 1, 1}}};
    return back >= 0 && back < TILE_EDGE && front >= 0 && front < TILE_EDGE;
}

/* `sticks`: to sides that are sticky, which else are as smooth ones for a node's first vector. */
INLINE void mirror_tile_of(const mpm_view *m, int32_t block, real *tile, bool fold, bool sticks,
                           int node, int dim) {
    for (int a = 0; a < dim; a++)
        for (int side = 0; side < 2; side++) {
            mirror plane;
            if (!mirror_at(m, block, a, side, &plane)) continue;
            const bool sticky = m->domain->walls[a][side] == WALL_STICKY;
            for (int k = 0; k < 3; k++) {
                if (k == a || (sticky && sticks)) plane.sign[0][k] = -1;
                if (k == a || sticky) plane.sign[1][k] = -1;
            }
            mirror_plane(tile, &plane, fold, node, dim);
        }
}

/* Where a node has numbers, not vectors: nothing changes its sign. */
INLINE void mirror_numbers(const mpm_view *m, int32_t block, real *tile, bool fold, int node,
                           int dim) {
    for (int a = 0; a < dim; a++)
        for (int side = 0; side < 2; side++) {
            mirror plane;
            if (mirror_at(m, block, a, side, &plane)) mirror_plane(tile, &plane, fold, node, dim);
        }
}

INLINE void mirror_tile(const mpm_view *m, int32_t block, real *tile, bool fold, int node,
                        int dim) {
    mirror_tile_of(m, block, tile, fold, true, node, dim);
}

/* Boundary conditions of the sides on one node's velocity. */
static inline void apply_walls(const mpm_view *m, const int64_t at[3], double v[3], int dim) {
    const domain *d = m->domain;
    static const contact modes[] = {CONTACT_SLIP, CONTACT_STICKY, CONTACT_SEPARATE};
    static const double still[3] = {0};
    for (int a = 0; a < dim; a++)
        for (int side = 0; side < 2; side++) {
            wall w = d->walls[a][side];
            int64_t depth = side ? at[a] - d->cells[a] - 1 : 1 - at[a];
            if (w == WALL_OPEN || w == WALL_PERIODIC || depth < 0) continue;
            double normal[3] = {0};
            normal[a] = side ? -1 : 1;
            contact_apply(modes[w], d->wall_friction, normal, still, v);
        }
}

#endif
