/* Bricks where particles are, and the particles sorted into them; see lattice.h. */
#include "surface/lattice.h"
#include "core/threads.h"
#include <math.h>
#include <string.h>

enum { PARTICLE_GRAIN = 16384, BRICK_GRAIN = 32 };

/* A half-space filled evenly, weighted by (1 - r^2 / reach^2)^3, has its centre this share of the
 * reach below a point of its surface: half of the integrals of r^3 and r^2 times the weight. */
static const double flat_share = 0.24609375;

/* Reach and cut in spacings of particles; how far outside of the domain particles still count, and
 * how far beyond the cut bricks are made, in those of points. */
static const double reach_spacings = 3, cut_spacings = 2;
static const real outside_margin = 2, brick_margin = (real)1.01;

lattice lattice_create(spate_context *ctx, const int last[3], double particle_spacing) {
    lattice l = {.ctx = ctx, .last = {last[0], last[1], last[2]}};
    sparse_lattice_create(ctx, 3, (const int[3]){0}, &l.bricks);
    l.bricks.in_rows = true;
    /* Wide enough to be smooth, and for a thin sheet or drop to be met by lattice points; within
     * the bricks around one's own. */
    double span = fmax(particle_spacing, 1);
    l.reach = (real)fmin(reach_spacings * span, BRICK_EDGE);
    l.radius = (real)(flat_share * (double)l.reach);
    l.cut = (real)fmin(cut_spacings * span, BRICK_EDGE - 1.5);
    return l;
}

void lattice_free(lattice *l) {
    void *const all[] = {l->filled, l->deep, l->first, l->particles, l->values, l->inside};
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
    lattice_particle *list; /* particles and their images, in the order given */
    int64_t count, capacity;
    int32_t *cell; /* of each: BRICK_CELLS brick + cell */
} build_job;

/* A little outside is fine: walls are soft, and open sides let particles go. */
static bool is_near(const lattice *l, const real x[3]) {
    for (int a = 0; a < 3; a++)
        if (!(x[a] >= -outside_margin && x[a] <= (real)l->last[a] + outside_margin)) return false;
    return true;
}

static spate_status list_particles(build_job *job, const surface_particle *particles,
                                   int64_t count) {
    TRY(GROW(job->l->ctx, job->list, job->capacity, count + 1));
    for (int64_t i = 0; i < count; i++) {
        if (!is_near(job->l, particles[i].x)) continue;
        lattice_particle *p = &job->list[job->count++];
        memcpy(p->x, particles[i].x, sizeof p->x);
        p->index = (int32_t)i;
    }
    return SPATE_OK;
}

/* Images of what is near a side, axis after axis, so that edges and corners get theirs too. */
static spate_status add_images(build_job *job, const bool periodic[3]) {
    const lattice *l = job->l;
    for (int side = 0; side < 6; side++) {
        int axis = side / 2, upper = side % 2;
        real far = (real)l->last[axis], wall = upper ? far : 0;
        /* A period's images are those of the other end, made from what was there before. */
        real from = periodic[axis] && !upper ? far : periodic[axis] ? 0 : wall;
        for (int64_t i = 0, n = job->count; i < n; i++) {
            real x = job->list[i].x[axis];
            bool image = upper && periodic[axis] && x < 0;
            if (image || (x > from ? x - from : from - x) > l->reach) continue;
            TRY(GROW(l->ctx, job->list, job->capacity, job->count + 1));
            lattice_particle *p = &job->list[job->count++];
            *p = job->list[i];
            p->x[axis] = periodic[axis] ? x + (upper ? far : -far) : 2 * wall - x;
        }
    }
    return SPATE_OK;
}

static int32_t brick_of(real x) { return (int32_t)floor((double)x / BRICK_EDGE); }

/* Bricks of all points that can be inside because of some particle, and of those next to them. */
static spate_status add_bricks(build_job *job) {
    real margin = job->l->cut + brick_margin;
    int32_t before[6] = {0};
    for (int64_t i = 0; i < job->count; i++) {
        int32_t range[6];
        for (int a = 0; a < 3; a++) {
            range[a] = brick_of(job->list[i].x[a] - margin);
            range[3 + a] = brick_of(job->list[i].x[a] + margin);
        }
        if (i && !memcmp(range, before, sizeof range)) continue;
        memcpy(before, range, sizeof before);
        for (int32_t z = range[2]; z <= range[5]; z++)
            for (int32_t y = range[1]; y <= range[4]; y++)
                for (int32_t x = range[0]; x <= range[3]; x++)
                    TRY(lattice_add_brick(job->l, x, y, z));
    }
    if (job->l->bricks.keys_count >= INT32_MAX / BRICK_CELLS)
        return fail(
            job->l->ctx, SPATE_BAD_INPUT,
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
        for (int k = 0; k < NEIGHBOURS_MAX; k++) all &= filled[z + k / 9][y + k / 3 % 3][x + k % 3];
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

/* A counting sort, by particle: within a cell they keep their order. */
static spate_status sort_particles(build_job *job) {
    lattice *l = job->l;
    int64_t cells = (int64_t)l->bricks.count * BRICK_CELLS;
    l->first = take(l->ctx, (size_t)cells + 2, sizeof *l->first);
    if (!l->first) return SPATE_OUT_OF_MEMORY;
    /* where the next particle of a cell goes, then where the cell ends */
    int64_t *next = l->first + 1;
    for (int64_t i = 0; i < job->count; i++) {
        next[job->cell[i]]++;
        l->filled[job->cell[i] / BRICK_CELLS] |= UINT64_C(1) << job->cell[i] % BRICK_CELLS;
    }
    parallel_for(l->ctx->pool, l->bricks.count, BRICK_GRAIN, find_deep, job);
    int64_t sum = 0;
    for (int64_t b = 0; b < l->bricks.count; b++) {
        bool needed = is_needed(l, b);
        for (int64_t c = b * BRICK_CELLS; c < (b + 1) * BRICK_CELLS; c++) {
            int64_t held = needed ? next[c] : 0;
            next[c] = needed ? sum : -1;
            sum += held;
        }
    }
    l->particles = take(l->ctx, (size_t)sum + 1, sizeof *l->particles);
    if (!l->particles) return SPATE_OUT_OF_MEMORY;
    for (int64_t i = 0; i < job->count; i++)
        if (next[job->cell[i]] >= 0) l->particles[next[job->cell[i]]++] = job->list[i];
    for (int64_t c = 0, end = 0; c < cells; c++) next[c] = end = next[c] < 0 ? end : next[c];
    return SPATE_OK;
}

spate_status lattice_build(lattice *l, const surface_particle *particles, int64_t count,
                           const bool periodic[3]) {
    build_job job = {.l = l};
    spate_status status;
    TRY_OR_DONE(status, list_particles(&job, particles, count));
    TRY_OR_DONE(status, add_images(&job, periodic));
    TRY_OR_DONE(status, add_bricks(&job));
    TRY_OR_DONE(status, lattice_order(l));
    job.cell = take(l->ctx, (size_t)job.count + 1, sizeof *job.cell);
    if (!job.cell) TRY_OR_DONE(status, SPATE_OUT_OF_MEMORY);
    parallel_for(l->ctx->pool, job.count, PARTICLE_GRAIN, find_cells, &job);
    status = sort_particles(&job);
done:
    give(l->ctx, job.list);
    give(l->ctx, job.cell);
    return status;
}
