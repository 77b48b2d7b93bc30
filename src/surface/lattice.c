/* Bricks where particles are, and the particles sorted into them; see lattice.h. */
#include "surface/lattice.h"
#include "core/threads.h"
#include "surface/key_range.h"
#include <math.h>
#include <string.h>

enum { PARTICLE_GRAIN = 16384, SIDE_GRAIN = 8192, BRICK_GRAIN = 32 };

/* A half-space filled evenly, weighted by (1 - r^2 / reach^2)^3, has its centre this share of the
 * reach below a point of its surface: half of the integrals of r^3 and r^2 times the weight. */
static const double flat_share = 0.24609375;

/* Reach and cut in spacings of particles; how far outside of the domain particles still count, and
 * how far beyond the cut bricks are made, in those of points. */
static const double reach_spacings = 3, cut_spacings = 2, shape_spacings = 3.2;
static const real outside_margin = 2, brick_margin = (real)1.01;

/* How far a particle of this size is felt: wide enough to be smooth, and for a thin sheet or drop
 * to be met by lattice points; within the bricks around one's own. */
static double reach_of(surface_method method, double size) {
    const double sizes = method == SURFACE_ISOTROPIC ? reach_spacings : shape_spacings;
    return fmin(sizes * fmax(size, 1), BRICK_EDGE);
}

lattice lattice_create(spate_context *ctx, const surface_settings *settings) {
    lattice l = {.ctx = ctx, .dim = settings->plane ? 2 : 3, .method = settings->method};
    for (int a = 0; a < l.dim; a++) l.last[a] = settings->last[a];
    sparse_lattice_create(ctx, 3, (const int[3]){0}, &l.bricks);
    l.bricks.in_rows = true;
    l.spacing = (real)(settings->particle_spacing / settings->spacing);
    l.least = (real)(settings->least_size / settings->spacing);
    const double span = fmax((double)l.spacing, 1);
    l.reach = (real)reach_of(l.method, (double)l.spacing);
    l.radius = (real)(l.method == SURFACE_ISOTROPIC ? flat_share * (double)l.reach : span);
    l.cut = (real)fmin(cut_spacings * span, BRICK_EDGE - 1.5);
    return l;
}

void lattice_free(lattice *l) {
    void *const all[] = {l->filled, l->deep,   l->first, l->particles,
                         l->shapes, l->values, l->inside};
    for (int i = 0; i < COUNT_OF(all); i++) give(l->ctx, all[i]);
    sparse_lattice_free(&l->bricks);
    *l = (lattice){.ctx = l->ctx};
}

/* ---- Bricks ---------------------------------------------------------------------------------- */

spate_status lattice_add_brick(lattice *l, int32_t x, int32_t y, int32_t z) {
    if (!l->bricks.table_size) TRY(sparse_lattice_begin(&l->bricks));
    return sparse_lattice_insert(&l->bricks, (const int32_t[3]){z, y, x});
}

spate_status lattice_order(lattice *l) {
    sparse_lattice_number(&l->bricks);
    TRY(sparse_lattice_finish(&l->bricks, l->ctx->pool));
    const size_t room = (size_t)l->bricks.count + 1;
    l->filled = take(l->ctx, room, sizeof *l->filled);
    l->deep = take(l->ctx, room, sizeof *l->deep);
    l->values = take(l->ctx, room * BRICK_POINTS, sizeof *l->values);
    l->inside = take(l->ctx, room, sizeof *l->inside);
    return l->filled && l->deep && l->values && l->inside ? SPATE_OK : SPATE_OUT_OF_MEMORY;
}

static void mark_bricks(void *data, chunk items) {
    lattice *l = data;
    for (int64_t b = items.begin; b < items.end; b++)
        for (int z = 0; z < BRICK_EDGE; z++) {
            const real *layer = l->values + b * BRICK_POINTS + z * BRICK_LAYER;
            uint64_t bits = 0;
            for (int i = 0; i < BRICK_LAYER; i++) bits |= (uint64_t)(layer[i] < 0) << i;
            l->inside[b][z] = bits;
        }
}

void lattice_mark_inside(lattice *l) {
    parallel_for(l->ctx->pool, l->bricks.count, BRICK_GRAIN, mark_bricks, l);
}

/* ---- Particles ------------------------------------------------------------------------------- */

typedef struct build_job {
    lattice *l;
    const surface_particle *given;
    int64_t given_count;
    lattice_particle *list; /* particles and their images, in the order given */
    int64_t count, capacity;
    int32_t *at_side; /* those that may have images */
    int64_t side_count, side_capacity;
    struct build_part *parts; /* of PARTICLE_GRAIN particles each */
    int32_t *cell;            /* of each: BRICK_CELLS brick + cell */
    int64_t *begin;           /* of each brick among the sorted ones; one more than there are */
    int ranges;               /* of bricks, each sorted by one worker */
} build_job;

/* What a part of the particles holds: counts, then where they begin. */
typedef struct build_part {
    int64_t kept, at_side;
    real largest;
} build_part;

/* A little outside is fine: walls are soft, and open sides let particles go. */
static bool is_near(const lattice *l, const real x[3]) {
    for (int a = 0; a < 3; a++)
        if (!(x[a] >= -outside_margin && x[a] <= (real)l->last[a] + outside_margin)) return false;
    return true;
}

/* Whether a side may have an image of it. */
static bool is_at_side(const lattice *l, const real x[3]) {
    for (int a = 0; a < l->dim; a++)
        if (x[a] <= l->reach || x[a] >= (real)l->last[a] - l->reach) return true;
    return false;
}

static real size_of(const lattice *l, const surface_particle *p) {
    const real size = p->size > 0 ? p->size : l->spacing;
    return size > l->least ? size : l->least;
}

static void count_part(void *data, chunk items) {
    build_job *job = data;
    build_part *part = &job->parts[items.begin / PARTICLE_GRAIN];
    for (int64_t i = items.begin; i < items.end; i++) {
        const surface_particle *p = &job->given[i];
        if (!is_near(job->l, p->x)) continue;
        part->kept++;
        if (size_of(job->l, p) > part->largest) part->largest = size_of(job->l, p);
    }
}

static void count_sides(void *data, chunk items) {
    build_job *job = data;
    build_part *part = &job->parts[items.begin / PARTICLE_GRAIN];
    for (int64_t i = items.begin; i < items.end; i++)
        part->at_side += is_near(job->l, job->given[i].x) && is_at_side(job->l, job->given[i].x);
}

/* Each particle has a reach of its own, balls have that of the usual one. */
static void set_reach(lattice *l, real largest) {
    if (l->method == SURFACE_ISOTROPIC || !(largest > 0)) return;
    l->reach = (real)reach_of(l->method, (double)largest);
    if (l->cut < l->reach) l->cut = (real)fmin((double)l->reach, BRICK_EDGE - 1.5);
}

static void list_part(void *data, chunk items) {
    build_job *job = data;
    build_part part = job->parts[items.begin / PARTICLE_GRAIN];
    for (int64_t i = items.begin; i < items.end; i++) {
        const surface_particle *from = &job->given[i];
        if (!is_near(job->l, from->x)) continue;
        if (is_at_side(job->l, from->x)) job->at_side[part.at_side++] = (int32_t)part.kept;
        lattice_particle *p = &job->list[part.kept++];
        memcpy(p->x, from->x, sizeof p->x);
        p->size = size_of(job->l, from);
        p->index = (int32_t)i;
        p->image = 0;
    }
}

static spate_status list_particles(build_job *job) {
    lattice *l = job->l;
    const int64_t parts = (job->given_count + PARTICLE_GRAIN - 1) / PARTICLE_GRAIN;
    real largest = 0;
    job->parts = take(l->ctx, (size_t)parts + 1, sizeof *job->parts);
    if (!job->parts) return SPATE_OUT_OF_MEMORY;
    parallel_for(l->ctx->pool, job->given_count, PARTICLE_GRAIN, count_part, job);
    for (int64_t k = 0; k < parts; k++)
        if (job->parts[k].largest > largest) largest = job->parts[k].largest;
    set_reach(l, largest);
    parallel_for(l->ctx->pool, job->given_count, PARTICLE_GRAIN, count_sides, job);
    for (int64_t k = 0; k < parts; k++) {
        const build_part part = job->parts[k];
        job->parts[k].kept = job->count, job->parts[k].at_side = job->side_count;
        job->count += part.kept, job->side_count += part.at_side;
    }
    /* with room for the images, of which most particles at a side have one */
    TRY(GROW(l->ctx, job->list, job->capacity, job->count + 2 * job->side_count + 1));
    TRY(GROW(l->ctx, job->at_side, job->side_capacity, 3 * job->side_count + 1));
    parallel_for(l->ctx->pool, job->given_count, PARTICLE_GRAIN, list_part, job);
    return SPATE_OK;
}

/* A side of the domain, and what of the images made so far is looked at for it. */
typedef struct side_job {
    build_job *job;
    bool periodic;
    int axis, upper;
    int64_t *begin; /* of each part's images, after how many each has */
    int64_t list_end, side_end;
} side_job;

static bool has_image(const side_job *side, int64_t k) {
    const lattice *l = side->job->l;
    const real x = side->job->list[side->job->at_side[k]].x[side->axis],
               far = (real)l->last[side->axis], wall = side->upper ? far : 0;
    /* A period's images are those of the other end, made from what was there before. */
    const real from = side->periodic && !side->upper ? far : side->periodic ? 0 : wall;
    const bool image = side->upper && side->periodic && x < 0;
    return !image && (x > from ? x - from : from - x) <= l->reach;
}

static void count_images(void *data, chunk items) {
    const side_job *side = data;
    int64_t *count = &side->begin[items.begin / SIDE_GRAIN];
    for (int64_t k = items.begin; k < items.end; k++) *count += has_image(side, k);
}

static void put_images(void *data, chunk items) {
    const side_job *side = data;
    build_job *job = side->job;
    const real far = (real)job->l->last[side->axis], wall = side->upper ? far : 0;
    int64_t at = side->begin[items.begin / SIDE_GRAIN];
    for (int64_t k = items.begin; k < items.end; k++) {
        if (!has_image(side, k)) continue;
        lattice_particle *p = &job->list[side->list_end + at];
        job->at_side[side->side_end + at++] = (int32_t)(p - job->list);
        *p = job->list[job->at_side[k]];
        real *x = &p->x[side->axis];
        *x = side->periodic ? *x + (side->upper ? far : -far) : 2 * wall - *x;
        p->image = (p->image ^ (side->periodic ? 0 : 1 << side->axis)) | IMAGE;
    }
}

static spate_status add_images_of(side_job *side) {
    build_job *job = side->job;
    spate_context *ctx = job->l->ctx;
    const int64_t n = job->side_count, parts = (n + SIDE_GRAIN - 1) / SIDE_GRAIN;
    int64_t made = 0;
    side->list_end = job->count, side->side_end = n;
    memset(side->begin, 0, (size_t)parts * sizeof *side->begin);
    parallel_for(ctx->pool, n, SIDE_GRAIN, count_images, side);
    for (int64_t k = 0; k < parts; k++) {
        const int64_t count = side->begin[k];
        side->begin[k] = made, made += count;
    }
    TRY(GROW(ctx, job->list, job->capacity, job->count + made));
    TRY(GROW(ctx, job->at_side, job->side_capacity, n + made));
    parallel_for(ctx->pool, n, SIDE_GRAIN, put_images, side);
    job->count += made, job->side_count += made;
    return SPATE_OK;
}

/* Images of what is near a side, axis after axis, so that edges and corners get theirs too. */
static spate_status add_images(build_job *job, const bool periodic[3]) {
    spate_context *ctx = job->l->ctx;
    spate_status status = SPATE_OK;
    for (int k = 0; k < 2 * job->l->dim && status == SPATE_OK; k++) {
        side_job side = {.job = job, .axis = k / 2, .upper = k % 2, .periodic = periodic[k / 2]};
        side.begin = take(ctx, (size_t)(job->side_count / SIDE_GRAIN) + 1, sizeof *side.begin);
        status = side.begin ? add_images_of(&side) : SPATE_OUT_OF_MEMORY;
        give(ctx, side.begin);
    }
    return status;
}

static int32_t brick_of(real x) { return (int32_t)floor((double)x / BRICK_EDGE); }

/* The lowest and highest brick along each axis with points that a particle can make liquid, and of
 * those next to them. */
typedef struct brick_box {
    int32_t low[3], high[3];
} brick_box;

static brick_box box_of(const lattice *l, const real x[3]) {
    const real margin = l->cut + brick_margin;
    brick_box box;
    for (int a = 0; a < 3; a++) {
        box.low[a] = brick_of(x[a] - margin);
        box.high[a] = brick_of(x[a] + margin);
    }
    return box;
}

/* Bricks met not long ago: the last one of each place. */
enum { MET = 1024 };
typedef struct brick_memory {
    uint64_t met[MET]; /* 0: none */
} brick_memory;

/* Whether a brick of the box is not remembered; all are then. */
static bool has_new_brick(brick_memory *memory, const brick_box *box) {
    bool any = false;
    for (int32_t z = box->low[2]; z <= box->high[2]; z++)
        for (int32_t y = box->low[1]; y <= box->high[1]; y++)
            for (int32_t x = box->low[0]; x <= box->high[0]; x++) {
                const uint64_t brick = UINT64_C(1) << 63 | (uint64_t)(z & 0x1fffff) << 42 |
                                       (uint64_t)(y & 0x1fffff) << 21 | (uint64_t)(x & 0x1fffff);
                uint64_t *place = &memory->met[(z * 131 + y * 17 + x) & (MET - 1)];
                any |= *place != brick;
                *place = brick;
            }
    return any;
}

/* The particles of a part that may be the first in a brick, to the front of its cells. */
static void find_first(void *data, chunk items) {
    build_job *job = data;
    build_part *part = &job->parts[items.begin / PARTICLE_GRAIN];
    brick_box before = {{0}, {0}};
    brick_memory memory = {{0}};
    part->kept = items.begin;
    for (int64_t i = items.begin; i < items.end; i++) {
        const brick_box box = box_of(job->l, job->list[i].x);
        if (i > items.begin && !memcmp(&box, &before, sizeof box)) continue;
        before = box;
        if (has_new_brick(&memory, &box)) job->cell[part->kept++] = (int32_t)i;
    }
}

static spate_status add_box(lattice *l, const brick_box *box) {
    for (int32_t z = box->low[2]; z <= box->high[2]; z++)
        for (int32_t y = box->low[1]; y <= box->high[1]; y++)
            for (int32_t x = box->low[0]; x <= box->high[0]; x++)
                TRY(lattice_add_brick(l, x, y, z));
    return SPATE_OK;
}

static spate_status add_bricks(build_job *job) {
    lattice *l = job->l;
    const int64_t parts = (job->count + PARTICLE_GRAIN - 1) / PARTICLE_GRAIN;
    give(l->ctx, job->parts);
    job->parts = take(l->ctx, (size_t)parts + 1, sizeof *job->parts);
    job->cell = take(l->ctx, (size_t)job->count + 1, sizeof *job->cell);
    if (!job->parts || !job->cell) return SPATE_OUT_OF_MEMORY;
    parallel_for(l->ctx->pool, job->count, PARTICLE_GRAIN, find_first, job);
    for (int64_t k = 0; k < parts; k++)
        for (int64_t i = k * PARTICLE_GRAIN; i < job->parts[k].kept; i++) {
            const brick_box box = box_of(l, job->list[job->cell[i]].x);
            TRY(add_box(l, &box));
        }
    if (l->bricks.keys_count >= INT32_MAX / BRICK_CELLS)
        return fail(
            l->ctx, SPATE_BAD_INPUT,
            "the liquid's surface needs too fine a lattice; lower output.surface_resolution");
    return SPATE_OK;
}

static void find_cells(void *data, chunk items) {
    build_job *job = data;
    for (int64_t i = items.begin; i < items.end; i++) {
        int32_t brick[3];
        int cell[3];
        for (int a = 0; a < 3; a++) {
            const real x = job->list[i].x[2 - a];
            brick[a] = brick_of(x);
            const int inner = (int)((x - (real)(brick[a] * BRICK_EDGE)) / CELL_POINTS);
            cell[a] = inner < CELL_EDGE ? inner : CELL_EDGE - 1;
        }
        job->cell[i] = sparse_lattice_find(&job->l->bricks, brick) * BRICK_CELLS +
                       box_index(CELL_EDGE, cell, 3);
    }
}

/* Whether the cell at c (-1..4) of a brick's neighbourhood holds particles. */
static bool is_filled(const lattice *l, int64_t brick, const int c[3]) {
    const int32_t b = l->bricks.neighbours[brick][lattice_code(CELL_EDGE, c)];
    return b >= 0 && l->filled[b] >> lattice_index(CELL_EDGE, c) & 1;
}

static uint64_t deep_cells(const lattice *l, int64_t brick) {
    enum { EDGE = CELL_EDGE + 2 }; /* with a layer around */
    const int first = l->dim == 2 ? 9 : 0, last = NEIGHBOURS_MAX - first;
    bool filled[EDGE][EDGE][EDGE];
    uint64_t deep = l->filled[brick];
    for (int z = 0; z < EDGE && deep; z++)
        for (int y = 0; y < EDGE; y++)
            for (int x = 0; x < EDGE; x++)
                filled[z][y][x] = is_filled(l, brick, (const int[3]){x - 1, y - 1, z - 1});
    for (int cell = 0; cell < BRICK_CELLS && deep; cell++) {
        const int x = cell % CELL_EDGE, y = cell / CELL_EDGE % CELL_EDGE,
                  z = cell / (CELL_EDGE * CELL_EDGE);
        bool all = true;
        for (int k = first; k < last; k++) all &= filled[z + k / 9][y + k / 3 % 3][x + k % 3];
        if (!all) deep &= ~(UINT64_C(1) << cell);
    }
    return deep;
}

static void find_deep(void *data, chunk items) {
    lattice *l = ((build_job *)data)->l;
    for (int64_t b = items.begin; b < items.end; b++) l->deep[b] = deep_cells(l, b);
}

/* Particles of a brick that is deep amid deep ones are not needed. */
static bool is_needed(const lattice *l, int64_t brick) {
    for (int k = 0; k < NEIGHBOURS_MAX; k++) {
        int32_t b = l->bricks.neighbours[brick][k];
        if (b >= 0 && ~l->deep[b]) return true;
    }
    return false;
}

/* A counting sort: within a cell particles keep their order. Each range of bricks is filled by one
 * worker, who reads through the cells of all particles for those of his own: first he counts them,
 * then he puts them in their place. */
static void sort_ranges(build_job *job, chunk items, bool place) {
    lattice *l = job->l;
    for (int64_t r = items.begin; r < items.end; r++) {
        const key_range range = key_range_at(r, job->ranges, l->bricks.count, BRICK_CELLS);
        for (int64_t i = 0; i < job->count; i++) {
            const int32_t cell = job->cell[i], b = cell / BRICK_CELLS;
            if (!key_range_has(range, cell)) continue;
            if (!place) {
                l->first[cell + 1]++;
                l->filled[b] |= UINT64_C(1) << cell % BRICK_CELLS;
            } else if (job->begin[b + 1] > job->begin[b])
                l->particles[l->first[cell + 1]++] = job->list[i];
        }
    }
}

static void count_ranges(void *data, chunk items) { sort_ranges(data, items, false); }
static void place_ranges(void *data, chunk items) { sort_ranges(data, items, true); }

/* How many particles of a brick are needed: where the next brick's begin, less where its own do. */
static void count_needed(void *data, chunk items) {
    build_job *job = data;
    const lattice *l = job->l;
    for (int64_t b = items.begin; b < items.end; b++) {
        const int64_t *held = l->first + 1 + b * BRICK_CELLS;
        if (!is_needed(l, b)) continue;
        for (int c = 0; c < BRICK_CELLS; c++) job->begin[b + 1] += held[c];
    }
}

/* Counts of cells become where the next particle of a cell goes. */
static void begin_cells(void *data, chunk items) {
    build_job *job = data;
    for (int64_t b = items.begin; b < items.end; b++) {
        int64_t *next = job->l->first + 1 + b * BRICK_CELLS, at = job->begin[b];
        const bool needed = job->begin[b + 1] > at;
        for (int c = 0; c < BRICK_CELLS; c++) {
            const int64_t held = needed ? next[c] : 0;
            next[c] = at;
            at += held;
        }
    }
}

static spate_status sort_particles(build_job *job) {
    lattice *l = job->l;
    pool *threads = l->ctx->pool;
    const int64_t bricks = l->bricks.count;
    /* first[c + 1] is where the next particle of cell c goes, and in the end where the cell ends */
    l->first = take(l->ctx, (size_t)bricks * BRICK_CELLS + 2, sizeof *l->first);
    job->begin = take(l->ctx, (size_t)bricks + 1, sizeof *job->begin);
    if (!l->first || !job->begin) return SPATE_OUT_OF_MEMORY;
    job->ranges = key_ranges(threads);
    parallel_for(threads, job->ranges, 1, count_ranges, job);
    parallel_for(threads, bricks, BRICK_GRAIN, find_deep, job);
    parallel_for(threads, bricks, BRICK_GRAIN, count_needed, job);
    for (int64_t b = 0; b < bricks; b++) job->begin[b + 1] += job->begin[b];
    l->particles = take(l->ctx, (size_t)job->begin[bricks] + 1, sizeof *l->particles);
    if (!l->particles) return SPATE_OUT_OF_MEMORY;
    parallel_for(threads, bricks, BRICK_GRAIN, begin_cells, job);
    parallel_for(threads, job->ranges, 1, place_ranges, job);
    return SPATE_OK;
}

spate_status lattice_build(lattice *l, const surface_particle *particles, int64_t count,
                           const bool periodic[3]) {
    build_job job = {.l = l, .given = particles, .given_count = count};
    spate_status status;
    TRY_OR_DONE(status, list_particles(&job));
    l->given = count, l->images = -job.count;
    TRY_OR_DONE(status, add_images(&job, periodic));
    l->images += job.count;
    TRY_OR_DONE(status, add_bricks(&job));
    TRY_OR_DONE(status, lattice_order(l));
    parallel_for(l->ctx->pool, job.count, PARTICLE_GRAIN, find_cells, &job);
    status = sort_particles(&job);
done:
    give(l->ctx, job.list);
    give(l->ctx, job.at_side);
    give(l->ctx, job.parts);
    give(l->ctx, job.cell);
    give(l->ctx, job.begin);
    return status;
}
