/* Which particles need shapes, and the shapes of images; see shapes.h. */
#include "surface/shapes.h"
#include <math.h>
#include <string.h>

enum { SHAPE_GRAIN = 8, IMAGE_GRAIN = 64, EDGE = 3 * CELL_EDGE };

uint64_t lattice_wanted_cells(const lattice *l, int64_t brick) {
    static const uint64_t first[3] = {0x1111111111111111, 0x000f000f000f000f, 0xffff};
    uint64_t bits = ~l->deep[brick];
    for (int a = 0; a < 3 && bits; a++)
        for (int c = 0; c < CELL_EDGE; c++) {
            const int32_t low = lattice_point(l, brick, a, CELL_POINTS * c);
            if (low + CELL_POINTS - 1 < 0 || low > l->last[a])
                bits &= ~(first[a] << c * box_stride(CELL_EDGE, 2 - a, 3));
        }
    return bits;
}

/* Cells of a brick and those around it: a bit for x, rows by z and y. */
typedef uint16_t cell_window[EDGE][EDGE];

/* The wanted cells of the bricks around; false when there are none. */
static bool window_fill(const lattice *l, int64_t brick, cell_window w) {
    uint64_t any = 0;
    memset(w, 0, sizeof(cell_window));
    for (int k = 0; k < NEIGHBOURS_MAX; k++) {
        const int32_t b = l->bricks.neighbours[brick][k];
        const uint64_t wanted = b < 0 ? 0 : lattice_wanted_cells(l, b);
        int side[3]; /* z, y, x */
        any |= wanted;
        box_place(3, k, 3, side);
        for (int row = 0; row < CELL_EDGE * CELL_EDGE && wanted; row++) {
            const unsigned bits = (unsigned)(wanted >> CELL_EDGE * row) & 0xf;
            w[CELL_EDGE * side[0] + row / CELL_EDGE][CELL_EDGE * side[1] + row % CELL_EDGE] |=
                (uint16_t)(bits << CELL_EDGE * side[2]);
        }
    }
    return any != 0;
}

/* Cells of the brick within `range` of those of the window. */
static uint64_t window_near(cell_window w, int range) {
    uint64_t out = 0;
    for (int z = 0; z < CELL_EDGE; z++)
        for (int y = 0; y < CELL_EDGE; y++) {
            unsigned rows = 0, near = 0;
            for (int dz = -range; dz <= range; dz++)
                for (int dy = -range; dy <= range; dy++)
                    rows |= w[CELL_EDGE + z + dz][CELL_EDGE + y + dy];
            for (int d = 0; d <= range; d++) near |= rows << d | rows >> d;
            out |= (uint64_t)(near >> CELL_EDGE & 0xf) << (CELL_EDGE * (CELL_EDGE * z + y));
        }
    return out;
}

static void find_shaped(void *data, chunk items) {
    measure_job *job = data;
    const lattice *l = job->l;
    const int range = (int)fmin(ceil((double)l->reach / CELL_POINTS), CELL_EDGE);
    for (int64_t b = items.begin; b < items.end; b++) {
        cell_window w;
        job->shaped[b] = l->filled[b] && window_fill(l, b, w) ? window_near(w, range) : 0;
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

typedef struct image_job {
    lattice *l;
    int32_t *place; /* of a particle among the sorted ones, plus one */
} image_job;

static void find_places(void *data, chunk items) {
    const image_job *job = data;
    for (int64_t i = items.begin; i < items.end; i++) {
        const lattice_particle *p = &job->l->particles[i];
        if (!p->image) job->place[p->index] = (int32_t)(i + 1);
    }
}

/* A ball, for an image whose particle is not there. */
static particle_shape plain_shape(const lattice *l, const lattice_particle *p) {
    const shape_rule *rule = shape_rule_of(l->method);
    const int dim = l->dim;
    const real half = rule->support * (p->size > 1 ? p->size : 1), square = 1 / (half * half);
    const real share = p->size / half, depth = dim == 3 ? 1 : 0;
    return (particle_shape){
        .centre = {p->x[0], p->x[1], p->x[2]},
        .metric = {square, 0, 0, square, 0, depth * square},
        .peak = (real)KERNEL_PEAK(dim) * share * share * (dim == 3 ? share : 1),
        .box = {half, half, depth * half},
    };
}

/* An image has the shape of its particle, mirrored. */
static void shape_images(void *data, chunk items) {
    static const int axes[6] = {0, 3, 5, 0, 6, 0}; /* bits of the two axes of xy, xz, yz */
    const image_job *job = data;
    lattice *l = job->l;
    for (int64_t i = items.begin; i < items.end; i++) {
        const lattice_particle *p = &l->particles[i];
        if (!p->image) continue;
        const int32_t place = job->place[p->index];
        particle_shape *s = &l->shapes[i];
        const lattice_particle *own = &l->particles[place ? place - 1 : 0];
        *s = place ? l->shapes[place - 1] : plain_shape(l, p);
        if (!place || !(s->peak > 0)) {
            *s = plain_shape(l, p);
            continue;
        }
        for (int a = 0; a < 3; a++) {
            const real moved = s->centre[a] - own->x[a];
            s->centre[a] = p->x[a] + (p->image >> a & 1 ? -moved : moved);
        }
        for (int k = 0; k < 6; k++)
            if (__builtin_popcount((unsigned)(p->image & axes[k])) == 1)
                s->metric[k] = -s->metric[k];
    }
}

static spate_status copy_to_images(lattice *l, int64_t count) {
    if (!l->images) return SPATE_OK;
    image_job job = {.l = l};
    job.place = take(l->ctx, (size_t)l->given + 1, sizeof *job.place);
    if (!job.place) return SPATE_OUT_OF_MEMORY;
    parallel_for(l->ctx->pool, count, 16384, find_places, &job);
    parallel_for(l->ctx->pool, count, 16384, shape_images, &job);
    give(l->ctx, job.place);
    return SPATE_OK;
}

spate_status shapes_create(measure_job *job) {
    lattice *l = job->l;
    const surface_kernels *kernels = ISA_CHOOSE(surface_kernels, l->ctx->isa);
    const int64_t count = l->first[(int64_t)l->bricks.count * BRICK_CELLS];
    spate_status status = SPATE_OK;
    l->shapes = take(l->ctx, (size_t)count + 1, sizeof *l->shapes);
    job->shaped = take(l->ctx, (size_t)l->bricks.count + 1, sizeof *job->shaped);
    job->candidates = take(l->ctx, (size_t)pool_size(l->ctx->pool), sizeof *job->candidates);
    if (!l->shapes || !job->shaped || !job->candidates) status = SPATE_OUT_OF_MEMORY;
    if (status == SPATE_OK) {
        parallel_for(l->ctx->pool, l->bricks.count, IMAGE_GRAIN, find_shaped, job);
        parallel_for(l->ctx->pool, l->bricks.count, SHAPE_GRAIN, kernels->shape[l->dim - 2], job);
        status = copy_to_images(l, count);
    }
    give(l->ctx, job->shaped);
    give(l->ctx, job->candidates);
    return status;
}
