/*
 * The three passes of a step over blocks, compiled once for each instruction set (SPATE_ISA). Each
 * is written once with a literal dimension.
 */
#include "core/simd.h"
#include "core/vec.h"
#include "solver/materials/liquid_wide.h"
#include "solver/materials/neo_hookean_wide.h"
#include "solver/mpm/mpm.h"
#include "solver/mpm/transfer.h"
#include "solver/sources.h"

#define JOIN_(a, b) a##_##b
#define JOIN(a, b)  JOIN_(a, b)

/* ---- Eight records to lanes and back --------------------------------------------------------- */

/* Lanes 0-3 of r[0..3] and 4-7 transposed apart: quads (a0 b0 c0 d0 | a4 ...) of four wides. */
INLINE void transpose_quads(wide r[4]) {
    wide a = __builtin_shufflevector(r[0], r[1], 0, 8, 1, 9, 4, 12, 5, 13);
    wide b = __builtin_shufflevector(r[0], r[1], 2, 10, 3, 11, 6, 14, 7, 15);
    wide c = __builtin_shufflevector(r[2], r[3], 0, 8, 1, 9, 4, 12, 5, 13);
    wide d = __builtin_shufflevector(r[2], r[3], 2, 10, 3, 11, 6, 14, 7, 15);
    r[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    r[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    r[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    r[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

/* Quad `part` of the motion records of eight particles as three lanes-wide components. */
INLINE void load_motion(const real *records, int part, wide out[3]) {
    wide r[4];
    for (int k = 0; k < 4; k++)
        r[k] = wide_join(quad_load(records + 16 * k + 4 * part),
                         quad_load(records + 16 * (k + 4) + 4 * part));
    transpose_quads(r);
    for (int c = 0; c < 3; c++) out[c] = r[c];
}

/* Velocity gradients of eight particles times `scale` / dx, row by row. */
INLINE void load_gradient(const real *records, real scale, wide C[9], int dim) {
    for (int c = 0; c < 9; c++) C[c] = wide_splat(0);
    for (int a = 0; a < dim; a++) {
        wide column[3];
        load_motion(records, a + 1, column);
        for (int r = 0; r < dim; r++) C[3 * r + a] = column[r] * wide_splat(scale);
    }
}

/* ---- Materials ------------------------------------------------------------------------------- */

/* The materials of eight particles, -1 for one that is removed. */
INLINE wide_int lane_materials(const mpm *m, const particles *p, int64_t i) {
    wide_int index;
    for (int k = 0; k < WIDE; k++) {
        uint16_t group = p->group[i + k];
        index[k] = group == GROUP_REMOVED ? -1 : m->group_material[group];
    }
    return index;
}

/* The next material among lanes that have not been seen: its lanes, which are then seen. False when
 * there is none. */
INLINE bool next_material(wide_int index, wide_int *unseen, int *c, wide_int *mask) {
    for (int k = 0; k < WIDE; k++) {
        if (!(*unseen)[k]) continue;
        *c = (int)index[k];
        *mask = index == wide_splat_int(index[k]);
        *unseen &= ~*mask;
        return true;
    }
    return false;
}

INLINE void stress_of(const mpm *m, const material_constants *c, int64_t i, const wide C[9],
                      wide tau[6], int dim) {
    const particles *p = &m->sim->particles;
    switch (c->kind) {
    case MATERIAL_LIQUID: liquid_stress(&c->liquid, p, i, C, tau, dim); break;
    default: neo_hookean_stress(&c->neo_hookean, p, i, tau, dim); break;
    }
    /* The factor that turns stress into a change of velocity over a cell (times mass). */
    wide scale = wide_splat(-4 * m->dt / (m->dx * c->density));
    for (int k = 0; k < 6; k++) tau[k] *= scale;
}

/* -4 dt / (dx rho0) tau of eight particles, whatever their materials. */
INLINE void load_impulse(const mpm *m, int64_t i, wide s[6], int dim) {
    wide C[9] = {0};
    if (m->has_viscosity) load_gradient(m->sim->particles.motion + i * 16, 1 / m->dx, C, dim);
    if (m->material_count == 1) {
        stress_of(m, &m->materials[0], i, C, s, dim);
        return;
    }
    for (int k = 0; k < 6; k++) s[k] = wide_splat(0);
    wide_int index = lane_materials(m, &m->sim->particles, i), unseen = index >= wide_splat_int(0),
             mask;
    for (int c; next_material(index, &unseen, &c, &mask);) {
        wide part[6];
        stress_of(m, &m->materials[c], i, C, part, dim);
        for (int k = 0; k < 6; k++) s[k] = wide_select(mask, part[k], s[k]);
    }
}

/* Strain of the particles of one material, and what is seen of it. */
INLINE void update_material(const mpm *m, particles *p, int64_t i, int c, const wide G[9],
                            wide_int mask, mpm_extremes *seen, wide_int *good, int dim) {
    wide J, stretch;
    switch (m->materials[c].kind) {
    case MATERIAL_LIQUID: liquid_update(p, i, G, mask, &J, &stretch, dim); break;
    default: neo_hookean_update(p, i, G, mask, &J, &stretch, dim); break;
    }
    wide_int fine = (J > wide_splat((real)-0.999)) & (J < wide_splat((real)1e6));
    *good &= fine | ~mask;
    int slot = c % RANGE_SLOTS;
    wide_int counted = mask & fine;
    wide zero = wide_splat(0);
    seen->J_low[slot] = wide_max(wide_select(counted, zero - J, zero), seen->J_low[slot]);
    seen->J_high[slot] = wide_max(wide_select(counted, J, zero), seen->J_high[slot]);
    seen->stretch[slot] = wide_max(wide_select(counted, stretch, zero), seen->stretch[slot]);
}

/* ---- Walls of the domain --------------------------------------------------------------------- */

INLINE bool is_mirror(wall w) { return w == WALL_SLIP || w == WALL_STICKY; }

/* For each plane of a tile that lies behind a mirror: its sums go to the plane before the wall
 * (fold), or it takes its velocities from there. */
INLINE void mirror_tile(const mpm *m, int32_t block, real *tile, bool fold, int dim) {
    const domain *d = &m->sim->scene->domain;
    const int32_t *coords = m->sim->blocks.coords[block];
    const int stride[3] = {dim == 2 ? TILE_EDGE : TILE_EDGE * TILE_EDGE, dim == 2 ? 1 : TILE_EDGE,
                           1};
    for (int a = 0; a < dim; a++)
        for (int side = 0; side < 2; side++) {
            if (!is_mirror(d->walls[a][side])) continue;
            /* Grid nodes: the wall is at 1 or cells + 1, its back one further out. */
            int64_t back =
                (side ? (int64_t)d->cells[a] + 2 : 0) - (int64_t)coords[a] * BLOCK_EDGE + 1;
            int64_t front = back + (side ? -2 : 2);
            if (back < 0 || back >= TILE_EDGE || front < 0 || front >= TILE_EDGE) continue;
            quad turn = {1, 1, 1, 1};
            for (int k = 0; k < 3; k++)
                if (k == a || d->walls[a][side] == WALL_STICKY) turn[k] = -1;
            int u = a == 0 ? 1 : 0, w = a == 2 ? 1 : 2;
            for (int i = 0; i < TILE_EDGE; i++)
                for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
                    int64_t at = i * stride[u] + (dim == 3 ? j * stride[w] : 0);
                    real *behind = tile + 4 * (at + back * stride[a]);
                    real *before = tile + 4 * (at + front * stride[a]);
                    if (fold) {
                        quad_store(before, quad_load(before) + turn * quad_load(behind));
                        quad_store(behind, quad_splat(0));
                    } else
                        quad_store(behind, turn * quad_load(before));
                }
        }
}

/* Boundary conditions of the sides on one node's velocity. */
static void apply_walls(const mpm *m, const int64_t node[3], double v[3], int dim) {
    const domain *d = &m->sim->scene->domain;
    static const contact modes[] = {CONTACT_SLIP, CONTACT_STICKY, CONTACT_SEPARATE};
    static const double still[3] = {0};
    for (int a = 0; a < dim; a++)
        for (int side = 0; side < 2; side++) {
            wall w = d->walls[a][side];
            int64_t depth = side ? node[a] - d->cells[a] - 1 : 1 - node[a];
            if (w == WALL_OPEN || w == WALL_PERIODIC || depth < 0) continue;
            double normal[3] = {0};
            normal[a] = side ? -1 : 1;
            contact_apply(modes[w], d->wall_friction, normal, still, v);
        }
}

/* ---- Scatter --------------------------------------------------------------------------------- */

INLINE void scatter_block(const mpm *m, int32_t block, real *tile, int dim) {
    const particles *p = &m->sim->particles;
    const blocks *b = &m->sim->blocks;
    int64_t last = b->first[block + 1];
    memset(tile, 0, (size_t)tile_reals(dim) * sizeof *tile);
    for (int64_t i = b->first[block]; i < last; i += WIDE) {
        stencil s;
        stencil_fill(&s, p, i, dim);
        wide t[6], zero = wide_splat(0);
        load_impulse(m, i, t, dim);
        /* The columns of the impulse, a quad for each particle and axis. */
        static const int column[3][3] = {{XX, XY, XZ}, {XY, YY, YZ}, {XZ, YZ, ZZ}};
        real impulse[3][2][4][4];
        for (int a = 0; a < dim; a++) {
            wide r[4] = {t[column[a][0]], t[column[a][1]], dim == 3 ? t[column[a][2]] : zero, zero};
            transpose_quads(r);
            for (int k = 0; k < 4; k++) {
                quad_store(impulse[a][0][k], wide_low(r[k]));
                quad_store(impulse[a][1][k], wide_high(r[k]));
            }
        }
        int lanes = last - i < WIDE ? (int)(last - i) : WIDE;
        for (int lane = 0; lane < lanes; lane++) {
            const real *record = p->motion + (i + lane) * 16;
            quad mass = quad_splat(p->mass[i + lane]), affine = quad_splat(m->affine), q[4];
            q[0] = mass * quad_load(record);
            for (int a = 0; a < dim; a++)
                q[a + 1] = mass * quad_fma(affine, quad_load(record + 4 * (a + 1)),
                                           quad_load(impulse[a][lane >> 2][lane & 3]));
            scatter_particle(tile, &s, lane, q, dim);
        }
    }
    mirror_tile(m, block, tile, true, dim);
}

INLINE void scatter_chunk(void *data, int64_t begin, int64_t end, int dim) {
    const mpm *m = data;
    for (int64_t o = begin; o < end; o++)
        scatter_block(m, m->sim->blocks.occupied[o], m->tiles + o * tile_reals(dim), dim);
}
static void scatter_2d(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    scatter_chunk(data, begin, end, 2);
}
static void scatter_3d(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    scatter_chunk(data, begin, end, 3);
}

/* ---- Grid ------------------------------------------------------------------------------------ */

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
                     int dim) {
    overlap x = overlaps[offset_x], y = overlaps[offset_y];
    if (dim == 2) y = (overlap){0, 1, 0};
    for (int i = 0; i < x.count; i++)
        for (int j = 0; j < y.count; j++) {
            int to = dim == 2 ? x.from + i : (x.from + i) * BLOCK_EDGE + y.from + j;
            int from = dim == 2 ? x.tile + i : (x.tile + i) * TILE_EDGE + y.tile + j;
            real *row = sum + to * BLOCK_EDGE * 4;
            const real *part = tile + from * TILE_EDGE * 4;
            if (offset_z == 0) {
                wide_store(row, wide_load(row) + wide_load(part + 5 * 4));
                quad_store(row + 8, quad_load(row + 8) + quad_load(part + 7 * 4));
            } else if (offset_z == 1) {
                wide_store(row, wide_load(row) + wide_load(part + 4));
                wide_store(row + 8, wide_load(row + 8) + wide_load(part + 3 * 4));
            } else
                quad_store(row + 12, quad_load(row + 12) + quad_load(part));
        }
}

/* Adds up all tiles that hold a part of the block. */
INLINE void add_tiles(const mpm *m, int32_t block, real *sum, int dim) {
    const blocks *b = &m->sim->blocks;
    memset(sum, 0, (size_t)block_reals(dim) * sizeof *sum);
    for (int line = 0; line < neighbour_count(dim) / 3; line++) {
        int x = dim == 2 ? line : line / 3, y = dim == 2 ? 0 : line % 3;
        const real *tiles[3];
        for (int z = 0; z < 3; z++) {
            int32_t other = b->neighbours[block][3 * line + z];
            bool holds = other >= 0 && b->tile[other] >= 0;
            tiles[z] = holds ? m->tiles + b->tile[other] * tile_reals(dim) : NULL;
        }
        if (tiles[0]) add_tile(sum, tiles[0], x, y, 0, dim);
        if (tiles[1]) add_tile(sum, tiles[1], x, y, 1, dim);
        if (tiles[2]) add_tile(sum, tiles[2], x, y, 2, dim);
    }
}

/* Colliders, sources and walls on one node. */
static void constrain_node(const mpm *m, const int32_t *coords, int n, bool solid, bool nozzle,
                           real *v, int dim) {
    const spate_simulation *sim = m->sim;
    const domain *d = &sim->scene->domain;
    int64_t node[3] = {0};
    double x[3] = {0}, u[3] = {v[0], v[1], v[2]};
    for (int a = dim - 1; a >= 0; a--, n /= BLOCK_EDGE) {
        node[a] = (int64_t)coords[a] * BLOCK_EDGE + n % BLOCK_EDGE;
        if (sim->blocks.period[a] && node[a] < 1) node[a] += d->cells[a]; /* the same one, inside */
        x[a] = d->origin[a] + (double)(node[a] - 1) * d->dx;
    }
    if (nozzle) sources_velocity(sim, x, u);
    if (solid) boundary_apply(&sim->boundary, x, u);
    apply_walls(m, node, u, dim);
    for (int a = 0; a < dim; a++) v[a] = (real)u[a];
}

/* Whether any node of the block is on or behind a side of the domain. */
INLINE bool at_wall(const domain *d, const int32_t *coords, int dim) {
    for (int a = 0; a < dim; a++)
        if (coords[a] <= 0 || (int64_t)coords[a] * BLOCK_EDGE + BLOCK_EDGE > d->cells[a])
            return true;
    return false;
}

INLINE void grid_block(const mpm *m, int32_t block, real *v, int dim) {
    const spate_simulation *sim = m->sim;
    const blocks *b = &sim->blocks;
    add_tiles(m, block, v, dim);
    const double *g = sim->scene->gravity;
    quad pull = {(real)(g[0] * sim->dt), (real)(g[1] * sim->dt),
                 dim == 3 ? (real)(g[2] * sim->dt) : 0, 0};
    const domain *d = &sim->scene->domain;
    const int32_t *coords = b->coords[block];
    double middle[3] = {0}, reach = d->dx * BLOCK_EDGE * 0.5 * (dim == 2 ? 1.415 : 1.733);
    for (int a = 0; a < dim; a++)
        middle[a] =
            d->origin[a] + ((double)coords[a] * BLOCK_EDGE + 0.5 * (BLOCK_EDGE - 1) - 1) * d->dx;
    bool seam = simulation_at_seam(sim, block);
    bool solid =
        sim->scene->collider_count && (seam || boundary_near(&sim->boundary, middle, reach));
    bool nozzle = sim->scene->source_count && (seam || sources_near(sim, middle, reach));
    bool constrained = solid || nozzle || at_wall(d, coords, dim);
    for (int n = 0; n < block_nodes(dim); n++) {
        real mass = v[4 * n + 3];
        if (!(mass > m->negligible)) {
            quad_store(v + 4 * n, quad_splat(mass - mass)); /* 0, or NaN kept */
            continue;
        }
        quad_store(v + 4 * n, quad_load(v + 4 * n) * quad_splat(1 / mass) + pull);
        v[4 * n + 3] = 0;
        if (constrained) constrain_node(m, coords, n, solid, nozzle, v + 4 * n, dim);
    }
}

INLINE void grid_chunk(void *data, int64_t begin, int64_t end, int dim) {
    const mpm *m = data;
    for (int64_t k = begin; k < end; k++)
        grid_block(m, (int32_t)k, m->velocities + k * block_reals(dim), dim);
}
static void grid_2d(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    grid_chunk(data, begin, end, 2);
}
static void grid_3d(void *data, int64_t begin, int64_t end, int worker) {
    (void)worker;
    grid_chunk(data, begin, end, 3);
}

/* ---- Gather ---------------------------------------------------------------------------------- */

/* The velocities of the nodes that a block's particles reach. */
INLINE void load_tile(const mpm *m, int32_t block, real *tile, int dim) {
    const int32_t *neighbours = m->sim->blocks.neighbours[block];
    for (int i = 0; i < TILE_EDGE; i++)
        for (int j = 0; j < (dim == 3 ? TILE_EDGE : 1); j++) {
            /* Node t - 1 of the tile's axis lies in the neighbour before, here, or after. */
            int ox = (i + 3) >> 2, oy = dim == 3 ? (j + 3) >> 2 : 0;
            int row = dim == 3 ? ((i + 3) & 3) * BLOCK_EDGE + ((j + 3) & 3) : (i + 3) & 3;
            const int32_t *line = neighbours + (dim == 3 ? (ox * 3 + oy) * 3 : ox * 3);
            const real *before = m->velocities + line[0] * block_reals(dim) + row * 16;
            const real *here = m->velocities + line[1] * block_reals(dim) + row * 16;
            const real *after = m->velocities + line[2] * block_reals(dim) + row * 16;
            real *to = tile + (dim == 3 ? i * TILE_EDGE + j : i) * TILE_EDGE * 4;
            memcpy(to, before + 12, 4 * sizeof *to);
            memcpy(to + 4, here, 16 * sizeof *to);
            memcpy(to + 20, after, 12 * sizeof *to);
        }
    mirror_tile(m, block, tile, false, dim);
}

/* Marks particles that are outside the domain; the next sort drops them. */
static int64_t remove_outside(const mpm *m, int32_t block, int dim) {
    spate_simulation *sim = m->sim;
    const domain *d = &sim->scene->domain;
    int64_t removed = 0;
    for (int64_t i = sim->blocks.first[block]; i < sim->blocks.first[block + 1]; i++) {
        double g[3];
        blocks_position(&sim->blocks, &sim->particles, block, i, g);
        for (int a = 0; a < dim; a++)
            if ((g[a] < 0.5 && d->walls[a][0] == WALL_OPEN) ||
                (g[a] > d->cells[a] + 0.5 && d->walls[a][1] == WALL_OPEN)) {
                sim->particles.group[i] = GROUP_REMOVED;
                removed++;
                break;
            }
    }
    return removed;
}

/* Velocity and its gradient at the first `lanes` of eight particles. */
INLINE void gather_lanes(particles *p, int64_t i, int lanes, const real *tile, int dim) {
    stencil s;
    stencil_fill(&s, p, i, dim);
    const quad one = {0, 0, 0, 1}, four = quad_splat(4);
    for (int lane = 0; lane < lanes; lane++) {
        quad q[4];
        gather_particle(tile, &s, lane, q, dim);
        real *record = p->motion + (i + lane) * 16;
        quad_store(record, q[0] + one);
        for (int a = 0; a < dim; a++) quad_store(record + 4 * (a + 1), q[a + 1] * four);
    }
}

/* Where particles of a block may go: inside closed sides. */
typedef struct room {
    wide low[3], high[3];
    bool open; /* some may have left through an open side */
} room;

/* Closed sides within reach of the block limit it; the room is kept a little smaller, so that no
 * particle is ever quite on a side. */
INLINE void fill_room(const mpm *m, const int32_t *coords, room *r, int dim) {
    const domain *d = &m->sim->scene->domain;
    r->open = false;
    for (int a = 0; a < dim; a++) {
        double corner = (double)coords[a] * BLOCK_EDGE;
        double limits[2] = {0.5 - corner, d->cells[a] + 0.5 - corner};
        for (int side = 0; side < 2; side++) {
            bool in_reach = limits[side] > -5 && limits[side] < BLOCK_EDGE + 5;
            bool beyond = side ? limits[1] <= -5 : limits[0] >= BLOCK_EDGE + 5;
            wall w = d->walls[a][side];
            if (w == WALL_OPEN && (in_reach || beyond)) r->open = true;
            if (w == WALL_OPEN || w == WALL_PERIODIC || !in_reach)
                limits[side] = side ? 1e6 : -1e6;
            else
                limits[side] += (side ? -1 : 1) * 1e-4;
        }
        r->low[a] = wide_splat((real)limits[0]);
        r->high[a] = wide_splat((real)limits[1]);
    }
}

/* Strains and positions of eight particles from their new motion; the lanes that are not good. */
INLINE wide_int move_lanes(const mpm *m, particles *p, int64_t i, const room *r, mpm_extremes *seen,
                           int dim) {
    wide_int good = ~wide_splat_int(0);
    real steps = m->dt / m->dx;
    wide v[3], G[9], speed2 = wide_splat(0);
    load_motion(p->motion + i * 16, 0, v);
    load_gradient(p->motion + i * 16, steps, G, dim);
    if (m->material_count == 1) {
        update_material(m, p, i, 0, G, good, seen, &good, dim);
    } else {
        wide_int index = lane_materials(m, p, i), unseen = index >= wide_splat_int(0), mask;
        for (int c; next_material(index, &unseen, &c, &mask);)
            update_material(m, p, i, c, G, mask, seen, &good, dim);
    }
    for (int a = 0; a < dim; a++) {
        real *x = PLANE(p, position, a) + i;
        wide moved = wide_fma(v[a], wide_splat(steps), wide_load(x));
        wide_store(x, wide_min(wide_max(moved, r->low[a]), r->high[a]));
        speed2 = wide_fma(v[a], v[a], speed2);
    }
    /* Three cells in a step is a blow-up, and so is what is not a number. */
    good &= speed2 * wide_splat(steps * steps) < wide_splat(9);
    seen->speed2 = wide_max(wide_select(good, speed2, wide_splat(0)), seen->speed2);
    return ~good;
}

static void note_bad(mpm_extremes *seen, int64_t i, wide_int bad) {
    for (int lane = 0; lane < WIDE; lane++)
        if (bad[lane] && (seen->bad < 0 || i + lane < seen->bad)) seen->bad = i + lane;
}

INLINE void gather_block(const mpm *m, int32_t block, const real *tile, const room *r,
                         particle_handful *tail, mpm_extremes *seen, int dim) {
    particles *p = &m->sim->particles;
    int64_t i = m->sim->blocks.first[block], last = m->sim->blocks.first[block + 1];
    for (; i + WIDE <= last; i += WIDE) {
        gather_lanes(p, i, WIDE, tile, dim);
        wide_int bad = move_lanes(m, p, i, r, seen, dim);
        if (wide_any(bad)) note_bad(seen, i, bad);
    }
    if (i == last) return;
    /* The rest is worked on apart: what lies behind it belongs to another block, perhaps another
     * thread. Lanes without a particle are at rest and change nothing. */
    int lanes = (int)(last - i);
    handful_prepare(tail, p);
    particles_copy(&tail->p, 0, p, i, lanes);
    gather_lanes(&tail->p, 0, lanes, tile, dim);
    wide_int bad = move_lanes(m, &tail->p, 0, r, seen, dim);
    if (wide_any(bad)) note_bad(seen, i, bad);
    particles_copy(p, i, &tail->p, 0, lanes);
}

INLINE void gather_chunk(void *data, int64_t begin, int64_t end, int worker, int dim) {
    const mpm *m = data;
    const blocks *b = &m->sim->blocks;
    real tile[TILE_EDGE * TILE_EDGE * TILE_EDGE * 4 + TILE_PAD] __attribute__((aligned(64)));
    memset(tile + tile_nodes(dim) * 4, 0, TILE_PAD * sizeof *tile);
    particle_handful tail;
    for (int64_t o = begin; o < end; o++) {
        int32_t block = b->occupied[o];
        room r;
        fill_room(m, b->coords[block], &r, dim);
        load_tile(m, block, tile, dim);
        gather_block(m, block, tile, &r, &tail, &m->seen[worker], dim);
        if (r.open) m->seen[worker].removed += remove_outside(m, block, dim);
    }
}
static void gather_2d(void *data, int64_t begin, int64_t end, int worker) {
    gather_chunk(data, begin, end, worker, 2);
}
static void gather_3d(void *data, int64_t begin, int64_t end, int worker) {
    gather_chunk(data, begin, end, worker, 3);
}

const mpm_kernels JOIN(mpm_kernels, SPATE_ISA) = {
    .scatter = {scatter_2d, scatter_3d},
    .grid = {grid_2d, grid_3d},
    .gather = {gather_2d, gather_3d},
};
