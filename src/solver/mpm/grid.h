/* Tiles to nodes, and what happens on nodes. */
#ifndef SPATE_SOLVER_GRID_H
#define SPATE_SOLVER_GRID_H

#include "solver/mpm/mirror.h"
#include "solver/mpm/press.h"
#include "solver/sources.h"

/* The part of a block along an axis that the tile of its neighbour at offset o (-1, 0, 1) holds. */
typedef struct overlap {
    int from, count; /* nodes of the block */
    int tile;        /* where the first of them is in the tile */
} overlap;

static const overlap overlaps[3] = {{0, 3, 5}, {0, 4, 1}, {3, 1, 0}};

/* Adds what the neighbour at offsets x, y, z (0, 1, 2 for before, here, after) has for this block's
 * nodes: the one before holds the first three in the end of its tile, the one after only the last.
 * z, along the rows, is a literal. */
INLINE void add_tile(real *sum, const real *tile, int offset_x, int offset_y, int offset_z,
                     int node, int dim) {
    overlap x = overlaps[offset_x], y = overlaps[offset_y];
    const overlap z = offset_z == 0   ? (overlap){0, 3, 5}
                      : offset_z == 1 ? (overlap){0, 4, 1}
                                      : (overlap){3, 1, 0};
    if (dim == 2) y = (overlap){0, 1, 0};
    for (int i = 0; i < x.count; i++)
        for (int j = 0; j < y.count; j++) {
            int to = dim == 2 ? x.from + i : (x.from + i) * BLOCK_EDGE + y.from + j;
            int from = dim == 2 ? x.tile + i : (x.tile + i) * TILE_EDGE + y.tile + j;
            real *at = sum + (to * BLOCK_EDGE + z.from) * node;
            const real *part = tile + (from * TILE_EDGE + z.tile) * node;
            int k = 0, count = z.count * node;
            for (; k + WIDE <= count; k += WIDE)
                wide_store(at + k, wide_load(at + k) + wide_load(part + k));
            if (k < count) quad_store(at + k, quad_load(at + k) + quad_load(part + k));
        }
}

/* Adds up all tiles that hold a part of the block; `place` tells where those of a block are. */
INLINE void add_tiles(const blocks *b, const real *all, const int32_t *place, int32_t block,
                      real *sum, int node, int dim) {
    memset(sum, 0, (size_t)block_reals(dim, node) * sizeof *sum);
    for (int line = 0; line < neighbour_count(dim) / 3; line++) {
        int x = dim == 2 ? line : line / 3, y = dim == 2 ? 0 : line % 3;
        const real *tiles[3];
        for (int z = 0; z < 3; z++) {
            int32_t other = b->neighbours[block][3 * line + z];
            bool holds = other >= 0 && place[other] >= 0;
            tiles[z] = holds ? all + place[other] * tile_reals(dim, node) : NULL;
        }
        if (tiles[0]) add_tile(sum, tiles[0], x, y, 0, node, dim);
        if (tiles[1]) add_tile(sum, tiles[1], x, y, 1, node, dim);
        if (tiles[2]) add_tile(sum, tiles[2], x, y, 2, node, dim);
    }
}

/* What of sources, colliders and walls is within reach of a block. */
typedef struct constraints {
    boundary_part solid;
    bool nozzle, side;
} constraints;

/* Whether any node of the block is on or behind a side of the domain. */
INLINE bool at_wall(const domain *d, const int32_t *coords, int dim) {
    for (int a = 0; a < dim; a++)
        if (coords[a] <= 0 || (int64_t)coords[a] * BLOCK_EDGE + BLOCK_EDGE > d->cells[a])
            return true;
    return false;
}

INLINE constraints constraints_of(const mpm *m, int32_t block, int dim) {
    const spate_simulation *sim = m->sim;
    const domain *d = &sim->scene->domain;
    const int32_t *coords = sim->blocks.coords[block];
    double middle[3] = {0}, reach = d->dx * BLOCK_EDGE * 0.5 * (dim == 2 ? 1.415 : 1.733);
    for (int a = 0; a < dim; a++)
        middle[a] =
            d->origin[a] + ((double)coords[a] * BLOCK_EDGE + 0.5 * (BLOCK_EDGE - 1) - 1) * d->dx;
    bool seam = simulation_at_seam(sim, block);
    return (constraints){
        .solid =
            seam ? boundary_all(&sim->boundary) : boundary_around(&sim->boundary, middle, reach),
        .nozzle = sim->scene->source_count && (seam || sources_near(sim, middle, reach)),
        .side = at_wall(d, coords, dim),
    };
}

/* What colliders give to particles around the block (press.h), and which colliders they are. */
typedef struct pressing {
    bool any;
    boundary_part solid;
    real loads[BLOCK_NODES_MAX * 4] __attribute__((aligned(64)));
    real shares[BLOCK_NODES_MAX * 4] __attribute__((aligned(64))); /* masses of bodies */
} pressing;

INLINE void add_pressing(const mpm *m, int32_t block, pressing *p, int dim) {
    const spate_simulation *sim = m->sim;
    const blocks *b = &sim->blocks;
    p->any = false;
    for (int k = 0; k < neighbour_count(dim) && m->press.count && !p->any; k++) {
        int32_t other = b->neighbours[block][k];
        p->any = other >= 0 && m->press.tile[other] >= 0;
    }
    if (!p->any) return;
    double middle[3], reach = simulation_reach(sim) + 2 * sim->scene->domain.dx;
    simulation_middle(sim, b->coords[block], middle);
    p->solid = simulation_at_seam(sim, block) ? boundary_all(&sim->boundary)
                                              : boundary_around(&sim->boundary, middle, reach);
    add_tiles(b, m->press.tiles, m->press.tile, block, p->loads, 4, dim);
    if (m->contacts.count) add_tiles(b, m->contacts.tiles, m->press.tile, block, p->shares, 4, dim);
}

INLINE bool is_pressed(const pressing *p, int n) {
    const real *load = p->loads + 4 * n;
    return load[0] != 0 || load[1] != 0 || load[2] != 0;
}

/* Node n of the block at `coords`: its place on the grid and in the world. */
INLINE void place_node(const mpm *m, const int32_t *coords, int n, int64_t at[3], double x[3],
                       int dim) {
    const domain *d = &m->sim->scene->domain;
    for (int a = dim - 1; a >= 0; a--, n /= BLOCK_EDGE) {
        at[a] = (int64_t)coords[a] * BLOCK_EDGE + n % BLOCK_EDGE;
        if (m->sim->blocks.period[a] && at[a] < 1) at[a] += d->cells[a]; /* the same one, inside */
        x[a] = d->origin[a] + (double)(at[a] - 1) * d->dx;
    }
}

/* Colliders on one node, and what it does to them. */
static void collide_node(const mpm *m, int32_t block, const boundary_part *solid, const double x[3],
                         const real *shares, real mass, double v[3]) {
    for (int k = 0; k < solid->count; k++) {
        double lost[3] = {v[0], v[1], v[2]};
        int c;
        if (!boundary_part_apply_one(solid, k, x, v, &c)) continue;
        vec_sub(lost, lost, v);
        vec_scale(lost, (double)mass, lost);
        touches_note(m->sim, &m->touches[block], c, x, lost);
        if (shares) mpm_contact_node(m, block, c, shares, mass, lost);
    }
}

/* Sources, colliders and walls on a node of a block. */
static void constrain_node(const mpm *m, int32_t block, int n, const constraints *c,
                           const pressing *pressed, real mass, real *v, int dim) {
    int64_t at[3] = {0};
    double x[3] = {0}, u[3] = {v[0], v[1], v[2]};
    const real *shares = m->contacts.count && pressed->any ? pressed->shares + 4 * n : NULL;
    place_node(m, m->sim->blocks.coords[block], n, at, x, dim);
    if (pressed->any && is_pressed(pressed, n))
        press_node(m, block, &pressed->solid, x, pressed->loads + 4 * n, shares, mass, u);
    if (c->nozzle) sources_velocity(m->sim, x, u);
    if (c->solid.count) collide_node(m, block, &c->solid, x, shares, mass, u);
    apply_walls(m, at, u, dim);
    for (int a = 0; a < dim; a++) v[a] = (real)u[a];
}

/* Sums to velocities: v*, and v^n where nodes have room for it. v^n is the momentum of the particles
 * over their mass, affine part included, before stress, gravity and boundaries. */
INLINE void grid_block(const mpm *m, int32_t block, real *v, int node, int dim) {
    const spate_simulation *sim = m->sim;
    pressing pressed;
    add_tiles(&sim->blocks, m->tiles, sim->blocks.tile, block, v, node, dim);
    add_pressing(m, block, &pressed, dim);
    const double *g = sim->scene->gravity;
    quad pull = {(real)(g[0] * sim->dt), (real)(g[1] * sim->dt),
                 dim == 3 ? (real)(g[2] * sim->dt) : 0, 0};
    constraints c = constraints_of(m, block, dim);
    bool constrained = c.solid.count || c.nozzle || c.side;
    for (int n = 0; n < block_nodes(dim); n++) {
        real *at = v + node * n, mass = at[3];
        if (!(mass > m->negligible)) {
            for (int k = 0; k < node; k += 4)
                quad_store(at + k, quad_splat(mass - mass)); /* 0, or NaN kept */
            continue;
        }
        quad per_mass = quad_splat(1 / mass), moved = quad_load(at) * per_mass;
        if (node == 8) {
            quad pushed = quad_load(at + 4) * per_mass;
            moved[3] = 0;
            quad_store(at + 4, moved);
            moved += pushed;
        }
        moved += pull;
        moved[3] = 0;
        quad_store(at, moved);
        if (constrained || (pressed.any && is_pressed(&pressed, n)))
            constrain_node(m, block, n, &c, &pressed, mass, at, dim);
    }
}

INLINE void grid_chunk(void *data, chunk items, transfer_family family, int dim) {
    const mpm *m = data;
    const int node = node_reals(family);
    for (int64_t k = items.begin; k < items.end; k++)
        grid_block(m, (int32_t)k, m->velocities + k * block_reals(dim, node), node, dim);
}

#endif
