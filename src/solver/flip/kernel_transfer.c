/*
 * The transfer of Ando, Thuerey and Tsuruno 2012 (`transfer: kernel`; kernels: particle_radius.h):
 *
 *     eq. 1   u(x) = sum m u W_sharp(p - x, a_u d) / sum m W_sharp, or the nearest particle's u
 *             where no particle is within its radius of x
 *
 * It is scattered: it reaches the faces of the linear kernel, all that are within a cell.
 */
#include "solver/flip/particle_radius.h"

#define SUPPORT 2
#include "solver/flip/transfer.h"

/* Nearer than this share of its radius, squared, a particle is on the face. */
static const real touching2 = (real)1e-8;
/* Sums of weights below this, in masses of a full cell, count as none. */
static const real least_weight = (real)1e-7;

enum { REACHED_FROM = 1, REACHED_TO = 7 };

/* A particle and its squared distance to a face, which is in the upper half as a float: the least
 * of such numbers is the nearest particle, found without a branch. */
typedef uint64_t near_particle;
static const near_particle nobody = UINT64_MAX;

INLINE near_particle near_particle_of(real distance2, uint32_t particle) {
    const float distance = (float)distance2;
    uint32_t upper;
    memcpy(&upper, &distance, sizeof upper); /* bits of floats >= 0 are in their order */
    return (near_particle)upper << 32 | particle;
}

/* One component of what a block's particles reach (transfer.h). */
typedef struct kernel_tile {
    real sums[TILE_EDGE * TILE_EDGE * TILE_EDGE * PAIR]; /* momentum and mass, weighted */
    near_particle nearest[TILE_EDGE * TILE_EDGE * TILE_EDGE];
} kernel_tile;

typedef struct kernel_transfer {
    const flip *f;
    const flip_view *view;
    near_particle *nearest[3]; /* of each face, by component */
} kernel_transfer;

/* The two faces around x along an axis: which is the first, and the squared ways to both. */
INLINE int ways_to_faces(real x, real way2[2]) {
    const int first = x < 0 ? -1 : (int)x;
    const real t = x - (real)first;
    way2[0] = t * t, way2[1] = (1 - t) * (1 - t);
    return first + TILE_BEFORE;
}

/* W_sharp for four squared distances. */
INLINE quad sharp_weights(quad r2, real radius2) {
    const quad least = quad_splat(radius2 * touching2);
    return quad_larger(quad_splat(radius2) / quad_larger(r2, least) - quad_splat(1), quad_splat(0));
}

/* A particle among the faces around it. */
typedef struct among_faces {
    uint32_t particle;
    real radius2;
    int base[3][2];     /* the first face along an axis, in the tile */
    real way2[3][2][2]; /* squared ways to it and the next */
} among_faces;

/* Two faces beside each other along the last axis: weights and squared distances n and n + 1 of
 * four. */
INLINE void add_row(kernel_tile *tile, int at, quad weights, quad r2, int n, quad both,
                    uint32_t i) {
    const quad w = {weights[n], weights[n], weights[n + 1], weights[n + 1]};
    real *sums = tile->sums + at * PAIR;
    near_particle *nearest = tile->nearest + at;
    const near_particle first = near_particle_of(r2[n], i), second = near_particle_of(r2[n + 1], i);
    quad_store(sums, quad_load(sums) + w * both);
    nearest[0] = first < nearest[0] ? first : nearest[0];
    nearest[1] = second < nearest[1] ? second : nearest[1];
}

/* Component c of one particle, four faces at a time: two rows. */
INLINE void scatter_component(kernel_tile *tile, const among_faces *p, int c, real momentum,
                              real mass, int dim) {
    const int first = dim - 2, last = dim - 1; /* the axes of the four */
    const real *y = p->way2[first][c != first], *z = p->way2[last][c != last];
    const int at =
        tile_index(p->base[0][c != 0], p->base[1][c != 1], p->base[last][c != last], dim);
    const quad flat = {y[0] + z[0], y[0] + z[1], y[1] + z[0], y[1] + z[1]};
    const quad both = {momentum, mass, momentum, mass};
    for (int n = 0; n < (dim == 3 ? 2 : 1); n++) {
        const quad r2 = dim == 3 ? flat + quad_splat(p->way2[0][c != 0][n]) : flat;
        const quad w = sharp_weights(r2, p->radius2);
        const int start = at + n * TILE_EDGE * TILE_EDGE;
        add_row(tile, start, w, r2, 0, both, p->particle);
        add_row(tile, start + TILE_EDGE, w, r2, 2, both, p->particle);
    }
}

INLINE void scatter_particle(const flip *f, int64_t i, kernel_tile *tiles, int dim) {
    const particles *p = &f->sim->particles;
    const real mass = p->mass[i];
    const real a_u = (real)f->options->sharp_radius;
    among_faces own = {.particle = (uint32_t)i, .radius2 = a_u * a_u * size2_of(f, i, dim)};
    for (int a = 0; a < dim; a++) {
        const real x = PLANE(p, position, a)[i];
        own.base[a][ON_FACES] = ways_to_faces(x, own.way2[a][ON_FACES]);
        own.base[a][IN_MIDDLES] = ways_to_faces(x - (real)0.5, own.way2[a][IN_MIDDLES]);
    }
    for (int c = 0; c < dim; c++)
        scatter_component(&tiles[c], &own, c, mass * p->velocity[i][c], mass, dim);
}

/* What was scattered behind a closed side is folded back, as in scatter.h; it comes from particles
 * that are nearer to the face before the side, so it is never their nearest. */
INLINE void add_component(const kernel_transfer *s, const tile_map *map, const kernel_tile *tile,
                          int c, int dim) {
    const mac *m = &s->f->grid;
    const axis_map *x = &map->axis[0][c != 0], *y = &map->axis[1][c != 1];
    const axis_map *z = &map->axis[dim - 1][c != dim - 1];
    for (int i = REACHED_FROM; i < REACHED_TO; i++)
        for (int j = dim == 3 ? REACHED_FROM : 0; j < (dim == 3 ? REACHED_TO : 1); j++) {
            int64_t rows[3];
            map_row(map, x, y, i, j, rows, dim);
            const real sign = x->sign[i] * (dim == 3 ? y->sign[j] : 1);
            for (int k = REACHED_FROM; k < REACHED_TO; k++) {
                const int from = tile_index(i, j, k, dim);
                const near_particle nearest = tile->nearest[from];
                if (nearest == nobody) continue;
                const int64_t at = rows[z->code[k]] + z->cell[k];
                m->velocity[c][at] += sign * z->sign[k] * tile->sums[from * PAIR];
                m->mass[c][at] += tile->sums[from * PAIR + 1];
                if (nearest < s->nearest[c][at]) s->nearest[c][at] = nearest;
            }
        }
}

INLINE void clear_tile(kernel_tile *tile, int dim) {
    memset(tile->sums, 0, (size_t)component_reals(dim) * sizeof *tile->sums);
    for (int n = 0; n < tile_nodes(dim); n++) tile->nearest[n] = nobody;
}

INLINE void scatter_chunk(void *data, chunk items, int dim) {
    const kernel_transfer *s = data;
    const flip *f = s->f;
    kernel_tile tiles[3];
    for (int64_t o = items.begin; o < items.end; o++) {
        const int32_t block = f->coloured[o];
        tile_map map;
        map_tile(&map, s->view, s->view->block_coords[block], dim);
        for (int c = 0; c < dim; c++) clear_tile(&tiles[c], dim);
        for (int64_t i = f->sim->blocks.first[block]; i < f->sim->blocks.first[block + 1]; i++)
            scatter_particle(f, i, tiles, dim);
        for (int c = 0; c < dim; c++) add_component(s, &map, &tiles[c], c, dim);
    }
}
TASK_BY_DIM(scatter)

static void forget_nearest(void *data, chunk items) {
    const kernel_transfer *s = data;
    const int dim = s->f->grid.dim;
    for (int c = 0; c < dim; c++)
        for (int64_t n = items.begin * mac_cells(dim); n < items.end * mac_cells(dim); n++)
            s->nearest[c][n] = nobody;
}

static void take_nearest(void *data, chunk items) {
    const kernel_transfer *s = data;
    const mac *m = &s->f->grid;
    const particles *p = &s->f->sim->particles;
    for (int c = 0; c < m->dim; c++)
        for (int64_t n = items.begin * mac_cells(m->dim); n < items.end * mac_cells(m->dim); n++) {
            if (s->nearest[c][n] == nobody) continue;
            if (m->mass[c][n] * s->f->inverse_mass > least_weight) continue;
            const int64_t i = (uint32_t)s->nearest[c][n];
            const real mass = p->mass[i];
            m->velocity[c][n] = mass * p->velocity[i][c];
            m->mass[c][n] = mass;
        }
}

spate_status flip_scatter_kernel(flip *f) {
    spate_simulation *sim = f->sim;
    pool *threads = sim->ctx->pool;
    const int dim = f->grid.dim;
    const int64_t bricks = f->grid.bricks.count, cells = bricks * mac_cells(dim);
    const flip_view view = flip_view_of(f);
    kernel_transfer s = {.f = f, .view = &view};
    near_particle *nearest =
        scratch_take(&sim->scratch, "flip nearest", (size_t)(dim * cells) + 1, sizeof *nearest);
    if (!nearest) return SPATE_OUT_OF_MEMORY;
    for (int c = 0; c < dim; c++) s.nearest[c] = nearest + c * cells;
    parallel_for(threads, bricks, 32, forget_nearest, &s);
    parallel_colours(threads, f->colour_starts, 1 << dim, 4, dim == 3 ? scatter_3d : scatter_2d,
                     &s);
    parallel_for(threads, bricks, 32, take_nearest, &s);
    scratch_give(&sim->scratch, "flip nearest");
    return SPATE_OK;
}
